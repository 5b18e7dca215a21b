//! The values of a scene file after checking: a tree of keys and values in SI units, each with its location. It is
//! built by `document.rs` and read by `convert`.

use std::ops::Range;

/// A checked value and its location.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub item: Item,
    pub span: Range<usize>,
}

/// A checked value; numbers are in SI units. Expressions are still text: they are compiled when all names are known.
#[derive(Clone, Debug)]
pub(crate) enum Item {
    Number(f64),
    Integer(i64),
    Flag(bool),
    Text(String),
    List(Vec<Node>),
    Table(Entries),
    /// A mistake that has been reported; no follow-on errors are reported.
    Invalid,
}

/// A checked table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries {
    /// Its header, or the whole of an inline table.
    pub span: Range<usize>,
    /// The value of its tag.
    pub variant: Option<&'static str>,
    pub values: Vec<Entry>,
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub key: String,
    pub key_span: Range<usize>,
    /// Whether it is written in the file, rather than a default.
    pub given: bool,
    pub node: Node,
}

impl Entries {
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.values.iter().find(|entry| entry.key == key)
    }

    /// The value of a key, or its default.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// The value of a key that is written in the file.
    pub fn given(&self, key: &str) -> Option<&Node> {
        self.entry(key).filter(|entry| entry.given).map(|entry| &entry.node)
    }

    /// The location of the key; the header of the table if the key is missing.
    pub fn key_span(&self, key: &str) -> Range<usize> {
        self.entry(key)
            .filter(|entry| entry.given)
            .map_or(self.span.clone(), |entry| entry.key_span.clone())
    }

    /// The location of the value of a key; the header of the table if the key is missing.
    pub fn value_span(&self, key: &str) -> Range<usize> {
        self.given(key).map_or(self.span.clone(), |node| node.span.clone())
    }

    /// The keys and values of a table with user-defined keys, in file order.
    pub fn named(&self) -> impl Iterator<Item = (&str, &Range<usize>, &Node)> {
        self.values.iter().map(|entry| (entry.key.as_str(), &entry.key_span, &entry.node))
    }

    pub fn number(&self, key: &str) -> Option<f64> {
        self.get(key)?.number()
    }

    pub fn integer(&self, key: &str) -> Option<i64> {
        self.get(key)?.integer()
    }

    pub fn flag(&self, key: &str) -> Option<bool> {
        self.get(key)?.flag()
    }

    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.text()
    }

    pub fn list(&self, key: &str) -> Option<&[Node]> {
        self.get(key)?.list()
    }

    pub fn table(&self, key: &str) -> Option<&Entries> {
        self.get(key)?.table()
    }

    /// A list of exactly `N` numbers.
    pub fn numbers<const N: usize>(&self, key: &str) -> Option<[f64; N]> {
        self.get(key)?.numbers()
    }
}

impl Node {
    pub fn number(&self) -> Option<f64> {
        match self.item {
            Item::Number(value) => Some(value),
            _ => None,
        }
    }

    pub fn integer(&self) -> Option<i64> {
        match self.item {
            Item::Integer(value) => Some(value),
            _ => None,
        }
    }

    pub fn flag(&self) -> Option<bool> {
        match self.item {
            Item::Flag(value) => Some(value),
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&str> {
        match &self.item {
            Item::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn list(&self) -> Option<&[Node]> {
        match &self.item {
            Item::List(items) => Some(items),
            _ => None,
        }
    }

    pub fn table(&self) -> Option<&Entries> {
        match &self.item {
            Item::Table(entries) => Some(entries),
            _ => None,
        }
    }

    /// A list of exactly `N` numbers.
    pub fn numbers<const N: usize>(&self) -> Option<[f64; N]> {
        let items = self.list()?;
        let mut numbers = [0.0; N];
        if items.len() != N {
            return None;
        }
        for (number, item) in numbers.iter_mut().zip(items) {
            *number = item.number()?;
        }
        Some(numbers)
    }
}

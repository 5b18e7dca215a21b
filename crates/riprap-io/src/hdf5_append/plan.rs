//! The structure of a file: groups, attributes, counters and arrays, and their places in the file.

use super::PAGE;
use super::encode::{self, To, Type, UNDEFINED, message};

/// A group of a [`Plan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Group(usize);

/// An array of a [`Plan`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Array(pub(super) usize);

/// A number of a [`Plan`] that is replaced by every commit: an attribute of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counter(pub(super) usize);

/// The value of an attribute.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Attribute<'a> {
    Integer(i64),
    Integers(&'a [i64]),
    Text(&'a str),
}

/// The structure of a file.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    groups: Vec<GroupPlan>,
    pub(super) arrays: Vec<ArrayPlan>,
    n_counters: usize,
}

#[derive(Debug, Default)]
struct GroupPlan {
    links: Vec<(String, Target)>,
    attributes: Vec<Vec<u8>>,
    counters: Vec<(usize, String)>,
}

#[derive(Debug)]
enum Target {
    Group(usize),
    Array(usize),
    Soft(String),
}

/// An array: rows of `width` elements, or single elements if that is 0, in chunks of `rows` rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ArrayPlan {
    pub kind: Type,
    pub width: usize,
    pub rows: u32,
    /// Whether chunks are compressed; each is then written once. Others are filled row by row.
    pub packed: bool,
    /// Whether its number of rows is part of the first page.
    pub counted: bool,
}

impl ArrayPlan {
    /// Size of a row [bytes].
    pub fn row_size(&self) -> usize {
        self.width.max(1) * self.kind.size()
    }

    /// Size of a chunk [bytes].
    pub fn chunk_size(&self) -> usize {
        self.row_size() * self.rows as usize
    }
}

/// A file before anything is appended, and where its variable parts are.
#[derive(Debug)]
pub(super) struct Placed {
    pub bytes: Vec<u8>,
    /// Of each array: where its number of rows and the address of its B-tree are.
    pub arrays: Vec<(u64, u64)>,
    /// Where the counters are.
    pub counters: Vec<u64>,
}

impl Plan {
    /// A file with a root group only.
    pub fn new() -> Plan {
        Plan { groups: vec![GroupPlan::default()], ..Plan::default() }
    }

    /// The root group.
    pub fn root(&self) -> Group {
        Group(0)
    }

    /// Adds a group to a group.
    pub fn group(&mut self, parent: Group, name: &str) -> Group {
        self.groups.push(GroupPlan::default());
        let group = self.groups.len() - 1;
        self.groups[parent.0].links.push((name.into(), Target::Group(group)));
        Group(group)
    }

    /// Adds an attribute to a group.
    pub fn attribute(&mut self, group: Group, name: &str, value: Attribute) {
        let integer = Type::I64.encoded();
        let bytes =
            |values: &[i64]| values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>();
        let encoded = match value {
            Attribute::Integer(value) => encode::attribute(name, &integer, None, &bytes(&[value])),
            Attribute::Integers(values) => {
                encode::attribute(name, &integer, Some(values.len() as u64), &bytes(values))
            }
            Attribute::Text(text) => {
                encode::attribute(name, &encode::string_type(text.len()), None, text.as_bytes())
            }
        };
        self.groups[group.0].attributes.push(encoded);
    }

    /// Adds an attribute to a group that every commit can change.
    pub fn counter(&mut self, group: Group, name: &str) -> Counter {
        self.groups[group.0].counters.push((self.n_counters, name.into()));
        self.n_counters += 1;
        Counter(self.n_counters - 1)
    }

    /// Adds an array of compressed chunks, to which whole chunks are appended; the last rows of the last one may be padding.
    pub fn packed(
        &mut self,
        group: Group,
        name: &str,
        kind: Type,
        width: usize,
        rows: usize,
    ) -> Array {
        let rows = rows.clamp(1, 1 << 24) as u32;
        self.array(group, name, ArrayPlan { kind, width, rows, packed: true, counted: false })
    }

    /// Adds an array that is filled row by row.
    pub fn column(&mut self, group: Group, name: &str, kind: Type, width: usize) -> Array {
        self.array(group, name, ArrayPlan { kind, width, rows: 128, packed: false, counted: false })
    }

    /// As [`Plan::column`], with a number of rows that changes together with the counters.
    pub fn counted(&mut self, group: Group, name: &str, kind: Type) -> Array {
        self.array(
            group,
            name,
            ArrayPlan { kind, width: 0, rows: 128, packed: false, counted: true },
        )
    }

    fn array(&mut self, group: Group, name: &str, plan: ArrayPlan) -> Array {
        self.arrays.push(plan);
        let array = Array(self.arrays.len() - 1);
        self.link(group, name, array);
        array
    }

    /// Adds an array to a further group.
    pub fn link(&mut self, group: Group, name: &str, array: Array) {
        self.groups[group.0].links.push((name.into(), Target::Array(array.0)));
    }

    /// Adds a soft link.
    pub fn soft_link(&mut self, group: Group, name: &str, path: &str) {
        self.groups[group.0].links.push((name.into(), Target::Soft(path.into())));
    }

    /// Sets all addresses.
    pub(super) fn place(&self) -> Placed {
        let mut page = vec![0; 96];
        let mut counters = vec![0; self.n_counters];
        let mut parts_of_groups = Vec::new();
        for group in &self.groups {
            let start = page.len();
            for (counter, name) in &group.counters {
                page.extend(encode::attribute(name, &Type::I64.encoded(), None, &[0; 8]));
                counters[*counter] = page.len() as u64 - 8;
            }
            let length = page.len() - start;
            let part = (start as u64, length, group.counters.len());
            parts_of_groups.push((length > 0).then_some(part));
        }
        let mut parts_of_arrays = Vec::new();
        for array in &self.arrays {
            let start = page.len();
            if array.counted {
                page.extend(encode::dataspace(0, array.width));
            }
            let part = (start as u64, page.len() - start, 1);
            parts_of_arrays.push(array.counted.then_some(part));
        }
        assert!(page.len() <= PAGE, "the counters of a file fit in a page");
        page.resize(PAGE, 0);

        // Lengths of headers do not depend on addresses.
        let unknown = vec![0; self.groups.len() + self.arrays.len()];
        let mut addresses = Vec::new();
        let mut end = PAGE as u64;
        for (k, header) in
            self.headers(&unknown, &parts_of_groups, &parts_of_arrays).iter().enumerate()
        {
            // The address of a tree is replaced by one write, which must not cross into the next page.
            if k >= self.groups.len() {
                let tree = 16 + find(&header[16..], message::LAYOUT) as u64 + 11;
                while (end + tree) % PAGE as u64 > PAGE as u64 - 8 {
                    end += 8;
                }
            }
            addresses.push(end);
            end += header.len() as u64;
        }
        let headers = self.headers(&addresses, &parts_of_groups, &parts_of_arrays);
        let mut bytes = page;
        for (header, address) in headers.iter().zip(&addresses) {
            bytes.resize(*address as usize, 0);
            bytes.extend(header);
        }
        bytes[..96].copy_from_slice(&encode::superblock(addresses[0], end));
        let arrays = (0..self.arrays.len()).map(|k| {
            let header = addresses[self.groups.len() + k] as usize;
            let start = parts_of_arrays[k].map_or(header + 16, |(at, ..)| at as usize);
            let layout = find(&bytes[header + 16..], message::LAYOUT) + header + 16;
            debug_assert_eq!(bytes[start..start + 2], message::DATASPACE.to_le_bytes());
            (start as u64 + 16, layout as u64 + 11)
        });
        let arrays = arrays.collect();
        Placed { bytes, arrays, counters }
    }

    /// Number of links to an array.
    fn n_links(&self, array: usize) -> u32 {
        let links = self.groups.iter().flat_map(|group| &group.links);
        links.filter(|(_, target)| matches!(target, Target::Array(k) if *k == array)).count() as u32
    }

    fn headers(
        &self,
        addresses: &[u64],
        parts_of_groups: &[Option<(u64, usize, usize)>],
        parts_of_arrays: &[Option<(u64, usize, usize)>],
    ) -> Vec<Vec<u8>> {
        let groups = self.groups.iter().zip(parts_of_groups).map(|(group, part)| {
            let mut messages = encode::group_messages(group.links.len());
            for (number, (name, target)) in group.links.iter().enumerate() {
                let to = match target {
                    Target::Group(group) => To::Address(addresses[*group]),
                    Target::Array(array) => To::Address(addresses[self.groups.len() + array]),
                    Target::Soft(path) => To::Path(path),
                };
                messages.push(encode::link(name, number, to));
            }
            messages.extend(group.attributes.iter().cloned());
            encode::header(1, &messages, *part)
        });
        let arrays = self.arrays.iter().zip(parts_of_arrays).enumerate();
        let arrays = arrays.map(|(k, (array, part))| {
            let mut messages = Vec::new();
            if !array.counted {
                messages.push(encode::dataspace(0, array.width));
            }
            messages.push(encode::framed(message::DATATYPE, array.kind.encoded()));
            messages.push(encode::fill_value());
            messages.push(encode::layout(array.kind, array.width, array.rows, UNDEFINED));
            if array.packed {
                messages.push(encode::filters(array.kind));
            }
            encode::header(self.n_links(k), &messages, *part)
        });
        groups.chain(arrays).collect()
    }
}

/// The position of the first message of a type.
fn find(mut messages: &[u8], kind: u16) -> usize {
    let begin = messages.len();
    while messages[..2] != kind.to_le_bytes() {
        let length = usize::from(u16::from_le_bytes([messages[2], messages[3]]));
        messages = &messages[8 + length..];
    }
    begin - messages.len()
}

//! From TOML text to checked values: every table is checked against its description in `model/`, quantities are
//! converted to SI units, missing keys get their defaults, and every mistake is recorded with its location. The result
//! is still a tree of keys and values; `convert/` turns it into the model.

mod laws;
mod toml_types;

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use toml_types::{KIND, inline, is_number, is_table, is_text, kind_of};

use super::fields::{Field, Kind, Limits, Need, Table, Variant, tuple_names};
use super::number as shown;
use super::parameters::Parameters;
use super::problem::{Problem, Problems};
use super::set::WithOptions;
use super::suggest;
use super::units::{Dimension, QuantityError};
use super::values::{Entries, Entry, Item, Node};

/// Maximum length of the name of a material, shape, body or probe, in characters.
pub(super) const MAX_NAME: usize = 100;

/// Largest length or coordinate [m]; at this magnitude, positions are resolved to a tenth of a millimetre.
const MAX_LENGTH: f64 = 1e12;

static AXIS_COMPONENT: Kind = Kind::Number(Limits::Any);

/// Parses a text, sets the keys of its options, and checks it against `table`. Returns `None` after a syntax error: the rest cannot be trusted, and
/// lost keys would be reported as missing.
pub(crate) fn check(
    whole: &WithOptions,
    table: &'static Table,
    problems: &mut Problems,
) -> Option<Entries> {
    let document = whole.parse(problems)?;
    let planar = document.get_ref().get("planar").map(|value| value.get_ref());
    let planar = matches!(planar, Some(DeValue::Boolean(true)));
    let parameters = Parameters::of(document.get_ref());
    let mut checker = Checker { text: &whole.text, planar, parameters, problems };
    Some(checker.table(table, table.title, document.get_ref(), 0..0))
}

struct Checker<'a> {
    text: &'a str,
    planar: bool,
    parameters: Parameters,
    problems: &'a mut Problems,
}

impl Checker<'_> {
    fn table(
        &mut self,
        table: &'static Table,
        title: &str,
        values: &DeTable<'_>,
        span: Range<usize>,
    ) -> Entries {
        let mut entries = Entries { span: span.clone(), ..Entries::default() };
        let tag_known = self.tag(table, title, values, &mut entries);
        let variant = table.tag.and_then(|tag| {
            tag.variants.iter().find(|variant| Some(variant.value) == entries.variant)
        });

        // `scheme = { kind = "...", rho = 0.8 }` is the same as `scheme = "..."` and `rho = 0.8`.
        let within = table.tag.and_then(|tag| inline(values.get(tag.key)));
        let within = within.into_iter().flatten().filter(|(key, _)| key.get_ref() != KIND);
        for (key, value) in values.into_iter().chain(within) {
            let name: &str = key.get_ref();
            if table.tag.is_some_and(|tag| tag.key == name) {
                continue;
            }
            if entries.entry(name).is_some() {
                self.problems.report(key.span(), format!("`{name}` is given twice in {title}"));
                continue;
            }
            match table.fields_of(variant).find(|field| field.key == name) {
                Some(field) => {
                    let node = self.value(&field.kind, name, value);
                    let key_span = key.span();
                    entries.values.push(Entry {
                        key: name.to_owned(),
                        key_span,
                        given: true,
                        node,
                    });
                }
                // Without a valid tag, the allowed keys are unknown.
                None if tag_known => self.unknown_key(table, variant, title, name, key.span()),
                None => {}
            }
        }

        for field in table.fields_of(variant) {
            if entries.entry(field.key).is_some() {
                continue;
            }
            match field.need {
                Need::Required => self.missing(field, title, span.clone()),
                Need::Default(value) => {
                    let node = self.default(field, value, span.clone());
                    let (key, key_span) = (field.key.to_owned(), span.clone());
                    entries.values.push(Entry { key, key_span, given: false, node });
                }
                Need::Optional | Need::Computed(_) => {}
            }
        }
        entries
    }

    /// Reads the tag of a table; `false` if the tag is missing or invalid.
    fn tag(
        &mut self,
        table: &'static Table,
        title: &str,
        values: &DeTable<'_>,
        entries: &mut Entries,
    ) -> bool {
        let Some(tag) = table.tag else { return true };
        let words = || tag.variants.iter().map(|variant| variant.value);
        let all = || words().map(|word| format!("\"{word}\"")).collect::<Vec<_>>().join(", ");
        let Some(value) = values.get(tag.key) else {
            entries.variant = tag.default;
            if tag.default.is_none() {
                let message = format!("`{}` is missing in {title}", tag.key);
                self.problems.advise(entries.span.clone(), message, format!("one of {}", all()));
            }
            return entries.variant.is_some();
        };
        let value = inline(Some(value)).map_or(Some(value), |inner| inner.get(KIND));
        let Some(value) = value else {
            let message = format!("`{}` needs a `{KIND}`: one of {}", tag.key, all());
            self.problems.report(values.get(tag.key).map_or(0..0, |v| v.span()), message);
            return false;
        };
        let span = value.span();
        let DeValue::String(word) = value.get_ref() else {
            let message =
                format!("`{}`: expected one of {}; got {}", tag.key, all(), kind_of(value));
            self.problems.report(span, message);
            return false;
        };
        entries.variant = words().find(|known| known == word);
        if let Some(word) = entries.variant {
            let node = Node { item: Item::Text(word.to_owned()), span: span.clone() };
            let (key, key_span) = (tag.key.to_owned(), span.clone());
            entries.values.push(Entry { key, key_span, given: true, node });
        }
        if entries.variant.is_none() {
            let help = match suggest::closest(word, words()) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("one of {}", all()),
            };
            self.problems.advise(span, format!("`{}`: unknown value \"{word}\"", tag.key), help);
        }
        entries.variant.is_some()
    }

    fn unknown_key(
        &mut self,
        table: &'static Table,
        variant: Option<&'static Variant>,
        title: &str,
        name: &str,
        span: Range<usize>,
    ) {
        let known = || {
            let tag = table.tag.map(|tag| tag.key);
            tag.into_iter().chain(table.fields_of(variant).map(|field| field.key))
        };
        // A key of another variant gets its own message.
        if let (Some(tag), Some(variant)) = (table.tag, variant) {
            let owners: Vec<String> = tag
                .variants
                .iter()
                .filter(|other| {
                    other.fields.iter().copied().flatten().any(|field| field.key == name)
                })
                .map(|other| format!("{} = \"{}\"", tag.key, other.value))
                .collect();
            if !owners.is_empty() {
                let message =
                    format!("`{name}` is not allowed with {} = \"{}\"", tag.key, variant.value);
                let help = format!("it belongs to {}", owners.join(" or "));
                return self.problems.advise(span, message, help);
            }
        }
        let help = match suggest::closest(name, known()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => match known().collect::<Vec<_>>() {
                keys if keys.is_empty() => "it takes no keys".to_owned(),
                keys => format!("known keys: {}", keys.join(", ")),
            },
        };
        self.problems.advise(span, format!("unknown key `{}` in {title}", excerpt(name)), help);
    }

    fn missing(&mut self, field: &Field, title: &str, span: Range<usize>) {
        let message = format!("`{}` is missing in {title}", field.key);
        let help = match &field.kind {
            Kind::Table(_) | Kind::Named(_) => field.doc.to_owned(),
            kind => format!("{} Write {}", field.doc, kind.expected()),
        };
        self.problems.advise(span, message, help);
    }

    /// The default of a field as if it were written in the file, at `span`.
    fn default(&mut self, field: &'static Field, value: &str, span: Range<usize>) -> Node {
        let Ok(parsed) = DeValue::parse(value) else {
            return Node { item: Item::Invalid, span }; // unreachable: a test reads every default
        };
        let mut node = self.value(&field.kind, field.key, &parsed);
        node.span = span.clone();
        match &mut node.item {
            Item::Table(entries) => entries.span = span,
            Item::List(items) => items.iter_mut().for_each(|item| item.span = span.clone()),
            _ => {}
        }
        node
    }

    /// Checks one value; `what` is the key it belongs to.
    fn value(&mut self, kind: &'static Kind, what: &str, value: &Spanned<DeValue<'_>>) -> Node {
        let span = value.span();
        let item = match (kind, value.get_ref()) {
            (Kind::Flag, DeValue::Boolean(flag)) => Item::Flag(*flag),
            (Kind::Text, DeValue::String(text)) => Item::Text(text.to_string()),
            (Kind::Name, DeValue::String(name)) => self.name(what, name, &span),
            (Kind::Refers(_) | Kind::File, DeValue::String(name)) => Item::Text(name.to_string()),
            (Kind::Choice(words), DeValue::String(word)) => self.choice(words, what, word, &span),
            (Kind::Quantity(dimension, limits), DeValue::String(text)) => {
                let parsed = self.parameters.quantity(text, *dimension);
                self.parsed(parsed, *limits, what, text, &span)
            }
            (Kind::Number(limits), DeValue::String(text)) => match self.parameters.number(text) {
                Some(parsed) => self.parsed(parsed, *limits, what, text, &span),
                None => self.wrong_type(kind, what, value),
            },
            (Kind::Quantity(_, limits) | Kind::Number(limits), _) if is_number(value) => {
                match self.plain_number(what, value) {
                    Some(number) => self.limited(*limits, what, number, &span),
                    None => Item::Invalid,
                }
            }
            (Kind::Integer(low, high), _) if is_number(value) => {
                self.integer(*low, *high, what, value)
            }
            (Kind::Law(_) | Kind::Load(_) | Kind::Value, _)
                if is_number(value) || is_text(value) =>
            {
                self.law(kind, what, value)
            }
            (Kind::Axis, DeValue::String(word)) => self.axis(what, word, &span),
            (Kind::Axis, DeValue::Array(items)) => {
                self.space(&AXIS_COMPONENT, what, items, items.len() == 3, &span)
            }
            (Kind::Tuple(parts), DeValue::Array(items)) if items.len() == parts.len() => {
                let items = parts.iter().zip(items.iter());
                Item::List(items.map(|((_, kind), item)| self.value(kind, what, item)).collect())
            }
            (Kind::Tuple(parts), DeValue::Array(items)) => {
                let n = items.len();
                let message =
                    format!("`{what}`: expected {}; got a list of length {n}", tuple_names(parts));
                self.problems.report(span.clone(), message);
                Item::Invalid
            }
            (Kind::Map(of), DeValue::Table(values)) => {
                Item::Table(self.map(of, values, span.clone()))
            }
            (Kind::Polar(of), DeValue::Array(items)) => {
                let enough = items.len() == 3 || (self.planar && items.len() == 2);
                self.space(of, what, items, enough, &span)
            }
            (Kind::Axial(of), DeValue::Array(items)) => {
                self.space(of, what, items, items.len() == 3, &span)
            }
            (Kind::Axial(of), _) if self.planar && (is_number(value) || is_text(value)) => {
                let about_z = self.value(of, what, value);
                let zero = Node { item: zero_like(&about_z.item), span: span.clone() };
                Item::List(vec![zero.clone(), zero, about_z])
            }
            (Kind::List { of, min, max }, DeValue::Array(items)) => {
                let n = items.len();
                if (*min..=*max).contains(&n) {
                    Item::List(items.iter().map(|item| self.value(of, what, item)).collect())
                } else {
                    let message = match n > *max && min < max {
                        true => format!("`{what}` has {n} items; at most {max} are allowed"),
                        false => format!("`{what}`: expected {}; got {n}", kind.expected()),
                    };
                    self.problems.report(span.clone(), message);
                    Item::Invalid
                }
            }
            (Kind::Table(table), DeValue::Table(values)) => {
                Item::Table(self.table(table, table.title, values, span.clone()))
            }
            (Kind::Named(table), DeValue::Table(values)) => {
                Item::Table(self.named(table, what, values, span.clone()))
            }
            (Kind::OneOf(kinds), _) => match kinds.iter().find(|kind| kind.may_be(value)) {
                Some(kind) => return self.value(kind, what, value),
                None => self.wrong_type(kind, what, value),
            },
            _ => self.wrong_type(kind, what, value),
        };
        self.in_plane(kind, what, &item, &span);
        let item = self.within_reach(kind, what, item, &span);
        Node { item, span }
    }

    /// Parses a text as a number; a mistake is reported.
    fn parsed(
        &mut self,
        parsed: Result<f64, QuantityError>,
        limits: Limits,
        what: &str,
        text: &str,
        span: &Range<usize>,
    ) -> Item {
        match parsed {
            Ok(number) => self.limited(limits, what, number, span),
            Err(error) => {
                let place = inside(self.text, span, text, error.span);
                self.problems.report(place, format!("`{what}`: {}", error.message));
                Item::Invalid
            }
        }
    }

    /// Limits lengths to a magnitude at which positions can be resolved.
    fn within_reach(&mut self, kind: &Kind, what: &str, item: Item, span: &Range<usize>) -> Item {
        match (kind, &item) {
            (Kind::Quantity(Dimension::LENGTH, _), Item::Number(x)) if x.abs() > MAX_LENGTH => {
                let message = format!(
                    "`{what}` is {} m; lengths and coordinates must not exceed {MAX_LENGTH:e} m",
                    shown(*x)
                );
                self.problems.report(span.clone(), message);
                Item::Invalid
            }
            _ => item,
        }
    }

    /// A direction along a coordinate axis.
    fn axis(&mut self, what: &str, word: &str, span: &Range<usize>) -> Item {
        let (sign, letter) = match word.strip_prefix('-') {
            Some(letter) => (-1.0, letter),
            None => (1.0, word.strip_prefix('+').unwrap_or(word)),
        };
        let Some(axis) = ["x", "y", "z"].iter().position(|name| *name == letter) else {
            let message = format!("`{what}`: unknown axis \"{}\"", excerpt(word));
            self.problems.advise(span.clone(), message, format!("write {}", Kind::Axis.expected()));
            return Item::Invalid;
        };
        let component = |i| if i == axis { sign } else { 0.0 };
        let items = (0..3).map(|i| Node { item: Item::Number(component(i)), span: span.clone() });
        Item::List(items.collect())
    }

    /// Values under user-defined names, in file order.
    fn map(&mut self, of: &'static Kind, values: &DeTable<'_>, span: Range<usize>) -> Entries {
        let mut entries = Entries { span, ..Entries::default() };
        for (key, value) in values {
            let name: &str = key.get_ref();
            let node = self.value(of, &excerpt(name), value);
            let (key, key_span) = (name.to_owned(), key.span());
            entries.values.push(Entry { key, key_span, given: true, node });
        }
        entries.values.sort_by_key(|entry| entry.key_span.start);
        entries
    }

    fn wrong_type(&mut self, kind: &Kind, what: &str, value: &Spanned<DeValue<'_>>) -> Item {
        let message = format!("`{what}`: expected {}; got {}", kind.expected(), kind_of(value));
        let mut problem = Problem::new(value.span(), message);
        let is_list_of_tables =
            matches!(kind, Kind::List { of: Kind::Table(_), .. }) && is_table(value);
        if is_list_of_tables {
            problem.message = format!("`{what}`: expected a list of tables; got a single one");
            problem.help =
                Some(format!("a list of tables is written with two brackets: [[{what}]]"));
        } else if is_text(value) && matches!(kind, Kind::Number(_) | Kind::Integer(..) | Kind::Flag)
        {
            problem.help = Some("write it without quotes".into());
        } else if matches!(kind, Kind::Table(_)) && matches!(value.get_ref(), DeValue::Array(_)) {
            problem.help = Some(format!("a single table is written with one bracket: [{what}]"));
        }
        self.problems.add(problem);
        Item::Invalid
    }

    fn plain_number(&mut self, what: &str, value: &Spanned<DeValue<'_>>) -> Option<f64> {
        let number = match value.get_ref() {
            DeValue::Integer(integer) => {
                i128::from_str_radix(integer.as_str(), integer.radix()).ok().map(|i| i as f64)
            }
            DeValue::Float(float) => float.as_str().parse::<f64>().ok(),
            _ => None,
        };
        let number = number.filter(|number| number.is_finite());
        if number.is_none() {
            self.problems.report(value.span(), format!("`{what}` is not a finite number"));
        }
        number
    }

    fn limited(&mut self, limits: Limits, what: &str, number: f64, span: &Range<usize>) -> Item {
        if limits.allow(number) {
            return Item::Number(number);
        }
        let message = format!("`{what}` must be {}; got {}", limits.words(), shown(number));
        self.problems.report(span.clone(), message);
        Item::Invalid
    }

    /// A whole number; `1e6` is accepted.
    fn integer(&mut self, low: i64, high: i64, what: &str, value: &Spanned<DeValue<'_>>) -> Item {
        let Some(number) = self.plain_number(what, value) else { return Item::Invalid };
        if number.fract() != 0.0 {
            let message = format!("`{what}`: expected a whole number; got {}", shown(number));
            self.problems.report(value.span(), message);
            return Item::Invalid;
        }
        let exact = match value.get_ref() {
            DeValue::Integer(digits) => i64::from_str_radix(digits.as_str(), digits.radix()).ok(),
            // Beyond 2^53, a float does not represent a unique whole number.
            _ if number.abs() <= 9e15 => Some(number as i64),
            _ => None,
        };
        match exact {
            Some(integer) if (low..=high).contains(&integer) => Item::Integer(integer),
            _ => {
                let message = match high {
                    i64::MAX => format!("`{what}` must be at least {low} and below 2^63"),
                    _ => format!("`{what}` must be between {low} and {high}"),
                };
                self.problems.report(value.span(), format!("{message}; got {}", shown(number)));
                Item::Invalid
            }
        }
    }

    fn choice(
        &mut self,
        words: &'static [(&'static str, &'static str)],
        what: &str,
        word: &str,
        span: &Range<usize>,
    ) -> Item {
        if words.iter().any(|(known, _)| *known == word) {
            return Item::Text(word.to_owned());
        }
        let help = match suggest::closest(word, words.iter().map(|(known, _)| *known)) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => Kind::Choice(words).expected(),
        };
        let message = format!("`{what}`: unknown value \"{}\"", excerpt(word));
        self.problems.advise(span.clone(), message, help);
        Item::Invalid
    }

    fn name(&mut self, what: &str, name: &str, span: &Range<usize>) -> Item {
        let message = if name.is_empty() {
            format!("`{what}` is empty")
        } else if name.chars().count() > MAX_NAME {
            format!("`{what}` is longer than {MAX_NAME} characters")
        } else if !name.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c)) {
            format!("`{what}`: \"{}\" is not a name", excerpt(name))
        } else {
            return Item::Text(name.to_owned());
        };
        self.problems.advise(span.clone(), message, "names consist of letters, digits, - _ and .");
        Item::Invalid
    }

    /// Three components. In planar scenes, components out of the plane must be zero.
    fn space(
        &mut self,
        of: &'static Kind,
        what: &str,
        items: &[Spanned<DeValue<'_>>],
        enough: bool,
        span: &Range<usize>,
    ) -> Item {
        if !enough {
            let n = if self.planar { "2 or 3" } else { "3" };
            let message = format!("`{what}`: expected {n} components; got {}", items.len());
            self.problems.report(span.clone(), message);
            return Item::Invalid;
        }
        let mut nodes: Vec<Node> = items.iter().map(|item| self.value(of, what, item)).collect();
        if let (2, Some(first)) = (nodes.len(), nodes.first()) {
            nodes.push(Node { item: zero_like(&first.item), span: span.clone() });
        }
        Item::List(nodes)
    }

    /// In planar scenes, vectors must lie in the plane and axial vectors must be about z. Laws are checked later, when compiled.
    fn in_plane(&mut self, kind: &Kind, what: &str, item: &Item, span: &Range<usize>) {
        let Item::List(nodes) = item else { return };
        let numbers: Option<Vec<f64>> = nodes.iter().map(Node::number).collect();
        let (true, Some([x, y, z])) = (self.planar, numbers.as_deref()) else { return };
        let message = match kind {
            Kind::Polar(Kind::Quantity(..) | Kind::Number(_) | Kind::Load(_)) if *z != 0.0 => {
                format!("the scene is planar: the third component of `{what}` must be 0")
            }
            Kind::Axial(Kind::Quantity(..) | Kind::Load(_)) if *x != 0.0 || *y != 0.0 => {
                format!("the scene is planar: `{what}` must be about z, as [0, 0, z] or z")
            }
            _ => return,
        };
        self.problems.report(span.clone(), message);
    }

    fn named(
        &mut self,
        table: &'static Table,
        what: &str,
        values: &DeTable<'_>,
        span: Range<usize>,
    ) -> Entries {
        let mut entries = Entries { span, ..Entries::default() };
        for (key, value) in values {
            let name: &str = key.get_ref();
            self.name(what, name, &key.span());
            let title = table.title.replace('*', name);
            let title = if title == table.title { format!("[{what}.{name}]") } else { title };
            let item = match value.get_ref() {
                DeValue::Table(inner) => {
                    Item::Table(self.table(table, &title, inner, value.span()))
                }
                _ => {
                    let message =
                        format!("`{name}`: expected a table {title}; got {}", kind_of(value));
                    self.problems.report(value.span(), message);
                    Item::Invalid
                }
            };
            let node = Node { item, span: value.span() };
            let (key, key_span) = (name.to_owned(), key.span());
            entries.values.push(Entry { key, key_span, given: true, node });
        }
        entries.values.sort_by_key(|entry| entry.key_span.start);
        entries
    }
}

/// The location in the file of `inner`, a range in the text of a string. Strings with escapes are marked as a whole.
pub(crate) fn inside(
    file: &str,
    span: &Range<usize>,
    text: &str,
    inner: Range<usize>,
) -> Range<usize> {
    let raw = file.get(span.clone()).unwrap_or_default();
    match raw.get(1..raw.len().saturating_sub(1)) {
        Some(plain) if plain == text => span.start + 1 + inner.start..span.start + 1 + inner.end,
        _ => span.clone(),
    }
}

/// The zero that pads a component; next to an invalid component, an invalid one, so that nothing more is checked.
fn zero_like(item: &Item) -> Item {
    match item {
        Item::Number(_) | Item::Text(_) => Item::Number(0.0),
        _ => Item::Invalid,
    }
}

/// A word as shown in a message, truncated to one line.
pub(crate) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;

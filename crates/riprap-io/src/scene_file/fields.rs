//! The vocabulary that describes the scene file format: tables, their fields, and the kinds of values.
//! The description itself is next to the model, in `model/`; the checks, the JSON schema and the reference page are
//! generated from it, so that they cannot disagree.

use super::number;
use super::units::Dimension;

/// A table of the scene file.
pub(crate) struct Table {
    /// Name of the definition in the JSON schema and title in the reference.
    pub name: &'static str,
    /// How messages refer to it, such as `[run]`.
    pub title: &'static str,
    /// Its description.
    pub doc: &'static str,
    /// Keys that are always allowed, grouped by member of the model.
    pub fields: Groups,
    /// The key, if any, whose value determines further keys.
    pub tag: Option<&'static Tag>,
}

/// A key that chooses between variants of a table, such as `type` of a shape.
pub(crate) struct Tag {
    pub key: &'static str,
    pub doc: &'static str,
    /// The default variant; without one the key is required.
    pub default: Option<&'static str>,
    pub variants: &'static [Variant],
}

/// One value of a tag, with its additional keys.
pub(crate) struct Variant {
    pub value: &'static str,
    pub doc: &'static str,
    pub fields: Groups,
}

/// Keys, grouped by member of the model.
pub(crate) type Groups = &'static [&'static [Field]];

/// One key of a table.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    pub key: &'static str,
    pub kind: Kind,
    pub need: Need,
    pub doc: &'static str,
}

/// Whether a key is required, and what happens if it is missing.
#[derive(Clone, Copy)]
pub(crate) enum Need {
    Required,
    Optional,
    /// The default value, as it would be written in the file.
    Default(&'static str),
    /// The value is computed from others; this describes how.
    Computed(&'static str),
}

/// The range of allowed numbers.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Limits {
    Any,
    Positive,
    NonNegative,
    /// Both bounds included.
    Within(f64, f64),
}

/// The type of a value.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// A number in SI units, or a text with a unit.
    Quantity(Dimension, Limits),
    /// A dimensionless number.
    Number(Limits),
    /// A whole number between two bounds, both included.
    Integer(i64, i64),
    Flag,
    Text,
    /// A name that is being defined.
    Name,
    /// The name of something defined elsewhere, such as a `material`.
    Refers(&'static str),
    /// A path, relative to the scene file.
    File,
    /// One of several words, each with its meaning.
    Choice(&'static [(&'static str, &'static str)]),
    /// A number in SI units or an expression, of the given dimension.
    Law(Dimension),
    /// A number in SI units, a text with a unit of the given dimension, or an expression of time and state.
    Load(Dimension),
    /// A number, a text with a unit of any dimension, or an expression of numbers.
    Value,
    /// A direction: `"x"`, `"-y"` or three components.
    Axis,
    /// Components along x, y and z; in planar scenes the last may be omitted.
    Polar(&'static Kind),
    /// Components about x, y and z; in planar scenes a single value is about z.
    Axial(&'static Kind),
    /// A list with between `min` and `max` items.
    List {
        of: &'static Kind,
        min: usize,
        max: usize,
    },
    /// A list with one value for each of these names.
    Tuple(&'static [(&'static str, Kind)]),
    Table(&'static Table),
    /// A table with user-defined keys, each with a value.
    Map(&'static Kind),
    /// A table with user-defined keys, each with a table.
    Named(&'static Table),
    /// Alternatives that differ in the type of their TOML value.
    OneOf(&'static [Kind]),
}

impl Limits {
    pub fn allow(self, value: f64) -> bool {
        match self {
            Limits::Any => true,
            Limits::Positive => value > 0.0,
            Limits::NonNegative => value >= 0.0,
            Limits::Within(low, high) => (low..=high).contains(&value),
        }
    }

    /// The range in words, such as `greater than 0`; empty if there is none.
    pub fn words(self) -> String {
        match self {
            Limits::Any => String::new(),
            Limits::Positive => "greater than 0".into(),
            Limits::NonNegative => "at least 0".into(),
            Limits::Within(low, high) => format!("between {} and {}", number(low), number(high)),
        }
    }
}

impl Kind {
    /// The expected value in words, with an example, for messages.
    pub fn expected(&self) -> String {
        match self {
            Kind::Quantity(dimension, _) => {
                format!("{dimension} such as \"{}\"", dimension.example())
            }
            Kind::Number(_) => "a number without unit, such as 0.5".into(),
            Kind::Integer(..) => "a whole number".into(),
            Kind::Flag => "true or false".into(),
            Kind::Text => "a text in quotes".into(),
            Kind::Name => "a name in quotes".into(),
            Kind::Refers(what) => format!("the name of a {what} in quotes"),
            Kind::File => "the path of a file in quotes".into(),
            Kind::Choice(words) => {
                let words: Vec<String> =
                    words.iter().map(|(word, _)| format!("\"{word}\"")).collect();
                format!("one of {}", words.join(", "))
            }
            Kind::Law(_) => "a number, or an expression such as \"0.05*sin(2*pi*t)\"".into(),
            Kind::Load(dimension) => format!(
                "a number, {dimension} such as \"{}\", or an expression such as \"-200*z - 5*vz\"",
                dimension.example()
            ),
            Kind::Value => {
                "a number, a quantity such as \"35 Hz\", or an expression such as \"2*pi*35\""
                    .into()
            }
            Kind::Axis => "an axis such as \"x\", \"-y\" or [0, 0, 1]".into(),
            Kind::Tuple(parts) => {
                let kinds: Vec<String> = parts.iter().map(|(_, kind)| kind.expected()).collect();
                format!("a list {}: {}", tuple_names(parts), kinds.join(", "))
            }
            Kind::Map(of) => format!("a table of names, each with {}", of.expected()),
            Kind::Polar(of) | Kind::Axial(of) => {
                format!("a list [x, y, z], each {}", of.expected())
            }
            Kind::List { of, min, max } => {
                let count = match (min, max) {
                    (min, max) if min == max => format!("{min} items"),
                    (1, 1000..) => "at least one item".to_owned(),
                    (min, 1000..) => format!("at least {min} items"),
                    (min, max) if *max == min + 1 => format!("{min} or {max} items"),
                    _ => format!("{min} to {max} items"),
                };
                format!("a list of {count}, each {}", of.expected())
            }
            Kind::Table(table) => {
                let tag = table.tag.map(|tag| tag.key);
                let keys: Vec<&str> =
                    tag.into_iter().chain(table.fields_of(None).map(|field| field.key)).collect();
                format!("a table with the keys {}", keys.join(", "))
            }
            Kind::Named(table) => format!("named tables {}", table.title),
            Kind::OneOf(kinds) => {
                kinds.iter().map(Kind::expected).collect::<Vec<_>>().join(", or ")
            }
        }
    }
}

/// A key that is not declared by [`table!`](super::keys::table).
pub(crate) const fn field(key: &'static str, kind: Kind, need: Need, doc: &'static str) -> Field {
    Field { key, kind, need, doc }
}

/// The names of the values of a tuple, such as `[slide, turn]`.
pub(crate) fn tuple_names(parts: &[(&str, Kind)]) -> String {
    let names: Vec<&str> = parts.iter().map(|(name, _)| *name).collect();
    format!("[{}]", names.join(", "))
}

impl Table {
    /// The fields that apply when the tag has the value `variant`.
    pub fn fields_of(
        &self,
        variant: Option<&'static Variant>,
    ) -> impl Iterator<Item = &'static Field> {
        let own = variant.map_or(&[][..], |variant| variant.fields);
        self.fields.iter().chain(own).copied().flatten()
    }
}

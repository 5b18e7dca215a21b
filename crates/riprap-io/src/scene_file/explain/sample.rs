//! Examples of values, as written in a scene file.

use super::super::fields::{Field, Kind, Limits, Need, Table};
use super::table_of;

/// An example of a value, as written in a file.
pub(super) fn sample(kind: &'static Kind) -> String {
    let list = |of: &'static Kind, n: usize| format!("[{}]", vec![sample(of); n].join(", "));
    match kind {
        Kind::Quantity(dimension, _) => format!("\"{}\"", dimension.example()),
        Kind::Number(Limits::Within(low, high)) => format!("{}", 0.5 * (low + high)),
        Kind::Number(_) => "0.5".into(),
        Kind::Integer(low, high) => 10.clamp(*low, *high).to_string(),
        Kind::Flag => "true".into(),
        Kind::Text => "\"a text\"".into(),
        Kind::Name => "\"ball\"".into(),
        Kind::Refers("material") => "\"rock\"".into(),
        Kind::Refers(what) => format!("\"{}\"", what.replace(' ', "-")),
        Kind::File => "\"stone.stl\"".into(),
        Kind::Choice(words) => format!("\"{}\"", words.first().map_or("", |word| word.0)),
        Kind::Law(_) => "\"0.05*sin(2*pi*t)\"".into(),
        Kind::Load(_) => "\"-200*z - 5*vz\"".into(),
        Kind::Value => "\"1500 rpm\"".into(),
        Kind::Axis => "\"z\"".into(),
        Kind::Polar(of) | Kind::Axial(of) => list(of, 3),
        Kind::List { of, min, .. } => list(of, (*min).max(1)),
        Kind::Tuple(parts) => {
            let values: Vec<String> = parts.iter().map(|(_, kind)| sample(kind)).collect();
            format!("[{}]", values.join(", "))
        }
        Kind::Table(table) => inline(table),
        Kind::Map(of) => format!("{{ omega = {} }}", sample(of)),
        Kind::Named(table) => format!("{{ rock = {} }}", inline(table)),
        Kind::OneOf(kinds) => kinds.first().map_or(String::new(), sample),
    }
}

/// A table with its required keys, or else its first one.
fn inline(table: &'static Table) -> String {
    let variant = table.tag.and_then(|tag| tag.variants.first());
    let mut entries: Vec<String> = Vec::new();
    if let (Some(tag), Some(variant)) = (table.tag, variant) {
        entries.push(format!("{} = \"{}\"", tag.key, variant.value));
    }
    let required = |field: &&Field| matches!(field.need, Need::Required);
    let mut fields: Vec<&'static Field> = table.fields_of(variant).filter(required).collect();
    if fields.is_empty() && entries.is_empty() {
        fields.extend(table.fields_of(variant).find(|field| table_of(&field.kind).is_none()));
    }
    entries.extend(fields.iter().map(|field| format!("{} = {}", field.key, sample(&field.kind))));
    format!("{{ {} }}", entries.join(", "))
}

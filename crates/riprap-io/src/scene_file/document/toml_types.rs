//! Types of TOML values: which kinds accept them, and how messages name them.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::fields::Kind;
use super::excerpt;

impl Kind {
    /// Whether a value has a TOML type that this kind accepts.
    pub(in super::super) fn may_be(&self, value: &Spanned<DeValue<'_>>) -> bool {
        match self {
            Kind::Quantity(..) | Kind::Law(_) | Kind::Load(_) | Kind::Value => {
                is_number(value) || is_text(value)
            }
            Kind::Number(_) | Kind::Integer(..) => is_number(value),
            Kind::Flag => matches!(value.get_ref(), DeValue::Boolean(_)),
            Kind::Text | Kind::Name | Kind::Refers(_) | Kind::File | Kind::Choice(_) => {
                is_text(value)
            }
            Kind::Polar(_) | Kind::Axial(_) | Kind::List { .. } | Kind::Tuple(_) => {
                matches!(value.get_ref(), DeValue::Array(_))
            }
            Kind::Axis => is_text(value) || matches!(value.get_ref(), DeValue::Array(_)),
            Kind::Table(_) | Kind::Named(_) | Kind::Map(_) => is_table(value),
            Kind::OneOf(kinds) => kinds.iter().any(|kind| kind.may_be(value)),
        }
    }
}

/// Key of the word in a tag that is written as a table.
pub(super) const KIND: &str = "kind";

/// A tag that is written as a table.
pub(super) fn inline<'a, 'b>(value: Option<&'a Spanned<DeValue<'b>>>) -> Option<&'a DeTable<'b>> {
    match value?.get_ref() {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

pub(super) fn is_number(value: &Spanned<DeValue<'_>>) -> bool {
    matches!(value.get_ref(), DeValue::Integer(_) | DeValue::Float(_))
}

pub(super) fn is_text(value: &Spanned<DeValue<'_>>) -> bool {
    matches!(value.get_ref(), DeValue::String(_))
}

pub(super) fn is_table(value: &Spanned<DeValue<'_>>) -> bool {
    matches!(value.get_ref(), DeValue::Table(_))
}

/// A description of a value for messages.
pub(super) fn kind_of(value: &Spanned<DeValue<'_>>) -> String {
    match value.get_ref() {
        DeValue::String(text) => format!("the text \"{}\"", excerpt(text)),
        DeValue::Integer(number) => format!("the number {}", excerpt(number.as_str())),
        DeValue::Float(number) => format!("the number {}", excerpt(number.as_str())),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Datetime(_) => "a date".into(),
        DeValue::Array(_) => "a list".into(),
        DeValue::Table(_) => "a table".into(),
    }
}

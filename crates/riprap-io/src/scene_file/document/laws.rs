//! Values that are numbers, quantities or expressions. Expressions are compiled later, when all names are known.

use toml::Spanned;
use toml::de::DeValue;

use super::super::fields::{Kind, Limits};
use super::super::values::Item;
use super::Checker;

impl Checker<'_> {
    /// Checks a number, or a text that may be an expression.
    pub(super) fn law(&mut self, kind: &Kind, what: &str, value: &Spanned<DeValue<'_>>) -> Item {
        let span = value.span();
        let DeValue::String(source) = value.get_ref() else {
            return self.plain_number(what, value).map_or(Item::Invalid, Item::Number);
        };
        match kind {
            Kind::Law(dimension) => {
                if let Some(mistake) = self.parameters.law_mistake(source, *dimension) {
                    self.problems.report(span, format!("`{what}`: {mistake}"));
                }
            }
            Kind::Load(dimension) => {
                if let Some(parsed) = self.parameters.load(source, *dimension) {
                    return self.parsed(parsed, Limits::Any, what, source, &span);
                }
            }
            _ => {}
        }
        Item::Text(source.to_string())
    }
}

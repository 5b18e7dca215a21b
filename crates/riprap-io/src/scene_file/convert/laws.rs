//! Parameters, and the expressions that use them. Expressions are compiled here, when all names are known.

use std::ops::Range;

use super::super::document::{excerpt, inside};
use super::super::expression::{Expression, ExpressionError, Scope, is_reserved};
use super::super::model::{Component, Parameter};
use super::super::parameters::looks_like_quantity;
use super::super::problem::Problem;
use super::super::units::{Dimension, parse_any_quantity};
use super::super::values::{Entries, Item, Node};
use super::Converter;

impl Converter<'_> {
    /// The parameters; each may use those above it.
    pub(super) fn parameters(&mut self, scene: &Entries) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        let mut scope = Scope::default();
        for (name, key_span, node) in scene.table("parameters").into_iter().flat_map(Entries::named)
        {
            let fits = self.variable_name("parameter", name, key_span);
            // An invalid value is reported once, not wherever it is used.
            let value = self.parameter(name, node, &scope).unwrap_or(1.0);
            let dimension = node.text().and_then(|text| self.parameters.value(text)?.1);
            if fits {
                self.parameters.add(name, value, dimension);
                scope.constant(name, value);
                self.time_scope.constant(name, value);
                parameters.push(Parameter { name: name.to_owned(), value });
            }
        }
        parameters
    }

    fn parameter(&mut self, name: &str, node: &Node, scope: &Scope) -> Option<f64> {
        let text = match &node.item {
            Item::Number(value) => return Some(*value),
            Item::Text(text) => text,
            _ => return None,
        };
        let value = match parse_any_quantity(text) {
            Ok((value, _)) => value,
            // A number followed by something else, such as "3 furlong", is meant to be a quantity.
            Err(error) if looks_like_quantity(text) => {
                let place = inside(self.text, &node.span, text, error.span);
                self.problems.report(place, format!("`{}`: {}", excerpt(name), error.message));
                return None;
            }
            Err(_) => self.compile(node, name, text, scope)?.evaluate(&[]),
        };
        if !value.is_finite() {
            let message = format!("`{}` is {value}", excerpt(name));
            self.problems.report(node.span.clone(), message);
            return None;
        }
        Some(value)
    }

    /// Whether a name is valid for a variable in expressions.
    pub(super) fn variable_name(&mut self, what: &str, name: &str, span: &Range<usize>) -> bool {
        let help = if is_reserved(name) {
            "this name is reserved in expressions; choose another one".to_owned()
        } else if name.contains(['-', '.']) {
            format!(
                "in expressions it would have another meaning; write `{}`",
                name.replace(['-', '.'], "_")
            )
        } else if !name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            || !name.chars().all(|c| c.is_alphanumeric() || c == '_')
        {
            "names start with a letter, followed by letters, digits and _".to_owned()
        } else if name.chars().count() > 100 {
            "names have at most 100 characters".to_owned()
        } else {
            return true;
        };
        let message = format!("`{}` cannot be the name of a {what}", excerpt(name));
        self.problems.advise(span.clone(), message, help);
        false
    }

    /// A component of a prescribed motion: a number, or an expression of `t` and the parameters.
    pub(in super::super) fn component(&mut self, node: &Node, what: &str) -> Option<Component> {
        match &node.item {
            Item::Number(value) => Some(Component::Constant(*value)),
            Item::Text(text) => {
                let scope = std::mem::take(&mut self.time_scope);
                let expression = self.compile(node, what, text, &scope);
                self.time_scope = scope;
                expression.map(Component::Expression)
            }
            _ => None,
        }
    }

    /// A number or an expression that may use the names in `scope`.
    pub(super) fn expression(
        &mut self,
        node: &Node,
        what: &str,
        scope: &Scope,
    ) -> Option<Expression> {
        match &node.item {
            Item::Number(value) => Some(Expression::number(*value)),
            Item::Text(text) => self.compile(node, what, text, scope),
            _ => None,
        }
    }

    fn compile(
        &mut self,
        node: &Node,
        what: &str,
        text: &str,
        scope: &Scope,
    ) -> Option<Expression> {
        if self.problems.is_full() {
            return None; // a mistake would not be reported
        }
        let mistake = match Expression::parse_in(text, scope) {
            Ok(expression) if !expression.is_constant() => return Some(expression),
            Ok(expression) if expression.evaluate(&[]).is_finite() => return Some(expression),
            Ok(expression) => {
                let message = format!("this is {}", expression.evaluate(&[]));
                ExpressionError { span: 0..text.len(), column: 1, message, help: None }
            }
            Err(mistake) => mistake,
        };
        let place = inside(self.text, &node.span, text, mistake.span);
        let mut problem = Problem::new(place, format!("`{}`: {}", excerpt(what), mistake.message));
        problem.help = mistake.help;
        self.problems.add(problem);
        None
    }

    /// A number in SI units, or a text with a unit of the given dimension, for keys whose dimension was not known before.
    pub(super) fn quantity(
        &mut self,
        node: &Node,
        what: &str,
        dimension: Dimension,
    ) -> Option<f64> {
        let text = match &node.item {
            Item::Number(value) => return Some(*value),
            Item::Text(text) => text,
            _ => return None,
        };
        self.parameters
            .quantity(text, dimension)
            .map_err(|error| {
                let place = inside(self.text, &node.span, text, error.span);
                self.problems.report(place, format!("`{what}`: {}", error.message));
            })
            .ok()
    }
}

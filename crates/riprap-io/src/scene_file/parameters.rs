//! The use of parameters in other values: a number may be written as an expression of parameters, such as
//! `start_velocity = "omega"` or `length = "2*radius"`. A parameter with a unit keeps its dimension, so that a frequency is not
//! mistaken for an angular velocity.

use toml::de::{DeTable, DeValue};

use super::expression::Expression;
use super::model::BodyCoordinate;
use super::suggest;
use super::units::{Dimension, QuantityError, parse_any_quantity, parse_quantity};

/// Parameters by name: value in SI units, and dimension if known from a unit.
#[derive(Clone, Debug, Default)]
pub(super) struct Parameters {
    names: Vec<String>,
    values: Vec<f64>,
    dimensions: Vec<Option<Dimension>>,
}

impl Parameters {
    /// The parameters of a document, in file order. Mistakes in them are reported when they are converted.
    pub fn of(document: &DeTable<'_>) -> Parameters {
        let mut parameters = Parameters::default();
        let table = document.get("parameters").map(|value| value.get_ref());
        let Some(DeValue::Table(table)) = table else { return parameters };
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            let plain = |text: &str| Some((text.parse::<f64>().ok()?, None));
            let known = match value.get_ref() {
                DeValue::String(text) => parameters.value(text),
                DeValue::Integer(number) => plain(number.as_str()),
                DeValue::Float(number) => plain(number.as_str()),
                _ => None,
            };
            // An invalid value is reported once, not wherever it is used.
            let (value, dimension) = known.unwrap_or((1.0, None));
            parameters.add(key.get_ref(), value, dimension);
        }
        parameters
    }

    /// Adds a parameter with its value in SI units.
    pub fn add(&mut self, name: &str, value: f64, dimension: Option<Dimension>) {
        self.names.push(name.to_owned());
        self.values.push(value);
        self.dimensions.push(dimension);
    }

    /// The value of a text of any dimension, and its dimension if known.
    pub fn value(&self, text: &str) -> Option<(f64, Option<Dimension>)> {
        if let Ok((value, dimension)) = parse_any_quantity(text) {
            return Some((value, dimension));
        }
        let expression = self.parse(text).ok()?;
        let value = expression.evaluate(&self.values);
        value.is_finite().then(|| (value, expression.dimension(&self.dimensions)))
    }

    /// A quantity of a given dimension, in SI units, or an expression of parameters.
    pub fn quantity(&self, text: &str, expected: Dimension) -> Result<f64, QuantityError> {
        let error = match parse_quantity(text, expected) {
            Ok(value) => return Ok(value),
            Err(error) => error,
        };
        if looks_like_quantity(text) {
            return Err(error);
        }
        let whole = 0..text.len();
        match self.parse(text) {
            Ok(expression) => {
                let value = expression.evaluate(&self.values);
                if !value.is_finite() {
                    return Err(QuantityError { message: format!("this is {value}"), span: whole });
                }
                self.check(expression, expected)
                    .map_or(Ok(value), |message| Err(QuantityError { message, span: whole }))
            }
            // A single word is not an expression; it may be a misspelt parameter.
            Err(_) if text.trim().chars().all(|c| c.is_alphanumeric() || c == '_') => {
                let near = suggest::closest(text.trim(), self.names.iter().map(String::as_str));
                let hint = near.map(|near| format!("; did you mean the parameter `{near}`?"));
                let message = format!("{}{}", error.message, hint.unwrap_or_default());
                Err(QuantityError { message, ..error })
            }
            Err(_) if self.names.is_empty() => Err(error),
            Err(mistake) => Err(QuantityError { message: mistake.message, span: mistake.span }),
        }
    }

    /// A dimensionless number as an expression that uses a parameter; `None` if the text is not one.
    pub fn number(&self, text: &str) -> Option<Result<f64, QuantityError>> {
        let mut expression = self.parse(text).ok()?;
        if expression.compact().is_empty() {
            return None;
        }
        Some(self.quantity(text, Dimension::NONE))
    }

    /// A message if a law of the time `t` has the wrong dimension, as far as the dimension is known.
    pub fn law_mistake(&self, text: &str, expected: Dimension) -> Option<String> {
        if self.names.is_empty() || expected == Dimension::NONE {
            return None; // the dimension of the law depends on another key
        }
        let mut with_time = self.clone();
        with_time.add("t", 0.0, Some(Dimension::TIME));
        let expression = with_time.parse(text).ok()?;
        with_time.check(expression, expected)
    }

    /// A quantity, also as an expression of parameters; `None` if the text is an expression of other names, or of parameters with
    /// the name of a coordinate, which is a mistake that is reported when laws are compiled.
    pub fn load(&self, text: &str, expected: Dimension) -> Option<Result<f64, QuantityError>> {
        let is_coordinate =
            |k: usize| BodyCoordinate::ALL.iter().any(|(name, _)| self.names[k] == *name);
        if let Ok(mut expression) = self.parse(text)
            && expression.compact().into_iter().any(is_coordinate)
        {
            return None;
        }
        let parsed = self.quantity(text, expected);
        (parsed.is_ok() || looks_like_quantity(text)).then_some(parsed)
    }

    /// A message if a law of time and state has the wrong dimension, as far as the dimension is known; `variables` are those it
    /// uses.
    pub fn load_mistake<'a>(
        &self,
        text: &str,
        variables: impl Iterator<Item = (&'a str, Dimension)>,
        expected: Dimension,
    ) -> Option<String> {
        if self.names.is_empty() {
            return None; // plain numbers match any dimension
        }
        let mut all = self.clone();
        variables.for_each(|(name, dimension)| all.add(name, 0.0, Some(dimension)));
        let expression = all.parse(text).ok()?;
        all.check(expression, expected)
    }

    fn parse(&self, text: &str) -> Result<Expression, super::ExpressionError> {
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        Expression::parse(text, &names)
    }

    /// A message if an expression has the wrong dimension; `None` if the dimension is unknown.
    fn check(&self, mut expression: Expression, expected: Dimension) -> Option<String> {
        let found = expression.dimension(&self.dimensions)?;
        let used = expression.compact();
        let of_frequency = |k: &&usize| self.dimensions[**k] == Some(Dimension::FREQUENCY);
        match () {
            () if found.is_same(expected) => None,
            // Cycles are not radians; an arc over a radius is.
            () if found.is_but_for_angles(expected) => {
                let frequency = used.iter().find(of_frequency)?;
                let name = &self.names[*frequency];
                let per_time = expected == Dimension::ANGULAR_VELOCITY;
                let unit = if per_time { "rad/s" } else { "radians" };
                Some(format!(
                    "`{name}` is a frequency in Hz, but {expected} in {unit} is expected; write 2*pi*{name}, or give \
                     `{name}` in rad/s or rpm"
                ))
            }
            () => Some(format!(
                "expected {expected} such as \"{}\"; \"{}\" is {found}",
                expected.example(),
                expression.source()
            )),
        }
    }
}

/// Whether a text is a number followed by the start of a unit.
pub(super) fn looks_like_quantity(text: &str) -> bool {
    let number = text.trim_start().trim_start_matches(['+', '-']);
    let rest = number.trim_start_matches(|c: char| c.is_ascii_digit() || "._".contains(c));
    let power = rest.strip_prefix(['e', 'E']).map(|power| power.trim_start_matches(['+', '-']));
    let power = power.filter(|power| power.starts_with(|c: char| c.is_ascii_digit()));
    let rest = power.map_or(rest, |power| power.trim_start_matches(|c: char| c.is_ascii_digit()));
    rest.len() < number.len()
        && rest.trim_start().starts_with(|c: char| c.is_alphabetic() || "%°".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters() -> Parameters {
        let text = "[parameters]\nomega = \"45 Hz\"\nspeed = \"10 rpm\"\nradius = \"2 m\"\nn = 3\nv = \"6 m/s\"\n\
                    area = \"radius*radius\"\nbad = \"3 furlong\"";
        Parameters::of(DeTable::parse(text).unwrap().get_ref())
    }

    #[test]
    fn a_parameter_is_a_value_by_itself_and_in_expressions() {
        let all = parameters();
        let of = |text: &str, dimension| all.quantity(text, dimension).unwrap();
        assert_eq!(of("radius", Dimension::LENGTH), 2.0);
        assert_eq!(of("-radius/2", Dimension::LENGTH), -1.0);
        assert_eq!(of("n*radius", Dimension::LENGTH), 6.0);
        assert_eq!(of("area", Dimension::AREA), 4.0);
        assert_eq!(of("2*pi*5", Dimension::ANGULAR_VELOCITY), 10.0 * std::f64::consts::PI);
        // A rolling wheel: a velocity over a length is an angular velocity.
        assert_eq!(of("v/radius", Dimension::ANGULAR_VELOCITY), 3.0);
        assert_eq!(of("25 mm", Dimension::LENGTH), 0.025);
        assert_eq!(all.number("n").map(Result::unwrap), Some(3.0));
        assert!(all.number("0.5").is_none() && all.number("fast").is_none());
    }

    #[test]
    fn an_exponent_is_not_the_start_of_a_unit() {
        for quantity in ["5 mm", "-2.5e3 N", "1E+4kN", "3 furlong", "1eV"] {
            assert!(looks_like_quantity(quantity), "{quantity}");
        }
        for law in ["1e4 + 1e3*t", "2E-3*x", "5e2", "4*t", "-3.5", "radius"] {
            assert!(!looks_like_quantity(law), "{law}");
        }
    }

    #[test]
    fn a_frequency_is_not_taken_for_an_angular_velocity() {
        let all = parameters();
        let refused = |text: &str, dimension| all.quantity(text, dimension).unwrap_err().message;
        let told = refused("omega", Dimension::ANGULAR_VELOCITY);
        assert!(told.contains("`omega` is a frequency") && told.contains("2*pi*omega"), "{told}");
        let turned = all.quantity("2*pi*omega", Dimension::ANGULAR_VELOCITY);
        assert_eq!(turned.unwrap(), 90.0 * std::f64::consts::PI);
        assert!(all.quantity("speed", Dimension::ANGULAR_VELOCITY).is_ok());
        assert!(all.law_mistake("omega*t", Dimension::ANGLE).is_some());
        for law in ["2*pi*omega*t", "speed*t", "sin(omega*t)", "v*t/radius", "x*omega"] {
            assert_eq!(all.law_mistake(law, Dimension::ANGLE), None, "{law}");
        }
    }

    #[test]
    fn other_dimensions_and_misspelt_names_are_told() {
        let all = parameters();
        let refused = |text: &str, dimension| all.quantity(text, dimension).unwrap_err().message;
        let told = refused("radius", Dimension::TIME);
        assert!(told.contains("expected a time") && told.contains("is a length"), "{told}");
        assert!(
            refused("radus", Dimension::LENGTH).contains("did you mean the parameter `radius`?")
        );
        assert!(refused("3 furlong", Dimension::LENGTH).contains("unknown unit"));
        assert!(refused("radius/0", Dimension::LENGTH).contains("this is inf"));
        assert!(refused("2*radus", Dimension::LENGTH).contains("radus"));
    }
}

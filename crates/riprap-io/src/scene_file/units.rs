//! Quantities with units, such as `"25 mm"` or `"2700 kg/m^3"`: a number, then a product of powers of units.
//! A quantity is checked against the dimension that its key expects, and converted to SI units and radians.
//! Angles are a dimension of their own, so that `"30 Hz"` is not mistaken for an angular velocity.

use std::fmt;

/// Exponents of length, mass, time and angle: `[1, 0, -1, 0]` is a velocity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dimension {
    exponents: [i8; 4],
    /// 1 for the second name of a dimension, by which a key may ask for it; otherwise 0.
    alias: u8,
}

/// A named dimension.
struct Known {
    dimension: Dimension,
    name: &'static str,
    unit: &'static str,
    example: &'static str,
}

macro_rules! dimensions {
    ($($(#[$doc:meta])* $id:ident = $exponents:expr, $name:literal, $unit:literal, $example:literal $(, $alias:literal)?;)*) => {
        impl Dimension {
            $($(#[$doc])* pub const $id: Self = Self { exponents: $exponents, alias: 0 $(+ $alias)? };)*
        }

        /// Every named dimension, in the order in which names are looked up.
        const KNOWN: &[Known] = &[$(Known {
            dimension: Dimension::$id, name: $name, unit: $unit, example: $example,
        },)*];
    };
}

dimensions! {
    /// A dimensionless number [–].
    NONE = [0, 0, 0, 0], "a number without unit", "–", "0.5";
    /// Length [m].
    LENGTH = [1, 0, 0, 0], "a length", "m", "25 mm";
    /// Area [m²].
    AREA = [2, 0, 0, 0], "an area", "m^2", "4 cm^2";
    /// Volume [m³].
    VOLUME = [3, 0, 0, 0], "a volume", "m^3", "2 cm^3";
    /// Second moment of area [m⁴].
    SECOND_MOMENT = [4, 0, 0, 0], "a second moment of area", "m^4", "2 cm^4";
    /// Mass [kg].
    MASS = [0, 1, 0, 0], "a mass", "kg", "1.5 kg";
    /// Time [s].
    TIME = [0, 0, 1, 0], "a time", "s", "0.5 ms";
    /// Angle [rad].
    ANGLE = [0, 0, 0, 1], "an angle", "rad", "30 deg";
    /// Velocity [m/s].
    VELOCITY = [1, 0, -1, 0], "a velocity", "m/s", "20 mm/s";
    /// Acceleration [m/s²].
    ACCELERATION = [1, 0, -2, 0], "an acceleration", "m/s^2", "-9.81 m/s^2";
    /// Angular velocity [rad/s].
    ANGULAR_VELOCITY = [0, 0, -1, 1], "an angular velocity", "rad/s", "1500 rpm";
    /// Frequency [1/s].
    FREQUENCY = [0, 0, -1, 0], "a frequency", "Hz", "35 Hz";
    /// Density [kg/m³].
    DENSITY = [-3, 1, 0, 0], "a density", "kg/m^3", "2700 kg/m^3";
    /// Force [N].
    FORCE = [1, 1, -2, 0], "a force", "N", "1.2 kN";
    /// Torque or energy [N m].
    TORQUE = [2, 1, -2, 0], "a torque", "N*m", "12 N*m";
    /// Moment of inertia [kg m²].
    INERTIA = [2, 1, 0, 0], "a moment of inertia", "kg*m^2", "3 kg*cm^2";
    /// Stiffness [N/m].
    STIFFNESS = [0, 1, -2, 0], "a stiffness", "N/m", "50 kN/m";
    /// Surface energy [J/m²], the same dimension as a stiffness.
    SURFACE_ENERGY = [0, 1, -2, 0], "a surface energy", "J/m^2", "50 mJ/m^2", 1;
    /// Damping [N s/m].
    DAMPING = [0, 1, -1, 0], "a damping or a mass flow (kg/s)", "N*s/m", "20 N*s/m";
    /// Rotational stiffness [N m/rad].
    ANGULAR_STIFFNESS = [2, 1, -2, -1], "a rotational stiffness", "N*m/rad", "500 N*m/rad";
    /// Rotational damping [N m s/rad].
    ANGULAR_DAMPING = [2, 1, -1, -1], "a rotational damping", "N*m*s/rad", "2 N*m*s/rad";
    /// Pressure [Pa].
    PRESSURE = [-1, 1, -2, 0], "a pressure", "Pa", "10 kPa";
    /// Power [W].
    POWER = [2, 1, -3, 0], "a power", "W", "2 kW";
}

impl Dimension {
    fn known(self) -> Option<&'static Known> {
        KNOWN.iter().find(|known| known.dimension == self)
    }

    /// The SI unit in which a quantity of this dimension is stored, such as `kg/m^3`.
    pub fn unit(self) -> String {
        match self.known() {
            Some(known) => known.unit.to_owned(),
            None => {
                let parts = ["m", "kg", "s", "rad"].into_iter().zip(self.exponents);
                let factors: Vec<String> = parts
                    .filter(|(_, exponent)| *exponent != 0)
                    .map(|(unit, exponent)| match exponent {
                        1 => unit.to_owned(),
                        _ => format!("{unit}^{exponent}"),
                    })
                    .collect();
                factors.join("*")
            }
        }
    }

    /// An example of a quantity of this dimension, such as `25 mm`.
    pub fn example(self) -> String {
        self.known().map_or_else(|| format!("1 {}", self.unit()), |known| known.example.to_owned())
    }

    /// Whether two dimensions are equal, by whatever name.
    pub(super) fn is_same(self, other: Self) -> bool {
        self.exponents == other.exponents
    }

    /// Whether two dimensions are equal if angles count as dimensionless.
    pub(super) fn is_but_for_angles(self, other: Self) -> bool {
        self.exponents[..3] == other.exponents[..3]
    }

    /// The dimension of a product with a power of another quantity; `None` if an exponent becomes too large.
    pub(super) fn times(self, other: Self, power: i8) -> Option<Self> {
        let mut exponents = self.exponents;
        for (exponent, factor) in exponents.iter_mut().zip(other.exponents) {
            *exponent = exponent.checked_add(factor.checked_mul(power)?)?;
        }
        Some(Self { exponents, alias: 0 })
    }
}

impl fmt::Display for Dimension {
    /// The name with its article, such as `a length`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.known() {
            Some(known) => f.write_str(known.name),
            None => write!(f, "a quantity in {}", self.unit()),
        }
    }
}

/// Why a text is not the expected quantity.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct QuantityError {
    /// What is wrong and what was expected.
    pub message: String,
    /// Byte range of the mistake in the text.
    pub span: std::ops::Range<usize>,
}

impl QuantityError {
    fn new(span: std::ops::Range<usize>, message: impl Into<String>) -> Self {
        Self { message: message.into(), span }
    }
}

/// A conversion factor to SI units with a separate power of ten: `25 mm` is then 25/1000, rounded once, instead of 25
/// times an approximation of 1/1000.
#[derive(Clone, Copy)]
struct Factor {
    mantissa: f64,
    exponent: i32,
}

const fn decimal(exponent: i32) -> Factor {
    Factor { mantissa: 1.0, exponent }
}

const fn plain(mantissa: f64) -> Factor {
    Factor { mantissa, exponent: 0 }
}

impl Factor {
    fn times(self, other: Self, power: i32) -> Self {
        Self {
            mantissa: self.mantissa * other.mantissa.powi(power),
            exponent: self.exponent + other.exponent * power,
        }
    }

    fn apply(self, value: f64) -> f64 {
        let value = if self.mantissa == 1.0 { value } else { value * self.mantissa };
        // Powers of ten are exact up to 10^22; their inverses never are.
        match self.exponent {
            0.. => value * 10_f64.powi(self.exponent),
            _ => value / 10_f64.powi(-self.exponent),
        }
    }
}

/// Units that take the prefixes of [`PREFIXES`]: symbol, SI value, dimension.
const PREFIXED: &[(&str, Factor, Dimension)] = &[
    ("m", decimal(0), Dimension::LENGTH),
    ("g", decimal(-3), Dimension::MASS),
    ("s", decimal(0), Dimension::TIME),
    ("N", decimal(0), Dimension::FORCE),
    ("Pa", decimal(0), Dimension::PRESSURE),
    ("bar", decimal(5), Dimension::PRESSURE),
    ("J", decimal(0), Dimension::TORQUE),
    ("W", decimal(0), Dimension::POWER),
    ("Hz", decimal(0), Dimension::FREQUENCY),
    ("rad", decimal(0), Dimension::ANGLE),
];

/// Units that take no prefix.
const PLAIN: &[(&str, Factor, Dimension)] = &[
    ("t", decimal(3), Dimension::MASS),
    ("l", decimal(-3), Dimension::VOLUME),
    ("L", decimal(-3), Dimension::VOLUME),
    ("min", plain(60.0), Dimension::TIME),
    ("h", plain(3600.0), Dimension::TIME),
    ("deg", plain(std::f64::consts::PI / 180.0), Dimension::ANGLE),
    ("°", plain(std::f64::consts::PI / 180.0), Dimension::ANGLE),
    ("rev", plain(std::f64::consts::TAU), Dimension::ANGLE),
    ("rpm", plain(std::f64::consts::TAU / 60.0), Dimension::ANGULAR_VELOCITY),
    ("%", decimal(-2), Dimension::NONE),
];

/// Decimal prefixes; `µ` has two code points and an ASCII stand-in.
const PREFIXES: &[(&str, i32)] = &[
    ("n", -9),
    ("u", -6),
    ("µ", -6),
    ("μ", -6),
    ("m", -3),
    ("c", -2),
    ("d", -1),
    ("h", 2),
    ("k", 3),
    ("M", 6),
    ("G", 9),
];

/// The SI value and dimension of a unit symbol, with or without prefix.
fn unit(symbol: &str) -> Option<(Factor, Dimension)> {
    let find = |table: &[(&str, Factor, Dimension)], symbol: &str| {
        table.iter().find(|(name, ..)| *name == symbol).map(|&(_, value, dim)| (value, dim))
    };
    find(PLAIN, symbol).or_else(|| find(PREFIXED, symbol)).or_else(|| {
        PREFIXES.iter().find_map(|(prefix, exponent)| {
            let (value, dimension) = find(PREFIXED, symbol.strip_prefix(prefix)?)?;
            Some((value.times(decimal(*exponent), 1), dimension))
        })
    })
}

/// Parses a quantity and returns its value in SI units and radians.
///
/// A number without a unit is in SI units. Units are products (`N*m`, `N m`), quotients (`m/s`) and
/// powers (`m^2`, `m2`, `m²`) of metre, gram, second, newton, pascal, bar, joule, watt, hertz and
/// radian with decimal prefixes, and of tonne, litre, minute, hour, degree, revolution, rpm and %.
pub fn parse_quantity(text: &str, expected: Dimension) -> Result<f64, QuantityError> {
    parse(text, Some(expected)).map(|(value, _)| value)
}

/// Parses a quantity of any dimension. Returns its value in SI units and radians, and its dimension if it has a unit.
pub(crate) fn parse_any_quantity(text: &str) -> Result<(f64, Option<Dimension>), QuantityError> {
    parse(text, None)
}

fn parse(
    text: &str,
    expected: Option<Dimension>,
) -> Result<(f64, Option<Dimension>), QuantityError> {
    let whole = 0..text.len();
    let wanted = || match expected {
        Some(expected) => format!("expected {expected} such as \"{}\"", expected.example()),
        None => "expected a quantity such as \"35 Hz\"".to_owned(),
    };
    let number_end = number_length(text);
    let (number, rest) = text.split_at(number_end);
    let Ok(value) = number.trim().replace('_', "").parse::<f64>() else {
        return Err(QuantityError::new(whole, format!("{}; got \"{text}\"", wanted())));
    };
    if !value.is_finite() {
        return Err(QuantityError::new(whole, format!("\"{text}\" is not a finite number")));
    }
    if rest.trim().is_empty() {
        return Ok((value, None));
    }

    let mut units = Units { text, at: number_end, depth: 0 };
    let (factor, dimension) = units.product()?;
    if units.at < text.len() {
        let message = format!("unexpected `{}` in a unit", units.rest());
        return Err(QuantityError::new(units.at..text.len(), message));
    }
    if expected.is_some_and(|expected| !expected.is_same(dimension)) {
        let advice = match expected == Some(Dimension::ANGULAR_VELOCITY)
            && dimension == Dimension::FREQUENCY
        {
            true => format!("; in radians per second, write \"2*pi*{}\"", factor.apply(value)),
            false => String::new(),
        };
        return Err(QuantityError::new(whole, format!("{}; got {dimension}{advice}", wanted())));
    }
    let value = factor.apply(value);
    if !value.is_finite() {
        return Err(QuantityError::new(whole, format!("\"{text}\" is too large")));
    }
    Ok((value, Some(dimension)))
}

/// Length in bytes of the number at the start of `text`, including surrounding blanks.
fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    // As in TOML, digits may be grouped by an underscore between two of them.
    let digits = |mut at: usize| {
        let first = at;
        let grouped = |at| at > first && bytes.get(at) == Some(&b'_') && is_digit(at + 1);
        while is_digit(at) || grouped(at) {
            at += 1;
        }
        at
    };
    let mut at = text.len() - text.trim_start().len();
    if matches!(bytes.get(at), Some(b'+' | b'-')) {
        at += 1;
    }
    at = digits(at);
    if bytes.get(at) == Some(&b'.') {
        at = digits(at + 1);
    }
    // An exponent needs a digit, or `1 e` would swallow the start of a unit.
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        if bytes.get(at + 1 + sign).is_some_and(u8::is_ascii_digit) {
            at = digits(at + 1 + sign);
        }
    }
    while bytes.get(at) == Some(&b' ') {
        at += 1;
    }
    at
}

/// Recursive descent over the units of a quantity.
struct Units<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl<'a> Units<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn take(&mut self, symbols: &[char]) -> Option<char> {
        let next = self.rest().chars().next().filter(|c| symbols.contains(c))?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// `factor (('*' | '·' | '/' | blank) factor)*`, from left to right.
    fn product(&mut self) -> Result<(Factor, Dimension), QuantityError> {
        let start = self.at;
        let (mut value, mut dimension) = (decimal(0), Dimension::NONE);
        let mut divided = false;
        let mut power = 1;
        self.skip_blanks();
        if self.rest().starts_with('/') {
            self.at += 1;
            (power, divided) = (-1, true);
        } else if self.rest().starts_with("1/") {
            self.at += 2;
            (power, divided) = (-1, true);
        }
        loop {
            self.skip_blanks();
            let (factor, factor_dimension) = self.factor()?;
            value = value.times(factor, power.into());
            dimension = dimension.times(factor_dimension, power).ok_or_else(|| {
                QuantityError::new(start..self.at, "the powers in this unit are too large")
            })?;

            let before = self.at;
            self.skip_blanks();
            if self.rest().is_empty() || self.rest().starts_with(')') {
                return Ok((value, dimension));
            }
            power = match self.take(&['*', '·', '⋅', '/']) {
                Some('/') => {
                    divided = true;
                    -1
                }
                Some(_) => 1,
                None if self.at == before => {
                    let message = format!("unexpected `{}` in a unit", self.rest());
                    return Err(QuantityError::new(self.at..self.text.len(), message));
                }
                None if divided => {
                    let message = "a space after a division is ambiguous; \
                                   write a/(b*c) or a/b*c";
                    return Err(QuantityError::new(before..self.at, message));
                }
                None => 1,
            };
        }
    }

    /// A unit or a product in parentheses, with its power.
    fn factor(&mut self) -> Result<(Factor, Dimension), QuantityError> {
        let start = self.at;
        let (value, dimension) = if self.take(&['(']).is_some() {
            self.depth += 1;
            if self.depth > 8 {
                return Err(QuantityError::new(start..self.at, "too many parentheses in a unit"));
            }
            let inner = self.product()?;
            if self.take(&[')']).is_none() {
                return Err(QuantityError::new(start..self.at, "this parenthesis is not closed"));
            }
            self.depth -= 1;
            inner
        } else {
            let end = self.rest().find(|c: char| !c.is_alphabetic() && c != '%' && c != '°');
            let symbol = &self.rest()[..end.unwrap_or(self.rest().len())];
            self.at += symbol.len();
            unit(symbol).ok_or_else(|| {
                let end = self
                    .at
                    .max(start + self.text[start..].chars().next().map_or(0, char::len_utf8));
                let message = match symbol {
                    "" if start == self.text.len() => "a unit is missing at the end".to_owned(),
                    "" => format!("unexpected `{}` in a unit", &self.text[start..]),
                    _ => format!(
                        "unknown unit `{symbol}`; known units are m, g, s, N, Pa, J, W, Hz, rad with \
                         prefixes such as m and k, and t, min, h, l, bar, deg, rev, rpm, %"
                    ),
                };
                QuantityError::new(start..end, message)
            })?
        };
        let power = self.power()?;
        let raised = Dimension::NONE
            .times(dimension, power)
            .ok_or_else(|| QuantityError::new(start..self.at, "this power is too large"))?;
        Ok((decimal(0).times(value, power.into()), raised))
    }

    /// `^2`, `^-1`, `2`, `²` or nothing.
    fn power(&mut self) -> Result<i8, QuantityError> {
        let start = self.at;
        for (symbol, power) in [("²", 2), ("³", 3), ("⁻¹", -1), ("⁻²", -2), ("⁻³", -3)] {
            if self.rest().starts_with(symbol) {
                self.at += symbol.len();
                return Ok(power);
            }
        }
        let caret = self.take(&['^']).is_some();
        let digits_at = self.at;
        if matches!(self.rest().as_bytes().first(), Some(b'-' | b'+')) {
            self.at += 1;
        }
        while self.rest().as_bytes().first().is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        match self.text[digits_at..self.at].parse::<i8>() {
            Ok(power) if (-12..=12).contains(&power) => Ok(power),
            _ if self.at == start && !caret => Ok(1),
            _ => Err(QuantityError::new(
                start..self.at.max(start + 1).min(self.text.len()),
                "expected a small integer power such as m^2",
            )),
        }
    }
}

#[cfg(test)]
mod tests;

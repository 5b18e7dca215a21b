//! The functions, comparisons and constants of expressions, each with its derivatives.

use std::f64::consts;

use super::super::jet::Jet;

/// A function by number of arguments: its value, and its derivatives.
#[derive(Clone, Copy, Debug)]
pub(super) enum Function {
    /// The function, and its first two derivatives.
    One(fn(f64) -> f64, fn(f64) -> [f64; 2]),
    Two(fn(f64, f64) -> f64, fn(Jet, Jet) -> Jet),
    Three(fn(f64, f64, f64) -> f64, fn(Jet, Jet, Jet) -> Jet),
}

/// The functions: name, implementation, and a line for the reference.
pub(super) const FUNCTIONS: &[(&str, Function, &str)] = &[
    ("sin", Function::One(f64::sin, |x| [x.cos(), -x.sin()]), "`sin(x)`, `x` in radians"),
    ("cos", Function::One(f64::cos, |x| [-x.sin(), -x.cos()]), "`cos(x)`, `x` in radians"),
    ("tan", Function::One(f64::tan, tan_rates), "`tan(x)`, `x` in radians"),
    ("asin", Function::One(f64::asin, asin_rates), "`asin(x)` in radians"),
    ("acos", Function::One(f64::acos, |x| asin_rates(x).map(|f| -f)), "`acos(x)` in radians"),
    ("atan", Function::One(f64::atan, atan_rates), "`atan(x)` in radians"),
    ("atan2", Function::Two(f64::atan2, Jet::atan2), "`atan2(y, x)` in radians"),
    ("sinh", Function::One(f64::sinh, |x| [x.cosh(), x.sinh()]), "`sinh(x)`"),
    ("cosh", Function::One(f64::cosh, |x| [x.sinh(), x.cosh()]), "`cosh(x)`"),
    ("tanh", Function::One(f64::tanh, tanh_rates), "`tanh(x)`"),
    ("exp", Function::One(f64::exp, |x| [x.exp(); 2]), "`exp(x)`"),
    ("ln", Function::One(f64::ln, |x| [1.0 / x, -1.0 / (x * x)]), "`ln(x)`, natural logarithm"),
    ("sqrt", Function::One(f64::sqrt, sqrt_rates), "`sqrt(x)`"),
    ("abs", Function::One(f64::abs, |x| [if x < 0.0 { -1.0 } else { 1.0 }, 0.0]), "`abs(x)`"),
    (
        "floor",
        Function::One(f64::floor, flat),
        "`floor(x)`, the largest whole number not above `x`",
    ),
    ("mod", Function::Two(f64::rem_euclid, mod_jet), "`mod(x, period)`, between 0 and the period"),
    ("min", Function::Two(f64::min, |x, y| pick(x, y, f64::min)), "`min(x, y)`"),
    ("max", Function::Two(f64::max, |x, y| pick(x, y, f64::max)), "`max(x, y)`"),
    ("sign", Function::One(sign, flat), "`sign(x)`: -1, 0 or 1"),
    ("step", Function::One(step, flat), "`step(x)`: 0 for `x < 0`, otherwise 1"),
    (
        "pulse",
        Function::Three(pulse, |x, a, b| Jet::constant(pulse(x.value, a.value, b.value))),
        "`pulse(x, a, b)`: 1 for `a <= x < b`, otherwise 0",
    ),
    (
        "ramp",
        Function::Three(ramp, ramp_jet),
        "`ramp(x, a, b)`: 0 up to `a`, rising linearly to 1 at `b`, then 1",
    ),
    (
        "if",
        Function::Three(choose, |c, a, b| if is_true(c.value) { a } else { b }),
        "`if(condition, a, b)`: `a` if the condition is true, otherwise `b`",
    ),
];

/// The comparisons, longer symbols first.
pub(super) const COMPARISONS: &[(&str, Function)] = &[
    ("<=", Function::Two(|x, y| truth(x <= y), |x, y| Jet::constant(truth(x.value <= y.value)))),
    (">=", Function::Two(|x, y| truth(x >= y), |x, y| Jet::constant(truth(x.value >= y.value)))),
    ("==", Function::Two(|x, y| truth(x == y), |x, y| Jet::constant(truth(x.value == y.value)))),
    ("!=", Function::Two(|x, y| truth(x != y), |x, y| Jet::constant(truth(x.value != y.value)))),
    ("<", Function::Two(|x, y| truth(x < y), |x, y| Jet::constant(truth(x.value < y.value)))),
    (">", Function::Two(|x, y| truth(x > y), |x, y| Jet::constant(truth(x.value > y.value)))),
];

pub(super) const AND: Function = Function::Two(both, |x, y| Jet::constant(both(x.value, y.value)));
pub(super) const OR: Function =
    Function::Two(either, |x, y| Jet::constant(either(x.value, y.value)));
pub(super) const NOT: Function = Function::One(|x| truth(!is_true(x)), flat);
/// The result of a double `not`.
pub(super) const TRUTH: Function = Function::One(|x| truth(is_true(x)), flat);

pub(super) const CONSTANTS: &[(&str, f64)] = &[("pi", consts::PI), ("tau", consts::TAU)];
pub(super) const KEYWORDS: [&str; 3] = ["and", "or", "not"];

/// `x^y`; squares and cubes by multiplication, which is faster than `powf` and rounds identically on every machine.
pub(super) fn power(x: f64, y: f64) -> f64 {
    match y {
        2.0 => x * x,
        3.0 => x * x * x,
        _ => x.powf(y),
    }
}

fn is_true(x: f64) -> bool {
    x != 0.0
}

fn truth(x: bool) -> f64 {
    f64::from(u8::from(x))
}

fn both(x: f64, y: f64) -> f64 {
    truth(is_true(x) && is_true(y))
}

fn either(x: f64, y: f64) -> f64 {
    truth(is_true(x) || is_true(y))
}

fn choose(condition: f64, a: f64, b: f64) -> f64 {
    if is_true(condition) { a } else { b }
}

fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}

fn step(x: f64) -> f64 {
    if x < 0.0 { 0.0 } else { 1.0 }
}

fn pulse(x: f64, from: f64, to: f64) -> f64 {
    if from <= x && x < to { 1.0 } else { 0.0 }
}

fn ramp(x: f64, from: f64, to: f64) -> f64 {
    if x <= from {
        0.0
    } else if x >= to {
        1.0
    } else {
        (x - from) / (to - from)
    }
}

/// First and second derivatives of a piecewise constant function.
fn flat(_: f64) -> [f64; 2] {
    [0.0; 2]
}

fn tan_rates(x: f64) -> [f64; 2] {
    let slope = 1.0 + x.tan().powi(2);
    [slope, 2.0 * x.tan() * slope]
}

fn asin_rates(x: f64) -> [f64; 2] {
    let square = 1.0 - x * x;
    let slope = 1.0 / square.sqrt();
    [slope, x * slope / square]
}

fn atan_rates(x: f64) -> [f64; 2] {
    let slope = 1.0 / (1.0 + x * x);
    [slope, -2.0 * x * slope * slope]
}

fn tanh_rates(x: f64) -> [f64; 2] {
    let slope = 1.0 - x.tanh().powi(2);
    [slope, -2.0 * x.tanh() * slope]
}

fn sqrt_rates(x: f64) -> [f64; 2] {
    let slope = 0.5 / x.sqrt();
    [slope, -0.5 * slope / x]
}

/// `x - n p` with the current whole number `n`.
fn mod_jet(x: Jet, period: Jet) -> Jet {
    let value = x.value.rem_euclid(period.value);
    let n = ((x.value - value) / period.value).round();
    Jet { value, ..x - Jet::constant(n) * period }
}

/// The argument that `min` or `max` selects; the first of two equal ones.
fn pick(x: Jet, y: Jet, which: fn(f64, f64) -> f64) -> Jet {
    let value = which(x.value, y.value);
    if value == x.value { x } else { y }
}

fn ramp_jet(x: Jet, from: Jet, to: Jet) -> Jet {
    match ramp(x.value, from.value, to.value) {
        value if from.value < x.value && x.value < to.value => {
            Jet { value, ..(x - from) / (to - from) }
        }
        value => Jet::constant(value),
    }
}

/// One line of Markdown per function, for the reference of the scene file.
pub(in super::super) fn function_lines() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|(.., line)| *line)
}

/// Whether a name is reserved in all expressions.
pub(in super::super) fn is_reserved(name: &str) -> bool {
    name == "t"
        || KEYWORDS.contains(&name)
        || CONSTANTS.iter().any(|(known, _)| *known == name)
        || FUNCTIONS.iter().any(|(known, ..)| *known == name)
}

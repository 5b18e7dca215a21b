//! Expressions such as `0.05*cos(2*pi*30*t)`: the components of a prescribed motion, and later control laws.
//! An expression is compiled once to a postfix program and evaluated on a stack of fixed size, so that the
//! time step allocates nothing. The names of its variables are chosen by the caller.
//!
//! ```text
//! sum     = product (("+" | "-") product)*
//! product = signed (("*" | "/") signed)*
//! signed  = ("+" | "-")* power
//! power   = atom ("^" signed)?                     right to left: 2^3^2 = 512, -2^2 = -4
//! atom    = number | constant | variable | function "(" sum ("," sum)* ")" | "(" sum ")"
//! ```

use std::f64::consts;
use std::ops::Range;

use super::suggest;

/// Values that an expression may hold at once; deeper ones are refused when compiled.
const STACK: usize = 32;
/// Nesting of parentheses, calls and signs that the parser follows.
const MAX_DEPTH: usize = 64;
/// Longest program, in instructions.
const MAX_OPS: usize = 10_000;

/// A compiled expression; cheap to evaluate, and shared freely between threads.
///
/// ```
/// use riprap_io::scene_file::Expression;
/// let law = Expression::parse("0.05 * cos(2*pi*30*t)", &["t"])?;
/// assert_eq!(law.evaluate(&[0.0]), 0.05);
/// # Ok::<(), riprap_io::scene_file::ExpressionError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Expression {
    source: String,
    ops: Box<[Op]>,
    n_variables: usize,
}

/// Two expressions are equal when they were written alike.
impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source && self.n_variables == other.n_variables
    }
}

/// Why a text is not an expression, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {message}")]
pub struct ExpressionError {
    /// Byte range of the mistake inside the text.
    pub span: Range<usize>,
    /// Column of the mistake, in characters from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to write instead, if known.
    pub help: Option<String>,
}

#[derive(Clone, Copy, Debug)]
enum Op {
    Constant(f64),
    Variable(u16),
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Call(Function),
}

/// A function: how many arguments it takes and how it is computed.
#[derive(Clone, Copy, Debug)]
enum Function {
    One(fn(f64) -> f64),
    Two(fn(f64, f64) -> f64),
    Three(fn(f64, f64, f64) -> f64),
}

/// The functions: name, implementation, and one line for the reference.
const FUNCTIONS: &[(&str, Function, &str)] = &[
    ("sin", Function::One(f64::sin), "`sin(x)`, `x` in radians"),
    ("cos", Function::One(f64::cos), "`cos(x)`, `x` in radians"),
    ("tan", Function::One(f64::tan), "`tan(x)`, `x` in radians"),
    ("asin", Function::One(f64::asin), "`asin(x)` in radians"),
    ("acos", Function::One(f64::acos), "`acos(x)` in radians"),
    ("atan", Function::One(f64::atan), "`atan(x)` in radians"),
    ("atan2", Function::Two(f64::atan2), "`atan2(y, x)` in radians"),
    ("sinh", Function::One(f64::sinh), "`sinh(x)`"),
    ("cosh", Function::One(f64::cosh), "`cosh(x)`"),
    ("tanh", Function::One(f64::tanh), "`tanh(x)`"),
    ("exp", Function::One(f64::exp), "`exp(x)`"),
    ("ln", Function::One(f64::ln), "`ln(x)`, natural logarithm"),
    ("sqrt", Function::One(f64::sqrt), "`sqrt(x)`"),
    ("abs", Function::One(f64::abs), "`abs(x)`"),
    ("floor", Function::One(f64::floor), "`floor(x)`, the next whole number below"),
    ("mod", Function::Two(f64::rem_euclid), "`mod(x, period)`, between 0 and the period"),
    ("min", Function::Two(f64::min), "`min(x, y)`"),
    ("max", Function::Two(f64::max), "`max(x, y)`"),
    ("sign", Function::One(sign), "`sign(x)`: -1, 0 or 1"),
    ("step", Function::One(step), "`step(x)`: 0 for `x < 0`, otherwise 1"),
    ("pulse", Function::Three(pulse), "`pulse(x, a, b)`: 1 for `a <= x < b`, otherwise 0"),
    ("ramp", Function::Three(ramp), "`ramp(x, a, b)`: 0 up to `a`, straight to 1 at `b`, then 1"),
];

const CONSTANTS: &[(&str, f64)] = &[("pi", consts::PI), ("tau", consts::TAU)];

/// `x^y`; squares and cubes by multiplication, which is quicker than `powf` and rounds alike on every machine.
fn power(x: f64, y: f64) -> f64 {
    match y {
        2.0 => x * x,
        3.0 => x * x * x,
        _ => x.powf(y),
    }
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

/// One line of Markdown per function, for the reference of the scene file.
pub(crate) fn function_lines() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|(.., line)| *line)
}

impl Expression {
    /// Compiles `source`, in which the names of `variables` may appear.
    pub fn parse(source: &str, variables: &[&str]) -> Result<Self, ExpressionError> {
        let mut parser = Parser { text: source, at: 0, variables, ops: Vec::new(), depth: 0 };
        let ops = parser.whole().map_err(|(span, message, help)| {
            let column = source.get(..span.start).unwrap_or(source).chars().count() + 1;
            ExpressionError { span, column, message, help }
        })?;
        Ok(Self { source: source.to_owned(), ops, n_variables: variables.len() })
    }

    /// The text that was compiled.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Whether no variable appears.
    pub fn is_constant(&self) -> bool {
        self.ops.iter().all(|op| !matches!(op, Op::Variable(_)))
    }

    /// The value for the given variables, in the order in which they were named. Allocates nothing.
    ///
    /// A result that is not a number (`sqrt(-1)`) comes back as such. A variable that is not given
    /// counts as not a number.
    pub fn evaluate(&self, variables: &[f64]) -> f64 {
        let mut stack = [0.0; STACK];
        let mut top = 0; // values on the stack; the compiler proved that it stays within bounds
        for op in &self.ops {
            match *op {
                Op::Constant(value) => {
                    stack[top] = value;
                    top += 1;
                }
                Op::Variable(index) => {
                    stack[top] = variables.get(usize::from(index)).copied().unwrap_or(f64::NAN);
                    top += 1;
                }
                _ => {
                    let n = op.arguments();
                    let first = top - n;
                    stack[first] = op.apply(&stack[first..top]);
                    top = first + 1;
                }
            }
        }
        stack[0]
    }
}

impl Op {
    fn arguments(self) -> usize {
        match self {
            Op::Constant(_) | Op::Variable(_) => 0,
            Op::Negate | Op::Call(Function::One(_)) => 1,
            Op::Call(Function::Three(_)) => 3,
            _ => 2,
        }
    }

    /// The result of an operation on as many values as it takes.
    fn apply(self, x: &[f64]) -> f64 {
        match self {
            Op::Constant(value) => value,
            Op::Variable(_) => f64::NAN,
            Op::Negate => -x[0],
            Op::Add => x[0] + x[1],
            Op::Subtract => x[0] - x[1],
            Op::Multiply => x[0] * x[1],
            Op::Divide => x[0] / x[1],
            Op::Power => power(x[0], x[1]),
            Op::Call(Function::One(f)) => f(x[0]),
            Op::Call(Function::Two(f)) => f(x[0], x[1]),
            Op::Call(Function::Three(f)) => f(x[0], x[1], x[2]),
        }
    }
}

type Mistake = (Range<usize>, String, Option<String>);

struct Parser<'a> {
    text: &'a str,
    at: usize,
    variables: &'a [&'a str],
    ops: Vec<Op>,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn whole(&mut self) -> Result<Box<[Op]>, Mistake> {
        self.sum()?;
        if let Some(next) = self.peek() {
            let span = self.next_span();
            let help = match next {
                'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '(' => {
                    "a product needs its sign: `2*t`, not `2 t`; expressions are in SI, without units"
                }
                ')' => "there is no matching `(`",
                '=' | '<' | '>' => "comparisons are written with step(x) and pulse(x, a, b)",
                _ => "an operator is one of + - * / ^",
            };
            let message = format!("expected an operator before `{}`", &self.text[span.clone()]);
            return Err((span, message, Some(help.to_owned())));
        }
        let ops = std::mem::take(&mut self.ops);

        // The deepest stack is known now, so that evaluation needs no checks.
        let (mut depth, mut deepest) = (0, 0);
        for op in &ops {
            depth = depth + 1 - op.arguments();
            deepest = deepest.max(depth);
        }
        if deepest > STACK {
            return Err((0..self.text.len(), "this expression is nested too deeply".into(), None));
        }
        Ok(ops.into_boxed_slice())
    }

    /// The next character that is not blank; moves up to it.
    fn peek(&mut self) -> Option<char> {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        self.text[self.at..].chars().next()
    }

    fn take(&mut self, wanted: &[char]) -> Option<char> {
        let next = self.peek().filter(|c| wanted.contains(c))?;
        self.at += next.len_utf8();
        Some(next)
    }

    /// Byte range of the word or character at the current place.
    fn next_span(&mut self) -> Range<usize> {
        let Some(first) = self.peek() else { return self.text.len()..self.text.len() };
        let word = self.text[self.at..].find(|c: char| !c.is_alphanumeric() && c != '_');
        let length = word.unwrap_or(self.text.len() - self.at).max(first.len_utf8());
        self.at..self.at + length
    }

    /// Appends an operation; one whose arguments are all constant is carried out at once.
    fn push(&mut self, op: Op) -> Result<(), Mistake> {
        let n = op.arguments();
        let first = self.ops.len() - n;
        let mut arguments = [0.0; 3];
        let constant = n > 0
            && self.ops[first..].iter().zip(&mut arguments).all(|(op, slot)| match op {
                Op::Constant(value) => {
                    *slot = *value;
                    true
                }
                _ => false,
            });
        if constant {
            self.ops.truncate(first);
            self.ops.push(Op::Constant(op.apply(&arguments[..n])));
        } else {
            self.ops.push(op);
        }
        if self.ops.len() > MAX_OPS {
            return Err((0..self.text.len(), "this expression is too long".into(), None));
        }
        Ok(())
    }

    fn sum(&mut self) -> Result<(), Mistake> {
        self.product()?;
        while let Some(sign) = self.take(&['+', '-']) {
            self.product()?;
            self.push(if sign == '+' { Op::Add } else { Op::Subtract })?;
        }
        Ok(())
    }

    fn product(&mut self) -> Result<(), Mistake> {
        self.signed()?;
        while let Some(sign) = self.take(&['*', '/']) {
            self.signed()?;
            self.push(if sign == '*' { Op::Multiply } else { Op::Divide })?;
        }
        Ok(())
    }

    /// Every recursion passes here, so the depth is counted here.
    fn signed(&mut self) -> Result<(), Mistake> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            let span = self.next_span();
            return Err((span, "this expression is nested too deeply".into(), None));
        }
        let mut negative = false;
        while let Some(sign) = self.take(&['+', '-']) {
            negative ^= sign == '-';
        }
        self.atom()?;
        if self.take(&['^']).is_some() {
            self.signed()?;
            self.push(Op::Power)?;
        }
        if negative {
            self.push(Op::Negate)?;
        }
        self.depth -= 1;
        Ok(())
    }

    fn atom(&mut self) -> Result<(), Mistake> {
        match self.peek() {
            Some('(') => {
                let open = self.at;
                self.at += 1;
                self.sum()?;
                self.close(open)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number(),
            Some(c) if c.is_alphabetic() || c == '_' => self.name(),
            Some(c) => {
                let span = self.next_span();
                let help = (c == '*').then(|| "a power is written x^2".to_owned());
                Err((span, format!("expected a value, found `{c}`"), help))
            }
            None => {
                let end = self.text.len();
                let empty = self.text.trim().is_empty();
                let message = if empty {
                    "the expression is empty"
                } else {
                    "the expression stops too early"
                };
                Err((end..end, message.into(), None))
            }
        }
    }

    fn close(&mut self, open: usize) -> Result<(), Mistake> {
        if self.take(&[')']).is_some() {
            return Ok(());
        }
        if self.peek().is_none() {
            return Err((open..open + 1, "this parenthesis is not closed".into(), None));
        }
        let span = self.next_span();
        let message = format!("expected an operator or `)` before `{}`", &self.text[span.clone()]);
        Err((span, message, None))
    }

    fn number(&mut self) -> Result<(), Mistake> {
        let (start, bytes) = (self.at, self.text.as_bytes());
        let mut end = start;
        while let Some(byte) = bytes.get(end) {
            let exponent = matches!(byte, b'e' | b'E')
                && match bytes.get(end + 1) {
                    Some(b'+' | b'-') => bytes.get(end + 2).is_some_and(u8::is_ascii_digit),
                    Some(digit) => digit.is_ascii_digit(),
                    None => false,
                };
            match byte {
                b'0'..=b'9' | b'.' => end += 1,
                _ if exponent => end += 2,
                _ => break,
            }
        }
        self.at = end;
        match self.text[start..end].parse::<f64>() {
            Ok(value) if value.is_finite() => self.push(Op::Constant(value)),
            _ => Err((start..end, format!("`{}` is not a number", &self.text[start..end]), None)),
        }
    }

    fn name(&mut self) -> Result<(), Mistake> {
        let span = self.next_span();
        let name = &self.text[span.clone()];
        self.at = span.end;
        if self.peek() == Some('(') {
            return self.call(name, span);
        }
        if let Some(index) = self.variables.iter().position(|variable| *variable == name) {
            let index = u16::try_from(index)
                .map_err(|_| (span, "there are too many variables".to_owned(), None))?;
            return self.push(Op::Variable(index));
        }
        if let Some((_, value)) = CONSTANTS.iter().find(|(constant, _)| *constant == name) {
            return self.push(Op::Constant(*value));
        }
        if let Some((.., line)) = FUNCTIONS.iter().find(|(function, ..)| *function == name) {
            let message = format!("the function `{name}` needs its arguments in parentheses");
            return Err((span, message, Some(line.to_string())));
        }
        let known = self.variables.iter().chain(CONSTANTS.iter().map(|(name, _)| name)).copied();
        let help = match suggest::closest(name, known.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("known here: {}", known.collect::<Vec<_>>().join(", ")),
        };
        Err((span, format!("unknown variable `{name}`"), Some(help)))
    }

    fn call(&mut self, name: &str, span: Range<usize>) -> Result<(), Mistake> {
        let Some((_, function, line)) = FUNCTIONS.iter().find(|(known, ..)| *known == name) else {
            let near = suggest::closest(name, FUNCTIONS.iter().map(|(known, ..)| *known));
            let help = near.map(|near| format!("did you mean `{near}`?"));
            return Err((span, format!("unknown function `{name}`"), help));
        };
        let open = self.at;
        self.at += 1;
        let mut given = 0;
        if self.peek() != Some(')') {
            self.sum()?;
            given = 1;
            while self.take(&[',']).is_some() {
                self.sum()?;
                given += 1;
            }
        }
        self.close(open)?;
        let op = Op::Call(*function);
        if given != op.arguments() {
            let message =
                format!("the function `{name}` takes {} arguments, not {given}", op.arguments());
            return Err((span.start..self.at, message, Some(line.to_string())));
        }
        self.push(op)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(source: &str, t: f64) -> f64 {
        Expression::parse(source, &["t"]).unwrap_or_else(|e| panic!("{source}: {e}")).evaluate(&[t])
    }

    fn mistake(source: &str) -> ExpressionError {
        Expression::parse(source, &["t"]).expect_err(source)
    }

    #[test]
    fn operators_bind_as_in_mathematics() {
        assert_eq!(value("1 + 2*3", 0.0), 7.0);
        assert_eq!(value("(1 + 2)*3", 0.0), 9.0);
        assert_eq!(value("2^3^2", 0.0), 512.0);
        assert_eq!(value("-2^2", 0.0), -4.0);
        assert_eq!(value("2^-1", 0.0), 0.5);
        assert_eq!(value("8/4/2", 0.0), 1.0);
        assert_eq!(value("1 - 2 - 3", 0.0), -4.0);
        assert_eq!(value("--3", 0.0), 3.0);
        assert_eq!(value("2*-t", 3.0), -6.0);
        assert_eq!(value("1e3 + 1.5E-1 + .5", 0.0), 1000.65);
    }

    #[test]
    fn functions_give_known_values() {
        let t: f64 = 0.3;
        assert_eq!(value("0.05*cos(2*pi*30*t)", t), 0.05 * (2.0 * consts::PI * 30.0 * t).cos());
        assert_eq!(value("max(1, min(t, 3))", 5.0), 3.0);
        assert_eq!(value("sign(t)", -2.0), -1.0);
        assert_eq!(value("sign(t)", 0.0), 0.0);
        assert_eq!((value("step(t)", -1e-9), value("step(t)", 0.0)), (0.0, 1.0));
        assert_eq!((value("pulse(t, 1, 2)", 1.0), value("pulse(t, 1, 2)", 2.0)), (1.0, 0.0));
        assert_eq!(value("ramp(t, 1, 3)", 1.5), 0.25);
        assert_eq!(value("mod(t, 2)", -1.0), 1.0);
        assert_eq!(value("atan2(1, 1)", 0.0), consts::FRAC_PI_4);
        assert_eq!(value("tau - 2*pi", 0.0), 0.0);
    }

    #[test]
    fn several_variables_are_taken_in_the_order_of_the_caller() {
        let law = Expression::parse("-k*(q - q0)", &["q", "q0", "k"]).unwrap();
        assert_eq!(law.evaluate(&[1.5, 1.0, 4.0]), -2.0);
    }

    #[test]
    fn constants_are_folded_when_compiled() {
        assert_eq!(Expression::parse("2*pi*30", &["t"]).unwrap().ops.len(), 1);
        assert!(Expression::parse("sin(1)^2", &["t"]).unwrap().is_constant());
        assert!(!Expression::parse("t", &["t"]).unwrap().is_constant());
    }

    #[test]
    fn mistakes_are_located_by_column() {
        let cases = [
            ("2 t", 3, "expected an operator"),
            ("5 mm", 3, "expected an operator"),
            ("1 + ", 5, "stops too early"),
            ("", 1, "empty"),
            ("(1 + 2", 1, "not closed"),
            ("1 + 2)", 6, "expected an operator"),
            ("sin(t, 2)", 1, "takes 1 arguments, not 2"),
            ("max(t)", 1, "takes 2 arguments, not 1"),
            ("sine(t)", 1, "unknown function"),
            ("cos", 1, "needs its arguments"),
            ("3*x", 3, "unknown variable"),
            ("t ** 2", 4, "expected a value"),
            ("1..2", 1, "not a number"),
            ("µ + $", 1, "unknown variable"),
            ("t > 1", 3, "expected an operator"),
            ("sin(t 2)", 7, "expected an operator or `)`"),
        ];
        for (source, column, message) in cases {
            let error = mistake(source);
            assert_eq!(error.column, column, "{source}: {error}");
            assert!(error.message.contains(message), "{source}: {error}");
        }
        assert_eq!(mistake("sine(t)").help.as_deref(), Some("did you mean `sin`?"));
    }

    #[test]
    fn nesting_is_bounded() {
        for deep in ["(".repeat(100_000), "-(".repeat(500), "t^".repeat(100_000)] {
            assert!(Expression::parse(&deep, &["t"]).is_err());
        }
        let wide = "t+".repeat(4000) + "t";
        assert_eq!(value(&wide, 1.0), 4001.0);
        let long = "t+".repeat(40_000) + "t";
        assert!(mistake(&long).message.contains("too long"));
        let right = "t+(".repeat(40) + "t" + &")".repeat(40);
        assert!(mistake(&right).message.contains("too deeply"));
    }

    mod properties {
        use super::*;
        use proptest::prelude::*;

        const WORDS: &[&str] = &[
            "t", "2", "1e3", "+", "-", "*", "/", "^", "(", ")", ",", "sin", "max", "pi", " ", "é",
        ];

        proptest! {
            #[test]
            fn anything_gives_a_value_or_a_place(words in prop::collection::vec(prop::sample::select(WORDS), 0..40)) {
                let source = words.concat();
                match Expression::parse(&source, &["t"]) {
                    Ok(law) => { law.evaluate(&[0.5]); }
                    Err(error) => prop_assert!(source.get(error.span.clone()).is_some(), "{:?}", error),
                }
            }

            #[test]
            fn no_text_panics(source in any::<String>()) {
                if let Err(error) = Expression::parse(&source, &["t"]) {
                    prop_assert!(source.get(error.span.clone()).is_some(), "{:?}", error);
                }
            }

            #[test]
            fn sums_and_products_agree_with_rust(a in -1e3..1e3, b in -1e3..1e3, c in 1e-3..1e3, t in -1e3..1e3_f64) {
                let source = format!("({a} + t*{b})/({c}) - -t^2");
                let law = Expression::parse(&source, &["t"]).unwrap();
                let expected: f64 = (a + t * b) / c - -(t * t);
                prop_assert_eq!(law.evaluate(&[t]), expected);
            }
        }
    }

    #[test]
    fn expressions_travel_between_threads() {
        fn check<T: Send + Sync>() {}
        check::<Expression>();
    }
}

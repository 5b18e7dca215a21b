//! Expressions such as `0.05*cos(2*pi*30*t)`: the components of a prescribed motion, and the laws of forces. An
//! expression is compiled once to a postfix program and evaluated on a stack of fixed size, so that the time step
//! allocates nothing. The names of its variables are chosen by the caller; they may contain dots. What is true has the
//! value 1, what is false 0; everything but 0 counts as true.
//!
//! ```text
//! or      = and ("or" and)*
//! and     = not ("and" not)*
//! not     = "not"* comparison
//! compare = sum (("<" | "<=" | ">" | ">=" | "==" | "!=") sum)?
//! sum     = product (("+" | "-") product)*
//! product = signed (("*" | "/") signed)*
//! signed  = ("+" | "-")* power
//! power   = atom ("^" signed)?                     right to left: 2^3^2 = 512, -2^2 = -4
//! atom    = number | constant | variable | function "(" or ("," or)* ")" | "(" or ")"
//! ```

use std::collections::HashMap;
use std::f64::consts;
use std::ops::Range;

use super::document::excerpt;
use super::jet::Jet;
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

/// A function: how many arguments it takes, how it is computed, and how with derivatives.
#[derive(Clone, Copy, Debug)]
enum Function {
    /// The function, and its first two derivatives.
    One(fn(f64) -> f64, fn(f64) -> [f64; 2]),
    Two(fn(f64, f64) -> f64, fn(Jet, Jet) -> Jet),
    Three(fn(f64, f64, f64) -> f64, fn(Jet, Jet, Jet) -> Jet),
}

/// The functions: name, implementation, and one line for the reference.
const FUNCTIONS: &[(&str, Function, &str)] = &[
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
    ("floor", Function::One(f64::floor, flat), "`floor(x)`, the next whole number below"),
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
        "`ramp(x, a, b)`: 0 up to `a`, straight to 1 at `b`, then 1",
    ),
    (
        "if",
        Function::Three(choose, |c, a, b| if is_true(c.value) { a } else { b }),
        "`if(condition, a, b)`: `a` where the condition is true, otherwise `b`",
    ),
];

/// The comparisons, longer signs first.
const COMPARISONS: &[(&str, Function)] = &[
    ("<=", Function::Two(|x, y| truth(x <= y), |x, y| Jet::constant(truth(x.value <= y.value)))),
    (">=", Function::Two(|x, y| truth(x >= y), |x, y| Jet::constant(truth(x.value >= y.value)))),
    ("==", Function::Two(|x, y| truth(x == y), |x, y| Jet::constant(truth(x.value == y.value)))),
    ("!=", Function::Two(|x, y| truth(x != y), |x, y| Jet::constant(truth(x.value != y.value)))),
    ("<", Function::Two(|x, y| truth(x < y), |x, y| Jet::constant(truth(x.value < y.value)))),
    (">", Function::Two(|x, y| truth(x > y), |x, y| Jet::constant(truth(x.value > y.value)))),
];

const AND: Function = Function::Two(both, |x, y| Jet::constant(both(x.value, y.value)));
const OR: Function = Function::Two(either, |x, y| Jet::constant(either(x.value, y.value)));
const NOT: Function = Function::One(|x| truth(!is_true(x)), flat);
/// What is left of a double `not`.
const TRUTH: Function = Function::One(|x| truth(is_true(x)), flat);

const CONSTANTS: &[(&str, f64)] = &[("pi", consts::PI), ("tau", consts::TAU)];
const KEYWORDS: [&str; 3] = ["and", "or", "not"];

/// `x^y`; squares and cubes by multiplication, which is quicker than `powf` and rounds alike on every machine.
fn power(x: f64, y: f64) -> f64 {
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

/// First and second derivative of a function that does not change between its jumps.
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

/// `x - n p` with the whole number `n` that is right now.
fn mod_jet(x: Jet, period: Jet) -> Jet {
    let value = x.value.rem_euclid(period.value);
    let n = ((x.value - value) / period.value).round();
    Jet { value, ..x - Jet::constant(n) * period }
}

/// The argument that `min` or `max` chooses; of two equal ones the first.
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
pub(crate) fn function_lines() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|(.., line)| *line)
}

/// Whether a name has a meaning in every expression, so that nothing else may have it.
pub(crate) fn is_reserved(name: &str) -> bool {
    name == "t"
        || KEYWORDS.contains(&name)
        || CONSTANTS.iter().any(|(known, _)| *known == name)
        || FUNCTIONS.iter().any(|(known, ..)| *known == name)
}

/// The names that an expression may use, besides constants and functions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    symbols: HashMap<String, Symbol>,
    /// The names in the order in which they came, for advice.
    names: Vec<String>,
    n_variables: usize,
}

#[derive(Clone, Debug)]
enum Symbol {
    Variable(usize),
    Constant(f64),
    /// A name that cannot be used, and why.
    Unusable(String),
}

impl Scope {
    pub fn new(variables: &[&str]) -> Self {
        let mut scope = Self::default();
        variables.iter().for_each(|name| {
            scope.variable(name);
        });
        scope
    }

    /// Adds a variable, unless it is known, and gives its index.
    pub fn variable(&mut self, name: &str) -> usize {
        if let Some(Symbol::Variable(index)) = self.symbols.get(name) {
            return *index;
        }
        self.add(name, Symbol::Variable(self.n_variables));
        self.n_variables += 1;
        self.n_variables - 1
    }

    pub fn constant(&mut self, name: &str, value: f64) {
        self.add(name, Symbol::Constant(value));
    }

    /// Adds a name that one might expect, with the reason why it is not there.
    pub fn unusable(&mut self, name: &str, reason: impl Into<String>) {
        self.symbols.insert(name.to_owned(), Symbol::Unusable(reason.into()));
    }

    /// The index of a variable.
    pub fn index(&self, name: &str) -> Option<usize> {
        match self.symbols.get(name) {
            Some(Symbol::Variable(index)) => Some(*index),
            _ => None,
        }
    }

    /// Whether the name has any meaning.
    pub fn contains(&self, name: &str) -> bool {
        self.symbols.contains_key(name)
    }

    /// Remembers the names that are known now.
    pub fn mark(&self) -> [usize; 2] {
        [self.names.len(), self.n_variables]
    }

    /// Forgets the names that were added since `mark`.
    pub fn reset(&mut self, [n_names, n_variables]: [usize; 2]) {
        for name in self.names.drain(n_names..) {
            self.symbols.remove(&name);
        }
        self.n_variables = n_variables;
    }

    fn add(&mut self, name: &str, symbol: Symbol) {
        if self.symbols.insert(name.to_owned(), symbol).is_none() {
            self.names.push(name.to_owned());
        }
    }
}

impl Expression {
    /// Compiles `source`, in which the names of `variables` may appear.
    pub fn parse(source: &str, variables: &[&str]) -> Result<Self, ExpressionError> {
        Self::parse_in(source, &Scope::new(variables))
    }

    /// Compiles `source`, in which the names of `scope` may appear.
    pub(crate) fn parse_in(source: &str, scope: &Scope) -> Result<Self, ExpressionError> {
        let mut parser = Parser { text: source, at: 0, scope, ops: Vec::new(), depth: 0 };
        let ops = parser.whole().map_err(|(span, message, help)| {
            let column = source.get(..span.start).unwrap_or(source).chars().count() + 1;
            ExpressionError { span, column, message, help }
        })?;
        Ok(Self { source: source.to_owned(), ops, n_variables: scope.n_variables })
    }

    /// A number as an expression.
    pub(crate) fn number(value: f64) -> Self {
        Self { source: format!("{value:?}"), ops: Box::new([Op::Constant(value)]), n_variables: 0 }
    }

    /// Leaves out the variables that do not appear, and gives the former indices of those that do, in their new order.
    pub(crate) fn compact(&mut self) -> Vec<usize> {
        let mut used: Vec<usize> = Vec::new();
        let mut place: HashMap<u16, u16> = HashMap::new();
        for op in &mut self.ops {
            if let Op::Variable(index) = op {
                let next = place.len() as u16; // at most as many as there were
                *index = *place.entry(*index).or_insert_with_key(|index| {
                    used.push(usize::from(*index));
                    next
                });
            }
        }
        self.n_variables = used.len();
        used
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

    /// The value, its first and its second derivative along the first variable, the others held. Allocates nothing.
    ///
    /// The value is that of [`Expression::evaluate`], and the derivatives are exact but for rounding. At a kink or jump
    /// (`abs`, `min`, `floor`, `if`, comparisons, …) they are those of the branch on which the value is.
    ///
    /// ```
    /// use riprap_io::scene_file::Expression;
    /// let motion = Expression::parse("3*t^2", &["t"])?;
    /// assert_eq!(motion.with_rates(&[2.0]), [12.0, 12.0, 6.0]);
    /// # Ok::<(), riprap_io::scene_file::ExpressionError>(())
    /// ```
    pub fn with_rates(&self, variables: &[f64]) -> [f64; 3] {
        let mut stack = [Jet::constant(0.0); STACK];
        let mut top = 0;
        for op in &self.ops {
            match *op {
                Op::Constant(value) => {
                    stack[top] = Jet::constant(value);
                    top += 1;
                }
                Op::Variable(index) => {
                    let value = variables.get(usize::from(index)).copied().unwrap_or(f64::NAN);
                    let rate = if index == 0 { 1.0 } else { 0.0 };
                    stack[top] = Jet { rate, ..Jet::constant(value) };
                    top += 1;
                }
                _ => {
                    let n = op.arguments();
                    let first = top - n;
                    stack[first] = op.apply_jet(&stack[first..top]);
                    top = first + 1;
                }
            }
        }
        [stack[0].value, stack[0].rate, stack[0].second]
    }
}

impl Op {
    fn arguments(self) -> usize {
        match self {
            Op::Constant(_) | Op::Variable(_) => 0,
            Op::Negate | Op::Call(Function::One(..)) => 1,
            Op::Call(Function::Three(..)) => 3,
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
            Op::Call(Function::One(f, _)) => f(x[0]),
            Op::Call(Function::Two(f, _)) => f(x[0], x[1]),
            Op::Call(Function::Three(f, _)) => f(x[0], x[1], x[2]),
        }
    }

    /// The same, with derivatives.
    fn apply_jet(self, x: &[Jet]) -> Jet {
        match self {
            Op::Constant(value) => Jet::constant(value),
            Op::Variable(_) => Jet::constant(f64::NAN),
            Op::Negate => -x[0],
            Op::Add => x[0] + x[1],
            Op::Subtract => x[0] - x[1],
            Op::Multiply => x[0] * x[1],
            Op::Divide => x[0] / x[1],
            Op::Power => x[0].power(x[1], power(x[0].value, x[1].value)),
            Op::Call(Function::One(f, rates)) => {
                let [first, second] = rates(x[0].value);
                x[0].chain([f(x[0].value), first, second])
            }
            Op::Call(Function::Two(_, f)) => f(x[0], x[1]),
            Op::Call(Function::Three(_, f)) => f(x[0], x[1], x[2]),
        }
    }
}

type Mistake = (Range<usize>, String, Option<String>);

struct Parser<'a> {
    text: &'a str,
    at: usize,
    scope: &'a Scope,
    ops: Vec<Op>,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn whole(&mut self) -> Result<Box<[Op]>, Mistake> {
        self.disjunction()?;
        if let Some(next) = self.peek() {
            let span = self.next_span();
            let help = match next {
                '&' => "both conditions: write `and`",
                '|' => "one of two conditions: write `or`",
                'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '(' => {
                    "a product needs its sign: `2*t`, not `2 t`; expressions are in SI, without units"
                }
                ')' => "there is no matching `(`",
                '<' | '>' | '!' => "two comparisons are joined by `and`: `0 < t and t < 1`",
                '=' => "a comparison is one of < <= > >= == !=",
                _ => "an operator is one of + - * / ^ < <= > >= == != and or",
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
        let word =
            self.text[self.at..].find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.');
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

    /// Takes a keyword, if it comes next.
    fn take_word(&mut self, word: &str) -> bool {
        let found = self.peek().is_some() && &self.text[self.next_span()] == word;
        if found {
            self.at += word.len();
        }
        found
    }

    fn disjunction(&mut self) -> Result<(), Mistake> {
        self.conjunction()?;
        while self.take_word("or") {
            self.conjunction()?;
            self.push(Op::Call(OR))?;
        }
        Ok(())
    }

    fn conjunction(&mut self) -> Result<(), Mistake> {
        self.negation()?;
        while self.take_word("and") {
            self.negation()?;
            self.push(Op::Call(AND))?;
        }
        Ok(())
    }

    fn negation(&mut self) -> Result<(), Mistake> {
        let mut negation = None;
        while self.take_word("not") {
            negation = match negation {
                Some(false) | None => Some(true),
                Some(true) => Some(false),
            };
        }
        self.comparison()?;
        match negation {
            Some(true) => self.push(Op::Call(NOT)),
            Some(false) => self.push(Op::Call(TRUTH)),
            None => Ok(()),
        }
    }

    fn comparison(&mut self) -> Result<(), Mistake> {
        self.sum()?;
        self.peek();
        let rest = &self.text[self.at..];
        if let Some((sign, function)) = COMPARISONS.iter().find(|(sign, _)| rest.starts_with(sign))
        {
            self.at += sign.len();
            self.sum()?;
            self.push(Op::Call(*function))?;
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
                self.disjunction()?;
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
        match self.scope.symbols.get(name) {
            Some(Symbol::Variable(index)) => {
                let index = u16::try_from(*index)
                    .map_err(|_| (span, "there are too many variables".to_owned(), None))?;
                return self.push(Op::Variable(index));
            }
            Some(Symbol::Constant(value)) => return self.push(Op::Constant(*value)),
            Some(Symbol::Unusable(reason)) => {
                let message = format!("`{name}` cannot be used here");
                return Err((span, message, Some(reason.clone())));
            }
            None => {}
        }
        if let Some((_, value)) = CONSTANTS.iter().find(|(constant, _)| *constant == name) {
            return self.push(Op::Constant(*value));
        }
        if let Some((.., line)) = FUNCTIONS.iter().find(|(function, ..)| *function == name) {
            let message = format!("the function `{name}` needs its arguments in parentheses");
            return Err((span, message, Some(line.to_string())));
        }
        if KEYWORDS.contains(&name) {
            return Err((span, format!("expected a value, found `{name}`"), None));
        }
        let constants = CONSTANTS.iter().map(|(name, _)| *name);
        let known = self.scope.names.iter().map(String::as_str).chain(constants);
        let help = match suggest::closest(name, known.clone()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => {
                let mut names: Vec<&str> = known.take(13).collect();
                if names.len() > 12 {
                    names[12] = "…";
                }
                format!("known here: {}", names.join(", "))
            }
        };
        Err((span, format!("unknown variable `{}`", excerpt(name)), Some(help)))
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
            self.disjunction()?;
            given = 1;
            while self.take(&[',']).is_some() {
                self.disjunction()?;
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
mod tests;

//! Expressions such as `0.05*cos(2*pi*30*t)`: the components of a prescribed motion, and the laws of forces. An
//! expression is compiled once to a postfix program and evaluated on a stack of fixed size, so that the time step
//! allocates nothing. The caller chooses the names of the variables; they may contain dots. True has the value 1
//! and false 0; every nonzero value counts as true.
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

mod functions;
mod parser;

pub(super) use functions::{function_lines, is_reserved};
pub(crate) use parser::Scope;

use std::collections::HashMap;
use std::ops::Range;

use super::jet::Jet;
use super::units::Dimension;
use functions::{Function, power};

/// Maximum stack depth of an expression; deeper ones are rejected at compile time.
const STACK: usize = 32;

/// A compiled expression; cheap to evaluate, and can be shared between threads.
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

/// Two expressions are equal if their source texts are equal.
impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source && self.n_variables == other.n_variables
    }
}

/// A syntax error in an expression, with its location.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("column {column}: {message}")]
pub struct ExpressionError {
    /// Byte range of the mistake in the text.
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
    Variable(u32),
    Negate,
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Call(Function),
}

impl Expression {
    /// Compiles `source`, which may use the names in `variables`.
    pub fn parse(source: &str, variables: &[&str]) -> Result<Self, ExpressionError> {
        Self::parse_in(source, &Scope::new(variables))
    }

    /// A number as an expression.
    pub(crate) fn number(value: f64) -> Self {
        Self { source: format!("{value:?}"), ops: Box::new([Op::Constant(value)]), n_variables: 0 }
    }

    /// Removes unused variables and returns the former indices of the remaining ones, in their new order.
    ///
    /// ```
    /// use riprap_io::scene_file::Expression;
    /// let mut law = Expression::parse("2*z", &["x", "y", "z"])?;
    /// assert_eq!(law.compact(), [2]);
    /// assert_eq!(law.evaluate(&[3.0]), 6.0);
    /// # Ok::<(), riprap_io::scene_file::ExpressionError>(())
    /// ```
    pub fn compact(&mut self) -> Vec<usize> {
        let mut used: Vec<usize> = Vec::new();
        let mut place: HashMap<u32, u32> = HashMap::new();
        for op in &mut self.ops {
            if let Op::Variable(index) = op {
                let next = place.len() as u32; // at most the former number of variables
                *index = *place.entry(*index).or_insert_with_key(|index| {
                    used.push(*index as usize);
                    next
                });
            }
        }
        self.n_variables = used.len();
        used
    }

    /// The source text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The dimension of the value for variables of these dimensions, if it can be inferred; plain numbers match any dimension.
    pub(super) fn dimension(&self, variables: &[Option<Dimension>]) -> Option<Dimension> {
        let mut stack: Vec<Option<Dimension>> = Vec::new();
        for op in &self.ops {
            let of = match op {
                Op::Constant(_) => None,
                Op::Variable(index) => variables.get(*index as usize).copied().flatten(),
                _ => {
                    let first = stack.len() - op.arguments();
                    let of: Vec<_> = stack.drain(first..).collect();
                    match (op, &of[..]) {
                        (Op::Negate, [a]) => *a,
                        (Op::Add | Op::Subtract, [a, b]) if a == b => *a,
                        (Op::Multiply, [Some(a), Some(b)]) => a.times(*b, 1),
                        (Op::Divide, [Some(a), Some(b)]) => a.times(*b, -1),
                        _ => None,
                    }
                }
            };
            stack.push(of);
        }
        stack.pop().flatten()
    }

    /// Whether the expression uses no variables.
    pub fn is_constant(&self) -> bool {
        self.ops.iter().all(|op| !matches!(op, Op::Variable(_)))
    }

    /// The value for the given variables, in the order passed to `parse`. Does not allocate.
    ///
    /// An undefined result such as `sqrt(-1)` is NaN. A missing variable counts as NaN.
    pub fn evaluate(&self, variables: &[f64]) -> f64 {
        let mut stack = [0.0; STACK];
        let mut top = 0; // stack height; the compiler has checked its bounds
        for op in &self.ops {
            match *op {
                Op::Constant(value) => {
                    stack[top] = value;
                    top += 1;
                }
                Op::Variable(index) => {
                    stack[top] = variables.get(index as usize).copied().unwrap_or(f64::NAN);
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

    /// The value and its first and second derivatives with respect to the first variable. Does not allocate.
    ///
    /// The value is that of [`Expression::evaluate`], and the derivatives are exact up to rounding. At a kink or jump
    /// (`abs`, `min`, `floor`, `if`, comparisons, …) they are those of the branch taken.
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
                    let value = variables.get(index as usize).copied().unwrap_or(f64::NAN);
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

    /// The result of an operation on its operands.
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

    /// As `apply`, with derivatives.
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

#[cfg(test)]
mod random_tests;
#[cfg(test)]
mod tests;

//! From text to program: the names that an expression may use, and the parser.

use std::collections::HashMap;
use std::ops::Range;

use super::super::document::excerpt;
use super::super::suggest;
use super::super::units::parse_any_quantity;
use super::functions::{AND, COMPARISONS, CONSTANTS, FUNCTIONS, KEYWORDS, NOT, OR, TRUTH};
use super::{Expression, ExpressionError, Op, STACK};

/// Maximum nesting of parentheses, calls and signs.
const MAX_DEPTH: usize = 64;
/// Maximum program length, in instructions.
const MAX_OPS: usize = 10_000;

/// The names that an expression may use, besides constants and functions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scope {
    symbols: HashMap<String, Symbol>,
    /// The names in order of addition, for advice.
    names: Vec<String>,
    n_variables: usize,
    /// Whether numbers may have units.
    quantities: bool,
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

    /// Allows units after numbers.
    pub fn allow_quantities(&mut self) {
        self.quantities = true;
    }

    /// Adds a variable, unless it is already known, and returns its index.
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

    /// Adds a plausible name that is not available, with the reason.
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

    /// Whether the name is known or reserved.
    pub fn contains(&self, name: &str) -> bool {
        self.symbols.contains_key(name)
    }

    /// A mark of the currently known names.
    pub fn mark(&self) -> [usize; 2] {
        [self.names.len(), self.n_variables]
    }

    /// Removes the names added since `mark`.
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
    /// Compiles `source`, which may use the names in `scope`.
    pub(crate) fn parse_in(source: &str, scope: &Scope) -> Result<Self, ExpressionError> {
        let mut parser = Parser { text: source, at: 0, scope, ops: Vec::new(), depth: 0 };
        let ops = parser.whole().map_err(|(span, message, help)| {
            let column = source.get(..span.start).unwrap_or(source).chars().count() + 1;
            ExpressionError { span, column, message, help }
        })?;
        Ok(Self { source: source.to_owned(), ops, n_variables: scope.n_variables })
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
                '&' => "for a conjunction, write `and`",
                '|' => "for a disjunction, write `or`",
                'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '(' => {
                    "a product needs `*`: `2*t`, not `2 t`; expressions are in SI units, without unit symbols"
                }
                ')' => "there is no matching `(`",
                '<' | '>' | '!' => "join two comparisons with `and`: `0 < t and t < 1`",
                '=' => "the comparisons are < <= > >= == !=",
                _ => "the operators are + - * / ^ < <= > >= == != and or",
            };
            let message = format!("expected an operator before `{}`", &self.text[span.clone()]);
            return Err((span, message, Some(help.to_owned())));
        }
        let ops = std::mem::take(&mut self.ops);

        // The maximum stack depth is now known, so that evaluation needs no checks.
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

    /// Skips blanks and returns the next character.
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

    /// Byte range of the word or character at the current position.
    fn next_span(&mut self) -> Range<usize> {
        let Some(first) = self.peek() else { return self.text.len()..self.text.len() };
        let word =
            self.text[self.at..].find(|c: char| !c.is_alphanumeric() && c != '_' && c != '.');
        let length = word.unwrap_or(self.text.len() - self.at).max(first.len_utf8());
        self.at..self.at + length
    }

    /// Appends an operation; one with constant arguments is evaluated immediately.
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

    /// Consumes a keyword, if it comes next.
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

    /// Every recursion passes through here, so the depth is counted here.
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
                let message =
                    if empty { "the expression is empty" } else { "the expression is incomplete" };
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
            Ok(value) if value.is_finite() => {
                let value =
                    if self.scope.quantities { self.with_unit(start, value)? } else { value };
                self.push(Op::Constant(value))
            }
            _ => Err((start..end, format!("`{}` is not a number", &self.text[start..end]), None)),
        }
    }

    /// The value of a number that started at `start`, in SI units: consumes the longest unit that follows it.
    fn with_unit(&mut self, start: usize, value: f64) -> Result<f64, Mistake> {
        let end = self.at;
        let is_unit = |c: char| c.is_alphanumeric() || "/^*·µ°%".contains(c);
        if !self.peek().is_some_and(|c| c.is_alphabetic() || "µ°%".contains(c)) {
            return Ok(value);
        }
        let first = self.next_span();
        if KEYWORDS.contains(&&self.text[first.clone()]) {
            return Ok(value);
        }
        let rest = &self.text[self.at..];
        let length = rest.find(|c: char| !is_unit(c)).unwrap_or(rest.len());
        let ends = rest[..length].char_indices().map(|(at, c)| at + c.len_utf8());
        for stop in ends.collect::<Vec<_>>().into_iter().rev() {
            let text = format!("{} {}", &self.text[start..end], &rest[..stop]);
            if let Ok((value, _)) = parse_any_quantity(&text) {
                self.at += stop;
                return Ok(value);
            }
        }
        let message = format!("unknown unit `{}`", excerpt(&self.text[first.clone()]));
        let help = "write the number with a unit such as m/s, kN or J, or in SI units without one";
        Err((first, message, Some(help.to_owned())))
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
                let index = u32::try_from(*index)
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
                format!("known names: {}", names.join(", "))
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
            let message = format!(
                "wrong number of arguments of `{name}`: expected {}, got {given}",
                op.arguments()
            );
            return Err((span.start..self.at, message, Some(line.to_string())));
        }
        self.push(op)
    }
}

//! Mistakes in the description of a flexible body.

/// All mistakes in the description of one flexible body.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}", self.lines())]
pub struct FlexibleError {
    /// Name of the body.
    pub name: String,
    /// The mistakes.
    pub mistakes: Vec<FlexibleMistake>,
}

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlexibleMistake {
    /// The part of the description: `points`, `section`, `material`, …
    pub item: &'static str,
    /// What is wrong.
    pub problem: String,
}

impl FlexibleError {
    fn lines(&self) -> String {
        let line = |m: &FlexibleMistake| {
            format!("flexible body `{}`, {}: {}", self.name, m.item, m.problem)
        };
        self.mistakes.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}

/// Collects mistakes.
#[derive(Debug, Default)]
pub(super) struct Problems(Vec<FlexibleMistake>);

impl Problems {
    pub fn add(&mut self, item: &'static str, problem: impl Into<String>) {
        self.0.push(FlexibleMistake { item, problem: problem.into() });
    }

    /// A number that must be positive and finite.
    pub fn positive(&mut self, item: &'static str, what: &str, value: f64, unit: &str) {
        if !(value > 0.0 && value.is_finite()) {
            let unit = if unit.is_empty() { String::new() } else { format!(" {unit}") };
            self.add(item, format!("the {what} must be positive, not {value}{unit}"));
        }
    }

    /// Numbers that must be finite.
    pub fn finite(&mut self, item: &'static str, what: &str, values: &[f64]) {
        if !values.iter().all(|x| x.is_finite()) {
            self.add(item, format!("the {what} must be finite, not {values:?}"));
        }
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// `Ok` if there are none.
    pub fn finish(self, name: &str) -> Result<(), FlexibleError> {
        match self.0.is_empty() {
            true => Ok(()),
            false => Err(FlexibleError { name: name.to_owned(), mistakes: self.0 }),
        }
    }
}

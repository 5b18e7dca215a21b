//! A measured quantity and its reference: one line printed by `riprap validate`.

use serde::Serialize;

/// How a value is compared with its reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Comparison {
    /// `|value − reference| ≤ tolerance`.
    Close,
    /// `value ≤ reference + tolerance`.
    AtMost,
    /// `value ≥ reference − tolerance`.
    AtLeast,
}

/// A measured quantity, its reference and its verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Check {
    /// Name of the case.
    pub case: String,
    /// What was measured.
    pub quantity: String,
    /// The measured value.
    pub value: f64,
    /// The reference value.
    pub reference: f64,
    /// The allowed deviation.
    pub tolerance: f64,
    /// Unit of the three numbers; "1" if dimensionless.
    pub unit: String,
    /// How value and reference are compared.
    pub comparison: Comparison,
    /// Whether the comparison holds.
    pub pass: bool,
    /// Whether the check counts; otherwise the row is informational.
    pub judged: bool,
}

impl Check {
    /// Whether the check is judged and does not pass.
    pub fn fails(&self) -> bool {
        self.judged && !self.pass
    }
}

/// The checks of one case in order.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    case: &'static str,
    /// The checks.
    pub list: Vec<Check>,
}

impl Checks {
    /// An empty list of checks for a case.
    pub fn new(case: &'static str) -> Checks {
        Checks { case, list: Vec::new() }
    }

    fn push(&mut self, quantity: &str, value: f64, unit: &str, c: Comparison, r: f64, t: f64) {
        // NaN never passes.
        let pass = match c {
            Comparison::Close => (value - r).abs() <= t,
            Comparison::AtMost => value <= r + t,
            Comparison::AtLeast => value >= r - t,
        };
        self.list.push(Check {
            case: self.case.to_owned(),
            quantity: quantity.to_owned(),
            value,
            reference: r,
            tolerance: t,
            unit: unit.to_owned(),
            comparison: c,
            pass,
            judged: true,
        });
    }

    /// Marks the rows appended by `add` as informational; they are printed but not judged.
    pub fn information(&mut self, add: impl FnOnce(&mut Checks)) {
        let first = self.list.len();
        add(self);
        self.list[first..].iter_mut().for_each(|check| check.judged = false);
    }

    /// The value must equal the reference within the tolerance.
    pub fn close(
        &mut self,
        quantity: &str,
        value: f64,
        reference: f64,
        tolerance: f64,
        unit: &str,
    ) {
        self.push(quantity, value, unit, Comparison::Close, reference, tolerance);
    }

    /// The value must not exceed a limit.
    pub fn at_most(&mut self, quantity: &str, value: f64, limit: f64, unit: &str) {
        self.push(quantity, value, unit, Comparison::AtMost, limit, 0.0);
    }

    /// The value must reach a limit.
    pub fn at_least(&mut self, quantity: &str, value: f64, limit: f64, unit: &str) {
        self.push(quantity, value, unit, Comparison::AtLeast, limit, 0.0);
    }

    /// The judged checks that did not pass.
    pub fn failures(&self) -> Vec<&Check> {
        self.list.iter().filter(|c| c.fails()).collect()
    }
}

/// Slope of `log(error)` over `log(step)` by least squares: the observed order of convergence [–].
pub fn observed_order(steps: &[f64], errors: &[f64]) -> f64 {
    let n = steps.len() as f64;
    let (x, y): (Vec<f64>, Vec<f64>) =
        steps.iter().zip(errors).map(|(h, e)| (h.ln(), e.max(1e-300).ln())).unzip();
    let (mx, my) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let cov: f64 = x.iter().zip(&y).map(|(a, b)| (a - mx) * (b - my)).sum();
    let var: f64 = x.iter().map(|a| (a - mx) * (a - mx)).sum();
    cov / var
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_a_power_law_is_its_exponent() {
        let steps = [1e-1, 1e-2, 1e-3];
        let errors = steps.map(|h: f64| 3.0 * h.powf(1.5));
        assert!((observed_order(&steps, &errors) - 1.5).abs() < 1e-12);
    }

    #[test]
    fn nan_never_passes() {
        let mut c = Checks::new("x");
        c.close("a", f64::NAN, 0.0, 1.0, "1");
        c.at_most("b", f64::NAN, 1.0, "1");
        c.at_least("c", f64::NAN, 0.0, "1");
        assert_eq!(c.failures().len(), 3);
    }

    #[test]
    fn an_informational_row_never_fails() {
        let mut c = Checks::new("x");
        c.information(|c| c.at_most("a", 2.0, 1.0, "1"));
        c.at_most("b", 1.0, 1.0, "1");
        assert!(c.failures().is_empty() && !c.list[0].pass && c.list[1].judged);
    }
}

//! Means and fitted lines with 95 % confidence intervals, and their comparison with a stated range.

use std::fmt;

/// Two-sided 95 % quantiles of Student's distribution for 1 to 30 degrees of freedom [–].
const STUDENT: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
    2.052, 2.048, 2.045, 2.042,
];

/// The quantile for a number of degrees of freedom; infinite without any.
fn student(freedom: usize) -> f64 {
    match freedom {
        0 => f64::INFINITY,
        n => STUDENT.get(n - 1).copied().unwrap_or(1.96 + 2.5 / n as f64),
    }
}

/// A value and the half-width of its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Estimate {
    /// The value.
    pub value: f64,
    /// Half the width of the interval; infinite if it cannot be known from the data.
    pub half: f64,
}

impl Estimate {
    /// The mean of independent values; values that are not finite are left out.
    pub fn mean(values: &[f64]) -> Estimate {
        let values: Vec<f64> = values.iter().copied().filter(|x| x.is_finite()).collect();
        let n = values.len() as f64;
        let value = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|x| (x - value).powi(2)).sum();
        let freedom = values.len().saturating_sub(1);
        Estimate { value, half: student(freedom) * (squares / (freedom as f64 * n)).sqrt() }
    }

    /// The value with another unit: `factor` of it per present unit.
    pub fn scaled(self, factor: f64) -> Estimate {
        Estimate { value: factor * self.value, half: factor.abs() * self.half }
    }

    /// Where the interval lies with respect to a range.
    pub fn verdict(self, [low, high]: [f64; 2]) -> Verdict {
        let (a, b) = (self.value - self.half, self.value + self.half);
        if a >= low && b <= high {
            Verdict::Within
        } else if a > high || b < low {
            Verdict::Outside
        } else {
            Verdict::Undecided
        }
    }
}

/// As many digits as the interval supports, and at least one.
impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Estimate { value, half } = *self;
        if !half.is_finite() || half <= 0.0 {
            return write!(f, "{value:.3}");
        }
        let digits = (1.0 - half.log10().floor()).clamp(0.0, 6.0) as usize;
        write!(f, "{value:.digits$} ± {half:.digits$}")
    }
}

/// Whether a number agrees with a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The whole interval lies within it.
    Within,
    /// The whole interval lies outside of it.
    Outside,
    /// The interval contains a limit of the range.
    Undecided,
}

impl Verdict {
    /// In one word.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Within => "within",
            Verdict::Outside => "outside",
            Verdict::Undecided => "undecided",
        }
    }
}

/// The line `y = a + b x` with the least squares, where it vanishes, and their intervals.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// `a`: the value at x = 0.
    pub start: f64,
    /// `b`.
    pub slope: Estimate,
    /// The x at which the line vanishes, to first order in the errors.
    pub root: Estimate,
}

impl Line {
    /// Fits a line to at least two points.
    pub fn fit(points: &[[f64; 2]]) -> Line {
        let n = points.len() as f64;
        let mean = [0, 1].map(|k| points.iter().map(|p| p[k]).sum::<f64>() / n);
        let moment = |k: usize, l: usize| -> f64 {
            points.iter().map(|p| (p[k] - mean[k]) * (p[l] - mean[l])).sum()
        };
        let [xx, xy, yy] = [moment(0, 0), moment(0, 1), moment(1, 1)];
        let slope = xy / xx;
        let start = mean[1] - slope * mean[0];
        let rest = (yy - slope * xy).max(0.0);
        let freedom = points.len().saturating_sub(2);
        let (t, variance) = (student(freedom), rest / freedom as f64);
        let root = -start / slope;
        // The line is y = mean_y + b (x − mean_x), with independent errors of mean_y and b.
        let error = (variance / n + variance / xx * (root - mean[0]).powi(2)).sqrt() / slope.abs();
        let slope = Estimate { value: slope, half: t * (variance / xx).sqrt() };
        Line { start, slope, root: Estimate { value: root, half: t * error } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_mean_is_that_of_student() {
        // Five values with standard deviation √2.5: 2.776 √(2.5/5).
        let mean = Estimate::mean(&[1.0, 2.0, 3.0, 4.0, 5.0, f64::NAN]);
        assert_eq!(mean.value, 3.0);
        assert!((mean.half - 2.776 * 0.5_f64.sqrt()).abs() < 1e-12, "{mean:?}");
        assert_eq!(mean.to_string(), "3.0 ± 2.0");
        assert!(!Estimate::mean(&[1.0]).half.is_finite());
        assert!((student(31) - 2.0395).abs() < 2e-3 && student(1000) < 1.97);
    }

    #[test]
    fn an_interval_across_a_limit_decides_nothing() {
        let of = |value, half| Estimate { value, half }.verdict([2.4, 2.6]);
        assert_eq!(of(2.5, 0.05), Verdict::Within);
        assert_eq!(of(2.7, 0.05), Verdict::Outside);
        assert_eq!(of(2.3, 0.05), Verdict::Outside);
        assert_eq!(of(2.55, 0.1), Verdict::Undecided);
        assert_eq!(of(2.5, 1.0), Verdict::Undecided);
        assert_eq!(of(2.5, f64::INFINITY), Verdict::Undecided);
    }

    #[test]
    fn a_line_is_found_exactly_and_with_the_intervals_of_regression() {
        let line = Line::fit(&[[1.0, 1.0], [2.0, 3.0], [4.0, 7.0]]);
        assert!((line.slope.value - 2.0).abs() < 1e-14 && line.slope.half < 1e-6, "{line:?}");
        assert!((line.start + 1.0).abs() < 1e-14 && (line.root.value - 0.5).abs() < 1e-14);
        // Residuals 0.1, −0.1, −0.1, 0.1 leave the line: variance 0.02, Σ(x − 1.5)² = 5.
        let line = Line::fit(&[[0.0, 0.1], [1.0, 0.9], [2.0, 1.9], [3.0, 3.1]]);
        assert!((line.slope.value - 1.0).abs() < 1e-14);
        assert!((line.slope.half - 4.303 * (0.02_f64 / 5.0).sqrt()).abs() < 1e-12, "{line:?}");
    }
}

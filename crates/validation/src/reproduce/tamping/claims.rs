//! Compares the five claims of the paper with the four runs. The motion of many stones is chaotic, so a difference between two runs is
//! judged against the scatter of one case that was run several times.

use serde::Serialize;

use super::table::Row;
use crate::tamping::Case;

/// A claim of the paper and the verdict of the runs.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Claim {
    /// The claim.
    pub claim: &'static str,
    /// `None` if the runs are not used for verdicts.
    pub verdict: Option<String>,
    /// The numbers behind the verdict.
    pub numbers: String,
}

/// Verdict of the runs on a part of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Supported,
    Contradicted,
    Undecided,
}

/// How claims are judged.
#[derive(Clone, Copy, Debug)]
pub(super) enum Judge<'a> {
    /// No verdicts, only numbers.
    Numbers,
    /// Against the scatter of these runs of one case with different beds, time steps and tolerances.
    Scatter(&'a [Row]),
}

/// Minimum number of runs to estimate a scatter.
pub(super) const FEWEST: usize = 3;

/// Relative difference up to which depths count as about equal [–].
const ABOUT: f64 = 0.15;

/// 97.5 % quantile of Student's t-distribution with `freedom` degrees of freedom.
fn student(freedom: usize) -> f64 {
    const TABLE: [f64; 10] =
        [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228];
    TABLE[freedom.clamp(1, TABLE.len()) - 1]
}

/// The difference between two single runs that is significant at the 95 % level: `t √2 s`, with the standard deviation `s`
/// of a quantity over repeated runs. `None` if there are too few runs.
pub(super) fn significant(repeated: &[Row], quantity: impl Fn(&Row) -> f64) -> Option<f64> {
    let values: Vec<f64> = repeated.iter().map(quantity).filter(|x| x.is_finite()).collect();
    if values.len() < FEWEST {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    Some(student(values.len() - 1) * (2.0 * variance).sqrt())
}

/// A quantity of a row.
type Quantity = fn(&Row) -> f64;

impl Judge<'_> {
    /// Undecided if the scatter is unknown or a number is missing.
    fn with(self, quantity: Quantity, decide: impl Fn(f64) -> (bool, bool)) -> Verdict {
        let margin = match self {
            Judge::Scatter(repeated) => significant(repeated, quantity),
            Judge::Numbers => None,
        };
        match margin.map(decide) {
            Some((true, _)) => Verdict::Supported,
            Some((_, true)) => Verdict::Contradicted,
            _ => Verdict::Undecided,
        }
    }

    /// Whether a run exceeds another in a quantity.
    fn above(self, quantity: Quantity, a: &Row, b: &Row) -> Verdict {
        let difference = quantity(a) - quantity(b);
        self.with(quantity, |margin| (difference > margin, difference < -margin))
    }

    /// Whether a run equals another up to a fraction of it.
    fn about(self, quantity: Quantity, a: &Row, b: &Row) -> Verdict {
        let difference = (quantity(a) - quantity(b)).abs();
        let room = ABOUT * quantity(b).abs();
        self.with(quantity, |margin| (difference + margin <= room, difference - margin > room))
    }

    /// Whether a run lies between two others.
    fn between(self, quantity: Quantity, x: &Row, ends: [&Row; 2]) -> Verdict {
        let (x, [a, b]) = (quantity(x), ends.map(quantity));
        // Distance to the nearer end, positive inside.
        let inside = (x - a.min(b)).min(a.max(b) - x);
        self.with(quantity, |margin| (inside > margin, inside < -margin))
    }

    /// The verdict on a claim from those on its parts: supported if all are supported, contradicted if one is contradicted.
    fn all(self, parts: &[Verdict]) -> Option<String> {
        let count = |verdict: Verdict| parts.iter().filter(|p| **p == verdict).count();
        let (supported, contradicted) = (count(Verdict::Supported), count(Verdict::Contradicted));
        Some(match self {
            Judge::Numbers => return None,
            Judge::Scatter(repeated) if repeated.len() < FEWEST => {
                "undecided: one sample".to_owned()
            }
            _ if contradicted > 0 => "contradicted".to_owned(),
            _ if supported == parts.len() => "supported".to_owned(),
            _ if supported > 0 => {
                format!("undecided: {supported} of {} comparisons support it", parts.len())
            }
            _ => "undecided".to_owned(),
        })
    }
}

const D15: Case = Case::ALL[0];
const D30: Case = Case::ALL[1];
const D45: Case = Case::ALL[2];
const IMPOSED: Case = Case::ALL[3];

/// Judges a claim from the rows of the runs that it needs.
fn claim<const N: usize>(
    (rows, how): (&[Row], Judge),
    claim: &'static str,
    needs: [Case; N],
    parts: impl Fn([&Row; N]) -> (Vec<Verdict>, String),
) -> Claim {
    let find = |case: &Case| rows.iter().find(|r| r.case == case.name());
    let found: Vec<&Row> = needs.iter().filter_map(find).collect();
    let Ok(found) = <[&Row; N]>::try_from(found) else {
        let missing = needs.iter().filter(|case| find(case).is_none()).map(Case::name);
        let numbers = format!("needs {}", missing.collect::<Vec<_>>().join(" and "));
        return Claim { claim, verdict: Some("not run".to_owned()), numbers };
    };
    let (parts, numbers) = parts(found);
    Claim { claim, verdict: how.all(&parts), numbers }
}

fn depth(row: &Row) -> f64 {
    row.depth
}

fn speed(row: &Row) -> f64 {
    row.speed
}

fn squeeze(row: &Row) -> f64 {
    row.squeeze
}

fn force(row: &Row) -> f64 {
    row.mean_force
}

fn gain(row: &Row) -> f64 {
    row.filling[1] - row.filling[0]
}

fn mm(x: f64) -> String {
    format!("{:.1} mm", 1e3 * x)
}

fn kn(x: f64) -> String {
    format!("{:.1} kN", 1e-3 * x)
}

/// A depth, and whether it was limited by the end of the stroke.
fn reached(row: &Row) -> String {
    let stop = if row.stop.is_some() { " (end of the stroke)" } else { "" };
    mm(row.depth) + stop
}

/// Judges all claims with the available runs.
pub(super) fn judge(rows: &[Row], how: Judge) -> Vec<Claim> {
    let runs = (rows, how);
    vec![
        claim(
            runs,
            "1. At 15 Hz the imposed motion dives deeper and faster than the dynamic one",
            [IMPOSED, D15],
            |[imposed, d15]| {
                let parts = vec![how.above(depth, imposed, d15), how.above(speed, imposed, d15)];
                let [x, x15] = [imposed, d15].map(reached);
                let [v, v15] = [imposed, d15].map(speed);
                let numbers =
                    format!("depth {x} imposed, {x15} dynamic; speed {v:.2} m/s, {v15:.2} m/s");
                (parts, numbers)
            },
        ),
        claim(
            runs,
            "2. The imposed motion at 15 Hz dives about as deep as the dynamic one at 30 and 45 Hz",
            [IMPOSED, D30, D45],
            |[imposed, d30, d45]| {
                let parts = vec![how.about(depth, imposed, d30), how.about(depth, imposed, d45)];
                let [x, x30, x45] = [imposed, d30, d45].map(reached);
                (parts, format!("depth {x} imposed; {x30} at 30 Hz, {x45} at 45 Hz"))
            },
        ),
        claim(
            runs,
            "3. At 15 Hz the imposed motion squeezes more, at a lower load",
            [IMPOSED, D15],
            |[imposed, d15]| {
                let parts = vec![how.above(squeeze, imposed, d15), how.above(force, d15, imposed)];
                let [x, x15] = [imposed, d15].map(|r| mm(r.squeeze));
                let [f, f15] = [imposed, d15].map(|r| kn(r.mean_force));
                (parts, format!("squeeze {x} imposed, {x15} dynamic; mean force {f}, {f15}"))
            },
        ),
        claim(
            runs,
            "4. Its squeeze lies between those of the dynamic motion at 30 and 45 Hz",
            [IMPOSED, D30, D45],
            |[imposed, d30, d45]| {
                let ends = [d30, d45];
                let parts =
                    [squeeze, force].map(|quantity| how.between(quantity, imposed, ends)).into();
                let [x, x30, x45] = [imposed, d30, d45].map(|r| mm(r.squeeze));
                let [f, f30, f45] = [imposed, d30, d45].map(|r| kn(r.mean_force));
                let numbers = format!(
                    "squeeze {x} imposed; {x30} at 30 Hz, {x45} at 45 Hz; mean force {f}; {f30}, {f45}"
                );
                (parts, numbers)
            },
        ),
        claim(
            runs,
            "5. A higher frequency compacts better, at a lower force",
            [D15, D30, D45],
            |[d15, d30, d45]| {
                let pairs = [(d30, d15), (d45, d30), (d45, d15)];
                let better = pairs.map(|(high, low)| how.above(gain, high, low));
                let lower = pairs.map(|(high, low)| how.above(force, low, high));
                let [g15, g30, g45] = [d15, d30, d45].map(|r| 1e2 * gain(r));
                let [f15, f30, f45] = [d15, d30, d45].map(|r| kn(r.mean_force));
                let numbers = format!(
                    "gain of stone under the sleeper {g15:.1}, {g30:.1}, {g45:.1} points at 15, 30, 45 Hz; mean force {f15}, {f30}, {f45}"
                );
                ([better, lower].concat(), numbers)
            },
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(case: Case, depth: f64, squeeze: f64) -> Row {
        let filling = [0.4, 0.45, 0.45];
        Row { case: case.name(), depth, speed: 0.5, squeeze, filling, ..Row::default() }
    }

    fn repeated(depths: &[f64]) -> Vec<Row> {
        depths.iter().map(|d| Row { speed: *d, ..row(D15, *d, 0.1 * d) }).collect()
    }

    fn verdicts(rows: &[Row], how: Judge) -> Vec<Option<String>> {
        judge(rows, how).into_iter().map(|claim| claim.verdict).collect()
    }

    #[test]
    fn a_difference_is_significant_above_students_quantile_of_the_scatter() {
        // Standard deviation 10 mm of five runs: 2.776 √2 · 10 mm.
        let five = repeated(&[0.2, 0.2, 0.2, 0.2, 0.2 + 0.01 * 5.0_f64.sqrt()]);
        let margin = significant(&five, depth).expect("enough runs");
        assert!((margin - 2.776 * 2.0_f64.sqrt() * 0.01).abs() < 1e-12, "{margin}");
        assert_eq!(significant(&five[..2], depth), None);
    }

    #[test]
    fn a_claim_is_supported_or_contradicted_outside_the_scatter_and_undecided_within_it() {
        let scatter = repeated(&[0.20, 0.21, 0.19, 0.20, 0.20]);
        let how = Judge::Scatter(&scatter);
        let first = |imposed: f64, speed: f64| {
            let rows = [row(D15, 0.2, 0.01), Row { speed, ..row(IMPOSED, imposed, 0.01) }];
            verdicts(&rows, how).swap_remove(0).expect("judged")
        };
        assert_eq!(first(0.3, 0.6), "supported");
        assert_eq!(first(0.3, 0.51), "undecided: 1 of 2 comparisons support it");
        assert_eq!(first(0.21, 0.51), "undecided");
        assert_eq!(first(0.1, 0.6), "contradicted");
    }

    #[test]
    fn a_single_bed_is_one_sample_and_numbers_alone_give_no_verdict() {
        let rows = Case::ALL.map(|case| row(case, 0.2, 0.03));
        let one = [rows[0].clone()];
        let one = verdicts(&rows, Judge::Scatter(&one));
        assert_eq!(one, vec![Some("undecided: one sample".to_owned()); 5]);
        assert_eq!(verdicts(&rows, Judge::Numbers), vec![None; 5]);
        let some = verdicts(&rows[..1], Judge::Numbers);
        assert!(some.iter().all(|v| v.as_deref() == Some("not run")), "{some:?}");
    }
}

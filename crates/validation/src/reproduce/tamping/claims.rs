//! What the four runs say to the paper's five claims.

use serde::Serialize;

use super::table::Row;
use crate::tamping::Case;

/// A claim of the paper and what our runs say to it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Claim {
    /// What the paper finds.
    pub claim: &'static str,
    /// "shown"; "partly shown", where some of what it says is; "not shown"; "not run", where a run is missing.
    pub verdict: &'static str,
    /// The numbers that decide.
    pub numbers: String,
}

/// How far depths may differ and still count as about equal [–].
const ABOUT: f64 = 0.15;
/// How far a number must exceed another to count as larger [–].
const CLEAR: f64 = 0.02;

const D15: Case = Case::ALL[0];
const D30: Case = Case::ALL[1];
const D45: Case = Case::ALL[2];
const IMPOSED: Case = Case::ALL[3];

/// Judges a claim by the rows of the runs that it needs: its parts, and the numbers.
fn claim<const N: usize>(
    rows: &[Row],
    claim: &'static str,
    needs: [Case; N],
    judge: impl Fn([&Row; N]) -> (Vec<bool>, String),
) -> Claim {
    let find = |case: &Case| rows.iter().find(|r| r.case == case.name());
    let found: Vec<&Row> = needs.iter().filter_map(find).collect();
    let Ok(found) = <[&Row; N]>::try_from(found) else {
        let missing = needs.iter().filter(|case| find(case).is_none()).map(Case::name);
        let numbers = format!("needs {}", missing.collect::<Vec<_>>().join(" and "));
        return Claim { claim, verdict: "not run", numbers };
    };
    let (parts, numbers) = judge(found);
    let verdict = match parts.iter().filter(|p| **p).count() {
        0 => "not shown",
        n if n == parts.len() => "shown",
        _ => "partly shown",
    };
    Claim { claim, verdict, numbers }
}

/// Judges the runs that there are.
pub(super) fn judge(rows: &[Row]) -> Vec<Claim> {
    let mm = |x: f64| format!("{:.1} mm", 1e3 * x);
    let kn = |x: f64| format!("{:.1} kN", 1e-3 * x);
    let above = |a: f64, b: f64| a > b + CLEAR * b.abs();
    let about = |a: f64, b: f64| (a - b).abs() <= ABOUT * b.abs();
    let between = |x: f64, a: f64, b: f64| (a.min(b)..=a.max(b)).contains(&x);
    let gain = |r: &Row| 1e2 * (r.filling[1] - r.filling[0]);
    vec![
        claim(
            rows,
            "1. At 15 Hz the imposed motion dives deeper and faster than the dynamic one",
            [IMPOSED, D15],
            |[imposed, d15]| {
                let parts = [above(imposed.depth, d15.depth), above(imposed.speed, d15.speed)];
                let [x, x15] = [imposed, d15].map(|r| mm(r.depth));
                let [v, v15] = [imposed, d15].map(|r| r.speed);
                let numbers =
                    format!("depth {x} imposed, {x15} dynamic; speed {v:.2} m/s, {v15:.2} m/s");
                (parts.into(), numbers)
            },
        ),
        claim(
            rows,
            "2. Imposed at 15 Hz it dives about as deep as dynamic at 30 and 45 Hz",
            [IMPOSED, D30, D45],
            |[imposed, d30, d45]| {
                let parts = [about(imposed.depth, d30.depth), about(imposed.depth, d45.depth)];
                let [x, x30, x45] = [imposed, d30, d45].map(|r| mm(r.depth));
                (parts.into(), format!("depth {x} imposed; {x30} at 30 Hz, {x45} at 45 Hz"))
            },
        ),
        claim(
            rows,
            "3. At 15 Hz the imposed motion squeezes more, at a lower load",
            [IMPOSED, D15],
            |[imposed, d15]| {
                let more = above(imposed.squeeze, d15.squeeze);
                let lower = above(d15.mean_force, imposed.mean_force);
                let [x, x15] = [imposed, d15].map(|r| mm(r.squeeze));
                let [f, f15] = [imposed, d15].map(|r| kn(r.mean_force));
                let numbers = format!("squeeze {x} imposed, {x15} dynamic; mean force {f}, {f15}");
                (vec![more, lower], numbers)
            },
        ),
        claim(
            rows,
            "4. Its squeeze lies between those of 30 and 45 Hz dynamic",
            [IMPOSED, D30, D45],
            |[imposed, d30, d45]| {
                let squeeze = between(imposed.squeeze, d30.squeeze, d45.squeeze);
                let force = between(imposed.mean_force, d30.mean_force, d45.mean_force);
                let [x, x30, x45] = [imposed, d30, d45].map(|r| mm(r.squeeze));
                let [f, f30, f45] = [imposed, d30, d45].map(|r| kn(r.mean_force));
                let numbers = format!(
                    "squeeze {x} imposed; {x30} at 30 Hz, {x45} at 45 Hz; mean force {f}; {f30}, {f45}"
                );
                (vec![squeeze, force], numbers)
            },
        ),
        claim(
            rows,
            "5. A higher frequency compacts better, at a lower force",
            [D15, D30, D45],
            |runs| {
                let [g15, g30, g45] = runs.map(gain);
                let [f15, f30, f45] = runs.map(|r| r.mean_force);
                let better = above(g30, g15) && above(g45, g30);
                let lower = above(f15, f30) && above(f30, f45);
                let [f15, f30, f45] = [f15, f30, f45].map(kn);
                let numbers = format!(
                    "gain of stone under the sleeper {g15:.1}, {g30:.1}, {g45:.1} points at 15, 30, 45 Hz; mean force {f15}, {f30}, {f45}"
                );
                (vec![better, lower], numbers)
            },
        ),
    ]
}

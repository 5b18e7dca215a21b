//! What the four runs say to the paper's five claims.

use serde::Serialize;

use super::Row;

/// A claim of the paper and what our runs say to it.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Claim {
    /// What the paper finds.
    pub claim: &'static str,
    /// "shown"; "partly shown", where some of what it says is; "not shown".
    pub verdict: &'static str,
    /// The numbers that decide.
    pub numbers: String,
}

/// How far depths may differ and still count as about equal [–].
const ABOUT: f64 = 0.15;
/// How far a number must exceed another to count as larger [–].
const CLEAR: f64 = 0.02;

/// Judges the runs: 15, 30 and 45 Hz dynamic, then 15 Hz imposed.
pub(super) fn judge(rows: &[Row]) -> Vec<Claim> {
    let [d15, d30, d45, imposed] = rows else { return Vec::new() };
    let mm = |x: f64| format!("{:.1} mm", 1e3 * x);
    let kn = |x: f64| format!("{:.1} kN", 1e-3 * x);
    let claim = |claim, parts: &[bool], numbers| {
        let verdict = match parts.iter().filter(|p| **p).count() {
            0 => "not shown",
            n if n == parts.len() => "shown",
            _ => "partly shown",
        };
        Claim { claim, verdict, numbers }
    };
    let above = |a: f64, b: f64| a > b + CLEAR * b.abs();
    let about = |a: f64, b: f64| (a - b).abs() <= ABOUT * b.abs();
    let between = |x: f64, a: f64, b: f64| (a.min(b)..=a.max(b)).contains(&x);
    let gain = |r: &Row| 1e2 * (r.filling[1] - r.filling[0]);
    vec![
        claim(
            "1. At 15 Hz the imposed motion dives deeper and faster than the dynamic one",
            &[above(imposed.depth, d15.depth), above(imposed.speed, d15.speed)],
            format!(
                "depth {} imposed, {} dynamic; speed {:.2} m/s, {:.2} m/s",
                mm(imposed.depth),
                mm(d15.depth),
                imposed.speed,
                d15.speed
            ),
        ),
        claim(
            "2. Imposed at 15 Hz it dives about as deep as dynamic at 30 and 45 Hz",
            &[about(imposed.depth, d30.depth), about(imposed.depth, d45.depth)],
            format!(
                "depth {} imposed; {} at 30 Hz, {} at 45 Hz",
                mm(imposed.depth),
                mm(d30.depth),
                mm(d45.depth)
            ),
        ),
        claim(
            "3. At 15 Hz the imposed motion squeezes more, at a lower load",
            &[above(imposed.squeeze, d15.squeeze), above(d15.mean_force, imposed.mean_force)],
            format!(
                "squeeze {} imposed, {} dynamic; mean force {}, {}",
                mm(imposed.squeeze),
                mm(d15.squeeze),
                kn(imposed.mean_force),
                kn(d15.mean_force)
            ),
        ),
        claim(
            "4. Its squeeze lies between those of 30 and 45 Hz dynamic",
            &[
                between(imposed.squeeze, d30.squeeze, d45.squeeze),
                between(imposed.mean_force, d30.mean_force, d45.mean_force),
            ],
            format!(
                "squeeze {} imposed; {} at 30 Hz, {} at 45 Hz; mean force {}; {}, {}",
                mm(imposed.squeeze),
                mm(d30.squeeze),
                mm(d45.squeeze),
                kn(imposed.mean_force),
                kn(d30.mean_force),
                kn(d45.mean_force)
            ),
        ),
        claim(
            "5. A higher frequency compacts better, at a lower force",
            &[
                above(gain(d30), gain(d15)) && above(gain(d45), gain(d30)),
                above(d15.mean_force, d30.mean_force) && above(d30.mean_force, d45.mean_force),
            ],
            format!(
                "gain of stone under the sleeper {:.1}, {:.1}, {:.1} points at 15, 30, 45 Hz; mean force {}, {}, {}",
                gain(d15),
                gain(d30),
                gain(d45),
                kn(d15.mean_force),
                kn(d30.mean_force),
                kn(d45.mean_force)
            ),
        ),
    ]
}

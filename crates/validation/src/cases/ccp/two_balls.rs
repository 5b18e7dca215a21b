//! Two pendulums of one ball each, released together: the balls meet at the lowest point and stop there.

use crate::chains::{Method, Record, TWO_BALLS, overdamped};
use crate::check::observed_order;
use crate::{Checks, Effort};

pub(in crate::cases) fn two_balls(effort: Effort) -> Checks {
    let mut checks = Checks::new("ccp-two-balls");
    let (bottom, speed) = (TWO_BALLS.time_to_bottom(), TWO_BALLS.speed_at_bottom());
    for h in [1e-3, 1e-4] {
        let name = |what: &str| format!("h = {h:.0e} s: {what}");
        let run = Record::of(&TWO_BALLS, Method::Cone.scheme(h), 1.0);
        // Semi-implicit Euler is of first order, and contacts close up to one step early.
        checks.close(&name("time of contact"), run.first_contact(), bottom, 2.0 * h, "s");
        let k = (run.first_contact() / h).round() as usize;
        let before = run.kinetic[k].sqrt();
        checks.close(&name("speed before"), before, speed, 5.0 * h * speed, "m/s");
        let hanging = TWO_BALLS.hanging_energy();
        let energy: Vec<f64> = run.energy().iter().map(|e| e - hanging).collect();
        checks.close(&name("energy before"), energy[k], TWO_BALLS.initial_energy(), 20.0 * h, "J");
        // The first step leaves the velocity that closes the rest of the gap; the second takes it.
        checks.at_most(&name("energy after two steps"), energy[k + 2], 20.0 * h, "J");
        checks.at_most(
            &name("energy at the end"),
            energy.last().copied().unwrap_or(f64::NAN),
            20.0 * h,
            "J",
        );
        checks.at_most(&name("deepest overlap"), run.overlap, 1e-12, "m");
    }
    soft(&mut checks, effort);
    checks
}

/// The same with penalty forces: positions approach those of cone complementarity as the stiffness rises, and energy falls over
/// the time of a collision.
fn soft(checks: &mut Checks, effort: Effort) {
    let (h, until, stiffnesses): (f64, f64, &[f64]) = match effort {
        Effort::Full => (1e-5, 1.0, &[1e3, 1e4, 1e5, 1e6]),
        Effort::Small => (2e-5, 0.7, &[1e3, 1e4, 1e5]),
    };
    let hard = Record::of(&TWO_BALLS, Method::Cone.scheme(h), until);
    let (begin, end) = (TWO_BALLS.initial_energy(), TWO_BALLS.hanging_energy());
    // Time in which the energy falls from 90 to 10 % of its initial value [s].
    let fall = |run: &Record| {
        let energy = run.energy();
        let at = |part: f64| energy.iter().position(|e| e - end < part * begin).unwrap_or(0);
        (at(0.1) - at(0.9)) as f64 * h
    };
    let mut differences = Vec::new();
    for &stiffness in stiffnesses {
        let run = Record::of(&TWO_BALLS, Method::Penalty { stiffness }.scheme(h), until);
        let pairs = run.q.iter().zip(&hard.q);
        let apart =
            |(a, b): (&Vec<[f64; 2]>, &Vec<[f64; 2]>)| (a[0][0] - b[0][0]).hypot(a[0][1] - b[0][1]);
        differences.push(pairs.map(apart).fold(0.0, f64::max));
        let name = |what: &str| format!("penalty, {stiffness:.0e} N/m: {what}");
        // The damper alone: the speed decays as exp(−c t/m) with half the mass of a ball, and the energy with its square.
        let expected = 9f64.ln() * 0.25 / overdamped(stiffness);
        let what = name("time from 90 to 10 % of the energy");
        checks.close(&what, fall(&run), expected, 0.1 * expected + 2.0 * h, "s");
        // Up to a tenth of the stretch per step is recovered: O(h²).
        checks.at_most(
            &name("largest stretch of a rope over h²"),
            run.stretch / (h * h),
            50.0,
            "m/s²",
        );
    }
    let what = "cone complementarity: time from 90 to 10 % of the energy";
    checks.at_most(what, fall(&hard), h, "s");
    // The rebound v/(4 ζ²) falls with the root of the stiffness, the overlap v m/c with its power 3/4.
    let order = -observed_order(stiffnesses, &differences);
    checks.at_least("penalty: order of the distance in 1/stiffness", order, 0.45, "1");
    let (last, largest) = (differences[differences.len() - 1], stiffnesses[stiffnesses.len() - 1]);
    let what = format!("penalty, {largest:.0e} N/m: distance from cone complementarity");
    let rebound = TWO_BALLS.speed_at_bottom() / 400.0 * (1e4 / largest).sqrt();
    checks.at_most(&what, last, 2.0 * rebound * (until - TWO_BALLS.time_to_bottom()), "m");
}

//! A block that slides down a slope from rest: under cone complementarity it lifts off, under Coulomb's law it does not.

use riprap::prelude::*;

use crate::chains::{Method, Slope};
use crate::{Checks, Effort};

/// Height of the block [m] and its velocity [m/s] at each of the steps until a time [s].
fn slide(slope: &Slope, method: Method, h: f64, until: f64) -> Vec<[f64; 2]> {
    let mut run = Simulation::new(slope.scene(), method.scheme(h)).expect("the scheme fits");
    let steps = (until / h).round() as usize;
    (0..steps)
        .map(|_| {
            run.step().expect("the block moves");
            Slope::lift(run.scene(), run.state())
        })
        .collect()
}

pub(in crate::cases) fn slope(_: Effort) -> Checks {
    let mut checks = Checks::new("ccp-slope");
    let until = 0.5;
    for planar in [true, false] {
        let slope = Slope { angle: 30f64.to_radians(), friction: 0.3, planar };
        let (a, mu) = (slope.acceleration(), slope.friction);
        let place = if planar { "planar" } else { "spatial" };
        for h in [2e-3, 5e-4] {
            let name = |what: &str| format!("{place}, h = {h:.0e} s: {what}");
            let cone = slide(&slope, Method::Cone, h, until);
            let [lift, speed] = cone[cone.len() - 1];
            // The gap follows the speed of the step before, μ v h, and grows with the rate μ a h.
            let predicted = mu * (speed - a * h) * h;
            checks.close(&name("lift μ v h"), lift, predicted, 0.01 * predicted, "m");
            let half = cone[cone.len() / 2][0];
            let rate = (lift - half) / (until - (cone.len() / 2 + 1) as f64 * h);
            checks.close(&name("rate of lift μ a h"), rate, mu * a * h, 0.01 * mu * a * h, "m/s");
            checks.close(&name("speed"), speed, a * until, 0.01 * a * until, "m/s");
            for method in [Method::Coulomb, Method::MoreauJean] {
                let last = slide(&slope, method, h, until);
                let [lift, speed] = last[last.len() - 1];
                let name = name(&format!("{}: lift", method.name()));
                checks.at_most(&name, lift.abs(), 1e-9, "m");
                let name = name.replace("lift", "speed");
                checks.close(&name, speed, a * until, 1e-6 * a * until, "m/s");
            }
        }
    }
    checks
}

//! Two pendulums of one ball each, released together: the balls meet at the lowest point and stop there.

use crate::chains::{Method, Record, TWO_BALLS};
use crate::{Checks, Effort};

pub(in crate::cases) fn two_balls(_: Effort) -> Checks {
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
    checks
}

//! One particle with friction on the ground.

use riprap::prelude::*;

use crate::chains::{G, Method, PARTICLE, Particle};
use crate::check::observed_order;
use crate::{Checks, Effort};

/// Times, x [m] and heights [m] of the particle, from the start to `until` [s].
fn trajectory(method: Method, h: f64, until: f64) -> Vec<(f64, [f64; 2])> {
    let mut run = Simulation::new(PARTICLE.scene(), method.scheme(h)).expect("the scheme fits");
    let mut points = vec![(0.0, Particle::position(run.scene(), run.state()))];
    for _ in 0..(until / h).round() as u64 {
        run.step().expect("the particle moves");
        points.push((run.time(), Particle::position(run.scene(), run.state())));
    }
    points
}

/// Largest error of x and of the height over a trajectory [m].
fn errors(points: &[(f64, [f64; 2])]) -> [f64; 2] {
    points.iter().fold([0.0; 2], |worst: [f64; 2], (t, at)| {
        let exact = PARTICLE.exact(*t);
        [0, 1].map(|i| worst[i].max((at[i] - exact[i]).abs()))
    })
}

pub(in crate::cases) fn particle(effort: Effort) -> Checks {
    let mut checks = Checks::new("ccp-particle");
    let Particle { friction, speed, .. } = PARTICLE;
    let h = 1e-3;
    let points = trajectory(Method::Cone, h, 1.0);
    let lowest = points.iter().fold(f64::INFINITY, |m, (_, at)| m.min(at[1]));
    checks.at_least("smallest gap", lowest, -1e-12, "m");
    let landing = PARTICLE.impact();
    let landed = points.iter().find(|(t, at)| *t > 0.4 && at[1] < 2.0 * friction * speed * h);
    checks.close("time of the impact", landed.map_or(f64::NAN, |p| p.0), landing, 2.0 * h, "s");
    // Between impact and stop, at half of the sliding time.
    let middle = 0.5 * (landing + PARTICLE.stop());
    let (_, at) = points[(middle / h).round() as usize];
    let slow = PARTICLE.speed_after() - friction * G * (middle - landing);
    let predicted = friction * slow * h;
    // The velocity of a step changes the gap at its end; two of them.
    let slack = 2.0 * friction * friction * G * h * h;
    checks.close("gap while sliding: μ v h", at[1], predicted, slack.max(0.02 * predicted), "m");
    let last = points.last().map_or([f64::NAN; 2], |p| p.1);
    let stopped = PARTICLE.exact(1.0)[0];
    // Within one step of the impact at the initial speed.
    checks.close("where it stops", last[0], stopped, 2.0 * speed * h, "m");
    checks.at_most("gap at rest", last[1].abs(), 1e-12, "m");
    let exact = trajectory(Method::Coulomb, h, 1.0);
    let (_, at) = exact[(middle / h).round() as usize];
    checks.at_most("gap while sliding with Coulomb's law", at[1].abs(), 1e-12, "m");

    let steps: &[f64] = match effort {
        Effort::Full => &[1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5, 2e-5],
        Effort::Small => &[1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4],
    };
    for (method, name) in [(Method::Cone, "cone"), (Method::Coulomb, "Coulomb")] {
        let all: Vec<[f64; 2]> =
            steps.iter().map(|&h| errors(&trajectory(method, h, 1.0))).collect();
        for (i, what) in ["x", "height"].into_iter().enumerate() {
            let errors: Vec<f64> = all.iter().map(|e| e[i]).collect();
            let order = observed_order(steps, &errors);
            // The error of the impact depends on its place within its step.
            checks.close(&format!("{name}: observed order of {what}"), order, 1.0, 0.15, "1");
            let scaled = errors.iter().zip(steps).map(|(e, h)| e / h).fold(0.0, f64::max);
            // g h per step of the fall, integrated over its 0.45 s, and the speed of the impact.
            checks.at_most(&format!("{name}: largest error of {what} over h"), scaled, 6.0, "m/s");
        }
    }
    checks
}

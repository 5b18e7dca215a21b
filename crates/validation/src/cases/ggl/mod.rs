//! The examples of Brüls, Acary and Cardona 2014 under the nonsmooth generalized-α GGL scheme, compared with closed forms and event-driven references.

mod ball;
mod bar;
mod block;
mod pendulum;
mod slider_crank;

pub(super) use ball::bouncing_ball;
pub(super) use bar::elastic_bar;
pub(super) use block::{rocking_block, rocking_block_of};
pub(super) use pendulum::pendulum;
pub(super) use slider_crank::slider_crank;

use crate::Checks;
use crate::nonsmooth::{Method, Planar, Record, event_driven, run, scene_of};

/// Gaps and residuals of constraints are zero up to this [m, m/s]: the tolerance of the claim, well above round-off.
const EXACT: f64 = 1e-12;

/// A run of a standard scene, which cannot fail.
fn record(text: &str, method: Method, dt: f64, until: f64) -> Record {
    let scene = scene_of(text).expect("a standard scene is valid");
    run(scene, method, dt, until).expect("a standard scene can be simulated")
}

/// The body of a standard scene.
fn planar(text: &str) -> Planar {
    let scene = scene_of(text).expect("a standard scene is valid");
    Planar::of(&scene).expect("one planar body")
}

/// Largest and mean difference of a coordinate from the event-driven reference, up to a time [s].
fn errors(planar: &Planar, record: &Record, coordinate: usize, until: f64) -> [f64; 2] {
    let n = record.t.iter().filter(|t| **t <= until + 1e-9).count();
    let exact = event_driven::motion(planar, &record.t[1..n], 1e-3);
    let pairs = record.q[1..n].iter().zip(&exact.q);
    let errors = pairs.map(|(a, b)| (a[coordinate] - b[coordinate]).abs());
    let (max, sum) = errors.fold((0.0_f64, 0.0), |(m, s), e| (m.max(e), s + e));
    [max, sum / (n - 1) as f64]
}

/// Newton iterations per step, and halved steps.
fn newton(checks: &mut Checks, record: &Record) {
    let h = record.dt;
    checks.information(|c| {
        let quantity = format!("mean Newton iterations per step, h = {h:e} s");
        c.at_most(&quantity, record.mean_iterations(), 5.0, "1");
    });
    let most = f64::from(record.most_iterations);
    checks.at_most(&format!("largest number of Newton iterations, h = {h:e} s"), most, 20.0, "1");
    checks.at_most(&format!("halved steps, h = {h:e} s"), record.halvings as f64, 0.0, "1");
}

//! Structures that must stand or collapse: tower, wall, arch.

use crate::{Checks, Effort, scenes};
use riprap::prelude::*;

/// Largest displacement of any body [m] after a time [s].
fn drift(run: &mut Simulation, bodies: &[Body], time: f64) -> f64 {
    let start: Vec<Vec3> = bodies.iter().map(|b| run.pose(*b).position).collect();
    run.until(time, &mut ()).expect("standing bodies cannot fail");
    bodies.iter().zip(start).map(|(b, s)| (run.pose(*b).position - s).norm()).fold(0.0, f64::max)
}

fn stands(
    name: &'static str,
    scene: &SceneBuilder,
    bodies: &[Body],
    size: f64,
    time: f64,
) -> Checks {
    let mut checks = Checks::new(name);
    let mut run = scenes::start(scene, 1e-3, 0.5, 1e-6);
    let moved = drift(&mut run, bodies, time);
    let report = run.report();
    checks.at_most(
        &format!("displacement in {time} s over the size of a box"),
        moved / size,
        1e-6,
        "1",
    );
    checks.at_most("unconverged steps", report.unconverged as f64, 0.0, "1");
    checks.at_most("deepest overlap over the size of a box", report.penetration / size, 1e-6, "1");
    checks
}

/// A tower of boxes.
pub(super) fn tower(effort: Effort) -> Checks {
    let (scene, boxes) = scenes::tower(20);
    stands("tower", &scene, &boxes, 1.0, if effort == Effort::Full { 60.0 } else { 1.0 })
}

/// A wall of bricks.
pub(super) fn wall(effort: Effort) -> Checks {
    let (scene, bricks) = scenes::wall(10, 10);
    stands("wall", &scene, &bricks, 1.0, if effort == Effort::Full { 60.0 } else { 0.5 })
}

/// A semicircular arch slightly thicker and slightly thinner than the smallest stable thickness, t/R = 0.1075.
pub(super) fn arch(effort: Effort) -> Checks {
    let mut checks = Checks::new("arch");
    let n = 24;
    let time = if effort == Effort::Full { 5.0 } else { 1.0 };
    for (thickness, falls) in [(0.115, false), (0.100, true)] {
        let (scene, stones) = scenes::arch(n, thickness, 2.0);
        let mut run = scenes::start(&scene, 1e-3, 0.5, 1e-8);
        let moved = drift(&mut run, &stones, time);
        if falls {
            checks.at_least(
                &format!("displacement in {time} s at t/R = {thickness:.3}"),
                moved,
                0.1,
                "m",
            );
        } else {
            checks.at_most(
                &format!("displacement in {time} s at t/R = {thickness:.3}"),
                moved,
                1e-4,
                "m",
            );
            checks.at_most("unconverged steps", run.report().unconverged as f64, 0.0, "1");
        }
    }
    checks
}

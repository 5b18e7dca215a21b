//! Capsules, cylinders, cones and rounded polyhedra: rolling, impacts, tipping, standing, momentum, piles.

use crate::scenes::curved;
use crate::{Checks, Effort, scenes};
use riprap::prelude::*;
use riprap::simulation::Balance;

const G: f64 = 9.81;

/// `J / (m r²)` of a shape of radius 0.1 m about its axis.
fn inertia_ratio(shape: &Shape) -> f64 {
    let m = shape.mass_properties(1.0).expect("a volume");
    m.inertia[(2, 2)] / (m.mass * 0.01)
}

/// All checks of curved shapes.
pub(super) fn capsules(effort: Effort) -> Checks {
    let mut checks = Checks::new("capsules");
    rolling(&mut checks);
    impacts(&mut checks);
    tipping(&mut checks, effort);
    rolling_over(&mut checks, effort);
    standing(&mut checks, effort);
    collisions(&mut checks, effort);
    pile(&mut checks, effort);
    checks
}

/// Down a slope `a = g sin φ / (1 + J / m r²)`; from sliding to rolling at `v / (1 + J / m r²)`: 2/3 for a cylinder.
fn rolling(checks: &mut Checks) {
    for (name, shape) in [("cylinder", curved::cylinder()), ("capsule", curved::capsule())] {
        let ratio = inertia_ratio(&shape);
        let angle: f64 = 0.2;
        let (scene, body) = curved::lying_on_slope(shape.clone(), angle, 0.5, 0.0);
        let mut run = scenes::start(&scene, 1e-3, 0.5, 1e-13);
        run.until(1.0, &mut ()).expect("it cannot fail");
        let v = run.velocity(body);
        let down = v.linear.x * angle.cos() - v.linear.z * angle.sin();
        let exact = G * angle.sin() / (1.0 + ratio);
        // Round-off over a thousand steps.
        checks.close(&format!("speed of a {name} after 1 s on a slope"), down, exact, 1e-9, "m/s");
        let spin = v.angular.y;
        checks.close(&format!("spin of a {name} on a slope"), spin, exact / 0.1, 1e-8, "rad/s");

        let (scene, body) = curved::lying_on_slope(shape, 0.0, 0.3, 2.0);
        let mut run = scenes::start(&scene, 1e-3, 0.5, 1e-13);
        run.until(1.0, &mut ()).expect("it cannot fail");
        let v = run.velocity(body);
        let exact = 2.0 / (1.0 + ratio);
        checks.close(&format!("speed of a {name} once it rolls"), v.linear.x, exact, 1e-9, "m/s");
        let drift = v.linear.y.abs() + v.angular.z.abs() + v.angular.x.abs();
        checks.at_most(&format!("drift of a rolling {name}"), drift, 1e-9, "m/s");
    }
}

/// An eccentric impact without friction: the impulse is `(1 + e) v / (1/m + (r × n)·J⁻¹ (r × n))`.
fn impacts(checks: &mut Checks) {
    for (name, shape) in [("cylinder", curved::cylinder()), ("capsule", curved::capsule())] {
        for (tilt, e) in [(0.5, 0.0), (0.9, 0.6), (1.3, 1.0)] {
            let (scene, body) = curved::tilted_impact(shape.clone(), tilt, e);
            let m = shape.mass_properties(2700.0).expect("a volume");
            // The lowest point from the centre, along x and z: of the rim, or of the end.
            let (s, c) = f64::sin_cos(tilt);
            let arm = if name == "cylinder" { 0.1 * c - 0.15 * s } else { -0.15 * s };
            let across = m.inertia[(0, 0)];
            let impulse = (1.0 + e) / (1.0 / m.mass + arm * arm / across);
            let mut run = scenes::start(&scene, 1e-4, 0.5, 1e-13);
            run.until(2e-3, &mut ()).expect("it cannot fail");
            let v = run.velocity(body);
            let up = impulse / m.mass - 1.0;
            let at = format!("of a {name} at {tilt} rad, e = {e}");
            checks.close(&format!("speed after the impact {at}"), v.linear.z, up, 1e-9, "m/s");
            let spin = -arm * impulse / across;
            let found = v.angular.y;
            checks.close(&format!("spin after the impact {at}"), found, spin, 1e-8, "rad/s");
        }
    }
}

/// A cone on a slope tips at `tan φ = 4 R / h`.
fn tipping(checks: &mut Checks, effort: Effort) {
    let time = if effort == Effort::Full { 4.0 } else { 1.5 };
    for (part, falls) in [(0.99, false), (1.01, true)] {
        let angle = (0.5_f64 * part).atan();
        let (scene, cone) = curved::standing_cone(angle);
        let mut run = scenes::start(&scene, 1e-3, 0.5, 1e-9);
        let before = run.pose(cone).rotation;
        run.until(time, &mut ()).expect("it cannot fail");
        let turned = run.pose(cone).rotation.angle_to(&before);
        let name = format!("rotation in {time} s of a cone on {part} of the critical slope");
        match falls {
            true => checks.at_least(&name, turned, 0.2, "rad"),
            false => checks.at_most(&name, turned, 1e-4, "rad"),
        }
    }
}

/// A cube rolls over a rounded edge: the contact is the momentary centre of rotation, and energy is kept.
fn rolling_over(checks: &mut Checks, effort: Effort) {
    let dt = if effort == Effort::Full { 2e-5 } else { 1e-4 };
    let begin: f64 = 0.9;
    let (scene, cube) = curved::rounded_cube(begin);
    let mut run = scenes::start(&scene, dt, 0.5, 1e-12);
    let angle = |run: &Simulation| {
        let x = run.pose(cube).rotation * Vec3::x();
        (-x.z).atan2(x.x)
    };
    while angle(&run) < 1.3 && run.time() < 2.0 {
        run.step().expect("it cannot fail");
    }
    let core = Shape::cuboid([0.2; 3]).expect("positive");
    let shape = Shape::rounded(&core, 0.05).expect("a box");
    let m = shape.mass_properties(1.0).expect("a volume");
    let end = angle(&run);
    // Height and distance to the side of the centre above the contact.
    let height = |a: f64| 0.05 + 0.1 * (a.sin() + a.cos());
    let aside = |a: f64| 0.1 * (a.sin() - a.cos());
    let about = m.inertia[(1, 1)] + m.mass * (height(end).powi(2) + aside(end).powi(2));
    let exact = (2.0 * m.mass * G * (height(begin) - height(end)) / about).sqrt();
    let spin = run.velocity(cube).angular.y;
    checks.close("spin of a rounded cube rolling over its edge", spin, exact, 20.0 * dt, "rad/s");
    let slip = run.velocity(cube).linear.x - spin * height(end);
    checks.at_most("its slip", slip.abs(), 10.0 * dt, "m/s");
}

/// Cylinders on end, and a capsule and a cylinder on their sides, stay at rest.
fn standing(checks: &mut Checks, effort: Effort) {
    let time = if effort == Effort::Full { 20.0 } else { 1.0 };
    let (scene, bodies) = curved::stack_of_cylinders(8);
    let mut run = scenes::start(&scene, 1e-3, 0.5, 1e-6);
    let start: Vec<Vec3> = bodies.iter().map(|b| run.pose(*b).position).collect();
    let report = run.until(time, &mut ()).expect("they cannot fail");
    let moved = bodies.iter().zip(start).map(|(b, s)| (run.pose(*b).position - s).norm());
    let moved = moved.fold(0.0, f64::max);
    checks.at_most(&format!("displacement of stacked cylinders in {time} s"), moved, 1e-6, "m");
    checks.at_most("unconverged steps", report.unconverged as f64, 0.0, "1");
    for (name, shape) in [("cylinder", curved::cylinder()), ("capsule", curved::capsule())] {
        let (scene, body) = curved::lying_on_slope(shape, 0.0, 0.5, 0.0);
        let mut run = scenes::start(&scene, 1e-3, 0.5, 1e-6);
        let before = run.pose(body);
        run.until(time, &mut ()).expect("it cannot fail");
        let after = run.pose(body);
        let moved = (after.position - before.position).norm();
        let turned = after.rotation.angle_to(&before.rotation);
        checks.at_most(&format!("displacement of a lying {name}"), moved, 1e-9, "m");
        checks.at_most(&format!("rotation of a lying {name}"), turned, 1e-7, "rad");
    }
}

/// Shapes of all kinds that collide without gravity keep their momentum and angular momentum.
fn collisions(checks: &mut Checks, effort: Effort) {
    let n = if effort == Effort::Full { 64 } else { 27 };
    let m = scenes::rock(0.5, 0.6);
    let mut rng = riprap::grains::seeded(9);
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    for k in 0..n {
        let cell = Vec3::new((k % 4) as f64, (k / 4 % 4) as f64, (k / 16) as f64);
        let at = cell - Vec3::repeat(1.5);
        let spin = Vec3::new(at.y, at.z, -at.x) * 20.0 + Vec3::new(3.0, -5.0, 7.0);
        let body = BodyDescription::new(curved::mixed_shape(k, &mut rng), &m)
            .at((at * 0.065).into())
            .velocity((at * -0.5 + Vec3::new(0.1, 0.2, 0.3)).into())
            .spin(spin.into());
        scene.add(body, &m);
    }
    let mut run = scenes::start(&scene, 1e-3, 0.5, 1e-6);
    let before = Balance::of(run.scene(), run.state());
    let report = run.until(0.4, &mut ()).expect("they cannot fail");
    let after = Balance::of(run.scene(), run.state());
    let p = (after.momentum - before.momentum).norm() / before.momentum.norm();
    let l = (after.angular_momentum - before.angular_momentum).norm();
    checks.at_least("contacts of colliding shapes", report.contacts.0 as f64, 50.0, "1");
    checks.at_most("change of their momentum", p, 1e-12, "1");
    let l = l / before.angular_momentum.norm();
    checks.at_most("change of their angular momentum", l, 1e-11, "1");
    checks.at_most(
        "their kinetic energy after over before",
        after.kinetic / before.kinetic,
        1.0,
        "1",
    );
}

/// A pile of all kinds comes to rest, the same on any number of threads.
fn pile(checks: &mut Checks, effort: Effort) {
    let (n, time) = if effort == Effort::Full { (400, 4.0) } else { (48, 1.5) };
    let width = if effort == Effort::Full { 0.3 } else { 0.15 };
    let run_on = |threads: usize| {
        let work = move || {
            let (scene, bodies) = curved::mixed_pile(n, width, 5);
            let mut run = scenes::start(&scene, 1e-3, 0.5, 1e-4);
            let report = run.until(time, &mut ()).expect("they cannot fail");
            let speeds = bodies.iter().map(|b| run.velocity(*b).linear.norm());
            let mean = speeds.sum::<f64>() / n as f64;
            (super::grains::state_hash(run.state()), report, mean)
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.expect("a thread pool").install(work)
    };
    let (first, report, mean) = run_on(1);
    checks.at_most("mean speed of a pile of all kinds", mean, 1e-3, "m/s");
    checks.at_most("unconverged steps of the pile", report.unconverged as f64, 0.0, "1");
    // Impacts at 2 m/s enter 2 mm per step, and one step later they leave.
    checks.at_most("deepest overlap in the pile", report.penetration, 2e-3, "m");
    for threads in [2, 3] {
        let differs = f64::from(u8::from(run_on(threads).0 != first));
        checks.at_most(&format!("piles that differ on {threads} threads"), differs, 0.0, "1");
    }
}

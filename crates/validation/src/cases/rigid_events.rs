//! Event-driven rigid bodies: closed forms, stored references, order of convergence, polygons that settle, and the same
//! problems under Moreau–Jean.

use crate::check::observed_order;
use crate::nonsmooth::{BALL, Method, Planar, ROCKING_BLOCK, ball_gap, reference, run, scene_of};
use crate::scenes::polygons::{
    GRAIN, polygons_in_box, settling_scheme, sliding_block, sliding_rod, stack, tilted_block,
};
use crate::{Checks, Effort, scenes};
use riprap::prelude::*;
use std::time::Instant;

/// All checks of the scheme.
pub(super) fn rigid_events(effort: Effort) -> Checks {
    let mut checks = Checks::new("rigid-events");
    ball(&mut checks);
    slope(&mut checks);
    rolling(&mut checks);
    three_balls(&mut checks);
    rocking(&mut checks);
    rod(&mut checks);
    order(&mut checks);
    standing(&mut checks);
    settling(&mut checks, effort);
    moreau(&mut checks);
    checks
}

fn start(scene: &SceneBuilder, scheme: RigidEvents) -> Simulation {
    let scene = scene.build().expect("a standard scene is valid");
    Simulation::new(scene, scheme).expect("free bodies")
}

/// Advances by one step, at most to `t` [s].
fn advance(run: &mut Simulation, t: f64) {
    run.advance_to(t).expect("a standard scene can be simulated");
}

/// Impact times of a ball with e = 0.8 against the closed form.
fn ball(checks: &mut Checks) {
    let mut scene = Scene::builder();
    let rubber = scenes::rock(0.0, 0.8);
    scenes::add_ground(&mut scene, &rubber, 0.0);
    let shape = Shape::sphere(0.1).expect("positive");
    let ball = scene.add(BodyDescription::new(shape, &rubber).at([0.0, 0.0, 1.1]), &rubber);
    let mut run = start(&scene, RigidEvents::new(0.05).tolerance(1e-12));
    let g = run.scene().gravity().norm();
    let fall = (2.0 / g).sqrt();
    let (mut expected, mut error, mut count) = (fall, 0.0_f64, 0);
    while run.time() < 9.0 * fall + 0.1 {
        let (t, before) = (run.time(), RigidEvents::events(run.state()).collisions);
        advance(&mut run, 9.0 * fall + 0.1);
        if RigidEvents::events(run.state()).collisions > before {
            error = error.max((t - expected).abs());
            count += 1;
            expected += 2.0 * fall * 0.8_f64.powi(count);
        }
    }
    // Round-off of positions, 1e-16 m, over the velocity of the last impacts, 2e-6 m/s.
    checks.at_most("ball, e = 0.8: largest error of an impact time", error, 1e-10, "s");
    // Until the impacts are slower than √(2e-12 g d).
    let impacts = (fall * g / (2e-12 * g * 0.2).sqrt()).ln() / (1.0_f64 / 0.8).ln();
    checks.close("ball: impacts before it rests", f64::from(count), impacts, 2.0, "1");
    let height = run.pose(ball).position.z;
    checks.close("ball: height at rest", height, 0.1, 1e-9, "m");
    checks.at_most("ball: velocity at rest", run.velocity(ball).linear.norm(), 1e-11, "m/s");
}

/// A block in the plane that slides down a slope and stops.
fn slope(checks: &mut Checks) {
    let (angle, friction, speed) = (0.2_f64, 0.5, 1.0);
    let (scene, block) = sliding_block(angle, friction, speed);
    let mut run = start(&scene, RigidEvents::new(0.03));
    let from = run.pose(block).position;
    while RigidEvents::events(run.state()).stops == 0 && run.time() < 5.0 {
        advance(&mut run, 5.0);
    }
    let g = run.scene().gravity().norm();
    let slowing = g * (friction * angle.cos() - angle.sin());
    checks.close("slope: time until the block stops", run.time(), speed / slowing, 1e-9, "s");
    let path = (run.pose(block).position - from).norm();
    checks.close("slope: its path", path, 0.5 * speed * speed / slowing, 1e-9, "m");
    run.until(1.0, &mut ()).expect("a block");
    let left = run.velocity(block).linear.norm();
    checks.at_most("slope: velocity afterwards", left, 1e-11, "m/s");
}

/// A sliding ball starts to roll.
fn rolling(checks: &mut Checks) {
    let (friction, speed) = (0.3, 2.0);
    let (scene, ball) = scenes::sliding_ball(friction, speed);
    let mut run = start(&scene, RigidEvents::new(0.05));
    while RigidEvents::events(run.state()).stops == 0 && run.time() < 5.0 {
        advance(&mut run, 5.0);
    }
    let g = run.scene().gravity().norm();
    let rolls = 2.0 * speed / (7.0 * friction * g);
    checks.close("ball on a floor: time until it rolls", run.time(), rolls, 1e-9, "s");
    run.until(2.0, &mut ()).expect("a ball");
    let v = run.velocity(ball);
    checks.close(
        "ball on a floor: velocity once it rolls",
        v.linear.x,
        5.0 / 7.0 * speed,
        1e-9,
        "m/s",
    );
    checks.at_most("ball on a floor: slip", (v.linear.x - 0.1 * v.angular.y).abs(), 1e-11, "m/s");
}

/// All collisions of three balls at once, Eqs. (35) and (36).
fn three_balls(checks: &mut Checks) {
    let (scene, balls) = scenes::three_balls();
    let mut run = start(&scene, RigidEvents::new(0.1));
    run.until(1.0, &mut ()).expect("balls");
    for (ball, exact) in balls.into_iter().zip([-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]) {
        let name = format!("three balls: velocity of ball {}", ball.0 + 1);
        checks.close(&name, run.velocity(ball).linear.x, exact, 1e-12, "m/s");
    }
}

/// The rocking block against the stored reference.
fn rocking(checks: &mut Checks) {
    let scene = scene_of(ROCKING_BLOCK).expect("a standard scene is valid");
    let mut run = Simulation::new(scene, RigidEvents::new(0.01)).expect("a block");
    let block = run
        .scene()
        .body_at(run.scene().bodies().movable.iter().position(|m| *m).expect("one body is free"));
    let mut error = 0.0_f64;
    for row in reference::rocking_block() {
        while run.time() < row[0] {
            advance(&mut run, row[0]);
        }
        error = error.max((run.pose(block).position.y - row[1]).abs());
    }
    // Impacts slower than 1.4e-4 √(g d) are inelastic here: bounces of 1e-8 m.
    checks.at_most("rocking block: largest error of the height", error, 1e-7, "m");
    checks.information(|c| {
        let count = RigidEvents::events(run.state()).collisions as f64;
        c.at_least("rocking block: collisions", count, 0.0, "1");
    });
}

/// Painlevé's rod: inconsistent configurations become impulses.
fn rod(checks: &mut Checks) {
    for (friction, least, most) in [(3.0, 1.0, 10.0), (0.3, 0.0, 0.0)] {
        let (scene, rod) = sliding_rod(friction);
        let mut run = start(&scene, RigidEvents::new(1e-3));
        let energy = |run: &Simulation| {
            let b = run.frame().balance();
            b.kinetic + b.potential
        };
        let before = energy(&run);
        run.until(0.05, &mut ()).expect("an impulse resolves it");
        let count = RigidEvents::events(run.state()).inconsistent as f64;
        checks.at_least(
            &format!("rod, μ = {friction}: impulses without collision"),
            count,
            least,
            "1",
        );
        checks.at_most(&format!("rod, μ = {friction}: no more of them"), count, most, "1");
        let gained = energy(&run) / before - 1.0;
        checks.at_most(&format!("rod, μ = {friction}: relative gain of energy"), gained, 1e-9, "1");
        let finite = run.velocity(rod).linear.norm();
        checks.at_most(&format!("rod, μ = {friction}: velocity"), finite, 10.0, "m/s");
    }
}

/// Order of smooth motion with a contact that lasts: a block that falls over on its corner.
fn order(checks: &mut Checks) {
    let end = |dt: f64| {
        let (scene, block) = tilted_block(0.5);
        let mut run = start(&scene, RigidEvents::new(dt));
        run.until(0.24, &mut ()).expect("a block");
        assert_eq!(RigidEvents::events(run.state()).collisions, 0);
        run.pose(block).position
    };
    let exact = end(0.24 / 256.0);
    let steps = [0.03, 0.015, 0.0075];
    let errors = steps.map(|dt| (end(dt) - exact).norm());
    checks.at_least(
        "falling block: order of convergence",
        observed_order(&steps, &errors),
        3.7,
        "1",
    );
    checks.at_most("falling block: error at dt = 7.5 ms", errors[2], 1e-6, "m");
}

/// A stack at rest: forces and drift.
fn standing(checks: &mut Checks) {
    let (scene, blocks) = stack(10);
    let mut run = start(&scene, RigidEvents::new(0.01));
    let before: Vec<Pose> = blocks.iter().map(|b| run.pose(*b)).collect();
    run.until(1.0, &mut ()).expect("a stack");
    let moved =
        blocks.iter().zip(&before).map(|(b, q)| (run.pose(*b).position - q.position).norm());
    checks.at_most("stack: largest drift in 1 s", moved.fold(0.0, f64::max), 1e-11, "m");
    checks.at_most("stack: imbalance of forces per weight", imbalance(&run, &blocks), 1e-8, "1");
}

/// Largest resultant of weight and mean contact forces on a body, relative to its weight [–].
fn imbalance(run: &Simulation, bodies: &[Body]) -> f64 {
    let scene = run.scene();
    let frame = run.frame();
    let mut sums = vec![Vec3::zeros(); scene.bodies().len()];
    for c in frame.contacts() {
        sums[scene.slot(c.bodies[1])] += c.force;
        sums[scene.slot(c.bodies[0])] -= c.force;
    }
    let of = |b: &Body| {
        let i = scene.slot(*b);
        let weight = scene.gravity() * scene.bodies().mass[i];
        (sums[i] + weight).norm() / weight.norm()
    };
    bodies.iter().map(of).fold(0.0, f64::max)
}

/// Polygons settle in a box: nothing deforms, and the forces balance.
fn settling(checks: &mut Checks, effort: Effort) {
    let (n, until) = if effort == Effort::Full { (50, 1.0) } else { (12, 0.5) };
    let (scene, grains) = polygons_in_box(n, 0.5, 1);
    let scheme = settling_scheme();
    let mut run = start(&scene, scheme);
    let (begin, mut overlap, mut steps) = (Instant::now(), 0.0_f64, 0);
    while run.time() < until {
        let step = run.advance_to(until).expect("polygons settle");
        overlap = overlap.max(step.penetration);
        steps += 1;
    }
    let wall = begin.elapsed().as_secs_f64();
    let what = format!("{n} polygons: ");
    checks.at_most(
        &(what.clone() + "largest overlap at the start of a step, over size"),
        overlap / GRAIN,
        1.5 * scheme.tolerance,
        "1",
    );
    checks.at_most(
        &(what.clone() + "imbalance of forces per weight at rest"),
        imbalance(&run, &grains),
        1e-8,
        "1",
    );
    let fastest = grains.iter().map(|g| run.velocity(*g).linear.norm()).fold(0.0, f64::max);
    checks.at_most(&(what.clone() + "fastest at the end"), fastest, 1e-9, "m/s");
    checks.information(|c| {
        let events = RigidEvents::events(run.state());
        c.at_most(&(what.clone() + "wall time"), wall, 0.0, "s");
        c.at_most(&(what.clone() + "steps"), f64::from(steps), 0.0, "1");
        c.at_most(&(what.clone() + "collisions"), events.collisions as f64, 0.0, "1");
        c.at_most(&(what.clone() + "stops"), events.stops as f64, 0.0, "1");
        c.at_most(&(what + "inconsistent configurations"), events.inconsistent as f64, 0.0, "1");
    });
}

/// Moreau–Jean approaches the same motions at first order.
fn moreau(checks: &mut Checks) {
    // The rocking block, over all times: each impact is late by a part of a step.
    let error = |h: f64| {
        let scene = scene_of(ROCKING_BLOCK).expect("a standard scene is valid");
        let theirs = run(scene, Method::MOREAU, h, 0.8).expect("it can be simulated");
        let scene = scene_of(ROCKING_BLOCK).expect("a standard scene is valid");
        let mut ours = Simulation::new(scene, RigidEvents::new(0.01)).expect("a block");
        let block = ours.scene().bodies().movable.iter().position(|m| *m).expect("a free body");
        let mut sum = 0.0;
        for (t, q) in theirs.t.iter().zip(&theirs.q) {
            while ours.time() < *t {
                advance(&mut ours, *t);
            }
            sum += (ours.state().q[block].position.y - q.y).abs();
        }
        sum / theirs.t.len() as f64
    };
    let steps = [1e-3, 5e-4, 2.5e-4];
    let errors = steps.map(error);
    let order = observed_order(&steps, &errors);
    checks.close("Moreau–Jean, rocking block: order towards the events", order, 1.0, 0.35, "1");
    checks.at_most("Moreau–Jean, rocking block: mean distance at 0.25 ms", errors[2], 1e-3, "m");
    // The bouncing ball before its impacts accumulate.
    let scene = scene_of(BALL).expect("a standard scene is valid");
    let ball = Planar::of(&scene).expect("a ball");
    let mut ours = Simulation::new(scene, RigidEvents::new(0.01)).expect("a ball");
    let body = ours.scene().bodies().movable.iter().position(|m| *m).expect("a free body");
    let (mut largest, y) = (0.0_f64, ours.state().q[body].position.y - ball_gap(&ball, 0.0));
    for k in 1..=100 {
        let t = 0.01 * f64::from(k);
        while ours.time() < t {
            advance(&mut ours, t);
        }
        largest = largest.max((ours.state().q[body].position.y - y - ball_gap(&ball, t)).abs());
    }
    checks.at_most("bouncing ball of the plane: error of the height", largest, 1e-10, "m");
}

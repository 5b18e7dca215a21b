//! The effect of each correction beyond Algorithm 1: the same scene with and without it.

use crate::{Checks, Effort, scenes};
use riprap::assembly::joint_error;
use riprap::prelude::*;
use riprap::scene::{BodyJoint, Hold};

/// Starts a scene with a choice of corrections.
fn start(scene: &SceneBuilder, tolerance: f64, stabilization: Stabilization) -> Simulation {
    let scheme = MoreauJean::new(1e-3).solver(Coloured::tolerance(tolerance));
    let scene = scene.build().expect("a canonical scene is valid");
    let scheme = scheme.stabilization(stabilization);
    Simulation::new(scene, scheme).expect("a canonical scheme is valid")
}

pub(super) fn corrections(effort: Effort) -> Checks {
    let mut checks = Checks::new("corrections");
    let all = Stabilization::ALL;
    gaps(&mut checks, effort, [all, Stabilization { gaps: false, ..all }]);
    slips(&mut checks, effort, [all, Stabilization { slips: false, ..all }]);
    momentum(&mut checks, effort, [all, Stabilization { momentum: false, ..all }]);
    joints(&mut checks, [all, Stabilization { joints: false, ..all }]);
    checks
}

/// Largest displacement of any of the bodies along the given axes [m].
fn moved(run: &mut Simulation, bodies: &[Body], time: f64, axes: [f64; 3]) -> f64 {
    let start: Vec<Vec3> = bodies.iter().map(|b| run.pose(*b).position).collect();
    run.until(time, &mut ()).expect("standing bodies cannot fail");
    let axes = Vec3::from(axes);
    let shift = |(b, s): (&Body, Vec3)| (run.pose(*b).position - s).component_mul(&axes).norm();
    bodies.iter().zip(start).map(shift).fold(0.0, f64::max)
}

/// The same with sweeps alone: islands that are solved accurately creep too little to be measured.
fn start_with_sweeps(scene: &SceneBuilder, tolerance: f64, choice: Stabilization) -> Simulation {
    let scheme = MoreauJean::new(1e-3).solver(ConjugateGradient::tolerance(tolerance));
    let scene = scene.build().expect("a canonical scene is valid");
    Simulation::new(scene, scheme.stabilization(choice)).expect("a canonical scheme is valid")
}

/// A tower of 20 boxes sinks because of the residual left by the solver.
fn gaps(checks: &mut Checks, effort: Effort, [with, without]: [Stabilization; 2]) {
    let (scene, boxes) = scenes::tower(20);
    let time = if effort == Effort::Full { 5.0 } else { 1.0 };
    let sunk = |choice: Stabilization| {
        moved(&mut start(&scene, 1e-6, choice), &boxes, time, [0.0, 0.0, 1.0])
    };
    let (kept, lost) = (sunk(with), sunk(without));
    checks.at_most(&format!("sinking of a tower in {time} s, with gaps"), kept, 1e-6, "m");
    checks.at_least(&format!("sinking of a tower in {time} s, without"), lost, 2.0 * kept, "m");
}

/// A tower of 20 boxes on a slope creeps sideways.
fn slips(checks: &mut Checks, effort: Effort, [with, without]: [Stabilization; 2]) {
    let (mut scene, boxes) = scenes::tower(20);
    // Tilted gravity, well inside the friction cone.
    scene.gravity([0.2, 0.0, -9.8]);
    let time = if effort == Effort::Full { 5.0 } else { 1.0 };
    let crept = |choice: Stabilization| {
        moved(&mut start_with_sweeps(&scene, 1e-6, choice), &boxes, time, [1.0, 1.0, 0.0])
    };
    let (kept, lost) = (crept(with), crept(without));
    checks.at_most(&format!("creep of a tower in {time} s, with slips"), kept, 2e-6, "m");
    checks.at_least(&format!("creep of a tower in {time} s, without"), lost, 2.0 * kept, "m");
}

/// Relative change of the angular momentum of a freely tumbling brick.
fn momentum(checks: &mut Checks, effort: Effort, [with, without]: [Stabilization; 2]) {
    let rock = scenes::rock(0.5, 0.0);
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let brick = Shape::cuboid([0.1, 0.2, 0.3]).expect("positive");
    scene.add(BodyDescription::new(brick, &rock).spin([5.0, 0.1, 3.0]), &rock);
    let time = if effort == Effort::Full { 10.0 } else { 1.0 };
    let changed = |choice: Stabilization| {
        let mut run = start(&scene, 1e-4, choice);
        let before = run.frame().balance().angular_momentum;
        run.until(time, &mut ()).expect("a free body cannot fail");
        (run.frame().balance().angular_momentum - before).norm() / before.norm()
    };
    let quantity = format!("change of angular momentum in {time} s");
    checks.at_most(&format!("{quantity}, with momentum"), changed(with), 1e-11, "1");
    checks.at_least(&format!("{quantity}, without"), changed(without), 1e-4, "1");
}

/// Error of the ball joint of a pendulum after one second.
fn joints(checks: &mut Checks, [with, without]: [Stabilization; 2]) {
    let rock = scenes::rock(0.5, 0.0);
    let mut scene = Scene::builder();
    let ball = BodyDescription::new(Shape::sphere(0.05).expect("positive"), &rock);
    let ball = ball.at([0.5, 0.0, 0.0]).velocity([0.0, 0.0, 1.0]);
    let start_pose = ball.pose;
    let ball = scene.add(ball, &rock);
    let ends = ((On::World, Pose::IDENTITY), (On::Body(ball), start_pose));
    let mut joint = BodyJoint::at("pivot", Hold::Ball, Pose::IDENTITY, ends.0, ends.1);
    joint.project = true;
    scene.add_joint(joint);
    let error = |choice: Stabilization| {
        let mut run = start(&scene, 1e-10, choice);
        run.until(1.0, &mut ()).expect("a pendulum cannot fail");
        joint_error(run.scene(), &run.state().q)
    };
    checks.at_most("joint error after 1 s, with joints", error(with), 1e-12, "m");
    checks.at_least("joint error after 1 s, without", error(without), 1e-6, "m");
}

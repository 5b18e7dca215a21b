//! The stages of a step, one by one, against closed-form solutions and finite differences.

use super::*;
use crate::friction::{
    ContactProblem, ContactSolver, Delassus, GaussSeidel, Law, Operator, Scratch,
};
use crate::math::{Pose, Quat, Vec3};
use crate::multibody::{Axis, GROUND, Mechanism};
use crate::scene::{
    Body, BodyDescription, BodyJoint, Hold, Material, Motion, On, Scene, SceneBuilder, State,
};
use crate::scheme::{MoreauJean, Scheme, Workspace};
use crate::shape::{MassProperties, Shape};

const DT: f64 = 1e-3;

fn interval(state: &State) -> Interval {
    let (before, after) = (0.5 * DT, 0.5 * DT);
    Interval { t: state.t, t_next: state.t + DT, dt: DT, before, after }
}

/// The stages up to the contact problem.
struct Stages {
    system: System,
    contacts: Contacts,
    problem: ContactProblem,
}

fn assembled(scene: &Scene, state: &State) -> Stages {
    let mut stages = Stages {
        system: System::default(),
        contacts: Contacts::default(),
        problem: ContactProblem::default(),
    };
    let Stages { system, contacts, problem } = &mut stages;
    let step = interval(state);
    system.predict(scene, state, &step).unwrap();
    system.free_motion(scene, state, &step).unwrap();
    contacts.detect(scene, system, DT);
    contacts.assemble(scene, state, system, DT, problem);
    assemble_joints(scene, system, problem);
    assemble_ropes(scene, state, system, GapRule::ByLaw, DT, problem);
    assemble_rolling(scene, system, contacts, problem);
    stages
}

impl Stages {
    fn blocks(&self, a: usize) -> [[f64; 3]; 3] {
        let Delassus::Factored(w) = &self.problem.w else { panic!("assembly makes it factored") };
        *w.diagonal(a)
    }
}

fn material(friction: f64, restitution: f64) -> Material {
    Material::new("rock").density(2500.0).friction(friction).restitution(restitution)
}

/// Two balls that just touch along x, with velocities and spins, without gravity.
fn two_balls(rock: &Material, gap: f64) -> (SceneBuilder, [Body; 2]) {
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let ball = |x: f64| BodyDescription::new(Shape::sphere(0.1).unwrap(), rock).at([x, 0.0, 0.0]);
    let left = scene.add(ball(0.0).velocity([1.0, 0.2, 0.0]).spin([0.0, 0.0, 3.0]), rock);
    let right = scene.add(ball(0.2 + gap).velocity([-0.5, 0.0, 0.4]).spin([0.0, 2.0, 0.0]), rock);
    (scene, [left, right])
}

#[test]
fn the_relative_velocity_of_two_balls_agrees_with_that_of_their_surfaces() {
    let (scene, _) = two_balls(&material(0.4, 0.0), 0.0);
    let scene = scene.build().unwrap();
    let stages = assembled(&scene, &scene.initial_state());
    assert_eq!(stages.problem.len(), 1);
    let contact = stages.contacts.active().next().unwrap();
    let [i, j] = contact.bodies.map(|b| b as usize);
    let (v, q) = (stages.system.v_free(), stages.system.q_m());
    let surface =
        |b: usize| v[b].linear + v[b].angular.cross(&(contact.point.point - q[b].position));
    let relative = surface(j) - surface(i);
    let frame = contact.frame();
    for k in 0..3 {
        // Half a step has passed: the balls overlap, which the quasi-shock law counts as closed.
        let expected = frame[k].dot(&relative);
        assert!((stages.problem.v_rel_free[0][k] - expected).abs() < 1e-14, "{k}");
    }
    assert_eq!(stages.problem.laws[0], Law::Coulomb { friction: 0.4 });
}

#[test]
fn the_block_of_a_contact_consists_of_the_inverse_masses_of_two_balls() {
    let (scene, [left, right]) = two_balls(&material(0.4, 0.0), 0.0);
    let scene = scene.build().unwrap();
    let stages = assembled(&scene, &scene.initial_state());
    let bodies = scene.bodies();
    let [m, n] = [left, right].map(|b| bodies.mass[scene.slot(b)]);
    let w = stages.blocks(0);
    // Only the masses along the normal, also the spins along the tangents: 1/m + r²/J with J = 2/5
    // m r². Arms end midway.
    assert!((w[0][0] - (1.0 / m + 1.0 / n)).abs() < 1e-12 * w[0][0]);
    let contact = stages.contacts.active().next().unwrap();
    let arm = |b: Body| (contact.point.point - stages.system.q_m()[scene.slot(b)].position).norm();
    let turning = |b: Body, m: f64| 1.0 / m + arm(b).powi(2) / (0.4 * m * 0.01);
    for k in 1..3 {
        assert!((w[k][k] - turning(left, m) - turning(right, n)).abs() < 1e-12 * w[k][k]);
    }
}

#[test]
fn restitution_shifts_the_normal_velocity_by_a_fraction_of_the_previous_one() {
    let plain = two_balls(&material(0.4, 0.0), 0.0).0.build().unwrap();
    let elastic = two_balls(&material(0.4, 0.6), 0.0).0.build().unwrap();
    let [plain, elastic] = [&plain, &elastic].map(|s| assembled(s, &s.initial_state()));
    // The balls approach along x at 1.5 m/s and pass each other along y and z: the normal has
    // started to rotate.
    let normal = plain.contacts.active().next().unwrap().point.normal;
    let approach = normal.dot(&Vec3::new(-1.5, -0.2, 0.4));
    let [plain, elastic] = [plain, elastic].map(|s| s.problem.v_rel_free[0]);
    assert!((elastic[0] - plain[0] - 0.6 * approach).abs() < 1e-12);
    assert_eq!(elastic[1..], plain[1..]);
}

#[test]
fn an_open_gap_lets_the_quasi_shock_law_close_it_within_the_step() {
    let gap = 1e-3;
    let scene = two_balls(&material(0.4, 0.0), gap).0.build().unwrap();
    let stages = assembled(&scene, &scene.initial_state());
    // Half a step of approach at 1.5 m/s has passed at q_m; the normal rotates only a little.
    let left = gap - 1.5 * 0.5 * DT;
    let normal = stages.problem.v_rel_free[0][0];
    assert!((normal - (-1.5 + left / DT)).abs() < 1e-3, "{normal}");
}

#[test]
fn gaps_change_at_the_normal_velocity_of_their_contacts() {
    // Stones and balls in a loose heap, moving at random: Hᵀ v against a finite difference of the gap.
    let rock = material(0.3, 0.0);
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &rock);
    for k in 0..8 {
        let at = [0.1 * (k % 2) as f64, 0.1 * (k / 2 % 2) as f64, 0.05 + 0.1 * (k / 4) as f64];
        let shape = if k % 3 == 0 {
            Shape::sphere(0.0495).unwrap()
        } else {
            Shape::cuboid([0.099, 0.099, 0.099]).unwrap()
        };
        let spin = [0.3 * (k as f64).sin(), 0.2, 0.4 * (k as f64).cos()];
        let turned = Quat::from_scaled_axis(Vec3::new(0.001 * k as f64, -0.003, 0.001 * k as f64));
        let velocity = [0.2 * (2.0 * k as f64).sin(), 0.1, -0.1 * k as f64];
        let body = BodyDescription::new(shape, &rock).at(at).turned(turned).velocity(velocity);
        scene.add(body.spin(spin), &rock);
    }
    let scene = scene.build().unwrap();
    let state = scene.initial_state();
    // Evaluated at the start, and a little later with the same velocities.
    let at = |time: f64| {
        let (mut system, mut contacts) = (System::default(), Contacts::default());
        let step = Interval { t: 0.0, t_next: 0.0, dt: 0.0, before: time, after: 0.0 };
        system.predict(&scene, &state, &step).unwrap();
        system.free_motion(&scene, &state, &step).unwrap();
        contacts.detect(&scene, &system, DT);
        let mut problem = ContactProblem::default();
        contacts.assemble(&scene, &state, &mut system, DT, &mut problem);
        (contacts, problem)
    };
    let eps = 1e-6;
    let ((before, problem), (after, _)) = (at(0.0), at(eps));
    let mut compared = 0;
    for (k, c) in before.active().enumerate() {
        let same = after
            .active()
            .find(|d| (d.point.colliders, d.point.feature) == (c.point.colliders, c.point.feature));
        let Some(same) = same else { continue };
        // The shift of the law is not part of the velocity.
        let shift = if c.point.gap <= 1e-7 * 0.1 { 0.0 } else { c.point.gap / DT };
        let rate = (same.point.gap - c.point.gap) / eps;
        let normal = problem.v_rel_free[k][0] - shift;
        // Points slide at up to 0.5 m/s along faces that are tilted against each other by up to 0.008 rad.
        assert!((rate - normal).abs() < 4e-3, "{k}: {rate} {normal}");
        compared += 1;
    }
    assert!(compared >= 10, "{compared}");
}

/// A pendulum of length 1 m about y that touches a wall at its tip.
fn pendulum() -> Scene {
    let mut pendulum = Mechanism::new("pendulum");
    let bob = MassProperties::point(2.0, [0.0, 0.0, -1.0]);
    let arm = pendulum.revolute(GROUND, Axis::Y, [0.0; 3], bob);
    let rock = material(0.3, 0.0);
    pendulum.attach(arm, Shape::sphere(0.1).unwrap(), Pose::at([0.0, 0.0, -1.0]), "rock");
    let mut scene = Scene::builder();
    scene.material(&rock);
    scene.add_mechanism(pendulum);
    let wall = Pose::at([0.1, 0.0, 0.0]);
    scene.add_fixed(Shape::half_space([-1.0, 0.0, 0.0]).unwrap(), wall, &rock);
    scene.build().unwrap()
}

#[test]
fn a_contact_on_a_pendulum_has_its_reduced_mass() {
    let scene = pendulum();
    let stages = assembled(&scene, &scene.initial_state());
    assert_eq!(stages.problem.len(), 1);
    // The tip moves along the normal only: W_nn = l²/(m l²), nothing along the axis of the hinge.
    let w = stages.blocks(0);
    assert!((w[0][0] - 0.5).abs() < 1e-6, "{w:?}");
    let contact = stages.contacts.active().next().unwrap();
    for (k, tangent) in contact.frame().iter().enumerate().skip(1) {
        if tangent.y.abs() > 0.9 {
            assert!(w[k][k].abs() < 1e-12, "{w:?}");
        }
    }
}

#[test]
fn free_bodies_fall_and_prescribed_ones_follow_their_law() {
    let rock = material(0.3, 0.0);
    let mut scene = Scene::builder();
    let ball = Shape::sphere(0.1).unwrap();
    let free =
        scene.add(BodyDescription::new(ball.clone(), &rock).velocity([1.0, 0.0, 2.0]), &rock);
    let linear = crate::scene::Law::new(|t| Vec3::new(0.3 * t, 5.0, 0.0));
    let angular = crate::scene::Law::constant([0.0, 0.0, 1.0]);
    let moved = BodyDescription::new(ball, &rock).at([0.0, 5.0, 0.0]);
    let moved = scene.add(moved.moving(Motion::Position { linear, angular }), &rock);
    let scene = scene.build().unwrap();
    let stages = assembled(&scene, &scene.initial_state());
    let v = |b: Body| stages.system.v_free()[scene.slot(b)];
    assert!((v(free).linear - Vec3::new(1.0, 0.0, 2.0 - 9.81 * DT)).norm() < 1e-15);
    // It is at the position of its law and moves with its slope.
    assert!((v(moved).linear.x - 0.3).abs() < 1e-12, "{}", v(moved).linear.x);
    assert_eq!(v(moved).angular, Vec3::z());
    // If it is a millimetre ahead, a fifth of that is corrected over the second half of the step.
    let mut state = scene.initial_state();
    state.q[scene.slot(moved)].position.x += 1e-3;
    let v = assembled(&scene, &state).system.v_free()[scene.slot(moved)];
    assert!((v.linear.x - 0.3 + 0.2 * 1e-3 / (0.5 * DT)).abs() < 1e-9, "{}", v.linear.x);
}

#[test]
fn drag_slows_moving_bodies_and_does_not_affect_resting_ones() {
    let rock = material(0.3, 0.0);
    let mut builder = Scene::builder();
    builder.gravity([0.0; 3]).drag(20.0);
    let ball = BodyDescription::new(Shape::sphere(0.1).unwrap(), &rock);
    let ball = builder.add(ball.velocity([1.0, 0.0, 0.0]).spin([0.0, 3.0, 0.0]), &rock);
    let scene = builder.build().unwrap();
    let (mut state, mut work, scheme) =
        (scene.initial_state(), Workspace::default(), MoreauJean::new(DT));
    for _ in 0..100 {
        scheme.step(&scene, &mut state, &mut work).unwrap();
    }
    let kept = (-20.0 * 0.1f64).exp();
    let v = state.v[scene.slot(ball)];
    assert!((v.linear.x - kept).abs() < 1e-12 && (v.angular.y - 3.0 * kept).abs() < 1e-12);

    // A ball at rest presses on the floor with its full weight.
    let mut builder = Scene::builder();
    builder.drag(20.0);
    builder.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &rock);
    let ball = BodyDescription::new(Shape::sphere(0.1).unwrap(), &rock).at([0.0, 0.0, 0.1]);
    let ball = builder.add(ball, &rock);
    let scene = builder.build().unwrap();
    let (mut state, mut work) = (scene.initial_state(), Workspace::default());
    for _ in 0..20 {
        scheme.step(&scene, &mut state, &mut work).unwrap();
    }
    let weight = scene.bodies().mass[scene.slot(ball)] * 9.81 * DT;
    assert!((work.impulses[0][0] - weight).abs() < 1e-9 * weight);
}

/// A cube on the floor, pressed into it or lifted off it by a fraction of its size.
fn cube_on_floor(gap: f64) -> Scene {
    let rock = material(0.5, 0.0);
    let mut scene = Scene::builder();
    scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &rock);
    let cube = Shape::cuboid([0.1, 0.1, 0.1]).unwrap();
    scene.add(BodyDescription::new(cube, &rock).at([0.0, 0.0, 0.05 + gap]), &rock);
    scene.build().unwrap()
}

#[test]
fn gaps_within_solver_noise_close_by_a_tenth_per_step() {
    for gap in [2e-9, -2e-9] {
        for (stabilization, factor) in [(Stabilization::ALL, 0.9), (Stabilization::NONE, 1.0)] {
            let scene = cube_on_floor(gap);
            let scheme = MoreauJean::new(DT).solver(GaussSeidel::tolerance(1e-14));
            let scheme = scheme.stabilization(stabilization);
            let (mut state, mut work) = (scene.initial_state(), Workspace::default());
            for n in 1..=20 {
                scheme.step(&scene, &mut state, &mut work).unwrap();
                let left = work.contacts.active().next().unwrap().point.gap;
                // Rounding error of positions of about 0.05 m, over n steps.
                let expected = gap * f64::powi(factor, n - 1);
                let tolerance = 4e-17 * f64::from(n) + 1e-6 * gap.abs();
                assert!((left - expected).abs() < tolerance, "{n}: {left:e} {expected:e}");
            }
        }
    }
}

#[test]
fn slips_of_sticking_contacts_shift_their_velocities() {
    let scene = cube_on_floor(0.0);
    let (mut state, mut work) = (scene.initial_state(), Workspace::default());
    MoreauJean::new(DT).step(&scene, &mut state, &mut work).unwrap();
    let slip = Vec3::new(3e-9, -1e-9, 0.0);
    state.warm_start.iter_mut().for_each(|w| w.slip_w = slip.into());
    for (stabilization, gain) in [(Stabilization::ALL, 0.1), (Stabilization::NONE, 0.0)] {
        let Stages { system, mut contacts, mut problem } = assembled(&scene, &state);
        let plain = problem.v_rel_free.clone();
        contacts.trace(&scene, &state, &system);
        stabilization.velocities(&scene, &state, &system, &mut contacts, DT, &mut problem);
        assert_eq!(plain.len(), 4);
        for (k, c) in contacts.active().enumerate() {
            for (t, axis) in c.frame().iter().enumerate().skip(1) {
                let shift = problem.v_rel_free[k][t] - plain[k][t];
                assert!((shift - gain * axis.dot(&slip) / DT).abs() < 1e-18);
            }
        }
    }
}

#[test]
fn a_contact_that_slides_forgets_its_slip() {
    let scene = cube_on_floor(0.0);
    let mut state = scene.initial_state();
    state.v[1].linear.x = 1.0;
    let mut work = Workspace::default();
    for _ in 0..3 {
        MoreauJean::new(DT).step(&scene, &mut state, &mut work).unwrap();
        assert!(state.warm_start.iter().all(|w| w.slip_w == [0.0; 3]));
    }
}

#[test]
fn angular_momentum_is_conserved_with_the_correction_and_drifts_without_it() {
    let rock = material(0.5, 0.0);
    let mut builder = Scene::builder();
    builder.gravity([0.0; 3]);
    let brick = Shape::cuboid([0.1, 0.2, 0.3]).unwrap();
    let brick = BodyDescription::new(brick, &rock).spin([5.0, 0.1, 3.0]);
    builder.add(brick, &rock);
    let scene = builder.build().unwrap();
    let momentum =
        |state: &State| scene.bodies().inertia_w(0, &state.q[0].rotation) * state.v[0].angular;
    let drift = |stabilization: Stabilization| {
        let scheme = MoreauJean::new(DT).stabilization(stabilization);
        let (mut state, mut work) = (scene.initial_state(), Workspace::default());
        let start = momentum(&state);
        for _ in 0..1000 {
            scheme.step(&scene, &mut state, &mut work).unwrap();
        }
        (momentum(&state) - start).norm() / start.norm()
    };
    assert!(drift(Stabilization::ALL) < 1e-12);
    assert!(drift(Stabilization { momentum: false, ..Stabilization::ALL }) > 1e-4);
}

#[test]
fn projected_joints_stay_together_with_the_correction_and_drift_without_it() {
    let rock = material(0.5, 0.0);
    let mut builder = Scene::builder();
    let ball = BodyDescription::new(Shape::sphere(0.05).unwrap(), &rock).at([0.5, 0.0, 0.0]);
    let start = ball.pose;
    let ball = builder.add(ball.velocity([0.0, 0.0, 1.0]), &rock);
    let mut joint = BodyJoint::at(
        "pivot",
        Hold::Ball,
        Pose::IDENTITY,
        (On::World, Pose::IDENTITY),
        (On::Body(ball), start),
    );
    joint.project = true;
    builder.add_joint(joint);
    let scene = builder.build().unwrap();
    let drift = |stabilization: Stabilization| {
        let scheme = MoreauJean::new(DT).solver(GaussSeidel::tolerance(1e-12));
        let scheme = scheme.stabilization(stabilization);
        let (mut state, mut work) = (scene.initial_state(), Workspace::default());
        for _ in 0..1000 {
            scheme.step(&scene, &mut state, &mut work).unwrap();
        }
        joint_error(&scene, &state.q)
    };
    assert!(drift(Stabilization::ALL) <= 1e-12);
    assert!(drift(Stabilization { joints: false, ..Stabilization::ALL }) > 1e-6);
}

#[test]
fn a_resting_cube_starts_from_the_impulses_that_hold_it() {
    let scene = cube_on_floor(0.0);
    let scheme = MoreauJean::new(DT).solver(GaussSeidel::tolerance(1e-10));
    let (mut state, mut work) = (scene.initial_state(), Workspace::default());
    for _ in 0..5 {
        scheme.step(&scene, &mut state, &mut work).unwrap();
    }
    let Stages { system, mut contacts, problem } = assembled(&scene, &state);
    contacts.trace(&scene, &state, &system);
    let mut recalled = Vec::new();
    contacts.recall(&state, &system, &problem, &mut recalled);
    let weight = scene.bodies().mass[1] * 9.81 * DT;
    let sum: f64 = recalled.iter().map(|r| r[0]).sum();
    assert!((sum - weight).abs() < 1e-9 * weight, "{sum} {weight}");
    // The recalled impulses are exact: a solver has nothing left to do.
    let report =
        GaussSeidel::tolerance(1e-6).solve(&problem, &mut recalled, &mut Scratch::default());
    assert_eq!(report.sweeps, 1);
}

#[test]
fn a_contact_with_a_new_feature_continues_the_nearest_one_of_its_pair() {
    let scene = cube_on_floor(0.0);
    let (mut state, mut work) = (scene.initial_state(), Workspace::default());
    MoreauJean::new(DT).step(&scene, &mut state, &mut work).unwrap();
    let plain = state.clone();
    // All features have changed, and one point has moved by a fifth of the cube.
    state.warm_start.iter_mut().for_each(|w| w.feature ^= 0x4000_0000);
    state.warm_start[2].point_b[0] += 0.02;
    let recalled = |state: &State| {
        let Stages { system, mut contacts, problem } = assembled(&scene, state);
        contacts.trace(&scene, state, &system);
        let mut impulses = Vec::new();
        contacts.recall(state, &system, &problem, &mut impulses);
        impulses
    };
    let (by_feature, by_place) = (recalled(&plain), recalled(&state));
    for k in 0..4 {
        let expected = if k == 2 { [0.0; 3] } else { by_feature[k] };
        assert_eq!(by_place[k], expected, "{k}");
    }
}

#[test]
fn moments_of_rolling_resistance_come_after_contacts_and_joints() {
    let rock = material(0.5, 0.0).rolling(1e-3);
    let mut builder = Scene::builder();
    builder.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &rock);
    let ball = |x: f64| BodyDescription::new(Shape::sphere(0.1).unwrap(), &rock).at([x, 0.0, 0.1]);
    let spin = [0.0, 4.0, 0.0];
    let [a, b] = [0.0, 0.5].map(|x| builder.add(ball(x).spin(spin), &rock));
    let poses = [Pose::at([0.0, 0.0, 0.1]), Pose::at([0.5, 0.0, 0.1])];
    let ends = ((On::Body(a), poses[0]), (On::Body(b), poses[1]));
    builder.add_joint(BodyJoint::at("bar", Hold::Ball, poses[0], ends.0, ends.1));
    let scene = builder.build().unwrap();
    let stages = assembled(&scene, &scene.initial_state());
    let coulomb = Law::Coulomb { friction: 0.5 };
    let laws = [coulomb, coulomb, Law::Bilateral, Law::Rolling, Law::Rolling];
    assert_eq!(stages.problem.laws, laws);
    for (k, rolling) in stages.problem.rolling.iter().enumerate() {
        assert_eq!(rolling.contacts, [k as u32, k as u32 + 1]);
        // Lengths are half the size of the smaller body, the diameter of the ball.
        assert!((rolling.length - 0.1).abs() < 1e-15 && (rolling.ratio - 0.01).abs() < 1e-15);
        // The spin relative to the floor times the length, in either order of the bodies.
        let u = stages.problem.v_rel_free[3 + k];
        assert!((u[1].abs() - 0.4).abs() < 1e-12, "{u:?}");
    }
}

#[test]
fn a_velocity_that_is_not_finite_names_its_body() {
    let scene = cube_on_floor(0.0);
    let mut state = scene.initial_state();
    state.v[1].linear.x = f64::NAN;
    let mut system = System::default();
    let step = interval(&state);
    system.predict(&scene, &state, &step).unwrap();
    let error = system.free_motion(&scene, &state, &step).unwrap_err();
    let expected = SystemError::NotFinite { body: "body-2".into(), what: "velocity", t: DT };
    assert_eq!(error, expected);
}

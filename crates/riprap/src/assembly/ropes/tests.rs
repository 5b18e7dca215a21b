//! Rows of ropes against finite differences and hand calculations, and their order in the problem.

use super::*;
use crate::assembly::{
    Contacts, Interval, Stabilization, assemble_joints, assemble_rolling, assemble_ropes,
};
use crate::flexible::{Bar, Elastic};
use crate::friction::{Delassus, Operator};
use crate::math::Quat;
use crate::multibody::{Axis, GROUND, Joint, Mechanism};
use crate::scene::{BodyDescription, BodyJoint, Hold, Material, On, Rope, RopeState, SceneBuilder};
use crate::scheme::{MoreauJean, Scheme, Workspace};
use crate::shape::{MassProperties, Shape};

const DT: f64 = 1e-3;

fn rock() -> Material {
    Material::new("rock").density(2500.0).friction(0.5)
}

fn ball(at: [f64; 3]) -> BodyDescription {
    BodyDescription::new(Shape::sphere(0.1).unwrap(), &rock()).at(at)
}

struct Stages {
    system: System,
    contacts: Contacts,
    problem: ContactProblem,
}

fn assembled(scene: &Scene, state: &State, rule: GapRule) -> Stages {
    let mut system = System::default();
    let (mut contacts, mut problem) = (Contacts::default(), ContactProblem::default());
    let (before, after) = (0.5 * DT, 0.5 * DT);
    let step = Interval { t: state.t, t_next: state.t + DT, dt: DT, before, after };
    system.predict(scene, state, &step).unwrap();
    system.free_motion(scene, state, &step).unwrap();
    contacts.detect(scene, &system, DT);
    contacts.assemble_by(rule, scene, state, &mut system, DT, &mut problem);
    assemble_joints(scene, &mut system, &mut problem);
    assemble_ropes(scene, state, &mut system, rule, DT, &mut problem);
    assemble_rolling(scene, &system, &contacts, &mut problem);
    Stages { system, contacts, problem }
}

/// A fixed and a free ball with a rope of a given length between them, 1 m apart.
fn two_balls(length: f64, velocity: [f64; 3]) -> Scene {
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let a = scene.add(ball([0.0; 3]).fixed(), &rock());
    let b = scene.add(ball([1.0, 0.0, 0.0]).velocity(velocity), &rock());
    let path = vec![(a.into(), Vec3::zeros()), (b.into(), Vec3::zeros())];
    scene.add_rope(Rope::new("rope", path).length(length));
    scene.build().unwrap()
}

/// Everything a rope can be tied to: a tumbling box with three points on the path (two of them
/// apart), the world, a body of a mechanism, and a node of a bar, all moving.
fn everything() -> SceneBuilder {
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let cuboid = Shape::cuboid([0.2, 0.3, 0.5]).unwrap();
    let turn = Quat::from_scaled_axis(Vec3::new(0.2, -0.4, 0.7));
    let cuboid = BodyDescription::new(cuboid, &rock()).at([0.3, -0.2, 0.1]).turned(turn);
    let cuboid = cuboid.velocity([0.4, -0.3, 0.8]).spin([1.0, -2.0, 0.5]);
    let cuboid = scene.add(cuboid, &rock());
    let mut m = Mechanism::new("slide");
    let mass = MassProperties::principal(3.0, [0.0; 3], [0.1; 3]);
    let place = Pose::at([2.0, 0.0, 0.0]);
    let block = m.add("block", GROUND, Joint::Planar(Axis::X, Axis::Y), place, Some(mass));
    let slide = scene.add_mechanism(m);
    let bar = Bar::new("bar")
        .points(&[[5.0, 0.0, 0.0], [7.0, 0.0, 0.0]])
        .area(1e-2)
        .material(Elastic::new(1e6, 0.0, 1000.0))
        .elements(4)
        .velocity(-0.7);
    let bar = scene.add_flexible(bar);
    let on = |x: f64, y: f64, z: f64| Vec3::new(x, y, z);
    let path = vec![
        (On::Body(cuboid), on(0.1, 0.1, 0.2)),
        (On::World, on(1.0, 1.0, 0.0)),
        (On::Body(cuboid), on(-0.1, 0.0, -0.2)),
        (On::Body(cuboid), on(0.0, 0.1, -0.1)),
        (On::Link(slide, block), on(0.1, 0.2, 0.0)),
        (On::Node(bar, 1), on(0.0, 0.0, 0.0)),
        (On::World, on(4.0, -1.0, 0.5)),
    ];
    scene.add_rope(Rope::new("rope", path));
    scene
}

#[test]
fn the_velocity_of_a_rope_is_the_rate_of_its_slack() {
    let scene = everything().build().unwrap();
    let mut state = scene.initial_state();
    state.mechanisms[0].v = vec![0.3, -0.6, 0.9];
    let Stages { system, problem, .. } = assembled(&scene, &state, GapRule::ByLaw);
    assert_eq!(problem.len(), 1);
    let (q, v, eps) = (system.q_m(), system.v_free(), 1e-6);
    let slack = |dt: f64| {
        let mut moved = Vec::new();
        scene.integrate(q, v, dt, &mut moved);
        scene.ropes()[0].slack(&moved)
    };
    let rate = (slack(eps) - slack(-eps)) / (2.0 * eps);
    let shift = slack(0.0).max(0.0) / DT;
    // Central differences of a length of 10 m: rounding of 1e-15 m over 1e-6 s.
    assert!((problem.v_rel_free[0][0] - shift - rate).abs() < 1e-8, "{rate}");
    assert_eq!(problem.laws, [Law::Coulomb { friction: 0.0 }]);
}

#[test]
fn an_impulse_changes_the_rate_of_the_slack_by_the_diagonal_of_w() {
    let scene = everything().build().unwrap();
    let state = scene.initial_state();
    let Stages { mut system, problem, .. } = assembled(&scene, &state, GapRule::ByLaw);
    let Delassus::Factored(w) = &problem.w else { panic!("assembly makes it factored") };
    let mut change = Vec::new();
    w.velocity_change(&[[1.0, 0.0, 0.0]], &mut change);
    let found = w.to_local(0, &change)[0];
    let expected = w.diagonal(0)[0][0];
    assert!((found - expected).abs() < 1e-12 * expected, "{found} {expected}");
    // The same through the end of the step, which knows nothing of rows.
    let step = Interval { t: 0.0, t_next: DT, dt: DT, before: 0.5 * DT, after: 0.5 * DT };
    let (impulses, mut next) = (vec![[1e-3, 0.0, 0.0]], State::default());
    next.clone_from(&state);
    system.finish(&scene, &state, &step, &problem, &impulses, &mut next).unwrap();
    let mut pulls = Vec::new();
    pulls_of(&scene.ropes()[0], system.q_m(), &mut pulls);
    let rate = |v: &[Twist]| -> f64 { pulls.iter().map(|p| p.velocity(system.q_m(), v)).sum() };
    let gained = rate(&next.v) - rate(system.v_free());
    // The block has turned by a few 1e-6 rad at the end of the step.
    assert!((gained - 1e-3 * expected).abs() < 1e-4 * 1e-3 * expected, "{gained} {expected}");
}

#[test]
fn a_rope_between_two_bodies_is_a_contact_with_two_arms() {
    let mut builder = Scene::builder();
    builder.gravity([0.0; 3]);
    let a = builder.add(ball([0.0; 3]), &rock());
    let b = builder.add(ball([1.0, 0.0, 0.0]).velocity([0.5, 0.0, 0.0]), &rock());
    // Tied to the sides of the balls, so that they turn.
    let side = Vec3::new(0.0, 0.1, 0.0);
    builder.add_rope(Rope::new("rope", vec![(a.into(), side), (b.into(), side)]));
    let scene = builder.build().unwrap();
    let Stages { problem, .. } = assembled(&scene, &scene.initial_state(), GapRule::ByLaw);
    let Delassus::Factored(w) = &problem.w else { panic!("assembly makes it factored") };
    assert!(w.contacts()[0].blocks.iter().all(|b| *b != Factored::NONE));
    // Twice 1/m + r²/J with J = 2/5 m r².
    let expected = 2.0 * 3.5 / scene.bodies().mass[0];
    assert!((w.diagonal(0)[0][0] - expected).abs() < 1e-12 * expected);
    assert!((problem.v_rel_free[0][0] + 0.5).abs() < 1e-12);
}

#[test]
fn ropes_that_cannot_become_taut_in_a_step_are_left_out() {
    let n = |scene: &Scene, rule| assembled(scene, &scene.initial_state(), rule).problem.len();
    let over = GapRule::OverStep { recovery: 0.1 };
    for (slack, speed, expected) in [(0.1, 0.0, 0), (0.1, 50.0, 0), (0.1, 120.0, 1), (1e-4, 0.0, 1)]
    {
        let scene = two_balls(1.0 + slack, [speed, 0.0, 0.0]);
        assert_eq!((n(&scene, GapRule::ByLaw), n(&scene, over)), (expected, expected), "{slack}");
        assert_eq!(n(&scene, GapRule::Overlapping), 0);
    }
}

#[test]
fn slack_and_stretch_shift_the_velocity_by_the_rule() {
    let shift = |length: f64, rule| {
        let scene = two_balls(1.0, [0.0; 3]);
        let mut state = scene.initial_state();
        state.q[1].position.x = 2.0 - length;
        assembled(&scene, &state, rule).problem.v_rel_free.first().map(|v| v[0])
    };
    let (slack, stretched) = (1.0 + 1e-4, 1.0 - 1e-4);
    let over = GapRule::OverStep { recovery: 0.03 };
    for (length, rule, expected) in [
        (slack, GapRule::ByLaw, Some(0.1)),
        (stretched, GapRule::ByLaw, Some(0.0)),
        (slack, over, Some(0.1)),
        (stretched, over, Some(-0.03)),
        (slack, GapRule::Overlapping, None),
        (stretched, GapRule::Overlapping, Some(0.0)),
    ] {
        let found = shift(length, rule);
        let same = found.zip(expected).map_or(found == expected, |(f, e)| (f - e).abs() < 1e-12);
        assert!(same, "{length} {rule:?}: {found:?} {expected:?}");
    }
}

#[test]
fn stretched_ropes_recover_a_tenth_per_step_unless_that_is_off() {
    let scene = two_balls(1.0, [0.0; 3]);
    let mut state = scene.initial_state();
    state.q[1].position.x = 1.0 + 1e-4;
    for (fix, expected) in [(Stabilization::ALL, -0.01), (Stabilization::NONE, 0.0)] {
        let Stages { system, mut contacts, mut problem } =
            assembled(&scene, &state, GapRule::ByLaw);
        contacts.trace(&scene, &state, &system);
        fix.velocities(&scene, &state, &system, &mut contacts, DT, &mut problem);
        assert!((problem.v_rel_free[0][0] - expected).abs() < 1e-12);
    }
}

#[test]
fn ropes_come_after_joints_and_before_moments() {
    let rock = rock().rolling(1e-3);
    let mut builder = Scene::builder();
    builder.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &rock);
    let ball = |x: f64| BodyDescription::new(Shape::sphere(0.1).unwrap(), &rock).at([x, 0.0, 0.1]);
    let [a, b] = [0.0, 0.5].map(|x| builder.add(ball(x), &rock));
    let poses = [Pose::at([0.0, 0.0, 0.1]), Pose::at([0.5, 0.0, 0.1])];
    let ends = ((On::Body(a), poses[0]), (On::Body(b), poses[1]));
    builder.add_joint(BodyJoint::at("bar", Hold::Ball, poses[0], ends.0, ends.1));
    for (name, x) in [("left", -1.0), ("right", 2.0)] {
        let path = vec![(On::World, Vec3::new(x, 0.0, 0.1)), (a.into(), Vec3::zeros())];
        builder.add_rope(Rope::new(name, path));
    }
    let scene = builder.build().unwrap();
    let mut state = scene.initial_state();
    // The first rope is broken.
    state.ropes[0].broken = Some(0.0);
    state.ropes[1].impulse = 0.7;
    state.joint_impulses = vec![[0.1, 0.2, 0.3]];
    let Stages { mut system, mut contacts, problem } = assembled(&scene, &state, GapRule::ByLaw);
    let coulomb = |friction| Law::Coulomb { friction };
    let (rope, rolls) = (coulomb(0.0), Law::Rolling);
    assert_eq!(problem.laws, [coulomb(0.5), coulomb(0.5), Law::Bilateral, rope, rolls, rolls]);
    contacts.trace(&scene, &state, &system);
    let mut impulses = Vec::new();
    contacts.recall(&state, &system, &problem, &mut impulses);
    assert_eq!(impulses.len(), problem.len());
    assert_eq!((impulses[2], impulses[3]), ([0.1, 0.2, 0.3], [0.7, 0.0, 0.0]));
    let mut next = state.clone();
    contacts.remember(&scene, &mut system, DT, &problem, &impulses, &mut state, &mut next);
    assert_eq!(next.joint_impulses, state.joint_impulses);
    let broken = RopeState { impulse: 0.0, broken: Some(0.0) };
    assert_eq!(next.ropes, [broken, RopeState { impulse: 0.7, broken: None }]);
}

#[test]
fn a_rope_that_moves_nothing_is_left_out() {
    // The rope runs along the locked direction of a ball, and along a bar from its clamped end.
    let mut scene = Scene::builder();
    let mut locked = ball([1.0, 0.0, 0.0]);
    locked.locks = crate::scene::Locks([true, false, false, true, true, true]);
    let locked = scene.add(locked, &rock());
    scene
        .add_rope(Rope::new("a", vec![(On::World, Vec3::zeros()), (locked.into(), Vec3::zeros())]));
    let bar = Bar::new("bar")
        .points(&[[0.0, 5.0, 0.0], [1.0, 5.0, 0.0]])
        .area(1e-2)
        .material(Elastic::new(1e6, 0.0, 1000.0))
        .elements(2)
        .clamp_start();
    let bar = scene.add_flexible(bar);
    let path = vec![(On::World, Vec3::new(-1.0, 5.0, 0.0)), (On::Node(bar, 0), Vec3::zeros())];
    scene.add_rope(Rope::new("b", path));
    let scene = scene.build().unwrap();
    let Stages { problem, .. } = assembled(&scene, &scene.initial_state(), GapRule::ByLaw);
    assert!(problem.is_empty() && problem.v_rel_free.is_empty());
}

#[test]
fn a_pulled_mechanism_on_a_free_base_and_its_partner_keep_their_momentum() {
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let mut m = Mechanism::new("rocker");
    let mass = MassProperties::principal(2.0, [0.0; 3], [0.1, 0.2, 0.3]);
    let base = m.add("base", GROUND, Joint::Free, Pose::IDENTITY, Some(mass));
    let arm = m.add("arm", base, Joint::Revolute(Axis::Z), Pose::at([0.5, 0.0, 0.0]), Some(mass));
    let rocker = scene.add_mechanism(m);
    let stone = scene.add(ball([2.0, 0.5, 0.0]).velocity([3.0, 0.0, 1.0]), &rock());
    let path = vec![(On::Link(rocker, arm), Vec3::y() * 0.2), (stone.into(), Vec3::zeros())];
    scene.add_rope(Rope::new("tow", path));
    let scene = scene.build().unwrap();
    let (mut state, mut work) = (scene.initial_state(), Workspace::default());
    let momenta = |state: &State| {
        let system = &scene.mechanisms()[0];
        let (kinematics, mut scratch) = (&state.mechanisms[0], system.scratch());
        system.energy(&kinematics.q, &kinematics.v, &mut scratch);
        let (linear, angular) = system.momentum(&scratch);
        let (q, v, mass) = (&state.q[0], &state.v[0], scene.bodies().mass[0]);
        let spin = scene.bodies().inertia_w(0, &q.rotation) * v.angular;
        (linear + v.linear * mass, angular + q.position.cross(&v.linear) * mass + spin)
    };
    let (linear, angular) = momenta(&state);
    for _ in 0..300 {
        MoreauJean::new(DT).step(&scene, &mut state, &mut work).unwrap();
    }
    assert!(state.mechanisms[0].v.iter().any(|v| v.abs() > 0.1), "it is towed");
    let (after, turned) = momenta(&state);
    assert!((after - linear).norm() < 1e-11 * linear.norm());
    // The arms of the two ends are those at q_m, and the lines of action coincide there; the
    // positions at the end of the step follow the velocities, which changes the orbital part by
    // O(h²) per step.
    assert!((turned - angular).norm() < 1e-3 * angular.norm(), "{turned} {angular}");
}

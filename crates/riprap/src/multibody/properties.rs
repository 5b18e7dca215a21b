//! Properties of random mechanisms: identities that hold for every tree, loop and state.
//!
//! Finite differences are central; a step of 1e-5 leaves 1e-10 of truncation and 1e-11 of rounding over sizes near 1, and the
//! tolerances of 1e-7 leave room for trees with large velocities.

use super::closure::Cut;
use super::force::{Control, Phase, Signal};
use super::mechanism::{Axis, Frame, GROUND, Joint, Link, Mechanism};
use super::system::{Multibody, MultibodyScratch};
use super::tree::{Spatial, Tree};
use crate::math::{Mat3, Pose, Quat, Vec3};
use crate::shape::MassProperties;
use nalgebra::{DMatrix, DVector};
use rand::{RngExt, SeedableRng};

type Rng = rand_pcg::Pcg64;

const GRAVITY: [f64; 3] = [0.6, -1.1, -9.7];
const H: f64 = 1e-5;

fn vector(rng: &mut Rng, size: f64) -> Vec3 {
    Vec3::from_fn(|_, _| rng.random_range(-size..size))
}

fn axis(rng: &mut Rng) -> Axis {
    Axis(vector(rng, 1.0) + Vec3::new(0.0, 0.0, 0.1))
}

fn turned(rng: &mut Rng) -> Quat {
    Quat::from_scaled_axis(vector(rng, 2.0))
}

fn place(rng: &mut Rng) -> Pose {
    // A third of the joints are not turned against their parent, as in most machines.
    let rotation = if rng.random_range(0..3) == 0 { Quat::identity() } else { turned(rng) };
    Pose { position: vector(rng, 0.6), rotation }
}

/// A body whose tensor of inertia is that of a real one.
fn body(rng: &mut Rng) -> MassProperties {
    let mass = rng.random_range(0.2..3.0);
    let sides = Vec3::from_fn(|_, _| rng.random_range(0.1..1.0_f64)).map(|x| x * x);
    let moments =
        Vec3::new(sides.y + sides.z, sides.x + sides.z, sides.x + sides.y) * (mass / 12.0);
    let solid = MassProperties::principal(mass, [0.0; 3], moments.into());
    solid.moved(&Pose { position: vector(rng, 0.4), rotation: turned(rng) })
}

fn joint(rng: &mut Rng, kind: usize) -> Joint {
    let (a, b) = (axis(rng), axis(rng));
    match kind {
        0 => Joint::Revolute(a),
        1 => Joint::Prismatic(a),
        2 => Joint::Fixed,
        3 => Joint::Cylindrical(a),
        4 => Joint::Universal(a, b),
        5 => Joint::Planar(a, b),
        6 => Joint::Spherical,
        _ => Joint::Free,
    }
}

/// A tree with joints of all kinds. Bodies without mass hang on joints of one coordinate at most, and what hangs on them has a
/// mass and is not free, so that every coordinate has inertia behind it.
fn random_tree(rng: &mut Rng, bodies: usize) -> Mechanism {
    let mut m = Mechanism::new("tree");
    m.base = place(rng);
    let parents: Vec<Option<usize>> = (0..bodies)
        .map(|i| {
            if i == 0 || rng.random_range(0..8) == 0 { None } else { Some(rng.random_range(0..i)) }
        })
        .collect();
    let mut massless = vec![false; bodies];
    for i in 0..bodies {
        let on_massless = parents[i].is_some_and(|p| massless[p]);
        let bears = parents.contains(&Some(i));
        massless[i] = bears && !on_massless && rng.random_range(0..3) == 0;
        let kinds = if massless[i] {
            3
        } else if on_massless {
            7
        } else {
            8
        };
        let kind = rng.random_range(0..kinds);
        let (joint, place) = (joint(rng, kind), place(rng));
        let mass = (!massless[i]).then(|| body(rng));
        let parent = parents[i].map_or(GROUND, |p| Link(p as u32));
        m.add(&format!("body-{i}"), parent, joint, place, mass);
    }
    m
}

/// Random positions and velocities.
fn random_state(rng: &mut Rng, system: &Multibody) -> (Vec<f64>, Vec<f64>) {
    let n = system.n_v();
    let mut random =
        |size: f64| -> Vec<f64> { (0..n).map(|_| rng.random_range(-size..size)).collect() };
    let mut q = system.start().q.clone();
    system.tree.integrate(&system.start().q, &random(2.0), 1.0, &mut q);
    (q, random(1.5))
}

/// Tree, state and scratch with the motion at the state.
struct Sample {
    system: Multibody,
    w: MultibodyScratch,
    q: Vec<f64>,
    v: Vec<f64>,
    rng: Rng,
}

fn samples() -> impl Iterator<Item = Sample> {
    (0..80).map(|seed| {
        let mut rng = Rng::seed_from_u64(seed);
        let system = random_tree(&mut rng, 1 + seed as usize % 9).build(GRAVITY).unwrap();
        let (q, v) = random_state(&mut rng, &system);
        let mut w = system.scratch();
        system.tree.kinematics(&q, &mut w.tree);
        system.tree.motion(&v, &mut w.tree);
        Sample { system, w, q, v, rng }
    })
}

impl Sample {
    fn random(&mut self, size: f64) -> Vec<f64> {
        (0..self.system.n_v()).map(|_| self.rng.random_range(-size..size)).collect()
    }

    /// Wrenches from outside on all bodies.
    fn push(&mut self) {
        for wrench in &mut self.w.tree.wrench {
            *wrench =
                Spatial { angular: vector(&mut self.rng, 5.0), linear: vector(&mut self.rng, 5.0) };
        }
    }

    /// Jacobians of the centre of mass of a body.
    fn jacobians(&self, link: Link, point: Vec3) -> (DMatrix<f64>, DMatrix<f64>) {
        let n = self.system.n_v();
        let (mut linear, mut angular) = (vec![Vec3::zeros(); n], vec![Vec3::zeros(); n]);
        self.system.point_jacobian(&self.w, link, point, &mut linear, &mut angular);
        (DMatrix::from_fn(3, n, |i, c| linear[c][i]), DMatrix::from_fn(3, n, |i, c| angular[c][i]))
    }
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

/// Positions and velocities after a short time of constant acceleration.
fn later(tree: &Tree, q: &[f64], v: &[f64], a: &[f64], h: f64) -> (Vec<f64>, Vec<f64>) {
    let middle: Vec<f64> = v.iter().zip(a).map(|(v, a)| v + 0.5 * h * a).collect();
    let mut next = q.to_vec();
    tree.integrate(q, &middle, h, &mut next);
    (next, v.iter().zip(a).map(|(v, a)| v + h * a).collect())
}

#[test]
fn the_mass_matrix_is_the_sum_over_the_bodies_and_positive_definite() {
    for mut s in samples() {
        let n = s.system.n_v();
        s.system.tree.evaluate(&mut s.w.tree);
        let mass = DMatrix::from_column_slice(n, n, s.w.tree.mass());
        assert_eq!(mass, mass.transpose(), "both triangles are the same number");
        let mut sum = DMatrix::zeros(n, n);
        for link in s.system.links() {
            let node = &s.system.tree.nodes[s.system.node_of[link.0 as usize] as usize];
            let r = s.system.tree.rotation(&s.w.tree, s.system.node_of[link.0 as usize]);
            let inertia = r * node.inertia * r.transpose();
            let (linear, angular) = s.jacobians(link, node.centre);
            sum += linear.transpose() * &linear * node.mass;
            sum += angular.transpose() * inertia * &angular;
        }
        assert!((&mass - &sum).abs().max() <= 1e-12 * (1.0 + sum.abs().max()));
        if n > 0 {
            assert!(mass.symmetric_eigenvalues().min() > 0.0);
        }
    }
}

#[test]
fn kinetic_energy_is_half_v_m_v() {
    for mut s in samples() {
        let n = s.system.n_v();
        s.system.tree.evaluate(&mut s.w.tree);
        let (mass, v) =
            (DMatrix::from_column_slice(n, n, s.w.tree.mass()), DVector::from_vec(s.v.clone()));
        let expected = 0.5 * v.dot(&(mass * &v));
        let (kinetic, _) = s.system.energy(&s.q, &s.v, &mut s.w);
        assert!(close(kinetic, expected, 1e-13));
    }
}

#[test]
fn inverse_dynamics_undoes_forward_dynamics() {
    for mut s in samples() {
        s.push();
        let n = s.system.n_v();
        let force = s.random(10.0);
        let (mut acceleration, mut back) = (vec![0.0; n], vec![0.0; n]);
        assert!(s.system.tree.forward_dynamics(&force, &mut s.w.tree, &mut acceleration));
        s.system.tree.inverse_dynamics(&acceleration, &mut s.w.tree, &mut back);
        // Rounding is enlarged by the ratio of the inertial forces to τ.
        let scale = 1.0 + largest(&acceleration);
        assert!(force.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-12 * scale));
    }
}

#[test]
fn forward_dynamics_by_recursion_solves_the_dense_equations() {
    for mut s in samples() {
        s.push();
        let n = s.system.n_v();
        let force = s.random(10.0);
        let mut acceleration = vec![0.0; n];
        s.system.tree.forward_dynamics(&force, &mut s.w.tree, &mut acceleration);
        s.system.tree.evaluate(&mut s.w.tree);
        let mass = DMatrix::from_column_slice(n, n, s.w.tree.mass());
        let bias = DVector::from_column_slice(s.w.tree.bias_force());
        let Some(factored) = mass.cholesky() else { panic!("positive definite") };
        let dense = factored.solve(&(DVector::from_vec(force) - bias));
        // A badly conditioned M enlarges the rounding of both.
        let scale = largest(dense.as_slice()).max(1.0);
        assert!(acceleration.iter().zip(&dense).all(|(a, b)| (a - b).abs() < 1e-9 * scale));
    }
}

#[test]
fn the_bias_is_the_inverse_dynamics_without_acceleration() {
    for mut s in samples() {
        s.push();
        let n = s.system.n_v();
        let mut force = vec![0.0; n];
        s.system.tree.evaluate(&mut s.w.tree);
        let bias = s.w.tree.bias_force().to_vec();
        s.system.tree.inverse_dynamics(&vec![0.0; n], &mut s.w.tree, &mut force);
        s.system.tree.bias(&mut s.w.tree);
        for c in 0..n {
            assert!(
                close(bias[c], force[c], 1e-12) && close(bias[c], s.w.tree.bias_force()[c], 1e-12)
            );
        }
    }
}

#[test]
fn the_bias_acceleration_of_a_point_is_the_rate_of_its_velocity() {
    for mut s in samples() {
        for link in s.system.links() {
            let point = vector(&mut s.rng, 1.0);
            let expected = s.system.point_bias(&s.w, link, point);
            let mut w = s.system.scratch();
            let mut velocity = |h: f64| {
                let (q, v) = later(&s.system.tree, &s.q, &s.v, &vec![0.0; s.v.len()], h);
                s.system.tree.kinematics(&q, &mut w.tree);
                s.system.tree.motion(&v, &mut w.tree);
                s.system.point(&w, link, point).1
            };
            let rate = (velocity(H) - velocity(-H)) / (2.0 * H);
            assert!((rate - expected).norm() < 1e-7 * (1.0 + expected.norm()), "{rate} {expected}");
        }
    }
}

#[test]
fn the_jacobian_of_a_point_gives_its_velocity_and_that_of_its_body() {
    for s in samples() {
        let v = DVector::from_vec(s.v.clone());
        for link in s.system.links() {
            let point = Vec3::new(0.3, -0.2, 0.5);
            let (linear, angular) = s.jacobians(link, point);
            let (_, velocity) = s.system.point(&s.w, link, point);
            assert!((linear * &v - velocity).norm() < 1e-12 * (1.0 + velocity.norm()));
            let turning = s.system.angular_velocity(&s.w, link);
            assert!((angular * &v - turning).norm() < 1e-12 * (1.0 + turning.norm()));
        }
    }
}

#[test]
fn energy_changes_by_the_power_of_the_forces() {
    for mut s in samples() {
        s.push();
        let force = s.random(10.0);
        let mut a = vec![0.0; s.system.n_v()];
        s.system.tree.forward_dynamics(&force, &mut s.w.tree, &mut a);
        let outside: f64 = s.w.tree.wrench.iter().zip(&s.w.tree.twist).map(|(f, v)| f.dot(v)).sum();
        let joints: f64 = force.iter().zip(&s.v).map(|(f, v)| f * v).sum();
        // The step is short where the accelerations are large.
        let h = H / (1.0 + largest(&a)).sqrt();
        let mut energy = |h: f64| {
            let (q, v) = later(&s.system.tree, &s.q, &s.v, &a, h);
            let (kinetic, potential) = s.system.energy(&q, &v, &mut s.w);
            kinetic + potential
        };
        let scale = energy(0.0).abs() + largest(&a) + outside.abs() + joints.abs();
        let rate = (energy(h) - energy(-h)) / (2.0 * h);
        assert!((rate - outside - joints).abs() < 1e-7 * scale, "{rate} {}", outside + joints);
    }
}

#[test]
fn joint_forces_do_not_change_the_momentum_of_a_floating_tree() {
    for seed in 0..40 {
        let mut rng = Rng::seed_from_u64(1000 + seed);
        let mut m = Mechanism::new("floating");
        let base = body(&mut rng);
        let pose = place(&mut rng);
        m.add("base", GROUND, Joint::Free, pose, Some(base));
        for i in 1..1 + seed as u32 % 6 {
            let parent = Link(rng.random_range(0..i));
            let kind = rng.random_range(0..7);
            let (joint, place, mass) = (joint(&mut rng, kind), place(&mut rng), body(&mut rng));
            m.add(&format!("limb-{i}"), parent, joint, place, Some(mass));
        }
        let system = m.build([0.0; 3]).unwrap();
        let (q, v) = random_state(&mut rng, &system);
        let mut w = system.scratch();
        let (n, mut a) = (system.n_v(), vec![0.0; system.n_v()]);
        // The base itself is not pushed: its first six coordinates act against the ground.
        let force: Vec<f64> =
            (0..n).map(|c| if c < 6 { 0.0 } else { rng.random_range(-5.0..5.0) }).collect();
        system.tree.kinematics(&q, &mut w.tree);
        system.tree.motion(&v, &mut w.tree);
        assert!(system.tree.forward_dynamics(&force, &mut w.tree, &mut a));
        let mut momentum = |h: f64| {
            let (q, v) = later(&system.tree, &q, &v, &a, h);
            system.tree.kinematics(&q, &mut w.tree);
            system.tree.motion(&v, &mut w.tree);
            system.momentum(&w)
        };
        let h = H / (1.0 + largest(&a)).sqrt();
        let (now, before, after) = (momentum(0.0), momentum(-h), momentum(h));
        let change = (after.0 - before.0).norm() + (after.1 - before.1).norm();
        let scale = 1.0 + now.0.norm() + now.1.norm() + largest(&a);
        assert!(change / (2.0 * h) < 1e-8 * scale, "{change:.1e}");
    }
}

#[test]
fn a_floating_tree_keeps_its_momentum_over_a_long_motion() {
    let mut rng = Rng::seed_from_u64(5);
    let mut m = Mechanism::new("floating");
    let base = body(&mut rng);
    let base = m.add("base", GROUND, Joint::Free, Pose::IDENTITY, Some(base));
    let (at, arm) = (place(&mut rng), body(&mut rng));
    let arm = m.add("arm", base, Joint::Universal(Axis::X, Axis::Y), at, Some(arm));
    let (at, hand) = (place(&mut rng), body(&mut rng));
    m.add("hand", arm, Joint::Spherical, at, Some(hand));
    let c = m.coordinate(arm, 1);
    m.actuate("motor", c, Signal::new(|x| 0.3 * (3.0 * x.t).sin()));
    for (c, v) in [(3, 0.4), (4, -1.0), (6, 0.7), (9, 1.1)] {
        m.start_velocity(super::Coordinate(c), v);
    }
    let system = m.build([0.0; 3]).unwrap();
    let (mut state, mut w, mut s) = (system.start().clone(), system.scratch(), Default::default());
    let momentum = |state: &super::MultibodyState| {
        let mut w = system.scratch();
        system.tree.kinematics(&state.q, &mut w.tree);
        system.tree.motion(&state.v, &mut w.tree);
        system.momentum(&w)
    };
    let (linear, angular) = momentum(&state);
    system.advance(&mut state, 0.0, 2.0, 1e-10, &mut 0.0, &mut s, &mut w).unwrap();
    let (linear_end, angular_end) = momentum(&state);
    // Ten times the tolerance of the integrator.
    assert!((linear - linear_end).norm() < 1e-9 && (angular - angular_end).norm() < 1e-9);
}

#[test]
fn a_tree_far_from_the_origin_moves_as_one_near_it() {
    for seed in 0..30 {
        let mut rng = Rng::seed_from_u64(2000 + seed);
        let near = random_tree(&mut rng, 6);
        let mut far = near.clone();
        far.base.position += Vec3::new(1e4, -2e4, 5e3);
        let (near, far) = (near.build(GRAVITY).unwrap(), far.build(GRAVITY).unwrap());
        let (q, v) = random_state(&mut rng, &near);
        let force: Vec<f64> = v.iter().map(|_| rng.random_range(-5.0..5.0)).collect();
        let solve = |system: &Multibody| {
            let (mut w, mut a) = (system.scratch(), vec![0.0; v.len()]);
            system.tree.kinematics(&q, &mut w.tree);
            system.tree.motion(&v, &mut w.tree);
            system.tree.forward_dynamics(&force, &mut w.tree, &mut a);
            a
        };
        let (a, b) = (solve(&near), solve(&far));
        let scale = largest(&a).max(1.0);
        assert!(a.iter().zip(&b).all(|(x, y)| (x - y).abs() < 1e-9 * scale), "{a:?} {b:?}");
    }
}

#[test]
fn a_free_tree_that_has_gone_far_moves_as_one_near_the_origin() {
    let mut rng = Rng::seed_from_u64(2100);
    let mut m = Mechanism::new("probe");
    for i in 0..4_u32 {
        let (place, mass) = (place(&mut rng), body(&mut rng));
        let (parent, joint) = match i {
            0 => (GROUND, Joint::Free),
            _ => (Link(i - 1), joint(&mut rng, 6)),
        };
        m.add(&format!("part-{i}"), parent, joint, place, Some(mass));
    }
    let system = m.build(GRAVITY).unwrap();
    let (mut q, v) = random_state(&mut rng, &system);
    let (mut w, mut near, mut far) = (system.scratch(), vec![0.0; v.len()], vec![0.0; v.len()]);
    for (shift, a) in [(0.0, &mut near), (3e4, &mut far)] {
        q[..3].iter_mut().for_each(|x| *x += shift);
        system.tree.kinematics(&q, &mut w.tree);
        system.tree.motion(&v, &mut w.tree);
        system.tree.forward_dynamics(&vec![0.0; v.len()], &mut w.tree, a);
    }
    let scale = largest(&near).max(1.0);
    assert!(near.iter().zip(&far).all(|(x, y)| (x - y).abs() < 1e-9 * scale), "{near:?} {far:?}");
}

/// A spatial mechanism with one loop between two chains, closed in the position from which it was made. Returned with the
/// positions of its joints there.
fn random_loop(rng: &mut Rng, kind: usize, on_ground: bool) -> (Mechanism, Vec<f64>) {
    let mut m = Mechanism::new("loop");
    m.base = place(rng);
    let mut chain = |m: &mut Mechanism, name: &str, kinds: &[usize]| {
        let mut on = GROUND;
        for (i, &kind) in kinds.iter().enumerate() {
            let (joint, place, mass) = (joint(rng, kind), place(rng), body(rng));
            on = m.add(&format!("{name}-{i}"), on, joint, place, Some(mass));
        }
        on
    };
    // Enough freedom for six equations.
    let b = chain(&mut m, "b", &[0, 4, 6, 0, 1]);
    let a = if on_ground { GROUND } else { chain(&mut m, "a", &[0, 3]) };
    let free = m.build(GRAVITY).unwrap();
    let (q, _) = random_state(rng, &free);
    let mut w = free.scratch();
    free.tree.kinematics(&q, &mut w.tree);
    let frame_a = Pose { position: vector(rng, 0.5), rotation: turned(rng) };
    let held = free.pose(&w, a).compose(&frame_a);
    // Where the second frame may stand against the first one.
    let (z, length) = (Vec3::z(), 0.7);
    let (cut, apart) = match kind {
        0 => (Cut::Ball, Pose { position: Vec3::zeros(), rotation: turned(rng) }),
        1 => (
            Cut::Hinge,
            Pose { position: Vec3::zeros(), rotation: Quat::from_scaled_axis(z * 0.8) },
        ),
        2 => {
            let position = vector(rng, 1.0).normalize() * length;
            (Cut::Rod { length }, Pose { position, rotation: turned(rng) })
        }
        3 => (Cut::Prismatic, Pose { position: z * 0.4, rotation: Quat::identity() }),
        4 => (Cut::Pin, Pose { position: z * -0.3, rotation: turned(rng) }),
        _ => (Cut::Weld, Pose::IDENTITY),
    };
    let target = held.compose(&apart);
    let pose = free.pose(&w, b);
    let inverse = pose.rotation.inverse();
    let frame_b =
        Pose { position: pose.inverse_point(target.position), rotation: inverse * target.rotation };
    m.close_loop("cut", cut, Frame { link: a, pose: frame_a }, Frame { link: b, pose: frame_b });
    guess(&mut m, &free, &q);
    (m, q)
}

/// Gives positions to a description as rough start values.
fn guess(m: &mut Mechanism, system: &Multibody, q: &[f64]) {
    for c in system.coordinates() {
        if let Some(at) = system.q_of(c) {
            m.guess(c, q[at]);
        }
    }
    for link in system.links() {
        if system.joint(link) == Joint::Spherical {
            let node = &system.tree.nodes[system.node_of[link.0 as usize] as usize];
            m.start_rotation(link, Tree::quaternion(&q[node.q as usize..node.q as usize + 4]));
        }
    }
}

/// Random loops of every kind, with a state off the closed position.
fn loops(mut look: impl FnMut(&Multibody, &mut Rng, &[f64], &[f64])) {
    for kind in 0..6 {
        for seed in 0..12 {
            let mut rng = Rng::seed_from_u64(3000 + 100 * kind as u64 + seed);
            let (m, _) = random_loop(&mut rng, kind, seed % 2 == 0);
            let system = m.build(GRAVITY).unwrap_or_else(|e| panic!("{kind} {seed}: {e}"));
            let (q, v) = random_state(&mut rng, &system);
            look(&system, &mut rng, &q, &v);
        }
    }
}

fn residual(system: &Multibody, q: &[f64]) -> DVector<f64> {
    let mut w = system.scratch();
    system.loop_residual(q, &mut w);
    DVector::from_vec(w.residual)
}

fn jacobian(system: &Multibody, q: &[f64]) -> DMatrix<f64> {
    let mut w = system.scratch();
    system.tree.kinematics(q, &mut w.tree);
    system.fill_jacobian(&mut w);
    DMatrix::from_row_slice(system.n_rows, system.n_v(), &w.jacobian)
}

#[test]
fn the_loop_jacobian_is_the_gradient_of_the_residual() {
    loops(|system, _, q, _| {
        let j = jacobian(system, q);
        for c in 0..system.n_v() {
            let mut direction = vec![0.0; system.n_v()];
            direction[c] = 1.0;
            let at = |h: f64| {
                let mut moved = q.to_vec();
                system.tree.integrate(q, &direction, h, &mut moved);
                residual(system, &moved)
            };
            let rate = (at(H) - at(-H)) / (2.0 * H);
            assert!((rate - j.column(c)).abs().max() < 1e-8, "column {c}");
        }
    });
}

#[test]
fn the_loop_drift_is_the_rate_of_the_loop_jacobian_times_the_velocity() {
    loops(|system, _, q, v| {
        let mut w = system.scratch();
        system.tree.kinematics(q, &mut w.tree);
        system.tree.motion(v, &mut w.tree);
        let mut drift = vec![0.0; system.n_rows];
        system.closures[0].drift(&system.tree, &w.tree, &mut drift);
        let v = DVector::from_column_slice(v);
        let at = |h: f64| {
            let mut moved = q.to_vec();
            system.tree.integrate(q, v.as_slice(), h, &mut moved);
            jacobian(system, &moved) * &v
        };
        let rate = (at(H) - at(-H)) / (2.0 * H);
        let scale = 1.0 + largest(&drift);
        assert!((rate - DVector::from_vec(drift)).abs().max() < 1e-7 * scale);
    });
}

#[test]
fn loops_close_from_a_rough_guess() {
    for kind in 0..6 {
        for seed in 0..12 {
            let mut rng = Rng::seed_from_u64(4000 + 100 * kind as u64 + seed);
            let (mut m, q) = random_loop(&mut rng, kind, seed % 2 == 0);
            let system = m.build(GRAVITY).unwrap();
            let off: Vec<f64> = (0..system.n_v()).map(|_| rng.random_range(-0.2..0.2)).collect();
            let mut rough = q.clone();
            system.tree.integrate(&q, &off, 1.0, &mut rough);
            guess(&mut m, &system, &rough);
            let system = m.build(GRAVITY).unwrap_or_else(|e| panic!("{kind} {seed}: {e}"));
            let mut w = system.scratch();
            assert!(system.loop_residual(&system.start().q, &mut w) < 1e-12 * system.size);
        }
    }
}

/// The motion at the start with random independent velocities.
fn moving(system: &Multibody, rng: &mut Rng) -> (Vec<f64>, Vec<f64>, MultibodyScratch) {
    let (q, partition) = (system.start().q.clone(), &system.start().partition);
    let mut w = system.scratch();
    let mut v: Vec<f64> = (0..system.n_v()).map(|_| rng.random_range(-1.0..1.0)).collect();
    system.tree.kinematics(&q, &mut w.tree);
    system.linearize(partition, 0.0, &mut w).unwrap();
    system.expand(partition, 0.0, &mut v, &mut w);
    system.dynamics((&q, &v), &system.start().control, partition, 0.0, None, &mut w).unwrap();
    system.reactions(partition, &mut w);
    (q, v, w)
}

#[test]
fn loop_forces_balance_the_equations_of_the_tree_and_keep_the_loops_closed() {
    loops(|system, rng, _, _| {
        let (_, v, w) = moving(system, rng);
        let n = system.n_v();
        let j = DMatrix::from_row_slice(system.n_rows, n, system.loop_jacobian(&w));
        let mass = DMatrix::from_column_slice(n, n, w.tree.mass());
        let bias = DVector::from_column_slice(w.tree.bias_force());
        let a = DVector::from_column_slice(w.acceleration());
        let force = DVector::from_column_slice(w.loop_forces());
        let drift = DVector::from_column_slice(system.loop_drift(&w));
        let left = &mass * &a + &bias - j.transpose() * &force;
        let scale = (&mass * &a).abs().max() + bias.abs().max() + force.abs().max();
        assert!(left.abs().max() < 1e-10 * scale, "M a + c = τ + Jᵀ λ: {:.1e}", left.abs().max());
        let scale = 1.0 + a.abs().max() + drift.abs().max();
        assert!((&j * DVector::from_vec(v)).abs().max() < 1e-11 * scale, "J v = 0");
        assert!((&j * &a + drift).abs().max() < 1e-10 * scale, "J a + J̇ v = 0");
    });
}

#[test]
fn every_body_obeys_newton_and_euler_under_its_joint_wrenches() {
    loops(|system, rng, _, _| {
        let (_, _, mut w) = moving(system, rng);
        let mut wrenches = Vec::new();
        system.joint_wrenches(&mut w, &mut wrenches);
        let a = DVector::from_column_slice(w.acceleration());
        for link in system.links() {
            let i = system.node_of[link.0 as usize];
            let node = &system.tree.nodes[i as usize];
            let c = system.tree.point(&w.tree, i, &node.centre);
            // What acts on the body: its joint, the joints it bears, gravity, the cut.
            let mut force = Vec3::from(GRAVITY) * node.mass;
            let mut moment = Vec3::zeros();
            for other in system.links() {
                let sign = if other == link {
                    1.0
                } else if system.parent(other) == link {
                    -1.0
                } else {
                    continue;
                };
                let (f, m) = wrenches[other.0 as usize];
                let at = system.pose(&w, other).position;
                force += f * sign;
                moment += (m + (at - c).cross(&f)) * sign;
            }
            let cut = &system.closures[0];
            for (body, sign) in [(cut.b.body, 1.0), (cut.a.body, -1.0)] {
                if body == i {
                    for (wrench, size) in w.wrenches.iter().zip(w.loop_forces()) {
                        let push = *wrench * (sign * size);
                        force += push.linear;
                        moment += push.angular - (c - w.tree.origin).cross(&push.linear);
                    }
                }
            }
            let n = system.n_v();
            let (mut linear, mut angular) = (vec![Vec3::zeros(); n], vec![Vec3::zeros(); n]);
            system.point_jacobian(&w, link, node.centre, &mut linear, &mut angular);
            let mut acceleration = system.point_bias(&w, link, node.centre);
            let mut spin_rate = system.tree.bias_of(&w.tree, i).angular;
            for k in 0..n {
                acceleration += linear[k] * a[k];
                spin_rate += angular[k] * a[k];
            }
            let r = system.tree.rotation(&w.tree, i);
            let inertia: Mat3 = r * node.inertia * r.transpose();
            let spin = system.angular_velocity(&w, link);
            let (newton, euler) =
                (acceleration * node.mass, inertia * spin_rate + spin.cross(&(inertia * spin)));
            let scale =
                1.0 + wrenches.iter().fold(0.0, |m: f64, (f, t)| m.max(f.norm() + t.norm()));
            assert!((force - newton).norm() < 1e-10 * scale, "Newton: {force} {newton}");
            assert!((moment - euler).norm() < 1e-10 * scale, "Euler: {moment} {euler}");
        }
        // Asking again gives the same answer.
        let mut again = Vec::new();
        system.joint_wrenches(&mut w, &mut again);
        assert_eq!(wrenches, again);
    });
}

#[test]
fn energy_of_a_mechanism_with_a_loop_changes_by_the_power_of_its_forces() {
    loops(|system, rng, _, _| {
        let (q, v, mut w) = moving(system, rng);
        let a = w.acceleration().to_vec();
        let mut energy = |h: f64| {
            let (q, v) = later(&system.tree, &q, &v, &a, h);
            let (kinetic, potential) = system.energy(&q, &v, &mut w);
            kinetic + potential
        };
        // Off the loop by h² only, and the forces of the loop do no work.
        let h = H / (1.0 + largest(&a)).sqrt();
        let rate = (energy(h) - energy(-h)) / (2.0 * h);
        let scale = 1.0 + energy(0.0).abs() + largest(&a);
        assert!(rate.abs() < 1e-6 * scale, "{rate:.1e}");
    });
}

#[test]
fn wrenches_on_bodies_act_along_the_axes_they_are_given_in() {
    let mut rng = Rng::seed_from_u64(77);
    for in_body in [false, true] {
        let mut m = random_tree(&mut rng, 5);
        let (link, point) = (Link(4), [0.1, -0.2, 0.3]);
        let values: Vec<f64> = (0..6).map(|_| rng.random_range(-3.0..3.0)).collect();
        let phase = Phase {
            latch: Vec::new(),
            values: values.iter().map(|x| Signal::constant(*x)).collect(),
            until: None,
        };
        m.push("push", link, point, in_body, vec![phase]);
        let system = m.build([0.0; 3]).unwrap();
        let (q, _) = random_state(&mut rng, &system);
        let mut w = system.scratch();
        let control = Control { phase: vec![0], latched: Vec::new() };
        let n = system.n_v();
        system.tree.kinematics(&q, &mut w.tree);
        system.linearize(&system.start().partition, 0.0, &mut w).unwrap();
        system
            .dynamics((&q, &vec![0.0; n]), &control, &system.start().partition, 0.0, None, &mut w)
            .unwrap();
        let pose = system.pose(&w, link);
        let (mut f, mut t) =
            (Vec3::from_row_slice(&values[..3]), Vec3::from_row_slice(&values[3..]));
        if in_body {
            (f, t) = (pose.vector(f), pose.vector(t));
        }
        let (mut linear, mut angular) = (vec![Vec3::zeros(); n], vec![Vec3::zeros(); n]);
        system.point_jacobian(&w, link, Vec3::from(point), &mut linear, &mut angular);
        for c in 0..n {
            let expected = linear[c].dot(&f) + angular[c].dot(&t);
            assert!(close(-w.tree.bias_force()[c], expected, 1e-12));
        }
    }
}

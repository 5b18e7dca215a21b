//! Random trees, loops and states for the tests of this module, and tools for measuring them.
//!
//! Finite differences are central; a step of 1e-5 gives truncation errors of 1e-10 and rounding
//! errors of 1e-11 for values near 1, and the tolerances of 1e-7 leave room for trees with large
//! velocities.

use super::closure::Cut;
use super::joint::{Axis, Joint};
use super::mechanism::{GROUND, Link, Marker, Mechanism};
use super::system::{Multibody, MultibodyScratch};
use super::tree::{Spatial, Tree};
pub(super) use crate::math::fixtures::{Rng, largest, numbers, rotation, seeded, vector};
use crate::math::{Pose, Quat, Vec3};
use crate::shape::MassProperties;
use nalgebra::{DMatrix, DVector};
use rand::RngExt;

pub(super) const GRAVITY: [f64; 3] = [0.6, -1.1, -9.7];
/// Step of the differences [s].
pub(super) const H: f64 = 1e-5;

pub(super) fn axis(rng: &mut Rng) -> Axis {
    Axis(vector(rng, 1.0) + Vec3::new(0.0, 0.0, 0.1))
}

pub(super) fn place(rng: &mut Rng) -> Pose {
    // A third of the joints are not rotated relative to their parent, as in most machines.
    let rotation = if rng.random_range(0..3) == 0 { Quat::identity() } else { rotation(rng) };
    Pose { position: vector(rng, 0.6), rotation }
}

/// A body with a physically possible inertia tensor.
pub(super) fn body(rng: &mut Rng) -> MassProperties {
    let mass = rng.random_range(0.2..3.0);
    let sides = Vec3::from_fn(|_, _| rng.random_range(0.1..1.0_f64)).map(|x| x * x);
    let moments =
        Vec3::new(sides.y + sides.z, sides.x + sides.z, sides.x + sides.y) * (mass / 12.0);
    let solid = MassProperties::principal(mass, [0.0; 3], moments.into());
    solid.moved(&Pose { position: vector(rng, 0.4), rotation: rotation(rng) })
}

pub(super) fn joint(rng: &mut Rng, kind: usize) -> Joint {
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

/// A tree with joints of all kinds. Massless bodies are on joints with at most one coordinate, and
/// their children have a mass and are not free, so that every coordinate has inertia.
pub(super) fn random_tree(rng: &mut Rng, bodies: usize) -> Mechanism {
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
pub(super) fn random_state(rng: &mut Rng, system: &Multibody) -> (Vec<f64>, Vec<f64>) {
    let n = system.n_v();
    let mut random =
        |size: f64| -> Vec<f64> { (0..n).map(|_| rng.random_range(-size..size)).collect() };
    let mut q = system.start().q.clone();
    system.tree.integrate(&system.start().q, &random(2.0), 1.0, &mut q);
    (q, random(1.5))
}

/// Tree, state and scratch with the motion at the state.
pub(super) struct Sample {
    pub(super) system: Multibody,
    pub(super) w: MultibodyScratch,
    pub(super) q: Vec<f64>,
    pub(super) v: Vec<f64>,
    pub(super) rng: Rng,
}

pub(super) fn samples() -> impl Iterator<Item = Sample> {
    (0..80).map(|seed| {
        let mut rng = seeded(seed);
        let system = random_tree(&mut rng, 1 + seed as usize % 9).build(GRAVITY).unwrap();
        let (q, v) = random_state(&mut rng, &system);
        let mut w = system.scratch();
        system.tree.kinematics(&q, &mut w.tree);
        system.tree.motion(&v, &mut w.tree);
        Sample { system, w, q, v, rng }
    })
}

impl Sample {
    pub(super) fn random(&mut self, size: f64) -> Vec<f64> {
        (0..self.system.n_v()).map(|_| self.rng.random_range(-size..size)).collect()
    }

    /// Applies external wrenches to all bodies.
    pub(super) fn push(&mut self) {
        for wrench in &mut self.w.tree.wrench {
            *wrench =
                Spatial { angular: vector(&mut self.rng, 5.0), linear: vector(&mut self.rng, 5.0) };
        }
    }

    /// Jacobians of the centre of mass of a body.
    pub(super) fn jacobians(&self, link: Link, point: Vec3) -> (DMatrix<f64>, DMatrix<f64>) {
        let n = self.system.n_v();
        let (mut linear, mut angular) = (vec![Vec3::zeros(); n], vec![Vec3::zeros(); n]);
        self.system.point_jacobian(&self.w, link, point, &mut linear, &mut angular);
        (DMatrix::from_fn(3, n, |i, c| linear[c][i]), DMatrix::from_fn(3, n, |i, c| angular[c][i]))
    }
}

pub(super) fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * (1.0 + a.abs().max(b.abs()))
}

/// Positions and velocities after a short time of constant acceleration.
pub(super) fn later(tree: &Tree, q: &[f64], v: &[f64], a: &[f64], h: f64) -> (Vec<f64>, Vec<f64>) {
    let middle: Vec<f64> = v.iter().zip(a).map(|(v, a)| v + 0.5 * h * a).collect();
    let mut next = q.to_vec();
    tree.integrate(q, &middle, h, &mut next);
    (next, v.iter().zip(a).map(|(v, a)| v + h * a).collect())
}

/// A spatial mechanism with one loop between two chains, closed in the position from which it was
/// generated. Returned with the positions of its joints there.
pub(super) fn random_loop(rng: &mut Rng, kind: usize, on_ground: bool) -> (Mechanism, Vec<f64>) {
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
    // Enough degrees of freedom for six equations.
    let b = chain(&mut m, "b", &[0, 4, 6, 0, 1]);
    let a = if on_ground { GROUND } else { chain(&mut m, "a", &[0, 3]) };
    let free = m.build(GRAVITY).unwrap();
    let (q, _) = random_state(rng, &free);
    let mut w = free.scratch();
    free.tree.kinematics(&q, &mut w.tree);
    let frame_a = Pose { position: vector(rng, 0.5), rotation: rotation(rng) };
    let held = free.pose(&w, a).compose(&frame_a);
    // Admissible pose of the second frame relative to the first.
    let (z, length) = (Vec3::z(), 0.7);
    let (cut, apart) = match kind {
        0 => (Cut::Ball, Pose { position: Vec3::zeros(), rotation: rotation(rng) }),
        1 => (
            Cut::Hinge,
            Pose { position: Vec3::zeros(), rotation: Quat::from_scaled_axis(z * 0.8) },
        ),
        2 => {
            let position = vector(rng, 1.0).normalize() * length;
            (Cut::Rod { length }, Pose { position, rotation: rotation(rng) })
        }
        3 => (Cut::Prismatic, Pose { position: z * 0.4, rotation: Quat::identity() }),
        4 => (Cut::Pin, Pose { position: z * -0.3, rotation: rotation(rng) }),
        _ => (Cut::Weld, Pose::IDENTITY),
    };
    let target = held.compose(&apart);
    let pose = free.pose(&w, b);
    let inverse = pose.rotation.inverse();
    let frame_b =
        Pose { position: pose.inverse_point(target.position), rotation: inverse * target.rotation };
    m.close_loop("cut", cut, Marker { link: a, pose: frame_a }, Marker { link: b, pose: frame_b });
    guess(&mut m, &free, &q);
    (m, q)
}

/// Sets positions in a description as rough start values.
pub(super) fn guess(m: &mut Mechanism, system: &Multibody, q: &[f64]) {
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

/// Random loops of every kind, with a state away from the closed position.
pub(super) fn loops(mut look: impl FnMut(&Multibody, &mut Rng, &[f64], &[f64])) {
    for kind in 0..6 {
        for seed in 0..12 {
            let mut rng = seeded(3000 + 100 * kind as u64 + seed);
            let (m, _) = random_loop(&mut rng, kind, seed % 2 == 0);
            let system = m.build(GRAVITY).unwrap_or_else(|e| panic!("{kind} {seed}: {e}"));
            let (q, v) = random_state(&mut rng, &system);
            look(&system, &mut rng, &q, &v);
        }
    }
}

pub(super) fn residual(system: &Multibody, q: &[f64]) -> DVector<f64> {
    let mut w = system.scratch();
    system.loop_residual(q, &mut w);
    DVector::from_vec(w.residual)
}

pub(super) fn jacobian(system: &Multibody, q: &[f64]) -> DMatrix<f64> {
    let mut w = system.scratch();
    system.tree.kinematics(q, &mut w.tree);
    system.fill_jacobian(&mut w);
    DMatrix::from_row_slice(system.n_rows, system.n_v(), &w.jacobian)
}

/// The motion at the start with random independent velocities.
pub(super) fn moving(system: &Multibody, rng: &mut Rng) -> (Vec<f64>, Vec<f64>, MultibodyScratch) {
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

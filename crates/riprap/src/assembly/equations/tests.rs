//! Gradients and second derivatives of constraints, and tangents of free bodies, against central
//! differences.

use super::*;
use crate::math::fixtures::{Rng, rotation, seeded, vector};
use crate::prelude::*;
use rand::RngExt;

/// Step of the differences.
const H: f64 = 1e-5;

fn solid(rng: &mut Rng, at: Vec3) -> BodyDescription {
    let rock = Material::new("rock").density(2700.0);
    let sides = [0; 3].map(|_| rng.random_range(0.1..0.5));
    let body = BodyDescription::new(Shape::cuboid(sides).unwrap(), &rock);
    body.at(at.into()).turned(rotation(rng))
}

/// Two bodies and a mechanism with a loop, connected by joints of all kinds, at a random state.
struct Sample {
    scene: Scene,
    e: Equations,
    at: Configuration,
    v: Vec<f64>,
    moving: Vec<Twist>,
    state: State,
}

fn sample(seed: u64, hold: Hold, cut: Cut) -> Sample {
    let mut rng = seeded(seed);
    let rock = Material::new("rock").density(2700.0);
    let mut scene = Scene::builder();
    let frame = Pose { position: vector(&mut rng, 1.0), rotation: rotation(&mut rng) };
    let places = [Vec3::new(9.0, 0.0, 0.0), Vec3::new(0.0, 9.0, 0.0)];
    let bodies = places.map(|p| {
        let at = p + vector(&mut rng, 1.0);
        solid(&mut rng, at)
    });
    let poses = [bodies[0].pose, bodies[1].pose];
    let [a, b] = bodies.map(|b| scene.add(b, &rock));
    scene.add_joint(BodyJoint::at(
        "joint",
        hold,
        frame,
        (a.into(), poses[0]),
        (b.into(), poses[1]),
    ));
    scene.add_joint(BodyJoint::at(
        "pin",
        Hold::Hinge,
        frame,
        (On::World, Pose::IDENTITY),
        (b.into(), poses[1]),
    ));
    let mut m = Mechanism::new("arm");
    let mass = |rng: &mut Rng| MassProperties::principal(1.0, vector(rng, 0.3).into(), [0.1; 3]);
    let base =
        m.add("base", GROUND, Joint::Spherical, Pose::at([-9.0, 0.0, 0.0]), Some(mass(&mut rng)));
    let upper = m.revolute(base, Axis::Y, [0.5, 0.1, 0.0], mass(&mut rng));
    let other =
        m.add("other", GROUND, Joint::Free, Pose::at([-9.0, 1.0, 0.0]), Some(mass(&mut rng)));
    let ends = (Marker::at(upper, [0.4, 0.0, 0.1]), Marker::at(other, [0.1, 0.2, 0.3]));
    m.close_loop("cut", cut, ends.0, ends.1);
    scene.add_mechanism(m);
    let scene = scene.build().unwrap();
    let (e, state) = (Equations::new(&scene), scene.initial_state());
    let (mut at, mut v) = (Configuration::default(), Vec::new());
    e.read(&scene, &state, &mut at, &mut v);
    let dx: Vec<f64> = (0..e.n_v()).map(|_| rng.random_range(-0.3..0.3)).collect();
    let mut moved = Configuration::default();
    e.retract(&scene, &at, &dx, 0.0, &mut moved);
    let v = (0..e.n_v()).map(|_| rng.random_range(-1.0..1.0)).collect();
    let moving = vec![Twist::default(); scene.bodies().len()];
    Sample { scene, e, at: moved, v, moving, state }
}

fn samples() -> impl Iterator<Item = Sample> {
    let holds = [Hold::Ball, Hold::Hinge, Hold::Slider, Hold::Weld];
    let cuts = [Cut::Ball, Cut::Hinge, Cut::Rod { length: 0.7 }, Cut::Prismatic, Cut::Weld];
    (0..20).map(move |k| sample(k, holds[k as usize % 4], cuts[k as usize % 5]))
}

impl Sample {
    /// Moves one velocity's coordinate by `h`.
    fn moved(&self, l: usize, h: f64) -> Configuration {
        let mut dx = vec![0.0; self.v.len()];
        dx[l] = h;
        let mut to = Configuration::default();
        self.e.retract(&self.scene, &self.at, &dx, 0.0, &mut to);
        to
    }

    /// Residuals and full gradients of the bilateral rows at a configuration.
    fn bilateral(&mut self, at: &Configuration) -> (Vec<f64>, Vec<Vec<f64>>) {
        let mut at = at.clone();
        self.e.place(&self.scene, &mut at, &self.v, &self.moving);
        let mut b = Bilateral::new(&self.scene);
        b.choose(&self.state);
        b.evaluate(&self.scene, &at, &self.e, &self.v);
        let rows = (0..b.len())
            .map(|i| {
                let mut row = vec![0.0; self.v.len()];
                b.rows.add_to(i, 1.0, &mut row);
                row
            })
            .collect();
        (b.residual, rows)
    }
}

#[test]
fn gradients_and_second_derivatives_of_constraints_agree_with_differences() {
    for mut s in samples() {
        let at = s.at.clone();
        let (_, rows) = s.bilateral(&at);
        assert!(rows.len() >= 9);
        let n = s.v.len();
        let mut at_now = at.clone();
        s.e.place(&s.scene, &mut at_now, &s.v.clone(), &s.moving.clone());
        let mut b = Bilateral::new(&s.scene);
        b.choose(&s.state);
        b.evaluate(&s.scene, &at_now, &s.e, &s.v);
        let mut second = vec![vec![0.0; n * n]; rows.len()];
        for (i, second) in second.iter_mut().enumerate() {
            b.second(&s.scene, &at_now, &s.e, i, |k, l, d| second[k * n + l] += d);
            assert!(!b.name(&s.scene, i).is_empty());
        }
        for l in 0..n {
            let (plus, minus) = (s.moved(l, H), s.moved(l, -H));
            let (gp, rp) = s.bilateral(&plus);
            let (gm, rm) = s.bilateral(&minus);
            for i in 0..rows.len() {
                let slope = (gp[i] - gm[i]) / (2.0 * H);
                // Central differences of lengths near 1.
                assert!((slope - rows[i][l]).abs() < 1e-8, "row {i}, {l}: {slope} {}", rows[i][l]);
                for k in 0..n {
                    let change = (rp[i][k] - rm[i][k]) / (2.0 * H);
                    let found = second[i][k * n + l];
                    assert!((change - found).abs() < 1e-7, "row {i}, {k}, {l}: {change} {found}");
                }
            }
        }
    }
}

#[test]
fn tangents_of_a_whole_scene_agree_with_differences() {
    for mut s in samples().take(6) {
        let (n, at) = (s.v.len(), s.at.clone());
        let mut rng = seeded(7);
        let a: Vec<f64> = (0..n).map(|_| rng.random_range(-2.0..2.0)).collect();
        let mut controls = Vec::new();
        switch_controls(&s.scene, &s.state, &mut controls);
        let residual = |s: &mut Sample, at: &Configuration, v: &[f64], groups: &mut Groups| {
            let mut at = at.clone();
            s.e.place(&s.scene, &mut at, v, &s.moving);
            groups.evaluate(&s.scene, &mut s.e, &at, (v, &a), (0.0, &controls), true);
            groups.residual.clone()
        };
        let (mut groups, mut other) = (Groups::default(), Groups::default());
        let v = s.v.clone();
        residual(&mut s, &at, &v, &mut groups);
        for l in 0..n {
            let mut unit = vec![0.0; n];
            unit[l] = 1.0;
            let (mut k, mut c) = (vec![0.0; n], vec![0.0; n]);
            groups.multiply_stiffness(&s.e, &unit, 1.0, &mut k);
            groups.multiply_damping(&s.e, &unit, 1.0, &mut c);
            let sides = [H, -H].map(|h| s.moved(l, h));
            let [plus, minus] = sides.map(|side| residual(&mut s, &side, &v, &mut other));
            let speeds = [H, -H].map(|h| {
                let mut v = v.clone();
                v[l] += h;
                v
            });
            let [faster, slower] = speeds.map(|v| residual(&mut s, &at, &v, &mut other));
            for i in 0..n {
                // Masses of up to several hundred kilograms.
                let (by_q, by_v) =
                    ((plus[i] - minus[i]) / (2.0 * H), (faster[i] - slower[i]) / (2.0 * H));
                assert!((by_q - k[i]).abs() < 1e-5, "K {i} {l}: {by_q} {}", k[i]);
                assert!((by_v - c[i]).abs() < 1e-5, "C {i} {l}: {by_v} {}", c[i]);
            }
        }
    }
}

#[test]
fn a_state_is_read_and_written_back_unchanged() {
    for mut s in samples().take(5) {
        let (mut at, mut v) = (Configuration::default(), Vec::new());
        s.e.read(&s.scene, &s.state, &mut at, &mut v);
        s.e.place(&s.scene, &mut at, &v, &s.moving);
        let mut written = s.state.clone();
        s.e.write(&s.scene, &at, &v, &mut written);
        for (a, b) in written.q.iter().zip(&s.state.q) {
            assert!((a.position - b.position).norm() < 1e-14);
        }
        assert_eq!(written.mechanisms, s.state.mechanisms);
        assert!(s.e.name(&s.scene, 0).starts_with("body `"));
        assert!(s.e.name(&s.scene, s.e.n_v() - 1).contains("of mechanism `arm`"));
    }
}

#[test]
fn prescribed_bodies_follow_their_laws() {
    let rock = Material::new("rock").density(2700.0);
    let mut scene = Scene::builder();
    let shape = || Shape::sphere(0.1).unwrap();
    let position = Motion::Position {
        linear: Law::new(|t| Vec3::new(t * t, 0.0, 0.0)),
        angular: Law::constant([0.0, 0.0, 2.0]),
    };
    let velocity = Motion::Velocity {
        linear: Law::new(|t| Vec3::new(0.0, 2.0 * t, 0.0)),
        angular: Law::constant([0.0; 3]),
    };
    scene.add(BodyDescription::new(shape(), &rock).at([0.0, 0.0, 9.0]), &rock);
    scene.add(BodyDescription::new(shape(), &rock).moving(position), &rock);
    scene.add(BodyDescription::new(shape(), &rock).at([5.0, 0.0, 0.0]).moving(velocity), &rock);
    let scene = scene.build().unwrap();
    let (mut q, mut twists) = (scene.initial_state().q, Vec::new());
    for step in 0..100 {
        move_prescribed(&scene, 0.01 * f64::from(step), 0.01, &mut q, &mut twists);
    }
    // Both laws are quadratic in time: exact by the midpoint rule and by central differences.
    assert!((q[1].position.x - 1.0).abs() < 1e-12 && (q[2].position.y - 1.0).abs() < 1e-12);
    assert!((q[1].rotation.angle() - 2.0).abs() < 1e-9);
    assert!((twists[1].linear.x - 2.0).abs() < 1e-9 && (twists[2].linear.y - 2.0).abs() < 1e-12);
}

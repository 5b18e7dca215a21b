//! Tangents against central differences of the residual.

use super::super::fixtures::*;
use super::super::{
    GROUND, Joint, JointSpring, Link, Marker, Mechanism, Phase, PointSpring, Signal, Stops,
};
use super::*;
use crate::math::Pose;
use rand::RngExt;

/// Residual of a mechanism, at positions moved by `dq` and velocities changed by `dv`.
fn moved(
    system: &Multibody,
    (q, v, a): (&[f64], &[f64], &[f64]),
    control: &Control,
    dq: &[f64],
    dv: &[f64],
) -> Vec<f64> {
    let mut w = system.scratch();
    let mut at = q.to_vec();
    system.tree.integrate(q, dq, 1.0, &mut at);
    let speed: Vec<f64> = v.iter().zip(dv).map(|(v, d)| v + d).collect();
    let mut out = vec![0.0; v.len()];
    system.tree.kinematics(&at, &mut w.tree);
    system.tree.motion(&speed, &mut w.tree);
    system.unbalance((&at, &speed, a), control, 0.3, &mut w, &mut out);
    out
}

/// Largest difference between the tangents and central differences, relative to their size.
fn error(system: &Multibody, q: &[f64], v: &[f64], a: &[f64]) -> f64 {
    let n = system.n_v();
    let control = system.start().control.clone();
    let (mut w, mut x) = (system.scratch(), TangentScratch::default());
    let (mut k, mut c, mut r) = (vec![0.0; n * n], vec![0.0; n * n], vec![0.0; n]);
    let state = (q, v, a);
    system.tree.kinematics(q, &mut w.tree);
    system.tree.motion(v, &mut w.tree);
    system.unbalance(state, &control, 0.3, &mut w, &mut r);
    system.tangents(state, &control, 0.3, &mut w, &mut x, &mut k, &mut c);
    let size = k.iter().chain(&c).fold(1.0, |m: f64, x| m.max(x.abs()));
    let zero = vec![0.0; n];
    let mut worst = 0.0_f64;
    for l in 0..n {
        let unit = |h: f64| -> Vec<f64> { (0..n).map(|i| if i == l { h } else { 0.0 }).collect() };
        for (matrix, by_q) in [(&k, true), (&c, false)] {
            let side = |h: f64| match by_q {
                true => moved(system, state, &control, &unit(h), &zero),
                false => moved(system, state, &control, &zero, &unit(h)),
            };
            let (plus, minus) = (side(H), side(-H));
            for j in 0..n {
                let expected = (plus[j] - minus[j]) / (2.0 * H);
                worst = worst.max((matrix[j * n + l] - expected).abs() / size);
            }
        }
    }
    worst
}

#[test]
fn inertial_tangents_agree_with_differences_on_random_trees() {
    for mut s in samples() {
        let a = s.random(5.0);
        let found = error(&s.system, &s.q, &s.v, &a);
        // Central differences of forces of up to a few hundred newtons.
        assert!(found < 1e-7, "{found:.1e}");
    }
}

#[test]
fn tangents_of_all_force_elements_agree_with_differences() {
    for seed in 0..40 {
        let mut rng = seeded(900 + seed);
        let mut m = random_tree(&mut rng, 2 + seed as usize % 6);
        let bodies = 2 + seed as u32 % 6;
        let link = |rng: &mut Rng| match rng.random_range(0..bodies + 1) {
            0 => GROUND,
            i => Link(i - 1),
        };
        let line = PointSpring::Line { stiffness: 40.0, damping: 3.0, length: 0.3 };
        let bushing = PointSpring::Bushing { stiffness: 25.0, damping: 2.0 };
        for (k, spring) in [line, bushing, line].into_iter().enumerate() {
            let (a, b) = (link(&mut rng), link(&mut rng));
            let at = |rng: &mut Rng, l: Link| Marker::at(l, vector(rng, 0.7).into());
            let (a, b) = (at(&mut rng, a), at(&mut rng, b));
            m.point_spring(&format!("s{k}"), spring, a, b);
        }
        for in_body in [true, false] {
            let signal = |k: usize| {
                Signal::new(move |x: &Inputs| {
                    1.0 + k as f64 + 0.5 * x.v[0] * x.v[0] + 0.2 * (x.v[x.v.len() - 1] * x.t).sin()
                })
            };
            let phase =
                Phase { latch: Vec::new(), values: (0..6).map(signal).collect(), until: None };
            let on = Link(rng.random_range(0..bodies));
            m.push(&format!("push-{in_body}"), on, [0.1, 0.2, -0.3], in_body, vec![phase]);
        }
        let Ok(system) = m.build(GRAVITY) else { continue };
        let (q, v) = random_state(&mut rng, &system);
        let a: Vec<f64> = (0..system.n_v()).map(|_| rng.random_range(-3.0..3.0)).collect();
        let found = error(&system, &q, &v, &a);
        // Laws are differentiated numerically as well.
        assert!(found < 2e-7, "seed {seed}: {found:.1e}");
    }
}

#[test]
fn springs_dampers_and_stops_of_coordinates_are_on_the_diagonal() {
    let mut m = Mechanism::new("slide");
    let mass = crate::shape::MassProperties::principal(2.0, [0.0; 3], [0.1; 3]);
    let slide =
        m.add("slide", GROUND, Joint::Prismatic(super::super::Axis::X), Pose::IDENTITY, Some(mass));
    let c = m.coordinate(slide, 0);
    m.spring(c, JointSpring { stiffness: 7.0, rest: 0.1, damping: 0.5 });
    m.stops(c, Stops { lower: -1.0, upper: 1.0, stiffness: 100.0, damping: 3.0 });
    let system = m.build([0.0; 3]).unwrap();
    for (q, v) in [(0.5, 1.0), (1.2, 0.3), (1.2, -50.0), (-1.5, 0.2)] {
        assert!(error(&system, &[q], &[v], &[0.7]) < 1e-8, "{q} {v}");
    }
}

#[test]
fn the_ground_has_no_columns() {
    let mut rng = seeded(5);
    let system = random_tree(&mut rng, 3).build(GRAVITY).unwrap();
    let w = system.scratch();
    assert_eq!(system.node(GROUND), NONE);
    assert_eq!(system.columns_at(&w, NONE, Vec3::zeros()).count(), 0);
}

//! Springs, dampers, stops and laws: forces are gradients of energies, dampers only dissipate,
//! phases follow each other.

use super::*;
use crate::multibody::fixtures::*;
use crate::multibody::{GROUND, Link, Marker, Mechanism, Multibody, MultibodyScratch};
use nalgebra::DVector;

/// A random tree with a spring and stops on every scalar coordinate, and springs of both kinds between its bodies.
fn loaded(rng: &mut Rng, damping: f64) -> Mechanism {
    use rand::RngExt;
    let mut m = random_tree(rng, 5);
    for c in (0..m.coordinates.len() as u32).map(crate::multibody::Coordinate) {
        if m.q_index(c).is_some() {
            let stiffness = rng.random_range(1.0..20.0);
            m.spring(c, JointSpring { stiffness, rest: 0.3, damping });
            // Limits that a random position sometimes exceeds.
            m.stops(c, Stops { lower: -0.7, upper: 0.8, stiffness: 35.0, damping });
        } else {
            m.spring(c, JointSpring { stiffness: 0.0, rest: 0.0, damping });
        }
    }
    let frame = |link, rng: &mut Rng| Marker::at(link, vector(rng, 0.5).into());
    let line = PointSpring::Line { stiffness: 12.0, damping, length: 0.4 };
    let bushing = PointSpring::Bushing { stiffness: 8.0, damping };
    for (k, spring) in [line, bushing, line, bushing].into_iter().enumerate() {
        let a = if k < 2 { GROUND } else { Link(k as u32 - 2) };
        let (a, b) = (frame(a, rng), frame(Link(4), rng));
        m.point_spring(&format!("spring-{k}"), spring, a, b);
    }
    m
}

/// Generalized forces of all elements, without gravity, `τ + Σ Jᵀ wrench`, at a state.
fn forces(system: &Multibody, q: &[f64], v: &[f64], w: &mut MultibodyScratch) -> DVector<f64> {
    let control = system.start().control.clone();
    let inputs = Inputs { t: 0.0, q, v, latched: &control.latched };
    system.tree.kinematics(q, &mut w.tree);
    system.tree.motion(v, &mut w.tree);
    system.forces.evaluate(&system.tree, &inputs, &control, &mut w.tree, &mut w.applied);
    let mut sum = DVector::from_column_slice(&w.applied);
    for (body, wrench) in w.tree.wrench.iter().enumerate() {
        for c in system.tree.path(body as u32) {
            sum[c] += w.tree.columns[c].dot(wrench);
        }
    }
    sum
}

#[test]
fn forces_at_rest_are_minus_the_gradient_of_the_stored_energy() {
    for seed in 0..25 {
        let mut rng = seeded(600 + seed);
        let system = loaded(&mut rng, 2.0).build([0.0; 3]).unwrap();
        let (q, _) = random_state(&mut rng, &system);
        let (n, mut w) = (system.n_v(), system.scratch());
        let found = forces(&system, &q, &vec![0.0; n], &mut w);
        for c in 0..n {
            let mut direction = vec![0.0; n];
            direction[c] = 1.0;
            let mut energy = |h: f64| {
                let mut moved = q.clone();
                system.tree.integrate(&q, &direction, h, &mut moved);
                system.tree.kinematics(&moved, &mut w.tree);
                system.forces.potential(&system.tree, &moved, &w.tree)
            };
            let slope = (energy(H) - energy(-H)) / (2.0 * H);
            // Energies of up to 1e3 J have relative rounding errors of 1e-16, divided by a
            // difference of 1e-5.
            assert!((slope + found[c]).abs() < 1e-7 * (1.0 + slope.abs()), "{slope} {}", found[c]);
        }
    }
}

#[test]
fn dampers_dissipate_the_expected_power_and_never_supply_any() {
    for seed in 0..25 {
        let mut rng = seeded(700 + seed);
        let mut m = random_tree(&mut rng, 5);
        let damping = 3.0;
        let mut expected = 0.0;
        let n = m.coordinates.len();
        for c in (0..n as u32).map(crate::multibody::Coordinate) {
            m.spring(c, JointSpring { stiffness: 0.0, rest: 0.0, damping });
        }
        let (a, b) = (vector(&mut rng, 0.5), vector(&mut rng, 0.5));
        let line = PointSpring::Line { stiffness: 0.0, damping, length: 1.0 };
        let bushing = PointSpring::Bushing { stiffness: 0.0, damping };
        for spring in [line, bushing] {
            m.point_spring(
                "",
                spring,
                Marker::at(Link(1), a.into()),
                Marker::at(Link(3), b.into()),
            );
        }
        let system = m.build([0.0; 3]).unwrap();
        let (q, v) = random_state(&mut rng, &system);
        let mut w = system.scratch();
        let power = forces(&system, &q, &v, &mut w).dot(&DVector::from_column_slice(&v));
        expected -= damping * v.iter().map(|v| v * v).sum::<f64>();
        let ((pa, va), (pb, vb)) = (system.point(&w, Link(1), a), system.point(&w, Link(3), b));
        let along = (pb - pa).normalize().dot(&(vb - va));
        expected -= damping * (along * along + (vb - va).norm_squared());
        assert!((power - expected).abs() < 1e-11 * expected.abs(), "{power} {expected}");
        assert!(power <= 0.0);
    }
}

#[test]
fn a_spring_between_two_bodies_pulls_both_equally() {
    for seed in 0..20 {
        let mut rng = seeded(800 + seed);
        let mut m = random_tree(&mut rng, 4);
        let line = PointSpring::Line { stiffness: 12.0, damping: 0.7, length: 0.2 };
        let frame = |link, rng: &mut Rng| Marker::at(Link(link), vector(rng, 0.5).into());
        m.point_spring("line", line, frame(0, &mut rng), frame(3, &mut rng));
        let system = m.build([0.0; 3]).unwrap();
        let (q, v) = random_state(&mut rng, &system);
        let mut w = system.scratch();
        forces(&system, &q, &v, &mut w);
        let mut sum = Spatial::default();
        w.tree.wrench.iter().for_each(|x| sum += *x);
        // The total force and moment of the pair vanish.
        assert!(sum.linear.norm() < 1e-13 && sum.angular.norm() < 1e-13, "{sum:?}");
        // The tension is the force at either end.
        let (tension, length) = system.spring_tension(0, &w);
        let pull = w.tree.wrench[system.node_of[3] as usize].linear;
        assert!((tension.abs() - pull.norm()).abs() < 1e-12 * tension.abs());
        assert!(length > 0.0);
    }
}

#[test]
fn stops_push_inwards_beyond_their_limits_and_never_pull() {
    let stops = Stops { lower: -1.0, upper: 2.0, stiffness: 100.0, damping: 10.0 };
    assert_eq!(stops.force(0.3, 5.0), (0.0, 0.0));
    assert_eq!(stops.force(-1.5, 0.0), (50.0, 12.5));
    assert_eq!(stops.force(2.5, 0.0), (-50.0, 12.5));
    // Moving deeper, the damper adds to the force; returning fast, it would pull: then the force is
    // zero.
    assert_eq!(stops.force(2.5, 1.0).0, -60.0);
    assert_eq!(stops.force(2.5, -5.0).0, 0.0);
    assert_eq!(stops.force(2.5, -50.0).0, 0.0);
    assert_eq!(stops.force(-1.5, 50.0).0, 0.0);
    let open = Stops { lower: f64::NEG_INFINITY, ..stops };
    assert_eq!(open.force(-1e9, 0.0), (0.0, 0.0));
}

#[test]
fn a_line_spring_of_zero_length_exerts_no_force() {
    let spring = PointSpring::Line { stiffness: 10.0, damping: 1.0, length: 0.5 };
    let element = PointElement {
        name: String::new(),
        spring,
        a: (NONE, Vec3::zeros()),
        b: (NONE, Vec3::zeros()),
    };
    let (push, energy) = element.force(Vec3::zeros(), Vec3::x());
    assert_eq!((push, energy), (Vec3::zeros(), 1.25));
    // At twice its length it pulls back by k times the elongation, and the damper acts only along
    // the line.
    let (push, energy) = element.force(Vec3::x(), Vec3::new(2.0, 7.0, 0.0));
    assert!((push - Vec3::new(-7.0, 0.0, 0.0)).norm() < 1e-15);
    assert!((energy - 1.25).abs() < 1e-15);
}

fn phase(value: f64, until: Option<Until>) -> Phase {
    Phase { latch: Vec::new(), values: vec![Signal::constant(value)], until }
}

/// A law of three phases on a column: until 1 s, until the position exceeds its value at that time
/// by 2, forever.
fn sequence() -> Forces {
    let passed = Signal::new(|x| f64::from(x.q[0] > x.latched[0] + 2.0));
    let mut second = phase(2.0, Some(Until::Condition(passed)));
    second.latch = vec![(0, Signal::new(|x| x.q[0]))];
    let phases = vec![phase(1.0, Some(Until::Time(1.0))), second, phase(3.0, None)];
    let law = LawForce { name: "law".into(), target: Target::Column(0), phases };
    Forces { laws: vec![law], n_latched: 1, ..Forces::default() }
}

#[test]
fn phases_follow_each_other_by_time_and_by_conditions() {
    let forces = sequence();
    let mut control = forces.begin(0.0, &[5.0], &[0.0]);
    assert_eq!((control.phase[0], control.latched[0]), (0, 0.0));
    assert_eq!(forces.next_time(&control), 1.0);
    assert!(!forces.due(0.999, &[5.0], &[0.0], &control));
    // A sum of steps may miss the time by rounding.
    assert!(forces.due(1.0 - 1e-13, &[5.0], &[0.0], &control));
    forces.switch(1.0, &[6.0], &[0.0], &mut control);
    assert_eq!((control.phase[0], control.latched[0]), (1, 6.0));
    assert_eq!(forces.next_time(&control), f64::INFINITY);
    assert!(
        !forces.due(9.0, &[8.0], &[0.0], &control) && forces.due(9.0, &[8.1], &[0.0], &control)
    );
    forces.switch(9.0, &[8.1], &[0.0], &mut control);
    assert_eq!(control.phase[0], 2);
    // The last one never ends.
    forces.switch(99.0, &[80.0], &[0.0], &mut control);
    assert_eq!(control.phase[0], 2);
}

#[test]
fn several_phases_that_are_due_are_passed_at_once() {
    let mut forces = sequence();
    // The second condition holds as soon as its phase starts.
    let always = Until::Condition(Signal::constant(1.0));
    forces.laws[0].phases[1].until = Some(always);
    let mut control = forces.begin(0.0, &[0.0], &[0.0]);
    forces.switch(2.0, &[0.5], &[0.0], &mut control);
    assert_eq!((control.phase[0], control.latched[0]), (2, 0.5), "and it latched in passing");
}

#[test]
fn laws_see_time_positions_velocities_and_latched_values() {
    let signal = Signal::new(|x| x.t + 10.0 * x.q[1] + 100.0 * x.v[0] + 1000.0 * x.latched[2]);
    let inputs = Inputs { t: 1.0, q: &[0.0, 2.0], v: &[3.0], latched: &[0.0, 0.0, 4.0] };
    assert_eq!(signal.at(&inputs), 4321.0);
    assert_eq!(Signal::constant(7.0).at(&inputs), 7.0);
    assert_eq!(JointMotion::constant_speed(1.0, 2.0).at(3.0), [7.0, 2.0, 0.0]);
}

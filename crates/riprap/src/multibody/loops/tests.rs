//! Random spatial loops, closed by every kind of cut.

use crate::math::Pose;
use crate::multibody::fixtures::*;
use crate::multibody::{
    Axis, Coordinate, Cut, GROUND, Joint, JointMotion, Link, Marker, Mechanism, Multibody,
    Partition,
};
use crate::shape::MassProperties;
use nalgebra::DVector;
use rand::RngExt;
use std::f64::consts::PI;

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
            let mut rng = seeded(4000 + 100 * kind as u64 + seed);
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

/// A planar four-bar in the x–z plane; bars of 1 m, its crank at 1 rad.
fn four_bar() -> Mechanism {
    let mut m = Mechanism::new("four-bar");
    let rod = || Some(MassProperties::rod([1.0, 0.0, 0.0], 3.0));
    let hinge = Joint::Revolute(-Axis::Y);
    let crank = m.add("crank", GROUND, hinge, Pose::IDENTITY, rod());
    let coupler = m.add("coupler", crank, hinge, Pose::at([1.0, 0.0, 0.0]), rod());
    let rocker = m.add("rocker", GROUND, hinge, Pose::at([1.5, 0.0, 0.0]), rod());
    let end = |link| Marker::at(link, [1.0, 0.0, 0.0]).along(Axis::Y);
    m.close_loop("window", Cut::Pin, end(coupler), end(rocker));
    m.start(m.coordinate(crank, 0), 1.0);
    m.guess(m.coordinate(coupler, 0), -1.0);
    m.guess(m.coordinate(rocker, 0), 1.2);
    m
}

#[test]
fn expanded_velocities_keep_the_loops_closed() {
    loops(|system, rng, _, _| {
        let (q, partition) = (&system.start().q, &system.start().partition);
        let mut w = system.scratch();
        system.tree.kinematics(q, &mut w.tree);
        system.linearize(partition, 0.0, &mut w).unwrap();
        let mut v = numbers(rng, system.n_v(), 2.0);
        let given: Vec<f64> = partition.independent.iter().map(|c| v[*c as usize]).collect();
        system.expand(partition, 0.0, &mut v, &mut w);
        let j = jacobian(system, q);
        let scale = j.abs().max() * largest(&v);
        assert!((&j * DVector::from_column_slice(&v)).abs().max() < 1e-12 * scale, "J v = 0");
        let kept: Vec<f64> = partition.independent.iter().map(|c| v[*c as usize]).collect();
        assert_eq!(kept, given, "independent velocities are unchanged");
        // T does the same for each independent velocity alone.
        let n = system.n_v();
        for (k, &c) in partition.independent.iter().enumerate() {
            let column = DVector::from_column_slice(&w.map[k * n..(k + 1) * n]);
            assert_eq!(column[c as usize], 1.0);
            assert!((&j * &column).abs().max() < 1e-12 * j.abs().max() * column.abs().max());
        }
    });
}

#[test]
fn positions_moved_along_consistent_velocities_stay_on_the_loops() {
    loops(|system, rng, _, _| {
        let (start, mut w) = (system.start(), system.scratch());
        system.tree.kinematics(&start.q, &mut w.tree);
        system.linearize(&start.partition, 0.0, &mut w).unwrap();
        let mut v = numbers(rng, system.n_v(), 1.0);
        system.expand(&start.partition, 0.0, &mut v, &mut w);
        let open = |h: f64| {
            let mut moved = start.q.clone();
            system.tree.integrate(&start.q, &v, h, &mut moved);
            residual(system, &moved).abs().max()
        };
        // A tangent leaves the loops to second order: ten times the step, a hundred times the gap.
        let scale = 1.0 + largest(&v).powi(2);
        assert!(open(1e-4) < 1e-7 * scale, "{:.1e}", open(1e-4));
    });
}

#[test]
fn closing_moves_only_dependent_joints() {
    loops(|system, rng, _, _| {
        let (start, mut w) = (system.start(), system.scratch());
        let partition = &start.partition;
        let mut off = vec![0.0; system.n_v()];
        for &d in &partition.dependent {
            off[d as usize] = rng.random_range(-1e-3..1e-3);
        }
        let mut rough = start.q.clone();
        system.tree.integrate(&start.q, &off, 1.0, &mut rough);
        let mut q = rough.clone();
        let closed = system.close(partition, 0.0, &mut q, &mut w).unwrap();
        // Quadratic convergence from 1e-3: to 1e-6, 1e-12 and rounding.
        assert!(closed.iterations <= 5, "{closed:?}");
        assert!(closed.residual <= 1e-12 * system.size);
        for &c in &partition.independent {
            if let Some(at) = system.q_of(Coordinate(c)) {
                assert_eq!(q[at], rough[at], "independent joints are unchanged");
            }
        }
    });
}

#[test]
fn a_prescribed_crank_moves_the_others() {
    let mut m = four_bar();
    let crank = m.coordinate_named("crank").unwrap();
    m.drive(crank, JointMotion::new(|t| [1.0 + 0.5 * t, 0.5, 0.0]));
    let system = m.build([0.0, 0.0, -9.81]).unwrap();
    let (mut q, mut v) = (system.start().q.clone(), system.start().v.clone());
    let (partition, mut w) = (&system.start().partition, system.scratch());
    assert_eq!(system.degrees_of_freedom(partition), 0);
    let t = 0.4;
    system.drive(t, &mut q);
    assert_eq!(q[0], 1.2);
    system.close(partition, t, &mut q, &mut w).unwrap();
    system.linearize(partition, t, &mut w).unwrap();
    system.expand(partition, t, &mut v, &mut w);
    assert_eq!(v[0], 0.5);
    // The positions a little later differ by these velocities.
    let later = |h: f64| {
        let (mut q, mut w) = (q.clone(), system.scratch());
        system.drive(t + h, &mut q);
        system.close(partition, t + h, &mut q, &mut w).unwrap();
        q
    };
    let (before, after) = (later(-1e-4), later(1e-4));
    for c in 0..3 {
        let rate = (after[c] - before[c]) / 2e-4;
        assert!((rate - v[c]).abs() < 1e-7, "{c}: {rate} {}", v[c]);
    }
}

#[test]
fn an_ill_conditioned_partition_is_renewed_and_the_motion_continues_unchanged() {
    let system = four_bar().build([0.0, 0.0, -9.81]).unwrap();
    let (mut state, mut w) = (system.start().clone(), system.scratch());
    let (mut renewed, mut last) = (0, DVector::from_element(3, 1.0));
    // Always in the same direction: one joint after another passes its dead point.
    for k in 0..1500 {
        let mut v = vec![0.0; 3];
        v[state.partition.independent[0] as usize] = 1.0;
        system.tree.kinematics(&state.q, &mut w.tree);
        system.linearize(&state.partition, 0.0, &mut w).unwrap();
        system.expand(&state.partition, 0.0, &mut v, &mut w);
        let worn = w.conditioning();
        if system.renew_partition(&mut state.partition, &mut w) {
            renewed += 1;
            system.linearize(&state.partition, 0.0, &mut w).unwrap();
            assert!(w.conditioning() > 2.0 * worn, "the new choice is better");
            let before = v.clone();
            system.expand(&state.partition, 0.0, &mut v, &mut w);
            let change = before.iter().zip(&v).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(change < 1e-11 * largest(&v), "no velocity jumps: {change:.1e} at {k}");
        }
        let v = DVector::from_vec(v);
        let v = &v * (v.dot(&last).signum() / v.norm());
        let mut q = state.q.clone();
        system.tree.integrate(&state.q, v.as_slice(), 0.01, &mut q);
        system.close(&state.partition, 0.0, &mut q, &mut w).unwrap();
        (state.q, last) = (q, v);
    }
    assert!(renewed > 2, "{renewed}");
}

#[test]
fn a_partition_named_by_the_user_is_kept() {
    let mut m = four_bar();
    let named = ["coupler", "rocker"].map(|name| m.coordinate_named(name).unwrap());
    m.dependent(&named);
    let system = m.build([0.0; 3]).unwrap();
    let mut partition = system.start().partition.clone();
    let mut dependent = partition.dependent.clone();
    dependent.sort_unstable();
    assert_eq!(dependent, [1, 2]);
    let mut w = system.scratch();
    system.tree.kinematics(&system.start().q, &mut w.tree);
    system.linearize(&partition, 0.0, &mut w).unwrap();
    // As if it had been far better when it was chosen.
    partition.conditioning = 1e6;
    assert!(!system.renew_partition(&mut partition, &mut w));
}

#[test]
fn a_loop_that_cannot_close_is_reported_with_its_name_and_the_reason() {
    let system = four_bar().build([0.0; 3]).unwrap();
    let mut w = system.scratch();
    let partition = Partition {
        dependent: vec![1, 2],
        independent: vec![0],
        rows: vec![0, 1],
        redundant: Vec::new(),
        conditioning: 1.0,
    };
    // Bars of 1 m on a base of 1.5 m: with the crank pointing away from the other bearing, 2.5 m is
    // too far.
    let mut q = vec![PI, 0.3, 0.2];
    let error = system.close(&partition, 0.25, &mut q, &mut w).unwrap_err().to_string();
    assert!(error.contains("four-bar") && error.contains("window"), "{error}");
    assert!(error.contains("t = 0.25"), "{error}");
    // A position that is not a number fails as well, and does not loop forever.
    assert!(system.close(&partition, 0.0, &mut [f64::NAN; 3], &mut w).is_err());
}

#[test]
fn the_order_in_which_loops_are_closed_does_not_change_the_motion() {
    // A chain on two rods from the ground, closed in either order.
    let chain = |order: [usize; 2]| {
        let mut m = Mechanism::new("chain");
        let mut on = GROUND;
        for k in 0..4 {
            let place = Pose::at([if k == 0 { 0.0 } else { 0.5 }, 0.0, 0.0]);
            let rod = MassProperties::rod([0.5, 0.0, 0.0], 1.0 + f64::from(k));
            let hinge = Joint::Revolute(-Axis::Y);
            on = m.add(&format!("link-{k}"), on, hinge, place, Some(rod));
            m.start(m.coordinate(on, 0), 0.2 * f64::from(k));
        }
        for k in order {
            let end = Marker::at(Link(2 * k as u32 + 1), [0.5, 0.0, 0.0]);
            let nail = Marker::at(GROUND, [0.8 + k as f64, 0.0, 1.5]);
            let length = [1.2, 1.0][k];
            m.close_loop(&format!("rod-{k}"), Cut::Rod { length }, nail, end);
        }
        m.build([0.0, 0.0, -9.81]).unwrap()
    };
    let (one, other) = (chain([0, 1]), chain([1, 0]));
    let state = one.start().clone();
    let accelerations = |system: &Multibody| {
        let (mut w, mut q) = (system.scratch(), state.q.clone());
        let partition = &system.start().partition;
        system.close(partition, 0.0, &mut q, &mut w).unwrap();
        system.linearize(partition, 0.0, &mut w).unwrap();
        let control = &system.start().control;
        system.dynamics((&q, &[0.0; 4]), control, partition, 0.0, None, &mut w).unwrap();
        w.acceleration().to_vec()
    };
    let (a, b) = (accelerations(&one), accelerations(&other));
    let scale = largest(&a);
    assert!(a.iter().zip(&b).all(|(x, y)| (x - y).abs() < 1e-10 * scale), "{a:?} {b:?}");
}

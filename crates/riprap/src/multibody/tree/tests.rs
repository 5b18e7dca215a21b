//! Identities that hold for every tree and state: random trees with joints of all kinds.

use crate::math::Pose;
use crate::math::Vec3;
use crate::multibody::fixtures::*;
use crate::multibody::{
    Axis, Coordinate, GROUND, Joint, Link, Mechanism, Multibody, MultibodyState, Signal,
};
use nalgebra::{DMatrix, DVector};
use rand::RngExt;

#[test]
fn the_mass_matrix_is_the_sum_over_the_bodies_and_positive_definite() {
    for mut s in samples() {
        let n = s.system.n_v();
        s.system.tree.evaluate(&mut s.w.tree);
        let mass = DMatrix::from_column_slice(n, n, s.w.tree.mass());
        assert_eq!(mass, mass.transpose(), "both triangles are equal");
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
fn inverse_dynamics_inverts_forward_dynamics() {
    for mut s in samples() {
        s.push();
        let n = s.system.n_v();
        let force = s.random(10.0);
        let (mut acceleration, mut back) = (vec![0.0; n], vec![0.0; n]);
        assert!(s.system.tree.forward_dynamics(&force, &mut s.w.tree, &mut acceleration));
        s.system.tree.inverse_dynamics(&acceleration, &mut s.w.tree, &mut back);
        // Rounding errors are amplified by the ratio of the inertial forces to τ.
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
        // An ill-conditioned M amplifies the rounding errors of both.
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
        // The step is short if the accelerations are large.
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
        let mut rng = seeded(1000 + seed);
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
fn a_floating_tree_conserves_momentum_over_a_long_motion() {
    let mut rng = seeded(5);
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
        m.start_velocity(Coordinate(c), v);
    }
    let system = m.build([0.0; 3]).unwrap();
    let (mut state, mut w, mut s) = (system.start().clone(), system.scratch(), Default::default());
    let momentum = |state: &MultibodyState| {
        let mut w = system.scratch();
        system.tree.kinematics(&state.q, &mut w.tree);
        system.tree.motion(&state.v, &mut w.tree);
        system.momentum(&w)
    };
    let (linear, angular) = momentum(&state);
    system.advance(&mut state, 0.0, 2.0, 1e-10, &mut Default::default(), &mut s, &mut w).unwrap();
    let (linear_end, angular_end) = momentum(&state);
    // Ten times the tolerance of the integrator.
    assert!((linear - linear_end).norm() < 1e-9 && (angular - angular_end).norm() < 1e-9);
}

#[test]
fn a_tree_far_from_the_origin_moves_like_one_near_it() {
    for seed in 0..30 {
        let mut rng = seeded(2000 + seed);
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
fn a_free_tree_that_has_moved_far_away_moves_like_one_near_the_origin() {
    let mut rng = seeded(2100);
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

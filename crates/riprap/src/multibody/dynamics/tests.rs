//! Accelerations, loop forces and joint wrenches of random mechanisms with loops, against Newton, Euler and the balance of
//! energy.

use crate::math::{Mat3, Vec3};
use crate::multibody::fixtures::*;
use crate::multibody::{Control, Link, Phase, Signal};
use nalgebra::{DMatrix, DVector};
use rand::RngExt;

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
    let mut rng = seeded(77);
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

//! Accelerations, loop forces and joint wrenches of random mechanisms with loops, against Newton,
//! Euler and the energy balance.

use crate::math::{Mat3, Vec3};
use crate::multibody::fixtures::*;
use crate::multibody::{
    Axis, Control, GROUND, Joint, JointMotion, JointSpring, Link, Marker, Mechanism, Multibody,
    MultibodyScratch, Phase, PointSpring, Signal, Spatial,
};
use crate::shape::MassProperties;
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
            // Loads on the body: its joint, the joints it carries, gravity, the cut.
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
        // A second call gives the same result.
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
        // The loop is violated only by h², and its forces do no work.
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

/// Accelerations and multipliers from the whole system of equations: `M a − Jᵀ λ − Eᵀ τ_d = τ − c`,
/// `J a = −J̇ v`, `E a = a_d`, with `E` the prescribed coordinates; by least squares, so that
/// redundant equations are harmless.
fn saddle_point(system: &Multibody, driven: &[f64], w: &MultibodyScratch) -> DVector<f64> {
    let (n, m, d) = (system.n_v(), system.n_equations(), system.driven.len());
    let mass = DMatrix::from_column_slice(n, n, w.tree.mass());
    let j = DMatrix::from_row_slice(m, n, system.loop_jacobian(w));
    let mut matrix = DMatrix::zeros(n + m + d, n + m + d);
    let mut right = DVector::zeros(n + m + d);
    matrix.view_mut((0, 0), (n, n)).copy_from(&mass);
    matrix.view_mut((n, 0), (m, n)).copy_from(&j);
    matrix.view_mut((0, n), (n, m)).copy_from(&-j.transpose());
    for (k, (c, ..)) in system.driven.iter().enumerate() {
        matrix[(n + m + k, *c as usize)] = 1.0;
        matrix[(*c as usize, n + m + k)] = -1.0;
        right[n + m + k] = driven[k];
    }
    for c in 0..n {
        right[c] = w.applied[c] - w.tree.bias_force()[c];
    }
    for (row, drift) in system.loop_drift(w).iter().enumerate() {
        right[n + row] = -drift;
    }
    let svd = matrix.svd(true, true);
    let least = 1e-11 * svd.singular_values.max();
    svd.solve(&right, least).expect("both sets of singular vectors were computed")
}

#[test]
fn minimal_coordinates_give_the_accelerations_of_the_full_system_of_equations() {
    loops(|system, rng, _, _| {
        let (_, _, w) = moving(system, rng);
        let (n, solution) = (system.n_v(), saddle_point(system, &[], &w));
        let a = DVector::from_column_slice(w.acceleration());
        let scale = 1.0 + a.abs().max();
        assert!((solution.rows(0, n) - &a).abs().max() < 1e-8 * scale);
        let force = DVector::from_column_slice(w.loop_forces());
        let scale = 1.0 + force.abs().max();
        assert!((solution.rows(n, force.len()) - &force).abs().max() < 1e-8 * scale);
    });
}

#[test]
fn prescribed_joints_need_the_forces_of_the_full_system_of_equations() {
    for kind in 0..6 {
        for seed in 0..6 {
            let mut rng = seeded(5000 + 100 * kind as u64 + seed);
            let (mut m, _) = random_loop(&mut rng, kind, seed % 2 == 0);
            // The first joint turns about an axis; it is driven past its start.
            let c = m.coordinate(Link(0), 0);
            let at = m.build(GRAVITY).unwrap().start().q[0];
            m.drive(c, JointMotion::new(move |t| [at + 0.3 * t + 0.6 * t * t, 0.3 + 1.2 * t, 1.2]));
            let Ok(system) = m.build(GRAVITY) else { continue };
            let (_, v, w) = moving(&system, &mut rng);
            assert_eq!((v[0], w.acceleration()[0]), (0.3, 1.2));
            let solution = saddle_point(&system, &[1.2], &w);
            let (n, rows) = (system.n_v(), system.n_equations());
            let a = DVector::from_column_slice(w.acceleration());
            let scale = 1.0 + a.abs().max();
            assert!((solution.rows(0, n) - &a).abs().max() < 1e-8 * scale, "{kind} {seed}");
            let (found, expected) = (w.drive_forces()[0], solution[n + rows]);
            assert!((found - expected).abs() < 1e-8 * (1.0 + expected.abs()), "{found} {expected}");
        }
    }
}

#[test]
fn the_reduced_mass_gives_the_kinetic_energy_of_the_independent_velocities() {
    loops(|system, rng, _, _| {
        let (q, v, mut w) = moving(system, rng);
        let independent = &system.start().partition.independent;
        let f = independent.len();
        // The factor is left in the lower triangle: E = ½ |Lᵀ v|².
        let l =
            DMatrix::from_fn(f, f, |i, j| if j > i { 0.0 } else { w.reduced_factor()[i * f + j] });
        let v_ind = DVector::from_iterator(f, independent.iter().map(|c| v[*c as usize]));
        let expected = 0.5 * l.tr_mul(&v_ind).norm_squared();
        let (kinetic, _) = system.energy(&q, &v, &mut w);
        assert!(close(kinetic, expected, 1e-10), "{kinetic} {expected}");
    });
}

#[test]
fn rows_of_a_contact_are_velocities_of_its_point_per_independent_velocity() {
    loops(|system, rng, _, _| {
        let (_, v, w) = moving(system, rng);
        let partition = &system.start().partition;
        let f = partition.independent.len();
        let directions = rotation(rng).to_rotation_matrix();
        let directions: [Vec3; 3] =
            std::array::from_fn(|k| directions.matrix().column(k).into_owned());
        let (link, local) = (Link(rng.random_range(0..system.n_links() as u32)), vector(rng, 0.5));
        let (point, velocity) = system.point(&w, link, local);
        let width = f + 2;
        let mut rows = vec![0.0; 3 * width];
        system.add_contact_rows(&w, f, link, point, &directions, -1.0, width, &mut rows);
        for (row, direction) in rows.chunks(width).zip(&directions) {
            let along: f64 =
                partition.independent.iter().zip(row).map(|(c, x)| x * v[*c as usize]).sum();
            let scale = 1.0 + velocity.norm();
            assert!((along + direction.dot(&velocity)).abs() < 1e-10 * scale);
            assert_eq!(row[f..], [0.0; 2], "nothing is written beyond the independent ones");
        }
    });
}

/// A floating machine with joints, internal springs, springs to the ground, and a push.
fn floating(rng: &mut Rng) -> Multibody {
    let mut m = Mechanism::new("probe");
    let (mass, at) = (body(rng), place(rng));
    let base = m.add("base", GROUND, Joint::Free, at, Some(mass));
    let (mass, at) = (body(rng), place(rng));
    let arm = m.add("arm", base, Joint::Spherical, at, Some(mass));
    let (mass, at) = (body(rng), place(rng));
    let hand = m.add("hand", arm, Joint::Revolute(Axis::X), at, Some(mass));
    let line = PointSpring::Line { stiffness: 20.0, damping: 0.5, length: 0.3 };
    let frame = |link, rng: &mut Rng| Marker::at(link, vector(rng, 0.4).into());
    m.point_spring("tether", line, frame(GROUND, rng), frame(hand, rng));
    m.point_spring("tendon", line, frame(base, rng), frame(hand, rng));
    m.actuate("motor", m.coordinate(hand, 0), Signal::constant(1.3));
    m.actuate("thruster", m.coordinate(base, 1), Signal::constant(0.7));
    m.actuate("wheel", m.coordinate(base, 4), Signal::constant(-0.4));
    m.build(GRAVITY).unwrap()
}

#[test]
fn the_external_wrench_is_the_rate_of_momentum_of_a_floating_machine() {
    for seed in 0..20 {
        let mut rng = seeded(6000 + seed);
        let system = floating(&mut rng);
        assert!(system.has_free_base());
        let (q, v) = random_state(&mut rng, &system);
        let (mut w, start) = (system.scratch(), system.start());
        system.tree.kinematics(&q, &mut w.tree);
        system.linearize(&start.partition, 0.0, &mut w).unwrap();
        system.dynamics((&q, &v), &start.control, &start.partition, 0.0, None, &mut w).unwrap();
        let outside = system.outside_wrench(&w);
        let a = w.acceleration().to_vec();
        let mut momentum = |h: f64| {
            let (q, v) = later(&system.tree, &q, &v, &a, h);
            system.tree.kinematics(&q, &mut w.tree);
            system.tree.motion(&v, &mut w.tree);
            system.momentum(&w)
        };
        let h = H / (1.0 + largest(&a)).sqrt();
        let ((p0, l0), (p1, l1)) = (momentum(-h), momentum(h));
        let (force, moment) = ((p1 - p0) / (2.0 * h), (l1 - l0) / (2.0 * h));
        let scale = 1.0 + largest(&a);
        assert!((force - outside.linear).norm() < 1e-6 * scale, "{force} {}", outside.linear);
        assert!((moment - outside.angular).norm() < 1e-6 * scale, "{moment} {}", outside.angular);
    }
}

#[test]
fn setting_the_momentum_keeps_the_joint_velocities() {
    for seed in 0..20 {
        let mut rng = seeded(6100 + seed);
        let system = floating(&mut rng);
        let (q, mut v) = random_state(&mut rng, &system);
        let mut w = system.scratch();
        system.tree.kinematics(&q, &mut w.tree);
        system.tree.motion(&v, &mut w.tree);
        let wanted = Spatial { angular: vector(&mut rng, 3.0), linear: vector(&mut rng, 3.0) };
        let joints = v[6..].to_vec();
        system.set_momentum(&wanted, &mut v, &w);
        system.tree.motion(&v, &mut w.tree);
        let (linear, angular) = system.momentum(&w);
        assert!((linear - wanted.linear).norm() < 1e-12, "{linear}");
        assert!((angular - wanted.angular).norm() < 1e-12, "{angular}");
        assert_eq!(v[6..], joints);
    }
}

#[test]
fn springs_and_laws_on_a_free_body_give_a_wrench_about_its_centre() {
    let mut rng = seeded(6200);
    let mut m = Mechanism::new("buoy");
    m.base = place(&mut rng);
    let (mass, at) = (body(&mut rng), place(&mut rng));
    let buoy = m.add("buoy", GROUND, Joint::Free, at, Some(mass));
    let line = PointSpring::Line { stiffness: 20.0, damping: 0.0, length: 0.1 };
    let (a, b) = (vector(&mut rng, 1.0), vector(&mut rng, 0.4));
    m.point_spring("tether", line, Marker::at(GROUND, a.into()), Marker::at(buoy, b.into()));
    for k in 0..6 {
        m.actuate(&format!("push-{k}"), m.coordinate(buoy, k), Signal::constant(k as f64 - 1.5));
    }
    let system = m.build(GRAVITY).unwrap();
    assert_eq!(system.free_body().map(|m| m.mass), Some(mass.mass));
    let mut state = system.start().clone();
    (state.q, state.v) = random_state(&mut rng, &system);
    let mut w = system.scratch();
    let (force, torque) = system.free_body_wrench(&state, 0.0, &mut w);
    // The same from the rate of momentum: without the weight, about the centre.
    system.linearize(&state.partition, 0.0, &mut w).unwrap();
    let at = (&state.q[..], &state.v[..]);
    system.dynamics(at, &state.control, &state.partition, 0.0, None, &mut w).unwrap();
    let outside = system.outside_wrench(&w);
    let (centre, _) = system.point(&w, buoy, mass.centre);
    let weight = Vec3::from(GRAVITY) * mass.mass;
    assert!((force - (outside.linear - weight)).norm() < 1e-12 * outside.linear.norm());
    let moment = outside.angular - centre.cross(&outside.linear);
    assert!((torque - moment).norm() < 1e-12 * (1.0 + outside.angular.norm()), "{torque} {moment}");
}

#[test]
fn external_pushes_act_like_a_force_at_the_point() {
    let mut rng = seeded(6300);
    let system = random_tree(&mut rng, 5).build(GRAVITY).unwrap();
    let (q, v) = random_state(&mut rng, &system);
    let (start, mut w) = (system.start(), system.scratch());
    let solve = |w: &mut MultibodyScratch| {
        system.tree.kinematics(&q, &mut w.tree);
        system.linearize(&start.partition, 0.0, w).unwrap();
        system.dynamics((&q, &v), &start.control, &start.partition, 0.0, None, w).unwrap();
        DVector::from_column_slice(w.acceleration())
    };
    let before = solve(&mut w);
    let (link, local, force) = (Link(4), vector(&mut rng, 0.5), vector(&mut rng, 10.0));
    let point = system.point(&w, link, local).0;
    w.pushes.push((link, point, force));
    let change = solve(&mut w) - before;
    let n = system.n_v();
    let (mut linear, mut angular) = (vec![Vec3::zeros(); n], vec![Vec3::zeros(); n]);
    system.point_jacobian(&w, link, local, &mut linear, &mut angular);
    let pull = DVector::from_fn(n, |c, _| linear[c].dot(&force));
    let mass = DMatrix::from_column_slice(n, n, w.tree.mass());
    let scale = mass.abs().max() * (1.0 + change.abs().max());
    assert!((mass * change - pull).abs().max() < 1e-11 * scale, "M Δa = Jᵀ F");
}

#[test]
fn only_a_single_plain_joint_has_velocity_independent_accelerations() {
    let mut m = Mechanism::new("slide");
    let mass = MassProperties::point(1.0, [0.0; 3]);
    let slide = m.prismatic(GROUND, Axis::X, [0.0; 3], mass);
    let c = m.coordinate(slide, 0);
    m.spring(c, JointSpring { stiffness: 3.0, rest: 0.0, damping: 0.0 });
    assert!(!m.build([0.0; 3]).unwrap().feels_velocity());
    let mut damped = m.clone();
    damped.spring(c, JointSpring { stiffness: 3.0, rest: 0.0, damping: 0.1 });
    assert!(damped.build([0.0; 3]).unwrap().feels_velocity());
    let mut law = m.clone();
    law.actuate("law", c, Signal::constant(0.0));
    assert!(law.build([0.0; 3]).unwrap().feels_velocity());
    m.prismatic(slide, Axis::Y, [0.0; 3], mass);
    assert!(m.build([0.0; 3]).unwrap().feels_velocity());
}

#[test]
fn non_finite_coordinates_are_reported() {
    let system = random_tree(&mut seeded(3), 4).build(GRAVITY).unwrap();
    let mut v = vec![0.0; system.n_v()];
    assert_eq!(system.check_finite(&v, 0.5), Ok(()));
    v[1] = f64::NAN;
    let said = system.check_finite(&v, 0.5).unwrap_err().to_string();
    let name = system.coordinate_name(crate::multibody::Coordinate(1));
    assert!(said.contains(&format!("`{name}` is not finite at t = 0.5")), "{said}");
}

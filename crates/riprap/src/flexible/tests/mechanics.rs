//! Forces, their derivatives, energies and momenta of whole bodies.

use super::*;
use crate::math::fixtures::{Rng, largest, numbers, pose, seeded, vector};

fn bodies() -> Vec<Structure> {
    let gravity = Vec3::new(0.3, -0.5, -9.81);
    let bent = [[0.0; 3], [0.5, 0.1, 0.0], [0.8, 0.6, 0.2], [0.6, 1.0, 0.5]];
    let beam = Beam { damping: 0.03, ..unit_beam(2).points(&bent) };
    let bar = Bar::new("bar")
        .points(&[[1.0, 0.0, 0.0], [2.0, 2.0, 1.0]])
        .area(0.5)
        .material(Elastic { young: 20.0, shear: 8.0, density: 2.0 })
        .elements(5)
        .damping(0.1);
    vec![
        beam.build(gravity).unwrap(),
        unit_beam(4).build(gravity).unwrap(),
        bar.build(gravity).unwrap(),
        bar.lumped().build(gravity).unwrap(),
    ]
}

/// A random motion away from the start.
fn disturbed(body: &Structure, rng: &mut Rng, size: f64) -> (Vec<Pose>, Vec<f64>) {
    let mut q = Vec::new();
    body.integrate(&body.start().q, &numbers(rng, body.n_v(), size), &mut q);
    (q, numbers(rng, body.n_v(), 1.0))
}

fn force(body: &Structure, q: &[Pose], v: &[f64]) -> Vec<f64> {
    let mut f = vec![0.0; body.n_v()];
    body.force(q, v, &mut f);
    f
}

#[test]
fn tangents_of_whole_bodies_agree_with_finite_differences() {
    let mut rng = seeded(191);
    for body in bodies() {
        let (q, v) = disturbed(&body, &mut rng, 0.1);
        let mut k = Tridiagonal::new(body.node_dofs(), body.n_nodes());
        let mut c = k.clone();
        body.tangents(&q, &v, &mut k, &mut c);
        let (n, h) = (body.n_v(), 1e-5);
        let size = largest(&k.diagonal);
        for j in 0..n {
            let at = |h: f64| {
                let mut step = vec![0.0; n];
                step[j] = h;
                let mut moved = Vec::new();
                body.integrate(&q, &step, &mut moved);
                force(&body, &moved, &v)
            };
            let faster = |h: f64| {
                let mut v = v.clone();
                v[j] += h;
                force(&body, &q, &v)
            };
            let (above, below, fast, slow) = (at(h), at(-h), faster(h), faster(-h));
            for i in 0..n {
                // Central differences: 1e-10 by truncation, 1e-11 by rounding, relative to the stiffness.
                let exact = (below[i] - above[i]) / (2.0 * h);
                assert!((k.entry(i, j) - exact).abs() < 1e-8 * size, "k {i} {j}");
                let exact = (slow[i] - fast[i]) / (2.0 * h);
                assert!((c.entry(i, j) - exact).abs() < 1e-8 * size, "c {i} {j}");
            }
        }
        if body.is_linear() {
            let mut elsewhere = k.clone();
            body.tangents(&body.start().q, &vec![0.0; n], &mut elsewhere, &mut c);
            assert_eq!(elsewhere, k);
        }
    }
}

#[test]
fn a_body_at_rest_has_no_internal_forces_wherever_it_is() {
    let mut rng = seeded(192);
    for body in bodies().iter().filter(|body| !body.is_linear()) {
        let frame = pose(&mut rng, 3.0);
        let q: Vec<Pose> = body.start().q.iter().map(|q| frame.compose(q)).collect();
        // A rigid motion of the whole body.
        let (linear, angular) = (vector(&mut rng, 1.0), vector(&mut rng, 1.0));
        let v: Vec<f64> = q
            .iter()
            .flat_map(|q| {
                let v = linear + angular.cross(&q.position);
                let omega = q.inverse_vector(angular);
                [v.x, v.y, v.z, omega.x, omega.y, omega.z]
            })
            .collect();
        let f = force(body, &q, &v);
        for k in 0..body.n_nodes() {
            let weight = Vec3::new(0.3, -0.5, -9.81) * body.node_mass(k);
            let force = Vec3::from_column_slice(&f[6 * k..6 * k + 3]);
            // Positions of about 5 m are rounded to 1e-15 m; the stiffness is 1e5 N/m.
            assert!((force - weight).norm() < 1e-9, "{force} {weight}");
        }
        // Kinetic energy of a rigid motion: half the sum of momenta times velocities.
        let (kinetic, _) = body.energy(&q, &v);
        let (p, l) = body.momentum(&q, &v);
        assert!((kinetic - 0.5 * (p.dot(&linear) + l.dot(&angular))).abs() < 1e-13 * kinetic);
    }
}

#[test]
fn power_of_all_forces_is_the_change_of_energy_and_damping_takes_energy() {
    let mut rng = seeded(193);
    for body in bodies() {
        let (q, v) = disturbed(&body, &mut rng, 0.1);
        // Without damping, f·v = −dV/dt: gyroscopic forces do no work.
        let h = 1e-6;
        let at = |h: f64| {
            let step: Vec<f64> = v.iter().map(|v| v * h).collect();
            let mut moved = Vec::new();
            body.integrate(&q, &step, &mut moved);
            body.energy(&moved, &v).1
        };
        let change = (at(h) - at(-h)) / (2.0 * h);
        let power = |q: &[Pose], v: &[f64]| -> f64 {
            force(&body, q, v).iter().zip(v).map(|(f, v)| f * v).sum()
        };
        let lost = power(&q, &v) + change;
        let scale = change.abs().max(1.0);
        // Central differences of energies of up to 1e3 J over 1e-6: 1e-6.
        assert!(lost < 1e-5 * scale, "{}: {lost}", body.name());
        // The power of the damping is quadratic in the velocities: reversed motion loses as much.
        let back: Vec<f64> = v.iter().map(|v| -v).collect();
        assert!((power(&q, &back) - change - lost).abs() < 1e-5 * scale);
    }
}

#[test]
fn internal_and_gyroscopic_forces_keep_both_momenta() {
    let mut rng = seeded(194);
    for damping in [0.0, 0.2] {
        let body = Beam { damping, ..unit_beam(5) }.build(NOTHING).unwrap();
        let (q, v) = disturbed(&body, &mut rng, 0.1);
        // d/dt (x × p + R l) with M v̇ = f: x × f_lin + R (f_ang + ω × l) + v × p.
        let f = force(&body, &q, &v);
        let mut momenta = vec![0.0; body.n_v()];
        body.mass().multiply_add(&v, 1.0, &mut momenta);
        let part = |x: &[f64], k: usize| Vec3::from_column_slice(&x[3 * k..3 * k + 3]);
        let (mut linear, mut angular) = (Vec3::zeros(), Vec3::zeros());
        for (k, q) in q.iter().enumerate() {
            linear += part(&f, 2 * k);
            angular += q.position.cross(&part(&f, 2 * k))
                + q.rotation
                    * (part(&f, 2 * k + 1) + part(&v, 2 * k + 1).cross(&part(&momenta, 2 * k + 1)))
                + part(&v, 2 * k).cross(&part(&momenta, 2 * k));
        }
        // Forces of about 1e4 N cancel.
        assert!(linear.norm() < 1e-10 && angular.norm() < 1e-10, "{linear} {angular}");
    }
}

#[test]
fn velocities_of_nodes_are_their_columns_times_the_velocities() {
    let mut rng = seeded(195);
    for body in bodies() {
        let (q, v) = disturbed(&body, &mut rng, 0.3);
        let h = 1e-6;
        let step: Vec<f64> = v.iter().map(|v| v * h).collect();
        let mut moved = Vec::new();
        body.integrate(&q, &step, &mut moved);
        for node in 0..body.n_nodes() {
            let twist = body.node_twist(&q, &v, node);
            let (mut linear, mut angular) = (Vec3::zeros(), Vec3::zeros());
            for (dof, column) in body.node_columns(&q, node) {
                linear += column.linear * v[dof];
                angular += column.angular * v[dof];
            }
            assert!((linear - twist.linear).norm() + (angular - twist.angular).norm() < 1e-15);
            let change = (moved[node].position - q[node].position) / h;
            assert!((change - twist.linear).norm() < 1e-8);
            let turned = (moved[node].rotation * q[node].rotation.inverse()).scaled_axis() / h;
            assert!((turned - twist.angular).norm() < 1e-8);
        }
    }
}

#[test]
fn the_mass_matrix_has_the_mass_of_the_body() {
    let section = Section::Circle { radius: 0.05 };
    let beam = Beam::new("beam").points(&[[0.0; 3], [2.0, 0.0, 0.0]]).section(section).elements(7);
    let body = beam.build(NOTHING).unwrap();
    let mass = 7800.0 * std::f64::consts::PI * 0.0025 * 2.0;
    assert!((body.total_mass() - mass).abs() < 1e-12 * mass);
    let v: Vec<f64> = (0..body.n_v()).map(|i| f64::from(u8::from(i % 6 == 1))).collect();
    let (kinetic, _) = body.energy(&body.start().q, &v);
    assert!((kinetic - 0.5 * mass).abs() < 1e-12 * mass);
    let bar = Bar::new("bar").points(&[[0.0; 3], [2.0, 0.0, 0.0]]).section(section).elements(7);
    for bar in [bar.clone(), bar.lumped()] {
        let body = bar.build(NOTHING).unwrap();
        let (p, _) = body.momentum(&body.start().q, &vec![1.0; body.n_v()]);
        assert!((p.x - mass).abs() < 1e-12 * mass);
    }
}

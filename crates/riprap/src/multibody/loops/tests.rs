//! Random spatial loops, closed by every kind of cut.

use crate::multibody::fixtures::*;
use nalgebra::DVector;
use rand::RngExt;

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

//! Flexible bodies against closed forms and published experiments.

mod description;
mod mechanics;
mod statics;
mod vibration;

use super::*;
use crate::math::tridiagonal::{Tridiagonal, TridiagonalLu};
use crate::math::{Pose, Vec3};

/// A beam of length 1 m along x with EA = GA = 1e4 N, GJ = EI = 1 N m², ρA = 1 kg/m.
fn unit_beam(elements: usize) -> Beam {
    Beam::new("beam")
        .points(&[[0.0; 3], [1.0, 0.0, 0.0]])
        .section(Section::Given {
            area: 1.0,
            shear: [1.0; 2],
            inertia_y: 1e-4,
            inertia_z: 1e-4,
            torsion: 1e-4,
        })
        .material(Elastic { young: 1e4, shear: 1e4, density: 1.0 })
        .elements(elements)
}

/// The equilibrium under `load` on the degrees of freedom, in steps of the load, by Newton's method to the last digits.
fn equilibrium(body: &Structure, load: &[f64], steps: usize) -> Vec<Pose> {
    let mut q = body.start().q.clone();
    let v = vec![0.0; body.n_v()];
    let mut k = Tridiagonal::new(body.node_dofs(), body.n_nodes());
    let mut c = k.clone();
    let mut lu = TridiagonalLu::default();
    let mut next = Vec::new();
    // Rounding of positions is relative to the size of the body.
    let size = q.iter().fold(1.0_f64, |m, q| m.max(q.position.amax()));
    for step in 1..=steps {
        let part = step as f64 / steps as f64;
        let mut converged = false;
        for _ in 0..40 {
            let mut f = vec![0.0; body.n_v()];
            body.force(&q, &v, &mut f);
            for i in 0..f.len() {
                f[i] = if body.held()[i] { 0.0 } else { f[i] + part * load[i] };
            }
            body.tangents(&q, &v, &mut k, &mut c);
            k.hold(body.held());
            assert!(k.factor(&mut lu));
            lu.solve(&mut f);
            body.integrate(&q, &f, &mut next);
            std::mem::swap(&mut q, &mut next);
            let largest = f.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            if largest < 1e-11 * size {
                converged = true;
                break;
            }
        }
        assert!(converged, "no equilibrium at {part} of the load");
    }
    q
}

/// Gravity off.
const NOTHING: Vec3 = Vec3::new(0.0, 0.0, 0.0);

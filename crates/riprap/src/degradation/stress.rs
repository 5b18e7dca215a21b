//! The mean stress of a stone from its contact forces, the measure of it that breaks the stone, and the plane along
//! which it splits.

use crate::math::{Mat3, Vec3};
use crate::shape::Shape;

/// The contribution of a force [N] with a lever arm from the centre [m] to the volume times the mean
/// stress, tension positive (Love, Weber): `V σ = Σ f ⊗ l` [N m].
pub fn love_weber(force: Vec3, arm: Vec3) -> Mat3 {
    force * arm.transpose()
}

/// The measure of a stress [Pa] that is compared with the strength.
///
/// In space it is the octahedral shear stress times π/(2√2). Two opposite forces `F` on a ball of
/// diameter `d` give exactly `F/d²`, the stress with which the strength of single grains is reported
/// (Jaeger 1967), and equal pressure from all sides gives 0: a stone with many contacts is protected
/// (McDowell and de Bono 2013). In the plane it is half the difference of the principal stresses:
/// `2F/(π d t)` for a disc of thickness `t`, the tensile stress of the Brazilian test.
pub fn breaking_stress(stress: &Mat3, planar: bool) -> f64 {
    let s = |i: usize, j: usize| 0.5 * (stress[(i, j)] + stress[(j, i)]);
    if planar {
        let half = 0.5 * (s(0, 0) - s(1, 1));
        return (half * half + s(0, 1) * s(0, 1)).sqrt();
    }
    let mean = (s(0, 0) + s(1, 1) + s(2, 2)) / 3.0;
    let diagonal: f64 = (0..3).map(|i| (s(i, i) - mean).powi(2)).sum();
    let shear = s(0, 1).powi(2) + s(0, 2).powi(2) + s(1, 2).powi(2);
    // τ_oct² = (2/3) J₂ with J₂ = ½ s:s.
    let octahedral = ((diagonal + 2.0 * shear) / 3.0).sqrt();
    octahedral * std::f64::consts::PI / (2.0 * std::f64::consts::SQRT_2)
}

/// How much the shape of a stone counts, compared with the stress, for the choice of the plane [–].
const SHAPE: f64 = 0.05;

/// Unit normal of the plane along which a stone splits, in its own frame [–]: the most tensile direction, so that the
/// plane contains the main direction of compression. If several directions are (nearly) equal, as
/// under two opposite forces, the plane crosses the stone where it is long, so that its area is small.
pub fn split_normal(stress: &Mat3, shape: &Shape, planar: bool) -> Vec3 {
    let unit = |m: Mat3| {
        let norm = m.norm();
        if norm > 0.0 { m / norm } else { m }
    };
    let sum = unit(*stress) + unit(second_moment(shape)) * SHAPE;
    if planar {
        let [a, b, d] = [sum[(0, 0)], sum[(0, 1)], sum[(1, 1)]];
        let angle = 0.5 * (2.0 * b).atan2(a - d);
        return Vec3::new(angle.cos(), angle.sin(), 0.0);
    }
    largest(sum)
}

/// Unit normal of the plane across the longest direction of a stone [–].
pub(super) fn across(shape: &Shape, planar: bool) -> Vec3 {
    split_normal(&Mat3::zeros(), shape, planar)
}

/// The eigenvector of the largest eigenvalue of a symmetric tensor.
fn largest(tensor: Mat3) -> Vec3 {
    let eigen = tensor.symmetric_eigen();
    let best = (1..3)
        .fold(0, |best, k| if eigen.eigenvalues[k] > eigen.eigenvalues[best] { k } else { best });
    eigen.eigenvectors.column(best).into_owned().normalize()
}

/// `∫ x ⊗ x dV` about the centre.
fn second_moment(shape: &Shape) -> Mat3 {
    let inertia = shape.mass_properties(1.0).map_or_else(Mat3::zeros, |m| m.inertia);
    Mat3::identity() * (0.5 * inertia.trace()) - inertia
}

//! Random point clouds and polyhedra for the tests of shapes.

use super::Polyhedron;
use crate::math::Vec3;
use crate::math::fixtures::{Rng, vector};

/// Points in a box of side 2 `size` [m].
pub(super) fn cloud(rng: &mut Rng, n: usize, size: f64) -> Vec<Vec3> {
    (0..n).map(|_| vector(rng, size)).collect()
}

/// The hull of a random cloud.
pub(super) fn stone(rng: &mut Rng, n: usize) -> Polyhedron {
    Polyhedron::from_points(&cloud(rng, n, 1.0)).expect("a cloud has volume")
}

/// Volume, first and second moments about the origin of a polyhedron, by four-point Gauss
/// quadrature (exact for quadratics) over the tetrahedra between a point and each triangle of the
/// surface.
pub(super) fn moments(p: &Polyhedron) -> (f64, Vec3, crate::math::Mat3) {
    let (a, b) = ((5.0 + 3.0 * 5f64.sqrt()) / 20.0, (5.0 - 5f64.sqrt()) / 20.0);
    let apex = p.vertices()[0] + Vec3::new(0.1, 0.2, 0.3);
    let (mut volume, mut first, mut second) = (0.0, Vec3::zeros(), crate::math::Mat3::zeros());
    for triangle in p.triangles() {
        let [x, y, z] = triangle.map(|i| p.vertices()[i as usize]);
        let v = (x - apex).dot(&(y - apex).cross(&(z - apex))) / 6.0;
        volume += v;
        let corners = [apex, x, y, z];
        let sum: Vec3 = corners.iter().sum();
        for corner in corners {
            let point = corner * (a - b) + sum * b;
            first += point * (v / 4.0);
            second += point * point.transpose() * (v / 4.0);
        }
    }
    (volume, first, second)
}

//! Convex polygons in the plane x–y, for planar scenes.

use super::{MassProperties, ShapeError, positive};
use crate::math::{Mat3, Vec3, length2};

/// A convex polygon with a thickness along z that gives it mass.
#[derive(Clone, Debug)]
pub struct Polygon {
    vertices: Vec<[f64; 2]>,
    normals: Vec<[f64; 2]>,
    thickness: f64,
    area: f64,
    unit_mass: MassProperties,
    outer_radius: f64,
}

impl Polygon {
    /// The convex hull of points [m], with a thickness [m].
    pub fn from_points(points: &[[f64; 2]], thickness: f64) -> Result<Polygon, ShapeError> {
        positive("thickness", thickness)?;
        if points.len() < 3 {
            return Err(ShapeError::TooFewPoints { needed: 3, got: points.len() });
        }
        if let Some(index) = points.iter().position(|p| !(p[0].is_finite() && p[1].is_finite())) {
            return Err(ShapeError::NotFinite { index });
        }
        Ok(Polygon::of_loop(hull(points)?, thickness))
    }

    /// The polygon with the given corners [m], counter-clockwise, which must be convex, and a thickness [m].
    pub fn from_corners(vertices: Vec<[f64; 2]>, thickness: f64) -> Result<Polygon, ShapeError> {
        positive("thickness", thickness)?;
        let n = vertices.len();
        if n < 3 {
            return Err(ShapeError::TooFewPoints { needed: 3, got: n });
        }
        if let Some(index) = vertices.iter().position(|p| !(p[0].is_finite() && p[1].is_finite())) {
            return Err(ShapeError::NotFinite { index });
        }
        let side = |k: usize| [0, 1].map(|x| vertices[(k + 1) % n][x] - vertices[k % n][x]);
        let turn = |k: usize| {
            let (a, b) = (side(k), side(k + 1));
            (a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1])
        };
        // Every corner turns to the left, and all of them together once around.
        let around: f64 = (0..n).map(turn).map(|(sin, cos)| sin.atan2(cos)).sum();
        if !((0..n).all(|k| turn(k).0 > 0.0) && around < 7.0) {
            return Err(ShapeError::HullCheck { error: f64::INFINITY });
        }
        Ok(Polygon::of_loop(vertices, thickness))
    }

    fn of_loop(vertices: Vec<[f64; 2]>, thickness: f64) -> Polygon {
        let n = vertices.len();
        let normals = (0..n)
            .map(|k| {
                let (a, b) = (vertices[k], vertices[(k + 1) % n]);
                let (dx, dy) = (b[0] - a[0], b[1] - a[1]);
                let length = length2(dx, dy);
                [dy / length, -dx / length]
            })
            .collect();
        let (area, unit_mass) = mass(&vertices, thickness);
        let c = unit_mass.centre;
        let radius = |v: &[f64; 2]| length2(v[0] - c.x, v[1] - c.y);
        let outer_radius = vertices.iter().map(radius).fold(0.0, f64::max);
        Polygon { vertices, normals, thickness, area, unit_mass, outer_radius }
    }

    /// Corners, counter-clockwise [m].
    pub fn vertices(&self) -> &[[f64; 2]] {
        &self.vertices
    }

    /// Unit outward normals: entry `k` belongs to the side from corner `k` to the next [–].
    pub fn normals(&self) -> &[[f64; 2]] {
        &self.normals
    }

    /// Extent along z [m].
    pub fn thickness(&self) -> f64 {
        self.thickness
    }

    /// Area [m²].
    pub fn area(&self) -> f64 {
        self.area
    }

    /// Mass properties for a density of 1 kg/m³.
    pub fn unit_mass(&self) -> &MassProperties {
        &self.unit_mass
    }

    /// Radius of the smallest disc around the centre of mass that contains the polygon [m].
    pub fn outer_radius(&self) -> f64 {
        self.outer_radius
    }
}

/// Andrew's monotone chain; corners that lie on a side within round-off are dropped.
fn hull(points: &[[f64; 2]]) -> Result<Vec<[f64; 2]>, ShapeError> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    sorted.dedup();
    let from_first = |p: &[f64; 2]| length2(p[0] - points[0][0], p[1] - points[0][1]);
    let extent = points.iter().map(from_first).fold(0.0, f64::max);
    let turn = |o: [f64; 2], a: [f64; 2], b: [f64; 2]| {
        (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])
    };
    let half = |points: &mut dyn Iterator<Item = [f64; 2]>| {
        let mut chain: Vec<[f64; 2]> = Vec::new();
        for p in points {
            while chain.len() >= 2
                && turn(chain[chain.len() - 2], chain[chain.len() - 1], p)
                    <= 1e-12 * extent * extent
            {
                chain.pop();
            }
            chain.push(p);
        }
        chain.pop();
        chain
    };
    let mut corners = half(&mut sorted.iter().copied());
    corners.extend(half(&mut sorted.iter().rev().copied()));
    if corners.len() < 3 {
        return Err(ShapeError::Flat { thickness: 0.0, extent });
    }
    Ok(corners)
}

/// Area and mass properties of a prism of density 1 over the polygon.
fn mass(vertices: &[[f64; 2]], thickness: f64) -> (f64, MassProperties) {
    let o = vertices[0];
    let (mut area, mut sx, mut sy) = (0.0, 0.0, 0.0);
    let (mut xx, mut yy, mut xy) = (0.0, 0.0, 0.0);
    for k in 0..vertices.len() {
        let (p, q) = (vertices[k], vertices[(k + 1) % vertices.len()]);
        let (px, py, qx, qy) = (p[0] - o[0], p[1] - o[1], q[0] - o[0], q[1] - o[1]);
        let c = px * qy - py * qx;
        area += c / 2.0;
        sx += c * (px + qx) / 6.0;
        sy += c * (py + qy) / 6.0;
        xx += c * (px * px + px * qx + qx * qx) / 12.0;
        yy += c * (py * py + py * qy + qy * qy) / 12.0;
        xy += c * (2.0 * px * py + px * qy + qx * py + 2.0 * qx * qy) / 24.0;
    }
    let (cx, cy) = (sx / area, sy / area);
    let (xx, yy, xy) = (xx - area * cx * cx, yy - area * cy * cy, xy - area * cx * cy);
    let zz = area * thickness * thickness / 12.0;
    let inertia = Mat3::new(yy + zz, -xy, 0.0, -xy, xx + zz, 0.0, 0.0, 0.0, xx + yy) * thickness;
    let centre = Vec3::new(cx + o[0], cy + o[1], 0.0);
    (area, MassProperties { mass: area * thickness, centre, inertia })
}

#[cfg(test)]
mod tests {
    use super::super::Polyhedron;
    use super::*;
    use crate::math::fixtures::{Rng, seeded};
    use rand::RngExt;

    #[test]
    fn a_rectangle_with_extra_points_has_four_corners_and_the_textbook_inertia() {
        let points = [[0., 0.], [2., 0.], [2., 1.], [0., 1.], [1., 0.], [1., 0.5], [2., 0.5]];
        let p = Polygon::from_points(&points, 3.0).unwrap();
        assert_eq!(p.vertices().len(), 4);
        let m = p.unit_mass();
        assert!((m.mass - 6.0).abs() < 1e-14);
        assert!((m.centre - Vec3::new(1.0, 0.5, 0.0)).norm() < 1e-15);
        assert!((m.inertia[(2, 2)] - 6.0 * (4.0 + 1.0) / 12.0).abs() < 1e-14);
        assert!((m.inertia[(0, 0)] - 6.0 * (1.0 + 9.0) / 12.0).abs() < 1e-14);
    }

    #[test]
    fn collinear_points_are_refused() {
        assert!(Polygon::from_points(&[[0., 0.], [1., 1.], [2., 2.]], 1.0).is_err());
    }

    fn flat_cloud(rng: &mut Rng, n: usize) -> Vec<[f64; 2]> {
        (0..n).map(|_| [rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0)]).collect()
    }

    #[test]
    fn a_polygon_has_the_mass_of_the_prism_over_it() {
        let mut rng = seeded(81);
        for n in [3, 5, 12, 40] {
            let points = flat_cloud(&mut rng, n);
            let p = Polygon::from_points(&points, 0.7).unwrap();
            let prism: Vec<Vec3> = (p.vertices().iter())
                .flat_map(|[x, y]| [-0.35, 0.35].map(|z| Vec3::new(*x, *y, z)))
                .collect();
            let solid = *Polyhedron::from_points(&prism).unwrap().unit_mass();
            let flat = p.unit_mass();
            assert!(
                (solid.mass - flat.mass).abs() < 1e-13
                    && (p.area() * 0.7 - flat.mass).abs() < 1e-15
            );
            assert!((solid.centre - flat.centre).norm() < 1e-13);
            assert!((solid.inertia - flat.inertia).norm() < 1e-13);
        }
    }

    #[test]
    fn a_polygon_contains_all_points_between_its_sides() {
        let mut rng = seeded(82);
        for n in 3..60 {
            let points = flat_cloud(&mut rng, n);
            let p = Polygon::from_points(&points, 1.0).unwrap();
            for (corner, normal) in p.vertices().iter().zip(p.normals()) {
                assert!((length2(normal[0], normal[1]) - 1.0).abs() < 1e-15);
                for q in &points {
                    let height = normal[0] * (q[0] - corner[0]) + normal[1] * (q[1] - corner[1]);
                    // Corners that protrude by less than 1e-12 of the extent are dropped.
                    assert!(height < 1e-11, "{height}");
                }
            }
            let c = p.unit_mass().centre;
            let farthest = points.iter().map(|q| length2(q[0] - c.x, q[1] - c.y));
            let farthest = farthest.fold(0.0, f64::max);
            assert!(
                (p.outer_radius() - farthest).abs() < 1e-11,
                "over corners, hence over all points"
            );
            assert!(p.vertices().iter().all(|v| points.contains(v)));
        }
    }

    #[test]
    fn a_regular_polygon_has_the_moment_of_its_closed_form() {
        for n in [3, 4, 6, 17] {
            let angle = std::f64::consts::TAU / n as f64;
            let corner = |k: usize| {
                let (sin, cos) = (0.3 + angle * k as f64).sin_cos();
                [2.0 * cos + 5.0, 2.0 * sin - 7.0]
            };
            let p = Polygon::from_points(&(0..n).map(corner).collect::<Vec<_>>(), 1.0).unwrap();
            let area = 2.0 * n as f64 * angle.sin();
            assert_eq!(p.vertices().len(), n);
            assert!((p.area() - area).abs() < 1e-13);
            // I = A R² (2 + cos α)/6 about the middle.
            let moment = area * 4.0 * (2.0 + angle.cos()) / 6.0;
            assert!((p.unit_mass().inertia[(2, 2)] - moment).abs() < 1e-12);
            assert!((p.unit_mass().centre - Vec3::new(5.0, -7.0, 0.0)).norm() < 1e-14);
            assert!((p.outer_radius() - 2.0).abs() < 1e-14);
        }
    }

    #[test]
    fn mistakes_are_reported() {
        let said = |points: &[[f64; 2]], thickness| {
            Polygon::from_points(points, thickness).unwrap_err().to_string()
        };
        let triangle = [[0., 0.], [1., 0.], [0., 1.]];
        assert!(said(&triangle, 0.0).contains("thickness must be a positive length"));
        assert_eq!(said(&triangle[..2], 1.0), "at least 3 points are needed, got 2");
        let nan = [[0., 0.], [1., f64::NAN], [0., 1.]];
        assert_eq!(said(&nan, 1.0), "point 1 has a coordinate that is not finite");
    }
}

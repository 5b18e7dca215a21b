//! The part of a shape inside an axis-aligned box: its volume, or its area for planar shapes.

use super::{Curved, Polygon, Shape};
use crate::math::{Pose, Vec3};
use std::f64::consts::PI;

impl Shape {
    /// Volume of the part inside the box from `min` to `max` [m³]; for planar shapes the area inside
    /// the rectangle of its x and y [m²]. 0 for a half-space.
    ///
    /// Polyhedra, polygons and discs are exact up to rounding errors. The volume of a ball that
    /// crosses the surface of the box is an integral of exact areas with an error below 1e-12 of
    /// that of the ball. Capsules, cylinders, cones and rounded polyhedra that cross it are clipped as
    /// polyhedra of 64 facets around each circle, scaled to their exact volume: the error is below
    /// 1e-3 of it. Those inside count exactly. Parts of a compound are added, so overlaps between them count twice.
    ///
    /// ```
    /// use riprap::prelude::*;
    ///
    /// let cube = Shape::cuboid([0.2; 3])?;
    /// let half = cube.content_within(&Pose::at([1.0, 0.0, 0.0]), Vec3::zeros(), Vec3::repeat(1.0));
    /// assert!((half - 0.001).abs() < 1e-15); // half in each direction
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn content_within(&self, pose: &Pose, min: Vec3, max: Vec3) -> f64 {
        match self {
            Shape::HalfSpace { .. } => 0.0,
            Shape::Sphere { radius } => ball(*radius, min - pose.position, max - pose.position),
            Shape::Disc { radius, .. } => {
                let [low, high] = [min - pose.position, max - pose.position];
                disc(*radius, [low.x, low.y], [high.x, high.y])
            }
            Shape::Polyhedron(p) => {
                let points = p.vertices().iter().map(|v| pose.point(*v)).collect();
                let face = |i: usize| p.face(i).iter().map(|v| usize::from(*v));
                polyhedron((points, p.n_faces(), face), p.unit_mass().mass, min, max)
            }
            Shape::Curved(c) => curved(c, pose, min, max),
            Shape::Polygon(p) => polygon(p, pose, min, max),
            Shape::Compound(c) => {
                let part =
                    |(at, shape): &(Pose, Shape)| shape.content_within(&pose.compose(at), min, max);
                c.parts.iter().map(part).sum()
            }
        }
    }
}

/// The half-spaces whose intersection is a box: axis, sign and offset of `sign x_axis ≤ offset`.
fn sides(min: Vec3, max: Vec3, axes: usize) -> impl Iterator<Item = (usize, f64, f64)> {
    (0..axes).flat_map(move |axis| [(axis, 1.0, max[axis]), (axis, -1.0, -min[axis])])
}

/// The part of a convex loop of points with `sign x_axis ≤ offset`. Points where the loop crosses the
/// plane are also added to `crossings`.
fn clip_loop(
    points: &[Vec3],
    (axis, sign, offset): (usize, f64, f64),
    crossings: &mut Vec<Vec3>,
) -> Vec<Vec3> {
    let height = |p: &Vec3| sign * p[axis] - offset;
    let mut kept = Vec::with_capacity(points.len() + 2);
    for (k, p) in points.iter().enumerate() {
        let q = &points[(k + 1) % points.len()];
        let (a, b) = (height(p), height(q));
        if a <= 0.0 {
            kept.push(*p);
        }
        if (a <= 0.0) != (b <= 0.0) {
            let mut at = p + (q - p) * (a / (a - b));
            at[axis] = sign * offset;
            kept.push(at);
            crossings.push(at);
        }
    }
    kept
}

/// A shape with a curved surface: exact if inside or outside, otherwise by a polyhedron of the same
/// volume.
fn curved(c: &Curved, pose: &Pose, min: Vec3, max: Vec3) -> f64 {
    let exact = c.unit_mass().mass;
    let top = |k: usize, sign: f64| {
        let mut axis = Vec3::zeros();
        axis[k] = sign;
        c.height(pose.inverse_vector(axis)) + sign * pose.position[k]
    };
    if (0..3).any(|k| -top(k, -1.0) >= max[k] || top(k, 1.0) <= min[k]) {
        return 0.0;
    }
    if (0..3).all(|k| -top(k, -1.0) >= min[k] && top(k, 1.0) <= max[k]) {
        return exact;
    }
    let surface = c.surface(FACETS);
    let points: Vec<Vec3> = surface.corners.iter().map(|x| pose.point(*x)).collect();
    let corners = |f: &Vec<usize>| f.iter().map(|i| points[*i]).collect();
    let inscribed = volume_of(&surface.faces.iter().map(corners).collect::<Vec<_>>());
    let face = |i: usize| surface.faces[i].iter().copied();
    // A surface just inside the box has the whole volume.
    polyhedron((points, surface.faces.len(), face), inscribed, min, max) * (exact / inscribed)
}

/// Facets around each circle of a curved shape.
const FACETS: usize = 64;

/// The part of a convex polyhedron, given by its corners and faces, with a known volume.
fn polyhedron<F: Iterator<Item = usize>>(
    (points, n_faces, face): (Vec<Vec3>, usize, impl Fn(usize) -> F),
    volume: f64,
    min: Vec3,
    max: Vec3,
) -> f64 {
    let low = points.iter().fold(Vec3::repeat(f64::INFINITY), |m, x| m.inf(x));
    let high = points.iter().fold(Vec3::repeat(f64::NEG_INFINITY), |m, x| m.sup(x));
    if (0..3).any(|k| low[k] >= max[k] || high[k] <= min[k]) {
        return 0.0;
    }
    if (0..3).all(|k| low[k] >= min[k] && high[k] <= max[k]) {
        return volume;
    }
    let corners = |i: usize| face(i).map(|v| points[v]).collect();
    let mut faces: Vec<Vec<Vec3>> = (0..n_faces).map(corners).collect();
    for side in sides(min, max, 3) {
        let mut cap = Vec::new();
        for face in &mut faces {
            *face = clip_loop(face, side, &mut cap);
        }
        order_around(&mut cap, side.0, side.1);
        faces.push(cap);
        faces.retain(|face| face.len() > 2);
    }
    volume_of(&faces)
}

/// The volume inside closed convex faces [m³].
fn volume_of(faces: &[Vec<Vec3>]) -> f64 {
    let Some(origin) = faces.first().map(|face| face[0]) else { return 0.0 };
    let cone = |face: &Vec<Vec3>| -> f64 {
        let [a, rest @ ..] = &face[..] else { return 0.0 };
        let a = a - origin;
        rest.windows(2).map(|e| a.dot(&(e[0] - origin).cross(&(e[1] - origin)))).sum()
    };
    (faces.iter().map(cone).sum::<f64>() / 6.0).max(0.0)
}

/// Orders points of a convex loop perpendicular to an axis counter-clockwise about it, or clockwise if
/// the sign is negative.
fn order_around(points: &mut [Vec3], axis: usize, sign: f64) {
    let centre = points.iter().sum::<Vec3>() / points.len().max(1) as f64;
    let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
    let angle = |p: &Vec3| sign * (p[v] - centre[v]).atan2(p[u] - centre[u]);
    points.sort_by(|a, b| angle(a).total_cmp(&angle(b)));
}

fn polygon(p: &Polygon, pose: &Pose, min: Vec3, max: Vec3) -> f64 {
    let point = |v: &[f64; 2]| pose.point(Vec3::new(v[0], v[1], 0.0));
    let mut corners: Vec<Vec3> = p.vertices().iter().map(point).collect();
    for side in sides(min, max, 2) {
        corners = clip_loop(&corners, side, &mut Vec::new());
    }
    let [a, rest @ ..] = &corners[..] else { return 0.0 };
    let doubled = |e: &[Vec3]| (e[0] - a).cross(&(e[1] - a)).z;
    (0.5 * rest.windows(2).map(doubled).sum::<f64>()).max(0.0)
}

/// Area of a disc around the origin inside a rectangle [m²]: sum over its sides of the signed area of
/// the disc inside the triangle with the origin.
fn disc(radius: f64, min: [f64; 2], max: [f64; 2]) -> f64 {
    if (0..2).any(|k| min[k] >= radius || max[k] <= -radius) {
        return 0.0;
    }
    // A side beyond the disc cuts off nothing.
    let [low, high] = [min.map(|x| x.max(-2.0 * radius)), max.map(|x| x.min(2.0 * radius))];
    let corners = [low, [high[0], low[1]], high, [low[0], high[1]]];
    let area: f64 = (0..4).map(|k| in_triangle(radius, corners[k], corners[(k + 1) % 4])).sum();
    area.max(0.0)
}

/// Signed area of a disc around the origin inside the triangle of the origin, `p` and `q` [m²].
fn in_triangle(radius: f64, p: [f64; 2], q: [f64; 2]) -> f64 {
    let cross = |a: [f64; 2], b: [f64; 2]| a[0] * b[1] - a[1] * b[0];
    let dot = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
    let sector = |a: [f64; 2], b: [f64; 2]| 0.5 * radius * radius * cross(a, b).atan2(dot(a, b));
    let d = [q[0] - p[0], q[1] - p[1]];
    let (a, b, c) = (dot(d, d), dot(p, d), dot(p, p) - radius * radius);
    let root = b * b - a * c;
    if a == 0.0 || root <= 0.0 {
        return sector(p, q);
    }
    let at = |s: f64| [p[0] + s * d[0], p[1] + s * d[1]];
    let (enter, leave) = ((-b - root.sqrt()) / a, (-b + root.sqrt()) / a);
    if enter >= 1.0 || leave <= 0.0 {
        return sector(p, q);
    }
    let (first, last) = (at(enter.max(0.0)), at(leave.min(1.0)));
    let before = if enter > 0.0 { sector(p, first) } else { 0.0 };
    let after = if leave < 1.0 { sector(last, q) } else { 0.0 };
    before + 0.5 * cross(first, last) + after
}

/// Volume of a ball around the origin inside a box [m³]: the integral over z of the area of its
/// sections, piecewise between the heights at which a section starts to cross a side or a corner.
fn ball(radius: f64, min: Vec3, max: Vec3) -> f64 {
    if (0..3).any(|k| min[k] >= radius || max[k] <= -radius) {
        return 0.0;
    }
    if (0..3).all(|k| min[k] <= -radius && max[k] >= radius) {
        return 4.0 / 3.0 * PI * radius * radius * radius;
    }
    let (low, high) = (min.z.max(-radius), max.z.min(radius));
    let mut heights = vec![low, high];
    let (xs, ys) = ([min.x, max.x, 0.0], [min.y, max.y, 0.0]);
    for rest in xs.iter().flat_map(|x| ys.iter().map(move |y| radius * radius - x * x - y * y)) {
        let z = rest.max(0.0).sqrt();
        heights.extend([-z, z].into_iter().filter(|z| *z > low && *z < high));
    }
    heights.sort_by(f64::total_cmp);
    let area = |z: f64| {
        let section = (radius * radius - z * z).max(0.0).sqrt();
        disc(section, [min.x, min.y], [max.x, max.y])
    };
    heights.windows(2).map(|w| integral(w[0], w[1], area)).sum()
}

/// Integral of a function that behaves like a power of a square root at both ends, by the
/// double-exponential rule: with `z = mean + half tanh(π/2 sinh s)` it decays so fast in `s` that the
/// trapezoidal rule converges geometrically.
fn integral(from: f64, to: f64, function: impl Fn(f64) -> f64) -> f64 {
    const STEP: f64 = 1.0 / 16.0;
    const N: i32 = 54;
    let (mean, half) = (0.5 * (from + to), 0.5 * (to - from));
    let term = |k: i32| {
        let s = STEP * f64::from(k);
        let (x, slope) = (0.5 * PI * s.sinh(), 0.5 * PI * s.cosh());
        let weight = slope / (x.cosh() * x.cosh());
        weight * function(mean + half * x.tanh())
    };
    half * STEP * (-N..=N).map(term).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(found: f64, expected: f64, scale: f64) {
        assert!((found - expected).abs() < 1e-12 * scale, "{found} {expected}");
    }

    /// Boxes that fill space: between these planes along each axis.
    fn cells(cuts: [f64; 2]) -> Vec<[Vec3; 2]> {
        let ends = [-9.0, cuts[0], cuts[1], 9.0];
        let corner = |k: usize, shift: usize| {
            Vec3::new(ends[k % 3 + shift], ends[k / 3 % 3 + shift], ends[k / 9 + shift])
        };
        (0..27).map(|k| [corner(k, 0), corner(k, 1)]).collect()
    }

    #[test]
    fn caps_quarters_and_octants_of_a_ball_have_their_closed_forms() {
        let (r, far) = (0.3_f64, Vec3::repeat(9.0));
        let whole = 4.0 / 3.0 * PI * r.powi(3);
        let ball = Shape::sphere(r).unwrap();
        for axis in 0..3 {
            for h in [0.01, 0.2, 0.3, 0.55] {
                let mut max = far;
                max[axis] = h - r;
                let cap = PI * h * h * (3.0 * r - h) / 3.0;
                near(ball.content_within(&Pose::IDENTITY, -far, max), cap, whole);
            }
        }
        let quarter = Vec3::new(0.0, 9.0, 0.0);
        near(ball.content_within(&Pose::IDENTITY, -far, quarter), whole / 4.0, whole);
        near(ball.content_within(&Pose::IDENTITY, -far, Vec3::zeros()), whole / 8.0, whole);
        // A cube inside the ball, and one that contains it.
        let small = Vec3::repeat(0.1);
        near(ball.content_within(&Pose::IDENTITY, -small, small), 0.008, whole);
        near(ball.content_within(&Pose::IDENTITY, -far, far), whole, whole);
    }

    #[test]
    fn the_parts_of_a_shape_in_boxes_that_fill_space_add_up_to_the_shape() {
        let points: Vec<Vec3> = (0..12)
            .map(|k| {
                let a = 2.4 * k as f64;
                Vec3::new(0.3 * a.cos(), 0.3 * a.sin(), 0.05 * k as f64 - 0.25)
            })
            .collect();
        let shapes = [
            Shape::sphere(0.31).unwrap(),
            Shape::hull(&points).unwrap(),
            Shape::cuboid([0.4, 0.2, 0.6]).unwrap(),
            Shape::compound(vec![
                (Pose::at([0.2, 0.0, 0.1]), Shape::sphere(0.1).unwrap()),
                (Pose::IDENTITY, Shape::cuboid([0.3; 3]).unwrap()),
            ])
            .unwrap(),
        ];
        for (k, shape) in shapes.iter().enumerate() {
            let pose = Pose::at([0.03, -0.01, 0.02]).turned([1.0, 2.0, -1.0], 0.7 + k as f64);
            let whole = shape.mass_properties(1.0).unwrap().mass;
            for cuts in [[-0.1, 0.12], [-0.02, 0.25], [0.02, 0.03]] {
                let part = |c: [Vec3; 2]| shape.content_within(&pose, c[0], c[1]);
                near(cells(cuts).into_iter().map(part).sum(), whole, whole);
            }
        }
    }

    #[test]
    fn planar_shapes_have_their_area_inside_a_rectangle() {
        let far = Vec3::repeat(9.0);
        let disc = Shape::disc(0.5, 2.0).unwrap();
        let area = PI * 0.25;
        near(disc.content_within(&Pose::at([3.0, 1.0, 0.0]), -far, far), area, area);
        near(disc.content_within(&Pose::IDENTITY, -far, Vec3::zeros()), area / 4.0, area);
        // The segment beyond half the radius.
        let beyond = Vec3::new(0.25, -9.0, 0.0);
        let (angle, r) = (PI / 3.0, 0.5_f64);
        let segment = r * r * (angle - angle.sin() * angle.cos());
        near(disc.content_within(&Pose::IDENTITY, beyond, far), segment, area);

        let square = Shape::polygon(&[[0., 0.], [1., 0.], [1., 1.], [0., 1.]], 0.3).unwrap();
        let turned = Pose::IDENTITY.turned([0.0, 0.0, 1.0], PI / 4.0);
        let upper = Vec3::new(-9.0, 0.5_f64.sqrt(), 0.0);
        near(square.content_within(&turned, upper, far), 0.5, 1.0);
    }

    #[test]
    fn a_shape_that_only_touches_a_box_has_nothing_inside() {
        let (low, high) = (Vec3::zeros(), Vec3::repeat(1.0));
        let cube = Shape::cuboid([0.2; 3]).unwrap();
        assert_eq!(cube.content_within(&Pose::at([0.5, 0.5, -0.1]), low, high), 0.0);
        // Faces in the planes of the box belong to it.
        near(cube.content_within(&Pose::at([0.1, 0.1, 0.9]), low, high), 0.008, 0.008);
        near(cube.content_within(&Pose::at([0.1, 0.0, 0.9]), low, high), 0.004, 0.008);
        let wall = Shape::half_space([0.0, 0.0, 1.0]).unwrap();
        assert_eq!(wall.content_within(&Pose::IDENTITY, low, high), 0.0);
    }
}

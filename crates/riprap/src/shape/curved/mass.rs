//! Mass, centre and inertia of shapes with curved surfaces, in closed form.

use super::Core;
use crate::math::{Mat3, Vec3};
use crate::shape::{MassProperties, Polyhedron};
use std::f64::consts::PI;

/// For a density of 1 kg/m³.
pub(super) fn unit_mass(core: &Core, r: f64) -> MassProperties {
    match core {
        Core::Segment { half } => capsule(r, *half),
        Core::Cylinder { radius, half } => MassProperties::cylinder(*radius, 2.0 * half, 1.0),
        Core::Cone { radius, half } => cone(*radius, 2.0 * half),
        Core::Hull(p) => rounded(p, r),
    }
}

/// The cylinder between the centres of the ends, and two half-balls whose centres of mass are 3/8 r
/// beyond.
fn capsule(r: f64, half: f64) -> MassProperties {
    let middle = MassProperties::cylinder(r, 2.0 * half, 1.0);
    let ball = 4.0 / 3.0 * PI * r * r * r;
    let along = 0.4 * ball * r * r;
    let across = along + ball * half * (half + 0.75 * r);
    let ends = Mat3::from_diagonal(&Vec3::new(across, across, along));
    MassProperties {
        mass: middle.mass + ball,
        centre: Vec3::zeros(),
        inertia: middle.inertia + ends,
    }
}

/// The centre of mass is at a quarter of the height above the base, which is at −h/2.
fn cone(r: f64, h: f64) -> MassProperties {
    let mass = PI * r * r * h / 3.0;
    let along = 0.3 * mass * r * r;
    let across = mass * (0.15 * r * r + 0.0375 * h * h);
    let inertia = Mat3::from_diagonal(&Vec3::new(across, across, along));
    MassProperties { mass, centre: Vec3::new(0.0, 0.0, -0.25 * h), inertia }
}

/// Volume, first and second moments about a point.
#[derive(Default)]
struct Moments {
    volume: f64,
    first: Vec3,
    second: Mat3,
}

impl Moments {
    /// Adds a piece given by its moments about `at`.
    fn add(&mut self, volume: f64, first: Vec3, second: Mat3, at: Vec3) {
        self.volume += volume;
        self.first += first + at * volume;
        self.second += second + sym(at, first) + at * at.transpose() * volume;
    }
}

/// `a bᵀ + b aᵀ`.
fn sym(a: Vec3, b: Vec3) -> Mat3 {
    let product = a * b.transpose();
    product + product.transpose()
}

/// A rounded polyhedron in the pieces of Steiner's formula: the polyhedron, a prism of height r on each
/// face, a sector of a cylinder along each edge, and a sector of a ball at each corner.
fn rounded(p: &Polyhedron, r: f64) -> MassProperties {
    // Moments about the centre of the polyhedron, so that no digits are lost far from the origin.
    let about = p.centre();
    let point = |v: u16| p.vertices()[usize::from(v)] - about;
    let core = p.unit_mass();
    let second = Mat3::identity() * (0.5 * core.inertia.trace()) - core.inertia;
    let mut sum = Moments::default();
    sum.add(core.mass, Vec3::zeros(), second, Vec3::zeros());
    for i in 0..p.n_faces() {
        let corners: Vec<Vec3> = p.face(i).iter().map(|v| point(*v)).collect();
        add_prism(&corners, p.face_normals()[i], r, &mut sum);
    }
    // At each corner: solid angle of its normals, their integral, and that of n nᵀ.
    let mut angles: Vec<(f64, Vec3, Mat3)> =
        vec![(2.0 * PI, Vec3::zeros(), Mat3::zeros()); p.vertices().len()];
    for i in 0..p.n_faces() {
        let corners = p.face(i);
        let n = corners.len();
        for (k, v) in corners.iter().enumerate() {
            let (before, after) = (corners[(k + n - 1) % n], corners[(k + 1) % n]);
            let (a, b) = (point(before) - point(*v), point(after) - point(*v));
            angles[usize::from(*v)].0 -= a.cross(&b).norm().atan2(a.dot(&b));
        }
    }
    for edge in p.edges() {
        let [n1, n2] = edge.faces.map(|f| p.face_normals()[usize::from(f)]);
        let theta = n1.cross(&n2).norm().atan2(n1.dot(&n2));
        // The integral of n over the arc from n1 to n2.
        let arc = (n1 + n2) * (0.5 * theta).tan();
        let [u, v] = edge.vertices.map(point);
        add_sector([u, v], [n1, n2], (theta, arc), r, &mut sum);
        // On the sphere, the divergence theorem for n and for 3 n nᵀ − 1 leaves integrals over the
        // arcs, whose outward conormal is the direction of the edge away from the corner.
        let along = (v - u).normalize();
        for (vertex, outward) in [(edge.vertices[0], along), (edge.vertices[1], -along)] {
            let corner = &mut angles[usize::from(vertex)];
            corner.1 -= outward * (0.5 * theta);
            corner.2 -= sym(outward, arc) / 6.0;
        }
    }
    for (v, (omega, first, second)) in angles.into_iter().enumerate() {
        let second = second + Mat3::identity() * (omega / 3.0);
        let (r3, r4, r5) = (r.powi(3) / 3.0, r.powi(4) / 4.0, r.powi(5) / 5.0);
        sum.add(omega * r3, first * r4, second * r5, point(v as u16));
    }
    let centre = sum.first / sum.volume;
    let second = sum.second - centre * centre.transpose() * sum.volume;
    let inertia = Mat3::identity() * second.trace() - second;
    MassProperties { mass: sum.volume, centre: centre + about, inertia }
}

/// The prism of height r on a face.
fn add_prism(corners: &[Vec3], n: Vec3, r: f64, sum: &mut Moments) {
    let (mut area, mut first, mut second) = (0.0, Vec3::zeros(), Mat3::zeros());
    let [a, rest @ ..] = corners else { return };
    for pair in rest.windows(2) {
        let (b, c) = (pair[0], pair[1]);
        let (s, part) = (a + b + c, 0.5 * (b - a).cross(&(c - a)).dot(&n));
        area += part;
        first += s * (part / 3.0);
        let squares = a * a.transpose() + b * b.transpose() + c * c.transpose();
        second += (squares + s * s.transpose()) * (part / 12.0);
    }
    let upright = n * n.transpose() * (area * r.powi(3) / 3.0);
    let second = second * r + sym(first, n) * (0.5 * r * r) + upright;
    sum.add(area * r, first * r + n * (0.5 * area * r * r), second, Vec3::zeros());
}

/// The sector of a cylinder along an edge, between the normals of its two faces.
fn add_sector(
    [u, v]: [Vec3; 2],
    [n1, n2]: [Vec3; 2],
    (theta, arc): (f64, Vec3),
    r: f64,
    sum: &mut Moments,
) {
    let length = (v - u).norm();
    let along = (v - u) / length;
    let Some(bisector) = (n1 + n2).try_normalize(1e-300) else { return };
    let other = along.cross(&bisector);
    let area = 0.5 * theta * r * r;
    // ∫ n nᵀ over the arc, about its bisector.
    let (mean, swing) = (0.5 * theta, 0.5 * theta.sin());
    let across = bisector * bisector.transpose() * (mean + swing)
        + other * other.transpose() * (mean - swing);
    let lengthwise = along * along.transpose() * (area * length.powi(3) / 12.0);
    let second = across * (length * r.powi(4) / 4.0) + lengthwise;
    sum.add(area * length, arc * (length * r.powi(3) / 3.0), second, (u + v) * 0.5);
}

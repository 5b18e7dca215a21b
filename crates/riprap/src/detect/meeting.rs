//! How two bodies meet at a contact point: which features touch, fixed in the frames of the bodies. While the same
//! features meet, the gap is a smooth function of the poses, and its first and second derivatives are exact.

use super::manifold::CROSSING;
use super::{Collider, ContactPoint, Geometry};
use crate::math::{Pose, Twist, Vec3};
use crate::shape::Polyhedron;

/// Features that meet, in the frames of their bodies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meeting {
    /// A point of one body, or a ball around it, and a plane of the other:
    /// `g = n·(c − x) − d − r` (Schwager and Pöschel 2002, Eq. 9).
    PointPlane {
        /// Which of the two bodies has the plane.
        plane: usize,
        /// Outward normal of the plane [–].
        normal: Vec3,
        /// Its distance from the origin of its body along the normal [m].
        offset: f64,
        /// The point on the other body [m].
        point: Vec3,
        /// Radius of the ball around the point [m].
        radius: f64,
    },
    /// Two balls, one of which may be a corner: `g = |c₂ − c₁| − r₁ − r₂` (Eq. 8).
    Round {
        /// Centres [m].
        centres: [Vec3; 2],
        /// Radii [m].
        radii: [f64; 2],
    },
    /// A ball and a straight edge.
    RoundEdge {
        /// Which of the two bodies has the edge.
        edge: usize,
        /// A point of the edge [m].
        origin: Vec3,
        /// Unit vector along it [–].
        direction: Vec3,
        /// Centre of the ball on the other body [m].
        centre: Vec3,
        /// Its radius [m].
        radius: f64,
    },
    /// Two edges that cross; the normal is perpendicular to both.
    Edges {
        /// A point of each edge [m].
        origins: [Vec3; 2],
        /// Unit vectors along them [–], such that `e₁ × e₂` points from the first body to the second.
        directions: [Vec3; 2],
    },
}

/// A contact at given poses and velocities. The relative velocity of the two bodies at `point` is `s`; then
/// `ġ = n·s`, and `ṡ` follows from the accelerations of the bodies and `point_rate`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Placement {
    /// Gap [m].
    pub gap: f64,
    /// Unit normal from the first body to the second [–], and its rate [1/s].
    pub normal: Vec3,
    /// Rate of the normal [1/s].
    pub normal_rate: Vec3,
    /// Contact point [m].
    pub point: Vec3,
    /// Velocity of the contact point, which moves over both bodies [m/s].
    pub point_rate: Vec3,
}

/// Cosine above which a normal is that of a face.
const ALONG: f64 = 1.0 - 1e-9;

impl Meeting {
    /// The features that meet at a point detected at these poses of the bodies.
    pub fn of(colliders: [&Collider; 2], bodies: [&Pose; 2], point: &ContactPoint) -> Meeting {
        use Geometry::{Ball, HalfSpace};
        let [a, b] = [0, 1].map(|s| Side { collider: colliders[s], body: bodies[s] });
        let n = point.normal;
        let surface = [point.point - n * (0.5 * point.gap), point.point + n * (0.5 * point.gap)];
        match (&colliders[0].geometry, &colliders[1].geometry) {
            (Ball(ra), Ball(rb)) => {
                Meeting::Round { centres: [a.origin(), b.origin()], radii: [*ra, *rb] }
            }
            (Ball(r), _) => round(1, &b, -n, surface[1], a.origin(), *r),
            (_, Ball(r)) => round(0, &a, n, surface[0], b.origin(), *r),
            (HalfSpace(_), _) => plane(0, a.face(n), b.body.inverse_point(surface[1]), 0.0),
            (_, HalfSpace(_)) => plane(1, b.face(-n), a.body.inverse_point(surface[0]), 0.0),
            _ => faceted([&a, &b], surface, point),
        }
    }

    /// A point of the second body and a plane of the first, as chosen by the user.
    pub fn chosen(normal: Vec3, [on_plane, point]: [Vec3; 2]) -> Meeting {
        plane(0, Some((normal, normal.dot(&on_plane))), point, 0.0)
    }

    /// The contact at given poses and velocities of the two bodies.
    pub fn at(&self, q: [&Pose; 2], v: [&Twist; 2]) -> Placement {
        match *self {
            Meeting::PointPlane { plane, normal, offset, point, radius } => {
                let (c, c_rate) = moving_point(q[1 - plane], v[1 - plane], point);
                let n = q[plane].vector(normal);
                let n_rate = v[plane].angular.cross(&n);
                let arm = c - q[plane].position;
                let gap = n.dot(&arm) - offset - radius;
                let gap_rate = n.dot(&(c_rate - v[plane].linear - v[plane].angular.cross(&arm)));
                // On the plane: two points on one plane then have the same tangential velocities to the last digit.
                let sign = if plane == 0 { 1.0 } else { -1.0 };
                Placement {
                    gap,
                    normal: n * sign,
                    normal_rate: n_rate * sign,
                    point: c - n * (radius + gap),
                    point_rate: c_rate - n_rate * (radius + gap) - n * gap_rate,
                }
            }
            Meeting::Round { centres, radii } => {
                let [(a, a_rate), (b, b_rate)] =
                    [0, 1].map(|s| moving_point(q[s], v[s], centres[s]));
                apart(a, a_rate, b, b_rate, radii)
            }
            Meeting::RoundEdge { edge, origin, direction, centre, radius } => {
                let (c, c_rate) = moving_point(q[1 - edge], v[1 - edge], centre);
                let (p, p_rate) = moving_point(q[edge], v[edge], origin);
                let e = q[edge].vector(direction);
                let e_rate = v[edge].angular.cross(&e);
                let along = e.dot(&(c - p));
                let along_rate = e_rate.dot(&(c - p)) + e.dot(&(c_rate - p_rate));
                let foot = p + e * along;
                let foot_rate = p_rate + e_rate * along + e * along_rate;
                match edge {
                    0 => apart(foot, foot_rate, c, c_rate, [0.0, radius]),
                    _ => apart(c, c_rate, foot, foot_rate, [radius, 0.0]),
                }
            }
            Meeting::Edges { origins, directions } => crossing(origins, directions, q, v),
        }
    }
}

/// Position [m] and velocity [m/s] of a point of a body.
fn moving_point(q: &Pose, v: &Twist, point: Vec3) -> (Vec3, Vec3) {
    let arm = q.vector(point);
    (q.position + arm, v.linear + v.angular.cross(&arm))
}

/// Two balls around moving centres.
fn apart(a: Vec3, a_rate: Vec3, b: Vec3, b_rate: Vec3, radii: [f64; 2]) -> Placement {
    let (d, d_rate) = (b - a, b_rate - a_rate);
    let distance = d.norm();
    // Concentric: any normal will do.
    let n = if distance > 0.0 { d / distance } else { Vec3::x() };
    let turn = (d_rate - n * n.dot(&d_rate)) / distance.max(f64::MIN_POSITIVE);
    Placement {
        gap: distance - radii[0] - radii[1],
        normal: n,
        normal_rate: turn,
        point: a + n * radii[0],
        point_rate: a_rate + turn * radii[0],
    }
}

/// Two lines: the normal is perpendicular to both, and the contact point is the nearest point on the first.
fn crossing(origins: [Vec3; 2], directions: [Vec3; 2], q: [&Pose; 2], v: [&Twist; 2]) -> Placement {
    let [(a, a_rate), (b, b_rate)] = [0, 1].map(|s| moving_point(q[s], v[s], origins[s]));
    let [e, f] = [0, 1].map(|s| q[s].vector(directions[s]));
    let [e_rate, f_rate] = [v[0].angular.cross(&e), v[1].angular.cross(&f)];
    let (cross, cross_rate) = (e.cross(&f), e_rate.cross(&f) + e.cross(&f_rate));
    let length = cross.norm();
    let n = cross / length;
    let normal_rate = (cross_rate - n * n.dot(&cross_rate)) / length;
    let (w, w_rate) = (b - a, b_rate - a_rate);
    let (c, c_rate) = (e.dot(&f), e_rate.dot(&f) + e.dot(&f_rate));
    // t = (w·e − c w·f)/(1 − c²)
    let (we, wf) = (w.dot(&e), w.dot(&f));
    let we_rate = w_rate.dot(&e) + w.dot(&e_rate);
    let wf_rate = w_rate.dot(&f) + w.dot(&f_rate);
    let below = 1.0 - c * c;
    let t = (we - c * wf) / below;
    let t_rate = (we_rate - c_rate * wf - c * wf_rate + 2.0 * c * c_rate * t) / below;
    Placement {
        gap: n.dot(&w),
        normal: n,
        normal_rate,
        point: a + e * t,
        point_rate: a_rate + e_rate * t + e * t_rate,
    }
}

/// A collider and the pose of its body.
struct Side<'a> {
    collider: &'a Collider,
    body: &'a Pose,
}

impl Side<'_> {
    /// Origin of the collider in the frame of its body [m].
    fn origin(&self) -> Vec3 {
        self.collider.pose.position
    }

    /// The face whose outward normal points along `n` (world frame): normal and offset in the frame of the body.
    fn face(&self, n: Vec3) -> Option<(Vec3, f64)> {
        self.nearest_face(n).map(|(_, face)| face)
    }

    /// The same with the cosine of the angle between the two [–].
    fn nearest_face(&self, n: Vec3) -> Option<(f64, (Vec3, f64))> {
        let pose = &self.collider.pose;
        let local = pose.inverse_vector(self.body.inverse_vector(n));
        let mut best: (f64, Option<(Vec3, f64)>) = (ALONG, None);
        let mut take = |normal: Vec3, offset: f64| {
            let cosine = normal.dot(&local);
            if cosine > best.0 {
                best = (cosine, Some((normal, offset)));
            }
        };
        match &self.collider.geometry {
            // Schemes that anchor contacts in features refuse curved shapes.
            Geometry::Ball(_) | Geometry::Curved(_) => {}
            Geometry::HalfSpace(normal) => take(*normal, 0.0),
            Geometry::Polyhedron(p) => {
                p.face_normals().iter().zip(p.face_offsets()).for_each(|(n, d)| take(*n, *d));
            }
            Geometry::Polygon(p) => {
                for (n, v) in p.normals().iter().zip(p.vertices()) {
                    take(Vec3::new(n[0], n[1], 0.0), n[0] * v[0] + n[1] * v[1]);
                }
            }
        }
        let (normal, offset) = best.1?;
        let normal = pose.vector(normal);
        Some((best.0, (normal, offset + normal.dot(&pose.position))))
    }

    /// The plane through a point of the world with a normal in the world frame.
    fn plane(&self, n: Vec3, through: Vec3) -> (Vec3, f64) {
        let normal = self.body.inverse_vector(n);
        (normal, normal.dot(&self.body.inverse_point(through)))
    }

    /// The corner at a point of the world, in the frame of the body.
    fn corner(&self, at: Vec3) -> Option<Vec3> {
        let pose = &self.collider.pose;
        let x = pose.inverse_point(self.body.inverse_point(at));
        let near = |v: &Vec3, size: f64| (v - x).norm() <= 1e-9 * size;
        let corner = match &self.collider.geometry {
            Geometry::Polyhedron(p) => {
                p.vertices().iter().find(|v| near(v, p.outer_radius())).copied()
            }
            Geometry::Polygon(p) => {
                let corner = |v: &[f64; 2]| Vec3::new(v[0], v[1], 0.0);
                p.vertices().iter().map(corner).find(|v| near(v, p.outer_radius()))
            }
            _ => None,
        };
        corner.map(|v| pose.point(v))
    }

    /// A point and the direction of an edge, in the frame of the body.
    fn edge(&self, p: &Polyhedron, edge: usize) -> (Vec3, Vec3) {
        let pose = &self.collider.pose;
        (pose.point(p.edge_ends(edge)[0]), pose.vector(p.edge_direction(edge)))
    }

    /// The edge nearest to a point of the world.
    fn nearest_edge(&self, at: Vec3) -> Option<(Vec3, Vec3)> {
        let Geometry::Polyhedron(p) = &self.collider.geometry else { return None };
        let x = self.collider.pose.inverse_point(self.body.inverse_point(at));
        let distance = |k: usize| {
            let [a, b] = p.edge_ends(k);
            let e = b - a;
            let s = (e.dot(&(x - a)) / e.norm_squared()).clamp(0.0, 1.0);
            (a + e * s - x).norm_squared()
        };
        let nearest = (0..p.edges().len()).min_by(|i, j| distance(*i).total_cmp(&distance(*j)))?;
        Some(self.edge(p, nearest))
    }
}

/// A point and a plane; without a plane (never for half-spaces) the gap is that of a plane far away.
fn plane(plane: usize, face: Option<(Vec3, f64)>, point: Vec3, radius: f64) -> Meeting {
    let (normal, offset) = face.unwrap_or((Vec3::x(), f64::NEG_INFINITY));
    Meeting::PointPlane { plane, normal, offset, point, radius }
}

/// A ball against the surface of side `k`, which it touches at `at` along its outward normal `n`.
fn round(k: usize, side: &Side, n: Vec3, at: Vec3, centre: Vec3, radius: f64) -> Meeting {
    if let Some(face) = side.face(n) {
        return plane(k, Some(face), centre, radius);
    }
    if let Some(corner) = side.corner(at) {
        let (mut centres, mut radii) = ([centre; 2], [radius; 2]);
        (centres[k], radii[k]) = (corner, 0.0);
        return Meeting::Round { centres, radii };
    }
    match side.nearest_edge(at) {
        Some((origin, direction)) => {
            Meeting::RoundEdge { edge: k, origin, direction, centre, radius }
        }
        None => plane(k, Some(side.plane(n, at)), centre, radius),
    }
}

/// Two polygons or polyhedra. Without a face along the normal and without crossing edges (two corners), the normal is
/// fixed to the first body.
fn faceted([a, b]: [&Side; 2], surface: [Vec3; 2], point: &ContactPoint) -> Meeting {
    let n = point.normal;
    // All points of two faces that meet belong to the same face.
    match (a.nearest_face(n), b.nearest_face(-n)) {
        (Some((x, face)), other) if other.is_none_or(|(y, _)| x >= y) => {
            return plane(0, Some(face), b.body.inverse_point(surface[1]), 0.0);
        }
        (_, Some((_, face))) => {
            return plane(1, Some(face), a.body.inverse_point(surface[0]), 0.0);
        }
        _ => {}
    }
    let kind = point.feature >> 30;
    if let (CROSSING, Geometry::Polyhedron(p), Geometry::Polyhedron(q)) =
        (kind, &a.collider.geometry, &b.collider.geometry)
    {
        let edges = [(point.feature >> 15) & 0x7fff, point.feature & 0x7fff].map(|k| k as usize);
        if edges[0] < p.edges().len() && edges[1] < q.edges().len() {
            let [(pa, ea), (pb, eb)] = [a.edge(p, edges[0]), b.edge(q, edges[1])];
            let cross = a.body.vector(ea).cross(&b.body.vector(eb));
            if cross.norm() > 1e-6 && cross.normalize().dot(&n).abs() > 1.0 - 1e-6 {
                let ea = if cross.dot(&n) > 0.0 { ea } else { -ea };
                return Meeting::Edges { origins: [pa, pb], directions: [ea, eb] };
            }
        }
    }
    plane(0, Some(a.plane(n, surface[0])), b.body.inverse_point(surface[1]), 0.0)
}

#[cfg(test)]
mod tests;

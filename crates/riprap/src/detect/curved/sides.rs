//! The sides of two shapes that face each other, and the points where they meet: corners and rims of one above the
//! other, and crossings of their boundaries. Heights are measured along the normal between cores.

use super::view::{Core, View};
use crate::detect::manifold::{CROSSING, ManifoldPoint, VERTEX_A, VERTEX_B, feature};
use crate::math::{Vec3, length2, tangents};

/// The part of a core that faces along a direction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Side {
    /// A point or a steep corner: only the closest points count.
    #[default]
    Tip,
    /// A segment; the surface around it has this radius of curvature [m]. Ids of its ends.
    Line { ends: [Vec3; 2], curvature: f64, ids: [u32; 2] },
    /// A face whose corners are in the list.
    Face { normal: Vec3 },
    /// A disc whose rim points are in the list.
    Disc { normal: Vec3, centre: Vec3, radius: f64 },
}

/// A side with its corners or points of its rim, and their ids.
#[derive(Clone, Debug, Default)]
pub(super) struct Facing {
    pub side: Side,
    pub corners: Vec<(Vec3, u32)>,
    /// Ids of the edges of a face: entry `k` starts at corner `k`.
    edges: Vec<u32>,
}

/// Points around a rim: an eighth of a turn costs a standing cylinder 8 % of its support, a sixteenth 2 %.
const SPOKES: usize = 16;
/// Tilt above which the lowest point of a rim is one of its points [rad]; below it, that point is
/// ill-defined, and its depth differs by less than 1e-7 of the radius.
const FLAT: f64 = 3e-6;
/// A shape moves along the side it stands on if it does so by more than this fraction of its motion towards it.
const ALONG: f64 = 1e-4;
/// Ids of rim points: in fixed directions, from the direction of motion on, and from the lowest point on.
const FIXED: u32 = 0x1000;
const MOVING: u32 = 0x1020;
const LOWEST: u32 = 0x1040;
/// Id of the tip of a cone.
const TIP: u32 = 0x1080;
/// Cosine above which a face counts as facing.
const FACE: f64 = 0.9;
/// The same for flat ends; with less, the generator line faces.
const END: f64 = 0.7;
/// Sine up to which an edge counts as lying across the normal.
const EDGE: f64 = 0.5;

/// Points of the rim of a shape of revolution at a height, in its frame, for a direction `d` in which it
/// faces: only the farthest one, or all if its motion without contacts over the step is given. A shape that stands flat
/// tips over the point of its rim in the direction of that motion, down a slope, which is the first point.
pub(super) fn rim(
    d: Vec3,
    (radius, z): (f64, f64),
    motion: Option<&dyn Fn() -> Vec3>,
    mut visit: impl FnMut(Vec3, u32),
) {
    let upper = if z > 0.0 { SPOKES as u32 } else { 0 };
    let across = length2(d.x, d.y);
    let (u, first) = match (across > FLAT, motion) {
        (true, _) => ([d.x / across, d.y / across], LOWEST),
        (false, Some(motion)) => start_of_flat_rim(motion()),
        (false, None) => ([1.0, 0.0], FIXED),
    };
    let n = if motion.is_some() { SPOKES } else { 1 };
    for (k, [cos, sin]) in spokes().into_iter().enumerate().take(n) {
        let (x, y) = (u[0] * cos - u[1] * sin, u[1] * cos + u[0] * sin);
        visit(Vec3::new(radius * x, radius * y, z), first + upper + k as u32);
    }
}

/// The direction of the first point of a rim that stands flat, and its id, for a motion in its frame.
fn start_of_flat_rim(motion: Vec3) -> ([f64; 2], u32) {
    let along = length2(motion.x, motion.y);
    match along > ALONG * motion.z.abs() {
        true => ([motion.x / along, motion.y / along], MOVING),
        false => ([1.0, 0.0], FIXED),
    }
}

/// Cosine and sine of the angles around a rim.
fn spokes() -> [[f64; 2]; SPOKES] {
    let (c, s, h) = (0.923_879_532_511_286_8, 0.382_683_432_365_089_8, 0.5f64.sqrt());
    let quarter = [[1.0, 0.0], [c, s], [h, h], [s, c]];
    std::array::from_fn(|k| {
        let [x, y] = quarter[k % 4];
        [[x, y], [-y, x], [-x, -y], [y, -x]][k / 4]
    })
}

/// The tip of a cone at half its height, with its id.
pub(super) fn tip(half: f64) -> (Vec3, u32) {
    (Vec3::new(0.0, 0.0, half), TIP)
}

impl Facing {
    /// The side of a shape along `n`, given the relative motion of the two shapes without contacts over the step.
    pub fn set(&mut self, view: &View, n: Vec3, motion: &dyn Fn() -> Vec3) {
        self.corners.clear();
        self.edges.clear();
        let d = view.local(n);
        self.side = match view.core {
            Core::Point => Side::Tip,
            Core::Segment { half } => {
                let ends = [-half, half].map(|z| view.point(Vec3::new(0.0, 0.0, z)));
                Side::Line { ends, curvature: view.radius, ids: [0, 1] }
            }
            Core::Cylinder { radius, half } if d.z.abs() < END => {
                self.generator(view, d, [(radius, -half), (radius, half)])
            }
            Core::Cylinder { radius, half } => {
                self.end(view, d, (radius, half.copysign(d.z)), motion)
            }
            Core::Cone { radius, half } if d.z > -END => {
                self.generator(view, d, [(radius, -half), (0.0, half)])
            }
            Core::Cone { radius, half } => self.end(view, d, (radius, -half), motion),
            Core::Hull(_) => self.of_hull(view, d),
        };
    }

    /// The line of a lateral surface that faces along `d`.
    fn generator(&self, view: &View, d: Vec3, [low, high]: [(f64, f64); 2]) -> Side {
        let mut ends = [(Vec3::zeros(), 0); 2];
        for (end, at) in ends.iter_mut().zip([low, high]) {
            match at.0 > 0.0 {
                true => rim(d, at, None, |x, id| *end = (x, id)),
                false => *end = tip(at.1),
            }
        }
        let curvature = 0.5 * (low.0 + high.0);
        Side::Line { ends: ends.map(|e| view.point(e.0)), curvature, ids: ends.map(|e| e.1) }
    }

    /// A flat end.
    fn end(
        &mut self,
        view: &View,
        d: Vec3,
        (radius, z): (f64, f64),
        motion: &dyn Fn() -> Vec3,
    ) -> Side {
        let motion = || view.local(motion());
        rim(d, (radius, z), Some(&motion), |x, id| self.corners.push((view.point(x), id)));
        let normal = view.axis() * 1f64.copysign(z);
        Side::Disc { normal, centre: view.point(Vec3::new(0.0, 0.0, z)), radius }
    }

    /// The face or edge of a polyhedron that faces along `d`.
    fn of_hull(&mut self, view: &View, d: Vec3) -> Side {
        let Core::Hull(p) = view.core else { return Side::Tip };
        let (vertex, _) = p.support(d);
        let mut face = (0, f64::NEG_INFINITY);
        for &f in p.faces_at(vertex) {
            let cosine = p.face_normals()[usize::from(f)].dot(&d);
            if cosine > face.1 {
                face = (usize::from(f), cosine);
            }
        }
        if face.1 > FACE {
            for (v, e) in p.face(face.0).iter().zip(p.face_edges(face.0)) {
                self.corners.push((view.point(p.vertices()[usize::from(*v)]), u32::from(*v)));
                self.edges.push(u32::from(*e));
            }
            return Side::Face { normal: view.rot * p.face_normals()[face.0] };
        }
        let mut flattest = (EDGE, None);
        for &f in p.faces_at(vertex) {
            for &e in p.face_edges(usize::from(f)) {
                let edge = p.edges()[usize::from(e)];
                let slope = p.edge_direction(usize::from(e)).normalize().dot(&d).abs();
                if edge.vertices.contains(&(vertex as u16)) && slope < flattest.0 {
                    flattest = (slope, Some(edge.vertices));
                }
            }
        }
        let Some(vertices) = flattest.1 else { return Side::Tip };
        let ends = vertices.map(|v| view.point(p.vertices()[usize::from(v)]));
        Side::Line { ends, curvature: view.radius, ids: vertices.map(u32::from) }
    }

    /// Boundary segments with ids: edges of a face, or a line.
    fn segments(&self) -> impl Iterator<Item = ([Vec3; 2], u32)> + '_ {
        let line = match self.side {
            Side::Line { ends, ids, .. } => Some((ends, ids[0])),
            _ => None,
        };
        let n = self.corners.len();
        let edge =
            move |k: usize| ([self.corners[k].0, self.corners[(k + 1) % n].0], self.edges[k]);
        line.into_iter().chain((0..self.edges.len()).map(edge))
    }

    /// Corners, rim points or ends.
    fn extremes(&self) -> impl Iterator<Item = (Vec3, u32)> + '_ {
        let ends = match self.side {
            Side::Line { ends, ids, .. } => Some([(ends[0], ids[0]), (ends[1], ids[1])]),
            _ => None,
        };
        ends.into_iter().flatten().chain(self.corners.iter().copied())
    }

    /// Height of the side above a point along `n`, where the side is flat and extends there.
    fn above(&self, x: Vec3, n: Vec3, eps: f64) -> Option<f64> {
        let (normal, origin) = match self.side {
            Side::Face { normal } => (normal, self.corners[0].0),
            Side::Disc { normal, centre, .. } => (normal, centre),
            _ => return None,
        };
        let height = normal.dot(&(origin - x)) / normal.dot(&n);
        let y = x + n * height;
        let inside = match self.side {
            Side::Disc { centre, radius, .. } => (y - centre).norm() <= radius + eps,
            _ => self.segments().all(|([u, v], _)| {
                let e = v - u;
                normal.dot(&e.cross(&(y - u))) >= -eps * e.norm()
            }),
        };
        inside.then_some(height)
    }
}

/// Two sides that face each other along `n`, from a to b.
pub(super) struct Meeting<'a> {
    pub a: &'a Facing,
    pub b: &'a Facing,
    pub n: Vec3,
    /// The smaller of the two sizes [m].
    pub size: f64,
}

impl Meeting<'_> {
    /// The points where the cores meet: midway between them, with gaps along the normal.
    pub fn points(&self, found: &mut Vec<ManifoldPoint>) {
        found.clear();
        let Meeting { a, b, n, size } = *self;
        let eps = 1e-6 * size;
        for (x, id) in a.extremes() {
            if let Some(height) = b.above(x, n, eps) {
                add(found, (x, x + n * height), n, feature(VERTEX_A, id, 0), size);
            }
        }
        for (x, id) in b.extremes() {
            if let Some(height) = a.above(x, n, eps) {
                add(found, (x + n * height, x), n, feature(VERTEX_B, 0, id), size);
            }
        }
        if let (Side::Line { .. }, Side::Line { .. }) = (a.side, b.side) {
            return self.lines(found);
        }
        for (p, i) in a.segments() {
            for (q, j) in b.segments() {
                if let Some((x, y)) = crossing(p, q, n) {
                    add(found, (x, y), n, feature(CROSSING, i, j), size);
                }
            }
        }
        self.across_rims(found);
    }

    /// Boundaries that cross a rim.
    fn across_rims(&self, found: &mut Vec<ManifoldPoint>) {
        let Meeting { a, b, n, size } = *self;
        if let Side::Disc { .. } = a.side {
            for (segment, j) in b.segments() {
                on_rim(a.side, segment, n, |k, x, y| {
                    add(found, (x, y), n, feature(CROSSING, LOWEST + k, j), size);
                });
            }
        }
        if let Side::Disc { .. } = b.side {
            for (segment, i) in a.segments() {
                on_rim(b.side, segment, n, |k, x, y| {
                    add(found, (y, x), n, feature(CROSSING, i, LOWEST + k), size);
                });
            }
        }
        let (
            Side::Disc { normal: na, centre: ca, radius: ra },
            Side::Disc { normal: nb, centre: cb, radius: rb },
        ) = (a.side, b.side)
        else {
            return;
        };
        // Two circles in the plane of the first; the tilt of the second only changes heights.
        let moved = cb + n * (na.dot(&(ca - cb)) / na.dot(&n));
        let d = moved - ca;
        let distance = d.norm();
        if distance <= 1e-6 * size || distance >= ra + rb || distance <= (ra - rb).abs() {
            return;
        }
        let along = 0.5 * (distance + (ra * ra - rb * rb) / distance);
        let (u, across) = (d / distance, (ra * ra - along * along).max(0.0).sqrt());
        let w = na.cross(&u);
        for (k, sign) in [(0, 1.0), (1, -1.0)] {
            let x = ca + u * along + w * (sign * across);
            let y = x + n * (nb.dot(&(cb - x)) / nb.dot(&n));
            // The tilted circle is an ellipse from here: only what is on it as well.
            if (y - cb).norm() > rb + 1e-6 * size {
                continue;
            }
            add(found, (x, y), n, feature(CROSSING, LOWEST + k, LOWEST + k), size);
        }
    }

    /// Two lines: where they cross, or the ends of the stretch along which they are side by side.
    fn lines(&self, found: &mut Vec<ManifoldPoint>) {
        let (
            Side::Line { ends: p, curvature: ra, ids: ia },
            Side::Line { ends: q, curvature: rb, ids: ib },
        ) = (self.a.side, self.b.side)
        else {
            return;
        };
        let (n, size) = (self.n, self.size);
        if let Some((x, y)) = crossing(p, q, n) {
            add(found, (x, y), n, feature(CROSSING, ia[0], ib[0]), size);
        }
        let room = ra + rb;
        let mut end = |x: Vec3, line: [Vec3; 2], id: u32, is_a: bool| {
            let e = flat(line[1] - line[0], n);
            let s = flat(x - line[0], n).dot(&e) / e.norm_squared();
            let slack = 1e-9;
            if !(-slack..=1.0 + slack).contains(&s) {
                return;
            }
            let y = line[0] + (line[1] - line[0]) * s;
            let beside = flat(y - x, n);
            let aside = beside.norm();
            if aside > 0.25 * room && aside > 1e-9 * size {
                return;
            }
            let (x, y) = if is_a { (x, y) } else { (y, x) };
            // Beside each other, two curved surfaces are farther apart.
            let rise = if room > 0.0 { aside * aside / (2.0 * room) } else { 0.0 };
            let gap = n.dot(&(y - x)) + rise;
            let position = (x + y) * 0.5;
            push(found, ManifoldPoint { position, gap, feature: id }, size);
        };
        for k in 0..2 {
            end(p[k], q, feature(VERTEX_A, ia[k], 0), true);
            end(q[k], p, feature(VERTEX_B, 0, ib[k]), false);
        }
    }
}

/// The part of a vector across a unit normal.
fn flat(x: Vec3, n: Vec3) -> Vec3 {
    x - n * n.dot(&x)
}

/// Adds a point given on both cores.
fn add(found: &mut Vec<ManifoldPoint>, (x, y): (Vec3, Vec3), n: Vec3, feature: u32, size: f64) {
    push(found, ManifoldPoint { position: (x + y) * 0.5, gap: n.dot(&(y - x)), feature }, size);
}

/// Adds a point unless there is one at the same place.
fn push(found: &mut Vec<ManifoldPoint>, point: ManifoldPoint, size: f64) {
    let near = 1e-5 * size;
    let twin = |p: &&mut ManifoldPoint| (p.position - point.position).norm_squared() <= near * near;
    match found.iter_mut().find(twin) {
        Some(p) => p.gap = p.gap.min(point.gap),
        None => found.push(point),
    }
}

/// Where two segments cross, seen along `n`: the points on both.
fn crossing([p0, p1]: [Vec3; 2], [q0, q1]: [Vec3; 2], n: Vec3) -> Option<(Vec3, Vec3)> {
    let (t1, t2) = tangents(n);
    let plane = |x: Vec3| [t1.dot(&x), t2.dot(&x)];
    let cross = |a: [f64; 2], b: [f64; 2]| a[0] * b[1] - a[1] * b[0];
    let (d, e, w) = (plane(p1 - p0), plane(q1 - q0), plane(q0 - p0));
    let det = cross(d, e);
    if det.abs() <= 1e-6 * length2(d[0], d[1]) * length2(e[0], e[1]) {
        return None;
    }
    let (s, t) = (cross(w, e) / det, cross(w, d) / det);
    let inside = (0.0..=1.0).contains(&s) && (0.0..=1.0).contains(&t);
    inside.then(|| (p0 + (p1 - p0) * s, q0 + (q1 - q0) * t))
}

/// Where a segment crosses the rim of a disc, seen along `n`: index, point of the rim, point of the segment.
fn on_rim(disc: Side, [u, v]: [Vec3; 2], n: Vec3, mut visit: impl FnMut(u32, Vec3, Vec3)) {
    let Side::Disc { normal, centre, radius } = disc else { return };
    let slope = normal.dot(&n);
    let drop = |x: Vec3| x + n * (normal.dot(&(centre - x)) / slope);
    let (p, q) = (drop(u), drop(v));
    let (e, w) = (q - p, p - centre);
    let (a, b, c) = (e.norm_squared(), e.dot(&w), w.norm_squared() - radius * radius);
    let root = b * b - a * c;
    if root <= 0.0 || a == 0.0 {
        return;
    }
    for (k, sign) in [(0, -1.0), (1, 1.0)] {
        let s = (-b + sign * root.sqrt()) / a;
        if (0.0..=1.0).contains(&s) {
            visit(k, p + e * s, u + (v - u) * s);
        }
    }
}

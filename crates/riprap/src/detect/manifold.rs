//! The contact manifold of two convex shapes: at most four points with a common normal. The
//! polygons of the two facing sides are projected along the normal and clipped against each other,
//! and the result is thinned.

use crate::math::{Vec3, length2};

/// At most four contact points that share a normal.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manifold {
    /// Unit normal from the first shape to the second [–].
    pub normal: Vec3,
    /// Distance between the two shapes, or minus the depth of their overlap [m].
    pub separation: f64,
    points: [ManifoldPoint; 4],
    len: usize,
}

/// One point of a [`Manifold`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ManifoldPoint {
    /// Midway between the two surfaces [m].
    pub position: Vec3,
    /// Signed distance between the surfaces along the normal [m].
    pub gap: f64,
    /// Which features of the two shapes meet here.
    pub feature: u32,
}

impl Manifold {
    /// A manifold without points.
    pub fn new(normal: Vec3, separation: f64) -> Manifold {
        Manifold { normal, separation, ..Manifold::default() }
    }

    /// A manifold of one point whose gap is the separation.
    pub fn single(normal: Vec3, gap: f64, position: Vec3, feature: u32) -> Manifold {
        let mut m = Manifold::new(normal, gap);
        m.push(ManifoldPoint { position, gap, feature });
        m
    }

    /// Adds a point; a fifth is ignored.
    pub fn push(&mut self, point: ManifoldPoint) {
        if self.len < 4 {
            self.points[self.len] = point;
            self.len += 1;
        }
    }

    /// The points.
    pub fn points(&self) -> &[ManifoldPoint] {
        &self.points[..self.len]
    }

    /// The same contact with the roles of the two shapes exchanged.
    pub fn flipped(mut self) -> Manifold {
        self.normal = -self.normal;
        self
    }

    /// Transforms the points and the normal to another frame.
    pub fn moved(mut self, rot: &crate::math::Mat3, origin: Vec3) -> Manifold {
        self.normal = rot * self.normal;
        for p in &mut self.points[..self.len] {
            p.position = rot * p.position + origin;
        }
        self
    }
}

/// Two facing sides that overlap by less than this fraction of the size, seen along the normal,
/// only graze each other: a body that slides over a flush seam must not catch on the side of the
/// next one.
pub(super) const GRAZE: f64 = 1e-4;
/// Cosine above which two sides count as facing each other.
pub(super) const FACING: f64 = 0.999;

/// Feature ids: two bits for the kind, fifteen for each shape's vertex or edge.
pub(super) fn feature(kind: u32, a: u32, b: u32) -> u32 {
    kind << 30 | (a & 0x7fff) << 15 | (b & 0x7fff)
}
/// A vertex of the first shape inside a side of the second.
pub(super) const VERTEX_A: u32 = 0;
/// A vertex of the second shape inside a side of the first.
pub(super) const VERTEX_B: u32 = 1;
/// An edge of the first crossing an edge of the second.
pub(super) const CROSSING: u32 = 2;
/// The pair of closest points.
pub(super) const WITNESS: u32 = 3;

/// A side of a polyhedron facing the other shape: its corners in the plane across the normal, and the
/// height of its plane there.
#[derive(Clone, Debug, Default)]
pub(super) struct Side {
    /// Corners, counter-clockwise in the plane `(t1, t2)`.
    pub corners: Vec<SideCorner>,
    /// Height along the normal at `(x, y)`: `h0 + hx x + hy y`.
    pub height: [f64; 3],
}

/// A corner of a [`Side`].
#[derive(Clone, Copy, Debug)]
pub(super) struct SideCorner {
    pub at: [f64; 2],
    /// Its vertex.
    pub vertex: u32,
    /// The edge to the next corner.
    pub edge: u32,
}

impl Side {
    pub(super) fn height_at(&self, [x, y]: [f64; 2]) -> f64 {
        self.height[0] + self.height[1] * x + self.height[2] * y
    }
}

/// A polygon being clipped, stored as a structure of arrays so that the heights of all its corners
/// above a line are computed together.
#[derive(Clone, Debug, Default)]
struct Outline {
    x: Vec<f64>,
    y: Vec<f64>,
    feature: Vec<u32>,
    /// Origin of the side that leaves each corner: an edge of b, or of a with [`OF_A`] set.
    edge: Vec<u32>,
    len: usize,
}

const OF_A: u32 = 1 << 31;

impl Outline {
    /// Makes room for the given number of corners.
    #[cold]
    fn grow(&mut self, room: usize) {
        self.x.resize(room, 0.0);
        self.y.resize(room, 0.0);
        self.feature.resize(room, 0);
        self.edge.resize(room, 0);
    }

    #[inline(always)]
    fn push(&mut self, [x, y]: [f64; 2], feature: u32, edge: u32) {
        let k = self.len;
        if k >= self.x.len() {
            self.grow(2 * k + 8);
        }
        (self.x[k], self.y[k], self.feature[k], self.edge[k]) = (x, y, feature, edge);
        self.len += 1;
    }

    #[inline(always)]
    fn at(&self, k: usize) -> [f64; 2] {
        [self.x[k], self.y[k]]
    }
}

/// Buffers for clipping.
#[derive(Clone, Debug, Default)]
pub(super) struct Clipper {
    polygon: Outline,
    next: Outline,
    insides: Vec<f64>,
    candidates: Vec<ManifoldPoint>,
}

impl Clipper {
    /// Clips side `b` against side `a` (both given across `normal`, which points from a to b) and
    /// returns the candidate points with their gaps, in the frame of the sides.
    // On its own and for any processor, not within the search for axes: that one needs all registers (a twentieth of detection).
    #[inline(never)]
    pub(super) fn cut(
        &mut self,
        a: &Side,
        b: &Side,
        (normal, (t1, t2)): (Vec3, (Vec3, Vec3)),
        size: f64,
    ) -> &[ManifoldPoint] {
        let eps = 1e-12 * size;
        self.polygon.len = 0;
        for c in &b.corners {
            self.polygon.push(c.at, feature(VERTEX_B, 0, c.vertex), c.edge);
        }
        for k in 0..a.corners.len() {
            self.cut_by_line(a, k, eps);
            if self.polygon.len == 0 {
                break;
            }
        }

        let near = 1e-6 * size;
        self.candidates.clear();
        self.candidates.reserve(self.polygon.len);
        for k in 0..self.polygon.len {
            let at = self.polygon.at(k);
            let (ha, hb) = (a.height_at(at), b.height_at(at));
            let position = t1 * at[0] + t2 * at[1] + normal * (0.5 * (ha + hb));
            let (gap, feature) = (hb - ha, self.polygon.feature[k]);
            let twin = |p: &ManifoldPoint| (p.position - position).norm_squared() <= near * near;
            match self.candidates.iter_mut().find(|p| twin(p)) {
                Some(p) => p.gap = p.gap.min(gap),
                None => self.candidates.push(ManifoldPoint { position, gap, feature }),
            }
        }
        &self.candidates
    }

    /// Width of the overlap of the two sides of the last clip [m]: its area divided by its longest
    /// diagonal.
    pub(super) fn width(&self) -> f64 {
        let n = self.polygon.len;
        let (mut area, mut longest) = (0.0, 0.0f64);
        for i in 0..n {
            let (p, q) = (self.polygon.at(i), self.polygon.at((i + 1) % n));
            area += 0.5 * (p[0] * q[1] - p[1] * q[0]);
            for k in 0..i {
                let c = self.polygon.at(k);
                longest = longest.max(length2(p[0] - c[0], p[1] - c[1]));
            }
        }
        if longest > 0.0 { area.abs() / longest } else { 0.0 }
    }

    /// Keeps the part to the left of the `k`-th edge of side a.
    #[inline(always)]
    fn cut_by_line(&mut self, a: &Side, k: usize, eps: f64) {
        let n_a = a.corners.len();
        let start = &a.corners[k];
        let end = &a.corners[if k + 1 < n_a { k + 1 } else { 0 }];
        let (p, q) = (start.at, end.at);
        let d = [q[0] - p[0], q[1] - p[1]];
        let length = length2(d[0], d[1]);
        if length <= eps {
            return;
        }
        let Clipper { polygon, next, insides, .. } = self;
        let n = polygon.len;
        if insides.len() < n {
            insides.resize(2 * n, 0.0);
        }
        let (x, y, insides) = (&polygon.x[..n], &polygon.y[..n], &mut insides[..n]);
        for i in 0..n {
            insides[i] = (d[0] * (y[i] - p[1]) - d[1] * (x[i] - p[0])) / length;
        }
        if insides.iter().all(|&h| h >= -eps) {
            return;
        }
        next.len = 0;
        for i in 0..n {
            let onto = if i + 1 < n { i + 1 } else { 0 };
            let (hc, he) = (insides[i], insides[onto]);
            let (c, edge) = (polygon.at(i), polygon.edge[i]);
            if hc >= -eps {
                next.push(c, polygon.feature[i], edge);
            }
            if (hc >= -eps) != (he >= -eps) {
                let e = polygon.at(onto);
                let s = (hc / (hc - he)).clamp(0.0, 1.0);
                let at = [c[0] + s * (e[0] - c[0]), c[1] + s * (e[1] - c[1])];
                let id = if edge & OF_A == 0 {
                    feature(CROSSING, start.edge, edge)
                } else {
                    // Two edges of a meet at the corner they share.
                    let before = a.corners[if k > 0 { k - 1 } else { n_a - 1 }].edge;
                    let shared = if edge == before | OF_A { start.vertex } else { end.vertex };
                    feature(VERTEX_A, shared, 0)
                };
                // Where it leaves, the polygon continues along the line; where it enters, along its
                // own side.
                let onward = if hc >= -eps { start.edge | OF_A } else { edge };
                next.push(at, id, onward);
            }
        }
        std::mem::swap(polygon, next);
    }
}

/// Motion of points of the second shape relative to the first over the step: `shift + turn × x`
/// [m]. It decides which candidates matter, and nothing else.
#[derive(Clone, Copy, Debug, Default)]
pub struct Drift {
    /// Displacement at the origin [m].
    pub shift: Vec3,
    /// Relative rotation [rad].
    pub turn: Vec3,
}

impl Drift {
    /// The same motion seen from a frame with this rotation and origin.
    pub(super) fn seen_from(&self, rot: &crate::math::Mat3, origin: Vec3) -> Drift {
        Drift {
            shift: rot.tr_mul(&(self.shift + self.turn.cross(&origin))),
            turn: rot.tr_mul(&self.turn),
        }
    }

    /// The motion of the first relative to the second.
    pub(super) fn reversed(&self) -> Drift {
        Drift { shift: -self.shift, turn: -self.turn }
    }

    /// Displacement of a point [m].
    pub(super) fn at(&self, x: Vec3) -> Vec3 {
        self.shift + self.turn.cross(&x)
    }
}

/// Thins candidates to at most four: those that will be closed at the end of the step have
/// priority. More than four of them are thinned to four that span the contact; fewer are completed
/// by the next nearest.
pub(super) fn thin(
    candidates: &[ManifoldPoint],
    normal: Vec3,
    alert: f64,
    size: f64,
    drift: &dyn Fn() -> Drift,
    manifold: &mut Manifold,
) {
    let near = || candidates.iter().filter(|p| p.gap <= alert);
    if near().count() <= 4 {
        near().for_each(|p| manifold.push(*p));
        return;
    }
    let drift = drift();
    let ahead = |p: &ManifoldPoint| p.gap + normal.dot(&drift.at(p.position)).min(0.0);
    let nearest = near().map(ahead).fold(f64::INFINITY, f64::min);
    let closing = |p: &&ManifoldPoint| ahead(p) <= nearest.max(0.0) + 1e-4 * size;
    if near().filter(closing).count() > 4 {
        // Among the nearest, the smallest feature id comes first, so that round-off does not
        // decide.
        let lowest = |p: &&ManifoldPoint| ahead(p) <= nearest + 1e-4 * size;
        if let Some(first) = near().filter(lowest).min_by_key(|p| p.feature) {
            span(*first, near().filter(closing), normal, manifold);
        }
        return;
    }
    // The four that will be nearest; in case of ties, the smaller feature id.
    let mut last = (f64::NEG_INFINITY, 0);
    for _ in 0..4 {
        let mut best: Option<&ManifoldPoint> = None;
        for p in near() {
            let key = (ahead(p), p.feature);
            let later = key.0 > last.0 || (key.0 == last.0 && key.1 > last.1);
            if later && best.is_none_or(|b| key < (ahead(b), b.feature)) {
                best = Some(p);
            }
        }
        let Some(p) = best else { break };
        last = (ahead(p), p.feature);
        manifold.push(*p);
    }
}

/// Four points that span the contact: the first given, the one farthest from it, the one farthest
/// from that line, and the one that adds the most area on another side.
fn span<'a>(
    first: ManifoldPoint,
    points: impl Iterator<Item = &'a ManifoldPoint> + Clone,
    normal: Vec3,
    manifold: &mut Manifold,
) {
    let best = |score: &dyn Fn(&ManifoldPoint) -> f64| {
        let mut best = (0.0, None);
        for p in points.clone() {
            let s = score(p);
            if s > best.0 * (1.0 + 1e-9) {
                best = (s, Some(*p));
            }
        }
        best.1
    };
    manifold.push(first);
    let Some(second) = best(&|p| (p.position - first.position).norm_squared()) else { return };
    manifold.push(second);
    let along = second.position - first.position;
    let area = |p: &ManifoldPoint| normal.dot(&along.cross(&(p.position - first.position)));
    let Some(third) = best(&|p| area(p).abs()) else { return };
    manifold.push(third);
    // The contribution of a fourth point beyond the triangle: its height over the most distant
    // side.
    let side = area(&third).signum();
    let triangle = if side > 0.0 { [first, second, third] } else { [second, first, third] };
    let added = |p: &ManifoldPoint| {
        (0..3).fold(0.0f64, |m, k| {
            let (u, v) = (triangle[k].position, triangle[(k + 1) % 3].position);
            m.max(-normal.dot(&(v - u).cross(&(p.position - u))))
        })
    };
    if let Some(fourth) = best(&added) {
        manifold.push(fourth);
    }
}

#[cfg(test)]
mod tests;

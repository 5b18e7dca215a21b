//! Separating axes of two convex polyhedra: the direction that separates them best, or along which they overlap least, over faces and
//! pairs of edges.
//!
//! Axes that cannot beat the best so far are skipped by a bound that holds for every convex shape:
//! along any direction, a polyhedron is no higher above another than any one of its points.

use super::above::{Above, AboveA, AboveB, Face};
use super::narrow::{Features, NarrowScratch};
use crate::math::{Mat3, Vec3};
use crate::shape::Polyhedron;

/// Pose of b in the frame of a.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relative {
    pub rot: Mat3,
    pub origin: Vec3,
}

impl Relative {
    #[inline(always)]
    pub fn point(&self, p_b: Vec3) -> Vec3 {
        self.rot * p_b + self.origin
    }
    #[inline(always)]
    pub fn inverse_point(&self, p_a: Vec3) -> Vec3 {
        self.rot.tr_mul(&(p_a - self.origin))
    }
    #[inline(always)]
    pub fn vector(&self, d_b: Vec3) -> Vec3 {
        self.rot * d_b
    }
    #[inline(always)]
    pub fn inverse_vector(&self, d_a: Vec3) -> Vec3 {
        self.rot.tr_mul(&d_a)
    }
}

/// The features that define an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    FaceA(usize),
    FaceB(usize),
    Edges(usize, usize),
    /// Closest points of separated shapes.
    Points {
        on_a: Vec3,
        on_b: Vec3,
    },
    /// Found by tilting a plane.
    Plane,
}

/// A direction from a to b with the separation along it [m].
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub normal: Vec3,
    pub separation: f64,
    pub kind: Kind,
    /// The vertex of the other shape nearest to the plane of the face; 0 if the axis is not given
    /// by a face.
    pub vertex: usize,
}

/// Separation of the two shapes along a unit direction (from a to b) [m].
#[inline(always)]
pub(super) fn separation(a: &Polyhedron, b: &Polyhedron, rel: &Relative, n: Vec3) -> f64 {
    let (_, top) = a.support(n);
    let (_, bottom) = b.support(rel.inverse_vector(-n));
    n.dot(&rel.origin) - bottom - top
}

/// A face wins over an edge pair, and a's face over b's, if they differ by less than this fraction
/// of the size: contacts of parallel faces must not flicker between equal candidates.
pub(super) const FACE_BIAS: f64 = 1e-6;
pub(super) const FIRST_BIAS: f64 = 1e-8;

/// An edge that can still win, in the frame of a.
#[derive(Clone, Copy, Debug)]
pub(super) struct NearEdge {
    pub index: usize,
    start: Vec3,
    direction: Vec3,
    normals: [Vec3; 2],
}

/// Result of a search over all axes.
pub(super) struct Found {
    pub axis: Axis,
    /// Where to start next time.
    pub features: Features,
}

/// The best of all face and edge axes, or a direction along which the shapes are more than `limit` apart.
///
/// `hint` (features to start with) and the bounds save work. They skip only what is lower than the
/// winner by more than `slack`, which exceeds round-off and the flatness error of faces: the result
/// is that of the exhaustive search, the first in case of ties.
#[inline(always)]
pub(super) fn best_axis(
    a: &Polyhedron,
    b: &Polyhedron,
    rel: &Relative,
    limit: f64,
    hint: Option<Features>,
    scratch: &mut NarrowScratch,
) -> Result<Found, Vec3> {
    let size = a.outer_radius().min(b.outer_radius());
    let slack = slack(a, b, rel);
    let NarrowScratch { heights, more_heights, edges_a, edges_b, .. } = scratch;

    // If a pair of edges is still good, little remains to be searched.
    let crossing = match hint {
        Some(Features { edges: Some([i, j]), .. }) => {
            Crossing::of((a, i as usize), (b, j as usize), rel)
        }
        _ => None,
    };
    if let Some(c) = &crossing
        && c.separation > limit
    {
        return Err(c.normal);
    }

    // Faces lower by more than the bias lose to the pair of edges.
    let floor = crossing.as_ref().map_or(f64::NEG_INFINITY, |c| c.separation - FACE_BIAS * size);
    let over_a = AboveA { a, b, rel };
    let (ends, first) = (crossing.as_ref().map(|c| c.ends_b), hint.map(|f| f.faces[0]));
    let top_a = highest(&over_a, ends, first, (floor, slack), heights, more_heights);
    let s_a = top_a.as_ref().map_or(f64::NEG_INFINITY, |f| f.separation);
    if let Some(top) = &top_a
        && s_a > limit
    {
        return Err(a.face_normals()[top.face]);
    }
    let over_b = AboveB::new(a, b, rel);
    let floor = floor.max(s_a);
    let (ends, first) = (crossing.as_ref().map(|c| c.ends_a), hint.map(|f| f.faces[1]));
    let top_b = highest(&over_b, ends, first, (floor, slack), heights, more_heights);
    let s_b = top_b.as_ref().map_or(f64::NEG_INFINITY, |f| f.separation);
    if let Some(top) = &top_b
        && s_b > limit
    {
        return Err(rel.vector(-b.face_normals()[top.face]));
    }
    let mut features = hint.unwrap_or_default();
    for (face, top) in features.faces.iter_mut().zip([&top_a, &top_b]) {
        *face = top.as_ref().map_or(*face, |f| f.face as u16);
    }
    features.edges = None;
    let face = better_face(&top_a, &top_b, size, a, b, rel);

    // Only edges that face the other shape can do better. A shape is no higher than any one of its
    // points: a point of b inside the contact region leaves few edges of a, and vice versa.
    let bound = face.as_ref().map_or(f64::NEG_INFINITY, |f| f.separation + FACE_BIAS * size);
    let needed = crossing.as_ref().map_or(bound, |c| bound.max(c.separation)) - slack;
    edges_a.clear();
    edges_b.clear();
    let add_a = |i: usize| edges_a.push(NearEdge::of(a, i));
    let add_b = |j: usize| edges_b.push(NearEdge::of(b, j).moved(rel));
    if let Some(c) = &crossing {
        a.heights(rel.point(c.ends_b[0]), heights);
        a.heights(rel.point(c.ends_b[1]), more_heights);
        a.edges_below_both([heights, more_heights], needed, add_a);
        b.heights(rel.inverse_point(c.ends_a[0]), heights);
        b.heights(rel.inverse_point(c.ends_a[1]), more_heights);
        b.edges_below_both([heights, more_heights], needed, add_b);
    } else {
        let [point_a, point_b] = match &face {
            Some(axis) => amid((a, b, rel), axis, heights),
            None => [a.centre(), rel.point(b.centre())],
        };
        a.heights(point_b, heights);
        a.edges_below(heights, needed, add_a);
        if !edges_a.is_empty() {
            b.heights(rel.inverse_point(point_a), heights);
            b.edges_below(heights, needed, add_b);
        }
    }

    let (mut axis, mut s_edge) = (face, bound);
    for ea in &*edges_a {
        for eb in &*edges_b {
            let Some((normal, s)) = edge_axis(ea, eb) else { continue };
            if s > s_edge {
                if s > limit {
                    return Err(normal);
                }
                s_edge = s;
                let kind = Kind::Edges(ea.index, eb.index);
                axis = Some(Axis { normal, separation: s, kind, vertex: 0 });
                features.edges = Some([ea.index as u16, eb.index as u16]);
            }
        }
    }
    // No bound holds for a pose that is not rigid, and nothing may be left.
    let Some(axis) = axis else { return without_hint(a, b, rel, limit, scratch) };
    Ok(Found { axis, features })
}

/// As [`best_axis`] without a hint, which always finds a face.
#[cold]
#[inline(never)]
fn without_hint(
    a: &Polyhedron,
    b: &Polyhedron,
    rel: &Relative,
    limit: f64,
    scratch: &mut NarrowScratch,
) -> Result<Found, Vec3> {
    best_axis(a, b, rel, limit, None, scratch)
}

/// The face above which the other shape is highest. The ends of an edge of the other shape leave
/// few faces; without a hint, the face that points most directly towards the other shape comes
/// first.
#[inline(always)]
fn highest(
    over: &impl Above,
    ends: Option<[Vec3; 2]>,
    first: Option<u16>,
    (floor, slack): (f64, f64),
    heights: &mut Vec<f64>,
    more_heights: &mut Vec<f64>,
) -> Option<Face> {
    match (ends, first) {
        (Some(ends), _) => over.best_of_few(ends, floor - slack, slack, heights, more_heights),
        (None, Some(first)) => Some(over.best(first.into(), floor, slack, heights)),
        (None, None) => {
            over.base().heights(over.point(over.other().centre()), heights);
            let higher = |top: usize, k: usize| if heights[k] > heights[top] { k } else { top };
            let first = (0..over.base().n_faces()).fold(0, higher);
            Some(over.best(first, floor, slack, heights))
        }
    }
}

/// How much a bound may fall short [m]: faces are flat to 1e-9 of the extent of their shape,
/// normals of almost parallel edges are accurate to 1e-10, and round-off grows with the distance
/// from the origins.
#[inline(always)]
pub(super) fn slack(a: &Polyhedron, b: &Polyhedron, rel: &Relative) -> f64 {
    let far = rel.origin.norm() + a.centre().norm() + b.centre().norm();
    1e-8 * (a.outer_radius() + b.outer_radius()) + 1e-13 * far
}

/// The better of the two best faces as an axis: that of a if they are almost equal.
#[inline(always)]
pub(super) fn better_face(
    top_a: &Option<Face>,
    top_b: &Option<Face>,
    size: f64,
    a: &Polyhedron,
    b: &Polyhedron,
    rel: &Relative,
) -> Option<Axis> {
    let s_a = top_a.as_ref().map_or(f64::NEG_INFINITY, |f| f.separation);
    match (top_a, top_b) {
        (_, Some(top)) if top.separation > s_a + FIRST_BIAS * size => Some(Axis {
            normal: rel.vector(-b.face_normals()[top.face]),
            separation: top.separation,
            kind: Kind::FaceB(top.face),
            vertex: top.vertex,
        }),
        (Some(top), _) => Some(Axis {
            normal: a.face_normals()[top.face],
            separation: s_a,
            kind: Kind::FaceA(top.face),
            vertex: top.vertex,
        }),
        _ => None,
    }
}

/// A point of each shape, a's first, where a vertex of one is nearest to a face of the other, in
/// the frame of a.
#[inline(always)]
pub(super) fn amid(
    (a, b, rel): (&Polyhedron, &Polyhedron, &Relative),
    face: &Axis,
    heights: &mut Vec<f64>,
) -> [Vec3; 2] {
    if let Kind::FaceB(_) = face.kind {
        let vertex = a.vertices()[face.vertex];
        let p = vertex + face.normal * face.separation;
        b.heights(rel.inverse_point(p), heights);
        [vertex, pulled_in(p, heights, || rel.point(b.centre()), b.inner_radius())]
    } else {
        let vertex = rel.point(b.vertices()[face.vertex]);
        let p = vertex - face.normal * face.separation;
        a.heights(p, heights);
        [pulled_in(p, heights, || a.centre(), a.inner_radius()), vertex]
    }
}

/// The point itself if it is inside (no height above a face is positive), otherwise moved towards
/// the centre until it is: at the centre all heights are below minus the inner radius, and they
/// vary linearly in between.
#[inline(always)]
fn pulled_in(p: Vec3, heights: &[f64], centre: impl Fn() -> Vec3, inner_radius: f64) -> Vec3 {
    let outside = heights.iter().copied().fold(0.0, f64::max);
    if outside == 0.0 { p } else { p + (centre() - p) * (outside / (outside + inner_radius)) }
}

/// A pair of edges that defines an axis.
struct Crossing {
    normal: Vec3,
    separation: f64,
    /// Ends of the edge of b in the frame of b, and of the edge of a in the frame of a.
    ends_b: [Vec3; 2],
    ends_a: [Vec3; 2],
}

impl Crossing {
    #[inline(always)]
    fn of(
        (a, i): (&Polyhedron, usize),
        (b, j): (&Polyhedron, usize),
        rel: &Relative,
    ) -> Option<Crossing> {
        let (ea, eb) = (NearEdge::of(a, i), NearEdge::of(b, j).moved(rel));
        let (normal, separation) = edge_axis(&ea, &eb)?;
        let (ends_a, ends_b) = (a.edge_ends(i), b.edge_ends(j));
        Some(Crossing { normal, separation, ends_b, ends_a })
    }
}

impl NearEdge {
    #[inline(always)]
    pub fn of(p: &Polyhedron, index: usize) -> NearEdge {
        let (e, normals) = (&p.edges()[index], p.face_normals());
        let [f, g] = e.faces;
        NearEdge {
            index,
            start: p.vertices()[usize::from(e.vertices[0])],
            direction: p.edge_direction(index),
            normals: [normals[usize::from(f)], normals[usize::from(g)]],
        }
    }

    #[inline(always)]
    pub fn moved(self, rel: &Relative) -> NearEdge {
        NearEdge {
            index: self.index,
            start: rel.point(self.start),
            direction: rel.vector(self.direction),
            normals: [rel.vector(self.normals[0]), rel.vector(self.normals[1])],
        }
    }
}

/// The direction across two edges and the separation along it [m], if they span a face of the
/// Minkowski difference.
#[inline(always)]
pub(super) fn edge_axis(ea: &NearEdge, eb: &NearEdge) -> Option<(Vec3, f64)> {
    if !arcs_cross(ea, eb) {
        return None;
    }
    let cross = ea.direction.cross(&eb.direction);
    let length = cross.norm();
    if length < 1e-6 {
        return None;
    }
    let mut normal = cross / length;
    if normal.dot(&(ea.normals[0] + ea.normals[1])) < 0.0 {
        normal = -normal;
    }
    Some((normal, normal.dot(&(eb.start - ea.start))))
}

/// Whether two edges span a face of the Minkowski difference: their arcs on the sphere of normals cross.
#[inline]
fn arcs_cross(a: &NearEdge, b: &NearEdge) -> bool {
    let cba = b.normals[0].dot(&a.direction);
    let dba = b.normals[1].dot(&a.direction);
    if cba * dba >= 0.0 {
        return false;
    }
    let adc = -a.normals[0].dot(&b.direction);
    let bdc = -a.normals[1].dot(&b.direction);
    adc * bdc < 0.0 && cba * bdc > 0.0
}

#[cfg(test)]
mod tests;

//! Two convex polyhedra: the direction that separates them best, or along which they overlap least, by
//! separating axes over faces and pairs of edges; then the manifold across it.
//!
//! Axes that cannot beat the best so far are skipped by bounds that hold for every convex shape: along no direction
//! does a polyhedron stand higher above another than any one of its points.

use super::gjk::{Closest, closest};
use super::manifold::{
    CROSSING, FACING, GRAZE, Manifold, ManifoldPoint, Side, SideCorner, VERTEX_A, VERTEX_B,
    WITNESS, feature, thin,
};
use super::narrow::{Ask, Features, Known, NarrowScratch, PairCache};
use super::shortlist::Shortlist;
use crate::math::{Mat3, Vec3, tangents};
use crate::shape::Polyhedron;

/// Place of b in the frame of a.
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

/// Which features give an axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    FaceA(usize),
    FaceB(usize),
    Edges(usize, usize),
    /// Closest points of shapes that are apart.
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
    /// The vertex of the other shape that is nearest to the plane of a face; 0 where none gives the axis.
    pub vertex: usize,
}

/// Separation of the two shapes along a unit direction (from a to b) [m].
#[inline(always)]
pub(super) fn separation(a: &Polyhedron, b: &Polyhedron, rel: &Relative, n: Vec3) -> f64 {
    let (_, top) = a.support(n);
    let (_, bottom) = b.support(rel.inverse_vector(-n));
    n.dot(&rel.origin) - bottom - top
}

/// A face wins over an edge pair, and a's face over b's, when they differ by less than this share of the
/// size: contacts of parallel faces must not flicker between equals.
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

/// Contact of two polyhedra in the frame of a: `None` when farther apart than `alert`.
#[inline(always)]
pub(super) fn contact(
    a: &Polyhedron,
    b: &Polyhedron,
    rel: &Relative,
    ask: &Ask,
    cache: &mut PairCache,
    scratch: &mut NarrowScratch,
) -> Option<Manifold> {
    let alert = ask.alert;
    let size = a.outer_radius().min(b.outer_radius());
    // Shortcuts dismiss only what is clearly too far; the last word is that of the manifold. So a warm and a fresh
    // cache give the same answer at the very edge of the alert distance too.
    let clear = alert + 1e-8 * size;
    // The direction that kept them apart last time often still does.
    if let Known::Apart(axis) = cache.known {
        let s = separation(a, b, rel, axis);
        if s > clear {
            scratch.apart = s;
            return None;
        }
    }
    let mut listed = None;
    let hint = match cache.known {
        Known::Touching(features, list) => {
            // No closure: what is not inlined here loses the instructions of the caller.
            if let Some(list) = list {
                listed = list.best_axis(a, b, rel, clear, &features, &mut scratch.edges_b);
            }
            Some(features)
        }
        _ => match closest(a, b, rel, clear) {
            Closest::Beyond(axis) => {
                scratch.apart = separation(a, b, rel, axis);
                cache.known = Known::Apart(axis);
                return None;
            }
            _ => None,
        },
    };
    let is_listed = listed.is_some();
    let found = match listed {
        Some(found) => found,
        None => best_axis(a, b, rel, clear, hint, scratch),
    };
    let Found { axis, features } = match found {
        Ok(found) => found,
        Err(apart) => {
            cache.known = Known::Apart(apart);
            return None;
        }
    };
    let across = manifold(a, b, rel, &axis, ask, scratch);
    // Where the nearest corners face each other, the distance is larger than any face or edge axis shows.
    let exact = across.shown || axis.separation <= 1e-8 * size;
    let Across { manifold, grazes, .. } = if exact {
        across
    } else {
        match closest(a, b, rel, clear) {
            Closest::Beyond(apart) => {
                cache.known = Known::Apart(apart);
                return None;
            }
            Closest::Apart { on_a, on_b } if (on_b - on_a).norm() > 1e-7 * size => {
                let separation = (on_b - on_a).norm();
                let normal = (on_b - on_a) / separation;
                let kind = Kind::Points { on_a, on_b };
                let axis = Axis { normal, separation, kind, vertex: 0 };
                self::manifold(a, b, rel, &axis, ask, scratch)
            }
            _ => across,
        }
    };
    match &mut cache.known {
        Known::Touching(known, _) if is_listed => *known = features,
        known => {
            let list = Shortlist::new(a, b, rel, &axis, ask, scratch);
            *known = Known::Touching(features, list);
        }
    }
    if grazes && manifold.separation > -1e-6 * size {
        return None;
    }
    (manifold.separation <= alert).then_some(manifold)
}

/// Result of the search over all axes.
pub(super) struct Found {
    pub axis: Axis,
    /// Where to begin next time.
    pub features: Features,
}

/// The best of all face and edge axes, or a direction along which the shapes are more than `limit` apart.
///
/// `hint` (features to begin with) and the bounds spare work. They skip only what stands lower than the winner by
/// more than `slack`, which is more than round-off and the flatness of faces can explain: the result is that of the
/// search over everything, the first of equals.
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

    // A pair of edges that still does well leaves little to search.
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

    // Faces that are lower by the bias lose to the pair of edges. Without any hint, the face that looks most towards
    // the other shape comes first.
    let floor = crossing.as_ref().map_or(f64::NEG_INFINITY, |c| c.separation - FACE_BIAS * size);
    let looking = |p: &Polyhedron, at: Vec3, heights: &mut Vec<f64>| {
        p.heights(at, heights);
        (0..p.n_faces()).fold(0, |top, k| if heights[k] > heights[top] { k } else { top })
    };
    let over_a = AboveA { a, b, rel };
    let top_a = match (&crossing, hint) {
        (Some(c), _) => over_a.best_of_few(c.ends_b, floor - slack, slack, heights, more_heights),
        (None, Some(f)) => Some(over_a.best(f.faces[0] as usize, floor, slack, heights)),
        (None, None) => {
            let first = looking(a, rel.point(b.centre()), heights);
            Some(over_a.best(first, floor, slack, heights))
        }
    };
    let s_a = top_a.as_ref().map_or(f64::NEG_INFINITY, |f| f.separation);
    if let Some(top) = &top_a
        && s_a > limit
    {
        return Err(a.face_normals()[top.face]);
    }
    let over_b = AboveB::new(a, b, rel);
    let floor = floor.max(s_a);
    let top_b = match (&crossing, hint) {
        (Some(c), _) => over_b.best_of_few(c.ends_a, floor - slack, slack, heights, more_heights),
        (None, Some(f)) => Some(over_b.best(f.faces[1] as usize, floor, slack, heights)),
        (None, None) => {
            let first = looking(b, rel.inverse_point(a.centre()), heights);
            Some(over_b.best(first, floor, slack, heights))
        }
    };
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

    // Only edges that face the other shape can do better. Along no direction does a shape stand higher than one of
    // its points: a point of b amid the contact leaves few edges of a, and the other way round.
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
    let axis = axis.expect("a face, or a pair of edges that beats all faces");
    Ok(Found { axis, features })
}

/// How much a bound may fall short [m]: faces are flat to 1e-9 of their shape's extent, normals of almost parallel
/// edges good to 1e-10, and round-off grows with the distance from the origins.
#[inline(always)]
pub(super) fn slack(a: &Polyhedron, b: &Polyhedron, rel: &Relative) -> f64 {
    let far = rel.origin.norm() + a.centre().norm() + b.centre().norm();
    1e-8 * (a.outer_radius() + b.outer_radius()) + 1e-13 * far
}

/// The better of the two best faces as an axis: of almost equals that of a.
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

/// A point of each shape, a's first, where a vertex of one is nearest to a face of the other; in the frame of a.
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

/// The point itself where it is inside (no height above a face is positive), else moved towards the centre until
/// it is: at the centre all heights are below minus the inner radius, and they change linearly on the way.
#[inline(always)]
fn pulled_in(p: Vec3, heights: &[f64], centre: impl Fn() -> Vec3, inner_radius: f64) -> Vec3 {
    let outside = heights.iter().copied().fold(0.0, f64::max);
    if outside == 0.0 { p } else { p + (centre() - p) * (outside / (outside + inner_radius)) }
}

/// A pair of edges that gives an axis.
struct Crossing {
    normal: Vec3,
    separation: f64,
    /// Ends of the edge of b in the frame of b, and of that of a in the frame of a.
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

/// A face of one shape and how high the other stands above it.
pub(super) struct Face {
    pub face: usize,
    pub separation: f64,
    /// The other shape's vertex nearest to its plane.
    pub vertex: usize,
}

/// One shape above the faces of the other.
pub(super) trait Above {
    /// The shape with the faces.
    fn base(&self) -> &Polyhedron;
    /// The shape above.
    fn other(&self) -> &Polyhedron;
    /// Turns a direction of the first one's frame around into the other's.
    fn against(&self, n: Vec3) -> Vec3;
    /// Height of the other's origin.
    fn shift(&self, n: Vec3) -> f64;
    /// A point of the other in the first one's frame.
    fn point(&self, p: Vec3) -> Vec3;

    /// The other shape above one face.
    #[inline(always)]
    fn evaluate(&self, face: usize) -> Face {
        let normal = self.base().face_normals()[face];
        let (vertex, depth) = self.other().support(self.against(normal));
        let separation = self.shift(normal) - depth - self.base().face_offsets()[face];
        Face { face, separation, vertex }
    }

    /// The face above which the other shape stands highest, the first of equals; if none is above `floor`, any face.
    #[inline(always)]
    fn best(&self, first: usize, floor: f64, slack: f64, heights: &mut Vec<f64>) -> Face {
        let mut best = self.evaluate(first);
        // A shape stands no higher above a face than any of its points.
        self.base().heights(self.point(self.other().vertices()[best.vertex]), heights);
        for i in 0..self.base().n_faces() {
            if i == first || heights[i] + slack < best.separation.max(floor) {
                continue;
            }
            let other = self.evaluate(i);
            if other.separation > best.separation
                || (other.separation == best.separation && i < best.face)
            {
                best = other;
            }
        }
        best
    }

    /// The same where two points of the other shape are known that leave only few faces: `None` if all are below `floor`.
    #[inline(always)]
    fn best_of_few(
        &self,
        ends: [Vec3; 2],
        floor: f64,
        slack: f64,
        heights: &mut Vec<f64>,
        more: &mut Vec<f64>,
    ) -> Option<Face> {
        self.base().heights(self.point(ends[0]), heights);
        self.base().heights(self.point(ends[1]), more);
        let mut best: Option<Face> = None;
        for i in 0..self.base().n_faces() {
            let needed = best.as_ref().map_or(floor, |b| floor.max(b.separation - slack));
            if heights[i].min(more[i]) < needed {
                continue;
            }
            let other = self.evaluate(i);
            if best.as_ref().is_none_or(|b| other.separation > b.separation) {
                best = Some(other);
            }
        }
        best
    }
}

/// b above the faces of a.
pub(super) struct AboveA<'p> {
    pub a: &'p Polyhedron,
    pub b: &'p Polyhedron,
    pub rel: &'p Relative,
}

impl Above for AboveA<'_> {
    #[inline(always)]
    fn base(&self) -> &Polyhedron {
        self.a
    }
    #[inline(always)]
    fn other(&self) -> &Polyhedron {
        self.b
    }
    #[inline(always)]
    fn against(&self, n: Vec3) -> Vec3 {
        self.rel.inverse_vector(-n)
    }
    #[inline(always)]
    fn shift(&self, n: Vec3) -> f64 {
        n.dot(&self.rel.origin)
    }
    #[inline(always)]
    fn point(&self, p: Vec3) -> Vec3 {
        self.rel.point(p)
    }
}

/// a above the faces of b.
pub(super) struct AboveB<'p> {
    a: &'p Polyhedron,
    b: &'p Polyhedron,
    rel: &'p Relative,
    /// Where a lies in the frame of b: −Rᵀ t.
    origin_a: Vec3,
}

impl<'p> AboveB<'p> {
    #[inline(always)]
    pub fn new(a: &'p Polyhedron, b: &'p Polyhedron, rel: &'p Relative) -> AboveB<'p> {
        AboveB { a, b, rel, origin_a: rel.inverse_vector(-rel.origin) }
    }
}

impl Above for AboveB<'_> {
    #[inline(always)]
    fn base(&self) -> &Polyhedron {
        self.b
    }
    #[inline(always)]
    fn other(&self) -> &Polyhedron {
        self.a
    }
    #[inline(always)]
    fn against(&self, n: Vec3) -> Vec3 {
        self.rel.vector(-n)
    }
    #[inline(always)]
    fn shift(&self, n: Vec3) -> f64 {
        n.dot(&self.origin_a)
    }
    #[inline(always)]
    fn point(&self, p: Vec3) -> Vec3 {
        self.rel.inverse_point(p)
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

/// The direction across two edges and the separation along it [m], where they span a face of the Minkowski
/// difference.
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

/// A manifold and what is known about it.
pub(super) struct Across {
    pub manifold: Manifold,
    /// Its deepest point shows the separation: for shapes apart, the axis gives the true distance.
    pub shown: bool,
    /// Two facing sides that hardly overlap, seen along the normal.
    pub grazes: bool,
}

/// The manifold across an axis, in the frame of a.
#[inline(always)]
pub(super) fn manifold(
    a: &Polyhedron,
    b: &Polyhedron,
    rel: &Relative,
    axis: &Axis,
    ask: &Ask,
    scratch: &mut NarrowScratch,
) -> Across {
    let size = a.outer_radius().min(b.outer_radius());
    let n = axis.normal;
    let mut m = Manifold::new(n, axis.separation);
    let towards_a = rel.inverse_vector(-n);
    let facing_a = match axis.kind {
        Kind::FaceA(i) => i,
        Kind::FaceB(_) => facing(a, axis.vertex, n),
        _ => facing(a, a.support(n).0, n),
    };
    let facing_b = match axis.kind {
        Kind::FaceB(j) => j,
        Kind::FaceA(_) => facing(b, axis.vertex, towards_a),
        _ => facing(b, b.support(towards_a).0, towards_a),
    };
    let NarrowScratch { side_a, side_b, clipper, .. } = scratch;
    let across = tangents(n);
    let flat_a = project(a, facing_a, (n, across), |p| p, |d| d, false, side_a);
    let flat_b = {
        let (point, vector) = (|p| rel.point(p), |d| rel.vector(d));
        project(b, facing_b, (n, across), point, vector, true, side_b)
    };
    let towards = |normal: Vec3| normal.dot(&n).abs() > FACING;
    let face_to_face =
        towards(a.face_normals()[facing_a]) && towards(rel.vector(b.face_normals()[facing_b]));
    let (mut shown, mut grazes) = (false, false);
    if flat_a && flat_b {
        let candidates = clipper.cut(side_a, side_b, (n, across), size);
        let deepest = candidates.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        shown = deepest <= axis.separation + 1e-9 * size;
        if deepest <= axis.separation + 1e-6 * size {
            thin(candidates, n, ask.alert, size, ask.drift, &mut m);
        }
        grazes = face_to_face && clipper.width() < GRAZE * size;
    }
    if m.points().is_empty() {
        m.push(witness(a, b, rel, axis));
        shown = shown || matches!(axis.kind, Kind::Points { .. });
    }
    Across { manifold: m, shown, grazes }
}

/// The face at a vertex that looks most along `n`.
#[inline(always)]
fn facing(p: &Polyhedron, vertex: usize, n: Vec3) -> usize {
    let mut best = (0, f64::NEG_INFINITY);
    for &f in p.faces_at(vertex) {
        let d = p.face_normals()[f as usize].dot(&n);
        if d > best.1 {
            best = (f as usize, d);
        }
    }
    best.0
}

/// Projects a face across `n`; false when it is too steep to have a height there.
#[inline(always)]
fn project(
    p: &Polyhedron,
    face: usize,
    (n, (t1, t2)): (Vec3, (Vec3, Vec3)),
    point: impl Fn(Vec3) -> Vec3,
    vector: impl Fn(Vec3) -> Vec3,
    reversed: bool,
    side: &mut Side,
) -> bool {
    side.corners.clear();
    let normal = vector(p.face_normals()[face]);
    let slope = normal.dot(&n);
    if slope.abs() < 0.1 {
        return false;
    }
    let corners = p.face(face);
    let edges = p.face_edges(face);
    let len = corners.len();
    for k in 0..len {
        // The second shape's faces are counter-clockwise from its own outside, so they run backwards here.
        let (i, e) = if reversed { (len - 1 - k, (2 * len - 2 - k) % len) } else { (k, k) };
        let x = point(p.vertices()[corners[i] as usize]);
        let at = [t1.dot(&x), t2.dot(&x)];
        let (vertex, edge) = (corners[i].into(), edges[e].into());
        side.corners.push(SideCorner { at, vertex, edge });
    }
    let offset = normal.dot(&point(p.vertices()[corners[0] as usize]));
    side.height = [offset / slope, -normal.dot(&t1) / slope, -normal.dot(&t2) / slope];
    true
}

/// The single point that shows the separation along the axis.
fn witness(a: &Polyhedron, b: &Polyhedron, rel: &Relative, axis: &Axis) -> ManifoldPoint {
    let (n, s) = (axis.normal, axis.separation);
    let (position, id) = match axis.kind {
        Kind::FaceA(_) | Kind::Plane => {
            let j = match axis.kind {
                Kind::FaceA(_) => axis.vertex,
                _ => b.support(rel.inverse_vector(-n)).0,
            };
            (rel.point(b.vertices()[j]) - n * (0.5 * s), feature(VERTEX_B, 0, j as u32))
        }
        Kind::FaceB(_) => {
            let i = axis.vertex;
            (a.vertices()[i] + n * (0.5 * s), feature(VERTEX_A, i as u32, 0))
        }
        Kind::Edges(i, j) => {
            let (pa, pb) = (a.edge_ends(i)[0], rel.point(b.edge_ends(j)[0]));
            let (da, db) = (a.edge_direction(i), rel.vector(b.edge_direction(j)));
            // Where the two lines come closest.
            let (w, c) = (pb - pa, da.dot(&db));
            let t = (w.dot(&da) - c * w.dot(&db)) / (1.0 - c * c);
            (pa + da * t + n * (0.5 * s), feature(CROSSING, i as u32, j as u32))
        }
        Kind::Points { on_a, on_b } => ((on_a + on_b) * 0.5, feature(WITNESS, 0, 0)),
    };
    ManifoldPoint { position, gap: s, feature: id }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Quat;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    /// The search over every face and every pair of edges: the judge of [`best_axis`].
    fn full_search(a: &Polyhedron, b: &Polyhedron, rel: &Relative) -> Axis {
        let size = a.outer_radius().min(b.outer_radius());
        let over = |n: Vec3, top: f64, (vertex, bottom): (usize, f64), shift: f64, kind: Kind| {
            Axis { normal: n, separation: shift - bottom - top, kind, vertex }
        };
        let first_best = |axes: &mut dyn Iterator<Item = Axis>| {
            axes.reduce(|best, x| if x.separation > best.separation { x } else { best }).unwrap()
        };
        let top_a = first_best(&mut (0..a.n_faces()).map(|i| {
            let n = a.face_normals()[i];
            let bottom = b.support(rel.inverse_vector(-n));
            over(n, a.face_offsets()[i], bottom, n.dot(&rel.origin), Kind::FaceA(i))
        }));
        let origin_a = rel.inverse_vector(-rel.origin);
        let top_b = first_best(&mut (0..b.n_faces()).map(|j| {
            let n = b.face_normals()[j];
            let bottom = a.support(rel.vector(-n));
            let axis = over(n, b.face_offsets()[j], bottom, n.dot(&origin_a), Kind::FaceB(j));
            Axis { normal: rel.vector(-n), ..axis }
        }));
        let first = top_b.separation > top_a.separation + FIRST_BIAS * size;
        let mut best = if first { top_b } else { top_a };
        let mut s_edge = best.separation + FACE_BIAS * size;
        for i in 0..a.edges().len() {
            for j in 0..b.edges().len() {
                let (ea, eb) = (NearEdge::of(a, i), NearEdge::of(b, j).moved(rel));
                if let Some((normal, s)) = edge_axis(&ea, &eb)
                    && s > s_edge
                {
                    s_edge = s;
                    best = Axis { normal, separation: s, kind: Kind::Edges(i, j), vertex: 0 };
                }
            }
        }
        best
    }

    fn unit(rng: &mut Pcg64) -> Vec3 {
        loop {
            let v = Vec3::from_fn(|_, _| rng.random_range(-1.0..1.0));
            let n = v.norm();
            if n > 0.1 && n < 1.0 {
                return v / n;
            }
        }
    }

    /// A stone, a flake, a needle, a box, a regular solid or a large plate.
    fn shape(rng: &mut Pcg64) -> Polyhedron {
        let stretch = match rng.random_range(0..8) {
            0 => Vec3::new(1.0, 1.0, 0.02),
            1 => Vec3::new(0.05, 0.05, 1.0),
            2 => return Polyhedron::cuboid([0.6; 3]).unwrap(),
            3 => return Polyhedron::cuboid([30.0, 20.0, 0.5]).unwrap(),
            4 => {
                let axes = [Vec3::x(), Vec3::y(), Vec3::z()];
                let points: Vec<Vec3> = axes.iter().flat_map(|x| [x * 0.4, x * -0.4]).collect();
                return Polyhedron::from_points(&points).unwrap();
            }
            _ => Vec3::new(1.0, 0.8, 0.6),
        };
        loop {
            let n = rng.random_range(4..30);
            let points: Vec<Vec3> =
                (0..n).map(|_| unit(rng).component_mul(&stretch) * 0.5).collect();
            if let Ok(p) = Polyhedron::from_points(&points) {
                return p;
            }
        }
    }

    /// Moves b along a random direction until the two are `gap` apart along the best axis.
    fn meeting(rng: &mut Pcg64, a: &Polyhedron, b: &Polyhedron) -> Relative {
        // Now and then aligned to the last digit, so that many axes tie.
        let rotation = match rng.random_range(0..4) {
            0 => Mat3::identity(),
            1 => Mat3::new(0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0),
            _ => {
                let angle = rng.random_range(0.0..3.0);
                *Quat::from_scaled_axis(unit(rng) * angle).to_rotation_matrix().matrix()
            }
        };
        let axes = [Vec3::x(), Vec3::z(), unit(rng), unit(rng)];
        let along = axes[rng.random_range(0..4)];
        let gap = [0.0, 1e-3, -1e-6, -1e-3, -0.05, 0.01][rng.random_range(0..6)];
        let at = |d: f64| Relative { rot: rotation, origin: a.centre() + along * d };
        let (mut near, mut far) = (0.0, 2.0 * (a.outer_radius() + b.outer_radius()));
        for _ in 0..40 {
            let middle = 0.5 * (near + far);
            let s = full_search(a, b, &at(middle)).separation;
            *(if s < gap { &mut near } else { &mut far }) = middle;
        }
        at(far)
    }

    fn same(x: &Axis, y: &Axis) -> bool {
        (x.kind, x.vertex, x.normal) == (y.kind, y.vertex, y.normal)
            && x.separation.to_bits() == y.separation.to_bits()
    }

    #[test]
    fn hints_and_bounds_never_change_a_bit_of_the_full_search() {
        let mut rng = Pcg64::seed_from_u64(51);
        let mut scratch = NarrowScratch::default();
        let (mut searched, mut edges, mut listed) = (0, 0, 0);
        for round in 0..1_500 {
            let (a, b) = (shape(&mut rng), shape(&mut rng));
            let mut rel = meeting(&mut rng, &a, &b);
            let size = a.outer_radius().min(b.outer_radius());
            let pace = size * [1e-7, 1e-4, 1e-2, 0.1][rng.random_range(0..4)];
            let mut hint = None;
            let mut list: Option<Shortlist> = None;
            for step in 0..80 {
                let full = full_search(&a, &b, &rel);
                let from_list = list.zip(hint).and_then(|(list, hint)| {
                    list.best_axis(&a, &b, &rel, f64::INFINITY, &hint, &mut Vec::new())
                });
                if let Some(found) = from_list {
                    let axis = found.expect("no limit").axis;
                    assert!(same(&axis, &full), "{round}/{step}: {axis:?} instead of {full:?}");
                    listed += 1;
                }
                for hint in [hint, None] {
                    let found = best_axis(&a, &b, &rel, f64::INFINITY, hint, &mut scratch);
                    let axis = found.expect("no limit").axis;
                    assert!(same(&axis, &full), "{round}/{step}: {axis:?} instead of {full:?}");
                }
                searched += 1;
                edges += usize::from(matches!(full.kind, Kind::Edges(..)));
                // Hint and list are those of this step or an older one.
                if step % 8 == 0 {
                    let found = best_axis(&a, &b, &rel, f64::INFINITY, None, &mut scratch);
                    hint = found.ok().map(|f| f.features);
                    list = Shortlist::new(&a, &b, &rel, &full, &Ask::default(), &mut scratch);
                }
                let turn = Quat::from_scaled_axis(unit(&mut rng) * (pace / size));
                rel.rot = turn.to_rotation_matrix().matrix() * rel.rot;
                rel.origin += unit(&mut rng) * pace;
            }
        }
        assert!(searched >= 100_000 && edges > 20_000, "{searched}, {edges} of them edges");
        assert!(listed > 40_000, "{listed} of {searched} by a list");
    }
}

//! Two convex polyhedra: the direction that separates them best, or along which they overlap least, by
//! separating axes over faces and pairs of edges; then the manifold across it.
//!
//! Axes that cannot beat the best so far are skipped by bounds that hold for every convex shape: seen
//! along a direction, a polyhedron reaches at least its inner radius beyond its centre.

use super::gjk::{Closest, closest};
use super::manifold::{
    CROSSING, FACING, GRAZE, Manifold, ManifoldPoint, Side, VERTEX_A, VERTEX_B, WITNESS, feature,
    thin,
};
use super::narrow::{Ask, NarrowScratch, PairCache};
use crate::math::{Mat3, Vec3, tangents};
use crate::shape::Polyhedron;

/// Place of b in the frame of a.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relative {
    pub rot: Mat3,
    pub origin: Vec3,
}

impl Relative {
    pub fn point(&self, p_b: Vec3) -> Vec3 {
        self.rot * p_b + self.origin
    }
    pub fn inverse_point(&self, p_a: Vec3) -> Vec3 {
        self.rot.tr_mul(&(p_a - self.origin))
    }
    pub fn vector(&self, d_b: Vec3) -> Vec3 {
        self.rot * d_b
    }
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
}

/// Separation of the two shapes along a unit direction (from a to b) [m].
pub(super) fn separation(a: &Polyhedron, b: &Polyhedron, rel: &Relative, n: Vec3) -> f64 {
    let (_, top) = a.support(n);
    let (_, bottom) = b.support(rel.inverse_vector(-n));
    n.dot(&rel.origin) - bottom - top
}

/// A face wins over an edge pair, and a's face over b's, when they differ by less than this share of the
/// size: contacts of parallel faces must not flicker between equals.
const FACE_BIAS: f64 = 1e-6;
const FIRST_BIAS: f64 = 1e-8;

/// An edge that can still win, in the frame of a.
#[derive(Clone, Copy, Debug)]
pub(super) struct NearEdge {
    index: usize,
    start: Vec3,
    direction: Vec3,
    normals: [Vec3; 2],
}

/// Contact of two polyhedra in the frame of a: `None` when farther apart than `alert`.
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
    if let Some(axis) = cache.axis
        && separation(a, b, rel, axis) > clear
    {
        return None;
    }
    if !cache.touching
        && let Closest::Beyond(axis) = closest(a, b, rel, clear)
    {
        cache.axis = Some(axis);
        return None;
    }
    cache.touching = false;
    let axis = match best_axis(a, b, rel, clear, scratch) {
        Ok(axis) => axis,
        Err(apart) => {
            cache.axis = Some(apart);
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
                cache.axis = Some(apart);
                return None;
            }
            Closest::Apart { on_a, on_b } if (on_b - on_a).norm() > 1e-7 * size => {
                let separation = (on_b - on_a).norm();
                let normal = (on_b - on_a) / separation;
                let axis = Axis { normal, separation, kind: Kind::Points { on_a, on_b } };
                self::manifold(a, b, rel, &axis, ask, scratch)
            }
            _ => across,
        }
    };
    cache.axis = Some(manifold.normal);
    cache.touching = true;
    if grazes && manifold.separation > -1e-6 * size {
        return None;
    }
    (manifold.separation <= alert).then_some(manifold)
}

/// The best of all face and edge axes, or a direction along which the shapes are more than `limit` apart.
pub(super) fn best_axis(
    a: &Polyhedron,
    b: &Polyhedron,
    rel: &Relative,
    limit: f64,
    scratch: &mut NarrowScratch,
) -> Result<Axis, Vec3> {
    let size = a.outer_radius().min(b.outer_radius());
    let centre_a_in_b = rel.inverse_point(a.centre());
    let centre_b_in_a = rel.point(b.centre());

    let face_a = best_face(
        a,
        b,
        centre_b_in_a,
        f64::NEG_INFINITY,
        |n| rel.inverse_vector(-n),
        |n| n.dot(&rel.origin),
    );
    let (i, s_a) = face_a;
    if s_a > limit {
        return Err(a.face_normals()[i]);
    }
    // In the frame of b, a lies at −Rᵀ t.
    let origin_a = rel.inverse_vector(-rel.origin);
    let bound = s_a - FACE_BIAS * size;
    let (j, s_b) = best_face(b, a, centre_a_in_b, bound, |n| rel.vector(-n), |n| n.dot(&origin_a));
    if s_b > limit {
        return Err(rel.vector(-b.face_normals()[j]));
    }
    let mut best = if s_b > s_a + FIRST_BIAS * size {
        Axis { normal: rel.vector(-b.face_normals()[j]), separation: s_b, kind: Kind::FaceB(j) }
    } else {
        Axis { normal: a.face_normals()[i], separation: s_a, kind: Kind::FaceA(i) }
    };

    // Only edges that face the other shape can do better.
    let bound = best.separation + FACE_BIAS * size;
    let identity = Relative { rot: Mat3::identity(), origin: Vec3::zeros() };
    near_edges(a, centre_b_in_a, b.inner_radius() + bound, &identity, &mut scratch.edges_a);
    near_edges(b, centre_a_in_b, a.inner_radius() + bound, rel, &mut scratch.edges_b);
    let mut s_edge = bound;
    for ea in &scratch.edges_a {
        for eb in &scratch.edges_b {
            if !arcs_cross(ea, eb) {
                continue;
            }
            let cross = ea.direction.cross(&eb.direction);
            let length = cross.norm();
            if length < 1e-6 {
                continue;
            }
            let mut normal = cross / length;
            if normal.dot(&(ea.normals[0] + ea.normals[1])) < 0.0 {
                normal = -normal;
            }
            let s = normal.dot(&(eb.start - ea.start));
            if s > s_edge {
                if s > limit {
                    return Err(normal);
                }
                s_edge = s;
                best = Axis { normal, separation: s, kind: Kind::Edges(ea.index, eb.index) };
            }
        }
    }
    Ok(best)
}

/// The face of `a` above which `b` stands highest: its index and the separation [m]. `into_b` turns a
/// direction of a's frame around into b's, `shift` is the height of b's origin.
#[inline]
fn best_face(
    a: &Polyhedron,
    b: &Polyhedron,
    centre_b: Vec3,
    bound: f64,
    into_b: impl Fn(Vec3) -> Vec3,
    shift: impl Fn(Vec3) -> f64,
) -> (usize, f64) {
    let (normals, offsets) = (a.face_normals(), a.face_offsets());
    let evaluate = |i: usize| {
        let (_, depth) = b.support(into_b(normals[i]));
        shift(normals[i]) - depth - offsets[i]
    };
    // The face that looks most towards b sets a bound that spares most others.
    let mut first = (0, f64::NEG_INFINITY);
    for i in 0..normals.len() {
        let h = normals[i].dot(&centre_b) - offsets[i];
        if h > first.1 {
            first = (i, h);
        }
    }
    let mut best = (first.0, evaluate(first.0));
    for i in 0..normals.len() {
        let ceiling = normals[i].dot(&centre_b) - offsets[i] - b.inner_radius();
        if i == first.0 || ceiling < bound.max(best.1) {
            continue;
        }
        let s = evaluate(i);
        if s > best.1 {
            best = (i, s);
        }
    }
    best
}

/// Edges along whose normals the other shape (its centre given, its inner radius and the bound to beat in
/// `needed`) can stand high enough, moved into the frame of a.
fn near_edges(
    p: &Polyhedron,
    other_centre: Vec3,
    needed: f64,
    frame: &Relative,
    out: &mut Vec<NearEdge>,
) {
    out.clear();
    for (index, e) in p.edges().iter().enumerate() {
        let start = p.vertices()[e.vertices[0] as usize];
        let w = other_centre - start;
        let [n1, n2] = e.faces.map(|f| p.face_normals()[f as usize]);
        let across = w - e.direction * w.dot(&e.direction);
        let inside = n1.cross(&across).dot(&e.direction) >= 0.0
            && across.cross(&n2).dot(&e.direction) >= 0.0;
        let ceiling = if inside { across.norm() } else { n1.dot(&w).max(n2.dot(&w)) };
        if ceiling >= needed {
            out.push(NearEdge {
                index,
                start: frame.point(start),
                direction: frame.vector(e.direction),
                normals: [frame.vector(n1), frame.vector(n2)],
            });
        }
    }
}

/// Whether two edges span a face of the Minkowski difference: their arcs on the sphere of normals cross.
#[inline]
fn arcs_cross(a: &NearEdge, b: &NearEdge) -> bool {
    let cba = b.normals[0].dot(&a.direction);
    let dba = b.normals[1].dot(&a.direction);
    let adc = -a.normals[0].dot(&b.direction);
    let bdc = -a.normals[1].dot(&b.direction);
    cba * dba < 0.0 && adc * bdc < 0.0 && cba * bdc > 0.0
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
    let facing_a = match axis.kind {
        Kind::FaceA(i) => i,
        _ => facing(a, n),
    };
    let facing_b = match axis.kind {
        Kind::FaceB(j) => j,
        _ => facing(b, rel.inverse_vector(-n)),
    };
    let NarrowScratch { side_a, side_b, clipper, .. } = scratch;
    let flat_a = project(a, facing_a, n, |p| p, |d| d, false, side_a);
    let flat_b = project(b, facing_b, n, |p| rel.point(p), |d| rel.vector(d), true, side_b);
    let towards = |normal: Vec3| normal.dot(&n).abs() > FACING;
    let face_to_face =
        towards(a.face_normals()[facing_a]) && towards(rel.vector(b.face_normals()[facing_b]));
    let (mut shown, mut grazes) = (false, false);
    if flat_a && flat_b {
        let candidates = clipper.cut(side_a, side_b, n, size);
        let deepest = candidates.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        shown = deepest <= axis.separation + 1e-9 * size;
        if deepest <= axis.separation + 1e-6 * size {
            thin(candidates, n, ask.alert, size, &ask.drift, &mut m);
        }
        grazes = face_to_face && clipper.width() < GRAZE * size;
    }
    if m.points().is_empty() {
        m.push(witness(a, b, rel, axis));
        shown = shown || matches!(axis.kind, Kind::Points { .. });
    }
    Across { manifold: m, shown, grazes }
}

/// The face at the vertex farthest along `n` that looks most along it.
fn facing(p: &Polyhedron, n: Vec3) -> usize {
    let (vertex, _) = p.support(n);
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
fn project(
    p: &Polyhedron,
    face: usize,
    n: Vec3,
    point: impl Fn(Vec3) -> Vec3,
    vector: impl Fn(Vec3) -> Vec3,
    reversed: bool,
    side: &mut Side,
) -> bool {
    side.clear();
    let normal = vector(p.face_normals()[face]);
    let slope = normal.dot(&n);
    if slope.abs() < 0.1 {
        return false;
    }
    let (t1, t2) = tangents(n);
    let corners = p.face(face);
    let edges = p.face_edges(face);
    let len = corners.len();
    for k in 0..len {
        // The second shape's faces are counter-clockwise from its own outside, so they run backwards here.
        let (i, e) = if reversed { (len - 1 - k, (2 * len - 2 - k) % len) } else { (k, k) };
        let x = point(p.vertices()[corners[i] as usize]);
        side.corners.push([t1.dot(&x), t2.dot(&x)]);
        side.vertices.push(corners[i]);
        side.edges.push(edges[e]);
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
            let (j, _) = b.support(rel.inverse_vector(-n));
            (rel.point(b.vertices()[j]) - n * (0.5 * s), feature(VERTEX_B, 0, j as u32))
        }
        Kind::FaceB(_) => {
            let (i, _) = a.support(n);
            (a.vertices()[i] + n * (0.5 * s), feature(VERTEX_A, i as u32, 0))
        }
        Kind::Edges(i, j) => {
            let (ea, eb) = (&a.edges()[i], &b.edges()[j]);
            let pa = a.vertices()[ea.vertices[0] as usize];
            let pb = rel.point(b.vertices()[eb.vertices[0] as usize]);
            let (da, db) = (ea.direction, rel.vector(eb.direction));
            // Where the two lines come closest.
            let (w, c) = (pb - pa, da.dot(&db));
            let t = (w.dot(&da) - c * w.dot(&db)) / (1.0 - c * c);
            (pa + da * t + n * (0.5 * s), feature(CROSSING, i as u32, j as u32))
        }
        Kind::Points { on_a, on_b } => ((on_a + on_b) * 0.5, feature(WITNESS, 0, 0)),
    };
    ManifoldPoint { position, gap: s, feature: id }
}

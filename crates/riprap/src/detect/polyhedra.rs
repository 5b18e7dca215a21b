//! Two convex polyhedra: the axis that separates them best, or along which they overlap least, then the manifold across it.

use super::axes::{Axis, Found, Kind, Relative, best_axis, separation};
use super::gjk::{Closest, closest};
use super::manifold::{
    CROSSING, FACING, GRAZE, Manifold, ManifoldPoint, Side, SideCorner, VERTEX_A, VERTEX_B,
    WITNESS, feature, thin,
};
use super::narrow::{Ask, Known, NarrowScratch, PairCache};
use super::shortlist::Shortlist;
use crate::math::{Vec3, tangents};
use crate::shape::Polyhedron;

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
    // Shortcuts dismiss only pairs that are clearly too far apart; the manifold decides. So a warm
    // and a fresh cache agree even exactly at the alert distance.
    let clear = alert + 1e-8 * size;
    // The direction that separated them last time often still does.
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
            // No closure: code that is not inlined here does not use the caller's instruction set.
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
    // If the nearest corners face each other, the distance is larger than along any face or edge
    // axis.
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

/// A manifold and what is known about it.
pub(super) struct Across {
    pub manifold: Manifold,
    /// Whether its deepest point has the separation as its gap: for separated shapes, the axis then
    /// gives the true distance.
    pub shown: bool,
    /// Whether two facing sides barely overlap, seen along the normal.
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

/// The face at a vertex that points most directly along `n`.
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

/// The single point whose gap is the separation along the axis.
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

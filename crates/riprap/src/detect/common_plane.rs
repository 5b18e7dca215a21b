//! Cundall's common plane (the paper's detection): a plane between two polyhedra is tilted until
//! its gap is largest. Provided as an option and as a cross-check of the separating axes, which are
//! exact and faster.

use super::axes::{Axis, Kind, Relative, separation};
use super::manifold::Manifold;
use super::narrow::{Ask, NarrowScratch};
use super::polyhedra::manifold;
use crate::math::{Vec3, tangents};
use crate::shape::Polyhedron;

/// Contact of two polyhedra in the frame of a; `None` when farther apart than `alert`.
pub(super) fn contact(
    a: &Polyhedron,
    b: &Polyhedron,
    rel: &Relative,
    ask: &Ask,
    scratch: &mut NarrowScratch,
) -> Option<Manifold> {
    let alert = ask.alert;
    let gap = |n: Vec3| separation(a, b, rel, n);
    let centres = rel.point(b.centre()) - a.centre();
    let first = centres.try_normalize(1e-300).unwrap_or_else(Vec3::z);

    // Overlapping shapes have several planes with a locally largest gap: also start from the faces
    // that point towards the other shape.
    let mut best = tilt(first, &gap);
    if best.1 > alert {
        return None;
    }
    for start in facing_normals(a, b, rel, first) {
        let found = tilt(start, &gap);
        if found.1 > best.1 {
            best = found;
        }
    }
    let (normal, separation) = best;
    if separation > alert {
        return None;
    }
    let axis = Axis { normal, separation, kind: Kind::Plane, vertex: 0 };
    let across = manifold(a, b, rel, &axis, ask, scratch);
    let size = a.outer_radius().min(b.outer_radius());
    if across.grazes && separation > -1e-6 * size {
        return None;
    }
    Some(across.manifold)
}

/// Tilts a plane about two axes, in ever finer steps, until no tilt widens the gap. The pair of
/// axes rotates from round to round so that the ridge between two vertices does not stop the
/// search.
fn tilt(start: Vec3, gap: &impl Fn(Vec3) -> f64) -> (Vec3, f64) {
    let mut best = (start, gap(start));
    let mut angle: f64 = 0.2;
    let mut turn: f64 = 0.0;
    let mut failures = 0;
    while angle > 1e-9 {
        let (t1, t2) = tangents(best.0);
        let mut improved = false;
        for k in 0..8 {
            let (s, c) = (turn + f64::from(k) * std::f64::consts::FRAC_PI_4).sin_cos();
            let n = (best.0 + (t1 * c + t2 * s) * angle).normalize();
            let g = gap(n);
            if g > best.1 {
                best = (n, g);
                improved = true;
                break;
            }
        }
        turn += 2.399_963_229_728_653;
        failures = if improved { 0 } else { failures + 1 };
        if failures == 3 {
            angle *= 0.6;
            failures = 0;
        }
    }
    best
}

/// Normals of the faces of both shapes that point towards the other.
fn facing_normals<'a>(
    a: &'a Polyhedron,
    b: &'a Polyhedron,
    rel: &'a Relative,
    towards: Vec3,
) -> impl Iterator<Item = Vec3> + 'a {
    let from_a = a.face_normals().iter().copied();
    let from_b = b.face_normals().iter().map(|n| rel.vector(-*n));
    from_a.chain(from_b).filter(move |n| n.dot(&towards) > 0.0)
}

#[cfg(test)]
mod tests;

//! Directions between two shapes: closest points of their cores (Gilbert, Johnson and Keerthi), and the direction
//! along which overlapping shapes overlap least.

use super::simplex::{Corner, Simplex};
use super::view::{Core, View, separation};
use crate::detect::gjk::Closest;
use crate::math::{Vec3, tangents};

/// Closest points of the cores of `a` and of `b` moved by `shift`, or the fact that they are more
/// than `limit` apart or touch.
pub(super) fn closest(a: &View, b: &View, shift: Vec3, limit: f64) -> Closest {
    let size = a.size + b.size;
    let mut v = b.centre + shift - a.centre;
    if v.norm() <= 1e-12 * size {
        v = Vec3::x() * size;
    }
    let mut simplex = Simplex::default();
    for _ in 0..200 {
        let norm = v.norm();
        if norm <= 1e-12 * size {
            return Closest::Touching;
        }
        let (pa, pb) = (a.support(v), b.support(-v) + shift);
        let corner = Corner { w: pb - pa, a: pa, b: pb };
        let reach = v.dot(&corner.w);
        if reach > limit * norm {
            return Closest::Beyond(v / norm);
        }
        let seen = simplex.corners().iter().any(|c| c.w == corner.w);
        let first = simplex.corners().is_empty();
        if !first && (seen || norm * norm - reach <= 1e-15 * norm * norm) {
            break;
        }
        let Some(next) = simplex.with(corner) else { return Closest::Touching };
        let onward = next.point(|c| c.w);
        // The first direction is only a guess; from then on `v` is the best point so far.
        if !first && onward.norm() >= norm {
            break;
        }
        (simplex, v) = (next, onward);
    }
    Closest::Apart { on_a: simplex.point(|c| c.a), on_b: simplex.point(|c| c.b) }
}

/// A direction from a to b with the separation along it [m], and points of the two surfaces, or
/// of the cores, that are this far apart along it, if known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    pub normal: Vec3,
    pub separation: f64,
    pub points: Option<[Vec3; 2]>,
}

impl Axis {
    /// The better of two; the first unless the second is larger by more than `bias` [m].
    pub fn or(self, other: Axis, bias: f64) -> Axis {
        if other.separation > self.separation + bias { other } else { self }
    }
}

/// The best normal of a flat side of either shape, or one along which they are more than `limit`
/// apart. Earlier ones win ties.
pub(super) fn best_flat(a: &View, b: &View, limit: f64, bias: f64) -> Option<Axis> {
    let mut best: Option<Axis> = None;
    let mut consider = |n: Vec3| {
        if best.is_some_and(|best| best.separation > limit) {
            return;
        }
        let found = Axis { normal: n, separation: separation(a, b, n), points: None };
        best = Some(best.map_or(found, |best| best.or(found, bias)));
    };
    a.flats(&mut consider);
    b.flats(|n| consider(-n));
    best
}

/// The direction between the cores of two shapes, cylinders taken as capsules; `None` when these
/// cores touch.
pub(super) fn sideways(a: &View, b: &View) -> Option<Axis> {
    let (a_round, b_round) = (a.as_capsule(), b.as_capsule());
    let Closest::Apart { on_a, on_b } = closest(&a_round, &b_round, Vec3::zeros(), f64::INFINITY)
    else {
        return None;
    };
    let distance = (on_b - on_a).norm();
    if distance <= 1e-9 * a.size.min(b.size) {
        return None;
    }
    let n = (on_b - on_a) / distance;
    let (sa, sb) = (a_round.radius - a.radius, b_round.radius - b.radius);
    let cone = |view: &View| matches!(view.core, Core::Cone { .. });
    let points = (!cone(a) && !cone(b)).then(|| [on_a + n * sa, on_b - n * sb]);
    Some(Axis { normal: n, separation: separation(a, b, n), points })
}

/// The direction between two overlapping shapes whose cores are made smaller until they are apart.
pub(super) fn apart_when_smaller(a: &View, b: &View) -> Option<Axis> {
    [0.95, 0.8, 0.5, 0.1].into_iter().find_map(|scale| {
        let found = closest(&a.scaled(scale), &b.scaled(scale), Vec3::zeros(), f64::INFINITY);
        let Closest::Apart { on_a, on_b } = found else { return None };
        let n = (on_b - on_a).try_normalize(1e-6 * a.size.min(b.size))?;
        Some(Axis { normal: n, separation: separation(a, b, n), points: None })
    })
}

/// The direction of least overlap near a given one. The second shape is moved apart along the direction
/// until the gap is small; the direction of the closest points is then at least as good. Linear
/// convergence with the ratio of overlap to radius of curvature; one step for flat features.
pub(super) fn least_overlap(a: &View, b: &View, start: Axis) -> Axis {
    let size = a.size.min(b.size);
    let mut best = start;
    for _ in 0..60 {
        let shift = best.normal * (1e-3 * size - best.separation + a.radius + b.radius);
        let Closest::Apart { on_a, on_b } = closest(a, b, shift, f64::INFINITY) else { break };
        let Some(normal) = (on_b - on_a).try_normalize(1e-9 * size) else { break };
        let points = Some([on_a, on_b - shift]);
        let found = Axis { normal, separation: separation(a, b, normal), points };
        if found.separation > best.separation + 1e-15 * size {
            best = found;
            continue;
        }
        // The points are also those of the direction that is kept.
        best.points = best.points.or(points);
        break;
    }
    best
}

/// Directions along which straight cores that touch may overlap least: faces, and edges of one
/// against those of the other.
pub(super) fn straight_overlap(a: &View, b: &View, bias: f64) -> Axis {
    let flat = best_flat(a, b, f64::INFINITY, bias);
    let mut best =
        flat.unwrap_or(Axis { normal: Vec3::x(), separation: f64::NEG_INFINITY, points: None });
    let edges_b = edges(b);
    for da in edges(a) {
        for db in &edges_b {
            let Some(n) = da.cross(db).try_normalize(1e-9 * da.norm() * db.norm()) else {
                continue;
            };
            for n in [n, -n] {
                let found = Axis { normal: n, separation: separation(a, b, n), points: None };
                best = best.or(found, bias);
            }
        }
    }
    if best.separation == f64::NEG_INFINITY {
        // Two points, or segments on one line.
        let across = edges(a).first().or(edges_b.first()).map(|d| tangents(d.normalize()).0);
        let n = across.unwrap_or(Vec3::x());
        best = Axis { normal: n, separation: separation(a, b, n), points: None };
    }
    best
}

/// The direction of each edge of a core.
fn edges(view: &View) -> Vec<Vec3> {
    match view.core {
        Core::Segment { .. } => vec![view.axis()],
        Core::Hull(p) => (0..p.edges().len()).map(|k| view.rot * p.edge_direction(k)).collect(),
        _ => Vec::new(),
    }
}

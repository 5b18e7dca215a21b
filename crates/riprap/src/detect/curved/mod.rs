//! Capsules, cylinders, cones and rounded polyhedra against each other and against balls, half-spaces and
//! polyhedra. Each is a core with a radius: cores that are apart give the normal by their closest points, exactly.
//! Flat sides, and the lateral surface of cylinders, are tried first; the direction of least overlap is searched
//! only where neither fits. Normals point from the first shape to the second.

mod plane;
mod search;
mod sides;
mod simplex;
mod turned;
mod view;

use super::gjk::Closest;
use super::manifold::{Manifold, ManifoldPoint, WITNESS, feature, thin};
use super::narrow::{Known, NarrowScratch, PairCache};
use super::{Ask, Geometry, Placed};
use crate::math::Vec3;
use search::{
    Axis, apart_when_smaller, best_flat, closest, least_overlap, sideways, straight_overlap,
};
use sides::{Facing, Meeting};
use view::{Core, View, separation};

/// Buffers for pairs with a curved shape.
#[derive(Clone, Debug, Default)]
pub(super) struct Buffers {
    a: Facing,
    b: Facing,
    pub points: Vec<ManifoldPoint>,
}

/// Contact of two placed geometries of which at least one is curved; `None` when farther apart than the alert
/// distance. Not inlined: the other pairs keep their registers.
#[inline(never)]
pub(super) fn contact(
    (g, h): (&Geometry, &Geometry),
    (a, b): (&Placed, &Placed),
    ask: &Ask,
    cache: &mut PairCache,
    scratch: &mut NarrowScratch,
) -> Option<Manifold> {
    if let (Geometry::HalfSpace(n), Geometry::Curved(c)) = (g, h) {
        return plane::half_space((a.rot * n, a.origin), (c, b), ask, &mut scratch.curved.points);
    }
    if let (Geometry::Curved(_), Geometry::HalfSpace(_)) = (g, h) {
        let drift = || (ask.drift)().reversed();
        let ask = Ask { drift: &drift, ..*ask };
        return contact((h, g), (b, a), &ask, cache, scratch).map(Manifold::flipped);
    }
    let from = a.origin;
    let (a, b) = (View::of(g, a, from)?, View::of(h, b, from)?);
    let drift = || (ask.drift)().seen_from(&crate::math::Mat3::identity(), from);
    let ask = Ask { drift: &drift, ..*ask };
    let manifold = match (a.core, b.core) {
        (Core::Point, Core::Cylinder { .. } | Core::Cone { .. } | Core::Segment { .. }) => {
            turned::ball(&b, &a, ask.alert).map(Manifold::flipped)
        }
        (Core::Cylinder { .. } | Core::Cone { .. } | Core::Segment { .. }, Core::Point) => {
            turned::ball(&a, &b, ask.alert)
        }
        _ => cores(&a, &b, &ask, cache, scratch),
    };
    manifold.map(|m| m.moved(&crate::math::Mat3::identity(), from))
}

/// Overlaps below this fraction of the size are shallow: the first direction that fits is taken.
const SHALLOW: f64 = 1e-3;
/// A later direction must be better by this fraction of the size: contacts must not flicker between equal candidates.
const BIAS: f64 = 1e-8;

fn cores(
    a: &View,
    b: &View,
    ask: &Ask,
    cache: &mut PairCache,
    scratch: &mut NarrowScratch,
) -> Option<Manifold> {
    let size = a.size.min(b.size);
    // The manifold decides exactly at the alert distance; shortcuts dismiss only pairs that are clearly apart.
    let clear = ask.alert + 1e-8 * size;
    if let Known::Apart(axis) = cache.known {
        let s = separation(a, b, axis);
        if s > clear {
            scratch.apart = s;
            return None;
        }
    }
    let found = match a.is_straight() && b.is_straight() {
        true => straight(a, b, (clear, size), ask, &mut scratch.curved),
        false => curved(a, b, (clear, size), ask, &mut scratch.curved),
    };
    match found {
        Ok(m) => {
            cache.known = Known::Nothing;
            (m.separation <= ask.alert).then_some(m)
        }
        Err(apart) => {
            scratch.apart = separation(a, b, apart);
            cache.known = Known::Apart(apart);
            None
        }
    }
}

/// Cores that are points, segments or polyhedra: closest points if they are apart, otherwise separating axes. The error
/// is a direction along which the shapes are clearly apart.
fn straight(
    a: &View,
    b: &View,
    (clear, size): (f64, f64),
    ask: &Ask,
    buffers: &mut Buffers,
) -> Result<Manifold, Vec3> {
    let radii = a.radius + b.radius;
    let axis = match closest(a, b, Vec3::zeros(), clear + radii) {
        Closest::Beyond(n) => return Err(n),
        Closest::Apart { on_a, on_b } if (on_b - on_a).norm() > 1e-7 * size => {
            let distance = (on_b - on_a).norm();
            let n = (on_b - on_a) / distance;
            let points = Some([on_a, on_b]);
            let axis = Axis { normal: n, separation: distance - radii, points };
            face_along(a, b, axis, size)
        }
        _ => straight_overlap(a, b, BIAS * size),
    };
    Ok(manifold(a, b, &axis, size, ask, buffers).0)
}

/// The normal of a face instead of one that differs from it by rounding errors.
fn face_along(a: &View, b: &View, axis: Axis, size: f64) -> Axis {
    let mut best = axis;
    let mut consider = |n: Vec3| {
        if n.dot(&axis.normal) > 1.0 - 1e-9 && best.normal == axis.normal {
            let s = separation(a, b, n);
            if s >= axis.separation - 1e-9 * size {
                best = Axis { normal: n, separation: s, points: axis.points };
            }
        }
    };
    a.flats(&mut consider);
    b.flats(|n| consider(-n));
    best
}

/// Pairs with a cylinder or a cone.
fn curved(
    a: &View,
    b: &View,
    (clear, size): (f64, f64),
    ask: &Ask,
    buffers: &mut Buffers,
) -> Result<Manifold, Vec3> {
    let mut best: Option<(Axis, Manifold, bool)> = None;
    let (flat, side) = (best_flat(a, b, clear, BIAS * size), sideways(a, b));
    for axis in [flat, side].into_iter().flatten() {
        if axis.separation > clear {
            return Err(axis.normal);
        }
        if best.is_some_and(|(b, ..)| axis.separation <= b.separation + BIAS * size) {
            continue;
        }
        let (m, fits) = manifold(a, b, &axis, size, ask, buffers);
        if fits && axis.separation >= -SHALLOW * size {
            return Ok(m);
        }
        best = Some((axis, m, fits));
    }
    let axis = match closest(a, b, Vec3::zeros(), clear + a.radius + b.radius) {
        Closest::Beyond(n) => return Err(n),
        Closest::Apart { on_a, on_b } if (on_b - on_a).norm() > 1e-6 * size => {
            let distance = (on_b - on_a).norm();
            let normal = (on_b - on_a) / distance;
            let separation = distance - a.radius - b.radius;
            let axis = Axis { normal, separation, points: Some([on_a, on_b]) };
            face_along(a, b, axis, size)
        }
        _ => {
            let start = |n: Vec3| Axis { normal: n, separation: separation(a, b, n), points: None };
            let starts = [flat, side, apart_when_smaller(a, b)].into_iter().flatten();
            let found = starts.map(|start| least_overlap(a, b, start));
            let found = found.reduce(|x, y| x.or(y, BIAS * size));
            match (best, found) {
                // Nothing better than the direction that fits.
                (Some((axis, m, true)), Some(f))
                    if axis.or(f, BIAS * size).normal == axis.normal =>
                {
                    return Ok(m);
                }
                (_, Some(found)) => found,
                (_, None) => start(Vec3::x()),
            }
        }
    };
    Ok(manifold(a, b, &axis, size, ask, buffers).0)
}

/// The manifold across an axis, and whether its deepest point has the separation as its gap: the axis is then the direction
/// of the true distance.
fn manifold(
    a: &View,
    b: &View,
    axis: &Axis,
    size: f64,
    ask: &Ask,
    buffers: &mut Buffers,
) -> (Manifold, bool) {
    let n = axis.normal;
    let Buffers { a: side_a, b: side_b, points } = buffers;
    let motion = || (ask.drift)().shift;
    side_a.set(a, n, &motion);
    side_b.set(b, -n, &motion);
    Meeting { a: side_a, b: side_b, n, size }.points(points);
    // From cores to surfaces.
    let (radii, shift) = (a.radius + b.radius, n * (0.5 * (a.radius - b.radius)));
    for p in points.iter_mut() {
        p.gap -= radii;
        p.position += shift;
    }
    // Nothing of convex shapes is deeper than their separation.
    points.retain(|p| p.gap >= axis.separation - 1e-6 * size);
    let deepest = points.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
    let fits = deepest <= axis.separation + 1e-9 * size;
    if deepest > axis.separation + 1e-6 * size {
        let position = match axis.points {
            Some([x, y]) => (x + y) * 0.5 + shift,
            None => witness(a, b, axis),
        };
        let gap = axis.separation;
        points.insert(0, ManifoldPoint { position, gap, feature: feature(WITNESS, 0, 0) });
    }
    let mut m = Manifold::new(n, axis.separation);
    thin(points, n, ask.alert, size, ask.drift, &mut m);
    (m, fits)
}

/// The point midway between the surfaces where the shape whose farthest point is unique touches.
fn witness(a: &View, b: &View, axis: &Axis) -> Vec3 {
    let n = axis.normal;
    // The smaller shape is the one whose farthest point lies above the other.
    if a.size < b.size {
        a.support(n) + n * (a.radius + 0.5 * axis.separation)
    } else {
        b.support(-n) - n * (b.radius + 0.5 * axis.separation)
    }
}

//! A ball against a capsule, cylinder or cone: in the plane through the axis and the centre of the ball, closed form.

use super::view::{Core, View};
use crate::detect::manifold::Manifold;
use crate::math::{Vec3, length2};

/// A point of the half-plane: distance from the axis, and height.
type Flat = [f64; 2];

/// The shape `a` and the ball `b`.
pub(super) fn ball(a: &View, b: &View, alert: f64) -> Option<Manifold> {
    let x = a.local(b.origin - a.origin);
    let across = length2(x.x, x.y);
    // On the axis, any direction away from it will do.
    let radial = match across > 0.0 {
        true => Vec3::new(x.x / across, x.y / across, 0.0),
        false => Vec3::x(),
    };
    let (normal, distance) = match a.core {
        Core::Segment { half } => nearest([across, x.z], &[([0.0, -half], [0.0, half])]),
        Core::Cylinder { radius, half } => {
            let corners = [[0.0, -half], [radius, -half], [radius, half], [0.0, half]];
            nearest([across, x.z], &[0, 1, 2].map(|k| (corners[k], corners[k + 1])))
        }
        Core::Cone { radius, half } => {
            let corners = [[0.0, -half], [radius, -half], [0.0, half]];
            nearest([across, x.z], &[0, 1].map(|k| (corners[k], corners[k + 1])))
        }
        Core::Point | Core::Hull(_) => return None,
    };
    let gap = distance - a.radius - b.radius;
    if gap > alert {
        return None;
    }
    let n = a.rot * (radial * normal[0] + Vec3::new(0.0, 0.0, normal[1]));
    Some(Manifold::single(n, gap, b.origin - n * (b.radius + 0.5 * gap), 0))
}

/// Outward direction and signed distance of a point from a profile, given by segments with the outside to
/// the right. A single segment has no inside.
fn nearest(x: Flat, profile: &[(Flat, Flat)]) -> (Flat, f64) {
    let mut inside = (f64::NEG_INFINITY, [1.0, 0.0]);
    let mut outside = (f64::INFINITY, [1.0, 0.0]);
    for (p, q) in profile {
        let e = [q[0] - p[0], q[1] - p[1]];
        let length = length2(e[0], e[1]);
        let normal = [e[1] / length, -e[0] / length];
        let w = [x[0] - p[0], x[1] - p[1]];
        let height = normal[0] * w[0] + normal[1] * w[1];
        if height > inside.0 {
            inside = (height, normal);
        }
        let s = ((w[0] * e[0] + w[1] * e[1]) / (length * length)).clamp(0.0, 1.0);
        let d = [w[0] - e[0] * s, w[1] - e[1] * s];
        let distance = length2(d[0], d[1]);
        if distance < outside.0 {
            // Exactly on the profile, its normal.
            let n = if distance > 1e-12 * length { d.map(|x| x / distance) } else { normal };
            outside = (distance, n);
        }
    }
    if profile.len() > 1 && inside.0 <= 0.0 { (inside.1, inside.0) } else { (outside.1, outside.0) }
}

//! Polygons, discs and half-spaces of planar scenes (plane x–y). A contact of two sides has two points,
//! never four. Normals point from the first shape to the second and lie exactly in the plane.

use super::Placed;
use super::manifold::{
    CROSSING, FACING, GRAZE, Manifold, ManifoldPoint, VERTEX_A, VERTEX_B, feature,
};
use crate::math::{Vec3, length2};
use crate::shape::Polygon;

type Vec2 = [f64; 2];

/// A polygon transformed into the world frame.
struct Outline<'a> {
    polygon: &'a Polygon,
    placed: &'a Placed,
}

impl Outline<'_> {
    fn len(&self) -> usize {
        self.polygon.vertices().len()
    }
    fn vertex(&self, k: usize) -> Vec2 {
        let v = self.polygon.vertices()[k % self.len()];
        let (r, o) = (&self.placed.rot, &self.placed.origin);
        [r[(0, 0)] * v[0] + r[(0, 1)] * v[1] + o.x, r[(1, 0)] * v[0] + r[(1, 1)] * v[1] + o.y]
    }
    fn normal(&self, k: usize) -> Vec2 {
        let n = self.polygon.normals()[k % self.len()];
        let r = &self.placed.rot;
        [r[(0, 0)] * n[0] + r[(0, 1)] * n[1], r[(1, 0)] * n[0] + r[(1, 1)] * n[1]]
    }
    fn lowest(&self, n: Vec2) -> (usize, f64) {
        let mut best = (0, f64::INFINITY);
        for k in 0..self.len() {
            let h = dot(n, self.vertex(k));
            if h < best.1 {
                best = (k, h);
            }
        }
        best
    }
}

fn dot(a: Vec2, b: Vec2) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}
fn sub(a: Vec2, b: Vec2) -> Vec2 {
    [a[0] - b[0], a[1] - b[1]]
}
fn vec3(a: Vec2) -> Vec3 {
    Vec3::new(a[0], a[1], 0.0)
}

/// The side of `a` above which `b` is highest, and the separation.
fn best_side(a: &Outline, b: &Outline) -> (usize, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for k in 0..a.len() {
        let n = a.normal(k);
        let s = b.lowest(n).1 - dot(n, a.vertex(k));
        if s > best.1 {
            best = (k, s);
        }
    }
    best
}

/// Two polygons.
pub(super) fn polygon_polygon(
    (p, pa): (&Polygon, &Placed),
    (q, pb): (&Polygon, &Placed),
    alert: f64,
) -> Option<Manifold> {
    let a = Outline { polygon: p, placed: pa };
    let b = Outline { polygon: q, placed: pb };
    let (ka, sa) = best_side(&a, &b);
    if sa > alert {
        return None;
    }
    let (kb, sb) = best_side(&b, &a);
    if sb > alert {
        return None;
    }
    let size = p.outer_radius().min(q.outer_radius());
    let swapped = sb > sa + 1e-8 * size;
    let grazes = if swapped { grazes(&b, kb, &a, size) } else { grazes(&a, ka, &b, size) };
    if grazes && sa.max(sb) > -1e-6 * size {
        return None;
    }
    let m = if swapped {
        side_contact(&b, kb, &a, sb, alert, size, VERTEX_A).flipped()
    } else {
        side_contact(&a, ka, &b, sa, alert, size, VERTEX_B)
    };
    if !m.points().is_empty() {
        return Some(m);
    }
    if sa.max(sb) <= 0.0 {
        // They overlap so deeply that no sides face each other: use the lowest corner.
        let lowest_corner = |a: &Outline, k: usize, b: &Outline, s: f64, kind: u32| {
            let n = a.normal(k);
            let (low, _) = b.lowest(n);
            let v = b.vertex(low);
            let position = vec3([v[0] - 0.5 * s * n[0], v[1] - 0.5 * s * n[1]]);
            Manifold::single(vec3(n), s, position, feature(kind, low as u32, 0))
        };
        return Some(if swapped {
            lowest_corner(&b, kb, &a, sb, VERTEX_A).flipped()
        } else {
            lowest_corner(&a, ka, &b, sa, VERTEX_B)
        });
    }
    corner_contact(&a, &b, alert)
}

/// Whether side `k` of `a` and the side of `b` that faces it barely overlap, seen along the normal.
fn grazes(a: &Outline, k: usize, b: &Outline, size: f64) -> bool {
    let n = a.normal(k);
    let facing = facing_side(b, n);
    if -dot(b.normal(facing), n) < FACING {
        return false;
    }
    let (p, q) = (a.vertex(k), a.vertex(k + 1));
    let along = |v: Vec2| dot(sub(q, p), sub(v, p)) / length2(sub(q, p)[0], sub(q, p)[1]);
    let (x0, x1) = (along(b.vertex(facing)), along(b.vertex(facing + 1)));
    let overlap = along(q).min(x0.max(x1)) - x0.min(x1).max(0.0);
    overlap < GRAZE * size
}

/// The side of `b` at its lowest corner along `n` that points most directly against it.
fn facing_side(b: &Outline, n: Vec2) -> usize {
    let (low, _) = b.lowest(n);
    let before = (low + b.len() - 1) % b.len();
    if dot(b.normal(before), n) < dot(b.normal(low), n) { before } else { low }
}

/// Side `k` of `a` against the side of `b` that faces it: two points at most. Empty when the
/// deepest corner of b lies beyond the end of the side, so that two corners are nearest to each
/// other.
fn side_contact(
    a: &Outline,
    k: usize,
    b: &Outline,
    separation: f64,
    alert: f64,
    size: f64,
    kind: u32,
) -> Manifold {
    let n = a.normal(k);
    let (p, q) = (a.vertex(k), a.vertex(k + 1));
    let length = length2(sub(q, p)[0], sub(q, p)[1]);
    let t = [sub(q, p)[0] / length, sub(q, p)[1] / length];
    let mut m = Manifold::new(vec3(n), separation);

    let facing = facing_side(b, n);
    let ends = [(facing, b.vertex(facing)), ((facing + 1) % b.len(), b.vertex(facing + 1))];
    let at = |v: Vec2| (dot(t, sub(v, p)), dot(n, sub(v, p)));
    let (x0, h0) = at(ends[0].1);
    let (x1, h1) = at(ends[1].1);
    let eps = 1e-9 * size;
    let mut deepest = f64::INFINITY;
    for (i, x, h) in [(0, x0, h0), (1, x1, h1)] {
        // A corner of b beyond the side is replaced by the end of the side if b extends over it.
        let (x_cut, id) = if x < -eps {
            (0.0, (0, k))
        } else if x > length + eps {
            (length, (0, (k + 1) % a.len()))
        } else {
            (x, (1, ends[i].0))
        };
        let gap = if x_cut == x {
            h
        } else {
            let (lo, hi) = (x0.min(x1), x0.max(x1));
            if x_cut < lo || x_cut > hi {
                continue;
            }
            h0 + (h1 - h0) * (x_cut - x0) / (x1 - x0)
        };
        deepest = deepest.min(gap);
        if gap > alert {
            continue;
        }
        let mid = 0.5 * gap;
        let position = vec3([p[0] + t[0] * x_cut + n[0] * mid, p[1] + t[1] * x_cut + n[1] * mid]);
        // `kind` identifies the shape of the corner: in the flipped case a's own corners are those
        // of the other shape.
        let own = if kind == VERTEX_B { VERTEX_A } else { VERTEX_B };
        let id = feature(if id.0 == 1 { kind } else { own }, id.1 as u32, 0);
        m.push(ManifoldPoint { position, gap, feature: id });
    }
    if separation > eps && deepest > separation + eps {
        return Manifold::new(vec3(n), separation);
    }
    m
}

/// Two polygons that are apart with corners nearest to each other.
fn corner_contact(a: &Outline, b: &Outline, alert: f64) -> Option<Manifold> {
    let mut best = (f64::INFINITY, [0.0; 2], [0.0; 2], 0);
    let mut closer = |u: Vec2, v: Vec2, id: u32| {
        let d = dot(sub(v, u), sub(v, u));
        if d < best.0 {
            best = (d, u, v, id);
        }
    };
    for i in 0..a.len() {
        for j in 0..b.len() {
            closer(on_side(a, i, b.vertex(j)), b.vertex(j), feature(CROSSING, i as u32, j as u32));
            closer(a.vertex(i), on_side(b, j, a.vertex(i)), feature(CROSSING, i as u32, j as u32));
        }
    }
    let (_, u, v, id) = best;
    let d = sub(v, u);
    let gap = length2(d[0], d[1]);
    if gap > alert || gap == 0.0 {
        return None;
    }
    let n = [d[0] / gap, d[1] / gap];
    let mid = [0.5 * (u[0] + v[0]), 0.5 * (u[1] + v[1])];
    Some(Manifold::single(vec3(n), gap, vec3(mid), id))
}

/// The point of side `k` nearest to `x`.
fn on_side(a: &Outline, k: usize, x: Vec2) -> Vec2 {
    let (p, q) = (a.vertex(k), a.vertex(k + 1));
    let e = sub(q, p);
    let s = (dot(sub(x, p), e) / dot(e, e)).clamp(0.0, 1.0);
    [p[0] + s * e[0], p[1] + s * e[1]]
}

/// A polygon and a disc.
pub(super) fn polygon_disc(
    (p, placed): (&Polygon, &Placed),
    (centre, radius): (Vec3, f64),
    alert: f64,
) -> Option<Manifold> {
    let a = Outline { polygon: p, placed };
    let c = [centre.x, centre.y];
    let mut top = (0, f64::NEG_INFINITY);
    let mut nearest = (f64::INFINITY, c);
    for k in 0..a.len() {
        let h = dot(a.normal(k), sub(c, a.vertex(k)));
        if h > radius + alert {
            return None;
        }
        if h > top.1 {
            top = (k, h);
        }
        let x = on_side(&a, k, c);
        let d = dot(sub(c, x), sub(c, x)).sqrt();
        if d < nearest.0 {
            nearest = (d, x);
        }
    }
    let (n, distance) = if top.1 <= 0.0 || nearest.0 <= 1e-12 * p.outer_radius() {
        (a.normal(top.0), top.1)
    } else {
        let d = sub(c, nearest.1);
        ([d[0] / nearest.0, d[1] / nearest.0], nearest.0)
    };
    let gap = distance - radius;
    let n = vec3(n);
    (gap <= alert).then(|| Manifold::single(n, gap, vec3(c) - n * (radius + 0.5 * gap), 0))
}

/// A half-space and a polygon: its two lowest corners.
pub(super) fn half_space_polygon(
    (normal, origin): (Vec3, Vec3),
    (p, placed): (&Polygon, &Placed),
    alert: f64,
) -> Option<Manifold> {
    let b = Outline { polygon: p, placed };
    let n = [normal.x, normal.y];
    let o = [origin.x, origin.y];
    let (low, _) = b.lowest(n);
    let gap = |k: usize| dot(n, sub(b.vertex(k), o));
    let separation = gap(low);
    if separation > alert {
        return None;
    }
    let (before, after) = ((low + b.len() - 1) % b.len(), (low + 1) % b.len());
    let second = if gap(before) < gap(after) { before } else { after };
    let mut m = Manifold::new(vec3(n), separation);
    for k in [low.min(second), low.max(second)] {
        if gap(k) <= alert {
            let v = b.vertex(k);
            let position = vec3([v[0] - 0.5 * gap(k) * n[0], v[1] - 0.5 * gap(k) * n[1]]);
            m.push(ManifoldPoint { position, gap: gap(k), feature: k as u32 });
        }
    }
    Some(m)
}

#[cfg(test)]
mod tests;

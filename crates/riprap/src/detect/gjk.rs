//! Distance of two convex polyhedra that are apart (Gilbert, Johnson and Keerthi), with the closest
//! points. If they touch or overlap, only that is reported; the separating axes then give the
//! depth.

use super::axes::Relative;
use crate::math::Vec3;
use crate::shape::Polyhedron;

/// Result of the search for the closest points.
#[derive(Clone, Copy, Debug)]
pub(super) enum Closest {
    /// Farther apart than the limit; a direction along which this is the case.
    Beyond(Vec3),
    /// Apart: points on the two surfaces in the frame of a.
    Apart { on_a: Vec3, on_b: Vec3 },
    /// Touching or overlapping.
    Touching,
}

/// A corner of the simplex: a point of b minus a point of a, and both points.
#[derive(Clone, Copy, Debug, Default)]
struct Corner {
    w: Vec3,
    a: Vec3,
    b: Vec3,
}

/// Up to four corners with the weights of the point nearest to the origin.
#[derive(Clone, Copy, Debug, Default)]
struct Simplex {
    corners: [Corner; 4],
    weights: [f64; 4],
    len: usize,
}

/// Closest points of `a` and `b`, or the fact that they are more than `limit` apart or touch.
pub(super) fn closest(a: &Polyhedron, b: &Polyhedron, rel: &Relative, limit: f64) -> Closest {
    let size = a.outer_radius() + b.outer_radius();
    let mut v = rel.point(b.centre()) - a.centre();
    if v.norm() <= 1e-12 * size {
        return Closest::Touching;
    }
    let mut simplex = Simplex::default();
    let mut last = f64::INFINITY;
    for _ in 0..100 {
        let norm = v.norm();
        if norm <= 1e-10 * size {
            return Closest::Touching;
        }
        let (ia, _) = a.support(v);
        let (ib, _) = b.support(rel.inverse_vector(-v));
        let (pa, pb) = (a.vertices()[ia], rel.point(b.vertices()[ib]));
        let corner = Corner { w: pb - pa, a: pa, b: pb };
        let reach = v.dot(&corner.w);
        if reach > limit * norm {
            return Closest::Beyond(v / norm);
        }
        // The first direction is only a guess; from then on `v` is the best point so far.
        let seen = simplex.corners[..simplex.len].iter().any(|c| c.w == corner.w);
        let done = seen || norm * norm - reach <= 1e-14 * norm * norm || norm >= last;
        if simplex.len > 0 && done {
            break;
        }
        if simplex.len > 0 {
            last = norm;
        }
        simplex.corners[simplex.len] = corner;
        simplex.len += 1;
        match reduce(&simplex) {
            Some(s) => simplex = s,
            None => return Closest::Touching,
        }
        v = simplex.point(|c| c.w);
    }
    if simplex.len == 0 {
        return Closest::Touching;
    }
    Closest::Apart { on_a: simplex.point(|c| c.a), on_b: simplex.point(|c| c.b) }
}

impl Simplex {
    fn point(&self, of: impl Fn(&Corner) -> Vec3) -> Vec3 {
        (0..self.len).map(|k| of(&self.corners[k]) * self.weights[k]).sum()
    }

    fn of(corners: &[Corner], weights: &[f64]) -> Simplex {
        let mut s = Simplex { len: corners.len(), ..Simplex::default() };
        s.corners[..corners.len()].copy_from_slice(corners);
        s.weights[..weights.len()].copy_from_slice(weights);
        s
    }
}

/// The smallest sub-simplex that contains the point nearest to the origin; `None` when the origin
/// is inside.
fn reduce(s: &Simplex) -> Option<Simplex> {
    let c = &s.corners;
    match s.len {
        1 => Some(Simplex::of(&c[..1], &[1.0])),
        2 => Some(segment(c[0], c[1])),
        3 => Some(triangle(c[0], c[1], c[2])),
        _ => tetrahedron(c),
    }
}

fn segment(a: Corner, b: Corner) -> Simplex {
    let ab = b.w - a.w;
    let t = -a.w.dot(&ab) / ab.norm_squared();
    if t <= 0.0 || !t.is_finite() {
        Simplex::of(&[a], &[1.0])
    } else if t >= 1.0 {
        Simplex::of(&[b], &[1.0])
    } else {
        Simplex::of(&[a, b], &[1.0 - t, t])
    }
}

/// Nearest point on a triangle by Voronoi regions (Ericson 2005).
fn triangle(a: Corner, b: Corner, c: Corner) -> Simplex {
    let (ab, ac) = (b.w - a.w, c.w - a.w);
    let (d1, d2) = (-ab.dot(&a.w), -ac.dot(&a.w));
    if d1 <= 0.0 && d2 <= 0.0 {
        return Simplex::of(&[a], &[1.0]);
    }
    let (d3, d4) = (-ab.dot(&b.w), -ac.dot(&b.w));
    if d3 >= 0.0 && d4 <= d3 {
        return Simplex::of(&[b], &[1.0]);
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return segment(a, b);
    }
    let (d5, d6) = (-ab.dot(&c.w), -ac.dot(&c.w));
    if d6 >= 0.0 && d5 <= d6 {
        return Simplex::of(&[c], &[1.0]);
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return segment(a, c);
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        return segment(b, c);
    }
    let sum = va + vb + vc;
    if sum <= 0.0 {
        // A degenerate triangle: the nearest of its sides.
        let sides = [segment(a, b), segment(a, c), segment(b, c)];
        return nearest(&sides);
    }
    Simplex::of(&[a, b, c], &[va / sum, vb / sum, vc / sum])
}

fn tetrahedron(c: &[Corner; 4]) -> Option<Simplex> {
    let mut best: Option<Simplex> = None;
    for [i, j, k, l] in [[0, 1, 2, 3], [0, 2, 3, 1], [0, 3, 1, 2], [1, 3, 2, 0]] {
        let normal = (c[j].w - c[i].w).cross(&(c[k].w - c[i].w));
        let origin = -c[i].w.dot(&normal);
        let inner = (c[l].w - c[i].w).dot(&normal);
        // A flat tetrahedron has no interior: all its sides are candidates.
        let flat = inner.abs() <= 1e-14 * normal.norm() * (c[l].w - c[i].w).norm();
        if flat || origin * inner < 0.0 {
            let side = triangle(c[i], c[j], c[k]);
            best = Some(best.map_or(side, |b| nearest(&[b, side])));
        }
    }
    best
}

fn nearest(candidates: &[Simplex]) -> Simplex {
    let mut best = candidates[0];
    for s in &candidates[1..] {
        if s.point(|c| c.w).norm_squared() < best.point(|c| c.w).norm_squared() {
            best = *s;
        }
    }
    best
}

#[cfg(test)]
mod tests;

//! The height of a point over an edge: the greatest height along any normal between those of its
//! two faces.

use crate::math::Vec3;

/// The bend of the surface over an edge: the angle between the normals of its two faces.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bend {
    /// Cosine of the angle.
    cos: f64,
    /// Reciprocal of the square of its sine; 0 if the faces are almost parallel.
    per_sin2: f64,
}

impl Bend {
    pub(super) fn new(normals: [Vec3; 2]) -> Bend {
        let cos = normals[0].dot(&normals[1]);
        let sin2 = normals[0].cross(&normals[1]).norm_squared();
        Bend { cos, per_sin2: if sin2 > 1e-6 { 1.0 / sin2 } else { 0.0 } }
    }

    /// The greatest height of a point along any normal of the edge, from its heights above the two faces.
    ///
    /// Across the edge the point lies at `d = α n₁ + β n₂`. Between the two normals (α, β ≥ 0) it
    /// is highest along `d` itself, `|d|² = α h₁ + β h₂`, otherwise along one of the two. If both
    /// heights are negative, it is highest along one of the two.
    #[inline(always)]
    pub(super) fn height(&self, [h1, h2]: [f64; 2]) -> f64 {
        let top = h1.max(h2);
        if h1 + h2 < 0.0 {
            return top;
        }
        if self.per_sin2 == 0.0 {
            // Along a direction between almost equal normals: h₁ / cos at most. Between opposite
            // normals: unbounded.
            return if self.cos > 0.0 { top / self.cos } else { f64::INFINITY };
        }
        let (x, y) = (h1 - self.cos * h2, h2 - self.cos * h1);
        if x > 0.0 && y > 0.0 {
            // α h₁ + β h₂ ≥ 0 here: it is a square.
            ((x * h1 + y * h2) * self.per_sin2).max(0.0).sqrt()
        } else {
            top
        }
    }

    /// The same for the lower of two points `p` and `q`, or an upper bound of it.
    #[inline(always)]
    pub(super) fn height_of_lower(&self, p: [f64; 2], q: [f64; 2]) -> f64 {
        let g = [p[0] - q[0], p[1] - q[1]];
        if g[0] * g[1] < 0.0 {
            // Along α n₁ + β n₂ both are equally high; on either side of it one point is lower.
            // Where everything is negative, each is highest at an end of its range.
            let (alpha, beta) = (g[1].abs(), g[0].abs());
            let length2 = alpha * alpha + beta * beta + 2.0 * alpha * beta * self.cos;
            let middle = (alpha * p[0] + beta * p[1]) / length2.sqrt();
            let top = middle.max(p[0].min(q[0])).max(p[1].min(q[1]));
            if top < 0.0 && self.per_sin2 > 0.0 {
                return top;
            }
        }
        self.height(p).min(self.height(q))
    }
}

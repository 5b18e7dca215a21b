//! The point of a simplex nearest to the origin. Supports of curved shapes come ever closer to each other, so all
//! sides are compared instead of being chosen by signs that rounding errors may change.

use crate::math::Vec3;

/// A corner: a point of b minus a point of a, and both points.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Corner {
    pub w: Vec3,
    pub a: Vec3,
    pub b: Vec3,
}

/// Up to four corners, with the weights of the point nearest to the origin.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Simplex {
    corners: [Corner; 4],
    weights: [f64; 4],
    len: usize,
}

impl Simplex {
    pub fn corners(&self) -> &[Corner] {
        &self.corners[..self.len]
    }

    /// The weighted point.
    pub fn point(&self, of: impl Fn(&Corner) -> Vec3) -> Vec3 {
        (0..self.len).map(|k| of(&self.corners[k]) * self.weights[k]).sum()
    }

    /// The smallest sub-simplex, after adding a corner, that contains the point nearest to the origin;
    /// `None` when the origin is inside.
    pub fn with(&self, corner: Corner) -> Option<Simplex> {
        let mut all = *self;
        all.corners[all.len] = corner;
        all.len += 1;
        let mut best: Option<(f64, Simplex)> = None;
        let mut consider = |corners: &[usize], weights: &[f64]| {
            if weights.iter().any(|w| w.is_nan() || *w < 0.0) {
                return;
            }
            let mut side = Simplex { len: corners.len(), ..Simplex::default() };
            for (k, (i, w)) in corners.iter().zip(weights).enumerate() {
                (side.corners[k], side.weights[k]) = (all.corners[*i], *w);
            }
            let d = side.point(|c| c.w).norm_squared();
            if best.as_ref().is_none_or(|b| d < b.0) {
                best = Some((d, side));
            }
        };
        let w = |i: usize| all.corners[i].w;
        for i in 0..all.len {
            consider(&[i], &[1.0]);
            for j in 0..i {
                let e = w(j) - w(i);
                let t = -w(i).dot(&e) / e.norm_squared();
                consider(&[i, j], &[1.0 - t, t]);
                for k in 0..j {
                    let f = w(k) - w(i);
                    // Relative to the longer side, so that slender triangles keep their digits.
                    let (s, t) = match e.norm_squared() >= f.norm_squared() {
                        true => foot(w(i), e, f),
                        false => {
                            let (t, s) = foot(w(i), f, e);
                            (s, t)
                        }
                    };
                    consider(&[i, j, k], &[1.0 - s - t, s, t]);
                }
            }
        }
        let (_, side) = best?;
        // With the origin inside, the nearest side has a corner behind it.
        let v = side.point(|c| c.w);
        let inside = all.len == 4 && all.corners().iter().any(|c| v.dot(&c.w) < 0.0);
        (!inside).then_some(side)
    }
}

/// `(s, t)` of the point `w + s e + t f` nearest to the origin.
fn foot(w: Vec3, e: Vec3, f: Vec3) -> (f64, f64) {
    let along = f.dot(&e) / e.norm_squared();
    let across = f - e * along;
    let t = -w.dot(&across) / across.norm_squared();
    (-w.dot(&e) / e.norm_squared() - t * along, t)
}

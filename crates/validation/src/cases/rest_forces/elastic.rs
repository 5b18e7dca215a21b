//! An independent elastic solution of a planar packing of discs: the direct stiffness method with a dense matrix, and contacts
//! opened and closed one set at a time. Friction is assumed to be large enough.

/// A contact of a disc with another one, or with something fixed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    /// The disc on which the normal acts, and the other one.
    pub own: usize,
    pub other: Option<usize>,
    /// Contact point [m] and normal towards `own`.
    pub point: [f64; 2],
    pub normal: [f64; 2],
}

/// Discs at rest.
#[derive(Clone, Debug, Default)]
pub(super) struct Discs {
    pub centres: Vec<[f64; 2]>,
    pub weights: Vec<f64>,
    pub touches: Vec<Touch>,
}

impl Discs {
    /// Rows of a contact over the three coordinates of each of its discs: disc, then normal and tangential row.
    fn rows(&self, touch: &Touch) -> Vec<(usize, [[f64; 3]; 2])> {
        let [nx, ny] = touch.normal;
        let sides = [(Some(touch.own), 1.0), (touch.other, -1.0)];
        let row = |(disc, sign): (Option<usize>, f64)| {
            let disc = disc?;
            let arm = [0, 1].map(|k| touch.point[k] - self.centres[disc][k]);
            let along = |x: f64, y: f64| [sign * x, sign * y, sign * (arm[0] * y - arm[1] * x)];
            Some((disc, [along(nx, ny), along(-ny, nx)]))
        };
        sides.into_iter().filter_map(row).collect()
    }

    /// Normal and tangential force of each contact [N] for normal springs of 1 N/m and tangential ones of `ratio`.
    pub(super) fn elastic(&self, ratio: f64) -> Vec<[f64; 2]> {
        let n = 3 * self.centres.len();
        let mut closed = vec![true; self.touches.len()];
        for _ in 0..100 {
            let mut matrix = vec![vec![0.0; n + 1]; n];
            for (disc, weight) in self.weights.iter().enumerate() {
                matrix[3 * disc + 1][n] = -weight;
            }
            for touch in self.touches.iter().zip(&closed).filter(|(_, closed)| **closed) {
                let rows = self.rows(touch.0);
                for (k, stiffness) in [1.0, ratio].into_iter().enumerate() {
                    for (a, own) in &rows {
                        for (b, other) in &rows {
                            for i in 0..3 {
                                for j in 0..3 {
                                    matrix[3 * a + i][3 * b + j] +=
                                        stiffness * own[k][i] * other[k][j];
                                }
                            }
                        }
                    }
                }
            }
            let moved = solve(matrix);
            let stretch = |touch: &Touch, k: usize| -> f64 {
                let rows = self.rows(touch);
                rows.iter()
                    .map(|(d, row)| (0..3).map(|i| row[k][i] * moved[3 * d + i]).sum::<f64>())
                    .sum()
            };
            let now: Vec<bool> = self.touches.iter().map(|t| stretch(t, 0) < 0.0).collect();
            if now == closed {
                let force = |(t, closed): (&Touch, &bool)| match closed {
                    true => [-stretch(t, 0), -ratio * stretch(t, 1)],
                    false => [0.0; 2],
                };
                return self.touches.iter().zip(&closed).map(force).collect();
            }
            closed = now;
        }
        vec![[f64::NAN; 2]; self.touches.len()]
    }
}

/// Solves a system given with its right-hand side as the last column.
fn solve(mut a: Vec<Vec<f64>>) -> Vec<f64> {
    let n = a.len();
    for k in 0..n {
        let best = (k..n).max_by(|i, j| a[*i][k].abs().total_cmp(&a[*j][k].abs())).unwrap_or(k);
        a.swap(k, best);
        let pivot = a[k].clone();
        for row in a.iter_mut().skip(k + 1) {
            let factor = row[k] / pivot[k];
            row.iter_mut().zip(&pivot).skip(k).for_each(|(x, p)| *x -= factor * p);
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k][j] * x[j]).sum();
        x[k] = (a[k][n] - known) / a[k][k];
    }
    x
}

//! Small dense factorizations, in place and without allocation: LU with row pivoting, and Cholesky.
//! Matrices are row-major slices.

/// An LU factorization of a square matrix with row pivoting.
#[derive(Clone, Debug, Default)]
pub struct Lu {
    n: usize,
    entries: Vec<f64>,
    exchange: Vec<u32>,
    /// Reciprocal of each pivot: a division takes as long as several multiplications.
    inverse: Vec<f64>,
}

impl Lu {
    /// The matrix to fill before [`Lu::factor`], row-major, all zeros.
    pub fn reset(&mut self, n: usize) -> &mut [f64] {
        self.n = n;
        self.entries.clear();
        self.entries.resize(n * n, 0.0);
        &mut self.entries
    }

    /// Factors the matrix. Returns the ratio of the smallest pivot to the largest entry [–]: 0 for
    /// a singular matrix, 1 for an empty one. (Relative to the largest pivot, a column that
    /// vanishes as the matrix becomes singular would go unnoticed.)
    pub fn factor(&mut self) -> f64 {
        let (n, a) = (self.n, &mut self.entries);
        self.exchange.clear();
        self.inverse.clear();
        let largest = a.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let mut smallest = f64::INFINITY;
        for k in 0..n {
            let mut best = k;
            for i in k + 1..n {
                if a[i * n + k].abs() > a[best * n + k].abs() {
                    best = i;
                }
            }
            self.exchange.push(best as u32);
            if best != k {
                for j in 0..n {
                    a.swap(k * n + j, best * n + j);
                }
            }
            let pivot = a[k * n + k];
            smallest = smallest.min(pivot.abs());
            // A direction without a pivot is zero in every solution.
            let inverse = if pivot == 0.0 { 0.0 } else { 1.0 / pivot };
            self.inverse.push(inverse);
            let (upper, lower) = a.split_at_mut((k + 1) * n);
            let row_k = &upper[k * n + k + 1..];
            for row in lower.chunks_exact_mut(n) {
                let factor = row[k] * inverse;
                row[k] = factor;
                if factor != 0.0 {
                    for (x, y) in row[k + 1..].iter_mut().zip(row_k) {
                        *x -= factor * y;
                    }
                }
            }
        }
        match (n, largest) {
            (0, _) => 1.0,
            (_, 0.0) => 0.0,
            _ => smallest / largest,
        }
    }

    /// Replaces `b` by the solution of `A x = b`.
    pub fn solve(&self, b: &mut [f64]) {
        let (n, a) = (self.n, &self.entries);
        for k in 0..n {
            b.swap(k, self.exchange[k] as usize);
        }
        for k in 1..n {
            let sum: f64 = a[k * n..k * n + k].iter().zip(&b[..k]).map(|(l, x)| l * x).sum();
            b[k] -= sum;
        }
        for k in (0..n).rev() {
            let row = &a[k * n + k + 1..(k + 1) * n];
            let sum: f64 = row.iter().zip(&b[k + 1..n]).map(|(u, x)| u * x).sum();
            b[k] = (b[k] - sum) * self.inverse[k];
        }
    }

    /// Replaces `b` by the solution of `Aᵀ x = b`.
    pub fn solve_transposed(&self, b: &mut [f64]) {
        let (n, a) = (self.n, &self.entries);
        for k in 0..n {
            let sum: f64 = (0..k).map(|j| a[j * n + k] * b[j]).sum();
            b[k] = (b[k] - sum) * self.inverse[k];
        }
        for k in (0..n).rev() {
            let sum: f64 = (k + 1..n).map(|j| a[j * n + k] * b[j]).sum();
            b[k] -= sum;
        }
        for k in (0..n).rev() {
            b.swap(k, self.exchange[k] as usize);
        }
    }
}

/// Factors a symmetric positive definite matrix as `L Lᵀ` in its lower triangle. Fails with the
/// index of the first row whose pivot is below `1e-14` of its diagonal.
pub fn cholesky(a: &mut [f64], n: usize) -> Result<(), usize> {
    for k in 0..n {
        let (done, row_k) = a.split_at_mut(k * n);
        let diagonal = row_k[k];
        for j in 0..k {
            let row_j = &done[j * n..j * n + j + 1];
            let sum: f64 = row_j[..j].iter().zip(&row_k[..j]).map(|(x, y)| x * y).sum();
            row_k[j] = (row_k[j] - sum) / row_j[j];
        }
        let pivot = diagonal - row_k[..k].iter().map(|x| x * x).sum::<f64>();
        // NaN fails as well.
        if !(pivot > 1e-14 * diagonal && pivot.is_finite()) {
            return Err(k);
        }
        row_k[k] = pivot.sqrt();
    }
    Ok(())
}

/// Replaces `b` by the solution of `L x = b`: half of [`cholesky_solve`].
pub fn cholesky_forward(a: &[f64], n: usize, b: &mut [f64]) {
    for k in 0..n {
        let sum: f64 = a[k * n..k * n + k].iter().zip(&b[..k]).map(|(l, x)| l * x).sum();
        b[k] = (b[k] - sum) / a[k * n + k];
    }
}

/// Replaces `b` by the solution of `L Lᵀ x = b`.
pub fn cholesky_solve(a: &[f64], n: usize, b: &mut [f64]) {
    cholesky_forward(a, n, b);
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| a[j * n + k] * b[j]).sum();
        b[k] = (b[k] - sum) / a[k * n + k];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::fixtures::{Rng, seeded};
    use nalgebra::{DMatrix, DVector};
    use rand::RngExt;

    #[test]
    fn factorizations_solve_random_systems() {
        let mut rng = seeded(3);
        for n in 1..12 {
            let a = DMatrix::from_fn(n, n, |_, _| rng.random_range(-1.0..1.0));
            let b = DVector::from_fn(n, |_, _| rng.random_range(-1.0..1.0));
            let mut lu = Lu::default();
            let entries = lu.reset(n);
            for i in 0..n {
                for j in 0..n {
                    entries[i * n + j] = a[(i, j)];
                }
            }
            assert!(lu.factor() > 0.0);
            let (mut x, mut y) = (b.clone(), b.clone());
            lu.solve(x.as_mut_slice());
            lu.solve_transposed(y.as_mut_slice());
            assert!((&a * x - &b).norm() < 1e-10 && (a.transpose() * y - &b).norm() < 1e-10);

            let spd = &a * a.transpose() + DMatrix::identity(n, n) * 0.1;
            let mut l: Vec<f64> = spd.iter().copied().collect();
            cholesky(&mut l, n).unwrap();
            let mut z = b.clone();
            cholesky_solve(&l, n, z.as_mut_slice());
            assert!((spd * z - &b).norm() < 1e-10);
        }
    }

    #[test]
    fn singular_matrices_are_reported() {
        let mut lu = Lu::default();
        lu.reset(2).copy_from_slice(&[1.0, 2.0, 2.0, 4.0]);
        assert_eq!(lu.factor(), 0.0);
        let mut x = [1.0, 2.0];
        lu.solve(&mut x);
        assert_eq!(x, [1.0, 0.0], "a solution if one exists");
        lu.reset(2);
        assert_eq!(lu.factor(), 0.0);
        lu.solve(&mut x);
        lu.solve_transposed(&mut x);
        assert!(x.iter().all(|x| x.is_finite()));
        assert_eq!(cholesky(&mut [1.0, 1.0, 1.0, 1.0], 2), Err(1));
    }

    /// Row-major.
    fn rows(a: &DMatrix<f64>) -> Vec<f64> {
        a.transpose().iter().copied().collect()
    }

    fn lu(a: &DMatrix<f64>) -> (Lu, f64) {
        let mut lu = Lu::default();
        lu.reset(a.nrows()).copy_from_slice(&rows(a));
        let conditioning = lu.factor();
        (lu, conditioning)
    }

    fn random(rng: &mut Rng, n: usize) -> DMatrix<f64> {
        DMatrix::from_fn(n, n, |_, _| rng.random_range(-1.0..1.0))
    }

    /// 1/(i + j + 1): the textbook example of an ill-conditioned matrix.
    fn hilbert(n: usize) -> DMatrix<f64> {
        DMatrix::from_fn(n, n, |i, j| 1.0 / (i + j + 1) as f64)
    }

    #[test]
    fn residuals_are_small_however_bad_the_condition() {
        let mut rng = seeded(131);
        let mut cases: Vec<DMatrix<f64>> = (2..=10).map(hilbert).collect();
        // Rows and columns scaled from 1e-8 to 1e8.
        for _ in 0..20 {
            let scale = |k: usize| 10f64.powi(3 * k as i32 - 8);
            let a = random(&mut rng, 6);
            cases.push(DMatrix::from_fn(6, 6, |i, j| a[(i, j)] * scale(j)));
        }
        for a in cases {
            let n = a.nrows();
            let b = DVector::from_fn(n, |_, _| rng.random_range(-1.0..1.0));
            let (lu, _) = lu(&a);
            let (mut x, mut y) = (b.clone(), b.clone());
            lu.solve(x.as_mut_slice());
            lu.solve_transposed(y.as_mut_slice());
            // Elimination with pivoting is backward stable: the residual is small compared to |A|
            // |x|.
            let left = (&a * &x - &b).abs();
            let allowed = 1e-14 * n as f64 * (a.abs() * x.abs() + b.abs());
            assert!(left.iter().zip(&allowed).all(|(l, a)| l <= a), "{left} {allowed}");
            let left = (a.transpose() * &y - &b).amax();
            let size = (a.abs().transpose() * y.abs()).amax() + b.amax();
            assert!(left <= 1e-13 * n as f64 * size, "{left:.1e}");
        }
    }

    #[test]
    fn a_permutation_is_solved_without_rounding() {
        // The worst case for elimination without pivoting: zeros all along the diagonal.
        let order = [2, 0, 3, 1];
        let a = DMatrix::from_fn(4, 4, |i, j| f64::from(u8::from(order[i] == j)));
        let (lu, conditioning) = lu(&a);
        assert_eq!(conditioning, 1.0);
        let (mut x, mut y) = ([10.0, 20.0, 30.0, 40.0], [10.0, 20.0, 30.0, 40.0]);
        lu.solve(&mut x);
        lu.solve_transposed(&mut y);
        assert_eq!((x, y), ([20.0, 40.0, 10.0, 30.0], [30.0, 10.0, 40.0, 20.0]));
    }

    #[test]
    fn the_conditioning_is_dimensionless_and_falls_towards_singularity() {
        let mut rng = seeded(132);
        let a = random(&mut rng, 5);
        let (_, plain) = lu(&a);
        let (_, scaled) = lu(&(&a * 1024.0));
        assert_eq!(plain, scaled);
        let mut last = f64::INFINITY;
        for k in 0..8 {
            // Two rows that become equal.
            let mut near = a.clone();
            let gap = 10f64.powi(-2 * k);
            for j in 0..5 {
                near[(4, j)] = near[(0, j)] + gap * a[(4, j)];
            }
            let (_, conditioning) = lu(&near);
            assert!(conditioning < last && conditioning > 1e-3 * gap, "{k}: {conditioning}");
            last = conditioning;
        }
        assert_eq!(lu(&DMatrix::zeros(0, 0)).1, 1.0);
    }

    #[test]
    fn a_cholesky_factor_multiplies_back_to_its_matrix() {
        let mut rng = seeded(133);
        for n in 1..12 {
            let a = random(&mut rng, n);
            let spd = &a * a.transpose() + DMatrix::identity(n, n) * 1e-6;
            let mut factor = rows(&spd);
            cholesky(&mut factor, n).unwrap();
            let l = DMatrix::from_fn(n, n, |i, j| if j > i { 0.0 } else { factor[i * n + j] });
            assert!((&l * l.transpose() - &spd).amax() < 1e-14 * n as f64 * spd.amax());
            // The upper triangle is not touched.
            assert!((0..n).all(|i| (i + 1..n).all(|j| factor[i * n + j] == spd[(i, j)])));
            // Half of the solve: |L⁻¹ b|² = bᵀ A⁻¹ b.
            let b = DVector::from_fn(n, |_, _| rng.random_range(-1.0..1.0));
            let (mut half, mut whole) = (b.clone(), b.clone());
            cholesky_forward(&factor, n, half.as_mut_slice());
            cholesky_solve(&factor, n, whole.as_mut_slice());
            let (x, y) = (half.norm_squared(), b.dot(&whole));
            assert!((x - y).abs() < 1e-9 * x, "{x} {y}");
        }
    }

    #[test]
    fn a_matrix_that_is_not_positive_definite_fails_at_its_first_bad_row() {
        let diagonal = |d: [f64; 4]| rows(&DMatrix::from_diagonal(&DVector::from_row_slice(&d)));
        assert_eq!(cholesky(&mut diagonal([1.0, 2.0, -1.0, 3.0]), 4), Err(2));
        assert_eq!(cholesky(&mut diagonal([1.0, 0.0, 1.0, 3.0]), 4), Err(1));
        assert_eq!(cholesky(&mut diagonal([f64::NAN, 1.0, 1.0, 1.0]), 4), Err(0));
        assert_eq!(cholesky(&mut diagonal([1.0, f64::INFINITY, 1.0, 1.0]), 4), Err(1));
        assert_eq!(cholesky(&mut [], 0), Ok(()));
        // Indefinite because of an off-diagonal entry.
        assert_eq!(cholesky(&mut [1.0, 2.0, 2.0, 1.0], 2), Err(1));
        // The 12×12 Hilbert matrix is definite, but not in double precision.
        assert!(cholesky(&mut rows(&hilbert(8)), 8).is_ok());
        assert!(cholesky(&mut rows(&hilbert(16)), 16).is_err());
    }
}

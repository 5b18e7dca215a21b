//! Block-tridiagonal matrices, as chains of nodes have them, and their factorization.

/// A square matrix of `n` × `n` blocks of size `block`, of which only the diagonal and its two neighbours
/// are not zero. Blocks are row-major, one after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tridiagonal {
    /// Rows and columns of a block: degrees of freedom per node.
    pub block: usize,
    /// Blocks along the diagonal: number of nodes.
    pub n: usize,
    /// `lower[k]` is the block in row k + 1 and column k.
    pub lower: Vec<f64>,
    /// The blocks of the diagonal.
    pub diagonal: Vec<f64>,
    /// `upper[k]` is the block in row k and column k + 1.
    pub upper: Vec<f64>,
}

impl Tridiagonal {
    /// A matrix of zeros.
    pub fn new(block: usize, n: usize) -> Tridiagonal {
        let (size, beside) = (block * block, n.saturating_sub(1));
        Tridiagonal {
            block,
            n,
            lower: vec![0.0; size * beside],
            diagonal: vec![0.0; size * n],
            upper: vec![0.0; size * beside],
        }
    }

    /// Sets all entries to zero.
    pub fn clear(&mut self) {
        self.lower.fill(0.0);
        self.diagonal.fill(0.0);
        self.upper.fill(0.0);
    }

    /// Takes the size of another matrix, with all entries zero. Reuses its memory.
    pub fn reset_like(&mut self, other: &Tridiagonal) {
        (self.block, self.n) = (other.block, other.n);
        for (mine, theirs) in self.bands_mut().into_iter().zip(other.bands()) {
            mine.clear();
            mine.resize(theirs.len(), 0.0);
        }
    }

    fn bands(&self) -> [&Vec<f64>; 3] {
        [&self.lower, &self.diagonal, &self.upper]
    }

    fn bands_mut(&mut self) -> [&mut Vec<f64>; 3] {
        [&mut self.lower, &mut self.diagonal, &mut self.upper]
    }

    /// Adds `s` times another matrix of the same size.
    pub fn add_scaled(&mut self, s: f64, other: &Tridiagonal) {
        for (mine, theirs) in self.bands_mut().into_iter().zip(other.bands()) {
            for (x, y) in mine.iter_mut().zip(theirs) {
                *x += s * y;
            }
        }
    }

    /// `y += s A x`.
    pub fn multiply_add(&self, x: &[f64], s: f64, y: &mut [f64]) {
        match self.block {
            1 => self.multiply_add_scalars(x, s, y),
            6 => self.multiply_add_blocks::<6>(x, s, y),
            _ => self.multiply_add_any(x, s, y),
        }
    }

    fn multiply_add_scalars(&self, x: &[f64], s: f64, y: &mut [f64]) {
        for k in 0..self.n {
            let mut sum = self.diagonal[k] * x[k];
            if k > 0 {
                sum += self.lower[k - 1] * x[k - 1];
            }
            if k + 1 < self.n {
                sum += self.upper[k] * x[k + 1];
            }
            y[k] += s * sum;
        }
    }

    fn multiply_add_blocks<const B: usize>(&self, x: &[f64], s: f64, y: &mut [f64]) {
        let part = |k: usize| k * B..(k + 1) * B;
        let of = |a: &[f64], k: usize, x: &[f64], sum: &mut [f64; B]| {
            let a = &a[k * B * B..(k + 1) * B * B];
            for (i, row) in a.chunks_exact(B).enumerate() {
                sum[i] += row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
            }
        };
        for k in 0..self.n {
            let mut sum = [0.0; B];
            of(&self.diagonal, k, &x[part(k)], &mut sum);
            if k > 0 {
                of(&self.lower, k - 1, &x[part(k - 1)], &mut sum);
            }
            if k + 1 < self.n {
                of(&self.upper, k, &x[part(k + 1)], &mut sum);
            }
            for (y, sum) in y[part(k)].iter_mut().zip(sum) {
                *y += s * sum;
            }
        }
    }

    fn multiply_add_any(&self, x: &[f64], s: f64, y: &mut [f64]) {
        let size = self.block * self.n;
        for i in 0..size {
            let node = i / self.block;
            let first = node.saturating_sub(1) * self.block;
            let last = ((node + 2) * self.block).min(size);
            y[i] += s * (first..last).map(|j| self.entry(i, j) * x[j]).sum::<f64>();
        }
    }

    /// The entry in row `i` and column `j`; zero outside of the three bands.
    pub fn entry(&self, i: usize, j: usize) -> f64 {
        self.position(i, j).map_or(0.0, |(band, at)| self.bands()[band][at])
    }

    /// The entry in row `i` and column `j`, to change it.
    ///
    /// # Panics
    /// If the entry is outside of the three bands.
    pub fn entry_mut(&mut self, i: usize, j: usize) -> &mut f64 {
        let (band, at) = self.position(i, j).expect("an entry of the three bands");
        &mut self.bands_mut()[band][at]
    }

    /// The band of an entry and its place there.
    fn position(&self, i: usize, j: usize) -> Option<(usize, usize)> {
        let b = self.block;
        let (row, column) = (i / b, j / b);
        let within = (i % b) * b + j % b;
        match (row, column) {
            _ if row == column => Some((1, row * b * b + within)),
            _ if row == column + 1 => Some((0, column * b * b + within)),
            _ if row + 1 == column => Some((2, row * b * b + within)),
            _ => None,
        }
    }

    /// Replaces rows and columns of the held degrees of freedom by those of the identity: solutions are then zero
    /// there if the right-hand side is.
    pub fn hold(&mut self, held: &[bool]) {
        let size = self.block * self.n;
        for i in (0..size).filter(|&i| held[i]) {
            let node = i / self.block;
            let first = node.saturating_sub(1) * self.block;
            let last = ((node + 2) * self.block).min(size);
            for j in first..last {
                *self.entry_mut(i, j) = 0.0;
                *self.entry_mut(j, i) = 0.0;
            }
            *self.entry_mut(i, i) = 1.0;
        }
    }

    /// Replaces the matrix by its symmetric part `(A + Aᵀ)/2`.
    pub fn symmetrize(&mut self) {
        let b = self.block;
        let mean = |x: &mut f64, y: &mut f64| {
            let mean = 0.5 * (*x + *y);
            (*x, *y) = (mean, mean);
        };
        for block in self.diagonal.chunks_exact_mut((b * b).max(1)) {
            for i in 0..b {
                for j in 0..i {
                    let (above, below) = block.split_at_mut(i * b);
                    mean(&mut above[j * b + i], &mut below[j]);
                }
            }
        }
        let blocks = (b * b).max(1);
        for (l, u) in self.lower.chunks_exact_mut(blocks).zip(self.upper.chunks_exact_mut(blocks)) {
            for i in 0..b {
                for j in 0..b {
                    mean(&mut l[i * b + j], &mut u[j * b + i]);
                }
            }
        }
    }

    /// Factors the matrix. False if a pivot is zero or not finite: the factorization must not be used then.
    pub fn factor(&self, lu: &mut TridiagonalLu) -> bool {
        (lu.block, lu.n) = (self.block, self.n);
        lu.lower.clone_from(&self.lower);
        lu.pivots.clone_from(&self.diagonal);
        lu.upper.clone_from(&self.upper);
        lu.exchange.clear();
        lu.exchange.resize(self.block * self.n, 0);
        match self.block {
            1 => lu.factor_scalars(),
            6 => lu.factor_blocks::<6>(),
            _ => lu.factor_any(),
        }
    }
}

/// The factorization of a [`Tridiagonal`] matrix by block elimination without exchange of blocks; rows are exchanged inside
/// the blocks of the diagonal.
#[derive(Clone, Debug, Default)]
pub struct TridiagonalLu {
    block: usize,
    n: usize,
    /// As in the matrix.
    lower: Vec<f64>,
    /// `D'_k = D_k − L_{k−1} U'_{k−1}`, factored; the diagonals contain the reciprocals of the pivots.
    pivots: Vec<f64>,
    /// `U'_k = D'_k⁻¹ U_k`.
    upper: Vec<f64>,
    /// Rows exchanged inside of the blocks.
    exchange: Vec<u32>,
}

impl TridiagonalLu {
    fn factor_scalars(&mut self) -> bool {
        for k in 0..self.n {
            if k > 0 {
                self.pivots[k] -= self.lower[k - 1] * self.upper[k - 1];
            }
            if !(self.pivots[k].is_finite() && self.pivots[k] != 0.0) {
                return false;
            }
            self.pivots[k] = 1.0 / self.pivots[k];
            if k + 1 < self.n {
                self.upper[k] *= self.pivots[k];
            }
        }
        true
    }

    /// The same with the size known to the compiler.
    fn factor_blocks<const B: usize>(&mut self) -> bool {
        debug_assert_eq!(self.block, B);
        self.eliminate(B)
    }

    fn factor_any(&mut self) -> bool {
        self.eliminate(self.block)
    }

    #[inline(always)]
    fn eliminate(&mut self, b: usize) -> bool {
        let size = b * b;
        for k in 0..self.n {
            let pivot = &mut self.pivots[k * size..(k + 1) * size];
            if k > 0 {
                let at = (k - 1) * size;
                subtract_product(b, &self.lower[at..at + size], &self.upper[at..at + size], pivot);
            }
            let exchange = &mut self.exchange[k * b..(k + 1) * b];
            if !factor_block(b, pivot, exchange) {
                return false;
            }
            if k + 1 < self.n {
                let upper = &mut self.upper[k * size..(k + 1) * size];
                solve_block(b, pivot, exchange, upper, b);
            }
        }
        true
    }

    /// Replaces `b` by the solution of `A x = b`.
    pub fn solve(&self, b: &mut [f64]) {
        self.solve_from(0, b);
    }

    /// As [`TridiagonalLu::solve`] where `b` is zero above the node `first`: its forward sweep starts there.
    pub fn solve_from(&self, first: usize, b: &mut [f64]) {
        match self.block {
            1 => self.substitute_scalars(first, b),
            6 => self.substitute(6, first, b),
            _ => self.substitute(self.block, first, b),
        }
    }

    /// Solves for several right-hand sides, one after the other in `b`.
    pub fn solve_columns(&self, b: &mut [f64]) {
        let size = self.block * self.n;
        if size > 0 {
            b.chunks_exact_mut(size).for_each(|column| self.solve(column));
        }
    }

    fn substitute_scalars(&self, first: usize, b: &mut [f64]) {
        let n = self.n;
        if first >= n {
            return;
        }
        b[first] *= self.pivots[first];
        for k in first + 1..n {
            b[k] = (b[k] - self.lower[k - 1] * b[k - 1]) * self.pivots[k];
        }
        for k in (0..n.saturating_sub(1)).rev() {
            b[k] -= self.upper[k] * b[k + 1];
        }
    }

    #[inline(always)]
    fn substitute(&self, size: usize, first: usize, b: &mut [f64]) {
        let square = size * size;
        for k in first..self.n {
            let (before, rest) = b.split_at_mut(k * size);
            let here = &mut rest[..size];
            if k > first {
                let lower = &self.lower[(k - 1) * square..k * square];
                subtract_times(size, lower, &before[(k - 1) * size..], here);
            }
            let pivot = &self.pivots[k * square..(k + 1) * square];
            solve_block(size, pivot, &self.exchange[k * size..(k + 1) * size], here, 1);
        }
        for k in (0..self.n.saturating_sub(1)).rev() {
            let (here, after) = b.split_at_mut((k + 1) * size);
            let upper = &self.upper[k * square..(k + 1) * square];
            subtract_times(size, upper, &after[..size], &mut here[k * size..]);
        }
    }
}

/// `y −= a x` for one block.
#[inline(always)]
fn subtract_times(b: usize, a: &[f64], x: &[f64], y: &mut [f64]) {
    for (row, y) in a.chunks_exact(b).zip(y) {
        *y -= row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
    }
}

/// `z −= x y` for blocks.
#[inline(always)]
fn subtract_product(b: usize, x: &[f64], y: &[f64], z: &mut [f64]) {
    for i in 0..b {
        for k in 0..b {
            let factor = x[i * b + k];
            for j in 0..b {
                z[i * b + j] -= factor * y[k * b + j];
            }
        }
    }
}

/// Factors a block in place with exchange of rows; its diagonal then contains the reciprocals of the pivots.
#[inline(always)]
fn factor_block(b: usize, a: &mut [f64], exchange: &mut [u32]) -> bool {
    for k in 0..b {
        let mut best = k;
        for i in k + 1..b {
            if a[i * b + k].abs() > a[best * b + k].abs() {
                best = i;
            }
        }
        exchange[k] = best as u32;
        if best != k {
            for j in 0..b {
                a.swap(k * b + j, best * b + j);
            }
        }
        let pivot = a[k * b + k];
        if !(pivot.is_finite() && pivot != 0.0) {
            return false;
        }
        let inverse = 1.0 / pivot;
        a[k * b + k] = inverse;
        for i in k + 1..b {
            let factor = a[i * b + k] * inverse;
            a[i * b + k] = factor;
            for j in k + 1..b {
                a[i * b + j] -= factor * a[k * b + j];
            }
        }
    }
    true
}

/// Replaces `x`, a row-major matrix of `columns` columns, by the solution of `A X = x` for one factored block.
#[inline(always)]
fn solve_block(b: usize, a: &[f64], exchange: &[u32], x: &mut [f64], columns: usize) {
    for k in 0..b {
        let other = exchange[k] as usize;
        if other != k {
            for j in 0..columns {
                x.swap(k * columns + j, other * columns + j);
            }
        }
    }
    for k in 1..b {
        for i in 0..k {
            let factor = a[k * b + i];
            for j in 0..columns {
                x[k * columns + j] -= factor * x[i * columns + j];
            }
        }
    }
    for k in (0..b).rev() {
        for i in k + 1..b {
            let factor = a[k * b + i];
            for j in 0..columns {
                x[k * columns + j] -= factor * x[i * columns + j];
            }
        }
        for j in 0..columns {
            x[k * columns + j] *= a[k * b + k];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::fixtures::{Rng, largest, numbers, seeded};
    use nalgebra::{DMatrix, DVector};

    fn random(rng: &mut Rng, block: usize, n: usize) -> Tridiagonal {
        let mut a = Tridiagonal::new(block, n);
        for band in a.bands_mut() {
            let values = numbers(rng, band.len(), 1.0);
            band.copy_from_slice(&values);
        }
        // Definite blocks along the diagonal: elimination without exchange of blocks is then stable.
        for i in 0..block * n {
            *a.entry_mut(i, i) += 3.0 * block as f64;
        }
        a
    }

    fn dense(a: &Tridiagonal) -> DMatrix<f64> {
        let size = a.block * a.n;
        DMatrix::from_fn(size, size, |i, j| a.entry(i, j))
    }

    #[test]
    fn products_and_solutions_agree_with_those_of_the_full_matrix() {
        let mut rng = seeded(171);
        for (block, n) in [(1, 1), (1, 2), (1, 30), (2, 5), (3, 4), (6, 1), (6, 2), (6, 9)] {
            let a = random(&mut rng, block, n);
            let full = dense(&a);
            let x = numbers(&mut rng, block * n, 1.0);
            let mut y = numbers(&mut rng, block * n, 1.0);
            let expected = DVector::from_row_slice(&y) + &full * DVector::from_row_slice(&x) * 0.7;
            a.multiply_add(&x, 0.7, &mut y);
            // Sums of at most 18 products of numbers below 20.
            assert!((DVector::from_row_slice(&y) - expected).amax() < 1e-13);

            let mut lu = TridiagonalLu::default();
            assert!(a.factor(&mut lu));
            let mut solution = x.clone();
            lu.solve(&mut solution);
            let left = &full * DVector::from_row_slice(&solution) - DVector::from_row_slice(&x);
            // The blocks are diagonally dominant, so elimination is backward stable.
            assert!(left.amax() < 1e-14 * block as f64, "{block} {n}: {:.1e}", left.amax());
        }
    }

    #[test]
    fn a_right_hand_side_that_starts_late_has_the_same_solution() {
        let mut rng = seeded(172);
        for block in [1, 2, 6] {
            let a = random(&mut rng, block, 7);
            let mut lu = TridiagonalLu::default();
            assert!(a.factor(&mut lu));
            for first in 0..7 {
                let mut b = vec![0.0; 7 * block];
                let tail = numbers(&mut rng, (7 - first) * block, 1.0);
                b[first * block..].copy_from_slice(&tail);
                let mut whole = b.clone();
                lu.solve(&mut whole);
                lu.solve_from(first, &mut b);
                assert_eq!(b, whole);
            }
            let mut columns = numbers(&mut rng, 3 * 7 * block, 1.0);
            let mut each = columns.clone();
            lu.solve_columns(&mut columns);
            each.chunks_exact_mut(7 * block).for_each(|b| lu.solve(b));
            assert_eq!(columns, each);
        }
    }

    #[test]
    fn sums_and_entries_follow_the_bands() {
        let mut rng = seeded(173);
        let (a, b) = (random(&mut rng, 2, 4), random(&mut rng, 2, 4));
        let mut sum = a.clone();
        sum.add_scaled(-2.0, &b);
        assert_eq!(dense(&sum), dense(&a) - dense(&b) * 2.0);
        assert_eq!(sum.entry(0, 4), 0.0, "outside of the bands");
        assert_eq!(sum.entry(3, 5), sum.upper[4 + 2 + 1]);
        assert_eq!(sum.entry(5, 3), sum.lower[4 + 2 + 1]);
        sum.clear();
        assert_eq!(sum, Tridiagonal::new(2, 4));
        let mut other = Tridiagonal::default();
        other.reset_like(&a);
        assert_eq!(other, sum);
    }

    #[test]
    fn the_symmetric_part_is_the_mean_with_the_transpose() {
        let mut rng = seeded(176);
        for (block, n) in [(1, 4), (2, 3), (6, 3)] {
            let mut a = random(&mut rng, block, n);
            let full = dense(&a);
            a.symmetrize();
            assert_eq!(dense(&a), (&full + full.transpose()) * 0.5);
        }
    }

    #[test]
    fn held_rows_give_zeros_and_leave_the_other_equations() {
        let mut rng = seeded(174);
        let a = random(&mut rng, 3, 4);
        let held: Vec<bool> = (0..12).map(|i| i < 3 || i == 7).collect();
        let mut b = a.clone();
        b.hold(&held);
        let mut lu = TridiagonalLu::default();
        assert!(b.factor(&mut lu));
        let right: Vec<f64> = numbers(&mut rng, 12, 1.0)
            .iter()
            .zip(&held)
            .map(|(x, h)| if *h { 0.0 } else { *x })
            .collect();
        let mut x = right.clone();
        lu.solve(&mut x);
        assert!((0..12).filter(|&i| held[i]).all(|i| x[i] == 0.0));
        let mut left = right.iter().map(|x| -x).collect::<Vec<_>>();
        a.multiply_add(&x, 1.0, &mut left);
        let free: Vec<f64> = (0..12).filter(|&i| !held[i]).map(|i| left[i]).collect();
        assert!(largest(&free) < 1e-14);
    }

    #[test]
    fn singular_and_infinite_matrices_are_not_factored() {
        let mut lu = TridiagonalLu::default();
        for block in [1, 2, 6] {
            assert!(!Tridiagonal::new(block, 3).factor(&mut lu), "zeros");
            let mut a = random(&mut seeded(175), block, 3);
            *a.entry_mut(block, block) = f64::NAN;
            assert!(!a.factor(&mut lu), "not a number");
        }
        assert!(Tridiagonal::new(6, 0).factor(&mut lu), "nothing to solve");
        lu.solve(&mut []);
        lu.solve_columns(&mut []);
    }
}

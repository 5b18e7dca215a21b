//! Linear systems over square blocks of `K` unknowns with the pattern of a graph of bodies: elimination
//! in an order that couples few bodies, `P A Pᵀ = L U`, row by row, with pivoting only within a block.
//! The factors are kept for several right-hand sides.
//!
//! Blocks may be large compared with the accuracy that is needed (stiff springs at contacts, a unit
//! mass where there are none), so that diagonal blocks are factored; a multiplication with their
//! inverses would lose digits.

use super::order::minimum_degree;

/// A block by rows.
pub(super) type Block<const K: usize> = [[f64; K]; K];

/// Marks a body without a place.
const NONE: u32 = u32::MAX;

/// A system and its factors.
#[derive(Debug, Default)]
pub(super) struct Elimination<const K: usize> {
    /// Body of each row, and row of each body.
    order: Vec<u32>,
    place: Vec<u32>,
    /// Start of the blocks of each row, and the position of its diagonal; columns in order.
    begins: Vec<usize>,
    diagonals: Vec<usize>,
    columns: Vec<u32>,
    blocks: Vec<Block<K>>,
    /// Row permutations of the factored diagonal blocks.
    orders: Vec<[u8; K]>,
    /// Position of each column in the current row.
    at: Vec<u32>,
    right: Vec<[f64; K]>,
    /// Number of products of blocks in a factorization.
    work: f64,
}

impl<const K: usize> Elimination<K> {
    /// Orders the bodies of a graph, given by the neighbours of each, and finds the blocks that
    /// elimination needs.
    pub(super) fn plan(&mut self, neighbours: &[Vec<u32>]) {
        let n = neighbours.len();
        self.order = minimum_degree(neighbours.to_vec());
        self.place = vec![0; n];
        for (row, body) in self.order.iter().enumerate() {
            self.place[*body as usize] = row as u32;
        }
        // Rows coupled by the elimination of row k: its later neighbours, and those that earlier
        // eliminations coupled to it.
        let mut later: Vec<Vec<u32>> = vec![Vec::new(); n];
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); n];
        let mut seen = vec![NONE; n];
        for k in 0..n {
            let mut tied = Vec::new();
            let own = neighbours[self.order[k] as usize].iter().map(|b| self.place[*b as usize]);
            let inherited = children[k].iter().flat_map(|child| &later[*child as usize]).copied();
            for j in own.chain(inherited) {
                if j as usize > k && seen[j as usize] != k as u32 {
                    seen[j as usize] = k as u32;
                    tied.push(j);
                }
            }
            tied.sort_unstable();
            if let Some(parent) = tied.first() {
                children[*parent as usize].push(k as u32);
            }
            later[k] = tied;
        }
        self.work = later.iter().map(|tied| (tied.len() * tied.len()) as f64).sum();
        self.lay_out(&later);
    }

    /// Allocates the rows: for each coupling a block above the diagonal and one below it.
    fn lay_out(&mut self, later: &[Vec<u32>]) {
        let n = later.len();
        let mut counts = vec![1usize; n];
        for (k, later) in later.iter().enumerate() {
            counts[k] += later.len();
            later.iter().for_each(|j| counts[*j as usize] += 1);
        }
        self.begins = vec![0];
        for count in counts {
            self.begins.push(self.begins[self.begins.len() - 1] + count);
        }
        let mut next = self.begins.clone();
        self.columns = vec![0; self.begins[n]];
        let mut put = |row: usize, column: usize| {
            self.columns[next[row]] = column as u32;
            next[row] += 1;
            next[row] - 1
        };
        self.diagonals.clear();
        for (k, later) in later.iter().enumerate() {
            self.diagonals.push(put(k, k));
            for j in later {
                put(k, *j as usize);
                put(*j as usize, k);
            }
        }
    }

    /// Number of products of blocks in a factorization.
    pub(super) fn work(&self) -> f64 {
        self.work
    }

    /// Where the block of two bodies, which must be neighbours or the same, is stored.
    pub(super) fn position(&self, row: u32, column: u32) -> usize {
        let (row, column) = (self.place[row as usize] as usize, self.place[column as usize]);
        let begin = self.begins[row];
        let columns = &self.columns[begin..self.begins[row + 1]];
        begin + columns.binary_search(&column).expect("the two bodies are neighbours")
    }

    /// The block of two bodies, which must be neighbours or the same.
    pub(super) fn block(&mut self, row: u32, column: u32) -> &mut Block<K> {
        let at = self.position(row, column);
        &mut self.blocks[at]
    }

    /// Sets the matrix to the identity.
    pub(super) fn reset(&mut self) {
        self.clear();
        for &d in &self.diagonals {
            (0..K).for_each(|i| self.blocks[d][i][i] = 1.0);
        }
    }

    /// Sets all blocks to zero and returns them, to be filled at their positions.
    pub(super) fn clear(&mut self) -> &mut [Block<K>] {
        self.blocks.clear();
        self.blocks.resize(self.columns.len(), [[0.0; K]; K]);
        &mut self.blocks
    }

    /// Replaces the blocks by their factors; returns false if a pivot is singular.
    pub(super) fn factor(&mut self) -> bool {
        let n = self.diagonals.len();
        self.at.clear();
        self.at.resize(n, 0);
        self.orders.clear();
        self.orders.resize(n, [0; K]);
        for i in 0..n {
            let (begin, diagonal) = (self.begins[i], self.diagonals[i]);
            let (before, row) = self.blocks.split_at_mut(begin);
            for (at, column) in self.columns[begin..self.begins[i + 1]].iter().enumerate() {
                self.at[*column as usize] = at as u32;
            }
            for at in 0..diagonal - begin {
                let k = self.columns[begin + at] as usize;
                // The diagonal of a finished row is factored.
                let (pivot, end) = (self.diagonals[k], self.begins[k + 1]);
                let factor = divide(&row[at], &before[pivot], &self.orders[k]);
                row[at] = factor;
                for x in pivot + 1..end {
                    let target = &mut row[self.at[self.columns[x] as usize] as usize];
                    subtract(target, &factor, &before[x]);
                }
            }
            let Some(order) = factor_block(&mut row[diagonal - begin]) else { return false };
            self.orders[i] = order;
        }
        true
    }

    /// Solves the system in place, one entry per body, after [`Elimination::factor`].
    pub(super) fn solve(&mut self, values: &mut [[f64; K]]) {
        let n = self.diagonals.len();
        self.right.clear();
        self.right.resize(n, [0.0; K]);
        values.iter().zip(&self.place).for_each(|(v, k)| self.right[*k as usize] = *v);
        for i in 0..n {
            let mut sum = self.right[i];
            for x in self.begins[i]..self.diagonals[i] {
                reduce(&mut sum, &self.blocks[x], &self.right[self.columns[x] as usize]);
            }
            self.right[i] = sum;
        }
        for i in (0..n).rev() {
            let mut sum = self.right[i];
            for x in self.diagonals[i] + 1..self.begins[i + 1] {
                reduce(&mut sum, &self.blocks[x], &self.right[self.columns[x] as usize]);
            }
            self.right[i] = substitute(&self.blocks[self.diagonals[i]], &self.orders[i], &sum);
        }
        values.iter_mut().zip(&self.place).for_each(|(v, k)| *v = self.right[*k as usize]);
    }
}

/// `a x`.
#[inline(always)]
pub(super) fn times<const K: usize>(a: &Block<K>, x: &[f64; K]) -> [f64; K] {
    a.map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum())
}

/// Adds `s x` to `sum`.
pub(super) fn add_to<const K: usize>(sum: &mut [[f64; K]], s: f64, x: &[[f64; K]]) {
    for (sum, x) in sum.as_flattened_mut().iter_mut().zip(x.as_flattened()) {
        *sum += s * x;
    }
}

/// `sum − block x`.
#[inline(always)]
fn reduce<const K: usize>(sum: &mut [f64; K], block: &[[f64; K]; K], x: &[f64; K]) {
    for i in 0..K {
        for j in 0..K {
            sum[i] -= block[i][j] * x[j];
        }
    }
}

/// `c − a b` in place of `c`.
#[inline(always)]
fn subtract<const K: usize>(c: &mut [[f64; K]; K], a: &[[f64; K]; K], b: &[[f64; K]; K]) {
    for i in 0..K {
        for k in 0..K {
            for j in 0..K {
                c[i][j] -= a[i][k] * b[k][j];
            }
        }
    }
}

/// Factors a block as `P⁻¹ L U` in place, with the reciprocals of the pivots on the diagonal.
/// Returns the order of rows; `None` if the block is singular.
fn factor_block<const K: usize>(a: &mut [[f64; K]; K]) -> Option<[u8; K]> {
    let mut order: [u8; K] = std::array::from_fn(|i| i as u8);
    for k in 0..K {
        let best = (k..K).max_by(|i, j| a[*i][k].abs().total_cmp(&a[*j][k].abs()))?;
        a.swap(k, best);
        order.swap(k, best);
        a[k][k] = 1.0 / a[k][k];
        if !a[k][k].is_finite() {
            return None;
        }
        for i in k + 1..K {
            let factor = a[i][k] * a[k][k];
            a[i][k] = factor;
            for j in k + 1..K {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    Some(order)
}

/// The solution `x` of `D x = right`, with a factored block `D`.
#[inline(always)]
fn substitute<const K: usize>(d: &[[f64; K]; K], order: &[u8; K], right: &[f64; K]) -> [f64; K] {
    let mut x: [f64; K] = std::array::from_fn(|i| right[order[i] as usize]);
    for i in 0..K {
        for j in 0..i {
            x[i] -= d[i][j] * x[j];
        }
    }
    for i in (0..K).rev() {
        for j in i + 1..K {
            x[i] -= d[i][j] * x[j];
        }
        x[i] *= d[i][i];
    }
    x
}

/// The solution `X` of `X D = a`, with a factored block `D`.
#[inline(always)]
fn divide<const K: usize>(a: &[[f64; K]; K], d: &[[f64; K]; K], order: &[u8; K]) -> [[f64; K]; K] {
    let mut out = [[0.0; K]; K];
    for (row, out) in a.iter().zip(&mut out) {
        let mut x = *row;
        for j in 0..K {
            for i in 0..j {
                x[j] -= x[i] * d[i][j];
            }
            x[j] *= d[j][j];
        }
        for j in (0..K).rev() {
            for i in j + 1..K {
                x[j] -= x[i] * d[i][j];
            }
        }
        (0..K).for_each(|j| out[order[j] as usize] = x[j]);
    }
    out
}

/// Inverse of a block by elimination with row pivoting; `None` if it is singular.
pub(super) fn inverse<const K: usize>(block: &Block<K>) -> Option<Block<K>> {
    let mut a = *block;
    let mut inverse: Block<K> = std::array::from_fn(|i| std::array::from_fn(|j| f64::from(i == j)));
    for k in 0..K {
        let best = (k..K).max_by(|i, j| a[*i][k].abs().total_cmp(&a[*j][k].abs()))?;
        a.swap(k, best);
        inverse.swap(k, best);
        let pivot = 1.0 / a[k][k];
        if !pivot.is_finite() {
            return None;
        }
        a[k] = a[k].map(|x| pivot * x);
        inverse[k] = inverse[k].map(|x| pivot * x);
        for i in (0..K).filter(|i| *i != k) {
            let factor = a[i][k];
            for j in 0..K {
                a[i][j] -= factor * a[k][j];
                inverse[i][j] -= factor * inverse[k][j];
            }
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    #[test]
    fn random_systems_on_random_graphs_are_solved() {
        let mut rng = Pcg64::seed_from_u64(3);
        for n in [1usize, 2, 7, 40] {
            let mut neighbours = vec![Vec::new(); n];
            for a in 0..n as u32 {
                for b in 0..a {
                    if rng.random_range(0.0..1.0) < 0.2 {
                        neighbours[a as usize].push(b);
                        neighbours[b as usize].push(a);
                    }
                }
            }
            let mut system = Elimination::<6>::default();
            system.plan(&neighbours);
            system.clear();
            let mut x = vec![[0.0; 6]; n];
            x.as_flattened_mut().iter_mut().for_each(|x| *x = rng.random_range(-1.0..1.0));
            let mut right = vec![[0.0; 6]; n];
            for a in 0..n as u32 {
                for &b in neighbours[a as usize].iter().chain([&a]) {
                    let own =
                        if a == b { 6.0 * (neighbours[a as usize].len() + 1) as f64 } else { 0.0 };
                    let mut entry =
                        |i, j| rng.random_range(-1.0..1.0) + if i == j { own } else { 0.0 };
                    let block: Block<6> =
                        std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)));
                    let at = system.position(a, b);
                    system.blocks[at] = block;
                    for i in 0..6 {
                        for j in 0..6 {
                            right[a as usize][i] += block[i][j] * x[b as usize][j];
                        }
                    }
                }
            }
            assert!(system.factor());
            system.solve(&mut right);
            for (x, y) in x.as_flattened().iter().zip(right.as_flattened()) {
                assert!((x - y).abs() < 1e-11, "{x} {y}");
            }
        }
    }

    #[test]
    fn a_singular_pivot_is_reported() {
        let mut system = Elimination::<6>::default();
        system.plan(&[vec![]]);
        system.clear();
        assert!(!system.factor());
    }
}

//! Sparse linear systems with square blocks, one row of blocks per body; the pattern is symmetric.
//!
//! Blocks are large compared with the accuracy that is needed (stiff springs at contacts, a unit
//! mass where there are none), so that diagonal blocks are factored; a multiplication with their
//! inverses would lose all digits.

use crate::friction::sparse::minimum_degree;

/// A factored matrix of `K × K` blocks. Elimination follows an order that creates few blocks.
#[derive(Default)]
pub(super) struct Elimination<const K: usize> {
    /// Row of each body.
    place: Vec<u32>,
    /// Start of the blocks of each row, and the position of its diagonal; columns in order.
    begins: Vec<usize>,
    diagonals: Vec<usize>,
    columns: Vec<u32>,
    blocks: Vec<[[f64; K]; K]>,
    /// Row permutations of the factored diagonal blocks.
    orders: Vec<[u8; K]>,
    at: Vec<u32>,
    right: Vec<[f64; K]>,
}

impl<const K: usize> Elimination<K> {
    /// Sets the pattern: all pairs of bodies that share a contact.
    pub(super) fn plan(&mut self, n: usize, pairs: &[[u32; 2]]) {
        let mut neighbours: Vec<Vec<u32>> = vec![Vec::new(); n];
        for &[a, b] in pairs.iter().filter(|[a, b]| *a != u32::MAX && *b != u32::MAX && a != b) {
            neighbours[a as usize].push(b);
            neighbours[b as usize].push(a);
        }
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        let order = minimum_degree(neighbours.clone());
        self.place.clear();
        self.place.resize(n, 0);
        order.iter().enumerate().for_each(|(k, a)| self.place[*a as usize] = k as u32);

        // Rows coupled by the elimination of row k: its later neighbours, and those that earlier
        // eliminations coupled to it.
        let mut later: Vec<Vec<u32>> = Vec::with_capacity(n);
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); n];
        let mut seen = vec![u32::MAX; n];
        for k in 0..n {
            let mut tied = Vec::new();
            let own = neighbours[order[k] as usize].iter().map(|a| self.place[*a as usize]);
            let inherited = children[k].iter().flat_map(|c| later[*c as usize].iter().copied());
            for j in own.chain(inherited) {
                if j as usize > k && seen[j as usize] != k as u32 {
                    seen[j as usize] = k as u32;
                    tied.push(j);
                }
            }
            if let Some(parent) = tied.iter().min() {
                children[*parent as usize].push(k as u32);
            }
            later.push(tied);
        }
        self.lay_out(&later);
    }

    /// Columns of all rows, in order.
    fn lay_out(&mut self, later: &[Vec<u32>]) {
        let n = later.len();
        let mut rows: Vec<Vec<u32>> = (0..n as u32).map(|k| vec![k]).collect();
        for (k, later) in later.iter().enumerate() {
            for j in later {
                rows[k].push(*j);
                rows[*j as usize].push(k as u32);
            }
        }
        self.begins.clear();
        self.begins.push(0);
        self.columns.clear();
        self.diagonals.clear();
        for (k, row) in rows.iter_mut().enumerate() {
            row.sort_unstable();
            let own = row.iter().position(|j| *j as usize == k).expect("the diagonal");
            self.diagonals.push(self.columns.len() + own);
            self.columns.extend_from_slice(row);
            self.begins.push(self.columns.len());
        }
        self.at.clear();
        self.at.resize(n, 0);
        self.orders.clear();
        self.orders.resize(n, [0; K]);
    }

    /// Sets the matrix to the identity.
    pub(super) fn reset(&mut self) {
        self.blocks.clear();
        self.blocks.resize(self.columns.len(), [[0.0; K]; K]);
        for &d in &self.diagonals {
            (0..K).for_each(|i| self.blocks[d][i][i] = 1.0);
        }
    }

    /// The block between two bodies that share a contact, or of one body with itself.
    pub(super) fn block(&mut self, a: u32, b: u32) -> &mut [[f64; K]; K] {
        let (row, column) = (self.place[a as usize] as usize, self.place[b as usize]);
        let columns = &self.columns[self.begins[row]..self.begins[row + 1]];
        let at = columns.binary_search(&column).expect("the pattern contains the block");
        &mut self.blocks[self.begins[row] + at]
    }

    /// Factors the matrix; returns false if a pivot is singular.
    pub(super) fn factorize(&mut self) -> bool {
        for i in 0..self.diagonals.len() {
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
            let Some(order) = factor(&mut row[diagonal - begin]) else { return false };
            self.orders[i] = order;
        }
        true
    }

    /// Solves the factored system in place, for the values of each body.
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
fn factor<const K: usize>(a: &mut [[f64; K]; K]) -> Option<[u8; K]> {
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

//! Sparse Cholesky factors `L D Lᵀ` of `N + ρ` for ADMM: rows in the order of reverse Cuthill–McKee,
//! one factorization per value of `ρ`.

use super::ConeProblem;

/// `P (N + R) Pᵀ = L D Lᵀ`, with a diagonal `R`.
#[derive(Debug, Default)]
pub(super) struct Cholesky {
    /// Row of the problem at each position.
    order: Vec<u32>,
    /// The upper triangle of the permuted matrix by columns, without the diagonal.
    start: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f64>,
    diagonal: Vec<f64>,
    /// `L` by columns, without its unit diagonal, and `D`.
    l_start: Vec<usize>,
    l_rows: Vec<u32>,
    l_values: Vec<f64>,
    d: Vec<f64>,
    parent: Vec<u32>,
}

const ROOT: u32 = u32::MAX;

impl Cholesky {
    /// Orders the rows and finds the pattern of `L`. Returns false if it has more than `most`
    /// entries.
    pub(super) fn plan(&mut self, cone: &ConeProblem, most: usize) -> bool {
        let n = cone.n_rows();
        let (start, columns, values) = cone.lower();
        let mut neighbours = vec![Vec::new(); n];
        for k in 0..n {
            for column in columns[start[k]..start[k + 1]].iter().filter(|c| **c as usize != k) {
                neighbours[k].push(*column);
                neighbours[*column as usize].push(k as u32);
            }
        }
        self.order = reverse_cuthill_mckee(&neighbours);
        let mut position = vec![0u32; n];
        for (at, row) in self.order.iter().enumerate() {
            position[*row as usize] = at as u32;
        }
        let mut upper = vec![Vec::new(); n];
        self.diagonal.clear();
        self.diagonal.resize(n, 0.0);
        for k in 0..n {
            for e in start[k]..start[k + 1] {
                let (i, j) = (position[k], position[columns[e] as usize]);
                match i == j {
                    true => self.diagonal[i as usize] = values[e],
                    false => upper[i.max(j) as usize].push((i.min(j), values[e])),
                }
            }
        }
        self.start = vec![0];
        (self.rows, self.values) = (Vec::new(), Vec::new());
        for column in upper {
            self.rows.extend(column.iter().map(|(row, _)| *row));
            self.values.extend(column.iter().map(|(_, value)| *value));
            self.start.push(self.rows.len());
        }
        self.count(n, most)
    }

    /// Elimination tree and number of entries in each column of `L`.
    fn count(&mut self, n: usize, most: usize) -> bool {
        let (mut seen, mut counts) = (vec![ROOT; n], vec![0usize; n]);
        self.parent = vec![ROOT; n];
        for k in 0..n {
            seen[k] = k as u32;
            for &row in &self.rows[self.start[k]..self.start[k + 1]] {
                let mut i = row as usize;
                while seen[i] != k as u32 {
                    if self.parent[i] == ROOT {
                        self.parent[i] = k as u32;
                    }
                    counts[i] += 1;
                    seen[i] = k as u32;
                    i = self.parent[i] as usize;
                }
            }
        }
        self.l_start = vec![0];
        let mut sum = 0usize;
        for count in counts {
            sum += count;
            self.l_start.push(sum);
        }
        sum <= most
    }

    /// Computes `L` and `D` of `N + R`; false if a pivot is not positive.
    pub(super) fn factor(&mut self, shift: &[f64]) -> bool {
        let n = self.order.len();
        let entries = self.l_start[n];
        self.l_rows.resize(entries, 0);
        self.l_values.resize(entries, 0.0);
        self.d.resize(n, 0.0);
        let mut end: Vec<usize> = self.l_start[..n].to_vec();
        let (mut y, mut seen) = (vec![0.0f64; n], vec![ROOT; n]);
        let (mut reach, mut path): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
        for k in 0..n {
            // Rows of column k of L⁻¹: up the tree from the entries of column k, children first.
            reach.clear();
            seen[k] = k as u32;
            for e in self.start[k]..self.start[k + 1] {
                let mut i = self.rows[e] as usize;
                y[i] = self.values[e];
                path.clear();
                while seen[i] != k as u32 {
                    path.push(i);
                    seen[i] = k as u32;
                    i = self.parent[i] as usize;
                }
                reach.extend(path.iter().rev());
            }
            let mut pivot = self.diagonal[k] + shift[self.order[k] as usize];
            for &i in reach.iter().rev() {
                let value = std::mem::take(&mut y[i]);
                for e in self.l_start[i]..end[i] {
                    y[self.l_rows[e] as usize] -= self.l_values[e] * value;
                }
                let l = value / self.d[i];
                pivot -= l * value;
                (self.l_rows[end[i]], self.l_values[end[i]]) = (k as u32, l);
                end[i] += 1;
            }
            if pivot.is_nan() || pivot <= 0.0 {
                return false;
            }
            self.d[k] = pivot;
        }
        true
    }

    /// Solves `(N + R) x = b` in place; `work` is scratch.
    pub(super) fn solve(&self, b: &mut [f64], work: &mut Vec<f64>) {
        work.clear();
        work.extend(self.order.iter().map(|row| b[*row as usize]));
        let n = work.len();
        for i in 0..n {
            let value = work[i];
            for e in self.l_start[i]..self.l_start[i + 1] {
                work[self.l_rows[e] as usize] -= self.l_values[e] * value;
            }
        }
        for i in (0..n).rev() {
            let mut value = work[i] / self.d[i];
            for e in self.l_start[i]..self.l_start[i + 1] {
                value -= self.l_values[e] * work[self.l_rows[e] as usize];
            }
            work[i] = value;
        }
        for (row, x) in self.order.iter().zip(work.iter()) {
            b[*row as usize] = *x;
        }
    }
}

/// An order in which coupled rows are near each other: breadth first from a row with few
/// neighbours, reversed.
fn reverse_cuthill_mckee(neighbours: &[Vec<u32>]) -> Vec<u32> {
    let n = neighbours.len();
    let degree = |k: &u32| neighbours[*k as usize].len();
    let mut by_degree: Vec<u32> = (0..n as u32).collect();
    by_degree.sort_by_key(degree);
    let (mut order, mut seen) = (Vec::with_capacity(n), vec![false; n]);
    let mut next: Vec<u32> = Vec::new();
    for start in by_degree {
        if std::mem::replace(&mut seen[start as usize], true) {
            continue;
        }
        let mut at = order.len();
        order.push(start);
        while at < order.len() {
            next.clear();
            for &other in &neighbours[order[at] as usize] {
                if !std::mem::replace(&mut seen[other as usize], true) {
                    next.push(other);
                }
            }
            next.sort_by_key(degree);
            order.extend_from_slice(&next);
            at += 1;
        }
    }
    order.reverse();
    order
}

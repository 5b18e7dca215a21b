//! Sparse matrices in the encodings of FCLib, and the dense and banded algebra that reduces a global problem to a local
//! one.

use std::collections::VecDeque;

use super::hdf5::Source;
use crate::Error;

/// A sparse matrix in compressed row form, without duplicate entries.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sparse {
    pub(super) columns: usize,
    start: Vec<usize>,
    index: Vec<usize>,
    value: Vec<f64>,
}

impl Sparse {
    /// Sums entries `(row, column, value)`, all within bounds.
    pub(super) fn from_entries(
        rows: usize,
        columns: usize,
        mut entries: Vec<(usize, usize, f64)>,
    ) -> Sparse {
        entries.sort_by_key(|(row, column, _)| (*row, *column));
        let mut m = Sparse { columns, start: vec![0], ..Sparse::default() };
        for (row, column, value) in entries {
            while m.start.len() <= row {
                m.start.push(m.index.len());
            }
            let fresh = m.index.len() == m.start[row] || m.index.last() != Some(&column);
            match m.value.last_mut() {
                Some(last) if !fresh => *last += value,
                _ => {
                    m.index.push(column);
                    m.value.push(value);
                }
            }
        }
        m.start.resize(rows + 1, m.index.len());
        m
    }

    /// Reads a group `{m, n, nz, nzmax, p, i, x}`; `nz` = −2 means compressed rows, −1 compressed
    /// columns, and a non-negative number that many triplets (row `i`, column `p`).
    pub(super) fn read(file: &Source, group: &str) -> Result<Sparse, Error> {
        let name = |part: &str| format!("{group}/{part}");
        let size = |part: &str| {
            let value = file.integer(&name(part))?;
            usize::try_from(value).ok().filter(|n| *n <= i32::MAX as usize).ok_or_else(|| {
                file.error(&name(part), format!("{value} is not a number of rows or columns"))
            })
        };
        let (rows, columns) = (size("m")?, size("n")?);
        let nz = file.integer(&name("nz"))?;
        let numbers = |part: &str| {
            let values = file.integers(&name(part))?;
            values.ok_or_else(|| file.error(&name(part), "there is no such dataset"))
        };
        let (p, i) = (numbers("p")?, numbers("i")?);
        let x = file.reals(&name("x"))?;
        let x = x.ok_or_else(|| file.error(&name("x"), "there is no such dataset"))?;
        let short = |part: &str, has: usize, needs: usize| {
            file.error(&name(part), format!("{has} entries where {needs} are needed"))
        };
        let within = |part: &str, value: i64, n: usize| {
            usize::try_from(value).ok().filter(|k| *k < n).ok_or_else(|| {
                file.error(&name(part), format!("index {value} is not within 0 … {n}"))
            })
        };
        let mut entries = Vec::new();
        match nz {
            -2 | -1 => {
                let (lines, across) = if nz == -2 { (rows, columns) } else { (columns, rows) };
                if p.len() < lines + 1 {
                    return Err(short("p", p.len(), lines + 1));
                }
                let n = p[lines];
                if p[0] != 0 || p[..=lines].windows(2).any(|w| w[0] > w[1]) {
                    return Err(
                        file.error(&name("p"), "its entries must start at 0 and never decrease")
                    );
                }
                for (part, has) in [("i", i.len()), ("x", x.len())] {
                    if (has as i64) < n {
                        return Err(short(part, has, n as usize));
                    }
                }
                for line in 0..lines {
                    for k in p[line] as usize..p[line + 1] as usize {
                        let other = within("i", i[k], across)?;
                        let (row, column) = if nz == -2 { (line, other) } else { (other, line) };
                        entries.push((row, column, x[k]));
                    }
                }
            }
            n @ 0.. => {
                for (part, has) in [("p", p.len()), ("i", i.len()), ("x", x.len())] {
                    if (has as i64) < n {
                        return Err(short(part, has, n as usize));
                    }
                }
                for k in 0..n as usize {
                    entries.push((within("i", i[k], rows)?, within("p", p[k], columns)?, x[k]));
                }
            }
            other => {
                let message =
                    format!("{other} is not an encoding: use −2, −1 or a number of triplets");
                return Err(file.error(&name("nz"), message));
            }
        }
        // Empty rows need no data: a size must not require more memory than the file accounts for.
        if rows.max(columns) > 16 * (p.len() + i.len()) + 1024 {
            return Err(
                file.error(&name("m"), format!("{rows} × {columns} is too large for its entries"))
            );
        }
        Ok(Sparse::from_entries(rows, columns, entries))
    }

    pub(super) fn rows(&self) -> usize {
        self.start.len() - 1
    }

    /// Columns and values of a row, in ascending order of columns.
    pub(super) fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.start[row]..self.start[row + 1];
        range.map(|k| (self.index[k], self.value[k]))
    }

    pub(super) fn transposed(&self) -> Sparse {
        let entries = (0..self.rows())
            .flat_map(|row| self.row(row).map(move |(column, value)| (column, row, value)));
        Sparse::from_entries(self.columns, self.rows(), entries.collect())
    }

    /// The connected groups of rows, each ordered so that its entries are near the diagonal
    /// (Cuthill and McKee 1969).
    pub(super) fn components(&self) -> Vec<Vec<usize>> {
        let n = self.rows();
        let mut neighbours = vec![Vec::new(); n];
        for row in 0..n {
            for (column, _) in self.row(row) {
                if column != row {
                    neighbours[row].push(column);
                    neighbours[column].push(row);
                }
            }
        }
        let degree: Vec<usize> = neighbours.iter().map(Vec::len).collect();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by_key(|k| degree[*k]);
        let mut seen = vec![false; n];
        let mut components = Vec::new();
        for first in order {
            if seen[first] {
                continue;
            }
            // Start from the far end of a first traversal: a peripheral node keeps the fronts
            // narrow.
            let mut order = walk(first, &neighbours, &degree, &mut seen);
            if let Some(rim) = order.last().copied() {
                order.iter().for_each(|k| seen[*k] = false);
                order = walk(rim, &neighbours, &degree, &mut seen);
            }
            components.push(order);
        }
        components
    }
}

/// Breadth-first traversal, least connected nodes first.
fn walk(
    first: usize,
    neighbours: &[Vec<usize>],
    degree: &[usize],
    seen: &mut [bool],
) -> Vec<usize> {
    let mut order = Vec::new();
    let mut queue = VecDeque::from([first]);
    seen[first] = true;
    while let Some(k) = queue.pop_front() {
        order.push(k);
        let mut next: Vec<usize> = neighbours[k].iter().copied().filter(|j| !seen[*j]).collect();
        next.sort_by_key(|j| degree[*j]);
        for j in next {
            if !seen[j] {
                seen[j] = true;
                queue.push_back(j);
            }
        }
    }
    order
}

/// `P A = L U` of a banded matrix, with row pivoting.
pub(super) struct Banded {
    n: usize,
    lower: usize,
    /// Width of a stored row: the lower band, the diagonal, and the upper band as widened by
    /// pivoting.
    width: usize,
    /// Row-major; row `i` starts at column `i − lower`.
    value: Vec<f64>,
    pivot: Vec<usize>,
}

impl Banded {
    /// Factorizes the part of `m` on `rows`, in their order; `None` if it is numerically singular.
    pub(super) fn factorize(m: &Sparse, rows: &[usize], place: &[usize]) -> Option<Banded> {
        let n = rows.len();
        let entries = || {
            let row = |(i, row): (usize, &usize)| m.row(*row).map(move |(j, x)| (i, place[j], x));
            rows.iter().enumerate().flat_map(row)
        };
        let lower = entries().map(|(i, j, _)| i.saturating_sub(j)).max().unwrap_or(0);
        let upper = entries().map(|(i, j, _)| j.saturating_sub(i)).max().unwrap_or(0);
        let width = 2 * lower + upper + 1;
        let mut band =
            Banded { n, lower, width, value: vec![0.0; n * width], pivot: (0..n).collect() };
        let mut largest = vec![0.0f64; n];
        for (i, j, x) in entries() {
            band.value[i * width + j + lower - i] = x;
            largest[i] = largest[i].max(x.abs());
        }
        for k in 0..n {
            let last = (k + lower).min(n - 1);
            let at = |band: &Banded, i: usize| band.value[i * width + k + lower - i];
            let best =
                (k..=last).max_by(|a, b| at(&band, *a).abs().total_cmp(&at(&band, *b).abs()))?;
            if at(&band, best).abs() <= 1e-14 * largest[best] {
                return None;
            }
            let end = (k + lower + upper).min(n - 1);
            band.pivot[k] = best;
            if best != k {
                for j in k..=end {
                    let (a, b) = (k * width + j + lower - k, best * width + j + lower - best);
                    band.value.swap(a, b);
                }
                largest.swap(k, best);
            }
            let head = at(&band, k);
            for i in k + 1..=last {
                let factor = at(&band, i) / head;
                band.value[i * width + k + lower - i] = factor;
                if factor == 0.0 {
                    continue;
                }
                let (above, below) = band.value.split_at_mut(i * width);
                let above = &above[k * width + lower..][..end - k + 1];
                for (x, y) in below[k + lower - i..].iter_mut().zip(above).skip(1) {
                    *x -= factor * y;
                }
            }
        }
        Some(band)
    }

    /// Replaces `x` by `A⁻¹ x`.
    pub(super) fn solve(&self, x: &mut [f64]) {
        let (n, lower, width) = (self.n, self.lower, self.width);
        for k in 0..n {
            x.swap(k, self.pivot[k]);
            let head = x[k];
            if head == 0.0 {
                continue;
            }
            for i in k + 1..=(k + lower).min(n - 1) {
                x[i] -= self.value[i * width + k + lower - i] * head;
            }
        }
        for i in (0..n).rev() {
            let row = &self.value[i * width + lower..(i + 1) * width];
            let sum: f64 = row.iter().zip(&x[i..]).skip(1).map(|(a, x)| a * x).sum();
            x[i] = (x[i] - sum) / row[0];
        }
    }
}

/// A dense square matrix, factorized with full pivoting; negligible pivots are omitted, so that
/// consistent equations are solved even if some are redundant.
pub(super) struct Dense {
    n: usize,
    rank: usize,
    value: Vec<f64>,
    rows: Vec<usize>,
    columns: Vec<usize>,
}

impl Dense {
    /// Factorizes a row-major matrix.
    pub(super) fn factorize(n: usize, value: Vec<f64>) -> Dense {
        let mut m = Dense { n, rank: n, value, rows: (0..n).collect(), columns: (0..n).collect() };
        let mut first = 0.0;
        for k in 0..n {
            let places = (k..n).flat_map(|i| (k..n).map(move |j| (i, j)));
            let size = |m: &Dense, (i, j): (usize, usize)| m.value[i * n + j].abs();
            let best = places.max_by(|a, b| size(&m, *a).total_cmp(&size(&m, *b)));
            let Some((i, j)) = best else { break };
            let largest = size(&m, (i, j));
            if k == 0 {
                first = largest;
            }
            if largest <= 1e-12 * first {
                m.rank = k;
                break;
            }
            for c in 0..n {
                m.value.swap(k * n + c, i * n + c);
            }
            for r in 0..n {
                m.value.swap(r * n + k, r * n + j);
            }
            m.rows.swap(k, i);
            m.columns.swap(k, j);
            for r in k + 1..n {
                let factor = m.value[r * n + k] / m.value[k * n + k];
                m.value[r * n + k] = factor;
                if factor != 0.0 {
                    for c in k + 1..n {
                        m.value[r * n + c] -= factor * m.value[k * n + c];
                    }
                }
            }
        }
        m
    }

    /// Number of independent equations.
    pub(super) fn rank(&self) -> usize {
        self.rank
    }

    /// A solution of `A x = b`.
    pub(super) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let (n, rank) = (self.n, self.rank);
        let mut y: Vec<f64> = self.rows.iter().map(|i| b[*i]).collect();
        for i in 0..rank {
            for k in 0..i {
                y[i] -= self.value[i * n + k] * y[k];
            }
        }
        for i in (0..rank).rev() {
            for k in i + 1..rank {
                y[i] -= self.value[i * n + k] * y[k];
            }
            y[i] /= self.value[i * n + i];
        }
        let mut x = vec![0.0; n];
        for k in 0..rank {
            x[self.columns[k]] = y[k];
        }
        x
    }
}

//! Factors `Uᵀ D U` of the symmetric part of `W` plus a block for each contact, kept for many right-hand sides: half the work
//! of [`super::sparse`], which Newton steps need because their matrices are not symmetric.

use super::order::{Couplings, NONE, Order};
use super::packed::Packed;
use super::sparse::{Block, inverse, subtract};

/// The factors over all contacts of a problem.
#[derive(Clone, Debug, Default)]
pub(super) struct Symmetric {
    /// The contacts in the order of elimination, and the row of each.
    nodes: Vec<u32>,
    place: Vec<u32>,
    /// Start of the blocks of each row of `U`, which begin with the diagonal; columns in order.
    begins: Vec<usize>,
    columns: Vec<u32>,
    blocks: Vec<Block>,
    /// Position of each column in the current row.
    at: Vec<u32>,
    right: Vec<[f64; 3]>,
    /// Multiplications of a factorization.
    work: f64,
}

impl Symmetric {
    /// Finds the blocks that elimination needs. Returns false if it takes more than `most`
    /// multiplications.
    pub(super) fn plan(&mut self, packed: &Packed, order: &Order, most: f64) -> bool {
        let all: Vec<u32> = (0..packed.len() as u32).collect();
        let Some(couplings) = order.couplings(packed, &all, 2.0 * most) else { return false };
        let Couplings { nodes, place, later, work } = couplings;
        (self.nodes, self.place, self.work) = (nodes, place, 0.5 * work);
        self.begins.clear();
        self.columns.clear();
        for (k, later) in later.iter().enumerate() {
            self.begins.push(self.columns.len());
            self.columns.push(k as u32);
            self.columns.extend_from_slice(later);
        }
        self.begins.push(self.columns.len());
        true
    }

    /// Multiplications of a factorization, and of a solve.
    pub(super) fn work(&self) -> [f64; 2] {
        [self.work, 18.0 * self.columns.len() as f64]
    }

    /// Fills in the symmetric part of `W`, and the symmetric block that is added for each contact.
    fn fill(&mut self, packed: &Packed, added: impl Fn(usize) -> [[f64; 3]; 3]) {
        self.blocks.clear();
        self.blocks.resize(self.columns.len(), [[0.0; 4]; 3]);
        for (k, b) in self.nodes.iter().enumerate() {
            let own = &packed.diagonal[*b as usize];
            let block = &mut self.blocks[self.begins[k]];
            let added = added(*b as usize);
            for i in 0..3 {
                (0..3).for_each(|j| block[i][j] = 0.5 * (own[i][j] + own[j][i]) + added[i][j]);
            }
            // Contacts that move nothing keep a diagonal.
            for (a, block) in packed.column(*b as usize) {
                let other = self.place[a] as usize;
                let (row, column) = (k.min(other), k.max(other));
                let begin = self.begins[row];
                let columns = &self.columns[begin..self.begins[row + 1]];
                let found = columns.binary_search(&(column as u32));
                let target = &mut self.blocks[begin + found.expect("the two are coupled")];
                for i in 0..3 {
                    for j in 0..3 {
                        // The block of a column is stored by columns.
                        let entry = if other < k { block[j][i] } else { block[i][j] };
                        target[i][j] += 0.5 * entry;
                    }
                }
            }
        }
    }

    /// Factorizes `W + ρ`; returns false if a pivot is singular.
    pub(super) fn factor(&mut self, packed: &Packed, rho: f64) -> bool {
        self.factor_with(packed, |_| [[rho, 0.0, 0.0], [0.0, rho, 0.0], [0.0, 0.0, rho]])
    }

    /// Factorizes `W` plus a symmetric block for each contact; returns false if a pivot is singular.
    pub(super) fn factor_with(
        &mut self,
        packed: &Packed,
        added: impl Fn(usize) -> [[f64; 3]; 3],
    ) -> bool {
        self.fill(packed, added);
        let m = self.nodes.len();
        self.at.clear();
        self.at.resize(m, 0);
        // Finished rows whose next column is this one, in a list for each column.
        let (mut first, mut next) = (vec![NONE; m], vec![NONE; m]);
        let mut ahead = self.begins.clone();
        for i in 0..m {
            let (begin, end) = (self.begins[i], self.begins[i + 1]);
            let (before, row) = self.blocks.split_at_mut(begin);
            for (at, column) in self.columns[begin..end].iter().enumerate() {
                self.at[*column as usize] = at as u32;
            }
            let mut k = std::mem::replace(&mut first[i], NONE);
            while k != NONE {
                let row_k = k as usize;
                let (from, to) = (ahead[row_k], self.begins[row_k + 1]);
                // Uᵀ D⁻¹, whose inverse is on the diagonal.
                let factor = turned(&before[from], &before[self.begins[row_k]]);
                for (column, block) in self.columns[from..to].iter().zip(&before[from..to]) {
                    subtract(&mut row[self.at[*column as usize] as usize], &factor, block);
                }
                let following = next[row_k];
                ahead[row_k] = from + 1;
                link(&self.columns, from + 1, to, k, &mut first, &mut next);
                k = following;
            }
            let Some(inverse) = inverse(&row[0]) else { return false };
            row[0] = inverse;
            ahead[i] = begin + 1;
            link(&self.columns, begin + 1, end, i as u32, &mut first, &mut next);
        }
        true
    }

    /// Solves the system of the last factorization in place; one triple per contact.
    pub(super) fn solve(&mut self, b: &mut [[f64; 3]]) {
        let x = &mut self.right;
        x.clear();
        x.extend(self.nodes.iter().map(|a| b[*a as usize]));
        for k in 0..x.len() {
            let (begin, end) = (self.begins[k], self.begins[k + 1]);
            let own = times(&self.blocks[begin], x[k]);
            x[k] = own;
            let later = self.columns[begin + 1..end].iter().zip(&self.blocks[begin + 1..end]);
            for (column, [p, q, r]) in later {
                let target = &mut x[*column as usize];
                for j in 0..3 {
                    target[j] -= p[j] * own[0] + q[j] * own[1] + r[j] * own[2];
                }
            }
        }
        for k in (0..x.len()).rev() {
            let (begin, end) = (self.begins[k], self.begins[k + 1]);
            let mut sum = [0.0; 3];
            let later = self.columns[begin + 1..end].iter().zip(&self.blocks[begin + 1..end]);
            for (column, block) in later {
                let known = x[*column as usize];
                for (sum, row) in sum.iter_mut().zip(block) {
                    *sum += row[0] * known[0] + row[1] * known[1] + row[2] * known[2];
                }
            }
            let back = times(&self.blocks[begin], sum);
            (0..3).for_each(|i| x[k][i] -= back[i]);
        }
        for (a, x) in self.nodes.iter().zip(x.iter()) {
            b[*a as usize] = *x;
        }
    }
}

/// Puts row `k` into the list of the column at position `at`, if the row has one there.
fn link(columns: &[u32], at: usize, end: usize, k: u32, first: &mut [u32], next: &mut [u32]) {
    if at < end {
        let column = columns[at] as usize;
        next[k as usize] = first[column];
        first[column] = k;
    }
}

/// `aᵀ b`.
fn turned(a: &Block, b: &Block) -> Block {
    let mut c = [[0.0; 4]; 3];
    for i in 0..3 {
        for j in 0..3 {
            c[i][j] = a[0][i] * b[0][j] + a[1][i] * b[1][j] + a[2][i] * b[2][j];
        }
    }
    c
}

fn times(a: &Block, x: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|i| a[i][0] * x[0] + a[i][1] * x[1] + a[i][2] * x[2])
}

#[cfg(test)]
mod tests {
    use super::super::packed::Iterate;
    use super::super::{Blocks, ContactProblem, Delassus, Law};
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    /// Contacts of which some are coupled, with slightly asymmetric diagonally dominant blocks.
    fn random(n: usize, share: f64, rng: &mut Pcg64) -> Packed {
        let mut entries = vec![[[0.0; 3]; 3]; n * n];
        for a in 0..n {
            for b in 0..=a {
                if a != b && rng.random_range(0.0..1.0) > share {
                    continue;
                }
                for i in 0..3 {
                    for j in 0..3 {
                        let own = if (a, i) == (b, j) { 3.0 * n as f64 } else { 0.0 };
                        let x = rng.random_range(-1.0..1.0);
                        entries[a * n + b][i][j] = x + own;
                        entries[b * n + a][j][i] = x + own;
                    }
                }
            }
        }
        let mut blocks = Blocks::default();
        for a in 0..n {
            let row = (0..n).filter(|b| entries[a * n + b] != [[0.0; 3]; 3]);
            row.for_each(|b| blocks.push(b, entries[a * n + b]));
            blocks.end_row();
        }
        let problem = ContactProblem {
            w: Delassus::Blocks(blocks),
            v_rel_free: vec![[0.0; 3]; n],
            laws: vec![Law::Coulomb { friction: 0.5 }; n],
            ..ContactProblem::default()
        };
        let mut packed = Packed::default();
        packed.fill(&problem, &vec![[0.0; 3]; n], &mut Iterate::default());
        packed
    }

    #[test]
    fn systems_of_any_pattern_are_solved_several_times_with_one_factorization() {
        let mut rng = Pcg64::seed_from_u64(9);
        for (n, share) in [(1, 0.0), (7, 0.0), (20, 0.1), (30, 0.3), (24, 1.0)] {
            let packed = random(n, share, &mut rng);
            let order = Order::new(&packed, f64::INFINITY).expect("there is no limit");
            let mut matrix = Symmetric::default();
            assert!(n == 1 || !matrix.plan(&packed, &order, 1.0));
            assert!(matrix.plan(&packed, &order, f64::INFINITY));
            for rho in [0.1, 1e-3] {
                assert!(matrix.factor(&packed, rho));
                for _ in 0..2 {
                    let x: Vec<[f64; 3]> =
                        (0..n).map(|_| [0; 3].map(|_| rng.random_range(-1.0..1.0))).collect();
                    let mut at = Iterate { r: x.clone(), ..Iterate::default() };
                    packed.velocities(&mut at);
                    let mut b: Vec<[f64; 3]> = (0..n)
                        .map(|a| std::array::from_fn(|i| at.u[a][i] + rho * x[a][i]))
                        .collect();
                    matrix.solve(&mut b);
                    for (found, x) in b.as_flattened().iter().zip(x.as_flattened()) {
                        assert!((found - x).abs() < 1e-10, "{n} {share}: {found} {x}");
                    }
                }
            }
        }
    }
}

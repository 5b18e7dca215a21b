//! Linear systems with the sparsity pattern of `W`: a contact is coupled to every contact of its
//! two bodies, and to no other. Elimination in an order that creates few blocks (minimum degree)
//! costs much less than a dense matrix, above all for towers, arches and walls.
//!
//! Pivots are the 3 × 3 diagonal blocks, in that order, with row pivoting only within a block. A
//! Newton step spoilt by a bad pivot is not accepted, because the caller checks the result.

use super::order::{Couplings, NONE, Order};
use super::packed::Packed;

/// A block by rows, each padded to four numbers.
pub(super) type Block = [[f64; 4]; 3];

/// A system over some of the contacts of a problem.
#[derive(Clone, Debug, Default)]
pub(super) struct Sparse {
    /// The contacts of the system in the order of elimination, and the index of each among them.
    nodes: Vec<u32>,
    place: Vec<u32>,
    /// Start of the blocks of each row, and the position of its diagonal; columns in order.
    begins: Vec<usize>,
    diagonals: Vec<usize>,
    columns: Vec<u32>,
    blocks: Vec<Block>,
    /// Position of each column in the current row.
    at: Vec<u32>,
}

impl Sparse {
    /// Sets up the system for some contacts of a problem and finds the blocks that elimination
    /// needs. Returns its number of multiplications; infinite if there are more than `most`.
    pub(super) fn plan(
        &mut self,
        packed: &Packed,
        order: &Order,
        contacts: &[u32],
        most: f64,
    ) -> f64 {
        let Some(couplings) = order.couplings(packed, contacts, most) else {
            return f64::INFINITY;
        };
        let Couplings { nodes, place, later, work } = couplings;
        (self.nodes, self.place) = (nodes, place);
        self.lay_out(&later);
        work
    }

    /// Allocates the rows: for each coupling a block above the diagonal and one below it.
    fn lay_out(&mut self, later: &[Vec<u32>]) {
        let m = later.len();
        let mut counts = vec![1usize; m];
        for (k, later) in later.iter().enumerate() {
            counts[k] += later.len();
            later.iter().for_each(|j| counts[*j as usize] += 1);
        }
        self.begins.clear();
        self.begins.push(0);
        for count in counts {
            self.begins.push(self.begins[self.begins.len() - 1] + count);
        }
        let mut next = self.begins.clone();
        self.columns.clear();
        self.columns.resize(self.begins[m], 0);
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

    /// The contacts of the rows.
    pub(super) fn nodes(&self) -> &[u32] {
        &self.nodes
    }

    /// Fills in `W + α`.
    pub(super) fn fill(&mut self, packed: &Packed, alpha: f64) {
        self.blocks.clear();
        self.blocks.resize(self.columns.len(), [[0.0; 4]; 3]);
        for (k, b) in self.nodes.iter().enumerate() {
            let diagonal = &packed.diagonal[*b as usize];
            let block = &mut self.blocks[self.diagonals[k]];
            for i in 0..3 {
                block[i][..3].copy_from_slice(&diagonal[i]);
                block[i][i] += alpha;
            }
            for (a, block) in packed.column(*b as usize) {
                if self.place[a] == NONE {
                    continue;
                }
                let row = self.place[a] as usize;
                let begin = self.begins[row];
                let columns = &self.columns[begin..self.begins[row + 1]];
                let at = begin + columns.binary_search(&(k as u32)).expect("the two are coupled");
                let [x, y, z] = block;
                self.blocks[at] = std::array::from_fn(|i| [x[i], y[i], z[i], 0.0]);
            }
        }
    }

    /// The blocks of a row, and the index of the diagonal one.
    pub(super) fn row(&mut self, k: usize) -> (&mut [Block], usize) {
        let begin = self.begins[k];
        (&mut self.blocks[begin..self.begins[k + 1]], self.diagonals[k] - begin)
    }

    /// Solves the system in place; returns false if a pivot is singular. The blocks are
    /// overwritten.
    pub(super) fn solve(&mut self, right: &mut [[f64; 3]]) -> bool {
        let m = self.nodes.len();
        self.at.clear();
        self.at.resize(m, 0);
        for i in 0..m {
            let (begin, diagonal) = (self.begins[i], self.diagonals[i]);
            let (before, row) = self.blocks.split_at_mut(begin);
            for (at, column) in self.columns[begin..self.begins[i + 1]].iter().enumerate() {
                self.at[*column as usize] = at as u32;
            }
            for at in 0..diagonal - begin {
                let k = self.columns[begin + at] as usize;
                // The diagonal of a finished row contains its inverse.
                let (pivot, end) = (self.diagonals[k], self.begins[k + 1]);
                let factor = product(&row[at], &before[pivot]);
                for x in pivot + 1..end {
                    let target = &mut row[self.at[self.columns[x] as usize] as usize];
                    subtract(target, &factor, &before[x]);
                }
                let known = right[k];
                for (x, f) in right[i].iter_mut().zip(&factor) {
                    *x -= f[0] * known[0] + f[1] * known[1] + f[2] * known[2];
                }
            }
            let Some(inverse) = inverse(&row[diagonal - begin]) else { return false };
            row[diagonal - begin] = inverse;
        }
        for i in (0..m).rev() {
            let mut sum = right[i];
            for x in self.diagonals[i] + 1..self.begins[i + 1] {
                let (block, known) = (&self.blocks[x], right[self.columns[x] as usize]);
                for (sum, row) in sum.iter_mut().zip(block) {
                    *sum -= row[0] * known[0] + row[1] * known[1] + row[2] * known[2];
                }
            }
            let inverse = &self.blocks[self.diagonals[i]];
            right[i] = std::array::from_fn(|k| {
                inverse[k][0] * sum[0] + inverse[k][1] * sum[1] + inverse[k][2] * sum[2]
            });
        }
        true
    }
}

/// `a b`.
#[inline(always)]
pub(super) fn product(a: &Block, b: &Block) -> Block {
    let mut c = [[0.0; 4]; 3];
    for i in 0..3 {
        for j in 0..4 {
            c[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
        }
    }
    c
}

/// `c − a b` in place of `c`.
#[inline(always)]
pub(super) fn subtract(c: &mut Block, a: &Block, b: &Block) {
    for i in 0..3 {
        for j in 0..4 {
            c[i][j] -= a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
        }
    }
}

/// Inverse of a block by elimination with row pivoting; `None` if it is singular.
pub(super) fn inverse(block: &Block) -> Option<Block> {
    let mut a = *block;
    let mut inverse = [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]];
    for k in 0..3 {
        let best = (k..3).max_by(|i, j| a[*i][k].abs().total_cmp(&a[*j][k].abs()))?;
        a.swap(k, best);
        inverse.swap(k, best);
        let pivot = 1.0 / a[k][k];
        if !pivot.is_finite() {
            return None;
        }
        a[k] = a[k].map(|x| pivot * x);
        inverse[k] = inverse[k].map(|x| pivot * x);
        for i in (0..3).filter(|i| *i != k) {
            let factor = a[i][k];
            for j in 0..4 {
                a[i][j] -= factor * a[k][j];
                inverse[i][j] -= factor * inverse[k][j];
            }
        }
    }
    Some(inverse)
}

#[cfg(test)]
mod tests {
    use super::super::packed::Iterate;
    use super::super::{Blocks, ContactProblem, Delassus, Law};
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    /// Contacts in a chain, each coupled to the `reach` next ones by random blocks, numbered at
    /// random.
    fn chain(n: usize, reach: usize, rng: &mut Pcg64) -> Packed {
        with_holes(n, reach, 0.0, rng)
    }

    /// The same, with a fraction of the off-diagonal blocks missing.
    fn with_holes(n: usize, reach: usize, holes: f64, rng: &mut Pcg64) -> Packed {
        let mut number: Vec<usize> = (0..n).collect();
        (1..n).for_each(|k| number.swap(k, rng.random_range(0..k + 1)));
        let mut place = vec![0; n];
        number.iter().enumerate().for_each(|(k, a)| place[*a] = k);
        let mut blocks = Blocks::default();
        for a in 0..n {
            for b in (0..n).filter(|b| place[a].abs_diff(place[*b]) <= reach) {
                if a != b && holes > 0.0 && rng.random_range(0.0..1.0) < holes {
                    continue;
                }
                let own = if a == b { 4.0 * reach as f64 } else { 0.0 };
                let mut entry = |i, j| rng.random_range(-1.0..1.0) + if i == j { own } else { 0.0 };
                blocks.push(b, std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j))));
            }
            blocks.end_row();
        }
        let problem = ContactProblem {
            rolling: Vec::new(),
            w: Delassus::Blocks(blocks),
            v_rel_free: vec![[1.0; 3]; n],
            laws: vec![Law::Coulomb { friction: 0.5 }; n],
            approach_scale: 1.0,
        };
        let mut packed = Packed::default();
        packed.fill(&problem, &vec![[0.0; 3]; n], &mut Iterate::default());
        packed
    }

    #[test]
    fn a_system_over_any_contacts_is_solved_even_if_blocks_have_no_transpose() {
        let mut rng = Pcg64::seed_from_u64(4);
        let mut sparse = Sparse::default();
        for round in 0..60 {
            let (n, reach) = (1 + round, 1 + round % 5);
            let holes = if round < 40 { 0.0 } else { 0.4 };
            let packed = with_holes(n, reach, holes, &mut rng);
            let contacts: Vec<u32> =
                (0..n as u32).filter(|_| round % 2 == 0 || rng.random_range(0..3) > 0).collect();
            let order = Order::new(&packed, f64::INFINITY).expect("there is no limit");
            assert!(sparse.plan(&packed, &order, &contacts, f64::INFINITY).is_finite());
            sparse.fill(&packed, 0.1);

            // The product with a known vector, computed from the columns of the problem.
            let x: Vec<[f64; 3]> =
                (0..n).map(|_| [0; 3].map(|_| rng.random_range(-1.0..1.0))).collect();
            let mut known = Iterate { r: vec![[0.0; 3]; n], ..Iterate::default() };
            contacts.iter().for_each(|a| known.r[*a as usize] = x[*a as usize]);
            packed.velocities(&mut known);
            let nodes = sparse.nodes().to_vec();
            let product = |a: &u32| -> [f64; 3] {
                let (u, q, x) = (known.u[*a as usize], packed.free[*a as usize], x[*a as usize]);
                std::array::from_fn(|i| u[i] - q[i] + 0.1 * x[i])
            };
            let mut right: Vec<[f64; 3]> = nodes.iter().map(product).collect();
            assert!(sparse.solve(&mut right));
            for (a, found) in nodes.iter().zip(&right) {
                for (x, y) in x[*a as usize].iter().zip(found) {
                    assert!((x - y).abs() < 1e-9, "round {round}: {x} {y}");
                }
            }
        }
    }

    #[test]
    fn the_work_of_eliminating_a_chain_is_proportional_to_its_length() {
        let mut rng = Pcg64::seed_from_u64(5);
        let work = [100, 400].map(|n| {
            let packed = chain(n, 3, &mut rng);
            let all: Vec<u32> = (0..n as u32).collect();
            let mut sparse = Sparse::default();
            assert!(Order::new(&packed, 1e3).is_none());
            let order = Order::new(&packed, f64::INFINITY).expect("there is no limit");
            assert_eq!(sparse.plan(&packed, &order, &all, 1e3), f64::INFINITY);
            let work = sparse.plan(&packed, &order, &all, f64::INFINITY);
            // No contact appears twice.
            let mut nodes = sparse.nodes().to_vec();
            nodes.sort_unstable();
            assert_eq!(nodes, all);
            // What the order promises is what elimination does, up to contacts taken together.
            assert!(order.work() <= 1.01 * work && work <= 2.0 * order.work());
            work
        });
        assert!(work[1] < 5.0 * work[0], "{work:?}");
    }

    #[test]
    fn a_singular_pivot_is_reported() {
        assert!(inverse(&[[0.0; 4]; 3]).is_none());
        assert!(
            inverse(&[[1.0, 2.0, 3.0, 0.0], [2.0, 4.0, 6.0, 0.0], [0.0, 0.0, 1.0, 0.0]]).is_none()
        );
        let turned = [[0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 2.0, 0.0], [4.0, 0.0, 0.0, 0.0]];
        let back = product(&turned, &inverse(&turned).unwrap());
        for i in 0..3 {
            for j in 0..3 {
                assert_eq!(back[i][j], f64::from(i == j));
            }
        }
    }
}

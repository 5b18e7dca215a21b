//! The matrix of an island multiplied out, factored again for each basis: for stored problems, for
//! mechanisms, and as a reference.

use super::island::{Island, State, dot};
use super::path::{Algebra, COMPLIANCE};
use crate::friction::Delassus;
use crate::math::dense::Lu;

/// `A`, three rows and columns per contact, and the factored matrix of the basis.
#[derive(Default)]
pub(super) struct Dense {
    n: usize,
    matrix: Vec<f64>,
    basics: Vec<usize>,
    lu: Lu,
    right: Vec<f64>,
    /// `A f`.
    product: Vec<f64>,
}

impl Dense {
    /// Multiplies out the matrix of an island.
    pub(super) fn fill(&mut self, w: &Delassus, island: &Island) {
        let n = 3 * island.n_contacts();
        self.n = n;
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        match w {
            Delassus::Blocks(w) => {
                let mut place = vec![usize::MAX; w.len()];
                island.contacts.iter().enumerate().for_each(|(k, a)| place[*a as usize] = k);
                for (k, &a) in island.contacts.iter().enumerate() {
                    for (b, block) in w.row(a as usize).filter(|(b, _)| place[*b] != usize::MAX) {
                        self.put(k, place[b], block, island);
                    }
                }
            }
            Delassus::Factored(w) => {
                let mut velocity = vec![[0.0; 6]; w.n_blocks()];
                for (j, &b) in island.contacts.iter().enumerate() {
                    let mut columns = vec![[[0.0; 3]; 3]; island.n_contacts()];
                    for i in 0..3 {
                        let mut unit = [0.0; 3];
                        unit[i] = 1.0;
                        w.push_impulse(b as usize, unit, &mut velocity);
                        for (column, a) in columns.iter_mut().zip(&island.contacts) {
                            let u = w.to_local(*a as usize, &velocity);
                            (0..3).for_each(|r| column[r][i] = u[r]);
                        }
                        w.moved_by(b as usize).for_each(|x| velocity[x as usize] = [0.0; 6]);
                    }
                    columns.iter().enumerate().for_each(|(k, block)| self.put(k, j, block, island));
                }
            }
        }
    }

    fn put(&mut self, row: usize, column: usize, block: &[[f64; 3]; 3], island: &Island) {
        let scale = island.unit[row] * island.unit[column];
        for i in 0..3 {
            for j in 0..3 {
                self.matrix[(3 * row + i) * self.n + 3 * column + j] = scale * block[i][j];
            }
        }
    }

    /// `A` between a row of one contact and a column of another.
    fn entry(&self, (a, row): (usize, [f64; 3]), (b, column): (usize, [f64; 3])) -> f64 {
        let at = |i: usize| {
            let begin = (3 * a + i) * self.n + 3 * b;
            [self.matrix[begin], self.matrix[begin + 1], self.matrix[begin + 2]]
        };
        (0..3).map(|i| row[i] * dot(at(i), column)).sum()
    }
}

impl Algebra for Dense {
    fn clear(&mut self) {
        self.product.clear();
        self.product.resize(self.n, 0.0);
    }

    fn add(&mut self, k: usize, force: [f64; 3]) {
        for (a, row) in self.product.iter_mut().zip(self.matrix.chunks_exact(self.n)) {
            *a += dot([row[3 * k], row[3 * k + 1], row[3 * k + 2]], force);
        }
    }

    fn at(&self, k: usize) -> [f64; 3] {
        [self.product[3 * k], self.product[3 * k + 1], self.product[3 * k + 2]]
    }

    fn factorize(&mut self, island: &Island, states: &[State]) -> bool {
        self.basics.clear();
        self.basics.extend((0..island.len()).filter(|u| states[*u] == State::Basic));
        let m = self.basics.len();
        let mut reduced = vec![0.0; m * m];
        for (j, &v) in self.basics.iter().enumerate() {
            let owner = island.owner[v] as usize;
            let normal = island.is_normal(v);
            let column =
                if normal { island.normal_column(owner, states) } else { island.column[v] };
            for (i, &u) in self.basics.iter().enumerate() {
                let row = (island.owner[u] as usize, island.row[u]);
                reduced[i * m + j] = self.entry(row, (owner, column));
            }
            reduced[j * m + j] += COMPLIANCE;
        }
        self.lu.reset(m).copy_from_slice(&reduced);
        self.lu.factor() > 0.0
    }

    fn solve(&mut self, _: &Island, _: &[State], right: &[f64], x: &mut [f64]) {
        self.right.clear();
        self.right.extend(self.basics.iter().map(|u| right[*u]));
        self.lu.solve(&mut self.right);
        self.basics.iter().zip(&self.right).for_each(|(u, value)| x[*u] = *value);
    }
}

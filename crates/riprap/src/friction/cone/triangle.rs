//! The lower triangle of `N`, for the methods that factorize it.

use super::ConeProblem;
use super::factors::Factors;
use super::problem::Rows;

/// Rows of `Dᵀ` and `(M⁻¹ D)ᵀ` of all constraints, written out block by block.
struct Expanded {
    /// First block of each constraint.
    start: Vec<usize>,
    blocks: Vec<u32>,
    /// Three rows for each of them.
    d: Vec<[[f64; 6]; 3]>,
    solved: Vec<[[f64; 6]; 3]>,
    /// The constraints of each block.
    users: Vec<Vec<u32>>,
}

impl Expanded {
    fn new(cones: &[Rows], factors: &Factors) -> Expanded {
        let users = vec![Vec::new(); factors.n_blocks()];
        let (blocks, d, solved) = (Vec::new(), Vec::new(), Vec::new());
        let mut it = Expanded { start: vec![0], blocks, d, solved, users };
        for (c, cone) in cones.iter().enumerate() {
            let first = it.blocks.len();
            for i in 0..cone.n as usize {
                let mut at = first;
                factors.entries(c, i, |block, d, solved| {
                    if i == 0 {
                        it.blocks.push(block);
                        it.d.push([[0.0; 6]; 3]);
                        it.solved.push([[0.0; 6]; 3]);
                        it.users[block as usize].push(c as u32);
                    }
                    (it.d[at][i], it.solved[at][i]) = (d, solved);
                    at += 1;
                });
            }
            it.start.push(it.blocks.len());
        }
        it
    }

    /// The constraints that share a block with constraint `c`, some of them several times.
    fn neighbours(&self, c: usize) -> impl Iterator<Item = u32> {
        let blocks = &self.blocks[self.start[c]..self.start[c + 1]];
        blocks.iter().flat_map(|block| &self.users[*block as usize]).copied()
    }

    /// Row `i` of constraint `c` times column `j` of another one.
    fn entry(&self, (c, i): (usize, usize), (other, j): (usize, usize)) -> f64 {
        let mut sum = 0.0;
        for own in self.start[c]..self.start[c + 1] {
            for theirs in self.start[other]..self.start[other + 1] {
                if self.blocks[own] == self.blocks[theirs] {
                    let (d, m) = (&self.d[own][i], &self.solved[theirs][j]);
                    sum += (0..6).map(|l| d[l] * m[l]).sum::<f64>();
                }
            }
        }
        sum
    }
}

impl ConeProblem {
    /// The lower triangle of `N` by rows: starts, columns in increasing order, values. Each row
    /// ends with its diagonal.
    pub(super) fn lower(&self) -> (Vec<usize>, Vec<u32>, Vec<f64>) {
        let expanded = match self.matrix() {
            None => Expanded::new(&self.cones, self.factors()),
            Some(_) => Expanded::new(&[], self.factors()),
        };
        let (mut start, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut seen = vec![usize::MAX; self.cones.len()];
        let mut row: Vec<(u32, f64)> = Vec::new();
        for (c, cone) in self.cones.iter().enumerate() {
            for (i, k) in cone.range().enumerate() {
                row.clear();
                if let Some(matrix) = self.matrix() {
                    row.extend(matrix.row(k).filter(|(column, _)| *column as usize <= k));
                } else {
                    for other in expanded.neighbours(c).map(|other| other as usize) {
                        if other <= c && std::mem::replace(&mut seen[other], k) != k {
                            let theirs = self.cones[other].range().enumerate();
                            row.extend(theirs.take_while(|(_, column)| *column <= k).map(
                                |(j, column)| (column as u32, expanded.entry((c, i), (other, j))),
                            ));
                        }
                    }
                }
                if !row.iter().any(|(column, _)| *column as usize == k) {
                    row.push((k as u32, 1.0));
                }
                row.sort_by_key(|(column, _)| *column);
                columns.extend(row.iter().map(|(column, _)| *column));
                values.extend(row.iter().map(|(_, value)| *value));
                start.push(columns.len());
            }
        }
        (start, columns, values)
    }
}

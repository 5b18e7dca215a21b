//! `W` as 3×3 blocks, as used by stored problems.

use super::factored::dot;
use super::{BlockVelocities, Operator};

/// `W` as 3×3 blocks, row by row (block CSR). Not necessarily symmetric.
#[derive(Clone, Debug)]
pub struct Blocks {
    row_start: Vec<usize>,
    columns: Vec<usize>,
    blocks: Vec<[[f64; 3]; 3]>,
    diagonal: Vec<[[f64; 3]; 3]>,
}

impl Default for Blocks {
    fn default() -> Self {
        Blocks { row_start: vec![0], columns: vec![], blocks: vec![], diagonal: vec![] }
    }
}

impl Blocks {
    /// Appends a block to the row being filled.
    pub fn push(&mut self, column: usize, block: [[f64; 3]; 3]) {
        self.columns.push(column);
        self.blocks.push(block);
    }

    /// Finishes the row being filled.
    pub fn end_row(&mut self) {
        let row = self.diagonal.len();
        let start = self.row_start[row];
        let mut diagonal = [[0.0; 3]; 3];
        for (column, block) in self.columns[start..].iter().zip(&self.blocks[start..]) {
            if *column == row {
                diagonal = *block;
            }
        }
        self.diagonal.push(diagonal);
        self.row_start.push(self.columns.len());
    }

    /// Number of rows, one for each contact.
    pub fn len(&self) -> usize {
        self.diagonal.len()
    }

    /// Whether there are no contacts.
    pub fn is_empty(&self) -> bool {
        self.diagonal.is_empty()
    }

    /// Columns and blocks of row `a` [1/kg].
    pub fn row(&self, a: usize) -> impl Iterator<Item = (usize, &[[f64; 3]; 3])> {
        let row = self.row_start[a]..self.row_start[a + 1];
        row.map(|k| (self.columns[k], &self.blocks[k]))
    }

    /// The block in row `a`, column `b`, if there is one.
    pub fn block(&self, a: usize, b: usize) -> Option<&[[f64; 3]; 3]> {
        let row = self.row_start[a]..self.row_start[a + 1];
        row.into_iter().find(|&k| self.columns[k] == b).map(|k| &self.blocks[k])
    }
}

impl Operator for Blocks {
    fn diagonal(&self, a: usize) -> &[[f64; 3]; 3] {
        &self.diagonal[a]
    }

    fn start(&self, _impulses: &[[f64; 3]], _velocity: &mut BlockVelocities) {}

    fn velocity(&self, a: usize, impulses: &[[f64; 3]], _velocity: &BlockVelocities) -> [f64; 3] {
        let mut u = [0.0; 3];
        for k in self.row_start[a]..self.row_start[a + 1] {
            let r = impulses[self.columns[k]];
            for i in 0..3 {
                u[i] += dot(self.blocks[k][i], r);
            }
        }
        u
    }

    fn add(&self, _a: usize, _change: [f64; 3], _velocity: &mut BlockVelocities) {}

    fn trace(&self) -> f64 {
        self.diagonal.iter().map(|w| w[0][0] + w[1][1] + w[2][2]).sum()
    }
}

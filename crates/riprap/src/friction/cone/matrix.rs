//! `N` as a sparse symmetric matrix, for problems stored as blocks.

use crate::math::bytes_of;

/// Sparse rows, scaled.
#[derive(Debug, Default)]
pub(super) struct Matrix {
    start: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Matrix {
    /// Removes all rows.
    pub(super) fn clear(&mut self) {
        self.start.clear();
        self.start.push(0);
        self.columns.clear();
        self.values.clear();
    }

    /// Adds an entry to the row that [`Matrix::end_row`] ends.
    pub(super) fn push(&mut self, column: u32, value: f64) {
        self.columns.push(column);
        self.values.push(value);
    }

    pub(super) fn end_row(&mut self) {
        self.start.push(self.columns.len());
    }

    /// Columns and values of row `k`.
    pub(super) fn row(&self, k: usize) -> impl Iterator<Item = (u32, f64)> {
        let entries = self.start[k]..self.start[k + 1];
        self.columns[entries.clone()].iter().copied().zip(self.values[entries].iter().copied())
    }

    /// `N x`. Returns `xᵀ N x`.
    pub(super) fn multiply(&self, x: &[f64], out: &mut [f64]) -> f64 {
        let mut curvature = 0.0;
        for (k, out) in out[..x.len()].iter_mut().enumerate() {
            *out = self.row(k).map(|(column, value)| value * x[column as usize]).sum();
            curvature += x[k] * *out;
        }
        curvature
    }

    /// Adds `change` times column `k`, which is row `k`.
    pub(super) fn add(&self, k: usize, change: f64, out: &mut [f64]) {
        self.row(k).for_each(|(column, value)| out[column as usize] += value * change);
    }

    /// Bytes held by the buffers.
    pub(super) fn bytes(&self) -> usize {
        bytes_of(&self.start) + bytes_of(&self.columns) + bytes_of(&self.values)
    }
}

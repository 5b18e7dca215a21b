//! Rows of constraint gradients: velocities of points along directions, per unit of the velocities
//! of the system, and their derivatives.

use crate::math::Vec3;
use crate::multibody::PointColumn;

/// The columns of a free body at a point with the given arm from its centre of mass: translations,
/// then rotations about world axes.
pub(super) fn free_columns(first: usize, arm: Vec3, out: &mut Vec<PointColumn>) {
    for k in 0..6 {
        let mut axis = Vec3::zeros();
        axis[k % 3] = 1.0;
        let (angular, linear) =
            if k < 3 { (Vec3::zeros(), axis) } else { (axis, axis.cross(&arm)) };
        out.push(PointColumn {
            index: first + k,
            rank: (k >= 3).into(),
            fixed_axes: true,
            angular,
            linear,
        });
    }
}

/// Sparse rows `G`, and the part of each row's velocity that is prescribed.
#[derive(Clone, Debug)]
pub struct Rows {
    starts: Vec<usize>,
    entries: Vec<(u32, f64)>,
    rates: Vec<f64>,
}

impl Default for Rows {
    fn default() -> Self {
        Rows { starts: vec![0], entries: Vec::new(), rates: Vec::new() }
    }
}

impl Rows {
    /// Removes all rows.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.starts.push(0);
        self.entries.clear();
        self.rates.clear();
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.rates.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rates.is_empty()
    }

    /// Adds an entry to the row being built: to the prescribed part if its velocity is prescribed.
    pub fn add(&mut self, index: usize, value: f64, prescribed: bool, velocity: f64) {
        if self.starts.len() == self.rates.len() + 1 {
            self.rates.push(0.0);
        }
        let row = self.rates.len() - 1;
        if prescribed {
            self.rates[row] += value * velocity;
        } else if value != 0.0 {
            let own = &mut self.entries[self.starts[row]..];
            match own.iter_mut().find(|(i, _)| *i as usize == index) {
                Some((_, sum)) => *sum += value,
                None => self.entries.push((index as u32, value)),
            }
        }
    }

    /// Ends the row being built, which moves with `rate` where all velocities are zero.
    pub fn end(&mut self, rate: f64) {
        if self.starts.len() == self.rates.len() + 1 {
            self.rates.push(0.0);
        }
        *self.rates.last_mut().expect("a row was begun") += rate;
        self.starts.push(self.entries.len());
    }

    /// Appends a row of another set.
    pub fn copy(&mut self, other: &Rows, i: usize) {
        self.entries.extend_from_slice(other.row(i));
        self.rates.push(other.rates[i]);
        self.starts.push(self.entries.len());
    }

    /// Removes the last row.
    pub fn drop_last(&mut self) {
        self.starts.pop();
        self.rates.pop();
        self.entries.truncate(*self.starts.last().expect("the first row starts at 0"));
    }

    /// Entries of a row: index and value.
    pub fn row(&self, i: usize) -> &[(u32, f64)] {
        &self.entries[self.starts[i]..self.starts[i + 1]]
    }

    /// `G x` of one row.
    pub fn dot(&self, i: usize, x: &[f64]) -> f64 {
        self.row(i).iter().map(|&(k, g)| g * x[k as usize]).sum()
    }

    /// Velocity of a row: `G v` and the prescribed part.
    pub fn velocity(&self, i: usize, v: &[f64]) -> f64 {
        self.dot(i, v) + self.rates[i]
    }

    /// Adds `s Gᵀ` of one row to a vector.
    pub fn add_to(&self, i: usize, s: f64, x: &mut [f64]) {
        for &(k, g) in self.row(i) {
            x[k as usize] += s * g;
        }
    }
}

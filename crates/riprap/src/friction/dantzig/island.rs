//! Contacts that influence each other, with scaled unknowns: one force along the normal of each
//! contact, one along each axis of friction. Rows and columns of a contact are scaled by the square
//! root of its mobility, so that accelerations and forces have the same unit and the diagonal of
//! the matrix is at most 1.

use super::{ForceProblem, Friction};
use crate::friction::{Delassus, Factored};
use std::f64::consts::PI;

/// What an unknown does at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// Not considered yet: no force, no condition.
    Absent,
    /// Part of a breaking contact (NC): no force.
    Out,
    /// Takes whatever value keeps its acceleration at zero.
    Basic,
    /// Friction at `μ f_N` (C⁺).
    Upper,
    /// Friction at `−μ f_N` (C⁻).
    Lower,
}

/// A scaled problem over some of the contacts.
#[derive(Clone, Debug, Default)]
pub(super) struct Island {
    /// Indices in the whole problem.
    pub(super) contacts: Vec<u32>,
    /// From scaled to real forces, and from real to scaled accelerations.
    pub(super) unit: Vec<f64>,
    /// First unknown of each contact, its normal force; axes follow. One more at the end.
    pub(super) start: Vec<usize>,
    /// Contact of each unknown.
    pub(super) owner: Vec<u32>,
    /// Direction of the acceleration of each unknown, and of its force, in `(n, t1, t2)`.
    pub(super) row: Vec<[f64; 3]>,
    pub(super) column: Vec<[f64; 3]>,
    /// Bound on the friction of each axis of a contact, relative to the normal force.
    pub(super) mu: Vec<f64>,
    /// Scaled block of each contact on the diagonal of the matrix.
    pub(super) diagonal: Vec<[[f64; 3]; 3]>,
    /// Scaled accelerations without forces.
    pub(super) b: Vec<f64>,
    /// Largest scaled acceleration by which `b` was divided.
    pub(super) size: f64,
}

impl Island {
    /// Loads some contacts of a problem.
    pub(super) fn fill(&mut self, problem: &ForceProblem, contacts: &[u32], facets: usize) {
        self.contacts.clear();
        self.contacts.extend_from_slice(contacts);
        self.unit.clear();
        self.start.clear();
        self.owner.clear();
        self.row.clear();
        self.column.clear();
        self.mu.clear();
        self.diagonal.clear();
        self.b.clear();
        for (k, &c) in contacts.iter().enumerate() {
            let diagonal = problem.w.diagonal(c as usize);
            let mobility = (0..3).map(|i| diagonal[i][i]).fold(0.0, f64::max);
            self.unit.push(mobility.sqrt().recip());
            self.diagonal.push(diagonal.map(|row| row.map(|w| w / mobility)));
            self.start.push(self.row.len());
            self.push(k, [1.0, 0.0, 0.0], problem.b[c as usize]);
            self.mu.push(0.0);
            match problem.friction[c as usize] {
                Friction::None => {}
                Friction::Sliding { mu, direction: [x, y] } => {
                    *self.column.last_mut().expect("the normal") = [1.0, mu * x, mu * y];
                }
                Friction::Static { mu } if mu > 0.0 => {
                    let moves = |i: usize| diagonal[i][i] > 1e-14 * diagonal[0][0];
                    self.push_axes(k, mu, [moves(1), moves(2)], problem.b[c as usize], facets);
                }
                Friction::Static { .. } => {}
            }
        }
        self.start.push(self.row.len());
        self.size = self.b.iter().fold(0.0, |most: f64, b| most.max(b.abs()));
        if self.size > 0.0 {
            self.b.iter_mut().for_each(|b| *b /= self.size);
        }
    }

    /// The axes of a static contact: one if it can move along one tangent only; otherwise
    /// `facets / 2` of them, rotated by `2π / facets`. The sum of segments of half-length `μ'`
    /// along these axes is a regular polygon with `facets` sides and vertices at `μ' / sin(π/facets)`.
    fn push_axes(&mut self, k: usize, mu: f64, moves: [bool; 2], b: [f64; 3], facets: usize) {
        let m = (facets / 2 * 2).max(4);
        match moves {
            [true, true] => {
                self.mu[k] = mu * (PI / m as f64).sin();
                for axis in 0..m / 2 {
                    let (sin, cos) = (2.0 * PI * axis as f64 / m as f64).sin_cos();
                    self.push(k, [0.0, cos, sin], b);
                }
            }
            [true, false] => {
                self.mu[k] = mu;
                self.push(k, [0.0, 1.0, 0.0], b);
            }
            [false, true] => {
                self.mu[k] = mu;
                self.push(k, [0.0, 0.0, 1.0], b);
            }
            [false, false] => {}
        }
    }

    fn push(&mut self, k: usize, direction: [f64; 3], b: [f64; 3]) {
        self.owner.push(k as u32);
        self.row.push(direction);
        self.column.push(direction);
        self.b.push(self.unit[k] * dot(direction, b));
    }

    /// Number of unknowns.
    pub(super) fn len(&self) -> usize {
        self.row.len()
    }

    /// Number of contacts.
    pub(super) fn n_contacts(&self) -> usize {
        self.mu.len()
    }

    /// The unknowns of a contact's axes.
    pub(super) fn axes(&self, k: usize) -> std::ops::Range<usize> {
        self.start[k] + 1..self.start[k + 1]
    }

    /// Whether an unknown is a normal force.
    pub(super) fn is_normal(&self, u: usize) -> bool {
        self.start[self.owner[u] as usize] == u
    }

    /// The normal force of the contact of an unknown.
    pub(super) fn normal_of(&self, u: usize) -> usize {
        self.start[self.owner[u] as usize]
    }

    /// Bound on an axis relative to its normal force.
    pub(super) fn bound(&self, u: usize) -> f64 {
        self.mu[self.owner[u] as usize]
    }

    /// The column of the normal force of contact `k`, with the friction it determines.
    pub(super) fn normal_column(&self, k: usize, states: &[State]) -> [f64; 3] {
        let mut column = self.column[self.start[k]];
        for u in self.axes(k) {
            let sign = match states[u] {
                State::Upper => self.mu[k],
                State::Lower => -self.mu[k],
                _ => continue,
            };
            for i in 1..3 {
                column[i] += sign * self.column[u][i];
            }
        }
        column
    }

    /// Sets the forces of unknowns that are not basic.
    pub(super) fn complete(&self, states: &[State], x: &mut [f64]) {
        for u in 0..self.len() {
            x[u] = match states[u] {
                State::Basic => x[u],
                State::Absent | State::Out => 0.0,
                State::Upper => self.bound(u) * x[self.normal_of(u)],
                State::Lower => -self.bound(u) * x[self.normal_of(u)],
            };
        }
    }

    /// Scaled unknowns of real forces. Friction is distributed evenly among axes.
    pub(super) fn unknowns(&self, forces: &[[f64; 3]]) -> Vec<f64> {
        let value = |u: usize| {
            let k = self.owner[u] as usize;
            let axes = self.axes(k).len() as f64;
            let share = if self.is_normal(u) || axes < 3.0 { 1.0 } else { 2.0 / axes };
            let force = forces[self.contacts[k] as usize];
            let x = share * dot(self.row[u], force) / (self.unit[k] * self.size);
            if x.is_finite() { x } else { 0.0 }
        };
        (0..self.len()).map(value).collect()
    }

    /// The forces of all contacts as vectors in their frames, still scaled.
    pub(super) fn vectors(&self, x: &[f64], out: &mut Vec<[f64; 3]>) {
        out.clear();
        out.resize(self.n_contacts(), [0.0; 3]);
        for u in 0..self.len() {
            let f = &mut out[self.owner[u] as usize];
            (0..3).for_each(|i| f[i] += x[u] * self.column[u][i]);
        }
    }
}

/// Whether an island needs matrices multiplied out: it has contacts given as blocks or as rows.
pub(super) fn factored<'a>(w: &'a Delassus, contacts: &[u32]) -> Option<&'a Factored> {
    match w {
        Delassus::Blocks(_) => None,
        Delassus::Factored(w) => {
            contacts.iter().all(|a| !w.contacts()[*a as usize].has_sides()).then_some(w)
        }
    }
}

pub(super) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

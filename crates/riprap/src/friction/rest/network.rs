//! The network of springs of a resting state: rows of `Hᵀ` by contact and block, deformations,
//! forces, resultants and tangents.

use super::super::factored::{cross, dot};
use super::super::{Contact3, Factored, Law};
use super::{ContactStatus, ForceLaw, RestFriction, RestProblem, RestReport, RestSolution};
use crate::math::length2;

/// The rows of `Hᵀ` of one contact on one block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    pub block: u32,
    /// Rows n, t1, t2.
    pub rows: [[f64; 6]; 3],
}

/// Friction of a contact.
#[derive(Clone, Copy, Debug)]
enum Friction {
    /// Springs in all directions, without limit.
    Bilateral,
    /// `‖f_t‖ ≤ μ f_n` by clipping.
    Clipped(f64),
    /// The same by projection.
    Associated(f64),
    /// `f_t = μ f_n` along a vector of length `μ`.
    Slides([f64; 2]),
}

/// Springs between blocks.
pub(super) struct Network<'a> {
    pub n_blocks: usize,
    sides: Vec<Side>,
    /// First side of each contact.
    start: Vec<u32>,
    friction: Vec<Friction>,
    stiffness: Vec<f64>,
    law: &'a ForceLaw,
    /// `k_t/k_n` [–].
    ratio: f64,
    required: &'a [[f64; 6]],
    /// Directions in which a block can move.
    pub free: Vec<[bool; 6]>,
    /// The arm that relates moments to forces [m].
    lengths: Vec<f64>,
    /// What errors of resultants are relative to [N].
    weights: Vec<f64>,
}

/// How forces follow from deformations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// The force law with Coulomb's friction.
    Coulomb,
    /// Linear springs without limits that hold contacts together.
    Closed,
}

impl<'a> Network<'a> {
    pub(super) fn new(
        problem: &RestProblem<'a>,
        law: &'a ForceLaw,
        friction: RestFriction,
        ratio: f64,
    ) -> Network<'a> {
        let w = problem.contacts;
        let n_blocks = w.n_blocks();
        let mut network = Network {
            n_blocks,
            sides: Vec::new(),
            start: vec![0],
            friction: Vec::new(),
            stiffness: problem.stiffness.to_vec(),
            law,
            ratio,
            required: problem.required,
            free: w.masses().iter().map(|m| directions(&m.linear, &m.angular)).collect(),
            lengths: vec![0.0; n_blocks],
            weights: problem.weights.to_vec(),
        };
        network.stiffness.resize(w.contacts().len(), 1.0);
        for (a, contact) in w.contacts().iter().enumerate() {
            network.push(w, a, contact);
            let sliding = problem.sliding.get(a).copied().flatten();
            network.friction.push(friction_of(problem.laws[a], sliding, friction, law));
        }
        for length in network.lengths.iter_mut().filter(|l| **l <= 0.0) {
            *length = 1.0;
        }
        network.scale();
        network
    }

    /// Adds the sides of a contact.
    fn push(&mut self, w: &Factored, a: usize, contact: &Contact3) {
        for (side, sign) in [(0, -1.0), (1, 1.0)] {
            let (block, arm) = (contact.blocks[side], contact.arms[side]);
            if block == Factored::NONE {
                continue;
            }
            let rows = contact.frame.map(|e| {
                let turn = cross(arm, e);
                [e[0], e[1], e[2], turn[0], turn[1], turn[2]].map(|x| sign * x)
            });
            self.sides.push(Side { block, rows });
            let length = &mut self.lengths[block as usize];
            *length = length.max(dot(arm, arm).sqrt());
        }
        for (first, h, _) in w.row_sides(a) {
            let n = h.len() / 3;
            for k in 0..n / 6 {
                let row = |i: usize| std::array::from_fn(|j| h[i * n + 6 * k + j]);
                let rows: [[f64; 6]; 3] = std::array::from_fn(row);
                let block = first + k as u32;
                for (j, free) in self.free[block as usize].iter_mut().enumerate() {
                    *free |= rows.iter().any(|row| row[j] != 0.0);
                }
                self.sides.push(Side { block, rows });
            }
        }
        self.start.push(self.sides.len() as u32);
    }

    /// Errors are relative to given weights, or else to the resultants; a body without one has the
    /// mean of the others.
    fn scale(&mut self) {
        if !self.weights.is_empty() {
            return;
        }
        let size = |b: usize| {
            let r = &self.required[b];
            let kept = |j: usize| if self.free[b][j] { r[j] } else { 0.0 };
            (0..3).map(|j| kept(j).powi(2)).sum::<f64>().sqrt()
                + (3..6).map(|j| kept(j).powi(2)).sum::<f64>().sqrt() / self.lengths[b]
        };
        self.weights = (0..self.n_blocks).map(size).collect();
        let loaded = self.weights.iter().filter(|w| **w > 0.0);
        let (sum, count) = loaded.fold((0.0, 0), |(sum, n), w| (sum + w, n + 1));
        let mean = if count > 0 { sum / f64::from(count) } else { 1.0 };
        self.weights.iter_mut().filter(|w| **w <= 0.0).for_each(|w| *w = mean);
    }

    /// Mean normal stiffness of the closed contacts, relative to [`Network::stiffness`] [N/m].
    pub(super) fn mean_stiffness(&self, xi: &[[f64; 3]]) -> f64 {
        let closed = xi.iter().enumerate().filter(|(_, xi)| xi[0] > 0.0);
        let (sum, all) = closed.fold((0.0, 0.0), |(sum, all), (a, xi)| {
            (sum + self.springs(a, xi[0], Rule::Coulomb)[1], all + self.stiffness[a])
        });
        if sum > 0.0 { sum / all } else { 1.0 }
    }

    /// Scales displacements of linear springs so that the sum of the normal forces is kept under
    /// the force law.
    pub(super) fn stretch(&self, dq: &mut [[f64; 6]]) {
        let closed = |a: usize| self.deformation(a, dq)[0].max(0.0);
        let xi: Vec<f64> = (0..self.n_contacts()).map(closed).collect();
        let sum = |rule: Rule, s: f64| -> f64 {
            xi.iter().enumerate().map(|(a, x)| self.springs(a, s * x, rule)[0]).sum()
        };
        let wanted = sum(Rule::Closed, 1.0);
        // Bisection over many orders of magnitude, in the logarithm.
        let (mut low, mut high) = (-40.0_f64, 40.0_f64);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if sum(Rule::Coulomb, middle.exp()) < wanted { low = middle } else { high = middle }
        }
        let s = low.exp();
        dq.as_flattened_mut().iter_mut().for_each(|x| *x *= s);
    }

    pub(super) fn n_contacts(&self) -> usize {
        self.friction.len()
    }

    pub(super) fn sides(&self, a: usize) -> &[Side] {
        &self.sides[self.start[a] as usize..self.start[a + 1] as usize]
    }

    /// For each block, the blocks with which it shares a contact.
    pub(super) fn neighbours(&self) -> Vec<Vec<u32>> {
        let mut neighbours = vec![Vec::new(); self.n_blocks];
        for a in 0..self.n_contacts() {
            let sides = self.sides(a);
            for i in sides {
                let others = sides.iter().map(|j| j.block).filter(|j| *j != i.block);
                neighbours[i.block as usize].extend(others);
            }
        }
        for list in &mut neighbours {
            list.sort_unstable();
            list.dedup();
        }
        neighbours
    }

    /// Deformation of a contact, `ξ = −Hᵀ δq` (37) [m].
    pub(super) fn deformation(&self, a: usize, dq: &[[f64; 6]]) -> [f64; 3] {
        let mut xi = [0.0; 3];
        for side in self.sides(a) {
            let dq = &dq[side.block as usize];
            for (xi, row) in xi.iter_mut().zip(&side.rows) {
                *xi -= row.iter().zip(dq).map(|(h, q)| h * q).sum::<f64>();
            }
        }
        xi
    }

    /// Normal force [N], normal stiffness and tangential stiffness [N/m] of a contact, and the
    /// derivative of the latter [N/m²].
    fn springs(&self, a: usize, xi_n: f64, rule: Rule) -> [f64; 4] {
        let k = self.stiffness[a];
        if let Rule::Closed = rule {
            return [k * xi_n, k, self.ratio * k, 0.0];
        }
        let (force, stiffness) = self.law.evaluate(a, xi_n);
        let (force, stiffness) = (k * force, k * stiffness);
        let (k_t, bend) = match self.law {
            // The tangential spring of a contact that opens is kept: only the limit acts.
            ForceLaw::Linear => (k, 0.0),
            ForceLaw::Hertz if xi_n > 0.0 => (stiffness, 0.5 * stiffness / xi_n),
            // The stiffness of a given law is differentiated numerically.
            ForceLaw::Given(law) if xi_n > 0.0 => {
                let small = 1e-6 * xi_n;
                (stiffness, (k * law.stiffness(a, xi_n + small) - stiffness) / small)
            }
            _ => (0.0, 0.0),
        };
        [force, stiffness, self.ratio * k_t, self.ratio * bend]
    }

    /// Force of a contact (38) [N] and what it does.
    pub(super) fn force(&self, a: usize, xi: [f64; 3], rule: Rule) -> ([f64; 3], ContactStatus) {
        let [f_n, _, k_t, _] = self.springs(a, xi[0], rule);
        match self.friction[a] {
            Friction::Bilateral => (xi.map(|x| self.stiffness[a] * x), ContactStatus::Sticking),
            Friction::Slides([x, y]) => {
                let status = if f_n > 0.0 { ContactStatus::Sliding } else { ContactStatus::Open };
                ([f_n, f_n * x, f_n * y], status)
            }
            Friction::Associated(mu) if rule == Rule::Coulomb => self.projected(a, xi, mu),
            Friction::Clipped(mu) | Friction::Associated(mu) => {
                let (pull, limit) = (k_t * length2(xi[1], xi[2]), limit(mu, f_n, rule));
                let s = if pull > limit { limit / pull } else { 1.0 };
                let status = match () {
                    () if f_n <= 0.0 => ContactStatus::Open,
                    () if pull < limit => ContactStatus::Sticking,
                    () => ContactStatus::Sliding,
                };
                ([f_n, s * k_t * xi[1], s * k_t * xi[2]], status)
            }
        }
    }

    /// Tangent `∂f/∂ξ` of a contact [N/m].
    pub(super) fn tangent(&self, a: usize, xi: [f64; 3], rule: Rule) -> [[f64; 3]; 3] {
        let [f_n, k_n, k_t, bend] = self.springs(a, xi[0], rule);
        let k = self.stiffness[a];
        match self.friction[a] {
            Friction::Bilateral => [[k, 0.0, 0.0], [0.0, k, 0.0], [0.0, 0.0, k]],
            Friction::Slides([x, y]) => [[k_n, 0.0, 0.0], [k_n * x, 0.0, 0.0], [k_n * y, 0.0, 0.0]],
            Friction::Associated(mu) if rule == Rule::Coulomb => self.projected_tangent(a, xi, mu),
            Friction::Clipped(mu) | Friction::Associated(mu) => {
                let (stretch, limit) = (length2(xi[1], xi[2]), limit(mu, f_n, rule));
                if k_t * stretch <= limit {
                    return [[k_n, 0.0, 0.0], [bend * xi[1], k_t, 0.0], [bend * xi[2], 0.0, k_t]];
                }
                let (x, y, across) = (xi[1] / stretch, xi[2] / stretch, limit / stretch);
                // The limit grows with the normal deformation.
                let grow = mu * k_n;
                [
                    [k_n, 0.0, 0.0],
                    [grow * x, across * y * y, -across * x * y],
                    [grow * y, -across * x * y, across * x * x],
                ]
            }
        }
    }

    /// The force of linear springs `(k_n ξ_n, k_t ξ_t)` projected onto Coulomb's cone in the norm of
    /// the elastic energy, `f_n²/k_n + ‖f_t‖²/k_t`, and what the contact does.
    fn projected(&self, a: usize, xi: [f64; 3], mu: f64) -> ([f64; 3], ContactStatus) {
        let (k_n, k_t) = (self.stiffness[a], self.ratio * self.stiffness[a]);
        let stretch = length2(xi[1], xi[2]);
        if k_t * stretch <= mu * k_n * xi[0] {
            return ([k_n * xi[0], k_t * xi[1], k_t * xi[2]], ContactStatus::Sticking);
        }
        let f_n = (xi[0] + mu * stretch) / (1.0 / k_n + mu * mu / k_t);
        if f_n <= 0.0 {
            return ([0.0; 3], ContactStatus::Open);
        }
        let s = if stretch > 0.0 { mu * f_n / stretch } else { 0.0 };
        ([f_n, s * xi[1], s * xi[2]], ContactStatus::Sliding)
    }

    /// Tangent of [`Network::projected`] [N/m], symmetric.
    fn projected_tangent(&self, a: usize, xi: [f64; 3], mu: f64) -> [[f64; 3]; 3] {
        let (k_n, k_t) = (self.stiffness[a], self.ratio * self.stiffness[a]);
        let stretch = length2(xi[1], xi[2]);
        if k_t * stretch <= mu * k_n * xi[0] {
            return [[k_n, 0.0, 0.0], [0.0, k_t, 0.0], [0.0, 0.0, k_t]];
        }
        let (along, k) = (xi[0] + mu * stretch, 1.0 / (1.0 / k_n + mu * mu / k_t));
        if along <= 0.0 || stretch <= 0.0 {
            return [[0.0; 3]; 3];
        }
        let (x, y, across) = (xi[1] / stretch, xi[2] / stretch, k * mu * along / stretch);
        let w = [1.0, mu * x, mu * y];
        let turn = [[0.0, 0.0, 0.0], [0.0, y * y, -x * y], [0.0, -x * y, x * x]];
        std::array::from_fn(|i| std::array::from_fn(|j| k * w[i] * w[j] + across * turn[i][j]))
    }

    /// The excess of the resultants, `H f − R`, on each block [N, N m]; 0 in locked directions.
    pub(super) fn excess(&self, forces: &[[f64; 3]], excess: &mut Vec<[f64; 6]>) {
        excess.clear();
        excess.extend(self.required.iter().map(|r| r.map(|x| -x)));
        for (a, f) in forces.iter().enumerate() {
            for side in self.sides(a) {
                let sum = &mut excess[side.block as usize];
                for (row, f) in side.rows.iter().zip(f) {
                    for (sum, h) in sum.iter_mut().zip(row) {
                        *sum += h * f;
                    }
                }
            }
        }
        for (excess, free) in excess.iter_mut().zip(&self.free) {
            for (x, free) in excess.iter_mut().zip(free) {
                if !free {
                    *x = 0.0;
                }
            }
        }
    }

    /// Deformations, forces and excess at some displacements; returns the largest error and the
    /// root mean square error of the resultants, relative to the weights [–].
    pub(super) fn evaluate(&self, dq: &[[f64; 6]], rule: Rule, at: &mut Point) -> [f64; 2] {
        at.xi.clear();
        at.xi.extend((0..self.n_contacts()).map(|a| self.deformation(a, dq)));
        at.forces.clear();
        at.forces.extend(at.xi.iter().enumerate().map(|(a, xi)| self.force(a, *xi, rule).0));
        self.excess(&at.forces, &mut at.excess);
        let errors = (0..self.n_blocks).map(|b| self.error(b, &at.excess[b]));
        let (worst, sum) = errors.fold((0.0, 0.0), |(w, s): (f64, f64), e| (w.max(e), s + e * e));
        [worst, (sum / self.n_blocks.max(1) as f64).sqrt()]
    }

    /// An error of a resultant relative to the weight of the block [–].
    pub(super) fn error(&self, b: usize, excess: &[f64; 6]) -> f64 {
        let [x, y, z, u, v, w] = *excess;
        let turn = (u * u + v * v + w * w).sqrt() / self.lengths[b];
        (x * x + y * y + z * z + turn * turn).sqrt() / self.weights[b]
    }

    /// The result at some displacements.
    pub(super) fn solution(
        &self,
        dq: &[[f64; 6]],
        tolerance: f64,
        iterations: usize,
    ) -> RestSolution {
        let mut solution = RestSolution::default();
        let report = &mut solution.report;
        for a in 0..self.n_contacts() {
            let (force, status) = self.force(a, self.deformation(a, dq), Rule::Coulomb);
            solution.forces.push(force);
            solution.status.push(status);
        }
        // Round-off does not decide whether a contact is open.
        let largest = solution.forces.iter().fold(0.0, |m: f64, f| m.max(f[0]));
        for ((f, status), friction) in
            solution.forces.iter().zip(&mut solution.status).zip(&self.friction)
        {
            if f[0] <= 1e-10 * largest && !matches!(friction, Friction::Bilateral) {
                *status = ContactStatus::Open;
            }
            match status {
                ContactStatus::Open => report.open += 1,
                ContactStatus::Sticking => report.sticking += 1,
                ContactStatus::Sliding => report.sliding += 1,
            }
        }
        let mut excess = Vec::new();
        self.excess(&solution.forces, &mut excess);
        let errors = excess.iter().enumerate().map(|(b, e)| (b as u32, self.error(b, e)));
        let mut unbalanced: Vec<(u32, f64)> = Vec::new();
        for (b, error) in errors {
            report.residual = report.residual.max(error);
            if error.is_nan() || error > tolerance {
                unbalanced.push((b, error));
            }
        }
        unbalanced.sort_by(|a, b| b.1.total_cmp(&a.1));
        *report = RestReport {
            converged: unbalanced.is_empty(),
            iterations,
            unbalanced,
            ..std::mem::take(report)
        };
        solution
    }
}

/// Deformations [m], forces [N] and excess of resultants [N, N m] at some displacements.
#[derive(Debug, Default)]
pub(super) struct Point {
    pub xi: Vec<[f64; 3]>,
    pub forces: Vec<[f64; 3]>,
    pub excess: Vec<[f64; 6]>,
}

/// Friction of a contact with this law, and the velocity with which it slides if it does.
fn friction_of(
    law: Law,
    sliding: Option<[f64; 2]>,
    friction: RestFriction,
    springs: &ForceLaw,
) -> Friction {
    let Some(mu) = law.friction() else { return Friction::Bilateral };
    match sliding {
        Some([x, y]) if length2(x, y) > 0.0 => {
            let s = -mu / length2(x, y);
            Friction::Slides([s * x, s * y])
        }
        _ if friction == RestFriction::Associated && matches!(springs, ForceLaw::Linear) => {
            Friction::Associated(mu)
        }
        _ => Friction::Clipped(mu),
    }
}

/// Limit of friction [N]; infinite if there is none.
fn limit(mu: f64, f_n: f64, rule: Rule) -> f64 {
    match rule {
        Rule::Coulomb => mu * f_n,
        Rule::Closed => f64::INFINITY,
    }
}

/// The directions in which a mass moves.
fn directions(linear: &[f64; 3], angular: &[f64; 6]) -> [bool; 6] {
    std::array::from_fn(|j| if j < 3 { linear[j] > 0.0 } else { angular[j - 3] > 0.0 })
}

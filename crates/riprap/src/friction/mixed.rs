//! Small dense problems with bilateral rows, unilateral rows and Coulomb contacts together, to full
//! accuracy: `y = D x + b`.
//!
//! A semi-smooth Newton method on the complementarity functions of Alart and Curnier, that is, an
//! active-set method with the exact friction cone. Redundant rows make `D` singular; a proximal
//! term, far below the accuracy of the result, then selects the solution nearest to the last
//! iterate. Where the active sets cycle, sweeps of Gauss–Seidel over the rows provide a new start.

use super::local::solve_contact;
use crate::math::dense::Lu;
use crate::math::length2;

/// The condition on one row, or on three rows of a contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Condition {
    /// `y = 0`.
    Bilateral,
    /// `0 ≤ y ⊥ x ≥ 0`.
    Unilateral,
    /// Signorini and Coulomb for the rows n, t1, t2.
    Coulomb {
        /// Coefficient of friction [–].
        friction: f64,
    },
}

impl Condition {
    /// Number of rows.
    pub fn rows(self) -> usize {
        if let Condition::Coulomb { .. } = self { 3 } else { 1 }
    }
}

/// Summary of a solve.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MixedReport {
    /// Whether every condition holds to rounding level.
    pub converged: bool,
    /// Newton iterations.
    pub iterations: usize,
    /// Largest error of a condition, in terms of `y`, relative to the largest of `|b|` and `|D x|` [–].
    pub error: f64,
}

/// A problem and its buffers.
#[derive(Clone, Debug, Default)]
pub struct Mixed {
    /// Number of rows.
    n: usize,
    /// `D`, row-major, symmetric and positive semidefinite.
    pub d: Vec<f64>,
    /// `b`.
    pub b: Vec<f64>,
    /// The unknowns: start values on entry, solution on return.
    pub x: Vec<f64>,
    /// Conditions, in the order of their rows.
    pub conditions: Vec<Condition>,
    y: Vec<f64>,
    residual: Vec<f64>,
    jacobian: Lu,
    best: Vec<f64>,
}

/// Errors below this fraction of the largest value are rounding [–].
const ROUNDING: f64 = 1e-13;
/// The proximal term, relative to the mean diagonal of `D` [–].
const PROXIMAL: f64 = 1e-12;
/// Newton iterations before Gauss–Seidel takes over.
const NEWTON: usize = 30;
/// Sweeps of Gauss–Seidel between two attempts of Newton's method.
const SWEEPS: usize = 200;
/// Attempts.
const ATTEMPTS: usize = 8;

impl Mixed {
    /// Empties the problem and sets its number of rows: `D` and `b` are zero, `x` keeps its values.
    pub fn reset(&mut self, n: usize) {
        self.n = n;
        self.conditions.clear();
        self.d.clear();
        self.d.resize(n * n, 0.0);
        self.b.clear();
        self.b.resize(n, 0.0);
        self.x.resize(n, 0.0);
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// Solves the problem from the values in `x`.
    pub fn solve(&mut self) -> MixedReport {
        let mut report = MixedReport { converged: true, ..MixedReport::default() };
        if self.n == 0 {
            return report;
        }
        let proximal = self.proximal();
        let mut best = f64::INFINITY;
        for attempt in 0..ATTEMPTS {
            for _ in 0..NEWTON {
                let error = self.evaluate();
                if error < best {
                    best = error;
                    self.best.clone_from(&self.x);
                }
                if error <= ROUNDING || !error.is_finite() {
                    break;
                }
                report.iterations += 1;
                self.step(proximal);
            }
            if best <= ROUNDING {
                break;
            }
            if attempt + 1 < ATTEMPTS {
                self.x.clone_from(&self.best);
                self.sweep();
            }
        }
        // The last digits of an ill-conditioned problem cannot be reached.
        report.converged = best <= 1e4 * ROUNDING;
        report.error = best;
        self.x.clone_from(&self.best);
        report
    }

    fn proximal(&self) -> f64 {
        let trace: f64 = (0..self.n).map(|i| self.d[i * (self.n + 1)]).sum();
        PROXIMAL * trace / self.n as f64
    }

    /// Velocity per impulse of a row, for the complementarity functions.
    fn scale(&self, i: usize) -> f64 {
        let d = self.d[i * (self.n + 1)];
        if d > 0.0 { d } else { 1.0 }
    }

    /// `y`, and the largest error of a condition relative to the values that enter it.
    fn evaluate(&mut self) -> f64 {
        let n = self.n;
        self.y.clear();
        let mut size = 0.0_f64;
        for i in 0..n {
            let row = &self.d[i * n..(i + 1) * n];
            let pushed: f64 = row.iter().zip(&self.x).map(|(d, x)| d * x).sum();
            let parts: f64 = row.iter().zip(&self.x).map(|(d, x)| (d * x).abs()).sum();
            size = size.max(self.b[i].abs()).max(parts);
            self.y.push(pushed + self.b[i]);
        }
        if size == 0.0 {
            size = 1.0;
        }
        let (mut worst, mut i) = (0.0_f64, 0);
        let x = &self.x;
        for condition in &self.conditions {
            let s = self.scale(i);
            let error = match *condition {
                Condition::Bilateral => self.y[i].abs(),
                Condition::Unilateral => (self.y[i].min(s * x[i])).abs(),
                Condition::Coulomb { friction } => {
                    let normal = (self.y[i].min(s * x[i])).abs();
                    let (z, limit, t) = self.trial(i, friction);
                    let shrink =
                        if length2(z[0], z[1]) > limit { limit / length2(z[0], z[1]) } else { 1.0 };
                    let off = [x[i + 1] - shrink * z[0], x[i + 2] - shrink * z[1]];
                    normal.max(t * length2(off[0], off[1]))
                }
            };
            // NaN must not pass as small.
            worst = if error <= worst { worst } else { error };
            i += condition.rows();
        }
        worst / size
    }

    /// Tangential trial impulse, its limit, and the scale of the tangential rows.
    fn trial(&self, i: usize, friction: f64) -> ([f64; 2], f64, f64) {
        let t = self.scale(i + 1).max(self.scale(i + 2));
        let z = [self.x[i + 1] - self.y[i + 1] / t, self.x[i + 2] - self.y[i + 2] / t];
        (z, friction * self.x[i].max(0.0), t)
    }

    /// One Newton step on the complementarity functions at `x`, after [`Mixed::evaluate`].
    fn step(&mut self, proximal: f64) {
        let n = self.n;
        let mut lu = std::mem::take(&mut self.jacobian);
        let a = lu.reset(n);
        self.residual.clear();
        self.residual.resize(n, 0.0);
        let mut i = 0;
        for c in 0..self.conditions.len() {
            let condition = self.conditions[c];
            let s = self.scale(i);
            let active = condition == Condition::Bilateral || self.x[i] - self.y[i] / s > 0.0;
            if active {
                self.impose(i, proximal, a);
            } else {
                self.release(i, s, a);
            }
            if let Condition::Coulomb { friction } = condition {
                let (z, limit, t) = self.trial(i, friction);
                let length = length2(z[0], z[1]);
                if !active || friction == 0.0 {
                    (1..3).for_each(|k| self.release(i + k, t, a));
                } else if length <= limit {
                    (1..3).for_each(|k| self.impose(i + k, proximal, a));
                } else {
                    self.slide(i, friction, z, length, limit, t, a);
                }
            }
            i += condition.rows();
        }
        lu.factor();
        lu.solve(&mut self.residual);
        for (x, dx) in self.x.iter_mut().zip(&self.residual) {
            *x -= dx;
        }
        self.jacobian = lu;
    }

    /// The row requires `y = 0`.
    fn impose(&mut self, i: usize, proximal: f64, a: &mut [f64]) {
        let n = self.n;
        a[i * n..(i + 1) * n].copy_from_slice(&self.d[i * n..(i + 1) * n]);
        a[i * (n + 1)] += proximal;
        self.residual[i] = self.y[i];
    }

    /// The row requires `x = 0`.
    fn release(&mut self, i: usize, s: f64, a: &mut [f64]) {
        a[i * (self.n + 1)] = s;
        self.residual[i] = s * self.x[i];
    }

    /// The tangential rows of a sliding contact: `x_t = μ x_n z/|z|` with `z = x_t − y_t/t`.
    fn slide(
        &mut self,
        i: usize,
        friction: f64,
        z: [f64; 2],
        length: f64,
        limit: f64,
        t: f64,
        a: &mut [f64],
    ) {
        let n = self.n;
        let e = [z[0] / length, z[1] / length];
        let ratio = limit / length;
        for k in 0..2 {
            let row = i + 1 + k;
            self.residual[row] = t * (self.x[row] - limit * e[k]);
            for j in 0..n {
                // ∂z = ∂x_t − D_t ∂x / t, turned by (1 − e eᵀ) and scaled by the limit.
                let mut change = 0.0;
                for (l, el) in e.iter().enumerate() {
                    let own = if j == i + 1 + l { 1.0 } else { 0.0 };
                    let dz = own - self.d[(i + 1 + l) * n + j] / t;
                    change += ((if l == k { 1.0 } else { 0.0 }) - e[k] * el) * dz;
                }
                let own = if j == row { 1.0 } else { 0.0 };
                a[row * n + j] = t * (own - ratio * change);
            }
            a[row * n + i] -= t * friction * e[k];
        }
    }

    /// Sweeps of Gauss–Seidel with exact solutions of each row and contact.
    fn sweep(&mut self) {
        let n = self.n;
        for _ in 0..SWEEPS {
            let mut i = 0;
            for condition in &self.conditions {
                let without = |row: usize, x: &[f64]| {
                    let own = i..i + condition.rows();
                    let all = self.d[row * n..(row + 1) * n].iter().zip(x).enumerate();
                    let others = all.filter(|(j, _)| !own.contains(j)).map(|(_, (d, x))| d * x);
                    others.sum::<f64>() + self.b[row]
                };
                let d = self.d[i * (n + 1)];
                match *condition {
                    Condition::Bilateral | Condition::Unilateral if d > 0.0 => {
                        let x = -without(i, &self.x) / d;
                        let bilateral = *condition == Condition::Bilateral;
                        self.x[i] = if bilateral { x } else { x.max(0.0) };
                    }
                    Condition::Coulomb { friction } if d > 0.0 => {
                        let q = [0, 1, 2].map(|k| without(i + k, &self.x));
                        let w = [0, 1, 2].map(|k| [0, 1, 2].map(|l| self.d[(i + k) * n + i + l]));
                        self.x[i..i + 3].copy_from_slice(&solve_contact(&w, q, friction));
                    }
                    _ => {}
                }
                i += condition.rows();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::fixtures::{Rng, seeded};
    use nalgebra::DMatrix;
    use rand::RngExt;

    /// A random problem with `D = G Gᵀ` of the given rank.
    fn random(rng: &mut Rng, conditions: Vec<Condition>, rank: usize) -> Mixed {
        let n: usize = conditions.iter().map(|c| c.rows()).sum();
        let g = DMatrix::from_fn(n, rank, |_, _| rng.random_range(-1.0..1.0));
        let (d, v) =
            (&g * g.transpose(), DMatrix::from_fn(rank, 1, |_, _| rng.random_range(-1.0..1.0)));
        let mut problem = Mixed::default();
        problem.reset(n);
        problem.d.copy_from_slice(d.as_slice());
        // In the range of G, so that redundant bilateral rows are consistent.
        problem.b.copy_from_slice((&g * v).as_slice());
        problem.conditions = conditions;
        problem
    }

    fn value(p: &Mixed, i: usize) -> f64 {
        let n = p.len();
        p.d[i * n..(i + 1) * n].iter().zip(&p.x).map(|(d, x)| d * x).sum::<f64>() + p.b[i]
    }

    #[test]
    fn an_empty_problem_is_solved() {
        let mut p = Mixed::default();
        p.reset(0);
        assert!(p.solve().converged && p.is_empty());
    }

    #[test]
    fn random_problems_satisfy_their_conditions() {
        let mut rng = seeded(61);
        for case in 0..300 {
            let friction = rng.random_range(0.0..1.2);
            let mut conditions = vec![Condition::Bilateral; case % 3];
            conditions.extend(vec![Condition::Unilateral; case % 4]);
            conditions.extend(vec![Condition::Coulomb { friction }; case % 5]);
            let n: usize = conditions.iter().map(|c| c.rows()).sum();
            let mut p = random(&mut rng, conditions, n + 2);
            let report = p.solve();
            assert!(report.converged, "case {case}: {report:?}");
            let mut i = 0;
            for condition in p.conditions.clone() {
                let (x, y) = (p.x[i], value(&p, i));
                match condition {
                    Condition::Bilateral => assert!(y.abs() < 1e-10),
                    Condition::Unilateral => {
                        assert!(x > -1e-10 && y > -1e-10 && (x * y).abs() < 1e-8);
                    }
                    Condition::Coulomb { friction } => {
                        assert!(x > -1e-10 && y > -1e-10 && (x * y).abs() < 1e-8);
                        let t = length2(p.x[i + 1], p.x[i + 2]);
                        assert!(t <= friction * x + 1e-10);
                        let slip = [value(&p, i + 1), value(&p, i + 2)];
                        // Dissipation is largest: power = −μ x_n |slip|.
                        let power = slip[0] * p.x[i + 1] + slip[1] * p.x[i + 2];
                        let expected = -friction * x * length2(slip[0], slip[1]);
                        assert!((power - expected).abs() < 1e-8, "{power} {expected}");
                    }
                }
                i += condition.rows();
            }
        }
    }

    #[test]
    fn redundant_rows_share_the_load_and_are_solved() {
        let mut rng = seeded(62);
        for case in 0..100 {
            // More rows than the rank: four corners of a box on a plane.
            let mut p = random(&mut rng, vec![Condition::Unilateral; 6], 3);
            let report = p.solve();
            assert!(report.converged, "case {case}: {report:?}");
            for i in 0..6 {
                let (x, y) = (p.x[i], value(&p, i));
                assert!(x > -1e-9 && y > -1e-9 && (x * y).abs() < 1e-8, "{x} {y}");
            }
            let mut p = random(&mut rng, vec![Condition::Bilateral; 5], 3);
            assert!(p.solve().converged);
            assert!((0..5).all(|i| value(&p, i).abs() < 1e-9));
        }
    }

    #[test]
    fn one_contact_agrees_with_the_exact_local_solver() {
        let mut rng = seeded(63);
        for _ in 0..200 {
            let friction = rng.random_range(0.0..1.0);
            let mut p = random(&mut rng, vec![Condition::Coulomb { friction }], 5);
            let w = [0, 1, 2].map(|k| [0, 1, 2].map(|l| p.d[3 * k + l]));
            let expected = solve_contact(&w, [p.b[0], p.b[1], p.b[2]], friction);
            assert!(p.solve().converged);
            let off = (0..3).map(|k| (p.x[k] - expected[k]).abs()).fold(0.0, f64::max);
            assert!(off < 1e-8 * (1.0 + expected[0]), "{off:.1e}");
        }
    }
}

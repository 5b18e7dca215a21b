//! The alternating direction method of multipliers (ADMM) for exact friction, accelerated by
//! Anderson's method: impulses that obey the equations of motion and impulses in the cones approach
//! each other. `W + ρ` is factorized once per penalty `ρ`, whatever contacts are open or slide, and
//! no conditioning of `W` slows the iteration down.
//!
//! With `y = r + ξ`, `r = P(y)` in the cones and the multipliers `û = −ρ ξ`, an iteration is
//! `y ← y − (W + ρ)⁻¹ (W r + q + s + ρ ξ)` with the shift `s = μ ρ ‖ξ_t‖ n` of De Saxcé. The
//! velocities are those of `W` itself, so errors of the factors do not change the solution.

use super::anderson::{differ, dot, least, subtract};
use super::order::Order;
use super::packed::{Iterate, Packed};
use super::symmetric::Symmetric;
use super::{Law, Measure};
use crate::math::length2;

/// Number of iterations combined.
const MEMORY: usize = 10;
/// A combination may make the step grow by this factor.
const GROWTH: f64 = 2.0;
/// The first penalty, in units of the mean mobility, and its bounds.
const PENALTY: f64 = 0.1;
const PENALTIES: [f64; 2] = [1e-7, 1e4];
/// Iterations before the penalty is adapted for the first time.
const ADAPT: usize = 20;
/// Ratio of the two residuals beyond which it is, and the largest factor.
const UNBALANCED: f64 = 3.0;
const LARGEST: f64 = 20.0;

/// State of the iteration.
#[derive(Clone, Debug, Default)]
pub(super) struct Splitting {
    matrix: Symmetric,
    rho: f64,
    y: Vec<[f64; 3]>,
    /// The step `y⁺ − y` with opposite sign, and the last one.
    step: Vec<[f64; 3]>,
    last_step: Vec<[f64; 3]>,
    /// The last result, and differences of results and of steps.
    last: Vec<[f64; 3]>,
    given: [Vec<[f64; 3]>; MEMORY],
    changed: [Vec<[f64; 3]>; MEMORY],
    gram: [[f64; MEMORY]; MEMORY],
    len: usize,
    next: usize,
    begun: bool,
    /// Whether `y` is a combination, and the square of the step before it.
    combined: bool,
    before: f64,
    /// Iterations since the penalty changed, and before it may change again.
    since: usize,
    wait: usize,
    /// Number of iterations, and multiplications so far.
    pub(super) count: usize,
    pub(super) work: f64,
}

impl Splitting {
    /// Finds the pattern of the factors. Returns false if they take more than `most` multiplications.
    pub(super) fn plan(&mut self, packed: &Packed, order: &Order, most: f64) -> bool {
        self.matrix.plan(packed, order, most)
    }

    /// Multiplications of a factorization, and of an iteration.
    pub(super) fn works(&self, packed: &Packed) -> [f64; 2] {
        let [factor, solve] = self.matrix.work();
        [factor, solve + packed.work() + 150.0 * packed.len() as f64]
    }

    /// Starts from impulses and their velocities, with the last penalty. Returns false if `W + ρ` is
    /// singular.
    pub(super) fn start(&mut self, packed: &Packed, at: &Iterate) -> bool {
        let again = self.rho > 0.0;
        let rho = if again { self.rho } else { PENALTY };
        self.y.clear();
        let n = packed.len();
        self.y.extend((0..n).map(|a| {
            let (r, u) = (at.r[a], at.u[a]);
            let shift = shift(packed.laws[a], [u[1], u[2]]);
            [r[0] - (u[0] + shift) / rho, r[1] - u[1] / rho, r[2] - u[2] / rho]
        }));
        if again {
            self.forget();
            return true;
        }
        self.wait = ADAPT;
        self.set_penalty(packed, rho)
    }

    fn set_penalty(&mut self, packed: &Packed, rho: f64) -> bool {
        self.forget();
        self.since = 0;
        self.rho = rho;
        self.work += self.matrix.work()[0];
        self.matrix.factor(packed, rho)
    }

    fn forget(&mut self) {
        (self.len, self.next, self.begun, self.combined) = (0, 0, false, false);
    }

    /// One iteration. Returns the residual of the impulses in `at`; infinite if a matrix is singular.
    pub(super) fn next(
        &mut self,
        packed: &Packed,
        at: &mut Iterate,
        measure: Measure,
        enough: f64,
    ) -> f64 {
        self.count += 1;
        self.since += 1;
        self.work += self.works(packed)[1];
        at.r.clear();
        let laws = packed.laws.iter();
        at.r.extend(self.y.iter().zip(laws).map(|(y, law)| law.project(*y, f64::INFINITY)));
        packed.velocities(at);
        let now = packed.relative(at, measure);
        if now <= enough || !now.is_finite() {
            return now;
        }
        let rho = self.rho;
        self.step.clear();
        self.step.extend((0..packed.len()).map(|a| {
            let (r, u, y) = (at.r[a], at.u[a], self.y[a]);
            let dual: [f64; 3] = std::array::from_fn(|i| rho * (y[i] - r[i]));
            let shift = shift(packed.laws[a], [dual[1], dual[2]]);
            [u[0] + dual[0] + shift, u[1] + dual[1], u[2] + dual[2]]
        }));
        self.matrix.solve(&mut self.step);
        let size = dot(&self.step, &self.step);
        if !size.is_finite() {
            return f64::INFINITY;
        }
        if self.combined && size > GROWTH * GROWTH * self.before {
            // Back to the result before the combination.
            self.y.clone_from(&self.last);
            self.forget();
            return now;
        }
        self.before = size;
        subtract(&mut self.y, &self.step, 1.0);
        if self.since >= self.wait && self.adapt(packed, at) {
            return now;
        }
        self.note();
        self.combine();
        now
    }

    /// Balances the distance of the two impulses and the change of those in the cones by another
    /// penalty. Returns whether it changed.
    fn adapt(&mut self, packed: &Packed, at: &Iterate) -> bool {
        let (mut gap, mut moved, mut impulses, mut dual) = (0.0, 0.0, 0.0, 0.0);
        for a in 0..packed.len() {
            let (y, r) = (self.y[a], at.r[a]);
            let new = packed.laws[a].project(y, f64::INFINITY);
            for i in 0..3 {
                gap += (r[i] - self.step[a][i] - new[i]).powi(2);
                moved += (new[i] - r[i]).powi(2);
                impulses += new[i] * new[i];
                dual += (y[i] - new[i]).powi(2);
            }
        }
        // Both relative; the penalty cancels in the second one.
        let ratio = (gap * dual / (moved * impulses)).powf(0.25);
        if !ratio.is_finite() || (1.0 / UNBALANCED..UNBALANCED).contains(&ratio) {
            return false;
        }
        let rho =
            (self.rho * ratio.clamp(1.0 / LARGEST, LARGEST)).clamp(PENALTIES[0], PENALTIES[1]);
        if rho == self.rho {
            return false;
        }
        // The multipliers stay.
        let factor = self.rho / rho;
        for (y, law) in self.y.iter_mut().zip(&packed.laws) {
            let r = law.project(*y, f64::INFINITY);
            *y = std::array::from_fn(|i| r[i] + factor * (y[i] - r[i]));
        }
        self.wait += self.wait / 4;
        self.set_penalty(packed, rho)
    }

    /// Records the result of an iteration.
    fn note(&mut self) {
        if self.begun {
            let k = self.next;
            differ(&self.y, &self.last, &mut self.given[k]);
            differ(&self.step, &self.last_step, &mut self.changed[k]);
            self.next = (k + 1) % MEMORY;
            self.len = (self.len + 1).min(MEMORY);
            for j in 0..self.len {
                let product = dot(&self.changed[j], &self.changed[k]);
                (self.gram[j][k], self.gram[k][j]) = (product, product);
            }
        }
        self.begun = true;
        self.last.clone_from(&self.y);
        self.last_step.clone_from(&self.step);
    }

    /// Moves `y` to the combination of the last results with the least step.
    fn combine(&mut self) {
        self.combined = false;
        let n = self.len;
        if n < 2 {
            return;
        }
        let along = std::array::from_fn(|i| match i < n {
            true => dot(&self.changed[i], &self.step),
            false => 0.0,
        });
        let Some(factors) = least(&self.gram, &along, n) else { return };
        for (given, factor) in self.given[..n].iter().zip(factors) {
            subtract(&mut self.y, given, factor);
        }
        self.combined = true;
    }
}

/// `μ ‖u_t‖`.
fn shift(law: Law, u: [f64; 2]) -> f64 {
    law.friction().map_or(0.0, |friction| friction * length2(u[0], u[1]))
}

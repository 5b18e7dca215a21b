//! The alternating direction method of multipliers (ADMM) with adaptive penalty, for badly scaled
//! problems: `N + ρ` is factorized, so that no conditioning of `N` slows the method down.

use super::cholesky::Cholesky;
use super::{Apgd, ConeOptions, ConeProblem, Velocities, Watch, dot, solve_with};
use crate::friction::{Buffers, ContactProblem, ContactSolver, Impulses, Scratch, SolveReport};
use crate::math::bytes_of;

/// Over-relaxation of the steps (Boyd et al. 2011, Section 3.4.3).
const RELAXATION: f64 = 1.6;
/// Penalty of bilateral rows relative to the others: they need no second copy, only a matrix that
/// is not singular.
const BILATERAL: f64 = 1e-4;
/// First number of iterations after which the penalty is adapted; the intervals grow.
const ADAPT: usize = 10;
/// Ratio of the residuals beyond which the penalty changes.
const UNBALANCED: f64 = 3.0;
/// Largest number of entries of the factor.
const MOST: usize = 100_000_000;

/// ADMM for cone complementarity problems: `γ` minimizes the value plus a penalty on its distance
/// from `z` in the cones, `z` is its projection, and `w` sums up what remains.
///
/// The penalty `ρ` balances the two residuals. An iteration costs a solve with the factors of `N + ρ`;
/// each change of `ρ` a factorization. Problems whose factors would have more than 1e8 entries are
/// solved by [`Apgd`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Admm {
    /// When to stop.
    pub options: ConeOptions,
}

impl Admm {
    /// Stops at a residual [–]; see [`ConeOptions::tolerance`].
    pub fn tolerance(tolerance: f64) -> Admm {
        Admm { options: ConeOptions::tolerance(tolerance) }
    }
}

impl ContactSolver for Admm {
    fn improve(
        &self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        scratch: &mut Scratch,
    ) -> SolveReport {
        let mut too_large = false;
        let report =
            solve_with(&self.options, problem, impulses, scratch, |cone, x, watch, scratch| {
                too_large = !run(cone, x, watch, scratch);
            });
        if too_large {
            return Apgd { options: self.options }.improve(problem, impulses, scratch);
        }
        report
    }
}

/// Buffers of the method.
#[derive(Default)]
struct Copies {
    factors: Cholesky,
    /// `ρ` of each row.
    penalty: Vec<f64>,
    /// The projected copy `z`, its last value, and the multipliers `w` divided by `ρ`.
    z: Vec<f64>,
    last: Vec<f64>,
    w: Vec<f64>,
    work: Vec<f64>,
    v: Velocities,
}

impl Buffers for Copies {
    fn bytes(&self) -> usize {
        let lists = [&self.penalty, &self.z, &self.last, &self.w, &self.work];
        lists.into_iter().map(bytes_of).sum::<usize>() + bytes_of(&self.v)
    }
}

impl Copies {
    /// Sets the penalty and factorizes.
    fn set_penalty(&mut self, cone: &ConeProblem, rho: f64) -> bool {
        self.penalty.clear();
        self.penalty.resize(cone.n_rows(), rho);
        for rows in cone.cones.iter().filter(|rows| rows.set == super::problem::Set::All) {
            self.penalty[rows.range()].fill(BILATERAL * rho);
        }
        self.factors.factor(&self.penalty)
    }

    /// One iteration; returns the residuals of the two conditions, `‖γ − z‖` and `‖ρ (z − z_last)‖`,
    /// each relative to its terms.
    fn iterate(&mut self, cone: &ConeProblem, x: &mut [f64]) -> (f64, f64) {
        for i in 0..x.len() {
            x[i] = self.penalty[i] * (self.z[i] - self.w[i]) - cone.free[i];
        }
        self.factors.solve(x, &mut self.work);
        self.last.clone_from(&self.z);
        for i in 0..x.len() {
            let relaxed = RELAXATION * x[i] + (1.0 - RELAXATION) * self.last[i];
            self.z[i] = relaxed + self.w[i];
            self.w[i] = self.z[i];
        }
        cone.project(&mut self.z);
        let (mut primal, mut dual, mut force) = (0.0, 0.0, 0.0);
        for i in 0..x.len() {
            self.w[i] -= self.z[i];
            let (gap, moved) = (x[i] - self.z[i], self.penalty[i] * (self.z[i] - self.last[i]));
            primal += gap * gap;
            dual += moved * moved;
            force += (self.penalty[i] * self.w[i]).powi(2);
        }
        let size = dot(x, x).max(dot(&self.z, &self.z)).sqrt();
        let force = force.max(dot(&cone.free, &cone.free)).sqrt();
        (primal.sqrt() / size, dual.sqrt() / force)
    }
}

/// Returns false if the factors would be too large.
fn run(cone: &ConeProblem, x: &mut Vec<f64>, watch: &mut Watch, scratch: &mut Scratch) -> bool {
    let it = scratch.of::<Copies>();
    let square = cone.start(x, &mut it.v);
    if watch.note(cone, x, &it.v) || !(square + dot(&cone.free, &cone.free)).is_finite() {
        return true;
    }
    if !it.factors.plan(cone, MOST) {
        return false;
    }
    // The diagonal of `N` is one.
    let mut rho = 0.1;
    if !it.set_penalty(cone, rho) {
        return true;
    }
    it.z.clone_from(x);
    // Multipliers of a solution: ρ w = −(N γ + r).
    it.w.clear();
    for (c, rows) in cone.cones.iter().enumerate() {
        let gradient = cone.gradient(c, &it.v).into_iter();
        it.w.extend(gradient.zip(&it.penalty[rows.range()]).map(|(g, rho)| -g / rho));
    }
    let (mut next_change, mut interval) = (ADAPT, ADAPT);
    while watch.next() {
        let (primal, dual) = it.iterate(cone, x);
        cone.start(&it.z, &mut it.v);
        let done = watch.note(cone, &it.z, &it.v);
        if done || !(primal + dual).is_finite() {
            return true;
        }
        let ratio = (primal / dual).sqrt().clamp(1e-3, 1e3);
        if watch.iterations >= next_change && !(1.0 / UNBALANCED..UNBALANCED).contains(&ratio) {
            interval += interval / 4;
            next_change = watch.iterations + interval;
            let new = (rho * ratio).clamp(1e-10, 1e6);
            it.w.iter_mut().for_each(|w| *w *= rho / new);
            rho = new;
            if !it.set_penalty(cone, rho) {
                return true;
            }
        }
    }
    true
}

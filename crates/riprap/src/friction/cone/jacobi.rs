//! The fixed point of Anitescu and Tasora (2010) in the order of Jacobi: all constraints take a
//! projected gradient step at once, and the sum of their steps is shortened where they work against
//! each other.

use super::{ConeOptions, ConeProblem, Watch, dot, solve_with};
use crate::friction::{Buffers, ContactProblem, ContactSolver, Impulses, Scratch, SolveReport};
use crate::math::bytes_of;

/// Iterations after which the gradient, updated by differences, is computed from scratch.
const REFRESH: usize = 50;

/// Projected Jacobi for cone complementarity problems: `γ ← γ + λ (P(γ − ω η u) − γ)`, where `1/η_i` bounds the
/// eigenvalues of the block `N_ii`.
///
/// A fixed `λ` diverges where many contacts meet at a body. Here `λ` minimizes the value along the
/// step, up to a maximum: the value falls in every iteration.
#[derive(Clone, Copy, Debug)]
pub struct ProjectedJacobi {
    /// When to stop.
    pub options: ConeOptions,
    /// Step length `ω` relative to the bound of each block [–].
    pub omega: f64,
    /// Largest share `λ` of the step [–], 0 to 1.
    pub lambda: f64,
}

impl Default for ProjectedJacobi {
    /// `ω = 1`, `λ ≤ 1`.
    fn default() -> Self {
        ProjectedJacobi { options: ConeOptions::default(), omega: 1.0, lambda: 1.0 }
    }
}

impl ProjectedJacobi {
    /// Stops at a residual [–]; see [`ConeOptions::tolerance`].
    pub fn tolerance(tolerance: f64) -> ProjectedJacobi {
        ProjectedJacobi { options: ConeOptions::tolerance(tolerance), ..Default::default() }
    }

    fn run(&self, cone: &ConeProblem, x: &mut [f64], watch: &mut Watch, scratch: &mut Scratch) {
        let Steps { gradient, step, n_step, velocity } = scratch.of::<Steps>();
        cone.gradient(x, gradient, velocity);
        if watch.note(cone, x, gradient) {
            return;
        }
        while watch.next() {
            let least = self.step(cone, x, gradient, step);
            cone.apply(step, n_step, velocity);
            // The projection guarantees a slope of at least `least`; near the solution the product
            // is round-off.
            let slope = (-dot(gradient, step)).max(least);
            let curvature = dot(step, n_step);
            if !(slope + curvature).is_finite() {
                return;
            }
            let lambda = if curvature > 0.0 { slope / curvature } else { self.lambda };
            let lambda = lambda.min(self.lambda);
            for i in 0..x.len() {
                x[i] += lambda * step[i];
                gradient[i] += lambda * n_step[i];
            }
            let done = watch.note(cone, x, gradient);
            if done || watch.iterations.is_multiple_of(REFRESH) {
                cone.gradient(x, gradient, velocity);
                if done && watch.note(cone, x, gradient) {
                    return;
                }
            }
        }
    }
}

impl ProjectedJacobi {
    /// The steps of all constraints, `P(γ − ω η u) − γ`. Returns `Σ ‖step‖² / ω η`, at most the
    /// decrease of the value per share of the step.
    fn step(&self, cone: &ConeProblem, x: &[f64], gradient: &[f64], step: &mut Vec<f64>) -> f64 {
        step.clear();
        step.extend_from_slice(x);
        let mut least = 0.0;
        for rows in &cone.cones {
            let length = self.omega / rows.bound;
            rows.range().for_each(|k| step[k] -= length * gradient[k]);
            rows.set.project(&mut step[rows.range()]);
            for k in rows.range() {
                step[k] -= x[k];
                least += step[k] * step[k] / length;
            }
        }
        least
    }
}

/// Buffers of the method.
#[derive(Default)]
struct Steps {
    gradient: Vec<f64>,
    /// The step, and `N` times it.
    step: Vec<f64>,
    n_step: Vec<f64>,
    velocity: Vec<[f64; 6]>,
}

impl Buffers for Steps {
    fn bytes(&self) -> usize {
        let lists = [&self.gradient, &self.step, &self.n_step];
        lists.into_iter().map(bytes_of).sum::<usize>() + bytes_of(&self.velocity)
    }
}

impl ContactSolver for ProjectedJacobi {
    fn improve(
        &self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        scratch: &mut Scratch,
    ) -> SolveReport {
        solve_with(&self.options, problem, impulses, scratch, |cone, x, watch, scratch| {
            self.run(cone, x, watch, scratch);
        })
    }
}

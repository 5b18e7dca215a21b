//! The fixed point of Anitescu and Tasora (2010) in the order of Jacobi: all constraints take a
//! projected gradient step at once, and the sum of their steps is shortened where they work against
//! each other.

use super::{ConeOptions, ConeProblem, Velocities, Watch, add, dot3, solve_with};
use crate::friction::{Buffers, ContactProblem, ContactSolver, Impulses, Scratch, SolveReport};
use crate::math::bytes_of;

/// Iterations after which the velocities, updated by differences, are computed from scratch.
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
        let Steps { step, v, v_step } = scratch.of::<Steps>();
        cone.start(x, v);
        if watch.note(cone, x, v) {
            return;
        }
        while watch.next() {
            // Slope of the value along the step, and what the projection guarantees: near the
            // solution the product is round-off.
            let (mut slope, mut least) = (0.0, 0.0);
            let curvature = cone.step(v, (step, v_step), |rows, gradient| {
                let (x, length) = (rows.load(x), self.omega / rows.bound);
                let new = rows.descend(x, length, gradient);
                let step = [new[0] - x[0], new[1] - x[1], new[2] - x[2]];
                slope -= dot3(gradient, step);
                least += dot3(step, step) / length;
                step
            });
            let slope = f64::max(slope, least);
            if !(slope + curvature).is_finite() {
                return;
            }
            let lambda = if curvature > 0.0 { slope / curvature } else { self.lambda };
            let lambda = lambda.min(self.lambda);
            add(x, lambda, step);
            add(v.as_flattened_mut(), lambda, v_step.as_flattened());
            let done = watch.note(cone, x, v);
            if done || watch.iterations.is_multiple_of(REFRESH) {
                cone.start(x, v);
                if done && watch.note(cone, x, v) {
                    return;
                }
            }
        }
    }
}

/// Buffers of the method.
#[derive(Default)]
struct Steps {
    step: Vec<f64>,
    /// The velocities of the iterate and of the step.
    v: Velocities,
    v_step: Velocities,
}

impl Buffers for Steps {
    fn bytes(&self) -> usize {
        bytes_of(&self.step) + bytes_of(&self.v) + bytes_of(&self.v_step)
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

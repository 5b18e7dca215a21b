//! The fixed point of Anitescu and Tasora (2010) in the order of Gauss–Seidel: one constraint after
//! another takes a projected gradient step with the latest velocities.

use super::{ConeOptions, ConeProblem, Velocities, Watch, solve_with};
use crate::friction::{Buffers, ContactProblem, ContactSolver, Impulses, Scratch, SolveReport};
use crate::math::bytes_of;

/// Projected Gauss–Seidel for cone complementarity problems: `γ_i ← λ P(γ_i − ω η_i u_i) + (1 − λ) γ_i`, where
/// `1/η_i` bounds the eigenvalues of the block `N_ii`. The value falls in every sweep for
/// `0 < ω < 2`, `0 < λ ≤ 1`.
#[derive(Clone, Copy, Debug)]
pub struct ProjectedGaussSeidel {
    /// When to stop.
    pub options: ConeOptions,
    /// Step length `ω` relative to the bound of each block [–], 0 to 2.
    pub omega: f64,
    /// Share `λ` of the new impulse [–], 0 to 1.
    pub lambda: f64,
}

impl Default for ProjectedGaussSeidel {
    /// `ω = 1`, `λ = 1`.
    fn default() -> Self {
        ProjectedGaussSeidel { options: ConeOptions::default(), omega: 1.0, lambda: 1.0 }
    }
}

impl ProjectedGaussSeidel {
    /// Stops at a residual [–]; see [`ConeOptions::tolerance`].
    pub fn tolerance(tolerance: f64) -> ProjectedGaussSeidel {
        ProjectedGaussSeidel { options: ConeOptions::tolerance(tolerance), ..Default::default() }
    }

    fn run(&self, cone: &ConeProblem, x: &mut [f64], watch: &mut Watch, scratch: &mut Scratch) {
        let Moving { v } = scratch.of::<Moving>();
        cone.start(x, v);
        if watch.note(cone, x, v) {
            return;
        }
        let mut next_check = 1;
        while watch.next() {
            self.sweep(cone, x, v);
            // The residual costs as much as a sweep.
            if watch.iterations >= next_check || watch.iterations == watch.options.max_iterations {
                next_check = watch.iterations + 1 + watch.iterations / 10;
                cone.start(x, v);
                if watch.note(cone, x, v) || x.iter().any(|x| !x.is_finite()) {
                    return;
                }
            }
        }
    }

    fn sweep(&self, cone: &ConeProblem, x: &mut [f64], v: &mut Velocities) {
        for (c, rows) in cone.cones.iter().enumerate() {
            let old = rows.load(x);
            let new = rows.descend(old, self.omega / rows.bound, cone.gradient(c, v));
            let change: [f64; 3] = std::array::from_fn(|i| self.lambda * (new[i] - old[i]));
            if change != [0.0; 3] {
                rows.store(std::array::from_fn(|i| old[i] + change[i]), x);
                cone.add(c, change, v);
            }
        }
    }
}

/// Buffers of the method.
#[derive(Default)]
struct Moving {
    /// The velocities of the iterate.
    v: Velocities,
}

impl Buffers for Moving {
    fn bytes(&self) -> usize {
        bytes_of(&self.v)
    }
}

impl ContactSolver for ProjectedGaussSeidel {
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

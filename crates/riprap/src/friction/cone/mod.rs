//! The cone complementarity problem (CCP): the convex relaxation of the contact problem,
//! `γ ∈ Υ ⊥ −(N γ + r) ∈ Υ°`, or: minimize `½ γᵀ N γ + rᵀ γ` over Coulomb's cones. Its solvers, one
//! file each.
//!
//! They solve problems with [`super::Law::Cone`] and [`super::Law::Bilateral`]. [`super::Law::Coulomb`] is relaxed and
//! judged by its exact residual: solved if no contact slides. Problems with rolling resistance are
//! delegated to [`ConjugateGradient`].

mod admm;
mod apgd;
mod barzilai_borwein;
mod cholesky;
mod factors;
mod gauss_seidel;
#[cfg(feature = "interior-point")]
mod interior_point;
mod jacobi;
mod matrix;
mod problem;
mod triangle;

pub use admm::Admm;
pub use apgd::Apgd;
pub use barzilai_borwein::BarzilaiBorwein;
pub use gauss_seidel::ProjectedGaussSeidel;
#[cfg(feature = "interior-point")]
pub use interior_point::InteriorPoint;
pub use jacobi::ProjectedJacobi;
pub use problem::ConeProblem;

use super::criteria::Criterion;
use super::factored::dot as dot3;
use super::{
    ConjugateGradient, ContactProblem, ContactSolver, GaussSeidelOptions, Impulses, Law, Measure,
    Scratch, SolveReport, residual,
};
use crate::math::bytes_of;
use problem::Velocities;

/// Options of the solvers of cone complementarity problems. A solve stops when both criteria hold.
///
/// ```
/// use riprap::friction::{Apgd, ConeOptions};
///
/// let options = ConeOptions { max_iterations: 500, ..ConeOptions::tolerance(1e-6) };
/// let solver = Apgd { options };
/// # let _ = solver;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ConeOptions {
    /// Natural-map residual in the given measure [–].
    pub tolerance: f64,
    /// Worst approach velocity × dt relative to [`crate::scene::Scene::resolution`] [–]: the
    /// penetration one step may add.
    pub approach_tolerance: f64,
    /// Iterations before giving up; the best iterate is kept and reported as unconverged.
    pub max_iterations: usize,
    /// Reference of the residual.
    pub measure: Measure,
}

impl ConeOptions {
    /// For time steps: both criteria derived from one residual tolerance [–], relative to the
    /// impulses.
    pub fn tolerance(tolerance: f64) -> ConeOptions {
        ConeOptions {
            tolerance,
            approach_tolerance: tolerance,
            max_iterations: 10_000,
            measure: Measure::Impulses,
        }
    }

    /// For stored problems: only the residual [–] decides, relative to all data of the problem.
    pub fn stored(tolerance: f64) -> ConeOptions {
        ConeOptions {
            tolerance,
            approach_tolerance: f64::INFINITY,
            max_iterations: 200_000,
            measure: Measure::All,
        }
    }

    /// The same criteria for a sweeping solver.
    fn for_sweeps(&self) -> GaussSeidelOptions {
        GaussSeidelOptions {
            approach_tolerance: self.approach_tolerance,
            max_sweeps: self.max_iterations,
            measure: self.measure,
            ..GaussSeidelOptions::stored(self.tolerance)
        }
    }
}

impl Default for ConeOptions {
    /// A residual of 1e-6 relative to the impulses.
    fn default() -> Self {
        ConeOptions::tolerance(1e-6)
    }
}

/// One solve: counts iterations, decides when to stop, and keeps the best iterate.
#[derive(Debug, Default)]
struct Watch {
    options: ConeOptions,
    iterations: usize,
    /// The worse of residual and approach relative to their tolerances, of the best iterate.
    share: f64,
    best: Vec<f64>,
}

impl Watch {
    fn start(&mut self, options: &ConeOptions) {
        (self.options, self.iterations, self.share) = (*options, 0, f64::INFINITY);
        self.best.clear();
    }

    /// Records an iterate with its velocities; returns true if it satisfies the criteria.
    fn note(&mut self, cone: &ConeProblem, x: &[f64], v: &Velocities) -> bool {
        let (residual, approach) = cone.measure(x, v, self.options.measure);
        let share =
            (residual / self.options.tolerance).max(approach / self.options.approach_tolerance);
        // `max` ignores NaN.
        let share = if residual.is_nan() || approach.is_nan() { f64::NAN } else { share };
        if share < self.share || self.best.len() != x.len() {
            self.share = share;
            self.best.clear();
            self.best.extend_from_slice(x);
        }
        share <= 1.0
    }

    /// Whether there are iterations left; counts one.
    fn next(&mut self) -> bool {
        let left = self.iterations < self.options.max_iterations;
        self.iterations += usize::from(left);
        left
    }

    fn bytes(&self) -> usize {
        bytes_of(&self.best)
    }
}

/// What all solvers share: sets up the cone problem, starts from the given impulses, and reports
/// the best iterate by the residual of the contact problem.
fn solve_with(
    options: &ConeOptions,
    problem: &ContactProblem,
    impulses: &mut Impulses,
    scratch: &mut Scratch,
    run: impl FnOnce(&ConeProblem, &mut Vec<f64>, &mut Watch, &mut Scratch),
) -> SolveReport {
    if !problem.rolling.is_empty() || problem.laws.contains(&Law::Rolling) {
        let solver = ConjugateGradient { options: options.for_sweeps() };
        return solver.improve(problem, impulses, scratch);
    }
    // Taken out while the solver uses its own scratch; put back with its buffers.
    let Common { mut cone, mut watch, mut x } = std::mem::take(scratch.of::<Common>());
    cone.set(problem);
    watch.start(options);
    cone.read(impulses, &mut x);
    run(&cone, &mut x, &mut watch, scratch);
    if watch.best.len() == x.len() {
        cone.write(&watch.best, impulses);
    }
    let found = residual(problem, impulses);
    let (value, approach) = (options.measure.of(&found), found.approach * problem.approach_scale);
    let mut report = SolveReport {
        converged: value <= options.tolerance && approach <= options.approach_tolerance,
        sweeps: watch.iterations,
        residual: value,
        approach,
        ..SolveReport::default()
    };
    if approach / options.approach_tolerance > value / options.tolerance {
        report.decided_by = Criterion::Approach;
    }
    *scratch.of::<Common>() = Common { cone, watch, x };
    report
}

/// Scratch shared by all solvers.
#[derive(Default)]
struct Common {
    cone: ConeProblem,
    watch: Watch,
    /// The scaled unknowns.
    x: Vec<f64>,
}

impl super::Buffers for Common {
    fn bytes(&self) -> usize {
        self.cone.bytes() + self.watch.bytes() + bytes_of(&self.x)
    }
}

/// `Σ a b`.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    // Four partial sums in a fixed order: four times faster than one.
    let (mut sums, n) = ([0.0; 4], a.len() / 4 * 4);
    for (a, b) in a[..n].chunks_exact(4).zip(b[..n].chunks_exact(4)) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    let rest: f64 = a[n..].iter().zip(&b[n..]).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

/// `x ← x + factor · step`.
fn add(x: &mut [f64], factor: f64, step: &[f64]) {
    x.iter_mut().zip(step).for_each(|(x, step)| *x += factor * step);
}

#[cfg(test)]
mod tests;

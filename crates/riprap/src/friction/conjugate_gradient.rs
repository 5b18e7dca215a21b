//! Gauss–Seidel accelerated by nonsmooth nonlinear conjugate gradients (Silcowitz-Hansen, Niebe and Erleben 2010):
//! the change over a sweep plays the part of the gradient, and part of the last direction is added to it.

use super::gauss_seidel::{Progress, sweep};
use super::{
    ContactProblem, ContactSolver, Delassus, GaussSeidelOptions, Impulses, Operator, SolveReport,
    SolverScratch,
};

/// Conjugate-gradient acceleration of [`super::GaussSeidel`], with the same criteria.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConjugateGradient {
    /// When to stop.
    pub options: GaussSeidelOptions,
}

impl ConjugateGradient {
    /// Stops at a residual [–]; see [`GaussSeidelOptions::tolerance`].
    pub fn tolerance(tolerance: f64) -> ConjugateGradient {
        ConjugateGradient { options: GaussSeidelOptions::tolerance(tolerance) }
    }

    fn run<W: Operator>(
        &self,
        w: &W,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        scratch: &mut SolverScratch,
    ) -> SolveReport {
        let mut progress = Progress::new(&self.options);
        w.start(impulses, scratch);
        let mut direction = std::mem::take(&mut scratch.direction);
        let mut before = std::mem::take(&mut scratch.before);
        direction.clear();
        direction.resize(problem.len(), [0.0; 3]);
        let mut last = 0.0;
        loop {
            before.clear();
            before.extend_from_slice(impulses);
            let change = sweep(w, problem, impulses, scratch);
            if progress.done(w, problem, impulses, scratch, &change) {
                break;
            }

            // Fletcher–Reeves, started anew when a sweep changes more than the one before.
            let squared = change.squared();
            let beta = if last > 0.0 { squared / last } else { 0.0 };
            last = squared;
            if beta > 1.0 {
                direction.iter_mut().for_each(|p| *p = [0.0; 3]);
                continue;
            }
            for a in 0..direction.len() {
                let p = &mut direction[a];
                if *p != [0.0; 3] {
                    let step = p.map(|x| beta * x);
                    let extra = step;
                    for i in 0..3 {
                        p[i] = step[i] + impulses[a][i] - before[a][i];
                        impulses[a][i] += extra[i];
                    }
                    w.add(a, extra, scratch);
                } else {
                    for i in 0..3 {
                        p[i] = impulses[a][i] - before[a][i];
                    }
                }
            }
        }
        scratch.direction = direction;
        scratch.before = before;
        progress.report
    }
}

impl ContactSolver for ConjugateGradient {
    fn solve(
        &self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        scratch: &mut SolverScratch,
    ) -> SolveReport {
        impulses.resize(problem.len(), [0.0; 3]);
        if problem.is_empty() {
            return SolveReport { converged: true, ..SolveReport::default() };
        }
        match &problem.w {
            Delassus::Factored(w) => self.run(w, problem, impulses, scratch),
            Delassus::Blocks(w) => self.run(w, problem, impulses, scratch),
        }
    }
}

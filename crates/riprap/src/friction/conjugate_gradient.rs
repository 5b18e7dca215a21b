//! Gauss–Seidel accelerated by nonsmooth nonlinear conjugate gradients (Silcowitz-Hansen, Niebe and Erleben 2010):
//! the change over a sweep plays the part of the gradient, and part of the last direction is added to it.

use super::gauss_seidel::{Progress, sweep};
use super::residual::project;
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

/// Near changes of status (open, stick, slide) the directions, and sometimes the sweeps themselves, go round in circles.
/// When the changes have not shrunk for a while, plain sweeps take over for a while, relaxed and in both orders.
#[derive(Default)]
pub(super) struct Patience {
    best: f64,
    sweeps: usize,
    waited: usize,
    plain: usize,
    losses: usize,
}

impl Patience {
    /// Sweeps without progress, at least, before plain ones take over; slow problems get a quarter of all sweeps so far.
    const SWEEPS: usize = 40;
    /// Relaxations of the plain sweeps, taken in turn.
    const RELAXATIONS: [f64; 3] = [1.0, 0.8, 0.6];

    /// Takes note of a change; true while plain sweeps are due.
    pub(super) fn lost(&mut self, change: f64) -> bool {
        self.sweeps += 1;
        if self.plain > 0 {
            self.plain -= 1;
            if self.plain == 0 {
                (self.best, self.waited) = (change, 0);
            }
            return true;
        }
        if self.best == 0.0 || change < 0.9 * self.best {
            (self.best, self.waited) = (change, 0);
        } else {
            self.waited += 1;
            if self.waited >= Patience::SWEEPS.max(self.sweeps / 4) {
                self.losses += 1;
                self.plain = Patience::SWEEPS * self.losses.min(10);
            }
        }
        false
    }

    pub(super) fn relaxation(&self) -> f64 {
        match self.plain {
            0 => 1.0,
            _ => Patience::RELAXATIONS[(self.losses + 2) % 3],
        }
    }

    pub(super) fn backwards(&self) -> bool {
        self.plain / (Patience::SWEEPS / 2) % 2 == 1
    }
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
        let mut last = f64::INFINITY;
        let mut patience = Patience::default();
        loop {
            before.clear();
            before.extend_from_slice(impulses);
            let change =
                sweep(w, problem, impulses, scratch, patience.relaxation(), patience.backwards());
            if progress.done(w, problem, impulses, scratch, &change) {
                break;
            }
            // Fletcher–Reeves; forgets its direction when a sweep changes more than the one before.
            let gradient = change.squared();
            let beta = gradient / last;
            last = gradient;
            let lost = patience.lost(gradient);
            if beta >= 1.0 || lost {
                direction.iter_mut().for_each(|p| *p = [0.0; 3]);
                continue;
            }
            for a in 0..direction.len() {
                let p = &mut direction[a];
                let extra = p.map(|x| beta * x);
                for i in 0..3 {
                    p[i] = extra[i] + impulses[a][i] - before[a][i];
                }
                if extra == [0.0; 3] {
                    continue;
                }
                // Back into the cone: among redundant contacts impulses could otherwise grow against each other.
                let old = impulses[a];
                let ahead = std::array::from_fn(|i| old[i] + extra[i]);
                impulses[a] = project(ahead, problem.friction[a]);
                let step = std::array::from_fn(|i| impulses[a][i] - old[i]);
                w.add(a, step, scratch);
            }
        }
        scratch.direction = direction;
        scratch.before = before;
        progress.report
    }
}

impl ContactSolver for ConjugateGradient {
    fn improve(
        &self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        scratch: &mut SolverScratch,
    ) -> SolveReport {
        match &problem.w {
            Delassus::Factored(w) => self.run(w, problem, impulses, scratch),
            Delassus::Blocks(w) => self.run(w, problem, impulses, scratch),
        }
    }
}

//! Gauss–Seidel accelerated by nonsmooth nonlinear conjugate gradients (Silcowitz-Hansen, Niebe and
//! Erleben 2010): the change over a sweep serves as the gradient, and a fraction of the last
//! direction is added to it.

use super::criteria::{Change, Progress};
use super::{
    BlockVelocities, Buffers, ContactProblem, ContactSolver, Delassus, GaussSeidelOptions,
    Impulses, Law, Local, Operator, Scratch, SolveReport,
};
use crate::math::bytes_of;

/// Conjugate-gradient acceleration of [`super::GaussSeidel`], with the same criteria.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConjugateGradient {
    /// When to stop.
    pub options: GaussSeidelOptions,
}

/// Near changes of status (open, stick, slide) the directions, and sometimes the sweeps themselves,
/// cycle. When the changes have not shrunk for a while, plain sweeps take over for a while, relaxed
/// and in both orders.
#[derive(Default)]
pub(super) struct Patience {
    best: f64,
    sweeps: usize,
    waited: usize,
    plain: usize,
    losses: usize,
}

impl Patience {
    /// Minimum number of sweeps without progress before plain ones take over; slow problems get a
    /// quarter of all sweeps so far.
    const SWEEPS: usize = 40;
    /// Relaxation factors of the plain sweeps, used in turn.
    const RELAXATIONS: [f64; 3] = [1.0, 0.8, 0.6];

    /// Records a change; returns true while plain sweeps are due.
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

/// The new impulse of one contact and its step from the old one: that of its law, or only a
/// fraction of the step with a relaxation factor below 1.
#[inline]
pub(super) fn visit(
    law: Law,
    at: &Local,
    relaxation: f64,
    change: &mut Change,
) -> ([f64; 3], [f64; 3]) {
    let mut new = law.solve(at);
    let mut step: [f64; 3] = std::array::from_fn(|i| new[i] - at.impulse[i]);
    if relaxation < 1.0 && step != [0.0; 3] {
        step = step.map(|x| relaxation * x);
        new = std::array::from_fn(|i| at.impulse[i] + step[i]);
    }
    change.note(law, at.block, new, step);
    (new, step)
}

/// A sweep like that of the reference solver, relaxed and in either order.
fn sweep<W: Operator>(
    w: &W,
    problem: &ContactProblem,
    impulses: &mut Impulses,
    velocity: &mut BlockVelocities,
    patience: &Patience,
) -> Change {
    let (relaxation, backwards) = (patience.relaxation(), patience.backwards());
    let mut change = Change::default();
    let n = problem.len();
    for k in 0..n {
        let a = if backwards { n - 1 - k } else { k };
        let (free, wr) = (problem.v_rel_free[a], w.velocity(a, impulses, velocity));
        let at = Local {
            block: w.diagonal(a),
            velocity: std::array::from_fn(|i| free[i] + wr[i]),
            impulse: impulses[a],
            limit: problem.limit(a, impulses),
        };
        let (new, step) = visit(problem.laws[a], &at, relaxation, &mut change);
        if step != [0.0; 3] {
            impulses[a] = new;
            w.add(a, step, velocity);
        }
    }
    change
}

/// Buffers of the conjugate gradients.
#[derive(Default)]
struct Directions {
    velocity: BlockVelocities,
    /// Search direction [N s].
    direction: Impulses,
    /// Impulses before a sweep [N s].
    before: Impulses,
}

impl Buffers for Directions {
    fn bytes(&self) -> usize {
        bytes_of(&self.velocity) + bytes_of(&self.direction) + bytes_of(&self.before)
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
        after: usize,
        Directions { velocity, direction, before }: &mut Directions,
    ) -> SolveReport {
        let mut progress = match after {
            0 => Progress::new(&self.options, problem.len()),
            _ => Progress::after(&self.options, after),
        };
        w.start(impulses, velocity);
        direction.clear();
        direction.resize(problem.len(), [0.0; 3]);
        let mut last = f64::INFINITY;
        let mut patience = Patience::default();
        loop {
            before.clear();
            before.extend_from_slice(impulses);
            let change = sweep(w, problem, impulses, velocity, &patience);
            if progress.done(w, problem, impulses, velocity, &change) {
                return progress.report;
            }
            // Fletcher–Reeves; restarts when a sweep changes more than the previous one.
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
                // Project back into the cone: impulses of redundant contacts could otherwise grow
                // against each other. Moments return below their limit in the next sweep.
                let old = impulses[a];
                let ahead = std::array::from_fn(|i| old[i] + extra[i]);
                impulses[a] = problem.laws[a].project(ahead, f64::INFINITY);
                let step = std::array::from_fn(|i| impulses[a][i] - old[i]);
                w.add(a, step, velocity);
            }
        }
    }
}

impl ConjugateGradient {
    /// Solves, or goes on after a number of sweeps.
    pub(super) fn go_on(
        &self,
        problem: &ContactProblem,
        after: usize,
        impulses: &mut Impulses,
        scratch: &mut Scratch,
    ) -> SolveReport {
        let scratch = scratch.of::<Directions>();
        match &problem.w {
            Delassus::Factored(w) => self.run(w, problem, impulses, after, scratch),
            Delassus::Blocks(w) => self.run(w, problem, impulses, after, scratch),
        }
    }
}

impl ContactSolver for ConjugateGradient {
    fn improve(
        &self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        scratch: &mut Scratch,
    ) -> SolveReport {
        self.go_on(problem, 0, impulses, scratch)
    }
}

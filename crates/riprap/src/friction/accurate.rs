//! The solver for high accuracy: accelerated sweeps as long as they gain, Newton steps where these are cheaper, and both
//! inside a proximal point method where `W` has not full rank and neither gets ahead.

use super::anderson::{StoredOptions, Sweeps, report, unpack};
use super::newton::{self, Newton};
use super::packed::{Iterate, Packed};
use super::{ContactProblem, ContactSolver, Impulses, SolveReport, SolverScratch};

/// Sweeps, Newton steps and proximal points, for problems with `W` in blocks (a factored one is multiplied out first): for
/// 1e-8 and beyond, and not slower than sweeps alone where these suffice. [`SolveReport::sweeps`] counts Newton steps too.
#[derive(Clone, Copy, Debug, Default)]
pub struct Accurate {
    /// When to stop.
    pub options: StoredOptions,
}

impl Accurate {
    /// Stops at a residual [–] relative to all that enters the problem.
    pub fn tolerance(tolerance: f64) -> Accurate {
        Accurate { options: StoredOptions::tolerance(tolerance) }
    }
}

/// Sweeps before it is asked for the first time whether Newton's method would be cheaper.
const FIRST: usize = 30;
/// Newton steps that it is expected to take.
const STEPS: f64 = 4.0;
/// Work on the plain problem before the proximal method takes over, and on each problem of that [sweeps].
const BUDGET: [f64; 2] = [2000.0, 1000.0];
/// Proximal steps without half the residual before it starts elsewhere.
const STEADY: usize = 25;

/// What all stages share.
struct Search<'a> {
    options: &'a StoredOptions,
    sweeps: Sweeps,
    newton: Newton,
    trial: Iterate,
}

impl Search<'_> {
    fn relative(&self, packed: &Packed, at: &Iterate) -> f64 {
        packed.relative(at, self.options.measure)
    }

    fn exhausted(&self) -> bool {
        self.sweeps.count + self.newton.count >= self.options.max_sweeps
    }

    /// Solves a problem with sweeps and Newton steps, from `at` on, to a residual `enough` or until the budget [sweeps] is spent.
    /// Gives the residual and the work [sweeps].
    fn settle(
        &mut self,
        packed: &Packed,
        at: &mut Iterate,
        enough: f64,
        budget: f64,
    ) -> (f64, f64) {
        let measure = self.options.measure;
        self.sweeps.restart();
        let sweep_work = packed.work() + 60.0 * packed.len() as f64;
        let mut spent = 0.0;
        let mut bout = FIRST;
        let mut now = f64::INFINITY;
        loop {
            let begin = now;
            for _ in 0..bout {
                now = self.sweeps.next(packed, at, measure, enough);
                spent += 1.0;
                if now <= enough || self.exhausted() {
                    return (now, spent);
                }
            }
            // At the pace of this bout, would Newton steps be cheaper?
            let left = bout as f64 * (now / enough).ln() / (begin / now).ln().max(1e-9);
            let step = newton::work(newton::active(packed, at)) / sweep_work;
            if begin.is_finite() && left > STEPS * step {
                let before = self.newton.count;
                packed.sweep(at);
                self.sweeps.count += 1;
                let start = self.relative(packed, at);
                now = self.steps(packed, at, enough, start);
                spent += step * (self.newton.count - before) as f64;
                if now <= enough {
                    return (now, spent);
                }
                if now > 0.1 * start {
                    bout = (2 * bout).min(500);
                }
                self.sweeps.restart();
            }
            if spent >= budget {
                return (now, spent);
            }
        }
    }

    /// Newton steps, each followed by a sweep, as long as they lead downhill. Gives the residual.
    fn steps(&mut self, packed: &Packed, at: &mut Iterate, enough: f64, start: f64) -> f64 {
        let mut now = start;
        let mut alpha = (0.1 * now).clamp(1e-11, 1e-3);
        let mut failures = 0;
        while failures < 3 && !self.exhausted() {
            packed.velocities(at);
            let found = self.newton.find(packed, at, alpha);
            let mut after = f64::INFINITY;
            if found {
                self.trial.r.clone_from(&at.r);
                for (r, step) in self.trial.r.iter_mut().zip(&self.newton.step) {
                    (0..3).for_each(|i| r[i] += step[i]);
                }
                packed.velocities(&mut self.trial);
                after = self.relative(packed, &self.trial);
                if after > enough {
                    packed.sweep(&mut self.trial);
                    self.sweeps.count += 1;
                    after = self.relative(packed, &self.trial);
                }
            }
            if after < 0.9 * now {
                std::mem::swap(at, &mut self.trial);
                now = after;
                if now <= enough {
                    packed.velocities(at);
                    return self.relative(packed, at);
                }
                alpha = (0.1 * now).clamp(1e-11, 1e-3);
            } else {
                failures += 1;
                alpha = (alpha * 30.0).min(1.0);
            }
        }
        now
    }

    /// The proximal point method: problems with `W + α` around the last impulses, which have one solution each.
    fn approach(&mut self, packed: &Packed, at: &mut Iterate, start: f64) -> f64 {
        let tolerance = self.options.tolerance;
        let mut inner = packed.clone();
        let mut best = (start, at.r.clone());
        let (mut now, mut alpha) = (start, 1e-3);
        let (mut steady, mut mark, mut push) = (0, start, 10.0);
        let mut centre = Vec::new();
        while !self.exhausted() {
            centre.clone_from(&at.r);
            inner.regularize(packed, alpha, &centre);
            inner.velocities(at);
            let enough = (0.3 * tolerance).max(0.1 * now);
            let (reached, spent) = self.settle(&inner, at, enough, BUDGET[1]);
            packed.velocities(at);
            now = self.relative(packed, at);
            if now < best.0 {
                best.0 = now;
                best.1.clone_from(&at.r);
            }
            if now <= tolerance {
                break;
            }
            if reached > enough {
                alpha = (alpha * 8.0).min(1.0);
            } else if spent < 0.5 * BUDGET[1] {
                alpha = (alpha * 0.3).max(1e-10);
            }
            // Impulses that drift at a steady residual will not arrive: a solution may be found from contacts pressed together.
            steady += 1;
            if now < 0.5 * mark {
                (steady, mark) = (0, now);
            } else if steady > STEADY {
                let size = best.1.iter().flatten().map(|x| x * x).sum::<f64>();
                let level = push * (size / best.1.len() as f64).sqrt();
                at.r.iter_mut().for_each(|r| *r = [level, 0.0, 0.0]);
                packed.project(at);
                (alpha, now, steady, mark) = (1e-3, 1.0, 0, f64::INFINITY);
                push *= 2.0;
            }
        }
        at.r.clone_from(&best.1);
        best.0
    }
}

impl ContactSolver for Accurate {
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
        let options = &self.options;
        let mut packed = std::mem::take(&mut scratch.packed);
        let mut at = Iterate::default();
        packed.fill(problem, impulses, &mut at);
        let (sweeps, newton) = (Sweeps::default(), Newton::default());
        let mut search = Search { options, sweeps, newton, trial: Iterate::default() };
        let (now, _) = search.settle(&packed, &mut at, options.tolerance, BUDGET[0]);
        if now > options.tolerance {
            search.approach(&packed, &mut at, now);
        }
        let count = search.sweeps.count + search.newton.count;
        unpack(&packed, &at.r, impulses);
        scratch.packed = packed;
        report(problem, impulses, scratch, options, count)
    }
}

//! The solver for high accuracy: accelerated sweeps as long as they make progress, Newton steps
//! where these are cheaper, and both inside a proximal point method where `W` is rank-deficient and
//! neither makes progress.

use super::anderson::{StoredOptions, Sweeps, report, unpack};
use super::newton::{Newton, Work};
use super::packed::{Iterate, Packed};
use super::{ContactProblem, ContactSolver, Impulses, Scratch, SolveReport};

/// Sweeps, Newton steps and proximal points, for problems with `W` in blocks (a factored one is
/// multiplied out first). For tolerances of 1e-8 and below; not slower than sweeps alone where
/// these suffice. [`SolveReport::sweeps`] counts Newton steps too.
#[derive(Clone, Copy, Debug, Default)]
pub struct Accurate {
    /// When to stop.
    pub options: StoredOptions,
}

impl Accurate {
    /// Stops at a residual [–] relative to all data of the problem.
    pub fn tolerance(tolerance: f64) -> Accurate {
        Accurate { options: StoredOptions::tolerance(tolerance) }
    }
}

/// Sweeps before the first check whether Newton's method would be cheaper.
const FIRST: usize = 30;
/// Sweeps before sparse systems are considered: finding an elimination order takes as long as some
/// tens of sweeps.
const SPARSE_FROM: usize = 100;
/// Expected number of Newton steps.
const STEPS: f64 = 4.0;
/// Work on the original problem before the proximal method takes over [sweeps].
const BUDGET: f64 = 2000.0;
/// Clusters with more contacts than this are not solved by Newton's method if its matrix is dense.
const MOST: usize = 1000;
/// `α` of the first proximal step, its bounds, and the factors by which it shrinks and grows; in
/// units of the mean mobility.
const ALPHA: f64 = 1e-4;
const ALPHAS: [f64; 2] = [1e-10, 1e-3];
const FALL: f64 = 0.5;
const GROW: f64 = 2.0;
/// Newton steps in a proximal step: the maximum, and the number up to which `α` may shrink.
const ROUNDS: [usize; 2] = [4, 2];
/// Factor by which a Newton step may increase the residual in a proximal step: initially, and when
/// there is no progress.
const UPHILL: [f64; 4] = [100.0, 1000.0, 1e4, 10.0];
/// A Newton step in a proximal step is skipped if it costs more than this [sweeps].
const EXPENSIVE: f64 = 8000.0;
/// Proximal steps without progress before the next of these is tried.
const PATIENCE: usize = 60;

/// Data shared by all stages.
struct Search<'a> {
    options: &'a StoredOptions,
    sweeps: Sweeps,
    newton: Newton,
    trial: Iterate,
    /// Work spent on Newton steps [sweeps].
    newton_work: f64,
}

impl Search<'_> {
    fn relative(&self, packed: &Packed, at: &Iterate) -> f64 {
        packed.relative(at, self.options.measure)
    }

    /// Whether all sweeps are used up or numbers have overflowed.
    fn exhausted(&self, now: f64) -> bool {
        let used = self.sweeps.count as f64 + self.newton_work;
        used >= self.options.max_sweeps as f64 || self.sweeps.count >= FIRST && !now.is_finite()
    }

    /// Work of a Newton step [sweeps]; infinite if it must not be taken.
    fn step_work(&mut self, packed: &Packed, at: &Iterate) -> Work {
        self.newton.may_be_sparse |= self.sweeps.count >= SPARSE_FROM;
        let work = self.newton.plan(packed, at, MOST);
        let sweep = packed.work() + 60.0 * packed.len() as f64;
        Work { step: work.step / sweep, dense: work.dense / sweep }
    }

    /// Iterates with sweeps and Newton steps until the problem is solved or the budget is spent.
    /// Returns the residual.
    fn settle(&mut self, packed: &Packed, at: &mut Iterate) -> f64 {
        let (measure, enough) = (self.options.measure, self.options.tolerance);
        self.sweeps.restart();
        let mut bout = FIRST;
        let mut now = f64::INFINITY;
        loop {
            let begin = now;
            for _ in 0..bout {
                now = self.sweeps.next(packed, at, measure, enough);
                if now <= enough || self.exhausted(now) {
                    return now;
                }
            }
            // At the current rate of convergence, would Newton steps be cheaper? Not before sweeps
            // have been given as much work.
            let step = self.step_work(packed, at).step;
            let spent = self.sweeps.count as f64 + self.newton_work;
            let left = bout as f64 * (now / enough).ln() / (begin / now).ln().max(1e-9);
            if begin.is_finite() && spent >= step && left > STEPS * step {
                let start = now;
                now = self.descend(packed, at, step);
                if now <= enough {
                    return now;
                }
                if now > 0.1 * start {
                    bout = (2 * bout).min(500);
                }
                self.sweeps.restart();
            }
            if spent >= BUDGET {
                return now;
            }
        }
    }

    /// Newton steps, each followed by a sweep, as long as the residual decreases. Returns the
    /// residual.
    fn descend(&mut self, packed: &Packed, at: &mut Iterate, work: f64) -> f64 {
        let enough = self.options.tolerance;
        // A sweep turns the combination of the last sweeps into an iterate.
        packed.sweep(at);
        packed.velocities(at);
        self.sweeps.count += 1;
        let mut now = self.relative(packed, at);
        let alpha = |now: f64| (0.1 * now).clamp(1e-11, 1e-3);
        let mut shift = alpha(now);
        let mut failures = 0;
        while failures < 3 && now > enough && !self.exhausted(now) {
            self.newton_work += work;
            let mut after = f64::INFINITY;
            if self.newton.find(packed, at, shift) {
                self.newton.take(packed, at, 1.0, &mut self.trial);
                after = self.relative(packed, &self.trial);
                if after > enough {
                    packed.sweep(&mut self.trial);
                    self.sweeps.count += 1;
                    packed.velocities(&mut self.trial);
                    after = self.relative(packed, &self.trial);
                }
            }
            if after < 0.9 * now {
                std::mem::swap(at, &mut self.trial);
                now = after;
                shift = alpha(now);
            } else {
                failures += 1;
                shift = (30.0 * shift).min(1.0);
            }
        }
        now
    }

    /// The proximal point method: a sequence of easier problems with `W + α` around the last
    /// impulses. They are solved approximately, and Newton steps in them may increase the residual:
    /// it can stagnate for many steps until contacts change their status.
    fn approach(&mut self, packed: &Packed, at: &mut Iterate, start: f64) {
        let (measure, tolerance) = (self.options.measure, self.options.tolerance);
        let mut inner = packed.clone();
        let mut best = (start, at.r.clone());
        let (mut now, mut alpha) = (start, ALPHA);
        let (mut mark, mut level, mut uphill) = (start, 0, 0);
        let mut centre = Vec::new();
        while !self.exhausted(now) && best.0 > tolerance {
            centre.clone_from(&at.r);
            inner.regularize(packed, alpha, &centre);
            inner.velocities(at);
            let enough = (0.3 * tolerance).max(0.01 * now);
            let Work { step, dense } = self.step_work(packed, at);
            // If few sweeps between two steps made no progress, more of them may.
            let pause = if uphill % 2 == 0 { step } else { dense };
            let bout = (0.25 * pause).clamp(20.0, 500.0) as usize;
            let mut rounds = 0;
            let reached = loop {
                self.sweeps.restart();
                let sweep = |_| self.sweeps.next(&inner, at, measure, enough);
                let mut reached = (0..bout).map(sweep).find(|reached| *reached <= enough);
                if reached.is_none() {
                    inner.velocities(at);
                    reached = Some(self.relative(&inner, at)).filter(|reached| *reached <= enough);
                }
                if reached.is_some() || rounds >= ROUNDS[0] || self.exhausted(now) {
                    break reached.is_some();
                }
                rounds += 1;
                // Where a Newton step is too expensive, only sweeps are used.
                if step <= EXPENSIVE {
                    self.leap(&inner, at, UPHILL[uphill], step);
                }
            };
            packed.velocities(at);
            now = self.relative(packed, at);
            if now < best.0 {
                best.0 = now;
                best.1.clone_from(&at.r);
            }
            if !reached {
                alpha = (GROW * alpha).min(ALPHAS[1]);
            } else if rounds <= ROUNDS[1] {
                alpha = (FALL * alpha).max(ALPHAS[0]);
            }
            level += 1;
            if best.0 < 0.8 * mark {
                (mark, level) = (best.0, 0);
            } else if level >= PATIENCE {
                uphill = (uphill + 1) % UPHILL.len();
                (mark, level) = (best.0, 0);
                at.r.clone_from(&best.1);
                alpha = ALPHA;
            }
        }
        at.r.clone_from(&best.1);
    }

    /// A Newton step that may increase the residual by a factor, and is shortened otherwise.
    fn leap(&mut self, packed: &Packed, at: &mut Iterate, uphill: f64, work: f64) {
        self.newton_work += work;
        let limit = uphill * self.relative(packed, at);
        if !self.newton.find(packed, at, 0.0) {
            return;
        }
        for part in [1.0, 0.3, 0.1, 0.03] {
            self.newton.take(packed, at, part, &mut self.trial);
            if self.relative(packed, &self.trial) <= limit {
                std::mem::swap(at, &mut self.trial);
                return;
            }
        }
    }
}

impl ContactSolver for Accurate {
    fn improve(
        &self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        scratch: &mut Scratch,
    ) -> SolveReport {
        if !problem.packs() {
            return self.options.without_blocks().improve(problem, impulses, scratch);
        }
        let options = &self.options;
        let packed = scratch.of::<Packed>();
        let mut at = Iterate::default();
        packed.fill(problem, impulses, &mut at);
        let (sweeps, newton) = (Sweeps::default(), Newton::default());
        let trial = Iterate::default();
        let mut search = Search { options, sweeps, newton, trial, newton_work: 0.0 };
        let now = search.settle(packed, &mut at);
        if now > options.tolerance {
            search.approach(packed, &mut at, now);
        }
        let count = search.sweeps.count + search.newton.count;
        unpack(packed, &at.r, impulses);
        report(problem, impulses, options, count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::friction::{Anderson, Blocks, Delassus, Law, residual};
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    /// `W = G Gᵀ` with random `G`: rank-deficient, with every contact coupled to every other.
    /// Asymmetric by a fraction `skew`.
    fn random(seed: u64, n: usize, rank: usize, skew: f64) -> ContactProblem {
        let mut rng = Pcg64::seed_from_u64(seed);
        let g: Vec<Vec<f64>> =
            (0..3 * n).map(|_| (0..rank).map(|_| rng.random_range(-1.0..1.0)).collect()).collect();
        let mut blocks = Blocks::default();
        for a in 0..n {
            for b in 0..n {
                let entry = |i: usize, j: usize| {
                    let product = g[3 * a + i].iter().zip(&g[3 * b + j]);
                    let sum: f64 = product.map(|(x, y)| x * y).sum();
                    sum * (1.0 + if (a, i) < (b, j) { skew } else { 0.0 })
                };
                let block = std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)));
                blocks.push(b, block);
            }
            blocks.end_row();
        }
        // Free velocities in the range of W: an impact of a system that has all these contacts.
        let v: Vec<f64> = (0..rank).map(|_| rng.random_range(-1.0..1.0)).collect();
        let free = |row: &Vec<f64>| row.iter().zip(&v).map(|(g, v)| g * v).sum::<f64>();
        let free: Vec<f64> = g.iter().map(free).collect();
        ContactProblem {
            rolling: Vec::new(),
            w: Delassus::Blocks(blocks),
            v_rel_free: free.chunks_exact(3).map(|v| [v[0], v[1], v[2]]).collect(),
            laws: (0..n).map(|a| Law::Coulomb { friction: [0.0, 0.3, 0.8][a % 3] }).collect(),
            approach_scale: 1.0,
        }
    }

    #[track_caller]
    fn solves(solver: &dyn ContactSolver, problem: &ContactProblem, tolerance: f64, case: &str) {
        let (mut impulses, mut scratch) = (Vec::new(), Scratch::default());
        let report = solver.solve(problem, &mut impulses, &mut scratch);
        assert!(report.converged, "{case}: {report:?}");
        let found = residual(problem, &impulses).relative_to_all();
        assert!(found <= tolerance, "{case}: {found:e}");
    }

    #[test]
    fn redundant_and_asymmetric_problems_are_solved_to_ten_digits() {
        for seed in 0..12 {
            for (rank, skew) in [(60, 0.0), (30, 0.0), (12, 0.0), (60, 1e-3)] {
                let problem = random(seed, 20, rank, skew);
                let case = format!("seed {seed}, rank {rank}, skew {skew}");
                solves(&Accurate::tolerance(1e-10), &problem, 1e-10, &case);
                solves(&Anderson::tolerance(1e-4), &problem, 1e-4, &case);
            }
        }
    }

    #[test]
    fn problems_converge_equally_at_any_velocity_scale() {
        for size in [1e-200, 1e-150, 1e150, 1e200] {
            let mut problem = random(2, 20, 30, 0.0);
            problem.v_rel_free.as_flattened_mut().iter_mut().for_each(|x| *x *= size);
            solves(&Accurate::tolerance(1e-10), &problem, 1e-10, &format!("{size:e}"));
            solves(&Anderson::tolerance(1e-4), &problem, 1e-4, &format!("{size:e}"));
        }
    }

    #[test]
    fn an_overflow_ends_a_solve_early() {
        let mut problem = random(2, 20, 30, 0.0);
        problem.v_rel_free[3][1] = f64::MAX;
        let Delassus::Blocks(w) = &problem.w else { unreachable!() };
        let mut large = Blocks::default();
        for a in 0..20 {
            w.row(a).for_each(|(b, block)| large.push(b, block.map(|row| row.map(|x| 1e300 * x))));
            large.end_row();
        }
        problem.w = Delassus::Blocks(large);
        let accurate = Accurate::tolerance(1e-8);
        let report = accurate.solve(&problem, &mut Vec::new(), &mut Scratch::default());
        assert!(!report.residual.is_nan() && report.sweeps < 1000, "{report:?}");
    }

    #[test]
    fn joints_and_immovable_contacts_are_solved() {
        let mut problem = random(3, 8, 24, 0.0);
        problem.laws[2] = Law::Bilateral;
        problem.laws[5] = Law::Bilateral;
        solves(&Accurate::tolerance(1e-10), &problem, 1e-10, "joints");
        // A contact with a row and a column of zeros, open and resting.
        for free in [[0.3, 0.2, 0.0], [0.0, 0.0, 0.0]] {
            let Delassus::Blocks(w) = &problem.w else { unreachable!() };
            let mut grown = Blocks::default();
            for a in 0..8 {
                w.row(a).for_each(|(b, block)| grown.push(b, *block));
                grown.end_row();
            }
            grown.end_row();
            let mut problem = ContactProblem { w: Delassus::Blocks(grown), ..problem.clone() };
            problem.v_rel_free.push(free);
            problem.laws.push(Law::Coulomb { friction: 0.4 });
            solves(&Accurate::tolerance(1e-10), &problem, 1e-10, "locked");
        }
    }

    #[test]
    fn a_problem_without_a_solution_terminates_unconverged() {
        // Nothing can move, and yet the contact approaches.
        let mut w = Blocks::default();
        w.push(0, [[0.0; 3]; 3]);
        w.end_row();
        let problem = ContactProblem {
            rolling: Vec::new(),
            w: Delassus::Blocks(w),
            v_rel_free: vec![[-1.0, 0.0, 0.0]],
            laws: vec![Law::Coulomb { friction: 0.5 }],
            approach_scale: 1.0,
        };
        let mut solver = Accurate::tolerance(1e-8);
        solver.options.max_sweeps = 10_000;
        let report = solver.solve(&problem, &mut Vec::new(), &mut Scratch::default());
        assert!(!report.converged && report.residual > 0.1, "{report:?}");
    }
}

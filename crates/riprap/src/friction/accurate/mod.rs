//! The solver for high accuracy: accelerated sweeps as long as they make progress, Newton steps and
//! alternating directions where these are cheaper, and interior points, proximal points and alternating
//! directions in turn where `W` is rank-deficient and nothing else makes progress. Every stage is bounded by the work of those
//! before it, counted in multiplications.

mod stages;

use super::anderson::{StoredOptions, Sweeps, report, unpack};
use super::interior::Interior;
use super::newton::{Newton, Work};
use super::order::Order;
use super::packed::{Iterate, Packed};
use super::splitting::Splitting;
use super::{ContactProblem, ContactSolver, Impulses, Scratch, SolveReport};

/// Sweeps, Newton steps, alternating directions and proximal points, for problems with `W` in blocks (a factored one is
/// multiplied out first). For tolerances of 1e-8 and below; not slower than sweeps alone where
/// these suffice. [`SolveReport::sweeps`] counts the iterations of all methods.
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

/// Sweeps before the first check whether another method would be cheaper.
const FIRST: usize = 30;
/// Expected number of Newton steps.
const STEPS: f64 = 4.0;
/// Work on the original problem before the proximal method takes over [sweeps].
const BUDGET: f64 = 2000.0;
/// Clusters with more contacts than this are not solved by Newton's method if its matrix is dense.
const MOST: usize = 1000;
/// Work of a multiplication in a factorization relative to one in a sweep.
const FACTOR: f64 = 0.6;
/// The largest factor [multiplications], about a minute.
const LARGEST: f64 = 1e11;

/// The methods of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::friction) enum Method {
    /// All, as measured progress decides.
    All,
    Newton,
    Proximal,
    Splitting,
    Interior,
}

/// Data shared by all stages.
struct Search<'a> {
    options: &'a StoredOptions,
    method: Method,
    sweeps: Sweeps,
    newton: Newton,
    splitting: Splitting,
    interior: Interior,
    trial: Iterate,
    /// An order of elimination, and the limit within which none was found [multiplications].
    order: Option<Order>,
    refused: f64,
    /// Whether alternating directions are set up.
    planned: bool,
    /// The last residual of alternating directions, and its logarithmic decrease per work in their last bout [1/sweeps].
    split_now: f64,
    split_rate: f64,
    /// Work of all but the sweeps, and of a sweep [sweeps, multiplications].
    other_work: f64,
    unit: f64,
}

impl Search<'_> {
    fn relative(&self, packed: &Packed, at: &Iterate) -> f64 {
        packed.relative(at, self.options.measure)
    }

    /// All work so far [sweeps].
    fn spent(&self) -> f64 {
        self.sweeps.count as f64 + self.other_work
    }

    /// Whether all sweeps are used up or numbers have overflowed.
    fn exhausted(&self, now: f64) -> bool {
        self.spent() >= self.options.max_sweeps as f64
            || self.options.late()
            || self.sweeps.count >= FIRST && !now.is_finite()
    }

    /// Looks for an order of elimination that takes at most so many multiplications, unless one is
    /// known or a search with nearly this limit has failed.
    fn find_order(&mut self, packed: &Packed, most: f64) {
        if self.order.is_some() || most < 4.0 * self.refused {
            return;
        }
        self.order = Order::new(packed, most);
        let tried = self.order.as_ref().map_or(most, Order::work);
        self.other_work += (0.1 * tried + 5.0 * packed.work()) / self.unit;
        if self.order.is_none() {
            self.refused = most;
        }
    }

    /// Work of a Newton step [sweeps]; infinite if it must not be taken.
    fn step_work(&mut self, packed: &Packed, at: &Iterate) -> Work {
        let work = self.newton.plan(packed, self.order.as_ref(), at, MOST);
        Work { step: work.step / self.unit, dense: work.dense / self.unit }
    }

    /// Work of a factorization for alternating directions, and of an iteration [sweeps]; infinite if
    /// there is no order of elimination.
    fn splitting_work(&mut self, packed: &Packed) -> [f64; 2] {
        let Some(order) = &self.order else { return [f64::INFINITY; 2] };
        if !self.planned {
            self.planned = self.splitting.plan(packed, order, f64::INFINITY);
        }
        let [factor, iteration] = self.splitting.works(packed);
        [FACTOR * factor / self.unit, iteration / self.unit]
    }

    /// Iterates with sweeps and other methods until the problem is solved or the budget is spent.
    /// Returns the residual.
    fn settle(&mut self, packed: &Packed, at: &mut Iterate) -> f64 {
        let (measure, enough) = (self.options.measure, self.options.tolerance);
        self.sweeps.restart();
        let mut bout = FIRST;
        let mut now = f64::INFINITY;
        let (mut next_split, mut trouble) = (0.0, 1.0);
        loop {
            let begin = now;
            for _ in 0..bout {
                now = self.sweeps.next(packed, at, measure, enough);
                if now <= enough || self.exhausted(now) {
                    return now;
                }
            }
            // At the current rate of convergence, would another method be cheaper? Not before sweeps
            // have been given as much work.
            let spent = self.spent();
            let left = bout as f64 * (now / enough).ln() / (begin / now).ln().max(1e-9);
            if begin.is_finite() && left > 0.5 * spent {
                self.find_order(packed, 4.0 * spent * self.unit / FACTOR);
            }
            let split = self.splitting_left(packed, now);
            let step = self.step_work(packed, at).step;
            let by_newton = STEPS * trouble * step;
            let newton = begin.is_finite() && spent >= step && left > by_newton;
            let turn = spent >= next_split || self.split_rate > 0.0;
            if turn && left > split && (!newton || split < by_newton) {
                now = self.split(packed, at, now, split.max(0.5 * spent));
                if now <= enough {
                    return now;
                }
                next_split = 2.0 * self.spent();
                self.sweeps.restart();
            } else if newton {
                let start = now;
                now = self.descend(packed, at, step);
                if now <= enough {
                    return now;
                }
                // Newton steps that fail are expected to take longer the next time.
                trouble = if now > 0.1 * start { 2.0 * trouble } else { 1.0 };
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

    fn run(&mut self, packed: &Packed, at: &mut Iterate) {
        let tolerance = self.options.tolerance;
        if self.method == Method::All {
            let now = self.settle(packed, at);
            if now > tolerance {
                self.persist(packed, at, now);
            }
            return;
        }
        // A sweep provides contacts that are not open.
        self.sweeps.restart();
        let mut now = self.sweeps.next(packed, at, self.options.measure, tolerance);
        if now <= tolerance {
            return;
        }
        self.find_order(packed, LARGEST.min(self.options.max_sweeps as f64 * self.unit / FACTOR));
        match self.method {
            Method::Splitting => {
                if self.splitting_work(packed)[0].is_finite() {
                    self.split(packed, at, now, f64::INFINITY);
                }
            }
            Method::Interior => {
                self.go_inside(packed, at, now, self.options.max_sweeps as f64);
            }
            Method::Proximal => {
                self.approach(packed, at, now, f64::INFINITY);
            }
            Method::Newton | Method::All => {
                while now > tolerance && !self.exhausted(now) {
                    let work = self.step_work(packed, at).dense.max(1.0);
                    now = self.descend(packed, at, work);
                    self.sweeps.restart();
                    for _ in 0..FIRST {
                        if now > tolerance {
                            now = self.sweeps.next(packed, at, self.options.measure, tolerance);
                        }
                    }
                }
            }
        }
    }

    /// Interior points once, and what they leave to the other methods for as much work again. Some impulses among many with the
    /// same velocities have a residual that cannot be reduced further, so those methods then begin where they would have.
    fn persist(&mut self, packed: &Packed, at: &mut Iterate, start: f64) {
        let before = at.r.clone();
        let inside = self.go_inside(packed, at, start, self.spent());
        if inside < start {
            let now = self.alternate(packed, at, inside, 2.0 * self.spent());
            if now <= self.options.tolerance || self.exhausted(now) {
                return;
            }
            at.r.clone_from(&before);
            packed.velocities(at);
            (self.split_now, self.split_rate) = (f64::INFINITY, 0.0);
        }
        self.alternate(packed, at, start, f64::INFINITY);
    }

    /// Proximal points and alternating directions in turn, with growing budgets; the same again after much progress. Ends
    /// after `most` work [sweeps] in all, and returns the residual.
    fn alternate(&mut self, packed: &Packed, at: &mut Iterate, start: f64, most: f64) -> f64 {
        let (mut now, mut budget) = (start, 0.5 * self.spent());
        let mut by_splitting = true;
        while now > self.options.tolerance && !self.exhausted(now) && self.spent() < most {
            self.find_order(packed, (4.0 * self.spent() * self.unit).min(LARGEST));
            let [factor, iteration] = self.splitting_work(packed);
            let before = now;
            if by_splitting && factor + 100.0 * iteration < 2.0 * budget {
                now = self.split(packed, at, now, budget);
            } else {
                by_splitting = false;
                now = self.approach(packed, at, now, budget);
            }
            if now > 0.1 * before {
                by_splitting = !by_splitting;
                budget *= 1.5;
            }
        }
        now
    }
}

/// Solves a problem by a method, or by all.
pub(in crate::friction) fn improve(
    method: Method,
    options: &StoredOptions,
    problem: &ContactProblem,
    impulses: &mut Impulses,
    scratch: &mut Scratch,
) -> SolveReport {
    if !problem.packs() {
        return options.without_blocks().improve(problem, impulses, scratch);
    }
    let packed = scratch.of::<Packed>();
    let mut at = Iterate::default();
    packed.fill(problem, impulses, &mut at);
    let mut search = Search {
        options,
        method,
        sweeps: Sweeps::default(),
        newton: Newton::default(),
        splitting: Splitting::default(),
        interior: Interior::default(),
        trial: Iterate::default(),
        order: None,
        refused: 0.0,
        planned: false,
        split_now: f64::INFINITY,
        split_rate: 0.0,
        other_work: 0.0,
        unit: packed.work() + 60.0 * packed.len() as f64,
    };
    search.run(packed, &mut at);
    let count = search.sweeps.count + search.newton.count + search.splitting.count;
    let count = count + search.interior.count;
    unpack(packed, &at.r, impulses);
    report(problem, impulses, options, count)
}

impl ContactSolver for Accurate {
    fn improve(
        &self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        scratch: &mut Scratch,
    ) -> SolveReport {
        improve(Method::All, &self.options, problem, impulses, scratch)
    }
}

#[cfg(test)]
mod tests;

//! The stages of a search beyond sweeps: Newton steps, alternating directions, interior points, proximal points.

use super::super::newton::Work;
use super::super::packed::{Iterate, Packed};
use super::{FACTOR, Method, Search};

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
/// Expected iterations of alternating directions for each power of ten of the residual, and the number
/// after which their progress is checked.
const ITERATIONS: f64 = 6.0;
const CHECK: usize = 20;
/// Expected number of interior points.
const EXPECTED: f64 = 30.0;

impl Search<'_> {
    /// Work after which alternating directions are expected to solve the problem [sweeps], by their
    /// progress so far; infinite if a factorization costs more than twice the work so far.
    pub(super) fn splitting_left(&mut self, packed: &Packed, now: f64) -> f64 {
        let [factor, iteration] = self.splitting_work(packed);
        let left = (now.min(self.split_now) / self.options.tolerance).ln();
        match self.split_rate {
            _ if factor + 20.0 * iteration > 2.0 * self.spent() => f64::INFINITY,
            rate if rate > 0.0 => left / rate,
            _ => factor + (10.0 + ITERATIONS * left / 10f64.ln()) * iteration,
        }
    }

    /// Alternating directions for at most `budget` [sweeps] as long as they make progress: from an iterate with residual
    /// `start`, or from where they ended if that is as good. Leaves the best iterate, and returns
    /// its residual.
    pub(super) fn split(
        &mut self,
        packed: &Packed,
        at: &mut Iterate,
        start: f64,
        budget: f64,
    ) -> f64 {
        let (measure, enough) = (self.options.measure, self.options.tolerance);
        let before = self.other_work;
        packed.velocities(at);
        let mut best = (start, at.r.clone());
        let mut done = false;
        if !(self.splitting.count > 0 && self.split_now <= 3.0 * start) {
            self.split_now = f64::INFINITY;
            done = !self.splitting.start(packed, at);
        }
        let first = self.split_now.min(start);
        let (mut mark, mut rounds, mut reached) = (first, 0, f64::INFINITY);
        while !done {
            for _ in 0..CHECK {
                let worked = self.splitting.work;
                let now = self.splitting.next(packed, at, measure, enough);
                self.other_work += (self.splitting.work - worked) / self.unit;
                reached = reached.min(now);
                if now < best.0 {
                    best.0 = now;
                    best.1.clone_from(&at.r);
                }
                done = now <= enough || !now.is_finite();
                if done {
                    break;
                }
            }
            rounds += 1;
            // The first iterations find the penalty.
            let stuck = rounds % 4 == 0 && std::mem::replace(&mut mark, reached) < 2.0 * reached;
            done |= stuck && self.method == Method::All;
            let over = rounds >= 3 && self.other_work - before > budget;
            done |= over || self.exhausted(reached);
        }
        self.split_rate = (first / reached).ln().max(0.0) / (self.other_work - before);
        self.split_now = reached;
        at.r.clone_from(&best.1);
        packed.velocities(at);
        best.0
    }

    /// Interior points, if thirty iterations cost at most `budget` [sweeps]. Leaves the better impulses, and returns their
    /// residual.
    pub(super) fn go_inside(
        &mut self,
        packed: &Packed,
        at: &mut Iterate,
        start: f64,
        budget: f64,
    ) -> f64 {
        let most = budget * self.unit;
        let Some(order) = &self.order else { return start };
        if !self.interior.plan(packed, order, f64::INFINITY) {
            return start;
        }
        let [factor, rest] = self.interior.works(packed);
        if EXPECTED * (FACTOR * factor + rest) > most {
            return start;
        }
        let before = at.r.clone();
        let (options, worked) = (self.options, self.interior.work);
        let aim = (options.measure, options.tolerance);
        let now = self.interior.run(packed, at, aim, 2.0 * most, &|| options.late());
        self.other_work += (self.interior.work - worked) / self.unit;
        if now < start {
            return now;
        }
        at.r.clone_from(&before);
        packed.velocities(at);
        start
    }

    /// Newton steps, each followed by a sweep, as long as the residual decreases. Returns the
    /// residual.
    pub(super) fn descend(&mut self, packed: &Packed, at: &mut Iterate, work: f64) -> f64 {
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
            self.other_work += work;
            let mut after = f64::INFINITY;
            if self.newton.find(packed, self.order.as_ref(), at, shift) {
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
    ///
    /// Returns the residual of the best iterate, after at most `budget` [sweeps].
    pub(super) fn approach(
        &mut self,
        packed: &Packed,
        at: &mut Iterate,
        start: f64,
        budget: f64,
    ) -> f64 {
        let last = self.spent() + budget;
        let (measure, tolerance) = (self.options.measure, self.options.tolerance);
        let mut inner = packed.clone();
        let mut best = (start, at.r.clone());
        let (mut now, mut alpha) = (start, ALPHA);
        let (mut mark, mut level, mut uphill) = (start, 0, 0);
        let mut centre = Vec::new();
        while !self.exhausted(now) && best.0 > tolerance && self.spent() < last {
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
        packed.velocities(at);
        best.0
    }

    /// A Newton step that may increase the residual by a factor, and is shortened otherwise.
    fn leap(&mut self, packed: &Packed, at: &mut Iterate, uphill: f64, work: f64) {
        self.other_work += work;
        let limit = uphill * self.relative(packed, at);
        if !self.newton.find(packed, self.order.as_ref(), at, 0.0) {
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

//! Gauss–Seidel with Anderson acceleration: the last few sweeps are combined so that the change
//! made by a sweep is minimized. Velocities are affine in the impulses, so they are combined in the
//! same way and no product with `W` is needed.

use std::time::Instant;

use super::packed::{Iterate, Packed};
use super::{
    ConjugateGradient, ContactProblem, ContactSolver, GaussSeidelOptions, Impulses, Measure,
    Scratch, SolveReport, residual,
};

/// Options of [`Anderson`] and [`super::Accurate`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoredOptions {
    /// Residual at which to stop [–].
    pub tolerance: f64,
    /// Reference of the residual.
    pub measure: Measure,
    /// Sweeps before giving up; the best iterate is kept and reported as unconverged.
    pub max_sweeps: usize,
    /// When to give up, whatever the number of sweeps; results then depend on the speed of the machine.
    pub deadline: Option<Instant>,
}

impl StoredOptions {
    /// Stops at a residual [–] relative to all data of a stored problem.
    pub fn tolerance(tolerance: f64) -> StoredOptions {
        StoredOptions { tolerance, measure: Measure::All, max_sweeps: 1_000_000, deadline: None }
    }
}

impl StoredOptions {
    /// Whether the deadline is over.
    pub(super) fn late(&self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// The solver for problems with moments of rolling resistance, which are not stored as blocks.
    pub(super) fn without_blocks(&self) -> ConjugateGradient {
        let StoredOptions { tolerance, measure, max_sweeps, .. } = *self;
        let options =
            GaussSeidelOptions { measure, max_sweeps, ..GaussSeidelOptions::stored(tolerance) };
        ConjugateGradient { options }
    }
}

impl Default for StoredOptions {
    fn default() -> Self {
        StoredOptions::tolerance(1e-4)
    }
}

/// Gauss–Seidel with Anderson acceleration, for problems with `W` in blocks: fast up to medium
/// accuracy. A factored `W` is multiplied out first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Anderson {
    /// When to stop.
    pub options: StoredOptions,
}

impl Anderson {
    /// Stops at a residual [–] relative to all data of the problem.
    pub fn tolerance(tolerance: f64) -> Anderson {
        Anderson { options: StoredOptions::tolerance(tolerance) }
    }
}

/// Number of sweeps combined.
const MEMORY: usize = 5;
/// A combination may make the residual grow by this factor over the next sweep.
const GROWTH: f64 = 2.0;
/// Velocities are recomputed after this many sweeps, because rounding errors accumulate in them.
const REFRESH: usize = 100;

/// The last sweeps: differences of their results (impulses and velocities) and of their changes.
#[derive(Clone, Debug, Default)]
struct History {
    given: [Iterate; MEMORY],
    changed: [Vec<[f64; 3]>; MEMORY],
    /// Inner products of the differences of changes.
    gram: [[f64; MEMORY]; MEMORY],
    /// Number of differences, and the slot of the next one.
    len: usize,
    next: usize,
    /// Result and change of the last sweep.
    last: Iterate,
    last_change: Vec<[f64; 3]>,
    begun: bool,
}

impl History {
    fn forget(&mut self) {
        (self.len, self.next, self.begun) = (0, 0, false);
    }

    /// Records a sweep that led from `before` to `at`.
    fn note(&mut self, before: &[[f64; 3]], at: &Iterate) {
        if self.begun {
            let k = self.next;
            let given = &mut self.given[k];
            differ(&at.r, &self.last.r, &mut given.r);
            differ(&at.u, &self.last.u, &mut given.u);
            let changed = &mut self.changed[k];
            changed.clear();
            let now = at.r.iter().zip(before).zip(&self.last_change);
            changed.extend(now.map(|((r, before), last)| -> [f64; 3] {
                std::array::from_fn(|i| r[i] - before[i] - last[i])
            }));
            self.next = (k + 1) % MEMORY;
            self.len = (self.len + 1).min(MEMORY);
            for j in 0..self.len {
                let product = dot(&self.changed[j], &self.changed[k]);
                (self.gram[j][k], self.gram[k][j]) = (product, product);
            }
        }
        self.begun = true;
        self.last.clone_from_iterate(at);
        differ(&at.r, before, &mut self.last_change);
    }

    /// Moves `at` to the combination of the sweeps with the least change; returns false if there is
    /// none.
    fn combine(&self, at: &mut Iterate) -> bool {
        let n = self.len;
        if n < 2 {
            return false;
        }
        let along = std::array::from_fn(|i| match i < n {
            true => dot(&self.changed[i], &self.last_change),
            false => 0.0,
        });
        let Some(factors) = least(&self.gram, &along, n) else { return false };
        for (given, factor) in self.given[..n].iter().zip(factors) {
            subtract(&mut at.r, &given.r, factor);
            subtract(&mut at.u, &given.u, factor);
        }
        true
    }
}

/// Coefficients of the first `n` differences whose combination best cancels a target vector, from
/// the inner products of the differences with each other and with the target. `None` if they are
/// too nearly dependent.
pub(super) fn least<const N: usize>(
    gram: &[[f64; N]; N],
    along: &[f64; N],
    n: usize,
) -> Option<[f64; N]> {
    let (mut a, mut b) = (*gram, *along);
    let trace: f64 = (0..n).map(|i| gram[i][i]).sum();
    for i in 0..n {
        a[i][i] += 1e-10 * trace;
    }
    // Cholesky of a few rows; if it breaks down, no combination is made.
    for k in 0..n {
        for j in 0..k {
            let factor = a[k][j];
            for i in k..n {
                a[i][k] -= a[i][j] * factor;
            }
        }
        let pivot = a[k][k];
        if !(pivot > 0.0 && pivot.is_finite()) {
            return None;
        }
        let inverse = 1.0 / pivot.sqrt();
        for i in k..n {
            a[i][k] *= inverse;
        }
    }
    for i in 0..n {
        for j in 0..i {
            b[i] -= a[i][j] * b[j];
        }
        b[i] /= a[i][i];
    }
    for i in (0..n).rev() {
        for j in i + 1..n {
            b[i] -= a[j][i] * b[j];
        }
        b[i] /= a[i][i];
    }
    Some(b)
}

impl Iterate {
    fn clone_from_iterate(&mut self, other: &Iterate) {
        self.r.clone_from(&other.r);
        self.u.clone_from(&other.u);
    }
}

pub(super) fn differ<const N: usize>(a: &[[f64; N]], b: &[[f64; N]], out: &mut Vec<[f64; N]>) {
    out.clear();
    out.extend(a.iter().zip(b).map(|(a, b)| -> [f64; N] { std::array::from_fn(|i| a[i] - b[i]) }));
}

pub(super) fn subtract<const N: usize>(a: &mut [[f64; N]], b: &[[f64; N]], factor: f64) {
    for (x, y) in a.as_flattened_mut().iter_mut().zip(b.as_flattened()) {
        *x -= factor * y;
    }
}

/// Inner product in four partial sums, so that additions do not wait for each other.
pub(super) fn dot(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    let (a, b) = (a.as_flattened(), b.as_flattened());
    let mut sum = [0.0; 4];
    let parts = a.chunks_exact(4).zip(b.chunks_exact(4));
    for (x, y) in parts {
        for i in 0..4 {
            sum[i] += x[i] * y[i];
        }
    }
    let rest = a.len() / 4 * 4;
    let tail: f64 = a[rest..].iter().zip(&b[rest..]).map(|(x, y)| x * y).sum();
    sum[0] + sum[1] + (sum[2] + sum[3]) + tail
}

/// Accelerated sweeps that can be interrupted and resumed.
#[derive(Clone, Debug, Default)]
pub(super) struct Sweeps {
    history: History,
    before: Vec<[f64; 3]>,
    /// The iterate before the last combination, and its residual.
    safe: Iterate,
    safe_residual: Option<f64>,
    /// Remaining plain sweeps, and how many follow the next failed combination.
    plain: usize,
    penalty: usize,
    since: usize,
    /// Number of sweeps.
    pub(super) count: usize,
}

impl Sweeps {
    /// Starts from a new iterate or with a new problem.
    pub(super) fn restart(&mut self) {
        self.history.forget();
        self.safe_residual = None;
        (self.plain, self.penalty, self.since) = (0, 1, 0);
    }

    /// One sweep and its combination with the last ones. Returns the residual after the sweep; `at`
    /// becomes the result of the sweep if the residual is at or below `enough`, and otherwise the
    /// combination from which to continue.
    pub(super) fn next(
        &mut self,
        packed: &Packed,
        at: &mut Iterate,
        measure: Measure,
        enough: f64,
    ) -> f64 {
        self.before.clone_from(&at.r);
        packed.sweep(at);
        self.count += 1;
        self.since += 1;
        let mut now = packed.relative(at, measure);
        if now <= enough || self.since >= REFRESH {
            self.since = 0;
            packed.velocities(at);
            now = packed.relative(at, measure);
            if now <= enough {
                return now;
            }
        }
        if let Some(safe) = self.safe_residual.take()
            && now > GROWTH * safe
        {
            std::mem::swap(at, &mut self.safe);
            self.history.forget();
            self.plain = self.penalty;
            self.penalty = (2 * self.penalty).min(64);
            return safe;
        }
        self.history.note(&self.before, at);
        if self.plain > 0 {
            self.plain -= 1;
            return now;
        }
        self.safe.clone_from_iterate(at);
        if self.history.combine(at) {
            self.safe_residual = Some(now);
        }
        now
    }
}

impl ContactSolver for Anderson {
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
        let mut sweeps = Sweeps::default();
        sweeps.restart();
        let mut best = (f64::INFINITY, at.r.clone());
        while sweeps.count < options.max_sweeps && !options.late() {
            let now = sweeps.next(packed, &mut at, options.measure, options.tolerance);
            if now <= options.tolerance {
                best = (now, std::mem::take(&mut at.r));
                break;
            }
            if now < best.0 && sweeps.count.is_multiple_of(10) {
                best.0 = now;
                best.1.clone_from(&at.r);
            }
            // Numbers have overflowed.
            if !now.is_finite() && sweeps.count >= MEMORY {
                break;
            }
        }
        unpack(packed, &best.1, impulses);
        report(problem, impulses, options, sweeps.count)
    }
}

/// Converts impulses back to their unit [N s].
pub(super) fn unpack(packed: &Packed, r: &[[f64; 3]], impulses: &mut Impulses) {
    let scale = 1.0 / packed.mobility;
    impulses.clear();
    impulses.extend(r.iter().map(|r| r.map(|x| x * scale)));
}

/// Evaluates impulses by the common residual.
pub(super) fn report(
    problem: &ContactProblem,
    impulses: &[[f64; 3]],
    options: &StoredOptions,
    sweeps: usize,
) -> SolveReport {
    let found = residual(problem, impulses);
    let residual = options.measure.of(&found);
    SolveReport {
        converged: residual <= options.tolerance,
        sweeps,
        residual,
        approach: found.approach * problem.approach_scale,
        ..SolveReport::default()
    }
}

//! Stopping criteria of the sweeping solvers, the changes made by a sweep, and the report.

use super::law::apply;
use super::residual::{Residual, measure, squared};
use super::{BlockVelocities, ContactProblem, Law, Measure, Operator, SolveReport};

/// Contact updates (sweeps × contacts) during which a solve aims at
/// [`GaussSeidelOptions::refined_tolerance`]: 0.1 to 0.2 ms. Problems of a thousand contacts and more
/// have spent them before they meet their tolerances.
const REFINING_UPDATES: usize = 5000;

/// Options of [`super::GaussSeidel`] and its accelerations. A solve stops when all four criteria hold.
///
/// By default all criteria are tied to a residual of 1e-4, at which piles stay at rest, and small
/// problems, such as those of mechanisms, are refined to 1e-8, which costs little and keeps solver
/// errors out of their motion.
///
/// ```
/// use riprap::prelude::*;
///
/// let options = GaussSeidelOptions::tolerance(1e-6);
/// assert_eq!(options.approach_tolerance, 1e-6);
/// let patient = GaussSeidelOptions { max_sweeps: 50_000, ..options };
/// assert!(patient.max_sweeps > options.max_sweeps);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GaussSeidelOptions {
    /// Natural-map residual relative to the impulses [–]. At 1e-4 piles stay at rest; 1e-8 is for
    /// validation.
    pub tolerance: f64,
    /// Worst approach velocity × dt relative to [`crate::scene::Scene::resolution`] [–]: the penetration one step may add.
    pub approach_tolerance: f64,
    /// Root mean square change of velocity in a sweep, relative to `W I` (LMGC90's Quad) [–].
    pub velocity_change_tolerance: f64,
    /// Largest change of velocity in a sweep, relative to `W I` (LMGC90's Maxm) [–].
    pub max_velocity_change_tolerance: f64,
    /// Sweeps before giving up; the last iterate is kept and reported as unconverged.
    pub max_sweeps: usize,
    /// Reference of the residual.
    #[serde(default)]
    pub measure: Measure,
    /// Residual that a solve aims at, with the other tolerances reduced in proportion, during its
    /// first 5000 contact updates (sweeps × contacts) [–]; no effect if not below `tolerance`. A
    /// solve that meets its tolerances but not this one has converged.
    pub refined_tolerance: f64,
}

impl GaussSeidelOptions {
    /// All criteria derived from one residual tolerance [–].
    pub fn tolerance(tolerance: f64) -> GaussSeidelOptions {
        GaussSeidelOptions {
            tolerance,
            approach_tolerance: tolerance,
            velocity_change_tolerance: 10.0 * tolerance,
            max_velocity_change_tolerance: 100.0 * tolerance,
            max_sweeps: 10_000,
            measure: Measure::Impulses,
            refined_tolerance: tolerance,
        }
    }

    /// For stored problems: only the residual [–] decides, relative to all data of the problem.
    pub fn stored(tolerance: f64) -> GaussSeidelOptions {
        GaussSeidelOptions {
            tolerance,
            approach_tolerance: f64::INFINITY,
            velocity_change_tolerance: f64::INFINITY,
            max_velocity_change_tolerance: f64::INFINITY,
            max_sweeps: 200_000,
            measure: Measure::All,
            refined_tolerance: tolerance,
        }
    }
}

/// One of the criteria of a solve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Criterion {
    /// The residual of the contact laws.
    #[default]
    Residual,
    /// The worst approach velocity.
    Approach,
    /// The root mean square change of velocity in a sweep.
    VelocityChange,
    /// The largest change of velocity in a sweep.
    MaxVelocityChange,
}

impl Criterion {
    /// All of them, in the order of their numbers.
    pub const ALL: [Criterion; 4] = [
        Criterion::Residual,
        Criterion::Approach,
        Criterion::VelocityChange,
        Criterion::MaxVelocityChange,
    ];

    /// Its key in a scene file.
    pub fn key(self) -> &'static str {
        match self {
            Criterion::Residual => "tolerance",
            Criterion::Approach => "approach_tolerance",
            Criterion::VelocityChange => "velocity_change_tolerance",
            Criterion::MaxVelocityChange => "max_velocity_change_tolerance",
        }
    }

    /// The criterion that decided a solve: the one closest to its tolerance, or farthest beyond it.
    pub(super) fn deciding(options: &GaussSeidelOptions, report: &SolveReport) -> Criterion {
        let shares = [
            report.residual / options.tolerance,
            report.approach / options.approach_tolerance,
            report.velocity_change_rms / options.velocity_change_tolerance,
            report.velocity_change_max / options.max_velocity_change_tolerance,
        ];
        let first = (Criterion::Residual, shares[0]);
        let larger = |best: (Criterion, f64), (c, share): (Criterion, f64)| {
            if share > best.1 { (c, share) } else { best }
        };
        Criterion::ALL.into_iter().zip(shares).fold(first, larger).0
    }
}

impl Default for GaussSeidelOptions {
    /// The defaults of scene files.
    fn default() -> Self {
        let options = GaussSeidelOptions::tolerance(1e-4);
        GaussSeidelOptions { refined_tolerance: 1e-8, max_sweeps: 5000, ..options }
    }
}

/// Changes of velocity `ΔV = W^αα ΔI` over one sweep, relative to `W^αα I`.
#[derive(Default)]
pub(super) struct Change {
    /// Sum of `‖ΔV‖²` [m²/s²].
    pub sum: f64,
    /// Largest `‖ΔV‖²` [m²/s²].
    pub max: f64,
    /// Sum of `‖W^αα I‖²` over the contacts with an impulse [m²/s²].
    pub scale: f64,
    /// Number of contacts with an impulse.
    pub active: usize,
}

impl Change {
    /// Adds one contact: its new impulse, and its last step [N s].
    #[inline]
    pub(super) fn note(&mut self, law: Law, block: &[[f64; 3]; 3], new: [f64; 3], step: [f64; 3]) {
        if step != [0.0; 3] {
            let dv = squared(apply(block, step));
            self.sum += dv;
            self.max = self.max.max(dv);
        }
        let carries = match law {
            Law::Coulomb { .. } | Law::Cone { .. } => new[0] > 0.0,
            Law::Bilateral => true,
            Law::Rolling => false,
        };
        if carries {
            self.active += 1;
            self.scale += squared(apply(block, new));
        }
    }

    /// Sum of the squared changes [m²/s²].
    pub(super) fn squared(&self) -> f64 {
        self.sum
    }

    /// Root mean square and largest change, relative to the root mean square of `W^αα I`.
    fn relative(&self) -> (f64, f64) {
        if self.sum == 0.0 {
            return (0.0, 0.0);
        }
        if self.active == 0 || self.scale == 0.0 {
            return (f64::INFINITY, f64::INFINITY);
        }
        let rms = (self.scale / self.active as f64).sqrt();
        ((self.sum / self.active as f64).sqrt() / rms, self.max.sqrt() / rms)
    }
}

/// What a solve needs next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Want {
    /// Another sweep.
    Sweep,
    /// The residual: the sweeps have settled, or this was the last one.
    Residual { last: bool },
}

/// Counts sweeps, decides when the criteria hold, and keeps the report.
#[derive(Clone, Copy)]
pub(super) struct Progress<'a> {
    options: &'a GaussSeidelOptions,
    /// Number of sweeps during which the solve is refined.
    refining: usize,
    next_check: usize,
    /// Whether the solve is finished, converged or not.
    pub(super) over: bool,
    pub(super) report: SolveReport,
}

impl Progress<'_> {
    /// The start of a solve of `contacts` contacts.
    pub(super) fn new(options: &GaussSeidelOptions, contacts: usize) -> Progress<'_> {
        let refines = options.refined_tolerance < options.tolerance;
        let refining = if refines { REFINING_UPDATES / contacts.max(1) } else { 0 };
        Progress { options, refining, next_check: 1, over: false, report: SolveReport::default() }
    }

    /// A solve that goes on after a number of sweeps; it is not refined any more.
    pub(super) fn after(options: &GaussSeidelOptions, sweeps: usize) -> Progress<'_> {
        let report = SolveReport { sweeps, ..SolveReport::default() };
        Progress { options, refining: 0, next_check: sweeps + 1, over: false, report }
    }

    /// The fraction of the tolerances that the solve aims at now.
    fn share(&self) -> f64 {
        let options = self.options;
        let refines = self.report.sweeps < self.refining;
        if refines { options.refined_tolerance / options.tolerance } else { 1.0 }
    }

    /// Records a sweep and returns what to do next.
    pub(super) fn note(&mut self, change: &Change) -> Want {
        let (rms, max) = change.relative();
        self.report.sweeps += 1;
        let share = self.share();
        let (options, report) = (self.options, &mut self.report);
        report.velocity_change_rms = rms;
        report.velocity_change_max = max;
        let settled = rms <= share * options.velocity_change_tolerance
            && max <= share * options.max_velocity_change_tolerance;
        // A sweep that changed nothing is the last, since no other would. So is one with overflowed
        // numbers.
        let last = report.sweeps >= options.max_sweeps
            || change.sum == 0.0
            || !(change.sum + change.scale).is_finite();
        // The residual costs half a sweep: it is requested when the sweeps have settled, and then
        // at growing intervals.
        if (settled && report.sweeps >= self.next_check) || last {
            self.next_check = report.sweeps + 1 + report.sweeps / 10;
            return Want::Residual { last };
        }
        Want::Sweep
    }

    pub(super) fn has_sweeps_left(&self) -> bool {
        self.report.sweeps < self.options.max_sweeps
    }

    /// The residual was requested but must wait for another sweep.
    pub(super) fn ask_again(&mut self) {
        self.next_check = self.report.sweeps + 1;
    }

    /// Records the requested residual; returns true if the solve is finished, converged or not.
    pub(super) fn judge(&mut self, residual: &Residual, approach_scale: f64, want: Want) -> bool {
        let Want::Residual { last } = want else { return false };
        let share = self.share();
        let (options, report) = (self.options, &mut self.report);
        report.residual = options.measure.of(residual);
        report.approach = residual.approach * approach_scale;
        let holds = |share: f64| {
            report.residual <= share * options.tolerance
                && report.approach <= share * options.approach_tolerance
                && report.velocity_change_rms <= share * options.velocity_change_tolerance
                && report.velocity_change_max <= share * options.max_velocity_change_tolerance
        };
        let enough = holds(share);
        let converged = holds(1.0);
        report.converged = converged;
        report.decided_by = Criterion::deciding(options, report);
        self.over = enough || last;
        self.over
    }

    /// Records a sweep; returns true if the solve is finished, converged or not.
    pub(super) fn done<W: Operator>(
        &mut self,
        w: &W,
        problem: &ContactProblem,
        impulses: &[[f64; 3]],
        velocity: &mut BlockVelocities,
        change: &Change,
    ) -> bool {
        let want = self.note(change);
        if want == Want::Sweep {
            return false;
        }
        w.start(impulses, velocity);
        let residual = measure(w, problem, impulses, velocity);
        self.judge(&residual, problem.approach_scale, want)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BLOCK: [[f64; 3]; 3] = [[2.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];

    #[test]
    fn a_change_counts_the_contacts_with_an_impulse() {
        let mut change = Change::default();
        let coulomb = Law::Coulomb { friction: 0.5 };
        change.note(coulomb, &BLOCK, [1.0, 0.0, 0.0], [0.5, 0.0, 0.0]);
        change.note(coulomb, &BLOCK, [0.0; 3], [0.0; 3]);
        change.note(Law::Bilateral, &BLOCK, [0.0, 3.0, 0.0], [0.0, 1.0, 0.0]);
        change.note(Law::Rolling, &BLOCK, [0.1; 3], [0.0; 3]);
        assert_eq!((change.active, change.sum, change.max), (2, 2.0, 1.0));
        assert_eq!(change.scale, 4.0 + 9.0);
        // Root mean square over the two with an impulse, relative to theirs.
        let (rms, max) = change.relative();
        assert!((rms - (2.0f64 / 13.0).sqrt()).abs() < 1e-15);
        assert!((max - 1.0 / (6.5f64).sqrt()).abs() < 1e-15);
    }

    #[test]
    fn a_sweep_that_changes_nothing_is_the_last() {
        let options = GaussSeidelOptions::tolerance(1e-6);
        let mut progress = Progress::new(&options, 1);
        let want = progress.note(&Change::default());
        assert_eq!(want, Want::Residual { last: true });
        assert!(progress.judge(&Residual::default(), 1.0, want) && progress.report.converged);
    }

    #[test]
    fn an_overflow_ends_a_solve_unconverged() {
        let options = GaussSeidelOptions::tolerance(1e-6);
        let mut progress = Progress::new(&options, 1);
        let change = Change { sum: f64::INFINITY, max: f64::INFINITY, scale: 1.0, active: 1 };
        let want = progress.note(&change);
        assert_eq!(want, Want::Residual { last: true });
        let residual =
            Residual { natural_map: 1.0, impulses: f64::INFINITY, ..Residual::default() };
        assert!(progress.judge(&residual, 1.0, want) && !progress.report.converged);
    }

    #[test]
    fn a_converged_solve_satisfies_all_criteria() {
        let options = GaussSeidelOptions::tolerance(1e-3);
        let change = Change { sum: 1e-8, max: 1e-8, scale: 1.0, active: 1 };
        let good = Residual { natural_map: 1e-4, impulses: 1.0, ..Residual::default() };
        let approaching = Residual { approach: 1.0, ..good };
        for (residual, scale, converged) in
            [(good, 1.0, true), (approaching, 1.0, false), (approaching, 1e-3, true)]
        {
            let mut progress = Progress::new(&options, 1);
            let want = progress.note(&change);
            progress.judge(&residual, scale, want);
            assert_eq!(progress.report.converged, converged, "{residual:?} {scale}");
        }
    }
}

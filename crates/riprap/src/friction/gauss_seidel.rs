//! Nonlinear block Gauss–Seidel, Eq. (33): contact after contact is solved exactly with all other
//! impulses held. Plain and readable: the oracle for every faster solver.

use super::residual::{Residual, measure, squared};
use super::rolling::{ROLLING, solve_rolling};
use super::{
    ContactProblem, ContactSolver, Delassus, Impulses, JOINT, Measure, Operator, SolveReport,
    SolverScratch, solve_contact, solve_joint,
};

/// Options of [`GaussSeidel`]. The solver stops when all four criteria hold.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct GaussSeidelOptions {
    /// Natural-map residual relative to the impulses [–]. At 1e-4 piles stand still; 1e-8 is for
    /// validation.
    pub tolerance: f64,
    /// Worst approach velocity × dt relative to the grain size [–]: the penetration one step may add.
    pub approach_tolerance: f64,
    /// Root mean square change of velocity in a sweep, relative to `W I` (LMGC90's Quad) [–].
    pub velocity_change_tolerance: f64,
    /// Largest change of velocity in a sweep, relative to the same (LMGC90's Maxm) [–].
    pub max_velocity_change_tolerance: f64,
    /// Sweeps before giving up; the last iterate is kept and reported as unconverged.
    pub max_sweeps: usize,
    /// What the residual is relative to.
    #[serde(default)]
    pub measure: Measure,
}

impl GaussSeidelOptions {
    /// All criteria tied to one residual tolerance [–].
    pub fn tolerance(tolerance: f64) -> GaussSeidelOptions {
        GaussSeidelOptions {
            tolerance,
            approach_tolerance: tolerance,
            velocity_change_tolerance: 10.0 * tolerance,
            max_velocity_change_tolerance: 100.0 * tolerance,
            max_sweeps: 10_000,
            measure: Measure::Impulses,
        }
    }

    /// For stored problems: only the residual [–] decides, relative to all that enters the problem.
    pub fn stored(tolerance: f64) -> GaussSeidelOptions {
        GaussSeidelOptions {
            tolerance,
            approach_tolerance: f64::INFINITY,
            velocity_change_tolerance: f64::INFINITY,
            max_velocity_change_tolerance: f64::INFINITY,
            max_sweeps: 200_000,
            measure: Measure::All,
        }
    }
}

impl Default for GaussSeidelOptions {
    fn default() -> Self {
        GaussSeidelOptions::tolerance(1e-4)
    }
}

/// Nonlinear Gauss–Seidel in the order in which the contacts are listed.
#[derive(Clone, Copy, Debug, Default)]
pub struct GaussSeidel {
    /// When to stop.
    pub options: GaussSeidelOptions,
}

impl GaussSeidel {
    /// Gauss–Seidel that stops at a residual [–]; see [`GaussSeidelOptions::tolerance`].
    pub fn tolerance(tolerance: f64) -> GaussSeidel {
        GaussSeidel { options: GaussSeidelOptions::tolerance(tolerance) }
    }
}

/// Changes of velocity `ΔV = W^αα ΔI` over one sweep, against `W^αα I`.
#[derive(Default)]
pub(super) struct Change {
    /// Sum of `‖ΔV‖²` [m²/s²].
    pub sum: f64,
    /// Largest `‖ΔV‖²` [m²/s²].
    pub max: f64,
    /// Sum of `‖W^αα I‖²` over the contacts that carry [m²/s²].
    pub scale: f64,
    /// How many carry.
    pub active: usize,
}

impl Change {
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

/// One sweep over the contacts, Eq. (33). With a relaxation below 1 each impulse goes only that part
/// of the way.
pub(super) fn sweep<W: Operator>(
    w: &W,
    problem: &ContactProblem,
    impulses: &mut Impulses,
    scratch: &mut SolverScratch,
    relaxation: f64,
    backwards: bool,
) -> Change {
    let mut change = Change::default();
    let n = problem.len();
    for k in 0..n {
        let a = if backwards { n - 1 - k } else { k };
        let wr = w.velocity(a, impulses, scratch);
        let old = impulses[a];
        let limit = problem.limit(a, impulses);
        let at = At { a, block: w.diagonal(a), wr, old, limit };
        let (new, step) = visit(problem, &at, relaxation, &mut change);
        if step != [0.0; 3] {
            impulses[a] = new;
            w.add(a, step, scratch);
        }
    }
    change
}

/// A contact as a sweep finds it.
pub(super) struct At<'a> {
    /// Which.
    pub a: usize,
    /// `W^αα` [1/kg].
    pub block: &'a [[f64; 3]; 3],
    /// `(W I)^α` [m/s].
    pub wr: [f64; 3],
    /// Its impulse [N s].
    pub old: [f64; 3],
    /// Largest impulse of a moment [N s].
    pub limit: f64,
}

/// The new impulse of one contact and its step from the old one, exact while all other impulses are held.
#[inline]
pub(super) fn visit(
    problem: &ContactProblem,
    at: &At,
    relaxation: f64,
    change: &mut Change,
) -> ([f64; 3], [f64; 3]) {
    let At { a, block, wr, old, limit } = *at;
    let own = apply(block, old);
    // V_free + Σ_{β≠α} W^αβ I^β
    let q = problem.v_rel_free[a];
    let v_rel = std::array::from_fn(|i| q[i] + wr[i] - own[i]);
    let friction = problem.friction[a];
    let joint = friction == JOINT;
    let mut new = if joint {
        solve_joint(block, v_rel)
    } else if friction == ROLLING {
        solve_rolling(block, std::array::from_fn(|i| q[i] + wr[i]), old, limit)
    } else {
        solve_contact(block, v_rel, friction)
    };
    let mut step = [new[0] - old[0], new[1] - old[1], new[2] - old[2]];
    if step != [0.0; 3] {
        if relaxation < 1.0 {
            step = step.map(|x| relaxation * x);
            new = std::array::from_fn(|i| old[i] + step[i]);
        }
        let dv = squared(apply(block, step));
        change.sum += dv;
        change.max = change.max.max(dv);
    }
    if joint || new[0] > 0.0 && friction != ROLLING {
        change.active += 1;
        change.scale += squared(apply(block, new));
    }
    (new, step)
}

/// What a solve needs next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Want {
    /// Another sweep.
    Sweep,
    /// The residual: the sweeps have settled, or this was the last one.
    Residual { settled: bool, last: bool },
}

/// Counts sweeps, decides when the criteria hold, and keeps the report.
#[derive(Clone, Copy)]
pub(super) struct Progress<'a> {
    options: &'a GaussSeidelOptions,
    next_check: usize,
    /// The solve is over, converged or not.
    pub(super) over: bool,
    pub(super) report: SolveReport,
}

impl Progress<'_> {
    pub(super) fn new(options: &GaussSeidelOptions) -> Progress<'_> {
        Progress { options, next_check: 1, over: false, report: SolveReport::default() }
    }

    /// Takes note of a sweep and says what comes next.
    pub(super) fn note(&mut self, change: &Change) -> Want {
        let (options, report) = (self.options, &mut self.report);
        let (rms, max) = change.relative();
        report.sweeps += 1;
        report.velocity_change_rms = rms;
        report.velocity_change_max = max;
        let settled = rms <= options.velocity_change_tolerance
            && max <= options.max_velocity_change_tolerance;
        // A sweep that changed nothing is the last: no other would. So is one with numbers that have overflown.
        let last = report.sweeps >= options.max_sweeps
            || change.sum == 0.0
            || !(change.sum + change.scale).is_finite();
        // The residual costs half a sweep: it is asked for when the sweeps have calmed down, and then at growing
        // distances.
        if (settled && report.sweeps >= self.next_check) || last {
            self.next_check = report.sweeps + 1 + report.sweeps / 10;
            return Want::Residual { settled, last };
        }
        Want::Sweep
    }

    pub(super) fn has_sweeps_left(&self) -> bool {
        self.report.sweeps < self.options.max_sweeps
    }

    /// The residual was wanted but has to wait for another sweep.
    pub(super) fn ask_again(&mut self) {
        self.next_check = self.report.sweeps + 1;
    }

    /// Takes note of the residual that was wanted; true when the solve is over, converged or not.
    pub(super) fn judge(&mut self, residual: &Residual, approach_scale: f64, want: Want) -> bool {
        let Want::Residual { settled, last } = want else { return false };
        let (options, report) = (self.options, &mut self.report);
        report.residual = options.measure.of(residual);
        report.approach = residual.approach * approach_scale;
        report.converged = settled
            && report.residual <= options.tolerance
            && report.approach <= options.approach_tolerance;
        self.over = report.converged || last;
        self.over
    }

    /// Takes note of a sweep; true when the solve is over, converged or not.
    pub(super) fn done<W: Operator>(
        &mut self,
        w: &W,
        problem: &ContactProblem,
        impulses: &[[f64; 3]],
        scratch: &mut SolverScratch,
        change: &Change,
    ) -> bool {
        let want = self.note(change);
        if want == Want::Sweep {
            return false;
        }
        w.start(impulses, scratch);
        let residual = measure(w, problem, impulses, scratch);
        self.judge(&residual, problem.approach_scale, want)
    }
}

impl GaussSeidel {
    fn run<W: Operator>(
        &self,
        w: &W,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        scratch: &mut SolverScratch,
    ) -> SolveReport {
        let mut progress = Progress::new(&self.options);
        w.start(impulses, scratch);
        loop {
            let change = sweep(w, problem, impulses, scratch, 1.0, false);
            if progress.done(w, problem, impulses, scratch, &change) {
                return progress.report;
            }
        }
    }
}

impl ContactSolver for GaussSeidel {
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

#[inline]
fn apply(w: &[[f64; 3]; 3], r: [f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| w[i][0] * r[0] + w[i][1] * r[1] + w[i][2] * r[2])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::friction::{Coloured, ConjugateGradient, Factored, InverseMass, residual};
    use crate::math::{Vec3, tangents};
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    /// Random contacts between random blocks: a pile without geometry.
    fn random_problem(seed: u64, blocks: usize, contacts: usize) -> ContactProblem {
        let mut rng = Pcg64::seed_from_u64(seed);
        let mut factored = Factored::default();
        factored.reset((0..blocks).map(|_| InverseMass {
            linear: [rng.random_range(0.5..2.0); 3],
            angular: [3.0, 4.0, 5.0, 0.5, -0.3, 0.2].map(|x| x * rng.random_range(0.9..1.1)),
        }));
        let mut problem = ContactProblem { approach_scale: 1.0, ..Default::default() };
        for a in 0..contacts {
            let first = if a % 5 == 0 { Factored::NONE } else { (a % blocks) as u32 };
            let second = ((a * 7 + 1) % blocks) as u32;
            if first == second {
                continue;
            }
            let n = Vec3::from_fn(|_, _| rng.random_range(-1.0..1.0)).normalize();
            let (t1, t2) = tangents(n);
            let arm = |rng: &mut Pcg64| std::array::from_fn(|_| rng.random_range(-0.5..0.5));
            let arms = [arm(&mut rng), arm(&mut rng)];
            factored.push([first, second], [n.into(), t1.into(), t2.into()], arms);
            problem.v_rel_free.push(std::array::from_fn(|_| rng.random_range(-1.0..0.5)));
            problem.friction.push(rng.random_range(0.0..1.0));
        }
        problem.w = Delassus::Factored(factored);
        problem
    }

    #[test]
    fn random_problems_are_solved_and_the_impulses_stay_in_the_cone() {
        for seed in 0..20 {
            let problem = random_problem(seed, 12, 25);
            let mut impulses = Vec::new();
            let mut scratch = SolverScratch::default();
            let solver = GaussSeidel::tolerance(1e-10);
            let report = solver.solve(&problem, &mut impulses, &mut scratch);
            assert!(report.converged, "seed {seed}: {report:?}");
            let mut fast = Vec::new();
            let solver = ConjugateGradient::tolerance(1e-10);
            let report = solver.solve(&problem, &mut fast, &mut scratch);
            assert!(report.converged, "seed {seed}: accelerated {report:?}");
            let accelerated = residual(&problem, &fast, &mut scratch);
            assert!(accelerated.relative_to_impulses() <= 1e-10);
            let mut packed = Vec::new();
            let solver = Coloured::tolerance(1e-10);
            let report = solver.solve(&problem, &mut packed, &mut scratch);
            assert!(report.converged, "seed {seed}: coloured {report:?}");
            let coloured = residual(&problem, &packed, &mut scratch);
            assert!(coloured.relative_to_impulses() <= 1e-10);
            let again = residual(&problem, &impulses, &mut scratch);
            assert!(again.relative_to_impulses() <= 1e-10);
            for (r, mu) in impulses.iter().zip(&problem.friction) {
                assert!(r[0] >= 0.0 && r[1].hypot(r[2]) <= mu * r[0] * (1.0 + 1e-15));
            }
        }
    }

    #[test]
    fn blocks_and_factors_are_the_same_operator() {
        let factored = random_problem(3, 8, 20);
        let Delassus::Factored(w) = &factored.w else { unreachable!() };
        let blocks = ContactProblem { w: Delassus::Blocks(w.to_blocks()), ..factored.clone() };
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let mut scratch = SolverScratch::default();
        let solver = GaussSeidel::tolerance(1e-12);
        assert!(solver.solve(&factored, &mut a, &mut scratch).converged);
        assert!(solver.solve(&blocks, &mut b, &mut scratch).converged);
        for (x, y) in a.iter().flatten().zip(b.iter().flatten()) {
            assert!((x - y).abs() < 1e-9);
        }
    }

    #[test]
    fn a_solver_that_gives_up_says_so() {
        let problem = random_problem(5, 12, 30);
        let mut solver = GaussSeidel::tolerance(1e-14);
        solver.options.max_sweeps = 2;
        let report = solver.solve(&problem, &mut Vec::new(), &mut SolverScratch::default());
        assert!(!report.converged && report.sweeps == 2 && report.residual > 1e-14);
    }

    #[test]
    fn an_empty_problem_is_solved() {
        let report = GaussSeidel::default().solve(
            &ContactProblem::default(),
            &mut Vec::new(),
            &mut SolverScratch::default(),
        );
        assert!(report.converged && report.sweeps == 0);
    }
}

//! Nonlinear block Gauss–Seidel, Eq. (33): contacts are solved exactly one after another, with all
//! other impulses fixed. Simple and readable: the reference for every faster solver.

use super::criteria::{Change, Progress};
use super::{
    BlockVelocities, Buffers, ContactProblem, ContactSolver, Delassus, GaussSeidelOptions,
    Impulses, Local, Operator, Scratch, SolveReport,
};

/// Nonlinear Gauss–Seidel in the order of the contacts.
///
/// ```
/// use riprap::prelude::*;
///
/// let scheme = MoreauJean::new(1e-3).solver(GaussSeidel::tolerance(1e-6));
/// // All criteria one by one.
/// let options = GaussSeidelOptions { max_sweeps: 500, ..GaussSeidelOptions::tolerance(1e-6) };
/// let scheme = scheme.solver(GaussSeidel { options });
/// # let _ = scheme;
/// ```
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

    /// Sweeps until the criteria hold.
    fn run<W: Operator>(
        &self,
        w: &W,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        velocity: &mut BlockVelocities,
    ) -> SolveReport {
        let mut progress = Progress::new(&self.options, problem.len());
        w.start(impulses, velocity);
        loop {
            let change = sweep(w, problem, impulses, velocity);
            if progress.done(w, problem, impulses, velocity, &change) {
                return progress.report;
            }
        }
    }
}

/// One sweep over the contacts, Eq. (33).
fn sweep<W: Operator>(
    w: &W,
    problem: &ContactProblem,
    impulses: &mut Impulses,
    velocity: &mut BlockVelocities,
) -> Change {
    let mut change = Change::default();
    for a in 0..problem.len() {
        let (law, free, wr) =
            (problem.laws[a], problem.v_rel_free[a], w.velocity(a, impulses, velocity));
        let at = Local {
            block: w.diagonal(a),
            velocity: std::array::from_fn(|i| free[i] + wr[i]), // V_free + Σ_β W^αβ I^β
            impulse: impulses[a],
            limit: problem.limit(a, impulses),
        };
        let new = law.solve(&at);
        let step = std::array::from_fn(|i| new[i] - at.impulse[i]);
        change.note(law, at.block, new, step);
        if step != [0.0; 3] {
            impulses[a] = new;
            w.add(a, step, velocity);
        }
    }
    change
}

/// `M⁻¹ H I` of a factored problem.
#[derive(Default)]
struct Velocity(BlockVelocities);

impl Buffers for Velocity {
    fn bytes(&self) -> usize {
        crate::math::bytes_of(&self.0)
    }
}

impl ContactSolver for GaussSeidel {
    fn improve(
        &self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        scratch: &mut Scratch,
    ) -> SolveReport {
        let velocity = &mut scratch.of::<Velocity>().0;
        match &problem.w {
            Delassus::Factored(w) => self.run(w, problem, impulses, velocity),
            Delassus::Blocks(w) => self.run(w, problem, impulses, velocity),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::friction::fixtures::random_problem;
    use crate::friction::{Coloured, ConjugateGradient, residual};

    #[test]
    fn random_problems_are_solved_and_the_impulses_stay_in_the_cone() {
        for seed in 0..20 {
            let problem = random_problem(seed, 12, 25);
            let mut impulses = Vec::new();
            let mut scratch = Scratch::default();
            let solver = GaussSeidel::tolerance(1e-10);
            let report = solver.solve(&problem, &mut impulses, &mut scratch);
            assert!(report.converged, "seed {seed}: {report:?}");
            let mut fast = Vec::new();
            let solver = ConjugateGradient::tolerance(1e-10);
            let report = solver.solve(&problem, &mut fast, &mut scratch);
            assert!(report.converged, "seed {seed}: accelerated {report:?}");
            let accelerated = residual(&problem, &fast);
            assert!(accelerated.relative_to_impulses() <= 1e-10);
            let mut packed = Vec::new();
            let solver = Coloured::tolerance(1e-10);
            let report = solver.solve(&problem, &mut packed, &mut scratch);
            assert!(report.converged, "seed {seed}: coloured {report:?}");
            let coloured = residual(&problem, &packed);
            assert!(coloured.relative_to_impulses() <= 1e-10);
            let again = residual(&problem, &impulses);
            assert!(again.relative_to_impulses() <= 1e-10);
            for (r, law) in impulses.iter().zip(&problem.laws) {
                let mu = law.friction().unwrap();
                assert!(r[0] >= 0.0 && r[1].hypot(r[2]) <= mu * r[0] * (1.0 + 1e-15));
            }
        }
    }

    #[test]
    fn blocks_and_factors_give_the_same_operator() {
        let factored = random_problem(3, 8, 20);
        let Delassus::Factored(w) = &factored.w else { unreachable!() };
        let blocks = ContactProblem { w: Delassus::Blocks(w.to_blocks()), ..factored.clone() };
        let (mut a, mut b) = (Vec::new(), Vec::new());
        let mut scratch = Scratch::default();
        let solver = GaussSeidel::tolerance(1e-12);
        assert!(solver.solve(&factored, &mut a, &mut scratch).converged);
        assert!(solver.solve(&blocks, &mut b, &mut scratch).converged);
        for (x, y) in a.iter().flatten().zip(b.iter().flatten()) {
            assert!((x - y).abs() < 1e-9);
        }
    }

    #[test]
    fn a_solver_that_gives_up_reports_it() {
        let problem = random_problem(5, 12, 30);
        let mut solver = GaussSeidel::tolerance(1e-14);
        solver.options.max_sweeps = 2;
        let report = solver.solve(&problem, &mut Vec::new(), &mut Scratch::default());
        assert!(!report.converged && report.sweeps == 2 && report.residual > 1e-14);
    }

    #[test]
    fn an_empty_problem_is_solved() {
        let report = GaussSeidel::default().solve(
            &ContactProblem::default(),
            &mut Vec::new(),
            &mut Scratch::default(),
        );
        assert!(report.converged && report.sweeps == 0);
    }
}

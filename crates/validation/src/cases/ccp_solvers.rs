//! Random cone complementarity problems: all solvers find the minimum of the oracle, and exact Coulomb friction gives the same
//! impulses where no contact slides.

use crate::bench::{ConeSolver, Kind, random_problem};
use crate::{Checks, Effort};
use rayon::prelude::*;
use riprap::friction::{
    Accurate, ConeOptions, ConeProblem, ContactProblem, ContactSolver, Impulses, Law, Scratch,
    SolveReport,
};
use std::ops::Range;

/// Residual at which the solvers stop, relative to all data [–].
const RESIDUAL: f64 = 1e-11;
/// Largest difference of the values relative to that of the oracle [–].
const AGREEMENT: f64 = 1e-8;

pub(super) fn ccp_solvers(effort: Effort) -> Checks {
    let mut checks = Checks::new("ccp-solvers");
    let seeds = if effort == Effort::Full { 0..500 } else { 20..40 };
    for (planar, words) in [(true, "planar"), (false, "spatial")] {
        agreement(&mut checks, seeds.clone(), planar, words);
        sticking(&mut checks, seeds.clone(), planar, words);
    }
    checks
}

fn solve(solver: &dyn ContactSolver, problem: &ContactProblem) -> (Impulses, SolveReport) {
    let mut impulses = Vec::new();
    let report = solver.solve(problem, &mut impulses, &mut Scratch::default());
    (impulses, report)
}

/// The values of all solvers compared with that of the interior-point method.
fn agreement(checks: &mut Checks, seeds: Range<u64>, planar: bool, words: &str) {
    let n = seeds.end - seeds.start;
    let options = ConeOptions { max_iterations: 2_000_000, ..ConeOptions::stored(RESIDUAL) };
    let outcomes: Vec<Vec<(f64, SolveReport)>> = seeds
        .into_par_iter()
        .map(|seed| {
            let problem = random_problem(seed, planar, Kind::Mixed);
            let cone = ConeProblem::new(&problem);
            let value = |solver: ConeSolver| {
                let (impulses, report) = solve(&*solver.build(options), &problem);
                (cone.objective(&impulses), report)
            };
            let all: Vec<(f64, SolveReport)> = ConeSolver::ALL.map(value).to_vec();
            let oracle = all[ConeSolver::ALL.len() - 1].0;
            let scale = oracle.abs().max(f64::MIN_POSITIVE);
            all.into_iter()
                .map(|(value, report)| ((value - oracle).abs() / scale, report))
                .collect()
        })
        .collect();
    for (k, solver) in ConeSolver::ALL.into_iter().enumerate() {
        let of = || outcomes.iter().map(|all| &all[k]);
        let (name, problems) = (solver.name(), format!("{n} {words} problems"));
        if solver == ConeSolver::InteriorPoint {
            // Its own criterion is a duality gap: the residual says how far its value can be trusted.
            let worst = of().map(|(_, report)| report.residual).fold(0.0, f64::max);
            let quantity = format!("residual of the oracle, worst of {problems}");
            checks.at_most(&quantity, worst, 1e-6, "1");
            continue;
        }
        let solved = of().filter(|(_, report)| report.converged);
        let worst = solved.clone().map(|(off, _)| *off).fold(0.0, f64::max);
        let quantity = format!("|value − oracle| / |oracle|, {name}, worst solved of {problems}");
        checks.at_most(&quantity, worst, AGREEMENT, "1");
        // Sweeps in proportion to the condition number of `N`: two joints side by side (1e6) need 3e7 of them.
        let slow = matches!(solver, ConeSolver::GaussSeidel | ConeSolver::Jacobi);
        let least = if slow { (0.99 * n as f64).floor() } else { n as f64 };
        let quantity = format!("solved to a residual of {RESIDUAL:.0e}, {name}, of {problems}");
        checks.at_least(&quantity, solved.count() as f64, least, "1");
        let most = of().map(|(_, report)| report.sweeps).max().unwrap_or(0);
        checks.information(|c| {
            c.at_most(&format!("most iterations, {name}"), most as f64, 2e6, "1");
        });
    }
}

/// Where no contact slides, cone complementarity and Coulomb's law have the same solution.
fn sticking(checks: &mut Checks, seeds: Range<u64>, planar: bool, words: &str) {
    let n = seeds.end - seeds.start;
    let options = ConeOptions { max_iterations: 200_000, ..ConeOptions::stored(1e-12) };
    let differences: Vec<Option<f64>> = seeds
        .into_par_iter()
        .map(|seed| {
            let mut problem = random_problem(seed, planar, Kind::Sticking);
            let (relaxed, report) = solve(&*ConeSolver::Apgd.build(options), &problem);
            let slides = relaxed.iter().zip(&problem.laws).any(|(r, law)| {
                let limit = law.friction().unwrap_or(0.0) * r[0];
                r[0] > 0.0 && r[1].hypot(r[2]) > (1.0 - 1e-6) * limit
            });
            if slides || !report.converged || relaxed.iter().all(|r| *r == [0.0; 3]) {
                return None;
            }
            for law in &mut problem.laws {
                if let Law::Cone { friction } = *law {
                    *law = Law::Coulomb { friction };
                }
            }
            let (exact, _) = solve(&Accurate::tolerance(1e-13), &problem);
            let pairs = relaxed.as_flattened().iter().zip(exact.as_flattened());
            let off = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            let size = relaxed.as_flattened().iter().fold(0.0, |m: f64, x| m.max(x.abs()));
            Some(off / size)
        })
        .collect();
    let found = differences.iter().flatten().count();
    let quantity = format!("{words} problems in which no contact slides, of {n}");
    checks.at_least(&quantity, found as f64, 0.2 * n as f64, "1");
    let worst = differences.iter().flatten().fold(0.0, |m: f64, x| m.max(*x));
    // Both residuals times the condition number of `N`, up to 1e4.
    let quantity = format!("impulses of exact friction − relaxed, relative, {words}");
    checks.at_most(&quantity, worst, 1e-8, "1");
}

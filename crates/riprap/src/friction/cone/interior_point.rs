//! An interior-point method by the library Clarabel (Goulart and Chen 2024): the oracle of the other solvers.

use super::problem::Set;
use super::{ConeOptions, ConeProblem, Watch, dot, solve_with};
use crate::friction::{ContactProblem, ContactSolver, Impulses, Scratch, SolveReport};
use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SecondOrderConeT, SupportedConeT,
};

/// Duality gaps and infeasibilities that the method aims at, in turn: with the first it is most
/// accurate, but round-off can stop it early.
const ACCURACIES: [f64; 3] = [1e-14, 1e-12, 1e-10];

/// Primal–dual interior points for cone complementarity problems: few iterations, whatever the
/// conditioning, but each factorizes a matrix. It cannot start from known impulses.
#[derive(Clone, Copy, Debug, Default)]
pub struct InteriorPoint {
    /// When to stop. The method itself aims at a duality gap of 1e-14, and of 1e-12 and 1e-10 if the
    /// result does not satisfy the options.
    pub options: ConeOptions,
}

impl InteriorPoint {
    /// Judged by a residual [–]; see [`ConeOptions::tolerance`].
    pub fn tolerance(tolerance: f64) -> InteriorPoint {
        InteriorPoint { options: ConeOptions::tolerance(tolerance) }
    }
}

impl ContactSolver for InteriorPoint {
    fn improve(
        &self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        scratch: &mut Scratch,
    ) -> SolveReport {
        solve_with(&self.options, problem, impulses, scratch, run)
    }
}

fn run(cone: &ConeProblem, x: &mut Vec<f64>, watch: &mut Watch, _: &mut Scratch) {
    let mut v = Vec::new();
    let square = cone.start(x, &mut v);
    if watch.note(cone, x, &v) || !(square + dot(&cone.free, &cone.free)).is_finite() {
        return;
    }
    // The lower triangle by rows is the upper one by columns.
    let n = cone.n_rows();
    let (start, columns, values) = cone.lower();
    let columns = columns.into_iter().map(|c| c as usize).collect();
    let quadratic = CscMatrix::new(n, n, start, columns, values);
    let (matrix, cones) = constraints(cone);
    let right = vec![0.0; matrix.m];
    for accuracy in ACCURACIES {
        let settings = DefaultSettings {
            verbose: false,
            tol_gap_abs: accuracy,
            tol_gap_rel: accuracy,
            tol_feas: accuracy,
            max_iter: watch.options.max_iterations.min(200) as u32,
            // The problem is already scaled.
            equilibrate_enable: false,
            iterative_refinement_reltol: 1e-16,
            iterative_refinement_abstol: 1e-16,
            iterative_refinement_max_iter: 30,
            ..DefaultSettings::default()
        };
        let solver = DefaultSolver::new(&quadratic, &cone.free, &matrix, &right, &cones, settings);
        let Ok(mut solver) = solver else { return };
        solver.solve();
        watch.iterations += solver.solution.iterations as usize;
        if solver.solution.x.len() == n && solver.solution.x.iter().all(|x| x.is_finite()) {
            x.clone_from(&solver.solution.x);
            cone.project(x);
            cone.start(x, &mut v);
            if watch.note(cone, x, &v) {
                return;
            }
        }
    }
}

/// `A γ + s = 0` with `s` in a product of half-lines and second-order cones: `s = (μ γ_n, γ_t)`. A
/// planar cone is two half-lines, `μ γ_n ± γ_t ≥ 0`.
fn constraints(cone: &ConeProblem) -> (CscMatrix<f64>, Vec<SupportedConeT<f64>>) {
    let mut entries: Vec<(usize, usize, f64)> = Vec::new();
    let mut m = 0;
    for rows in &cone.cones {
        let k = rows.first as usize;
        match (rows.set, rows.n) {
            (Set::HalfLine, _) => {
                entries.push((m, k, -1.0));
                m += 1;
            }
            (Set::Cone { scaled, .. }, 2) => {
                entries.extend([(m, k, -scaled), (m, k + 1, -1.0)]);
                entries.extend([(m + 1, k, -scaled), (m + 1, k + 1, 1.0)]);
                m += 2;
            }
            _ => {}
        }
    }
    let mut cones = if m > 0 { vec![NonnegativeConeT(m)] } else { Vec::new() };
    for rows in &cone.cones {
        if let (Set::Cone { scaled, .. }, 3) = (rows.set, rows.n) {
            let k = rows.first as usize;
            entries.extend([(m, k, -scaled), (m + 1, k + 1, -1.0), (m + 2, k + 2, -1.0)]);
            cones.push(SecondOrderConeT(3));
            m += 3;
        }
    }
    entries.sort_by_key(|(row, column, _)| (*column, *row));
    let n = cone.n_rows();
    let mut start = vec![0; n + 1];
    entries.iter().for_each(|(_, column, _)| start[column + 1] += 1);
    for column in 0..n {
        start[column + 1] += start[column];
    }
    let rows = entries.iter().map(|(row, _, _)| *row).collect();
    let values = entries.iter().map(|(_, _, value)| *value).collect();
    (CscMatrix::new(m, n, start, rows, values), cones)
}

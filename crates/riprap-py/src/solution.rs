//! Solutions of contact problems.

use std::time::{Duration, Instant};

use numpy::PyArray2;
use pyo3::prelude::*;
use pyo3::types::PyString;

use riprap::friction::{
    ContactProblem as CoreProblem, Impulses, Scratch, SolveReport as CoreReport,
};

use crate::problem::{ContactProblem, measure_of, triples};
use crate::report::SolveReport;
use crate::solver::Solver;
use crate::{errors, exit};

/// The solution of a contact problem: impulses [N s] and the report.
///
/// >>> import riprap as rr
/// >>> problem = rr.ContactProblem([[1, 0, 0], [0, 1, 0], [0, 0, 1]], v_free=[[1.0, 0.0, 0.0]], friction=[0.5])
/// >>> rr.solve(problem).impulses.tolist()
/// [[0.0, 0.0, 0.0]]
#[pyclass(frozen, module = "riprap")]
pub struct Solution {
    impulses: Impulses,
    report: SolveReport,
    objective: Option<f64>,
}

#[pymethods]
impl Solution {
    /// Impulses [N s], one row per contact.
    #[getter]
    fn impulses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        triples(py, &self.impulses)
    }

    /// Summary of the solve.
    #[getter]
    fn report(&self) -> SolveReport {
        self.report.clone()
    }

    /// The objective ½ γᵀ N γ + rᵀ γ [J] of a problem with the law cone; None for coulomb.
    #[getter]
    fn objective(&self) -> Option<f64> {
        self.objective
    }

    fn __repr__(&self) -> String {
        format!("<Solution: {} contacts>", self.impulses.len())
    }
}

/// Sweeps between two looks at the clock, for solvers that do not watch it themselves.
const BATCH: usize = 200;

/// Solves a problem within a time.
fn within(
    solver: &Solver,
    problem: &CoreProblem,
    impulses: &mut Impulses,
    deadline: Option<Instant>,
) -> CoreReport {
    let mut scratch = Scratch::default();
    let Some(end) = deadline.filter(|_| solver.method.sweeps()) else {
        return solver.build_until(deadline).solve(problem, impulses, &mut scratch);
    };
    let (mut left, mut sweeps) = (solver.max_sweeps(), 0);
    loop {
        let some = solver.limited(left.min(BATCH)).build();
        let mut report = some.solve(problem, impulses, &mut scratch);
        sweeps += report.sweeps;
        left = left.saturating_sub(report.sweeps.max(1));
        if report.converged || left == 0 || Instant::now() >= end {
            report.sweeps = sweeps;
            return report;
        }
    }
}

/// Solves a contact problem. `solver` is a name as in `riprap solve` ("auto", "anderson", "gauss-seidel", …), which stops at a
/// residual [–] (1e-8) relative to all data of the problem, or with measure="impulses" to the impulses, or after `max_sweeps`
/// (1 000 000 for auto, anderson, newton, proximal and admm, 200 000 for the others); or a Solver with its own criteria. It starts
/// from `start` [N s], or from zero, and gives up after `time_limit` [s]: the report then says that it has not converged. Solvers
/// of one go, dantzig and interior-point, do not watch the time.
///
/// >>> import riprap as rr
/// >>> problem = rr.ContactProblem([[1, 0, 0], [0, 1, 0], [0, 0, 1]], v_free=[[-1.0, 0.0, 0.0]], friction=[0.5])
/// >>> rr.solve(problem, solver="gauss-seidel").report.converged
/// True
#[pyfunction]
#[pyo3(signature = (problem, solver=None, *, tolerance=None, max_sweeps=None, measure=None, time_limit=None, start=None))]
pub fn solve(
    py: Python,
    problem: &ContactProblem,
    solver: Option<&Bound<PyAny>>,
    tolerance: Option<f64>,
    max_sweeps: Option<usize>,
    measure: Option<&str>,
    time_limit: Option<f64>,
    start: Option<Vec<[f64; 3]>>,
) -> PyResult<Solution> {
    let cone = problem.is_cone();
    let name = match solver {
        None => Some("auto".to_owned()),
        Some(given) => given.cast::<PyString>().ok().map(|name| name.to_string()),
    };
    let solver = match (name, solver) {
        (None, Some(given)) => {
            if tolerance.is_some() || max_sweeps.is_some() || measure.is_some() {
                return Err(errors::value(
                    "a Solver brings its own criteria; give tolerance, max_sweeps and measure with the name of a solver",
                ));
            }
            Solver::of(given)?
        }
        (name, _) => {
            let (name, measure) = (name.as_deref().unwrap_or("auto"), measure.unwrap_or("all"));
            let tolerance = tolerance.unwrap_or(1e-8);
            Solver::for_stored(name, tolerance, max_sweeps, measure_of(measure)?, cone)?
        }
    };
    solver.check_law(cone)?;
    if time_limit.is_some_and(|limit| limit.is_nan() || limit <= 0.0) {
        return Err(errors::value("time_limit must be positive"));
    }
    let mut impulses = start.unwrap_or_else(|| vec![[0.0; 3]; problem.core.len()]);
    problem.check(&impulses)?;
    let (report, wall) = exit::detach(py, || {
        let begin = Instant::now();
        // A limit beyond the range of clocks is none.
        let limit = time_limit.and_then(|limit| Duration::try_from_secs_f64(limit).ok());
        let deadline = limit.and_then(|limit| begin.checked_add(limit));
        let report = within(&solver, &problem.core, &mut impulses, deadline);
        (report, begin.elapsed().as_secs_f64())
    });
    let objective = problem.energy(&impulses);
    Ok(Solution { impulses, report: SolveReport::new(&report, wall), objective })
}

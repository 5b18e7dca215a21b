//! Solvers of contact problems, by name.

use std::time::Instant;

use pyo3::prelude::*;
use pyo3::types::PyString;

use riprap::friction::{
    Accurate, Admm, AlternatingDirections, Anderson, Apgd, BarzilaiBorwein, Coloured, ConeOptions,
    ConjugateGradient, ContactSolver, Dantzig, ExactInteriorPoint, GaussSeidel, GaussSeidelOptions,
    InteriorPoint, Measure, ProjectedGaussSeidel, ProjectedJacobi, ProximalPoint, SemismoothNewton,
    StoredOptions,
};

use crate::errors;
use crate::saving::{Saved, Table, number, text};

/// A solver of contact problems and its criteria; all tolerances [–] must be met. Names and defaults are those of
/// `[solver]` in scene files: coloured, conjugate-gradient, gauss-seidel; for cone complementarity apgd, barzilai-borwein,
/// projected-gauss-seidel, projected-jacobi, admm, interior-point, which use tolerance, approach_tolerance and max_sweeps;
/// also anderson, accurate and its methods newton, proximal, alternating-directions and exact-interior-point, for stored problems, which use tolerance
/// and max_sweeps, and dantzig, which is exact in the plane and uses neither. With `stored`, only the residual
/// decides, relative to all data of the problem. `omega` and `relaxation` [–] are the step length and the mixing of the two
/// projected methods.
///
/// >>> import riprap as rr
/// >>> scheme = rr.MoreauJean(dt=1e-3, solver=rr.Solver("coloured", tolerance=1e-6))
/// >>> rr.Solver("cuda")
/// Traceback (most recent call last):
///     ...
/// ValueError: no solver `cuda`: coloured, conjugate-gradient, gauss-seidel, apgd, barzilai-borwein, projected-gauss-seidel, projected-jacobi, admm, interior-point, anderson, accurate, dantzig, newton, proximal, alternating-directions, exact-interior-point
#[pyclass(frozen, eq, from_py_object, module = "riprap")]
#[derive(Clone, Debug, PartialEq)]
pub struct Solver {
    pub method: Method,
    options: GaussSeidelOptions,
    stored: bool,
    /// Relaxation ω and λ of the projected methods [–].
    relaxation: [Option<f64>; 2],
}

/// A method, by its index in [`NAMES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method(usize);

const NAMES: [&str; 16] = [
    "coloured",
    "conjugate-gradient",
    "gauss-seidel",
    "apgd",
    "barzilai-borwein",
    "projected-gauss-seidel",
    "projected-jacobi",
    "admm",
    "interior-point",
    "anderson",
    "accurate",
    "dantzig",
    "newton",
    "proximal",
    "alternating-directions",
    "exact-interior-point",
];

impl Method {
    fn named(name: &str) -> PyResult<Method> {
        NAMES
            .iter()
            .position(|n| *n == name)
            .map(Method)
            .ok_or_else(|| errors::value(format!("no solver `{name}`: {}", NAMES.join(", "))))
    }

    /// Whether it solves cone complementarity problems only.
    fn is_for_cones(self) -> bool {
        (3..9).contains(&self.0)
    }

    /// Whether it has [`StoredOptions`], and so watches a deadline by itself.
    pub fn watches_deadline(self) -> bool {
        matches!(self.0, 9 | 10 | 12..=15)
    }

    /// Whether it goes on where it stopped if it is called again, so that it can be interrupted.
    pub fn sweeps(self) -> bool {
        !self.watches_deadline() && !matches!(self.0, 8 | 11)
    }
}

#[pymethods]
impl Solver {
    #[new]
    #[pyo3(signature = (method="coloured", *, tolerance=1e-4, refined_tolerance=None, approach_tolerance=None, velocity_change_tolerance=None, max_velocity_change_tolerance=None, max_sweeps=None, stored=false, omega=None, relaxation=None))]
    fn new(
        method: &str,
        tolerance: f64,
        refined_tolerance: Option<f64>,
        approach_tolerance: Option<f64>,
        velocity_change_tolerance: Option<f64>,
        max_velocity_change_tolerance: Option<f64>,
        max_sweeps: Option<usize>,
        stored: bool,
        omega: Option<f64>,
        relaxation: Option<f64>,
    ) -> PyResult<Solver> {
        let method = Method::named(method)?;
        let relaxation = [omega, relaxation];
        if relaxation.iter().any(Option::is_some) && !matches!(method.0, 5 | 6) {
            return Err(errors::value(format!(
                "the solver `{}` does not use omega and relaxation: projected-gauss-seidel and projected-jacobi do",
                NAMES[method.0]
            )));
        }
        if relaxation.iter().flatten().any(|x| !(*x > 0.0 && *x <= 2.0)) {
            return Err(errors::value("omega and relaxation must be positive and at most 2"));
        }
        let others = [
            ("refined_tolerance", refined_tolerance),
            ("approach_tolerance", approach_tolerance),
            ("velocity_change_tolerance", velocity_change_tolerance),
            ("max_velocity_change_tolerance", max_velocity_change_tolerance),
        ];
        for (name, value) in [("tolerance", Some(tolerance))].iter().chain(&others) {
            if value.is_some_and(|x| x.is_nan() || x <= 0.0) {
                return Err(errors::value(format!("{name} must be positive")));
            }
        }
        let used = match method.0 {
            _ if stored => 0,
            9..=15 => 0,
            _ if method.is_for_cones() => 2,
            _ => 4,
        };
        let ignored = |k: usize| used == 0 || (used == 2 && k != 1);
        if let Some((_, (name, _))) =
            others.iter().enumerate().find(|(k, (_, value))| value.is_some() && ignored(*k))
        {
            let message = format!("the solver `{}` does not use {name}", NAMES[method.0]);
            return Err(errors::value(message));
        }
        let options = if stored {
            let options = GaussSeidelOptions::stored(tolerance);
            let usual = match method.watches_deadline() {
                true => StoredOptions::tolerance(tolerance).max_sweeps,
                false => options.max_sweeps,
            };
            GaussSeidelOptions { max_sweeps: max_sweeps.unwrap_or(usual), ..options }
        } else {
            GaussSeidelOptions {
                tolerance,
                refined_tolerance: refined_tolerance.unwrap_or(1e-8),
                approach_tolerance: approach_tolerance.unwrap_or(1e-4),
                velocity_change_tolerance: velocity_change_tolerance.unwrap_or(1e-3),
                max_velocity_change_tolerance: max_velocity_change_tolerance.unwrap_or(1e-2),
                max_sweeps: max_sweeps.unwrap_or(5000),
                measure: Measure::Impulses,
            }
        };
        Ok(Solver { method, options, stored, relaxation })
    }

    /// Name of the method.
    #[getter]
    fn method(&self) -> &'static str {
        NAMES[self.method.0]
    }

    /// Residual of the contact laws [–].
    #[getter]
    fn tolerance(&self) -> f64 {
        self.options.tolerance
    }

    /// Sweeps, or iterations, before giving up.
    #[getter]
    pub fn max_sweeps(&self) -> usize {
        self.options.max_sweeps
    }

    fn __repr__(&self) -> String {
        format!("Solver({:?}, tolerance={:?})", self.method(), self.options.tolerance)
    }
}

impl Solver {
    /// A solver, or one named by a string, with defaults.
    pub fn of(given: &Bound<PyAny>) -> PyResult<Solver> {
        if let Ok(name) = given.cast::<PyString>() {
            return Solver::new(
                &name.to_string(),
                1e-4,
                None,
                None,
                None,
                None,
                None,
                false,
                None,
                None,
            );
        }
        given.extract().map_err(|_| errors::value("a solver is a Solver or its name"))
    }

    /// A solver for stored problems, as on the command line.
    pub fn for_stored(
        name: &str,
        tolerance: f64,
        max_sweeps: Option<usize>,
        measure: Measure,
        cone: bool,
    ) -> PyResult<Solver> {
        let name = match (name, cone) {
            ("auto", false) => "accurate",
            ("auto", true) => "apgd",
            ("admm", false) => "alternating-directions",
            ("interior-point", false) => "exact-interior-point",
            ("gauss-seidel", true) => "projected-gauss-seidel",
            ("jacobi", true) => "projected-jacobi",
            (name, _) => name,
        };
        let mut solver =
            Solver::new(name, tolerance, None, None, None, None, max_sweeps, true, None, None)?;
        solver.options.measure = measure;
        Ok(solver)
    }

    /// The same solver with another limit.
    pub fn limited(&self, max_sweeps: usize) -> Solver {
        let options = GaussSeidelOptions { max_sweeps, ..self.options };
        Solver { options, ..self.clone() }
    }

    /// Fails if the method does not solve the law of friction.
    pub fn check_law(&self, cone: bool) -> PyResult<()> {
        if self.method.is_for_cones() == cone {
            return Ok(());
        }
        let (name, law) = (self.method(), if cone { "cone" } else { "coulomb" });
        let fits = |k: &usize| Method(*k).is_for_cones() == cone;
        let names: Vec<&str> = (0..NAMES.len()).filter(fits).map(|k| NAMES[k]).collect();
        Err(errors::value(format!(
            "the solver `{name}` does not solve problems with the friction law `{law}`: use {}",
            names.join(", ")
        )))
    }

    /// The table `[solver]` of a scene file, or why there is none.
    pub fn saved(&self) -> Saved {
        if self.stored || self.method.0 >= 9 || self.relaxation.iter().any(Option::is_some) {
            return Err(format!(
                "solver: `{}` with these options has no form in a scene file; use one of `[solver]` without stored, omega and relaxation",
                self.method()
            ));
        }
        let options = &self.options;
        let mut table = Table::default();
        table.set("method", text(self.method())).set("tolerance", number(options.tolerance));
        table.set("approach_tolerance", number(options.approach_tolerance));
        table.set("max_sweeps", options.max_sweeps.to_string());
        if !self.method.is_for_cones() {
            table.set("refined_tolerance", number(options.refined_tolerance));
            table.set("velocity_change_tolerance", number(options.velocity_change_tolerance));
            let most = options.max_velocity_change_tolerance;
            table.set("max_velocity_change_tolerance", number(most));
        }
        Ok(table.section("[solver]"))
    }

    /// This solver, or the usual one with its criteria if it does not solve Coulomb's law.
    pub fn for_coulomb(&self) -> Solver {
        let usual = if self.method.is_for_cones() { Method(0) } else { self.method };
        Solver { method: usual, relaxation: [None; 2], ..self.clone() }
    }

    /// The relaxation of a projected method, given or usual.
    fn relaxed(&self, omega: f64, lambda: f64) -> (f64, f64) {
        let [given, other] = self.relaxation;
        (given.unwrap_or(omega), other.unwrap_or(lambda))
    }

    /// The solver of the core.
    pub fn build(&self) -> Box<dyn ContactSolver> {
        self.build_until(None)
    }

    /// The same with a time at which to give up, if it watches one.
    pub fn build_until(&self, deadline: Option<Instant>) -> Box<dyn ContactSolver> {
        let options = self.options;
        let cone = ConeOptions {
            tolerance: options.tolerance,
            approach_tolerance: options.approach_tolerance,
            max_iterations: options.max_sweeps,
            measure: options.measure,
        };
        let kept = StoredOptions {
            tolerance: options.tolerance,
            measure: options.measure,
            max_sweeps: options.max_sweeps,
            deadline,
        };
        match self.method.0 {
            0 => Box::new(Coloured { options, ..Coloured::default() }),
            1 => Box::new(ConjugateGradient { options }),
            2 => Box::new(GaussSeidel { options }),
            3 => Box::new(Apgd { options: cone }),
            4 => Box::new(BarzilaiBorwein { options: cone }),
            5 => {
                let usual = ProjectedGaussSeidel::default();
                let (omega, lambda) = self.relaxed(usual.omega, usual.lambda);
                Box::new(ProjectedGaussSeidel { options: cone, omega, lambda })
            }
            6 => {
                let usual = ProjectedJacobi::default();
                let (omega, lambda) = self.relaxed(usual.omega, usual.lambda);
                Box::new(ProjectedJacobi { options: cone, omega, lambda })
            }
            7 => Box::new(Admm { options: cone }),
            8 => Box::new(InteriorPoint { options: cone }),
            9 => Box::new(Anderson { options: kept }),
            10 => Box::new(Accurate { options: kept }),
            12 => Box::new(SemismoothNewton { options: kept }),
            13 => Box::new(ProximalPoint { options: kept }),
            14 => Box::new(AlternatingDirections { options: kept }),
            15 => Box::new(ExactInteriorPoint { options: kept }),
            _ => Box::new(Dantzig::default()),
        }
    }
}

//! `riprap solve`: solves and times contact problems read from files, and compares solvers in a performance profile.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::ValueEnum;
use riprap::friction::{
    Accurate, Anderson, ConeOptions, ConeProblem, ConjugateGradient, ContactProblem, ContactSolver,
    Dantzig, GaussSeidel, GaussSeidelOptions, Law, Scratch, StoredOptions, residual,
};
use riprap_io::fclib;
use serde_json::{Value, json};
use validation::bench::{self, ConeSolver};
use validation::figure::Figure;

use crate::commands::parse_positive;
use crate::failure::Failure;
use crate::text::{self, counted, number, print, table};

/// Arguments of `riprap solve`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Contact problems in the HDF5 layout of FCLib; a folder stands for all problems in it
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Contact law: exact Coulomb friction, or its convex relaxation, cone complementarity
    #[arg(long, value_enum, default_value = "coulomb")]
    law: ContactLaw,
    /// Solver to use; several, separated by commas, are compared
    #[arg(long, value_enum, value_delimiter = ',', default_value = "auto")]
    solver: Vec<Solver>,
    /// Target residual, relative to the largest free velocity, impulse or velocity; several, separated by commas, are solved in turn
    #[arg(long, value_name = "RESIDUAL", value_delimiter = ',', default_value = "1e-8", value_parser = parse_positive)]
    tol: Vec<f64>,
    /// Maximum number of sweeps [default: 1 000 000 for auto and anderson, 200 000 for the others]
    #[arg(long, value_name = "N")]
    max_sweeps: Option<usize>,
    /// Number of solves, of which the median time is reported [default: as many as fit into 0.1 s, at most 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: Option<u32>,
    /// Write a performance profile of the solvers as SVG
    #[arg(long, value_name = "FILE.svg")]
    profile: Option<PathBuf>,
    /// Print the results as JSON, one line per problem, solver and tolerance
    #[arg(long)]
    json: bool,
}

/// Laws of the contacts.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ContactLaw {
    /// Coulomb's law with the exact cone
    Coulomb,
    /// Cone complementarity: a sliding contact lifts
    Cone,
}

impl ContactLaw {
    fn word(self) -> &'static str {
        match self {
            ContactLaw::Coulomb => "coulomb",
            ContactLaw::Cone => "cone",
        }
    }

    /// Replaces the law of the contacts of a stored problem.
    fn apply(self, problem: &mut ContactProblem) {
        for law in &mut problem.laws {
            if let (ContactLaw::Cone, Law::Coulomb { friction }) = (self, *law) {
                *law = Law::Cone { friction };
            }
        }
    }
}

/// Solvers of contact problems.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Solver {
    /// The default of each law. coulomb: accelerated sweeps, with Newton and proximal steps where they are faster; cone: apgd
    #[value(alias = "accurate")]
    Auto,
    /// coulomb: Gauss–Seidel with Anderson acceleration
    Anderson,
    /// coulomb: Gauss–Seidel with conjugate-gradient acceleration
    ConjugateGradient,
    /// Plain Gauss–Seidel; cone: the fixed point of Anitescu and Tasora
    GaussSeidel,
    /// coulomb: Dantzig's algorithm with friction; exact in the plane, polyhedral cones in space
    Dantzig,
    /// cone: Nesterov's accelerated projected gradients
    Apgd,
    /// cone: spectral projected gradients
    BarzilaiBorwein,
    /// cone: the fixed point of Anitescu and Tasora, all contacts at once
    Jacobi,
    /// cone: alternating directions with adaptive penalty, for large mass ratios
    Admm,
    /// cone: interior points, the oracle
    InteriorPoint,
}

impl Solver {
    fn word(self) -> &'static str {
        match self {
            Solver::Auto => "auto",
            Solver::Anderson => "anderson",
            Solver::ConjugateGradient => "conjugate-gradient",
            Solver::GaussSeidel => "gauss-seidel",
            Solver::Dantzig => "dantzig",
            Solver::Apgd => "apgd",
            Solver::BarzilaiBorwein => "barzilai-borwein",
            Solver::Jacobi => "jacobi",
            Solver::Admm => "admm",
            Solver::InteriorPoint => "interior-point",
        }
    }

    /// The solver of cone problems with this name.
    fn of_cones(self) -> Option<ConeSolver> {
        match self {
            Solver::Auto | Solver::Apgd => Some(ConeSolver::Apgd),
            Solver::GaussSeidel => Some(ConeSolver::GaussSeidel),
            Solver::BarzilaiBorwein => Some(ConeSolver::BarzilaiBorwein),
            Solver::Jacobi => Some(ConeSolver::Jacobi),
            Solver::Admm => Some(ConeSolver::Admm),
            Solver::InteriorPoint => Some(ConeSolver::InteriorPoint),
            Solver::Anderson | Solver::ConjugateGradient | Solver::Dantzig => None,
        }
    }

    /// Builds the solver, which stops at a residual relative to all quantities of a stored problem; `None` if it does not solve
    /// problems with this law.
    fn build(
        self,
        law: ContactLaw,
        tolerance: f64,
        max_sweeps: Option<usize>,
    ) -> Option<Box<dyn ContactSolver>> {
        let mut stored = StoredOptions::tolerance(tolerance);
        let mut options = GaussSeidelOptions::stored(tolerance);
        let mut cones = ConeOptions::stored(tolerance);
        if let Some(n) = max_sweeps {
            (stored.max_sweeps, options.max_sweeps, cones.max_iterations) = (n, n, n);
        }
        match (law, self) {
            (ContactLaw::Cone, solver) => solver.of_cones().map(|solver| solver.build(cones)),
            (_, Solver::Auto) => Some(Box::new(Accurate { options: stored })),
            (_, Solver::Anderson) => Some(Box::new(Anderson { options: stored })),
            (_, Solver::ConjugateGradient) => Some(Box::new(ConjugateGradient { options })),
            (_, Solver::GaussSeidel) => Some(Box::new(GaussSeidel { options })),
            (_, Solver::Dantzig) => Some(Box::new(Dantzig::default())),
            _ => None,
        }
    }

    /// Fails if the solver does not solve problems with this law.
    fn check(self, law: ContactLaw) -> Result<(), Failure> {
        if self.build(law, 1.0, None).is_some() {
            return Ok(());
        }
        let fits = |solver: &&Solver| solver.build(law, 1.0, None).is_some();
        let names: Vec<&str> =
            Solver::value_variants().iter().filter(fits).map(|s| s.word()).collect();
        Err(Failure::Input(format!(
            "the solver `{}` does not solve problems with `--law {}`; use one of {}",
            self.word(),
            law.word(),
            names.join(", ")
        )))
    }
}

/// One problem solved by one solver to one tolerance.
struct Outcome {
    file: PathBuf,
    contacts: usize,
    solver: Solver,
    tolerance: f64,
    /// Median wall time of a solve, without reading the file [s].
    seconds: f64,
    iterations: usize,
    residual: f64,
    /// `½ γᵀ N γ + rᵀ γ` [J], for cone complementarity.
    objective: Option<f64>,
}

impl Outcome {
    fn converged(&self) -> bool {
        self.residual <= self.tolerance
    }

    fn to_json(&self) -> Value {
        let mut value = json!({
            "file": self.file.display().to_string(),
            "contacts": self.contacts,
            "solver": self.solver.word(),
            "tolerance": self.tolerance,
            "seconds": self.seconds,
            "iterations": self.iterations,
            "residual": self.residual,
            "converged": self.converged(),
        });
        if let (Some(objective), Some(entries)) = (self.objective, value.as_object_mut()) {
            entries.insert("objective".into(), json!(objective));
        }
        value
    }

    fn to_row(&self) -> Vec<String> {
        vec![
            name(&self.file),
            self.contacts.to_string(),
            self.solver.word().into(),
            number(self.tolerance),
            format!("{:.3}", 1e3 * self.seconds),
            self.iterations.to_string(),
            format!("{:.2e}", self.residual),
            if self.converged() { "converged" } else { "NOT CONVERGED" }.into(),
        ]
    }
}

/// Solves the problems and prints times and residuals.
pub fn solve(arguments: &Arguments) -> Result<(), Failure> {
    for solver in &arguments.solver {
        solver.check(arguments.law)?;
    }
    let files = expand(&arguments.files)?;
    let mut outcomes = Vec::new();
    let mut unreadable = 0;
    for file in &files {
        let mut stored = match fclib::read(file) {
            Ok(stored) => stored,
            Err(error) => {
                eprintln!("error: {error}");
                unreadable += 1;
                continue;
            }
        };
        if let Some(warning) = stored.warning() {
            eprintln!("warning: {}: {warning}", file.display());
        }
        arguments.law.apply(&mut stored.problem);
        for tolerance in &arguments.tol {
            for solver in &arguments.solver {
                let outcome = measure(arguments, file, &stored.problem, *solver, *tolerance);
                if arguments.json {
                    if text::closed() {
                        return Ok(());
                    }
                    print(&format!("{}\n", outcome.to_json()));
                }
                outcomes.push(outcome);
            }
        }
    }
    if !arguments.json && !outcomes.is_empty() {
        let head = [
            "problem",
            "contacts",
            "solver",
            "tolerance",
            "time [ms]",
            "iterations",
            "residual",
            "",
        ];
        let mut rows = vec![head.map(String::from).to_vec()];
        rows.extend(outcomes.iter().map(Outcome::to_row));
        print(&table(&rows, &[1, 3, 4, 5, 6]));
        print(&sums(arguments, &outcomes));
    }
    if let Some(path) = &arguments.profile {
        let svg = profile(arguments, &outcomes).svg();
        riprap_io::write_whole(path, svg.as_bytes()).map_err(|e| Failure::Input(e.to_string()))?;
    }
    if unreadable > 0 {
        let files = counted(files.len(), "file");
        let message = format!("{unreadable} of {files} could not be read");
        return Err(Failure::Input(message));
    }
    let failed = outcomes.iter().filter(|outcome| !outcome.converged()).count();
    match failed {
        0 => Ok(()),
        n => Err(Failure::Run(format!(
            "{n} of {} did not converge",
            counted(outcomes.len(), "solve")
        ))),
    }
}

/// The files, with folders replaced by their files in order of name.
fn expand(files: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let mut all = Vec::new();
    for path in files {
        if !path.is_dir() {
            all.push(path.clone());
            continue;
        }
        let refuse = |error| Failure::Input(format!("cannot read {}: {error}", path.display()));
        let mut inside = Vec::new();
        for entry in std::fs::read_dir(path).map_err(refuse)? {
            let file = entry.map_err(refuse)?.path();
            let ending = file.extension().and_then(|e| e.to_str()).unwrap_or_default();
            if ["hdf5", "h5"].contains(&ending) {
                inside.push(file);
            }
        }
        if inside.is_empty() {
            return Err(Failure::Input(format!("{} contains no HDF5 files", path.display())));
        }
        inside.sort();
        all.extend(inside);
    }
    Ok(all)
}

/// Solves a problem from zero impulses, with the requested number of repetitions.
fn measure(
    arguments: &Arguments,
    file: &Path,
    problem: &ContactProblem,
    solver: Solver,
    tolerance: f64,
) -> Outcome {
    let built = solver.build(arguments.law, tolerance, arguments.max_sweeps);
    let built = built.expect("the solvers were compared with the law");
    let mut scratch = Scratch::default();
    let mut impulses = Vec::new();
    let mut times: Vec<f64> = Vec::new();
    loop {
        impulses.clear();
        let begin = Instant::now();
        let report = built.solve(problem, &mut impulses, &mut scratch);
        times.push(begin.elapsed().as_secs_f64());
        let done = match arguments.repeat {
            Some(n) => times.len() >= n as usize,
            None => times.len() >= 100 || times.iter().sum::<f64>() > 0.1,
        };
        if done {
            times.sort_by(f64::total_cmp);
            let found = residual(problem, &impulses).relative_to_all();
            return Outcome {
                file: file.to_owned(),
                contacts: problem.len(),
                solver,
                tolerance,
                seconds: times[times.len() / 2],
                iterations: report.sweeps,
                // NaN does not count as converged.
                residual: if found.is_nan() { f64::INFINITY } else { found },
                objective: (arguments.law == ContactLaw::Cone)
                    .then(|| ConeProblem::new(problem).objective(&impulses)),
            };
        }
    }
}

/// Name of a problem: the name of its file without the extension.
fn name(file: &Path) -> String {
    file.file_stem()
        .map_or_else(|| file.display().to_string(), |n| n.to_string_lossy().into_owned())
}

/// Number of problems solved by each solver and the total time.
fn sums(arguments: &Arguments, outcomes: &[Outcome]) -> String {
    let mut text = String::from("\n");
    for tolerance in &arguments.tol {
        for solver in &arguments.solver {
            let of: Vec<&Outcome> = outcomes
                .iter()
                .filter(|o| o.solver == *solver && o.tolerance == *tolerance)
                .collect();
            let solved = of.iter().filter(|o| o.converged()).count();
            let seconds: f64 = of.iter().map(|o| o.seconds).sum();
            text += &format!(
                "{}, tolerance {}: {solved} of {} converged, {} ms in total\n",
                solver.word(),
                number(*tolerance),
                of.len(),
                number(1e3 * seconds),
            );
        }
    }
    text
}

/// The performance profiles of the solvers, one for each tolerance.
fn profile(arguments: &Arguments, outcomes: &[Outcome]) -> Figure {
    let mut panels = Vec::new();
    for tolerance in &arguments.tol {
        let times = |solver: Solver| -> Vec<f64> {
            let own = outcomes.iter().filter(|o| o.solver == solver && o.tolerance == *tolerance);
            own.map(|o| if o.converged() { o.seconds } else { f64::INFINITY }).collect()
        };
        let solvers: Vec<(&str, Vec<f64>)> =
            arguments.solver.iter().map(|s| (s.word(), times(*s))).collect();
        panels.push(bench::profile(&format!("residual {}", number(*tolerance)), &solvers));
    }
    let columns = panels.len().min(2);
    let rows = panels.len().div_ceil(columns.max(1)) as u32;
    let problems =
        outcomes.iter().map(|o| &o.file).collect::<std::collections::BTreeSet<_>>().len();
    Figure {
        title: counted(problems, "contact problem"),
        size: [520 * columns.max(1) as u32, 60 + 360 * rows],
        columns,
        panels,
    }
}

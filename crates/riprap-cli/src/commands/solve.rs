//! `riprap solve`: solves and times contact problems read from files, and compares solvers in a performance profile.

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::ValueEnum;
use riprap::friction::{
    Accurate, Anderson, ConjugateGradient, ContactProblem, ContactSolver, GaussSeidel,
    GaussSeidelOptions, Scratch, StoredOptions, residual,
};
use riprap_io::fclib;
use serde_json::{Value, json};
use validation::figure::{Axis, Colour, Curve, Dash, Figure, Panel};

use crate::commands::parse_positive;
use crate::failure::Failure;
use crate::text::{self, counted, number, print, table};

/// Arguments of `riprap solve`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Contact problems in the HDF5 layout of FCLib; a folder stands for all problems in it
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Solver to use; several, separated by commas, are compared
    #[arg(long, value_enum, value_delimiter = ',', default_value = "auto")]
    solver: Vec<Solver>,
    /// Target residual, relative to the largest free velocity, impulse or velocity; several, separated by commas, are solved in turn
    #[arg(long, value_name = "RESIDUAL", value_delimiter = ',', default_value = "1e-8", value_parser = parse_positive)]
    tol: Vec<f64>,
    /// Maximum number of sweeps [default: 200 000 for gauss-seidel and conjugate-gradient, 1 000 000 for the others]
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

/// Solvers of contact problems.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Solver {
    /// Accelerated sweeps, with Newton and proximal steps where they are faster
    #[value(alias = "accurate")]
    Auto,
    /// Gauss–Seidel with Anderson acceleration
    Anderson,
    /// Gauss–Seidel with conjugate-gradient acceleration
    ConjugateGradient,
    /// Plain Gauss–Seidel
    GaussSeidel,
}

impl Solver {
    fn word(self) -> &'static str {
        match self {
            Solver::Auto => "auto",
            Solver::Anderson => "anderson",
            Solver::ConjugateGradient => "conjugate-gradient",
            Solver::GaussSeidel => "gauss-seidel",
        }
    }

    /// Builds the solver, which stops at a residual relative to all quantities of a stored problem.
    fn build(self, tolerance: f64, max_sweeps: Option<usize>) -> Box<dyn ContactSolver> {
        let mut stored = StoredOptions::tolerance(tolerance);
        let mut options = GaussSeidelOptions::stored(tolerance);
        if let Some(n) = max_sweeps {
            (stored.max_sweeps, options.max_sweeps) = (n, n);
        }
        match self {
            Solver::Auto => Box::new(Accurate { options: stored }),
            Solver::Anderson => Box::new(Anderson { options: stored }),
            Solver::ConjugateGradient => Box::new(ConjugateGradient { options }),
            Solver::GaussSeidel => Box::new(GaussSeidel { options }),
        }
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
}

impl Outcome {
    fn converged(&self) -> bool {
        self.residual <= self.tolerance
    }

    fn to_json(&self) -> Value {
        json!({
            "file": self.file.display().to_string(),
            "contacts": self.contacts,
            "solver": self.solver.word(),
            "tolerance": self.tolerance,
            "seconds": self.seconds,
            "iterations": self.iterations,
            "residual": self.residual,
            "converged": self.converged(),
        })
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
    let files = expand(&arguments.files)?;
    let mut outcomes = Vec::new();
    let mut unreadable = 0;
    for file in &files {
        let stored = match fclib::read(file) {
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
    let built = solver.build(tolerance, arguments.max_sweeps);
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

/// The performance profile (Dolan and Moré 2002): for each solver, the fraction of problems solved within a factor of the
/// fastest solver's time.
fn profile(arguments: &Arguments, outcomes: &[Outcome]) -> Figure {
    const COLOURS: [Colour; 4] = [Colour::Blue, Colour::Orange, Colour::Green, Colour::Vermilion];
    const DASHES: [Dash; 3] = [Dash::Solid, Dash::Dashed, Dash::Dotted];
    let mut panels = Vec::new();
    for tolerance in &arguments.tol {
        let at: Vec<&Outcome> = outcomes.iter().filter(|o| o.tolerance == *tolerance).collect();
        let best = |file: &Path| {
            let times = at.iter().filter(|o| o.file == file && o.converged()).map(|o| o.seconds);
            times.fold(f64::INFINITY, f64::min)
        };
        let ratios = |solver: Solver| {
            let own = at.iter().filter(|o| o.solver == solver);
            let mut ratios: Vec<f64> = own
                .map(|o| if o.converged() { o.seconds / best(&o.file) } else { f64::INFINITY })
                .collect();
            ratios.sort_by(f64::total_cmp);
            ratios
        };
        let all: Vec<Vec<f64>> = arguments.solver.iter().map(|s| ratios(*s)).collect();
        let finite = all.iter().flatten().filter(|r| r.is_finite());
        let end = 1.2 * finite.fold(2.0f64, |m, r| m.max(*r));
        let curves = all.iter().zip(&arguments.solver).enumerate().map(|(k, (ratios, solver))| {
            Curve::new(solver.word(), COLOURS[k % 4], stairs(ratios, end))
                .dash(DASHES[k % 3])
                .width(2.0)
        });
        panels.push(Panel {
            title: format!("residual {}", number(*tolerance)),
            x: Axis::new("time relative to the fastest solver [–]").logarithmic().range(1.0, end),
            y: Axis::new("fraction of problems solved [–]").range(0.0, 1.05),
            curves: curves.collect(),
        });
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

/// The step function of a distribution of ratios, from 1 to `end`.
fn stairs(ratios: &[f64], end: f64) -> Vec<[f64; 2]> {
    let n = ratios.len().max(1) as f64;
    let mut points = vec![[1.0, 0.0]];
    let mut level = 0.0;
    for (k, ratio) in ratios.iter().enumerate().filter(|(_, r)| r.is_finite()) {
        points.push([*ratio, level]);
        level = (k + 1) as f64 / n;
        points.push([*ratio, level]);
    }
    points.push([end, level]);
    points
}

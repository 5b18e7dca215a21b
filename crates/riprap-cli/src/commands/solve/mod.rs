//! `riprap solve`: solves and times contact problems read from files, and compares solvers in a performance profile.

mod profile;
mod siconos;
mod solvers;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use riprap::friction::{ConeProblem, ContactProblem, Impulses, Scratch, SolveReport, residual};
use riprap_io::fclib::{self, Stored};
use serde_json::{Value, json};
use validation::bench::machine::cpu_seconds;

use crate::commands::parse_positive;
use crate::failure::Failure;
use crate::text::{self, counted, number, print, table};
use solvers::{ContactLaw, Reference, Solver};

/// Arguments of `riprap solve`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Contact problems in the HDF5 layout of FCLib or in the text format of Siconos (.dat); a folder stands for all problems in it
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Contact law: exact Coulomb friction, or its convex relaxation, cone complementarity
    #[arg(long, value_enum, default_value = "coulomb")]
    law: ContactLaw,
    /// Solver to use; several, separated by commas, are compared
    #[arg(long, value_enum, value_delimiter = ',', default_value = "auto")]
    solver: Vec<Solver>,
    /// Target residual; several, separated by commas, are solved in turn
    #[arg(long, value_name = "RESIDUAL", value_delimiter = ',', default_value = "1e-8", value_parser = parse_positive)]
    tol: Vec<f64>,
    /// Maximum number of sweeps [default: 1 000 000 for auto, anderson, newton, proximal, admm and interior-point, 200 000 for the others]
    #[arg(long, value_name = "N")]
    max_sweeps: Option<usize>,
    /// What the residual is relative to
    #[arg(long, value_enum, default_value = "all")]
    measure: Reference,
    /// Wall time after which a solve is given up; the best impulses so far are reported
    #[arg(long, value_name = "SECONDS", value_parser = parse_positive)]
    time_limit: Option<f64>,
    /// Start from the stored guess of this number, from 1, instead of zero impulses
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    guess: Option<u32>,
    /// Write a copy of the problem with the impulses and velocities found, for one problem, solver and tolerance
    #[arg(long, value_name = "FILE")]
    write_solution: Option<PathBuf>,
    /// Also solve the problems by the solvers of another program, in turns with those of riprap
    #[arg(long, value_enum, value_name = "PROGRAM")]
    compare: Option<siconos::Program>,
    /// Number of solves, of which the median time is reported [default: as many as fit into 0.1 s, at most 100]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: Option<u32>,
    /// Write a performance profile of the solvers: a picture, or all times if the name ends in .csv; several names are possible
    #[arg(long, value_name = "FILE.svg|FILE.csv", value_delimiter = ',')]
    profile: Vec<PathBuf>,
    /// Print the results as JSON, one line per problem, solver and tolerance
    #[arg(long)]
    json: bool,
}

/// One problem solved by one solver to one tolerance.
struct Outcome {
    file: PathBuf,
    contacts: usize,
    solver: String,
    tolerance: f64,
    measure: Reference,
    /// Mean processor time of a solve [s].
    cpu: f64,
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
            "solver": self.solver,
            "tolerance": self.tolerance,
            "measure": self.measure.word(),
            "seconds": self.seconds,
            "cpu_seconds": self.cpu,
            "iterations": self.iterations,
            "residual": if self.residual.is_finite() { json!(self.residual) } else { Value::Null },
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
            self.solver.clone(),
            number(self.tolerance),
            format!("{:.3}", 1e3 * self.seconds),
            format!("{:.3}", 1e3 * self.cpu),
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
    let single = files.len() == 1 && arguments.solver.len() == 1 && arguments.tol.len() == 1;
    if arguments.write_solution.is_some() && !single {
        let message = "--write-solution needs one problem, one solver and one tolerance";
        return Err(Failure::Input(message.into()));
    }
    let peer = arguments.compare.map(siconos::Siconos::find).transpose()?;
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
        let start = start(arguments, file, &stored)?;
        for tolerance in &arguments.tol {
            let mut found = Vec::new();
            for solver in &arguments.solver {
                let (outcome, impulses) =
                    measure(arguments, file, &stored.problem, &start, *solver, *tolerance);
                if let Some(target) = &arguments.write_solution {
                    let written = fclib::write_solution(file, target, &impulses);
                    written.map_err(|error| Failure::Input(error.to_string()))?;
                }
                found.push(outcome);
            }
            if let Some(peer) = &peer {
                found.extend(peer.solve(arguments, file, &stored.problem, *tolerance)?);
            }
            for outcome in found {
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
            "CPU [ms]",
            "iterations",
            "residual",
            "",
        ];
        let mut rows = vec![head.map(String::from).to_vec()];
        rows.extend(outcomes.iter().map(Outcome::to_row));
        print(&table(&rows, &[1, 3, 4, 5, 6, 7]));
        print(&profile::sums(arguments, &outcomes));
        if !arguments.profile.is_empty() {
            print(&profile::shares(arguments, &outcomes));
        }
    }
    for path in &arguments.profile {
        let text = match path.extension().is_some_and(|ending| ending == "csv") {
            true => profile::csv(arguments, &outcomes),
            false => profile::profile(arguments, &outcomes).svg(),
        };
        riprap_io::write_whole(path, text.as_bytes()).map_err(|e| Failure::Input(e.to_string()))?;
    }
    if unreadable > 0 {
        let files = counted(files.len(), "file");
        let message = format!("{unreadable} of {files} could not be read");
        return Err(Failure::Input(message));
    }
    let own = |outcome: &&Outcome| arguments.solver.iter().any(|s| s.word() == outcome.solver);
    let outcomes: Vec<&Outcome> = outcomes.iter().filter(own).collect();
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
            if ["hdf5", "h5", "dat"].contains(&ending) {
                inside.push(file);
            }
        }
        if inside.is_empty() {
            return Err(Failure::Input(format!(
                "{} contains no HDF5 files or files in the text format of Siconos",
                path.display()
            )));
        }
        inside.sort();
        all.extend(inside);
    }
    Ok(all)
}

/// The impulses to start from: a stored guess, or zero.
fn start(arguments: &Arguments, file: &Path, stored: &Stored) -> Result<Impulses, Failure> {
    let Some(number) = arguments.guess else { return Ok(Vec::new()) };
    let guess = stored.guesses.get(number as usize - 1);
    guess.cloned().ok_or_else(|| {
        let stored = counted(stored.guesses.len(), "guess").replace("guesss", "guesses");
        let file = file.display();
        Failure::Input(format!("{file} contains {stored}; there is no guess {number}"))
    })
}

/// Sweeps between two looks at the clock, for solvers that do not watch it themselves.
const BATCH: usize = 200;

/// Solves a problem once, within the limits.
fn once(
    arguments: &Arguments,
    problem: &ContactProblem,
    (solver, tolerance): (Solver, f64),
    impulses: &mut Impulses,
    scratch: &mut Scratch,
) -> SolveReport {
    // A limit beyond the range of clocks is none.
    let limit = arguments.time_limit.and_then(|limit| Duration::try_from_secs_f64(limit).ok());
    let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
    let (law, reference) = (arguments.law, arguments.measure.measure());
    let mut run = |most: Option<usize>| {
        let built = solver.build(law, tolerance, most, reference, deadline);
        built.expect("the solvers were compared with the law").solve(problem, impulses, scratch)
    };
    let Some(deadline) = deadline.filter(|_| !solver.watches_deadline(law)) else {
        return run(arguments.max_sweeps);
    };
    let mut left = arguments.max_sweeps.unwrap_or(200_000);
    let mut sweeps = 0;
    loop {
        let mut report = run(Some(left.min(BATCH)));
        sweeps += report.sweeps;
        left = left.saturating_sub(report.sweeps.max(1));
        if report.converged || left == 0 || Instant::now() >= deadline {
            report.sweeps = sweeps;
            return report;
        }
    }
}

/// Solves a problem from given impulses, or from zero, with the requested number of repetitions.
fn measure(
    arguments: &Arguments,
    file: &Path,
    problem: &ContactProblem,
    start: &Impulses,
    solver: Solver,
    tolerance: f64,
) -> (Outcome, Impulses) {
    let mut scratch = Scratch::default();
    let mut impulses = Vec::new();
    let mut times: Vec<f64> = Vec::new();
    let cpu = cpu_seconds();
    loop {
        impulses.clone_from(start);
        let begin = Instant::now();
        let what = (solver, tolerance);
        let report = once(arguments, problem, what, &mut impulses, &mut scratch);
        times.push(begin.elapsed().as_secs_f64());
        let done = match arguments.repeat {
            Some(n) => times.len() >= n as usize,
            None => times.len() >= 100 || times.iter().sum::<f64>() > 0.1,
        };
        if done {
            let cpu = cpu_seconds().zip(cpu).map_or(0.0, |(end, begin)| end - begin);
            times.sort_by(f64::total_cmp);
            let outcome = Outcome {
                file: file.to_owned(),
                contacts: problem.len(),
                solver: solver.word().into(),
                tolerance,
                measure: arguments.measure,
                seconds: times[times.len() / 2],
                cpu: cpu / times.len() as f64,
                iterations: report.sweeps,
                residual: judge(arguments, problem, &impulses),
                objective: (arguments.law == ContactLaw::Cone)
                    .then(|| ConeProblem::new(problem).objective(&impulses)),
            };
            return (outcome, impulses);
        }
    }
}

/// The residual by the chosen measure, from the impulses alone; NaN does not count as converged.
fn judge(arguments: &Arguments, problem: &ContactProblem, impulses: &[[f64; 3]]) -> f64 {
    let found = arguments.measure.measure().of(&residual(problem, impulses));
    if found.is_nan() { f64::INFINITY } else { found }
}

/// Name of a problem: the name of its file without the extension.
fn name(file: &Path) -> String {
    file.file_stem()
        .map_or_else(|| file.display().to_string(), |n| n.to_string_lossy().into_owned())
}

//! `riprap reproduce`: regenerates figures and tables of publications.

use std::fs;
use std::path::{Path, PathBuf};

use riprap_io::scene_file::closest;
use validation::Effort;
use validation::reproduce::{Options, STUDIES, Study, find};
use validation::tamping::{Case, check_step, check_tolerance};

use super::{parse_positive, parse_threads, parse_time};
use crate::failure::Failure;
use crate::progress::duration;
use crate::text::{print, table};

/// Arguments of `riprap reproduce`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The study to run [default: list the studies]
    study: Option<String>,
    /// Folder for its files [default: out/reproduce/STUDY]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// A small, coarse version that takes a minute; it gives numbers and no verdicts
    #[arg(long)]
    small: bool,
    #[command(flatten)]
    more: More,
}

/// Options of a study of long runs, which are stored in the folder and resumed.
#[derive(clap::Args)]
#[command(
    next_help_heading = "Options of tamping (an interrupted study resumes when it is started again)"
)]
struct More {
    /// Only this run; repeat the option for several [default: all]
    #[arg(long, value_name = "CASE", value_parser = Case::NAMES)]
    case: Vec<String>,
    /// Number of threads of each run [default: all cores, shared among the runs; 1 with --small]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    threads: Option<usize>,
    /// Seed of the bed [default: 1]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Time step, such as "0.25 ms" [default: 0.5 ms; 1 ms with --small]
    #[arg(long, value_name = "H", value_parser = parse_step)]
    dt: Option<f64>,
    /// Tolerance of the solver [default: 1e-3]
    #[arg(long, value_name = "E", value_parser = parse_tolerance)]
    tolerance: Option<f64>,
    /// Instead of the study: how far 15 Hz dynamic varies with tolerance, step and bed. The study takes its scatter from these runs
    #[arg(long, conflicts_with_all = ["case", "seed", "dt", "tolerance"])]
    repeat: bool,
}

fn parse_step(text: &str) -> Result<f64, String> {
    let dt = parse_time(text)?;
    check_step(dt).map(|()| dt)
}

fn parse_tolerance(text: &str) -> Result<f64, String> {
    let tolerance = parse_positive(text)?;
    check_tolerance(tolerance).map(|()| tolerance)
}

impl More {
    /// The first option that is given.
    fn first(&self) -> Option<&'static str> {
        let given = [
            (!self.case.is_empty(), "--case"),
            (self.threads.is_some(), "--threads"),
            (self.seed.is_some(), "--seed"),
            (self.dt.is_some(), "--dt"),
            (self.tolerance.is_some(), "--tolerance"),
            (self.repeat, "--repeat"),
        ];
        given.into_iter().find(|(given, _)| *given).map(|(_, name)| name)
    }
}

impl Arguments {
    fn options(&self) -> Options {
        let effort = if self.small { Effort::Small } else { Effort::Full };
        let More { case, threads, seed, dt, tolerance, repeat } = &self.more;
        Options {
            cases: case.iter().filter_map(|name| Case::named(name)).collect(),
            threads: *threads,
            seed: *seed,
            dt: *dt,
            tolerance: *tolerance,
            repeat: *repeat,
            ..Options::new(effort)
        }
    }
}

/// Runs a study and writes its files, or lists the studies.
pub fn reproduce(arguments: &Arguments) -> Result<(), Failure> {
    let Some(name) = &arguments.study else {
        let rows: Vec<_> = STUDIES.iter().map(|s| vec![s.name.into(), s.about.into()]).collect();
        print(&table(&rows, &[]));
        return Ok(());
    };
    let study = find(name).ok_or_else(|| unknown(name))?;
    if let Some(option) = arguments.more.first().filter(|_| !study.takes_options) {
        let taking = STUDIES.iter().filter(|s| s.takes_options).map(|s| s.name);
        let taking = taking.collect::<Vec<_>>().join(", ");
        let message = format!("the study `{name}` takes no {option}; those that do: {taking}");
        return Err(Failure::Input(message));
    }
    let default = || Path::new("out/reproduce").join(study.name);
    let folder = arguments.out.clone().unwrap_or_else(default);
    // Before the run, which takes long.
    fs::create_dir_all(&folder)
        .map_err(|e| Failure::Input(format!("cannot create {}: {e}", folder.display())))?;
    run(study, &folder, &arguments.options())
}

fn run(study: &Study, folder: &Path, options: &Options) -> Result<(), Failure> {
    let begin = std::time::Instant::now();
    let outputs = (study.run)(folder, options, &mut |line| eprintln!("{line}"))
        .map_err(|e| Failure::Run(e.to_string()))?;
    for output in &outputs {
        riprap_io::write_whole(&folder.join(&output.name), output.content.as_bytes())
            .map_err(|e| Failure::Run(e.to_string()))?;
    }
    let names: Vec<_> = outputs.iter().map(|output| output.name.as_str()).collect();
    let wall = duration(begin.elapsed().as_secs_f64());
    print(&format!("{} ({wall}): {} in {}\n", study.name, names.join(", "), folder.display()));
    Ok(())
}

fn unknown(name: &str) -> Failure {
    let known = || STUDIES.iter().map(|study| study.name);
    let help = match closest(name, known()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("known: {}", known().collect::<Vec<_>>().join(", ")),
    };
    Failure::Input(format!("there is no study `{name}`; {help}"))
}

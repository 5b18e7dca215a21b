//! `riprap reproduce`: regenerates the figures and tables of publications.

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
    /// Output folder [default: out/reproduce/STUDY]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Run a small, coarse version that takes a minute and gives numbers but no verdicts
    #[arg(long)]
    small: bool,
    #[command(flatten)]
    more: More,
}

/// Options of a study with long runs, which are stored in the folder and can be resumed.
#[derive(clap::Args)]
#[command(
    next_help_heading = "Options for `tamping` (start an interrupted study again to resume it)"
)]
struct More {
    /// Run only this case; may be given several times [default: all]
    #[arg(long, value_name = "CASE", value_parser = Case::NAMES)]
    case: Vec<String>,
    /// Number of threads per run [default: all cores, shared among the runs; 1 with --small]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    threads: Option<usize>,
    /// Random seed of the bed [default: 1]
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// Time step, such as "0.25 ms" [default: 0.5 ms; 1 ms with --small]
    #[arg(long, value_name = "H", value_parser = parse_step)]
    dt: Option<f64>,
    /// Solver tolerance [default: 1e-3]
    #[arg(long, value_name = "E", value_parser = parse_tolerance)]
    tolerance: Option<f64>,
    /// Instead of the study, measure how much the 15 Hz dynamic case varies with tolerance, time step and bed. The study uses this scatter
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
    /// The first option given.
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
        let message =
            format!("the study `{name}` does not accept {option}; studies that do: {taking}");
        return Err(Failure::Input(message));
    }
    let default = || Path::new("out/reproduce").join(study.name);
    let folder = arguments.out.clone().unwrap_or_else(default);
    // Before the run, which takes a long time.
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

//! `riprap run`: runs a scene file and writes the results to a folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use riprap_io::output::Ending;
use riprap_io::run::{Error, Options, Run, Summary, reference_length};
use riprap_io::run_file;
use riprap_io::run_folder::Existing;
use riprap_io::scene_file::{SceneFile, TimeScheme};
use riprap_view::source::Source;

use super::settle::Beds;
use super::watch::Terminal;
use super::{SceneArguments, parse_threads, parse_time, set_threads, view};
use crate::failure::Failure;
use crate::progress::duration;
use crate::text::{counted, number, print};

/// Arguments of `riprap run`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    scene: SceneArguments,
    /// Folder for the results [default: out/NAME, with the name of the scene]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// End time of the run, such as 0.5 or "20 ms"; overrides that of the scene
    #[arg(long, value_name = "T", value_parser = parse_time, allow_hyphen_values = true)]
    until: Option<f64>,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    threads: Option<usize>,
    /// Write the contact problem of every N-th step and its solution to problems/ in the folder (for `riprap solve`)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    problems: Option<u32>,
    /// Interval of checkpoints in simulated time, such as "0.1 s", from which a killed run can be resumed
    #[arg(long, value_name = "T", value_parser = parse_time, allow_hyphen_values = true)]
    checkpoint_every: Option<f64>,
    /// Resume from the checkpoint in the folder; the results are bitwise identical to those of an uninterrupted run
    #[arg(long)]
    resume: bool,
    /// Start from a bed written by `riprap settle --out`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["cache", "no_cache"])]
    bed: Option<PathBuf>,
    #[command(flatten)]
    beds: Beds,
    /// Start from the end of another run: its folder, or end.bin or checkpoint.bin in it; bodies go on by name
    #[arg(long, value_name = "RUN", conflicts_with = "bed")]
    from: Option<PathBuf>,
    /// Show the run in the browser while it is running
    #[arg(long)]
    view: bool,
    /// Overwrite an existing run in the folder; with --resume, only if it has no checkpoint
    #[arg(long)]
    force: bool,
}

/// Runs a scene.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let file = arguments.scene.read()?;
    let out = arguments.out.clone().unwrap_or_else(|| default_folder(&arguments.scene.path));
    let options = Options {
        existing: if arguments.force { Existing::Overwrite } else { Existing::Keep },
        until: arguments.until,
        checkpoint_every: arguments.checkpoint_every,
        problems_every: arguments.problems,
        bed: arguments.bed.clone(),
        start_from: arguments.from.clone(),
        cache: arguments.beds.folder(),
        threads: set_threads(arguments.threads)?,
        ..Options::new(&out)
    };
    let prepared = match arguments.resume {
        false => Run::new(&file, options)?,
        true => Run::resume_or_new(&file, options)?,
    };
    if arguments.resume && !prepared.resumes() {
        eprintln!("no checkpoint in {}: starting from the beginning", out.display());
    }
    for note in prepared.scene().notes(&prepared.built().scene) {
        eprintln!("note: {note}");
    }
    let interrupt = prepared.interrupt();
    on_interrupt(Arc::clone(&interrupt));
    let viewer = match arguments.view {
        true => Some(Viewer::start(&out)?),
        false => None,
    };
    let summary = prepared.execute(&mut Terminal::default())?;
    conclude(&file, &summary)?;
    viewer.map_or(Ok(()), |viewer| viewer.stay(&interrupt))
}

/// A viewer beside a run.
struct Viewer {
    url: String,
    thread: std::thread::JoinHandle<std::io::Result<()>>,
    stop: Arc<AtomicBool>,
}

impl Viewer {
    /// Starts a viewer of the folder of a run.
    fn start(folder: &Path) -> Result<Viewer, Failure> {
        let server = view::bind(vec![Source::expected(folder)], "127.0.0.1", None)?;
        let url = server.url();
        eprintln!("viewer at {url}");
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = std::thread::spawn(move || server.run(&stopped));
        view::open_browser(&url);
        Ok(Viewer { url, thread, stop })
    }

    /// Keeps the viewer after the end of the run, until Ctrl-C.
    fn stay(self, interrupt: &AtomicBool) -> Result<(), Failure> {
        eprintln!("the viewer stays at {} until Ctrl-C", self.url);
        while !interrupt.load(Ordering::Relaxed) && !self.thread.is_finished() {
            std::thread::sleep(std::time::Duration::from_millis(100));
        }
        self.stop.store(true, Ordering::Relaxed);
        match self.thread.join() {
            Ok(served) => {
                served.map_err(|error| Failure::Run(format!("the viewer failed: {error}")))
            }
            Err(_) => Err(Failure::Run("the viewer failed".into())),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        match error {
            Error::Scene(errors) => Failure::Scene(errors),
            Error::EndsBeforeFirstStep { until, dt } => Failure::Input(format!(
                "--until {until} s is before the end of the first step ({dt} s)"
            )),
            Error::CheckpointsTooFrequent { every, dt } => Failure::Input(format!(
                "--checkpoint-every {every} s is shorter than a step ({dt} s)"
            )),
            Error::NoCheckpoint { folder } => Failure::Input(format!(
                "the run in {} has no checkpoint; restart it with --force, and use --checkpoint-every to write checkpoints",
                folder.display()
            )),
            Error::Start(error @ riprap_io::Error::Exists { .. }) => {
                Failure::Input(format!("{error} (--force)"))
            }
            error @ (Error::State(_) | Error::Write(_)) => Failure::Run(error.to_string()),
            error => Failure::Input(error.to_string()),
        }
    }
}

/// Prints the outcome of a run.
fn conclude(file: &SceneFile, summary: &Summary) -> Result<(), Failure> {
    let Summary { ending, report, .. } = summary;
    if let Ending::Failed(message) = ending {
        let folder = summary.folder.display();
        return Err(Failure::Run(format!("{message}\nresults up to this point: {folder}")));
    }
    for warning in &summary.warnings {
        eprintln!("warning: {warning}");
    }
    let path = |name: &str| summary.folder.join(name).display().to_string();
    let mut text = format!(
        "{} at t = {} s: {} in {}\n",
        ending.word(),
        number(summary.time),
        counted(report.steps as usize, "step"),
        duration(report.wall)
    );
    if let Some(stopped) = &summary.stopped {
        text += &format!("stopped by the condition `{}`\n", stopped.condition);
    }
    if summary.n_mechanisms > 0 {
        text += &format!("max loop residual {:.1e}\n", report.loop_residual);
    }
    if file.run.scheme.solves_contacts() {
        text += &format!(
            "contacts: mean {:.0}, max {}; sweeps: mean {:.1}, max {}; deepest overlap {} m, {:.3} % of the {}\n",
            report.mean_contacts(),
            report.contacts.1,
            report.mean_sweeps(),
            report.sweeps.1,
            number(report.penetration),
            100.0 * summary.worst_penetration,
            reference_length(summary.clearance)
        );
        if let Some((criterion, share)) = report.deciding_criterion() {
            let (key, percent) = (criterion.key(), 100.0 * share);
            text += &format!(
                "`{key}` decided convergence in {percent:.0} % of the steps with contacts\n"
            );
        }
    }
    if matches!(file.run.scheme, TimeScheme::Penalty { .. }) {
        text += &format!(
            "contacts: mean {:.0}, max {}; deepest overlap {} m, {:.3} % of the {}\n",
            report.mean_contacts(),
            report.contacts.1,
            number(report.penetration),
            100.0 * summary.worst_penetration,
            reference_length(summary.clearance)
        );
    }
    if matches!(file.run.scheme, TimeScheme::GeneralizedAlpha { .. }) {
        text += &format!(
            "contacts: mean {:.0}, max {}; Newton iterations: mean {:.1}, max {}; {} halved; deepest overlap {} m\n",
            report.mean_contacts(),
            report.contacts.1,
            report.mean_newton(),
            report.newton.1,
            counted(report.halved as usize, "step"),
            number(report.penetration),
        );
    }
    text += &format!(
        "  {}  time series: energies, contacts, coordinates, probes\n",
        path("series.csv")
    );
    text += &format!("  {}  run summary\n", path("summary.json"));
    if summary.n_frames > 0 {
        let frames = counted(summary.n_frames, "frame");
        let file =
            if summary.folder.join(run_file::FILE).is_file() { run_file::FILE } else { "run.pvd" };
        text += &format!("  {}  {frames}: open in ParaView\n", path(file));
    }
    print(&text);
    if *ending == Ending::Interrupted { Err(Failure::Interrupted) } else { Ok(()) }
}

/// `out/` followed by the name of the scene file, or of its folder if the file is called `scene.toml`.
fn default_folder(scene: &Path) -> PathBuf {
    let stem = scene.file_stem().unwrap_or_default().to_owned();
    let folder =
        scene.canonicalize().ok().and_then(|path| Some(path.parent()?.file_name()?.to_owned()));
    let name = match folder {
        Some(folder) if stem == "scene" => folder,
        _ => stem,
    };
    Path::new("out").join(name)
}

/// Sets the flag on Ctrl-C; a second Ctrl-C ends the program immediately.
pub(super) fn on_interrupt(flag: Arc<AtomicBool>) {
    let handler = move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        eprintln!("warning: Ctrl-C will not stop the run cleanly: {error}");
    }
}

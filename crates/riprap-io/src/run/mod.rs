//! Running a scene: grains settle, the scheme steps, and a folder receives series, frames, checkpoints and a summary.
//!
//! [`Run::new`] checks and builds everything without touching a file; [`Run::execute`] creates the folder and runs.
//! [`Run::resume`] continues from the checkpoint in a folder, and the result is bitwise identical to that of an
//! uninterrupted run. The library prints nothing: a [`Watch`] is notified of every step and every other event.
//!
//! ```
//! use riprap_io::output::Ending;
//! use riprap_io::run::{Options, Run};
//! use riprap_io::scene_file::SceneFile;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let scene = SceneFile::parse(
//!     r#"
//!     run = { dt = "1 ms", until = "50 ms", output_every = "10 ms" }
//!     materials.steel = { density = 7800, friction = 0.3 }
//!     [[body]]
//!     kind = "fixed"
//!     material = "steel"
//!     shape = { type = "half-space" }
//!     [[body]]
//!     name = "ball"
//!     material = "steel"
//!     position = [0, 0, 0.06]
//!     shape = { type = "sphere", radius = 0.05 }
//!     "#,
//!     ".",
//! )?;
//! # let out = std::env::temp_dir().join(format!("riprap-doc-{}", std::process::id()));
//! let summary = Run::new(&scene, Options::new(&out))?.execute(&mut ())?;
//! assert_eq!(summary.ending, Ending::Finished);
//! assert_eq!(summary.report.steps, 50);
//! assert!(out.join("series.csv").is_file());
//! # std::fs::remove_dir_all(out)?;
//! # Ok(())
//! # }
//! ```

mod beds;
mod laws;
mod origin;
mod problems;
mod summary;
#[cfg(test)]
mod tests;
mod watch;

pub use beds::{settle, user_cache};
pub(crate) use origin::write_end;
pub use origin::{END_FILE, Origin};
pub use summary::{LARGE_OVERLAP, Summary, Warning, reference_length};
pub use watch::{Event, Phase, Watch};

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use riprap::scene::{Continued, State};
use riprap::scheme::Pulse;
use riprap::simulation::{self, RunReport, Simulation};

use crate::build::{Built, Settled, Settling};
use crate::checkpoint::Checkpoint;
use crate::lock::Lock;
use crate::output::{Ending, RunWriter};
use crate::run_folder::{Existing, Record, RunFolder};
use crate::scene_file::{SceneErrors, SceneFile};
use problems::Problems;
use watch::Stepping;

/// Options of a [`Run`]. [`Options::new`] gives the defaults.
#[derive(Clone, Debug)]
pub struct Options {
    /// Folder for the results.
    pub folder: PathBuf,
    /// What to do if the folder already contains a run; by default, fail.
    pub existing: Existing,
    /// End time, overriding that of the scene [s].
    pub until: Option<f64>,
    /// Interval between checkpoints, overriding that of the scene [s].
    pub checkpoint_every: Option<f64>,
    /// Number of steps between contact problems written to `problems/`; `None` writes none.
    pub problems_every: Option<u32>,
    /// File with the settled bed to start from, written by [`Settling::write`]; `None` lets the grains settle.
    pub bed: Option<PathBuf>,
    /// Another run from whose end this one starts, overriding that of the scene: see [`Origin::read`].
    pub start_from: Option<PathBuf>,
    /// Folder in which settled beds are cached; `None` disables the cache. The command line uses [`user_cache`].
    pub cache: Option<PathBuf>,
    /// Number of threads, only recorded in `summary.json`: the thread pool belongs to the caller.
    pub threads: usize,
    /// Ends the run before the next step once it is true; set by a signal handler or another thread. A checkpoint is then
    /// written, from which [`Run::resume`] continues.
    pub interrupt: Arc<AtomicBool>,
}

impl Options {
    /// Results go to `folder`; everything else is as specified in the scene, and beds are not cached.
    pub fn new(folder: impl Into<PathBuf>) -> Options {
        Options {
            folder: folder.into(),
            existing: Existing::Keep,
            until: None,
            checkpoint_every: None,
            problems_every: None,
            bed: None,
            start_from: None,
            cache: None,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            interrupt: Arc::default(),
        }
    }
}

/// Why a run did not start, or why its results could not be written. A run that fails after it has started returns
/// [`Ending::Failed`] instead, with a complete folder.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The scene has mistakes that are only detected when it is built.
    #[error(transparent)]
    Scene(#[from] SceneErrors),
    /// The run would end before the end of its first step.
    #[error("the run cannot end at {until} s, before the end of the first step ({dt} s)")]
    EndsBeforeFirstStep {
        /// End of the run [s].
        until: f64,
        /// Time step [s].
        dt: f64,
    },
    /// The checkpoint interval is shorter than the time step.
    #[error("the checkpoint interval ({every} s) is shorter than the time step ({dt} s)")]
    CheckpointsTooFrequent {
        /// Interval between checkpoints [s].
        every: f64,
        /// Time step [s].
        dt: f64,
    },
    /// There is nothing to resume from.
    #[error("no checkpoint in {}; restart the run", folder.display())]
    NoCheckpoint {
        /// The folder of the run.
        folder: PathBuf,
    },
    /// A bed is given for a scene in which no grains settle.
    #[error("{}: no grains of this scene settle, so no bed is needed", bed.display())]
    NothingSettles {
        /// The file of the bed.
        bed: PathBuf,
    },
    /// A bed, a checkpoint or the folder cannot be used.
    #[error(transparent)]
    Start(crate::Error),
    /// The scheme of the scene cannot run it.
    #[error(transparent)]
    Scheme(simulation::Error),
    /// The state of a bed or checkpoint belongs to another scene.
    #[error(transparent)]
    State(simulation::Error),
    /// The results cannot be written.
    #[error(transparent)]
    Write(crate::Error),
}

/// A scene that is ready to run.
///
/// ```
/// use riprap_io::run::{Options, Run};
/// use riprap_io::scene_file::SceneFile;
///
/// let text = r#"
///     [run]
///     dt = "1 ms"
///     until = "0.1 s"
///
///     [materials.rubber]
///     density = "1100 kg/m^3"
///     restitution = 0.7
///
///     [[body]]
///     name = "ball"
///     material = "rubber"
///     shape = { type = "sphere", radius = "5 cm" }
/// "#;
/// let scene = SceneFile::parse(text, ".")?; // `SceneFile::read` reads a file
/// let folder = std::env::temp_dir().join(format!("riprap-run-{}", std::process::id()));
/// let summary = Run::new(&scene, Options::new(&folder))?.execute(&mut ())?;
/// assert_eq!(summary.report.steps, 100);
/// assert!(folder.join("series.csv").is_file() && folder.join("run.vtkhdf").is_file());
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Run {
    scene: SceneFile,
    built: Built,
    start: Start,
    options: Options,
    /// The lock of the folder, if it was needed before the run.
    lock: Option<Lock>,
}

/// What a run starts from.
#[derive(Debug)]
enum Start {
    /// The initial state of the scene.
    Initial,
    /// The state after these grains have come to rest.
    Settle(Box<Settling>),
    /// A settled bed from a file.
    Bed { path: PathBuf, grains: usize, bed: Box<Settled> },
    /// The end of another run, carried over to this scene.
    Other { origin: Box<Origin>, state: Box<State>, report: Box<Continued> },
    /// The checkpoint of the run, and the file of its bed or of the run it started from if that has changed since then.
    Checkpoint { checkpoint: Box<Checkpoint>, changed_bed: Option<PathBuf>, changed_origin: bool },
}

impl Run {
    /// Prepares a run from the initial state of a scene, from a settled bed, or from the end of another run. Nothing is written yet.
    pub fn new(scene: &SceneFile, options: Options) -> Result<Run, Error> {
        let scene = with_options(scene, &options)?;
        let mut built = scene.build()?;
        let start = match (&options.bed, built.settling.take()) {
            (None, None) if scene.run.start_from.is_some() => other(&scene, &built)?,
            (None, None) => Start::Initial,
            (None, Some(settling)) => Start::Settle(Box::new(settling)),
            (Some(path), Some(settling)) => {
                let bed = settling.read(path, &scene, &built.scene).map_err(Error::Start)?;
                let (path, grains) = (path.clone(), settling.n_grains());
                Start::Bed { path, grains, bed: Box::new(bed) }
            }
            (Some(path), None) => return Err(Error::NothingSettles { bed: path.clone() }),
        };
        Ok(Run { scene, built, start, options, lock: None })
    }

    /// Prepares to continue the run in `options.folder` from its checkpoint, which must belong to this scene; only the end time
    /// may differ. The folder is locked from now on, so that the checkpoint cannot change. Nothing else is written yet.
    pub fn resume(scene: &SceneFile, options: Options) -> Result<Run, Error> {
        let scene = with_options(scene, &options)?;
        let no_checkpoint = || !Checkpoint::path(&options.folder).exists();
        if no_checkpoint() {
            return Err(Error::NoCheckpoint { folder: options.folder });
        }
        let lock = RunFolder::lock(&options.folder).map_err(Error::Start)?;
        // The previous holder of the lock may have restarted the run.
        if no_checkpoint() {
            return Err(Error::NoCheckpoint { folder: options.folder });
        }
        let mut built = scene.build()?;
        let checkpoint = Checkpoint::read(&options.folder, &scene).map_err(Error::Start)?;
        let bed = built.settling.take().and_then(|s| changed_bed(&s, &scene, &built, &options));
        let record = Record::read(&options.folder).unwrap_or_default();
        let changed_origin = record.start().is_some_and(|start| !origin::is_unchanged(start));
        let checkpoint = Box::new(checkpoint);
        let start = Start::Checkpoint { checkpoint, changed_bed: bed, changed_origin };
        Ok(Run { scene, built, start, options, lock: Some(lock) })
    }

    /// Prepares to continue the run in `options.folder`, or to start one if there is none. If a run left no checkpoint, it is restarted
    /// with [`Existing::Overwrite`] and rejected otherwise. A job that may be killed and requeued can always call this: the folder is
    /// locked before it is inspected, so that neither a run in progress nor one that has just finished is overwritten.
    pub fn resume_or_new(scene: &SceneFile, options: Options) -> Result<Run, Error> {
        if Checkpoint::path(&options.folder).exists() {
            return Run::resume(scene, options);
        }
        RunFolder::check(&options.folder, Existing::Overwrite).map_err(Error::Start)?;
        let run = Run::new(scene, options)?;
        let folder = run.options.folder.clone();
        let lock = RunFolder::lock(&folder).map_err(Error::Start)?;
        if Checkpoint::path(&folder).exists() {
            drop(lock);
            return Run::resume(scene, run.options);
        }
        if run.options.existing == Existing::Keep && RunFolder::holds_run(&folder) {
            return Err(Error::NoCheckpoint { folder });
        }
        Ok(Run { lock: Some(lock), ..run })
    }

    /// Prepares to continue the run in a folder, with the scene stored there.
    pub fn resume_folder(folder: impl AsRef<Path>) -> Result<Run, Error> {
        let folder = folder.as_ref();
        if !Checkpoint::path(folder).exists() {
            return Err(Error::NoCheckpoint { folder: folder.to_owned() });
        }
        Run::resume(&SceneFile::read(folder.join("scene.toml"))?, Options::new(folder))
    }

    /// The scene, with the end time and checkpoint interval of the options.
    pub fn scene(&self) -> &SceneFile {
        &self.scene
    }

    /// The built scene: bodies and groups of grains.
    pub fn built(&self) -> &Built {
        &self.built
    }

    /// Whether it continues from a checkpoint.
    pub fn resumes(&self) -> bool {
        matches!(self.start, Start::Checkpoint { .. })
    }

    /// What carries over from the run that this one starts from, and what not; `None` if it does not start from another one.
    pub fn continued(&self) -> Option<&Continued> {
        match &self.start {
            Start::Other { report, .. } => Some(report),
            _ => None,
        }
    }

    /// The flag that ends the run before its next step.
    pub fn interrupt(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.options.interrupt)
    }

    /// Runs to the end. The folder is locked during the run and complete afterwards, however the run ended; see the summary.
    pub fn execute(self, watch: &mut dyn Watch) -> Result<Summary, Error> {
        let Run { scene, built, start, options, lock } = self;
        match &start {
            Start::Initial | Start::Settle(_) => {}
            Start::Bed { path, grains, bed } => {
                watch.event(Event::BedTaken { path, grains: *grains, bed });
            }
            Start::Other { origin, report, .. } => {
                watch.event(Event::StartedFrom { file: origin.file(), report });
            }
            Start::Checkpoint { checkpoint, changed_bed, changed_origin } => {
                if let Some(path) = changed_bed {
                    watch.event(Event::BedChanged { path });
                }
                if *changed_origin {
                    watch.event(Event::OriginChanged);
                }
                let State { t, step, .. } = checkpoint.state;
                watch.event(Event::Resumed { time: t, step });
            }
        }
        let (folder, threads) = (&options.folder, options.threads);
        // Released last, after the files are closed.
        let lock = match lock {
            Some(lock) => lock,
            None => RunFolder::check(folder, options.existing)
                .and_then(|()| RunFolder::lock(folder))
                .map_err(Error::Start)?,
        };
        if !lock.holds() {
            watch.event(Event::NotLocked { folder });
        }
        let mut writer = match &start {
            Start::Checkpoint { checkpoint, .. } => {
                RunWriter::resume(folder, &scene, &built, threads, checkpoint)
            }
            _ => RunWriter::create(folder, options.existing, &scene, &built, threads),
        }
        .map_err(Error::Start)?;
        let resumed = matches!(start, Start::Checkpoint { .. });
        match run_into(&mut writer, &scene, built, start, &options, watch) {
            Ok(mut summary) => {
                if resumed {
                    summary.report.wall = writer.report().wall;
                }
                Ok(summary)
            }
            Err(error) => {
                // Best effort; the original error is the one that matters.
                let _ = writer.finish(None, &Ending::Failed(error.to_string()));
                Err(error)
            }
        }
    }
}

/// Lets the grains settle if needed, and runs.
fn run_into(
    writer: &mut RunWriter,
    scene: &SceneFile,
    built: Built,
    start: Start,
    options: &Options,
    watch: &mut dyn Watch,
) -> Result<Summary, Error> {
    let problems = options.problems_every;
    let problems = problems.map(|every| Problems::create(&options.folder, scene, every));
    let problems = problems.transpose().map_err(Error::Start)?;
    let state = match start {
        Start::Initial => Ok(None),
        Start::Checkpoint { checkpoint, .. } => Ok(Some(checkpoint.state)),
        Start::Other { origin, state, report } => {
            writer.started_from(origin.record(&report));
            Ok(Some(*state))
        }
        Start::Bed { bed, .. } => Ok(Some(recorded(writer, *bed))),
        Start::Settle(settling) => {
            let cache = options.cache.as_deref();
            settle(scene, &built, &settling, cache, &options.interrupt, watch)
                .map(|bed| Some(recorded(writer, bed)))
        }
    };
    match state {
        Ok(state) => simulate(scene, built, writer, problems, state, &options.interrupt, watch),
        Err(error) => {
            let ending = Ending::Failed(error.to_string());
            writer.finish(None, &ending).map_err(Error::Write)?;
            Ok(Summary::new(scene, writer, ending, RunReport::default(), None))
        }
    }
}

/// The end of the other run that a scene starts from.
fn other(scene: &SceneFile, built: &Built) -> Result<Start, Error> {
    let Some(path) = &scene.run.start_from else { return Ok(Start::Initial) };
    let origin = Box::new(Origin::read(path).map_err(Error::Start)?);
    let (state, report) = origin.start(scene, &built.scene).map_err(Error::Start)?;
    Ok(Start::Other { origin, state: Box::new(state), report: Box::new(report) })
}

/// The file of the bed that the run in a folder would start from now, if it differs from the bed it started from.
fn changed_bed(
    settling: &Settling,
    scene: &SceneFile,
    built: &Built,
    options: &Options,
) -> Option<PathBuf> {
    let kept = || options.cache.as_ref().map(|folder| folder.join(settling.file_name(scene)));
    let path = options.bed.clone().or_else(kept)?;
    let bed = settling.read(&path, scene, &built.scene).ok()?;
    let record = Record::read(&options.folder)?;
    (!record.may_start_from(&bed.hash())).then_some(path)
}

/// Records a bed and returns its state.
fn recorded(writer: &mut RunWriter, bed: Settled) -> State {
    writer.settled(&bed);
    bed.state
}

/// The scene with the end time and checkpoint interval of the options.
fn with_options(scene: &SceneFile, options: &Options) -> Result<SceneFile, Error> {
    let mut scene = scene.clone();
    let dt = scene.run.dt;
    if let Some(path) = &options.start_from {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        scene.run.start_from = Some(path);
    }
    if let Some(until) = options.until {
        let even = !scene.run.scheme.is_adaptive();
        if even && (until.is_nan() || until > 0.0 && until < dt) {
            return Err(Error::EndsBeforeFirstStep { until, dt });
        }
        scene.run.until = until;
    }
    if let Some(every) = options.checkpoint_every {
        if every.is_nan() || every < dt {
            return Err(Error::CheckpointsTooFrequent { every, dt });
        }
        scene.run.checkpoint_every = Some(every);
    }
    Ok(scene)
}

/// Steps from `state`, or from the initial state, to the end of the run.
fn simulate(
    scene: &SceneFile,
    built: Built,
    writer: &mut RunWriter,
    problems: Option<Problems>,
    state: Option<State>,
    interrupt: &Arc<AtomicBool>,
    watch: &mut dyn Watch,
) -> Result<Summary, Error> {
    let mut run = Simulation::new(built.scene, scene.scheme()).map_err(Error::Scheme)?;
    run.on_unconverged(scene.on_unconverged());
    if let Some(state) = state {
        run.set_state(state).map_err(Error::State)?;
    }
    // A run cannot start from a bed whose settling was interrupted.
    let interrupted_before = interrupt.load(Ordering::Relaxed);

    let (phase, end) = (Phase::Running, scene.run.until);
    watch.event(Event::PhaseStarted { phase, end });
    if !scene.run.scheme.has_contacts() {
        let pulse = Arc::new(Pulse::new(Arc::clone(interrupt)));
        watch.event(Event::InnerSteps { pulse: &pulse });
        run.pulse(pulse);
    }
    let mut stepping =
        Stepping { phase, watch: &mut *watch, problems, writer: Some(&mut *writer), interrupt };
    let result = run.until(end, &mut stepping);
    watch.event(Event::PhaseEnded { phase });
    let ending = match &result {
        // A failed step may be caused by a law; a full disk is not.
        Err(error @ riprap::simulation::Error::Step(_)) => {
            let law = laws::not_finite(scene, &run).map(|law| format!("; {law}"));
            Ending::Failed(format!("{error}{}", law.unwrap_or_default()))
        }
        Err(error) => Ending::Failed(error.to_string()),
        // An interrupt in the last step has no effect.
        Ok(_) if writer.stopped().is_some() => Ending::Finished,
        Ok(_) if !scene.run.is_over(run.time()) => Ending::Interrupted,
        Ok(_) => Ending::Finished,
    };
    if ending == Ending::Interrupted && !interrupted_before && run.state().step > 0 {
        writer.write_checkpoint(&run.frame()).map_err(Error::Write)?;
        watch.event(Event::CheckpointWritten);
    }
    writer.finish(Some(&run.frame()), &ending).map_err(Error::Write)?;
    // All steps, including those before a checkpoint, but without settling.
    let report = RunReport { wall: run.report().wall, ..writer.report() };
    Ok(Summary::new(scene, writer, ending, report, Some(run.state().clone())))
}

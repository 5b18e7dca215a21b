//! `riprap run`: a scene from its file to the folder of a run.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use riprap::scene::State;
use riprap::simulation::{Frame, Observer, RunReport, Simulation};
use riprap_io::build::{Built, Settled, Settling};
use riprap_io::checkpoint::Checkpoint;
use riprap_io::fclib;
use riprap_io::output::{Ending, RunWriter};
use riprap_io::run_folder::{Existing, RunFolder};
use riprap_io::scene_file::{Component, Drive, OnUnconverged, SceneFile, TimeScheme};

use super::settle::{Beds, settle, tell_bed};
use super::{parse_threads, parse_time, set_threads};
use crate::failure::Failure;
use crate::progress::{Progress, duration};
use crate::text::{number, print};

/// Arguments of `riprap run`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The scene file
    scene: PathBuf,
    /// Folder for the results [default: out/ and the name of the scene]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Time at which the run ends, such as 0.5 or "20 ms", instead of that of the scene
    #[arg(long, value_name = "T", value_parser = parse_time)]
    until: Option<f64>,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    threads: Option<usize>,
    /// Write the contact problem of every N-th step, with its impulses, to problems/ in the folder (for `riprap solve`)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    problems: Option<u32>,
    /// Write a checkpoint every so often, such as "0.1 s" of simulated time, from which a killed run goes on
    #[arg(long, value_name = "T", value_parser = parse_time)]
    checkpoint_every: Option<f64>,
    /// Go on from the checkpoint in the folder; the run ends with the same bits as one that was never stopped
    #[arg(long)]
    resume: bool,
    /// Begin with the bed in a file of `riprap settle`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["cache", "no_cache"])]
    bed: Option<PathBuf>,
    #[command(flatten)]
    beds: Beds,
    /// Overwrite an old run in the folder; with --resume only if it left no checkpoint
    #[arg(long)]
    force: bool,
}

/// Runs a scene.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    // Nothing is written before the scene is known to be right.
    let mut file = SceneFile::read(&arguments.scene)?;
    if let Some(until) = arguments.until {
        let even = matches!(file.run.scheme, TimeScheme::MoreauJean { .. });
        if even && until > 0.0 && until < file.run.dt {
            let dt = file.run.dt;
            let message = format!("--until {until} s comes before the first step ends ({dt} s)");
            return Err(Failure::Input(message));
        }
        file.run.until = until;
        file.run.fit();
    }
    if let Some(every) = arguments.checkpoint_every {
        if every < file.run.dt {
            let dt = file.run.dt;
            let message = format!("--checkpoint-every {every} s is shorter than a step ({dt} s)");
            return Err(Failure::Input(message));
        }
        file.run.checkpoint_every = Some(every);
    }
    let out = arguments.out.clone().unwrap_or_else(|| default_folder(&arguments.scene));
    let threads = set_threads(arguments.threads)?;
    let mut built = file.build()?;
    // What does not fit is said before the folder is touched.
    let begin = begin(arguments, &file, &mut built, &out)?;
    let mut writer = match &begin {
        Begin::Checkpoint(checkpoint) => {
            RunWriter::resume(&out, &file, &built, threads, checkpoint)
        }
        _ => {
            let existing = if arguments.force { Existing::Overwrite } else { Existing::Keep };
            RunWriter::create(&out, existing, &file, &built, threads)
        }
    }
    .map_err(|e| {
        let help = if matches!(e, riprap_io::Error::Exists { .. }) { " (--force)" } else { "" };
        Failure::Input(format!("{e}{help}"))
    })?;

    let interrupted = interrupt_flag();
    let problems = match arguments.problems {
        Some(every) => Some(Problems::create(&file, &out, every)?),
        None => None,
    };
    let resumed = matches!(begin, Begin::Checkpoint(_));
    let state = match begin {
        Begin::Start => Ok(None),
        Begin::Checkpoint(checkpoint) => Ok(Some(checkpoint.state)),
        Begin::Bed(bed) => {
            writer.settled(&bed);
            Ok(Some(bed.state))
        }
        Begin::Settle(settling) => settle(&file, &built, &settling, &arguments.beds, &interrupted)
            .map(|settled| {
                writer.settled(&settled);
                Some(settled.state)
            }),
    };
    let (ending, mut report) = match state {
        Ok(state) => simulate(&file, built, &mut writer, problems, state, &interrupted)?,
        Err(error) => {
            let ending = Ending::Failed(error.to_string());
            writer.finish(None, &ending).map_err(|e| Failure::Run(e.to_string()))?;
            (ending, RunReport::default())
        }
    };
    if resumed {
        report.wall = writer.report().wall;
    }
    conclude(&file, &writer, &ending, report)
}

/// Where a run begins.
enum Begin {
    /// As the scene says.
    Start,
    /// When these grains have come to rest.
    Settle(Box<Settling>),
    /// With a bed from a file.
    Bed(Box<Settled>),
    /// Where it was stopped.
    Checkpoint(Box<Checkpoint>),
}

fn begin(
    arguments: &Arguments,
    file: &SceneFile,
    built: &mut Built,
    out: &Path,
) -> Result<Begin, Failure> {
    if arguments.resume
        && let Some(checkpoint) = checkpoint(out, file, arguments.force)?
    {
        return Ok(Begin::Checkpoint(Box::new(checkpoint)));
    }
    match (&arguments.bed, built.settling.take()) {
        (None, None) => Ok(Begin::Start),
        (None, Some(settling)) => Ok(Begin::Settle(Box::new(settling))),
        (Some(path), Some(settling)) => match settling.read(path, file, &built.scene) {
            Ok(bed) => {
                tell_bed(path, &settling, &bed);
                Ok(Begin::Bed(Box::new(bed)))
            }
            Err(error) => Err(Failure::Input(error.to_string())),
        },
        (Some(path), None) => {
            let message = "no grains of this scene settle, so that no bed is needed";
            Err(Failure::Input(format!("{}: {message}", path.display())))
        }
    }
}

/// The checkpoint to go on from; `None` where there is no run yet, or one without a checkpoint that may be overwritten.
fn checkpoint(out: &Path, file: &SceneFile, force: bool) -> Result<Option<Checkpoint>, Failure> {
    if !Checkpoint::path(out).exists() {
        if force || !RunFolder::holds_run(out) {
            eprintln!("no checkpoint in {}: the run starts at its begin", out.display());
            return Ok(None);
        }
        return Err(Failure::Input(format!(
            "the run in {} left no checkpoint; start it anew with --force, and with --checkpoint-every to have some",
            out.display()
        )));
    }
    let read = Checkpoint::read(out, file).map_err(|e| Failure::Input(e.to_string()))?;
    eprintln!("going on at t = {} s ({} steps)", number(read.state.t), read.state.step);
    Ok(Some(read))
}

/// Runs; the folder is complete afterwards, however the run ended.
fn simulate(
    file: &SceneFile,
    built: Built,
    writer: &mut RunWriter,
    problems: Option<Problems>,
    begin: Option<State>,
    interrupted: &AtomicBool,
) -> Result<(Ending, RunReport), Failure> {
    let written =
        |result: Result<(), riprap_io::Error>| result.map_err(|e| Failure::Run(e.to_string()));
    let mut run = match Simulation::new(built.scene, file.scheme()) {
        Ok(run) => run,
        Err(error) => return Err(Failure::Input(error.to_string())),
    };
    run.on_unconverged(file.on_unconverged());
    if let Some(begin) = begin {
        run.set_state(begin).map_err(|e| Failure::Run(e.to_string()))?;
    }
    // A bed that did not come to rest because of Ctrl-C is no begin.
    let interrupted_before = interrupted.load(Ordering::Relaxed);

    let progress = Progress::new("running", file.run.until);
    let mut live = Live { writer: Some(writer), problems, progress, interrupted };
    let result = run.until(file.run.until, &mut live);
    live.progress.finish();
    let ending = match &result {
        Err(error) => Ending::Failed(match strange_law(file, &run) {
            Some(law) => format!("{error}; {law}"),
            None => error.to_string(),
        }),
        // Ctrl-C in the last step comes too late.
        Ok(_) if run.time() < file.run.until - 0.5 * file.run.dt => Ending::Interrupted,
        Ok(_) => Ending::Finished,
    };
    if ending == Ending::Interrupted && !interrupted_before && run.state().step > 0 {
        written(writer.write_checkpoint(&run.frame()))?;
        eprintln!("a checkpoint is kept: --resume goes on from here");
    }
    written(writer.finish(Some(&run.frame()), &ending))?;
    // All steps, those before a checkpoint included; the time of settling is not part of it.
    Ok((ending, RunReport { wall: run.report().wall, ..writer.report() }))
}

/// The first law of a mechanism that is not a number in the step that failed: at its begin, its middle or its end, with the
/// state before it.
fn strange_law(file: &SceneFile, run: &Simulation) -> Option<String> {
    let (state, dt) = (run.state(), file.run.dt);
    for (m, described) in file.mechanisms.iter().enumerate() {
        let system = &run.scene().mechanisms()[m];
        for t in [state.t, state.t + 0.5 * dt, state.t + dt] {
            for joint in &described.joints {
                let Drive::Motion(Component::Expression(law)) = &joint.drive else { continue };
                let what = ["motion", "velocity of the motion", "acceleration of the motion"];
                let rates = what.into_iter().zip(law.with_rates(&[t]));
                if let Some((what, value)) = rates.into_iter().find(|(_, x)| !x.is_finite()) {
                    let name = &joint.name;
                    return Some(format!("the {what} of `{name}` is {value} at t = {t:.6} s"));
                }
            }
            let mut due = state.mechanisms[m].clone();
            system.switch_phases(t, &mut due);
            for (k, name) in system.law_names().enumerate() {
                if let Some(value) = system.law_values(k, &due, t).find(|value| !value.is_finite())
                {
                    return Some(format!(
                        "the law of the force `{name}` is {value} at t = {t:.6} s"
                    ));
                }
            }
        }
    }
    None
}

/// Tells what came out.
fn conclude(
    file: &SceneFile,
    writer: &RunWriter,
    ending: &Ending,
    report: RunReport,
) -> Result<(), Failure> {
    if let Ending::Failed(message) = ending {
        let folder = writer.path().display();
        return Err(Failure::Run(format!("{message}\nwhat was written until then: {folder}")));
    }
    if report.unconverged > 0 && file.run.on_unconverged == OnUnconverged::Warn {
        eprintln!(
            "warning: {} of {} steps stopped short of the solver's tolerances (residual up to {:.1e}, approach of a \
             step up to {:.1e} of the grain size); allow more sweeps, or take a smaller dt",
            report.unconverged, report.steps, report.worst_residual, report.worst_approach
        );
    }
    if writer.worst_penetration() > LARGE_OVERLAP {
        eprintln!(
            "warning: bodies overlapped by up to {:.1} % of the grain size; a smaller dt keeps fast or turning bodies \
             apart (`riprap check` has advice)",
            100.0 * writer.worst_penetration()
        );
    }
    if writer.worst_joint_drift() > LARGE_OVERLAP {
        eprintln!(
            "warning: joints between bodies came apart by up to {:.1} % of the grain size; write `project = true` or take a \
             smaller dt, and look for joints that contradict each other",
            100.0 * writer.worst_joint_drift()
        );
    }
    let path = |name: &str| writer.path().join(name).display().to_string();
    let mut text = format!(
        "{} at t = {} s: {} steps in {}\n",
        ending.word(),
        number(report.steps as f64 * file.run.dt),
        report.steps,
        duration(report.wall)
    );
    if writer.n_mechanisms() > 0 {
        text += &format!("loop residual up to {:.1e}\n", report.loop_residual);
    }
    if matches!(file.run.scheme, TimeScheme::MoreauJean { .. }) {
        text += &format!(
            "contacts {:.0} mean, {} most; sweeps {:.1} mean, {} most; deepest overlap {:.3} % of the grain size\n",
            report.mean_contacts(),
            report.contacts.1,
            report.mean_sweeps(),
            report.sweeps.1,
            100.0 * writer.worst_penetration()
        );
    }
    text += &format!("  {}  energies, contacts, coordinates, probes\n", path("series.csv"));
    text += &format!("  {}  how it went\n", path("summary.json"));
    if writer.n_frames() > 0 {
        text +=
            &format!("  {}  {} frames: open it in ParaView\n", path("run.pvd"), writer.n_frames());
    }
    print(&text);
    if *ending == Ending::Interrupted { Err(Failure::Interrupted) } else { Ok(()) }
}

/// Overlap, or drift of joints, over the grain size beyond which a run should not be trusted without a look.
const LARGE_OVERLAP: f64 = 0.02;

/// `out/` and the name of the file, or of its folder if it is called `scene.toml`.
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

/// Set by Ctrl-C; pressed twice, it ends the program at once.
pub(super) fn interrupt_flag() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    let handler = move || {
        if set.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        eprintln!("warning: Ctrl-C will not end the run cleanly: {error}");
    }
    flag
}

/// Shows every step and passes it on to the writer.
pub(super) struct Live<'a> {
    writer: Option<&'a mut RunWriter>,
    problems: Option<Problems>,
    pub(super) progress: Progress,
    interrupted: &'a AtomicBool,
}

impl<'a> Live<'a> {
    /// Shows a phase of which nothing is written.
    pub(super) fn watching(progress: Progress, interrupted: &'a AtomicBool) -> Live<'a> {
        Live { writer: None, problems: None, progress, interrupted }
    }
}

impl Observer for Live<'_> {
    fn observe(&mut self, frame: &Frame) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.progress.step(frame);
        if let Some(problems) = &self.problems {
            problems.write(frame)?;
        }
        match &mut self.writer {
            Some(writer) => writer.observe(frame),
            None => Ok(()),
        }
    }

    fn stop(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// Writes the contact problems of a run.
struct Problems {
    folder: PathBuf,
    every: u64,
    title: String,
}

impl Problems {
    fn create(file: &SceneFile, out: &Path, every: u32) -> Result<Problems, Failure> {
        let folder = out.join("problems");
        let refuse = |e| Failure::Input(format!("cannot make {}: {e}", folder.display()));
        std::fs::create_dir_all(&folder).map_err(refuse)?;
        Ok(Problems {
            every: u64::from(every),
            title: file.title.clone().unwrap_or_default(),
            folder,
        })
    }

    fn write(&self, frame: &Frame) -> Result<(), riprap_io::Error> {
        let (step, problem) = (frame.state.step, frame.work.problem());
        if step == 0 || !step.is_multiple_of(self.every) || problem.is_empty() {
            return Ok(());
        }
        let info = fclib::Info {
            title: self.title.clone(),
            description: format!(
                "riprap, step {step}, t = {} s, dt = {} s",
                frame.state.t, frame.dt
            ),
            math_info: String::new(),
        };
        let path = self.folder.join(format!("problem-{step:06}.hdf5"));
        fclib::write(&path, problem, &info, Some(frame.work.impulses()))
    }
}

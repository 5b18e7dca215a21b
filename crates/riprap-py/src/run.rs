//! Runs of scene files into folders, and the command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use riprap::simulation::Frame;
use riprap_io::output::Ending;
use riprap_io::run::{Error, Options, Phase, Run, Watch, user_cache};
use riprap_io::run_folder::Existing;
use riprap_io::scene_file::SceneFile;

use crate::errors;
use crate::report::RunReport;
use crate::scene::scene_errors;
use crate::state::State;

/// Looks for Ctrl-C at most this often.
const SIGNALS: Duration = Duration::from_millis(50);

/// Ends a run on Ctrl-C; it can be resumed.
struct Interrupts {
    interrupt: Arc<AtomicBool>,
    last: Instant,
    raised: Option<PyErr>,
}

impl Watch for Interrupts {
    fn step(&mut self, _: Phase, _: &Frame) {
        if self.last.elapsed() < SIGNALS {
            return;
        }
        self.last = Instant::now();
        if let Err(error) = Python::attach(|py| py.check_signals()) {
            self.raised = Some(error);
            self.interrupt.store(true, Ordering::Relaxed);
        }
    }
}

/// Summary of a run: its folder, how it ended, the time reached [s], warnings, and the final state.
///
/// >>> import riprap as rr, tempfile, pathlib
/// >>> folder = pathlib.Path(tempfile.mkdtemp())
/// >>> _ = (folder / "ball.toml").write_text('''
/// ... run = { dt = "1 ms", until = "10 ms" }
/// ... materials.steel = { density = 7800 }
/// ... [[body]]
/// ... material = "steel"
/// ... shape = { type = "sphere", radius = 0.1 }
/// ... ''')
/// >>> summary = rr.run(folder / "ball.toml", out=folder / "out")
/// >>> summary.ending, summary.report.steps
/// ('finished', 10)
#[pyclass(frozen, module = "riprap")]
pub struct RunSummary(riprap_io::run::Summary);

#[pymethods]
impl RunSummary {
    /// Folder of the results.
    #[getter]
    fn folder(&self) -> PathBuf {
        self.0.folder.clone()
    }

    /// How it ended: finished or interrupted.
    #[getter]
    fn ending(&self) -> &'static str {
        self.0.ending.word()
    }

    /// Time reached [s].
    #[getter]
    fn time(&self) -> f64 {
        self.0.time
    }

    /// Summary of the steps.
    #[getter]
    fn report(&self) -> RunReport {
        RunReport(self.0.report)
    }

    /// The final state.
    #[getter]
    fn state(&self) -> Option<State> {
        self.0.state.clone().map(State)
    }

    /// Reasons to check the results before trusting them.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.0.warnings.iter().map(ToString::to_string).collect()
    }

    fn __repr__(&self) -> String {
        format!(
            "<RunSummary: {} at t = {:?} s in {:?}>",
            self.0.ending.word(),
            self.0.time,
            self.0.folder
        )
    }
}

/// Runs a scene file into a folder, as `riprap run` does: series, frames, checkpoints and a summary. `until` and
/// `checkpoint_every` [s] override those of the scene; `resume` continues from a checkpoint if there is one; `overwrite`
/// replaces an existing run; `cache` keeps settled beds as the command line does.
///
/// SceneError if the scene has mistakes, StepError if a step fails, FileError if results cannot be read or written.
/// KeyboardInterrupt ends the run between two steps with a checkpoint.
///
/// >>> import pathlib, tempfile, riprap as rr
/// >>> folder = pathlib.Path(tempfile.mkdtemp())
/// >>> scene = rr.SceneBuilder()
/// >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), rr.Material("steel", density=7800.0)))
/// >>> scene.build().save(folder / "ball.toml", rr.MoreauJean(dt=1e-3), until=0.01)
/// >>> summary = rr.run(folder / "ball.toml", folder / "out")
/// >>> summary.time, (folder / "out" / "series.csv").is_file()
/// (0.01, True)
#[pyfunction]
#[pyo3(signature = (scene, out, *, until=None, resume=false, overwrite=false, checkpoint_every=None, problems_every=None, bed=None, cache=true))]
pub fn run(
    py: Python,
    scene: PathBuf,
    out: PathBuf,
    until: Option<f64>,
    resume: bool,
    overwrite: bool,
    checkpoint_every: Option<f64>,
    problems_every: Option<u32>,
    bed: Option<PathBuf>,
    cache: bool,
) -> PyResult<RunSummary> {
    let options = Options {
        existing: if overwrite { Existing::Overwrite } else { Existing::Keep },
        until,
        checkpoint_every,
        problems_every: problems_every.filter(|n| *n > 0),
        bed,
        cache: if cache { user_cache() } else { None },
        ..Options::new(&out)
    };
    let interrupt = Arc::clone(&options.interrupt);
    let mut watch = Interrupts { interrupt, last: Instant::now(), raised: None };
    let result = py.detach(|| {
        let file = SceneFile::read(&scene)?;
        let run = match resume {
            true => Run::resume_or_new(&file, options)?,
            false => Run::new(&file, options)?,
        };
        run.execute(&mut watch)
    });
    if let Some(raised) = watch.raised {
        return Err(raised);
    }
    let summary = result.map_err(|error| match error {
        Error::Scene(errors) => scene_errors(py, &errors),
        error @ (Error::Start(_) | Error::Write(_) | Error::NoCheckpoint { .. }) => {
            errors::file(error)
        }
        error @ (Error::Scheme(_) | Error::State(_)) => errors::step(error),
        error => errors::value(error),
    })?;
    if let Ending::Failed(message) = &summary.ending {
        let folder = summary.folder.display();
        return Err(errors::step(format!("{message}\nresults up to this point: {folder}")));
    }
    Ok(RunSummary(summary))
}

/// The command `riprap`: runs it with these arguments, the first being its name, and returns its exit code.
#[pyfunction]
pub fn main(py: Python, arguments: Vec<OsString>) -> u8 {
    py.detach(|| riprap_cli::main_with(arguments))
}

/// The JSON schema of scene files.
///
/// >>> import json, riprap as rr
/// >>> "gravity" in json.loads(rr.scene_schema())["properties"]
/// True
#[pyfunction]
pub fn scene_schema() -> String {
    riprap_io::scene_file::json_schema().to_string()
}

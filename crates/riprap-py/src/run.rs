//! Runs of scene files into folders, and the command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use riprap_io::output::Ending;
use riprap_io::run::{Error, Options, Run, user_cache};
use riprap_io::run_folder::Existing;
use riprap_io::scene_file::SceneFile;

use crate::document::Wanted;
use crate::errors;
use crate::exit;
use crate::keys;
use crate::report::RunReport;
use crate::scene::{Scene, scene_errors};
use crate::scheme::Scheme;
use crate::state::State;
use crate::threads::Threads;
use crate::watch::Watching;

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

    /// The condition that ended the run before its end time, if one did.
    #[getter]
    fn stopped_by(&self) -> Option<&str> {
        self.0.stopped.as_ref().map(|stopped| stopped.condition.as_str())
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

    /// The series, frames and contacts in the folder: what `riprap.open_run` gives.
    fn open<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        py.import("riprap.results")?.call_method1("open_run", (&self.0.folder,))
    }

    /// The series as a pandas.DataFrame: one row per output time [s], units in the names of the columns.
    fn to_pandas<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.open(py)?.call_method0("to_pandas")
    }

    /// The series as an xarray.Dataset over time [s], units as attributes.
    fn to_xarray<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.open(py)?.call_method0("to_xarray")
    }

    /// The viewer with the run inside, or, with options of `riprap.plot.show`, a picture of the last frame; as `RunFolder.show`.
    #[pyo3(signature = (**options))]
    fn show<'py>(
        &self,
        py: Python<'py>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.open(py)?.call_method("show", (), options)
    }

    /// The summary and the viewer, for notebooks.
    fn _repr_html_<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.open(py)?.call_method0("_repr_html_")
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

/// Runs a scene into a folder, as `riprap run` does: series, frames, checkpoints and a summary. The scene is a file, or a Scene: one built
/// in Python needs a `scheme` and `until` [s], and takes `title`, `output_every` [s], `run`, `probes` and `parameters` as in
/// `Scene.to_toml`; the folder has its scene file. `until` and `checkpoint_every` [s] override those of a file; `resume` continues
/// from a checkpoint if there is one; `overwrite` replaces an existing run; `start_from` is another run from whose end this one
/// starts, bodies going on by name; `set` changes keys of the file, such as {"materials.rock.friction": 0.5}; `cache` keeps settled
/// beds as the command line does; `threads` is as in Simulation; `progress` shows a bar: True for that of tqdm, or a callable like it.
///
/// SceneError if the scene has mistakes or cannot be saved because it has callables, StepError if a step fails, FileError if results
/// cannot be read or written. KeyboardInterrupt ends the run between two steps with a checkpoint.
///
/// >>> import pathlib, tempfile, riprap as rr
/// >>> folder = pathlib.Path(tempfile.mkdtemp())
/// >>> scene = rr.SceneBuilder()
/// >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), rr.Material("steel", density=7800.0), name="ball"))
/// >>> probe = {"name": "ball", "body": "ball", "quantities": ["velocity"]}
/// >>> summary = rr.run(scene.build(), folder / "out", scheme=rr.MoreauJean(dt=1e-3), until=0.01, probes=[probe])
/// >>> summary.time, round(float(summary.open().series["ball.velocity_z"][-1]), 4)
/// (0.01, -0.0981)
#[pyfunction]
#[pyo3(signature = (scene, out, *, until=None, resume=false, overwrite=false, checkpoint_every=None, problems_every=None, bed=None, start_from=None, set=None, cache=true, threads=None, progress=None, scheme=None, title=None, output_every=None, run=None, probes=None, parameters=None))]
pub fn run(
    py: Python,
    scene: &Bound<PyAny>,
    out: PathBuf,
    until: Option<f64>,
    resume: bool,
    overwrite: bool,
    checkpoint_every: Option<f64>,
    problems_every: Option<u32>,
    bed: Option<PathBuf>,
    start_from: Option<PathBuf>,
    set: Option<&Bound<PyDict>>,
    cache: bool,
    threads: Option<usize>,
    progress: Option<&Bound<PyAny>>,
    scheme: Option<&Scheme>,
    title: Option<&str>,
    output_every: Option<f64>,
    run: Option<&Bound<PyDict>>,
    probes: Option<&Bound<PyList>>,
    parameters: Option<&Bound<PyDict>>,
) -> PyResult<RunSummary> {
    let wanted = Wanted { scheme, until, title, output_every, run, probes, parameters };
    let mut file = None;
    if let Ok(scene) = scene.cast::<Scene>() {
        if set.is_some() {
            return Err(errors::value(
                "`set` changes keys of scene files; give it to Scene.from_toml",
            ));
        }
        file = Some(scene.get().for_run(py, &wanted)?);
    } else if !(Wanted { until: None, ..wanted }).is_empty() {
        return Err(errors::value(
            "scheme, title, output_every, run, probes and parameters are for scenes built in Python; change keys of a file with `set`",
        ));
    }
    let path: Option<PathBuf> = match &file {
        None => Some(scene.extract()?),
        Some(_) => None,
    };
    let options = Options {
        existing: if overwrite { Existing::Overwrite } else { Existing::Keep },
        until,
        checkpoint_every,
        problems_every: problems_every.filter(|n| *n > 0),
        bed,
        start_from,
        cache: if cache { user_cache() } else { None },
        ..Options::new(&out)
    };
    let set = keys::options(set)?;
    let threads = Threads::new(threads)?;
    let options = Options { threads: threads.count(), ..options };
    let interrupt = Arc::clone(&options.interrupt);
    let mut watch = Watching::new(&interrupt, progress);
    let result = exit::detach(py, || {
        let file = match (file, path) {
            (Some(file), _) => file,
            (None, path) => SceneFile::read_with(path.unwrap_or_default(), &set)?,
        };
        let run = match resume {
            true => Run::resume_or_new(&file, options)?,
            false => Run::new(&file, options)?,
        };
        threads.run(|| run.execute(&mut watch))
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
    exit::detach(py, || riprap_cli::main_with(arguments))
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

//! Scenes as scene files: as text, saved, and for runs.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use riprap_io::scene_file::SceneFile;

use crate::errors::{self, SceneError};
use crate::keys;
use crate::saving::{Table, text};
use crate::scene::{Scene, SceneData, scene_errors};
use crate::scheme::Scheme;

/// What a scene built in Python needs to become a scene file.
#[derive(Clone, Copy)]
pub struct Wanted<'a, 'py> {
    pub scheme: Option<&'a Scheme>,
    /// End time [s].
    pub until: Option<f64>,
    pub title: Option<&'a str>,
    /// Output interval [s].
    pub output_every: Option<f64>,
    /// Keys of `[run]`.
    pub run: Option<&'a Bound<'py, PyDict>>,
    /// The tables `[[probe]]`.
    pub probes: Option<&'a Bound<'py, PyList>>,
    /// The table `[parameters]`.
    pub parameters: Option<&'a Bound<'py, PyDict>>,
}

/// Keys of `[run]` that the scheme provides.
const OF_SCHEME: [&str; 2] = ["dt", "scheme"];

impl Wanted<'_, '_> {
    /// Whether nothing is given.
    pub fn is_empty(&self) -> bool {
        self.scheme.is_none()
            && self.until.is_none()
            && self.title.is_none()
            && self.output_every.is_none()
            && self.run.is_none()
            && self.probes.is_none()
            && self.parameters.is_none()
    }

    /// Keys of `[run]` beside those of the scheme, and the end time [s].
    fn run_keys(&self) -> PyResult<Table> {
        let mut table = match self.run {
            Some(run) => keys::table(run)?,
            None => Table::default(),
        };
        if let Some(key) = OF_SCHEME.into_iter().find(|key| table.has(key)) {
            let message = format!("`run` has the key `{key}`, which the scheme provides");
            return Err(errors::value(message));
        }
        for (key, value) in [("until", self.until), ("output_every", self.output_every)] {
            if value.is_some() && table.has(key) {
                let message = format!("give `{key}` as an argument or as a key of `run`, not both");
                return Err(errors::value(message));
            }
            table.maybe(key, value);
        }
        Ok(table)
    }

    /// The file of a scene built in Python, whose paths are relative to `base`.
    fn write(&self, py: Python, data: &SceneData, base: &Path) -> PyResult<(String, SceneFile)> {
        let run = self.run_keys()?;
        let (Some(scheme), true) = (self.scheme, run.has("until")) else {
            return Err(errors::value(
                "a scene built in Python needs a scheme and an end time, as in to_toml(MoreauJean(dt=1e-3), until=1.0)",
            ));
        };
        let head = self.title.map_or(String::new(), |title| format!("title = {}\n", text(title)));
        let cannot = |problems: Vec<String>| {
            let list = problems.join("\n  ");
            SceneError::new_err(format!("the scene cannot be saved as a scene file:\n  {list}"))
        };
        let run = scheme.saved(&run).map_err(|problem| cannot(vec![problem]))?;
        let (record, contacts) = (&data.record, scheme.has_contacts());
        let mut file = record.write(&data.scene, &head, &run, contacts).map_err(cannot)?;
        if let Some(parameters) = self.parameters {
            file += &keys::table(parameters)?.section("[parameters]");
        }
        for probe in self.probes.into_iter().flat_map(|probes| probes.iter()) {
            let probe = probe.cast_into::<PyDict>();
            let probe = probe.map_err(|_| errors::value("a probe is a dictionary of keys"))?;
            file += &keys::table(&probe)?.section("[[probe]]");
        }
        // What cannot be read back is not a scene file.
        let read = SceneFile::parse(&file, base).map_err(|errors| scene_errors(py, &errors))?;
        Ok((file, read))
    }
}

impl Scene {
    fn text(&self, py: Python, wanted: &Wanted, base: &Path) -> PyResult<String> {
        match &self.0.file {
            Some((file, _)) if wanted.is_empty() => Ok(file.to_toml()),
            Some(_) => Err(errors::value("the scene comes from a file, which says how it runs")),
            None => Ok(wanted.write(py, &self.0, base)?.0),
        }
    }

    /// The scene file for a run into a folder: that of the scene, or one made from its description.
    pub fn for_run(&self, py: Python, wanted: &Wanted) -> PyResult<SceneFile> {
        let Some((file, _)) = &self.0.file else {
            let base = std::env::current_dir().map_err(errors::file)?;
            let written = wanted.write(py, &self.0, &base);
            return Ok(written.map_err(|error| told(py, error))?.1);
        };
        // The end time overrides that of the file.
        match (Wanted { until: None, ..*wanted }).is_empty() {
            true => Ok(file.clone()),
            false => Err(errors::value(
                "the scene comes from a file, which says how it runs: change keys with Scene.from_toml(path, set={…})",
            )),
        }
    }
}

/// The error of a scene that cannot be run into a folder, with what to do instead.
fn told(py: Python, error: PyErr) -> PyErr {
    let message = error.value(py).to_string();
    if !message.contains("Python callable") {
        return error;
    }
    SceneError::new_err(format!(
        "{message}\n  help: rr.run needs a scene that can be saved; step one with callables by rr.Simulation(scene, scheme), whose `until` takes a stop condition, and whose `record` and rr.FrameWriter store results"
    ))
}

#[pymethods]
impl Scene {
    /// The scene as a scene file: with all defaults written out if it comes from one. A scene built in Python needs a scheme and an
    /// end time [s] for `[run]`; single bodies come first in the file, then chains and grains. `run`, `probes` and `parameters` are
    /// further keys of `[run]`, the tables `[[probe]]` and the table `[parameters]`, as in the scene file; numbers are in SI units.
    /// SceneError lists what has no form in a scene file, such as callables, and mistakes in these keys.
    ///
    /// >>> import riprap as rr
    /// >>> scene = rr.SceneBuilder()
    /// >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), rr.Material("steel", density=7800.0), name="ball"))
    /// >>> probe = {"name": "ball", "body": "ball", "quantities": ["position", "velocity"]}
    /// >>> text = scene.build().to_toml(rr.MoreauJean(dt=1e-3), until=1.0, run={"stop": "ball.z < -1"}, probes=[probe])
    /// >>> 'stop = "ball.z < -1"' in text
    /// True
    #[pyo3(signature = (scheme=None, until=None, *, title=None, output_every=None, run=None, probes=None, parameters=None))]
    fn to_toml(
        &self,
        py: Python,
        scheme: Option<&Scheme>,
        until: Option<f64>,
        title: Option<&str>,
        output_every: Option<f64>,
        run: Option<&Bound<PyDict>>,
        probes: Option<&Bound<PyList>>,
        parameters: Option<&Bound<PyDict>>,
    ) -> PyResult<String> {
        let wanted = Wanted { scheme, until, title, output_every, run, probes, parameters };
        self.text(py, &wanted, Path::new("."))
    }

    /// Writes `to_toml` to a file; paths in it are relative to its folder.
    #[pyo3(signature = (path, scheme=None, until=None, *, title=None, output_every=None, run=None, probes=None, parameters=None))]
    fn save(
        &self,
        py: Python,
        path: PathBuf,
        scheme: Option<&Scheme>,
        until: Option<f64>,
        title: Option<&str>,
        output_every: Option<f64>,
        run: Option<&Bound<PyDict>>,
        probes: Option<&Bound<PyList>>,
        parameters: Option<&Bound<PyDict>>,
    ) -> PyResult<()> {
        let wanted = Wanted { scheme, until, title, output_every, run, probes, parameters };
        let text = self.text(py, &wanted, path.parent().unwrap_or(Path::new(".")))?;
        riprap_io::write_whole(&path, text.as_bytes()).map_err(errors::file)
    }
}

//! The run file of a folder: poses, contacts and surfaces of its frames as arrays.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use riprap_io::export::{Selection, bodies as export_bodies};
use riprap_io::run_file;

use crate::convert::table;
use crate::errors;
use crate::exit;

/// A run file, `run.vtkhdf`: frames of a run by their number. `riprap.open_run` uses it to find frames by their time.
///
/// >>> import riprap as rr, tempfile, pathlib
/// >>> folder = pathlib.Path(tempfile.mkdtemp())
/// >>> _ = (folder / "ball.toml").write_text('''
/// ... run = { dt = "1 ms", until = "0.1 s", output_every = "50 ms" }
/// ... materials.steel = { density = 7800 }
/// ... [[body]]
/// ... name = "ball"
/// ... material = "steel"
/// ... shape = { type = "sphere", radius = 0.1 }
/// ... ''')
/// >>> _ = rr.run(folder / "ball.toml", out=folder / "out")
/// >>> file = rr.RunFile(folder / "out")
/// >>> file.times.tolist(), file.model(0)["names"], file.frame(2)["position"].shape
/// ([0.0, 0.05, 0.1], ['ball'], (1, 3))
#[pyclass(frozen, module = "riprap")]
pub struct RunFile(Mutex<run_file::RunFile>);

impl RunFile {
    fn lock(&self) -> MutexGuard<'_, run_file::RunFile> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Rows of numbers as a flat list of 64-bit ones.
fn flat<const N: usize, T: Copy + Into<f64>>(rows: &[[T; N]]) -> Vec<f64> {
    rows.as_flattened().iter().map(|x| (*x).into()).collect()
}

fn column<T: Copy + Into<f64>>(values: &[T]) -> Vec<f64> {
    values.iter().map(|x| (*x).into()).collect()
}

#[pymethods]
impl RunFile {
    /// Opens the run file of a folder, or a file by its path; FileError if it cannot be read.
    #[new]
    fn new(py: Python, path: PathBuf) -> PyResult<RunFile> {
        let file = exit::detach(py, || run_file::RunFile::open(path)).map_err(errors::file)?;
        Ok(RunFile(Mutex::new(file)))
    }

    /// Looks for frames that a running simulation has added since; whether there are any.
    fn refresh(&self, py: Python) -> PyResult<bool> {
        exit::detach(py, || self.lock().refresh()).map_err(errors::file)
    }

    /// Times of the frames [s].
    #[getter]
    fn times<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.lock().times())
    }

    /// Time of the surfaces of each frame [s].
    #[getter]
    fn surface_times<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.lock().surface_times())
    }

    /// Time of the contacts of each frame [s].
    #[getter]
    fn contact_times<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, self.lock().contact_times())
    }

    /// Number of the model of each frame.
    #[getter]
    fn models<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        PyArray1::from_slice(py, self.lock().models())
    }

    /// The bodies of a model: `names`, `ids`, `kinds`, `material`, `mass` [kg], `size` [m], `radius` of spheres [m], one entry
    /// each, and the names of the `materials`.
    fn model<'py>(&self, py: Python<'py>, number: u32) -> PyResult<Bound<'py, PyDict>> {
        let model = exit::detach(py, || self.lock().model(number)).map_err(errors::file)?;
        let kinds: Vec<String> =
            model.kinds.iter().map(|kind| format!("{kind:?}").to_lowercase()).collect();
        let data = PyDict::new(py);
        data.set_item("names", model.names)?;
        data.set_item("materials", model.materials)?;
        data.set_item("ids", PyArray1::from_vec(py, model.ids))?;
        data.set_item("kinds", kinds)?;
        data.set_item("material", PyArray1::from_vec(py, model.material))?;
        data.set_item("mass", PyArray1::from_vec(py, column(&model.mass)))?;
        data.set_item("size", PyArray1::from_vec(py, column(&model.size)))?;
        data.set_item("radius", PyArray1::from_vec(py, column(&model.radius)))?;
        Ok(data)
    }

    /// A frame: `time` [s], `step`, `model`, and one row per body: `position` [m], `rotation` (a quaternion w, x, y, z),
    /// `velocity` [m/s], `angular_velocity` [rad/s].
    fn frame<'py>(&self, py: Python<'py>, k: usize) -> PyResult<Bound<'py, PyDict>> {
        let frame = exit::detach(py, || self.lock().frame(k)).map_err(errors::file)?;
        let rotation: Vec<[f32; 4]> =
            frame.rotation.iter().map(|[x, y, z, w]| [*w, *x, *y, *z]).collect();
        let data = PyDict::new(py);
        data.set_item("time", frame.time)?;
        data.set_item("step", frame.step)?;
        data.set_item("model", frame.model)?;
        data.set_item("position", table(py, flat(&frame.position), 3)?)?;
        data.set_item("rotation", table(py, flat(&rotation), 4)?)?;
        data.set_item("velocity", table(py, flat(&frame.velocity), 3)?)?;
        data.set_item("angular_velocity", table(py, flat(&frame.angular_velocity), 3)?)?;
        Ok(data)
    }

    /// The contacts of a frame: `time` [s], and one row per contact: ids of the two `bodies`, `point` [m], `normal`, `gap` [m],
    /// `force` on the second body [N].
    fn contacts<'py>(&self, py: Python<'py>, k: usize) -> PyResult<Bound<'py, PyDict>> {
        let read = || {
            let file = self.lock();
            let contacts = file.contacts(k)?;
            let model = file.model(file.models()[k])?;
            Ok::<_, riprap_io::Error>((contacts, model.ids))
        };
        let (contacts, ids) = exit::detach(py, read).map_err(errors::file)?;
        let id = |row: &u32| ids.get(*row as usize).copied().unwrap_or(u32::MAX);
        let bodies: Vec<u32> = contacts.bodies.iter().flatten().map(id).collect();
        let n = contacts.bodies.len();
        let data = PyDict::new(py);
        data.set_item("time", contacts.time)?;
        let bodies = PyArray1::from_vec(py, bodies).call_method1("reshape", (n, 2))?;
        data.set_item("bodies", bodies)?;
        data.set_item("point", table(py, flat(&contacts.point), 3)?)?;
        data.set_item("normal", table(py, flat(&contacts.normal), 3)?)?;
        data.set_item("gap", PyArray1::from_vec(py, column(&contacts.gap)))?;
        data.set_item("force", table(py, flat(&contacts.force), 3)?)?;
        Ok(data)
    }

    /// The surfaces of a frame: `points` [m], `corners` and `ends` of the polygons, and `body` (id), `material` and `speed` [m/s] of each.
    fn surfaces<'py>(&self, py: Python<'py>, k: usize) -> PyResult<Bound<'py, PyDict>> {
        let surfaces = exit::detach(py, || self.lock().surfaces(k)).map_err(errors::file)?;
        let data = PyDict::new(py);
        data.set_item("time", surfaces.time)?;
        data.set_item("points", table(py, flat(&surfaces.points), 3)?)?;
        data.set_item("corners", PyArray1::from_vec(py, surfaces.corners))?;
        data.set_item("ends", PyArray1::from_vec(py, surfaces.ends))?;
        data.set_item("body", PyArray1::from_vec(py, surfaces.bodies))?;
        data.set_item("material", PyArray1::from_vec(py, surfaces.materials))?;
        data.set_item("speed", PyArray1::from_vec(py, column(&surfaces.speeds)))?;
        Ok(data)
    }

    fn __len__(&self) -> usize {
        self.lock().times().len()
    }

    fn __repr__(&self) -> String {
        format!("<RunFile with {} frames>", self.lock().times().len())
    }
}

/// Writes the motion of bodies of a run as a table, one row per frame and body: time [s], name, id, position [m] (of the centre of mass
/// of a free body, of the origin of the shape of others), orientation as a quaternion, velocity [m/s] and angular velocity [rad/s], as
/// `riprap export` does. `bodies` are names in which * stands for any characters and ? for one; `every` is the interval between frames
/// [s]. A name that ends in .parquet gives a Parquet file, any other CSV. Returns the number of rows. FileError without a run file.
///
/// >>> import pathlib, tempfile, riprap as rr
/// >>> folder = pathlib.Path(tempfile.mkdtemp())
/// >>> scene = rr.SceneBuilder()
/// >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), rr.Material("steel", density=7800.0), name="ball"))
/// >>> _ = rr.run(scene.build(), folder / "out", scheme=rr.MoreauJean(dt=1e-3), until=0.02, output_every=0.01)
/// >>> rr.export(folder / "out", folder / "bodies.csv", bodies=["ba*"])
/// 3
/// >>> (folder / "bodies.csv").read_text().splitlines()[1]
/// '0,ball,0,0,0,0,1,0,0,0,0,0,0,0,0,0'
#[pyfunction]
#[pyo3(signature = (folder, path, *, bodies=None, every=None))]
pub fn export(
    py: Python,
    folder: PathBuf,
    path: PathBuf,
    bodies: Option<Vec<String>>,
    every: Option<f64>,
) -> PyResult<usize> {
    if every.is_some_and(|every| !(every > 0.0 && every.is_finite())) {
        return Err(errors::value("`every` must be positive"));
    }
    let selection = Selection { bodies: bodies.unwrap_or_default(), every };
    let written = exit::detach(py, || export_bodies(&folder, &selection, &path));
    Ok(written.map_err(errors::file)?.rows)
}

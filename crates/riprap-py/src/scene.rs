//! Built scenes, from a builder or from a scene file.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

use riprap::scene::{Body as CoreBody, FlexibleId, MechanismId, RopeId, Scene as CoreScene};
use riprap_io::build::{Built, Settling};
use riprap_io::scene_file::{SceneErrors, SceneFile};

use crate::errors::{self, SceneError};
use crate::exit;
use crate::handle::{
    BodyHandle, FlexibleHandle, GrainsHandle, Link, MechanismHandle, RopeHandle, fresh,
};
use crate::keys;
use crate::law::Raised;
use crate::material::Material;
use crate::multibody::Multibody;
use crate::saving::Record;
use crate::shape::Shape;

/// A group of grains.
#[derive(Clone)]
pub struct Group {
    pub name: String,
    pub start: u32,
    pub end: u32,
}

/// Everything that simulations of a scene share.
pub struct SceneData {
    pub scene: CoreScene,
    pub token: u64,
    /// Tokens of the mechanisms.
    pub mechanisms: Vec<u64>,
    pub groups: Vec<Group>,
    pub raised: Vec<Raised>,
    /// What it was built from in Python, and its settling before t = 0.
    pub record: Record,
    pub settling: Option<Settling>,
    /// The file it comes from, and what was built from it.
    pub file: Option<(SceneFile, Built)>,
}

impl SceneData {
    /// A body of the scene of a run, in which stones may have broken; names include those of pieces.
    pub fn present(&self, given: &Bound<PyAny>, now: &CoreScene) -> PyResult<CoreBody> {
        let body = match given.cast::<PyString>() {
            Ok(name) => now.body(&name.to_string()),
            Err(_) => None,
        };
        let handle = given.cast::<BodyHandle>().ok().map(|handle| *handle.get());
        let body = match (body, handle) {
            (Some(body), _) => body,
            // Pieces have ids after those of all described bodies.
            (None, Some(handle)) if handle.scene == self.token => CoreBody(handle.id),
            (None, _) => self.body(given)?,
        };
        match now.contains(body) {
            true => Ok(body),
            false => Err(errors::handle(
                "the body has broken or was removed, or the handle is that of another run: `Simulation.pieces()` lists the pieces of broken stones",
            )),
        }
    }

    /// A body by handle, by name, or by mechanism and link.
    pub fn body(&self, given: &Bound<PyAny>) -> PyResult<CoreBody> {
        if let Ok(body) = given.cast::<BodyHandle>() {
            let body = body.get();
            if body.scene == self.token && (body.id as usize) < self.scene.bodies().len() {
                return Ok(CoreBody(body.id));
            }
            return Err(errors::handle("the body belongs to another scene"));
        }
        if let Ok(name) = given.cast::<PyString>() {
            let name = name.to_string();
            let body = self.scene.body(&name);
            return body.ok_or_else(|| errors::handle(format!("no body `{name}` in the scene")));
        }
        if let Ok((flexible, node)) = given.extract::<(FlexibleHandle, u32)>() {
            let known = flexible.scene == self.token
                && (flexible.id as usize) < self.scene.flexible().len()
                && (node as usize) < self.scene.nodes_of(flexible.id as usize).len();
            if !known {
                return Err(errors::handle("no such node, or it belongs to another scene"));
            }
            return Ok(self.scene.node_body(FlexibleId(flexible.id), node));
        }
        let (mechanism, link): (Bound<PyAny>, Link) = given.extract().map_err(|_| {
            errors::value(
                "a body is a BodyHandle, a name, (MechanismHandle, Link) or (FlexibleHandle, node)",
            )
        })?;
        let id = self.mechanism(&mechanism)?;
        self.link(id, &link)?;
        Ok(self.scene.link_body(id, link.core()))
    }

    /// A mechanism by handle or name.
    pub fn mechanism(&self, given: &Bound<PyAny>) -> PyResult<MechanismId> {
        if let Ok(handle) = given.cast::<MechanismHandle>() {
            let handle = handle.get();
            if handle.scene == self.token && (handle.id as usize) < self.mechanisms.len() {
                return Ok(MechanismId(handle.id));
            }
            return Err(errors::handle("the mechanism belongs to another scene"));
        }
        let name = given
            .cast::<PyString>()
            .map_err(|_| errors::value("a mechanism is a MechanismHandle or a name"))?
            .to_string();
        let found = self.scene.mechanism(&name);
        found.ok_or_else(|| errors::handle(format!("no mechanism `{name}` in the scene")))
    }

    /// Checks that a link is a body of a mechanism.
    pub fn link(&self, mechanism: MechanismId, link: &Link) -> PyResult<()> {
        let known = self.mechanisms[mechanism.index()] == link.mechanism
            && (link.id as usize) < self.scene.mechanisms()[mechanism.index()].n_links();
        match known {
            true => Ok(()),
            false => Err(errors::handle("the link belongs to another mechanism")),
        }
    }

    /// A group of grains by handle or name, as a range of bodies.
    pub fn group(&self, given: &Bound<PyAny>) -> PyResult<(u32, u32)> {
        if let Ok(handle) = given.cast::<GrainsHandle>() {
            let handle = handle.get();
            if handle.scene == self.token && (handle.end as usize) <= self.scene.bodies().len() {
                return Ok((handle.start, handle.end));
            }
            return Err(errors::handle("the grains belong to another scene"));
        }
        let name = given
            .cast::<PyString>()
            .map_err(|_| errors::value("a group of grains is a GrainsHandle or a name"))?
            .to_string();
        let found = self.groups.iter().find(|group| group.name == name);
        found
            .map(|group| (group.start, group.end))
            .ok_or_else(|| errors::handle(format!("no group of grains `{name}` in the scene")))
    }

    /// A rope by handle or name.
    pub fn rope(&self, given: &Bound<PyAny>) -> PyResult<RopeId> {
        if let Ok(handle) = given.cast::<RopeHandle>() {
            return match handle.get() {
                handle
                    if handle.scene == self.token
                        && (handle.id as usize) < self.scene.ropes().len() =>
                {
                    Ok(RopeId(handle.id))
                }
                _ => Err(errors::handle("the rope belongs to another scene")),
            };
        }
        let name = given
            .cast::<PyString>()
            .map_err(|_| errors::value("a rope is a RopeHandle or a name"))?
            .to_string();
        let found = self.scene.rope(&name);
        found.ok_or_else(|| errors::handle(format!("no rope `{name}` in the scene")))
    }

    fn of_file(file: SceneFile) -> Result<SceneData, SceneErrors> {
        let built = file.build()?;
        let groups = built.groups.iter().map(|group| Group {
            name: group.name.clone(),
            start: group.bodies.start as u32,
            end: group.bodies.end as u32,
        });
        Ok(SceneData {
            token: fresh(),
            mechanisms: built.scene.mechanisms().iter().map(|_| fresh()).collect(),
            groups: groups.collect(),
            raised: Vec::new(),
            record: Record::default(),
            settling: built.settling.clone(),
            scene: built.scene.clone(),
            file: Some((file, built)),
        })
    }
}

/// The exception for mistakes in a scene file, with a list of (line, column, message, help).
pub fn scene_errors(py: Python, errors: &SceneErrors) -> PyErr {
    let error = SceneError::new_err(errors.to_string());
    let problems: Vec<(usize, usize, String, Option<String>)> = (errors.problems.iter())
        .map(|problem| {
            let (line, column) = errors.line_column(problem.span.start);
            (line, column, problem.message.clone(), problem.help.clone())
        })
        .collect();
    match error.value(py).setattr("problems", problems) {
        Ok(()) => error,
        Err(other) => other,
    }
}

/// A built scene, which does not change. `from_toml` reads scene files; then the scene also has the scheme, the end time and
/// the settling of the file.
///
/// >>> import riprap as rr
/// >>> scene = rr.Scene.from_toml_str('''
/// ... [run]
/// ... dt = "1 ms"
/// ... until = "0.5 s"
/// ... [materials.rubber]
/// ... density = 1100
/// ... [[body]]
/// ... name = "ball"
/// ... material = "rubber"
/// ... shape = { type = "sphere", radius = "5 cm" }
/// ... ''')
/// >>> scene.names, scene.until
/// (['ball'], 0.5)
#[pyclass(frozen, module = "riprap")]
pub struct Scene(pub Arc<SceneData>);

#[pymethods]
impl Scene {
    /// Reads a scene file. SceneError lists all mistakes with their lines and columns. `set` changes keys before the scene is
    /// checked: paths such as "materials.rock.friction" or "body.ball.position", or names of parameters.
    ///
    /// >>> import pathlib, tempfile, riprap as rr
    /// >>> path = pathlib.Path(tempfile.mkdtemp()) / "ball.toml"
    /// >>> _ = path.write_text('''
    /// ... run = { dt = "1 ms", until = "10 ms" }
    /// ... materials.steel = { density = 7800 }
    /// ... [[body]]
    /// ... name = "ball"
    /// ... material = "steel"
    /// ... shape = { type = "sphere", radius = 0.1 }
    /// ... ''')
    /// >>> scene = rr.Scene.from_toml(path, set={"body.ball.position": (0, 0, 2), "run.dt": "0.5 ms"})
    /// >>> rr.Simulation(scene).positions[0]
    /// array([0., 0., 2.])
    #[staticmethod]
    #[pyo3(signature = (path, *, set=None))]
    fn from_toml(py: Python, path: PathBuf, set: Option<&Bound<PyDict>>) -> PyResult<Scene> {
        let set = keys::options(set)?;
        let read = || SceneFile::read_with(&path, &set).and_then(SceneData::of_file);
        let data = exit::detach(py, read).map_err(|errors| scene_errors(py, &errors))?;
        Ok(Scene(Arc::new(data)))
    }

    /// Reads a scene from text. Paths in it are relative to `folder`.
    #[staticmethod]
    #[pyo3(signature = (text, folder=PathBuf::from(".")), text_signature = "(text, folder='.')")]
    fn from_toml_str(py: Python, text: &str, folder: PathBuf) -> PyResult<Scene> {
        let read = || SceneFile::parse(text, &folder).and_then(SceneData::of_file);
        let data = exit::detach(py, read).map_err(|errors| scene_errors(py, &errors))?;
        Ok(Scene(Arc::new(data)))
    }

    /// Number of bodies.
    #[getter]
    fn n_bodies(&self) -> usize {
        self.0.scene.bodies().len()
    }

    /// Names of the bodies, by index.
    #[getter]
    fn names(&self) -> Vec<String> {
        let bodies = self.0.scene.bodies();
        bodies.slots.iter().map(|slot| bodies.names[*slot as usize].clone()).collect()
    }

    /// Masses [kg] by index; infinite for bodies that impulses do not move.
    #[getter]
    fn masses<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let bodies = self.0.scene.bodies();
        let masses = bodies.slots.iter().map(|slot| bodies.mass[*slot as usize]).collect();
        PyArray1::from_vec(py, masses)
    }

    /// Gravity [m/s²].
    #[getter]
    fn gravity<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        crate::convert::vector(py, &self.0.scene.gravity())
    }

    /// Mean size of the free bodies [m].
    #[getter]
    fn grain_size(&self) -> f64 {
        self.0.scene.grain_size()
    }

    /// End time of a scene file [s]; None for a scene built in Python.
    #[getter]
    fn until(&self) -> Option<f64> {
        self.0.file.as_ref().map(|(file, _)| file.run.until)
    }

    /// Time step of a scene file [s]; None for a scene built in Python.
    #[getter]
    fn dt(&self) -> Option<f64> {
        self.0.file.as_ref().map(|(file, _)| file.run.dt)
    }

    /// The materials.
    #[getter]
    fn materials(&self) -> Vec<Material> {
        self.0.scene.materials().iter().cloned().map(Material).collect()
    }

    /// The body with a name.
    fn body(&self, name: &Bound<PyString>) -> PyResult<BodyHandle> {
        Ok(BodyHandle { scene: self.0.token, id: self.0.body(name.as_any())?.0 })
    }

    /// The shape of a body, in its own frame.
    fn shape(&self, body: &Bound<PyAny>) -> PyResult<Shape> {
        Ok(Shape::of(self.0.scene.shape(self.0.body(body)?).clone()))
    }

    /// The group of grains with a name.
    fn grains(&self, name: &Bound<PyString>) -> PyResult<GrainsHandle> {
        let (start, end) = self.0.group(name.as_any())?;
        Ok(GrainsHandle { scene: self.0.token, start, end })
    }

    /// The mechanism with a name.
    fn mechanism(&self, name: &Bound<PyString>) -> PyResult<MechanismHandle> {
        Ok(MechanismHandle { scene: self.0.token, id: self.0.mechanism(name.as_any())?.0 })
    }

    /// The flexible body with a name.
    fn flexible(&self, name: &str) -> PyResult<FlexibleHandle> {
        let found = self.0.scene.flexible_body(name);
        let id = found.ok_or_else(|| errors::handle(format!("no flexible body `{name}`")))?;
        Ok(FlexibleHandle { scene: self.0.token, id: id.0 })
    }

    /// The body of a mechanism with a name.
    fn link(&self, mechanism: &Bound<PyAny>, name: &str) -> PyResult<Link> {
        let id = self.0.mechanism(mechanism)?;
        let found = self.0.scene.mechanisms()[id.index()].link_named(name);
        let link = found.ok_or_else(|| errors::handle(format!("no body `{name}`")))?;
        Ok(Link { mechanism: self.0.mechanisms[id.index()], id: link.0 })
    }

    /// The equations of a mechanism.
    fn multibody(&self, mechanism: &Bound<PyAny>) -> PyResult<Multibody> {
        let index = self.0.mechanism(mechanism)?.index();
        let core = self.0.scene.mechanisms()[index].clone();
        Ok(Multibody::new(core, self.0.mechanisms[index], self.0.raised.clone()))
    }

    /// The image of a point [m] within the periodic cell at a time [s]; the point itself in a scene without a cell.
    #[pyo3(signature = (point, *, time=0.0))]
    fn wrapped(&self, point: [f64; 3], time: f64) -> [f64; 3] {
        self.0.scene.wrapped(time, point.into()).into()
    }

    fn __repr__(&self) -> String {
        let scene = &self.0.scene;
        format!("<Scene: {} bodies, {} mechanisms>", scene.bodies().len(), scene.mechanisms().len())
    }
}

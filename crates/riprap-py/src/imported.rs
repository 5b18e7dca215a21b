//! Mechanisms from files: URDF, and the mechanisms of scene files.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;

use riprap::multibody::GROUND;
use riprap::scene::Material as CoreMaterial;
use riprap_io::scene_file::{SceneErrors, SceneFile};

use crate::errors;
use crate::exit;
use crate::handle::Link;
use crate::material::Material;
use crate::mechanism::Mechanism;
use crate::pose::pose;
use crate::saving::{LinkRecord, MechanismRecord, Table, number, text};
use crate::scene::scene_errors;

impl Mechanism {
    /// The mechanism of a scene file.
    fn of_file(
        py: Python,
        file: Result<SceneFile, SceneErrors>,
        name: Option<&str>,
        materials: &[CoreMaterial],
        from: &Path,
    ) -> PyResult<Mechanism> {
        let file = file.map_err(|errors| scene_errors(py, &errors))?;
        let known =
            || file.mechanisms.iter().map(|m| m.name.clone()).collect::<Vec<_>>().join(", ");
        let index = match name {
            None if file.mechanisms.len() == 1 => Some(0),
            None => None,
            Some(name) => file.mechanisms.iter().position(|m| m.name == name),
        };
        let Some(index) = index else {
            let message = format!("name one of the mechanisms of {}: {}", from.display(), known());
            return Err(errors::handle(message));
        };
        let core = file.mechanism_description(index).map_err(|errors| scene_errors(py, &errors))?;
        let system = core.build([0.0; 3]).map_err(errors::scene)?;
        let mut mechanism = Mechanism::empty(core);
        mechanism.materials = match materials {
            [] => file.materials.clone(),
            given => given.to_vec(),
        };
        let problem = format!(
            "mechanism `{}`: it was read from {}; name it in a scene file instead",
            system.name(),
            from.display()
        );
        mechanism.record = MechanismRecord { problems: vec![problem], ..mechanism.record };
        for link in system.links() {
            let parent = system.parent(link);
            let (joint, place) = (system.joint(link), riprap::math::Pose::IDENTITY);
            let n = joint.coordinate_names().len();
            mechanism.record.links.push(LinkRecord {
                name: system.link_name(link).to_owned(),
                joint_name: system.link_name(link).to_owned(),
                parent: (parent != GROUND).then_some(parent.0),
                joint,
                place,
                mass: None,
                shapes: Vec::new(),
                keys: Table::default(),
                starts: vec![None; n],
                velocities: vec![None; n],
                start_rotation: None,
            });
        }
        for coordinate in system.coordinates() {
            mechanism.names.push(system.coordinate_name(coordinate).to_owned());
            if let Some(at) = system.q_of(coordinate) {
                mechanism.starts.insert(coordinate.0, system.start().q[at]);
            }
        }
        mechanism.n_links = system.n_links() as u32;
        Ok(mechanism)
    }
}

#[pymethods]
impl Mechanism {
    /// Reads bodies and joints from a URDF file. Its root is fixed to the base, which has a position [m] and a rotation. Collision
    /// shapes have a `material`, or are ignored; `limits` turns limits of joints into stops of a stiffness [N/m, N m/rad] and a
    /// damping [N s/m, N m s/rad]. The result can be driven and extended like any other mechanism.
    #[staticmethod]
    #[pyo3(
        signature = (path, *, name="robot", position=[0.0; 3], rotation=None, material=None, limits=None),
        text_signature = "(path, *, name='robot', position=(0.0, 0.0, 0.0), rotation=None, material=None, limits=None)"
    )]
    fn from_urdf(
        py: Python,
        path: PathBuf,
        name: &str,
        position: [f64; 3],
        rotation: Option<&Bound<PyAny>>,
        material: Option<&Material>,
        limits: Option<[f64; 2]>,
    ) -> PyResult<Mechanism> {
        let absolute = std::path::absolute(&path).map_err(errors::file)?;
        let mut table = Table::default();
        table.set("name", text(name)).pose(&pose(position, rotation)?);
        table.set("urdf", text(&absolute.to_string_lossy()));
        let own = material.map_or("none".into(), |m| text(&m.0.name));
        if material.is_some() {
            table.set("urdf_material", own.clone());
        }
        if let Some([stiffness, damping]) = limits {
            let mut stops = Table::default();
            stops.set("stiffness", number(stiffness)).set("damping", number(damping));
            table.set("urdf_limits", stops.inline());
        }
        let density = material.and_then(|m| m.0.density);
        let density = density.map_or(String::new(), |d| format!("density = {}\n", number(d)));
        let head = format!("[run]\ndt = 1e-3\nuntil = 1\n[materials.{own}]\n{density}");
        let file = SceneFile::parse(&(head + &table.section("[[mechanism]]")), ".");
        let materials: Vec<CoreMaterial> = material.map(|m| m.0.clone()).into_iter().collect();
        let mut mechanism = Mechanism::of_file(py, file, None, &materials, &path)?;
        mechanism.materials = materials;
        Ok(mechanism)
    }

    /// Reads a mechanism from a scene file, by its name if there are several; it can be driven and extended like any other.
    #[staticmethod]
    #[pyo3(signature = (path, name=None))]
    fn from_toml(py: Python, path: PathBuf, name: Option<&str>) -> PyResult<Mechanism> {
        let file = exit::detach(py, || SceneFile::read(&path));
        Mechanism::of_file(py, file, name, &[], &path)
    }

    /// The body with a name.
    fn link_named(&self, name: &str) -> PyResult<Link> {
        let found = self.core.link_named(name);
        let link = found.ok_or_else(|| errors::handle(format!("no body `{name}`")))?;
        Ok(Link { mechanism: self.token, id: link.0 })
    }
}

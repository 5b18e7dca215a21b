//! Bodies that are inserted and removed during a run. Insertions are read by the reader of scene files, so that the same keys
//! give the same bodies.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyString;

use riprap::scene::{
    Insertion as CoreInsertion, Material as CoreMaterial, PopulationState, Removal as CoreRemoval,
    Supply,
};
use riprap_io::scene_file::SceneFile;

use crate::builder::SceneBuilder;
use crate::errors::{self, SceneError};
use crate::grains::{Inside, grading, random, scanned};
use crate::material::Material;
use crate::saving::{Item, Saved, Table, list_of, number, numbers, text};
use crate::shape::Shape;
use crate::simulation::Simulation;

/// Bodies that are inserted during a run, in a box between two corners [m], at random places where they touch nothing, with the
/// names name-1, name-2, …: copies of a `shape`, or of a list of shapes in turn, or `spheres`, `stones` or `scans` with a grading as in Grains; scans are meshes of a `folder`, reduced to `max_vertices`. They come at a `rate` [1/s] or a `mass_rate`
/// [kg/s] from `start` to `until` [s], at most `count`; or all `count` of them `at` a time [s]. A body for which there is no
/// room waits, and the others wait behind it. New bodies have a velocity [m/s] and an angular velocity [rad/s]; in a sheared periodic cell the flow
/// at their place is added.
///
/// >>> import riprap as rr
/// >>> rock = rr.Material("rock", density=2700.0, friction=0.6)
/// >>> scene = rr.SceneBuilder()
/// >>> floor = scene.add_fixed(rr.Shape.half_space(), material=rock)
/// >>> scene.insert(rr.Insertion("feed", material=rock, spheres=(0.02, 0.03), inside=((-0.2, -0.2, 0.3), (0.2, 0.2, 0.5)), rate=50))
/// >>> scene.remove(rr.Removal(outside=((-0.1, -0.1, -1), (0.1, 0.1, 1)), bodies="feed-*"))
/// >>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
/// >>> _ = run.until(1.0)
/// >>> run.population.inserted, len(run.ids) - 1 == run.population.inserted - run.population.removed
/// (50, True)
#[pyclass(frozen, module = "riprap")]
pub struct Insertion {
    pub material: CoreMaterial,
    name: String,
    keys: Table,
    /// The shapes, one after the other, if they are given.
    shapes: Vec<Shape>,
}

impl Insertion {
    /// As in a scene file.
    pub fn saved(&self) -> Saved {
        let mut table = self.keys.clone();
        table.set("material", text(&self.material.name));
        match &self.shapes[..] {
            [] => {}
            [shape] => {
                table.set("shape", (*shape.1).clone()?);
            }
            _ => {
                let name = &self.name;
                return Err(format!(
                    "insertion `{name}` has a list of shapes; a scene file needs one insertion for each"
                ));
            }
        }
        Ok(table.lines())
    }

    /// As the simulator needs it.
    pub fn describe(&self, planar: bool, seed: u64) -> PyResult<CoreInsertion> {
        let mut table = self.keys.clone();
        table.set("material", text("inserted"));
        if !self.shapes.is_empty() {
            // It is replaced.
            let kind = if planar { "disc" } else { "sphere" };
            table.set("shape", format!("{{ type = \"{kind}\", radius = 1 }}"));
        }
        let Some(density) = self.material.density else {
            let message =
                format!("material `{}` of an insertion has no density", self.material.name);
            return Err(errors::scene(message));
        };
        let scene = format!(
            "planar = {planar}\nseed = {seed}\n[run]\ndt = 1e-3\nuntil = 1\n[materials.inserted]\ndensity = {density:?}\n{}",
            table.section("[[insert]]")
        );
        let file = SceneFile::parse(&scene, ".").map_err(|errors| {
            let lines: Vec<String> = errors.problems.iter().map(|p| p.message.clone()).collect();
            SceneError::new_err(format!("insertion `{}`: {}", self.name, lines.join("\n")))
        })?;
        let insertion = file.insertion_description(0, self.shapes.first().map(|shape| &shape.0));
        let mut insertion = insertion
            .map_err(|error| errors::scene(format!("insertion `{}`: {error}", self.name)))?;
        if self.shapes.len() > 1 {
            let shapes = self.shapes.iter().map(|shape| shape.0.clone());
            insertion.supply = Supply::cycle(shapes.collect());
        }
        insertion.material.clone_from(&self.material.name);
        Ok(insertion)
    }
}

#[pymethods]
impl Insertion {
    #[new]
    #[pyo3(
        signature = (name, *, material, inside, shape=None, spheres=None, stones=None, scans=None, vertices=25, flatness=0.75, elongation=0.75, angularity=0.7, folder=None, max_vertices=25, rate=None, mass_rate=None, at=None, count=None, start=None, until=None, velocity=vec![0.0; 3], angular_velocity=vec![0.0; 3], random_rotation=true, seed=None),
        text_signature = "(name, *, material, inside, shape=None, spheres=None, stones=None, scans=None, vertices=25, flatness=0.75, elongation=0.75, angularity=0.7, folder=None, max_vertices=25, rate=None, mass_rate=None, at=None, count=None, start=None, until=None, velocity=(0.0, 0.0, 0.0), angular_velocity=(0.0, 0.0, 0.0), random_rotation=True, seed=None)"
    )]
    fn new(
        name: &str,
        material: &Material,
        inside: Inside,
        shape: Option<&Bound<PyAny>>,
        spheres: Option<&Bound<PyAny>>,
        stones: Option<&Bound<PyAny>>,
        scans: Option<&Bound<PyAny>>,
        vertices: u32,
        flatness: f64,
        elongation: f64,
        angularity: f64,
        folder: Option<PathBuf>,
        max_vertices: u32,
        rate: Option<f64>,
        mass_rate: Option<f64>,
        at: Option<f64>,
        count: Option<u64>,
        start: Option<f64>,
        until: Option<f64>,
        velocity: Vec<f64>,
        angular_velocity: Vec<f64>,
        random_rotation: bool,
        seed: Option<u64>,
    ) -> PyResult<Insertion> {
        let shapes: Vec<Shape> = match shape {
            None => Vec::new(),
            Some(given) => match given.extract() {
                Ok(one) => vec![one],
                Err(_) => {
                    given.extract().map_err(|_| errors::value("a shape is a Shape or a list"))?
                }
            },
        };
        if shape.is_some() && shapes.is_empty() {
            return Err(errors::value("the list of shapes is empty"));
        }
        let mut keys = Table::default();
        keys.set("name", text(name));
        let sizes = match (shape, spheres, stones, scans) {
            (Some(_), None, None, None) => None,
            (None, Some(sizes), None, None) => {
                keys.set("spheres", "{}");
                Some(sizes)
            }
            (None, None, Some(sizes), None) => {
                keys.set("stones", random(vertices, [flatness, elongation, angularity])?);
                Some(sizes)
            }
            (None, None, None, Some(sizes)) => {
                let folder = folder.as_deref();
                let folder = folder.ok_or_else(|| errors::value("`scans` needs a `folder`"))?;
                keys.set("stones", scanned(folder, max_vertices)?);
                Some(sizes)
            }
            _ => return Err(errors::value("give one of `shape`, `spheres`, `stones` and `scans`")),
        };
        if folder.is_some() && scans.is_none() {
            return Err(errors::value("a `folder` needs the sizes of its `scans`"));
        }
        if let Some(sizes) = sizes {
            let line = grading(sizes)?;
            keys.set("grading", line.trim_start_matches("grading = ").trim_end());
        }
        let mut corners = Table::default();
        corners.set("min", numbers(&inside.0)).set("max", numbers(&inside.1));
        keys.set("box", corners.inline());
        keys.maybe("rate", rate).maybe("mass_rate", mass_rate).maybe("at", at);
        keys.maybe("start", start).maybe("until", until);
        for (key, value) in [("count", count), ("seed", seed)] {
            if let Some(value) = value {
                keys.set(key, value.to_string());
            }
        }
        for (key, value) in [("velocity", &velocity), ("angular_velocity", &angular_velocity)] {
            keys.set(key, numbers(value));
        }
        keys.set("random_rotation", random_rotation.to_string());
        let insertion =
            Insertion { material: material.0.clone(), name: name.to_owned(), keys, shapes };
        Ok(insertion)
    }

    /// Its name; the bodies are name-1, name-2, …
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    fn __repr__(&self) -> String {
        format!("<Insertion {:?}>", self.name)
    }
}

/// Free bodies that are removed during a run: `below` a height [m], `outside` of a box between two corners [m], or `at` a time [s].
/// `bodies` is a pattern of names or a list of them, in which * stands for any characters. Their handles are then no longer valid.
///
/// >>> import riprap as rr
/// >>> rr.Removal(below=-1.0)
/// Removal(below=-1.0, bodies=['*'])
#[pyclass(frozen, eq, module = "riprap")]
#[derive(Clone, PartialEq)]
pub struct Removal(pub CoreRemoval);

impl Removal {
    /// As in a scene file.
    pub fn saved(&self) -> Table {
        let mut table = Table::default();
        match self.0.place {
            riprap::scene::Where::Below(height) => table.set("below", number(height)),
            riprap::scene::Where::Outside([min, max]) => {
                let mut corners = Table::default();
                corners.set("min", numbers(min.as_slice())).set("max", numbers(max.as_slice()));
                table.set("outside", corners.inline())
            }
            riprap::scene::Where::At(t) => table.set("at", number(t)),
        };
        table.set("bodies", list_of(self.0.bodies.iter().map(|pattern| text(pattern))));
        table
    }
}

#[pymethods]
impl Removal {
    #[new]
    #[pyo3(signature = (*, below=None, outside=None, at=None, bodies=None))]
    fn new(
        below: Option<f64>,
        outside: Option<Inside>,
        at: Option<f64>,
        bodies: Option<&Bound<PyAny>>,
    ) -> PyResult<Removal> {
        let corner = |given: &[f64]| match *given {
            [x, y] => Ok([x, y, 0.0]),
            [x, y, z] => Ok([x, y, z]),
            _ => Err(errors::value("a corner has two or three coordinates")),
        };
        let removal = match (below, outside, at) {
            (Some(height), None, None) => CoreRemoval::below(height),
            (None, Some(Inside(min, max)), None) => {
                CoreRemoval::outside(corner(&min)?, corner(&max)?)
            }
            (None, None, Some(t)) => CoreRemoval::at(t),
            _ => return Err(errors::value("give one of `below`, `outside` and `at`")),
        };
        let Some(bodies) = bodies else { return Ok(Removal(removal)) };
        let patterns: Vec<String> = match bodies.cast::<PyString>() {
            Ok(pattern) => vec![pattern.to_string()],
            Err(_) => bodies.extract()?,
        };
        Ok(Removal(CoreRemoval { bodies: patterns, ..removal }))
    }

    /// Patterns of the names of the bodies that it is for.
    #[getter]
    fn bodies(&self) -> Vec<String> {
        self.0.bodies.clone()
    }

    fn __repr__(&self) -> String {
        let place = match self.0.place {
            riprap::scene::Where::Below(height) => format!("below={height:?}"),
            riprap::scene::Where::Outside([a, b]) => {
                format!("outside=(({}, {}, {}), ({}, {}, {}))", a.x, a.y, a.z, b.x, b.y, b.z)
            }
            riprap::scene::Where::At(t) => format!("at={t:?}"),
        };
        let names: Vec<String> = self.0.bodies.iter().map(|name| format!("'{name}'")).collect();
        format!("Removal({place}, bodies=[{}])", names.join(", "))
    }
}

/// What was inserted and removed since the start of a run.
///
/// >>> import riprap as rr
/// >>> rock = rr.Material("rock", density=2700.0)
/// >>> scene = rr.SceneBuilder(gravity=(0, 0, 0))
/// >>> scene.insert(rr.Insertion("feed", material=rock, spheres=(0.02, 0.03), inside=((0, 0, 0), (1, 1, 1)), at=0.01, count=3))
/// >>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
/// >>> _ = run.until(0.02)
/// >>> run.population.inserted, run.population.removed
/// (3, 0)
#[pyclass(frozen, eq, module = "riprap")]
#[derive(Clone, PartialEq)]
pub struct Population(PopulationState);

#[pymethods]
impl Population {
    /// Number of bodies inserted.
    #[getter]
    fn inserted(&self) -> u64 {
        self.0.account.inserted
    }

    /// Number of bodies removed; pieces of a stone count one by one.
    #[getter]
    fn removed(&self) -> u64 {
        self.0.account.removed
    }

    /// Mass of the bodies inserted [kg].
    #[getter]
    fn inserted_mass(&self) -> f64 {
        self.0.account.gained.mass
    }

    /// Mass of the bodies removed [kg].
    #[getter]
    fn removed_mass(&self) -> f64 {
        self.0.account.lost.mass
    }

    /// Momentum that came with inserted bodies less that which left with removed ones [kg m/s].
    #[getter]
    fn momentum(&self) -> [f64; 3] {
        let (gained, lost) = (&self.0.account.gained, &self.0.account.lost);
        std::array::from_fn(|k| gained.momentum[k] - lost.momentum[k])
    }

    /// Kinetic and potential energy that came with inserted bodies less those that left with removed ones [J]; the latter is zero at the origin.
    #[getter]
    fn energy(&self) -> (f64, f64) {
        let (gained, lost) = (&self.0.account.gained, &self.0.account.lost);
        (gained.kinetic - lost.kinetic, gained.potential - lost.potential)
    }

    /// Number of bodies that were inserted later than due, for lack of room.
    #[getter]
    fn waited(&self) -> u64 {
        self.0.feeds.iter().map(|feed| feed.waited).sum()
    }

    /// Whether a body waits for room now.
    #[getter]
    fn waits(&self) -> bool {
        self.0.feeds.iter().any(|feed| feed.waits)
    }

    fn __repr__(&self) -> String {
        let account = &self.0.account;
        format!("<Population: {} inserted, {} removed>", account.inserted, account.removed)
    }
}

#[pymethods]
impl SceneBuilder {
    /// Inserts bodies during the run.
    fn insert(&mut self, insertion: &Insertion) -> PyResult<()> {
        let described =
            insertion.describe(self.record.planar, self.record.seed + self.n_insertions)?;
        self.n_insertions += 1;
        self.core.insert(described, &insertion.material);
        self.record.items.push(Item::Population("insert", insertion.saved()));
        Ok(())
    }

    /// Removes bodies during the run.
    fn remove(&mut self, removal: &Removal) {
        self.core.remove(removal.0.clone());
        self.record.items.push(Item::Population("remove", Ok(removal.saved().lines())));
    }
}

#[pymethods]
impl Simulation {
    /// What was inserted and removed since the start.
    #[getter]
    fn population(&self) -> PyResult<Population> {
        Ok(Population(self.lock()?.run.state().population.clone()))
    }
}

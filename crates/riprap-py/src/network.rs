//! Force networks: the unique contact forces of a step and their statistics, for simulations and for run folders.

use std::path::PathBuf;

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use riprap::friction::{ContactStatus, ForceLaw, RestForces, RestFriction, RestMethod};
use riprap::math::Vec3;
use riprap::simulation::{
    Fabric as CoreFabric, ForceDistribution as CoreDistribution, ForceNetwork as CoreNetwork,
    Resultant, Simulation as CoreSimulation, rose,
};
use riprap_io::forces::{self, Error, View};

use crate::convert::{self, word};
use crate::errors;
use crate::exit;
use crate::records::Records;
use crate::scene::scene_errors;
use crate::simulation::Simulation;

/// Options of unique forces, by their words.
pub fn rest_forces(
    law: &str,
    friction: &str,
    ratio: f64,
    method: &str,
    tolerance: f64,
    max_iterations: usize,
) -> PyResult<RestForces> {
    let law = match law {
        "linear" => ForceLaw::Linear,
        "hertz" => ForceLaw::Hertz,
        other => return Err(errors::value(format!("no law `{other}`: linear, hertz"))),
    };
    let known = [("associated", RestFriction::Associated), ("clipped", RestFriction::Clipped)];
    let friction = word("friction", friction, &known)?;
    let known = [("newton", RestMethod::Newton), ("relaxation", RestMethod::Relaxation)];
    let method = word("method", method, &known)?;
    let rest = RestForces::new().law(law).friction(friction).tangential_ratio(ratio);
    Ok(rest.method(method).tolerance(tolerance).max_iterations(max_iterations))
}

/// What a contact does, in a word.
pub fn status_word(status: ContactStatus) -> &'static str {
    match status {
        ContactStatus::Open => "open",
        ContactStatus::Sticking => "sticking",
        ContactStatus::Sliding => "sliding",
    }
}

/// The force network of a step: contact forces [N] that are unique although bodies are rigid (Schwager and Pöschel 2002),
/// beside those of the solver. `Simulation.force_network` and `force_network` compute it.
///
/// >>> import riprap as rr
/// >>> rock = rr.Material("rock", density=1000.0, friction=0.5)
/// >>> scene = rr.SceneBuilder()
/// >>> floor = scene.add_fixed(rr.Shape.half_space(), material=rock)
/// >>> cube = scene.add(rr.Body(rr.Shape.cuboid(0.2, 0.2, 0.2), rock, position=(0, 0, 0.1)))
/// >>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
/// >>> _ = run.until(0.02)
/// >>> network = run.force_network()
/// >>> network.contacts()["force"][:, 2].round(3).tolist()  # a quarter of the weight of 78.48 N each
/// [19.62, 19.62, 19.62, 19.62]
#[pyclass(frozen, module = "riprap")]
pub struct ForceNetwork {
    core: CoreNetwork,
    time: f64,
    planar: bool,
    /// Names of the bodies whose contacts cannot provide their resultant.
    unbalanced: Vec<(String, f64)>,
}

impl ForceNetwork {
    fn of(run: &CoreSimulation, core: CoreNetwork) -> ForceNetwork {
        let (scene, bodies) = (run.scene(), &core.bodies);
        let name = |b: u32| {
            let slot = scene.slot(bodies[b as usize]);
            scene.bodies().names[slot].clone()
        };
        let unbalanced = core.report.unbalanced.iter().map(|(b, error)| (name(*b), *error));
        ForceNetwork {
            unbalanced: unbalanced.collect(),
            time: run.time(),
            planar: scene.is_planar(),
            core,
        }
    }
}

#[pymethods]
impl ForceNetwork {
    /// The contacts with at least one free body as a structured array: bodies (ids), point [m], normal from the first body to
    /// the second, force of the solver and unique force on the second body [N], status (open, sticking or sliding).
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let contacts = &self.core.contacts;
        let mut records = Records::new(py, contacts.len());
        let vectors = |of: fn(&riprap::simulation::NetworkContact) -> Vec3| {
            contacts.iter().flat_map(|c| <[f64; 3]>::from(of(c))).collect::<Vec<f64>>()
        };
        let bodies = contacts.iter().flat_map(|c| c.bodies.map(|body| body.0)).collect();
        records.integers("bodies", bodies, 2)?;
        records.numbers("point", vectors(|c| c.point), 3)?;
        records.numbers("normal", vectors(|c| c.normal), 3)?;
        records.numbers("solver", vectors(|c| c.solver), 3)?;
        records.numbers("force", vectors(|c| c.force), 3)?;
        let words: Vec<&str> = contacts.iter().map(|c| status_word(c.status)).collect();
        records.words("status", words, "U8")?;
        records.array()
    }

    /// Time [s].
    #[getter]
    fn time(&self) -> f64 {
        self.time
    }

    /// Number of free bodies.
    #[getter]
    fn n_bodies(&self) -> usize {
        self.core.bodies.len()
    }

    /// Number of free bodies that have the resultant of the step instead of that at rest.
    #[getter]
    fn n_moving(&self) -> usize {
        self.core.moving.iter().filter(|moves| **moves).count()
    }

    /// Fastest free body [m/s].
    #[getter]
    fn fastest(&self) -> f64 {
        self.core.fastest
    }

    /// Whether all bodies have their resultants.
    #[getter]
    fn converged(&self) -> bool {
        self.core.report.converged
    }

    /// Number of iterations.
    #[getter]
    fn iterations(&self) -> usize {
        self.core.report.iterations
    }

    /// Largest error of a resultant, relative to the weight of its body [–].
    #[getter]
    fn residual(&self) -> f64 {
        self.core.report.residual
    }

    /// The same for the forces of the solver, over the bodies at rest [–].
    #[getter]
    fn solver_residual(&self) -> f64 {
        self.core.solver_residual
    }

    /// Bodies whose contacts cannot provide their resultant: names and errors relative to their weight [–].
    #[getter]
    fn unbalanced(&self) -> Vec<(String, f64)> {
        self.unbalanced.clone()
    }

    /// Numbers of open, sticking and sliding contacts.
    #[getter]
    fn counts(&self) -> (usize, usize, usize) {
        let report = &self.core.report;
        (report.open, report.sticking, report.sliding)
    }

    /// Distance between the forces of the solver and the unique ones: relative to the latter in the L2 norm [–], and the
    /// largest difference at a contact [N].
    #[getter]
    fn distance(&self) -> (f64, f64) {
        self.core.distance()
    }

    /// Normal forces of the loaded contacts [N].
    fn normal_forces<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_vec(py, self.core.normal_forces())
    }

    /// Distribution of the normal forces in bins of a width of f/⟨f⟩ [–].
    #[pyo3(signature = (width=0.25))]
    fn distribution(&self, width: f64) -> PyResult<ForceDistribution> {
        ForceDistribution::new(self.core.normal_forces(), width)
    }

    /// Fabric of the loaded contacts; `by_force` weights each by its normal force. None if nothing is loaded.
    #[pyo3(signature = (by_force=false))]
    fn fabric(&self, by_force: bool) -> Option<Fabric> {
        let forces = self.core.normal_forces();
        let weights = forces.iter().map(|f| if by_force { *f } else { 1.0 });
        CoreFabric::of(self.core.normals().into_iter().zip(weights)).map(Fabric)
    }

    /// Rose of a planar packing: the density of contact normals in equal sectors from 0 to π, with mean 1 [–]. ValueError in
    /// space.
    #[pyo3(signature = (sectors=18))]
    fn rose<'py>(&self, py: Python<'py>, sectors: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        if !self.planar || sectors == 0 {
            return Err(errors::value("a rose needs a planar scene and at least one sector"));
        }
        Ok(PyArray1::from_vec(py, rose(&self.core.normals(), sectors)))
    }

    fn __repr__(&self) -> String {
        let (contacts, residual) = (self.core.contacts.len(), self.core.report.residual);
        format!("<ForceNetwork: {contacts} contacts, balance {residual:.1e}>")
    }
}

/// The distribution P(f/⟨f⟩) of positive forces [N] in bins of a width [–].
///
/// >>> import riprap as rr
/// >>> distribution = rr.ForceDistribution([1.0, 2.0, 3.0], width=0.5)
/// >>> distribution.mean, distribution.density.round(3).tolist()
/// (2.0, [0.0, 0.667, 0.667, 0.667])
#[pyclass(frozen, module = "riprap")]
pub struct ForceDistribution(pub CoreDistribution);

#[pymethods]
impl ForceDistribution {
    #[new]
    #[pyo3(signature = (forces, width=0.25))]
    fn new(forces: Vec<f64>, width: f64) -> PyResult<ForceDistribution> {
        if !(width > 0.0 && width.is_finite() && forces.iter().all(|f| f.is_finite() && *f >= 0.0))
        {
            return Err(errors::value("forces must not be negative, the width must be positive"));
        }
        Ok(ForceDistribution(CoreDistribution::of(&forces, width)))
    }

    /// Number of forces.
    #[getter]
    fn count(&self) -> usize {
        self.0.count
    }

    /// Mean force [N].
    #[getter]
    fn mean(&self) -> f64 {
        self.0.mean
    }

    /// Largest force [N].
    #[getter]
    fn largest(&self) -> f64 {
        self.0.largest
    }

    /// Width of the bins of f/⟨f⟩ [–]; the first one starts at 0.
    #[getter]
    fn width(&self) -> f64 {
        self.0.width
    }

    /// Probability density of each bin [–]; its integral is 1.
    #[getter]
    fn density<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.0.density)
    }

    /// β of the tail exp(−β f/⟨f⟩) above the mean [–]; None if it has fewer than ten forces.
    #[getter]
    fn decay(&self) -> Option<f64> {
        self.0.decay
    }

    fn __repr__(&self) -> String {
        format!("<ForceDistribution: {} forces, mean {:?} N>", self.0.count, self.0.mean)
    }
}

/// The fabric tensor F = ⟨n ⊗ n⟩ of contact normals, each with a weight such as its normal force, or 1.
///
/// >>> import riprap as rr
/// >>> fabric = rr.Fabric([(0, 0, 1), (0, 0, 1), (1, 0, 0), (0, 1, 0)])
/// >>> fabric.values.tolist(), round(fabric.anisotropy, 3)
/// ([0.5, 0.25, 0.25], 1.25)
#[pyclass(frozen, module = "riprap")]
pub struct Fabric(pub CoreFabric);

#[pymethods]
impl Fabric {
    #[new]
    #[pyo3(signature = (normals, weights=None))]
    fn new(normals: Vec<[f64; 3]>, weights: Option<Vec<f64>>) -> PyResult<Fabric> {
        let weights = weights.unwrap_or_else(|| vec![1.0; normals.len()]);
        if weights.len() != normals.len() {
            let (n, m) = (normals.len(), weights.len());
            return Err(errors::value(format!("{n} normals but {m} weights")));
        }
        let fabric = CoreFabric::of(normals.into_iter().map(Vec3::from).zip(weights));
        fabric.map(Fabric).ok_or_else(|| errors::value("the weights must have a positive sum"))
    }

    /// The tensor in the world frame [–]; its trace is 1 for unit normals.
    #[getter]
    fn tensor<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        convert::matrix(py, &self.0.tensor)
    }

    /// Principal values, the largest first [–].
    #[getter]
    fn values<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.0.values)
    }

    /// Principal directions in the order of their values, one per row [–].
    #[getter]
    fn directions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = self.0.directions.iter().flat_map(|d| <[f64; 3]>::from(*d)).collect();
        convert::table(py, rows, 3)
    }

    /// Whether all normals are in the plane z = 0.
    #[getter]
    fn planar(&self) -> bool {
        self.0.planar
    }

    /// Anisotropy of the density of normals [–]: 0 if all directions are equally frequent.
    #[getter]
    fn anisotropy(&self) -> f64 {
        self.0.anisotropy()
    }

    /// Angle of the first principal direction in the x–y plane [rad], between 0 and π.
    #[getter]
    fn angle(&self) -> f64 {
        self.0.angle()
    }

    fn __repr__(&self) -> String {
        format!("<Fabric: anisotropy {:.4}>", self.0.anisotropy())
    }
}

/// The axis along which the picture is seen.
fn view(word_: &str) -> PyResult<View> {
    word("view", word_, &[("x", View::X), ("y", View::Y), ("z", View::Z)])
}

fn resultant(given: &str) -> PyResult<Resultant> {
    let known =
        [("balance", Resultant::Balance), ("rest", Resultant::Rest), ("step", Resultant::Step)];
    word("resultant", given, &known)
}

fn failed(py: Python, error: Error) -> PyErr {
    match error {
        Error::Scene(errors) => scene_errors(py, &errors),
        Error::Rest(error) => errors::value(error),
        Error::Run(error) => errors::step(error),
        Error::Before { .. } => errors::value(error),
        error => errors::file(error),
    }
}

#[pymethods]
impl Simulation {
    /// The unique contact forces of the last step. The force law of the contacts is linear or hertz; friction is associated
    /// (unique; linear law) or clipped; `ratio` is the tangential stiffness over the normal one [–]. The resultant on each body
    /// is that of `balance` (opposite to the weight for bodies at rest, that of the step for the others), `rest` or `step`.
    /// `write` is a folder for forces.csv, force-chains.vtp and force-chains.svg, seen along an axis.
    #[pyo3(signature = (law="linear", *, friction="associated", ratio=0.2857142857142857, resultant="balance", method="newton", tolerance=1e-10, max_iterations=1000, write=None, view="y"))]
    fn force_network(
        &self,
        py: Python,
        law: &str,
        friction: &str,
        ratio: f64,
        resultant: &str,
        method: &str,
        tolerance: f64,
        max_iterations: usize,
        write: Option<PathBuf>,
        view: &str,
    ) -> PyResult<ForceNetwork> {
        let rest = rest_forces(law, friction, ratio, method, tolerance, max_iterations)?;
        let (resultant, view) = (self::resultant(resultant)?, self::view(view)?);
        let guard = self.lock()?;
        let run = &guard.run;
        let made = exit::detach(py, || {
            let network = forces::network(run, &rest, resultant)?;
            if let Some(folder) = &write {
                forces::write(folder, &run.frame(), &network, view)?;
            }
            Ok(ForceNetwork::of(run, network))
        });
        made.map_err(|error| failed(py, error))
    }
}

/// The unique contact forces of a run in a folder at its last checkpoint or, continued in memory, at a later time [s], as
/// `riprap forces` computes them; nothing of the run is changed. Options are those of `Simulation.force_network`; with `write`,
/// forces.csv, force-chains.vtp and force-chains.svg are written into the folder.
///
/// FileError if the folder has no run or no checkpoint.
///
/// >>> import pathlib, tempfile, riprap as rr
/// >>> folder = pathlib.Path(tempfile.mkdtemp())
/// >>> _ = (folder / "ball.toml").write_text('''
/// ... run = { dt = "1 ms", until = "10 ms", checkpoint_every = "5 ms" }
/// ... materials.steel = { density = 1000, friction = 0.5 }
/// ... [[body]]
/// ... kind = "fixed"
/// ... material = "steel"
/// ... shape = { type = "half-space" }
/// ... [[body]]
/// ... material = "steel"
/// ... position = [0, 0, 0.1]
/// ... shape = { type = "sphere", radius = 0.1 }
/// ... ''')
/// >>> summary = rr.run(folder / "ball.toml", out=folder / "out")
/// >>> network = rr.force_network(folder / "out")
/// >>> round(float(network.normal_forces()[0]), 3)  # its weight [N]
/// 41.092
#[pyfunction]
#[pyo3(signature = (folder, *, time=None, law="linear", friction="associated", ratio=0.2857142857142857, resultant="balance", method="newton", tolerance=1e-10, max_iterations=1000, write=false, view="y"))]
pub fn force_network(
    py: Python,
    folder: PathBuf,
    time: Option<f64>,
    law: &str,
    friction: &str,
    ratio: f64,
    resultant: &str,
    method: &str,
    tolerance: f64,
    max_iterations: usize,
    write: bool,
    view: &str,
) -> PyResult<ForceNetwork> {
    let rest = rest_forces(law, friction, ratio, method, tolerance, max_iterations)?;
    let (resultant, view) = (self::resultant(resultant)?, self::view(view)?);
    let made = exit::detach(py, || {
        let run = forces::load(&folder, time)?;
        let network = forces::network(&run, &rest, resultant)?;
        if write {
            forces::write(&folder, &run.frame(), &network, view)?;
        }
        Ok(ForceNetwork::of(&run, network))
    });
    made.map_err(|error| failed(py, error))
}

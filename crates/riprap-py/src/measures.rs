//! Measures of packings at one time, the mass that passes planes, and impacts.

use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyString;

use riprap::math::{Mat3, Vec3};
use riprap::simulation::{
    Coordination, Fabric as CoreFabric, Flow as CoreFlow, Impact, Measures as CoreMeasures,
    NormalForces as CoreForces, Region, Simulation as CoreSimulation, Slope as CoreSlope, impacts,
};

use crate::network::{Fabric, ForceDistribution};
use crate::records::Records;
use crate::simulation::Simulation;
use crate::{convert, errors};

/// Measures of the free bodies in a region at one time, with the mean contact forces of the last step, as probes of regions in
/// scene files record them. `Simulation.measures` gives them. A body belongs to a region if its centre of mass does, a contact if
/// its point does; in planar scenes z is ignored. Before the first step there are no contacts.
///
/// >>> import riprap as rr
/// >>> rock = rr.Material("rock", density=1000.0, friction=0.5)
/// >>> scene = rr.SceneBuilder()
/// >>> floor = scene.add_fixed(rr.Shape.half_space(), material=rock)
/// >>> cube = scene.add(rr.Body(rr.Shape.cuboid(0.2, 0.2, 0.2), rock, position=(0, 0, 0.1)))
/// >>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
/// >>> _ = run.until(0.02)
/// >>> measures = run.measures(region=((-0.1, -0.1, 0.0), (0.1, 0.1, 0.2)))
/// >>> round(float(measures.stress[2, 2]))  # ρ g h / 2
/// 981
/// >>> measures.coordination_all, round(measures.solid_fraction, 9)
/// (1.0, 1.0)
#[pyclass(frozen, module = "riprap")]
pub struct Measures {
    time: f64,
    planar: bool,
    coordination: Coordination,
    /// Solid fraction and stress, in a box.
    content: Option<(f64, Mat3)>,
    fabric: Option<CoreFabric>,
    normal_forces: CoreForces,
    slope: Option<CoreSlope>,
    segregation: Option<f64>,
}

impl Measures {
    fn of(run: &CoreSimulation, region: &Region) -> Measures {
        let frame = run.frame();
        let (measures, planar) = (CoreMeasures::of(&frame), frame.scene.is_planar());
        let axes = if planar { 2 } else { 3 };
        let bounded = (0..axes).all(|k| region.min[k].is_finite() && region.max[k].is_finite());
        Measures {
            time: frame.state.t,
            planar,
            coordination: measures.coordination(region),
            content: bounded.then(|| (measures.solid_fraction(region), measures.stress(region))),
            fabric: measures.fabric(region),
            normal_forces: measures.normal_forces(region),
            slope: measures.slope(region),
            segregation: measures.segregation(region),
        }
    }
}

#[pymethods]
impl Measures {
    /// Time [s].
    #[getter]
    fn time(&self) -> f64 {
        self.time
    }

    /// Mean number of bodies that touch a free body, without rattlers: neither as bodies nor as neighbours [–]. NaN without bodies.
    #[getter]
    fn coordination(&self) -> f64 {
        self.coordination.without_rattlers
    }

    /// Mean number of bodies, free or not, that touch a free body [–]. NaN without bodies.
    #[getter]
    fn coordination_all(&self) -> f64 {
        self.coordination.all
    }

    /// Fraction of the free bodies that touch fewer than two bodies, not counting rattlers [–].
    #[getter]
    fn rattlers(&self) -> f64 {
        self.coordination.rattlers
    }

    /// Fraction of the volume of the box that free bodies occupy [–], of its area in planar scenes; None if it is not bounded.
    #[getter]
    fn solid_fraction(&self) -> Option<f64> {
        self.content.map(|(solid, _)| solid)
    }

    /// Mean stress in the box [Pa], in planar scenes [N/m], compression positive; None if the region is not bounded.
    #[getter]
    fn stress<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        self.content.map(|(_, stress)| convert::matrix(py, &stress)).transpose()
    }

    /// Mean of the normal stresses [Pa], in planar scenes of the two in the plane [N/m].
    #[getter]
    fn pressure(&self) -> Option<f64> {
        let axes = if self.planar { 2.0 } else { 3.0 };
        self.content.map(|(_, stress)| stress.trace() / axes)
    }

    /// Fabric of the contacts, each touching pair with weight 1; None without contacts.
    #[getter]
    fn fabric(&self) -> Option<Fabric> {
        self.fabric.map(Fabric)
    }

    /// Normal forces between touching bodies.
    #[getter]
    fn normal_forces(&self) -> NormalForces {
        NormalForces(self.normal_forces.clone())
    }

    /// Slope of the plane that fits the free surface best; None without gravity or without a surface.
    #[getter]
    fn slope(&self) -> Option<Slope> {
        self.slope.map(Slope)
    }

    /// Correlation of diameter and height [–]: 1 if larger bodies are higher; None without gravity or if sizes are equal.
    #[getter]
    fn segregation(&self) -> Option<f64> {
        self.segregation
    }

    fn __repr__(&self) -> String {
        let Coordination { without_rattlers, rattlers, .. } = self.coordination;
        format!("<Measures: coordination {without_rattlers:.3}, rattlers {rattlers:.3}>")
    }
}

/// Normal forces between touching bodies [N]; those of several contact points of a pair are added.
///
/// >>> import riprap as rr
/// >>> scene = rr.SceneBuilder()
/// >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), rr.Material("steel", density=7800.0)))
/// >>> rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3)).measures().normal_forces.distribution.count
/// 0
#[pyclass(frozen, module = "riprap")]
pub struct NormalForces(CoreForces);

#[pymethods]
impl NormalForces {
    /// Count, mean, largest force and density, in bins of a tenth of the mean.
    #[getter]
    fn distribution(&self) -> ForceDistribution {
        ForceDistribution(self.0.distribution.clone())
    }

    /// The force that 90 % do not exceed [N].
    #[getter]
    fn percentile_90(&self) -> f64 {
        self.0.percentile_90
    }

    /// Participation number (Σf)²/(N Σf²) [–]: 1 if all forces are equal, 1/N if one carries everything.
    #[getter]
    fn participation(&self) -> f64 {
        self.0.participation
    }

    fn __repr__(&self) -> String {
        let distribution = &self.0.distribution;
        format!("<NormalForces: {} forces, mean {:?} N>", distribution.count, distribution.mean)
    }
}

/// The slope of a free surface.
///
/// >>> import math, riprap as rr
/// >>> rock = rr.Material("rock", density=1000.0)
/// >>> scene = rr.SceneBuilder()
/// >>> for k in range(8):
/// ...     _ = scene.add(rr.Body(rr.Shape.sphere(0.1), rock, position=(0.5 * (k % 4), 0.5 * (k // 4), -0.25 * (k % 4))))
/// >>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
/// >>> round(math.tan(run.measures().slope.angle), 9)
/// 0.5
#[pyclass(frozen, module = "riprap")]
pub struct Slope(CoreSlope);

#[pymethods]
impl Slope {
    /// Angle between the surface and the horizontal [rad].
    #[getter]
    fn angle(&self) -> f64 {
        self.0.angle
    }

    /// Horizontal direction in which the surface descends [–]; zero if it is horizontal.
    #[getter]
    fn descent<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        convert::vector(py, &self.0.descent)
    }

    /// Angle of the direction of descent from x towards y [rad].
    #[getter]
    fn direction(&self) -> f64 {
        self.0.direction()
    }

    fn __repr__(&self) -> String {
        format!("<Slope: {:.4} rad>", self.0.angle)
    }
}

/// The mass of free bodies that passes a plane, or a disc in it: a point [m], a normal in whose direction mass counts as positive,
/// and a radius [m]. `add` is an observer: `run.until(t, observer=flow.add)` adds every step, and the first call only looks where
/// bodies are.
///
/// >>> import riprap as rr
/// >>> scene = rr.SceneBuilder(gravity=(0, 0, 0))
/// >>> steel = rr.Material("steel", density=7800.0)
/// >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), steel, mass=3.0, position=(0, 0, 0.1), velocity=(0, 0, -1)))
/// >>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-2))
/// >>> flow = rr.Flow(normal="-z")
/// >>> _ = run.until(0.5, observer=flow.add)
/// >>> flow.mass
/// 3.0
#[pyclass(frozen, module = "riprap")]
pub struct Flow(Mutex<CoreFlow>);

impl Flow {
    fn locked(&self) -> MutexGuard<'_, CoreFlow> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Flow {
    #[new]
    #[pyo3(
        signature = (point=[0.0; 3], *, normal, radius=f64::INFINITY),
        text_signature = "(point=(0.0, 0.0, 0.0), *, normal, radius=inf)"
    )]
    fn new(point: [f64; 3], normal: &Bound<PyAny>, radius: f64) -> PyResult<Flow> {
        if radius.is_nan() || radius <= 0.0 || !point.iter().all(|x| x.is_finite()) {
            return Err(errors::value("the radius must be positive, and the point finite"));
        }
        let normal = Vec3::from(convert::axis(normal)?.0);
        Ok(Flow(Mutex::new(CoreFlow::new(Vec3::from(point), normal, radius))))
    }

    /// Adds the bodies that passed in the last step of the simulation; a step that was added before changes nothing.
    fn add(&self, run: &Simulation) -> PyResult<()> {
        let inner = run.lock()?;
        self.locked().add(&inner.run.frame());
        Ok(())
    }

    /// Mass that has passed along the normal, less that in the opposite direction [kg].
    #[getter]
    fn mass(&self) -> f64 {
        self.locked().mass
    }

    fn __repr__(&self) -> String {
        format!("<Flow: {:?} kg>", self.locked().mass)
    }
}

/// A region of a scene: all of space, or the cell if it is periodic; or two corners.
fn region_of(run: &CoreSimulation, given: Option<&Bound<PyAny>>) -> PyResult<Region> {
    let all = || run.scene().cell().map_or(Region::EVERYWHERE, Region::of_cell);
    let Some(given) = given else { return Ok(all()) };
    if given.cast::<PyString>().is_ok_and(|word| *word == "all") {
        return Ok(all());
    }
    let wrong = "a region is \"all\", or the lowest and the highest corner of a box [m]";
    let (min, max): ([f64; 3], [f64; 3]) = given.extract().map_err(|_| errors::value(wrong))?;
    // In the plane, z does not matter.
    let axes = if run.scene().is_planar() { 2 } else { 3 };
    match (0..axes).all(|k| min[k] < max[k]) {
        true => Ok(Region { min: min.into(), max: max.into() }),
        false => Err(errors::value("the first corner of a region must be the lower one")),
    }
}

#[pymethods]
impl Simulation {
    /// Measures of all free bodies, or of those in a region: the lowest and the highest corner of a box [m]. In a periodic scene
    /// "all" is the cell.
    #[pyo3(signature = (region=None))]
    fn measures(&self, region: Option<&Bound<PyAny>>) -> PyResult<Measures> {
        let inner = self.lock()?;
        let region = region_of(&inner.run, region)?;
        Ok(Measures::of(&inner.run, &region))
    }

    /// The impacts of the last step as a structured array: contacts with an impulse whose bodies approached each other faster
    /// than a speed [m/s] along the normal before the step. Fields: bodies (ids), point [m], impulse [N s], speed [m/s]. Penalty
    /// forces and the events of `RigidEvents` have no impacts that take one step.
    fn impacts<'py>(&self, py: Python<'py>, speed: f64) -> PyResult<Bound<'py, PyAny>> {
        if speed.is_nan() || speed < 0.0 {
            return Err(errors::value("the speed must not be negative"));
        }
        let found: Vec<Impact> = impacts(&self.lock()?.run.frame(), speed);
        let mut records = Records::new(py, found.len());
        let bodies = found.iter().flat_map(|hit| hit.bodies.map(|body| body.0)).collect();
        records.integers("bodies", bodies, 2)?;
        let points = found.iter().flat_map(|hit| <[f64; 3]>::from(hit.point)).collect();
        records.numbers("point", points, 3)?;
        records.numbers("impulse", found.iter().map(|hit| hit.impulse).collect(), 1)?;
        records.numbers("speed", found.iter().map(|hit| hit.speed).collect(), 1)?;
        records.array()
    }
}

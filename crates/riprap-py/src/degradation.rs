//! Fragmentation and wear: the laws of materials, what has become of the stones of a run, and sieve curves.

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use riprap::grains::SieveCurve as CoreCurve;
use riprap::scene::{
    DegradationAccount, Fragmentation as CoreFragmentation, Strength, Wear as CoreWear,
};

use crate::handle::BodyHandle;
use crate::simulation::Simulation;
use crate::{convert, errors};

/// When stones of a material break: free convex polyhedra and polygons split along a plane into two pieces. Give the `stress`
/// [Pa] or the `peak_force` of a contact [N] that a stone survives. With a Weibull modulus [–], 37 % of the stones of
/// `reference_size` [m] survive it, and larger stones are weaker. Pieces smaller than `smallest` [m] become dust. Loads are
/// averaged over the time `average` [s].
///
/// >>> import riprap as rr
/// >>> weak = rr.Fragmentation(stress=1e5, smallest=0.005, weibull=4.0, reference_size=0.04)
/// >>> rock = rr.Material("rock", density=2700.0, friction=0.6, fragmentation=weak)
/// >>> round(weak.strength_of(0.08, quantile=0.5) / weak.strength_of(0.04, quantile=0.5), 3)  # 2^(-3/4)
/// 0.595
#[pyclass(frozen, eq, from_py_object, module = "riprap")]
#[derive(Clone, PartialEq)]
pub struct Fragmentation(pub CoreFragmentation);

#[pymethods]
impl Fragmentation {
    #[new]
    #[pyo3(signature = (*, stress=None, peak_force=None, smallest, weibull=None, reference_size=None, average=0.0))]
    fn new(
        stress: Option<f64>,
        peak_force: Option<f64>,
        smallest: f64,
        weibull: Option<f64>,
        reference_size: Option<f64>,
        average: f64,
    ) -> PyResult<Fragmentation> {
        let strength = match (stress, peak_force) {
            (Some(stress), None) => Strength::Stress(stress),
            (None, Some(force)) => Strength::PeakForce(force),
            _ => return Err(errors::value("give either `stress` [Pa] or `peak_force` [N]")),
        };
        if weibull.is_some() != reference_size.is_some() {
            return Err(errors::value(
                "`weibull` and `reference_size` [m] go together: the strength is that of stones of this size",
            ));
        }
        let reference_size = reference_size.unwrap_or(1.0);
        let law = CoreFragmentation { strength, weibull, reference_size, smallest, average };
        Ok(Fragmentation(law))
    }

    /// Stress that a stone survives [Pa]; None if the force of a contact decides.
    #[getter]
    fn stress(&self) -> Option<f64> {
        match self.0.strength {
            Strength::Stress(stress) => Some(stress),
            Strength::PeakForce(_) => None,
        }
    }

    /// Force of a contact that a stone survives [N]; None if the stress decides.
    #[getter]
    fn peak_force(&self) -> Option<f64> {
        match self.0.strength {
            Strength::Stress(_) => None,
            Strength::PeakForce(force) => Some(force),
        }
    }

    /// Size below which pieces become dust [m].
    #[getter]
    fn smallest(&self) -> f64 {
        self.0.smallest
    }

    /// Weibull modulus [–]; None if all stones have the same strength.
    #[getter]
    fn weibull(&self) -> Option<f64> {
        self.0.weibull
    }

    /// Size for which the strength holds [m]; None without a modulus.
    #[getter]
    fn reference_size(&self) -> Option<f64> {
        self.0.weibull.map(|_| self.0.reference_size)
    }

    /// Time over which loads are averaged [s].
    #[getter]
    fn average(&self) -> f64 {
        self.0.average
    }

    /// The load [Pa or N] that a stone of a size [m] survives, for its survival quantile between 0 and 1 [–].
    #[pyo3(signature = (size, *, quantile, planar=false))]
    fn strength_of(&self, size: f64, quantile: f64, planar: bool) -> f64 {
        self.0.strength_of(size, quantile, planar)
    }

    fn __repr__(&self) -> String {
        let (word, strength) = match self.0.strength {
            Strength::Stress(stress) => ("stress", stress),
            Strength::PeakForce(force) => ("peak_force", force),
        };
        let scatter = self.0.weibull.map_or(String::new(), |m| {
            format!(", weibull={m:?}, reference_size={:?}", self.0.reference_size)
        });
        format!("Fragmentation({word}={strength:?}, smallest={:?}{scatter})", self.0.smallest)
    }
}

/// Wear of a material by friction (Archard): each contact takes the volume `coefficient` [–] × work of friction / `hardness`
/// [Pa] from a stone, in chamfers of a volume relative to that of the stone [–]; a worn stone has at most `max_corners`.
///
/// >>> import riprap as rr
/// >>> wear = rr.Wear(coefficient=1e-3, hardness=1e9)
/// >>> rock = rr.Material("rock", density=2700.0, friction=0.6, wear=wear)
/// >>> wear.rate
/// 1e-12
#[pyclass(frozen, eq, from_py_object, module = "riprap")]
#[derive(Clone, PartialEq)]
pub struct Wear(pub CoreWear);

#[pymethods]
impl Wear {
    #[new]
    #[pyo3(signature = (*, coefficient, hardness, chamfer=1e-3, max_corners=40))]
    fn new(coefficient: f64, hardness: f64, chamfer: f64, max_corners: usize) -> Wear {
        Wear(CoreWear { coefficient, hardness, chamfer, max_corners })
    }

    /// Wear coefficient [–].
    #[getter]
    fn coefficient(&self) -> f64 {
        self.0.coefficient
    }

    /// Hardness [Pa].
    #[getter]
    fn hardness(&self) -> f64 {
        self.0.hardness
    }

    /// Volume of a chamfer, relative to that of the stone [–].
    #[getter]
    fn chamfer(&self) -> f64 {
        self.0.chamfer
    }

    /// Corners of a worn stone at most.
    #[getter]
    fn max_corners(&self) -> usize {
        self.0.max_corners
    }

    /// Volume worn off per work of friction [m³/J].
    #[getter]
    fn rate(&self) -> f64 {
        self.0.rate()
    }

    fn __repr__(&self) -> String {
        let CoreWear { coefficient, hardness, chamfer, max_corners } = self.0;
        format!(
            "Wear(coefficient={coefficient:?}, hardness={hardness:?}, chamfer={chamfer:?}, max_corners={max_corners})"
        )
    }
}

/// What has become of the stones of a run: counts, and mass and energy that have left the bodies.
///
/// >>> import riprap as rr
/// >>> rock = rr.Material("rock", density=2700.0, fragmentation=rr.Fragmentation(stress=1e6, smallest=0.005))
/// >>> scene = rr.SceneBuilder()
/// >>> stone = scene.add(rr.Body(rr.Shape.cuboid(0.1, 0.1, 0.1), rock))
/// >>> rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3)).degradation.breaks
/// 0
#[pyclass(frozen, eq, module = "riprap")]
#[derive(Clone, PartialEq)]
pub struct Degradation(pub DegradationAccount);

#[pymethods]
impl Degradation {
    /// Number of stones that broke.
    #[getter]
    fn breaks(&self) -> u64 {
        self.0.breaks
    }

    /// Number of pieces that came from them, without dust.
    #[getter]
    fn pieces(&self) -> u64 {
        self.0.pieces
    }

    /// Number of chamfers by wear.
    #[getter]
    fn chamfers(&self) -> u64 {
        self.0.chamfers
    }

    /// Mass that became dust [kg].
    #[getter]
    fn dust_mass(&self) -> f64 {
        self.0.dust.mass
    }

    /// Mass that was worn off [kg].
    #[getter]
    fn worn_mass(&self) -> f64 {
        self.0.worn.mass
    }

    /// Kinetic and potential energy that left with dust and worn mass [J]; the latter is zero at the origin.
    #[getter]
    fn lost_energy(&self) -> (f64, f64) {
        let (dust, worn) = (&self.0.dust, &self.0.worn);
        (dust.kinetic + worn.kinetic, dust.potential + worn.potential)
    }

    /// Linear momentum that left with dust and worn mass [kg m/s].
    #[getter]
    fn lost_momentum<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        let (dust, worn) = (self.0.dust.momentum, self.0.worn.momentum);
        PyArray1::from_slice(py, &[0, 1, 2].map(|k| dust[k] + worn[k]))
    }

    /// Work of friction at wearing stones, once for each of them [J].
    #[getter]
    fn friction_work(&self) -> f64 {
        self.0.friction_work
    }

    fn __repr__(&self) -> String {
        let DegradationAccount { breaks, pieces, chamfers, dust, worn, .. } = &self.0;
        format!(
            "<Degradation: {breaks} breaks, {pieces} pieces, {chamfers} chamfers, dust {:?} kg, worn {:?} kg>",
            dust.mass, worn.mass
        )
    }
}

/// A sieve curve: which fraction of the mass is finer than a size. Sizes [m] and masses [kg] are those of the grains; dust
/// [kg] is finer than every sieve. `Simulation.grading()` is the curve of a run, `Grains.sizes()` the sizes of a group.
///
/// >>> import riprap as rr
/// >>> before = rr.SieveCurve([0.02, 0.04, 0.08], [1.0, 1.0, 2.0])
/// >>> before.passing(0.05)
/// 0.5
/// >>> after = rr.SieveCurve([0.02, 0.04, 0.04, 0.04], [1.0, 1.0, 1.0, 0.9], dust=0.1)
/// >>> 0 < before.breakage(after, smallest=0.005) < 1
/// True
#[pyclass(frozen, eq, from_py_object, module = "riprap")]
#[derive(Clone, PartialEq)]
pub struct SieveCurve(pub CoreCurve);

#[pymethods]
impl SieveCurve {
    #[new]
    #[pyo3(signature = (sizes, masses, dust=0.0))]
    fn new(sizes: Vec<f64>, masses: Vec<f64>, dust: f64) -> PyResult<SieveCurve> {
        if sizes.len() != masses.len() {
            let (n, m) = (sizes.len(), masses.len());
            return Err(errors::value(format!("{n} sizes but {m} masses")));
        }
        let fine = |x: &f64| x.is_finite() && *x > 0.0;
        if !(sizes.iter().chain(&masses).all(fine) && dust.is_finite() && dust >= 0.0) {
            return Err(errors::value(
                "sizes and masses must be positive, dust must not be negative",
            ));
        }
        Ok(SieveCurve(CoreCurve::new(sizes.into_iter().zip(masses), dust)))
    }

    /// Total mass [kg].
    #[getter]
    fn mass(&self) -> f64 {
        self.0.mass()
    }

    /// Largest size [m].
    #[getter]
    fn largest(&self) -> f64 {
        self.0.largest()
    }

    /// Mass fraction that passes a sieve of an aperture [m] [–].
    fn passing(&self, aperture: f64) -> f64 {
        self.0.passing(aperture)
    }

    /// Sizes [m] and passing mass fractions [–] at every grain, one row each.
    fn points<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        convert::table(py, self.0.points().flatten().collect(), 2)
    }

    /// Einav's breakage index [–] of grains that had this curve once and have another one now: 0 without breakage, 1 at the
    /// end of all breakage, when sizes down to `smallest` [m] are distributed fractally.
    fn breakage(&self, now: &SieveCurve, smallest: f64) -> PyResult<f64> {
        if !(smallest > 0.0 && smallest.is_finite()) {
            return Err(errors::value("the smallest size must be positive"));
        }
        Ok(self.0.breakage(&now.0, smallest))
    }

    fn __repr__(&self) -> String {
        format!("<SieveCurve: {:?} kg up to {:?} m>", self.0.mass(), self.0.largest())
    }
}

/// A body that differs from its description: a piece of a broken stone, or a worn stone. Mass [kg], sieve size [m].
///
/// >>> import riprap as rr
/// >>> rock = rr.Material("rock", density=2700.0, fragmentation=rr.Fragmentation(stress=1e6, smallest=0.005))
/// >>> scene = rr.SceneBuilder()
/// >>> stone = scene.add(rr.Body(rr.Shape.cuboid(0.1, 0.1, 0.1), rock))
/// >>> rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3)).pieces()
/// []
#[pyclass(frozen, get_all, module = "riprap")]
pub struct Piece {
    /// Its name: that of the stone, followed by `.1` or `.2` for each break.
    name: String,
    /// Its handle.
    body: BodyHandle,
    /// Handle of the described body that it is a part of.
    origin: BodyHandle,
    /// Mass [kg].
    mass: f64,
    /// Size of the smallest square aperture that it passes [m].
    size: f64,
}

#[pymethods]
impl Piece {
    fn __repr__(&self) -> String {
        format!("<Piece {:?}: {:?} kg>", self.name, self.mass)
    }
}

#[pymethods]
impl Simulation {
    /// What has become of the stones since the start.
    #[getter]
    fn degradation(&self) -> PyResult<Degradation> {
        Ok(Degradation(self.lock()?.run.state().degradation.account))
    }

    /// Bodies that differ from their description: pieces of broken stones, and worn stones.
    fn pieces(&self) -> PyResult<Vec<Piece>> {
        let inner = self.lock()?;
        let (scene, token) = (inner.run.scene(), self.data.token);
        let piece = |piece: &riprap::scene::Piece| {
            let body = riprap::scene::Body(piece.id);
            let mass = scene.bodies().mass[scene.slot(body)];
            let size = riprap::grains::aperture_of(scene.shape(body)).unwrap_or(f64::NAN);
            Piece {
                name: piece.name.clone(),
                body: BodyHandle { scene: token, id: piece.id },
                origin: BodyHandle { scene: token, id: piece.origin },
                mass,
                size,
            }
        };
        let pieces = &inner.run.state().degradation.pieces;
        let present = pieces.iter().filter(|p| scene.contains(riprap::scene::Body(p.id)));
        Ok(present.map(piece).collect())
    }

    /// The sieve curve of all free bodies that have a sieve size, with dust and worn mass.
    fn grading(&self) -> PyResult<SieveCurve> {
        let inner = self.lock()?;
        Ok(SieveCurve(riprap::degradation::grading(inner.run.scene(), inner.run.state())))
    }

    /// Sets whether stones break and wear from now on as their materials say, which they do by default.
    fn allow_degradation(&self, on: bool) -> PyResult<()> {
        self.lock()?.run.degradation(on);
        Ok(())
    }
}

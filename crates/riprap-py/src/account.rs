//! Where the energy of a run goes, how often bodies touch, and the events of event-driven runs.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;

use riprap::scene::EventCount;
use riprap::scheme::RigidEvents;
use riprap::simulation::{ContactCount as CoreCount, EnergyAccount as CoreAccount};

use crate::simulation::Simulation;

fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Energies [J] of a simulation at the last step that was added, and dissipated energies [J] since the account was opened, by
/// cause. `add` is an observer: `run.until(t, observer=account.add)` adds every step.
///
/// >>> import riprap as rr
/// >>> steel = rr.Material("steel", density=7800.0, friction=0.3)
/// >>> scene = rr.SceneBuilder()
/// >>> floor = scene.add_fixed(rr.Shape.half_space(), material=steel)
/// >>> box = scene.add(rr.Body(rr.Shape.cuboid(0.1, 0.1, 0.1), steel, position=(0, 0, 0.05), velocity=(1, 0, 0)))
/// >>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
/// >>> account = rr.EnergyAccount(run)
/// >>> _ = run.until(0.5, observer=account.add)
/// >>> round(account.friction, 6)  # 7.8 kg at 1 m/s
/// 3.9
#[pyclass(frozen, module = "riprap")]
pub struct EnergyAccount(Mutex<CoreAccount>);

#[pymethods]
impl EnergyAccount {
    #[new]
    fn new(run: &Simulation) -> PyResult<EnergyAccount> {
        Ok(EnergyAccount(Mutex::new(CoreAccount::open(&run.lock()?.run.frame()))))
    }

    /// Adds the last step of the simulation; a step that was added before changes nothing.
    fn add(&self, run: &Simulation) -> PyResult<()> {
        let inner = run.lock()?;
        locked(&self.0).add(&inner.run.frame());
        Ok(())
    }

    /// Total energy when the account was opened [J].
    #[getter]
    fn initial(&self) -> f64 {
        locked(&self.0).initial
    }

    /// Kinetic energy [J].
    #[getter]
    fn kinetic(&self) -> f64 {
        locked(&self.0).kinetic
    }

    /// Potential energy in gravity, springs, elasticity and soft contacts [J].
    #[getter]
    fn potential(&self) -> f64 {
        locked(&self.0).potential
    }

    /// Energy dissipated by normal impulses of contacts, or by their damping [J].
    #[getter]
    fn impact(&self) -> f64 {
        locked(&self.0).impact
    }

    /// Energy dissipated by friction [J].
    #[getter]
    fn friction(&self) -> f64 {
        locked(&self.0).friction
    }

    /// Energy taken by adhesive forces: what it took to separate shapes, less what was gained when they came within
    /// the range of cohesion [J].
    #[getter]
    fn cohesion(&self) -> f64 {
        locked(&self.0).cohesion
    }

    /// Energy dissipated by rolling resistance [J].
    #[getter]
    fn rolling(&self) -> f64 {
        locked(&self.0).rolling
    }

    /// Energy dissipated by ropes that tighten [J].
    #[getter]
    fn ropes(&self) -> f64 {
        locked(&self.0).ropes
    }

    /// All energy dissipated by contacts and ropes [J].
    #[getter]
    fn dissipated(&self) -> f64 {
        locked(&self.0).dissipated()
    }

    /// The rest of the balance [J], positive if it was added: work of drives, of forces with a law and of dampers, and the
    /// error of the time integration.
    #[getter]
    fn other(&self) -> f64 {
        locked(&self.0).other()
    }

    fn __repr__(&self) -> String {
        let account = locked(&self.0);
        format!(
            "<EnergyAccount: kinetic {:?} J, potential {:?} J, dissipated {:?} J>",
            account.kinetic,
            account.potential,
            account.dissipated()
        )
    }
}

/// How many pairs of bodies touch, that is, carry an impulse above rounding errors. `add` is an observer.
///
/// >>> import riprap as rr
/// >>> steel = rr.Material("steel", density=7800.0)
/// >>> scene = rr.SceneBuilder()
/// >>> floor = scene.add_fixed(rr.Shape.half_space(), material=steel)
/// >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), steel, position=(0, 0, 0.1)))
/// >>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
/// >>> count = rr.ContactCount()
/// >>> _ = run.until(0.1, observer=count.add)
/// >>> count.touching, count.onsets
/// ([(0, 1)], 1)
#[pyclass(frozen, module = "riprap")]
pub struct ContactCount(Mutex<CoreCount>);

#[pymethods]
impl ContactCount {
    #[new]
    fn new() -> ContactCount {
        ContactCount(Mutex::default())
    }

    /// Counts the last step of the simulation; a step that was counted before changes nothing.
    fn add(&self, run: &Simulation) -> PyResult<()> {
        let inner = run.lock()?;
        locked(&self.0).add(&inner.run.frame());
        Ok(())
    }

    /// Pairs that touched in the last step, as indices of bodies.
    #[getter]
    fn touching(&self) -> Vec<(u32, u32)> {
        locked(&self.0).touching.iter().map(|[a, b]| (*a, *b)).collect()
    }

    /// Number of times that a pair started to touch.
    #[getter]
    fn onsets(&self) -> u64 {
        locked(&self.0).onsets
    }

    /// Sum over the steps of the number of touching pairs.
    #[getter]
    fn pair_steps(&self) -> u64 {
        locked(&self.0).pair_steps
    }

    /// Number of steps with a touching pair.
    #[getter]
    fn contact_steps(&self) -> u64 {
        locked(&self.0).contact_steps
    }

    fn __repr__(&self) -> String {
        let count = locked(&self.0);
        format!("<ContactCount: {} touching, {} onsets>", count.touching.len(), count.onsets)
    }
}

/// How often each kind of event happened in a run with `RigidEvents`.
///
/// >>> import riprap as rr
/// >>> scene = rr.SceneBuilder()
/// >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), rr.Material("steel", density=7800.0)))
/// >>> rr.Simulation(scene.build(), rr.RigidEvents(dt=1e-3)).events.collisions
/// 0
#[pyclass(frozen, get_all, module = "riprap")]
pub struct Events {
    /// Collisions that were solved; simultaneous ones count once.
    collisions: u64,
    /// Steps that were shortened to end at an event.
    located: u64,
    /// Trial steps that were halved.
    halvings: u64,
    /// Contacts that stopped sliding.
    stops: u64,
    /// Inconsistent configurations (Painlevé) that were resolved by an impulse.
    inconsistent: u64,
    /// Steps of the shortest length that accepted an event within them.
    shortest: u64,
}

#[pymethods]
impl Events {
    fn __repr__(&self) -> String {
        let Events { collisions, located, stops, .. } = self;
        format!("<Events: {collisions} collisions, {located} located, {stops} stops>")
    }
}

#[pymethods]
impl Simulation {
    /// What happened so far in a run with `RigidEvents`; zeros for other schemes.
    #[getter]
    fn events(&self) -> PyResult<Events> {
        let EventCount { collisions, located, halvings, stops, inconsistent, shortest } =
            RigidEvents::events(self.lock()?.run.state());
        Ok(Events { collisions, located, halvings, stops, inconsistent, shortest })
    }
}

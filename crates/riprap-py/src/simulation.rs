//! The simulation. It is behind a lock that is only tried, never waited for: a call from a callable or from another thread
//! while a step is in progress is an error, not a deadlock.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use numpy::{PyArray1, PyArray2};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use riprap::scene::State as CoreState;
use riprap::scheme::Scheme as CoreScheme;
use riprap::simulation::{Frame, Observer, OnUnconverged, Simulation as CoreSimulation};
use riprap_io::run::{Phase, Watch};

use crate::attached::Attached;
use crate::errors::{self, BusyError};
use crate::handle::Link;
use crate::law;
use crate::problem::ContactProblem;
use crate::report::{Balance, RunReport, StepReport};
use crate::scene::{Scene, SceneData};
use crate::scheme::Scheme;
use crate::state::State;
use crate::view::{BodyState, GrainsState, JointState, MechanismState};

/// How long steps run before Ctrl-C is looked for.
const SIGNALS: Duration = Duration::from_millis(20);

/// What the lock protects.
pub struct Inner {
    pub run: CoreSimulation,
    /// Wall time of all runs [s].
    wall: f64,
}

impl Inner {
    /// One step, ending no later than `to` if the scheme chooses its steps. An exception in a callable leaves the state as it
    /// was.
    fn advance(&mut self, data: &SceneData, to: Option<f64>) -> PyResult<StepReport> {
        let backup = (!data.raised.is_empty()).then(|| self.run.state().clone());
        let result = match to {
            Some(t) => self.run.advance_to(t),
            None => self.run.step(),
        };
        if let Some(backup) = backup
            && let Err(raised) = law::check(&data.raised)
        {
            self.run.set_state(backup).map_err(errors::step)?;
            return Err(raised);
        }
        result.map(StepReport::from).map_err(errors::step)
    }
}

/// Settles grains; Ctrl-C ends it.
struct Settling<'a> {
    interrupt: &'a AtomicBool,
    last: Instant,
    raised: Option<PyErr>,
}

impl Watch for Settling<'_> {
    fn step(&mut self, _: Phase, _: &Frame) {
        if self.last.elapsed() < SIGNALS {
            return;
        }
        self.last = Instant::now();
        if let Err(error) = Python::attach(|py| py.check_signals()) {
            self.raised = Some(error);
            self.interrupt.store(true, Ordering::Relaxed);
        }
    }
}

/// A scene being simulated with a scheme. A scene file brings its own scheme, settles its grains and decides what happens in
/// steps that do not converge ("accept", "warn" or "fail"; "warn" only counts them here). Other Python threads run while it
/// steps; Ctrl-C ends a run between two steps. Exceptions in laws are raised by the step, which then leaves the state as it
/// was. Rows of arrays are bodies in the order in which they were added.
///
/// >>> import riprap as rr
/// >>> rubber = rr.Material("rubber", density=1100.0, friction=0.8, restitution=0.7)
/// >>> scene = rr.SceneBuilder()
/// >>> floor = scene.add_fixed(rr.Shape.half_space(), material=rubber)
/// >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), rubber, position=(0, 0, 1)))
/// >>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
/// >>> for frame in run.frames(until=0.4, every=0.2):
/// ...     print(f"{frame.time:.1f} s  {frame.body(ball).position[2]:.3f} m")
/// 0.0 s  1.000 m
/// 0.2 s  0.804 m
/// 0.4 s  0.215 m
#[pyclass(frozen, module = "riprap")]
pub struct Simulation {
    inner: Mutex<Inner>,
    pub data: Arc<SceneData>,
}

impl Simulation {
    /// The lock, if no step is in progress.
    pub fn lock(&self) -> PyResult<MutexGuard<'_, Inner>> {
        match self.inner.try_lock() {
            Ok(inner) => Ok(inner),
            // The state is replaced whole at the end of a step.
            Err(TryLockError::Poisoned(poisoned)) => Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(BusyError::new_err(
                "the simulation is in the middle of a step: do not use it from its laws or from another thread until the step ends",
            )),
        }
    }

    /// Rows of an array, by body.
    fn rows<'py, const N: usize>(
        &self,
        py: Python<'py>,
        row: impl Fn(&CoreSimulation, usize) -> [f64; N],
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let inner = self.lock()?;
        let slots = &self.data.scene.bodies().slots;
        let mut rows = Vec::with_capacity(N * slots.len());
        for slot in slots {
            rows.extend_from_slice(&row(&inner.run, *slot as usize));
        }
        crate::convert::table(py, rows, N)
    }

    /// Steps until `t` or until the time for signals has come; returns whether `t` was reached.
    fn run_some(&self, py: Python, t: f64, steps: &mut u64, once: bool) -> PyResult<bool> {
        let mut guard = self.lock()?;
        let inner = &mut *guard;
        let data = &*self.data;
        py.detach(|| {
            let begin = Instant::now();
            let chooses = inner.run.scheme().chooses_steps();
            let result = loop {
                let over = if chooses { inner.run.time() >= t } else { *steps == 0 };
                if over {
                    break Ok(true);
                }
                let before = inner.run.time();
                if let Err(error) = inner.advance(data, Some(t)) {
                    break Err(error);
                }
                if chooses && inner.run.time() <= before {
                    break Err(errors::step(format!("no progress at t = {before} s")));
                }
                *steps = steps.saturating_sub(1);
                if once || begin.elapsed() > SIGNALS {
                    break Ok(false);
                }
            };
            inner.wall += begin.elapsed().as_secs_f64();
            result
        })
    }

    /// Runs until `t`; a true answer of the observer ends the run.
    fn run_until(slf: &Bound<Self>, t: f64, observer: Option<&Bound<PyAny>>) -> PyResult<()> {
        let (py, this) = (slf.py(), slf.get());
        if t.is_nan() {
            return Err(errors::value("the end time must be a number of seconds"));
        }
        let mut steps = {
            let inner = this.lock()?;
            ((t - inner.run.time()) / inner.run.scheme().dt()).round().max(0.0) as u64
        };
        let stops = || observer.map_or(Ok(false), |f| f.call1((slf,))?.is_truthy());
        if stops()? {
            return Ok(());
        }
        while !this.run_some(py, t, &mut steps, observer.is_some())? {
            py.check_signals()?;
            if stops()? {
                break;
            }
        }
        Ok(())
    }
}

impl Observer for Settling<'_> {
    fn observe(&mut self, frame: &Frame) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.step(Phase::Settling, frame);
        Ok(())
    }

    fn stop(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }
}

/// The state in which the grains have settled; None if nothing settles.
fn settled(
    py: Python,
    data: &SceneData,
    scheme: Option<&Scheme>,
    on_unconverged: OnUnconverged,
) -> PyResult<Option<CoreState>> {
    let interrupt = AtomicBool::new(false);
    let mut watch = Settling { interrupt: &interrupt, last: Instant::now(), raised: None };
    let settled = py.detach(|| match (&data.file, &data.settling, scheme) {
        (Some((file, built)), _, _) => built.settling.as_ref().map(|settling| {
            riprap_io::run::settle(file, built, settling, None, &interrupt, &mut watch)
        }),
        (None, Some(settling), Some(scheme)) => {
            Some(settling.run(&data.scene, scheme.settling(), on_unconverged, &mut watch))
        }
        _ => None,
    });
    match watch.raised {
        Some(raised) => Err(raised),
        None => settled.map(|one| Ok(one.map_err(errors::step)?.state)).transpose(),
    }
}

/// The scheme: the one given, or that of the scene file.
fn scheme_of(data: &SceneData, scheme: Option<&Scheme>) -> PyResult<Box<dyn CoreScheme>> {
    match (scheme, &data.file) {
        (Some(scheme), _) => Ok(scheme.build()),
        (None, Some((file, _))) => Ok(file.scheme()),
        (None, None) => Err(errors::value(
            "a scene built in Python needs a scheme, such as MoreauJean(dt=1e-3)",
        )),
    }
}

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (scene, scheme=None, *, on_unconverged=None, settle=true))]
    fn new(
        py: Python,
        scene: &Scene,
        scheme: Option<&Scheme>,
        on_unconverged: Option<&str>,
        settle: bool,
    ) -> PyResult<Simulation> {
        let data = Arc::clone(&scene.0);
        let given = scheme;
        let mut scheme = scheme_of(&data, given)?;
        if !data.raised.is_empty() {
            scheme = Box::new(Attached(scheme));
        }
        let mut run = CoreSimulation::new(data.scene.clone(), scheme).map_err(errors::step)?;
        let on_unconverged = match (on_unconverged, &data.file) {
            (None, None) | (Some("accept"), _) => OnUnconverged::Accept,
            (None, Some((file, _))) => file.on_unconverged(),
            (Some("warn"), _) => OnUnconverged::Warn,
            (Some("fail"), _) => OnUnconverged::Fail,
            (Some(other), _) => {
                return Err(errors::value(format!("no `{other}`: accept, warn, fail")));
            }
        };
        run.on_unconverged(on_unconverged);
        if settle && let Some(state) = settled(py, &data, given, on_unconverged)? {
            run.set_state(state).map_err(errors::step)?;
        }
        Ok(Simulation { inner: Mutex::new(Inner { run, wall: 0.0 }), data })
    }

    /// Performs one step. StepError if it fails; the state is then as it was.
    fn step(&self, py: Python) -> PyResult<StepReport> {
        let mut guard = self.lock()?;
        let (inner, data) = (&mut *guard, &*self.data);
        py.detach(|| {
            let begin = Instant::now();
            let report = inner.advance(data, None);
            inner.wall += begin.elapsed().as_secs_f64();
            report
        })
    }

    /// Runs until a time [s]. The observer is called with the simulation at the start and after every step; a true answer
    /// ends the run.
    #[pyo3(signature = (t, observer=None))]
    fn until(slf: &Bound<Self>, t: f64, observer: Option<&Bound<PyAny>>) -> PyResult<RunReport> {
        Simulation::run_until(slf, t, observer)?;
        slf.get().report()
    }

    /// Runs until a time [s] and gives the simulation itself at the start and after every interval [s].
    #[pyo3(signature = (*, until, every))]
    fn frames(slf: &Bound<Self>, until: f64, every: f64) -> PyResult<Frames> {
        if !(every > 0.0 && every.is_finite() && until.is_finite()) {
            return Err(errors::value("`until` must be finite and `every` positive"));
        }
        let start = slf.get().lock()?.run.time();
        Ok(Frames { run: slf.clone().unbind(), start, until, every, next: Mutex::new(0) })
    }

    /// Time [s].
    #[getter]
    fn time(&self) -> PyResult<f64> {
        Ok(self.lock()?.run.time())
    }

    /// Length of a step [s]; the longest one if the scheme chooses its steps.
    #[getter]
    fn dt(&self) -> PyResult<f64> {
        Ok(self.lock()?.run.scheme().dt())
    }

    /// The scene.
    #[getter]
    fn scene(&self) -> Scene {
        Scene(Arc::clone(&self.data))
    }

    /// Summary of all steps so far.
    #[getter]
    fn report(&self) -> PyResult<RunReport> {
        let inner = self.lock()?;
        let mut report = inner.run.report();
        report.wall = inner.wall;
        Ok(RunReport(report))
    }

    /// Positions of the centres of mass [m]; of a fixed or moving body, of the origin of its shape. One row per body.
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.rows(py, |run, slot| run.state().q[slot].position.into())
    }

    /// Orientations as quaternions w, x, y, z; one row per body.
    #[getter]
    fn rotations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.rows(py, |run, slot| crate::convert::wxyz(&run.state().q[slot].rotation))
    }

    /// Velocities of the centres of mass [m/s]; one row per body.
    #[getter]
    fn velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.rows(py, |run, slot| run.state().v[slot].linear.into())
    }

    /// Angular velocities [rad/s]; one row per body.
    #[getter]
    fn angular_velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.rows(py, |run, slot| run.state().v[slot].angular.into())
    }

    /// The current state of a body: a BodyHandle, a name, or a mechanism and a link.
    fn body(&self, body: &Bound<PyAny>) -> PyResult<BodyState> {
        let body = self.data.body(body)?;
        let inner = self.lock()?;
        let slot = self.data.scene.slot(body);
        Ok(BodyState::new(
            inner.run.pose(body),
            inner.run.velocity(body),
            self.data.scene.bodies().mass[slot],
        ))
    }

    /// The current state of a group of grains: a GrainsHandle or its name.
    fn grains(&self, group: &Bound<PyAny>) -> PyResult<GrainsState> {
        let (start, end) = self.data.group(group)?;
        let inner = self.lock()?;
        let slots = &self.data.scene.bodies().slots[start as usize..end as usize];
        let state = inner.run.state();
        let of = |slot: &u32| (state.q[*slot as usize], state.v[*slot as usize]);
        Ok(GrainsState::new(slots.iter().map(of).collect()))
    }

    /// The current coordinates of a mechanism: a MechanismHandle or its name.
    fn mechanism(&self, mechanism: &Bound<PyAny>) -> PyResult<MechanismState> {
        let index = self.data.mechanism(mechanism)?.index();
        let inner = self.lock()?;
        let state = &inner.run.state().mechanisms[index];
        Ok(MechanismState::new(state.q.clone(), state.v.clone()))
    }

    /// The current position and velocity of the k-th coordinate of the joint that carries a link.
    #[pyo3(signature = (mechanism, link, k=0))]
    fn joint(&self, mechanism: &Bound<PyAny>, link: &Link, k: usize) -> PyResult<JointState> {
        let id = self.data.mechanism(mechanism)?;
        self.data.link(id, link)?;
        let system = &self.data.scene.mechanisms()[id.index()];
        let n = system.joint(link.core()).coordinate_names().len();
        if k >= n {
            return Err(errors::value(format!("the joint has {n} coordinates, not {}", k + 1)));
        }
        let at = riprap::multibody::Coordinate(system.first_coordinate(link.core()).0 + k as u32);
        let inner = self.lock()?;
        let state = &inner.run.state().mechanisms[id.index()];
        let position = system.q_of(at).map_or(f64::NAN, |q| state.q[q]);
        Ok(JointState { position, velocity: state.v[at.0 as usize] })
    }

    /// Mean tension of a rope over the last step [N].
    fn tension(&self, rope: &Bound<PyAny>) -> PyResult<f64> {
        let index = self.data.rope(rope)?.index();
        let inner = self.lock()?;
        let frame = inner.run.frame();
        Ok(frame.state.ropes[index].tension(frame.dt))
    }

    /// The contacts of the last step as a structured array: bodies (indices), point [m], normal from the first body to the
    /// second, gap [m], force on the second body [N].
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let inner = self.lock()?;
        let frame = inner.run.frame();
        let (mut bodies, mut points) = (Vec::new(), Vec::new());
        let (mut normals, mut gaps, mut forces) = (Vec::new(), Vec::new(), Vec::new());
        for contact in frame.contacts() {
            bodies.extend(contact.bodies.map(|body| body.0));
            points.extend(<[f64; 3]>::from(contact.point));
            normals.extend(<[f64; 3]>::from(contact.normal));
            gaps.push(contact.gap);
            forces.extend(<[f64; 3]>::from(contact.force));
        }
        let numpy = py.import("numpy")?;
        let dtype: [(&str, &str, Vec<usize>); 5] = [
            ("bodies", "u4", vec![2]),
            ("point", "f8", vec![3]),
            ("normal", "f8", vec![3]),
            ("gap", "f8", vec![]),
            ("force", "f8", vec![3]),
        ];
        let fields: Vec<Bound<PyAny>> = dtype
            .iter()
            .map(|(name, kind, shape)| {
                let shape = pyo3::types::PyTuple::new(py, shape)?;
                (*name, *kind, shape).into_bound_py_any(py)
            })
            .collect::<PyResult<_>>()?;
        let array = numpy.call_method1("zeros", (gaps.len(), fields))?;
        let n = gaps.len();
        let shaped = |list: Vec<f64>| crate::convert::table(py, list, 3);
        let pairs = PyArray1::from_vec(py, bodies);
        array.set_item("bodies", pairs.call_method1("reshape", (n, 2))?)?;
        array.set_item("point", shaped(points)?)?;
        array.set_item("normal", shaped(normals)?)?;
        array.set_item("gap", PyArray1::from_vec(py, gaps))?;
        array.set_item("force", shaped(forces)?)?;
        Ok(array)
    }

    /// Resultant contact force on a body over the last step [N].
    fn contact_force<'py>(
        &self,
        py: Python<'py>,
        body: &Bound<PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let body = self.data.body(body)?;
        let inner = self.lock()?;
        Ok(crate::convert::vector(py, &inner.run.frame().contact_force(body)))
    }

    /// Energies and momenta.
    fn balance(&self) -> PyResult<Balance> {
        Ok(Balance(self.lock()?.run.frame().balance()))
    }

    /// The contact problem of the last step, with its impulses [N s].
    fn contact_problem(&self) -> PyResult<ContactProblem> {
        let inner = self.lock()?;
        let work = inner.run.frame().work;
        Ok(ContactProblem::new(work.problem().clone(), Some(work.impulses().clone())))
    }

    /// The state, from which a simulation of the same scene continues with bitwise identical results.
    #[getter]
    fn state(&self) -> PyResult<State> {
        Ok(State(self.lock()?.run.state().clone()))
    }

    #[setter]
    fn set_state(&self, state: Bound<State>) -> PyResult<()> {
        let state = state.get().0.clone();
        self.lock()?.run.set_state(state).map_err(|error| errors::value(error.to_string()))
    }

    /// Writes the state to a file.
    fn save(&self, py: Python, path: PathBuf) -> PyResult<()> {
        self.state()?.into_pyobject(py)?.call_method1("save", (path,)).map(|_| ())
    }

    /// Continues from the state in a file.
    fn load(&self, py: Python, path: PathBuf) -> PyResult<()> {
        let state = py.get_type::<State>().call_method1("load", (path,))?;
        self.set_state(state.cast_into()?)
    }

    /// Sets the drag on free bodies from now on [1/s].
    fn drag(&self, rate: f64) -> PyResult<()> {
        self.lock()?.run.drag(rate);
        Ok(())
    }

    /// Positions, rotations, velocities and angular velocities in one dictionary, for storing.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let arrays = PyDict::new(py);
        arrays.set_item("positions", self.positions(py)?)?;
        arrays.set_item("rotations", self.rotations(py)?)?;
        arrays.set_item("velocities", self.velocities(py)?)?;
        arrays.set_item("angular_velocities", self.angular_velocities(py)?)?;
        Ok(arrays)
    }

    fn __repr__(&self) -> String {
        match self.lock() {
            Ok(inner) => format!("<Simulation at t = {:?} s>", inner.run.time()),
            Err(_) => "<Simulation in the middle of a step>".into(),
        }
    }
}

/// The frames of a run: an iterator over the simulation at equal intervals.
#[pyclass(frozen, module = "riprap")]
pub struct Frames {
    run: Py<Simulation>,
    start: f64,
    until: f64,
    every: f64,
    next: Mutex<u64>,
}

#[pymethods]
impl Frames {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python) -> PyResult<Option<Py<Simulation>>> {
        let k = {
            let mut next = self.next.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            *next += 1;
            *next - 1
        };
        let t = self.start + k as f64 * self.every;
        // Decimal intervals are whole multiples up to rounding.
        if t > self.until + 1e-9 * self.every {
            return Ok(None);
        }
        Simulation::run_until(self.run.bind(py), t, None)?;
        Ok(Some(self.run.clone_ref(py)))
    }
}

//! The simulation. It is behind a lock that is only tried, never waited for: a call from a callable or from another thread
//! while a step is in progress is an error, not a deadlock.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, TryLockError};

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use riprap::math::Vec3;
use riprap::scene::State as CoreState;
use riprap::scheme::Scheme as CoreScheme;
use riprap::simulation::{ContactForce, OnUnconverged, Simulation as CoreSimulation};
use riprap_io::build::Settling;
use riprap_io::output::{Snapshot, Surfaces};

use crate::attached::Attached;
use crate::backup::Backup;
use crate::errors::{self, BusyError};
use crate::exit;
use crate::handle::Link;
use crate::law;
use crate::problem::ContactProblem;
use crate::records::Records;
use crate::report::{Balance, RunReport, StepReport};
use crate::scene::{Scene, SceneData};
use crate::scheme::Scheme;
use crate::shape::Shape;
use crate::start;
use crate::state::State;
use crate::threads::Threads;
use crate::view::{BodyState, GrainsState, JointState, MechanismState};
use crate::watch::Watching;

/// What the lock protects.
pub struct Inner {
    pub run: CoreSimulation,
    /// Wall time of all runs [s].
    pub wall: f64,
    /// The state before the last step, if there are callables.
    backup: Backup,
}

impl Inner {
    /// One step, ending no later than `to` if the scheme chooses its steps. An exception in a callable leaves the state as it
    /// was.
    pub fn advance(&mut self, data: &SceneData, to: Option<f64>) -> PyResult<StepReport> {
        let calls = !data.raised.is_empty();
        if calls {
            self.backup.keep(self.run.state());
        }
        let result = match to {
            Some(t) => self.run.advance_to(t),
            None => self.run.step(),
        };
        if calls && let Err(raised) = law::check(&data.raised) {
            self.run.set_state(self.backup.state()).map_err(errors::step)?;
            return Err(raised);
        }
        result.map(StepReport::from).map_err(errors::step)
    }
}

/// The state in which the grains of a scene have settled.
fn settled(
    py: Python,
    data: &SceneData,
    settling: &Settling,
    scheme: Option<&Scheme>,
    threads: &Threads,
    progress: Option<&Bound<PyAny>>,
) -> PyResult<CoreState> {
    let (moreau_jean, on_unconverged) = match (&data.file, scheme) {
        (Some((file, _)), _) => (file.moreau_jean(), file.on_unconverged()),
        (None, Some(scheme)) => (scheme.moreau_jean(), OnUnconverged::Accept),
        (None, None) => return Err(errors::value("a scheme is needed")),
    };
    let mut watch = Watching::settling(settling.at_most(), progress);
    let done = exit::detach(py, || {
        let settle = || settling.run(&data.scene, moreau_jean, on_unconverged, &mut watch);
        let done = threads.run(settle);
        watch.close();
        done
    });
    match watch.raised {
        Some(raised) => Err(raised),
        None => Ok(done.map_err(errors::step)?.state),
    }
}

/// A scene being simulated with a scheme. A scene file brings its own scheme, settles its grains and decides what happens in
/// steps that do not converge ("accept", "warn" or "fail"; "warn" only counts them here). Other Python threads run while it
/// steps; Ctrl-C ends a run between two steps. Exceptions in laws are raised by the step, which then leaves the state as it
/// was. Rows of arrays are bodies in the order in which they were added; see `ids` if stones break.
///
/// `start_from` is another run from whose end this one starts: the folder of a run, or a simulation. Bodies, mechanisms, flexible
/// bodies, joints and ropes go on where they have the same name in both scenes, `continued` tells what carries over, and nothing
/// settles. The time starts at 0, or goes on with `continue_time`. A scene may be changed in any way in between; its bodies must not
/// overlap as described either, unless the builder accepts it.
///
/// It uses `threads` threads of its own, or by default those that all simulations of the process share: all cores, or as many as the
/// environment variable RAYON_NUM_THREADS says when the first one steps. Results do not depend on their number.
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
    pub threads: Threads,
    /// What carried over from the run that it started from.
    continued: Option<Vec<String>>,
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
        let mut rows = Vec::with_capacity(N * inner.run.scene().bodies().len());
        for slot in slots(&inner.run) {
            rows.extend_from_slice(&row(&inner.run, slot));
        }
        crate::convert::table(py, rows, N)
    }
}

/// Indices of the bodies in the lists of the state, by id; bodies that have broken are left out.
fn slots(run: &CoreSimulation) -> impl Iterator<Item = usize> + '_ {
    let slots = run.scene().bodies().slots.iter();
    slots.filter(|slot| **slot != u32::MAX).map(|slot| *slot as usize)
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
    #[pyo3(signature = (scene, scheme=None, *, on_unconverged=None, settle=true, start_from=None, continue_time=false, threads=None, progress=None))]
    fn new(
        py: Python,
        scene: &Scene,
        scheme: Option<&Scheme>,
        on_unconverged: Option<&str>,
        settle: bool,
        start_from: Option<&Bound<PyAny>>,
        continue_time: bool,
        threads: Option<usize>,
        progress: Option<&Bound<PyAny>>,
    ) -> PyResult<Simulation> {
        let threads = Threads::new(threads)?;
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
        let begun = start::state(py, &data, run.scheme().dt(), start_from, continue_time)?;
        let mut continued = None;
        if let Some((state, report)) = begun {
            run.set_state(state).map_err(errors::step)?;
            continued = Some(report.lines());
        } else if let Some(settling) = data.settling.as_ref().filter(|_| settle) {
            let state = settled(py, &data, settling, given, &threads, progress)?;
            run.set_state(state).map_err(errors::step)?;
        }
        Ok(Simulation {
            inner: Mutex::new(Inner { run, wall: 0.0, backup: Backup::default() }),
            data,
            threads,
            continued,
        })
    }

    /// What carried over from the run given as `start_from`, and what did not, in lines of text; None without one.
    #[getter]
    fn continued(&self) -> Option<Vec<String>> {
        self.continued.clone()
    }

    /// Time [s].
    #[getter]
    pub fn time(&self) -> PyResult<f64> {
        Ok(self.lock()?.run.time())
    }

    /// Length of a step [s]; the longest one if the scheme chooses its steps.
    #[getter]
    fn dt(&self) -> PyResult<f64> {
        Ok(self.lock()?.run.scheme().dt())
    }

    /// Number of threads that it uses.
    #[getter]
    fn threads(&self) -> usize {
        self.threads.count()
    }

    /// The scene.
    #[getter]
    fn scene(&self) -> Scene {
        Scene(Arc::clone(&self.data))
    }

    /// Summary of all steps so far.
    #[getter]
    pub fn report(&self) -> PyResult<RunReport> {
        let inner = self.lock()?;
        let mut report = inner.run.report();
        report.wall = inner.wall;
        Ok(RunReport(report))
    }

    /// Index of the body in each row of the arrays (`BodyHandle.index`): 0, 1, 2, … until a stone breaks; then broken stones are
    /// missing, and pieces follow.
    #[getter]
    fn ids<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<u32>>> {
        let inner = self.lock()?;
        let ids = &inner.run.scene().bodies().ids;
        let list = slots(&inner.run).map(|slot| ids[slot]).collect();
        Ok(PyArray1::from_vec(py, list))
    }

    /// Name of the body in each row of the arrays.
    #[getter]
    fn names(&self) -> PyResult<Vec<String>> {
        let inner = self.lock()?;
        let names = &inner.run.scene().bodies().names;
        Ok(slots(&inner.run).map(|slot| names[slot].clone()).collect())
    }

    /// Mass of the body in each row of the arrays [kg]; infinite for bodies that impulses do not move.
    #[getter]
    fn masses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let inner = self.lock()?;
        let masses = &inner.run.scene().bodies().mass;
        let list = slots(&inner.run).map(|slot| masses[slot]).collect();
        Ok(PyArray1::from_vec(py, list))
    }

    /// Current shape of a body, in its own frame: worn stones and pieces have other shapes than described.
    fn shape(&self, body: &Bound<PyAny>) -> PyResult<Shape> {
        let inner = self.lock()?;
        let body = self.data.present(body, inner.run.scene())?;
        Ok(Shape::of(inner.run.scene().shape(body).clone()))
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
        let inner = self.lock()?;
        let body = self.data.present(body, inner.run.scene())?;
        let mass = inner.run.scene().bodies().mass[inner.run.scene().slot(body)];
        Ok(BodyState::new(inner.run.pose(body), inner.run.velocity(body), mass))
    }

    /// The current state of a group of grains: a GrainsHandle or its name. Grains that have broken are left out; see `pieces`.
    fn grains(&self, group: &Bound<PyAny>) -> PyResult<GrainsState> {
        let (start, end) = self.data.group(group)?;
        let inner = self.lock()?;
        let slots = &inner.run.scene().bodies().slots[start as usize..end as usize];
        let state = inner.run.state();
        let of = |slot: &u32| (state.q[*slot as usize], state.v[*slot as usize]);
        let present = slots.iter().filter(|slot| **slot != u32::MAX);
        Ok(GrainsState::new(present.map(of).collect()))
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

    /// The contacts of the last step as a structured array: bodies (ids, `BodyHandle.index`), point [m], normal from the first body to the
    /// second, gap [m], force on the second body [N].
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let inner = self.lock()?;
        let frame = inner.run.frame();
        let contacts: Vec<ContactForce> = frame.contacts().collect();
        let mut records = Records::new(py, contacts.len());
        let vectors = |of: fn(&ContactForce) -> Vec3| {
            contacts.iter().flat_map(|c| <[f64; 3]>::from(of(c))).collect::<Vec<f64>>()
        };
        let bodies = contacts.iter().flat_map(|c| c.bodies.map(|body| body.0)).collect();
        records.integers("bodies", bodies, 2)?;
        records.numbers("point", vectors(|c| c.point), 3)?;
        records.numbers("normal", vectors(|c| c.normal), 3)?;
        records.numbers("gap", contacts.iter().map(|c| c.gap).collect(), 1)?;
        records.numbers("force", vectors(|c| c.force), 3)?;
        records.array()
    }

    /// Resultant contact force on a body over the last step [N].
    fn contact_force<'py>(
        &self,
        py: Python<'py>,
        body: &Bound<PyAny>,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let inner = self.lock()?;
        let body = self.data.present(body, inner.run.scene())?;
        Ok(crate::convert::vector(py, &inner.run.frame().contact_force(body)))
    }

    /// Energies and momenta.
    fn balance(&self) -> PyResult<Balance> {
        Ok(Balance(self.lock()?.run.frame().balance()))
    }

    /// The contact problem of the last step, with the impulses that solve it [N s]: with cohesion, those that act on
    /// the bodies together with the adhesive ones.
    fn contact_problem(&self) -> PyResult<ContactProblem> {
        let inner = self.lock()?;
        let work = inner.run.frame().work;
        let mut impulses = work.impulses().clone();
        work.contacts().adhere_to(&mut impulses);
        Ok(ContactProblem::new(work.problem().clone(), Some(impulses)))
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

    /// All bodies as a pandas.DataFrame with one row per body: name, mass, position, velocity and angular velocity, with units
    /// in the names of the columns.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("riprap._tables")?.call_method1("bodies_to_pandas", (slf,))
    }

    /// All bodies as an xarray.Dataset over body and axis: mass, position, rotation, velocity and angular velocity, with
    /// units as attributes.
    fn to_xarray<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("riprap._tables")?.call_method1("bodies_to_xarray", (slf,))
    }

    /// Draws the bodies with `riprap.plot.show`, which has the options.
    #[pyo3(signature = (**options))]
    fn show<'py>(
        slf: &Bound<'py, Self>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("riprap.plot")?.call_method("show", (slf,), options)
    }

    /// A picture, for notebooks; None without matplotlib.
    fn _repr_png_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("riprap.plot")?.call_method1("png", (slf,))
    }

    /// The surfaces of all bodies, as the content of a VTP file.
    fn _surfaces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let inner = self.lock()?;
        let frame = inner.run.frame();
        let surfaces = Surfaces::new(frame.scene).bodies(&Snapshot::of(&frame));
        Ok(PyBytes::new(py, &surfaces.to_vtp()))
    }

    fn __repr__(&self) -> String {
        match self.lock() {
            Ok(inner) => format!("<Simulation at t = {:?} s>", inner.run.time()),
            Err(_) => "<Simulation in the middle of a step>".into(),
        }
    }
}

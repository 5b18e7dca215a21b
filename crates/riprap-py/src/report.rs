//! Reports of steps, runs and solves.

use std::collections::BTreeMap;

use numpy::PyArray1;
use pyo3::prelude::*;

use riprap::friction::SolveReport as CoreSolve;
use riprap::scheme::{StageTimes, StepReport as CoreStep};
use riprap::simulation::{Balance as CoreBalance, RunReport as CoreRun};

use crate::convert;

/// Summary of one step: length [s], contacts, pairs tested, sweeps, residual [–], deepest overlap [m].
///
/// >>> import riprap as rr
/// >>> scene = rr.SceneBuilder()
/// >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), rr.Material("steel", density=7800.0)))
/// >>> rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3)).step().contacts
/// 0
#[pyclass(frozen, get_all, module = "riprap")]
#[derive(Clone)]
pub struct StepReport {
    /// Length of the step [s].
    dt: f64,
    /// Contacts in the contact problem.
    contacts: usize,
    /// Pairs of colliders tested.
    pairs: usize,
    /// Whether the solver converged.
    converged: bool,
    /// Sweeps of the solver.
    sweeps: usize,
    /// Residual of the contact laws [–].
    residual: f64,
    /// Deepest overlap [m].
    penetration: f64,
    /// Largest residual of the loops [m, –].
    loop_residual: f64,
    /// Newton iterations of an implicit scheme.
    newton: usize,
    /// How often the step was halved because an iteration did not converge.
    halvings: u32,
    /// Report of the solver.
    solve: SolveReport,
    /// Wall time of the step [s].
    wall: f64,
    /// Wall time of each stage [s]: free, detect, assemble, solve, update.
    times: BTreeMap<&'static str, f64>,
}

/// Wall times of the stages of a step [s].
fn stages(times: &StageTimes) -> BTreeMap<&'static str, f64> {
    let StageTimes { free, detect, assemble, solve, update } = times;
    let all = [
        ("free", free),
        ("detect", detect),
        ("assemble", assemble),
        ("solve", solve),
        ("update", update),
    ];
    all.map(|(name, time)| (name, time.as_secs_f64())).into()
}

impl From<CoreStep> for StepReport {
    fn from(step: CoreStep) -> StepReport {
        StepReport {
            dt: step.dt,
            contacts: step.contacts,
            pairs: step.pairs,
            converged: step.solve.converged,
            sweeps: step.solve.sweeps,
            residual: step.solve.residual,
            penetration: step.penetration,
            loop_residual: step.loop_residual,
            newton: step.newton,
            halvings: step.halvings,
            solve: SolveReport::new(&step.solve, step.times.solve.as_secs_f64()),
            wall: step.times.total().as_secs_f64(),
            times: stages(&step.times),
        }
    }
}

#[pymethods]
impl StepReport {
    fn __repr__(&self) -> String {
        let StepReport { dt, contacts, sweeps, residual, .. } = self;
        format!(
            "<StepReport: dt {dt:?} s, {contacts} contacts, {sweeps} sweeps, residual {residual:.1e}>"
        )
    }
}

/// Summary of all steps of a simulation; `str(report)` is that of the command line.
///
/// >>> import riprap as rr
/// >>> scene = rr.SceneBuilder()
/// >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), rr.Material("steel", density=7800.0)))
/// >>> rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3)).until(0.01).steps
/// 10
#[pyclass(frozen, module = "riprap")]
#[derive(Clone)]
pub struct RunReport(pub CoreRun);

#[pymethods]
impl RunReport {
    /// Number of steps.
    #[getter]
    fn steps(&self) -> u64 {
        self.0.steps
    }

    /// Number of steps whose solve did not converge.
    #[getter]
    fn unconverged(&self) -> u64 {
        self.0.unconverged
    }

    /// Mean number of contacts per step [–].
    #[getter]
    fn mean_contacts(&self) -> f64 {
        self.0.mean_contacts()
    }

    /// Maximum number of contacts in a step.
    #[getter]
    fn max_contacts(&self) -> usize {
        self.0.contacts.1
    }

    /// Mean number of sweeps per step [–].
    #[getter]
    fn mean_sweeps(&self) -> f64 {
        self.0.mean_sweeps()
    }

    /// Largest residual of any step [–].
    #[getter]
    fn worst_residual(&self) -> f64 {
        self.0.worst_residual
    }

    /// Deepest overlap [m].
    #[getter]
    fn penetration(&self) -> f64 {
        self.0.penetration
    }

    /// Largest residual of the loops after any step [m, –].
    #[getter]
    fn loop_residual(&self) -> f64 {
        self.0.loop_residual
    }

    /// Mean number of Newton iterations per step [–]; 0 for an explicit scheme.
    #[getter]
    fn mean_newton(&self) -> f64 {
        self.0.mean_newton()
    }

    /// Number of steps that were halved because an iteration did not converge.
    #[getter]
    fn halved(&self) -> u64 {
        self.0.halved
    }

    /// The criterion that most often decided the end of a solve, by its key in scene files, and its fraction of the steps with
    /// contacts [–]; None without contacts.
    #[getter]
    fn deciding_criterion(&self) -> Option<(&'static str, f64)> {
        self.0.deciding_criterion().map(|(criterion, share)| (criterion.key(), share))
    }

    /// Largest approach velocity × dt of any step, relative to the resolution of the scene [–].
    #[getter]
    fn worst_approach(&self) -> f64 {
        self.0.worst_approach
    }

    /// Wall time of each stage, summed over the steps [s]: free, detect, assemble, solve, update.
    #[getter]
    fn times(&self) -> BTreeMap<&'static str, f64> {
        stages(&self.0.times)
    }

    /// Wall time, observers included [s].
    #[getter]
    fn wall(&self) -> f64 {
        self.0.wall
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<RunReport: {} steps>", self.0.steps)
    }
}

/// Energies [J], momentum [kg m/s] and angular momentum about the origin [kg m²/s] of everything that moves.
///
/// >>> import riprap as rr
/// >>> scene = rr.SceneBuilder(gravity=(0, 0, 0))
/// >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), rr.Material("steel", density=7800.0), mass=2.0, velocity=(3, 0, 0)))
/// >>> rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3)).balance().kinetic
/// 9.0
#[pyclass(frozen, module = "riprap")]
#[derive(Clone)]
pub struct Balance(pub CoreBalance);

#[pymethods]
impl Balance {
    /// Kinetic energy [J]; in a sheared periodic cell that of the motion relative to the flow.
    #[getter]
    fn kinetic(&self) -> f64 {
        self.0.kinetic
    }

    /// Potential energy [J].
    #[getter]
    fn potential(&self) -> f64 {
        self.0.potential
    }

    /// Linear momentum [kg m/s].
    #[getter]
    fn momentum<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        convert::vector(py, &self.0.momentum)
    }

    /// Angular momentum about the origin [kg m²/s].
    #[getter]
    fn angular_momentum<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        convert::vector(py, &self.0.angular_momentum)
    }

    fn __repr__(&self) -> String {
        format!("<Balance: kinetic {:?} J, potential {:?} J>", self.0.kinetic, self.0.potential)
    }
}

/// Summary of a solve of a contact problem.
///
/// >>> import riprap as rr
/// >>> problem = rr.ContactProblem([[0.5, 0, 0], [0, 0.5, 0], [0, 0, 0.5]], v_free=[[-1.0, 0.2, 0.0]], friction=[0.5])
/// >>> rr.solve(problem).report.converged
/// True
#[pyclass(frozen, get_all, module = "riprap")]
#[derive(Clone)]
pub struct SolveReport {
    /// Whether every criterion holds.
    converged: bool,
    /// Sweeps over all contacts, or iterations.
    sweeps: usize,
    /// Residual in the measure of the solver [–].
    residual: f64,
    /// Worst approach velocity × dt, relative to the resolution of the scene [–].
    approach: f64,
    /// Root mean square change of velocity in the last sweep, relative to W I [–].
    velocity_change_rms: f64,
    /// Largest change of velocity in the last sweep, relative to W I [–].
    velocity_change_max: f64,
    /// The criterion nearest to its tolerance at the end, or furthest beyond it, by its key in scene files.
    decided_by: &'static str,
    /// Wall time [s].
    wall: f64,
}

impl SolveReport {
    pub fn new(report: &CoreSolve, wall: f64) -> SolveReport {
        SolveReport {
            converged: report.converged,
            sweeps: report.sweeps,
            residual: report.residual,
            approach: report.approach,
            velocity_change_rms: report.velocity_change_rms,
            velocity_change_max: report.velocity_change_max,
            decided_by: report.decided_by.key(),
            wall,
        }
    }
}

#[pymethods]
impl SolveReport {
    fn __repr__(&self) -> String {
        let SolveReport { converged, sweeps, residual, .. } = self;
        format!("<SolveReport: converged {converged}, {sweeps} sweeps, residual {residual:.1e}>")
    }
}

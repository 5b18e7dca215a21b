//! The façade: owns scene, state and workspace, runs the steps and calls observers. It adds no
//! physics.

mod account;
mod changes;
mod fabric;
mod measures;
mod network;

pub use account::{ContactCount, EnergyAccount};
pub use fabric::{Fabric, ForceDistribution, rose};
pub use measures::{Coordination, Flow, Impact, Measures, NormalForces, Region, Slope, impacts};
pub use network::{ForceNetwork, NetworkContact, Resultant};

use crate::degradation::{Degradation, Loads};
use crate::friction::Criterion;
use crate::math::parallel::in_pool;
use crate::math::{Pose, Vec3};
use crate::population::Exchange;
use crate::scene::{Body, Scene, SchemeState, State, Twist, differs};
use crate::scheme::{Pulse, Scheme, StageTimes, StepError, StepReport, StepResult, Workspace};
use std::sync::Arc;
use std::time::Instant;

/// Number of bodies above which a step takes long enough that moving it to another thread costs
/// nothing.
const LARGE: usize = 500;

/// What to do when a solve does not converge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnUnconverged {
    /// Count it in the report.
    #[default]
    Accept,
    /// Count it; callers with a user interface should warn.
    Warn,
    /// End the run with an error after the step; the state is that at the end of the step.
    Fail,
}

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A step failed.
    #[error(transparent)]
    Step(#[from] StepError),
    /// A solve did not converge and the run was set to fail in that case.
    #[error(
        "the contact problem at t = {t:.6} s did not converge: residual {residual:.1e} after {sweeps} sweeps; allow \
         more sweeps, loosen the tolerance, or accept unconverged steps"
    )]
    Unconverged {
        /// End of the step [s].
        t: f64,
        /// Residual reached [–].
        residual: f64,
        /// Number of sweeps.
        sweeps: usize,
    },
    /// The state belongs to another scene.
    #[error("the state holds {bodies} bodies, the scene {expected}: it belongs to another scene")]
    WrongState {
        /// Bodies in the state.
        bodies: usize,
        /// Bodies in the scene.
        expected: usize,
    },
    /// An observer failed.
    #[error("{0}")]
    Observer(Box<dyn std::error::Error + Send + Sync>),
}

/// A read-only view of a run at one time.
#[derive(Clone, Copy)]
pub struct Frame<'a> {
    /// The scene.
    pub scene: &'a Scene,
    /// The state.
    pub state: &'a State,
    /// The workspace of the step that led here, with contacts and impulses (empty initially).
    pub work: &'a Workspace,
    /// Report of that step.
    pub step: &'a StepReport,
    /// Length of that step [s]; before the first step, the step length of the scheme.
    pub dt: f64,
}

/// A contact at the time of a frame.
#[derive(Clone, Copy, Debug)]
pub struct ContactForce {
    /// The two bodies.
    pub bodies: [Body; 2],
    /// Contact point [m]; in a periodic cell next to the first body, which the nearest image of the second touches.
    pub point: Vec3,
    /// Normal from the first body to the second [–].
    pub normal: Vec3,
    /// Gap [m].
    pub gap: f64,
    /// Mean force over the step on the second body [N].
    pub force: Vec3,
}

impl Frame<'_> {
    /// The contacts of the last step with their mean forces.
    pub fn contacts(&self) -> impl Iterator<Item = ContactForce> + '_ {
        let (dt, scene) = (self.dt, self.scene);
        self.work.contacts().active().zip(self.work.impulses()).map(move |(c, r)| ContactForce {
            bodies: c.bodies.map(|slot| scene.body_at(slot as usize)),
            point: c.point.point,
            normal: c.point.normal,
            gap: c.point.gap,
            force: c.impulse_w(r) / dt,
        })
    }

    /// Energies and momenta.
    pub fn balance(&self) -> Balance {
        Balance::of(self.scene, self.state)
    }

    /// Resultant contact force on a body over the last step [N].
    pub fn contact_force(&self, body: Body) -> Vec3 {
        let mut sum = Vec3::zeros();
        for c in self.contacts() {
            if c.bodies[1] == body {
                sum += c.force;
            } else if c.bodies[0] == body {
                sum -= c.force;
            }
        }
        sum
    }
}

/// Energies and momenta of free bodies, mechanisms and flexible bodies.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Balance {
    /// Kinetic energy [J]; in a sheared periodic cell that of the motion relative to the flow `v_x = γ̇ y`.
    pub kinetic: f64,
    /// Potential energy in gravity and constant forces, zero at the origin, in the springs of mechanisms, of elasticity, and
    /// of soft contacts [J].
    pub potential: f64,
    /// Linear momentum [kg m/s].
    pub momentum: Vec3,
    /// Angular momentum about the origin [kg m²/s].
    pub angular_momentum: Vec3,
}

impl Balance {
    /// Sums over the free bodies, the mechanisms and the flexible bodies.
    pub fn of(scene: &Scene, state: &State) -> Balance {
        let bodies = scene.bodies();
        let mut sum = Balance::default();
        let rate = scene.shear_rate(state.t);
        for i in (0..bodies.len()).filter(|&i| bodies.movable[i] && bodies.carried[i].is_none()) {
            let (q, v, m) = (&state.q[i], &state.v[i], bodies.mass[i]);
            let spin = bodies.inertia_w(i, &q.rotation) * v.angular;
            let beyond_flow = v.linear - Vec3::x() * (rate * q.position.y);
            sum.kinetic += 0.5 * (m * beyond_flow.norm_squared() + v.angular.dot(&spin));
            sum.potential -= (scene.gravity() * m + bodies.force[i]).dot(&q.position);
            sum.momentum += v.linear * m;
            sum.angular_momentum += q.position.cross(&v.linear) * m + spin;
        }
        for (system, state) in scene.mechanisms().iter().zip(&state.mechanisms) {
            let mut work = system.scratch();
            let (kinetic, potential) = system.energy(&state.q, &state.v, &mut work);
            let (linear, angular) = system.momentum(&work);
            sum.kinetic += kinetic;
            sum.potential += potential;
            sum.momentum += linear;
            sum.angular_momentum += angular;
        }
        if let SchemeState::Penalty(soft) = &state.scheme {
            sum.potential += soft.elastic;
        }
        for (body, state) in scene.flexible().iter().zip(&state.flexible) {
            let (kinetic, potential) = body.energy(&state.q, &state.v);
            let (linear, angular) = body.momentum(&state.q, &state.v);
            sum.kinetic += kinetic;
            sum.potential += potential;
            sum.momentum += linear;
            sum.angular_momentum += angular;
        }
        sum
    }
}

/// A read-only observer of a run: a writer, a probe, a progress bar.
pub trait Observer {
    /// Called when a run starts or continues, and after every step.
    fn observe(&mut self, frame: &Frame) -> Result<(), Box<dyn std::error::Error + Send + Sync>>;

    /// Queried before every step; returning true ends the run (on an interrupt or a condition).
    fn stop(&self) -> bool {
        false
    }
}

/// Observes nothing.
impl Observer for () {
    fn observe(&mut self, _: &Frame) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        Ok(())
    }
}

/// Summary of a run over its steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct RunReport {
    /// Number of steps.
    pub steps: u64,
    /// Number of steps whose solve did not converge.
    pub unconverged: u64,
    /// Sum and maximum of the number of contacts over the steps.
    pub contacts: (u64, usize),
    /// Sum and maximum of the number of sweeps over the steps.
    pub sweeps: (u64, usize),
    /// Sum over the steps of contacts × sweeps.
    pub contact_sweeps: u64,
    /// Number of pairs tested, summed over the steps.
    pub pairs: u64,
    /// Number of steps with contacts in which each of [`Criterion::ALL`] decided the end of the solve.
    pub decided_by: [u64; 4],
    /// Largest residual of any step [–].
    pub worst_residual: f64,
    /// Largest approach velocity × dt of any step, relative to [`Scene::resolution`] [–].
    pub worst_approach: f64,
    /// Deepest overlap of the run [m].
    pub penetration: f64,
    /// Largest residual of the mechanisms' loop closures after any step [m, –].
    pub loop_residual: f64,
    /// Sum and maximum of the number of Newton iterations over the steps of an implicit scheme.
    pub newton: (u64, usize),
    /// Number of steps that were halved because an iteration did not converge.
    pub halved: u64,
    /// Wall time per stage.
    pub times: StageTimes,
    /// Total wall time, observers included [s].
    pub wall: f64,
}

impl RunReport {
    /// Adds a step.
    pub fn add(&mut self, step: &StepReport) {
        self.steps += 1;
        self.unconverged += u64::from(!step.solve.converged);
        self.contacts.0 += step.contacts as u64;
        self.contacts.1 = self.contacts.1.max(step.contacts);
        self.sweeps.0 += step.solve.sweeps as u64;
        self.sweeps.1 = self.sweeps.1.max(step.solve.sweeps);
        self.contact_sweeps += (step.contacts * step.solve.sweeps) as u64;
        self.pairs += step.pairs as u64;
        self.decided_by[step.solve.decided_by as usize] += u64::from(step.contacts > 0);
        self.worst_residual = self.worst_residual.max(step.solve.residual);
        self.worst_approach = self.worst_approach.max(step.solve.approach);
        self.penetration = self.penetration.max(step.penetration);
        self.loop_residual = self.loop_residual.max(step.loop_residual);
        self.newton.0 += step.newton as u64;
        self.newton.1 = self.newton.1.max(step.newton);
        self.halved += u64::from(step.halvings > 0);
        self.times.add(&step.times);
    }

    /// Mean number of contacts per step.
    pub fn mean_contacts(&self) -> f64 {
        self.contacts.0 as f64 / self.steps.max(1) as f64
    }

    /// The criterion that most often decided the end of a solve, and its fraction of the steps with
    /// contacts [–].
    pub fn deciding_criterion(&self) -> Option<(Criterion, f64)> {
        let all: u64 = self.decided_by.iter().sum();
        let counted = Criterion::ALL.into_iter().zip(self.decided_by);
        let (criterion, most) = counted.reduce(|a, b| if b.1 > a.1 { b } else { a })?;
        (all > 0).then(|| (criterion, most as f64 / all as f64))
    }

    /// Mean number of Newton iterations per step; 0 for an explicit scheme.
    pub fn mean_newton(&self) -> f64 {
        self.newton.0 as f64 / self.steps.max(1) as f64
    }

    /// Mean number of sweeps per step.
    pub fn mean_sweeps(&self) -> f64 {
        self.sweeps.0 as f64 / self.steps.max(1) as f64
    }
}

impl std::fmt::Display for RunReport {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        writeln!(f, "steps              {} ({} unconverged)", self.steps, self.unconverged)?;
        let (mean, max) = (self.mean_contacts(), self.contacts.1);
        writeln!(f, "contacts           mean {mean:.1}, max {max}")?;
        if self.newton.0 > 0 {
            let (mean, max) = (self.mean_newton(), self.newton.1);
            writeln!(f, "Newton iterations  mean {mean:.1}, max {max}")?;
            writeln!(f, "halved steps       {}", self.halved)?;
            writeln!(f, "deepest overlap    {:.2e} m", self.penetration)?;
            return write!(f, "wall time          {:.2} s", self.wall);
        }
        if self.contacts.0 > 0 && self.sweeps.0 == 0 {
            // Soft contacts have no solver.
            writeln!(f, "deepest overlap    {:.2e} m", self.penetration)?;
            return write!(f, "wall time          {:.2} s", self.wall);
        }
        writeln!(f, "sweeps             mean {:.1}, max {}", self.mean_sweeps(), self.sweeps.1)?;
        if let Some((criterion, share)) = self.deciding_criterion() {
            let percent = 100.0 * share;
            writeln!(f, "deciding criterion {} ({percent:.0} % of the steps)", criterion.key())?;
        }
        writeln!(f, "worst residual     {:.1e}", self.worst_residual)?;
        writeln!(f, "deepest overlap    {:.2e} m", self.penetration)?;
        write!(f, "wall time          {:.2} s", self.wall)
    }
}

/// A scene being simulated.
///
/// ```
/// use riprap::prelude::*;
///
/// /// Stops the run when a body is at rest.
/// struct UntilRest(Body, bool);
///
/// impl Observer for UntilRest {
///     fn observe(&mut self, frame: &Frame) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
///         self.1 = frame.state.t > 0.1 && frame.balance().kinetic < 1e-12;
///         Ok(())
///     }
///
///     fn stop(&self) -> bool {
///         self.1
///     }
/// }
///
/// let clay = Material::new("clay").density(1800.0).friction(0.8);
/// let mut scene = Scene::builder();
/// scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0])?, Pose::IDENTITY, &clay);
/// let lump = scene.add(BodyDescription::new(Shape::sphere(0.1)?, &clay).at([0.0, 0.0, 0.3]), &clay);
///
/// let mut run = Simulation::new(scene.build()?, MoreauJean::new(1e-3))?;
/// let report = run.until(10.0, &mut UntilRest(lump, false))?;
/// assert!(run.time() < 1.0);
/// assert!((run.pose(lump).position.z - 0.1).abs() < 1e-4);
/// println!("{report}"); // steps, contacts, sweeps, residual, overlap, wall time
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Simulation {
    scene: Scene,
    state: State,
    work: Workspace,
    scheme: Box<dyn Scheme>,
    /// Fragmentation and wear; `None` if no material has them, or if they are switched off.
    degradation: Option<Degradation>,
    /// Insertion and removal of bodies; `None` if the scene has none.
    exchange: Option<Exchange>,
    /// The scene as described, once bodies have changed.
    described: Option<Box<Scene>>,
    on_unconverged: OnUnconverged,
    last: StepReport,
    report: RunReport,
}

impl Simulation {
    /// Starts a scene from its initial state.
    pub fn new(scene: Scene, scheme: impl Scheme + 'static) -> Result<Simulation, Error> {
        scheme.check(&scene)?;
        let state = scene.initial_state();
        let degradation = scene.degrades().then(Degradation::default);
        Ok(Simulation {
            degradation,
            exchange: scene.population().map(|_| Exchange::default()),
            described: None,
            scene,
            state,
            work: Workspace::default(),
            scheme: Box::new(scheme),
            on_unconverged: OnUnconverged::default(),
            last: StepReport::default(),
            report: RunReport::default(),
        })
    }

    /// Sets what happens when a solve does not converge.
    pub fn on_unconverged(&mut self, what: OnUnconverged) -> &mut Self {
        self.on_unconverged = what;
        self
    }

    /// Lets `pulse` look into steps that consist of many inner ones, and end the run within one.
    pub fn pulse(&mut self, pulse: Arc<Pulse>) -> &mut Self {
        self.work.pulse = Some(pulse);
        self
    }

    /// Sets the rate of the drag on free bodies from now on [1/s]; 0 means none. See
    /// [`Scene::set_drag`].
    pub fn drag(&mut self, rate: f64) -> &mut Self {
        self.scene.set_drag(rate);
        if let Some(described) = &mut self.described {
            described.set_drag(rate);
        }
        self
    }

    /// Whether stones break and wear as their materials say, which they do by default. Otherwise they stay
    /// as they are, for example while a bed settles.
    pub fn degradation(&mut self, on: bool) -> &mut Self {
        self.degradation = (on && self.scene.degrades()).then(Degradation::default);
        self
    }

    /// Performs one step.
    pub fn step(&mut self) -> Result<StepReport, Error> {
        self.advance(|scheme, scene, state, work| scheme.step(scene, state, work))
    }

    /// Performs one step: one that ends no later than `t` [s] if the scheme chooses its step
    /// lengths, one of the fixed length otherwise.
    pub fn advance_to(&mut self, t: f64) -> Result<StepReport, Error> {
        self.advance(|scheme, scene, state, work| scheme.advance_to(t, scene, state, work))
    }

    fn advance(
        &mut self,
        step: impl FnOnce(&dyn Scheme, &Scene, &mut State, &mut Workspace) -> StepResult + Send,
    ) -> Result<StepReport, Error> {
        self.degrade();
        self.exchange();
        let Simulation { scheme, scene, state, work, .. } = self;
        let step = if scene.bodies().len() < LARGE {
            step(&**scheme, scene, state, work)?
        } else {
            in_pool(|| step(&**scheme, scene, state, work))?
        };
        self.last = step;
        self.report.add(&step);
        if let Some(degradation) = &mut self.degradation {
            // A step leaves the state before it in `next`.
            let Workspace { contacts, impulses, system, next, .. } = &self.work;
            let loads = Loads { contacts, impulses, system, before: &next.v, dt: step.dt };
            degradation.observe(&self.scene, &mut self.state, &loads);
        }
        if !step.solve.converged && self.on_unconverged == OnUnconverged::Fail {
            let (residual, sweeps) = (step.solve.residual, step.solve.sweeps);
            return Err(Error::Unconverged { t: self.state.t, residual, sweeps });
        }
        Ok(step)
    }

    /// Runs until time `t` [s], showing every step to `observer`: to the nearest step, or exactly
    /// if the scheme chooses its step lengths. The report covers all steps since the simulation was
    /// created.
    pub fn until(&mut self, t: f64, observer: &mut dyn Observer) -> Result<RunReport, Error> {
        let begin = Instant::now();
        let result = self.run_until(t, observer);
        self.report.wall += begin.elapsed().as_secs_f64();
        result.map(|()| self.report)
    }

    fn run_until(&mut self, t: f64, observer: &mut dyn Observer) -> Result<(), Error> {
        if t.is_nan() {
            let (what, range) = ("the end time", "a number of seconds");
            return Err(StepError::BadParameter { what, value: t, range }.into());
        }
        let chooses = self.scheme.chooses_steps();
        let mut steps = ((t - self.state.t) / self.scheme.dt()).round().max(0.0) as u64;
        observer.observe(&self.frame()).map_err(Error::Observer)?;
        while (if chooses { self.state.t < t } else { steps > 0 }) && !observer.stop() {
            let before = self.state.t;
            match self.advance_to(t) {
                // The state is that of the step before.
                Err(Error::Step(StepError::Interrupted { .. })) if observer.stop() => break,
                step => step?,
            };
            let moved = self.state.t > before;
            if chooses && !moved {
                return Err(StepError::NoProgress { t: before }.into());
            }
            observer.observe(&self.frame()).map_err(Error::Observer)?;
            steps = steps.saturating_sub(1);
        }
        Ok(())
    }

    /// The run at its current time.
    pub fn frame(&self) -> Frame<'_> {
        Frame {
            scene: &self.scene,
            state: &self.state,
            work: &self.work,
            step: &self.last,
            dt: if self.last.dt > 0.0 { self.last.dt } else { self.scheme.dt() },
        }
    }

    /// The scene.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Replaces the state (a restart, or a settled bed as the new initial state). It must belong to
    /// this scene.
    pub fn set_state(&mut self, state: State) -> Result<(), Error> {
        let described = self.described.as_deref().unwrap_or(&self.scene);
        let bodies = state.q.len();
        let scene = match self.described.is_some() || differs(&state) {
            true => {
                let wrong = Error::WrongState { bodies, expected: described.bodies().len() };
                Some(described.clone().in_condition(&state).map_err(|_| wrong)?)
            }
            false => None,
        };
        let fits = scene.as_ref().unwrap_or(&self.scene);
        if !fits_into(&state, fits) {
            return Err(Error::WrongState { bodies, expected: fits.bodies().len() });
        }
        if let Some(scene) = scene {
            let old = std::mem::replace(&mut self.scene, scene);
            self.described.get_or_insert_with(|| Box::new(old));
        }
        self.state = state;
        self.work = Workspace { pulse: self.work.pulse.take(), ..Workspace::default() };
        self.last = StepReport::default();
        Ok(())
    }

    /// The scheme.
    pub fn scheme(&self) -> &dyn Scheme {
        &*self.scheme
    }

    /// Time [s].
    pub fn time(&self) -> f64 {
        self.state.t
    }

    /// Pose of a body's centre of mass.
    ///
    /// # Panics
    ///
    /// Panics if the body has broken or was removed; see [`Scene::contains`].
    pub fn pose(&self, body: Body) -> Pose {
        self.state.q[self.scene.slot(body)]
    }

    /// Velocity of a body.
    ///
    /// # Panics
    ///
    /// Panics if the body has broken or was removed; see [`Scene::contains`].
    pub fn velocity(&self, body: Body) -> Twist {
        self.state.v[self.scene.slot(body)]
    }

    /// Summary over all steps so far.
    pub fn report(&self) -> RunReport {
        self.report
    }
}

/// Whether a state has the bodies, mechanisms, flexible bodies and ropes of a scene.
fn fits_into(state: &State, scene: &Scene) -> bool {
    let (n, mechanisms, flexible) = (scene.bodies().len(), scene.mechanisms(), scene.flexible());
    let lists = &state.degradation;
    let feeds = scene.population().map_or(0, |p| p.insertions.len());
    state.q.len() == n
        && (state.population.feeds.is_empty() || state.population.feeds.len() == feeds)
        && state.v.len() == n
        && state.mechanisms.len() == mechanisms.len()
        && state.mechanisms.iter().zip(mechanisms).all(|(s, m)| m.fits(s))
        && state.flexible.len() == flexible.len()
        && state.flexible.iter().zip(flexible).all(|(s, b)| b.fits(s))
        && state.ropes.len() == scene.ropes().len()
        && [lists.loads.len(), lists.wear.len()].iter().all(|&len| len == 0 || len == n)
}

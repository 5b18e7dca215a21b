//! Time-stepping schemes, one file each, one `step` each.

mod cone_complementarity;
mod dormand_prince;
mod generalized_alpha;
mod moreau_jean;
pub mod penalty;
mod rigid_events;
mod runge_kutta;

pub use crate::multibody::Pulse;
pub use cone_complementarity::{ConeComplementarity, FrictionLaw};
pub use dormand_prince::DormandPrince;
pub use generalized_alpha::{Coefficients, GeneralizedAlpha, Variant};
pub use moreau_jean::MoreauJean;
pub use penalty::{Integrator, NormalLaw, Penalty, PenaltyLaw};
pub use rigid_events::{CollisionFriction, RigidEvents, StepControl};

use crate::assembly::{Contacts, System, SystemError};
use crate::friction::{ContactProblem, Impulses, SolveReport};
use crate::math::{Scratch, bytes_of};
use crate::scene::{Scene, State};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Result of a step: a report, or why it failed.
pub type StepResult = Result<StepReport, StepError>;

/// A time-stepping scheme.
///
/// A scheme is a description; its buffers are in the [`Workspace`], and the data that it needs to
/// resume are in [`State::scheme`].
pub trait Scheme: Send + Sync {
    /// Length of a step [s]; the longest one if the scheme chooses its steps.
    fn dt(&self) -> f64;

    /// Checks its parameters, and whether it can simulate this scene.
    fn check(&self, scene: &Scene) -> Result<(), StepError>;

    /// Advances `state` by one step. On error, `state` is unchanged.
    fn step(&self, scene: &Scene, state: &mut State, work: &mut Workspace) -> StepResult;

    /// Whether the scheme chooses the length of its steps; see [`Scheme::advance_to`].
    fn chooses_steps(&self) -> bool {
        false
    }

    /// Advances `state` by one step: one that ends no later than `t` [s] if the scheme chooses its
    /// steps, one of its fixed length otherwise. On error, `state` is unchanged.
    fn advance_to(
        &self,
        _t: f64,
        scene: &Scene,
        state: &mut State,
        work: &mut Workspace,
    ) -> StepResult {
        self.step(scene, state, work)
    }
}

/// A scheme chosen at run time.
impl Scheme for Box<dyn Scheme> {
    fn dt(&self) -> f64 {
        (**self).dt()
    }

    fn check(&self, scene: &Scene) -> Result<(), StepError> {
        (**self).check(scene)
    }

    fn step(&self, scene: &Scene, state: &mut State, work: &mut Workspace) -> StepResult {
        (**self).step(scene, state, work)
    }

    fn chooses_steps(&self) -> bool {
        (**self).chooses_steps()
    }

    fn advance_to(
        &self,
        t: f64,
        scene: &Scene,
        state: &mut State,
        work: &mut Workspace,
    ) -> StepResult {
        (**self).advance_to(t, scene, state, work)
    }
}

/// Data of a step that can be recomputed: buffers that grow only with the number of contacts. A
/// workspace belongs to one scene; another scene needs another one. The parts are public for users
/// who write their own loop.
#[derive(Debug, Default)]
pub struct Workspace {
    /// Free bodies and mechanisms at the configuration of the step.
    pub system: System,
    /// The contacts of the last step.
    pub contacts: Contacts,
    /// The contact problem of the last step.
    pub problem: ContactProblem,
    /// The impulses of the last step [N s], in the order of its contacts; empty if it failed.
    pub impulses: Impulses,
    /// Scratch of the contact solver.
    pub solver: Scratch,
    /// Scratch of the scheme.
    pub scheme: Scratch,
    /// The state at the end of the step, until the step has succeeded.
    pub next: State,
    /// Progress and interruption of steps that consist of many inner ones.
    pub pulse: Option<Arc<Pulse>>,
}

impl Workspace {
    /// The contacts of the last step.
    pub fn contacts(&self) -> &Contacts {
        &self.contacts
    }

    /// The impulses of the last step [N s], in the order of its contacts.
    pub fn impulses(&self) -> &Impulses {
        &self.impulses
    }

    /// The contact problem of the last step.
    pub fn problem(&self) -> &ContactProblem {
        &self.problem
    }

    /// Bytes held by the buffers of bodies, contacts and solver; without those of mechanisms.
    pub fn bytes(&self) -> usize {
        let next = &self.next;
        self.system.bytes()
            + self.contacts.bytes()
            + self.problem.bytes()
            + bytes_of(&self.impulses)
            + self.solver.bytes()
            + self.scheme.bytes()
            + bytes_of(&next.q)
            + bytes_of(&next.v)
            + bytes_of(&next.warm_start)
    }
}

/// Wall time spent in the stages of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct StageTimes {
    /// Prediction, masses and free velocities.
    pub free: Duration,
    /// Contact detection.
    pub detect: Duration,
    /// Filling the contact problem, corrections, and recalling impulses.
    pub assemble: Duration,
    /// Solving the contact problem.
    pub solve: Duration,
    /// Updating velocities, positions, and remembered impulses.
    pub update: Duration,
}

impl StageTimes {
    /// Sum over the stages.
    pub fn total(&self) -> Duration {
        self.free + self.detect + self.assemble + self.solve + self.update
    }

    /// Adds the times of another step.
    pub fn add(&mut self, other: &StageTimes) {
        self.free += other.free;
        self.detect += other.detect;
        self.assemble += other.assemble;
        self.solve += other.solve;
        self.update += other.update;
    }
}

/// Runs the stages of a step and measures their times.
#[derive(Debug, Default)]
pub struct Clock {
    /// The times so far.
    pub times: StageTimes,
}

impl Clock {
    fn time<R>(place: &mut Duration, stage: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = stage();
        *place += start.elapsed();
        result
    }

    /// Runs a stage of the free motion.
    pub fn free<R>(&mut self, stage: impl FnOnce() -> R) -> R {
        Clock::time(&mut self.times.free, stage)
    }

    /// Runs contact detection.
    pub fn detect<R>(&mut self, stage: impl FnOnce() -> R) -> R {
        Clock::time(&mut self.times.detect, stage)
    }

    /// Runs a stage of the assembly.
    pub fn assemble<R>(&mut self, stage: impl FnOnce() -> R) -> R {
        Clock::time(&mut self.times.assemble, stage)
    }

    /// Runs the solver.
    pub fn solve<R>(&mut self, stage: impl FnOnce() -> R) -> R {
        Clock::time(&mut self.times.solve, stage)
    }

    /// Runs a stage of the update.
    pub fn update<R>(&mut self, stage: impl FnOnce() -> R) -> R {
        Clock::time(&mut self.times.update, stage)
    }
}

/// Summary of one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Length of the step [s].
    pub dt: f64,
    /// Contacts in the contact problem.
    pub contacts: usize,
    /// Pairs of colliders tested.
    pub pairs: usize,
    /// Report of the solver.
    pub solve: SolveReport,
    /// Deepest overlap at `q_m`, after its correction if that is on [m].
    pub penetration: f64,
    /// Largest residual of the loops at the end of the step [m, –].
    pub loop_residual: f64,
    /// Newton iterations of an implicit scheme, over all parts of the step.
    pub newton: usize,
    /// How often the step was halved because an iteration did not converge.
    pub halvings: u32,
    /// Wall time per stage.
    pub times: StageTimes,
}

impl StepReport {
    /// The report of a step with contacts.
    pub fn new(
        dt: f64,
        solve: SolveReport,
        loop_residual: f64,
        contacts: &Contacts,
        times: StageTimes,
    ) -> StepReport {
        StepReport {
            dt,
            contacts: contacts.active().len(),
            pairs: contacts.detector().n_pairs(),
            solve,
            penetration: contacts.penetration(),
            loop_residual,
            newton: 0,
            halvings: 0,
            times,
        }
    }
}

/// Why a step failed. The state is as it was before the step.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    /// A position or velocity is not finite.
    #[error(
        "body `{body}` has a {what} that is not finite at t = {t:.6} s; check its forces and its prescribed \
         motion, or try a smaller dt"
    )]
    NotFinite {
        /// Name of the body.
        body: String,
        /// Position, rotation or velocity.
        what: &'static str,
        /// End of the failed step [s].
        t: f64,
    },
    /// A body rotates too far in one step.
    #[error(
        "body `{body}` spins at {speed:.3e} rad/s at t = {t:.6} s, more than 100 000 rad in one step; check its \
         initial velocity and its torques, or try a smaller dt"
    )]
    TooFast {
        /// Name of the body.
        body: String,
        /// Its angular velocity [rad/s].
        speed: f64,
        /// End of the failed step [s].
        t: f64,
    },
    /// Newton's method found no motion of a flexible body.
    #[error(
        "flexible body `{body}`: no motion found at t = {t:.6} s (Newton's method did not converge); try a smaller dt, more \
         elements, or damping"
    )]
    Flexible {
        /// Name of the flexible body.
        body: String,
        /// End of the failed step [s].
        t: f64,
    },
    /// A mechanism cannot continue.
    #[error(transparent)]
    Mechanism(#[from] crate::multibody::MotionError),
    /// The step was interrupted through its [`Pulse`].
    #[error("the step from t = {t:.6} s was interrupted")]
    Interrupted {
        /// Start of the step [s].
        t: f64,
    },
    /// The scheme cannot move the scene.
    #[error(
        "dormand-prince moves mechanisms without contacts, but body `{body}` is free to move; use moreau-jean for this \
         scene"
    )]
    NeedsContacts {
        /// The first free body.
        body: String,
    },
    /// The Newton iteration of an implicit scheme does not converge, however short the step.
    #[error(
        "the step from t = {t:.6} s does not converge, even when shortened to {dt:.1e} s: the largest correction is that of \
         {what}, the largest violation that of {constraint}; check stiffnesses, joints and initial overlaps, or try a \
         smaller dt"
    )]
    NotConverged {
        /// Body or coordinate with the largest correction.
        what: String,
        /// Constraint with the largest violation.
        constraint: String,
        /// Start of the step [s].
        t: f64,
        /// Its shortest length [s].
        dt: f64,
    },
    /// A velocity without inertia.
    #[error("{what} has no inertia at t = {t:.6} s; give a mass to it or to a body it carries")]
    NoInertia {
        /// Body or coordinate.
        what: String,
        /// Time [s].
        t: f64,
    },
    /// The scheme has no rolling resistance.
    #[error(
        "{scheme} has no rolling resistance; set `rolling` to 0 in all materials, or use moreau-jean for this scene"
    )]
    NoRolling {
        /// The scheme.
        scheme: &'static str,
    },
    /// The scheme has no cohesion.
    #[error(
        "{scheme} has no cohesion; set `cohesion` and `surface_energy` to 0 in all materials and pairs, or use moreau-jean for this scene"
    )]
    NoCohesion {
        /// The scheme, as in a scene file.
        scheme: &'static str,
    },
    /// The scheme has one friction for sticking and sliding contacts.
    #[error(
        "{scheme} has the same friction for sticking and sliding contacts; remove `static_friction` from all materials and pairs, or use moreau-jean for this scene"
    )]
    NoStaticFriction {
        /// The scheme, as in a scene file.
        scheme: &'static str,
    },
    /// The scheme has no restitution.
    #[error(
        "{scheme} has inelastic impacts only, but {contact} has a restitution of {restitution}; set it to 0, or use \
         moreau-jean for this scene"
    )]
    NoRestitution {
        /// The scheme.
        scheme: &'static str,
        /// The pair of materials or the point contact.
        contact: String,
        /// Its coefficient of restitution [–].
        restitution: f64,
    },
    /// The scheme has no ropes.
    #[error(
        "{scheme} has no ropes, but the scene has the rope `{rope}`; use moreau-jean for this scene"
    )]
    NoRopes {
        /// The scheme, as in a scene file.
        scheme: &'static str,
        /// The first rope.
        rope: String,
    },
    /// The scheme has no servos.
    #[error(
        "{scheme} has no servos, but the scene has the servo of {what}; use moreau-jean for this scene"
    )]
    NoServos {
        /// The scheme, as in a scene file.
        scheme: &'static str,
        /// The body or coordinate that the first one moves.
        what: String,
    },
    /// The scheme has no periodic cells.
    #[error(
        "{scheme} has no periodic cells; use moreau-jean, cone-complementarity, or penalty with the Verlet integrator for \
         this scene"
    )]
    NoPeriodic {
        /// The scheme, as in a scene file.
        scheme: &'static str,
    },
    /// The scheme moves free bodies only.
    #[error(
        "{scheme} moves free, fixed and driven bodies, but the scene has {what}; use moreau-jean for this scene"
    )]
    OnlyFree {
        /// The scheme, as in a scene file.
        scheme: &'static str,
        /// The first mechanism, flexible body, rope or joint.
        what: String,
    },
    /// The scheme anchors contacts in faces, edges, corners and balls.
    #[error(
        "{scheme} treats spheres, polyhedra and half-spaces, but `{body}` has a curved shape (capsule, cylinder, cone or rounded); use moreau-jean for this scene"
    )]
    NoCurved {
        /// The scheme, as in a scene file.
        scheme: &'static str,
        /// The first body with such a shape.
        body: String,
    },
    /// No contact forces were found.
    #[error(
        "no contact forces were found at t = {t:.6} s for the bodies around `{a}` and `{b}`; allow more pivots, or use moreau-jean for this scene"
    )]
    NoForces {
        /// One body.
        a: String,
        /// The other body.
        b: String,
        /// Start of the step [s].
        t: f64,
    },
    /// The penalty scheme cannot simulate the scene.
    #[error(transparent)]
    Penalty(#[from] penalty::PenaltyError),
    /// A scheme that chooses its steps makes no progress.
    #[error(
        "the step from t = {t:.6} s did not advance the time; the steps have become too short; try a looser \
         tolerance"
    )]
    NoProgress {
        /// Time at which it is stuck [s].
        t: f64,
    },
    /// A parameter of the scheme is out of range.
    #[error("{what} is {value}, but must be {range}")]
    BadParameter {
        /// Which parameter.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The valid range.
        range: &'static str,
    },
}

impl From<SystemError> for StepError {
    fn from(error: SystemError) -> Self {
        match error {
            SystemError::Mechanism(error) => StepError::Mechanism(error),
            SystemError::NotFinite { body, what, t } => StepError::NotFinite { body, what, t },
            SystemError::Flexible { body, t } => StepError::Flexible { body, t },
            SystemError::TooFast { body, speed, t } => StepError::TooFast { body, speed, t },
        }
    }
}

/// End of the step that starts at `state` [s]: a multiple of `dt` if all steps had this length, so
/// that rounding errors do not accumulate.
fn next_time(state: &State, dt: f64) -> f64 {
    let even = state.step as f64 * dt;
    if (state.t - even).abs() <= 1e-9 * dt { (state.step + 1) as f64 * dt } else { state.t + dt }
}

/// Checks that there are no ropes, for a scheme that has none.
fn check_no_ropes(scheme: &'static str, scene: &Scene) -> Result<(), StepError> {
    match scene.ropes().first() {
        Some(rope) => Err(StepError::NoRopes { scheme, rope: rope.name.clone() }),
        None => Ok(()),
    }
}

/// Checks that nothing adheres and every pair has one friction, for a scheme without these laws.
fn check_plain_contact(scheme: &'static str, scene: &Scene) -> Result<(), StepError> {
    if scene.has_cohesion() {
        return Err(StepError::NoCohesion { scheme });
    }
    if scene.has_static_friction() {
        return Err(StepError::NoStaticFriction { scheme });
    }
    Ok(())
}

/// The body or coordinate that the first servo with a limited speed moves.
fn first_servo(scene: &Scene) -> Option<String> {
    let name = |body| format!("body `{}`", scene.bodies().names[scene.slot(body)]);
    let first = scene.servos().next().map(|(body, _)| name(body));
    first.or_else(|| {
        let limited = scene.mechanisms().iter().find_map(|m| Some((m, m.speed_limits().next()?.0)));
        limited.map(|(m, c)| format!("`{}` in mechanism `{}`", m.coordinate_name(c), m.name()))
    })
}

/// Checks that there are no servos, for a scheme that has none.
fn check_no_servos(scheme: &'static str, scene: &Scene) -> Result<(), StepError> {
    first_servo(scene).map_or(Ok(()), |what| Err(StepError::NoServos { scheme, what }))
}

/// Checks that there is no periodic cell, for a scheme that has none.
fn check_not_periodic(scheme: &'static str, scene: &Scene) -> Result<(), StepError> {
    if scene.cell().is_some() { Err(StepError::NoPeriodic { scheme }) } else { Ok(()) }
}

/// Checks that a step is a positive time.
fn check_dt(dt: f64) -> Result<(), StepError> {
    if dt > 0.0 && dt.is_finite() {
        return Ok(());
    }
    let (what, range) = ("the time step dt", "positive, in seconds");
    Err(StepError::BadParameter { what, value: dt, range })
}

/// Checks that no contact of the scene rebounds or resists rolling.
fn check_inelastic(scene: &Scene, scheme: &'static str) -> Result<(), StepError> {
    if scene.has_rolling() {
        return Err(StepError::NoRolling { scheme });
    }
    let materials = scene.materials();
    let used = |m: usize| scene.uses_material(m);
    for (i, a) in materials.iter().enumerate() {
        for (j, b) in materials.iter().enumerate().skip(i) {
            let restitution = scene.pair_law(i, j).restitution;
            if restitution > 0.0 && used(i) && used(j) {
                let contact = format!("the pair `{}`, `{}`", a.name, b.name);
                return Err(StepError::NoRestitution { scheme, contact, restitution });
            }
        }
    }
    let rebounds = scene.point_contacts().iter().find(|p| p.law.restitution > 0.0);
    rebounds.map_or(Ok(()), |p| {
        let (contact, restitution) = (format!("point contact `{}`", p.name), p.law.restitution);
        Err(StepError::NoRestitution { scheme, contact, restitution })
    })
}

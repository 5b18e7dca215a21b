//! Time-stepping schemes, one file each, one `step` each.

mod dormand_prince;
mod moreau_jean;

pub use dormand_prince::DormandPrince;
pub use moreau_jean::MoreauJean;

use crate::assembly::{Contacts, Dynamics, Mechanisms};
use crate::friction::{ContactProblem, Impulses, SolveReport, SolverScratch};
use crate::math::{Pose, bytes_of, parallel};
use crate::multibody::{MultibodyScratch, SmoothScratch};
use crate::scene::{Scene, State, Twist};
use std::time::{Duration, Instant};

/// A way to advance a scene in time.
pub trait Scheme: Send + Sync {
    /// Length of a step [s].
    fn dt(&self) -> f64;

    /// Whether its parameters make sense, and whether it can move this scene.
    fn check(&self, scene: &Scene) -> Result<(), StepError>;

    /// Advances `state` by one step. On error, `state` is left untouched.
    fn step(
        &self,
        scene: &Scene,
        state: &mut State,
        work: &mut Workspace,
    ) -> Result<StepReport, StepError>;
}

/// A scheme that was chosen while the program runs.
impl Scheme for Box<dyn Scheme> {
    fn dt(&self) -> f64 {
        (**self).dt()
    }

    fn check(&self, scene: &Scene) -> Result<(), StepError> {
        (**self).check(scene)
    }

    fn step(
        &self,
        scene: &Scene,
        state: &mut State,
        work: &mut Workspace,
    ) -> Result<StepReport, StepError> {
        (**self).step(scene, state, work)
    }
}

/// What a step can compute again: buffers that grow only with the number of contacts.
#[derive(Debug, Default)]
pub struct Workspace {
    pub(crate) q_m: Vec<Pose>,
    pub(crate) dynamics: Dynamics,
    pub(crate) mechanisms: Mechanisms,
    pub(crate) smooth: Vec<(SmoothScratch, MultibodyScratch)>,
    pub(crate) contacts: Contacts,
    pub(crate) problem: ContactProblem,
    pub(crate) impulses: Impulses,
    pub(crate) solver: SolverScratch,
    pub(crate) change: Vec<[f64; 6]>,
    pub(crate) next: State,
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

    /// Bytes held by the buffers of bodies, contacts and solver; those of mechanisms are left out.
    pub fn bytes(&self) -> usize {
        let next = &self.next;
        bytes_of(&self.q_m)
            + self.dynamics.bytes()
            + self.contacts.bytes()
            + self.problem.bytes()
            + bytes_of(&self.impulses)
            + self.solver.bytes()
            + bytes_of(&self.change)
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
    /// Filling the contact problem and recalling impulses.
    pub assemble: Duration,
    /// Solving it.
    pub solve: Duration,
    /// Velocities, positions, and what is remembered.
    pub update: Duration,
}

impl StageTimes {
    /// Sum over the stages.
    pub fn total(&self) -> Duration {
        self.free + self.detect + self.assemble + self.solve + self.update
    }

    /// Adds another step's times.
    pub fn add(&mut self, other: &StageTimes) {
        self.free += other.free;
        self.detect += other.detect;
        self.assemble += other.assemble;
        self.solve += other.solve;
        self.update += other.update;
    }
}

/// A clock that hands out the time since it was last asked.
struct Lap(Instant);

impl Lap {
    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.0, now)
    }
}

/// What one step did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Contacts in the contact problem.
    pub contacts: usize,
    /// Pairs of colliders tested.
    pub pairs: usize,
    /// What the solver says.
    pub solve: SolveReport,
    /// Deepest overlap at `q_m` [m].
    pub penetration: f64,
    /// Largest residual of the loops at the end of the step [m, –].
    pub loop_residual: f64,
    /// Wall time per stage.
    pub times: StageTimes,
}

/// Why a step failed. The state is as it was before the step.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum StepError {
    /// A position or velocity is not finite.
    #[error(
        "body `{body}` has a {what} that is not finite at t = {t:.6} s; look at its forces and its prescribed \
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
    /// A mechanism cannot move on.
    #[error(transparent)]
    Mechanism(#[from] crate::multibody::MotionError),
    /// The scheme cannot move the scene.
    #[error(
        "dormand-prince moves mechanisms without contacts, but body `{body}` is free to move; take moreau-jean for this \
         scene"
    )]
    NeedsContacts {
        /// The first free body.
        body: String,
    },
    /// A parameter of the scheme is out of its range.
    #[error("{what} is {value}, but must be {range}")]
    BadParameter {
        /// Which parameter.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What would be right.
        range: &'static str,
    },
}

/// Names the first body with a position or velocity that is not finite.
fn check_finite(scene: &Scene, q: &[Pose], v: &[Twist], t: f64) -> Result<(), StepError> {
    let finite = |x: &crate::math::Vec3| x.iter().all(|c| c.is_finite());
    let good = |i: usize| {
        finite(&v[i].linear)
            && finite(&v[i].angular)
            && finite(&q[i].position)
            && q[i].rotation.coords.iter().all(|c| c.is_finite())
    };
    if parallel::all(q.len(), good) {
        return Ok(());
    }
    for i in 0..q.len() {
        let what = if !finite(&v[i].linear) || !finite(&v[i].angular) {
            "velocity"
        } else if !finite(&q[i].position) {
            "position"
        } else if !q[i].rotation.coords.iter().all(|c| c.is_finite()) {
            "rotation"
        } else {
            continue;
        };
        return Err(StepError::NotFinite { body: scene.bodies().names[i].clone(), what, t });
    }
    Ok(())
}

/// End of the step that begins at `state` [s]: a multiple of `dt` where all steps were of this length, so that rounding
/// does not add up.
fn next_time(state: &State, dt: f64) -> f64 {
    let even = state.step as f64 * dt;
    if (state.t - even).abs() <= 1e-9 * dt { (state.step + 1) as f64 * dt } else { state.t + dt }
}

/// A step is a positive time.
fn check_dt(dt: f64) -> Result<(), StepError> {
    if dt > 0.0 && dt.is_finite() {
        return Ok(());
    }
    let (what, range) = ("the time step dt", "positive, in seconds");
    Err(StepError::BadParameter { what, value: dt, range })
}

//! The state needed to resume a run: time, positions, velocities, and the impulses from which the
//! next solve starts.

use super::degradation::DegradationState;
use super::population::PopulationState;
use crate::flexible::StructureState;
use crate::math::{Pose, Twist};
use crate::multibody::{MultibodyState, SmoothHistory};
use serde::{Deserialize, Serialize};

/// An impulse remembered for the next step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WarmContact {
    /// The two colliders.
    pub colliders: [u32; 2],
    /// Which features met.
    pub feature: u32,
    /// The contact point in the frame of the first collider's body [m].
    pub point_b: [f64; 3],
    /// The impulse on the second body, in the world frame [N s].
    pub impulse_w: [f64; 3],
    /// Slip of the contact due to solver errors while sticking, in the world frame [m].
    pub slip_w: [f64; 3],
    /// Whether it slid at the end of the step; always false without static friction.
    #[serde(default)]
    pub slides: bool,
}

/// A moment of rolling resistance remembered for the next step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WarmMoment {
    /// The two colliders.
    pub colliders: [u32; 2],
    /// The moment on the second body, over a step, in the world frame [N m s].
    pub moment_w: [f64; 3],
}

/// State of a rope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RopeState {
    /// Impulse of the last step: the tension integrated over it [N s].
    pub impulse: f64,
    /// When it broke [s]; `None` as long as it has not.
    pub broken: Option<f64>,
}

impl RopeState {
    /// Mean tension over the last step of length `dt` [s] [N].
    pub fn tension(&self, dt: f64) -> f64 {
        self.impulse / dt
    }
}

/// State of a scene at one time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Time [s].
    pub t: f64,
    /// Number of steps since the start.
    pub step: u64,
    /// Positions `q`: centre of mass [m] and orientation of every body.
    pub q: Vec<Pose>,
    /// Velocities `v` of every body.
    pub v: Vec<Twist>,
    /// Positions and velocities of the mechanisms in joint coordinates. Their bodies are also
    /// included in `q` and `v`, as given by the joints.
    #[serde(default)]
    pub mechanisms: Vec<MultibodyState>,
    /// Positions and velocities of the flexible bodies. Their nodes are also included in `q` and `v`.
    #[serde(default)]
    pub flexible: Vec<StructureState>,
    /// Impulses of the joints between bodies in the last step [N s], three equations each.
    #[serde(default)]
    pub joint_impulses: Vec<[f64; 3]>,
    /// The ropes.
    #[serde(default)]
    pub ropes: Vec<RopeState>,
    /// Impulses of the last step, in the order of its contacts.
    pub warm_start: Vec<WarmContact>,
    /// Moments of rolling resistance of the last step, in the order of its pairs.
    #[serde(default)]
    pub warm_moments: Vec<WarmMoment>,
    /// Data that the scheme itself needs to resume.
    #[serde(default)]
    pub scheme: SchemeState,
    /// Broken and worn stones.
    #[serde(default)]
    pub degradation: DegradationState,
    /// Inserted and removed bodies.
    #[serde(default)]
    pub population: PopulationState,
}

/// Data that a particular scheme needs to resume.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub enum SchemeState {
    /// Nothing: Moreau–Jean is a one-step scheme.
    #[default]
    None,
    /// Dormand–Prince: for each mechanism, step sizes and where to continue from near singular
    /// positions.
    DormandPrince(Vec<SmoothHistory>),
    /// Generalized-α: accelerations and multipliers at the end of the last step.
    GeneralizedAlpha(Box<AlphaState>),
    /// Penalty: tangential springs of the contacts, and energies.
    Penalty(Box<PenaltyState>),
    /// Rigid events: the current step, the contacts with their forces, and counters.
    RigidEvents(Box<RigidEventsState>),
}

/// State of the event-driven scheme at the end of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RigidEventsState {
    /// Length of the next trial step [s].
    pub dt: f64,
    /// Steps without an event since it was last changed.
    pub clean: u32,
    /// Contacts of the last step and their forces at its end, sorted by colliders.
    pub contacts: Vec<HeldContact>,
    /// Energy dissipated by normal impulses of collisions since the start [J].
    pub impact: f64,
    /// Energy dissipated by friction since the start [J].
    pub friction: f64,
    /// What happened since the start.
    pub events: EventCount,
}

/// How often each kind of event happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventCount {
    /// Collisions that were solved; simultaneous ones count once.
    pub collisions: u64,
    /// Steps that were shortened to end at an event.
    pub located: u64,
    /// Trial steps that were halved.
    pub halvings: u64,
    /// Contacts that stopped sliding.
    pub stops: u64,
    /// Inconsistent configurations (Painlevé) that were resolved by an impulse.
    pub inconsistent: u64,
    /// Steps of the shortest length that accepted an event within them.
    pub shortest: u64,
}

/// A contact and its force at the end of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HeldContact {
    /// The two colliders; a point contact has two indices after those of all colliders.
    pub colliders: [u32; 2],
    /// Which features meet.
    pub feature: u32,
    /// Force along the normal and both tangents [N].
    pub force: [f64; 3],
    /// The list it is in.
    pub class: HeldClass,
    /// Whether it slides at the end of the step.
    pub slides: bool,
}

/// The lists of contacts (Schwager and Pöschel 2002, Sec. 6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum HeldClass {
    /// Breaking: no force.
    #[default]
    Breaking,
    /// Static: no relative acceleration.
    Static,
    /// Sliding: the largest friction force.
    Sliding,
}

/// State of the penalty scheme at the end of a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PenaltyState {
    /// Tangential springs of the contacts of the last step, sorted by colliders.
    pub springs: Vec<ContactSpring>,
    /// Elastic energy of all contacts at the end of the step, normal and tangential [J].
    pub elastic: f64,
    /// Energy dissipated by normal damping since the start [J].
    pub damped: f64,
    /// Energy dissipated by friction and tangential damping since the start [J].
    pub rubbed: f64,
    /// The part of [`PenaltyState::rubbed`] since the springs were last cut, in the middle of the
    /// step; the next step counts it again [J].
    pub pending: f64,
}

/// The tangential spring of a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ContactSpring {
    /// The two colliders; a point contact has two indices after those of all colliders.
    pub colliders: [u32; 2],
    /// Which features meet.
    pub feature: u32,
    /// Displacement of the second body relative to the first, in the world frame [m].
    pub stretch: [f64; 3],
    /// Stiffness of the spring [N/m].
    pub stiffness: f64,
}

/// State of the generalized-α scheme at the end of a step. Velocities are ordered as in
/// [`crate::assembly::equations`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AlphaState {
    /// Derivative of the smooth velocity `ṽ̇` [m/s², rad/s²].
    pub acceleration: Vec<f64>,
    /// The pseudo-acceleration `a` [m/s², rad/s²].
    pub pseudo_acceleration: Vec<f64>,
    /// Whether the last step needed the coupled iteration, with which the next one then starts.
    pub coupled: bool,
    /// Multipliers of the contacts that were near in the last step.
    pub contacts: Vec<ContactMultipliers>,
    /// Multipliers of the rows of joints between bodies and of loops.
    pub constraints: Vec<ConstraintMultipliers>,
}

/// Gap and multipliers of a contact at the end of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ContactMultipliers {
    /// The two colliders; a point contact has two indices after those of all colliders.
    pub colliders: [u32; 2],
    /// Which features meet.
    pub feature: u32,
    /// Gap [m].
    pub gap: f64,
    /// Normal velocity [m/s].
    pub velocity: f64,
    /// Multiplier `ν` of the position constraint [kg m].
    pub nu: f64,
    /// Impulse `Λ` over the step along the normal and both tangents [N s].
    pub impulse: [f64; 3],
}

/// What a row of a bilateral constraint belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ConstraintOf {
    /// A joint between bodies, by index.
    Joint(u32),
    /// A loop of a mechanism: mechanism and loop, by index.
    Loop(u32, u32),
}

/// Residuals and multipliers of one row of a bilateral constraint at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConstraintMultipliers {
    /// The joint or loop.
    pub of: ConstraintOf,
    /// Index of the row in it.
    pub equation: u32,
    /// Residual at position level [m, –].
    pub residual: f64,
    /// Residual at velocity level [m/s, 1/s].
    pub velocity: f64,
    /// Multiplier `λ̃` of the smooth motion [N, N m].
    pub lambda: f64,
    /// Multiplier `ν` of the position constraint [kg m, kg m²].
    pub nu: f64,
    /// Impulse `Λ` over the step [N s, N m s].
    pub impulse: f64,
}

impl State {
    /// Takes over the state at the end of a step, at time `t` [s]; `next` keeps the buffers of the
    /// old one.
    pub(crate) fn become_next(&mut self, next: &mut State, t: f64) {
        next.step = self.step + 1;
        next.t = t;
        // No scheme touches it.
        std::mem::swap(&mut self.degradation, &mut next.degradation);
        std::mem::swap(&mut self.population, &mut next.population);
        std::mem::swap(self, next);
    }
}

//! Soft contact: overlapping bodies repel each other by springs and dampers, and the smooth
//! equations of motion are integrated with steps that resolve a collision.
//!
//! The scene is the same as for hard contact; friction and restitution have the same meaning. This
//! file holds the parameters. Forces are in `law.rs`, the two integrators in `verlet.rs` and
//! `rk4.rs`, defaults and stability in `limits.rs`.

mod law;
mod limits;
mod restitution;
mod rk4;
mod verlet;

pub use limits::{DEFAULT_STEPS, FEWEST_STEPS, PenaltyLimits};
pub use restitution::{
    SMALLEST_RESTITUTION, hertz_damping, hertz_restitution, linear_duration, linear_ratio,
    linear_restitution,
};

use super::runge_kutta::not_free;
use super::{
    Scheme, StepError, StepResult, Workspace, check_dt, check_not_periodic, check_plain_contact,
};
use crate::detect::ColliderSet;
use crate::friction::{Coloured, ContactSolver};
use crate::math::{Buffers, Vec3};
use crate::scene::{ContactSpring, PenaltyState, Scene, SchemeState, State};
use law::Laws;

/// The normal law of soft contact; `δ` is the overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NormalLaw {
    /// `F = k δ + c δ̇`, never negative.
    #[default]
    Linear,
    /// Hertz's law with viscoelastic dissipation, never negative (Schwager and Pöschel 2002, Eqs. 4
    /// and 5): `F = 4/3 E* √R (δ^(3/2) + 3/2 A √δ δ̇)`.
    Hertz,
}

/// The integrator of soft contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Integrator {
    /// Velocity Verlet in position form: order 2, one detection per step, any scene.
    #[default]
    Verlet,
    /// Classical Runge–Kutta method: order 4 while contacts neither begin nor end, four detections
    /// per step, free bodies only.
    RungeKutta,
}

/// Parameters of the force laws. Those of a pair of materials take precedence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PenaltyLaw {
    /// Normal law.
    pub normal: NormalLaw,
    /// Stiffness `k` of a contact point under the linear law [N/m]; by default a collision of the
    /// lightest pair lasts [`DEFAULT_STEPS`] steps. Stones that break count as their smallest pieces.
    pub stiffness: Option<f64>,
    /// Damping `c` of a contact point under the linear law [N s/m]; by default that which gives the
    /// restitution of the pair.
    pub damping: Option<f64>,
    /// Dissipation constant `A` of Hertz's law [s]; by default that which gives the restitution of
    /// the pair at [`PenaltyLaw::impact_velocity`].
    pub dissipation: Option<f64>,
    /// Impact velocity for which the restitution holds under Hertz's law [m/s]; by default that of
    /// a fall by half a grain, or the largest initial velocity if that is larger.
    pub impact_velocity: Option<f64>,
    /// Stiffness of the tangential spring relative to the normal one [–]. With 2/7 both
    /// directions of a contact of two spheres have the same period (Silbert et al. 2001).
    pub tangential_ratio: f64,
}

impl Default for PenaltyLaw {
    fn default() -> Self {
        PenaltyLaw {
            normal: NormalLaw::Linear,
            stiffness: None,
            damping: None,
            dissipation: None,
            impact_velocity: None,
            tangential_ratio: 2.0 / 7.0,
        }
    }
}

/// Soft contact (the discrete element method of Cundall and Strack).
///
/// ```
/// use riprap::prelude::*;
///
/// let rubber = Material::new("rubber").density(1100.0).friction(0.8).restitution(0.7);
/// let mut scene = Scene::builder();
/// scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0])?, Pose::IDENTITY, &rubber);
/// let ball = BodyDescription::new(Shape::sphere(0.1)?, &rubber).at([0.0, 0.0, 0.1]);
/// let ball = scene.add(ball.velocity([0.0, 0.0, -1.0]), &rubber);
/// scene.gravity([0.0; 3]);
///
/// let mut run = Simulation::new(scene.build()?, Penalty::new(1e-4))?;
/// run.until(0.1, &mut ())?;
/// assert!((run.velocity(ball).linear.z - 0.7).abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Penalty {
    /// Time step `h` [s].
    pub dt: f64,
    /// The force laws.
    pub law: PenaltyLaw,
    /// The integrator.
    pub integrator: Integrator,
    /// Solver of the joints between bodies and of the ropes, which stay rigid.
    pub solver: Box<dyn ContactSolver>,
}

impl Penalty {
    /// Linear springs resolved by a step `dt` [s], velocity Verlet.
    pub fn new(dt: f64) -> Penalty {
        let solver = Box::new(Coloured::default());
        Penalty { dt, law: PenaltyLaw::default(), integrator: Integrator::Verlet, solver }
    }

    /// Sets the stiffness of a contact point [N/m].
    pub fn stiffness(mut self, stiffness: f64) -> Penalty {
        self.law.stiffness = Some(stiffness);
        self
    }

    /// Sets all parameters of the force laws.
    pub fn law(mut self, law: PenaltyLaw) -> Penalty {
        self.law = law;
        self
    }

    /// Sets the integrator.
    pub fn integrator(mut self, integrator: Integrator) -> Penalty {
        self.integrator = integrator;
        self
    }

    /// Sets the solver of joints between bodies.
    pub fn solver(mut self, solver: impl ContactSolver + 'static) -> Penalty {
        self.solver = Box::new(solver);
        self
    }

    /// The collision that limits the step; `None` if nothing can touch.
    pub fn limits(&self, scene: &Scene) -> Result<Option<PenaltyLimits>, StepError> {
        let laws = self.laws(scene)?;
        Ok(limits::limits(&self.law, self.integrator, &laws, scene, self.dt))
    }

    fn laws(&self, scene: &Scene) -> Result<Laws, PenaltyError> {
        let stiffness = limits::default_stiffness(scene, self.dt);
        let velocity = limits::reference_velocity(&self.law, scene);
        Laws::new(&self.law, scene, stiffness, velocity)
    }

    /// Checks the parameters for a scene and returns its laws.
    fn checked_laws(&self, scene: &Scene) -> Result<Laws, StepError> {
        check_dt(self.dt)?;
        let PenaltyLaw { tangential_ratio: ratio, impact_velocity, .. } = self.law;
        let place = "the scheme".to_owned();
        if !(0.0..=1.0).contains(&ratio) {
            let (what, range) = ("the tangential ratio", "between 0 and 1");
            Err(PenaltyError::OutOfRange { what, place: place.clone(), value: ratio, range })?;
        }
        if let Some(value) = impact_velocity.filter(|v| !(*v > 0.0 && v.is_finite())) {
            let (what, range) = ("the impact velocity", "positive");
            Err(PenaltyError::OutOfRange { what, place, value, range })?;
        }
        if self.integrator == Integrator::RungeKutta {
            check_not_periodic("penalty with the Runge–Kutta integrator", scene)?;
        }
        if scene.has_rolling() {
            Err(PenaltyError::NoRolling)?;
        }
        check_plain_contact("penalty", scene)?;
        if self.integrator == Integrator::RungeKutta
            && let Some(what) = not_free(scene)
        {
            Err(PenaltyError::OnlyFree { what })?;
        }
        if scene.population().is_some() && limits::any_default(&self.law, scene) {
            Err(PenaltyError::NeedsStiffness)?;
        }
        let laws = self.laws(scene)?;
        let limits = limits::limits(&self.law, self.integrator, &laws, scene, self.dt);
        if let Some(limits) = limits.filter(|limits| self.dt > limits.largest_dt) {
            let PenaltyLimits { bodies: [a, b], stiffness, largest_dt, contacts, .. } = limits;
            let dt = self.dt;
            Err(PenaltyError::TooLong { dt, largest_dt, a, b, stiffness, contacts })?;
        }
        Ok(laws)
    }
}

impl Scheme for Penalty {
    fn dt(&self) -> f64 {
        self.dt
    }

    fn check(&self, scene: &Scene) -> Result<(), StepError> {
        self.checked_laws(scene).map(|_| ())
    }

    /// Advances `state` by one step. On error, `state` is unchanged.
    fn step(&self, scene: &Scene, state: &mut State, work: &mut Workspace) -> StepResult {
        let key = (self.dt, self.law, self.integrator, scene.collider_set());
        // Taken out, so that the workspace can be borrowed as a whole.
        let mut known = std::mem::take(work.scheme.of::<Known>());
        if known.key != Some(key) {
            known = Known { laws: self.checked_laws(scene)?, key: Some(key) };
        }
        let step = match self.integrator {
            Integrator::Verlet => verlet::step(self, &known.laws, scene, state, work),
            Integrator::RungeKutta => rk4::step(self, &known.laws, scene, state, work),
        };
        *work.scheme.of::<Known>() = known;
        step
    }
}

/// The laws of a scene, kept from step to step.
#[derive(Default)]
struct Known {
    laws: Laws,
    key: Option<(f64, PenaltyLaw, Integrator, ColliderSet)>,
}

impl Buffers for Known {}

/// Why the penalty scheme cannot simulate a scene.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PenaltyError {
    /// A parameter is out of range.
    #[error("penalty: {what} of {place} is {value}, but must be {range}")]
    OutOfRange {
        /// Which parameter.
        what: &'static str,
        /// Of which pair of materials.
        place: String,
        /// Its value.
        value: f64,
        /// The valid range.
        range: &'static str,
    },
    /// Hertz's law without elasticity.
    #[error(
        "penalty: Hertz's law needs the elasticity of {place}; give `young` to both materials, give `modulus` to the \
         pair, or use normal = \"linear\""
    )]
    NoModulus {
        /// The pair of materials.
        place: String,
    },
    /// A default stiffness, and bodies that come and go.
    #[error(
        "penalty: the default stiffness depends on the lightest bodies, but bodies are inserted or removed during the run; give \
         `stiffness` to the scheme or to all pairs of materials"
    )]
    NeedsStiffness,
    /// The step is above the stability limit.
    #[error(
        "penalty: dt = {dt:.3e} s is above the stability limit of {largest_dt:.3e} s for `{a}` and `{b}` (stiffness \
         {stiffness:.3e} N/m, up to {contacts} contacts per body); use dt = {:.1e} s, or a smaller stiffness or \
         damping", largest_dt / 5.0
    )]
    TooLong {
        /// Time step [s].
        dt: f64,
        /// Stability limit [s].
        largest_dt: f64,
        /// One body of the pair with the smallest limit.
        a: String,
        /// The other body.
        b: String,
        /// Their stiffness [N/m].
        stiffness: f64,
        /// Contacts per body that the limit allows for.
        contacts: usize,
    },
    /// A contact turned out to be stiffer than the step allows.
    #[error(
        "penalty: the contact of `{a}` and `{b}` at t = {t:.6} s is unstable: its stiffness of {stiffness:.3e} N/m \
         needs steps below {largest_dt:.3e} s; use a smaller dt or a smaller stiffness"
    )]
    Unstable {
        /// One body.
        a: String,
        /// The other body.
        b: String,
        /// Start of the step [s].
        t: f64,
        /// Stiffness at the overlap [N/m].
        stiffness: f64,
        /// Stability limit of this contact alone [s].
        largest_dt: f64,
    },
    /// Runge–Kutta steps are for free bodies.
    #[error(
        "penalty: integrator = \"rk4\" moves free bodies only, but the scene has {what}; use integrator = \"verlet\""
    )]
    OnlyFree {
        /// The first mechanism, flexible body or joint.
        what: String,
    },
    /// The scheme has no rolling resistance.
    #[error(
        "penalty has no rolling resistance; set `rolling` to 0 in all materials, or use moreau-jean for this scene"
    )]
    NoRolling,
}

/// Springs of the last step and energies so far.
fn memory(state: &State) -> Option<&PenaltyState> {
    match &state.scheme {
        SchemeState::Penalty(memory) => Some(memory),
        _ => None,
    }
}

/// The spring of the same features in the last step.
fn recall(springs: &[ContactSpring], colliders: [u32; 2], feature: u32) -> Option<&ContactSpring> {
    let first = springs.partition_point(|s| s.colliders < colliders);
    let same = springs[first..].iter().take_while(|s| s.colliders == colliders);
    same.into_iter().find(|s| s.feature == feature)
}

/// The stretch of a spring turned into the tangent plane of a new normal, with the same length [m].
fn turned(stretch: Vec3, normal: &Vec3) -> Vec3 {
    let flat = stretch - normal * normal.dot(&stretch);
    let (before, after) = (stretch.norm(), flat.norm());
    if after > 1e-12 * before { flat * (before / after) } else { Vec3::zeros() }
}

#[cfg(test)]
mod tests;

//! The whole system, free bodies, mechanisms and flexible bodies, in one step of a scheme: prediction, free motion,
//! end of the step. Parameters of a scheme (θ) enter only as times.

use super::bodies::FreeBodies;
use super::flexible::FlexibleBodies;
use super::images::StepImages;
use super::mechanisms::Mechanisms;
use super::ropes::Ropes;
use super::servos::Servos;
use super::spin;
use crate::friction::{BlockVelocities, ContactProblem, Impulses, Incidence};
use crate::math::{Pose, Vec3, bytes_of, parallel};
use crate::multibody::MotionError;
use crate::scene::{Scene, State, Twist};

/// The times of one step: when it starts, when masses, forces and contacts are evaluated (`q_m`),
/// and when it ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Start [s].
    pub t: f64,
    /// End [s]: `t + dt`, rounded so that equal steps end at their multiples.
    pub t_next: f64,
    /// Length `h` [s].
    pub dt: f64,
    /// From the start to `q_m` [s]; `(1−θ) h` for Moreau–Jean.
    pub before: f64,
    /// From `q_m` to the end [s], positive; `θ h` for Moreau–Jean.
    pub after: f64,
}

impl Interval {
    /// Time of `q_m` [s].
    pub fn t_m(&self) -> f64 {
        self.t + self.before
    }
}

/// Why the motion of a system cannot be evaluated.
#[derive(Clone, Debug, PartialEq)]
pub enum SystemError {
    /// A mechanism cannot continue.
    Mechanism(MotionError),
    /// Newton's method found no motion of a flexible body.
    Flexible {
        /// Name of the flexible body.
        body: String,
        /// End of the step [s].
        t: f64,
    },
    /// A position or velocity is not finite.
    NotFinite {
        /// Name of the body.
        body: String,
        /// Position, rotation or velocity.
        what: &'static str,
        /// End of the step [s].
        t: f64,
    },
    /// A body rotates too far in one step.
    TooFast {
        /// Name of the body.
        body: String,
        /// Its angular velocity [rad/s].
        speed: f64,
        /// End of the step [s].
        t: f64,
    },
}

impl From<MotionError> for SystemError {
    fn from(error: MotionError) -> Self {
        SystemError::Mechanism(error)
    }
}

/// Free bodies, mechanisms and flexible bodies at the configuration `q_m` of a step.
#[derive(Debug, Default)]
pub struct System {
    pub(super) q_m: Vec<Pose>,
    pub(super) bodies: FreeBodies,
    pub(super) mechanisms: Mechanisms,
    pub(super) flexible: FlexibleBodies,
    /// The ropes of the contact problem.
    pub(super) ropes: Ropes,
    /// The speed limits of servos in the contact problem.
    pub(super) servos: Servos,
    /// The images of the periodic cell.
    pub(super) images: Option<StepImages>,
    change: BlockVelocities,
    incidence: Incidence,
}

impl System {
    /// Predicts the configuration at which the step is evaluated: `q_m` from `q_n` along `v_n`, then closes the loops,
    /// `h_B(q_m) = 0` (29), (16).
    pub fn predict(
        &mut self,
        scene: &Scene,
        state: &State,
        step: &Interval,
    ) -> Result<(), SystemError> {
        check_spin(scene, &state.v, step)?;
        self.place_images(scene, step);
        scene.integrate(&state.q, &state.v, step.before, &mut self.q_m);
        spin::predict(scene, state, step.before, &mut self.q_m);
        self.mechanisms.predict(scene, state, step, &mut self.q_m)?;
        self.flexible.predict(scene, state, step, &mut self.q_m);
        Ok(())
    }

    /// Free motion, as if there were no contacts: `v_free = v_n + h M⁻¹ f` with masses and forces
    /// at `q_m` (25), (28).
    pub fn free_motion(
        &mut self,
        scene: &Scene,
        state: &State,
        step: &Interval,
    ) -> Result<(), SystemError> {
        self.bodies.free_motion(scene, state, step, &self.q_m);
        let FreeBodies { v_n, v_free, .. } = &mut self.bodies;
        self.mechanisms.free_motion(scene, state, step, &self.q_m, v_n, v_free)?;
        self.flexible.free_motion(scene, state, step, v_n, v_free)?;
        check_finite(scene, &self.q_m, v_free, step.t_next)
    }

    /// End of the step: `v = v_free + M⁻¹ H I`, then `q` from `q_m` along `v`, and dependent joints
    /// follow the independent ones, `h_B(q) = 0`, `v_dep = B v_ind` (28), (30), (16), (20). Returns
    /// the largest residual of the loops [m, –].
    pub fn finish(
        &mut self,
        scene: &Scene,
        state: &State,
        step: &Interval,
        problem: &ContactProblem,
        impulses: &Impulses,
        next: &mut State,
    ) -> Result<f64, SystemError> {
        problem.w.velocity_change_in(impulses, &mut self.incidence, &mut self.change);
        self.bodies.apply(&self.change, &mut next.v);
        scene.integrate(&self.q_m, &next.v, step.after, &mut next.q);
        let residual = self.mechanisms.finish(scene, state, step, &self.change, next)?;
        self.flexible.finish(scene, step, &self.change, next);
        self.mechanisms.follow_bodies(scene, next);
        Ok(residual)
    }

    /// The configuration `q_m` at which masses, forces and contacts are evaluated.
    pub fn q_m(&self) -> &[Pose] {
        &self.q_m
    }

    /// Velocities at the start of the step [m/s, rad/s]; those of the mechanisms' bodies are consistent with the loops at `q_m`.
    pub fn v_n(&self) -> &[Twist] {
        &self.bodies.v_n
    }

    /// Velocities without contact, `v_free` [m/s, rad/s].
    pub fn v_free(&self) -> &[Twist] {
        &self.bodies.v_free
    }

    /// Impulses with which the speed limits of servos braked in the last step, along their axes [N s, N m s]: those of bodies in
    /// the order of [`Scene::servos`] without unlimited ones, then those of coordinates of mechanisms.
    pub fn brakes(&self) -> &[f64] {
        self.servos.brakes()
    }

    /// Bytes held by the buffers; without those of mechanisms.
    pub(crate) fn bytes(&self) -> usize {
        bytes_of(&self.q_m) + self.bodies.bytes() + bytes_of(&self.change) + self.incidence.bytes()
    }
}

/// Names the first body that would rotate by more than [`spin::LARGEST_ANGLE`] while its momentum
/// is conserved.
fn check_spin(scene: &Scene, v: &[Twist], step: &Interval) -> Result<(), SystemError> {
    let bodies = scene.bodies();
    let fast = |i: usize| bodies.tumbles[i] && v[i].angular.norm() * step.dt > spin::LARGEST_ANGLE;
    if parallel::all(v.len(), |i| !fast(i)) {
        return Ok(());
    }
    let Some(i) = (0..v.len()).find(|&i| fast(i)) else { return Ok(()) };
    let (body, speed) = (bodies.names[i].clone(), v[i].angular.norm());
    Err(SystemError::TooFast { body, speed, t: step.t_next })
}

/// Names the first body with a position or velocity that is not finite.
pub(crate) fn check_finite(
    scene: &Scene,
    q: &[Pose],
    v: &[Twist],
    t: f64,
) -> Result<(), SystemError> {
    let finite = |x: &Vec3| x.iter().all(|c| c.is_finite());
    let fault = |i: usize| {
        if !finite(&v[i].linear) || !finite(&v[i].angular) {
            Some("velocity")
        } else if !finite(&q[i].position) {
            Some("position")
        } else if !q[i].rotation.coords.iter().all(|c| c.is_finite()) {
            Some("rotation")
        } else {
            None
        }
    };
    if parallel::all(q.len(), |i| fault(i).is_none()) {
        return Ok(());
    }
    let first = (0..q.len()).find_map(|i| fault(i).map(|what| (i, what)));
    let Some((i, what)) = first else { return Ok(()) };
    Err(SystemError::NotFinite { body: scene.bodies().names[i].clone(), what, t })
}

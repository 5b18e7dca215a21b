//! Event-driven dynamics of rigid bodies (Schwager and Pöschel 2002): contact forces follow from the condition that
//! bodies do not deform, collisions are events, and steps end at them.
//!
//! This file holds the parameters. The five parts of a step (Sec. 4) are in `step.rs`: contacts in `touch.rs`,
//! collisions in `collisions.rs` (Sec. 7), geometry equations and forces in `forces.rs` (Secs. 5 and 6), integration
//! in `motion.rs`, and the events that end a step in `events.rs` (Sec. 9). `project.rs` removes drift.

mod collisions;
mod events;
mod forces;
mod motion;
mod project;
mod step;
mod sweeps;
mod touch;

use super::runge_kutta::not_free;
use super::{
    Scheme, StepError, StepResult, Workspace, check_dt, check_not_periodic, check_plain_contact,
    next_time,
};
use crate::detect::{Collider, Geometry};
use crate::friction::Dantzig;
use crate::scene::{EventCount, RigidEventsState, Scene, SchemeState, State};

/// What ends a step at an event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepControl {
    /// The time of the event is found on an interpolant of the step, and the step is repeated up to it.
    #[default]
    RootFinding,
    /// The step is halved until nothing deforms (Schwager and Pöschel 2002, Sec. 9).
    Halving,
}

/// Friction during collisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CollisionFriction {
    /// Coulomb's law for impulses.
    #[default]
    Coulomb,
    /// None, as in Eqs. (35) and (36).
    None,
}

/// Event-driven dynamics of rigid bodies.
///
/// Free, fixed and driven bodies; every step ends at an event or after [`RigidEvents::dt`].
///
/// ```
/// use riprap::prelude::*;
///
/// let rubber = Material::new("rubber").density(1100.0).restitution(0.8);
/// let mut scene = Scene::builder();
/// scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0])?, Pose::IDENTITY, &rubber);
/// let ball = BodyDescription::new(Shape::sphere(0.1)?, &rubber).at([0.0, 0.0, 1.1]);
/// let ball = scene.add(ball, &rubber);
///
/// let mut run = Simulation::new(scene.build()?, RigidEvents::new(0.02))?;
/// run.until(0.5, &mut ())?;
/// // It fell 1 m and rises with 0.8 of its speed since.
/// let (g, fall) = (9.81_f64, (2.0 / 9.81_f64).sqrt());
/// let since = 0.5 - fall;
/// let height = 0.1 + 0.8 * g * fall * since - 0.5 * g * since * since;
/// assert!((run.pose(ball).position.z - height).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RigidEvents {
    /// Longest step [s].
    pub dt: f64,
    /// Shortest step [s]: an event within it is taken to happen at its end.
    pub dt_min: f64,
    /// Gap below which two bodies touch, and overlap allowed at the start of a step, relative to the size of the
    /// smaller body [–].
    pub tolerance: f64,
    /// Velocity below which contacts are at rest, relative to `√(g d)` for gravity `g` and mean size `d` [–]: slower
    /// collisions are inelastic, slower contacts neither separate nor begin to slide. It ends accumulations of impacts.
    /// At least `√(2 tolerance)`: lower bounces stay within the tolerance.
    pub rest_velocity: f64,
    /// How steps end at events.
    pub control: StepControl,
    /// Friction during collisions.
    pub collision_friction: CollisionFriction,
    /// Solver of forces and collisions.
    pub dantzig: Dantzig,
}

/// Shortest step relative to the longest, if not given [–].
const SHORTEST: f64 = 1e-7;

impl RigidEvents {
    /// Steps of at most `dt` [s], impact times by root finding.
    pub fn new(dt: f64) -> RigidEvents {
        RigidEvents {
            dt,
            dt_min: SHORTEST * dt,
            tolerance: 1e-8,
            rest_velocity: 1e-6,
            control: StepControl::RootFinding,
            collision_friction: CollisionFriction::Coulomb,
            dantzig: Dantzig::default(),
        }
    }

    /// Sets the shortest step [s].
    pub fn shortest(mut self, dt_min: f64) -> RigidEvents {
        self.dt_min = dt_min;
        self
    }

    /// Sets the gap below which bodies touch, relative to the size of the smaller one [–].
    pub fn tolerance(mut self, tolerance: f64) -> RigidEvents {
        self.tolerance = tolerance;
        self
    }

    /// Sets how steps end at events.
    pub fn control(mut self, control: StepControl) -> RigidEvents {
        self.control = control;
        self
    }

    /// Sets the friction during collisions.
    pub fn collision_friction(mut self, friction: CollisionFriction) -> RigidEvents {
        self.collision_friction = friction;
        self
    }

    /// What happened in a run so far; nothing if `state` is not one of this scheme.
    pub fn events(state: &State) -> EventCount {
        memory(state).map_or(EventCount::default(), |memory| memory.events)
    }
}

impl Scheme for RigidEvents {
    fn dt(&self) -> f64 {
        self.dt
    }

    fn check(&self, scene: &Scene) -> Result<(), StepError> {
        check_dt(self.dt)?;
        check_not_periodic("rigid-events", scene)?;
        let out_of_range = |what, value, range| Err(StepError::BadParameter { what, value, range });
        if !(self.dt_min > 0.0 && self.dt_min <= self.dt) {
            return out_of_range(
                "the shortest step dt_min",
                self.dt_min,
                "positive and at most dt",
            );
        }
        if !(1e-12..=1e-2).contains(&self.tolerance) {
            return out_of_range("the tolerance", self.tolerance, "between 1e-12 and 1e-2");
        }
        if !(0.0..=1.0).contains(&self.rest_velocity) {
            return out_of_range("the rest velocity", self.rest_velocity, "between 0 and 1");
        }
        if scene.has_rolling() {
            return Err(StepError::NoRolling { scheme: "rigid-events" });
        }
        check_plain_contact("rigid-events", scene)?;
        let curved = |c: &Collider| matches!(c.geometry, Geometry::Curved(_));
        if let Some(collider) = scene.colliders().iter().find(|c| curved(c)) {
            let body = scene.bodies().names[collider.body as usize].clone();
            return Err(StepError::NoCurved { scheme: "rigid-events", body });
        }
        match not_free(scene) {
            Some(what) => Err(StepError::OnlyFree { scheme: "rigid-events", what }),
            None => Ok(()),
        }
    }

    fn step(&self, scene: &Scene, state: &mut State, work: &mut Workspace) -> StepResult {
        self.advance_to(next_time(state, self.dt), scene, state, work)
    }

    fn chooses_steps(&self) -> bool {
        true
    }

    fn advance_to(
        &self,
        t: f64,
        scene: &Scene,
        state: &mut State,
        work: &mut Workspace,
    ) -> StepResult {
        step::advance(self, t, scene, state, work)
    }
}

/// Contacts and counters of the last step.
fn memory(state: &State) -> Option<&RigidEventsState> {
    match &state.scheme {
        SchemeState::RigidEvents(memory) => Some(memory),
        _ => None,
    }
}

#[cfg(test)]
mod tests;

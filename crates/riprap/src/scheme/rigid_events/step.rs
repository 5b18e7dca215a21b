//! One step: the five parts of Sec. 4, and the control of its length (Sec. 9).

use super::collisions::{Dissipated, Velocities, collide};
use super::events::{Found, Trial};
use super::forces::{Bodies, Equations, Unsolved};
use super::motion::{Leg, Stages, follow, inertias};
use super::project::{Drift, Projection};
use super::touch::{Touch, frame, touching};
use super::{RigidEvents, StepControl, memory};
use crate::assembly::{Contacts, check_finite};
use crate::friction::{Impulses, Scratch, SolveReport};
use crate::math::{Buffers, Pose};
use crate::scene::{HeldContact, RigidEventsState, Scene, SchemeState, State, Twist};
use crate::scheme::{Clock, Scheme, StepError, StepReport, StepResult, Workspace};

/// Trial steps before giving up.
const TRIALS: usize = 200;
/// Inconsistent configurations in a row before giving up.
const PUSHES: usize = 8;
/// Clean steps before the step is doubled.
const CLEAN: u32 = 3;
/// Velocity that counts as none, relative to `√(g d)` [–].
const STILL: f64 = 1e-9;
/// Path of a body in one step relative to its size [–]: longer steps could miss a contact.
const PATH: f64 = 0.25;

/// Buffers of a step.
#[derive(Default)]
struct Room {
    touches: Vec<Touch>,
    equations: Equations,
    stages: Stages,
    projection: Projection,
    /// Poses at the start, and velocities there after collisions.
    q: Vec<Pose>,
    v: Vec<Twist>,
}

impl Buffers for Room {}

/// Advances `state` by one step that ends no later than `t_end` [s].
pub fn advance(
    scheme: &RigidEvents,
    t_end: f64,
    scene: &Scene,
    state: &mut State,
    work: &mut Workspace,
) -> StepResult {
    scheme.check(scene)?;
    let mut room = std::mem::take(work.scheme.of::<Room>());
    let result = advance_in(&mut room, scheme, t_end, scene, state, work);
    if result.is_err() {
        // The contacts found last are not those of a step.
        work.impulses.clear();
        work.contacts.show(scene, std::iter::empty(), 0.0);
    }
    *work.scheme.of::<Room>() = room;
    result
}

/// The same with the buffers taken out of the workspace.
fn advance_in(
    room: &mut Room,
    scheme: &RigidEvents,
    t_end: f64,
    scene: &Scene,
    state: &mut State,
    work: &mut Workspace,
) -> StepResult {
    let Workspace { contacts, impulses, solver, next, .. } = work;
    let mut kept = memory(state).cloned().unwrap_or_default();
    if kept.dt <= 0.0 {
        kept.dt = scheme.dt;
    }
    let before = kept.events;
    let speed = reference_speed(scene, &state.v);
    // A slower bounce stays within the gap that counts as touching.
    let rest = scheme.rest_velocity.max((2.0 * scheme.tolerance).sqrt());
    let limits = Velocities { still: STILL * speed, rest: rest * speed };
    let mut step = Step {
        scheme,
        scene,
        t: state.t,
        limits,
        contacts,
        solver,
        room,
        kept,
        clock: Clock::default(),
    };
    let deepest = step.detect(state);
    step.collide()?;
    step.separate();
    let h = step.integrate(t_end - state.t, next)?;
    step.project(next);
    let t_next = if state.t + h >= t_end - 1e-14 * t_end.abs() { t_end } else { state.t + h };
    check_finite(scene, &next.q, &next.v, t_next)?;

    let Step { mut kept, clock, .. } = step;
    show(scene, &room.touches, deepest, contacts, impulses);
    remember(&room.touches, &mut kept);
    next.clone_rest(state);
    let halvings = (kept.events.halvings - before.halvings) as u32;
    next.scheme = SchemeState::RigidEvents(Box::new(kept));
    state.become_next(next, t_next);
    let solve = SolveReport { converged: true, ..SolveReport::default() };
    let report = StepReport::new(h, solve, 0.0, &work.contacts, clock.times);
    Ok(StepReport { halvings, ..report })
}

/// The velocity that others are small compared to: that of a fall by half the mean size of a body, or without gravity
/// the largest one [m/s].
fn reference_speed(scene: &Scene, v: &[Twist]) -> f64 {
    let size = scene.grain_size();
    let fall = (scene.gravity().norm() * size).sqrt();
    if fall > 0.0 {
        return fall;
    }
    let fastest = |m: f64, v: &Twist| m.max(v.linear.norm() + v.angular.norm() * size);
    let largest = v.iter().fold(0.0, fastest);
    if largest > 0.0 { largest } else { 1.0 }
}

/// A step in progress.
struct Step<'a> {
    scheme: &'a RigidEvents,
    scene: &'a Scene,
    t: f64,
    limits: Velocities,
    contacts: &'a mut Contacts,
    solver: &'a mut Scratch,
    room: &'a mut Room,
    kept: RigidEventsState,
    clock: Clock,
}

impl Step<'_> {
    /// Part 1: the contacts at the start. Returns the deepest overlap [m].
    fn detect(&mut self, state: &State) -> f64 {
        let Room { q, v, touches, stages, .. } = &mut *self.room;
        q.clone_from(&state.q);
        v.clone_from(&state.v);
        follow(self.scene, self.t, self.scheme.dt, q, v);
        inertias(self.scene, q, &mut stages.inverse_inertia);
        let (contacts, tolerance, known) =
            (&mut *self.contacts, self.scheme.tolerance, &self.kept.contacts);
        self.clock.detect(|| touching(self.scene, contacts, (q, v), tolerance, known, touches))
    }

    /// Part 2: collisions change the velocities at once.
    fn collide(&mut self) -> Result<(), StepError> {
        let Room { q, v, touches, stages, equations, .. } = &mut *self.room;
        inertias(self.scene, q, &mut stages.inverse_inertia);
        let bodies = Bodies { scene: self.scene, inverse_inertia: &stages.inverse_inertia };
        let mut spent = Dissipated::default();
        let (scheme, limits, solver) = (self.scheme, &self.limits, &mut *self.solver);
        let parts = (&mut stages.rows, equations, solver);
        let collided = self
            .clock
            .solve(|| collide(scheme, &bodies, (q, v), touches, limits, parts, &mut spent));
        let collided = collided.map_err(|unsolved| self.no_forces(unsolved))?;
        self.kept.events.collisions += u64::from(collided);
        self.kept.impact += spent.impact;
        self.kept.friction += spent.friction;
        if collided {
            self.kept.clean = 0;
        }
        Ok(())
    }

    /// Part 3: contacts whose bodies move apart are dropped; the others are static or sliding.
    fn separate(&mut self) {
        let Room { q, v, touches, equations, stages, projection } = &mut *self.room;
        for touch in touches.iter_mut() {
            let place = touch.at(q, v);
            let s = touch.velocity(&place, q, v);
            let normal = place.normal.dot(&s);
            let slip = s - place.normal * normal;
            touch.held = normal <= self.limits.rest;
            // A contact that slides does so until it stops.
            let stuck = if touch.slides { 10.0 * self.limits.still } else { self.limits.rest };
            touch.slip = (slip.norm() > stuck).then_some(slip);
        }
        equations.islands.group(self.scene, touches, |t| t.held);
        let bodies = Bodies { scene: self.scene, inverse_inertia: &stages.inverse_inertia };
        projection.stop(&bodies, touches, (q, v), self.limits.still);
        stages.restart();
    }

    /// Parts 4 and 5: forces and motion over the longest step without an event in it. Returns its length [s].
    fn integrate(&mut self, left: f64, next: &mut State) -> Result<f64, StepError> {
        let shortest = self.scheme.dt_min.min(left);
        let mut h = self.kept.dt.min(self.longest()).max(shortest);
        // The remainder after this step must not be a rounding error.
        if left - h <= 1e-9 * h {
            h = left;
        }
        let (mut trials, mut pushes, mut shortened) = (0, 0, false);
        loop {
            if let Err(unsolved) = self.trial(h, next) {
                if self.room.stages.stage > 0 && h > shortest {
                    // Not at the start of the step: up to there.
                    (h, shortened) = ((0.5 * h).max(shortest), true);
                    self.kept.events.halvings += 1;
                    continue;
                }
                // No force is consistent: an impulse, and the step begins again.
                pushes += 1;
                if pushes > PUSHES {
                    return Err(self.no_forces(unsolved));
                }
                self.kept.events.inconsistent += 1;
                self.push(unsolved.contact, pushes > 1)?;
                continue;
            }
            let found = self.look(h, next);
            let fraction = match found {
                Found::Nothing => break,
                _ if h <= shortest * (1.0 + 1e-9) => {
                    self.kept.events.shortest += 1;
                    break;
                }
                Found::Event(at) if self.scheme.control == StepControl::RootFinding => {
                    self.kept.events.located += u64::from(!shortened);
                    at
                }
                _ => {
                    self.kept.events.halvings += 1;
                    0.5
                }
            };
            (trials, shortened) = (trials + 1, true);
            if trials >= TRIALS {
                return Err(StepError::NoProgress { t: self.t });
            }
            h = (fraction * h).min((1.0 - 1e-12) * h).max(shortest);
        }
        self.finish(h, shortened, next);
        Ok(h)
    }

    /// Painlevé's paradox: no force is consistent with sliding at some contact of the island of `contact`. An impulse
    /// stops the contacts that slide there; if it does not, they count as static in this step.
    fn push(&mut self, contact: usize, again: bool) -> Result<(), StepError> {
        let Room { touches, equations, stages, .. } = &mut *self.room;
        let islands = &equations.islands;
        let own = islands.members[..islands.len].iter().find(|m| m.contains(&(contact as u32)));
        for &k in own.into_iter().flatten() {
            let touch = &mut touches[k as usize];
            touch.pushed = touch.slip.is_some() && !again;
            if again {
                touch.slip = None;
            }
        }
        stages.restart();
        if !again {
            self.collide()?;
            self.separate();
        }
        Ok(())
    }

    /// Longest step in which no body moves far [s].
    fn longest(&self) -> f64 {
        let bodies = self.scene.bodies();
        let v = &self.room.v;
        let time = |i: usize| {
            let speed = v[i].linear.norm() + v[i].angular.norm() * bodies.radius[i];
            PATH * bodies.size[i] / speed.max(f64::MIN_POSITIVE)
        };
        (0..v.len()).filter(|&i| bodies.movable[i]).map(time).fold(self.scheme.dt, f64::min)
    }

    /// A trial step of length `h` [s].
    fn trial(&mut self, h: f64, next: &mut State) -> Result<(), Unsolved> {
        let Room { q, v, touches, stages, equations, .. } = &mut *self.room;
        let leg = Leg { scheme: self.scheme, scene: self.scene, t: self.t, h };
        let (solver, end) = (&mut *self.solver, (&mut next.q, &mut next.v));
        self.clock.solve(|| leg.integrate((q, v), touches, stages, equations, solver, end))
    }

    /// The first event of a trial step.
    fn look(&mut self, h: f64, next: &State) -> Found {
        let Room { q, v, touches, .. } = &*self.room;
        let trial = trial_of(self.scheme, self.scene, &self.limits, h, (q, v), next);
        let contacts = &mut *self.contacts;
        self.clock.detect(|| trial.first_event(contacts, touches))
    }

    /// Takes over the trial step: impulses, contacts that stop, the length of the next step.
    fn finish(&mut self, h: f64, shortened: bool, next: &State) {
        let Room { q, v, touches, stages, .. } = &mut *self.room;
        let trial = trial_of(self.scheme, self.scene, &self.limits, h, (q, v), next);
        self.kept.events.stops += trial.mark_stops(touches);
        for (touch, impulse) in touches.iter_mut().zip(&stages.impulses) {
            touch.impulse += impulse;
        }
        let kept = &mut self.kept;
        kept.friction += stages.rubbed;
        if shortened {
            let next = match self.scheme.control {
                StepControl::Halving => h,
                _ if h <= self.scheme.dt_min => h,
                // The time between events varies: one short step does not mean that the next is short.
                StepControl::RootFinding => (2.0 * h).max(0.5 * kept.dt),
            };
            (kept.dt, kept.clean) = (kept.dt.min(next).max(self.scheme.dt_min), 0);
        } else {
            kept.clean += 1;
            if kept.clean >= CLEAN || self.scheme.control == StepControl::RootFinding {
                (kept.dt, kept.clean) = ((2.0 * kept.dt).min(self.scheme.dt), 0);
            }
        }
    }

    /// Removes the drift of the contacts that last.
    fn project(&mut self, next: &mut State) {
        let Room { touches, stages, projection, .. } = &mut *self.room;
        inertias(self.scene, &next.q, &mut stages.inverse_inertia);
        let bodies = Bodies { scene: self.scene, inverse_inertia: &stages.inverse_inertia };
        let gap = self.scheme.tolerance * self.scene.grain_size();
        let drift = Drift { gap, velocity: self.limits.still };
        let end = (&mut next.q[..], &mut next.v[..]);
        self.clock.update(|| projection.apply(&bodies, touches, end, &drift));
    }

    /// The error of an island without forces.
    fn no_forces(&self, unsolved: Unsolved) -> StepError {
        let names = &self.scene.bodies().names;
        let [a, b] = self.room.touches[unsolved.contact].bodies.map(|b| names[b].clone());
        StepError::NoForces { a, b, t: self.t }
    }
}

/// The trial step that ended at `next`.
fn trial_of<'a>(
    scheme: &RigidEvents,
    scene: &'a Scene,
    limits: &Velocities,
    h: f64,
    start: (&'a [Pose], &'a [Twist]),
    next: &'a State,
) -> Trial<'a> {
    let (tolerance, still) = (scheme.tolerance, limits.still);
    Trial { scene, h, start, end: (&next.q, &next.v), tolerance, still }
}

/// Contacts and impulses of the step, for observers.
fn show(
    scene: &Scene,
    touches: &[Touch],
    deepest: f64,
    contacts: &mut Contacts,
    impulses: &mut Impulses,
) {
    contacts.show(scene, touches.iter().map(|t| t.point), deepest);
    impulses.clear();
    impulses.extend(touches.iter().map(|t| frame(t.point.normal).map(|e| e.dot(&t.impulse))));
}

/// Contacts and forces that the next step starts from.
fn remember(touches: &[Touch], kept: &mut RigidEventsState) {
    kept.contacts.clear();
    kept.contacts.extend(touches.iter().filter(|t| t.held).map(|t| HeldContact {
        colliders: t.point.colliders,
        feature: t.point.feature,
        force: t.force,
        class: t.class,
        slides: t.slip.is_some() && !t.stops,
    }));
}

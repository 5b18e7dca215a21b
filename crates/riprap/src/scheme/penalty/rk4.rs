//! The classical Runge–Kutta method for free bodies in soft contact: positions, velocities and
//! tangential springs are one system of differential equations, with contacts detected at each
//! stage.

use super::law::{Laws, Push, Touch};
use super::verlet::spring_energy;
use super::{Penalty, memory, recall, turned};
use crate::assembly::{ActiveContact, Contacts, check_finite};
use crate::friction::SolveReport;
use crate::math::{Buffers, Mat3, Pose, Vec3};
use crate::scene::{ContactSpring, PenaltyState, Scene, SchemeState, State, Twist};
use crate::scheme::runge_kutta::{
    Load, Moving, TIMES, WEIGHTS, acceleration, inverse_inertia, law_loads, prescribe,
};
use crate::scheme::{Clock, StepReport, StepResult, Workspace, next_time};

/// Powers of dissipation [W].
#[derive(Clone, Copy, Debug, Default)]
struct Powers {
    damped: f64,
    rubbed: f64,
}

/// A contact at a stage.
#[derive(Clone, Copy, Debug)]
struct StageContact {
    touch: Touch,
    spring: ContactSpring,
    /// Relative velocity in the frame of the contact [m/s].
    v: [f64; 3],
    /// Rate of the spring, in the world frame [m/s].
    rate: Vec3,
    push: Push,
}

/// One evaluation of the right-hand side.
#[derive(Default)]
struct Stage {
    moving: Vec<Moving>,
    rates: Vec<Moving>,
    contacts: Vec<StageContact>,
    powers: Powers,
}

/// Buffers of a step.
#[derive(Default)]
struct Stages {
    stages: [Stage; 4],
    poses: Vec<Pose>,
    twists: Vec<Twist>,
    loads: Vec<Load>,
}

impl Buffers for Stages {}

/// Advances `state` by one step.
pub fn step(
    scheme: &Penalty,
    laws: &Laws,
    scene: &Scene,
    state: &mut State,
    work: &mut Workspace,
) -> StepResult {
    let (dt, t_next, mut clock) = (scheme.dt, next_time(state, scheme.dt), Clock::default());
    let Workspace { contacts, scheme: scratch, next, impulses, .. } = work;
    let mut buffers = std::mem::take(scratch.of::<Stages>());
    let empty = PenaltyState::default();
    let old = memory(state).unwrap_or(&empty);

    for s in 0..4 {
        let (before, stages) = buffers.stages.split_at_mut(s);
        let (stage, last) = (&mut stages[0], before.last());
        let h = TIMES[s] * dt;
        stage.moving.clear();
        stage.moving.extend((0..state.q.len()).map(|i| {
            let start = Moving::of(&state.q[i], &state.v[i]);
            last.map_or(start, |last| start.plus(h, &last.rates[i]))
        }));
        clock.free(|| prescribe(scene, state.t + h, dt, &mut stage.moving));
        let room = (&mut buffers.poses, &mut buffers.twists, &mut buffers.loads);
        let at = Springs { old: &old.springs, last: last.map(|l| &l.contacts[..]), h };
        stage.evaluate(laws, scene, (state.t + h, dt), contacts, &at, room, &mut clock);
    }

    let stages = &buffers.stages;
    clock.update(|| finish(scene, state, t_next, dt, stages, next));
    check_finite(scene, &next.q, &next.v, t_next)?;
    let last = &stages[3];
    impulses.clear();
    impulses.extend(last.contacts.iter().map(|c| c.push.force.map(|f| f * dt)));
    let kept = remember(laws, old, stages, contacts, dt, next);
    next.clone_rest(state);
    next.scheme = SchemeState::Penalty(Box::new(kept));
    state.become_next(next, t_next);
    *work.scheme.of::<Stages>() = buffers;
    let solve = SolveReport { converged: true, ..SolveReport::default() };
    Ok(StepReport::new(dt, solve, 0.0, &work.contacts, clock.times))
}

/// Springs from which those of a stage follow.
struct Springs<'a> {
    /// At the start of the step.
    old: &'a [ContactSpring],
    /// Contacts of the last stage, with the rates of their springs.
    last: Option<&'a [StageContact]>,
    /// From the start of the step to the stage [s].
    h: f64,
}

impl Springs<'_> {
    /// The spring of a contact, in the world frame [m].
    fn at(&self, c: &ActiveContact, stiffness: f64) -> Vec3 {
        let (colliders, feature) = (c.point.colliders, c.point.feature);
        let old = recall(self.old, colliders, feature);
        let start = old.map_or(Vec3::zeros(), |old| {
            let scale = if stiffness > old.stiffness { old.stiffness / stiffness } else { 1.0 };
            turned(Vec3::from(old.stretch) * scale, &c.point.normal)
        });
        start + self.last.map_or(Vec3::zeros(), |last| rate_of(last, colliders, feature)) * self.h
    }
}

/// Rate of the spring of a contact at a stage [m/s]; zero if it was open.
fn rate_of(contacts: &[StageContact], colliders: [u32; 2], feature: u32) -> Vec3 {
    let first = contacts.partition_point(|c| c.spring.colliders < colliders);
    let mut same = contacts[first..].iter().take_while(|c| c.spring.colliders == colliders);
    same.find(|c| c.spring.feature == feature).map_or(Vec3::zeros(), |c| c.rate)
}

impl Stage {
    /// Rates of all bodies and springs.
    #[expect(clippy::too_many_arguments)]
    fn evaluate(
        &mut self,
        laws: &Laws,
        scene: &Scene,
        (t, dt): (f64, f64),
        contacts: &mut Contacts,
        springs: &Springs,
        (poses, twists, loads): (&mut Vec<Pose>, &mut Vec<Twist>, &mut Vec<Load>),
        clock: &mut Clock,
    ) {
        poses.clear();
        poses.extend(self.moving.iter().map(Moving::pose));
        twists.clear();
        twists.extend(self.moving.iter().map(Moving::twist));
        clock.detect(|| {
            contacts.detect_at(scene, poses, twists, dt);
            contacts.touch_points(scene, poses);
            contacts.select_overlaps(scene);
        });
        law_loads(scene, t, poses, twists, loads);
        loads.resize(poses.len(), Load::default());
        self.contacts.clear();
        self.powers = Powers::default();
        let bodies = Inertia { scene, poses, twists };
        clock.solve(|| {
            for c in contacts.active() {
                self.contacts.push(contact(laws, &bodies, &c, springs, loads, &mut self.powers));
            }
        });
        self.rates.clear();
        let rate = |i: usize| rate(&bodies, i, &self.moving[i], &loads[i]);
        self.rates.extend((0..poses.len()).map(rate));
    }
}

/// Bodies at a stage.
struct Inertia<'a> {
    scene: &'a Scene,
    poses: &'a [Pose],
    twists: &'a [Twist],
}

impl Inertia<'_> {
    fn inverse_inertia(&self, i: usize) -> Mat3 {
        inverse_inertia(self.scene, i, &self.poses[i].rotation)
    }

    /// `n·(M⁻¹ n)` at an arm [1/kg].
    fn lightness(&self, i: usize, arm: &Vec3, n: &Vec3) -> f64 {
        let m = self.scene.bodies().inverse_mass[i];
        let spin = (self.inverse_inertia(i) * arm.cross(n)).cross(arm);
        (0..3).map(|k| n[k] * (m[k] * n[k] + spin[k])).sum()
    }
}

/// The force of one contact, added to the loads of its bodies.
fn contact(
    laws: &Laws,
    at: &Inertia,
    c: &ActiveContact,
    springs: &Springs,
    loads: &mut [Load],
    powers: &mut Powers,
) -> StageContact {
    let bodies = c.bodies.map(|b| b as usize);
    let arms = bodies.map(|b| c.point.point - at.poses[b].position);
    let [n, t1, t2] = c.frame();
    let velocity = |s: usize| {
        let v = &at.twists[bodies[s]];
        v.linear + v.angular.cross(&arms[s])
    };
    let v_w = velocity(1) - velocity(0);
    let v = [n.dot(&v_w), t1.dot(&v_w), t2.dot(&v_w)];
    let lightness = |s: usize| at.lightness(bodies[s], &arms[s], &n);
    let inverse_mass = lightness(0) + lightness(1);
    let (pair, radius) = laws.meeting(at.scene, c.point);
    let touch = Touch { pair, depth: -c.point.gap, inverse_mass, radius, share: 1.0 };
    let stiffness = laws.tangential(laws.coefficients(&touch, touch.depth).stiffness);
    let stretch = springs.at(c, stiffness);
    let push = laws.push(&touch, [t1.dot(&stretch), t2.dot(&stretch)], v);
    let force = n * push.force[0] + t1 * push.force[1] + t2 * push.force[2];
    for (s, sign) in [(0, -1.0), (1, 1.0)] {
        loads[bodies[s]] += Load { force: force * sign, torque: arms[s].cross(&force) * sign };
    }
    powers.damped += push.damped;
    powers.rubbed += push.rubbed;
    let (colliders, feature) = (c.point.colliders, c.point.feature);
    let spring = ContactSpring { colliders, feature, stretch: stretch.into(), stiffness };
    StageContact { touch, spring, v, rate: t1 * v[1] + t2 * v[2], push }
}

/// Rates of one body: `q̇ = ½ ω q`, `m v̇ = f`, `J ω̇ = τ − ω × J ω`.
fn rate(at: &Inertia, i: usize, m: &Moving, load: &Load) -> Moving {
    let mut rate = m.drift();
    if at.scene.bodies().movable[i] {
        let turned = (&at.poses[i].rotation, &at.inverse_inertia(i));
        let v = acceleration(at.scene, i, turned, &m.twist(), load);
        (rate.linear, rate.angular) = (v.linear, v.angular);
    }
    rate
}

/// Positions and velocities at the end of the step.
fn finish(
    scene: &Scene,
    state: &State,
    t_next: f64,
    dt: f64,
    stages: &[Stage; 4],
    next: &mut State,
) {
    let mut moving: Vec<Moving> = (0..state.q.len())
        .map(|i| {
            let sum = |m: Moving, s: usize| m.plus(WEIGHTS[s] * dt, &stages[s].rates[i]);
            (0..4).fold(Moving::of(&state.q[i], &state.v[i]), sum)
        })
        .collect();
    prescribe(scene, t_next, dt, &mut moving);
    next.q.clear();
    next.q.extend(moving.iter().enumerate().map(|(i, m)| {
        // A body that does not rotate keeps its rotation to the last bit.
        let still = stages.iter().all(|s| s.rates[i].rotation == [0.0; 4]);
        if still { Pose { rotation: state.q[i].rotation, ..m.pose() } } else { m.pose() }
    }));
    next.v.clear();
    next.v.extend(moving.iter().map(Moving::twist));
}

/// Springs and energies at the end of the step.
fn remember(
    laws: &Laws,
    old: &PenaltyState,
    stages: &[Stage; 4],
    contacts: &Contacts,
    dt: f64,
    next: &State,
) -> PenaltyState {
    let sum = |of: fn(&Powers) -> f64| -> f64 {
        (0..4).map(|s| WEIGHTS[s] * dt * of(&stages[s].powers)).sum()
    };
    let mut kept = PenaltyState {
        damped: old.damped + sum(|p| p.damped),
        rubbed: old.rubbed + sum(|p| p.rubbed),
        ..PenaltyState::default()
    };
    let mut recalled = 0.0;
    for (c, last) in contacts.active().zip(&stages[3].contacts) {
        let ContactSpring { colliders, feature, stiffness, .. } = last.spring;
        let [n, t1, t2] = c.frame();
        let mut fell = 0.0;
        let start = Springs { old: &old.springs, last: None, h: 0.0 }.at(&c, stiffness);
        if let Some(old) = recall(&old.springs, colliders, feature) {
            recalled += spring_energy(old);
            kept.rubbed += spring_energy(old) - 0.5 * stiffness * start.norm_squared();
            fell = (old.stiffness - stiffness).max(0.0);
        }
        let add = |x: Vec3, s: usize| {
            x + rate_of(&stages[s].contacts, colliders, feature) * (WEIGHTS[s] * dt)
        };
        let stretch = (0..4).fold(start, add);
        // The force at the start of the step was that of the old stiffness.
        kept.rubbed += 0.5 * fell * start.dot(&(stretch - start));
        // Where the spring exceeds the friction at the end of the step, the contact has slid.
        let [start, trial] = [start, stretch].map(|x| [t1.dot(&x), t2.dot(&x)]);
        let cut = laws.push(&last.touch, trial, last.v);
        kept.rubbed += cut.slipped(start, trial);
        let stretch: [f64; 3] = (t1 * cut.stretch[0] + t2 * cut.stretch[1]).into();
        kept.springs.push(ContactSpring { colliders, feature, stretch, stiffness });
        // The last stage is at the end of the step up to its error.
        let moved = |b: u32| next.q[b as usize].position - stages[3].moving[b as usize].position;
        let depth = last.touch.depth - n.dot(&(moved(c.bodies[1]) - moved(c.bodies[0])));
        if depth > 0.0 {
            kept.elastic += laws.energy(&Touch { depth, ..last.touch }, &cut);
        }
    }
    kept.rubbed += (old.springs.iter().map(spring_energy).sum::<f64>() - recalled).max(0.0);
    kept
}

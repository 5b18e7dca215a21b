//! Velocity Verlet in position form: forces are evaluated once per step, at the middle.
//!
//! `q_m = q_n + h/2 v_n`, `v_{n+1} = v_n + h M⁻¹ f(q_m, v_m)`, `q_{n+1} = q_m + h/2 v_{n+1}`. The
//! velocity in the middle, on which damping depends, is predicted from `v_n` and corrected once, so
//! that the order is two. Contacts are columns of `H` as under Moreau–Jean: bodies of mechanisms and
//! nodes of flexible bodies need nothing special; joints between bodies and ropes stay rigid.
//!
//! A contact begins within a step. Its damping jumps from zero to `c δ̇`, so the step in which it is
//! first found applies the damping of the whole time since it began, `h/2 + δ/δ̇` instead of `h`:
//! [`Touch::share`]. Otherwise a collision would be of first order only.

use super::law::{Laws, Push, Touch};
use super::{Penalty, PenaltyError, memory, recall, turned};
use crate::assembly::{
    ActiveContact, Contacts, GapRule, Interval, Moment, Stabilization, System, assemble_constraints,
};
use crate::friction::{BlockVelocities, ContactProblem, Factored, Impulses, Operator, SolveReport};
use crate::math::{Buffers, Scratch, Vec3, bytes_of, parallel};
use crate::scene::{ContactSpring, PenaltyState, Scene, SchemeState, State, Twist};
use crate::scheme::{Clock, StepError, StepReport, StepResult, Workspace, next_time};

/// Corrections shared with the schemes of hard contact: stretched ropes, momenta, and joints that
/// request it.
const FIX: Stabilization =
    Stabilization { gaps: true, momentum: true, joints: true, ..Stabilization::NONE };

/// Buffers of a step.
#[derive(Default)]
struct Soft {
    trials: Vec<Trial>,
    velocities: Vec<[f64; 3]>,
    pushes: Vec<Push>,
    ends: Vec<End>,
    change: BlockVelocities,
    /// The problem of joints and ropes, and its impulses.
    rigid: ContactProblem,
    held: Impulses,
    chosen: Vec<u32>,
}

impl Buffers for Soft {
    fn bytes(&self) -> usize {
        bytes_of(&self.trials)
            + bytes_of(&self.velocities)
            + bytes_of(&self.pushes)
            + bytes_of(&self.ends)
            + bytes_of(&self.change)
    }
}

/// A contact before its force is known.
#[derive(Clone, Copy, Debug, Default)]
struct Trial {
    touch: Touch,
    /// Tangential spring in the middle of the last step, in the frame of the contact [m].
    start: [f64; 2],
    /// The same now, before sliding [m].
    stretch: [f64; 2],
    /// Relative velocity at the start of the step, in the frame of the contact [m/s].
    v_n: [f64; 3],
    /// Energy of the spring at the end of the last step [J].
    before: f64,
    /// Energy lost because the stiffness of the spring has changed [J].
    lost: f64,
    /// `k W_nn` [1/s²].
    square_frequency: f64,
}

/// A contact at the end of a step, half a step after its force.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    /// Elastic energy [J].
    elastic: f64,
    /// Energy taken from the spring since the middle of the step [J].
    slipped: f64,
}

/// Advances `state` by one step.
pub fn step(
    scheme: &Penalty,
    laws: &Laws,
    scene: &Scene,
    state: &mut State,
    work: &mut Workspace,
) -> StepResult {
    let dt = scheme.dt;
    let t_next = next_time(state, dt);
    let h = Interval { t: state.t, t_next, dt, before: 0.5 * dt, after: 0.5 * dt };
    let mut clock = Clock::default();
    let Workspace { system, contacts, problem, solver, scheme: scratch, next, .. } = work;
    let mut impulses = std::mem::take(&mut work.impulses);
    let mut soft = std::mem::take(scratch.of::<Soft>());

    // q_m = q_n + h/2 v_n and v_free = v_n + h M⁻¹ f, as if there were no contacts.
    clock.free(|| system.predict(scene, state, &h))?;
    clock.free(|| system.free_motion(scene, state, &h))?;

    // Every overlapping point is a column of H.
    clock.detect(|| contacts.detect(scene, system, dt));
    let rule = GapRule::Overlapping;
    clock.assemble(|| contacts.assemble_by(rule, scene, state, system, dt, problem));
    let n = problem.len();
    let gaps = GapRule::ByLaw;
    clock.assemble(|| assemble_constraints(scene, state, system, gaps, dt, problem));
    FIX.ropes(system, dt, problem);

    // Springs at q_m, then forces with the velocity in the middle: predicted and corrected.
    let at = (scene, &*state, &*system, &*contacts);
    clock.assemble(|| soft.gather(laws, at, problem.w.make_factored(), dt))?;
    soft.held.clear();
    contacts.recall_constraints(state, system, problem, &mut soft.held);
    let mut solve = SolveReport { converged: true, ..SolveReport::default() };
    for pass in 0..2 {
        clock.solve(|| soft.push(laws, dt, &mut impulses));
        if problem.len() > n {
            solve = clock.solve(|| soft.hold(scheme, problem, n, &mut impulses, solver));
        }
        if pass == 0 {
            clock.solve(|| soft.correct(problem, &impulses));
        }
    }

    // v_{n+1} = v_free + M⁻¹ H I, q_{n+1} = q_m + h/2 v_{n+1}; loops, momenta and joints as elsewhere.
    let end = clock.update(|| system.finish(scene, state, &h, problem, &impulses, next))?;
    let (done, room) = ((&*problem, &impulses), (&mut *scratch, &mut *solver));
    clock.update(|| FIX.positions(scene, system, &h, contacts, done, room, state, next))?;

    next.warm_start.clear();
    next.warm_moments.clear();
    contacts.remember_constraints(scene, system, dt, problem, &impulses, state, next);
    clock.update(|| soft.remember(laws, (system, contacts), dt, state, next));
    state.become_next(next, h.t_next);
    *scratch.of::<Soft>() = soft;
    work.impulses = impulses;
    Ok(StepReport::new(dt, solve, end, &work.contacts, clock.times))
}

impl Soft {
    /// Depths, springs and velocities of all contacts at `q_m`.
    fn gather(
        &mut self,
        laws: &Laws,
        (scene, state, system, contacts): (&Scene, &State, &System, &Contacts),
        w: &Factored,
        dt: f64,
    ) -> Result<(), StepError> {
        let springs = memory(state).map_or(&[][..], |memory| &memory.springs);
        let places: Vec<ActiveContact> = contacts.active().collect();
        parallel::fill(&mut self.trials, places.len(), |k| {
            let c = &places[k];
            let (pair, radius) = laws.meeting(scene, c.point);
            let (depth, inverse_mass) = (-c.point.gap, w.diagonal(k)[0][0]);
            let v_n = local_velocity(c, system, system.v_n(), Moment::Start);
            let mut touch = Touch { pair, depth, inverse_mass, radius, share: 1.0 };
            let normal_stiffness = laws.coefficients(&touch, depth).stiffness;
            let stiffness = laws.tangential(normal_stiffness);
            let old = recall(springs, c.point.colliders, c.point.feature);
            let spring = match old {
                Some(old) => continued(old, c, stiffness, v_n, dt),
                None => fresh(&mut touch, v_n, dt),
            };
            let square_frequency = normal_stiffness * inverse_mass;
            Trial { touch, v_n, square_frequency, ..spring }
        });
        let limit = 4.0 / (dt * dt);
        if let Some(k) = self.trials.iter().position(|t| t.square_frequency > limit) {
            let t = &self.trials[k];
            let [a, b] = places[k].bodies.map(|b| scene.bodies().names[b as usize].clone());
            let stiffness = t.square_frequency / t.touch.inverse_mass;
            let largest_dt = 2.0 / t.square_frequency.sqrt();
            Err(PenaltyError::Unstable { a, b, t: state.t, stiffness, largest_dt })?;
        }
        let Soft { trials, velocities, .. } = self;
        parallel::fill(velocities, trials.len(), |k| trials[k].v_n);
        Ok(())
    }

    /// Impulses of all contacts at the current velocities.
    fn push(&mut self, laws: &Laws, dt: f64, impulses: &mut Impulses) {
        let Soft { trials, velocities, pushes, .. } = self;
        parallel::fill(pushes, trials.len(), |k| {
            laws.push(&trials[k].touch, trials[k].stretch, velocities[k])
        });
        impulses.clear();
        impulses.extend(pushes.iter().map(|push| push.force.map(|f| f * dt)));
    }

    /// Adds the impulses that keep joints between bodies closed and ropes from stretching: rows `n` and
    /// after of the problem.
    fn hold(
        &mut self,
        scheme: &Penalty,
        problem: &mut ContactProblem,
        n: usize,
        impulses: &mut Impulses,
        solver: &mut Scratch,
    ) -> SolveReport {
        let Soft { change, rigid, held, chosen, .. } = self;
        let w = problem.w.make_factored();
        w.velocity_change(impulses, change);
        let rows = n..problem.v_rel_free.len();
        chosen.clear();
        chosen.extend(rows.clone().map(|row| row as u32));
        rigid.w.make_factored().select(w, chosen);
        rigid.v_rel_free.clear();
        rigid.v_rel_free.extend(rows.clone().map(|row| {
            let (free, pushed) = (problem.v_rel_free[row], w.to_local(row, change));
            std::array::from_fn(|i| free[i] + pushed[i])
        }));
        rigid.laws.clear();
        rigid.laws.extend_from_slice(&problem.laws[rows]);
        rigid.approach_scale = problem.approach_scale;
        let report = scheme.solver.solve(rigid, held, solver);
        impulses.extend_from_slice(held);
        report
    }

    /// Velocities in the middle of the step, `½ (V_n + V_free + W I)`.
    fn correct(&mut self, problem: &mut ContactProblem, impulses: &Impulses) {
        let Soft { trials, velocities, change, .. } = self;
        let w = problem.w.make_factored();
        w.velocity_change(impulses, change);
        let free = &problem.v_rel_free;
        parallel::fill(velocities, trials.len(), |k| {
            let pushed = w.to_local(k, change);
            std::array::from_fn(|i| 0.5 * (trials[k].v_n[i] + free[k][i] + pushed[i]))
        });
    }

    /// Springs and energies at the end of the step.
    fn remember(
        &mut self,
        laws: &Laws,
        (system, contacts): (&System, &Contacts),
        dt: f64,
        state: &State,
        next: &mut State,
    ) {
        let mut kept = match std::mem::take(&mut next.scheme) {
            SchemeState::Penalty(kept) => kept,
            _ => Box::default(),
        };
        let Soft { trials, pushes, ends, .. } = self;
        let places: Vec<ActiveContact> = contacts.active().collect();
        parallel::fill(&mut kept.springs, places.len(), |k| {
            let (c, [_, t1, t2], push) = (&places[k], places[k].frame(), &pushes[k]);
            ContactSpring {
                colliders: c.point.colliders,
                feature: c.point.feature,
                stretch: (t1 * push.stretch[0] + t2 * push.stretch[1]).into(),
                stiffness: push.stiffness,
            }
        });
        parallel::fill(ends, places.len(), |k| {
            let v = local_velocity(&places[k], system, &next.v, Moment::End);
            let (touch, stretch) = (&trials[k].touch, pushes[k].stretch);
            let depth = touch.depth - 0.5 * dt * v[0];
            if depth <= 0.0 {
                return End { elastic: 0.0, slipped: spring_energy(&kept.springs[k]) };
            }
            let touch = Touch { depth, share: 1.0, ..*touch };
            let stretch = [0, 1].map(|i| stretch[i] + 0.5 * dt * v[1 + i]);
            let push = laws.push(&touch, stretch, v);
            let slipped = push.slipped(pushes[k].stretch, stretch);
            End { elastic: laws.energy(&touch, &push), slipped }
        });
        let empty = PenaltyState::default();
        let old = memory(state).unwrap_or(&empty);
        kept.elastic = ends.iter().map(|end| end.elastic).sum();
        kept.pending = ends.iter().map(|end| end.slipped).sum();
        kept.damped = old.damped + dt * pushes.iter().map(|push| push.damped).sum::<f64>();
        // Springs of contacts that have opened keep nothing.
        let dropped: f64 = old.springs.iter().map(spring_energy).sum::<f64>()
            - trials.iter().map(|t| t.before).sum::<f64>();
        let both = || pushes.iter().zip(trials.iter());
        let rubbed: f64 = both().map(|(p, t)| dt * p.rubbed + p.slipped(t.start, t.stretch)).sum();
        let lost: f64 = trials.iter().map(|t| t.lost).sum();
        let before = old.rubbed - old.pending;
        kept.rubbed = before + rubbed + lost + dropped.max(0.0) + kept.pending;
        next.scheme = SchemeState::Penalty(kept);
    }
}

/// Energy of a tangential spring [J].
pub fn spring_energy(spring: &ContactSpring) -> f64 {
    0.5 * spring.stiffness * Vec3::from(spring.stretch).norm_squared()
}

/// Velocity of the second body relative to the first in the frame of their contact at `q_m` [m/s].
fn local_velocity(c: &ActiveContact, system: &System, v: &[Twist], when: Moment) -> [f64; 3] {
    let v = system.relative_velocity(c, v, when);
    c.frame().map(|axis| axis.dot(&v))
}

/// The spring of a contact that has one: turned with the normal and stretched along the way from
/// the middle of the last step, `h V_n`. When the stiffness grows, the force stays; when it falls,
/// the stretch does. So a change of stiffness never adds energy. The work of the mean force of both
/// stiffnesses is accounted for.
fn continued(
    old: &ContactSpring,
    c: &ActiveContact,
    stiffness: f64,
    v_n: [f64; 3],
    dt: f64,
) -> Trial {
    let [normal, t1, t2] = c.frame();
    let before = spring_energy(old);
    let scale = if stiffness > old.stiffness { old.stiffness / stiffness } else { 1.0 };
    let spring = turned(Vec3::from(old.stretch) * scale, &normal);
    let start = [t1.dot(&spring), t2.dot(&spring)];
    let stretch = [start[0] + dt * v_n[1], start[1] + dt * v_n[2]];
    let along = start[0] * v_n[1] + start[1] * v_n[2];
    let lost = before - 0.5 * stiffness * spring.norm_squared()
        + 0.5 * (old.stiffness / scale - stiffness) * along * dt;
    Trial { start, stretch, before, lost, ..Trial::default() }
}

/// The spring of a contact that has begun since the middle of the last step.
fn fresh(touch: &mut Touch, v_n: [f64; 3], dt: f64) -> Trial {
    let since = touch.depth / -v_n[0];
    // Otherwise it did not begin: it was there from the start, or its features have changed.
    if since > 0.0 && since <= dt {
        touch.share = 0.5 + since / dt;
        let stretch = [v_n[1] * since, v_n[2] * since];
        return Trial { stretch, ..Trial::default() };
    }
    Trial::default()
}

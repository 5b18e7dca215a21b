//! Ropes in the contact problem: one unilateral row each, `Φ̇ + shift ≥ 0 ⊥ I ≥ 0`, after the joints
//! and before the moments of rolling resistance.
//!
//! With the unit vectors `ê` along the segments, `∂Φ/∂p_k = ê_next − ê_previous` at every point: a
//! tension pulls each point along this vector. A rope is stored as a contact without friction whose
//! normal is that row; its tangents carry nothing.

use super::System;
use super::contacts::GapRule;
use crate::friction::{ContactProblem, Factored, Impulses, Law};
use crate::math::{Pose, Vec3, tangents};
use crate::multibody::Spatial;
use crate::scene::{ResolvedRope, RopeState, Scene, State, Twist};

/// A point of a rope: a unit of tension pulls it along `along` = ∂Φ/∂p.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pull {
    pub body: usize,
    /// Where it is [m].
    pub point: Vec3,
    /// Sum of the unit vectors to its neighbours [–].
    pub along: Vec3,
}

impl Pull {
    /// How fast its motion slackens the rope [m/s].
    fn velocity(&self, q: &[Pose], v: &[Twist]) -> f64 {
        self.along.dot(&self.velocity_at(q, v))
    }

    fn velocity_at(&self, q: &[Pose], v: &[Twist]) -> Vec3 {
        let v = &v[self.body];
        v.linear + v.angular.cross(&(self.point - q[self.body].position))
    }
}

/// What moves with a point: the velocities of one body, mechanism or flexible body.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Group {
    Immovable,
    Body(usize),
    Mechanism(usize),
    Flexible(usize),
}

impl Group {
    fn of(scene: &Scene, body: usize) -> Group {
        let bodies = scene.bodies();
        if bodies.movable[body] {
            return Group::Body(body);
        }
        if let Some(carried) = bodies.carried[body] {
            return Group::Mechanism(carried.mechanism.index());
        }
        scene.node_at(body).map_or(Group::Immovable, |(flexible, _)| Group::Flexible(flexible))
    }
}

/// A rope that takes part in the contact problem.
#[derive(Clone, Copy, Debug)]
struct ActiveRope {
    rope: usize,
    /// `Φ` at `q_m` [m].
    slack: f64,
}

/// The ropes of one step and their buffers.
#[derive(Debug, Default)]
pub(super) struct Ropes {
    active: Vec<ActiveRope>,
    pulls: Vec<Pull>,
}

/// Adds the ropes that are taut, or can become so in this step, to the contact problem, after its
/// contacts and joints.
pub fn assemble(
    scene: &Scene,
    state: &State,
    system: &mut System,
    rule: GapRule,
    dt: f64,
    problem: &mut ContactProblem,
) {
    let mut ropes = std::mem::take(&mut system.ropes);
    ropes.active.clear();
    for (k, rope) in scene.ropes().iter().enumerate() {
        if state.ropes.get(k).is_some_and(|rope| rope.broken.is_some()) {
            continue;
        }
        let slack = pulls_of(rope, system.q_m(), &mut ropes.pulls);
        let takes_part = match rule {
            GapRule::Overlapping => slack < 0.0,
            _ => slack <= reach(scene, system, &ropes.pulls, dt),
        };
        if !takes_part {
            continue;
        }
        let shift = match rule {
            GapRule::ByLaw => slack.max(0.0) / dt,
            GapRule::OverStep { recovery } => (slack / dt).max(-recovery),
            GapRule::Overlapping => 0.0,
        };
        if let Some(mut v_rel) = push(scene, system, &ropes.pulls, problem) {
            v_rel[0] += shift;
            problem.v_rel_free.push(v_rel);
            problem.laws.push(Law::Coulomb { friction: 0.0 });
            ropes.active.push(ActiveRope { rope: k, slack });
        }
    }
    system.ropes = ropes;
}

/// The points of a rope and where it pulls them; returns its slack `Φ` [m]. A segment whose ends
/// coincide has no direction and pulls nothing.
fn pulls_of(rope: &ResolvedRope, q: &[Pose], pulls: &mut Vec<Pull>) -> f64 {
    pulls.clear();
    let bodies = rope.vertices.iter().map(|(body, _)| *body as usize);
    let at = |(body, point)| Pull { body, point, along: Vec3::zeros() };
    pulls.extend(bodies.zip(rope.points(q)).map(at));
    let mut slack = rope.length;
    for k in 1..pulls.len() {
        let d = pulls[k].point - pulls[k - 1].point;
        let length = d.norm();
        slack -= length;
        if length > 1e-12 * rope.length {
            pulls[k - 1].along += d / length;
            pulls[k].along -= d / length;
        }
    }
    slack
}

/// Rate of the slack of a rope, `Φ̇`, at given poses and velocities of the bodies [m/s].
pub fn rate(rope: &ResolvedRope, q: &[Pose], v: &[Twist]) -> f64 {
    let mut pulls = Vec::new();
    pulls_of(rope, q, &mut pulls);
    pulls.iter().map(|p| p.velocity(q, v)).sum()
}

/// The slack up to which a rope takes part [m]: what its points can close in this step at the
/// speeds that they have without contact, in any direction, and the alert distance.
fn reach(scene: &Scene, system: &System, pulls: &[Pull], dt: f64) -> f64 {
    let (q_m, v_free) = (system.q_m(), system.v_free());
    let speed = |p: &Pull| p.along.norm() * p.velocity_at(q_m, v_free).norm();
    scene.detection().alert + dt * pulls.iter().map(speed).sum::<f64>()
}

/// Adds one rope; returns its velocity without contact, or `None` if it moves nothing.
fn push(
    scene: &Scene,
    system: &mut System,
    pulls: &[Pull],
    problem: &mut ContactProblem,
) -> Option<[f64; 3]> {
    let w = problem.w.make_factored();
    let (row, v_rel) = match pulls {
        [a, b] if is_plain(scene, a, b) => push_plain(system, [a, b], w),
        _ => push_groups(scene, system, pulls, w),
    };
    if w.is_immovable(row) {
        let gone: Vec<bool> = (0..=row).map(|k| k == row).collect();
        w.remove(&gone);
        return None;
    }
    Some(v_rel)
}

/// Whether a rope connects two different bodies, each free or immovable.
fn is_plain(scene: &Scene, a: &Pull, b: &Pull) -> bool {
    let single = |p: &Pull| matches!(Group::of(scene, p.body), Group::Body(_) | Group::Immovable);
    a.body != b.body && single(a) && single(b)
}

/// A contact with different points on its two bodies, whose normal points from the second to the
/// first.
fn push_plain(system: &System, ends: [&Pull; 2], w: &mut Factored) -> (usize, [f64; 3]) {
    let (q_m, v_free, block) = (system.q_m(), system.v_free(), &system.bodies.block);
    let n = ends[1].along;
    let (t1, t2) = if n == Vec3::zeros() { (n, n) } else { tangents(n) };
    let frame = [n, t1, t2];
    let arms = ends.map(|p| (p.point - q_m[p.body].position).into());
    let row = w.push(ends.map(|p| block[p.body]), frame.map(Into::into), arms);
    let [a, b] = ends.map(|p| p.velocity_at(q_m, v_free));
    (row, frame.map(|axis| axis.dot(&(b - a))))
}

/// A row over all bodies, mechanisms and flexible bodies along the rope: points that move together
/// form one side.
fn push_groups(
    scene: &Scene,
    system: &mut System,
    pulls: &[Pull],
    w: &mut Factored,
) -> (usize, [f64; 3]) {
    let row = w.push([Factored::NONE; 2], [[0.0; 3]; 3], [[0.0; 3]; 2]);
    let group = |p: &Pull| Group::of(scene, p.body);
    for (k, first) in pulls.iter().enumerate() {
        let own = group(first);
        if pulls[..k].iter().any(|p| group(p) == own) {
            continue;
        }
        let same = pulls[k..].iter().filter(|p| group(p) == own);
        match own {
            Group::Immovable => {}
            Group::Body(body) => push_body(scene, system, body, same, w),
            Group::Mechanism(m) => system.mechanisms.push_pulls(scene, m, same, row, w),
            Group::Flexible(f) => system.flexible.push_pulls(scene, f, same, row, w),
        }
    }
    let (q_m, v_free) = (system.q_m(), system.v_free());
    (row, [pulls.iter().map(|p| p.velocity(q_m, v_free)).sum(), 0.0, 0.0])
}

/// Adds the side of a free body to the last row.
fn push_body<'a>(
    scene: &Scene,
    system: &System,
    body: usize,
    pulls: impl Iterator<Item = &'a Pull>,
    w: &mut Factored,
) {
    let (bodies, pose) = (scene.bodies(), &system.q_m()[body]);
    let (mut force, mut moment) = (Vec3::zeros(), Vec3::zeros());
    for p in pulls {
        force += p.along;
        moment += (p.point - pose.position).cross(&p.along);
    }
    let spin = bodies.inverse_inertia_w(body, &pose.rotation) * moment;
    let (mut rows, mut solved) = ([0.0; 18], [0.0; 18]);
    for c in 0..3 {
        (rows[c], rows[3 + c]) = (force[c], moment[c]);
        (solved[c], solved[3 + c]) = (bodies.inverse_mass[body][c] * force[c], spin[c]);
    }
    w.push_rows(system.bodies.block[body], &rows, &solved);
}

impl Ropes {
    /// Number of ropes in the contact problem.
    pub fn n_active(&self) -> usize {
        self.active.len()
    }

    /// Shifts the velocities of stretched ropes so that they recover a fraction `gain` of their
    /// stretch in this step: `V += gain Φ/h`.
    pub fn recover(&self, gain: f64, dt: f64, problem: &mut ContactProblem) {
        let first = self.first(problem);
        for (k, rope) in self.active.iter().enumerate().filter(|(_, rope)| rope.slack < 0.0) {
            problem.v_rel_free[first + k][0] += gain * rope.slack / dt;
        }
    }

    /// Index of the first rope in the contact problem.
    fn first(&self, problem: &ContactProblem) -> usize {
        problem.len() - problem.rolling.len() - self.active.len()
    }

    /// Starts from the impulses of the last step.
    pub fn recall(&self, state: &State, impulses: &mut Impulses) {
        let old = |rope: &ActiveRope| state.ropes.get(rope.rope).map_or(0.0, |r| r.impulse);
        impulses.extend(self.active.iter().map(|rope| [old(rope), 0.0, 0.0]));
    }

    /// Remembers the impulses, and which ropes break at the end of the step.
    pub fn remember(
        &self,
        scene: &Scene,
        dt: f64,
        problem: &ContactProblem,
        impulses: &Impulses,
        state: &State,
        next: &mut State,
    ) {
        let before = |k| state.ropes.get(k).copied().unwrap_or_default();
        next.ropes.clear();
        next.ropes
            .extend((0..scene.ropes().len()).map(|k| RopeState { impulse: 0.0, ..before(k) }));
        let first = self.first(problem);
        for (active, r) in self.active.iter().zip(&impulses[first..]) {
            let rope = &mut next.ropes[active.rope];
            rope.impulse = r[0];
            let load = scene.ropes()[active.rope].breaking_load;
            if load.is_some_and(|load| rope.tension(dt) > load) {
                rope.broken = Some(state.t + dt);
            }
        }
    }

    /// Adds the impulses of ropes on the bodies of a mechanism: force [N s] and moment about the
    /// world origin [N m s].
    pub fn add_pushes(
        &self,
        scene: &Scene,
        q_m: &[Pose],
        mechanism: usize,
        (problem, impulses): (&ContactProblem, &Impulses),
        sum: &mut Spatial,
    ) {
        let (links, mut pulls) = (scene.links_of(mechanism), Vec::new());
        let first = self.first(problem);
        for (active, r) in self.active.iter().zip(&impulses[first..]) {
            pulls_of(&scene.ropes()[active.rope], q_m, &mut pulls);
            for p in pulls.iter().filter(|p| links.contains(&p.body)) {
                let linear = p.along * r[0];
                *sum += Spatial { angular: p.point.cross(&linear), linear };
            }
        }
    }
}

#[cfg(test)]
mod tests;

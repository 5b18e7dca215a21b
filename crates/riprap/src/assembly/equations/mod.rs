//! The equations of motion of a whole scene in one vector of velocities, for implicit schemes:
//! `M(q) v̇ = f(q, v, t) + g_qᵀ λ`, their tangents, bilateral constraints `g(q) = 0` (joints between
//! bodies, loops of mechanisms) and unilateral ones `g(q) ≥ 0` (contacts).
//!
//! Velocities: six of each free body (linear, then angular, both in world axes), all columns of each
//! mechanism, all velocities of each flexible body. `M`, `∂f/∂q` and `∂f/∂v` couple only velocities
//! of the same group; everything else is coupled by constraints. Locked and prescribed velocities
//! keep their place: their rows are those of the identity.

mod bilateral;
mod groups;
mod loads;
mod rows;
mod unilateral;

pub use bilateral::{Bilateral, Source};
pub use groups::Groups;
pub use rows::Rows;
pub use unilateral::{Contact, Key, Start, Unilateral};

use crate::detect::ColliderSet;
use crate::math::{Pose, Vec3, turn};
use crate::multibody::{Control, MultibodyScratch, PointColumn};
use crate::scene::{Motion, Scene, State, Twist, place_links, twist};

/// Positions of a whole scene.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Configuration {
    /// Poses of all bodies; those of mechanisms follow from their joints.
    pub q: Vec<Pose>,
    /// Joint coordinates of the mechanisms.
    pub joints: Vec<Vec<f64>>,
    /// Poses of the nodes of the flexible bodies.
    pub nodes: Vec<Vec<Pose>>,
}

/// Who determines the motion of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Owner {
    /// Fixed or with a prescribed motion.
    None,
    /// Free; its first velocity.
    Free(u32),
    /// A mechanism, and the body's node in its tree.
    Mechanism(u32, u32),
    /// A flexible body, and its node.
    Flexible(u32, u32),
}

/// One group of velocities that `M` couples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub first: usize,
    pub n: usize,
    pub kind: GroupKind,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum GroupKind {
    Body(usize),
    Mechanism(usize),
    Flexible(usize),
}

/// The vector of velocities of a scene, and the mechanisms at the last configuration.
#[derive(Debug, Default)]
pub struct Equations {
    set: Option<ColliderSet>,
    n: usize,
    groups: Vec<Group>,
    owners: Vec<Owner>,
    /// Whether a velocity is locked or prescribed.
    prescribed: Vec<bool>,
    /// First velocity of each mechanism.
    firsts: Vec<usize>,
    /// First velocity of each flexible body.
    first_nodes: Vec<usize>,
    works: Vec<MultibodyScratch>,
    /// Velocities of all bodies at the last evaluation.
    twists: Vec<Twist>,
}

impl Equations {
    /// The velocities of a scene.
    pub fn new(scene: &Scene) -> Equations {
        let bodies = scene.bodies();
        let mut e = Equations {
            set: Some(scene.collider_set()),
            owners: vec![Owner::None; bodies.len()],
            ..Equations::default()
        };
        for i in (0..bodies.len()).filter(|&i| bodies.movable[i] && bodies.carried[i].is_none()) {
            e.owners[i] = Owner::Free(e.n as u32);
            e.groups.push(Group { first: e.n, n: 6, kind: GroupKind::Body(i) });
            let locked = |k: usize| bodies.locks[i].0[k];
            e.prescribed.extend((0..6).map(locked));
            e.n += 6;
        }
        for (k, system) in scene.mechanisms().iter().enumerate() {
            let n = system.n_v();
            for link in system.links() {
                let owner = Owner::Mechanism(k as u32, system.node(link));
                e.owners[scene.links_of(k).start + link.0 as usize] = owner;
            }
            e.groups.push(Group { first: e.n, n, kind: GroupKind::Mechanism(k) });
            e.firsts.push(e.n);
            let first = e.n;
            e.n += n;
            e.prescribed.resize(e.n, false);
            for (c, _) in system.driven_at(0.0) {
                e.prescribed[first + c] = true;
            }
            e.works.push(system.scratch());
        }
        for (k, body) in scene.flexible().iter().enumerate() {
            for (node, i) in scene.nodes_of(k).enumerate() {
                e.owners[i] = Owner::Flexible(k as u32, node as u32);
            }
            e.groups.push(Group { first: e.n, n: body.n_v(), kind: GroupKind::Flexible(k) });
            e.first_nodes.push(e.n);
            e.prescribed.extend_from_slice(body.held());
            e.n += body.n_v();
        }
        e.twists.resize(bodies.len(), Twist::default());
        e
    }

    /// Whether they were made for this scene.
    pub fn belong_to(&self, scene: &Scene) -> bool {
        self.set == Some(scene.collider_set())
    }

    /// Number of velocities.
    pub fn n_v(&self) -> usize {
        self.n
    }

    /// Whether each velocity is locked or prescribed.
    pub fn prescribed(&self) -> &[bool] {
        &self.prescribed
    }

    /// Velocities of all bodies at the last [`Equations::place`].
    pub fn twists(&self) -> &[Twist] {
        &self.twists
    }

    /// Name of the body or coordinate that a velocity belongs to.
    pub fn name(&self, scene: &Scene, i: usize) -> String {
        let group = self.groups.iter().rev().find(|g| g.first <= i);
        match group.map(|g| (g.kind, i - g.first)) {
            Some((GroupKind::Body(b), _)) => format!("body `{}`", scene.bodies().names[b]),
            Some((GroupKind::Mechanism(k), c)) => {
                let system = &scene.mechanisms()[k];
                let coordinate = crate::multibody::Coordinate(c as u32);
                let name = system.coordinate_name(coordinate);
                format!("coordinate `{name}` of mechanism `{}`", system.name())
            }
            Some((GroupKind::Flexible(k), c)) => {
                let body = &scene.flexible()[k];
                format!("node {} of flexible body `{}`", c / body.node_dofs(), body.name())
            }
            None => String::new(),
        }
    }

    /// Positions and velocities of a state.
    pub fn read(&self, scene: &Scene, state: &State, at: &mut Configuration, v: &mut Vec<f64>) {
        at.q.clone_from(&state.q);
        at.joints.resize_with(scene.mechanisms().len(), Vec::new);
        at.nodes.resize_with(scene.flexible().len(), Vec::new);
        v.clear();
        v.resize(self.n, 0.0);
        for group in &self.groups {
            let v = &mut v[group.first..group.first + group.n];
            match group.kind {
                GroupKind::Body(i) => write_twist(&state.v[i], v),
                GroupKind::Mechanism(k) => {
                    at.joints[k].clone_from(&state.mechanisms[k].q);
                    v.copy_from_slice(&state.mechanisms[k].v);
                }
                GroupKind::Flexible(k) => {
                    at.nodes[k].clone_from(&state.flexible[k].q);
                    v.copy_from_slice(&state.flexible[k].v);
                }
            }
        }
        self.lock(v);
    }

    /// Sets locked velocities to zero.
    fn lock(&self, v: &mut [f64]) {
        for group in self.groups.iter().filter(|g| matches!(g.kind, GroupKind::Body(_))) {
            for i in group.first..group.first + group.n {
                if self.prescribed[i] {
                    v[i] = 0.0;
                }
            }
        }
    }

    /// Writes positions and velocities into a state.
    pub fn write(&mut self, scene: &Scene, at: &Configuration, v: &[f64], state: &mut State) {
        state.q.clone_from(&at.q);
        state.v.clone_from(&self.twists);
        for group in &self.groups {
            let v = &v[group.first..group.first + group.n];
            match group.kind {
                GroupKind::Body(i) => state.v[i] = read_twist(v),
                GroupKind::Mechanism(k) => {
                    let (system, new) = (&scene.mechanisms()[k], &mut state.mechanisms[k]);
                    new.q.clone_from(&at.joints[k]);
                    new.v.clear();
                    new.v.extend_from_slice(v);
                    let links = scene.links_of(k);
                    let (q, v) = (&mut state.q[links.clone()], &mut state.v[links.clone()]);
                    let centres = &scene.bodies().centre[links];
                    place_links(system, new, &mut self.works[k], centres, q, v);
                }
                GroupKind::Flexible(k) => {
                    state.flexible[k].q.clone_from(&at.nodes[k]);
                    state.flexible[k].v.clear();
                    state.flexible[k].v.extend_from_slice(v);
                    let (body, nodes) = (&scene.flexible()[k], scene.nodes_of(k));
                    for (node, i) in nodes.enumerate() {
                        state.q[i] = at.nodes[k][node];
                        state.v[i] = body.node_twist(&at.nodes[k], v, node);
                    }
                }
            }
        }
    }

    /// Largest distance of a body that forces move from the world origin [m].
    pub fn extent(&self, at: &Configuration) -> f64 {
        let moving = self.owners.iter().zip(&at.q).filter(|(o, _)| **o != Owner::None);
        moving.fold(0.0, |m: f64, (_, q)| m.max(q.position.norm()))
    }

    /// Prescribed velocities and accelerations at a time.
    pub fn prescribe(&self, scene: &Scene, t: f64, v: &mut [f64], acceleration: &mut [f64]) {
        for (k, system) in scene.mechanisms().iter().enumerate() {
            for (c, [_, speed, change]) in system.driven_at(t) {
                v[self.firsts[k] + c] = speed;
                acceleration[self.firsts[k] + c] = change;
            }
        }
    }

    /// Moves positions by increments of the velocities' coordinates, on the rotation group; sets
    /// prescribed joints to their positions at `t`. Bodies with a prescribed motion stay.
    pub fn retract(
        &self,
        scene: &Scene,
        from: &Configuration,
        dx: &[f64],
        t: f64,
        to: &mut Configuration,
    ) {
        to.q.clone_from(&from.q);
        to.joints.resize_with(from.joints.len(), Vec::new);
        to.nodes.resize_with(from.nodes.len(), Vec::new);
        for group in &self.groups {
            let dx = &dx[group.first..group.first + group.n];
            match group.kind {
                GroupKind::Body(i) => {
                    let Twist { linear, angular } = read_twist(dx);
                    to.q[i].position += linear;
                    if angular != Vec3::zeros() {
                        to.q[i].rotation = turn(to.q[i].rotation, angular);
                    }
                }
                GroupKind::Mechanism(k) => {
                    let system = &scene.mechanisms()[k];
                    to.joints[k].resize(from.joints[k].len(), 0.0);
                    system.tree().integrate(&from.joints[k], dx, 1.0, &mut to.joints[k]);
                    system.drive(t, &mut to.joints[k]);
                }
                GroupKind::Flexible(k) => {
                    scene.flexible()[k].integrate(&from.nodes[k], dx, &mut to.nodes[k]);
                }
            }
        }
    }

    /// Places the bodies of the mechanisms and computes the velocities of all bodies. `moving` holds the
    /// velocities of bodies with a prescribed motion.
    pub fn place(&mut self, scene: &Scene, at: &mut Configuration, v: &[f64], moving: &[Twist]) {
        self.twists.clone_from_slice(moving);
        for group in &self.groups {
            let v = &v[group.first..group.first + group.n];
            match group.kind {
                GroupKind::Body(i) => self.twists[i] = read_twist(v),
                GroupKind::Mechanism(k) => {
                    let (system, work) = (&scene.mechanisms()[k], &mut self.works[k]);
                    system.tree().kinematics(&at.joints[k], &mut work.tree);
                    system.tree().motion(v, &mut work.tree);
                    let first = scene.links_of(k).start;
                    for link in system.links() {
                        let i = first + link.0 as usize;
                        let centre = scene.bodies().centre[i];
                        let mut pose = system.pose(work, link);
                        pose.position = pose.point(centre);
                        at.q[i] = pose;
                        self.twists[i] = twist(system, work, link, centre);
                    }
                }
                GroupKind::Flexible(k) => {
                    let body = &scene.flexible()[k];
                    for (node, i) in scene.nodes_of(k).enumerate() {
                        at.q[i] = at.nodes[k][node];
                        self.twists[i] = body.node_twist(&at.nodes[k], v, node);
                    }
                }
            }
        }
    }

    /// Columns of the velocity of a point in the world [m] that belongs to a body.
    pub(super) fn columns(
        &self,
        scene: &Scene,
        at: &Configuration,
        body: usize,
        point: Vec3,
        out: &mut Vec<PointColumn>,
    ) {
        out.clear();
        match self.owners[body] {
            Owner::None => {}
            Owner::Free(first) => {
                rows::free_columns(first as usize, point - at.q[body].position, out)
            }
            Owner::Mechanism(k, node) => self.node_columns(scene, k as usize, node, point, out),
            Owner::Flexible(k, node) => {
                let (k, node) = (k as usize, node as usize);
                let (first, arm) = (self.first_nodes[k], point - at.nodes[k][node].position);
                let columns = scene.flexible()[k].node_columns(&at.nodes[k], node);
                out.extend(columns.map(|(dof, c)| PointColumn {
                    index: first + dof,
                    rank: (c.angular != Vec3::zeros()).into(),
                    fixed_axes: false,
                    angular: c.angular,
                    linear: c.linear + c.angular.cross(&arm),
                }));
            }
        }
    }

    /// Rotation and origin [m] of a node of a mechanism's tree in the world.
    pub(super) fn frame(&self, scene: &Scene, k: usize, node: u32) -> (crate::math::Mat3, Vec3) {
        scene.mechanisms()[k].node_frame(&self.works[k], node)
    }

    /// Columns of a point of a node of a mechanism's tree.
    pub(super) fn node_columns(
        &self,
        scene: &Scene,
        k: usize,
        node: u32,
        point: Vec3,
        out: &mut Vec<PointColumn>,
    ) {
        let first = self.firsts[k];
        let columns = scene.mechanisms()[k].columns_at(&self.works[k], node, point);
        out.extend(columns.map(|c| PointColumn { index: first + c.index, ..c }));
    }
}

/// Poses and velocities at the end of a step of the bodies with a prescribed motion: positions
/// exactly, velocity laws by the midpoint rule.
pub fn move_prescribed(scene: &Scene, t: f64, dt: f64, q: &mut [Pose], twists: &mut Vec<Twist>) {
    twists.clear();
    twists.resize(q.len(), Twist::default());
    for (i, motion) in scene.bodies().motion.iter().enumerate() {
        let Some(motion) = motion else { continue };
        let (Motion::Velocity { angular, .. } | Motion::Position { angular, .. }) = motion;
        let (middle, end) = (t + 0.5 * dt, t + dt);
        q[i].rotation = turn(q[i].rotation, angular.at(middle) * dt);
        twists[i].angular = angular.at(end);
        match motion {
            Motion::Velocity { linear, .. } => {
                q[i].position += linear.at(middle) * dt;
                twists[i].linear = linear.at(end);
            }
            Motion::Position { linear, .. } => {
                q[i].position = linear.at(end);
                twists[i].linear = (linear.at(end + 0.5 * dt) - linear.at(middle)) / dt;
            }
        }
    }
}

/// Laws of a mechanism, switched to the phases due at a state.
pub fn switch_controls(scene: &Scene, state: &State, controls: &mut Vec<Control>) {
    controls.clear();
    for (system, state_k) in scene.mechanisms().iter().zip(&state.mechanisms) {
        let mut control = state_k.control.clone();
        system.switch_control(state.t, &state_k.q, &state_k.v, &mut control);
        controls.push(control);
    }
}

fn read_twist(v: &[f64]) -> Twist {
    Twist { linear: Vec3::new(v[0], v[1], v[2]), angular: Vec3::new(v[3], v[4], v[5]) }
}

fn write_twist(twist: &Twist, v: &mut [f64]) {
    v[..3].copy_from_slice(twist.linear.as_slice());
    v[3..].copy_from_slice(twist.angular.as_slice());
}

#[cfg(test)]
mod tests;

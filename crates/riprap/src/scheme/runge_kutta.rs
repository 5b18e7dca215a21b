//! The classical Runge–Kutta method for free bodies: positions, rotations and velocities as one vector,
//! shared by the schemes that integrate forces.

use crate::math::{Mat3, Pose, Quat, Vec3};
use crate::scene::{Motion, Scene, State, Twist};
use std::ops::AddAssign;

/// Quaternion that need not have unit length.
pub type Turn = [f64; 4];

/// Times of the stages within the step [–], and their weights.
pub const TIMES: [f64; 4] = [0.0, 0.5, 0.5, 1.0];
/// Weights of the stages [–].
pub const WEIGHTS: [f64; 4] = [1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0];

/// Position, rotation and velocity of a body, or their rates.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moving {
    pub position: Vec3,
    pub rotation: Turn,
    pub linear: Vec3,
    pub angular: Vec3,
}

impl Moving {
    /// A body of a state.
    pub fn of(q: &Pose, v: &Twist) -> Moving {
        let rotation = [q.rotation.i, q.rotation.j, q.rotation.k, q.rotation.w];
        Moving { position: q.position, rotation, linear: v.linear, angular: v.angular }
    }

    pub fn plus(&self, h: f64, rate: &Moving) -> Moving {
        Moving {
            position: self.position + rate.position * h,
            rotation: std::array::from_fn(|k| self.rotation[k] + h * rate.rotation[k]),
            linear: self.linear + rate.linear * h,
            angular: self.angular + rate.angular * h,
        }
    }

    pub fn pose(&self) -> Pose {
        let [i, j, k, w] = self.rotation;
        let rotation = Quat::new_normalize([i, j, k, w].into());
        Pose { position: self.position, rotation }
    }

    pub fn twist(&self) -> Twist {
        Twist { linear: self.linear, angular: self.angular }
    }

    /// Rates of position and rotation: `ẋ = v`, `q̇ = ½ ω q`.
    pub fn drift(&self) -> Moving {
        let ([x, y, z, w], s) = (self.rotation, self.angular * 0.5);
        let rotation = [
            s.x * w + s.y * z - s.z * y,
            s.y * w + s.z * x - s.x * z,
            s.z * w + s.x * y - s.y * x,
            -s.x * x - s.y * y - s.z * z,
        ];
        Moving { position: self.linear, rotation, ..Moving::default() }
    }
}

/// Force [N] and torque [N m] on a body.
#[derive(Clone, Copy, Debug, Default)]
pub struct Load {
    pub force: Vec3,
    pub torque: Vec3,
}

/// Forces and torques given by laws on all bodies; empty if there are none.
pub fn law_loads(scene: &Scene, t: f64, q: &[Pose], v: &[Twist], loads: &mut Vec<Load>) {
    loads.clear();
    if scene.loads().is_empty() {
        return;
    }
    loads.resize(q.len(), Load::default());
    for push in scene.pushes(t, q, v) {
        loads[push.slot] += Load { force: push.force, torque: push.torque };
    }
}

impl AddAssign for Load {
    fn add_assign(&mut self, other: Load) {
        self.force += other.force;
        self.torque += other.torque;
    }
}

/// Inverse inertia of a body in the world frame; zero if forces do not move it [1/(kg m²)].
pub fn inverse_inertia(scene: &Scene, i: usize, rotation: &Quat) -> Mat3 {
    match scene.bodies().movable[i] {
        true => scene.bodies().inverse_inertia_w(i, rotation),
        false => Mat3::zeros(),
    }
}

/// Acceleration of a body under a load besides gravity, drag and its own forces: `m v̇ = f`,
/// `J ω̇ = τ − ω × J ω` [m/s², rad/s²]; zero if forces do not move it.
pub fn acceleration(
    scene: &Scene,
    i: usize,
    (rotation, inverse_inertia): (&Quat, &Mat3),
    v: &Twist,
    load: &Load,
) -> Twist {
    let bodies = scene.bodies();
    if !bodies.movable[i] {
        return Twist::default();
    }
    let drag = scene.drag();
    let pull = scene.gravity() + (bodies.force[i] + load.force) / bodies.mass[i];
    let free = |k: usize| if bodies.inverse_mass[i][k] == 0.0 { 0.0 } else { pull[k] };
    let linear = Vec3::from_fn(|k, _| free(k)) - v.linear * drag;
    let mut torque = bodies.torque[i] + load.torque;
    if bodies.tumbles[i] {
        let momentum = bodies.inertia_w(i, rotation) * v.angular;
        torque -= v.angular.cross(&momentum);
    }
    Twist { linear, angular: inverse_inertia * torque - v.angular * drag }
}

/// Velocities, and positions where they are given, of bodies with a prescribed motion at a time [s].
pub fn prescribe(scene: &Scene, t: f64, dt: f64, moving: &mut [Moving]) {
    for (m, motion) in moving.iter_mut().zip(&scene.bodies().motion) {
        match motion {
            None => {}
            Some(Motion::Velocity { linear, angular }) => {
                (m.linear, m.angular) = (linear.at(t), angular.at(t));
            }
            Some(Motion::Position { linear, angular }) => {
                m.linear = (linear.at(t + 0.5 * dt) - linear.at(t - 0.5 * dt)) / dt;
                (m.position, m.angular) = (linear.at(t), angular.at(t));
            }
        }
    }
}

impl State {
    /// Nothing but free bodies: what else a state holds does not change.
    pub(super) fn clone_rest(&mut self, from: &State) {
        self.mechanisms.clone_from(&from.mechanisms);
        self.flexible.clone_from(&from.flexible);
        self.joint_impulses.clear();
        self.warm_start.clear();
        self.warm_moments.clear();
    }
}

/// The first part of a scene that is more than free bodies.
pub fn not_free(scene: &Scene) -> Option<String> {
    if let Some(mechanism) = scene.mechanisms().first() {
        return Some(format!("mechanism `{}`", mechanism.name()));
    }
    if let Some(flexible) = scene.flexible().first() {
        return Some(format!("flexible body `{}`", flexible.name()));
    }
    if let Some(rope) = scene.ropes().first() {
        return Some(format!("rope `{}`", rope.name));
    }
    if let Some((servo, _)) = scene.servos().next() {
        return Some(format!("the servo of `{}`", scene.bodies().names[scene.slot(servo)]));
    }
    let joint = scene.joints().first()?;
    let [a, b] = joint.bodies.map(|b| scene.bodies().names[b as usize].clone());
    Some(format!("the joint between `{a}` and `{b}`"))
}

//! Controls: forces and torques as laws of time and state, and servo drives, which push with a given force below a
//! given speed ([ADR 34](https://github.com/riprap/riprap/blob/main/docs/adr/0034-servo.md)).

use super::{Bodies, Body, BuildError, Item, Locks, Scene};
use crate::math::{Pose, Twist, Vec3};
use std::fmt;
use std::sync::Arc;

/// What a law of time and state may depend on: the time, the body it acts on, and all other bodies.
#[derive(Clone, Copy)]
pub struct LoadInputs<'a> {
    /// Time [s].
    pub t: f64,
    /// Index of the body on which the law acts.
    own: usize,
    bodies: &'a Bodies,
    q: &'a [Pose],
    v: &'a [Twist],
}

impl LoadInputs<'_> {
    /// Pose of the frame in which the shape of the body on which the law acts is given.
    pub fn pose(&self) -> Pose {
        self.pose_at(self.own)
    }

    /// Velocity of the origin of that frame [m/s], and angular velocity [rad/s].
    pub fn velocity(&self) -> Twist {
        self.velocity_at(self.own)
    }

    /// Pose of the frame of another body; not a number if the body no longer exists.
    pub fn pose_of(&self, body: Body) -> Pose {
        let gone = Pose { position: Vec3::repeat(f64::NAN), ..Pose::IDENTITY };
        self.slot(body).map_or(gone, |i| self.pose_at(i))
    }

    /// Velocity of the origin of the frame of another body [m/s], and angular velocity [rad/s]; not a number if the body
    /// no longer exists.
    pub fn velocity_of(&self, body: Body) -> Twist {
        let gone = Vec3::repeat(f64::NAN);
        self.slot(body).map_or(Twist { linear: gone, angular: gone }, |slot| self.velocity_at(slot))
    }

    fn slot(&self, body: Body) -> Option<usize> {
        let slot = self.bodies.slots.get(body.0 as usize).map(|slot| *slot as usize);
        slot.filter(|slot| *slot < self.q.len())
    }

    fn pose_at(&self, i: usize) -> Pose {
        let Pose { position, rotation } = self.q[i];
        Pose { position: position - rotation * self.bodies.centre[i], rotation }
    }

    fn velocity_at(&self, i: usize) -> Twist {
        let (v, arm) = (self.v[i], self.q[i].rotation * self.bodies.centre[i]);
        Twist { linear: v.linear - v.angular.cross(&arm), angular: v.angular }
    }
}

/// The closure of a law.
type Closure<T> = Arc<dyn Fn(&LoadInputs) -> T + Send + Sync>;

/// A function of time and of the positions and velocities of bodies: a force [N] or torque [N m] with three components, or
/// the target of a servo with one.
///
/// ```
/// use riprap::prelude::*;
///
/// let steel = Material::new("steel").density(7800.0);
/// // A spring of 100 N/m and a damper of 2 N s/m to the origin.
/// let spring = StateLaw::new(|at| at.pose().position * -100.0 - at.velocity().linear * 2.0);
/// let ball = BodyDescription::new(Shape::sphere(0.05)?, &steel).at([0.1, 0.0, 0.0]);
/// let mut scene = Scene::builder();
/// scene.gravity([0.0; 3]);
/// let ball = scene.add(ball.pushed(spring), &steel);
///
/// let mut run = Simulation::new(scene.build()?, MoreauJean::new(1e-3))?;
/// run.until(20.0, &mut ())?;
/// assert!(run.pose(ball).position.norm() < 0.02);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct StateLaw<T>(Closure<T>);

impl<T> Clone for StateLaw<T> {
    fn clone(&self) -> Self {
        StateLaw(Arc::clone(&self.0))
    }
}

impl<T> fmt::Debug for StateLaw<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("StateLaw")
    }
}

impl<T: Copy + Send + Sync + 'static> StateLaw<T> {
    /// A law from a closure.
    pub fn new(law: impl Fn(&LoadInputs) -> T + Send + Sync + 'static) -> StateLaw<T> {
        StateLaw(Arc::new(law))
    }

    /// The same value at all times.
    pub fn constant(value: T) -> StateLaw<T> {
        StateLaw::new(move |_| value)
    }

    /// Its value.
    pub fn at(&self, inputs: &LoadInputs) -> T {
        (self.0)(inputs)
    }
}

/// A drive that moves a body along or about one axis and holds it in all other directions. It pushes with its target as long
/// as the speed is below the limit, and with whatever it takes not to exceed the limit otherwise.
///
/// ```
/// use riprap::prelude::*;
///
/// let steel = Material::new("steel").density(7800.0);
/// let mut scene = Scene::builder();
/// scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0])?, Pose::IDENTITY, &steel);
/// // A plate that comes down with 0.1 m/s and then pushes with 500 N; its weight is carried.
/// let servo = Servo::along([0.0, 0.0, -1.0], StateLaw::constant(500.0)).speed(0.1);
/// let plate = BodyDescription::new(Shape::cuboid([0.2, 0.2, 0.02])?, &steel).at([0.0, 0.0, 0.05]);
/// let plate = scene.add(plate.servo(servo), &steel);
///
/// let mut run = Simulation::new(scene.build()?, MoreauJean::new(1e-3))?;
/// run.until(0.2, &mut ())?;
/// assert!((run.velocity(plate).linear.z + 0.1).abs() < 1e-9);
/// run.until(1.0, &mut ())?;
/// assert!((run.frame().contact_force(plate).z - 500.0).abs() < 1e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Servo {
    /// Along or about which axis it moves: a coordinate axis of the world, with a sign.
    pub axis: Vec3,
    /// Whether the body rotates about the axis, through its centre of mass, instead of moving along it.
    pub turns: bool,
    /// Force along the axis [N], or torque about it [N m].
    pub target: StateLaw<f64>,
    /// Largest speed in either direction [m/s, rad/s]; infinite if unlimited.
    pub speed: f64,
    /// Whether the drive carries the weight of the body, so that the target is the force on what the body pushes against.
    pub carries_weight: bool,
}

impl Servo {
    /// A drive along an axis with a target force [N] and unlimited speed, which carries the weight of the body.
    pub fn along(axis: [f64; 3], target: StateLaw<f64>) -> Servo {
        let axis = Vec3::from(axis);
        Servo { axis, turns: false, target, speed: f64::INFINITY, carries_weight: true }
    }

    /// A drive about an axis through the centre of mass with a target torque [N m] and unlimited speed.
    pub fn about(axis: [f64; 3], target: StateLaw<f64>) -> Servo {
        Servo { turns: true, ..Servo::along(axis, target) }
    }

    /// Sets the largest speed [m/s, rad/s].
    pub fn speed(mut self, speed: f64) -> Servo {
        self.speed = speed;
        self
    }

    /// Sets whether the drive carries the weight of the body.
    pub fn carries_weight(mut self, carries: bool) -> Servo {
        self.carries_weight = carries;
        self
    }

    /// The direction in which it moves, in the order of [`Locks`]; `None` if its axis is not a coordinate axis.
    fn direction(&self) -> Option<usize> {
        let k = (0..3).find(|&k| self.axis[k].abs() == 1.0 && self.axis.norm() == 1.0)?;
        Some(k + if self.turns { 3 } else { 0 })
    }

    /// All directions but its own are locked.
    pub(super) fn locks(&self) -> Locks {
        let own = self.direction();
        Locks(std::array::from_fn(|k| own != Some(k)))
    }

    /// Checks its axis and speed.
    pub(super) fn check(&self, item: &Item, planar: bool, errors: &mut Vec<BuildError>) {
        let mut wrong = |problem| errors.push(BuildError::BadServo { item: item.clone(), problem });
        match self.direction() {
            None => wrong(
                "its axis is not x, y or z; for another one, use the servo of a joint of a mechanism",
            ),
            Some(k) if planar && Locks::PLANAR.0[k] => {
                wrong("it leaves the x–y plane of a planar scene");
            }
            Some(_) => {}
        }
        if self.speed.is_nan() || self.speed <= 0.0 {
            let (what, range) = ("the speed of the servo", "positive");
            let (item, value) = (item.clone(), self.speed);
            errors.push(BuildError::OutOfRange { item, what, value, range });
        }
    }
}

/// What acts on a body besides gravity and its constant force and torque.
#[derive(Clone, Debug, Default)]
pub struct Load {
    /// Force at the centre of mass [N].
    pub force: Option<StateLaw<Vec3>>,
    /// Torque [N m].
    pub torque: Option<StateLaw<Vec3>>,
    /// The drive that moves the body.
    pub servo: Option<Servo>,
}

impl Load {
    /// Whether it never acts.
    pub(super) fn is_none(&self) -> bool {
        self.force.is_none() && self.torque.is_none() && self.servo.is_none()
    }
}

/// Force [N] and torque [N m] of a load on the body with an index.
#[derive(Clone, Copy, Debug)]
pub struct Push {
    /// Index of the body.
    pub slot: usize,
    /// Force at the centre of mass [N].
    pub force: Vec3,
    /// Torque [N m].
    pub torque: Vec3,
}

impl Scene {
    /// The loads that follow laws, each with its body.
    pub fn loads(&self) -> &[(Body, Load)] {
        &self.loads
    }

    /// The bodies moved by servos.
    pub fn servos(&self) -> impl Iterator<Item = (Body, &Servo)> {
        self.loads.iter().filter_map(|(body, load)| Some((*body, load.servo.as_ref()?)))
    }

    /// Whether a body is moved by a servo, by its index.
    pub fn is_servo(&self, slot: usize) -> bool {
        self.servos().any(|(body, _)| self.contains(body) && self.slot(body) == slot)
    }

    /// Forces and torques of all loads on bodies that still exist, at a time [s] and a configuration.
    pub fn pushes<'a>(
        &'a self,
        t: f64,
        q: &'a [Pose],
        v: &'a [Twist],
    ) -> impl Iterator<Item = Push> + 'a {
        (0..self.loads.len()).filter_map(move |k| self.push(k, t, q, v))
    }

    /// Force and torque of the load with an index; `None` if its body no longer exists.
    pub(crate) fn push(&self, k: usize, t: f64, q: &[Pose], v: &[Twist]) -> Option<Push> {
        let (body, load) = &self.loads[k];
        let slot = self.contains(*body).then(|| self.slot(*body))?;
        let inputs = LoadInputs { t, own: slot, bodies: &self.bodies, q, v };
        let value = |law: &Option<StateLaw<Vec3>>| {
            law.as_ref().map_or(Vec3::zeros(), |law| law.at(&inputs))
        };
        let mut push = Push { slot, force: value(&load.force), torque: value(&load.torque) };
        if let Some(servo) = &load.servo {
            let target = servo.axis * servo.target.at(&inputs);
            if servo.turns {
                push.torque += target;
            } else {
                push.force += target;
            }
            if servo.carries_weight {
                push.force -= self.gravity * self.bodies.mass[slot];
            }
        }
        Some(push)
    }
}

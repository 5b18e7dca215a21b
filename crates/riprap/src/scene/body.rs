//! Bodies: their description by the user, and their storage in a built scene as a structure of
//! arrays.

use super::builder::is_round;
use super::{Material, Servo, StateLaw};
use crate::math::{Mat3, Pose, Quat, Vec3};
use crate::shape::{MassProperties, Shape};
use std::fmt;
use std::sync::Arc;

/// World directions in which a body cannot move: x, y, z and rotations about x, y, z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Locks(pub [bool; 6]);

impl Locks {
    /// Free in all directions.
    pub const NONE: Locks = Locks([false; 6]);
    /// Moves only in the x–y plane.
    pub const PLANAR: Locks = Locks([false, false, true, true, true, false]);

    /// Locked in a direction if either is.
    pub fn union(self, other: Locks) -> Locks {
        Locks(std::array::from_fn(|k| self.0[k] || other.0[k]))
    }
}

/// A function of time [s] with a vector value.
#[derive(Clone)]
pub struct Law(Arc<dyn Fn(f64) -> Vec3 + Send + Sync>);

impl Law {
    /// A law from a function of time.
    pub fn new(law: impl Fn(f64) -> Vec3 + Send + Sync + 'static) -> Law {
        Law(Arc::new(law))
    }

    /// The same vector at all times.
    pub fn constant(value: [f64; 3]) -> Law {
        Law::new(move |_| Vec3::from(value))
    }

    /// Its value at a time [s].
    pub fn at(&self, t: f64) -> Vec3 {
        (self.0)(t)
    }
}

impl fmt::Debug for Law {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("Law")
    }
}

/// A prescribed motion.
#[derive(Clone, Debug)]
pub enum Motion {
    /// Linear [m/s] and angular [rad/s] velocity as functions of time.
    Velocity {
        /// Velocity of the body's origin [m/s].
        linear: Law,
        /// Angular velocity [rad/s].
        angular: Law,
    },
    /// Position of the body's origin [m] and its angular velocity [rad/s] as functions of time.
    Position {
        /// Position of the body's origin [m].
        linear: Law,
        /// Angular velocity [rad/s].
        angular: Law,
    },
}

/// How a body moves.
#[derive(Clone, Debug)]
pub enum Kind {
    /// Moved by forces and impulses.
    Free,
    /// Does not move.
    Fixed,
    /// Follows a prescribed motion.
    Moving(Motion),
    /// Pushed along or about one axis by a drive with limited force and speed, and held in all other directions.
    Servo(Servo),
}

/// Description of one body. Its position is that of the shape's origin.
///
/// ```
/// use riprap::prelude::*;
///
/// let oak = Material::new("oak").density(700.0).friction(0.4);
/// let crate_ = BodyDescription::new(Shape::cuboid([0.6, 0.4, 0.3])?, &oak)
///     .named("crate")
///     .at([0.0, 0.0, 1.0])
///     .velocity([1.0, 0.0, 0.0])
///     .spin([0.0, 2.0, 0.0]);
/// let turning = Motion::Velocity {
///     linear: Law::constant([0.0; 3]),
///     angular: Law::new(|t| Vec3::new(0.0, 0.0, t.min(1.0))), // rad/s, a soft start
/// };
/// let table = BodyDescription::new(Shape::cuboid([2.0, 2.0, 0.1])?, &oak).moving(turning);
///
/// let mut scene = Scene::builder();
/// scene.add(crate_, &oak);
/// scene.add(table, &oak);
/// assert_eq!(scene.build()?.bodies().n_movable(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct BodyDescription {
    /// Name, unique in the scene; empty for a name chosen by the builder.
    pub name: String,
    /// Its shape.
    pub shape: Shape,
    /// Name of its material.
    pub material: String,
    /// How it moves.
    pub kind: Kind,
    /// Initial pose of the shape's frame.
    pub pose: Pose,
    /// Velocity of the centre of mass [m/s].
    pub velocity: Vec3,
    /// Angular velocity [rad/s].
    pub angular_velocity: Vec3,
    /// Mass [kg], instead of density × volume.
    pub mass: Option<f64>,
    /// Centre of mass in the shape's frame [m], instead of the centre of volume.
    pub centre: Option<Vec3>,
    /// Inertia about the centre of mass in the shape's frame [kg m²], instead of that of the shape.
    pub inertia: Option<Mat3>,
    /// Directions in which it cannot move.
    pub locks: Locks,
    /// Constant force at the centre of mass [N].
    pub force: Vec3,
    /// Constant torque [N m].
    pub torque: Vec3,
    /// Force at the centre of mass that depends on time and state [N], in addition to the constant one.
    pub force_law: Option<StateLaw<Vec3>>,
    /// Torque that depends on time and state [N m], in addition to the constant one.
    pub torque_law: Option<StateLaw<Vec3>>,
}

impl BodyDescription {
    /// A free body at the origin, at rest.
    pub fn new(shape: Shape, material: &Material) -> BodyDescription {
        BodyDescription {
            name: String::new(),
            shape,
            material: material.name.clone(),
            kind: Kind::Free,
            pose: Pose::IDENTITY,
            velocity: Vec3::zeros(),
            angular_velocity: Vec3::zeros(),
            mass: None,
            centre: None,
            inertia: None,
            locks: Locks::NONE,
            force: Vec3::zeros(),
            torque: Vec3::zeros(),
            force_law: None,
            torque_law: None,
        }
    }

    /// Sets its name.
    pub fn named(mut self, name: &str) -> Self {
        self.name = name.to_owned();
        self
    }

    /// Sets the position of its origin [m].
    pub fn at(mut self, position: [f64; 3]) -> Self {
        self.pose.position = Vec3::from(position);
        self
    }

    /// Sets its orientation.
    pub fn turned(mut self, rotation: Quat) -> Self {
        self.pose.rotation = rotation;
        self
    }

    /// Sets its initial velocity [m/s].
    pub fn velocity(mut self, velocity: [f64; 3]) -> Self {
        self.velocity = Vec3::from(velocity);
        self
    }

    /// Sets its initial angular velocity [rad/s].
    pub fn spin(mut self, angular_velocity: [f64; 3]) -> Self {
        self.angular_velocity = Vec3::from(angular_velocity);
        self
    }

    /// Makes it fixed.
    pub fn fixed(mut self) -> Self {
        self.kind = Kind::Fixed;
        self
    }

    /// Prescribes its motion.
    pub fn moving(mut self, motion: Motion) -> Self {
        self.kind = Kind::Moving(motion);
        self
    }

    /// Makes it driven by a servo.
    pub fn servo(mut self, servo: Servo) -> Self {
        self.kind = Kind::Servo(servo);
        self
    }

    /// Adds a force at its centre of mass that depends on time and state [N].
    pub fn pushed(mut self, law: StateLaw<Vec3>) -> Self {
        self.force_law = Some(law);
        self
    }

    /// Adds a torque that depends on time and state [N m].
    pub fn twisted(mut self, law: StateLaw<Vec3>) -> Self {
        self.torque_law = Some(law);
        self
    }

    /// Locks directions of motion.
    pub fn locked(mut self, locks: Locks) -> Self {
        self.locks = locks;
        self
    }

    /// Sets its mass [kg].
    pub fn mass(mut self, mass: f64) -> Self {
        self.mass = Some(mass);
        self
    }
}

/// All bodies of a scene, as a structure of arrays.
#[derive(Clone, Debug, Default)]
pub struct Bodies {
    /// Ids, by slot; see [`super::Body`].
    pub ids: Vec<u32>,
    /// Slots, by id.
    pub slots: Vec<u32>,
    /// Names.
    pub names: Vec<String>,
    /// Whether impulses move it.
    pub movable: Vec<bool>,
    /// Mass [kg]; infinite when not movable.
    pub mass: Vec<f64>,
    /// Inverse mass along x, y, z [1/kg]; 0 if locked.
    pub inverse_mass: Vec<[f64; 3]>,
    /// Inertia about the centre of mass in the body frame [kg m²].
    pub inertia: Vec<Mat3>,
    /// Its inverse [1/(kg m²)].
    pub inverse_inertia: Vec<Mat3>,
    /// Whether its inertia in the world frame changes as it rotates: false for balls, and for
    /// bodies that rotate about at most one axis.
    pub tumbles: Vec<bool>,
    /// Centre of mass in the frame of the shape [m].
    pub centre: Vec<Vec3>,
    /// Locked directions.
    pub locks: Vec<Locks>,
    /// Constant force [N].
    pub force: Vec<Vec3>,
    /// Constant torque [N m].
    pub torque: Vec<Vec3>,
    /// Radius of a bounding sphere around the centre of mass [m]; infinite for a half-space.
    pub radius: Vec<f64>,
    /// Diameter of the sphere of equal volume [m]; 0 for a half-space.
    pub size: Vec<f64>,
    /// Prescribed motion, if any.
    pub motion: Vec<Option<Motion>>,
    /// The corresponding body of a mechanism, if any.
    pub carried: Vec<Option<super::Carried>>,
    /// First node of each flexible body; the others follow it. Nodes are the last bodies of a scene.
    pub first_nodes: Vec<u32>,
}

impl Bodies {
    /// Assigns the next body its id and a slot after all others.
    pub(super) fn give_id(&mut self) {
        self.slots.push(self.ids.len() as u32);
        self.ids.push(self.slots.len() as u32 - 1);
    }

    /// Adds mass, inertia and locks of a body; the mass is infinite if it is not movable.
    pub(super) fn push_solid(&mut self, movable: bool, m: &MassProperties, locks: Locks) {
        self.movable.push(movable);
        self.mass.push(m.mass);
        let inverse = |k: usize| if movable && !locks.0[k] { 1.0 / m.mass } else { 0.0 };
        self.inverse_mass.push(std::array::from_fn(inverse));
        self.inertia.push(m.inertia);
        self.inverse_inertia.push(m.inertia.try_inverse().unwrap_or_else(Mat3::zeros));
        let turns = locks.0[3..].iter().filter(|locked| !**locked).count();
        self.tumbles.push(movable && !is_round(&m.inertia) && turns > 1);
        self.centre.push(m.centre);
        self.locks.push(locks);
    }

    /// Number of bodies.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Number of bodies that impulses move.
    pub fn n_movable(&self) -> usize {
        self.movable.iter().filter(|m| **m).count()
    }

    /// Inertia tensor in the world frame [kg m²].
    pub fn inertia_w(&self, i: usize, rotation: &Quat) -> Mat3 {
        let r = rotation.to_rotation_matrix();
        r.matrix() * self.inertia[i] * r.matrix().transpose()
    }

    /// Inverse inertia tensor in the world frame, zero along locked rotations [1/(kg m²)].
    pub fn inverse_inertia_w(&self, i: usize, rotation: &Quat) -> Mat3 {
        let locks = &self.locks[i].0[3..];
        if !locks.contains(&true) {
            let r = rotation.to_rotation_matrix();
            return r.matrix() * self.inverse_inertia[i] * r.matrix().transpose();
        }
        // Rotations about the free axes only: the inverse of the remaining tensor.
        let mut held = self.inertia_w(i, rotation);
        for k in (0..3).filter(|&k| locks[k]) {
            for l in 0..3 {
                held[(k, l)] = 0.0;
                held[(l, k)] = 0.0;
            }
            held[(k, k)] = 1.0;
        }
        let mut inverse = held.try_inverse().unwrap_or_else(Mat3::zeros);
        for k in (0..3).filter(|&k| locks[k]) {
            inverse[(k, k)] = 0.0;
        }
        inverse
    }
}

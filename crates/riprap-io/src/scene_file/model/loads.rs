//! Forces and torques as laws of time and state, and servos.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::super::convert::Converter;
use super::super::expression::Expression;
use super::super::fields::Field;
use super::super::keys::{Codec, Names, codec, keys};
use super::super::units::Dimension;
use super::super::values::Entries;
use super::Vector;

/// A component of a force or torque, or the target of a servo.
#[derive(Clone, Debug, PartialEq)]
pub enum LoadComponent {
    /// A constant, in SI units.
    Constant(f64),
    /// A function of time and state, in SI units.
    Law(LoadLaw),
}

/// A function of time and of positions and velocities of bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadLaw {
    /// The expression.
    pub expression: Expression,
    /// The values of its variables.
    pub inputs: Vec<LoadInput>,
}

/// A variable of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadInput {
    /// Time [s].
    Time,
    /// A coordinate of the body on which the law acts.
    Own(BodyCoordinate),
    /// A coordinate of another body, by its index in [`SceneFile::bodies`](super::SceneFile::bodies).
    Body(usize, BodyCoordinate),
}

/// A position or velocity of a body along an axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyCoordinate {
    /// Position of the origin of the shape [m].
    Position(usize),
    /// Velocity of the origin of the shape [m/s].
    Velocity(usize),
    /// Angular velocity [rad/s].
    Spin(usize),
}

impl BodyCoordinate {
    /// The names in expressions.
    pub const ALL: [(&'static str, BodyCoordinate); 9] = [
        ("x", BodyCoordinate::Position(0)),
        ("y", BodyCoordinate::Position(1)),
        ("z", BodyCoordinate::Position(2)),
        ("vx", BodyCoordinate::Velocity(0)),
        ("vy", BodyCoordinate::Velocity(1)),
        ("vz", BodyCoordinate::Velocity(2)),
        ("wx", BodyCoordinate::Spin(0)),
        ("wy", BodyCoordinate::Spin(1)),
        ("wz", BodyCoordinate::Spin(2)),
    ];

    /// Its dimension.
    pub(crate) fn dimension(self) -> Dimension {
        match self {
            BodyCoordinate::Position(_) => Dimension::LENGTH,
            BodyCoordinate::Velocity(_) => Dimension::VELOCITY,
            BodyCoordinate::Spin(_) => Dimension::ANGULAR_VELOCITY,
        }
    }
}

impl Serialize for LoadComponent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Constant(value) => serializer.serialize_f64(*value),
            Self::Law(law) => serializer.serialize_str(law.expression.source()),
        }
    }
}

/// A force or torque that is zero.
pub(crate) const NO_LOAD: [LoadComponent; 3] = [const { LoadComponent::Constant(0.0) }; 3];

codec! {
    /// Three components of a force or torque.
    pub(super) Loads: [LoadComponent; 3],
    |from, entries, key| from.load_vector(entries, key),
    |loads, _| loads
}

/// A drive with a target force and a limited speed.
#[derive(Clone, Debug, PartialEq)]
pub struct Servo {
    /// The axis along or about which it moves: a coordinate axis, with a sign.
    pub axis: Vector,
    /// Whether the body rotates about the axis instead of moving along it.
    pub turns: bool,
    /// What it pushes with.
    pub target: ServoTarget,
    /// Largest speed [m/s, rad/s].
    pub speed: f64,
    /// Whether the drive carries the weight of the body.
    pub carries_weight: bool,
}

/// The target of a servo.
#[derive(Clone, Debug, PartialEq)]
pub enum ServoTarget {
    /// A force along the axis [N] or a torque about it [N m].
    Push(LoadComponent),
    /// A stress [Pa] on an area [m²].
    Stress(LoadComponent, LoadComponent),
}

pub(super) const SERVO: &[Field] = keys! {
    /// The axis along which it moves: `"x"`, `"-z"`, …; positive forces push along it.
    along: Axis, Optional;
    /// Instead of `along`: the axis about which it rotates, through the centre of mass.
    about: Axis, Optional;
    /// Target force along the axis: a number, a quantity, or an expression like those of `force` of a free body.
    force: Load(Dimension::FORCE), Optional;
    /// Target torque about the axis, with `about`.
    torque: Load(Dimension::TORQUE), Optional;
    /// Instead of `force`: a target stress, which acts on `area`.
    stress: Load(Dimension::PRESSURE), Optional;
    /// The area on which `stress` acts; it may depend on other bodies, such as `"(right.x - left.x)*depth"`.
    area: Load(Dimension::AREA), Optional;
    /// Largest speed in either direction, with `along`.
    speed: Quantity(Dimension::VELOCITY, Positive), Optional;
    /// Largest angular speed in either direction, with `about`.
    angular_speed: Quantity(Dimension::ANGULAR_VELOCITY, Positive), Optional;
    /// Whether the drive carries the weight of the body, so that the target is the force on what the body pushes against.
    carries_weight: Flag, Default("true");
};

/// The keys of a servo.
pub(super) struct Driven;

impl Codec<Servo> for Driven {
    fn read(from: &mut Converter<'_>, body: &Entries, _: &'static str) -> Option<Servo> {
        from.servo(body)
    }

    fn write<M: SerializeMap>(
        servo: &Servo,
        _: Names<'_>,
        _: &'static str,
        map: &mut M,
    ) -> Result<(), M::Error> {
        let (axis, push, speed) = match servo.turns {
            true => ("about", "torque", "angular_speed"),
            false => ("along", "force", "speed"),
        };
        map.serialize_entry(axis, &servo.axis)?;
        match &servo.target {
            ServoTarget::Push(target) => map.serialize_entry(push, target)?,
            ServoTarget::Stress(stress, area) => {
                map.serialize_entry("stress", stress)?;
                map.serialize_entry("area", area)?;
            }
        }
        map.serialize_entry(speed, &servo.speed)?;
        map.serialize_entry("carries_weight", &servo.carries_weight)
    }
}

//! Single bodies, their masses and prescribed motions.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::super::convert::{Converter, Inertias};
use super::super::expression::Expression;
use super::super::fields::{Field, Kind, Limits};
use super::super::keys::{Codec, Names, codec, keys, table, variants};
use super::super::units::Dimension;
use super::super::values::Entries;
use super::loads::{Driven, LoadComponent, Loads, SERVO, Servo};
use super::shapes::{AnyShape, SHAPE_OR_NAME, TURNED, Turned};
use super::{LENGTH, OwnName, Quaternion, ShapeRef, Vector};

pub(super) static VELOCITY: Kind = Kind::Quantity(Dimension::VELOCITY, Limits::Any);
pub(super) static ANGULAR_VELOCITY: Kind = Kind::Quantity(Dimension::ANGULAR_VELOCITY, Limits::Any);
static FORCE: Kind = Kind::Load(Dimension::FORCE);
static TORQUE: Kind = Kind::Load(Dimension::TORQUE);
static INERTIA: Kind = Kind::Quantity(Dimension::INERTIA, Limits::Any);
pub(super) static INERTIA_ROW: Kind = Kind::OneOf(&[
    Kind::Quantity(Dimension::INERTIA, Limits::Any),
    Kind::List { of: &INERTIA, min: 3, max: 3 },
]);
static POSITION_LAW: Kind = Kind::Law(Dimension::LENGTH);
static VELOCITY_LAW: Kind = Kind::Law(Dimension::VELOCITY);
static ANGULAR_VELOCITY_LAW: Kind = Kind::Law(Dimension::ANGULAR_VELOCITY);

/// Directions in which a body can be locked, in the order of [`BodyKind::Free`].
const DIRECTIONS: &[(&str, &str)] = &[
    ("x", "no motion along x"),
    ("y", "no motion along y"),
    ("z", "no motion along z"),
    ("rx", "no rotation about x"),
    ("ry", "no rotation about y"),
    ("rz", "no rotation about z"),
];
static DIRECTION: Kind = Kind::Choice(DIRECTIONS);

table! {
    /// One body.
    BODY = "body", "[[body]]", tag &BODY_KIND;
    pub struct Body {
        /// Unique name.
        name: String = Name, Computed("`body-1`, `body-2`, … in file order"), with OwnName;
        /// A shape, inline or by name.
        shape: ShapeRef = OneOf(&SHAPE_OR_NAME), Required, with BodyForm;
        /// Its material.
        material: usize = Refers("material"), Required, with BodyMaterial;
        /// Position of the origin of the shape.
        position: Vector = Polar(&LENGTH), Default("[0.0, 0.0, 0.0]"), unless Body::has_position_law;
        /// Orientation of the shape.
        rotation: Quaternion => TURNED, with Turned;
        /// Mass properties; `None`: from density and shape.
        mass: Option<Mass> => MASS, with GivenMass;
        /// How the body moves.
        kind: BodyKind => &[];
    }
}

impl Body {
    /// Whether the prescribed motion gives the position.
    pub(in super::super) fn has_position_law(&self) -> bool {
        matches!(&self.kind, BodyKind::Moving { motion } if matches!(motion.translation, Translation::Position(_)))
    }
}

codec! {
    /// A shape allowed for the body.
    BodyForm: ShapeRef,
    |from, entries, key| {
        from.check_half_space(entries);
        AnyShape::read(from, entries, key)
    },
    |shape, names| super::shapes::Written(names, shape)
}

codec! {
    /// The material of a body. It determines the mass unless the mass is given.
    BodyMaterial: usize,
    |from, body, key| {
        let weighed = matches!(body.variant, Some("free" | "servo")) && body.given("mass").is_none();
        from.material(body, key, weighed)
    },
    |index, names| names.scene.materials[*index].name
}

/// Explicit mass properties.
#[derive(Clone, Debug, PartialEq)]
pub struct Mass {
    /// Mass [kg].
    pub mass: f64,
    /// Inertia about the centre of mass, along the axes of the shape [kg m²], symmetric and physical;
    /// `None`: that of the shape, scaled to the mass.
    pub inertia: Option<[Vector; 3]>,
    /// Centre of mass in the frame of the shape [m]; `None`: that of the shape.
    pub centre: Option<Vector>,
}

const MASS: &[Field] = keys! {
    /// Mass, instead of density times volume.
    mass: Quantity(Dimension::MASS, Positive), Optional;
    /// Inertia about the centre of mass along the axes of the shape, as three principal values or a 3×3 matrix; needs `mass`.
    inertia: List { of: &INERTIA_ROW, min: 3, max: 3 }, Optional;
    /// Centre of mass in the frame of the shape; needs `mass` and `inertia`.
    centre: Polar(&LENGTH), Optional;
};

/// `mass`, `inertia` and `centre`, all optional.
pub(super) struct GivenMass;

impl Codec<Option<Mass>> for GivenMass {
    fn read(from: &mut Converter<'_>, body: &Entries, _: &'static str) -> Option<Option<Mass>> {
        from.mass(body, Inertias::Solid, true)
    }

    fn write<M: SerializeMap>(
        mass: &Option<Mass>,
        _: Names<'_>,
        _: &'static str,
        map: &mut M,
    ) -> Result<(), M::Error> {
        let Some(mass) = mass else { return Ok(()) };
        map.serialize_entry("mass", &mass.mass)?;
        map.serialize_entry("inertia", &mass.inertia)?;
        map.serialize_entry("centre", &mass.centre)
    }
}

variants! {
    /// How a body moves.
    BODY_KIND = "kind", "How the body moves.", Some("free");
    pub enum BodyKind {
        /// Moves under forces and contacts.
        Free "free" {
            /// Initial velocity of the centre of mass.
            velocity: Vector = Polar(&VELOCITY), Default("[0.0, 0.0, 0.0]");
            /// Initial angular velocity, in the world frame.
            angular_velocity: Vector = Axial(&ANGULAR_VELOCITY), Default("[0.0, 0.0, 0.0]");
            /// Locked directions, in the world frame.
            locked: [bool; 6] = List { of: &DIRECTION, min: 0, max: 6 }, Default("[]"), with Locked;
            /// Force applied at the centre of mass, in the world frame: numbers, quantities, or expressions of the time `t`, of the
            /// position `x`, `y`, `z` of the origin of the shape, its velocity `vx`, `vy`, `vz` and the angular velocity `wx`, `wy`,
            /// `wz`, and of those of other bodies, such as `plate.z` and `plate.vz`.
            force: [LoadComponent; 3] = Polar(&FORCE), Default("[0.0, 0.0, 0.0]"), with Loads;
            /// Torque, in the world frame, like `force`.
            torque: [LoadComponent; 3] = Axial(&TORQUE), Default("[0.0, 0.0, 0.0]"), with Loads;
        },
        /// Does not move.
        Fixed "fixed",
        /// Moves as prescribed, regardless of contacts.
        Moving "moving" {
            /// The prescribed motion.
            motion: Motion = Table(&MOTION), Required;
        },
        /// Moves along or about one axis, pushed by a drive with a target force and a limited speed; all other directions are
        /// locked. The drive pushes with exactly the target as long as it is slower than the limit.
        Servo "servo" {
            /// The drive.
            drive: Servo => SERVO, with Driven;
        },
    }
}

codec! {
    /// Directions by name; the model has one flag each for x, y, z, rx, ry, rz.
    Locked: [bool; 6],
    |from, entries, key| {
        let mut locked = [false; 6];
        for node in entries.list(key)? {
            let index = DIRECTIONS.iter().position(|(name, _)| Some(*name) == node.text())?;
            if std::mem::replace(&mut locked[index], true) {
                let message = format!("`locked` lists {} twice", DIRECTIONS[index].0);
                from.problems.report(node.span.clone(), message);
            }
        }
        Some(locked)
    },
    |locked, _| {
        let directions = DIRECTIONS.iter().zip(locked);
        directions.filter(|(_, locked)| **locked).map(|((name, _), _)| *name).collect::<Vec<_>>()
    }
}

table! {
    /// A prescribed motion. Each component is a number or an expression of the time `t` and the parameters, in SI units.
    MOTION = "motion", "[body.motion]";
    pub struct Motion {
        /// Motion of the origin of the shape.
        translation: Translation => TRANSLATION, with Moved;
        /// Angular velocity in the world frame, about the origin of the shape.
        angular_velocity: [Component; 3] = Axial(&ANGULAR_VELOCITY_LAW), Default("[0.0, 0.0, 0.0]"), with Laws;
    }
}

/// Prescribed motion of a point.
#[derive(Clone, Debug, PartialEq)]
pub enum Translation {
    /// By its velocity [m/s].
    Velocity([Component; 3]),
    /// By its position [m].
    Position([Component; 3]),
}

const TRANSLATION: &[Field] = keys! {
    /// Velocity of the origin of the shape.
    velocity: Polar(&VELOCITY_LAW), Computed("0, unless `position` is given");
    /// Position of the origin of the shape; replaces `velocity` and the body's own `position`.
    position: Polar(&POSITION_LAW), Optional;
};

/// `velocity` or `position`.
struct Moved;

impl Codec<Translation> for Moved {
    fn read(from: &mut Converter<'_>, motion: &Entries, _: &'static str) -> Option<Translation> {
        from.translation(motion)
    }

    fn write<M: SerializeMap>(
        translation: &Translation,
        _: Names<'_>,
        _: &'static str,
        map: &mut M,
    ) -> Result<(), M::Error> {
        match translation {
            Translation::Velocity(laws) => map.serialize_entry("velocity", laws),
            Translation::Position(laws) => map.serialize_entry("position", laws),
        }
    }
}

codec! {
    /// Three components of a motion.
    Laws: [Component; 3],
    |from, entries, key| from.laws(entries, key),
    |laws, _| laws
}

/// A component of a prescribed motion.
#[derive(Clone, Debug, PartialEq)]
pub enum Component {
    /// A constant, in SI units.
    Constant(f64),
    /// A function of the time `t` [s], in SI units.
    Expression(Expression),
}

impl Component {
    /// The value at time `t` [s], in SI units.
    pub fn at(&self, t: f64) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Expression(law) => law.evaluate(&[t]),
        }
    }
}

impl Serialize for Component {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Constant(value) => serializer.serialize_f64(*value),
            Self::Expression(law) => serializer.serialize_str(law.source()),
        }
    }
}

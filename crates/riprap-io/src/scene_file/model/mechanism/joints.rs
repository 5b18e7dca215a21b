//! Joints of mechanisms, their coordinates, and the forces and drives along these.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::super::super::fields::{Field, Kind, Limits, Need, Table, field};
use super::super::super::keys::{In, Names, Single, WriteKeys, codec, keys, table, variants};
use super::super::super::units::Dimension;
use super::super::bodies::{ANGULAR_VELOCITY, VELOCITY};
use super::super::shapes::ROTATION;
use super::super::{Component, LENGTH, Quaternion, Vector};
use super::{A_LENGTH, AN_ANGLE, Law, body_name};

const STIFFNESS: Kind = Kind::Quantity(Dimension::STIFFNESS, Limits::NonNegative);
const DAMPING: Kind = Kind::Quantity(Dimension::DAMPING, Limits::NonNegative);
const ANGULAR_STIFFNESS: Kind = Kind::Quantity(Dimension::ANGULAR_STIFFNESS, Limits::NonNegative);
const ANGULAR_DAMPING: Kind = Kind::Quantity(Dimension::ANGULAR_DAMPING, Limits::NonNegative);
const A_VELOCITY: Kind = Kind::Quantity(Dimension::VELOCITY, Limits::Any);
const AN_ANGULAR_VELOCITY: Kind = Kind::Quantity(Dimension::ANGULAR_VELOCITY, Limits::Any);

static AXIS: Kind = Kind::Axis;
static CHAIN_JOINT_KIND: Kind = Kind::Table(&CHAIN_JOINT);

/// A joint. With all coordinates 0 the frame of the child is that of the joint.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Name, unique within the mechanism.
    pub name: String,
    /// Index into [`Mechanism::bodies`](super::Mechanism::bodies); `None`: the ground.
    pub parent: Option<usize>,
    /// Index into [`Mechanism::bodies`](super::Mechanism::bodies).
    pub child: usize,
    /// Origin of the joint in the frame of the parent [m].
    pub position: Vector,
    /// Rotation of the joint in the frame of the parent.
    pub rotation: Quaternion,
    /// How the child moves.
    pub kind: JointKind,
    /// Initial position, [`JointKind::n_positions`] numbers [m, rad]: one per coordinate; the quaternion w, x, y, z for a
    /// spherical joint; x, y, z and the quaternion for a free joint. With [`Drive::Motion`], its value at t = 0.
    pub start: Vec<f64>,
    /// Whether `start` was given; otherwise the assembly of loops may change it freely.
    pub start_held: bool,
    /// Initial velocity, [`JointKind::n_velocities`] numbers [m/s, rad/s]. With a drive, that of the drive.
    pub start_velocity: Vec<f64>,
    /// Whether `start_velocity` was given; otherwise the loops may determine it.
    pub start_velocity_held: bool,
    /// The drive of the coordinate; [`Drive::None`] unless revolute or prismatic.
    pub drive: Drive,
    /// Spring and damper along the coordinate; `None` unless revolute or prismatic.
    pub spring: Option<JointSpring>,
    /// Stops of the coordinate; `None` unless revolute or prismatic.
    pub stops: Option<Stops>,
    /// Servo on the coordinate; `None` unless revolute or prismatic.
    pub servo: Option<JointServo>,
}

const JOINT_DOC: &str = "Names of joints are used in expressions, so they consist of letters, digits, `_` and `.` only.";
const ENDS: &[Field] = keys! {
    /// The parent body, or `ground`.
    parent: Refers("body"), Default("\"ground\"");
    /// The child body.
    child: Refers("body"), Required;
};
const POSITION: &[Field] = keys! {
    /// Position of the joint in the frame of the parent.
    position: Polar(&LENGTH), Default("[0.0, 0.0, 0.0]");
};
const TURNED: &[Field] = keys! {
    /// Orientation of the joint in the frame of the parent.
    rotation: Table(&ROTATION), Optional;
    /// Rotation of the joint about z; for planar scenes, instead of `rotation`.
    angle: AN_ANGLE, Optional;
};

pub(super) static JOINT: Table = Table {
    name: "mechanism-joint",
    title: "[[mechanism.joint]]",
    doc: "A joint. With all coordinates 0, the frame of the child is that of the joint.",
    fields: &[
        &[field(
            "name",
            Kind::Name,
            Need::Computed("`joint_1`, `joint_2`, … in file order"),
            JOINT_DOC,
        )],
        ENDS,
        POSITION,
        TURNED,
    ],
    tag: Some(&JOINT_TYPE),
};

pub(super) static CHAIN: Table = Table {
    name: "chain",
    title: "[[mechanism.chain]]",
    doc: "A series of joints between two bodies, connected by massless links named `CHILD.JOINT`.",
    fields: &[
        ENDS,
        keys! {
            /// The joints, from the parent to the child.
            joints: List { of: &CHAIN_JOINT_KIND, min: 1, max: 100 }, Required;
        },
    ],
    tag: None,
};

static CHAIN_JOINT: Table = Table {
    name: "chain-joint",
    title: "a joint of a chain",
    doc: "A joint of a chain.",
    fields: &[&[field("name", Kind::Name, Need::Required, JOINT_DOC)], POSITION, TURNED],
    tag: Some(&JOINT_TYPE),
};

variants! {
    /// How the child of a joint moves. Axes are unit vectors in the frame of the joint.
    JOINT_TYPE = "type", "How the child moves.", None;
    pub enum JointKind {
        /// Rotates about the axis by the angle `NAME`.
        Revolute "revolute" {
            /// Axis in the frame of the joint, of any nonzero length.
            axis: Vector = Axis, Required, with Turning;
        } + [REVOLUTE],
        /// Slides along the axis by the length `NAME`.
        Prismatic "prismatic" {
            /// Axis in the frame of the joint, of any nonzero length.
            axis: Vector = Axis, Required, with Sliding;
        } + [PRISMATIC],
        /// Slides along the axis by `NAME.slide` and rotates about it by `NAME.turn`. For springs, stops and
        /// motors, use a chain of a prismatic and a revolute joint.
        Cylindrical "cylindrical" {
            /// Axis in the frame of the joint, of any nonzero length.
            axis: Vector = Axis, Required, with Turning;
        } + [&starts(&SLIDE_TURN, &SLIDE_TURN_RATE)],
        /// Rotates by `NAME.first` about the first axis, which is fixed in the parent, and by `NAME.second` about
        /// the second, which rotates with the first.
        Universal "universal" {
            /// The two axes in the frame of the joint; not parallel.
            axes: [Vector; 2] = List { of: &AXIS, min: 2, max: 2 }, Required, with Crossed;
        } + [&starts(&TWO_ANGLES, &TWO_RATES)],
        /// Slides in a plane by `NAME.x` and `NAME.y` and rotates in it by `NAME.angle`.
        Planar "planar" {
            /// Directions of `x` and `y` in the frame of the joint, perpendicular to each other; positive angles rotate the
            /// first towards the second: about `-y` with `["x", "z"]`.
            axes: [Vector; 2] = List { of: &AXIS, min: 2, max: 2 }, Default("[\"x\", \"y\"]"), with Spanning;
        } + [&starts(&IN_PLANE, &IN_PLANE_RATE)],
        /// Rotates freely about its origin. Its velocities are `NAME.wx`, `NAME.wy`, `NAME.wz`, the angular
        /// velocity along the axes of the child; it has no coordinates `q.`.
        Spherical "spherical" [&[START_ROTATION, GUESS_ROTATION, START_ANGULAR_VELOCITY]],
        /// Moves freely by `NAME.x`, `NAME.y`, `NAME.z` along the axes of the joint. Its angular velocity along
        /// the axes of the child is `NAME.wx`, `NAME.wy`, `NAME.wz`.
        Free "free" [FREE],
        /// Does not move; has no coordinates.
        Fixed "fixed",
    }
}

/// Placeholder for an invalid axis, so that the joint still has its coordinates.
const ANY: Vector = [0.0, 0.0, 1.0];

codec! {
    /// An axis about which the child rotates.
    Turning: Vector,
    |from, joint, _| Some(from.axis(joint, true).unwrap_or(ANY)),
    |axis, _| axis
}

codec! {
    /// An axis along which the child slides.
    Sliding: Vector,
    |from, joint, _| Some(from.axis(joint, false).unwrap_or(ANY)),
    |axis, _| axis
}

codec! {
    /// Two axes that are not parallel.
    Crossed: [Vector; 2],
    |from, joint, _| Some(from.crossed_axes(joint).unwrap_or([ANY; 2])),
    |axes, _| axes
}

codec! {
    /// Two perpendicular axes.
    Spanning: [Vector; 2],
    |from, joint, _| Some(from.spanning_axes(joint).unwrap_or([ANY; 2])),
    |axes, _| axes
}

const START: &str = "Initial coordinate; the assembly of loops keeps it if possible.";
const STARTS: &str = "Initial coordinates; the assembly of loops keeps them if possible.";
const GUESS: &str = "Instead of `start`: an initial value that the assembly of loops may change.";
const START_VELOCITY: &str = "Initial velocity; the loops keep it if possible.";
const DAMPING_DOC: &str = "Damping only, instead of a `spring`.";
const MOTION: &str = "The coordinate as an expression of the time `t`, instead of `start`.";
const SPEED: &str = "Constant velocity of a motor, starting at `start`.";
const SERVO: &str = "A drive with a target force or torque and a limited speed.";
const SPRING_DOC: &str = "Spring and damper along the coordinate.";
const ZERO: Need = Need::Computed("0");

const REVOLUTE: &[Field] = &[
    field("start", AN_ANGLE, ZERO, START),
    field("guess", AN_ANGLE, Need::Optional, GUESS),
    field("start_velocity", AN_ANGULAR_VELOCITY, ZERO, START_VELOCITY),
    field("spring", Kind::Table(&ANGULAR_SPRING), Need::Optional, SPRING_DOC),
    field("damping", ANGULAR_DAMPING, Need::Optional, DAMPING_DOC),
    field("stops", Kind::Table(&ANGULAR_STOPS), Need::Optional, "Elastic stops."),
    field("motion", Kind::Law(Dimension::ANGLE), Need::Optional, MOTION),
    field("speed", AN_ANGULAR_VELOCITY, Need::Optional, SPEED),
    field("servo", Kind::Table(&ANGULAR_SERVO), Need::Optional, SERVO),
];
const PRISMATIC: &[Field] = &[
    field("start", A_LENGTH, ZERO, START),
    field("guess", A_LENGTH, Need::Optional, GUESS),
    field("start_velocity", A_VELOCITY, ZERO, START_VELOCITY),
    field("spring", Kind::Table(&JOINT_SPRING), Need::Optional, SPRING_DOC),
    field("damping", DAMPING, Need::Optional, DAMPING_DOC),
    field("stops", Kind::Table(&STOPS), Need::Optional, "Elastic stops."),
    field("motion", Kind::Law(Dimension::LENGTH), Need::Optional, MOTION),
    field("speed", A_VELOCITY, Need::Optional, SPEED),
    field("servo", Kind::Table(&JOINT_SERVO), Need::Optional, SERVO),
];

type Parts = [(&'static str, Kind)];

/// The initial state of a joint with several coordinates.
const fn starts(values: &'static Parts, rates: &'static Parts) -> [Field; 3] {
    [
        field("start", Kind::Tuple(values), ZERO, STARTS),
        field("guess", Kind::Tuple(values), Need::Optional, GUESS),
        field("start_velocity", Kind::Tuple(rates), ZERO, START_VELOCITY),
    ]
}

static SLIDE_TURN: [(&str, Kind); 2] = [("slide", A_LENGTH), ("turn", AN_ANGLE)];
static SLIDE_TURN_RATE: [(&str, Kind); 2] = [("slide", A_VELOCITY), ("turn", AN_ANGULAR_VELOCITY)];
static TWO_ANGLES: [(&str, Kind); 2] = [("first", AN_ANGLE), ("second", AN_ANGLE)];
static TWO_RATES: [(&str, Kind); 2] =
    [("first", AN_ANGULAR_VELOCITY), ("second", AN_ANGULAR_VELOCITY)];
static IN_PLANE: [(&str, Kind); 3] = [("x", A_LENGTH), ("y", A_LENGTH), ("angle", AN_ANGLE)];
static IN_PLANE_RATE: [(&str, Kind); 3] =
    [("x", A_VELOCITY), ("y", A_VELOCITY), ("angle", AN_ANGULAR_VELOCITY)];

const START_ROTATION: Field = field(
    "start_rotation",
    Kind::Table(&ROTATION),
    Need::Optional,
    "Initial orientation of the child; the assembly of loops keeps it if possible.",
);
const GUESS_ROTATION: Field = field(
    "guess_rotation",
    Kind::Table(&ROTATION),
    Need::Optional,
    "Instead of `start_rotation`: an initial orientation that the assembly of loops may change.",
);
const START_ANGULAR_VELOCITY: Field = field(
    "start_angular_velocity",
    Kind::List { of: &ANGULAR_VELOCITY, min: 3, max: 3 },
    ZERO,
    "Initial angular velocity, along the axes of the child.",
);
const FREE: &[Field] = &[
    field(
        "start_position",
        Kind::List { of: &LENGTH, min: 3, max: 3 },
        ZERO,
        "Initial position of the child; the assembly of loops keeps it if possible.",
    ),
    field(
        "guess_position",
        Kind::List { of: &LENGTH, min: 3, max: 3 },
        Need::Optional,
        "Instead of `start_position`: an initial position that the assembly of loops may change.",
    ),
    START_ROTATION,
    GUESS_ROTATION,
    field(
        "start_velocity",
        Kind::List { of: &VELOCITY, min: 3, max: 3 },
        ZERO,
        "Initial velocity of the origin of the child.",
    ),
    START_ANGULAR_VELOCITY,
];

impl JointKind {
    /// Suffixes of the names of its velocities: a single empty suffix if the name of the joint suffices.
    ///
    /// The velocities of spherical and free joints are the angular velocity `wx`, `wy`, `wz` in the frame of the child;
    /// for free joints, the velocity of the origin along the axes of the joint comes first.
    pub fn velocity_names(&self) -> &'static [&'static str] {
        match self {
            Self::Revolute { .. } | Self::Prismatic { .. } => &[""],
            Self::Cylindrical { .. } => &["slide", "turn"],
            Self::Universal { .. } => &["first", "second"],
            Self::Planar { .. } => &["x", "y", "angle"],
            Self::Spherical => &["wx", "wy", "wz"],
            Self::Free => &["x", "y", "z", "wx", "wy", "wz"],
            Self::Fixed => &[],
        }
    }

    /// How many of the first [`JointKind::velocity_names`] are also names of positions: all but those of spatial
    /// rotations, which have no coordinates.
    pub fn n_named_positions(&self) -> usize {
        match self {
            Self::Spherical => 0,
            Self::Free => 3,
            _ => self.n_velocities(),
        }
    }

    /// Number of values in its position; a quaternion counts as four.
    pub fn n_positions(&self) -> usize {
        match self {
            Self::Spherical => 4,
            Self::Free => 7,
            _ => self.n_velocities(),
        }
    }

    /// Number of values in its velocity: its degrees of freedom.
    pub fn n_velocities(&self) -> usize {
        self.velocity_names().len()
    }
}

/// What drives a coordinate.
#[derive(Clone, Debug, PartialEq)]
pub enum Drive {
    /// Nothing: it moves under forces.
    None,
    /// A motion: the coordinate as a function of time [m, rad].
    Motion(Component),
    /// A motor of constant speed [m/s, rad/s], starting at `start`.
    Speed(f64),
}

table! {
    /// The force `-stiffness*(q - rest) - damping*v` along the coordinate of a joint.
    JOINT_SPRING = "joint-spring", "a spring of a prismatic joint";
    pub struct JointSpring {
        /// Stiffness.
        stiffness: f64 = STIFFNESS, Required;
        /// The coordinate at which it is relaxed.
        rest: f64 = A_LENGTH, Default("0.0");
        /// Damping.
        damping: f64 = DAMPING, Default("0.0");
    }
}

/// The rotational counterpart.
static ANGULAR_SPRING: Table = Table {
    name: "angular-joint-spring",
    title: "a spring of a revolute joint",
    doc: JOINT_SPRING.doc,
    fields: &[&[
        about(&JOINT_SPRING, 0, ANGULAR_STIFFNESS),
        about(&JOINT_SPRING, 1, AN_ANGLE),
        about(&JOINT_SPRING, 2, ANGULAR_DAMPING),
    ]],
    tag: None,
};

table! {
    /// Springs and dampers that act below `lower` and above `upper`.
    STOPS = "stops", "stops of a prismatic joint";
    pub struct Stops {
        /// Where the lower stop begins.
        lower: Option<f64> = A_LENGTH, Optional;
        /// Where the upper stop begins.
        upper: Option<f64> = A_LENGTH, Optional;
        /// Stiffness.
        stiffness: f64 = Quantity(Dimension::STIFFNESS, Positive), Required;
        /// Damping.
        damping: f64 = DAMPING, Default("0.0");
    }
}

/// The rotational counterpart.
static ANGULAR_STOPS: Table = Table {
    name: "angular-stops",
    title: "stops of a revolute joint",
    doc: STOPS.doc,
    fields: &[&[
        about(&STOPS, 0, AN_ANGLE),
        about(&STOPS, 1, AN_ANGLE),
        about(&STOPS, 2, Kind::Quantity(Dimension::ANGULAR_STIFFNESS, Limits::Positive)),
        about(&STOPS, 3, ANGULAR_DAMPING),
    ]],
    tag: None,
};

/// A drive that pushes a coordinate with a target force or torque as long as it is slower than a limit.
#[derive(Clone, Debug, PartialEq)]
pub struct JointServo {
    /// Target force [N] or torque [N m].
    pub law: Law,
    /// Largest speed in either direction [m/s, rad/s].
    pub speed: f64,
}

const TARGET: &str = "Target along the coordinate: a number or an expression, like the law of a [[mechanism.force]].";
const LARGEST_SPEED: &str = "Largest speed of the coordinate in either direction.";

/// A servo of a prismatic joint.
static JOINT_SERVO: Table = Table {
    name: "joint-servo",
    title: "a servo of a prismatic joint",
    doc: "A drive that pushes with its target as long as it is slower than its speed.",
    fields: &[&[
        field("force", Kind::Law(Dimension::FORCE), Need::Required, TARGET),
        field(
            "speed",
            Kind::Quantity(Dimension::VELOCITY, Limits::Positive),
            Need::Required,
            LARGEST_SPEED,
        ),
    ]],
    tag: None,
};

/// The rotational counterpart.
static ANGULAR_SERVO: Table = Table {
    name: "angular-joint-servo",
    title: "a servo of a revolute joint",
    doc: JOINT_SERVO.doc,
    fields: &[&[
        field("torque", Kind::Law(Dimension::TORQUE), Need::Required, TARGET),
        field(
            "speed",
            Kind::Quantity(Dimension::ANGULAR_VELOCITY, Limits::Positive),
            Need::Required,
            LARGEST_SPEED,
        ),
    ]],
    tag: None,
};

/// A servo as a table.
struct WrittenServo<'a>(&'a JointServo, &'a JointKind);

impl Serialize for WrittenServo<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(2))?;
        let turns = matches!(self.1, JointKind::Revolute { .. });
        map.serialize_entry(if turns { "torque" } else { "force" }, &self.0.law)?;
        map.serialize_entry("speed", &self.0.speed)?;
        map.end()
    }
}

/// Key `index` of a table, with the dimension of its rotational counterpart.
const fn about(table: &Table, index: usize, kind: Kind) -> Field {
    Field { kind, ..table.fields[index][0] }
}

impl WriteKeys for Joint {
    fn write_keys<M: SerializeMap>(&self, names: Names<'_>, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("parent", body_name(names, self.parent))?;
        map.serialize_entry("child", body_name(names, Some(self.child)))?;
        map.serialize_entry("position", &self.position)?;
        self.kind.write_keys(names, map)?;
        self.write_start(map)?;
        match &self.drive {
            Drive::None => {}
            Drive::Motion(motion) => map.serialize_entry("motion", motion)?,
            Drive::Speed(speed) => map.serialize_entry("speed", speed)?,
        }
        map.serialize_entry("rotation", &Single("quaternion", &self.rotation))?;
        if let Some(servo) = &self.servo {
            map.serialize_entry("servo", &WrittenServo(servo, &self.kind))?;
        }
        map.serialize_entry("spring", &self.spring.as_ref().map(|spring| In(names, spring)))?;
        map.serialize_entry("stops", &self.stops.as_ref().map(|stops| In(names, stops)))
    }
}

impl Joint {
    /// The initial coordinates, except those determined by a drive.
    fn write_start<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        let [one, position, rotation] = match self.start_held {
            true => ["start", "start_position", "start_rotation"],
            false => ["guess", "guess_position", "guess_rotation"],
        };
        if let JointKind::Spherical | JointKind::Free = self.kind {
            let (place, turn) = self.start.split_at(self.start.len().saturating_sub(4));
            let (velocity, spin) = self.start_velocity.split_at(place.len());
            if !place.is_empty() {
                map.serialize_entry(position, place)?;
            }
            map.serialize_entry(rotation, &Single("quaternion", &turn))?;
            if self.start_velocity_held && !velocity.is_empty() {
                map.serialize_entry("start_velocity", velocity)?;
            }
            if self.start_velocity_held {
                map.serialize_entry("start_angular_velocity", spin)?;
            }
            return Ok(());
        }
        let mut write = |key: &str, values: &[f64]| match values {
            [] => Ok(()),
            [value] => map.serialize_entry(key, value),
            _ => map.serialize_entry(key, values),
        };
        if !matches!(self.drive, Drive::Motion(_)) {
            write(one, &self.start)?;
        }
        if self.drive == Drive::None && self.start_velocity_held {
            write("start_velocity", &self.start_velocity)?;
        }
        Ok(())
    }
}

//! The format of mechanisms: bodies, joints, chains, loops, springs and forces.

use super::super::fields::{Field, Kind, Limits, Need, Table, Tag, Variant};
use super::super::units::Dimension;
use super::bodies::{ANGULAR_VELOCITY, INERTIA_ROW, VELOCITY};
use super::shapes::{ANGLE, POSITION, ROTATION, ROTATION_TABLE, SHAPE_OR_NAME};
use super::{LENGTH, field};

/// The largest number of bodies, joints or forces in a mechanism.
const MANY: usize = 10_000;

static BODY_KIND: Kind = Kind::Table(&BODY);
static BODY_SHAPE_KIND: Kind = Kind::Table(&BODY_SHAPE);
static JOINT_KIND: Kind = Kind::Table(&JOINT);
static CHAIN_KIND: Kind = Kind::Table(&CHAIN);
static CHAIN_JOINT_KIND: Kind = Kind::Table(&CHAIN_JOINT);
static LOOP_KIND: Kind = Kind::Table(&LOOP);
static SPRING_KIND: Kind = Kind::Table(&SPRING);
static FORCE_KIND: Kind = Kind::Table(&FORCE);
static PHASE_KIND: Kind = Kind::Table(&PHASE);
static COORDINATE: Kind = Kind::Refers("coordinate");
static AXIS: Kind = Kind::Axis;
static FORCE_LAW: Kind = Kind::Law(Dimension::FORCE);
static TORQUE_LAW: Kind = Kind::Law(Dimension::TORQUE);
static LATCH_LAW: Kind = Kind::Law(Dimension::NONE);

const STIFFNESS: Kind = Kind::Quantity(Dimension::STIFFNESS, Limits::NonNegative);
const DAMPING: Kind = Kind::Quantity(Dimension::DAMPING, Limits::NonNegative);
const ANGULAR_STIFFNESS: Kind = Kind::Quantity(Dimension::ANGULAR_STIFFNESS, Limits::NonNegative);
const ANGULAR_DAMPING: Kind = Kind::Quantity(Dimension::ANGULAR_DAMPING, Limits::NonNegative);
const A_LENGTH: Kind = Kind::Quantity(Dimension::LENGTH, Limits::Any);
const AN_ANGLE: Kind = Kind::Quantity(Dimension::ANGLE, Limits::Any);
const A_VELOCITY: Kind = Kind::Quantity(Dimension::VELOCITY, Limits::Any);
const AN_ANGULAR_VELOCITY: Kind = Kind::Quantity(Dimension::ANGULAR_VELOCITY, Limits::Any);

pub(super) static MECHANISM: Table = Table {
    name: "mechanism",
    title: "[[mechanism]]",
    doc: "An articulated system: a tree of bodies and joints that starts at the `ground`, loops that close it, and forces. \
          A joint has coordinates, called as the joint if there is one and `joint.part` if there are several; \
          expressions know them as `q.NAME` and their velocities as `v.NAME`.",
    fields: &[
        field(
            "name",
            Kind::Name,
            Need::Computed("`mechanism-1`, `mechanism-2`, … by place in the file"),
            "Name, used once.",
        ),
        field(
            "position",
            Kind::Polar(&LENGTH),
            Need::Default("[0.0, 0.0, 0.0]"),
            "Where the origin of its `ground` is in the world.",
        ),
        field(
            "rotation",
            Kind::Table(&ROTATION_TABLE),
            Need::Optional,
            "How its `ground` is turned in the world.",
        ),
        field(
            "angle",
            AN_ANGLE,
            Need::Optional,
            "How its `ground` is turned about z; for planar scenes, instead of `rotation`.",
        ),
        field(
            "urdf",
            Kind::File,
            Need::Optional,
            "A URDF file that brings bodies and joints, relative to the scene file. Its root is fixed to the ground unless \
             a joint of the scene has it as `child`. Links without mass are massless, cylinders become prisms, meshes their hulls; \
             `dynamics` give the damping. Dry friction and limits of effort and velocity are left out. In names, letters that \
             are not allowed become `_`.",
        ),
        field(
            "urdf_material",
            Kind::Refers("material"),
            Need::Optional,
            "Material of the collision shapes of the URDF file; without it they are left out.",
        ),
        field(
            "urdf_limits",
            Kind::Table(&URDF_LIMITS),
            Need::Optional,
            "Makes elastic stops of the limits of the URDF file; without it they are left out.",
        ),
        field(
            "urdf_joints",
            Kind::Named(&URDF_JOINT),
            Need::Default("{}"),
            "Start and drive of joints of the URDF file by name: `[mechanism.urdf_joints.knee]`.",
        ),
        field(
            "body",
            Kind::List { of: &BODY_KIND, min: 0, max: MANY },
            Need::Default("[]"),
            "Bodies: `[[mechanism.body]]`.",
        ),
        field(
            "joint",
            Kind::List { of: &JOINT_KIND, min: 0, max: MANY },
            Need::Default("[]"),
            "Joints, one for each body: `[[mechanism.joint]]`.",
        ),
        field(
            "chain",
            Kind::List { of: &CHAIN_KIND, min: 0, max: MANY },
            Need::Default("[]"),
            "Several joints in a row, instead of one: `[[mechanism.chain]]`.",
        ),
        field(
            "loop",
            Kind::List { of: &LOOP_KIND, min: 0, max: MANY },
            Need::Default("[]"),
            "Joints that close the tree to loops: `[[mechanism.loop]]`.",
        ),
        field(
            "spring",
            Kind::List { of: &SPRING_KIND, min: 0, max: MANY },
            Need::Default("[]"),
            "Springs and dampers between points: `[[mechanism.spring]]`.",
        ),
        field(
            "force",
            Kind::List { of: &FORCE_KIND, min: 0, max: MANY },
            Need::Default("[]"),
            "Actuators and loads: `[[mechanism.force]]`.",
        ),
        field(
            "dependent",
            Kind::List { of: &COORDINATE, min: 1, max: MANY },
            Need::Computed("chosen from the loops"),
            "Coordinates that follow from the others by the loops.",
        ),
    ],
    tag: None,
};

static URDF_LIMITS: Table = Table {
    name: "urdf-limits",
    title: "stops of a URDF file",
    doc: "Elastic stops at the limits of every joint of a URDF file, in SI.",
    fields: &[
        field(
            "stiffness",
            Kind::Number(Limits::Positive),
            Need::Required,
            "Stiffness beyond the limits, in N/m and N*m/rad.",
        ),
        field(
            "damping",
            Kind::Number(Limits::NonNegative),
            Need::Default("0.0"),
            "Damping beyond the limits, in N*s/m and N*m*s/rad.",
        ),
    ],
    tag: None,
};

static URDF_JOINT: Table = Table {
    name: "urdf-joint",
    title: "[mechanism.urdf_joints.*]",
    doc: "Start and drive of a revolute, continuous or prismatic joint of the URDF file; see `[[mechanism.joint]]`.",
    fields: &[
        field("start", Kind::Value, Need::Optional, "Coordinate at the start."),
        field("guess", Kind::Value, Need::Optional, "The same, roughly: loops may change it."),
        field("start_velocity", Kind::Value, Need::Optional, "Velocity at the start."),
        field(
            "motion",
            Kind::Law(Dimension::NONE),
            Need::Optional,
            "The coordinate as an expression of the time `t`.",
        ),
        field("speed", Kind::Value, Need::Optional, "Constant velocity of a motor."),
    ],
    tag: None,
};

static BODY: Table = Table {
    name: "mechanism-body",
    title: "[[mechanism.body]]",
    doc: "A body of a mechanism. It is the `child` of exactly one joint, which says where its frame is.",
    fields: &[
        field(
            "name",
            Kind::Name,
            Need::Required,
            "Name, used once in the mechanism; not `ground`.",
        ),
        field(
            "mass",
            Kind::Quantity(Dimension::MASS, Limits::NonNegative),
            Need::Computed("from the shapes and the density of their materials"),
            "Mass; 0 for a massless link.",
        ),
        field(
            "centre",
            Kind::Polar(&LENGTH),
            Need::Computed("that of the shapes, or the origin"),
            "Centre of mass in the frame of the body; needs `mass`, and `inertia` if there are shapes.",
        ),
        field(
            "inertia",
            Kind::OneOf(&[
                Kind::Quantity(Dimension::INERTIA, Limits::Any),
                Kind::List { of: &INERTIA_ROW, min: 3, max: 3 },
            ]),
            Need::Computed("that of the shapes, scaled to `mass`, or 0"),
            "Inertia about the centre of mass along the axes of the body: one value for all axes, three principal values \
             or a 3×3 matrix; needs `mass`.",
        ),
        field(
            "shapes",
            Kind::List { of: &BODY_SHAPE_KIND, min: 0, max: 1000 },
            Need::Default("[]"),
            "What takes part in contacts.",
        ),
    ],
    tag: None,
};

static BODY_SHAPE: Table = Table {
    name: "body-shape",
    title: "a shape of a body",
    doc: "A shape fixed to a body of a mechanism.",
    fields: &[
        field(
            "shape",
            Kind::OneOf(&SHAPE_OR_NAME),
            Need::Required,
            "A shape or the name of one; not a half-space.",
        ),
        field("material", Kind::Refers("material"), Need::Required, "Its material."),
        POSITION,
        ROTATION,
        ANGLE,
    ],
    tag: None,
};

const JOINT_POSITION: Field = field(
    "position",
    Kind::Polar(&LENGTH),
    Need::Default("[0.0, 0.0, 0.0]"),
    "Where the joint is in the frame of the parent.",
);
const JOINT_ROTATION: Field = field(
    "rotation",
    Kind::Table(&ROTATION_TABLE),
    Need::Optional,
    "How the joint is turned in the frame of the parent.",
);
const JOINT_ANGLE: Field = field(
    "angle",
    AN_ANGLE,
    Need::Optional,
    "How the joint is turned about z; for planar scenes, instead of `rotation`.",
);
const JOINT_DOC: &str =
    "Names of joints stand in expressions, so they are made of letters, digits, `_` and `.` only.";
const PARENT: Field = field(
    "parent",
    Kind::Refers("body"),
    Need::Default("\"ground\""),
    "The body that carries it, or `ground`.",
);
const CHILD: Field = field("child", Kind::Refers("body"), Need::Required, "The body it carries.");

static JOINT: Table = Table {
    name: "mechanism-joint",
    title: "[[mechanism.joint]]",
    doc: "A joint. With all coordinates 0, the frame of the child is that of the joint.",
    fields: &[
        field(
            "name",
            Kind::Name,
            Need::Computed("`joint_1`, `joint_2`, … by place in the mechanism"),
            JOINT_DOC,
        ),
        PARENT,
        CHILD,
        JOINT_POSITION,
        JOINT_ROTATION,
        JOINT_ANGLE,
    ],
    tag: Some(&JOINT_TYPE),
};

static CHAIN: Table = Table {
    name: "chain",
    title: "[[mechanism.chain]]",
    doc: "Joints in a row between two bodies, with massless links `CHILD.JOINT` between them.",
    fields: &[
        PARENT,
        CHILD,
        field(
            "joints",
            Kind::List { of: &CHAIN_JOINT_KIND, min: 1, max: 100 },
            Need::Required,
            "The joints, from the parent to the child.",
        ),
    ],
    tag: None,
};

static CHAIN_JOINT: Table = Table {
    name: "chain-joint",
    title: "a joint of a chain",
    doc: "A joint of a chain.",
    fields: &[
        field("name", Kind::Name, Need::Required, JOINT_DOC),
        JOINT_POSITION,
        JOINT_ROTATION,
        JOINT_ANGLE,
    ],
    tag: Some(&JOINT_TYPE),
};

const AXIS_FIELD: Field = field(
    "axis",
    Kind::Axis,
    Need::Required,
    "Axis in the frame of the joint; any length but zero.",
);
const START: &str = "Coordinate at the start; loops keep it if they can.";
const STARTS: &str = "Coordinates at the start; loops keep them if they can.";
const GUESS: &str = "Instead of `start`: a value that loops may change.";
const START_VELOCITY: &str = "Velocity at the start; loops keep it if they can.";
const DAMPING_DOC: &str = "Damping alone, instead of a `spring`.";
const MOTION: &str = "The coordinate as an expression of the time `t`, instead of `start`.";
const SPEED: &str = "Constant velocity of a motor, from `start` on.";
const ZERO: Need = Need::Computed("0");

const START_ROTATION: Field = field(
    "start_rotation",
    Kind::Table(&ROTATION_TABLE),
    Need::Optional,
    "How the child is turned at the start; loops keep it if they can.",
);
const GUESS_ROTATION: Field = field(
    "guess_rotation",
    Kind::Table(&ROTATION_TABLE),
    Need::Optional,
    "Instead of `start_rotation`: a rotation that loops may change.",
);
const START_ANGULAR_VELOCITY: Field = field(
    "start_angular_velocity",
    Kind::List { of: &ANGULAR_VELOCITY, min: 3, max: 3 },
    ZERO,
    "Angular velocity at the start, along the axes of the child.",
);

static SLIDE_TURN: [(&str, Kind); 2] = [("slide", A_LENGTH), ("turn", AN_ANGLE)];
static SLIDE_TURN_RATE: [(&str, Kind); 2] = [("slide", A_VELOCITY), ("turn", AN_ANGULAR_VELOCITY)];
static TWO_ANGLES: [(&str, Kind); 2] = [("first", AN_ANGLE), ("second", AN_ANGLE)];
static TWO_RATES: [(&str, Kind); 2] =
    [("first", AN_ANGULAR_VELOCITY), ("second", AN_ANGULAR_VELOCITY)];
static IN_PLANE: [(&str, Kind); 3] = [("x", A_LENGTH), ("y", A_LENGTH), ("angle", AN_ANGLE)];
static IN_PLANE_RATE: [(&str, Kind); 3] =
    [("x", A_VELOCITY), ("y", A_VELOCITY), ("angle", AN_ANGULAR_VELOCITY)];

static JOINT_TYPE: Tag = Tag {
    key: "type",
    doc: "How the child moves.",
    default: None,
    variants: &[
        Variant {
            value: "revolute",
            doc: "It turns about the axis by the angle `NAME`.",
            fields: &[
                AXIS_FIELD,
                field("start", AN_ANGLE, ZERO, START),
                field("guess", AN_ANGLE, Need::Optional, GUESS),
                field("start_velocity", AN_ANGULAR_VELOCITY, ZERO, START_VELOCITY),
                field(
                    "spring",
                    Kind::Table(&ANGULAR_SPRING),
                    Need::Optional,
                    "Spring and damper along the coordinate.",
                ),
                field("damping", ANGULAR_DAMPING, Need::Optional, DAMPING_DOC),
                field("stops", Kind::Table(&ANGULAR_STOPS), Need::Optional, "Elastic stops."),
                field("motion", Kind::Law(Dimension::ANGLE), Need::Optional, MOTION),
                field("speed", AN_ANGULAR_VELOCITY, Need::Optional, SPEED),
            ],
        },
        Variant {
            value: "prismatic",
            doc: "It slides along the axis by the length `NAME`.",
            fields: &[
                AXIS_FIELD,
                field("start", A_LENGTH, ZERO, START),
                field("guess", A_LENGTH, Need::Optional, GUESS),
                field("start_velocity", A_VELOCITY, ZERO, START_VELOCITY),
                field(
                    "spring",
                    Kind::Table(&JOINT_SPRING),
                    Need::Optional,
                    "Spring and damper along the coordinate.",
                ),
                field("damping", DAMPING, Need::Optional, DAMPING_DOC),
                field("stops", Kind::Table(&STOPS), Need::Optional, "Elastic stops."),
                field("motion", Kind::Law(Dimension::LENGTH), Need::Optional, MOTION),
                field("speed", A_VELOCITY, Need::Optional, SPEED),
            ],
        },
        Variant {
            value: "cylindrical",
            doc: "It slides along the axis by `NAME.slide` and turns about it by `NAME.turn`. For springs, stops and \
                  motors write a chain of a prismatic and a revolute joint.",
            fields: &[
                AXIS_FIELD,
                field("start", Kind::Tuple(&SLIDE_TURN), ZERO, STARTS),
                field("guess", Kind::Tuple(&SLIDE_TURN), Need::Optional, GUESS),
                field("start_velocity", Kind::Tuple(&SLIDE_TURN_RATE), ZERO, START_VELOCITY),
            ],
        },
        Variant {
            value: "universal",
            doc: "It turns by `NAME.first` about the first axis, which is fixed in the parent, and by `NAME.second` about \
                  the second, which is turned along.",
            fields: &[
                field(
                    "axes",
                    Kind::List { of: &AXIS, min: 2, max: 2 },
                    Need::Required,
                    "The two axes in the frame of the joint; not parallel.",
                ),
                field("start", Kind::Tuple(&TWO_ANGLES), ZERO, STARTS),
                field("guess", Kind::Tuple(&TWO_ANGLES), Need::Optional, GUESS),
                field("start_velocity", Kind::Tuple(&TWO_RATES), ZERO, START_VELOCITY),
            ],
        },
        Variant {
            value: "planar",
            doc: "It slides in a plane by `NAME.x` and `NAME.y` and turns in it by `NAME.angle`.",
            fields: &[
                field(
                    "axes",
                    Kind::List { of: &AXIS, min: 2, max: 2 },
                    Need::Default("[\"x\", \"y\"]"),
                    "Directions of `x` and `y` in the frame of the joint, at right angles; the angle runs from the first to \
                     the second: with `[\"x\", \"z\"]` about `-y`.",
                ),
                field("start", Kind::Tuple(&IN_PLANE), ZERO, STARTS),
                field("guess", Kind::Tuple(&IN_PLANE), Need::Optional, GUESS),
                field("start_velocity", Kind::Tuple(&IN_PLANE_RATE), ZERO, START_VELOCITY),
            ],
        },
        Variant {
            value: "spherical",
            doc: "It turns freely about its origin. It has the velocities `NAME.wx`, `NAME.wy`, `NAME.wz`, the angular \
                  velocity along the axes of the child, and no coordinates `q.`.",
            fields: &[START_ROTATION, GUESS_ROTATION, START_ANGULAR_VELOCITY],
        },
        Variant {
            value: "free",
            doc: "It moves freely by `NAME.x`, `NAME.y`, `NAME.z` along the axes of the joint. Its angular velocity along \
                  the axes of the child is `NAME.wx`, `NAME.wy`, `NAME.wz`.",
            fields: &[
                field(
                    "start_position",
                    Kind::List { of: &LENGTH, min: 3, max: 3 },
                    ZERO,
                    "Where the child is at the start; loops keep it if they can.",
                ),
                field(
                    "guess_position",
                    Kind::List { of: &LENGTH, min: 3, max: 3 },
                    Need::Optional,
                    "Instead of `start_position`: a position that loops may change.",
                ),
                START_ROTATION,
                GUESS_ROTATION,
                field(
                    "start_velocity",
                    Kind::List { of: &VELOCITY, min: 3, max: 3 },
                    ZERO,
                    "Velocity of the origin of the child at the start.",
                ),
                START_ANGULAR_VELOCITY,
            ],
        },
        Variant { value: "fixed", doc: "It does not move; it has no coordinates.", fields: &[] },
    ],
};

const SPRING_DOC: &str =
    "The force `-stiffness*(q - rest) - damping*v` along the coordinate of a joint.";

static JOINT_SPRING: Table = Table {
    name: "joint-spring",
    title: "a spring of a prismatic joint",
    doc: SPRING_DOC,
    fields: &[
        field("stiffness", STIFFNESS, Need::Required, "Stiffness."),
        field("rest", A_LENGTH, Need::Default("0.0"), "The coordinate at which it is relaxed."),
        field("damping", DAMPING, Need::Default("0.0"), "Damping."),
    ],
    tag: None,
};

static ANGULAR_SPRING: Table = Table {
    name: "angular-joint-spring",
    title: "a spring of a revolute joint",
    doc: SPRING_DOC,
    fields: &[
        field("stiffness", ANGULAR_STIFFNESS, Need::Required, "Stiffness."),
        field("rest", AN_ANGLE, Need::Default("0.0"), "The coordinate at which it is relaxed."),
        field("damping", ANGULAR_DAMPING, Need::Default("0.0"), "Damping."),
    ],
    tag: None,
};

static STOPS: Table = Table {
    name: "stops",
    title: "stops of a prismatic joint",
    doc: "Springs and dampers that act below `lower` and above `upper`.",
    fields: &[
        field("lower", A_LENGTH, Need::Optional, "Where the lower stop begins."),
        field("upper", A_LENGTH, Need::Optional, "Where the upper stop begins."),
        field(
            "stiffness",
            Kind::Quantity(Dimension::STIFFNESS, Limits::Positive),
            Need::Required,
            "Stiffness.",
        ),
        field("damping", DAMPING, Need::Default("0.0"), "Damping."),
    ],
    tag: None,
};

static ANGULAR_STOPS: Table = Table {
    name: "angular-stops",
    title: "stops of a revolute joint",
    doc: "Springs and dampers that act below `lower` and above `upper`.",
    fields: &[
        field("lower", AN_ANGLE, Need::Optional, "Where the lower stop begins."),
        field("upper", AN_ANGLE, Need::Optional, "Where the upper stop begins."),
        field(
            "stiffness",
            Kind::Quantity(Dimension::ANGULAR_STIFFNESS, Limits::Positive),
            Need::Required,
            "Stiffness.",
        ),
        field("damping", ANGULAR_DAMPING, Need::Default("0.0"), "Damping."),
    ],
    tag: None,
};

static FRAME: Table = Table {
    name: "frame",
    title: "a frame on a body",
    doc: "A frame fixed to a body of the mechanism or to its `ground`.",
    fields: &[
        field("body", Kind::Refers("body"), Need::Required, "The body, or `ground`."),
        field(
            "position",
            Kind::Polar(&LENGTH),
            Need::Default("[0.0, 0.0, 0.0]"),
            "Its origin in the frame of the body.",
        ),
        field(
            "rotation",
            Kind::Table(&ROTATION_TABLE),
            Need::Optional,
            "How it is turned in the frame of the body.",
        ),
        field(
            "angle",
            AN_ANGLE,
            Need::Optional,
            "How it is turned about z; for planar scenes, instead of `rotation`.",
        ),
    ],
    tag: None,
};

static POINT: Table = Table {
    name: "point",
    title: "a point on a body",
    doc: "A point fixed to a body of the mechanism or to its `ground`.",
    fields: &[
        field("body", Kind::Refers("body"), Need::Required, "The body, or `ground`."),
        field(
            "position",
            Kind::Polar(&LENGTH),
            Need::Default("[0.0, 0.0, 0.0]"),
            "Where it is in the frame of the body.",
        ),
    ],
    tag: None,
};

static LOOP: Table = Table {
    name: "loop",
    title: "[[mechanism.loop]]",
    doc: "A joint that closes a loop of the tree: it holds a frame on one body to a frame on another.",
    fields: &[
        field(
            "name",
            Kind::Name,
            Need::Computed("`loop-1`, `loop-2`, … by place in the mechanism"),
            "Name, used once among the loops.",
        ),
        field("a", Kind::Table(&FRAME), Need::Required, "The frame on the first body."),
        field("b", Kind::Table(&FRAME), Need::Required, "The frame on the second body."),
    ],
    tag: Some(&Tag {
        key: "type",
        doc: "What it holds.",
        default: None,
        variants: &[
            Variant { value: "ball", doc: "The origins coincide: 3 equations.", fields: &[] },
            Variant {
                value: "hinge",
                doc: "The origins and the axes coincide: 5 equations.",
                fields: &[LOOP_AXIS],
            },
            Variant {
                value: "rod",
                doc: "The origins keep their distance: 1 equation.",
                fields: &[field(
                    "length",
                    Kind::Quantity(Dimension::LENGTH, Limits::Positive),
                    Need::Required,
                    "The distance.",
                )],
            },
            Variant {
                value: "prismatic",
                doc: "One origin slides along an axis of the other and nothing turns: 5 equations.",
                fields: &[LOOP_AXIS],
            },
            Variant {
                value: "pin",
                doc: "The origins coincide in the plane normal to the axis, for mechanisms that stay in that plane: \
                      2 equations.",
                fields: &[LOOP_AXIS],
            },
            Variant { value: "weld", doc: "The frames coincide: 6 equations.", fields: &[] },
        ],
    }),
};

const LOOP_AXIS: Field = field(
    "axis",
    Kind::Axis,
    Need::Required,
    "Axis of the hinge, direction of sliding or normal of the plane, with the same components in both frames.",
);

static SPRING: Table = Table {
    name: "mechanism-spring",
    title: "[[mechanism.spring]]",
    doc: "A spring and damper between two points.",
    fields: &[
        field(
            "name",
            Kind::Name,
            Need::Computed("`spring-1`, `spring-2`, … by place in the mechanism"),
            "Name, used once among the springs.",
        ),
        field("a", Kind::Table(&POINT), Need::Required, "The point on the first body."),
        field("b", Kind::Table(&POINT), Need::Required, "The point on the second body."),
        field("stiffness", STIFFNESS, Need::Default("0.0"), "Stiffness."),
        field("damping", DAMPING, Need::Default("0.0"), "Damping."),
    ],
    tag: Some(&Tag {
        key: "type",
        doc: "In which direction it acts.",
        default: Some("line"),
        variants: &[
            Variant {
                value: "line",
                doc: "Along the line between the points.",
                fields: &[field(
                    "length",
                    Kind::Quantity(Dimension::LENGTH, Limits::NonNegative),
                    Need::Required,
                    "Length at which it is relaxed.",
                )],
            },
            Variant {
                value: "bushing",
                doc: "In every direction: on `b` acts `-stiffness*d - damping*d'`, where `d` leads from `a` to `b`, and on \
                      `a` the opposite.",
                fields: &[],
            },
        ],
    }),
};

const LAW: Field = field(
    "law",
    Kind::Law(Dimension::NONE),
    Need::Optional,
    "Force along, or torque about the coordinate, in N or N*m.",
);
const FORCE_FIELD: Field = field(
    "force",
    Kind::Polar(&FORCE_LAW),
    Need::Computed("0"),
    "Components of the force, for a force on a body.",
);
const TORQUE_FIELD: Field = field(
    "torque",
    Kind::Axial(&TORQUE_LAW),
    Need::Computed("0"),
    "Components of the torque, for a force on a body.",
);

static FORCE: Table = Table {
    name: "force",
    title: "[[mechanism.force]]",
    doc: "An actuator or a load: on a `coordinate` by a `law`, or on a `body` by a `force` and a `torque`. They are numbers or \
          expressions, one after the other if there are `phases`.",
    fields: &[
        field(
            "name",
            Kind::Name,
            Need::Computed("`force-1`, `force-2`, … by place in the mechanism"),
            "Name, used once among the forces.",
        ),
        field(
            "coordinate",
            Kind::Refers("coordinate"),
            Need::Optional,
            "The coordinate on which it acts: that of the joint `knee` is `knee`; of several one is `hip.turn`.",
        ),
        field("body", Kind::Refers("body"), Need::Optional, "The body on which it acts."),
        field(
            "point",
            Kind::Polar(&LENGTH),
            Need::Default("[0.0, 0.0, 0.0]"),
            "Where the force acts, in the frame of the body.",
        ),
        field(
            "frame",
            Kind::Choice(&[("world", "the axes of the world"), ("body", "the axes of the body")]),
            Need::Default("\"world\""),
            "Along which axes force and torque are given.",
        ),
        LAW,
        FORCE_FIELD,
        TORQUE_FIELD,
        field(
            "phases",
            Kind::List { of: &PHASE_KIND, min: 1, max: 1000 },
            Need::Optional,
            "What it is one after the other. When the last phase has ended, it is 0.",
        ),
    ],
    tag: None,
};

static PHASE: Table = Table {
    name: "phase",
    title: "a phase",
    doc: "A part of a force's history.",
    fields: &[
        LAW,
        FORCE_FIELD,
        TORQUE_FIELD,
        field(
            "until",
            Kind::Law(Dimension::NONE),
            Need::Optional,
            "When it ends: a time such as `\"1 s\"`, or an expression that becomes true such as `\"q.knee > 1 or t >= 2\"`.",
        ),
        field(
            "latch",
            Kind::Map(&LATCH_LAW),
            Need::Default("{}"),
            "Values that are stored when it begins, by name; expressions of this and later phases may use them.",
        ),
    ],
    tag: None,
};

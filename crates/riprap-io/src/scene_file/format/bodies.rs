//! The format of single bodies and of their motions.

use super::super::fields::{Kind, Limits, Need, Table, Tag, Variant};
use super::super::units::Dimension;
use super::shapes::{ANGLE, POSITION, ROTATION, SHAPE_OR_NAME};
use super::{LENGTH, field};

pub(super) static VELOCITY: Kind = Kind::Quantity(Dimension::VELOCITY, Limits::Any);
pub(super) static ANGULAR_VELOCITY: Kind = Kind::Quantity(Dimension::ANGULAR_VELOCITY, Limits::Any);
static FORCE: Kind = Kind::Quantity(Dimension::FORCE, Limits::Any);
static TORQUE: Kind = Kind::Quantity(Dimension::TORQUE, Limits::Any);
static INERTIA: Kind = Kind::Quantity(Dimension::INERTIA, Limits::Any);
pub(super) static INERTIA_ROW: Kind = Kind::OneOf(&[
    Kind::Quantity(Dimension::INERTIA, Limits::Any),
    Kind::List { of: &INERTIA, min: 3, max: 3 },
]);
static POSITION_LAW: Kind = Kind::Law(Dimension::LENGTH);
static VELOCITY_LAW: Kind = Kind::Law(Dimension::VELOCITY);
static ANGULAR_VELOCITY_LAW: Kind = Kind::Law(Dimension::ANGULAR_VELOCITY);
static AXIS_NAME: Kind = Kind::Choice(&[
    ("x", "no motion along x"),
    ("y", "no motion along y"),
    ("z", "no motion along z"),
    ("rx", "no rotation about x"),
    ("ry", "no rotation about y"),
    ("rz", "no rotation about z"),
]);

pub(super) static BODY: Table = Table {
    name: "body",
    title: "[[body]]",
    doc: "One body.",
    fields: &[
        field(
            "name",
            Kind::Name,
            Need::Computed("`body-1`, `body-2`, … by place in the file"),
            "Name, used once.",
        ),
        field("shape", Kind::OneOf(&SHAPE_OR_NAME), Need::Required, "A shape or the name of one."),
        field("material", Kind::Refers("material"), Need::Required, "Its material."),
        POSITION,
        ROTATION,
        ANGLE,
        field(
            "mass",
            Kind::Quantity(Dimension::MASS, Limits::Positive),
            Need::Optional,
            "Mass, instead of density times volume.",
        ),
        field(
            "inertia",
            Kind::List { of: &INERTIA_ROW, min: 3, max: 3 },
            Need::Optional,
            "Inertia about the centre of mass along the axes of the shape, as three principal values or a 3×3 \
             matrix; needs `mass`.",
        ),
        field(
            "centre",
            Kind::Polar(&LENGTH),
            Need::Optional,
            "Centre of mass in the frame of the shape; needs `mass` and `inertia`.",
        ),
    ],
    tag: Some(&Tag {
        key: "kind",
        doc: "How it moves.",
        default: Some("free"),
        variants: &[
            Variant {
                value: "free",
                doc: "It moves under forces and contacts.",
                fields: &[
                    field(
                        "velocity",
                        Kind::Polar(&VELOCITY),
                        Need::Default("[0.0, 0.0, 0.0]"),
                        "Velocity of the centre of mass at the start.",
                    ),
                    field(
                        "angular_velocity",
                        Kind::Axial(&ANGULAR_VELOCITY),
                        Need::Default("[0.0, 0.0, 0.0]"),
                        "Angular velocity at the start, in the world frame.",
                    ),
                    field(
                        "locked",
                        Kind::List { of: &AXIS_NAME, min: 0, max: 6 },
                        Need::Default("[]"),
                        "Directions of the world in which it does not move.",
                    ),
                    field(
                        "force",
                        Kind::Polar(&FORCE),
                        Need::Default("[0.0, 0.0, 0.0]"),
                        "Constant force at the centre of mass, in the world frame.",
                    ),
                    field(
                        "torque",
                        Kind::Axial(&TORQUE),
                        Need::Default("[0.0, 0.0, 0.0]"),
                        "Constant torque, in the world frame.",
                    ),
                ],
            },
            Variant { value: "fixed", doc: "It stays where it is.", fields: &[] },
            Variant {
                value: "moving",
                doc: "It moves as prescribed, whatever it meets.",
                fields: &[field(
                    "motion",
                    Kind::Table(&MOTION),
                    Need::Required,
                    "The prescribed motion.",
                )],
            },
        ],
    }),
};

static MOTION: Table = Table {
    name: "motion",
    title: "[body.motion]",
    doc: "A prescribed motion. Each component is a number or an expression of the time `t` and of parameters, in SI.",
    fields: &[
        field(
            "velocity",
            Kind::Polar(&VELOCITY_LAW),
            Need::Computed("0, unless `position` is given"),
            "Velocity of the origin of the shape.",
        ),
        field(
            "position",
            Kind::Polar(&POSITION_LAW),
            Need::Optional,
            "Position of the origin of the shape, instead of `velocity` and of the body's own `position`.",
        ),
        field(
            "angular_velocity",
            Kind::Axial(&ANGULAR_VELOCITY_LAW),
            Need::Default("[0.0, 0.0, 0.0]"),
            "Angular velocity in the world frame, about the origin of the shape.",
        ),
    ],
    tag: None,
};

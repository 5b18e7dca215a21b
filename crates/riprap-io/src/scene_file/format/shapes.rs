//! The format of shapes and of the way they are turned.

use super::super::fields::{Field, Kind, Limits, Need, Table, Tag, Variant};
use super::super::units::Dimension;
use super::{LENGTH, MANY, NUMBER, POSITIVE_LENGTH, field};

static PLANE_POINT: Kind = Kind::List { of: &LENGTH, min: 2, max: 2 };
static POINT: Kind = Kind::List { of: &LENGTH, min: 3, max: 3 };
static PART_KIND: Kind = Kind::Table(&PART);
pub(super) static SHAPE_OR_NAME: [Kind; 2] = [Kind::Refers("shape"), Kind::Table(&SHAPE)];

pub(super) static SHAPE: Table = Table {
    name: "shape",
    title: "a shape",
    doc: "A shape, under a name in `[shapes.*]` or in place: `shape = { type = \"sphere\", radius = \"5 mm\" }`.",
    fields: &[],
    tag: Some(&Tag {
        key: "type",
        doc: "Which shape it is.",
        default: None,
        variants: &[
            Variant {
                value: "sphere",
                doc: "A ball about its origin.",
                fields: &[field(
                    "radius",
                    Kind::Quantity(Dimension::LENGTH, Limits::Positive),
                    Need::Required,
                    "Radius.",
                )],
            },
            Variant {
                value: "box",
                doc: "A cuboid about its origin.",
                fields: &[field(
                    "size",
                    Kind::List { of: &POSITIVE_LENGTH, min: 3, max: 3 },
                    Need::Required,
                    "Full lengths along x, y and z.",
                )],
            },
            Variant {
                value: "half-space",
                doc: "Everything below a plane through the origin; for fixed and moving bodies.",
                fields: &[field(
                    "normal",
                    Kind::Polar(&NUMBER),
                    Need::Computed("`[0, 0, 1]`; in planar scenes `[0, 1]`"),
                    "Direction that points out of the solid; any length but zero.",
                )],
            },
            Variant {
                value: "polyhedron",
                doc: "The convex hull of points.",
                fields: &[field(
                    "points",
                    Kind::List { of: &POINT, min: 4, max: MANY },
                    Need::Required,
                    "Points `[x, y, z]`, not all in one plane.",
                )],
            },
            Variant {
                value: "mesh",
                doc: "A triangle mesh from a file; with `as = \"parts\"` it has to be closed.",
                fields: &[
                    field(
                        "file",
                        Kind::File,
                        Need::Required,
                        "`.stl`, `.obj` or `.ply` (text or binary), relative to the scene file.",
                    ),
                    field(
                        "scale",
                        Kind::Number(Limits::Positive),
                        Need::Default("1.0"),
                        "Factor on the coordinates of the file: 0.001 if they are in mm.",
                    ),
                    field(
                        "as",
                        Kind::Choice(&[
                            ("hull", "its convex hull"),
                            ("parts", "several convex parts"),
                        ]),
                        Need::Default("\"hull\""),
                        "How the mesh takes part in contacts.",
                    ),
                    field(
                        "max_parts",
                        Kind::Integer(1, 1024),
                        Need::Default("16"),
                        "Largest number of convex parts, with `as = \"parts\"`.",
                    ),
                ],
            },
            Variant {
                value: "compound",
                doc: "Several convex shapes, fixed to each other.",
                fields: &[field(
                    "parts",
                    Kind::List { of: &PART_KIND, min: 1, max: MANY },
                    Need::Required,
                    "The parts.",
                )],
            },
            Variant {
                value: "open-box",
                doc: "Five walls around a cavity that is open above: x and y are centred, z runs from 0 up.",
                fields: &[
                    field(
                        "size",
                        Kind::List { of: &POSITIVE_LENGTH, min: 3, max: 3 },
                        Need::Required,
                        "Inner lengths along x, y and z.",
                    ),
                    field(
                        "wall",
                        Kind::Quantity(Dimension::LENGTH, Limits::Positive),
                        Need::Required,
                        "Thickness of the walls.",
                    ),
                ],
            },
            Variant {
                value: "disc",
                doc: "A disc about its origin, for planar scenes.",
                fields: &[
                    field(
                        "radius",
                        Kind::Quantity(Dimension::LENGTH, Limits::Positive),
                        Need::Required,
                        "Radius.",
                    ),
                    field(
                        "thickness",
                        Kind::Quantity(Dimension::LENGTH, Limits::Positive),
                        Need::Default("1.0"),
                        "Length along z, for the mass.",
                    ),
                ],
            },
            Variant {
                value: "polygon",
                doc: "The convex hull of points in the plane, for planar scenes.",
                fields: &[
                    field(
                        "points",
                        Kind::List { of: &PLANE_POINT, min: 3, max: MANY },
                        Need::Required,
                        "Points `[x, y]`, not all on one line.",
                    ),
                    field(
                        "thickness",
                        Kind::Quantity(Dimension::LENGTH, Limits::Positive),
                        Need::Default("1.0"),
                        "Length along z, for the mass.",
                    ),
                ],
            },
        ],
    }),
};

pub(super) const POSITION: Field = field(
    "position",
    Kind::Polar(&LENGTH),
    Need::Default("[0.0, 0.0, 0.0]"),
    "Where the origin of the shape is.",
);
pub(super) const ROTATION: Field =
    field("rotation", Kind::Table(&ROTATION_TABLE), Need::Optional, "How the shape is turned.");
pub(super) const ANGLE: Field = field(
    "angle",
    Kind::Quantity(Dimension::ANGLE, Limits::Any),
    Need::Optional,
    "How the shape is turned about z; for planar scenes, instead of `rotation`.",
);

static PART: Table = Table {
    name: "part",
    title: "a part",
    doc: "A part of a compound shape.",
    fields: &[
        field(
            "shape",
            Kind::OneOf(&SHAPE_OR_NAME),
            Need::Required,
            "A convex shape or the name of one: not a half-space, an open box or a compound.",
        ),
        POSITION,
        ROTATION,
        ANGLE,
    ],
    tag: None,
};

pub(super) static ROTATION_TABLE: Table = Table {
    name: "rotation",
    title: "a rotation",
    doc: "A rotation: `{ axis = [0, 0, 1], angle = \"30 deg\" }` or `{ quaternion = [w, x, y, z] }`.",
    fields: &[
        field(
            "axis",
            Kind::List { of: &NUMBER, min: 3, max: 3 },
            Need::Optional,
            "Axis; any length but zero.",
        ),
        field(
            "angle",
            Kind::Quantity(Dimension::ANGLE, Limits::Any),
            Need::Optional,
            "Angle about the axis.",
        ),
        field(
            "quaternion",
            Kind::List { of: &NUMBER, min: 4, max: 4 },
            Need::Optional,
            "Quaternion w, x, y, z; any length but zero.",
        ),
    ],
    tag: None,
};

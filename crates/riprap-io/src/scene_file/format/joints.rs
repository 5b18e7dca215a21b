//! Joints between bodies in absolute coordinates.

use super::super::fields::{Field, Kind, Need, Table, Tag, Variant};
use super::{LENGTH, field};

static BODY_NAME: Kind = Kind::Refers("body");

const AXIS: Field = field(
    "axis",
    Kind::Axis,
    Need::Required,
    "Its axis at the start, in the world frame; afterwards it moves with the bodies.",
);

pub(super) static JOINT: Table = Table {
    name: "body-joint",
    title: "[[joint]]",
    doc: "A joint between two bodies, or between a body and the world. It acts on their velocities, within the contact problem \
          and to its tolerances, so positions drift apart slowly; `project` puts them back. Bodies that a joint holds do not \
          touch each other. What is made of many joints is better described as a `[[mechanism]]`, whose joints are exact.",
    fields: &[
        field(
            "name",
            Kind::Name,
            Need::Computed("`joint-1`, `joint-2`, …"),
            "Its name, used once.",
        ),
        field(
            "between",
            Kind::List { of: &BODY_NAME, min: 2, max: 2 },
            Need::Required,
            "The two bodies, one at least free: names of bodies, of grains such as `ballast-12`, or `world`. Not bodies \
             of mechanisms, and not grains that settle.",
        ),
        field(
            "position",
            Kind::Polar(&LENGTH),
            Need::Required,
            "Its place at the start, in the world frame.",
        ),
        field(
            "project",
            Kind::Flag,
            Need::Default("false"),
            "Whether positions are put back on the joint after every step.",
        ),
    ],
    tag: Some(&Tag {
        key: "type",
        doc: "What it leaves free.",
        default: None,
        variants: &[
            Variant { value: "ball", doc: "All rotations, about one point.", fields: &[] },
            Variant { value: "hinge", doc: "Rotation about the axis.", fields: &[AXIS] },
            Variant { value: "slider", doc: "Translation along the axis.", fields: &[AXIS] },
            Variant { value: "weld", doc: "Nothing.", fields: &[] },
        ],
    }),
};

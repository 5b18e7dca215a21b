//! Contacts that the user chooses: points against planes, and pairs that do not touch.

use super::super::fields::{Field, Kind, Limits, Need, Table};
use super::{LENGTH, NORMAL_LAWS, field};

static BODY_NAME: Kind = Kind::Refers("body");

const ON: Field = field(
    "body",
    Kind::Refers("body"),
    Need::Required,
    "Name of a body, of a grain such as `ballast-12`, of a body of a mechanism such as `robot/hand`, or `world`.",
);
const AT: Field = field(
    "position",
    Kind::Polar(&LENGTH),
    Need::Default("[0.0, 0.0, 0.0]"),
    "Its place in the frame of the body.",
);

static PLACE: Table = Table {
    name: "place",
    title: "a point of a body",
    doc: "A point fixed to a body.",
    fields: &[ON, AT],
    tag: None,
};

static PLANE: Table = Table {
    name: "plane",
    title: "a plane of a body",
    doc: "A plane fixed to a body.",
    fields: &[
        ON,
        AT,
        field(
            "normal",
            Kind::Axis,
            Need::Required,
            "Its normal in the frame of the body; it points to the side where the point may be.",
        ),
    ],
    tag: None,
};

pub(super) static POINT_CONTACT: Table = Table {
    name: "point-contact",
    title: "[[point_contact]]",
    doc: "A contact between a chosen point and a chosen plane, whatever the shapes of their bodies: the corner of a slider in \
          its guide, with a clearance. The plane has no end.",
    fields: &[
        field(
            "name",
            Kind::Name,
            Need::Computed("`point_contact-1`, `point_contact-2`, …"),
            "Its name, used once.",
        ),
        field("point", Kind::Table(&PLACE), Need::Required, "The point."),
        field("plane", Kind::Table(&PLANE), Need::Required, "The plane, on another body."),
        field(
            "friction",
            Kind::Number(Limits::NonNegative),
            Need::Default("0.0"),
            "Coulomb's coefficient of friction.",
        ),
        field(
            "restitution",
            Kind::Number(Limits::Within(0.0, 1.0)),
            Need::Default("0.0"),
            "Newton's coefficient of restitution.",
        ),
        field(
            "law",
            Kind::Choice(NORMAL_LAWS),
            Need::Computed("`quasi-shock` if the restitution is 0, otherwise `moreau-newton`"),
            "Law in the normal direction.",
        ),
    ],
    tag: None,
};

pub(super) static IGNORE_CONTACT: Table = Table {
    name: "ignore-contact",
    title: "[[ignore_contact]]",
    doc: "Two bodies that pass through each other. Bodies of a mechanism that a joint or a loop holds together do so anyway.",
    fields: &[field(
        "between",
        Kind::List { of: &BODY_NAME, min: 2, max: 2 },
        Need::Required,
        "The two bodies, named as in a probe.",
    )],
    tag: None,
};

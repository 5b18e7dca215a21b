//! The format of scene files: every table and key with its kind, limits, default and meaning. Nothing else
//! knows the keys but `convert`, which fills the model, and `resolved`, which writes it.

mod bodies;
mod contacts;
mod grains;
mod joints;
mod mechanisms;
mod shapes;

use bodies::BODY;
use contacts::{IGNORE_CONTACT, POINT_CONTACT};
use grains::GRAINS;
use joints::JOINT;
use mechanisms::MECHANISM;
use shapes::SHAPE;

use super::fields::{Field, Kind, Limits, Need, Table, Tag, Variant};
use super::units::Dimension;

/// The largest number of grains in a scene.
pub(crate) const MAX_GRAINS: i64 = 10_000_000;
/// The largest number of points, parts or sieves in a list.
const MANY: usize = 1_000_000;

static LENGTH: Kind = Kind::Quantity(Dimension::LENGTH, Limits::Any);
static POSITIVE_LENGTH: Kind = Kind::Quantity(Dimension::LENGTH, Limits::Positive);
static ACCELERATION: Kind = Kind::Quantity(Dimension::ACCELERATION, Limits::Any);
static NUMBER: Kind = Kind::Number(Limits::Any);
static MATERIAL: Kind = Kind::Refers("material");
static PARAMETER: Kind = Kind::Value;
static MECHANISM_KIND: Kind = Kind::Table(&MECHANISM);
static BODY_KIND: Kind = Kind::Table(&BODY);
static GRAINS_KIND: Kind = Kind::Table(&GRAINS);
static PAIR_KIND: Kind = Kind::Table(&PAIR);
static JOINT_KIND: Kind = Kind::Table(&JOINT);
static POINT_CONTACT_KIND: Kind = Kind::Table(&POINT_CONTACT);
static IGNORE_CONTACT_KIND: Kind = Kind::Table(&IGNORE_CONTACT);
static PROBE_KIND: Kind = Kind::Table(&PROBE);
static QUANTITY_NAME: Kind = Kind::Choice(&[
    ("position", "of the origin of the shape, or of `point` [m]"),
    ("velocity", "of the origin of the shape, or of `point` [m/s]"),
    ("rotation", "quaternion w, x, y, z [–]"),
    ("angular_velocity", "in the world frame [rad/s]"),
    ("force", "sum of the contact forces; of a joint its force on the second body [N]"),
    (
        "torque",
        "of the contact forces about the origin of the shape, or about `point`; of a joint its torque on the second body, about the place of the joint there [N m]",
    ),
    ("contacts", "number of contacts, those included that are near but do not push [–]"),
    ("work", "done by the contact forces on the body since the begin [J]"),
    ("forces", "of a mechanism: laws [N, N m], tensions [N] and lengths [m] of its springs"),
    (
        "loop_forces",
        "of a mechanism: forces and moments in its loops, on the body of `b`, along the axes of `a`; of loops with an axis `z` is along it, `x` and `y` across [N, N m]",
    ),
    (
        "joint_forces",
        "of a mechanism: force and moment that each joint passes on to its child, in the world frame [N, N m]",
    ),
    (
        "error",
        "of a joint: how far its places on the two bodies are apart where it holds them together [m], and by which angle they are turned where it holds directions [rad]",
    ),
    ("energy", "of a mechanism: kinetic and potential energy [J]"),
]);

const DENSITY: Kind = Kind::Quantity(Dimension::DENSITY, Limits::Positive);
const TIME: Kind = Kind::Quantity(Dimension::TIME, Limits::Positive);

const fn field(key: &'static str, kind: Kind, need: Need, doc: &'static str) -> Field {
    Field { key, kind, need, doc }
}

/// The whole file.
pub(crate) static SCENE: Table = Table {
    name: "scene",
    title: "the scene",
    doc: "A scene: materials, bodies, grains and mechanisms, and how they are simulated.",
    fields: &[
        field("title", Kind::Text, Need::Optional, "What the scene shows, in words."),
        field(
            "seed",
            Kind::Integer(0, i64::MAX),
            Need::Default("1"),
            "Seed of all random choices; generators may have their own.",
        ),
        field(
            "gravity",
            Kind::Polar(&ACCELERATION),
            Need::Computed("`[0, 0, -9.81]`; in planar scenes `[0, -9.81, 0]`"),
            "Gravity.",
        ),
        field(
            "planar",
            Kind::Flag,
            Need::Default("false"),
            "Whether everything moves in the plane x–y: z, rx and ry of every body are held, and the shapes \
             are `disc`, `polygon` and `half-space`. Vectors may then have two components.",
        ),
        field("run", Kind::Table(&RUN), Need::Required, "Time steps and output."),
        field(
            "solver",
            Kind::Table(&SOLVER),
            Need::Default("{}"),
            "When contact forces are good enough.",
        ),
        field("contact", Kind::Table(&CONTACT), Need::Default("{}"), "How contacts are found."),
        field(
            "parameters",
            Kind::Map(&PARAMETER),
            Need::Default("{}"),
            "Numbers by name, for expressions: `omega = \"1500 rpm\"`, or an expression of those above it.",
        ),
        field(
            "materials",
            Kind::Named(&MATERIAL_TABLE),
            Need::Default("{}"),
            "Materials by name: `[materials.rock]`.",
        ),
        field(
            "pair",
            Kind::List { of: &PAIR_KIND, min: 0, max: MANY },
            Need::Default("[]"),
            "Contact parameters of two materials: `[[pair]]`.",
        ),
        field(
            "shapes",
            Kind::Named(&SHAPE),
            Need::Default("{}"),
            "Shapes by name, to be used by several bodies: `[shapes.brick]`.",
        ),
        field(
            "body",
            Kind::List { of: &BODY_KIND, min: 0, max: MANY },
            Need::Default("[]"),
            "Bodies one by one: `[[body]]`.",
        ),
        field(
            "grains",
            Kind::List { of: &GRAINS_KIND, min: 0, max: 1000 },
            Need::Default("[]"),
            "Many bodies at once: `[[grains]]`.",
        ),
        field(
            "mechanism",
            Kind::List { of: &MECHANISM_KIND, min: 0, max: 1000 },
            Need::Default("[]"),
            "Articulated systems: `[[mechanism]]`.",
        ),
        field(
            "joint",
            Kind::List { of: &JOINT_KIND, min: 0, max: 10_000 },
            Need::Default("[]"),
            "Joints between bodies: `[[joint]]`.",
        ),
        field(
            "point_contact",
            Kind::List { of: &POINT_CONTACT_KIND, min: 0, max: 10_000 },
            Need::Default("[]"),
            "Chosen points against chosen planes: `[[point_contact]]`.",
        ),
        field(
            "ignore_contact",
            Kind::List { of: &IGNORE_CONTACT_KIND, min: 0, max: 10_000 },
            Need::Default("[]"),
            "Bodies that pass through each other: `[[ignore_contact]]`.",
        ),
        field(
            "probe",
            Kind::List { of: &PROBE_KIND, min: 0, max: 10_000 },
            Need::Default("[]"),
            "Bodies, mechanisms and joints that are followed in `series.csv`: `[[probe]]`.",
        ),
    ],
    tag: None,
};

static RUN: Table = Table {
    name: "run",
    title: "[run]",
    doc: "Time steps and output.",
    fields: &[
        field(
            "until",
            Kind::Quantity(Dimension::TIME, Limits::NonNegative),
            Need::Required,
            "Time at which the run ends; it starts at 0.",
        ),
        field(
            "output_every",
            TIME,
            Need::Computed("a hundredth of `until`, at least `dt` where that is given"),
            "Time between two frames and between two rows of `series.csv`.",
        ),
        field(
            "frames",
            Kind::Flag,
            Need::Default("true"),
            "Whether frames for ParaView are written: surfaces and contacts as `.vtp`.",
        ),
        field(
            "checkpoint_every",
            TIME,
            Need::Optional,
            "Time between two checkpoints, from which a killed run goes on with the same bits (`riprap run --resume`).",
        ),
        field(
            "on_unconverged",
            Kind::Choice(&[
                ("accept", "go on silently"),
                ("warn", "go on, and say so"),
                ("fail", "stop the run"),
            ]),
            Need::Default("\"warn\""),
            "What happens when the solver stops short of its tolerances in a step.",
        ),
    ],
    tag: Some(&Tag {
        key: "scheme",
        doc: "How time advances.",
        default: Some("moreau-jean"),
        variants: &[
            Variant {
                value: "moreau-jean",
                doc: "Steps of equal length, for everything that touches.",
                fields: &[
                    field("dt", TIME, Need::Required, "Time step."),
                    field(
                        "theta",
                        Kind::Number(Limits::Within(0.5, 1.0)),
                        Need::Default("0.5"),
                        "Parameter of the time-stepping scheme: 0.5 keeps energy best, 1 damps most.",
                    ),
                ],
            },
            Variant {
                value: "dormand-prince",
                doc: "Steps of fifth order that choose their length, for mechanisms without contacts.",
                fields: &[
                    field(
                        "tolerance",
                        Kind::Number(Limits::Within(1e-14, 0.1)),
                        Need::Default("1e-9"),
                        "Relative error of a step.",
                    ),
                    field("dt", TIME, Need::Computed("`output_every`"), "Largest time step."),
                ],
            },
        ],
    }),
};

static SOLVER: Table = Table {
    name: "solver",
    title: "[solver]",
    doc: "When the contact forces of a step are good enough. All tolerances have to be met.",
    fields: &[
        field(
            "method",
            Kind::Choice(&[
                (
                    "coloured",
                    "Gauss–Seidel sweeps accelerated by conjugate gradients, many contacts at once; the fastest",
                ),
                ("conjugate-gradient", "the same acceleration, contact after contact"),
                ("gauss-seidel", "plain Gauss–Seidel sweeps, as in the paper"),
            ]),
            Need::Default("\"coloured\""),
            "How the contact problem is solved. All solve the same problem to the same tolerances.",
        ),
        field(
            "tolerance",
            Kind::Number(Limits::Positive),
            Need::Default("1e-4"),
            "Residual of the contact laws.",
        ),
        field(
            "approach_tolerance",
            Kind::Number(Limits::Positive),
            Need::Default("1e-4"),
            "Largest approach velocity left at a contact, times `dt`, over the grain size.",
        ),
        field(
            "velocity_change_tolerance",
            Kind::Number(Limits::Positive),
            Need::Default("1e-3"),
            "Root mean square of the change of relative velocity in the last sweep, relative (\"Quad\" in LMGC90).",
        ),
        field(
            "max_velocity_change_tolerance",
            Kind::Number(Limits::Positive),
            Need::Default("1e-2"),
            "Largest change of relative velocity in the last sweep, relative (\"Maxm\" in LMGC90).",
        ),
        field(
            "max_sweeps",
            Kind::Integer(1, 100_000_000),
            Need::Default("5000"),
            "Sweeps over all contacts before the solver gives up.",
        ),
    ],
    tag: None,
};

static CONTACT: Table = Table {
    name: "contact",
    title: "[contact]",
    doc: "How contacts are found.",
    fields: &[
        field(
            "alert",
            Kind::Quantity(Dimension::LENGTH, Limits::Positive),
            Need::Computed("1 % of the mean grain size"),
            "Gap below which a pair of surfaces takes part in the contact problem.",
        ),
        field(
            "detection",
            Kind::Choice(&[
                (
                    "separating-axes",
                    "axes of faces and edges are tried; exact for convex polyhedra",
                ),
                ("common-plane", "a plane between both bodies is rotated until it fits"),
            ]),
            Need::Default("\"separating-axes\""),
            "Method for pairs of polyhedra.",
        ),
    ],
    tag: None,
};

static MATERIAL_TABLE: Table = Table {
    name: "material",
    title: "[materials.*]",
    doc: "A material. Two materials meet with the smaller friction, restitution and rolling resistance of both, \
          unless a `[[pair]]` says otherwise.",
    fields: &[
        field(
            "density",
            DENSITY,
            Need::Optional,
            "Density; may be left out if every free body of this material has a given mass.",
        ),
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
            "rolling",
            Kind::Quantity(Dimension::LENGTH, Limits::NonNegative),
            Need::Default("0.0"),
            "Rolling resistance: two bodies that touch resist turning against each other by a moment of up to this length times the \
             normal force. Bodies of mechanisms do not.",
        ),
    ],
    tag: None,
};

const NORMAL_LAWS: &[(&str, &str)] = &[
    ("moreau-newton", "no approach after the step, with restitution"),
    ("quasi-shock", "no overlap after the step: a closing gap may still close; restitution 0 only"),
];

static PAIR: Table = Table {
    name: "pair",
    title: "[[pair]]",
    doc: "How two materials meet, where the smaller values of both are not right.",
    fields: &[
        field(
            "between",
            Kind::List { of: &MATERIAL, min: 2, max: 2 },
            Need::Required,
            "The two materials; they may be the same.",
        ),
        field(
            "friction",
            Kind::Number(Limits::NonNegative),
            Need::Computed("the smaller of both materials"),
            "Coulomb's coefficient of friction.",
        ),
        field(
            "restitution",
            Kind::Number(Limits::Within(0.0, 1.0)),
            Need::Computed("the smaller of both materials"),
            "Newton's coefficient of restitution.",
        ),
        field(
            "rolling",
            Kind::Quantity(Dimension::LENGTH, Limits::NonNegative),
            Need::Computed("the smaller of both materials"),
            "Rolling resistance: two bodies that touch resist turning against each other by a moment of up to this length times the \
             normal force. Bodies of mechanisms do not.",
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

static PROBE: Table = Table {
    name: "probe",
    title: "[[probe]]",
    doc: "A body, mechanism or joint whose motion and forces become columns of `series.csv`. Coordinates of mechanisms are there \
          without: `MECHANISM.COORDINATE.q` and `.v`, for driven ones also `.force`. Forces of mechanisms are those of \
          the equations of motion at the time of the row, with the mean contact forces of the last step: \
          `MECHANISM.FORCE.force`, `MECHANISM.SPRING.tension` and `.length`, `MECHANISM.LOOP.x` and so on for each \
          equation, `MECHANISM.JOINT.fx` to `.fz` and `.mx` to `.mz`. Those of a joint between bodies are means over the last \
          step, in the world frame: `JOINT.fx` to `.fz`, `.mx` to `.mz`, and `JOINT.error`, `.error_angle`.",
    fields: &[
        field(
            "body",
            Kind::Refers("body"),
            Need::Optional,
            "Name of a body, of a grain such as `ballast-12`, or of a body of a mechanism such as `robot/hand`.",
        ),
        field(
            "mechanism",
            Kind::Refers("mechanism"),
            Need::Optional,
            "Name of a mechanism, instead of a body.",
        ),
        field(
            "joint",
            Kind::Refers("joint"),
            Need::Optional,
            "Name of a joint between bodies, instead of a body.",
        ),
        field(
            "point",
            Kind::Polar(&LENGTH),
            Need::Default("[0.0, 0.0, 0.0]"),
            "The point that is followed, in the frame of the body; for bodies of mechanisms.",
        ),
        field(
            "quantities",
            Kind::List { of: &QUANTITY_NAME, min: 1, max: 13 },
            Need::Computed(
                "`[\"position\", \"velocity\"]`; of a mechanism `[\"forces\"]`, of a joint `[\"force\"]`",
            ),
            "What is written.",
        ),
        field(
            "name",
            Kind::Name,
            Need::Computed(
                "the name of the body, with `.` for `/`, of the mechanism or of the joint",
            ),
            "First part of the names of the columns, used once.",
        ),
    ],
    tag: None,
};

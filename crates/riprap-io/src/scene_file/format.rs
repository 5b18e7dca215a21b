//! The format of scene files: every table and key with its kind, limits, default and meaning. Nothing else
//! knows the keys but `convert.rs`, which fills the model, and `resolved.rs`, which writes it.

use super::fields::{Field, Kind, Limits, Need, Table, Tag, Variant};
use super::units::Dimension;

/// The largest number of grains in a scene.
pub(crate) const MAX_GRAINS: i64 = 10_000_000;
/// The largest number of points, parts or sieves in a list.
const MANY: usize = 1_000_000;

static LENGTH: Kind = Kind::Quantity(Dimension::LENGTH, Limits::Any);
static POSITIVE_LENGTH: Kind = Kind::Quantity(Dimension::LENGTH, Limits::Positive);
static VELOCITY: Kind = Kind::Quantity(Dimension::VELOCITY, Limits::Any);
static ANGULAR_VELOCITY: Kind = Kind::Quantity(Dimension::ANGULAR_VELOCITY, Limits::Any);
static ACCELERATION: Kind = Kind::Quantity(Dimension::ACCELERATION, Limits::Any);
static FORCE: Kind = Kind::Quantity(Dimension::FORCE, Limits::Any);
static TORQUE: Kind = Kind::Quantity(Dimension::TORQUE, Limits::Any);
static INERTIA: Kind = Kind::Quantity(Dimension::INERTIA, Limits::Any);
static NUMBER: Kind = Kind::Number(Limits::Any);
static PERCENT: Kind = Kind::Number(Limits::Within(0.0, 100.0));
static POINT: Kind = Kind::List { of: &LENGTH, min: 3, max: 3 };
static PLANE_POINT: Kind = Kind::List { of: &LENGTH, min: 2, max: 2 };
static INERTIA_ROW: Kind = Kind::OneOf(&[
    Kind::Quantity(Dimension::INERTIA, Limits::Any),
    Kind::List { of: &INERTIA, min: 3, max: 3 },
]);
static POSITION_LAW: Kind = Kind::Law(Dimension::LENGTH);
static VELOCITY_LAW: Kind = Kind::Law(Dimension::VELOCITY);
static ANGULAR_VELOCITY_LAW: Kind = Kind::Law(Dimension::ANGULAR_VELOCITY);
static MATERIAL: Kind = Kind::Refers("material");
static PART_KIND: Kind = Kind::Table(&PART);
static BODY_KIND: Kind = Kind::Table(&BODY);
static GRAINS_KIND: Kind = Kind::Table(&GRAINS);
static PAIR_KIND: Kind = Kind::Table(&PAIR);
static PROBE_KIND: Kind = Kind::Table(&PROBE);
static COUNT: Kind = Kind::Integer(1, MAX_GRAINS);
static AXIS_NAME: Kind = Kind::Choice(&[
    ("x", "no motion along x"),
    ("y", "no motion along y"),
    ("z", "no motion along z"),
    ("rx", "no rotation about x"),
    ("ry", "no rotation about y"),
    ("rz", "no rotation about z"),
]);
static QUANTITY_NAME: Kind = Kind::Choice(&[
    ("position", "of the centre of mass [m]"),
    ("velocity", "of the centre of mass [m/s]"),
    ("rotation", "quaternion w, x, y, z [–]"),
    ("angular_velocity", "in the world frame [rad/s]"),
    ("force", "sum of the contact forces [N]"),
]);

static SHAPE_OR_NAME: [Kind; 2] = [Kind::Refers("shape"), Kind::Table(&SHAPE)];
static GRADINGS: [Kind; 2] = [
    Kind::Choice(&[
        ("EN 13450 31.5-50", "railway ballast 31.5/50 mm"),
        ("EN 13450 31.5-63", "railway ballast 31.5/63 mm"),
    ]),
    Kind::Table(&GRADING_TABLE),
];
const DENSITY: Kind = Kind::Quantity(Dimension::DENSITY, Limits::Positive);
const TIME: Kind = Kind::Quantity(Dimension::TIME, Limits::Positive);

const fn field(key: &'static str, kind: Kind, need: Need, doc: &'static str) -> Field {
    Field { key, kind, need, doc }
}

/// The whole file.
pub(crate) static SCENE: Table = Table {
    name: "scene",
    title: "the scene",
    doc: "A scene: materials, bodies and grains, and how they are simulated.",
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
            "materials",
            Kind::Named(&MATERIAL_TABLE),
            Need::Required,
            "Materials by name, at least one: `[materials.rock]`.",
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
            "probe",
            Kind::List { of: &PROBE_KIND, min: 0, max: 10_000 },
            Need::Default("[]"),
            "Bodies that are followed in `series.csv`: `[[probe]]`.",
        ),
    ],
    tag: None,
};

static RUN: Table = Table {
    name: "run",
    title: "[run]",
    doc: "Time steps and output.",
    fields: &[
        field("dt", TIME, Need::Required, "Time step."),
        field(
            "until",
            Kind::Quantity(Dimension::TIME, Limits::NonNegative),
            Need::Required,
            "Time at which the run ends; it starts at 0.",
        ),
        field(
            "theta",
            Kind::Number(Limits::Within(0.5, 1.0)),
            Need::Default("0.5"),
            "Parameter of the time-stepping scheme: 0.5 keeps energy best, 1 damps most.",
        ),
        field(
            "output_every",
            TIME,
            Need::Computed("a hundredth of `until`, at least `dt`"),
            "Time between two frames and between two rows of `series.csv`.",
        ),
        field(
            "frames",
            Kind::Flag,
            Need::Default("true"),
            "Whether frames for ParaView are written: surfaces and contacts as `.vtp`.",
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
    tag: None,
};

static SOLVER: Table = Table {
    name: "solver",
    title: "[solver]",
    doc: "When the contact forces of a step are good enough. All tolerances have to be met.",
    fields: &[
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
    doc: "A material. Two materials meet with the smaller friction and the smaller restitution of both, \
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
    ],
    tag: None,
};

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
            "law",
            Kind::Choice(&[
                ("moreau-newton", "no approach after the step, with restitution"),
                (
                    "quasi-shock",
                    "no overlap after the step: a closing gap may still close; restitution 0 only",
                ),
            ]),
            Need::Computed("`quasi-shock` if the restitution is 0, otherwise `moreau-newton`"),
            "Law in the normal direction.",
        ),
    ],
    tag: None,
};

static SHAPE: Table = Table {
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
                        "`.stl` (text or binary) or `.obj`, relative to the scene file.",
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

const POSITION: Field = field(
    "position",
    Kind::Polar(&LENGTH),
    Need::Default("[0.0, 0.0, 0.0]"),
    "Where the origin of the shape is.",
);
const ROTATION: Field =
    field("rotation", Kind::Table(&ROTATION_TABLE), Need::Optional, "How the shape is turned.");
const ANGLE: Field = field(
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

static ROTATION_TABLE: Table = Table {
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

static BODY: Table = Table {
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
    doc: "A prescribed motion. Each component is a number or an expression of the time `t`, in SI.",
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

static GRAINS: Table = Table {
    name: "grains",
    title: "[[grains]]",
    doc: "Many free bodies. They have one `shape`, or are `stones` or `spheres` with the sizes of a `grading`.",
    fields: &[
        field(
            "name",
            Kind::Name,
            Need::Computed("`grains-1`, `grains-2`, … by place in the file"),
            "Name, used once; the bodies are called `name-1`, `name-2`, …",
        ),
        field(
            "material",
            Kind::Refers("material"),
            Need::Required,
            "Their material; it needs a density.",
        ),
        field(
            "shape",
            Kind::OneOf(&SHAPE_OR_NAME),
            Need::Optional,
            "The shape of every grain, or the name of one.",
        ),
        field(
            "seed",
            Kind::Integer(0, i64::MAX),
            Need::Computed("the `seed` of the scene"),
            "Seed of their random choices.",
        ),
    ],
    tag: Some(&Tag {
        key: "generator",
        doc: "Where the grains come from.",
        default: None,
        variants: &[
            Variant {
                value: "lattice",
                doc: "On a regular lattice.",
                fields: &[
                    STONES,
                    SPHERES,
                    GRADING,
                    field(
                        "counts",
                        Kind::List { of: &COUNT, min: 2, max: 3 },
                        Need::Required,
                        "Number of grains along x, y and z.",
                    ),
                    field(
                        "spacing",
                        Kind::List { of: &POSITIVE_LENGTH, min: 2, max: 3 },
                        Need::Required,
                        "Distance between two grains along x, y and z.",
                    ),
                    field(
                        "origin",
                        Kind::Polar(&LENGTH),
                        Need::Default("[0.0, 0.0, 0.0]"),
                        "Where the first grain is; the others follow in the positive directions.",
                    ),
                    field(
                        "jitter",
                        Kind::Number(Limits::Within(0.0, 0.5)),
                        Need::Default("0.0"),
                        "Largest random displacement in each direction, as a part of the spacing.",
                    ),
                    field(
                        "random_rotation",
                        Kind::Flag,
                        Need::Default("false"),
                        "Whether each grain is turned at random.",
                    ),
                ],
            },
            Variant {
                value: "rain",
                doc: "Falling into a column, layer by layer.",
                fields: &[
                    STONES,
                    SPHERES,
                    GRADING,
                    field(
                        "count",
                        Kind::Integer(1, MAX_GRAINS),
                        Need::Required,
                        "Number of grains.",
                    ),
                    field(
                        "box",
                        Kind::Table(&BOX),
                        Need::Required,
                        "The column; its top is open, so that all grains find a place.",
                    ),
                    field(
                        "settle",
                        Kind::Table(&SETTLE),
                        Need::Optional,
                        "Let the grains come to rest before the time starts.",
                    ),
                ],
            },
            Variant {
                value: "file",
                doc: "One by one from a table.",
                fields: &[field(
                    "file",
                    Kind::File,
                    Need::Required,
                    "CSV, relative to the scene file, one row per grain, in SI. Its first line names the columns: `x,y,z`, and \
                     optionally `qw,qx,qy,qz`, `vx,vy,vz`, `wx,wy,wz` and `scale`.",
                )],
            },
        ],
    }),
};

const STONES: Field = field(
    "stones",
    Kind::Table(&STONES_TABLE),
    Need::Optional,
    "Random convex polyhedra, in the manner of ballast.",
);
const SPHERES: Field =
    field("spheres", Kind::Table(&SPHERES_TABLE), Need::Optional, "Spheres: `spheres = {}`.");
const GRADING: Field = field(
    "grading",
    Kind::OneOf(&GRADINGS),
    Need::Optional,
    "Sizes of `stones` or `spheres`: the name of a standard, or a curve.",
);

static STONES_TABLE: Table = Table {
    name: "stones",
    title: "stones",
    doc: "Random convex polyhedra with the axes a ≥ b ≥ c.",
    fields: &[
        field("vertices", Kind::Integer(4, 1000), Need::Default("25"), "Number of vertices."),
        field(
            "flatness",
            Kind::Number(Limits::PositiveUpTo(1.0)),
            Need::Default("0.7"),
            "c/b: 1 is not flat at all.",
        ),
        field(
            "elongation",
            Kind::Number(Limits::PositiveUpTo(1.0)),
            Need::Default("0.8"),
            "b/a: 1 is not elongated at all.",
        ),
        field(
            "angularity",
            Kind::Number(Limits::Within(0.0, 1.0)),
            Need::Default("0.08"),
            "Random displacement of the vertices along the radius, as a part of it.",
        ),
    ],
    tag: None,
};

static SPHERES_TABLE: Table = Table {
    name: "spheres",
    title: "spheres",
    doc: "Spheres; they have no parameters of their own.",
    fields: &[],
    tag: None,
};

static GRADING_TABLE: Table = Table {
    name: "grading",
    title: "a grading",
    doc: "A grading by mass: `{ sieves = [\"20 mm\", \"40 mm\"], passing = [0, 100] }`, or sizes spread evenly: \
          `{ uniform = [\"30 mm\", \"50 mm\"] }`.",
    fields: &[
        field(
            "sieves",
            Kind::List { of: &POSITIVE_LENGTH, min: 2, max: 1000 },
            Need::Optional,
            "Openings of the sieves, growing.",
        ),
        field(
            "passing",
            Kind::List { of: &PERCENT, min: 2, max: 1000 },
            Need::Optional,
            "Mass that passes each sieve, in %, from 0 to 100 and never falling.",
        ),
        field(
            "uniform",
            Kind::List { of: &POSITIVE_LENGTH, min: 2, max: 2 },
            Need::Optional,
            "Smallest and largest size; by number.",
        ),
    ],
    tag: None,
};

static BOX: Table = Table {
    name: "box",
    title: "box",
    doc: "A cuboid along the axes.",
    fields: &[
        field("min", Kind::Polar(&LENGTH), Need::Required, "Lowest corner."),
        field("max", Kind::Polar(&LENGTH), Need::Required, "Highest corner."),
    ],
    tag: None,
};

static SETTLE: Table = Table {
    name: "settle",
    title: "settle",
    doc: "When grains count as settled.",
    fields: &[
        field(
            "speed",
            Kind::Quantity(Dimension::VELOCITY, Limits::Positive),
            Need::Default("1e-4"),
            "Largest velocity of a settled grain.",
        ),
        field("at_most", TIME, Need::Default("5.0"), "Longest time that is simulated for it."),
    ],
    tag: None,
};

static PROBE: Table = Table {
    name: "probe",
    title: "[[probe]]",
    doc: "A body whose motion becomes columns of `series.csv`.",
    fields: &[
        field(
            "body",
            Kind::Refers("body"),
            Need::Required,
            "Name of a body, or of a grain such as `ballast-12`.",
        ),
        field(
            "quantities",
            Kind::List { of: &QUANTITY_NAME, min: 1, max: 5 },
            Need::Default("[\"position\", \"velocity\"]"),
            "What is written.",
        ),
        field(
            "name",
            Kind::Name,
            Need::Computed("the name of the body"),
            "First part of the names of the columns, used once.",
        ),
    ],
    tag: None,
};

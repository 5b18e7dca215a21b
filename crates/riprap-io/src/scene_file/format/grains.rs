//! The format of groups of grains, of their sizes and of the ways they are placed.

use super::super::fields::{Field, Kind, Limits, Need, Table, Tag, Variant};
use super::super::units::Dimension;
use super::shapes::SHAPE_OR_NAME;
use super::{LENGTH, MAX_GRAINS, POSITIVE_LENGTH, TIME, field};

static PERCENT: Kind = Kind::Number(Limits::Within(0.0, 100.0));
static COUNT: Kind = Kind::Integer(1, MAX_GRAINS);
static GRADINGS: [Kind; 2] = [
    Kind::Choice(&[
        ("EN 13450 31.5-50", "railway ballast 31.5/50 mm"),
        ("EN 13450 31.5-63", "railway ballast 31.5/63 mm"),
        ("EN 12620 gravel 4-8", "gravel 4/8 mm"),
        ("EN 196-1 sand", "standard sand up to 2 mm"),
    ]),
    Kind::Table(&GRADING_TABLE),
];

pub(super) static GRAINS: Table = Table {
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
                        Kind::Quantity(Dimension::LENGTH, Limits::NonNegative),
                        Need::Default("0.0"),
                        "Largest random displacement along each axis.",
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
                doc: "Falling one by one into a column, turned at random.",
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
                        "Let the grains come to rest before the time starts; everything else is held where it begins until then.",
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
    "Convex polyhedra: random ones in the manner of ballast, or scanned ones from a folder.",
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
    doc: "Random convex polyhedra with the axes a ≥ b ≥ c; or, with `folder`, scanned stones, each reduced to a convex polyhedron, \
          drawn at random and scaled to the grading.",
    fields: &[
        field(
            "vertices",
            Kind::Integer(4, 100),
            Need::Default("25"),
            "Number of vertices wanted; a stone may have a few more or fewer.",
        ),
        field(
            "flatness",
            Kind::Number(Limits::Within(0.05, 1.0)),
            Need::Default("0.75"),
            "c/b: 1 is not flat at all.",
        ),
        field(
            "elongation",
            Kind::Number(Limits::Within(0.05, 1.0)),
            Need::Default("0.75"),
            "b/a: 1 is not elongated at all.",
        ),
        field(
            "angularity",
            Kind::Number(Limits::Within(0.0, 1.0)),
            Need::Default("0.7"),
            "0: rounded, with faces of like size; 1: as broken, with large and small faces.",
        ),
        field(
            "folder",
            Kind::File,
            Need::Optional,
            "Folder of meshes (`.stl`, `.obj`, `.ply`), relative to the scene file, in any unit of length; they are taken in \
             the order of their names. Instead of the keys above.",
        ),
        field(
            "max_vertices",
            Kind::Integer(4, 100),
            Need::Default("25"),
            "Most vertices of a stone from `folder`: those of its hull that cost the least volume are left out.",
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
            "Smallest and largest size: the same mass for every millimetre between.",
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
        field(
            "drag",
            Kind::Quantity(Dimension::FREQUENCY, Limits::NonNegative),
            Need::Default("0.0"),
            "Slows the grains down meanwhile, as thick air would: their velocities fall with this rate, so that they fall no faster than \
             gravity over it. Friction alone does not damp a grain that hangs on two points. Of several groups that settle, the largest \
             counts for all.",
        ),
    ],
    tag: None,
};

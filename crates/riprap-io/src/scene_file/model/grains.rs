//! Groups of grains: shapes, sizes and positions.

use std::path::PathBuf;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::super::convert::Converter;
use super::super::fields::{Field, Kind, Limits, Table};
use super::super::keys::{Codec, FilePath, In, Names, codec, keys, table, variants};
use super::super::units::Dimension;
use super::super::values::Entries;
use super::contacts::HeavyMaterial;
use super::shapes::{SHAPE_OR_NAME, Written};
use super::{LENGTH, MAX_GRAINS, OwnName, POSITIVE_LENGTH, ShapeRef, TIME, Vector};
use crate::grain_table::GrainTable;
use crate::scans::Scan;

static PERCENT: Kind = Kind::Number(Limits::Within(0.0, 100.0));
static COUNT: Kind = Kind::Integer(1, MAX_GRAINS);

table! {
    /// A group of free bodies. They share one `shape`, or are `stones` or `spheres` with sizes drawn from a `grading`.
    GRAINS = "grains", "[[grains]]", tag &GENERATOR;
    pub struct Grains {
        /// Unique name; the bodies are named `name-1`, `name-2`, …
        name: String = Name, Computed("`grains-1`, `grains-2`, … in file order"), with OwnName;
        /// Material; it must have a density.
        material: usize = Refers("material"), Required, with HeavyMaterial;
        /// Shapes and sizes.
        shape: GrainShape => GRAIN_SHAPE, with AnyGrains;
        /// Seed for the random choices of this group.
        seed: u64 = Integer(0, i64::MAX), Computed("the `seed` of the scene"), with Seed;
        /// Initial positions.
        placement: Placement => &[];
    }
}

impl Grains {
    /// Number of grains.
    pub fn count(&self) -> u64 {
        match &self.placement {
            Placement::Lattice { counts, .. } => counts.iter().map(|n| u64::from(*n)).product(),
            Placement::Rain { count, .. } => u64::from(*count),
            Placement::File { table, .. } => table.grains.len() as u64,
        }
    }
}

codec! {
    /// The seed of a group; defaults to that of the scene.
    Seed: u64,
    |from, group, key| Some(group.integer(key).map_or(from.seed, i64::unsigned_abs)),
    |seed, _| seed
}

/// Shapes and sizes of grains.
#[derive(Clone, Debug, PartialEq)]
pub enum GrainShape {
    /// All grains have the same shape.
    Shape(ShapeRef),
    /// Random convex polyhedra with the axes a ≥ b ≥ c.
    Stones {
        /// Parameters of the shape.
        stones: Stones,
        /// Sizes.
        grading: Grading,
    },
    /// Scanned stones: the shape of each grain is drawn at random from them.
    Scans {
        /// The folder, as an absolute path.
        folder: PathBuf,
        /// Maximum number of vertices of a stone, 4 to 100.
        max_vertices: u32,
        /// The stones, in the order of their files; at least one.
        scans: Arc<Vec<Scan>>,
        /// Sizes.
        grading: Grading,
    },
    /// Spheres.
    Spheres {
        /// Sizes (diameters).
        grading: Grading,
    },
}

pub(super) const GRAIN_SHAPE: &[Field] = keys! {
    /// The shape of every grain, inline or by name.
    shape: OneOf(&SHAPE_OR_NAME), Optional;
};
/// Alternatives to `shape` for generators that draw the grains at random.
pub(super) const DRAWN: &[Field] = keys! {
    /// Convex polyhedra: random ones that resemble ballast, or scanned ones from a folder.
    stones: Table(&STONES), Optional;
    /// Spheres: `spheres = {}`.
    spheres: Table(&SPHERES), Optional;
    /// Sizes of `stones` or `spheres`: the name of a standard, or a curve.
    grading: OneOf(&GRADINGS), Optional;
};

/// `shape`, or `stones` or `spheres` with their `grading`.
pub(super) struct AnyGrains;

impl Codec<GrainShape> for AnyGrains {
    fn read(from: &mut Converter<'_>, group: &Entries, _: &'static str) -> Option<GrainShape> {
        from.grain_shape(group)
    }

    fn write<M: SerializeMap>(
        shape: &GrainShape,
        names: Names<'_>,
        _: &'static str,
        map: &mut M,
    ) -> Result<(), M::Error> {
        let grading = match shape {
            GrainShape::Shape(shape) => {
                return map.serialize_entry("shape", &Written(names, shape));
            }
            GrainShape::Stones { stones, grading } => {
                map.serialize_entry("stones", &In(names, stones))?;
                grading
            }
            GrainShape::Scans { folder, max_vertices, grading, .. } => {
                let (folder, max_vertices) = (folder.to_string_lossy(), *max_vertices);
                map.serialize_entry("stones", &Scans { folder: &folder, max_vertices })?;
                grading
            }
            GrainShape::Spheres { grading } => {
                map.serialize_entry("spheres", &std::collections::BTreeMap::<&str, ()>::new())?;
                grading
            }
        };
        map.serialize_entry("grading", grading)
    }
}

table! {
    /// Random convex polyhedra with the axes a ≥ b ≥ c; or, with `folder`, scanned stones, each reduced to a convex polyhedron,
    /// drawn at random and scaled to the grading.
    STONES = "stones", "stones", and SCANS;
    pub struct Stones {
        /// Target number of vertices; a stone may have a few more or fewer.
        vertices: u32 = Integer(4, 100), Default("25");
        /// Ratio c/b; 1 is not flat at all.
        flatness: f64 = Number(Within(0.05, 1.0)), Default("0.75");
        /// Ratio b/a; 1 is not elongated at all.
        elongation: f64 = Number(Within(0.05, 1.0)), Default("0.75");
        /// 0: rounded, with faces of similar size; 1: freshly broken, with large and small faces.
        angularity: f64 = Number(Within(0.0, 1.0)), Default("0.7");
    }
}

const SCANS: &[Field] = keys! {
    /// Folder of meshes (`.stl`, `.obj`, `.ply`), relative to the scene file, in any unit of length; they are read in order of
    /// file name. Replaces the keys above.
    folder: File, Optional;
    /// Maximum number of vertices of a stone from `folder`; the vertices of its hull that contribute the least volume are removed.
    max_vertices: Integer(4, 100), Default("25");
};

/// The keys of scanned stones.
#[derive(serde::Serialize)]
struct Scans<'a> {
    folder: &'a str,
    max_vertices: u32,
}

static SPHERES: Table = Table {
    name: "spheres",
    title: "spheres",
    doc: "Spheres; they have no parameters.",
    fields: &[],
    tag: None,
};

/// Sizes of grains.
#[derive(Clone, Debug, PartialEq)]
pub enum Grading {
    /// The name of a standard, such as `EN 13450 31.5-50`; see the reference for the list.
    Standard(String),
    /// Mass passing each sieve.
    Sieves {
        /// Openings [m], increasing.
        sieves: Vec<f64>,
        /// Passing mass [%], from 0 to 100, nondecreasing; one value per sieve.
        passing: Vec<f64>,
    },
    /// Mass distributed uniformly over size.
    Uniform {
        /// Smallest size [m].
        min: f64,
        /// Largest size [m], at least `min`.
        max: f64,
    },
}

impl Serialize for Grading {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Standard(name) => name.serialize(serializer),
            Self::Sieves { sieves, passing } => {
                serializer.collect_map([("sieves", sieves), ("passing", passing)])
            }
            Self::Uniform { min, max } => serializer.collect_map([("uniform", [min, max])]),
        }
    }
}

static GRADINGS: [Kind; 2] = [
    Kind::Choice(&[
        ("EN 13450 31.5-50", "railway ballast 31.5/50 mm"),
        ("EN 13450 31.5-63", "railway ballast 31.5/63 mm"),
        ("EN 12620 gravel 4-8", "gravel 4/8 mm"),
        ("EN 196-1 sand", "standard sand up to 2 mm"),
    ]),
    Kind::Table(&GRADING),
];

static GRADING: Table = Table {
    name: "grading",
    title: "a grading",
    doc: "A grading by mass: `{ sieves = [\"20 mm\", \"40 mm\"], passing = [0, 100] }`, or a uniform distribution: \
          `{ uniform = [\"30 mm\", \"50 mm\"] }`.",
    fields: &[keys! {
        /// Openings of the sieves, increasing.
        sieves: List { of: &POSITIVE_LENGTH, min: 2, max: 1000 }, Optional;
        /// Mass passing each sieve, in %, from 0 to 100 and nondecreasing.
        passing: List { of: &PERCENT, min: 2, max: 1000 }, Optional;
        /// Smallest and largest size; mass is distributed uniformly in between.
        uniform: List { of: &POSITIVE_LENGTH, min: 2, max: 2 }, Optional;
    }],
    tag: None,
};

variants! {
    /// Initial positions of grains.
    GENERATOR = "generator", "How the grains are placed.", None;
    pub enum Placement {
        /// Grains on a regular lattice.
        Lattice "lattice" [DRAWN] {
            /// Number of grains along x, y and z.
            counts: [u32; 3] = List { of: &COUNT, min: 2, max: 3 }, Required, with Counts;
            /// Distance between two grains along x, y and z.
            spacing: Vector = List { of: &POSITIVE_LENGTH, min: 2, max: 3 }, Required, with Spacing;
            /// Position of the first grain; the others follow in the positive directions.
            origin: Vector = Polar(&LENGTH), Default("[0.0, 0.0, 0.0]");
            /// Largest random displacement along each axis.
            jitter: f64 = Quantity(Dimension::LENGTH, NonNegative), Default("0.0");
            /// Whether each grain has a random orientation.
            random_rotation: bool = Flag, Default("false");
        },
        /// Grains dropped one by one into a column, with random orientations.
        Rain "rain" [DRAWN] {
            /// Number of grains.
            count: u32 = Integer(1, MAX_GRAINS), Required;
            /// The column; its top is open, so that all grains fit.
            column("box"): Column = Table(&COLUMN), Required;
            /// Lets the grains come to rest before t = 0; everything else is held at its initial position until then.
            settle: Option<Settle> = Table(&SETTLE), Optional;
        },
        /// Grains listed in a table.
        File "file" {
            /// CSV, relative to the scene file, one row per grain, in SI units. The first line names the columns: `x,y,z`, and
            /// optionally `qw,qx,qy,qz`, `vx,vy,vz`, `wx,wy,wz` and `scale`.
            file: PathBuf = File, Required, with FilePath;
            /// Its content.
            table: Arc<GrainTable> => &[], with Rows;
        },
    }
}

/// Number of axes of a lattice: 2 in planar scenes, otherwise 3.
fn n_axes(names: Names<'_>) -> usize {
    if names.scene.planar { 2 } else { 3 }
}

codec! {
    /// Number of grains along each axis; 1 along z in planar scenes.
    Counts: [u32; 3],
    |from, group, key| from.counts(group, key),
    |counts, names| counts[..n_axes(names)]
}

codec! {
    /// Spacing along each axis; 0 along z in planar scenes.
    Spacing: Vector,
    |from, group, key| from.spacing(group, key),
    |spacing, names| spacing[..n_axes(names)]
}

/// The grains in the file named by `file`; the content is not serialized.
struct Rows;

impl Codec<Arc<GrainTable>> for Rows {
    fn read(from: &mut Converter<'_>, group: &Entries, _: &'static str) -> Option<Arc<GrainTable>> {
        from.rows(group)
    }

    fn write<M: SerializeMap>(
        _: &Arc<GrainTable>,
        _: Names<'_>,
        _: &'static str,
        _: &mut M,
    ) -> Result<(), M::Error> {
        Ok(())
    }
}

table! {
    /// An axis-aligned cuboid.
    COLUMN = "box", "box";
    pub struct Column {
        /// Lowest corner.
        min: Vector = Polar(&LENGTH), Required;
        /// Highest corner.
        max: Vector = Polar(&LENGTH), Required;
    }
}

table! {
    /// When grains count as settled.
    SETTLE = "settle", "settle";
    pub struct Settle {
        /// Largest velocity of a settled grain.
        speed: f64 = Quantity(Dimension::VELOCITY, Positive), Default("1e-4");
        /// Maximum simulated settling time.
        at_most: f64 = TIME, Default("5.0");
        /// Viscous drag during settling: velocities decay at this rate, so that grains fall no faster than gravity divided by it.
        /// Friction alone does not damp a grain that hangs on two points. If several groups settle, the largest value applies to
        /// all of them.
        drag: f64 = Quantity(Dimension::FREQUENCY, NonNegative), Default("0.0");
    }
}

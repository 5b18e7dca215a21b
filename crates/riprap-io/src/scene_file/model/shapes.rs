//! Shapes and their orientation.

use std::path::PathBuf;
use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::super::convert::Converter;
use super::super::fields::{Field, Kind, Table};
use super::super::keys::{Codec, In, Names, ReadKeys, Single, codec, keys, table, variants};
use super::super::units::Dimension;
use super::super::values::Entries;
use super::{LENGTH, MANY, NUMBER, POSITIVE_LENGTH, Quaternion, SceneFile, Vector};
use crate::mesh::Mesh;

static PLANE_POINT: Kind = Kind::List { of: &LENGTH, min: 2, max: 2 };
static POINT: Kind = Kind::List { of: &LENGTH, min: 3, max: 3 };
static PART_KIND: Kind = Kind::Table(&PART);
pub(super) static SHAPE_OR_NAME: [Kind; 2] = [Kind::Refers("shape"), Kind::Table(&SHAPE)];

/// A named shape.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedShape {
    /// Its name.
    pub name: String,
    /// The shape.
    pub shape: Shape,
}

pub(crate) static SHAPE: Table = Table {
    name: "shape",
    title: "a shape",
    doc: "A shape, by name in `[shapes.*]` or inline: `shape = { type = \"sphere\", radius = \"5 mm\" }`.",
    fields: &[],
    tag: Some(&SHAPE_TYPE),
};

variants! {
    /// A shape in its own frame; all lengths in metres.
    SHAPE_TYPE = "type", "Type of shape.", None;
    pub enum Shape {
        /// A sphere centred at its origin.
        Sphere "sphere" {
            /// Radius.
            radius: f64 = Quantity(Dimension::LENGTH, Positive), Required;
        },
        /// A cuboid centred at its origin.
        Box "box" {
            /// Full lengths along x, y and z.
            size: Vector = List { of: &POSITIVE_LENGTH, min: 3, max: 3 }, Required;
        },
        /// Everything below a plane through the origin; for fixed and moving bodies.
        HalfSpace "half-space" {
            /// Outward direction, of any nonzero length.
            normal: Vector = Polar(&NUMBER), Computed("`[0, 0, 1]`; in planar scenes `[0, 1]`"), with Outward;
        },
        /// The convex hull of points.
        Polyhedron "polyhedron" {
            /// Points `[x, y, z]`, not all coplanar.
            points: Vec<Vector> = List { of: &POINT, min: 4, max: MANY }, Required;
        },
        /// A capsule along z, centred at its origin: a cylinder with half-balls as ends.
        Capsule "capsule" {
            /// Radius.
            radius: f64 = Quantity(Dimension::LENGTH, Positive), Required;
            /// Distance between the centres of the ends; the capsule is longer by twice its radius.
            length: f64 = Quantity(Dimension::LENGTH, Positive), Required;
        },
        /// A cylinder along z, centred at its origin.
        Cylinder "cylinder" {
            /// Radius.
            radius: f64 = Quantity(Dimension::LENGTH, Positive), Required;
            /// Length.
            length: f64 = Quantity(Dimension::LENGTH, Positive), Required;
        },
        /// A cone along z: its base at z = −height/2, its tip at z = height/2.
        Cone "cone" {
            /// Radius of the base.
            radius: f64 = Quantity(Dimension::LENGTH, Positive), Required;
            /// Height.
            height: f64 = Quantity(Dimension::LENGTH, Positive), Required;
        },
        /// A convex polyhedron with rounded edges and corners: all points within a radius of it.
        Rounded "rounded" {
            /// Radius of the edges and corners; the shape is larger than the core by the radius on every side.
            radius: f64 = Quantity(Dimension::LENGTH, Positive), Required;
            /// A box, a polyhedron or the hull of a mesh, inline or by name.
            core: Box<ShapeRef> = OneOf(&SHAPE_OR_NAME), Required, with CoreShape;
        },
        /// A triangle mesh from a file; with `as = "parts"` it must be closed.
        Mesh "mesh" {
            /// `.stl`, `.obj` or `.ply` (text or binary), relative to the scene file.
            file: PathBuf = File, Required, with super::super::keys::FilePath;
            /// Scale factor for the coordinates of the file: 0.001 if they are in mm.
            scale: f64 = Number(Positive), Default("1.0");
            /// How the mesh is treated in contacts.
            treatment: MeshTreatment => TREATMENT, with Treatment;
            /// The content of the file, unscaled.
            mesh: Arc<Mesh> => &[], with Loaded;
        },
        /// Several convex shapes fixed to each other.
        Compound "compound" {
            /// The parts.
            parts: Vec<Part> = List { of: &PART_KIND, min: 1, max: MANY }, Required, with Parts;
        },
        /// Five walls around a cavity that is open at the top, centred in x and y, with the floor of the cavity at z = 0.
        OpenBox "open-box" {
            /// Inner lengths along x, y and z.
            size: Vector = List { of: &POSITIVE_LENGTH, min: 3, max: 3 }, Required;
            /// Thickness of the walls.
            wall: f64 = Quantity(Dimension::LENGTH, Positive), Required;
        },
        /// A disc centred at its origin, for planar scenes.
        Disc "disc" {
            /// Radius.
            radius: f64 = Quantity(Dimension::LENGTH, Positive), Required;
            /// Length along z, for the mass.
            thickness: f64 = Quantity(Dimension::LENGTH, Positive), Default("1.0");
        },
        /// The convex hull of points in the plane, for planar scenes.
        Polygon "polygon" {
            /// Points `[x, y]`, not all collinear.
            points: Vec<[f64; 2]> = List { of: &PLANE_POINT, min: 3, max: MANY }, Required;
            /// Length along z, for the mass.
            thickness: f64 = Quantity(Dimension::LENGTH, Positive), Default("1.0");
        },
    }
}

codec! {
    /// The unit normal of a half-space.
    Outward: Vector,
    |from, entries, key| from.outward(entries, key),
    |normal, _| normal
}

/// How a mesh is treated in contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeshTreatment {
    /// As its convex hull.
    Hull,
    /// As several convex parts.
    Parts {
        /// Maximum number of parts.
        max_parts: u32,
    },
}

const TREATMENT: &[Field] = keys! {
    /// How the mesh is treated in contacts.
    as: Choice(&[("hull", "its convex hull"), ("parts", "several convex parts")]), Default("\"hull\"");
    /// Maximum number of convex parts, with `as = "parts"`.
    max_parts: Integer(1, 1024), Default("16");
};

struct Treatment;

impl Codec<MeshTreatment> for Treatment {
    fn read(_: &mut Converter<'_>, mesh: &Entries, _: &'static str) -> Option<MeshTreatment> {
        match mesh.text("as")? {
            "hull" => Some(MeshTreatment::Hull),
            _ => {
                let max_parts = u32::try_from(mesh.integer("max_parts")?).ok()?;
                Some(MeshTreatment::Parts { max_parts })
            }
        }
    }

    fn write<M: SerializeMap>(
        treatment: &MeshTreatment,
        _: Names<'_>,
        _: &'static str,
        map: &mut M,
    ) -> Result<(), M::Error> {
        match treatment {
            MeshTreatment::Hull => map.serialize_entry("as", "hull"),
            MeshTreatment::Parts { max_parts } => {
                map.serialize_entry("as", "parts")?;
                map.serialize_entry("max_parts", max_parts)
            }
        }
    }
}

/// The mesh in the file named by `file`; the content is not serialized.
struct Loaded;

impl Codec<Arc<Mesh>> for Loaded {
    fn read(from: &mut Converter<'_>, mesh: &Entries, _: &'static str) -> Option<Arc<Mesh>> {
        from.mesh(mesh)
    }

    fn write<M: SerializeMap>(
        _: &Arc<Mesh>,
        _: Names<'_>,
        _: &'static str,
        _: &mut M,
    ) -> Result<(), M::Error> {
        Ok(())
    }
}

table! {
    /// A part of a compound shape.
    PART = "part", "a part";
    pub struct Part {
        /// A convex shape, inline or by name; not a half-space, an open box or a compound.
        shape: ShapeRef = OneOf(&SHAPE_OR_NAME), Required, with PartShape;
        /// Position of the origin of the shape.
        position: Vector = Polar(&LENGTH), Default("[0.0, 0.0, 0.0]");
        /// Orientation of the shape.
        rotation: Quaternion => TURNED, with Turned;
    }
}

codec! {
    /// The parts of a compound.
    Parts: Vec<Part>,
    |from, entries, key| {
        let nodes = entries.list(key)?.iter();
        let parts: Vec<Option<Part>> = nodes.map(|node| Part::read_keys(from, node.table()?)).collect();
        parts.into_iter().collect()
    },
    |parts, names| super::super::keys::All(names, parts)
}

codec! {
    /// A shape allowed as part of a compound.
    PartShape: ShapeRef,
    |from, entries, key| from.part_shape(entries, key),
    |shape, names| Written(names, shape)
}

codec! {
    /// A shape that can be rounded.
    CoreShape: Box<ShapeRef>,
    |from, entries, key| from.core_shape(entries, key).map(Box::new),
    |shape, names| Written(names, shape)
}

/// A shape, inline or by name.
#[derive(Clone, Debug, PartialEq)]
pub enum ShapeRef {
    /// Index into [`SceneFile::shapes`].
    Named(usize),
    /// The shape itself.
    Inline(Shape),
}

codec! {
    /// A shape, inline or by name.
    pub(super) AnyShape: ShapeRef,
    |from, entries, key| from.shape_ref(entries.get(key)?),
    |shape, names| Written(names, shape)
}

/// A shape with the names it refers to, for serialization by serde.
pub(super) struct Written<'a>(pub Names<'a>, pub &'a ShapeRef);

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.1 {
            ShapeRef::Named(index) => self.0.scene.shapes[*index].name.serialize(serializer),
            ShapeRef::Inline(shape) => In(self.0, shape).serialize(serializer),
        }
    }
}

impl SceneFile {
    /// Resolves a reference to a shape.
    pub fn shape<'a>(&'a self, shape: &'a ShapeRef) -> &'a Shape {
        match shape {
            ShapeRef::Named(index) => &self.shapes[*index].shape,
            ShapeRef::Inline(shape) => shape,
        }
    }
}

/// The common keys of [`Turned`].
pub(super) const TURNED: &[Field] = keys! {
    /// Orientation of the shape.
    rotation: Table(&ROTATION), Optional;
    /// Rotation of the shape about z; for planar scenes, instead of `rotation`.
    angle: Quantity(Dimension::ANGLE, Any), Optional;
};

/// A rotation given by `rotation`, or by `angle` in planar scenes.
pub(super) struct Turned;

impl Codec<Quaternion> for Turned {
    fn read(from: &mut Converter<'_>, entries: &Entries, _: &'static str) -> Option<Quaternion> {
        from.rotation(entries)
    }

    fn write<M: SerializeMap>(
        rotation: &Quaternion,
        _: Names<'_>,
        key: &'static str,
        map: &mut M,
    ) -> Result<(), M::Error> {
        map.serialize_entry(key, &Single("quaternion", rotation))
    }
}

pub(crate) static ROTATION: Table = Table {
    name: "rotation",
    title: "a rotation",
    doc: "A rotation: `{ axis = [0, 0, 1], angle = \"30 deg\" }` or `{ quaternion = [w, x, y, z] }`.",
    fields: &[keys! {
        /// Axis, of any nonzero length.
        axis: List { of: &NUMBER, min: 3, max: 3 }, Optional;
        /// Angle about the axis.
        angle: Quantity(Dimension::ANGLE, Any), Optional;
        /// Quaternion w, x, y, z, of any nonzero norm.
        quaternion: List { of: &NUMBER, min: 4, max: 4 }, Optional;
    }],
    tag: None,
};

//! Flexible bodies: bars and beams by points, section and material.

use riprap::flexible::{BarMass, Support};

use super::super::fields::{Kind, Table};
use super::super::keys::{All, ReadKeys, codec, table, variants, words, words_of};
use super::super::units::Dimension;
use super::bodies::{ANGULAR_VELOCITY, VELOCITY};
use super::contacts::HeavyMaterial;
use super::shapes::{AnyShape, SHAPE_OR_NAME, TURNED, Turned};
use super::{LENGTH, MANY, OwnName, Quaternion, ShapeRef, Vector};

static POINT: Kind = Kind::Polar(&LENGTH);
static NODE: Kind = Kind::Integer(0, 99_999);
static SHEAR_FACTOR: Kind = Kind::Number(super::Limits::Positive);
static NODE_SHAPE_KIND: Kind = Kind::Table(&NODE_SHAPE);

table! {
    /// A flexible body: a chain of nodes along a line of points, joined by elements. Its nodes are bodies named `NAME/0`,
    /// `NAME/1`, …, to which probes, joints, point contacts and `ignore_contact` refer; their frames are those of the
    /// cross-sections, with x along the body. It is integrated implicitly, so `dt` is not limited by its stiffness.
    FLEXIBLE = "flexible", "[[flexible]]", tag &FLEXIBLE_TYPE;
    pub struct Flexible {
        /// Unique name.
        name: String = Name, Computed("`flexible-1`, `flexible-2`, … in file order"), with OwnName;
        /// Points on its axis, in order. Beams round corners within the two elements beside them; bars must be straight.
        points: Vec<Vector> = List { of: &POINT, min: 2, max: MANY }, Required;
        /// Number of elements between two consecutive points.
        elements: u32 = Integer(1, 99_999), Default("10");
        /// Its material: density, and contact parameters of its shapes.
        material: usize = Refers("material"), Required, with HeavyMaterial;
        /// Young's modulus.
        young: f64 = Quantity(Dimension::PRESSURE, Positive), Required;
        /// Poisson's ratio, for the shear modulus.
        poisson: f64 = Number(Within(-0.9, 0.5)), Default("0.3");
        /// Cross-section.
        section: Section = Table(&SECTION), Required, with SectionTable;
        /// Damping: stress per rate of stress (Kelvin–Voigt).
        damping: f64 = Quantity(Dimension::TIME, NonNegative), Default("0.0");
        /// What holds the first node.
        start: Support = Choice(words_of::<Support>()), Default("\"free\"");
        /// What holds the last node.
        end: Support = Choice(words_of::<Support>()), Default("\"free\"");
        /// Initial velocity of the first node; that of a bar is along its axis.
        velocity: Vector = Polar(&VELOCITY), Default("[0.0, 0.0, 0.0]");
        /// Shapes that its nodes carry for contacts: `[[flexible.shape]]`.
        shapes("shape"): Vec<NodeShape> = List { of: &NODE_SHAPE_KIND, min: 0, max: 1000 }, Default("[]"), with NodeShapes;
        /// Beam or bar.
        kind: FlexibleKind => &[];
    }
}

variants! {
    /// The elements of a flexible body.
    FLEXIBLE_TYPE = "type", "Elements of the body.", Some("beam");
    pub enum FlexibleKind {
        /// Geometrically exact beam elements: stretch, shear, torsion and bending, with large rotations.
        Beam "beam" {
            /// Direction of the axis z of the first cross-section; its part along the beam is ignored.
            up: Option<Vector> = Axis, Computed("the world's z, or x for a beam along z"), with Up;
            /// Initial angular velocity of the whole beam about its first node, in the world frame.
            angular_velocity: Vector = Axial(&ANGULAR_VELOCITY), Default("[0.0, 0.0, 0.0]");
        },
        /// Linear elements that stretch along a straight line.
        Bar "bar" {
            /// How masses are assigned to the nodes.
            masses: BarMass = Choice(words_of::<BarMass>()), Default("\"consistent\"");
        },
    }
}

words! {
    Support {
        Free "free": "nothing",
        Pinned "pinned": "its position; for bars as `clamped`",
        Clamped "clamped": "its position and orientation",
    }
}

words! {
    BarMass {
        Consistent "consistent": "by the interpolation of velocities",
        Lumped "lumped": "half of the mass of an element at each of its nodes",
    }
}

pub(crate) static SECTION: Table = Table {
    name: "section",
    title: "a cross-section",
    doc: "A cross-section in its principal axes y and z: `section = { type = \"rectangle\", height = \"2 mm\", width = \"20 mm\" }`.",
    fields: &[],
    tag: Some(&SECTION_TYPE),
};

variants! {
    /// A cross-section.
    SECTION_TYPE = "type", "Form of the section.", None;
    pub enum Section {
        /// A full circle.
        Circle "circle" {
            /// Radius.
            radius: f64 = Quantity(Dimension::LENGTH, Positive), Required;
        },
        /// A circular tube.
        Tube "tube" {
            /// Outer radius.
            outer: f64 = Quantity(Dimension::LENGTH, Positive), Required;
            /// Inner radius, less than the outer one.
            inner: f64 = Quantity(Dimension::LENGTH, NonNegative), Required;
        },
        /// A rectangle.
        Rectangle "rectangle" {
            /// Size along z.
            height: f64 = Quantity(Dimension::LENGTH, Positive), Required;
            /// Size along y.
            width: f64 = Quantity(Dimension::LENGTH, Positive), Required;
        },
        /// Any section, by its constants.
        Given "given" {
            /// Area.
            area: f64 = Quantity(Dimension::AREA, Positive), Required;
            /// Shear factors along y and z.
            shear: [f64; 2] = List { of: &SHEAR_FACTOR, min: 2, max: 2 }, Default("[1.0, 1.0]");
            /// Second moment of area about y.
            inertia_y: f64 = Quantity(Dimension::SECOND_MOMENT, Positive), Required;
            /// Second moment of area about z.
            inertia_z: f64 = Quantity(Dimension::SECOND_MOMENT, Positive), Required;
            /// Torsion constant.
            torsion: f64 = Quantity(Dimension::SECOND_MOMENT, Positive), Required;
        },
    }
}

codec! {
    /// The table of a cross-section.
    SectionTable: Section,
    |from, entries, key| from.section(entries.table(key)?),
    |section, names| super::super::keys::In(names, section)
}

codec! {
    /// A direction, if given.
    Up: Option<Vector>,
    |from, entries, key| match entries.get(key) {
        None => Some(None),
        Some(node) => from.direction(node, key).map(Some),
    },
    |up, _| up
}

table! {
    /// A shape that nodes of a flexible body carry for contacts. It has no mass and the material of the body.
    NODE_SHAPE = "node-shape", "[[flexible.shape]]";
    pub struct NodeShape {
        /// The nodes, counted from 0.
        nodes: Option<Vec<u32>> = List { of: &NODE, min: 1, max: 100_000 }, Computed("all nodes"), with NodeList;
        /// A shape, inline or by name; not a half-space.
        shape: ShapeRef = OneOf(&SHAPE_OR_NAME), Required, with AnyShape;
        /// Position of the origin of the shape in the frame of the cross-section.
        position: Vector = Polar(&LENGTH), Default("[0.0, 0.0, 0.0]");
        /// Orientation of the shape in the frame of the cross-section.
        rotation: Quaternion => TURNED, with Turned;
    }
}

codec! {
    /// The shapes of the nodes.
    NodeShapes: Vec<NodeShape>,
    |from, entries, key| {
        let nodes = entries.list(key)?.iter();
        let shapes: Vec<Option<NodeShape>> =
            nodes.map(|node| NodeShape::read_keys(from, node.table()?)).collect();
        shapes.into_iter().collect()
    },
    |shapes, names| All(names, shapes)
}

codec! {
    /// Numbers of nodes; all if not given.
    NodeList: Option<Vec<u32>>,
    |_, entries, key| match entries.get(key) {
        None => Some(None),
        Some(node) => {
            let numbers = node.list()?.iter().map(|node| u32::try_from(node.integer()?).ok());
            numbers.collect::<Option<Vec<u32>>>().map(Some)
        }
    },
    |nodes, _| nodes
}

impl Flexible {
    /// Number of its nodes.
    pub fn n_nodes(&self) -> u64 {
        let segments = self.points.len().saturating_sub(1) as u64;
        u64::from(self.elements).saturating_mul(segments) + 1
    }
}

//! Mechanisms as described in a file: a tree of bodies and joints, loops that close it, and forces. Chains and URDF
//! files are expanded, names are resolved to indices, and joints are sorted from the ground outwards.

mod forces;
mod joints;
mod loops;

pub use forces::*;
pub use joints::*;
pub use loops::*;

use serde::ser::SerializeMap;

use super::super::fields::{Kind, Limits, Table};
use super::super::keys::{All, Codec, Names, Single, WriteKeys, codec, keys, table};
use super::super::units::Dimension;
use super::bodies::{GivenMass, INERTIA_ROW};
use super::shapes::{AnyShape, ROTATION, SHAPE_OR_NAME, TURNED, Turned, Written};
use super::{LENGTH, Mass, Quaternion, ShapeRef, Vector};

/// The maximum number of bodies, joints or forces in a mechanism.
const MANY: usize = 10_000;

const A_LENGTH: Kind = Kind::Quantity(Dimension::LENGTH, Limits::Any);
const AN_ANGLE: Kind = Kind::Quantity(Dimension::ANGLE, Limits::Any);

static BODY_KIND: Kind = Kind::Table(&BODY);
static BODY_SHAPE_KIND: Kind = Kind::Table(&BODY_SHAPE);
static JOINT_KIND: Kind = Kind::Table(&JOINT);
static CHAIN_KIND: Kind = Kind::Table(&CHAIN);
static LOOP_KIND: Kind = Kind::Table(&LOOP);
static SPRING_KIND: Kind = Kind::Table(&SPRING);
static FORCE_KIND: Kind = Kind::Table(&FORCE);
static COORDINATE: Kind = Kind::Refers("coordinate");

/// A named number for expressions.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its value, in SI units. It is already substituted in expressions.
    pub value: f64,
}

/// An articulated system: bodies carried by joints, in a tree that starts at the ground.
#[derive(Clone, Debug, PartialEq)]
pub struct Mechanism {
    /// Unique name.
    pub name: String,
    /// Origin of the frame `ground` in the world [m].
    pub position: Vector,
    /// Rotation of the frame `ground` in the world.
    pub rotation: Quaternion,
    /// The bodies. Each is the `child` of exactly one joint.
    pub bodies: Vec<MechanismBody>,
    /// The joints, one per body; a joint comes after the joint of its parent.
    pub joints: Vec<Joint>,
    /// Joints that close loops.
    pub loops: Vec<Loop>,
    /// Springs and dampers between points.
    pub springs: Vec<PointSpring>,
    /// Actuators and loads.
    pub forces: Vec<Force>,
    /// The velocities that the loops determine, as chosen by the user; if empty, the simulator chooses them.
    pub dependent: Vec<Coordinate>,
}

impl WriteKeys for Mechanism {
    /// Chains and URDF files are serialized as plain bodies and joints.
    fn write_keys<M: SerializeMap>(&self, names: Names<'_>, map: &mut M) -> Result<(), M::Error> {
        let names = Names { mechanism: Some(self), ..names };
        map.serialize_entry("name", &self.name)?;
        map.serialize_entry("position", &self.position)?;
        if !self.dependent.is_empty() {
            let names = self.dependent.iter().map(|at| self.coordinate_name(*at));
            map.serialize_entry("dependent", &names.collect::<Vec<_>>())?;
        }
        map.serialize_entry("rotation", &Single("quaternion", &self.rotation))?;
        map.serialize_entry("body", &All(names, &self.bodies))?;
        map.serialize_entry("joint", &All(names, &self.joints))?;
        map.serialize_entry("loop", &All(names, &self.loops))?;
        map.serialize_entry("spring", &All(names, &self.springs))?;
        map.serialize_entry("force", &All(names, &self.forces))
    }
}

pub(crate) static MECHANISM: Table = Table {
    name: "mechanism",
    title: "[[mechanism]]",
    doc: "An articulated system: a tree of bodies and joints that starts at the `ground`, loops that close it, and forces. \
          A joint with one coordinate gives it its own name; several coordinates are named `joint.part`. Expressions refer to \
          coordinates as `q.NAME` and to their velocities as `v.NAME`.",
    fields: &[keys! {
        /// Unique name.
        name: Name, Computed("`mechanism-1`, `mechanism-2`, … in file order");
        /// Position of the origin of its `ground` in the world.
        position: Polar(&LENGTH), Default("[0.0, 0.0, 0.0]");
        /// Orientation of its `ground` in the world.
        rotation: Table(&ROTATION), Optional;
        /// Rotation of its `ground` about z; for planar scenes, instead of `rotation`.
        angle: AN_ANGLE, Optional;
        /// A URDF file that defines bodies and joints, relative to the scene file. Its root is fixed to the ground unless a joint
        /// of the scene has it as `child`. Links without mass are massless, cylinders become prisms, meshes are replaced by their
        /// hulls, and `dynamics` sets the damping. Dry friction and limits of effort and velocity are ignored. Characters that
        /// are not allowed in names become `_`.
        urdf: File, Optional;
        /// Material of the collision shapes of the URDF file; without it they are ignored.
        urdf_material: Refers("material"), Optional;
        /// Turns the limits of the URDF file into elastic stops; without it they are ignored.
        urdf_limits: Table(&URDF_LIMITS), Optional;
        /// Initial state and drive of joints of the URDF file by name: `[mechanism.urdf_joints.knee]`.
        urdf_joints: Named(&URDF_JOINT), Default("{}");
        /// Bodies: `[[mechanism.body]]`.
        body: List { of: &BODY_KIND, min: 0, max: MANY }, Default("[]");
        /// Joints, one for each body: `[[mechanism.joint]]`.
        joint: List { of: &JOINT_KIND, min: 0, max: MANY }, Default("[]");
        /// Several joints in series, instead of one: `[[mechanism.chain]]`.
        chain: List { of: &CHAIN_KIND, min: 0, max: MANY }, Default("[]");
        /// Joints that close loops: `[[mechanism.loop]]`.
        loop: List { of: &LOOP_KIND, min: 0, max: MANY }, Default("[]");
        /// Springs and dampers between points: `[[mechanism.spring]]`.
        spring: List { of: &SPRING_KIND, min: 0, max: MANY }, Default("[]");
        /// Actuators and loads: `[[mechanism.force]]`.
        force: List { of: &FORCE_KIND, min: 0, max: MANY }, Default("[]");
        /// Coordinates that the loops determine from the others.
        dependent: List { of: &COORDINATE, min: 1, max: MANY }, Computed("chosen from the loops");
    }],
    tag: None,
};

table! {
    /// Elastic stops at the limits of every joint of a URDF file, in SI units.
    URDF_LIMITS = "urdf-limits", "stops of a URDF file";
    pub(in super::super) struct UrdfLimits {
        /// Stiffness beyond the limits, in N/m and N*m/rad.
        stiffness: f64 = Number(Positive), Required;
        /// Damping beyond the limits, in N*s/m and N*m*s/rad.
        damping: f64 = Number(NonNegative), Default("0.0");
    }
}

static URDF_JOINT: Table = Table {
    name: "urdf-joint",
    title: "[mechanism.urdf_joints.*]",
    doc: "Initial state and drive of a revolute, continuous or prismatic joint of the URDF file; see `[[mechanism.joint]]`.",
    fields: &[keys! {
        /// Initial coordinate.
        start: Value, Optional;
        /// Approximate initial coordinate; the assembly of loops may change it.
        guess: Value, Optional;
        /// Initial velocity.
        start_velocity: Value, Optional;
        /// The coordinate as an expression of the time `t`.
        motion: Law(Dimension::NONE), Optional;
        /// Constant velocity of a motor.
        speed: Value, Optional;
    }],
    tag: None,
};

/// A body of a mechanism.
#[derive(Clone, Debug, PartialEq)]
pub struct MechanismBody {
    /// Name, unique within the mechanism; never `ground`.
    pub name: String,
    /// Mass properties; `None`: from density and shapes, in which case there is at least one shape.
    ///
    /// An explicit mass may be zero. The inertia defaults to that of the shapes, scaled to the mass, or to zero (a point
    /// mass) if there are no shapes; the centre defaults to that of the shapes, or to the origin.
    pub mass: Option<Mass>,
    /// Collision shapes.
    pub shapes: Vec<BodyShape>,
}

impl WriteKeys for MechanismBody {
    fn write_keys<M: SerializeMap>(&self, names: Names<'_>, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("name", &self.name)?;
        GivenMass::write(&self.mass, names, "mass", map)?;
        map.serialize_entry("shapes", &All(names, &self.shapes))
    }
}

static BODY: Table = Table {
    name: "mechanism-body",
    title: "[[mechanism.body]]",
    doc: "A body of a mechanism. It is the `child` of exactly one joint, which determines the pose of its frame.",
    fields: &[keys! {
        /// Name, unique within the mechanism; not `ground`.
        name: Name, Required;
        /// Mass; 0 for a massless link.
        mass: Quantity(Dimension::MASS, NonNegative), Computed("from the shapes and the density of their materials");
        /// Centre of mass in the frame of the body; needs `mass`, and `inertia` if there are shapes.
        centre: Polar(&LENGTH), Computed("that of the shapes, or the origin");
        /// Inertia about the centre of mass along the axes of the body: one value for all axes, three principal values or a 3×3
        /// matrix; needs `mass`.
        inertia: OneOf(&[ Quantity(Dimension::INERTIA, Any), List { of: &INERTIA_ROW, min: 3, max: 3 }, ]), Computed("that of the shapes, scaled to `mass`, or 0");
        /// Collision shapes.
        shapes: List { of: &BODY_SHAPE_KIND, min: 0, max: 1000 }, Default("[]");
    }],
    tag: None,
};

table! {
    /// A shape fixed to a body of a mechanism.
    BODY_SHAPE = "body-shape", "a shape of a body";
    pub struct BodyShape {
        /// A shape, inline or by name; not a half-space.
        shape: ShapeRef = OneOf(&SHAPE_OR_NAME), Required, with Bounded;
        /// Its material.
        material: usize = Refers("material"), Required, with LinkMaterial;
        /// Position of the origin of the shape.
        position: Vector = Polar(&LENGTH), Default("[0.0, 0.0, 0.0]");
        /// Orientation of the shape.
        rotation: Quaternion => TURNED, with Turned;
    }
}

codec! {
    /// A bounded shape.
    Bounded: ShapeRef,
    |from, entries, key| {
        from.check_bounded(entries.get(key)?)?;
        AnyShape::read(from, entries, key)
    },
    |shape, names| Written(names, shape)
}

codec! {
    /// A material. It determines the mass of the body unless the mass is given.
    LinkMaterial: usize,
    |from, entries, key| from.material(entries, key, from.weighed),
    |index, names| names.scene.materials[*index].name
}

impl Mechanism {
    /// The name of a coordinate, as in expressions: `knee`, `slider.turn`.
    pub fn coordinate_name(&self, coordinate: Coordinate) -> String {
        let joint = &self.joints[coordinate.joint];
        match joint.kind.velocity_names()[coordinate.component] {
            "" => joint.name.clone(),
            part => format!("{}.{part}", joint.name),
        }
    }

    /// All coordinates (velocities), joint by joint.
    pub fn coordinates(&self) -> impl Iterator<Item = Coordinate> {
        self.joints.iter().enumerate().flat_map(|(joint, description)| {
            (0..description.kind.n_velocities())
                .map(move |component| Coordinate { joint, component })
        })
    }

    /// Degrees of freedom of the tree, without loops and drives.
    pub fn n_velocities(&self) -> usize {
        self.joints.iter().map(|joint| joint.kind.n_velocities()).sum()
    }

    /// The name of a body; `ground` if `None`.
    pub fn body_name(&self, body: Option<usize>) -> &str {
        body.map_or("ground", |body| &self.bodies[body].name)
    }
}

/// The name of a body of the mechanism being serialized; `ground` if `None`.
fn body_name<'a>(names: Names<'a>, body: Option<usize>) -> &'a str {
    names.mechanism.map_or("ground", |mechanism| mechanism.body_name(body))
}

//! Mechanisms as they were described in a file: a tree of bodies and joints, loops that close it, and the forces in
//! it. Chains and URDF files are expanded, names are indices, joints stand after those that carry them.

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

/// The largest number of bodies, joints or forces in a mechanism.
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
    /// Its value, in SI. Expressions have it folded in already.
    pub value: f64,
}

/// An articulated system: bodies carried by joints, in a tree that starts at the ground.
#[derive(Clone, Debug, PartialEq)]
pub struct Mechanism {
    /// Its name; no other mechanism has it.
    pub name: String,
    /// Origin of the frame `ground` in the world [m].
    pub position: Vector,
    /// Rotation of the frame `ground` in the world.
    pub rotation: Quaternion,
    /// The bodies. Each is the `child` of exactly one joint.
    pub bodies: Vec<MechanismBody>,
    /// The joints, one a body; a joint stands after the one that carries its parent.
    pub joints: Vec<Joint>,
    /// What closes the tree to loops.
    pub loops: Vec<Loop>,
    /// Springs and dampers between points.
    pub springs: Vec<PointSpring>,
    /// Actuators and loads.
    pub forces: Vec<Force>,
    /// The velocities that the loops determine, if the user chose them; empty: chosen by the simulator.
    pub dependent: Vec<Coordinate>,
}

impl WriteKeys for Mechanism {
    /// Chains and URDF files are written as plain bodies and joints.
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
          A joint has coordinates, called as the joint if there is one and `joint.part` if there are several; \
          expressions know them as `q.NAME` and their velocities as `v.NAME`.",
    fields: &[keys! {
        /// Name, used once.
        name: Name, Computed("`mechanism-1`, `mechanism-2`, … by place in the file");
        /// Where the origin of its `ground` is in the world.
        position: Polar(&LENGTH), Default("[0.0, 0.0, 0.0]");
        /// How its `ground` is turned in the world.
        rotation: Table(&ROTATION), Optional;
        /// How its `ground` is turned about z; for planar scenes, instead of `rotation`.
        angle: AN_ANGLE, Optional;
        /// A URDF file that brings bodies and joints, relative to the scene file. Its root is fixed to the ground unless a joint
        /// of the scene has it as `child`. Links without mass are massless, cylinders become prisms, meshes their hulls;
        /// `dynamics` give the damping. Dry friction and limits of effort and velocity are left out. In names, letters that are
        /// not allowed become `_`.
        urdf: File, Optional;
        /// Material of the collision shapes of the URDF file; without it they are left out.
        urdf_material: Refers("material"), Optional;
        /// Makes elastic stops of the limits of the URDF file; without it they are left out.
        urdf_limits: Table(&URDF_LIMITS), Optional;
        /// Start and drive of joints of the URDF file by name: `[mechanism.urdf_joints.knee]`.
        urdf_joints: Named(&URDF_JOINT), Default("{}");
        /// Bodies: `[[mechanism.body]]`.
        body: List { of: &BODY_KIND, min: 0, max: MANY }, Default("[]");
        /// Joints, one for each body: `[[mechanism.joint]]`.
        joint: List { of: &JOINT_KIND, min: 0, max: MANY }, Default("[]");
        /// Several joints in a row, instead of one: `[[mechanism.chain]]`.
        chain: List { of: &CHAIN_KIND, min: 0, max: MANY }, Default("[]");
        /// Joints that close the tree to loops: `[[mechanism.loop]]`.
        loop: List { of: &LOOP_KIND, min: 0, max: MANY }, Default("[]");
        /// Springs and dampers between points: `[[mechanism.spring]]`.
        spring: List { of: &SPRING_KIND, min: 0, max: MANY }, Default("[]");
        /// Actuators and loads: `[[mechanism.force]]`.
        force: List { of: &FORCE_KIND, min: 0, max: MANY }, Default("[]");
        /// Coordinates that follow from the others by the loops.
        dependent: List { of: &COORDINATE, min: 1, max: MANY }, Computed("chosen from the loops");
    }],
    tag: None,
};

table! {
    /// Elastic stops at the limits of every joint of a URDF file, in SI.
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
    doc: "Start and drive of a revolute, continuous or prismatic joint of the URDF file; see `[[mechanism.joint]]`.",
    fields: &[keys! {
        /// Coordinate at the start.
        start: Value, Optional;
        /// The same, roughly: loops may change it.
        guess: Value, Optional;
        /// Velocity at the start.
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
    /// Its name within the mechanism; never `ground`.
    pub name: String,
    /// Mass properties; `None`: from density and shapes, of which there is at least one then.
    ///
    /// A given mass may be zero. Without inertia it is that of the shapes, scaled to the mass, or zero (a point mass)
    /// if there are no shapes; without centre it is that of the shapes, or the origin.
    pub mass: Option<Mass>,
    /// What takes part in contacts.
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
    doc: "A body of a mechanism. It is the `child` of exactly one joint, which says where its frame is.",
    fields: &[keys! {
        /// Name, used once in the mechanism; not `ground`.
        name: Name, Required;
        /// Mass; 0 for a massless link.
        mass: Quantity(Dimension::MASS, NonNegative), Computed("from the shapes and the density of their materials");
        /// Centre of mass in the frame of the body; needs `mass`, and `inertia` if there are shapes.
        centre: Polar(&LENGTH), Computed("that of the shapes, or the origin");
        /// Inertia about the centre of mass along the axes of the body: one value for all axes, three principal values or a 3×3
        /// matrix; needs `mass`.
        inertia: OneOf(&[ Quantity(Dimension::INERTIA, Any), List { of: &INERTIA_ROW, min: 3, max: 3 }, ]), Computed("that of the shapes, scaled to `mass`, or 0");
        /// What takes part in contacts.
        shapes: List { of: &BODY_SHAPE_KIND, min: 0, max: 1000 }, Default("[]");
    }],
    tag: None,
};

table! {
    /// A shape fixed to a body of a mechanism.
    BODY_SHAPE = "body-shape", "a shape of a body";
    pub struct BodyShape {
        /// A shape or the name of one; not a half-space.
        shape: ShapeRef = OneOf(&SHAPE_OR_NAME), Required, with Bounded;
        /// Its material.
        material: usize = Refers("material"), Required, with LinkMaterial;
        /// Where the origin of the shape is.
        position: Vector = Polar(&LENGTH), Default("[0.0, 0.0, 0.0]");
        /// How the shape is turned.
        rotation: Quaternion => TURNED, with Turned;
    }
}

codec! {
    /// A shape that has an end.
    Bounded: ShapeRef,
    |from, entries, key| {
        from.check_bounded(entries.get(key)?)?;
        AnyShape::read(from, entries, key)
    },
    |shape, names| Written(names, shape)
}

codec! {
    /// A material, from which the mass of the body follows unless that is given.
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

    /// The name of a body; `ground` for none.
    pub fn body_name(&self, body: Option<usize>) -> &str {
        body.map_or("ground", |body| &self.bodies[body].name)
    }
}

/// The name of a body of the mechanism that is written; `ground` for none.
fn body_name<'a>(names: Names<'a>, body: Option<usize>) -> &'a str {
    names.mechanism.map_or("ground", |mechanism| mechanism.body_name(body))
}

//! Mechanisms as they were described in a file: a tree of bodies and joints, loops that close it, and the forces in
//! it. Chains and URDF files are expanded, names are indices, joints stand after those that carry them.

use super::super::expression::Expression;
use super::{Component, Mass, Quaternion, ShapeRef, Vector};

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

/// A shape fixed to a body of a mechanism.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyShape {
    /// The shape; not a half-space.
    pub shape: ShapeRef,
    /// Index into [`SceneFile::materials`](super::SceneFile::materials).
    pub material: usize,
    /// Its origin in the frame of the body [m].
    pub position: Vector,
    /// Its rotation in the frame of the body.
    pub rotation: Quaternion,
}

/// A joint. With all coordinates 0 the frame of the child is that of the joint.
#[derive(Clone, Debug, PartialEq)]
pub struct Joint {
    /// Its name within the mechanism.
    pub name: String,
    /// Index into [`Mechanism::bodies`]; `None`: the ground.
    pub parent: Option<usize>,
    /// Index into [`Mechanism::bodies`].
    pub child: usize,
    /// Origin of the joint in the frame of the parent [m].
    pub position: Vector,
    /// Rotation of the joint in the frame of the parent.
    pub rotation: Quaternion,
    /// How the child moves.
    pub kind: JointKind,
    /// Position at the start, [`JointKind::n_positions`] numbers [m, rad]: one a coordinate; of a spherical joint the
    /// quaternion w, x, y, z; of a free one x, y, z and the quaternion. With [`Drive::Motion`] its value at t = 0.
    pub start: Vec<f64>,
    /// Whether `start` was asked for; otherwise the assembly of loops may change it freely.
    pub start_held: bool,
    /// Velocity at the start, [`JointKind::n_velocities`] numbers [m/s, rad/s]. With a drive that of the drive.
    pub start_velocity: Vec<f64>,
    /// Whether `start_velocity` was asked for; otherwise it may follow from the loops.
    pub start_velocity_held: bool,
    /// What moves the coordinate; [`Drive::None`] unless revolute or prismatic.
    pub drive: Drive,
    /// Spring and damper along the coordinate; `None` unless revolute or prismatic.
    pub spring: Option<JointSpring>,
    /// Stops of the coordinate; `None` unless revolute or prismatic.
    pub stops: Option<Stops>,
}

/// How the child of a joint moves. Axes are unit vectors in the frame of the joint.
#[derive(Clone, Debug, PartialEq)]
pub enum JointKind {
    /// It turns about an axis.
    Revolute {
        /// The axis.
        axis: Vector,
    },
    /// It slides along an axis.
    Prismatic {
        /// The axis.
        axis: Vector,
    },
    /// It slides along and turns about an axis.
    Cylindrical {
        /// The axis.
        axis: Vector,
    },
    /// It turns about a first axis, fixed in the parent, then about a second that was turned along.
    Universal {
        /// The two axes; not parallel.
        axes: [Vector; 2],
    },
    /// It slides in a plane and turns in it.
    Planar {
        /// Directions of `x` and `y`, at right angles; the angle runs from the first to the second.
        axes: [Vector; 2],
    },
    /// It turns freely about its origin.
    Spherical,
    /// It moves freely.
    Free,
    /// It does not move.
    Fixed,
}

impl JointKind {
    /// The last parts of the names of its velocities: one empty name if the joint's own name is enough.
    ///
    /// Velocities of spherical and free joints are the angular velocity `wx`, `wy`, `wz` in the frame of the child,
    /// those of free ones before that the velocity of the origin along the axes of the joint.
    pub fn velocity_names(&self) -> &'static [&'static str] {
        match self {
            Self::Revolute { .. } | Self::Prismatic { .. } => &[""],
            Self::Cylindrical { .. } => &["slide", "turn"],
            Self::Universal { .. } => &["first", "second"],
            Self::Planar { .. } => &["x", "y", "angle"],
            Self::Spherical => &["wx", "wy", "wz"],
            Self::Free => &["x", "y", "z", "wx", "wy", "wz"],
            Self::Fixed => &[],
        }
    }

    /// How many of [`JointKind::velocity_names`] from the first on are names of positions too: all but those of
    /// rotations in space, which have no coordinates.
    pub fn n_named_positions(&self) -> usize {
        match self {
            Self::Spherical => 0,
            Self::Free => 3,
            _ => self.n_velocities(),
        }
    }

    /// Numbers that describe its position, quaternions as four.
    pub fn n_positions(&self) -> usize {
        match self {
            Self::Spherical => 4,
            Self::Free => 7,
            _ => self.n_velocities(),
        }
    }

    /// Numbers that describe its velocity: its degrees of freedom.
    pub fn n_velocities(&self) -> usize {
        self.velocity_names().len()
    }
}

/// What moves a coordinate.
#[derive(Clone, Debug, PartialEq)]
pub enum Drive {
    /// Forces alone.
    None,
    /// A motion: the coordinate as a function of time [m, rad].
    Motion(Component),
    /// A motor of constant speed, from `start` on [m/s, rad/s].
    Speed(f64),
}

/// Spring and damper along a coordinate: the force `-stiffness (q - rest) - damping v`.
#[derive(Clone, Debug, PartialEq)]
pub struct JointSpring {
    /// Stiffness [N/m, N m/rad], at least 0.
    pub stiffness: f64,
    /// The coordinate at which it is relaxed [m, rad].
    pub rest: f64,
    /// Damping [N s/m, N m s/rad], at least 0.
    pub damping: f64,
}

/// Elastic stops of a coordinate.
#[derive(Clone, Debug, PartialEq)]
pub struct Stops {
    /// Where the lower one begins [m, rad].
    pub lower: Option<f64>,
    /// Where the upper one begins [m, rad], above `lower`.
    pub upper: Option<f64>,
    /// Stiffness beyond them [N/m, N m/rad], greater than 0.
    pub stiffness: f64,
    /// Damping beyond them [N s/m, N m s/rad], at least 0.
    pub damping: f64,
}

/// A frame fixed to a body or to the ground.
#[derive(Clone, Debug, PartialEq)]
pub struct Attachment {
    /// Index into [`Mechanism::bodies`]; `None`: the ground.
    pub body: Option<usize>,
    /// Its origin in the frame of the body [m].
    pub position: Vector,
    /// Its rotation in the frame of the body.
    pub rotation: Quaternion,
}

/// A joint that closes a loop of the tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// Its name among the loops of the mechanism.
    pub name: String,
    /// What it holds.
    pub kind: LoopKind,
    /// The frame on the first body.
    pub a: Attachment,
    /// The frame on the second body, another one.
    pub b: Attachment,
}

/// What a loop holds. Axes are unit vectors with the same components in both frames.
#[derive(Clone, Debug, PartialEq)]
pub enum LoopKind {
    /// The two origins coincide.
    Ball,
    /// The two origins coincide, and so do the axes.
    Hinge {
        /// The axis.
        axis: Vector,
    },
    /// The two origins keep their distance.
    Rod {
        /// The distance [m], greater than 0.
        length: f64,
    },
    /// One origin slides along an axis of the other; nothing turns.
    Prismatic {
        /// The axis.
        axis: Vector,
    },
    /// The two origins coincide in the plane normal to the axis in the frame of `a`; for mechanisms that are planar
    /// anyway.
    Pin {
        /// The normal of the plane.
        axis: Vector,
    },
    /// The two frames coincide.
    Weld,
}

impl LoopKind {
    /// How many equations it contributes.
    pub fn n_equations(&self) -> usize {
        match self {
            Self::Ball => 3,
            Self::Hinge { .. } | Self::Prismatic { .. } => 5,
            Self::Rod { .. } => 1,
            Self::Pin { .. } => 2,
            Self::Weld => 6,
        }
    }
}

/// A spring and damper between two points.
#[derive(Clone, Debug, PartialEq)]
pub struct PointSpring {
    /// Its name among the springs of the mechanism.
    pub name: String,
    /// Its law.
    pub kind: SpringKind,
    /// The point on the first body; the rotation has no meaning.
    pub a: Attachment,
    /// The point on the second body, another one; the rotation has no meaning.
    pub b: Attachment,
    /// Stiffness [N/m], at least 0.
    pub stiffness: f64,
    /// Damping [N s/m], at least 0.
    pub damping: f64,
}

/// The law of a spring between the points `a` and `b`, at the distance `d = b - a`.
#[derive(Clone, Debug, PartialEq)]
pub enum SpringKind {
    /// Along the line: it pulls with `stiffness (|d| - length) + damping |d|'`.
    Line {
        /// Length at which it is relaxed [m], at least 0.
        length: f64,
    },
    /// In every direction: on `b` acts `-stiffness d - damping d'`, on `a` the opposite.
    Bushing,
}

/// An actuator or a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Force {
    /// Its name among the forces of the mechanism.
    pub name: String,
    /// Where it acts.
    pub on: ForceTarget,
    /// Its laws, one phase after the other; at least one. The last has no end.
    pub phases: Vec<Phase>,
    /// How many values are latched; each has a slot, counted from 0.
    pub n_latched: usize,
}

/// Where a force acts, and what its laws give.
#[derive(Clone, Debug, PartialEq)]
pub enum ForceTarget {
    /// On a coordinate, against the parent of the joint: one law [N, N m].
    Coordinate(Coordinate),
    /// On a body: six laws, the force [N] and the torque [N m] along x, y, z.
    Body {
        /// Index into [`Mechanism::bodies`].
        body: usize,
        /// Where the force acts, in the frame of the body [m].
        point: Vector,
        /// The axes along which both are given.
        frame: ForceFrame,
    },
}

/// The axes along which a force is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForceFrame {
    /// Those of the world.
    World,
    /// Those of the body.
    Body,
}

/// A part of a force's history.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Values that are stored at the moment when the phase begins, in this order.
    pub latch: Vec<Latch>,
    /// One law for a coordinate, six for a body.
    pub laws: Vec<Law>,
    /// When the next phase begins.
    pub until: Until,
}

/// A value that is stored when a phase begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Latch {
    /// The name under which later expressions use it.
    pub name: String,
    /// Where it is stored; the same name has the same slot.
    pub slot: usize,
    /// What is stored.
    pub value: Law,
}

/// When a phase ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Until {
    /// Never.
    Forever,
    /// At a time [s].
    Time(f64),
    /// As soon as the value is not 0.
    Condition(Law),
}

/// An expression of the state of the mechanism; parameters are folded in.
#[derive(Clone, Debug, PartialEq)]
pub struct Law {
    /// The expression; its variables are `inputs`, in this order.
    pub expression: Expression,
    /// What its variables are.
    pub inputs: Vec<Input>,
}

/// A variable of a law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// The time [s].
    Time,
    /// A position `q.NAME` [m, rad].
    Position(Coordinate),
    /// A velocity `v.NAME` [m/s, rad/s].
    Velocity(Coordinate),
    /// A latched value.
    Latched(usize),
}

/// A coordinate of a mechanism, or rather its velocity: spherical joints have no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Coordinate {
    /// Index into [`Mechanism::joints`].
    pub joint: usize,
    /// Which of its velocities, from 0; the position of the same name has the same index.
    pub component: usize,
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

//! Loops that close the tree, and springs between points.

use super::super::super::fields::Field;
use super::super::super::keys::{codec, keys, table, variants};
use super::super::super::units::Dimension;
use super::super::shapes::{ROTATION, Turned};
use super::super::{LENGTH, OwnName, Quaternion, Vector};
use super::{AN_ANGLE, body_name};

table! {
    /// A joint that closes a loop of the tree: it constrains a frame on one body to a frame on another.
    LOOP = "loop", "[[mechanism.loop]]", tag &LOOP_TYPE;
    pub struct Loop {
        /// Name, unique among the loops.
        name: String = Name, Computed("`loop-1`, `loop-2`, … in file order"), with OwnName;
        /// The frame on the first body.
        a: Attachment = Table(&FRAME), Required;
        /// The frame on the second body.
        b: Attachment = Table(&FRAME), Required;
        /// The constraint. Axes are unit vectors with the same components in both frames.
        kind: LoopKind => &[];
    }
}

table! {
    /// A frame fixed to a body of the mechanism or to its `ground`.
    FRAME = "frame", "a frame on a body";
    pub struct Attachment {
        /// The body, or `ground`.
        body: Option<usize> = Refers("body"), Required, with Carrier;
        /// Its origin in the frame of the body.
        position: Vector = Polar(&LENGTH), Default("[0.0, 0.0, 0.0]");
        /// Its rotation in the frame of the body.
        rotation: Quaternion => FRAME_TURNED, with Turned;
    }
}

const FRAME_TURNED: &[Field] = keys! {
    /// Orientation in the frame of the body.
    rotation: Table(&ROTATION), Optional;
    /// Rotation about z; for planar scenes, instead of `rotation`.
    angle: AN_ANGLE, Optional;
};

codec! {
    /// A body of the mechanism, or `None` for the ground.
    Carrier: Option<usize>,
    |from, entries, key| from.carrier_of(entries.get(key)?),
    |body, names| body_name(names, *body)
}

variants! {
    /// The constraint of a loop. Axes are unit vectors with the same components in both frames.
    LOOP_TYPE = "type", "Which relative motion it constrains.", None;
    pub enum LoopKind {
        /// The origins coincide: 3 equations.
        Ball "ball",
        /// The origins and the axes coincide: 5 equations.
        Hinge "hinge" {
            /// Axis of the hinge, direction of sliding or normal of the plane, with the same components in both frames.
            axis: Vector = Axis, Required, with TurningAxis;
        },
        /// The distance between the origins is constant: 1 equation.
        Rod "rod" {
            /// The distance.
            length: f64 = Quantity(Dimension::LENGTH, Positive), Required;
        },
        /// One origin slides along an axis of the other frame, without relative rotation: 5 equations.
        Prismatic "prismatic" {
            /// Axis of the hinge, direction of sliding or normal of the plane, with the same components in both frames.
            axis: Vector = Axis, Required, with SlidingAxis;
        },
        /// The origins coincide in the plane normal to the axis, for mechanisms that stay in that plane:
        /// 2 equations.
        Pin "pin" {
            /// Axis of the hinge, direction of sliding or normal of the plane, with the same components in both frames.
            axis: Vector = Axis, Required, with TurningAxis;
        },
        /// The frames coincide: 6 equations.
        Weld "weld",
    }
}

codec! {
    /// An axis of rotation.
    TurningAxis: Vector,
    |from, entries, _| from.axis(entries, true),
    |axis, _| axis
}

codec! {
    /// An axis of translation.
    SlidingAxis: Vector,
    |from, entries, _| from.axis(entries, false),
    |axis, _| axis
}

impl LoopKind {
    /// The number of equations it contributes.
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

table! {
    /// A spring and damper between two points.
    SPRING = "mechanism-spring", "[[mechanism.spring]]", tag &SPRING_TYPE;
    pub struct PointSpring {
        /// Name, unique among the springs.
        name: String = Name, Computed("`spring-1`, `spring-2`, … in file order"), with OwnName;
        /// The point on the first body.
        a: Anchor = Table(&POINT), Required;
        /// The point on the second body.
        b: Anchor = Table(&POINT), Required;
        /// Stiffness.
        stiffness: f64 = Quantity(Dimension::STIFFNESS, NonNegative), Default("0.0");
        /// Damping.
        damping: f64 = Quantity(Dimension::DAMPING, NonNegative), Default("0.0");
        /// Its law.
        kind: SpringKind => &[];
    }
}

table! {
    /// A point fixed to a body of the mechanism or to its `ground`.
    POINT = "point", "a point on a body";
    pub struct Anchor {
        /// The body, or `ground`.
        body: Option<usize> = Refers("body"), Required, with Carrier;
        /// Position in the frame of the body.
        position: Vector = Polar(&LENGTH), Default("[0.0, 0.0, 0.0]");
    }
}

variants! {
    /// The law of a spring between the points `a` and `b`, with `d = b - a`.
    SPRING_TYPE = "type", "Direction in which it acts.", Some("line");
    pub enum SpringKind {
        /// Along the line between the points.
        Line "line" {
            /// Length at which it exerts no force.
            length: f64 = Quantity(Dimension::LENGTH, NonNegative), Required;
        },
        /// In every direction: the force `-stiffness*d - damping*d'` acts on `b`, where `d` is the vector from `a` to `b`, and
        /// the opposite force acts on `a`.
        Bushing "bushing",
    }
}

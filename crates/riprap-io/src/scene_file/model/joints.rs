//! Joints between bodies in absolute coordinates.

use riprap::scene::Hold;
use serde::ser::SerializeMap;

use super::super::convert::Converter;
use super::super::fields::{Field, Kind, Tag, Variant};
use super::super::keys::{Choice, Codec, Names, codec, keys, table, words};
use super::super::values::Entries;
use super::{LENGTH, OwnName, Target, Vector};

static BODY_NAME: Kind = Kind::Refers("body");

table! {
    /// A joint between two bodies, or between a body and the world. It is a velocity constraint, solved with the contact problem
    /// to its tolerances, so positions drift slowly; `project` corrects them. Bodies connected by a joint do not collide.
    /// Systems with many joints are better described as a `[[mechanism]]`, whose joints are exact.
    JOINT = "body-joint", "[[joint]]", tag &TYPE;
    pub struct BodyJoint {
        /// Unique name.
        name: String = Name, Computed("`joint-1`, `joint-2`, …"), with OwnName;
        /// Type of the joint.
        hold: Hold => &[], with Held;
        /// Initial axis, a unit vector in the world frame [–], if the joint has one.
        axis: Option<Vector> => &[], with JointAxis;
        /// The two bodies, of which at least one is free: names of bodies, of grains such as `ballast-12`, of nodes of flexible
        /// bodies such as `spring/10`, or `world`. A body of a mechanism such as `robot/hand` is allowed if the other one is a
        /// node; grains that settle are not.
        between: [Option<Target>; 2] = List { of: &BODY_NAME, min: 2, max: 2 }, Required, with Between;
        /// Initial position, in the world frame.
        position: Vector = Polar(&LENGTH), Required;
        /// Whether positions are projected back onto the joint after every step; not for joints on nodes.
        project: bool = Flag, Default("false");
    }
}

words! {
    Hold {
        Ball "ball": "All rotations, about one point.",
        Hinge "hinge": "Rotation about the axis.",
        Slider "slider": "Translation along the axis.",
        Weld "weld": "Nothing.",
    }
}

const AXIS: &[Field] = keys! {
    /// Initial axis, in the world frame; it then moves with the bodies.
    axis: Axis, Required;
};

static TYPE: Tag = Tag {
    key: "type",
    doc: "Which relative motion it leaves free.",
    default: None,
    variants: &[variant(0, &[]), variant(1, &[AXIS]), variant(2, &[AXIS]), variant(3, &[])],
};

const fn variant(index: usize, fields: &'static [&'static [Field]]) -> Variant {
    let (value, doc) = <Hold as Choice>::WORDS[index];
    Variant { value, doc, fields }
}

/// The tag of the table.
struct Held;

impl Codec<Hold> for Held {
    fn read(_: &mut Converter<'_>, joint: &Entries, _: &'static str) -> Option<Hold> {
        Hold::of(joint.variant?)
    }

    fn write<M: SerializeMap>(
        hold: &Hold,
        _: Names<'_>,
        _: &'static str,
        map: &mut M,
    ) -> Result<(), M::Error> {
        map.serialize_entry(TYPE.key, hold.word())
    }
}

codec! {
    /// The axis of a hinge or slider.
    JointAxis: Option<Vector>,
    |from, joint, _| from.joint_axis(joint),
    |axis, _| axis
}

codec! {
    /// Two bodies, or one body and the world.
    Between: [Option<Target>; 2],
    |from, joint, _| from.held_bodies(joint),
    |bodies, names| bodies.map(|body| names.scene.target_or_world(body))
}

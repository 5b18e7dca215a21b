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
    /// A joint between two bodies, or between a body and the world. It acts on their velocities, within the contact problem
    /// and to its tolerances, so positions drift apart slowly; `project` puts them back. Bodies that a joint holds do not
    /// touch each other. What is made of many joints is better described as a `[[mechanism]]`, whose joints are exact.
    JOINT = "body-joint", "[[joint]]", tag &TYPE;
    pub struct BodyJoint {
        /// Its name, used once.
        name: String = Name, Computed("`joint-1`, `joint-2`, …"), with OwnName;
        /// How it holds the two bodies together.
        hold: Hold => &[], with Held;
        /// Its axis at the start, a unit vector in the world frame [–], if it has one.
        axis: Option<Vector> => &[], with JointAxis;
        /// The two bodies, one at least free: names of bodies, of grains such as `ballast-12`, or `world`. Not bodies
        /// of mechanisms, and not grains that settle.
        between: [Option<Target>; 2] = List { of: &BODY_NAME, min: 2, max: 2 }, Required, with Between;
        /// Its place at the start, in the world frame.
        position: Vector = Polar(&LENGTH), Required;
        /// Whether positions are put back on the joint after every step.
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
    /// Its axis at the start, in the world frame; afterwards it moves with the bodies.
    axis: Axis, Required;
};

static TYPE: Tag = Tag {
    key: "type",
    doc: "What it leaves free.",
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
    /// Two bodies, or one and the world.
    Between: [Option<Target>; 2],
    |from, joint, _| from.held_bodies(joint),
    |bodies, names| bodies.map(|body| names.scene.target_or_world(body))
}

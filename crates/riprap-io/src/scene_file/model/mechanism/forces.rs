//! Actuators and loads, their laws and phases.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::super::super::expression::Expression;
use super::super::super::fields::{Field, Kind, Table};
use super::super::super::keys::{All, Choice, Names, WriteKeys, keys, words, words_of};
use super::super::super::units::Dimension;
use super::super::{LENGTH, Vector};
use super::body_name;

static FORCE_LAW: Kind = Kind::Law(Dimension::FORCE);
static TORQUE_LAW: Kind = Kind::Law(Dimension::TORQUE);
static LATCH_LAW: Kind = Kind::Law(Dimension::NONE);
static PHASE_KIND: Kind = Kind::Table(&PHASE);

/// An actuator or a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Force {
    /// Name, unique among the forces of the mechanism.
    pub name: String,
    /// Where it acts.
    pub on: ForceTarget,
    /// The successive phases; at least one. The last one never ends.
    pub phases: Vec<Phase>,
    /// Number of latched values; each has a slot, numbered from 0.
    pub n_latched: usize,
}

/// Where a force acts, and the meaning of its laws.
#[derive(Clone, Debug, PartialEq)]
pub enum ForceTarget {
    /// On a coordinate, with the reaction on the parent of the joint: one law [N, N m].
    Coordinate(Coordinate),
    /// On a body: six laws, the force [N] and the torque [N m] along x, y, z.
    Body {
        /// Index into [`Mechanism::bodies`](super::Mechanism::bodies).
        body: usize,
        /// Where the force acts, in the frame of the body [m].
        point: Vector,
        /// The axes along which force and torque are given.
        frame: ForceFrame,
    },
}

/// The frame in which a force is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForceFrame {
    /// The world frame.
    World,
    /// The frame of the body.
    Body,
}

words! {
    ForceFrame {
        World "world": "the world frame",
        Body "body": "the frame of the body",
    }
}

/// A part of a force's history.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// Values stored when the phase begins, in this order.
    pub latch: Vec<Latch>,
    /// One law for a coordinate, six for a body.
    pub laws: Vec<Law>,
    /// When the phase ends.
    pub until: Until,
}

/// A value stored when a phase begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Latch {
    /// The name by which later expressions refer to it.
    pub name: String,
    /// Its slot; latches of the same name share a slot.
    pub slot: usize,
    /// The stored value.
    pub value: Law,
}

/// When a phase ends.
#[derive(Clone, Debug, PartialEq)]
pub enum Until {
    /// Never.
    Forever,
    /// At a time [s].
    Time(f64),
    /// As soon as the value is nonzero.
    Condition(Law),
}

/// An expression of the state of the mechanism; parameters are substituted by their values.
#[derive(Clone, Debug, PartialEq)]
pub struct Law {
    /// The expression; its variables are `inputs`, in this order.
    pub expression: Expression,
    /// The meaning of its variables.
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

/// A coordinate of a mechanism, identified by its velocity because spherical joints have no position coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Coordinate {
    /// Index into [`Mechanism::joints`](super::Mechanism::joints).
    pub joint: usize,
    /// Index of the velocity within the joint, from 0; the position of the same name has the same index.
    pub component: usize,
}

/// The laws of a force on a coordinate or on a body.
const LAWS: &[Field] = keys! {
    /// Force along or torque about the coordinate, in N or N*m.
    law: Law(Dimension::NONE), Optional;
    /// Components of the force, for a force on a body.
    force: Polar(&FORCE_LAW), Computed("0");
    /// Components of the torque, for a force on a body.
    torque: Axial(&TORQUE_LAW), Computed("0");
};

pub(super) static FORCE: Table = Table {
    name: "force",
    title: "[[mechanism.force]]",
    doc: "An actuator or a load: on a `coordinate`, given by a `law`, or on a `body`, given by a `force` and a `torque`. These are \
          numbers or expressions; with `phases`, each phase has its own.",
    fields: &[
        keys! {
            /// Name, unique among the forces.
            name: Name, Computed("`force-1`, `force-2`, … in file order");
            /// The coordinate on which it acts, such as `knee`, or `hip.turn` for a joint with several coordinates.
            coordinate: Refers("coordinate"), Optional;
            /// The body on which it acts.
            body: Refers("body"), Optional;
            /// Where the force acts, in the frame of the body.
            point: Polar(&LENGTH), Default("[0.0, 0.0, 0.0]");
            /// Frame in which force and torque are given.
            frame: Choice(words_of::<ForceFrame>()), Default("\"world\"");
        },
        LAWS,
        keys! {
            /// Successive phases. The force is 0 after the last phase has ended.
            phases: List { of: &PHASE_KIND, min: 1, max: 1000 }, Optional;
        },
    ],
    tag: None,
};

static PHASE: Table = Table {
    name: "phase",
    title: "a phase",
    doc: "A part of a force's history.",
    fields: &[
        LAWS,
        keys! {
            /// When it ends: a time such as `"1 s"`, or an expression that becomes true such as `"q.knee > 1 or t >= 2"`.
            until: Law(Dimension::NONE), Optional;
            /// Values stored when it begins, by name; expressions of this and later phases may use them.
            latch: Map(&LATCH_LAW), Default("{}");
        },
    ],
    tag: None,
};

impl WriteKeys for Force {
    fn write_keys<M: SerializeMap>(&self, names: Names<'_>, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("name", &self.name)?;
        match &self.on {
            ForceTarget::Coordinate(at) => {
                let name = names.mechanism.map(|mechanism| mechanism.coordinate_name(*at));
                map.serialize_entry("coordinate", &name)?;
            }
            ForceTarget::Body { body, point, frame } => {
                map.serialize_entry("body", body_name(names, Some(*body)))?;
                map.serialize_entry("point", point)?;
                map.serialize_entry("frame", frame.word())?;
            }
        }
        map.serialize_entry("phases", &All(names, &self.phases))
    }
}

impl WriteKeys for Phase {
    fn write_keys<M: SerializeMap>(&self, _: Names<'_>, map: &mut M) -> Result<(), M::Error> {
        match &self.laws[..] {
            [law] => map.serialize_entry("law", law)?,
            laws => {
                let (force, torque) = laws.split_at(3.min(laws.len()));
                map.serialize_entry("force", force)?;
                map.serialize_entry("torque", torque)?;
            }
        }
        match &self.until {
            Until::Forever => {}
            Until::Time(time) => map.serialize_entry("until", time)?,
            Until::Condition(condition) => map.serialize_entry("until", condition)?,
        }
        map.serialize_entry("latch", &Latched(&self.latch))
    }
}

/// Values by name; omitted if there are none.
struct Latched<'a>(&'a [Latch]);

impl Serialize for Latched<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_empty() {
            return serializer.serialize_none();
        }
        serializer.collect_map(self.0.iter().map(|latch| (&latch.name, &latch.value)))
    }
}

impl Serialize for Law {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.expression.source())
    }
}

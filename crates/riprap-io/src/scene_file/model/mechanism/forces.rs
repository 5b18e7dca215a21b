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
        /// Index into [`Mechanism::bodies`](super::Mechanism::bodies).
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

words! {
    ForceFrame {
        World "world": "the axes of the world",
        Body "body": "the axes of the body",
    }
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
    /// Index into [`Mechanism::joints`](super::Mechanism::joints).
    pub joint: usize,
    /// Which of its velocities, from 0; the position of the same name has the same index.
    pub component: usize,
}

/// What a force is: for a coordinate, or for a body.
const LAWS: &[Field] = keys! {
    /// Force along, or torque about the coordinate, in N or N*m.
    law: Law(Dimension::NONE), Optional;
    /// Components of the force, for a force on a body.
    force: Polar(&FORCE_LAW), Computed("0");
    /// Components of the torque, for a force on a body.
    torque: Axial(&TORQUE_LAW), Computed("0");
};

pub(super) static FORCE: Table = Table {
    name: "force",
    title: "[[mechanism.force]]",
    doc: "An actuator or a load: on a `coordinate` by a `law`, or on a `body` by a `force` and a `torque`. They are numbers or \
          expressions, one after the other if there are `phases`.",
    fields: &[
        keys! {
            /// Name, used once among the forces.
            name: Name, Computed("`force-1`, `force-2`, … by place in the mechanism");
            /// The coordinate on which it acts: that of the joint `knee` is `knee`; of several one is `hip.turn`.
            coordinate: Refers("coordinate"), Optional;
            /// The body on which it acts.
            body: Refers("body"), Optional;
            /// Where the force acts, in the frame of the body.
            point: Polar(&LENGTH), Default("[0.0, 0.0, 0.0]");
            /// Along which axes force and torque are given.
            frame: Choice(words_of::<ForceFrame>()), Default("\"world\"");
        },
        LAWS,
        keys! {
            /// What it is one after the other. When the last phase has ended, it is 0.
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
            /// Values that are stored when it begins, by name; expressions of this and later phases may use them.
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

/// Values by their names; none are not written.
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

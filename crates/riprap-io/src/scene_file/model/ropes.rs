//! Ropes, and granular chains of balls connected by them.

use riprap::scene::Tie;

use super::super::fields::{Field, Kind};
use super::super::keys::{All, ReadKeys, codec, keys, table, words, words_of};
use super::super::units::Dimension;
use super::contacts::{HeavyMaterial, PLACE};
use super::{OwnName, Place};

static PLACE_KIND: Kind = Kind::Table(&PLACE);

table! {
    /// An inextensible rope or cable without mass, through points of bodies. It pulls when it is taut and exerts nothing when it
    /// is slack. The points between its ends are frictionless pulleys. It collides with nothing; the bodies it connects collide
    /// as usual.
    ROPE = "rope", "[[rope]]";
    pub struct Rope {
        /// Unique name.
        name: String = Name, Computed("`rope-1`, `rope-2`, …"), with OwnName;
        /// The points it passes through, from one end to the other.
        points: Vec<Place> = List { of: &PLACE_KIND, min: 2, max: 1000 }, Required, with Path;
        /// Its length.
        length: Option<f64> = Quantity(Dimension::LENGTH, Positive), Computed("that of its initial path: it is taut");
        /// The mean tension over a step beyond which it breaks; without it, it never breaks. Under an impact, the mean tension
        /// depends on `dt`.
        breaking_load: Option<f64> = Quantity(Dimension::FORCE, Positive), Optional;
    }
}

codec! {
    /// The points of a rope.
    Path: Vec<Place>,
    |from, entries, key| {
        let nodes = entries.list(key)?.iter();
        let points: Vec<Option<Place>> = nodes.map(|node| Place::read_keys(from, node.table()?)).collect();
        points.into_iter().collect()
    },
    |points, names| All(names, points)
}

table! {
    /// A granular chain: balls (discs in a planar scene) connected by ropes that are all taut initially. The balls are bodies
    /// with the names `NAME-1`, `NAME-2`, …, the ropes have the names `NAME-rope-1`, `NAME-rope-2`, …; the resolved scene lists
    /// them as `[[body]]` and `[[rope]]`.
    CHAIN = "granular-chain", "[[chain]]", and LAID;
    pub struct Chain {
        /// Unique name.
        name: String = Name, Computed("`chain-1`, `chain-2`, …"), with OwnName;
        /// Number of balls.
        count: u32 = Integer(1, 100_000), Required;
        /// Radius of the balls.
        radius: f64 = Quantity(Dimension::LENGTH, Positive), Required;
        /// Material of the balls.
        material: usize = Refers("material"), Required, with HeavyMaterial;
        /// Length of each rope.
        link: f64 = Quantity(Dimension::LENGTH, Positive), Required;
        /// Where the ropes are attached to the balls.
        tie: Tie = Choice(words_of::<Tie>()), Default("\"centre\"");
        /// Thickness of the discs in a planar scene.
        thickness: f64 = Quantity(Dimension::LENGTH, Positive), Default("1.0");
        /// Its start, on a `[[body]]` or the world.
        start: Place = Table(&PLACE), Required;
        /// Whether it is tied to its start; otherwise the first ball is there.
        tied: bool = Flag, Default("true");
        /// The tension beyond which a rope breaks.
        breaking_load: Option<f64> = Quantity(Dimension::FORCE, Positive), Optional;
    }
}

const LAID: &[Field] = keys! {
    /// Its end, on a `[[body]]` or the world, to which it is tied too. If it is longer than the distance, it sags along gravity,
    /// initially as an arc of a circle.
    end: Table(&PLACE), Optional;
    /// Its direction in the world frame, if it has no `end`; it is then straight.
    direction: Axis, Computed("that of gravity");
};

words! {
    Tie {
        Centre "centre": "at the centres: the ropes do not turn the balls",
        Surface "surface": "on the surfaces, where the initial line of centres leaves them",
    }
}

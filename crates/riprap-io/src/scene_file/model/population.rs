//! Bodies that are inserted and removed during a run.

use serde::ser::SerializeMap;

use super::super::convert::Converter;
use super::super::fields::{Field, Kind};
use super::super::keys::{Codec, In, Names, codec, keys, table};
use super::super::units::Dimension;
use super::super::values::Entries;
use super::bodies::{ANGULAR_VELOCITY, VELOCITY};
use super::contacts::HeavyMaterial;
use super::grains::{AnyGrains, COLUMN, DRAWN, GRAIN_SHAPE};
use super::{Column, GrainShape, MAX_GRAINS, OwnName, TIME, Vector};

table! {
    /// Bodies that are inserted during the run, in a box, at random places where they touch nothing, in a periodic cell no images either; their names are `name-1`,
    /// `name-2`, …. A body for which there is no room waits, and the others wait behind it; `summary.json` counts them.
    INSERT = "insert", "[[insert]]", and DRAWN;
    pub struct Insert {
        /// Unique name; the bodies are named `name-1`, `name-2`, …
        name: String = Name, Computed("`insert-1`, `insert-2`, … in file order"), with OwnName;
        /// Material; it must have a density.
        material: usize = Refers("material"), Required, with HeavyMaterial;
        /// Shapes and sizes.
        shape: GrainShape => GRAIN_SHAPE, with InsertedShape;
        /// Seed of shapes, sizes and places.
        seed: Option<u64> = Integer(0, i64::MAX), Computed("one for each insertion, from the `seed` of the scene");
        /// The box in which they appear. Along an axis on which a body is too large for it, the body is in the middle: a flat
        /// box is a plane.
        column("box"): Column = Table(&COLUMN), Required;
        /// When bodies are inserted.
        pace: Pace => PACE, with AnyPace;
        /// Number of bodies at most, also over runs that go on from each other.
        count: Option<u64> = Integer(1, MAX_GRAINS), Optional;
        /// When the first one is inserted.
        start: f64 = Quantity(Dimension::TIME, NonNegative), Default("0.0");
        /// Bodies that would be due at this time or later are not inserted.
        until: Option<f64> = TIME, Optional;
        /// Velocity of new bodies; in a sheared periodic cell the flow at their place is added.
        velocity: Vector = Polar(&VELOCITY), Default("[0.0, 0.0, 0.0]");
        /// Angular velocity of new bodies, in the world frame.
        angular_velocity: Vector = Axial(&ANGULAR_VELOCITY), Default("[0.0, 0.0, 0.0]");
        /// Whether they have random orientations.
        random_rotation: bool = Flag, Default("true");
    }
}

/// When bodies are inserted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pace {
    /// Bodies per second [1/s].
    Rate(f64),
    /// Mass per second [kg/s].
    MassRate(f64),
    /// All at a time [s].
    At(f64),
}

const PACE: &[Field] = keys! {
    /// Bodies per second.
    rate: Quantity(Dimension::FREQUENCY, Positive), Optional;
    /// Mass per second, such as `"2 kg/s"`, instead of `rate`.
    mass_rate: Quantity(Dimension::DAMPING, Positive), Optional;
    /// The time at which all `count` bodies are inserted, instead of `rate`.
    at: Quantity(Dimension::TIME, NonNegative), Optional;
};

/// `rate`, `mass_rate` or `at`.
struct AnyPace;

impl Codec<Pace> for AnyPace {
    fn read(from: &mut Converter<'_>, entries: &Entries, _: &'static str) -> Option<Pace> {
        from.pace(entries)
    }

    fn write<M: SerializeMap>(
        pace: &Pace,
        _: Names<'_>,
        _: &'static str,
        map: &mut M,
    ) -> Result<(), M::Error> {
        match pace {
            Pace::Rate(rate) => map.serialize_entry("rate", rate),
            Pace::MassRate(rate) => map.serialize_entry("mass_rate", rate),
            Pace::At(t) => map.serialize_entry("at", t),
        }
    }
}

/// `shape`, or `stones` or `spheres` with their `grading`.
struct InsertedShape;

impl Codec<GrainShape> for InsertedShape {
    fn read(from: &mut Converter<'_>, entries: &Entries, _: &'static str) -> Option<GrainShape> {
        from.inserted_shape(entries)
    }

    fn write<M: SerializeMap>(
        shape: &GrainShape,
        names: Names<'_>,
        key: &'static str,
        map: &mut M,
    ) -> Result<(), M::Error> {
        AnyGrains::write(shape, names, key, map)
    }
}

table! {
    /// Free bodies that are removed during the run: below a height, outside of a box, or at a time. Their mass, momentum and
    /// energy are recorded. Bodies of mechanisms, fixed and moving bodies, those of servos and nodes of flexible bodies are never removed; nor
    /// can bodies be removed to which joints, ropes, point contacts, ignored contacts or laws of forces refer. In a periodic cell the place
    /// of a body is that of its image within the cell. Probes of a removed body show nothing.
    REMOVE = "remove", "[[remove]]";
    pub struct Remove {
        /// Which bodies are removed.
        place: Where => PLACE, with AnyWhere;
        /// Names of the bodies that it is for, as one pattern or a list, in which `*` stands for any characters.
        bodies: Vec<String> = OneOf(&PATTERNS), Default("\"*\""), with Patterns;
    }
}

/// Which bodies are removed.
#[derive(Clone, Debug, PartialEq)]
pub enum Where {
    /// Below a height [m].
    Below(f64),
    /// Outside of a box.
    Outside(Column),
    /// All at a time [s].
    At(f64),
}

const PLACE: &[Field] = keys! {
    /// Height below which bodies are removed: z of the centre of mass, in planar scenes y.
    below: Quantity(Dimension::LENGTH, Any), Optional;
    /// The box outside of which bodies are removed, judged by the centre of mass.
    outside: Table(&COLUMN), Optional;
    /// The time at which bodies are removed, once.
    at: Quantity(Dimension::TIME, NonNegative), Optional;
};

/// `below`, `outside` or `at`.
struct AnyWhere;

impl Codec<Where> for AnyWhere {
    fn read(from: &mut Converter<'_>, entries: &Entries, _: &'static str) -> Option<Where> {
        from.place_of_removal(entries)
    }

    fn write<M: SerializeMap>(
        place: &Where,
        names: Names<'_>,
        _: &'static str,
        map: &mut M,
    ) -> Result<(), M::Error> {
        match place {
            Where::Below(height) => map.serialize_entry("below", height),
            Where::Outside(column) => map.serialize_entry("outside", &In(names, column)),
            Where::At(t) => map.serialize_entry("at", t),
        }
    }
}

static PATTERN: Kind = Kind::Text;
static PATTERNS: [Kind; 2] = [Kind::Text, Kind::List { of: &PATTERN, min: 1, max: 1000 }];

codec! {
    /// One pattern or several.
    Patterns: Vec<String>,
    |_, entries, key| {
        let node = entries.get(key)?;
        match node.text() {
            Some(text) => Some(vec![text.to_owned()]),
            None => node.list()?.iter().map(|node| node.text().map(str::to_owned)).collect(),
        }
    },
    |patterns, _| patterns
}

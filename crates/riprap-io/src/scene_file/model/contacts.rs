//! Materials, how two of them meet, and contacts that the user chose.

use riprap::scene::{ContactLaw, Material, PairLaw};
use serde::ser::SerializeMap;

use super::super::fields::{Field, Kind, Table};
use super::super::keys::{Choice, Names, WriteKeys, codec, keys, table, words, words_of};
use super::super::units::Dimension;
use super::{DENSITY, LENGTH, SceneFile, Target, Vector};

static MATERIAL: Kind = Kind::Refers("material");
static BODY_NAME: Kind = Kind::Refers("body");

table! {
    /// A material. Two materials meet with the smaller friction, restitution and rolling resistance of both,
    /// unless a `[[pair]]` says otherwise.
    MATERIAL_TABLE = "material", "[materials.*]";
    for Material {
        /// Density; may be left out if every free body of this material has a given mass.
        density: Option<f64> = DENSITY, Optional;
        /// Coulomb's coefficient of friction.
        friction: f64 = Number(NonNegative), Default("0.0");
        /// Newton's coefficient of restitution.
        restitution: f64 = Number(Within(0.0, 1.0)), Default("0.0");
        /// Rolling resistance: two bodies that touch resist turning against each other by a moment of up to this length times the
        /// normal force. Bodies of mechanisms do not.
        rolling: f64 = Quantity(Dimension::LENGTH, NonNegative), Default("0.0");
    }
}

table! {
    /// How two materials meet, where the smaller values of both are not right.
    PAIR = "pair", "[[pair]]", after BETWEEN;
    for PairLaw {
        /// Coulomb's coefficient of friction.
        friction: f64 = Number(NonNegative), Computed("the smaller of both materials");
        /// Newton's coefficient of restitution.
        restitution: f64 = Number(Within(0.0, 1.0)), Computed("the smaller of both materials");
        /// Rolling resistance: two bodies that touch resist turning against each other by a moment of up to this length times the
        /// normal force. Bodies of mechanisms do not.
        rolling: f64 = Quantity(Dimension::LENGTH, NonNegative), Computed("the smaller of both materials");
        /// Law in the normal direction.
        law: ContactLaw = Choice(words_of::<ContactLaw>()), Computed("`quasi-shock` if the restitution is 0, otherwise `moreau-newton`");
    }
}

const BETWEEN: &[Field] = keys! {
    /// The two materials; they may be the same.
    between: List { of: &MATERIAL, min: 2, max: 2 }, Required;
};

words! {
    ContactLaw {
        MoreauNewton "moreau-newton": "no approach after the step, with restitution",
        QuasiShock "quasi-shock": "no overlap after the step: a closing gap may still close; restitution 0 only",
    }
}

/// How two materials meet.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Indices into [`SceneFile::materials`].
    pub between: [usize; 2],
    /// The law between them.
    pub law: PairLaw,
}

impl WriteKeys for Pair {
    fn write_keys<M: SerializeMap>(&self, names: Names<'_>, map: &mut M) -> Result<(), M::Error> {
        let materials = &names.scene.materials;
        map.serialize_entry("between", &self.between.map(|index| &materials[index].name))?;
        self.law.write_keys(names, map)
    }
}

impl SceneFile {
    /// How two materials meet, given by their indices: their `[[pair]]`, or else the smaller friction,
    /// restitution and rolling resistance of both.
    ///
    /// # Panics
    ///
    /// If an index is not one of [`SceneFile::materials`].
    pub fn pair(&self, a: usize, b: usize) -> PairLaw {
        let given = |pair: &&Pair| pair.between == [a, b] || pair.between == [b, a];
        let combined = || PairLaw::combined(&self.materials[a], &self.materials[b]);
        self.pairs.iter().find(given).map_or_else(combined, |pair| pair.law)
    }
}

codec! {
    /// The material of something whose mass follows from it.
    pub(super) HeavyMaterial: usize,
    |from, entries, key| from.material(entries, key, true),
    |index, names| names.scene.materials[*index].name
}

table! {
    /// A contact between a chosen point and a chosen plane, whatever the shapes of their bodies: the corner of a slider in
    /// its guide, with a clearance. The plane has no end.
    POINT_CONTACT = "point-contact", "[[point_contact]]";
    pub struct PointContact {
        /// Its name, used once.
        name: String = Name, Computed("`point_contact-1`, `point_contact-2`, …"), with super::OwnName;
        /// The point.
        point: Place = Table(&PLACE), Required;
        /// The plane, on another body.
        plane: Plane = Table(&PLANE), Required;
        /// Coulomb's coefficient of friction.
        friction: f64 = Number(NonNegative), Default("0.0");
        /// Newton's coefficient of restitution.
        restitution: f64 = Number(Within(0.0, 1.0)), Default("0.0");
        /// Law in the normal direction.
        law: ContactLaw = Choice(words_of::<ContactLaw>()), Computed("`quasi-shock` if the restitution is 0, otherwise `moreau-newton`"), with NormalLaw;
    }
}

table! {
    /// A point fixed to a body.
    PLACE = "place", "a point of a body";
    pub struct Place {
        /// Name of a body, of a grain such as `ballast-12`, of a body of a mechanism such as `robot/hand`, or `world`.
        body: Option<Target> = Refers("body"), Required, with BodyOrWorld;
        /// Its place in the frame of the body.
        position: Vector = Polar(&LENGTH), Default("[0.0, 0.0, 0.0]");
    }
}

table! {
    /// A plane fixed to a body.
    PLANE = "plane", "a plane of a body";
    pub struct Plane {
        /// Name of a body, of a grain such as `ballast-12`, of a body of a mechanism such as `robot/hand`, or `world`.
        body: Option<Target> = Refers("body"), Required, with BodyOrWorld;
        /// Its place in the frame of the body.
        position: Vector = Polar(&LENGTH), Default("[0.0, 0.0, 0.0]");
        /// Its normal in the frame of the body; it points to the side where the point may be.
        normal: Vector = Axis, Required, with Normal;
    }
}

codec! {
    /// The law along the normal that is given, or that follows from the restitution.
    NormalLaw: ContactLaw,
    |from, entries, _| Some(from.normal_law(entries, entries.number("restitution")?, "point contact")),
    |law, _| law.word()
}

codec! {
    /// A direction, which lies in the plane x–y in planar scenes.
    Normal: Vector,
    |from, entries, key| from.normal(entries, key),
    |normal, _| normal
}

codec! {
    /// A body, or the world, which is `None`.
    BodyOrWorld: Option<Target>,
    |from, entries, key| from.target_or_world(entries.get(key)?),
    |body, names| names.scene.target_or_world(*body)
}

pub(crate) static IGNORE_CONTACT: Table = Table {
    name: "ignore-contact",
    title: "[[ignore_contact]]",
    doc: "Two bodies that pass through each other. Bodies of a mechanism that a joint or a loop holds together do so anyway.",
    fields: &[keys! {
        /// The two bodies, named as in a probe.
        between: List { of: &BODY_NAME, min: 2, max: 2 }, Required;
    }],
    tag: None,
};

impl WriteKeys for [Target; 2] {
    fn write_keys<M: SerializeMap>(&self, names: Names<'_>, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry("between", &self.map(|body| names.scene.target_name(body)))
    }
}

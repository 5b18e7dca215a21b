//! Materials, contact parameters of pairs of materials, and user-defined contacts.

use riprap::scene::{ContactLaw, Fragmentation, Material, PairLaw, Wear};
use serde::ser::SerializeMap;

use super::super::fields::{Field, Kind, Table};
use super::super::keys::{Choice, Names, WriteKeys, codec, keys, table, words, words_of};
use super::super::units::Dimension;
use super::degradation::{FRAGMENTATION, WEAR};
use super::{DENSITY, LENGTH, SceneFile, Target, Vector};

static MATERIAL: Kind = Kind::Refers("material");
static BODY_NAME: Kind = Kind::Refers("body");

table! {
    /// A material. A contact between two materials has the smaller friction, restitution, rolling resistance and cohesion of
    /// the two, unless a `[[pair]]` overrides them.
    MATERIAL_TABLE = "material", "[materials.*]";
    for Material {
        /// Density; may be omitted if every free body of this material has an explicit mass.
        density: Option<f64> = DENSITY, Optional;
        /// Coulomb friction coefficient.
        friction: f64 = Number(NonNegative), Default("0.0");
        /// Newton restitution coefficient.
        restitution: f64 = Number(Within(0.0, 1.0)), Default("0.0");
        /// Rolling resistance: two bodies in contact resist relative rotation with a moment of at most this length times the
        /// normal force. Bodies of mechanisms have no rolling resistance.
        rolling: f64 = Quantity(Dimension::LENGTH, NonNegative), Default("0.0");
        /// Coulomb friction coefficient of contacts that stick, at least `friction`, which is then that of sliding contacts.
        static_friction: Option<f64> = Number(NonNegative), Optional;
        /// Adhesive force of two shapes that touch, shared by the points at which they do. They hold against a pull of up to this
        /// force, and friction is proportional to the normal force plus this force.
        cohesion: f64 = Quantity(Dimension::FORCE, NonNegative), Default("0.0");
        /// Work of adhesion: two spheres adhere with the pull-off force 3/2 π R times this value (Johnson, Kendall and Roberts), with
        /// 1/R = 1/R₁ + 1/R₂. Other shapes count as spheres of the same volume as their body, fixed and driven ones as planes.
        surface_energy: f64 = Quantity(Dimension::SURFACE_ENERGY, NonNegative), Default("0.0");
        /// Gap up to which cohesion acts; a hundredth of the mean grain size if not given.
        cohesion_range: Option<f64> = Quantity(Dimension::LENGTH, Positive), Optional;
        /// Young's modulus, for Hertz's law of the scheme `penalty`.
        young: Option<f64> = Quantity(Dimension::PRESSURE, Positive), Optional;
        /// Poisson's ratio, for Hertz's law of the scheme `penalty`; 0.3 if not given.
        poisson: Option<f64> = Number(Within(-0.99, 0.5)), Optional;
        /// When stones of this material break; by default they do not.
        fragmentation: Option<Fragmentation> = Table(&FRAGMENTATION), Optional;
        /// How stones of this material wear; by default they do not.
        wear: Option<Wear> = Table(&WEAR), Optional;
    }
}

table! {
    /// Contact parameters of two materials, overriding the smaller values of the two.
    PAIR = "pair", "[[pair]]", after BETWEEN;
    for PairLaw {
        /// Coulomb friction coefficient.
        friction: f64 = Number(NonNegative), Computed("the smaller value of the two materials");
        /// Newton restitution coefficient.
        restitution: f64 = Number(Within(0.0, 1.0)), Computed("the smaller value of the two materials");
        /// Rolling resistance: two bodies in contact resist relative rotation with a moment of at most this length times the
        /// normal force. Bodies of mechanisms have no rolling resistance.
        rolling: f64 = Quantity(Dimension::LENGTH, NonNegative), Computed("the smaller value of the two materials");
        /// Coulomb friction coefficient of contacts that stick, at least `friction`, which is then that of sliding contacts.
        static_friction: Option<f64> = Number(NonNegative), Optional;
        /// Adhesive force of two shapes that touch, shared by the points at which they do. They hold against a pull of up to this
        /// force, and friction is proportional to the normal force plus this force.
        cohesion: f64 = Quantity(Dimension::FORCE, NonNegative), Computed("the smaller value of the two materials");
        /// Work of adhesion: two spheres adhere with the pull-off force 3/2 π R times this value (Johnson, Kendall and Roberts), with
        /// 1/R = 1/R₁ + 1/R₂. Other shapes count as spheres of the same volume as their body, fixed and driven ones as planes.
        surface_energy: f64 = Quantity(Dimension::SURFACE_ENERGY, NonNegative), Computed("the smaller value of the two materials");
        /// Gap up to which cohesion acts; a hundredth of the mean grain size if not given.
        cohesion_range: Option<f64> = Quantity(Dimension::LENGTH, Positive), Optional;
        /// Law in the normal direction.
        law: ContactLaw = Choice(words_of::<ContactLaw>()), Computed("`quasi-shock` if the restitution is 0, otherwise `moreau-newton`");
        /// Stiffness of a contact point under the scheme `penalty` with its linear law, instead of that of `[run]`.
        stiffness: Option<f64> = Quantity(Dimension::STIFFNESS, Positive), Optional;
        /// Damping of a contact point under the scheme `penalty` with its linear law, instead of that which gives the restitution.
        damping: Option<f64> = Quantity(Dimension::DAMPING, NonNegative), Optional;
        /// Effective modulus of Hertz's law under the scheme `penalty`, instead of that which follows from `young` and `poisson`
        /// of both materials.
        modulus: Option<f64> = Quantity(Dimension::PRESSURE, Positive), Optional;
        /// Dissipation constant of Hertz's law under the scheme `penalty`, instead of that which gives the restitution.
        dissipation: Option<f64> = Quantity(Dimension::TIME, NonNegative), Optional;
    }
}

const BETWEEN: &[Field] = keys! {
    /// The two materials; they may be the same.
    between: List { of: &MATERIAL, min: 2, max: 2 }, Required;
};

words! {
    ContactLaw {
        MoreauNewton "moreau-newton": "no approach after the step, with restitution",
        QuasiShock "quasi-shock": "no overlap after the step: an open gap may still close; restitution 0 only",
    }
}

/// Contact parameters of two materials.
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
    /// The contact parameters of two materials, given by their indices: those of their `[[pair]]`, or else the smaller
    /// friction, restitution and rolling resistance of the two.
    ///
    /// # Panics
    ///
    /// Panics if an index is out of range for [`SceneFile::materials`].
    pub fn pair(&self, a: usize, b: usize) -> PairLaw {
        let given = |pair: &&Pair| pair.between == [a, b] || pair.between == [b, a];
        let combined = || PairLaw::combined(&self.materials[a], &self.materials[b]);
        self.pairs.iter().find(given).map_or_else(combined, |pair| pair.law)
    }
}

codec! {
    /// The material of a body whose mass is computed from the density.
    pub(super) HeavyMaterial: usize,
    |from, entries, key| from.material(entries, key, true),
    |index, names| names.scene.materials[*index].name
}

table! {
    /// A contact between a given point and a given plane, independent of the shapes of their bodies; for example the corner
    /// of a slider in a guide with clearance. The plane is unbounded.
    POINT_CONTACT = "point-contact", "[[point_contact]]";
    pub struct PointContact {
        /// Unique name.
        name: String = Name, Computed("`point_contact-1`, `point_contact-2`, …"), with super::OwnName;
        /// The point.
        point: Place = Table(&PLACE), Required;
        /// The plane, on another body.
        plane: Plane = Table(&PLANE), Required;
        /// Coulomb friction coefficient.
        friction: f64 = Number(NonNegative), Default("0.0");
        /// Newton restitution coefficient.
        restitution: f64 = Number(Within(0.0, 1.0)), Default("0.0");
        /// Law in the normal direction.
        law: ContactLaw = Choice(words_of::<ContactLaw>()), Computed("`quasi-shock` if the restitution is 0, otherwise `moreau-newton`"), with NormalLaw;
    }
}

table! {
    /// A point fixed to a body.
    PLACE = "place", "a point of a body";
    pub struct Place {
        /// Name of a body, of a grain such as `ballast-12`, of a body of a mechanism such as `robot/hand`, of a node of a flexible
        /// body such as `spring/10`, or `world`.
        body: Option<Target> = Refers("body"), Required, with BodyOrWorld;
        /// Position in the frame of the body.
        position: Vector = Polar(&LENGTH), Default("[0.0, 0.0, 0.0]");
    }
}

table! {
    /// A plane fixed to a body.
    PLANE = "plane", "a plane of a body";
    pub struct Plane {
        /// Name of a body, of a grain such as `ballast-12`, of a body of a mechanism such as `robot/hand`, of a node of a flexible
        /// body such as `spring/10`, or `world`.
        body: Option<Target> = Refers("body"), Required, with BodyOrWorld;
        /// Position in the frame of the body.
        position: Vector = Polar(&LENGTH), Default("[0.0, 0.0, 0.0]");
        /// Normal in the frame of the body; it points to the side on which the point is allowed.
        normal: Vector = Axis, Required, with Normal;
    }
}

codec! {
    /// The law in the normal direction, as given or chosen from the restitution.
    NormalLaw: ContactLaw,
    |from, entries, _| Some(from.normal_law(entries, entries.number("restitution")?, "point contact")),
    |law, _| law.word()
}

codec! {
    /// A direction; in planar scenes it lies in the x–y plane.
    pub(super) Normal: Vector,
    |from, entries, key| from.normal(entries, key),
    |normal, _| normal
}

codec! {
    /// A body, or `None` for the world.
    BodyOrWorld: Option<Target>,
    |from, entries, key| from.target_or_world(entries.get(key)?),
    |body, names| names.scene.target_or_world(*body)
}

pub(crate) static IGNORE_CONTACT: Table = Table {
    name: "ignore-contact",
    title: "[[ignore_contact]]",
    doc: "Two bodies that do not collide. Bodies of a mechanism that are connected by a joint or a loop never collide.",
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

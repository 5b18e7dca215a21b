//! Fragmentation and wear of materials.

use riprap::scene::{self, Strength};
use serde::ser::SerializeMap;

use super::super::keys::{Codec, Converter, Entries, In, Names, Plain, ReadKeys, table, variants};
use super::super::units::Dimension;
use super::POSITIVE_LENGTH;

table! {
    /// When stones of a material break. A free convex polyhedron or polygon splits along a plane into two pieces,
    /// `stone-12.1` and `stone-12.2`, when its load reaches its strength; grains do not break while they settle.
    FRAGMENTATION = "fragmentation", "fragmentation of a material", tag &CRITERION;
    pub struct Fragmentation {
        /// Which load breaks a stone, and the load that it survives.
        criterion: Criterion => &[];
        /// Weibull modulus of the strength: 37 % of the stones of the size `reference_size` survive `strength`, and larger stones
        /// are weaker. By default all stones have the same strength.
        weibull: Option<f64> = Number(Within(0.1, 1000.0)), Optional;
        /// Size of the stones whose `strength` is given: the diameter of the sphere (or disc) of equal volume. Only with `weibull`.
        reference_size: Option<f64> = POSITIVE_LENGTH, Optional;
        /// Pieces of a smaller size become dust: they are removed, and their mass, momentum and energy are recorded.
        smallest: f64 = POSITIVE_LENGTH, Required;
        /// Time constant with which the load is averaged; with 0, that of a single step counts.
        average: f64 = Quantity(Dimension::TIME, NonNegative), Default("0.0");
    }
}

variants! {
    /// Which load breaks a stone.
    CRITERION = "criterion", "Which load breaks a stone.", Some("stress");
    pub enum Criterion {
        /// The stress from all contact forces; two opposite forces `F` on a round stone of size `d` give `F/d²`, in planar scenes
        /// `2F/(π d t)` with the thickness `t`. Equal pressure from all sides does not break a stone.
        Stress "stress" {
            /// The stress that a stone survives.
            strength: f64 = Quantity(Dimension::PRESSURE, Positive), Required;
        },
        /// The largest force of a contact.
        PeakForce "peak-force" {
            /// The force that a stone survives.
            strength: f64 = Quantity(Dimension::FORCE, Positive), Required;
        },
    }
}

table! {
    /// Wear of a material by friction: each contact takes the volume `coefficient` × work of friction / `hardness` from a stone
    /// (Archard), which is cut off its corners, edges and faces in chamfers. Only free convex polyhedra and polygons wear.
    WEAR = "wear", "wear of a material";
    pub struct Wear {
        /// Wear coefficient.
        coefficient: f64 = Number(NonNegative), Required;
        /// Hardness.
        hardness: f64 = Quantity(Dimension::PRESSURE, Positive), Required;
        /// Volume of a chamfer, relative to that of the stone.
        chamfer: f64 = Number(Within(1e-9, 0.1)), Default("0.001");
        /// Maximum number of corners of a worn stone.
        max_corners: u32 = Integer(8, 1000), Default("40");
    }
}

impl Fragmentation {
    fn law(&self) -> scene::Fragmentation {
        scene::Fragmentation {
            strength: match self.criterion {
                Criterion::Stress { strength } => Strength::Stress(strength),
                Criterion::PeakForce { strength } => Strength::PeakForce(strength),
            },
            weibull: self.weibull,
            reference_size: self.reference_size.unwrap_or(1.0),
            smallest: self.smallest,
            average: self.average,
        }
    }

    fn of(law: &scene::Fragmentation) -> Fragmentation {
        Fragmentation {
            criterion: match law.strength {
                Strength::Stress(strength) => Criterion::Stress { strength },
                Strength::PeakForce(strength) => Criterion::PeakForce { strength },
            },
            weibull: law.weibull,
            reference_size: law.weibull.map(|_| law.reference_size),
            smallest: law.smallest,
            average: law.average,
        }
    }
}

impl Codec<scene::Fragmentation> for Plain {
    fn read(
        from: &mut Converter<'_>,
        entries: &Entries,
        key: &'static str,
    ) -> Option<scene::Fragmentation> {
        let table = entries.table(key)?;
        let read = Fragmentation::read_keys(from, table)?;
        from.size_of_strength(table, read.weibull.is_some(), read.reference_size.is_some());
        Some(read.law())
    }

    fn write<M: SerializeMap>(
        law: &scene::Fragmentation,
        names: Names<'_>,
        key: &'static str,
        map: &mut M,
    ) -> Result<(), M::Error> {
        map.serialize_entry(key, &In(names, &Fragmentation::of(law)))
    }
}

impl Codec<scene::Wear> for Plain {
    fn read(from: &mut Converter<'_>, entries: &Entries, key: &'static str) -> Option<scene::Wear> {
        let Wear { coefficient, hardness, chamfer, max_corners } =
            Wear::read_keys(from, entries.table(key)?)?;
        Some(scene::Wear { coefficient, hardness, chamfer, max_corners: max_corners as usize })
    }

    fn write<M: SerializeMap>(
        law: &scene::Wear,
        names: Names<'_>,
        key: &'static str,
        map: &mut M,
    ) -> Result<(), M::Error> {
        let scene::Wear { coefficient, hardness, chamfer, max_corners } = *law;
        let max_corners = max_corners as u32;
        map.serialize_entry(key, &In(names, &Wear { coefficient, hardness, chamfer, max_corners }))
    }
}

//! Materials and the laws of contact between pairs of them.

use super::{Fragmentation, Wear};

/// The material of a body.
///
/// ```
/// use riprap::prelude::*;
///
/// let rock = Material::new("rock").density(2700.0).friction(0.7).rolling(1e-4);
/// let rubber = Material::new("rubber").density(1100.0).friction(0.9).restitution(0.6);
/// // Two materials meet with the smaller values of both, unless `SceneBuilder::pair` says otherwise.
/// let law = PairLaw::combined(&rock, &rubber);
/// assert_eq!((law.friction, law.restitution, law.law), (0.7, 0.0, ContactLaw::QuasiShock));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// Name, by which pairs refer to it.
    pub name: String,
    /// Density [kg/m³]; not needed for bodies whose mass is given.
    pub density: Option<f64>,
    /// Coefficient of friction against itself [–].
    pub friction: f64,
    /// Coefficient of restitution against itself [–].
    pub restitution: f64,
    /// Rolling resistance against itself [m]; see [`PairLaw::rolling`].
    pub rolling: f64,
    /// Coefficient of friction against itself while contacts stick [–]; see
    /// [`PairLaw::static_friction`].
    pub static_friction: Option<f64>,
    /// Force with which it adheres to itself [N]; see [`PairLaw::cohesion`].
    pub cohesion: f64,
    /// Work of adhesion against itself [J/m²]; see [`PairLaw::surface_energy`].
    pub surface_energy: f64,
    /// Gap up to which it adheres to itself [m]; see [`PairLaw::cohesion_range`].
    pub cohesion_range: Option<f64>,
    /// Young's modulus [Pa], for Hertz's law of the scheme `Penalty`.
    pub young: Option<f64>,
    /// Poisson's ratio [–]; 0.3 if not given.
    pub poisson: Option<f64>,
    /// When its stones break; never if not given.
    pub fragmentation: Option<Fragmentation>,
    /// How its stones wear; not at all if not given.
    pub wear: Option<Wear>,
}

/// Poisson's ratio of materials without one [–].
const POISSON: f64 = 0.3;

impl Material {
    /// A material without friction, restitution, rolling resistance and cohesion.
    pub fn new(name: &str) -> Material {
        Material {
            name: name.to_owned(),
            density: None,
            friction: 0.0,
            restitution: 0.0,
            rolling: 0.0,
            static_friction: None,
            cohesion: 0.0,
            surface_energy: 0.0,
            cohesion_range: None,
            young: None,
            poisson: None,
            fragmentation: None,
            wear: None,
        }
    }

    /// Sets the density [kg/m³].
    pub fn density(mut self, density: f64) -> Material {
        self.density = Some(density);
        self
    }

    /// Sets the coefficient of friction [–].
    pub fn friction(mut self, friction: f64) -> Material {
        self.friction = friction;
        self
    }

    /// Sets the coefficient of restitution [–].
    pub fn restitution(mut self, restitution: f64) -> Material {
        self.restitution = restitution;
        self
    }

    /// Sets the rolling resistance [m]; see [`PairLaw::rolling`].
    pub fn rolling(mut self, rolling: f64) -> Material {
        self.rolling = rolling;
        self
    }

    /// Sets the coefficient of friction of contacts that stick [–]; see [`PairLaw::static_friction`].
    pub fn static_friction(mut self, friction: f64) -> Material {
        self.static_friction = Some(friction);
        self
    }

    /// Sets the adhesive force of two shapes that touch [N]; see [`PairLaw::cohesion`].
    pub fn cohesion(mut self, force: f64) -> Material {
        self.cohesion = force;
        self
    }

    /// Sets the work of adhesion [J/m²]; see [`PairLaw::surface_energy`].
    pub fn surface_energy(mut self, energy: f64) -> Material {
        self.surface_energy = energy;
        self
    }

    /// Sets the gap up to which cohesion acts [m]; see [`PairLaw::cohesion_range`].
    pub fn cohesion_range(mut self, range: f64) -> Material {
        self.cohesion_range = Some(range);
        self
    }

    /// Sets Young's modulus [Pa] and Poisson's ratio [–].
    pub fn elastic(mut self, young: f64, poisson: f64) -> Material {
        (self.young, self.poisson) = (Some(young), Some(poisson));
        self
    }

    /// Lets its stones break.
    pub fn breaking(mut self, fragmentation: Fragmentation) -> Material {
        self.fragmentation = Some(fragmentation);
        self
    }

    /// Lets its stones wear.
    pub fn wearing(mut self, wear: Wear) -> Material {
        self.wear = Some(wear);
        self
    }

    /// `(1 − ν²)/E` [1/Pa].
    fn compliance(&self) -> Option<f64> {
        let nu = self.poisson.unwrap_or(POISSON);
        self.young.map(|young| (1.0 - nu * nu) / young)
    }
}

/// The law of contact along the normal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactLaw {
    /// Moreau–Newton, Eq. (6): for contacts closed at `q_m`, `V_n + e V_n⁻ ≥ 0 ⊥ I_n ≥ 0`.
    MoreauNewton,
    /// Inelastic quasi-shock: for contacts within the alert distance,
    /// `V_n + max(gap, 0)/h ≥ 0 ⊥ I_n ≥ 0`, so that bodies stop at the surface instead of inside
    /// it. A tenth of each gap within a ten-millionth of the smaller body's size enters with its
    /// sign, so that errors due to solver tolerances close again.
    QuasiShock,
}

impl ContactLaw {
    /// The default law: quasi-shock without restitution, Moreau–Newton with it.
    pub fn for_restitution(restitution: f64) -> ContactLaw {
        if restitution > 0.0 { ContactLaw::MoreauNewton } else { ContactLaw::QuasiShock }
    }
}

/// The contact law of two materials.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairLaw {
    /// Coefficient of friction `μ` [–]; that of sliding contacts if [`PairLaw::static_friction`] is
    /// given.
    pub friction: f64,
    /// Coefficient of restitution `e` [–].
    pub restitution: f64,
    /// Law along the normal.
    pub law: ContactLaw,
    /// Rolling resistance [m]: two touching bodies resist relative rotation by a moment of up to
    /// this length times the normal force. Half the width of the real contact patch is a good
    /// value. Bodies of mechanisms have none.
    pub rolling: f64,
    /// Coefficient of friction `μ_s` of contacts that did not slide at the end of the last step [–],
    /// at least `friction`; like `friction` if not given.
    pub static_friction: Option<f64>,
    /// Adhesive force `c` of two touching shapes [N], the same at any load. It is shared equally by
    /// the points at which they touch. Impulses obey Signorini's condition and Coulomb's law
    /// together with it, `r̄ = r + c h n`, so that two shapes hold against a pull of up to `c`.
    pub cohesion: f64,
    /// Work of adhesion `w` [J/m²], twice the surface energy of two equal materials. Two spheres
    /// adhere with the pull-off force of Johnson, Kendall and Roberts, `3/2 π w R`, in addition to
    /// `cohesion`, with `1/R = 1/R₁ + 1/R₂`. Other shapes count as spheres of the volume of their
    /// body, those that nothing can move as planes.
    pub surface_energy: f64,
    /// Gap up to which cohesion acts [m]; a hundredth of the mean grain size if not given. It takes
    /// the work `c` times this length to separate two shapes.
    pub cohesion_range: Option<f64>,
    /// Stiffness of a contact point [N/m] under the linear law of the scheme `Penalty`,
    /// instead of that of the scheme. Hard contact ignores this and the following members.
    pub stiffness: Option<f64>,
    /// Damping of a contact point [N s/m] under the linear law, instead of that which gives the
    /// restitution.
    pub damping: Option<f64>,
    /// Modulus `E*` of Hertz's law [Pa]: `1/E* = (1 − ν₁²)/E₁ + (1 − ν₂²)/E₂`.
    pub modulus: Option<f64>,
    /// Dissipation constant `A` of Hertz's law [s], instead of that which gives the restitution.
    pub dissipation: Option<f64>,
}

impl PairLaw {
    /// Inelastic contact without friction and rolling resistance, and nothing else given.
    pub const SMOOTH: PairLaw = PairLaw {
        friction: 0.0,
        restitution: 0.0,
        law: ContactLaw::QuasiShock,
        rolling: 0.0,
        static_friction: None,
        cohesion: 0.0,
        surface_energy: 0.0,
        cohesion_range: None,
        stiffness: None,
        damping: None,
        modulus: None,
        dissipation: None,
    };

    /// The law that follows from two materials: the smaller friction, restitution, rolling
    /// resistance, cohesion and range of both; quasi-shock without restitution, Moreau–Newton with
    /// it; the modulus follows from the elasticity of both.
    pub fn combined(a: &Material, b: &Material) -> PairLaw {
        let restitution = a.restitution.min(b.restitution);
        let law = ContactLaw::for_restitution(restitution);
        let (friction, rolling) = (a.friction.min(b.friction), a.rolling.min(b.rolling));
        let modulus = a.compliance().zip(b.compliance()).map(|(a, b)| 1.0 / (a + b));
        let ranges = [a.cohesion_range, b.cohesion_range];
        PairLaw {
            friction,
            restitution,
            law,
            rolling,
            static_friction: static_friction(a, b),
            cohesion: a.cohesion.min(b.cohesion),
            surface_energy: a.surface_energy.min(b.surface_energy),
            cohesion_range: ranges.into_iter().flatten().reduce(f64::min),
            modulus,
            ..PairLaw::SMOOTH
        }
    }

    /// Whether two shapes adhere to each other.
    pub fn is_cohesive(&self) -> bool {
        self.cohesion > 0.0 || self.surface_energy > 0.0
    }

    /// The force that separates two shapes with an effective radius `R` [m]: `c + 3/2 π w R` [N].
    ///
    /// ```
    /// use riprap::prelude::*;
    ///
    /// // A sphere of 1 mm radius on a plane.
    /// let law = PairLaw { surface_energy: 0.05, ..PairLaw::SMOOTH };
    /// assert!((law.pull_off(1e-3) - 2.356e-4).abs() < 1e-7);
    /// ```
    pub fn pull_off(&self, radius: f64) -> f64 {
        // The radius between two planes is infinite.
        let surface = if self.surface_energy > 0.0 { self.surface_energy * radius } else { 0.0 };
        self.cohesion + 1.5 * std::f64::consts::PI * surface
    }
}

/// The smaller static friction of two materials, where one without it has its friction; `None` if
/// neither has one.
fn static_friction(a: &Material, b: &Material) -> Option<f64> {
    let of = |m: &Material| m.static_friction.unwrap_or(m.friction);
    let given = a.static_friction.is_some() || b.static_friction.is_some();
    given.then(|| of(a).min(of(b)))
}

/// The law of every pair of materials.
#[derive(Clone, Debug, Default)]
pub struct PairTable {
    n: usize,
    laws: Vec<PairLaw>,
}

impl PairTable {
    pub(super) fn new(materials: &[Material]) -> PairTable {
        let combine = |a: &Material| {
            let a = a.clone();
            materials.iter().map(move |b| PairLaw::combined(&a, b))
        };
        PairTable { n: materials.len(), laws: materials.iter().flat_map(combine).collect() }
    }

    pub(super) fn set(&mut self, a: usize, b: usize, law: PairLaw) {
        self.laws[a * self.n + b] = law;
        self.laws[b * self.n + a] = law;
    }

    /// The laws of all pairs: index `a n + b` for materials `a` and `b` of `n`.
    pub(crate) fn all(&self) -> &[PairLaw] {
        &self.laws
    }

    /// Whether any pair resists rolling.
    pub fn any_rolling(&self) -> bool {
        self.laws.iter().any(|law| law.rolling > 0.0)
    }

    /// Whether any pair is cohesive.
    pub fn any_cohesion(&self) -> bool {
        self.laws.iter().any(PairLaw::is_cohesive)
    }

    /// Whether any pair has a static friction of its own.
    pub fn any_static_friction(&self) -> bool {
        self.laws.iter().any(|law| law.static_friction.is_some())
    }

    /// The law between two materials, by index.
    pub fn law(&self, a: u32, b: u32) -> &PairLaw {
        &self.laws[a as usize * self.n + b as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn materials() -> [Material; 3] {
        [
            Material::new("rock").friction(0.6).restitution(0.2).rolling(1e-3),
            Material::new("steel").friction(0.3).restitution(0.5).rolling(2e-3),
            Material::new("mud").friction(0.9),
        ]
    }

    #[test]
    fn a_pair_is_as_weak_as_its_weaker_side() {
        let [rock, steel, mud] = materials();
        let pair = PairLaw::combined(&rock, &steel);
        assert_eq!((pair.friction, pair.restitution, pair.rolling), (0.3, 0.2, 1e-3));
        assert_eq!(pair.law, ContactLaw::MoreauNewton);
        // If one side does not rebound, the pair does not, and the law is the inelastic one.
        let pair = PairLaw::combined(&mud, &steel);
        assert_eq!((pair.friction, pair.restitution, pair.rolling), (0.3, 0.0, 0.0));
        assert_eq!(pair.law, ContactLaw::QuasiShock);
    }

    #[test]
    fn the_order_of_two_materials_does_not_matter() {
        let materials = materials();
        let mut table = PairTable::new(&materials);
        let law = PairLaw { friction: 0.05, ..*table.law(0, 2) };
        table.set(2, 0, law);
        for (i, a) in materials.iter().enumerate() {
            for (j, b) in materials.iter().enumerate() {
                let found = table.law(i as u32, j as u32);
                assert_eq!(found, table.law(j as u32, i as u32));
                if [i, j] == [0, 2] || [i, j] == [2, 0] {
                    assert_eq!(*found, law);
                } else {
                    assert_eq!(*found, PairLaw::combined(a, b), "the others are unchanged");
                }
            }
        }
    }

    #[test]
    fn the_modulus_of_a_pair_is_that_of_two_springs_in_series() {
        let steel = Material::new("steel").elastic(200e9, 0.3);
        let rubber = Material { poisson: None, ..Material::new("rubber").elastic(1e7, 0.0) };
        let alone = 200e9 / (2.0 * (1.0 - 0.09));
        let modulus = |a, b| PairLaw::combined(a, b).modulus;
        // One division more or less: rounding.
        assert!((modulus(&steel, &steel).unwrap() / alone - 1.0).abs() < 1e-15);
        let soft = modulus(&steel, &rubber).unwrap();
        assert!((soft / (1e7 / 0.91) - 1.0).abs() < 1e-4, "nearly that of the softer side");
        assert_eq!(modulus(&steel, &Material::new("mud")), None);
    }

    #[test]
    fn rolling_resistance_is_reported_if_any_pair_has_it() {
        let [rock, steel, mud] = materials();
        assert!(PairTable::new(&[rock.clone(), steel]).any_rolling());
        assert!(PairTable::new(&[rock, mud.clone()]).any_rolling(), "rock on rock");
        assert!(!PairTable::new(&[mud]).any_rolling());
        assert!(!PairTable::new(&[]).any_rolling());
    }
}

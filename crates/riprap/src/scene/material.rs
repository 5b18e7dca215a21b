//! Materials and the laws of contact between pairs of them.

/// What a body is made of.
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
}

impl Material {
    /// A material without friction and restitution.
    pub fn new(name: &str) -> Material {
        Material { name: name.to_owned(), density: None, friction: 0.0, restitution: 0.0 }
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
}

/// The law of contact along the normal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactLaw {
    /// Moreau–Newton, Eq. (6): for contacts closed at `q_m`, `V_n + e V_n⁻ ≥ 0 ⊥ I_n ≥ 0`.
    MoreauNewton,
    /// Inelastic quasi-shock: for contacts within the alert distance, `V_n + max(gap, 0)/h ≥ 0 ⊥ I_n ≥ 0`, so
    /// that bodies stop at the surface instead of inside it. Gaps within a ten-millionth of the smaller body's size enter as
    /// a tenth of themselves, with their sign: what solver tolerances leave behind closes again.
    QuasiShock,
}

/// How two materials meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairLaw {
    /// Coefficient of friction `μ` [–].
    pub friction: f64,
    /// Coefficient of restitution `e` [–].
    pub restitution: f64,
    /// Law along the normal.
    pub law: ContactLaw,
}

impl PairLaw {
    /// The law that follows from two materials: the smaller friction and restitution of both; quasi-shock
    /// where nothing rebounds, Moreau–Newton where it does.
    pub fn combined(a: &Material, b: &Material) -> PairLaw {
        let restitution = a.restitution.min(b.restitution);
        let law = if restitution > 0.0 { ContactLaw::MoreauNewton } else { ContactLaw::QuasiShock };
        PairLaw { friction: a.friction.min(b.friction), restitution, law }
    }
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

    /// The law between two materials, by index.
    pub fn law(&self, a: u32, b: u32) -> &PairLaw {
        &self.laws[a as usize * self.n + b as usize]
    }
}

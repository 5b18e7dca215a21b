//! Errors in a description: which item, what is wrong, and what would be right.

/// The item that contains an error; displayed as it appears in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// The scene as a whole.
    Scene,
    /// The settings of detection.
    Contact,
    /// The periodic cell.
    Cell,
    /// A material, by its name.
    Material(String),
    /// A pair of materials, by their names.
    Pair(String, String),
    /// A body, by its name.
    Body(String),
    /// A body of a mechanism.
    Link {
        /// Name of the mechanism.
        mechanism: String,
        /// Name of the body within it.
        body: String,
    },
    /// A joint between bodies, by its name.
    Joint(String),
    /// A contact between a point and a plane, by its name.
    PointContact(String),
    /// A flexible body, by its name.
    Flexible(String),
    /// A rope, by its name.
    Rope(String),
    /// A granular chain, by its name.
    Chain(String),
    /// An insertion of bodies, by its name.
    Insertion(String),
    /// A removal of bodies, by its number from 1.
    Removal(usize),
}

impl std::fmt::Display for Item {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Item::Scene => write!(f, "scene"),
            Item::Contact => write!(f, "contact"),
            Item::Cell => write!(f, "periodic cell"),
            Item::Material(name) => write!(f, "material `{name}`"),
            Item::Pair(a, b) => write!(f, "pair `{a}`–`{b}`"),
            Item::Body(name) => write!(f, "body `{name}`"),
            Item::Link { mechanism, body } => write!(f, "body `{body}` of mechanism `{mechanism}`"),
            Item::Joint(name) => write!(f, "joint `{name}`"),
            Item::PointContact(name) => write!(f, "point contact `{name}`"),
            Item::Flexible(name) => write!(f, "flexible body `{name}`"),
            Item::Rope(name) => write!(f, "rope `{name}`"),
            Item::Chain(name) => write!(f, "chain `{name}`"),
            Item::Insertion(name) => write!(f, "insertion `{name}`"),
            Item::Removal(number) => write!(f, "removal {number}"),
        }
    }
}

/// One mistake in a description.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BuildError {
    /// A number that must be finite is not.
    #[error("{item}: {what} must be a finite number")]
    NotFinite {
        /// Which body, material or setting.
        item: Item,
        /// Which number.
        what: &'static str,
    },
    /// A number is out of range.
    #[error("{item}: {what} is {value}, but must be {range}")]
    OutOfRange {
        /// Which body, material or setting.
        item: Item,
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// The valid range.
        range: &'static str,
    },
    /// Shapes adhere at gaps that detection does not see.
    #[error(
        "{item}: cohesion acts up to a gap of {range:.3e} m, but contacts are detected up to {alert:.3e} m only; reduce \
         the cohesion range, or raise the alert distance"
    )]
    CohesionBeyondAlert {
        /// The pair of materials or the point contact.
        item: Item,
        /// Gap up to which cohesion acts [m].
        range: f64,
        /// Alert distance [m].
        alert: f64,
    },
    /// Shapes adhere only at gaps that solver errors may exceed.
    #[error(
        "{item}: cohesion acts up to a gap of {range:.3e} m, within the errors of touching contacts; make the cohesion \
         range at least {smallest:.1e} m"
    )]
    CohesionRange {
        /// The pair of materials or the point contact.
        item: Item,
        /// Gap up to which cohesion acts [m].
        range: f64,
        /// The smallest range [m].
        smallest: f64,
    },
    /// A servo that cannot move its body.
    #[error("{item}: the servo cannot move it: {problem}")]
    BadServo {
        /// Which body.
        item: Item,
        /// What is wrong.
        problem: &'static str,
    },
    /// A name is used twice.
    #[error("two {what} are named `{name}`; rename one of them")]
    Duplicate {
        /// Bodies or materials.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A body or pair refers to a material that does not exist.
    #[error("{item}: there is no material `{name}`; known: {known}")]
    UnknownMaterial {
        /// Which body or pair.
        item: Item,
        /// The name.
        name: String,
        /// The existing materials.
        known: String,
    },
    /// A free body without mass.
    #[error(
        "{item}: a free body needs a mass: give its material `{material}` a density, or the body a mass"
    )]
    NoMass {
        /// Which body.
        item: Item,
        /// Its material.
        material: String,
    },
    /// A half-space as a free body.
    #[error("{item}: a half-space is infinite and has no mass; make the body fixed or moving")]
    FreeHalfSpace {
        /// Which body.
        item: Item,
    },
    /// A spatial shape in a planar scene, or vice versa.
    #[error("{item}: {problem}")]
    WrongDimension {
        /// Which body.
        item: Item,
        /// What is wrong.
        problem: &'static str,
    },
    /// Restitution with the inelastic law.
    #[error(
        "pair `{a}`–`{b}`: the quasi-shock law does not rebound; set restitution to 0 or use moreau-newton"
    )]
    InelasticRestitution {
        /// First material.
        a: String,
        /// Second material.
        b: String,
    },
    /// A physically impossible inertia tensor.
    #[error("{item}: the inertia tensor is not physical ({problem})")]
    BadInertia {
        /// Which body.
        item: Item,
        /// What is wrong.
        problem: &'static str,
    },
    /// Two bodies overlap initially.
    #[error(
        "`{a}` and `{b}` overlap by {depth:.2e} m initially ({percent:.1} % of the size of the smaller one); move them apart"
    )]
    Overlap {
        /// First body.
        a: String,
        /// Second body.
        b: String,
        /// Depth of the overlap [m].
        depth: f64,
        /// The same, in percent of the smaller body's size.
        percent: f64,
    },
    /// A rope that does not reach from one end to the other.
    #[error(
        "{item}: its length of {length} m is {excess:.2e} m shorter than its initial path of {path} m; set the \
         length to at least {path} m, omit it, or move its points together"
    )]
    RopeTooShort {
        /// Which rope.
        item: Item,
        /// Its length [m].
        length: f64,
        /// Length of the initial path [m].
        path: f64,
        /// How much longer the path is [m].
        excess: f64,
    },
    /// A chain that cannot be laid out.
    #[error("{item}: {problem}")]
    Chain {
        /// Which chain.
        item: Item,
        /// What is wrong.
        problem: String,
    },
    /// A body of a material that breaks or wears, which cannot.
    #[error("{item}: {problem}")]
    CannotDegrade {
        /// Which body.
        item: Item,
        /// What is wrong.
        problem: &'static str,
    },
    /// Bodies that cannot be inserted or removed.
    #[error("{item}: {problem}")]
    Population {
        /// Which insertion or removal.
        item: Item,
        /// What is wrong.
        problem: String,
    },
    /// A periodic cell that is too small or malformed, or something that cannot be in one.
    #[error("{item}: {problem}")]
    Periodic {
        /// The cell, or what is in it.
        item: Item,
        /// What is wrong.
        problem: String,
    },
    /// A mistake in a mechanism.
    #[error(transparent)]
    Mechanism(crate::multibody::MechanismError),
    /// A mistake in a flexible body.
    #[error(transparent)]
    Flexible(crate::flexible::FlexibleError),
    /// Nothing in the scene can move.
    #[error("no body is free to move: nothing would happen")]
    NothingMoves,
}

/// All errors in a description, reported together.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildErrors(pub Vec<BuildError>);

impl std::fmt::Display for BuildErrors {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        crate::multibody::write_lines(&self.0, f)
    }
}

impl std::error::Error for BuildErrors {}

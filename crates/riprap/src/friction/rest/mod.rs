//! Unique contact forces where rigid bodies leave them undetermined (Schwager and Pöschel 2002,
//! Sec. 8).
//!
//! Each body gets microscopic displacements `δq`, which deform its contacts by `ξ = D δq = −Hᵀ δq`
//! (37), and a force law `f = f(ξ)` (38) relates forces to deformations. The unknowns are then as
//! many as the degrees of freedom, and the condition that the forces have a given resultant on
//! every body, `H f = R`, determines them. The bodies do not move: displacements are infinitesimal,
//! and contacts stay where they are.
//!
//! With linear springs, forces are homogeneous of degree one in `δq`, so they depend only on ratios
//! of stiffnesses and not on their size: this is the limit of rigid contacts.

mod krylov;
mod network;
mod newton;
mod relaxation;

use super::{Factored, Law};
use network::Network;
use std::fmt;
use std::sync::Arc;

/// A force law along the normal, `f_n = f(ξ_n)` (38), for deformations `ξ_n > 0` [m].
pub trait DeformationLaw: Send + Sync {
    /// Force of a contact at a deformation [N]: 0 at 0, increasing.
    fn force(&self, contact: usize, deformation: f64) -> f64;

    /// Its derivative [N/m].
    fn stiffness(&self, contact: usize, deformation: f64) -> f64;
}

/// The force law of contacts. Each is multiplied by the relative stiffness of the contact,
/// [`RestProblem::stiffness`].
#[derive(Clone, Default)]
pub enum ForceLaw {
    /// `f_n = k ξ_n` with `k` = 1 N/m. Forces depend only on relative stiffnesses.
    #[default]
    Linear,
    /// Hertz's law, `f_n = k ξ_n^(3/2)` with `k` = 1 N/m^(3/2). Forces depend only on relative
    /// stiffnesses.
    Hertz,
    /// Another law. Its size matters unless it is a power.
    Given(Arc<dyn DeformationLaw>),
}

impl ForceLaw {
    /// Force [N] and stiffness [N/m] of a contact at a deformation [m]; 0 if it is open. A contact that
    /// just touches has the stiffness of a closed one.
    fn evaluate(&self, contact: usize, deformation: f64) -> (f64, f64) {
        if deformation < 0.0 {
            return (0.0, 0.0);
        }
        match self {
            ForceLaw::Linear => (deformation, 1.0),
            ForceLaw::Hertz => {
                let root = deformation.sqrt();
                (deformation * root, 1.5 * root)
            }
            ForceLaw::Given(law) => {
                (law.force(contact, deformation), law.stiffness(contact, deformation))
            }
        }
    }
}

impl fmt::Debug for ForceLaw {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            ForceLaw::Linear => "Linear",
            ForceLaw::Hertz => "Hertz",
            ForceLaw::Given(_) => "Given(..)",
        })
    }
}

/// How tangential forces are limited to `μ f_n`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RestFriction {
    /// Forces of linear springs are projected onto Coulomb's cone in the norm of the elastic energy.
    /// The network then has a convex potential: among all forces with the given resultants that obey
    /// Coulomb's law, those found have the smallest elastic energy `Σ f_n²/k_n + ‖f_t‖²/k_t`. They
    /// are unique, and exist if rigid bodies can rest at all. Force laws that are not linear are
    /// clipped.
    #[default]
    Associated,
    /// Tangential forces are cut at `μ f_n`, normal forces are those of the force law. With many
    /// sliding contacts there may be several equilibria or none.
    Clipped,
}

/// How the displacements are found. Both methods have the same solution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RestMethod {
    /// Implicit relaxation, which becomes Newton's method as its steps grow: few iterations, each
    /// with a sparse factorization.
    #[default]
    Newton,
    /// The explicit overdamped relaxation of the paper, `ξ' = ξ − h a` (39): simple, and slow for
    /// many bodies. For free bodies only.
    Relaxation,
}

/// Computes unique contact forces.
///
/// ```
/// use riprap::friction::{Factored, InverseMass, Law, RestForces, RestProblem};
///
/// // A beam of 30 N on three supports at x = −1, 0 and 1 m, its centre at x = 0.2 m.
/// let mut contacts = Factored::default();
/// contacts.reset(std::iter::once(InverseMass { linear: [1.0 / 3.0; 3], angular: [1.0, 1.0, 1.0, 0.0, 0.0, 0.0] }));
/// let frame = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
/// for x in [-1.0, 0.0, 1.0] {
///     contacts.push([Factored::NONE, 0], frame, [[0.0; 3], [x - 0.2, 0.0, 0.0]]);
/// }
/// let laws = [Law::Coulomb { friction: 0.5 }; 3];
/// let required = [[0.0, 0.0, 30.0, 0.0, 0.0, 0.0]]; // the weight is carried
/// let problem = RestProblem::new(&contacts, &laws, &required);
/// let found = RestForces::new().solve(&problem, &mut Vec::new())?;
/// // Equal springs: 10 N each, and 3 N more to the right than to the left.
/// for (force, expected) in found.forces.iter().zip([7.0, 10.0, 13.0]) {
///     assert!((force[0] - expected).abs() < 1e-9);
/// }
/// # Ok::<(), riprap::friction::RestError>(())
/// ```
#[derive(Clone, Debug)]
pub struct RestForces {
    law: ForceLaw,
    friction: RestFriction,
    ratio: f64,
    method: RestMethod,
    tolerance: f64,
    max_iterations: usize,
}

impl Default for RestForces {
    fn default() -> Self {
        RestForces::new()
    }
}

impl RestForces {
    /// Linear springs with `k_t/k_n` = 2/7, Newton's method, tolerance 1e-10.
    pub fn new() -> RestForces {
        RestForces {
            law: ForceLaw::Linear,
            friction: RestFriction::Associated,
            ratio: 2.0 / 7.0,
            method: RestMethod::Newton,
            tolerance: 1e-10,
            max_iterations: 1000,
        }
    }

    /// Sets the force law.
    pub fn law(mut self, law: ForceLaw) -> RestForces {
        self.law = law;
        self
    }

    /// Sets how friction is limited.
    pub fn friction(mut self, friction: RestFriction) -> RestForces {
        self.friction = friction;
        self
    }

    /// Sets `k_t/k_n` [–]: stiffness of the tangential spring over that of the normal one at its
    /// deformation.
    pub fn tangential_ratio(mut self, ratio: f64) -> RestForces {
        self.ratio = ratio;
        self
    }

    /// Sets the method.
    pub fn method(mut self, method: RestMethod) -> RestForces {
        self.method = method;
        self
    }

    /// Sets the largest error of a resultant, relative to the weight of its body [–].
    pub fn tolerance(mut self, tolerance: f64) -> RestForces {
        self.tolerance = tolerance;
        self
    }

    /// Sets the number of iterations after which the method gives up.
    pub fn max_iterations(mut self, iterations: usize) -> RestForces {
        self.max_iterations = iterations;
        self
    }

    /// Finds the displacements `δq` with `H f(−Hᵀ δq) = R`, and the forces.
    ///
    /// `displacements` are those to start from, one entry of six per block (for instance the last
    /// ones of similar contacts); a list of another length counts as empty. They are replaced by
    /// the solution: translations [m] and rotations [rad] for springs of 1 N/m.
    ///
    /// Bodies without equilibrium are a result, not an error: see [`RestReport::unbalanced`].
    pub fn solve(
        &self,
        problem: &RestProblem,
        displacements: &mut Vec<[f64; 6]>,
    ) -> Result<RestSolution, RestError> {
        self.check(problem)?;
        let network = Network::new(problem, &self.law, self.friction, self.ratio);
        if displacements.len() != problem.contacts.n_blocks() {
            displacements.clear();
        }
        let usable = displacements.as_flattened().iter().all(|x| x.is_finite());
        let cold = displacements.is_empty() || !usable;
        let mut limits = (self.tolerance, self.max_iterations);
        if cold {
            displacements.clear();
            displacements.resize(problem.contacts.n_blocks(), [0.0; 6]);
            // Other laws may have no stiffness without deformation: linear springs come first.
            if !matches!(self.law, ForceLaw::Linear) {
                let linear = Network::new(problem, &ForceLaw::Linear, self.friction, self.ratio);
                let accuracy = self.tolerance.max(1e-3);
                limits.1 -= self.find(problem, &linear, (accuracy, limits.1), cold, displacements);
                network.stretch(displacements);
            }
        }
        let last = self.find(problem, &network, limits, cold, displacements);
        let iterations = self.max_iterations - limits.1 + last;
        Ok(network.solution(displacements, self.tolerance, iterations))
    }

    /// Improves the displacements within a tolerance and a number of iterations; returns how many
    /// were needed.
    fn find(
        &self,
        problem: &RestProblem,
        network: &Network,
        limits: (f64, usize),
        cold: bool,
        displacements: &mut Vec<[f64; 6]>,
    ) -> usize {
        match self.method {
            RestMethod::Newton => newton::solve(problem, network, limits, cold, displacements),
            RestMethod::Relaxation => relaxation::solve(problem, network, limits, displacements),
        }
    }

    /// Checks the options, and that the lists of a problem fit together.
    fn check(&self, problem: &RestProblem) -> Result<(), RestError> {
        let positive = |what: &'static str, value: f64| match value > 0.0 && value.is_finite() {
            true => Ok(()),
            false => Err(RestError::OutOfRange { what, value }),
        };
        positive("the tolerance", self.tolerance)?;
        positive("the ratio of tangential to normal stiffness", self.ratio)?;
        problem.stiffness.iter().try_for_each(|k| positive("a relative stiffness", *k))?;
        problem.weights.iter().try_for_each(|w| positive("a weight", *w))?;
        let (n, blocks) = (problem.contacts.contacts().len(), problem.contacts.n_blocks());
        let lengths = [
            ("laws", problem.laws.len(), n, false),
            ("resultants", problem.required.len(), blocks, false),
            ("relative stiffnesses", problem.stiffness.len(), n, true),
            ("directions of sliding", problem.sliding.len(), n, true),
            ("weights", problem.weights.len(), blocks, true),
        ];
        for (what, found, expected, optional) in lengths {
            if found != expected && !(optional && found == 0) {
                return Err(RestError::WrongLength { what, found, expected });
            }
        }
        if let Some(value) = problem.required.as_flattened().iter().find(|x| !x.is_finite()) {
            return Err(RestError::OutOfRange { what: "a resultant", value: *value });
        }
        if let Some(contact) = problem.laws.iter().position(|law| *law == Law::Rolling) {
            return Err(RestError::Rolling { contact });
        }
        Ok(())
    }
}

/// Contacts, and the resultants that their forces must have.
#[derive(Clone, Copy, Debug)]
pub struct RestProblem<'a> {
    /// The columns of `H`. Blocks are bodies with six degrees of freedom; a direction without
    /// inverse mass is locked. Moments of rolling resistance are ignored.
    pub contacts: &'a Factored,
    /// The law of each contact. Bilateral ones are linear springs in all directions.
    pub laws: &'a [Law],
    /// The resultant `R` of the contact forces on each block: force [N] and moment about its centre
    /// [N m]. For a body at rest it is `−Q`, opposite to its weight and other forces; for a body
    /// with acceleration `a` it is `M a − Q`. Entries of locked directions are ignored.
    pub required: &'a [[f64; 6]],
    /// Relative stiffness of each contact [–]; empty if all are equal.
    pub stiffness: &'a [f64],
    /// Where bodies slide: the velocity of the second body relative to the first along t1 and t2,
    /// of any length. Friction there is `μ f_n` against it, whatever the deformation. Empty if none
    /// is known to slide.
    pub sliding: &'a [Option<[f64; 2]>],
    /// What the error of each resultant is relative to [N], usually the weight of the body; empty
    /// for the size of the resultants themselves.
    pub weights: &'a [f64],
}

impl<'a> RestProblem<'a> {
    /// A problem with equal stiffnesses in which nothing is known to slide.
    pub fn new(
        contacts: &'a Factored,
        laws: &'a [Law],
        required: &'a [[f64; 6]],
    ) -> RestProblem<'a> {
        RestProblem { contacts, laws, required, stiffness: &[], sliding: &[], weights: &[] }
    }
}

/// What a contact does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContactStatus {
    /// It carries no force.
    Open,
    /// Friction is below its limit.
    Sticking,
    /// Friction is at its limit.
    Sliding,
}

/// Unique contact forces.
#[derive(Clone, Debug, Default)]
pub struct RestSolution {
    /// Force of each contact on its second block, in its frame `(n, t1, t2)` [N].
    pub forces: Vec<[f64; 3]>,
    /// What each contact does.
    pub status: Vec<ContactStatus>,
    /// How they were found.
    pub report: RestReport,
}

/// Summary of the computation of unique contact forces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RestReport {
    /// Whether all bodies have their resultants.
    pub converged: bool,
    /// Number of iterations.
    pub iterations: usize,
    /// Largest error of a resultant, relative to the weight of its body [–].
    pub residual: f64,
    /// Blocks whose contacts cannot provide the resultant, with the error relative to their weight
    /// [–]; the worst first.
    pub unbalanced: Vec<(u32, f64)>,
    /// Number of contacts without force.
    pub open: usize,
    /// Number of contacts that stick.
    pub sticking: usize,
    /// Number of contacts at the limit of friction.
    pub sliding: usize,
}

/// Why unique forces cannot be computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum RestError {
    /// A list does not fit the contacts or blocks.
    #[error("there are {found} {what}, but {expected} are needed")]
    WrongLength {
        /// Which list.
        what: &'static str,
        /// Its length.
        found: usize,
        /// The length it must have.
        expected: usize,
    },
    /// A number is out of range.
    #[error(
        "{what} is {value}, but must be a finite number, and positive unless it is a resultant"
    )]
    OutOfRange {
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
    },
    /// A contact has the law of a moment.
    #[error(
        "contact {contact} has the law of rolling resistance; only contacts and joints have deformations"
    )]
    Rolling {
        /// Its index.
        contact: usize,
    },
}

#[cfg(test)]
mod tests;

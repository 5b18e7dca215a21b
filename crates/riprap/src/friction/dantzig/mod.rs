//! The friction-extended Dantzig algorithm: contact forces and accelerations that are consistent
//! at every contact (Schwager and Pöschel 2002, Secs. 5 to 7, Eqs. (26), (27), (35), (36)).
//!
//! Contacts are in the lists NC (breaking), C_F (static) and C± (sliding). A linear system holds
//! the accelerations of permanent contacts at zero. The algorithm changes its right-hand side and
//! moves a contact to another list whenever a condition is about to fail (events 3a to 3d of the
//! paper, `path.rs`). A new problem starts from nothing and takes contact by contact, first the
//! normal, then the tangential force; a problem that resembles the last one starts from its lists.
//!
//! In space, the friction cone of a static contact is a polyhedron, the sum of `facets / 2` equal
//! segments in the tangent plane; each segment obeys the planar law (`island.rs`). Contacts that do
//! not influence each other form islands that are solved separately.

mod attempt;
mod bodies;
mod dense;
mod elimination;
mod island;
mod path;
mod refine;
mod solve;
mod velocity;

use super::{Delassus, Scratch};
use serde::{Deserialize, Serialize};

/// Friction of one contact in a force problem.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Friction {
    /// No tangential force.
    #[default]
    None,
    /// The tangential velocity is zero: the contact sticks or begins to slide (list C_F or C±).
    Static {
        /// Coefficient of friction [–].
        mu: f64,
    },
    /// The contact slides: the friction force on the second body is `μ f_N` along a direction.
    Sliding {
        /// Coefficient of friction [–].
        mu: f64,
        /// Unit vector in the tangent plane, along `(t1, t2)`.
        direction: [f64; 2],
    },
}

/// Find forces `f` and accelerations `a = b + W f` at all contacts, each `(n, t1, t2)`, such that
///
/// ```text
/// a_N ≥ 0,  f_N ≥ 0,  a_N f_N = 0,  |f_T| ≤ μ f_N,  a_T (|f_T| − μ f_N) = 0,
/// ```
///
/// and friction opposes the acceleration: Eqs. (26), (27). With impulses and velocities instead of
/// forces and accelerations it is the problem of a collision, Eqs. (35), (36).
#[derive(Clone, Copy, Debug)]
pub struct ForceProblem<'a> {
    /// `A` of the paper: how forces change accelerations [1/kg].
    pub w: &'a Delassus,
    /// Accelerations without contact forces [m/s²].
    pub b: &'a [[f64; 3]],
    /// Friction of each contact.
    pub friction: &'a [Friction],
}

/// The list of a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Class {
    /// NC: no force.
    #[default]
    Breaking,
    /// C_F: no relative acceleration.
    Static,
    /// C±: no relative acceleration along the normal, friction at its limit.
    Sliding,
}

/// How a solve ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    /// The forces are consistent.
    #[default]
    Solved,
    /// No consistent forces were found, as in Painlevé's paradox: the force of this contact grows
    /// without bound. Forces of its island are zero.
    Inconsistent {
        /// Index of the contact.
        contact: usize,
    },
    /// The limit on pivots was reached. Forces of the island concerned are zero.
    Limit,
}

/// Summary of a solve.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DantzigReport {
    /// How it ended; the first failure of all islands.
    pub outcome: Outcome,
    /// Changes of lists.
    pub pivots: usize,
    /// Those that changed no force.
    pub degenerate: usize,
    /// Worst violation of (27) relative to the largest free acceleration [–]; forces are compared
    /// with accelerations by the mobility of their contact. It covers the islands that were solved.
    pub residual: f64,
}

/// The friction-extended Dantzig algorithm.
///
/// ```
/// use riprap::friction::{Blocks, Class, Dantzig, Delassus, ForceProblem, Friction, Scratch};
///
/// // A block of 2 kg on a slope of 20°, with μ = 0.5: tan 20° = 0.36, so that it sticks.
/// let mut w = Blocks::default();
/// w.push(0, [[0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.5]]);
/// w.end_row();
/// let (sin, cos) = 20f64.to_radians().sin_cos();
/// let problem = ForceProblem {
///     w: &Delassus::Blocks(w),
///     b: &[[-9.81 * cos, -9.81 * sin, 0.0]],
///     friction: &[Friction::Static { mu: 0.5 }],
/// };
/// let (mut forces, mut classes) = (Vec::new(), Vec::new());
/// let report = Dantzig::default().solve(&problem, &mut forces, &mut classes, &mut Scratch::default());
/// assert!(report.residual < 1e-10 && classes == [Class::Static]);
/// assert!((forces[0][0] - 2.0 * 9.81 * cos).abs() < 1e-9);
/// assert!((forces[0][1] - 2.0 * 9.81 * sin).abs() < 1e-9);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dantzig {
    /// Facets of the friction cone of a static contact in space, even and at least 4. The polyhedral
    /// cone is inscribed in the exact one: a contact slides when its friction is between
    /// `cos(π/facets) μ f_N` and `μ f_N`. Planar contacts have the exact law.
    pub facets: usize,
    /// Most changes of lists per unknown before an attempt is given up, if they change one by one;
    /// beyond 100 unknowns the limit does not grow.
    pub max_pivots: usize,
    /// Most rounds in which all inconsistent contacts change their lists together, before they
    /// change one by one. Used for problems with starting lists and for large islands; 0 is the
    /// algorithm as published.
    pub rounds: usize,
    /// Sweeps over all contacts before each of these rounds.
    pub sweeps: usize,
    /// Whether dense matrices are used for all islands: slow, a reference for tests.
    pub dense: bool,
}

impl Default for Dantzig {
    fn default() -> Self {
        Dantzig { facets: 8, max_pivots: 10, rounds: 30, sweeps: 10, dense: false }
    }
}

impl Dantzig {
    /// Finds the forces [N] of all contacts in their frames, or the impulses [N s] of a collision.
    /// `classes` holds the lists to start from, for instance those of the last solve (if there are
    /// fewer, the others are [`Class::Breaking`]), and receives those found.
    pub fn solve(
        &self,
        problem: &ForceProblem,
        forces: &mut Vec<[f64; 3]>,
        classes: &mut Vec<Class>,
        scratch: &mut Scratch,
    ) -> DantzigReport {
        solve::solve(self, problem, (forces, classes), false, scratch)
    }

    /// Like [`Dantzig::solve`], but starts from the given forces too, if there is one for each
    /// contact: those of a similar problem. With redundant contacts this is much faster, and the
    /// forces found are near the given ones; whoever wants the same results after a restart must
    /// store them.
    pub fn resume(
        &self,
        problem: &ForceProblem,
        forces: &mut Vec<[f64; 3]>,
        classes: &mut Vec<Class>,
        scratch: &mut Scratch,
    ) -> DantzigReport {
        solve::solve(self, problem, (forces, classes), true, scratch)
    }
}

#[cfg(test)]
mod tests;

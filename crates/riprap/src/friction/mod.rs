//! The contact problem as plain algebra: find impulses `I` such that `V = W I + V_free` obeys
//! Signorini's condition and Coulomb's law at every contact, Eqs. (31), (32).
//!
//! This module knows nothing about bodies, shapes or files. A contact is three numbers
//! `(n, t1, t2)`; the Delassus operator `W` comes in factored form or as blocks; every solver is
//! judged by one [`residual`].

mod accurate;
mod alone;
mod anderson;
mod arrays;
mod blocks;
mod coloured;
mod cone;
mod conjugate_gradient;
mod criteria;
mod dantzig;
mod delassus;
mod elimination;
mod factored;
mod gauss_seidel;
mod incidence;
mod interior;
mod islands;
mod law;
mod local;
mod mixed;
mod newton;
mod order;
mod packed;
mod rescue;
mod residual;
mod rest;
mod rolling;
mod sparse;
mod splitting;
mod symmetric;

use crate::math::bytes_of;
pub use crate::math::{Buffers, Scratch};
pub use accurate::Accurate;
pub use alone::{AlternatingDirections, ExactInteriorPoint, ProximalPoint, SemismoothNewton};
pub use anderson::{Anderson, StoredOptions};
pub use arrays::ProblemArrays;
pub use blocks::Blocks;
pub use coloured::{Coloured, Width};
#[cfg(feature = "interior-point")]
pub use cone::InteriorPoint;
pub use cone::{
    Admm, Apgd, BarzilaiBorwein, ConeOptions, ConeProblem, ProjectedGaussSeidel, ProjectedJacobi,
};
pub use conjugate_gradient::ConjugateGradient;
pub use criteria::{Criterion, GaussSeidelOptions};
pub use dantzig::{Class, Dantzig, DantzigReport, ForceProblem, Friction, Outcome};
pub use delassus::{BlockVelocities, Delassus, Operator};
pub use factored::{Contact3, Factored, InverseMass};
pub use gauss_seidel::GaussSeidel;
pub use incidence::Incidence;
pub use law::{Law, Local};
pub use local::{solve_contact, solve_joint};
pub use mixed::{Condition, Mixed, MixedReport};
pub use residual::{Measure, Residual, residual};
pub use rest::{
    ContactStatus, DeformationLaw, ForceLaw, RestError, RestForces, RestFriction, RestMethod,
    RestProblem, RestReport, RestSolution,
};
pub use rolling::Rolling;

/// Impulses of all contacts [N s], each in its frame `(n, t1, t2)`; the normal component is not
/// negative.
pub type Impulses = Vec<[f64; 3]>;

/// One contact problem.
///
/// The unknown impulses `I` and velocities `V = W I + V_free` satisfy, at each contact,
/// `0 ≤ V_n ⊥ I_n ≥ 0` and Coulomb's law with the exact cone `‖I_t‖ ≤ μ I_n`. Restitution and gaps
/// are already part of the normal component of `v_rel_free`. Each moment of `rolling` is bounded by
/// its limit, and is smaller than it only if the spin vanishes.
///
/// ```
/// use riprap::friction::{Blocks, ContactProblem, Delassus, Law, Scratch, ContactSolver};
/// use riprap::prelude::*;
///
/// // One contact: a body of 2 kg that meets a wall with 1 m/s and slides along it with 0.2 m/s.
/// let mut w = Blocks::default();
/// w.push(0, [[0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.5]]);
/// w.end_row();
/// let problem = ContactProblem {
///     w: Delassus::Blocks(w),
///     v_rel_free: vec![[-1.0, 0.2, 0.0]],
///     laws: vec![Law::Coulomb { friction: 0.5 }],
///     approach_scale: 1.0,
///     ..ContactProblem::default()
/// };
///
/// let mut impulses = vec![[0.0; 3]];
/// let report = GaussSeidel::tolerance(1e-10).solve(&problem, &mut impulses, &mut Scratch::default());
/// assert!(report.converged);
/// // It stops at the wall (2 N s) and sticks, since 0.4 N s is less than the friction of 1 N s.
/// assert!((impulses[0][0] - 2.0).abs() < 1e-9 && (impulses[0][1] + 0.4).abs() < 1e-9);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ContactProblem {
    /// The Delassus operator `W` [1/kg].
    pub w: Delassus,
    /// Relative velocities without contact impulses, shifted by restitution and gap [m/s].
    pub v_rel_free: Vec<[f64; 3]>,
    /// The law of each triple of unknowns.
    pub laws: Vec<Law>,
    /// Moments of rolling resistance; they come after all contacts and joints.
    pub rolling: Vec<Rolling>,
    /// Time step divided by the resolution of the scene [s/m]: converts an approach velocity into a
    /// relative penetration.
    pub approach_scale: f64,
}

impl ContactProblem {
    /// Number of triples of unknowns: contacts, joints and moments.
    pub fn len(&self) -> usize {
        self.v_rel_free.len()
    }

    /// Bytes held by the buffers.
    pub(crate) fn bytes(&self) -> usize {
        self.w.bytes() + bytes_of(&self.v_rel_free) + bytes_of(&self.laws) + bytes_of(&self.rolling)
    }

    /// Whether all laws are known to [`Anderson`] and [`Accurate`]; other problems are solved by
    /// conjugate gradients.
    fn packs(&self) -> bool {
        let known = |law: &Law| matches!(law, Law::Coulomb { .. } | Law::Bilateral);
        self.laws.iter().all(known)
    }

    /// The largest of all free velocities [m/s].
    fn largest_free(&self) -> f64 {
        self.v_rel_free.as_flattened().iter().fold(0.0, |largest: f64, x| largest.max(x.abs()))
    }

    /// Index of the first moment of rolling resistance.
    fn first_rolling(&self) -> usize {
        self.len() - self.rolling.len()
    }

    /// Bound on a moment of rolling resistance given these impulses [N s]; 0 for other unknowns.
    #[inline]
    pub fn limit(&self, a: usize, impulses: &[[f64; 3]]) -> f64 {
        match a.checked_sub(self.first_rolling()) {
            Some(k) => self.rolling[k].limit(impulses),
            None => 0.0,
        }
    }

    /// Whether there are no unknowns.
    pub fn is_empty(&self) -> bool {
        self.v_rel_free.is_empty()
    }
}

/// Summary of a solve. Not reaching the tolerance is a result, not an error; see `converged`.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SolveReport {
    /// Whether every criterion holds.
    pub converged: bool,
    /// Sweeps over all contacts.
    pub sweeps: usize,
    /// Natural-map residual relative to the impulses [–].
    pub residual: f64,
    /// Worst approach velocity × dt relative to [`crate::scene::Scene::resolution`] [–].
    pub approach: f64,
    /// Root mean square change of velocity in the last sweep, relative to `W I` (LMGC90's Quad) [–].
    pub velocity_change_rms: f64,
    /// Largest change of velocity in the last sweep, relative to `W I` (LMGC90's Maxm) [–].
    pub velocity_change_max: f64,
    /// The criterion nearest to its tolerance at the end, or furthest beyond it.
    pub decided_by: Criterion,
}

/// A solver of contact problems.
pub trait ContactSolver: Send + Sync {
    /// The solver itself: like [`ContactSolver::solve`], but called only with at least one contact
    /// and as many impulses.
    fn improve(
        &self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        scratch: &mut Scratch,
    ) -> SolveReport;

    /// Improves `impulses` (initially the starting values, for instance those of the last step)
    /// until `problem` is solved to the solver's tolerance, and reports the accuracy reached.
    fn solve(
        &self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        scratch: &mut Scratch,
    ) -> SolveReport {
        impulses.resize(problem.len(), [0.0; 3]);
        if problem.is_empty() {
            return SolveReport { converged: true, ..SolveReport::default() };
        }
        self.improve(problem, impulses, scratch)
    }
}

#[cfg(test)]
mod fixtures;
#[cfg(test)]
mod properties;

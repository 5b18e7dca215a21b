//! The algorithm as a solver of contact problems between velocities and impulses.

use super::{Class, Dantzig, ForceProblem, Friction, Outcome};
use crate::friction::anderson::report;
use crate::friction::{
    ContactProblem, ContactSolver, Impulses, Law, Scratch, SolveReport, StoredOptions,
};

/// Residual of a stored problem at which an exact solution counts as converged [–].
const TOLERANCE: f64 = 1e-8;

/// All contacts are static. Problems with other laws, and those found inconsistent, are solved by
/// [`crate::friction::ConjugateGradient`]. The residual is that of the exact cone: with contacts
/// that slide in space it shows the error of the polyhedral one.
impl ContactSolver for Dantzig {
    fn improve(
        &self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        scratch: &mut Scratch,
    ) -> SolveReport {
        let options = StoredOptions::tolerance(TOLERANCE);
        let coulomb = |law: &Law| match *law {
            Law::Coulomb { friction } => Some(Friction::Static { mu: friction }),
            Law::Bilateral | Law::Rolling | Law::Cone { .. } => None,
        };
        let friction: Option<Vec<Friction>> = problem.laws.iter().map(coulomb).collect();
        let solved = friction.and_then(|friction| {
            let problem =
                ForceProblem { w: &problem.w, b: &problem.v_rel_free, friction: &friction };
            let started = |r: &[f64; 3]| if r[0] > 0.0 { Class::Static } else { Class::Breaking };
            let mut classes: Vec<Class> = impulses.iter().map(started).collect();
            let mut found = impulses.clone();
            let report = if classes.iter().all(|class| *class == Class::Breaking) {
                self.solve(&problem, &mut found, &mut classes, scratch)
            } else {
                self.resume(&problem, &mut found, &mut classes, scratch)
            };
            (report.outcome == Outcome::Solved).then_some((found, report.pivots))
        });
        match solved {
            Some((found, pivots)) => {
                *impulses = found;
                report(problem, impulses, &options, pivots)
            }
            None => options.without_blocks().improve(problem, impulses, scratch),
        }
    }
}

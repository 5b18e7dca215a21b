//! The methods of [`super::Accurate`] one by one, for comparisons.

use super::accurate::{Method, improve};
use super::anderson::StoredOptions;
use super::{ContactProblem, ContactSolver, Impulses, Scratch, SolveReport};

macro_rules! alone {
    ($(#[$doc:meta])* $name:ident, $method:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name {
            /// When to stop.
            pub options: StoredOptions,
        }

        impl $name {
            /// Stops at a residual [–] relative to all data of the problem.
            pub fn tolerance(tolerance: f64) -> $name {
                $name { options: StoredOptions::tolerance(tolerance) }
            }
        }

        impl ContactSolver for $name {
            fn improve(
                &self,
                problem: &ContactProblem,
                impulses: &mut Impulses,
                scratch: &mut Scratch,
            ) -> SolveReport {
                improve(Method::$method, &self.options, problem, impulses, scratch)
            }
        }
    };
}

alone! {
    /// Semi-smooth Newton steps on the equations of Alart and Curnier, with sweeps between those that
    /// fail.
    SemismoothNewton, Newton
}

alone! {
    /// The proximal point method, with sweeps and Newton steps inside.
    ProximalPoint, Proximal
}

alone! {
    /// The alternating direction method of multipliers with Anderson acceleration: `W + ρ` is factorized once per
    /// penalty.
    AlternatingDirections, Splitting
}

alone! {
    /// A primal-dual interior-point method for exact friction: some twenty factorizations, also where contacts are redundant.
    ExactInteriorPoint, Interior
}

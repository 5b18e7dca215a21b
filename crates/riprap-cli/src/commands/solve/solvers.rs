//! The solvers and laws that `riprap solve` knows by name.

use std::time::Instant;

use clap::ValueEnum;
use riprap::friction::{
    Accurate, AlternatingDirections, Anderson, ConeOptions, ConjugateGradient, ContactProblem,
    ContactSolver, Dantzig, ExactInteriorPoint, GaussSeidel, GaussSeidelOptions, Law, Measure,
    ProximalPoint, SemismoothNewton, StoredOptions,
};
use validation::bench::ConeSolver;

use crate::failure::Failure;

/// Laws of the contacts.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum ContactLaw {
    /// Coulomb's law with the exact cone
    Coulomb,
    /// Cone complementarity: a sliding contact lifts
    Cone,
}

impl ContactLaw {
    pub(super) fn word(self) -> &'static str {
        match self {
            ContactLaw::Coulomb => "coulomb",
            ContactLaw::Cone => "cone",
        }
    }

    /// Replaces the law of the contacts of a stored problem.
    pub(super) fn apply(self, problem: &mut ContactProblem) {
        for law in &mut problem.laws {
            if let (ContactLaw::Cone, Law::Coulomb { friction }) = (self, *law) {
                *law = Law::Cone { friction };
            }
        }
    }
}

/// Solvers of contact problems.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Solver {
    /// The default of each law. coulomb: accelerated sweeps, with Newton steps, alternating directions and proximal points where they are faster; cone: apgd
    #[value(alias = "accurate")]
    Auto,
    /// coulomb: Gauss–Seidel with Anderson acceleration
    Anderson,
    /// coulomb: Gauss–Seidel with conjugate-gradient acceleration
    ConjugateGradient,
    /// Plain Gauss–Seidel; cone: the fixed point of Anitescu and Tasora
    GaussSeidel,
    /// coulomb: semi-smooth Newton steps on the equations of Alart and Curnier
    Newton,
    /// coulomb: the proximal point method, with sweeps and Newton steps inside
    Proximal,
    /// coulomb: Dantzig's algorithm with friction; exact in the plane, polyhedral cones in space
    Dantzig,
    /// cone: Nesterov's accelerated projected gradients
    Apgd,
    /// cone: spectral projected gradients
    BarzilaiBorwein,
    /// cone: the fixed point of Anitescu and Tasora, all contacts at once
    Jacobi,
    /// Alternating directions with adaptive penalty; coulomb: with Anderson acceleration
    Admm,
    /// Interior points; coulomb: with the shift of De Saxcé; cone: the oracle
    InteriorPoint,
}

impl Solver {
    pub(super) fn word(self) -> &'static str {
        match self {
            Solver::Auto => "auto",
            Solver::Anderson => "anderson",
            Solver::ConjugateGradient => "conjugate-gradient",
            Solver::GaussSeidel => "gauss-seidel",
            Solver::Newton => "newton",
            Solver::Proximal => "proximal",
            Solver::Dantzig => "dantzig",
            Solver::Apgd => "apgd",
            Solver::BarzilaiBorwein => "barzilai-borwein",
            Solver::Jacobi => "jacobi",
            Solver::Admm => "admm",
            Solver::InteriorPoint => "interior-point",
        }
    }

    /// The solver of cone problems with this name.
    fn of_cones(self) -> Option<ConeSolver> {
        match self {
            Solver::Auto | Solver::Apgd => Some(ConeSolver::Apgd),
            Solver::GaussSeidel => Some(ConeSolver::GaussSeidel),
            Solver::BarzilaiBorwein => Some(ConeSolver::BarzilaiBorwein),
            Solver::Jacobi => Some(ConeSolver::Jacobi),
            Solver::Admm => Some(ConeSolver::Admm),
            Solver::InteriorPoint => Some(ConeSolver::InteriorPoint),
            Solver::Anderson
            | Solver::ConjugateGradient
            | Solver::Newton
            | Solver::Proximal
            | Solver::Dantzig => None,
        }
    }

    /// Builds the solver, which stops at a residual relative to all quantities of a stored problem; `None` if it does not solve
    /// problems with this law.
    pub(super) fn build(
        self,
        law: ContactLaw,
        tolerance: f64,
        max_sweeps: Option<usize>,
        measure: Measure,
        deadline: Option<Instant>,
    ) -> Option<Box<dyn ContactSolver>> {
        let mut stored = StoredOptions { measure, deadline, ..StoredOptions::tolerance(tolerance) };
        let mut options = GaussSeidelOptions { measure, ..GaussSeidelOptions::stored(tolerance) };
        let mut cones = ConeOptions { measure, ..ConeOptions::stored(tolerance) };
        if let Some(n) = max_sweeps {
            (stored.max_sweeps, options.max_sweeps, cones.max_iterations) = (n, n, n);
        }
        match (law, self) {
            (ContactLaw::Cone, solver) => solver.of_cones().map(|solver| solver.build(cones)),
            (_, Solver::Auto) => Some(Box::new(Accurate { options: stored })),
            (_, Solver::Anderson) => Some(Box::new(Anderson { options: stored })),
            (_, Solver::ConjugateGradient) => Some(Box::new(ConjugateGradient { options })),
            (_, Solver::GaussSeidel) => Some(Box::new(GaussSeidel { options })),
            (_, Solver::Newton) => Some(Box::new(SemismoothNewton { options: stored })),
            (_, Solver::Proximal) => Some(Box::new(ProximalPoint { options: stored })),
            (_, Solver::Admm) => Some(Box::new(AlternatingDirections { options: stored })),
            (_, Solver::InteriorPoint) => Some(Box::new(ExactInteriorPoint { options: stored })),
            (_, Solver::Dantzig) => Some(Box::new(Dantzig::default())),
            _ => None,
        }
    }

    /// Whether the solver stops at a deadline by itself; others are interrupted between batches of sweeps.
    pub(super) fn watches_deadline(self, law: ContactLaw) -> bool {
        use Solver::{Admm, Anderson, Auto, InteriorPoint, Newton, Proximal};
        law == ContactLaw::Coulomb
            && matches!(self, Auto | Anderson | Newton | Proximal | Admm | InteriorPoint)
    }

    fn fits(self, law: ContactLaw) -> bool {
        self.build(law, 1.0, None, Measure::All, None).is_some()
    }

    /// Fails if the solver does not solve problems with this law.
    pub(super) fn check(self, law: ContactLaw) -> Result<(), Failure> {
        if self.fits(law) {
            return Ok(());
        }
        let fits = |solver: &&Solver| solver.fits(law);
        let names: Vec<&str> =
            Solver::value_variants().iter().filter(fits).map(|s| s.word()).collect();
        Err(Failure::Input(format!(
            "the solver `{}` does not solve problems with `--law {}`; use one of {}",
            self.word(),
            law.word(),
            names.join(", ")
        )))
    }
}

/// References of the residual.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Reference {
    /// The largest of the norms of free velocities, impulses (as velocities) and velocities
    All,
    /// The norm of the impulses, as in simulations
    Impulses,
}

impl Reference {
    pub(super) fn word(self) -> &'static str {
        match self {
            Reference::All => "all",
            Reference::Impulses => "impulses",
        }
    }

    pub(super) fn measure(self) -> Measure {
        match self {
            Reference::All => Measure::All,
            Reference::Impulses => Measure::Impulses,
        }
    }
}

//! The nonsmooth generalized-α scheme in Gear–Gupta–Leimkuhler form: Brüls, Acary and Cardona
//! (2014). Equation numbers of this folder refer to that paper.
//!
//! Smooth motion `q̃, ṽ` is integrated by the generalized-α method, Eqs. (29a), (29b), (30).
//! Constraints act on top of it at position level, `q = q̃ + U` with `M U = g_qᵀ ν`, Eqs. (29c)–(29e),
//! and at velocity level, `v = ṽ + W` with `M W = g_qᵀ Λ`, Eqs. (29f)–(29h). So gaps are never
//! negative, bilateral constraints do not drift, and impacts obey Newton's law. Friction acts at
//! velocity level; the correction of positions is frictionless.

mod coefficients;
mod coupled;
mod finish;
mod newton;
mod problems;
mod start;

pub use coefficients::Coefficients;

use super::{
    Clock, Scheme, StepError, StepReport, StepResult, Workspace, check_dt, check_no_ropes,
    check_no_servos, check_not_periodic, check_plain_contact, next_time,
};
use crate::friction::SolveReport;
use crate::scene::{Scene, State};
use newton::Newton;

/// Which discrete equations are solved: the scheme of the paper, or one of those it compares with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Variant {
    /// Nonsmooth generalized-α with constraints at position and velocity level, Eqs. (29)–(31).
    #[default]
    Ggl,
    /// The same with the complementarity condition (25), (27) at position level. It chatters at
    /// closed contacts.
    ModifiedLcp,
    /// Generalized-α with constraints at position level only, Eqs. (51), (52). It gains energy at
    /// impacts.
    SmoothIndex3,
    /// The implicit θ-method of Moreau and Jean with `θ = 1/(1 + ρ∞)`, Eq. (50). Constraints hold at
    /// velocity level only.
    MoreauJean,
}

/// The nonsmooth generalized-α scheme.
///
/// ```
/// use riprap::prelude::*;
///
/// let steel = Material::new("steel").density(7800.0).restitution(0.8);
/// let mut scene = Scene::builder();
/// scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0])?, Pose::IDENTITY, &steel);
/// let ball = BodyDescription::new(Shape::sphere(0.2)?, &steel).at([0.0, 0.0, 1.001]);
/// let ball = scene.add(ball, &steel);
///
/// let mut run = Simulation::new(scene.build()?, GeneralizedAlpha::new(2e-3).rho(0.8))?;
/// for _ in 0..1000 {
///     run.step()?;
///     assert!(run.pose(ball).position.z - 0.2 > -1e-12, "no penetration");
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeneralizedAlpha {
    /// Time step `h` [s].
    pub dt: f64,
    /// Spectral radius at infinite frequency `ρ∞`, 0 to 1 [–]: 1 conserves the energy of vibrations, 0
    /// damps high frequencies within one step.
    pub rho: f64,
    /// The discrete equations.
    pub variant: Variant,
    /// Corrections of velocities below this fraction of the largest velocity end the iteration [–].
    pub tolerance: f64,
    /// Newton iterations before a step is retried with the coupled matrix, and then halved.
    pub max_iterations: usize,
    /// How often a step that does not converge is halved.
    pub max_halvings: u32,
}

impl GeneralizedAlpha {
    /// The scheme with a step `dt` [s] and ρ∞ = 0.8.
    pub fn new(dt: f64) -> GeneralizedAlpha {
        GeneralizedAlpha {
            dt,
            rho: 0.8,
            variant: Variant::Ggl,
            tolerance: 1e-11,
            max_iterations: 20,
            max_halvings: 10,
        }
    }

    /// Sets the spectral radius at infinite frequency `ρ∞` [–].
    pub fn rho(mut self, rho: f64) -> GeneralizedAlpha {
        self.rho = rho;
        self
    }

    /// The coefficients of the integration formulas.
    pub fn coefficients(&self) -> Coefficients {
        match self.variant {
            Variant::MoreauJean => Coefficients::theta(self.rho),
            _ => Coefficients::new(self.rho),
        }
    }

    /// Sets the discrete equations.
    pub fn variant(mut self, variant: Variant) -> GeneralizedAlpha {
        self.variant = variant;
        self
    }
}

impl Scheme for GeneralizedAlpha {
    fn dt(&self) -> f64 {
        self.dt
    }

    fn check(&self, scene: &Scene) -> Result<(), StepError> {
        check_dt(self.dt)?;
        if !(0.0..=1.0).contains(&self.rho) {
            let (what, range) = ("rho", "between 0 and 1");
            return Err(StepError::BadParameter { what, value: self.rho, range });
        }
        if !(self.tolerance > 0.0 && self.tolerance < 1e-3) {
            let (what, range) = ("the Newton tolerance", "between 0 and 1e-3");
            return Err(StepError::BadParameter { what, value: self.tolerance, range });
        }
        if scene.has_rolling() {
            return Err(StepError::NoRolling { scheme: "generalized-alpha" });
        }
        check_plain_contact("generalized-alpha", scene)?;
        check_no_servos("generalized-alpha", scene)?;
        check_not_periodic("generalized-alpha", scene)?;
        check_no_ropes("generalized-alpha", scene)
    }

    /// Advances `state` by one step; a step that does not converge is halved and retried. On error,
    /// `state` is unchanged.
    fn step(&self, scene: &Scene, state: &mut State, work: &mut Workspace) -> StepResult {
        self.check(scene)?;
        let (t_next, mut clock) = (next_time(state, self.dt), Clock::default());
        let Workspace { contacts, next, scheme, .. } = work;
        let newton = scheme.of::<Newton>();
        let mut impulses = std::mem::take(&mut work.impulses);
        impulses.clear();

        // q_n, v_n, and accelerations consistent with the constraints.
        clock.free(|| newton.begin(scene, state))?;
        let (mut left, mut length, mut halvings) = (1.0, 1.0, 0);
        let mut report = SolveReport { converged: true, ..SolveReport::default() };
        while left > 0.0 {
            // Eqs. (29), (30): smooth motion, projection on positions, projection on velocities.
            let t = t_next - left * self.dt;
            match clock.solve(|| newton.solve(self, scene, t, length * self.dt, contacts)) {
                Ok(iterations) => {
                    report.sweeps += iterations;
                    left -= length;
                    newton.accept(self);
                }
                Err(failure) if halvings == self.max_halvings => {
                    return Err(newton.failed(scene, failure, t, length * self.dt));
                }
                Err(_) => {
                    halvings += 1;
                    length *= 0.5;
                }
            }
            length = length.min(left);
        }
        let end = clock.update(|| newton.finish(scene, state, t_next, next))?;
        newton.show_contacts(scene, contacts, &mut impulses);
        state.become_next(next, t_next);
        work.impulses = impulses;
        let mut step = StepReport::new(self.dt, report, end, &work.contacts, clock.times);
        step.newton = report.sweeps;
        step.halvings = halvings;
        Ok(step)
    }
}

#[cfg(test)]
mod tests;

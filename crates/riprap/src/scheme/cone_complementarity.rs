//! Semi-implicit Euler steps with cone complementarity (Anitescu, Tasora, Negrut): the scheme of the planar
//! paper on granular chains, for planar and spatial scenes.

use super::{
    Clock, Scheme, StepError, StepReport, StepResult, Workspace, check_dt, check_inelastic,
    next_time,
};
use crate::assembly::{GapRule, Interval, Stabilization, assemble_joints};
use crate::friction::{ContactProblem, ContactSolver, GaussSeidel, Law};
use crate::scene::{Scene, SchemeState, State};

/// The law of friction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrictionLaw {
    /// Cone complementarity, the convex relaxation of Coulomb's law: `γ ∈ Υ ⊥ −(N γ + r) ∈ Υ°`. A
    /// contact that slides with `v_t` separates with `μ v_t`, so that it floats at a gap of `μ v_t h`.
    #[default]
    Cone,
    /// Signorini's condition and Coulomb's law, with the same gaps and the same steps.
    Coulomb,
}

/// Time stepping with cone complementarity.
///
/// `v = v_l + M⁻¹ (h f + D γ)` and `q = q_l + h v`, with masses, forces, gaps `Φ` and directions `D`
/// at `q_l`. Gaps are linearized: `Φ/h` is added to the normal velocity, and the impulses `γ` minimize
/// `½ γᵀ N γ + rᵀ γ` over the friction cones. Impacts are inelastic.
///
/// ```
/// use riprap::prelude::*;
///
/// let steel = Material::new("steel").density(7800.0).friction(0.3);
/// let mut scene = Scene::builder();
/// scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0])?, Pose::IDENTITY, &steel);
/// let block = BodyDescription::new(Shape::cuboid([0.1; 3])?, &steel).at([0.0, 0.0, 0.05]);
/// let block = scene.add(block.velocity([1.0, 0.0, 0.0]), &steel);
///
/// let mut run = Simulation::new(scene.build()?, ConeComplementarity::new(1e-3))?;
/// run.until(0.1, &mut ())?;
/// // It slides at about 0.7 m/s and floats at μ v_t h.
/// let gap = run.pose(block).position.z - 0.05;
/// assert!((gap - 0.3 * 0.7 * 1e-3).abs() < 2e-5, "{gap}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ConeComplementarity {
    /// Time step `h` [s].
    pub dt: f64,
    /// The law of friction.
    pub law: FrictionLaw,
    /// Solver of the contact problem; it must know the law.
    pub solver: Box<dyn ContactSolver>,
    /// Largest velocity with which overlaps are removed [m/s].
    pub recovery: f64,
}

impl ConeComplementarity {
    /// The scheme with a step `dt` [s]; overlaps are removed within one step.
    pub fn new(dt: f64) -> ConeComplementarity {
        let solver = Box::new(GaussSeidel::default());
        ConeComplementarity { dt, law: FrictionLaw::Cone, solver, recovery: f64::INFINITY }
    }

    /// Sets the law of friction.
    pub fn law(mut self, law: FrictionLaw) -> ConeComplementarity {
        self.law = law;
        self
    }

    /// Sets the contact solver.
    pub fn solver(mut self, solver: impl ContactSolver + 'static) -> ConeComplementarity {
        self.solver = Box::new(solver);
        self
    }

    /// Sets the largest velocity with which overlaps are removed [m/s].
    pub fn recovery(mut self, recovery: f64) -> ConeComplementarity {
        self.recovery = recovery;
        self
    }
}

/// What the scheme shares with Moreau–Jean beyond its equations: momenta of tumbling bodies, and
/// projection of the joints that request it.
const CORRECTIONS: Stabilization =
    Stabilization { momentum: true, joints: true, ..Stabilization::NONE };

impl Scheme for ConeComplementarity {
    fn dt(&self) -> f64 {
        self.dt
    }

    fn check(&self, scene: &Scene) -> Result<(), StepError> {
        check_dt(self.dt)?;
        if self.recovery.is_nan() || self.recovery < 0.0 {
            let (what, range) = ("the recovery velocity", "0 or positive, in m/s");
            return Err(StepError::BadParameter { what, value: self.recovery, range });
        }
        check_inelastic(scene, "cone-complementarity")
    }

    /// Advances `state` by one step. On error, `state` is unchanged.
    fn step(&self, scene: &Scene, state: &mut State, work: &mut Workspace) -> StepResult {
        self.check(scene)?;
        let (dt, t_next, mut clock) = (self.dt, next_time(state, self.dt), Clock::default());
        let h = Interval { t: state.t, t_next, dt, before: 0.0, after: dt };
        let Workspace { system, contacts, problem, solver, scheme, next, .. } = work;
        // Returned at the end, so that the impulses of a failed step cannot be read.
        let mut impulses = std::mem::take(&mut work.impulses);

        // Free motion with masses and forces at q_l: v_l + h M⁻¹ f.
        clock.free(|| system.predict(scene, state, &h))?;
        clock.free(|| system.free_motion(scene, state, &h))?;

        // N = Dᵀ M⁻¹ D and r = Φ/h + Dᵀ (v_l + h M⁻¹ f).
        clock.detect(|| contacts.detect(scene, system, dt));
        let gaps = GapRule::OverStep { recovery: self.recovery };
        clock.assemble(|| contacts.assemble_by(gaps, scene, state, system, dt, problem));
        clock.assemble(|| assemble_joints(scene, system, problem));
        if self.law == FrictionLaw::Cone {
            clock.assemble(|| relax(problem));
        }

        // γ ∈ Υ ⊥ −(N γ + r) ∈ Υ°, starting from the impulses of the last step.
        clock.assemble(|| contacts.trace(scene, state, system));
        clock.assemble(|| contacts.recall(state, problem, &mut impulses));
        let solve = clock.solve(|| self.solver.solve(problem, &mut impulses, solver));

        // v = v_l + M⁻¹ (h f + D γ), q = q_l + h v.
        let end = clock.update(|| system.finish(scene, state, &h, problem, &impulses, next))?;
        let (done, room) = ((&*problem, &impulses), (scheme, solver));
        clock.update(|| {
            CORRECTIONS.positions(scene, system, &h, contacts, done, room, state, next)
        })?;
        clock.update(|| contacts.remember(scene, system, dt, problem, &impulses, state, next));
        next.scheme = SchemeState::None;
        state.become_next(next, t_next);
        work.impulses = impulses;
        Ok(StepReport::new(dt, solve, end, &work.contacts, clock.times))
    }
}

/// Replaces Coulomb's law by its convex relaxation.
fn relax(problem: &mut ContactProblem) {
    for law in &mut problem.laws {
        if let Law::Coulomb { friction } = *law
            && friction > 0.0
        {
            *law = Law::Cone { friction };
        }
    }
}

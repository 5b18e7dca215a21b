//! The Moreau–Jean θ scheme: Algorithm 1 of the paper.

use super::{Clock, Scheme, StepError, StepReport, StepResult, Workspace, check_dt, next_time};
use crate::assembly::{GapRule, Interval, Stabilization, assemble_constraints, assemble_rolling};
use crate::friction::{Coloured, ContactSolver};
use crate::scene::{Scene, SchemeState, State};

/// Moreau–Jean time stepping.
///
/// ```
/// use riprap::prelude::*;
///
/// let rock = Material::new("rock").density(2700.0).friction(0.6);
/// let mut scene = Scene::builder();
/// scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0])?, Pose::IDENTITY, &rock);
/// scene.add(BodyDescription::new(Shape::cuboid([0.1; 3])?, &rock).at([0.0, 0.0, 0.06]), &rock);
///
/// // Steps of 1 ms; a tighter tolerance than the default of 1e-4.
/// let scheme = MoreauJean::new(1e-3).theta(0.5).solver(Coloured::tolerance(1e-8));
/// let mut run = Simulation::new(scene.build()?, scheme)?;
/// let report = run.until(0.5, &mut ())?;
/// assert_eq!((report.steps, report.unconverged), (500, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct MoreauJean {
    /// Time step `h` [s].
    pub dt: f64,
    /// Parameter θ of the scheme, 0.5 to 1 [–].
    pub theta: f64,
    /// Solver of the contact problem.
    pub solver: Box<dyn ContactSolver>,
    /// Corrections that Algorithm 1 does not have.
    pub stabilization: Stabilization,
}

impl MoreauJean {
    /// The scheme with a step `dt` [s], θ = 1/2, accelerated Gauss–Seidel at its default tolerance, and all corrections.
    pub fn new(dt: f64) -> MoreauJean {
        let solver = Box::new(Coloured::default());
        MoreauJean { dt, theta: 0.5, solver, stabilization: Stabilization::ALL }
    }

    /// Sets θ [–].
    pub fn theta(mut self, theta: f64) -> MoreauJean {
        self.theta = theta;
        self
    }

    /// Sets the contact solver.
    pub fn solver(mut self, solver: impl ContactSolver + 'static) -> MoreauJean {
        self.solver = Box::new(solver);
        self
    }

    /// Sets which corrections are applied.
    pub fn stabilization(mut self, stabilization: Stabilization) -> MoreauJean {
        self.stabilization = stabilization;
        self
    }

    /// The times of the step that starts at `state`.
    fn interval(&self, state: &State) -> Interval {
        let (dt, theta) = (self.dt, self.theta);
        let (before, after) = ((1.0 - theta) * dt, theta * dt);
        Interval { t: state.t, t_next: next_time(state, dt), dt, before, after }
    }
}

impl Scheme for MoreauJean {
    fn dt(&self) -> f64 {
        self.dt
    }

    fn check(&self, _: &Scene) -> Result<(), StepError> {
        check_dt(self.dt)?;
        if !(0.5..=1.0).contains(&self.theta) {
            let (what, range) = ("theta", "between 0.5 and 1");
            return Err(StepError::BadParameter { what, value: self.theta, range });
        }
        Ok(())
    }

    /// Advances `state` by one step of Algorithm 1. On error, `state` is unchanged.
    fn step(&self, scene: &Scene, state: &mut State, work: &mut Workspace) -> StepResult {
        self.check(scene)?;
        let (h, fix, mut clock) = (self.interval(state), &self.stabilization, Clock::default());
        let Workspace { system, contacts, problem, solver, scheme, next, .. } = work;
        // Returned at the end, so that the impulses of a failed step cannot be read.
        let mut impulses = std::mem::take(&mut work.impulses);

        // Predict: q_m = q_n + (1−θ) h v_n, then close the loops, h_B(q_m) = 0.            (29), (16)
        clock.free(|| system.predict(scene, state, &h))?;

        // Free motion, as if there were no contacts: v_free = v_n + h M⁻¹ f.               (25), (28)
        clock.free(|| system.free_motion(scene, state, &h))?;

        // The contact problem in the local frames: V = V_free + W I.                  (8), (27), (31)
        clock.detect(|| contacts.detect(scene, system, h.dt));
        let room = (&mut *scheme, &mut *solver);
        clock.update(|| fix.contacts(scene, state, system, &h, contacts, problem, room))?;
        clock.assemble(|| contacts.assemble(scene, state, system, h.dt, problem));
        let gaps = GapRule::ByLaw;
        clock.assemble(|| assemble_constraints(scene, state, system, gaps, h.dt, problem));
        clock.assemble(|| assemble_rolling(scene, system, contacts, problem));
        clock.assemble(|| contacts.adhere(scene, h.dt, problem));

        // Not in Algorithm 1: gaps and slips due to solver errors are corrected.
        clock.assemble(|| contacts.trace(scene, state, system));
        clock.assemble(|| contacts.grip(scene, state, system, h.dt, problem));
        clock.assemble(|| fix.velocities(scene, state, system, contacts, h.dt, problem));

        // Impulses that satisfy Signorini and Coulomb, starting from the last ones.   (6), (7), (33)
        clock.assemble(|| contacts.recall(state, system, problem, &mut impulses));
        let solve = clock.solve(|| self.solver.solve(problem, &mut impulses, solver));
        contacts.release(&mut impulses);

        // End of step: v = v_free + M⁻¹ H I, q = q_m + θ h v, loops closed.  (28), (30), (16), (20)
        let end = clock.update(|| system.finish(scene, state, &h, problem, &impulses, next))?;

        // Not in Algorithm 1: momenta are conserved, overlaps and joints between bodies are projected.
        let (done, room) = ((&*problem, &impulses), (scheme, solver));
        clock.update(|| fix.positions(scene, system, &h, contacts, done, room, state, next))?;
        clock.update(|| contacts.remember(scene, system, h.dt, problem, &impulses, state, next));
        next.scheme = SchemeState::None;
        state.become_next(next, h.t_next);
        work.impulses = impulses;
        Ok(StepReport::new(h.dt, solve, end, &work.contacts, clock.times))
    }
}

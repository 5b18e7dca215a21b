//! The Moreau–Jean θ scheme: Algorithm 1 of the paper.

use super::{Lap, StageTimes, StepError, StepReport, Workspace, check_finite};
use crate::friction::{ConjugateGradient, ContactSolver, Delassus};
use crate::scene::{Scene, State};
use std::time::Instant;

/// Moreau–Jean time stepping.
pub struct MoreauJean {
    /// Time step `h` [s].
    pub dt: f64,
    /// Parameter θ of the scheme, 0.5 to 1 [–].
    pub theta: f64,
    /// Solver of the contact problem.
    pub solver: Box<dyn ContactSolver>,
}

impl MoreauJean {
    /// The scheme with a step `dt` [s], θ = 1/2 and accelerated Gauss–Seidel at its default tolerance.
    pub fn new(dt: f64) -> MoreauJean {
        MoreauJean { dt, theta: 0.5, solver: Box::new(ConjugateGradient::default()) }
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

    /// Whether the parameters make sense.
    pub fn check(&self) -> Result<(), StepError> {
        if !(self.dt > 0.0 && self.dt.is_finite()) {
            let (what, range) = ("the time step dt", "positive, in seconds");
            return Err(StepError::BadParameter { what, value: self.dt, range });
        }
        if !(0.5..=1.0).contains(&self.theta) {
            let (what, range) = ("theta", "between 0.5 and 1");
            return Err(StepError::BadParameter { what, value: self.theta, range });
        }
        Ok(())
    }

    /// Advances `state` by one step of Algorithm 1. On error, `state` is left untouched.
    pub fn step(
        &self,
        scene: &Scene,
        state: &mut State,
        work: &mut Workspace,
    ) -> Result<StepReport, StepError> {
        self.check()?;
        let (dt, theta) = (self.dt, self.theta);
        let Workspace { q_m, v_next, dynamics, contacts, problem, impulses, change, next, .. } =
            work;
        let mut clock = Lap(Instant::now());
        let mut times = StageTimes::default();

        // Predict: q_m = q_n + (1−θ) h v_n.                                                   (29)
        scene.integrate(&state.q, &state.v, (1.0 - theta) * dt, q_m);

        // Free motion, as if no contact pushed back: v_free = v_n + h M⁻¹ f.                  (28)
        dynamics.evaluate(scene, state, q_m, next_time(state, dt), dt, theta);
        check_finite(scene, q_m, dynamics.free_velocity(), next_time(state, dt))?;
        times.free = clock.lap();

        // The contact problem in the local frames: V = V_free + W I.                     (8), (31)
        contacts.detect(scene, q_m, dynamics.free_velocity(), dt);
        times.detect = clock.lap();
        contacts.assemble(scene, dynamics, q_m, &state.v, dt, problem);

        // Impulses that satisfy Signorini and Coulomb, starting from the last ones.      (6), (7), (33)
        contacts.recall(scene, q_m, state, dt, problem, impulses);
        times.assemble = clock.lap();
        let solve = self.solver.solve(problem, impulses, &mut work.solver);
        times.solve = clock.lap();

        // End of step: v = v_free + M⁻¹ H I, then q = q_m + θ h v.                       (28), (30)
        if let Delassus::Factored(w) = &problem.w {
            w.velocity_change(impulses, change);
        }
        dynamics.apply(change, v_next);
        scene.integrate(q_m, v_next, theta * dt, &mut next.q);
        dynamics.finish_spin(scene, q_m, theta * dt, &mut next.q, v_next);
        if let Err(error) = check_finite(scene, &next.q, v_next, next_time(state, dt)) {
            // Nobody shall read the impulses of a step that did not happen.
            impulses.clear();
            return Err(error);
        }

        contacts.remember(scene, q_m, v_next, dt, problem, impulses, &mut next.warm_start);
        std::mem::swap(&mut next.v, v_next);
        next.step = state.step + 1;
        next.t = next_time(state, dt);
        std::mem::swap(state, next);
        times.update = clock.lap();
        Ok(StepReport {
            contacts: problem.len(),
            pairs: contacts.detector().n_pairs(),
            solve,
            penetration: contacts.penetration(),
            times,
        })
    }
}

/// End of the step that begins at `state` [s]: a multiple of `dt` where all steps were of this length, so that rounding
/// does not add up.
fn next_time(state: &State, dt: f64) -> f64 {
    let even = state.step as f64 * dt;
    if (state.t - even).abs() <= 1e-9 * dt { (state.step + 1) as f64 * dt } else { state.t + dt }
}

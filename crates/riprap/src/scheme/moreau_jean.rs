//! The Moreau–Jean θ scheme: Algorithm 1 of the paper.

use super::{Lap, Scheme, StageTimes, StepError, StepReport, Workspace};
use super::{check_dt, check_finite, next_time};
use crate::friction::{Coloured, ContactSolver, Delassus};
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
        MoreauJean { dt, theta: 0.5, solver: Box::new(Coloured::default()) }
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

    /// Advances `state` by one step of Algorithm 1. On error, `state` is left untouched.
    fn step(
        &self,
        scene: &Scene,
        state: &mut State,
        work: &mut Workspace,
    ) -> Result<StepReport, StepError> {
        self.check(scene)?;
        let (dt, theta) = (self.dt, self.theta);
        let Workspace { q_m, dynamics, mechanisms, contacts, problem, .. } = work;
        let (impulses, change, next) = (&mut work.impulses, &mut work.change, &mut work.next);
        let mut clock = Lap(Instant::now());
        let mut times = StageTimes::default();
        let t_next = next_time(state, dt);

        // Predict: q_m = q_n + (1−θ) h v_n, then close the loops, h_B(q_m) = 0.               (29), (16)
        scene.integrate(&state.q, &state.v, (1.0 - theta) * dt, q_m);
        mechanisms.predict(scene, state, dt, theta, q_m)?;

        // Free motion, as if no contact pushed back: v_free = v_n + h M⁻¹ f.                  (25), (28)
        dynamics.evaluate(scene, state, q_m, t_next, dt, theta);
        let (v_n, v_free) = dynamics.velocities_mut();
        mechanisms.free_motion(scene, state, dt, theta, q_m, v_n, v_free)?;
        check_finite(scene, q_m, dynamics.free_velocity(), t_next)?;
        times.free = clock.lap();

        // The contact problem in the local frames: V = V_free + W I.                     (8), (27), (31)
        contacts.detect(scene, q_m, dynamics.free_velocity(), dt);
        times.detect = clock.lap();
        contacts.assemble(scene, state, dynamics, mechanisms, q_m, dt, problem);

        // Impulses that satisfy Signorini and Coulomb, starting from the last ones.      (6), (7), (33)
        contacts.recall(scene, dynamics, q_m, state, dt, problem, impulses);
        times.assemble = clock.lap();
        let solve = self.solver.solve(problem, impulses, &mut work.solver);
        times.solve = clock.lap();

        // End of step: v = v_free + M⁻¹ H I, then q = q_m + θ h v.                       (28), (30)
        if let Delassus::Factored(w) = &problem.w {
            w.velocity_change(impulses, change);
        }
        dynamics.apply(change, &mut next.v);
        scene.integrate(q_m, &next.v, theta * dt, &mut next.q);
        dynamics.finish_spin(scene, q_m, theta * dt, &mut next.q, &mut next.v);
        contacts.project_joints(scene, &mut next.q);

        // Dependent joints follow the independent ones: h_B(q) = 0, v_dep = B v_ind.          (16), (20)
        let pushes = |mechanism| contacts.pushes(scene, mechanism, impulses);
        let finished = mechanisms.finish(scene, state, change, pushes, dt, theta, next);
        let finite = check_finite(scene, &next.q, &next.v, t_next);
        let loop_residual = match finished.map_err(StepError::from).and_then(|r| finite.map(|()| r))
        {
            Ok(residual) => residual,
            Err(error) => {
                // Nobody shall read the impulses of a step that did not happen.
                impulses.clear();
                return Err(error);
            }
        };

        // Nothing fails from here on: what was remembered gives its place to what is.
        std::mem::swap(&mut state.warm_start, &mut next.warm_start);
        contacts.remember(scene, q_m, dt, problem, impulses, next);
        next.step = state.step + 1;
        next.t = t_next;
        std::mem::swap(state, next);
        times.update = clock.lap();
        Ok(StepReport {
            contacts: contacts.active().len(),
            pairs: contacts.detector().n_pairs(),
            solve,
            penetration: contacts.penetration(),
            loop_residual,
            times,
        })
    }
}

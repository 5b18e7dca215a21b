//! The start of a step: positions, velocities, and accelerations consistent with the constraints.

use super::newton::Newton;
use crate::assembly::equations::{Bilateral, Equations, switch_controls};
use crate::friction::Condition;
use crate::scene::{Scene, SchemeState, State, Twist};
use crate::scheme::StepError;

impl Newton {
    /// Takes over the state at the start of a step. In the first step, accelerations follow from the
    /// equations of motion with bilateral constraints.
    pub(super) fn begin(&mut self, scene: &Scene, state: &State) -> Result<(), StepError> {
        if !self.e.belong_to(scene) {
            *self = Newton::default();
            self.e = Equations::new(scene);
            self.bilateral = Bilateral::new(scene);
        }
        self.bilateral.choose(state);
        self.e.read(scene, state, &mut self.at_n, &mut self.v_n);
        switch_controls(scene, state, &mut self.controls);
        self.twists_n.clone_from(&state.v);
        self.extent = self.e.extent(&self.at_n);
        self.step_contacts.clear();
        let n = self.e.n_v();
        self.lambda.clear();
        self.is_coupled = false;
        if let SchemeState::GeneralizedAlpha(alpha) = &state.scheme
            && alpha.acceleration.len() == n
            && alpha.pseudo_acceleration.len() == n
        {
            self.is_coupled = alpha.coupled;
            self.acceleration_n.clone_from(&alpha.acceleration);
            self.pseudo_n.clone_from(&alpha.pseudo_acceleration);
            return Ok(());
        }
        self.consistent_acceleration(scene, state)?;
        self.pseudo_n.clone_from(&self.acceleration_n);
        Ok(())
    }

    /// `M v̇ = f + g_qᵀ λ` with `g_q v̇ = −ġ_q v` at the start of a step.
    fn consistent_acceleration(&mut self, scene: &Scene, state: &State) -> Result<(), StepError> {
        let Newton { e, bilateral, groups, at_n, v_n, acceleration_n, mixed, .. } = self;
        let n = e.n_v();
        acceleration_n.clear();
        acceleration_n.resize(n, 0.0);
        let mut speeds = v_n.clone();
        e.prescribe(scene, state.t, &mut speeds, acceleration_n);
        let prescribed = acceleration_n.clone();
        let mut at = at_n.clone();
        e.place(scene, &mut at, v_n, &state.v);
        let law = (state.t, &self.controls[..]);
        groups.evaluate(scene, e, &at, (v_n, acceleration_n), law, false);
        groups.factor_mass(e).map_err(|i| no_inertia(scene, e, i, state.t))?;
        let mut a: Vec<f64> = groups.residual.iter().map(|r| -r).collect();
        groups.solve_mass(e, &mut a);
        // Evaluated with accelerations in place of velocities, the prescribed part of a row is that
        // of the acceleration; bodies with a prescribed motion count as unaccelerated.
        let still = vec![Twist::default(); state.q.len()];
        e.place(scene, &mut at, &prescribed, &still);
        bilateral.evaluate(scene, &at, e, &prescribed);
        let m = bilateral.len();
        mixed.reset(m);
        mixed.x.fill(0.0);
        let mut solved = vec![vec![0.0; n]; m];
        for (i, x) in solved.iter_mut().enumerate() {
            bilateral.rows.add_to(i, 1.0, x);
            groups.solve_mass(e, x);
        }
        e.place(scene, &mut at, v_n, &state.v);
        for i in 0..m {
            let mut drift = bilateral.rows.velocity(i, &a);
            bilateral.second(scene, &at, e, i, |k, l, d| drift += d * v_n[k] * v_n[l]);
            mixed.b[i] = drift;
            for (j, x) in solved.iter().enumerate() {
                mixed.d[i * m + j] = bilateral.rows.dot(i, x);
            }
            mixed.conditions.push(Condition::Bilateral);
        }
        mixed.solve();
        for (x, lambda) in solved.iter().zip(&mixed.x) {
            for (a, x) in a.iter_mut().zip(x) {
                *a += lambda * x;
            }
        }
        for (i, to) in acceleration_n.iter_mut().enumerate() {
            *to = if e.prescribed()[i] { prescribed[i] } else { a[i] };
        }
        Ok(())
    }
}

/// The error for a velocity without inertia.
pub(super) fn no_inertia(scene: &Scene, e: &Equations, i: usize, t: f64) -> StepError {
    StepError::NoInertia { what: e.name(scene, i), t }
}

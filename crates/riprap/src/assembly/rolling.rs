//! Rolling friction: a moment against the relative spin of two bodies in contact.
//!
//! A moment between two bodies, at most `ρ r ‖I‖` over a step with the contact impulse `I` of the step before (which is at hand,
//! and in a pile at rest the same), and never more than stops their relative spin. So it takes energy out and never puts any in,
//! and keeps the angular momentum. It enters the free motion like any force: the contact problem stays Signorini's and Coulomb's.

use super::Dynamics;
use crate::scene::{Scene, State};

impl Dynamics {
    /// Slows the free spins by the rolling friction of the last step's contacts.
    pub fn resist_rolling(&mut self, scene: &Scene, state: &State) {
        if !scene.pairs.has_rolling_friction() {
            return;
        }
        let (colliders, bodies) = (scene.colliders(), scene.bodies());
        for c in &state.warm_start {
            // Chosen points stand after all colliders.
            if c.colliders[1] as usize >= colliders.len() {
                continue;
            }
            let [a, b] = c.colliders.map(|k| &colliders[k as usize]);
            let rolling = scene.pairs.rolling_friction(a.material, b.material);
            let [i, j] = [a.body as usize, b.body as usize];
            let carried = |k: usize| bodies.carried[k].is_some() && !bodies.movable[k];
            if rolling == 0.0 || carried(i) || carried(j) {
                continue;
            }
            let spin = self.v_free[j].angular - self.v_free[i].angular;
            let speed = spin.norm();
            if speed == 0.0 {
                continue;
            }
            let axis = spin / speed;
            let (turn_i, turn_j) = (self.inverse_inertia[i] * axis, self.inverse_inertia[j] * axis);
            let mobility = axis.dot(&(turn_i + turn_j));
            let radius = 0.5 * super::contacts::smaller_size(scene, i, j);
            let impulse = crate::math::Vec3::from(c.impulse_w).norm();
            let moment = (rolling * radius * impulse).min(speed / mobility);
            if moment.is_finite() {
                self.v_free[i].angular += turn_i * moment;
                self.v_free[j].angular -= turn_j * moment;
            }
        }
    }
}

//! The state before a step, to which a simulation returns if a callable raises. Its memory is reused from step to step.

use riprap::scene::State;

/// The state before the last step.
#[derive(Default)]
pub struct Backup(State);

impl Backup {
    /// Copies a state.
    pub fn keep(&mut self, state: &State) {
        let State {
            t,
            step,
            q,
            v,
            mechanisms,
            flexible,
            joint_impulses,
            ropes,
            warm_start,
            warm_moments,
            scheme,
            degradation,
            population,
        } = state;
        let kept = &mut self.0;
        (kept.t, kept.step) = (*t, *step);
        kept.q.clone_from(q);
        kept.v.clone_from(v);
        kept.mechanisms.clone_from(mechanisms);
        kept.flexible.clone_from(flexible);
        kept.joint_impulses.clone_from(joint_impulses);
        kept.ropes.clone_from(ropes);
        kept.warm_start.clone_from(warm_start);
        kept.warm_moments.clone_from(warm_moments);
        kept.scheme.clone_from(scheme);
        kept.degradation.clone_from(degradation);
        kept.population.clone_from(population);
    }

    /// The state that was copied last.
    pub fn state(&self) -> State {
        self.0.clone()
    }
}

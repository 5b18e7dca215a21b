//! Smooth motion of mechanisms to high accuracy: each step advances by `dt`, or to the end of the run, with as many adaptive
//! steps of Dormand and Prince's pair as the tolerance asks for. No contacts: what has shapes passes through each other.

use super::{Clock, Scheme, StepError, StepReport, StepResult, Workspace, check_dt, next_time};
use crate::friction::SolveReport;
use crate::math::Buffers;
use crate::multibody::{MultibodyScratch, SmoothHistory, SmoothScratch};
use crate::scene::{Scene, SchemeState, State, place_links};

/// Adaptive integration of mechanisms, orders 5 and 4.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DormandPrince {
    /// Time between two states that observers see [s]; the steps inside are chosen by the tolerance.
    pub dt: f64,
    /// Relative error that each inner step may make [–].
    pub tolerance: f64,
}

impl DormandPrince {
    /// The scheme at a relative tolerance of 1e-9, seen every `dt` [s].
    pub fn new(dt: f64) -> DormandPrince {
        DormandPrince { dt, tolerance: 1e-9 }
    }

    /// Sets the relative tolerance [–].
    pub fn tolerance(mut self, tolerance: f64) -> DormandPrince {
        self.tolerance = tolerance;
        self
    }
}

impl Scheme for DormandPrince {
    fn dt(&self) -> f64 {
        self.dt
    }

    fn check(&self, scene: &Scene) -> Result<(), StepError> {
        check_dt(self.dt)?;
        if !(1e-14..=1e-2).contains(&self.tolerance) {
            let (what, range) = ("the tolerance", "between 1e-14 and 1e-2");
            return Err(StepError::BadParameter { what, value: self.tolerance, range });
        }
        let bodies = scene.bodies();
        match (0..bodies.len()).find(|&i| {
            bodies.carried[i].is_none() && (bodies.movable[i] || bodies.motion[i].is_some())
        }) {
            Some(i) => Err(StepError::NeedsContacts { body: bodies.names[i].clone() }),
            None => Ok(()),
        }
    }

    fn step(&self, scene: &Scene, state: &mut State, work: &mut Workspace) -> StepResult {
        self.step_to(next_time(state, self.dt), scene, state, work)
    }

    /// The last step of a run is shorter where the end is no multiple of `dt`.
    fn chooses_steps(&self) -> bool {
        true
    }

    fn advance_to(
        &self,
        t: f64,
        scene: &Scene,
        state: &mut State,
        work: &mut Workspace,
    ) -> StepResult {
        let t_next = next_time(state, self.dt);
        // What is left after a whole step must not be mere rounding.
        let t_next =
            if (t_next - t).abs() <= 1e-9 * self.dt { t_next.max(t) } else { t_next.min(t) };
        self.step_to(t_next, scene, state, work)
    }
}

/// Scratch of the integrator for each mechanism.
#[derive(Default)]
struct Integrators(Vec<(SmoothScratch, MultibodyScratch)>);

impl Buffers for Integrators {}

impl DormandPrince {
    /// One step that ends at `t_next` [s].
    fn step_to(
        &self,
        t_next: f64,
        scene: &Scene,
        state: &mut State,
        work: &mut Workspace,
    ) -> StepResult {
        self.check(scene)?;
        let (mut clock, dt) = (Clock::default(), t_next - state.t);
        work.next.clone_from(state);
        let Workspace { next, scheme, .. } = work;
        let residual = clock.free(|| self.advance(scene, state, t_next, scheme.of(), next))?;
        state.become_next(next, t_next);
        let solve = SolveReport { converged: true, ..SolveReport::default() };
        let times = clock.times;
        Ok(StepReport { dt, solve, loop_residual: residual, times, ..Default::default() })
    }

    /// Advances all mechanisms to `t_next`; gives the largest residual of the loops [m, –].
    fn advance(
        &self,
        scene: &Scene,
        state: &State,
        t_next: f64,
        Integrators(scratch): &mut Integrators,
        next: &mut State,
    ) -> Result<f64, StepError> {
        let systems = scene.mechanisms();
        if scratch.len() != systems.len() {
            *scratch = systems.iter().map(|s| (SmoothScratch::default(), s.scratch())).collect();
        }
        let mut histories = match &state.scheme {
            SchemeState::DormandPrince(known) if known.len() == systems.len() => known.clone(),
            _ => vec![SmoothHistory::default(); systems.len()],
        };
        let mut residual = 0.0_f64;
        for (k, (system, (smooth, work))) in systems.iter().zip(scratch).enumerate() {
            let moving = &mut next.mechanisms[k];
            let (t, past, tolerance) = (state.t, &mut histories[k], self.tolerance);
            let moved = system.advance(moving, t, t_next, tolerance, past, smooth, work)?;
            residual = residual.max(moved.loop_residual);
            let links = scene.links_of(k);
            let (q, v) = (&mut next.q[links.clone()], &mut next.v[links.clone()]);
            place_links(system, moving, work, &scene.bodies().centre[links], q, v);
        }
        next.scheme = SchemeState::DormandPrince(histories);
        Ok(residual)
    }
}

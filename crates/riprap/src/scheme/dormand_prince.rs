//! Smooth motion of mechanisms to high accuracy: each step advances by `dt` with as many adaptive steps of Dormand and
//! Prince's pair as the tolerance asks for. No contacts: what has shapes passes through each other.

use super::{Lap, Scheme, StageTimes, StepError, StepReport, Workspace, check_dt, next_time};
use crate::friction::SolveReport;
use crate::multibody::SmoothScratch;
use crate::scene::{Scene, State, place_links};
use std::time::Instant;

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

    fn step(
        &self,
        scene: &Scene,
        state: &mut State,
        work: &mut Workspace,
    ) -> Result<StepReport, StepError> {
        self.check(scene)?;
        let mut clock = Lap(Instant::now());
        let t_next = next_time(state, self.dt);
        let systems = scene.mechanisms();
        if work.smooth.len() != systems.len() {
            work.smooth = systems.iter().map(|s| (SmoothScratch::default(), s.scratch())).collect();
        }
        let next = &mut work.next;
        next.clone_from(state);
        let mut residual = 0.0_f64;
        for (k, (system, (smooth, scratch))) in systems.iter().zip(&mut work.smooth).enumerate() {
            let moving = &mut next.mechanisms[k];
            let mut dt = moving.smooth_dt;
            let moved = system.advance(
                moving,
                state.t,
                t_next,
                self.tolerance,
                &mut dt,
                smooth,
                scratch,
            )?;
            moving.smooth_dt = dt;
            residual = residual.max(moved.loop_residual);
            let links = scene.links_of(k);
            let (q, v) = (&mut next.q[links.clone()], &mut next.v[links.clone()]);
            place_links(system, moving, scratch, &scene.bodies().centre[links], q, v);
        }
        next.step = state.step + 1;
        next.t = t_next;
        std::mem::swap(state, next);
        let times = StageTimes { free: clock.lap(), ..StageTimes::default() };
        let solve = SolveReport { converged: true, ..SolveReport::default() };
        Ok(StepReport { solve, loop_residual: residual, times, ..StepReport::default() })
    }
}

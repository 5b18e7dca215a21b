//! Smooth motion of mechanisms to high accuracy: each step advances by `dt`, or to the end of the
//! run, with as many adaptive steps of the Dormand–Prince pair as the tolerance requires. There are no
//! contacts: shapes pass through each other.

use super::{
    Clock, Pulse, Scheme, StepError, StepReport, StepResult, Workspace, check_dt, check_no_ropes,
    check_no_servos, next_time,
};
use crate::friction::SolveReport;
use crate::math::Buffers;
use crate::multibody::{MotionError, MultibodyScratch, SmoothHistory, SmoothScratch};
use crate::scene::{Scene, SchemeState, State, place_links};
use std::sync::Arc;

/// Adaptive integration of mechanisms, orders 5 and 4.
///
/// ```
/// use riprap::prelude::*;
///
/// // A pendulum of 1 m, released at 0.1 rad.
/// let mut m = Mechanism::new("pendulum");
/// let bob = MassProperties::point(1.0, [0.0, 0.0, -1.0]);
/// let arm = m.revolute(GROUND, Axis::Y, [0.0; 3], bob);
/// m.start(m.coordinate(arm, 0), 0.1);
/// let mut scene = Scene::builder();
/// let id = scene.add_mechanism(m);
///
/// let scheme = DormandPrince::new(0.1).tolerance(1e-10); // steps of 0.1 s at most
/// let mut run = Simulation::new(scene.build()?, scheme)?;
/// let energy = |run: &Simulation| run.frame().balance().kinetic + run.frame().balance().potential;
/// let start = energy(&run);
/// run.until(2.0, &mut ())?;
/// assert!((energy(&run) - start).abs() < 1e-7);
/// assert!(run.state().mechanisms[id.index()].q[0].abs() <= 0.1 + 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DormandPrince {
    /// Time between two states seen by observers [s]; the inner steps are chosen by the tolerance.
    pub dt: f64,
    /// Relative error allowed in each inner step [–].
    pub tolerance: f64,
}

impl DormandPrince {
    /// The scheme with a relative tolerance of 1e-9, observed every `dt` [s].
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
        check_no_servos("dormand-prince", scene)?;
        check_no_ropes("dormand-prince", scene)?;
        let bodies = scene.bodies();
        if let Some(insertion) = scene.population().and_then(|p| p.insertions.first()) {
            return Err(StepError::NeedsContacts { body: format!("{}-1", insertion.name) });
        }
        let is_node = |i: usize| scene.node_at(i).is_some();
        match (0..bodies.len()).find(|&i| {
            bodies.carried[i].is_none()
                && (bodies.movable[i] || bodies.motion[i].is_some() || is_node(i))
        }) {
            Some(i) => Err(StepError::NeedsContacts { body: bodies.names[i].clone() }),
            None => Ok(()),
        }
    }

    fn step(&self, scene: &Scene, state: &mut State, work: &mut Workspace) -> StepResult {
        self.step_to(next_time(state, self.dt), scene, state, work)
    }

    /// The last step of a run is shorter if the end is not a multiple of `dt`.
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
        // The remainder after a whole step must not be a rounding error.
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
        let Workspace { next, scheme, pulse, .. } = work;
        let scratch: &mut Integrators = scheme.of();
        let residual = clock.free(|| self.advance(scene, state, t_next, pulse, scratch, next))?;
        state.become_next(next, t_next);
        let solve = SolveReport { converged: true, ..SolveReport::default() };
        let times = clock.times;
        Ok(StepReport { dt, solve, loop_residual: residual, times, ..Default::default() })
    }

    /// Advances all mechanisms to `t_next`; returns the largest residual of the loops [m, –].
    fn advance(
        &self,
        scene: &Scene,
        state: &State,
        t_next: f64,
        pulse: &Option<Arc<Pulse>>,
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
            smooth.pulse.clone_from(pulse);
            let moved = system.advance(moving, t, t_next, tolerance, past, smooth, work);
            let moved = moved.map_err(|error| match error {
                MotionError::Interrupted { .. } => StepError::Interrupted { t },
                error => error.into(),
            })?;
            residual = residual.max(moved.loop_residual);
            let links = scene.links_of(k);
            let (q, v) = (&mut next.q[links.clone()], &mut next.v[links.clone()]);
            place_links(system, moving, work, &scene.bodies().centre[links], q, v);
        }
        next.scheme = SchemeState::DormandPrince(histories);
        Ok(residual)
    }
}

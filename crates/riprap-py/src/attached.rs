//! A scheme for scenes with callables. A step of a large scene runs on a worker thread, where every call of a callable would
//! create a thread state of the interpreter; the step keeps one instead.

use riprap::scene::{Scene, State};
use riprap::scheme::{Scheme, StepError, StepResult, Workspace};

use crate::exit;

/// A scheme whose steps keep a thread state of the interpreter.
pub struct Attached(pub Box<dyn Scheme>);

/// Runs a step detached, with a thread state that callables attach to.
fn with_thread_state(step: impl FnOnce() -> StepResult + Send) -> StepResult {
    // Only the interpreter's end makes attaching impossible, and that waits for this thread.
    exit::attach(|py| exit::detach(py, step)).expect("an interpreter that runs")
}

impl Scheme for Attached {
    fn dt(&self) -> f64 {
        self.0.dt()
    }

    fn check(&self, scene: &Scene) -> Result<(), StepError> {
        self.0.check(scene)
    }

    fn step(&self, scene: &Scene, state: &mut State, work: &mut Workspace) -> StepResult {
        with_thread_state(|| self.0.step(scene, state, work))
    }

    fn chooses_steps(&self) -> bool {
        self.0.chooses_steps()
    }

    fn advance_to(
        &self,
        t: f64,
        scene: &Scene,
        state: &mut State,
        work: &mut Workspace,
    ) -> StepResult {
        with_thread_state(|| self.0.advance_to(t, scene, state, work))
    }
}

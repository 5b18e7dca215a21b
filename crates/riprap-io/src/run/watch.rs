//! Observation of a run: the [`Watch`] trait and its events.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use riprap::scene::Continued;
use riprap::scheme::Pulse;
use riprap::simulation::{Frame, Observer};

use super::problems::Problems;
use crate::build::Settled;
use crate::output::RunWriter;

/// Observes a run, for progress bars and logs. To end the run, set [`super::Options::interrupt`].
pub trait Watch {
    /// Called at the start of a phase and after every step.
    fn step(&mut self, _phase: Phase, _frame: &Frame) {}

    /// Called for all other events.
    fn event(&mut self, _event: Event) {}
}

/// Ignores everything.
impl Watch for () {}

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Grains settle before t = 0.
    Settling,
    /// The run itself.
    Running,
}

/// An event during a run other than a step.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The run continues from a checkpoint.
    Resumed {
        /// Its time [s].
        time: f64,
        /// Number of steps up to then.
        step: u64,
    },
    /// A settled bed is read from a file.
    BedTaken {
        /// The file.
        path: &'a Path,
        /// Number of grains that have settled.
        grains: usize,
        /// The bed.
        bed: &'a Settled,
    },
    /// The file of a cached bed cannot be used; the grains settle again.
    BedRefused {
        /// Why.
        error: &'a crate::Error,
    },
    /// The file system has no locks: nothing prevents another run from writing to the same folder.
    NotLocked {
        /// The folder of the run.
        folder: &'a Path,
    },
    /// Another process is settling the same bed; the run waits for it.
    BedAwaited {
        /// Which process, on which machine, since when.
        holder: &'a str,
    },
    /// Steps consist of many inner steps; the pulse shows their progress and can be read from any thread.
    InnerSteps {
        /// The pulse.
        pulse: &'a Arc<Pulse>,
    },
    /// The file of the bed that a resumed run started from has changed since.
    BedChanged {
        /// The file.
        path: &'a Path,
    },
    /// The run starts from the end of another one.
    StartedFrom {
        /// The file with its state.
        file: &'a Path,
        /// What carries over and what does not.
        report: &'a Continued,
    },
    /// The run that a resumed run started from has changed since.
    OriginChanged,
    /// A phase starts.
    PhaseStarted {
        /// Which one.
        phase: Phase,
        /// Latest end time [s].
        end: f64,
    },
    /// A phase is over.
    PhaseEnded {
        /// Which one.
        phase: Phase,
    },
    /// Settling has ended without being interrupted.
    Settled {
        /// The bed; [`Settled::calm`] is true if its grains came to rest.
        bed: &'a Settled,
    },
    /// A settled bed is stored in a file.
    BedKept {
        /// The file.
        path: &'a Path,
        /// Number of grains that have settled.
        grains: usize,
    },
    /// A settled bed cannot be stored; the run continues.
    BedNotKept {
        /// Why.
        error: &'a crate::Error,
    },
    /// A checkpoint is written because the run was interrupted.
    CheckpointWritten,
    /// A rope breaks.
    RopeBroken {
        /// Its name.
        rope: &'a str,
        /// When [s].
        time: f64,
        /// The mean tension that broke it [N].
        tension: f64,
    },
}

/// Passes every step to the watch and to the writers.
pub(super) struct Stepping<'a> {
    pub phase: Phase,
    pub watch: &'a mut dyn Watch,
    pub problems: Option<Problems>,
    /// `None` while grains settle: settling writes no output.
    pub writer: Option<&'a mut RunWriter>,
    pub interrupt: &'a AtomicBool,
}

impl Observer for Stepping<'_> {
    fn observe(&mut self, frame: &Frame) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.watch.step(self.phase, frame);
        report_broken(self.watch, frame);
        if let Some(problems) = &self.problems {
            problems.write(frame)?;
        }
        match &mut self.writer {
            Some(writer) => writer.observe(frame),
            None => Ok(()),
        }
    }

    fn stop(&self) -> bool {
        let stopped = self.writer.as_ref().is_some_and(|writer| writer.stopped().is_some());
        stopped || self.interrupt.load(Ordering::Relaxed)
    }
}

/// Reports the ropes that have broken in the last step.
fn report_broken(watch: &mut dyn Watch, frame: &Frame) {
    for (rope, state) in frame.scene.ropes().iter().zip(&frame.state.ropes) {
        let now = |time: &f64| (frame.state.t - time).abs() < 0.5 * frame.dt;
        if let Some(time) = state.broken.filter(now) {
            let tension = state.tension(frame.dt);
            watch.event(Event::RopeBroken { rope: &rope.name, time, tension });
        }
    }
}

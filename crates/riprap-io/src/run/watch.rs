//! Who looks on while a run goes on, and what is shown to it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use riprap::scheme::Pulse;
use riprap::simulation::{Frame, Observer};

use super::problems::Problems;
use crate::build::Settled;
use crate::output::RunWriter;

/// Looks on while a run goes on: progress bars, logs. To end the run, set [`super::Options::interrupt`].
pub trait Watch {
    /// Called at the start of a phase and after every step.
    fn step(&mut self, _phase: Phase, _frame: &Frame) {}

    /// Called for everything else.
    fn event(&mut self, _event: Event) {}
}

/// Looks at nothing.
impl Watch for () {}

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Grains come to rest before the time starts.
    Settling,
    /// The run itself.
    Running,
}

/// Something that happens during a run besides its steps.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The run continues from a checkpoint.
    Resumed {
        /// Its time [s].
        time: f64,
        /// Steps made until then.
        step: u64,
    },
    /// A settled bed is taken from a file.
    BedTaken {
        /// The file.
        path: &'a Path,
        /// Number of grains that have settled.
        grains: usize,
        /// The bed.
        bed: &'a Settled,
    },
    /// The file of a kept bed cannot be used; the grains settle again.
    BedRefused {
        /// Why.
        error: &'a crate::Error,
    },
    /// The file system has no locks: nothing keeps another run from writing to the same folder.
    NotLocked {
        /// The folder of the run.
        folder: &'a Path,
    },
    /// Another process settles the same bed; its bed is waited for.
    BedAwaited {
        /// Which process, on which machine, since when.
        holder: &'a str,
    },
    /// Steps consist of many inner ones; the pulse tells how far they are, from any thread.
    InnerSteps {
        /// The pulse.
        pulse: &'a Arc<Pulse>,
    },
    /// The bed that a resumed run had started from is kept in a file, and that has changed since.
    BedChanged {
        /// The file.
        path: &'a Path,
    },
    /// A phase starts.
    PhaseStarted {
        /// Which one.
        phase: Phase,
        /// Time at which it ends, at the latest [s].
        end: f64,
    },
    /// A phase is over.
    PhaseEnded {
        /// Which one.
        phase: Phase,
    },
    /// Settling is over, and was not interrupted.
    Settled {
        /// The bed; [`Settled::calm`] tells whether its grains came to rest.
        bed: &'a Settled,
    },
    /// A settled bed is kept in a file.
    BedKept {
        /// The file.
        path: &'a Path,
        /// Number of grains that have settled.
        grains: usize,
    },
    /// A settled bed cannot be kept; the run goes on.
    BedNotKept {
        /// Why.
        error: &'a crate::Error,
    },
    /// A checkpoint is written because the run was interrupted.
    CheckpointWritten,
}

/// Shows every step to the watch and hands it to the writers.
pub(super) struct Stepping<'a> {
    pub phase: Phase,
    pub watch: &'a mut dyn Watch,
    pub problems: Option<Problems>,
    /// `None` while grains settle: nothing is written of it.
    pub writer: Option<&'a mut RunWriter>,
    pub interrupt: &'a AtomicBool,
}

impl Observer for Stepping<'_> {
    fn observe(&mut self, frame: &Frame) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.watch.step(self.phase, frame);
        if let Some(problems) = &self.problems {
            problems.write(frame)?;
        }
        match &mut self.writer {
            Some(writer) => writer.observe(frame),
            None => Ok(()),
        }
    }

    fn stop(&self) -> bool {
        self.interrupt.load(Ordering::Relaxed)
    }
}

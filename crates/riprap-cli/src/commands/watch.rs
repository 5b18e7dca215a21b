//! Display of a run on the terminal: a progress line for each phase and a line for each event.

use riprap::simulation::Frame;
use riprap_io::run::{Event, Phase, Watch};

use crate::progress::{Progress, duration};
use crate::text::{counted, grouped, number, plural};

/// Shows a run on standard error.
#[derive(Default)]
pub struct Terminal {
    progress: Option<Progress>,
}

impl Watch for Terminal {
    fn step(&mut self, _: Phase, frame: &Frame) {
        if let Some(progress) = &mut self.progress {
            progress.step(frame);
        }
    }

    fn event(&mut self, event: Event) {
        match event {
            Event::PhaseStarted { phase, end } => {
                let word = match phase {
                    Phase::Settling => "settling",
                    Phase::Running => "running",
                };
                self.progress = Some(Progress::new(word, end));
            }
            Event::PhaseEnded { .. } => {
                if let Some(mut progress) = self.progress.take() {
                    progress.finish();
                }
            }
            Event::Resumed { time, step } => {
                let steps = counted(step as usize, "step");
                eprintln!("resumed at t = {} s ({steps})", number(time));
            }
            Event::BedTaken { path, grains, bed } => {
                let (grains, path, time) = (stones(grains), path.display(), number(bed.time));
                eprintln!("bed of {grains} read from {path}, settled for {time} s");
                if !bed.calm {
                    eprintln!("warning: its grains have not come to rest");
                }
            }
            Event::BedRefused { error } => eprintln!("warning: {error}; the bed is regenerated"),
            Event::BedChanged { path } => eprintln!(
                "warning: the bed in {} is not the one this run started from: its hash differs from that in summary.json",
                path.display()
            ),
            Event::StartedFrom { file, report } => {
                eprintln!("starting from {}", file.display());
                for line in report.lines() {
                    eprintln!("  {line}");
                }
            }
            Event::OriginChanged => eprintln!(
                "warning: the run that this one started from has changed since: its hash differs from that in summary.json"
            ),
            Event::BedAwaited { holder } => {
                eprintln!("the bed is being settled by {holder}; waiting for it");
            }
            Event::NotLocked { folder } => eprintln!(
                "warning: the file system of {} does not support locks; make sure that no other run writes to it",
                folder.display()
            ),
            Event::InnerSteps { pulse } => {
                if let Some(progress) = &mut self.progress {
                    progress.look_into(pulse);
                }
            }
            Event::Settled { bed } => {
                let (time, wall) = (number(bed.time), duration(bed.report.wall));
                match bed.calm {
                    true => {
                        let steps = counted(bed.report.steps as usize, "step");
                        eprintln!("settled after {time} s ({steps}, {wall})")
                    }
                    false => eprintln!(
                        "warning: the grains have not come to rest after {time} s ({wall})"
                    ),
                }
            }
            Event::BedKept { path, grains } => {
                eprintln!("bed of {} stored in {}", stones(grains), path.display());
            }
            Event::BedNotKept { error } => eprintln!("warning: the bed was not stored: {error}"),
            Event::RopeBroken { rope, time, tension } => {
                eprintln!("warning: rope `{rope}` broke at t = {time:.6} s under {tension:.4e} N");
            }
            Event::CheckpointWritten => {
                eprintln!("checkpoint written: use --resume to continue from here");
            }
            _ => {}
        }
    }
}

/// A number of grains with its noun.
pub fn stones(n: usize) -> String {
    format!("{} grain{}", grouped(n), plural(n))
}

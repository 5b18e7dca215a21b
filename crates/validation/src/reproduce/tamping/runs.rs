//! Settled beds and runs of the study, stored in its folder: finished runs are read, interrupted ones are resumed, the others are started.
//!
//! ```text
//! beds/small-seed-1.bin                                     a settled bed
//! runs/small-seed-1-1ms-1e-3/15-Hz-dynamic.bin              a run: its last checkpoint, or its final state
//! ```

use std::path::{Path, PathBuf};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

use riprap_io::kept;

use super::super::{Failure, Tell};
use crate::scenes::tamping::{Bed, Schedule, Settled};
use crate::tamping::{Accuracy, Case, Run};

/// Reads the settled bed of a description from a file, if it is stored there.
pub(super) fn kept_bed(path: &Path, bed: &Bed, tell: &mut Tell) -> Option<Settled> {
    let stored = kept::read(path, &bed_settings(bed)).unwrap_or_else(|error| {
        tell(&error.to_string());
        None
    });
    stored.and_then(|stored| Settled::restore(bed, &stored))
}

/// Everything that determines a settled bed.
fn bed_settings(bed: &Bed) -> String {
    format!("{bed:?}")
}

/// The settled bed of a description: read from the file if it matches, otherwise generated and stored there.
pub(super) fn settled_bed(path: &Path, bed: &Bed, tell: &mut Tell) -> Result<Settled, Failure> {
    if let Some(settled) = kept_bed(path, bed, tell) {
        tell(&format!("{} stones at rest from {}", settled.stones.len(), path.display()));
        return Ok(settled);
    }
    let begin = Instant::now();
    let settled = if bed.scale > 1.0 {
        // A small bed is not worth a second thread.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        pool.install(|| Settled::pour(bed, &mut |_| ()))?
    } else {
        Settled::pour(bed, tell)?
    };
    kept::write(path, &bed_settings(bed), &settled.store())?;
    let wall = begin.elapsed().as_secs_f64();
    tell(&format!("{} stones at rest after {wall:.0} s", settled.stones.len()));
    Ok(settled)
}

/// Version of the stored form of a run; incremented whenever the layout of [`Run`] changes.
const LAYOUT: u32 = 1;

/// A run to be executed and the file that stores it.
pub(super) struct Job<'a> {
    /// Name in messages.
    pub name: String,
    /// The bed.
    pub settled: &'a Settled,
    case: Case,
    schedule: Schedule,
    accuracy: Accuracy,
    path: PathBuf,
    /// Everything that determines the run.
    settings: String,
}

impl<'a> Job<'a> {
    /// A case over a bed, stored in a folder.
    pub fn new(
        settled: &'a Settled,
        case: Case,
        schedule: Schedule,
        accuracy: Accuracy,
        folder: &Path,
    ) -> Job<'a> {
        let name = case.name();
        let stones: Vec<_> = settled.stones.iter().map(|(s, pose)| (s.vertices(), pose)).collect();
        let settings = format!(
            "layout {LAYOUT}\n{name}\n{accuracy:?}\n{schedule:?}\n{:?}\n{} stones {:016x}\n",
            settled.bed,
            stones.len(),
            kept::fingerprint(&stones)
        );
        let path = folder.join(name.replace(' ', "-") + ".bin");
        Job { name, settled, case, schedule, accuracy, path, settings }
    }

    /// The job under another name.
    pub fn named(self, name: &str) -> Job<'a> {
        Job { name: name.to_owned(), ..self }
    }

    /// The stored run, if there is one.
    pub fn kept(&self, tell: &mut Tell) -> Option<Run> {
        let run: Run = match kept::read(&self.path, &self.settings) {
            Ok(run) => run?,
            Err(error) => {
                tell(&error.to_string());
                return None;
            }
        };
        let (name, t) = (&self.name, run.state.t);
        match run.is_finished() {
            true => tell(&format!("{name}: finished before, {}", self.path.display())),
            false => tell(&format!("{name}: resumes at t = {t:.2} s, {}", self.path.display())),
        }
        Some(run)
    }

    /// Runs to the end with periodic checkpoints, and reports progress once a minute.
    fn finish(&self, kept: Option<Run>, tell: &(dyn Fn(String) + Sync)) -> Result<Run, Failure> {
        let begin = || Run::begin(self.settled, self.case, self.schedule, self.accuracy);
        let mut run = kept.map_or_else(begin, Ok)?;
        let mut told = Instant::now();
        run.finish::<Failure>(self.settled, &mut |run| {
            self.keep(run)?;
            if told.elapsed() > Duration::from_secs(60) && !run.is_finished() {
                told = Instant::now();
                let (t, end, wall) = (run.state.t, run.schedule.end, run.report.wall);
                tell(format!("{}: {t:.2} s of {end:.2} s after {wall:.0} s", self.name));
            }
            Ok(())
        })?;
        Ok(run)
    }

    fn keep(&self, run: &Run) -> Result<(), riprap_io::Error> {
        kept::write(&self.path, &self.settings, run)
    }

    /// Behaves like a run killed after the checkpoint of a step.
    #[cfg(test)]
    pub fn finish_until(&self, kept: Option<Run>, step: u64) -> Result<(), Failure> {
        let begin = || Run::begin(self.settled, self.case, self.schedule, self.accuracy);
        let mut run = kept.map_or_else(begin, Ok)?;
        run.finish(self.settled, &mut |run| {
            self.keep(run)?;
            if run.state.step == step { Err("stopped".into()) } else { Ok(()) }
        })
    }

    /// Rough estimate of the cost: the number of steps, weighted because a fast flywheel moves more stones.
    fn effort(&self) -> f64 {
        let drive = if self.case.imposed { 1.1 } else { 1.0 };
        self.schedule.end / self.accuracy.dt * self.case.frequency * drive
    }
}

/// Number of parallel runs and threads per run: by default all cores, shared evenly.
fn share(cores: usize, runs: usize, threads: Option<usize>) -> (usize, usize) {
    let most = threads.map_or(cores, |n| cores / n.max(1));
    let side_by_side = most.clamp(1, runs.max(1));
    (side_by_side, threads.unwrap_or(cores / side_by_side).max(1))
}

/// A message from a worker.
enum News {
    Line(String),
    End(usize, Box<Run>),
    Failed(String),
}

/// Finishes all runs in parallel. Results are in the order of the jobs.
pub(super) fn run_all(
    jobs: &[Job],
    threads: Option<usize>,
    tell: &mut Tell,
) -> Result<Vec<Run>, Failure> {
    let mut runs: Vec<Option<Run>> = jobs.iter().map(|job| job.kept(tell)).collect();
    let unfinished = |k: &usize| !runs[*k].as_ref().is_some_and(Run::is_finished);
    let mut waiting: Vec<usize> = (0..jobs.len()).filter(unfinished).collect();
    // Jobs are taken from the end, the longest first.
    waiting.sort_by(|a, b| jobs[*a].effort().total_cmp(&jobs[*b].effort()));
    let waiting: Vec<_> = waiting.into_iter().map(|k| (k, runs[k].take())).collect();
    if waiting.is_empty() {
        return Ok(runs.into_iter().flatten().collect());
    }
    let (side_by_side, threads) = share(rayon::current_num_threads(), waiting.len(), threads);
    let waiting = Mutex::new(waiting);
    let work = |send: mpsc::Sender<News>| -> Result<(), Failure> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
        while let Some((k, kept)) = waiting.lock().ok().and_then(|mut w| w.pop()) {
            let line = |line: String| drop(send.send(News::Line(line)));
            let news = match pool.install(|| jobs[k].finish(kept, &line)) {
                Ok(run) => News::End(k, Box::new(run)),
                Err(error) => News::Failed(format!("{}: {error}", jobs[k].name)),
            };
            let _ = send.send(news);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let (send, receive) = mpsc::channel();
        let workers: Vec<_> = (0..side_by_side)
            .map(|_| {
                let send = send.clone();
                scope.spawn(|| work(send))
            })
            .collect();
        drop(send);
        let mut failed = None;
        // Ends when all workers have ended.
        for news in receive {
            match news {
                News::Line(line) => tell(&line),
                News::End(k, run) => {
                    let (name, report) = (&jobs[k].name, &run.report);
                    let (sweeps, wall) = (report.mean_sweeps(), report.wall);
                    let unconverged = report.unconverged;
                    tell(&format!(
                        "{name}: {sweeps:.0} sweeps per step, {unconverged} unconverged steps, {wall:.0} s"
                    ));
                    runs[k] = Some(*run);
                }
                News::Failed(error) => failed = Some(error),
            }
        }
        for worker in workers {
            worker.join().map_err(|_| "a run panicked")??;
        }
        failed.map_or(Ok(()), |error| Err(Failure::from(error)))
    })?;
    Ok(runs.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::share;

    #[test]
    fn cores_are_shared_evenly_unless_a_number_of_threads_is_given() {
        assert_eq!(share(2, 4, None), (2, 1));
        assert_eq!(share(16, 4, None), (4, 4));
        assert_eq!(share(8, 3, None), (3, 2));
        assert_eq!(share(2, 1, None), (1, 2));
        assert_eq!(share(16, 4, Some(8)), (2, 8));
        assert_eq!(share(2, 4, Some(8)), (1, 8));
        assert_eq!(share(64, 4, Some(1)), (4, 1));
    }
}

//! Runs of the study, stored in its folder: finished ones are read, the others are run side by side.

use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, mpsc};
use std::time::Instant;

use riprap_io::kept;

use super::super::{Failure, Tell};

/// Version of the stored form; incremented whenever a run or what it records changes.
const LAYOUT: u32 = 3;

/// What a run records: rows of numbers, whose meaning each test defines.
pub(super) type Rows = Vec<Vec<f64>>;

/// A run with everything that determines it.
pub(super) struct Job {
    name: String,
    settings: String,
    run: Box<dyn Fn() -> Result<Rows, Failure> + Send + Sync>,
}

impl Job {
    /// A run described by `of`, under a name that is unique in the study.
    pub fn new<P: Debug + Copy + Send + Sync + 'static>(
        name: String,
        of: P,
        run: fn(&P) -> Result<Rows, Failure>,
    ) -> Job {
        let settings = format!("layout {LAYOUT}\n{of:?}\n");
        Job { name, settings, run: Box::new(move || run(&of)) }
    }

    fn path(&self, folder: &Path) -> PathBuf {
        folder.join("runs").join(format!("{}.bin", self.name))
    }

    fn finish(&self, folder: &Path) -> Result<Rows, Failure> {
        let rows = (self.run)()?;
        kept::write(&self.path(folder), &self.settings, &rows)?;
        Ok(rows)
    }
}

/// The rows of all runs, in the order of the jobs. Each run has one thread, and as many run side by side as there are threads.
pub(super) fn run_all(folder: &Path, jobs: &[Job], tell: &mut Tell) -> Result<Vec<Rows>, Failure> {
    let mut found: Vec<Option<Rows>> = Vec::new();
    // Reading removes temporary files of killed processes, so nothing may be running yet.
    for job in jobs {
        found.push(kept::read(&job.path(folder), &job.settings).unwrap_or_else(|error| {
            tell(&error.to_string());
            None
        }));
    }
    let mut waiting: Vec<usize> = (0..jobs.len()).filter(|&k| found[k].is_none()).collect();
    if waiting.len() < jobs.len() {
        tell(&format!("{} of {} runs finished before", jobs.len() - waiting.len(), jobs.len()));
    }
    waiting.reverse();
    let (waiting, workers) = (Mutex::new(waiting), rayon::current_num_threads());
    let work = |send: mpsc::Sender<(usize, Result<Rows, Failure>, f64)>| -> Result<(), Failure> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        while let Some(k) = waiting.lock().ok().and_then(|mut list| list.pop()) {
            let begin = Instant::now();
            let rows = pool.install(|| jobs[k].finish(folder));
            let _ = send.send((k, rows, begin.elapsed().as_secs_f64()));
        }
        Ok(())
    };
    std::thread::scope(|scope| -> Result<(), Failure> {
        let (send, receive) = mpsc::channel();
        let workers: Vec<_> = (0..workers)
            .map(|_| {
                let send = send.clone();
                scope.spawn(|| work(send))
            })
            .collect();
        drop(send);
        let mut failed = None;
        for (k, rows, wall) in receive {
            match rows {
                Ok(rows) => {
                    tell(&format!("{}: {wall:.0} s", jobs[k].name));
                    found[k] = Some(rows);
                }
                Err(error) => failed = Some(format!("{}: {error}", jobs[k].name)),
            }
        }
        for worker in workers {
            worker.join().map_err(|_| "a run panicked")??;
        }
        failed.map_or(Ok(()), |error| Err(error.into()))
    })?;
    Ok(found.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finished_runs_are_read_and_those_with_other_settings_are_run_again() {
        let folder = std::env::temp_dir().join(format!("riprap-laboratory-{}", std::process::id()));
        let jobs = |x: f64| {
            let job = |k: u64| {
                Job::new(format!("test-{k}"), (x, k), |(x, k)| Ok(vec![vec![*x, *k as f64]]))
            };
            [job(1), job(2), job(3)]
        };
        let mut told = Vec::new();
        let mut all = |jobs: &[Job]| {
            told.clear();
            let rows = run_all(&folder, jobs, &mut |line| told.push(line.to_owned())).unwrap();
            (rows, told.clone())
        };
        let (rows, lines) = all(&jobs(0.5));
        assert_eq!(rows[2], [[0.5, 3.0]]);
        assert_eq!(lines.len(), 3);
        let (again, lines) = all(&jobs(0.5));
        assert_eq!((again, lines), (rows, vec!["3 of 3 runs finished before".to_owned()]));
        let (other, lines) = all(&jobs(0.7));
        assert_eq!(other[0], [[0.7, 1.0]]);
        assert!(lines[0].contains("computed with other settings"), "{lines:?}");
        std::fs::remove_dir_all(folder).unwrap();
    }
}

//! The files of a run, written by a separate thread during the run. Jobs are done in order. The queue is short, so that a slow disk
//! blocks the run instead of filling the memory. An error is returned by the next call to the queue.

use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::surfaces::Surfaces;
use crate::error::Error;
use crate::run_file::RunFileWriter;
use crate::run_folder::RunFolder;
use crate::table::TableWriter;

/// What a run writes to.
#[derive(Debug)]
pub(super) struct Files {
    pub folder: RunFolder,
    pub table: TableWriter,
    /// The impacts, if they are written.
    pub impacts: Option<TableWriter>,
    /// For `.vtp` files, if they are written.
    pub surfaces: Option<Surfaces>,
    /// The run file, if it is written.
    pub run: Option<RunFileWriter>,
}

/// Something to write.
type Job<F> = Box<dyn FnOnce(&mut F) -> Result<(), Error> + Send>;

/// Maximum number of waiting jobs.
const WAITING: usize = 1;

/// A thread that runs jobs with `F`. Dropping it waits until all jobs are done.
#[derive(Debug)]
pub(super) struct Queue<F> {
    /// `None` during drop.
    jobs: Option<SyncSender<Job<F>>>,
    thread: Option<JoinHandle<()>>,
    failure: Failure,
}

/// The error of a failed job, until it has been returned. Jobs submitted before that are skipped.
#[derive(Clone, Debug, Default)]
struct Failure(Arc<Mutex<Option<Error>>>);

impl Failure {
    fn get(&self) -> MutexGuard<'_, Option<Error>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<F: Send + 'static> Queue<F> {
    /// Starts the thread.
    pub fn new(mut files: F) -> Queue<F> {
        let (jobs, inbox) = mpsc::sync_channel::<Job<F>>(WAITING);
        let failure = Failure::default();
        let told = failure.clone();
        let thread = std::thread::spawn(move || {
            for job in inbox {
                if told.get().is_none()
                    && let Err(error) = job(&mut files)
                {
                    *told.get() = Some(error);
                }
            }
        });
        Queue { jobs: Some(jobs), thread: Some(thread), failure }
    }

    /// Returns the error of an earlier job, if any; all jobs submitted since have been skipped.
    pub fn check(&self) -> Result<(), Error> {
        if self.failure.get().is_none() {
            return Ok(());
        }
        self.catch_up();
        self.failure.get().take().map_or(Ok(()), Err)
    }

    /// Submits a job, unless an earlier one has failed.
    pub fn send(
        &self,
        job: impl FnOnce(&mut F) -> Result<(), Error> + Send + 'static,
    ) -> Result<(), Error> {
        self.check()?;
        self.hand_over(job);
        Ok(())
    }

    /// Waits until all jobs are done.
    pub fn wait(&self) -> Result<(), Error> {
        self.catch_up();
        self.check()
    }

    /// Submits a job, regardless of earlier failures.
    pub fn hand_over(&self, job: impl FnOnce(&mut F) -> Result<(), Error> + Send + 'static) {
        let jobs = self.jobs.as_ref().expect("taken only by `drop`");
        // The thread runs until `drop`, where joining it reveals a panic.
        let _ = jobs.send(Box::new(job));
    }

    /// Waits until all jobs are done or skipped.
    fn catch_up(&self) {
        let (done, all_done) = mpsc::channel::<()>();
        // Whether done or skipped, the job drops its end of the channel.
        self.hand_over(move |_| {
            drop(done);
            Ok(())
        });
        let _ = all_done.recv();
    }
}

impl<F> Drop for Queue<F> {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if let Some(Err(panic)) = self.thread.take().map(JoinHandle::join)
            && !std::thread::panicking()
        {
            std::panic::resume_unwind(panic);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    fn refuse() -> Error {
        Error::Data { path: "series.csv".into(), message: "the disk is full".into() }
    }

    #[test]
    fn all_jobs_are_done_in_order_before_the_queue_is_dropped() {
        let (out, seen) = mpsc::channel();
        let queue = Queue::new(0);
        for k in 0..100 {
            let out = out.clone();
            queue
                .send(move |n: &mut i32| {
                    *n += 1;
                    out.send((k, *n)).unwrap();
                    Ok(())
                })
                .unwrap();
        }
        drop((queue, out));
        assert!(seen.iter().eq((0..100).map(|k| (k, k + 1))));
    }

    #[test]
    fn no_more_jobs_wait_than_allowed() {
        let (go, gate) = mpsc::channel();
        let started = Arc::new(AtomicUsize::new(0));
        let queue = Arc::new(Queue::new(gate));
        let (sender, count) = (queue.clone(), started.clone());
        let producer = std::thread::spawn(move || {
            for _ in 0..WAITING + 3 {
                let job = |gate: &mut mpsc::Receiver<()>| {
                    let _ = gate.recv();
                    Ok(())
                };
                sender.send(job).unwrap();
                count.fetch_add(1, Ordering::SeqCst);
            }
        });
        // One running job and the waiting ones; the next one blocks its caller.
        while started.load(Ordering::SeqCst) < WAITING + 1 {
            std::thread::yield_now();
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
        assert_eq!(started.load(Ordering::SeqCst), WAITING + 1);
        drop(go);
        producer.join().unwrap();
        assert_eq!(started.load(Ordering::SeqCst), WAITING + 3);
    }

    #[test]
    fn a_failure_is_returned_once_and_later_jobs_are_skipped() {
        let queue = Queue::new(Vec::new());
        let push = |k: i32| {
            move |done: &mut Vec<i32>| {
                done.push(k);
                Ok(())
            }
        };
        queue.send(push(1)).unwrap();
        queue.send(|_| Err(refuse())).unwrap();
        // Whether the error is returned here or by `wait`, the job is not done.
        let told = queue.send(push(2)).and_then(|()| queue.wait());
        assert_eq!(told.unwrap_err().to_string(), refuse().to_string());
        queue.send(push(3)).unwrap();
        queue.wait().unwrap();
        let (out, seen) = mpsc::channel();
        let report = move |done: &mut Vec<i32>| {
            out.send(done.clone()).unwrap();
            Ok(())
        };
        queue.send(report).unwrap();
        assert_eq!(seen.recv().unwrap(), [1, 3]);
    }
}

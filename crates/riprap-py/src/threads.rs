//! How many threads a simulation uses.

use std::sync::Arc;

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors;

/// Threads of their own, or those that all simulations of the process share.
#[derive(Clone)]
pub struct Threads(Option<Arc<ThreadPool>>);

impl Threads {
    /// A number of threads; `None` for the shared ones: all cores, or as many as the environment variable RAYON_NUM_THREADS says.
    pub fn new(n: Option<usize>) -> PyResult<Threads> {
        let Some(n) = n else { return Ok(Threads(None)) };
        if !(1..=1024).contains(&n) {
            return Err(errors::value("the number of threads must be between 1 and 1024"));
        }
        let pool = ThreadPoolBuilder::new().num_threads(n).build();
        pool.map(|pool| Threads(Some(Arc::new(pool)))).map_err(errors::step)
    }

    /// Runs a function that uses these threads.
    pub fn run<T: Send>(&self, f: impl FnOnce() -> T + Send) -> T {
        match &self.0 {
            Some(pool) => pool.install(f),
            None => f(),
        }
    }

    /// Their number.
    pub fn count(&self) -> usize {
        self.0.as_ref().map_or_else(rayon::current_num_threads, |pool| pool.current_num_threads())
    }
}

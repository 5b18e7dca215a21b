//! Errors of benchmarks.

use riprap::scene::BuildErrors;
use riprap::simulation::Error;

/// Why a benchmark failed.
#[derive(Debug)]
pub enum BenchError {
    /// A file is invalid.
    File(riprap_io::Error),
    /// The scene is invalid.
    Build(BuildErrors),
    /// The run failed.
    Run(Error),
    /// A number of threads could not be started, and the reason.
    Threads(usize, String),
    /// A state could not be evaluated, and the reason.
    Judge(String),
}

impl std::fmt::Display for BenchError {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            BenchError::File(error) => error.fmt(f),
            BenchError::Build(errors) => errors.fmt(f),
            BenchError::Run(error) => error.fmt(f),
            BenchError::Threads(n, error) => {
                let s = if *n == 1 { "" } else { "s" };
                write!(f, "cannot start {n} thread{s}: {error}")
            }
            BenchError::Judge(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BenchError {}

impl From<riprap_io::Error> for BenchError {
    fn from(error: riprap_io::Error) -> Self {
        BenchError::File(error)
    }
}

impl From<BuildErrors> for BenchError {
    fn from(errors: BuildErrors) -> Self {
        BenchError::Build(errors)
    }
}

impl From<Error> for BenchError {
    fn from(error: Error) -> Self {
        BenchError::Run(error)
    }
}

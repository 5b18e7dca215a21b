//! How a bench fails.

use riprap::scene::BuildErrors;
use riprap::simulation::Error;

/// Why a bench ended early.
#[derive(Debug)]
pub enum BenchError {
    /// The file is wrong.
    File(riprap_io::Error),
    /// The scene is wrong.
    Build(BuildErrors),
    /// The run failed.
    Run(Error),
    /// This many threads could not be started, for that reason.
    Threads(usize, String),
    /// A state could not be judged, for that reason.
    Judge(String),
}

impl std::fmt::Display for BenchError {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            BenchError::File(error) => error.fmt(f),
            BenchError::Build(errors) => errors.fmt(f),
            BenchError::Run(error) => error.fmt(f),
            BenchError::Threads(n, error) => write!(f, "cannot start {n} threads: {error}"),
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

//! `riprap bench`: how fast a canonical scene or mechanism runs, one file a kind.

mod judge;
mod mechanism;
mod scene;

use crate::failure::Failure;
use validation::bench::BenchError;

/// What is measured.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Ballast stones that have fallen into a box
    Pile(scene::Pile),
    /// Write the stones of `pile` before they fall, as other engines read them
    Export(scene::Export),
    /// Judge states that any engine wrote: overlaps, velocities, drift
    Judge(judge::Judge),
    /// Two trees of joints and a mechanism with loops
    Mechanism(mechanism::Mechanism),
}

/// Measures and prints.
pub fn bench(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Pile(arguments) => scene::pile(arguments),
        Command::Export(arguments) => scene::export(arguments),
        Command::Judge(arguments) => judge::bench(arguments),
        Command::Mechanism(arguments) => mechanism::bench(arguments),
    }
}

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Failure {
        match error {
            BenchError::Run(_) => Failure::Run(error.to_string()),
            BenchError::File(_) | BenchError::Build(_) => Failure::Input(error.to_string()),
        }
    }
}

impl From<riprap_io::Error> for Failure {
    fn from(error: riprap_io::Error) -> Failure {
        Failure::Input(error.to_string())
    }
}

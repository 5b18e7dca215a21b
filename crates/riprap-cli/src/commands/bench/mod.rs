//! `riprap bench`: speed of canonical scenes and mechanisms, one file per kind.

mod campaign;
mod judge;
mod mechanism;
mod scaling;
mod scene;

use crate::failure::Failure;
use validation::bench::{BenchError, SceneName};

/// What is measured.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Ballast stones at rest in a box, or those of a file
    Pile(scene::Shared),
    /// Ballast stones that fall into a box
    Pour(scene::Named),
    /// Ballast stones in a turning drum
    Drum(scene::Named),
    /// Ballast stones in a box that shakes up and down
    VibratedBox(scene::Named),
    /// A vibrating tine pushed into a pile
    Tool(scene::Shared),
    /// Towers of ten cubes
    Tower(scene::Named),
    /// Growth with the number of grains and of threads
    Scaling(scaling::Scaling),
    /// All measurements of the speed page of the book, with repeats
    Campaign(campaign::Arguments),
    /// Write stones that fall into a box as a scene for other engines
    Export(scene::Export),
    /// Judge states that any engine wrote: overlaps, velocities, drift
    Judge(judge::Judge),
    /// Two joint trees and a mechanism with loops
    Mechanism(mechanism::Mechanism),
}

/// Measures and prints.
pub fn bench(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Pile(arguments) => scene::shared(SceneName::Pile, arguments),
        Command::Pour(arguments) => scene::named(SceneName::Pour, arguments),
        Command::Drum(arguments) => scene::named(SceneName::Drum, arguments),
        Command::VibratedBox(arguments) => scene::named(SceneName::VibratedBox, arguments),
        Command::Tool(arguments) => scene::shared(SceneName::Tool, arguments),
        Command::Tower(arguments) => scene::named(SceneName::Tower, arguments),
        Command::Scaling(arguments) => scaling::bench(arguments),
        Command::Campaign(arguments) => campaign::bench(arguments),
        Command::Export(arguments) => scene::export(arguments),
        Command::Judge(arguments) => judge::bench(arguments),
        Command::Mechanism(arguments) => mechanism::bench(arguments),
    }
}

impl From<BenchError> for Failure {
    fn from(error: BenchError) -> Failure {
        match error {
            BenchError::Run(_) | BenchError::Threads(..) => Failure::Run(error.to_string()),
            BenchError::File(_) | BenchError::Build(_) | BenchError::Judge(_) => {
                Failure::Input(error.to_string())
            }
        }
    }
}

impl From<riprap_io::Error> for Failure {
    fn from(error: riprap_io::Error) -> Failure {
        Failure::Input(error.to_string())
    }
}

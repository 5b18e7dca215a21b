//! `riprap bench`: measures the speed of standard scenes and mechanisms.

mod campaign;
mod cone;
mod dantzig;
mod judge;
mod mechanism;
mod scaling;
mod scene;
mod schemes;

use crate::failure::Failure;
use validation::bench::{BenchError, SceneName};

/// Available benchmarks.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Ballast stones at rest in a box, generated or read from a file
    Pile(scene::Shared),
    /// Ballast stones falling into a box
    Pour(scene::Named),
    /// Ballast stones in a rotating drum
    Drum(scene::Named),
    /// Ballast stones in a vertically vibrated box
    VibratedBox(scene::Named),
    /// A vibrating tine pushed into a pile
    Tool(scene::Shared),
    /// Towers of ten cubes
    Tower(scene::Named),
    /// Scaling with the number of grains and with the number of threads
    Scaling(scaling::Scaling),
    /// All measurements of the speed page of the book, with repetitions
    Campaign(campaign::Arguments),
    /// Write a scene of stones falling into a box for use with other engines
    Export(scene::Export),
    /// Evaluate states written by any engine: overlaps, velocities, drift
    Judge(judge::Judge),
    /// Two joint trees and a mechanism with loops
    Mechanism(mechanism::Mechanism),
    /// Time per step of the schemes on small systems
    Schemes(schemes::Schemes),
    /// Solvers of cone complementarity problems: growth with the number of contacts, random problems
    Cone(cone::Cone),
    /// Dantzig's algorithm with friction: growth with the number of contacts, beside Gauss–Seidel's
    Dantzig(dantzig::Dantzig),
}

/// Runs a benchmark and prints the result.
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
        Command::Schemes(arguments) => schemes::bench(arguments),
        Command::Cone(arguments) => cone::bench(arguments),
        Command::Dantzig(arguments) => dantzig::bench(arguments),
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

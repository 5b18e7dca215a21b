//! The commands, one file each, and shared argument parsing.

pub mod bench;
pub mod check;
pub mod compare;
pub mod equilibrium;
pub mod explain;
pub mod export;
pub mod forces;
pub mod modes;
pub mod new;
pub mod plot;
pub mod render;
pub mod report;
pub mod reproduce;
pub mod run;
pub mod settle;
pub mod solve;
pub mod sweep;
pub mod validate;
pub mod view;
mod watch;

use std::path::PathBuf;

use crate::failure::Failure;
use riprap_io::scene_file::{Dimension, SceneFile, parse_quantity};

/// The scene file of a command, and keys to set in it.
#[derive(clap::Args)]
pub struct SceneArguments {
    /// The scene file
    #[arg(value_name = "SCENE")]
    path: PathBuf,
    /// Set a key of the scene before it is checked, such as materials.rock.friction=0.5 or body.ball.position=[0,0,1]; a name alone is a
    /// parameter. May be repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
}

impl SceneArguments {
    /// Reads the scene.
    fn read(&self) -> Result<SceneFile, Failure> {
        Ok(SceneFile::read_with(&self.path, &self.set)?)
    }
}

/// Sets the number of threads; the default is all cores. Returns the number in use.
fn set_threads(threads: Option<usize>) -> Result<usize, Failure> {
    if let Some(n) = threads {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n);
        pool.build_global().map_err(|e| {
            Failure::Run(format!("cannot start {}: {e}", crate::text::counted(n, "thread")))
        })?;
    }
    Ok(rayon::current_num_threads())
}

/// Parses a number of threads.
fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(n @ 1..=1024) => Ok(n),
        _ => Err("expected a number of threads from 1 to 1024".into()),
    }
}

/// Parses a non-negative time [s].
fn parse_time(text: &str) -> Result<f64, String> {
    not_negative(text, Dimension::TIME, "time")
}

/// Parses a non-negative rate [1/s].
fn parse_rate(text: &str) -> Result<f64, String> {
    not_negative(text, Dimension::FREQUENCY, "rate")
}

fn not_negative(text: &str, dimension: Dimension, what: &str) -> Result<f64, String> {
    match parse_quantity(text, dimension) {
        Ok(value) if value >= 0.0 => Ok(value),
        Ok(_) => Err(format!("the {what} must not be negative")),
        Err(error) => Err(error.to_string()),
    }
}

/// Parses a positive number.
fn parse_positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x > 0.0 && x.is_finite() => Ok(x),
        _ => Err("expected a number greater than 0".into()),
    }
}

/// Parses a number that is not negative.
fn parse_not_negative(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x >= 0.0 && x.is_finite() => Ok(x),
        _ => Err("expected a number that is not negative".into()),
    }
}

//! `riprap export`: the motion of bodies by name as a table, for other programs.

use std::path::PathBuf;

use riprap_io::export::{Selection, bodies};

use super::parse_time;
use crate::failure::Failure;
use crate::text::{counted, print};

/// Arguments of `riprap export`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of a run
    run: PathBuf,
    /// The table to write: .csv, or .parquet if built with that feature [default: bodies.csv in the folder]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Bodies by name, separated by commas; * stands for any characters and ? for one [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    bodies: Vec<String>,
    /// Interval between the exported frames, such as "0.1 s" [default: all frames of the run]
    #[arg(long, value_name = "T", value_parser = parse_time, allow_hyphen_values = true)]
    every: Option<f64>,
}

/// Writes the table.
pub fn export(arguments: &Arguments) -> Result<(), Failure> {
    let out = arguments.out.clone().unwrap_or_else(|| arguments.run.join("bodies.csv"));
    let selection = Selection { bodies: arguments.bodies.clone(), every: arguments.every };
    let exported = bodies(&arguments.run, &selection, &out)
        .map_err(|error| Failure::Input(error.to_string()))?;
    let (frames, n) = (counted(exported.frames, "frame"), exported.bodies);
    let n = if n == 1 { "1 body".to_owned() } else { format!("{n} bodies") };
    print(&format!("{}  {n} in {frames}: {}\n", out.display(), counted(exported.rows, "row")));
    Ok(())
}

//! `riprap compare`: shows the differences of two runs.

use std::path::PathBuf;

use riprap_io::write_whole;
use riprap_view::compare::Comparison;

use crate::commands::parse_not_negative;
use crate::failure::Failure;
use crate::text::{print, table};

/// Arguments of `riprap compare`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of a run
    first: PathBuf,
    /// The folder of another run
    second: PathBuf,
    /// Exit with code 1 if a column of the series differs by more than this, relative to its largest magnitude, is in one
    /// run only, or ends earlier
    #[arg(long, value_name = "NUMBER", value_parser = parse_not_negative)]
    tolerance: Option<f64>,
    /// Write the comparison as an HTML page, with curves
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

/// Compares, prints and judges.
pub fn compare(arguments: &Arguments) -> Result<(), Failure> {
    let folders = [arguments.first.as_path(), arguments.second.as_path()];
    let comparison = Comparison::of(folders).map_err(|e| Failure::Input(e.to_string()))?;
    print(&text(&comparison));
    if let Some(path) = &arguments.html {
        let html = comparison.html();
        write_whole(path, html.as_bytes()).map_err(|e| Failure::Run(e.to_string()))?;
    }
    match arguments.tolerance {
        Some(tolerance) if !comparison.is_within(tolerance) => Err(Failure::Validation),
        _ => Ok(()),
    }
}

fn text(comparison: &Comparison) -> String {
    let [a, b] = &comparison.names;
    let headed = |head: &[&str], rows: Vec<Vec<String>>, right: &[usize]| {
        let head = head.iter().map(|cell| (*cell).to_owned()).collect();
        table(&[vec![head], rows].concat(), right)
    };
    let mut text = String::new();
    let scene = comparison.scene_rows();
    text += &match scene.is_empty() {
        true => "The scenes are equal.\n".to_owned(),
        false => headed(&["key of the scene", a, b], scene, &[]),
    };
    let numbers = comparison.number_rows();
    text += &match numbers.is_empty() {
        true => "The summaries are equal.\n".to_owned(),
        false => format!("\n{}", headed(&["summary", a, b, "ratio"], numbers, &[1, 2, 3])),
    };
    if !comparison.has_equal_series() {
        let head = ["series", "largest difference", "at [s]", "RMS", "relative", "from [s]"];
        text += &format!("\n{}\n", headed(&head, comparison.column_rows(), &[1, 2, 3, 4, 5]));
    }
    text += &comparison.verdict();
    text.push('\n');
    text
}

//! `riprap report`: writes one HTML page about a run.

use std::path::PathBuf;

use riprap_io::write_whole;
use riprap_view::report::{ReportOptions, report as page};

use crate::failure::Failure;
use crate::text::print;

/// Arguments of `riprap report`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of a run
    run: PathBuf,
    /// The HTML file to write [default: `report.html` in the folder of the run]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Leave out pictures, which take a few seconds each
    #[arg(long)]
    no_pictures: bool,
}

/// Writes the report.
pub fn report(arguments: &Arguments) -> Result<(), Failure> {
    let mut options = ReportOptions::default();
    if arguments.no_pictures {
        options.shot = None;
    }
    let html = page(&arguments.run, &options).map_err(|e| Failure::Input(e.to_string()))?;
    let path = arguments.out.clone().unwrap_or_else(|| arguments.run.join("report.html"));
    write_whole(&path, html.as_bytes()).map_err(|e| Failure::Run(e.to_string()))?;
    print(&format!("{}\n", path.display()));
    Ok(())
}

//! `riprap plot`: draws the series of a run as SVG files.

use std::path::PathBuf;

use riprap_io::write_whole;
use riprap_view::plot;
use riprap_view::series::Series;

use crate::failure::Failure;
use crate::text::print;

/// Arguments of `riprap plot`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of a run
    run: PathBuf,
    /// Draw only these columns, in one figure; `*` stands for any letters
    #[arg(long, value_name = "NAME", num_args = 1..)]
    series: Vec<String>,
    /// Folder for the figures [default: `plots` in the folder of the run]
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

/// Writes the figures.
pub fn plot(arguments: &Arguments) -> Result<(), Failure> {
    let series = Series::read(&arguments.run).map_err(|e| Failure::Input(e.to_string()))?;
    let plots = match arguments.series.is_empty() {
        true => plot::usual(&series),
        false => vec![
            plot::chosen(&series, &arguments.series).map_err(|names| unknown(&series, &names))?,
        ],
    };
    let folder = arguments.out.clone().unwrap_or_else(|| arguments.run.join("plots"));
    let failed = |e: &dyn std::fmt::Display| Failure::Run(e.to_string());
    std::fs::create_dir_all(&folder)
        .map_err(|e| failed(&format!("cannot create the folder {}: {e}", folder.display())))?;
    for plot in plots {
        let path = folder.join(format!("{}.svg", plot.name));
        write_whole(&path, plot.figure.svg().as_bytes()).map_err(|e| failed(&e))?;
        print(&format!("{}\n", path.display()));
    }
    Ok(())
}

fn unknown(series: &Series, names: &[String]) -> Failure {
    let known: Vec<&str> = series.columns.iter().skip(1).map(|c| c.name.as_str()).collect();
    Failure::Input(format!(
        "no column matches `{}`; the columns are {}",
        names.join("`, `"),
        known.join(", ")
    ))
}

//! `riprap bench campaign`: runs all measurements of the speed page of the book.

use std::path::{Path, PathBuf};

use riprap_io::peer_scene::PeerScene;
use validation::bench::campaign::{Campaign, CampaignOptions, Measurement, page, rows};

use crate::failure::Failure;
use crate::text::{counted, number, print};

/// Arguments of `riprap bench campaign`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Run a smaller and coarser version as a quick check
    #[arg(long)]
    quick: bool,
    /// Number of repetitions of each measurement; the median is shown [default: 3; 2 with --quick]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    repeats: Option<u32>,
    /// Also measure a scene shared with other engines (JSON, optionally gzipped)
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Include the table printed by `benches/peers/run.sh`
    #[arg(long, value_name = "FILE")]
    peers: Option<PathBuf>,
    /// Page whose tables are replaced, such as book/src/speed.md [default: print the tables]
    #[arg(long, value_name = "FILE")]
    page: Option<PathBuf>,
    /// Write all repetitions to a CSV file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
}

/// Measures, and writes or prints the tables.
pub fn bench(arguments: &Arguments) -> Result<(), Failure> {
    let mut options = match arguments.quick {
        true => CampaignOptions::quick(),
        false => CampaignOptions::full(),
    };
    if let Some(repeats) = arguments.repeats {
        options.repeats = repeats as usize;
    }
    options.shared = arguments.from.as_deref().map(PeerScene::read).transpose()?;

    // Invalid files are rejected before half an hour of measurements, not after.
    let peers = arguments.peers.as_deref().map(peer_table).transpose()?;
    let page = arguments.page.as_deref().map(read).transpose()?;
    if let (Some(path), Some(page)) = (&arguments.page, &page) {
        insert(path, page, &page::PLACES.map(|place| (place, String::new())))?;
    }

    let folder = arguments.page.as_deref().and_then(Path::parent).unwrap_or(Path::new("."));
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let campaign = Campaign::run(&options, folder, &mut progress)?;
    if let Some(path) = &arguments.csv {
        write(path, &rows::csv(&campaign))?;
    }
    let tables = page::tables(&campaign, peers.as_deref());
    match (&arguments.page, page) {
        (Some(path), Some(page)) => write(path, &insert(path, &page, &tables)?),
        _ => {
            tables.iter().for_each(|(place, text)| print(&format!("## {place}\n\n{text}\n")));
            Ok(())
        }
    }
}

fn progress(m: &Measurement) {
    let run = m.median();
    let (part, time) = (m.part.name(), number(run.ms_per_step));
    let (grains, threads) = (counted(run.grains, "grain"), counted(run.threads, "thread"));
    eprintln!("{part}: {}, {grains}, {threads}: {time} ms", run.scene);
}

fn peer_table(path: &Path) -> Result<String, Failure> {
    let text = read(path)?;
    if !text.trim_start().starts_with('|') {
        let problem = "not a table; expected the output of benches/peers/run.sh";
        return Err(Failure::Input(format!("{}: {problem}", path.display())));
    }
    Ok(text)
}

fn insert(path: &Path, page: &str, tables: &[(&str, String)]) -> Result<String, Failure> {
    page::insert(page, tables).map_err(|e| Failure::Input(format!("{}: {e}", path.display())))
}

fn read(path: &Path) -> Result<String, Failure> {
    std::fs::read_to_string(path).map_err(|e| Failure::Input(format!("{}: {e}", path.display())))
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|e| Failure::Input(format!("{}: {e}", path.display())))
}

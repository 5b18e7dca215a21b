//! `riprap view`: shows runs in the browser, or writes a page to share.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use riprap_view::page::Page;
use riprap_view::server::Server;
use riprap_view::source::{Error, Source};

use super::parse_positive;
use super::run::on_interrupt;
use crate::failure::Failure;
use crate::text::{counted, print};

/// Arguments of `riprap view`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of a run; two folders are shown side by side
    #[arg(required = true, num_args = 1..=2, value_name = "DIR")]
    runs: Vec<PathBuf>,
    /// Address to listen on; with 0.0.0.0 other machines can read the runs as well
    #[arg(long, value_name = "HOST", default_value = "127.0.0.1")]
    host: String,
    /// Port to listen on [default: 7747, or any free port]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Do not open a browser
    #[arg(long)]
    no_open: bool,
    /// Write a self-contained page to this file instead; it opens without riprap and without a network
    #[arg(long, value_name = "FILE", conflicts_with_all = ["host", "port", "no_open"])]
    html: Option<PathBuf>,
    /// Maximum size of the page [MB]; frames are left out evenly
    #[arg(long, value_name = "MB", default_value = "50", value_parser = parse_positive, requires = "html")]
    max_size: f64,
    /// Overwrite an existing file
    #[arg(long, requires = "html")]
    force: bool,
}

/// Shows runs.
pub fn view(arguments: &Arguments) -> Result<(), Failure> {
    let open = |folder: &PathBuf| source(folder);
    let mut sources: Vec<Source> = arguments.runs.iter().map(open).collect::<Result<_, _>>()?;
    if let Some(file) = &arguments.html {
        if sources.len() > 1 {
            return Err(Failure::Input("--html writes a page of one run".into()));
        }
        return write_page(&sources.remove(0), file, arguments);
    }
    let server = bind(sources, &arguments.host, arguments.port)?;
    print(&format!("viewer at {}, until Ctrl-C\n", server.url()));
    if !arguments.no_open {
        open_browser(&server.url());
    }
    let stop = Arc::new(AtomicBool::new(false));
    on_interrupt(Arc::clone(&stop));
    server.run(&stop).map_err(|error| Failure::Run(format!("the viewer failed: {error}")))
}

/// The run in a folder.
fn source(folder: &Path) -> Result<Source, Failure> {
    let source = Source::open(folder).map_err(failure)?;
    if source.refresh().map_err(failure)?.n_frames == 0 && !folder.join("run.lock").exists() {
        return Err(Failure::Input(format!(
            "{} contains no frames; is it the folder of a run? Frames are written with `frames = true` in [run]",
            folder.display()
        )));
    }
    Ok(source)
}

fn failure(error: Error) -> Failure {
    Failure::Input(error.to_string())
}

/// A server, with a warning if other machines can reach it.
pub(super) fn bind(sources: Vec<Source>, host: &str, port: Option<u16>) -> Result<Server, Failure> {
    let server = Server::bind(sources, host, port).map_err(|error| {
        let port = port.map_or(String::new(), |port| format!(", port {port}"));
        Failure::Input(format!("cannot listen on {host}{port}: {error}; try another --port"))
    })?;
    if server.is_open() {
        eprintln!("warning: other machines can read the run through this address");
    }
    Ok(server)
}

/// Opens the browser of the desktop, if there is one.
pub(super) fn open_browser(url: &str) {
    let desktop = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let headless = cfg!(target_os = "linux") && !desktop("DISPLAY") && !desktop("WAYLAND_DISPLAY");
    if headless || open::that_detached(url).is_err() {
        eprintln!("open {url} in a browser");
    }
}

fn write_page(source: &Source, file: &Path, arguments: &Arguments) -> Result<(), Failure> {
    if file.exists() && !arguments.force {
        let file = file.display();
        return Err(Failure::Input(format!("{file} exists; overwrite it with --force")));
    }
    let page = Page::of(source, (arguments.max_size * 1e6) as usize).map_err(failure)?;
    let of = match page.n_frames == page.of {
        true => "all".to_owned(),
        false => format!("{} of", page.n_frames),
    };
    print(&format!(
        "{}: {:.1} MB, {of} {}\n",
        file.display(),
        page.size() as f64 / 1e6,
        counted(page.of, "frame")
    ));
    if page.size() as f64 > arguments.max_size * 1e6 {
        eprintln!(
            "warning: the page is larger than --max-size {}: it has the viewer, the bodies, the series and {} at least",
            arguments.max_size,
            counted(page.n_frames, "frame")
        );
    }
    riprap_io::write_whole(file, page.html().as_bytes())
        .map_err(|error| Failure::Run(error.to_string()))
}

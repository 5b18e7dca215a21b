//! `riprap settle`: settles the grains of a scene and stores the bed for later runs.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use riprap_io::run;

use super::run::on_interrupt;
use super::watch::{Terminal, stones};
use super::{SceneArguments, parse_threads, set_threads};
use crate::failure::Failure;

/// Where settled beds are cached.
#[derive(clap::Args)]
pub struct Beds {
    /// Cache folder for settled beds [default: $RIPRAP_CACHE, or riprap/ in the user's cache folder]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Neither read settled beds from the cache nor store them there
    #[arg(long, conflicts_with = "cache")]
    no_cache: bool,
}

impl Beds {
    /// The cache folder; `None` if caching is disabled.
    pub fn folder(&self) -> Option<PathBuf> {
        match self.no_cache {
            true => None,
            false => self.cache.clone().or_else(run::user_cache),
        }
    }
}

/// Arguments of `riprap settle`.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(flatten)]
    scene: SceneArguments,
    /// Also write the bed to a file, for `riprap run --bed`
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    threads: Option<usize>,
    #[command(flatten)]
    beds: Beds,
}

/// Settles the bed of a scene or finds it in the cache.
pub fn command(arguments: &Arguments) -> Result<(), Failure> {
    let file = arguments.scene.read()?;
    let cache = arguments.beds.folder();
    if arguments.out.is_none() && cache.is_none() {
        let message = "the bed would not be stored: pass --out FILE or --cache DIR";
        return Err(Failure::Input(message.into()));
    }
    set_threads(arguments.threads)?;
    let mut built = file.build()?;
    let Some(settling) = built.settling.take() else {
        let message = "no grains of this scene settle; add `settle = { … }` to its [[grains]]";
        return Err(Failure::Input(format!("{}: {message}", arguments.scene.path.display())));
    };
    let interrupt = Arc::new(AtomicBool::new(false));
    on_interrupt(Arc::clone(&interrupt));
    let mut watch = Terminal::default();
    let settled = run::settle(&file, &built, &settling, cache.as_deref(), &interrupt, &mut watch)
        .map_err(|e| Failure::Run(e.to_string()))?;
    if interrupt.load(Ordering::Relaxed) {
        return Err(Failure::Interrupted);
    }
    if let Some(path) = &arguments.out {
        settling.write(path, &file, &settled).map_err(|e| Failure::Input(e.to_string()))?;
        eprintln!("bed of {} written to {}", stones(settling.n_grains()), path.display());
    }
    Ok(())
}

//! `riprap settle`, and settling before a run: a bed is kept in a folder of the user, under all that determines it, and taken from
//! there the next time.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use riprap::simulation::Error;
use riprap_io::build::{Built, Settled, Settling};
use riprap_io::scene_file::SceneFile;

use super::run::{Live, interrupt_flag};
use super::{parse_threads, set_threads};
use crate::failure::Failure;
use crate::progress::{Progress, duration};
use crate::text::{grouped, number};

/// Where settled beds are kept.
#[derive(clap::Args)]
pub struct Beds {
    /// Folder in which settled beds are kept [default: $RIPRAP_CACHE, or riprap in the cache folder of the user]
    #[arg(long, value_name = "DIR")]
    cache: Option<PathBuf>,
    /// Neither take a settled bed from the cache nor keep one there
    #[arg(long, conflicts_with = "cache")]
    no_cache: bool,
}

impl Beds {
    /// The folder; `None` if nothing is kept.
    fn folder(&self) -> Option<PathBuf> {
        if self.no_cache {
            return None;
        }
        if self.cache.is_some() {
            return self.cache.clone();
        }
        let folder = |name: &str| std::env::var_os(name).map(PathBuf::from);
        if let Some(told) = folder("RIPRAP_CACHE") {
            return (!told.as_os_str().is_empty()).then_some(told);
        }
        // Relative paths are to be ignored, says the standard.
        let user = folder("XDG_CACHE_HOME").filter(|path| path.is_absolute());
        let user = user.or_else(|| folder("HOME").map(|home| home.join(".cache")));
        user.or_else(|| folder("LOCALAPPDATA")).map(|user| user.join("riprap"))
    }
}

/// Arguments of `riprap settle`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The scene file
    scene: PathBuf,
    /// Write the bed to a file too, for `riprap run --bed`
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    threads: Option<usize>,
    #[command(flatten)]
    beds: Beds,
}

/// Makes the bed of a scene, or finds it in the cache.
pub fn command(arguments: &Arguments) -> Result<(), Failure> {
    let file = SceneFile::read(&arguments.scene)?;
    if arguments.out.is_none() && arguments.beds.folder().is_none() {
        let message = "the bed would be kept nowhere: give --out FILE or --cache DIR";
        return Err(Failure::Input(message.into()));
    }
    set_threads(arguments.threads)?;
    let mut built = file.build()?;
    let Some(settling) = built.settling.take() else {
        let message = "no grains of this scene settle; write `settle = { … }` into its [[grains]]";
        return Err(Failure::Input(format!("{}: {message}", arguments.scene.display())));
    };
    let interrupted = interrupt_flag();
    let settled = settle(&file, &built, &settling, &arguments.beds, &interrupted)
        .map_err(|e| Failure::Run(e.to_string()))?;
    if interrupted.load(Ordering::Relaxed) {
        return Err(Failure::Interrupted);
    }
    if let Some(path) = &arguments.out {
        settling.write(path, &file, &settled).map_err(|e| Failure::Input(e.to_string()))?;
        eprintln!("bed of {} written to {}", stones(&settling), path.display());
    }
    Ok(())
}

/// Lets the grains come to rest, unless their bed is in the cache.
pub fn settle(
    file: &SceneFile,
    built: &Built,
    settling: &Settling,
    beds: &Beds,
    interrupted: &AtomicBool,
) -> Result<Settled, Error> {
    let kept = beds.folder().map(|folder| folder.join(settling.file_name(file)));
    if let Some(path) = kept.as_ref().filter(|path| path.exists()) {
        match settling.read(path, file, &built.scene) {
            Ok(bed) => {
                tell_bed(path, settling, &bed);
                return Ok(bed);
            }
            Err(error) => eprintln!("warning: {error}; it is made anew"),
        }
    }
    let progress = Progress::new("settling", settling.at_most());
    let mut live = Live::watching(progress, interrupted);
    let settled = settling.run(&built.scene, file.moreau_jean(), file.on_unconverged(), &mut live);
    live.progress.finish();
    let settled = settled?;
    if interrupted.load(Ordering::Relaxed) {
        return Ok(settled);
    }
    let (time, wall) = (number(settled.time), duration(settled.report.wall));
    match settled.calm {
        true => eprintln!("settled after {time} s ({} steps, {wall})", settled.report.steps),
        false => eprintln!("warning: after {time} s the grains have not come to rest ({wall})"),
    }
    if let Some(path) = kept {
        match keep(&path, file, settling, &settled) {
            Ok(()) => eprintln!("bed of {} kept in {}", stones(settling), path.display()),
            Err(error) => eprintln!("warning: the bed is not kept: {error}"),
        }
    }
    Ok(settled)
}

fn keep(
    path: &Path,
    file: &SceneFile,
    settling: &Settling,
    settled: &Settled,
) -> Result<(), String> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)
            .map_err(|e| format!("cannot make the folder {}: {e}", folder.display()))?;
    }
    settling.write(path, file, settled).map_err(|e| e.to_string())
}

/// Says where a bed comes from.
pub fn tell_bed(path: &Path, settling: &Settling, bed: &Settled) {
    let time = number(bed.time);
    eprintln!("bed of {} taken from {}, settled for {time} s", stones(settling), path.display());
    if !bed.calm {
        eprintln!("warning: its grains have not come to rest");
    }
}

fn stones(settling: &Settling) -> String {
    let n = settling.n_grains();
    format!("{} grain{}", grouped(n), if n == 1 { "" } else { "s" })
}

//! Settling before a run. Beds are cached in a folder, keyed by everything that determines them, and reused.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use riprap::simulation;

use super::problems::Problems;
use super::watch::{Event, Phase, Stepping, Watch};
use crate::build::{Built, Settled, Settling};
use crate::error::Error;
use crate::lock::Lock;
use crate::scene_file::SceneFile;

/// Lets the grains of a scene come to rest and stores the bed in `cache`, or reads the bed from there. A cache that cannot be
/// read or written is reported to `watch` and is not an error. `settling` belongs to `built`, which was built from `scene`.
///
/// Once `interrupt` is true, settling ends, and its bed is not stored.
pub fn settle(
    scene: &SceneFile,
    built: &Built,
    settling: &Settling,
    cache: Option<&Path>,
    interrupt: &AtomicBool,
    watch: &mut dyn Watch,
) -> Result<Settled, simulation::Error> {
    let grains = settling.n_grains();
    let kept = cache.map(|folder| folder.join(settling.file_name(scene)));
    let take = |watch: &mut dyn Watch| {
        let path = kept.as_deref().filter(|path| path.exists())?;
        match settling.read(path, scene, &built.scene) {
            Ok(bed) => {
                watch.event(Event::BedTaken { path, grains, bed: &bed });
                Some(bed)
            }
            Err(error) => {
                watch.event(Event::BedRefused { error: &error });
                None
            }
        }
    };
    if let Some(bed) = take(watch) {
        return Ok(bed);
    }
    // Of several runs that start from the same bed, the first settles it; the others wait and reuse it.
    let lock = kept.as_deref().and_then(|path| Turn::wait(path, interrupt, watch));
    if lock.as_ref().is_some_and(|lock| lock.waited)
        && let Some(bed) = take(watch)
    {
        return Ok(bed);
    }
    let phase = Phase::Settling;
    watch.event(Event::PhaseStarted { phase, end: settling.at_most() });
    let mut stepping =
        Stepping { phase, watch: &mut *watch, problems: None::<Problems>, writer: None, interrupt };
    let (scheme, on_unconverged) = (scene.moreau_jean(), scene.on_unconverged());
    let settled = settling.run(&built.scene, scheme, on_unconverged, &mut stepping);
    watch.event(Event::PhaseEnded { phase });
    let bed = settled?;
    if interrupt.load(Ordering::Relaxed) {
        return Ok(bed);
    }
    watch.event(Event::Settled { bed: &bed });
    if let Some(path) = kept {
        match keep(&path, scene, settling, &bed) {
            Ok(()) => watch.event(Event::BedKept { path: &path, grains }),
            Err(error) => watch.event(Event::BedNotKept { error: &error }),
        }
    }
    Ok(bed)
}

/// The right to settle a bed for the cache.
struct Turn {
    lock: Option<Lock>,
    /// Whether another process had it before.
    waited: bool,
    /// The folder of the cache, if it was created for the lock.
    made: Option<PathBuf>,
}

impl Turn {
    /// Waits until no other process settles the bed for `path`. `None` if the cache cannot be written, or if interrupted.
    fn wait(path: &Path, interrupt: &AtomicBool, watch: &mut dyn Watch) -> Option<Turn> {
        let folder = path.parent()?;
        let made = (!folder.exists()).then(|| folder.to_owned());
        std::fs::create_dir_all(folder).ok()?;
        let mut waited = false;
        while !interrupt.load(Ordering::Relaxed) {
            match Lock::take(&path.with_extension("lock"), path) {
                Ok(lock) => return Some(Turn { lock: Some(lock), waited, made }),
                Err(Error::InUse { holder, .. }) => {
                    if !waited {
                        watch.event(Event::BedAwaited { holder: &holder });
                    }
                    waited = true;
                    std::thread::sleep(Duration::from_millis(50));
                }
                Err(_) => return None,
            }
        }
        None
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.lock = None;
        if let Some(folder) = &self.made {
            // Succeeds only if it is empty, that is if nothing was stored.
            let _ = std::fs::remove_dir(folder);
        }
    }
}

fn keep(path: &Path, scene: &SceneFile, settling: &Settling, bed: &Settled) -> Result<(), Error> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(Error::io("create the folder", folder))?;
    }
    settling.write(path, scene, bed)
}

/// The folder in which the command line caches settled beds: `$RIPRAP_CACHE`, or `riprap` in the cache folder of the user.
/// `None` if `$RIPRAP_CACHE` is empty, or if there is no such folder.
pub fn user_cache() -> Option<PathBuf> {
    cache_from(|name| std::env::var_os(name).map(PathBuf::from))
}

/// As [`user_cache`], for a given environment.
fn cache_from(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    if let Some(told) = variable("RIPRAP_CACHE") {
        return (!told.as_os_str().is_empty()).then_some(told);
    }
    // The XDG standard requires relative paths to be ignored.
    let user = variable("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let user = user.or_else(|| variable("HOME").map(|home| home.join(".cache")));
    user.or_else(|| variable("LOCALAPPDATA")).map(|user| user.join("riprap"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_user_cache_is_determined_by_the_environment() {
        let cache = |set: &[(&str, &str)]| {
            let variable = |name: &str| {
                set.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value))
            };
            cache_from(variable)
        };
        assert_eq!(cache(&[]), None);
        assert_eq!(cache(&[("HOME", "/home/a")]), Some("/home/a/.cache/riprap".into()));
        let xdg = [("HOME", "/home/a"), ("XDG_CACHE_HOME", "/var/b")];
        assert_eq!(cache(&xdg), Some("/var/b/riprap".into()));
        let relative = [("HOME", "/home/a"), ("XDG_CACHE_HOME", "b")];
        assert_eq!(cache(&relative), Some("/home/a/.cache/riprap".into()));
        let told = [("HOME", "/home/a"), ("RIPRAP_CACHE", "beds")];
        assert_eq!(cache(&told), Some("beds".into()));
        assert_eq!(cache(&[("HOME", "/home/a"), ("RIPRAP_CACHE", "")]), None);
        assert_eq!(cache(&[("LOCALAPPDATA", "/local")]), Some("/local/riprap".into()));
    }
}

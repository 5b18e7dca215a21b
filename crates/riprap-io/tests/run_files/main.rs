//! Run files of many kinds of scenes: their contents, their steps, other readers, and damage.

mod contents;
mod hostile;
mod other_readers;
mod steps;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use riprap::simulation::Frame;
use riprap_io::output::Ending;
use riprap_io::run::{Options, Phase, Run, Watch};
use riprap_io::run_file::{ContactSet, Poses, RunFile, SurfaceSet};
use riprap_io::scene_file::SceneFile;

fn scene(text: &str) -> SceneFile {
    SceneFile::parse(text, ".").unwrap_or_else(|e| panic!("{e}"))
}

/// A scene of the examples, run for a time only [s].
fn example(name: &str, until: f64, every: f64) -> SceneFile {
    let path = format!("../../examples/{name}/scene.toml");
    let mut scene = SceneFile::read(path).unwrap_or_else(|e| panic!("{e}"));
    (scene.run.until, scene.run.frames_every, scene.run.contacts_every) = (until, every, every);
    scene
}

/// Runs a scene to its end.
fn run(scene: &SceneFile, folder: &Path) -> RunFile {
    let summary = Run::new(scene, Options::new(folder)).unwrap().execute(&mut ()).unwrap();
    assert_eq!(summary.ending, Ending::Finished);
    RunFile::open(folder).unwrap()
}

/// As [`run`], in a temporary folder.
fn read(scene: &SceneFile) -> (tempfile::TempDir, RunFile) {
    let out = tempfile::tempdir().unwrap();
    let file = run(scene, &out.path().join("run"));
    (out, file)
}

/// Interrupts a run after a step.
struct Stop(u64, Arc<AtomicBool>);

impl Watch for Stop {
    fn step(&mut self, _: Phase, frame: &Frame) {
        if frame.state.step >= self.0 {
            self.1.store(true, Ordering::Relaxed);
        }
    }
}

/// Runs a scene up to a step, as if it were interrupted there.
fn run_to(scene: &SceneFile, folder: &Path, step: u64) {
    let options = Options::new(folder);
    let mut stop = Stop(step, options.interrupt.clone());
    let summary = Run::new(scene, options).unwrap().execute(&mut stop).unwrap();
    assert_eq!(summary.ending, Ending::Interrupted);
}

/// Everything that changes from frame to frame.
fn frame(
    file: &RunFile,
    k: usize,
) -> Result<(Poses, ContactSet, SurfaceSet), Box<dyn std::error::Error>> {
    Ok((file.frame(k)?, file.contacts(k)?, file.surfaces(k)?))
}

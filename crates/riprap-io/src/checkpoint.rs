//! Checkpoints: everything an interrupted run needs to resume with bitwise identical results. The simulator needs only the
//! state; the rest is the position of the writers of the run folder.

use std::path::{Path, PathBuf};

use riprap::scene::State;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Place};
use crate::output::Progress;
use crate::run_folder::Record;
use crate::scene_file::{SceneFile, first_difference};
use crate::sealed::{self, Kind};

/// Name of the file in the folder of a run.
pub const FILE: &str = "checkpoint.bin";

const KIND: Kind = Kind {
    magic: *b"riprapCP",
    layout: 9,
    name: "checkpoint",
    advice: "restart the run, overwriting the old one",
};

/// The point from which a run resumes.
#[derive(Clone, Debug, Deserialize)]
pub struct Checkpoint {
    /// The identity of the scene: [`SceneFile::identity`].
    scene: String,
    /// The state.
    pub state: State,
    /// The position of the writers.
    pub(crate) output: Progress,
}

/// A borrowed [`Checkpoint`], for writing.
#[derive(Serialize)]
struct Writing<'a> {
    scene: &'a str,
    state: &'a State,
    output: &'a Progress,
}

impl Checkpoint {
    /// The file in the folder of a run.
    pub fn path(folder: &Path) -> PathBuf {
        folder.join(FILE)
    }

    /// Reads the checkpoint in the folder of a run, which must belong to this scene. The end time may differ.
    pub fn read(folder: &Path, scene: &SceneFile) -> Result<Checkpoint, Error> {
        let path = Self::path(folder);
        let (read, hash): (Checkpoint, _) = sealed::read_with_hash(&path, &KIND)?;
        let refuse = |message: String| Err(Error::format(&path, Place::Whole, message));
        if Record::read(folder).is_some_and(|record| !record.knows_checkpoint(&hash)) {
            return refuse(format!(
                "the checkpoint was not written by this run: its SHA-256 is {hash}, which differs from the one in summary.json. Restart \
                 the run, overwriting the old one; if you replaced the file yourself, remove `{}` from summary.json",
                Record::CHECKPOINT
            ));
        }
        if let Some(what) = first_difference(&read.scene, &scene.identity()) {
            return refuse(format!(
                "the scene has changed since the checkpoint: {what}; undo the change, or restart the run, overwriting \
                 the old one"
            ));
        }
        if scene.run.is_over(read.state.t) {
            let (t, until) = (read.state.t, scene.run.until);
            return refuse(format!(
                "the checkpoint is at t = {t} s and the run ends at {until} s: nothing left to do; increase `until`, or restart the run"
            ));
        }
        Ok(read)
    }

    /// The scene and the state of a checkpoint of any scene, and its SHA-256.
    pub(crate) fn parts(path: &Path) -> Result<(String, State, String), Error> {
        let (read, hash): (Checkpoint, _) = sealed::read_with_hash(path, &KIND)?;
        Ok((read.scene, read.state, hash))
    }

    /// The bytes of a checkpoint in the folder of a run.
    pub(crate) fn bytes(
        folder: &Path,
        scene: &str,
        state: &State,
        output: &Progress,
    ) -> Result<Vec<u8>, Error> {
        sealed::bytes(&Self::path(folder), &KIND, &Writing { scene, state, output })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{Ending, RunWriter};
    use crate::run_folder::Existing;
    use riprap::math::Quat;
    use riprap::simulation::Simulation;
    use std::fs;
    use tempfile::TempDir;

    const BALL: &str = r#"
        run = { dt = "1 ms", until = "50 ms", output_every = "10 ms" }
        materials.rock = { density = 1000, friction = 0.5 }
        [[body]]
        kind = "fixed"
        shape = { type = "half-space" }
        material = "rock"
        [[body]]
        name = "ball"
        position = [0, 0, 0.1]
        velocity = [0.3, 0, 0]
        shape = { type = "sphere", radius = 0.1 }
        material = "rock"
        [[probe]]
        body = "ball"
        quantities = ["position", "work"]
    "#;

    fn scene(text: &str) -> SceneFile {
        SceneFile::parse(text, ".").unwrap_or_else(|e| panic!("{e}"))
    }

    /// Runs for 23 steps and writes a checkpoint; returns the folder and the state.
    fn stopped() -> (TempDir, State) {
        let (folder, file) = (TempDir::new().unwrap(), scene(BALL));
        let built = file.build().unwrap();
        let path = folder.path().join("run");
        let mut writer = RunWriter::create(&path, Existing::Keep, &file, &built, 1).unwrap();
        let mut run = Simulation::new(built.scene, file.scheme()).unwrap();
        run.until(0.023, &mut writer).unwrap();
        writer.write_checkpoint(&run.frame()).unwrap();
        writer.finish(Some(&run.frame()), &Ending::Interrupted).unwrap();
        (folder, run.state().clone())
    }

    #[test]
    fn the_state_is_restored_bitwise() {
        let (folder, state) = stopped();
        let read = Checkpoint::read(&folder.path().join("run"), &scene(BALL)).unwrap();
        assert_eq!(read.state, state);
        assert_eq!(read.state.step, 23);
        assert!(!read.state.warm_start.is_empty(), "the ball touches the floor");
        // Neither the title nor the end time is part of the identity of the scene.
        let other =
            BALL.replace("\"50 ms\"", "\"1 s\"").replace("run =", "title = \"b\"\n        run =");
        assert!(Checkpoint::read(&folder.path().join("run"), &scene(&other)).is_ok());
    }

    #[test]
    fn a_changed_scene_is_rejected_with_its_first_difference() {
        let (folder, _) = stopped();
        let refused = |old: &str, new: &str| {
            let file = scene(&BALL.replace(old, new));
            Checkpoint::read(&folder.path().join("run"), &file).unwrap_err().to_string()
        };
        let told = refused("friction = 0.5", "friction = 0.25");
        assert!(
            told.contains("checkpoint.bin: the scene has changed since the checkpoint"),
            "{told}"
        );
        assert!(told.contains("`friction = 0.5`, now `friction = 0.25`"), "{told}");
        assert!(refused("radius = 0.1", "radius = 0.2").contains("the scene has changed"));
        let told = refused("\"50 ms\"", "\"23 ms\"");
        assert!(told.contains("the run ends at 0.023 s: nothing left to do"), "{told}");
    }

    #[test]
    fn damaged_checkpoints_are_always_rejected() {
        let (folder, _) = stopped();
        let (run, file) = (folder.path().join("run"), scene(BALL));
        let path = Checkpoint::path(&run);
        let good = fs::read(&path).unwrap();
        let message = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            Checkpoint::read(&run, &file).unwrap_err().to_string()
        };
        for end in (0..good.len()).step_by(53) {
            assert!(message(&good[..end]).contains("restart the run"), "first {end} bytes");
        }
        for at in (0..good.len()).step_by(29) {
            let mut bad = good.clone();
            bad[at] ^= 0x10;
            assert!(message(&bad).contains("restart the run"), "byte {at}");
        }
        assert!(message(b"").contains("not a riprap checkpoint"));
        fs::remove_file(&path).unwrap();
        let told = Checkpoint::read(&run, &file).unwrap_err().to_string();
        assert!(told.contains("cannot open"), "{told}");
    }

    #[test]
    fn a_rotation_that_is_not_a_unit_quaternion_is_rejected() {
        let (folder, state) = stopped();
        let (run, file) = (folder.path().join("run"), scene(BALL));
        let output = Checkpoint::read(&run, &file).unwrap().output;
        for length in [0.0, 0.9, 1e100, f64::NAN] {
            let mut forged = state.clone();
            forged.q[1].rotation = Quat::new_unchecked(state.q[1].rotation.into_inner() * length);
            let bytes = Checkpoint::bytes(&run, &file.identity(), &forged, &output).unwrap();
            let path = folder.path().join("forged.bin");
            fs::write(&path, bytes).unwrap();
            let told = Checkpoint::parts(&path).map(|_| ()).unwrap_err().to_string();
            assert!(told.contains("restart the run"), "{length}: {told}");
        }
    }

    #[test]
    fn a_series_that_does_not_match_is_rejected_before_anything_is_removed() {
        let (folder, _) = stopped();
        let (run, file) = (folder.path().join("run"), scene(BALL));
        let built = file.build().unwrap();
        let checkpoint = Checkpoint::read(&run, &file).unwrap();
        let series = fs::read(run.join("series.csv")).unwrap();
        let frames = || fs::read(run.join(crate::run_file::FILE)).unwrap();
        let before = frames();
        for (content, told) in [
            (&series[..series.len() / 3], "shorter than it was at the checkpoint"),
            (&[&b"tame"[..], &series[4..]].concat(), "columns do not match the scene"),
        ] {
            fs::write(run.join("series.csv"), content).unwrap();
            let refused = RunWriter::resume(&run, &file, &built, 1, &checkpoint);
            let message = refused.unwrap_err().to_string();
            assert!(message.contains("series.csv") && message.contains(told), "{message}");
            assert_eq!(fs::read(run.join("series.csv")).unwrap(), content);
        }
        assert_eq!(frames(), before);

        // With its own series it resumes.
        fs::write(run.join("series.csv"), &series).unwrap();
        assert!(RunWriter::resume(&run, &file, &built, 1, &checkpoint).is_ok());
    }
}

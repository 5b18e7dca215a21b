//! Checkpoints: all that a killed run needs to go on and to end with the same bits. The state is the whole of it for the
//! simulator; the rest tells the writers of the run folder where they were.

use std::path::{Path, PathBuf};

use riprap::scene::State;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Place};
use crate::output::Progress;
use crate::scene_file::{SceneFile, first_difference};
use crate::sealed::{self, Kind};

/// Name of the file in the folder of a run.
pub const FILE: &str = "checkpoint.bin";

const KIND: Kind = Kind {
    magic: *b"riprapCP",
    layout: 2,
    name: "checkpoint",
    advice: "start the run anew, overwriting the old one",
};

/// Where a run goes on.
#[derive(Clone, Debug, Deserialize)]
pub struct Checkpoint {
    /// What the scene was: [`SceneFile::identity`].
    scene: String,
    /// The state.
    pub state: State,
    /// Where the writers were.
    pub(crate) output: Progress,
}

/// The same, to be written.
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

    /// Reads the checkpoint in the folder of a run, which must be one of this scene. The end of the run may be another.
    pub fn read(folder: &Path, scene: &SceneFile) -> Result<Checkpoint, Error> {
        let path = Self::path(folder);
        let read: Checkpoint = sealed::read(&path, &KIND)?;
        let refuse = |message: String| Err(Error::format(&path, Place::Whole, message));
        if let Some(what) = first_difference(&read.scene, &scene.identity()) {
            return refuse(format!(
                "the scene has changed since the checkpoint: {what}; take back the change, or start the run anew, overwriting \
                 the old one"
            ));
        }
        if read.state.t > scene.run.until - 0.5 * scene.run.dt {
            let (t, until) = (read.state.t, scene.run.until);
            return refuse(format!(
                "the checkpoint is at t = {t} s, the run ends at {until} s: nothing is left to do; run longer, or start anew"
            ));
        }
        Ok(read)
    }

    /// Writes a checkpoint into the folder of a run, in the place of the last one.
    pub(crate) fn write(
        folder: &Path,
        scene: &str,
        state: &State,
        output: &Progress,
    ) -> Result<(), Error> {
        sealed::write(&Self::path(folder), &KIND, &Writing { scene, state, output })
    }
}

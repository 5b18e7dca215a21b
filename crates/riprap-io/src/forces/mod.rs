//! The force network of a run folder: loads its last checkpoint, takes one step in memory, computes the unique contact
//! forces of that step and writes them as a table, as lines for ParaView and as a picture.

mod files;
mod picture;

pub use picture::View;

use std::path::{Path, PathBuf};

use riprap::friction::{RestError, RestForces};
use riprap::simulation::{self, ForceNetwork, Frame, Resultant, Simulation};

use crate::checkpoint::Checkpoint;
use crate::output::Link;
use crate::run_folder::RunFolder;
use crate::scene_file::{SceneErrors, SceneFile};

/// The files that [`write`] writes into the folder of a run: table, lines for ParaView and picture.
pub const FILES: [&str; 3] = ["forces.csv", "force-chains.vtp", "force-chains.svg"];

/// Why the forces of a run cannot be computed or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder does not contain a run.
    #[error(
        "{} is not the folder of a run: it has no summary.json, series.csv or run.vtkhdf; give the folder that `riprap run` wrote",
        folder.display()
    )]
    NotARun {
        /// The folder.
        folder: PathBuf,
    },
    /// The run has no checkpoint.
    #[error(
        "the run in {} has no checkpoint, and so no state; run its scene with checkpoints (`checkpoint_every` in [run], or \
         --checkpoint-every)",
        folder.display()
    )]
    NoCheckpoint {
        /// The folder of the run.
        folder: PathBuf,
    },
    /// A time before the checkpoint is asked for.
    #[error(
        "the last checkpoint is at t = {checkpoint} s; times before it, such as {time} s, are not stored"
    )]
    Before {
        /// Time that was asked for [s].
        time: f64,
        /// Time of the checkpoint [s].
        checkpoint: f64,
    },
    /// The scene in the folder is not valid.
    #[error(transparent)]
    Scene(#[from] SceneErrors),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] crate::Error),
    /// A step fails.
    #[error(transparent)]
    Run(#[from] simulation::Error),
    /// The forces cannot be computed.
    #[error(transparent)]
    Rest(#[from] RestError),
}

/// The run in a folder at its last checkpoint or, continued in memory, at a later time [s], and one step further. Nothing
/// is written.
pub fn load(folder: &Path, time: Option<f64>) -> Result<Simulation, Error> {
    if !RunFolder::holds_run(folder) {
        return Err(Error::NotARun { folder: folder.to_owned() });
    }
    if !Checkpoint::path(folder).exists() {
        return Err(Error::NoCheckpoint { folder: folder.to_owned() });
    }
    let mut scene = SceneFile::read(folder.join("scene.toml"))?;
    // The end of the run does not matter here.
    scene.run.until = f64::INFINITY;
    let built = scene.build()?;
    let state = Checkpoint::read(folder, &scene)?.state;
    if let Some(time) = time.filter(|t| *t < state.t) {
        return Err(Error::Before { time, checkpoint: state.t });
    }
    let mut run = Simulation::new(built.scene, scene.scheme())?;
    run.set_state(state)?;
    if let Some(time) = time {
        run.until(time, &mut ())?;
    }
    run.step()?;
    Ok(run)
}

/// The force network of the last step of a run.
pub fn network(
    run: &Simulation,
    rest: &RestForces,
    resultant: Resultant,
) -> Result<ForceNetwork, Error> {
    Ok(ForceNetwork::of(&run.frame(), rest, resultant)?)
}

/// Writes [`FILES`] into a folder.
pub fn write(
    folder: &Path,
    frame: &Frame,
    network: &ForceNetwork,
    view: View,
) -> Result<(), Error> {
    files::write_table(&folder.join(FILES[0]), frame.scene, network)?;
    let links = files::links(frame, network);
    Link::lines(&links, frame.scene.grain_size()).write(&folder.join(FILES[1]))?;
    picture::write(&folder.join(FILES[2]), frame, links, view)?;
    Ok(())
}

#[cfg(test)]
mod tests;

//! The contact problems of a run, each in its own file.

use std::path::{Path, PathBuf};

use riprap::simulation::Frame;

use crate::error::Error;
use crate::fclib;
use crate::scene_file::SceneFile;

/// Writes the contact problem of every n-th step, with its impulses.
pub(super) struct Problems {
    folder: PathBuf,
    every: u64,
    title: String,
}

impl Problems {
    /// Creates the folder `problems` in the folder of the run.
    pub fn create(run: &Path, scene: &SceneFile, every: u32) -> Result<Problems, Error> {
        let folder = run.join("problems");
        std::fs::create_dir_all(&folder).map_err(Error::io("create", &folder))?;
        let title = scene.title.clone().unwrap_or_default();
        Ok(Problems { folder, every: u64::from(every.max(1)), title })
    }

    /// Writes the problem of a step, if it is due and there are contacts.
    pub fn write(&self, frame: &Frame) -> Result<(), Error> {
        let (step, problem) = (frame.state.step, frame.work.problem());
        if step == 0 || !step.is_multiple_of(self.every) || problem.is_empty() {
            return Ok(());
        }
        let (t, dt) = (frame.state.t, frame.dt);
        let info = fclib::Info {
            title: self.title.clone(),
            description: format!("riprap, step {step}, t = {t} s, dt = {dt} s"),
            math_info: String::new(),
        };
        let path = self.folder.join(format!("problem-{step:06}.hdf5"));
        // The problem is that of the impulses together with the adhesive ones.
        let mut impulses = frame.work.impulses().clone();
        frame.work.contacts().adhere_to(&mut impulses);
        fclib::write(&path, problem, &info, Some(&impulses))
    }
}

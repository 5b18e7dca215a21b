//! Frames of a simulation without a scene file, for those who step it themselves.

use std::path::PathBuf;

use riprap::detect::ColliderSet;
use riprap::math::Vec3;
use riprap::simulation::Frame;

use super::{Contents, Due, RunFileWriter, Shapes};
use crate::Error;
use crate::output::{Snapshot, extent};

/// Writes frames of a simulation into a run file, bodies and contacts at every one. The file appears with the first frame and is complete
/// after each.
///
/// ```
/// use riprap::prelude::*;
/// use riprap_io::run_file::{FrameWriter, RunFile};
///
/// let steel = Material::new("steel").density(7800.0);
/// let mut scene = Scene::builder();
/// scene.add(BodyDescription::new(Shape::sphere(0.1)?, &steel).named("ball"), &steel);
/// let mut run = Simulation::new(scene.build()?, MoreauJean::new(1e-3))?;
/// let path = std::env::temp_dir().join(format!("riprap-frames-{}.vtkhdf", std::process::id()));
/// let mut frames = FrameWriter::create(path.clone(), &run.frame());
/// for k in 0..3 {
///     run.until(0.01 * f64::from(k), &mut ())?;
///     frames.add(&run.frame())?;
/// }
/// assert_eq!(RunFile::open(&path)?.times().len(), 3);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FrameWriter {
    writer: RunFileWriter,
    /// The colliders of the last frame, and the box in which half-spaces are drawn [m].
    drawn: (ColliderSet, [Vec3; 2]),
    /// Time of the last frame [s].
    last: Option<f64>,
}

impl FrameWriter {
    /// A writer of a file for the scene of a frame. Nothing is written yet.
    pub fn create(path: PathBuf, frame: &Frame) -> FrameWriter {
        let scene = frame.scene;
        let contents = Contents {
            ropes: !scene.ropes().is_empty(),
            chains: false,
            insertions: scene.population().is_some_and(|p| !p.insertions.is_empty()),
        };
        let drawn = (scene.collider_set(), extent(scene));
        let writer = RunFileWriter::create(path, Shapes::within(scene, drawn.1), contents);
        FrameWriter { writer, drawn, last: None }
    }

    /// Adds a frame, unless it is not later than the last one.
    pub fn add(&mut self, frame: &Frame) -> Result<(), Error> {
        let t = frame.state.t;
        if self.last.is_some_and(|last| t <= last) {
            return Ok(());
        }
        if self.drawn.0 != frame.scene.collider_set() {
            self.drawn.0 = frame.scene.collider_set();
            self.writer.set_shapes(Shapes::within(frame.scene, self.drawn.1));
        }
        let due = Due { surfaces: true, contacts: true, chains: None };
        self.writer.write(&Snapshot::of(frame), &due)?;
        self.last = Some(t);
        Ok(())
    }
}

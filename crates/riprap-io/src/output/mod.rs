//! What a run leaves behind: an observer that writes the series, the frames and the summary into a [`RunFolder`].
//! Whenever the run ends, also by a kill, every file is whole and tells how far it came.

mod mechanisms;
mod series;
mod summary;
mod surfaces;

pub use summary::Ending;

use std::path::Path;
use std::time::Instant;

use riprap::assembly::joint_drift;
use riprap::scene::Scene;
use riprap::simulation::{Balance, Frame, Observer};

use crate::build::{Built, Settled};
use crate::error::Error;
use crate::run_folder::{Existing, RunFolder};
use crate::scene_file::SceneFile;
use crate::table::TableWriter;
use series::Series;
use summary::Tally;
use surfaces::Surfaces;

/// Writes a run while it goes on.
///
/// Show it every step of a run ([`Observer`]), and call [`RunWriter::finish`] at the end.
#[derive(Debug)]
pub struct RunWriter {
    folder: RunFolder,
    scene: Description,
    series: Series,
    table: TableWriter,
    /// `None` if no frames are wanted.
    surfaces: Option<Surfaces>,
    /// Steps between two outputs.
    every: u64,
    /// Step of the last output.
    written: Option<u64>,
    n_frames: usize,
    tally: Tally,
    begin: Instant,
}

/// What the summary tells of the scene and the machine.
#[derive(Debug)]
struct Description {
    title: Option<String>,
    seed: u64,
    threads: usize,
    dt: f64,
    until: f64,
    n_bodies: usize,
    n_free: usize,
    n_mechanisms: usize,
    /// Degrees of freedom of the mechanisms.
    freedom: usize,
    grain_size: f64,
    settled: Option<(bool, f64, u64)>,
}

impl RunWriter {
    /// Makes the folder of a run and writes the resolved scene and a first summary. `threads` is for the record.
    pub fn create(
        path: impl AsRef<Path>,
        existing: Existing,
        file: &SceneFile,
        built: &Built,
        threads: usize,
    ) -> Result<RunWriter, Error> {
        let folder = RunFolder::create(path, existing)?;
        folder.write_scene(&file.to_toml())?;
        let scene = &built.scene;
        let series = Series::new(file, built);
        let table = folder.series(&series.columns)?;
        let dt = file.run.dt;
        let writer = RunWriter {
            folder,
            scene: Description {
                title: file.title.clone(),
                seed: file.seed,
                threads,
                dt,
                until: file.run.until,
                // Without the world, to which joints and chosen contacts may be fixed.
                n_bodies: file.n_bodies() as usize
                    + scene.bodies().carried.iter().flatten().count(),
                n_free: scene.bodies().n_movable(),
                n_mechanisms: scene.mechanisms().len(),
                freedom: scene
                    .mechanisms()
                    .iter()
                    .map(|m| m.degrees_of_freedom(&m.start().partition))
                    .sum(),
                grain_size: scene.grain_size(),
                settled: None,
            },
            series,
            table,
            surfaces: file.run.frames.then(|| Surfaces::new(scene)),
            every: ((file.run.output_every / dt).round() as u64).max(1),
            written: None,
            n_frames: 0,
            tally: Tally::default(),
            begin: Instant::now(),
        };
        writer.write_summary(&Ending::Running, None)?;
        Ok(writer)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Number of frames written for ParaView.
    pub fn n_frames(&self) -> usize {
        self.n_frames
    }

    /// Number of mechanisms.
    pub fn n_mechanisms(&self) -> usize {
        self.scene.n_mechanisms
    }

    /// Deepest overlap of the run so far over the mean grain size [–].
    pub fn worst_penetration(&self) -> f64 {
        self.tally.penetration / self.scene.grain_size
    }

    /// Largest distance by which a joint between bodies was off so far, over the mean grain size [–].
    pub fn worst_joint_drift(&self) -> f64 {
        self.tally.joint_drift.unwrap_or(0.0) / self.scene.grain_size
    }

    /// Puts on record how the grains settled before the time started.
    pub fn settled(&mut self, settled: &Settled) {
        self.scene.settled = Some((settled.calm, settled.time, settled.report.steps));
    }

    /// Writes the last output, if the run ended between two, and the summary. After a run that did not even begin,
    /// `frame` is `None`.
    pub fn finish(&mut self, frame: Option<&Frame>, ending: &Ending) -> Result<(), Error> {
        if let Some(frame) = frame
            && self.written != Some(frame.state.step)
        {
            self.output(frame)?;
        }
        self.write_summary(ending, frame)
    }

    fn output(&mut self, frame: &Frame) -> Result<(), Error> {
        self.table.row(&self.series.row(frame, &mut self.tally))?;
        if let Some(surfaces) = &self.surfaces {
            let t = frame.state.t;
            self.folder.write_frame("surfaces", self.n_frames, t, &surfaces.bodies(frame))?;
            self.folder.write_frame("contacts", self.n_frames, t, &surfaces::contacts(frame))?;
            self.n_frames += 1;
        }
        self.written = Some(frame.state.step);
        // Should the run be killed, the summary tells how far it came.
        self.write_summary(&Ending::Running, Some(frame))
    }

    fn write_summary(&self, ending: &Ending, frame: Option<&Frame>) -> Result<(), Error> {
        let wall = self.begin.elapsed().as_secs_f64();
        let end = frame.map(|frame| (frame.state.t, Balance::of(frame.scene, frame.state)));
        self.folder.write_summary(&summary::summary(&self.scene, &self.tally, ending, end, wall))
    }
}

impl Observer for RunWriter {
    fn observe(&mut self, frame: &Frame) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        if self.tally.begin.is_none() {
            self.tally.begin = Some(Balance::of(frame.scene, frame.state));
        } else {
            self.tally.add(frame.step);
        }
        for joint in frame.scene.joints() {
            let [distance, _] = joint_drift(joint, &frame.state.q);
            self.tally.joint_drift = Some(self.tally.joint_drift.unwrap_or(0.0).max(distance));
        }
        self.series.step(frame);
        if frame.state.step.is_multiple_of(self.every) && self.written != Some(frame.state.step) {
            self.output(frame)?;
        }
        Ok(())
    }
}

/// The smallest box around all finite bodies at the begin: lower and upper corner [m].
fn extent(scene: &Scene) -> [riprap::math::Vec3; 2] {
    use riprap::math::Vec3;
    let state = scene.initial_state();
    let mut corners = [Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY)];
    for (q, radius) in state.q.iter().zip(&scene.bodies().radius) {
        if radius.is_finite() {
            corners[0] = corners[0].inf(&(q.position - Vec3::repeat(*radius)));
            corners[1] = corners[1].sup(&(q.position + Vec3::repeat(*radius)));
        }
    }
    if corners[0].x > corners[1].x { [Vec3::repeat(-1.0), Vec3::repeat(1.0)] } else { corners }
}

#[cfg(test)]
mod tests;

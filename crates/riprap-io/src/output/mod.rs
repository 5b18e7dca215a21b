//! What a run leaves behind: an observer that writes the series, the frames and the summary into a [`RunFolder`], by a thread of
//! its own. Whenever the run ends, also by a kill, every file is whole and tells how far it came.

mod mechanisms;
mod queue;
mod series;
mod summary;
mod surfaces;

pub use summary::Ending;
pub use surfaces::{Snapshot, Surfaces};

use std::path::{Path, PathBuf};
use std::time::Instant;

use riprap::assembly::joint_drift;
use riprap::math::Twist;
use riprap::scene::Scene;
use riprap::simulation::{Balance, Frame, Observer, RunReport};
use serde::{Deserialize, Serialize};

use crate::build::{Built, Settled};
use crate::checkpoint::Checkpoint;
use crate::error::Error;
use crate::run_folder::{Existing, RunFolder};
use crate::scene_file::SceneFile;
use crate::table::TableWriter;
use queue::{Files, Queue};
use series::Series;
use summary::Tally;

/// Writes a run while it goes on.
///
/// Show it every step of a run ([`Observer`]), and call [`RunWriter::finish`] at the end.
#[derive(Debug)]
pub struct RunWriter {
    path: PathBuf,
    files: Queue<Files>,
    scene: Description,
    series: Series,
    /// Whether frames are wanted.
    frames: bool,
    /// Steps between two outputs.
    every: u64,
    /// Steps between two checkpoints; `None` if none are wanted.
    checkpoint_every: Option<u64>,
    /// What the scene is, for the checkpoints.
    identity: String,
    /// Step of the last output.
    written: Option<u64>,
    /// Times of the frames [s].
    frame_times: Vec<f64>,
    tally: Tally,
    begin: Instant,
}

/// Where the writers of a run are: their part of a checkpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// Length of `series.csv` [bytes].
    series: u64,
    /// Times of the frames [s].
    frame_times: Vec<f64>,
    written: Option<u64>,
    tally: Tally,
    probes: Vec<(Twist, f64)>,
    settled: Option<(bool, f64, u64)>,
}

/// What a frame consists of.
const PARTS: [&str; 2] = ["surfaces", "contacts"];

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
        let series = Series::new(file, built);
        let table = folder.series(&series.columns)?;
        Self::begin(folder, series, table, file, built, threads)
    }

    /// Goes on with the folder of a run after a checkpoint; what was written after it is removed. The run has to go on
    /// with [`Checkpoint::state`].
    pub fn resume(
        path: impl AsRef<Path>,
        file: &SceneFile,
        built: &Built,
        threads: usize,
        checkpoint: &Checkpoint,
    ) -> Result<RunWriter, Error> {
        let (path, kept) = (path.as_ref(), &checkpoint.output);
        let mut series = Series::new(file, built);
        // The series says whether the folder is the right one: it comes before anything is removed.
        let table = TableWriter::resume(path.join("series.csv"), &series.columns, kept.series)?;
        if !series.resume(checkpoint.state.step, &kept.probes) {
            let message = "the checkpoint knows other probes than the scene".into();
            return Err(Error::Data { path: Checkpoint::path(path), message });
        }
        let folder = RunFolder::resume(path, &PARTS, &kept.frame_times)?;
        let mut writer = Self::begin(folder, series, table, file, built, threads)?;
        writer.written = kept.written;
        writer.frame_times.clone_from(&kept.frame_times);
        writer.tally = kept.tally.clone();
        writer.scene.settled = kept.settled;
        Ok(writer)
    }

    /// The writer of a folder that is ready.
    fn begin(
        folder: RunFolder,
        series: Series,
        table: TableWriter,
        file: &SceneFile,
        built: &Built,
        threads: usize,
    ) -> Result<RunWriter, Error> {
        folder.write_scene(&file.to_toml())?;
        let scene = &built.scene;
        let dt = file.run.dt;
        let steps = |time: f64| ((time / dt).round() as u64).max(1);
        let path = folder.path().to_owned();
        let surfaces = file.run.frames.then(|| Surfaces::new(scene));
        let writer = RunWriter {
            path,
            files: Queue::new(Files { folder, table, surfaces }),
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
            frames: file.run.frames,
            every: steps(file.run.output_every),
            checkpoint_every: file.run.checkpoint_every.map(steps),
            identity: file.identity(),
            written: None,
            frame_times: Vec::new(),
            tally: Tally::default(),
            begin: Instant::now(),
        };
        writer.write_summary(&Ending::Running, None)?;
        writer.files.wait()?;
        Ok(writer)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of frames written for ParaView.
    pub fn n_frames(&self) -> usize {
        self.frame_times.len()
    }

    /// Sums over all steps of the run, those before a checkpoint included.
    pub fn report(&self) -> RunReport {
        let mut report = self.tally.report;
        report.wall += self.begin.elapsed().as_secs_f64();
        report
    }

    /// Number of mechanisms.
    pub fn n_mechanisms(&self) -> usize {
        self.scene.n_mechanisms
    }

    /// Deepest overlap of the run so far over the mean grain size [–].
    pub fn worst_penetration(&self) -> f64 {
        self.tally.report.penetration / self.scene.grain_size
    }

    /// Largest distance by which a joint between bodies was off so far, over the mean grain size [–].
    pub fn worst_joint_drift(&self) -> f64 {
        self.tally.joint_drift.unwrap_or(0.0) / self.scene.grain_size
    }

    /// Puts on record how the grains settled before the time started.
    pub fn settled(&mut self, settled: &Settled) {
        self.scene.settled = Some((settled.calm, settled.time, settled.report.steps));
        let hash = settled.hash();
        // A failure is that of an earlier job, and comes back with the next one.
        self.files.hand_over(move |files| {
            files.folder.set_bed(hash);
            Ok(())
        });
    }

    /// Writes the last output, if the run ended between two, and the summary. After a run that did not even begin,
    /// `frame` is `None`.
    pub fn finish(&mut self, frame: Option<&Frame>, ending: &Ending) -> Result<(), Error> {
        // A step after which the run was given up has not been shown.
        if let Some(frame) = frame
            && frame.state.step > self.tally.seen
        {
            self.see(frame);
        }
        if let Some(frame) = frame
            && self.written != Some(frame.state.step)
        {
            self.output(frame)?;
        }
        self.write_summary(ending, frame)?;
        self.files.wait()
    }

    /// Writes a checkpoint, in the place of the last one. All that is seen of the run later has to come after it.
    pub fn write_checkpoint(&mut self, frame: &Frame) -> Result<(), Error> {
        self.send_checkpoint(frame)?;
        self.files.wait()
    }

    fn send_checkpoint(&self, frame: &Frame) -> Result<(), Error> {
        let mut tally = self.tally.clone();
        tally.report = self.report();
        let mut progress = Progress {
            series: 0,
            frame_times: self.frame_times.clone(),
            written: self.written,
            tally,
            probes: self.series.progress(),
            settled: self.scene.settled,
        };
        let (identity, state) = (self.identity.clone(), frame.state.clone());
        self.files.send(move |files| {
            progress.series = files.table.sync()?;
            let folder = files.folder.path();
            let bytes = Checkpoint::bytes(folder, &identity, &state, &progress)?;
            files.folder.write_checkpoint(&bytes)
        })
    }

    /// Sums up a step.
    fn see(&mut self, frame: &Frame) {
        if self.tally.begin.is_none() {
            self.tally.begin = Some(Balance::of(frame.scene, frame.state));
        } else if frame.state.step > self.tally.seen {
            self.tally.add(frame.step);
        }
        self.tally.seen = frame.state.step;
        for joint in frame.scene.joints() {
            let [distance, _] = joint_drift(joint, &frame.state.q);
            self.tally.joint_drift = Some(self.tally.joint_drift.unwrap_or(0.0).max(distance));
        }
        self.series.step(frame);
    }

    /// Whether a state is the last of the run.
    fn is_end(&self, t: f64) -> bool {
        t > self.scene.until - 0.5 * self.scene.dt
    }

    fn output(&mut self, frame: &Frame) -> Result<(), Error> {
        let row = self.series.row(frame, &mut self.tally);
        let (t, number) = (frame.state.t, self.frame_times.len());
        let snapshot = self.frames.then(|| Snapshot::of(frame));
        self.files.send(move |files| {
            files.table.row(&row)?;
            if let (Some(surfaces), Some(snapshot)) = (&files.surfaces, snapshot) {
                for (part, data) in
                    PARTS.iter().zip([surfaces.bodies(&snapshot), snapshot.contacts()])
                {
                    files.folder.write_frame(part, number, t, &data)?;
                }
            }
            Ok(())
        })?;
        if self.frames {
            self.frame_times.push(t);
        }
        self.written = Some(frame.state.step);
        // Should the run be killed, the summary tells how far it came.
        self.write_summary(&Ending::Running, Some(frame))
    }

    fn write_summary(&self, ending: &Ending, frame: Option<&Frame>) -> Result<(), Error> {
        let wall = self.report().wall;
        let end = frame.map(|frame| (frame.state.t, Balance::of(frame.scene, frame.state)));
        let summary = summary::summary(&self.scene, &self.tally, ending, end, wall);
        self.files.send(move |files| files.folder.write_summary(&summary))
    }
}

impl Observer for RunWriter {
    fn observe(&mut self, frame: &Frame) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.files.check()?;
        self.see(frame);
        if frame.state.step.is_multiple_of(self.every) && self.written != Some(frame.state.step) {
            self.output(frame)?;
        }
        // At the end nothing is left to go on with.
        let step = frame.state.step;
        if let Some(every) = self.checkpoint_every
            && step > 0
            && step.is_multiple_of(every)
            && !self.is_end(frame.state.t)
        {
            self.send_checkpoint(frame)?;
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
mod series_tests;
#[cfg(test)]
mod tests;

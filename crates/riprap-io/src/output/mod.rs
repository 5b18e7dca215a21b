//! Output of a run: an observer that writes the series, the frames and the summary to a [`RunFolder`], in a separate thread.
//! Whenever the run ends, even if it is killed, every file is complete up to the last output.

mod account;
mod chains;
mod degradation;
mod impacts;
mod loads;
mod measures;
mod mechanisms;
mod multipliers;
mod population;
mod queue;
pub(crate) mod ropes;
mod series;
mod summary;
mod surfaces;

pub(crate) use chains::Link;
pub use summary::Ending;
pub use surfaces::{Snapshot, Surfaces};

use std::path::{Path, PathBuf};
use std::time::Instant;

use riprap::assembly::joint_drift;
use riprap::detect::ColliderSet;
use riprap::scene::Scene;
use riprap::simulation::{Balance, Frame, Observer, RunReport};
use serde::{Deserialize, Serialize};

use crate::build::{Built, Settled};
use crate::checkpoint::Checkpoint;
use crate::error::Error;
use crate::run::write_end;
use crate::run_file::{self, Contents, Due, RunFileWriter, Shapes};
use crate::run_folder::{Existing, IMPACTS, RunFolder};
use crate::scene_file::{Run, SceneFile};
use crate::stop::{Held, Stop, Stopped};
use crate::table::{Column, TableWriter};
use crate::vtk::Field;
use impacts::Impacts;
use queue::{Files, Queue};
use series::Series;
use summary::Tally;

/// Writes the output of a run.
///
/// Pass it every step of a run ([`Observer`]), and call [`RunWriter::finish`] at the end.
#[derive(Debug)]
pub struct RunWriter {
    path: PathBuf,
    files: Queue<Files>,
    scene: Description,
    series: Series,
    /// The impacts, if they are recorded.
    impacts: Option<Impacts>,
    /// When rows of the series are due.
    rows: Schedule,
    /// When frames of each of the [`PARTS`] are due; `None` if disabled.
    frames: Option<[Schedule; 2]>,
    /// When checkpoints are due; `None` if disabled.
    checkpoints: Option<Schedule>,
    /// The identity of the scene, for the checkpoints.
    identity: String,
    /// Step of the last row.
    written: Option<u64>,
    /// The condition that ends the run, if there is one.
    stop: Option<Stop>,
    /// Times of the frames of each part [s].
    frame_times: [Vec<f64>; 2],
    tally: Tally,
    begin: Instant,
    /// The colliders whose surfaces are drawn, and the box around the described scene [m].
    drawn: (ColliderSet, [riprap::math::Vec3; 2]),
}

/// The position of the writers of a run: their part of a checkpoint.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Progress {
    /// Length of `series.csv` [bytes].
    series: u64,
    /// Length of `impacts.csv` [bytes]; 0 if there is none.
    impacts: u64,
    /// Times of the frames of each part [s].
    frame_times: [Vec<f64>; 2],
    written: Option<u64>,
    tally: Tally,
    probes: series::Kept,
    settled: Option<(bool, f64, u64)>,
    /// Whether the stop condition holds.
    stop: Held,
}

/// The parts of a frame.
const PARTS: [&str; 2] = ["surfaces", "contacts"];

/// The part of a frame with the ropes, if there are any; it is written with the surfaces.
const ROPES: &str = "ropes";

/// The part of a frame with the force chains, if requested; it is written with the contacts.
const CHAINS: &str = "chains";

/// When output is written.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Schedule {
    /// After every multiple of this number of fixed steps.
    Steps(u64),
    /// At the end of the step that reaches a multiple of a time [s], with adaptive steps.
    Times(f64),
}

impl Schedule {
    fn new(every: f64, run: &Run) -> Schedule {
        if run.scheme.is_adaptive() {
            return Schedule::Times(every);
        }
        Schedule::Steps(((every / run.dt).round() as u64).max(1))
    }

    /// Whether the state at `t` [s] after `step` steps, the last of which took `dt` [s], is written.
    fn is_due(self, step: u64, t: f64, dt: f64) -> bool {
        match self {
            Schedule::Steps(every) => step.is_multiple_of(every),
            // Rounding of sums must not delay an output by a step.
            Schedule::Times(every) => {
                let reached = |t: f64| (t / every + 1e-9).floor();
                step == 0 || reached(t) > reached(t - dt)
            }
        }
    }

    fn is_due_at(self, frame: &Frame) -> bool {
        self.is_due(frame.state.step, frame.state.t, frame.dt)
    }
}

/// Properties of the scene and the machine for the summary.
#[derive(Debug)]
struct Description {
    title: Option<String>,
    seed: u64,
    threads: usize,
    run: Run,
    n_bodies: usize,
    n_free: usize,
    n_mechanisms: usize,
    /// Degrees of freedom of the mechanisms.
    freedom: usize,
    grain_size: f64,
    resolution: f64,
    settled: Option<(bool, f64, u64)>,
    /// Options that set keys.
    set: Vec<String>,
}

impl RunWriter {
    /// Creates the folder of a run and writes the resolved scene and an initial summary. `threads` is only recorded.
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
        let create = |_| TableWriter::create(folder.path().join(IMPACTS), &Impacts::columns());
        let impacts = file.run.impact_speed.map(create).transpose()?;
        Self::begin(folder, series, (table, impacts), file, built, threads, 0)
    }

    /// Continues the folder of a run after a checkpoint; everything written after it is removed. The run must continue
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
        // The series shows whether this is the right folder, so it is checked before anything is removed.
        let table = TableWriter::resume(path.join("series.csv"), &series.columns, kept.series)?;
        if !series.resume(checkpoint.state.step, &kept.probes) {
            let message = "the probes of the checkpoint differ from those of the scene".into();
            return Err(Error::Data { path: Checkpoint::path(path), message });
        }
        let columns = Impacts::columns();
        let resume = |_| TableWriter::resume(path.join(IMPACTS), &columns, kept.impacts);
        let impacts = file.run.impact_speed.map(resume).transpose()?;
        let vtp = file.run.frames.is_some_and(|format| format.has_vtp());
        let frames = PARTS.iter().copied().zip(kept.frame_times.iter().map(Vec::as_slice));
        let ropes = (!built.scene.ropes().is_empty()).then_some((ROPES, &kept.frame_times[0][..]));
        let chains = file.run.force_chains.then_some((CHAINS, &kept.frame_times[1][..]));
        let parts = frames.chain(ropes).chain(chains).filter(|_| vtp);
        let parts: Vec<_> = parts.collect();
        let folder = RunFolder::resume(path, &parts)?;
        let n_steps = n_times(&kept.frame_times);
        let tables = (table, impacts);
        let mut writer = Self::begin(folder, series, tables, file, built, threads, n_steps)?;
        writer.written = kept.written;
        writer.frame_times.clone_from(&kept.frame_times);
        writer.tally = kept.tally.clone();
        writer.scene.settled = kept.settled;
        if let Some(stop) = &mut writer.stop {
            stop.resume(kept.stop);
        }
        Ok(writer)
    }

    /// The writer for a prepared folder with the tables of the series and of impacts, and a number of steps that the run file
    /// keeps.
    fn begin(
        folder: RunFolder,
        series: Series,
        (table, impacts): (TableWriter, Option<TableWriter>),
        file: &SceneFile,
        built: &Built,
        threads: usize,
        n_steps: usize,
    ) -> Result<RunWriter, Error> {
        folder.write_scene(&file.to_toml())?;
        let scene = &built.scene;
        let run = &file.run;
        let schedule = |every: f64| Schedule::new(every, run);
        let path = folder.path().to_owned();
        let stop = Stop::new(file, &series.columns)
            .map_err(|problem| Error::Data { path: path.clone(), message: problem.message })?;
        let vtp = run.frames.is_some_and(|format| format.has_vtp());
        let surfaces = vtp.then(|| Surfaces::new(scene));
        let run_file = run.frames.is_some_and(|format| format.has_run_file()).then(|| {
            let contents = Contents {
                ropes: !scene.ropes().is_empty(),
                chains: run.force_chains,
                insertions: scene.population().is_some_and(|p| !p.insertions.is_empty()),
            };
            let shapes = Shapes::within(scene, extent(scene));
            RunFileWriter::resume(path.join(run_file::FILE), shapes, contents, n_steps)
        });
        let run_file = run_file.transpose()?;
        let writer = RunWriter {
            path,
            files: Queue::new(Files { folder, table, impacts, surfaces, run: run_file }),
            scene: Description {
                title: file.title.clone(),
                seed: file.seed,
                threads,
                run: run.clone(),
                // Excludes the world, to which joints and point contacts may be attached.
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
                resolution: scene.resolution(),
                settled: None,
                set: file.source.set.clone(),
            },
            series,
            impacts: run.impact_speed.map(Impacts::new),
            rows: schedule(run.series_every),
            frames: run.frames.map(|_| [run.frames_every, run.contacts_every].map(schedule)),
            checkpoints: run.checkpoint_every.map(schedule),
            identity: file.identity(),
            written: None,
            stop,
            frame_times: Default::default(),
            tally: Tally::default(),
            begin: Instant::now(),
            drawn: (scene.collider_set(), extent(scene)),
        };
        writer.write_summary(&Ending::Running, None)?;
        writer.files.wait()?;
        Ok(writer)
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Number of frames of the surfaces written for ParaView, or of the contacts if there are more.
    pub fn n_frames(&self) -> usize {
        self.frame_times.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Statistics over all steps of the run, including those before a checkpoint.
    pub fn report(&self) -> RunReport {
        let mut report = self.tally.report;
        report.wall += self.begin.elapsed().as_secs_f64();
        report
    }

    /// The condition that has ended the run, if one has.
    pub fn stopped(&self) -> Option<Stopped> {
        self.stop.as_ref().and_then(Stop::stopped)
    }

    /// Whether the run is at its end.
    fn is_over(&self, t: f64) -> bool {
        self.scene.run.is_over(t) || self.stopped().is_some()
    }

    /// Number of mechanisms.
    pub fn n_mechanisms(&self) -> usize {
        self.scene.n_mechanisms
    }

    /// Maximum overlap so far, relative to [`Scene::resolution`](riprap::prelude::Scene::resolution) [–].
    pub fn worst_penetration(&self) -> f64 {
        self.tally.report.penetration / self.scene.resolution
    }

    /// Whether overlaps are related to a clearance instead of the grain size.
    pub fn resolves_clearance(&self) -> bool {
        self.scene.resolution < self.scene.grain_size
    }

    /// Maximum drift of a joint between bodies so far, relative to the mean grain size [–].
    pub fn worst_joint_drift(&self) -> f64 {
        self.tally.joint_drift.unwrap_or(0.0) / self.scene.grain_size
    }

    /// Records how the grains settled before t = 0.
    pub fn settled(&mut self, settled: &Settled) {
        self.scene.settled = Some((settled.calm, settled.time, settled.report.steps));
        let hash = settled.hash();
        // A failure is that of an earlier job, and is returned with the next one.
        self.files.hand_over(move |files| {
            files.folder.set_bed(hash);
            Ok(())
        });
    }

    /// Records the run from whose end this one starts, and what carried over.
    pub(crate) fn started_from(&mut self, record: serde_json::Value) {
        // A failure is that of an earlier job, and is returned with the next one.
        self.files.hand_over(move |files| {
            files.folder.set_start(record);
            Ok(())
        });
    }

    /// Writes the last output, if the run ended between two outputs, the state, and the summary. `frame` is `None` if the run did not
    /// start.
    pub fn finish(&mut self, frame: Option<&Frame>, ending: &Ending) -> Result<(), Error> {
        // A step in which the run was aborted has not been observed.
        if let Some(frame) = frame
            && frame.state.step > self.tally.seen
        {
            self.see(frame);
        }
        self.write_impacts()?;
        if let Some(frame) = frame {
            self.output(frame, true)?;
            let (identity, state) = (self.identity.clone(), frame.state.clone());
            self.files.send(move |files| write_end(files.folder.path(), &identity, &state))?;
        }
        self.write_summary(ending, frame)?;
        self.files.wait()?;
        #[cfg(feature = "parquet")]
        crate::parquet::convert(
            &self.path.join("series.csv"),
            &self.path.join(crate::run_folder::PARQUET),
        )?;
        Ok(())
    }

    /// Replaces the checkpoint. All subsequent observations must come after it.
    pub fn write_checkpoint(&mut self, frame: &Frame) -> Result<(), Error> {
        self.send_checkpoint(frame)?;
        self.files.wait()
    }

    fn send_checkpoint(&self, frame: &Frame) -> Result<(), Error> {
        let mut tally = self.tally.clone();
        tally.report = self.report();
        let mut progress = Progress {
            series: 0,
            impacts: 0,
            frame_times: self.frame_times.clone(),
            written: self.written,
            tally,
            probes: self.series.kept(),
            settled: self.scene.settled,
            stop: self.stop.as_ref().map(Stop::held).unwrap_or_default(),
        };
        let (identity, state) = (self.identity.clone(), frame.state.clone());
        self.files.send(move |files| {
            progress.series = files.table.sync()?;
            progress.impacts = files.impacts.as_mut().map_or(Ok(0), TableWriter::sync)?;
            files.run.as_ref().map_or(Ok(()), RunFileWriter::sync)?;
            let folder = files.folder.path();
            let bytes = Checkpoint::bytes(folder, &identity, &state, &progress)?;
            files.folder.write_checkpoint(&bytes)
        })
    }

    /// Adds a step to the statistics.
    fn see(&mut self, frame: &Frame) {
        if self.tally.begin.is_none() {
            self.tally.begin = Some(Balance::of(frame.scene, frame.state));
        } else if frame.state.step > self.tally.seen {
            self.tally.add(frame.step);
            if let Some(stop) = &mut self.stop {
                stop.step(frame);
            }
            if let Some(impacts) = &mut self.impacts {
                impacts.add(frame);
            }
        }
        self.tally.seen = frame.state.step;
        for joint in frame.scene.joints() {
            let [distance, _] = joint_drift(joint, &frame.state.q);
            self.tally.joint_drift = Some(self.tally.joint_drift.unwrap_or(0.0).max(distance));
        }
        self.series.step(frame);
    }

    /// Writes the impacts that have been seen.
    fn write_impacts(&mut self) -> Result<(), Error> {
        let Some(rows) = self.impacts.as_mut().and_then(Impacts::take) else { return Ok(()) };
        self.files.send(move |files| match &mut files.impacts {
            Some(table) => impacts::write(&rows, table),
            None => Ok(()),
        })
    }

    /// Writes output that is due at a frame and not yet written; at the end of a run, everything is due.
    fn output(&mut self, frame: &Frame, end: bool) -> Result<(), Error> {
        let (t, step) = (frame.state.t, frame.state.step);
        let due = |schedule: Schedule| end || schedule.is_due_at(frame);
        let row_due = due(self.rows) && self.written != Some(step);
        // An interrupted run ends with all parts, some of which its last step may have written before.
        let has_step = self.frame_times.iter().any(|times| times.last() == Some(&t));
        let mut numbers = [None; 2];
        for (part, schedule) in self.frames.into_iter().flatten().enumerate() {
            let times = &mut self.frame_times[part];
            if due(schedule) && times.last() != Some(&t) {
                numbers[part] = Some(times.len());
                times.push(t);
            }
        }
        let snapshot = (numbers != [None; 2]).then(|| Snapshot::of(frame));
        if !row_due && snapshot.is_none() {
            return Ok(());
        }
        let chains = (numbers[1].is_some() && self.scene.run.force_chains)
            .then(|| (Link::all(frame), frame.scene.grain_size()));
        let row = row_due.then(|| self.series.row(frame, &mut self.tally));
        // A row at the end of an interrupted run is not due.
        if let (Some(row), Some(stop)) = (&row, &mut self.stop)
            && self.rows.is_due_at(frame)
        {
            stop.row(frame, row);
        }
        if snapshot.is_some() && self.drawn.0 != frame.scene.collider_set() {
            // Stones have broken or worn, or bodies have come or gone.
            self.drawn.0 = frame.scene.collider_set();
            let format = self.scene.run.frames;
            let vtp = format.is_some_and(|format| format.has_vtp());
            let surfaces = vtp.then(|| Surfaces::within(frame.scene, self.drawn.1));
            let shapes = format.is_some_and(|format| format.has_run_file());
            let shapes = shapes.then(|| Shapes::within(frame.scene, self.drawn.1));
            self.files.send(move |files| {
                files.surfaces = surfaces;
                if let (Some(run), Some(shapes)) = (&mut files.run, shapes) {
                    run.set_shapes(shapes);
                }
                Ok(())
            })?;
        }
        let names = frame.scene.ropes().iter().map(|rope| rope.name.as_str());
        let rope_names = Field::texts("names", names);
        self.files.send(move |files| {
            if let Some(row) = row {
                files.table.row(&row)?;
            }
            let Some(snapshot) = snapshot else { return Ok(()) };
            if let Some(run) = files.run.as_mut().filter(|_| !has_step) {
                let [surfaces, contacts] = numbers.map(|number| number.is_some());
                let chains = chains.as_ref().map(|(links, size)| (&links[..], *size));
                run.write(&snapshot, &Due { surfaces, contacts, chains })?;
            }
            let Some(surfaces) = &files.surfaces else { return Ok(()) };
            for (part, number) in numbers.into_iter().enumerate() {
                let Some(number) = number else { continue };
                let data = match part {
                    0 => surfaces.bodies(&snapshot),
                    _ => {
                        let mut data = snapshot.contacts();
                        surfaces.add_names(&mut data);
                        data
                    }
                };
                files.folder.write_frame(PARTS[part], number, t, &data)?;
            }
            if let (Some(number), Some(mut ropes)) = (numbers[0], snapshot.ropes()) {
                ropes.field_data(rope_names.clone());
                files.folder.write_frame(ROPES, number, t, &ropes)?;
            }
            if let (Some(number), Some((links, size))) = (numbers[1], chains) {
                let mut lines = Link::lines(&links, size);
                surfaces.add_names(&mut lines);
                files.folder.write_frame(CHAINS, number, t, &lines)?;
            }
            Ok(())
        })?;
        if row_due {
            self.written = Some(step);
        }
        // If the run is killed, the summary shows the progress.
        self.write_summary(&Ending::Running, Some(frame))
    }

    fn write_summary(&self, ending: &Ending, frame: Option<&Frame>) -> Result<(), Error> {
        let wall = self.report().wall;
        let end = frame.map(|frame| (frame.state.t, Balance::of(frame.scene, frame.state)));
        let mut summary = summary::summary(&self.scene, &self.tally, ending, end, wall);
        if !self.scene.set.is_empty() {
            summary["set"] = self.scene.set.clone().into();
        }
        if let Some(broken) = frame.and_then(ropes::broken) {
            summary["broken_ropes"] = broken;
        }
        if let Some(Stopped { condition, time }) = self.stopped() {
            summary["stopped_by"] = serde_json::json!({ "condition": condition, "time_s": time });
        }
        if let Some(degradation) = frame.and_then(degradation::summary) {
            summary["degradation"] = degradation;
        }
        if let Some(population) = frame.and_then(population::summary) {
            summary["population"] = population;
        }
        self.files.send(move |files| files.folder.write_summary(&summary))
    }
}

impl Observer for RunWriter {
    fn observe(&mut self, frame: &Frame) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.files.check()?;
        self.see(frame);
        self.write_impacts()?;
        // At the end everything is due, so that it has the same time.
        self.output(frame, self.is_over(frame.state.t))?;
        // At the end there is nothing left to resume.
        if self.checkpoints.is_some_and(|schedule| schedule.is_due_at(frame))
            && frame.state.step > 0
            && !self.is_over(frame.state.t)
        {
            self.send_checkpoint(frame)?;
        }
        Ok(())
    }
}

/// The columns of `series.csv` of a scene.
pub(crate) fn series_columns(file: &SceneFile, built: &Built) -> Vec<Column> {
    Series::new(file, built).columns
}

/// Number of different times in two increasing lists.
fn n_times([a, b]: &[Vec<f64>; 2]) -> usize {
    let shared = a.iter().filter(|t| b.binary_search_by(|other| other.total_cmp(t)).is_ok());
    a.len() + b.len() - shared.count()
}

/// The initial bounding box of all bounded bodies: lower and upper corner [m].
pub(crate) fn extent(scene: &Scene) -> [riprap::math::Vec3; 2] {
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

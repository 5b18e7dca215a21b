//! A run folder as a source of answers for the viewer; the run may be in progress.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use glam::{DVec3, Quat, Vec3};
use riprap_io::run_file::{self, Model, Poses, RunFile};
use serde_json::{Value, json};

use crate::wire::{self, History};

/// Frames that a history is made of, at most.
const HISTORY: usize = 200;
/// Bytes of a table that the server sends at once, at most.
pub(crate) const PIECE: u64 = 1 << 20;
/// Bytes of a table in a page, or of a summary, at most.
pub(crate) const WHOLE: u64 = 64 << 20;
/// Models that are kept in memory.
const MODELS: usize = 4;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such frame, model, body or file.
    #[error("{0}")]
    Missing(String),
    /// The run file cannot be read.
    #[error(transparent)]
    File(#[from] riprap_io::Error),
}

/// Length and state of a run.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct Extent {
    /// Number of frames.
    pub n_frames: usize,
    /// Number of models.
    pub models: u32,
    /// `running`, `finished`, `interrupted`, `failed`, or `unknown` without a summary.
    pub state: String,
    /// Changes if the run starts over or is resumed from an earlier frame: what was read before is invalid.
    pub generation: u64,
}

/// A model, and its bytes for the viewer.
#[derive(Clone)]
struct Kept {
    number: u32,
    model: Arc<Model>,
    bytes: Arc<Vec<u8>>,
}

/// The folder of a run.
pub struct Source {
    folder: PathBuf,
    /// `None` until the run has written its first frame.
    file: RwLock<Option<Opened>>,
    /// What has been computed from the file.
    cache: Mutex<Cache>,
}

/// A run file, and which one it is: a run that starts over replaces it.
struct Opened {
    file: RunFile,
    identity: Identity,
}

type Identity = Option<(u64, u64)>;

#[derive(Default)]
struct Cache {
    /// See [`Extent::generation`].
    generation: u64,
    models: VecDeque<Kept>,
    /// Box around all bodies in the first frame [m].
    bounds: Option<[[f64; 3]; 2]>,
}

impl Source {
    /// Opens the folder of a run.
    pub fn open(folder: impl AsRef<Path>) -> Result<Source, Error> {
        let folder = folder.as_ref();
        if !folder.is_dir() {
            let message = format!("{} is not the folder of a run", folder.display());
            return Err(Error::Missing(message));
        }
        let source = Source::expected(folder);
        source.refresh()?;
        Ok(source)
    }

    /// The folder of a run that is about to start.
    pub fn expected(folder: impl AsRef<Path>) -> Source {
        let folder = folder.as_ref().to_owned();
        Source { folder, file: RwLock::default(), cache: Mutex::default() }
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reads frames that were added.
    pub fn refresh(&self) -> Result<Extent, Error> {
        let mut opened = self.file.write().unwrap_or_else(PoisonError::into_inner);
        let path = self.folder.join(run_file::FILE);
        let identity = std::fs::metadata(&path).ok().map(|metadata| identity(&metadata));
        let before = opened.as_ref().map_or(0, |opened| opened.file.times().len());
        match (&mut *opened, identity) {
            (None, None) => {}
            (Some(_), None) => {
                *opened = None;
                self.cache().clear();
            }
            (Some(opened), Some(identity)) if opened.identity == identity => {
                opened.file.refresh()?;
            }
            (_, Some(identity)) => {
                *opened = Some(Opened { file: RunFile::open(&path)?, identity });
                self.cache().clear();
            }
        }
        let models = opened.as_ref().map_or(&[][..], |opened| opened.file.models());
        if models.len() < before {
            self.cache().clear();
        }
        let (n_frames, models) = (models.len(), models.iter().max().map_or(0, |last| last + 1));
        drop(opened);
        let generation = self.cache().generation;
        Ok(Extent { n_frames, models, state: self.state(), generation })
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls a function with the run file.
    fn with<T>(&self, f: impl FnOnce(&RunFile) -> Result<T, Error>) -> Result<T, Error> {
        let file = self.file.read().unwrap_or_else(PoisonError::into_inner);
        match &*file {
            Some(opened) => f(&opened.file),
            None => Err(Error::Missing(format!(
                "{} contains no {}; run the scene with `frames = true`",
                self.folder.display(),
                run_file::FILE
            ))),
        }
    }

    /// Number of the model of each frame.
    pub(crate) fn models(&self) -> Result<Vec<u32>, Error> {
        self.with(|file| Ok(file.models().to_vec()))
    }

    /// The frame with this number.
    pub fn poses(&self, k: usize) -> Result<Poses, Error> {
        self.with(|file| {
            if k >= file.times().len() {
                return Err(Error::Missing(format!("there is no frame {k}")));
            }
            Ok(file.frame(k)?)
        })
    }

    /// The model with this number, and its bytes for the viewer.
    pub fn model(&self, number: u32) -> Result<(Arc<Model>, Arc<Vec<u8>>), Error> {
        let generation = {
            let cache = self.cache();
            if let Some(kept) = cache.models.iter().find(|kept| kept.number == number) {
                return Ok((Arc::clone(&kept.model), Arc::clone(&kept.bytes)));
            }
            cache.generation
        };
        let model = self.with(|file| {
            if !file.models().contains(&number) {
                return Err(Error::Missing(format!("there is no model {number}")));
            }
            Ok(file.model(number)?)
        })?;
        let bytes = Arc::new(wire::model(&model));
        let model = Arc::new(model);
        let kept = Kept { number, model: Arc::clone(&model), bytes: Arc::clone(&bytes) };
        let mut cache = self.cache();
        // Not if the run has started over in the meantime.
        if cache.generation == generation {
            cache.models.push_back(kept);
        }
        if cache.models.len() > MODELS {
            cache.models.pop_front();
        }
        Ok((model, bytes))
    }

    /// A frame for the viewer.
    pub fn frame(&self, k: usize) -> Result<Vec<u8>, Error> {
        self.poses(k).map(|poses| wire::frame(&poses))
    }

    /// Contacts of a frame for the viewer.
    pub fn contacts(&self, k: usize) -> Result<Vec<u8>, Error> {
        self.with(|file| {
            if k >= file.times().len() {
                return Err(Error::Missing(format!("there is no frame {k}")));
            }
            Ok(wire::contacts(&file.contacts(k)?))
        })
    }

    /// Times and models of the frames from one on, for the viewer.
    pub fn times(&self, from: usize) -> Result<Vec<u8>, Error> {
        self.with(|file| {
            let rest = |n: usize| from.min(n)..n;
            let (times, models) = (file.times(), file.models());
            Ok(wire::times(&times[rest(times.len())], &models[rest(models.len())]))
        })
    }

    /// Positions, velocities and forces of the body with this id over the run, for the viewer.
    pub fn history(&self, id: u32) -> Result<Vec<u8>, Error> {
        let models = self.models()?;
        let step = models.len().div_ceil(HISTORY).max(1);
        let mut history = History::default();
        let mut row = (None, None);
        for k in (0..models.len()).step_by(step) {
            self.with(|file| {
                if row.0 != Some(models[k]) {
                    let at = file.ids(models[k])?.iter().position(|known| *known == id);
                    row = (Some(models[k]), at);
                }
                if let Some(row) = row.1 {
                    history.add(row, &file.frame(k)?, &file.contacts(k)?);
                }
                Ok(())
            })?;
        }
        Ok(history.finish())
    }

    /// At most this many bytes of `series.csv` from a byte on.
    pub fn series(&self, from: u64, most: u64) -> Result<Vec<u8>, Error> {
        self.text("series.csv", from, most)
    }

    /// `summary.json`.
    pub fn summary(&self) -> Result<Vec<u8>, Error> {
        self.text("summary.json", 0, WHOLE)
    }

    fn text(&self, name: &str, from: u64, most: u64) -> Result<Vec<u8>, Error> {
        let path = self.folder.join(name);
        let read = || {
            // Links lead out of the folder, and a pipe would block.
            if !std::fs::symlink_metadata(&path)?.is_file() {
                return Err(std::io::Error::other("it is not a regular file"));
            }
            let mut file = File::open(&path)?;
            file.seek(SeekFrom::Start(from))?;
            let mut bytes = Vec::new();
            file.take(most).read_to_end(&mut bytes)?;
            Ok::<_, std::io::Error>(bytes)
        };
        read().map_err(|error| Error::Missing(format!("cannot read {}: {error}", path.display())))
    }

    /// The summary, or null.
    pub(crate) fn summary_value(&self) -> Value {
        self.summary().ok().and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }

    fn state(&self) -> String {
        self.summary_value()["state"].as_str().unwrap_or("unknown").to_owned()
    }

    /// What the viewer shows of a run before its first frame.
    pub fn info(&self) -> Result<Value, Error> {
        let extent = self.refresh()?;
        let summary = self.summary_value();
        let name = self.folder.file_name().unwrap_or(self.folder.as_os_str()).to_string_lossy();
        let mut info = json!({
            "name": name,
            "title": summary["title"],
            "state": extent.state,
            "version": summary["version"],
            "seed": summary["seed"],
            "until": summary["until_s"],
            "n_frames": extent.n_frames,
            "models": extent.models,
            "generation": extent.generation,
            "has_series": self.folder.join("series.csv").exists(),
            "planar": false,
            "up": [0, 0, 1],
            "gravity": [0, 0, 0],
            "bounds": [[0, 0, 0], [0, 0, 0]],
        });
        if extent.n_frames > 0 {
            let poses = self.poses(0)?;
            let (model, _) = self.model(poses.model)?;
            info["planar"] = model.planar.into();
            info["gravity"] = json!(model.gravity);
            info["up"] = json!(model.up());
            let known = self.cache().bounds;
            let bounds = known.unwrap_or_else(|| bounds(&model, &poses));
            let mut cache = self.cache();
            if cache.generation == extent.generation {
                cache.bounds = Some(bounds);
            }
            info["bounds"] = json!(bounds);
        }
        Ok(info)
    }
}

impl Cache {
    fn clear(&mut self) {
        *self = Cache { generation: self.generation + 1, ..Cache::default() };
    }
}

/// What distinguishes a file from another one at the same path.
fn identity(metadata: &std::fs::Metadata) -> Identity {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Some((metadata.dev(), metadata.ino()))
    }
    // Elsewhere a file that is open cannot be replaced.
    #[cfg(not(unix))]
    {
        let _ = metadata;
        None
    }
}

/// The box around all bodies but half-spaces [m].
pub(crate) fn bounds(model: &Model, poses: &Poses) -> [[f64; 3]; 2] {
    let mut bounds = [[f64::INFINITY; 3], [f64::NEG_INFINITY; 3]];
    let mut include = |p: [f64; 3], r: f64| {
        if !(p.iter().all(|x| x.is_finite()) && r.is_finite()) {
            return;
        }
        for axis in 0..3 {
            bounds[0][axis] = bounds[0][axis].min(p[axis] - r);
            bounds[1][axis] = bounds[1][axis].max(p[axis] + r);
        }
    };
    for (i, position) in poses.position.iter().enumerate() {
        if model.unbounded.get(i) != Some(&false) {
            continue;
        }
        let vertices = model.first_vertex.get(i..i + 2).map_or(&[][..], |range| {
            model.vertices.get(range[0] as usize..range[1] as usize).unwrap_or_default()
        });
        include(*position, model.radius.get(i).map_or(0.0, |r| f64::from(*r)));
        let rotation = poses.rotation.get(i).copied().unwrap_or([0.0, 0.0, 0.0, 1.0]);
        for vertex in vertices {
            let turned = Quat::from_array(rotation) * Vec3::from(*vertex);
            include((DVec3::from(*position) + turned.as_dvec3()).into(), 0.0);
        }
    }
    if bounds[0][0] > bounds[1][0] { [[0.0; 3]; 2] } else { bounds }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A box of a size, a ball and a half-space.
    fn scene() -> (Model, Poses) {
        let side = |k: u32, axis: u32, half: f32| if k >> axis & 1 == 1 { half } else { -half };
        let corner = |k: u32| [side(k, 0, 2.0), side(k, 1, 1.0), side(k, 2, 0.5)];
        let mut vertices: Vec<[f32; 3]> = (0..8).map(corner).collect();
        vertices.extend([[100.0, 100.0, 0.0]; 4]);
        let model = Model {
            unbounded: vec![false, false, true],
            radius: vec![0.0, 0.25, 0.0],
            first_vertex: vec![0, 8, 8, 12],
            vertices,
            ..Model::default()
        };
        let still = [0.0, 0.0, 0.0, 1.0];
        let position = vec![[1.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0; 3]];
        (model, Poses { position, rotation: vec![still; 3], ..Poses::default() })
    }

    fn near(found: [[f64; 3]; 2], expected: [[f64; 3]; 2]) {
        for (a, b) in found.iter().flatten().zip(expected.iter().flatten()) {
            assert!((a - b).abs() < 1e-5, "{found:?} {expected:?}");
        }
    }

    #[test]
    fn bounds_turn_with_the_bodies_and_leave_out_half_spaces() {
        let (model, mut poses) = scene();
        near(bounds(&model, &poses), [[-1.0, -1.0, -0.5], [3.0, 3.25, 0.5]]);
        let half = std::f32::consts::FRAC_1_SQRT_2;
        // By 90° about z the long side is along y; by 90° about y it is along z.
        poses.rotation[0] = [0.0, 0.0, half, half];
        near(bounds(&model, &poses), [[-0.25, -2.0, -0.5], [2.0, 3.25, 0.5]]);
        poses.rotation[0] = [0.0, half, 0.0, half];
        near(bounds(&model, &poses), [[-0.25, -1.0, -2.0], [1.5, 3.25, 2.0]]);
        // By 45° about z the corner (2, 1) is at 3/√2 along y.
        let (sine, cosine) = std::f32::consts::FRAC_PI_8.sin_cos();
        poses.rotation[0] = [0.0, 0.0, sine, cosine];
        poses.position[1] = [0.0; 3];
        let reach = 3.0 / 2.0_f64.sqrt();
        near(bounds(&model, &poses), [[1.0 - reach, -reach, -0.5], [1.0 + reach, reach, 0.5]]);
    }

    #[test]
    fn bounds_are_finite_whatever_the_file_says() {
        let (model, poses) = scene();
        let ball = [[-0.25, 2.75, -0.25], [0.25, 3.25, 0.25]];
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut lost = poses.clone();
            lost.position[0] = [0.0, bad, 0.0];
            near(bounds(&model, &lost), ball);
        }
        let damaged = [
            Model { first_vertex: vec![], ..model.clone() },
            Model { first_vertex: vec![7, 3, 900, 1], ..model.clone() },
            Model { vertices: vec![], radius: vec![], ..model.clone() },
        ];
        for model in damaged {
            assert!(bounds(&model, &poses).iter().flatten().all(|x| x.is_finite()));
        }
        assert_eq!(bounds(&Model::default(), &poses), [[0.0; 3]; 2]);
        assert_eq!(bounds(&model, &Poses::default()), [[0.0; 3]; 2]);
        let few = Poses { rotation: vec![], ..poses };
        near(bounds(&model, &few), [[-1.0, -1.0, -0.5], [3.0, 3.25, 0.5]]);
    }

    #[test]
    fn a_folder_that_is_none_or_empty_gives_answers_that_say_so() {
        let folder = std::env::temp_dir().join(format!("riprap-source-{}", std::process::id()));
        let message = |error: Error| error.to_string();
        let missing = Source::open(&folder).err().map(message).unwrap();
        assert!(missing.contains("not the folder of a run"), "{missing}");
        std::fs::create_dir_all(&folder).unwrap();
        let source = Source::open(&folder).unwrap();
        let extent = source.refresh().unwrap();
        assert_eq!((extent.n_frames, extent.models, extent.state.as_str()), (0, 0, "unknown"));
        for answer in [source.frame(0), source.contacts(0), source.times(0), source.history(0)] {
            let text = answer.err().map(message).unwrap();
            assert!(text.contains("run.vtkhdf") && text.contains("frames = true"), "{text}");
        }
        assert!(source.series(0, PIECE).is_err() && source.summary().is_err());
        let info = source.info().unwrap();
        assert_eq!((&info["n_frames"], &info["has_series"]), (&json!(0), &json!(false)));
        std::fs::write(folder.join("summary.json"), "not json").unwrap();
        assert_eq!(source.refresh().unwrap().state, "unknown");
        std::fs::write(folder.join("summary.json"), "{\"state\": \"running\"}").unwrap();
        assert_eq!(source.refresh().unwrap().state, "running");
        std::fs::write(folder.join("series.csv"), "time [s]\n0\n").unwrap();
        assert_eq!(source.series(9, PIECE).unwrap(), b"0\n");
        assert_eq!(source.series(0, 4).unwrap(), b"time");
        assert!(source.series(1 << 40, PIECE).unwrap().is_empty(), "beyond its end");
        std::fs::write(folder.join(run_file::FILE), b"not a run file").unwrap();
        assert!(matches!(source.refresh(), Err(Error::File(_))));
        std::fs::remove_dir_all(folder).unwrap();
    }
}

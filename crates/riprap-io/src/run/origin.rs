//! The end of a run from which another one starts: read from its folder, and carried over to the scene of the new run by the names of
//! bodies.

use std::io::Write;
use std::path::{Path, PathBuf};

use riprap::scene::{Continuation, Continued, Scene, SchemeState, State};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::atomic;
use crate::build::Built;
use crate::checkpoint::{self, Checkpoint};
use crate::error::{Error, Place};
use crate::scene_file::{SceneFile, StartTime, first_difference};
use crate::sealed::{self, Kind};

/// Name of the file with the state at the end of a run.
pub const END_FILE: &str = "end.bin";

const KIND: Kind = Kind {
    magic: *b"riprapEN",
    layout: 2,
    name: "state at the end of a run",
    advice: "run its scene again with this version",
};

/// The content of [`END_FILE`].
#[derive(Deserialize)]
struct End {
    /// The identity of the scene: [`SceneFile::identity`].
    scene: String,
    state: State,
}

/// A borrowed [`End`], for writing.
#[derive(Serialize)]
struct Writing<'a> {
    scene: &'a str,
    state: &'a State,
}

/// Writes the state at the end of a run into its folder, atomically.
pub(crate) fn write_end(folder: &Path, scene: &str, state: &State) -> Result<(), Error> {
    let path = folder.join(END_FILE);
    let bytes = sealed::bytes(&path, &KIND, &Writing { scene, state })?;
    atomic::write(&path, |out| out.write_all(&bytes))
}

/// A run from whose last state another one starts: `end.bin` or `checkpoint.bin` in its folder, whichever is later, and its `scene.toml`.
///
/// ```
/// use riprap_io::run::{Options, Origin, Run};
/// use riprap_io::scene_file::SceneFile;
///
/// let text = r#"
///     run = { dt = "1 ms", until = "0.1 s" }
///     materials.rubber = { density = 1100 }
///     [[body]]
///     name = "ball"
///     material = "rubber"
///     shape = { type = "sphere", radius = "5 cm" }
/// "#;
/// # let out = std::env::temp_dir().join(format!("riprap-origin-{}", std::process::id()));
/// let first = SceneFile::parse(text, ".")?;
/// let summary = Run::new(&first, Options::new(&out))?.execute(&mut ())?;
///
/// let heavy = SceneFile::parse(&text.replace("1100", "7800"), ".")?;
/// let origin = Origin::read(&out)?;
/// let (state, continued) = origin.start(&heavy, &heavy.build()?.scene)?;
/// assert_eq!(state.q, summary.state.unwrap().q);
/// assert_eq!((state.t, continued.changed_masses.len()), (0.0, 1));
/// # std::fs::remove_dir_all(&out)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Origin {
    file: PathBuf,
    hash: String,
    scene: SceneFile,
    built: Built,
    state: State,
}

impl Origin {
    /// Reads the end of a run: its folder, or one of the two files in it.
    pub fn read(path: impl AsRef<Path>) -> Result<Origin, Error> {
        let path = path.as_ref();
        let (folder, files) = files_of(path)?;
        let mut latest: Option<(PathBuf, String, End)> = None;
        for file in files {
            let (end, hash) = read_state(&file)?;
            if latest.as_ref().is_none_or(|(.., known)| end.state.step > known.state.step) {
                latest = Some((file, hash, end));
            }
        }
        let Some((file, hash, end)) = latest else {
            let message = format!(
                "the run has no state to start from: neither {END_FILE}, which a run writes when it ends, nor {}; run its scene again",
                checkpoint::FILE
            );
            return Err(Error::format(&folder, Place::Whole, message));
        };
        let stored = folder.join("scene.toml");
        let refuse = |message: String| Error::format(&stored, Place::Whole, message);
        let scene = SceneFile::read(&stored).map_err(|errors| {
            refuse(format!("the scene of the run cannot be read any more: {errors}"))
        })?;
        if let Some(what) = first_difference(&end.scene, &scene.identity()) {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            return Err(refuse(format!(
                "the scene has changed since {name} was written: {what}; run it again, or restore the files it refers to"
            )));
        }
        let built = scene.build().map_err(|errors| {
            refuse(format!("the scene of the run cannot be built any more: {errors}"))
        })?;
        Ok(Origin { file, hash, scene, built, state: end.state })
    }

    /// The file with the state.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// SHA-256 of that file.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The scene of the run.
    pub fn scene(&self) -> &SceneFile {
        &self.scene
    }

    /// The state.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The state from which the run of a scene file starts, and what carries over and what does not. `scene` is what the file
    /// describes, built.
    pub fn start(&self, file: &SceneFile, scene: &Scene) -> Result<(State, Continued), Error> {
        let time = match file.run.start_time {
            StartTime::Zero => 0.0,
            StartTime::Continue => self.state.t,
        };
        if file.run.is_over(time) {
            let until = file.run.until;
            return Err(self.refuse(format!(
                "the new run starts at {time} s, where the old one ended, and ends at {until} s; increase `until`, or remove `start_time`"
            )));
        }
        let mut options = Continuation { time, ..Continuation::default() };
        if !file.run.scheme.has_contacts() {
            options.largest_overlap = f64::INFINITY;
        }
        let even = !file.run.scheme.is_adaptive() && !self.scene.run.scheme.is_adaptive();
        let dt = even.then_some(file.run.dt);
        let (mut state, mut report) = self.state_for(scene, &options, dt)?;
        let kind = |file: &SceneFile| std::mem::discriminant(&file.run.scheme);
        if kind(file) != kind(&self.scene) && state.scheme != SchemeState::None {
            state.scheme = SchemeState::None;
            report.history = Some(false);
        }
        Ok((state, report))
    }

    /// As [`Origin::start`], for a scene that does not come from a file. Remembered impulses are scaled to a time step `dt` [s], if it is
    /// given.
    pub fn state_for(
        &self,
        scene: &Scene,
        options: &Continuation,
        dt: Option<f64>,
    ) -> Result<(State, Continued), Error> {
        let (mut state, report) = options
            .state(&self.built.scene, &self.state, scene)
            .map_err(|error| self.refuse(error.to_string()))?;
        let before = self.scene.run.dt;
        if let Some(dt) = dt.filter(|dt| *dt != before) {
            scale_impulses(&mut state, dt / before);
        }
        Ok((state, report))
    }

    fn refuse(&self, message: String) -> Error {
        Error::format(&self.file, Place::Whole, message)
    }

    /// Where a run came from, for its summary.
    pub(crate) fn record(&self, report: &Continued) -> Value {
        json!({
            "file": self.file.display().to_string(),
            "sha256": self.hash,
            "time_s": self.state.t,
            "step": self.state.step,
            "title": self.scene.title,
            "report": report,
            "lines": report.lines(),
        })
    }
}

/// The folder of a run and those of its files that contain a state.
fn files_of(path: &Path) -> Result<(PathBuf, Vec<PathBuf>), Error> {
    let known = [END_FILE, checkpoint::FILE];
    if path.is_dir() {
        let files = known.map(|name| path.join(name)).into_iter().filter(|file| file.is_file());
        return Ok((path.to_owned(), files.collect()));
    }
    if !path.exists() {
        let message =
            "there is no such run to start from; give the folder of a run, such as out/NAME";
        return Err(Error::format(path, Place::Whole, message));
    }
    if known.iter().any(|name| path.file_name().is_some_and(|file| file == *name)) {
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        return Ok((folder, vec![path.to_owned()]));
    }
    let message = format!(
        "a run starts from the folder of another run, or from {END_FILE} or {} in it",
        checkpoint::FILE
    );
    Err(Error::format(path, Place::Whole, message))
}

/// The state in a file and its hash.
fn read_state(file: &Path) -> Result<(End, String), Error> {
    match file.file_name().is_some_and(|name| name == checkpoint::FILE) {
        true => {
            let (scene, state, hash) = Checkpoint::parts(file)?;
            Ok((End { scene, state }, hash))
        }
        false => sealed::read_with_hash(file, &KIND),
    }
}

/// Whether a run that recorded where it came from would start from the same state now; true if that cannot be told.
pub(crate) fn is_unchanged(record: &Value) -> bool {
    let text = |key: &str| record.get(key).and_then(Value::as_str);
    let (Some(file), Some(hash)) = (text("file"), text("sha256")) else { return true };
    read_state(Path::new(file)).map_or(true, |(_, now)| now == hash)
}

/// Scales remembered impulses, which are those of a step, to another time step.
fn scale_impulses(state: &mut State, factor: f64) {
    let scale = |impulse: &mut [f64; 3]| impulse.iter_mut().for_each(|x| *x *= factor);
    state.warm_start.iter_mut().for_each(|w| scale(&mut w.impulse_w));
    state.warm_moments.iter_mut().for_each(|w| scale(&mut w.moment_w));
    state.joint_impulses.iter_mut().for_each(scale);
    state.ropes.iter_mut().for_each(|rope| rope.impulse *= factor);
}

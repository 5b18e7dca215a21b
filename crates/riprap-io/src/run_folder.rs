//! The folder of a run: the resolved scene, the summary, the series and the frames.
//!
//! ```text
//! out/scene.toml      the scene with all defaults, in SI units
//! out/summary.json    run summary
//! out/series.csv      one row per output
//! out/impacts.csv     one row per impact, if requested
//! out/run.vtkhdf      all frames, for ParaView
//! out/run.pvd         index of the frames in frames/, if requested
//! out/frames/         surfaces and contacts, one file per output, if requested
//! out/problems/       contact problems, if requested
//! out/checkpoint.bin  state from which the run can resume, if requested
//! out/end.bin         state at the end of the run, from which another one can start
//! out/forces.csv      unique contact forces, and force-chains.vtp and .svg, if computed
//! out/run.lock        lock that names the writing process, during the run
//! ```

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::atomic;
use crate::checkpoint;
use crate::error::Error;
use crate::forces;
use crate::lock::Lock;
use crate::regular::read_limited;
use crate::run::END_FILE;
use crate::run_file;
use crate::sealed::sha256;
use crate::table::{Column, TableWriter};
use crate::vtk::{PolyData, Pvd};

/// Files that only a run writes. `scene.toml` is not among them: it may be the user's own.
const SIGNS: [&str; 4] = ["summary.json", "series.csv", "run.pvd", run_file::FILE];

/// The series as a Parquet file, with the feature `parquet`.
pub(crate) const PARQUET: &str = "series.parquet";

/// The impacts of a run.
pub(crate) const IMPACTS: &str = "impacts.csv";

/// The lock of a folder, held while a run writes to it.
const LOCK: &str = "run.lock";

/// What to do if the folder already contains a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Existing {
    /// Fail, so that results are not lost by accident.
    #[default]
    Keep,
    /// Remove the files of the old run; other files in the folder are kept.
    Overwrite,
}

/// The folder of a run.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
    index: Pvd,
    record: Record,
    /// The content of `summary.json` apart from the record.
    summary: serde_json::Value,
}

/// Hashes of other files recorded in `summary.json`: that of the checkpoint and that of the bed from which the run started. They do not
/// protect against someone who can change both files, but they detect a file that was replaced or copied from another run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Record {
    /// SHA-256 of the checkpoint. There are two while it is being replaced, because the run may be killed before or after.
    checkpoint: Vec<String>,
    /// [`crate::build::Settled::hash`].
    bed: Option<String>,
    /// The run from whose end this one started.
    start: Option<serde_json::Value>,
}

impl Record {
    /// Key in `summary.json`.
    pub const CHECKPOINT: &'static str = "checkpoint_sha256";
    const BED: &'static str = "bed_sha256";
    const START: &'static str = "start_from";

    /// The record of the run in a folder; `None` if there is no readable summary with a record.
    pub fn read(folder: &Path) -> Option<Record> {
        let text = read_limited(&folder.join("summary.json"), 1 << 24).ok()?;
        let summary: serde_json::Value = serde_json::from_slice(&text).ok()?;
        let hash = |value: &serde_json::Value| value.as_str().map(str::to_owned);
        let start = summary.get(Self::START).cloned();
        let checkpoint = summary.get(Self::CHECKPOINT)?.as_array()?.iter().filter_map(hash);
        let bed = summary.get(Self::BED).and_then(hash);
        Some(Record { checkpoint: checkpoint.collect(), bed, start })
    }

    /// Whether the run wrote a checkpoint with this SHA-256.
    pub fn knows_checkpoint(&self, hash: &str) -> bool {
        self.checkpoint.iter().any(|known| known == hash)
    }

    /// Whether the run started from a bed with this hash, or from an unknown one.
    pub fn may_start_from(&self, hash: &str) -> bool {
        self.bed.as_ref().is_none_or(|known| known == hash)
    }

    /// Where the run came from, if it started from the end of another one.
    pub fn start(&self) -> Option<&serde_json::Value> {
        self.start.as_ref()
    }

    fn add_to(&self, summary: &mut serde_json::Value) {
        if !self.checkpoint.is_empty() {
            summary[Self::CHECKPOINT] = self.checkpoint.clone().into();
        }
        if let Some(bed) = &self.bed {
            summary[Self::BED] = bed.clone().into();
        }
        if let Some(start) = &self.start {
            summary[Self::START] = start.clone();
        }
    }
}

impl RunFolder {
    /// Creates the folder, or uses an empty one.
    ///
    /// A folder that contains a run is used only with [`Existing::Overwrite`]. One that contains other files but
    /// no run is never used: the path may be a mistake.
    pub fn create(path: impl AsRef<Path>, existing: Existing) -> Result<Self, Error> {
        let path = path.as_ref().to_owned();
        Self::check(&path, existing)?;
        if Self::holds_run(&path) {
            remove_run(&path)?;
        }
        fs::create_dir_all(&path).map_err(Error::io("create the folder", &path))?;
        let index = Pvd::new(path.join("run.pvd"));
        Ok(Self { path, index, record: Record::default(), summary: json!({}) })
    }

    /// Whether [`RunFolder::create`] would use or create a folder.
    pub(crate) fn check(path: &Path, existing: Existing) -> Result<(), Error> {
        if !path.exists() {
            return Ok(());
        }
        let mut others = false;
        for entry in fs::read_dir(path).map_err(Error::io("open the folder", path))? {
            others |= entry.map_err(Error::io("read", path))?.file_name() != LOCK;
        }
        match (Self::holds_run(path), existing) {
            (true, Existing::Overwrite) => Ok(()),
            (true, Existing::Keep) => Err(Error::Exists { path: path.to_owned(), what: "a run" }),
            (false, _) if others => {
                let message = "it contains files, but no run; choose an empty or new folder".into();
                Err(Error::Data { path: path.to_owned(), message })
            }
            (false, _) => Ok(()),
        }
    }

    /// Locks a folder for a run that writes to it or reads its checkpoint; the folder is created if it is missing.
    pub(crate) fn lock(path: &Path) -> Result<Lock, Error> {
        fs::create_dir_all(path).map_err(Error::io("create the folder", path))?;
        Lock::take(&path.join(LOCK), path)
    }

    /// The folder of a run that is resumed. For each part, the frames at these times [s] are kept and later ones are removed.
    pub fn resume(path: impl AsRef<Path>, parts: &[(&str, &[f64])]) -> Result<Self, Error> {
        let path = path.as_ref().to_owned();
        let frames = path.join("frames");
        fs::create_dir_all(&path).map_err(Error::io("create the folder", &path))?;
        let mut index = Pvd::new(path.join("run.pvd"));
        let mut kept = std::collections::HashSet::new();
        let of = |(part, times): &(&str, &[f64])| -> Vec<(f64, String, usize)> {
            times
                .iter()
                .enumerate()
                .map(|(number, time)| (*time, (*part).to_owned(), number))
                .collect()
        };
        let mut shown: Vec<_> = parts.iter().flat_map(of).collect();
        // In the order in which they were written; the sort is stable, so parts at the same time keep their order.
        shown.sort_by(|a, b| a.0.total_cmp(&b.0));
        for (time, part, number) in &shown {
            let file = frame_name(part, *number);
            index.recall(*time, part, &format!("frames/{file}"));
            kept.insert(file);
        }
        for entry in entries(&frames)? {
            let entry = entry.map_err(Error::io("read", &frames))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let ours = parts.iter().any(|(part, _)| name.starts_with(&format!("{part}-")));
            if ours && name.ends_with(".vtp") && !kept.contains(&name) {
                fs::remove_file(entry.path()).map_err(Error::io("remove", &entry.path()))?;
            }
        }
        if !shown.is_empty() {
            index.write()?;
        }
        atomic::sweep(&path)?;
        if frames.is_dir() {
            atomic::sweep(&frames)?;
        }
        // The checkpoint from which the run resumes is kept until the next one.
        let Record { bed, start, .. } = Record::read(&path).unwrap_or_default();
        let checkpoint = read_limited(&path.join(checkpoint::FILE), u64::MAX).ok();
        let checkpoint = checkpoint.map(|bytes| sha256(&bytes)).into_iter().collect();
        let record = Record { checkpoint, bed, start };
        Ok(Self { path, index, record, summary: json!({}) })
    }

    /// Whether a folder contains a run.
    pub fn holds_run(path: &Path) -> bool {
        SIGNS.iter().any(|name| path.join(name).exists())
    }

    /// The folder itself.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of the frames.
    pub fn frames(&self) -> PathBuf {
        self.path.join("frames")
    }

    /// Writes `scene.toml`: the text of the resolved scene, from `SceneFile::to_toml`.
    pub fn write_scene(&self, resolved: &str) -> Result<(), Error> {
        atomic::write(&self.path.join("scene.toml"), |out| out.write_all(resolved.as_bytes()))
    }

    /// Writes `summary.json` atomically, with the hashes of the checkpoint and the bed.
    pub fn write_summary(&mut self, summary: &serde_json::Value) -> Result<(), Error> {
        self.summary.clone_from(summary);
        self.record.add_to(&mut self.summary);
        atomic::write(&self.path.join("summary.json"), |out| write_json(out, &self.summary))
    }

    /// Records the bed from which the run starts.
    pub(crate) fn set_bed(&mut self, hash: String) {
        self.record.bed = Some(hash);
    }

    /// Records the run from whose end this one starts.
    pub(crate) fn set_start(&mut self, start: serde_json::Value) {
        self.record.start = Some(start);
    }

    /// Replaces `checkpoint.bin`. The summary contains the hashes of both the old and the new checkpoint in the meantime, so that a run
    /// killed in between can resume from either.
    pub(crate) fn write_checkpoint(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let hash = sha256(bytes);
        self.record.checkpoint.push(hash.clone());
        self.record.add_to(&mut self.summary);
        let summary = self.path.join("summary.json");
        atomic::write_durable(&summary, |out| write_json(out, &self.summary))?;
        atomic::write_durable(&self.path.join(checkpoint::FILE), |out| out.write_all(bytes))?;
        self.record.checkpoint = vec![hash];
        Ok(())
    }

    /// Opens `series.csv` with the given columns.
    pub fn series(&self, columns: &[Column]) -> Result<TableWriter, Error> {
        TableWriter::create(self.path.join("series.csv"), columns)
    }

    /// Writes `frames/<part>-<number>.vtp` and adds it to `run.pvd` at its time [s].
    pub fn write_frame(
        &mut self,
        part: &str,
        number: usize,
        time: f64,
        data: &PolyData,
    ) -> Result<(), Error> {
        let file = frame_name(part, number);
        if number == 0 {
            let frames = self.frames();
            fs::create_dir_all(&frames).map_err(Error::io("create the folder", &frames))?;
        }
        data.write(&self.frames().join(&file))?;
        self.index.add(time, part, &format!("frames/{file}"))
    }
}

/// The entries of a folder; none if it does not exist.
fn entries(folder: &Path) -> Result<impl Iterator<Item = std::io::Result<fs::DirEntry>>, Error> {
    match fs::read_dir(folder) {
        Ok(entries) => Ok(Some(entries).into_iter().flatten()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            Ok(None.into_iter().flatten())
        }
        Err(error) => Err(Error::io("open the folder", folder)(error)),
    }
}

fn write_json(out: &mut impl Write, value: &serde_json::Value) -> std::io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, value)?;
    out.write_all(b"\n")
}

fn frame_name(part: &str, number: usize) -> String {
    format!("{part}-{number:06}.vtp")
}

/// Removes the files of a run, and only those.
fn remove_run(path: &Path) -> Result<(), Error> {
    atomic::sweep(path)?;
    let others = ["scene.toml", PARQUET, IMPACTS, checkpoint::FILE, END_FILE];
    for name in SIGNS.into_iter().chain(others).chain(forces::FILES) {
        let file = path.join(name);
        if file.exists() {
            fs::remove_file(&file).map_err(Error::io("remove", &file))?;
        }
    }
    for (name, kind) in [("frames", "vtp"), ("problems", "hdf5")] {
        let folder = path.join(name);
        if !folder.is_dir() {
            continue;
        }
        atomic::sweep(&folder)?;
        for entry in fs::read_dir(&folder).map_err(Error::io("open the folder", &folder))? {
            let file = entry.map_err(Error::io("read", &folder))?.path();
            if file.extension().is_some_and(|ending| ending == kind) {
                fs::remove_file(&file).map_err(Error::io("remove", &file))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("riprap-run-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        folder
    }

    fn filled(path: &Path) -> RunFolder {
        let mut run = RunFolder::create(path, Existing::Keep).unwrap();
        run.write_scene("seed = 1\n").unwrap();
        run.write_summary(&json!({ "steps": 3 })).unwrap();
        run.series(&[Column::new("time", "s")]).unwrap().row(&[0.0]).unwrap();
        run.write_frame("surfaces", 0, 0.0, &PolyData::new()).unwrap();
        run
    }

    #[test]
    fn a_run_has_all_its_files() {
        let path = folder("all");
        let run = filled(&path);
        for name in
            ["scene.toml", "summary.json", "series.csv", "run.pvd", "frames/surfaces-000000.vtp"]
        {
            assert!(run.path().join(name).is_file(), "{name}");
        }
        let summary = fs::read_to_string(path.join("summary.json")).unwrap();
        assert_eq!(summary, "{\n  \"steps\": 3\n}\n");
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn an_old_run_is_kept_unless_overwriting_is_allowed() {
        let path = folder("old");
        filled(&path);
        fs::write(path.join("notes.txt"), "mine").unwrap();
        let error = RunFolder::create(&path, Existing::Keep).unwrap_err().to_string();
        assert!(error.contains("already contains a run; choose another folder"), "{error}");
        RunFolder::create(&path, Existing::Overwrite).unwrap();
        let mut left: Vec<_> =
            fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["frames", "notes.txt"]);
        assert_eq!(fs::read_dir(path.join("frames")).unwrap().count(), 0);
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn a_folder_of_other_files_is_never_used() {
        let path = folder("other");
        fs::create_dir_all(&path).unwrap();
        fs::write(path.join("thesis.tex"), "years of work").unwrap();
        for existing in [Existing::Keep, Existing::Overwrite] {
            let error = RunFolder::create(&path, existing).unwrap_err().to_string();
            assert!(error.contains("it contains files, but no run"), "{error}");
        }
        fs::remove_file(path.join("thesis.tex")).unwrap();
        RunFolder::create(&path, Existing::Keep).unwrap();
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn a_file_at_the_path_of_the_folder_is_reported() {
        let path = folder("file");
        fs::write(&path, "").unwrap();
        assert!(RunFolder::create(&path, Existing::Keep).is_err());
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_resumed_folder_keeps_frames_up_to_its_time_and_nothing_later() {
        let path = folder("resumed");
        let mut run = filled(&path);
        for (number, time) in [(1, 0.5), (2, 1.0)] {
            run.write_frame("surfaces", number, time, &PolyData::new()).unwrap();
        }
        let frames = path.join("frames");
        let mine = ["surfaces.txt", "surfaces-old.txt", "notes-000009.vtp"];
        for name in mine {
            fs::write(frames.join(name), "mine").unwrap();
        }
        fs::write(frames.join(".surfaces-000003.vtp.99-7.tmp"), "half").unwrap();
        fs::write(path.join(".summary.json.99-8.tmp"), "half").unwrap();

        let mut run = RunFolder::resume(&path, &[("surfaces", &[0.0, 0.5])]).unwrap();
        let names = |folder: &Path| {
            let entries = fs::read_dir(folder).unwrap();
            let mut names: Vec<String> =
                entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        let kept = ["notes-000009.vtp", "surfaces-000000.vtp", "surfaces-000001.vtp"];
        assert_eq!(names(&frames), [&kept[..], &["surfaces-old.txt", "surfaces.txt"]].concat());
        assert!(names(&path).iter().all(|name| !name.ends_with(".tmp")));
        let index = || fs::read_to_string(path.join("run.pvd")).unwrap();
        assert_eq!(index().matches("<DataSet").count(), 2);
        assert!(!index().contains("surfaces-000002"));

        run.write_frame("surfaces", 2, 1.0, &PolyData::new()).unwrap();
        assert_eq!(index().matches("<DataSet").count(), 3);
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn a_run_resumed_without_frames_has_none() {
        let path = folder("no-frames");
        filled(&path);
        RunFolder::resume(&path, &[("surfaces", &[])]).unwrap();
        assert_eq!(fs::read_dir(path.join("frames")).unwrap().count(), 0);
        fs::remove_dir_all(&path).unwrap();
        // A missing folder is created again.
        let run = RunFolder::resume(&path, &[("surfaces", &[])]).unwrap();
        assert!(run.path().is_dir() && !RunFolder::holds_run(&path));
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn overwriting_removes_problems_and_checkpoint_but_no_other_files() {
        let path = folder("overwritten");
        filled(&path);
        fs::write(path.join(checkpoint::FILE), "old").unwrap();
        fs::create_dir(path.join("problems")).unwrap();
        fs::write(path.join("problems/problem-000001.hdf5"), "old").unwrap();
        fs::write(path.join("problems/notes.txt"), "mine").unwrap();
        fs::write(path.join("frames/movie.avi"), "mine").unwrap();
        RunFolder::create(&path, Existing::Overwrite).unwrap();
        for gone in [checkpoint::FILE, "problems/problem-000001.hdf5", "scene.toml", "series.csv"] {
            assert!(!path.join(gone).exists(), "{gone}");
        }
        assert!(path.join("problems/notes.txt").exists() && path.join("frames/movie.avi").exists());
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn any_file_written_only_by_runs_identifies_a_run() {
        let path = folder("signs");
        fs::create_dir_all(&path).unwrap();
        assert!(!RunFolder::holds_run(&path));
        // The user's own scene is not a run.
        fs::write(path.join("scene.toml"), "").unwrap();
        assert!(!RunFolder::holds_run(&path));
        for name in SIGNS {
            fs::write(path.join(name), "").unwrap();
            assert!(RunFolder::holds_run(&path), "{name}");
            fs::remove_file(path.join(name)).unwrap();
        }
        fs::remove_dir_all(path).unwrap();
    }
}

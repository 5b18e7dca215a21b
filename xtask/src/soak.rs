//! `cargo xtask soak`: exposes runs to what users, schedulers and disks do to them. A reference run is compared bitwise with runs on other
//! numbers of threads, runs that are killed and resumed repeatedly, runs that hit a file size limit, and runs whose folder another run requests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Stones falling into a box; the run writes all kinds of output files.
const SCENE: &str = r#"
seed = 11
[run]
dt = "1 ms"
until = "0.5 s"
output_every = "2 ms"
checkpoint_every = "10 ms"
[materials.rock]
density = 2700
friction = 0.6
[[body]]
name = "box"
kind = "fixed"
material = "rock"
shape = { type = "open-box", size = [0.25, 0.25, 0.3], wall = 0.02 }
[[grains]]
name = "stones"
material = "rock"
generator = "rain"
stones = {}
grading = { uniform = ["30 mm", "45 mm"] }
count = 20
box = { min = [-0.12, -0.12, 0.01], max = [0.12, 0.12, 1.5] }
[[probe]]
body = "box"
quantities = ["force"]
"#;

/// One row of the table.
struct Row {
    what: String,
    how_often: String,
    /// Failures; empty on success.
    wrong: Vec<String>,
    /// Why the check could not be run here.
    skipped: Option<String>,
}

/// Runs all checks, with kills for a number of minutes or only a few. Returns whether all of them passed.
pub fn run(riprap: &Path, minutes: Option<f64>) -> Result<bool, String> {
    let folder = std::env::temp_dir().join(format!("riprap-soak-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let soak = Soak { riprap: riprap.to_owned(), folder: folder.clone() };
    let rows = soak.rows(minutes);
    let _ = std::fs::remove_dir_all(&folder);
    let rows = rows?;
    println!("{:<50} {:<24} result", "check", "trials");
    for row in &rows {
        let verdict = match (&row.skipped, row.wrong.is_empty()) {
            (Some(why), _) => format!("skipped: {why}"),
            (None, true) => "ok".to_owned(),
            (None, false) => format!("FAILED: {}", row.wrong.join("; ")),
        };
        println!("{:<50} {:<24} {verdict}", row.what, row.how_often);
    }
    Ok(rows.iter().all(|row| row.wrong.is_empty()))
}

/// The binary and its working folder.
struct Soak {
    riprap: PathBuf,
    folder: PathBuf,
}

/// The files of a run that are reproducible.
type Files = BTreeMap<PathBuf, Vec<u8>>;

impl Soak {
    fn rows(&self, minutes: Option<f64>) -> Result<Vec<Row>, String> {
        std::fs::write(self.folder.join("scene.toml"), SCENE).map_err(|e| e.to_string())?;
        let begin = Instant::now();
        let first = self.finish("reference", "1", &[]);
        if !first.status.success() {
            return Err(format!(
                "the reference run failed: {}",
                String::from_utf8_lossy(&first.stderr)
            ));
        }
        let (reference, length) = (self.files("reference")?, begin.elapsed());
        let mut rows = vec![self.threads(&reference)?];
        rows.push(self.kills(&reference, length, minutes)?);
        rows.push(self.full_disk(&reference)?);
        rows.push(self.full_device());
        rows.push(self.two_at_once(&reference)?);
        Ok(rows)
    }

    fn command(&self, out: &str, threads: &str, more: &[&str]) -> Command {
        let mut command = Command::new(&self.riprap);
        command.current_dir(&self.folder).env("RIPRAP_CACHE", "");
        command.args(["run", "scene.toml", "--out", out, "--threads", threads]).args(more);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn finish(&self, out: &str, threads: &str, more: &[&str]) -> Output {
        let output = self.command(out, threads, more).output();
        output.unwrap_or_else(|error| panic!("cannot start {}: {error}", self.riprap.display()))
    }

    fn start(&self, out: &str, threads: &str, more: &[&str]) -> Result<Child, String> {
        let mut command = self.command(out, threads, more);
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().map_err(|e| e.to_string())
    }

    /// All files of a run except those that contain wall times.
    fn files(&self, out: &str) -> Result<Files, String> {
        let root = self.folder.join(out);
        let mut files = Files::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            let failed = |e: std::io::Error| format!("{}: {e}", folder.display());
            for entry in std::fs::read_dir(&folder).map_err(failed)? {
                let path = entry.map_err(failed)?.path();
                let name = path.strip_prefix(&root).unwrap_or(&path).to_owned();
                if path.is_dir() {
                    folders.push(path);
                } else if !["summary.json", "checkpoint.bin"].iter().any(|n| name == Path::new(n)) {
                    files.insert(name, std::fs::read(&path).map_err(failed)?);
                }
            }
        }
        Ok(files)
    }

    /// Describes the first difference from the reference, if any.
    fn compare(&self, out: &str, reference: &Files) -> Result<Option<String>, String> {
        let files = self.files(out)?;
        if !files.keys().eq(reference.keys()) {
            let odd = files.keys().find(|name| !reference.contains_key(*name));
            let odd = odd.or_else(|| reference.keys().find(|name| !files.contains_key(*name)));
            return Ok(odd.map(|name| format!("{out}: {} is missing in one run", name.display())));
        }
        let differs = files.iter().find(|(name, content)| reference[*name] != **content);
        Ok(differs.map(|(name, _)| format!("{out}: {} differs", name.display())))
    }

    fn threads(&self, reference: &Files) -> Result<Row, String> {
        let mut wrong = Vec::new();
        for threads in ["2", "3", "8"] {
            let out = format!("threads-{threads}");
            let output = self.finish(&out, threads, &[]);
            if !output.status.success() {
                wrong.push(format!("{threads} threads: {}", last_line(&output)));
            }
            wrong.extend(self.compare(&out, reference)?);
        }
        let (what, how_often) =
            ("bitwise identical on any number of threads", "1, 2, 3, 8 threads");
        Ok(Row { what: what.into(), how_often: how_often.into(), wrong, skipped: None })
    }

    /// Kills runs at various moments and resumes them with the same command, as a batch queue would.
    fn kills(
        &self,
        reference: &Files,
        length: Duration,
        minutes: Option<f64>,
    ) -> Result<Row, String> {
        let (begin, mut kills, mut runs) = (Instant::now(), 0u32, 0u32);
        let mut wrong = Vec::new();
        let more = |runs: u32| match minutes {
            Some(minutes) => begin.elapsed().as_secs_f64() < 60.0 * minutes,
            None => runs < 1,
        };
        while more(runs) && wrong.is_empty() {
            let out = format!("killed-{runs}");
            let mut attempts = 0;
            loop {
                let mut child = self.start(&out, "2", &["--resume", "--force"])?;
                // From immediately to well into the run; multiples of the golden ratio cover all moments evenly.
                let share = (f64::from(kills) * 0.618_034).fract();
                let deadline = Instant::now() + length.mul_f64(0.02 + 0.6 * share);
                let mut status = None;
                while status.is_none() && (attempts >= 8 || Instant::now() < deadline) {
                    status = child.try_wait().map_err(|e| e.to_string())?;
                    std::thread::sleep(Duration::from_millis(1));
                }
                if let Some(status) = status {
                    if !status.success() {
                        wrong.push(format!("{out} ended with {status}"));
                    }
                    break;
                }
                // SIGKILL on Unix.
                let _ = child.kill();
                let _ = child.wait();
                attempts += 1;
                kills += 1;
                wrong.extend(self.unreadable(&out));
            }
            wrong.extend(self.compare(&out, reference)?);
            let _ = std::fs::remove_dir_all(self.folder.join(&out));
            runs += 1;
        }
        let how_often = format!(
            "{kills} kill{} of {runs} run{}",
            if kills == 1 { "" } else { "s" },
            if runs == 1 { "" } else { "s" }
        );
        Ok(Row {
            what: "kill -9, resume, bitwise identical".into(),
            how_often,
            wrong,
            skipped: None,
        })
    }

    /// Names a file that a killed run left incomplete, if any.
    fn unreadable(&self, out: &str) -> Option<String> {
        let read = |name: &str| std::fs::read_to_string(self.folder.join(out).join(name)).ok();
        if read("run.pvd").is_some_and(|index| !index.ends_with("</VTKFile>\n")) {
            return Some(format!("{out}: run.pvd is incomplete"));
        }
        let out_folder = self.folder.join(out);
        if out_folder.join("run.vtkhdf").exists() {
            let picture = self.folder.join("frame.png");
            let mut render = Command::new(&self.riprap);
            render.arg("render").arg(&out_folder).arg("--out").arg(&picture);
            render.args(["--size", "16x16", "--samples", "1"]);
            if !render.output().is_ok_and(|output| output.status.success()) {
                return Some(format!("{out}: run.vtkhdf is not readable"));
            }
        }
        if read("series.csv").is_some_and(|series| !series.is_empty() && !series.ends_with('\n')) {
            return Some(format!("{out}: the last row of series.csv is incomplete"));
        }
        let summary = read("summary.json")?;
        (!summary.ends_with("}\n")).then(|| format!("{out}: summary.json is incomplete"))
    }

    /// A file size limit stands in for a full disk: both make a write fail halfway.
    fn full_disk(&self, reference: &Files) -> Result<Row, String> {
        let mut row = Row {
            what: "full disk is reported, run resumes with free space".into(),
            how_often: "3 file size limits".into(),
            wrong: Vec::new(),
            skipped: None,
        };
        if !cfg!(unix) {
            row.skipped = Some("no file size limits on this system".into());
            return Ok(row);
        }
        // In blocks of 512 bytes: too small for a frame, for the series, and for the index.
        for blocks in [8, 70, 100] {
            let out = format!("full-{blocks}");
            let limited = Command::new("sh")
                .current_dir(&self.folder)
                .env("RIPRAP_CACHE", "")
                .args([
                    "-c",
                    "ulimit -f \"$1\" && exec \"$2\" run scene.toml --out \"$3\" --threads 1",
                    "sh",
                ])
                .arg(blocks.to_string())
                .arg(&self.riprap)
                .arg(&out)
                .stdin(Stdio::null())
                .output();
            let Ok(limited) = limited else {
                row.skipped = Some("no shell".into());
                return Ok(row);
            };
            let told = String::from_utf8_lossy(&limited.stderr);
            if limited.status.code() != Some(1) || !told.contains("cannot write") {
                row.wrong.push(format!(
                    "{blocks} blocks: {}, {}",
                    limited.status,
                    last_line(&limited)
                ));
            }
            row.wrong.extend(self.unreadable(&out));
            let resumed = self.finish(&out, "1", &["--resume", "--force"]);
            if !resumed.status.success() {
                row.wrong.push(format!("{blocks} blocks: {}", last_line(&resumed)));
            }
            row.wrong.extend(self.compare(&out, reference)?);
        }
        Ok(row)
    }

    /// Output to a device that is always full must fail.
    fn full_device(&self) -> Row {
        let mut row = Row {
            what: "output to a full device is an error".into(),
            how_often: "3 commands".into(),
            wrong: Vec::new(),
            skipped: None,
        };
        for arguments in [&["check", "scene.toml"][..], &["schema"], &["--help"]] {
            let Ok(full) = std::fs::OpenOptions::new().write(true).open("/dev/full") else {
                row.skipped = Some("no /dev/full".into());
                return row;
            };
            let mut command = Command::new(&self.riprap);
            command.current_dir(&self.folder).args(arguments).stdout(full).stderr(Stdio::null());
            let status = command.status();
            if !status.as_ref().is_ok_and(|status| status.code() == Some(1)) {
                row.wrong.push(format!("{arguments:?}: {status:?}"));
            }
        }
        row
    }

    /// While a run is in progress, other runs in its folder are rejected and change nothing.
    fn two_at_once(&self, reference: &Files) -> Result<Row, String> {
        let mut row = Row {
            what: "a second run in the same folder is rejected".into(),
            how_often: String::new(),
            wrong: Vec::new(),
            skipped: None,
        };
        let mut first = self.start("shared", "1", &[])?;
        let lock = self.folder.join("shared/run.lock");
        let mut refused = 0;
        let mut ended = None;
        while ended.is_none() {
            ended = first.try_wait().map_err(|e| e.to_string())?;
            if ended.is_some() || !lock.exists() {
                continue;
            }
            let more: &[&str] =
                if refused % 2 == 0 { &["--force"] } else { &["--resume", "--force"] };
            let second = self.finish("shared", "1", &[more, &["--until", "0.6 s"]].concat());
            let told = String::from_utf8_lossy(&second.stderr);
            match told.contains("in use by process") {
                true => refused += 1,
                // The first may have ended in the meantime; then the second is right to take over.
                false => {
                    ended = Some(first.wait().map_err(|e| e.to_string())?);
                    let _ = self.finish("shared", "1", &["--force"]);
                }
            }
        }
        if !ended.is_some_and(|status| status.success()) {
            row.wrong.push(format!("the first run ended with {ended:?}"));
        }
        row.wrong.extend(self.compare("shared", reference)?);
        row.how_often = format!("{refused} attempt{}", if refused == 1 { "" } else { "s" });
        if refused == 0 {
            row.skipped = Some("the run had already ended, or locks are not supported".into());
        }
        Ok(row)
    }
}

fn last_line(output: &Output) -> String {
    let told = String::from_utf8_lossy(&output.stderr);
    told.lines().last().unwrap_or_default().to_owned()
}

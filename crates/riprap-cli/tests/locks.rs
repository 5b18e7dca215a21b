//! Two runs in one folder: the second is rejected whatever its options, with a message that names the holder; the first is unaffected.

mod common;

use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use common::{Folder, code, command, stderr, success};

/// A ball in free fall for a long time; killed before the end.
const LONG: &str = r#"
[run]
dt = "1 ms"
until = "900 s"
output_every = "1 ms"
frames = false
[materials.rock]
density = 2700
friction = 0.5
[[body]]
name = "ball"
material = "rock"
shape = { type = "sphere", radius = 0.1 }
"#;

/// A bed that takes a while to settle.
const BED: &str = r#"
seed = 3
[run]
dt = "0.05 ms"
until = "1 ms"
output_every = "0.5 ms"
frames = false
[materials.rock]
density = 2700
friction = 0.7
[[body]]
name = "box"
kind = "fixed"
material = "rock"
shape = { type = "open-box", size = [0.2, 0.2, 0.2], wall = 0.02 }
[[grains]]
name = "stones"
material = "rock"
generator = "rain"
stones = {}
grading = { uniform = ["30 mm", "50 mm"] }
count = 12
box = { min = [-0.1, -0.1, 0], max = [0.1, 0.1, 1] }
settle = { speed = "1 um/s", at_most = "0.2 s" }
"#;

/// A process that is killed when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(folder: &Folder, arguments: &[&str]) -> Running {
    let mut command = command(&folder.0);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    Running(command.spawn().unwrap())
}

#[track_caller]
fn wait_for(what: &str, mut done: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !done() {
        assert!(begin.elapsed() < Duration::from_secs(60), "no {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until the series of the run has more than `rows` rows and returns it.
fn series(folder: &Folder, rows: usize) -> String {
    let path = folder.0.join("run/series.csv");
    let read = || std::fs::read_to_string(&path).unwrap_or_default();
    wait_for("rows", || read().lines().count() > rows);
    read()
}

#[test]
fn a_second_run_in_the_same_folder_is_rejected_and_the_holder_is_named() {
    let folder = Folder::new("two-runs");
    folder.write("long.toml", LONG);
    let run = ["run", "long.toml", "--out", "run", "--checkpoint-every", "1 s"];
    let first = start(&folder, &run);
    series(&folder, 10);
    if !folder.0.join("run/run.lock").exists() {
        return; // a file system without locks
    }
    let holder = format!("in use by process {} on ", first.0.id());
    let with_checkpoint = || folder.0.join("run/checkpoint.bin").exists();
    for wait in [false, true] {
        if wait {
            wait_for("checkpoint", with_checkpoint);
        }
        let before = series(&folder, 0);
        for extra in [&["--force"][..], &["--resume"], &["--resume", "--force"]] {
            let output = folder.riprap(&[&run[..], extra].concat());
            let told = stderr(&output);
            assert_eq!(code(&output), Some(2), "{extra:?}: {told}");
            // Without a checkpoint and without --force it is rejected in any case.
            let refused = told.contains(&holder) && told.contains(" UTC");
            assert!(refused || told.contains("has no checkpoint"), "{extra:?}: {told}");
        }
        assert!(series(&folder, before.lines().count()).starts_with(&before));
    }

    // kill -9 releases the lock with the process; the command of a batch queue resumes from the checkpoint.
    drop(first);
    let until = format!("{} s", series(&folder, 0).lines().count() as f64 / 1000.0 + 1.0);
    let next = folder.riprap(&[&run[..], &["--until", &until, "--resume", "--force"]].concat());
    success(&next);
    assert!(stderr(&next).contains("resumed at t = "), "{}", stderr(&next));
    assert!(!folder.0.join("run/run.lock").exists());
}

#[test]
fn one_command_for_a_batch_queue_starts_resumes_and_restarts() {
    let folder = Folder::new("queue");
    folder.write("ball.toml", LONG.replace("900 s", "20 ms"));
    let queued = ["run", "ball.toml", "--out", "run", "--resume", "--force"];
    let first = folder.riprap(&queued);
    success(&first);
    assert!(stderr(&first).contains("starting from the beginning"), "{}", stderr(&first));
    // There is no checkpoint, so the run restarts.
    let second = folder.riprap(&queued);
    success(&second);
    assert!(stderr(&second).contains("starting from the beginning"), "{}", stderr(&second));
    let keep = folder.riprap(&queued[..5]);
    assert_eq!(code(&keep), Some(2));
    assert!(stderr(&keep).contains("has no checkpoint"), "{}", stderr(&keep));
}

#[test]
fn of_two_runs_that_need_the_same_bed_the_second_waits_for_it() {
    let folder = Folder::new("two-beds");
    folder.write("bed.toml", BED);
    let settle = ["settle", "bed.toml", "--cache", "beds", "--threads", "1"];
    let mut first = start(&folder, &settle);
    let locked = || {
        let names = std::fs::read_dir(folder.0.join("beds"));
        names.is_ok_and(|mut n| {
            n.any(|e| e.unwrap().path().extension().is_some_and(|e| e == "lock"))
        })
    };
    let mut over = false;
    wait_for("lock", || {
        over = first.0.try_wait().unwrap().is_some();
        over || locked()
    });
    let second = folder.riprap(&settle);
    success(&second);
    let told = stderr(&second);
    assert!(told.contains("read from"), "{told}");
    assert!(
        over || told.contains("waiting for it") || first.0.try_wait().unwrap().is_some(),
        "{told}"
    );
}

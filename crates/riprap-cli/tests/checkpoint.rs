//! Checkpoints: a killed or interrupted run resumes and ends with bitwise identical results; any checkpoint but its own is rejected
//! with a message.

mod common;

use std::process::Stdio;

use common::{Folder, code, command, stderr, success};

/// Stones that settle, a tamping tine with phases and latched values that is driven into them, a tool with a prescribed
/// motion, a body on a joint, and probes that integrate work.
const TAMPING: &str = "\
seed = 3
[run]
dt = \"0.5 ms\"
until = \"0.4 s\"
output_every = \"7 ms\"
checkpoint_every = \"10 ms\"
frames = \"both\"
[materials.rock]
density = 2700
friction = 0.7
[[body]]
name = \"box\"
kind = \"fixed\"
material = \"rock\"
shape = { type = \"open-box\", size = [0.2, 0.2, 0.2], wall = 0.02 }
[[body]]
name = \"beater\"
kind = \"moving\"
material = \"rock\"
shape = { type = \"box\", size = [0.02, 0.1, 0.02] }
[body.motion]
position = [\"0.07 + 0.01*sin(30*t)\", 0, 0.05]
[[body]]
name = \"weight\"
material = \"rock\"
position = [0.5, 0, 0.3]
shape = { type = \"sphere\", radius = 0.05 }
[[joint]]
name = \"rope\"
type = \"ball\"
between = [\"world\", \"weight\"]
position = [0.3, 0, 0.5]
[[grains]]
name = \"stones\"
material = \"rock\"
generator = \"rain\"
stones = {}
grading = { uniform = [\"30 mm\", \"50 mm\"] }
count = 20
box = { min = [-0.1, -0.1, 0.08], max = [0.1, 0.1, 1] }
settle = { speed = \"50 cm/s\", at_most = \"0.2 s\" }
[[mechanism]]
name = \"tamper\"
position = [0, 0, 0.5]
[[mechanism.body]]
name = \"tine\"
mass = 5
shapes = [{ shape = { type = \"box\", size = [0.03, 0.03, 0.2] }, material = \"rock\" }]
[[mechanism.joint]]
name = \"z\"
type = \"prismatic\"
child = \"tine\"
axis = \"z\"
[[mechanism.force]]
name = \"push\"
coordinate = \"z\"
phases = [
  { law = \"-20\", until = \"v.z < -0.6\" },
  { law = \"-100*(q.z - here) + 40\", latch = { here = \"q.z\" }, until = \"0.25 s\" },
  { law = \"-200*(q.z - there)\", latch = { there = \"q.z\" } },
]
[[probe]]
body = \"stones-1\"
quantities = [\"position\", \"rotation\", \"force\", \"work\"]
[[probe]]
body = \"tamper/tine\"
quantities = [\"position\", \"work\", \"contacts\"]
[[probe]]
mechanism = \"tamper\"
quantities = [\"forces\", \"joint_forces\"]
[[probe]]
joint = \"rope\"
quantities = [\"force\", \"error\"]
";

/// All results of a run except wall times and the checkpoint.
fn contents(folder: &Folder, run: &str) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for part in ["", "frames"] {
        for entry in std::fs::read_dir(folder.0.join(run).join(part)).expect(part) {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            if !entry.file_type().unwrap().is_file() || name == "checkpoint.bin" {
                continue;
            }
            let mut content = std::fs::read(entry.path()).unwrap();
            if name == "summary.json" {
                let mut summary: serde_json::Value = serde_json::from_slice(&content).unwrap();
                summary["wall_s"] = 0.into();
                // Checkpoints contain wall times too.
                summary.as_object_mut().unwrap().remove("checkpoint_sha256");
                content = summary.to_string().into_bytes();
            }
            files.push((format!("{part}/{name}"), content));
        }
    }
    files.sort();
    files
}

#[track_caller]
fn same(folder: &Folder, a: &str, b: &str) {
    let (a, b) = (contents(folder, a), contents(folder, b));
    let names = |files: &[(String, Vec<u8>)]| -> Vec<String> {
        files.iter().map(|(name, _)| name.clone()).collect()
    };
    assert_eq!(names(&a), names(&b));
    for ((name, a), (_, b)) in a.iter().zip(&b) {
        assert!(a == b, "{name} differs");
    }
}

/// Starts a run, sends it a signal once `ready` and waits for it to end. Returns whether it was stopped early.
#[cfg(unix)]
fn stopped(folder: &Folder, arguments: &[&str], signal: &str, ready: impl Fn() -> bool) -> bool {
    let mut child = command(&folder.0)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begin = std::time::Instant::now();
    while !ready() && begin.elapsed().as_secs() < 60 && child.try_wait().unwrap().is_none() {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    let id = child.id().to_string();
    let _ = std::process::Command::new("kill").args([signal, &id]).stderr(Stdio::null()).status();
    !child.wait().unwrap().success()
}

#[cfg(unix)]
#[test]
fn a_run_killed_repeatedly_ends_with_bitwise_identical_results() {
    let folder = Folder::new("resume");
    folder.write("scene.toml", TAMPING);
    success(&folder.riprap(&["run", "scene.toml", "--out", "whole"]));
    let rows = || std::fs::read_to_string(folder.0.join("o/series.csv")).unwrap_or_default();
    let arguments = ["run", "scene.toml", "--out", "o", "--resume"];
    let mut stops = 0;
    for (signal, n) in [("-KILL", 6), ("-INT", 13), ("-KILL", 25), ("-TERM", 40)] {
        stops += u32::from(stopped(&folder, &arguments, signal, || rows().lines().count() >= n));
    }
    assert!(stops > 0, "the run is too fast to be stopped");
    let end = folder.riprap(&[&arguments[..], &["--threads", "1"]].concat());
    success(&end);
    assert!(stderr(&end).contains("resumed at t = "), "{}", stderr(&end));
    let threads = |text: String| {
        let mut summary: serde_json::Value = serde_json::from_str(&text).unwrap();
        summary["threads"] = 0.into();
        summary.to_string()
    };
    for run in ["o", "whole"] {
        let text = threads(folder.read(&format!("{run}/summary.json")));
        folder.write(&format!("{run}/summary.json"), text);
    }
    same(&folder, "o", "whole");
    let series = folder.read("o/series.csv");
    assert!(series.contains("tamper.push.force"), "{series}");
}

#[test]
fn a_finished_run_can_be_extended() {
    let folder = Folder::new("longer");
    folder.write("scene.toml", TAMPING.replace("0.4 s", "0.1 s"));
    success(&folder.riprap(&["run", "scene.toml", "--out", "whole"]));
    // It ends between two outputs: its last row is removed on resume.
    success(&folder.riprap(&["run", "scene.toml", "--out", "o", "--until", "31 ms"]));
    success(&folder.riprap(&["run", "scene.toml", "--out", "o", "--resume"]));
    same(&folder, "o", "whole");
    let refused = folder.riprap(&["run", "scene.toml", "--out", "o", "--resume", "--until", "0"]);
    assert_eq!(code(&refused), Some(2));
    assert!(stderr(&refused).contains("nothing left to do"), "{}", stderr(&refused));
}

#[test]
fn a_run_resumes_only_from_its_own_checkpoint() {
    let folder = Folder::new("foreign");
    let text = TAMPING.replace("0.4 s", "0.03 s");
    folder.write("scene.toml", &text);
    let arguments = ["run", "scene.toml", "--out", "o"];
    success(&folder.riprap(&arguments));
    let resume = || folder.riprap(&[&arguments[..], &["--resume"]].concat());
    let refused = |what: &str| {
        let output = resume();
        let said = stderr(&output);
        assert_eq!(code(&output), Some(2), "{said}");
        assert!(said.contains("o/checkpoint.bin") && said.contains(what), "{said}");
    };

    folder.write("scene.toml", text.replace("friction = 0.7", "friction = 0.6"));
    refused(
        "the scene has changed since the checkpoint: `friction = 0.7`, now `friction = 0.6` in",
    );
    folder.write("scene.toml", &text);
    let good = std::fs::read(folder.0.join("o/checkpoint.bin")).unwrap();
    folder.write("o/checkpoint.bin", &good[..good.len() - 100]);
    refused("truncated");
    let mut bad = good.clone();
    bad[good.len() / 2] ^= 1;
    folder.write("o/checkpoint.bin", bad);
    refused("damaged");
    folder.write("o/checkpoint.bin", "solid stone");
    refused("not a riprap checkpoint");

    // The series must match the checkpoint.
    folder.write("o/checkpoint.bin", &good);
    let series = folder.read("o/series.csv");
    folder.write("o/series.csv", &series[..series.len() / 2]);
    let output = resume();
    assert_eq!(code(&output), Some(2));
    assert!(stderr(&output).contains("o/series.csv"), "{}", stderr(&output));
    folder.write("o/series.csv", &series);
    success(&resume());

    // Without a checkpoint nothing is overwritten unless forced.
    std::fs::remove_file(folder.0.join("o/checkpoint.bin")).unwrap();
    let output = resume();
    assert_eq!(code(&output), Some(2));
    assert!(stderr(&output).contains("has no checkpoint"), "{}", stderr(&output));
    success(&folder.riprap(&[&arguments[..], &["--resume", "--force"]].concat()));
}

//! Output that cannot be written and input that never ends: the command reports an error and exits instead of hanging or claiming success.

#![cfg(unix)]

mod common;

use std::fs::OpenOptions;
use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::{Folder, command, success};

/// A ball on the floor for five steps.
const BALL: &str = r#"
[run]
dt = "1 ms"
until = "5 ms"
output_every = "1 ms"
[materials.rock]
density = 2700
friction = 0.5
[[body]]
name = "floor"
kind = "fixed"
material = "rock"
shape = { type = "half-space" }
[[body]]
name = "ball"
material = "rock"
position = [0, 0, 0.1]
shape = { type = "sphere", radius = 0.1 }
"#;

/// The device that is always full; `None` if the system does not have it.
fn full() -> Option<Stdio> {
    let device = OpenOptions::new().write(true).open("/dev/full");
    device.ok().map(Stdio::from)
}

/// A folder with a scene and one of its contact problems.
fn scene_and_problem(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("ball.toml", BALL);
    success(&folder.riprap(&["run", "ball.toml", "--out", "run", "--problems", "5"]));
    let problems = folder.0.join("run/problems");
    let problem = std::fs::read_dir(problems).unwrap().next().unwrap().unwrap().path();
    std::fs::rename(problem, folder.0.join("problem.hdf5")).unwrap();
    folder
}

#[test]
fn output_to_a_full_device_is_an_error() {
    let folder = scene_and_problem("full");
    for arguments in [
        &["check", "ball.toml"][..],
        &["schema"],
        &["solve", "problem.hdf5"],
        &["solve", "problem.hdf5", "--json"],
        &["run", "ball.toml", "--force"],
        &["new", "start"],
        &["validate", "--list"],
        &["--help"],
        &["--version"],
    ] {
        let Some(full) = full() else { return };
        let output = command(&folder.0).args(arguments).stdout(full).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {told}");
        assert!(told.contains("cannot write to standard output"), "{arguments:?}: {told}");
    }
}

#[test]
fn messages_that_cannot_be_written_do_not_change_the_exit_code() {
    let folder = scene_and_problem("full-stderr");
    for (arguments, code) in
        [(&["run", "ball.toml", "--force"][..], 0), (&["check", "none.toml"], 2), (&["--what"], 2)]
    {
        let Some(full) = full() else { return };
        let output = command(&folder.0).args(arguments).stderr(full).output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}");
    }
}

#[test]
fn a_closed_pipe_ends_the_command_quietly() {
    let folder = scene_and_problem("pipe");
    for arguments in [
        &["check", "ball.toml"][..],
        &["schema"],
        &["solve", "problem.hdf5"],
        &["solve", "problem.hdf5", "--json"],
        &["--help"],
    ] {
        let mut child = command(&folder.0)
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut told = String::new();
        child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
        assert!(child.wait().unwrap().success(), "{arguments:?}: {told}");
        assert_eq!(told, "", "{arguments:?}");
    }
}

#[test]
fn a_file_size_limit_is_reported_and_the_run_is_marked_as_failed() {
    let folder = Folder::new("limit");
    let text = BALL.replace("5 ms", "500 ms").replace("[run]\n", "[run]\nframes = \"vtp\"\n");
    folder.write("ball.toml", text);
    let limited = Command::new("sh")
        .current_dir(&folder.0)
        .args(["-c", "ulimit -f 80 && exec \"$0\" run ball.toml --out run"])
        .arg(env!("CARGO_BIN_EXE_riprap"))
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&limited.stderr);
    assert_eq!(limited.status.code(), Some(1), "{told}");
    assert!(told.contains("cannot write") && told.contains("too large"), "{told}");
    let summary: serde_json::Value =
        serde_json::from_str(&folder.read("run/summary.json")).unwrap();
    assert_eq!(summary["state"], "failed", "{summary}");
    assert!(folder.read("run/run.pvd").ends_with("</VTKFile>\n"));
}

#[test]
fn a_negative_time_is_rejected_with_a_message() {
    let folder = Folder::new("negative");
    folder.write("ball.toml", BALL);
    for time in ["-1", "-1 s", "-0.5"] {
        for option in ["--until", "--checkpoint-every"] {
            let output = folder.riprap(&["run", "ball.toml", option, time]);
            let told = common::stderr(&output);
            assert_eq!(output.status.code(), Some(2), "{told}");
            assert!(told.contains("the time must not be negative"), "{told}");
        }
    }
}

/// Runs a command that has to exit on its own and returns its standard error.
#[track_caller]
fn ends(folder: &Folder, arguments: &[&str]) -> String {
    let mut child = command(&folder.0)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    // Generous, because the machine may be busy. A FIFO would block forever.
    while child.try_wait().unwrap().is_none() {
        if begin.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("{arguments:?} hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let mut told = String::new();
    child.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    told
}

#[test]
fn fifos_devices_and_folders_are_rejected_by_kind() {
    let folder = Folder::new("kinds");
    folder.write("ball.toml", BALL);
    let fifo = |name: &str| {
        let made = Command::new("mkfifo").arg(folder.0.join(name)).status();
        made.is_ok_and(|status| status.success())
    };
    let names = ["scene.toml.fifo", "f.stl", "f.csv", "f.urdf", "f.bin", "f.hdf5"];
    if !names.iter().all(|name| fifo(name)) {
        return;
    }
    let body = |shape: &str| BALL.replace("{ type = \"sphere\", radius = 0.1 }", shape);
    folder.write("mesh.toml", body("{ type = \"mesh\", file = \"f.stl\" }"));
    folder.write("device.toml", body("{ type = \"mesh\", file = \"/dev/zero\" }"));
    let grains = "[[grains]]\nname = \"g\"\nmaterial = \"rock\"\ngenerator = \"file\"\nfile = \"f.csv\"\n\
                  spheres = {}\n";
    folder.write("table.toml", format!("{BALL}{grains}"));
    folder.write("arm.toml", format!("{BALL}[[mechanism]]\nname = \"arm\"\nurdf = \"f.urdf\"\n"));
    for (arguments, kind) in [
        (&["check", "scene.toml.fifo"][..], "a FIFO"),
        (&["check", "/dev/zero"], "a device"),
        (&["check", "."], "a folder"),
        (&["check", "mesh.toml"], "a FIFO"),
        (&["check", "table.toml"], "a FIFO"),
        (&["check", "arm.toml"], "a FIFO"),
        (&["solve", "f.hdf5"], "a FIFO"),
        (&["solve", "/dev/zero"], "a device"),
    ] {
        let told = ends(&folder, arguments);
        assert!(told.contains(kind), "{arguments:?}: {told}");
    }
    let told = ends(&folder, &["check", "device.toml"]);
    assert!(told.contains(".stl, .obj or .ply"), "{told}");

    // A checkpoint.
    let run = ["run", "ball.toml", "--out", "run", "--checkpoint-every", "1 ms"];
    success(&folder.riprap(&run));
    std::fs::remove_file(folder.0.join("run/checkpoint.bin")).unwrap();
    std::fs::rename(folder.0.join("f.bin"), folder.0.join("run/checkpoint.bin")).unwrap();
    let told = ends(&folder, &[&run[..], &["--until", "9 ms", "--resume"]].concat());
    assert!(told.contains("checkpoint.bin") && told.contains("a FIFO"), "{told}");
}

//! `riprap run`: the files in its folder, reproducibility on any number of threads, and how runs end.

mod common;

use common::{Folder, code, command, stderr, stdout, success};
use riprap_io::run_file::RunFile;

/// Stones just above the floor of a box, so that they soon collide.
const STONES: &str = "\
seed = 3
[run]
dt = \"0.5 ms\"
until = \"0.15 s\"
output_every = \"10 ms\"
[materials.rock]
density = 2700
friction = 0.7
[[body]]
name = \"box\"
kind = \"fixed\"
material = \"rock\"
shape = { type = \"open-box\", size = [0.2, 0.2, 0.2], wall = 0.02 }
[[grains]]
name = \"stones\"
material = \"rock\"
generator = \"rain\"
stones = {}
grading = { uniform = [\"30 mm\", \"50 mm\"] }
count = 25
box = { min = [-0.1, -0.1, 0], max = [0.1, 0.1, 1] }
[[probe]]
body = \"stones-1\"
quantities = [\"position\", \"velocity\", \"rotation\", \"angular_velocity\", \"force\"]
";

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn a_run_writes_scene_summary_series_and_frames() {
    let folder = Folder::new("contents");
    folder.write("stones.toml", STONES);
    let output = folder.riprap(&["run", "stones.toml", "--threads", "1"]);
    success(&output);
    assert!(stdout(&output).contains("out/stones/run.vtkhdf"), "{}", stdout(&output));
    let summary = json(&folder.read("out/stones/summary.json"));
    assert_eq!(summary["state"], "finished");
    assert_eq!(summary["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!((&summary["seed"], &summary["threads"]), (&3.into(), &1.into()));
    assert_eq!(summary["steps"], 300);
    assert!(summary["contacts"]["max"].as_u64().unwrap() > 10);
    assert!(summary["penetration_max_rel"].as_f64().unwrap() < 0.01);
    let series = folder.read("out/stones/series.csv");
    assert_eq!(series.lines().count(), 1 + 16);
    for heading in
        ["time [s]", "total_energy [J]", "momentum_x [kg m/s]", "stones-1.rotation_w [-]"]
    {
        assert!(series.lines().next().unwrap().contains(heading), "{heading}");
    }
    let file = RunFile::open(folder.0.join("out/stones")).unwrap();
    assert_eq!(file.times().len(), 16);
    assert!(!folder.0.join("out/stones/run.pvd").exists());
    // The resolved scene runs on its own and gives the same numbers.
    let again = folder.riprap(&["run", "out/stones/scene.toml", "--out", "again"]);
    success(&again);
    assert_eq!(series, folder.read("again/series.csv"));
}

#[test]
fn one_and_two_threads_give_bitwise_identical_results() {
    let folder = Folder::new("threads");
    folder.write("scene.toml", STONES);
    for threads in ["1", "2"] {
        success(&folder.riprap(&["run", "scene.toml", "--out", threads, "--threads", threads]));
    }
    assert_eq!(folder.read("1/series.csv"), folder.read("2/series.csv"));
}

#[test]
fn an_existing_run_is_overwritten_only_with_force() {
    let folder = Folder::new("force");
    folder.write("scene.toml", STONES);
    let run = |arguments: &[&str]| {
        folder
            .riprap(&[&["run", "scene.toml", "--out", "o", "--until", "1 ms"], arguments].concat())
    };
    success(&run(&[]));
    let refused = run(&[]);
    assert_eq!(code(&refused), Some(2));
    assert!(stderr(&refused).contains("--force"), "{}", stderr(&refused));
    success(&run(&["--force"]));
}

#[test]
fn grains_settle_before_the_run_starts() {
    let folder = Folder::new("settle");
    let settle = "settle = { speed = \"5 cm/s\", at_most = \"1 s\" }\n[[probe]]";
    folder.write("scene.toml", STONES.replace("[[probe]]", settle));
    let output = folder.riprap(&["run", "scene.toml", "--out", "o", "--until", "10 ms"]);
    success(&output);
    assert!(stderr(&output).contains("settled after"), "{}", stderr(&output));
    let summary = json(&folder.read("o/summary.json"));
    assert_eq!(summary["settled"]["calm"], true);
    assert_eq!(summary["steps"], 20);
    assert!(folder.read("o/series.csv").lines().nth(1).unwrap().starts_with("0,"));
}

#[test]
fn a_failed_run_reports_why_and_keeps_its_results() {
    let folder = Folder::new("fails");
    let text = STONES.replace("until = \"0.15 s\"", "until = \"1 s\"\non_unconverged = \"fail\"");
    let text = text.replace("[materials.rock]", "[solver]\nmax_sweeps = 1\n[materials.rock]");
    folder.write("scene.toml", text);
    let output = folder.riprap(&["run", "scene.toml", "--out", "o"]);
    assert_eq!(code(&output), Some(1), "{}", stderr(&output));
    assert!(stderr(&output).contains("did not converge"), "{}", stderr(&output));
    let summary = json(&folder.read("o/summary.json"));
    assert_eq!(summary["state"], "failed");
    assert!(summary["message"].as_str().unwrap().contains("did not converge"));
    assert!(folder.read("o/series.csv").lines().count() > 1);
}

/// Starts an endless run, sends it a signal once it is under way, and returns its exit code.
#[cfg(unix)]
fn signalled(folder: &Folder, signal: &str) -> Option<i32> {
    folder.write("scene.toml", STONES.replace("until = \"0.15 s\"", "until = \"1000 s\""));
    let mut child = command(&folder.0)
        .args(["run", "scene.toml", "--out", "o"])
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let rows = || std::fs::read_to_string(folder.0.join("o/series.csv")).unwrap_or_default();
    let begin = std::time::Instant::now();
    while rows().lines().count() < 3 && begin.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args([signal, &id]).status().unwrap().success());
    child.wait().unwrap().code()
}

/// Asserts that all files are readable, and returns the state in the summary.
#[cfg(unix)]
fn readable(folder: &Folder) -> String {
    let series = folder.read("o/series.csv");
    let columns = series.lines().next().unwrap().split(',').count();
    assert!(series.ends_with('\n'));
    assert!(series.lines().all(|line| line.split(',').count() == columns));
    let file = RunFile::open(folder.0.join("o")).unwrap();
    for k in 0..file.times().len() {
        file.frame(k).and_then(|_| file.contacts(k)).unwrap();
    }
    json(&folder.read("o/summary.json"))["state"].as_str().unwrap().to_owned()
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_run_cleanly() {
    let folder = Folder::new("interrupt");
    assert_eq!(signalled(&folder, "-INT"), Some(130));
    assert_eq!(readable(&folder), "interrupted");
}

#[cfg(unix)]
#[test]
fn a_killed_run_leaves_readable_files() {
    let folder = Folder::new("killed");
    assert_eq!(signalled(&folder, "-KILL"), None);
    assert_eq!(readable(&folder), "running");
}

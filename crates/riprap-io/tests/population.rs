//! Scene files in which bodies are inserted and removed: restarts, series, summary, run file, resolved scene.

use riprap::simulation::Frame;
use riprap_io::output::Ending;
use riprap_io::run::{Options, Phase, Run, Watch};
use riprap_io::run_file::{self, RunFile};
use riprap_io::scene_file::SceneFile;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

/// A feed of weak stones and one of spheres that come with a mass rate, above a floor; what leaves a box is removed.
const FED: &str = r#"
seed = 4
[run]
dt = "1 ms"
until = "0.15 s"
output_every = "10 ms"
frames = "both"
[materials.rock]
density = 2700
friction = 0.5
fragmentation = { criterion = "peak-force", strength = "200 N", smallest = "1 cm" }
[materials.glass]
density = 2500
friction = 0.2
[[body]]
kind = "fixed"
shape = { type = "half-space" }
material = "glass"
[[insert]]
name = "stones"
material = "rock"
stones = {}
grading = { uniform = ["30 mm", "50 mm"] }
box = { min = [-0.1, -0.1, 0.05], max = [0.1, 0.1, 0.3] }
rate = "100 Hz"
velocity = [2, 0, -4]
[[insert]]
name = "beads"
material = "glass"
spheres = {}
grading = { uniform = ["10 mm", "20 mm"] }
seed = 3
box = { min = [-0.1, -0.1, 0.4], max = [0.1, 0.1, 0.4] }
mass_rate = "0.2 kg/s"
start = "20 ms"
until = "120 ms"
count = 1000
velocity = [1, 0, 0]
angular_velocity = [0, 0, 3]
random_rotation = false
[[remove]]
outside = { min = [-0.2, -0.2, -1], max = [0.2, 0.2, 1] }
[[remove]]
at = "0.1 s"
bodies = ["beads-1*", "stones-3*"]
"#;

fn scene(text: &str) -> SceneFile {
    SceneFile::parse(text, ".").unwrap_or_else(|e| panic!("{e}"))
}

/// Interrupts a run after a step.
struct Stop(u64, Arc<AtomicBool>);

impl Watch for Stop {
    fn step(&mut self, _: Phase, frame: &Frame) {
        if frame.state.step >= self.0 {
            self.1.store(true, Ordering::Relaxed);
        }
    }
}

/// Series, run file and frames of a run.
fn contents(run: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let frames = fs::read_dir(run.join("frames")).unwrap().map(|entry| entry.unwrap().path());
    let others = ["series.csv", run_file::FILE].map(|name| run.join(name));
    for path in frames.chain(others) {
        files.insert(path.file_name().unwrap().display().to_string(), fs::read(&path).unwrap());
    }
    files
}

/// The names of the columns of a series, and its rows.
fn table(folder: &Path) -> (Vec<String>, Vec<Vec<f64>>) {
    let text = fs::read_to_string(folder.join("series.csv")).unwrap();
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let names = lines.next().unwrap().split(',').map(str::to_owned).collect();
    let rows = lines.map(|line| line.split(',').map(|x| x.parse().unwrap_or(f64::NAN)).collect());
    (names, rows.collect())
}

#[test]
fn a_run_with_insertion_and_removal_resumes_bitwise_identically() {
    let out = TempDir::new().unwrap();
    let scene = scene(FED);
    let whole = Run::new(&scene, Options::new(out.path().join("whole"))).unwrap();
    let whole = whole.execute(&mut ()).unwrap();
    assert_eq!(whole.ending, Ending::Finished);
    let state = whole.state.as_ref().unwrap();
    let (account, stones) = (state.population.account, state.degradation.account);
    assert!(account.removed > 3 && stones.breaks > 0, "{account:?} {stones:?}");
    assert_eq!(state.population.feeds[0].next, 15);
    for step in [1, 21, 100, 149] {
        let path = out.path().join(step.to_string());
        let run = Run::new(&scene, Options::new(&path)).unwrap();
        let mut stop = Stop(step, run.interrupt());
        assert_eq!(run.execute(&mut stop).unwrap().ending, Ending::Interrupted);
        let summary = Run::resume_folder(&path).unwrap().execute(&mut ()).unwrap();
        assert_eq!(summary.state, whole.state, "interrupted after {step} steps");
        assert!(contents(&out.path().join("whole")) == contents(&path), "after {step} steps");
    }
}

#[test]
fn series_summary_and_run_file_show_who_comes_and_goes() {
    let out = TempDir::new().unwrap();
    let path = out.path().join("run");
    let run = Run::new(&scene(FED), Options::new(&path)).unwrap();
    let summary = run.execute(&mut ()).unwrap();
    let state = summary.state.unwrap();
    let (names, rows) = table(&path);
    let column = |name: &str| {
        let at = names.iter().position(|n| n.starts_with(name)).unwrap_or_else(|| panic!("{name}"));
        rows.iter().map(move |row| row[at]).collect::<Vec<f64>>()
    };
    let (bodies, inserted, removed) = (column("bodies"), column("inserted"), column("removed"));
    assert_eq!((bodies[0], inserted[0], removed[0]), (0.0, 0.0, 0.0));
    assert_eq!(*inserted.last().unwrap(), state.population.account.inserted as f64);
    let (came, left) = (column("inserted_mass"), column("removed_mass"));
    assert_eq!(*came.last().unwrap(), state.population.account.gained.mass);
    assert!(came.is_sorted() && left.is_sorted() && left.last() > Some(&0.0));

    let told = fs::read(path.join("summary.json")).unwrap();
    let told: serde_json::Value = serde_json::from_slice(&told).unwrap();
    assert_eq!(told["population"]["inserted"], state.population.account.inserted);
    assert_eq!(told["population"]["insertions"][1]["name"], "beads");
    assert_eq!(told["population"]["insertions"][0]["waited"], 0);

    // Each frame of the run file has the bodies of its time, with names and ids that belong together.
    let mut file = RunFile::open(path.join(run_file::FILE)).unwrap();
    file.refresh().unwrap();
    let mut known = BTreeMap::new();
    for k in 0..file.times().len() {
        let poses = file.frame(k).unwrap();
        let model = file.model(poses.model).unwrap();
        assert_eq!(poses.position.len(), model.names.len());
        assert_eq!(model.names.len() as f64, bodies[k] + 1.0, "frame {k}");
        for (id, name) in model.ids.iter().zip(&model.names) {
            assert_eq!(known.entry(*id).or_insert_with(|| name.clone()), name);
        }
        let drawn = file.surfaces(k).unwrap();
        let mut ids = drawn.bodies.clone();
        ids.dedup();
        assert_eq!(ids.len(), model.names.len(), "frame {k}");
    }
    assert!(known.len() > 20);
}

#[test]
fn the_resolved_scene_is_the_same_scene_and_reads_all_keys() {
    let first = scene(FED);
    let again = scene(&first.to_toml());
    assert_eq!(first, again);
    assert!(first.to_toml().contains("mass_rate = 0.2"));
    let built = first.build().unwrap();
    let population = built.scene.population().unwrap();
    assert_eq!((population.insertions.len(), population.removals.len()), (2, 2));
    // Sizes follow the sieve curve within a batch of a hundred.
    let beads = &population.insertions[1];
    let sizes: Vec<f64> = (0..100).filter_map(|k| beads.supply.at(k).size()).collect();
    assert!(sizes.iter().all(|d| (0.01..=0.02).contains(d)));
    let volume = |fine: bool| -> f64 {
        sizes.iter().filter(|d| (**d < 0.015) == fine).map(|d| d.powi(3)).sum()
    };
    // Half of the mass is finer than 15 mm.
    let share = volume(true) / (volume(true) + volume(false));
    assert!((share - 0.5).abs() < 0.02, "{share}");
}

//! Scene files whose stones break and wear: every scheme runs them, conserves their mass, and resumes them from a
//! checkpoint with the same results.

use riprap::simulation::Frame;
use riprap_io::run::{Options, Phase, Run, Watch};
use riprap_io::scene_file::SceneFile;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::TempDir;

/// A stone that falls on another one and breaks it; both slide and wear.
const FALL: &str = r#"
seed = 3
[run]
until = "40 ms"
output_every = "10 ms"
SCHEME
[materials.rock]
density = 2500
friction = 0.4
fragmentation = { criterion = "peak-force", strength = "600 N", smallest = "40 mm" }
wear = { coefficient = 1.0, hardness = "0.2 MPa", chamfer = 2e-5 }
[[body]]
kind = "fixed"
shape = { type = "half-space" }
material = "rock"
[[body]]
name = "low"
position = [0, 0, 0.05]
velocity = [1, 0.2, 0]
shape = { type = "box", size = [0.1, 0.1, 0.1] }
material = "rock"
[[body]]
name = "high"
position = [0.02, 0, 0.16]
velocity = [1, 0, -2]
shape = { type = "box", size = [0.1, 0.09, 0.1] }
material = "rock"
"#;

const SCHEMES: [&str; 4] = [
    "dt = \"0.5 ms\"\nscheme = \"moreau-jean\"",
    "dt = \"0.5 ms\"\nscheme = \"cone-complementarity\"",
    "dt = \"0.02 ms\"\nscheme = \"penalty\"",
    "dt = \"0.5 ms\"\nscheme = \"rigid-events\"",
];

fn scene(scheme: &str) -> SceneFile {
    let text = FALL.replace("SCHEME", scheme);
    SceneFile::parse(&text, ".").unwrap_or_else(|e| panic!("{scheme}: {e}"))
}

/// Stops a run after a time [s].
struct Until(f64, Arc<AtomicBool>);

impl Watch for Until {
    fn step(&mut self, _: Phase, frame: &Frame) {
        if frame.state.t >= self.0 {
            self.1.store(true, Ordering::Relaxed);
        }
    }
}

/// Columns of the series by the beginnings of their names.
fn columns(folder: &Path, names: &[&str]) -> Vec<Vec<f64>> {
    let text = fs::read_to_string(folder.join("series.csv")).unwrap();
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let rows: Vec<Vec<f64>> = lines
        .map(|line| line.split(',').map(|x| x.parse().unwrap_or(f64::NAN)).collect())
        .collect();
    let column = |name: &&str| {
        let at =
            header.iter().position(|h| h.starts_with(*name)).unwrap_or_else(|| panic!("{name}"));
        rows.iter().map(|row| row[at]).collect()
    };
    names.iter().map(column).collect()
}

#[test]
fn every_scheme_breaks_wears_and_resumes_with_the_same_files() {
    for scheme in SCHEMES {
        let folder = TempDir::new().unwrap();
        let whole = folder.path().join("whole");
        let scene = scene(scheme);
        let first = Run::new(&scene, Options::new(&whole)).unwrap().execute(&mut ()).unwrap();
        let state = first.state.unwrap();
        let account = state.degradation.account;
        assert!(account.breaks > 0, "{scheme}: {account:?}");
        assert!(account.friction_work > 0.0, "{scheme}");
        let lists = columns(&whole, &["breaks", "pieces", "dust_mass", "worn_mass", "total_mass"]);
        for list in &lists[..4] {
            assert!(list.windows(2).all(|w| w[0] <= w[1]), "{scheme}: nothing is undone");
        }
        let mass = 2500.0 * (1e-3 + 0.9e-3);
        assert!(lists[4].iter().all(|m| (m / mass - 1.0).abs() < 1e-12), "{scheme}: {lists:?}");
        let last = lists[0].last().unwrap();
        assert_eq!(*last, account.breaks as f64, "{scheme}");

        for stop in [0.004, 0.013, 0.031] {
            let path = folder.path().join(format!("{stop}"));
            let run = Run::new(&scene, Options::new(&path)).unwrap();
            let mut watch = Until(stop, run.interrupt());
            run.execute(&mut watch).unwrap();
            let again = Run::resume_folder(&path).unwrap();
            assert!(again.resumes(), "{scheme}");
            let resumed = again.execute(&mut ()).unwrap();
            assert!(resumed.state.unwrap() == state, "{scheme}, interrupted at {stop} s");
            let series = |path: &Path| fs::read(path.join("series.csv")).unwrap();
            assert!(series(&path) == series(&whole), "{scheme}, interrupted at {stop} s");
        }
    }
}

#[test]
fn a_scene_with_breakage_and_wear_is_written_as_it_was_read() {
    let first = scene(SCHEMES[0]);
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("run");
    Run::new(&first, Options::new(&path)).unwrap().execute(&mut ()).unwrap();
    let again = SceneFile::read(path.join("scene.toml")).unwrap();
    assert_eq!(first.identity(), again.identity());
    let rock = &again.build().unwrap().scene.materials()[0].clone();
    let wear = rock.wear.unwrap();
    assert_eq!((wear.coefficient, wear.hardness, wear.chamfer), (1.0, 2e5, 2e-5));
    let law = rock.fragmentation.unwrap();
    assert_eq!((law.smallest, law.weibull, law.average), (0.04, None, 0.0));
}

#[test]
fn a_checkpoint_of_other_stones_is_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("run");
    let first = scene(SCHEMES[0]);
    let run = Run::new(&first, Options::new(&path)).unwrap();
    let mut watch = Until(0.02, run.interrupt());
    run.execute(&mut watch).unwrap();
    for (from, to) in
        [("600 N", "700 N"), ("40 mm", "30 mm"), ("seed = 3", "seed = 4"), ("0.2 MPa", "0.3 MPa")]
    {
        let text = FALL.replace("SCHEME", SCHEMES[0]).replace(from, to);
        let other = SceneFile::parse(&text, ".").unwrap();
        let Err(refused) = Run::resume(&other, Options::new(&path)) else { panic!("{to}") };
        let refused = refused.to_string();
        assert!(refused.contains("the scene has changed since the checkpoint"), "{to}: {refused}");
    }
    assert!(Run::resume(&first, Options::new(&path)).is_ok());
}

//! Small runs written to a folder and read back.

use super::*;
use riprap::simulation::Simulation;
use std::path::PathBuf;

const BALL: &str = "\
seed = 5
[run]
dt = \"1 ms\"
until = \"0.1 s\"
output_every = \"30 ms\"
[materials.rock]
density = 1000
friction = 0.5
[[body]]
kind = \"fixed\"
shape = { type = \"half-space\" }
material = \"rock\"
[[body]]
name = \"block\"
shape = { type = \"polyhedron\", points = [[0,0,0], [1,0,0], [1,1,0], [0,1,0], [0,0,1], [1,0,1], [1,1,1], [0,1,1]] }
material = \"rock\"
[[probe]]
body = \"block\"
quantities = [\"position\", \"rotation\", \"force\"]
";

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("riprap-output-{}-{name}", std::process::id()));
    let _ = std::fs::remove_dir_all(&folder);
    folder
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_str(&std::fs::read_to_string(path.join("summary.json")).unwrap()).unwrap()
}

#[test]
fn a_run_is_written_whole_and_says_how_it_ended() {
    let file = SceneFile::parse(BALL, ".").unwrap();
    let built = file.build().unwrap();
    let path = folder("whole");
    let mut writer = RunWriter::create(&path, Existing::Keep, &file, &built, 3).unwrap();
    assert_eq!(json(&path)["state"], "running");
    let mut run = Simulation::new(built.scene, file.scheme()).unwrap();
    run.until(file.run.until, &mut writer).unwrap();
    writer.finish(Some(&run.frame()), &Ending::Finished).unwrap();

    let summary = json(&path);
    assert_eq!(summary["state"], "finished");
    assert_eq!((&summary["steps"], &summary["threads"]), (&100.into(), &3.into()));
    assert_eq!((&summary["seed"], &summary["contacts"]["max"]), (&5.into(), &4.into()));
    let series = std::fs::read_to_string(path.join("series.csv")).unwrap();
    let rows: Vec<Vec<&str>> = series.lines().map(|line| line.split(',').collect()).collect();
    // 0, 30, 60, 90 ms and the end.
    assert_eq!(rows.len(), 6);
    let column = |name: &str| rows[0].iter().position(|heading| *heading == name).unwrap();
    assert_eq!(rows[5][column("contacts [-]")], "4");
    let x: f64 = rows[5][column("block.position_x [m]")].parse().unwrap();
    assert!(x.abs() < 1e-9, "{x}"); // the corner of the block, which rests
    let weight: f64 = rows[5][column("block.force_z [N]")].parse().unwrap();
    assert!((weight - 9810.0).abs() < 1.0); // the tolerance of the solver is 1e-4
    for number in 0..5 {
        for part in ["surfaces", "contacts"] {
            assert!(path.join(format!("frames/{part}-{number:06}.vtp")).is_file());
        }
    }
    let scene = SceneFile::read(path.join("scene.toml")).unwrap();
    assert_eq!(scene, file);
    std::fs::remove_dir_all(path).unwrap();
}

#[test]
fn a_run_that_fails_leaves_its_reason() {
    let file = SceneFile::parse(BALL, ".").unwrap();
    let built = file.build().unwrap();
    let path = folder("failed");
    let mut writer = RunWriter::create(&path, Existing::Keep, &file, &built, 1).unwrap();
    writer.finish(None, &Ending::Failed("the sky fell".into())).unwrap();
    let summary = json(&path);
    assert_eq!(summary["state"], "failed");
    assert_eq!(summary["message"], "the sky fell");
    assert!(summary["energy_end"].is_null());
    std::fs::remove_dir_all(path).unwrap();
}

#[test]
fn every_face_is_shown_and_the_floor_as_a_patch() {
    let file = SceneFile::parse(BALL, ".").unwrap();
    let surfaces = Surfaces::new(&file.build().unwrap().scene);
    let run = Simulation::new(file.build().unwrap().scene, file.scheme()).unwrap();
    let data = surfaces.bodies(&run.frame());
    assert_eq!((data.n_points(), data.n_cells()), (4 + 8, 1 + 6));
}

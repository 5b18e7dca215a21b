use super::*;
use crate::run::{Options, Run};
use tempfile::TempDir;

const STACK: &str = r#"
    run = { dt = "1 ms", until = "0.3 s", checkpoint_every = "0.1 s" }
    planar = true
    gravity = [0, -9.81, 0]
    materials.rock = { density = 1000, friction = 0.6 }
    [[body]]
    name = "floor"
    kind = "fixed"
    shape = { type = "half-space", normal = [0, 1, 0] }
    material = "rock"
    [[body]]
    name = "left"
    position = [-0.1, 0.1, 0]
    shape = { type = "disc", radius = 0.1, thickness = 1 }
    material = "rock"
    [[body]]
    name = "right"
    position = [0.1, 0.1, 0]
    shape = { type = "disc", radius = 0.1, thickness = 1 }
    material = "rock"
    [[body]]
    name = "top"
    position = [0, 0.27320508075688773, 0]
    shape = { type = "disc", radius = 0.1, thickness = 1 }
    material = "rock"
"#;

fn run(text: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let scene = SceneFile::parse(text, ".").unwrap_or_else(|e| panic!("{e}"));
    Run::new(&scene, Options::new(folder.path().join("run"))).unwrap().execute(&mut ()).unwrap();
    folder
}

#[test]
fn the_forces_of_a_run_are_written_as_table_lines_and_picture() {
    let folder = run(STACK);
    let path = folder.path().join("run");
    let run = load(&path, None).unwrap();
    let network = network(&run, &RestForces::new(), Resultant::Balance).unwrap();
    assert!(network.report.residual < 1e-8, "{:?}", network.report);
    write(&path, &run.frame(), &network, View::Y).unwrap();

    let table = std::fs::read_to_string(path.join("forces.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + network.contacts.len());
    assert!(table.contains("floor,left,"), "{table}");
    assert!(table.contains(",sticking"), "{table}");
    let svg = std::fs::read_to_string(path.join("force-chains.svg")).unwrap();
    let loaded = network.normal_forces().len();
    assert_eq!(svg.matches("<polyline").count(), loaded);
    assert!(svg.matches("<polygon").count() >= 4 && svg.ends_with("</svg>\n"));
    assert!(path.join("force-chains.vtp").is_file());
    // The floor carries three discs of a square decimetre times pi, a metre thick.
    let weight = 3.0 * 1000.0 * std::f64::consts::PI * 0.01 * 9.81;
    let floor = network.contacts.iter().filter(|c| c.normal.y.abs() > 0.99 && c.point.y < 0.05);
    let sum: f64 = floor.map(|c| c.force.y).sum();
    assert!((sum - weight).abs() < 1e-6 * weight, "{sum} {weight}");
}

#[test]
fn folders_without_a_run_or_a_checkpoint_and_early_times_are_rejected() {
    let empty = TempDir::new().unwrap();
    let tell = |path: &Path, time| load(path, time).err().unwrap().to_string();
    assert!(tell(empty.path(), None).contains("is not the folder of a run"));
    let without = run(&STACK.replace(", checkpoint_every = \"0.1 s\"", ""));
    assert!(tell(&without.path().join("run"), None).contains("has no checkpoint"));
    let folder = run(STACK);
    let path = folder.path().join("run");
    assert!(tell(&path, Some(0.05)).contains("the last checkpoint is at t = 0.2"));
    let later = load(&path, Some(0.25)).unwrap();
    assert!((later.time() - 0.251).abs() < 1e-9);
}

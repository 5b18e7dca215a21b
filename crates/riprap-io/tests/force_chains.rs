//! Force networks of run folders: tables and lines with known forces, of runs of any scheme, and of runs in which stones
//! broke.

use riprap::friction::{ContactStatus, RestForces};
use riprap::simulation::Resultant;
use riprap_io::forces::{self, FILES, View};
use riprap_io::run::{Options, Run};
use riprap_io::scene_file::SceneFile;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

const G: f64 = 9.81;

/// A tower of cubes of 1 kg on a floor.
const TOWER: &str = r#"
run = { dt = "1 ms", until = "20 ms", checkpoint_every = "10 ms" SCHEME }
materials.rock = { density = 1000, friction = 0.6 }
[[body]]
name = "floor"
kind = "fixed"
shape = { type = "half-space" }
material = "rock"
[[body]]
name = "low"
position = [0, 0, 0.05]
shape = { type = "box", size = [0.1, 0.1, 0.1] }
material = "rock"
[[body]]
name = "middle"
position = [0, 0, 0.15]
shape = { type = "box", size = [0.1, 0.1, 0.1] }
material = "rock"
[[body]]
name = "top"
position = [0, 0, 0.25]
shape = { type = "box", size = [0.1, 0.1, 0.1] }
material = "rock"
"#;

fn run(text: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    let scene = SceneFile::parse(text, ".").unwrap_or_else(|e| panic!("{e}"));
    let options = Options::new(folder.path().join("run"));
    Run::new(&scene, options).unwrap().execute(&mut ()).unwrap();
    folder
}

/// Writes the files of a run; the number of loaded contacts.
fn write(folder: &Path) -> usize {
    let run = forces::load(folder, None).unwrap();
    let network = forces::network(&run, &RestForces::new(), Resultant::Balance).unwrap();
    assert!(network.report.converged, "{:?}", network.report);
    forces::write(folder, &run.frame(), &network, View::X).unwrap();
    network.contacts.iter().filter(|c| c.status != ContactStatus::Open).count()
}

/// Rows of a table: two names, numbers, and the status.
fn rows(folder: &Path) -> Vec<([String; 2], Vec<f64>, String)> {
    let text = fs::read_to_string(folder.join(FILES[0])).unwrap();
    let row = |line: &str| {
        let list: Vec<&str> = line.split(',').collect();
        assert_eq!(list.len(), 16, "{line}");
        let numbers = list[2..15].iter().map(|x| x.parse().unwrap()).collect();
        ([0, 1].map(|k| list[k].to_owned()), numbers, list[15].to_owned())
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn a_tower_has_the_weight_above_each_joint_at_four_equal_points() {
    for scheme in ["", ", scheme = \"cone-complementarity\"", ", scheme = \"rigid-events\""] {
        let folder = run(&TOWER.replace("SCHEME", scheme));
        let path = folder.path().join("run");
        assert_eq!(write(&path), 12, "{scheme}");
        let rows = rows(&path);
        assert_eq!(rows.len(), 12, "{scheme}");
        for (names, weight) in [("floor low", 3.0 * G), ("low middle", 2.0 * G), ("middle top", G)]
        {
            let of = rows.iter().filter(|r| r.0.join(" ") == names);
            let mut count = 0;
            for (_, x, status) in of {
                count += 1;
                assert_eq!(status, "sticking");
                // x, y, z, normal, solver, force, normal force.
                assert!(x[0].abs() < 0.051 && x[1].abs() < 0.051 && (x[5] - 1.0).abs() < 1e-9);
                assert!((x[12] - 0.25 * weight).abs() < 1e-4 * G, "{scheme} {names}: {}", x[12]);
                assert!((x[11] - x[12]).abs() < 1e-9, "the normal is vertical");
            }
            assert_eq!(count, 4, "{names}");
        }
        // The solver's forces carry the same weight.
        let floor: f64 = rows.iter().filter(|r| r.0[0] == "floor").map(|r| r.1[8]).sum();
        assert!((floor / (3.0 * G) - 1.0).abs() < 1e-3, "{scheme}: {floor}");
    }
}

#[test]
fn lines_and_picture_show_every_loaded_contact_once() {
    let folder = run(&TOWER.replace("SCHEME", ""));
    let path = folder.path().join("run");
    let loaded = write(&path);
    let lines = fs::read(path.join(FILES[1])).unwrap();
    let head = String::from_utf8_lossy(&lines[..lines.len().min(4000)]).into_owned();
    assert!(head.contains(&format!("NumberOfLines=\"{loaded}\"")), "{head}");
    // On the floor a line has two points, between two stones three.
    assert!(head.contains(&format!("NumberOfPoints=\"{}\"", 4 * 2 + 8 * 3)), "{head}");
    for name in ["force [N]", "solver force [N]", "radius [m]", "bodies"] {
        assert!(head.contains(&format!("Name=\"{name}\"")), "{name}");
    }
    let picture = fs::read_to_string(path.join(FILES[2])).unwrap();
    assert_eq!(picture.matches("<polyline").count(), loaded);
    assert_eq!(picture.matches("#e8e4dc").count(), 3, "three stones");
    // Widths are as the forces, the widest last: 3 : 2 : 1.
    let widths: Vec<f64> = picture
        .lines()
        .filter_map(|line| {
            line.split("stroke-width=\"").nth(1).filter(|_| line.contains("polyline"))
        })
        .map(|rest| rest.trim_end_matches("\"/>").parse().unwrap())
        .collect();
    assert!(widths.windows(2).all(|w| w[0] <= w[1]), "{widths:?}");
    assert!((widths[11] / widths[0] - 3.0).abs() < 0.02, "{widths:?}");
}

#[test]
fn a_run_in_which_stones_broke_has_forces_between_its_pieces() {
    let crushed = r#"
seed = 2
run = { dt = "1 ms", until = "0.3 s", checkpoint_every = "0.1 s" }
materials.steel = { density = 7800, friction = 0.5 }
[materials.rock]
density = 2700
friction = 0.5
fragmentation = { criterion = "peak-force", strength = "200 N", smallest = "40 mm" }
[[body]]
kind = "fixed"
shape = { type = "half-space" }
material = "steel"
[[body]]
name = "stone"
position = [0, 0, 0.05]
shape = { type = "box", size = [0.2, 0.1, 0.1] }
material = "rock"
[[body]]
name = "plate"
position = [0, 0, 0.13]
velocity = [0, 0, -0.5]
shape = { type = "box", size = [0.2, 0.2, 0.05] }
material = "steel"
"#;
    let folder = run(crushed);
    let path = folder.path().join("run");
    let run = forces::load(&path, None).unwrap();
    let account = run.state().degradation.account;
    assert!(account.breaks >= 1, "{account:?}");
    let network = forces::network(&run, &RestForces::new(), Resultant::Step).unwrap();
    forces::write(&path, &run.frame(), &network, View::Z).unwrap();
    let rows = rows(&path);
    assert!(rows.iter().any(|r| r.0.iter().any(|name| name.starts_with("stone."))), "{rows:?}");
    assert!(rows.iter().all(|r| r.0.iter().all(|name| name != "stone")), "the stone is gone");
    for r in &rows {
        assert!(r.1[12] >= -1e-9, "nothing pulls");
    }
}

#[test]
fn damaged_folders_are_refused_with_the_file_at_fault() {
    let folder = run(&TOWER.replace("SCHEME", ""));
    let path = folder.path().join("run");
    let tell = || forces::load(&path, None).err().map(|e| e.to_string()).unwrap_or_default();
    assert_eq!(tell(), "");
    let scene = fs::read_to_string(path.join("scene.toml")).unwrap();
    fs::write(path.join("scene.toml"), scene.replace("0.6", "0.7")).unwrap();
    assert!(tell().contains("the scene has changed since the checkpoint"), "{}", tell());
    fs::write(path.join("scene.toml"), "run = 3").unwrap();
    assert!(!tell().is_empty());
    fs::write(path.join("scene.toml"), scene).unwrap();
    let checkpoint = path.join("checkpoint.bin");
    let bytes = fs::read(&checkpoint).unwrap();
    for damaged in [bytes[..bytes.len() / 2].to_vec(), b"riprapCP".to_vec(), Vec::new()] {
        fs::write(&checkpoint, damaged).unwrap();
        assert!(tell().contains("checkpoint"), "{}", tell());
    }
    let mut flipped = bytes.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 0x40;
    fs::write(&checkpoint, flipped).unwrap();
    assert!(!tell().is_empty(), "a changed byte is noticed");
    fs::write(&checkpoint, bytes).unwrap();
    assert_eq!(tell(), "");
}

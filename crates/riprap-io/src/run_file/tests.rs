//! Run files that are cut after any write, and models that contradict themselves.

use std::path::Path;

use riprap::math::Vec3;
use riprap::simulation::Simulation;

use super::layout::Layout;
use super::write::{Open, hash};
use super::*;
use crate::hdf5_append::Store;
use crate::hdf5_append::tests::{Memory, apply};
use crate::output::{Link, Snapshot};
use crate::scene_file::SceneFile;

/// A stone that a plate breaks, two hanging bobs, one of which tears its rope, and a floor.
const SCENE: &str = r#"
seed = 4
[run]
dt = "1 ms"
until = "0.1 s"
[materials.steel]
density = 7800
friction = 0.5
[materials.rock]
density = 2700
friction = 0.5
fragmentation = { criterion = "stress", strength = "0.1 MPa", weibull = 3, reference_size = "10 cm", smallest = "20 mm", average = "2 ms" }
[[body]]
name = "floor"
kind = "fixed"
shape = { type = "half-space" }
material = "steel"
[[body]]
name = "stone"
position = [0, 0, 0.05]
shape = { type = "box", size = [0.1, 0.1, 0.1] }
material = "rock"
[[body]]
name = "plate"
position = [0, 0, 0.16]
velocity = [0, 0, -1]
shape = { type = "box", size = [0.4, 0.4, 0.1] }
material = "steel"
[[body]]
name = "bob"
position = [-1, 0, 1]
shape = { type = "sphere", radius = 0.02 }
material = "steel"
mass = "0.1 kg"
[[body]]
name = "pebble"
position = [-2, 0, 1]
shape = { type = "sphere", radius = 0.02 }
material = "steel"
mass = "0.1 kg"
[[rope]]
name = "strong"
points = [{ body = "bob" }, { body = "world", position = [-1, 0, 2] }]
[[rope]]
name = "weak"
points = [{ body = "pebble" }, { body = "world", position = [-2, 0, 2] }]
length = "1.0002 m"
breaking_load = "0.2 N"
"#;

const EXTENT: [Vec3; 2] = [Vec3::new(-1.0, -1.0, 0.0), Vec3::new(1.0, 1.0, 1.0)];

/// Writes a run with a step of the file every 5 ms and contacts at every third one; also returns the number of writes
/// at the end of each step.
fn recorded(n: usize) -> (Open<Memory>, Vec<usize>) {
    let scene = SceneFile::parse(SCENE, ".").unwrap_or_else(|e| panic!("{e}"));
    let mut run = Simulation::new(scene.build().unwrap().scene, scene.scheme()).unwrap();
    let shapes = Shapes::within(run.scene(), EXTENT);
    let contents = Contents { ropes: true, chains: true, insertions: false };
    let mut file = Open::new(Memory::default(), Layout::new(&shapes, contents));
    let mut commits = Vec::new();
    for k in 0..n {
        run.until(5e-3 * k as f64, &mut ()).unwrap();
        let (frame, shapes) = (run.frame(), Shapes::within(run.scene(), EXTENT));
        let links = Link::all(&frame);
        let contacts = k.is_multiple_of(3);
        let due = Due { surfaces: true, contacts, chains: contacts.then_some((&links[..], 0.1)) };
        file.step(&shapes, hash(&shapes), &Snapshot::of(&frame), &due);
        file.file.commit().unwrap();
        commits.push(file.file.store().writes.len());
    }
    (file, commits)
}

/// Everything that a file contains about a frame.
type Everything = (Poses, ContactSet, SurfaceSet, Model);

fn everything(file: &RunFile, k: usize) -> Everything {
    let (poses, contacts) = (file.frame(k).unwrap(), file.contacts(k).unwrap());
    let model = file.model(poses.model).unwrap();
    (poses, contacts, file.surfaces(k).unwrap(), model)
}

/// Positions of the bodies in the last step of a file and all times, as another reader sees them.
fn by_another_reader(bytes: &[u8]) -> (Vec<f64>, Vec<f64>) {
    let file = hdf5_pure::File::from_bytes(bytes.to_vec()).unwrap();
    let dataset = |path: &str| file.dataset(&format!("VTKHDF/centres/{path}")).unwrap();
    let times = dataset("Steps/Values").read_f64().unwrap();
    let k = times.len() as u64 - 1;
    let number = |path: &str, row: u64| dataset(path).read_i64_rows(row, 1).unwrap()[0] as u64;
    let n = number("NumberOfPoints", number("Steps/PartOffsets", k));
    let first = number("Steps/PointOffsets", k);
    (times, dataset("Points").read_f64_rows(first, n).unwrap())
}

#[test]
fn a_run_killed_after_any_write_has_all_complete_frames() {
    let n = 14;
    let (whole, commits) = recorded(n);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    std::fs::write(&path, &whole.file.store().bytes).unwrap();
    let file = RunFile::open(&path).unwrap();
    let expected: Vec<Everything> = (0..n).map(|k| everything(&file, k)).collect();
    // The stone breaks, and so does a rope: several models, bodies with new names, fewer ropes.
    assert!(file.models()[n - 1] > 0 && expected[n - 1].3.names.len() > 6);
    assert_eq!([0, n - 1].map(|k| expected[k].0.ropes.len()), [2, 1]);

    let mut store = std::fs::File::create(&path).unwrap();
    let mut bytes = Vec::new();
    for (k, (at, written)) in whole.file.store().writes.iter().enumerate() {
        store.write_at(*at, written).unwrap();
        apply(&mut bytes, *at, written);
        let complete = commits.iter().filter(|commit| **commit <= k + 1).count();
        if complete == 0 {
            // It has another name until its first step is complete.
            continue;
        }
        let file = RunFile::open(&path).unwrap_or_else(|e| panic!("after write {k}: {e}"));
        assert_eq!(file.times().len(), complete, "after write {k}");
        assert_eq!(everything(&file, complete - 1), expected[complete - 1], "after write {k}");
        let (times, points) = by_another_reader(&bytes);
        assert_eq!(times, file.times(), "after write {k}");
        assert_eq!(points, expected[complete - 1].0.position.concat(), "after write {k}");
        if commits.contains(&(k + 1)) {
            (0..complete).for_each(|i| assert_eq!(everything(&file, i), expected[i]));
        }
    }
}

#[test]
fn a_write_that_is_torn_in_the_middle_of_new_data_changes_no_frame() {
    let (whole, commits) = recorded(4);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let writes = &whole.file.store().writes;
    let mut bytes = Vec::new();
    for (at, written) in &writes[..commits[2]] {
        apply(&mut bytes, *at, written);
    }
    std::fs::write(&path, &bytes).unwrap();
    let file = RunFile::open(&path).unwrap();
    let expected: Vec<Everything> = (0..3).map(|k| everything(&file, k)).collect();
    // The first write of a step appends its data: any part of it may be on the disk.
    let (at, data) = &writes[commits[2]];
    assert_eq!(*at, bytes.len() as u64);
    for length in (0..data.len()).step_by(997) {
        let mut torn = bytes.clone();
        apply(&mut torn, *at, &data[..length]);
        std::fs::write(&path, &torn).unwrap();
        let file = RunFile::open(&path).unwrap();
        let found: Vec<Everything> = (0..3).map(|k| everything(&file, k)).collect();
        assert_eq!((file.times().len(), found), (3, expected.clone()), "{length} bytes");
    }
}

/// The model of [`SCENE`].
fn model() -> Model {
    let scene = SceneFile::parse(SCENE, ".").unwrap().build().unwrap().scene;
    Shapes::within(&scene, EXTENT).model
}

#[test]
fn a_model_that_contradicts_itself_is_refused() {
    assert!(model().is_consistent() && model().names.len() == 6); // with the world
    let joint = JointInfo { child: Some(6), ..JointInfo::default() };
    let closure = LoopInfo { b: Some(6), ..LoopInfo::default() };
    type Change<'a> = &'a dyn Fn(&mut Model);
    let mistakes: [(&str, Change); 16] = [
        ("a name too many", &|m| m.names.push("ghost".into())),
        ("an id too few", &|m| m.ids.truncate(5)),
        ("no kinds", &|m| m.kinds.clear()),
        ("a mass too many", &|m| m.mass.push(1.0)),
        ("a size too few", &|m| m.size.truncate(5)),
        ("a radius too few", &|m| m.radius.truncate(5)),
        ("unbounded too few", &|m| m.unbounded.truncate(5)),
        ("an unknown material", &|m| m.material[1] = 2),
        ("vertices of no body", &|m| m.vertices.push([0.0; 3])),
        ("faces that go back", &|m| m.face_offsets.swap(2, 4)),
        ("a face with an unknown corner", &|m| m.face_vertices[3] = m.vertices.len() as u32),
        ("bodies that share faces", &|m| m.first_face[1] = u32::MAX),
        ("a joint of no body", &|m| {
            let joints = vec![joint.clone()];
            m.mechanisms.push(MechanismInfo { joints, ..MechanismInfo::default() });
        }),
        ("a loop of no body", &|m| {
            let loops = vec![closure.clone()];
            m.mechanisms.push(MechanismInfo { loops, ..MechanismInfo::default() });
        }),
        ("nodes that are no bodies", &|m| {
            m.flexible.push(FlexibleInfo { first: 5, nodes: 2, ..FlexibleInfo::default() });
        }),
        ("nodes beyond all numbers", &|m| {
            m.flexible.push(FlexibleInfo { first: 2, nodes: u32::MAX, ..FlexibleInfo::default() });
        }),
    ];
    for (what, change) in mistakes {
        let mut changed = model();
        change(&mut changed);
        assert!(!changed.is_consistent(), "{what}");
    }
}

#[test]
fn a_file_of_another_scene_is_not_continued() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(FILE);
    let shapes = |text: &str| {
        let scene = SceneFile::parse(text, ".").unwrap_or_else(|e| panic!("{e}"));
        Shapes::within(&scene.build().unwrap().scene, EXTENT)
    };
    let bytes = recorded(3).0.file.store().bytes.clone();
    let contents = Contents { ropes: true, chains: true, insertions: false };
    let resume = |text: &str, contents: Contents, n: usize| {
        std::fs::write(&path, &bytes).unwrap();
        let resumed = RunFileWriter::resume(path.clone(), shapes(text), contents, n);
        resumed.map(drop).map_err(|e| e.to_string())
    };
    assert_eq!(resume(SCENE, contents, 3), Ok(()));
    assert_eq!(resume(SCENE, contents, 1), Ok(()));
    let refused = |told: Result<(), String>, says: &str| {
        let told = told.unwrap_err();
        assert!(told.contains(says) && told.contains("without `--resume`"), "{told}");
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "{told}");
    };
    refused(resume(SCENE, contents, 4), "fewer frames than the checkpoint");
    let chains = Contents { chains: false, ..contents };
    refused(resume(SCENE, chains, 2), "another scene");
    let cut = SCENE.replace("size = [0.4, 0.4, 0.1]", "size = [0.4, 0.3, 0.1]");
    assert_eq!(resume(&cut, contents, 2), Ok(())); // as many faces: the scene is compared by the checkpoint
    let pyramid =
        "{ type = \"polyhedron\", points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]] }";
    let other = SCENE.replace("{ type = \"box\", size = [0.4, 0.4, 0.1] }", pyramid);
    refused(resume(&other, contents, 2), "another scene");
    // Without a step to keep, the file is removed, whatever it is.
    assert_eq!(resume(SCENE, chains, 0), Ok(()));
    assert!(!Path::new(&path).exists());
}

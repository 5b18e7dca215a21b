//! `run.vtkhdf`: what is written is read back, whatever the scene; kills and damage leave what was complete.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use riprap::prelude::*;
use riprap::simulation::Frame;
use riprap_io::run::{Options, Phase, Run, Watch};
use riprap_io::run_file::{FILE, Kind, RunFile};
use riprap_io::scene_file::SceneFile;

const STONES: &str = r#"
seed = 2
[run]
dt = "1 ms"
until = "60 ms"
output_every = "5 ms"
contacts_every = "15 ms"
[materials.rock]
density = 2700
friction = 0.5
[materials.steel]
density = 7800
[[body]]
name = "floor"
kind = "fixed"
shape = { type = "half-space" }
material = "rock"
[[body]]
name = "ball"
material = "steel"
position = [0.5, 0, 0.1]
velocity = [1, 0, 0]
shape = { type = "sphere", radius = 0.1 }
[[body]]
name = "block"
material = "rock"
position = [0, 0, 0.1]
rotation = { axis = [0, 0, 1], angle = "30 deg" }
angular_velocity = [0, 0, 2]
shape = { type = "box", size = [0.3, 0.2, 0.2] }
"#;

fn run(text: &str, folder: &Path) -> RunFile {
    let scene = SceneFile::parse(text, ".").unwrap_or_else(|e| panic!("{e}"));
    Run::new(&scene, Options::new(folder)).unwrap().execute(&mut ()).unwrap();
    RunFile::open(folder).unwrap()
}

#[test]
fn poses_velocities_contacts_and_names_are_read_back() {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("run");
    let file = run(STONES, &folder);
    assert_eq!(file.steps(), (0..=12).map(|k| 5 * k).collect::<Vec<_>>());
    assert_eq!(file.models(), [0; 13]);
    let model = file.model(0).unwrap();
    assert_eq!(model.names, ["floor", "ball", "block"]);
    assert_eq!(
        (&model.materials[..], &model.material[..]),
        (&["rock".into(), "steel".into()][..], &[0, 1, 0][..])
    );
    assert_eq!(model.kinds, [Kind::Fixed, Kind::Free, Kind::Free]);
    assert_eq!(
        (&model.unbounded[..], &model.radius[..]),
        (&[true, false, false][..], &[0.0, 0.1, 0.0][..])
    );
    // The patch of the floor and the faces of the block; the ball is a sphere.
    assert_eq!(
        (&model.first_face[..], &model.first_vertex[..]),
        (&[0, 1, 1, 7][..], &[0, 4, 4, 12][..])
    );
    assert!((model.mass[2] - 2700.0 * 0.012).abs() < 1e-4);

    let scene = SceneFile::parse(STONES, ".").unwrap();
    let mut run = Simulation::new(scene.build().unwrap().scene, scene.scheme()).unwrap();
    for k in 0..file.times().len() {
        run.until(file.times()[k], &mut ()).unwrap();
        let frame = file.frame(k).unwrap();
        assert_eq!((frame.time, frame.step), (run.time(), run.state().step));
        let position = |q: &Pose| <[f64; 3]>::from(q.position);
        assert_eq!(frame.position, run.state().q.iter().map(position).collect::<Vec<_>>());
        let single = |v: Vec3| [v.x as f32, v.y as f32, v.z as f32];
        let velocities: Vec<_> = run.state().v.iter().map(|v| single(v.linear)).collect();
        assert_eq!(frame.velocity, velocities);
        assert_eq!(frame.angular_velocity[2], single(run.state().v[2].angular));
        let turn = run.state().q[2].rotation.coords;
        assert_eq!(frame.rotation[2], [turn.x, turn.y, turn.z, turn.w].map(|x| x as f32));
        // Contacts are written at every third frame, and at the end.
        let contacts = file.contacts(k).unwrap();
        assert_eq!(contacts.time, file.times()[k / 3 * 3]);
        if k % 3 == 0 {
            let ours: Vec<_> = run.frame().contacts().collect();
            assert_eq!(contacts.force, ours.iter().map(|c| single(c.force)).collect::<Vec<_>>());
            assert_eq!(contacts.point, ours.iter().map(|c| single(c.point)).collect::<Vec<_>>());
            let bodies: Vec<_> = ours.iter().map(|c| c.bodies.map(|body| body.0)).collect();
            assert_eq!(contacts.bodies, bodies);
        }
    }
    assert!(file.contacts(12).unwrap().gap.len() >= 4);
    assert!(file.frame(13).unwrap_err().to_string().contains("no frame 13"));
    assert!(file.model(1).unwrap_err().to_string().contains("no model 1"));
}

#[test]
fn surfaces_are_placed_to_a_hundred_thousandth_of_a_grain() {
    let out = tempfile::tempdir().unwrap();
    let file = run(STONES, &out.path().join("run"));
    let (model, frame) = (file.model(0).unwrap(), file.frame(9).unwrap());
    let surfaces = file.surfaces(9).unwrap();
    assert_eq!(surfaces.ends.len(), surfaces.bodies.len());
    // Blocks are in the order stones, walls: the ball with 512 triangles, the block, the patch.
    let faces = |id: u32| surfaces.bodies.iter().filter(|body| **body == id).count();
    assert_eq!([0, 1, 2].map(faces), [1, 512, 6]);
    let first = surfaces.points.len() - 4 - 8;
    let [x, y, z, w] = frame.rotation[2].map(f64::from);
    let axis = Vec3::new(x, y, z);
    let turned = |v: Vec3| v + axis.cross(&(axis.cross(&v) + v * w)) * 2.0;
    for (corner, point) in model.vertices[4..].iter().zip(&surfaces.points[first..]) {
        let placed = turned(Vec3::from(corner.map(f64::from))) + Vec3::from(frame.position[2]);
        for k in 0..3 {
            assert!((placed[k] - f64::from(point[k])).abs() < 2e-6, "{placed:?} {point:?}");
        }
    }
    let speed = surfaces.speeds[surfaces.bodies.iter().position(|body| *body == 1).unwrap()];
    let [x, y, z] = frame.velocity[1];
    assert!((speed - (x * x + y * y + z * z).sqrt()).abs() < 1e-5);
}

/// Stones that fall into a box and come to rest, with frames in both forms.
const BED: &str = r#"
seed = 1
[run]
dt = "1 ms"
until = "0.4 s"
output_every = "20 ms"
frames = "both"
[materials.rock]
density = 2700
friction = 0.7
[[body]]
name = "box"
kind = "fixed"
shape = { type = "open-box", size = [0.4, 0.4, 0.3], wall = 0.02 }
material = "rock"
[[grains]]
name = "ballast"
material = "rock"
generator = "rain"
stones = { vertices = 25, flatness = 0.75, elongation = 0.75 }
grading = "EN 13450 31.5-50"
count = 300
box = { min = [-0.2, -0.2, 0.01], max = [0.2, 0.2, 1.0] }
"#;

#[test]
fn a_run_file_is_at_most_two_fifths_of_the_size_of_the_same_frames_as_vtp() {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("run");
    assert_eq!(run(BED, &folder).times().len(), 21);
    let size = |path: &Path| std::fs::metadata(path).unwrap().len();
    let frames = std::fs::read_dir(folder.join("frames")).unwrap();
    let vtp: u64 = frames.map(|entry| size(&entry.unwrap().path())).sum();
    let whole = size(&folder.join(FILE));
    println!("{whole} bytes, {vtp} as .vtp: {:.1} %", 100.0 * whole as f64 / vtp as f64);
    assert!(5 * whole <= 2 * vtp, "{whole} of {vtp} bytes");
}

#[test]
fn planar_scenes_mechanisms_and_flexible_bodies_have_run_files() {
    let out = tempfile::tempdir().unwrap();
    let read = |name: &str| {
        let path = format!("../../examples/{name}/scene.toml");
        let text = std::fs::read_to_string(path).unwrap();
        let mut scene = SceneFile::parse(&text, "../../examples").unwrap();
        scene.run.until = scene.run.until.min(0.02);
        scene.run.frames_every = 0.01;
        let folder = out.path().join(name);
        Run::new(&scene, Options::new(&folder)).unwrap().execute(&mut ()).unwrap();
        let file = RunFile::open(&folder).unwrap();
        let n = file.times().len();
        assert!(n >= 2, "{name}");
        let frame = file.frame(n - 1).unwrap();
        let model = file.model(0).unwrap();
        assert_eq!(frame.position.len(), model.names.len());
        file.surfaces(n - 1).unwrap();
        file.contacts(n - 1).unwrap();
        model
    };
    let bar = read("four-bar");
    let mechanism = &bar.mechanisms[0];
    assert!(bar.kinds.contains(&Kind::Mechanism) && bar.mass.iter().all(|mass| *mass > 0.0));
    assert_eq!(mechanism.joints[0].kind, "revolute");
    assert!(mechanism.joints[0].axis.is_some() && !mechanism.loops.is_empty());
    let beam = read("cantilever");
    let flexible = &beam.flexible[0];
    assert_eq!(beam.kinds[flexible.first as usize], Kind::Node);
    assert!(flexible.nodes > 2 && flexible.outline.len() > 3);
    assert!(read("arch").planar);
}

/// What the child of the next test runs: a frame after every step, far longer than it lives.
fn endless(folder: &Path) {
    let text = STONES.replace("60 ms", "900 s").replace("\"5 ms", "\"1 ms");
    let text = text.replace("15 ms", "2 ms");
    let scene = SceneFile::parse(&text, ".").unwrap();
    let _ = Run::new(&scene, Options::new(folder)).unwrap().execute(&mut ());
}

#[test]
fn a_run_that_is_killed_leaves_a_readable_file() {
    if let Some(folder) = std::env::var_os("RIPRAP_KILLED_RUN") {
        return endless(&PathBuf::from(folder));
    }
    let out = tempfile::tempdir().unwrap();
    for k in 0..20u64 {
        let folder = out.path().join(k.to_string());
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "a_run_that_is_killed_leaves_a_readable_file"])
            .env("RIPRAP_KILLED_RUN", &folder)
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        let begin = Instant::now();
        while !folder.join(FILE).exists() && begin.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(1));
        }
        // Any moment will do.
        std::thread::sleep(Duration::from_micros(k * 7919 % 100_000));
        child.kill().unwrap();
        child.wait().unwrap();
        let file = RunFile::open(&folder).unwrap();
        assert!(!file.times().is_empty());
        for (k, step) in file.steps().iter().enumerate() {
            assert_eq!(*step, k as u64);
            file.frame(k).and_then(|_| file.contacts(k)).and_then(|_| file.surfaces(k)).unwrap();
        }
    }
}

#[test]
fn frames_appear_while_the_run_goes_on() {
    struct Reading(PathBuf, Option<RunFile>, usize);
    impl Watch for Reading {
        fn step(&mut self, _: Phase, _: &Frame) {
            match &mut self.1 {
                None => self.1 = RunFile::open(&self.0).ok(),
                Some(file) => {
                    self.2 += usize::from(file.refresh().unwrap());
                    let last = file.times().len() - 1;
                    assert_eq!(file.frame(last).unwrap().position.len(), 3);
                }
            }
        }
    }
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("run");
    let scene = SceneFile::parse(&STONES.replace("60 ms", "200 ms"), ".").unwrap();
    let mut reading = Reading(folder.clone(), None, 0);
    Run::new(&scene, Options::new(&folder)).unwrap().execute(&mut reading).unwrap();
    let mut file = reading.1.unwrap();
    file.refresh().unwrap();
    assert_eq!(file.times().len(), 41);
    assert!(reading.2 > 5, "{}", reading.2);
}

#[test]
fn damaged_and_foreign_files_are_refused_with_a_remedy_and_without_panic() {
    let out = tempfile::tempdir().unwrap();
    let folder = out.path().join("run");
    run(STONES, &folder);
    let whole = std::fs::read(folder.join(FILE)).unwrap();
    let path = out.path().join("damaged.vtkhdf");
    let open = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        RunFile::open(&path)
    };
    for bytes in [&b""[..], b"no HDF5", &whole[..100], &whole[..5000]] {
        let told = open(bytes).unwrap_err().to_string();
        assert!(told.contains("not a run file") && told.contains("run the scene again"), "{told}");
    }
    let mut seed = 7u64;
    let mut random = move |n: usize| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) as usize % n
    };
    for trial in 0..300 {
        let mut bytes = whole.clone();
        if trial % 3 == 0 {
            bytes.truncate(4096 + random(bytes.len() - 4096));
        }
        for _ in 0..1 + random(6) {
            let n = bytes.len();
            bytes[random(n)] = random(256) as u8;
        }
        if let Ok(file) = open(&bytes) {
            for k in 0..file.times().len().min(20) {
                let _ = (file.frame(k), file.contacts(k), file.surfaces(k));
            }
            let _ = file.model(0);
        }
    }
}

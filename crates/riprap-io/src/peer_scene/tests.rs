//! Scenes and states written, read back, and corrupted.

use super::*;
use riprap::grains::{StoneGenerator, seeded};

fn three_stones() -> PeerScene {
    let mut rng = seeded(3);
    let grains = (0..3).map(|k| {
        let stone = StoneGenerator::default().generate(0.04, &mut rng).unwrap();
        let pose = Pose::at([0.0, 0.0, 0.05 + 0.1 * f64::from(k)]).turned([1.0, 2.0, 3.0], 1.0);
        PeerGrain::at_rest(&stone, 2700.0, &pose)
    });
    let container =
        Container { xmin: -0.1, xmax: 0.1, ymin: -0.1, ymax: 0.1, zmin: 0.0, height: 0.3 };
    PeerScene {
        path: PathBuf::new(),
        n: Some(3),
        density: 2700.0,
        friction: 0.7,
        restitution: 0.0,
        gravity: [0.0, 0.0, -9.81],
        dt: 5e-4,
        container,
        grains: grains.collect(),
    }
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("riprap-peers-{}-{name}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn a_scene_is_read_back_unchanged_compressed_or_not() {
    let (folder, scene) = (folder("round"), three_stones());
    for name in ["scene.json", "scene.json.gz"] {
        let path = folder.join(name);
        scene.write(&path).unwrap();
        let read = PeerScene::read(&path).unwrap();
        assert!(PeerScene { path: PathBuf::new(), ..read } == scene, "{name}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_frame_of_a_body_is_the_frame_of_the_file() {
    let scene = three_stones();
    let (builder, grains) = scene.scene().unwrap();
    let built = builder.build().unwrap();
    let state = built.initial_state();
    for (body, grain) in grains.iter().zip(&scene.grains) {
        assert_eq!(built.bodies().centre[built.slot(*body)], Vec3::zeros());
        assert_eq!(built.bodies().mass[built.slot(*body)], grain.mass);
        let pose = built.shape_pose(&state, *body);
        assert_eq!(<[f64; 3]>::from(pose.position), grain.position);
    }
    let top = scene.top();
    assert!(top > 0.25 + 0.01 && top < 0.25 + 0.04, "{top}");
    let states = states(&built, &state, &grains);
    assert_eq!(states[1].position, scene.grains[1].position);
    assert_eq!(states[1].rotation, scene.grains[1].rotation);
}

#[test]
fn states_are_read_back_unchanged() {
    let folder = folder("states");
    let path = folder.join("state.txt");
    let (builder, grains) = three_stones().scene().unwrap();
    let mut run = Simulation::new(builder.build().unwrap(), MoreauJean::new(5e-4)).unwrap();
    run.until(0.02, &mut ()).unwrap();
    let written = states(run.scene(), run.state(), &grains);
    write_states(&path, &written).unwrap();
    assert_eq!(read_states(&path, 3).unwrap(), written);
    let message = |n| read_states(&path, n).unwrap_err().to_string();
    assert!(message(2).contains("line 3: there are more lines"), "{}", message(2));
    assert!(message(4).contains("there are 3 lines, but the scene has 4 grains"));
    for (text, told) in [
        ("1 2 3", "line 1: expected 13 numbers, got 3"),
        ("0 0 0 1 0 0 0 0 0 x 0 0 0", "`x` is not a number"),
        ("0 0 0 1 0 0 0 0 0 nan 0 0 0", "`nan` is not a number"),
        ("0 0 0 0 0 0 0 0 0 0 0 0 0", "zero length"),
        ("0 0 0 1 0 0 0 0 0 0 0 0 0 0", "more than 13"),
    ] {
        std::fs::write(&path, text).unwrap();
        assert!(message(1).contains(told), "{}", message(1));
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn invalid_scenes_are_reported() {
    let folder = folder("wrong");
    let path = folder.join("scene.json");
    type Change = fn(&mut PeerScene);
    let cases: [(Change, &str); 14] = [
        (|s| s.density = 0.0, "`density` is 0, but must be greater than 0"),
        (|s| s.friction = -1.0, "`mu` is -1, but must be 0 or more"),
        (|s| s.restitution = 1.5, "`restitution`"),
        (|s| s.dt = 0.0, "`dt`"),
        (|s| s.container.xmax = -1.0, "xmin below xmax"),
        (|s| s.grains.clear(), "`grains` is empty"),
        (|s| s.n = Some(4), "`N` is 4, but there are 3 grains"),
        (|s| s.grains[1].faces[0][1] = 99, "grain 2: `faces`"),
        (|s| s.grains[1].rotation = [0.0; 4], "grain 2: `quat` has zero length"),
        (|s| s.grains[1].volume = 0.0, "grain 2: `volume`"),
        (|s| s.grains[2].mass *= 1.01, "grain 3: `mass` is"),
        (|s| s.grains[2].inertia[0] *= 1.1, "grain 3: `inertia` differs"),
        (|s| s.grains[2].vertices.iter_mut().for_each(|v| v[0] += 1e-3), "centre of mass"),
        (|s| s.grains[0].vertices.truncate(3), "grain 1: `faces`"),
    ];
    for (change, told) in cases {
        let mut scene = three_stones();
        change(&mut scene);
        scene.write(&path).unwrap();
        let result = PeerScene::read(&path).and_then(|s| s.scene().map(|_| ()));
        let message = result.unwrap_err().to_string();
        assert!(message.contains(told) && message.contains("scene.json"), "{message}");
    }
    for (text, told) in [
        ("", "line 1: EOF"),
        ("{\n\"density\": 1e999}", "line 2: number out of range"),
        ("{\"density\": \"heavy\"}", "invalid type"),
        ("{}", "missing field `density`"),
    ] {
        std::fs::write(&path, text).unwrap();
        let message = PeerScene::read(&path).unwrap_err().to_string();
        assert!(message.contains(told), "{message}");
    }
    let path = folder.join("scene.json.gz");
    std::fs::write(&path, b"not packed").unwrap();
    assert!(PeerScene::read(&path).unwrap_err().to_string().contains("gz"));
    assert!(PeerScene::read(&folder).unwrap_err().to_string().contains("regular file"));
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_nudge_is_at_most_a_nanometre_and_reproducible() {
    let (still, mut a, mut b, mut c) =
        (three_stones(), three_stones(), three_stones(), three_stones());
    a.nudge(1);
    b.nudge(1);
    c.nudge(2);
    assert!(a == b && a != c && a != still);
    for (moved, grain) in a.grains.iter().zip(&still.grains) {
        for (x, y) in moved.position.iter().zip(&grain.position) {
            assert!((x - y).abs() <= 1.001e-9, "{x} {y}"); // a nanometre plus the rounding error of a sum
        }
        assert_eq!(moved.rotation, grain.rotation);
    }
}

/// A cube of the given side in its principal frame.
fn cube(side: f64, pose: &Pose) -> PeerGrain {
    let corners: Vec<Vec3> = (0..8)
        .map(|k| Vec3::from([0, 1, 2].map(|axis| side * (f64::from(k >> axis & 1) - 0.5))))
        .collect();
    PeerGrain::at_rest(&Polyhedron::from_points(&corners).unwrap(), 1000.0, pose)
}

#[test]
fn a_cube_has_its_closed_form_inertia_and_the_height_of_its_orientation() {
    let (side, mut scene) = (0.2, three_stones());
    scene.n = None;
    scene.density = 1000.0;
    let upright = cube(side, &Pose::at([0.0, 0.0, 1.0]));
    assert!((upright.volume - side.powi(3)).abs() < 1e-15);
    assert!((upright.mass - 8.0).abs() < 1e-12);
    for inertia in upright.inertia {
        // m a²/6
        assert!((inertia - 8.0 * side * side / 6.0).abs() < 1e-14, "{inertia}");
    }
    scene.grains = vec![upright];
    assert!((scene.top() - 1.1).abs() < 1e-15);
    // On an edge, half a face diagonal is above the centre; on a corner, half the space diagonal.
    let half_turn = std::f64::consts::FRAC_PI_4;
    scene.grains = vec![cube(side, &Pose::at([0.0, 0.0, 1.0]).turned([1.0, 0.0, 0.0], half_turn))];
    assert!((scene.top() - (1.0 + 0.1 * 2.0_f64.sqrt())).abs() < 1e-15);
    let corner = Pose::at([0.0, 0.0, 1.0]).turned([1.0, -1.0, 0.0], (1.0 / 3.0_f64.sqrt()).acos());
    scene.grains = vec![cube(side, &corner)];
    assert!((scene.top() - (1.0 + 0.1 * 3.0_f64.sqrt())).abs() < 1e-15);
    // Points below the floor do not count.
    scene.grains = vec![cube(side, &Pose::at([0.0, 0.0, -5.0]))];
    assert_eq!(scene.top(), 0.0);
}

#[test]
fn planes_point_inwards_and_contain_the_middle_of_the_box() {
    let scene = three_stones();
    let c = scene.container;
    let inside = Vec3::new(0.5 * (c.xmin + c.xmax), 0.5 * (c.ymin + c.ymax), c.zmin + 1.0);
    for (normal, at) in c.planes() {
        let (normal, at) = (Vec3::from(normal), Vec3::from(at));
        assert_eq!(normal.norm(), 1.0);
        assert!(normal.dot(&(inside - at)) > 0.0, "{normal:?}");
    }
}

#[test]
fn every_truncated_scene_is_refused_compressed_or_not() {
    let folder = tempfile::TempDir::new().unwrap();
    for name in ["scene.json", "scene.json.gz"] {
        let path = folder.path().join(name);
        three_stones().write(&path).unwrap();
        let good = std::fs::read(&path).unwrap();
        for end in (0..good.len()).step_by(good.len() / 40) {
            std::fs::write(&path, &good[..end]).unwrap();
            let message = PeerScene::read(&path).unwrap_err().to_string();
            assert!(message.contains(name), "{message}");
        }
        // Trailing bytes are refused as well.
        std::fs::write(&path, [&good[..], b"}"].concat()).unwrap();
        assert!(PeerScene::read(&path).is_err(), "{name}");
    }
}

#[test]
fn absurdly_large_numbers_are_refused_before_use() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("scene.json");
    let mut scene = three_stones();
    scene.grains[1].vertices = vec![[0.0; 3]; MAX_CORNERS + 1];
    scene.write(&path).unwrap();
    let message = PeerScene::read(&path).unwrap_err().to_string();
    assert!(message.contains("grain 2: `verts` has 10001 corners"), "{message}");
    let mut flat = three_stones();
    flat.grains[0].vertices.iter_mut().for_each(|v| v[2] = 0.0);
    flat.write(&path).unwrap();
    let message = PeerScene::read(&path).unwrap().scene().map(drop).unwrap_err().to_string();
    assert!(message.contains("grain 1: `verts`"), "{message}");
}

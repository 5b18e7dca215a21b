//! Valid scene files: their model, the round trip of the resolved scene, and the agreement of the
//! schema and the reference page with the description.

use std::path::{Path, PathBuf};

use riprap_io::scene_file::*;

fn scene(name: &str) -> SceneFile {
    SceneFile::read(Path::new("tests/data").join(name)).unwrap_or_else(|e| panic!("{e}"))
}

/// Compares `content` with a file of the repository, or writes it there when `RIPRAP_UPDATE` is set.
fn up_to_date(file: &str, content: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    if std::env::var_os("RIPRAP_UPDATE").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).unwrap();
        std::fs::write(&path, content).unwrap();
    }
    let stored = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == content, "{file} is out of date; run the tests with RIPRAP_UPDATE=1");
}

#[test]
fn the_stored_schema_is_up_to_date() {
    let schema = serde_json::to_string_pretty(&json_schema()).unwrap() + "\n";
    up_to_date("schema/scene.schema.json", &schema);
}

#[test]
fn the_stored_reference_page_is_up_to_date() {
    up_to_date("book/src/scene-file.md", &reference_page());
}

#[test]
fn quantities_and_defaults_are_converted_to_si() {
    let scene = scene("everything.toml");
    assert_eq!((scene.run.dt, scene.run.until, scene.run.output_every), (0.5e-3, 2.0, 0.02));
    assert_eq!(scene.run.on_unconverged, OnUnconverged::Fail);
    assert_eq!(scene.solver.max_sweeps, 10_000);
    assert_eq!(scene.materials[0].density, Some(2700.0));
    let hammer = &scene.bodies[2];
    assert_eq!(scene.shape(&hammer.shape), &Shape::Box { size: [0.2, 0.1, 0.05] });
    let length: f64 = hammer.rotation.iter().map(|x| x * x).sum();
    assert!((length - 1.0).abs() < 1e-15); // rounding error of one division
    let BodyKind::Free { angular_velocity, locked, force, .. } = &hammer.kind else { panic!() };
    assert!((angular_velocity[0] - std::f64::consts::TAU).abs() < 1e-15);
    assert_eq!(*locked, [true, false, false, false, true, false]);
    assert_eq!(force[2], LoadComponent::Constant(1200.0));
    assert_eq!(scene.bodies[1].name, "body-2");
    assert_eq!(scene.bodies[4].position, [0.0, 0.0, 1.0]); // its motion at t = 0
    assert_eq!(scene.grains[1].name, "grains-2");
    assert_eq!((scene.grains[0].seed, scene.grains[1].seed), (3, 7));
    assert_eq!(scene.n_bodies(), 6 + 100 + 60 + 5 + 2);
    assert_eq!(scene.probes[1].body, Target::Grain { group: 0, index: 0 });
    assert_eq!(scene.probes[0].name, "hammer");
}

#[test]
fn pairs_use_the_smaller_values_unless_specified() {
    let scene = scene("everything.toml");
    let rock_steel = scene.pair(1, 0);
    assert_eq!((rock_steel.friction, rock_steel.restitution), (0.4, 0.0));
    assert_eq!(rock_steel.law, ContactLaw::QuasiShock);
    let steel = scene.pair(1, 1);
    assert_eq!(
        (steel.friction, steel.restitution, steel.law),
        (0.3, 0.4, ContactLaw::MoreauNewton)
    );
    assert_eq!(scene.pair(0, 0).friction, 0.7);
}

#[test]
fn a_planar_scene_needs_no_third_component() {
    let scene = scene("planar.toml");
    assert_eq!(scene.gravity, [0.0, -9.81, 0.0]);
    assert_eq!(scene.run.output_every, 1e-3);
    let coin = &scene.bodies[1];
    assert_eq!(coin.position, [0.0, 1.0, 0.0]);
    let (sin, cos) = (std::f64::consts::PI / 12.0).sin_cos();
    assert!((coin.rotation[0] - cos).abs() < 1e-15 && (coin.rotation[3] - sin).abs() < 1e-15);
    let BodyKind::Free { angular_velocity, torque, .. } = &coin.kind else { panic!() };
    assert_eq!(angular_velocity[2], std::f64::consts::PI);
    assert_eq!(torque[2], LoadComponent::Constant(0.5));
    assert_eq!(scene.grains[0].count(), 200);
}

#[test]
fn a_resolved_scene_round_trips() {
    let names = [
        "controls.toml",
        "everything.toml",
        "planar.toml",
        "mechanisms.toml",
        "tamping-unit.toml",
        "urdf.toml",
        "flexible.toml",
    ];
    for name in names {
        let scene = scene(name);
        let resolved = scene.to_toml();
        // Read from another folder: the paths in it are absolute.
        let again = SceneFile::parse(&resolved, "/").unwrap_or_else(|e| panic!("{e}\n{resolved}"));
        assert_eq!(again, scene);
        assert_eq!(again.to_toml(), resolved);
    }
}

#[test]
fn file_references_become_absolute_paths() {
    let scene = scene("everything.toml");
    let Shape::Mesh { file, mesh, .. } = &scene.shapes[3].shape else { panic!() };
    assert!(file.is_absolute() && file.ends_with("tests/data/tetrahedron.obj"));
    assert_eq!(mesh.triangles.len(), 4);
    let Placement::File { file, table } = &scene.grains[3].placement else { panic!() };
    assert!(file.is_absolute());
    assert_eq!(table.grains[1].scale, 0.5);
}

#[test]
fn a_byte_order_mark_and_windows_line_endings_do_not_matter() {
    let text = std::fs::read_to_string("tests/data/planar.toml").unwrap();
    let text = format!("\u{feff}{}", text.replace('\n', "\r\n"));
    assert_eq!(SceneFile::parse(&text, "").unwrap(), scene("planar.toml"));
}

#[test]
fn the_examples_of_the_reference_page_are_valid_scenes() {
    let page = reference_page();
    let examples = page.split("```toml\n").skip(1);
    let scenes: Vec<SceneFile> = examples
        .map(|rest| {
            let example = rest.split("```").next().unwrap();
            SceneFile::parse(example, PathBuf::new()).unwrap_or_else(|e| panic!("{e}"))
        })
        .collect();
    assert_eq!(scenes[0].bodies[1].position, [0.0, 0.0, 1.0]);
    assert_eq!(scenes[1].mechanisms[0].n_velocities(), 2);
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    fn finite() -> impl Strategy<Value = f64> {
        prop_oneof![-1e3..1e3, any::<f64>().prop_filter("finite", |x| x.is_finite())]
    }

    proptest! {
        #[test]
        fn any_numbers_survive_the_resolved_scene(
            numbers in prop::collection::vec(finite(), 12),
            quaternion in prop::array::uniform4(-1.0..1.0),
            radius in 1e-300..1e12_f64,
            title in any::<String>(),
            seed in 0..i64::MAX as u64,
        ) {
            prop_assume!(quaternion.iter().any(|x: &f64| x.abs() > 1e-3));
            let mut base = scene("planar.toml");
            base.planar = false;
            base.grains.clear();
            base.bodies.truncate(1);
            base.title = Some(title);
            base.seed = seed;
            base.gravity = [numbers[0], numbers[1], numbers[2]];
            let length = quaternion.iter().map(|x| x * x).sum::<f64>().sqrt();
            base.bodies[0] = Body {
                name: "ball".into(),
                shape: ShapeRef::Inline(Shape::Sphere { radius }),
                material: 0,
                // The largest coordinate that a scene may have.
                position: [numbers[3], numbers[4], numbers[5]].map(|x| x.clamp(-1e12, 1e12)),
                rotation: quaternion.map(|x| x / length),
                mass: None,
                kind: BodyKind::Free {
                    velocity: [numbers[6], numbers[7], numbers[8]],
                    angular_velocity: [numbers[9], numbers[10], numbers[11]],
                    locked: [seed % 2 == 0; 6],
                    force: [0, 1, 2].map(|_| LoadComponent::Constant(numbers[0])),
                    torque: [0, 1, 2].map(|_| LoadComponent::Constant(numbers[1])),
                },
            };
            let again = SceneFile::parse(&base.to_toml(), "").map_err(|e| TestCaseError::fail(e.to_string()))?;
            prop_assert_eq!(again, base);
        }
    }
}

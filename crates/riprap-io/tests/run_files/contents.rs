//! What a run file contains is what the simulation had, and what closed forms give.

use std::f64::consts::PI;

use riprap::math::Vec3;
use riprap_io::run_file::{Kind, Model, Poses, SurfaceSet};
use riprap_io::scene_file::SceneFile;

use super::{example, read, scene};

/// A point of the frame of a body, in space.
fn place(poses: &Poses, body: usize, point: Vec3) -> Vec3 {
    let [x, y, z, w] = poses.rotation[body].map(f64::from);
    let axis = Vec3::new(x, y, z);
    let turned = point + axis.cross(&(axis.cross(&point) + point * w)) * 2.0;
    turned + Vec3::from(poses.position[body])
}

/// A direction of the frame of a body, in space.
fn direct(poses: &Poses, body: usize, direction: Vec3) -> Vec3 {
    place(poses, body, direction) - place(poses, body, Vec3::zeros())
}

/// Volume inside faces with outward normals, and the area vector, which vanishes if they are closed.
fn enclosed<'a>(faces: impl Iterator<Item = Vec<&'a [f32; 3]>>) -> (f64, Vec3) {
    let (mut volume, mut area) = (0.0, Vec3::zeros());
    for face in faces {
        let corners: Vec<Vec3> = face.iter().map(|p| Vec3::from(p.map(f64::from))).collect();
        for pair in corners[1..].windows(2) {
            volume += corners[0].dot(&pair[0].cross(&pair[1])) / 6.0;
            area += (pair[0] - corners[0]).cross(&(pair[1] - corners[0])) / 2.0;
        }
    }
    (volume, area)
}

fn faces_of_body(model: &Model, body: usize) -> impl Iterator<Item = Vec<&[f32; 3]>> {
    let faces = model.first_face[body] as usize..model.first_face[body + 1] as usize;
    faces.map(|face| {
        let range = model.face_offsets[face] as usize..model.face_offsets[face + 1] as usize;
        model.face_vertices[range].iter().map(|k| &model.vertices[*k as usize]).collect()
    })
}

fn faces_with_id(set: &SurfaceSet, id: u32) -> impl Iterator<Item = Vec<&[f32; 3]>> {
    let faces = (0..set.ends.len()).filter(move |face| set.bodies[*face] == id);
    faces.map(|face| {
        let first = if face == 0 { 0 } else { set.ends[face - 1] as usize };
        set.corners[first..set.ends[face] as usize]
            .iter()
            .map(|k| &set.points[*k as usize])
            .collect()
    })
}

/// Bodies of each shape, in free flight far from each other.
const SHAPES: &str = r#"
gravity = [0, 0, 0]
run = { dt = "1 ms", until = "20 ms", output_every = "5 ms" }
materials.rock = { density = 2000 }
[[body]]
name = "ball"
material = "rock"
velocity = [1, 0, 0]
shape = { type = "sphere", radius = 0.1 }
[[body]]
name = "brick"
material = "rock"
position = [2, 0, 0]
angular_velocity = [1, 2, 3]
shape = { type = "box", size = [0.2, 0.3, 0.4] }
[[body]]
name = "corner"
material = "rock"
position = [4, 0, 0]
angular_velocity = [3, 2, 1]
shape = { type = "polyhedron", points = [[0, 0, 0], [0.3, 0, 0], [0, 0.4, 0], [0, 0, 0.5]] }
[[body]]
name = "pair"
material = "rock"
position = [6, 0, 0]
velocity = [0, 0, 2]
angular_velocity = [0, 5, 0]
shape = { type = "compound", parts = [
    { shape = { type = "box", size = [0.2, 0.2, 0.2] }, position = [-0.1, 0, 0] },
    { shape = { type = "box", size = [0.2, 0.2, 0.2] }, position = [0.1, 0, 0] },
] }
"#;

#[test]
fn the_faces_of_every_shape_enclose_its_volume_wherever_it_is() {
    let (_folder, file) = read(&scene(SHAPES));
    let model = file.model(0).unwrap();
    let volumes = [4.0 / 3.0 * PI * 1e-3, 0.024, 0.01, 0.016];
    for (body, volume) in volumes.into_iter().enumerate() {
        let name = &model.names[body];
        assert!((f64::from(model.mass[body]) / (2000.0 * volume) - 1.0).abs() < 1e-6, "{name}");
        let size = (6.0 * volume / PI).cbrt();
        assert!((f64::from(model.size[body]) / size - 1.0).abs() < 1e-6, "{name}");
        // The ball is a radius for our reader, and an inscribed polyhedron for ParaView.
        let sphere = body == 0;
        assert_eq!(model.radius[body] > 0.0, sphere);
        let (found, area) = enclosed(faces_of_body(&model, body));
        let expected = if sphere { 0.0 } else { volume };
        assert!((found - expected).abs() < 1e-6 * volume && area.norm() < 1e-7, "{name}: {found}");
        for k in 0..file.times().len() {
            let surfaces = file.surfaces(k).unwrap();
            let (found, area) = enclosed(faces_with_id(&surfaces, model.ids[body]));
            let tolerance = if sphere { 0.05 } else { 1e-4 };
            assert!((found / volume - 1.0).abs() < tolerance, "{name} at {k}: {found}");
            assert!(area.norm() < 1e-5, "{name} at {k}: {area}");
        }
    }
}

#[test]
fn free_flight_is_in_the_file_as_it_is_in_closed_form() {
    let (_folder, file) = read(&scene(SHAPES));
    assert_eq!(file.times().len(), 5);
    for (k, t) in file.times().iter().enumerate() {
        let poses = file.frame(k).unwrap();
        assert_eq!((poses.time, poses.step), (*t, 5 * k as u64));
        let near = |body: usize, place: [f64; 3]| {
            let far = (Vec3::from(poses.position[body]) - Vec3::from(place)).norm();
            assert!(far < 1e-12, "body {body} at {t}: {far}");
        };
        near(0, [*t, 0.0, 0.0]);
        near(1, [2.0, 0.0, 0.0]);
        // A quarter of the height of a pyramid above each of its faces.
        near(2, [4.0 + 0.3 / 4.0, 0.4 / 4.0, 0.5 / 4.0]);
        near(3, [6.0, 0.0, 2.0 * t]);
        assert_eq!(poses.velocity[3], [0.0, 0.0, 2.0]);
        assert_eq!(poses.angular_velocity[0], [0.0; 3]);
        // About an axis of symmetry the rate is constant.
        let turned = direct(&poses, 3, Vec3::x());
        let (sin, cos) = (5.0 * t).sin_cos();
        assert!((turned - Vec3::new(cos, 0.0, -sin)).norm() < 1e-5, "{turned}");
        for rotation in &poses.rotation {
            let square: f64 = rotation.iter().map(|x| f64::from(*x).powi(2)).sum();
            assert!((square - 1.0).abs() < 1e-6);
        }
    }
}

/// A block on a slope of 3 : 4, below its angle of friction; the slope is the direction of gravity.
const SLOPE: &str = r#"
gravity = [6, 0, -8]
run = { dt = "1 ms", until = "0.1 s", output_every = "20 ms" }
solver.tolerance = 1e-10
materials.rock = { density = 1000, friction = 0.9 }
[[body]]
name = "slope"
kind = "fixed"
material = "rock"
shape = { type = "half-space" }
[[body]]
name = "block"
material = "rock"
position = [0, 0, 0.05]
shape = { type = "box", size = [0.2, 0.2, 0.1] }
"#;

#[test]
fn contact_forces_on_a_body_at_rest_balance_its_weight() {
    let (_folder, file) = read(&scene(SLOPE));
    let (last, model) = (file.times().len() - 1, file.model(0).unwrap());
    let contacts = file.contacts(last).unwrap();
    assert!(contacts.force.len() >= 3 && contacts.time == 0.1);
    let mass = f64::from(model.mass[1]);
    assert!((mass - 4.0).abs() < 1e-6);
    let centre = Vec3::from(file.frame(last).unwrap().position[1]);
    let (mut force, mut moment) = (Vec3::zeros(), Vec3::zeros());
    for k in 0..contacts.force.len() {
        let [a, b] = contacts.bodies[k];
        let sign = if (&model.names[a as usize], &model.names[b as usize])
            == (&"slope".into(), &"block".into())
        {
            1.0
        } else {
            assert_eq!([a, b], [1, 0]);
            -1.0
        };
        let vector = |v: [f32; 3]| Vec3::from(v.map(f64::from));
        let (on_block, normal) = (vector(contacts.force[k]) * sign, vector(contacts.normal[k]));
        assert!((normal * sign - Vec3::z()).norm() < 1e-6, "{normal}");
        assert!(contacts.gap[k].abs() < 1e-4 && contacts.point[k][2].abs() < 1e-3);
        // Inside the cone of friction.
        let normal_force = on_block.z;
        assert!(on_block.xy().norm() <= 0.9 * normal_force + 1e-6);
        force += on_block;
        moment += (vector(contacts.point[k]) - centre).cross(&on_block);
    }
    assert!((force - Vec3::new(-24.0, 0.0, 32.0)).norm() < 1e-3, "{force}");
    assert!(moment.norm() < 1e-3, "{moment}");
    assert_eq!((model.gravity, model.unbounded), ([6.0, 0.0, -8.0], vec![true, false]));
}

#[test]
fn a_half_space_is_a_patch_below_the_scene_with_its_normal_outward() {
    let text =
        SLOPE.replace("{ type = \"half-space\" }", "{ type = \"half-space\", normal = [0, 3, 4] }");
    let text = text.replace("position = [0, 0, 0.05]", "position = [0, 0, 5]");
    let (_folder, file) = read(&scene(&text));
    let (model, surfaces) = (file.model(0).unwrap(), file.surfaces(3).unwrap());
    assert_eq!((model.unbounded[0], model.size[0], model.mass[0]), (true, 0.0, 0.0));
    let normal = Vec3::new(0.0, 0.6, 0.8);
    let (_, area) = enclosed(faces_with_id(&surfaces, model.ids[0]));
    assert!((area.normalize() - normal).norm() < 1e-5, "{area}");
    for corner in faces_with_id(&surfaces, model.ids[0]).flatten() {
        let height = Vec3::from(corner.map(f64::from)).dot(&normal);
        assert!(height.abs() < 1e-5, "{height}");
    }
}

#[test]
fn joints_and_loops_of_a_mechanism_are_where_its_bodies_meet() {
    let (_folder, file) = read(&example("four-bar", 0.5, 0.1));
    let model = file.model(0).unwrap();
    let [mechanism] = &model.mechanisms[..] else { panic!("{:?}", model.mechanisms) };
    assert_eq!((&mechanism.name[..], mechanism.bodies.len()), ("bars", 5));
    let names: Vec<&str> = mechanism.joints.iter().map(|joint| &joint.name[..]).collect();
    assert_eq!(names.len(), 5);
    let body = |name: &str| model.names.iter().position(|n| n == name).unwrap();
    let link = |name: &str| body(&format!("bars/{name}"));
    assert!(file.times().len() >= 6);
    let mut travelled = 0.0f64;
    for k in 0..file.times().len() {
        let poses = file.frame(k).unwrap();
        for joint in &mechanism.joints {
            assert_eq!(joint.kind, "revolute");
            let child = joint.child.unwrap() as usize;
            let at = place(&poses, child, joint.at.into());
            let axis = direct(&poses, child, joint.axis.unwrap().into());
            assert!((axis - Vec3::z()).norm() < 1e-6, "{axis}");
            // Rods are 1 m long and stand on the ground at 0, 1 and 2 m; couplers begin at their upper ends.
            let expected = match joint.parent {
                None => {
                    let number = ["rod_0", "rod_1", "rod_2"].iter().position(|n| link(n) == child);
                    Vec3::new(number.unwrap() as f64, 0.0, 0.0)
                }
                Some(parent) => place(&poses, parent as usize, Vec3::new(0.0, 1.0, 0.0)),
            };
            assert!((at - expected).norm() < 1e-6, "{} at {k}: {at}", joint.name);
        }
        for closure in &mechanism.loops {
            let [a, b] = [closure.a, closure.b].map(|body| body.unwrap() as usize);
            let ends =
                [place(&poses, a, closure.at_a.into()), place(&poses, b, closure.at_b.into())];
            assert!((ends[0] - ends[1]).norm() < 1e-6, "{} at {k}: {ends:?}", closure.name);
        }
        travelled = travelled.max(place(&poses, link("rod_0"), Vec3::y()).x.abs());
    }
    assert_eq!(mechanism.loops.len(), 2);
    assert!(travelled > 0.2, "{travelled}");
}

#[test]
fn ropes_run_from_body_to_body_with_their_tension_until_they_break() {
    let scene = SceneFile::read("tests/data/ropes.toml").unwrap_or_else(|e| panic!("{e}"));
    let number = |name: &str| scene.ropes.iter().position(|rope| rope.name == name).unwrap() as u32;
    let (_folder, file) = read(&scene);
    let model = file.model(0).unwrap();
    let body = |name: &str| model.names.iter().position(|n| n == name).unwrap();
    let mut weak = Vec::new();
    for (k, t) in file.times().iter().enumerate() {
        let poses = file.frame(k).unwrap();
        let cable = poses.ropes.iter().find(|rope| rope.rope == number("cable")).unwrap();
        let slide = Vec3::new(1.0 + 0.1 * t, 0.0, 2.0);
        let stone = Vec3::from(poses.position[body("stone")]) + Vec3::new(0.0, 0.0, 0.05);
        let expected = [slide, Vec3::new(0.0, 0.0, 2.0), stone];
        assert_eq!(cable.points.len(), 3);
        for (point, expected) in cable.points.iter().zip(expected) {
            let far = (Vec3::from(point.map(f64::from)) - expected).norm();
            assert!(far < 1e-4, "frame {k}: {point:?}, not {expected}");
        }
        // Before the first step there is no tension, and at the end it is the weight of 2 kg.
        let tension = f64::from(cable.tension);
        match k {
            0 => assert_eq!(tension, 0.0),
            10 => assert!((tension - 2.0 * 9.81).abs() < 1e-2, "{tension}"),
            _ => assert!(tension > 0.0),
        }
        weak.push(poses.ropes.iter().any(|rope| rope.rope == number("weak")));
        assert_eq!(poses.ropes.len(), if weak[k] { 15 } else { 14 });
    }
    // It is in the file as long as it holds, and it breaks once.
    assert!(weak[0] && !weak[weak.len() - 1] && weak.is_sorted_by(|a, b| a >= b), "{weak:?}");
}

#[test]
fn a_flexible_body_is_a_closed_tube_around_its_nodes() {
    let (_folder, file) = read(&example("cantilever", 0.02, 0.01));
    let model = file.model(0).unwrap();
    let [strip] = &model.flexible[..] else { panic!("{:?}", model.flexible) };
    assert_eq!((&strip.name[..], strip.nodes), ("strip", 13));
    let nodes = strip.first as usize..(strip.first + strip.nodes) as usize;
    assert!(model.kinds[nodes.clone()].iter().all(|kind| *kind == Kind::Node));
    let poses = file.frame(0).unwrap();
    for (k, node) in nodes.clone().enumerate() {
        let far =
            (Vec3::from(poses.position[node]) - Vec3::new(0.5 * k as f64 / 12.0, 0.0, 0.0)).norm();
        assert!(far < 1e-9, "node {k}: {far}");
    }
    for k in 0..file.times().len() {
        let surfaces = file.surfaces(k).unwrap();
        let faces = nodes.clone().flat_map(|node| faces_with_id(&surfaces, model.ids[node]));
        let (volume, area) = enclosed(faces);
        // 50 cm of 2 mm × 20 mm; bending does not change it.
        assert!((volume / 2e-5 - 1.0).abs() < 1e-2 && area.norm() < 1e-6, "{k}: {volume} {area}");
    }
    // The free end falls.
    let end = file.frame(file.times().len() - 1).unwrap().position[nodes.end - 1];
    assert!(end[2] < -1e-4, "{end:?}");
}

#[test]
fn a_planar_scene_stays_in_its_plane() {
    let (_folder, file) = read(&example("arch", 0.02, 0.01));
    let model = file.model(0).unwrap();
    assert!(model.planar && model.gravity[2] == 0.0);
    for k in 0..file.times().len() {
        let poses = file.frame(k).unwrap();
        assert!(poses.position.iter().all(|p| p[2] == 0.0));
        assert!(poses.rotation.iter().all(|r| r[0] == 0.0 && r[1] == 0.0));
        assert!(poses.velocity.iter().all(|v| v[2] == 0.0));
        assert!(file.contacts(k).unwrap().force.iter().all(|f| f[2] == 0.0));
    }
}

#[test]
fn prescribed_motions_and_kinds_are_recorded() {
    let text = r#"
        run = { dt = "1 ms", until = "0.2 s", output_every = "50 ms" }
        materials.steel = { density = 7800 }
        [[body]]
        name = "wall"
        kind = "fixed"
        material = "steel"
        position = [0, 0, -5]
        shape = { type = "box", size = [1, 1, 1] }
        [[body]]
        name = "shaker"
        kind = "moving"
        material = "steel"
        shape = { type = "box", size = [0.1, 0.1, 0.1] }
        motion = { position = ["0.1*t^2", 0, "0.3*t"] }
        [[body]]
        name = "Kügelchen-1"
        material = "steel"
        position = [3, 0, 0]
        shape = { type = "sphere", radius = 0.1 }
    "#;
    let (_folder, file) = read(&scene(text));
    let model = file.model(0).unwrap();
    assert_eq!(model.names, ["wall", "shaker", "Kügelchen-1"]);
    assert_eq!(model.kinds, [Kind::Fixed, Kind::Driven, Kind::Free]);
    assert_eq!((model.mass[0], model.mass[1]), (0.0, 0.0));
    for (k, t) in file.times().iter().enumerate() {
        let poses = file.frame(k).unwrap();
        let [x, _, z] = poses.position[1];
        assert!((x - 0.1 * t * t).abs() < 1e-9 && (z - 0.3 * t).abs() < 1e-9, "{x} {z}");
        assert_eq!(poses.position[0], [0.0, 0.0, -5.0]);
        // Free fall with the midpoint rule is exact.
        let fallen = poses.position[2][2] + 0.5 * 9.81 * t * t;
        assert!(fallen.abs() < 1e-9, "{fallen}");
        assert!((f64::from(poses.velocity[2][2]) + 9.81 * t).abs() < 1e-6);
        let surfaces = file.surfaces(k).unwrap();
        let low = faces_with_id(&surfaces, model.ids[1]).flatten().map(|p| p[2]);
        let low = low.fold(f32::INFINITY, f32::min);
        assert!((f64::from(low) - (0.3 * t - 0.05)).abs() < 1e-5, "{low}");
    }
}

//! Scenes of capsules, cylinders, cones and rounded polyhedra.

use super::{add_ground, rock};
use riprap::grains::{StoneGenerator, rain_shapes, seeded};
use riprap::prelude::*;
use std::sync::Arc;

/// A capsule of radius 0.1 m and length 0.3 m between the centres of its ends.
pub fn capsule() -> Shape {
    Shape::capsule(0.1, 0.3).expect("positive")
}

/// A cylinder of radius 0.1 m and length 0.3 m.
pub fn cylinder() -> Shape {
    Shape::cylinder(0.1, 0.3).expect("positive")
}

/// A capsule or cylinder of radius 0.1 m lying across a slope that descends towards +x at an angle [rad], moving downhill at a speed
/// [m/s] without rotation.
pub fn lying_on_slope(shape: Shape, angle: f64, friction: f64, speed: f64) -> (SceneBuilder, Body) {
    let m = rock(friction, 0.0);
    let mut scene = Scene::builder();
    add_ground(&mut scene, &m, angle);
    let (s, c) = angle.sin_cos();
    let across = Quat::from_scaled_axis(Vec3::x() * std::f64::consts::FRAC_PI_2);
    let body = BodyDescription::new(shape, &m)
        .at([0.1 * s, 0.0, 0.1 * c])
        .turned(across)
        .velocity([speed * c, 0.0, -speed * s]);
    let body = scene.add(body, &m);
    (scene, body)
}

/// A capsule or cylinder that falls onto the ground without gravity and friction at 1 m/s, its axis tilted from the vertical by an angle
/// [rad] about y; its lowest point starts 0.5 mm above the ground. The law is Moreau–Newton, also without restitution: the whole impulse
/// acts in one step, at one orientation.
pub fn tilted_impact(shape: Shape, tilt: f64, restitution: f64) -> (SceneBuilder, Body) {
    let m = rock(0.0, restitution);
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let law = PairLaw { restitution, law: ContactLaw::MoreauNewton, ..PairLaw::SMOOTH };
    scene.pair("rock", "rock", law);
    add_ground(&mut scene, &m, 0.0);
    let turn = Quat::from_scaled_axis(Vec3::y() * tilt);
    let down = turn.inverse() * -Vec3::z();
    let Shape::Curved(c) = &shape else { unreachable!("a capsule or a cylinder") };
    let height = c.height(down) + 5e-4;
    let body = BodyDescription::new(shape.clone(), &m)
        .at([0.0, 0.0, height])
        .turned(turn)
        .velocity([0.0, 0.0, -1.0]);
    let body = scene.add(body, &m);
    (scene, body)
}

/// A cone of radius 0.1 m and height 0.8 m on its base, on a slope of an angle [rad] with friction 1, turned so that its lowest point is not
/// in a direction that the detection prefers. It tips beyond tan φ = 4 R / h = 0.5.
pub fn standing_cone(angle: f64) -> (SceneBuilder, Body) {
    let m = rock(1.0, 0.0);
    let mut scene = Scene::builder();
    add_ground(&mut scene, &m, angle);
    let (s, c) = angle.sin_cos();
    let turn = Quat::from_scaled_axis(Vec3::y() * angle) * Quat::from_scaled_axis(Vec3::z() * 0.1);
    let shape = Shape::cone(0.1, 0.8).expect("positive");
    let cone = BodyDescription::new(shape, &m).at([0.4 * s, 0.0, 0.4 * c]).turned(turn);
    let cone = scene.add(cone, &m);
    (scene, cone)
}

/// `n` cylinders of radius 0.5 m and length 1 m on end on top of each other, each turned against the one below.
pub fn stack_of_cylinders(n: usize) -> (SceneBuilder, Vec<Body>) {
    let m = rock(0.5, 0.0);
    let mut scene = Scene::builder();
    add_ground(&mut scene, &m, 0.0);
    let bodies = (0..n).map(|k| {
        let shape = Shape::cylinder(0.5, 1.0).expect("positive");
        let body = BodyDescription::new(shape, &m)
            .at([0.0, 0.0, k as f64 + 0.5])
            .turned(Quat::from_scaled_axis(Vec3::z() * (0.7 * k as f64)));
        scene.add(body, &m)
    });
    let bodies = bodies.collect();
    (scene, bodies)
}

/// A cube of 0.2 m between the centres of its rounded edges, of radius 0.05 m, on one of these edges on the ground, turned by an angle [rad]
/// about y from lying on its side. Friction is 1.
pub fn rounded_cube(angle: f64) -> (SceneBuilder, Body) {
    let m = rock(1.0, 0.0);
    let mut scene = Scene::builder();
    add_ground(&mut scene, &m, 0.0);
    let core = Shape::cuboid([0.2; 3]).expect("positive");
    let shape = Shape::rounded(&core, 0.05).expect("a box");
    let height = 0.05 + 0.1 * (angle.sin() + angle.cos());
    let turn = Quat::from_scaled_axis(Vec3::y() * angle);
    let cube = BodyDescription::new(shape, &m).at([0.0, 0.0, height]).turned(turn);
    let cube = scene.add(cube, &m);
    (scene, cube)
}

/// A shape of about 4 cm: in turn a capsule, cylinder, cone, rounded box, rounded stone, ball, box and stone.
pub fn mixed_shape(k: usize, rng: &mut riprap::grains::Pcg64) -> Shape {
    let stone = StoneGenerator::default().generate(0.03, rng).expect("a stone");
    let stone = Shape::Polyhedron(Arc::new(stone));
    let cuboid = |size| Shape::cuboid(size).expect("positive");
    let made = match k % 8 {
        0 => Shape::capsule(0.01, 0.03),
        1 => Shape::cylinder(0.015, 0.04),
        2 => Shape::cone(0.018, 0.04),
        3 => Shape::rounded(&cuboid([0.03, 0.02, 0.02]), 0.004),
        4 => Shape::rounded(&stone, 0.003),
        5 => Shape::sphere(0.018),
        6 => Shape::cuboid([0.03, 0.04, 0.025]),
        _ => Ok(stone),
    };
    made.expect("positive")
}

/// `n` shapes of all kinds rain into a box of a width [m].
pub fn mixed_pile(n: usize, width: f64, seed: u64) -> (SceneBuilder, Vec<Body>) {
    let m = rock(0.5, 0.0);
    let mut rng = seeded(seed);
    let mut scene = Scene::builder();
    let walls = Shape::open_box([width, width, 4.0 * width], 0.05).expect("positive");
    scene.add_fixed(walls, Pose::IDENTITY, &m);
    let shapes: Vec<Shape> = (0..n).map(|k| mixed_shape(k, &mut rng)).collect();
    let half = 0.5 * width;
    let poses = rain_shapes(&shapes, [-half, -half, 0.0], [half, half], &mut rng);
    let poses = poses.expect("the box is wide enough");
    let bodies = shapes.into_iter().zip(poses).map(|(shape, pose)| {
        let body = BodyDescription::new(shape, &m).at(pose.position.into()).turned(pose.rotation);
        scene.add(body, &m)
    });
    let bodies = bodies.collect();
    (scene, bodies)
}

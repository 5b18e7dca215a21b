//! Scenes shared by tests, validation, benchmarks and the gallery.

pub mod bulk;
pub mod curved;
pub mod polygons;
pub mod shear_box;
pub mod tamping;

use riprap::grains::{Grading, Pcg64, StoneGenerator, rain, seeded};
use riprap::prelude::*;
use riprap::shape::Polyhedron;

/// Starts a run; standard scenes are valid by construction.
pub fn start(scene: &SceneBuilder, dt: f64, theta: f64, tolerance: f64) -> Simulation {
    let scheme = MoreauJean::new(dt).theta(theta).solver(Coloured::tolerance(tolerance));
    let scene = scene.build().expect("a canonical scene is valid");
    Simulation::new(scene, scheme).expect("a canonical scheme is valid")
}

/// Like [`start`], with the correction of overlaps if `correct`.
pub fn start_corrected(scene: &SceneBuilder, dt: f64, tolerance: f64, correct: bool) -> Simulation {
    let fix = Stabilization { overlaps: correct, ..Stabilization::ALL };
    let scheme = MoreauJean::new(dt).solver(Coloured::tolerance(tolerance)).stabilization(fix);
    let scene = scene.build().expect("a canonical scene is valid");
    Simulation::new(scene, scheme).expect("a canonical scheme is valid")
}

/// A material with the given friction and restitution and the density of rock.
pub fn rock(friction: f64, restitution: f64) -> Material {
    Material::new("rock").density(2700.0).friction(friction).restitution(restitution)
}

/// A fixed half-space below z = 0, tilted by `angle` [rad] about y to a slope that descends towards +x.
pub fn add_ground(scene: &mut SceneBuilder, material: &Material, angle: f64) -> Body {
    let normal = [angle.sin(), 0.0, angle.cos()];
    let shape = Shape::half_space(normal).expect("a unit normal");
    scene.add_fixed(shape, Pose::IDENTITY, material)
}

/// Brüls et al. 2014: a ball of radius 0.2 m with its centre at 1.001 m above the ground, g = 10 m/s², e = 0.8.
pub fn bouncing_ball() -> (SceneBuilder, Body) {
    let m = rock(0.0, 0.8);
    let mut scene = Scene::builder();
    scene.gravity([0.0, 0.0, -10.0]);
    add_ground(&mut scene, &m, 0.0);
    let shape = Shape::sphere(0.2).expect("positive");
    let ball = scene.add(BodyDescription::new(shape, &m).at([0.0, 0.0, 1.001]), &m);
    (scene, ball)
}

/// A brick of 0.2 × 0.1 × 0.05 m on a slope of `angle` [rad] that descends towards +x, with a downhill velocity [m/s].
pub fn block_on_slope(angle: f64, friction: f64, speed: f64) -> (SceneBuilder, Body) {
    let m = rock(friction, 0.0);
    let mut scene = Scene::builder();
    add_ground(&mut scene, &m, angle);
    let (s, c) = angle.sin_cos();
    let shape = Shape::cuboid([0.2, 0.1, 0.05]).expect("positive");
    let turn = Quat::from_scaled_axis(Vec3::new(0.0, angle, 0.0));
    let block = BodyDescription::new(shape, &m)
        .at([0.025 * s, 0.0, 0.025 * c])
        .turned(turn)
        .velocity([speed * c, 0.0, -speed * s]);
    let block = scene.add(block, &m);
    (scene, block)
}

/// A ball of radius 0.1 m sliding at `speed` [m/s] on the ground.
pub fn sliding_ball(friction: f64, speed: f64) -> (SceneBuilder, Body) {
    ball_on_slope(&rock(friction, 0.0), 0.0, speed, 0.0)
}

/// A ball of radius 0.1 m on a slope that descends towards +x at an angle [rad]; it moves downhill with a speed [m/s] and a spin [rad/s].
pub fn ball_on_slope(m: &Material, angle: f64, speed: f64, spin: f64) -> (SceneBuilder, Body) {
    let mut scene = Scene::builder();
    add_ground(&mut scene, m, angle);
    let (s, c) = angle.sin_cos();
    let shape = Shape::sphere(0.1).expect("positive");
    let ball = BodyDescription::new(shape, m)
        .at([0.1 * s, 0.0, 0.1 * c])
        .velocity([speed * c, 0.0, -speed * s])
        .spin([0.0, spin, 0.0]);
    let ball = scene.add(ball, m);
    (scene, ball)
}

/// A wedge 40 mm high, 40 mm wide at its top and 30 mm long whose flanks hang on the tips of two fixed pegs, on the x axis
/// through the origin; its centre of mass is 28/3 mm below and moves along y with a speed [m/s].
pub fn hanging_wedge(speed: f64) -> (SceneBuilder, Body) {
    let m = rock(0.7, 0.0);
    let (height, half_width, half_length, below) = (0.04, 0.02, 0.015, 0.028 / 3.0);
    let mut scene = Scene::builder();
    let mut corners = Vec::new();
    for y in [-half_length, half_length] {
        corners.push(Vec3::new(0.0, y, -2.0 / 3.0 * height));
        corners.extend([-1.0, 1.0].map(|side| Vec3::new(side * half_width, y, height / 3.0)));
    }
    for side in [-1.0, 1.0] {
        let tip = Vec3::new(side * half_width * (2.0 / 3.0 + below / height), 0.0, 0.0);
        let out = Vec3::new(side * height, 0.0, -half_width).normalize();
        let across = out.cross(&Vec3::y());
        let base = [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)];
        let base = base.map(|(u, v)| tip + (out * 4.0 + across * u + Vec3::y() * v) * 0.005);
        let peg = Shape::hull(&[&[tip], &base[..]].concat()).expect("a pyramid");
        scene.add_fixed(peg, Pose::IDENTITY, &m);
    }
    let wedge = BodyDescription::new(Shape::hull(&corners).expect("a wedge"), &m)
        .at([0.0, 0.0, -below])
        .velocity([0.0, speed, 0.0])
        .spin([speed / below, 0.0, 0.0]);
    let wedge = scene.add(wedge, &m);
    (scene, wedge)
}

/// Three equal balls in a row, the last two touching; the first approaches at 1 m/s. No gravity.
pub fn three_balls() -> (SceneBuilder, [Body; 3]) {
    let m = rock(0.0, 1.0);
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let balls = [(-0.125, 1.0), (1.0, 0.0), (2.0, 0.0)].map(|(x, v)| {
        let shape = Shape::sphere(0.5).expect("positive");
        let ball = BodyDescription::new(shape, &m).at([x, 0.0, 0.0]).velocity([v, 0.0, 0.0]);
        scene.add(ball, &m)
    });
    (scene, balls)
}

/// `n` cubes of 1 m on top of each other.
pub fn tower(n: usize) -> (SceneBuilder, Vec<Body>) {
    let m = rock(0.5, 0.0);
    let mut scene = Scene::builder();
    add_ground(&mut scene, &m, 0.0);
    let shape = Shape::cuboid([1.0; 3]).expect("positive");
    let boxes = (0..n)
        .map(|k| {
            let z = 0.5 + k as f64;
            scene.add(BodyDescription::new(shape.clone(), &m).at([0.0, 0.0, z]), &m)
        })
        .collect();
    (scene, boxes)
}

/// A wall of `rows` courses with `columns` bricks of 2 × 1 × 1 m each, in running bond with half bricks at the ends of
/// every other course.
pub fn wall(rows: usize, columns: usize) -> (SceneBuilder, Vec<Body>) {
    let m = rock(0.6, 0.0);
    let mut scene = Scene::builder();
    add_ground(&mut scene, &m, 0.0);
    let brick = |length: f64| Shape::cuboid([length, 1.0, 1.0]).expect("positive");
    let (whole, half) = (brick(2.0), brick(1.0));
    let mut bricks = Vec::new();
    for row in 0..rows {
        let z = 0.5 + row as f64;
        let mut lay = |shape: &Shape, x: f64| {
            let body = BodyDescription::new(shape.clone(), &m).at([x, 0.0, z]);
            bricks.push(scene.add(body, &m));
        };
        if row % 2 == 0 {
            (0..columns).for_each(|k| lay(&whole, 1.0 + 2.0 * k as f64));
        } else {
            lay(&half, 0.5);
            (1..columns).for_each(|k| lay(&whole, 2.0 * k as f64));
            lay(&half, 2.0 * columns as f64 - 0.5);
        }
    }
    (scene, bricks)
}

/// A semicircular arch of `n` equal voussoirs, mean radius 1 m, thickness `t` [m], on two fixed abutments; planar.
pub fn arch(n: usize, t: f64, friction: f64) -> (SceneBuilder, Vec<Body>) {
    let m = rock(friction, 0.0);
    let mut scene = Scene::builder();
    scene.planar();
    let (inner, outer) = (1.0 - 0.5 * t, 1.0 + 0.5 * t);
    let mut stones = Vec::new();
    for k in 0..n {
        let angle = |k: usize| std::f64::consts::PI * k as f64 / n as f64;
        let corner = |r: f64, a: f64| [r * a.cos(), r * a.sin()];
        let (a, b) = (angle(k), angle(k + 1));
        let points = [corner(inner, a), corner(outer, a), corner(outer, b), corner(inner, b)];
        let shape = Shape::polygon(&points, 1.0).expect("a voussoir");
        let name = format!("voussoir-{}", k + 1);
        stones.push(scene.add(BodyDescription::new(shape, &m).named(&name), &m));
    }
    for side in [-1.0, 1.0] {
        let corners = [[-0.2, -0.2], [0.2, -0.2], [0.2, 0.0], [-0.2, 0.0]];
        let shape = Shape::polygon(&corners, 1.0).expect("an abutment");
        scene.add_fixed(shape, Pose::at([side, 0.0, 0.0]), &m);
    }
    (scene, stones)
}

/// `n` ballast stones: 25 corners, EN 13450 31.5–50 mm.
fn ballast(n: usize, rng: &mut Pcg64) -> Vec<Polyhedron> {
    let sizes = Grading::named("EN 13450 31.5-50").expect("a known name").sample_many(n, rng);
    let stone = |size: &f64| StoneGenerator::default().generate(*size, rng).expect("a stone");
    sizes.iter().map(stone).collect()
}

/// Adds a stone at a pose.
fn add_stone(scene: &mut SceneBuilder, stone: Polyhedron, pose: Pose, material: &Material) -> Body {
    let shape = Shape::Polyhedron(std::sync::Arc::new(stone));
    let mut body = BodyDescription::new(shape, material);
    body.pose = pose;
    scene.add(body, material)
}

/// `n` ballast stones (25 corners, EN 13450 31.5–50 mm, μ 0.7, e 0) raining into an open box of inner width
/// `width` [m].
pub fn stones_in_box(n: usize, width: f64, seed: u64) -> (SceneBuilder, Vec<Body>) {
    stones_of(&rock(0.7, 0.0), n, width, seed)
}

/// Like [`stones_in_box`], with a given material.
pub fn stones_of(m: &Material, n: usize, width: f64, seed: u64) -> (SceneBuilder, Vec<Body>) {
    let mut scene = Scene::builder();
    let half = 0.5 * width;
    let mut wall = |normal: [f64; 3], at: [f64; 3]| {
        scene.add_fixed(Shape::half_space(normal).expect("unit"), Pose::at(at), m);
    };
    wall([0.0, 0.0, 1.0], [0.0; 3]);
    wall([1.0, 0.0, 0.0], [-half, 0.0, 0.0]);
    wall([-1.0, 0.0, 0.0], [half, 0.0, 0.0]);
    wall([0.0, 1.0, 0.0], [0.0, -half, 0.0]);
    wall([0.0, -1.0, 0.0], [0.0, half, 0.0]);

    let mut rng = seeded(seed);
    let stones = ballast(n, &mut rng);
    let radii: Vec<f64> = stones.iter().map(|s| s.outer_radius()).collect();
    let poses =
        rain(&radii, [-half, -half, 0.0], [half, half], &mut rng).expect("stones fit into the box");
    let place = |(stone, pose)| add_stone(&mut scene, stone, pose, m);
    let stones = stones.into_iter().zip(poses).map(place).collect();
    (scene, stones)
}

//! Planar scenes of polygons: grains that settle in a box, a stack of blocks, and a rod that slides on its tip.

use super::rock;
use riprap::prelude::*;
use std::f64::consts::{PI, TAU};

/// Acceleration of gravity [m/s²], along −y.
pub const GRAVITY: f64 = 9.81;
/// Diameter of the circle around a grain in a box [m].
pub const GRAIN: f64 = 0.02;

/// Reproducible numbers between 0 and 1 (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn between(&mut self, a: f64, b: f64) -> f64 {
        a + (b - a) * self.next()
    }
}

/// A planar scene with gravity along −y and a floor at y = 0.
fn on_floor(material: &Material) -> SceneBuilder {
    let mut scene = Scene::builder();
    scene.planar().gravity([0.0, -GRAVITY, 0.0]);
    let floor = Shape::half_space([0.0, 1.0, 0.0]).expect("a direction");
    scene.add_fixed(floor, Pose::IDENTITY, material);
    scene
}

/// `n` irregular convex polygons of five to eight corners, 20 mm in diameter, that fall from a square lattice into a box
/// as wide as the lattice, with small velocities to the sides.
pub fn polygons_in_box(n: usize, friction: f64, seed: u64) -> (SceneBuilder, Vec<Body>) {
    let m = rock(friction, 0.0);
    let mut scene = on_floor(&m);
    let columns = (n as f64).sqrt().ceil() as usize;
    let pitch = 1.25 * GRAIN;
    for (side, x) in [(1.0, 0.0), (-1.0, columns as f64 * pitch)] {
        let wall = Shape::half_space([side, 0.0, 0.0]).expect("a direction");
        scene.add_fixed(wall, Pose::at([x, 0.0, 0.0]), &m);
    }
    let mut numbers = Numbers(seed);
    let grains = (0..n).map(|k| {
        let sides = 5 + (4.0 * numbers.next()) as usize;
        let flat = numbers.between(0.7, 1.0);
        let corners: Vec<[f64; 2]> = (0..sides)
            .map(|i| {
                let angle = TAU * (i as f64 + numbers.between(-0.3, 0.3)) / sides as f64;
                [0.5 * GRAIN * angle.cos(), 0.5 * GRAIN * flat * angle.sin()]
            })
            .collect();
        let shape = Shape::polygon(&corners, GRAIN).expect("five corners around a centre");
        let [x, y] = [k % columns, k / columns].map(|i| pitch * (i as f64 + 0.5));
        let turned = Quat::from_scaled_axis(Vec3::z() * numbers.between(0.0, TAU));
        let aside = [numbers.between(-0.1, 0.1), 0.0, 0.0];
        let grain = BodyDescription::new(shape, &m).at([x, y, 0.0]);
        scene.add(grain.turned(turned).velocity(aside), &m)
    });
    let grains = grains.collect();
    (scene, grains)
}

/// The scheme for these polygons.
pub fn settling_scheme() -> RigidEvents {
    RigidEvents::new(5e-3)
}

/// A block of the given size [m].
pub fn block(width: f64, height: f64, material: &Material) -> BodyDescription {
    let (x, y) = (0.5 * width, 0.5 * height);
    let corners = [[-x, -y], [x, -y], [x, y], [-x, y]];
    BodyDescription::new(Shape::polygon(&corners, 1.0).expect("a rectangle"), material)
}

/// A block of 0.2 × 0.1 m on a slope of `angle` [rad] that descends towards +x, along which it moves with a speed [m/s]. The
/// slope is the x axis; gravity is tilted.
pub fn sliding_block(angle: f64, friction: f64, speed: f64) -> (SceneBuilder, Body) {
    let m = rock(friction, 0.0);
    let mut scene = on_floor(&m);
    scene.gravity([GRAVITY * angle.sin(), -GRAVITY * angle.cos(), 0.0]);
    let body = block(0.2, 0.1, &m).at([0.0, 0.05, 0.0]).velocity([speed, 0.0, 0.0]);
    let body = scene.add(body, &m);
    (scene, body)
}

/// Blocks of 0.2 × 0.1 m on top of each other, alternately shifted by 10 mm.
pub fn stack(n: usize) -> (SceneBuilder, Vec<Body>) {
    let m = rock(0.6, 0.0);
    let mut scene = on_floor(&m);
    let blocks = (0..n).map(|k| {
        let at = [0.01 * (k % 2) as f64, 0.05 + 0.1 * k as f64, 0.0];
        scene.add(block(0.2, 0.1, &m).at(at), &m)
    });
    let blocks = blocks.collect();
    (scene, blocks)
}

/// A block of 0.2 × 0.5 m that stands on a corner, tilted by an angle [rad] from there, and does not slide.
pub fn tilted_block(tilt: f64) -> (SceneBuilder, Body) {
    let m = rock(5.0, 0.0);
    let mut scene = on_floor(&m);
    let turned = Quat::from_scaled_axis(Vec3::z() * -tilt);
    let corner = turned * Vec3::new(0.1, -0.25, 0.0);
    let body = scene.add(block(0.2, 0.5, &m).at((-corner).into()).turned(turned), &m);
    (scene, body)
}

/// Painlevé's example: a thin rod of 1 m that leans at 1.1 rad to the floor and slides on its tip against its lean with
/// 3 m/s. No force is consistent for a high coefficient of friction.
pub fn sliding_rod(friction: f64) -> (SceneBuilder, Body) {
    let m = rock(friction, 0.0);
    let mut scene = on_floor(&m);
    let (half, thin) = (0.5, 5e-4);
    let turned = Quat::from_scaled_axis(Vec3::z() * (PI - 1.1));
    let corners = [[-half, -thin], [half, -thin], [half, thin], [-half, thin]];
    let height = |c: &[f64; 2]| (turned * Vec3::new(c[0], c[1], 0.0)).y;
    let lowest = corners.iter().map(height).fold(f64::INFINITY, f64::min);
    let rod = block(2.0 * half, 2.0 * thin, &m).at([0.0, -lowest, 0.0]).turned(turned);
    let rod = scene.add(rod.velocity([3.0, 0.0, 0.0]), &m);
    (scene, rod)
}

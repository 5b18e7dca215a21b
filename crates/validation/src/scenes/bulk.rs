//! Piles of stones for benchmarks, at rest or nearly so from the start: a small pile at rest is stored, and copies of it are placed side by
//! side and cut to the desired region.
//!
//! The stored pile has come to rest between frictionless walls. Neighbouring copies are mirror images of each other, so a stone that leaned
//! on a wall leans on its own image with the same force: the copies stay at rest without the walls between them. Every stone has its own
//! shape data, as if all stones were different.

use super::{add_stone, ballast, rock, start, stones_in_box};
use riprap::grains::seeded;
use riprap::prelude::*;
use riprap::shape::Polyhedron;
use std::f64::consts::{PI, TAU};

/// Number of stones in the stored pile.
pub const BLOCK: usize = 250;
/// Mean volume of a stone [m³].
const VOLUME: f64 = 4.2e-5;
/// Solid fraction of stones at rest [–].
const FILLING: f64 = 0.55;

/// Inner width of a box that `n` stones fill to a depth equal to its width [m].
pub fn box_width(n: usize) -> f64 {
    (n as f64 * VOLUME / FILLING).cbrt().max(0.16)
}

/// Width of the stored pile [m].
pub fn block_width() -> f64 {
    box_width(BLOCK)
}

/// Stones with their poses.
type Stones = Vec<(Polyhedron, Pose)>;

/// The stored pile, between the planes x = 0, y = 0 and its width.
fn block() -> Stones {
    let numbers = include_str!("../../data/block.state");
    let pose = |line: &str| {
        let mut words = line.split(' ').map(|w| w.parse::<f64>().expect("stored numbers"));
        let [x, y, z, qw, qx, qy, qz] =
            std::array::from_fn(|_| words.next().expect("seven numbers and more"));
        let rotation = Quat::new_normalize([qx, qy, qz, qw].into());
        Pose { position: Vec3::new(x, y, z), rotation }
    };
    ballast(BLOCK, &mut seeded(1)).into_iter().zip(numbers.lines().map(pose)).collect()
}

/// Regenerates the stored pile, which takes some minutes: stones rain between frictionless walls and come to rest. Returns the text of the
/// file and the speed of the fastest stone at the end [m/s].
pub fn settle_block() -> (String, f64) {
    let (rough, smooth) = (rock(0.7, 0.0), Material::new("smooth"));
    let (mut scene, width) = (Scene::builder(), block_width());
    for (k, (normal, at)) in planes([width; 2]).into_iter().enumerate() {
        let plane = Shape::half_space(normal).expect("a unit normal");
        scene.add_fixed(plane, Pose::at(at), if k == 0 { &rough } else { &smooth });
    }
    let mut rng = seeded(1);
    let stones = ballast(BLOCK, &mut rng);
    let radii: Vec<f64> = stones.iter().map(|s| s.outer_radius()).collect();
    let poses = riprap::grains::rain(&radii, [0.0; 3], [width; 2], &mut rng)
        .expect("stones fit between the walls");
    let grains = add_stones(&mut scene, stones.into_iter().zip(poses).collect(), &rough);

    // First fall quickly, then come to rest slowly.
    let mut run = start(&scene, 2.5e-4, 0.5, 1e-4);
    run.until(1.0, &mut ()).expect("they fall");
    let fallen = run.state().clone();
    let mut run = start(&scene, 5e-4, 0.5, 1e-5);
    run.set_state(fallen).expect("the same scene");
    run.until(3.0, &mut ()).expect("they come to rest");
    let speed = |b: &Body| run.velocity(*b).linear.norm();
    let mut text = String::new();
    for pose in grains.iter().map(|b| run.pose(*b)) {
        let (p, r) = (pose.position, pose.rotation);
        let numbers = [p.x, p.y, p.z, r.w, r.i, r.j, r.k].map(|x| format!("{x:e}"));
        text += &(numbers.join(" ") + "\n");
    }
    (text, grains.iter().map(speed).fold(0.0, f64::max))
}

/// Copies of the stored pile: `counts` along x, y and z, starting at the origin. Neighbours along x and y are mirror images of each other.
fn copies(counts: [usize; 3]) -> Stones {
    let block = block();
    let top = block.iter().map(|(stone, pose)| reach(stone, pose, Vec3::z())).fold(0.0, f64::max);
    // A gap of a tenth of a millimetre between layers, so that they do not touch initially.
    let (width, height) = (block_width(), top + 1e-4);
    let images = [[false, false], [true, false], [false, true], [true, true]]
        .map(|axes| mirrored(&block, axes, width));
    let mut stones = Vec::new();
    for k in 0..counts[2] {
        for j in 0..counts[1] {
            for i in 0..counts[0] {
                let shift = Vec3::new(i as f64 * width, j as f64 * width, k as f64 * height);
                let moved = |(stone, pose): &(Polyhedron, Pose)| {
                    let pose = Pose { position: pose.position + shift, ..*pose };
                    (stone.clone(), pose)
                };
                stones.extend(images[i % 2 + 2 * (j % 2)].iter().map(moved));
            }
        }
    }
    stones
}

/// The mirror image of a block of a given width [m] about its middle, along x and along y.
fn mirrored(block: &Stones, axes: [bool; 2], width: f64) -> Stones {
    if axes == [false, false] {
        return block.clone();
    }
    let sign = |mirror: bool| if mirror { -1.0 } else { 1.0 };
    let signs = Vec3::new(sign(axes[0]), sign(axes[1]), 1.0);
    // With S = diag(signs), the image of R v + p is (S R S) (S v) + S p. As a quaternion, S R S has the axis det(S) S a.
    let flip = signs.product();
    let image = |(stone, pose): &(Polyhedron, Pose)| {
        let corners: Vec<Vec3> = stone.vertices().iter().map(|v| v.component_mul(&signs)).collect();
        let stone = Polyhedron::from_points(&corners).expect("the image of a stone");
        let axis = pose.rotation.imag().component_mul(&signs) * flip;
        let rotation = Quat::new_normalize([axis.x, axis.y, axis.z, pose.rotation.w].into());
        let mut position = pose.position.component_mul(&signs);
        for k in (0..2).filter(|&k| axes[k]) {
            position[k] += width;
        }
        (stone, Pose { position, rotation })
    };
    block.iter().map(image).collect()
}

/// Largest `direction · x` over the corners [m].
fn reach(stone: &Polyhedron, pose: &Pose, direction: Vec3) -> f64 {
    stone.support(pose.inverse_vector(direction)).1 + direction.dot(&pose.position)
}

/// The `n` lowest stones.
fn lowest(mut stones: Stones, n: usize) -> Stones {
    stones.sort_by(|a, b| a.1.position.z.total_cmp(&b.1.position.z));
    stones.truncate(n);
    stones
}

/// Numbers of copies along x and y that contain `n` stones, as close to a square as possible.
fn square(n: usize) -> [usize; 2] {
    let tiles = n.div_ceil(BLOCK).max(1);
    let x = (1..=tiles).take_while(|x| x * x <= tiles).last().unwrap_or(1);
    [x, tiles.div_ceil(x)]
}

/// Motion of the five planes of a box.
type Shaking = fn(t: f64) -> Vec3;

/// Inward normals and positions of the floor and walls of a box from the origin to `size` [m] along x and y.
fn planes(size: [f64; 2]) -> [([f64; 3], [f64; 3]); 5] {
    [
        ([0.0, 0.0, 1.0], [0.0; 3]),
        ([1.0, 0.0, 0.0], [0.0; 3]),
        ([-1.0, 0.0, 0.0], [size[0], 0.0, 0.0]),
        ([0.0, 1.0, 0.0], [0.0; 3]),
        ([0.0, -1.0, 0.0], [0.0, size[1], 0.0]),
    ]
}

/// Adds floor and walls of a box from the origin to `size` [m] along x and y, open at the top.
fn add_box(scene: &mut SceneBuilder, size: [f64; 2], m: &Material, shaking: Option<Shaking>) {
    for (normal, at) in planes(size) {
        let plane = Shape::half_space(normal).expect("a unit normal");
        let plane = BodyDescription::new(plane, m).at(at);
        let plane = match shaking {
            None => plane.fixed(),
            Some(shaking) => {
                let at = Vec3::from(at);
                let linear = Law::new(move |t| at + shaking(t));
                plane.moving(Motion::Position { linear, angular: Law::constant([0.0; 3]) })
            }
        };
        scene.add(plane, m);
    }
}

/// Adds stones.
fn add_stones(scene: &mut SceneBuilder, stones: Stones, m: &Material) -> Vec<Body> {
    stones.into_iter().map(|(stone, pose)| add_stone(scene, stone, pose, m)).collect()
}

/// `n` stones at rest in a box: copies of the stored pile side by side, without the highest stones. The pile is 0.3 m deep for any
/// number of stones.
pub fn pile(n: usize) -> (SceneBuilder, Vec<Body>) {
    boxed(n, None)
}

/// The same in a vertically vibrated box, with 25 Hz and an amplitude of 2 mm: five times the acceleration of gravity.
pub fn vibrated_box(n: usize) -> (SceneBuilder, Vec<Body>) {
    boxed(n, Some(|t| Vec3::new(0.0, 0.0, 2e-3 * (1.0 - (TAU * 25.0 * t).cos()))))
}

fn boxed(n: usize, shaking: Option<Shaking>) -> (SceneBuilder, Vec<Body>) {
    let m = rock(0.7, 0.0);
    let [x, y] = square(n);
    let mut scene = Scene::builder();
    let size = [x, y].map(|k| k as f64 * block_width());
    add_box(&mut scene, size, &m, shaking);
    let grains = add_stones(&mut scene, lowest(copies([x, y, 1]), n), &m);
    (scene, grains)
}

/// `n` stones falling from a loose column into a box that they fill to a depth equal to its width.
pub fn pour(n: usize) -> (SceneBuilder, Vec<Body>) {
    stones_in_box(n, box_width(n), 1)
}

/// `n` stones in a drum of 24 planks that rotates about y: filled to about a third, as long as its radius, with a Froude number `ω² R / g` of
/// 0.1, between two fixed plane walls.
pub fn drum(n: usize) -> (SceneBuilder, Vec<Body>) {
    const PLANKS: usize = 24;
    let m = rock(0.7, 0.0);
    let mut scene = Scene::builder();
    let radius = (n as f64 * VOLUME / FILLING / (0.35 * PI)).cbrt().max(0.15);
    let (length, thickness) = (radius.max(0.12), 0.2 * radius);

    // Planks around the circle, whose inner faces touch it.
    let angle = TAU / PLANKS as f64;
    let breadth = 2.0 * (radius + thickness) * (0.5 * angle).tan();
    let plank = Shape::cuboid([thickness, 1.2 * length, breadth]).expect("positive");
    let planks = (0..PLANKS).map(|k| {
        let turned = Pose::IDENTITY.turned([0.0, 1.0, 0.0], k as f64 * angle);
        (turned.compose(&Pose::at([radius + 0.5 * thickness, 0.0, 0.0])), plank.clone())
    });
    let hull = Shape::compound(planks.collect()).expect("planks");
    let speed = (0.1 * 9.81 / radius).sqrt();
    let turning = Motion::Velocity {
        linear: Law::constant([0.0; 3]),
        angular: Law::constant([0.0, speed, 0.0]),
    };
    scene.add(BodyDescription::new(hull, &m).named("drum").moving(turning), &m);
    for side in [-1.0, 1.0] {
        let wall = Shape::half_space([0.0, -side, 0.0]).expect("unit");
        scene.add_fixed(wall, Pose::at([0.0, 0.5 * side * length, 0.0]), &m);
    }

    // Copies from the bottom up; a stone is used if its bounding sphere is inside.
    let width = block_width();
    let across = (2.0 * radius / width).ceil() as usize;
    let along = (length / width).ceil() as usize;
    let up = (1.6 * radius / width).ceil() as usize;
    let origin = Vec3::new(-0.5 * across as f64 * width, -0.5 * length, -radius);
    let mut inside = copies([across, along, up]);
    for (_, pose) in &mut inside {
        pose.position += origin;
    }
    inside.retain(|(stone, pose)| {
        let (p, r) = (pose.position, stone.outer_radius());
        let end = reach(stone, pose, Vec3::y());
        (p.x * p.x + p.z * p.z).sqrt() + r < radius && end < 0.5 * length
    });
    let grains = add_stones(&mut scene, lowest(inside, n), &m);
    (scene, grains)
}

/// A vibrating tine pushed into a pile from above: a plate 15 mm thick (x) and 150 mm wide (y).
///
/// It waits above the pile until `start`, then goes down at 1 m/s to 50 mm above the floor while vibrating along x with 35 Hz and an amplitude of 5 mm.
#[derive(Clone, Copy, Debug)]
pub struct Tine {
    /// Position along x and y [m].
    pub at: [f64; 2],
    /// Initial height of its lower edge [m].
    pub above: f64,
    /// Height of the floor of the box [m].
    pub floor: f64,
    /// Time at which it starts to move [s].
    pub start: f64,
}

impl Tine {
    /// Thickness along x and width along y [m].
    pub const SIZE: [f64; 2] = [0.015, 0.15];
    /// Downward speed [m/s].
    pub const SPEED: f64 = 1.0;
    /// Frequency of its vibration [Hz].
    pub const FREQUENCY: f64 = 35.0;
    /// Amplitude of its vibration [m].
    pub const AMPLITUDE: f64 = 5e-3;
    /// Final height above the floor [m].
    pub const END: f64 = 0.05;

    /// Adds the tine to a scene. It is long enough to protrude from the pile at the end.
    pub fn add(self, scene: &mut SceneBuilder, material: &Material) -> Body {
        let way = (self.above - self.floor - Tine::END).max(0.0);
        let length = way + 0.1;
        let shape = Shape::cuboid([Tine::SIZE[0], Tine::SIZE[1], length]).expect("positive");
        let law = move |t: f64| {
            let since = (t - self.start).max(0.0);
            let down = (Tine::SPEED * since).min(way);
            let aside = Tine::AMPLITUDE * (TAU * Tine::FREQUENCY * since).sin();
            Vec3::new(self.at[0] + aside, self.at[1], self.above - down + 0.5 * length)
        };
        let motion = Motion::Position { linear: Law::new(law), angular: Law::constant([0.0; 3]) };
        scene.add(BodyDescription::new(shape, material).named("tine").moving(motion), material)
    }
}

/// [`pile`] with a vibrating [`Tine`] pushed into its middle, starting at `start` [s].
pub fn tool(n: usize, start: f64) -> (SceneBuilder, Vec<Body>) {
    let m = rock(0.7, 0.0);
    let [x, y] = square(n);
    let (mut scene, grains) = pile(n);
    let stones = lowest(copies([x, y, 1]), n);
    let top = stones.iter().map(|(s, pose)| reach(s, pose, Vec3::z())).fold(0.0, f64::max);
    let at = [x, y].map(|k| 0.5 * k as f64 * block_width());
    Tine { at, above: top + 1e-3, floor: 0.0, start }.add(&mut scene, &m);
    (scene, grains)
}

/// `n` cubes of 0.1 m in towers of ten, 0.1 m apart.
pub fn towers(n: usize) -> (SceneBuilder, Vec<Body>) {
    let m = rock(0.5, 0.0);
    let mut scene = Scene::builder();
    super::add_ground(&mut scene, &m, 0.0);
    let across = (1..).find(|k| k * k * 10 >= n).unwrap_or(1);
    let cubes = (0..n)
        .map(|k| {
            let (tower, level) = (k / 10, k % 10);
            let [x, y, z] = [tower % across, tower / across, level].map(|i| i as f64);
            let shape = Shape::cuboid([0.1; 3]).expect("positive");
            let at = [0.2 * x, 0.2 * y, 0.05 + 0.1 * z];
            scene.add(BodyDescription::new(shape, &m).at(at), &m)
        })
        .collect();
    (scene, cubes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scene_has_the_requested_number_of_grains_and_no_initial_overlaps() {
        type Make = fn(usize) -> (SceneBuilder, Vec<Body>);
        let scenes: [(&str, Make); 6] = [
            ("pile", pile),
            ("vibrated-box", vibrated_box),
            ("pour", pour),
            ("drum", drum),
            ("tool", |n| tool(n, 0.1)),
            ("towers", towers),
        ];
        for (name, make) in scenes {
            for n in [15, 400] {
                let (scene, grains) = make(n);
                assert_eq!(grains.len(), n, "{name}");
                // The builder rejects overlaps larger than a thousandth of a stone.
                scene.build().unwrap_or_else(|e| panic!("{name}, {n}: {e}"));
            }
        }
    }

    #[test]
    fn copies_of_the_pile_contain_any_number_of_stones_in_a_nearly_square_box() {
        for (n, counts) in [
            (1, [1, 1]),
            (250, [1, 1]),
            (251, [1, 2]),
            (1000, [2, 2]),
            (3000, [3, 4]),
            (100_000, [20, 20]),
        ] {
            assert_eq!(square(n), counts, "{n}");
        }
    }

    #[test]
    fn copies_side_by_side_stay_at_rest() {
        let (scene, grains) = pile(500);
        let mut run = super::super::start(&scene, 5e-4, 0.5, 1e-3);
        let begin = run.state().q.clone();
        run.until(0.02, &mut ()).unwrap();
        let mut moved: Vec<f64> = (grains.iter())
            .map(|b| (run.pose(*b).position - begin[run.scene().slot(*b)].position).norm())
            .collect();
        moved.sort_by(f64::total_cmp);
        // In free fall they would move by 2 mm; a corner touching the corner of its image may slip.
        assert!(moved[475] < 1e-4 && moved[499] < 1e-3, "{:?}", &moved[470..]);
    }
}

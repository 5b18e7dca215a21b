//! Direct shear of ballast: a box of stones under a heavy lid, whose upper half is displaced.

use super::{add_stone, ballast, rock};
use riprap::grains::{rain, seeded};
use riprap::prelude::*;
use riprap::shape::Polyhedron;

/// Description of a shear box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShearBox {
    /// Inner width along x and y [m].
    pub width: f64,
    /// Number of stones.
    pub stones: usize,
    /// Mean pressure of the lid [Pa].
    pub pressure: f64,
    /// Velocity of the upper half along x [m/s].
    pub speed: f64,
    /// Seed of the stones.
    pub seed: u64,
}

/// Stones at rest in the box.
#[derive(Clone, Debug)]
pub struct Filled {
    /// The box.
    pub shear_box: ShearBox,
    /// The stones and their poses.
    pub stones: Vec<(Polyhedron, Pose)>,
    /// Height of the highest corner [m].
    pub top: f64,
}

/// Thickness of walls and lid [m].
const WALL: f64 = 0.05;

impl ShearBox {
    /// Pours the stones and lets them come to rest with a drag, with the correction of overlaps if `correct`.
    pub fn fill(self, correct: bool) -> Filled {
        let m = rock(0.7, 0.0);
        let half = 0.5 * self.width;
        let mut rng = seeded(self.seed);
        let stones = ballast(self.stones, &mut rng);
        let radii: Vec<f64> = stones.iter().map(|s| s.outer_radius()).collect();
        let poses = rain(&radii, [-half, -half, 0.0], [half, half], &mut rng).expect("they fit");
        let mut scene = Scene::builder();
        for (normal, at) in [
            ([0.0, 0.0, 1.0], [0.0; 3]),
            ([1.0, 0.0, 0.0], [-half, 0.0, 0.0]),
            ([-1.0, 0.0, 0.0], [half, 0.0, 0.0]),
            ([0.0, 1.0, 0.0], [0.0, -half, 0.0]),
            ([0.0, -1.0, 0.0], [0.0, half, 0.0]),
        ] {
            scene.add_fixed(Shape::half_space(normal).expect("unit"), Pose::at(at), &m);
        }
        let place =
            |(stone, pose): (&Polyhedron, Pose)| add_stone(&mut scene, stone.clone(), pose, &m);
        let bodies: Vec<Body> = stones.iter().zip(poses).map(place).collect();
        let mut run = super::start_corrected(&scene, 5e-4, 1e-3, correct);
        run.until(0.6, &mut ()).expect("stones cannot fail");
        run.drag(20.0).until(1.0, &mut ()).expect("stones cannot fail");
        let pose = |b: &Body| run.scene().shape_pose(run.state(), *b);
        let stones: Vec<_> = stones.into_iter().zip(bodies.iter().map(pose)).collect();
        let reach = |(stone, pose): &(Polyhedron, Pose)| {
            stone.support(pose.inverse_vector(Vec3::z())).1 + pose.position.z
        };
        let top = stones.iter().map(reach).fold(0.0, f64::max);
        Filled { shear_box: self, stones, top }
    }
}

impl Filled {
    /// The box under its lid; the upper half moves from the given time on [s]. Returns the stones and the lid.
    pub fn scene(&self, start: f64) -> (SceneBuilder, Vec<Body>, Body) {
        let ShearBox { width, pressure, speed, .. } = self.shear_box;
        let m = rock(0.7, 0.0);
        let smooth = Material::new("smooth wall").density(2700.0).friction(0.0);
        let (half, height) = (0.5 * width, self.top + 0.2);
        let cut = 0.5 * self.top;
        let mut scene = Scene::builder();
        scene.accept_overlap(0.1);
        scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).expect("unit"), Pose::IDENTITY, &m);
        let motion = Motion::Velocity {
            linear: Law::new(move |t| Vec3::new(if t > start { speed } else { 0.0 }, 0.0, 0.0)),
            angular: Law::constant([0.0; 3]),
        };
        let out = half + 0.5 * WALL;
        for (low, high) in [(-0.05, cut), (cut, height)] {
            let (z, h) = (0.5 * (low + high), high - low);
            for (size, at) in [
                ([WALL, width + 2.0 * WALL, h], [-out, 0.0, z]),
                ([WALL, width + 2.0 * WALL, h], [out, 0.0, z]),
                ([width, WALL, h], [0.0, -out, z]),
                ([width, WALL, h], [0.0, out, z]),
            ] {
                let shape = Shape::cuboid(size).expect("positive");
                let mut wall = BodyDescription::new(shape, &smooth).at(at);
                wall = if low > 0.0 { wall.moving(motion.clone()) } else { wall.fixed() };
                scene.add(wall, &smooth);
            }
        }
        let place =
            |(stone, pose): &(Polyhedron, Pose)| add_stone(&mut scene, stone.clone(), *pose, &m);
        let stones = self.stones.iter().map(place).collect();
        let side = width - 2e-3;
        let heavy = Material::new("lid").density(pressure / 9.81 / WALL).friction(0.7);
        let lid =
            BodyDescription::new(Shape::cuboid([side, side, WALL]).expect("positive"), &heavy)
                .at([0.0, 0.0, self.top + 0.5 * WALL + 1e-4])
                .named("lid");
        let lid = scene.add(lid, &heavy);
        (scene, stones, lid)
    }
}

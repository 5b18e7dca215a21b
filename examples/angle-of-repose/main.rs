//! Angle of repose of spheres and of stones: the scene of scene.toml, built in Rust.

use riprap::grains::{Grading, StoneGenerator, rain_shapes, seeded};
use riprap::prelude::*;
use riprap::simulation::{Measures, Region};
use std::error::Error;

/// End of the run [s].
pub const UNTIL: f64 = 2.1;

/// Range of y in which the spheres and the stones are [m].
const BINS: [[f64; 2]; 2] = [[0.01, 0.13], [-0.13, -0.01]];

/// The scene, ready to run.
pub fn simulation() -> Result<Simulation, Box<dyn Error>> {
    let bead = Material::new("bead").density(2500.0).friction(0.5);
    let rock = Material::new("rock").density(2500.0).friction(0.7);
    let glass = Material::new("glass").friction(0.0);
    let ground = Material::new("ground").friction(0.5);
    let mut scene = Scene::builder();
    scene.material(&bead).material(&rock).material(&glass).material(&ground);
    // On the ground the spheres soon stop rolling.
    let rolls = PairLaw { friction: 0.5, rolling: 0.002, ..PairLaw::SMOOTH };
    scene.pair("bead", "ground", rolls);

    let side = Shape::cuboid([0.34, 0.02, 0.5])?;
    for (name, shape, at, material) in [
        ("ground", Shape::half_space([0.0, 0.0, 1.0])?, [0.0, 0.0, -0.25], &ground),
        ("platform", Shape::cuboid([0.34, 0.3, 0.04])?, [0.13, 0.0, -0.02], &rock),
        ("lip", Shape::cuboid([0.02, 0.3, 0.04])?, [0.29, 0.0, 0.02], &rock),
        ("back", Shape::cuboid([0.04, 0.3, 0.5])?, [-0.02, 0.0, 0.25], &rock),
        ("side-1", side.clone(), [0.13, 0.14, 0.25], &glass),
        ("side-2", side.clone(), [0.13, 0.0, 0.25], &glass),
        ("side-3", side, [0.13, -0.14, 0.25], &glass),
    ] {
        scene.add(BodyDescription::new(shape, material).named(name).at(at).fixed(), material);
    }
    let rise = |t: f64| Vec3::new(0.0, 0.0, 0.6 * ((t - 0.7) / (0.8 - 0.7)).clamp(0.0, 1.0));
    let lifted = Motion::Velocity { linear: Law::new(rise), angular: Law::constant([0.0; 3]) };
    let gate = BodyDescription::new(Shape::cuboid([0.02, 0.26, 0.5])?, &glass);
    scene.add(gate.named("gate").at([0.29, 0.0, 0.291]).moving(lifted), &glass);

    let grading = Grading::uniform(0.018..0.022)?;
    let mut rng = seeded(1);
    let sizes = grading.sample_many(780, &mut rng);
    let spheres: Vec<Shape> =
        sizes.iter().map(|size| Shape::sphere(0.5 * size)).collect::<Result<_, _>>()?;
    let poses = rain_shapes(&spheres, [0.0, BINS[0][0], 0.0], [0.28, BINS[0][1]], &mut rng)?;
    scene.add_grains("spheres", spheres.into_iter().zip(poses), &bead);

    let mut rng = seeded(1);
    let sizes = grading.sample_many(900, &mut rng);
    let kind = StoneGenerator { vertices: 12, ..StoneGenerator::default() };
    let stones = kind.generate_many(&sizes, &mut rng)?;
    let poses = rain_shapes(&stones, [0.0, BINS[1][0], 0.0], [0.28, BINS[1][1]], &mut rng)?;
    scene.add_grains("stones", stones.into_iter().zip(poses), &rock);

    let options = GaussSeidelOptions {
        tolerance: 1e-3,
        approach_tolerance: 1e-3,
        ..GaussSeidelOptions::default()
    };
    let scheme = MoreauJean::new(3e-4).solver(Coloured::from(options));
    Ok(Simulation::new(scene.build()?, scheme)?)
}

/// Prints the slopes of both heaps.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut run = simulation()?;
    for k in 0..=10 {
        run.until(0.21 * f64::from(k), &mut ())?;
        let frame = run.frame();
        let slope = |[low, high]: [f64; 2]| {
            let region = Region { min: Vec3::new(0.03, low, 0.0), max: Vec3::new(0.25, high, 0.5) };
            Measures::of(&frame).slope(&region).map_or(f64::NAN, |s| s.angle.to_degrees())
        };
        let [spheres, stones] = BINS.map(slope);
        println!("{:4.2} s  spheres {spheres:4.1}°, stones {stones:4.1}°", run.time());
    }
    Ok(())
}

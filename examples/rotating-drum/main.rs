//! Rotating drum: the scene of scene.toml, built in Rust.

use riprap::grains::{Grading, lattice, seeded};
use riprap::prelude::*;
use riprap::simulation::{Measures, Region};
use std::error::Error;

/// End of the run [s].
pub const UNTIL: f64 = 6.0;

/// A ring of 32 planks.
fn drum() -> Result<Shape, Box<dyn Error>> {
    let plank = Shape::cuboid([0.051216, 0.12, 0.02])?;
    let place = |k: i32| {
        let angle = (11.25 * f64::from(k)).to_radians();
        let [x, z] = [angle.sin(), angle.cos()].map(|x| (1e6 * 0.25 * x).round() / 1e6);
        (Pose::at([x, 0.0, z]).turned([0.0, 1.0, 0.0], angle), plank.clone())
    };
    Ok(Shape::compound((0..32).map(place).collect())?)
}

/// The scene, ready to run.
pub fn simulation() -> Result<Simulation, Box<dyn Error>> {
    let glass = Material::new("glass").density(2500.0).friction(0.5);
    let smooth = Material::new("smooth").friction(0.0);
    let mut scene = Scene::builder();
    // 1 rad/s after a soft start.
    let spin = |t: f64| Vec3::new(0.0, ((t - 0.4) / (0.6 - 0.4)).clamp(0.0, 1.0), 0.0);
    let motion = Motion::Velocity { linear: Law::constant([0.0; 3]), angular: Law::new(spin) };
    scene.add(BodyDescription::new(drum()?, &glass).named("drum").moving(motion), &glass);
    for (name, y) in [("front", -0.07), ("rear", 0.07)] {
        let end = BodyDescription::new(Shape::cuboid([0.54, 0.02, 0.54])?, &smooth);
        scene.add(end.named(name).at([0.0, y, 0.0]).fixed(), &smooth);
    }

    let mut rng = seeded(1);
    let sizes = Grading::uniform(0.018..0.022)?.sample_many(14 * 5 * 12, &mut rng);
    let spheres: Vec<Shape> =
        sizes.iter().map(|size| Shape::sphere(0.5 * size)).collect::<Result<_, _>>()?;
    let mut poses = lattice([-0.14625, -0.045, -0.16], [0.0225; 3], [14, 5, 12], 1e-4, &mut rng);
    poses.iter_mut().for_each(|pose| pose.rotation = Quat::identity());
    scene.add_grains("grains", spheres.into_iter().zip(poses), &glass);

    let options = GaussSeidelOptions {
        tolerance: 1e-3,
        approach_tolerance: 1e-3,
        ..GaussSeidelOptions::default()
    };
    let scheme = MoreauJean::new(8e-4).solver(Coloured::from(options));
    Ok(Simulation::new(scene.build()?, scheme)?)
}

/// Prints the slope of the middle half of the surface.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut run = simulation()?;
    let region = Region { min: Vec3::new(-0.12, -0.06, -0.24), max: Vec3::new(0.12, 0.06, 0.24) };
    for k in 0..=24 {
        run.until(0.25 * f64::from(k), &mut ())?;
        let slope = Measures::of(&run.frame()).slope(&region);
        let angle = slope.map_or(f64::NAN, |slope| slope.angle.to_degrees());
        println!("{:4.2} s  {angle:4.1}°", run.time());
    }
    Ok(())
}

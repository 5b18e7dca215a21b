//! Janssen's silo: the scene of scene.toml, built in Rust.

use riprap::grains::{Grading, lattice, seeded};
use riprap::prelude::*;
use riprap::simulation::{Measures, Region};
use std::error::Error;

/// End of the run [s].
pub const UNTIL: f64 = 1.7;

/// The scene, ready to run.
pub fn simulation() -> Result<Simulation, Box<dyn Error>> {
    let glass = Material::new("glass").density(2500.0).friction(0.5);
    let wall = Material::new("wall").friction(0.4);
    let mut scene = Scene::builder();
    let (x_wall, y_wall) = (Shape::cuboid([0.02, 0.16, 0.9])?, Shape::cuboid([0.16, 0.02, 0.9])?);
    for (name, shape, at) in [
        ("left", x_wall.clone(), [-0.07, 0.0, 0.4]),
        ("right", x_wall, [0.07, 0.0, 0.4]),
        ("front", y_wall.clone(), [0.0, -0.07, 0.4]),
        ("rear", y_wall, [0.0, 0.07, 0.4]),
    ] {
        scene.add(BodyDescription::new(shape, &wall).named(name).at(at).fixed(), &wall);
    }
    let sink = |t: f64| Vec3::new(0.0, 0.0, -0.01 * ((t - 0.8) / (0.9 - 0.8)).clamp(0.0, 1.0));
    let motion = Motion::Velocity { linear: Law::new(sink), angular: Law::constant([0.0; 3]) };
    let floor = BodyDescription::new(Shape::cuboid([0.119, 0.119, 0.04])?, &glass);
    scene.add(floor.named("floor").at([0.0, 0.0, -0.02]).moving(motion), &glass);

    let mut rng = seeded(1);
    let sizes = Grading::uniform(0.018..0.022)?.sample_many(5 * 5 * 32, &mut rng);
    let spheres: Vec<Shape> =
        sizes.iter().map(|size| Shape::sphere(0.5 * size)).collect::<Result<_, _>>()?;
    let (origin, spacing) = ([-0.048, -0.048, 0.012], [0.024, 0.024, 0.0225]);
    let mut poses = lattice(origin, spacing, [5, 5, 32], 1e-4, &mut rng);
    poses.iter_mut().for_each(|pose| pose.rotation = Quat::identity());
    scene.add_grains("grains", spheres.into_iter().zip(poses), &glass);

    let options = GaussSeidelOptions {
        tolerance: 1e-3,
        approach_tolerance: 1e-3,
        ..GaussSeidelOptions::default()
    };
    let scheme = MoreauJean::new(5e-4).solver(Coloured::from(options));
    Ok(Simulation::new(scene.build()?, scheme)?)
}

/// Prints the vertical stress in slices of 12 cm, from the bottom upwards, and the pressure on the floor.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut run = simulation()?;
    let floor = run.scene().body("floor").ok_or("no floor")?;
    for k in 0..=17 {
        run.until(0.1 * f64::from(k), &mut ())?;
        let frame = run.frame();
        let measures = Measures::of(&frame);
        print!(
            "{:3.1} s  floor {:5.0} Pa, slices",
            run.time(),
            -frame.contact_force(floor).z / 0.0144
        );
        for slice in 0..5 {
            let low = 0.12 * f64::from(slice);
            let (min, max) = (Vec3::new(-0.06, -0.06, low), Vec3::new(0.06, 0.06, low + 0.12));
            print!(" {:5.0}", measures.stress(&Region { min, max })[(2, 2)]);
        }
        println!(" Pa");
    }
    Ok(())
}

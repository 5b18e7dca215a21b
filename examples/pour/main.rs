//! Ballast poured into a box: the scene of scene.toml, built in Rust.

use riprap::grains::{Grading, StoneGenerator, rain_shapes, seeded};
use riprap::prelude::*;
use std::error::Error;

/// End of the run [s].
pub const UNTIL: f64 = 1.2;

/// The scene, ready to run.
pub fn simulation() -> Result<Simulation, Box<dyn Error>> {
    let rock = Material::new("rock").density(2700.0).friction(0.7);
    let steel = Material::new("steel").friction(0.4);
    let mut scene = Scene::builder();
    let tub = Shape::open_box([0.4, 0.4, 0.3], 0.02)?;
    scene.seed(1).add(BodyDescription::new(tub, &steel).named("box").fixed(), &steel);

    let mut rng = seeded(1);
    let sizes = Grading::named("EN 13450 31.5-50")?.sample_many(300, &mut rng);
    let stones = StoneGenerator::default().generate_many(&sizes, &mut rng)?;
    let poses = rain_shapes(&stones, [-0.2, -0.2, 0.01], [0.2, 0.2], &mut rng)?;
    scene.add_grains("ballast", stones.into_iter().zip(poses), &rock);

    let solver =
        Coloured::from(GaussSeidelOptions { tolerance: 5e-4, ..GaussSeidelOptions::default() });
    Ok(Simulation::new(scene.build()?, MoreauJean::new(0.25e-3).solver(solver))?)
}

/// Prints the mean height of the stones and the load on the box.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut run = simulation()?;
    let tub = run.scene().body("box").ok_or("no box")?;
    for k in 0..=12 {
        run.until(0.1 * f64::from(k), &mut ())?;
        let heights: f64 = run.state().q[1..].iter().map(|pose| pose.position.z).sum();
        let (height, load) = (heights / 300.0, -run.frame().contact_force(tub).z);
        println!("{:4.1} s  mean height {height:.4} m, load {load:6.1} N", run.time());
    }
    Ok(())
}

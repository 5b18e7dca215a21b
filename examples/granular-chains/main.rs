//! Two granular chains swing together: the scene of scene.toml, built in Rust.

use riprap::friction::{Apgd, ConeOptions};
use riprap::prelude::*;
use std::error::Error;

/// End of the run [s].
pub const UNTIL: f64 = 8.0;

/// The scene, ready to run.
pub fn simulation() -> Result<Simulation, Box<dyn Error>> {
    // Discs of 1 kg.
    let steel = Material::new("steel").density(127.32395447351627).friction(0.3);
    let ground = BodyDescription::new(Shape::half_space([0.0, 1.0, 0.0])?, &steel).named("ground");
    let mut scene = Scene::builder();
    scene.gravity([0.0, -9.81, 0.0]).planar();
    scene.add(ground.at([0.0, -3.0, 0.0]).fixed(), &steel);
    for (name, side) in [("left", -1.0), ("right", 1.0)] {
        let mut chain = Chain::new(name, 10, 0.05, 0.25);
        chain.start = (On::World, Vec3::new(0.0625 * side, 0.0, 0.0));
        chain.course = Course::Along(Vec3::new(side, -1.0, 0.0).normalize());
        scene.add_chain(&chain, &steel);
    }
    let options = ConeOptions { max_iterations: 5000, ..ConeOptions::tolerance(1e-4) };
    let scheme = ConeComplementarity::new(1e-3).solver(Apgd { options });
    Ok(Simulation::new(scene.build()?, scheme)?)
}

/// Prints the energy and the gap between the lowest discs.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut run = simulation()?;
    let lowest = ["left-10", "right-10"].map(|name| run.scene().body(name));
    let [Some(left), Some(right)] = lowest else { return Err("no discs".into()) };
    for k in 0..=16 {
        run.until(0.5 * f64::from(k), &mut ())?;
        let balance = run.frame().balance();
        let gap = run.pose(right).position.x - run.pose(left).position.x - 0.1;
        let energy = balance.kinetic + balance.potential;
        println!("{:3.1} s  energy {energy:9.3} J, gap {gap:.4} m", run.time());
    }
    Ok(())
}

//! Bouncing ball: the scene of scene.toml, built in Rust.

use riprap::prelude::*;
use std::error::Error;

/// End of the run [s].
pub const UNTIL: f64 = 4.0;

/// The scene, ready to run.
pub fn simulation() -> Result<Simulation, Box<dyn Error>> {
    let rubber = Material::new("rubber").density(1000.0).restitution(0.8);
    let ground = BodyDescription::new(Shape::half_space([0.0, 0.0, 1.0])?, &rubber).named("ground");
    let ball = BodyDescription::new(Shape::sphere(0.2)?, &rubber).named("ball");
    let mut scene = Scene::builder();
    scene.gravity([0.0, 0.0, -10.0]);
    scene.add(ground.fixed(), &rubber);
    scene.add(ball.at([0.0, 0.0, 1.001]), &rubber);
    Ok(Simulation::new(scene.build()?, MoreauJean::new(1e-3))?)
}

/// Prints the height of the ball.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut run = simulation()?;
    let ball = run.scene().body("ball").ok_or("no ball")?;
    for k in 0..=40 {
        run.until(0.1 * f64::from(k), &mut ())?;
        println!("{:5.2} s  {:.4} m", run.time(), run.pose(ball).position.z);
    }
    Ok(())
}

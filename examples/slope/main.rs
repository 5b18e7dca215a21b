//! Bricks on a slope: the scene of scene.toml, built in Rust.

use riprap::prelude::*;
use std::error::Error;

/// End of the run [s].
pub const UNTIL: f64 = 1.0;

/// The scene, ready to run.
pub fn simulation() -> Result<Simulation, Box<dyn Error>> {
    let slope = Material::new("slope").friction(1.0);
    // Slopes down towards +x.
    let plane = Shape::half_space([0.3420201433256687, 0.0, 0.9396926207859084])?;
    let turned = Pose::IDENTITY.turned([0.0, 1.0, 0.0], 20_f64.to_radians()).rotation;

    let mut scene = Scene::builder();
    scene.add(BodyDescription::new(plane, &slope).named("slope").fixed(), &slope);
    for (name, material, friction, y) in
        [("stays", "rough", 0.4, -0.1), ("slides", "smooth", 0.2, 0.1)]
    {
        let material = Material::new(material).density(2000.0).friction(friction);
        let brick = BodyDescription::new(Shape::cuboid([0.2, 0.1, 0.05])?, &material).named(name);
        // Half a brick above the slope.
        let brick = brick.at([0.008550503583141718, y, 0.023492315519647713]).turned(turned);
        scene.add(brick, &material);
    }
    let solver = Coloured::from(GaussSeidelOptions {
        tolerance: 1e-8,
        approach_tolerance: 1e-8,
        velocity_change_tolerance: 1e-7,
        max_velocity_change_tolerance: 1e-6,
        ..GaussSeidelOptions::default()
    });
    Ok(Simulation::new(scene.build()?, MoreauJean::new(1e-3).solver(solver))?)
}

/// Prints the speeds after 1 s.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut run = simulation()?;
    run.until(UNTIL, &mut ())?;
    for name in ["stays", "slides"] {
        let brick = run.scene().body(name).ok_or("no brick")?;
        println!("{name}: {:.4} m/s", run.velocity(brick).linear.norm());
    }
    Ok(())
}

//! Cantilever beam striking a stop: the scene of scene.toml, built in Rust.

use riprap::prelude::*;
use std::error::Error;

/// End of the run [s].
pub const UNTIL: f64 = 0.5;

/// The scene, ready to run.
pub fn simulation() -> Result<Simulation, Box<dyn Error>> {
    let strip = Beam::new("strip")
        .points(&[[0.0; 3], [0.5, 0.0, 0.0]])
        .section(Section::Rectangle { height: 0.002, width: 0.02 })
        .material(Elastic::new(210e9, 0.3, 7800.0))
        .elements(12)
        .clamp_start();
    let mut scene = Scene::builder();
    let strip = scene.add_flexible(strip);
    // The lower edge of the last section, 3 mm above the stop.
    scene.add_point_contact(PointContact {
        name: "stop".into(),
        point: (On::Node(strip, 12), Vec3::new(0.0, 0.0, -0.001)),
        plane: (On::World, Vec3::new(0.0, 0.0, -0.004)),
        normal: Vec3::z(),
        law: PairLaw::SMOOTH,
    });
    Ok(Simulation::new(scene.build()?, MoreauJean::new(2e-4))?)
}

/// Prints the deflection of the middle and of the tip.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut run = simulation()?;
    let nodes = ["strip/6", "strip/12"].map(|name| run.scene().body(name));
    let [Some(middle), Some(tip)] = nodes else { return Err("no strip".into()) };
    for k in 0..=25 {
        run.until(0.02 * f64::from(k), &mut ())?;
        let [middle, tip] = [middle, tip].map(|node| 1e3 * run.pose(node).position.z);
        println!("{:5.0} ms  middle {middle:+.3} mm, tip {tip:+.3} mm", 1e3 * run.time());
    }
    Ok(())
}

//! Arch of voussoirs: the scene of scene.toml, built in Rust.

use riprap::prelude::*;
use std::error::Error;
use std::f64::consts::PI;

/// End of the run [s].
pub const UNTIL: f64 = 1.0;
const STONES: u32 = 21;
/// Inner and outer radius [m].
const RADII: [f64; 2] = [0.9425, 1.0575];

/// The k-th stone from the right, in coordinates of the arch.
fn voussoir(k: u32) -> Result<Shape, Box<dyn Error>> {
    let corner = |radius: f64, k: u32| {
        let angle = PI * f64::from(k) / f64::from(STONES);
        // To the nanometre, as in scene.toml.
        [radius * angle.cos(), radius * angle.sin()].map(|x| (1e9 * x).round() / 1e9)
    };
    let [inner, outer] = RADII;
    let points = [corner(inner, k), corner(outer, k), corner(outer, k + 1), corner(inner, k + 1)];
    Ok(Shape::polygon(&points, 1.0)?)
}

/// The scene, ready to run.
pub fn simulation() -> Result<Simulation, Box<dyn Error>> {
    // High enough that no joint slides.
    let stone = Material::new("stone").density(2700.0).friction(1.0);
    let abutment = Shape::polygon(&[[-0.2, -0.2], [0.2, -0.2], [0.2, 0.0], [-0.2, 0.0]], 1.0)?;
    let mut scene = Scene::builder();
    scene.planar();
    for (name, x) in [("right", 1.0), ("left", -1.0)] {
        let body = BodyDescription::new(abutment.clone(), &stone).named(name).at([x, 0.0, 0.0]);
        scene.add(body.fixed(), &stone);
    }
    for k in 0..STONES {
        let name = format!("voussoir-{}", k + 1);
        scene.add(BodyDescription::new(voussoir(k)?, &stone).named(&name), &stone);
    }
    let solver = Coloured::from(GaussSeidelOptions {
        tolerance: 1e-6,
        approach_tolerance: 1e-6,
        velocity_change_tolerance: 1e-5,
        max_velocity_change_tolerance: 1e-4,
        ..GaussSeidelOptions::default()
    });
    Ok(Simulation::new(scene.build()?, MoreauJean::new(1e-3).solver(solver))?)
}

/// Prints how far the keystone sinks, and the load on the right abutment.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut run = simulation()?;
    let keystone = run.scene().body("voussoir-11").ok_or("no keystone")?;
    let right = run.scene().body("right").ok_or("no abutment")?;
    let start = run.pose(keystone).position.y;
    run.until(UNTIL, &mut ())?;
    println!("keystone sinks by {:.3} µm", 1e6 * (start - run.pose(keystone).position.y));
    let load = run.frame().contact_force(right);
    println!("thrust {:.0} N, load {:.0} N", load.x, -load.y);
    Ok(())
}

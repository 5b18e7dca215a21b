//! Two four-bars through their singular position: the scene of scene.toml, built in Rust.

use riprap::prelude::*;
use std::error::Error;

/// End of the run [s].
pub const UNTIL: f64 = 10.0;

/// Three rods on the ground and two couplers, all 1 m and 1 kg.
fn bars() -> Result<Mechanism, Box<dyn Error>> {
    let (upright, level) = (Shape::cuboid([0.04, 1.0, 0.04])?, Shape::cuboid([1.0, 0.04, 0.02])?);
    let (up, along) = ([0.0, 0.5, 0.0], [0.5, 0.0, 0.0]);
    let mut bars = Mechanism::new("bars");
    let mut add = |name: String, parent, at, shape: &Shape, centre: [f64; 3]| {
        let mass = MassProperties::principal(1.0, centre, [0.08333333333333333; 3]);
        let joint = name.replace("rod", "turn").replace("coupler", "level");
        let link = bars.add(&joint, parent, Joint::Revolute(Axis::Z), Pose::at(at), Some(mass));
        bars.rename(link, &name);
        bars.attach(link, shape.clone(), Pose::at(centre), "steel");
        link
    };
    let rods =
        [0, 1, 2].map(|k| add(format!("rod_{k}"), GROUND, [f64::from(k), 0.0, 0.0], &upright, up));
    let couplers =
        [0, 1].map(|k| add(format!("coupler_{k}"), rods[k], [0.0, 1.0, 0.0], &level, along));
    for k in 0..2 {
        let a = Marker::at(couplers[k], [1.0, 0.0, 0.0]).along(Axis::Z);
        let b = Marker::at(rods[k + 1], [0.0, 1.0, 0.0]).along(Axis::Z);
        bars.close_loop(&format!("window_{k}"), Cut::Pin, a, b);
    }
    bars.start_velocity(bars.coordinate(rods[0], 0), -1.0);
    Ok(bars)
}

/// The scene, ready to run.
pub fn simulation() -> Result<Simulation, Box<dyn Error>> {
    let mut scene = Scene::builder();
    // The scheme has no contacts.
    scene.gravity([0.0, -9.81, 0.0]).accept_overlap(f64::INFINITY);
    scene.material(&Material::new("steel")).add_mechanism(bars()?);
    Ok(Simulation::new(scene.build()?, DormandPrince::new(0.02).tolerance(1e-10))?)
}

/// Prints the position of the first coupler.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut run = simulation()?;
    let coupler = run.scene().body("bars/coupler_0").ok_or("no coupler")?;
    for k in 0..=20 {
        run.until(0.5 * f64::from(k), &mut ())?;
        let at = run.pose(coupler).position;
        println!("{:5.2} s  ({:+.6}, {:+.6}) m", run.time(), at.x, at.y);
    }
    Ok(())
}

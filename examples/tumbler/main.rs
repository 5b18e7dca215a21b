//! Tumbler: the scene of scene.toml, built in Rust.

use riprap::grains::{Grading, StoneGenerator, rain_shapes, seeded};
use riprap::prelude::*;
use std::error::Error;
use std::f64::consts::PI;

/// End of the run [s].
pub const UNTIL: f64 = 4.0;

/// Two ends and 16 planks.
fn drum() -> Result<Shape, Box<dyn Error>> {
    let (end, plank) = (Shape::cuboid([0.46, 0.02, 0.46])?, Shape::cuboid([0.087521, 0.16, 0.02])?);
    let mut parts: Vec<(Pose, Shape)> =
        [-0.08, 0.08].map(|y| (Pose::at([0.0, y, 0.0]), end.clone())).into();
    for k in 0..16 {
        let angle = (22.5 * f64::from(k)).to_radians();
        let [x, z] = [angle.sin(), angle.cos()].map(|x| (1e6 * 0.21 * x).round() / 1e6);
        parts.push((Pose::at([x, 0.0, z]).turned([0.0, 1.0, 0.0], angle), plank.clone()));
    }
    Ok(Shape::compound(parts)?)
}

/// The scene, ready to run.
pub fn simulation() -> Result<Simulation, Box<dyn Error>> {
    let rock = Material::new("rock").density(2700.0).friction(0.6);
    let steel = Material::new("steel").friction(0.5);
    // 15 revolutions per minute after a soft start.
    let spin = |t: f64| Vec3::new(0.0, 2.0 * PI * 0.25 * ((t - 0.5) / 0.5).clamp(0.0, 1.0), 0.0);
    let motion = Motion::Velocity { linear: Law::constant([0.0; 3]), angular: Law::new(spin) };
    let mut scene = Scene::builder();
    scene.seed(1).add(BodyDescription::new(drum()?, &steel).named("drum").moving(motion), &steel);

    let mut rng = seeded(1);
    let sizes = Grading::uniform(0.025..0.035)?.sample_many(50, &mut rng);
    let kind = StoneGenerator { vertices: 20, flatness: 0.8, elongation: 0.8, angularity: 0.7 };
    let stones = kind.generate_many(&sizes, &mut rng)?;
    let poses = rain_shapes(&stones, [-0.12, -0.07, -0.12], [0.12, 0.07], &mut rng)?;
    scene.add_grains("stones", stones.into_iter().zip(poses), &rock);
    Ok(Simulation::new(scene.build()?, MoreauJean::new(5e-4))?)
}

/// Prints the height of the highest stone and the load on the drum.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut run = simulation()?;
    let drum = run.scene().body("drum").ok_or("no drum")?;
    for k in 0..=16 {
        run.until(0.25 * f64::from(k), &mut ())?;
        let heights = run.state().q[1..].iter().map(|pose| pose.position.z);
        let (highest, load) = (heights.fold(-1.0, f64::max), -run.frame().contact_force(drum).z);
        println!("{:4.2} s  highest stone {highest:+.3} m, load {load:5.1} N", run.time());
    }
    Ok(())
}

//! Oedometer: the scene of scene.toml, built in Rust.

use riprap::grains::{Grading, lattice, seeded};
use riprap::prelude::*;
use riprap::scene::LoadInputs;
use std::error::Error;

/// End of the run [s].
pub const UNTIL: f64 = 1.7;

/// Area of the box [m²].
const AREA: f64 = 0.028224;

/// Stress of the plate at a time [Pa].
fn stress(t: f64) -> f64 {
    1000.0 + 39000.0 * ((t - 0.5) / (1.1 - 0.5)).clamp(0.0, 1.0)
}

/// Four walls around a square of 16.8 cm.
fn walls() -> Result<Shape, Box<dyn Error>> {
    let (x, y) = (Shape::cuboid([0.02, 0.208, 0.5])?, Shape::cuboid([0.168, 0.02, 0.5])?);
    Ok(Shape::compound(vec![
        (Pose::at([-0.094, 0.0, 0.25]), x.clone()),
        (Pose::at([0.094, 0.0, 0.25]), x),
        (Pose::at([0.0, -0.094, 0.25]), y.clone()),
        (Pose::at([0.0, 0.094, 0.25]), y),
    ])?)
}

/// The scene, ready to run.
pub fn simulation() -> Result<Simulation, Box<dyn Error>> {
    let glass = Material::new("glass").density(2500.0).friction(0.5);
    let wall = Material::new("wall").density(2500.0).friction(0.3);
    let smooth = Material::new("smooth").density(2500.0).friction(0.0);
    let mut scene = Scene::builder();
    scene.material(&glass).material(&wall).material(&smooth);
    let walls = scene.add(BodyDescription::new(walls()?, &wall).named("walls").fixed(), &wall);
    let floor = BodyDescription::new(Shape::cuboid([0.208, 0.208, 0.02])?, &smooth);
    let sink = |t: f64| Vec3::new(0.0, 0.0, -0.02 * ((t - 1.2) / (1.25 - 1.2)).clamp(0.0, 1.0));
    let motion = Motion::Velocity { linear: Law::new(sink), angular: Law::constant([0.0; 3]) };
    scene.add(floor.named("floor").at([0.0, 0.0, -0.01]).moving(motion), &smooth);
    let push = StateLaw::new(|now: &LoadInputs| stress(now.t) * AREA);
    let servo = Servo::along([0.0, 0.0, -1.0], push).speed(0.3);
    let plate = BodyDescription::new(Shape::cuboid([0.167, 0.167, 0.02])?, &smooth);
    let plate = plate.named("plate").at([0.0, 0.0, 0.26]).mass(1.0).servo(servo);
    let plate = scene.add(plate, &smooth);
    scene.ignore_contact(On::Body(plate), On::Body(walls));

    let mut rng = seeded(1);
    let sizes = Grading::uniform(0.017..0.023)?.sample_many(7 * 7 * 10, &mut rng);
    let spheres: Vec<Shape> =
        sizes.iter().map(|size| Shape::sphere(0.5 * size)).collect::<Result<_, _>>()?;
    let (origin, spacing) = ([-0.072, -0.072, 0.012], [0.024, 0.024, 0.0235]);
    let mut poses = lattice(origin, spacing, [7, 7, 10], 4e-4, &mut rng);
    poses.iter_mut().for_each(|pose| pose.rotation = Quat::identity());
    scene.add_grains("beads", spheres.into_iter().zip(poses), &glass);

    let options = GaussSeidelOptions {
        tolerance: 1e-3,
        approach_tolerance: 1e-3,
        ..GaussSeidelOptions::default()
    };
    let scheme = MoreauJean::new(5e-4).solver(Coloured::from(options));
    Ok(Simulation::new(scene.build()?, scheme)?)
}

/// Prints the strain, the stress of the plate and how much of it arrives at the floor.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut run = simulation()?;
    let [plate, floor] = ["plate", "floor"].map(|name| run.scene().body(name));
    let (plate, floor) = (plate.ok_or("no plate")?, floor.ok_or("no floor")?);
    run.until(0.5, &mut ())?;
    let height = |run: &Simulation| run.pose(plate).position.z - run.pose(floor).position.z - 0.02;
    let start = height(&run);
    for k in 0..=12 {
        run.until(0.5 + 0.1 * f64::from(k), &mut ())?;
        let strain = 100.0 * (1.0 - height(&run) / start);
        let [above, below] =
            [plate, floor].map(|body| run.frame().contact_force(body).z.abs() / AREA / 1e3);
        println!("{strain:5.2} %  plate {above:5.2} kPa, floor {below:5.2} kPa");
    }
    Ok(())
}

//! Direct shear of glass beads: the scene of scene.toml, built in Rust.

use riprap::grains::{Grading, lattice, seeded};
use riprap::prelude::*;
use std::error::Error;

/// End of the run [s].
pub const UNTIL: f64 = 1.4;

/// The floor and the two ends of the lower half.
fn lower() -> Result<Shape, Box<dyn Error>> {
    let end = Shape::cuboid([0.06, 0.12, 0.06])?;
    Ok(Shape::compound(vec![
        (Pose::at([-0.15, 0.0, -0.03]), end.clone()),
        (Pose::at([0.15, 0.0, -0.03]), end),
        (Pose::at([0.0, 0.0, -0.08]), Shape::cuboid([0.36, 0.12, 0.04])?),
    ])?)
}

/// A plate on a vertical slide, whose load rises to 144 N.
fn press() -> Result<Mechanism, Box<dyn Error>> {
    let mut press = Mechanism::new("press");
    let mass = MassProperties::principal(2.0, [0.0; 3], [0.01; 3]);
    let plate = press.add("z", GROUND, Joint::Prismatic(Axis::Z), Pose::IDENTITY, Some(mass));
    press.rename(plate, "plate");
    press.attach(plate, Shape::cuboid([0.238, 0.118, 0.04])?, Pose::IDENTITY, "smooth");
    let z = press.coordinate(plate, 0);
    press.start(z, 0.17);
    let load = |x: &Inputs| -144.0 * ((x.t - 0.4) / (0.6 - 0.4)).clamp(0.0, 1.0);
    press.actuate("load", z, Signal::new(load));
    Ok(press)
}

/// The scene, ready to run.
pub fn simulation() -> Result<Simulation, Box<dyn Error>> {
    let glass = Material::new("glass").density(2500.0).friction(0.5);
    let smooth = Material::new("smooth").friction(0.0);
    let mut scene = Scene::builder();
    scene.material(&glass).material(&smooth);
    let drawn = |t: f64| Vec3::new(0.06 * ((t - 0.7) / (0.8 - 0.7)).clamp(0.0, 1.0), 0.0, 0.0);
    let motion = Motion::Velocity { linear: Law::new(drawn), angular: Law::constant([0.0; 3]) };
    scene.add(BodyDescription::new(lower()?, &glass).named("lower").moving(motion), &glass);
    let (end, side) = (Shape::cuboid([0.06, 0.12, 0.3])?, Shape::cuboid([0.48, 0.02, 0.42])?);
    for (name, shape, at, material) in [
        ("upper-1", &end, [-0.15, 0.0, 0.151], &glass),
        ("upper-2", &end, [0.15, 0.0, 0.151], &glass),
        ("front", &side, [0.0, -0.07, 0.1], &smooth),
        ("rear", &side, [0.0, 0.07, 0.1], &smooth),
    ] {
        let body = BodyDescription::new(shape.clone(), material);
        scene.add(body.named(name).at(at).fixed(), material);
    }

    let mut rng = seeded(1);
    let sizes = Grading::uniform(0.018..0.022)?.sample_many(10 * 5 * 9, &mut rng);
    let spheres: Vec<Shape> =
        sizes.iter().map(|size| Shape::sphere(0.5 * size)).collect::<Result<_, _>>()?;
    let (origin, spacing) = ([-0.108, -0.048, -0.048], [0.024, 0.024, 0.0225]);
    let mut poses = lattice(origin, spacing, [10, 5, 9], 1e-4, &mut rng);
    poses.iter_mut().for_each(|pose| pose.rotation = Quat::identity());
    scene.add_grains("beads", spheres.into_iter().zip(poses), &glass);
    scene.add_mechanism(press()?);

    let options = GaussSeidelOptions {
        tolerance: 1e-3,
        approach_tolerance: 1e-3,
        ..GaussSeidelOptions::default()
    };
    let scheme = MoreauJean::new(1e-3).solver(Coloured::from(options));
    Ok(Simulation::new(scene.build()?, scheme)?)
}

/// Prints how far the lower half has moved, and the force that draws it over what rests on it.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut run = simulation()?;
    let lower = run.scene().body("lower").ok_or("no lower half")?;
    for k in 0..=28 {
        run.until(0.05 * f64::from(k), &mut ())?;
        let force = run.frame().contact_force(lower);
        let moved = 1e3 * run.pose(lower).position.x;
        println!("{:4.2} s  {moved:4.1} mm, {:5.2}", run.time(), force.x / force.z);
    }
    Ok(())
}

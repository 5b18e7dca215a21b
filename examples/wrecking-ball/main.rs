//! Wrecking ball against a brick wall: the scene of scene.toml, built in Rust.

use riprap::grains::{lattice, seeded};
use riprap::prelude::*;
use std::error::Error;

/// End of the run [s].
pub const UNTIL: f64 = 1.8;

/// A double pendulum: a universal joint at the beam, a ball joint between the links.
fn pendulum() -> Result<(Mechanism, Link), Box<dyn Error>> {
    let (steel, density) = ("steel", 7800.0);
    let below = |z: f64| Pose::at([0.0, 0.0, -z]);
    let mut crane = Mechanism::new("crane");
    crane.base = Pose::at([-0.22, 0.0, 3.1]);
    let swing = Joint::Universal(Axis::Y, Axis::X);
    let upper = crane.add("swing", GROUND, swing, Pose::IDENTITY, None);
    crane.rename(upper, "upper");
    crane.attach_solid(upper, Shape::cuboid([0.04, 0.04, 1.15])?, below(0.575), steel, density);
    let ball = crane.add("knee", upper, Joint::Spherical, below(1.15), None);
    crane.rename(ball, "ball");
    crane.attach_solid(ball, Shape::sphere(0.2)?, below(1.25), steel, density);
    crane.attach_solid(ball, Shape::cuboid([0.04, 0.04, 1.1])?, below(0.53), steel, density);
    crane.start(crane.coordinate(upper, 0), 65_f64.to_radians());
    crane.start(crane.coordinate(upper, 1), 0.0);
    Ok((crane, upper))
}

/// The scene, ready to run.
pub fn simulation() -> Result<Simulation, Box<dyn Error>> {
    let brick = Material::new("brick").density(1800.0).friction(0.6);
    let steel = Material::new("steel").density(7800.0).friction(0.4);
    let mut scene = Scene::builder();
    let floor = BodyDescription::new(Shape::half_space([0.0, 0.0, 1.0])?, &brick).named("floor");
    scene.add(floor.fixed(), &brick);
    // The frame that carries the ball.
    let post = BodyDescription::new(Shape::cuboid([0.14, 0.14, 3.06])?, &steel).fixed();
    scene.add(post.clone().named("left_post").at([-0.22, -1.4, 1.53]), &steel);
    scene.add(post.named("right_post").at([-0.22, 1.4, 1.53]), &steel);
    let beam = BodyDescription::new(Shape::cuboid([0.14, 3.2, 0.14])?, &steel).named("beam");
    let beam = scene.add(beam.at([-0.22, 0.0, 3.13]).fixed(), &steel);
    // Ten courses in bond: eight bricks in one, seven and two halves in the next, with joints of 1 mm.
    for (name, width, count, spacing, y, z) in [
        ("even", 0.25, 8, 0.251, -0.8785, 0.06),
        ("odd", 0.25, 7, 0.251, -0.753, 0.18),
        ("end", 0.1245, 2, 1.8825, -0.94125, 0.18),
    ] {
        let shape = Shape::cuboid([0.12, width, 0.12])?;
        let (origin, spacing) = ([0.0, y, z], [1.0, spacing, 0.24]);
        let places = lattice(origin, spacing, [1, count, 5], 0.0, &mut seeded(0)).into_iter();
        let bricks = places.map(|place| (shape.clone(), Pose::at(place.position.into())));
        scene.add_grains(name, bricks, &brick);
    }
    let (crane, upper) = pendulum()?;
    let crane = scene.add_mechanism(crane);
    scene.ignore_contact(On::Body(beam), On::Link(crane, upper)); // it is hinged in the beam
    let solver =
        Coloured::from(GaussSeidelOptions { tolerance: 5e-4, ..GaussSeidelOptions::default() });
    Ok(Simulation::new(scene.build()?, MoreauJean::new(5e-4).solver(solver))?)
}

/// Prints the position of the ball and the highest brick.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut run = simulation()?;
    let ball = run.scene().body("crane/ball").ok_or("no ball")?;
    for k in 0..=18 {
        run.until(0.1 * f64::from(k), &mut ())?;
        let bricks = run.state().q[4..89].iter().map(|pose| pose.position.z);
        let (x, top) = (run.pose(ball).position.x, bricks.fold(0.0, f64::max));
        println!("{:3.1} s  ball at {x:+.3} m, highest brick at {top:.2} m", run.time());
    }
    Ok(())
}

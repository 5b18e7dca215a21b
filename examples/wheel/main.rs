//! Driven wheel on a gravel bed: the scene of scene.toml, built in Rust.

use riprap::grains::{Grading, rain_shapes, seeded};
use riprap::prelude::*;
use riprap_io::build::Settling;
use std::error::Error;

/// End of the run [s].
pub const UNTIL: f64 = 1.6;

/// A rim of 24 sides, whose corners are 15 cm from the axle, and twelve lugs that reach to 17 cm.
fn lugged_wheel() -> Result<Shape, Box<dyn Error>> {
    let around = |radius: f64, degrees: i32| {
        let angle = f64::from(degrees).to_radians();
        [angle.cos(), angle.sin()].map(|x| (1e5 * radius * x).round() / 1e5)
    };
    let corners = [-0.06, 0.06].iter().flat_map(|y| {
        (0..24).map(move |k| {
            let [x, z] = around(0.15, 15 * k);
            Vec3::new(x, *y, z)
        })
    });
    let rim = Shape::hull(&corners.collect::<Vec<_>>())?;
    let lug = Shape::cuboid([0.024, 0.12, 0.01])?;
    let mut parts = vec![(Pose::IDENTITY, rim)];
    for k in 0..12 {
        let [x, z] = around(0.158, 30 * k);
        let angle = f64::from(-30 * k).to_radians();
        parts.push((Pose::at([x, 0.0, z]).turned([0.0, 1.0, 0.0], angle), lug.clone()));
    }
    Ok(Shape::compound(parts)?)
}

/// The wheel in a carriage that slides along x and z.
fn rover() -> Result<Mechanism, Box<dyn Error>> {
    let mut rover = Mechanism::new("rover");
    let x = rover.add("x", GROUND, Joint::Prismatic(Axis::X), Pose::IDENTITY, None);
    rover.rename(x, "carriage.x");
    let mass = MassProperties::principal(10.0, [0.0, -0.12, 0.0], [0.1; 3]);
    let carriage = rover.add("z", x, Joint::Prismatic(Axis::Z), Pose::IDENTITY, Some(mass));
    rover.rename(carriage, "carriage");
    let beam = Shape::cuboid([0.3, 0.05, 0.05])?;
    rover.attach(carriage, beam, Pose::at([0.0, -0.12, 0.0]), "steel");
    let wheel = rover.add("axle", carriage, Joint::Revolute(Axis::Y), Pose::IDENTITY, None);
    rover.rename(wheel, "wheel");
    rover.attach_solid(wheel, lugged_wheel()?, Pose::IDENTITY, "rubber", 1100.0);
    rover.start(rover.coordinate(x, 0), 0.05);
    rover.start(rover.coordinate(carriage, 0), 0.3);
    // A motor with at most 30 N m accelerates the wheel to 3 rad/s; a rope pulls the carriage back with 10 N.
    let ramp = |t: f64| ((t - 0.2) / (0.4 - 0.2)).clamp(0.0, 1.0);
    let motor = move |x: &Inputs| (30.0 * (3.0 * ramp(x.t) - x.v[2])).clamp(-30.0, 30.0);
    rover.actuate("motor", rover.coordinate(wheel, 0), Signal::new(motor));
    rover.actuate("rope", rover.coordinate(x, 0), Signal::new(move |x| -10.0 * ramp(x.t)));
    Ok(rover)
}

/// The scene with its gravel at rest, ready to run.
pub fn simulation() -> Result<Simulation, Box<dyn Error>> {
    let gravel = Material::new("gravel").density(2600.0).friction(0.6);
    let rubber = Material::new("rubber").density(1100.0).friction(0.8);
    let steel = Material::new("steel").density(7800.0).friction(0.4);
    let mut scene = Scene::builder();
    scene.material(&gravel).material(&rubber).material(&steel);
    scene.pair("rubber", "gravel", PairLaw { friction: 0.7, ..PairLaw::SMOOTH });
    let tub = BodyDescription::new(Shape::open_box([1.2, 0.24, 0.15], 0.015)?, &steel);
    scene.add(tub.named("box").at([0.4, 0.0, 0.0]).fixed(), &steel);

    let mut rng = seeded(1);
    let sizes = Grading::uniform(0.032..0.04)?.sample_many(600, &mut rng);
    let spheres: Vec<Shape> =
        sizes.iter().map(|size| Shape::sphere(0.5 * size)).collect::<Result<_, _>>()?;
    let poses = rain_shapes(&spheres, [-0.2, -0.12, 0.0], [1.0, 0.12], &mut rng)?;
    let bed = scene.add_grains("gravel", spheres.into_iter().zip(poses), &gravel);
    scene.add_mechanism(rover()?);

    let options = GaussSeidelOptions { tolerance: 1e-3, ..GaussSeidelOptions::default() };
    let scheme = || MoreauJean::new(2e-3).solver(Coloured::from(options));
    let built = scene.build()?;
    // Until all grains are slower than 5 cm/s, for at most 1 s.
    let settling = Settling::new(&scene, &built, &[(&bed, 0.05)], 1.0, 0.0)?;
    let settled = settling.run(&built, scheme(), OnUnconverged::Accept, &mut ())?;
    let mut run = Simulation::new(built, scheme())?;
    run.set_state(settled.state)?;
    Ok(run)
}

/// Prints where the axle is, its speed, and the rotation of the wheel.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut run = simulation()?;
    for k in 0..=16 {
        run.until(0.1 * f64::from(k), &mut ())?;
        let rover = &run.state().mechanisms[0];
        print!("{:3.1} s  axle at ({:.3}, {:.3}) m, ", run.time(), rover.q[0], rover.q[1]);
        println!("{:+.3} m/s, wheel {:.2} rad/s", rover.v[0], rover.v[2]);
    }
    Ok(())
}

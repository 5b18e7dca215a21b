//! Flow through an orifice: the scene of scene.toml, built in Rust.

use riprap::grains::{Grading, lattice, seeded};
use riprap::prelude::*;
use riprap::simulation::Flow;
use std::error::Error;
use std::f64::consts::PI;

/// End of the run [s].
pub const UNTIL: f64 = 1.8;

/// Diameter of the orifice [m].
const ORIFICE: f64 = 0.1;

/// Sixteen wedges around a hole with the area of the orifice.
fn floor() -> Result<Shape, Box<dyn Error>> {
    let part = PI / 16.0;
    let radius = 0.5 * ORIFICE * (part / part.tan()).sqrt() / part.cos();
    let round = |x: f64| (1e6 * x).round() / 1e6;
    let wedge = |k: i32| {
        let corners = [-0.01, 0.0].iter().flat_map(|z| {
            [radius, 0.19].into_iter().flat_map(move |r| {
                [k, k + 1].map(|j| {
                    let angle = 2.0 * PI * f64::from(j) / 16.0;
                    Vec3::new(round(r * angle.cos()), round(r * angle.sin()), *z)
                })
            })
        });
        Ok::<_, Box<dyn Error>>((Pose::IDENTITY, Shape::hull(&corners.collect::<Vec<_>>())?))
    };
    Ok(Shape::compound((0..16).map(wedge).collect::<Result<_, _>>()?)?)
}

/// The scene, ready to run.
pub fn simulation() -> Result<Simulation, Box<dyn Error>> {
    let glass = Material::new("glass").density(2500.0).friction(0.5);
    let smooth = Material::new("smooth").friction(0.0);
    let mut scene = Scene::builder();
    let (x_wall, y_wall) = (Shape::cuboid([0.02, 0.29, 0.6])?, Shape::cuboid([0.29, 0.02, 0.6])?);
    for (name, shape, at) in [
        ("floor", floor()?, [0.0; 3]),
        ("left", x_wall.clone(), [-0.135, 0.0, 0.3]),
        ("right", x_wall, [0.135, 0.0, 0.3]),
        ("front", y_wall.clone(), [0.0, -0.135, 0.3]),
        ("rear", y_wall, [0.0, 0.135, 0.3]),
    ] {
        scene.add(BodyDescription::new(shape, &glass).named(name).at(at).fixed(), &glass);
    }
    let slide = |t: f64| Vec3::new(if (0.5..0.6).contains(&t) { 2.0 } else { 0.0 }, 0.0, 0.0);
    let away = Motion::Velocity { linear: Law::new(slide), angular: Law::constant([0.0; 3]) };
    let gate = BodyDescription::new(Shape::cuboid([0.14, 0.14, 0.02])?, &smooth);
    scene.add(gate.named("gate").at([0.0, 0.0, -0.0202]).moving(away), &smooth);

    let mut rng = seeded(1);
    let sizes = Grading::uniform(0.018..0.022)?.sample_many(11 * 11 * 13, &mut rng);
    let spheres: Vec<Shape> =
        sizes.iter().map(|size| Shape::sphere(0.5 * size)).collect::<Result<_, _>>()?;
    let (origin, spacing) = ([-0.1135, -0.1135, 0.012], [0.0227, 0.0227, 0.0225]);
    let mut poses = lattice(origin, spacing, [11, 11, 13], 1e-4, &mut rng);
    poses.iter_mut().for_each(|pose| pose.rotation = Quat::identity());
    scene.add_grains("grains", spheres.into_iter().zip(poses), &glass);
    scene.remove(Removal::below(-0.3));

    let options = GaussSeidelOptions {
        tolerance: 1e-3,
        approach_tolerance: 1e-3,
        ..GaussSeidelOptions::default()
    };
    let scheme = MoreauJean::new(8e-4).solver(Coloured::from(options));
    Ok(Simulation::new(scene.build()?, scheme)?)
}

/// Prints how much has passed the orifice, and the rate.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut run = simulation()?;
    let mut jet = Flow::new(Vec3::new(0.0, 0.0, -0.04), -Vec3::z(), f64::INFINITY);
    let mut before = 0.0;
    for k in 1..=9 {
        while run.time() < 0.2 * f64::from(k) - 1e-9 {
            run.step()?;
            jet.add(&run.frame());
        }
        let rate = (jet.mass - before) / 0.2;
        println!("{:3.1} s  {:5.2} kg have passed, {rate:4.2} kg/s", run.time(), jet.mass);
        before = jet.mass;
    }
    Ok(())
}

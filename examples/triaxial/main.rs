//! Triaxial test of glass beads: the scene of scene.toml, built in Rust.

use riprap::grains::{Grading, lattice, seeded};
use riprap::prelude::*;
use riprap::scene::LoadInputs;
use std::error::Error;

/// End of the run [s].
pub const UNTIL: f64 = 2.0;

/// Stress on the sides, and at first on the top [Pa].
const CONFINING: f64 = 20e3;

/// The plates that move, in the order in which they are added after the bottom.
const PLATES: [&str; 5] = ["left", "right", "front", "back", "top"];

/// Lengths of the sample along x, y and z [m], from the positions of the plates.
fn lengths(place: impl Fn(Body) -> Vec3) -> [f64; 3] {
    let [left, right, front, back, top] = [1, 2, 3, 4, 5].map(|k| place(Body(k)));
    [right.x - left.x - 0.02, back.y - front.y - 0.02, top.z - 0.5 * 0.02]
}

/// A plate of 1 kg that pushes along an axis with a stress on its side of the sample.
fn plate(k: usize, material: &Material) -> Result<BodyDescription, Box<dyn Error>> {
    let thin = k / 2;
    let mut size = [0.5; 3];
    size[thin] = 0.02;
    let mut at = [0.0, 0.0, if thin == 2 { 0.3 } else { 0.14 }];
    let mut axis = [0.0; 3];
    axis[thin] = if k == 0 || k == 2 { 1.0 } else { -1.0 };
    if thin < 2 {
        at[thin] = -0.13 * axis[thin];
    }
    let target = StateLaw::new(move |now: &LoadInputs| {
        let [x, y, z] = lengths(|body| now.pose_of(body).position);
        match thin {
            0 => CONFINING * (y * z),
            1 => CONFINING * (x * z),
            // Once the sample is compressed from all sides, the top comes down at its speed.
            _ => CONFINING * if now.t < 0.7 { 1.0 } else { 50.0 } * (x * y),
        }
    });
    let servo = Servo::along(axis, target).speed(if thin == 2 { 0.05 } else { 0.1 });
    let body = BodyDescription::new(Shape::cuboid(size)?, material).named(PLATES[k]);
    Ok(body.at(at).mass(1.0).servo(servo))
}

/// The scene, ready to run.
pub fn simulation() -> Result<Simulation, Box<dyn Error>> {
    let glass = Material::new("glass").density(2500.0).friction(0.5);
    let smooth = Material::new("smooth").density(2500.0).friction(0.0);
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]).material(&glass).material(&smooth);
    let bottom = BodyDescription::new(Shape::cuboid([0.5, 0.5, 0.02])?, &smooth);
    let bottom = scene.add(bottom.named("bottom").at([0.0, 0.0, -0.01]).fixed(), &smooth);
    let mut plates = Vec::new();
    for k in 0..PLATES.len() {
        plates.push(scene.add(plate(k, &smooth)?, &smooth));
    }
    // The plates are wider than the sample and pass through each other.
    plates.push(bottom);
    for (k, a) in plates.iter().enumerate() {
        for b in &plates[k + 1..] {
            scene.ignore_contact(On::Body(*a), On::Body(*b));
        }
    }

    let mut rng = seeded(1);
    let sizes = Grading::uniform(0.017..0.023)?.sample_many(9 * 9 * 11, &mut rng);
    let spheres: Vec<Shape> =
        sizes.iter().map(|size| Shape::sphere(0.5 * size)).collect::<Result<_, _>>()?;
    let mut poses = lattice([-0.104, -0.104, 0.013], [0.026; 3], [9, 9, 11], 1.2e-3, &mut rng);
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

/// Prints the axial strain, the stresses, and the friction angle that they mobilise.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut run = simulation()?;
    run.until(0.7, &mut ())?;
    let start = lengths(|body| run.pose(body).position)[2];
    for k in 0..=12 {
        // Means over 20 ms.
        let mut stress = [0.0; 2];
        run.until(0.78 + 0.1 * f64::from(k), &mut ())?;
        for _ in 0..40 {
            run.step()?;
            let [x, y, z] = lengths(|body| run.pose(body).position);
            let force = |k: u32| run.frame().contact_force(Body(k));
            stress[0] += force(5).z / (x * y) / 40.0;
            stress[1] += 0.5 * (force(2).x / (y * z) + force(4).y / (x * z)) / 40.0;
        }
        let strain = 100.0 * (1.0 - lengths(|body| run.pose(body).position)[2] / start);
        let angle = ((stress[0] - stress[1]) / (stress[0] + stress[1])).asin().to_degrees();
        let [axial, side] = stress.map(|x| 1e-3 * x);
        println!("{strain:5.1} %  axial {axial:4.1} kPa, sides {side:4.1} kPa, {angle:4.1}°");
    }
    Ok(())
}

//! Sheared periodic cell: the scene of scene.toml, built in Rust.

use riprap::grains::{Grading, lattice, seeded};
use riprap::prelude::*;
use riprap::simulation::{Measures, Region};
use std::error::Error;

/// End of the run [s].
pub const UNTIL: f64 = 3.0;

/// Shear rate [1/s].
const RATE: f64 = 5.0;
/// Mean diameter [m] and density [kg/m³] of the beads.
const BEAD: (f64, f64) = (0.0199, 2500.0);
/// First beads of the four cubic lattices [m].
const FIRST: [(&str, [f64; 3]); 4] = [
    ("a", [0.007675, 0.007675, 0.007675]),
    ("b", [0.023025, 0.023025, 0.007675]),
    ("c", [0.023025, 0.007675, 0.023025]),
    ("d", [0.007675, 0.023025, 0.023025]),
];

/// The scene, ready to run.
pub fn simulation() -> Result<Simulation, Box<dyn Error>> {
    let glass = Material::new("glass").density(BEAD.1).friction(0.5);
    let mut scene = Scene::builder();
    let range = [0.0, 0.1535];
    scene.gravity([0.0; 3]).periodic(Cell::new().x(range).y(range).z(range).shear_rate(RATE));
    for (seed, (name, first)) in (1..).zip(FIRST) {
        let mut rng = seeded(seed);
        let sizes = Grading::uniform(0.0185..0.0214)?.sample_many(5 * 5 * 5, &mut rng);
        let spheres: Vec<Shape> =
            sizes.iter().map(|size| Shape::sphere(0.5 * size)).collect::<Result<_, _>>()?;
        let mut poses = lattice(first, [0.0307; 3], [5, 5, 5], 5e-5, &mut rng);
        poses.iter_mut().for_each(|pose| pose.rotation = Quat::identity());
        scene.add_grains(name, spheres.into_iter().zip(poses), &glass);
    }

    let options = GaussSeidelOptions {
        tolerance: 1e-3,
        approach_tolerance: 1e-3,
        ..GaussSeidelOptions::default()
    };
    let scheme = MoreauJean::new(2e-4).solver(Coloured::from(options));
    Ok(Simulation::new(scene.build()?, scheme)?)
}

/// Friction at an inertial number, by Jop, Forterre and Pouliquen (2006) [–].
fn curve(inertial: f64) -> f64 {
    let [low, high] = [20.9_f64, 32.76].map(|angle| angle.to_radians().tan());
    low + (high - low) / (0.279 / inertial + 1.0)
}

/// Prints the inertial number and the friction, means over half a second.
pub fn main() -> Result<(), Box<dyn Error>> {
    let mut run = simulation()?;
    let region = run.scene().cell().map(Region::of_cell).ok_or("no cell")?;
    for half in 0..6 {
        let (mut shear, mut pressure) = (0.0, 0.0);
        for k in 1..=500 {
            run.until(0.5 * f64::from(half) + 1e-3 * f64::from(k), &mut ())?;
            let stress = Measures::of(&run.frame()).stress(&region);
            shear -= stress[(0, 1)] / 500.0;
            pressure += stress.trace() / 1500.0;
        }
        let inertial = RATE * BEAD.0 * (BEAD.1 / pressure).sqrt();
        println!(
            "{:3.1} s  I = {inertial:5.3}, μ = {:5.3}; the curve: {:5.3}",
            run.time(),
            shear / pressure,
            curve(inertial)
        );
    }
    Ok(())
}

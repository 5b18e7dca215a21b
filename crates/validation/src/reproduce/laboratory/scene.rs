//! Parts that the tests share: grains of about 2 cm, boxes, motions, and the scheme.

use std::fmt;

use riprap::grains::{Grading, Pcg64, StoneGenerator, lattice, rain_shapes, seeded};
use riprap::prelude::*;

use super::super::Failure;

/// Mean diameter of the grains [m]; they are drawn uniformly by mass from 0.9 to 1.1 of it.
pub(super) const GRAIN: f64 = 0.02;
/// Density of the grains [kg/m³].
pub(super) const DENSITY: f64 = 2500.0;
/// Acceleration of gravity [m/s²].
pub(super) const GRAVITY: f64 = 9.81;

/// What the grains are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Grains {
    /// Spheres with friction 0.5, like glass.
    Spheres,
    /// Random convex stones with twelve vertices and friction 0.7, like broken rock.
    Stones,
}

impl Grains {
    /// The material; collisions have no restitution.
    pub fn material(self) -> Material {
        let friction = if self == Grains::Spheres { 0.5 } else { 0.7 };
        Material::new("grain").density(DENSITY).friction(friction)
    }

    /// Random sizes and shapes.
    fn shapes(self, count: usize, rng: &mut Pcg64) -> Result<Vec<Shape>, Failure> {
        let sizes = Grading::uniform(0.9 * GRAIN..1.1 * GRAIN)?.sample_many(count, rng);
        if self == Grains::Stones {
            let stones = StoneGenerator { vertices: 12, ..StoneGenerator::default() };
            return Ok(stones.generate_many(&sizes, rng)?);
        }
        Ok(sizes.iter().map(|d| Shape::sphere(0.5 * d)).collect::<Result<_, _>>()?)
    }
}

impl fmt::Display for Grains {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(if *self == Grains::Spheres { "spheres" } else { "stones" })
    }
}

/// Material of walls: a contact with grains has the smaller friction of the two.
pub(super) fn wall(friction: f64) -> Material {
    Material::new(&format!("wall {friction}")).friction(friction)
}

/// An empty scene with gravity.
pub(super) fn empty() -> SceneBuilder {
    let mut scene = Scene::builder();
    scene.gravity([0.0, 0.0, -GRAVITY]);
    scene
}

/// Adds a fixed box.
pub(super) fn add_box(
    scene: &mut SceneBuilder,
    size: [f64; 3],
    at: [f64; 3],
    material: &Material,
) -> Result<Body, Failure> {
    Ok(scene.add_fixed(Shape::cuboid(size)?, Pose::at(at), material))
}

/// Adds four fixed walls, 2 cm thick, around a square of `width` [m], up to a height [m].
pub(super) fn add_shaft(
    scene: &mut SceneBuilder,
    width: f64,
    height: f64,
    material: &Material,
) -> Result<(), Failure> {
    let (at, long) = (0.5 * width + 0.01, width + 0.04);
    for side in [-at, at] {
        add_box(scene, [0.02, long, height], [side, 0.0, 0.5 * height], material)?;
        add_box(scene, [long, 0.02, height], [0.0, side, 0.5 * height], material)?;
    }
    Ok(())
}

/// A velocity along a direction that rises from 0 to `speed` [m/s] within 0.1 s from a time on [s].
pub(super) fn starts(direction: [f64; 3], speed: f64, at: f64) -> Motion {
    let direction = Vec3::from(direction);
    let linear = move |t: f64| direction * (speed * ((t - at) / 0.1).clamp(0.0, 1.0));
    Motion::Velocity { linear: Law::new(linear), angular: Law::constant([0.0; 3]) }
}

/// Puts spheres on a lattice with cells of the size `spacing` [m].
pub(super) fn add_lattice(
    scene: &mut SceneBuilder,
    counts: [usize; 3],
    [spacing, origin]: [[f64; 3]; 2],
    seed: u64,
) -> Result<Vec<Body>, Failure> {
    let mut rng = seeded(seed);
    let shapes = Grains::Spheres.shapes(counts.iter().product(), &mut rng)?;
    let poses = lattice(origin, spacing, counts, 1e-4, &mut rng);
    let material = Grains::Spheres.material();
    Ok(scene.add_grains("grains", shapes.into_iter().zip(poses), &material))
}

/// Rains grains into a column between two corners of its floor [m].
pub(super) fn rain(
    scene: &mut SceneBuilder,
    kind: Grains,
    [min, max]: [[f64; 3]; 2],
    count: usize,
    seed: u64,
) -> Result<Vec<Body>, Failure> {
    let mut rng = seeded(seed);
    let shapes = kind.shapes(count, &mut rng)?;
    let poses = rain_shapes(&shapes, min, [max[0], max[1]], &mut rng)?;
    Ok(scene.add_grains("grains", shapes.into_iter().zip(poses), &kind.material()))
}

/// Steps of `dt` [s] at a relative residual of 1e-3.
fn scheme(dt: f64) -> MoreauJean {
    let options = GaussSeidelOptions {
        tolerance: 1e-3,
        approach_tolerance: 1e-3,
        ..GaussSeidelOptions::default()
    };
    MoreauJean::new(dt).solver(Coloured::from(options))
}

/// A run of a scene with steps of `dt` [s], in which no grain moves farther than a tenth of its size when it lands.
pub(super) fn start(scene: &SceneBuilder, dt: f64) -> Result<Simulation, Failure> {
    Ok(Simulation::new(scene.build()?, scheme(dt))?)
}

//! Parts that the tests share: grains of about 2 cm, boxes, motions, and the scheme.

use std::fmt;

use riprap::grains::{Grading, StoneGenerator, lattice, seeded};
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
    /// The material, with a restitution.
    pub fn material(self, restitution: f64) -> Material {
        let friction = if self == Grains::Spheres { 0.5 } else { 0.7 };
        Material::new("grain").density(DENSITY).friction(friction).restitution(restitution)
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

/// An empty scene with gravity. The corner of a long stone may reach into its neighbour's cell.
pub(super) fn empty() -> SceneBuilder {
    let mut scene = Scene::builder();
    scene.gravity([0.0, 0.0, -GRAVITY]).accept_overlap(0.2);
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

/// Sizes of the grains.
pub(super) fn grading() -> Result<Grading, Failure> {
    Ok(Grading::uniform(0.9 * GRAIN..1.1 * GRAIN)?)
}

/// Puts grains with a restitution on a lattice whose cells have the size `spacing` [m]; stones are turned at random.
pub(super) fn add_lattice(
    scene: &mut SceneBuilder,
    kind: Grains,
    restitution: f64,
    counts: [usize; 3],
    [spacing, origin]: [[f64; 3]; 2],
    seed: u64,
) -> Result<Vec<Body>, Failure> {
    let mut rng = seeded(seed);
    let sizes = grading()?.sample_many(counts.iter().product(), &mut rng);
    let shapes: Vec<Shape> = match kind {
        Grains::Spheres => {
            sizes.iter().map(|d| Shape::sphere(0.5 * d)).collect::<Result<_, _>>()?
        }
        Grains::Stones => {
            let stones = StoneGenerator { vertices: 12, ..StoneGenerator::default() };
            stones.generate_many(&sizes, &mut rng)?
        }
    };
    let poses = lattice(origin, spacing, counts, 1e-4, &mut rng);
    Ok(scene.add_grains("grains", shapes.into_iter().zip(poses), &kind.material(restitution)))
}

/// Fills a box with a lattice from its floor upwards, with cells that hardly any grain of a kind leaves however it is turned.
pub(super) fn fill(
    scene: &mut SceneBuilder,
    kind: Grains,
    [min, max]: [[f64; 3]; 2],
    count: usize,
    seed: u64,
) -> Result<Vec<Body>, Failure> {
    let cell = if kind == Grains::Spheres { 1.12 * GRAIN } else { 2.1 * GRAIN };
    let [nx, ny] = [0, 1].map(|k| ((max[k] - min[k]) / cell + 1e-9).floor().max(1.0));
    let spacing = [(max[0] - min[0]) / nx, (max[1] - min[1]) / ny, cell];
    let origin = [0, 1, 2].map(|k| min[k] + 0.5 * spacing[k] + if k == 2 { 0.001 } else { 0.0 });
    let layers = (count as f64 / (nx * ny)).round().max(1.0);
    add_lattice(scene, kind, 0.0, [nx, ny, layers].map(|n| n as usize), [spacing, origin], seed)
}

/// Steps of 2 ms at a relative residual of 1e-3.
pub(super) fn scheme() -> MoreauJean {
    let options = GaussSeidelOptions {
        tolerance: 1e-3,
        approach_tolerance: 1e-3,
        ..GaussSeidelOptions::default()
    };
    MoreauJean::new(2e-3).solver(Coloured::from(options))
}

/// A run of a scene.
pub(super) fn start(scene: &SceneBuilder) -> Result<Simulation, Failure> {
    Ok(Simulation::new(scene.build()?, scheme())?)
}

//! Groups of grains: sizes are drawn, shapes are generated, and grains are placed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use riprap::grains::{
    Grading, Pcg64, StoneGenerator, lattice, pick, rain_shapes, seeded, sieve_size,
};
use riprap::math::{Pose, Quat, Vec3};
use riprap::scene::BodyDescription;
use riprap::shape::{Polyhedron, Shape};

use super::{pose, shapes};
use crate::grain_table::GrainTable;
use crate::scans::Scan;
use crate::scene_file::{self as file, GrainShape, Grains, Placement, SceneFile};

/// The grains of a group and their sieve sizes or diameters [m]; on failure, the reason.
///
/// All random choices come from one generator, in this order: sizes, shapes, positions. `shape` replaces the shape of a group in
/// which all grains have the same one.
pub(super) fn generate(
    scene: &SceneFile,
    grains: &Grains,
    shape: Option<&Shape>,
) -> Result<(Vec<BodyDescription>, Vec<f64>), String> {
    let material = &scene.materials[grains.material];
    let describe = |index: usize, shape: Shape, pose: Pose| {
        let mut body = BodyDescription::new(shape, material);
        body.name = format!("{}-{}", grains.name, index + 1);
        body.pose = pose;
        body
    };
    if let Placement::File { table, .. } = &grains.placement {
        let shapes = tabled_shapes(scene, grains, table)?;
        let bodies = table.grains.iter().zip(shapes).enumerate().map(|(index, (grain, shape))| {
            let mut body = describe(index, shape, pose(grain.position, grain.rotation));
            body.velocity = Vec3::from(grain.velocity);
            body.angular_velocity = Vec3::from(grain.angular_velocity);
            body
        });
        return Ok((bodies.collect(), Vec::new()));
    }

    let mut rng = seeded(grains.seed);
    let (shapes, sizes) = drawn_shapes(scene, grains, shape, &mut rng)?;
    let poses = match &grains.placement {
        Placement::Lattice { counts, spacing, origin, jitter, random_rotation } => {
            let counts = counts.map(|n| n as usize);
            let mut poses = lattice(*origin, *spacing, counts, *jitter, &mut rng);
            for pose in &mut poses {
                if scene.planar {
                    pose.position.z = 0.0;
                }
                pose.rotation = match (*random_rotation, scene.planar) {
                    (false, _) => Quat::identity(),
                    (true, false) => pose.rotation,
                    (true, true) => about_z(pose.rotation),
                };
            }
            poses
        }
        Placement::Rain { column, .. } => {
            let (min, [x, y, _]) = (column.min, column.max);
            rain_shapes(&shapes, min, [x, y], &mut rng).map_err(|e| e.to_string())?
        }
        Placement::File { .. } => Vec::new(),
    };
    let grains = shapes.into_iter().zip(poses).enumerate();
    Ok((grains.map(|(index, (shape, pose))| describe(index, shape, pose)).collect(), sizes))
}

/// One shape per row of a table; grains of the same scale share a shape.
fn tabled_shapes(
    scene: &SceneFile,
    grains: &Grains,
    table: &GrainTable,
) -> Result<Vec<Shape>, String> {
    let GrainShape::Shape(shape) = &grains.shape else {
        return Err("grains from a file need a `shape`".into());
    };
    let mut made: HashMap<u64, Shape> = HashMap::new();
    let mut shapes = Vec::with_capacity(table.grains.len());
    for (index, grain) in table.grains.iter().enumerate() {
        let shape = match made.entry(grain.scale.to_bits()) {
            Entry::Occupied(made) => made.get().clone(),
            Entry::Vacant(place) => {
                let shape = shapes::make(scene, scene.shape(shape), grain.scale)
                    .map_err(|error| format!("grain {} of the file: {error}", index + 1))?;
                place.insert(shape).clone()
            }
        };
        shapes.push(shape);
    }
    Ok(shapes)
}

/// One shape per grain, and their sizes [m] if they have a grading.
fn drawn_shapes(
    scene: &SceneFile,
    grains: &Grains,
    given: Option<&Shape>,
    rng: &mut Pcg64,
) -> Result<(Vec<Shape>, Vec<f64>), String> {
    let n = usize::try_from(grains.count()).map_err(|_| "there are too many grains".to_owned())?;
    match &grains.shape {
        GrainShape::Shape(_) if given.is_some() => {
            Ok((given.map_or(Vec::new(), |shape| vec![shape.clone(); n]), Vec::new()))
        }
        GrainShape::Shape(shape) => {
            let shape = shapes::make(scene, scene.shape(shape), 1.0).map_err(|e| e.to_string())?;
            Ok((vec![shape; n], Vec::new()))
        }
        GrainShape::Spheres { grading } => {
            let sizes = grading_of(grading)?.sample_many(n, rng);
            let spheres = sizes.iter().map(|size| Shape::sphere(0.5 * size));
            let spheres: Result<Vec<Shape>, _> = spheres.collect();
            Ok((spheres.map_err(|e| e.to_string())?, sizes))
        }
        GrainShape::Stones { stones, grading } => {
            let generator = StoneGenerator {
                vertices: stones.vertices as usize,
                flatness: stones.flatness,
                elongation: stones.elongation,
                angularity: stones.angularity,
            };
            let sizes = grading_of(grading)?.sample_many(n, rng);
            let stones = generator.generate_many(&sizes, rng).map_err(|e| e.to_string())?;
            Ok((stones, sizes))
        }
        GrainShape::Scans { scans, grading, .. } => {
            let unit: Result<Vec<Vec<Vec3>>, String> = scans.iter().map(unit_stone).collect();
            let unit = unit?;
            let sizes = grading_of(grading)?.sample_many(n, rng);
            let stones = sizes.iter().map(|size| {
                let points = &unit[pick(unit.len(), rng)];
                let points: Vec<Vec3> = points.iter().map(|p| p * *size).collect();
                Shape::hull(&points).map_err(|e| e.to_string())
            });
            let stones: Result<Vec<Shape>, String> = stones.collect();
            Ok((stones?, sizes))
        }
    }
}

/// Vertices of a scanned stone relative to its centre of mass, scaled to a sieve size of 1.
pub(super) fn unit_stone(scan: &Scan) -> Result<Vec<Vec3>, String> {
    let points: Vec<Vec3> = scan.points.iter().map(|p| Vec3::from(*p)).collect();
    let stone = Polyhedron::from_points(&points).map_err(|e| format!("{}: {e}", scan.file))?;
    let (size, centre) = (sieve_size(&stone), stone.centre());
    Ok(points.iter().map(|p| (p - centre) / size).collect())
}

pub(super) fn grading_of(grading: &file::Grading) -> Result<Grading, String> {
    match grading {
        file::Grading::Standard(name) => Grading::named(name),
        file::Grading::Sieves { sieves, passing } => {
            let sieves: Vec<(f64, f64)> =
                sieves.iter().copied().zip(passing.iter().copied()).collect();
            Grading::from_sieves(&sieves)
        }
        file::Grading::Uniform { min, max } if min == max => Grading::single(*min),
        file::Grading::Uniform { min, max } => Grading::uniform(*min..*max),
    }
    .map_err(|error| error.to_string())
}

/// The part of a rotation about z; uniformly distributed if the rotation is.
fn about_z(rotation: Quat) -> Quat {
    let length = rotation.w.hypot(rotation.k);
    if length < 1e-12 {
        return Quat::identity();
    }
    Quat::new_unchecked([0.0, 0.0, rotation.k / length, rotation.w / length].into())
}

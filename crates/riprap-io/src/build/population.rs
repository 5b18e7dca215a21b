//! What is inserted and removed during a run: shapes are drawn by number, so that a resumed run draws the same ones.

use riprap::grains::{Pcg64, StoneGenerator, pick, seeded};
use riprap::math::Vec3;
use riprap::scene::{Insertion, Pace, Removal, SceneBuilder, Supply, Where};
use riprap::shape::{Shape, ShapeError};

use super::grains::{grading_of, unit_stone};
use super::{place, shapes};
use crate::scene_file::{self as file, GrainShape, Insert, Problem, SceneFile};

/// Sizes are drawn for this many bodies at a time, so that they soon follow the sieve curve.
const BATCH: u64 = 100;

impl SceneFile {
    /// Adds what is inserted and removed to a builder.
    pub(super) fn add_population(&self, builder: &mut SceneBuilder, problems: &mut Vec<Problem>) {
        for (index, insert) in self.insertions.iter().enumerate() {
            match self.insertion(insert, index as u64, None) {
                Ok(insertion) => {
                    builder.insert(insertion, &self.materials[insert.material]);
                }
                Err(message) => {
                    let message = format!("insertion `{}`: {message}", insert.name);
                    problems.push(Problem::new(place(&self.source.insertions, index), message));
                }
            }
        }
        for remove in &self.removals {
            let place = match &remove.place {
                file::Where::Below(height) => Where::Below(*height),
                file::Where::Outside(column) => {
                    Where::Outside([column.min.into(), column.max.into()])
                }
                file::Where::At(t) => Where::At(*t),
            };
            builder.remove(Removal { place, bodies: remove.bodies.clone() });
        }
    }

    /// The description of an insertion by its index, for scenes that are built by other means. `shape`, if given, replaces
    /// the shape of one in which all bodies have the same.
    pub fn insertion_description(
        &self,
        index: usize,
        shape: Option<&Shape>,
    ) -> Result<Insertion, String> {
        let insert = self.insertions.get(index);
        let insert = insert.ok_or_else(|| format!("there is no insertion {index}"))?;
        self.insertion(insert, index as u64, shape)
    }

    fn insertion(
        &self,
        insert: &Insert,
        index: u64,
        shape: Option<&Shape>,
    ) -> Result<Insertion, String> {
        let seed = insert.seed.unwrap_or(self.seed.wrapping_add(index));
        let supply = match (shape, &insert.shape) {
            (Some(shape), GrainShape::Shape(_)) => Supply::same(shape.clone()),
            _ => self.supply(&insert.shape, seed)?,
        };
        let (pace, start) = match insert.pace {
            file::Pace::Rate(rate) => (Pace::Rate(rate), insert.start),
            file::Pace::MassRate(rate) => (Pace::MassRate(rate), insert.start),
            file::Pace::At(t) => (Pace::AtOnce, t),
        };
        Ok(Insertion {
            within: [insert.column.min.into(), insert.column.max.into()],
            pace,
            start,
            until: insert.until.unwrap_or(f64::INFINITY),
            count: insert.count,
            velocity: insert.velocity.into(),
            angular_velocity: insert.angular_velocity.into(),
            turned: insert.random_rotation,
            seed: insert.seed,
            ..Insertion::new(&insert.name, supply, &self.materials[insert.material])
        })
    }

    fn supply(&self, shape: &GrainShape, seed: u64) -> Result<Supply, String> {
        Ok(match shape {
            GrainShape::Shape(shape) => {
                let shape = shapes::make(self, self.shape(shape), 1.0);
                Supply::same(shape.map_err(|error| error.to_string())?)
            }
            GrainShape::Spheres { grading } => {
                drawn(grading, seed, |size, _| Shape::sphere(0.5 * size))?
            }
            GrainShape::Stones { stones, grading } => {
                let generator = StoneGenerator {
                    vertices: stones.vertices as usize,
                    flatness: stones.flatness,
                    elongation: stones.elongation,
                    angularity: stones.angularity,
                };
                drawn(grading, seed, move |size, rng| {
                    Ok(Shape::Polyhedron(generator.generate(size, rng)?.into()))
                })?
            }
            GrainShape::Scans { scans, grading, .. } => {
                let unit: Result<Vec<Vec<Vec3>>, String> = scans.iter().map(unit_stone).collect();
                let unit = unit?;
                drawn(grading, seed, move |size, rng| {
                    let points = &unit[pick(unit.len(), rng)];
                    Shape::hull(&points.iter().map(|p| p * size).collect::<Vec<_>>())
                })?
            }
        })
    }
}

/// Shapes of sizes from a grading [m], each with a generator of its own.
fn drawn(
    grading: &file::Grading,
    seed: u64,
    shape: impl Fn(f64, &mut Pcg64) -> Result<Shape, ShapeError> + Send + Sync + 'static,
) -> Result<Supply, String> {
    let grading = grading_of(grading)?;
    let rng = move |stream: u64, number: u64| {
        // Any two streams and numbers have different seeds.
        let seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(stream);
        seeded(seed.wrapping_add(number.wrapping_mul(0xd134_2543_de82_ef95)))
    };
    let draw = move |number: u64| {
        let (batch, k) = (number / BATCH, (number % BATCH) as usize);
        let size = grading.sample_many(BATCH as usize, &mut rng(1, batch))[k];
        // A stone that cannot be cut is replaced by a ball.
        shape(size, &mut rng(2, number)).or_else(|_| Shape::sphere(0.5 * size))
    };
    draw(0).map_err(|error| error.to_string())?;
    Ok(Supply::new(move |number| draw(number).unwrap_or_else(|_| Shape::nothing())))
}

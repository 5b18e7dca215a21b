//! Initial positions of grains: on a jittered lattice, or rained one by one into a column so that
//! they are close together but do not touch. Only the bounding spheres of grains are used.

use super::portable::any_rotation;
use crate::math::{Pose, Quat, Vec3};
use crate::shape::Shape;
use rand::RngExt;
use rand_pcg::Pcg64;

/// Bounding spheres are kept apart as if they were larger by this factor [–].
pub const CLEARANCE: f64 = 1.002;

/// Positions tried for each grain of a rain; the lowest is used.
const TRIALS: usize = 60;

/// The grid of a rain has at most this many cells along x and along y.
const MAX_CELLS: f64 = 1000.0;

/// Offsets from a cell to itself and to the surrounding cells, nearest first.
const NEIGHBOURS: [(isize, isize); 9] =
    [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)];

/// Why grains cannot be placed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlacementError {
    /// A radius that is not a positive length.
    #[error("grain {}: the radius must be a positive length in metres, got {radius:e}", grain + 1)]
    BadRadius {
        /// Index of the grain, from 0; messages count from 1, as names do.
        grain: usize,
        /// Its radius [m].
        radius: f64,
    },
    /// A column with invalid bounds.
    #[error(
        "the column must have finite bounds with min below max, got {min} m to {max} m along {axis}"
    )]
    BadColumn {
        /// "x", "y" or "z".
        axis: &'static str,
        /// Lower bound [m].
        min: f64,
        /// Upper bound [m].
        max: f64,
    },
    /// A grain that does not fit into the column.
    #[error(
        "grain {} needs {needed} m (its diameter plus clearance), but the column is only \
         {width} m wide along {axis}; widen the column or use smaller grains",
        grain + 1
    )]
    TooWide {
        /// Index of the grain, from 0; messages count from 1, as names do.
        grain: usize,
        /// Diameter with clearance [m].
        needed: f64,
        /// Width of the column [m].
        width: f64,
        /// "x" or "y".
        axis: &'static str,
    },
}

/// Poses on a lattice of `counts` points along x, y and z, `spacing` [m] apart, starting at
/// `origin` [m], each shifted along every axis by at most `jitter` [m] and rotated at random. x
/// varies fastest, then y, then z: the first poses are the lowest layer.
///
/// Grains do not overlap if `spacing` exceeds their bounding diameter by twice the jitter.
pub fn lattice(
    origin: [f64; 3],
    spacing: [f64; 3],
    counts: [usize; 3],
    jitter: f64,
    rng: &mut Pcg64,
) -> Vec<Pose> {
    let (origin, spacing) = (Vec3::from(origin), Vec3::from(spacing));
    let mut poses = Vec::new();
    for k in 0..counts[2] {
        for j in 0..counts[1] {
            for i in 0..counts[0] {
                let index = Vec3::new(i as f64, j as f64, k as f64);
                let shift = Vec3::from_fn(|_, _| jitter * rng.random_range(-1.0..1.0));
                let position = origin + index.component_mul(&spacing) + shift;
                poses.push(Pose { position, rotation: any_rotation(rng) });
            }
        }
    }
    poses
}

/// Rains bounding spheres of the given radii [m] into the column between `min` and `max` [m] in x
/// and y, with its floor at `min[2]` and open at the top. Returns their poses in the same order,
/// rotated at random.
///
/// Each grain falls straight down at several random positions and stays at the lowest; no two
/// spheres, enlarged by [`CLEARANCE`], overlap, nor do they cross the floor or the walls. The cost
/// is nearly linear in the number of grains as long as their sizes differ by at most a factor of
/// ten.
pub fn rain(
    radii: &[f64],
    min: [f64; 3],
    max: [f64; 2],
    rng: &mut Pcg64,
) -> Result<Vec<Pose>, PlacementError> {
    check(radii, min, max)?;
    let largest = CLEARANCE * radii.iter().copied().fold(0.0, f64::max);
    let mut heap = Heap::new(min, max, largest);
    let mut poses = Vec::with_capacity(radii.len());
    for radius in radii {
        let r = CLEARANCE * radius;
        let mut best = Vec3::new(0.0, 0.0, f64::INFINITY);
        for _ in 0..TRIALS {
            let [x, y] = [0, 1].map(|k| within(min[k] + r, max[k] - r, rng.random()));
            let z = heap.height(x, y, r, best.z);
            if z < best.z {
                best = Vec3::new(x, y, z);
            }
        }
        heap.insert(Ball { centre: best, radius: r });
        poses.push(Pose { position: best, rotation: any_rotation(rng) });
    }
    Ok(poses)
}

/// Rains grains of the given shapes: [`rain`] with their bounding spheres about their centres of mass.
pub fn rain_shapes(
    shapes: &[Shape],
    min: [f64; 3],
    max: [f64; 2],
    rng: &mut Pcg64,
) -> Result<Vec<Pose>, PlacementError> {
    let centre = |shape: &Shape| shape.mass_properties(1.0).map_or(Vec3::zeros(), |m| m.centre);
    let centres: Vec<Vec3> = shapes.iter().map(centre).collect();
    let radii: Vec<f64> = shapes.iter().zip(&centres).map(|(s, c)| radius_about(s, *c)).collect();
    let mut poses = rain(&radii, min, max, rng)?;
    for (pose, centre) in poses.iter_mut().zip(&centres) {
        pose.position -= pose.rotation * centre;
    }
    Ok(poses)
}

/// Radius of the bounding sphere about a point in the frame of the shape [m]; 0 for a half-space.
fn radius_about(shape: &Shape, centre: Vec3) -> f64 {
    let part = |(pose, shape): &(Pose, Shape)| {
        let reach = |point: Vec3| (pose.point(point) - centre).norm();
        match shape {
            Shape::Sphere { radius } | Shape::Disc { radius, .. } => reach(Vec3::zeros()) + radius,
            Shape::Polyhedron(p) => p.vertices().iter().map(|v| reach(*v)).fold(0.0, f64::max),
            Shape::Polygon(p) => {
                let corners = p.vertices().iter().map(|v| reach(Vec3::new(v[0], v[1], 0.0)));
                corners.fold(0.0, f64::max)
            }
            Shape::Curved(c) => c.reach_from(pose.inverse_point(centre)),
            Shape::HalfSpace { .. } | Shape::Compound(_) => 0.0,
        }
    };
    shape.parts().iter().map(part).fold(0.0, f64::max)
}

/// A uniformly distributed rotation; about z in planar scenes.
pub(crate) fn random_rotation(planar: bool, rng: &mut Pcg64) -> Quat {
    let rotation = any_rotation(rng);
    let length = rotation.w.hypot(rotation.k);
    match planar {
        false => rotation,
        true if length < 1e-12 => Quat::identity(),
        true => Quat::new_unchecked([0.0, 0.0, rotation.k / length, rotation.w / length].into()),
    }
}

fn check(radii: &[f64], min: [f64; 3], max: [f64; 2]) -> Result<(), PlacementError> {
    if !min[2].is_finite() {
        return Err(PlacementError::BadColumn { axis: "z", min: min[2], max: f64::INFINITY });
    }
    for (axis, min, max) in [("x", min[0], max[0]), ("y", min[1], max[1])] {
        let width = max - min;
        if !(width > 0.0 && width.is_finite()) {
            return Err(PlacementError::BadColumn { axis, min, max });
        }
        for (grain, &radius) in radii.iter().enumerate() {
            if !(radius > 0.0 && radius.is_finite()) {
                return Err(PlacementError::BadRadius { grain, radius });
            }
            let needed = 2.0 * CLEARANCE * radius;
            if needed > width {
                return Err(PlacementError::TooWide { grain, needed, width, axis });
            }
        }
    }
    Ok(())
}

/// The point a fraction `u` of the way from `a` to `b`; the midpoint if rounding has swapped the
/// two.
fn within(a: f64, b: f64, u: f64) -> f64 {
    if a < b { (a + u * (b - a)).min(b) } else { 0.5 * (a + b) }
}

#[derive(Clone, Copy)]
struct Ball {
    centre: Vec3,
    radius: f64,
}

impl Ball {
    fn top(&self) -> f64 {
        self.centre.z + self.radius
    }
}

/// The balls placed so far, sorted into cells over x and y.
struct Heap {
    min: [f64; 3],
    /// Sides of a cell [m]; at least the largest diameter, so that a ball can touch only the balls
    /// of its own cell and of the eight around it.
    sides: [f64; 2],
    counts: [usize; 2],
    /// The balls of each cell, sorted from the lowest top to the highest.
    cells: Vec<Vec<Ball>>,
}

impl Heap {
    fn new(min: [f64; 3], max: [f64; 2], largest: f64) -> Heap {
        let widths = [max[0] - min[0], max[1] - min[1]];
        let counts = widths.map(|w| (w / (2.0 * largest)).clamp(1.0, MAX_CELLS) as usize);
        let sides = [0, 1].map(|k| widths[k] / counts[k] as f64);
        Heap { min, sides, counts, cells: vec![Vec::new(); counts[0] * counts[1]] }
    }

    fn cell(&self, x: f64, y: f64) -> [usize; 2] {
        [0, 1].map(|k| {
            let steps = ([x, y][k] - self.min[k]) / self.sides[k];
            (steps.max(0.0) as usize).min(self.counts[k] - 1)
        })
    }

    /// Height at which a ball of radius `r` falling at `(x, y)` comes to rest [m]; any height of at
    /// least `limit` once it is known to reach `limit`.
    fn height(&self, x: f64, y: f64, r: f64, limit: f64) -> f64 {
        let mut height = self.min[2] + r;
        let [i, j] = self.cell(x, y);
        // Its own cell first: a ball found there cuts the search in the others short.
        for (di, dj) in NEIGHBOURS {
            // A negative index wraps around and fails the upper bound test as well.
            let (i, j) = (i.wrapping_add_signed(di), j.wrapping_add_signed(dj));
            if i >= self.counts[0] || j >= self.counts[1] {
                continue;
            }
            for ball in self.cells[i + j * self.counts[0]].iter().rev() {
                // All further balls of the cell are too low to be touched.
                if ball.top() + r <= height {
                    break;
                }
                let (dx, dy, sum) = (x - ball.centre.x, y - ball.centre.y, r + ball.radius);
                let rise2 = sum * sum - dx * dx - dy * dy;
                if rise2 > 0.0 {
                    height = height.max(ball.centre.z + rise2.sqrt());
                }
            }
            if height >= limit {
                return height;
            }
        }
        height
    }

    fn insert(&mut self, ball: Ball) {
        let [i, j] = self.cell(ball.centre.x, ball.centre.y);
        let cell = &mut self.cells[i + j * self.counts[0]];
        // A new ball is among the highest: searching from the top finds its place at once.
        let above = cell.iter().rev().take_while(|b| b.top() > ball.top()).count();
        cell.insert(cell.len() - above, ball);
    }
}

#[cfg(test)]
mod tests {
    use super::super::seeded;
    use super::*;

    fn radii(n: usize, range: std::ops::Range<f64>) -> Vec<f64> {
        let mut rng = seeded(11);
        (0..n).map(|_| rng.random_range(range.clone())).collect()
    }

    #[test]
    fn rained_grains_touch_neither_each_other_nor_the_column() {
        let (min, max) = ([-0.3, 0.1, 0.5], [0.2, 0.4]);
        for (seed, range) in [(1, 0.010..0.020), (2, 0.002..0.040), (3, 0.0149..0.0151)] {
            let radii = radii(2000, range);
            let poses = rain(&radii, min, max, &mut seeded(seed)).unwrap();
            for (i, (a, ra)) in poses.iter().zip(&radii).enumerate() {
                let p = a.position;
                assert!(p.z >= min[2] + ra);
                assert!((0..2).all(|k| p[k] >= min[k] + ra && p[k] <= max[k] - ra));
                for (b, rb) in poses[..i].iter().zip(&radii) {
                    // The clearance holds up to rounding, far more than needed to prevent contact.
                    assert!((p - b.position).norm() >= (ra + rb) * (CLEARANCE - 1e-9));
                }
            }
        }
    }

    #[test]
    fn rained_grains_are_close_to_each_other() {
        let radii = radii(20_000, 0.010..0.020);
        let poses = rain(&radii, [0.0; 3], [0.6, 0.6], &mut seeded(1)).unwrap();
        let volume: f64 = radii.iter().map(|r| 4.0 / 3.0 * std::f64::consts::PI * r.powi(3)).sum();
        let top = poses.iter().map(|p| p.position.z).fold(0.0, f64::max);
        let density = volume / (0.36 * top);
        // Falling straight down without rolling gives a fill of 0.3 to 0.4; a lattice with the same
        // spacing would have 0.15.
        assert!(density > 0.3, "{density}");
    }

    #[test]
    fn a_hundred_thousand_grains_rain_in_seconds_even_into_a_narrow_column() {
        let radii = radii(100_000, 0.010..0.020);
        for width in [0.2, 2.0] {
            let start = std::time::Instant::now();
            rain(&radii, [0.0; 3], [width, width], &mut seeded(1)).unwrap();
            // Measured: 0.6 s each; a quadratic search would take many minutes.
            assert!(start.elapsed().as_secs_f64() < 30.0, "{:?}", start.elapsed());
        }
    }

    #[test]
    fn a_grain_as_wide_as_the_column_stacks_and_a_wider_one_is_named() {
        let r = 0.5 / CLEARANCE * (1.0 - 1e-12);
        let poses = rain(&[r, r, r], [0.0; 3], [1.0, 1.0], &mut seeded(1)).unwrap();
        assert!((poses[2].position - Vec3::new(0.5, 0.5, 2.5)).norm() < 1e-6);
        let error = rain(&[0.1, 0.6], [0.0; 3], [2.0, 1.0], &mut seeded(1)).unwrap_err();
        assert!(matches!(error, PlacementError::TooWide { grain: 1, axis: "y", .. }), "{error}");
    }

    #[test]
    fn wrong_radii_and_columns_are_refused() {
        let try_rain = |radii: &[f64], max| rain(radii, [0.0; 3], max, &mut seeded(1));
        assert!(matches!(
            try_rain(&[0.1, f64::NAN], [1.0, 1.0]),
            Err(PlacementError::BadRadius { grain: 1, .. })
        ));
        assert!(matches!(try_rain(&[0.0], [1.0, 1.0]), Err(PlacementError::BadRadius { .. })));
        assert!(matches!(
            try_rain(&[0.1], [1.0, -1.0]),
            Err(PlacementError::BadColumn { axis: "y", .. })
        ));
        assert!(matches!(try_rain(&[], [f64::NAN, 1.0]), Err(PlacementError::BadColumn { .. })));
        assert_eq!(try_rain(&[], [1.0, 1.0]), Ok(vec![]));
    }

    #[test]
    fn a_lattice_fills_its_layers_from_below_within_the_jitter() {
        let poses = lattice([1.0, 2.0, 3.0], [0.1, 0.2, 0.3], [3, 4, 5], 0.01, &mut seeded(7));
        assert_eq!(poses.len(), 60);
        let expected = Vec3::new(1.0 + 0.2, 2.0 + 0.2, 3.0 + 0.3);
        let at = poses[2 + 3 + 12].position;
        assert!((at - expected).amax() <= 0.01 && at != expected);
        assert!(poses.iter().all(|p| (p.rotation.norm() - 1.0).abs() < 1e-12));
    }

    #[test]
    fn the_same_seed_gives_the_same_positions_on_every_machine() {
        let poses = rain(&radii(1000, 0.01..0.02), [0.0; 3], [0.3, 0.3], &mut seeded(5)).unwrap();
        let last = [0.048400653645700425, 0.05966041172060025, 0.39097934444720617];
        assert_eq!(poses[999].position, Vec3::from(last));
    }

    #[test]
    fn a_ball_comes_to_rest_where_an_exhaustive_search_says() {
        let mut rng = seeded(21);
        let radii = radii(400, 0.005..0.03);
        let largest = CLEARANCE * radii.iter().copied().fold(0.0, f64::max);
        let (min, max) = ([0.0, 0.0, 0.2], [0.3, 0.5]);
        let mut heap = Heap::new(min, max, largest);
        let mut balls: Vec<Ball> = Vec::new();
        for r in radii {
            let [x, y] = [0, 1].map(|k| rng.random_range(min[k] + r..max[k] - r));
            let plain = balls.iter().fold(min[2] + r, |height: f64, ball| {
                let (dx, dy, sum) = (x - ball.centre.x, y - ball.centre.y, r + ball.radius);
                let rise2 = sum * sum - dx * dx - dy * dy;
                if rise2 > 0.0 { height.max(ball.centre.z + rise2.sqrt()) } else { height }
            });
            assert_eq!(heap.height(x, y, r, f64::INFINITY), plain);
            // With a limit the search may stop early, but not on the wrong side of it.
            let limit = min[2] + rng.random_range(0.0..0.6);
            let found = heap.height(x, y, r, limit);
            assert!(if plain < limit { found == plain } else { found >= limit });
            let ball = Ball { centre: Vec3::new(x, y, plain), radius: r };
            heap.insert(ball);
            balls.push(ball);
        }
        // The cells contain every ball once, from the lowest top to the highest.
        assert_eq!(heap.cells.iter().map(Vec::len).sum::<usize>(), balls.len());
        for cell in &heap.cells {
            assert!(cell.windows(2).all(|w| w[0].top() <= w[1].top()));
        }
    }

    #[test]
    fn interpolated_points_stay_between_the_ends() {
        assert_eq!(
            (within(1.0, 3.0, 0.0), within(1.0, 3.0, 0.5), within(1.0, 3.0, 1.0)),
            (1.0, 2.0, 3.0)
        );
        assert_eq!(within(3.0, 1.0, 0.9), 2.0, "swapped by rounding: the midpoint");
    }

    #[test]
    fn the_first_grains_lie_on_the_floor_and_the_heap_grows() {
        let radii = vec![0.01; 3000];
        let poses = rain(&radii, [0.0; 3], [0.2, 0.2], &mut seeded(3)).unwrap();
        assert!((poses[0].position.z - 0.01 * CLEARANCE).abs() < 1e-15);
        let mean =
            |part: &[Pose]| part.iter().map(|p| p.position.z).sum::<f64>() / part.len() as f64;
        let thirds: Vec<f64> = poses.chunks(1000).map(mean).collect();
        assert!(thirds.windows(2).all(|w| w[1] > w[0]), "{thirds:?}");
        // Random rotations: no two are equal.
        assert_ne!(poses[0].rotation, poses[1].rotation);
    }

    #[test]
    fn a_lattice_without_jitter_is_exact_and_empty_without_counts() {
        let poses = lattice([1.0, 2.0, 3.0], [0.5, 0.25, 2.0], [2, 2, 2], 0.0, &mut seeded(1));
        let places: Vec<[f64; 3]> = poses.iter().map(|p| p.position.into()).collect();
        assert_eq!(places[..3], [[1.0, 2.0, 3.0], [1.5, 2.0, 3.0], [1.0, 2.25, 3.0]]);
        assert_eq!(places[7], [1.5, 2.25, 5.0]);
        assert!(lattice([0.0; 3], [1.0; 3], [3, 0, 3], 0.1, &mut seeded(1)).is_empty());
    }
}

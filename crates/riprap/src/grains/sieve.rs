//! The sieve size of a stone: the size that a sieve curve refers to.

use super::portable::fibonacci_sphere;
use crate::math::{Vec3, tangents};
use crate::shape::Polyhedron;

/// Directions of passage that the search starts from.
const PASSAGES: usize = 48;
/// Number of local searches, each from one of the best starts.
const SEARCHES: usize = 12;
/// A square counts as smaller than another below this fraction of its side [–]: well above
/// rounding, so that a stone and its scaled or moved copy take the same path.
const DECISIVE: f64 = 1.0 - 1e-10;

/// Side of the smallest square aperture that a polyhedron passes when optimally oriented and pushed
/// straight through [m].
///
/// Along a direction `d` it passes if its projection fits into the square, whose sides are along
/// unit vectors `u ⟂ v`, both ⟂ `d`. With the width `w(u) = max u·x − min u·x`, the sieve size is
/// `min max(w(u), w(v))` over all pairs `u ⟂ v`. A flat stone passes along the diagonal of the
/// square: its sieve size is less than its breadth.
///
/// Found by local searches from several starts, so it is never too small. Compared to a search from
/// eight times as many starts, 5000 stones of 25 corners were too large by 0.01 % on average; 11 of
/// them by more than 0.5 %, the worst by 2.6 %.
pub fn sieve_size(polyhedron: &Polyhedron) -> f64 {
    aperture(polyhedron.vertices())
}

/// [`sieve_size`] of the hull of points [m].
pub(super) fn aperture(points: &[Vec3]) -> f64 {
    let mut starts: Vec<Square> = passages().map(|uv| Square::new(points, uv)).collect();
    starts.sort_by(|a, b| a.side.total_cmp(&b.side)); // stable: the first in case of ties
    let mut best = f64::INFINITY;
    let mut winner = None;
    for start in starts.into_iter().take(SEARCHES) {
        let found = start.shrink(points, 0.1, 2e-3);
        if found.side < DECISIVE * best {
            best = found.side;
            winner = Some(found);
        }
    }
    winner.map_or(0.0, |square| square.shrink(points, 2e-3, 1e-8).side)
}

/// Pairs of directions `u ⟂ v`, evenly distributed over all squares.
fn passages() -> impl Iterator<Item = [Vec3; 2]> {
    // Cosines and sines of 0°, 15°, .. 75°: a square rotated by 90° is the same square.
    let (c, s) = (0.965_925_826_289_068_3, 0.258_819_045_102_520_74);
    let (half, r2, r3) = (0.5, std::f64::consts::FRAC_1_SQRT_2, 0.866_025_403_784_438_6);
    let turns = [(1.0, 0.0), (c, s), (r3, half), (r2, r2), (half, r3), (s, c)];
    fibonacci_sphere(2 * PASSAGES).into_iter().take(PASSAGES).flat_map(move |d| {
        let (t1, t2) = tangents(d);
        turns.map(|(c, s)| [t1 * c + t2 * s, t2 * c - t1 * s])
    })
}

/// The square around a projection.
#[derive(Clone, Copy)]
struct Square {
    u: Vec3,
    v: Vec3,
    /// The larger of the two widths [m].
    side: f64,
}

impl Square {
    fn new(points: &[Vec3], [u, v]: [Vec3; 2]) -> Square {
        let mut low = [f64::INFINITY; 2];
        let mut high = [f64::NEG_INFINITY; 2];
        for p in points {
            let heights = [u.dot(p), v.dot(p)];
            for k in 0..2 {
                // Unlike f64::min and max, a single instruction.
                low[k] = if heights[k] < low[k] { heights[k] } else { low[k] };
                high[k] = if heights[k] > high[k] { heights[k] } else { high[k] };
            }
        }
        Square { u, v, side: (high[0] - low[0]).max(high[1] - low[1]) }
    }

    /// Rotates the square by small steps [rad] as long as it shrinks; otherwise halves the step,
    /// down to `smallest`.
    fn shrink(self, points: &[Vec3], first: f64, smallest: f64) -> Square {
        let (mut square, mut step) = (self, first);
        let (mut axis, mut failures) = (0, 0);
        while step > smallest {
            let turned = square.turned(points, Vec3::from(AXES[axis]) * step);
            if turned.side < DECISIVE * square.side {
                // Retry the direction that helped last.
                square = turned;
                failures = 0;
                continue;
            }
            axis = (axis + 1) % AXES.len();
            failures += 1;
            if failures == AXES.len() {
                step *= 0.5;
                failures = 0;
            }
        }
        square
    }

    fn turned(&self, points: &[Vec3], angle: Vec3) -> Square {
        let local = |a: Vec3| self.u * a.x + self.v * a.y + self.u.cross(&self.v) * a.z;
        let omega = local(angle);
        let u = (self.u + omega.cross(&self.u)).normalize();
        let v = self.v + omega.cross(&self.v);
        let v = (v - u * u.dot(&v)).normalize();
        Square::new(points, [u, v])
    }
}

/// Axes of the trial rotations, in the frame of the square. The side length has kinks at which
/// descent along the three axes alone would stall.
#[rustfmt::skip]
const AXES: [[f64; 3]; 26] = [
    [1., 0., 0.], [-1., 0., 0.], [0., 1., 0.], [0., -1., 0.], [0., 0., 1.], [0., 0., -1.],
    [1., 1., 0.], [-1., -1., 0.], [1., -1., 0.], [-1., 1., 0.], [1., 0., 1.], [-1., 0., -1.],
    [1., 0., -1.], [-1., 0., 1.], [0., 1., 1.], [0., -1., -1.], [0., 1., -1.], [0., -1., 1.],
    [1., 1., 1.], [-1., -1., -1.], [1., 1., -1.], [-1., -1., 1.], [1., -1., 1.], [-1., 1., -1.],
    [-1., 1., 1.], [1., -1., -1.],
];

#[cfg(test)]
mod tests {
    use super::super::portable::any_rotation;
    use super::super::{StoneGenerator, seeded};
    use super::*;

    fn turned(points: &[Vec3], seed: u64) -> Vec<Vec3> {
        let rotation = any_rotation(&mut seeded(seed));
        points.iter().map(|p| rotation * p).collect()
    }

    #[test]
    fn a_box_passes_the_square_on_its_two_shorter_sides() {
        let b = Polyhedron::cuboid([1.0, 2.0, 3.0]).unwrap();
        for seed in 0..50 {
            let size = aperture(&turned(b.vertices(), seed));
            assert!((2.0 - 1e-9..2.0 * 1.005).contains(&size), "{size}");
        }
    }

    #[test]
    fn a_flat_box_passes_along_the_diagonal() {
        let b = Polyhedron::cuboid([0.1, 2.0, 3.0]).unwrap();
        for seed in 0..50 {
            let size = aperture(&turned(b.vertices(), seed));
            let exact = 2.1 * std::f64::consts::FRAC_1_SQRT_2;
            assert!((exact - 1e-9..1.005 * exact).contains(&size), "{size}");
        }
    }

    #[test]
    fn a_tetrahedron_passes_edge_on() {
        let corners = [[1., 1., 1.], [1., -1., -1.], [-1., 1., -1.], [-1., -1., 1.]];
        for seed in 0..50 {
            let size = aperture(&turned(&corners.map(Vec3::from), seed));
            assert!((2.0 - 1e-9..2.01).contains(&size), "{size}");
        }
    }

    #[test]
    fn a_ball_needs_its_diameter() {
        let size = aperture(&fibonacci_sphere(2000));
        assert!((1.99..2.0).contains(&size), "{size}");
    }

    #[test]
    fn no_orientation_of_a_stone_passes_a_much_smaller_square() {
        for (seed, form) in [(1, 1.0), (2, 0.7), (3, 0.3)] {
            let generator =
                StoneGenerator { flatness: form, elongation: form, ..StoneGenerator::default() };
            for stone in 0..5 {
                let mut rng = seeded(10 * seed + stone);
                let stone = generator.generate(1.0, &mut rng).unwrap();
                let tried = (0..2000)
                    .map(|_| {
                        let r = any_rotation(&mut rng);
                        let start = Square::new(stone.vertices(), [r * Vec3::x(), r * Vec3::y()]);
                        if start.side > 1.3 {
                            return start.side;
                        }
                        start.shrink(stone.vertices(), 0.1, 1e-4).side
                    })
                    .fold(f64::INFINITY, f64::min);
                assert!(tried > 0.99, "{tried}");
            }
        }
    }

    #[test]
    fn the_sieve_size_scales_with_the_stone_and_does_not_change_when_it_is_moved() {
        let stone = StoneGenerator::default().generate(1.0, &mut seeded(31)).unwrap();
        let size = sieve_size(&stone);
        for scale in [1e-3, 0.5, 128.0] {
            let scaled: Vec<Vec3> = stone.vertices().iter().map(|v| v * scale).collect();
            // The search takes the same path; sides differ only by rounding.
            assert!((aperture(&scaled) / (scale * size) - 1.0).abs() < 1e-7);
        }
        let moved: Vec<Vec3> =
            stone.vertices().iter().map(|v| v + Vec3::new(3.0, -2.0, 7.0)).collect();
        assert!((aperture(&moved) / size - 1.0).abs() < 1e-7);
    }

    #[test]
    fn a_sieve_size_lies_between_the_least_width_and_the_second_side_of_a_bounding_box() {
        for seed in 0..20 {
            let stone = StoneGenerator::default().generate(1.0, &mut seeded(seed)).unwrap();
            let width = |d: Vec3| stone.support(d).1 + stone.support(-d).1;
            let mut sides = [Vec3::x(), Vec3::y(), Vec3::z()].map(width);
            sides.sort_by(f64::total_cmp);
            let size = sieve_size(&stone);
            assert!(size <= sides[1] * (1.0 + 1e-12), "passed along its longest side");
            let least = fibonacci_sphere(500).into_iter().map(width).fold(f64::INFINITY, f64::min);
            // The sampled directions miss the least width by a few percent at most.
            assert!(size > 0.9 * least, "{size} {least}");
        }
    }

    #[test]
    fn passages_are_evenly_distributed_pairs_of_perpendicular_directions() {
        let mut mean = crate::math::Mat3::zeros();
        for [u, v] in passages() {
            assert!((u.norm() - 1.0).abs() < 1e-14 && (v.norm() - 1.0).abs() < 1e-14);
            assert!(u.dot(&v).abs() < 1e-14);
            mean += u * u.transpose() + v * v.transpose();
        }
        let n = passages().count();
        assert_eq!(n, PASSAGES * 6);
        // No direction is preferred by more than a few percent.
        let mean = mean / (2 * n) as f64;
        assert!((mean - crate::math::Mat3::identity() / 3.0).norm() < 0.03, "{mean}");
    }

    #[test]
    fn a_rotated_square_stays_a_square() {
        let points = fibonacci_sphere(60);
        let mut square = Square::new(&points, [Vec3::x(), Vec3::y()]);
        for k in 0..200 {
            square = square.turned(&points, Vec3::from(AXES[k % AXES.len()]) * 0.1);
            assert!((square.u.norm() - 1.0).abs() < 1e-14 && square.u.dot(&square.v).abs() < 1e-14);
        }
        let width = |d: Vec3| {
            let heights = || points.iter().map(|p| d.dot(p));
            heights().fold(f64::NEG_INFINITY, f64::max) - heights().fold(f64::INFINITY, f64::min)
        };
        assert!((square.side - width(square.u).max(width(square.v))).abs() < 1e-15);
        assert!(square.shrink(&points, 0.1, 1e-4).side <= square.side);
    }
}

//! Functions that are bitwise reproducible on every machine: they use only `+ − × ÷ √`, which IEEE
//! 754 rounds correctly, whereas `sin`, `ln` or `cbrt` of the system library may differ in the last
//! digit. Used by the generators of this module.

use crate::math::{Quat, Vec3};
use rand::RngExt;
use rand_pcg::Pcg64;

/// Natural logarithm of `b / a` for positive `a` and `b`.
pub(super) fn ln_ratio(a: f64, b: f64) -> f64 {
    // Halve or double until b/a lies within [1/√2, √2], then ln x = 2 artanh((x - 1)/(x + 1)).
    let (mut a, mut octaves) = (a, 0.0);
    while a * std::f64::consts::SQRT_2 < b && a.is_normal() {
        a *= 2.0;
        octaves += 1.0;
    }
    while a > b * std::f64::consts::SQRT_2 && a.is_normal() {
        a *= 0.5;
        octaves -= 1.0;
    }
    let t = (b - a) / (b + a);
    let series = (0..12).rev().fold(0.0, |sum, k| sum * t * t + 1.0 / f64::from(2 * k + 1));
    octaves * std::f64::consts::LN_2 + 2.0 * t * series
}

/// `n` points spread evenly over the unit sphere along a spiral (Fibonacci lattice).
pub(super) fn fibonacci_sphere(n: usize) -> Vec<Vec3> {
    // Cosine and sine of the golden angle, π (3 - √5).
    const TURN: [f64; 2] = [-0.737_368_878_078_319_9, 0.675_490_294_261_523_7];
    let [mut c, mut s] = [1.0, 0.0];
    (0..n)
        .map(|i| {
            let z = 1.0 - (2 * i + 1) as f64 / n as f64;
            let r = (1.0 - z * z).sqrt();
            let p = Vec3::new(r * c, r * s, z);
            [c, s] = [c * TURN[0] - s * TURN[1], s * TURN[0] + c * TURN[1]];
            p
        })
        .collect()
}

/// A uniformly distributed point in the unit ball.
pub(super) fn point_in_ball(rng: &mut Pcg64) -> Vec3 {
    loop {
        let p = Vec3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        if p.norm_squared() <= 1.0 {
            return p;
        }
    }
}

/// A uniformly distributed rotation: the direction of a uniformly distributed point in the
/// four-dimensional ball.
pub(super) fn any_rotation(rng: &mut Pcg64) -> Quat {
    loop {
        let [w, x, y, z]: [f64; 4] = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
        let q = nalgebra::Quaternion::new(w, x, y, z);
        let length2 = q.norm_squared();
        if (1e-4..=1.0).contains(&length2) {
            return Quat::new_normalize(q);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::seeded;
    use super::*;
    use crate::math::cbrt;

    #[test]
    fn logarithm_and_cube_root_agree_with_the_system_library() {
        let mut rng = seeded(1);
        for _ in 0..10_000 {
            let x: f64 = 10f64.powf(rng.random_range(-30.0..30.0));
            assert!((cbrt(x) - x.cbrt()).abs() <= 4.0 * f64::EPSILON * x.cbrt());
            let near = rng.random_range(0.5..2.0);
            for r in [x, near] {
                // 3 r is rounded before the call.
                let tolerance = 4.0 * f64::EPSILON * r.ln().abs().max(0.5);
                assert!((ln_ratio(3.0, 3.0 * r) - r.ln()).abs() <= tolerance, "{r}");
            }
        }
        assert_eq!((cbrt(8.0), cbrt(0.0), ln_ratio(2.0, 2.0)), (2.0, 0.0, 0.0));
    }

    #[test]
    fn points_of_the_spiral_have_unit_length_and_no_preferred_direction() {
        let points = fibonacci_sphere(200);
        assert!(points.iter().all(|p| (p.norm() - 1.0).abs() < 1e-12));
        assert!(points.iter().sum::<Vec3>().norm() < 0.01 * 200.0);
    }

    #[test]
    fn random_rotations_map_a_direction_uniformly_over_the_sphere() {
        let mut rng = seeded(2);
        let n = 20_000;
        let turned: Vec<Vec3> = (0..n).map(|_| any_rotation(&mut rng) * Vec3::x()).collect();
        let mean = turned.iter().sum::<Vec3>() / f64::from(n);
        let spread = turned.iter().map(|d| d * d.transpose()).sum::<crate::math::Mat3>();
        // Four times the standard error of a mean over 20 000 samples, 0.58 / √20000 = 0.004.
        assert!(mean.norm() < 0.016);
        assert!((spread / f64::from(n) - crate::math::Mat3::identity() / 3.0).norm() < 0.016);
    }

    #[test]
    fn points_in_the_ball_fill_it_uniformly() {
        let (mut rng, n) = (seeded(3), 20_000);
        let points: Vec<Vec3> = (0..n).map(|_| point_in_ball(&mut rng)).collect();
        assert!(points.iter().all(|p| p.norm() <= 1.0));
        let mean = points.iter().sum::<Vec3>() / f64::from(n);
        // The standard deviation of a component is √(1/5) = 0.45; four times its standard error.
        assert!(mean.amax() < 4.0 * 0.45 / f64::from(n).sqrt());
        // An eighth of the volume lies within half the radius, ±4 × √(7/64/n).
        let inner = points.iter().filter(|p| p.norm() < 0.5).count() as f64 / f64::from(n);
        assert!((inner - 0.125).abs() < 0.0094, "{inner}");
    }

    #[test]
    fn the_spiral_has_a_point_in_every_slice_of_equal_area() {
        for n in [1, 7, 96] {
            for (i, p) in fibonacci_sphere(n).iter().enumerate() {
                assert_eq!(p.z, 1.0 - (2 * i + 1) as f64 / n as f64);
            }
        }
        // Minimum distance of neighbours: at least half of that in a hexagonal lattice.
        let points = fibonacci_sphere(500);
        let net = (8.0 * std::f64::consts::PI / (3f64.sqrt() * 500.0)).sqrt();
        for (i, p) in points.iter().enumerate() {
            let nearest = points[..i].iter().map(|q| (p - q).norm()).fold(f64::INFINITY, f64::min);
            assert!(nearest > 0.5 * net, "{i}: {nearest} {net}");
        }
    }

    #[test]
    fn logarithms_are_additive_and_antisymmetric() {
        let mut rng = seeded(4);
        for _ in 0..1000 {
            let [a, b, c]: [f64; 3] = std::array::from_fn(|_| rng.random_range(1e-3..1e3));
            assert!((ln_ratio(a, b) + ln_ratio(b, c) - ln_ratio(a, c)).abs() < 1e-14);
            assert!((ln_ratio(a, b) + ln_ratio(b, a)).abs() < 1e-14);
        }
    }

    #[test]
    fn each_of_several_items_is_picked_with_equal_probability() {
        let mut rng = seeded(5);
        let mut counts = [0; 7];
        (0..70_000).for_each(|_| counts[super::super::pick(7, &mut rng)] += 1);
        // 10 000 each, within five times the standard deviation √(10 000 × 6/7).
        assert!(counts.iter().all(|n| (9540..10_460).contains(n)), "{counts:?}");
        assert_eq!(super::super::pick(1, &mut rng), 0);
    }
}

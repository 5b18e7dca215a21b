//! Functions that give the same bits on every machine: built from `+ − × ÷ √` alone, which
//! IEEE 754 rounds exactly, where `sin`, `ln` or `cbrt` of the system library may differ in the
//! last digit. Used by the generators of this module.

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

/// A point uniform in the unit ball.
pub(super) fn point_in_ball(rng: &mut Pcg64) -> Vec3 {
    loop {
        let p = Vec3::from_fn(|_, _| rng.random_range(-1.0..1.0));
        if p.norm_squared() <= 1.0 {
            return p;
        }
    }
}

/// A rotation, each equally likely: the direction of a point uniform in the ball of four dimensions.
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
                // 3 r is rounded before it gets there.
                let tolerance = 4.0 * f64::EPSILON * r.ln().abs().max(0.5);
                assert!((ln_ratio(3.0, 3.0 * r) - r.ln()).abs() <= tolerance, "{r}");
            }
        }
        assert_eq!((cbrt(8.0), cbrt(0.0), ln_ratio(2.0, 2.0)), (2.0, 0.0, 0.0));
    }

    #[test]
    fn points_of_the_spiral_have_unit_length_and_no_common_direction() {
        let points = fibonacci_sphere(200);
        assert!(points.iter().all(|p| (p.norm() - 1.0).abs() < 1e-12));
        assert!(points.iter().sum::<Vec3>().norm() < 0.01 * 200.0);
    }

    #[test]
    fn rotations_turn_a_direction_anywhere_with_equal_chance() {
        let mut rng = seeded(2);
        let n = 20_000;
        let turned: Vec<Vec3> = (0..n).map(|_| any_rotation(&mut rng) * Vec3::x()).collect();
        let mean = turned.iter().sum::<Vec3>() / f64::from(n);
        let spread = turned.iter().map(|d| d * d.transpose()).sum::<crate::math::Mat3>();
        // Statistical error of a mean over 20 000: 0.58 / √20000 = 0.004; four times that.
        assert!(mean.norm() < 0.016);
        assert!((spread / f64::from(n) - crate::math::Mat3::identity() / 3.0).norm() < 0.016);
    }
}

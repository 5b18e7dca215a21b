//! Random vectors, rotations and poses for tests, drawn from a seeded generator.

use super::{Pose, Quat, Vec3};
use rand::{RngExt, SeedableRng};

pub(crate) type Rng = rand_pcg::Pcg64;

/// A generator with the given seed.
pub(crate) fn seeded(seed: u64) -> Rng {
    Rng::seed_from_u64(seed)
}

/// A vector with each component between −`size` and `size`.
pub(crate) fn vector(rng: &mut Rng, size: f64) -> Vec3 {
    Vec3::from_fn(|_, _| rng.random_range(-size..size))
}

/// A rotation about any axis, by half a turn or more.
pub(crate) fn rotation(rng: &mut Rng) -> Quat {
    Quat::from_scaled_axis(vector(rng, 2.0))
}

/// A rotated frame with its origin within `size` [m] of the world's along each axis.
pub(crate) fn pose(rng: &mut Rng, size: f64) -> Pose {
    Pose { position: vector(rng, size), rotation: rotation(rng) }
}

/// `n` numbers between −`size` and `size`.
pub(crate) fn numbers(rng: &mut Rng, n: usize, size: f64) -> Vec<f64> {
    (0..n).map(|_| rng.random_range(-size..size)).collect()
}

/// The largest absolute value.
pub(crate) fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

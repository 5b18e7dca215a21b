//! Generation of bulk grains: their sizes ([`Grading`]), shapes ([`StoneGenerator`]) and initial
//! positions ([`lattice`], [`rain`], [`rain_shapes`]).
//!
//! All random numbers are drawn from a generator that the caller seeds ([`seeded`]). Only
//! arithmetic operations that IEEE 754 rounds correctly are used, so a seed gives the same grains
//! on every machine.

mod breakage;
mod grading;
mod placement;
mod portable;
mod sieve;
mod stone;

pub use breakage::{SieveCurve, aperture_of};
pub use grading::{Grading, GradingError};
pub(crate) use placement::random_rotation;
pub use placement::{CLEARANCE, PlacementError, lattice, rain, rain_shapes};
pub use rand_pcg::Pcg64;
pub use sieve::sieve_size;
pub use stone::StoneGenerator;

/// A uniformly distributed index below `n`; `n` is at least 1.
pub fn pick(n: usize, rng: &mut Pcg64) -> usize {
    rand::RngExt::random_range(rng, 0..n as u64) as usize
}

/// The random generator used by this module, with the given seed.
pub fn seeded(seed: u64) -> Pcg64 {
    rand::SeedableRng::seed_from_u64(seed)
}

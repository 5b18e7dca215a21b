//! Grains in bulk: how large they are ([`Grading`]), what they look like ([`StoneGenerator`]) and
//! where they start ([`lattice`], [`rain`]).
//!
//! Everything random is drawn from a generator that the caller seeds ([`seeded`]); the arithmetic
//! is kept to operations that IEEE 754 rounds exactly, so a seed gives the same grains on every
//! machine.

mod grading;
mod placement;
mod portable;
mod sieve;
mod stone;

pub use grading::{Grading, GradingError};
pub use placement::{CLEARANCE, PlacementError, lattice, rain};
pub use rand_pcg::Pcg64;
pub use sieve::sieve_size;
pub use stone::StoneGenerator;

/// One of `n` things, all equally likely; `n` is at least 1.
pub fn pick(n: usize, rng: &mut Pcg64) -> usize {
    rand::RngExt::random_range(rng, 0..n as u64) as usize
}

/// The random generator that this module draws from, started from a seed.
pub fn seeded(seed: u64) -> Pcg64 {
    rand::SeedableRng::seed_from_u64(seed)
}

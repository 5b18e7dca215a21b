//! Standard scenes, references and studies of riprap, as run by `riprap validate`, `riprap reproduce` and `riprap bench`, in full or in a
//! small version for the tests.

pub mod bench;
pub mod cases;
pub mod chains;
pub mod check;
pub mod degradation;
pub mod mechanisms;
pub mod nonsmooth;
pub mod reproduce;
pub mod scenes;
pub mod slider_crank;
pub mod tamping;

pub use cases::{CASES, Case};
pub use check::{Check, Checks};
pub use riprap_view::figure;

/// How much work a case may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effort {
    /// The full version, as run by `riprap validate`.
    Full,
    /// A small version, for the tests and for `riprap validate --quick`.
    Small,
}

/// The examples of the README are compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;

//! Flexible bodies: chains of nodes joined by linear bar elements or by geometrically exact beam elements.
//!
//! [`Bar`] and [`Beam`] are descriptions, [`Structure`] is built from them, and [`StructureState`] is the state needed to
//! resume a run. Nothing here knows contacts, scenes or time steps: a [`Structure`] evaluates its mass matrix, its forces and their
//! derivatives, and integrates positions.
//!
//! ```
//! use riprap::flexible::{Beam, Elastic, Section};
//! use riprap::math::Vec3;
//!
//! let steel = Elastic::new(2.1e11, 0.3, 7800.0);
//! let beam = Beam::new("cantilever")
//!     .points(&[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
//!     .section(Section::Rectangle { height: 0.02, width: 0.01 })
//!     .material(steel)
//!     .elements(10)
//!     .clamp_start()
//!     .build(Vec3::new(0.0, 0.0, -9.81))?;
//! assert_eq!((beam.n_nodes(), beam.n_v()), (11, 66));
//! # Ok::<(), riprap::flexible::FlexibleError>(())
//! ```

mod bar;
mod beam;
mod element;
mod error;
mod logarithm;
mod section;
mod structure;

pub use bar::{Bar, BarMass};
pub use beam::{Beam, Support};
pub use error::{FlexibleError, FlexibleMistake};
pub use section::{Elastic, Section, SectionConstants};
pub use structure::{Structure, StructureState};

#[cfg(test)]
mod tests;

//! Mechanisms in joint coordinates: a tree of bodies, loops closed exactly by coordinate partitioning, and their equations of
//! motion in minimal form (docquier2020, Secs. 2.4, 2.5).
//!
//! [`Mechanism`] is the description by the user, [`Multibody`] is built from it by
//! [`Mechanism::build`], [`MultibodyState`] is the state needed to resume a run, and
//! [`MultibodyScratch`] holds data that can be recomputed.

mod analysis;
mod assemble;
mod build;
mod check;
mod closure;
mod dynamics;
mod error;
mod force;
mod joint;
mod layout;
mod loops;
mod mechanism;
mod partition;
mod pulse;
mod smooth;
mod system;
mod tangent;
mod tree;

pub use analysis::{
    AnalysisError, Equilibrium, Mode, ModeKind, Modes, PrescribedSample, Stability,
};
pub(crate) use closure::Closure;
pub use closure::{Cut, Row};
pub(crate) use error::write_lines;
pub use error::{MechanismError, MotionError, Part};
pub use force::{
    Control, Inputs, JointMotion, JointSpring, Phase, PointSpring, Signal, Stops, Until,
};
pub use joint::{Axis, Joint};
pub use mechanism::{Coordinate, GROUND, Link, LinkShape, Marker, Mechanism, MechanismErrors};
pub use partition::Partition;
pub use pulse::Pulse;
pub use smooth::{Anchor, SmoothHistory, SmoothReport, SmoothScratch};
pub use system::{CLOSED, Closed, Multibody, MultibodyScratch, MultibodyState};
pub use tangent::PointColumn;
pub use tree::{Spatial, TangentScratch, Tree, TreeScratch};

#[cfg(test)]
mod fixtures;

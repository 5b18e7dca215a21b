//! The whole system at one configuration: free velocities, contacts with their laws, and the contact problem
//! that the schemes hand to a solver.

mod adhesion;
mod bodies;
mod contacts;
pub mod equations;
mod flexible;
mod images;
mod joints;
mod loads;
mod mechanisms;
mod project;
mod rolling;
mod ropes;
mod servos;
mod spin;
mod stabilize;
mod system;
mod warm_start;

pub(crate) use contacts::contact_law;
pub use contacts::{ActiveContact, Contacts, GapRule};
pub(crate) use contacts::{meeting, smaller_size};
pub use images::Moment;
pub use joints::{assemble as assemble_joints, joint_drift, joint_error, joint_wrenches};
pub use project::ProjectionScratch;
pub use rolling::assemble as assemble_rolling;
pub use ropes::{assemble as assemble_ropes, rate as rope_rate};
pub use servos::assemble as assemble_servos;
pub use stabilize::Stabilization;
pub(crate) use system::check_finite;
pub use system::{Interval, System, SystemError};

use crate::friction::ContactProblem;
use crate::scene::{Scene, State};

/// Adds the rows of joints, speed limits of servos, and ropes to the contact problem, after those of contacts.
pub fn assemble_constraints(
    scene: &Scene,
    state: &State,
    system: &mut System,
    gaps: GapRule,
    dt: f64,
    problem: &mut ContactProblem,
) {
    assemble_joints(scene, system, problem);
    assemble_servos(scene, system, problem);
    assemble_ropes(scene, state, system, gaps, dt, problem);
}

#[cfg(test)]
mod tests;

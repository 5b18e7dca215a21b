//! The whole system at one configuration: free velocities, contacts with their laws, and the contact problem
//! that the schemes hand to a solver.

mod contacts;
mod dynamics;
mod joints;
mod mechanisms;
mod rolling;

pub use contacts::{ActiveContact, Contacts};
pub use dynamics::Dynamics;
pub use joints::{joint_drift, joint_error, joint_wrenches};
pub use mechanisms::Mechanisms;

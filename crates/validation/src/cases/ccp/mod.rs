//! Cone complementarity and the scenes of the planar paper on granular chains.

mod particle;
mod pendulums;
mod slope;
mod two_balls;

pub(super) use particle::particle;
pub(super) use pendulums::pendulums;
pub(super) use slope::slope;
pub(super) use two_balls::two_balls;

//! Coupled multibody and granular dynamics with nonsmooth contact.

pub mod detect;
pub mod friction;
pub mod grains;
pub mod math;
pub mod scene;
pub mod shape;

//! Coupled multibody and granular dynamics with nonsmooth contact.

pub mod grains;
pub mod math;
pub mod shape;

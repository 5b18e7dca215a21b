//! A tree of bodies in joint coordinates: poses, velocities, mass matrix, bias, and both directions
//! of the dynamics by recursions over the bodies (Sec. 2.4). This file defines its arrays;
//! `kinematics` and `dynamics` work on them.
//!
//! Everything is expressed in world axes about one reference point `o` near the mechanism.
//! Inertias, forces and accelerations of a branch then simply add up towards the root, no recursion
//! transforms between frames, and a column of any Jacobian takes only a few products from the
//! [`Spatial`] axis of its coordinate.
//!
//! Joints with several coordinates are chains of elementary ones with massless bodies in between; only the spherical
//! joint has three columns at once.

mod dynamics;
mod inertia;
mod kinematics;
mod spatial;
mod tangent;

use crate::math::{Mat3, Vec3};
use inertia::{Articulated, Moments};
pub use spatial::Spatial;
pub use tangent::TangentScratch;

/// No body: the ground, or the end of a list.
pub(super) const NONE: u32 = u32::MAX;

/// The elementary joints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Elementary {
    Revolute,
    Prismatic,
    Spherical,
    Fixed,
}

/// One body and the joint that carries it.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub parent: u32,
    pub joint: Elementary,
    /// First coordinate in `q` and first column in `v`.
    pub q: u32,
    pub column: u32,
    /// Last column on the path from the root to this body, including its own.
    pub last_column: u32,
    /// Rotation of the joint in the parent frame as `turn[0] + turn[1] sin q + turn[2] (1 − cos q)`.
    pub turn: [Mat3; 3],
    /// Whether the joint frame has the axes of the parent frame.
    pub straight: bool,
    /// The coordinate axis of the joint frame along which its axis lies, and its sign.
    pub along: Option<(u8, f64)>,
    /// Position of the joint in the parent frame [m].
    pub place: Vec3,
    /// Its axis in the parent frame.
    pub axis: Vec3,
    pub mass: f64,
    /// Centre of mass in the body frame [m].
    pub centre: Vec3,
    /// Inertia about it [kg m²]; the same as `spin − flat[0] flat[0]ᵀ − flat[1] flat[1]ᵀ`.
    pub inertia: Mat3,
    pub spin: f64,
    pub flat: [Vec3; 2],
    /// Whether the body has neither mass nor inertia.
    pub massless: bool,
}

impl Node {
    /// Number of columns.
    pub fn columns(&self) -> usize {
        match self.joint {
            Elementary::Revolute | Elementary::Prismatic => 1,
            Elementary::Spherical => 3,
            Elementary::Fixed => 0,
        }
    }
}

/// A column of `v`: its body and the preceding column on the path to the root.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub body: u32,
    pub previous: u32,
    /// Its coordinate in `q`, or [`NONE`] for a column of a spherical joint.
    pub q: u32,
}

/// A joint tree, built by [`super::Mechanism::build`].
#[derive(Clone, Debug, Default)]
pub struct Tree {
    pub(super) nodes: Vec<Node>,
    pub(super) columns: Vec<Column>,
    pub(super) n_q: usize,
    /// Base frame in the world.
    pub(super) base_rotation: Mat3,
    pub(super) base_position: Vec3,
    pub(super) gravity: Vec3,
    /// The body that the reference point follows.
    pub(super) first: u32,
}

/// Data of a tree at one configuration and velocity that can be recomputed.
#[derive(Clone, Debug, Default)]
pub struct TreeScratch {
    /// Rotation of each body frame to the world.
    pub(super) rotation: Vec<Mat3>,
    /// Origin of each body frame relative to the reference point [m], in world axes.
    pub(super) arm: Vec<Vec3>,
    /// The reference point in the world [m], and the base frame's origin relative to it.
    pub(super) origin: Vec3,
    root: Vec3,
    /// Motion per unit of each velocity.
    pub(super) columns: Vec<Spatial>,
    /// Twist of each body.
    pub(super) twist: Vec<Spatial>,
    /// Acceleration of each body at constant joint velocities, on a ground that accelerates against
    /// gravity.
    pub(super) bias: Vec<Spatial>,
    /// External wrench on each body; cleared by [`Tree::motion`].
    pub(super) wrench: Vec<Spatial>,
    branch: Vec<Moments>,
    articulated: Vec<Articulated>,
    /// Wrench carried by each joint.
    pub(super) carried: Vec<Spatial>,
    acceleration: Vec<Spatial>,
    pull: Vec<Spatial>,
    inverse_pivot: Vec<f64>,
    share: Vec<f64>,
    /// Mass matrix `M`, full, column-major.
    pub(super) mass: Vec<f64>,
    /// Bias `c`: `M v̇ + c = τ`.
    pub(super) bias_force: Vec<f64>,
}

impl TreeScratch {
    /// Mass matrix `M` at the last evaluation, both triangles, column-major [kg, kg m, kg m²].
    pub fn mass(&self) -> &[f64] {
        &self.mass
    }

    /// Bias `c` at the last evaluation: `M v̇ + c = τ` [N, N m].
    pub fn bias_force(&self) -> &[f64] {
        &self.bias_force
    }
}

impl Tree {
    /// Number of positions.
    pub fn n_q(&self) -> usize {
        self.n_q
    }

    /// Number of velocities.
    pub fn n_v(&self) -> usize {
        self.columns.len()
    }

    /// Buffers of the right size.
    pub fn scratch(&self) -> TreeScratch {
        let (n, m) = (self.nodes.len(), self.columns.len());
        TreeScratch {
            rotation: vec![Mat3::identity(); n],
            arm: vec![Vec3::zeros(); n],
            origin: Vec3::zeros(),
            root: Vec3::zeros(),
            columns: vec![Spatial::default(); m],
            twist: vec![Spatial::default(); n],
            bias: vec![Spatial::default(); n],
            wrench: vec![Spatial::default(); n],
            branch: vec![Moments::default(); n],
            articulated: vec![Articulated::default(); n],
            carried: vec![Spatial::default(); n],
            acceleration: vec![Spatial::default(); n],
            pull: vec![Spatial::default(); m],
            inverse_pivot: vec![0.0; m],
            share: vec![0.0; m],
            mass: vec![0.0; m * m],
            bias_force: vec![0.0; m],
        }
    }

    /// Columns on the path from a body to the root, the outermost first.
    pub(super) fn path(&self, body: u32) -> impl Iterator<Item = usize> + '_ {
        let mut next = if body == NONE { NONE } else { self.nodes[body as usize].last_column };
        std::iter::from_fn(move || {
            if next == NONE {
                return None;
            }
            let c = next as usize;
            next = self.columns[c].previous;
            Some(c)
        })
    }

    /// Point of a body in the world [m]; the ground's frame is the base frame of the mechanism.
    pub(super) fn point(&self, w: &TreeScratch, body: u32, point: &Vec3) -> Vec3 {
        self.arm(w, body, point) + w.origin
    }

    /// The same point relative to the reference point [m].
    pub(super) fn arm(&self, w: &TreeScratch, body: u32, point: &Vec3) -> Vec3 {
        match body {
            NONE => self.base_rotation * point + w.root,
            i => w.rotation[i as usize] * point + w.arm[i as usize],
        }
    }

    /// Rotation of a body frame to the world.
    pub(super) fn rotation(&self, w: &TreeScratch, body: u32) -> Mat3 {
        if body == NONE { self.base_rotation } else { w.rotation[body as usize] }
    }

    /// Twist of a body about the reference point.
    pub(super) fn twist(&self, w: &TreeScratch, body: u32) -> Spatial {
        if body == NONE { Spatial::default() } else { w.twist[body as usize] }
    }

    /// Bias acceleration of a body about the reference point.
    pub(super) fn bias_of(&self, w: &TreeScratch, body: u32) -> Spatial {
        if body == NONE { self.ground_bias() } else { w.bias[body as usize] }
    }

    /// Velocity of a point that moves with a twist [m/s].
    #[inline]
    pub(super) fn velocity_at(twist: &Spatial, arm: &Vec3) -> Vec3 {
        twist.linear + twist.angular.cross(arm)
    }

    /// Acceleration of a point of a body [m/s²] from its spatial acceleration.
    #[inline]
    pub(super) fn acceleration_at(acceleration: &Spatial, twist: &Spatial, arm: &Vec3) -> Vec3 {
        acceleration.linear
            + acceleration.angular.cross(arm)
            + twist.angular.cross(&Self::velocity_at(twist, arm))
    }
}

#[cfg(test)]
mod tests;

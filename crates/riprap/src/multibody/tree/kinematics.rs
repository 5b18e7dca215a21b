//! Positions and velocities of a tree: poses, twists, bias accelerations and the columns of all Jacobians.

use super::{Elementary, NONE, Spatial, Tree, TreeScratch};
use crate::math::{Mat3, Quat, Vec3, sin_cos, turn};

/// A frame turned about its axis `K`, and that axis; `sign` is −1 where the joint turns about the opposite direction.
#[inline]
fn turned<const K: usize>(frame: &Mat3, sign: f64, sin: f64, cos: f64) -> (Mat3, Vec3) {
    let [x, y] = [(K + 1) % 3, (K + 2) % 3].map(|k| frame.column(k).into_owned());
    let mut turned = *frame;
    turned.set_column((K + 1) % 3, &(x * cos + y * (sign * sin)));
    turned.set_column((K + 2) % 3, &(y * cos - x * (sign * sin)));
    (turned, frame.column(K) * sign)
}

impl Tree {
    /// The quaternion of a spherical joint in `q` (x, y, z, w).
    pub(in crate::multibody) fn quaternion(q: &[f64]) -> Quat {
        Quat::new_unchecked(nalgebra::Quaternion::new(q[3], q[0], q[1], q[2]))
    }

    /// Where the origin of the first body is in the world [m]. Moments are taken about it, so that a machine far from the
    /// world's origin loses no digits.
    fn reference(&self, q: &[f64]) -> Vec3 {
        let (mut r, mut p) = (self.base_rotation, self.base_position);
        // The elements of its joint; those that turn come last.
        for node in self.nodes.iter().take(self.first as usize + 1) {
            p += r * node.place;
            if node.joint == Elementary::Prismatic {
                p += r * (node.axis * q[node.q as usize]);
            }
            if !node.straight {
                r *= node.turn[0];
            }
        }
        p
    }

    /// Poses of all bodies at `q`, and the columns of the Jacobians.
    pub fn kinematics(&self, q: &[f64], w: &mut TreeScratch) {
        w.origin = self.reference(q);
        w.root = self.base_position - w.origin;
        let n = self.nodes.len();
        let (rotation, arm) = (&mut w.rotation[..n], &mut w.arm[..n]);
        let columns = &mut w.columns[..self.columns.len()];
        for (i, node) in self.nodes.iter().enumerate() {
            let (r, p) = match node.parent {
                NONE => (&self.base_rotation, &w.root),
                parent => (&rotation[parent as usize], &arm[parent as usize]),
            };
            let (at, c) = (node.q as usize, node.column as usize);
            let mut p = p + r * node.place;
            let frame = if node.straight { *r } else { r * node.turn[0] };
            rotation[i] = match node.joint {
                Elementary::Revolute => {
                    let (sin, cos) = sin_cos(q[at]);
                    let (turned, axis) = match node.along {
                        Some((0, sign)) => turned::<0>(&frame, sign, sin, cos),
                        Some((1, sign)) => turned::<1>(&frame, sign, sin, cos),
                        Some((_, sign)) => turned::<2>(&frame, sign, sin, cos),
                        None => {
                            let [fixed, sine, cosine] = &node.turn;
                            (r * (fixed + sine * sin + cosine * (1.0 - cos)), r * node.axis)
                        }
                    };
                    columns[c] = Spatial { angular: axis, linear: p.cross(&axis) };
                    turned
                }
                Elementary::Prismatic => {
                    let axis = r * node.axis;
                    p += axis * q[at];
                    columns[c] = Spatial { angular: Vec3::zeros(), linear: axis };
                    frame
                }
                Elementary::Spherical => {
                    let turned = Self::quaternion(&q[at..at + 4]).to_rotation_matrix();
                    let turned = frame * turned.matrix();
                    for k in 0..3 {
                        let axis = turned.column(k).into_owned();
                        columns[c + k] = Spatial { angular: axis, linear: p.cross(&axis) };
                    }
                    turned
                }
                Elementary::Fixed => frame,
            };
            arm[i] = p;
        }
    }

    /// Acceleration of the ground that stands for gravity.
    pub(super) fn ground_bias(&self) -> Spatial {
        Spatial { angular: Vec3::zeros(), linear: -self.gravity }
    }

    /// Twists and bias accelerations of all bodies for the velocities `v`, after [`Tree::kinematics`]. Clears the
    /// wrenches from outside.
    pub fn motion(&self, v: &[f64], w: &mut TreeScratch) {
        let ground = self.ground_bias();
        let n = self.nodes.len();
        let (twist, bias, wrench) = (&mut w.twist[..n], &mut w.bias[..n], &mut w.wrench[..n]);
        for (i, node) in self.nodes.iter().enumerate() {
            let (carrier, drift) = match node.parent {
                NONE => (Spatial::default(), ground),
                parent => (twist[parent as usize], bias[parent as usize]),
            };
            let c = node.column as usize;
            let joint = match node.joint {
                Elementary::Revolute | Elementary::Prismatic => w.columns[c] * v[c],
                Elementary::Spherical => {
                    w.columns[c] * v[c] + w.columns[c + 1] * v[c + 1] + w.columns[c + 2] * v[c + 2]
                }
                Elementary::Fixed => Spatial::default(),
            };
            twist[i] = carrier + joint;
            bias[i] = drift + carrier.cross(&joint);
            wrench[i] = Spatial::default();
        }
    }

    /// Moves positions along velocities: `q + h v`, on the unit quaternions where a joint turns freely.
    pub fn integrate(&self, q: &[f64], v: &[f64], dt: f64, out: &mut [f64]) {
        for node in &self.nodes {
            let (at, c) = (node.q as usize, node.column as usize);
            match node.joint {
                Elementary::Revolute | Elementary::Prismatic => out[at] = q[at] + dt * v[c],
                Elementary::Spherical => {
                    let start = Self::quaternion(&q[at..at + 4]);
                    // `turn` takes the angle in the outer frame, the velocity is in the inner one.
                    let angle = start * (Vec3::new(v[c], v[c + 1], v[c + 2]) * dt);
                    let turned = turn(start, angle);
                    out[at..at + 4].copy_from_slice(turned.coords.as_slice());
                }
                Elementary::Fixed => {}
            }
        }
    }
}

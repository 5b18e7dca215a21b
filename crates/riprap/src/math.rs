//! Small linear algebra that every module speaks: vectors, rotations, poses, contact frames.
//!
//! The types are nalgebra's under short names. Frames are suffixes and adjacent letters match:
//! `p_w = pose_wb.point(p_b)`.

use serde::{Deserialize, Serialize};

/// A vector in space.
pub type Vec3 = nalgebra::Vector3<f64>;
/// A 3×3 matrix.
pub type Mat3 = nalgebra::Matrix3<f64>;
/// A unit quaternion: the rotation from a body frame to the world.
pub type Quat = nalgebra::UnitQuaternion<f64>;

/// Position and orientation of a frame `b` in a frame `w`: `p_w = rotation * p_b + position`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pose {
    /// Origin of the frame [m].
    pub position: Vec3,
    /// Orientation of the frame.
    pub rotation: Quat,
}

impl Pose {
    /// The frame of the world itself.
    pub const IDENTITY: Pose = Pose {
        position: Vec3::new(0.0, 0.0, 0.0),
        rotation: Quat::new_unchecked(nalgebra::Quaternion::new(1.0, 0.0, 0.0, 0.0)),
    };

    /// A frame with its origin at `position` [m], not turned.
    pub fn at(position: [f64; 3]) -> Pose {
        Pose { position: Vec3::from(position), ..Pose::IDENTITY }
    }

    /// The same frame turned by `angle` [rad] about `axis` (any length) through its own origin.
    pub fn turned(self, axis: [f64; 3], angle: f64) -> Pose {
        let turn = nalgebra::Unit::try_new(Vec3::from(axis), 0.0)
            .map_or(Quat::identity(), |axis| Quat::from_axis_angle(&axis, angle));
        Pose { rotation: turn * self.rotation, ..self }
    }

    /// Takes a point from the frame to the world.
    pub fn point(&self, p_b: Vec3) -> Vec3 {
        self.rotation * p_b + self.position
    }

    /// Takes a point from the world to the frame.
    pub fn inverse_point(&self, p_w: Vec3) -> Vec3 {
        self.rotation.inverse() * (p_w - self.position)
    }

    /// Takes a direction from the frame to the world.
    pub fn vector(&self, d_b: Vec3) -> Vec3 {
        self.rotation * d_b
    }

    /// Takes a direction from the world to the frame.
    pub fn inverse_vector(&self, d_w: Vec3) -> Vec3 {
        self.rotation.inverse() * d_w
    }

    /// `self` after `other`: the pose in the world of a frame given in this one.
    pub fn compose(&self, other: &Pose) -> Pose {
        Pose { position: self.point(other.position), rotation: self.rotation * other.rotation }
    }
}

/// Turns `rotation` by the rotation vector `angle` [rad], given in the world, and renormalises.
pub fn turn(rotation: Quat, angle: Vec3) -> Quat {
    let mut q = Quat::from_scaled_axis(angle) * rotation;
    q.renormalize();
    q
}

/// Cross-product matrix: `skew(a) * b = a × b`.
pub fn skew(a: Vec3) -> Mat3 {
    Mat3::new(0.0, -a.z, a.y, a.z, 0.0, -a.x, -a.y, a.x, 0.0)
}

/// Completes a unit normal to a right-handed frame `(n, t1, t2)`.
///
/// `t2` follows the coordinate axis to which `n` is most nearly perpendicular, so that in a planar
/// scene (`n` exactly in a coordinate plane) `t2` is exactly that plane's normal.
pub fn tangents(n: Vec3) -> (Vec3, Vec3) {
    let k = n.iamin();
    let mut e = Vec3::zeros();
    e[k] = 1.0;
    let t2 = (e - n * n[k]).normalize();
    (t2.cross(&n), t2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tangents_complete_a_right_handed_frame() {
        for n in [Vec3::x(), -Vec3::y(), Vec3::z(), Vec3::new(0.3, -0.5, 0.8).normalize()] {
            let (t1, t2) = tangents(n);
            assert!((n.cross(&t1) - t2).norm() < 1e-15);
            assert!(t1.dot(&t2).abs() < 1e-15 && (t1.norm() - 1.0).abs() < 1e-15);
        }
    }

    #[test]
    fn a_planar_normal_has_its_second_tangent_exactly_out_of_plane() {
        let (t1, t2) = tangents(Vec3::new(0.6, 0.8, 0.0));
        assert_eq!(t2, Vec3::z());
        assert_eq!(t1.z, 0.0);
    }

    #[test]
    fn a_pose_and_its_inverse_cancel() {
        let pose = Pose::at([1.0, -2.0, 0.5]).turned([1.0, 1.0, 0.3], 0.7);
        let p = Vec3::new(0.1, 0.2, 0.3);
        assert!((pose.inverse_point(pose.point(p)) - p).norm() < 1e-15);
        assert!((pose.compose(&Pose::at([0.1, 0.2, 0.3])).position - pose.point(p)).norm() < 1e-15);
    }
}

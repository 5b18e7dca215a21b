//! Kinds of joints: their axes, the names of their coordinates and the elementary joints that they
//! consist of.

use super::tree::Elementary;
use crate::math::{Mat3, Vec3, tangents};

/// A direction, of any nonzero length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis(pub Vec3);

impl Axis {
    /// Along x.
    pub const X: Axis = Axis(Vec3::new(1.0, 0.0, 0.0));
    /// Along y.
    pub const Y: Axis = Axis(Vec3::new(0.0, 1.0, 0.0));
    /// Along z.
    pub const Z: Axis = Axis(Vec3::new(0.0, 0.0, 1.0));

    /// A frame rotation whose z axis is this one.
    pub fn frame(self) -> Mat3 {
        let z = self.0.normalize();
        let (x, y) = tangents(z);
        Mat3::from_columns(&[x, y, z])
    }
}

impl std::ops::Neg for Axis {
    type Output = Axis;
    fn neg(self) -> Axis {
        Axis(-self.0)
    }
}

impl From<[f64; 3]> for Axis {
    fn from(axis: [f64; 3]) -> Axis {
        Axis(Vec3::from(axis))
    }
}

/// How a body moves relative to its parent. Axes are those of the joint frame.
///
/// ```
/// use riprap::prelude::*;
///
/// // A universal joint between two shafts, and a slide along an axis of its own.
/// let mut m = Mechanism::new("shafts");
/// let rod = MassProperties::rod([1.0, 0.0, 0.0], 2.0);
/// let driving = m.add("driving", GROUND, Joint::Revolute(Axis::X), Pose::IDENTITY, Some(rod));
/// let cross = Joint::Universal(Axis::Y, Axis::Z);
/// let driven = m.add("driven", driving, cross, Pose::at([1.0, 0.0, 0.0]), Some(rod));
/// let along = Joint::Prismatic(Axis::from([1.0, 1.0, 0.0]));
/// m.add("slide", driven, along, Pose::at([1.0, 0.0, 0.0]), Some(MassProperties::point(1.0, [0.0; 3])));
/// m.drive(m.coordinate(driving, 0), JointMotion::constant_speed(0.0, 10.0));
/// assert_eq!(m.coordinate_named("driven.second"), Some(m.coordinate(driven, 1)));
/// assert_eq!(m.build([0.0, 0.0, -9.81])?.n_v(), 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Joint {
    /// Rotates about an axis.
    Revolute(Axis),
    /// Slides along an axis.
    Prismatic(Axis),
    /// Slides along an axis and rotates about it; coordinates `slide`, `turn`.
    Cylindrical(Axis),
    /// Rotates about a first axis, then about a second one that moves with it; coordinates `first`,
    /// `second`.
    Universal(Axis, Axis),
    /// Moves in the plane of two axes and rotates about their normal; coordinates `x`, `y`,
    /// `angle`.
    Planar(Axis, Axis),
    /// Rotates freely about a point: a unit quaternion; velocities are the angular velocity in the
    /// child frame.
    Spherical,
    /// Moves freely; coordinates `x`, `y`, `z` along the parent's axes, then like a spherical
    /// joint.
    Free,
    /// Does not move.
    Fixed,
}

impl Joint {
    /// Suffixes of its coordinate names after the name of the joint; joints with one coordinate
    /// need none.
    pub fn coordinate_names(&self) -> &'static [&'static str] {
        match self {
            Joint::Revolute(_) | Joint::Prismatic(_) => &[""],
            Joint::Cylindrical(_) => &["slide", "turn"],
            Joint::Universal(..) => &["first", "second"],
            Joint::Planar(..) => &["x", "y", "angle"],
            Joint::Spherical => &["wx", "wy", "wz"],
            Joint::Free => &["x", "y", "z", "wx", "wy", "wz"],
            Joint::Fixed => &[],
        }
    }

    /// Name of the kind of joint.
    pub fn word(&self) -> &'static str {
        match self {
            Joint::Revolute(_) => "revolute",
            Joint::Prismatic(_) => "prismatic",
            Joint::Cylindrical(_) => "cylindrical",
            Joint::Universal(..) => "universal",
            Joint::Planar(..) => "planar",
            Joint::Spherical => "spherical",
            Joint::Free => "free",
            Joint::Fixed => "fixed",
        }
    }

    pub(super) fn elements(&self) -> Vec<(Elementary, Axis)> {
        use Elementary::{Fixed, Prismatic, Revolute, Spherical};
        match *self {
            Joint::Revolute(a) => vec![(Revolute, a)],
            Joint::Prismatic(a) => vec![(Prismatic, a)],
            Joint::Cylindrical(a) => vec![(Prismatic, a), (Revolute, a)],
            Joint::Universal(a, b) => vec![(Revolute, a), (Revolute, b)],
            Joint::Planar(x, y) => {
                vec![(Prismatic, x), (Prismatic, y), (Revolute, Axis(x.0.cross(&y.0)))]
            }
            Joint::Spherical => vec![(Spherical, Axis::Z)],
            Joint::Free => vec![
                (Prismatic, Axis::X),
                (Prismatic, Axis::Y),
                (Prismatic, Axis::Z),
                (Spherical, Axis::Z),
            ],
            Joint::Fixed => vec![(Fixed, Axis::Z)],
        }
    }

    /// Whether one of its coordinates is an angle in radians.
    pub(super) fn is_angle(&self, k: usize) -> bool {
        match self {
            Joint::Prismatic(_) => false,
            Joint::Cylindrical(_) => k == 1,
            Joint::Planar(..) => k == 2,
            Joint::Free => k >= 3,
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::fixtures::{seeded, vector};
    use crate::multibody::fixtures::joint;

    #[test]
    fn every_coordinate_of_a_joint_has_a_name_and_a_kind() {
        let mut rng = seeded(1);
        for kind in 0..8 {
            let joint = joint(&mut rng, kind);
            let columns = |e: &Elementary| match e {
                Elementary::Fixed => 0,
                Elementary::Spherical => 3,
                Elementary::Revolute | Elementary::Prismatic => 1,
            };
            let elements = joint.elements();
            let n: usize = elements.iter().map(|(e, _)| columns(e)).sum();
            assert_eq!(n, joint.coordinate_names().len(), "{}", joint.word());
            // Angles are the coordinates of rotating elements, in order.
            let angles = elements
                .iter()
                .flat_map(|(e, _)| std::iter::repeat_n(*e != Elementary::Prismatic, columns(e)));
            for (k, angle) in angles.enumerate() {
                assert_eq!(joint.is_angle(k), angle, "{} {k}", joint.word());
            }
        }
    }

    #[test]
    fn the_frame_of_an_axis_is_right_handed_with_z_along_it() {
        let mut rng = seeded(2);
        for _ in 0..50 {
            let axis = Axis(vector(&mut rng, 3.0));
            let frame = axis.frame();
            assert!((frame.column(2) - axis.0.normalize()).norm() < 1e-15);
            assert!((frame.transpose() * frame - Mat3::identity()).norm() < 1e-14);
            assert!((frame.determinant() - 1.0).abs() < 1e-14);
            assert_eq!((-axis).0, axis.0 * -1.0);
        }
        assert_eq!(Axis::from([0.0, 1.0, 0.0]), Axis::Y);
    }
}

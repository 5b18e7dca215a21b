//! Small linear algebra used by every module: vectors, rotations, poses, contact frames.
//!
//! The types are nalgebra's under short names. Frames are suffixes and adjacent letters match:
//! `p_w = pose_wb.point(p_b)`.

pub mod dense;
mod lattice;
pub(crate) mod parallel;
mod scratch;
pub mod tridiagonal;

pub use lattice::Lattice;
pub use scratch::{Buffers, Scratch};

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

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
    #[serde(deserialize_with = "unit")]
    pub rotation: Quat,
}

/// Reads a rotation, without changing its last bits. A damaged file may contain anything.
fn unit<'de, D: Deserializer<'de>>(from: D) -> Result<Quat, D::Error> {
    let rotation = Quat::deserialize(from)?;
    // NaN must not pass.
    match (rotation.norm_squared() - 1.0).abs() < 1e-6 {
        true => Ok(rotation),
        false => Err(D::Error::custom("a rotation is not a unit quaternion")),
    }
}

impl Pose {
    /// The world frame itself.
    pub const IDENTITY: Pose = Pose {
        position: Vec3::new(0.0, 0.0, 0.0),
        rotation: Quat::new_unchecked(nalgebra::Quaternion::new(1.0, 0.0, 0.0, 0.0)),
    };

    /// A frame with its origin at `position` [m], not rotated.
    pub fn at(position: [f64; 3]) -> Pose {
        Pose { position: Vec3::from(position), ..Pose::IDENTITY }
    }

    /// The same frame rotated by `angle` [rad] about the world axis `axis` (any length) through its
    /// own origin.
    pub fn turned(self, axis: [f64; 3], angle: f64) -> Pose {
        let turn = nalgebra::Unit::try_new(Vec3::from(axis), 0.0)
            .map_or(Quat::identity(), |axis| Quat::from_axis_angle(&axis, angle));
        Pose { rotation: turn * self.rotation, ..self }
    }

    /// Transforms a point from the frame to the world.
    pub fn point(&self, p_b: Vec3) -> Vec3 {
        self.rotation * p_b + self.position
    }

    /// Transforms a point from the world to the frame.
    pub fn inverse_point(&self, p_w: Vec3) -> Vec3 {
        self.rotation.inverse() * (p_w - self.position)
    }

    /// Transforms a direction from the frame to the world.
    pub fn vector(&self, d_b: Vec3) -> Vec3 {
        self.rotation * d_b
    }

    /// Transforms a direction from the world to the frame.
    pub fn inverse_vector(&self, d_w: Vec3) -> Vec3 {
        self.rotation.inverse() * d_w
    }

    /// `self` after `other`: the pose in the world of a frame given in this one.
    pub fn compose(&self, other: &Pose) -> Pose {
        Pose { position: self.point(other.position), rotation: self.rotation * other.rotation }
    }
}

impl Default for Pose {
    fn default() -> Pose {
        Pose::IDENTITY
    }
}

/// Velocity of a rigid body, in the world frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Twist {
    /// Velocity of the centre of mass [m/s].
    pub linear: Vec3,
    /// Angular velocity [rad/s].
    pub angular: Vec3,
}

/// Rotates `rotation` by the rotation vector `angle` [rad], given in the world frame, and
/// renormalizes.
///
/// Uses only `+ − × ÷ √`, so that it is bitwise reproducible on every machine.
pub fn turn(rotation: Quat, angle: Vec3) -> Quat {
    // exp(angle / 2) by its series for a fraction of the angle below 1/2 rad, then squared as often
    // as needed.
    let mut half = angle * 0.5;
    let mut squarings = 0;
    while half.norm_squared() > 0.25 && squarings < 64 {
        half *= 0.5;
        squarings += 1;
    }
    let x = half.norm_squared();
    let (mut cos, mut sinc, mut term) = (1.0, 1.0, 1.0);
    for k in 1..10 {
        let k = f64::from(k);
        term *= -x / ((2.0 * k - 1.0) * (2.0 * k));
        cos += term;
        sinc += term / (2.0 * k + 1.0);
    }
    let v = half * sinc;
    let mut exp = nalgebra::Quaternion::new(cos, v.x, v.y, v.z);
    for _ in 0..squarings {
        exp *= exp;
    }
    Quat::from_quaternion(exp * rotation.into_inner())
}

/// Sine and cosine of an angle [rad], accurate to almost the last digit: series on an eighth of a
/// turn.
///
/// Up to 1e5 rad it uses only `+ − ×`, so that it is bitwise reproducible on every machine, and it
/// is several times as fast as the system's.
#[inline]
pub fn sin_cos(x: f64) -> (f64, f64) {
    use std::f64::consts::FRAC_2_PI;
    // π/2 as a 33-bit number, whose multiples are exact, and the remainder.
    const HIGH: f64 = 1.570_796_326_734_125_6;
    const LOW: f64 = 6.077_100_506_506_192e-11;
    // Adding 1.5 × 2⁵² rounds to an integer and leaves it in the lowest bits.
    const ROUND: f64 = 6_755_399_441_055_744.0;
    if x.is_nan() || x.abs() > 1e5 {
        return x.sin_cos();
    }
    let shifted = x * FRAC_2_PI + ROUND;
    let quarter = shifted.to_bits();
    let turns = shifted - ROUND;
    let y = (x - turns * HIGH) - turns * LOW;

    // Taylor series up to y¹⁷ and y¹⁶: the remainder is below 1e-18 for |y| ≤ π/4.
    let (z, z2) = (y * y, (y * y) * (y * y));
    let z4 = z2 * z2;
    let odd = (-1.0 / 6.0 + z * (1.0 / 120.0))
        + z2 * (-1.0 / 5040.0 + z * (1.0 / 362_880.0))
        + z4 * ((-1.0 / 39_916_800.0 + z * (1.0 / 6_227_020_800.0))
            + z2 * (-1.0 / 1_307_674_368_000.0 + z * (1.0 / 355_687_428_096_000.0)));
    let even = (1.0 / 24.0 + z * (-1.0 / 720.0))
        + z2 * (1.0 / 40_320.0 + z * (-1.0 / 3_628_800.0))
        + z4 * ((1.0 / 479_001_600.0 + z * (-1.0 / 87_178_291_200.0))
            + z2 * (1.0 / 20_922_789_888_000.0));
    let sin = y + y * z * odd;
    // The rounding error of 1 − z/2 is added back.
    let half = 0.5 * z;
    let near = 1.0 - half;
    let cos = near + (((1.0 - near) - half) + z2 * even);

    // Quarter turns exchange the two and change signs.
    let (a, b) = if quarter & 1 == 0 { (sin, cos) } else { (cos, sin) };
    let signed = |x: f64, negative: u64| f64::from_bits(x.to_bits() ^ (negative << 63));
    (signed(a, (quarter >> 1) & 1), signed(b, ((quarter + 1) >> 1) & 1))
}

/// Length of a planar vector (the system's `hypot` is slower and differs between machines).
#[inline]
pub fn length2(x: f64, y: f64) -> f64 {
    (x * x + y * y).sqrt()
}

/// Cube root of a positive number.
pub fn cbrt(x: f64) -> f64 {
    if !x.is_normal() || x < 0.0 {
        return x;
    }
    // Scale x into [1/8, 1], where seven Newton steps from a straight line reach the last digit.
    let (mut x, mut scale) = (x, 1.0);
    while x > 1.0 {
        x *= 0.125;
        scale *= 2.0;
    }
    while x < 0.125 {
        x *= 8.0;
        scale *= 0.5;
    }
    let start = 0.5 + (x - 0.125) * (4.0 / 7.0);
    scale * (0..7).fold(start, |y, _| (2.0 * y + x / (y * y)) / 3.0)
}

/// Completes a unit normal to a right-handed frame `(n, t1, t2)`.
///
/// `t2` follows the coordinate axis to which `n` is most nearly perpendicular, so that in a planar
/// scene (`n` exactly in a coordinate plane) `t2` is exactly that plane's normal.
#[inline(always)]
pub fn tangents(n: Vec3) -> (Vec3, Vec3) {
    let k = n.iamin();
    let mut e = Vec3::zeros();
    e[k] = 1.0;
    let t2 = (e - n * n[k]).normalize();
    (t2.cross(&n), t2)
}

/// Bytes allocated for a buffer, used or not.
pub(crate) fn bytes_of<T>(buffer: &Vec<T>) -> usize {
    buffer.capacity() * std::mem::size_of::<T>()
}

/// Prefetches the memory of `value`. Does nothing on processors without such an instruction.
#[inline(always)]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint that reads nothing and cannot fail, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}

/// Makes room for `more` items, plus a sixteenth when a list grows: it is seldom reallocated and
/// wastes little memory. `Vec` itself doubles its capacity.
pub(crate) fn make_room<T>(buffer: &mut Vec<T>, more: usize) {
    let needed = buffer.len() + more;
    if needed > buffer.capacity() {
        let beyond = if buffer.capacity() == 0 { 0 } else { needed / 16 };
        buffer.reserve_exact(more + beyond);
    }
}

#[cfg(test)]
pub(crate) mod fixtures;

#[cfg(test)]
mod tests {
    use super::fixtures::*;
    use super::*;

    #[test]
    fn sines_and_cosines_agree_with_those_of_the_system() {
        let mut x = 1e-9;
        while x < 2e5 {
            for x in [x, -x] {
                let (sin, cos) = sin_cos(x);
                let (s, c) = x.sin_cos();
                // One unit in the last place of numbers below 1, and in that of small ones.
                assert!((sin - s).abs() <= 1.2e-16_f64.min(2.3e-16 * s.abs().max(1e-9)), "{x}");
                assert!((cos - c).abs() <= 1.2e-16, "{x}: {cos} {c}");
            }
            x *= 1.0037;
        }
        let quarter = std::f64::consts::FRAC_PI_2;
        for k in -40..40 {
            let (sin, cos) = sin_cos(f64::from(k) * quarter);
            let (s, c) = (f64::from(k) * quarter).sin_cos();
            assert!((sin - s).abs() < 1e-16 && (cos - c).abs() < 1e-16, "{k}");
        }
        assert_eq!(sin_cos(0.0), (0.0, 1.0));
        assert!(sin_cos(f64::NAN).0.is_nan() && sin_cos(f64::INFINITY).1.is_nan());
    }

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
    fn turning_agrees_with_the_exponential_for_small_and_large_angles() {
        let start = Quat::from_scaled_axis(Vec3::new(0.3, -0.2, 0.9));
        for size in [0.0, 1e-9, 1e-3, 0.5, 1.1, 3.0, 20.0] {
            let angle = Vec3::new(2.0, -1.0, 0.5).normalize() * size;
            let exact = Quat::from_scaled_axis(angle) * start;
            assert!((turn(start, angle).coords - exact.coords).norm() < 1e-14);
        }
    }

    #[test]
    fn a_pose_and_its_inverse_cancel() {
        let pose = Pose::at([1.0, -2.0, 0.5]).turned([1.0, 1.0, 0.3], 0.7);
        let p = Vec3::new(0.1, 0.2, 0.3);
        assert!((pose.inverse_point(pose.point(p)) - p).norm() < 1e-15);
        assert!((pose.compose(&Pose::at([0.1, 0.2, 0.3])).position - pose.point(p)).norm() < 1e-15);
    }

    #[test]
    fn any_unit_normal_gets_a_right_handed_frame_that_follows_a_coordinate_axis() {
        let mut rng = seeded(141);
        for _ in 0..500 {
            let n = vector(&mut rng, 1.0).normalize();
            let (t1, t2) = tangents(n);
            let frame = Mat3::from_columns(&[n, t1, t2]);
            assert!((frame.transpose() * frame - Mat3::identity()).norm() < 1e-14);
            assert!((frame.determinant() - 1.0).abs() < 1e-14, "right-handed");
            // The coordinate axis most nearly perpendicular to n, n and t2 lie in one plane.
            let mut axis = Vec3::zeros();
            axis[n.iamin()] = 1.0;
            assert!(t1.dot(&axis).abs() < 1e-15 && t2.dot(&axis) > 0.8);
        }
    }

    #[test]
    fn rotations_about_one_axis_add_up_and_opposite_rotations_cancel() {
        let mut rng = seeded(142);
        for _ in 0..100 {
            let (start, angle) = (rotation(&mut rng), vector(&mut rng, 6.0));
            let there = turn(start, angle);
            assert!((there.norm() - 1.0).abs() < 1e-15 * 2.0);
            let back = turn(there, -angle);
            assert!((back.coords - start.coords).norm() < 1e-14);
            let twice = turn(turn(start, angle * 0.25), angle * 0.75);
            assert!((twice.coords - there.coords).norm() < 1e-14);
        }
        let start = rotation(&mut rng);
        assert!((turn(start, Vec3::zeros()).coords - start.coords).norm() < 1e-15);
        // For small angles: the rate of the rotation is that of the vector.
        let omega = Vec3::new(0.3, -0.5, 0.2);
        let h = 1e-6;
        let rate = |p: Vec3| (turn(start, omega * h) * p - turn(start, omega * -h) * p) / (2.0 * h);
        let p = Vec3::new(0.1, 0.7, -0.4);
        assert!((rate(p) - omega.cross(&(start * p))).norm() < 1e-9);
    }

    #[test]
    fn poses_form_a_group() {
        let mut rng = seeded(143);
        for _ in 0..50 {
            let [a, b, c] = std::array::from_fn(|_| pose(&mut rng, 2.0));
            let p = vector(&mut rng, 1.0);
            let apart = |x: Pose, y: Pose| (x.point(p) - y.point(p)).norm();
            assert!(apart(a.compose(&b).compose(&c), a.compose(&b.compose(&c))) < 1e-14);
            assert!((a.compose(&b).point(p) - a.point(b.point(p))).norm() < 1e-14);
            assert!(apart(a.compose(&Pose::IDENTITY), a) < 1e-15);
            assert!(apart(Pose::default().compose(&a), a) < 1e-15);
            // Directions do not depend on the origin; points do.
            assert!((a.vector(p) - (a.point(p) - a.position)).norm() < 1e-14);
            assert!((a.inverse_vector(a.vector(p)) - p).norm() < 1e-14);
            assert!((a.inverse_point(a.point(p)) - p).norm() < 1e-14);
        }
    }

    #[test]
    fn a_rotated_pose_keeps_its_origin_and_a_zero_axis_rotates_nothing() {
        let pose = Pose::at([1.0, 2.0, 3.0]);
        let turned = pose.turned([0.0, 0.0, 5.0], std::f64::consts::FRAC_PI_2);
        assert_eq!(turned.position, pose.position);
        assert!((turned.vector(Vec3::x()) - Vec3::y()).norm() < 1e-15);
        assert_eq!(pose.turned([0.0; 3], 1.0), pose);
    }

    #[test]
    fn cube_roots_and_lengths_are_accurate_to_the_last_digits_at_all_magnitudes() {
        let mut x = 1e-300;
        while x < 1e300 {
            let root = cbrt(x);
            assert!((root / x.cbrt() - 1.0).abs() < 1e-15, "{x}");
            x *= 7.3;
        }
        assert_eq!((cbrt(27.0), cbrt(1.0), cbrt(0.125)), (3.0, 1.0, 0.5));
        // Arguments without a cube root here are returned unchanged.
        assert_eq!((cbrt(0.0), cbrt(-8.0), cbrt(f64::INFINITY)), (0.0, -8.0, f64::INFINITY));
        assert_eq!(length2(3.0, -4.0), 5.0);
    }

    #[test]
    fn sine_and_cosine_lie_on_the_unit_circle_and_satisfy_the_addition_theorem() {
        let mut rng = seeded(144);
        for _ in 0..2000 {
            let [a, b] = [0, 1].map(|_| vector(&mut rng, 50.0).x);
            let ((sa, ca), (sb, cb)) = (sin_cos(a), sin_cos(b));
            assert!((sa * sa + ca * ca - 1.0).abs() < 4e-16);
            let (s, c) = sin_cos(a + b);
            // a + b itself is rounded to 1e-14.
            assert!((s - (sa * cb + ca * sb)).abs() < 2e-14);
            assert!((c - (ca * cb - sa * sb)).abs() < 2e-14);
            assert_eq!(sin_cos(-a), (-sa, ca), "odd and even");
        }
    }

    #[test]
    fn lists_grow_by_what_they_need_plus_a_little() {
        let mut list: Vec<u64> = Vec::new();
        make_room(&mut list, 1000);
        assert_eq!(list.capacity(), 1000, "exact the first time");
        list.resize(1000, 0);
        make_room(&mut list, 0);
        assert_eq!(list.capacity(), 1000);
        make_room(&mut list, 600);
        assert_eq!(list.capacity(), 1700, "a sixteenth beyond 1600");
        assert_eq!(bytes_of(&list), 8 * 1700);
    }
}

//! Twists, accelerations and wrenches: six numbers about the reference point of a tree.

use crate::math::Vec3;

/// A twist, its time derivative, or a wrench, about the reference point: angular part (or moment) and linear part (or
/// force).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spatial {
    /// Angular velocity or acceleration [rad/s, rad/s²], or moment about the reference point [N m].
    pub angular: Vec3,
    /// Velocity or acceleration of the point of the body at the reference point [m/s, m/s²], or force [N].
    pub linear: Vec3,
}

impl Spatial {
    /// A twist on a wrench, or the other way round: power.
    #[inline]
    pub fn dot(&self, other: &Spatial) -> f64 {
        self.angular.dot(&other.angular) + self.linear.dot(&other.linear)
    }

    /// The rate of a motion that is carried along by this twist.
    #[inline]
    pub(super) fn cross(&self, motion: &Spatial) -> Spatial {
        Spatial {
            angular: self.angular.cross(&motion.angular),
            linear: self.angular.cross(&motion.linear) + self.linear.cross(&motion.angular),
        }
    }

    /// Its six numbers, angular part first.
    #[inline]
    pub(super) fn array(&self) -> [f64; 6] {
        let (a, l) = (&self.angular, &self.linear);
        [a.x, a.y, a.z, l.x, l.y, l.z]
    }
}

impl From<[f64; 6]> for Spatial {
    #[inline]
    fn from([ax, ay, az, lx, ly, lz]: [f64; 6]) -> Spatial {
        Spatial { angular: Vec3::new(ax, ay, az), linear: Vec3::new(lx, ly, lz) }
    }
}

impl std::ops::AddAssign for Spatial {
    #[inline]
    fn add_assign(&mut self, other: Spatial) {
        self.angular += other.angular;
        self.linear += other.linear;
    }
}

impl std::ops::SubAssign for Spatial {
    #[inline]
    fn sub_assign(&mut self, other: Spatial) {
        self.angular -= other.angular;
        self.linear -= other.linear;
    }
}

impl std::ops::Add for Spatial {
    type Output = Spatial;
    #[inline]
    fn add(mut self, other: Spatial) -> Spatial {
        self += other;
        self
    }
}

impl std::ops::Sub for Spatial {
    type Output = Spatial;
    #[inline]
    fn sub(mut self, other: Spatial) -> Spatial {
        self -= other;
        self
    }
}

impl std::ops::Mul<f64> for Spatial {
    type Output = Spatial;
    #[inline]
    fn mul(self, factor: f64) -> Spatial {
        Spatial { angular: self.angular * factor, linear: self.linear * factor }
    }
}

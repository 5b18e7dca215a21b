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
    /// The product of a twist and a wrench: power.
    #[inline]
    pub fn dot(&self, other: &Spatial) -> f64 {
        self.angular.dot(&other.angular) + self.linear.dot(&other.linear)
    }

    /// The rate of change of a motion that is carried along by this twist.
    #[inline]
    pub(super) fn cross(&self, motion: &Spatial) -> Spatial {
        Spatial {
            angular: self.angular.cross(&motion.angular),
            linear: self.angular.cross(&motion.linear) + self.linear.cross(&motion.angular),
        }
    }

    /// The rate of change of a wrench that is carried along by this twist.
    #[inline]
    pub(super) fn cross_force(&self, wrench: &Spatial) -> Spatial {
        Spatial {
            angular: self.angular.cross(&wrench.angular) + self.linear.cross(&wrench.linear),
            linear: self.angular.cross(&wrench.linear),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::fixtures::{Rng, seeded, vector};

    fn random(rng: &mut Rng) -> Spatial {
        Spatial { angular: vector(rng, 2.0), linear: vector(rng, 2.0) }
    }

    fn size(x: &Spatial) -> f64 {
        x.angular.amax().max(x.linear.amax())
    }

    #[test]
    fn arithmetic_acts_on_six_numbers() {
        let mut rng = seeded(1);
        let (a, b) = (random(&mut rng), random(&mut rng));
        let six = |f: &dyn Fn(f64, f64) -> f64| {
            let (x, y) = (a.array(), b.array());
            Spatial::from(std::array::from_fn::<f64, 6, _>(|k| f(x[k], y[k])))
        };
        assert_eq!(a + b, six(&|x, y| x + y));
        assert_eq!(a - b, six(&|x, y| x - y));
        assert_eq!(a * 3.0, six(&|x, _| 3.0 * x));
        let mut sum = a;
        sum += b;
        sum -= b;
        assert!(size(&(sum - a)) < 1e-15);
        let product: f64 = a.array().iter().zip(b.array()).map(|(x, y)| x * y).sum();
        assert!((a.dot(&b) - product).abs() < 1e-15 * 24.0);
    }

    #[test]
    fn the_cross_product_of_motions_is_that_of_a_lie_algebra() {
        let mut rng = seeded(2);
        for _ in 0..50 {
            let [a, b, c] = std::array::from_fn(|_| random(&mut rng));
            assert!(size(&(a.cross(&b) + b.cross(&a))) < 1e-14, "antisymmetric");
            let jacobi = a.cross(&b.cross(&c)) + b.cross(&c.cross(&a)) + c.cross(&a.cross(&b));
            assert!(size(&jacobi) < 1e-13, "Jacobi's identity: {jacobi:?}");
        }
    }

    #[test]
    fn power_does_not_depend_on_the_reference_point() {
        let mut rng = seeded(3);
        for _ in 0..50 {
            let (twist, wrench, shift) =
                (random(&mut rng), random(&mut rng), vector(&mut rng, 5.0));
            // The same motion and the same forces about a point displaced by `shift`.
            let moved_twist =
                Spatial { linear: twist.linear + twist.angular.cross(&shift), ..twist };
            let moved_wrench =
                Spatial { angular: wrench.angular - shift.cross(&wrench.linear), ..wrench };
            assert!((twist.dot(&wrench) - moved_twist.dot(&moved_wrench)).abs() < 1e-13);
        }
    }
}

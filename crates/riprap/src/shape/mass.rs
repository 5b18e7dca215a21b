//! Mass, centre of mass and inertia tensor, their sums, and their transformation between frames.

use super::ShapeError;
use crate::math::{Mat3, Pose, Vec3};

/// Mass, centre of mass and inertia of a rigid body, in the body frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Mass [kg].
    pub mass: f64,
    /// Centre of mass [m].
    pub centre: Vec3,
    /// Inertia tensor about the centre of mass [kg m²].
    pub inertia: Mat3,
}

impl MassProperties {
    /// A point mass [kg] at a position [m].
    pub fn point(mass: f64, at: [f64; 3]) -> MassProperties {
        MassProperties { mass, centre: Vec3::from(at), inertia: Mat3::zeros() }
    }

    /// A thin straight rod of the given mass [kg] from the origin to `end` [m].
    pub fn rod(end: [f64; 3], mass: f64) -> MassProperties {
        let end = Vec3::from(end);
        let inertia =
            (Mat3::identity() * end.norm_squared() - end * end.transpose()) * (mass / 12.0);
        MassProperties { mass, centre: end * 0.5, inertia }
    }

    /// A body from its mass [kg], centre of mass [m] and principal moments of inertia about it
    /// along the axes of the frame [kg m²].
    pub fn principal(mass: f64, centre: [f64; 3], moments: [f64; 3]) -> MassProperties {
        let inertia = Mat3::from_diagonal(&Vec3::from(moments));
        MassProperties { mass, centre: Vec3::from(centre), inertia }
    }

    /// A ball around the origin.
    pub(super) fn sphere(radius: f64, density: f64) -> MassProperties {
        let mass = density * 4.0 / 3.0 * std::f64::consts::PI * radius.powi(3);
        let inertia = Mat3::identity() * (0.4 * mass * radius * radius);
        MassProperties { mass, centre: Vec3::zeros(), inertia }
    }

    /// A cylinder around the z axis, centred at the origin.
    pub(super) fn cylinder(radius: f64, height: f64, density: f64) -> MassProperties {
        let mass = density * std::f64::consts::PI * radius * radius * height;
        let across = mass * (3.0 * radius * radius + height * height) / 12.0;
        let along = 0.5 * mass * radius * radius;
        let inertia = Mat3::from_diagonal(&Vec3::new(across, across, along));
        MassProperties { mass, centre: Vec3::zeros(), inertia }
    }

    /// The solid inside a closed surface of outward triangles, with density 1 kg/m³, exact: the sum
    /// over the signed tetrahedra between a point of the solid and each triangle.
    pub(super) fn of_surface(triangles: impl Iterator<Item = [Vec3; 3]> + Clone) -> MassProperties {
        // Moments are taken about a point nearby, so that no digits are lost far from the origin.
        let about = triangles.clone().next().map_or(Vec3::zeros(), |[a, _, _]| a);
        let (mut volume, mut first, mut second) = (0.0, Vec3::zeros(), Mat3::zeros());
        for [a, b, c] in triangles {
            let (a, b, c) = (a - about, b - about, c - about);
            let v = a.dot(&b.cross(&c)) / 6.0;
            let s = a + b + c;
            volume += v;
            first += s * (v / 4.0);
            second +=
                (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose())
                    * (v / 20.0);
        }
        let centre = first / volume;
        second -= centre * centre.transpose() * volume;
        let inertia = Mat3::identity() * second.trace() - second;
        MassProperties { mass: volume, centre: centre + about, inertia }
    }

    /// The same body with its density multiplied by `factor`.
    pub fn scaled(&self, factor: f64) -> MassProperties {
        MassProperties {
            mass: self.mass * factor,
            centre: self.centre,
            inertia: self.inertia * factor,
        }
    }

    /// The same body seen from the frame in which its own frame has the given pose.
    pub fn moved(&self, pose: &Pose) -> MassProperties {
        let r = pose.rotation.to_rotation_matrix();
        let inertia = r.matrix() * self.inertia * r.matrix().transpose();
        MassProperties { mass: self.mass, centre: pose.point(self.centre), inertia }
    }

    /// Several bodies combined into one (parallel-axis theorem). Fails on the first error, or if
    /// there is no mass.
    pub fn sum(
        parts: impl Iterator<Item = Result<MassProperties, ShapeError>>,
    ) -> Result<MassProperties, ShapeError> {
        let parts = parts.collect::<Result<Vec<_>, _>>()?;
        let mass: f64 = parts.iter().map(|p| p.mass).sum();
        if mass.partial_cmp(&0.0) != Some(std::cmp::Ordering::Greater) {
            return Err(ShapeError::BadCompound);
        }
        let centre = parts.iter().map(|p| p.centre * p.mass).sum::<Vec3>() / mass;
        let inertia = parts.iter().map(|p| p.inertia_about(centre)).sum();
        Ok(MassProperties { mass, centre, inertia })
    }

    /// Inertia tensor about another point of the body frame [kg m²].
    pub fn inertia_about(&self, point: Vec3) -> Mat3 {
        let d = self.centre - point;
        self.inertia + (Mat3::identity() * d.norm_squared() - d * d.transpose()) * self.mass
    }
}

#[cfg(test)]
mod tests {
    use super::super::Polyhedron;
    use super::super::fixtures::{moments, stone};
    use super::*;
    use crate::math::fixtures::{pose, seeded, vector};

    fn close(a: &MassProperties, b: &MassProperties, tolerance: f64) {
        let size = a.inertia.norm() + a.mass;
        assert!((a.mass - b.mass).abs() < tolerance * size, "{} {}", a.mass, b.mass);
        assert!((a.centre - b.centre).norm() < tolerance * size, "{} {}", a.centre, b.centre);
        assert!((a.inertia - b.inertia).norm() < tolerance * size, "{} {}", a.inertia, b.inertia);
    }

    #[test]
    fn the_mass_of_a_polyhedron_agrees_with_quadrature_over_tetrahedra() {
        let mut rng = seeded(51);
        for n in [4, 6, 10, 30, 80] {
            let p = stone(&mut rng, n);
            let (volume, first, second) = moments(&p);
            let centre = first / volume;
            let about = second - centre * centre.transpose() * volume;
            let inertia = Mat3::identity() * about.trace() - about;
            close(p.unit_mass(), &MassProperties { mass: volume, centre, inertia }, 1e-13);
        }
    }

    #[test]
    fn moving_a_body_moves_its_centre_and_rotates_its_inertia() {
        let mut rng = seeded(52);
        for _ in 0..20 {
            let (p, pose) = (stone(&mut rng, 20), pose(&mut rng, 3.0));
            let moved: Vec<Vec3> = p.vertices().iter().map(|v| pose.point(*v)).collect();
            let moved = Polyhedron::from_points(&moved).unwrap();
            close(moved.unit_mass(), &p.unit_mass().moved(&pose), 1e-12);
        }
    }

    #[test]
    fn scaling_a_body_by_s_scales_mass_by_s3_and_inertia_by_s5() {
        let mut rng = seeded(53);
        let p = stone(&mut rng, 25);
        for s in [1e-3, 0.5, 40.0] {
            let scaled: Vec<Vec3> = p.vertices().iter().map(|v| v * s).collect();
            let m = *Polyhedron::from_points(&scaled).unwrap().unit_mass();
            let unit = p.unit_mass();
            assert!((m.mass / (unit.mass * s.powi(3)) - 1.0).abs() < 1e-12);
            assert!((m.centre / s - unit.centre).norm() < 1e-12);
            assert!((m.inertia / s.powi(5) - unit.inertia).norm() < 1e-12);
        }
        let dense = p.unit_mass().scaled(2700.0);
        assert_eq!((dense.mass, dense.centre), (2700.0 * p.unit_mass().mass, p.centre()));
    }

    #[test]
    fn no_principal_moment_exceeds_the_sum_of_the_others() {
        let mut rng = seeded(54);
        for n in 4..40 {
            let moments = stone(&mut rng, n).unit_mass().inertia.symmetric_eigenvalues();
            assert!(moments.min() > 0.0 && 2.0 * moments.max() < moments.sum());
        }
    }

    #[test]
    fn about_another_point_inertia_grows_by_mass_times_distance_squared() {
        let mut rng = seeded(55);
        let m = *stone(&mut rng, 15).unit_mass();
        for _ in 0..20 {
            let (point, axis) = (vector(&mut rng, 3.0), vector(&mut rng, 1.0).normalize());
            let about = |tensor: &Mat3| axis.dot(&(tensor * axis));
            // The distance of the centre from the axis through the point.
            let d2 = (m.centre - point).cross(&axis).norm_squared();
            let grown = about(&m.inertia_about(point)) - about(&m.inertia);
            assert!((grown - m.mass * d2).abs() < 1e-13 * (1.0 + m.mass * d2));
        }
        assert_eq!(m.inertia_about(m.centre), m.inertia);
    }

    #[test]
    fn two_points_form_a_dumbbell_and_any_order_gives_the_same_sum() {
        let parts =
            [MassProperties::point(1.0, [0.0; 3]), MassProperties::point(3.0, [0.0, 2.0, 0.0])];
        let both = MassProperties::sum(parts.into_iter().map(Ok)).unwrap();
        assert_eq!((both.mass, both.centre), (4.0, Vec3::new(0.0, 1.5, 0.0)));
        // The reduced mass 3/4 kg at a distance of 2 m.
        let expected = Mat3::from_diagonal(&Vec3::new(3.0, 0.0, 3.0));
        assert!((both.inertia - expected).norm() < 1e-15);

        let mut rng = seeded(56);
        let parts: Vec<_> = (0..5).map(|_| *stone(&mut rng, 9).unit_mass()).collect();
        let forth = MassProperties::sum(parts.iter().copied().map(Ok)).unwrap();
        let back = MassProperties::sum(parts.iter().rev().copied().map(Ok)).unwrap();
        close(&forth, &back, 1e-14);
        let head = MassProperties::sum(parts[..2].iter().copied().map(Ok)).unwrap();
        let nested =
            MassProperties::sum([head].iter().chain(&parts[2..]).copied().map(Ok)).unwrap();
        close(&forth, &nested, 1e-13);
    }

    #[test]
    fn a_sum_without_mass_or_with_an_error_is_refused() {
        let none = MassProperties::sum(std::iter::empty());
        assert_eq!(none, Err(ShapeError::BadCompound));
        let nothing = MassProperties::point(0.0, [0.0; 3]);
        assert_eq!(MassProperties::sum([Ok(nothing)].into_iter()), Err(ShapeError::BadCompound));
        let bad = [Ok(nothing), Err(ShapeError::ZeroNormal)];
        assert_eq!(MassProperties::sum(bad.into_iter()), Err(ShapeError::ZeroNormal));
    }

    #[test]
    fn round_bodies_are_the_limit_of_polyhedra() {
        // A cylinder as a prism with n corners: errors are of order 1/n², so that two of them give
        // the limit.
        let prism = |n: usize| {
            let mut points = Vec::new();
            for k in 0..n {
                let (sin, cos) = (std::f64::consts::TAU * k as f64 / n as f64).sin_cos();
                points.extend([-0.4, 0.4].map(|z| Vec3::new(0.3 * cos, 0.3 * sin, z)));
            }
            *Polyhedron::from_points(&points).unwrap().unit_mass()
        };
        let (coarse, fine) = (prism(60), prism(120));
        let limit = |a: f64, b: f64| b + (b - a) / 3.0;
        let exact = MassProperties::cylinder(0.3, 0.8, 1.0);
        assert!((limit(coarse.mass, fine.mass) - exact.mass).abs() < 1e-6 * exact.mass);
        for k in 0..3 {
            let found = limit(coarse.inertia[(k, k)], fine.inertia[(k, k)]);
            assert!((found - exact.inertia[(k, k)]).abs() < 1e-5 * exact.inertia[(k, k)]);
        }
        // The inertia of a ball from its second moments: I = (xx + yy) with xx = m r²/5.
        let ball = MassProperties::sphere(2.0, 3.0);
        assert!((ball.inertia[(0, 0)] - 2.0 * ball.mass * 4.0 / 5.0).abs() < 1e-12);
        // A rod about its end has m l²/3.
        let rod = MassProperties::rod([0.0, 3.0, 0.0], 2.0);
        assert!((rod.inertia_about(Vec3::zeros())[(0, 0)] - 6.0).abs() < 1e-14);
        assert_eq!(rod.inertia[(1, 1)], 0.0);
    }
}

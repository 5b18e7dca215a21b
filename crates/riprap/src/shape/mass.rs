//! Mass, centre of mass and inertia tensor, and how they add up and move between frames.

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
    /// A point mass [kg] at a place [m].
    pub fn point(mass: f64, at: [f64; 3]) -> MassProperties {
        MassProperties { mass, centre: Vec3::from(at), inertia: Mat3::zeros() }
    }

    /// A thin straight rod of a mass [kg] from the origin to an end [m].
    pub fn rod(end: [f64; 3], mass: f64) -> MassProperties {
        let end = Vec3::from(end);
        let inertia =
            (Mat3::identity() * end.norm_squared() - end * end.transpose()) * (mass / 12.0);
        MassProperties { mass, centre: end * 0.5, inertia }
    }

    /// A body from its mass [kg], centre of mass [m] and principal moments about it along the axes of the frame [kg m²].
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

    /// The solid inside a closed surface of outward triangles, of density 1 kg/m³, exactly: the sum
    /// over the signed tetrahedra between a point of the solid and each triangle.
    pub(super) fn of_surface(triangles: impl Iterator<Item = [Vec3; 3]> + Clone) -> MassProperties {
        // Moments are taken about a point nearby, so that far from the origin no digit is lost.
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

    /// The same body with its density multiplied.
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

    /// Several bodies as one (parallel-axis theorem). Fails on the first error or when there is no mass.
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

//! Convex shapes with curved surfaces: capsules, cylinders, cones, and polyhedra with rounded edges. Each is a
//! core widened by a radius, so that a few tests between cores cover all of them.

mod mass;
mod surface;

pub use surface::Surface;

use super::{MassProperties, Polyhedron, ShapeError, positive};
use crate::math::{Vec3, length2};
use std::sync::Arc;

/// A convex shape with a curved surface: all points within [`radius`](Curved::radius) of its core.
#[derive(Clone, Debug)]
pub struct Curved {
    core: Core,
    radius: f64,
    unit_mass: MassProperties,
    /// Centre and radius of a bounding sphere [m].
    bounds: (Vec3, f64),
}

/// The core of a [`Curved`] shape. Cores of revolution have the z axis as their axis and are
/// centred at the origin.
#[derive(Clone, Debug)]
pub enum Core {
    /// A segment from z = −`half` to `half`, of a capsule.
    Segment {
        /// Half of its length [m].
        half: f64,
    },
    /// A cylinder; its shape has no radius beyond the core.
    Cylinder {
        /// Radius [m].
        radius: f64,
        /// Half of its length [m].
        half: f64,
    },
    /// A cone with its base at z = −`half` and its tip at z = `half`; its shape has no radius
    /// beyond the core.
    Cone {
        /// Radius of the base [m].
        radius: f64,
        /// Half of its height [m].
        half: f64,
    },
    /// A convex polyhedron, of a rounded one.
    Hull(Arc<Polyhedron>),
}

impl Curved {
    /// A capsule: a cylinder with two half-balls as ends. `length` is the distance between the
    /// centres of the ends [m].
    pub fn capsule(radius: f64, length: f64) -> Result<Curved, ShapeError> {
        positive("radius", radius)?;
        positive("length", length)?;
        Ok(Curved::new(Core::Segment { half: 0.5 * length }, radius))
    }

    /// A cylinder; radius and length [m].
    pub fn cylinder(radius: f64, length: f64) -> Result<Curved, ShapeError> {
        positive("radius", radius)?;
        positive("length", length)?;
        Ok(Curved::new(Core::Cylinder { radius, half: 0.5 * length }, 0.0))
    }

    /// A cone; radius of the base and height [m].
    pub fn cone(radius: f64, height: f64) -> Result<Curved, ShapeError> {
        positive("radius", radius)?;
        positive("height", height)?;
        Ok(Curved::new(Core::Cone { radius, half: 0.5 * height }, 0.0))
    }

    /// All points within `radius` [m] of a convex polyhedron.
    pub fn rounded(core: Arc<Polyhedron>, radius: f64) -> Result<Curved, ShapeError> {
        positive("radius", radius)?;
        Ok(Curved::new(Core::Hull(core), radius))
    }

    fn new(core: Core, radius: f64) -> Curved {
        let unit_mass = mass::unit_mass(&core, radius);
        let (centre, reach) = match &core {
            Core::Segment { half } => (Vec3::zeros(), *half),
            Core::Cylinder { radius, half } => (Vec3::zeros(), length2(*radius, *half)),
            Core::Cone { radius, half } => {
                // The sphere through tip and rim, or around the base if the cone is flat.
                let z = (-radius * radius / (4.0 * half)).max(-half);
                (Vec3::new(0.0, 0.0, z), (half - z).max(length2(*radius, half + z)))
            }
            Core::Hull(p) => (p.centre(), p.outer_radius()),
        };
        Curved { core, radius, unit_mass, bounds: (centre, reach + radius) }
    }

    /// The core.
    pub fn core(&self) -> &Core {
        &self.core
    }

    /// How far the surface is from the core [m]; 0 for cylinders and cones.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Mass properties for a density of 1 kg/m³, exact.
    pub fn unit_mass(&self) -> &MassProperties {
        &self.unit_mass
    }

    /// Centre and radius of a bounding sphere [m].
    pub fn bounds(&self) -> (Vec3, f64) {
        self.bounds
    }

    /// The name of its type in scene files.
    pub fn kind(&self) -> &'static str {
        match self.core {
            Core::Segment { .. } => "capsule",
            Core::Cylinder { .. } => "cylinder",
            Core::Cone { .. } => "cone",
            Core::Hull(_) => "rounded",
        }
    }

    /// Height of the shape along a direction: the largest `direction · x` over its points [m], for a
    /// unit direction.
    pub fn height(&self, direction: Vec3) -> f64 {
        direction.dot(&self.core.support(direction)) + self.radius * direction.norm()
    }

    /// Radius of the largest sphere about a point that contains the shape [m].
    pub(crate) fn reach_from(&self, point: Vec3) -> f64 {
        let from_axis = length2(point.x, point.y);
        let reach = match &self.core {
            Core::Segment { half } => length2(from_axis, point.z.abs() + half),
            Core::Cylinder { radius, half } => length2(from_axis + radius, point.z.abs() + half),
            Core::Cone { radius, half } => {
                let tip = length2(from_axis, half - point.z);
                tip.max(length2(from_axis + radius, half + point.z))
            }
            Core::Hull(p) => p.vertices().iter().map(|v| (v - point).norm()).fold(0.0, f64::max),
        };
        reach + self.radius
    }
}

impl Core {
    /// The point farthest along a direction [m]. In case of ties along a rim, the one nearest to +x.
    pub fn support(&self, d: Vec3) -> Vec3 {
        match self {
            Core::Segment { half } => Vec3::new(0.0, 0.0, half.copysign(d.z)),
            Core::Cylinder { radius, half } => on_rim(d, *radius, half.copysign(d.z)),
            Core::Cone { radius, half } => {
                let across = length2(d.x, d.y);
                if d.z * half >= across * radius - d.z * half {
                    Vec3::new(0.0, 0.0, *half)
                } else {
                    on_rim(d, *radius, -half)
                }
            }
            Core::Hull(p) => p.vertices()[p.support(d).0],
        }
    }
}

/// The point of a circle around the z axis at a height that is farthest along a direction.
fn on_rim(d: Vec3, radius: f64, z: f64) -> Vec3 {
    let across = length2(d.x, d.y);
    if across > 0.0 {
        Vec3::new(radius * d.x / across, radius * d.y / across, z)
    } else {
        Vec3::new(radius, 0.0, z)
    }
}

#[cfg(test)]
mod tests;

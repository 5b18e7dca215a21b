//! Two shapes as seen by the tests of this folder: cores with a radius, placed in one frame.

use crate::detect::{Geometry, Placed};
use crate::math::{Mat3, Vec3, length2};
use crate::shape::{self, Polyhedron};

/// What is widened by a radius.
#[derive(Clone, Copy, Debug)]
pub(super) enum Core<'a> {
    /// The centre of a ball.
    Point,
    Segment {
        half: f64,
    },
    Cylinder {
        radius: f64,
        half: f64,
    },
    Cone {
        radius: f64,
        half: f64,
    },
    Hull(&'a Polyhedron),
}

/// A placed convex shape. The frame has the axes of the world and its origin at the first shape.
#[derive(Clone, Copy, Debug)]
pub(super) struct View<'a> {
    pub core: Core<'a>,
    /// How far the surface is from the core [m].
    pub radius: f64,
    pub rot: &'a Mat3,
    pub origin: Vec3,
    /// Centre and radius of the bounding sphere [m].
    pub centre: Vec3,
    pub size: f64,
    /// Scale of the core about the centre [–], to find a direction between shapes that overlap.
    pub scale: f64,
}

impl<'a> View<'a> {
    /// A shape seen from a point of the world; `None` for half-spaces and polygons.
    pub fn of(geometry: &'a Geometry, placed: &'a Placed, from: Vec3) -> Option<View<'a>> {
        let (core, radius) = match geometry {
            Geometry::Ball(radius) => (Core::Point, *radius),
            Geometry::Polyhedron(p) => (Core::Hull(p), 0.0),
            Geometry::Curved(c) => (Core::of(c.core()), c.radius()),
            Geometry::HalfSpace(_) | Geometry::Polygon(_) => return None,
        };
        let (rot, origin) = (&placed.rot, placed.origin - from);
        let (centre, size) = (placed.centre - from, placed.radius);
        Some(View { core, radius, rot, origin, centre, size, scale: 1.0 })
    }

    /// A direction in the frame of the shape.
    pub fn local(&self, d: Vec3) -> Vec3 {
        self.rot.tr_mul(&d)
    }

    /// A point of the shape in the common frame.
    pub fn point(&self, x: Vec3) -> Vec3 {
        self.rot * x + self.origin
    }

    /// The axis of a shape of revolution.
    pub fn axis(&self) -> Vec3 {
        self.rot.column(2).into()
    }

    /// The point of the core farthest along a direction.
    pub fn support(&self, d: Vec3) -> Vec3 {
        let farthest = self.point(self.core.support(self.local(d)));
        match self.scale == 1.0 {
            true => farthest,
            false => self.centre + (farthest - self.centre) * self.scale,
        }
    }

    /// Height of the shape along a unit direction [m].
    pub fn height(&self, n: Vec3) -> f64 {
        n.dot(&self.support(n)) + self.radius
    }

    /// A cylinder as a capsule, which contains it and touches what its side touches; a cone as one that only
    /// has a similar direction.
    pub fn as_capsule(mut self) -> View<'a> {
        if let Core::Cylinder { radius, half } | Core::Cone { radius, half } = self.core {
            self.core = Core::Segment { half };
            self.radius = radius;
        }
        self
    }

    /// The shape with its core smaller by a factor.
    pub fn scaled(mut self, scale: f64) -> View<'a> {
        self.scale = scale;
        self
    }

    /// Whether its core is a point, a segment or a polyhedron.
    pub fn is_straight(&self) -> bool {
        matches!(self.core, Core::Point | Core::Segment { .. } | Core::Hull(_))
    }

    /// Calls `visit` for the outward normal of each flat side.
    pub fn flats(&self, mut visit: impl FnMut(Vec3)) {
        match self.core {
            Core::Point | Core::Segment { .. } => {}
            Core::Cylinder { .. } => {
                visit(self.axis());
                visit(-self.axis());
            }
            Core::Cone { .. } => visit(-self.axis()),
            Core::Hull(p) => p.face_normals().iter().for_each(|n| visit(self.rot * n)),
        }
    }
}

impl<'a> Core<'a> {
    pub fn of(core: &'a shape::Core) -> Core<'a> {
        match core {
            shape::Core::Segment { half } => Core::Segment { half: *half },
            shape::Core::Cylinder { radius, half } => {
                Core::Cylinder { radius: *radius, half: *half }
            }
            shape::Core::Cone { radius, half } => Core::Cone { radius: *radius, half: *half },
            shape::Core::Hull(p) => Core::Hull(p),
        }
    }

    /// The point farthest along a direction, in the frame of the shape.
    fn support(&self, d: Vec3) -> Vec3 {
        match *self {
            Core::Point => Vec3::zeros(),
            Core::Segment { half } => Vec3::new(0.0, 0.0, half.copysign(d.z)),
            Core::Cylinder { radius, half } => on_rim(d, radius, half.copysign(d.z)),
            Core::Cone { radius, half } => {
                let across = length2(d.x, d.y);
                if 2.0 * d.z * half >= across * radius {
                    Vec3::new(0.0, 0.0, half)
                } else {
                    on_rim(d, radius, -half)
                }
            }
            Core::Hull(p) => p.vertices()[p.support(d).0],
        }
    }
}

/// The point of a circle around the z axis that is farthest along a direction.
fn on_rim(d: Vec3, radius: f64, z: f64) -> Vec3 {
    let across = length2(d.x, d.y);
    let scale = if across > 0.0 { radius / across } else { return Vec3::new(radius, 0.0, z) };
    Vec3::new(d.x * scale, d.y * scale, z)
}

/// Separation of two shapes along a unit direction from the first to the second [m].
pub(super) fn separation(a: &View, b: &View, n: Vec3) -> f64 {
    -b.height(-n) - a.height(n)
}

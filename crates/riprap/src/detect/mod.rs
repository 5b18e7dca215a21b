//! Contacts between shapes at given poses: broad phase, narrow phase, gaps and stable feature ids.
//!
//! The result depends on the query alone (poses, reach, motion). Caches only save work, so a run
//! resumed from its state repeats the original.
//!
//! The boundary is [`ContactDetection`]: a [`Query`] in, [`ContactPoint`]s out. [`Detector`]
//! implements it on the CPU; another crate may supply its own implementation.

mod above;
mod axes;
mod broad;
mod common_plane;
mod curved;
mod detector;
mod gjk;
mod manifold;
mod meeting;
mod narrow;
mod planar;
mod polyhedra;
mod round;
mod shortlist;
#[cfg(test)]
mod testing;

pub use detector::Detector;
pub use manifold::{Drift, Manifold, ManifoldPoint};
pub use meeting::{Meeting, Placement};
pub use narrow::{Ask, NarrowScratch, PairCache, narrow_phase};

use crate::math::{Lattice, Mat3, Pose, Twist, Vec3};
use crate::shape::{Curved, Polygon, Polyhedron, Shape};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How polyhedra are tested against each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Exact: separating axes over faces and edges, closest points where the shapes are apart.
    #[default]
    SeparatingAxes,
    /// Cundall's common plane, as in the paper: the plane is tilted until the gap is largest.
    CommonPlane,
}

/// A convex geometry in its own frame.
#[derive(Clone, Debug)]
pub enum Geometry {
    /// A ball of the given radius [m] (also a disc of a planar scene).
    Ball(f64),
    /// Points with `normal · x ≤ 0`.
    HalfSpace(Vec3),
    /// A convex polyhedron.
    Polyhedron(Arc<Polyhedron>),
    /// A convex polygon in the plane x–y.
    Polygon(Arc<Polygon>),
    /// A capsule, cylinder, cone or rounded polyhedron.
    Curved(Arc<Curved>),
}

impl Geometry {
    /// The geometry of a convex shape; `None` for a compound.
    pub fn of(shape: &Shape) -> Option<Geometry> {
        Some(match shape {
            Shape::Sphere { radius } | Shape::Disc { radius, .. } => Geometry::Ball(*radius),
            Shape::HalfSpace { normal } => Geometry::HalfSpace(*normal),
            Shape::Polyhedron(p) => Geometry::Polyhedron(p.clone()),
            Shape::Polygon(p) => Geometry::Polygon(p.clone()),
            Shape::Curved(c) => Geometry::Curved(c.clone()),
            Shape::Compound(_) => return None,
        })
    }

    /// Centre and radius of a bounding sphere [m]; infinite for a half-space.
    fn bounds(&self) -> (Vec3, f64) {
        match self {
            Geometry::Ball(radius) => (Vec3::zeros(), *radius),
            Geometry::HalfSpace(_) => (Vec3::zeros(), f64::INFINITY),
            Geometry::Polyhedron(p) => (p.centre(), p.outer_radius()),
            Geometry::Polygon(p) => (p.unit_mass().centre, p.outer_radius()),
            Geometry::Curved(c) => c.bounds(),
        }
    }
}

/// A convex part of a body that can touch others.
#[derive(Clone, Debug)]
pub struct Collider {
    /// Index of the body it belongs to.
    pub body: u32,
    /// Its geometry.
    pub geometry: Geometry,
    /// Pose of the geometry in the frame of the body (origin at the centre of mass).
    pub pose: Pose,
    /// Index of its material.
    pub material: u32,
    /// Whether impulses move the body: two immovable bodies never touch.
    pub movable: bool,
}

/// A collider placed in the world for one detection.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// Rotation from the collider to the world.
    pub rot: Mat3,
    /// Origin of the collider [m].
    pub origin: Vec3,
    /// Centre of its bounding sphere [m].
    pub centre: Vec3,
    /// Radius of its bounding sphere [m].
    pub radius: f64,
}

impl Placed {
    /// A ball around a point.
    pub(crate) fn ball(centre: Vec3, radius: f64) -> Placed {
        Placed { rot: Mat3::identity(), origin: centre, centre, radius }
    }

    /// Places a collider of a body with the given pose.
    pub fn new(collider: &Collider, body: &Pose) -> Placed {
        let pose = body.compose(&collider.pose);
        let rot = *pose.rotation.to_rotation_matrix().matrix();
        let (centre, radius) = collider.geometry.bounds();
        Placed { rot, origin: pose.position, centre: rot * centre + pose.position, radius }
    }
}

/// A point where two colliders touch or nearly touch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactPoint {
    /// The two colliders, the smaller index first.
    pub colliders: [u32; 2],
    /// Which features of the two meet; unchanged from step to step while they do.
    pub feature: u32,
    /// Midway between the two surfaces [m]; in a periodic cell next to the first collider, which the
    /// nearest image of the second touches.
    pub point: Vec3,
    /// Unit normal from the first to the second [–].
    pub normal: Vec3,
    /// Signed distance along the normal, negative when overlapping [m].
    pub gap: f64,
}

/// Input of a detection.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// All colliders of the scene.
    pub colliders: &'a [Collider],
    /// Identity of this set of colliders.
    pub set: ColliderSet,
    /// Pose of each body, origin at its centre of mass.
    pub bodies: &'a [Pose],
    /// How far each body's surface may move in one step [m]: widens the search so that nothing fast is missed.
    pub reach: &'a [f64],
    /// Motion of each body over the step, velocity × dt [m, rad]: determines which points of a
    /// manifold matter.
    pub motion: &'a [Twist],
    /// Gap up to which contacts are reported [m].
    pub alert: f64,
    /// Extra width of the neighbour list, so that it remains valid for several steps [m].
    pub skin: f64,
    /// Method for pairs of polyhedra.
    pub method: Method,
    /// Pairs of bodies that never touch, the smaller index first, sorted.
    pub apart: &'a [(u32, u32)],
    /// Images of a periodic cell: colliders meet the nearest images of others. Half-spaces are their
    /// own images.
    pub images: Option<Images>,
}

/// Images of a periodic cell during one detection.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Images {
    /// The images at the given poses.
    pub lattice: Lattice,
    /// Change of the shear strain over the step [–].
    pub strain: f64,
}

impl Images {
    /// The lattice vector that moves the second of two placed colliders next to the first [m], and by
    /// how much this image moves along x over the step beyond the collider itself [m].
    fn to_nearest(self, a: &Placed, b: &Placed) -> (Vec3, f64) {
        if !(a.radius.is_finite() && b.radius.is_finite()) {
            return (Vec3::zeros(), 0.0);
        }
        let n = -self.lattice.nearest(b.centre - a.centre);
        (self.lattice.vector(n), n.y * self.lattice.period().y * self.strain)
    }
}

/// Identifies a set of colliders within the process. Caches refer to shapes and are kept from one
/// detection to the next as long as the set stays the same: code that changes colliders, or which
/// pairs stay apart, must take a new one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ColliderSet(u64);

impl ColliderSet {
    /// A new, unique set.
    pub fn fresh() -> ColliderSet {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        ColliderSet(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

/// Maximum number of points in a chunk; see [`ContactDetection::chunks`].
pub const CHUNK_POINTS: usize = 1024;

/// Finds the contacts of a step.
///
/// The points must be a bitwise reproducible function of the query alone: they must not depend on
/// earlier detections, on the number of threads, or on the order in which they are found. Otherwise
/// a run resumed from its state would not repeat the original.
pub trait ContactDetection: std::fmt::Debug + Send + Sync {
    /// Finds all contact points with a gap up to the alert distance, or the reach of a fast pair.
    fn detect(&mut self, query: &Query);

    /// The points of the last detection, ordered by colliders. The points of a pair are consecutive
    /// and in one chunk, with at most [`CHUNK_POINTS`] per chunk. Threads share the chunks.
    fn chunks(&self) -> &[Vec<ContactPoint>];

    /// Number of pairs that the last detection tested.
    fn n_pairs(&self) -> usize;

    /// Number of those whose bounding spheres come within the alert distance [m].
    fn n_near_pairs(&self, alert: f64) -> usize;

    /// Bytes held by buffers and caches.
    fn bytes(&self) -> usize;
}

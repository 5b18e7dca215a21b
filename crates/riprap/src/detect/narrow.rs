//! The narrow phase: selects the test for two geometries.

use super::axes::{NearEdge, Relative};
use super::manifold::{Clipper, Drift, Manifold, ManifoldPoint, Side};
use super::shortlist::Shortlist;
use super::{Geometry, Method, Placed, common_plane, curved, planar, polyhedra, round};
use crate::math::Vec3;

/// What is known from the last test of a pair; it saves work and does not change the result. A
/// cache belongs to one pair of geometries.
#[derive(Clone, Copy, Debug, Default)]
pub struct PairCache {
    pub(super) known: Known,
}

/// What is known about a pair of polyhedra, in the frame of the first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Known {
    #[default]
    Nothing,
    /// They were apart along this direction.
    Apart(Vec3),
    /// They touched, or nearly touched: the features that gave the axis, and those that may give
    /// the next ones.
    Touching(Features, Option<Shortlist>),
}

/// Features that gave the last axis of a pair.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Features {
    /// The face of each shape above which the other was highest.
    pub faces: [u16; 2],
    /// The two edges, if they were better.
    pub edges: Option<[u16; 2]>,
}

/// Buffers of the narrow phase.
#[derive(Clone, Debug, Default)]
pub struct NarrowScratch {
    /// A lower bound of the distance of the pair just tested, if it is apart [m].
    pub(super) apart: f64,
    /// Pairs of a chunk whose shapes must be tested.
    pub(super) near: Vec<u16>,
    pub(super) heights: Vec<f64>,
    pub(super) more_heights: Vec<f64>,
    pub(super) edges_a: Vec<NearEdge>,
    pub(super) edges_b: Vec<NearEdge>,
    pub(super) side_a: Side,
    pub(super) side_b: Side,
    pub(super) clipper: Clipper,
    low: Vec<ManifoldPoint>,
    pub(super) curved: curved::Buffers,
}

/// Parameters of a pair test.
#[derive(Clone, Copy)]
pub struct Ask<'a> {
    /// Gap up to which a contact is reported [m].
    pub alert: f64,
    /// Method for two polyhedra.
    pub method: Method,
    /// Returns the motion of the second shape relative to the first over the step; few pairs need
    /// it.
    pub drift: &'a dyn Fn() -> Drift,
}

impl Default for Ask<'_> {
    fn default() -> Self {
        Ask { alert: 0.0, method: Method::default(), drift: &Drift::default }
    }
}

/// Tests two placed geometries; `None` when they are more than the alert distance apart.
pub fn narrow_phase(
    geometries: (&Geometry, &Geometry),
    placed: (&Placed, &Placed),
    ask: &Ask,
    cache: &mut PairCache,
    scratch: &mut NarrowScratch,
) -> Option<Manifold> {
    test(geometries, placed, ask, cache, scratch)
}

/// The same, inlined at the call site so that it uses the instruction set enabled there.
#[inline(always)]
pub(super) fn test(
    geometries: (&Geometry, &Geometry),
    placed: (&Placed, &Placed),
    ask: &Ask,
    cache: &mut PairCache,
    scratch: &mut NarrowScratch,
) -> Option<Manifold> {
    use Geometry::{Ball, Curved, HalfSpace, Polygon, Polyhedron};
    let (a, b) = placed;
    let alert = ask.alert;
    match geometries {
        (Ball(ra), Ball(rb)) => round::ball_ball((a.origin, *ra), (b.origin, *rb), alert),
        (HalfSpace(n), Ball(r)) => {
            round::half_space_ball((a.rot * n, a.origin), (b.origin, *r), alert)
        }
        (Polyhedron(p), Ball(r)) => round::polyhedron_ball((p, a), (b.origin, *r), alert),
        (HalfSpace(n), Polyhedron(p)) => {
            round::half_space_polyhedron((a.rot * n, a.origin), (p, b), ask, &mut scratch.low)
        }
        (Polyhedron(p), Polyhedron(q)) => {
            let rot = a.rot.tr_mul(&b.rot);
            let rel = Relative { rot, origin: a.rot.tr_mul(&(b.origin - a.origin)) };
            let drift = || (ask.drift)().seen_from(&a.rot, a.origin);
            let ask = Ask { drift: &drift, ..*ask };
            let manifold = match ask.method {
                Method::SeparatingAxes => polyhedra::contact(p, q, &rel, &ask, cache, scratch),
                Method::CommonPlane => common_plane::contact(p, q, &rel, &ask, scratch),
            };
            manifold.map(|m| m.moved(&a.rot, a.origin))
        }
        (Polygon(p), Ball(r)) => planar::polygon_disc((p, a), (b.origin, *r), alert),
        (HalfSpace(n), Polygon(p)) => {
            planar::half_space_polygon((a.rot * n, a.origin), (p, b), alert)
        }
        (Polygon(p), Polygon(q)) => planar::polygon_polygon((p, a), (q, b), alert),
        // Half-spaces are fixed; a planar and a spatial shape do not share a scene.
        (HalfSpace(_), HalfSpace(_))
        | (Polygon(_), Polyhedron(_))
        | (Polyhedron(_), Polygon(_)) => None,
        (Curved(_), _) | (_, Curved(_)) => curved::contact(geometries, placed, ask, cache, scratch),
        (Ball(_), _) | (_, HalfSpace(_)) => {
            let (g, h) = geometries;
            let drift = || (ask.drift)().reversed();
            let ask = Ask { drift: &drift, ..*ask };
            narrow_phase((h, g), (b, a), &ask, cache, scratch).map(Manifold::flipped)
        }
    }
}

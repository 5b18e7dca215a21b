//! Contacts between shapes at given poses: broad phase, narrow phase, gaps and stable feature ids.
//!
//! What comes out is a function of the query alone (poses, reach, motion): caches only save work, so a run
//! continued from its state repeats the original.

mod broad;
mod common_plane;
mod gjk;
mod manifold;
mod narrow;
mod planar;
mod polyhedra;
mod round;
mod shortlist;

pub use manifold::{Drift, Manifold, ManifoldPoint};
pub use narrow::{Ask, NarrowScratch, PairCache, narrow_phase};

use crate::math::parallel::{self, n_threads, thread};
use crate::math::{Mat3, Pose, Twist, Vec3, bytes_of, make_room, prefetch};
use crate::shape::{Polygon, Polyhedron, Shape};
use broad::BroadPhase;
use narrow::Known;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

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
}

impl Geometry {
    /// The geometry of a convex shape; `None` for a compound.
    pub fn of(shape: &Shape) -> Option<Geometry> {
        Some(match shape {
            Shape::Sphere { radius } | Shape::Disc { radius, .. } => Geometry::Ball(*radius),
            Shape::HalfSpace { normal } => Geometry::HalfSpace(*normal),
            Shape::Polyhedron(p) => Geometry::Polyhedron(p.clone()),
            Shape::Polygon(p) => Geometry::Polygon(p.clone()),
            Shape::Compound(_) => return None,
        })
    }

    /// Centre and radius of a ball around the geometry [m]; infinite for a half-space.
    fn bounds(&self) -> (Vec3, f64) {
        match self {
            Geometry::Ball(radius) => (Vec3::zeros(), *radius),
            Geometry::HalfSpace(_) => (Vec3::zeros(), f64::INFINITY),
            Geometry::Polyhedron(p) => (p.centre(), p.outer_radius()),
            Geometry::Polygon(p) => (p.unit_mass().centre, p.outer_radius()),
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
    /// Place of the geometry in the frame of the body (origin at the centre of mass).
    pub pose: Pose,
    /// Index of its material.
    pub material: u32,
    /// Whether impulses move the body: two that do not move never touch.
    pub movable: bool,
}

/// A collider at its place in the world for one detection.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// Rotation from the collider to the world.
    pub rot: Mat3,
    /// Origin of the collider [m].
    pub origin: Vec3,
    /// Centre of its bounding ball [m].
    pub centre: Vec3,
    /// Radius of its bounding ball [m].
    pub radius: f64,
}

impl Placed {
    /// Places a collider on a body with the given pose.
    pub fn new(collider: &Collider, body: &Pose) -> Placed {
        let pose = body.compose(&collider.pose);
        let rot = *pose.rotation.to_rotation_matrix().matrix();
        let (centre, radius) = collider.geometry.bounds();
        Placed { rot, origin: pose.position, centre: rot * centre + pose.position, radius }
    }
}

/// A point where two colliders touch or nearly do.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactPoint {
    /// The two colliders, the smaller index first.
    pub colliders: [u32; 2],
    /// Which features of the two meet; the same from step to step while they do.
    pub feature: u32,
    /// Midway between the two surfaces [m].
    pub point: Vec3,
    /// Unit normal from the first to the second [–].
    pub normal: Vec3,
    /// Signed distance along the normal, negative when overlapping [m].
    pub gap: f64,
}

/// A pair of colliders that may touch soon, with what the last test learnt about it.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    colliders: [u32; 2],
    /// A distance that they had plus the paths of both until then [m]: they are no nearer than this less their paths
    /// now.
    apart: f64,
    cache: PairCache,
}

/// A pile has six to seven pairs a grain.
const _: () = assert!(size_of::<Pair>() <= 112);

/// Finds contacts; keeps its buffers and caches between calls.
#[derive(Debug, Default)]
pub struct Detector {
    broad: BroadPhase,
    pairs: Vec<Pair>,
    placed: Vec<Placed>,
    /// How far the points of each collider have travelled at most since the list of pairs was made [m].
    paths: Vec<f64>,
    /// Where the colliders of the last detection lie in memory: caches are about their shapes.
    colliders: usize,
    reach: Vec<f64>,
    /// Points of each fixed chunk of pairs: what makes the result independent of the number of threads.
    chunks: Vec<Vec<ContactPoint>>,
    n_chunks: usize,
    /// Buffers of each thread.
    scratch: Vec<Mutex<NarrowScratch>>,
}

/// Pairs that one task tests.
const CHUNK: usize = 256;
/// Points that they have at most.
pub(crate) const CHUNK_POINTS: usize = 4 * CHUNK;

/// What a detection is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    /// All colliders of the scene.
    pub colliders: &'a [Collider],
    /// Pose of each body, origin at its centre of mass.
    pub bodies: &'a [Pose],
    /// How far each body's surface may move in one step [m]: widens the search so that nothing fast is missed.
    pub reach: &'a [f64],
    /// Motion of each body over the step, velocity × dt [m, rad]: tells which points of a manifold matter.
    pub motion: &'a [Twist],
    /// Gap up to which contacts are reported [m].
    pub alert: f64,
    /// Extra width of the list of neighbours, so that it lasts several steps [m].
    pub skin: f64,
    /// Method for pairs of polyhedra.
    pub method: Method,
    /// Pairs of bodies that never touch, the smaller index first, sorted.
    pub apart: &'a [(u32, u32)],
}

impl Detector {
    /// Finds all contact points with a gap up to the alert distance (or the reach of a fast pair),
    /// ordered by colliders.
    pub fn detect(&mut self, query: &Query) {
        let Query { colliders, bodies, .. } = *query;
        self.place(colliders, bodies);
        parallel::fill(&mut self.reach, colliders.len(), |k| {
            query.reach[colliders[k].body as usize]
        });

        if !self.broad.still_valid(&self.paths, &self.reach, query) {
            self.broad.build(&self.placed, &self.reach, query);
            self.carry_caches();
        }

        self.n_chunks = self.pairs.len().div_ceil(CHUNK);
        if self.chunks.len() < self.n_chunks {
            self.chunks.resize_with(self.n_chunks, Vec::new);
        }
        if self.scratch.len() < n_threads() {
            self.scratch.resize_with(n_threads(), Mutex::default);
        }
        let here = Here { query, placed: &self.placed, reach: &self.reach, paths: &self.paths };
        let scratch = &self.scratch;
        for_each_chunk(&mut self.pairs, &mut self.chunks[..self.n_chunks], |pairs, points| {
            // No other thread has this number.
            let mut scratch = scratch[thread()].lock().unwrap_or_else(PoisonError::into_inner);
            test_pairs(pairs, &here, points, &mut scratch);
        });
    }

    /// Places all colliders and adds what they moved to their paths; forgets everything about other colliders.
    fn place(&mut self, colliders: &[Collider], bodies: &[Pose]) {
        let place = |c: &Collider| Placed::new(c, &bodies[c.body as usize]);
        let mut others =
            self.placed.len() != colliders.len() || self.colliders != colliders.as_ptr() as usize;
        if !others {
            let changed = AtomicBool::new(false);
            parallel::for_each_both(&mut self.placed, &mut self.paths, |k, old, path| {
                let new = place(&colliders[k]);
                if new.radius != old.radius {
                    changed.store(true, Ordering::Relaxed);
                }
                *path += moved(&colliders[k], old, &new);
                *old = new;
            });
            others = changed.into_inner();
        }
        if others {
            self.pairs.clear();
            self.placed.clear();
            self.placed.extend(colliders.iter().map(place));
            self.paths.clear();
            self.paths.resize(colliders.len(), 0.0);
            self.colliders = colliders.as_ptr() as usize;
            self.broad.forget();
        }
    }

    /// The contact points of the last detection.
    pub fn points(&self) -> impl Iterator<Item = &ContactPoint> {
        self.chunks().iter().flatten()
    }

    /// The same as they lie in memory; points of one pair are in one chunk.
    pub(crate) fn chunks(&self) -> &[Vec<ContactPoint>] {
        &self.chunks[..self.n_chunks]
    }

    /// Number of pairs that the last detection tested.
    pub fn n_pairs(&self) -> usize {
        self.pairs.len()
    }

    /// Number of pairs of the last detection whose bounding balls come within the alert distance.
    pub fn n_near_pairs(&self, alert: f64) -> usize {
        let near = |p: &&Pair| {
            let [a, b] = p.colliders.map(|i| &self.placed[i as usize]);
            (a.centre - b.centre).norm() <= a.radius + b.radius + alert
        };
        self.pairs.iter().filter(near).count()
    }

    /// Bytes held by buffers and caches, but for the few kilobytes that each thread has.
    pub fn bytes(&self) -> usize {
        bytes_of(&self.pairs)
            + bytes_of(&self.placed)
            + bytes_of(&self.paths)
            + bytes_of(&self.reach)
            + bytes_of(&self.chunks)
            + self.chunks.iter().map(bytes_of).sum::<usize>()
            + self.broad.bytes()
    }

    /// Takes the new list of pairs, keeping the caches of those that were there before. In place: first without those that
    /// are gone, then from the back with those that came.
    fn carry_caches(&mut self) {
        let Detector { pairs, paths, .. } = self;
        let listed = self.broad.pairs();
        let colliders = |key: u64| [(key >> 32) as u32, key as u32];
        let mut at = listed.iter().peekable();
        pairs.retain_mut(|p| {
            while at.next_if(|&&key| colliders(key) < p.colliders).is_some() {}
            let [i, j] = p.colliders.map(|c| paths[c as usize]);
            p.apart -= i + j;
            at.peek().is_some_and(|&&key| colliders(key) == p.colliders)
        });
        paths.fill(0.0);

        let mut old = pairs.len();
        make_room(pairs, listed.len() - old);
        pairs.resize(listed.len(), Pair::default());
        for (k, key) in listed.iter().enumerate().rev() {
            let colliders = colliders(*key);
            pairs[k] = match old.checked_sub(1).map(|o| pairs[o]) {
                Some(p) if p.colliders == colliders => {
                    old -= 1;
                    p
                }
                _ => Pair { colliders, apart: f64::NEG_INFINITY, cache: PairCache::default() },
            };
        }
    }
}

/// How far points of a collider move at most between two places [m].
fn moved(collider: &Collider, old: &Placed, new: &Placed) -> f64 {
    let turned = match collider.geometry {
        Geometry::Ball(_) => 0.0,
        // Far points of a half-space move without bound when it turns.
        Geometry::HalfSpace(_) if new.rot == old.rot => 0.0,
        Geometry::HalfSpace(_) => f64::INFINITY,
        _ => (new.rot - old.rot).norm() * new.radius,
    };
    (new.centre - old.centre).norm() + turned
}

/// What all tests of one detection read.
struct Here<'a> {
    query: &'a Query<'a>,
    placed: &'a [Placed],
    reach: &'a [f64],
    paths: &'a [f64],
}

impl Here<'_> {
    /// Gap up to which a pair is of interest [m].
    #[inline(always)]
    fn alert(&self, i: usize, j: usize) -> f64 {
        self.query.alert.max(self.reach[i] + self.reach[j])
    }

    /// [`Pair::apart`] of a pair with a distance [m]. What is known to be apart is so by more than round-off: no test of the
    /// shapes would find a contact.
    #[inline(always)]
    fn apart_until(&self, i: usize, j: usize, distance: f64) -> f64 {
        let smaller = self.placed[i].radius.min(self.placed[j].radius);
        distance - 1e-8 * smaller + (self.paths[i] + self.paths[j])
    }
}

/// Tests a chunk of pairs with the widest instructions of this processor. The same source compiled twice: Rust neither
/// fuses nor reorders operations, so both give the same bits.
fn test_pairs(
    pairs: &mut [Pair],
    here: &Here,
    points: &mut Vec<ContactPoint>,
    scratch: &mut NarrowScratch,
) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2. On a pile of 250 stones a tenth of the time of the narrow phase.
        unsafe { test_pairs_avx2(pairs, here, points, scratch) };
        return;
    }
    test_pairs_here(pairs, here, points, scratch);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn test_pairs_avx2(
    pairs: &mut [Pair],
    here: &Here,
    points: &mut Vec<ContactPoint>,
    scratch: &mut NarrowScratch,
) {
    test_pairs_here(pairs, here, points, scratch);
}

#[inline(always)]
fn test_pairs_here(
    pairs: &mut [Pair],
    here: &Here,
    points: &mut Vec<ContactPoint>,
    scratch: &mut NarrowScratch,
) {
    points.clear();
    // First those that need a look at their shapes: then memory can be asked for in time.
    let mut near = std::mem::take(&mut scratch.near);
    near.clear();
    for (k, pair) in pairs.iter_mut().enumerate() {
        if balls_touch(pair, here) {
            near.push(k as u16);
        }
    }
    for (n, &k) in near.iter().enumerate() {
        let next = |ahead: usize| near.get(n + ahead).map(|k| &pairs[usize::from(*k)]);
        look_ahead(&pairs[usize::from(k)], [next(1), next(2), next(3), next(4)], here);
        test_pair(&mut pairs[usize::from(k)], here, points, scratch);
    }
    scratch.near = near;
}

/// Asks for the memory that the next pairs will read: colliders of the fourth, shapes of the third, of the second the features that its
/// last test listed, and of the first what these features refer to. The shapes of a large pile fit into no cache. Pairs of the same
/// first collider follow each other.
#[inline(always)]
fn look_ahead(now: &Pair, next: [Option<&Pair>; 4], here: &Here) {
    let colliders = here.query.colliders;
    let [first, second, third, fourth] = next;
    if let Some(fourth) = fourth {
        for c in fourth.colliders.map(|c| c as usize) {
            prefetch(&colliders[c]);
            prefetch(&here.placed[c]);
            prefetch(&here.placed[c].centre);
        }
    }
    if let Some(third) = third {
        for c in third.colliders {
            if let Geometry::Polyhedron(shape) = &colliders[c as usize].geometry {
                shape.prefetch_head();
            }
        }
    }
    if let Some(second) = second
        && let Known::Touching(_, Some(list)) = &second.cache.known
    {
        let [faces_a, edges_a, faces_b, edges_b] = list.features();
        for (c, faces, edges) in
            [(second.colliders[0], faces_a, edges_a), (second.colliders[1], faces_b, edges_b)]
        {
            if c != now.colliders[0]
                && let Geometry::Polyhedron(shape) = &colliders[c as usize].geometry
            {
                shape.prefetch_tables(faces, edges);
            }
        }
    }
    if let Some(first) = first
        && let Known::Touching(_, Some(list)) = &first.cache.known
    {
        let [_, edges_a, _, edges_b] = list.features();
        for (c, edges) in first.colliders.into_iter().zip([edges_a, edges_b]) {
            if c != now.colliders[0]
                && let Geometry::Polyhedron(shape) = &colliders[c as usize].geometry
            {
                shape.prefetch(edges);
            }
        }
    }
}

/// Whether the bounding balls of a pair are so near that its shapes have to be looked at.
#[inline(always)]
fn balls_touch(pair: &mut Pair, here: &Here) -> bool {
    let [i, j] = pair.colliders.map(|c| c as usize);
    let alert = here.alert(i, j);
    if pair.apart - (here.paths[i] + here.paths[j]) > alert {
        return false;
    }
    let (a, b) = (&here.placed[i], &here.placed[j]);
    let between = (a.centre - b.centre).norm_squared();
    if between > (a.radius + b.radius + alert).powi(2) {
        pair.apart = here.apart_until(i, j, between.sqrt() - a.radius - b.radius);
        return false;
    }
    true
}

/// Tests the shapes of a pair and appends its contact points.
#[inline(always)]
fn test_pair(
    pair: &mut Pair,
    here: &Here,
    points: &mut Vec<ContactPoint>,
    scratch: &mut NarrowScratch,
) {
    let Here { query, placed, .. } = *here;
    let [i, j] = pair.colliders.map(|c| c as usize);
    let (a, b) = (&placed[i], &placed[j]);
    let geometries = (&query.colliders[i].geometry, &query.colliders[j].geometry);
    let drift = || drift_between(query, i, j);
    let ask = Ask { alert: here.alert(i, j), method: query.method, drift: &drift };
    scratch.apart = f64::NEG_INFINITY;
    let found = narrow::test(geometries, (a, b), &ask, &mut pair.cache, scratch);
    pair.apart = here.apart_until(i, j, scratch.apart);
    let Some(m) = found else { return };
    make_room(points, m.points().len());
    for p in m.points() {
        points.push(ContactPoint {
            colliders: pair.colliders,
            feature: p.feature,
            point: p.position,
            normal: m.normal,
            gap: p.gap,
        });
    }
}

/// Motion of the second collider's body against the first's over the step.
fn drift_between(query: &Query, i: usize, j: usize) -> Drift {
    let [a, b] = [i, j].map(|c| query.colliders[c].body as usize);
    let (ma, mb) = (&query.motion[a], &query.motion[b]);
    let about = |m: &Twist, x: Vec3| m.linear - m.angular.cross(&x);
    Drift {
        shift: about(mb, query.bodies[b].position) - about(ma, query.bodies[a].position),
        turn: mb.angular - ma.angular,
    }
}

/// Runs `work` on each chunk of pairs and its output, on all threads where the feature is on.
fn for_each_chunk(
    pairs: &mut [Pair],
    chunks: &mut [Vec<ContactPoint>],
    work: impl Fn(&mut [Pair], &mut Vec<ContactPoint>) + Sync,
) {
    #[cfg(feature = "parallel")]
    if n_threads() > 1 && chunks.len() > 1 {
        use rayon::prelude::*;
        let chunks = pairs.par_chunks_mut(CHUNK).zip(chunks);
        chunks.for_each(|(pairs, points)| work(pairs, points));
        return;
    }
    pairs.chunks_mut(CHUNK).zip(chunks).for_each(|(pairs, points)| work(pairs, points));
}

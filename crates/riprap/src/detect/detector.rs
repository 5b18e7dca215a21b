//! The detector: places the colliders, maintains the neighbour list, and tests its pairs in chunks
//! on all threads.

use super::broad::{BroadPhase, WIDEST};
use super::manifold::Drift;
use super::narrow::{self, Ask, Known, NarrowScratch, PairCache};
use super::{
    CHUNK_POINTS, Collider, ColliderSet, ContactDetection, ContactPoint, Geometry, Images, Placed,
    Query,
};
use crate::math::parallel::{self, n_threads, thread};
use crate::math::{Twist, Vec3, bytes_of, make_room, prefetch};
use std::sync::{Mutex, PoisonError};

/// A pair of colliders that may touch soon, with what is known from its last test.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    colliders: [u32; 2],
    /// A past distance plus the paths of both colliders at that time [m]: their distance is at
    /// least this minus their current paths.
    apart: f64,
    cache: PairCache,
}

/// A pile has six to seven pairs per grain.
const _: () = assert!(size_of::<Pair>() <= 112);

/// Finds contacts on the CPU and keeps its buffers and caches between calls.
#[derive(Debug, Default)]
pub struct Detector {
    broad: BroadPhase,
    pairs: Vec<Pair>,
    placed: Vec<Placed>,
    /// Upper bound of the distance that the points of each collider have travelled since the list
    /// of pairs was built [m].
    paths: Vec<f64>,
    /// The colliders of the last detection: caches refer to their shapes.
    colliders: Option<ColliderSet>,
    /// The periodic cell at the last detection.
    images: Option<Images>,
    reach: Vec<f64>,
    /// Points of each fixed chunk of pairs, which makes the result independent of the number of
    /// threads.
    chunks: Vec<Vec<ContactPoint>>,
    n_chunks: usize,
    /// Buffers of each thread.
    scratch: Vec<Mutex<NarrowScratch>>,
}

/// Pairs per task.
const CHUNK: usize = 256;
const _: () = assert!(CHUNK_POINTS == 4 * CHUNK, "a pair has at most four points");

impl Detector {
    /// Finds all contact points with a gap up to the alert distance (or the reach of a fast pair),
    /// ordered by colliders.
    pub fn detect(&mut self, query: &Query) {
        let colliders = query.colliders;
        self.place(query);
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
            // No other thread has this index.
            let mut scratch = scratch[thread()].lock().unwrap_or_else(PoisonError::into_inner);
            test_pairs(pairs, &here, points, &mut scratch);
        });
    }

    /// Places all colliders and adds their motion to their paths; discards everything known about
    /// other colliders.
    fn place(&mut self, query: &Query) {
        let Query { colliders, bodies, .. } = *query;
        let place = |c: &Collider| Placed::new(c, &bodies[c.body as usize]);
        let before = std::mem::replace(&mut self.images, query.images);
        let strain = |images: Option<Images>| images.map_or(0.0, |images| images.lattice.strain());
        let sheared = strain(query.images) - strain(before);
        if self.colliders == Some(query.set) && self.placed.len() == colliders.len() {
            if sheared != 0.0 {
                // Motion relative to the flow, and that of the flow between neighbours.
                let beyond = |k: usize| {
                    query.alert + WIDEST * query.skin + query.reach[colliders[k].body as usize]
                };
                parallel::for_each_both(&mut self.placed, &mut self.paths, |k, old, path| {
                    let new = place(&colliders[k]);
                    let mut carried = *old;
                    carried.centre.x += sheared * old.centre.y;
                    *path += moved(&colliders[k], &carried, &new)
                        + sheared.abs() * (new.radius + beyond(k));
                    *old = new;
                });
                return;
            }
            parallel::for_each_both(&mut self.placed, &mut self.paths, |k, old, path| {
                let new = place(&colliders[k]);
                *path += moved(&colliders[k], old, &new);
                *old = new;
            });
        } else {
            self.pairs.clear();
            self.placed.clear();
            self.placed.extend(colliders.iter().map(place));
            self.paths.clear();
            self.paths.resize(colliders.len(), 0.0);
            self.colliders = Some(query.set);
            self.broad.forget();
        }
    }

    /// The contact points of the last detection.
    pub fn points(&self) -> impl Iterator<Item = &ContactPoint> {
        self.chunks().iter().flatten()
    }

    /// The same points as stored in memory; see [`ContactDetection::chunks`].
    pub fn chunks(&self) -> &[Vec<ContactPoint>] {
        &self.chunks[..self.n_chunks]
    }

    /// Number of pairs that the last detection tested.
    pub fn n_pairs(&self) -> usize {
        self.pairs.len()
    }

    /// Number of pairs of the last detection whose bounding spheres come within the alert distance.
    pub fn n_near_pairs(&self, alert: f64) -> usize {
        let near = |p: &&Pair| {
            let [a, b] = p.colliders.map(|i| &self.placed[i as usize]);
            let between = a.centre - b.centre;
            let between = self.images.map_or(between, |images| images.lattice.reduced(between));
            between.norm() <= a.radius + b.radius + alert
        };
        self.pairs.iter().filter(near).count()
    }

    /// Bytes held by buffers and caches, except for a few kilobytes per thread.
    pub fn bytes(&self) -> usize {
        bytes_of(&self.pairs)
            + bytes_of(&self.placed)
            + bytes_of(&self.paths)
            + bytes_of(&self.reach)
            + bytes_of(&self.chunks)
            + self.chunks.iter().map(bytes_of).sum::<usize>()
            + self.broad.bytes()
    }

    /// Takes over the new list of pairs, keeping the caches of pairs that remain. In place: first
    /// the pairs that are gone are removed, then the new ones are inserted from the back.
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

impl ContactDetection for Detector {
    fn detect(&mut self, query: &Query) {
        Detector::detect(self, query);
    }
    fn chunks(&self) -> &[Vec<ContactPoint>] {
        Detector::chunks(self)
    }
    fn n_pairs(&self) -> usize {
        Detector::n_pairs(self)
    }
    fn n_near_pairs(&self, alert: f64) -> usize {
        Detector::n_near_pairs(self, alert)
    }
    fn bytes(&self) -> usize {
        Detector::bytes(self)
    }
}

/// Upper bound of the distance that points of a collider move between two poses [m].
fn moved(collider: &Collider, old: &Placed, new: &Placed) -> f64 {
    let turned = match collider.geometry {
        Geometry::Ball(_) => 0.0,
        // Distant points of a half-space move without bound when it rotates.
        Geometry::HalfSpace(_) if new.rot == old.rot => 0.0,
        Geometry::HalfSpace(_) => f64::INFINITY,
        _ => (new.rot - old.rot).norm() * new.radius,
    };
    (new.centre - old.centre).norm() + turned
}

/// Data shared by all tests of one detection.
struct Here<'a> {
    query: &'a Query<'a>,
    placed: &'a [Placed],
    reach: &'a [f64],
    paths: &'a [f64],
}

impl Here<'_> {
    /// Gap up to which a pair is relevant [m].
    #[inline(always)]
    fn alert(&self, i: usize, j: usize) -> f64 {
        self.query.alert.max(self.reach[i] + self.reach[j])
    }

    /// [`Pair::apart`] of a pair at a given distance [m]. Pairs known to be apart are so by more
    /// than round-off: a test of their shapes would find no contact.
    #[inline(always)]
    fn apart_until(&self, i: usize, j: usize, distance: f64) -> f64 {
        let smaller = self.placed[i].radius.min(self.placed[j].radius);
        distance - 1e-8 * smaller + (self.paths[i] + self.paths[j])
    }
}

/// Tests a chunk of pairs with the widest instructions of this processor. The same source is
/// compiled twice: Rust neither fuses nor reorders operations, so both give bitwise identical
/// results.
fn test_pairs(
    pairs: &mut [Pair],
    here: &Here,
    points: &mut Vec<ContactPoint>,
    scratch: &mut NarrowScratch,
) {
    match here.query.images {
        None => test_pairs_in::<false>(pairs, here, points, scratch),
        Some(_) => test_pairs_in::<true>(pairs, here, points, scratch),
    }
}

/// The same with or without images of a periodic cell.
fn test_pairs_in<const PERIODIC: bool>(
    pairs: &mut [Pair],
    here: &Here,
    points: &mut Vec<ContactPoint>,
    scratch: &mut NarrowScratch,
) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2. Saves a tenth of the narrow phase on a pile of 250
        // stones.
        unsafe { test_pairs_avx2::<PERIODIC>(pairs, here, points, scratch) };
        return;
    }
    test_pairs_here::<PERIODIC>(pairs, here, points, scratch);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn test_pairs_avx2<const PERIODIC: bool>(
    pairs: &mut [Pair],
    here: &Here,
    points: &mut Vec<ContactPoint>,
    scratch: &mut NarrowScratch,
) {
    test_pairs_here::<PERIODIC>(pairs, here, points, scratch);
}

#[inline(always)]
fn test_pairs_here<const PERIODIC: bool>(
    pairs: &mut [Pair],
    here: &Here,
    points: &mut Vec<ContactPoint>,
    scratch: &mut NarrowScratch,
) {
    points.clear();
    // First collect the pairs whose shapes must be tested, so that memory can be prefetched in
    // time.
    let mut near = std::mem::take(&mut scratch.near);
    near.clear();
    for (k, pair) in pairs.iter_mut().enumerate() {
        if balls_touch::<PERIODIC>(pair, here) {
            near.push(k as u16);
        }
    }
    for (n, &k) in near.iter().enumerate() {
        let next = |ahead: usize| near.get(n + ahead).map(|k| &pairs[usize::from(*k)]);
        look_ahead(&pairs[usize::from(k)], [next(1), next(2), next(3), next(4)], here);
        test_pair::<PERIODIC>(&mut pairs[usize::from(k)], here, points, scratch);
    }
    scratch.near = near;
}

/// Prefetches the memory that the next pairs will read: colliders of the fourth, shapes of the
/// third, the features listed by the last test of the second, and what these features refer to for
/// the first. The shapes of a large pile do not fit into any cache. Pairs with the same first
/// collider are consecutive.
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

/// Whether the bounding spheres of a pair are so close that its shapes must be tested.
#[inline(always)]
fn balls_touch<const PERIODIC: bool>(pair: &mut Pair, here: &Here) -> bool {
    let [i, j] = pair.colliders.map(|c| c as usize);
    let alert = here.alert(i, j);
    if pair.apart - (here.paths[i] + here.paths[j]) > alert {
        return false;
    }
    let (a, b) = (&here.placed[i], &here.placed[j]);
    let mut between = a.centre - b.centre;
    if PERIODIC && let Some(images) = &here.query.images {
        between = images.lattice.reduced(between);
    }
    let between = between.norm_squared();
    if between > (a.radius + b.radius + alert).powi(2) {
        pair.apart = here.apart_until(i, j, between.sqrt() - a.radius - b.radius);
        return false;
    }
    true
}

/// Tests the shapes of a pair and appends its contact points.
#[inline(always)]
fn test_pair<const PERIODIC: bool>(
    pair: &mut Pair,
    here: &Here,
    points: &mut Vec<ContactPoint>,
    scratch: &mut NarrowScratch,
) {
    let Here { query, placed, .. } = *here;
    let [i, j] = pair.colliders.map(|c| c as usize);
    let (a, mut b) = (&placed[i], &placed[j]);
    let image;
    let (mut to_image, mut ahead) = (Vec3::zeros(), 0.0);
    if PERIODIC && let Some(images) = &query.images {
        (to_image, ahead) = images.to_nearest(a, b);
        image = Placed { origin: b.origin + to_image, centre: b.centre + to_image, ..*b };
        b = &image;
    }
    let geometries = (&query.colliders[i].geometry, &query.colliders[j].geometry);
    let drift = || match PERIODIC {
        false => drift_between(query, i, j),
        true => drift_of_image(query, [i, j], to_image, ahead),
    };
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

/// Motion of the second collider's body relative to the first's over the step.
fn drift_between(query: &Query, i: usize, j: usize) -> Drift {
    let [a, b] = [i, j].map(|c| query.colliders[c].body as usize);
    let (ma, mb) = (&query.motion[a], &query.motion[b]);
    let about = |m: &Twist, x: Vec3| m.linear - m.angular.cross(&x);
    Drift {
        shift: about(mb, query.bodies[b].position) - about(ma, query.bodies[a].position),
        turn: mb.angular - ma.angular,
    }
}

/// The same for an image of the second collider, moved by a lattice vector [m], that moves ahead of
/// it along x by `ahead` over the step [m].
fn drift_of_image(query: &Query, [i, j]: [usize; 2], to_image: Vec3, ahead: f64) -> Drift {
    let mut drift = drift_between(query, i, j);
    let turning = query.motion[query.colliders[j].body as usize].angular;
    drift.shift += Vec3::x() * ahead - turning.cross(&to_image);
    drift
}

/// Runs `work` on each chunk of pairs and its output, on all threads if the feature is enabled.
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

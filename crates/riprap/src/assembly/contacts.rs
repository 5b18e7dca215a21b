//! From detected points to the contact problem: which are active under their law, and their frames,
//! `H` and `V_free`.

use super::System;
use super::adhesion::Adhesion;
use super::flexible::Moves;
use super::images::Moment;
use super::mechanisms::Mechanisms;
use crate::detect::{CHUNK_POINTS, ContactDetection, ContactPoint, Detector, Images, Query};
use crate::friction::{ContactProblem, Impulses, Law};
use crate::math::{Pose, Vec3, bytes_of, parallel, tangents};
use crate::multibody::Spatial;
use crate::scene::{ContactLaw, PairLaw, Scene, State, Twist};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A contact that takes part in the contact problem.
#[derive(Clone, Copy, Debug)]
pub struct ActiveContact<'a> {
    /// The detected point.
    pub point: &'a ContactPoint,
    /// Indices of the two bodies.
    pub bodies: [u32; 2],
}

impl ActiveContact<'_> {
    /// Rows n, t1, t2 in the world frame.
    pub fn frame(&self) -> [Vec3; 3] {
        let (t1, t2) = tangents(self.point.normal);
        [self.point.normal, t1, t2]
    }

    /// An impulse given by its components in the contact frame, in the world frame [N s].
    pub fn impulse_w(&self, r: &[f64; 3]) -> Vec3 {
        in_world(&self.frame(), r)
    }
}

/// How the gaps of contacts enter the contact problem.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GapRule {
    /// As the law of each pair says: [`ContactLaw`].
    ByLaw,
    /// `V_n + gap/h ≥ 0 ⊥ I_n ≥ 0` at every contact near enough to be detected, whether open or
    /// overlapping; overlaps are removed with at most this velocity [m/s].
    OverStep {
        /// Largest velocity with which an overlap is removed [m/s].
        recovery: f64,
    },
    /// Only overlapping contacts take part, and gaps do not change velocities.
    Overlapping,
}

/// Where the point of an active contact is stored, and its two bodies.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Active {
    /// Its index in its chunk of detected points, plus [`CHUNK_POINTS`] for each preceding chunk;
    /// the chosen points form a last chunk of any length. The highest bits are [`Active::CLOSES`]
    /// and [`Active::APART`].
    place: u32,
    bodies: [u32; 2],
}

impl Active {
    /// Set if the quasi-shock law holds, under which small gaps are closed.
    const CLOSES: u32 = 1 << 31;
    /// Set if the law does not constrain the contact, which only adheres.
    const APART: u32 = 1 << 30;
}

/// Index of a point that does not take part.
const OPEN: u32 = u32::MAX;

/// The contacts of one step and their buffers.
#[derive(Debug)]
pub struct Contacts {
    detector: Box<dyn ContactDetection>,
    reach: Vec<f64>,
    motion: Vec<Twist>,
    /// The contact of the last step that each one continues; see [`Contacts::trace`].
    pub(super) old: Vec<u32>,
    /// Accumulated slip of each contact while sticking, in the world frame [m]; empty if it is not
    /// tracked.
    pub(super) slips: Vec<Vec3>,
    /// Chosen points at their planes.
    chosen: Vec<ContactPoint>,
    /// Detected points, then chosen ones.
    pub(super) active: Vec<Active>,
    /// Contacts between two driven bodies.
    gone: Vec<bool>,
    /// Adhesive impulses.
    pub(super) adhesion: Adhesion,
    /// Depth of the deepest overlap [m].
    deepest: f64,
}

/// Round-off must not decide whether a touching contact counts as closed: gaps below this fraction
/// of the smaller body's size do.
const CLOSED: f64 = 1e-9;

/// Gaps and slips within this fraction of the smaller body's size are due to solver tolerances:
/// such a gap counts as closed under the quasi-shock law, and [`super::Stabilization`] removes it.
pub(super) const NOISE: f64 = 1e-7;

impl Default for Contacts {
    fn default() -> Self {
        Contacts::new(Box::new(Detector::default()))
    }
}

/// The points of the contact problem, wherever they are stored.
#[derive(Clone, Copy)]
pub(super) struct Points<'a> {
    detected: &'a [Vec<ContactPoint>],
    chosen: &'a [ContactPoint],
    active: &'a [Active],
}

impl<'a> Points<'a> {
    /// One contact of the contact problem.
    #[inline]
    pub(super) fn contact(&self, k: usize) -> ActiveContact<'a> {
        let Active { place, bodies } = self.active[k];
        let place = (place & !(Active::CLOSES | Active::APART)) as usize;
        let chunk = (place / CHUNK_POINTS).min(self.detected.len());
        let points = self.detected.get(chunk).map_or(self.chosen, |points| &points[..]);
        ActiveContact { point: &points[place - chunk * CHUNK_POINTS], bodies }
    }

    /// Whether small gaps of a contact are closed: it obeys the quasi-shock law.
    #[inline]
    pub(super) fn closes(&self, k: usize) -> bool {
        self.active[k].place & Active::CLOSES != 0
    }

    /// Whether a contact only adheres: it is open under the law of Moreau and Newton.
    #[inline]
    fn is_apart(&self, k: usize) -> bool {
        self.active[k].place & Active::APART != 0
    }
}

impl Contacts {
    /// Contacts found by a detector.
    pub fn new(detector: Box<dyn ContactDetection>) -> Contacts {
        Contacts {
            detector,
            reach: Vec::new(),
            motion: Vec::new(),
            old: Vec::new(),
            slips: Vec::new(),
            chosen: Vec::new(),
            active: Vec::new(),
            gone: Vec::new(),
            adhesion: Adhesion::default(),
            deepest: 0.0,
        }
    }

    /// Finds the contact points at `q_m`. Contacts are detected there, not at `q_n`: the scheme
    /// enforces `V_{n+1}` for the contacts active at `q_m`.
    pub fn detect(&mut self, scene: &Scene, system: &System, dt: f64) {
        let images = system.images.as_ref().map(|images| images.detected());
        self.detect_among(images, scene, (system.q_m(), system.v_free()), dt);
    }

    /// Finds the contact points at given poses of bodies that move with given velocities for a time
    /// `dt` [s], without the images of a periodic cell.
    pub fn detect_at(&mut self, scene: &Scene, q: &[Pose], v_free: &[Twist], dt: f64) {
        self.detect_among(None, scene, (q, v_free), dt);
    }

    fn detect_among(
        &mut self,
        images: Option<Images>,
        scene: &Scene,
        (q, v_free): (&[Pose], &[Twist]),
        dt: f64,
    ) {
        let bodies = scene.bodies();
        let finite = |i: usize| if bodies.radius[i].is_finite() { bodies.radius[i] } else { 0.0 };
        let sheared = images.map_or(0.0, |images| images.strain);
        if sheared == 0.0 {
            parallel::fill(&mut self.reach, bodies.len(), |i| {
                let v = &v_free[i];
                dt * (v.linear.norm() + v.angular.norm() * finite(i))
            });
        } else {
            // Relative to the flow, and the flow between neighbours.
            let alert = scene.detection().alert;
            parallel::fill(&mut self.reach, bodies.len(), |i| {
                let v = &v_free[i];
                let linear = v.linear * dt - Vec3::x() * (sheared * q[i].position.y);
                let turned = dt * v.angular.norm() * finite(i);
                linear.norm() + turned + sheared.abs() * (finite(i) + alert)
            });
        }
        parallel::fill(&mut self.motion, bodies.len(), |i| {
            let v = &v_free[i];
            Twist { linear: v.linear * dt, angular: v.angular * dt }
        });
        let detection = scene.detection();
        self.detector.detect(&Query {
            colliders: scene.colliders(),
            set: scene.collider_set(),
            bodies: q,
            reach: &self.reach,
            motion: &self.motion,
            alert: detection.alert,
            skin: detection.skin,
            method: detection.method,
            apart: &scene.apart,
            images,
        });
    }

    /// The detected points and then the chosen ones, after [`Contacts::detect_at`] and
    /// [`Contacts::touch_points`].
    pub(crate) fn found(&self) -> impl Iterator<Item = &ContactPoint> {
        self.detector.chunks().iter().flatten().chain(&self.chosen)
    }

    /// Makes some of the found points the contacts of the step, given in the order of
    /// [`Contacts::found`], and states the deepest overlap [m].
    pub(crate) fn select(&mut self, scene: &Scene, chosen: impl Fn(usize) -> bool, deepest: f64) {
        self.active.clear();
        self.adhesion.forget();
        self.deepest = deepest;
        let chunks = self.detector.chunks().iter().chain(std::iter::once(&self.chosen));
        let mut count = 0;
        for (c, points) in chunks.enumerate() {
            for (k, point) in points.iter().enumerate() {
                if chosen(count) {
                    let (bodies, _) = meeting(scene, point);
                    self.active.push(Active { place: (c * CHUNK_POINTS + k) as u32, bodies });
                }
                count += 1;
            }
        }
    }

    /// Shows the contacts of a step that found them itself, at its start, and states the deepest
    /// overlap there [m]. Chosen points are forgotten until [`Contacts::touch_points`].
    pub(crate) fn show(
        &mut self,
        scene: &Scene,
        points: impl Iterator<Item = ContactPoint>,
        deepest: f64,
    ) {
        let Contacts { detector, chosen, active, adhesion, .. } = self;
        adhesion.forget();
        chosen.clear();
        chosen.extend(points);
        let first = detector.chunks().len() * CHUNK_POINTS;
        active.clear();
        active.extend(chosen.iter().enumerate().map(|(k, point)| Active {
            place: (first + k) as u32,
            bodies: meeting(scene, point).0,
        }));
        self.deepest = deepest;
    }

    /// Makes the overlapping found points the contacts of the step.
    pub(crate) fn select_overlaps(&mut self, scene: &Scene) {
        let overlaps: Vec<bool> = self.found().map(|p| p.gap < 0.0).collect();
        let deepest = self.found().fold(0.0, |depth: f64, p| depth.max(-p.gap));
        self.select(scene, |k| overlaps[k], deepest);
    }

    /// Fills the contact problem: `W` in factored form, `V_free` with the shifts of the contact laws, friction.
    pub fn assemble(
        &mut self,
        scene: &Scene,
        state: &State,
        system: &mut System,
        dt: f64,
        problem: &mut ContactProblem,
    ) {
        self.assemble_by(GapRule::ByLaw, scene, state, system, dt, problem);
    }

    /// The same with another rule for the gaps.
    pub fn assemble_by(
        &mut self,
        rule: GapRule,
        scene: &Scene,
        state: &State,
        system: &mut System,
        dt: f64,
        problem: &mut ContactProblem,
    ) {
        let w = problem.w.make_factored();
        let first = system.bodies.n_blocks();
        let carried = system.mechanisms.assign_blocks(scene, state, first);
        let nodes = system.flexible.assign_blocks(scene, first + carried as u32);
        let extra = carried + nodes;
        w.reset(system.bodies.inverse_masses(scene).chain(Mechanisms::placeholders(extra)));
        problem.approach_scale = dt / scene.resolution();
        problem.rolling.clear();
        self.touch_points(scene, system.q_m());
        self.keep(rule, scene, system, dt);

        let (points, n, at_m) = (self.points(), self.active.len(), &*system);
        parallel::set_length(&mut problem.v_rel_free, n);
        parallel::set_length(&mut problem.laws, n);
        w.set((&mut problem.v_rel_free, &mut problem.laws), |k, v_rel_free, unknowns| {
            let c = points.contact(k);
            let (arms, frame) = (at_m.arms(&c), c.frame());
            let relative = |v: &[Twist], when: Moment| {
                let relative = relative_velocity(v, c.bodies, arms);
                at_m.shear_velocity(&c, when).map_or(relative, |shear| relative + shear)
            };
            let (_, law) = meeting(scene, c.point);
            *unknowns = Law::Coulomb { friction: law.friction };
            let shift = match (rule, law.law) {
                (GapRule::OverStep { recovery }, _) => (c.point.gap / dt).max(-recovery),
                (GapRule::Overlapping, _) => 0.0,
                // Beyond any approach in one step.
                _ if points.is_apart(k) => {
                    let [i, j] = c.bodies.map(|b| b as usize);
                    smaller_size(scene, i, j) / dt
                }
                (_, ContactLaw::MoreauNewton) if law.restitution == 0.0 => 0.0,
                // Exactly Eq. (6), also if V_n⁻ > 0.
                (_, ContactLaw::MoreauNewton) => {
                    law.restitution * c.point.normal.dot(&relative(at_m.v_n(), Moment::Start))
                }
                (_, ContactLaw::QuasiShock) => {
                    let [i, j] = c.bodies.map(|b| b as usize);
                    open_gap(c.point.gap, smaller_size(scene, i, j)) / dt
                }
            };
            let v_rel = relative(at_m.v_free(), Moment::End);
            let [n, t1, t2] = frame;
            *v_rel_free = [n.dot(&v_rel) + shift, t1.dot(&v_rel), t2.dot(&v_rel)];
            let blocks = c.bodies.map(|b| at_m.bodies.block[b as usize]);
            (blocks, frame.map(Into::into), arms.map(Into::into))
        });
        if !(scene.mechanisms().is_empty() && scene.flexible().is_empty()) {
            self.add_groups(scene, state, system, problem);
        }
    }

    /// Determines which points take part under their law, and the depth of the deepest.
    fn keep(&mut self, rule: GapRule, scene: &Scene, system: &System, dt: f64) {
        let Contacts { detector, chosen, active, .. } = self;
        let detected = detector.chunks();
        let chunk = |c: usize| detected.get(c).unwrap_or(chosen);
        let n_chunks = detected.len() + 1;
        parallel::set_length(active, (0..n_chunks).map(|c| chunk(c).len()).sum());
        let some_open = AtomicBool::new(false);
        // Depths are not negative, so their bit patterns are ordered like their values.
        let deepest = AtomicU64::new(0);
        parallel::for_each_part(active, 0..n_chunks, &|c| chunk(c).len(), &|c, active| {
            let deeper = |depth: f64, p: &ContactPoint| if -p.gap > depth { -p.gap } else { depth };
            let depth = chunk(c).iter().fold(0.0, deeper);
            deepest.fetch_max(depth.to_bits(), Ordering::Relaxed);
            for (k, contact) in active.iter_mut().enumerate() {
                let point = &chunk(c)[k];
                let (bodies, law) = meeting(scene, point);
                let [i, j] = bodies.map(|b| b as usize);
                let mut apart = 0;
                let mut takes_part = match rule {
                    GapRule::Overlapping => point.gap < 0.0,
                    GapRule::OverStep { .. } => true,
                    GapRule::ByLaw if law.law != ContactLaw::MoreauNewton => true,
                    GapRule::ByLaw => {
                        closed(scene, chunk(c), k, CLOSED * smaller_size(scene, i, j)) || {
                            apart = Active::APART;
                            law.is_cohesive() && point.gap < scene.cohesion_range(law)
                        }
                    }
                };
                if c == detected.len() {
                    let arms = [i, j].map(|b| point.point - system.q_m()[b].position);
                    let v_rel = relative_velocity(system.v_free(), bodies, arms);
                    let nearest = point.gap + dt * point.normal.dot(&v_rel).min(0.0);
                    // Otherwise it is far from its plane.
                    takes_part &= nearest <= scene.detection().alert;
                }
                let closes = if law.law == ContactLaw::QuasiShock { Active::CLOSES } else { 0 };
                let place = (c * CHUNK_POINTS + k) as u32;
                let place = if takes_part { place | closes | apart } else { OPEN };
                *contact = Active { place, bodies };
                if !takes_part {
                    some_open.store(true, Ordering::Relaxed);
                }
            }
        });
        if some_open.into_inner() {
            active.retain(|c| c.place != OPEN);
        }
        self.deepest = f64::from_bits(deepest.into_inner());
    }

    /// The points of the contact problem; call it once before a loop over them.
    pub(super) fn points(&self) -> Points<'_> {
        let Contacts { detector, chosen, active, .. } = self;
        Points { detected: detector.chunks(), chosen, active }
    }

    /// Adds the sides of contacts on bodies carried by a mechanism and on nodes of flexible bodies; a mechanism that is a
    /// single free body is a block like any grain.
    fn add_groups(
        &mut self,
        scene: &Scene,
        state: &State,
        system: &mut System,
        problem: &mut ContactProblem,
    ) {
        let w = problem.w.make_factored();
        let bodies = scene.bodies();
        let mut gone = std::mem::take(&mut self.gone);
        gone.clear();
        for (c, contact) in self.active().enumerate() {
            let side = |b: u32, sign: f64| {
                let b = b as usize;
                let carried = bodies.carried[b].filter(|_| !bodies.movable[b]);
                carried.map(|c| (c.mechanism.index(), c.link, sign))
            };
            let node = |b: u32, sign: f64| {
                scene.node_at(b as usize).map(|(flexible, node)| (flexible, node, sign))
            };
            let [a, b] = contact.bodies;
            let (sides, nodes) = ([side(a, -1.0), side(b, 1.0)], [node(a, -1.0), node(b, 1.0)]);
            if sides == [None; 2] && nodes == [None; 2] {
                continue;
            }
            let (point, frame) = (contact.point.point, contact.frame());
            system.mechanisms.push_sides(scene, state, &sides, point, &frame, c, w);
            system.flexible.push_sides(scene, &nodes, Moves::At(point), &frame, c, w);
            if w.is_immovable(c) {
                // Both are driven: impulses have no effect.
                gone.resize(self.active.len(), false);
                gone[c] = true;
            }
        }
        if !gone.is_empty() {
            let kept = |k: &mut usize| {
                *k += 1;
                !gone[*k - 1]
            };
            let (mut a, mut b, mut c) = (0, 0, 0);
            self.active.retain(|_| kept(&mut a));
            problem.v_rel_free.retain(|_| kept(&mut b));
            problem.laws.retain(|_| kept(&mut c));
            w.remove(&gone);
        }
        self.gone = gone;
    }

    /// The chosen points at their planes. Each represents two colliders that follow all others.
    pub(crate) fn touch_points(&mut self, scene: &Scene, q_m: &[Pose]) {
        self.chosen.clear();
        let first = scene.colliders().len() as u32;
        for (k, c) in scene.points.iter().enumerate() {
            let [plane, body] = c.bodies.map(|b| &q_m[b as usize]);
            let normal = plane.vector(c.normal);
            let point = body.point(c.places[1]);
            let gap = normal.dot(&(point - plane.point(c.places[0])));
            let colliders = [first + 2 * k as u32, first + 2 * k as u32 + 1];
            // Midway between the two surfaces, as for shapes.
            let point = point - normal * (0.5 * gap);
            self.chosen.push(ContactPoint { colliders, feature: CHOSEN, point, normal, gap });
        }
    }

    /// Sum of the contact impulses on the bodies of a mechanism: force [N s] and moment about the
    /// world origin [N m s].
    pub fn pushes(&self, scene: &Scene, mechanism: usize, impulses: &Impulses) -> Spatial {
        let links = scene.links_of(mechanism);
        let mut sum = Spatial::default();
        for (c, r) in self.active().zip(impulses) {
            let impulse = c.impulse_w(r);
            for (body, sign) in c.bodies.into_iter().zip([-1.0, 1.0]) {
                if links.contains(&(body as usize)) {
                    let angular = c.point.point.cross(&impulse);
                    sum += Spatial { angular, linear: impulse } * sign;
                }
            }
        }
        sum
    }

    /// The contacts of the contact problem, in its order.
    pub fn active(&self) -> impl ExactSizeIterator<Item = ActiveContact<'_>> {
        let points = self.points();
        (0..self.active.len()).map(move |k| points.contact(k))
    }

    /// Whether the last detection found an overlap beyond a fraction of [`overlap_size`] [–].
    pub(super) fn has_overlap(&self, scene: &Scene, fraction: f64) -> bool {
        let deep = |p: &ContactPoint| {
            let [i, j] = meeting(scene, p).0.map(|b| b as usize);
            p.gap < -fraction * overlap_size(scene, i, j)
        };
        let chunks = self.detector.chunks();
        !parallel::all(chunks.len(), |c| !chunks[c].iter().any(|p| p.gap < 0.0 && deep(p)))
    }

    /// Deepest overlap found by the last detection, as a positive length [m].
    pub fn penetration(&self) -> f64 {
        self.deepest
    }

    /// Bytes held by the buffers, including those of the detector.
    pub(crate) fn bytes(&self) -> usize {
        self.detector.bytes()
            + bytes_of(&self.reach)
            + bytes_of(&self.motion)
            + bytes_of(&self.slips)
            + bytes_of(&self.old)
            + bytes_of(&self.chosen)
            + bytes_of(&self.active)
            + bytes_of(&self.gone)
            + self.adhesion.bytes()
    }

    /// The detector, for its statistics.
    pub fn detector(&self) -> &dyn ContactDetection {
        &*self.detector
    }
}

/// Whether a contact counts as closed: its gap is below a limit, or below twice the limit while a
/// neighbour of the same pair that lies in the same plane is closed. Otherwise rounding would let a
/// flat impact start at one corner.
fn closed(scene: &Scene, points: &[ContactPoint], k: usize, limit: f64) -> bool {
    let own = &points[k];
    let same_pair = |p: &ContactPoint| {
        p.colliders == own.colliders
            || own.feature == CHOSEN && meeting(scene, p).0 == meeting(scene, own).0
    };
    let near = |p: &ContactPoint| {
        p.gap <= limit && p.normal.dot(&own.normal) > 1.0 - 1e-12 && same_pair(p)
    };
    own.gap <= limit
        || own.gap <= 2.0 * limit && points[k.saturating_sub(3)..].iter().take(7).any(near)
}

/// Velocity of the second body relative to the first at a point with these arms [m/s].
pub(super) fn relative_velocity(v: &[Twist], bodies: [u32; 2], arms: [Vec3; 2]) -> Vec3 {
    let [i, j] = bodies.map(|b| &v[b as usize]);
    j.linear + j.angular.cross(&arms[1]) - i.linear - i.angular.cross(&arms[0])
}

/// Feature of a chosen point.
const CHOSEN: u32 = u32::MAX;

/// The two bodies of a contact and their law. A chosen point represents two colliders after all
/// others.
pub(crate) fn meeting<'a>(scene: &'a Scene, point: &ContactPoint) -> ([u32; 2], &'a PairLaw) {
    let n = scene.colliders().len();
    if let Some(beyond) = (point.colliders[0] as usize).checked_sub(n) {
        let chosen = &scene.points[beyond / 2];
        return (chosen.bodies, &chosen.law);
    }
    let [a, b] = point.colliders.map(|c| &scene.colliders()[c as usize]);
    ([a.body, b.body], scene.pairs.law(a.material, b.material))
}

/// The law of the pair of materials, or of the point contact, that a point belongs to.
pub(crate) fn contact_law<'a>(scene: &'a Scene, point: &ContactPoint) -> &'a PairLaw {
    meeting(scene, point).1
}

/// Size of the smaller of two bodies, of which at least one is movable [m].
pub(crate) fn smaller_size(scene: &Scene, i: usize, j: usize) -> f64 {
    let bodies = scene.bodies();
    let size = |k: usize| if bodies.size[k] > 0.0 { bodies.size[k] } else { f64::INFINITY };
    let smaller = size(i).min(size(j));
    if smaller.is_finite() { smaller } else { scene.grain_size() }
}

/// The length that corrected overlaps are relative to [m]: the size of the smaller body, or the mean
/// grain size if that is smaller.
pub(super) fn overlap_size(scene: &Scene, i: usize, j: usize) -> f64 {
    smaller_size(scene, i, j).min(scene.grain_size())
}

/// The gap that the quasi-shock law leaves open [m]: zero for overlaps and for gaps that count as
/// closed.
fn open_gap(gap: f64, size: f64) -> f64 {
    if gap <= NOISE * size { 0.0 } else { gap }
}

/// An impulse given in a frame, in the world frame [N s].
pub(super) fn in_world(frame: &[Vec3; 3], r: &[f64; 3]) -> Vec3 {
    frame[0] * r[0] + frame[1] * r[1] + frame[2] * r[2]
}

//! Fragmentation and wear: what contact forces do to stones between two steps.
//!
//! After a step, [`Degradation::observe`] compares the load on each stone with its strength and adds up the work of
//! friction at its corners; both are kept in the [`State`]. Before the next step, [`Degradation::apply`] breaks and
//! chamfers stones: it turns the scene into a new one and carries the state over. In between, a frame shows contacts
//! and bodies that belong together. Schemes know nothing about it.

mod changes;
mod stress;

pub use stress::{breaking_stress, love_weber, split_normal};

use crate::assembly::{ActiveContact, Contacts, System};
use crate::detect::ColliderSet;
use crate::friction::Impulses;
use crate::grains::{SieveCurve, aperture_of};
use crate::math::{Mat3, Pose, Vec3};
use crate::scene::{
    Break, CornerWear, DegradationState, Fragmentation, MeanLoad, Scene, State, Strength, Twist,
    Wear,
};
use crate::shape::Shape;

/// The sieve curve of all free bodies that have a sieve size; dust and fines are finer than every
/// sieve.
pub fn grading(scene: &Scene, state: &State) -> SieveCurve {
    let bodies = scene.bodies();
    let free = |i: &usize| bodies.movable[*i] && bodies.carried[*i].is_none();
    let size = |i: usize| aperture_of(scene.shape(scene.body_at(i)));
    let grains = (0..bodies.len()).filter(free).filter_map(|i| Some((size(i)?, bodies.mass[i])));
    let account = &state.degradation.account;
    SieveCurve::new(grains, account.dust.mass + account.worn.mass)
}

/// The contacts of a step and their forces.
#[derive(Clone, Copy, Debug)]
pub struct Loads<'a> {
    /// The contacts.
    pub contacts: &'a Contacts,
    /// Their impulses over the step [N s].
    pub impulses: &'a Impulses,
    /// The configuration in which they acted.
    pub system: &'a System,
    /// Velocities at the start of the step [m/s, rad/s].
    pub before: &'a [Twist],
    /// Length of the step [s].
    pub dt: f64,
}

/// Buffers of fragmentation and wear; they can be recomputed.
#[derive(Debug, Default)]
pub struct Degradation {
    /// Which colliders the following lists belong to.
    set: Option<ColliderSet>,
    stones: Vec<Stone>,
    stress: Vec<Mat3>,
    peak: Vec<f64>,
}

/// What a body needs to know in order to break or wear.
#[derive(Clone, Copy, Debug, Default)]
struct Stone {
    fragmentation: Option<Fragmentation>,
    wear: Option<Wear>,
    /// Its strength [Pa or N].
    strength: f64,
    /// Its volume [m³].
    volume: f64,
}

impl Degradation {
    /// Finds the stones of a scene, unless it is still the same one.
    fn look_up(&mut self, scene: &Scene) {
        if self.set == Some(scene.collider_set()) {
            return;
        }
        self.set = Some(scene.collider_set());
        self.stones.clear();
        self.stones.resize(scene.bodies().len(), Stone::default());
        for c in scene.colliders() {
            let slot = c.body as usize;
            let material = &scene.materials()[c.material as usize];
            let (fragmentation, wear) = (material.fragmentation, material.wear);
            if (fragmentation.is_none() && wear.is_none()) || !scene.can_degrade(slot) {
                continue;
            }
            let (size, quantile) = (scene.bodies().size[slot], scene.survival_quantile(slot));
            let strength = fragmentation
                .map_or(f64::INFINITY, |f| f.strength_of(size, quantile, scene.is_planar()));
            let volume = scene.shape(scene.body_at(slot)).volume();
            self.stones[slot] = Stone { fragmentation, wear, strength, volume };
        }
    }

    /// Strength of the stone at a slot of the scene [Pa or N]; infinite if it does not break.
    pub fn strength(&mut self, scene: &Scene, slot: usize) -> f64 {
        self.look_up(scene);
        let stone = &self.stones[slot];
        if stone.fragmentation.is_some() { stone.strength } else { f64::INFINITY }
    }

    /// Adds up loads and work of friction of a step, and notes which stones break.
    pub fn observe(&mut self, scene: &Scene, state: &mut State, loads: &Loads) {
        self.look_up(scene);
        let n = scene.bodies().len();
        self.stress.clear();
        self.stress.resize(n, Mat3::zeros());
        self.peak.clear();
        self.peak.resize(n, 0.0);
        let mut record = std::mem::take(&mut state.degradation);
        // Schemes without a configuration in between have their forces at the end of the step.
        let q = Some(loads.system.q_m()).filter(|q| q.len() == n).unwrap_or(&state.q);
        let starts = [loads.system.v_n(), loads.before];
        let before = starts.into_iter().find(|v| v.len() == n).unwrap_or(&state.v);
        let motion = Motion { q, before, after: &state.v };
        let mut pair = Touch::default();
        let wears = self.stones.iter().any(|s| s.wear.is_some());
        if wears && record.wear.len() != n {
            record.wear.resize(n, Vec::new());
        }
        for (k, (c, r)) in loads.contacts.active().zip(loads.impulses).enumerate() {
            let force = c.impulse_w(r) / loads.dt;
            if pair.colliders != c.point.colliders {
                self.end_pair(&pair, q);
                pair = Touch::new(&c);
            }
            pair.add(&c, force, loads.contacts.adhesion(k) / loads.dt);
            if wears {
                self.rub(scene, &motion, &c, force, loads.dt, &mut record);
            }
        }
        self.end_pair(&pair, q);
        self.judge(scene, q, loads.dt, &mut record);
        state.degradation = record;
    }

    /// Takes over the force between two bodies.
    fn end_pair(&mut self, touch: &Touch, q: &[Pose]) {
        if touch.pressure <= 0.0 && touch.adhesion <= 0.0 {
            return;
        }
        let total = touch.force.norm();
        let mut add = |force: Vec3, point: Vec3| {
            for (b, force) in touch.bodies.iter().zip([-force, force]) {
                let b = *b as usize;
                self.peak[b] = self.peak[b].max(total);
                if self.stones[b].fragmentation.is_some() {
                    self.stress[b] += love_weber(force, point - q[b].position);
                }
            }
        };
        // The force that obeys Signorini and Coulomb acts at its centre of pressure, the adhesive
        // one at the mean of its points.
        if touch.pressure > 0.0 {
            add(touch.force + touch.pull, touch.moment / touch.pressure);
        }
        if touch.adhesion > 0.0 {
            add(-touch.pull, touch.place / touch.adhesion);
        }
    }

    /// Notes the stones whose load reaches their strength.
    fn judge(&self, scene: &Scene, q: &[Pose], dt: f64, record: &mut DegradationState) {
        record.breaks.clear();
        let planar = scene.is_planar();
        for (slot, stone) in self.stones.iter().enumerate() {
            let Some(law) = stone.fragmentation else { continue };
            let rotation = q[slot].rotation.to_rotation_matrix();
            let world = self.stress[slot] / stone.volume;
            let body = rotation.matrix().transpose() * world * rotation.matrix();
            let mut load = (0.5 * (body + body.transpose()), self.peak[slot]);
            if law.average > dt {
                load =
                    averaged(&mut record.loads, slot, scene.bodies().len(), load, dt / law.average);
            }
            let reached = match law.strength {
                Strength::Stress(_) => breaking_stress(&load.0, planar),
                Strength::PeakForce(_) => load.1,
            };
            if reached >= stone.strength {
                let (body, shape) = (scene.body_at(slot), scene.shape(scene.body_at(slot)));
                let normal = split_normal(&load.0, shape, planar).into();
                record.breaks.push(Break { id: body.0, normal });
            }
        }
    }

    /// Adds the volume that a contact wears off to the nearest corners of its stones.
    fn rub(
        &self,
        scene: &Scene,
        motion: &Motion,
        c: &ActiveContact,
        force: Vec3,
        dt: f64,
        record: &mut DegradationState,
    ) {
        let [i, j] = c.bodies.map(|b| b as usize);
        if self.stones[i].wear.is_none() && self.stones[j].wear.is_none() {
            return;
        }
        let relative = motion.at(j, c.point.point) - motion.at(i, c.point.point);
        let normal = c.point.normal;
        let friction = force - normal * force.dot(&normal);
        let work = -friction.dot(&relative) * dt;
        if work <= 0.0 {
            return;
        }
        for (b, outward) in [(i, normal), (j, -normal)] {
            let Some(wear) = self.stones[b].wear else { continue };
            record.account.friction_work += work;
            let pose = &motion.q[b];
            let place = pose.inverse_point(c.point.point) + scene.bodies().centre[b];
            let outward = pose.rotation.inverse() * outward;
            let corner = nearest_corner(scene.shape(scene.body_at(b)), place);
            add_wear(&mut record.wear[b], corner, wear.rate() * work, outward);
        }
    }

    /// Breaks and chamfers the stones that are due. The scene, and whether it has changed.
    pub fn apply(&mut self, scene: Scene, state: &mut State) -> (Scene, bool) {
        self.look_up(&scene);
        let changes = changes::due(&scene, state, &self.stones);
        state.degradation.breaks.clear();
        if changes.is_empty() {
            return (scene, false);
        }
        (changes::apply(scene, state, changes), true)
    }

    /// Whether [`Degradation::apply`] may have something to do.
    pub fn is_due(&mut self, scene: &Scene, state: &State) -> bool {
        let record = &state.degradation;
        if !record.breaks.is_empty() {
            return true;
        }
        self.look_up(scene);
        record.wear.iter().zip(&self.stones).any(|(corners, stone)| {
            let Some(wear) = stone.wear else { return false };
            corners.iter().any(|c| c.volume >= wear.chamfer * stone.volume)
        })
    }
}

/// The contact of two bodies: the resultant over its points, which are consecutive, at the centre
/// of pressure. Frictional forces that balance each other within one contact are not unique, and no
/// part of it.
#[derive(Clone, Copy, Debug, Default)]
struct Touch {
    colliders: [u32; 2],
    bodies: [u32; 2],
    /// On the second body, with the adhesive force [N].
    force: Vec3,
    /// Sum of the normal forces without the adhesive ones [N], and of their products with the points
    /// [N m].
    pressure: f64,
    moment: Vec3,
    /// The adhesive force, opposite to the one on the second body [N], the sum of its sizes, and
    /// that of their products with the points [N m].
    pull: Vec3,
    adhesion: f64,
    place: Vec3,
}

impl Touch {
    fn new(c: &ActiveContact) -> Touch {
        Touch { colliders: c.point.colliders, bodies: c.bodies, ..Touch::default() }
    }

    /// Adds a force [N] that contains an adhesive one [N].
    fn add(&mut self, c: &ActiveContact, force: Vec3, adhesion: f64) {
        let normal = force.dot(&c.point.normal) + adhesion;
        self.force += force;
        self.pressure += normal;
        self.moment += c.point.point * normal;
        self.pull += c.point.normal * adhesion;
        self.adhesion += adhesion;
        self.place += c.point.point * adhesion;
    }
}

/// The bodies during a step.
struct Motion<'a> {
    q: &'a [Pose],
    before: &'a [Twist],
    after: &'a [Twist],
}

impl Motion<'_> {
    /// Mean velocity of a point of a body [m/s].
    fn at(&self, body: usize, point: Vec3) -> Vec3 {
        let (a, b) = (&self.before[body], &self.after[body]);
        let arm = point - self.q[body].position;
        0.5 * (a.linear + b.linear + (a.angular + b.angular).cross(&arm))
    }
}

/// Takes the load of a step into the mean with a weight [–], and returns the mean.
fn averaged(
    loads: &mut Vec<MeanLoad>,
    slot: usize,
    n: usize,
    (stress, peak): (Mat3, f64),
    weight: f64,
) -> (Mat3, f64) {
    if loads.len() != n {
        loads.resize(n, MeanLoad::default());
    }
    let mean = &mut loads[slot];
    let s = [(0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)].map(|at| stress[at]);
    for (mean, s) in mean.stress.iter_mut().zip(s) {
        *mean += weight * (s - *mean);
    }
    mean.peak += weight * (peak - mean.peak);
    let [xx, yy, zz, xy, xz, yz] = mean.stress;
    (Mat3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz), mean.peak)
}

/// The corner of a polyhedron or polygon nearest to a point [m].
fn nearest_corner(shape: &Shape, point: Vec3) -> u32 {
    let mut best = (f64::INFINITY, 0);
    let mut try_corner = |k: usize, corner: Vec3| {
        let d = (corner - point).norm_squared();
        if d < best.0 {
            best = (d, k as u32);
        }
    };
    match shape {
        Shape::Polyhedron(p) => {
            p.vertices().iter().enumerate().for_each(|(k, v)| try_corner(k, *v))
        }
        Shape::Polygon(p) => {
            let corners = p.vertices().iter().enumerate();
            corners.for_each(|(k, v)| try_corner(k, Vec3::new(v[0], v[1], point.z)));
        }
        _ => {}
    }
    best.1
}

/// Adds a volume [m³] at a corner, with the outward normal of the contact.
fn add_wear(corners: &mut Vec<CornerWear>, corner: u32, volume: f64, outward: Vec3) {
    let known = corners.iter().position(|c| c.corner == corner).unwrap_or_else(|| {
        corners.push(CornerWear { corner, ..CornerWear::default() });
        corners.len() - 1
    });
    let at = &mut corners[known];
    at.volume += volume;
    for k in 0..3 {
        at.normal[k] += volume * outward[k];
    }
}

#[cfg(test)]
mod tests;

//! Part 1: the contacts of a step, anchored in the features that meet, and the islands they form.

use crate::assembly::{Contacts, meeting, smaller_size};
use crate::detect::{ContactPoint, Meeting, Placement};
use crate::math::{Pose, Vec3, tangents};
use crate::scene::{HeldClass, HeldContact, Scene, Twist};

/// Two bodies that touch.
#[derive(Clone, Debug)]
pub struct Touch {
    /// Where it was found.
    pub point: ContactPoint,
    /// The two bodies.
    pub bodies: [usize; 2],
    /// The features that meet.
    pub meeting: Meeting,
    /// Coefficients of friction and restitution [–].
    pub friction: f64,
    pub restitution: f64,
    /// Whether the contact lasts: it does not separate.
    pub held: bool,
    /// Whether it slid in the last step.
    pub slides: bool,
    /// Sliding velocity in the world frame at the start, if it slides [m/s].
    pub slip: Option<Vec3>,
    /// Whether it needs an impulse although nothing approaches: no force is consistent.
    pub pushed: bool,
    /// Whether it stops sliding at the end of the step.
    pub stops: bool,
    /// Force at the last stage [N], in the frame of the contact, and class there.
    pub force: [f64; 3],
    pub class: HeldClass,
    /// Impulse over the step on the second body, in the world frame [N s].
    pub impulse: Vec3,
}

impl Touch {
    /// The contact at a configuration.
    pub fn at(&self, q: &[Pose], v: &[Twist]) -> Placement {
        let [i, j] = self.bodies;
        self.meeting.at([&q[i], &q[j]], [&v[i], &v[j]])
    }

    /// Velocity of the second body relative to the first at the contact point [m/s].
    pub fn velocity(&self, place: &Placement, q: &[Pose], v: &[Twist]) -> Vec3 {
        let of = |b: usize| v[b].linear + v[b].angular.cross(&(place.point - q[b].position));
        of(self.bodies[1]) - of(self.bodies[0])
    }

    /// Whether it carries a force at the last stage.
    pub fn persists(&self) -> bool {
        self.held && self.class != HeldClass::Breaking
    }
}

/// Rows n, t1, t2 of the frame of a normal.
pub fn frame(normal: Vec3) -> [Vec3; 3] {
    let (t1, t2) = tangents(normal);
    [normal, t1, t2]
}

/// The features that meet at a point found at these poses.
pub fn meeting_at(scene: &Scene, point: &ContactPoint, q: &[Pose]) -> Meeting {
    let colliders = scene.colliders();
    if let Some(beyond) = (point.colliders[0] as usize).checked_sub(colliders.len()) {
        let chosen = &scene.point_contacts()[beyond / 2];
        return Meeting::chosen(chosen.normal, chosen.places);
    }
    let [a, b] = point.colliders.map(|c| &colliders[c as usize]);
    Meeting::of([a, b], [&q[a.body as usize], &q[b.body as usize]], point)
}

/// Whether a found point is of two bodies of which impulses move at least one.
pub fn counts(scene: &Scene, point: &ContactPoint) -> bool {
    let movable = &scene.bodies().movable;
    meeting(scene, point).0.iter().any(|b| movable[*b as usize])
}

/// The points found at a configuration that touch; returns the deepest overlap [m].
pub fn touching(
    scene: &Scene,
    contacts: &mut Contacts,
    (q, v): (&[Pose], &[Twist]),
    tolerance: f64,
    known: &[HeldContact],
    out: &mut Vec<Touch>,
) -> f64 {
    contacts.detect_at(scene, q, v, 0.0);
    contacts.touch_points(scene, q);
    out.clear();
    let mut deepest = 0.0_f64;
    for point in contacts.found().filter(|p| counts(scene, p)) {
        let (bodies, law) = meeting(scene, point);
        let bodies = bodies.map(|b| b as usize);
        let near = tolerance * smaller_size(scene, bodies[0], bodies[1]);
        deepest = deepest.max(-point.gap);
        if point.gap > near {
            continue;
        }
        let old = recall(known, point);
        out.push(Touch {
            point: *point,
            bodies,
            meeting: meeting_at(scene, point, q),
            friction: law.friction,
            restitution: law.restitution,
            held: false,
            slides: old.is_some_and(|old| old.slides),
            slip: None,
            pushed: false,
            stops: false,
            force: old.map_or([0.0; 3], |old| old.force),
            class: old.map_or(HeldClass::Breaking, |old| old.class),
            impulse: Vec3::zeros(),
        });
    }
    deepest
}

/// The same contact in the last step.
fn recall<'a>(known: &'a [HeldContact], point: &ContactPoint) -> Option<&'a HeldContact> {
    let first = known.partition_point(|k| k.colliders < point.colliders);
    let mut same = known[first..].iter().take_while(|k| k.colliders == point.colliders);
    same.find(|k| k.feature == point.feature)
}

/// Contacts connected through bodies that impulses move.
#[derive(Debug, Default)]
pub struct Islands {
    parent: Vec<u32>,
    /// Island of each root.
    number: Vec<u32>,
    /// Contacts of each island.
    pub members: Vec<Vec<u32>>,
    pub len: usize,
}

impl Islands {
    /// Groups the contacts for which `chosen` holds.
    pub fn group(&mut self, scene: &Scene, touches: &[Touch], chosen: impl Fn(&Touch) -> bool) {
        let movable = &scene.bodies().movable;
        self.parent.clear();
        self.parent.extend(0..movable.len() as u32);
        for touch in touches.iter().filter(|t| chosen(t)) {
            let [a, b] = touch.bodies;
            if movable[a] && movable[b] {
                let (a, b) = (self.root(a), self.root(b));
                // The smaller index represents the island, so that its number does not depend on the order.
                self.parent[a.max(b)] = a.min(b) as u32;
            }
        }
        self.number.clear();
        self.number.resize(movable.len(), u32::MAX);
        self.len = 0;
        for (k, touch) in touches.iter().enumerate().filter(|(_, t)| chosen(t)) {
            let body = if movable[touch.bodies[0]] { touch.bodies[0] } else { touch.bodies[1] };
            let root = self.root(body);
            if self.number[root] == u32::MAX {
                self.number[root] = self.len as u32;
                if self.members.len() == self.len {
                    self.members.push(Vec::new());
                }
                self.members[self.len].clear();
                self.len += 1;
            }
            self.members[self.number[root] as usize].push(k as u32);
        }
    }

    fn root(&mut self, mut body: usize) -> usize {
        while self.parent[body] as usize != body {
            self.parent[body] = self.parent[self.parent[body] as usize];
            body = self.parent[body] as usize;
        }
        body
    }
}

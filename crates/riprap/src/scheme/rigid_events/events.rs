//! Events that end a step (Sec. 9): two bodies come into contact, or a contact stops sliding. Their time is the root of
//! a gap or of a sliding velocity on the cubic interpolant of the step.

use super::touch::{Touch, counts, meeting_at};
use crate::assembly::{Contacts, meeting, smaller_size};
use crate::detect::ContactPoint;
use crate::math::{Pose, Quat, Vec3};
use crate::scene::{Scene, Twist};
use crate::scheme::runge_kutta::Moving;

/// What a trial step ran into.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// An event, at this fraction of the step.
    Event(f64),
    /// Bodies overlap at the end, but the features that meet there never parted, or their contact was held: the step is
    /// too long.
    Unclear,
}

impl Found {
    /// The earlier of two.
    fn first(self, other: Found) -> Found {
        match (self, other) {
            (Found::Event(a), Found::Event(b)) => Found::Event(a.min(b)),
            (Found::Nothing, found) | (found, Found::Nothing) => found,
            _ => Found::Unclear,
        }
    }
}

/// A trial step: configurations at both ends.
pub struct Trial<'a> {
    pub scene: &'a Scene,
    pub h: f64,
    pub start: (&'a [Pose], &'a [Twist]),
    pub end: (&'a [Pose], &'a [Twist]),
    /// Overlap that is tolerated, relative to the smaller body [–].
    pub tolerance: f64,
    /// Sliding velocity that counts as none [m/s].
    pub still: f64,
}

impl Trial<'_> {
    /// The first event of the step.
    pub fn first_event(&self, contacts: &mut Contacts, touches: &[Touch]) -> Found {
        self.first_contact(contacts, touches).first(self.first_stop(touches))
    }

    /// The first new contact: overlaps at the end.
    fn first_contact(&self, contacts: &mut Contacts, touches: &[Touch]) -> Found {
        let (q, v) = self.end;
        contacts.detect_at(self.scene, q, v, 0.0);
        contacts.touch_points(self.scene, q);
        let deep = |p: &&ContactPoint| {
            let [i, j] = meeting(self.scene, p).0.map(|b| b as usize);
            p.gap < -self.tolerance * smaller_size(self.scene, i, j) && counts(self.scene, p)
        };
        let found = contacts.found().filter(deep).map(|p| match held(touches, p) {
            None => self.closing(p),
            // A held contact drifts: the step is too long.
            Some(touch) if p.gap < 2.0 * touch.point.gap.min(0.0) => Found::Unclear,
            Some(_) => Found::Nothing,
        });
        found.fold(Found::Nothing, Found::first)
    }

    /// When the features that overlap at the end came together.
    fn closing(&self, point: &ContactPoint) -> Found {
        let features = meeting_at(self.scene, point, self.end.0);
        let bodies = meeting(self.scene, point).0.map(|b| b as usize);
        let gap = |at: f64| {
            let ([a, b], [va, vb]) = self.between(bodies, at);
            features.at([&a, &b], [&va, &vb]).gap
        };
        // Back from the end until they are apart: a low rebound returns soon after its start.
        let mut after = 1.0;
        for _ in 0..BACK {
            let before = 0.5 * after;
            if gap(before) > 0.0 {
                return Found::Event(root(gap, before, after));
            }
            after = before;
        }
        match gap(0.0) {
            open if open > 0.0 => Found::Event(root(gap, 0.0, after)),
            // An overlap that was there before, and does not grow.
            overlap if overlap <= gap(1.0) => Found::Nothing,
            _ => Found::Unclear,
        }
    }

    /// The first contact that stops sliding: its velocity turns round.
    fn first_stop(&self, touches: &[Touch]) -> Found {
        let mut found = Found::Nothing;
        for touch in touches.iter().filter(|t| t.persists()) {
            let Some(start) = touch.slip else { continue };
            let along = start / start.norm();
            let speed = |at: f64| {
                let (q, v) = self.between(touch.bodies, at);
                let place = touch.meeting.at([&q[0], &q[1]], [&v[0], &v[1]]);
                let of =
                    |s: usize| v[s].linear + v[s].angular.cross(&(place.point - q[s].position));
                along.dot(&(of(1) - of(0)))
            };
            if speed(1.0) < -self.still {
                found = found.first(Found::Event(root(speed, 0.0, 1.0)));
            }
        }
        found
    }

    /// Marks the contacts that stop sliding at the end of the step.
    pub fn mark_stops(&self, touches: &mut [Touch]) -> u64 {
        let (q, v) = self.end;
        let mut stops = 0;
        for touch in touches.iter_mut().filter(|t| t.persists()) {
            let Some(start) = touch.slip else { continue };
            let place = touch.at(q, v);
            let s = touch.velocity(&place, q, v);
            let s = s - place.normal * place.normal.dot(&s);
            // The rest is the error of the root, or turning aside.
            touch.stops = s.dot(&start) <= 10.0 * self.still * start.norm()
                && s.norm() <= (100.0 * self.still).max(0.01 * start.norm());
            stops += u64::from(touch.stops);
        }
        stops
    }

    /// Two bodies at a fraction of the step: cubic interpolation of positions and quaternions.
    fn between(&self, bodies: [usize; 2], at: f64) -> ([Pose; 2], [Twist; 2]) {
        let [a, b] = bodies.map(|i| {
            let ends = [
                Moving::of(&self.start.0[i], &self.start.1[i]),
                Moving::of(&self.end.0[i], &self.end.1[i]),
            ];
            interpolate(&ends, self.h, at)
        });
        ([a.0, b.0], [a.1, b.1])
    }
}

/// Halvings of the step in the search for a time before the contact.
const BACK: usize = 40;

/// The held contact at a point.
fn held<'a>(touches: &'a [Touch], point: &ContactPoint) -> Option<&'a Touch> {
    let first = touches.partition_point(|t| t.point.colliders < point.colliders);
    let mut same = touches[first..].iter().take_while(|t| t.point.colliders == point.colliders);
    same.find(|t| t.held && t.point.feature == point.feature)
}

/// Pose and velocity at a fraction `x` of a step of length `h` [s], from those at its ends.
fn interpolate(ends: &[Moving; 2], h: f64, x: f64) -> (Pose, Twist) {
    let [a, b] = ends;
    let rates = [a.drift(), b.drift()];
    let y = 1.0 - x;
    // Hermite's cubics and their derivatives.
    let c = [y * y * (1.0 + 2.0 * x), x * x * (3.0 - 2.0 * x), h * x * y * y, -h * x * x * y];
    let d = [-6.0 * x * y / h, 6.0 * x * y / h, y * (1.0 - 3.0 * x), x * (3.0 * x - 2.0)];
    let mix =
        |w: &[f64; 4], p: f64, q: f64, r: f64, s: f64| w[0] * p + w[1] * q + w[2] * r + w[3] * s;
    let position = |w: &[f64; 4]| {
        Vec3::from_fn(|k, _| mix(w, a.position[k], b.position[k], a.linear[k], b.linear[k]))
    };
    // The quaternion at the end may have the other sign.
    let dot: f64 = (0..4).map(|k| a.rotation[k] * b.rotation[k]).sum();
    let sign = if dot < 0.0 { -1.0 } else { 1.0 };
    let rotation = |w: &[f64; 4]| -> [f64; 4] {
        std::array::from_fn(|k| {
            let (end, rate) = (sign * b.rotation[k], sign * rates[1].rotation[k]);
            mix(w, a.rotation[k], end, rates[0].rotation[k], rate)
        })
    };
    let (q, q_rate) = (rotation(&c), rotation(&d));
    let length: f64 = q.iter().map(|x| x * x).sum();
    // ω = 2 q̇ q⁻¹
    let [i, j, k, w] = q;
    let [di, dj, dk, dw] = q_rate;
    let angular = Vec3::new(
        di * w - dw * i - dj * k + dk * j,
        dj * w - dw * j - dk * i + di * k,
        dk * w - dw * k - di * j + dj * i,
    ) * (2.0 / length);
    let pose = Pose { position: position(&c), rotation: Quat::new_normalize([i, j, k, w].into()) };
    (pose, Twist { linear: position(&d), angular })
}

/// Root of a function that is positive at `a` and not at `b`, by the Illinois method.
fn root(f: impl Fn(f64) -> f64, mut a: f64, mut b: f64) -> f64 {
    let (mut fa, mut fb) = (f(a), f(b));
    let mut side = 0;
    for _ in 0..100 {
        if fa <= 0.0 {
            return a;
        }
        let x = a + (b - a) * (fa / (fa - fb));
        let x = if x > a && x < b { x } else { 0.5 * (a + b) };
        let fx = f(x);
        if fx > 0.0 {
            (a, fa) = (x, fx);
            if side == 1 {
                fb *= 0.5;
            }
            side = 1;
        } else {
            (b, fb) = (x, fx);
            if side == -1 {
                fa *= 0.5;
            }
            side = -1;
        }
        if fx == 0.0 || b - a <= 1e-15 * b {
            break;
        }
    }
    b
}

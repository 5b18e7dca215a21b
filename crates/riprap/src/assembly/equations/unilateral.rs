//! Unilateral constraints: contacts between shapes and of chosen points, with gap, gradient and the
//! rows of their tangential velocities.

use super::rows::Rows;
use super::{Configuration, Equations};
use crate::assembly::Contacts;
use crate::math::{Pose, Vec3, tangents};
use crate::multibody::PointColumn;
use crate::scene::{Scene, Twist};

/// Identifies a contact from one evaluation to the next: its two colliders and the features that
/// meet.
pub type Key = ([u32; 2], u32);

/// One contact.
#[derive(Clone, Copy, Debug)]
pub struct Contact {
    /// Its identity.
    pub key: Key,
    /// The two bodies.
    pub bodies: [usize; 2],
    /// Gap [m].
    pub gap: f64,
    /// Contact point [m].
    pub point: Vec3,
    /// Normal, first tangent, second tangent.
    pub frame: [Vec3; 3],
    /// Coefficient of friction [–].
    pub friction: f64,
    /// Coefficient of restitution [–].
    pub restitution: f64,
}

/// The contacts of a scene at the last evaluation.
#[derive(Debug, Default)]
pub struct Unilateral {
    /// The contacts, ordered by key.
    pub contacts: Vec<Contact>,
    /// Contact points on both bodies and the normal, in the frames of the bodies; see
    /// [`Unilateral::follow`].
    anchors: Vec<[Vec3; 3]>,
    columns: [Vec<PointColumn>; 2],
}

/// What is known at the start of a step: poses and velocities, for the velocity before an impact.
pub struct Start<'a> {
    /// Poses of all bodies.
    pub q: &'a [Pose],
    /// Velocities of all bodies.
    pub v: &'a [Twist],
}

impl Unilateral {
    /// Takes the contact points found by a detection.
    pub fn collect(&mut self, scene: &Scene, found: &Contacts) {
        self.contacts.clear();
        for point in found.found() {
            let (bodies, law) = crate::assembly::contacts::meeting(scene, point);
            let bodies = bodies.map(|b| b as usize);
            let (t1, t2) = tangents(point.normal);
            self.contacts.push(Contact {
                key: (point.colliders, point.feature),
                bodies,
                gap: point.gap,
                point: point.point,
                frame: [point.normal, t1, t2],
                friction: law.friction,
                restitution: law.restitution,
            });
        }
    }

    /// Fixes the contact points and normals to the bodies, for [`Unilateral::follow`].
    pub fn freeze(&mut self, at: &Configuration) {
        self.anchors.clear();
        for c in &self.contacts {
            let [a, b] = c.bodies.map(|b| &at.q[b]);
            let half = c.frame[0] * (0.5 * c.gap);
            let points = [a.inverse_point(c.point - half), b.inverse_point(c.point + half)];
            self.anchors.push([points[0], points[1], a.inverse_vector(c.frame[0])]);
        }
    }

    /// Moves the contacts with their bodies instead of finding them again: gap, point and normal of
    /// the material points at the time of [`Unilateral::freeze`].
    pub fn follow(&mut self, at: &Configuration) {
        for (c, [on_a, on_b, normal]) in self.contacts.iter_mut().zip(&self.anchors) {
            let [a, b] = c.bodies.map(|b| &at.q[b]);
            let (pa, pb, normal) = (a.point(*on_a), b.point(*on_b), a.vector(*normal));
            let (t1, t2) = tangents(normal);
            c.gap = normal.dot(&(pb - pa));
            c.point = (pa + pb) * 0.5;
            c.frame = [normal, t1, t2];
        }
    }

    /// Appends the rows of a contact: along the normal, and along both tangents if it has friction.
    pub fn push_rows(
        &mut self,
        scene: &Scene,
        at: &Configuration,
        e: &Equations,
        v: &[f64],
        k: usize,
        tangential: bool,
        rows: &mut Rows,
    ) {
        let c = self.contacts[k];
        for side in 0..2 {
            e.columns(scene, at, c.bodies[side], c.point, &mut self.columns[side]);
        }
        for direction in &c.frame[..if tangential { 3 } else { 1 }] {
            let mut moving = 0.0;
            for (side, sign) in [(0, -1.0), (1, 1.0)] {
                for x in &self.columns[side] {
                    let value = sign * direction.dot(&x.linear);
                    rows.add(x.index, value, e.prescribed[x.index], v[x.index]);
                }
                if self.columns[side].is_empty() {
                    let (b, twist) = (c.bodies[side], &e.twists[c.bodies[side]]);
                    let arm = c.point - at.q[b].position;
                    moving += sign * direction.dot(&(twist.linear + twist.angular.cross(&arm)));
                }
            }
            rows.end(moving);
        }
    }
}

impl Contact {
    /// Normal velocity at the start of the step [m/s]: of the same points of the two bodies, along the
    /// normal fixed to the first body.
    pub fn velocity_before(&self, q: &[Pose], start: &Start) -> f64 {
        let [i, j] = self.bodies;
        let normal = start.q[i].vector(q[i].inverse_vector(self.frame[0]));
        let at = |b: usize| {
            let arm = start.q[b].vector(q[b].inverse_vector(self.point - q[b].position));
            start.v[b].linear + start.v[b].angular.cross(&arm)
        };
        normal.dot(&(at(j) - at(i)))
    }
}

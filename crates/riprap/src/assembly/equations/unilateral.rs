//! Unilateral constraints: contacts between shapes and of chosen points, with gap, gradient and the
//! rows of their tangential velocities.

use super::rows::{Column, Rows};
use super::{Configuration, Equations};
use crate::assembly::Contacts;
use crate::math::{Pose, Vec3, tangents};
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
    columns: [Vec<Column>; 2],
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

    /// Makes some of the contacts the active ones of the step, with the deepest overlap [m].
    pub fn select(
        &self,
        scene: &Scene,
        to: &mut Contacts,
        chosen: impl Fn(usize) -> bool,
        deepest: f64,
    ) {
        to.select(scene, chosen, deepest);
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

    /// Derivative of the normal row of a contact, with its normal fixed to the first body and its
    /// point to the second: calls `out(k, l, ∂G_k/∂q_l)`.
    pub fn second(
        &mut self,
        scene: &Scene,
        at: &Configuration,
        e: &Equations,
        k: usize,
        direction: &Vec3,
        mut out: impl FnMut(usize, usize, f64),
    ) {
        let c = self.contacts[k];
        for side in 0..2 {
            e.columns(scene, at, c.bodies[side], c.point, &mut self.columns[side]);
        }
        let [first, second] = &self.columns;
        for (from, l) in first.iter().map(|l| (0, l)).chain(second.iter().map(|l| (1, l))) {
            let turned = if from == 0 { l.angular.cross(direction) } else { Vec3::zeros() };
            for k in first {
                let moved = if from == 0 { k.change_here(l) } else { k.angular.cross(&l.linear) };
                out(k.index, l.index, -turned.dot(&k.linear) - direction.dot(&moved));
            }
            for k in second {
                let moved = if from == 1 { k.change(l) } else { Vec3::zeros() };
                out(k.index, l.index, turned.dot(&k.linear) + direction.dot(&moved));
            }
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

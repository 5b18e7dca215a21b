//! Removal of drift, which is not in the paper: positions and velocities of contacts that last are moved by the
//! smallest amount, weighted by masses, that closes their gaps and stops their relative motion. The integration leaves
//! errors of fifth order in the step there.

use super::forces::Bodies;
use super::touch::{Touch, frame};
use crate::friction::{BlockVelocities, Factored, Operator};
use crate::math::{Pose, Vec3, turn};
use crate::scene::{HeldClass, Twist};

/// Buffers of the projection.
#[derive(Default)]
pub struct Projection {
    w: Factored,
    /// The contacts that last.
    members: Vec<u32>,
    /// Whether the tangential rows of each take part.
    sticks: Vec<bool>,
    residual: Vec<[f64; 3]>,
    direction: Vec<[f64; 3]>,
    image: Vec<[f64; 3]>,
    change: BlockVelocities,
    block: Vec<u32>,
    bodies: Vec<u32>,
    solution: Vec<[f64; 3]>,
}

/// Drift that counts as none.
#[derive(Clone, Copy, Debug)]
pub struct Drift {
    /// Gap [m].
    pub gap: f64,
    /// Velocity [m/s].
    pub velocity: f64,
}

impl Projection {
    /// Moves `q` and `v`.
    pub fn apply(
        &mut self,
        at: &Bodies,
        touches: &[Touch],
        (q, v): (&mut [Pose], &mut [Twist]),
        drift: &Drift,
    ) {
        self.members.clear();
        let last = |(_, t): &(usize, &Touch)| t.persists();
        self.members.extend(touches.iter().enumerate().filter(last).map(|(k, _)| k as u32));
        if self.members.is_empty() {
            return;
        }
        self.assemble(at, touches, q, v);
        self.sticks.iter_mut().for_each(|s| *s = false);
        for (r, &k) in self.residual.iter_mut().zip(&self.members) {
            *r = [-touches[k as usize].at(q, v).gap, 0.0, 0.0];
        }
        if self.solve(drift.gap) {
            for (body, c) in self.bodies.iter().zip(&self.change) {
                let pose = &mut q[*body as usize];
                pose.position += Vec3::new(c[0], c[1], c[2]);
                pose.rotation = turn(pose.rotation, Vec3::new(c[3], c[4], c[5]));
            }
        }
        self.stop_members(at, touches, (q, v), drift.velocity, |t| {
            t.stops || t.slip.is_none() && t.class == HeldClass::Static
        });
    }

    /// Removes relative velocities that count as none from all held contacts.
    pub fn stop(
        &mut self,
        at: &Bodies,
        touches: &[Touch],
        (q, v): (&[Pose], &mut [Twist]),
        small: f64,
    ) {
        self.members.clear();
        let held = |(_, t): &(usize, &Touch)| t.held;
        self.members.extend(touches.iter().enumerate().filter(held).map(|(k, _)| k as u32));
        if !self.members.is_empty() {
            self.stop_members(at, touches, (q, v), small, |t| t.slip.is_none());
        }
    }

    /// Removes normal velocities, and tangential ones where `sticks` holds.
    fn stop_members(
        &mut self,
        at: &Bodies,
        touches: &[Touch],
        (q, v): (&[Pose], &mut [Twist]),
        small: f64,
        sticks: impl Fn(&Touch) -> bool,
    ) {
        self.assemble(at, touches, q, v);
        for (k, r) in self.residual.iter_mut().enumerate() {
            let touch = &touches[self.members[k] as usize];
            let place = touch.at(q, v);
            let s = touch.velocity(&place, q, v);
            self.sticks[k] = sticks(touch) && touch.friction > 0.0;
            let [n, t1, t2] = frame(place.normal).map(|e| -e.dot(&s));
            *r = if self.sticks[k] { [n, t1, t2] } else { [n, 0.0, 0.0] };
        }
        if self.solve(small) {
            for (body, c) in self.bodies.iter().zip(&self.change) {
                let twist = &mut v[*body as usize];
                twist.linear += Vec3::new(c[0], c[1], c[2]);
                twist.angular += Vec3::new(c[3], c[4], c[5]);
            }
        }
    }

    /// `A` of the contacts that last.
    fn assemble(&mut self, at: &Bodies, touches: &[Touch], q: &[Pose], v: &[Twist]) {
        let movable = &at.scene.bodies().movable;
        self.block.clear();
        self.block.resize(movable.len(), Factored::NONE);
        self.bodies.clear();
        for &k in &self.members {
            for body in touches[k as usize].bodies {
                if movable[body] && self.block[body] == Factored::NONE {
                    self.block[body] = self.bodies.len() as u32;
                    self.bodies.push(body as u32);
                }
            }
        }
        self.w.reset(self.bodies.iter().map(|b| at.inverse_mass(*b as usize)));
        for &k in &self.members {
            let touch = &touches[k as usize];
            let place = touch.at(q, v);
            let arms = touch.bodies.map(|b| (place.point - q[b].position).into());
            let blocks = touch.bodies.map(|b| self.block[b]);
            self.w.push(blocks, frame(place.normal).map(Into::into), arms);
        }
        let n = self.members.len();
        self.residual.resize(n, [0.0; 3]);
        self.sticks.resize(n, false);
    }

    /// Solves `A x = r` on the chosen rows by conjugate gradients, which gives the smallest solution if there are
    /// several, down to an error of a thousandth of `small`. False if there is nothing to do.
    fn solve(&mut self, small: f64) -> bool {
        let largest = |r: &[[f64; 3]]| r.as_flattened().iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let Projection { w, sticks, residual: r, direction: p, image, change, solution, .. } = self;
        if largest(r) <= 1e-3 * small {
            return false;
        }
        solution.clear();
        solution.resize(r.len(), [0.0; 3]);
        p.clone_from(r);
        let dot = |a: &[[f64; 3]], b: &[[f64; 3]]| -> f64 {
            a.as_flattened().iter().zip(b.as_flattened()).map(|(x, y)| x * y).sum()
        };
        let mut rr = dot(r, r);
        for _ in 0..4 * 3 * r.len() {
            w.start(p, change);
            image.clear();
            image.extend((0..r.len()).map(|k| {
                let x = w.velocity(k, p, change);
                if sticks[k] { x } else { [x[0], 0.0, 0.0] }
            }));
            let curvature = dot(p, image);
            if curvature <= 0.0 {
                break;
            }
            let step = rr / curvature;
            for k in 0..r.len() {
                for i in 0..3 {
                    solution[k][i] += step * p[k][i];
                    r[k][i] -= step * image[k][i];
                }
            }
            let next = dot(r, r);
            if largest(r) <= 1e-6 * small || next == 0.0 {
                break;
            }
            let ratio = next / rr;
            rr = next;
            for (p, r) in p.as_flattened_mut().iter_mut().zip(r.as_flattened()) {
                *p = r + ratio * *p;
            }
        }
        w.start(solution, change);
        true
    }
}

//! Cohesion and static friction: laws of contact whose parameters follow from the state, so that the
//! problem of each step is still that of Signorini and Coulomb.
//!
//! Two shapes that adhere with a force `c` obey the laws with `r̄ = r + c h n` in place of `r`:
//! `0 ≤ V_n ⊥ r̄_n ≥ 0` and `‖r̄_t‖ ≤ μ r̄_n`. With `V = V_free + W r = (V_free − W c h n) + W r̄` the
//! solver finds `r̄` of a problem whose free velocities contain the adhesive impulses.

use super::contacts::{Contacts, Points, meeting, smaller_size};
use super::{Moment, System};
use crate::detect::Geometry;
use crate::friction::{
    BlockVelocities, ContactProblem, Delassus, Impulses, Incidence, Law, Operator,
};
use crate::math::{Vec3, bytes_of, length2, parallel};
use crate::scene::{Scene, State, Twist};

/// A contact slides if its velocity exceeds this fraction of what its normal impulse, or gravity,
/// changes in a step: ten times the error of a solver at its default tolerance.
const SLIPS: f64 = 1e-3;

/// Adhesive impulses of the contacts of a step; empty if nothing adheres.
#[derive(Debug, Default)]
pub(super) struct Adhesion {
    /// `c h` of each contact [N s].
    impulses: Vec<f64>,
    /// `−c h n` in the frames of the contacts [N s].
    pulls: Impulses,
    change: BlockVelocities,
    incidence: Incidence,
}

impl Adhesion {
    /// Nothing adheres.
    pub(super) fn forget(&mut self) {
        self.impulses.clear();
    }

    pub(super) fn bytes(&self) -> usize {
        bytes_of(&self.impulses)
            + bytes_of(&self.pulls)
            + bytes_of(&self.change)
            + self.incidence.bytes()
    }
}

impl Contacts {
    /// Adds the adhesive impulses to the free velocities, after all rows of the problem are there:
    /// `V_free − W c h n`. Its solution is then `r̄`; see [`Contacts::release`].
    pub fn adhere(&mut self, scene: &Scene, dt: f64, problem: &mut ContactProblem) {
        self.adhesion.forget();
        if !scene.has_cohesion() {
            return;
        }
        let mut adhesion = std::mem::take(&mut self.adhesion);
        let Adhesion { impulses, pulls, change, incidence } = &mut adhesion;
        share_out(scene, self.points(), self.active.len(), dt, impulses);
        pulls.clear();
        pulls.extend(impulses.iter().map(|pull| [-pull, 0.0, 0.0]));
        let w = problem.w.make_factored();
        w.velocity_change_in(pulls, incidence, change);
        let (w, change) = (&*w, &*change);
        parallel::for_each(&mut problem.v_rel_free, |k, v_rel| {
            let pulled = w.to_local(k, change);
            *v_rel = std::array::from_fn(|i| v_rel[i] + pulled[i]);
        });
        self.adhesion = adhesion;
    }

    /// After the solve: from `r̄` to the impulses that act on the bodies, `r = r̄ − c h n` [N s].
    pub fn release(&self, impulses: &mut Impulses) {
        for (r, pull) in impulses.iter_mut().zip(&self.adhesion.impulses) {
            r[0] -= pull;
        }
    }

    /// The inverse of [`Contacts::release`]: from the impulses that act on the bodies to those that
    /// solve the problem of the last step, `r̄ = r + c h n` [N s].
    pub fn adhere_to(&self, impulses: &mut Impulses) {
        for (r, pull) in impulses.iter_mut().zip(&self.adhesion.impulses) {
            r[0] += pull;
        }
    }

    /// The adhesive impulse `c h` of a contact of the last step [N s]; zero if it does not adhere.
    #[inline]
    pub fn adhesion(&self, k: usize) -> f64 {
        self.adhesion.impulses.get(k).copied().unwrap_or(0.0)
    }

    /// Contacts that did not slide at the end of the last step have the static friction of their
    /// pair. One that was not there has it if its bodies do not slide along each other at the start
    /// of the step. After [`Contacts::trace`].
    pub fn grip(
        &self,
        scene: &Scene,
        state: &State,
        system: &System,
        dt: f64,
        problem: &mut ContactProblem,
    ) {
        if !scene.has_static_friction() {
            return;
        }
        let (points, gravity) = (self.points(), scene.gravity().norm());
        parallel::for_each(&mut problem.laws[..self.active.len()], |k, law| {
            let c = points.contact(k);
            let Some(held) = meeting(scene, c.point).1.static_friction else { return };
            let slides = match self.remembered(k, state) {
                Some(old) => old.slides,
                None => {
                    slip(&points, k, system, system.v_n(), Moment::Start) > SLIPS * gravity * dt
                }
            };
            if let (false, Law::Coulomb { friction } | Law::Cone { friction }) = (slides, law) {
                *friction = held;
            }
        });
    }
}

/// The adhesive impulse of each contact [N s]: that of two colliders in equal parts for their points
/// within the range.
fn share_out(scene: &Scene, points: Points, n: usize, dt: f64, impulses: &mut Vec<f64>) {
    let mut k = 0;
    while k < n {
        let c = points.contact(k);
        let (first, colliders) = (k, c.point.colliders);
        while k < n && points.contact(k).point.colliders == colliders {
            k += 1;
        }
        let law = meeting(scene, c.point).1;
        if !law.is_cohesive() {
            impulses.resize(k, 0.0);
            continue;
        }
        let range = scene.cohesion_range(law);
        let near = |k: usize| points.contact(k).point.gap < range;
        let count = (first..k).filter(|k| near(*k)).count().max(1);
        let pull = law.pull_off(radius(scene, colliders, c.bodies)) * dt / count as f64;
        impulses.extend((first..k).map(|k| if near(k) { pull } else { 0.0 }));
    }
}

/// Effective radius `R` of two colliders [m], `1/R = 1/R₁ + 1/R₂`; see
/// [`crate::scene::PairLaw::surface_energy`].
fn radius(scene: &Scene, colliders: [u32; 2], bodies: [u32; 2]) -> f64 {
    let curvature = |side: usize| match scene.colliders().get(colliders[side] as usize) {
        Some(c) => match c.geometry {
            Geometry::Ball(radius) => 1.0 / radius,
            _ if c.movable => 2.0 / smaller_size(scene, c.body as usize, c.body as usize),
            _ => 0.0,
        },
        // A chosen point has the size of its body, its plane is flat.
        None if side == 1 => 2.0 / smaller_size(scene, bodies[1] as usize, bodies[1] as usize),
        None => 0.0,
    };
    let sum = curvature(0) + curvature(1);
    // A chosen point fixed to a body without a shape; two planes never touch.
    if sum > 0.0 { 1.0 / sum } else { scene.grain_size() }
}

/// Tangential velocity of a contact with given velocities of its bodies [m/s].
fn slip(points: &Points, k: usize, system: &System, v: &[Twist], when: Moment) -> f64 {
    let c = points.contact(k);
    let (v, n): (Vec3, Vec3) = (system.relative_velocity(&c, v, when), c.point.normal);
    (v - n * n.dot(&v)).norm()
}

/// Whether a contact slid in a step with the impulse `r̄` [N s]: it is on its cone, and faster than
/// solver errors explain.
pub(super) fn slid(
    scene: &Scene,
    points: &Points,
    k: usize,
    (problem, r): (&ContactProblem, &[f64; 3]),
    (system, v_next, dt): (&System, &[Twist], f64),
) -> bool {
    let friction = problem.laws[k].friction().unwrap_or(0.0);
    if length2(r[1], r[2]) < (1.0 - 1e-6) * friction * r[0] {
        return false;
    }
    let mobility = match &problem.w {
        Delassus::Factored(w) => w.diagonal(k)[0][0],
        Delassus::Blocks(w) => w.diagonal(k)[0][0],
    };
    let gained = (mobility * r[0]).max(scene.gravity().norm() * dt);
    slip(points, k, system, v_next, Moment::End) > SLIPS * gained
}

//! All corrections that the step applies beyond Algorithm 1, in one place: they remove errors due
//! to solver tolerances and the finite step. Each has a switch; the book (theory, "Corrections
//! beyond Algorithm 1") gives their equations and measured effects.

use super::contacts::{ActiveContact, Contacts, NOISE, Points, smaller_size};
use super::images::Moment;
use super::system::check_finite;
use super::{Interval, ProjectionScratch, System, SystemError};
use crate::friction::{ContactProblem, Impulses, Law};
use crate::math::{Vec3, length2, parallel};
use crate::scene::{Scene, State, Twist};

/// Fraction of a gap, slip or stretch that is corrected per step [–].
const GAIN: f64 = 0.1;

/// Which corrections are applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Stabilization {
    /// Gaps and overlaps within a ten-millionth of the smaller body's size are reduced by a tenth
    /// per step under the quasi-shock law: `V_n += 0.1 g/h`. Without this, towers sink and lean by
    /// the sum of all solver errors. Stretched ropes recover a tenth of their stretch per step.
    pub gaps: bool,
    /// Sticking contacts are returned to where they started to stick by a tenth of their slip per
    /// step: `V_t += 0.1 s/h`, with `s = Σ V_t h` as long as it is below a ten-millionth of the
    /// smaller body's size.
    pub slips: bool,
    /// Angular momentum and energy of tumbling bodies, and the momentum of mechanisms on a free base, are carried to the end
    /// of the step: `ω = J(q_{n+1})⁻¹ L`.
    pub momentum: bool,
    /// Positions are projected onto joints between bodies that request it (`project`).
    pub joints: bool,
    /// Overlaps beyond a few ten-thousandths of the smaller body's size are removed from positions by the smallest
    /// displacement, without changing velocities. Off by default: it does work against gravity.
    pub overlaps: bool,
}

impl Default for Stabilization {
    fn default() -> Self {
        Stabilization::ALL
    }
}

impl Stabilization {
    /// All corrections that are on by default: all except [`Stabilization::overlaps`].
    pub const ALL: Stabilization =
        Stabilization { gaps: true, slips: true, momentum: true, joints: true, overlaps: false };
    /// Algorithm 1 alone.
    pub const NONE: Stabilization = Stabilization {
        gaps: false,
        slips: false,
        momentum: false,
        joints: false,
        overlaps: false,
    };

    /// After the detection: removes deep overlaps from `q_m` and detects again.
    #[expect(clippy::too_many_arguments)]
    pub fn contacts(
        &self,
        scene: &Scene,
        state: &State,
        system: &mut System,
        step: &Interval,
        contacts: &mut Contacts,
        problem: &mut ContactProblem,
        scratch: ProjectionScratch,
    ) -> Result<(), SystemError> {
        if !self.overlaps {
            return Ok(());
        }
        super::project::at_middle(scene, state, system, step, contacts, problem, scratch)
    }

    /// Before the solve: shifts the relative velocities so that gaps and slips close. After [`Contacts::trace`].
    pub fn velocities(
        &self,
        scene: &Scene,
        state: &State,
        system: &System,
        contacts: &mut Contacts,
        dt: f64,
        problem: &mut ContactProblem,
    ) {
        if self.gaps {
            system.ropes.recover(GAIN, dt, problem);
        }
        let n = contacts.active.len();
        let mut slips = std::mem::take(&mut contacts.slips);
        parallel::set_length(&mut slips, if self.slips { n } else { 0 });
        let ContactProblem { w, v_rel_free, .. } = problem;
        let points = contacts.points();
        let (v_rel_free, frames) = (&mut v_rel_free[..n], w.contacts());
        if self.slips {
            parallel::for_each_both(&mut slips, v_rel_free, |k, slip, v_rel| {
                let old = contacts.remembered(k, state);
                *slip = old.map_or(Vec3::zeros(), |old| old.slip_w.into());
                self.close_gap(scene, &points, k, dt, v_rel);
                for t in 1..3 {
                    let along = Vec3::from(frames[k].frame[t]);
                    v_rel[t] += GAIN * along.dot(slip) / dt;
                }
            });
        } else {
            parallel::for_each(v_rel_free, |k, v_rel| {
                self.close_gap(scene, &points, k, dt, v_rel);
            });
        }
        contacts.slips = slips;
    }

    /// Before the solve, for schemes without [`Stabilization::velocities`]: stretched ropes recover.
    pub fn ropes(&self, system: &System, dt: f64, problem: &mut ContactProblem) {
        if self.gaps {
            system.ropes.recover(GAIN, dt, problem);
        }
    }

    /// Corrects a fraction of a gap in this step.
    #[inline]
    fn close_gap(&self, scene: &Scene, points: &Points, k: usize, dt: f64, v_rel: &mut [f64; 3]) {
        if !(self.gaps && points.closes(k)) {
            return;
        }
        let c = points.contact(k);
        let [i, j] = c.bodies.map(|b| b as usize);
        if c.point.gap.abs() <= NOISE * smaller_size(scene, i, j) {
            v_rel[0] += GAIN * c.point.gap / dt;
        }
    }

    /// After the end of the step: momenta of the free bodies and mechanisms, overlaps, and positions of
    /// joints. Fails if the result is not finite.
    #[expect(clippy::too_many_arguments)]
    pub fn positions(
        &self,
        scene: &Scene,
        system: &mut System,
        step: &Interval,
        contacts: &Contacts,
        (problem, impulses): (&ContactProblem, &Impulses),
        scratch: ProjectionScratch,
        state: &State,
        next: &mut State,
    ) -> Result<(), SystemError> {
        if self.momentum {
            super::spin::finish(scene, &system.q_m, step.after, &mut next.q, &mut next.v);
            let (ropes, done) = (&system.ropes, (problem, impulses));
            let pushes = |mechanism| {
                let mut sum = contacts.pushes(scene, mechanism, impulses);
                ropes.add_pushes(scene, &system.q_m, mechanism, done, &mut sum);
                sum
            };
            system.mechanisms.restore_momentum(scene, pushes, next);
        }
        if self.overlaps {
            let project = super::project::at_end;
            project(scene, system, step, contacts, problem, scratch, state, next)?;
        }
        if self.joints && scene.joints.iter().any(|j| j.project) {
            super::joints::project(scene, &mut next.q);
        }
        system.mechanisms.follow_bodies(scene, next);
        check_finite(scene, &next.q, &next.v, step.t_next)
    }
}

/// Slip at the end of the step of a sticking contact that had slipped by `before`, in the world
/// frame [m].
#[expect(clippy::too_many_arguments)]
#[inline]
pub(super) fn slipped(
    scene: &Scene,
    system: &System,
    c: &ActiveContact,
    before: Vec3,
    frame: &[Vec3; 3],
    law: Law,
    r: &[f64; 3],
    v_next: &[Twist],
    dt: f64,
) -> Vec3 {
    let friction = law.friction().unwrap_or(0.0);
    let sticks = length2(r[1], r[2]) < (1.0 - 1e-9) * friction * r[0];
    if !sticks {
        return Vec3::zeros();
    }
    let [i, j] = c.bodies.map(|b| b as usize);
    let v = system.relative_velocity(c, v_next, Moment::End);
    let slip = before + (v - frame[0] * frame[0].dot(&v)) * dt;
    // Anything larger than noise is motion.
    if slip.norm() > NOISE * smaller_size(scene, i, j) { Vec3::zeros() } else { slip }
}

//! Warm start from one step to the next: which contact continues which, the initial impulses, and
//! the impulses to remember.

use super::System;
use super::adhesion::slid;
use super::contacts::{ActiveContact, Contacts, in_world};
use super::stabilize::slipped;
use crate::friction::{Contact3, ContactProblem, Impulses};
use crate::math::{Pose, Vec3, parallel};
use crate::scene::{Scene, State, WarmContact};

/// Marks a contact that continues none of the last step.
const FRESH: u32 = u32::MAX;
/// Contacts that one task matches with those of the last step, extended to the end of a pair.
const PART: usize = 1024;
/// Largest distance of a point from the one of the last step that it continues [grain sizes].
const NEAR: f64 = 0.05;

impl Contacts {
    /// Finds for each contact the one of the last step that it continues: by feature if it still
    /// exists, otherwise the nearest point of the same pair. Both lists are sorted by colliders.
    pub fn trace(&mut self, scene: &Scene, state: &State, system: &System) {
        let (warm, q_m, near) = (&state.warm_start, system.q_m(), NEAR * scene.grain_size());
        let n = self.active.len();
        self.slips.clear();
        let mut old = std::mem::take(&mut self.old);
        parallel::set_length(&mut old, n);
        let points = self.points();
        let colliders = |k: usize| points.contact(k).point.colliders;
        // Parts consist of whole pairs.
        let begin = |part: usize| {
            let mut k = (part * PART).min(n);
            while 0 < k && k < n && colliders(k) == colliders(k - 1) {
                k += 1;
            }
            k
        };
        let length = |part: usize| begin(part + 1) - begin(part);
        parallel::for_each_part(&mut old, 0..n.div_ceil(PART), &length, &|part, old| {
            let (first, last) = (begin(part), begin(part + 1));
            let mut k = first;
            let mut at = match k < last {
                true => warm.partition_point(|w| w.colliders < colliders(first)),
                false => 0,
            };
            while k < last {
                let pair = colliders(k);
                let end = k + (k..last).take_while(|&l| colliders(l) == pair).count();
                at += run_length(&warm[at..], |w| w.colliders < pair);
                let same = run_length(&warm[at..], |w| w.colliders == pair);
                let found = match_pair(
                    (k..end).map(|k| points.contact(k)),
                    &warm[at..at + same],
                    q_m,
                    near,
                );
                for (l, old) in old[k - first..end - first].iter_mut().enumerate() {
                    let found = found.get(l).copied().flatten();
                    *old = found.map_or(FRESH, |o| (at + o) as u32);
                }
                k = end;
            }
        });
        self.old = old;
    }

    /// The remembered data of a contact, after [`Contacts::trace`].
    pub(super) fn remembered<'a>(&self, k: usize, state: &'a State) -> Option<&'a WarmContact> {
        self.old.get(k).and_then(|old| state.warm_start.get(*old as usize))
    }

    /// The initial impulses of contacts, joints, ropes and moments of rolling resistance: those of
    /// the last step, rotated into the new frames, and together with the adhesive impulses of this
    /// step.
    pub fn recall(
        &self,
        state: &State,
        system: &System,
        problem: &ContactProblem,
        impulses: &mut Impulses,
    ) {
        let contacts = problem.w.contacts();
        parallel::fill(impulses, self.active.len(), |k| {
            let old = self.remembered(k, state);
            old.map_or([0.0; 3], |old| turned(old, &contacts[k], self.adhesion(k)))
        });
        self.recall_constraints(state, system, problem, impulses);
        super::rolling::recall(self, state, problem, impulses);
    }

    /// Appends the initial impulses of joints, servos and ropes.
    pub fn recall_constraints(
        &self,
        state: &State,
        system: &System,
        problem: &ContactProblem,
        impulses: &mut Impulses,
    ) {
        super::joints::recall(state, self.joints(system, problem).len(), impulses);
        system.servos.recall(impulses);
        system.ropes.recall(state, impulses);
    }

    /// Where the equations of joints are in the contact problem: after the contacts, before
    /// servos, ropes and moments.
    fn joints(&self, system: &System, problem: &ContactProblem) -> std::ops::Range<usize> {
        let after = system.servos.n_rows() + system.ropes.n_active() + problem.rolling.len();
        self.active.len()..problem.len() - after
    }

    /// Remembers the impulses of contacts, joints, ropes and moments for the next step, and the slip of
    /// sticking contacts. The memory of `state` is reused: nothing may fail from here on.
    #[expect(clippy::too_many_arguments)]
    pub fn remember(
        &self,
        scene: &Scene,
        system: &mut System,
        dt: f64,
        problem: &ContactProblem,
        impulses: &Impulses,
        state: &mut State,
        next: &mut State,
    ) {
        std::mem::swap(&mut state.warm_start, &mut next.warm_start);
        let State { v: v_next, warm_start, .. } = next;
        let (points, q_m, contacts) = (self.points(), system.q_m(), problem.w.contacts());
        let grips = scene.has_static_friction();
        parallel::fill(warm_start, self.active.len(), |k| {
            let (c, r, law) = (points.contact(k), &impulses[k], problem.laws[k]);
            let frame = contacts[k].frame.map(Vec3::from);
            // Together with the adhesive impulse it obeys the law.
            let obeys = [r[0] + self.adhesion(k), r[1], r[2]];
            let slip = self.slips.get(k).map_or_else(Vec3::zeros, |before| {
                slipped(scene, system, &c, *before, &frame, law, &obeys, v_next, dt)
            });
            WarmContact {
                colliders: c.point.colliders,
                feature: c.point.feature,
                point_b: local(&c, q_m).into(),
                impulse_w: in_world(&frame, r).into(),
                slip_w: slip.into(),
                slides: grips
                    && slid(scene, &points, k, (problem, &obeys), (system, &v_next[..], dt)),
            }
        });
        self.remember_constraints(scene, system, dt, problem, impulses, state, next);
        super::rolling::remember(self, problem, impulses, &mut next.warm_moments);
    }

    /// Remembers the impulses of joints and ropes.
    #[expect(clippy::too_many_arguments)]
    pub fn remember_constraints(
        &self,
        scene: &Scene,
        system: &mut System,
        dt: f64,
        problem: &ContactProblem,
        impulses: &Impulses,
        state: &State,
        next: &mut State,
    ) {
        next.joint_impulses.clear();
        let joints = self.joints(system, problem);
        system.servos.remember(joints.end, impulses);
        next.joint_impulses.extend_from_slice(&impulses[joints]);
        system.ropes.remember(scene, dt, problem, impulses, state, next);
    }
}

fn run_length<T>(items: &[T], same: impl Fn(&T) -> bool) -> usize {
    items.iter().take_while(|x| same(x)).count()
}

/// The contact point in the frame of the first body.
fn local(c: &ActiveContact, q_m: &[Pose]) -> Vec3 {
    q_m[c.bodies[0] as usize].inverse_point(c.point.point)
}

/// Matches the points of one pair of colliders (at most four on either side): the old one for each
/// new one.
fn match_pair<'a>(
    new: impl Iterator<Item = ActiveContact<'a>> + Clone,
    old: &[WarmContact],
    q_m: &[Pose],
    near: f64,
) -> [Option<usize>; 4] {
    let (mut used, mut found) = ([false; 4], [None; 4]);
    for (k, c) in new.clone().enumerate().take(4) {
        let same = |w: &WarmContact| w.feature == c.point.feature;
        found[k] = old.iter().take(4).position(same);
        if let Some(o) = found[k] {
            used[o] = true;
        }
    }
    for (k, c) in new.enumerate().take(4) {
        if found[k].is_some() {
            continue;
        }
        let at = local(&c, q_m);
        let mut best = near;
        for (o, w) in old.iter().enumerate().take(4) {
            let d = (Vec3::from(w.point_b) - at).norm();
            if !used[o] && d < best {
                (best, found[k]) = (d, Some(o));
            }
        }
        if let Some(o) = found[k] {
            used[o] = true;
        }
    }
    found
}

/// A remembered impulse in the frame of a contact, with the adhesive impulse of this step [N s].
fn turned(old: &WarmContact, contact: &Contact3, adhesion: f64) -> [f64; 3] {
    let p = Vec3::from(old.impulse_w);
    let [n, t1, t2] = contact.frame.map(Vec3::from);
    [(n.dot(&p) + adhesion).max(0.0), t1.dot(&p), t2.dot(&p)]
}

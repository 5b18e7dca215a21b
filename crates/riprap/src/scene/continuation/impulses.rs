//! Remembered impulses, springs and lists of a scheme, in the numbers of a new scene.

use super::{Continuation, Continued, Sources};
use crate::math::Vec3;
use crate::scene::{
    EventCount, Hold, PenaltyState, ResolvedJoint, Scene, SchemeState, State, WarmContact,
    WarmMoment,
};

/// New numbers of old colliders.
pub(super) struct Renamed {
    /// New index of each old collider of a body with the same shape, and then of each chosen point.
    indices: Vec<Option<u32>>,
    /// Number of old colliders, without chosen points.
    n_shapes: u32,
    /// Whether all lists of the two scenes have the same order.
    identical: bool,
}

impl Renamed {
    pub fn new(old: &Scene, new: &Scene, map: &Sources) -> Renamed {
        let of_bodies = |scene: &Scene| {
            let mut lists = vec![Vec::new(); scene.bodies.len()];
            for (k, collider) in scene.colliders.iter().enumerate() {
                lists[collider.body as usize].push(k as u32);
            }
            lists
        };
        let (before, after) = (of_bodies(old), of_bodies(new));
        let n_shapes = old.colliders.len();
        let mut indices = vec![None; n_shapes + 2 * old.points.len()];
        for (slot, from) in map.bodies.iter().enumerate() {
            let Some(from) = from.filter(|_| map.same[slot]) else { continue };
            if before[from].len() == after[slot].len() {
                for (a, b) in before[from].iter().zip(&after[slot]) {
                    indices[*a as usize] = Some(*b);
                }
            }
        }
        for (i, point) in old.points.iter().enumerate() {
            let found = new.points.iter().position(|p| p.name == point.name);
            for side in 0..2 {
                let index = |k| (new.colliders.len() + 2 * k + side) as u32;
                indices[n_shapes + 2 * i + side] = found.map(index);
            }
        }
        Renamed { indices, n_shapes: n_shapes as u32, identical: map.identical }
    }

    /// A pair in new numbers, the smaller first, and whether that exchanges the two.
    fn pair(&self, pair: [u32; 2]) -> Option<([u32; 2], bool)> {
        let new = |c: u32| self.indices.get(c as usize).copied().flatten();
        let [a, b] = [new(pair[0])?, new(pair[1])?];
        let shapes = pair.iter().all(|c| *c < self.n_shapes);
        if a > b && shapes { Some(([b, a], true)) } else { Some(([a, b], false)) }
    }
}

/// Carries the warm start over, and the history of the scheme.
pub(super) fn carry(
    options: &Continuation,
    renamed: &Renamed,
    old: &Scene,
    state: &State,
    new: &Scene,
    next: &mut State,
    report: &mut Continued,
) {
    let warm = state.warm_start.iter().filter_map(|w| contact(renamed, old, state, w));
    next.warm_start = warm.collect();
    // The sort is stable: contacts of a pair keep their order.
    next.warm_start.sort_by_key(|w| w.colliders);
    report.contacts = [next.warm_start.len(), state.warm_start.len()];
    for moment in &state.warm_moments {
        let Some((colliders, flipped)) = renamed.pair(moment.colliders) else { continue };
        let moment_w = if flipped { moment.moment_w.map(|x| -x) } else { moment.moment_w };
        next.warm_moments.push(WarmMoment { colliders, moment_w });
    }
    next.warm_moments.sort_by_key(|w| w.colliders);
    joints(&old.joints, &state.joint_impulses, &new.joints, &mut next.joint_impulses);
    (next.scheme, report.history) = history(renamed, state, options.time == state.t);
}

/// A remembered contact in new numbers.
fn contact(renamed: &Renamed, old: &Scene, state: &State, w: &WarmContact) -> Option<WarmContact> {
    let (colliders, flipped) = renamed.pair(w.colliders)?;
    if !flipped {
        return Some(WarmContact { colliders, ..*w });
    }
    let [a, b] = w.colliders.map(|c| &state.q[old.colliders[c as usize].body as usize]);
    Some(WarmContact {
        colliders,
        // The contact is recognized by its place.
        feature: u32::MAX,
        point_b: b.inverse_point(a.point(Vec3::from(w.point_b))).into(),
        impulse_w: w.impulse_w.map(|x| -x),
        slip_w: w.slip_w.map(|x| -x),
        slides: w.slides,
    })
}

/// Impulses of joints that both scenes have; zero for the others.
fn joints(
    old: &[ResolvedJoint],
    impulses: &[[f64; 3]],
    new: &[ResolvedJoint],
    next: &mut Vec<[f64; 3]>,
) {
    next.clear();
    let n = |joint: &ResolvedJoint| if joint.hold == Hold::Ball { 1 } else { 2 };
    if impulses.len() != old.iter().map(n).sum::<usize>() {
        return;
    }
    let mut first = 0;
    let mut known = Vec::with_capacity(old.len());
    for joint in old {
        known.push((joint, &impulses[first..first + n(joint)]));
        first += n(joint);
    }
    for joint in new {
        let found = known.iter().find(|(k, _)| k.name == joint.name && k.hold == joint.hold);
        match found {
            Some((_, impulses)) => next.extend_from_slice(impulses),
            None => next.resize(next.len() + n(joint), [0.0; 3]),
        }
    }
}

/// The history of the scheme, and whether there was one that carries over. Energies and counts since the start are those of
/// the new run.
fn history(renamed: &Renamed, state: &State, goes_on: bool) -> (SchemeState, Option<bool>) {
    match &state.scheme {
        SchemeState::None => (SchemeState::None, None),
        SchemeState::Penalty(soft) => {
            let mut springs = soft.springs.clone();
            springs.retain_mut(|s| match renamed.pair(s.colliders) {
                // Features of an exchanged pair are numbered differently.
                Some((colliders, false)) => {
                    s.colliders = colliders;
                    true
                }
                _ => false,
            });
            springs.sort_by_key(|s| s.colliders);
            // Sliding since the middle of the last step is counted again by the next one.
            let (rubbed, pending) = (soft.pending, soft.pending);
            let kept = PenaltyState { springs, rubbed, damped: 0.0, pending, ..**soft };
            (SchemeState::Penalty(Box::new(kept)), Some(true))
        }
        SchemeState::RigidEvents(memory) => {
            let mut kept = memory.clone();
            kept.contacts.retain_mut(|held| match renamed.pair(held.colliders) {
                Some((colliders, false)) => {
                    held.colliders = colliders;
                    true
                }
                _ => false,
            });
            kept.contacts.sort_by_key(|held| held.colliders);
            (kept.impact, kept.friction, kept.events) = (0.0, 0.0, EventCount::default());
            (SchemeState::RigidEvents(kept), Some(true))
        }
        // Their lists are ordered by bodies, coordinates and rows, and the second one knows times.
        SchemeState::GeneralizedAlpha(_) if renamed.identical => (state.scheme.clone(), Some(true)),
        SchemeState::DormandPrince(_) if renamed.identical && goes_on => {
            (state.scheme.clone(), Some(true))
        }
        SchemeState::GeneralizedAlpha(_) | SchemeState::DormandPrince(_) => {
            (SchemeState::None, Some(false))
        }
    }
}

//! Moments of rolling resistance in the contact problem: one for each pair of touching shapes,
//! after all contacts and joints.

use super::System;
use super::contacts::{Contacts, meeting, smaller_size};
use crate::friction::{ContactProblem, Factored, Impulses, Law, Rolling};
use crate::math::Vec3;
use crate::scene::{Scene, State, WarmMoment};

/// Adds the moments of rolling resistance to the contact problem, after its contacts and joints:
/// one for each pair of touching shapes. Bodies of mechanisms have none.
pub fn assemble(scene: &Scene, system: &System, contacts: &Contacts, problem: &mut ContactProblem) {
    if !scene.pairs.any_rolling() {
        return;
    }
    let w = problem.w.make_factored();
    let v = system.v_free();
    let bodies = scene.bodies();
    let in_mechanism = |b: usize| bodies.carried[b].is_some() && !bodies.movable[b];
    let (points, mut k, n) = (contacts.points(), 0, contacts.active().len());
    while k < n {
        let c = points.contact(k);
        let colliders = c.point.colliders;
        let first = k;
        while k < n && points.contact(k).point.colliders == colliders {
            k += 1;
        }
        let rolling = meeting(scene, c.point).1.rolling;
        let [i, j] = c.bodies.map(|b| b as usize);
        let blocks = c.bodies.map(|b| system.bodies.block[b as usize]);
        if rolling == 0.0 || blocks == [Factored::NONE; 2] || in_mechanism(i) || in_mechanism(j) {
            continue;
        }
        let length = 0.5 * smaller_size(scene, i, j);
        w.push_turning(blocks, length);
        let spin = v[j].angular - v[i].angular;
        problem.v_rel_free.push((spin * length).into());
        problem.laws.push(Law::Rolling);
        let contacts = [first as u32, k as u32];
        problem.rolling.push(Rolling { contacts, ratio: rolling / length, length });
    }
}

/// Starts from the moments of the last step. Both lists are sorted by colliders.
pub(super) fn recall(
    contacts: &Contacts,
    state: &State,
    problem: &ContactProblem,
    impulses: &mut Impulses,
) {
    let (points, mut warm) = (contacts.points(), state.warm_moments.iter().peekable());
    for rolling in &problem.rolling {
        let colliders = points.contact(rolling.contacts[0] as usize).point.colliders;
        while warm.next_if(|m| m.colliders < colliders).is_some() {}
        let old = warm.peek().filter(|m| m.colliders == colliders);
        impulses.push(old.map_or([0.0; 3], |m| m.moment_w.map(|x| x / rolling.length)));
    }
}

/// Remembers the moments for the next step.
pub(super) fn remember(
    contacts: &Contacts,
    problem: &ContactProblem,
    impulses: &Impulses,
    warm: &mut Vec<WarmMoment>,
) {
    warm.clear();
    let points = contacts.points();
    let first = problem.len() - problem.rolling.len();
    for (k, rolling) in problem.rolling.iter().enumerate() {
        let colliders = points.contact(rolling.contacts[0] as usize).point.colliders;
        let moment = Vec3::from(impulses[first + k]) * rolling.length;
        warm.push(WarmMoment { colliders, moment_w: moment.into() });
    }
}

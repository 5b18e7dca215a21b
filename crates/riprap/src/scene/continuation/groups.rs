//! Mechanisms, flexible bodies and ropes of two scenes: which continue which, and their states.

use super::{Continuation, Continued, DriveJump, Matching, Sources};
use crate::math::{Pose, Vec3};
use crate::multibody::{CLOSED, Multibody, MultibodyState};
use crate::scene::{RopeState, Scene, State, Twist, place_links};

/// Old index of each new mechanism with the same name and structure.
pub(super) fn match_mechanisms(
    old: &Scene,
    new: &Scene,
    report: &mut Continued,
) -> Vec<Option<usize>> {
    let (a, b) = (&old.mechanisms, &new.mechanisms);
    let alike = |i: usize, k: usize| {
        same_structure(&a[i], &b[k]) && old.is_free_body(i) == new.is_free_body(k)
    };
    let names = |list: &[Multibody]| list.iter().map(|m| m.name().to_owned()).collect::<Vec<_>>();
    matched(&names(a), &names(b), alike, &mut report.mechanisms)
}

/// Old index of each new flexible body with the same name and number of nodes.
pub(super) fn match_flexible(
    old: &Scene,
    new: &Scene,
    report: &mut Continued,
) -> Vec<Option<usize>> {
    let names =
        |scene: &Scene| scene.flexible.iter().map(|b| b.name().to_owned()).collect::<Vec<_>>();
    let alike = |i: usize, k: usize| {
        let (a, b) = (&old.flexible[i], &new.flexible[k]);
        b.fits(a.start()) && b.node_dofs() == a.node_dofs()
    };
    matched(&names(old), &names(new), alike, &mut report.flexible)
}

/// Matches lists by name.
fn matched(
    old: &[String],
    new: &[String],
    alike: impl Fn(usize, usize) -> bool,
    report: &mut Matching,
) -> Vec<Option<usize>> {
    let gone = old.iter().filter(|name| !new.contains(name));
    report.missing.extend(gone.cloned());
    let find = |(k, name): (usize, &String)| {
        let found = old.iter().position(|known| known == name);
        match found {
            None => report.new.push(name.clone()),
            Some(i) if alike(i, k) => report.matched += 1,
            Some(_) => report.different.push(name.clone()),
        }
        found.filter(|i| alike(*i, k))
    };
    new.iter().enumerate().map(find).collect()
}

/// Whether two mechanisms have the same bodies, joints and loops; masses, shapes, forces and drives may differ.
fn same_structure(a: &Multibody, b: &Multibody) -> bool {
    let links = |m: &Multibody| -> Vec<_> {
        let link = |l| (m.link_name(l).to_owned(), m.joint(l), m.parent(l));
        m.links().map(link).collect()
    };
    let coordinates = |m: &Multibody| -> Vec<_> {
        m.coordinates().map(|c| m.coordinate_name(c).to_owned()).collect()
    };
    let loops =
        |m: &Multibody| -> Vec<_> { m.loops().map(|(name, cut)| (name.to_owned(), cut)).collect() };
    links(a) == links(b) && coordinates(a) == coordinates(b) && loops(a) == loops(b)
}

/// Carries the mechanisms over, and the places of their bodies.
pub(super) fn mechanisms(
    options: &Continuation,
    old: &Scene,
    state: &State,
    new: &Scene,
    map: &Sources,
    next: &mut State,
    report: &mut Continued,
) {
    for (k, system) in new.mechanisms.iter().enumerate() {
        let Some(from) = map.mechanisms[k] else { continue };
        let links = new.links_of(k);
        let before = &state.mechanisms[from];
        let goes_on = options.time == state.t;
        next.mechanisms[k] = continued(system, before, options.time, goes_on, report);
        for (coordinate, at) in system.driven_positions() {
            let (left, starts) = (before.q[at], system.drive_at(coordinate, options.time));
            if (left - starts).abs() > 1e-9 * left.abs().max(1.0) {
                let name = format!("{}.{}", system.name(), system.coordinate_name(coordinate));
                report.jumps.push(DriveJump { coordinate: name, left, starts });
            }
        }
        if new.is_free_body(k) {
            for (slot, from) in links.zip(old.links_of(from)) {
                (next.q[slot], next.v[slot]) = (state.q[from], state.v[from]);
            }
            continue;
        }
        let centres: Vec<Vec3> = new.bodies.centre[links.clone()].to_vec();
        let mut work = system.scratch();
        let at = &next.mechanisms[k];
        let (q, v) = (&mut next.q[links.clone()], &mut next.v[links]);
        place_links(system, at, &mut work, &centres, q, v);
        let residual = system.loop_residual(&at.q, &mut work);
        if residual > 1e3 * CLOSED * system.reach().max(1.0) {
            report.open_loops.push((system.name().to_owned(), residual));
        }
    }
}

/// The state of a mechanism after another one with the same structure. Its laws go on in their phases only if the time does.
fn continued(
    system: &Multibody,
    before: &MultibodyState,
    t: f64,
    goes_on: bool,
    report: &mut Continued,
) -> MultibodyState {
    let mut state = before.clone();
    if !(goes_on && system.fits(&state)) {
        let begun = system.begin_control(t, &state.q, &state.v);
        if system.has_phases() && begun != state.control {
            report.laws_restarted.push(system.name().to_owned());
        }
        state.control = begun;
    }
    if !system.fits(&state) {
        state.partition.clone_from(&system.start().partition);
    }
    state
}

/// Carries the flexible bodies over, and the places of their nodes.
pub(super) fn flexible(old: &Scene, state: &State, new: &Scene, map: &Sources, next: &mut State) {
    for (k, body) in new.flexible.iter().enumerate() {
        let Some(from) = map.flexible[k] else { continue };
        let at = state.flexible[from].clone();
        for (node, slot) in new.nodes_of(k).enumerate() {
            let source = old.nodes_of(from).start + node;
            let (q, v): (Pose, Twist) = (at.q[node], body.node_twist(&at.q, &at.v, node));
            // The same bits as long as nothing has changed.
            let kept = state.q[source] == q && state.v[source] == v;
            (next.q[slot], next.v[slot]) =
                if kept { (state.q[source], state.v[source]) } else { (q, v) };
        }
        next.flexible[k] = at;
    }
}

/// Carries the ropes over: their impulses, and which of them are broken.
pub(super) fn ropes(
    old: &Scene,
    state: &State,
    new: &Scene,
    next: &mut State,
    report: &mut Continued,
) {
    let names = |scene: &Scene| scene.ropes.iter().map(|r| r.name.clone()).collect::<Vec<_>>();
    let alike = |i: usize, k: usize| old.ropes[i].vertices.len() == new.ropes[k].vertices.len();
    let from = matched(&names(old), &names(new), alike, &mut report.ropes);
    let shift = next.t - state.t;
    for (k, from) in from.into_iter().enumerate() {
        let Some(rope) = from.and_then(|from| state.ropes.get(from)) else { continue };
        next.ropes[k] = RopeState { broken: rope.broken.map(|t| t + shift), ..*rope };
        if rope.broken.is_some() {
            report.broken_ropes.push(new.ropes[k].name.clone());
        }
    }
}

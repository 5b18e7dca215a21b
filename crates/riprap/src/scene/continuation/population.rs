//! Inserted bodies of one run, in the numbers of another scene, and the progress of its insertions and removals.

use super::{Continuation, Continued, same_shape};
use crate::scene::{FeedState, InsertedBody, PopulationState, SOON, Scene, State, Where};
use crate::shape::Shape;
use std::collections::HashMap;

/// An inserted body in the new scene.
pub(super) struct NewId {
    pub id: u32,
    /// Whether it is a stone with the shape that it had.
    pub same_stone: bool,
}

/// Inserted bodies that carry over, by their old ids.
pub(super) type Inserted = HashMap<u32, NewId>;

/// What has been inserted, for the new scene: bodies of insertions that both scenes have, by name, carry over and are
/// counted on. Counts and sums are those of the new run.
pub(super) fn carry(
    options: &Continuation,
    from: &Scene,
    state: &State,
    to: &Scene,
    report: &mut Continued,
) -> (PopulationState, Inserted) {
    let old = &state.population;
    let insertions = |scene: &Scene| -> Vec<String> {
        let list = scene.population().map_or(&[][..], |p| &p.insertions);
        list.iter().map(|insertion| insertion.name.clone()).collect()
    };
    let (before, after) = (insertions(from), insertions(to));
    let new_index = |k: u32| after.iter().position(|name| before.get(k as usize) == Some(name));
    // Strengths of stones are drawn by id, so ids stay if they can.
    let keeps = from.bodies.slots.len() == to.bodies.slots.len();
    let mut next = to.bodies.slots.len() as u32;
    let (mut inserted, mut ids) = (Vec::new(), Inserted::new());
    for body in &old.inserted {
        let Some(insertion) = new_index(body.insertion) else { continue };
        let Some(fresh) = to.fresh(insertion, body.number) else { continue };
        let known = from.fresh(body.insertion as usize, body.number);
        let stone = matches!(fresh.shape, Shape::Polyhedron(_) | Shape::Polygon(_));
        let same_stone = stone && known.is_some_and(|known| same_shape(&known.shape, &fresh.shape));
        let id = if keeps { body.id } else { next };
        next += 1;
        ids.insert(body.id, NewId { id, same_stone });
        inserted.push(InsertedBody { id, insertion: insertion as u32, number: body.number });
    }
    report.inserted = [inserted.len(), old.inserted.len()];
    let goes_on = options.time == state.t;
    let feed = |name: &String| {
        let known = before.iter().position(|known| known == name);
        let known = known.and_then(|k| old.feeds.get(k)).copied().unwrap_or_default();
        let feed = FeedState { waited: 0, waits: false, ..known };
        match goes_on && known.seen > f64::MIN {
            true => feed,
            // Its laws start again with the body that is next.
            false => FeedState {
                seen: f64::MIN,
                before: (known.next, known.mass),
                from: options.time,
                ..feed
            },
        }
    };
    let removals = to.population().map_or(&[][..], |p| &p.removals);
    let over = |place: Where| matches!(place, Where::At(t) if t < options.time - SOON);
    let population = PopulationState {
        feeds: after.iter().map(feed).collect(),
        inserted,
        done: removals.iter().map(|removal| over(removal.place)).collect(),
        ..PopulationState::default()
    };
    (population, ids)
}

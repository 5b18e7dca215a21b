//! Broken and worn stones of one run, in the numbers of another scene.

use super::population::Inserted;
use super::{Continued, same_shape};
use crate::scene::degradation::attached;
use crate::scene::{DegradationAccount, DegradationState, Piece, Scene, State};
use std::collections::HashMap;

/// New ids of old described and inserted bodies with the same shape, and of old pieces.
struct Ids<'a> {
    inserted: &'a Inserted,
    from: &'a Scene,
    to: &'a Scene,
    slots: HashMap<&'a str, usize>,
    pieces: HashMap<u32, u32>,
}

impl<'a> Ids<'a> {
    fn new(from: &'a Scene, to: &'a Scene, inserted: &'a Inserted) -> Ids<'a> {
        let names = to.bodies.names.iter().map(String::as_str);
        Ids { inserted, from, to, slots: names.zip(0..).collect(), pieces: HashMap::new() }
    }

    /// Slots in both scenes of a body that the old one describes.
    fn described(&self, id: u32) -> Option<(usize, usize)> {
        let old = *self.from.bodies.slots.get(id as usize)? as usize;
        let name = self.from.bodies.names.get(old)?;
        Some((old, *self.slots.get(name.as_str())?))
    }

    /// The new id of a body that is not a piece, if it can degrade in the new scene.
    fn stone(&self, id: u32) -> Option<u32> {
        if let Some(inserted) = self.inserted.get(&id) {
            return inserted.same_stone.then_some(inserted.id);
        }
        let (old, new) = self.described(id)?;
        let same = same_shape(&self.from.shapes[old], &self.to.shapes[new]);
        (same && self.to.can_degrade(new)).then(|| self.to.bodies.ids[new])
    }
}

/// What has become of the stones, for the new scene; pieces of stones that it does not have are left out. Described bodies that were
/// removed stay away, unless they are no longer free or something refers to them. Lists by slot are still those of the old one: see [`lists`].
pub(super) fn carry(
    from: &Scene,
    state: &State,
    to: &Scene,
    inserted: &Inserted,
    report: &mut Continued,
) -> DegradationState {
    let old = &state.degradation;
    let mut ids = Ids::new(from, to, inserted);
    if from.degrades && to.degrades {
        let redrawn = (0..from.bodies.len()).filter(|&slot| {
            let id = from.bodies.ids[slot];
            from.can_degrade(slot) && ids.stone(id).is_some_and(|new| new != id)
        });
        let of_inserted = inserted.iter().filter(|(id, new)| new.same_stone && new.id != **id);
        report.strengths_redrawn = redrawn.count() + of_inserted.count();
    }
    // Ids of pieces follow those of all described bodies; strengths are drawn by id, so they stay if they can.
    let keeps = from.bodies.slots.len() == to.bodies.slots.len();
    let mut fresh = to.bodies.slots.len() as u32 + inserted.len() as u32;
    let mut pieces: Vec<Piece> = Vec::new();
    for piece in &old.pieces {
        let Some(origin) = ids.stone(piece.origin) else { continue };
        let id = match piece.id {
            id if id == piece.origin => origin,
            id if keeps => id,
            _ => {
                fresh += 1;
                fresh - 1
            }
        };
        ids.pieces.insert(piece.id, id);
        pieces.push(Piece { id, origin, ..piece.clone() });
    }
    // Pieces of a stone keep their order; inserted bodies follow the described ones by id.
    let slots = &to.bodies.slots;
    let order = |origin: u32| slots.get(origin as usize).copied().unwrap_or(origin);
    pieces.sort_by_key(|piece| order(piece.origin));
    report.stones = [pieces.len(), old.pieces.len()];
    let (removable, attached) = (to.removable(), attached(to));
    let mut gone: Vec<u32> = Vec::new();
    for (_, slot) in old.gone.iter().filter_map(|id| ids.described(*id)) {
        if removable[slot] && !attached[slot] {
            gone.push(to.bodies.ids[slot]);
            report.removed.push(to.bodies.names[slot].clone());
        }
    }
    gone.sort_unstable();
    let breaks = old.breaks.iter().filter_map(|b| {
        let id = ids.pieces.get(&b.id).copied().or_else(|| ids.stone(b.id))?;
        Some(crate::scene::Break { id, ..*b })
    });
    DegradationState {
        pieces,
        gone,
        next_id: match old.next_id {
            id if keeps || id == 0 => id,
            _ => fresh,
        },
        loads: Vec::new(),
        wear: Vec::new(),
        breaks: breaks.collect(),
        account: DegradationAccount::default(),
    }
}

/// Carries averaged loads and volumes to be worn off over, by the old slot of each new body.
pub(super) fn lists(state: &State, sources: &[Option<usize>], next: &mut DegradationState) {
    fn gather<T: Clone + Default>(old: &[T], sources: &[Option<usize>]) -> Vec<T> {
        if old.is_empty() {
            return Vec::new();
        }
        let of = |from: &Option<usize>| from.and_then(|k| old.get(k).cloned()).unwrap_or_default();
        sources.iter().map(of).collect()
    }
    next.loads = gather(&state.degradation.loads, sources);
    next.wear = gather(&state.degradation.wear, sources);
}

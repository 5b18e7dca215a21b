//! Insertion and removal of bodies between two steps.
//!
//! Before a step, [`Exchange::due`] finds the bodies that have left their region and those that are to come; then
//! [`apply`] turns the scene into a new one and carries the state over, like fragmentation. Everything follows from scene
//! and state: random numbers are drawn from the seed of an insertion, the number of the body and that of the step. Schemes
//! know nothing about it.

mod room;

use crate::detect::ColliderSet;
use crate::grains::{random_rotation, seeded};
use crate::math::{Pose, Quat, Twist, Vec3};
use crate::scene::{
    Added, Edit, FeedState, Fresh, InsertedBody, Insertion, SOON, Scene, State, Where,
    carry_stones, motion_of, record, seed_of,
};
use rand::RngExt;
use room::Room;

/// Places that are tried for a body before a step.
const TRIALS: usize = 60;
/// Bodies of an insertion that are inserted before one step at most; the others follow in the next ones.
const MOST: usize = 10_000;

/// Buffers of insertion and removal; they can be recomputed.
#[derive(Debug, Default)]
pub struct Exchange {
    /// Which colliders the following list belongs to.
    set: Option<ColliderSet>,
    /// Origin of each body that can be removed: the described or inserted body that it is a part of.
    origins: Vec<Option<u32>>,
    /// For each removal, the slots of the bodies that it is for.
    subjects: Vec<Vec<u32>>,
}

/// What changes before a step.
#[derive(Debug)]
pub struct Changes {
    edits: Vec<Edit>,
    inserted: Vec<InsertedBody>,
    added: Added,
}

impl Exchange {
    /// The bodies that are removed and inserted before the step that starts now; `None` if nothing changes. Progress of
    /// insertions is recorded in the state.
    pub fn due(&mut self, scene: &Scene, state: &mut State) -> Option<Changes> {
        let population = scene.population()?;
        let edits = if population.removals.is_empty() {
            Vec::new()
        } else {
            self.look_up(scene, state);
            self.leaving(scene, state)
        };
        let (inserted, added) = arriving(scene, state, &edits);
        let nothing = edits.is_empty() && inserted.is_empty();
        (!nothing).then_some(Changes { edits, inserted, added })
    }

    /// Finds the bodies that removals are for, unless the scene is still the same one.
    fn look_up(&mut self, scene: &Scene, state: &State) {
        if self.set == Some(scene.collider_set()) {
            return;
        }
        self.set = Some(scene.collider_set());
        let bodies = scene.bodies();
        let free = scene.removable();
        self.origins.clear();
        self.origins.extend((0..bodies.len()).map(|slot| free[slot].then_some(bodies.ids[slot])));
        for piece in &state.degradation.pieces {
            self.origins[bodies.slots[piece.id as usize] as usize] = Some(piece.origin);
        }
        let removals = scene.population().map_or(&[][..], |p| &p.removals);
        let subjects = |removal: &crate::scene::Removal| {
            let matching = |slot: &u32| {
                let slot = *slot as usize;
                self.origins[slot].is_some() && removal.is_for(&bodies.names[slot])
            };
            (0..bodies.len() as u32).filter(matching).collect()
        };
        self.subjects = removals.iter().map(subjects).collect();
    }

    /// The bodies to be removed, sorted by slot.
    fn leaving(&self, scene: &Scene, state: &mut State) -> Vec<Edit> {
        let removals = scene.population().map_or(&[][..], |p| &p.removals);
        state.population.done.resize(removals.len(), false);
        let up = if scene.is_planar() { 1 } else { 2 };
        let lattice = scene.lattice(state.t);
        let mut slots: Vec<u32> = Vec::new();
        for (k, (removal, subjects)) in removals.iter().zip(&self.subjects).enumerate() {
            let place = |slot: &&u32| {
                let p = state.q[**slot as usize].position;
                lattice.map_or(p, |lattice| lattice.wrapped(p))
            };
            match removal.place {
                Where::Below(height) => {
                    slots.extend(subjects.iter().filter(|slot| place(slot)[up] < height));
                }
                Where::Outside([min, max]) => slots.extend(subjects.iter().filter(|slot| {
                    let p = place(slot);
                    (0..3).any(|d| p[d] < min[d] || p[d] > max[d])
                })),
                Where::At(t) => {
                    if !state.population.done[k] && state.t >= t - SOON {
                        state.population.done[k] = true;
                        slots.extend(subjects);
                    }
                }
            }
        }
        slots.sort_unstable();
        slots.dedup();
        let edit = |slot: u32| {
            let slot = slot as usize;
            Some(Edit { slot, origin: self.origins[slot]?, pieces: Vec::new() })
        };
        slots.into_iter().filter_map(edit).collect()
    }
}

/// The bodies to be inserted, with their places.
fn arriving(scene: &Scene, state: &mut State, edits: &[Edit]) -> (Vec<InsertedBody>, Added) {
    let (mut inserted, mut added) = (Vec::new(), Added::default());
    let Some(population) = scene.population() else { return (inserted, added) };
    let mut feeds = std::mem::take(&mut state.population.feeds);
    feeds.resize(population.insertions.len(), FeedState::default());
    let mut next_id = state.degradation.next_id.max(scene.bodies().slots.len() as u32);
    for (k, (insertion, feed)) in population.insertions.iter().zip(&mut feeds).enumerate() {
        let is_due = |feed: &FeedState| insertion.due(feed).filter(|due| *due <= state.t + SOON);
        let mut room = None;
        feed.waits = false;
        for _ in 0..MOST {
            let Some(due) = is_due(feed) else { break };
            let placed = scene.fresh(k, feed.next).and_then(|fresh| {
                let room =
                    room.get_or_insert_with(|| Room::of(scene, state, edits, &added, insertion));
                let seed = seed_of(seed_of(population.seeds[k], feed.next), state.step);
                Some((place(room, insertion, &fresh, scene.is_planar(), seed)?, fresh))
            });
            let Some((pose, fresh)) = placed.filter(|_| next_id < u32::MAX) else {
                feed.waits = true;
                break;
            };
            let body = InsertedBody { id: next_id, insertion: k as u32, number: feed.next };
            feed.waited += u64::from(due <= feed.seen + SOON);
            (feed.next, feed.mass) = (feed.next + 1, feed.mass + fresh.mass.mass);
            next_id += 1;
            let flow = scene.cell().map(|cell| cell.starting_flow(state.t, pose.position));
            let linear = insertion.velocity + flow.unwrap_or_default();
            let v = Twist { linear, angular: insertion.angular_velocity };
            let colliders = fresh.colliders();
            if let Some(room) = &mut room {
                room.fill(&colliders, &pose);
            }
            let name = scene.inserted_name(&body);
            added.push((body.id, name), fresh, colliders, (pose, v));
            inserted.push(body);
        }
        feed.seen = state.t;
    }
    state.population.feeds = feeds;
    (inserted, added)
}

/// A pose at which a body touches nothing; `None` if none is found.
fn place(
    room: &mut Room,
    insertion: &Insertion,
    fresh: &Fresh,
    planar: bool,
    seed: u64,
) -> Option<Pose> {
    let mut rng = seeded(seed);
    let radius = fresh.radius();
    let [min, max] = insertion.within;
    if !room.fits(radius) {
        return None;
    }
    for _ in 0..TRIALS {
        let position = Vec3::from_fn(|d, _| {
            let (low, high, u) = (min[d] + radius, max[d] - radius, rng.random::<f64>());
            if low < high { (low + u * (high - low)).min(high) } else { 0.5 * (min[d] + max[d]) }
        });
        let rotation = random_rotation(planar, &mut rng);
        if room.is_free(position, radius) {
            let rotation = if insertion.turned { rotation } else { Quat::identity() };
            return Some(Pose { position, rotation });
        }
    }
    None
}

/// The new scene; the state is carried over to it, and what left and entered is recorded.
pub fn apply(scene: Scene, state: &mut State, changes: Changes) -> Scene {
    let Changes { edits, inserted, added } = changes;
    let rate = scene.shear_rate(state.t);
    let account = &mut state.population.account;
    let mut sums = *account;
    for edit in &edits {
        sums.removed += 1;
        sums.lost.add(&motion_of(&scene, edit.slot, state, rate), 1.0);
    }
    let (scene, new) = scene.with_changes(&edits, added);
    new.carry(&scene, state);
    carry_stones(state, &new);
    for body in &inserted {
        let slot = scene.bodies().slots[body.id as usize] as usize;
        sums.inserted += 1;
        sums.gained.add(&motion_of(&scene, slot, state, rate), 1.0);
    }
    state.population.account = sums;
    state.population.inserted.extend(inserted);
    // Stones that are gone do not break.
    state.degradation.breaks.retain(|b| scene.contains(crate::scene::Body(b.id)));
    record(&scene, state, edits);
    scene
}

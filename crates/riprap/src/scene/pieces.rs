//! Replacing bodies of a scene by pieces, removing and inserting bodies: a new scene, and the state carried over to it.
//!
//! Pieces take the place of the body they come from; inserted bodies come after all bodies but the nodes of flexible ones.
//! All other bodies and colliders keep their order, so that everything sorted by them stays sorted, and described scene,
//! list of inserted bodies and list of pieces determine the order of slots.

use super::degradation::{MeanLoad, Piece};
use super::population::{Fresh, InsertedBody};
use super::{Bodies, Body, Detection, PairTable, Scene, SchemeState, State, Twist};
use crate::detect::{Collider, ColliderSet, Geometry, Method};
use crate::math::{Mat3, Pose, Vec3};
use crate::shape::{MassProperties, Shape, ShapeError};
use std::collections::HashSet;

/// A body and the pieces that replace it; none if it becomes dust or is removed.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    pub slot: usize,
    /// Id of the described or inserted body that it is a part of.
    pub origin: u32,
    pub pieces: Vec<(Piece, Shape)>,
}

/// Bodies to be inserted, field by field as in a scene, and their state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Added {
    bodies: Bodies,
    shapes: Vec<Shape>,
    /// Their colliders, with indices of bodies in these lists.
    colliders: Vec<Collider>,
    q: Vec<Pose>,
    v: Vec<Twist>,
}

impl Added {
    /// Adds a free body with its colliders around its centre of mass.
    pub fn push(
        &mut self,
        (id, name): (u32, String),
        fresh: Fresh,
        colliders: Vec<Collider>,
        (q, v): (Pose, Twist),
    ) {
        let Fresh { shape, mass, locks, .. } = fresh;
        let free = |d: usize| !locks.0[d];
        let bodies = &mut self.bodies;
        let body = bodies.len() as u32;
        bodies.names.push(name);
        bodies.ids.push(id);
        bodies.push_solid(true, &mass, locks);
        bodies.force.push(Vec3::zeros());
        bodies.torque.push(Vec3::zeros());
        bodies.size.push(shape.size().unwrap_or(0.0));
        bodies.motion.push(None);
        bodies.radius.push(super::builder::reach_of(&colliders));
        bodies.carried.push(None);
        self.shapes.push(shape);
        self.colliders.extend(colliders.into_iter().map(|c| Collider { body, ..c }));
        self.q.push(q);
        self.v.push(Twist {
            linear: Vec3::from_fn(|d, _| if free(d) { v.linear[d] } else { 0.0 }),
            angular: Vec3::from_fn(|d, _| if free(d + 3) { v.angular[d] } else { 0.0 }),
        });
    }

    /// Number of bodies.
    pub fn len(&self) -> usize {
        self.shapes.len()
    }

    /// Their colliders, and the poses of the bodies.
    pub fn colliders(&self) -> impl Iterator<Item = (&Collider, &Pose)> {
        self.colliders.iter().map(|c| (c, &self.q[c.body as usize]))
    }
}

impl Fresh {
    /// Radius of a bounding sphere around its centre of mass [m].
    pub fn radius(&self) -> f64 {
        super::builder::reach_of(&self.colliders())
    }

    /// Its colliders around its centre of mass.
    pub fn colliders(&self) -> Vec<Collider> {
        let collider = |(pose, shape): (Pose, Shape)| {
            let pose = Pose { position: pose.position - self.mass.centre, ..pose };
            let (body, material, movable) = (0, self.material, true);
            Some(Collider { body, geometry: Geometry::of(&shape)?, pose, material, movable })
        };
        self.shape.parts().into_iter().filter_map(collider).collect()
    }
}

/// Where a body of a new scene comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// From an old slot, as it was.
    Kept(u32),
    /// From an old slot, as a piece or worn.
    Replaced(u32),
    /// Inserted, by its index in [`Added`].
    New(u32),
}

impl Origin {
    fn is_new(&self) -> bool {
        matches!(self, Origin::New(_))
    }
}

/// Where the bodies of a new scene come from.
#[derive(Clone, Debug)]
pub(crate) struct Renumbering {
    /// By new slot.
    sources: Vec<Origin>,
    /// New slot of each old body; `None` if it broke or is gone. That of a worn stone remains.
    slots: Vec<Option<u32>>,
    /// New index of each old collider, and the shift of the centre of mass in the frame of a worn
    /// body [m].
    colliders: Vec<Option<(u32, Option<Vec3>)>>,
    n_colliders: u32,
    /// New index of the first inserted collider.
    first_added: u32,
    /// Centres of mass before and after, by new slot, of replaced bodies [m].
    centres: Vec<[Vec3; 2]>,
    /// Poses and velocities of inserted bodies.
    added: (Vec<Pose>, Vec<Twist>),
}

impl Renumbering {
    /// Entries of a list by old slots, in the order of new ones; `other` gives those of replaced and inserted bodies from
    /// the new slot.
    pub fn gather<T: Clone>(&self, items: &[T], other: impl Fn(usize, Origin) -> T) -> Vec<T> {
        let new = |(k, origin): (usize, &Origin)| match *origin {
            Origin::Kept(old) => items[old as usize].clone(),
            origin => other(k, origin),
        };
        self.sources.iter().enumerate().map(new).collect()
    }

    /// Where each new body comes from.
    pub fn sources(&self) -> &[Origin] {
        &self.sources
    }

    fn slot(&self, old: u32) -> u32 {
        // Bodies that something refers to neither degrade nor are removed: the builder checks it.
        self.slots[old as usize].unwrap_or(0)
    }

    /// Colliders of a contact in the new scene, `None` if one of them is gone. Points chosen by the user
    /// have indices after those of all colliders.
    fn pair(&self, pair: [u32; 2]) -> Option<[(u32, Option<Vec3>); 2]> {
        let n_old = self.colliders.len() as u32;
        let new = |c: u32| match self.colliders.get(c as usize) {
            Some(new) => *new,
            None => Some((c - n_old + self.n_colliders, None)),
        };
        Some([new(pair[0])?, new(pair[1])?])
    }

    /// Carries a state over to the new scene.
    pub fn carry(&self, scene: &Scene, state: &mut State) {
        let old = std::mem::take(&mut state.q);
        let spun = std::mem::take(&mut state.v);
        for (k, &origin) in self.sources.iter().enumerate() {
            let (mut q, mut v) = match origin {
                Origin::Kept(old_slot) | Origin::Replaced(old_slot) => {
                    (old[old_slot as usize], spun[old_slot as usize])
                }
                Origin::New(k) => (self.added.0[k as usize], self.added.1[k as usize]),
            };
            if matches!(origin, Origin::Replaced(_)) {
                let [before, after] = self.centres[k];
                let arm = q.rotation * (after - before);
                q.position += arm;
                v.linear += v.angular.cross(&arm);
                let free = |d: usize| !scene.bodies.locks[k].0[d];
                v = Twist {
                    linear: Vec3::from_fn(|d, _| if free(d) { v.linear[d] } else { 0.0 }),
                    ..v
                };
            }
            state.q.push(q);
            state.v.push(v);
        }
        state.warm_start.retain_mut(|w| {
            let Some([a, b]) = self.pair(w.colliders) else { return false };
            w.colliders = [a.0, b.0];
            if let Some(shift) = a.1 {
                w.point_b = (Vec3::from(w.point_b) - shift).into();
            }
            if a.1.is_some() || b.1.is_some() {
                // Features have new numbers: the contact is recognized by its place.
                w.feature = u32::MAX;
            }
            true
        });
        state.warm_moments.retain_mut(|w| {
            let pair = self.pair(w.colliders);
            pair.map(|[a, b]| w.colliders = [a.0, b.0]).is_some()
        });
        match &mut state.scheme {
            SchemeState::Penalty(soft) => soft.springs.retain_mut(|s| {
                let pair = self.pair(s.colliders);
                pair.map(|[a, b]| s.colliders = [a.0, b.0]).is_some()
            }),
            // It starts again, as at the beginning of a run.
            scheme @ SchemeState::GeneralizedAlpha(_) => *scheme = SchemeState::None,
            SchemeState::RigidEvents(memory) => {
                memory.contacts.retain_mut(|held| {
                    let pair = self.pair(held.colliders);
                    // Features of changed shapes are numbered differently.
                    let same = pair.filter(|pair| pair.iter().all(|(_, shift)| shift.is_none()));
                    same.map(|[a, b]| held.colliders = [a.0, b.0]).is_some()
                });
                memory.contacts.sort_by_key(|held| held.colliders);
            }
            SchemeState::None | SchemeState::DormandPrince(_) => {}
        }
    }
}

impl Scene {
    /// A scene without anything, while its owner makes a new one.
    pub(crate) fn empty() -> Scene {
        Scene {
            gravity: Vec3::zeros(),
            drag: 0.0,
            planar: false,
            bodies: Bodies::default(),
            colliders: Vec::new(),
            collider_set: ColliderSet::fresh(),
            shapes: Vec::new(),
            materials: Vec::new(),
            pairs: PairTable::default(),
            cell: None,
            detection: Detection { alert: 0.0, skin: 0.0, method: Method::default() },
            grain_size: 1.0,
            resolution: 1.0,
            mechanisms: Vec::new(),
            first_links: Vec::new(),
            flexible: Vec::new(),
            apart: Vec::new(),
            points: Vec::new(),
            joints: Vec::new(),
            ropes: Vec::new(),
            loads: Vec::new(),
            initial: State::default(),
            seed: 0,
            degrades: false,
            population: None,
        }
    }

    /// Whether the body with this handle exists: it has neither broken nor become dust, and was not removed.
    pub fn contains(&self, body: Body) -> bool {
        self.bodies.slots.get(body.0 as usize).is_some_and(|slot| *slot != u32::MAX)
    }

    /// The scene with some bodies replaced by pieces; edits are sorted by slot. Ids of pieces that
    /// are new follow those of all bodies so far.
    pub(crate) fn with_pieces(self, edits: &[Edit]) -> (Scene, Renumbering) {
        self.with_changes(edits, Added::default())
    }

    /// The scene with some bodies replaced by pieces or removed, and others inserted; edits are sorted by slot. New ids
    /// follow those of all bodies so far.
    pub(crate) fn with_changes(self, edits: &[Edit], mut added: Added) -> (Scene, Renumbering) {
        let renumbering = self.renumber(edits, &mut added);
        let mut scene = self;
        scene.collider_set = ColliderSet::fresh();
        scene.replace_colliders(edits, &renumbering, &mut added.colliders);
        scene.replace_bodies(edits, &renumbering, added);
        for pair in &mut scene.apart {
            *pair = (renumbering.slot(pair.0), renumbering.slot(pair.1));
        }
        let points = scene.points.iter_mut().map(|p| &mut p.bodies);
        for bodies in points.chain(scene.joints.iter_mut().map(|j| &mut j.bodies)) {
            *bodies = bodies.map(|b| renumbering.slot(b));
        }
        for vertex in scene.ropes.iter_mut().flat_map(|r| &mut r.vertices) {
            vertex.0 = renumbering.slot(vertex.0);
        }
        for first in scene.first_links.iter_mut().chain(&mut scene.bodies.first_nodes) {
            *first = renumbering.slot(*first);
        }
        let mut initial = std::mem::take(&mut scene.initial);
        renumbering.carry(&scene, &mut initial);
        for (k, _) in renumbering.sources.iter().enumerate().filter(|(_, o)| o.is_new()) {
            // They had no place then.
            (initial.q[k], initial.v[k]) = (Pose::IDENTITY, Twist::default());
        }
        scene.initial = initial;
        (scene, renumbering)
    }

    /// Slot of the next body that is inserted: before the nodes of flexible bodies.
    fn place_of_added(&self) -> usize {
        self.bodies.first_nodes.first().map_or(self.bodies.len(), |first| *first as usize)
    }

    fn renumber(&self, edits: &[Edit], added: &mut Added) -> Renumbering {
        let (n, place) = (self.bodies.len(), self.place_of_added());
        let mut edit_of = vec![usize::MAX; n];
        for (k, edit) in edits.iter().enumerate() {
            edit_of[edit.slot] = k;
        }
        let worn = |slot: usize| match &edits[edit_of[slot]].pieces[..] {
            [(piece, shape)] if piece.id == self.bodies.ids[slot] => Some(centre(shape)),
            _ => None,
        };
        let (mut sources, mut slots, mut centres) =
            (Vec::with_capacity(n), vec![None; n], Vec::new());
        for slot in 0..=n {
            if slot == place {
                sources.extend((0..added.len() as u32).map(Origin::New));
                centres.extend(added.bodies.centre.iter().map(|centre| [*centre; 2]));
            }
            if slot == n {
                break;
            }
            let before = self.bodies.centre[slot];
            if edit_of[slot] == usize::MAX {
                slots[slot] = Some(sources.len() as u32);
                sources.push(Origin::Kept(slot as u32));
                centres.push([before; 2]);
                continue;
            }
            slots[slot] = worn(slot).map(|_| sources.len() as u32);
            for (_, shape) in &edits[edit_of[slot]].pieces {
                sources.push(Origin::Replaced(slot as u32));
                centres.push([before, centre(shape)]);
            }
        }
        let mut colliders = Vec::with_capacity(self.colliders.len());
        let (mut n_colliders, mut first_added) = (0, None);
        for c in &self.colliders {
            let slot = c.body as usize;
            if slot >= place && first_added.is_none() {
                first_added = Some(n_colliders);
                n_colliders += added.colliders.len() as u32;
            }
            if edit_of[slot] == usize::MAX {
                colliders.push(Some((n_colliders, None)));
                n_colliders += 1;
            } else {
                let shift = worn(slot).map(|after| after - self.bodies.centre[slot]);
                colliders.push(shift.map(|shift| (n_colliders, Some(shift))));
                n_colliders += edits[edit_of[slot]].pieces.len() as u32;
            }
        }
        let first_added = first_added.unwrap_or_else(|| {
            n_colliders += added.colliders.len() as u32;
            n_colliders - added.colliders.len() as u32
        });
        let added = (std::mem::take(&mut added.q), std::mem::take(&mut added.v));
        Renumbering { sources, slots, colliders, n_colliders, first_added, centres, added }
    }

    /// Bodies that degrade have one collider each.
    fn replace_colliders(&mut self, edits: &[Edit], new: &Renumbering, added: &mut Vec<Collider>) {
        let mut edit_of = vec![usize::MAX; self.bodies.len()];
        let mut first = vec![0; self.bodies.len()];
        for (k, edit) in edits.iter().enumerate() {
            edit_of[edit.slot] = k;
        }
        let mut first_new = 0;
        for (k, origin) in new.sources.iter().enumerate().rev() {
            match origin {
                Origin::Kept(old) | Origin::Replaced(old) => first[*old as usize] = k as u32,
                Origin::New(_) => first_new = k as u32,
            }
        }
        let mut colliders = Vec::with_capacity(new.n_colliders as usize);
        let mut place_added = |colliders: &mut Vec<Collider>| {
            if colliders.len() == new.first_added as usize {
                let moved = added.drain(..);
                colliders.extend(moved.map(|c| Collider { body: first_new + c.body, ..c }));
            }
        };
        for c in self.colliders.drain(..) {
            place_added(&mut colliders);
            let slot = c.body as usize;
            if edit_of[slot] == usize::MAX {
                colliders.push(Collider { body: first[slot], ..c });
                continue;
            }
            for (k, (_, shape)) in edits[edit_of[slot]].pieces.iter().enumerate() {
                let Some(geometry) = Geometry::of(shape) else { continue };
                let pose = Pose { position: -centre(shape), rotation: Pose::IDENTITY.rotation };
                colliders.push(Collider {
                    body: first[slot] + k as u32,
                    geometry,
                    pose,
                    ..c.clone()
                });
            }
        }
        place_added(&mut colliders);
        self.colliders = colliders;
    }

    fn replace_bodies(&mut self, edits: &[Edit], new: &Renumbering, mut added: Added) {
        let bodies = &mut self.bodies;
        for id in &bodies.ids {
            bodies.slots[*id as usize] = u32::MAX;
        }
        let mut names = std::mem::take(&mut bodies.names);
        let name = |origin: &Origin| match origin {
            Origin::Kept(old) | Origin::Replaced(old) => std::mem::take(&mut names[*old as usize]),
            Origin::New(k) => std::mem::take(&mut added.bodies.names[*k as usize]),
        };
        bodies.names = new.sources.iter().map(name).collect();
        macro_rules! gather {
            ($($list:ident),+) => { $(
                bodies.$list = new.gather(&bodies.$list, |_, origin| match origin {
                    Origin::Kept(old) | Origin::Replaced(old) => bodies.$list[old as usize].clone(),
                    Origin::New(k) => added.bodies.$list[k as usize].clone(),
                });
            )+ };
        }
        gather!(ids, movable, mass, inverse_mass, inertia, inverse_inertia, tumbles, centre);
        gather!(locks, force, torque, radius, size, motion, carried);
        self.shapes = new.gather(&self.shapes, |_, origin| match origin {
            Origin::Kept(old) | Origin::Replaced(old) => self.shapes[old as usize].clone(),
            Origin::New(k) => added.shapes[k as usize].clone(),
        });
        let pieces = edits.iter().flat_map(|e| &e.pieces);
        let replaced = |&k: &usize| matches!(new.sources[k], Origin::Replaced(_));
        let places = (0..new.sources.len()).filter(replaced);
        for (k, (piece, shape)) in places.zip(pieces) {
            let m = properties(piece, shape);
            let locks = bodies.locks[k];
            bodies.ids[k] = piece.id;
            bodies.names[k].clone_from(&piece.name);
            bodies.mass[k] = m.mass;
            bodies.inverse_mass[k] =
                std::array::from_fn(|d| if locks.0[d] { 0.0 } else { 1.0 / m.mass });
            bodies.inertia[k] = m.inertia;
            bodies.inverse_inertia[k] = m.inertia.try_inverse().unwrap_or_else(Mat3::zeros);
            let turns = locks.0[3..].iter().filter(|locked| !**locked).count();
            bodies.tumbles[k] = !super::builder::is_round(&m.inertia) && turns > 1;
            bodies.centre[k] = m.centre;
            bodies.force[k] = piece.force.into();
            bodies.torque[k] = piece.torque.into();
            bodies.size[k] = shape.size().unwrap_or(0.0);
            bodies.radius[k] = match shape {
                Shape::Polyhedron(p) => p.outer_radius(),
                Shape::Polygon(p) => p.outer_radius(),
                _ => 0.0,
            };
            self.shapes[k] = shape.clone();
        }
        for (slot, &id) in bodies.ids.iter().enumerate() {
            if bodies.slots.len() <= id as usize {
                bodies.slots.resize(id as usize + 1, u32::MAX);
            }
            bodies.slots[id as usize] = slot as u32;
        }
    }

    /// The described scene in the condition that a state records.
    pub(crate) fn in_condition(self, state: &State) -> Result<Scene, ShapeError> {
        if !differs(state) {
            return Ok(self);
        }
        let stones = &state.degradation;
        let mut scene = self.with_inserted(&state.population.inserted)?;
        let mut edits: Vec<Edit> = Vec::new();
        let slot = |id: u32, can: &dyn Fn(usize) -> bool| {
            let slot = scene.bodies.slots.get(id as usize).map(|s| *s as usize);
            slot.filter(|s| *s < scene.bodies.len() && can(*s)).ok_or(ShapeError::NotConvex)
        };
        for piece in &stones.pieces {
            let slot = slot(piece.origin, &|slot| scene.can_degrade(slot))?;
            let shape = Shape::from_outline(&piece.outline)?;
            match edits.iter_mut().rev().find(|e| e.slot == slot) {
                Some(edit) => edit.pieces.push((piece.clone(), shape)),
                None => edits.push(Edit {
                    slot,
                    origin: piece.origin,
                    pieces: vec![(piece.clone(), shape)],
                }),
            }
        }
        let removable = scene.removable();
        for &id in &stones.gone {
            let slot = slot(id, &|slot| removable[slot])?;
            edits.push(Edit { slot, origin: id, pieces: Vec::new() });
        }
        edits.sort_by_key(|e| e.slot);
        scene = scene.with_pieces(&edits).0;
        // Ids of bodies that are gone are not given again.
        scene.bodies.slots.resize(scene.bodies.slots.len().max(stones.next_id as usize), u32::MAX);
        Ok(scene)
    }

    /// The described scene with inserted bodies, whose ids increase.
    fn with_inserted(self, inserted: &[InsertedBody]) -> Result<Scene, ShapeError> {
        if inserted.is_empty() {
            return Ok(self);
        }
        let mut added = Added::default();
        let mut next = self.bodies.slots.len() as u32;
        for body in inserted {
            let fresh = self.fresh(body.insertion as usize, body.number);
            let fresh = fresh.filter(|_| body.id >= next).ok_or(ShapeError::NotConvex)?;
            next = body.id.saturating_add(1);
            let colliders = fresh.colliders();
            let name = self.inserted_name(body);
            added.push((body.id, name), fresh, colliders, (Pose::IDENTITY, Twist::default()));
        }
        Ok(self.with_changes(&[], added).0)
    }

    /// The name of an inserted body.
    pub(crate) fn inserted_name(&self, body: &InsertedBody) -> String {
        let insertion = self.population().and_then(|p| p.insertions.get(body.insertion as usize));
        format!("{}-{}", insertion.map_or("", |i| &i.name), body.number + 1)
    }
}

/// Whether a state has other bodies than the described scene.
pub(crate) fn differs(state: &State) -> bool {
    let stones = &state.degradation;
    !(stones.pieces.is_empty() && stones.gone.is_empty() && state.population.inserted.is_empty())
}

/// Updates the lists of bodies that differ from the description after edits and insertions, of which `scene` is the result.
pub(crate) fn record(scene: &Scene, state: &mut State, edits: Vec<Edit>) {
    let (record, slots) = (&mut state.degradation, &scene.bodies().slots);
    record.next_id = record.next_id.max(slots.len() as u32);
    if edits.is_empty() {
        return;
    }
    let origins: Vec<u32> = edits.iter().map(|e| e.origin).collect();
    let fresh: Vec<Piece> = edits.into_iter().flat_map(|e| e.pieces).map(|p| p.0).collect();
    // A worn stone replaces its entry.
    let renewed: HashSet<u32> = fresh.iter().map(|p| p.id).collect();
    let remains = |p: &Piece| !renewed.contains(&p.id) && slots[p.id as usize] != u32::MAX;
    record.pieces.retain(remains);
    record.pieces.extend(fresh);
    record.pieces.sort_by_key(|p| slots[p.id as usize]);
    let left: HashSet<u32> = record.pieces.iter().map(|p| p.origin).collect();
    let gone: HashSet<u32> =
        origins.iter().copied().filter(|origin| !left.contains(origin)).collect();
    let inserted = &mut state.population.inserted;
    let described = |id: &u32| inserted.binary_search_by_key(id, |b| b.id).is_err();
    let mut newly: Vec<u32> = gone.iter().copied().filter(described).collect();
    newly.sort_unstable();
    record.gone.extend(newly);
    inserted.retain(|b| !gone.contains(&b.id));
}

/// Carries what is recorded by slot about stones over to a scene in which bodies were inserted or removed.
pub(crate) fn carry_stones(state: &mut State, new: &Renumbering) {
    let record = &mut state.degradation;
    if !record.loads.is_empty() {
        record.loads = new.gather(&record.loads, |_, _| MeanLoad::default());
    }
    if !record.wear.is_empty() {
        record.wear = new.gather(&record.wear, |_, _| Vec::new());
    }
}

fn centre(shape: &Shape) -> Vec3 {
    shape.mass_properties(1.0).map_or_else(Vec3::zeros, |m| m.centre)
}

/// Mass, centre and inertia of a piece.
pub(crate) fn properties(piece: &Piece, shape: &Shape) -> MassProperties {
    shape.mass_properties(piece.density).unwrap_or_else(|| MassProperties::point(0.0, [0.0; 3]))
}

//! Replacing bodies of a scene by pieces: a new scene, and the state carried over to it.
//!
//! Pieces take the place of the body they come from. All other bodies and colliders keep their
//! order, so that everything sorted by them stays sorted, and described scene and list of pieces
//! determine the order of slots.

use super::degradation::{DegradationState, Piece};
use super::{Bodies, Body, Detection, PairTable, Scene, SchemeState, State, Twist};
use crate::detect::{Collider, ColliderSet, Geometry, Method};
use crate::math::{Mat3, Pose, Vec3};
use crate::shape::{MassProperties, Shape, ShapeError};

/// A body and the pieces that replace it; none if it becomes dust.
#[derive(Clone, Debug)]
pub(crate) struct Edit {
    pub slot: usize,
    /// Id of the described body that it is a part of.
    pub origin: u32,
    pub pieces: Vec<(Piece, Shape)>,
}

/// Where the bodies of a new scene come from.
#[derive(Clone, Debug)]
pub(crate) struct Renumbering {
    /// Old slot of each new body, and whether it was replaced.
    sources: Vec<(u32, bool)>,
    /// New slot of each old body; `None` if it broke or is gone. That of a worn stone remains.
    slots: Vec<Option<u32>>,
    /// New index of each old collider, and the shift of the centre of mass in the frame of a worn
    /// body [m].
    colliders: Vec<Option<(u32, Option<Vec3>)>>,
    n_colliders: u32,
    /// Centres of mass before and after, by new slot, of replaced bodies [m].
    centres: Vec<[Vec3; 2]>,
}

impl Renumbering {
    /// Entries of a list by old slots, in the order of new ones; pieces get `piece` of the new slot
    /// and the old entry.
    pub fn gather<T: Clone>(&self, items: &[T], piece: impl Fn(usize, &T) -> T) -> Vec<T> {
        let new = |(k, &(old, replaced)): (usize, &(u32, bool))| {
            let item = &items[old as usize];
            if replaced { piece(k, item) } else { item.clone() }
        };
        self.sources.iter().enumerate().map(new).collect()
    }

    /// The old slot of each new body, and whether it was replaced.
    pub fn sources(&self) -> &[(u32, bool)] {
        &self.sources
    }

    fn slot(&self, old: u32) -> u32 {
        // Bodies that something refers to do not degrade: the builder checks it.
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
        for (k, &(source, replaced)) in self.sources.iter().enumerate() {
            let (mut q, mut v) = (old[source as usize], spun[source as usize]);
            if replaced {
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
        }
    }

    /// Whether the body with this handle still exists: it has neither broken nor become dust.
    pub fn contains(&self, body: Body) -> bool {
        self.bodies.slots.get(body.0 as usize).is_some_and(|slot| *slot != u32::MAX)
    }

    /// The scene with some bodies replaced by pieces; edits are sorted by slot. Ids of pieces that
    /// are new follow those of all bodies so far.
    pub(crate) fn with_pieces(self, edits: &[Edit]) -> (Scene, Renumbering) {
        let renumbering = self.renumber(edits);
        let mut scene = self;
        scene.collider_set = ColliderSet::fresh();
        scene.replace_colliders(edits, &renumbering);
        scene.replace_bodies(edits, &renumbering);
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
        scene.initial = initial;
        (scene, renumbering)
    }

    fn renumber(&self, edits: &[Edit]) -> Renumbering {
        let n = self.bodies.len();
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
        for slot in 0..n {
            let before = self.bodies.centre[slot];
            if edit_of[slot] == usize::MAX {
                slots[slot] = Some(sources.len() as u32);
                sources.push((slot as u32, false));
                centres.push([before; 2]);
                continue;
            }
            slots[slot] = worn(slot).map(|_| sources.len() as u32);
            for (_, shape) in &edits[edit_of[slot]].pieces {
                sources.push((slot as u32, true));
                centres.push([before, centre(shape)]);
            }
        }
        let mut colliders = Vec::with_capacity(self.colliders.len());
        let mut n_colliders = 0;
        for c in &self.colliders {
            let slot = c.body as usize;
            if edit_of[slot] == usize::MAX {
                colliders.push(Some((n_colliders, None)));
                n_colliders += 1;
            } else {
                let shift = worn(slot).map(|after| after - self.bodies.centre[slot]);
                colliders.push(shift.map(|shift| (n_colliders, Some(shift))));
                n_colliders += edits[edit_of[slot]].pieces.len() as u32;
            }
        }
        Renumbering { sources, slots, colliders, n_colliders, centres }
    }

    /// Bodies that degrade have one collider each.
    fn replace_colliders(&mut self, edits: &[Edit], new: &Renumbering) {
        let mut edit_of = vec![usize::MAX; self.bodies.len()];
        let mut first = vec![0; self.bodies.len()];
        for (k, edit) in edits.iter().enumerate() {
            edit_of[edit.slot] = k;
        }
        for (k, (old, _)) in new.sources.iter().enumerate().rev() {
            first[*old as usize] = k as u32;
        }
        let mut colliders = Vec::with_capacity(new.n_colliders as usize);
        for c in self.colliders.drain(..) {
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
        self.colliders = colliders;
    }

    fn replace_bodies(&mut self, edits: &[Edit], new: &Renumbering) {
        let bodies = &mut self.bodies;
        let mut names = std::mem::take(&mut bodies.names);
        bodies.names = (new.sources.iter())
            .map(|(old, _)| std::mem::take(&mut names[*old as usize]))
            .collect();
        macro_rules! gather {
            ($($list:expr),+) => { $($list = new.gather(&$list, |_, item| item.clone());)+ };
        }
        gather!(bodies.ids, bodies.movable, bodies.mass, bodies.inverse_mass, bodies.inertia);
        gather!(bodies.inverse_inertia, bodies.tumbles, bodies.centre, bodies.locks, bodies.force);
        gather!(bodies.torque, bodies.radius, bodies.size, bodies.motion, bodies.carried);
        gather!(self.shapes);
        let pieces = edits.iter().flat_map(|e| &e.pieces);
        let places = (0..new.sources.len()).filter(|&k| new.sources[k].1);
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
        bodies.slots.fill(u32::MAX);
        for (slot, &id) in bodies.ids.iter().enumerate() {
            if bodies.slots.len() <= id as usize {
                bodies.slots.resize(id as usize + 1, u32::MAX);
            }
            bodies.slots[id as usize] = slot as u32;
        }
    }

    /// The described scene in the condition that a state records.
    pub(crate) fn in_condition(self, state: &DegradationState) -> Result<Scene, ShapeError> {
        if state.pieces.is_empty() && state.gone.is_empty() {
            return Ok(self);
        }
        let mut edits: Vec<Edit> = Vec::new();
        let slot = |id: u32| {
            let slot = self.bodies.slots.get(id as usize).map(|s| *s as usize);
            slot.filter(|s| *s < self.bodies.len() && self.can_degrade(*s))
                .ok_or(ShapeError::NotConvex)
        };
        for piece in &state.pieces {
            let (slot, shape) = (slot(piece.origin)?, Shape::from_outline(&piece.outline)?);
            match edits.iter_mut().rev().find(|e| e.slot == slot) {
                Some(edit) => edit.pieces.push((piece.clone(), shape)),
                None => edits.push(Edit {
                    slot,
                    origin: piece.origin,
                    pieces: vec![(piece.clone(), shape)],
                }),
            }
        }
        for &id in &state.gone {
            edits.push(Edit { slot: slot(id)?, origin: id, pieces: Vec::new() });
        }
        edits.sort_by_key(|e| e.slot);
        let mut scene = self.with_pieces(&edits).0;
        // Ids of pieces that are gone are not given again.
        scene.bodies.slots.resize(scene.bodies.slots.len().max(state.next_id as usize), u32::MAX);
        Ok(scene)
    }
}

fn centre(shape: &Shape) -> Vec3 {
    shape.mass_properties(1.0).map_or_else(Vec3::zeros, |m| m.centre)
}

/// Mass, centre and inertia of a piece.
pub(crate) fn properties(piece: &Piece, shape: &Shape) -> MassProperties {
    shape.mass_properties(piece.density).unwrap_or_else(|| MassProperties::point(0.0, [0.0; 3]))
}

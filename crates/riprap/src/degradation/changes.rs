//! Which stones break and which lose a chamfer, and what that does to scene and state.

use super::stress::across;
use super::{Stone, add_wear, nearest_corner};
use crate::math::Vec3;
use crate::scene::{
    CornerWear, DegradationAccount, Edit, Lost, Origin, Piece, Renumbering, Scene, State, Wear,
    motion_of, record,
};
use crate::shape::{Shape, ShapeError};

/// Pieces whose [`Shape::roundness`] is below this are slivers: another plane is tried first [–].
const SLIVER: f64 = 0.08;
/// Pieces that are even thinner become dust [–].
const DUST: f64 = 0.01;
/// A contact normal within 10° of the normal of a face wears the whole face: the cosine of that.
const FLAT: f64 = 0.984_807_753_012_208;
/// Chamfers of a stone before one step at most.
const MOST_CHAMFERS: usize = 16;

/// The pieces of a stone, and the volumes still to be worn off each of them.
pub(super) struct Change {
    edit: Edit,
    wear: Vec<Vec<CornerWear>>,
    /// Number of chamfers; 0 if it breaks.
    chamfers: u64,
}

/// The stones that break or lose a chamfer now, sorted by slot.
pub(super) fn due(scene: &Scene, state: &State, stones: &[Stone]) -> Vec<Change> {
    let record = &state.degradation;
    let n = scene.bodies().len();
    let mut known: Vec<Option<&Piece>> = vec![None; n];
    for piece in &record.pieces {
        known[scene.bodies().slots[piece.id as usize] as usize] = Some(piece);
    }
    let mut changes: Vec<Change> = Vec::new();
    let mut next_id = record.next_id.max(scene.bodies().slots.len() as u32);
    for b in &record.breaks {
        let body = crate::scene::Body(b.id);
        if !scene.contains(body) {
            continue;
        }
        let slot = scene.slot(body);
        let parent = described(scene, slot, known[slot]);
        let corners = record.wear.get(slot).map_or(&[][..], |w| &w[..]);
        changes.extend(broken(
            scene,
            slot,
            &parent,
            b.normal.into(),
            &stones[slot],
            corners,
            &mut next_id,
        ));
    }
    let breaks: Vec<usize> = changes.iter().map(|c| c.edit.slot).collect();
    for (slot, corners) in record.wear.iter().enumerate() {
        let Some(wear) = stones[slot].wear else { continue };
        let threshold = wear.chamfer * stones[slot].volume;
        if corners.iter().all(|c| c.volume < threshold) || breaks.contains(&slot) {
            continue;
        }
        let parent = described(scene, slot, known[slot]);
        let smallest = stones[slot].fragmentation.map_or(0.0, |f| f.smallest);
        changes.extend(chamfered(scene, slot, &parent, &wear, threshold, corners, smallest));
    }
    changes.sort_by_key(|c| c.edit.slot);
    changes
}

/// A body as a piece: as recorded, or the whole of a described body.
fn described(scene: &Scene, slot: usize, known: Option<&Piece>) -> Piece {
    if let Some(piece) = known {
        return piece.clone();
    }
    let bodies = scene.bodies();
    let shape = scene.shape(scene.body_at(slot));
    let id = bodies.ids[slot];
    Piece {
        id,
        origin: id,
        name: bodies.names[slot].clone(),
        density: bodies.mass[slot] / shape.volume(),
        force: bodies.force[slot].into(),
        torque: bodies.torque[slot].into(),
        // Replaced by that of the pieces.
        outline: crate::shape::Outline::Polygon { vertices: Vec::new(), thickness: 0.0 },
    }
}

/// Splits a stone; `None` if its shape cannot be split.
fn broken(
    scene: &Scene,
    slot: usize,
    parent: &Piece,
    normal: Vec3,
    stone: &Stone,
    corners: &[CornerWear],
    next_id: &mut u32,
) -> Option<Change> {
    let smallest = stone.fragmentation?.smallest;
    let shape = scene.shape(scene.body_at(slot));
    let shapes = split(shape, normal, scene.bodies().centre[slot], scene.is_planar()).ok()?;
    let whole = shape.volume();
    let mut pieces = Vec::new();
    for (k, part) in shapes.into_iter().enumerate() {
        if part.size().unwrap_or(0.0) < smallest || part.roundness() < DUST {
            continue;
        }
        let share = part.volume() / whole;
        let piece = Piece {
            id: *next_id,
            name: format!("{}.{}", parent.name, k + 1),
            force: parent.force.map(|f| f * share),
            torque: parent.torque.map(|t| t * share),
            outline: part.outline()?,
            ..parent.clone()
        };
        *next_id += 1;
        pieces.push((piece, part));
    }
    // What was to be worn off stays with the nearest piece.
    let mut wear = vec![Vec::new(); pieces.len()];
    for c in corners {
        let place = corner(shape, c.corner);
        let shapes = pieces.iter().map(|(_, shape)| shape);
        if let Some((k, near)) = nearest_piece(shapes, place) {
            let outward = Vec3::from(c.normal) / c.volume.abs().max(f64::MIN_POSITIVE);
            add_wear(&mut wear[k], near, c.volume, outward);
        }
    }
    Some(Change { edit: Edit { slot, origin: parent.origin, pieces }, wear, chamfers: 0 })
}

/// Splits a shape through its centre, along the given plane, or across its longest direction if that
/// avoids slivers.
fn split(
    shape: &Shape,
    normal: Vec3,
    centre: Vec3,
    planar: bool,
) -> Result<[Shape; 2], ShapeError> {
    let worst = |pieces: &[Shape; 2]| pieces[0].roundness().min(pieces[1].roundness());
    let first = shape.split(normal, centre);
    if first.as_ref().is_ok_and(|pieces| worst(pieces) >= SLIVER) {
        return first;
    }
    let second = shape.split(across(shape, planar), centre);
    match (&first, &second) {
        (Ok(a), Ok(b)) if worst(a) >= worst(b) => first,
        (Ok(_), Err(_)) => first,
        _ => second,
    }
}

/// Cuts off the corners whose volume has reached the threshold [m³].
fn chamfered(
    scene: &Scene,
    slot: usize,
    parent: &Piece,
    wear: &Wear,
    threshold: f64,
    corners: &[CornerWear],
    smallest: f64,
) -> Option<Change> {
    let mut shape = scene.shape(scene.body_at(slot)).clone();
    let mut corners = corners.to_vec();
    let mut chamfers = 0;
    for _ in 0..MOST_CHAMFERS {
        let Some(at) = corners.iter().position(|c| c.volume >= threshold) else { break };
        let volume = shape.volume();
        let direction = outward(&shape, &corners[at]);
        // A step with a lot of wear takes several chamfers.
        let wanted = corners[at].volume.min(0.05 * volume);
        let Ok(cut) = shape.cut_off(direction, wanted, wear.max_corners) else { break };
        let lost = volume - cut.volume();
        let left = (corners[at].volume - lost) / corners[at].volume;
        corners[at].volume -= lost;
        corners[at].normal = corners[at].normal.map(|n| n * left.max(0.0));
        corners = renumbered(&shape, &cut, &corners);
        shape = cut;
        chamfers += 1;
    }
    if chamfers == 0 {
        return None;
    }
    let (mut pieces, mut wear) = (Vec::new(), Vec::new());
    if shape.size().unwrap_or(0.0) >= smallest {
        pieces.push((Piece { outline: shape.outline()?, ..parent.clone() }, shape));
        wear.push(corners);
    }
    Some(Change { edit: Edit { slot, origin: parent.origin, pieces }, wear, chamfers })
}

/// The direction in which a corner is cut off: the mean contact normal, or that of a face which is
/// nearly the same.
fn outward(shape: &Shape, worn: &CornerWear) -> Vec3 {
    let mean = Vec3::from(worn.normal);
    let centre = shape.mass_properties(1.0).map_or_else(Vec3::zeros, |m| m.centre);
    let out = if mean.norm() > 0.0 { mean } else { corner(shape, worn.corner) - centre };
    let mut direction = out.normalize();
    let mut best = FLAT;
    let mut try_face = |normal: Vec3| {
        let cos = normal.dot(&out.normalize());
        if cos > best {
            (best, direction) = (cos, normal);
        }
    };
    match shape {
        Shape::Polyhedron(p) => p.face_normals().iter().for_each(|n| try_face(*n)),
        Shape::Polygon(p) => {
            p.normals().iter().for_each(|n| try_face(Vec3::new(n[0], n[1], 0.0)));
        }
        _ => {}
    }
    direction
}

/// Volumes at the corners of a shape, at the nearest corners of the shape after a cut.
fn renumbered(old: &Shape, new: &Shape, corners: &[CornerWear]) -> Vec<CornerWear> {
    let mut moved: Vec<CornerWear> = Vec::new();
    for c in corners {
        let near = nearest_corner(new, corner(old, c.corner));
        match moved.iter_mut().find(|m| m.corner == near) {
            Some(m) => {
                m.volume += c.volume;
                (0..3).for_each(|k| m.normal[k] += c.normal[k]);
            }
            None => moved.push(CornerWear { corner: near, ..*c }),
        }
    }
    moved
}

/// Position of a corner of a shape [m].
fn corner(shape: &Shape, index: u32) -> Vec3 {
    let index = index as usize;
    match shape {
        Shape::Polyhedron(p) => p.vertices().get(index).copied().unwrap_or_else(|| p.centre()),
        Shape::Polygon(p) => {
            let [x, y] = p.vertices().get(index).copied().unwrap_or_default();
            Vec3::new(x, y, 0.0)
        }
        _ => Vec3::zeros(),
    }
}

/// The piece with the corner nearest to a place, and that corner.
fn nearest_piece<'a>(shapes: impl Iterator<Item = &'a Shape>, place: Vec3) -> Option<(usize, u32)> {
    let mut best: Option<(f64, usize, u32)> = None;
    for (k, shape) in shapes.enumerate() {
        let near = nearest_corner(shape, place);
        let d = (corner(shape, near) - place).norm();
        if best.is_none_or(|b| d < b.0) {
            best = Some((d, k, near));
        }
    }
    best.map(|(_, k, near)| (k, near))
}

/// The new scene; the state is carried over to it, and what left the bodies is recorded.
pub(super) fn apply(scene: Scene, state: &mut State, changes: Vec<Change>) -> Scene {
    // There are no stones in sheared cells.
    let before: Vec<Lost> =
        changes.iter().map(|c| motion_of(&scene, c.edit.slot, state, 0.0)).collect();
    let old_ids = scene.bodies().ids.clone();
    let (edits, rest): (Vec<Edit>, Vec<_>) =
        changes.into_iter().map(|c| (c.edit, (c.wear, c.chamfers))).unzip();
    let (scene, new) = scene.with_pieces(&edits);
    new.carry(&scene, state);

    let stones = &mut state.degradation;
    stones.loads = match stones.loads.is_empty() {
        true => Vec::new(),
        // A worn stone keeps its load.
        false => new.gather(&stones.loads, |k, origin| match origin {
            Origin::Replaced(old) if old_ids[old as usize] == scene.bodies().ids[k] => {
                stones.loads[old as usize]
            }
            _ => Default::default(),
        }),
    };
    if !stones.wear.is_empty() {
        let mut fresh = rest.iter().flat_map(|(wear, _)| wear.iter().cloned());
        let old = std::mem::take(&mut stones.wear);
        let list = |origin: &Origin| match origin {
            Origin::Kept(source) => old[*source as usize].clone(),
            _ => fresh.next().unwrap_or_default(),
        };
        stones.wear = new.sources().iter().map(list).collect();
    }
    let chamfers = rest.into_iter().map(|(_, chamfers)| chamfers);
    account(&scene, state, &edits, &new, &before, chamfers);
    record(&scene, state, edits);
    scene
}

/// Records what left the bodies.
fn account(
    scene: &Scene,
    state: &mut State,
    edits: &[Edit],
    new: &Renumbering,
    before: &[Lost],
    chamfers: impl Iterator<Item = u64>,
) {
    let mut sums: DegradationAccount = state.degradation.account;
    let replaced = |&k: &usize| matches!(new.sources()[k], Origin::Replaced(_));
    let places: Vec<usize> = (0..new.sources().len()).filter(replaced).collect();
    let mut place = places.into_iter();
    for ((edit, before), chamfers) in edits.iter().zip(before).zip(chamfers) {
        let mut lost = *before;
        let n = edit.pieces.len();
        for slot in place.by_ref().take(n) {
            lost.add(&motion_of(scene, slot, state, 0.0), -1.0);
        }
        if chamfers > 0 {
            sums.chamfers += chamfers;
            sums.worn.add(&lost, 1.0);
            continue;
        }
        sums.breaks += 1;
        sums.pieces += n as u64;
        if n < 2 {
            sums.dust.add(&lost, 1.0);
        }
    }
    state.degradation.account = sums;
}

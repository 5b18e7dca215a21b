//! The broad phase: pairs of colliders whose neighbourhoods overlap. A grid with one level per size
//! class (a factor of two), so that the work grows with the number of colliders even if a few are
//! far larger than the rest. The list is built with a skin around every collider and remains valid
//! until one has travelled through half of it.

use super::{Collider, Geometry, Placed, Query};
use crate::math::{Lattice, Vec3, bytes_of, make_room, parallel};

/// Pairs of neighbours, and the data that determine how long they are valid.
#[derive(Debug, Default)]
pub(super) struct BroadPhase {
    pairs: Vec<u64>,
    /// Results of each task.
    parts: Vec<Neighbours>,
    boxes: Vec<Aabb>,
    levels: Vec<Level>,
    /// How far each collider could move in a step when the list was built [m].
    built_reach: Vec<f64>,
    built_alert: f64,
    /// The requested skin, and the wider one in use while everything moves fast.
    asked_skin: f64,
    built_skin: f64,
    widening: f64,
    /// Detections since the list was built.
    age: u32,
}

/// A list that lasts for fewer detections than this is made wider next time; one that lasts much
/// longer is made narrower.
const SHORT_LIFE: u32 = 6;
const LONG_LIFE: u32 = 30;
pub(super) const WIDEST: f64 = 3.0;

/// Colliders per task of the neighbour search.
const PART: usize = 256;

/// Neighbours of some colliders, concatenated, and the end of each collider's range.
#[derive(Clone, Debug, Default)]
struct Neighbours {
    found: Vec<u32>,
    ends: Vec<u32>,
}

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, Default)]
struct Aabb {
    min: Vec3,
    max: Vec3,
}

impl Aabb {
    fn overlaps(&self, other: &Aabb) -> bool {
        (0..3).all(|k| self.min[k] <= other.max[k] && other.min[k] <= self.max[k])
    }
    fn moved(&self, by: Vec3) -> Aabb {
        Aabb { min: self.min + by, max: self.max + by }
    }
    fn centre(&self) -> Vec3 {
        (self.min + self.max) * 0.5
    }
    fn extent(&self) -> f64 {
        (self.max - self.min).max()
    }
}

/// One level of the grid: colliders no larger than a cell, each in the cell of its centre. Cells
/// are stored in a chained hash table.
#[derive(Debug, Default)]
struct Level {
    cell: f64,
    heads: Vec<u32>,
    items: Vec<Item>,
}

#[derive(Clone, Copy, Debug)]
struct Item {
    collider: u32,
    cell: [i32; 3],
    next: u32,
}

const END: u32 = u32::MAX;

impl Level {
    fn slot(&self, cell: [i32; 3]) -> usize {
        let mix = (cell[0] as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
            ^ (cell[1] as u64).wrapping_mul(0xc2b2_ae3d_27d4_eb4f).rotate_left(21)
            ^ (cell[2] as u64).wrapping_mul(0x1656_67b1_9e37_79f9).rotate_left(42);
        ((mix ^ mix >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32) as usize
            & (self.heads.len() - 1)
    }

    fn clear(&mut self, cell: f64, capacity: usize) {
        self.cell = cell;
        self.items.clear();
        make_room(&mut self.items, capacity);
        self.heads.clear();
        self.heads.resize((2 * capacity).next_power_of_two().max(16), END);
    }

    fn insert(&mut self, collider: u32, centre: Vec3) {
        let cell = self.cell_of(centre);
        let slot = self.slot(cell);
        let next = std::mem::replace(&mut self.heads[slot], self.items.len() as u32);
        self.items.push(Item { collider, cell, next });
    }

    /// The cell of a point; coordinates beyond any reasonable scene share the outermost cells.
    fn cell_of(&self, p: Vec3) -> [i32; 3] {
        let index = |x: f64| (x / self.cell).floor().clamp(-1e9, 1e9) as i32;
        [index(p.x), index(p.y), index(p.z)]
    }

    /// Calls `visit` for every collider whose centre may lie within half a cell of the box.
    fn visit(&self, query: &Aabb, mut visit: impl FnMut(u32)) {
        let half = Vec3::repeat(0.5 * self.cell);
        let (lo, hi) = (self.cell_of(query.min - half), self.cell_of(query.max + half));
        let cells = (0..3).map(|k| f64::from(hi[k]) - f64::from(lo[k]) + 1.0).product::<f64>();
        if cells > self.items.len() as f64 {
            self.items.iter().for_each(|item| visit(item.collider));
            return;
        }
        for z in lo[2]..=hi[2] {
            for y in lo[1]..=hi[1] {
                for x in lo[0]..=hi[0] {
                    let cell = [x, y, z];
                    let mut at = self.heads[self.slot(cell)];
                    while at != END {
                        let item = &self.items[at as usize];
                        if item.cell == cell {
                            visit(item.collider);
                        }
                        at = item.next;
                    }
                }
            }
        }
    }
}

impl BroadPhase {
    /// The pairs, sorted: the smaller collider index in the upper half of the number.
    pub(super) fn pairs(&self) -> &[u64] {
        &self.pairs
    }

    /// Whether no collider has left the neighbourhood for which the list was built; `paths` gives
    /// the largest distance that the points of each have travelled since [m].
    pub(super) fn still_valid(&mut self, paths: &[f64], reach: &[f64], query: &Query) -> bool {
        if self.built_reach.len() != paths.len()
            || query.alert > self.built_alert
            || query.skin != self.asked_skin
        {
            return false;
        }
        self.age += 1;
        let slack = 0.5 * self.built_skin;
        let built_reach = &self.built_reach;
        parallel::all(paths.len(), |i| paths[i] + (reach[i] - built_reach[i]).max(0.0) <= slack)
    }

    /// Invalidates the list.
    pub(super) fn forget(&mut self) {
        self.built_reach.clear();
    }

    /// Rebuilds the list.
    pub(super) fn build(&mut self, placed: &[Placed], reach: &[f64], query: &Query) {
        let Query { colliders, alert, .. } = *query;
        // Which pairs are listed does not change any result.
        let factor = match self.age {
            _ if self.built_reach.len() != placed.len() || query.skin != self.asked_skin => 0.0,
            0..SHORT_LIFE => 1.5,
            LONG_LIFE.. => 1.0 / 1.5,
            _ => 1.0,
        };
        self.widening = (self.widening * factor).clamp(1.0, WIDEST);
        self.age = 0;
        let skin = self.widening * query.skin;
        self.built_reach.clear();
        self.built_reach.extend_from_slice(reach);
        self.built_alert = alert;
        self.asked_skin = query.skin;
        self.built_skin = skin;

        let margin = |i: usize| 0.5 * (alert + skin) + reach[i];
        parallel::fill(&mut self.boxes, placed.len(), |i| {
            bounding_box(&colliders[i], &placed[i], margin(i))
        });
        let images = query.images.map(|images| {
            let lattice = images.lattice;
            parallel::for_each(&mut self.boxes, |i, b| {
                *b = b.moved(lattice.into_cell(placed[i].centre));
            });
            (lattice, enclosing(&self.boxes, colliders))
        });
        self.fill_levels(colliders);

        let BroadPhase { pairs, parts, boxes, levels, .. } = self;
        let n_parts = colliders.len().div_ceil(PART);
        parallel::set_length(parts, n_parts);
        parallel::for_each_part(parts, 0..n_parts, &|_| 1, &|part, neighbours| {
            let Neighbours { found, ends } = &mut neighbours[0];
            found.clear();
            ends.clear();
            for i in (part * PART..colliders.len()).take(PART) {
                match colliders[i].geometry {
                    Geometry::HalfSpace(n) => {
                        half_space_pairs(i, placed[i].rot * n, placed, query, margin, found);
                    }
                    _ => match &images {
                        None => grid_pairs(i, &boxes[i], colliders, boxes, levels, found),
                        Some((lattice, all)) => {
                            for image in images_near(&boxes[i], lattice, all) {
                                grid_pairs(i, &image, colliders, boxes, levels, found);
                            }
                        }
                    },
                }
                ends.push(found.len() as u32);
            }
        });
        pairs.clear();
        make_room(pairs, parts.iter().map(|part| part.found.len()).sum());
        let body = |i: usize| colliders[i].body;
        let apart = |i: usize, j: usize| {
            let [a, b] = [body(i), body(j)];
            query.apart.binary_search(&(a.min(b), a.max(b))).is_ok()
        };
        for (part, Neighbours { found, ends }) in parts.iter().enumerate() {
            let mut begin = 0;
            for (i, end) in (part * PART..).zip(ends) {
                let others = found[begin..*end as usize].iter().map(|j| *j as usize);
                pairs.extend(others.filter(|j| !apart(i, *j)).map(|j| key(i, j)));
                begin = *end as usize;
            }
        }
        // Already sorted by first collider, except for pairs of different sizes and walls.
        pairs.sort_unstable();
        if images.is_some() {
            // With a wide skin in a small cell some meet through two images.
            pairs.dedup();
        }
    }

    fn fill_levels(&mut self, colliders: &[Collider]) {
        let finite = |i: &usize| !matches!(colliders[*i].geometry, Geometry::HalfSpace(_));
        let extents = || (0..colliders.len()).filter(finite).map(|i| self.boxes[i].extent());
        let smallest = extents().fold(f64::INFINITY, f64::min);
        let largest = extents().fold(0.0, f64::max);
        // Sizes beyond a factor of 2²⁰ share the lowest level.
        let base =
            if smallest.is_finite() { smallest.max(largest / f64::from(1 << 20)) } else { 1.0 };
        let n_levels = level_of(largest, base) + 1;
        self.levels.resize_with(n_levels, Level::default);
        for (l, level) in self.levels.iter_mut().enumerate() {
            let here = (0..colliders.len())
                .filter(finite)
                .filter(|&i| level_of(self.boxes[i].extent(), base) == l);
            level.clear(base * f64::powi(2.0, l as i32), here.clone().count());
            for i in here {
                level.insert(i as u32, self.boxes[i].centre());
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let levels = self.levels.iter().map(|l| bytes_of(&l.heads) + bytes_of(&l.items));
        bytes_of(&self.pairs)
            + bytes_of(&self.parts)
            + self.parts.iter().map(|p| bytes_of(&p.found) + bytes_of(&p.ends)).sum::<usize>()
            + bytes_of(&self.boxes)
            + bytes_of(&self.built_reach)
            + levels.sum::<usize>()
    }
}

/// The box around all colliders except half-spaces.
fn enclosing(boxes: &[Aabb], colliders: &[Collider]) -> Aabb {
    let (least, most) = (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY));
    let finite = |c: &Collider| !matches!(c.geometry, Geometry::HalfSpace(_));
    let finite = boxes.iter().zip(colliders).filter(|(_, c)| finite(c));
    finite.fold(Aabb { min: least, max: most }, |all, (b, _)| Aabb {
        min: all.min.inf(&b.min),
        max: all.max.sup(&b.max),
    })
}

/// The images of a box within the cell and around it that may meet a collider in the cell.
fn images_near(own: &Aabb, lattice: &Lattice, all: &Aabb) -> impl Iterator<Item = Aabb> {
    lattice.around().map(|a| own.moved(a)).filter(|image| image.overlaps(all))
}

/// Colliders in the neighbourhood of a collider with this box: the later ones of its own level, and
/// all of coarser levels.
fn grid_pairs(
    i: usize,
    own_box: &Aabb,
    colliders: &[Collider],
    boxes: &[Aabb],
    levels: &[Level],
    found: &mut Vec<u32>,
) {
    // The level that holds it: that of an image might differ by rounding.
    let own = level_of(boxes[i].extent(), levels[0].cell);
    for (l, level) in levels.iter().enumerate().skip(own) {
        if level.items.is_empty() {
            continue;
        }
        level.visit(own_box, |other| {
            let j = other as usize;
            // Within a level each pair is found from both sides: keep one.
            if (l == own && j <= i)
                || !may_touch(&colliders[i], &colliders[j])
                || !own_box.overlaps(&boxes[j])
            {
                return;
            }
            make_room(found, 1);
            found.push(j as u32);
        });
    }
}

/// The level whose cells hold a collider of this extent.
fn level_of(extent: f64, base: f64) -> usize {
    let mut level = 0;
    let mut cell = base;
    while cell < extent && level < 20 {
        cell *= 2.0;
        level += 1;
    }
    level
}

fn key(i: usize, j: usize) -> u64 {
    (i.min(j) as u64) << 32 | i.max(j) as u64
}

fn may_touch(a: &Collider, b: &Collider) -> bool {
    a.body != b.body && (a.movable || b.movable)
}

fn half_space_pairs(
    i: usize,
    normal: Vec3,
    placed: &[Placed],
    query: &Query,
    margin: impl Fn(usize) -> f64,
    found: &mut Vec<u32>,
) {
    for (j, c) in query.colliders.iter().enumerate() {
        if matches!(c.geometry, Geometry::HalfSpace(_)) || !may_touch(&query.colliders[i], c) {
            continue;
        }
        let p = &placed[j];
        let height = normal.dot(&(p.centre - placed[i].origin)) - p.radius;
        if height <= margin(i) + margin(j) {
            make_room(found, 1);
            found.push(j as u32);
        }
    }
}

/// The box around a placed collider, widened by a margin.
fn bounding_box(collider: &Collider, placed: &Placed, margin: f64) -> Aabb {
    let mut b = match &collider.geometry {
        Geometry::Polyhedron(p) => {
            let mut b = Aabb { min: Vec3::zeros(), max: Vec3::zeros() };
            for k in 0..3 {
                let axis = placed.rot.row(k).transpose();
                b.max[k] = p.support(axis).1 + placed.origin[k];
                b.min[k] = placed.origin[k] - p.support(-axis).1;
            }
            b
        }
        Geometry::Curved(c) => {
            let mut b = Aabb { min: Vec3::zeros(), max: Vec3::zeros() };
            for k in 0..3 {
                let axis = placed.rot.row(k).transpose();
                b.max[k] = c.height(axis) + placed.origin[k];
                b.min[k] = placed.origin[k] - c.height(-axis);
            }
            b
        }
        Geometry::HalfSpace(_) => Aabb::default(),
        _ => {
            let r = Vec3::repeat(placed.radius);
            Aabb { min: placed.centre - r, max: placed.centre + r }
        }
    };
    b.min.add_scalar_mut(-margin);
    b.max.add_scalar_mut(margin);
    b
}

#[cfg(test)]
mod tests;

//! Anderson acceleration of the coloured sweeps, for problems on which conjugate gradients stall:
//! the last few sweeps are combined so that the change made by a sweep is minimized. Velocities are
//! affine in the impulses and are combined in the same way.

use super::super::anderson::least;
use super::lanes::{LANES, Row};
use super::packs::{DIRECTION, HEADER, IMPULSE, POINT};
use super::pointer::Pointer;
use super::{Job, Member};
use crate::math::bytes_of;
use std::ops::Range;

/// Number of sweeps combined.
pub(super) const MEMORY: usize = 5;

/// The last sweeps.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// Differences of two sweeps.
    differences: [Sweep; MEMORY],
    last: Sweep,
    /// Inner products of the newest difference of changes with all others and with the change, per
    /// chunk.
    products: Vec<Products>,
}

type Products = [Row; MEMORY + 1];

/// Result of a sweep (impulses and velocities) and its change of the impulses.
#[derive(Clone, Debug, Default)]
struct Sweep {
    impulses: Vec<Row>,
    changes: Vec<Row>,
    velocities: Vec<Row>,
}

impl Sweep {
    fn resize(&mut self, impulses: usize, velocities: usize) {
        self.impulses.resize(impulses, Row::default());
        self.changes.resize(impulses, Row::default());
        self.velocities.resize(velocities, Row::default());
    }

    fn bytes(&self) -> usize {
        bytes_of(&self.impulses) + bytes_of(&self.changes) + bytes_of(&self.velocities)
    }

    fn share(&mut self) -> SharedSweep<'_> {
        SharedSweep {
            impulses: Pointer::new(&mut self.impulses),
            changes: Pointer::new(&mut self.changes),
            velocities: Pointer::new(&mut self.velocities),
        }
    }
}

impl History {
    pub(super) fn bytes(&self) -> usize {
        let sweeps: usize = self.differences.iter().map(Sweep::bytes).sum();
        sweeps + self.last.bytes() + bytes_of(&self.products)
    }

    /// Releases its memory.
    pub(super) fn clear(&mut self) {
        if !self.products.is_empty() {
            *self = History::default();
        }
    }
}

#[derive(Clone, Copy)]
struct SharedSweep<'a> {
    impulses: Pointer<'a, Row>,
    changes: Pointer<'a, Row>,
    velocities: Pointer<'a, Row>,
}

/// A history as seen by all threads. Its rows belong to the members as those of [`Job`] do:
/// impulses, changes and products to the member that owns the chunk according to [`Job::chunks_of`]
/// (those of single contacts to the first one), velocities to the one that has the block in its
/// part.
#[derive(Clone, Copy)]
pub(super) struct SharedHistory<'a> {
    differences: [SharedSweep<'a>; MEMORY],
    last: SharedSweep<'a>,
    products: Pointer<'a, Products>,
    /// First row of the single contacts.
    single: usize,
}

/// A member's part of the history: the rows and products of a chunk, or of the single contacts.
struct Part<'a> {
    differences: [PartOfSweep<'a>; MEMORY],
    last: PartOfSweep<'a>,
    products: &'a mut Products,
}

struct PartOfSweep<'a> {
    impulses: &'a mut [Row],
    changes: &'a mut [Row],
}

impl<'a> SharedHistory<'a> {
    /// The rows and products of a chunk, or of the single contacts, which follow all chunks.
    ///
    /// # Safety
    /// Rule 1 of [`Job`], or 5: no other thread uses this part until it is dropped.
    unsafe fn part(&self, chunk: usize, rows: Range<usize>) -> Part<'a> {
        let of = |sweep: SharedSweep<'a>| {
            let lists = [sweep.impulses, sweep.changes];
            // SAFETY: guaranteed by the caller; parts share no rows.
            let [impulses, changes] = lists.map(|l| unsafe { l.slice_mut(rows.clone()) });
            PartOfSweep { impulses, changes }
        };
        // SAFETY: guaranteed by the caller; there is one entry of products per chunk and one for
        // the single contacts.
        let products = unsafe { self.products.item_mut(chunk) };
        Part { differences: self.differences.map(of), last: of(self.last), products }
    }
}

impl Part<'_> {
    /// Records an impulse and its change, and adds their products if there is a place for the
    /// difference: its slot, and the number of differences then.
    #[inline(always)]
    fn note(&mut self, k: usize, [r, f]: [&Row; 2], place: Option<(usize, usize)>) {
        if let Some((slot, len)) = place {
            let df = minus(f, &self.last.changes[k]);
            self.differences[slot].impulses[k] = minus(r, &self.last.impulses[k]);
            self.differences[slot].changes[k] = df;
            for (sum, difference) in self.products[..len].iter_mut().zip(&self.differences) {
                add_product(sum, &df, &difference.changes[k]);
            }
            add_product(&mut self.products[MEMORY], &df, f);
        }
        (self.last.impulses[k], self.last.changes[k]) = (*r, *f);
    }
}

/// Each member's summary of the history; identical for all members.
#[derive(Default)]
pub(super) struct Combination {
    gram: [[f64; MEMORY]; MEMORY],
    /// Inner products of the differences of changes with the last change.
    along: [f64; MEMORY],
    /// Number of differences, and the slot of the next one.
    len: usize,
    next: usize,
    begun: bool,
}

impl Combination {
    pub(super) fn forget(&mut self) {
        (self.len, self.next, self.begun) = (0, 0, false);
    }

    /// Records the products of the newest difference, which is stored in `slot`.
    fn note(&mut self, slot: usize, sums: &[f64; MEMORY + 1]) {
        self.len = (self.len + 1).min(MEMORY);
        for j in 0..self.len {
            (self.gram[j][slot], self.gram[slot][j]) = (sums[j], sums[j]);
            // The last change is the previous one plus the newest difference.
            self.along[j] += sums[j];
        }
        self.along[slot] = sums[MEMORY];
        self.next = (slot + 1) % MEMORY;
    }
}

impl<'a> Job<'a> {
    /// Allocates a history for this problem and shares it among threads; called once.
    pub(super) fn share_history(&self) -> SharedHistory<'a> {
        let history = self.history.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        let history = history.expect("the history is shared only once");
        let single = self.row_in_history(self.packs.len());
        let (impulses, velocities) = (single + self.single.len(), self.blocks.none as usize);
        history.last.resize(impulses, velocities);
        history.differences.iter_mut().for_each(|d| d.resize(impulses, velocities));
        history.products.resize(self.chunks.len() + 1, Default::default());
        SharedHistory {
            differences: history.differences.each_mut().map(Sweep::share),
            last: history.last.share(),
            products: Pointer::new(&mut history.products),
            single,
        }
    }

    /// The first row of a pack in the history: each pack has three rows per point or moment.
    fn row_in_history(&self, pack: usize) -> usize {
        let rows = match self.packs.get(pack) {
            Some(pack) => pack.first as usize,
            None => self.rows.len(),
        };
        3 * (rows - HEADER * pack) / POINT
    }

    /// A member's chunks: their part of the history, and their points in the order of that part.
    fn chunks_with_history<'m>(
        &'m self,
        member: &'m Member,
        history: &'m SharedHistory<'a>,
    ) -> impl Iterator<Item = (Part<'a>, impl Iterator<Item = &'a mut [Row; POINT]>)> + 'm {
        self.chunks_of(member).map(|chunk| {
            let [first, end] = self.chunks[chunk].map(|k| k as usize);
            let rows = self.row_in_history(first)..self.row_in_history(end);
            // SAFETY: rule 1; a member visits each of its chunks once.
            let (part, mut rest) =
                unsafe { (history.part(chunk, rows), self.rows.slice_mut(self.rows_of(chunk))) };
            let points = self.packs[first..end].iter().flat_map(move |pack| {
                let rows = rest.split_off_mut(..pack.n_rows()).expect("rows of its packs");
                rows[HEADER..].as_chunks_mut().0
            });
            (part, points)
        })
    }

    /// Records the last sweep.
    pub(super) fn note(
        &self,
        member: &Member,
        history: &SharedHistory<'a>,
        known: &mut Combination,
    ) {
        let (slot, len) = (known.next, (known.len + 1).min(MEMORY));
        let place = known.begun.then_some((slot, len));
        for (mut part, points) in self.chunks_with_history(member, history) {
            *part.products = Products::default();
            for (point, first) in points.zip((0..).step_by(3)) {
                for i in 0..3 {
                    part.note(first + i, [&point[IMPULSE + i], &point[DIRECTION + i]], place);
                }
            }
        }
        if member.number == 0 {
            // SAFETY: rule 5.
            let (mut part, (single, _)) = unsafe { (self.single_part(history), self.single()) };
            *part.products = Products::default();
            for (k, s) in single.iter().enumerate() {
                part.note(k, [&padded(s.impulse), &padded(s.direction)], place);
            }
        }
        let blocks = self.blocks_of(member);
        let lists = [history.last.velocities, history.differences[slot].velocities];
        // SAFETY: rule 2.
        let (v, [last, difference]) = unsafe {
            let lists = lists.map(|list| list.slice_mut(blocks.clone()));
            (self.blocks.velocity.slice(blocks), lists)
        };
        for ((v, last), difference) in v.iter().zip(last).zip(difference) {
            *difference = minus(v, last);
            *last = *v;
        }
        member.meet();
        if !known.begun {
            known.begun = true;
            return;
        }
        let mut sums = [0.0; MEMORY + 1];
        // SAFETY: rule 1; all members read them after this barrier and write after the next.
        for products in unsafe { history.products.slice(0..self.chunks.len() + 1) } {
            for (sum, row) in sums.iter_mut().zip(products) {
                *sum += row.0.iter().sum::<f64>();
            }
        }
        known.note(slot, &sums);
    }

    /// Continues from the combination of the last sweeps with the least change; returns false if
    /// there is none.
    pub(super) fn combine(
        &self,
        member: &Member,
        history: &SharedHistory<'a>,
        known: &Combination,
    ) -> bool {
        let Some(factors) = least(&known.gram, &known.along, known.len) else { return false };
        self.replace(member, history, |part, k, r| {
            for (difference, factor) in part.differences[..known.len].iter().zip(&factors) {
                subtract(r, *factor, &difference.impulses[k]);
            }
        });
        let blocks = self.blocks_of(member);
        // SAFETY: rule 2.
        let (velocity, differences) = unsafe {
            let velocity = self.blocks.velocity.slice_mut(blocks.clone());
            (velocity, history.differences.map(|d| d.velocities.slice(blocks.clone())))
        };
        for (k, v) in velocity.iter_mut().enumerate() {
            for (difference, factor) in differences[..known.len].iter().zip(&factors) {
                subtract(v, *factor, &difference[k]);
            }
        }
        member.meet();
        true
    }

    /// Returns to the result of the last recorded sweep.
    pub(super) fn return_to(&self, member: &Member, history: &SharedHistory<'a>) {
        self.replace(member, history, |part, k, r| *r = part.last.impulses[k]);
        let blocks = self.blocks_of(member);
        // SAFETY: rule 2.
        let (velocity, last) = unsafe {
            let velocity = self.blocks.velocity.slice_mut(blocks.clone());
            (velocity, history.last.velocities.slice(blocks))
        };
        velocity.copy_from_slice(last);
        member.meet();
    }

    /// Replaces all impulses.
    fn replace(
        &self,
        member: &Member,
        history: &SharedHistory<'a>,
        change: impl Fn(&Part, usize, &mut Row),
    ) {
        for (part, points) in self.chunks_with_history(member, history) {
            for (point, first) in points.zip((0..).step_by(3)) {
                for i in 0..3 {
                    change(&part, first + i, &mut point[IMPULSE + i]);
                }
            }
        }
        if member.number == 0 {
            // SAFETY: rule 5.
            let (part, (single, _)) = unsafe { (self.single_part(history), self.single()) };
            for (k, s) in single.iter_mut().enumerate() {
                let mut row = padded(s.impulse);
                change(&part, k, &mut row);
                s.impulse = [row.0[0], row.0[1], row.0[2]];
            }
        }
    }

    /// The rows of the single contacts in the history.
    ///
    /// # Safety
    /// Rule 5: only the first member uses them, and only once at a time.
    unsafe fn single_part(&self, history: &SharedHistory<'a>) -> Part<'a> {
        // SAFETY: guaranteed by the caller.
        unsafe {
            history.part(self.chunks.len(), history.single..history.single + self.single.len())
        }
    }
}

fn padded([x, y, z]: [f64; 3]) -> Row {
    Row([x, y, z, 0.0, 0.0, 0.0, 0.0, 0.0])
}

#[inline(always)]
fn minus(a: &Row, b: &Row) -> Row {
    Row(std::array::from_fn(|k| a.0[k] - b.0[k]))
}

#[inline(always)]
fn subtract(x: &mut Row, factor: f64, d: &Row) {
    for lane in 0..LANES {
        x.0[lane] -= factor * d.0[lane];
    }
}

#[inline(always)]
fn add_product(sum: &mut Row, a: &Row, b: &Row) {
    for k in 0..LANES {
        sum.0[k] += a.0[k] * b.0[k];
    }
}

#[cfg(test)]
mod tests;

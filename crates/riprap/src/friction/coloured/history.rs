//! Anderson acceleration of the coloured sweeps, for problems on which conjugate gradients get nowhere: the last few sweeps are
//! combined so that what a sweep changes becomes least. Velocities are affine in the impulses and are combined alike.

use super::super::anderson::least;
use super::lanes::Row;
use super::packs::{DIRECTION, HEADER, IMPULSE, POINT};
use super::{Job, Member, Pointer};
use crate::math::bytes_of;

/// Sweeps that are combined.
pub(super) const MEMORY: usize = 5;

/// The last sweeps.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    /// Differences of two sweeps.
    differences: [Sweep; MEMORY],
    last: Sweep,
    /// Products of the newest difference of changes with all others, and with the change; for each chunk.
    products: Vec<[Row; MEMORY + 1]>,
}

/// What a sweep gave, impulses and velocities, and what it changed of the impulses.
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

    fn share(&mut self) -> Shared {
        Shared {
            impulses: Pointer(self.impulses.as_mut_ptr()),
            changes: Pointer(self.changes.as_mut_ptr()),
            velocities: Pointer(self.velocities.as_mut_ptr()),
        }
    }
}

impl History {
    pub(super) fn bytes(&self) -> usize {
        let sweeps: usize = self.differences.iter().map(Sweep::bytes).sum();
        sweeps + self.last.bytes() + bytes_of(&self.products)
    }

    /// Makes room for a problem and shares it among threads.
    pub(super) fn share(&mut self, job: &Job) -> SharedHistory {
        let points = (job.n_rows - HEADER * job.n_packs) / POINT;
        let impulses = 3 * points + job.n_single;
        let velocities = job.shared.none as usize;
        self.last.resize(impulses, velocities);
        self.differences.iter_mut().for_each(|d| d.resize(impulses, velocities));
        self.products.resize(job.chunks.len() + 1, Default::default());
        SharedHistory {
            differences: self.differences.each_mut().map(Sweep::share),
            last: self.last.share(),
            products: Pointer(self.products.as_mut_ptr()),
            single: 3 * points,
        }
    }
}

#[derive(Clone, Copy)]
struct Shared {
    impulses: Pointer<Row>,
    changes: Pointer<Row>,
    velocities: Pointer<Row>,
}

/// A history as all threads see it.
///
/// Safety: rows and sums of a chunk belong to the thread that was given the chunk, those of single contacts to the first one, and a
/// velocity to the thread that has its block in its part.
#[derive(Clone, Copy)]
pub(super) struct SharedHistory {
    differences: [Shared; MEMORY],
    last: Shared,
    products: Pointer<[Row; MEMORY + 1]>,
    /// First row of the single contacts.
    single: usize,
}

/// What one member knows of the history; all know the same.
#[derive(Default)]
pub(super) struct Combination {
    gram: [[f64; MEMORY]; MEMORY],
    /// Products of the differences of changes with the last change.
    along: [f64; MEMORY],
    /// Number of differences, and the place of the next one.
    len: usize,
    next: usize,
    begun: bool,
}

impl Combination {
    pub(super) fn forget(&mut self) {
        (self.len, self.next, self.begun) = (0, 0, false);
    }
}

impl Job<'_> {
    /// Calls `work` for each impulse of a chunk: its row in the history, and those of the impulse and of its change.
    #[inline(always)]
    unsafe fn rows_of(&self, chunk: usize, mut work: impl FnMut(usize, *mut Row, *mut Row)) {
        let [first, last] = self.chunks[chunk];
        for k in first as usize..last as usize {
            unsafe {
                let pack = &*self.shared.packs.add(k);
                let at = 3 * (pack.first as usize - HEADER * k) / POINT;
                for point in 0..(pack.points + pack.moments) as usize {
                    let row = self.shared.rows.add(pack.first as usize + HEADER + POINT * point);
                    for i in 0..3 {
                        let row = row.add(i);
                        work(at + 3 * point + i, row.add(IMPULSE), row.add(DIRECTION));
                    }
                }
            }
        }
    }

    /// Takes note of the last sweep.
    pub(super) unsafe fn note(
        &self,
        member: &Member,
        history: &SharedHistory,
        known: &mut Combination,
    ) {
        let (slot, len) = (known.next, (known.len + 1).min(MEMORY));
        let difference = &history.differences[slot];
        let last = &history.last;
        let begun = known.begun;
        let note = |k: usize, r: &Row, f: &Row, sums: &mut [Row; MEMORY + 1]| unsafe {
            let (last_r, last_f) = (&mut *last.impulses.0.add(k), &mut *last.changes.0.add(k));
            if begun {
                let (dr, df) =
                    (&mut *difference.impulses.0.add(k), &mut *difference.changes.0.add(k));
                *dr = minus(r, last_r);
                *df = minus(f, last_f);
                let df = *df;
                for (j, sum) in sums[..len].iter_mut().enumerate() {
                    add_product(sum, &df, &*history.differences[j].changes.0.add(k));
                }
                add_product(&mut sums[MEMORY], &df, f);
            }
            (*last_r, *last_f) = (*r, *f);
        };
        for chunk in self.chunks_of(member) {
            unsafe {
                let mut sums = <[Row; MEMORY + 1]>::default();
                self.rows_of(chunk, |k, r, f| note(k, &*r, &*f, &mut sums));
                *history.products.0.add(chunk) = sums;
            }
        }
        if member.number == 0 {
            let mut sums = <[Row; MEMORY + 1]>::default();
            for k in 0..self.n_single {
                let s = unsafe { &*self.single.0.add(k) };
                note(history.single + k, &padded(s.impulse), &padded(s.direction), &mut sums);
            }
            unsafe { *history.products.0.add(self.chunks.len()) = sums };
        }
        for k in member.part(0..self.shared.none as usize) {
            unsafe {
                let (v, last) = (&*self.shared.velocity.add(k), &mut *last.velocities.0.add(k));
                *difference.velocities.0.add(k) = minus(v, last);
                *last = *v;
            }
        }
        member.meet();
        if !begun {
            known.begun = true;
            return;
        }
        let mut sums = [0.0; MEMORY + 1];
        for chunk in 0..=self.chunks.len() {
            let products = unsafe { &*history.products.0.add(chunk) };
            for (sum, row) in sums.iter_mut().zip(products) {
                *sum += row.0.iter().sum::<f64>();
            }
        }
        for j in 0..len {
            (known.gram[j][slot], known.gram[slot][j]) = (sums[j], sums[j]);
            // The last change is the one before and the newest difference.
            known.along[j] += sums[j];
        }
        known.along[slot] = sums[MEMORY];
        known.next = (slot + 1) % MEMORY;
        known.len = len;
    }

    /// Goes on from the combination of the last sweeps with the least change; false if there is none.
    pub(super) unsafe fn combine(
        &self,
        member: &Member,
        history: &SharedHistory,
        known: &Combination,
    ) -> bool {
        let Some(factors) = least(&known.gram, &known.along, known.len) else { return false };
        let differences = &history.differences[..known.len];
        let combined = |mut x: Row, of: fn(&Shared) -> Pointer<Row>, k: usize| {
            for (difference, factor) in differences.iter().zip(&factors) {
                let d = unsafe { &*of(difference).0.add(k) };
                for lane in 0..8 {
                    x.0[lane] -= factor * d.0[lane];
                }
            }
            x
        };
        unsafe { self.replace(member, |k, r| combined(r, |d| d.impulses, k), history) };
        for k in member.part(0..self.shared.none as usize) {
            let v = unsafe { &mut *self.shared.velocity.add(k) };
            *v = combined(*v, |d| d.velocities, k);
        }
        member.meet();
        true
    }

    /// Back to what the last sweep gave that was taken note of.
    pub(super) unsafe fn return_to(&self, member: &Member, history: &SharedHistory) {
        let last = &history.last;
        unsafe {
            self.replace(member, |k, _| *last.impulses.0.add(k), history);
            for k in member.part(0..self.shared.none as usize) {
                *self.shared.velocity.add(k) = *last.velocities.0.add(k);
            }
        }
        member.meet();
    }

    /// Gives all impulses new values.
    unsafe fn replace(
        &self,
        member: &Member,
        new: impl Fn(usize, Row) -> Row,
        history: &SharedHistory,
    ) {
        for chunk in self.chunks_of(member) {
            unsafe { self.rows_of(chunk, |k, r, _| *r = new(k, *r)) };
        }
        if member.number == 0 {
            for k in 0..self.n_single {
                let s = unsafe { &mut *self.single.0.add(k) };
                let Row([x, y, z, ..]) = new(history.single + k, padded(s.impulse));
                s.impulse = [x, y, z];
            }
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
fn add_product(sum: &mut Row, a: &Row, b: &Row) {
    for k in 0..8 {
        sum.0[k] += a.0[k] * b.0[k];
    }
}

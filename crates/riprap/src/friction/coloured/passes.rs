//! The work of a team between its meetings: passes over the chunks of all colours, over the blocks,
//! and over single contacts. Each pass ends with a meeting.

use super::kernel::{Chunk, Measure, Start, Sweep, Visit};
use super::lanes::{LANES, Row};
use super::packs::{HEADER, IMPULSE, POINT, Pack};
use super::team::Member;
use super::{Change, Job, Operator, Residual, Single};
use pulp::bytemuck;
use std::ops::Range;

impl<'a> Job<'a> {
    /// Fills the rows of the blocks and of the packs, and computes the velocities from the
    /// impulses.
    pub(super) fn begin(&self, member: &Member) {
        let part = self.blocks_of(member);
        let lists = [self.blocks.masses, self.blocks.velocity, self.last];
        // SAFETY: rule 2; there is one row per block.
        let [masses, velocity, last] = lists.map(|l| unsafe { l.slice_mut(part.clone()) });
        for (row, m) in masses.iter_mut().zip(&self.w.masses()[part]) {
            let [xx, yy, zz, xy, xz, yz] = m.angular;
            *row = Row([xx, yy, zz, xy, xz, yz, m.linear[0], 0.0]);
        }
        velocity.fill(Row::default());
        last.fill(Row::default());
        member.meet();
        // SAFETY: rule 4; no thread writes to them before the solve is finished.
        let start = unsafe { self.impulses.slice(0..self.impulses.len()) };
        self.by_colour(member, false, |mut chunk| {
            for (k, (pack, rows)) in (chunk.first..).zip(chunk.packs()) {
                pack.fill(self.w, self.problem, start, self.moments.get(k), rows);
            }
            // SAFETY: rule 3.
            self.kernels.run(unsafe { Start::new(chunk, self.blocks) });
        });
        self.push_single(member);
    }

    /// Writes the impulses back: each is in one pack or single.
    pub(super) fn hand_over(&self, member: &Member) {
        let first_moment = self.problem.first_rolling();
        // SAFETY: rule 4; there is one impulse per entry of the problem, and each entry is in one
        // pack or single.
        let write = |a: usize, impulse: [f64; 3]| unsafe { self.impulses.write(a, impulse) };
        let of = |rows: &[Row], lane: usize| [0, 1, 2].map(|i| rows[IMPULSE + i].0[lane]);
        for k in member.part(0..self.packs.len()) {
            let pack = &self.packs[k];
            let first = pack.first as usize;
            // SAFETY: rule 1; the sweeps are finished, and all members only read.
            let rows = unsafe { self.rows.slice(first..first + pack.n_rows()) };
            for (lane, point, a) in pack.contacts() {
                write(a, of(&rows[HEADER + POINT * point..], lane));
            }
            for (lane, k) in self.moments.get(k).into_iter().flat_map(Pack::moments) {
                write(first_moment + k, of(&rows[pack.moment_row()..], lane));
            }
        }
        if member.number == 0 {
            // SAFETY: rule 5.
            for s in unsafe { self.single.slice(0..self.single.len()) } {
                write(s.contact, s.impulse);
            }
        }
    }

    /// A member's part of the movable blocks.
    pub(super) fn blocks_of(&self, member: &Member) -> Range<usize> {
        member.part(0..self.blocks.none as usize)
    }

    /// The chunks that belong to a member: a part of each colour.
    pub(super) fn chunks_of<'m>(&'m self, member: &'m Member) -> impl Iterator<Item = usize> + 'm {
        self.colours.iter().flat_map(|&[first, last]| {
            let part = member.part(first as usize..last as usize);
            self.shares[part].iter().map(|chunk| *chunk as usize)
        })
    }

    /// A chunk with all its data.
    ///
    /// # Safety
    /// Rule 1: no other thread uses this chunk until it is dropped.
    pub(super) unsafe fn chunk(&self, number: usize) -> Chunk<'a> {
        let [first, end] = self.chunks[number].map(|k| k as usize);
        let packs = &self.packs[first..end];
        let rows = self.rows_of(number);
        // SAFETY: chunks share no packs, and packs share no rows; there is one entry of sums per
        // chunk.
        unsafe {
            let (idle, rows) = (self.idle.slice_mut(first..end), self.rows.slice_mut(rows));
            Chunk { first, packs, idle, rows, sums: self.sums.item_mut(number) }
        }
    }

    /// The rows of a chunk.
    pub(super) fn rows_of(&self, chunk: usize) -> Range<usize> {
        let [first, end] = self.chunks[chunk].map(|k| &self.packs[..k as usize]);
        let next = |before: &[Pack]| before.last().map_or(0, |p| p.first as usize + p.n_rows());
        next(first)..next(end)
    }

    /// Calls `work` for the chunks of one colour after another, each member starting with its own;
    /// members meet in between. Colours too small to share are processed by the first member, one
    /// after another without a meeting.
    fn by_colour(&self, member: &Member, backwards: bool, work: impl Fn(Chunk<'a>)) {
        self.by_colour_then(member, backwards, work, |_| {});
    }

    /// The same; members call `then` with the colours of which they have just met at the end. Returns
    /// the colours of which they have not, except for the last meeting.
    fn by_colour_then(
        &self,
        member: &Member,
        backwards: bool,
        work: impl Fn(Chunk<'a>),
        then: impl Fn(Range<usize>),
    ) -> Range<usize> {
        const SHARED: usize = 4;
        let n = self.colours.len();
        let cursors = |colour: usize| &self.cursors[colour * self.most_members..];
        (0..n).for_each(|colour| member.rewind(cursors(colour)));
        let mut alone = false;
        // SAFETY: rule 1; `share` assigns each chunk to one member, and chunks that are not shared
        // belong to the first one.
        let work = |chunk: usize| work(unsafe { self.chunk(chunk) });
        let mut since = 0;
        let colours = |since: usize, k: usize| match backwards {
            false => since..k,
            true => n - k..n - since,
        };
        for k in 0..n {
            let colour = if backwards { n - 1 - k } else { k };
            let [first, last] = self.colours[colour];
            let chunks = first as usize..last as usize;
            let small = chunks.len() < SHARED;
            if k > 0 && !(small && alone) {
                member.meet();
                then(colours(since, k));
                since = k;
            }
            alone = small;
            if !small && !member.is_alone() {
                member.share(chunks, cursors(colour), |k| work(self.shares[k] as usize));
            } else if member.number == 0 {
                chunks.for_each(work);
            }
        }
        member.meet();
        colours(since, n)
    }

    /// One sweep over the contacts, Eq. (33).
    pub(super) fn sweep(&self, member: &Member, sweep: &Sweep, backwards: bool) -> Change {
        /// The row with the largest change.
        const MAX: usize = 1;
        let visit = |chunk| {
            // SAFETY: rule 3.
            self.kernels.run(unsafe { Visit::new(chunk, self.blocks, sweep) });
        };
        let add_up = |colours| self.add_up(member, colours, MAX);
        let rest = self.by_colour_then(member, backwards, visit, add_up);
        if self.single.len() > 0 {
            if member.number == 0 {
                self.sweep_single(sweep);
            }
            member.meet();
        }
        let [sum, max, scale, active, _] = self.reduce(rest, MAX);
        Change { sum, max, scale, active: active as usize }
    }

    /// Recomputes the velocities from the impulses.
    pub(super) fn restart(&self, member: &Member) {
        // SAFETY: rule 2.
        unsafe { self.blocks.velocity.slice_mut(self.blocks_of(member)) }.fill(Row::default());
        member.meet();
        self.by_colour(member, false, |chunk| {
            // SAFETY: rule 3.
            self.kernels.run(unsafe { Start::new(chunk, self.blocks) });
        });
        self.push_single(member);
    }

    /// Adds the effect of the single contacts' impulses to the velocities.
    fn push_single(&self, member: &Member) {
        if self.single.len() > 0 {
            if member.number == 0 {
                // SAFETY: rule 5; the others wait at the next meeting.
                let ((single, _), velocity) = unsafe { (self.single(), self.all_velocities()) };
                for s in &*single {
                    self.w.push_impulse(s.contact, s.impulse, velocity);
                }
            }
            member.meet();
        }
    }

    /// The residual of the current impulses and velocities: that of `residual.rs`, computed on
    /// packs.
    pub(super) fn measure(&self, member: &Member) -> Residual {
        let mobility = self.w.trace() / (3.0 * self.problem.len() as f64);
        for chunk in self.chunks_of(member) {
            // SAFETY: rules 1 and 2; all members only read velocities until the next meeting.
            let measure = unsafe { Measure::new(self.chunk(chunk), self.blocks, mobility) };
            self.kernels.run(measure);
        }
        if member.number == 0 {
            self.measure_single(mobility);
        }
        member.meet();
        /// The row with the fastest approach.
        const MAX: usize = 4;
        self.add_up(member, 0..self.colours.len(), MAX);
        member.meet();
        let [natural_map, impulses, free, velocities, approach] = self.reduce(0..0, MAX);
        Residual { natural_map, impulses, free, velocities, approach }.roots()
    }

    /// Extrapolates the velocities by a fraction of the last sweep's change. This change is the
    /// search direction of the conjugate gradients: the extrapolation plus the sweep's own change
    /// is the difference of the results of two sweeps.
    pub(super) fn look_ahead(&self, member: &Member, beta: f64) {
        let part = self.blocks_of(member);
        // SAFETY: rule 2.
        let (velocity, last) =
            unsafe { (self.blocks.velocity.slice_mut(part.clone()), self.last.slice_mut(part)) };
        for (Row(v), Row(last)) in velocity.iter_mut().zip(last) {
            for i in 0..6 {
                let now = v[i];
                v[i] = now + beta * (now - last[i]);
                last[i] = now;
            }
        }
        member.meet();
    }

    /// The single contacts and their sums.
    ///
    /// # Safety
    /// Rule 5: only the first member uses them, and only once at a time.
    #[expect(clippy::mut_from_ref)]
    pub(super) unsafe fn single(&self) -> (&mut [Single], &mut [Row; 5]) {
        // SAFETY: guaranteed by the caller; the entry after those of all chunks holds their sums.
        unsafe {
            (self.single.slice_mut(0..self.single.len()), self.sums.item_mut(self.chunks.len()))
        }
    }

    /// All velocities, for reading.
    ///
    /// # Safety
    /// Rule 2: no thread writes to them until the next meeting.
    pub(super) unsafe fn velocities(&self) -> &[[f64; LANES]] {
        // SAFETY: guaranteed by the caller.
        let rows = unsafe { self.blocks.velocity.slice(0..self.blocks.none as usize) };
        bytemuck::cast_slice(rows)
    }

    /// All velocities, for writing.
    ///
    /// # Safety
    /// Rule 5: only the first member uses them, once at a time, while the others wait.
    #[expect(clippy::mut_from_ref)]
    pub(super) unsafe fn all_velocities(&self) -> &mut [[f64; LANES]] {
        // SAFETY: guaranteed by the caller.
        let rows = unsafe { self.blocks.velocity.slice_mut(0..self.blocks.none as usize) };
        bytemuck::cast_slice_mut(rows)
    }

    /// Adds up the sums of a member's segments of some colours, after the pass over them.
    fn add_up(&self, member: &Member, colours: Range<usize>, largest: usize) {
        for segment in self.segments_in(&colours).filter(|k| member.has(*k)) {
            let total = self.total(segment, largest);
            // SAFETY: rule 6.
            unsafe { self.totals.write(segment, total) };
        }
    }

    /// The segments of some colours.
    fn segments_in(&self, colours: &Range<usize>) -> Range<usize> {
        let of = &self.segments_of[colours.clone()];
        of.first().map_or(0..0, |[first, _]| *first as usize..of[of.len() - 1][1] as usize)
    }

    /// Sums over the chunks of a segment in order; the maximum for one row.
    fn total(&self, segment: usize, largest: usize) -> [f64; 5] {
        let [first, end] = self.segments[segment].map(|k| k as usize);
        // SAFETY: rule 6.
        fold(unsafe { self.sums.slice(first..end) }, largest)
    }

    /// Sums over all chunks and single contacts in a fixed order, after a pass of which some colours are not yet added up; the
    /// maximum for one row.
    fn reduce(&self, rest: Range<usize>, largest: usize) -> [f64; 5] {
        let rest = self.segments_in(&rest);
        let mut sum = [0.0f64; 5];
        let mut add = |part: [f64; 5]| {
            for (row, (sum, part)) in sum.iter_mut().zip(part).enumerate() {
                *sum = if row == largest { sum.max(part) } else { *sum + part };
            }
        };
        for segment in 0..self.segments.len() {
            if rest.contains(&segment) {
                add(self.total(segment, largest));
            } else {
                // SAFETY: rule 6.
                add(unsafe { self.totals.read(segment) });
            }
        }
        if self.single.len() > 0 {
            let n = self.chunks.len();
            // SAFETY: rule 5; the first member has written them before the last meeting.
            add(fold(unsafe { self.sums.slice(n..n + 1) }, largest));
        }
        sum
    }
}

/// Sums over some chunks in order, then over lanes; the maximum for one row.
fn fold(sums: &[[Row; 5]], largest: usize) -> [f64; 5] {
    let mut lanes = [[0.0f64; LANES]; 5];
    for sums in sums {
        for row in 0..5 {
            for lane in 0..LANES {
                let (x, y) = (&mut lanes[row][lane], sums[row].0[lane]);
                *x = if row == largest { x.max(y) } else { *x + y };
            }
        }
    }
    std::array::from_fn(|row| {
        let add = |x: f64, y: &f64| if row == largest { x.max(*y) } else { x + y };
        lanes[row].iter().fold(0.0, add)
    })
}

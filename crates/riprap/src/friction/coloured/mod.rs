//! Gauss–Seidel at the limit of the machine: the same sweeps as the readable solver and the same acceleration by conjugate
//! gradients, but with the contacts coloured, packed side by side, and shared among threads. The result depends on none of
//! width and threads, bit for bit: a colour touches no block twice, and sums are made in a fixed order.

mod history;
mod kernel;
mod lanes;
mod packs;
mod team;

pub use kernel::Width;

use super::conjugate_gradient::{Patience, visit};
use super::criteria::{Change, Progress, Want};
use super::residual::Residual;
use super::{
    ConjugateGradient, ContactProblem, ContactSolver, Delassus, Factored, GaussSeidelOptions,
    Impulses, Local, Operator, Scratch, SolveReport,
};
use crate::math::bytes_of;
use history::{Combination, History, SharedHistory};
use kernel::{Kernels, Shared, Sweep};
use lanes::Row;
use packs::{HEADER, IMPULSE, POINT, Pack, Packs};
use std::sync::{Mutex, OnceLock, PoisonError};
use team::{Crowd, Cursor, Member, members_for, team};

/// Accelerated Gauss–Seidel over colours, for factored problems; small ones and stored blocks are left to
/// [`ConjugateGradient`].
#[derive(Clone, Copy, Debug)]
pub struct Coloured {
    /// When to stop.
    pub options: GaussSeidelOptions,
    /// Contacts side by side.
    pub width: Width,
    /// Contacts from which on colours pay. Fewer are solved one after the other, where an impulse travels through a whole tower
    /// in one sweep.
    pub fewest: usize,
}

impl Default for Coloured {
    fn default() -> Self {
        Coloured { options: GaussSeidelOptions::default(), width: Width::default(), fewest: 500 }
    }
}

/// Buffers of the solver.
#[derive(Clone, Debug, Default)]
pub(crate) struct Buffers {
    packs: Packs,
    velocity: Vec<Row>,
    /// Velocities after the sweep before.
    last: Vec<Row>,
    masses: Vec<Row>,
    sums: Vec<[Row; 5]>,
    single: Vec<Single>,
    history: History,
    crowd: Crowd,
    cursors: Vec<Cursor>,
}

impl super::Buffers for Buffers {
    fn bytes(&self) -> usize {
        self.packs.bytes()
            + bytes_of(&self.velocity)
            + bytes_of(&self.last)
            + bytes_of(&self.masses)
            + bytes_of(&self.sums)
            + bytes_of(&self.single)
            + self.history.bytes()
    }
}

/// Sweeps with conjugate gradients before a quarter as many are combined instead, and so on in longer and longer turns.
const BOUT: usize = 400;

/// A pack sits out some sweeps where it changes less than this part of the mean change of a contact [–].
const STIR: f64 = 0.3;

/// Sweeps after which round-off in the velocities may show in a residual.
const FRESH: usize = 50;

/// A contact that is solved by itself.
#[derive(Clone, Copy, Debug)]
struct Single {
    contact: usize,
    impulse: [f64; 3],
    direction: [f64; 3],
}

impl Coloured {
    /// Stops at a residual [–]; see [`GaussSeidelOptions::tolerance`].
    pub fn tolerance(tolerance: f64) -> Coloured {
        Coloured { options: GaussSeidelOptions::tolerance(tolerance), ..Coloured::default() }
    }

    fn run(
        &self,
        w: &Factored,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        buffers: &mut Buffers,
    ) -> SolveReport {
        assert_eq!(impulses.len(), problem.len(), "an impulse for each unknown triple");
        let members = members_for(problem.len());
        buffers.packs.survey(w, problem, impulses);
        let mut crowd = buffers.crowd;
        let report = team(
            members,
            &mut crowd,
            || self.prepare(w, problem, impulses, buffers, members),
            // Safety: see `Shared`; the buffers are borrowed by the job and by nothing else until the team is done.
            |member, job| unsafe { job.solve(member, &self.options) },
        );
        buffers.crowd = crowd;
        report
    }

    /// Sorts the contacts into packs and makes room for all that the sweeps need.
    fn prepare<'a>(
        &self,
        w: &'a Factored,
        problem: &'a ContactProblem,
        impulses: &'a mut Impulses,
        buffers: &'a mut Buffers,
        members: usize,
    ) -> Job<'a> {
        let Buffers { packs, velocity, last, masses, sums, single, history, cursors, .. } = buffers;
        let n_blocks = w.n_blocks();
        packs.arrange(n_blocks, problem);
        // The members write all of them but the last, which stays zero.
        for rows in [&mut *velocity, &mut *last, &mut *masses] {
            rows.resize(n_blocks + 1, Row::default());
            rows[n_blocks] = Row::default();
        }
        cursors.clear();
        cursors.resize(packs.colours.len() * members, Cursor::default());
        // One more for the single contacts.
        sums.resize(packs.chunks.len() + 1, [Row::default(); 5]);
        single.clear();
        single.extend(packs.single.iter().map(|&a| Single {
            contact: a as usize,
            impulse: impulses[a as usize],
            direction: [0.0; 3],
        }));
        Job {
            w,
            problem,
            impulses: Pointer(impulses.as_mut_ptr()),
            n_impulses: impulses.len(),
            kernels: Kernels::choose(self.width),
            chunks: &packs.chunks,
            shares: &packs.shares,
            cursors,
            most_members: members,
            colours: &packs.colours,
            n_rows: packs.rows.len(),
            n_packs: packs.packs.len(),
            moments: &packs.moments,
            shared: Shared {
                rows: packs.rows.as_mut_ptr(),
                packs: packs.packs.as_ptr(),
                idle: packs.idle.as_mut_ptr(),
                velocity: velocity.as_mut_ptr(),
                masses: masses.as_mut_ptr(),
                none: n_blocks as u32,
                sums: sums.as_mut_ptr(),
            },
            last: Pointer(last.as_mut_ptr()),
            single: Pointer(single.as_mut_ptr()),
            n_single: single.len(),
            history: Mutex::new(history),
            past: OnceLock::new(),
        }
    }
}

/// A pointer that threads share; each says why it may.
#[derive(Clone, Copy)]
struct Pointer<T>(*mut T);

unsafe impl<T> Sync for Pointer<T> {}
unsafe impl<T> Send for Pointer<T> {}

/// One solve, as all members of the team see it.
struct Job<'a> {
    w: &'a Factored,
    problem: &'a ContactProblem,
    impulses: Pointer<[f64; 3]>,
    n_impulses: usize,
    kernels: Kernels,
    chunks: &'a [[u32; 2]],
    shares: &'a [u32],
    /// For each colour those of all members, and how many there are of them at most.
    cursors: &'a [Cursor],
    most_members: usize,
    colours: &'a [[u32; 2]],
    n_rows: usize,
    n_packs: usize,
    moments: &'a [[u32; lanes::LANES]],
    shared: Shared,
    /// Velocities after the sweep before: each member has its part of the blocks.
    last: Pointer<Row>,
    single: Pointer<Single>,
    n_single: usize,
    history: Mutex<&'a mut History>,
    /// The history as all see it, once it is needed.
    past: OnceLock<SharedHistory>,
}

impl Job<'_> {
    /// The whole solve; every member returns the same report.
    unsafe fn solve(&self, member: &Member, options: &GaussSeidelOptions) -> SolveReport {
        let mut progress = Progress::new(options);
        let mut bout = BOUT;
        unsafe {
            self.begin(member);
            loop {
                progress = self.conjugate(member, progress, bout);
                if progress.over {
                    break;
                }
                let share = || self.lock_history(|history| history.share(self));
                progress =
                    self.combine_sweeps(member, self.past.get_or_init(share), progress, bout / 4);
                if progress.over {
                    break;
                }
                bout += bout / 2;
            }
            self.hand_over(member);
        }
        if member.number == 0 && self.past.get().is_some() {
            // Few steps need it, and it is large; the others are past their last look at it.
            self.lock_history(|history| *history = History::default());
        }
        progress.report
    }

    fn lock_history<R>(&self, work: impl FnOnce(&mut History) -> R) -> R {
        work(&mut self.history.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sweeps accelerated by conjugate gradients: a bout of them, or until the solve is over. All members come to the same decisions
    /// from the same sums.
    unsafe fn conjugate<'a>(
        &self,
        member: &Member,
        mut progress: Progress<'a>,
        bout: usize,
    ) -> Progress<'a> {
        let end = progress.report.sweeps + bout;
        let mut patience = Patience::default();
        let mut last = f64::INFINITY;
        let again = progress.report.sweeps > 0;
        let mut sweep = Sweep { beta: 0.0, relaxation: 1.0, local: 1e-6, all: again, stir: 0.0 };
        unsafe {
            if again {
                self.restart(member);
            }
            self.look_ahead(member, 0.0);
            loop {
                sweep.relaxation = patience.relaxation();
                let change = self.sweep(member, &sweep, patience.backwards());
                // What was thought idle may not be.
                sweep.all = self.judge(member, &mut progress, &change, sweep.all);
                if progress.over || progress.report.sweeps >= end {
                    return progress;
                }
                // Fletcher–Reeves; forgets its direction when a sweep changes more than the one before.
                let gradient = change.squared();
                let beta = gradient / last;
                last = gradient;
                let lost = patience.lost(gradient);
                sweep.beta = if beta >= 1.0 || lost { 0.0 } else { beta };
                sweep.local = local_accuracy(&progress);
                sweep.stir = STIR * STIR * gradient / change.active.max(1) as f64;
                self.look_ahead(member, sweep.beta);
            }
        }
    }

    /// Sweeps accelerated by combination: a bout of them, or until the solve is over.
    unsafe fn combine_sweeps<'a>(
        &self,
        member: &Member,
        history: &SharedHistory,
        mut progress: Progress<'a>,
        bout: usize,
    ) -> Progress<'a> {
        /// By how much a combination may make the squared change of the next sweep grow.
        const GROWTH: f64 = 4.0;
        let end = progress.report.sweeps + bout;
        let mut known = Combination::default();
        let mut before = None;
        let (mut plain, mut penalty) = (0, 1);
        unsafe {
            self.restart(member);
            loop {
                let local = local_accuracy(&progress);
                let sweep = Sweep { beta: 0.0, relaxation: 1.0, local, all: true, stir: 0.0 };
                let change = self.sweep(member, &sweep, false);
                self.judge(member, &mut progress, &change, true);
                if progress.over {
                    return progress;
                }
                if let Some(before) = before.take()
                    && change.squared() > GROWTH * before
                {
                    self.return_to(member, history);
                    known.forget();
                    plain = penalty;
                    penalty = (2 * penalty).min(64);
                    continue;
                }
                if progress.report.sweeps >= end {
                    return progress;
                }
                self.note(member, history, &mut known);
                if plain > 0 {
                    plain -= 1;
                } else if self.combine(member, history, &known) {
                    before = Some(change.squared());
                }
            }
        }
    }

    /// Takes note of a sweep and, where that is due, of the residual; `all`: no contact sat out. True where the next sweep is to leave
    /// out none: the residual is due but has to wait for such a sweep, or it was measured and is too large.
    unsafe fn judge(
        &self,
        member: &Member,
        progress: &mut Progress,
        change: &Change,
        all: bool,
    ) -> bool {
        let want = progress.note(change);
        if want == Want::Sweep {
            return false;
        }
        if !all && progress.has_sweeps_left() {
            progress.ask_again();
            return true;
        }
        // After few sweeps the velocities are still those of the impulses, where the last one left out none of them.
        let fresh = all && progress.report.sweeps <= FRESH;
        unsafe {
            if fresh {
                // All have read the sums of the sweep before they become those of the residual.
                member.meet();
            } else {
                self.restart(member);
            }
            let residual = self.measure(member);
            progress.judge(&residual, self.problem.approach_scale, want);
            if fresh && !progress.over {
                self.restart(member);
            }
        }
        true
    }

    /// Lays out the rows of the blocks and of the packs, and makes the velocities those of the impulses.
    unsafe fn begin(&self, member: &Member) {
        for k in member.part(0..self.shared.none as usize) {
            let m = &self.w.masses()[k];
            let [xx, yy, zz, xy, xz, yz] = m.angular;
            // SAFETY: a row for each block, and one more; no other member has this part.
            unsafe {
                *self.shared.masses.add(k) = Row([xx, yy, zz, xy, xz, yz, m.linear[0], 0.0]);
                *self.shared.velocity.add(k) = Row::default();
                *self.last.0.add(k) = Row::default();
            }
        }
        member.meet();
        let start = unsafe { std::slice::from_raw_parts(self.impulses.0, self.n_impulses) };
        self.by_colour(member, false, |_, packs| {
            for k in packs[0] as usize..packs[1] as usize {
                unsafe {
                    let pack = &*self.shared.packs.add(k);
                    debug_assert!(pack.first as usize + pack.n_rows() <= self.n_rows);
                    let rows = self.shared.rows.add(pack.first as usize);
                    let rows = std::slice::from_raw_parts_mut(rows, pack.n_rows());
                    pack.fill(self.w, self.problem, start, self.moments.get(k), rows);
                }
            }
            unsafe { (self.kernels.start)(&self.shared, packs) };
        });
        unsafe { self.push_single(member) };
    }

    /// Writes the impulses to where they came from: each is in one pack, or single.
    unsafe fn hand_over(&self, member: &Member) {
        let first_moment = self.problem.first_rolling();
        let write = |a: usize, rows: &[Row], lane: usize| {
            debug_assert!(a < self.n_impulses);
            // SAFETY: an entry of the problem, of which there are as many impulses.
            unsafe { *self.impulses.0.add(a) = [0, 1, 2].map(|i| rows[i].0[lane]) };
        };
        for k in member.part(0..self.n_packs) {
            let pack = unsafe { &*self.shared.packs.add(k) };
            let rows = unsafe { self.shared.rows.add(pack.first as usize) };
            let rows = unsafe { std::slice::from_raw_parts(rows, pack.n_rows()) };
            for (lane, point, a) in pack.contacts() {
                write(a, &rows[HEADER + POINT * point + IMPULSE..], lane);
            }
            for (lane, k) in self.moments.get(k).into_iter().flat_map(Pack::moments) {
                write(first_moment + k, &rows[pack.moment_row() + IMPULSE..], lane);
            }
        }
        if member.number == 0 {
            for k in 0..self.n_single {
                let s = unsafe { &*self.single.0.add(k) };
                debug_assert!(s.contact < self.n_impulses);
                unsafe { *self.impulses.0.add(s.contact) = s.impulse };
            }
        }
    }

    /// The chunks that are a member's own: of each colour a part.
    fn chunks_of<'a>(&'a self, member: &'a Member) -> impl Iterator<Item = usize> + 'a {
        self.colours.iter().flat_map(|&[first, last]| {
            let part = member.part(first as usize..last as usize);
            self.shares[part].iter().map(|chunk| *chunk as usize)
        })
    }

    /// Calls `work` for the chunks of one colour after the other, each member for its own first; they meet in between. Colours too
    /// small to share are left to the first member, one after the other without a meeting.
    fn by_colour(&self, member: &Member, backwards: bool, work: impl Fn(usize, [u32; 2])) {
        const SHARED: usize = 4;
        let n = self.colours.len();
        let cursors = |colour: usize| &self.cursors[colour * self.most_members..];
        (0..n).for_each(|colour| member.rewind(cursors(colour)));
        let mut alone = false;
        for k in 0..n {
            let colour = if backwards { n - 1 - k } else { k };
            let [first, last] = self.colours[colour];
            let chunks = first as usize..last as usize;
            let small = chunks.len() < SHARED;
            if k > 0 && !(small && alone) {
                member.meet();
            }
            alone = small;
            if !small && !member.is_alone() {
                member.share(chunks, cursors(colour), |k| {
                    let chunk = self.shares[k] as usize;
                    work(chunk, self.chunks[chunk]);
                });
            } else if member.number == 0 {
                chunks.for_each(|chunk| work(chunk, self.chunks[chunk]));
            }
        }
        member.meet();
    }

    /// One sweep over the contacts, Eq. (33).
    unsafe fn sweep(&self, member: &Member, sweep: &Sweep, backwards: bool) -> Change {
        self.by_colour(member, backwards, |chunk, packs| unsafe {
            (self.kernels.visit)(&self.shared, chunk, packs, sweep)
        });
        if self.n_single > 0 {
            if member.number == 0 {
                unsafe { self.sweep_single(sweep) };
            }
            member.meet();
        }
        let [sum, max, scale, active, _] = unsafe { self.sums() };
        Change { sum, max, scale, active: active as usize }
    }

    /// The contacts of joints, mechanisms and locked directions.
    unsafe fn sweep_single(&self, sweep: &Sweep) {
        let (velocity, sums) = unsafe { (self.velocity(), &mut *self.sums_of_single()) };
        let single = unsafe { std::slice::from_raw_parts_mut(self.single.0, self.n_single) };
        let mut change = Change::default();
        for k in 0..single.len() {
            let limit = self.limit(single, k);
            let s = &mut single[k];
            let a = s.contact;
            let old: [f64; 3] = std::array::from_fn(|i| s.impulse[i] + sweep.beta * s.direction[i]);
            let (wr, q) = (self.w.to_local(a, velocity), self.problem.v_rel_free[a]);
            let u = std::array::from_fn(|i| q[i] + wr[i]);
            let at = Local { block: self.w.diagonal(a), velocity: u, impulse: old, limit };
            let (new, step) = visit(self.problem.laws[a], &at, sweep.relaxation, &mut change);
            s.direction = std::array::from_fn(|i| new[i] - s.impulse[i]);
            s.impulse = new;
            if step != [0.0; 3] {
                self.w.push_impulse(a, step, velocity);
            }
        }
        let Change { sum, max, scale, active } = change;
        store(sums, [sum, max, scale, active as f64]);
    }

    /// Largest impulse of a single contact that is a moment [N s]; 0 for others. Its contacts are single too.
    fn limit(&self, single: &[Single], k: usize) -> f64 {
        let Some(k) = single[k].contact.checked_sub(self.problem.first_rolling()) else {
            return 0.0;
        };
        let rolling = &self.problem.rolling[k];
        let [first, end] = rolling.contacts.map(|a| a as usize);
        let from = single.partition_point(|s| s.contact < first);
        let carry = single[from..].iter().take_while(|s| s.contact < end);
        rolling.ratio * carry.map(|s| s.impulse[0].max(0.0)).sum::<f64>()
    }

    /// Makes the velocities those of the impulses.
    unsafe fn restart(&self, member: &Member) {
        for k in member.part(0..self.shared.none as usize) {
            unsafe { *self.shared.velocity.add(k) = Row::default() };
        }
        member.meet();
        self.by_colour(member, false, |_, packs| unsafe {
            (self.kernels.start)(&self.shared, packs)
        });
        unsafe { self.push_single(member) };
    }

    /// Adds the effect of the single contacts' impulses to the velocities.
    unsafe fn push_single(&self, member: &Member) {
        if self.n_single > 0 {
            if member.number == 0 {
                let velocity = unsafe { self.velocity() };
                for k in 0..self.n_single {
                    let s = unsafe { &*self.single.0.add(k) };
                    self.w.push_impulse(s.contact, s.impulse, velocity);
                }
            }
            member.meet();
        }
    }

    /// The residual of the impulses to which the velocities belong: that of `residual.rs`, in packs.
    unsafe fn measure(&self, member: &Member) -> Residual {
        let mobility = self.w.trace() / (3.0 * self.problem.len() as f64);
        for chunk in self.chunks_of(member) {
            unsafe { (self.kernels.measure)(&self.shared, chunk, self.chunks[chunk], mobility) };
        }
        if member.number == 0 {
            unsafe { self.measure_single(mobility) };
        }
        member.meet();
        let [natural_map, impulses, free, velocities, approach] = unsafe { self.sums_and_max() };
        Residual { natural_map, impulses, free, velocities, approach }.roots()
    }

    unsafe fn measure_single(&self, mobility: f64) {
        let (velocity, sums) = unsafe { (self.velocity(), &mut *self.sums_of_single()) };
        let mut sum = Residual::default();
        let single = unsafe { std::slice::from_raw_parts(self.single.0, self.n_single) };
        for (k, s) in single.iter().enumerate() {
            let wr = self.w.to_local(s.contact, velocity);
            let r = s.impulse.map(|x| mobility * x);
            let (a, q) = (s.contact, self.problem.v_rel_free[s.contact]);
            sum.note(self.problem.laws[a], r, q, wr, mobility * self.limit(single, k));
        }
        let Residual { natural_map, impulses, free, velocities, approach } = sum;
        store(sums, [natural_map, impulses, free, velocities, approach]);
    }

    /// Adds part of the last sweep's change to the velocities. That change is what the conjugate gradients call the search
    /// direction: what was looked ahead plus what the sweep then did is the difference of two sweeps' results.
    unsafe fn look_ahead(&self, member: &Member, beta: f64) {
        for k in member.part(0..self.shared.none as usize) {
            let (v, last) =
                unsafe { (&mut (*self.shared.velocity.add(k)).0, &mut (*self.last.0.add(k)).0) };
            for i in 0..6 {
                let now = v[i];
                v[i] = now + beta * (now - last[i]);
                last[i] = now;
            }
        }
        member.meet();
    }

    #[expect(clippy::mut_from_ref)]
    unsafe fn velocity(&self) -> &mut [[f64; 8]] {
        let n = self.shared.none as usize;
        unsafe { std::slice::from_raw_parts_mut(self.shared.velocity.cast::<[f64; 8]>(), n) }
    }

    unsafe fn sums_of_single(&self) -> *mut [Row; 5] {
        unsafe { self.shared.sums.add(self.chunks.len()) }
    }

    /// Sums over all chunks in their order; of the second row the largest.
    unsafe fn sums(&self) -> [f64; 5] {
        unsafe { self.reduce(1) }
    }

    /// Sums over all chunks in their order; of the last row the largest.
    unsafe fn sums_and_max(&self) -> [f64; 5] {
        unsafe { self.reduce(4) }
    }

    unsafe fn reduce(&self, largest: usize) -> [f64; 5] {
        let mut lanes = [[0.0f64; 8]; 5];
        let n = self.chunks.len() + usize::from(self.n_single > 0);
        for k in 0..n {
            let sums = unsafe { &*self.shared.sums.add(k) };
            for row in 0..5 {
                for lane in 0..8 {
                    let (x, y) = (&mut lanes[row][lane], sums[row].0[lane]);
                    *x = if row == largest { x.max(y) } else { *x + y };
                }
            }
        }
        std::array::from_fn(|row| {
            let fold = |x: f64, y: &f64| if row == largest { x.max(*y) } else { x + y };
            lanes[row].iter().fold(0.0, fold)
        })
    }
}

impl ContactSolver for Coloured {
    fn improve(
        &self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        scratch: &mut Scratch,
    ) -> SolveReport {
        match &problem.w {
            Delassus::Factored(w) if problem.len() >= self.fewest => {
                self.run(w, problem, impulses, scratch.of())
            }
            _ => ConjugateGradient { options: self.options }.solve(problem, impulses, scratch),
        }
    }
}

/// Accuracy of a sliding contact's solve in the next sweep [–].
fn local_accuracy(progress: &Progress) -> f64 {
    (1e-3 * progress.report.velocity_change_rms).clamp(1e-15, 1e-6)
}

/// Sums of the single contacts: all in the first lane.
fn store<const N: usize>(sums: &mut [Row; 5], numbers: [f64; N]) {
    *sums = [Row::default(); 5];
    for (row, x) in numbers.into_iter().enumerate() {
        sums[row].0[0] = x;
    }
}

#[cfg(test)]
mod tests;

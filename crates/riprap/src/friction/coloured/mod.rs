//! High-performance Gauss–Seidel: the same sweeps as the reference solver and the same acceleration
//! by conjugate gradients, but with the contacts coloured, packed into SIMD lanes and shared among
//! threads. The result is bitwise identical for every width and number of threads: a colour touches
//! no block twice, and sums are computed in a fixed order.

mod contact;
mod history;
mod kernel;
mod lanes;
mod packs;
mod passes;
mod pointer;
mod team;

pub use kernel::Width;

use super::conjugate_gradient::{Patience, visit};
use super::criteria::{Change, Progress, Want};
use super::rescue::{self, rescue};
use super::residual::Residual;
use super::{
    ConjugateGradient, ContactProblem, ContactSolver, Delassus, Factored, GaussSeidelOptions,
    Impulses, Local, Operator, Scratch, SolveReport,
};
use crate::math::bytes_of;
use history::{Combination, History, SharedHistory};
use kernel::{Blocks, Kernels, Sweep};
use lanes::Row;
use packs::{Idle, Pack, Packs};
use pointer::Pointer;
use std::sync::{Mutex, OnceLock};
use team::{Crowd, Cursor, Member, members_for, team};

/// Accelerated Gauss–Seidel over colours, for factored problems; small ones and stored blocks are left to
/// [`ConjugateGradient`].
#[derive(Clone, Copy, Debug)]
pub struct Coloured {
    /// When to stop.
    pub options: GaussSeidelOptions,
    /// Contacts processed in SIMD lanes.
    pub width: Width,
    /// Number of contacts above which colours pay off. Smaller problems are solved sequentially,
    /// where an impulse propagates through a whole tower in one sweep.
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
    /// Velocities after the previous sweep.
    last: Vec<Row>,
    masses: Vec<Row>,
    sums: Vec<[Row; 5]>,
    totals: Vec<[f64; 5]>,
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
            + bytes_of(&self.totals)
            + bytes_of(&self.single)
            + self.history.bytes()
    }
}

/// Sweeps with conjugate gradients before a quarter as many with Anderson acceleration, and so on
/// in increasingly long turns.
const BOUT: usize = 400;

/// A pack skips some sweeps if it changes less than this fraction of the mean change of a contact
/// [–].
const STIR: f64 = 0.3;

/// Sweeps after which round-off in the velocities may become visible in a residual.
const FRESH: usize = 50;

/// A part of a solve: sweeps from `after` to `pause` or more in all.
#[derive(Clone, Copy, Debug)]
struct Stage {
    after: usize,
    pause: usize,
    /// Whether it begins with Anderson acceleration instead of conjugate gradients.
    combine: bool,
}

/// A contact that is solved individually.
#[derive(Clone, Copy, Debug)]
struct Single {
    contact: usize,
    impulse: [f64; 3],
    direction: [f64; 3],
}

impl From<GaussSeidelOptions> for Coloured {
    fn from(options: GaussSeidelOptions) -> Coloured {
        Coloured { options, ..Coloured::default() }
    }
}

impl Coloured {
    /// Stops at a residual [–]; see [`GaussSeidelOptions::tolerance`].
    pub fn tolerance(tolerance: f64) -> Coloured {
        Coloured { options: GaussSeidelOptions::tolerance(tolerance), ..Coloured::default() }
    }

    /// Sweeps over all contacts from `after` to `pause` or more in all, or until the problem is solved; with Anderson
    /// acceleration first if `combine` is set.
    fn run(
        &self,
        w: &Factored,
        problem: &ContactProblem,
        stage: Stage,
        impulses: &mut Impulses,
        buffers: &mut Buffers,
    ) -> SolveReport {
        assert_eq!(impulses.len(), problem.len(), "one impulse for each triple of unknowns");
        let members = members_for(problem.len());
        buffers.packs.survey(w, problem, impulses);
        let mut crowd = buffers.crowd;
        let report = team(
            members,
            &mut crowd,
            || self.prepare(w, problem, impulses, buffers, members),
            |member, job| job.solve(member, &self.options, &stage),
        );
        buffers.crowd = crowd;
        // Few solves need the history, and it is large.
        buffers.history.clear();
        report
    }

    /// Sorts the contacts into packs and allocates everything that the sweeps need.
    fn prepare<'a>(
        &self,
        w: &'a Factored,
        problem: &'a ContactProblem,
        impulses: &'a mut Impulses,
        buffers: &'a mut Buffers,
        members: usize,
    ) -> Job<'a> {
        let Buffers { packs, velocity, last, masses, sums, totals, single, .. } = buffers;
        let Buffers { history, cursors, .. } = buffers;
        let n_blocks = w.n_blocks();
        packs.arrange(n_blocks, problem);
        // The members write all of them except the last, which stays zero.
        for rows in [&mut *velocity, &mut *last, &mut *masses] {
            rows.resize(n_blocks + 1, Row::default());
            rows[n_blocks] = Row::default();
        }
        cursors.clear();
        cursors.resize(packs.colours.len() * members, Cursor::default());
        // One extra entry for the single contacts.
        sums.resize(packs.chunks.len() + 1, [Row::default(); 5]);
        totals.resize(packs.segments.len(), [0.0; 5]);
        single.clear();
        single.extend(packs.single.iter().map(|&a| Single {
            contact: a as usize,
            impulse: impulses[a as usize],
            direction: [0.0; 3],
        }));
        Job {
            w,
            problem,
            impulses: Pointer::new(impulses),
            kernels: Kernels::choose(self.width),
            packs: &packs.packs,
            moments: &packs.moments,
            chunks: &packs.chunks,
            shares: &packs.shares,
            cursors,
            most_members: members,
            colours: &packs.colours,
            rows: Pointer::new(&mut packs.rows),
            idle: Pointer::new(&mut packs.idle),
            sums: Pointer::new(sums),
            segments: &packs.segments,
            segments_of: &packs.segments_of,
            totals: Pointer::new(totals),
            blocks: Blocks {
                velocity: Pointer::new(velocity),
                masses: Pointer::new(masses),
                none: n_blocks as u32,
            },
            last: Pointer::new(last),
            single: Pointer::new(single),
            history: Mutex::new(Some(history)),
            past: OnceLock::new(),
        }
    }
}

/// One solve, shared by all members of the team. All of them run [`Job::solve`] and so reach the
/// same barriers (meetings) in the same order.
///
/// Between two meetings each member accesses only what these rules assign to it; the `SAFETY`
/// comments of this module refer to them:
///
/// 1. The rows, idle counts and sums of a chunk belong to the member to which the chunk was
///    assigned: by [`Member::share`], or to the first member, where a pass proceeds by colours, and
///    by [`Job::chunks_of`] elsewhere. Between other meetings all members may read them.
/// 2. The rows of a block (velocity, last velocity, masses) belong to the member that has it in
///    [`Job::blocks_of`]. Masses are written before the first meeting and only read after it.
///    Between other meetings all members may read them.
/// 3. Where a pass proceeds by colours, the velocity of a block belongs to the one manifold of the
///    current colour that touches it, and so to the member to which its chunk was assigned:
///    `packs.rs` gives manifolds that share a block different colours. Members meet between
///    colours.
/// 4. The impulses are read by all members in [`Job::begin`] and written afterwards in
///    [`Job::hand_over`], each entry once.
/// 5. Single contacts belong to the first member, and so do all velocities while it sweeps over
///    them and the others wait.
/// 6. The total of a segment belongs to the member whose number is that of the segment modulo the number of members, from the
///    meeting after the pass over its chunks, whose sums it reads, to the next. After the last meeting of a pass all members
///    may read totals and sums.
///
/// The indices of packs and blocks set by `packs.rs` are within bounds; debug builds check every
/// access.
struct Job<'a> {
    w: &'a Factored,
    problem: &'a ContactProblem,
    impulses: Pointer<'a, [f64; 3]>,
    kernels: Kernels,
    packs: &'a [Pack],
    moments: &'a [[u32; lanes::LANES]],
    chunks: &'a [[u32; 2]],
    shares: &'a [u32],
    /// Cursors of all members for each colour, and the maximum number of members.
    cursors: &'a [Cursor],
    most_members: usize,
    colours: &'a [[u32; 2]],
    rows: Pointer<'a, Row>,
    idle: Pointer<'a, Idle>,
    /// Sums of each chunk and of the single contacts.
    sums: Pointer<'a, [Row; 5]>,
    /// Ranges of chunks whose sums are added up together, and the range of segments of each colour.
    segments: &'a [[u32; 2]],
    segments_of: &'a [[u32; 2]],
    /// Sums of each segment.
    totals: Pointer<'a, [f64; 5]>,
    blocks: Blocks<'a>,
    /// Velocities after the previous sweep.
    last: Pointer<'a, Row>,
    single: Pointer<'a, Single>,
    history: Mutex<Option<&'a mut History>>,
    /// The history shared by all members, once it is needed.
    past: OnceLock<SharedHistory<'a>>,
}

impl<'a> Job<'a> {
    /// One stage of the solve; every member returns the same report.
    fn solve(&self, member: &Member, options: &GaussSeidelOptions, stage: &Stage) -> SolveReport {
        let mut progress = match stage.after {
            0 => Progress::new(options, self.problem.len()),
            after => Progress::after(options, after),
        };
        let mut bout = BOUT.max(stage.after / 2);
        let mut combine = stage.combine;
        self.begin(member);
        loop {
            if combine {
                let past = self.past.get_or_init(|| self.share_history());
                progress = self.combine_sweeps(member, past, progress, bout / 4);
                bout += bout / 2;
            } else {
                progress = self.conjugate(member, progress, bout);
            }
            if progress.over || progress.report.sweeps >= stage.pause {
                break;
            }
            combine = !combine;
        }
        self.hand_over(member);
        progress.report
    }

    /// Sweeps accelerated by conjugate gradients: one bout, or until the solve is finished. All
    /// members reach the same decisions from the same sums.
    fn conjugate<'p>(
        &self,
        member: &Member,
        mut progress: Progress<'p>,
        bout: usize,
    ) -> Progress<'p> {
        let end = progress.report.sweeps + bout;
        let mut patience = Patience::default();
        let mut last = f64::INFINITY;
        let again = progress.report.sweeps > 0;
        let mut sweep = Sweep { beta: 0.0, relaxation: 1.0, local: 1e-6, all: again, stir: 0.0 };
        if again {
            self.restart(member);
        }
        self.look_ahead(member, 0.0);
        loop {
            sweep.relaxation = patience.relaxation();
            let change = self.sweep(member, &sweep, patience.backwards());
            // Packs considered idle may no longer be.
            sweep.all = self.judge(member, &mut progress, &change, sweep.all);
            if progress.over || progress.report.sweeps >= end {
                return progress;
            }
            // Fletcher–Reeves; restarts when a sweep changes more than the previous one.
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

    /// Sweeps with Anderson acceleration: one bout, or until the solve is finished.
    fn combine_sweeps<'p>(
        &self,
        member: &Member,
        history: &SharedHistory<'a>,
        mut progress: Progress<'p>,
        bout: usize,
    ) -> Progress<'p> {
        /// Factor by which a combination may increase the squared change of the next sweep.
        const GROWTH: f64 = 4.0;
        let end = progress.report.sweeps + bout;
        let mut known = Combination::default();
        let mut before = None;
        let (mut plain, mut penalty) = (0, 1);
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

    /// Records a sweep and, when due, its residual; `all` means that no contact was skipped.
    /// Returns true if the next sweep must not skip any contact: either the residual is due but
    /// must wait for such a sweep, or it was measured and is too large.
    fn judge(&self, member: &Member, progress: &mut Progress, change: &Change, all: bool) -> bool {
        let want = progress.note(change);
        if want == Want::Sweep {
            return false;
        }
        if !all && progress.has_sweeps_left() {
            progress.ask_again();
            return true;
        }
        // After few sweeps the velocities are still consistent with the impulses, if the last sweep
        // skipped none of them.
        let fresh = all && progress.report.sweeps <= FRESH;
        if fresh {
            // All members have read the sums of the sweep before they are overwritten by those of
            // the residual.
            member.meet();
        } else {
            self.restart(member);
        }
        let residual = self.measure(member);
        progress.judge(&residual, self.problem.approach_scale, want);
        if fresh && !progress.over {
            self.restart(member);
        }
        true
    }

    /// The contacts of joints, mechanisms and locked directions.
    fn sweep_single(&self, sweep: &Sweep) {
        // SAFETY: rule 5; the others wait at the next meeting.
        let ((single, sums), velocity) = unsafe { (self.single(), self.all_velocities()) };
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

    /// Bound of the impulse of a single contact that is a moment [N s]; 0 for others. Its contacts
    /// are single too.
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

    fn measure_single(&self, mobility: f64) {
        // SAFETY: rules 2 and 5; the others measure their chunks and read velocities too.
        let ((single, sums), velocity) = unsafe { (self.single(), self.velocities()) };
        let mut sum = Residual::default();
        for (k, s) in single.iter().enumerate() {
            let wr = self.w.to_local(s.contact, velocity);
            let r = s.impulse.map(|x| mobility * x);
            let (a, q) = (s.contact, self.problem.v_rel_free[s.contact]);
            sum.note(self.problem.laws[a], r, q, wr, mobility * self.limit(single, k));
        }
        let Residual { natural_map, impulses, free, velocities, approach } = sum;
        store(sums, [natural_map, impulses, free, velocities, approach]);
    }
}

impl ContactSolver for Coloured {
    fn improve(
        &self,
        problem: &ContactProblem,
        impulses: &mut Impulses,
        scratch: &mut Scratch,
    ) -> SolveReport {
        let mut report = SolveReport::default();
        let mut combine = false;
        // Between two stages islands that do not converge are solved accurately.
        let last = if problem.packs() { self.options.max_sweeps } else { 0 };
        loop {
            let (after, max_sweeps) = (report.sweeps, self.options.max_sweeps);
            let pause = |first: usize| match first.max(4 * after) {
                pause if pause < last => pause,
                _ => max_sweeps,
            };
            let end;
            report = match &problem.w {
                Delassus::Factored(w) if problem.len() >= self.fewest => {
                    end = pause(BOUT);
                    let stage = Stage { after, pause: end, combine };
                    self.run(w, problem, stage, impulses, scratch.of())
                }
                _ => {
                    end = pause(rescue::FIRST);
                    let options = GaussSeidelOptions { max_sweeps: end, ..self.options };
                    ConjugateGradient { options }.go_on(problem, after, impulses, scratch)
                }
            };
            // It ends before a pause if it has converged, or if no sweep can improve it.
            if report.converged || report.sweeps < end || report.sweeps >= max_sweeps {
                return report;
            }
            combine = rescue(problem, &self.options, report.sweeps, impulses, scratch) == 0;
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

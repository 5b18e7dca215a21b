//! A team of threads that do the same work on different parts and synchronize often.
//!
//! The protocol (admission, meetings, sharing of items) is written over [`Atomic`], so that `loom`
//! can run it too: `model.rs` explores the ways in which two or three threads can interleave,
//! including those allowed by weak memory orderings, and checks that
//!
//! - no item is lost and none is taken twice, pass after pass;
//! - no thread leaves a meeting before all have arrived, and what each wrote before it, all may
//!   read after it;
//! - members have distinct numbers, agree on their total, and see what was prepared;
//! - late threads are not admitted, and a single thread waits for no other.

use crate::math::parallel;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// An atomic number with a way to wait for its change: that of the system, or that of a model.
pub(super) trait Atomic: Sync {
    fn new(value: usize) -> Self;
    fn load(&self, order: Ordering) -> usize;
    fn store(&self, value: usize, order: Ordering);
    /// Adds, and returns the previous value.
    fn fetch_add(&self, value: usize, order: Ordering) -> usize;
    /// Replaces the value by the result of `new`, if it is some value, and returns the previous
    /// value.
    fn fetch_update(
        &self,
        set: Ordering,
        fetch: Ordering,
        new: impl FnMut(usize) -> Option<usize>,
    ) -> Result<usize, usize>;
    /// Waits until a condition holds; returns the time waited beyond the spinning phase. Calls
    /// `check` periodically while it waits.
    fn wait_until(done: impl Fn() -> bool, check: impl Fn()) -> Duration;
}

impl Atomic for AtomicUsize {
    fn new(value: usize) -> Self {
        AtomicUsize::new(value)
    }
    #[inline(always)]
    fn load(&self, order: Ordering) -> usize {
        AtomicUsize::load(self, order)
    }
    #[inline(always)]
    fn store(&self, value: usize, order: Ordering) {
        AtomicUsize::store(self, value, order);
    }
    #[inline(always)]
    fn fetch_add(&self, value: usize, order: Ordering) -> usize {
        AtomicUsize::fetch_add(self, value, order)
    }
    fn fetch_update(
        &self,
        set: Ordering,
        fetch: Ordering,
        new: impl FnMut(usize) -> Option<usize>,
    ) -> Result<usize, usize> {
        AtomicUsize::fetch_update(self, set, fetch, new)
    }
    #[inline(always)]
    fn wait_until(done: impl Fn() -> bool, check: impl Fn()) -> Duration {
        for _ in 0..PATIENCE {
            if done() {
                return Duration::ZERO;
            }
            std::hint::spin_loop();
        }
        let begin = Instant::now();
        while !done() {
            check();
            std::thread::yield_now();
        }
        begin.elapsed()
    }
}

/// Spin iterations before a thread yields.
const PATIENCE: usize = 4000;

/// A barrier at which the threads of a team wait for each other. They spin: the work between two
/// meetings takes microseconds.
#[derive(Debug)]
pub(super) struct Meeting<A = AtomicUsize> {
    /// Number of threads that have joined, not counting the first; [`CLOSED`] or more once no more
    /// are admitted.
    enrolled: A,
    arrived: A,
    round: A,
    /// Nonzero if a member panicked and will never arrive.
    broken: A,
    /// Total time that members have waited beyond the spinning phase [ns].
    waited: AtomicU64,
}

const CLOSED: usize = usize::MAX / 2;

impl<A: Atomic> Meeting<A> {
    fn new() -> Meeting<A> {
        let [enrolled, arrived, round, broken] = std::array::from_fn(|_| A::new(0));
        Meeting { enrolled, arrived, round, broken, waited: AtomicU64::new(0) }
    }

    /// Admits a thread and returns its number; `None` if it is too late.
    fn enrol(&self) -> Option<usize> {
        let more = |n: usize| (n < CLOSED).then_some(n + 1);
        self.enrolled.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok().map(|n| n + 1)
    }

    /// Closes admission; returns the number of members.
    fn close(&self) -> usize {
        self.enrolled.fetch_add(CLOSED, Ordering::AcqRel) + 1
    }

    /// Waits until admission is closed; returns the number of members.
    fn wait_for_close(&self) -> usize {
        self.wait_until(|| self.enrolled.load(Ordering::Acquire) >= CLOSED);
        self.enrolled.load(Ordering::Acquire) - CLOSED + 1
    }

    /// Returns when all members have arrived. What each wrote before, all may read afterwards.
    fn wait(&self, members: usize) {
        if members == 1 {
            return;
        }
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == members {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        let waited = self.wait_until(|| self.round.load(Ordering::Acquire) != round);
        if waited > Duration::ZERO {
            self.waited.fetch_add(waited.as_nanos() as u64, Ordering::Relaxed);
        }
    }

    /// Waits until a condition holds; returns the time waited beyond the spinning phase.
    #[inline(always)]
    fn wait_until(&self, done: impl Fn() -> bool) -> Duration {
        A::wait_until(done, || {
            let broken = self.broken.load(Ordering::Relaxed) != 0;
            assert!(!broken, "another thread of the team panicked");
        })
    }
}

/// Number of items of its part that a member has started.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Cursor<A = AtomicUsize>(A);

impl<A: Atomic> Default for Cursor<A> {
    /// Positioned at the end: no items are taken before its owner has rewound it.
    fn default() -> Cursor<A> {
        Cursor(A::new(usize::MAX))
    }
}

impl<A: Atomic> Clone for Cursor<A> {
    fn clone(&self) -> Cursor<A> {
        Cursor::default()
    }
}

/// One member of a team.
pub(super) struct Member<'a, A = AtomicUsize> {
    /// Its number, from 0.
    pub number: usize,
    members: usize,
    meeting: &'a Meeting<A>,
}

impl<A: Atomic> Member<'_, A> {
    /// Whether it is the only member.
    pub fn is_alone(&self) -> bool {
        self.members == 1
    }

    /// Its part of a range: parts are contiguous and cover the whole.
    pub fn part(&self, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
        let n = range.len();
        let cut = |k: usize| range.start + n * k / self.members;
        cut(self.number)..cut(self.number + 1)
    }

    /// Whether a numbered item belongs to it: items are dealt out in turn.
    pub fn has(&self, item: usize) -> bool {
        item % self.members == self.number
    }

    /// Calls `work` for the items of its own part of a range, then for those of other parts that
    /// have not been started; each item is taken once. Each member has a cursor for each range,
    /// which [`Member::rewind`] resets.
    pub fn share(
        &self,
        range: std::ops::Range<usize>,
        cursors: &[Cursor<A>],
        mut work: impl FnMut(usize),
    ) {
        for k in 0..self.members {
            let whose = (self.number + k) % self.members;
            let part = Member { number: whose, ..*self }.part(range.clone());
            let cursor = &cursors[whose].0;
            while cursor.load(Ordering::Relaxed) < part.len() {
                let taken = cursor.fetch_add(1, Ordering::Relaxed);
                if taken < part.len() {
                    work(part.start + taken);
                }
            }
        }
    }

    /// Resets its own cursor, after a meeting at which all members were finished with it. Until
    /// then the others find it at its end.
    pub fn rewind(&self, cursors: &[Cursor<A>]) {
        cursors[self.number].0.store(0, Ordering::Relaxed);
    }

    /// Waits for all other members.
    pub fn meet(&self) {
        self.meeting.wait(self.members);
    }
}

/// Breaks the meeting if its member panics, so that the others do not wait forever.
struct Presence<'a, A: Atomic>(&'a Meeting<A>);

impl<A: Atomic> Drop for Presence<'_, A> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(1, Ordering::Relaxed);
        }
    }
}

/// Whether a team pays off. On a machine under other load, a member often loses its core between
/// two meetings and all others wait for it: then a single thread is faster. Results are bitwise
/// identical for any number of members.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Crowd {
    /// Remaining tasks to be run by one thread, and the length of the last such period.
    alone: u32,
    last: u32,
}

impl Crowd {
    /// Number of single-threaded tasks after the first slowdown, and the maximum.
    const FEWEST: u32 = 16;
    const MOST: u32 = 512;

    /// Number of members of the next team, given the number available.
    fn members(&mut self, members: usize) -> usize {
        if self.alone == 0 {
            return members;
        }
        self.alone -= 1;
        1
    }

    /// Records the duration of a task and the total time its members waited for an absent one.
    fn note(&mut self, members: usize, took: Duration, waited: Duration) {
        let others = members as u32 - 1;
        if others == 0 {
            return;
        }
        if 3 * waited > took * others {
            self.last = (2 * self.last).clamp(Crowd::FEWEST, Crowd::MOST);
            self.alone = self.last;
        } else {
            self.last = 0;
        }
    }
}

/// Runs `work` on this thread and on those threads of the pool that have joined by the time this
/// one has prepared it, up to a maximum in all; returns the result of this thread. Busy threads are
/// not waited for, so teams never wait for each other. Neither `prepare` nor `work` may spawn tasks
/// on the pool: this thread could then pick up a task of its own team and wait for itself.
pub(super) fn team<P: Send + Sync, R: Send>(
    members: usize,
    crowd: &mut Crowd,
    prepare: impl FnOnce() -> P + Send,
    work: impl Fn(&Member, &P) -> R + Sync,
) -> R {
    let members = crowd.members(members);
    let begin = Instant::now();
    let (meeting, prepared) = (&Meeting::<AtomicUsize>::new(), &OnceLock::new());
    let work = &work;
    let result = parallel::with_helpers(
        members - 1,
        || lead(meeting, prepared, prepare, work),
        || follow(meeting, prepared, work),
    );
    let waited = Duration::from_nanos(meeting.waited.load(Ordering::Relaxed));
    let came = meeting.enrolled.load(Ordering::Relaxed) - CLOSED + 1;
    crowd.note(came, begin.elapsed(), waited);
    result
}

/// The work of the first member.
fn lead<A: Atomic, P, R>(
    meeting: &Meeting<A>,
    prepared: &OnceLock<P>,
    prepare: impl FnOnce() -> P,
    work: impl Fn(&Member<A>, &P) -> R,
) -> R {
    let _presence = Presence(meeting);
    let prepared = prepared.get_or_init(prepare);
    work(&Member { number: 0, members: meeting.close(), meeting }, prepared)
}

/// The work of every other member, if it joins in time.
fn follow<A: Atomic, P, R>(
    meeting: &Meeting<A>,
    prepared: &OnceLock<P>,
    work: impl Fn(&Member<A>, &P) -> R,
) {
    let Some(number) = meeting.enrol() else { return };
    let _presence = Presence(meeting);
    let members = meeting.wait_for_close();
    let prepared = prepared.get().expect("prepared before admission is closed");
    work(&Member { number, members, meeting }, prepared);
}

/// Number of threads worth using for a number of contacts.
pub(super) fn members_for(contacts: usize) -> usize {
    // Below this, waking a thread costs more than it saves.
    const LEAST: usize = 1000;
    parallel::n_threads().min(contacts / LEAST).max(1)
}

#[cfg(test)]
mod model;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_meet_and_share_what_was_prepared() {
        let sum = AtomicUsize::new(0);
        let work = |member: &Member, numbers: &Vec<usize>| {
            for _ in 0..100 {
                let part: usize = numbers[member.part(0..numbers.len())].iter().sum();
                sum.fetch_add(part, Ordering::Relaxed);
                member.meet();
            }
        };
        team(3, &mut Crowd::default(), || (0..1000).collect(), work);
        assert_eq!(sum.into_inner(), 100 * 499_500);
    }

    #[test]
    fn every_item_is_taken_exactly_once() {
        let cursors = vec![Cursor::default(); 4];
        let taken: Vec<AtomicUsize> = (0..100).map(|_| AtomicUsize::new(0)).collect();
        let work = |member: &Member, &(): &()| {
            for _ in 0..50 {
                member.rewind(&cursors);
                member.share(0..taken.len(), &cursors, |k| {
                    taken[k].fetch_add(1, Ordering::Relaxed);
                });
                member.meet();
            }
        };
        team(4, &mut Crowd::default(), || (), work);
        assert!(taken.iter().all(|n| n.load(Ordering::Relaxed) == 50));
    }

    #[test]
    fn on_a_busy_machine_one_thread_works_alone_and_retries_later() {
        let (long, short) = (Duration::from_millis(10), Duration::from_millis(1));
        let mut crowd = Crowd::default();
        crowd.note(2, long, short);
        assert_eq!(crowd.members(2), 2);
        for tasks in [16, 32, 64, 128, 256, 512, 512] {
            crowd.note(2, long, long);
            assert!((0..tasks).all(|_| crowd.members(2) == 1));
            assert_eq!(crowd.members(2), 2, "after {tasks}");
        }
        crowd.note(2, long, short);
        crowd.note(2, long, long);
        assert!((0..16).all(|_| crowd.members(8) == 1));
        assert_eq!(crowd.members(8), 8);
    }

    #[test]
    fn no_member_waits_for_one_that_panicked() {
        let work = |member: &Member, &(): &()| {
            member.meet();
            assert!(member.number != 0, "on purpose");
            member.meet();
        };
        let run = || team(3, &mut Crowd::default(), || (), work);
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    }
}

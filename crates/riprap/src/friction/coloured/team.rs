//! Threads that do the same work on different parts and meet often.
//!
//! The protocol (who is let in, meetings, the sharing of items) is written over [`Atomic`], so that `loom` can run it too: `model.rs` goes
//! through the ways in which two or three threads can interleave, including what weak memory orderings allow, and checks that
//!
//! - no item is lost and none is taken twice, in one pass after the other;
//! - nobody leaves a meeting before all have come, and what each wrote before, all may read after;
//! - members have different numbers and agree on how many they are; they see what was prepared;
//! - who comes late is not let in, and one thread alone waits for nobody.

use crate::math::parallel;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// A number that threads share, and the way to wait for its change: those of the system, or of a model.
pub(super) trait Atomic: Sync {
    fn new(value: usize) -> Self;
    fn load(&self, order: Ordering) -> usize;
    fn store(&self, value: usize, order: Ordering);
    /// Adds, and returns what was there.
    fn fetch_add(&self, value: usize, order: Ordering) -> usize;
    /// Replaces by what `new` gives, if it gives something, and returns what was there.
    fn fetch_update(
        &self,
        set: Ordering,
        fetch: Ordering,
        new: impl FnMut(usize) -> Option<usize>,
    ) -> Result<usize, usize>;
    /// Waits until something is done; how long beyond patience that took. Calls `check` now and then while it waits.
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

/// Turns of waiting before a thread lets others run.
const PATIENCE: usize = 4000;

/// Where the threads of a team wait for each other. They spin: the work between two meetings takes microseconds.
#[derive(Debug)]
pub(super) struct Meeting<A = AtomicUsize> {
    /// Who has come to work, the first one not counted; [`CLOSED`] and more once nobody else is let in.
    enrolled: A,
    arrived: A,
    round: A,
    /// Not 0 where one will never come: it panicked.
    broken: A,
    /// How long members have waited beyond their patience, together [ns].
    waited: AtomicU64,
}

const CLOSED: usize = usize::MAX / 2;

impl<A: Atomic> Meeting<A> {
    fn new() -> Meeting<A> {
        let [enrolled, arrived, round, broken] = std::array::from_fn(|_| A::new(0));
        Meeting { enrolled, arrived, round, broken, waited: AtomicU64::new(0) }
    }

    /// Lets a thread in and gives it a number, or not.
    fn enrol(&self) -> Option<usize> {
        let more = |n: usize| (n < CLOSED).then_some(n + 1);
        self.enrolled.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok().map(|n| n + 1)
    }

    /// Lets nobody in any more; the number of members.
    fn close(&self) -> usize {
        self.enrolled.fetch_add(CLOSED, Ordering::AcqRel) + 1
    }

    /// Waits until nobody is let in any more; the number of members.
    fn wait_for_close(&self) -> usize {
        self.wait_until(|| self.enrolled.load(Ordering::Acquire) >= CLOSED);
        self.enrolled.load(Ordering::Acquire) - CLOSED + 1
    }

    /// Returns when all members have come. What each wrote before, all may read after.
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

    /// Waits until something is done; how long beyond patience that took.
    #[inline(always)]
    fn wait_until(&self, done: impl Fn() -> bool) -> Duration {
        A::wait_until(done, || {
            let broken = self.broken.load(Ordering::Relaxed) != 0;
            assert!(!broken, "another thread of the team panicked");
        })
    }
}

/// How many items of its part a member has begun.
#[derive(Debug)]
#[repr(align(64))]
pub(super) struct Cursor<A = AtomicUsize>(A);

impl<A: Atomic> Default for Cursor<A> {
    /// At the end: nobody takes anything before its owner has set it back.
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
    /// Whether there is no other.
    pub fn is_alone(&self) -> bool {
        self.members == 1
    }

    /// Its part of a range: parts are contiguous and cover the whole.
    pub fn part(&self, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
        let n = range.len();
        let cut = |k: usize| range.start + n * k / self.members;
        cut(self.number)..cut(self.number + 1)
    }

    /// Calls `work` for the items of its own part of a range, then for those of the others' parts that nobody has begun; each item is taken
    /// once. Each member has a cursor for each range, which [`Member::rewind`] sets back.
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

    /// Sets its own cursor back: after a meeting at which all were done with it. Until then the others find it at its end.
    pub fn rewind(&self, cursors: &[Cursor<A>]) {
        cursors[self.number].0.store(0, Ordering::Relaxed);
    }

    /// Waits for all others.
    pub fn meet(&self) {
        self.meeting.wait(self.members);
    }
}

/// Breaks the meeting where its member panics, so that the others do not wait for ever.
struct Presence<'a, A: Atomic>(&'a Meeting<A>);

impl<A: Atomic> Drop for Presence<'_, A> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(1, Ordering::Relaxed);
        }
    }
}

/// Whether a team pays. On a machine that others use too, a member often loses its core between two meetings, and all wait for it: then
/// one thread alone is faster. The number of members changes no bit of a result.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Crowd {
    /// Tasks that are still done by one thread, and how many were the last time.
    alone: u32,
    last: u32,
}

impl Crowd {
    /// Tasks for one thread after the first that was slowed down, and at most.
    const FEWEST: u32 = 16;
    const MOST: u32 = 512;

    /// Members of the next team, out of so many.
    fn members(&mut self, members: usize) -> usize {
        if self.alone == 0 {
            return members;
        }
        self.alone -= 1;
        1
    }

    /// Takes note of how long a task took, and how long its members waited together for somebody who was not there.
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

/// Runs `work` on this thread and on those of the pool that have come, up to so many in all, by the time this one has prepared it;
/// returns what it returns here. Who is busy elsewhere is not waited for, so teams never wait for each other. Neither `prepare` nor
/// `work` may give tasks to the pool: this thread could then take up a task of its own team and wait for itself.
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

/// What the first member does.
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

/// What every other one does, if it comes in time.
fn follow<A: Atomic, P, R>(
    meeting: &Meeting<A>,
    prepared: &OnceLock<P>,
    work: impl Fn(&Member<A>, &P) -> R,
) {
    let Some(number) = meeting.enrol() else { return };
    let _presence = Presence(meeting);
    let members = meeting.wait_for_close();
    let prepared = prepared.get().expect("it is there before the meeting is closed");
    work(&Member { number, members, meeting }, prepared);
}

/// Threads worth having for so many contacts.
pub(super) fn members_for(contacts: usize) -> usize {
    // Below, waking a thread costs more than it saves.
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
    fn every_item_is_taken_once_whoever_takes_it() {
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
    fn in_a_crowd_one_thread_works_alone_and_tries_again_later() {
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
    fn nobody_waits_for_a_member_that_panicked() {
        let work = |member: &Member, &(): &()| {
            member.meet();
            assert!(member.number != 0, "on purpose");
            member.meet();
        };
        let run = || team(3, &mut Crowd::default(), || (), work);
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
    }
}

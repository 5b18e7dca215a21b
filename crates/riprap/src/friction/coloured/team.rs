//! Threads that do the same work on different parts and meet often.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Where the threads of a team wait for each other. They spin: the work between two meetings takes microseconds.
#[derive(Debug)]
pub(super) struct Meeting {
    members: usize,
    arrived: AtomicUsize,
    round: AtomicUsize,
}

/// Turns of waiting before a thread lets others run.
const PATIENCE: usize = 4000;

impl Meeting {
    fn new(members: usize) -> Meeting {
        Meeting { members, arrived: AtomicUsize::new(0), round: AtomicUsize::new(0) }
    }

    /// Returns when all members have come. What each wrote before, all may read after.
    pub fn wait(&self) {
        if self.members == 1 {
            return;
        }
        let round = self.round.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.members {
            self.arrived.store(0, Ordering::Relaxed);
            self.round.store(round.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut turns = 0;
        while self.round.load(Ordering::Acquire) == round {
            turns += 1;
            if turns > PATIENCE {
                std::thread::yield_now();
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

/// One member of a team.
pub(super) struct Member<'a> {
    /// Its number, from 0.
    pub number: usize,
    members: usize,
    meeting: &'a Meeting,
}

impl Member<'_> {
    /// Its part of a range: parts are contiguous and cover the whole.
    pub fn part(&self, range: std::ops::Range<usize>) -> std::ops::Range<usize> {
        let n = range.len();
        let cut = |k: usize| range.start + n * k / self.members;
        cut(self.number)..cut(self.number + 1)
    }

    /// Whether the item at a place among so many that have as much work is its own: parts are contiguous.
    pub fn owns(&self, [place, of]: [u32; 2]) -> bool {
        place as usize * self.members / of as usize == self.number
    }

    /// Waits for all others.
    pub fn meet(&self) {
        self.meeting.wait();
    }
}

/// Runs `work` on so many threads, this one among them, and returns what it returns for this one.
pub(super) fn team<R>(members: usize, work: impl Fn(&Member) -> R + Sync) -> R {
    let meeting = &Meeting::new(members);
    let work = &work;
    if members == 1 {
        return work(&Member { number: 0, members, meeting });
    }
    std::thread::scope(|scope| {
        for number in 1..members {
            scope.spawn(move || {
                work(&Member { number, members, meeting });
            });
        }
        work(&Member { number: 0, members, meeting })
    })
}

/// Threads worth having for so many contacts.
pub(super) fn members_for(contacts: usize) -> usize {
    // Below, starting a thread costs more than it saves.
    const LEAST: usize = 1000;
    #[cfg(feature = "parallel")]
    let threads = rayon::current_num_threads();
    #[cfg(not(feature = "parallel"))]
    let threads = 1;
    threads.min(contacts / LEAST).max(1)
}

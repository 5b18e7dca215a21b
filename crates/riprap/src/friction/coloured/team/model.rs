//! The protocol of a team, run by `loom` in every order in which its threads may interleave. A
//! thread is preempted at most [`PREEMPTIONS`] times, not counting waits: known bugs of such
//! protocols need no more, and the search ends within seconds.
//!
//! Members write to cells tracked by `loom`: an access that is not ordered after the last one of
//! another thread fails the test, whatever the values.

use super::*;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::AtomicUsize as Modelled;

const PREEMPTIONS: usize = 3;

/// Wait iterations after which an execution is completed without exploring new branches.
const MOST_TURNS: usize = 4;

impl Atomic for Modelled {
    fn new(value: usize) -> Self {
        Modelled::new(value)
    }
    fn load(&self, order: Ordering) -> usize {
        Modelled::load(self, order)
    }
    fn store(&self, value: usize, order: Ordering) {
        Modelled::store(self, value, order);
    }
    fn fetch_add(&self, value: usize, order: Ordering) -> usize {
        Modelled::fetch_add(self, value, order)
    }
    fn fetch_update(
        &self,
        set: Ordering,
        fetch: Ordering,
        new: impl FnMut(usize) -> Option<usize>,
    ) -> Result<usize, usize> {
        Modelled::fetch_update(self, set, fetch, new)
    }
    fn wait_until(done: impl Fn() -> bool, check: impl Fn()) -> Duration {
        let mut turns = 0;
        while !done() {
            check();
            // Waiting threads could yield to each other forever.
            turns += 1;
            if turns == MOST_TURNS {
                loom::skip_branch();
            }
            loom::thread::yield_now();
        }
        Duration::ZERO
    }
}

/// A number that only its owner may access; the owner changes with the meetings.
struct Watched(UnsafeCell<usize>);

impl Watched {
    fn new() -> Watched {
        Watched(UnsafeCell::new(0))
    }
    fn get(&self) -> usize {
        // SAFETY: threads of a model take turns, and loom fails the test if the access is a race.
        self.0.with(|x| unsafe { *x })
    }
    fn add(&self, n: usize) {
        // SAFETY: as above.
        self.0.with_mut(|x| unsafe { *x += n });
    }
}

/// One cell per member.
struct Cells(Vec<Watched>);

impl Cells {
    fn new(members: usize) -> Cells {
        Cells((0..members).map(|_| Watched::new()).collect())
    }
}

/// A team of up to the given number of members, each of which runs `work`: the first leads, the
/// others join at any time. Returns the number of interleavings.
fn team_of<P: 'static>(
    members: usize,
    preemptions: usize,
    prepare: fn() -> P,
    work: fn(&Member<Modelled>, &P),
) -> usize {
    let runs = std::sync::Arc::new(AtomicUsize::new(0));
    let count = runs.clone();
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(move || {
        count.fetch_add(1, Ordering::Relaxed);
        let shared = Arc::new((Meeting::<Modelled>::new(), OnceLock::new()));
        let others: Vec<_> = (1..members)
            .map(|_| {
                let shared = shared.clone();
                loom::thread::spawn(move || follow(&shared.0, &shared.1, work))
            })
            .collect();
        lead(&shared.0, &shared.1, prepare, work);
        others.into_iter().for_each(|other| other.join().unwrap());
    });
    runs.load(Ordering::Relaxed)
}

#[test]
fn no_member_leaves_a_meeting_before_all_have_arrived() {
    /// Each writes to its own cell, meets, and reads those of all; three times, so that the meeting
    /// is reused.
    fn work(member: &Member<Modelled>, Cells(cells): &Cells) {
        for round in 1..=3 {
            cells[member.number].add(1);
            member.meet();
            for cell in &cells[..member.members] {
                assert_eq!(cell.get(), round);
            }
            member.meet();
        }
    }
    assert!(team_of(2, PREEMPTIONS, || Cells::new(2), work) > 100);
}

#[test]
fn three_members_meet_like_two() {
    fn work(member: &Member<Modelled>, Cells(cells): &Cells) {
        cells[member.number].add(1);
        member.meet();
        assert!(cells[..member.members].iter().all(|cell| cell.get() == 1));
    }
    assert!(team_of(3, 2, || Cells::new(3), work) > 100);
}

#[test]
fn members_have_distinct_numbers_and_see_what_was_prepared() {
    struct Prepared {
        number: Watched,
        taken: Cells,
    }
    fn prepare() -> Prepared {
        let prepared = Prepared { number: Watched::new(), taken: Cells::new(3) };
        prepared.number.add(7);
        prepared
    }
    /// Two members with the same number would race for its cell.
    fn work(member: &Member<Modelled>, prepared: &Prepared) {
        assert!(member.number < member.members);
        assert_eq!(prepared.number.get(), 7);
        prepared.taken.0[member.number].add(1);
        assert_eq!(prepared.taken.0[member.number].get(), 1);
    }
    assert!(team_of(3, PREEMPTIONS, prepare, work) > 100);
}

/// Items and the cursors of two ranges of them.
struct Items {
    cursors: [Vec<Cursor<Modelled>>; 2],
    taken: [Vec<Watched>; 2],
}

impl Items {
    fn new(members: usize, items: usize) -> Items {
        Items {
            cursors: [vec![Cursor::default(); members], vec![Cursor::default(); members]],
            taken: [(); 2].map(|()| (0..items).map(|_| Watched::new()).collect()),
        }
    }
}

/// Passes over two colours, as in a sweep: all cursors are reset first, and members meet after each
/// colour.
fn passes(n: usize, member: &Member<Modelled>, items: &Items) {
    for pass in 1..=n {
        items.cursors.iter().for_each(|cursors| member.rewind(cursors));
        for (cursors, taken) in items.cursors.iter().zip(&items.taken) {
            member.share(0..taken.len(), cursors, |k| taken[k].add(1));
            member.meet();
        }
        // All items of both colours, once each: the same for every member, since no work is in
        // progress now.
        for taken in items.taken.iter().flatten() {
            assert_eq!(taken.get(), pass);
        }
        member.meet();
    }
}

#[test]
fn no_item_is_lost_and_none_is_taken_twice() {
    let work = |member: &Member<Modelled>, items: &Items| passes(2, member, items);
    assert!(team_of(2, 2, || Items::new(2, 3), work) > 1000);
}

#[test]
fn three_members_share_like_two() {
    let work = |member: &Member<Modelled>, items: &Items| passes(1, member, items);
    assert!(team_of(3, 1, || Items::new(3, 4), work) > 100);
}

#[test]
fn late_threads_are_not_admitted_and_a_single_member_does_not_wait() {
    loom::model(|| {
        let meeting = Arc::new(Meeting::<Modelled>::new());
        let late = {
            let meeting = meeting.clone();
            loom::thread::spawn(move || meeting.enrol())
        };
        let members = meeting.close();
        // A team of one meets without waiting, even if others arrive.
        if members == 1 {
            let alone = Member { number: 0, members, meeting: &*meeting };
            assert!(alone.is_alone() && alone.part(0..5) == (0..5));
            alone.meet();
        }
        // Either admitted and counted, or neither.
        assert_eq!(late.join().unwrap(), (members == 2).then_some(1));
        assert_eq!(meeting.enrol(), None);
    });
}

#[test]
#[should_panic(expected = "Causality violation")]
fn the_model_finds_a_member_that_does_not_wait() {
    fn work(member: &Member<Modelled>, Cells(cells): &Cells) {
        cells[member.number].add(1);
        // Without a meeting the other thread may still be writing.
        assert!(cells[..member.members].iter().all(|cell| cell.get() < 2));
    }
    team_of(2, PREEMPTIONS, || Cells::new(2), work);
}

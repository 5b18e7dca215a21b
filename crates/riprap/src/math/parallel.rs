//! Loops over many items on all threads. Each item is computed independently, so the results are
//! bitwise reproducible on any number of threads.

use super::make_room;
use std::ops::Range;

/// Items per task.
const CHUNK: usize = 256;

/// Number of worker threads.
pub(crate) fn n_threads() -> usize {
    #[cfg(feature = "parallel")]
    return rayon::current_num_threads();
    #[cfg(not(feature = "parallel"))]
    1
}

/// Index of the current thread.
pub(crate) fn thread() -> usize {
    #[cfg(feature = "parallel")]
    return rayon::current_thread_index().unwrap_or(0);
    #[cfg(not(feature = "parallel"))]
    0
}

/// Runs `work` on a thread of the pool, so that the tasks it spawns start at once. Worthwhile for
/// work of a millisecond or more.
pub(crate) fn in_pool<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    #[cfg(feature = "parallel")]
    if n_threads() > 1 && rayon::current_thread_index().is_none() {
        return rayon::scope(|_| work());
    }
    work()
}

/// Runs `lead`, and alongside it `help` on up to the given number of other threads, as soon as they
/// are free and at the latest after `lead`.
pub(crate) fn with_helpers<R: Send>(
    helpers: usize,
    lead: impl FnOnce() -> R + Send,
    help: impl Fn() + Sync,
) -> R {
    #[cfg(feature = "parallel")]
    if helpers > 0 {
        let help = &help;
        return rayon::scope(|scope| {
            (0..helpers).for_each(|_| scope.spawn(move |_| help()));
            lead()
        });
    }
    let _ = (helpers, help);
    lead()
}

/// Sets `items` to the `n` values `value(0)`, `value(1)`, …
pub(crate) fn fill<T>(items: &mut Vec<T>, n: usize, value: impl Fn(usize) -> T + Sync)
where
    T: Clone + Default + Send,
{
    set_length(items, n);
    for_each(items, |k, item| *item = value(k));
}

/// Sets the length of `items` to `n`, with unspecified values.
pub(crate) fn set_length<T: Clone + Default>(items: &mut Vec<T>, n: usize) {
    make_room(items, n.saturating_sub(items.len()));
    items.resize(n, T::default());
}

/// Calls `work` with each item and its index.
pub(crate) fn for_each<T: Send>(items: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
    let length = items.len();
    let n_parts = length.div_ceil(CHUNK);
    let part = |c: usize| CHUNK.min(length - c * CHUNK);
    for_each_part(items, 0..n_parts, &part, &|c, items: &mut [T]| {
        items.iter_mut().enumerate().for_each(|(k, item)| work(c * CHUNK + k, item));
    });
}

/// Calls `work` with each pair of items, one from each list, and their index.
pub(crate) fn for_each_both<T: Send, U: Send>(
    first: &mut [T],
    second: &mut [U],
    work: impl Fn(usize, &mut T, &mut U) + Sync,
) {
    // Lists of unit values, which take no memory.
    let (mut third, mut fourth) = (vec![(); first.len()], vec![(); first.len()]);
    let lists = (first, second, &mut third[..], &mut fourth[..]);
    for_each_four(lists, |k, t, u, (), ()| work(k, t, u));
}

/// Calls `work` with each four items, one from each list, and their index; the lists have equal
/// length.
pub(crate) fn for_each_four<T: Send, U: Send, V: Send, W: Send>(
    (first, second, third, fourth): (&mut [T], &mut [U], &mut [V], &mut [W]),
    work: impl Fn(usize, &mut T, &mut U, &mut V, &mut W) + Sync,
) {
    debug_assert!([second.len(), third.len(), fourth.len()] == [first.len(); 3]);
    #[cfg(feature = "parallel")]
    if first.len() > CHUNK && n_threads() > 1 {
        use rayon::prelude::*;
        let all = (first, second, third, fourth).into_par_iter().with_min_len(CHUNK).enumerate();
        all.for_each(|(k, (t, u, v, w))| work(k, t, u, v, w));
        return;
    }
    let (halves, others) = (first.iter_mut().zip(second), third.iter_mut().zip(fourth));
    let all = halves.zip(others).enumerate();
    all.for_each(|(k, ((t, u), (v, w)))| work(k, t, u, v, w));
}

/// Whether a condition holds for all of `0..n`.
pub(crate) fn all(n: usize, holds: impl Fn(usize) -> bool + Send + Sync) -> bool {
    #[cfg(feature = "parallel")]
    if n > CHUNK && n_threads() > 1 {
        use rayon::prelude::*;
        return (0..n).into_par_iter().with_min_len(CHUNK).all(holds);
    }
    (0..n).all(holds)
}

/// Calls `work` with each number of a range.
pub(crate) fn for_each_index(range: Range<usize>, work: impl Fn(usize) + Send + Sync) {
    #[cfg(feature = "parallel")]
    if range.len() > 1 && n_threads() > 1 {
        use rayon::prelude::*;
        range.into_par_iter().for_each(work);
        return;
    }
    range.for_each(work);
}

/// Calls `work` with each part of the items and its index; `length` gives the number of items in a
/// part.
pub(crate) fn for_each_part<T: Send>(
    items: &mut [T],
    parts: Range<usize>,
    length: &(impl Fn(usize) -> usize + Sync),
    work: &(impl Fn(usize, &mut [T]) + Sync),
) {
    #[cfg(feature = "parallel")]
    if parts.len() > 1 && n_threads() > 1 {
        let middle = parts.start + parts.len() / 2;
        let (left, right) = items.split_at_mut((parts.start..middle).map(length).sum());
        rayon::join(
            || for_each_part(left, parts.start..middle, length, work),
            || for_each_part(right, middle..parts.end, length, work),
        );
        return;
    }
    let mut rest = items;
    for part in parts {
        let items = rest.split_off_mut(..length(part)).expect("the parts cover all items");
        work(part, items);
    }
}

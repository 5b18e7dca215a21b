//! Loops over many items on all threads. Each item is computed by itself, so the number of threads changes no bit.

/// Items that one task takes.
#[cfg(feature = "parallel")]
const CHUNK: usize = 1024;

/// Makes `items` the `n` values `value(0)`, `value(1)`, …
pub(crate) fn fill<T>(items: &mut Vec<T>, n: usize, value: impl Fn(usize) -> T + Sync)
where
    T: Clone + Default + Send,
{
    items.resize(n, T::default());
    for_each(items, |k, item| *item = value(k));
}

/// Calls `work` with each item and its index.
pub(crate) fn for_each<T: Send>(items: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
    #[cfg(feature = "parallel")]
    if items.len() > CHUNK && rayon::current_num_threads() > 1 {
        use rayon::prelude::*;
        items.par_chunks_mut(CHUNK).enumerate().for_each(|(c, chunk)| {
            chunk.iter_mut().enumerate().for_each(|(k, item)| work(c * CHUNK + k, item));
        });
        return;
    }
    items.iter_mut().enumerate().for_each(|(k, item)| work(k, item));
}

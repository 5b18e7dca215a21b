//! A list that the members of a team access concurrently.

use std::marker::PhantomData;
use std::ops::Range;

/// A list shared by threads that each access their own items: the counterpart of a mutable slice
/// for several threads. Bounds are checked if debug assertions are enabled; the rules of who may
/// access which items, and when, are given at [`Job`](super::Job).
#[derive(Debug)]
pub(super) struct Pointer<'a, T> {
    first: *mut T,
    len: usize,
    list: PhantomData<&'a mut [T]>,
}

impl<T> Clone for Pointer<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Pointer<'_, T> {}

// SAFETY: it gives access to items like a mutable slice, which is `Send` if its items are.
unsafe impl<T: Send> Send for Pointer<'_, T> {}
// SAFETY: through a shared reference, threads get exclusive items (`Send`) and shared ones
// (`Sync`).
unsafe impl<T: Send + Sync> Sync for Pointer<'_, T> {}

impl<'a, T> Pointer<'a, T> {
    /// Shares a list.
    pub fn new(list: &'a mut [T]) -> Pointer<'a, T> {
        Pointer { first: list.as_mut_ptr(), len: list.len(), list: PhantomData }
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Some of the items, for reading.
    ///
    /// # Safety
    /// They are in the list, and no thread writes to them while the slice is in use.
    #[inline(always)]
    pub unsafe fn slice(self, range: Range<usize>) -> &'a [T] {
        self.check(&range);
        // SAFETY: within the list, which is borrowed for 'a; the caller guarantees that no thread
        // writes.
        unsafe { std::slice::from_raw_parts(self.first.add(range.start), range.len()) }
    }

    /// Some of the items, for writing.
    ///
    /// # Safety
    /// They are in the list, and no other thread accesses them while the slice is in use.
    #[inline(always)]
    pub unsafe fn slice_mut(self, range: Range<usize>) -> &'a mut [T] {
        self.check(&range);
        // SAFETY: within the list, which is borrowed for 'a; the caller guarantees exclusive
        // access.
        unsafe { std::slice::from_raw_parts_mut(self.first.add(range.start), range.len()) }
    }

    /// One item, for writing.
    ///
    /// # Safety
    /// As for [`Pointer::slice_mut`].
    #[inline(always)]
    pub unsafe fn item_mut(self, k: usize) -> &'a mut T {
        self.check(&(k..k + 1));
        // SAFETY: within the list, which is borrowed for 'a; the caller guarantees exclusive
        // access.
        unsafe { &mut *self.first.add(k) }
    }

    #[inline(always)]
    fn check(&self, range: &Range<usize>) {
        debug_assert!(
            range.start <= range.end && range.end <= self.len,
            "{range:?} of {} items",
            self.len
        );
    }
}

impl<T: Copy> Pointer<'_, T> {
    /// Reads one item.
    ///
    /// # Safety
    /// It is in the list, and no thread writes to it at the same time.
    #[inline(always)]
    pub unsafe fn read(self, k: usize) -> T {
        self.check(&(k..k + 1));
        // SAFETY: within the list; the caller guarantees that no thread writes.
        unsafe { *self.first.add(k) }
    }

    /// Writes one item.
    ///
    /// # Safety
    /// It is in the list, and no other thread accesses it at the same time.
    #[inline(always)]
    pub unsafe fn write(self, k: usize, value: T) {
        self.check(&(k..k + 1));
        // SAFETY: within the list; the caller guarantees exclusive access.
        unsafe { *self.first.add(k) = value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_write_to_their_own_parts() {
        let mut list: Vec<usize> = vec![0; 1000];
        let pointer = Pointer::new(&mut list);
        std::thread::scope(|scope| {
            for part in 0..4 {
                scope.spawn(move || {
                    // SAFETY: each thread has a quarter.
                    let items = unsafe { pointer.slice_mut(250 * part..250 * (part + 1)) };
                    items.iter_mut().enumerate().for_each(|(k, item)| *item = 250 * part + k);
                });
            }
        });
        assert!(list.iter().enumerate().all(|(k, item)| k == *item));
    }

    #[test]
    #[cfg(debug_assertions)]
    fn out_of_bounds_access_panics_in_debug_builds() {
        let found = |work: fn(Pointer<u8>)| {
            let mut list = [0u8; 4];
            let pointer = Pointer::new(&mut list);
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(pointer))).is_err()
        };
        // SAFETY: the check panics before any access.
        assert!(found(|p| unsafe { p.write(4, 1) }));
        // SAFETY: as above.
        assert!(found(|p| drop(unsafe { p.slice(2..5) }.to_vec())));
        assert!(!found(|p| assert_eq!(p.len(), 4)));
    }
}

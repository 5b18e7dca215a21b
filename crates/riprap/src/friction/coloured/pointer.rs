//! A list that the members of a team work on at the same time.

use std::marker::PhantomData;
use std::ops::Range;

/// A list that threads share, each its own items: what a mutable slice is for one thread. Lengths are checked where debug
/// assertions are on; who may touch which items, and when, is said at [`Job`](super::Job).
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

// SAFETY: it gives access to items as a mutable slice does, which may be sent where its items may.
unsafe impl<T: Send> Send for Pointer<'_, T> {}
// SAFETY: through a shared one, threads get items of their own (`Send`), and look at the same ones (`Sync`).
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

    /// Some of the items, to read.
    ///
    /// # Safety
    /// They are in the list, and nobody writes to them as long as the slice is in use.
    #[inline(always)]
    pub unsafe fn slice(self, range: Range<usize>) -> &'a [T] {
        self.check(&range);
        // SAFETY: within the list, which is borrowed for 'a; the caller promises that nobody writes.
        unsafe { std::slice::from_raw_parts(self.first.add(range.start), range.len()) }
    }

    /// Some of the items, to write.
    ///
    /// # Safety
    /// They are in the list, and nobody else touches them as long as the slice is in use.
    #[inline(always)]
    pub unsafe fn slice_mut(self, range: Range<usize>) -> &'a mut [T] {
        self.check(&range);
        // SAFETY: within the list, which is borrowed for 'a; the caller promises that nobody else touches it.
        unsafe { std::slice::from_raw_parts_mut(self.first.add(range.start), range.len()) }
    }

    /// One item, to write.
    ///
    /// # Safety
    /// As for [`Pointer::slice_mut`].
    #[inline(always)]
    pub unsafe fn item_mut(self, k: usize) -> &'a mut T {
        self.check(&(k..k + 1));
        // SAFETY: within the list, which is borrowed for 'a; the caller promises that nobody else touches it.
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
    /// One item.
    ///
    /// # Safety
    /// It is in the list, and nobody writes to it meanwhile.
    #[inline(always)]
    pub unsafe fn read(self, k: usize) -> T {
        self.check(&(k..k + 1));
        // SAFETY: within the list; the caller promises that nobody writes.
        unsafe { *self.first.add(k) }
    }

    /// Gives one item a new value.
    ///
    /// # Safety
    /// It is in the list, and nobody else touches it meanwhile.
    #[inline(always)]
    pub unsafe fn write(self, k: usize, value: T) {
        self.check(&(k..k + 1));
        // SAFETY: within the list; the caller promises that nobody else touches it.
        unsafe { *self.first.add(k) = value }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_write_to_parts_of_their_own() {
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
    fn what_is_beyond_the_end_is_found_in_debug_builds() {
        let found = |work: fn(Pointer<u8>)| {
            let mut list = [0u8; 4];
            let pointer = Pointer::new(&mut list);
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(pointer))).is_err()
        };
        // SAFETY: the check panics before anything is touched.
        assert!(found(|p| unsafe { p.write(4, 1) }));
        // SAFETY: as above.
        assert!(found(|p| drop(unsafe { p.slice(2..5) }.to_vec())));
        assert!(!found(|p| assert_eq!(p.len(), 4)));
    }
}

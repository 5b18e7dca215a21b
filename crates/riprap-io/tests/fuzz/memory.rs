//! The largest allocation of a thread: a length in a file must not become an allocation before it is checked against the file size.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// Allocation allowed for any reader [bytes].
pub const FAIR: usize = 64 << 20;

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

struct Watched;

#[global_allocator]
static WATCHED: Watched = Watched;

fn note(size: usize) {
    // A thread that is ending no longer has the cell.
    let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(size)));
}

// SAFETY: every call is forwarded to the system allocator with unchanged arguments; recording the size does not allocate.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller upholds the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller upholds the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `dealloc`; all memory comes from the system allocator.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: the caller upholds the contract of `realloc`; all memory comes from the system allocator.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Resets the record.
pub fn forget() {
    LARGEST.set(0);
}

/// The largest allocation of this thread since [`forget`] [bytes].
pub fn largest() -> usize {
    LARGEST.get()
}

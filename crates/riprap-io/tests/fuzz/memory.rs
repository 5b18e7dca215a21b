//! The largest piece of memory that a thread asks for: a length in a file must not become an allocation before it is compared with the file.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// What any reader may ask for [bytes].
pub const FAIR: usize = 64 << 20;

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

struct Watched;

#[global_allocator]
static WATCHED: Watched = Watched;

fn note(size: usize) {
    // A thread that ends has no cell any more.
    let _ = LARGEST.try_with(|largest| largest.set(largest.get().max(size)));
}

// SAFETY: every call goes to the system's allocator with the arguments unchanged; the note beside it allocates nothing.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller keeps the contract of `alloc`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller keeps the contract of `alloc_zeroed`.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `dealloc`; all memory comes from the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: the caller keeps the contract of `realloc`; all memory comes from the system's allocator.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Forgets what was asked for until now.
pub fn forget() {
    LARGEST.set(0);
}

/// The largest piece that this thread asked for since [`forget`] [bytes].
pub fn largest() -> usize {
    LARGEST.get()
}

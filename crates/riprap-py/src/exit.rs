//! The end of the interpreter while other threads run simulations.
//!
//! A thread that asks a finalizing interpreter for its lock is ended by CPython in the middle of our functions (until 3.13), which
//! may crash the process. Threads that are about to attach therefore pass a gate. A function registered with `atexit` closes the gate
//! and waits until every thread that has passed it is detached again; threads that arrive later sleep until the process
//! ends.

use std::cell::Cell;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::Duration;

use pyo3::prelude::*;

/// How long the interpreter waits for callables that are being called.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Default)]
struct Gate {
    /// Threads that are attached, or about to be, below functions of ours.
    inside: usize,
    /// The thread that ends the interpreter, once it has closed the gate.
    closed_by: Option<ThreadId>,
}

static GATE: Mutex<Gate> = Mutex::new(Gate { inside: 0, closed_by: None });
static LEFT: Condvar = Condvar::new();

thread_local! {
    /// Whether this thread counts as inside.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

fn gate() -> MutexGuard<'static, Gate> {
    GATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread that has passed the gate.
struct Inside;

impl Inside {
    /// Passes the gate, while detached; does not return if another thread has closed it.
    fn enter() -> Inside {
        let mut gate = gate();
        if gate.closed_by.is_some_and(|thread| thread != std::thread::current().id()) {
            drop(gate);
            loop {
                std::thread::park();
            }
        }
        gate.inside += 1;
        INSIDE.set(true);
        Inside
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        // After a panic below `detach` the thread has left already.
        if !INSIDE.replace(false) {
            return;
        }
        let mut gate = gate();
        gate.inside -= 1;
        if gate.closed_by.is_some() {
            LEFT.notify_all();
        }
    }
}

/// Runs a function detached from the interpreter.
pub fn detach<T: Send>(py: Python, f: impl Send + FnOnce() -> T) -> T {
    let was_inside = INSIDE.get();
    let ends = gate().closed_by == Some(std::thread::current().id());
    if ends {
        // A function that the program registered with `atexit` runs a simulation.
        gate().closed_by = None;
    }
    if was_inside {
        drop(Inside);
    }
    let (result, inside) = py.detach(|| (f(), Inside::enter()));
    if was_inside {
        // Left by the caller that has entered.
        std::mem::forget(inside);
    } else {
        drop(inside);
    }
    if ends {
        close(py);
    }
    result
}

/// Runs a function attached to the interpreter; `None` if that is not possible.
pub fn attach<T>(f: impl FnOnce(Python) -> T) -> Option<T> {
    let _inside = (!INSIDE.get()).then(Inside::enter);
    Python::try_attach(f)
}

/// Runs a function that calls Python and that a thread must not be ended in.
pub fn hold<T>(py: Python, f: impl FnOnce() -> T) -> T {
    let _inside = (!INSIDE.get()).then(|| py.detach(Inside::enter));
    f()
}

/// Closes the gate and waits until no other thread is inside. Called at the end of the interpreter.
#[pyfunction]
fn close(py: Python) {
    let id = std::thread::current().id();
    let own = usize::from(INSIDE.get());
    py.detach(|| {
        let mut gate = gate();
        gate.closed_by = Some(id);
        let _ = LEFT.wait_timeout_while(gate, PATIENCE, |gate| gate.inside > own);
    });
}

/// Registers [`close`] with `atexit`.
pub fn register(module: &Bound<PyModule>) -> PyResult<()> {
    let close = wrap_pyfunction!(close, module)?;
    module.py().import("atexit")?.call_method1("register", (close,))?;
    Ok(())
}

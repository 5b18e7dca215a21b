//! Progress of a long step: how far an adaptive integration has come between two observed states,
//! and a way to interrupt it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Shared between the integrator, which updates it at each inner step, and code in any thread that
/// shows progress or requests a stop. It does not affect results.
#[derive(Debug, Default)]
pub struct Pulse {
    stop: Arc<AtomicBool>,
    /// Bit pattern of a time [s].
    t: AtomicU64,
    /// Bit pattern of a step length [s].
    dt: AtomicU64,
    steps: AtomicU64,
}

impl Pulse {
    /// A pulse whose integration ends within an inner step once `stop` is true.
    pub fn new(stop: Arc<AtomicBool>) -> Pulse {
        Pulse { stop, ..Pulse::default() }
    }

    /// Time that the integration has reached [s].
    pub fn time(&self) -> f64 {
        f64::from_bits(self.t.load(Ordering::Relaxed))
    }

    /// Length of the current inner step [s]; 0 before the first one.
    pub fn dt(&self) -> f64 {
        f64::from_bits(self.dt.load(Ordering::Relaxed))
    }

    /// Inner steps tried so far.
    pub fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// Records an inner step that is about to be tried; returns whether the integration must end.
    pub(super) fn beat(&self, t: f64, dt: f64) -> bool {
        self.t.store(t.to_bits(), Ordering::Relaxed);
        self.dt.store(dt.to_bits(), Ordering::Relaxed);
        self.steps.fetch_add(1, Ordering::Relaxed);
        self.stop.load(Ordering::Relaxed)
    }
}

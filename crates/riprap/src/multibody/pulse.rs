//! A look into a long step: how far an adaptive integration is between two states that observers see, and a way to end it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Shared between the integrator, which beats at each inner step, and whoever shows progress or asks it to stop, in any thread. It changes
/// no result.
#[derive(Debug, Default)]
pub struct Pulse {
    stop: Arc<AtomicBool>,
    /// Bits of a time [s].
    t: AtomicU64,
    /// Bits of a length of a step [s].
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

    /// Length of the inner step that is tried now [s]; 0 before the first one.
    pub fn dt(&self) -> f64 {
        f64::from_bits(self.dt.load(Ordering::Relaxed))
    }

    /// Inner steps tried so far.
    pub fn steps(&self) -> u64 {
        self.steps.load(Ordering::Relaxed)
    }

    /// Notes an inner step that is about to be tried; gives whether the integration is to end.
    pub(super) fn beat(&self, t: f64, dt: f64) -> bool {
        self.t.store(t.to_bits(), Ordering::Relaxed);
        self.dt.store(dt.to_bits(), Ordering::Relaxed);
        self.steps.fetch_add(1, Ordering::Relaxed);
        self.stop.load(Ordering::Relaxed)
    }
}

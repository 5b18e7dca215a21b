//! The frames of a run, as an iterator.

use std::sync::Mutex;

use pyo3::prelude::*;

use crate::simulation::Simulation;
use crate::watch::Bar;

/// The frames of a run: an iterator over the simulation at equal intervals [s].
///
/// >>> import riprap as rr
/// >>> scene = rr.SceneBuilder()
/// >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), rr.Material("steel", density=7800.0)))
/// >>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
/// >>> [round(frame.time, 3) for frame in run.frames(until=0.02, every=0.01)]
/// [0.0, 0.01, 0.02]
#[pyclass(frozen, module = "riprap")]
pub struct Frames {
    run: Py<Simulation>,
    start: f64,
    until: f64,
    every: f64,
    next: Mutex<u64>,
    bar: Bar,
}

impl Frames {
    /// Frames from a start until an end after every interval [s].
    pub fn new(run: Py<Simulation>, [start, until, every]: [f64; 3], bar: Bar) -> Frames {
        Frames { run, start, until, every, next: Mutex::new(0), bar }
    }
}

#[pymethods]
impl Frames {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python) -> PyResult<Option<Py<Simulation>>> {
        let k = {
            let mut next = self.next.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            *next += 1;
            *next - 1
        };
        let t = self.start + k as f64 * self.every;
        // Decimal intervals are whole multiples up to rounding.
        if t > self.until + 1e-9 * self.every {
            self.bar.close(py)?;
            return Ok(None);
        }
        Simulation::run_until(self.run.bind(py), t, None, None, &self.bar)?;
        Ok(Some(self.run.clone_ref(py)))
    }
}

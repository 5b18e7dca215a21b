//! What happens beside the steps of a run: Ctrl-C ends it, and a progress bar such as tqdm's follows its time.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use riprap::simulation::{Frame, Observer};
use riprap_io::run::{Event, Phase, Watch};

use crate::exit;

/// Looks for Ctrl-C, and moves bars, at most this often.
pub const SIGNALS: Duration = Duration::from_millis(20);

/// A bar over the simulated time: a `riprap.progress.Bar`, or nothing.
pub struct Bar(Option<Py<PyAny>>);

impl Bar {
    /// The bar that the argument `progress` asks for, from one time [s] to another.
    pub fn start(
        py: Python,
        progress: Option<&Bound<PyAny>>,
        label: &str,
        [from, to]: [f64; 2],
    ) -> PyResult<Bar> {
        let Some(progress) = progress else { return Ok(Bar(None)) };
        let bar = py.import("riprap.progress")?.getattr("Bar")?;
        bar.call1((progress, label, from, to)).map(|bar| Bar(Some(bar.unbind())))
    }

    /// Moves the bar to a time [s].
    pub fn show(&self, py: Python, time: f64) -> PyResult<()> {
        self.call(py, "show", (time,))
    }

    /// Closes the bar.
    pub fn close(&self, py: Python) -> PyResult<()> {
        self.call(py, "close", ())
    }

    fn call<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        arguments: impl pyo3::call::PyCallArgs<'py>,
    ) -> PyResult<()> {
        self.0.as_ref().map_or(Ok(()), |bar| bar.bind(py).call_method1(name, arguments).map(|_| ()))
    }
}

/// Watches a run of a scene file, or its settling.
pub struct Watching {
    interrupt: Arc<AtomicBool>,
    last: Instant,
    /// What ended the run: Ctrl-C, or an exception of the bar.
    pub raised: Option<PyErr>,
    progress: Option<Py<PyAny>>,
    /// The end [s] of a phase whose first step has not been seen.
    begins: Option<f64>,
    /// Time of the last step [s].
    time: f64,
    bar: Bar,
}

impl Watching {
    /// `interrupt` ends the run; `progress` is the argument of that name.
    pub fn new(interrupt: &Arc<AtomicBool>, progress: Option<&Bound<PyAny>>) -> Watching {
        Watching {
            interrupt: Arc::clone(interrupt),
            last: Instant::now(),
            raised: None,
            progress: progress.map(|given| given.clone().unbind()),
            begins: None,
            time: 0.0,
            bar: Bar(None),
        }
    }

    /// Watches grains that settle until a time [s] at the latest.
    pub fn settling(end: f64, progress: Option<&Bound<PyAny>>) -> Watching {
        let begins = progress.map(|_| end);
        Watching { begins, ..Watching::new(&Arc::default(), progress) }
    }

    /// Shows the last time and closes the bar.
    pub fn close(&mut self) {
        self.call(|watch, py| {
            watch.bar.show(py, watch.time)?;
            watch.bar.close(py)
        });
    }

    /// Calls Python; an exception ends the run.
    fn call(&mut self, f: impl FnOnce(&mut Watching, Python) -> PyResult<()>) {
        if let Some(Err(error)) = exit::attach(|py| f(self, py)) {
            self.interrupt.store(true, Ordering::Relaxed);
            self.raised.get_or_insert(error);
        }
    }
}

impl Watch for Watching {
    fn step(&mut self, phase: Phase, frame: &Frame) {
        let time = frame.state.t;
        self.time = time;
        if let Some(end) = self.begins.take() {
            let label = if phase == Phase::Settling { "settling" } else { "run" };
            self.call(|watch, py| {
                let progress = watch.progress.as_ref().map(|given| given.bind(py));
                watch.bar = Bar::start(py, progress, label, [time, end])?;
                Ok(())
            });
        }
        if self.last.elapsed() < SIGNALS {
            return;
        }
        self.last = Instant::now();
        self.call(|watch, py| {
            py.check_signals()?;
            watch.bar.show(py, time)
        });
    }

    fn event(&mut self, event: Event) {
        if self.progress.is_none() {
            return;
        }
        match event {
            Event::PhaseStarted { end, .. } => self.begins = Some(end),
            Event::PhaseEnded { .. } => self.close(),
            _ => {}
        }
    }
}

impl Observer for Watching {
    fn observe(&mut self, frame: &Frame) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        self.step(Phase::Settling, frame);
        Ok(())
    }

    fn stop(&self) -> bool {
        self.raised.is_some()
    }
}

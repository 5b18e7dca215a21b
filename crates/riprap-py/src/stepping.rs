//! Steps of a simulation: one, until a time or a condition, by frames; frames in a file.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use pyo3::prelude::*;

use riprap_io::Condition;
use riprap_io::run_file::FrameWriter as CoreWriter;

use crate::errors;
use crate::exit;
use crate::frames::Frames;
use crate::report::{RunReport, StepReport};
use crate::simulation::Simulation;
use crate::watch::{Bar, SIGNALS};

impl Simulation {
    /// Steps until `t` or until the time for signals has come; returns whether `t` was reached.
    fn run_some(
        &self,
        py: Python,
        t: f64,
        steps: &mut u64,
        once: bool,
        stop: Option<&mut Condition>,
    ) -> PyResult<bool> {
        let mut guard = self.lock()?;
        let inner = &mut *guard;
        let (data, mut stop) = (&*self.data, stop);
        let work = || {
            let begin = Instant::now();
            let chooses = inner.run.scheme().chooses_steps();
            let result = loop {
                let over = if chooses { inner.run.time() >= t } else { *steps == 0 };
                if over {
                    break Ok(true);
                }
                let before = inner.run.time();
                if let Err(error) = inner.advance(data, Some(t)) {
                    break Err(error);
                }
                if chooses && inner.run.time() <= before {
                    break Err(errors::step(format!("no progress at t = {before} s")));
                }
                *steps = steps.saturating_sub(1);
                if stop.as_mut().is_some_and(|stop| stop.holds(&inner.run.frame())) {
                    break Ok(true);
                }
                if once || begin.elapsed() > SIGNALS {
                    break Ok(false);
                }
            };
            inner.wall += begin.elapsed().as_secs_f64();
            result
        };
        exit::detach(py, || self.threads.run(work))
    }

    /// Runs until `t`; a true answer of the observer, or a condition that holds after a step, ends the run.
    pub fn run_until(
        slf: &Bound<Self>,
        t: f64,
        observer: Option<&Bound<PyAny>>,
        stop: Option<&str>,
        bar: &Bar,
    ) -> PyResult<()> {
        let (py, this) = (slf.py(), slf.get());
        if t.is_nan() {
            return Err(errors::value("the end time must be a number of seconds"));
        }
        let mut steps = {
            let inner = this.lock()?;
            ((t - inner.run.time()) / inner.run.scheme().dt()).round().max(0.0) as u64
        };
        let mut stop = stop.map(|text| this.condition(text)).transpose()?;
        let stops = || observer.map_or(Ok(false), |f| f.call1((slf,))?.is_truthy());
        if stops()? {
            return Ok(());
        }
        while !this.run_some(py, t, &mut steps, observer.is_some(), stop.as_mut())? {
            py.check_signals()?;
            bar.show(py, this.time()?)?;
            if stops()? {
                break;
            }
        }
        bar.show(py, this.time()?)
    }

    /// A condition on the state.
    fn condition(&self, text: &str) -> PyResult<Condition> {
        Condition::new(text, self.lock()?.run.scene()).map_err(|error| {
            let help =
                error.help.as_ref().map_or(String::new(), |help| format!("\n  help: {help}"));
            errors::value(format!("{error}{help}"))
        })
    }
}

#[pymethods]
impl Simulation {
    /// Performs one step. StepError if it fails; the state is then as it was.
    fn step(&self, py: Python) -> PyResult<StepReport> {
        let mut guard = self.lock()?;
        let (inner, data) = (&mut *guard, &*self.data);
        let work = || {
            let begin = Instant::now();
            let report = inner.advance(data, None);
            inner.wall += begin.elapsed().as_secs_f64();
            report
        };
        exit::detach(py, || self.threads.run(work))
    }

    /// Runs until a time [s]. The observer is called with the simulation at the start and after every step; a true answer
    /// ends the run, and so does the condition `stop` when it holds after a step, as the key of that name in scene files: an expression
    /// of `t`, of the largest `speed` of the free bodies [m/s], of the `kinetic_energy` [J], and of coordinates of named bodies,
    /// optionally with the time `for` which it must hold. `progress` shows a bar: True for that of tqdm, or a callable like it.
    ///
    /// >>> import riprap as rr
    /// >>> clay = rr.Material("clay", density=1800.0, friction=0.8)
    /// >>> scene = rr.SceneBuilder()
    /// >>> floor = scene.add_fixed(rr.Shape.half_space(), material=clay)
    /// >>> lump = scene.add(rr.Body(rr.Shape.cuboid(0.1, 0.1, 0.1), clay, position=(0, 0, 0.1), name="lump"))
    /// >>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
    /// >>> _ = run.until(10.0, stop="speed < 1e-4 m/s and lump.z < 6 cm for 0.1 s")
    /// >>> round(run.time, 2)  # it falls 5 cm in 0.1 s
    /// 0.2
    #[pyo3(signature = (t, observer=None, *, stop=None, progress=None))]
    fn until(
        slf: &Bound<Self>,
        t: f64,
        observer: Option<&Bound<PyAny>>,
        stop: Option<&str>,
        progress: Option<&Bound<PyAny>>,
    ) -> PyResult<RunReport> {
        let bar = Bar::start(slf.py(), progress, "run", [slf.get().time()?, t])?;
        let result = exit::hold(slf.py(), || Simulation::run_until(slf, t, observer, stop, &bar));
        bar.close(slf.py())?;
        result?;
        slf.get().report()
    }

    /// Runs until a time [s] and gives the simulation itself at the start and after every interval [s]. `progress` shows a
    /// bar: True for that of tqdm, or a callable like it.
    #[pyo3(signature = (*, until, every, progress=None))]
    fn frames(
        slf: &Bound<Self>,
        until: f64,
        every: f64,
        progress: Option<&Bound<PyAny>>,
    ) -> PyResult<Frames> {
        if !(every > 0.0 && every.is_finite() && until.is_finite()) {
            return Err(errors::value("`until` must be finite and `every` positive"));
        }
        let start = slf.get().time()?;
        let bar = Bar::start(slf.py(), progress, "run", [start, until])?;
        Ok(Frames::new(slf.clone().unbind(), [start, until, every], bar))
    }

    /// Runs until a time [s] and records quantities at the start and after every interval [s]: a `riprap.Series`. The
    /// quantities are functions of the simulation, by name with unit, which return numbers or vectors, such as
    /// `{"height [m]": lambda run: run.body("ball").position[2]}`. Energies and the number of contacts are always recorded.
    #[pyo3(signature = (*, until, every, quantities=None, progress=None))]
    fn record<'py>(
        slf: &Bound<'py, Self>,
        until: f64,
        every: f64,
        quantities: Option<&Bound<'py, PyAny>>,
        progress: Option<&Bound<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let frames = Simulation::frames(slf, until, every, progress)?;
        let module = slf.py().import("riprap.series")?;
        module.call_method1("record", (frames, quantities))
    }
}

/// Writes frames of a simulation into a run file `….vtkhdf`, which ParaView and `RunFile` read, for scenes with callables and loops of
/// your own: bodies and contacts at every call of `add`. The file is complete after each frame. `rr.run` writes whole run folders.
///
/// >>> import pathlib, tempfile, riprap as rr
/// >>> path = pathlib.Path(tempfile.mkdtemp()) / "run.vtkhdf"
/// >>> scene = rr.SceneBuilder()
/// >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), rr.Material("steel", density=7800.0), name="ball"))
/// >>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
/// >>> frames = rr.FrameWriter(path, run)
/// >>> for frame in run.frames(until=0.02, every=0.01):
/// ...     frames.add(frame)
/// >>> rr.RunFile(path).times.round(9).tolist()
/// [0.0, 0.01, 0.02]
#[pyclass(frozen, module = "riprap")]
pub struct FrameWriter(Mutex<CoreWriter>);

#[pymethods]
impl FrameWriter {
    #[new]
    fn new(path: PathBuf, run: &Simulation) -> PyResult<FrameWriter> {
        let inner = run.lock()?;
        Ok(FrameWriter(Mutex::new(CoreWriter::create(path, &inner.run.frame()))))
    }

    /// Adds the current frame, unless it is not later than the last one. FileError if it cannot be written.
    fn add(&self, py: Python, run: &Simulation) -> PyResult<()> {
        let inner = run.lock()?;
        let frame = inner.run.frame();
        exit::detach(py, || self.0.lock().unwrap_or_else(PoisonError::into_inner).add(&frame))
            .map_err(errors::file)
    }

    fn __repr__(&self) -> &'static str {
        "<riprap.FrameWriter>"
    }
}

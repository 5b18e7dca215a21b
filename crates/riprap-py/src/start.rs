//! Simulations that start from the end of another run.

use std::path::PathBuf;

use pyo3::prelude::*;

use riprap::scene::{Continuation, Continued, State};
use riprap_io::run::Origin;
use riprap_io::scene_file::StartTime;

use crate::errors;
use crate::exit;
use crate::scene::SceneData;
use crate::simulation::Simulation;

/// The state from which a simulation of a scene starts and what carries over; `None` if it starts from its initial state. `dt` is
/// its time step [s].
pub fn state(
    py: Python,
    data: &SceneData,
    dt: f64,
    start_from: Option<&Bound<PyAny>>,
    continue_time: bool,
) -> PyResult<Option<(State, Continued)>> {
    let file = data.file.as_ref().map(|(file, _)| file);
    let goes_on =
        continue_time || file.is_some_and(|file| file.run.start_time == StartTime::Continue);
    if let Some(other) = start_from.and_then(|other| other.cast::<Simulation>().ok()) {
        let other = other.get();
        let inner = other.lock()?;
        let time = if goes_on { inner.run.time() } else { 0.0 };
        let options = Continuation { time, ..Continuation::default() };
        let found = options.state(&other.data.scene, inner.run.state(), &data.scene);
        return found.map(Some).map_err(errors::scene);
    }
    let path = match start_from {
        Some(path) => Some(path.extract::<PathBuf>()?),
        None => file.and_then(|file| file.run.start_from.clone()),
    };
    let Some(path) = path else {
        return match continue_time {
            true => Err(errors::value("`continue_time` needs a run in `start_from`")),
            false => Ok(None),
        };
    };
    let begun = exit::detach(py, || {
        let origin = Origin::read(&path)?;
        let time = if goes_on { origin.state().t } else { 0.0 };
        let options = Continuation { time, ..Continuation::default() };
        origin.state_for(&data.scene, &options, Some(dt))
    });
    begun.map(Some).map_err(errors::file)
}

//! States: everything a simulation needs to continue with bitwise identical results, as bytes and files.

use std::path::PathBuf;

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use sha2::{Digest, Sha256};

use riprap::scene::State as CoreState;

use crate::{convert, errors};

/// First bytes of a stored state.
const MAGIC: &[u8; 8] = b"riprapST";
/// Layout of the bytes after the head; changes with the state.
const LAYOUT: u32 = 1;
/// Length of the head: magic, layout, numerics, SHA-256 of the rest.
const HEAD: usize = 8 + 4 + 4 + 32;

/// The state of a simulation at one time; it can be pickled. Arrays have one row per entry of the state, in its own order;
/// `Simulation` gives them by body.
///
/// >>> import pickle, riprap as rr
/// >>> scene = rr.SceneBuilder()
/// >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), rr.Material("steel", density=7800.0)))
/// >>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
/// >>> state = run.state
/// >>> _ = run.until(0.1)
/// >>> run.state = pickle.loads(pickle.dumps(state))
/// >>> run.time
/// 0.0
#[pyclass(frozen, eq, module = "riprap")]
#[derive(Clone, PartialEq)]
pub struct State(pub CoreState);

#[pymethods]
impl State {
    /// Time [s].
    #[getter]
    fn time(&self) -> f64 {
        self.0.t
    }

    /// Number of steps since the start.
    #[getter]
    fn step(&self) -> u64 {
        self.0.step
    }

    /// Positions of the centres of mass [m].
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = self.0.q.iter().flat_map(|q| <[f64; 3]>::from(q.position)).collect();
        convert::table(py, rows, 3)
    }

    /// Joint positions of a mechanism, by index [m, rad].
    fn joint_positions<'py>(
        &self,
        py: Python<'py>,
        mechanism: usize,
    ) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let state = self.0.mechanisms.get(mechanism);
        let state = state.ok_or_else(|| errors::handle(format!("no mechanism {mechanism}")))?;
        Ok(PyArray1::from_slice(py, &state.q))
    }

    /// The state as bytes.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let body = postcard::to_stdvec(&self.0).map_err(errors::file)?;
        let mut bytes = Vec::with_capacity(HEAD + body.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&LAYOUT.to_le_bytes());
        bytes.extend_from_slice(&riprap::NUMERICS.to_le_bytes());
        bytes.extend_from_slice(&Sha256::digest(&body));
        bytes.extend_from_slice(&body);
        Ok(PyBytes::new(py, &bytes))
    }

    /// A state from bytes; FileError if they are damaged or of another version.
    #[staticmethod]
    fn from_bytes(bytes: &[u8]) -> PyResult<State> {
        if bytes.len() < HEAD || &bytes[..8] != MAGIC {
            return Err(errors::file("this is not a stored state of riprap"));
        }
        let word = |at: usize| {
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        if (word(8), word(12)) != (LAYOUT, riprap::NUMERICS) {
            return Err(errors::file(
                "the state was stored by another version of riprap, which computes other results",
            ));
        }
        let body = &bytes[HEAD..];
        if Sha256::digest(body).as_slice() != &bytes[16..HEAD] {
            return Err(errors::file("the stored state is damaged: its checksum differs"));
        }
        postcard::from_bytes(body).map(State).map_err(errors::file)
    }

    /// Writes the state to a file.
    fn save(&self, py: Python, path: PathBuf) -> PyResult<()> {
        let bytes = self.to_bytes(py)?;
        riprap_io::write_whole(&path, bytes.as_bytes()).map_err(errors::file)
    }

    /// Reads a state from a file.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<State> {
        let bytes = std::fs::read(&path)
            .map_err(|error| errors::file(format!("{}: {error}", path.display())))?;
        State::from_bytes(&bytes)
    }

    fn __reduce__<'py>(
        slf: &Bound<'py, Self>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let py = slf.py();
        let from = py.get_type::<State>().getattr("from_bytes")?;
        Ok((from, (slf.get().to_bytes(py)?,)))
    }

    fn __repr__(&self) -> String {
        format!("<State at t = {:?} s, {} bodies>", self.0.t, self.0.q.len())
    }
}

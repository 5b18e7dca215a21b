//! Exceptions. The classes are Python's (`riprap/errors.py`), the messages those of the libraries.

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;
use pyo3::import_exception;

import_exception!(riprap.errors, SceneError);
import_exception!(riprap.errors, StepError);
import_exception!(riprap.errors, FileError);
import_exception!(riprap.errors, HandleError);
import_exception!(riprap.errors, BusyError);

/// A mistake in a description.
pub fn scene(error: impl std::fmt::Display) -> PyErr {
    SceneError::new_err(error.to_string())
}

/// A step that failed.
pub fn step(error: impl std::fmt::Display) -> PyErr {
    StepError::new_err(error.to_string())
}

/// A file that cannot be read or written.
pub fn file(error: impl std::fmt::Display) -> PyErr {
    FileError::new_err(error.to_string())
}

/// A handle that does not belong to the scene or mechanism.
pub fn handle(message: impl Into<String>) -> PyErr {
    HandleError::new_err(message.into())
}

/// An argument with a wrong value.
pub fn value(message: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(message.to_string())
}

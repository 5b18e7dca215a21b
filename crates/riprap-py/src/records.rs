//! Structured NumPy arrays: one row per record, one named field per quantity.

use numpy::PyArray1;
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A structured array in the making.
pub struct Records<'py> {
    py: Python<'py>,
    n: usize,
    /// Name, type and shape of each field.
    types: Vec<Bound<'py, PyAny>>,
    values: Vec<(&'static str, Bound<'py, PyAny>)>,
}

impl<'py> Records<'py> {
    /// An array of `n` records.
    pub fn new(py: Python<'py>, n: usize) -> Records<'py> {
        Records { py, n, types: Vec::new(), values: Vec::new() }
    }

    fn push(
        &mut self,
        name: &'static str,
        kind: &str,
        columns: usize,
        values: Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let shape = if columns > 1 { vec![columns] } else { vec![] };
        let field = (name, kind, PyTuple::new(self.py, shape)?);
        self.types.push(field.into_bound_py_any(self.py)?);
        let values = match columns {
            0 | 1 => values,
            _ => values.call_method1("reshape", (self.n, columns))?,
        };
        self.values.push((name, values));
        Ok(())
    }

    /// Adds a field of numbers, `columns` per record.
    pub fn numbers(
        &mut self,
        name: &'static str,
        values: Vec<f64>,
        columns: usize,
    ) -> PyResult<()> {
        let values = PyArray1::from_vec(self.py, values).into_any();
        self.push(name, "f8", columns, values)
    }

    /// Adds a field of indices, `columns` per record.
    pub fn integers(
        &mut self,
        name: &'static str,
        values: Vec<u32>,
        columns: usize,
    ) -> PyResult<()> {
        let values = PyArray1::from_vec(self.py, values).into_any();
        self.push(name, "u4", columns, values)
    }

    /// Adds a field of words of a type such as `U8`.
    pub fn words(&mut self, name: &'static str, values: Vec<&str>, kind: &str) -> PyResult<()> {
        let values = values.into_bound_py_any(self.py)?;
        self.push(name, kind, 1, values)
    }

    /// The array.
    pub fn array(self) -> PyResult<Bound<'py, PyAny>> {
        let numpy = self.py.import("numpy")?;
        let array = numpy.call_method1("zeros", (self.n, self.types))?;
        for (name, values) in self.values {
            array.set_item(name, values)?;
        }
        Ok(array)
    }
}

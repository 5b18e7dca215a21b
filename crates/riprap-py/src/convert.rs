//! Conversions of arguments: axes, rotations and arrays.

use numpy::{PyArray1, PyArray2, PyArrayMethods, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyString;

use riprap::math::{Mat3, Quat, Vec3};
use riprap::multibody::Axis;
use riprap_io::unit;

use crate::errors;
use crate::pose::Rotation;

/// An axis: `"x"`, `"y"`, `"z"`, with a minus sign if needed, or three components.
pub fn axis(given: &Bound<PyAny>) -> PyResult<Axis> {
    if let Ok(name) = given.cast::<PyString>() {
        let name = name.to_string();
        let (sign, letter) = match name.strip_prefix('-') {
            Some(letter) => (-1.0, letter),
            None => (1.0, name.as_str()),
        };
        let axis = match letter {
            "x" => Vec3::x(),
            "y" => Vec3::y(),
            "z" => Vec3::z(),
            _ => {
                return Err(errors::value(format!(
                    "`{name}` is not an axis: write \"x\", \"y\", \"z\", \"-x\", … or three components"
                )));
            }
        };
        return Ok(Axis(if sign < 0.0 { -axis } else { axis }));
    }
    direction(given.extract()?).map(Axis::from)
}

/// Three components scaled to unit length, as in scene files.
pub fn direction(components: [f64; 3]) -> PyResult<[f64; 3]> {
    unit(components).ok_or_else(|| errors::value("a direction must be finite and not zero"))
}

/// A rotation: a `Rotation`, a quaternion (w, x, y, z), or None for none.
pub fn rotation(given: Option<&Bound<PyAny>>) -> PyResult<Quat> {
    let Some(given) = given else { return Ok(Quat::identity()) };
    if let Ok(rotation) = given.cast::<Rotation>() {
        return Ok(rotation.get().0);
    }
    quaternion(given.extract()?)
}

/// A rotation from a quaternion w, x, y, z of any length.
pub fn quaternion(components: [f64; 4]) -> PyResult<Quat> {
    let error = || errors::value("a quaternion must be finite and not zero");
    let [w, x, y, z] = unit(components).ok_or_else(error)?;
    Ok(Quat::new_unchecked([x, y, z, w].into()))
}

/// A quaternion as w, x, y, z.
pub fn wxyz(rotation: &Quat) -> [f64; 4] {
    [rotation.w, rotation.i, rotation.j, rotation.k]
}

/// A vector as a NumPy array of three numbers.
pub fn vector<'py>(py: Python<'py>, v: &Vec3) -> Bound<'py, PyArray1<f64>> {
    [v.x, v.y, v.z].to_pyarray(py)
}

/// A matrix as a NumPy array.
pub fn matrix<'py>(py: Python<'py>, m: &Mat3) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let rows: Vec<f64> = (0..3).flat_map(|i| (0..3).map(move |j| m[(i, j)])).collect();
    table(py, rows, 3)
}

/// Numbers, row by row, as a NumPy array with `columns` columns. One copy.
pub fn table(py: Python<'_>, rows: Vec<f64>, columns: usize) -> PyResult<Bound<'_, PyArray2<f64>>> {
    let n = rows.len() / columns.max(1);
    PyArray1::from_vec(py, rows).reshape([n, columns])
}

/// A 3×3 matrix: one number (times the identity), three (a diagonal) or three rows.
pub fn inertia(given: &Bound<PyAny>) -> PyResult<Mat3> {
    if let Ok(one) = given.extract::<f64>() {
        return Ok(Mat3::identity() * one);
    }
    if let Ok(diagonal) = given.extract::<[f64; 3]>() {
        return Ok(Mat3::from_diagonal(&Vec3::from(diagonal)));
    }
    let rows: [[f64; 3]; 3] = given.extract().map_err(|_| {
        errors::value("an inertia is one number, three principal moments, or three rows [kg m²]")
    })?;
    Ok(Mat3::from_fn(|i, j| rows[i][j]))
}

/// One of some words.
pub fn word<T: Copy>(what: &str, given: &str, known: &[(&str, T)]) -> PyResult<T> {
    known.iter().find(|(name, _)| *name == given).map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        errors::value(format!("no {what} `{given}`: {}", names.join(", ")))
    })
}

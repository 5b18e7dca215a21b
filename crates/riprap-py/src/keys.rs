//! Keys of scene files that are set or explained from Python.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyString};

use riprap_io::scene_file::{self, Step};

use crate::errors;
use crate::saving::{Table, list_of, number, text};

/// Options `KEY=VALUE` from a dict of keys and values.
pub fn options(set: Option<&Bound<PyDict>>) -> PyResult<Vec<String>> {
    let Some(set) = set else { return Ok(Vec::new()) };
    let option = |(key, value): (Bound<PyAny>, Bound<PyAny>)| {
        let key: String = key.extract()?;
        if key.contains('=') {
            return Err(errors::value(format!("`{key}` is not a key: it contains `=`")));
        }
        Ok(format!("{key}={}", toml(&value)?))
    };
    set.iter().map(option).collect()
}

/// The keys of a table.
pub fn table(entries: &Bound<PyDict>) -> PyResult<Table> {
    let mut table = Table::default();
    for (key, value) in entries {
        let key: String = key.extract()?;
        let bare = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
        let key = if !key.is_empty() && key.chars().all(bare) { key } else { text(&key) };
        table.set(&key, toml(&value)?);
    }
    Ok(table)
}

/// A value as TOML.
fn toml(value: &Bound<PyAny>) -> PyResult<String> {
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(flag.is_true().to_string());
    }
    if let Ok(word) = value.cast::<PyString>() {
        return Ok(text(&word.to_string()));
    }
    if let Ok(table) = value.cast::<PyDict>() {
        let entry = |(key, value): (Bound<PyAny>, Bound<PyAny>)| {
            Ok(format!("{} = {}", text(&key.extract::<String>()?), toml(&value)?))
        };
        let entries = table.iter().map(entry).collect::<PyResult<Vec<_>>>()?;
        return Ok(format!("{{ {} }}", entries.join(", ")));
    }
    if let Ok(whole) = value.extract::<i64>() {
        return Ok(whole.to_string());
    }
    if let Ok(x) = value.extract::<f64>() {
        return Ok(number(x));
    }
    if let Ok(path) = value.call_method0("__fspath__") {
        return Ok(text(&path.extract::<String>()?));
    }
    let Ok(items) = value.try_iter() else {
        let kind = value.get_type().name()?;
        return Err(errors::value(format!("a key of a scene cannot have a value of type {kind}")));
    };
    let items = items.map(|item| toml(&item?)).collect::<PyResult<Vec<_>>>()?;
    Ok(list_of(items))
}

/// What a key of scene files means: type, unit, default, meaning and an example, as `riprap explain` prints it; without a key, the
/// tables. ValueError suggests the nearest key if there is none of this name.
///
/// >>> import riprap as rr
/// >>> print(rr.explain("materials.density").splitlines()[0])
/// materials.density
/// >>> "time [s], greater than 0" in rr.explain("run.dt")
/// True
#[pyfunction]
#[pyo3(signature = (key=None))]
pub fn explain(key: Option<&str>) -> PyResult<String> {
    match key {
        None => Ok(scene_file::explain_tables()),
        Some(key) => scene_file::explain(key).map_err(errors::value),
    }
}

/// The way to a key of a scene, which is given as JSON: keys of tables, and numbers of items from 0. For studies over parameters.
///
/// >>> from riprap._riprap import _key_path
/// >>> _key_path('{"body": [{"name": "ball"}]}', "body.ball.position")
/// ['body', 0, 'position']
#[pyfunction]
pub fn _key_path(py: Python, scene: &str, key: &str) -> PyResult<Vec<Py<PyAny>>> {
    let scene: serde_json::Value = serde_json::from_str(scene).map_err(errors::value)?;
    let steps = scene_file::key_path(&scene, key).map_err(errors::value)?;
    let step = |step: Step| match step {
        Step::Key(key) => Ok(key.into_pyobject(py)?.into_any().unbind()),
        Step::Item(index) => Ok(index.into_pyobject(py)?.into_any().unbind()),
    };
    steps.into_iter().map(step).collect()
}

//! Scenes built in Python as scene files. Descriptions record what they were made of; a scene is written from these records,
//! and what has no form in a scene file, such as a callable, is listed as the reason why it cannot be.

mod items;
mod mechanism;

pub use items::{Item, Record, point_law, tie_word};
pub use mechanism::{LinkRecord, MechanismRecord, cut};

use pyo3::prelude::*;
use pyo3::types::PyString;

use riprap::math::{Mat3, Pose, Quat, Vec3};

/// A value as TOML, or why there is none.
pub type Saved = Result<String, String>;

/// A number as TOML.
pub fn number(x: f64) -> String {
    match x {
        _ if x.is_nan() => "nan".into(),
        f64::INFINITY => "inf".into(),
        f64::NEG_INFINITY => "-inf".into(),
        _ => format!("{x:?}"),
    }
}

/// A list of numbers as TOML.
pub fn numbers(list: &[f64]) -> String {
    list_of(list.iter().map(|x| number(*x)))
}

/// A list as TOML.
pub fn list_of(values: impl IntoIterator<Item = String>) -> String {
    format!("[{}]", values.into_iter().collect::<Vec<_>>().join(", "))
}

/// A text as TOML.
pub fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

pub fn vector(v: &Vec3) -> String {
    numbers(&[v.x, v.y, v.z])
}

fn matrix(m: &Mat3) -> String {
    list_of((0..3).map(|i| numbers(&[m[(i, 0)], m[(i, 1)], m[(i, 2)]])))
}

fn rotation(q: &Quat) -> String {
    format!("{{ quaternion = {} }}", numbers(&crate::convert::wxyz(q)))
}

/// A law as TOML: a number, an expression, or a list of them.
pub fn law(given: &Bound<PyAny>) -> Saved {
    if given.is_callable() {
        let name = given
            .getattr("__qualname__")
            .or_else(|_| given.get_type().qualname().map(Bound::into_any));
        let name = name.map_or_else(|_| "?".to_owned(), |name| name.to_string());
        return Err(format!("the law `{name}` is a Python callable; write it as an expression"));
    }
    if let Ok(expression) = given.cast::<PyString>() {
        return Ok(text(&expression.to_string()));
    }
    if let Ok(x) = given.extract::<f64>() {
        return Ok(number(x));
    }
    let parts: Vec<Bound<PyAny>> =
        given.try_iter().and_then(Iterator::collect).map_err(|error| error.to_string())?;
    Ok(list_of(parts.iter().map(law).collect::<Result<Vec<_>, _>>()?))
}

/// A table in the making: keys and values as TOML.
#[derive(Clone, Debug, Default)]
pub struct Table(Vec<(String, String)>);

impl Table {
    /// Sets a key.
    pub fn set(&mut self, key: &str, value: impl Into<String>) -> &mut Table {
        self.0.retain(|(known, _)| known != key);
        self.0.push((key.to_owned(), value.into()));
        self
    }

    /// Sets a key if there is a value.
    pub fn maybe(&mut self, key: &str, value: Option<f64>) -> &mut Table {
        if let Some(value) = value {
            self.set(key, number(value));
        }
        self
    }

    /// Sets all keys of another table.
    pub fn extend(&mut self, other: &Table) {
        for (key, value) in &other.0 {
            self.set(key, value.clone());
        }
    }

    /// Whether a key is set.
    pub fn has(&self, key: &str) -> bool {
        self.0.iter().any(|(known, _)| known == key)
    }

    /// Removes a key.
    fn remove(&mut self, key: &str) {
        self.0.retain(|(known, _)| known != key);
    }

    /// Sets `position` and `rotation` where they differ from the identity.
    pub fn pose(&mut self, pose: &Pose) -> &mut Table {
        if pose.position != Vec3::zeros() {
            self.set("position", vector(&pose.position));
        }
        if pose.rotation != Quat::identity() {
            self.set("rotation", rotation(&pose.rotation));
        }
        self
    }

    /// Sets a vector unless it is zero.
    fn nonzero(&mut self, key: &str, value: &Vec3) {
        if *value != Vec3::zeros() {
            self.set(key, vector(value));
        }
    }

    /// As an inline table.
    pub fn inline(&self) -> String {
        let entries: Vec<String> = self.0.iter().map(|(k, v)| format!("{k} = {v}")).collect();
        format!("{{ {} }}", entries.join(", "))
    }

    /// As lines.
    pub fn lines(&self) -> String {
        self.0.iter().map(|(k, v)| format!("{k} = {v}\n")).collect()
    }

    /// As lines below a header.
    pub fn section(&self, header: &str) -> String {
        format!("\n{header}\n{}", self.lines())
    }
}

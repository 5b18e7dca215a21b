//! Reading the files of a run folder.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use riprap_io::{Error, Place};
use serde_json::Value;

/// Largest file that is read [bytes].
const LIMIT: u64 = 1 << 31;

pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { action, path, source }
}

pub(crate) fn format(path: &Path, message: impl Into<String>) -> Error {
    Error::Format { path: path.to_owned(), place: Place::Whole, message: message.into() }
}

/// Reads a text file.
pub(crate) fn text(path: &Path) -> Result<String, Error> {
    let kind = std::fs::metadata(path).map_err(io("read", path))?;
    if !kind.is_file() || kind.len() > LIMIT {
        return Err(format(path, "this is not a regular file of less than 2 GiB"));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(io("read", path))?;
    file.take(LIMIT).read_to_end(&mut bytes).map_err(io("read", path))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Reads `summary.json` of a run.
pub(crate) fn summary(folder: &Path) -> Result<Value, Error> {
    let path = folder.join("summary.json");
    if !path.exists() {
        return Err(format(folder, "there is no run in this folder: it has no `summary.json`"));
    }
    serde_json::from_str(&text(&path)?).map_err(|e| format(&path, format!("not valid JSON: {e}")))
}

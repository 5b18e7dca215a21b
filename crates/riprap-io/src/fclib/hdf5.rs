//! The subset of HDF5 that contact problems need: arrays of numbers and strings by path. All uses
//! of the HDF5 library are in this file.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use hdf5_pure::{DType, Dataset, File, FileBuilder, FormatError, LibVer};

use crate::regular::read_limited;
use crate::{Error, Place};

/// Maximum file size [bytes].
const MAX_BYTES: u64 = 1 << 32;

/// A compressed dataset may be this many times larger than its file (deflate reaches 1032).
const INFLATION: u64 = 1100;

/// An HDF5 file to read from.
pub(super) struct Source {
    path: PathBuf,
    file: File,
    /// Length of the file [bytes].
    length: u64,
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Source, Error> {
        let bytes = read_limited(path, MAX_BYTES).map_err(|error| match error {
            Error::Io { path, source, .. } => Error::Io { action: "read", path, source },
            error => error,
        })?;
        let length = bytes.len() as u64;
        match guarded(|| File::from_bytes(bytes)) {
            Ok(file) => Ok(Source { path: path.to_owned(), file, length }),
            Err(why) => {
                Err(Error::format(path, Place::Whole, format!("this is not an HDF5 file: {why}")))
            }
        }
    }

    /// An error at a dataset of this file.
    pub(super) fn error(&self, dataset: &str, message: impl std::fmt::Display) -> Error {
        Error::format(&self.path, Place::Whole, format!("`{dataset}`: {message}"))
    }

    /// An error of the file as a whole.
    pub(super) fn refuse(&self, message: impl Into<String>) -> Error {
        Error::format(&self.path, Place::Whole, message)
    }

    pub(super) fn has_group(&self, name: &str) -> bool {
        guarded(|| self.file.group(name)).is_ok()
    }

    fn find(&self, name: &str) -> Result<Option<Dataset>, Error> {
        let missing = |e: &hdf5_pure::Error| {
            matches!(e, hdf5_pure::Error::Format(FormatError::PathNotFound(_)))
        };
        let found = guarded(|| match self.file.dataset(name) {
            Err(error) if missing(&error) => Ok(None),
            found => found.map(Some),
        });
        found.map_err(|why| self.error(name, why))
    }

    /// A dataset whose size is plausible.
    fn dataset(&self, name: &str) -> Result<Option<Dataset>, Error> {
        let Some(dataset) = self.find(name)? else { return Ok(None) };
        let size = guarded(|| Ok((dataset.shape()?, dataset.element_size()?)));
        let (shape, element) = size.map_err(|why| self.error(name, why))?;
        let bytes = shape.iter().try_fold(element, |size, n| size.checked_mul(*n));
        if bytes.is_none_or(|bytes| bytes > self.length.saturating_mul(INFLATION)) {
            return Err(self.error(name, format!("its shape {shape:?} is too large for the file")));
        }
        Ok(Some(dataset))
    }

    /// An array of real numbers; `None` if there is no such dataset.
    pub(super) fn reals(&self, name: &str) -> Result<Option<Vec<f64>>, Error> {
        let Some(dataset) = self.dataset(name)? else { return Ok(None) };
        let values = guarded(|| match dataset.dtype()? {
            DType::F64 | DType::F32 => Ok(Ok(dataset.read_f64()?)),
            other => Ok(Err(format!("expected real numbers, got {other}"))),
        });
        let values = values.and_then(|v| v).map_err(|why| self.error(name, why))?;
        match values.iter().position(|x| !x.is_finite()) {
            Some(k) => Err(self.error(name, format!("entry {k} is not a finite number"))),
            None => Ok(Some(values)),
        }
    }

    /// An array of integers; `None` if there is no such dataset.
    pub(super) fn integers(&self, name: &str) -> Result<Option<Vec<i64>>, Error> {
        let Some(dataset) = self.dataset(name)? else { return Ok(None) };
        let values = guarded(|| match dataset.dtype()? {
            DType::I8
            | DType::I16
            | DType::I32
            | DType::I64
            | DType::U8
            | DType::U16
            | DType::U32 => Ok(Ok(dataset.read_i64()?)),
            other => Ok(Err(format!("expected integers, got {other}"))),
        });
        values.and_then(|v| v).map(Some).map_err(|why| self.error(name, why))
    }

    /// An integer, stored as an array of length 1.
    pub(super) fn integer(&self, name: &str) -> Result<i64, Error> {
        match self.integers(name)?.as_deref() {
            Some([value]) => Ok(*value),
            Some(values) => {
                Err(self.error(name, format!("expected one number, got {}", values.len())))
            }
            None => Err(self.error(name, "there is no such dataset")),
        }
    }

    /// A string; empty if it is absent or unreadable, since strings do not affect the problem.
    pub(super) fn text(&self, name: &str) -> String {
        let Ok(Some(dataset)) = self.dataset(name) else { return String::new() };
        let texts = guarded(|| dataset.read_string()).unwrap_or_default();
        let text = texts.into_iter().next().unwrap_or_default();
        text.trim_matches(|c: char| c == '\0' || c.is_whitespace()).to_owned()
    }
}

/// Calls the library. If it panics on a broken file, the file is refused like any other broken one.
fn guarded<T>(call: impl FnOnce() -> Result<T, hdf5_pure::Error>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err("the file is broken".into()),
    }
}

/// An array or a string to be written.
pub(super) enum Value<'a> {
    Reals(&'a [f64]),
    Integers(&'a [i32]),
    Text(&'a str),
}

/// Groups and datasets to be written.
#[derive(Default)]
pub(super) struct Group<'a> {
    name: &'static str,
    datasets: Vec<(&'static str, Value<'a>)>,
    groups: Vec<Group<'a>>,
}

impl<'a> Group<'a> {
    pub(super) fn new(name: &'static str) -> Group<'a> {
        Group { name, ..Group::default() }
    }

    pub(super) fn with(mut self, name: &'static str, value: Value<'a>) -> Group<'a> {
        self.datasets.push((name, value));
        self
    }

    pub(super) fn group(mut self, group: Group<'a>) -> Group<'a> {
        self.groups.push(group);
        self
    }

    fn fill(&self, builder: &mut hdf5_pure::GroupBuilder) -> Result<(), FormatError> {
        for (name, value) in &self.datasets {
            let dataset = builder.create_dataset(name);
            match value {
                Value::Reals(values) => {
                    dataset.with_f64_data(values).with_shape(&[values.len() as u64]);
                }
                Value::Integers(values) => {
                    dataset.with_i32_data(values).with_shape(&[values.len() as u64]);
                }
                // Other readers expect a string as one zero-terminated element, not an array.
                Value::Text(text) => {
                    let text = text.replace('\0', " ");
                    dataset.with_strings_sized(&[&text], text.len() as u32 + 1)?.with_shape(&[]);
                }
            }
        }
        for group in &self.groups {
            let mut inner = builder.create_group(group.name);
            group.fill(&mut inner)?;
            builder.add_group(inner.finish());
        }
        Ok(())
    }
}

/// The bytes of an HDF5 file with these groups, for HDF5 1.8 and later.
pub(super) fn file(groups: &[Group]) -> Result<Vec<u8>, String> {
    let mut builder = FileBuilder::new();
    builder.with_libver_bounds(LibVer::V18, LibVer::V18);
    for group in groups {
        let mut inner = builder.create_group(group.name);
        group.fill(&mut inner).map_err(|error| error.to_string())?;
        builder.add_group(inner.finish());
    }
    builder.finish().map_err(|error| error.to_string())
}

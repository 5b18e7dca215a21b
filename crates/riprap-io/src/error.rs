//! Errors with files other than scenes. Each error names the path and suggests a remedy.

use std::io;
use std::path::{Path, PathBuf};

/// An error reading or writing a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system reported an error.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was attempted, such as `read`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The content of a file does not conform to its format.
    #[error("{}{place}: {message}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Where in the file: a line, or a byte in binary files.
        place: Place,
        /// What is wrong.
        message: String,
    },
    /// The data given to a writer are inconsistent.
    #[error("cannot write {}: {message}", path.display())]
    Data {
        /// The file to be written.
        path: PathBuf,
        /// The inconsistency.
        message: String,
    },
    /// The folder of a run is not empty.
    #[error(
        "{} already contains {what}; choose another folder, or allow it to be overwritten",
        path.display()
    )]
    Exists {
        /// The folder.
        path: PathBuf,
        /// What it contains, such as `a run`.
        what: &'static str,
    },
    /// Another process is writing to it.
    #[error("{} is in use by {holder}; wait until it has ended, or choose another location", path.display())]
    InUse {
        /// The folder or file.
        path: PathBuf,
        /// Which process, on which machine, since when.
        holder: String,
    },
}

/// A location in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    Whole,
    /// A line of a text file, from 1.
    Line(usize),
    /// An offset into a binary file, from 0.
    Byte(u64),
}

impl std::fmt::Display for Place {
    /// Formatted to follow the name of the file: `, line 7`, or empty for the whole file.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Place::Whole => Ok(()),
            Place::Line(line) => write!(f, ", line {line}"),
            Place::Byte(byte) => write!(f, ", byte {byte}"),
        }
    }
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }

    pub(crate) fn format(path: &Path, place: Place, message: impl Into<String>) -> Self {
        Self::Format { path: path.to_owned(), place, message: message.into() }
    }
}

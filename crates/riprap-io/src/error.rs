//! What can go wrong with a file other than a scene: each error names the path and what to do.

use std::io;
use std::path::{Path, PathBuf};

/// An error of reading or writing a file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was attempted, such as `read`.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The content of a file is not what its format demands.
    #[error("{}{place}: {message}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Where in the file: a line, or a byte in binary files.
        place: Place,
        /// What is wrong.
        message: String,
    },
    /// The data given to a writer do not fit together.
    #[error("cannot write {}: {message}", path.display())]
    Data {
        /// The file that was to be written.
        path: PathBuf,
        /// What does not fit.
        message: String,
    },
    /// The folder of a run holds something already.
    #[error(
        "{} already holds {what}; choose another folder, or allow it to be overwritten",
        path.display()
    )]
    Exists {
        /// The folder.
        path: PathBuf,
        /// What is in it, such as `a run`.
        what: &'static str,
    },
    /// Another process writes to it.
    #[error("{} is in use by {holder}; wait until that has ended, or choose another place", path.display())]
    InUse {
        /// The folder or file.
        path: PathBuf,
        /// Which process, on which machine, since when.
        holder: String,
    },
}

/// A place in a file.
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
    /// Continues the name of the file: `, line 7`, or nothing for the whole of it.
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

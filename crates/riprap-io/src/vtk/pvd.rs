//! The `.pvd` index that makes a time series of frames.

use std::io::{self, Write};
use std::path::PathBuf;

use super::escaped;
use crate::atomic;
use crate::error::Error;

/// The index of a time series: which file shows which time.
#[derive(Clone, Debug)]
pub struct Pvd {
    path: PathBuf,
    frames: Vec<(f64, String, String)>,
}

impl Pvd {
    /// An empty series that will be written to `path`, which ends in `.pvd`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), frames: Vec::new() }
    }

    /// Takes a file that was there before, without writing the index.
    pub fn recall(&mut self, time: f64, part: &str, file: &str) {
        self.frames.push((time, part.to_owned(), file.to_owned()));
    }

    /// Writes the index anew, whole or not at all.
    pub fn write(&self) -> Result<(), Error> {
        atomic::write(&self.path, |out| self.write_to(out))
    }

    /// Adds a file at a time [s] and writes the index anew, whole or not at all.
    ///
    /// `file` is relative to the folder of the index and must be complete already. Files of the same time
    /// with different `part`s (`"surfaces"`, `"contacts"`) are shown together.
    pub fn add(&mut self, time: f64, part: &str, file: &str) -> Result<(), Error> {
        self.recall(time, part, file);
        self.write()
    }

    fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "<?xml version=\"1.0\"?>")?;
        writeln!(out, "<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">")?;
        writeln!(out, "<Collection>")?;
        // Parts are numbered as well, because some readers tell them apart by number.
        let mut parts: Vec<&str> = Vec::new();
        for (time, part, file) in &self.frames {
            let number = parts.iter().position(|known| known == part).unwrap_or_else(|| {
                parts.push(part);
                parts.len() - 1
            });
            writeln!(
                out,
                "<DataSet timestep=\"{time}\" group=\"\" part=\"{number}\" name=\"{}\" file=\"{}\"/>",
                escaped(part),
                escaped(file)
            )?;
        }
        write!(out, "</Collection>\n</VTKFile>\n")
    }
}

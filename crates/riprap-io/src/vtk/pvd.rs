//! The `.pvd` index that combines frames into a time series. It grows in place, so that adding a
//! frame costs the same for the first and the millionth, and the file is valid at all times.
//!
//! The closing tags are at a fixed position, and blanks, which have no meaning in XML, fill the
//! space between the last entry and them. A new entry replaces blanks in a single write within a
//! page of [`PAGE`] bytes: systems check for a kill between pages, not within one, so a killed run
//! leaves the entry complete or absent. When the space is used up, the index is rewritten under
//! another name with twice the space and replaces the old one, which happens at a logarithmic
//! number of frames. The content of the file depends only on its entries, not on when they were
//! added.

use std::fs::OpenOptions;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::PathBuf;

use super::escaped;
use crate::atomic;
use crate::error::Error;

const HEAD: &str = "<?xml version=\"1.0\"?>\n\
    <VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n\
    <Collection>\n";
const TAIL: &str = "</Collection>\n</VTKFile>\n";
/// Smallest page size of any system [bytes]; larger ones are multiples of it.
const PAGE: usize = 4096;

/// The index of a time series: the files and their times.
#[derive(Clone, Debug)]
pub struct Pvd {
    path: PathBuf,
    /// Content of the file up to its last entry, as on disk or to be written.
    text: String,
    /// Names of the parts. They are numbered as well, because some readers distinguish them by
    /// number.
    parts: Vec<String>,
    /// Length of the file as last written [bytes]; 0 initially.
    written: usize,
}

impl Pvd {
    /// An empty series to be written to `path`, which ends in `.pvd`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), text: HEAD.into(), parts: Vec::new(), written: 0 }
    }

    /// Adds an existing file without writing the index.
    pub fn recall(&mut self, time: f64, part: &str, file: &str) {
        let number = self.parts.iter().position(|known| known == part).unwrap_or_else(|| {
            self.parts.push(part.to_owned());
            self.parts.len() - 1
        });
        let entry = format!(
            "<DataSet timestep=\"{time}\" group=\"\" part=\"{number}\" name=\"{}\" file=\"{}\"/>\n",
            escaped(part),
            escaped(file)
        );
        // An entry does not cross into the next page.
        let left = PAGE - self.text.len() % PAGE;
        if entry.len() > left {
            blanks(&mut self.text, left);
        }
        self.text += &entry;
    }

    /// Rewrites the index atomically.
    pub fn write(&self) -> Result<(), Error> {
        atomic::write(&self.path, |out| {
            let room = self.room();
            let mut text = String::with_capacity(room + TAIL.len());
            text += &self.text;
            blanks(&mut text, room - self.text.len());
            out.write_all(text.as_bytes())?;
            out.write_all(TAIL.as_bytes())
        })
    }

    /// Adds a file at a time [s] to the index on disk.
    ///
    /// `file` is relative to the folder of the index and must already be complete. Files of the
    /// same time with different `part`s (`"surfaces"`, `"contacts"`) are shown together.
    pub fn add(&mut self, time: f64, part: &str, file: &str) -> Result<(), Error> {
        let before = self.text.len();
        self.recall(time, part, file);
        let length = self.room() + TAIL.len();
        // If another process has changed the file, or it is full, it is rewritten.
        if self.written != length || !self.fill(before).map_err(Error::io("write", &self.path))? {
            self.written = 0;
            self.write()?;
            self.written = length;
        }
        Ok(())
    }

    /// Position of the closing tags [bytes]: a power of two.
    fn room(&self) -> usize {
        self.text.len().next_power_of_two().max(PAGE)
    }

    /// Replaces blanks by the text from `before` on; returns false if the file is not the one that
    /// was written.
    fn fill(&self, before: usize) -> io::Result<bool> {
        let mut file = match OpenOptions::new().write(true).open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            file => file?,
        };
        if file.metadata()?.len() != self.written as u64 {
            return Ok(false);
        }
        // Blanks before the entry, up to its page, are already in the file.
        let blank = self.text[before..].bytes().take_while(|byte| *byte != b'<').count();
        file.seek(SeekFrom::Start((before + blank) as u64))?;
        file.write_all(&self.text.as_bytes()[before + blank..])?;
        Ok(true)
    }
}

/// Adds blanks, with a line break at the end of each page.
fn blanks(text: &mut String, count: usize) {
    for _ in 0..count {
        text.push(if (text.len() + 1).is_multiple_of(PAGE) { '\n' } else { ' ' });
    }
}

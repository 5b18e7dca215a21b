//! The `.pvd` index that makes a time series of frames. It grows in place, so that a frame costs the same whether it is the first or the
//! millionth, and is whole at every moment.
//!
//! The closing tags stand at a fixed place, and blanks, which mean nothing in XML, fill the room between the last entry and them. A new
//! entry replaces blanks by one write that lies within a page of [`PAGE`] bytes: systems look for a kill between pages, not within, so a
//! killed run leaves the entry whole or not at all. When the room is used up, the index is written anew under another name with twice the
//! room and takes the place of the old one, which happens at a logarithmic number of frames. What the file holds depends on its entries
//! alone, not on when they came.

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
/// Smallest page of all systems [bytes]; larger ones are multiples of it.
const PAGE: usize = 4096;

/// The index of a time series: which file shows which time.
#[derive(Clone, Debug)]
pub struct Pvd {
    path: PathBuf,
    /// The file up to its last entry, as it is on the disk or will be.
    text: String,
    /// Names of the parts. They are numbered as well, because some readers tell them apart by number.
    parts: Vec<String>,
    /// Length of the file that we have written [bytes]; 0 before.
    written: usize,
}

impl Pvd {
    /// An empty series that will be written to `path`, which ends in `.pvd`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), text: HEAD.into(), parts: Vec::new(), written: 0 }
    }

    /// Takes a file that was there before, without writing the index.
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

    /// Writes the index anew, whole or not at all.
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

    /// Adds a file at a time [s] to the index on the disk.
    ///
    /// `file` is relative to the folder of the index and must be complete already. Files of the same time
    /// with different `part`s (`"surfaces"`, `"contacts"`) are shown together.
    pub fn add(&mut self, time: f64, part: &str, file: &str) -> Result<(), Error> {
        let before = self.text.len();
        self.recall(time, part, file);
        let length = self.room() + TAIL.len();
        // Where somebody else has touched the file, or it is full, it is written anew.
        if self.written != length || !self.fill(before).map_err(Error::io("write", &self.path))? {
            self.written = 0;
            self.write()?;
            self.written = length;
        }
        Ok(())
    }

    /// Where the closing tags stand [bytes]: at a power of two.
    fn room(&self) -> usize {
        self.text.len().next_power_of_two().max(PAGE)
    }

    /// Replaces blanks by what the text has from `before` on; false if the file is not the one that was written.
    fn fill(&self, before: usize) -> io::Result<bool> {
        let mut file = match OpenOptions::new().write(true).open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            file => file?,
        };
        if file.metadata()?.len() != self.written as u64 {
            return Ok(false);
        }
        // Blanks before the entry, up to its page, are in the file already.
        let blank = self.text[before..].bytes().take_while(|byte| *byte != b'<').count();
        file.seek(SeekFrom::Start((before + blank) as u64))?;
        file.write_all(&self.text.as_bytes()[before + blank..])?;
        Ok(true)
    }
}

/// Adds blanks; a line ends where a page does.
fn blanks(text: &mut String, count: usize) {
    for _ in 0..count {
        text.push(if (text.len() + 1).is_multiple_of(PAGE) { '\n' } else { ' ' });
    }
}

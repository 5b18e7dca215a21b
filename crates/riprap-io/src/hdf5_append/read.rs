//! Reads files that an [`Appender`](super::Appender) has written or is writing. Only the structure is read when a file is opened;
//! rows are read from their chunks. Every number of the file is checked before it is used.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use flate2::read::ZlibDecoder;

use super::append::unshuffle;
use super::encode::{self, Type, UNDEFINED, message};
use super::{ENTRIES, PAGE};
use crate::{Error, Place};

/// Maximum number of objects, of bytes of an object header, and of levels of groups and B-trees.
const MAX_OBJECTS: usize = 4096;
const MAX_HEADER: usize = 1 << 20;
const MAX_DEPTH: usize = 12;

/// Maximum number of bytes of rows that are read at once.
const MAX_BYTES: u64 = 1 << 32;

/// Compressed data may be this many times larger (deflate reaches 1032).
const INFLATION: u64 = 1100;

/// Memory reserved for compressed data, relative to their size; more is added as it is needed.
const USUAL_INFLATION: usize = 4;

/// A file to read from.
#[derive(Debug)]
pub(crate) struct Reader {
    path: PathBuf,
    file: Mutex<File>,
    /// Arrays by path.
    arrays: HashMap<String, Stored>,
    /// Positions of attributes that are single integers, by path of the group and name.
    integers: HashMap<(String, String), u64>,
}

/// An array of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stored {
    pub kind: Type,
    /// Elements of a row; 0 if the array has rank 1.
    pub width: usize,
    rows: u32,
    packed: bool,
    tree_at: u64,
}

impl Stored {
    /// Size of a row [bytes].
    pub fn row_size(&self) -> usize {
        self.width.max(1) * self.kind.size()
    }

    fn chunk_size(&self) -> usize {
        self.row_size() * self.rows as usize
    }
}

/// Why a file cannot be read: at which byte, and what is wrong.
type Broken = (Place, String);

fn broken(at: u64, message: impl Into<String>) -> Broken {
    (Place::Byte(at), message.into())
}

/// A message of an object header: its type, position and data.
type Message = (u16, u64, Vec<u8>);

impl Reader {
    /// Opens a file and reads its structure.
    pub fn open(path: &Path) -> Result<Reader, Error> {
        let file = crate::regular::open(path).map_err(Error::io("open", path))?;
        let mut reader = Reader {
            path: path.to_owned(),
            file: Mutex::new(file),
            arrays: HashMap::new(),
            integers: HashMap::new(),
        };
        reader.explore().map_err(|why| reader.error(why))?;
        Ok(reader)
    }

    /// An error of this file, with a remedy.
    pub fn refuse(&self, message: impl std::fmt::Display) -> Error {
        self.error((Place::Whole, message.to_string()))
    }

    fn error(&self, (place, message): Broken) -> Error {
        let remedy = "run the scene again to regenerate it";
        Error::format(&self.path, place, format!("this is not a run file: {message}; {remedy}"))
    }

    /// An array by its path, if there is one.
    pub fn find(&self, path: &str) -> Option<Stored> {
        self.arrays.get(path).copied()
    }

    /// Names of the groups with arrays in a group, some several times.
    pub fn groups_of(&self, group: &str) -> impl Iterator<Item = &str> {
        self.arrays.keys().filter_map(move |path| {
            let inside = path.strip_prefix(group)?.strip_prefix('/')?;
            Some(inside.split_once('/')?.0)
        })
    }

    /// An array by its path, with the expected type and number of elements of a row.
    pub fn array(&self, path: &str, kind: Type, width: usize) -> Result<Stored, Error> {
        let found = self.find(path).ok_or_else(|| self.refuse(format!("`{path}` is missing")))?;
        if (found.kind, found.width) != (kind, width) {
            return Err(self.refuse(format!("`{path}` has an unexpected type")));
        }
        Ok(found)
    }

    /// The present value of an attribute that is an integer.
    pub fn integer(&self, group: &str, name: &str) -> Result<i64, Error> {
        let at = self.integers.get(&(group.into(), name.into()));
        let at = *at.ok_or_else(|| self.refuse(format!("`{group}` has no `{name}`")))?;
        self.number(at).map(|value| value as i64).map_err(|why| self.error(why))
    }

    /// Rows of an array.
    pub fn rows(&self, array: Stored, first: u64, n: u64) -> Result<Vec<u8>, Error> {
        self.collect(array, first, n).map_err(|why| self.error(why))
    }

    /// Bytes of the file.
    fn bytes(&self, at: u64, n: usize) -> Result<Vec<u8>, Broken> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let length = file.metadata().map_or(0, |found| found.len());
        if at.checked_add(n as u64).is_none_or(|end| end > length) {
            return Err(broken(at.min(length), "it ends too early"));
        }
        let mut bytes = vec![0; n];
        let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut bytes));
        read.map_err(|error| broken(at, error.to_string()))?;
        Ok(bytes)
    }

    fn number(&self, at: u64) -> Result<u64, Broken> {
        Ok(number_at(&self.bytes(at, 8)?, 0))
    }

    /// Reads the structure of the file.
    fn explore(&mut self) -> Result<(), Broken> {
        let page = self.bytes(0, PAGE).map_err(|_| broken(0, "it is too short"))?;
        if !page.starts_with(b"\x89HDF\r\n\x1a\n\0") {
            return Err(broken(0, "it does not start as an HDF5 file of riprap does"));
        }
        let mut waiting = vec![(String::new(), number_at(&page, 64), 0)];
        let mut n_objects = 0;
        while let Some((path, address, depth)) = waiting.pop() {
            n_objects += 1;
            if n_objects > MAX_OBJECTS || depth > MAX_DEPTH {
                return Err(broken(address, "it contains too many objects"));
            }
            let messages = self.messages(address)?;
            if let Some(array) = stored(&messages) {
                self.arrays.insert(path, array);
                continue;
            }
            if !messages.iter().any(|message| message.0 == message::LINK_INFO) {
                return Err(broken(address, "an object is neither a group nor an array"));
            }
            let mut n_links = 0;
            for (kind, at, data) in messages {
                match kind {
                    message::LINK_INFO if data.len() >= 10 => {
                        n_links += i64::from(short_at(&data, 2))
                    }
                    message::LINK => {
                        n_links -= 1;
                        if let Some((name, child)) = hard_link(&data) {
                            let name =
                                if path.is_empty() { name } else { format!("{path}/{name}") };
                            waiting.push((name, child, depth + 1));
                        } else if !is_soft_link(&data) {
                            return Err(broken(at, "a link is damaged"));
                        }
                    }
                    message::ATTRIBUTE => {
                        if let Some((name, inside)) = integer_attribute(&data) {
                            self.integers.insert((path.clone(), name), at + inside as u64);
                        }
                    }
                    _ => {}
                }
            }
            if n_links != 0 {
                return Err(broken(address, "links of a group are missing"));
            }
        }
        Ok(())
    }

    /// All messages of an object header.
    fn messages(&self, address: u64) -> Result<Vec<Message>, Broken> {
        let head = self.bytes(address, 16)?;
        let length = u32::from_le_bytes([head[8], head[9], head[10], head[11]]) as usize;
        if head[0] != 1 || length > MAX_HEADER {
            return Err(broken(address, "an object header is damaged"));
        }
        let (mut found, mut n_parts) = (Vec::new(), 0);
        let mut parts = vec![(address + 16, length)];
        while let Some((start, length)) = parts.pop() {
            n_parts += 1;
            if n_parts > 16 || length > MAX_HEADER {
                return Err(broken(start, "an object header has too many parts"));
            }
            let bytes = self.bytes(start, length)?;
            let mut at = 0;
            while at + 8 <= bytes.len() {
                let kind = u16::from_le_bytes([bytes[at], bytes[at + 1]]);
                let size = usize::from(u16::from_le_bytes([bytes[at + 2], bytes[at + 3]]));
                let Some(data) = bytes.get(at + 8..at + 8 + size) else {
                    return Err(broken(start + at as u64, "a message is too long"));
                };
                if kind == message::CONTINUATION && size >= 16 {
                    parts.push((number_at(data, 0), number_at(data, 8).min(1 << 30) as usize));
                }
                found.push((kind, start + at as u64 + 8, data.to_vec()));
                at += 8 + size;
            }
        }
        Ok(found)
    }

    fn collect(&self, array: Stored, first: u64, n: u64) -> Result<Vec<u8>, Broken> {
        let size = n.checked_mul(array.row_size() as u64);
        let end = first.checked_add(n);
        let (Some(size), Some(end)) = (size.filter(|size| *size <= MAX_BYTES), end) else {
            return Err((Place::Whole, format!("{n} rows of an array are too many")));
        };
        let length = {
            let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            file.metadata().map_or(0, |found| found.len())
        };
        if size > length.saturating_mul(INFLATION) {
            return Err((Place::Whole, format!("{n} rows of an array are too many for the file")));
        }
        // The file may claim more rows than it has: memory is reserved for what it can hold uncompressed.
        let mut out = Vec::with_capacity(size.min(length) as usize);
        let rows = u64::from(array.rows);
        let mut row = first;
        while row < end {
            let begin = row / rows * rows;
            let next = end.min(begin + rows);
            let chunk = self.chunk(array, begin)?;
            let inside = |row: u64| (row - begin) as usize * array.row_size();
            out.extend(&chunk[inside(row)..inside(next)]);
            row = next;
        }
        Ok(out)
    }

    /// The chunk that begins with a row.
    fn chunk(&self, array: Stored, row: u64) -> Result<Vec<u8>, Broken> {
        let mut address = self.number(array.tree_at)?;
        for _ in 0..MAX_DEPTH {
            if address == UNDEFINED {
                break;
            }
            let node = self.bytes(address, encode::node_length(array.width))?;
            let used = usize::from(u16::from_le_bytes([node[6], node[7]]));
            if !node.starts_with(b"TREE\x01") || used > ENTRIES {
                return Err(broken(address, "a node of an index is damaged"));
            }
            let key = |entry: usize| encode::entry_at(array.width, entry);
            let first = |entry: usize| number_at(&node, key(entry) + 8);
            let Some(entry) = (0..used).rev().find(|entry| first(*entry) <= row) else { break };
            let child = number_at(&node, key(entry + 1) - 8);
            if node[5] > 0 {
                address = child;
                continue;
            }
            if first(entry) != row {
                break;
            }
            let at = key(entry);
            let size = u32::from_le_bytes([node[at], node[at + 1], node[at + 2], node[at + 3]]);
            return self.unpacked(array, child, size as usize);
        }
        Err((Place::Whole, "rows of an array are missing".into()))
    }

    fn unpacked(&self, array: Stored, address: u64, size: usize) -> Result<Vec<u8>, Broken> {
        let whole = array.chunk_size();
        if size > whole + whole / 64 + 4096 {
            return Err(broken(address, "a chunk is too long"));
        }
        let stored = self.bytes(address, size)?;
        let mut data = stored;
        if array.packed {
            let mut inflated = Vec::with_capacity(whole.min(USUAL_INFLATION * data.len()));
            // One byte more than a chunk has: the decoder then compares the checksum at the end.
            let inflate =
                ZlibDecoder::new(&data[..]).take(whole as u64 + 1).read_to_end(&mut inflated);
            inflate.map_err(|_| broken(address, "compressed data are damaged"))?;
            unshuffle(&inflated, array.kind.size(), &mut data);
        }
        if data.len() != whole {
            return Err(broken(address, "a chunk has an unexpected length"));
        }
        Ok(data)
    }
}

/// A number of eight bytes.
pub(crate) fn number_at(bytes: &[u8], at: usize) -> u64 {
    let mut number = [0; 8];
    number.copy_from_slice(&bytes[at..at + 8]);
    u64::from_le_bytes(number)
}

fn short_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// The array that an object header describes, if it is one of ours.
fn stored(messages: &[Message]) -> Option<Stored> {
    let find = |kind: u16| messages.iter().find(|m| m.0 == kind);
    let (_, _, space) = find(message::DATASPACE)?;
    let (_, _, datatype) = find(message::DATATYPE)?;
    let (_, layout_at, layout) = find(message::LAYOUT)?;
    let kind = Type::decoded(datatype)?;
    let rank = usize::from(*space.get(1)?);
    let numbers = rank + 1;
    if layout.len() < 11 + 4 * numbers || layout[..2] != [3, 2] || usize::from(layout[2]) != numbers
    {
        return None;
    }
    let size = |k: usize| {
        let at = 11 + 4 * k;
        u32::from_le_bytes([layout[at], layout[at + 1], layout[at + 2], layout[at + 3]])
    };
    let width = match rank {
        1 => 0,
        2 => size(1) as usize,
        _ => return None,
    };
    let (rows, packed) = (size(0), find(message::FILTERS).is_some());
    let array = Stored { kind, width, rows, packed, tree_at: layout_at + 3 };
    let fits =
        rows > 0 && width < 1 << 16 && (rows as u64) * (array.row_size() as u64) <= MAX_BYTES;
    fits.then_some(array)
}

/// Whether a link is a soft link, to an absolute path.
fn is_soft_link(data: &[u8]) -> bool {
    if data.len() < 13 || data[..3] != [1, 0x1c, 1] {
        return false;
    }
    let at = 13 + usize::from(data[12]);
    let length = data.get(at..at + 2).map(|bytes| usize::from(short_at(bytes, 0)));
    let path = length.and_then(|length| data.get(at + 2..at + 2 + length));
    path.is_some_and(|path| path.starts_with(b"/"))
}

/// Name and address of a link, unless it is a soft link.
fn hard_link(data: &[u8]) -> Option<(String, u64)> {
    if data.len() < 13 || data[..2] != [1, 0x1c] || data[2] != 0 {
        return None;
    }
    let end = 13 + usize::from(data[12]);
    let address = data.get(end..end + 8)?;
    let name = std::str::from_utf8(data.get(13..end)?).ok()?;
    Some((name.into(), number_at(address, 0)))
}

/// Name of an attribute that is an integer, and where in the message its value is.
fn integer_attribute(data: &[u8]) -> Option<(String, usize)> {
    if data.len() < 8 {
        return None;
    }
    let [name, kind, space] = [2, 4, 6].map(|at| usize::from(short_at(data, at)));
    let text = data.get(8..8 + name.checked_sub(1)?)?;
    let kind_at = 8 + name.next_multiple_of(8);
    let is_integer = Type::decoded(data.get(kind_at..)?) == Some(Type::I64);
    let value_at = kind_at + kind.next_multiple_of(8) + space.next_multiple_of(8);
    let whole = space == 8 && data.len() >= value_at + 8;
    (is_integer && whole).then(|| (String::from_utf8_lossy(text).into_owned(), value_at))
}

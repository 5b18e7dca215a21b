//! The parts of an HDF5 file as bytes: superblock, messages of object headers, nodes of B-trees, heaps of strings.

use super::ENTRIES;

/// An address that refers to nothing.
pub(super) const UNDEFINED: u64 = u64::MAX;

/// Types of object header messages.
pub(super) mod message {
    pub const DATASPACE: u16 = 0x1;
    pub const LINK_INFO: u16 = 0x2;
    pub const DATATYPE: u16 = 0x3;
    pub const FILL_VALUE: u16 = 0x5;
    pub const LINK: u16 = 0x6;
    pub const LAYOUT: u16 = 0x8;
    pub const GROUP_INFO: u16 = 0xa;
    pub const FILTERS: u16 = 0xb;
    pub const ATTRIBUTE: u16 = 0xc;
    pub const CONTINUATION: u16 = 0x10;
}

/// Type of the elements of an array; all little-endian.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    U8,
    U32,
    I32,
    I64,
    F32,
    F64,
    /// A string of any length: a reference to a heap.
    Text,
}

impl Type {
    /// Size of an element [bytes].
    pub fn size(self) -> usize {
        match self {
            Type::U8 => 1,
            Type::U32 | Type::I32 | Type::F32 => 4,
            Type::I64 | Type::F64 => 8,
            Type::Text => 16,
        }
    }

    /// The datatype message.
    pub(super) fn encoded(self) -> Vec<u8> {
        let size = self.size() as u32;
        let integer = |signed: u8, size: u32| {
            let mut out = vec![0x10, signed << 3, 0, 0];
            out.extend(size.to_le_bytes());
            out.extend([0, 0, 8 * size as u8, 0]);
            out
        };
        // Sign position, bits and positions of exponent and mantissa, bias of the exponent.
        let real = |sign: u8, bits: [u8; 5], bias: u32| {
            let mut out = vec![0x11, 0x20, sign, 0];
            out.extend(size.to_le_bytes());
            out.extend([0, 0, bits[0], 0, bits[1], bits[2], bits[3], bits[4]]);
            out.extend(bias.to_le_bytes());
            out
        };
        match self {
            Type::U8 | Type::U32 => integer(0, size),
            Type::I32 | Type::I64 => integer(1, size),
            Type::F32 => real(31, [32, 23, 8, 0, 23], 127),
            Type::F64 => real(63, [64, 52, 11, 0, 52], 1023),
            Type::Text => {
                let mut out = vec![0x19, 1, 0, 0];
                out.extend(size.to_le_bytes());
                out.extend(integer(0, 1));
                out
            }
        }
    }

    /// The type of an encoded message, if it is one of ours.
    pub(super) fn decoded(bytes: &[u8]) -> Option<Type> {
        let all = [Type::U8, Type::U32, Type::I32, Type::I64, Type::F32, Type::F64, Type::Text];
        all.into_iter().find(|kind| bytes.starts_with(&kind.encoded()))
    }
}

/// Appends zeros up to a multiple of 8 bytes.
pub(super) fn pad(out: &mut Vec<u8>) {
    out.resize(out.len().next_multiple_of(8), 0);
}

/// A message with its prefix.
pub(super) fn framed(kind: u16, mut data: Vec<u8>) -> Vec<u8> {
    pad(&mut data);
    let mut out = kind.to_le_bytes().to_vec();
    out.extend((data.len() as u16).to_le_bytes());
    out.extend([0; 4]);
    out.extend(data);
    out
}

/// An object header with a number of links to it: `first` messages in it, and some in another place, if any: their address,
/// length and number.
pub(super) fn header(
    links: u32,
    first: &[Vec<u8>],
    elsewhere: Option<(u64, usize, usize)>,
) -> Vec<u8> {
    let mut messages = first.to_vec();
    let mut n_messages = messages.len();
    if let Some((address, length, number)) = elsewhere {
        let mut data = address.to_le_bytes().to_vec();
        data.extend((length as u64).to_le_bytes());
        messages.push(framed(message::CONTINUATION, data));
        n_messages += 1 + number;
    }
    let length: usize = messages.iter().map(Vec::len).sum();
    let mut out = vec![1, 0];
    out.extend((n_messages as u16).to_le_bytes());
    out.extend(links.to_le_bytes());
    out.extend((length as u32).to_le_bytes());
    out.extend([0; 4]);
    out.extend(messages.concat());
    out
}

/// Dimensions of an array that can grow; a width of 0 is an array of rank 1.
pub(super) fn dataspace(rows: u64, width: usize) -> Vec<u8> {
    let rank = if width == 0 { 1 } else { 2 };
    let mut out = vec![1, rank, 1, 0, 0, 0, 0, 0];
    let dimensions = |rows: u64| [rows, width as u64].into_iter().take(rank.into());
    for size in dimensions(rows).chain(dimensions(UNDEFINED)) {
        out.extend(size.to_le_bytes());
    }
    framed(message::DATASPACE, out)
}

pub(super) fn fill_value() -> Vec<u8> {
    // Version 2, space allocated as needed, written if set; the default value 0.
    framed(message::FILL_VALUE, vec![2, 3, 2, 1, 0, 0, 0, 0])
}

/// Chunks of a number of rows, below a B-tree.
pub(super) fn layout(kind: Type, width: usize, rows: u32, tree: u64) -> Vec<u8> {
    let mut out = vec![3, 2, if width == 0 { 2 } else { 3 }];
    out.extend(tree.to_le_bytes());
    out.extend(rows.to_le_bytes());
    if width > 0 {
        out.extend((width as u32).to_le_bytes());
    }
    out.extend((kind.size() as u32).to_le_bytes());
    framed(message::LAYOUT, out)
}

/// Shuffle, then deflate.
pub(super) fn filters(kind: Type) -> Vec<u8> {
    let mut out = vec![1, 2, 0, 0, 0, 0, 0, 0];
    for (filter, parameter) in [(2u16, kind.size() as u32), (1, 1)] {
        out.extend(filter.to_le_bytes());
        // No name, not optional, one parameter and its padding.
        out.extend([0, 0, 0, 0, 1, 0]);
        out.extend(parameter.to_le_bytes());
        out.extend([0; 4]);
    }
    framed(message::FILTERS, out)
}

/// An attribute: numbers, or a single string.
pub(super) fn attribute(name: &str, kind: &[u8], values: Option<u64>, data: &[u8]) -> Vec<u8> {
    let mut space = vec![1, u8::from(values.is_some()), 0, 0, 0, 0, 0, 0];
    if let Some(n) = values {
        space.extend(n.to_le_bytes());
    }
    let mut out = vec![1, 0];
    for length in [name.len() + 1, kind.len(), space.len()] {
        out.extend((length as u16).to_le_bytes());
    }
    out.extend(name.as_bytes());
    out.push(0);
    pad(&mut out);
    out.extend(kind);
    pad(&mut out);
    out.extend(space);
    out.extend(data);
    framed(message::ATTRIBUTE, out)
}

/// The datatype message of a string of fixed length.
pub(super) fn string_type(length: usize) -> Vec<u8> {
    let mut out = vec![0x13, 0, 0, 0];
    out.extend((length as u32).to_le_bytes());
    out
}

/// Links in compact form, in the order of their creation, as VTK needs it.
pub(super) fn group_messages(n_links: usize) -> Vec<Vec<u8>> {
    let mut info = vec![0, 1];
    info.extend((n_links as u64).to_le_bytes());
    info.extend([0xff; 16]);
    vec![framed(message::LINK_INFO, info), framed(message::GROUP_INFO, vec![0, 0])]
}

/// Where a link leads.
pub(super) enum To<'a> {
    Address(u64),
    Path(&'a str),
}

pub(super) fn link(name: &str, number: usize, to: To) -> Vec<u8> {
    let soft = matches!(to, To::Path(_));
    // The order of creation, the kind of link and the character set (UTF-8) are present.
    let mut out = vec![1, 0x1c, u8::from(soft)];
    out.extend((number as u64).to_le_bytes());
    out.extend([1, name.len() as u8]);
    out.extend(name.as_bytes());
    match to {
        To::Address(address) => out.extend(address.to_le_bytes()),
        To::Path(path) => {
            out.extend((path.len() as u16).to_le_bytes());
            out.extend(path.as_bytes());
        }
    }
    framed(message::LINK, out)
}

/// The superblock for a file of `end` bytes.
pub(super) fn superblock(root: u64, end: u64) -> Vec<u8> {
    let mut out = b"\x89HDF\r\n\x1a\n".to_vec();
    out.extend([0, 0, 0, 0, 0, 8, 8, 0]);
    out.extend([4, 0, 16, 0, 0, 0, 0, 0]);
    for address in [0, UNDEFINED, end, UNDEFINED, 0, root] {
        out.extend(address.to_le_bytes());
    }
    out.extend([0; 24]);
    out
}

/// Length of a key of a B-tree for arrays of a width [bytes].
pub(super) fn key_length(width: usize) -> usize {
    if width == 0 { 24 } else { 32 }
}

/// Length of a node of a B-tree [bytes].
pub(super) fn node_length(width: usize) -> usize {
    24 + ENTRIES * 8 + (ENTRIES + 1) * key_length(width)
}

/// Position of an entry (key and child) in a node.
pub(super) fn entry_at(width: usize, entry: usize) -> usize {
    24 + entry * (key_length(width) + 8)
}

/// The key of a chunk: its stored size [bytes] and its first row.
pub(super) fn key(width: usize, size: u32, row: u64) -> Vec<u8> {
    let mut out = size.to_le_bytes().to_vec();
    out.extend([0; 4]);
    out.extend(row.to_le_bytes());
    out.resize(key_length(width), 0);
    out
}

/// An entry of a node, followed by a key that is larger than that of any chunk.
pub(super) fn entry(width: usize, rows: u32, size: u32, row: u64, child: u64) -> Vec<u8> {
    let mut out = key(width, size, row);
    out.extend(child.to_le_bytes());
    out.extend(key(width, 0, u64::from(rows) << 30));
    out
}

/// A node of a B-tree with its first entries.
pub(super) fn node(width: usize, level: u8, left: u64, entries: &[Vec<u8>]) -> Vec<u8> {
    let mut out = b"TREE".to_vec();
    out.extend([1, level]);
    out.extend((entries.len() as u16).to_le_bytes());
    out.extend(left.to_le_bytes());
    out.extend(UNDEFINED.to_le_bytes());
    for (k, entry) in entries.iter().enumerate() {
        out.truncate(entry_at(width, k));
        out.extend(entry);
    }
    out.resize(node_length(width), 0);
    out
}

/// A heap of strings; objects are numbered from 1.
pub(super) fn heap(texts: &[&str]) -> Vec<u8> {
    let mut objects = Vec::new();
    for (k, text) in texts.iter().enumerate() {
        objects.extend((k as u16 + 1).to_le_bytes());
        objects.extend([1, 0, 0, 0, 0, 0]);
        objects.extend((text.len() as u64).to_le_bytes());
        objects.extend(text.as_bytes());
        pad(&mut objects);
    }
    // libhdf5 expects at least 4096 bytes; the rest is a free object.
    let length = (16 + objects.len() + 16).max(4096);
    let free = length - 16 - objects.len();
    let mut out = b"GCOL\x01\0\0\0".to_vec();
    out.extend((length as u64).to_le_bytes());
    out.extend(objects);
    out.extend([0; 8]);
    out.extend((free as u64).to_le_bytes());
    out.resize(length, 0);
    out
}

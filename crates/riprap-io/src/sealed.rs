//! Sealed files: what a program keeps for itself, in postcard between a header and a checksum. Numbers keep their bits.
//! Whatever a file holds, the reader answers with the value or an error that names the file.
//!
//! ```text
//! 8 bytes  which kind of file
//! u32      version of its layout, little-endian like all that follows
//! u32      version of the numbers, riprap::NUMERICS
//! u64      length of the content [bytes]
//! …        the content, postcard
//! u32      CRC-32 of everything before
//! ```
//!
//! Nothing is compressed: what fills these files are the last digits of floating-point numbers. A checkpoint of 300 falling stones
//! has 48 kB; zstd would leave three fifths of it, and bring a library along.

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::atomic;
use crate::error::{Error, Place};
use crate::regular::read_limited;

const HEADER: usize = 24;
const CHECKSUM: usize = 4;
/// Largest file that is read [bytes].
const MAX_BYTES: u64 = 1 << 34;

/// A kind of sealed file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// The first bytes.
    pub magic: [u8; 8],
    /// Version of the layout; raised whenever the content changes its form.
    pub layout: u32,
    /// What it is called, such as `checkpoint`.
    pub name: &'static str,
    /// What to do about one that cannot be read.
    pub advice: &'static str,
}

/// Writes a value, whole or not at all, and waits until it is on the disk.
pub(crate) fn write(path: &Path, kind: &Kind, value: &impl Serialize) -> Result<(), Error> {
    let bytes = bytes(path, kind, value)?;
    atomic::write_durable(path, |out| out.write_all(&bytes))
}

/// The bytes of the file `path` that holds a value.
pub(crate) fn bytes(path: &Path, kind: &Kind, value: &impl Serialize) -> Result<Vec<u8>, Error> {
    let data = |message: String| Error::Data { path: path.to_owned(), message };
    let mut bytes = Vec::with_capacity(1 << 16);
    bytes.extend_from_slice(&kind.magic);
    bytes.extend_from_slice(&kind.layout.to_le_bytes());
    bytes.extend_from_slice(&riprap::NUMERICS.to_le_bytes());
    bytes.extend_from_slice(&[0; 8]);
    let mut bytes = postcard::to_extend(value, bytes).map_err(|e| data(e.to_string()))?;
    let length = (bytes.len() - HEADER) as u64;
    bytes[16..HEADER].copy_from_slice(&length.to_le_bytes());
    let sum = checksum(&bytes);
    bytes.extend_from_slice(&sum.to_le_bytes());
    Ok(bytes)
}

/// Reads a value.
pub(crate) fn read<T: DeserializeOwned>(path: &Path, kind: &Kind) -> Result<T, Error> {
    read_with_hash(path, kind).map(|(value, _)| value)
}

/// Reads a value, and tells the SHA-256 of the file.
pub(crate) fn read_with_hash<T: DeserializeOwned>(
    path: &Path,
    kind: &Kind,
) -> Result<(T, String), Error> {
    let bytes = read_limited(path, MAX_BYTES)?;
    let value = parse(&bytes, kind).map_err(|message| {
        Error::format(path, Place::Whole, format!("{message}; {}", kind.advice))
    })?;
    Ok((value, sha256(&bytes)))
}

/// SHA-256 in hexadecimal digits. The checksum in a file finds accidents; this, kept elsewhere, finds changes made on purpose.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn parse<T: DeserializeOwned>(bytes: &[u8], kind: &Kind) -> Result<T, String> {
    let name = kind.name;
    if bytes.get(..8) != Some(&kind.magic[..]) {
        return Err(format!("this is no {name} of riprap"));
    }
    let Some(header) = bytes.get(8..HEADER) else {
        return Err(format!("the {name} ends in its header"));
    };
    let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|k| header[at + k]));
    let (layout, numerics) = (word(0), word(4));
    if layout != kind.layout {
        return Err(format!(
            "the {name} has layout {layout}, this riprap reads layout {}",
            kind.layout
        ));
    }
    if numerics != riprap::NUMERICS {
        return Err(format!(
            "the {name} was made with version {numerics} of the numbers, this riprap has version {}",
            riprap::NUMERICS
        ));
    }
    let length = u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|k| header[8 + k]));
    let rest = bytes.len() - HEADER;
    if length.checked_add(CHECKSUM as u64) != Some(rest as u64) {
        return Err(format!("the {name} is cut off, or something was added to it"));
    }
    let (sealed, sum) = bytes.split_at(bytes.len() - CHECKSUM);
    if sum != checksum(sealed).to_le_bytes() {
        return Err(format!("the {name} is damaged: its checksum does not fit"));
    }
    let content = postcard::take_from_bytes(&sealed[HEADER..]);
    match content {
        Ok((value, [])) => Ok(value),
        Ok(_) => Err(format!("the {name} holds more than it should")),
        Err(error) => Err(format!("the {name} cannot be read: {error}")),
    }
}

fn checksum(bytes: &[u8]) -> u32 {
    let mut crc = flate2::Crc::new();
    crc.update(bytes);
    crc.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: Kind = Kind { magic: *b"test\r\n\x1a\n", layout: 3, name: "note", advice: "try" };

    fn sealed(value: &impl Serialize) -> Vec<u8> {
        let path = std::env::temp_dir().join(format!(
            "riprap-sealed-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        write(&path, &KIND, value).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        bytes
    }

    #[test]
    fn every_bit_of_a_number_comes_back() {
        let bits = [0.1, -0.0, f64::MIN_POSITIVE / 3.0, f64::NAN, -f64::INFINITY, 1e300]
            .map(f64::to_bits)
            .to_vec();
        let numbers: Vec<f64> = bits.iter().map(|b| f64::from_bits(*b)).collect();
        let again: Vec<f64> = parse(&sealed(&numbers), &KIND).unwrap();
        assert_eq!(again.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), bits);
    }

    #[test]
    fn hashes_are_those_of_the_standard() {
        // FIPS 180-4, the message "abc".
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), known);
    }

    #[test]
    fn any_byte_changed_missing_or_added_is_noticed() {
        let good = sealed(&vec![1.0_f64, 2.0, 3.0]);
        for at in 0..good.len() {
            for flip in [1, 0x80, 0xff] {
                let mut bad = good.clone();
                bad[at] ^= flip;
                assert!(parse::<Vec<f64>>(&bad, &KIND).is_err(), "byte {at}");
            }
            assert!(parse::<Vec<f64>>(&good[..at], &KIND).is_err(), "first {at} bytes");
        }
        assert!(parse::<Vec<f64>>(&[&good[..], &[0]].concat(), &KIND).is_err());
    }

    #[test]
    fn a_good_seal_around_something_else_is_an_error() {
        // A list that claims to be longer than memory, and text that is none.
        for content in [vec![0xff_u8; 9], vec![200], vec![]] {
            let raw: Vec<u8> = content;
            let bytes = sealed(&raw);
            assert!(parse::<Vec<String>>(&bytes, &KIND).is_err() || raw.is_empty());
            assert!(parse::<(u64, Vec<[f64; 3]>, String)>(&bytes, &KIND).is_err());
        }
        let message = parse::<u8>(b"solid stone", &KIND).unwrap_err();
        assert!(message.contains("no note of riprap"), "{message}");
    }
}

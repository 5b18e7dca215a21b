//! Sealed files: internal data of the program in postcard format, between a header and a checksum. Numbers are stored exactly.
//! For any content of a file, the reader returns the value or an error that names the file.
//!
//! ```text
//! 8 bytes  kind of file
//! u32      version of its layout, little-endian like everything that follows
//! u32      numerics version, riprap::NUMERICS
//! u64      length of the content [bytes]
//! …        the content, postcard
//! u32      CRC-32 of everything above
//! ```
//!
//! Nothing is compressed: these files consist mostly of the trailing digits of floating-point numbers. A checkpoint of 300 falling
//! stones has 48 kB; zstd would reduce it to three fifths, at the cost of another dependency.

use std::io::Write;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::atomic;
use crate::error::{Error, Place};
use crate::regular::read_limited;

const HEADER: usize = 24;
const CHECKSUM: usize = 4;
/// Maximum file size [bytes].
const MAX_BYTES: u64 = 1 << 34;

/// A kind of sealed file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// The first bytes.
    pub magic: [u8; 8],
    /// Version of the layout; increased whenever the format of the content changes.
    pub layout: u32,
    /// Its name in messages, such as `checkpoint`.
    pub name: &'static str,
    /// Advice for a file that cannot be read.
    pub advice: &'static str,
}

/// Writes a value atomically and syncs it to disk.
pub(crate) fn write(path: &Path, kind: &Kind, value: &impl Serialize) -> Result<(), Error> {
    let bytes = bytes(path, kind, value)?;
    atomic::write_durable(path, |out| out.write_all(&bytes))
}

/// The bytes of a file `path` that contains a value.
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

/// Reads a value and returns it with the SHA-256 of the file.
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

/// SHA-256 in hexadecimal digits. The checksum in a file detects accidental damage; this hash, stored elsewhere, detects deliberate changes.
pub fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

fn parse<T: DeserializeOwned>(bytes: &[u8], kind: &Kind) -> Result<T, String> {
    let name = kind.name;
    if bytes.get(..8) != Some(&kind.magic[..]) {
        return Err(format!("this is not a riprap {name}"));
    }
    let Some(header) = bytes.get(8..HEADER) else {
        return Err(format!("the {name} is truncated in its header"));
    };
    let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|k| header[at + k]));
    let (layout, numerics) = (word(0), word(4));
    if layout != kind.layout {
        return Err(format!(
            "the {name} has layout {layout}, but this version of riprap reads layout {}",
            kind.layout
        ));
    }
    if numerics != riprap::NUMERICS {
        return Err(format!(
            "the {name} was written with numerics version {numerics}, but this version of riprap has numerics version {}",
            riprap::NUMERICS
        ));
    }
    let length = u64::from_le_bytes([0, 1, 2, 3, 4, 5, 6, 7].map(|k| header[8 + k]));
    let rest = bytes.len() - HEADER;
    if length.checked_add(CHECKSUM as u64) != Some(rest as u64) {
        return Err(format!("the {name} is truncated or has trailing data"));
    }
    let (sealed, sum) = bytes.split_at(bytes.len() - CHECKSUM);
    if sum != checksum(sealed).to_le_bytes() {
        return Err(format!("the {name} is damaged: the checksum does not match"));
    }
    let content = postcard::take_from_bytes(&sealed[HEADER..]);
    match content {
        Ok((value, [])) => Ok(value),
        Ok(_) => Err(format!("the {name} has trailing content")),
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
    fn numbers_are_read_back_bitwise_identical() {
        let bits = [0.1, -0.0, f64::MIN_POSITIVE / 3.0, f64::NAN, -f64::INFINITY, 1e300]
            .map(f64::to_bits)
            .to_vec();
        let numbers: Vec<f64> = bits.iter().map(|b| f64::from_bits(*b)).collect();
        let again: Vec<f64> = parse(&sealed(&numbers), &KIND).unwrap();
        assert_eq!(again.iter().map(|x| x.to_bits()).collect::<Vec<_>>(), bits);
    }

    #[test]
    fn hashes_agree_with_the_standard() {
        // FIPS 180-4, the message "abc".
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sha256(b"abc"), known);
    }

    #[test]
    fn any_changed_missing_or_added_byte_is_detected() {
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
    fn a_valid_seal_around_other_content_is_an_error() {
        // A list that claims to be larger than memory, and invalid text.
        for content in [vec![0xff_u8; 9], vec![200], vec![]] {
            let raw: Vec<u8> = content;
            let bytes = sealed(&raw);
            assert!(parse::<Vec<String>>(&bytes, &KIND).is_err() || raw.is_empty());
            assert!(parse::<(u64, Vec<[f64; 3]>, String)>(&bytes, &KIND).is_err());
        }
        let message = parse::<u8>(b"solid stone", &KIND).unwrap_err();
        assert!(message.contains("not a riprap note"), "{message}");
    }
}

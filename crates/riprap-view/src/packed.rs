//! The binary answers of the server: named arrays of numbers behind a JSON header.
//!
//! `RRB1`, the length of the header (u32), the header, zeros up to a multiple of 8, the arrays; little-endian. The header contains, under
//! `arrays`, the type, the shape and the offset of each array, and other keys.

use serde_json::{Map, Value, json};

/// The first bytes.
const MAGIC: &[u8; 4] = b"RRB1";

/// A number that arrays contain.
pub trait Element: Copy {
    /// Name of the type in the header.
    const TYPE: &'static str;
    /// Appends the bytes of the number.
    fn put(self, data: &mut Vec<u8>);
}

macro_rules! element {
    ($($type:ty),*) => {$(
        impl Element for $type {
            const TYPE: &'static str = stringify!($type);
            fn put(self, data: &mut Vec<u8>) {
                data.extend_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}
element!(f32, f64, u8, u32);

/// Arrays that are being packed.
#[derive(Default)]
pub struct Packed {
    header: Map<String, Value>,
    arrays: Map<String, Value>,
    data: Vec<u8>,
}

impl Packed {
    /// Sets a key of the header.
    pub fn set(&mut self, key: &str, value: impl serde::Serialize) {
        // Only maps with keys other than strings fail.
        self.header.insert(key.into(), serde_json::to_value(value).unwrap_or_default());
    }

    /// Adds a list of numbers.
    pub fn list<T: Element>(&mut self, name: &str, values: impl IntoIterator<Item = T>) {
        let values = values.into_iter().map(|value| [value]);
        let (offset, rows) = self.append(values);
        self.describe::<T>(name, json!([rows]), offset);
    }

    /// Adds a table of numbers, one row after the other.
    pub fn table<T: Element, const N: usize>(
        &mut self,
        name: &str,
        rows: impl IntoIterator<Item = [T; N]>,
    ) {
        let (offset, rows) = self.append(rows);
        self.describe::<T>(name, json!([rows, N]), offset);
    }

    fn append<T: Element, const N: usize>(
        &mut self,
        rows: impl IntoIterator<Item = [T; N]>,
    ) -> (usize, usize) {
        self.data.resize(self.data.len().next_multiple_of(8), 0);
        let (offset, mut count) = (self.data.len(), 0);
        for row in rows {
            row.into_iter().for_each(|value| value.put(&mut self.data));
            count += 1;
        }
        (offset, count)
    }

    fn describe<T: Element>(&mut self, name: &str, shape: Value, offset: usize) {
        let array = json!({ "type": T::TYPE, "shape": shape, "offset": offset });
        self.arrays.insert(name.into(), array);
    }

    /// The bytes.
    pub fn finish(mut self) -> Vec<u8> {
        self.header.insert("arrays".into(), self.arrays.into());
        let header = Value::from(self.header).to_string();
        let mut bytes = Vec::with_capacity(16 + header.len() + self.data.len());
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&(header.len() as u32).to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(8), 0);
        bytes.extend_from_slice(&self.data);
        bytes
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An answer that is read as the viewer reads it.
    pub(crate) struct Unpacked {
        pub header: Value,
        data: Vec<u8>,
    }

    /// Reads an answer; panics unless all arrays are within the data and aligned.
    pub(crate) fn read(bytes: &[u8]) -> Unpacked {
        assert_eq!(&bytes[..4], MAGIC);
        let length = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
        let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        let data = bytes[(8 + length).next_multiple_of(8)..].to_vec();
        Unpacked { header, data }
    }

    impl Unpacked {
        fn numbers<const N: usize>(&self, name: &str, kind: &str) -> Vec<[u8; N]> {
            let array = &self.header["arrays"][name];
            assert_eq!(array["type"], kind, "{name}");
            let shape = array["shape"].as_array().unwrap().iter();
            let count: u64 = shape.map(|n| n.as_u64().unwrap()).product();
            let offset = array["offset"].as_u64().unwrap() as usize;
            assert_eq!(offset % 8, 0, "{name}");
            let data = &self.data[offset..offset + count as usize * N];
            data.chunks_exact(N).map(|bytes| bytes.try_into().unwrap()).collect()
        }

        pub(crate) fn u8(&self, name: &str) -> Vec<u8> {
            self.numbers::<1>(name, "u8").into_iter().map(|b| b[0]).collect()
        }

        pub(crate) fn u32(&self, name: &str) -> Vec<u32> {
            self.numbers(name, "u32").into_iter().map(u32::from_le_bytes).collect()
        }

        pub(crate) fn f32(&self, name: &str) -> Vec<f32> {
            self.numbers(name, "f32").into_iter().map(f32::from_le_bytes).collect()
        }

        pub(crate) fn f64(&self, name: &str) -> Vec<f64> {
            self.numbers(name, "f64").into_iter().map(f64::from_le_bytes).collect()
        }
    }

    #[test]
    fn arrays_start_at_multiples_of_eight_behind_their_header() {
        let mut packed = Packed::default();
        packed.set("time", 0.5);
        packed.list("kind", [1_u8, 2, 3]);
        packed.table("point", [[1.0_f32, 2.0], [3.0, 4.0]]);
        let bytes = packed.finish();
        assert_eq!(&bytes[..4], MAGIC);
        let length = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
        let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
        assert_eq!(header["time"], 0.5);
        assert_eq!(header["arrays"]["kind"], json!({ "type": "u8", "shape": [3], "offset": 0 }));
        let point = &header["arrays"]["point"];
        assert_eq!(*point, json!({ "type": "f32", "shape": [2, 2], "offset": 8 }));
        let data = &bytes[(8 + length).next_multiple_of(8)..];
        assert_eq!((&data[..3], data.len()), (&[1_u8, 2, 3][..], 24));
        assert_eq!(data[20..24], 4.0_f32.to_le_bytes());
    }
}

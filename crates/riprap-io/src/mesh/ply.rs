//! PLY: a header that describes the content, then vertices and polygons as text or in binary with
//! either byte order. Other elements and properties (colours, normals, scan confidence) are
//! skipped.

use super::{Mesh, Place, Welder};

/// Encoding of the numbers.
#[derive(Clone, Copy, PartialEq)]
enum Encoding {
    Text,
    Little,
    Big,
}

/// Type of a number.
#[derive(Clone, Copy)]
enum Number {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

impl Number {
    fn named(name: &str) -> Option<Number> {
        Some(match name {
            "char" | "int8" => Number::I8,
            "uchar" | "uint8" => Number::U8,
            "short" | "int16" => Number::I16,
            "ushort" | "uint16" => Number::U16,
            "int" | "int32" => Number::I32,
            "uint" | "uint32" => Number::U32,
            "float" | "float32" => Number::F32,
            "double" | "float64" => Number::F64,
            _ => return None,
        })
    }
}

struct Property {
    name: String,
    number: Number,
    /// Type of its length, if it is a list.
    length: Option<Number>,
}

struct Element {
    name: String,
    count: u64,
    properties: Vec<Property>,
}

/// Maximum length of the header [bytes].
const MAX_HEADER: usize = 1 << 16;

pub(super) fn parse(content: &[u8]) -> Result<Mesh, (Place, String)> {
    let (encoding, elements, begin, lines) = header(content)?;
    let mut reader = Reader { content, at: begin, line: lines + 1, encoding };
    let mut welder = Welder::default();
    let mut vertices: Vec<u32> = Vec::new(); // file index to welded index
    let mut corners: Vec<u64> = Vec::new();
    for element in &elements {
        let axes = ["x", "y", "z"].map(|axis| {
            element.properties.iter().position(|p| p.name == axis && p.length.is_none())
        });
        let polygon = element.properties.iter().position(|p| {
            p.length.is_some() && matches!(p.name.as_str(), "vertex_indices" | "vertex_index")
        });
        let is_vertex = element.name == "vertex";
        if is_vertex && axes.contains(&None) {
            return Err((Place::Whole, "the vertices lack x, y or z".into()));
        }
        for _ in 0..element.count {
            let place = reader.place();
            let mut point = [0.0; 3];
            corners.clear();
            for (k, property) in element.properties.iter().enumerate() {
                let wanted = element.name == "face" && polygon == Some(k);
                match property.length {
                    None => {
                        let value = reader.number(property.number)?;
                        if let Some(axis) = axes.iter().position(|axis| *axis == Some(k)) {
                            point[axis] = value;
                        }
                    }
                    Some(length) => {
                        for _ in 0..reader.index(length)? {
                            match wanted {
                                true => corners.push(reader.index(property.number)?),
                                false => drop(reader.number(property.number)?),
                            }
                        }
                    }
                }
            }
            if is_vertex {
                vertices.push(welder.vertex(point).map_err(|message| (place, message))?);
            }
            if corners.len() >= 3 {
                let corner = |k: usize| {
                    let index = usize::try_from(corners[k]).ok();
                    index.and_then(|index| vertices.get(index)).copied().ok_or_else(|| {
                        let n = vertices.len();
                        (place, format!("vertex {} does not exist: there are {n}", corners[k]))
                    })
                };
                for last in 2..corners.len() {
                    welder.triangle([corner(0)?, corner(last - 1)?, corner(last)?]);
                }
            }
        }
    }
    welder.finish()
}

/// Content of the header, where it ends, and its number of lines.
type Header = (Encoding, Vec<Element>, usize, usize);

fn header(content: &[u8]) -> Result<Header, (Place, String)> {
    let mut encoding = None;
    let mut elements: Vec<Element> = Vec::new();
    let mut at = 0;
    for number in 1.. {
        let place = Place::Line(number);
        let rest = &content[at..content.len().min(MAX_HEADER)];
        let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
            return Err((place, "the header of the PLY file does not end".into()));
        };
        let line = std::str::from_utf8(&rest[..end])
            .map_err(|_| (place, "the header of the PLY file is not text".to_owned()))?;
        at += end + 1;
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let wrong = |message: &str| Err((place, message.to_owned()));
        match (number, &words[..]) {
            (1, ["ply"]) => {}
            (1, _) => return wrong("this is not a PLY file: it does not start with `ply`"),
            (_, ["format", name, "1.0"]) => {
                encoding = Some(match *name {
                    "ascii" => Encoding::Text,
                    "binary_little_endian" => Encoding::Little,
                    "binary_big_endian" => Encoding::Big,
                    _ => return wrong("this is not a PLY format"),
                });
            }
            (_, ["comment" | "obj_info", ..] | []) => {}
            (_, ["element", name, count]) => {
                let Ok(count) = count.parse() else {
                    return wrong("the number of elements is not a number");
                };
                elements.push(Element { name: (*name).into(), count, properties: Vec::new() });
            }
            (_, ["property", kind @ .., name]) => {
                let Some(element) = elements.last_mut() else {
                    return wrong("a property without an element");
                };
                let known = match kind {
                    ["list", length, number] => {
                        Number::named(number).zip(Number::named(length).map(Some))
                    }
                    [number] => Number::named(number).zip(Some(None)),
                    _ => None,
                };
                let Some((number, length)) = known else {
                    return wrong("the type of this property is not a PLY type");
                };
                element.properties.push(Property { name: (*name).into(), number, length });
            }
            (_, ["end_header"]) => {
                let Some(encoding) = encoding else {
                    return wrong("the header has no `format` line");
                };
                // Elements without properties contain no data: they are skipped, however many there
                // are.
                elements.retain(|element| !element.properties.is_empty());
                return Ok((encoding, elements, at, number));
            }
            _ => return wrong("this line is not part of a PLY header"),
        }
    }
    Err((Place::Whole, "the header of the PLY file does not end".into()))
}

/// Reads numbers one by one.
struct Reader<'a> {
    content: &'a [u8],
    at: usize,
    line: usize,
    encoding: Encoding,
}

impl Reader<'_> {
    fn place(&self) -> Place {
        match self.encoding {
            Encoding::Text => Place::Line(self.line),
            _ => Place::Byte(self.at as u64),
        }
    }

    fn number(&mut self, number: Number) -> Result<f64, (Place, String)> {
        if self.encoding == Encoding::Text {
            let word = self.word()?;
            let value = std::str::from_utf8(word).ok().and_then(|word| word.parse::<f64>().ok());
            return value.ok_or_else(|| (self.place(), "a number is expected here".to_owned()));
        }
        Ok(match number {
            Number::I8 => f64::from(i8::from_le_bytes(self.bytes()?)),
            Number::U8 => f64::from(u8::from_le_bytes(self.bytes()?)),
            Number::I16 => f64::from(i16::from_le_bytes(self.bytes()?)),
            Number::U16 => f64::from(u16::from_le_bytes(self.bytes()?)),
            Number::I32 => f64::from(i32::from_le_bytes(self.bytes()?)),
            Number::U32 => f64::from(u32::from_le_bytes(self.bytes()?)),
            Number::F32 => f64::from(f32::from_le_bytes(self.bytes()?)),
            Number::F64 => f64::from_le_bytes(self.bytes()?),
        })
    }

    /// An index or a length.
    fn index(&mut self, number: Number) -> Result<u64, (Place, String)> {
        let place = self.place();
        let value = self.number(number)?;
        match value >= 0.0 && value <= f64::from(u32::MAX) && value.fract() == 0.0 {
            true => Ok(value as u64),
            false => Err((place, format!("{value} is not an index or a length"))),
        }
    }

    /// The next bytes, in little-endian order.
    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], (Place, String)> {
        let bytes =
            self.content.get(self.at..self.at + N).and_then(|b| <[u8; N]>::try_from(b).ok());
        let Some(mut bytes) = bytes else {
            return Err((self.place(), "the file ends before its last element".into()));
        };
        self.at += N;
        if self.encoding == Encoding::Big {
            bytes.reverse();
        }
        Ok(bytes)
    }

    /// The next word of a text file.
    fn word(&mut self) -> Result<&[u8], (Place, String)> {
        while let Some(byte) = self.content.get(self.at)
            && byte.is_ascii_whitespace()
        {
            self.line += usize::from(*byte == b'\n');
            self.at += 1;
        }
        let begin = self.at;
        while self.content.get(self.at).is_some_and(|byte| !byte.is_ascii_whitespace()) {
            self.at += 1;
        }
        match begin == self.at {
            true => Err((self.place(), "the file ends before its last element".into())),
            false => Ok(&self.content[begin..self.at]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "comment a scan\nelement vertex 4\nproperty float x\nproperty uchar red\nproperty double y\n\
                          property float z\nelement face 3\nproperty list uchar int vertex_indices\nelement edge 1\n\
                          property list ushort short ends\nend_header\n";
    /// Vertices with a colour between the coordinates, a quadrilateral and two triangles, and an
    /// unused edge.
    const TEXT: &str = "0 7 0 0\n1 7 0 0\n1 7 1 0\n0 7 0 1\n4 0 1 2 3\n3 0 1 3\n3 1 2 3\n2 0 1\n";

    fn text(body: &str) -> Vec<u8> {
        format!("ply\nformat ascii 1.0\n{HEADER}{body}").into_bytes()
    }

    fn binary(big: bool) -> Vec<u8> {
        let name = if big { "big" } else { "little" };
        let mut out = format!("ply\nformat binary_{name}_endian 1.0\n{HEADER}").into_bytes();
        let mut put = |mut bytes: Vec<u8>| {
            if big {
                bytes.reverse();
            }
            out.extend(bytes);
        };
        for [x, y, z] in [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0_f32, 0.0, 1.0]] {
            put(x.to_le_bytes().into());
            put(vec![7]);
            put(f64::from(y).to_le_bytes().into());
            put(z.to_le_bytes().into());
        }
        for face in [&[0_i32, 1, 2, 3][..], &[0, 1, 3], &[1, 2, 3]] {
            put(vec![face.len() as u8]);
            face.iter().for_each(|i| put(i.to_le_bytes().into()));
        }
        put(2_u16.to_le_bytes().into());
        [0_i16, 1].iter().for_each(|i| put(i.to_le_bytes().into()));
        out
    }

    fn message(content: &[u8]) -> String {
        let (place, message) = parse(content).unwrap_err();
        format!("file{place}: {message}")
    }

    #[test]
    fn text_and_both_byte_orders_give_the_same_mesh() {
        let mesh = parse(&text(TEXT)).unwrap();
        assert_eq!(mesh.vertices[2], [1.0, 1.0, 0.0]);
        assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3], [0, 1, 3], [1, 2, 3]]);
        assert_eq!(parse(&binary(false)).unwrap(), mesh);
        assert_eq!(parse(&binary(true)).unwrap(), mesh);
        let windows = String::from_utf8(text(TEXT)).unwrap().replace('\n', "\r\n");
        assert_eq!(parse(windows.as_bytes()).unwrap(), mesh);
    }

    #[test]
    fn text_keeps_full_precision_whatever_its_type_and_line_breaks_do_not_matter() {
        let mesh = parse(&text(&TEXT.replacen("1 7 0 0", "0.1\n7 0\n0", 1))).unwrap();
        assert_eq!(mesh.vertices[1], [0.1, 0.0, 0.0]);
    }

    #[test]
    fn broken_files_are_reported() {
        assert!(message(b"").contains("does not end"));
        assert!(message(b"solid stone\n").contains("line 1: this is not a PLY file"));
        assert!(message(b"ply\nformat ascii 2.0\n").contains("not part of a PLY header"));
        assert!(message(b"ply\nend_header\n").contains("no `format` line"));
        assert!(message(b"ply\nproperty float x\n").contains("without an element"));
        assert!(message(b"ply\nelement vertex many\n").contains("not a number"));
        assert!(message(b"ply\nelement a 1\nproperty quad x\n").contains("type of this property"));
        assert!(message(b"ply\nelement a 1\nproperty list int x\n").contains("type of this"));
        assert!(message(&text("0 7 0 0\n1 7 x 0\n")).contains("line 15: a number is expected"));
        assert!(message(&text("0 7 0 nan\n")).contains("line 14: a coordinate is not a finite"));
        assert!(message(&text("0 7 0 0\n")).contains("ends before its last"));
        assert!(message(&text(&TEXT.replace("3 0 1 3", "3 0 1 4"))).contains("vertex 4 does not"));
        assert!(
            message(&text(&TEXT.replace("3 0 1 3", "3 0 -1 3"))).contains("-1 is not an index")
        );
        let no_z = String::from_utf8(text(TEXT)).unwrap().replace("float z", "float depth");
        assert!(message(no_z.as_bytes()).contains("lack x, y or z"));
        let whole = binary(true);
        for end in 0..whole.len() {
            assert!(parse(&whole[..end]).is_err(), "the first {end} bytes");
        }
    }

    #[test]
    fn absurd_counts_neither_hang_nor_allocate() {
        let huge = "18446744073709551615";
        for encoding in ["ascii", "binary_little_endian"] {
            let content =
                format!("ply\nformat {encoding} 1.0\nelement nothing {huge}\nend_header\n");
            assert!(message(content.as_bytes()).contains("no triangles"));
            let content = format!(
                "ply\nformat {encoding} 1.0\nelement face {huge}\nproperty list uint int vertex_index\nend_header\n"
            );
            let filled = [content.as_bytes(), &[0xff; 40][..]].concat();
            assert!(parse(&filled).is_err());
        }
    }

    mod properties {
        use super::*;
        use proptest::prelude::*;

        proptest! {
            #[test]
            fn no_bytes_panic(content in prop::collection::vec(any::<u8>(), 0..300)) {
                let _ = parse(&content);
                for encoding in ["ascii", "binary_little_endian", "binary_big_endian"] {
                    let head = format!("ply\nformat {encoding} 1.0\n{HEADER}");
                    let _ = parse(&[head.as_bytes(), &content].concat());
                }
            }

            #[test]
            fn no_words_panic(words in prop::collection::vec(
                prop::sample::select(vec![
                    "ply\n", "format ascii 1.0\n", "element ", "vertex ", "face ", "2\n", "property ", "list ", "uchar ",
                    "int ", "x\n", "y\n", "z\n", "vertex_indices\n", "end_header\n", "0 ", "1 ", "-1 ", "1e300 ", "\n",
                ]), 0..60,
            )) {
                let _ = parse(words.concat().as_bytes());
                let _ = parse(format!("ply\nformat ascii 1.0\n{}", words.concat()).as_bytes());
            }
        }
    }
}

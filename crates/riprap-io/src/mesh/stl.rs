//! STL: a list of triangles with the coordinates of their corners, as text or in 50 bytes each.
//! Normals are ignored: they follow from the order of the corners.

use super::{Mesh, Place, Welder};

/// Bytes before the triangles of a binary file: an 80-byte comment and a 4-byte count.
const HEADER: usize = 84;
/// Bytes per triangle: a normal and three corners of three `f32` each, and 2 bytes of attributes.
const TRIANGLE: usize = 50;

pub(super) fn parse(content: &[u8]) -> Result<Mesh, (Place, String)> {
    // Binary files may start with `solid` as well, so the length is checked first.
    let announced = content.get(80..HEADER).map(|bytes| {
        let bytes: [u8; 4] = bytes.try_into().unwrap_or_default();
        u32::from_le_bytes(bytes) as usize
    });
    let room = content.len().saturating_sub(HEADER);
    let fits = announced.is_some_and(|n| n.checked_mul(TRIANGLE) == Some(room));
    if fits {
        return binary(&content[HEADER..]);
    }
    if content.trim_ascii_start().starts_with(b"solid") {
        return text(content);
    }
    let message = match announced {
        None => "this is not an STL file: it is too short".to_owned(),
        Some(n) => format!(
            "this is not an STL file: its header announces {n} triangles, but its length fits {}",
            room / TRIANGLE
        ),
    };
    Err((Place::Byte(content.len() as u64), message))
}

fn binary(triangles: &[u8]) -> Result<Mesh, (Place, String)> {
    let mut welder = Welder::default();
    for (number, bytes) in triangles.chunks_exact(TRIANGLE).enumerate() {
        let coordinate = |at: usize| {
            let bytes = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
            f64::from(f32::from_le_bytes(bytes))
        };
        let mut corners = [0; 3];
        for (corner, at) in corners.iter_mut().zip([12, 24, 36]) {
            let point = [coordinate(at), coordinate(at + 4), coordinate(at + 8)];
            let place = Place::Byte((HEADER + number * TRIANGLE + at) as u64);
            *corner = welder.vertex(point).map_err(|message| (place, message))?;
        }
        welder.triangle(corners);
    }
    welder.finish()
}

fn text(content: &[u8]) -> Result<Mesh, (Place, String)> {
    let mut welder = Welder::default();
    let mut corners: Vec<u32> = Vec::with_capacity(3);
    let mut inside = false;
    let mut last = 0;
    for (number, line) in content.split(|byte| *byte == b'\n').enumerate() {
        let place = Place::Line(number + 1);
        last = number + 1;
        let line = std::str::from_utf8(line)
            .map_err(|_| (place, "this is neither text nor a complete binary STL".to_owned()))?;
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("facet") => {
                if inside {
                    return Err((place, "a facet starts inside another".into()));
                }
                inside = true;
                corners.clear();
            }
            Some("vertex") => {
                if !inside || corners.len() == 3 {
                    return Err((
                        place,
                        "a vertex outside a facet; a facet has three vertices".into(),
                    ));
                }
                let mut point = [0.0; 3];
                for x in &mut point {
                    let word = words.next().and_then(|word| word.parse::<f64>().ok());
                    *x = word.ok_or((place, "a vertex needs three numbers".to_owned()))?;
                }
                corners.push(welder.vertex(point).map_err(|message| (place, message))?);
            }
            Some("endfacet") => {
                let corners: [u32; 3] = corners[..]
                    .try_into()
                    .map_err(|_| (place, "a facet ends before its third vertex".to_owned()))?;
                inside = false;
                welder.triangle(corners);
            }
            Some("solid" | "outer" | "endloop" | "endsolid") | None => {}
            Some(_) => return Err((place, "this line is not part of an STL file".into())),
        }
    }
    if inside {
        return Err((Place::Line(last), "the file ends inside a facet".into()));
    }
    welder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "solid stone\n facet normal 0 0 1\n  outer loop\n   vertex 0 0 0\n   vertex 1 0 0\n   \
                        vertex 0 1e0 0\n  endloop\n endfacet\nendsolid stone\n";

    fn binary_file(triangles: &[[[f32; 3]; 3]]) -> Vec<u8> {
        let mut file = b"solid but binary".to_vec();
        file.resize(80, 0);
        file.extend((triangles.len() as u32).to_le_bytes());
        for corners in triangles {
            file.extend([0; 12]);
            file.extend(corners.iter().flatten().flat_map(|x| x.to_le_bytes()));
            file.extend([0; 2]);
        }
        file
    }

    fn message(content: &[u8]) -> String {
        let (place, message) = parse(content).unwrap_err();
        format!("file{place}: {message}")
    }

    #[test]
    fn text_and_binary_give_the_same_mesh() {
        let binary = binary_file(&[[[0.0, 0.0, -0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]);
        let mesh = parse(TEXT.as_bytes()).unwrap();
        assert_eq!(mesh.triangles, [[0, 1, 2]]);
        assert_eq!(parse(&binary).unwrap(), mesh);
    }

    #[test]
    fn text_keeps_full_precision_and_binary_its_single_precision() {
        let (x, text) = (0.1_f64, TEXT.replace("vertex 1 0 0", "vertex 0.1 0 0"));
        assert_eq!(parse(text.as_bytes()).unwrap().vertices[1], [x, 0.0, 0.0]);
        let binary = binary_file(&[[[0.0; 3], [0.1, 0.0, 0.0], [0.0, 1.0, 0.0]]]);
        assert_eq!(parse(&binary).unwrap().vertices[1], [f64::from(0.1_f32), 0.0, 0.0]);
    }

    #[test]
    fn every_truncated_binary_file_is_refused() {
        let whole = binary_file(&[[[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]; 3]);
        for end in 0..whole.len() {
            assert!(parse(&whole[..end]).is_err(), "the first {end} bytes");
        }
        assert!(parse(&[&whole[..], &[0]].concat()).is_err());
    }

    #[test]
    fn shared_corners_are_welded() {
        let (a, b, c, d) = ([0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 1.0, 0.0]);
        let mesh = parse(&binary_file(&[[a, b, c], [b, d, c], [a, a, b]])).unwrap();
        assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (4, 2));
    }

    #[test]
    fn broken_files_are_reported() {
        assert!(message(b"").contains("too short"));
        assert!(message(b"hello").contains("too short"));
        let mut huge = vec![0; 84];
        huge[80..84].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(message(&huge).contains("announces 4294967295 triangles"));
        assert!(message(&binary_file(&[])).contains("no triangles"));
        let nan = binary_file(&[[[0.0; 3], [f32::NAN, 0.0, 0.0], [0.0, 1.0, 0.0]]]);
        assert_eq!(message(&nan), "file, byte 108: a coordinate is not a finite number");
        assert!(message(b"solid\nendsolid").contains("no triangles"));
        assert!(message(b"solid\nfacet\nvertex 1 2\n").contains("line 3"));
        assert!(message(b"solid\nfacet\nvertex 1 2 3\nendfacet").contains("line 4"));
        assert!(message(b"solid\nvertex 1 2 3\n").contains("outside a facet"));
        assert!(message(b"solid\nfacet\nfacet").contains("inside another"));
        assert!(message(b"solid\nfacet\nvertex 1 2 3").contains("ends inside a facet"));
        assert!(message(b"solid\nnonsense").contains("not part of"));
        assert!(message(b"solid\n\xff\xfe").contains("neither text nor"));
        assert!(message(b"solid\nfacet\nvertex 1 inf 3\n").contains("finite"));
    }

    mod properties {
        use super::*;
        use proptest::prelude::*;

        proptest! {
            #[test]
            fn no_bytes_panic(content in prop::collection::vec(any::<u8>(), 0..400)) {
                let _ = parse(&content);
            }

            #[test]
            fn no_words_panic(words in prop::collection::vec(
                prop::sample::select(vec!["solid ", "facet ", "vertex ", "1 ", "-2e9 ", "nan ", "endfacet", "\n"]), 0..60,
            )) {
                let text = format!("solid {}", words.concat());
                let _ = parse(text.as_bytes());
            }
        }
    }
}

//! OBJ: vertices (`v x y z`) and polygons given by vertex indices (`f 1 2 3`, `f 1/1/1 …`; negative
//! ones count from the end). Normals, textures, groups and materials are skipped.

use super::{Mesh, Place, Welder};

pub(super) fn parse(content: &[u8]) -> Result<Mesh, (Place, String)> {
    let mut welder = Welder::default();
    let mut vertices: Vec<u32> = Vec::new(); // file index to welded index
    let mut polygons: Vec<(usize, Vec<usize>)> = Vec::new();
    for (number, line) in content.split(|byte| *byte == b'\n').enumerate() {
        let place = Place::Line(number + 1);
        let line = std::str::from_utf8(line).map_err(|_| (place, "this is not text".to_owned()))?;
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("v") => {
                let mut point = [0.0; 3];
                for x in &mut point {
                    let word = words.next().and_then(|word| word.parse::<f64>().ok());
                    *x = word.ok_or((place, "a vertex needs three numbers".to_owned()))?;
                }
                vertices.push(welder.vertex(point).map_err(|message| (place, message))?);
            }
            Some("f") => {
                let corners: Option<Vec<usize>> =
                    words.map(|word| index(word, vertices.len())).collect();
                match corners {
                    Some(corners) if corners.len() >= 3 => polygons.push((number + 1, corners)),
                    Some(_) => return Err((place, "a face needs at least three vertices".into())),
                    None => return Err((place, "a face needs vertex indices from 1".into())),
                }
            }
            Some("vn" | "vt" | "vp" | "g" | "o" | "s" | "l" | "p" | "usemtl" | "mtllib") | None => {
            }
            Some(_) => return Err((place, "this line is not part of an OBJ file".into())),
        }
    }
    for (line, corners) in polygons {
        let corner = |at: usize| {
            vertices.get(corners[at]).copied().ok_or_else(|| {
                let message = format!(
                    "vertex {} does not exist: there are {}",
                    corners[at] + 1,
                    vertices.len()
                );
                (Place::Line(line), message)
            })
        };
        for last in 2..corners.len() {
            welder.triangle([corner(0)?, corner(last - 1)?, corner(last)?]);
        }
    }
    welder.finish()
}

/// The zero-based vertex index denoted by a word such as `7`, `7/1/3` or `-1`.
fn index(word: &str, n_vertices: usize) -> Option<usize> {
    let number: i64 = word.split('/').next()?.parse().ok()?;
    match number {
        0 => None,
        1.. => usize::try_from(number - 1).ok(),
        _ => n_vertices.checked_sub(usize::try_from(number.unsigned_abs()).ok()?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(content: &str) -> String {
        let (place, message) = parse(content.as_bytes()).unwrap_err();
        format!("file{place}: {message}")
    }

    #[test]
    fn polygons_become_fans_and_every_form_of_index_is_read() {
        let square = "# a square\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\n";
        let plain = parse(format!("{square}f 1 2 3 4").as_bytes()).unwrap();
        assert_eq!(plain.triangles, [[0, 1, 2], [0, 2, 3]]);
        for face in ["f 1/1/1 2//1 3/2 4", "f -4 -3 -2 -1", "f 1 2 3 4 # comment\r"] {
            assert_eq!(parse(format!("{square}{face}").as_bytes()).unwrap(), plain, "{face}");
        }
    }

    #[test]
    fn vertices_keep_the_order_of_the_file_and_objects_share_them() {
        // Used from the last to the first; one of them is unused.
        let mesh = parse(b"v 0.1 0 0\nv 5 5 5\nv 1 0 0\nv 0 1 0\nf 4 3 1\n").unwrap();
        assert_eq!(mesh.vertices, [[0.1, 0.0, 0.0], [5.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]);
        assert_eq!(mesh.triangles, [[3, 2, 0]]);
        // Two objects that each define their common edge: it becomes one edge.
        let text =
            "o a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\no b\nv 0 0 0\nv 1 0 0\nv 0 0 1\nf 5 4 6\n";
        let mesh = parse(text.as_bytes()).unwrap();
        assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (4, 2));
        assert_eq!(mesh.open_edges().len(), 4);
    }

    #[test]
    fn faces_may_come_before_their_vertices() {
        let late = parse(b"f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0\n").unwrap();
        assert_eq!(late.triangles, [[0, 1, 2]]);
    }

    #[test]
    fn broken_files_are_reported() {
        assert!(message("").contains("no triangles"));
        assert_eq!(message("v 1 2"), "file, line 1: a vertex needs three numbers");
        assert!(message("v 1 2 x").contains("three numbers"));
        assert!(message("v 1 2 nan").contains("finite"));
        assert!(message("v 0 0 0\nf 1 2 3").contains("file, line 2: vertex 2 does not exist"));
        assert!(message("v 0 0 0\nf 1 1").contains("at least three"));
        for face in ["f 0 1 1", "f -2 1 1", "f x 1 1", "f 99999999999999999999 1 1"] {
            assert!(message(&format!("v 0 0 0\n{face}")).contains("from 1"), "{face}");
        }
        assert!(message("f 9223372036854775807 1 1").contains("does not exist"));
        assert!(message("bogus").contains("not part of"));
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
                prop::sample::select(vec!["v ", "f ", "1 ", "-1 ", "3e300 ", "2/", "/", "0 ", "\n"]), 0..80,
            )) {
                let _ = parse(words.concat().as_bytes());
            }
        }
    }
}

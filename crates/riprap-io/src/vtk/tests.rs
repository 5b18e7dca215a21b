//! Files are written, and read back by a minimal reader.

use super::*;
use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

/// A unit square, a triangle next to it and an isolated point.
fn sample() -> PolyData {
    let mut data = PolyData::new();
    for point in [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [2.0, 0.5, 0.25]] {
        data.add_point(point);
    }
    data.add_polygon(&[0, 1, 2, 3]);
    data.add_vertex(4);
    data.add_polygon(&[1, 4, 2]);
    data.point_data("velocity [m/s]", vec![[1.0, 2.0, 3.5_f32]; 5]);
    data.cell_data("body", vec![7_i64, 8, 9]);
    data.cell_data("a<b> & \"c\"", vec![0.1_f64, 0.2, 0.3]);
    data
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("riprap-vtk-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn attribute<'a>(tag: &'a str, name: &str) -> &'a str {
    let start = tag.find(&format!(" {name}=\"")).expect(name) + name.len() + 3;
    &tag[start..start + tag[start..].find('"').unwrap()]
}

/// The arrays of a file by name: type, components and bytes.
fn read(path: &Path) -> HashMap<String, (String, usize, Vec<u8>)> {
    let bytes = fs::read(path).unwrap();
    let marker = b"<AppendedData encoding=\"raw\">\n_";
    let at = bytes.windows(marker.len()).position(|window| window == marker).unwrap();
    let (head, appended) =
        (std::str::from_utf8(&bytes[..at]).unwrap(), &bytes[at + marker.len()..]);
    let mut section = "";
    let mut arrays = HashMap::new();
    for line in head.lines() {
        match line {
            "<Verts>" | "<Polys>" => section = &line[1..6],
            _ if line.starts_with("<DataArray") => {
                let offset: usize = attribute(line, "offset").parse().unwrap();
                let length = appended[offset..offset + 8].try_into().unwrap();
                let length = u64::from_le_bytes(length) as usize;
                let name = match section {
                    "" => attribute(line, "Name").to_owned(),
                    _ => format!("{section} {}", attribute(line, "Name")),
                };
                let values = appended[offset + 8..offset + 8 + length].to_vec();
                let width = attribute(line, "NumberOfComponents").parse().unwrap();
                arrays.insert(name, (attribute(line, "type").to_owned(), width, values));
            }
            _ => {}
        }
    }
    arrays
}

fn integers(bytes: &[u8]) -> Vec<i64> {
    bytes.chunks(8).map(|chunk| i64::from_le_bytes(chunk.try_into().unwrap())).collect()
}

#[test]
fn field_data_precede_the_piece_and_share_its_offsets() {
    let mut data = sample();
    let plain = data.to_vtp();
    data.field_data(Field::texts("names", ["floor", "a & b", ""]));
    data.field_data(Field::integers("ids", &[7, 8, 9]));
    let bytes = data.to_vtp();
    let text = String::from_utf8_lossy(&bytes);
    let head = text.split("<Piece").next().unwrap();
    assert!(
        head.contains("type=\"String\" Name=\"names\"") && head.contains("NumberOfTuples=\"3\"")
    );
    let folder = folder("fields");
    let (a, b) = (folder.join("a.vtp"), folder.join("b.vtp"));
    fs::write(&a, plain).unwrap();
    fs::write(&b, &bytes).unwrap();
    let (a, mut b) = (read(&a), read(&b));
    assert_eq!(b.remove("names").unwrap().2, b"floor\0a & b\0\0");
    let ids: Vec<u8> = [7_i64, 8, 9].iter().flat_map(|x| x.to_le_bytes()).collect();
    assert_eq!(b.remove("ids").unwrap().2, ids);
    // All else is as without them.
    assert_eq!(a, b);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn written_data_are_read_back() {
    let folder = folder("back");
    let path = folder.join("sample.vtp");
    sample().write(&path).unwrap();
    assert_eq!(sample().to_vtp(), fs::read(&path).unwrap());
    let arrays = read(&path);
    assert_eq!(integers(&arrays["Verts connectivity"].2), [4]);
    assert_eq!(integers(&arrays["Verts offsets"].2), [1]);
    assert_eq!(integers(&arrays["Polys connectivity"].2), [0, 1, 2, 3, 1, 4, 2]);
    assert_eq!(integers(&arrays["Polys offsets"].2), [4, 7]);
    assert_eq!(integers(&arrays["body"].2), [7, 8, 9]);
    let (kind, width, bytes) = &arrays["velocity [m/s]"];
    assert_eq!((kind.as_str(), *width, bytes.len()), ("Float32", 3, 5 * 3 * 4));
    assert_eq!(bytes[8..12], 3.5_f32.to_le_bytes());
    let (kind, _, bytes) = &arrays["a&lt;b&gt; &amp; &quot;c&quot;"];
    assert_eq!((kind.as_str(), &bytes[..8]), ("Float64", &0.1_f64.to_le_bytes()[..]));
    assert_eq!(arrays["Points"].2.len(), 5 * 3 * 4);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn empty_data_give_a_valid_file() {
    let folder = folder("empty");
    let path = folder.join("empty.vtp");
    PolyData::new().write(&path).unwrap();
    assert!(read(&path)["Points"].2.is_empty());
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn inconsistent_data_are_refused() {
    let refused = |change: fn(&mut PolyData)| {
        let mut data = sample();
        change(&mut data);
        data.write(Path::new("never-written.vtp")).unwrap_err().to_string()
    };
    assert!(
        refused(|d| d.point_data("x", vec![1.0_f64])).contains("`x` has 1 entries for 5 points")
    );
    assert!(refused(|d| d.cell_data("x", vec![[1_i64; 3]; 4])).contains("4 entries for 3 cells"));
    assert!(refused(|d| d.cell_data("body", vec![1_i64; 3])).contains("two arrays"));
    assert!(refused(|d| d.add_polygon(&[0, 1, 5])).contains("uses point 5, but there are only 5"));
    assert!(!Path::new("never-written.vtp").exists());
}

#[test]
fn the_index_is_complete_after_every_frame() {
    let folder = folder("pvd");
    let path = folder.join("run.pvd");
    let mut index = Pvd::new(&path);
    for frame in 0..3 {
        index
            .add(0.1 * f64::from(frame), "surfaces", &format!("frames/surfaces-{frame}.vtp"))
            .unwrap();
        index
            .add(0.1 * f64::from(frame), "contacts", &format!("frames/contacts-{frame}.vtp"))
            .unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.matches("<DataSet ").count(), 2 * (frame as usize + 1));
        assert!(text.ends_with("</Collection>\n</VTKFile>\n"));
    }
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(
        "timestep=\"0.1\" group=\"\" part=\"1\" name=\"contacts\" file=\"frames/contacts-1.vtp\""
    ));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no temporary files are left");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn an_index_grown_in_place_equals_one_written_at_once_and_no_entry_crosses_a_page() {
    let folder = tempfile::TempDir::new().unwrap();
    let (path, whole) = (folder.path().join("run.pvd"), folder.path().join("whole.pvd"));
    let (mut index, mut recalled) = (Pvd::new(&path), Pvd::new(&whole));
    let mut lengths = std::collections::BTreeSet::new();
    for frame in 0..400 {
        let (time, file) = (0.001 * f64::from(frame), format!("frames/surfaces-{frame:06}.vtp"));
        index.add(time, "surfaces", &file).unwrap();
        recalled.recall(time, "surfaces", &file);
        let text = fs::read(&path).unwrap();
        lengths.insert(text.len());
        if frame % 37 == 0 {
            recalled.write().unwrap();
            assert!(text == fs::read(&whole).unwrap(), "frame {frame}");
        }
    }
    // Its space doubles: 4, 8, 16, 32 and 64 KiB, each plus the closing tags.
    assert_eq!(lengths.len(), 5, "{lengths:?}");
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().filter(|line| line.starts_with("<DataSet")).count(), 400);
    for (start, entry) in text.match_indices("<DataSet") {
        let end = start + text[start..].find("/>").unwrap() + 2;
        assert_eq!(start / 4096, end / 4096, "{entry}");
    }

    // An index that was changed or removed externally is rewritten.
    fs::write(&path, "mine").unwrap();
    index.add(0.4, "surfaces", "frames/a.vtp").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap().matches("<DataSet").count(), 401);
    fs::remove_file(&path).unwrap();
    index.add(0.4, "surfaces", "frames/b.vtp").unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap().matches("<DataSet").count(), 402);
}

#[test]
fn coordinates_are_stored_in_single_precision_and_data_in_their_own_precision() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("precision.vtp");
    let mut data = PolyData::new();
    assert_eq!((data.add_point([0.1, -1e30, 1e-30]), data.add_point([0.0; 3])), (0, 1));
    data.point_data("time", vec![0.1_f64, f64::NAN]);
    data.point_data("pair", vec![[i64::MIN, i64::MAX], [0, -1]]);
    data.write(&path).unwrap();
    let arrays = read(&path);
    let floats: Vec<f32> = arrays["Points"]
        .2
        .chunks(4)
        .map(|chunk| f32::from_le_bytes(chunk.try_into().unwrap()))
        .collect();
    assert_eq!(floats, [0.1_f32, -1e30, 1e-30, 0.0, 0.0, 0.0]);
    let (kind, width, bytes) = &arrays["time"];
    assert_eq!((kind.as_str(), *width, &bytes[..8]), ("Float64", 1, &0.1_f64.to_le_bytes()[..]));
    let (kind, width, bytes) = &arrays["pair"];
    assert_eq!((kind.as_str(), *width), ("Int64", 2));
    assert_eq!(integers(bytes), [i64::MIN, i64::MAX, 0, -1]);
}

#[test]
fn the_counts_in_the_header_agree_with_the_cells() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("cells.vtp");
    let data = sample();
    assert_eq!((data.n_points(), data.n_cells()), (5, 3));
    data.write(&path).unwrap();
    let bytes = fs::read(&path).unwrap();
    let text = String::from_utf8_lossy(&bytes);
    let piece = text.lines().find(|line| line.starts_with("<Piece")).unwrap();
    for (name, value) in [("NumberOfPoints", "5"), ("NumberOfVerts", "1"), ("NumberOfPolys", "2")] {
        assert_eq!(attribute(piece, name), value, "{name}");
    }
    assert!(bytes.ends_with(b"\n</AppendedData>\n</VTKFile>\n"));
}

#[test]
fn names_cannot_break_the_xml() {
    for (name, written) in [
        ("a&b", "a&amp;b"),
        ("<\"x\">", "&lt;&quot;x&quot;&gt;"),
        ("line\nbreak\0", "line break "),
        ("ω [rad/s]", "ω [rad/s]"),
    ] {
        assert_eq!(escaped(name), written);
    }
    let folder = tempfile::TempDir::new().unwrap();
    let mut index = Pvd::new(folder.path().join("run.pvd"));
    index.add(-0.5, "a\"b", "frames/<0>.vtp").unwrap();
    let text = fs::read_to_string(folder.path().join("run.pvd")).unwrap();
    assert!(text.contains("timestep=\"-0.5\""), "{text}");
    assert!(text.contains("name=\"a&quot;b\" file=\"frames/&lt;0&gt;.vtp\""), "{text}");
}

#[test]
fn an_existing_file_is_indexed_without_being_written() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("run.pvd");
    let mut index = Pvd::new(&path);
    index.recall(0.0, "surfaces", "frames/surfaces-0.vtp");
    index.recall(0.0, "contacts", "frames/contacts-0.vtp");
    assert!(!path.exists());
    index.add(0.1, "surfaces", "frames/surfaces-1.vtp").unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let parts: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("<DataSet"))
        .map(|line| attribute(line, "part"))
        .collect();
    assert_eq!(parts, ["0", "1", "0"]); // a part keeps its number
    let missing = Pvd::new(folder.path().join("no/run.pvd"));
    assert!(missing.write().unwrap_err().to_string().contains("no/run.pvd"));
}

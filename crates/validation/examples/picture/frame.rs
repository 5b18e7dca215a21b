//! Frames of a run folder: the index `run.pvd` and the polygons of a `.vtp` file written by riprap.

use std::path::{Path, PathBuf};

/// Polygons and their attributes.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Corners [m].
    pub points: Vec<[f32; 3]>,
    /// Indices of the corners of each polygon.
    pub polygons: Vec<Vec<usize>>,
    /// Body of each polygon.
    pub bodies: Vec<usize>,
    /// Material of each polygon.
    pub materials: Vec<usize>,
    /// Speed of the body of each polygon [m/s].
    pub speeds: Vec<f64>,
    /// Points of each rope [m].
    pub ropes: Vec<Vec<[f32; 3]>>,
}

/// Times [s] and files of the surfaces in a run folder.
pub fn index(folder: &Path) -> Result<Vec<(f64, PathBuf)>, String> {
    let path = folder.join("run.pvd");
    let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let surfaces = text.lines().filter(|line| line.contains("name=\"surfaces\""));
    let entry = |line: &str| {
        let time = attribute(line, "timestep")?.parse().ok()?;
        Some((time, folder.join(attribute(line, "file")?)))
    };
    let frames: Vec<_> = surfaces.filter_map(entry).collect();
    if frames.is_empty() {
        return Err(format!("{}: no surfaces; is `frames` on in the scene?", path.display()));
    }
    Ok(frames)
}

impl Frame {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Frame, String> {
        let bytes = std::fs::read(path).map_err(|e| format!("{}: {e}", path.display()))?;
        let frame = Frame::parse(&bytes);
        let mut frame =
            frame.ok_or_else(|| format!("{}: not a frame of riprap", path.display()))?;
        // The ropes of the same time, if there are any.
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if let Ok(bytes) = std::fs::read(path.with_file_name(name.replace("surfaces", "ropes"))) {
            frame.ropes = lines(&bytes).unwrap_or_default();
        }
        Ok(frame)
    }

    fn parse(bytes: &[u8]) -> Option<Frame> {
        let (header, data) = split(bytes)?;
        let polys = header.find("<Polys>")?;
        let points = numbers(header, data, "Points")?;
        let polygons = cells(&header[polys..], data)?;
        let whole = |name: &str| -> Option<Vec<usize>> {
            Some(numbers(header, data, name)?.into_iter().map(|x| x as usize).collect())
        };
        Some(Frame {
            points: points.chunks_exact(3).map(|p| [p[0], p[1], p[2]].map(|x| x as f32)).collect(),
            polygons,
            bodies: whole("body")?,
            materials: whole("material")?,
            speeds: numbers(header, data, "speed [m/s]")?,
            ropes: Vec::new(),
        })
    }
}

/// The header and the data of a file.
fn split(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let mark = b"<AppendedData encoding=\"raw\">";
    let at = bytes.windows(mark.len()).position(|w| w == mark)? + mark.len();
    let header = std::str::from_utf8(&bytes[..at]).ok()?;
    Some((header, &bytes[at + bytes[at..].iter().position(|b| *b == b'_')? + 1..]))
}

/// Indices of the points of each cell of the first section of a header.
fn cells(header: &str, data: &[u8]) -> Option<Vec<Vec<usize>>> {
    let ends = numbers(header, data, "offsets")?;
    let points = numbers(header, data, "connectivity")?;
    let mut first = 0;
    let mut cells = Vec::with_capacity(ends.len());
    for end in ends {
        let cell = points.get(first..end as usize)?;
        cells.push(cell.iter().map(|c| *c as usize).collect());
        first = end as usize;
    }
    Some(cells)
}

/// The points of the lines of a file [m].
fn lines(bytes: &[u8]) -> Option<Vec<Vec<[f32; 3]>>> {
    let (header, data) = split(bytes)?;
    let points = numbers(header, data, "Points")?;
    let point = |k: usize| {
        let p = points.get(3 * k..3 * k + 3)?;
        Some([p[0], p[1], p[2]].map(|x| x as f32))
    };
    let lines = cells(&header[header.find("<Lines>")?..], data)?;
    lines.iter().map(|line| line.iter().map(|k| point(*k)).collect()).collect()
}

/// Value of an attribute of a tag.
fn attribute<'a>(tag: &'a str, name: &str) -> Option<&'a str> {
    let from = tag.find(&format!("{name}=\""))? + name.len() + 2;
    tag[from..].split('"').next()
}

/// The numbers of the first array with a given name: a length in bytes, then little-endian values.
fn numbers(header: &str, data: &[u8], name: &str) -> Option<Vec<f64>> {
    let tag = header.lines().find(|line| attribute(line, "Name") == Some(name))?;
    let at: usize = attribute(tag, "offset")?.parse().ok()?;
    let length = u64::from_le_bytes(data.get(at..at + 8)?.try_into().ok()?) as usize;
    let raw = data.get(at + 8..at + 8 + length)?;
    let eight = |x: &[u8]| -> [u8; 8] { x.try_into().unwrap_or_default() };
    let four = |x: &[u8]| -> [u8; 4] { x.try_into().unwrap_or_default() };
    Some(match attribute(tag, "type")? {
        "Float32" => raw.chunks_exact(4).map(|x| f64::from(f32::from_le_bytes(four(x)))).collect(),
        "Float64" => raw.chunks_exact(8).map(|x| f64::from_le_bytes(eight(x))).collect(),
        "Int64" => raw.chunks_exact(8).map(|x| i64::from_le_bytes(eight(x)) as f64).collect(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use riprap_io::vtk::PolyData;

    #[test]
    fn ropes_are_read_as_they_were_written() {
        let mut data = PolyData::new();
        let points: Vec<[f64; 3]> = (0..5).map(|k| [f64::from(k), 0.5, -1.0]).collect();
        let at: Vec<usize> = points.iter().map(|p| data.add_point(*p)).collect();
        data.add_line(&at[..2]);
        data.add_line(&at[2..]);
        let name = format!("riprap-picture-lines-{}.vtp", std::process::id());
        let path = std::env::temp_dir().join(name);
        data.write(&path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let _ = std::fs::remove_file(&path);
        let found = lines(&bytes).unwrap();
        assert_eq!(found.iter().map(Vec::len).collect::<Vec<_>>(), [2, 3]);
        assert_eq!(found[1][2], [4.0, 0.5, -1.0]);
    }

    #[test]
    fn a_frame_is_read_as_it_was_written() {
        let mut data = PolyData::new();
        for corner in [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]] {
            data.add_point(corner);
        }
        data.add_polygon(&[0, 1, 2]);
        data.add_polygon(&[0, 2, 3, 1]);
        data.cell_data("body", vec![4_i64, 5]);
        data.cell_data("material", vec![0_i64, 1]);
        data.cell_data("speed [m/s]", vec![0.5_f64, 1.5]);
        let path = std::env::temp_dir().join(format!("riprap-picture-{}.vtp", std::process::id()));
        data.write(&path).unwrap();
        let frame = Frame::read(&path);
        let _ = std::fs::remove_file(&path);
        let frame = frame.unwrap();
        assert_eq!(frame.points[3], [0.0, 0.0, 3.0]);
        assert_eq!(frame.polygons, [vec![0, 1, 2], vec![0, 2, 3, 1]]);
        assert_eq!((frame.bodies, frame.materials), (vec![4, 5], vec![0, 1]));
        assert_eq!(frame.speeds, [0.5, 1.5]);
    }
}

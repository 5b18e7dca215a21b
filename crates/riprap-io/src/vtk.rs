//! Frames for ParaView: points, points alone and polygons with data, as `.vtp` files, and the `.pvd` index that makes
//! a time series of them. Nothing here knows about bodies or contacts; callers give coordinates and named arrays.
//!
//! A `.vtp` file is XML with the arrays appended as raw little-endian bytes, each after its length as a `UInt64`. Both
//! kinds of files appear whole or not at all, so a run that is killed leaves a series that can be read.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::atomic;
use crate::error::Error;

/// Points with vertices, polygons and data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolyData {
    points: Vec<[f32; 3]>,
    vertices: Vec<i64>,
    polygon_corners: Vec<i64>,
    polygon_ends: Vec<i64>,
    point_data: Vec<Array>,
    cell_data: Vec<Array>,
}

/// A named array of data.
#[derive(Clone, Debug, PartialEq)]
struct Array {
    name: String,
    /// Numbers per point or cell.
    width: usize,
    values: Values,
}

#[derive(Clone, Debug, PartialEq)]
enum Values {
    Float(Vec<f32>),
    Double(Vec<f64>),
    Integer(Vec<i64>),
}

/// The numbers of an array; any of the vectors named by the `From` implementations.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayValues(usize, Values);

macro_rules! array_values {
    ($($number:ty => $variant:ident),*) => {$(
        impl From<Vec<$number>> for ArrayValues {
            fn from(values: Vec<$number>) -> Self {
                Self(1, Values::$variant(values))
            }
        }

        impl<const N: usize> From<Vec<[$number; N]>> for ArrayValues {
            fn from(values: Vec<[$number; N]>) -> Self {
                Self(N, Values::$variant(values.into_flattened()))
            }
        }
    )*};
}

array_values!(f32 => Float, f64 => Double, i64 => Integer);

impl Values {
    fn len(&self) -> usize {
        match self {
            Values::Float(values) => values.len(),
            Values::Double(values) => values.len(),
            Values::Integer(values) => values.len(),
        }
    }

    fn type_name(&self) -> &'static str {
        match self {
            Values::Float(_) => "Float32",
            Values::Double(_) => "Float64",
            Values::Integer(_) => "Int64",
        }
    }
}

impl PolyData {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a point [m] and gives its index.
    pub fn add_point(&mut self, point: [f64; 3]) -> usize {
        self.points.push(point.map(|x| x as f32));
        self.points.len() - 1
    }

    /// Adds a cell that shows a point by itself. Such cells come before all polygons.
    pub fn add_vertex(&mut self, point: usize) {
        self.vertices.push(point as i64);
    }

    /// Adds a polygon through points, anticlockwise seen from outside.
    pub fn add_polygon(&mut self, corners: &[usize]) {
        self.polygon_corners.extend(corners.iter().map(|corner| *corner as i64));
        self.polygon_ends.push(self.polygon_corners.len() as i64);
    }

    /// Adds one number or vector per point, in the order of the points.
    pub fn point_data(&mut self, name: impl Into<String>, values: impl Into<ArrayValues>) {
        self.point_data.push(Array::new(name.into(), values.into()));
    }

    /// Adds one number or vector per cell: first the vertices, then the polygons, in their order.
    pub fn cell_data(&mut self, name: impl Into<String>, values: impl Into<ArrayValues>) {
        self.cell_data.push(Array::new(name.into(), values.into()));
    }

    /// The number of points.
    pub fn n_points(&self) -> usize {
        self.points.len()
    }

    /// The number of cells: vertices and polygons.
    pub fn n_cells(&self) -> usize {
        self.vertices.len() + self.polygon_ends.len()
    }

    /// Writes a `.vtp` file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        self.check().map_err(|message| Error::Data { path: path.to_owned(), message })?;
        atomic::write(path, |out| self.write_to(out))
    }

    /// Indices within the points, arrays as long as what they describe.
    fn check(&self) -> Result<(), String> {
        let n_points = self.points.len();
        let within = |index: &i64| usize::try_from(*index).is_ok_and(|index| index < n_points);
        if let Some(index) = self.vertices.iter().chain(&self.polygon_corners).find(|i| !within(i))
        {
            return Err(format!("a cell uses point {index}, but there are {n_points}"));
        }
        let groups =
            [(&self.point_data, n_points, "points"), (&self.cell_data, self.n_cells(), "cells")];
        for (arrays, n, what) in groups {
            for (index, array) in arrays.iter().enumerate() {
                let Array { name, width, values } = array;
                if values.len() != n * width {
                    let has = values.len() / width.max(&1);
                    return Err(format!("the array `{name}` has {has} entries for {n} {what}"));
                }
                if arrays[..index].iter().any(|other| other.name == *name) {
                    return Err(format!("two arrays are called `{name}`"));
                }
            }
        }
        Ok(())
    }

    fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        let points = Array::new("Points".into(), self.points.clone().into());
        let cells = |corners: Vec<i64>, ends: Vec<i64>| {
            [("connectivity", corners), ("offsets", ends)]
                .map(|(name, values)| Array::new(name.into(), values.into()))
        };
        let vertex_ends = (1..=self.vertices.len() as i64).collect();
        let vertices = cells(self.vertices.clone(), vertex_ends);
        let polygons = cells(self.polygon_corners.clone(), self.polygon_ends.clone());
        let sections: [(&str, &[Array]); 5] = [
            ("PointData", &self.point_data),
            ("CellData", &self.cell_data),
            ("Points", std::slice::from_ref(&points)),
            ("Verts", &vertices),
            ("Polys", &polygons),
        ];

        writeln!(out, "<?xml version=\"1.0\"?>")?;
        writeln!(
            out,
            "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">"
        )?;
        writeln!(
            out,
            "<PolyData>\n<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"{}\" NumberOfLines=\"0\" \
             NumberOfStrips=\"0\" NumberOfPolys=\"{}\">",
            self.points.len(),
            self.vertices.len(),
            self.polygon_ends.len()
        )?;
        let mut offset = 0;
        for (section, arrays) in sections {
            writeln!(out, "<{section}>")?;
            for array in arrays {
                array.write_header(out, offset)?;
                offset += size_of::<u64>() + array.n_bytes();
            }
            writeln!(out, "</{section}>")?;
        }
        write!(out, "</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_")?;
        for array in sections.iter().flat_map(|(_, arrays)| *arrays) {
            array.write_bytes(out)?;
        }
        write!(out, "\n</AppendedData>\n</VTKFile>\n")
    }
}

impl Array {
    fn new(name: String, ArrayValues(width, values): ArrayValues) -> Self {
        Self { name, width, values }
    }

    fn n_bytes(&self) -> usize {
        let size = match self.values {
            Values::Float(_) => size_of::<f32>(),
            Values::Double(_) => size_of::<f64>(),
            Values::Integer(_) => size_of::<i64>(),
        };
        size * self.values.len()
    }

    fn write_header(&self, out: &mut impl Write, offset: usize) -> io::Result<()> {
        writeln!(
            out,
            "<DataArray type=\"{}\" Name=\"{}\" NumberOfComponents=\"{}\" format=\"appended\" \
             offset=\"{offset}\"/>",
            self.values.type_name(),
            escaped(&self.name),
            self.width
        )
    }

    fn write_bytes(&self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(&(self.n_bytes() as u64).to_le_bytes())?;
        match &self.values {
            Values::Float(values) => {
                values.iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))
            }
            Values::Double(values) => {
                values.iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))
            }
            Values::Integer(values) => {
                values.iter().try_for_each(|x| out.write_all(&x.to_le_bytes()))
            }
        }
    }
}

/// The index of a time series: which file shows which time.
#[derive(Clone, Debug)]
pub struct Pvd {
    path: PathBuf,
    frames: Vec<(f64, String, String)>,
}

impl Pvd {
    /// An empty series that will be written to `path`, which ends in `.pvd`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), frames: Vec::new() }
    }

    /// Takes a file that was there before, without writing the index.
    pub fn recall(&mut self, time: f64, part: &str, file: &str) {
        self.frames.push((time, part.to_owned(), file.to_owned()));
    }

    /// Writes the index anew, whole or not at all.
    pub fn write(&self) -> Result<(), Error> {
        atomic::write(&self.path, |out| self.write_to(out))
    }

    /// Adds a file at a time [s] and writes the index anew, whole or not at all.
    ///
    /// `file` is relative to the folder of the index and must be complete already. Files of the same time
    /// with different `part`s (`"surfaces"`, `"contacts"`) are shown together.
    pub fn add(&mut self, time: f64, part: &str, file: &str) -> Result<(), Error> {
        self.recall(time, part, file);
        self.write()
    }

    fn write_to(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "<?xml version=\"1.0\"?>")?;
        writeln!(out, "<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">")?;
        writeln!(out, "<Collection>")?;
        // Parts are numbered as well, because some readers tell them apart by number.
        let mut parts: Vec<&str> = Vec::new();
        for (time, part, file) in &self.frames {
            let number = parts.iter().position(|known| known == part).unwrap_or_else(|| {
                parts.push(part);
                parts.len() - 1
            });
            writeln!(
                out,
                "<DataSet timestep=\"{time}\" group=\"\" part=\"{number}\" name=\"{}\" file=\"{}\"/>",
                escaped(part),
                escaped(file)
            )?;
        }
        write!(out, "</Collection>\n</VTKFile>\n")
    }
}

/// A text inside an XML attribute.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;
    use std::fs;

    /// A unit square, a triangle beside it and a lonely point.
    fn sample() -> PolyData {
        let mut data = PolyData::new();
        for point in [[0.0; 3], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0], [2.0, 0.5, 0.25]]
        {
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
    fn what_is_written_is_read_back() {
        let folder = folder("back");
        let path = folder.join("sample.vtp");
        sample().write(&path).unwrap();
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
    fn nothing_at_all_is_a_file_too() {
        let folder = folder("empty");
        let path = folder.join("empty.vtp");
        PolyData::new().write(&path).unwrap();
        assert!(read(&path)["Points"].2.is_empty());
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn data_that_do_not_fit_are_refused() {
        let refused = |change: fn(&mut PolyData)| {
            let mut data = sample();
            change(&mut data);
            data.write(Path::new("never-written.vtp")).unwrap_err().to_string()
        };
        assert!(
            refused(|d| d.point_data("x", vec![1.0_f64]))
                .contains("`x` has 1 entries for 5 points")
        );
        assert!(
            refused(|d| d.cell_data("x", vec![[1_i64; 3]; 4])).contains("4 entries for 3 cells")
        );
        assert!(refused(|d| d.cell_data("body", vec![1_i64; 3])).contains("two arrays"));
        assert!(refused(|d| d.add_polygon(&[0, 1, 5])).contains("uses point 5, but there are 5"));
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
        assert!(text.contains("timestep=\"0.1\" group=\"\" part=\"1\" name=\"contacts\" file=\"frames/contacts-1.vtp\""));
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no temporary files are left");
        fs::remove_dir_all(folder).unwrap();
    }
}

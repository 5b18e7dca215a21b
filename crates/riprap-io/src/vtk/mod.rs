//! Output for ParaView: points, vertices, lines and polygons with data, as `.vtp` files, and the `.pvd`
//! index that combines them into a time series. This module knows nothing about bodies or contacts;
//! callers supply coordinates and named arrays.
//!
//! A `.vtp` file is XML with the arrays appended as raw little-endian bytes, each preceded by its
//! length as a `UInt64`. Both kinds of files are written atomically, so a run that is killed leaves
//! a readable series.

mod pvd;
#[cfg(test)]
mod tests;

pub use pvd::Pvd;

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use crate::atomic;
use crate::error::Error;

/// Points with vertices, lines, polygons and data.
///
/// ```
/// use riprap_io::vtk::{PolyData, Pvd};
///
/// let folder = std::env::temp_dir().join(format!("riprap-vtk-{}", std::process::id()));
/// std::fs::create_dir_all(&folder)?;
/// let mut triangle = PolyData::new();
/// let corners = [[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]].map(|point| triangle.add_point(point));
/// triangle.add_polygon(&corners);
/// triangle.cell_data("speed [m/s]", vec![0.5]);
/// triangle.write(&folder.join("triangle.vtp"))?;
///
/// // ParaView opens the index: which file belongs to which time.
/// let mut index = Pvd::new(folder.join("run.pvd"));
/// index.add(0.0, "surfaces", "triangle.vtp")?;
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolyData {
    points: Vec<[f32; 3]>,
    vertices: Vec<i64>,
    line_points: Vec<i64>,
    line_ends: Vec<i64>,
    polygon_corners: Vec<i64>,
    polygon_ends: Vec<i64>,
    point_data: Vec<Array>,
    cell_data: Vec<Array>,
    field_data: Vec<Field>,
}

/// Texts or whole numbers that belong to the data as a whole, such as the names of bodies. Clones share them.
#[derive(Clone, Debug, PartialEq)]
pub struct Field(Arc<FieldContent>);

#[derive(Debug, PartialEq)]
struct FieldContent {
    name: String,
    kind: &'static str,
    n: usize,
    bytes: Vec<u8>,
}

impl Field {
    /// Texts; each ends at its first zero byte, if it has one.
    pub fn texts<'a>(name: impl Into<String>, texts: impl IntoIterator<Item = &'a str>) -> Field {
        let (mut n, mut bytes) = (0, Vec::new());
        for text in texts {
            bytes.extend(text.bytes().take_while(|byte| *byte != 0));
            bytes.push(0);
            n += 1;
        }
        Field(Arc::new(FieldContent { name: name.into(), kind: "String", n, bytes }))
    }

    /// Whole numbers.
    pub fn integers(name: impl Into<String>, values: &[i64]) -> Field {
        let bytes = values.iter().flat_map(|x| x.to_le_bytes()).collect();
        let (name, n) = (name.into(), values.len());
        Field(Arc::new(FieldContent { name, kind: "Int64", n, bytes }))
    }
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

/// The values of an array; any of the vectors with a `From` implementation.
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
    /// Creates empty data.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a point [m] and returns its index.
    pub fn add_point(&mut self, point: [f64; 3]) -> usize {
        self.points.push(point.map(|x| x as f32));
        self.points.len() - 1
    }

    /// Adds a vertex cell that displays a single point. Vertex cells precede all lines and polygons.
    pub fn add_vertex(&mut self, point: usize) {
        self.vertices.push(point as i64);
    }

    /// Adds a line through points. Lines precede all polygons.
    pub fn add_line(&mut self, points: &[usize]) {
        self.line_points.extend(points.iter().map(|point| *point as i64));
        self.line_ends.push(self.line_points.len() as i64);
    }

    /// Adds a polygon through points, counter-clockwise seen from outside.
    pub fn add_polygon(&mut self, corners: &[usize]) {
        self.polygon_corners.extend(corners.iter().map(|corner| *corner as i64));
        self.polygon_ends.push(self.polygon_corners.len() as i64);
    }

    /// Adds one number or vector per point, in the order of the points.
    pub fn point_data(&mut self, name: impl Into<String>, values: impl Into<ArrayValues>) {
        self.point_data.push(Array::new(name.into(), values.into()));
    }

    /// Adds one number or vector per cell: first the vertices, then the lines, then the polygons, in order.
    pub fn cell_data(&mut self, name: impl Into<String>, values: impl Into<ArrayValues>) {
        self.cell_data.push(Array::new(name.into(), values.into()));
    }

    /// Adds texts or numbers that belong to the data as a whole.
    pub fn field_data(&mut self, field: Field) {
        self.field_data.push(field);
    }

    /// The number of points.
    pub fn n_points(&self) -> usize {
        self.points.len()
    }

    /// The number of cells: vertices, lines and polygons.
    pub fn n_cells(&self) -> usize {
        self.vertices.len() + self.line_ends.len() + self.polygon_ends.len()
    }

    /// Writes a `.vtp` file atomically.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        self.check().map_err(|message| Error::Data { path: path.to_owned(), message })?;
        atomic::write(path, |out| self.write_to(out))
    }

    /// The content of a `.vtp` file.
    pub fn to_vtp(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        self.write_to(&mut bytes).expect("writing to memory succeeds");
        bytes
    }

    /// Checks that indices are within the points and that arrays have the right lengths.
    fn check(&self) -> Result<(), String> {
        let n_points = self.points.len();
        let within = |index: &i64| usize::try_from(*index).is_ok_and(|index| index < n_points);
        let used = self.vertices.iter().chain(&self.line_points).chain(&self.polygon_corners);
        if let Some(index) = used.copied().find(|i| !within(i)) {
            return Err(format!("a cell uses point {index}, but there are only {n_points}"));
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
                    return Err(format!("two arrays are named `{name}`"));
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
        let lines = cells(self.line_points.clone(), self.line_ends.clone());
        let mut sections: Vec<(&str, &[Array])> = vec![
            ("PointData", &self.point_data),
            ("CellData", &self.cell_data),
            ("Points", std::slice::from_ref(&points)),
            ("Verts", &vertices),
        ];
        if !self.line_ends.is_empty() {
            sections.push(("Lines", &lines));
        }
        sections.push(("Polys", &polygons));

        writeln!(out, "<?xml version=\"1.0\"?>")?;
        writeln!(
            out,
            "<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" header_type=\"UInt64\">"
        )?;
        writeln!(out, "<PolyData>")?;
        let mut offset = 0;
        if !self.field_data.is_empty() {
            writeln!(out, "<FieldData>")?;
            for Field(field) in &self.field_data {
                let FieldContent { name, kind, n, bytes } = &**field;
                writeln!(
                    out,
                    "<DataArray type=\"{kind}\" Name=\"{}\" NumberOfComponents=\"1\" NumberOfTuples=\"{n}\" \
                     format=\"appended\" offset=\"{offset}\"/>",
                    escaped(name)
                )?;
                offset += size_of::<u64>() + bytes.len();
            }
            writeln!(out, "</FieldData>")?;
        }
        writeln!(
            out,
            "<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"{}\" NumberOfLines=\"{}\" \
             NumberOfStrips=\"0\" NumberOfPolys=\"{}\">",
            self.points.len(),
            self.vertices.len(),
            self.line_ends.len(),
            self.polygon_ends.len()
        )?;
        for (section, arrays) in &sections {
            writeln!(out, "<{section}>")?;
            for array in *arrays {
                array.write_header(out, offset)?;
                offset += size_of::<u64>() + array.n_bytes();
            }
            writeln!(out, "</{section}>")?;
        }
        write!(out, "</Piece>\n</PolyData>\n<AppendedData encoding=\"raw\">\n_")?;
        for Field(field) in &self.field_data {
            out.write_all(&(field.bytes.len() as u64).to_le_bytes())?;
            out.write_all(&field.bytes)?;
        }
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

//! Triangle meshes from files: STL (text and binary), OBJ and PLY (text and binary). Equal vertices
//! are welded, so that neighbouring triangles share them and closedness can be checked. Files may
//! come from untrusted sources: whatever they contain, the readers return a mesh or an error, and
//! allocate memory in proportion to the file size.

mod obj;
mod ply;
mod stl;

use std::collections::HashMap;
use std::path::Path;

use crate::error::{Error, Place};
use crate::regular::read_limited;

/// Maximum size of a mesh file [bytes].
const MAX_BYTES: u64 = 1 << 30;

/// A triangle mesh; the vertices of a triangle are in counter-clockwise order seen from outside.
///
/// ```
/// use riprap::prelude::*;
/// use riprap_io::mesh::Mesh;
///
/// let obj = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
/// let mesh = Mesh::parse_obj(obj).expect("four triangles"); // `Mesh::read` reads a file
/// assert!(mesh.open_edges().is_empty());
/// assert!((mesh.volume() - 1.0 / 6.0).abs() < 1e-12);
/// let points: Vec<Vec3> = mesh.vertices.iter().map(|v| Vec3::from(*v)).collect();
/// let shape = Shape::hull(&points)?;
/// # let _ = shape;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// Vertices [m, or the unit of the file], without duplicates.
    pub vertices: Vec<[f64; 3]>,
    /// Triangles as indices into `vertices`; the three corners are distinct.
    pub triangles: Vec<[u32; 3]>,
}

impl Mesh {
    /// Reads `.stl`, `.obj` or `.ply`, depending on the file extension.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let parse = match ending(path).as_str() {
            "stl" => Self::parse_stl,
            "obj" => Self::parse_obj,
            "ply" => Self::parse_ply,
            _ => {
                let message = "a mesh file must have the extension .stl, .obj or .ply";
                return Err(Error::format(path, Place::Whole, message));
            }
        };
        let content = read_limited(path, MAX_BYTES)?;
        parse(&content).map_err(|(place, message)| Error::format(path, place, message))
    }

    /// Parses the content of an STL file, text or binary.
    pub fn parse_stl(content: &[u8]) -> Result<Self, (Place, String)> {
        stl::parse(content)
    }

    /// Parses the content of an OBJ file; polygons are split into fans of triangles.
    pub fn parse_obj(content: &[u8]) -> Result<Self, (Place, String)> {
        obj::parse(content)
    }

    /// Parses the content of a PLY file, text or binary; polygons are split into fans of triangles.
    pub fn parse_ply(content: &[u8]) -> Result<Self, (Place, String)> {
        ply::parse(content)
    }

    /// Edges `[from, to]` of triangles that no neighbour traverses in the opposite direction. There
    /// are none in a closed mesh whose triangles all face outwards or all inwards.
    pub fn open_edges(&self) -> Vec<[u32; 2]> {
        let mut balance: HashMap<[u32; 2], i64> = HashMap::new();
        for [a, b, c] in &self.triangles {
            for (from, to) in [(a, b), (b, c), (c, a)] {
                let forward = from < to;
                let edge = if forward { [*from, *to] } else { [*to, *from] };
                *balance.entry(edge).or_default() += if forward { 1 } else { -1 };
            }
        }
        let mut open: Vec<[u32; 2]> = balance
            .into_iter()
            .filter(|(_, balance)| *balance != 0)
            .map(|([low, high], balance)| if balance > 0 { [low, high] } else { [high, low] })
            .collect();
        open.sort_unstable();
        open
    }

    /// Volume inside a closed mesh [m³, or the cube of its unit]; negative if its triangles face inwards.
    pub fn volume(&self) -> f64 {
        let vertex = |index: u32| self.vertices[index as usize];
        let six_volumes = self.triangles.iter().map(|&[a, b, c]| {
            let ([ax, ay, az], [bx, by, bz], [cx, cy, cz]) = (vertex(a), vertex(b), vertex(c));
            ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
        });
        six_volumes.sum::<f64>() / 6.0
    }
}

/// Whether the file has the extension of a mesh.
pub(crate) fn is_mesh_file(path: &Path) -> bool {
    matches!(ending(path).as_str(), "stl" | "obj" | "ply")
}

/// The file extension, in lower case.
fn ending(path: &Path) -> String {
    path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase()
}

/// Collects triangles and welds their corners.
#[derive(Default)]
struct Welder {
    mesh: Mesh,
    index: HashMap<[u64; 3], u32>,
}

impl Welder {
    /// The index of a vertex; equal coordinates share one.
    fn vertex(&mut self, point: [f64; 3]) -> Result<u32, String> {
        if !point.iter().all(|x| x.is_finite()) {
            return Err("a coordinate is not a finite number".into());
        }
        let point = point.map(|x| x + 0.0); // -0.0 is 0.0
        if let Some(index) = self.index.get(&point.map(f64::to_bits)) {
            return Ok(*index);
        }
        let index = u32::try_from(self.mesh.vertices.len())
            .map_err(|_| "there are more than 4 billion vertices".to_owned())?;
        self.index.insert(point.map(f64::to_bits), index);
        self.mesh.vertices.push(point);
        Ok(index)
    }

    /// Adds a triangle; one that degenerates to a line or point by welding is omitted.
    fn triangle(&mut self, corners: [u32; 3]) {
        let [a, b, c] = corners;
        if a != b && b != c && c != a {
            self.mesh.triangles.push(corners);
        }
    }

    fn finish(self) -> Result<Mesh, (Place, String)> {
        match self.mesh.triangles.is_empty() {
            true => Err((Place::Whole, "there are no triangles".into())),
            false => Ok(self.mesh),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tetrahedron in OBJ, facing outwards.
    const TETRAHEDRON: &str =
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n";

    #[test]
    fn a_tetrahedron_is_closed_and_has_a_sixth_of_the_volume_of_the_cube() {
        let mesh = Mesh::parse_obj(TETRAHEDRON.as_bytes()).unwrap();
        assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (4, 4));
        assert!(mesh.open_edges().is_empty());
        assert!((mesh.volume() - 1.0 / 6.0).abs() < 1e-15);
    }

    #[test]
    fn a_missing_or_flipped_triangle_leaves_three_open_edges() {
        let mut mesh = Mesh::parse_obj(TETRAHEDRON.as_bytes()).unwrap();
        let last = mesh.triangles.pop().unwrap();
        assert_eq!(mesh.open_edges().len(), 3);
        mesh.triangles.push([last[0], last[2], last[1]]);
        assert_eq!(mesh.open_edges().len(), 3);
    }

    #[test]
    fn only_mesh_files_are_read() {
        let message = |path: &str| Mesh::read(Path::new(path)).unwrap_err().to_string();
        assert!(message("stone.txt").contains(".stl, .obj or .ply"));
        assert!(message("no-such-file.stl").contains("cannot open no-such-file.stl"));
        let folder = std::env::temp_dir().join(format!("riprap-{}-folder.stl", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        assert!(message(folder.to_str().unwrap()).contains("not a regular file"));
        std::fs::remove_dir(&folder).unwrap();
    }
}

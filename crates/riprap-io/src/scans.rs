//! Scanned stones: a folder of meshes, each reduced to a convex polyhedron with few vertices. Files are read in the order of their
//! names.

use std::path::{Path, PathBuf};

use riprap::math::Vec3;
use riprap::shape::{Polyhedron, ShapeError};

use crate::error::{Error, Place};
use crate::mesh::{Mesh, is_mesh_file};

/// Maximum number of files read from a folder.
const MAX_FILES: usize = 100_000;

/// A stone from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Scan {
    /// Name of the file.
    pub file: String,
    /// Number of vertices in the file.
    pub n_vertices: usize,
    /// Number of vertices of its hull.
    pub n_hull: usize,
    /// Volume of the mesh, in the cubed unit of the file; `None` if the mesh is not closed.
    pub volume: Option<f64>,
    /// Volume of its hull.
    pub hull_volume: f64,
    /// Volume of the reduced polyhedron.
    pub reduced_volume: f64,
    /// Its vertices, in the unit of the file.
    pub points: Vec<[f64; 3]>,
}

impl Scan {
    /// Reads a mesh and reduces its hull to at most `max_vertices` vertices.
    pub fn read(path: &Path, max_vertices: usize) -> Result<Scan, Error> {
        let mesh = Mesh::read(path)?;
        let shape = |e: ShapeError| Error::format(path, Place::Whole, e.to_string());
        let points: Vec<Vec3> = mesh.vertices.iter().map(|v| Vec3::from(*v)).collect();
        let hull = Polyhedron::from_points(&points).map_err(shape)?;
        let reduced = hull.reduced(max_vertices).map_err(shape)?;
        let closed = mesh.open_edges().is_empty();
        Ok(Scan {
            file: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
            n_vertices: mesh.vertices.len(),
            n_hull: hull.vertices().len(),
            volume: closed.then(|| mesh.volume().abs()),
            hull_volume: hull.unit_mass().mass,
            reduced_volume: reduced.unit_mass().mass,
            points: reduced.vertices().iter().map(|v| (*v).into()).collect(),
        })
    }

    /// Fraction of the volume of the hull removed by the reduction [–].
    pub fn volume_error(&self) -> f64 {
        1.0 - self.reduced_volume / self.hull_volume
    }
}

/// Reads all meshes (`.stl`, `.obj`, `.ply`) of a folder; other files are ignored.
pub fn read_folder(folder: &Path, max_vertices: usize) -> Result<Vec<Scan>, Error> {
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(Error::io("open the folder", folder))? {
        let path = entry.map_err(Error::io("read", folder))?.path();
        if is_mesh_file(&path) && path.is_file() {
            files.push(path);
        }
    }
    let refuse = |message: String| Err(Error::format(folder, Place::Whole, message));
    if files.is_empty() {
        return refuse("the folder contains no .stl, .obj or .ply files".into());
    }
    if files.len() > MAX_FILES {
        return refuse(format!(
            "the folder contains {} meshes; the maximum is {MAX_FILES}",
            files.len()
        ));
    }
    files.sort();
    files.iter().map(|path| Scan::read(path, max_vertices)).collect()
}

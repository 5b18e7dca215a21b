//! Shapes and mass properties.

use std::path::PathBuf;

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use riprap::math::Vec3;
use riprap::shape::{MassProperties as CoreMass, Shape as CoreShape, ShapeError};
use riprap_io::mesh::Mesh;

use crate::pose::Pose;
use crate::{convert, errors};

/// The shape of a body, in the frame of the body. Impossible sizes raise ValueError.
///
/// >>> import riprap as rr
/// >>> brick = rr.Shape.cuboid(0.2, 0.1, 0.05)
/// >>> round(brick.volume, 6), round(brick.mass_properties(2000.0).mass, 6)
/// (0.001, 2.0)
#[pyclass(frozen, from_py_object, module = "riprap")]
#[derive(Clone)]
pub struct Shape(pub CoreShape);

fn made(shape: Result<CoreShape, ShapeError>) -> PyResult<Shape> {
    shape.map(Shape).map_err(errors::value)
}

#[pymethods]
impl Shape {
    /// A ball around the origin; radius [m].
    #[staticmethod]
    fn sphere(radius: f64) -> PyResult<Shape> {
        made(CoreShape::sphere(radius))
    }

    /// All points below a plane through the origin with this outward normal: a wall or floor for bodies that are fixed or
    /// follow a prescribed motion.
    #[staticmethod]
    #[pyo3(signature = (normal=[0.0, 0.0, 1.0]), text_signature = "(normal=(0.0, 0.0, 1.0))")]
    fn half_space(normal: [f64; 3]) -> PyResult<Shape> {
        made(CoreShape::half_space(convert::direction(normal)?))
    }

    /// A box with these side lengths [m], centred at the origin.
    #[staticmethod]
    fn cuboid(x: f64, y: f64, z: f64) -> PyResult<Shape> {
        made(CoreShape::cuboid([x, y, z]))
    }

    /// The convex hull of points [m], an array of three columns.
    #[staticmethod]
    fn hull(points: Vec<[f64; 3]>) -> PyResult<Shape> {
        let points: Vec<Vec3> = points.into_iter().map(Vec3::from).collect();
        made(CoreShape::hull(&points))
    }

    /// A closed triangle mesh, decomposed into at most `max_parts` convex parts; vertices [m].
    #[staticmethod]
    #[pyo3(signature = (vertices, triangles, max_parts=16))]
    fn mesh(
        py: Python<'_>,
        vertices: Vec<[f64; 3]>,
        triangles: Vec<[u32; 3]>,
        max_parts: usize,
    ) -> PyResult<Shape> {
        let vertices: Vec<Vec3> = vertices.into_iter().map(Vec3::from).collect();
        py.detach(|| made(CoreShape::decomposed_mesh(&vertices, &triangles, max_parts)))
    }

    /// A triangle mesh from a file, `.stl`, `.obj` or `.ply`, with its coordinates multiplied by `scale` (0.001 if they are in
    /// mm): its convex hull or, with `max_parts`, at most so many convex parts; it must then be closed.
    #[staticmethod]
    #[pyo3(signature = (path, *, scale=1.0, max_parts=None))]
    fn from_file(
        py: Python<'_>,
        path: PathBuf,
        scale: f64,
        max_parts: Option<usize>,
    ) -> PyResult<Shape> {
        py.detach(|| {
            let mesh = Mesh::read(&path).map_err(errors::file)?;
            let vertices: Vec<Vec3> =
                mesh.vertices.iter().map(|v| Vec3::from(*v) * scale).collect();
            made(match max_parts {
                None => CoreShape::hull(&vertices),
                Some(n) => CoreShape::decomposed_mesh(&vertices, &mesh.triangles, n),
            })
        })
    }

    /// Several shapes that move together: pairs of a pose and a shape.
    #[staticmethod]
    fn compound(parts: Vec<(Bound<'_, Pose>, Bound<'_, Shape>)>) -> PyResult<Shape> {
        let parts = parts.iter().map(|(pose, shape)| (pose.get().0, shape.get().0.clone()));
        made(CoreShape::compound(parts.collect()))
    }

    /// A box that is open at the top; inner lengths [m] and thickness of the walls [m]. The top of its floor is at z = 0.
    #[staticmethod]
    #[pyo3(signature = (x, y, z, wall=0.02))]
    fn open_box(x: f64, y: f64, z: f64, wall: f64) -> PyResult<Shape> {
        made(CoreShape::open_box([x, y, z], wall))
    }

    /// A disc in the plane x–y, for planar scenes; radius and thickness [m].
    #[staticmethod]
    #[pyo3(signature = (radius, thickness=1.0))]
    fn disc(radius: f64, thickness: f64) -> PyResult<Shape> {
        made(CoreShape::disc(radius, thickness))
    }

    /// The convex hull of points in the plane x–y [m], for planar scenes.
    #[staticmethod]
    #[pyo3(signature = (points, thickness=1.0))]
    fn polygon(points: Vec<[f64; 2]>, thickness: f64) -> PyResult<Shape> {
        made(CoreShape::polygon(&points, thickness))
    }

    /// Mass, centre and inertia for a density [kg/m³]; None for a half-space.
    #[pyo3(signature = (density=1.0))]
    fn mass_properties(&self, density: f64) -> Option<MassProperties> {
        self.0.mass_properties(density).map(MassProperties)
    }

    /// Volume [m³]; infinite for a half-space.
    #[getter]
    fn volume(&self) -> f64 {
        self.0.mass_properties(1.0).map_or(f64::INFINITY, |m| m.mass)
    }

    /// Diameter of the sphere of equal volume [m]; None for a half-space.
    #[getter]
    fn size(&self) -> Option<f64> {
        self.0.size()
    }

    /// Whether it is for planar scenes.
    #[getter]
    fn is_planar(&self) -> bool {
        self.0.is_planar()
    }

    /// Its convex parts with their poses.
    fn parts(&self) -> Vec<(Pose, Shape)> {
        self.0.parts().into_iter().map(|(pose, shape)| (Pose(pose), Shape(shape))).collect()
    }

    /// Corners of a convex polyhedron [m], one per row; None for other shapes.
    fn vertices<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray2<f64>>>> {
        let CoreShape::Polyhedron(p) = &self.0 else { return Ok(None) };
        let rows = p.vertices().iter().flat_map(|v| [v.x, v.y, v.z]).collect();
        convert::table(py, rows, 3).map(Some)
    }

    fn __repr__(&self) -> String {
        match &self.0 {
            CoreShape::Sphere { radius } => format!("Shape.sphere({radius:?})"),
            CoreShape::HalfSpace { normal: n } => {
                format!("Shape.half_space(({:?}, {:?}, {:?}))", n.x, n.y, n.z)
            }
            CoreShape::Polyhedron(p) => {
                format!("<Shape: polyhedron, {} corners>", p.vertices().len())
            }
            CoreShape::Compound(c) => format!("<Shape: compound, {} parts>", c.parts.len()),
            CoreShape::Disc { radius, thickness } => {
                format!("Shape.disc({radius:?}, {thickness:?})")
            }
            CoreShape::Polygon(p) => format!("<Shape: polygon, {} corners>", p.vertices().len()),
        }
    }
}

/// Mass [kg], centre of mass [m] and inertia about it [kg m²].
///
/// >>> import riprap as rr
/// >>> rod = rr.MassProperties.rod((0, 0, -1), mass=3.0)
/// >>> rod.mass, rod.centre.tolist(), rod.inertia.diagonal().tolist()
/// (3.0, [0.0, 0.0, -0.5], [0.25, 0.25, 0.0])
#[pyclass(frozen, eq, from_py_object, module = "riprap")]
#[derive(Clone, PartialEq)]
pub struct MassProperties(pub CoreMass);

#[pymethods]
impl MassProperties {
    /// `inertia` is one number, three principal moments, or a matrix [kg m²].
    #[new]
    #[pyo3(signature = (mass, centre=[0.0; 3], inertia=None), text_signature = "(mass, centre=(0.0, 0.0, 0.0), inertia=None)")]
    fn new(mass: f64, centre: [f64; 3], inertia: Option<&Bound<PyAny>>) -> PyResult<Self> {
        let mut made = CoreMass::point(mass, centre);
        if let Some(inertia) = inertia {
            made.inertia = convert::inertia(inertia)?;
        }
        Ok(MassProperties(made))
    }

    /// A thin rod from the origin to `end` [m].
    #[staticmethod]
    fn rod(end: [f64; 3], mass: f64) -> MassProperties {
        MassProperties(CoreMass::rod(end, mass))
    }

    /// Mass [kg].
    #[getter]
    fn mass(&self) -> f64 {
        self.0.mass
    }

    /// Centre of mass [m].
    #[getter]
    fn centre<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        convert::vector(py, &self.0.centre)
    }

    /// Inertia about the centre of mass [kg m²].
    #[getter]
    fn inertia<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        convert::matrix(py, &self.0.inertia)
    }

    fn __repr__(&self) -> String {
        format!("<MassProperties of {:?} kg>", self.0.mass)
    }
}

//! Shapes and mass properties.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use riprap::math::Vec3;
use riprap::shape::{Core, Curved, MassProperties as CoreMass, Shape as CoreShape, ShapeError};
use riprap_io::mesh::Mesh;

use crate::exit;
use crate::pose::Pose;
use crate::saving::{Saved, Table, list_of, number, numbers, text, vector};
use crate::{convert, errors};

/// The shape of a body, in the frame of the body. Impossible sizes raise ValueError.
///
/// >>> import riprap as rr
/// >>> brick = rr.Shape.cuboid(0.2, 0.1, 0.05)
/// >>> round(brick.volume, 6), round(brick.mass_properties(2000.0).mass, 6)
/// (0.001, 2.0)
#[pyclass(frozen, from_py_object, module = "riprap")]
#[derive(Clone)]
pub struct Shape(pub CoreShape, pub Arc<Saved>);

/// A shape, and how it is written in a scene file.
fn made(shape: Result<CoreShape, ShapeError>, saved: Saved) -> PyResult<Shape> {
    shape.map(|shape| Shape(shape, Arc::new(saved))).map_err(errors::value)
}

/// A table with a type of shape.
fn typed(word: &str) -> Table {
    let mut table = Table::default();
    table.set("type", text(word));
    table
}

/// How a curved shape is written in a scene file.
fn curved(c: &Curved) -> Saved {
    let mut table = typed(c.kind());
    match c.core() {
        Core::Segment { half } => {
            table.set("radius", number(c.radius())).set("length", number(2.0 * half))
        }
        Core::Cylinder { radius, half } => {
            table.set("radius", number(*radius)).set("length", number(2.0 * half))
        }
        Core::Cone { radius, half } => {
            table.set("radius", number(*radius)).set("height", number(2.0 * half))
        }
        Core::Hull(p) => {
            let core = (*Shape::of(CoreShape::Polyhedron(p.clone())).1).clone()?;
            table.set("radius", number(c.radius())).set("core", core)
        }
    };
    Ok(table.inline())
}

impl Shape {
    /// A shape of the core, written by its corners.
    pub fn of(shape: CoreShape) -> Shape {
        let saved = match &shape {
            CoreShape::Polyhedron(p) => Ok(typed("polyhedron")
                .set("points", list_of(p.vertices().iter().map(vector)))
                .inline()),
            CoreShape::Polygon(p) => {
                let points = list_of(p.vertices().iter().map(|v| numbers(v)));
                Ok(typed("polygon")
                    .set("points", points)
                    .set("thickness", number(p.thickness()))
                    .inline())
            }
            CoreShape::Sphere { radius } => {
                Ok(typed("sphere").set("radius", number(*radius)).inline())
            }
            CoreShape::HalfSpace { normal } => {
                Ok(typed("half-space").set("normal", vector(normal)).inline())
            }
            CoreShape::Disc { radius, thickness } => Ok(typed("disc")
                .set("radius", number(*radius))
                .set("thickness", number(*thickness))
                .inline()),
            CoreShape::Curved(c) => curved(c),
            CoreShape::Compound(c) => {
                let parts = c.parts.iter().map(|(pose, part)| {
                    let mut table = Table::default();
                    let saved = Shape::of(part.clone()).1;
                    Ok(table.set("shape", (*saved).clone()?).pose(pose).inline())
                });
                let parts = parts.collect::<Result<Vec<String>, String>>();
                parts.map(|parts| typed("compound").set("parts", list_of(parts)).inline())
            }
        };
        Shape(shape, Arc::new(saved))
    }
}

#[pymethods]
impl Shape {
    /// A ball around the origin; radius [m].
    #[staticmethod]
    fn sphere(radius: f64) -> PyResult<Shape> {
        CoreShape::sphere(radius).map(Shape::of).map_err(errors::value)
    }

    /// All points below a plane through the origin with this outward normal: a wall or floor for bodies that are fixed or
    /// follow a prescribed motion.
    #[staticmethod]
    #[pyo3(signature = (normal=[0.0, 0.0, 1.0]), text_signature = "(normal=(0.0, 0.0, 1.0))")]
    fn half_space(normal: [f64; 3]) -> PyResult<Shape> {
        let saved = typed("half-space").set("normal", numbers(&normal)).inline();
        made(CoreShape::half_space(convert::direction(normal)?), Ok(saved))
    }

    /// A box with these side lengths [m], centred at the origin.
    #[staticmethod]
    fn cuboid(x: f64, y: f64, z: f64) -> PyResult<Shape> {
        let saved = typed("box").set("size", numbers(&[x, y, z])).inline();
        made(CoreShape::cuboid([x, y, z]), Ok(saved))
    }

    /// A capsule along z, centred at the origin: a cylinder with half-balls as ends. Radius and distance between the centres of its
    /// ends [m]; it is longer by twice its radius.
    ///
    /// >>> import riprap as rr
    /// >>> capsule = rr.Shape.capsule(0.1, 0.3)
    /// >>> round(capsule.volume, 6), capsule
    /// (0.013614, Shape.capsule(0.1, 0.3))
    #[staticmethod]
    fn capsule(radius: f64, length: f64) -> PyResult<Shape> {
        CoreShape::capsule(radius, length).map(Shape::of).map_err(errors::value)
    }

    /// A cylinder along z, centred at the origin; radius and length [m].
    ///
    /// >>> import riprap as rr
    /// >>> rr.Shape.cylinder(0.1, 0.3).mass_properties(1000.0).centre.tolist()
    /// [0.0, 0.0, 0.0]
    #[staticmethod]
    fn cylinder(radius: f64, length: f64) -> PyResult<Shape> {
        CoreShape::cylinder(radius, length).map(Shape::of).map_err(errors::value)
    }

    /// A cone along z: its base, of this radius, at z = -height/2 and its tip at z = height/2 [m].
    ///
    /// >>> import riprap as rr
    /// >>> rr.Shape.cone(0.1, 0.4).mass_properties(1000.0).centre.tolist()
    /// [0.0, 0.0, -0.1]
    #[staticmethod]
    fn cone(radius: f64, height: f64) -> PyResult<Shape> {
        CoreShape::cone(radius, height).map(Shape::of).map_err(errors::value)
    }

    /// A convex polyhedron with rounded edges and corners: all points within `radius` [m] of a box, a hull or the hull of a mesh. It is
    /// larger than this core by the radius on every side.
    ///
    /// >>> import riprap as rr
    /// >>> die = rr.Shape.rounded(rr.Shape.cuboid(0.016, 0.016, 0.016), 0.002)
    /// >>> round(1e6 * die.volume, 4)
    /// 7.8047
    #[staticmethod]
    fn rounded(core: &Bound<'_, Shape>, radius: f64) -> PyResult<Shape> {
        let saved = (*core.get().1)
            .clone()
            .map(|core| typed("rounded").set("radius", number(radius)).set("core", core).inline());
        made(CoreShape::rounded(&core.get().0, radius), saved)
    }

    /// The convex hull of points [m], an array of three columns.
    #[staticmethod]
    fn hull(points: Vec<[f64; 3]>) -> PyResult<Shape> {
        let list = list_of(points.iter().map(|point| numbers(point)));
        let points: Vec<Vec3> = points.into_iter().map(Vec3::from).collect();
        made(CoreShape::hull(&points), Ok(typed("polyhedron").set("points", list).inline()))
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
        exit::detach(py, || CoreShape::decomposed_mesh(&vertices, &triangles, max_parts))
            .map(Shape::of)
            .map_err(errors::value)
    }

    /// Reads a mesh from a `.stl`, `.obj` or `.ply` file whose coordinates are multiplied by `scale` [–] (0.001 if they are in
    /// mm): its convex hull, or at most `max_parts` convex parts.
    #[staticmethod]
    #[pyo3(signature = (path, *, scale=1.0, max_parts=None))]
    fn from_file(
        py: Python<'_>,
        path: PathBuf,
        scale: f64,
        max_parts: Option<usize>,
    ) -> PyResult<Shape> {
        if !(scale > 0.0 && scale.is_finite()) {
            return Err(errors::value("the scale must be positive"));
        }
        let read = || {
            let mesh = Mesh::read(&path).map_err(errors::file)?;
            let vertices: Vec<Vec3> =
                mesh.vertices.iter().map(|v| Vec3::from(*v) * scale).collect();
            let mut table = typed("mesh");
            let absolute = std::path::absolute(&path).map_err(errors::file)?;
            table.set("file", text(&absolute.to_string_lossy())).set("scale", number(scale));
            if let Some(n) = max_parts {
                table.set("as", text("parts")).set("max_parts", n.to_string());
            }
            let shape = match max_parts {
                None => CoreShape::hull(&vertices),
                Some(n) => CoreShape::decomposed_mesh(&vertices, &mesh.triangles, n),
            };
            made(shape, Ok(table.inline()))
        };
        exit::detach(py, read)
    }

    /// Several shapes that move together: pairs of a pose and a shape.
    #[staticmethod]
    fn compound(parts: Vec<(Bound<'_, Pose>, Bound<'_, Shape>)>) -> PyResult<Shape> {
        let saved = parts.iter().map(|(pose, shape)| {
            let mut table = Table::default();
            Ok(table.set("shape", (*shape.get().1).clone()?).pose(&pose.get().0).inline())
        });
        let saved = saved.collect::<Result<Vec<String>, String>>();
        let saved = saved.map(|parts| typed("compound").set("parts", list_of(parts)).inline());
        let parts = parts.iter().map(|(pose, shape)| (pose.get().0, shape.get().0.clone()));
        made(CoreShape::compound(parts.collect()), saved)
    }

    /// A box that is open at the top; inner lengths [m] and thickness of the walls [m]. The top of its floor is at z = 0.
    #[staticmethod]
    #[pyo3(signature = (x, y, z, wall=0.02))]
    fn open_box(x: f64, y: f64, z: f64, wall: f64) -> PyResult<Shape> {
        let mut table = typed("open-box");
        let saved = table.set("size", numbers(&[x, y, z])).set("wall", number(wall)).inline();
        made(CoreShape::open_box([x, y, z], wall), Ok(saved))
    }

    /// A disc in the plane x–y, for planar scenes; radius and thickness [m].
    #[staticmethod]
    #[pyo3(signature = (radius, thickness=1.0))]
    fn disc(radius: f64, thickness: f64) -> PyResult<Shape> {
        CoreShape::disc(radius, thickness).map(Shape::of).map_err(errors::value)
    }

    /// The convex hull of points in the plane x–y [m], for planar scenes.
    #[staticmethod]
    #[pyo3(signature = (points, thickness=1.0))]
    fn polygon(points: Vec<[f64; 2]>, thickness: f64) -> PyResult<Shape> {
        let list = list_of(points.iter().map(|point| numbers(point)));
        let mut table = typed("polygon");
        let saved = table.set("points", list).set("thickness", number(thickness)).inline();
        made(CoreShape::polygon(&points, thickness), Ok(saved))
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

    /// Size of the smallest square aperture that it passes, or of the narrowest gap in the plane; the diameter of balls and discs
    /// [m]. None for half-spaces and compounds.
    #[getter]
    fn sieve_size(&self) -> Option<f64> {
        riprap::grains::aperture_of(&self.0)
    }

    /// Splits a convex polyhedron or polygon along a plane through a point [m] with a normal; first the part along the normal.
    fn split(&self, normal: &Bound<PyAny>, through: [f64; 3]) -> PyResult<(Shape, Shape)> {
        let normal = convert::axis(normal)?.0;
        let [a, b] = self.0.split(normal, Vec3::from(through)).map_err(errors::value)?;
        Ok((Shape::of(a), Shape::of(b)))
    }

    /// Its convex parts with their poses.
    fn parts(&self) -> Vec<(Pose, Shape)> {
        self.0.parts().into_iter().map(|(pose, shape)| (Pose(pose), Shape::of(shape))).collect()
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
            CoreShape::Curved(c) => match c.core() {
                Core::Segment { half } => {
                    format!("Shape.capsule({:?}, {:?})", c.radius(), 2.0 * half)
                }
                Core::Cylinder { radius, half } => {
                    format!("Shape.cylinder({radius:?}, {:?})", 2.0 * half)
                }
                Core::Cone { radius, half } => format!("Shape.cone({radius:?}, {:?})", 2.0 * half),
                Core::Hull(p) => {
                    let corners = p.vertices().len();
                    format!("<Shape: rounded by {:?} m, {corners} corners>", c.radius())
                }
            },
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

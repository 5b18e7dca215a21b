//! Rotations and poses.

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use riprap::math::{Pose as CorePose, Quat, Vec3};

use crate::{convert, errors};

/// A rotation in space. Wherever a rotation is expected, a quaternion (w, x, y, z) may be given as well.
///
/// >>> import math, riprap as rr
/// >>> quarter = rr.Rotation("z", math.pi / 2)
/// >>> quarter.apply((1, 0, 0)).round(12).tolist()
/// [0.0, 1.0, 0.0]
#[pyclass(frozen, eq, module = "riprap")]
#[derive(Clone, PartialEq)]
pub struct Rotation(pub Quat);

#[pymethods]
impl Rotation {
    /// By an angle [rad] about an axis.
    #[new]
    fn new(axis: &Bound<PyAny>, angle: f64) -> PyResult<Rotation> {
        // As the scene file computes it.
        let axis = convert::axis(axis)?.0;
        let (sin, cos) = (0.5 * angle).sin_cos();
        convert::quaternion([cos, sin * axis.x, sin * axis.y, sin * axis.z]).map(Rotation)
    }

    /// No rotation.
    #[staticmethod]
    fn identity() -> Rotation {
        Rotation(Quat::identity())
    }

    /// From a quaternion of any length.
    #[staticmethod]
    fn quaternion(w: f64, x: f64, y: f64, z: f64) -> PyResult<Rotation> {
        convert::quaternion([w, x, y, z]).map(Rotation)
    }

    /// Components w, x, y, z [–].
    #[getter]
    fn wxyz<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &convert::wxyz(&self.0))
    }

    /// The matrix of the rotation [–].
    fn matrix<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        convert::matrix(py, self.0.to_rotation_matrix().matrix())
    }

    /// Rotates a vector.
    fn apply<'py>(&self, py: Python<'py>, vector: [f64; 3]) -> Bound<'py, PyArray1<f64>> {
        convert::vector(py, &(self.0 * Vec3::from(vector)))
    }

    /// The opposite rotation.
    fn inverse(&self) -> Rotation {
        Rotation(self.0.inverse())
    }

    /// The other rotation, then this one.
    fn __matmul__(&self, other: &Rotation) -> Rotation {
        Rotation(self.0 * other.0)
    }

    fn __repr__(&self) -> String {
        let [w, x, y, z] = convert::wxyz(&self.0);
        format!("Rotation.quaternion({w:?}, {x:?}, {y:?}, {z:?})")
    }
}

/// Position [m] and orientation of a frame.
///
/// >>> import riprap as rr
/// >>> pose = rr.Pose((1, 0, 0), rr.Rotation("z", 3.141592653589793))
/// >>> pose.point((1, 0, 0)).round(12).tolist()
/// [0.0, 0.0, 0.0]
#[pyclass(frozen, eq, module = "riprap")]
#[derive(Clone, PartialEq)]
pub struct Pose(pub CorePose);

#[pymethods]
impl Pose {
    #[new]
    #[pyo3(signature = (position=[0.0; 3], rotation=None), text_signature = "(position=(0.0, 0.0, 0.0), rotation=None)")]
    fn new(position: [f64; 3], rotation: Option<&Bound<PyAny>>) -> PyResult<Pose> {
        Ok(Pose(pose(position, rotation)?))
    }

    /// Origin [m].
    #[getter]
    fn position<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        convert::vector(py, &self.0.position)
    }

    /// Orientation.
    #[getter]
    fn rotation(&self) -> Rotation {
        Rotation(self.0.rotation)
    }

    /// A point of the frame in the world [m].
    fn point<'py>(&self, py: Python<'py>, point: [f64; 3]) -> Bound<'py, PyArray1<f64>> {
        convert::vector(py, &self.0.point(Vec3::from(point)))
    }

    /// A point of the world in the frame [m].
    fn inverse_point<'py>(&self, py: Python<'py>, point: [f64; 3]) -> Bound<'py, PyArray1<f64>> {
        convert::vector(py, &self.0.inverse_point(Vec3::from(point)))
    }

    /// The pose in the world of a frame that is given in this one.
    fn __matmul__(&self, other: &Pose) -> Pose {
        Pose(self.0.compose(&other.0))
    }

    fn __repr__(&self) -> String {
        let p = self.0.position;
        let rotation = Rotation(self.0.rotation).__repr__();
        format!("Pose(({:?}, {:?}, {:?}), {rotation})", p.x, p.y, p.z)
    }
}

/// A pose from its parts.
pub fn pose(position: [f64; 3], rotation: Option<&Bound<PyAny>>) -> PyResult<CorePose> {
    if !position.iter().all(|x| x.is_finite()) {
        return Err(errors::value("a position must be finite"));
    }
    Ok(CorePose { position: Vec3::from(position), rotation: convert::rotation(rotation)? })
}

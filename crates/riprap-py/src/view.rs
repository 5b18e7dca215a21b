//! Snapshots of parts of a simulation.

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;

use riprap::math::{Pose as CorePose, Twist, Vec3};

use crate::convert;
use crate::pose::Pose;

/// A body at one time.
///
/// >>> import riprap as rr
/// >>> scene = rr.SceneBuilder()
/// >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), rr.Material("steel", density=7800.0), position=(0, 0, 1)))
/// >>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
/// >>> run.body(ball).position.tolist()
/// [0.0, 0.0, 1.0]
#[pyclass(frozen, module = "riprap")]
pub struct BodyState {
    pose: CorePose,
    twist: Twist,
    mass: f64,
}

impl BodyState {
    pub fn new(pose: CorePose, twist: Twist, mass: f64) -> BodyState {
        BodyState { pose, twist, mass }
    }
}

#[pymethods]
impl BodyState {
    /// Centre of mass [m].
    #[getter]
    fn position<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        convert::vector(py, &self.pose.position)
    }

    /// Orientation as a quaternion w, x, y, z.
    #[getter]
    fn rotation<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &convert::wxyz(&self.pose.rotation))
    }

    /// Velocity of the centre of mass [m/s].
    #[getter]
    fn velocity<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        convert::vector(py, &self.twist.linear)
    }

    /// Angular velocity [rad/s].
    #[getter]
    fn angular_velocity<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        convert::vector(py, &self.twist.angular)
    }

    /// Position and orientation.
    #[getter]
    fn pose(&self) -> Pose {
        Pose(self.pose)
    }

    /// Mass [kg]; infinite if impulses do not move it.
    #[getter]
    fn mass(&self) -> f64 {
        self.mass
    }

    fn __repr__(&self) -> String {
        let p = self.pose.position;
        format!("<BodyState at ({:?}, {:?}, {:?}) m>", p.x, p.y, p.z)
    }
}

/// A group of grains at one time; one row per grain.
///
/// >>> import riprap as rr
/// >>> rock = rr.Material("rock", density=2700.0, friction=0.6)
/// >>> scene = rr.SceneBuilder()
/// >>> rocks = scene.add_grains(rr.Grains.spheres(5, radius=(0.01, 0.02), material=rock, inside=((0, 0, 0), (1, 1, 1))))
/// >>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
/// >>> run.grains(rocks).positions.shape
/// (5, 3)
#[pyclass(frozen, module = "riprap")]
pub struct GrainsState(Vec<(CorePose, Twist)>);

impl GrainsState {
    pub fn new(grains: Vec<(CorePose, Twist)>) -> GrainsState {
        GrainsState(grains)
    }

    fn vectors<'py>(
        &self,
        py: Python<'py>,
        of: impl Fn(&(CorePose, Twist)) -> Vec3,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        convert::table(py, self.0.iter().flat_map(|g| <[f64; 3]>::from(of(g))).collect(), 3)
    }
}

#[pymethods]
impl GrainsState {
    /// Centres of mass [m].
    #[getter]
    fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.vectors(py, |(pose, _)| pose.position)
    }

    /// Orientations as quaternions w, x, y, z.
    #[getter]
    fn rotations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = self.0.iter().flat_map(|(pose, _)| convert::wxyz(&pose.rotation)).collect();
        convert::table(py, rows, 4)
    }

    /// Velocities [m/s].
    #[getter]
    fn velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.vectors(py, |(_, twist)| twist.linear)
    }

    /// Angular velocities [rad/s].
    #[getter]
    fn angular_velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.vectors(py, |(_, twist)| twist.angular)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}

/// The coordinates of a mechanism at one time.
///
/// >>> import riprap as rr
/// >>> pendulum = rr.Mechanism("pendulum")
/// >>> arm = pendulum.revolute(rr.GROUND, axis="y", body=rr.Body.point(2.0, at=(0, 0, -1)))
/// >>> pendulum.start(arm, 0.1)
/// >>> scene = rr.SceneBuilder()
/// >>> handle = scene.add_mechanism(pendulum)
/// >>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
/// >>> run.mechanism(handle).q.tolist(), run.joint(handle, arm).position
/// ([0.1], 0.1)
#[pyclass(frozen, module = "riprap")]
pub struct MechanismState {
    q: Vec<f64>,
    v: Vec<f64>,
}

impl MechanismState {
    pub fn new(q: Vec<f64>, v: Vec<f64>) -> MechanismState {
        MechanismState { q, v }
    }
}

#[pymethods]
impl MechanismState {
    /// Positions of all joints [m, rad].
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.q)
    }

    /// Velocities of all joints [m/s, rad/s].
    #[getter]
    fn v<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.v)
    }
}

/// A coordinate of a joint at one time.
///
/// >>> import riprap as rr
/// >>> pendulum = rr.Mechanism("pendulum")
/// >>> arm = pendulum.revolute(rr.GROUND, axis="y", body=rr.Body.point(2.0, at=(0, 0, -1)))
/// >>> scene = rr.SceneBuilder()
/// >>> handle = scene.add_mechanism(pendulum)
/// >>> rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3)).joint(handle, arm).velocity
/// 0.0
#[pyclass(frozen, get_all, module = "riprap")]
pub struct JointState {
    /// Position [m, rad]; NaN for the rotation of a spherical joint.
    pub position: f64,
    /// Velocity [m/s, rad/s].
    pub velocity: f64,
}

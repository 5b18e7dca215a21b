//! Handles of bodies, links, mechanisms, groups and ropes. Each knows the description that it belongs to, so that a handle of
//! another scene is an error instead of another body.

use pyo3::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

use riprap::multibody::{GROUND, Link as CoreLink};

/// A number that no other description of the process has.
pub fn fresh() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Handle of a body of a scene, valid for the scene that its builder builds.
///
/// >>> import riprap as rr
/// >>> scene = rr.SceneBuilder()
/// >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), rr.Material("steel", density=7800.0)))
/// >>> ball.index
/// 0
#[pyclass(frozen, eq, hash, from_py_object, module = "riprap")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct BodyHandle {
    pub scene: u64,
    pub id: u32,
}

#[pymethods]
impl BodyHandle {
    /// Row of the body in the arrays of a simulation.
    #[getter]
    fn index(&self) -> u32 {
        self.id
    }

    fn __repr__(&self) -> String {
        format!("<BodyHandle {}>", self.id)
    }
}

/// Handle of a mechanism of a scene.
///
/// >>> import riprap as rr
/// >>> arm = rr.Mechanism("arm")
/// >>> link = arm.revolute(rr.GROUND, axis="y", body=rr.Body.rod((0, 0, -1), mass=2.0))
/// >>> scene = rr.SceneBuilder()
/// >>> scene.add_mechanism(arm).index
/// 0
#[pyclass(frozen, eq, hash, from_py_object, module = "riprap")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct MechanismHandle {
    pub scene: u64,
    pub id: u32,
}

#[pymethods]
impl MechanismHandle {
    /// Index among the mechanisms of the scene.
    #[getter]
    fn index(&self) -> u32 {
        self.id
    }

    fn __repr__(&self) -> String {
        format!("<MechanismHandle {}>", self.id)
    }
}

/// Handle of a body of a mechanism and of the joint that carries it. `riprap.GROUND` is the base of every mechanism.
///
/// >>> import riprap as rr
/// >>> arm = rr.Mechanism("arm")
/// >>> arm.revolute(rr.GROUND, axis="y", body=rr.Body.rod((0, 0, -1), mass=2.0)).index
/// 0
#[pyclass(frozen, eq, hash, from_py_object, module = "riprap")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Link {
    pub mechanism: u64,
    pub id: u32,
}

impl Link {
    /// The base of every mechanism.
    pub const GROUND: Link = Link { mechanism: 0, id: GROUND.0 };

    /// The link of the core.
    pub fn core(self) -> CoreLink {
        CoreLink(self.id)
    }
}

#[pymethods]
impl Link {
    /// Index among the bodies of the mechanism; None for the ground.
    #[getter]
    fn index(&self) -> Option<u32> {
        (self.id != GROUND.0).then_some(self.id)
    }

    fn __repr__(&self) -> String {
        if self.id == GROUND.0 { "GROUND".into() } else { format!("<Link {}>", self.id) }
    }
}

/// Handle of a coordinate of a mechanism: the k-th of the joint that carries a link.
///
/// >>> import riprap as rr
/// >>> arm = rr.Mechanism("arm")
/// >>> link = arm.revolute(rr.GROUND, axis="y", body=rr.Body.rod((0, 0, -1), mass=2.0))
/// >>> arm.coordinate(link).index
/// 0
#[pyclass(frozen, eq, hash, from_py_object, module = "riprap")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Coordinate {
    pub mechanism: u64,
    pub id: u32,
}

#[pymethods]
impl Coordinate {
    /// Index among the velocities of the mechanism.
    #[getter]
    fn index(&self) -> u32 {
        self.id
    }

    fn __repr__(&self) -> String {
        format!("<Coordinate {}>", self.id)
    }
}

/// Handle of a group of grains: bodies with consecutive indices.
///
/// >>> import riprap as rr
/// >>> rock = rr.Material("rock", density=2700.0, friction=0.6)
/// >>> scene = rr.SceneBuilder()
/// >>> rocks = scene.add_grains(rr.Grains.spheres(10, radius=(0.01, 0.02), material=rock, inside=((0, 0, 0), (1, 1, 1))))
/// >>> len(rocks)
/// 10
#[pyclass(frozen, eq, hash, from_py_object, module = "riprap")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct GrainsHandle {
    pub scene: u64,
    pub start: u32,
    pub end: u32,
}

#[pymethods]
impl GrainsHandle {
    fn __len__(&self) -> usize {
        (self.end - self.start) as usize
    }

    /// The grain with an index in the group.
    fn __getitem__(&self, index: isize) -> PyResult<BodyHandle> {
        let n = self.__len__() as isize;
        let at = if index < 0 { index + n } else { index };
        if !(0..n).contains(&at) {
            let message = format!("grain {index} of a group of {n}");
            return Err(pyo3::exceptions::PyIndexError::new_err(message));
        }
        Ok(BodyHandle { scene: self.scene, id: self.start + at as u32 })
    }

    fn __repr__(&self) -> String {
        format!("<GrainsHandle of {} bodies>", self.end - self.start)
    }
}

/// Handle of a rope of a scene.
///
/// >>> import riprap as rr
/// >>> scene = rr.SceneBuilder()
/// >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), rr.Material("steel", density=7800.0), position=(0, 0, -1)))
/// >>> scene.add_rope("rope", [(None, (0, 0, 0)), (ball, (0, 0, 0.1))]).index
/// 0
#[pyclass(frozen, eq, hash, from_py_object, module = "riprap")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct RopeHandle {
    pub scene: u64,
    pub id: u32,
}

#[pymethods]
impl RopeHandle {
    /// Index among the ropes of the scene.
    #[getter]
    fn index(&self) -> u32 {
        self.id
    }

    fn __repr__(&self) -> String {
        format!("<RopeHandle {}>", self.id)
    }
}

/// Handle of a flexible body of a scene; its nodes are (handle, k), counted from 0.
///
/// >>> import riprap as rr
/// >>> scene = rr.SceneBuilder()
/// >>> scene.add_flexible(rr.Flexible.bar("bar", [(0, 0, 0), (1, 0, 0)], area=1e-4)).index
/// 0
#[pyclass(frozen, eq, hash, from_py_object, module = "riprap")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct FlexibleHandle {
    pub scene: u64,
    pub id: u32,
}

#[pymethods]
impl FlexibleHandle {
    /// Index among the flexible bodies of the scene.
    #[getter]
    fn index(&self) -> u32 {
        self.id
    }

    fn __repr__(&self) -> String {
        format!("<FlexibleHandle {}>", self.id)
    }
}

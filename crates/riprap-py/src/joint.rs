//! Joints, cuts of loops, motors and phases of laws.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use riprap::multibody::{Axis, Cut as CoreCut, Joint as CoreJoint};

use crate::convert;

/// How a body of a mechanism moves relative to its parent. Axes are "x", "y", "z", "-x", … or three components.
///
/// >>> import riprap as rr
/// >>> rr.Joint.universal("y", "z")
/// <Joint universal>
#[pyclass(frozen, eq, from_py_object, module = "riprap")]
#[derive(Clone, PartialEq)]
pub struct Joint(pub CoreJoint);

#[pymethods]
impl Joint {
    /// Rotates about an axis.
    #[staticmethod]
    fn revolute(axis: &Bound<PyAny>) -> PyResult<Joint> {
        Ok(Joint(CoreJoint::Revolute(convert::axis(axis)?)))
    }

    /// Slides along an axis.
    #[staticmethod]
    fn prismatic(axis: &Bound<PyAny>) -> PyResult<Joint> {
        Ok(Joint(CoreJoint::Prismatic(convert::axis(axis)?)))
    }

    /// Slides along an axis and rotates about it; coordinates `slide`, `turn`.
    #[staticmethod]
    fn cylindrical(axis: &Bound<PyAny>) -> PyResult<Joint> {
        Ok(Joint(CoreJoint::Cylindrical(convert::axis(axis)?)))
    }

    /// Rotates about a first axis, then about a second one that moves with it; coordinates `first`, `second`.
    #[staticmethod]
    fn universal(first: &Bound<PyAny>, second: &Bound<PyAny>) -> PyResult<Joint> {
        Ok(Joint(CoreJoint::Universal(convert::axis(first)?, convert::axis(second)?)))
    }

    /// Moves in the plane of two axes and rotates about their normal; coordinates `x`, `y`, `angle`.
    #[staticmethod]
    #[pyo3(signature = (first=None, second=None))]
    fn planar(first: Option<&Bound<PyAny>>, second: Option<&Bound<PyAny>>) -> PyResult<Joint> {
        let first = first.map_or(Ok(Axis::X), convert::axis)?;
        let second = second.map_or(Ok(Axis::Y), convert::axis)?;
        Ok(Joint(CoreJoint::Planar(first, second)))
    }

    /// Rotates freely about a point.
    #[staticmethod]
    fn spherical() -> Joint {
        Joint(CoreJoint::Spherical)
    }

    /// Moves freely.
    #[staticmethod]
    fn free() -> Joint {
        Joint(CoreJoint::Free)
    }

    /// Does not move.
    #[staticmethod]
    fn fixed() -> Joint {
        Joint(CoreJoint::Fixed)
    }

    /// Name of the kind of joint.
    #[getter]
    fn kind(&self) -> &'static str {
        self.0.word()
    }

    fn __repr__(&self) -> String {
        format!("<Joint {}>", self.0.word())
    }
}

/// The connection between two bodies that closes a loop of a mechanism.
///
/// >>> import riprap as rr
/// >>> rr.Cut.pin("z").equations
/// 2
#[pyclass(frozen, eq, from_py_object, module = "riprap")]
#[derive(Clone, PartialEq)]
pub struct Cut {
    pub cut: CoreCut,
    /// The axis that becomes z of both frames.
    pub axis: Option<Axis>,
}

impl Cut {
    fn along(cut: CoreCut, axis: &Bound<PyAny>) -> PyResult<Cut> {
        Ok(Cut { cut, axis: Some(convert::axis(axis)?) })
    }

    /// A cut, or the cut that a joint stands for.
    pub fn of(given: &Bound<PyAny>) -> PyResult<Cut> {
        if let Ok(cut) = given.cast::<Cut>() {
            return Ok(cut.get().clone());
        }
        let joint: Joint = given.extract().map_err(|_| {
            crate::errors::value("a loop is closed by a Cut, or by a Joint that stands for one")
        })?;
        let (cut, axis) = match joint.0 {
            CoreJoint::Revolute(axis) => (CoreCut::Hinge, Some(axis)),
            CoreJoint::Prismatic(axis) => (CoreCut::Prismatic, Some(axis)),
            CoreJoint::Spherical => (CoreCut::Ball, None),
            CoreJoint::Fixed => (CoreCut::Weld, None),
            other => {
                let message = format!(
                    "a {} joint does not close a loop: use revolute, prismatic, spherical or fixed, or a Cut",
                    other.word()
                );
                return Err(crate::errors::value(message));
            }
        };
        Ok(Cut { cut, axis })
    }
}

#[pymethods]
impl Cut {
    /// The points coincide: 3 equations.
    #[staticmethod]
    fn ball() -> Cut {
        Cut { cut: CoreCut::Ball, axis: None }
    }

    /// The points and the axes coincide: 5 equations.
    #[staticmethod]
    fn hinge(axis: &Bound<PyAny>) -> PyResult<Cut> {
        Cut::along(CoreCut::Hinge, axis)
    }

    /// The points keep a distance [m]: 1 equation.
    #[staticmethod]
    fn rod(length: f64) -> Cut {
        Cut { cut: CoreCut::Rod { length }, axis: None }
    }

    /// The second body slides along an axis of the first: 5 equations.
    #[staticmethod]
    fn prismatic(axis: &Bound<PyAny>) -> PyResult<Cut> {
        Cut::along(CoreCut::Prismatic, axis)
    }

    /// The points coincide when seen along the axis: 2 equations, for planar mechanisms.
    #[staticmethod]
    fn pin(axis: &Bound<PyAny>) -> PyResult<Cut> {
        Cut::along(CoreCut::Pin, axis)
    }

    /// The frames coincide: 6 equations.
    #[staticmethod]
    fn weld() -> Cut {
        Cut { cut: CoreCut::Weld, axis: None }
    }

    /// Number of equations.
    #[getter]
    fn equations(&self) -> usize {
        self.cut.equations()
    }

    fn __repr__(&self) -> String {
        format!("<Cut {}>", self.cut.word())
    }
}

/// A prescribed coordinate.
///
/// >>> import math, riprap as rr
/// >>> steady = rr.Motor.velocity(15.0)
/// >>> shaking = rr.Motor.motion("0.01*sin(2*pi*35*t)")
/// >>> callable_ = rr.Motor.motion(lambda t: (math.sin(t), math.cos(t), -math.sin(t)))
#[pyclass(frozen, module = "riprap")]
pub struct Motor {
    pub kind: MotorKind,
}

/// What a motor prescribes.
pub enum MotorKind {
    /// Constant speed, from a start value.
    Speed { speed: f64, start: Option<f64> },
    /// A law.
    Motion(Py<PyAny>),
}

#[pymethods]
impl Motor {
    /// Constant speed [m/s, rad/s]; at t = 0 the coordinate is at `start` [m, rad], or at its start value, or at 0.
    #[staticmethod]
    #[pyo3(signature = (speed, start=None))]
    fn velocity(speed: f64, start: Option<f64>) -> Motor {
        Motor { kind: MotorKind::Speed { speed, start } }
    }

    /// Position [m, rad] as an expression of `t`, which is differentiated exactly; a constant; or a callable of t [s] that
    /// returns position, velocity and acceleration.
    #[staticmethod]
    fn motion(law: Py<PyAny>) -> Motor {
        Motor { kind: MotorKind::Motion(law) }
    }

    fn __repr__(&self) -> String {
        match &self.kind {
            MotorKind::Speed { speed, .. } => format!("Motor.velocity({speed:?})"),
            MotorKind::Motion(_) => "<Motor with a law>".into(),
        }
    }
}

/// One phase of a force: a law (six for `Mechanism.push`), when it ends (a time [s], or a law that becomes nonzero), and
/// values that are stored when it starts: laws by name, for expressions of this phase and of later ones, or by slot
/// (`Mechanism.latch_slot`), for callables. Laws are numbers, expressions, or callables of (t, q, v, latched).
///
/// >>> import riprap as rr
/// >>> phases = [rr.Phase(10.0, until=0.5), rr.Phase(lambda t, q, v, latched: -3.0 * v[0])]
/// >>> lowered = rr.Phase("-100 - 30*v.lift", until="q.lift <= 0.2 or t >= 1")
/// >>> held = rr.Phase("-1e4*(q.lift - height)", latch={"height": "q.lift"})
#[pyclass(frozen, module = "riprap")]
pub struct Phase {
    pub law: Py<PyAny>,
    pub until: Option<Py<PyAny>>,
    pub latch: Vec<(Slot, Py<PyAny>)>,
}

/// Where a latched value is stored.
#[derive(FromPyObject)]
pub enum Slot {
    /// A slot that the mechanism has given.
    Number(usize),
    /// A slot of this force, by name.
    Name(String),
}

#[pymethods]
impl Phase {
    #[new]
    #[pyo3(signature = (law, until=None, latch=None))]
    fn new(
        law: Py<PyAny>,
        until: Option<Py<PyAny>>,
        latch: Option<&Bound<PyAny>>,
    ) -> PyResult<Phase> {
        let latch = match latch {
            None => Vec::new(),
            Some(named) if named.is_instance_of::<PyDict>() => named
                .call_method0("items")?
                .try_iter()?
                .map(|item| item?.extract())
                .collect::<PyResult<_>>()?,
            Some(pairs) => pairs.extract()?,
        };
        Ok(Phase { law, until, latch })
    }
}

//! Forces in the joints, loops, drives, springs and laws of a mechanism.

use numpy::{PyArray1, PyArray2};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use riprap::math::Vec3;
use riprap::multibody::MotionError;
use riprap::simulation::Frame;

use crate::convert;
use crate::errors;
use crate::law;
use crate::simulation::Simulation;

/// Forces in a mechanism at the end of a step [N, N m], with the contact forces of the step.
///
/// >>> import riprap as rr
/// >>> arm = rr.Mechanism("arm")
/// >>> link = arm.revolute(rr.GROUND, axis="y", body=rr.Body.point(2.0, at=(0, 0, -1)), name="arm")
/// >>> arm.drive(link, rr.Motor.velocity(0.0, start=0.5))
/// >>> scene = rr.SceneBuilder()
/// >>> handle = scene.add_mechanism(arm)
/// >>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
/// >>> report = run.step()
/// >>> forces = run.mechanism_forces(handle)
/// >>> round(forces.drives["arm"], 3)  # m g l sin q
/// 9.406
#[pyclass(frozen, module = "riprap")]
pub struct MechanismForces {
    drives: Vec<(String, f64)>,
    loops: Vec<(String, f64)>,
    springs: Vec<(String, f64)>,
    laws: Vec<(String, Vec<f64>)>,
    joints: Vec<(Vec3, Vec3)>,
    acceleration: Vec<f64>,
}

impl MechanismForces {
    /// The forces of a mechanism in a frame.
    fn of(frame: &Frame, index: usize) -> Result<MechanismForces, MotionError> {
        let (system, t) = (&frame.scene.mechanisms()[index], frame.state.t);
        let mut state = frame.state.mechanisms[index].clone();
        system.switch_phases(t, &mut state);
        let mut work = system.scratch();
        for contact in frame.contacts() {
            for (body, sign) in [(contact.bodies[0], -1.0), (contact.bodies[1], 1.0)] {
                let carried = frame.scene.bodies().carried[frame.scene.slot(body)];
                if let Some(carried) = carried.filter(|c| c.mechanism.index() == index) {
                    work.pushes.push((carried.link, contact.point, contact.force * sign));
                }
            }
        }
        system.tree().kinematics(&state.q, &mut work.tree);
        let (partition, at) = (&state.partition, (&state.q[..], &state.v[..]));
        system.linearize(partition, t, &mut work)?;
        system.dynamics(at, &state.control, partition, t, None, &mut work)?;
        system.reactions(partition, &mut work);
        let mut joints = Vec::new();
        system.joint_wrenches(&mut work, &mut joints);
        let drives = system.driven_coordinates().map(|c| system.coordinate_name(c).to_owned());
        let drives = drives.zip(work.drive_forces().to_vec()).collect();
        let loops = work.loop_forces().iter().enumerate();
        let loops = loops.map(|(row, force)| (system.equation_name(row), *force)).collect();
        let laws = system.law_names().enumerate();
        let law = |(k, name): (usize, &str)| {
            (name.to_owned(), system.law_values(k, &state, t).collect::<Vec<f64>>())
        };
        let laws = laws.map(law).collect();
        let acceleration = work.acceleration().to_vec();
        system.tree().kinematics(&state.q, &mut work.tree);
        system.tree().motion(&state.v, &mut work.tree);
        let springs = system.spring_names().enumerate();
        let springs = springs.map(|(k, name)| (name.to_owned(), system.spring_tension(k, &work).0));
        let springs = springs.collect();
        Ok(MechanismForces { drives, loops, springs, laws, joints, acceleration })
    }
}

fn dictionary<'py>(py: Python<'py>, list: &[(String, f64)]) -> PyResult<Bound<'py, PyDict>> {
    let dictionary = PyDict::new(py);
    list.iter().try_for_each(|(name, value)| dictionary.set_item(name, value))?;
    Ok(dictionary)
}

#[pymethods]
impl MechanismForces {
    /// Forces of the prescribed coordinates by their names [N, N m].
    #[getter]
    fn drives<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dictionary(py, &self.drives)
    }

    /// Forces in the cuts of the loops by the names of their equations [N, N m].
    #[getter]
    fn loops<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dictionary(py, &self.loops)
    }

    /// Tensions of the springs between points by their names [N].
    #[getter]
    fn springs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        dictionary(py, &self.springs)
    }

    /// Values of the laws by their names: one on a coordinate [N, N m]; force [N] and torque [N m], six, on a body.
    #[getter]
    fn laws<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dictionary = PyDict::new(py);
        for (name, values) in &self.laws {
            dictionary.set_item(name, PyArray1::from_slice(py, values))?;
        }
        Ok(dictionary)
    }

    /// Force [N] and moment [N m] that each joint exerts on its body, in the world frame; one row per body of the mechanism.
    #[getter]
    fn joints<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let rows = self
            .joints
            .iter()
            .flat_map(|(force, moment)| [force.x, force.y, force.z, moment.x, moment.y, moment.z]);
        convert::table(py, rows.collect(), 6)
    }

    /// Accelerations of all joints [m/s², rad/s²].
    #[getter]
    fn acceleration<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.acceleration)
    }

    fn __repr__(&self) -> String {
        let (drives, loops) = (self.drives.len(), self.loops.len());
        format!("<MechanismForces: {drives} drives, {loops} equations of loops>")
    }
}

#[pymethods]
impl Simulation {
    /// Forces in a mechanism at the end of the last step: a MechanismHandle or its name. StepError in a singular position.
    fn mechanism_forces(&self, mechanism: &Bound<PyAny>) -> PyResult<MechanismForces> {
        let index = self.data.mechanism(mechanism)?.index();
        let inner = self.lock()?;
        let forces = MechanismForces::of(&inner.run.frame(), index);
        law::check(&self.data.raised)?;
        forces.map_err(errors::step)
    }
}

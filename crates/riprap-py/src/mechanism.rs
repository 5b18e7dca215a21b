//! Descriptions of mechanisms.

use std::collections::HashMap;

use pyo3::prelude::*;
use pyo3::types::PyString;

use riprap::math::Pose as CorePose;
use riprap::multibody::{
    Coordinate as CoreCoordinate, GROUND, Joint as CoreJoint, JointMotion, JointSpring,
    Link as CoreLink, Marker, Mechanism as CoreMechanism, Phase as CorePhase, PointSpring, Stops,
    Until,
};
use riprap::scene::Material as CoreMaterial;

use crate::body::{Body, density_of};
use crate::handle::{Coordinate, Link, fresh};
use crate::joint::{Cut, Joint, Motor, MotorKind, Phase, Slot};
use crate::law::{self, Names, Raised, Variable};
use crate::material::Material;
use crate::multibody::Multibody;
use crate::pose::pose;
use crate::shape::Shape;
use crate::{convert, errors};

/// Description of a mechanism: bodies on joints, loops, springs, motors, forces and start values. Coordinates are given by
/// their handles, by the link they carry (its first coordinate), or by their names.
///
/// >>> import riprap as rr
/// >>> pendulum = rr.Mechanism("pendulum")
/// >>> arm = pendulum.revolute(rr.GROUND, axis="y", body=rr.Body.point(2.0, at=(0, 0, -1)), name="arm")
/// >>> pendulum.start("arm", 0.1)
/// >>> pendulum.build().n_v
/// 1
#[pyclass(module = "riprap")]
pub struct Mechanism {
    pub core: CoreMechanism,
    pub token: u64,
    pub materials: Vec<CoreMaterial>,
    pub raised: Vec<Raised>,
    /// Names of the coordinates; those of the links.
    names: Vec<String>,
    n_links: u32,
    starts: HashMap<u32, f64>,
    n_unnamed: usize,
}

impl Mechanism {
    /// The link of the core, checked.
    fn link(&self, link: &Link) -> PyResult<CoreLink> {
        if link.id == GROUND.0 || (link.mechanism == self.token && link.id < self.n_links) {
            return Ok(link.core());
        }
        let name = &self.core.name;
        Err(errors::handle(format!("the link belongs to another mechanism than `{name}`")))
    }

    /// A link that is not the ground.
    fn moving(&self, link: &Link) -> PyResult<CoreLink> {
        match self.link(link)? {
            GROUND => Err(errors::value("the ground has no joint")),
            link => Ok(link),
        }
    }

    /// A coordinate by handle, link or name.
    fn coordinate_of(&self, given: &Bound<PyAny>) -> PyResult<CoreCoordinate> {
        if let Ok(link) = given.cast::<Link>() {
            return self.k_th(&link.get().clone(), 0);
        }
        if let Ok(coordinate) = given.cast::<Coordinate>() {
            let coordinate = coordinate.get();
            if coordinate.mechanism == self.token {
                return Ok(CoreCoordinate(coordinate.id));
            }
            let name = &self.core.name;
            let message = format!("the coordinate belongs to another mechanism than `{name}`");
            return Err(errors::handle(message));
        }
        let name = given.cast::<PyString>().map_err(|_| {
            errors::value("a coordinate is a Coordinate, a Link, or the name of a coordinate")
        })?;
        let name = name.to_string();
        self.core.coordinate_named(&name).ok_or_else(|| {
            let known = self.names.join(", ");
            errors::handle(format!("no coordinate `{name}`; there are: {known}"))
        })
    }

    fn k_th(&self, link: &Link, k: usize) -> PyResult<CoreCoordinate> {
        let core = self.moving(link)?;
        let first = self.core.coordinate(core, 0).0;
        let next = match core.0 + 1 < self.n_links {
            true => self.core.coordinate(CoreLink(core.0 + 1), 0).0,
            false => self.names.len() as u32,
        };
        if first + k as u32 >= next {
            let n = next - first;
            return Err(errors::value(format!("the joint has {n} coordinates, not {}", k + 1)));
        }
        Ok(self.core.coordinate(core, k))
    }

    /// Variables of expressions.
    fn variables(&self) -> Names {
        let mut names = vec![("t".to_owned(), Variable::Time)];
        for (k, name) in self.names.iter().enumerate() {
            if let Some(at) = self.core.q_index(CoreCoordinate(k as u32)) {
                names.push((format!("q.{name}"), Variable::Position(at)));
            }
            names.push((format!("v.{name}"), Variable::Velocity(k)));
        }
        names
    }

    /// Phases with `n` components each.
    fn phases(&mut self, py: Python, given: &[Py<Phase>], n: usize) -> PyResult<Vec<CorePhase>> {
        let mut phases = Vec::new();
        // Values that are latched by name are known to the expressions that follow.
        let mut names = self.variables();
        for phase in given {
            let phase = phase.get();
            let mut latch = Vec::new();
            for (slot, law) in &phase.latch {
                let value = law::signal(law.bind(py), &names, true, &mut self.raised)?;
                latch.push((self.slot(slot, &mut names)?, value));
            }
            let mut signal = |law: &Bound<PyAny>| law::signal(law, &names, true, &mut self.raised);
            let values = match n {
                1 => vec![signal(phase.law.bind(py))?],
                _ => {
                    let laws: [Bound<PyAny>; 6] = phase.law.extract(py).map_err(|_| {
                        errors::value("six laws are needed: force [N] and torque [N m]")
                    })?;
                    laws.iter().map(&mut signal).collect::<PyResult<_>>()?
                }
            };
            let until = match phase.until.as_ref().map(|until| until.bind(py)) {
                None => None,
                Some(until) => Some(match until.extract::<f64>() {
                    Ok(time) => Until::Time(time),
                    Err(_) => Until::Condition(signal(until)?),
                }),
            };
            phases.push(CorePhase { latch, values, until });
        }
        if phases.is_empty() {
            return Err(errors::value("at least one phase is needed"));
        }
        Ok(phases)
    }

    /// The slot of a latched value. A new name gets the next one and becomes a variable; a known name keeps its slot.
    fn slot(&mut self, given: &Slot, names: &mut Names) -> PyResult<usize> {
        let name = match given {
            Slot::Number(slot) if *slot < self.core_slots() => return Ok(*slot),
            Slot::Number(slot) => {
                let message = format!("no slot {slot}: ask Mechanism.latch_slot() for one");
                return Err(errors::value(message));
            }
            Slot::Name(name) => name,
        };
        match names.iter().find(|(known, _)| known == name) {
            Some((_, Variable::Latched(slot))) => Ok(*slot),
            Some(_) => Err(errors::value(format!("`{name}` cannot be latched: it is a variable"))),
            None => {
                let slot = self.core.latch_slot();
                names.push((name.clone(), Variable::Latched(slot)));
                Ok(slot)
            }
        }
    }

    fn name_or(&mut self, name: Option<String>, kind: &str) -> String {
        self.n_unnamed += 1;
        name.unwrap_or_else(|| format!("{kind}-{}", self.n_unnamed))
    }

    fn core_slots(&self) -> usize {
        // Slots are given out in order; a clone is asked for the next one.
        self.core.clone().latch_slot()
    }

    fn add_link(
        &mut self,
        joint: CoreJoint,
        parent: &Link,
        body: Option<&Body>,
        place: CorePose,
        name: Option<String>,
        joint_name: Option<String>,
    ) -> PyResult<Link> {
        let parent = self.link(parent)?;
        let name = name.unwrap_or_else(|| format!("link-{}", self.n_links + 1));
        let joint_name = joint_name.unwrap_or_else(|| name.clone());
        let mass = body.map_or(Ok(None), Body::link_mass)?;
        let link = self.core.add(&joint_name, parent, joint, place, mass);
        self.core.rename(link, &name);
        for part in joint.coordinate_names() {
            let full =
                if part.is_empty() { joint_name.clone() } else { format!("{joint_name}.{part}") };
            self.names.push(full);
        }
        self.n_links += 1;
        if let Some((solid, material)) = body.and_then(|body| body.solid.as_ref()) {
            let (shape, name) = (solid.shape.clone(), &material.name);
            match (solid.mass, material.density) {
                (None, Some(density)) => {
                    self.core.attach_solid(link, shape, solid.pose, name, density);
                }
                _ => self.core.attach(link, shape, solid.pose, name),
            }
            self.materials.push(material.clone());
        }
        Ok(Link { mechanism: self.token, id: link.0 })
    }
}

#[pymethods]
impl Mechanism {
    /// A mechanism without bodies, whose base frame has this position [m] and rotation.
    #[new]
    #[pyo3(signature = (name, position=[0.0; 3], rotation=None), text_signature = "(name, position=(0.0, 0.0, 0.0), rotation=None)")]
    fn new(name: &str, position: [f64; 3], rotation: Option<&Bound<PyAny>>) -> PyResult<Mechanism> {
        let mut core = CoreMechanism::new(name);
        core.base = pose(position, rotation)?;
        Ok(Mechanism {
            core,
            token: fresh(),
            materials: Vec::new(),
            raised: Vec::new(),
            names: Vec::new(),
            n_links: 0,
            starts: HashMap::new(),
            n_unnamed: 0,
        })
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.core.name
    }

    /// Names of all coordinates, in the order of the velocities.
    #[getter]
    fn coordinate_names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Adds a body on a joint whose frame is at `at` [m], rotated by `rotation`, in the frame of the parent.
    #[pyo3(
        signature = (joint, parent, body=None, *, at=[0.0; 3], rotation=None, name=None, joint_name=None),
        text_signature = "($self, joint, parent, body=None, *, at=(0.0, 0.0, 0.0), rotation=None, name=None, joint_name=None)"
    )]
    fn add(
        &mut self,
        joint: &Joint,
        parent: &Link,
        body: Option<&Body>,
        at: [f64; 3],
        rotation: Option<&Bound<PyAny>>,
        name: Option<String>,
        joint_name: Option<String>,
    ) -> PyResult<Link> {
        self.add_link(joint.0, parent, body, pose(at, rotation)?, name, joint_name)
    }

    /// Adds a body that rotates about an axis through a point of its parent [m].
    #[pyo3(
        signature = (parent, axis, at=[0.0; 3], body=None, *, name=None, joint_name=None),
        text_signature = "($self, parent, axis, at=(0.0, 0.0, 0.0), body=None, *, name=None, joint_name=None)"
    )]
    fn revolute(
        &mut self,
        parent: &Link,
        axis: &Bound<PyAny>,
        at: [f64; 3],
        body: Option<&Body>,
        name: Option<String>,
        joint_name: Option<String>,
    ) -> PyResult<Link> {
        let joint = CoreJoint::Revolute(convert::axis(axis)?);
        self.add_link(joint, parent, body, pose(at, None)?, name, joint_name)
    }

    /// Adds a body that slides along an axis through a point of its parent [m].
    #[pyo3(
        signature = (parent, axis, at=[0.0; 3], body=None, *, name=None, joint_name=None),
        text_signature = "($self, parent, axis, at=(0.0, 0.0, 0.0), body=None, *, name=None, joint_name=None)"
    )]
    fn prismatic(
        &mut self,
        parent: &Link,
        axis: &Bound<PyAny>,
        at: [f64; 3],
        body: Option<&Body>,
        name: Option<String>,
        joint_name: Option<String>,
    ) -> PyResult<Link> {
        let joint = CoreJoint::Prismatic(convert::axis(axis)?);
        self.add_link(joint, parent, body, pose(at, None)?, name, joint_name)
    }

    /// Attaches a shape to a body, for contacts and pictures. With `solid` its mass is added to that of the other solids of
    /// the body; otherwise it has no mass.
    #[pyo3(
        signature = (link, shape, material, position=[0.0; 3], rotation=None, *, solid=false),
        text_signature = "($self, link, shape, material, position=(0.0, 0.0, 0.0), rotation=None, *, solid=False)"
    )]
    fn attach(
        &mut self,
        link: &Link,
        shape: &Shape,
        material: &Material,
        position: [f64; 3],
        rotation: Option<&Bound<PyAny>>,
        solid: bool,
    ) -> PyResult<()> {
        let (link, pose) = (self.moving(link)?, pose(position, rotation)?);
        let (shape, name) = (shape.0.clone(), &material.0.name);
        match solid {
            true => self.core.attach_solid(link, shape, pose, name, density_of(&material.0)?),
            false => self.core.attach(link, shape, pose, name),
        }
        self.materials.push(material.0.clone());
        Ok(())
    }

    /// The k-th coordinate of the joint that carries a link.
    #[pyo3(signature = (link, k=0))]
    fn coordinate(&self, link: &Link, k: usize) -> PyResult<Coordinate> {
        Ok(Coordinate { mechanism: self.token, id: self.k_th(link, k)?.0 })
    }

    /// Index of a coordinate in `q`, for callables; None for the rotation of a spherical joint.
    fn q_index(&self, coordinate: &Bound<PyAny>) -> PyResult<Option<usize>> {
        Ok(self.core.q_index(self.coordinate_of(coordinate)?))
    }

    /// Sets the start value of a coordinate [m, rad]; with `guess` the loops may change it.
    #[pyo3(signature = (coordinate, value, *, guess=false))]
    fn start(&mut self, coordinate: &Bound<PyAny>, value: f64, guess: bool) -> PyResult<()> {
        let at = self.coordinate_of(coordinate)?;
        self.starts.insert(at.0, value);
        if guess {
            self.core.guess(at, value)
        } else {
            self.core.start(at, value)
        }
        Ok(())
    }

    /// Sets the start velocity of a coordinate [m/s, rad/s].
    fn start_velocity(&mut self, coordinate: &Bound<PyAny>, value: f64) -> PyResult<()> {
        let at = self.coordinate_of(coordinate)?;
        self.core.start_velocity(at, value);
        Ok(())
    }

    /// Sets the start rotation of a spherical or free joint.
    fn start_rotation(&mut self, link: &Link, rotation: &Bound<PyAny>) -> PyResult<()> {
        let link = self.moving(link)?;
        self.core.start_rotation(link, convert::rotation(Some(rotation))?);
        Ok(())
    }

    /// Adds a spring [N/m, N m/rad] and damper [N s/m, N m s/rad] on a coordinate; it is force-free at `rest` [m, rad].
    #[pyo3(signature = (coordinate, stiffness=0.0, damping=0.0, rest=0.0))]
    fn spring(
        &mut self,
        coordinate: &Bound<PyAny>,
        stiffness: f64,
        damping: f64,
        rest: f64,
    ) -> PyResult<()> {
        let at = self.coordinate_of(coordinate)?;
        self.core.spring(at, JointSpring { stiffness, rest, damping });
        Ok(())
    }

    /// Bounds a coordinate [m, rad] by springs [N/m, N m/rad] and dampers [N s/m, N m s/rad] that never pull.
    #[pyo3(signature = (coordinate, lower=None, upper=None, *, stiffness, damping=0.0))]
    fn stops(
        &mut self,
        coordinate: &Bound<PyAny>,
        lower: Option<f64>,
        upper: Option<f64>,
        stiffness: f64,
        damping: f64,
    ) -> PyResult<()> {
        let at = self.coordinate_of(coordinate)?;
        let (lower, upper) = (lower.unwrap_or(f64::NEG_INFINITY), upper.unwrap_or(f64::INFINITY));
        self.core.stops(at, Stops { lower, upper, stiffness, damping });
        Ok(())
    }

    /// Adds a spring between points of two bodies [m]: along their line with a force-free length [m], or, without a length,
    /// a bushing that is force-free where the points coincide.
    #[pyo3(
        signature = (a, b, *, at_a=[0.0; 3], at_b=[0.0; 3], stiffness, damping=0.0, length=None, name=None),
        text_signature = "($self, a, b, *, at_a=(0.0, 0.0, 0.0), at_b=(0.0, 0.0, 0.0), stiffness, damping=0.0, length=None, name=None)"
    )]
    fn point_spring(
        &mut self,
        a: &Link,
        b: &Link,
        at_a: [f64; 3],
        at_b: [f64; 3],
        stiffness: f64,
        damping: f64,
        length: Option<f64>,
        name: Option<String>,
    ) -> PyResult<()> {
        let spring = match length {
            Some(length) => PointSpring::Line { stiffness, damping, length },
            None => PointSpring::Bushing { stiffness, damping },
        };
        let (a, b) = (Marker::at(self.link(a)?, at_a), Marker::at(self.link(b)?, at_b));
        let name = self.name_or(name, "spring");
        self.core.point_spring(&name, spring, a, b);
        Ok(())
    }

    /// Closes a loop between frames of two bodies: positions [m] and rotations in their frames.
    #[pyo3(
        signature = (a, b, cut, *, at_a=[0.0; 3], at_b=[0.0; 3], rotation_a=None, rotation_b=None, name=None),
        text_signature = "($self, a, b, cut, *, at_a=(0.0, 0.0, 0.0), at_b=(0.0, 0.0, 0.0), rotation_a=None, rotation_b=None, name=None)"
    )]
    fn close_loop(
        &mut self,
        a: &Link,
        b: &Link,
        cut: &Bound<PyAny>,
        at_a: [f64; 3],
        at_b: [f64; 3],
        rotation_a: Option<&Bound<PyAny>>,
        rotation_b: Option<&Bound<PyAny>>,
        name: Option<String>,
    ) -> PyResult<()> {
        let Cut { cut, axis } = Cut::of(cut)?;
        let frame = |link: CoreLink, given: CorePose| match axis {
            None => Marker { link, pose: given },
            Some(axis) => {
                let turned = Marker::at(link, [0.0; 3]).along(axis);
                Marker { link, pose: given.compose(&turned.pose) }
            }
        };
        let a = frame(self.link(a)?, pose(at_a, rotation_a)?);
        let b = frame(self.link(b)?, pose(at_b, rotation_b)?);
        let name = self.name_or(name, "loop");
        self.core.close_loop(&name, cut, a, b);
        Ok(())
    }

    /// Names the coordinates that the loops determine, instead of an automatic choice.
    fn dependent(&mut self, coordinates: Vec<Bound<PyAny>>) -> PyResult<()> {
        let list: Vec<_> =
            coordinates.iter().map(|c| self.coordinate_of(c)).collect::<PyResult<_>>()?;
        self.core.dependent(&list);
        Ok(())
    }

    /// Prescribes the motion of a coordinate.
    fn drive(&mut self, py: Python, coordinate: &Bound<PyAny>, motor: &Motor) -> PyResult<()> {
        let at = self.coordinate_of(coordinate)?;
        let motion = match &motor.kind {
            MotorKind::Speed { speed, start } => {
                let start = start.or_else(|| self.starts.get(&at.0).copied()).unwrap_or(0.0);
                JointMotion::constant_speed(start, *speed)
            }
            MotorKind::Motion(law) => law::motion(law.bind(py), &mut self.raised)?,
        };
        self.core.drive(at, motion);
        Ok(())
    }

    /// Adds a force on a coordinate [N, N m]: a number, an expression of `t`, `q.name` and `v.name`, or a callable of
    /// (t, q, v), where q and v are tuples of all positions and velocities of the mechanism.
    #[pyo3(signature = (coordinate, law, *, name=None))]
    fn actuate(
        &mut self,
        coordinate: &Bound<PyAny>,
        law: &Bound<PyAny>,
        name: Option<String>,
    ) -> PyResult<()> {
        let at = self.coordinate_of(coordinate)?;
        let law = law::signal(law, &self.variables(), false, &mut self.raised)?;
        let name = self.name_or(name, "force");
        self.core.actuate(&name, at, law);
        Ok(())
    }

    /// Adds a force on a coordinate [N, N m] whose law has phases.
    #[pyo3(signature = (coordinate, phases, *, name=None))]
    fn actuate_in_phases(
        &mut self,
        py: Python,
        coordinate: &Bound<PyAny>,
        phases: Vec<Py<Phase>>,
        name: Option<String>,
    ) -> PyResult<()> {
        let at = self.coordinate_of(coordinate)?;
        let phases = self.phases(py, &phases, 1)?;
        let name = self.name_or(name, "force");
        self.core.actuate_in_phases(&name, at, phases);
        Ok(())
    }

    /// Adds a wrench on a body at a point [m]: phases with six laws, force [N] and torque [N m], along the axes of the world,
    /// or of the body.
    #[pyo3(
        signature = (link, phases, *, point=[0.0; 3], in_body=false, name=None),
        text_signature = "($self, link, phases, *, point=(0.0, 0.0, 0.0), in_body=False, name=None)"
    )]
    fn push(
        &mut self,
        py: Python,
        link: &Link,
        phases: Vec<Py<Phase>>,
        point: [f64; 3],
        in_body: bool,
        name: Option<String>,
    ) -> PyResult<()> {
        let link = self.moving(link)?;
        let phases = self.phases(py, &phases, 6)?;
        let name = self.name_or(name, "force");
        self.core.push(&name, link, point, in_body, phases);
        Ok(())
    }

    /// A slot for a latched value, to be used in phases.
    fn latch_slot(&mut self) -> usize {
        self.core.latch_slot()
    }

    /// Builds the mechanism alone, for direct access to its equations; gravity [m/s²].
    #[pyo3(signature = (gravity=[0.0, 0.0, -9.81]), text_signature = "($self, gravity=(0.0, 0.0, -9.81))")]
    fn build(&self, gravity: [f64; 3]) -> PyResult<Multibody> {
        let built = self.core.build(gravity);
        law::check(&self.raised)?;
        let built = built.map_err(errors::scene)?;
        Ok(Multibody::new(built, self.token, self.raised.clone()))
    }

    fn __repr__(&self) -> String {
        format!("<Mechanism {:?}: {} bodies>", self.core.name, self.n_links)
    }
}

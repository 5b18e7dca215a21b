//! Descriptions of mechanisms.

use std::collections::HashMap;

use pyo3::prelude::*;
use pyo3::types::PyString;

use riprap::math::Pose as CorePose;
use riprap::multibody::{
    Coordinate as CoreCoordinate, GROUND, Joint as CoreJoint, JointSpring, Link as CoreLink,
    Marker, Mechanism as CoreMechanism, PointSpring, Stops,
};
use riprap::scene::Material as CoreMaterial;

use crate::body::{Body, density_of};
use crate::handle::{Coordinate, Link, fresh};
use crate::joint::{Cut, Joint};
use crate::law::{self, Names, Raised, Variable};
use crate::material::Material;
use crate::multibody::Multibody;
use crate::pose::pose;
use crate::saving::{self, LinkRecord, MechanismRecord, Table, number, text};
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
    pub names: Vec<String>,
    pub n_links: u32,
    pub starts: HashMap<u32, f64>,
    n_unnamed: usize,
    /// What a scene file needs to know.
    pub record: MechanismRecord,
}

impl Mechanism {
    /// A mechanism that nothing is known about but its description.
    pub fn empty(core: CoreMechanism) -> Mechanism {
        let record =
            MechanismRecord { name: core.name.clone(), base: core.base, ..Default::default() };
        Mechanism {
            core,
            token: fresh(),
            materials: Vec::new(),
            raised: Vec::new(),
            names: Vec::new(),
            n_links: 0,
            starts: HashMap::new(),
            n_unnamed: 0,
            record,
        }
    }

    /// The link of the core, checked.
    fn link(&self, link: &Link) -> PyResult<CoreLink> {
        if link.id == GROUND.0 || (link.mechanism == self.token && link.id < self.n_links) {
            return Ok(link.core());
        }
        let name = &self.core.name;
        Err(errors::handle(format!("the link belongs to another mechanism than `{name}`")))
    }

    /// A link that is not the ground.
    pub fn moving(&self, link: &Link) -> PyResult<CoreLink> {
        match self.link(link)? {
            GROUND => Err(errors::value("the ground has no joint")),
            link => Ok(link),
        }
    }

    /// A coordinate by handle, link or name.
    pub fn coordinate_of(&self, given: &Bound<PyAny>) -> PyResult<CoreCoordinate> {
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

    /// A frame on a body as in a scene file.
    fn frame(&self, marker: &Marker) -> String {
        let mut table = Table::default();
        let link = (marker.link != GROUND).then_some(marker.link.0);
        table.set("body", self.record.body(link)).pose(&marker.pose).inline()
    }

    /// Variables of expressions.
    pub fn variables(&self) -> Names {
        let mut names = vec![("t".to_owned(), Variable::Time)];
        for (k, name) in self.names.iter().enumerate() {
            if let Some(at) = self.core.q_index(CoreCoordinate(k as u32)) {
                names.push((format!("q.{name}"), Variable::Position(at)));
            }
            names.push((format!("v.{name}"), Variable::Velocity(k)));
        }
        names
    }

    pub fn name_or(&mut self, name: Option<String>, kind: &str) -> String {
        self.n_unnamed += 1;
        name.unwrap_or_else(|| format!("{kind}-{}", self.n_unnamed))
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
        let name = name.unwrap_or_else(|| format!("link_{}", self.n_links + 1));
        let joint_name = joint_name.unwrap_or_else(|| name.clone());
        let mass = body.map_or(Ok(None), Body::link_mass)?;
        let link = self.core.add(&joint_name, parent, joint, place, mass);
        self.core.rename(link, &name);
        for part in joint.coordinate_names() {
            let full =
                if part.is_empty() { joint_name.clone() } else { format!("{joint_name}.{part}") };
            self.names.push(full);
        }
        let n = joint.coordinate_names().len();
        self.record.links.push(LinkRecord {
            name,
            joint_name,
            parent: (parent != GROUND).then_some(parent.0),
            joint,
            place,
            mass,
            shapes: Vec::new(),
            keys: Table::default(),
            starts: vec![None; n],
            velocities: vec![None; n],
            start_rotation: None,
        });
        self.n_links += 1;
        if let Some(body) = body
            && let Some((solid, material)) = &body.solid
        {
            let saved = ((*body.saved).clone(), material.name.clone(), solid.pose);
            self.record.links[link.0 as usize].shapes.push(saved);
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
        Ok(Mechanism::empty(core))
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
        let saved = ((*shape.1).clone(), material.0.name.clone(), pose);
        let (shape, name) = (shape.0.clone(), &material.0.name);
        match solid {
            true => self.core.attach_solid(link, shape, pose, name, density_of(&material.0)?),
            false => self.core.attach(link, shape, pose, name),
        }
        let record = &mut self.record.links[link.0 as usize];
        record.shapes.push(saved);
        if solid {
            record.mass = self.core.mass(link).copied();
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
        self.record.start(at.0, value, guess);
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
        self.record.start_velocity(at.0, value);
        Ok(())
    }

    /// Sets the start rotation of a spherical or free joint.
    fn start_rotation(&mut self, link: &Link, rotation: &Bound<PyAny>) -> PyResult<()> {
        let link = self.moving(link)?;
        let rotation = convert::rotation(Some(rotation))?;
        self.core.start_rotation(link, rotation);
        self.record.links[link.0 as usize].start_rotation = Some(rotation);
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
        let mut keys = Table::default();
        keys.set("stiffness", number(stiffness)).set("damping", number(damping));
        self.record.on_coordinate(at.0, "spring", Ok(keys.set("rest", number(rest)).inline()));
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
        let mut keys = Table::default();
        keys.maybe("lower", lower).maybe("upper", upper);
        keys.set("stiffness", number(stiffness)).set("damping", number(damping));
        self.record.on_coordinate(at.0, "stops", Ok(keys.inline()));
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
        let mut keys = Table::default();
        keys.set("name", text(&name)).set("a", self.frame(&a)).set("b", self.frame(&b));
        keys.set("type", text(if length.is_some() { "line" } else { "bushing" }));
        keys.set("stiffness", number(stiffness)).set("damping", number(damping));
        keys.maybe("length", length);
        self.record.tables.push(("[[mechanism.spring]]", keys));
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
        let a = Marker { link: self.link(a)?, pose: pose(at_a, rotation_a)? };
        let b = Marker { link: self.link(b)?, pose: pose(at_b, rotation_b)? };
        let name = self.name_or(name, "loop");
        let mut keys = Table::default();
        keys.set("name", text(&name)).set("a", self.frame(&a)).set("b", self.frame(&b));
        saving::cut(&mut keys, cut, axis);
        self.record.tables.push(("[[mechanism.loop]]", keys));
        let (a, b) = (frame(a.link, a.pose), frame(b.link, b.pose));
        self.core.close_loop(&name, cut, a, b);
        Ok(())
    }

    /// Names the coordinates that the loops determine, instead of an automatic choice.
    fn dependent(&mut self, coordinates: Vec<Bound<PyAny>>) -> PyResult<()> {
        let list: Vec<_> =
            coordinates.iter().map(|c| self.coordinate_of(c)).collect::<PyResult<_>>()?;
        self.core.dependent(&list);
        let names = list.iter().map(|c| self.names[c.0 as usize].clone());
        self.record.dependent = names.collect();
        Ok(())
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

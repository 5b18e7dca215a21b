//! The builder of scenes.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyString;

use riprap::detect::Method;
use riprap::math::{Pose as CorePose, Vec3};
use riprap::multibody::{GROUND, Marker};
use riprap::scene::{
    Body as CoreBody, BodyDescription, BodyJoint, Chain, Course, FlexibleId, Hold, Kind,
    MechanismId, Motion, On, PointContact, Rope, Scene as CoreScene, SceneBuilder as CoreBuilder,
    Tie,
};
use riprap_io::build::Settling;

use crate::body::Body;
use crate::exit;
use crate::flexible::Flexible;
use crate::grains::{Grains, Settle};
use crate::handle::{
    BodyHandle, FlexibleHandle, GrainsHandle, Link, MechanismHandle, RopeHandle, fresh,
};
use crate::law::{self, Raised, vector_law};
use crate::material::{Material, PairLaw};
use crate::mechanism::Mechanism;
use crate::pose::pose;
use crate::saving::{
    self, Item, Record, Saved, Table, number, numbers, point_law, text, tie_word, vector,
};
use crate::scene::{Group, Scene, SceneData};
use crate::shape::Shape;
use crate::{convert, errors};

/// Collects a description; `build()` checks it, reports all mistakes together as SceneError, and freezes it. Gravity [m/s²]
/// is 9.81 downwards by default (−z, or −y in a planar scene); `alert` [m] is the gap up to which contacts are detected;
/// `drag` [1/s] slows free bodies; `accept_overlap` [–] is the initial overlap that is accepted, relative to the smaller body;
/// stones draw their strengths from `seed`.
///
/// >>> import riprap as rr
/// >>> steel = rr.Material("steel", density=7800.0, friction=0.3)
/// >>> scene = rr.SceneBuilder(gravity=(0, 0, -9.81))
/// >>> floor = scene.add_fixed(rr.Shape.half_space(), material=steel)
/// >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.1), steel, position=(0, 0, 1)))
/// >>> scene.build().n_bodies
/// 2
#[pyclass(module = "riprap")]
pub struct SceneBuilder {
    pub(crate) core: CoreBuilder,
    token: u64,
    n_bodies: u32,
    /// What a scene file needs to know.
    pub(crate) record: Record,
    mechanisms: Vec<u64>,
    groups: Vec<Group>,
    /// Which groups settle, and how.
    settling: Vec<(Group, Settle)>,
    pub(crate) raised: Vec<Raised>,
    n_ropes: u32,
    n_flexible: u32,
    pub n_insertions: u64,
    n_unnamed: usize,
}

impl SceneBuilder {
    fn name_or(&mut self, name: Option<String>, kind: &str) -> String {
        self.n_unnamed += 1;
        name.unwrap_or_else(|| format!("{kind}-{}", self.n_unnamed))
    }

    fn push(&mut self, body: BodyDescription) -> BodyHandle {
        let body = self.core.add_body(body);
        self.n_bodies += 1;
        BodyHandle { scene: self.token, id: body.0 }
    }

    /// Adds a body with its record.
    pub(crate) fn push_recorded(
        &mut self,
        body: BodyDescription,
        shape: Saved,
        motion: Option<Saved>,
    ) -> BodyHandle {
        let description = Box::new(body.clone());
        let controls = Vec::new();
        self.record.items.push(Item::Body { description, shape, motion, controls });
        self.push(body)
    }

    pub(crate) fn body(&self, body: &BodyHandle) -> PyResult<CoreBody> {
        if body.scene == self.token && body.id < self.n_bodies {
            return Ok(CoreBody(body.id));
        }
        Err(errors::handle("the body belongs to another scene"))
    }

    /// Initial pose of the frame of a shape; those that follow from other descriptions are taken from a scene without contacts.
    fn initial_pose(&self, on: On) -> PyResult<CorePose> {
        match on {
            On::World => return Ok(CorePose::IDENTITY),
            On::Body(body) => return Ok(self.core.bodies()[body.0 as usize].pose),
            On::Link(..) | On::Node(..) => {}
        }
        let mut builder = self.core.clone();
        builder.accept_overlap(f64::INFINITY);
        let scene = builder.build().map_err(errors::scene)?;
        let body = match on {
            On::Link(mechanism, link) => scene.link_body(mechanism, link),
            On::Node(flexible, node) => {
                if node as usize >= scene.nodes_of(flexible.index()).len() {
                    return Err(errors::handle(format!("the flexible body has no node {node}")));
                }
                scene.node_body(flexible, node)
            }
            On::World | On::Body(_) => return Ok(CorePose::IDENTITY),
        };
        Ok(scene.shape_pose(&scene.initial_state(), body))
    }

    /// The settling before the run, if a group settles; the longest time and the largest drag apply to all.
    fn settling(&self, scene: &CoreScene) -> PyResult<Option<Settling>> {
        if self.settling.is_empty() {
            return Ok(None);
        }
        let bodies = |group: &Group| (group.start..group.end).map(CoreBody).collect();
        let groups: Vec<Vec<CoreBody>> = self.settling.iter().map(|(g, _)| bodies(g)).collect();
        let settles = || self.settling.iter().map(|(_, settle)| settle);
        let slow: Vec<(&[CoreBody], f64)> = groups
            .iter()
            .zip(settles())
            .map(|(group, settle)| (&group[..], settle.speed))
            .collect();
        let at_most = settles().map(|settle| settle.at_most).fold(0.0, f64::max);
        let drag = settles().map(|settle| settle.drag).fold(0.0, f64::max);
        Settling::new(&self.core, scene, &slow, at_most, drag).map(Some).map_err(errors::scene)
    }

    /// None or "world", a body, a mechanism and a link, or a flexible body and a node.
    fn on(&self, given: &Bound<PyAny>) -> PyResult<On> {
        if given.is_none() || given.cast::<PyString>().is_ok_and(|name| name == "world") {
            return Ok(On::World);
        }
        if let Ok(body) = given.cast::<BodyHandle>() {
            return self.body(body.get()).map(On::Body);
        }
        if let Ok((flexible, node)) = given.extract::<(FlexibleHandle, u32)>() {
            if flexible.scene != self.token || flexible.id >= self.n_flexible {
                return Err(errors::handle("the flexible body belongs to another scene"));
            }
            return Ok(On::Node(FlexibleId(flexible.id), node));
        }
        let message = "write None for the world, a BodyHandle, (MechanismHandle, Link) or (FlexibleHandle, node)";
        let (mechanism, link): (MechanismHandle, Link) =
            given.extract().map_err(|_| errors::value(message))?;
        let known = self.mechanisms.get(mechanism.id as usize);
        if mechanism.scene != self.token || known != Some(&link.mechanism) {
            return Err(errors::handle("the link belongs to another mechanism or scene"));
        }
        Ok(On::Link(MechanismId(mechanism.id), link.core()))
    }
}

/// A prescribed motion as in a scene file.
fn saved_motion(
    velocity: Option<&Bound<PyAny>>,
    path: Option<&Bound<PyAny>>,
    angular_velocity: Option<&Bound<PyAny>>,
) -> Saved {
    let mut table = Table::default();
    let parts =
        [("velocity", velocity), ("position", path), ("angular_velocity", angular_velocity)];
    for (key, given) in parts {
        if let Some(given) = given {
            table.set(key, saving::law(given)?);
        }
    }
    Ok(table.inline())
}

/// The record of a chain.
fn chain_item(chain: &Chain, material: &str) -> Item {
    let mut keys = Table::default();
    keys.set("name", text(&chain.name)).set("count", chain.count.to_string());
    keys.set("radius", number(chain.radius)).set("link", number(chain.link));
    keys.set("material", text(material)).set("tied", chain.tied.to_string());
    keys.set("tie", text(tie_word(chain.tie))).set("thickness", number(chain.thickness));
    keys.maybe("breaking_load", chain.breaking_load);
    let end = match chain.course {
        Course::Along(direction) => {
            keys.set("direction", vector(&direction));
            None
        }
        Course::To(on, point) => Some((on, point.into())),
    };
    let start = (chain.start.0, chain.start.1.into());
    Item::Chain { count: chain.count as u32, keys, start, end }
}

#[pymethods]
impl SceneBuilder {
    #[new]
    #[pyo3(signature = (*, gravity=None, planar=false, alert=None, detection="separating-axes", drag=0.0, accept_overlap=None, seed=1))]
    fn new(
        gravity: Option<[f64; 3]>,
        planar: bool,
        alert: Option<f64>,
        detection: &str,
        drag: f64,
        accept_overlap: Option<f64>,
        seed: u64,
    ) -> PyResult<SceneBuilder> {
        let mut core = CoreScene::builder();
        core.seed(seed);
        if let Some(gravity) = gravity {
            core.gravity(gravity);
        }
        if planar {
            core.planar();
        }
        if let Some(alert) = alert {
            core.alert(alert);
        }
        let known =
            [("separating-axes", Method::SeparatingAxes), ("common-plane", Method::CommonPlane)];
        let method = convert::word("detection", detection, &known)?;
        core.detection(method);
        core.drag(drag);
        let mut record = Record { gravity, planar, seed, alert, method, ..Record::default() };
        if drag != 0.0 {
            record.problems.push("`drag` of the scene has no key in a scene file".into());
        }
        record.accept_overlap = accept_overlap;
        if let Some(share) = accept_overlap {
            core.accept_overlap(share);
        }
        Ok(SceneBuilder {
            core,
            token: fresh(),
            n_bodies: 0,
            record,
            mechanisms: Vec::new(),
            groups: Vec::new(),
            settling: Vec::new(),
            raised: Vec::new(),
            n_ropes: 0,
            n_flexible: 0,
            n_insertions: 0,
            n_unnamed: 0,
        })
    }

    /// Sets the law between two materials, instead of the one that follows from both.
    fn pair(&mut self, a: &Material, b: &Material, law: &PairLaw) {
        self.core.material(&a.0);
        self.core.material(&b.0);
        self.core.pair(&a.0.name, &b.0.name, law.0);
        let names = [a.0.name.clone(), b.0.name.clone()];
        self.record.items.push(Item::Pair(names, law.0));
    }

    /// Adds a free body.
    fn add(&mut self, body: &Body) -> PyResult<BodyHandle> {
        let Some((description, material)) = &body.solid else {
            return Err(errors::value(
                "a body of a scene needs a shape; bodies without one belong in mechanisms",
            ));
        };
        self.core.material(material);
        Ok(self.push_recorded(description.clone(), (*body.saved).clone(), None))
    }

    /// Adds a fixed body at a position [m].
    #[pyo3(
        signature = (shape, *, material, position=[0.0; 3], rotation=None, name=""),
        text_signature = "($self, shape, *, material, position=(0.0, 0.0, 0.0), rotation=None, name='')"
    )]
    fn add_fixed(
        &mut self,
        shape: &Shape,
        material: &Material,
        position: [f64; 3],
        rotation: Option<&Bound<PyAny>>,
        name: &str,
    ) -> PyResult<BodyHandle> {
        let mut body = BodyDescription::new(shape.0.clone(), &material.0).named(name).fixed();
        body.pose = pose(position, rotation)?;
        self.core.material(&material.0);
        Ok(self.push_recorded(body, (*shape.1).clone(), None))
    }

    /// Adds a body with a prescribed motion: the velocity of its origin [m/s] from a position [m], or its position [m] as a `path`,
    /// and its angular velocity [rad/s]. Each is three numbers, three expressions of `t`, or a callable of t [s].
    #[pyo3(
        signature = (shape, *, material, velocity=None, path=None, angular_velocity=None, position=[0.0; 3], rotation=None, name=""),
        text_signature = "($self, shape, *, material, velocity=None, path=None, angular_velocity=None, position=(0.0, 0.0, 0.0), rotation=None, name='')"
    )]
    fn add_moving(
        &mut self,
        py: Python,
        shape: &Shape,
        material: &Material,
        velocity: Option<&Bound<PyAny>>,
        path: Option<&Bound<PyAny>>,
        angular_velocity: Option<&Bound<PyAny>>,
        position: [f64; 3],
        rotation: Option<&Bound<PyAny>>,
        name: &str,
    ) -> PyResult<BodyHandle> {
        let zero = [0.0; 3].into_pyobject(py)?.into_any();
        let angular = vector_law(angular_velocity.unwrap_or(&zero), &mut self.raised)?;
        let motion = match (velocity, path) {
            (Some(_), Some(_)) => {
                return Err(errors::value("give `velocity` or `path`, not both"));
            }
            (_, Some(path)) => {
                Motion::Position { linear: vector_law(path, &mut self.raised)?, angular }
            }
            (velocity, None) => {
                let linear = vector_law(velocity.unwrap_or(&zero), &mut self.raised)?;
                Motion::Velocity { linear, angular }
            }
        };
        let mut body = BodyDescription::new(shape.0.clone(), &material.0).named(name);
        body.pose = pose(position, rotation)?;
        if let Motion::Position { linear, .. } = &motion {
            // It starts on its path.
            body.pose.position = linear.at(0.0);
        }
        body.kind = Kind::Moving(motion);
        self.core.material(&material.0);
        let motion = saved_motion(velocity, path, angular_velocity);
        Ok(self.push_recorded(body, (*shape.1).clone(), Some(motion)))
    }

    /// Adds a group of grains.
    fn add_grains(&mut self, py: Python, grains: &Grains) -> PyResult<GrainsHandle> {
        let (bodies, _) = exit::detach(py, || grains.generate())?;
        self.core.material(&grains.material);
        let start = self.n_bodies;
        for body in bodies {
            self.push(body);
        }
        let end = self.n_bodies;
        let group = Group { name: grains.name.clone(), start, end };
        self.record.items.push(Item::Grains { count: end - start, keys: grains.saved() });
        self.settling.extend(grains.settle.map(|settle| (group.clone(), settle)));
        self.groups.push(group);
        Ok(GrainsHandle { scene: self.token, start, end })
    }

    /// Adds a mechanism. Later changes of its description have no effect.
    fn add_mechanism(&mut self, mechanism: &Mechanism) -> MechanismHandle {
        for material in &mechanism.materials {
            self.core.material(material);
        }
        self.raised.extend(mechanism.raised.iter().cloned());
        self.mechanisms.push(mechanism.token);
        self.record.items.push(Item::Mechanism(Box::new(mechanism.record.clone())));
        let id = self.core.add_mechanism(mechanism.core.clone());
        MechanismHandle { scene: self.token, id: id.0 }
    }

    /// Adds a flexible body. Later changes of its description have no effect.
    fn add_flexible(&mut self, flexible: &Flexible) -> FlexibleHandle {
        for material in &flexible.materials {
            self.core.material(material);
        }
        self.n_flexible += 1;
        self.record.items.push(Item::Flexible {
            keys: flexible.keys.clone(),
            name: flexible.core.name().to_owned(),
            density: flexible.density,
            shapes: flexible.shapes.clone(),
        });
        let id = self.core.add_flexible(flexible.core.clone());
        FlexibleHandle { scene: self.token, id: id.0 }
    }

    /// Adds a joint between two free bodies, or a body and the world (None), at a position in the world [m] with an axis:
    /// kind is ball, hinge, slider or weld. With `project`, positions are projected onto the joint after every step.
    #[pyo3(
        signature = (kind, a, b, *, position=[0.0; 3], axis=None, project=false, name=None),
        text_signature = "($self, kind, a, b, *, position=(0.0, 0.0, 0.0), axis=None, project=False, name=None)"
    )]
    fn add_joint(
        &mut self,
        kind: &str,
        a: &Bound<PyAny>,
        b: &Bound<PyAny>,
        position: [f64; 3],
        axis: Option<&Bound<PyAny>>,
        project: bool,
        name: Option<String>,
    ) -> PyResult<()> {
        let hold = match kind {
            "ball" => Hold::Ball,
            "hinge" => Hold::Hinge,
            "slider" => Hold::Slider,
            "weld" => Hold::Weld,
            other => {
                let known = "ball, hinge, slider, weld";
                return Err(errors::value(format!("no kind of joint `{other}`: {known}")));
            }
        };
        let frame = Marker::at(GROUND, position);
        let mut keys = Table::default();
        keys.set("type", text(kind)).set("position", numbers(&position));
        let frame = match axis {
            Some(axis) => {
                let axis = convert::axis(axis)?;
                keys.set("axis", vector(&axis.0));
                frame.along(axis)
            }
            None => frame,
        };
        let place = |on: On| -> PyResult<(On, CorePose)> { Ok((on, self.initial_pose(on)?)) };
        let (a, b) = (place(self.on(a)?)?, place(self.on(b)?)?);
        let name = self.name_or(name, "joint");
        keys.set("name", text(&name)).set("project", project.to_string());
        self.record.items.push(Item::Joint { keys, between: [a.0, b.0] });
        let joint = BodyJoint::at(&name, hold, frame.pose, a, b);
        self.core.add_joint(BodyJoint { project, ..joint });
        Ok(())
    }

    /// Adds an inextensible rope through points of bodies: pairs of a body (None for the world) and a point in its frame
    /// [m]. Its length [m] is that of the initial path by default; it breaks beyond `breaking_load` [N].
    #[pyo3(signature = (name, path, *, length=None, breaking_load=None))]
    fn add_rope(
        &mut self,
        name: &str,
        path: Vec<(Bound<PyAny>, [f64; 3])>,
        length: Option<f64>,
        breaking_load: Option<f64>,
    ) -> PyResult<RopeHandle> {
        let points = path.iter().map(|(on, point)| Ok((self.on(on)?, Vec3::from(*point))));
        let path = points.collect::<PyResult<Vec<(On, Vec3)>>>()?;
        let mut keys = Table::default();
        keys.set("name", text(name)).maybe("length", length).maybe("breaking_load", breaking_load);
        let points = path.iter().map(|(on, point)| (*on, (*point).into())).collect();
        self.record.items.push(Item::Rope { keys, points });
        self.n_ropes += 1;
        let id = self.core.add_rope(Rope { name: name.to_owned(), path, length, breaking_load });
        Ok(RopeHandle { scene: self.token, id: id.0 })
    }

    /// Adds a granular chain: `count` balls of a radius [m] (discs of a thickness [m] in a planar scene) connected by ropes
    /// of length `link` [m] between centres, or between surfaces with tie="surface". It starts at a point of a body and goes
    /// along a direction, or to a point of a body.
    #[pyo3(
        signature = (name, count, *, radius, link, material, start=None, along=None, to=None, tied=true, tie="centre", thickness=1.0, breaking_load=None),
        text_signature = "($self, name, count, *, radius, link, material, start=None, along=None, to=None, tied=True, tie='centre', thickness=1.0, breaking_load=None)"
    )]
    fn add_chain(
        &mut self,
        name: &str,
        count: usize,
        radius: f64,
        link: f64,
        material: &Material,
        start: Option<(Bound<PyAny>, [f64; 3])>,
        along: Option<&Bound<PyAny>>,
        to: Option<(Bound<PyAny>, [f64; 3])>,
        tied: bool,
        tie: &str,
        thickness: f64,
        breaking_load: Option<f64>,
    ) -> PyResult<GrainsHandle> {
        let mut chain = Chain::new(name, count, radius, link);
        (chain.tied, chain.thickness, chain.breaking_load) = (tied, thickness, breaking_load);
        chain.tie = match tie {
            "centre" => Tie::Centre,
            "surface" => Tie::Surface,
            other => return Err(errors::value(format!("no tie `{other}`: centre, surface"))),
        };
        if let Some((on, point)) = &start {
            chain.start = (self.on(on)?, Vec3::from(*point));
        }
        match (along, &to) {
            (Some(_), Some(_)) => return Err(errors::value("give `along` or `to`, not both")),
            (Some(along), None) => chain.course = Course::Along(convert::axis(along)?.0),
            (None, Some((on, point))) => {
                chain.course = Course::To(self.on(on)?, Vec3::from(*point));
            }
            (None, None) => {}
        }
        let first = self.n_bodies;
        let balls = self.core.add_chain(&chain, &material.0);
        self.n_bodies += balls.len() as u32;
        self.record.items.push(chain_item(&chain, &material.0.name));
        let start = first;
        self.groups.push(Group { name: name.to_owned(), start, end: self.n_bodies });
        Ok(GrainsHandle { scene: self.token, start, end: self.n_bodies })
    }

    /// Adds a contact between a point of one body and a plane of another (None for the world), whatever their shapes:
    /// positions [m] and the normal are in the frames of the bodies; the normal points to where the point may be.
    #[pyo3(signature = (point, plane, normal, law, *, name=None))]
    fn add_point_contact(
        &mut self,
        point: (Bound<PyAny>, [f64; 3]),
        plane: (Bound<PyAny>, [f64; 3]),
        normal: &Bound<PyAny>,
        law: &PairLaw,
        name: Option<String>,
    ) -> PyResult<()> {
        let place = |(on, at): &(Bound<PyAny>, [f64; 3])| -> PyResult<(On, Vec3)> {
            Ok((self.on(on)?, Vec3::from(*at)))
        };
        let (point, plane) = (place(&point)?, place(&plane)?);
        let normal = convert::axis(normal)?.0;
        let name = self.name_or(name, "point-contact");
        let mut keys = Table::default();
        keys.set("name", text(&name));
        if let Err(reason) = point_law(&mut keys, &law.0) {
            self.record.problems.push(format!("point contact `{name}`: {reason}"));
        }
        let pair = [point, plane].map(|(on, at)| (on, at.into()));
        self.record.items.push(Item::PointContact { keys, point: pair[0], plane: pair[1], normal });
        self.core.add_point_contact(PointContact { name, point, plane, normal, law: law.0 });
        Ok(())
    }

    /// Disables contact between two bodies.
    fn ignore_contact(&mut self, a: &Bound<PyAny>, b: &Bound<PyAny>) -> PyResult<()> {
        let (a, b) = (self.on(a)?, self.on(b)?);
        self.core.ignore_contact(a, b);
        self.record.items.push(Item::Apart([a, b]));
        Ok(())
    }

    /// Checks the description and freezes it. SceneError lists all mistakes.
    fn build(&self) -> PyResult<Scene> {
        let built = self.core.build();
        law::check(&self.raised)?;
        let scene = built.map_err(errors::scene)?;
        Ok(Scene(Arc::new(SceneData {
            settling: self.settling(&scene)?,
            scene,
            record: self.record.clone(),
            token: self.token,
            mechanisms: self.mechanisms.clone(),
            groups: self.groups.clone(),
            raised: self.raised.clone(),
            file: None,
        })))
    }

    fn __repr__(&self) -> String {
        format!("<SceneBuilder: {} bodies>", self.n_bodies)
    }
}

//! How a user describes a mechanism: a tree of bodies and joints, loops, forces and start values.

use super::closure::Cut;
use super::force::{
    Forces, JointMotion, JointSpring, LawForce, Phase, PointElement, PointSpring, Signal, Stops,
    Target,
};
use super::partition::Partition;
use super::tree::{Elementary, NONE};
use super::{MechanismError, Multibody};
use crate::math::{Mat3, Pose, Quat, Vec3, tangents};
use crate::shape::{MassProperties, Shape};

/// Handle of a body of a mechanism and of the joint that carries it, good for the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link(pub u32);

/// The ground: the base frame of a mechanism.
pub const GROUND: Link = Link(NONE);

/// Handle of a coordinate: its place among the velocities of the mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Coordinate(pub u32);

/// A direction, of any length but zero.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis(pub Vec3);

impl Axis {
    /// Along x.
    pub const X: Axis = Axis(Vec3::new(1.0, 0.0, 0.0));
    /// Along y.
    pub const Y: Axis = Axis(Vec3::new(0.0, 1.0, 0.0));
    /// Along z.
    pub const Z: Axis = Axis(Vec3::new(0.0, 0.0, 1.0));

    /// A frame rotation whose z axis is this one.
    pub fn frame(self) -> Mat3 {
        let z = self.0.normalize();
        let (x, y) = tangents(z);
        Mat3::from_columns(&[x, y, z])
    }
}

impl std::ops::Neg for Axis {
    type Output = Axis;
    fn neg(self) -> Axis {
        Axis(-self.0)
    }
}

impl From<[f64; 3]> for Axis {
    fn from(axis: [f64; 3]) -> Axis {
        Axis(Vec3::from(axis))
    }
}

/// How a body moves against its parent. Axes are those of the joint frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Joint {
    /// Turns about an axis.
    Revolute(Axis),
    /// Slides along an axis.
    Prismatic(Axis),
    /// Slides along an axis and turns about it; coordinates `slide`, `turn`.
    Cylindrical(Axis),
    /// Turns about a first axis, then about a second one that went along; coordinates `first`, `second`.
    Universal(Axis, Axis),
    /// Moves in the plane of two axes and turns about their normal; coordinates `x`, `y`, `angle`.
    Planar(Axis, Axis),
    /// Turns freely about a point: a unit quaternion; velocities are the angular velocity in the child frame.
    Spherical,
    /// Moves freely; coordinates `x`, `y`, `z` along the parent's axes, then as spherical.
    Free,
    /// Does not move.
    Fixed,
}

impl Joint {
    /// Names of its coordinates after the joint's own name; one-coordinate joints need none.
    pub fn coordinate_names(&self) -> &'static [&'static str] {
        match self {
            Joint::Revolute(_) | Joint::Prismatic(_) => &[""],
            Joint::Cylindrical(_) => &["slide", "turn"],
            Joint::Universal(..) => &["first", "second"],
            Joint::Planar(..) => &["x", "y", "angle"],
            Joint::Spherical => &["wx", "wy", "wz"],
            Joint::Free => &["x", "y", "z", "wx", "wy", "wz"],
            Joint::Fixed => &[],
        }
    }

    /// The word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Joint::Revolute(_) => "revolute",
            Joint::Prismatic(_) => "prismatic",
            Joint::Cylindrical(_) => "cylindrical",
            Joint::Universal(..) => "universal",
            Joint::Planar(..) => "planar",
            Joint::Spherical => "spherical",
            Joint::Free => "free",
            Joint::Fixed => "fixed",
        }
    }

    pub(super) fn elements(&self) -> Vec<(Elementary, Axis)> {
        use Elementary::{Fixed, Prismatic, Revolute, Spherical};
        match *self {
            Joint::Revolute(a) => vec![(Revolute, a)],
            Joint::Prismatic(a) => vec![(Prismatic, a)],
            Joint::Cylindrical(a) => vec![(Prismatic, a), (Revolute, a)],
            Joint::Universal(a, b) => vec![(Revolute, a), (Revolute, b)],
            Joint::Planar(x, y) => {
                vec![(Prismatic, x), (Prismatic, y), (Revolute, Axis(x.0.cross(&y.0)))]
            }
            Joint::Spherical => vec![(Spherical, Axis::Z)],
            Joint::Free => vec![
                (Prismatic, Axis::X),
                (Prismatic, Axis::Y),
                (Prismatic, Axis::Z),
                (Spherical, Axis::Z),
            ],
            Joint::Fixed => vec![(Fixed, Axis::Z)],
        }
    }

    /// Whether one of its coordinates is an angle in radians.
    fn is_angle(&self, k: usize) -> bool {
        match self {
            Joint::Prismatic(_) => false,
            Joint::Cylindrical(_) => k == 1,
            Joint::Planar(..) => k == 2,
            Joint::Free => k >= 3,
            _ => true,
        }
    }
}

/// A frame on a body of a mechanism, or on the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame {
    /// The body.
    pub link: Link,
    /// The frame in the body's own.
    pub pose: Pose,
}

impl Frame {
    /// A point of a body [m], with the axes of the body.
    pub fn at(link: Link, point: [f64; 3]) -> Frame {
        Frame { link, pose: Pose::at(point) }
    }

    /// The same point with the z axis along `axis` of the body.
    pub fn along(mut self, axis: Axis) -> Frame {
        if axis.0.norm() > 0.0 {
            let rotation = nalgebra::Rotation3::from_matrix_unchecked(axis.frame());
            self.pose.rotation = Quat::from_rotation_matrix(&rotation);
        }
        self
    }
}

/// A shape on a body of a mechanism.
#[derive(Clone, Debug)]
pub struct LinkShape {
    /// The body.
    pub link: Link,
    /// The shape.
    pub shape: Shape,
    /// Its frame in the body's own.
    pub pose: Pose,
    /// Name of its material.
    pub material: String,
}

#[derive(Clone, Debug)]
pub(super) struct LinkDescription {
    pub(super) name: String,
    pub(super) parent: Link,
    pub(super) joint: Joint,
    pub(super) place: Pose,
    pub(super) mass: Option<MassProperties>,
    pub(super) first_column: u32,
}

#[derive(Clone, Debug)]
pub(super) struct CoordinateDescription {
    pub(super) name: String,
    pub(super) angle: bool,
    pub(super) start: Option<f64>,
    pub(super) guess: f64,
    pub(super) velocity: Option<f64>,
    pub(super) motion: Option<JointMotion>,
    pub(super) spring: Option<JointSpring>,
    pub(super) stops: Option<Stops>,
}

#[derive(Clone, Debug)]
pub(super) struct LoopDescription {
    pub(super) name: String,
    pub(super) cut: Cut,
    pub(super) a: Frame,
    pub(super) b: Frame,
}

/// A mechanism as the user describes it: bodies that hang on each other by joints, loops, forces and start values.
///
/// ```
/// use riprap::multibody::{Axis, GROUND, Mechanism};
/// use riprap::shape::MassProperties;
///
/// let mut m = Mechanism::new("pendulum");
/// let arm = m.revolute(GROUND, Axis::Y, [0.0; 3], MassProperties::point(2.0, [0.0, 0.0, -1.0]));
/// m.start(m.coordinate(arm, 0), 0.1);
/// let pendulum = m.build([0.0, 0.0, -9.81])?;
/// assert_eq!(pendulum.n_v(), 1);
/// # Ok::<(), riprap::multibody::MechanismErrors>(())
/// ```
#[derive(Clone, Debug)]
pub struct Mechanism {
    /// Its name.
    pub name: String,
    /// Base frame in the world.
    pub base: Pose,
    pub(super) links: Vec<LinkDescription>,
    pub(super) coordinates: Vec<CoordinateDescription>,
    pub(super) rotations: Vec<(Link, Quat)>,
    pub(super) loops: Vec<LoopDescription>,
    pub(super) shapes: Vec<LinkShape>,
    pub(super) dependent: Vec<Coordinate>,
    pub(super) points: Vec<(String, PointSpring, Frame, Frame)>,
    pub(super) laws: Vec<LawForce>,
    pub(super) n_latched: usize,
}

impl Mechanism {
    /// A mechanism without bodies, its base frame that of the world.
    pub fn new(name: &str) -> Mechanism {
        Mechanism {
            name: name.to_owned(),
            base: Pose::IDENTITY,
            links: Vec::new(),
            coordinates: Vec::new(),
            rotations: Vec::new(),
            loops: Vec::new(),
            shapes: Vec::new(),
            dependent: Vec::new(),
            points: Vec::new(),
            laws: Vec::new(),
            n_latched: 0,
        }
    }

    /// Adds a body on a joint. `place` is the joint frame in the frame of the parent; the body's own frame coincides with
    /// the joint frame while all coordinates are 0. `None` for a body without mass.
    pub fn add(
        &mut self,
        name: &str,
        parent: Link,
        joint: Joint,
        place: Pose,
        mass: Option<MassProperties>,
    ) -> Link {
        let first_column = self.coordinates.len() as u32;
        for (k, part) in joint.coordinate_names().iter().enumerate() {
            let name = if part.is_empty() { name.to_owned() } else { format!("{name}.{part}") };
            self.coordinates.push(CoordinateDescription {
                name,
                angle: joint.is_angle(k),
                start: None,
                guess: 0.0,
                velocity: None,
                motion: None,
                spring: None,
                stops: None,
            });
        }
        let name = name.to_owned();
        self.links.push(LinkDescription { name, parent, joint, place, mass, first_column });
        Link(self.links.len() as u32 - 1)
    }

    fn add_unnamed(
        &mut self,
        parent: Link,
        joint: Joint,
        at: [f64; 3],
        mass: MassProperties,
    ) -> Link {
        let name = format!("link-{}", self.links.len() + 1);
        self.add(&name, parent, joint, Pose::at(at), Some(mass))
    }

    /// Adds a body that turns about an axis through a point of its parent [m].
    pub fn revolute(
        &mut self,
        parent: Link,
        axis: Axis,
        at: [f64; 3],
        mass: MassProperties,
    ) -> Link {
        self.add_unnamed(parent, Joint::Revolute(axis), at, mass)
    }

    /// Adds a body that slides along an axis through a point of its parent [m].
    pub fn prismatic(
        &mut self,
        parent: Link,
        axis: Axis,
        at: [f64; 3],
        mass: MassProperties,
    ) -> Link {
        self.add_unnamed(parent, Joint::Prismatic(axis), at, mass)
    }

    /// Gives a body and its coordinates another name. For a chain of elementary joints the coordinate keeps the name of
    /// its element.
    pub fn rename(&mut self, link: Link, name: &str) {
        self.links[link.0 as usize].name = name.to_owned();
    }

    /// The k-th coordinate of a joint.
    pub fn coordinate(&self, link: Link, k: usize) -> Coordinate {
        Coordinate(self.links[link.0 as usize].first_column + k as u32)
    }

    /// The coordinate with a name.
    pub fn coordinate_named(&self, name: &str) -> Option<Coordinate> {
        self.coordinates.iter().position(|c| c.name == name).map(|c| Coordinate(c as u32))
    }

    /// The body with a name.
    pub fn link_named(&self, name: &str) -> Option<Link> {
        self.links.iter().position(|l| l.name == name).map(|l| Link(l as u32))
    }

    /// Place of a coordinate in `q`, for the closures of laws; `None` for the velocity of a spherical joint.
    pub fn q_index(&self, coordinate: Coordinate) -> Option<usize> {
        let mut next = 0;
        for link in &self.links {
            for (k, part) in link.joint.coordinate_names().iter().enumerate() {
                let here = link.first_column + k as u32 == coordinate.0;
                match *part {
                    "wx" | "wy" | "wz" if here => return None,
                    "wx" => next += 4,
                    "wy" | "wz" => {}
                    _ if here => return Some(next),
                    _ => next += 1,
                }
            }
        }
        None
    }

    /// Gives a coordinate its start value [m, rad]; the assembly of loops leaves it where it can.
    pub fn start(&mut self, coordinate: Coordinate, value: f64) {
        self.coordinates[coordinate.0 as usize].start = Some(value);
    }

    /// Gives a coordinate a rough start value [m, rad], which the assembly of loops may change.
    pub fn guess(&mut self, coordinate: Coordinate, value: f64) {
        self.coordinates[coordinate.0 as usize].guess = value;
    }

    /// Gives a coordinate its start velocity [m/s, rad/s].
    pub fn start_velocity(&mut self, coordinate: Coordinate, value: f64) {
        self.coordinates[coordinate.0 as usize].velocity = Some(value);
    }

    /// Gives a spherical or free joint its start rotation.
    pub fn start_rotation(&mut self, link: Link, rotation: Quat) {
        self.rotations.push((link, rotation));
    }

    /// Puts a spring and damper on a coordinate.
    pub fn spring(&mut self, coordinate: Coordinate, spring: JointSpring) {
        self.coordinates[coordinate.0 as usize].spring = Some(spring);
    }

    /// Bounds the range of a coordinate by soft stops.
    pub fn stops(&mut self, coordinate: Coordinate, stops: Stops) {
        self.coordinates[coordinate.0 as usize].stops = Some(stops);
    }

    /// Prescribes a coordinate.
    pub fn drive(&mut self, coordinate: Coordinate, motion: JointMotion) {
        self.coordinates[coordinate.0 as usize].motion = Some(motion);
    }

    /// Adds a force on a coordinate [N, N m].
    pub fn actuate(&mut self, name: &str, coordinate: Coordinate, law: Signal) {
        self.actuate_in_phases(name, coordinate, vec![Phase::forever(law)]);
    }

    /// Adds a force on a coordinate [N, N m] whose law has phases.
    pub fn actuate_in_phases(&mut self, name: &str, coordinate: Coordinate, phases: Vec<Phase>) {
        let target = Target::Column(coordinate.0);
        self.laws.push(LawForce { name: name.to_owned(), target, phases });
    }

    /// Adds a wrench on a body at a point [m]: phases with six components, force [N] and torque [N m], along the axes of
    /// the world or of the body.
    pub fn push(
        &mut self,
        name: &str,
        link: Link,
        point: [f64; 3],
        in_body: bool,
        phases: Vec<Phase>,
    ) {
        // The node of the link is known once all are; until then the link stands for it.
        let target = Target::Body { body: link.0, point: Vec3::from(point), in_body };
        self.laws.push(LawForce { name: name.to_owned(), target, phases });
    }

    /// A slot for a latched value, to be used in phases.
    pub fn latch_slot(&mut self) -> usize {
        self.n_latched += 1;
        self.n_latched - 1
    }

    /// Adds a spring between points of two bodies.
    pub fn point_spring(&mut self, name: &str, spring: PointSpring, a: Frame, b: Frame) {
        self.points.push((name.to_owned(), spring, a, b));
    }

    /// Closes a loop: holds two frames together.
    pub fn close_loop(&mut self, name: &str, cut: Cut, a: Frame, b: Frame) {
        self.loops.push(LoopDescription { name: name.to_owned(), cut, a, b });
    }

    /// Names the coordinates that the loops determine, instead of leaving the choice to riprap.
    pub fn dependent(&mut self, coordinates: &[Coordinate]) {
        self.dependent = coordinates.to_vec();
    }

    /// Puts a shape on a body, for contacts and pictures.
    pub fn attach(&mut self, link: Link, shape: Shape, pose: Pose, material: &str) {
        self.shapes.push(LinkShape { link, shape, pose, material: material.to_owned() });
    }

    /// The shapes on its bodies.
    pub fn shapes(&self) -> &[LinkShape] {
        &self.shapes
    }

    /// Gives a body its mass, centre of mass and inertia; `None` for a body without mass.
    pub fn set_mass(&mut self, link: Link, mass: Option<MassProperties>) {
        self.links[link.0 as usize].mass = mass;
    }

    /// Checks the description, lays out the tree, assembles the loops and finds a consistent start. All mistakes are
    /// found together. `gravity` [m/s²] is that of the scene.
    pub fn build(&self, gravity: [f64; 3]) -> Result<Multibody, MechanismErrors> {
        let mut errors = self.check();
        if !errors.is_empty() {
            return Err(MechanismErrors(errors));
        }
        let (tree, node_of) = self.tree(Vec3::from(gravity));
        let closures = self.closures(&tree, &node_of);
        let n_rows = closures.iter().map(|c| c.cut.equations()).sum();
        let mut driven = Vec::new();
        for (c, coordinate) in self.coordinates.iter().enumerate() {
            if let Some(motion) = &coordinate.motion {
                driven.push((c as u32, tree.columns[c].q, motion.clone()));
            }
        }
        let mut forces = Forces { n_latched: self.n_latched, ..Forces::default() };
        for (c, coordinate) in self.coordinates.iter().enumerate() {
            let at = tree.columns[c].q;
            forces.springs.extend(coordinate.spring.map(|s| (c as u32, at, s)));
            forces.stops.extend(coordinate.stops.map(|s| (c as u32, at, s)));
        }
        let node = |link: Link| if link == GROUND { NONE } else { node_of[link.0 as usize] };
        for (name, spring, a, b) in &self.points {
            forces.points.push(PointElement {
                name: name.clone(),
                spring: *spring,
                a: (node(a.link), a.pose.position),
                b: (node(b.link), b.pose.position),
            });
        }
        for law in &self.laws {
            let mut law = law.clone();
            if let Target::Body { body, .. } = &mut law.target {
                *body = node(Link(*body));
            }
            forces.laws.push(law);
        }
        let size = self
            .links
            .iter()
            .map(|l| l.place.position.norm())
            .chain(
                self.loops
                    .iter()
                    .flat_map(|l| [l.a.pose.position.norm(), l.b.pose.position.norm()]),
            )
            .fold(1.0, f64::max);
        let mut system = Multibody {
            name: self.name.clone(),
            tree,
            link_names: self.links.iter().map(|l| l.name.clone()).collect(),
            link_joints: self.links.iter().map(|l| l.joint).collect(),
            link_parents: self.links.iter().map(|l| l.parent).collect(),
            link_columns: self.links.iter().map(|l| l.first_column).collect(),
            node_of,
            coordinate_names: self.coordinates.iter().map(|c| c.name.clone()).collect(),
            angles: self.coordinates.iter().map(|c| c.angle).collect(),
            closures,
            n_rows,
            driven,
            forces,
            named: (!self.dependent.is_empty())
                .then(|| self.dependent.iter().map(|c| c.0).collect()),
            shapes: self.shapes.clone(),
            size,
            start: Default::default(),
            assembly: Partition::default(),
        };
        if let Err(error) = self.assemble(&mut system) {
            errors.push(error);
            return Err(MechanismErrors(errors));
        }
        Ok(system)
    }

    /// Initial assembly: positions, then velocities, then the first phases of the laws.
    fn assemble(&self, system: &mut Multibody) -> Result<(), MechanismError> {
        let mut q = vec![0.0; system.tree.n_q];
        for node in system.tree.nodes.iter().filter(|n| n.joint == Elementary::Spherical) {
            q[node.q as usize + 3] = 1.0;
        }
        for (link, rotation) in &self.rotations {
            // The spherical element of a joint is its last.
            let node = &system.tree.nodes[system.node_of[link.0 as usize] as usize];
            if node.joint == Elementary::Spherical {
                let at = node.q as usize;
                q[at..at + 4].copy_from_slice(rotation.coords.as_slice());
            }
        }
        for (c, coordinate) in self.coordinates.iter().enumerate() {
            if let Some(at) = system.q_of(Coordinate(c as u32)) {
                q[at] = coordinate.start.unwrap_or(coordinate.guess);
            }
        }
        let held: Vec<bool> = self.coordinates.iter().map(|c| c.start.is_some()).collect();
        let velocities: Vec<Option<f64>> = self.coordinates.iter().map(|c| c.velocity).collect();
        system.assemble(q, &held, &velocities)
    }
}

/// All mistakes of a mechanism, found together.
#[derive(Clone, Debug, PartialEq)]
pub struct MechanismErrors(pub Vec<MechanismError>);

impl std::fmt::Display for MechanismErrors {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        super::error::write_lines(&self.0, f)
    }
}

impl std::error::Error for MechanismErrors {}

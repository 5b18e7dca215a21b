//! How a user describes a mechanism: a tree of bodies and joints, loops, forces and start values.

use super::MechanismError;
use super::closure::Cut;
use super::force::{JointMotion, JointSpring, LawForce, Phase, PointSpring, Signal, Stops, Target};
use super::joint::{Axis, Joint};
use super::tree::NONE;
use crate::math::{Pose, Quat, Vec3};
use crate::shape::{MassProperties, Shape};

/// Handle of a body of a mechanism and of the joint that carries it, good for the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link(pub u32);

/// The ground: the base frame of a mechanism.
pub const GROUND: Link = Link(NONE);

/// Handle of a coordinate: its place among the velocities of the mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Coordinate(pub u32);

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

    /// Gives a body another name. Its coordinates keep theirs.
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

//! The description of a mechanism: a tree of bodies and joints, loops, forces and start values.

use super::MechanismError;
use super::closure::Cut;
use super::force::{JointMotion, JointSpring, LawForce, Phase, PointSpring, Signal, Stops, Target};
use super::joint::{Axis, Joint};
use super::tree::NONE;
use crate::math::{Pose, Quat, Vec3};
use crate::shape::{MassProperties, Shape};

/// Handle of a body of a mechanism and of the joint that carries it, valid for the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link(pub u32);

/// The ground: the base frame of a mechanism.
pub const GROUND: Link = Link(NONE);

/// Handle of a coordinate: its index among the velocities of the mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Coordinate(pub u32);

/// A frame on a body of a mechanism, or on the ground.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Marker {
    /// The body.
    pub link: Link,
    /// Pose of the frame in the body frame.
    pub pose: Pose,
}

impl Marker {
    /// A point of a body [m], with the axes of the body.
    pub fn at(link: Link, point: [f64; 3]) -> Marker {
        Marker { link, pose: Pose::at(point) }
    }

    /// The same point with the z axis along `axis` in the body frame.
    pub fn along(mut self, axis: Axis) -> Marker {
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
    /// Its pose in the body frame.
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
    /// Masses of the solids it consists of.
    pub(super) solids: Vec<MassProperties>,
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
    /// Largest speed in either direction [m/s, rad/s].
    pub(super) speed_limit: Option<f64>,
}

#[derive(Clone, Debug)]
pub(super) struct LoopDescription {
    pub(super) name: String,
    pub(super) cut: Cut,
    pub(super) a: Marker,
    pub(super) b: Marker,
}

/// Description of a mechanism: bodies connected by joints, loops, forces and start values.
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
    pub(super) points: Vec<(String, PointSpring, Marker, Marker)>,
    pub(super) laws: Vec<LawForce>,
    pub(super) n_latched: usize,
}

impl Mechanism {
    /// A mechanism without bodies; its base frame is the world frame.
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
                speed_limit: None,
            });
        }
        let name = name.to_owned();
        let solids = Vec::new();
        self.links.push(LinkDescription { name, parent, joint, place, mass, solids, first_column });
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

    /// Adds a body that rotates about an axis through a point of its parent [m].
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

    /// Renames a body. Its coordinates keep their names.
    pub fn rename(&mut self, link: Link, name: &str) {
        self.links[link.0 as usize].name = name.to_owned();
    }

    /// The k-th coordinate of a joint.
    pub fn coordinate(&self, link: Link, k: usize) -> Coordinate {
        Coordinate(self.links[link.0 as usize].first_column + k as u32)
    }

    /// The coordinate with the given name.
    pub fn coordinate_named(&self, name: &str) -> Option<Coordinate> {
        self.coordinates.iter().position(|c| c.name == name).map(|c| Coordinate(c as u32))
    }

    /// The body with the given name.
    pub fn link_named(&self, name: &str) -> Option<Link> {
        self.links.iter().position(|l| l.name == name).map(|l| Link(l as u32))
    }

    /// Index of a coordinate in `q`, for the closures of laws; `None` for the velocity of a
    /// spherical joint.
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

    /// Sets the start value of a coordinate [m, rad]; the assembly of loops keeps it if possible.
    pub fn start(&mut self, coordinate: Coordinate, value: f64) {
        self.coordinates[coordinate.0 as usize].start = Some(value);
    }

    /// Sets a rough start value of a coordinate [m, rad], which the assembly of loops may change.
    pub fn guess(&mut self, coordinate: Coordinate, value: f64) {
        self.coordinates[coordinate.0 as usize].guess = value;
    }

    /// Sets the start velocity of a coordinate [m/s, rad/s].
    pub fn start_velocity(&mut self, coordinate: Coordinate, value: f64) {
        self.coordinates[coordinate.0 as usize].velocity = Some(value);
    }

    /// Sets the start rotation of a spherical or free joint.
    pub fn start_rotation(&mut self, link: Link, rotation: Quat) {
        self.rotations.push((link, rotation));
    }

    /// Adds a spring and damper on a coordinate.
    pub fn spring(&mut self, coordinate: Coordinate, spring: JointSpring) {
        self.coordinates[coordinate.0 as usize].spring = Some(spring);
    }

    /// Bounds the range of a coordinate by soft stops.
    pub fn stops(&mut self, coordinate: Coordinate, stops: Stops) {
        self.coordinates[coordinate.0 as usize].stops = Some(stops);
    }

    /// Whether a coordinate is an angle.
    pub fn is_angle(&self, coordinate: Coordinate) -> bool {
        self.coordinates[coordinate.0 as usize].angle
    }

    /// Limits the speed of a coordinate in either direction [m/s, rad/s]. With a force on it ([`Mechanism::actuate`]) this is
    /// a servo: it pushes with exactly that force as long as it is slower than the limit. For schemes that solve contact
    /// problems.
    pub fn limit_speed(&mut self, coordinate: Coordinate, speed: f64) {
        self.coordinates[coordinate.0 as usize].speed_limit = Some(speed);
    }

    /// Prescribes the motion of a coordinate.
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
        // The node of the link is known only once all links are added; until then the link is
        // stored in its place.
        let target = Target::Body { body: link.0, point: Vec3::from(point), in_body };
        self.laws.push(LawForce { name: name.to_owned(), target, phases });
    }

    /// A slot for a latched value, to be used in phases.
    pub fn latch_slot(&mut self) -> usize {
        self.n_latched += 1;
        self.n_latched - 1
    }

    /// Adds a spring between points of two bodies.
    pub fn point_spring(&mut self, name: &str, spring: PointSpring, a: Marker, b: Marker) {
        self.points.push((name.to_owned(), spring, a, b));
    }

    /// Closes a loop by connecting two frames.
    pub fn close_loop(&mut self, name: &str, cut: Cut, a: Marker, b: Marker) {
        self.loops.push(LoopDescription { name: name.to_owned(), cut, a, b });
    }

    /// Names the coordinates that the loops determine, instead of an automatic choice.
    pub fn dependent(&mut self, coordinates: &[Coordinate]) {
        self.dependent = coordinates.to_vec();
    }

    /// Attaches a solid to a body: a shape with its mass, for a density [kg/m³]. A body with several solids has the sum of
    /// their masses; a mass that was set before is replaced.
    ///
    /// ```
    /// use riprap::prelude::*;
    ///
    /// let mut hammer = Mechanism::new("hammer");
    /// let head = hammer.add("swing", GROUND, Joint::Revolute(Axis::Y), Pose::IDENTITY, None);
    /// hammer.attach_solid(head, Shape::cuboid([0.04, 0.04, 0.3])?, Pose::at([0.0, 0.0, -0.15]), "oak", 700.0);
    /// hammer.attach_solid(head, Shape::cuboid([0.15, 0.05, 0.05])?, Pose::at([0.0, 0.0, -0.3]), "steel", 7800.0);
    /// assert_eq!(hammer.build([0.0, 0.0, -9.81])?.n_v(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn attach_solid(
        &mut self,
        link: Link,
        shape: Shape,
        pose: Pose,
        material: &str,
        density: f64,
    ) {
        let body = &mut self.links[link.0 as usize];
        body.solids.extend(shape.mass_properties(density).map(|mass| mass.moved(&pose)));
        body.mass = MassProperties::sum(body.solids.iter().map(|mass| Ok(*mass))).ok();
        self.attach(link, shape, pose, material);
    }

    /// The mass properties of a body, if it has a mass.
    pub fn mass(&self, link: Link) -> Option<&MassProperties> {
        self.links[link.0 as usize].mass.as_ref()
    }

    /// Attaches a shape to a body, for contacts and visualization; it adds no mass.
    pub fn attach(&mut self, link: Link, shape: Shape, pose: Pose, material: &str) {
        self.shapes.push(LinkShape { link, shape, pose, material: material.to_owned() });
    }

    /// The shapes attached to its bodies.
    pub fn shapes(&self) -> &[LinkShape] {
        &self.shapes
    }

    /// Sets the mass, centre of mass and inertia of a body; `None` for a body without mass.
    pub fn set_mass(&mut self, link: Link, mass: Option<MassProperties>) {
        self.links[link.0 as usize].mass = mass;
    }
}

/// All errors in a mechanism, reported together.
#[derive(Clone, Debug, PartialEq)]
pub struct MechanismErrors(pub Vec<MechanismError>);

impl std::fmt::Display for MechanismErrors {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        super::error::write_lines(&self.0, f)
    }
}

impl std::error::Error for MechanismErrors {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Mat3;
    use crate::multibody::Until;
    use crate::multibody::fixtures::{GRAVITY, random_tree, seeded};

    fn body() -> Option<MassProperties> {
        Some(MassProperties::principal(1.0, [0.0; 3], [0.1; 3]))
    }

    #[test]
    fn coordinates_are_numbered_and_named_in_the_order_of_the_joints() {
        let mut m = Mechanism::new("arm");
        let base = m.add("base", GROUND, Joint::Free, Pose::IDENTITY, body());
        let post = m.add("post", base, Joint::Fixed, Pose::IDENTITY, body());
        let arm = m.add("arm", post, Joint::Cylindrical(Axis::Z), Pose::IDENTITY, body());
        let hand = m.add("hand", arm, Joint::Revolute(Axis::X), Pose::IDENTITY, body());
        assert_eq!([base, post, arm, hand], [Link(0), Link(1), Link(2), Link(3)]);
        assert_eq!(m.coordinate(arm, 1), Coordinate(7));
        assert_eq!(m.coordinate_named("arm.turn"), Some(Coordinate(7)));
        assert_eq!(m.coordinate_named("hand"), Some(Coordinate(8)));
        assert_eq!(m.link_named("post"), Some(post));
        // x, y, z, four of the quaternion, slide, turn, hand.
        let places = [0, 2, 3, 5, 6, 8].map(|c| m.q_index(Coordinate(c)));
        assert_eq!(places, [Some(0), Some(2), None, None, Some(7), Some(9)]);
        assert_eq!(m.q_index(Coordinate(9)), None, "there are only nine");
        // Renaming the body keeps the names of its coordinates.
        m.rename(arm, "boom");
        assert_eq!(
            (m.link_named("boom"), m.coordinate_named("arm.slide")),
            (Some(arm), Some(Coordinate(6)))
        );
    }

    #[test]
    fn the_description_gives_the_index_of_a_coordinate() {
        for seed in 0..30 {
            let m = random_tree(&mut seeded(seed), 7);
            let system = m.build(GRAVITY).unwrap();
            for c in system.coordinates() {
                assert_eq!(m.q_index(c), system.q_of(c));
                assert_eq!(m.coordinate_named(system.coordinate_name(c)), Some(c));
            }
        }
    }

    #[test]
    fn bodies_without_a_name_are_numbered() {
        let mut m = Mechanism::new("chain");
        let point = MassProperties::point(1.0, [0.0; 3]);
        let a = m.revolute(GROUND, Axis::Z, [0.0; 3], point);
        let b = m.prismatic(a, Axis::X, [1.0, 0.0, 0.0], point);
        assert_eq!((m.link_named("link-1"), m.link_named("link-2")), (Some(a), Some(b)));
    }

    #[test]
    fn a_frame_along_an_axis_has_its_z_axis_there() {
        let frame = Marker::at(Link(3), [1.0, 2.0, 3.0]).along(Axis::from([0.0, 3.0, 4.0]));
        assert_eq!((frame.link, frame.pose.position), (Link(3), Vec3::new(1.0, 2.0, 3.0)));
        assert!((frame.pose.vector(Vec3::z()) - Vec3::new(0.0, 0.6, 0.8)).norm() < 1e-15);
        let r = frame.pose.rotation.to_rotation_matrix();
        assert!((r.matrix().transpose() * r.matrix() - Mat3::identity()).norm() < 1e-14);
        // An axis of zero length leaves the frame unchanged; the check of the loop reports it.
        assert_eq!(frame.along(Axis(Vec3::zeros())), frame);
    }

    #[test]
    fn the_last_of_several_settings_wins() {
        let mut m = Mechanism::new("slide");
        let slide = m.add("slide", GROUND, Joint::Prismatic(Axis::X), Pose::IDENTITY, None);
        let c = m.coordinate(slide, 0);
        m.start(c, 1.0);
        m.start(c, 2.0);
        m.set_mass(slide, body());
        let system = m.build([0.0; 3]).unwrap();
        assert_eq!((system.start().q[0], system.mass(slide)), (2.0, 1.0));
    }

    #[test]
    fn slots_for_latched_values_are_assigned_one_by_one() {
        let mut m = Mechanism::new("slide");
        let slide = m.add("slide", GROUND, Joint::Prismatic(Axis::X), Pose::IDENTITY, body());
        assert_eq!((m.latch_slot(), m.latch_slot()), (0, 1));
        m.start(m.coordinate(slide, 0), 4.0);
        let mut first = Phase::forever(Signal::constant(0.0));
        first.latch = vec![(1, Signal::new(|x| 10.0 * x.q[0]))];
        first.until = Some(Until::Time(1.0));
        m.actuate_in_phases("law", m.coordinate(slide, 0), vec![first]);
        let system = m.build([0.0; 3]).unwrap();
        assert_eq!(system.start().control.latched, [0.0, 40.0], "latched when the run starts");
    }
}

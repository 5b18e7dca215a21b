//! Mechanisms in a scene: each of their bodies is a body of the scene carried by the mechanism.

use super::{Bodies, Body, BuildError, FlexibleId, Item, PairLaw, SceneBuilder, State, Twist};
use crate::detect::{Collider, Geometry};
use crate::flexible::Structure;
use crate::math::{Mat3, Pose, Vec3};
use crate::multibody::{GROUND, Link, Mechanism, Multibody, MultibodyScratch, MultibodyState};
use crate::shape::{MassProperties, Shape};

/// Handle of a mechanism of a scene, valid for the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MechanismId(pub u32);

impl MechanismId {
    /// Index into [`super::Scene::mechanisms`] and [`State::mechanisms`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The body of a mechanism that corresponds to a body of the scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carried {
    /// The mechanism.
    pub mechanism: MechanismId,
    /// Its body.
    pub link: Link,
}

/// Something that a frame can be fixed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// The world.
    World,
    /// A body.
    Body(Body),
    /// A body of a mechanism.
    Link(MechanismId, Link),
    /// A node of a flexible body, counted from 0; its frame is that of the cross-section.
    Node(FlexibleId, u32),
}

/// A contact between a chosen point of one body and a chosen plane of another, whatever their
/// shapes: for example, the corner of a slider in its guide.
///
/// ```
/// use riprap::prelude::*;
///
/// let mut scene = Scene::builder();
/// let mut m = Mechanism::new("slide");
/// let mass = MassProperties::principal(1.0, [0.0; 3], [1e-3; 3]);
/// let block = m.add("block", GROUND, Joint::Planar(Axis::X, Axis::Y), Pose::IDENTITY, Some(mass));
/// let slide = scene.add_mechanism(m);
///
/// // A corner of the block, 1 mm above a plane of the world.
/// let steel = Material::new("steel").friction(0.1);
/// scene.add_point_contact(PointContact {
///     name: "corner".into(),
///     point: (On::Link(slide, block), Vec3::new(0.05, -0.025, 0.0)),
///     plane: (On::World, Vec3::new(0.0, -0.026, 0.0)),
///     normal: Vec3::y(),
///     law: PairLaw::combined(&steel, &steel),
/// });
/// scene.gravity([0.0, -9.81, 0.0]);
/// let mut run = Simulation::new(scene.build()?, MoreauJean::new(1e-4))?;
/// run.until(0.1, &mut ())?;
/// let height = run.state().mechanisms[slide.index()].q[1];
/// assert!(height < -0.9e-3, "the corner has come down to the plane: {height}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct PointContact {
    /// Its name.
    pub name: String,
    /// The body with the point, and the point in the frame of its shape [m].
    pub point: (On, Vec3),
    /// The body with the plane, and a point of the plane [m].
    pub plane: (On, Vec3),
    /// Normal of the plane in the same frame; it points to the side where the point may be.
    pub normal: Vec3,
    /// Friction, restitution and law along the normal.
    pub law: PairLaw,
}

/// A point contact with its bodies resolved; positions are relative to the bodies' centres of mass.
#[derive(Clone, Debug)]
pub struct ResolvedPoint {
    /// Its name.
    pub name: String,
    /// Bodies of the plane and of the point.
    pub bodies: [u32; 2],
    /// A point of the plane, and the point [m].
    pub places: [Vec3; 2],
    /// Normal of the plane.
    pub normal: Vec3,
    /// Friction, restitution and law along the normal.
    pub law: PairLaw,
}

impl SceneBuilder {
    /// Adds a mechanism. Materials of its shapes must be registered with
    /// [`SceneBuilder::material`].
    pub fn add_mechanism(&mut self, mechanism: Mechanism) -> MechanismId {
        self.mechanisms.push(mechanism);
        MechanismId(self.mechanisms.len() as u32 - 1)
    }

    /// Adds a contact between a chosen point and a chosen plane.
    pub fn add_point_contact(&mut self, contact: PointContact) {
        self.point_contacts.push(contact);
    }

    /// Disables contact between two bodies.
    pub fn ignore_contact(&mut self, a: On, b: On) {
        self.apart.push((a, b));
    }

    /// Builds the mechanisms and appends their bodies to those of the scene.
    pub(super) fn build_mechanisms(
        &self,
        gravity: Vec3,
        bodies: &mut Bodies,
        shapes: &mut Vec<Shape>,
        colliders: &mut Vec<Collider>,
        initial: &mut State,
        errors: &mut Vec<BuildError>,
    ) -> Vec<Multibody> {
        let mut built: Vec<Multibody> = Vec::new();
        for (m, mechanism) in self.mechanisms.iter().enumerate() {
            if built.iter().any(|b| b.name() == mechanism.name) {
                let name = mechanism.name.clone();
                errors.push(BuildError::Duplicate { what: "mechanisms", name });
            }
            let system = match mechanism.build(gravity.into()) {
                Ok(system) => system,
                Err(mistakes) => {
                    errors.extend(mistakes.0.into_iter().map(BuildError::Mechanism));
                    continue;
                }
            };
            let (state, mut work) = (system.start().clone(), system.scratch());
            system.tree().kinematics(&state.q, &mut work.tree);
            system.tree().motion(&state.v, &mut work.tree);
            for link in system.links() {
                let index = bodies.len();
                let own = || system.shapes().iter().filter(|s| s.link == link);
                let [mechanism, body] = [system.name(), system.link_name(link)].map(str::to_owned);
                let item = Item::Link { mechanism, body };
                let shape = match own().count() {
                    0 => Ok(Shape::nothing()),
                    _ => Shape::compound(own().map(|s| (s.pose, s.shape.clone())).collect()),
                };
                let shape = shape.unwrap_or_else(|_| {
                    let problem = "a half-space is infinite: it cannot be carried by a mechanism";
                    errors.push(BuildError::WrongDimension { item: item.clone(), problem });
                    Shape::nothing()
                });
                let free = system.free_body();
                let centre = free.map_or(Vec3::zeros(), |m| m.centre);
                let first = colliders.len();
                for part in own() {
                    let material = self.material_index(&part.material, &item, errors).unwrap_or(0);
                    for (pose, convex) in part.shape.parts() {
                        let Some(geometry) = Geometry::of(&convex) else { continue };
                        colliders.push(Collider {
                            body: index as u32,
                            geometry,
                            pose: from_centre(part.pose.compose(&pose), centre),
                            material: material as u32,
                            movable: system.can_move(link),
                        });
                    }
                }
                let carried = Carried { mechanism: MechanismId(m as u32), link };
                bodies.push_carried(
                    format!("{}/{}", system.name(), system.link_name(link)),
                    Some(carried),
                    shape.size().unwrap_or(0.0),
                    &colliders[first..],
                );
                if let Some(mass) = free {
                    bodies.free_last(&mass);
                }
                shapes.push(shape);
                let mut pose = system.pose(&work, link);
                pose.position = pose.point(centre);
                initial.q.push(pose);
                initial.v.push(twist(&system, &work, link, centre));
            }
            initial.mechanisms.push(state);
            built.push(system);
        }
        built
    }

    /// Pairs of bodies without contact: those connected by a joint or a loop, neighbours of a flexible body, and those named by
    /// the user.
    pub(super) fn pairs_apart(
        &self,
        built: &[Multibody],
        flexible: &[Structure],
        bodies: &Bodies,
    ) -> Vec<(u32, u32)> {
        let mut apart = Vec::new();
        bodies.neighbours(flexible, &mut apart);
        for (m, system) in built.iter().enumerate() {
            let body = |link: Link| bodies.carried_by(MechanismId(m as u32), link);
            let mut add = |a: Link, b: Link| {
                if let (Some(a), Some(b)) = (body(a), body(b)) {
                    apart.push((a, b));
                }
            };
            for link in system.links() {
                // Neighbours across a body without a shape, as in a chain of joints, count as
                // adjacent.
                let mut parent = system.parent(link);
                add(link, parent);
                while parent != GROUND && system.shapes().iter().all(|s| s.link != parent) {
                    parent = system.parent(parent);
                    add(link, parent);
                }
            }
            system.loop_links().for_each(|(a, b)| add(a, b));
        }
        for (a, b) in self.apart.iter().copied().chain(self.joined()) {
            if let (Some(a), Some(b)) = (bodies.find(a), bodies.find(b)) {
                apart.push((a, b));
            }
        }
        for pair in &mut apart {
            *pair = (pair.0.min(pair.1), pair.0.max(pair.1));
        }
        apart.sort_unstable();
        apart.dedup();
        apart
    }

    /// Resolves the bodies of the point contacts.
    pub(super) fn resolve_points(
        &self,
        bodies: &Bodies,
        errors: &mut Vec<BuildError>,
    ) -> Vec<ResolvedPoint> {
        let mut resolved = Vec::new();
        for c in &self.point_contacts {
            let item = Item::PointContact(c.name.clone());
            super::checks::check_law(&item, &c.law, errors);
            let length = c.normal.norm();
            if !(length > 0.0 && length.is_finite()) {
                let (what, range) = ("length of the normal", "positive");
                errors.push(BuildError::OutOfRange { item, what, value: length, range });
                continue;
            }
            let (Some(plane), Some(point)) = (bodies.find(c.plane.0), bodies.find(c.point.0))
            else {
                let problem = "it refers to a body that does not exist";
                errors.push(BuildError::WrongDimension { item, problem });
                continue;
            };
            let in_body = |body: u32, p: Vec3| p - bodies.centre[body as usize];
            resolved.push(ResolvedPoint {
                name: c.name.clone(),
                bodies: [plane, point],
                places: [in_body(plane, c.plane.1), in_body(point, c.point.1)],
                normal: c.normal / length,
                law: c.law,
            });
        }
        resolved
    }

    /// Whether something is fixed to the world, so that it needs a body.
    pub(super) fn needs_world(&self) -> bool {
        let points = self.point_contacts.iter().flat_map(|c| [c.point.0, c.plane.0]);
        let joints = self.joined().flat_map(|(a, b)| [a, b]);
        points.chain(joints).chain(self.tied()).any(|on| on == On::World)
    }
}

impl Bodies {
    /// Name of the body that represents the world.
    pub const WORLD: &'static str = "world";

    /// Index of what a frame is fixed to.
    pub(super) fn find(&self, on: On) -> Option<u32> {
        match on {
            On::World => self.names.iter().position(|n| n == Bodies::WORLD).map(|i| i as u32),
            On::Body(body) => self.slots.get(body.0 as usize).copied(),
            On::Link(mechanism, link) => self.carried_by(mechanism, link),
            On::Node(flexible, node) => self.node(flexible, node),
        }
    }

    /// Index of the body that corresponds to a body of a mechanism.
    pub fn carried_by(&self, mechanism: MechanismId, link: Link) -> Option<u32> {
        let wanted = Some(Carried { mechanism, link });
        self.carried.iter().position(|c| *c == wanted).map(|i| i as u32)
    }

    /// Adds the body that represents the world.
    pub(super) fn push_world(&mut self) {
        self.push_carried(Bodies::WORLD.to_owned(), None, 0.0, &[]);
    }

    /// Makes the last body movable by impulses.
    fn free_last(&mut self, m: &MassProperties) {
        let i = self.len() - 1;
        self.movable[i] = true;
        self.mass[i] = m.mass;
        self.inverse_mass[i] = [1.0 / m.mass; 3];
        self.inertia[i] = m.inertia;
        self.inverse_inertia[i] = m.inertia.try_inverse().unwrap_or_else(Mat3::zeros);
        self.tumbles[i] = !super::builder::is_round(&m.inertia);
        self.centre[i] = m.centre;
    }

    /// Adds a body that does not move on its own.
    pub(super) fn push_carried(
        &mut self,
        name: String,
        carried: Option<Carried>,
        size: f64,
        colliders: &[Collider],
    ) {
        self.give_id();
        self.names.push(name);
        self.movable.push(false);
        self.mass.push(f64::INFINITY);
        self.inverse_mass.push([0.0; 3]);
        self.inertia.push(Mat3::zeros());
        self.inverse_inertia.push(Mat3::zeros());
        self.tumbles.push(false);
        self.centre.push(Vec3::zeros());
        self.locks.push(super::Locks::NONE);
        self.force.push(Vec3::zeros());
        self.torque.push(Vec3::zeros());
        self.radius.push(super::builder::reach_of(colliders));
        self.size.push(size);
        self.motion.push(None);
        self.carried.push(carried);
    }
}

/// Lets each mechanism choose its dependent coordinates so that its contacts are direct: if there
/// are point contacts, independent coordinates move these along their normals; otherwise they move
/// the bodies whose shapes can have contacts.
pub(super) fn keep_contacts_direct(
    mechanisms: &mut [Multibody],
    bodies: &Bodies,
    points: &[ResolvedPoint],
    apart: &[(u32, u32)],
    initial: &mut State,
) {
    let has_shape = |b: usize| bodies.radius[b] > 0.0;
    let touches = |a: u32| {
        let meets = |b: u32| b != a && apart.binary_search(&(a.min(b), a.max(b))).is_err();
        has_shape(a as usize) && (0..bodies.len()).any(|b| has_shape(b) && meets(b as u32))
    };
    for (m, system) in mechanisms.iter_mut().enumerate().filter(|(_, s)| s.n_equations() > 0) {
        let id = MechanismId(m as u32);
        let carried = |body: u32| {
            let carried = bodies.carried[body as usize]?;
            (carried.mechanism == id).then_some(carried.link)
        };
        let mut work = system.scratch();
        system.tree().kinematics(&system.start().q, &mut work.tree);
        let mut direct = vec![false; system.n_v()];
        for point in points {
            let normal = initial.q[point.bodies[0] as usize].vector(point.normal);
            for link in point.bodies.into_iter().filter_map(carried) {
                system.mark_movers(&work, link, Some(normal), &mut direct);
            }
        }
        if !direct.contains(&true) {
            for body in (0..bodies.len() as u32).filter(|&b| touches(b)) {
                if let Some(link) = carried(body) {
                    system.mark_movers(&work, link, None, &mut direct);
                }
            }
        }
        system.keep_independent(&direct);
        initial.mechanisms[m].partition.clone_from(&system.start().partition);
    }
}

/// A pose in a body's own frame, seen from its centre of mass.
fn from_centre(pose: Pose, centre: Vec3) -> Pose {
    Pose { position: pose.position - centre, rotation: pose.rotation }
}

/// Twist of a body of a mechanism at a point of its frame, after the tree's motion.
pub(crate) fn twist(system: &Multibody, work: &MultibodyScratch, link: Link, at: Vec3) -> Twist {
    let (_, linear) = system.point(work, link, at);
    Twist { linear, angular: system.angular_velocity(work, link) }
}

/// Places the bodies of a mechanism according to its state; `centres` are their centres of mass in
/// their frames.
pub(crate) fn place_links(
    system: &Multibody,
    state: &MultibodyState,
    work: &mut MultibodyScratch,
    centres: &[Vec3],
    q: &mut [Pose],
    v: &mut [Twist],
) {
    system.tree().kinematics(&state.q, &mut work.tree);
    system.tree().motion(&state.v, &mut work.tree);
    for link in system.links() {
        let (i, mut pose) = (link.0 as usize, system.pose(work, link));
        pose.position = pose.point(centres[i]);
        q[i] = pose;
        v[i] = twist(system, work, link, centres[i]);
    }
}

#[cfg(test)]
mod tests;

//! Flexible bodies in a scene: each of their nodes is a body of the scene that the flexible body moves.

use super::{Bodies, Body, BuildError, Item, Scene, SceneBuilder, State};
use crate::detect::{Collider, Geometry};
use crate::flexible::{Bar, Beam, FlexibleError, Structure};
use crate::math::{Pose, Vec3};
use crate::shape::Shape;

/// Handle of a flexible body of a scene, valid for the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlexibleId(pub u32);

impl FlexibleId {
    /// Index into [`Scene::flexible`] and [`State::flexible`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A bar or a beam.
#[derive(Clone, Debug, PartialEq)]
pub enum Elements {
    /// A straight bar that stretches.
    Bar(Bar),
    /// A geometrically exact beam.
    Beam(Beam),
}

/// A shape that nodes of a flexible body carry, for contacts.
#[derive(Clone, Debug)]
pub struct NodeShape {
    /// The nodes, counted from 0 along the body; all if not given.
    pub nodes: Option<Vec<u32>>,
    /// The shape; it has no mass.
    pub shape: Shape,
    /// Its pose in the frame of the cross-section: x along the body.
    pub pose: Pose,
    /// Name of its material.
    pub material: String,
}

/// Description of a flexible body of a scene.
///
/// ```
/// use riprap::flexible::{Beam, Section};
/// use riprap::prelude::*;
/// use riprap::scene::Flexible;
///
/// // A steel cantilever falls onto a floor with the ball at its end.
/// let steel = Material::new("steel").friction(0.2);
/// let mut scene = Scene::builder();
/// scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0])?, Pose::at([0.0, 0.0, -0.12]), &steel);
/// let beam = Beam::new("spring")
///     .points(&[[0.0; 3], [1.0, 0.0, 0.0]])
///     .section(Section::Rectangle { height: 1e-3, width: 0.02 })
///     .elements(8)
///     .clamp_start();
/// let spring = scene.add_flexible(Flexible::from(beam).shape(Some(vec![8]), Shape::sphere(0.02)?, &steel));
///
/// let mut run = Simulation::new(scene.build()?, MoreauJean::new(1e-3))?;
/// run.until(0.3, &mut ())?;
/// let tip = run.pose(run.scene().node_body(spring, 8)).position;
/// assert!(tip.z < -0.09 && tip.z > -0.101, "on the floor: {tip}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Flexible {
    /// Its elements.
    pub elements: Elements,
    /// Shapes of its nodes; nodes without a shape have contacts only at chosen points.
    pub shapes: Vec<NodeShape>,
}

impl Flexible {
    /// Gives nodes a shape, centred at the axis; all nodes if none are named.
    pub fn shape(
        mut self,
        nodes: Option<Vec<u32>>,
        shape: Shape,
        material: &super::Material,
    ) -> Flexible {
        let material = material.name.clone();
        self.shapes.push(NodeShape { nodes, shape, pose: Pose::IDENTITY, material });
        self
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match &self.elements {
            Elements::Bar(bar) => &bar.name,
            Elements::Beam(beam) => &beam.name,
        }
    }

    fn build(&self, gravity: Vec3) -> Result<Structure, FlexibleError> {
        match &self.elements {
            Elements::Bar(bar) => bar.build(gravity),
            Elements::Beam(beam) => beam.build(gravity),
        }
    }
}

impl From<Bar> for Flexible {
    fn from(bar: Bar) -> Flexible {
        Flexible { elements: Elements::Bar(bar), shapes: Vec::new() }
    }
}

impl From<Beam> for Flexible {
    fn from(beam: Beam) -> Flexible {
        Flexible { elements: Elements::Beam(beam), shapes: Vec::new() }
    }
}

impl SceneBuilder {
    /// Adds a flexible body. Materials of its shapes must be registered with
    /// [`SceneBuilder::material`].
    pub fn add_flexible(&mut self, body: impl Into<Flexible>) -> FlexibleId {
        self.flexible.push(body.into());
        FlexibleId(self.flexible.len() as u32 - 1)
    }

    /// Builds the flexible bodies and appends their nodes to the bodies of the scene.
    pub(super) fn build_flexible(
        &self,
        gravity: Vec3,
        bodies: &mut Bodies,
        shapes: &mut Vec<Shape>,
        colliders: &mut Vec<Collider>,
        initial: &mut State,
        errors: &mut Vec<BuildError>,
    ) -> Vec<Structure> {
        let mut built: Vec<Structure> = Vec::new();
        for described in &self.flexible {
            let name = described.name();
            let taken = built.iter().any(|b| b.name() == name)
                || self.mechanisms.iter().any(|m| m.name == name);
            if taken {
                let (what, name) = ("flexible bodies or mechanisms", name.to_owned());
                errors.push(BuildError::Duplicate { what, name });
            }
            let body = match described.build(gravity) {
                Ok(body) => body,
                Err(FlexibleError { name, mistakes }) => {
                    errors.extend(mistakes.into_iter().map(|mistake| {
                        let (name, mistakes) = (name.clone(), vec![mistake]);
                        BuildError::Flexible(FlexibleError { name, mistakes })
                    }));
                    continue;
                }
            };
            self.check_nodes(described, &body, errors);
            bodies.first_nodes.push(bodies.len() as u32);
            for node in 0..body.n_nodes() {
                let shape = self.add_node(described, &body, node, bodies, colliders, errors);
                shapes.push(shape);
                let state = body.start();
                initial.q.push(state.q[node]);
                initial.v.push(body.node_twist(&state.q, &state.v, node));
            }
            initial.flexible.push(body.start().clone());
            built.push(body);
        }
        built
    }

    /// Checks that involve the scene.
    fn check_nodes(&self, described: &Flexible, body: &Structure, errors: &mut Vec<BuildError>) {
        let item = || Item::Flexible(body.name().to_owned());
        if self.planar && body.start().q.iter().any(|q| q.position.z != 0.0) {
            let problem = "in a planar scene z must be 0";
            errors.push(BuildError::WrongDimension { item: item(), problem });
        }
        let mut wrong = |problem| {
            errors.push(BuildError::WrongDimension { item: item(), problem });
        };
        for part in &described.shapes {
            let named = part.nodes.iter().flatten();
            if named.into_iter().any(|node| *node as usize >= body.n_nodes()) {
                wrong("a shape is given for a node that does not exist; nodes are counted from 0");
            }
            match &part.shape {
                Shape::HalfSpace { .. } => {
                    wrong("a half-space is infinite: a flexible body cannot carry it");
                }
                shape if shape.is_planar() != self.planar => {
                    wrong("its shapes must be planar in a planar scene, and only there");
                }
                _ => {}
            }
            let numbers = part.pose.position.iter().chain(part.pose.rotation.coords.iter());
            if !numbers.into_iter().all(|x| x.is_finite()) {
                wrong("the pose of a shape must be finite");
            }
        }
    }

    /// Adds one node and returns its shape.
    fn add_node(
        &self,
        described: &Flexible,
        body: &Structure,
        node: usize,
        bodies: &mut Bodies,
        colliders: &mut Vec<Collider>,
        errors: &mut Vec<BuildError>,
    ) -> Shape {
        let (index, item) = (bodies.len(), Item::Flexible(body.name().to_owned()));
        let dofs = body.node_dofs();
        let movable = body.held()[node * dofs..(node + 1) * dofs].contains(&false);
        let first = colliders.len();
        let mut parts = Vec::new();
        for part in &described.shapes {
            let carries = part.nodes.as_ref().is_none_or(|n| n.contains(&(node as u32)));
            if !carries || matches!(part.shape, Shape::HalfSpace { .. }) {
                continue;
            }
            // Reported once per body.
            let known = errors.len();
            let material = self.material_index(&part.material, &item, errors).unwrap_or(0);
            if node > 0 && part.nodes.is_none() {
                errors.truncate(known);
            }
            for (pose, convex) in part.shape.parts() {
                let Some(geometry) = Geometry::of(&convex) else { continue };
                let pose = part.pose.compose(&pose);
                let (body, material) = (index as u32, material as u32);
                colliders.push(Collider { body, geometry, pose, material, movable });
            }
            parts.push((part.pose, part.shape.clone()));
        }
        let shape = match parts.len() {
            0 => Shape::nothing(),
            _ => Shape::compound(parts).unwrap_or_else(|_| Shape::nothing()),
        };
        let name = format!("{}/{node}", body.name());
        bodies.push_carried(name, None, shape.size().unwrap_or(0.0), &colliders[first..]);
        shape
    }
}

impl Bodies {
    /// Indices of pairs of nodes whose shapes reach each other along the body at rest: they have no contact.
    pub(super) fn neighbours(&self, built: &[Structure], apart: &mut Vec<(u32, u32)>) {
        for (body, &first) in built.iter().zip(&self.first_nodes) {
            let q = &body.start().q;
            for a in 0..q.len() {
                let radius = |k: usize| self.radius[first as usize + k];
                if radius(a) == 0.0 {
                    continue;
                }
                let mut distance = 0.0;
                for b in a + 1..q.len() {
                    distance += (q[b].position - q[b - 1].position).norm();
                    // The next node is always a neighbour.
                    if b > a + 1 && distance > 1.1 * (radius(a) + radius(b)) {
                        break;
                    }
                    if radius(b) > 0.0 {
                        apart.push((first + a as u32, first + b as u32));
                    }
                }
            }
        }
    }

    /// Index of the body that is a node of a flexible body; `None` if there is no such node.
    pub(super) fn node(&self, flexible: FlexibleId, node: u32) -> Option<u32> {
        let first = *self.first_nodes.get(flexible.index())?;
        let next = self.first_nodes.get(flexible.index() + 1).copied();
        let end = next.unwrap_or(self.len() as u32);
        first.checked_add(node).filter(|index| *index < end)
    }
}

impl Scene {
    /// The flexible bodies.
    pub fn flexible(&self) -> &[Structure] {
        &self.flexible
    }

    /// The flexible body with this name.
    pub fn flexible_body(&self, name: &str) -> Option<FlexibleId> {
        self.flexible.iter().position(|b| b.name() == name).map(|i| FlexibleId(i as u32))
    }

    /// The body of the scene that is a node of a flexible body.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn node_body(&self, flexible: FlexibleId, node: u32) -> Body {
        let slot = self.bodies.node(flexible, node).expect("a node of the flexible body");
        self.body_at(slot as usize)
    }

    /// Nodes of a flexible body, as a range of the bodies of the scene (their slots).
    pub fn nodes_of(&self, flexible: usize) -> std::ops::Range<usize> {
        let first = self.bodies.first_nodes[flexible] as usize;
        first..first + self.flexible[flexible].n_nodes()
    }

    /// The flexible body and the node at a slot, if the body there is a node.
    pub fn node_at(&self, slot: usize) -> Option<(usize, usize)> {
        let flexible = self.bodies.first_nodes.partition_point(|&first| first as usize <= slot);
        let flexible = flexible.checked_sub(1)?;
        Some((flexible, slot - self.bodies.first_nodes[flexible] as usize))
    }
}

#[cfg(test)]
mod tests;

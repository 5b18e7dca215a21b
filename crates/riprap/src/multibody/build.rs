//! From the description of a mechanism to one that is ready to run: checks, tree, loops, forces and
//! initial state.

use super::force::{Forces, PointElement, Target};
use super::mechanism::{Coordinate, GROUND, Link, Mechanism, MechanismErrors};
use super::partition::Partition;
use super::tree::{Elementary, NONE, Tree};
use super::{MechanismError, Multibody};
use crate::math::Vec3;

impl Mechanism {
    /// Checks the description, lays out the tree, assembles the loops and finds a consistent
    /// initial state. All mistakes are reported together. `gravity` [m/s²] is that of the scene.
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
        let forces = self.forces(&tree, &node_of);
        let places = self.links.iter().map(|l| l.place.position.norm());
        let ends = self.loops.iter().flat_map(|l| [&l.a, &l.b].map(|f| f.pose.position.norm()));
        let size = places.chain(ends).fold(1.0, f64::max);
        let weights = vec![1.0; tree.n_v()];
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
            weights,
            start: Default::default(),
            assembly: Partition::default(),
        };
        if let Err(error) = self.assemble(&mut system) {
            errors.push(error);
            return Err(MechanismErrors(errors));
        }
        Ok(system)
    }

    /// Springs, stops and laws on the nodes and columns of the tree.
    fn forces(&self, tree: &Tree, node_of: &[u32]) -> Forces {
        let mut forces = Forces { n_latched: self.n_latched, ..Forces::default() };
        for (c, coordinate) in self.coordinates.iter().enumerate() {
            let at = tree.columns[c].q;
            forces.springs.extend(coordinate.spring.map(|s| (c as u32, at, s)));
            forces.stops.extend(coordinate.stops.map(|s| (c as u32, at, s)));
            let limit = coordinate.speed_limit.filter(|speed| speed.is_finite());
            forces.speed_limits.extend(limit.map(|speed| (c as u32, speed)));
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
        forces
    }

    /// Initial assembly: positions, then velocities, then the first phases of the laws.
    fn assemble(&self, system: &mut Multibody) -> Result<(), MechanismError> {
        let mut q = vec![0.0; system.tree.n_q];
        for node in system.tree.nodes.iter().filter(|n| n.joint == Elementary::Spherical) {
            q[node.q as usize + 3] = 1.0;
        }
        for (link, rotation) in &self.rotations {
            // The spherical element of a joint is its last one.
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

//! From the description of a mechanism to its arrays: elementary joints in the order of the tree, and the cuts of the loops.

use super::closure::{Anchor, Closure};
use super::mechanism::{Frame, GROUND, Mechanism};
use super::tree::{Column, Elementary, NONE, Node, Tree};
use crate::math::{Mat3, Quat, Vec3};

impl Mechanism {
    /// The tree of elementary joints, and the node of each body.
    pub(super) fn tree(&self, gravity: Vec3) -> (Tree, Vec<u32>) {
        let base = self.base.rotation.to_rotation_matrix();
        let mut tree = Tree {
            base_rotation: *base.matrix(),
            base_position: self.base.position,
            gravity,
            ..Tree::default()
        };
        let mut node_of = Vec::new();
        for link in &self.links {
            let mut parent =
                if link.parent == GROUND { NONE } else { node_of[link.parent.0 as usize] };
            let elements = link.joint.elements();
            let last = elements.len() - 1;
            for (k, (joint, axis)) in elements.into_iter().enumerate() {
                let (place, turned) = if k == 0 {
                    (link.place.position, exact(&link.place.rotation))
                } else {
                    (Vec3::zeros(), Mat3::identity())
                };
                let previous = match parent {
                    NONE => NONE,
                    p => tree.nodes[p as usize].last_column,
                };
                let unit = axis.0.normalize();
                let cross = unit.cross_matrix();
                let mass = if k == last { link.mass } else { None };
                let mass = mass.filter(|m| m.mass > 0.0 || m.inertia != Mat3::zeros());
                let column = tree.columns.len() as u32;
                let (inertia, flat) = mass.map_or(<_>::default(), |m| flattened(&m.inertia));
                let mut node = Node {
                    parent,
                    joint,
                    q: tree.n_q as u32,
                    column,
                    last_column: previous,
                    turn: [turned, turned * cross, turned * cross * cross],
                    straight: turned == Mat3::identity(),
                    along: (0..3).find(|&a| unit[a].abs() == 1.0).map(|a| (a as u8, unit[a])),
                    place,
                    axis: turned * unit,
                    mass: mass.map_or(0.0, |m| m.mass),
                    centre: mass.map_or(Vec3::zeros(), |m| m.centre),
                    inertia: mass.map_or(Mat3::zeros(), |m| m.inertia),
                    spin: inertia,
                    flat,
                    massless: mass.is_none(),
                };
                let body = tree.nodes.len() as u32;
                for c in 0..node.columns() {
                    let scalar = joint != Elementary::Spherical;
                    let q = if scalar { node.q } else { NONE };
                    tree.columns.push(Column { body, previous: node.last_column, q });
                    node.last_column = column + c as u32;
                }
                tree.n_q += match joint {
                    Elementary::Revolute | Elementary::Prismatic => 1,
                    Elementary::Spherical => 4,
                    Elementary::Fixed => 0,
                };
                tree.nodes.push(node);
                parent = body;
            }
            if node_of.is_empty() {
                tree.first = parent;
            }
            node_of.push(parent);
        }
        (tree, node_of)
    }

    pub(super) fn closures(&self, tree: &Tree, node_of: &[u32]) -> Vec<Closure> {
        let mut first_row = 0;
        let anchor = |f: &Frame| Anchor {
            body: if f.link == GROUND { NONE } else { node_of[f.link.0 as usize] },
            rotation: exact(&f.pose.rotation),
            point: f.pose.position,
        };
        let mut closures = Vec::new();
        for l in &self.loops {
            let (a, b) = (anchor(&l.a), anchor(&l.b));
            let (on_a, on_b): (Vec<usize>, Vec<usize>) =
                (tree.path(a.body).collect(), tree.path(b.body).collect());
            let mut path: Vec<(u32, f64)> = Vec::new();
            path.extend(on_b.iter().filter(|c| !on_a.contains(c)).map(|c| (*c as u32, 1.0)));
            path.extend(on_a.iter().filter(|c| !on_b.contains(c)).map(|c| (*c as u32, -1.0)));
            path.sort_by_key(|(c, _)| *c);
            closures.push(Closure { name: l.name.clone(), cut: l.cut, a, b, first_row, path });
            first_row += l.cut.equations();
        }
        closures
    }
}

/// A tensor of inertia as `spin − a aᵀ − b bᵀ`, with its largest moment `spin` [kg m²]: turning two vectors costs less than
/// turning a tensor.
fn flattened(inertia: &Mat3) -> (f64, [Vec3; 2]) {
    let principal = inertia.symmetric_eigen();
    let spin = principal.eigenvalues.max();
    let last = principal.eigenvalues.imax();
    let along = |k: usize| {
        let k = (last + k) % 3;
        principal.eigenvectors.column(k) * (spin - principal.eigenvalues[k]).sqrt()
    };
    (spin, [along(1), along(2)])
}

/// The rotation matrix, with entries that should be 0 or ±1 made exactly so: quarter turns are common, and a planar
/// machine shall stay in its plane.
fn exact(rotation: &Quat) -> Mat3 {
    rotation
        .to_rotation_matrix()
        .matrix()
        .map(|x| if (x - x.round()).abs() < 1e-15 { x.round() } else { x })
}

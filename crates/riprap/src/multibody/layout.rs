//! From the description of a mechanism to its arrays: elementary joints in the order of the tree, and the cuts of the loops.

use super::closure::{Anchor, Closure};
use super::mechanism::{GROUND, Marker, Mechanism};
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
        let anchor = |f: &Marker| Anchor {
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

/// An inertia tensor as `spin − a aᵀ − b bᵀ`, with its largest moment `spin` [kg m²]: rotating two
/// vectors costs less than rotating a tensor.
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

/// The rotation matrix, with entries that should be 0 or ±1 made exact: quarter turns are common,
/// and a planar mechanism should stay in its plane.
fn exact(rotation: &Quat) -> Mat3 {
    rotation
        .to_rotation_matrix()
        .matrix()
        .map(|x| if (x - x.round()).abs() < 1e-15 { x.round() } else { x })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Pose;
    use crate::math::fixtures::{rotation, seeded};
    use crate::multibody::fixtures::{body, random_tree};
    use crate::multibody::{Axis, Cut, Joint, Link};
    use std::f64::consts::FRAC_PI_2;

    #[test]
    fn columns_are_consecutive_and_lead_back_to_the_root() {
        for seed in 0..40 {
            let m = random_tree(&mut seeded(seed), 8);
            let (tree, node_of) = m.tree(Vec3::zeros());
            assert_eq!(node_of.len(), m.links.len());
            let (mut q, mut column) = (0, 0);
            for (i, node) in tree.nodes.iter().enumerate() {
                assert!(node.parent == NONE || (node.parent as usize) < i, "parents come first");
                assert_eq!((node.q as usize, node.column as usize), (q, column));
                for (k, c) in (column..column + node.columns()).enumerate() {
                    let (before, on) = (tree.columns[c].previous, tree.columns[c].body);
                    assert_eq!(on as usize, i);
                    let expected = match (k, node.parent) {
                        (0, NONE) => NONE,
                        (0, parent) => tree.nodes[parent as usize].last_column,
                        _ => c as u32 - 1,
                    };
                    assert_eq!(before, expected);
                }
                column += node.columns();
                q += if node.joint == Elementary::Spherical { 4 } else { node.columns() };
            }
            assert_eq!((tree.n_q(), tree.n_v()), (q, column));
        }
    }

    #[test]
    fn a_joint_with_several_coordinates_has_its_mass_at_the_end_of_the_chain() {
        let mut m = Mechanism::new("free");
        let mass = body(&mut seeded(3));
        m.add("stone", GROUND, Joint::Free, Pose::IDENTITY, Some(mass));
        let (tree, node_of) = m.tree(Vec3::zeros());
        assert_eq!((tree.nodes.len(), node_of[0], tree.first), (4, 3, 3));
        assert!(tree.nodes[..3].iter().all(|n| n.massless && n.mass == 0.0));
        assert_eq!((tree.nodes[3].mass, tree.nodes[3].inertia), (mass.mass, mass.inertia));
    }

    #[test]
    fn a_body_without_mass_and_inertia_is_massless() {
        let mut m = Mechanism::new("hinges");
        let nothing = crate::shape::MassProperties::point(0.0, [0.3, 0.0, 0.0]);
        let hinge = Joint::Revolute(Axis::Z);
        let a = m.add("a", GROUND, hinge, Pose::IDENTITY, Some(nothing));
        m.add("b", a, hinge, Pose::IDENTITY, Some(body(&mut seeded(1))));
        let (tree, _) = m.tree(Vec3::zeros());
        assert_eq!(tree.nodes.iter().map(|n| n.massless).collect::<Vec<_>>(), [true, false]);
    }

    #[test]
    fn a_flattened_tensor_equals_the_original() {
        let mut rng = seeded(5);
        for _ in 0..50 {
            let inertia = body(&mut rng).inertia;
            let (spin, [a, b]) = flattened(&inertia);
            let back = Mat3::identity() * spin - a * a.transpose() - b * b.transpose();
            assert!((back - inertia).norm() < 1e-14 * spin, "{back} {inertia}");
        }
        // A needle has two equal moments, a ball three, a point none.
        for moments in [[1.0, 1.0, 0.0], [2.0; 3], [0.0; 3]] {
            let inertia = Mat3::from_diagonal(&Vec3::from(moments));
            let (spin, [a, b]) = flattened(&inertia);
            let back = Mat3::identity() * spin - a * a.transpose() - b * b.transpose();
            assert!((back - inertia).norm() < 1e-15);
        }
    }

    #[test]
    fn quarter_turns_have_entries_of_exactly_zero_or_one() {
        for axis in [Vec3::x(), Vec3::y(), Vec3::z()] {
            for quarters in -4..=4 {
                let turn = exact(&Quat::from_scaled_axis(axis * (FRAC_PI_2 * f64::from(quarters))));
                assert!(turn.iter().all(|x| *x == 0.0 || x.abs() == 1.0), "{turn}");
            }
        }
        let any = rotation(&mut seeded(9));
        assert_eq!(exact(&any), *any.to_rotation_matrix().matrix());
    }

    #[test]
    fn a_loop_depends_only_on_the_joints_between_its_two_bodies() {
        // A trunk with two branches of two bodies each.
        let mut m = Mechanism::new("fork");
        let mut rng = seeded(4);
        let mut add = |m: &mut Mechanism, name: &str, on: Link| {
            m.add(name, on, Joint::Revolute(Axis::Z), Pose::IDENTITY, Some(body(&mut rng)))
        };
        let trunk = add(&mut m, "trunk", GROUND);
        let left = add(&mut m, "left", trunk);
        let left_tip = add(&mut m, "left-tip", left);
        let right = add(&mut m, "right", trunk);
        let frame = |link| Marker::at(link, [0.1, 0.0, 0.0]);
        m.close_loop("across", Cut::Pin, frame(left_tip), frame(right));
        m.close_loop("down", Cut::Ball, frame(GROUND), frame(right));
        let (tree, node_of) = m.tree(Vec3::zeros());
        let closures = m.closures(&tree, &node_of);
        // Columns: trunk 0, left 1, left tip 2, right 3. The trunk carries both sides of the first
        // loop.
        assert_eq!(closures[0].path, [(1, -1.0), (2, -1.0), (3, 1.0)]);
        assert_eq!(closures[1].path, [(0, 1.0), (3, 1.0)]);
        assert_eq!((closures[0].first_row, closures[1].first_row), (0, 2));
    }
}

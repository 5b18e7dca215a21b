//! The tree that the joints of a mechanism form, and the names of its coordinates.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use super::super::document::excerpt;
use super::super::model::{Coordinate, Input};
use super::super::values::Node;
use super::mechanisms::{JointPart, Parts};
use super::{Converter, did_you_mean};

impl Converter<'_> {
    /// Sorts the joints in tree order, and reports where they do not form a tree.
    pub(super) fn tree(&mut self, parts: &mut Parts) {
        let mut carried: Vec<Option<usize>> = vec![None; parts.bodies.len()];
        let mut is_tree = true;
        for (index, part) in parts.joints.iter().enumerate() {
            let child = part.joint.child;
            let Some(slot) = carried.get_mut(child) else {
                is_tree = false; // the child is not known
                continue;
            };
            is_tree &= part.complete;
            let Some(other) = *slot else {
                *slot = Some(index);
                continue;
            };
            is_tree = false;
            let [a, b] = [other, index].map(|joint| parts.joints[joint].joint.name.as_str());
            let message = format!(
                "`{}` is the child of two joints, `{a}` and `{b}`",
                parts.bodies[child].name
            );
            let help = "a body is the child of one joint; turn the other into a [[mechanism.loop]]";
            self.problems.advise(part.child_span.clone(), message, help);
        }
        if !is_tree || parts.lost_joints || parts.lost_bodies {
            return; // a missing joint may be an invalid one
        }
        for (body, carried) in carried.iter().enumerate() {
            if carried.is_none() {
                let name = &parts.bodies[body].name;
                let message = format!("the body `{name}` is not the child of any joint");
                let help = format!(
                    "add a [[mechanism.joint]] with child = \"{name}\"; with type = \"free\" it moves freely"
                );
                self.problems.advise(parts.body_spans[body].clone(), message, help);
                is_tree = false;
            }
        }
        if is_tree {
            self.sort(&carried, parts);
        }
    }

    /// Sorts the joints so that each comes after the joint of its parent, and otherwise in file order.
    fn sort(&mut self, carried: &[Option<usize>], parts: &mut Parts) {
        let before = |joint: usize| parts.joints[joint].joint.parent.and_then(|body| carried[body]);
        let mut followers: Vec<Vec<usize>> = vec![Vec::new(); parts.joints.len()];
        let mut ready = BinaryHeap::new();
        for joint in 0..parts.joints.len() {
            match before(joint) {
                Some(carrier) => followers[carrier].push(joint),
                None => ready.push(Reverse(joint)),
            }
        }
        let mut order = Vec::new();
        while let Some(Reverse(joint)) = ready.pop() {
            order.push(joint);
            ready.extend(followers[joint].iter().copied().map(Reverse));
        }
        if order.len() < parts.joints.len() {
            let mut seen: HashSet<usize> = order.iter().copied().collect();
            for start in 0..parts.joints.len() {
                let mut path = Vec::new();
                let mut joint = start;
                while seen.insert(joint) {
                    path.push(joint);
                    joint = before(joint).unwrap_or(start);
                }
                // Only a walk that returns to itself has found a new cycle.
                let Some(from) = path.iter().position(|other| *other == joint) else { continue };
                let ring: Vec<String> = path[from..]
                    .iter()
                    .take(10)
                    .map(|joint| format!("`{}`", parts.joints[*joint].joint.name))
                    .collect();
                let message = format!("the joints {} form a cycle", ring.join(", "));
                let help = "one of them must start at the ground, or at a body connected to it; close a cycle with a [[mechanism.loop]]";
                self.problems.advise(parts.joints[path[from]].child_span.clone(), message, help);
            }
            return;
        }
        let mut old: Vec<Option<JointPart>> = parts.joints.drain(..).map(Some).collect();
        parts.joints = order.into_iter().filter_map(|joint| old[joint].take()).collect();
    }

    /// Names the coordinates, and collects the names that laws may use.
    pub(super) fn coordinates(&mut self, parts: &mut Parts) {
        if parts.lost_joints {
            return; // names are not looked up in this case
        }
        parts.scope = self.time_scope.clone();
        parts.inputs = vec![Input::Time];
        for (joint, part) in parts.joints.iter().enumerate() {
            let name = &part.joint.name;
            let kind = &part.joint.kind;
            let ends = kind.velocity_names();
            if ends != [""] {
                let reason = match ends {
                    [] => format!("the joint `{name}` is fixed: it has no coordinates"),
                    _ => {
                        let names: Vec<String> =
                            ends.iter().map(|end| format!("`{name}.{end}`")).collect();
                        format!("the joint `{name}` has several: {}", names.join(", "))
                    }
                };
                parts.scope.unusable(&format!("q.{name}"), reason.clone());
                parts.scope.unusable(&format!("v.{name}"), reason);
            }
            for (component, end) in ends.iter().enumerate() {
                let name = if end.is_empty() { name.clone() } else { format!("{name}.{end}") };
                let coordinate = Coordinate { joint, component };
                if parts.coordinates.insert(name.clone(), coordinate).is_some() {
                    let message = format!("two coordinates of the mechanism are named `{name}`");
                    self.problems.advise(part.span.clone(), message, "rename one of the joints");
                    continue;
                }
                if component < kind.n_named_positions() {
                    parts.scope.variable(&format!("q.{name}"));
                    parts.inputs.push(Input::Position(coordinate));
                } else {
                    let reason = "spatial rotations have no coordinates, only velocities `v.`";
                    parts.scope.unusable(&format!("q.{name}"), reason);
                }
                parts.scope.variable(&format!("v.{name}"));
                parts.inputs.push(Input::Velocity(coordinate));
            }
        }
    }

    /// The coordinate named by a value.
    pub(super) fn coordinate(&mut self, node: &Node, parts: &Parts) -> Option<Coordinate> {
        let name = node.text()?;
        let coordinate = parts.coordinates.get(name).copied();
        if coordinate.is_none() && !parts.lost_joints {
            let joint = parts.joints.iter().find(|part| part.joint.name == name);
            let help = match joint.map(|part| part.joint.kind.velocity_names()) {
                Some([]) => format!("the joint `{name}` is fixed: it has no coordinates"),
                Some(ends) => {
                    let names: Vec<String> =
                        ends.iter().map(|end| format!("\"{name}.{end}\"")).collect();
                    format!("the joint `{name}` has several: {}", names.join(", "))
                }
                None => {
                    let known = parts.coordinates.keys().map(String::as_str);
                    did_you_mean(name, known, "coordinate")
                }
            };
            let message = format!("the mechanism has no coordinate `{}`", excerpt(name));
            self.problems.advise(node.span.clone(), message, help);
        }
        coordinate
    }
}

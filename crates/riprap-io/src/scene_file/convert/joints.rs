//! Joints between bodies in absolute coordinates.

use std::collections::HashSet;
use std::ops::Range;

use super::super::model::{BodyJoint, BodyJointKind, Target};
use super::super::values::{Entries, Node};
use super::Converter;
use super::bodies::Known;

impl Converter<'_> {
    /// The joints, each with its place; `None` for those that are wrong.
    pub(super) fn joints(
        &mut self,
        nodes: &[Node],
        known: &Known,
    ) -> Vec<(Option<BodyJoint>, Range<usize>)> {
        let mut names = HashSet::new();
        let mut joints = Vec::new();
        for (index, entries) in nodes.iter().filter_map(Node::table).enumerate() {
            let name = match entries.get("name") {
                None => format!("joint-{}", index + 1),
                Some(node) => node.text().unwrap_or_default().to_owned(),
            };
            if !names.insert(name.clone()) && !name.is_empty() {
                let message = format!("two joints are called `{name}`");
                let help = "give them different names";
                self.problems.advise(entries.value_span("name"), message, help);
            }
            self.joint_names.insert(name.clone());
            joints.push((self.body_joint(entries, name, known), entries.span.clone()));
        }
        joints
    }

    fn body_joint(&mut self, entries: &Entries, name: String, known: &Known) -> Option<BodyJoint> {
        let position = self.polar(entries, "position");
        let kind = self.body_joint_kind(entries);
        let nodes = entries.list("between")?;
        let bodies: Vec<Option<Target>> =
            nodes.iter().filter_map(|node| self.held(node, known)).collect();
        let [a, b] = bodies[..] else { return None };
        if a == b {
            let message = "a joint holds two different bodies";
            self.problems.report(entries.value_span("between"), message);
            return None;
        }
        if ![a, b].iter().flatten().any(|body| known.is_free(*body)) {
            let message = "neither of these bodies is free, so there is nothing to hold";
            self.problems.report(entries.value_span("between"), message);
            return None;
        }
        let project = entries.flag("project")?;
        Some(BodyJoint { name, kind: kind?, between: [a, b], position: position?, project })
    }

    fn body_joint_kind(&mut self, entries: &Entries) -> Option<BodyJointKind> {
        let hinge = match entries.variant? {
            "ball" => return Some(BodyJointKind::Ball),
            "weld" => return Some(BodyJointKind::Weld),
            word => word == "hinge",
        };
        let axis = self.direction(entries.get("axis")?, "axis")?;
        let [x, y, z] = axis;
        if self.planar && hinge && (x != 0.0 || y != 0.0) {
            let message = "the scene is planar: the axis of a hinge must be z";
            self.problems.report(entries.value_span("axis"), message);
        }
        if self.planar && !hinge && z != 0.0 {
            let message = "the scene is planar: the axis of a slider must lie in the plane x–y";
            self.problems.report(entries.value_span("axis"), message);
        }
        Some(if hinge { BodyJointKind::Hinge { axis } } else { BodyJointKind::Slider { axis } })
    }

    /// A body that a joint may hold, or the world.
    fn held(&mut self, node: &Node, known: &Known) -> Option<Option<Target>> {
        let target = self.target_or_world(node, known)?;
        match target {
            Some(Target::MechanismBody { .. }) => {
                let message = "a [[joint]] does not hold bodies of mechanisms";
                let help = "close a loop of the mechanism: [[mechanism.loop]]";
                self.problems.advise(node.span.clone(), message, help);
                None
            }
            Some(Target::Grain { group, .. }) if known.settles(group) => {
                let message =
                    "this grain settles before the joint is made, so its place is not known";
                let help = "leave out `settle` of its group, or describe a [[body]]";
                self.problems.advise(node.span.clone(), message, help);
                None
            }
            _ => Some(target),
        }
    }
}

//! Joints between bodies in absolute coordinates.

use std::collections::HashSet;
use std::ops::Range;

use super::super::keys::ReadKeys;
use super::super::model::{BodyJoint, Target, Vector};
use super::super::values::{Entries, Node};
use super::Converter;

impl Converter<'_> {
    /// The joints, each with its location; `None` for invalid ones.
    pub(super) fn joints(&mut self, nodes: &[Node]) -> Vec<(Option<BodyJoint>, Range<usize>)> {
        let mut names = HashSet::new();
        let mut joints = Vec::new();
        for (index, entries) in nodes.iter().filter_map(Node::table).enumerate() {
            self.own_name(entries, "joints", "joint", index, &mut names);
            joints.push((BodyJoint::read_keys(self, entries), entries.span.clone()));
        }
        self.joint_names = names;
        joints
    }

    /// The two bodies of a joint, of which at least one is free.
    pub(in super::super) fn held_bodies(&mut self, joint: &Entries) -> Option<[Option<Target>; 2]> {
        let nodes = joint.list("between")?;
        let bodies: Vec<Option<Target>> = nodes.iter().filter_map(|node| self.held(node)).collect();
        let [a, b] = bodies[..] else { return None };
        let on_node = [a, b].iter().any(|body| matches!(body, Some(Target::Node { .. })));
        let on_mechanism =
            |body: &Option<Target>| matches!(body, Some(Target::MechanismBody { .. }));
        if let Some(k) = [a, b].iter().position(on_mechanism)
            && !on_node
        {
            let message = "a [[joint]] cannot connect bodies of mechanisms";
            let help = "use a [[mechanism.loop]]";
            self.problems.advise(nodes[k].span.clone(), message, help);
            return None;
        }
        let message = if a == b {
            "a joint must connect two different bodies"
        } else if same_flexible(a, b) {
            "a joint cannot connect two nodes of one flexible body"
        } else if ![a, b].iter().flatten().any(|body| self.known.is_free(*body)) {
            "neither of these bodies is free, so the joint has no effect"
        } else {
            return Some([a, b]);
        };
        self.problems.report(joint.value_span("between"), message);
        None
    }

    /// The axis of a hinge or slider; other joints have none.
    #[expect(clippy::option_option, reason = "the outer one is failure, the inner one is data")]
    pub(in super::super) fn joint_axis(&mut self, joint: &Entries) -> Option<Option<Vector>> {
        let hinge = match joint.variant? {
            "hinge" => true,
            "slider" => false,
            _ => return Some(None),
        };
        let axis = self.direction(joint.get("axis")?, "axis")?;
        let [x, y, z] = axis;
        if self.planar && hinge && (x != 0.0 || y != 0.0) {
            let message = "the scene is planar: the axis of a hinge must be z";
            self.problems.report(joint.value_span("axis"), message);
        }
        if self.planar && !hinge && z != 0.0 {
            let message = "the scene is planar: the axis of a slider must lie in the x–y plane";
            self.problems.report(joint.value_span("axis"), message);
        }
        Some(Some(axis))
    }

    /// A body that a joint may connect, or the world.
    #[expect(clippy::option_option, reason = "the outer one is failure, the inner one is data")]
    fn held(&mut self, node: &Node) -> Option<Option<Target>> {
        let target = self.target_or_world(node)?;
        match target {
            Some(Target::Grain { group, .. }) if self.known.settles(group) => {
                let message =
                    "this grain settles before the joint is created, so its position is not known";
                let help = "remove `settle` from its group, or use a [[body]]";
                self.problems.advise(node.span.clone(), message, help);
                None
            }
            _ => Some(target),
        }
    }
}

/// Whether both are nodes of the same flexible body.
fn same_flexible(a: Option<Target>, b: Option<Target>) -> bool {
    let of = |target| match target {
        Some(Target::Node { flexible, .. }) => Some(flexible),
        _ => None,
    };
    of(a).is_some() && of(a) == of(b)
}

//! Mechanisms: their bodies, joints and chains, and the tree that these form. Forces are in `forces.rs`.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::super::document::{MAX_NAME, excerpt};
use super::super::expression::Scope;
use super::super::keys::ReadKeys;
use super::super::model::{
    BodyShape, Coordinate, Drive, Input, Joint, JointKind, Mass, Mechanism, MechanismBody,
    MechanismSource,
};
use super::super::values::{Entries, Node};
use super::bodies::Inertias;
use super::shapes::UPRIGHT;
use super::{Converter, did_you_mean};

/// Name of the base frame of a mechanism.
pub(super) const GROUND: &str = "ground";

/// A mechanism while it is being read.
#[derive(Default)]
pub(super) struct Parts {
    pub bodies: Vec<MechanismBody>,
    pub body_spans: Vec<Range<usize>>,
    pub body_index: HashMap<String, usize>,
    /// Whether the name of a body was rejected, so that an unknown body may be that one.
    pub lost_bodies: bool,
    pub joints: Vec<JointPart>,
    pub joint_names: HashSet<String>,
    /// Whether a joint was rejected, so that an unknown coordinate may be one of its own.
    pub lost_joints: bool,
    pub coordinates: HashMap<String, Coordinate>,
    /// The names that laws may use, and the meaning of their variables.
    pub scope: Scope,
    pub inputs: Vec<Input>,
}

/// A joint whose bodies may not exist yet.
pub(super) struct JointPart {
    pub joint: Joint,
    pub span: Range<usize>,
    /// Where its child is named.
    pub child_span: Range<usize>,
    /// Whether both of its bodies are known.
    pub complete: bool,
}

impl Converter<'_> {
    pub(super) fn mechanisms(&mut self, nodes: &[Node]) -> Vec<(Mechanism, MechanismSource)> {
        let mut names = HashSet::new();
        let tables = nodes.iter().enumerate();
        tables
            .filter_map(|(index, node)| {
                let mechanism = node.table()?;
                let name = match mechanism.get("name") {
                    None => format!("mechanism-{}", index + 1),
                    Some(node) => node.text().unwrap_or_default().to_owned(),
                };
                if !names.insert(name.clone()) && !name.is_empty() {
                    let message = format!("two mechanisms are named `{name}`");
                    let help = "give them different names";
                    self.problems.advise(mechanism.value_span("name"), message, help);
                }
                Some(self.mechanism(mechanism, name))
            })
            .collect()
    }

    fn mechanism(&mut self, mechanism: &Entries, name: String) -> (Mechanism, MechanismSource) {
        let position = mechanism.numbers("position").unwrap_or_default();
        let rotation = self.rotation(mechanism).unwrap_or(UPRIGHT);
        let mut parts = Parts::default();
        let root = self.urdf(mechanism, &mut parts);
        for node in mechanism.list("body").unwrap_or_default() {
            self.mechanism_body(node, &mut parts);
        }
        for node in mechanism.list("chain").unwrap_or_default() {
            self.chain_links(node, &mut parts);
        }
        for (index, node) in mechanism.list("joint").unwrap_or_default().iter().enumerate() {
            self.joint(node, index, &mut parts);
        }
        for node in mechanism.list("chain").unwrap_or_default() {
            self.chain(node, &mut parts);
        }
        if let Some(root) = root {
            parts.hold_root(root, mechanism.value_span("urdf"));
        }
        if parts.bodies.is_empty() && !parts.lost_bodies {
            let message = format!("the mechanism `{name}` has no bodies");
            let help = "add a [[mechanism.body]], or a file with urdf = \"machine.urdf\"";
            self.problems.advise(mechanism.span.clone(), message, help);
        }
        self.tree(&mut parts);
        self.coordinates(&mut parts);

        self.parts = parts;
        let (loops, loop_spans) = self.loops(mechanism.list("loop").unwrap_or_default());
        let springs = self.springs(mechanism.list("spring").unwrap_or_default());
        let mut parts = std::mem::take(&mut self.parts);
        self.joint_servos(mechanism, &mut parts);
        let forces = self.forces(mechanism.list("force").unwrap_or_default(), &mut parts);
        let dependent = self.dependent(mechanism, &parts, &loops);
        let (springs, spring_spans) = springs;
        let (forces, force_spans) = forces;

        let source = MechanismSource {
            whole: mechanism.span.clone(),
            bodies: parts.body_spans,
            joints: parts.joints.iter().map(|part| part.span.clone()).collect(),
            loops: loop_spans,
            springs: spring_spans,
            forces: force_spans,
        };
        let joints = parts.joints.into_iter().map(|part| part.joint).collect();
        let bodies = parts.bodies;
        let mechanism = Mechanism {
            name,
            position,
            rotation,
            bodies,
            joints,
            loops,
            springs,
            forces,
            dependent,
        };
        (mechanism, source)
    }

    /// Adds a body under its name, unless the name is taken.
    pub(super) fn add_body(&mut self, body: MechanismBody, span: Range<usize>, parts: &mut Parts) {
        let name = body.name.clone();
        if name == GROUND {
            let message = "`ground` is the base of the mechanism and cannot be the name of a body";
            self.problems.advise(span, message, "choose another name");
            parts.lost_bodies = true;
        } else if name.chars().count() > MAX_NAME {
            let message = format!("`{}` is longer than {MAX_NAME} characters", excerpt(&name));
            self.problems.advise(span, message, "choose shorter names");
            parts.lost_bodies = true;
        } else if parts.body_index.contains_key(&name) {
            let message = format!("two bodies of the mechanism are named `{name}`");
            self.problems.advise(span, message, "give them different names");
        } else {
            parts.body_index.insert(name, parts.bodies.len());
            parts.bodies.push(body);
            parts.body_spans.push(span);
        }
    }

    fn mechanism_body(&mut self, node: &Node, parts: &mut Parts) {
        let Some(body) = node.table() else {
            parts.lost_bodies = true;
            return;
        };
        let nodes = body.list("shapes").unwrap_or_default();
        self.weighed = body.given("mass").is_none();
        let shapes = nodes.iter().filter_map(Node::table);
        let shapes = shapes.filter_map(|shape| BodyShape::read_keys(self, shape)).collect();
        let mass = self.mechanism_mass(body, !nodes.is_empty());
        let Some(name) = body.text("name") else {
            parts.lost_bodies = true;
            return;
        };
        let body_span = body.value_span("name");
        let body = MechanismBody { name: name.to_owned(), mass, shapes };
        self.add_body(body, body_span, parts);
    }

    /// Bodies of mechanisms must be bounded.
    pub(in super::super) fn check_bounded(&mut self, shape: &Node) -> Option<()> {
        if self.shape_type(shape) == Some("half-space") {
            let message = "a half-space is unbounded, so it cannot be a shape of a mechanism body";
            self.problems.advise(shape.span.clone(), message, "use a box");
            return None;
        }
        Some(())
    }

    fn mechanism_mass(&mut self, body: &Entries, has_shapes: bool) -> Option<Mass> {
        let mass = self.mass(body, Inertias::AlsoFlat, has_shapes)?;
        if mass.is_none() && !has_shapes && body.given("shapes").is_none() {
            let message = "the mass of this body is not known";
            let help = "give `mass`, or `shapes` of a material with a density; mass = 0 makes a massless link";
            self.problems.advise(body.span.clone(), message, help);
        } else if mass.is_none() && !has_shapes {
            let message = "without shapes the mass is not known";
            self.problems.advise(body.key_span("shapes"), message, "give `mass`");
        }
        mass
    }

    /// As [`Converter::carrier`], in the mechanism whose loops and springs are being read.
    #[expect(clippy::option_option, reason = "the outer one is failure, the inner one is data")]
    pub(in super::super) fn carrier_of(&mut self, node: &Node) -> Option<Option<usize>> {
        let parts = std::mem::take(&mut self.parts);
        let body = self.carrier(node, &parts);
        self.parts = parts;
        body
    }

    /// The body named by a value; the inner `None` for the ground, the outer one if there is no such body.
    #[expect(clippy::option_option, reason = "the outer one is failure, the inner one is data")]
    pub(super) fn carrier(&mut self, node: &Node, parts: &Parts) -> Option<Option<usize>> {
        match node.text()? {
            GROUND => Some(None),
            _ => self.member(node, parts).map(Some),
        }
    }

    /// The body named by a value.
    pub(super) fn member(&mut self, node: &Node, parts: &Parts) -> Option<usize> {
        let name = node.text()?;
        let index = parts.body_index.get(name).copied();
        if index.is_none() && name == GROUND {
            let message = "`ground` does not move: name a body of the mechanism";
            self.problems.report(node.span.clone(), message);
        } else if index.is_none() && !parts.lost_bodies {
            let known = parts.body_index.keys().map(String::as_str);
            let help = did_you_mean(name, known.chain([GROUND]), "body");
            let message = format!("the mechanism has no body `{}`", excerpt(name));
            self.problems.advise(node.span.clone(), message, help);
        }
        index
    }

    fn joint(&mut self, node: &Node, index: usize, parts: &mut Parts) {
        let Some(entries) = node.table() else {
            parts.lost_joints = true;
            return;
        };
        let parent = entries.get("parent").and_then(|node| self.carrier(node, parts));
        let child = entries.get("child").and_then(|node| self.member(node, parts));
        let name = match entries.get("name") {
            None => Some(format!("joint_{}", index + 1)),
            Some(node) => node.text().map(str::to_owned),
        };
        if let (Some(Some(parent)), Some(child)) = (parent, child)
            && parent == child
        {
            let message = format!("`{}` cannot be its own parent", parts.bodies[child].name);
            self.problems.report(entries.value_span("child"), message);
            parts.lost_joints = true;
            return;
        }
        let child_span = entries.value_span("child");
        self.add_joint(entries, name, parent, child, child_span, parts);
    }

    /// The massless bodies between the joints of a chain, so that other joints may refer to them.
    fn chain_links(&mut self, node: &Node, parts: &mut Parts) {
        let Some(chain) = node.table() else { return };
        let (Some(child), Some([elements @ .., _])) = (chain.text("child"), chain.list("joints"))
        else {
            return;
        };
        for element in elements.iter().filter_map(Node::table) {
            let Some(name) = element.text("name") else { continue };
            let mass = Some(Mass { mass: 0.0, inertia: None, centre: None });
            let body = MechanismBody { name: link_name(child, name), mass, shapes: Vec::new() };
            self.add_body(body, element.value_span("name"), parts);
        }
    }

    fn chain(&mut self, node: &Node, parts: &mut Parts) {
        let Some(chain) = node.table() else {
            parts.lost_joints = true;
            return;
        };
        let parent = chain.get("parent").and_then(|node| self.carrier(node, parts));
        let child = chain.get("child").and_then(|node| self.member(node, parts));
        let Some([elements @ .., _]) = chain.list("joints") else {
            parts.lost_joints = true;
            return;
        };
        // The child of each joint is the link named after it; that of the last one is the child of the chain.
        let child_name = chain.text("child").unwrap_or_default();
        let links = elements.iter().map(|element| {
            let name = element.table()?.text("name")?;
            parts.body_index.get(&link_name(child_name, name)).copied()
        });
        let carried: Vec<Option<usize>> = links.chain([child]).collect();
        let child_span = chain.value_span("child");
        let mut carrier = parent;
        for (node, next) in chain.list("joints").unwrap_or_default().iter().zip(carried) {
            match node.table() {
                Some(joint) => {
                    let name = joint.text("name").map(str::to_owned);
                    self.add_joint(joint, name, carrier, next, child_span.clone(), parts);
                }
                None => parts.lost_joints = true,
            }
            carrier = next.map(Some);
        }
    }

    /// Adds a joint under its name, which must be valid in expressions.
    pub(super) fn register_joint(
        &mut self,
        part: JointPart,
        name_span: &Range<usize>,
        parts: &mut Parts,
    ) {
        let name = &part.joint.name;
        if name.contains('-') {
            let message = format!("`{name}` cannot be the name of a joint");
            let help = format!(
                "in expressions `q.{name}` would be a difference; write `{}`",
                name.replace('-', "_")
            );
            self.problems.advise(name_span.clone(), message, help);
            parts.lost_joints = true;
        }
        if !parts.joint_names.insert(name.clone()) {
            let message = format!("two joints of the mechanism are named `{name}`");
            self.problems.advise(name_span.clone(), message, "give them different names");
            parts.lost_joints = true;
        }
        parts.joints.push(part);
    }
}

impl Parts {
    /// Fixes the root of a URDF file to the ground, unless it is the child of a joint.
    fn hold_root(&mut self, root: usize, span: Range<usize>) {
        if self.joints.iter().any(|part| part.joint.child == root) || self.lost_joints {
            return;
        }
        let mut name = format!("{}_to_ground", self.bodies[root].name.replace('-', "_"));
        while !self.joint_names.insert(name.clone()) {
            name.push('_');
        }
        let joint = fixed(name, None, root);
        let child_span = span.clone();
        self.joints.push(JointPart { joint, span, child_span, complete: true });
    }
}

/// The name of the massless child of a joint of a chain.
fn link_name(child: &str, joint: &str) -> String {
    format!("{child}.{joint}")
}

/// A joint that fixes its child.
pub(super) fn fixed(name: String, parent: Option<usize>, child: usize) -> Joint {
    Joint {
        name,
        parent,
        child,
        position: [0.0; 3],
        rotation: UPRIGHT,
        kind: JointKind::Fixed,
        start: Vec::new(),
        start_held: false,
        start_velocity: Vec::new(),
        start_velocity_held: false,
        drive: Drive::None,
        spring: None,
        stops: None,
        servo: None,
    }
}

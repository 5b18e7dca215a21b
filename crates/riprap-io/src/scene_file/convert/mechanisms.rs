//! Mechanisms: their bodies, joints and chains, and the tree that these form. What acts in them is in `forces.rs`.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};
use std::ops::Range;

use super::super::document::{MAX_NAME, excerpt};
use super::super::expression::Scope;
use super::super::model::{
    BodyShape, Component, Coordinate, Drive, Input, Joint, JointKind, JointSpring, Mass, Mechanism,
    MechanismBody, MechanismSource, Quaternion, Stops, Vector,
};
use super::super::units::Dimension;
use super::super::values::{Entries, Item, Node};
use super::bodies::{Inertias, check_inertia};
use super::shapes::UPRIGHT;
use super::{Converter, did_you_mean};
use crate::unit_vector::unit;

/// Name of the frame that carries a mechanism.
pub(super) const GROUND: &str = "ground";

/// A mechanism while it is read.
#[derive(Default)]
pub(super) struct Parts {
    pub bodies: Vec<MechanismBody>,
    pub body_spans: Vec<Range<usize>>,
    pub body_index: HashMap<String, usize>,
    /// Whether a name of a body was refused, so that a body which is not found may be that one.
    pub lost_bodies: bool,
    pub joints: Vec<JointPart>,
    pub joint_names: HashSet<String>,
    /// Whether a joint was refused, so that a coordinate which is not found may be one of its.
    pub lost_joints: bool,
    pub coordinates: HashMap<String, Coordinate>,
    /// The names that laws may use, and what their variables are.
    pub scope: Scope,
    pub inputs: Vec<Input>,
}

/// A joint whose bodies need not exist yet.
pub(super) struct JointPart {
    pub joint: Joint,
    pub span: Range<usize>,
    /// Where its child is named.
    pub child_span: Range<usize>,
    /// Whether both of its bodies are known.
    pub complete: bool,
}

/// The frame of a joint and what is known about its coordinates at the start.
struct Start {
    position: Vec<f64>,
    held: bool,
    velocity: Vec<f64>,
    velocity_held: bool,
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
                    let message = format!("two mechanisms are called `{name}`");
                    let help = "give them different names";
                    self.problems.advise(mechanism.value_span("name"), message, help);
                }
                Some(self.mechanism(mechanism, name))
            })
            .collect()
    }

    fn mechanism(&mut self, mechanism: &Entries, name: String) -> (Mechanism, MechanismSource) {
        let position = self.polar(mechanism, "position").unwrap_or_default();
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
            let help = "add a [[mechanism.body]], or name a file: urdf = \"machine.urdf\"";
            self.problems.advise(mechanism.span.clone(), message, help);
        }
        self.tree(&mut parts);
        self.coordinates(&mut parts);

        let (loops, loop_spans) = self.loops(mechanism.list("loop").unwrap_or_default(), &parts);
        let springs = self.springs(mechanism.list("spring").unwrap_or_default(), &parts);
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

    /// Adds a body under its name, unless that is taken.
    pub(super) fn add_body(&mut self, body: MechanismBody, span: Range<usize>, parts: &mut Parts) {
        let name = body.name.clone();
        if name == GROUND {
            let message = "`ground` is what carries the mechanism, so no body is called so";
            self.problems.advise(span, message, "choose another name");
            parts.lost_bodies = true;
        } else if name.chars().count() > MAX_NAME {
            let message = format!("`{}` is longer than {MAX_NAME} characters", excerpt(&name));
            self.problems.advise(span, message, "choose shorter names");
            parts.lost_bodies = true;
        } else if parts.body_index.contains_key(&name) {
            let message = format!("two bodies of the mechanism are called `{name}`");
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
        let weighed = body.given("mass").is_none();
        let shapes = nodes.iter().filter_map(|node| self.body_shape(node, weighed)).collect();
        let mass = self.mechanism_mass(body, !nodes.is_empty());
        let Some(name) = body.text("name") else {
            parts.lost_bodies = true;
            return;
        };
        let body_span = body.value_span("name");
        let body = MechanismBody { name: name.to_owned(), mass, shapes };
        self.add_body(body, body_span, parts);
    }

    fn body_shape(&mut self, node: &Node, weighed: bool) -> Option<BodyShape> {
        let entries = node.table()?;
        let material = self.material(entries, weighed);
        let position = self.polar(entries, "position");
        let rotation = self.rotation(entries);
        let node = entries.get("shape")?;
        if self.shape_type(node) == Some("half-space") {
            let message = "a half-space has no end, so no body of a mechanism can carry it";
            self.problems.advise(node.span.clone(), message, "take a box");
            return None;
        }
        let shape = self.shape_ref(node);
        Some(BodyShape {
            shape: shape?,
            material: material?,
            position: position?,
            rotation: rotation?,
        })
    }

    fn mechanism_mass(&mut self, body: &Entries, has_shapes: bool) -> Option<Mass> {
        let given = |key| body.given(key).is_some();
        let needs: &[(&str, &str)] = match has_shapes {
            true => &[("inertia", "mass"), ("centre", "mass"), ("centre", "inertia")],
            false => &[("inertia", "mass"), ("centre", "mass")],
        };
        if let Some((key, needs)) = needs.iter().find(|(key, needs)| given(key) && !given(needs)) {
            let message = format!("`{key}` is given without `{needs}`");
            let help = "give mass and inertia together, or let both follow from the density";
            self.problems.advise(body.key_span(key), message, help);
            return None;
        }
        if !given("mass") {
            if !has_shapes && !given("shapes") {
                let message = "the mass of this body is not known";
                let help = "give `mass`, or `shapes` of a material with a density; mass = 0 makes a massless link";
                self.problems.advise(body.span.clone(), message, help);
            } else if !has_shapes {
                let message = "without shapes the mass is not known";
                self.problems.advise(body.key_span("shapes"), message, "give `mass`");
            }
            return None;
        }
        let inertia = match body.given("inertia") {
            Some(node) => Some(self.mechanism_inertia(node)?),
            None => None,
        };
        let centre = match given("centre") {
            true => Some(self.polar(body, "centre")?),
            false => None,
        };
        Some(Mass { mass: body.number("mass")?, inertia, centre })
    }

    /// An inertia, which may vanish about an axis: rods and point masses are bodies of mechanisms.
    fn mechanism_inertia(&mut self, node: &Node) -> Option<[Vector; 3]> {
        let Some(value) = node.number() else {
            return self.inertia(node, Inertias::AlsoFlat);
        };
        let matrix = [[value, 0.0, 0.0], [0.0, value, 0.0], [0.0, 0.0, value]];
        if let Err(message) = check_inertia(&matrix, Inertias::AlsoFlat) {
            self.problems.report(node.span.clone(), message);
            return None;
        }
        Some(matrix)
    }

    /// The body that a value names, `None` inside for the ground; `None` outside if there is none.
    #[expect(clippy::option_option, reason = "the outer one is failure, the inner one is data")]
    pub(super) fn carrier(&mut self, node: &Node, parts: &Parts) -> Option<Option<usize>> {
        match node.text()? {
            GROUND => Some(None),
            _ => self.member(node, parts).map(Some),
        }
    }

    /// The body that a value names.
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
            let message = format!("`{}` cannot carry itself", parts.bodies[child].name);
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
        // Each joint carries the link that is called after it, the last one the child.
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

    fn add_joint(
        &mut self,
        entries: &Entries,
        name: Option<String>,
        parent: Option<Option<usize>>,
        child: Option<usize>,
        child_span: Range<usize>,
        parts: &mut Parts,
    ) {
        let position = self.polar(entries, "position").unwrap_or_default();
        let rotation = self.rotation(entries).unwrap_or(UPRIGHT);
        let Some(kind) = self.joint_kind(entries) else {
            parts.lost_joints = true;
            return;
        };
        let drive = self.drive(entries, None);
        let start = self.start(entries, &kind, &drive);
        let (spring, stops) = (self.joint_spring(entries), self.stops(entries));
        let Some(name) = name else {
            parts.lost_joints = true;
            return;
        };
        let joint = Joint {
            name,
            parent: parent.flatten(),
            child: child.unwrap_or(usize::MAX),
            position,
            rotation,
            kind,
            start: start.position,
            start_held: start.held,
            start_velocity: start.velocity,
            start_velocity_held: start.velocity_held,
            drive,
            spring,
            stops,
        };
        let complete = parent.is_some() && child.is_some();
        let name_span = entries.value_span("name");
        let part = JointPart { joint, span: entries.span.clone(), child_span, complete };
        self.register_joint(part, &name_span, parts);
    }

    /// Adds a joint under its name, which must fit expressions.
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
            let message = format!("two joints of the mechanism are called `{name}`");
            self.problems.advise(name_span.clone(), message, "give them different names");
            parts.lost_joints = true;
        }
        parts.joints.push(part);
    }

    fn joint_kind(&mut self, joint: &Entries) -> Option<JointKind> {
        let kind = joint.variant?;
        if self.planar && matches!(kind, "cylindrical" | "universal" | "spherical" | "free") {
            let message = format!("the joint \"{kind}\" does not fit a planar scene");
            let help = "planar scenes have revolute, prismatic, planar and fixed joints";
            self.problems.advise(joint.value_span("type"), message, help);
        }
        const ANY: Vector = [0.0, 0.0, 1.0];
        let kind = match kind {
            "revolute" => JointKind::Revolute { axis: self.axis(joint, true).unwrap_or(ANY) },
            "prismatic" => JointKind::Prismatic { axis: self.axis(joint, false).unwrap_or(ANY) },
            "cylindrical" => JointKind::Cylindrical { axis: self.axis(joint, true).unwrap_or(ANY) },
            "universal" => {
                let axes = self.axes(joint);
                if let Some([a, b]) = axes
                    && length(cross(a, b)) < 1e-6
                {
                    let message = "the two axes are parallel";
                    let help = "two rotations about one axis are one: take type = \"revolute\"";
                    self.problems.advise(joint.value_span("axes"), message, help);
                }
                JointKind::Universal { axes: axes.unwrap_or([ANY; 2]) }
            }
            "planar" => {
                let axes = self.axes(joint);
                if let Some([a, b]) = axes
                    && (dot(a, b).abs() > 1e-9 || self.planar && cross(a, b) != ANY)
                {
                    let message = match self.planar {
                        true => {
                            "in a planar scene the axes are [\"x\", \"y\"], or these turned about z"
                        }
                        false => "the two axes are not at right angles",
                    };
                    self.problems.report(joint.value_span("axes"), message);
                }
                JointKind::Planar { axes: axes.unwrap_or([ANY; 2]) }
            }
            "spherical" => JointKind::Spherical,
            "free" => JointKind::Free,
            _ => JointKind::Fixed,
        };
        Some(kind)
    }

    /// The axis of a joint or loop; in planar scenes it is z if something turns about it, otherwise normal to z.
    pub(super) fn axis(&mut self, entries: &Entries, turns: bool) -> Option<Vector> {
        let axis = self.direction(entries.get("axis")?, "axis")?;
        let out_of_plane = match turns {
            true => axis[0] != 0.0 || axis[1] != 0.0,
            false => axis[2] != 0.0,
        };
        if self.planar && out_of_plane {
            let message = match turns {
                true => "the scene is planar: bodies turn about z only",
                false => "the scene is planar: `axis` must lie in the plane x–y",
            };
            self.problems.report(entries.value_span("axis"), message);
        }
        Some(axis)
    }

    fn axes(&mut self, joint: &Entries) -> Option<[Vector; 2]> {
        let [a, b] = joint.list("axes")? else { return None };
        let [a, b] = [self.direction(a, "axes"), self.direction(b, "axes")];
        Some([a?, b?])
    }

    pub(super) fn direction(&mut self, node: &Node, what: &str) -> Option<Vector> {
        let direction = unit(node.numbers::<3>()?);
        if direction.is_none() {
            self.problems.report(node.span.clone(), format!("`{what}` has zero length"));
        }
        direction
    }

    /// What moves a coordinate. The dimension is given where the values are not converted yet.
    pub(super) fn drive(&mut self, joint: &Entries, velocity: Option<Dimension>) -> Drive {
        let (motion, speed) = (joint.given("motion"), joint.given("speed"));
        if motion.is_some() && speed.is_some() {
            let message = "`motion` and `speed` both move this joint";
            self.problems.advise(joint.key_span("speed"), message, "give one of them");
        }
        if let Some(node) = motion {
            for key in ["start", "guess", "start_velocity"] {
                if joint.given(key).is_some() {
                    let message = format!(
                        "`{key}` has no meaning with `motion`, which begins at its own value"
                    );
                    self.problems.report(joint.key_span(key), message);
                }
            }
            let Some(motion) = self.component(node, "motion") else { return Drive::None };
            if let Component::Expression(law) = &motion {
                let ends = [0.0, self.until.unwrap_or(0.0)];
                let bad = |t: &f64| !law.with_rates(&[*t]).iter().all(|x| x.is_finite());
                if let Some(t) = ends.iter().find(|t| bad(t)) {
                    let [value, rate, second] = law.with_rates(&[*t]);
                    let (what, value) = match (value.is_finite(), rate.is_finite()) {
                        (false, _) => ("`motion`", value),
                        (true, false) => ("the velocity of `motion`", rate),
                        (true, true) => ("the acceleration of `motion`", second),
                    };
                    let message = format!("{what} is {value} at t = {t} s");
                    self.problems.report(node.span.clone(), message);
                }
            }
            return Drive::Motion(motion);
        }
        let Some(node) = speed else { return Drive::None };
        if joint.given("start_velocity").is_some() {
            let message = "`start_velocity` has no meaning with `speed`, which is that velocity";
            self.problems.report(joint.key_span("start_velocity"), message);
        }
        let speed = match velocity {
            Some(dimension) => self.quantity(node, "speed", dimension),
            None => node.number(),
        };
        speed.map_or(Drive::None, Drive::Speed)
    }

    fn start(&mut self, joint: &Entries, kind: &JointKind, drive: &Drive) -> Start {
        let n = kind.n_velocities();
        let given = |key| joint.given(key).is_some();
        for (start, guess) in [
            ("start", "guess"),
            ("start_position", "guess_position"),
            ("start_rotation", "guess_rotation"),
            ("start_position", "guess_rotation"),
            ("start_rotation", "guess_position"),
        ] {
            if given(start) && given(guess) {
                let message = format!("give `{start}` or `{guess}`, not both");
                self.problems.report(joint.key_span(guess), message);
            }
        }
        let list = |key: &str| -> Option<Vec<f64>> {
            let node = joint.given(key)?;
            match &node.item {
                Item::Number(value) => Some(vec![*value]),
                _ => node.list()?.iter().map(Node::number).collect(),
            }
        };
        let either =
            |this: &'static str, other: &'static str| if given(this) { this } else { other };
        let (position, held) = match kind {
            JointKind::Spherical | JointKind::Free => {
                let rotation = either("start_rotation", "guess_rotation");
                let rotation: Quaternion = match joint.given(rotation) {
                    Some(node) => self.turned(node).unwrap_or(UPRIGHT),
                    None => UPRIGHT,
                };
                let mut position = match kind {
                    JointKind::Free => list(either("start_position", "guess_position"))
                        .unwrap_or_else(|| vec![0.0; 3]),
                    _ => Vec::new(),
                };
                position.extend(rotation);
                (position, given("start_rotation") || given("start_position"))
            }
            _ => (list(either("start", "guess")).unwrap_or_else(|| vec![0.0; n]), given("start")),
        };
        let keys = ["start_velocity", "start_angular_velocity"];
        let velocity = match kind {
            JointKind::Spherical | JointKind::Free => {
                let mut velocity = match kind {
                    JointKind::Free => list(keys[0]).unwrap_or_else(|| vec![0.0; 3]),
                    _ => Vec::new(),
                };
                velocity.extend(list(keys[1]).unwrap_or_else(|| vec![0.0; 3]));
                velocity
            }
            _ => list(keys[0]).unwrap_or_else(|| vec![0.0; n]),
        };
        let velocity_held = keys.into_iter().any(given);
        let mut start = Start { position, held, velocity, velocity_held };
        start.follow(drive);
        start
    }

    fn joint_spring(&mut self, joint: &Entries) -> Option<JointSpring> {
        if joint.given("spring").is_some() && joint.given("damping").is_some() {
            let message = "the damping belongs into `spring` if there is one";
            self.problems.report(joint.key_span("damping"), message);
        }
        if let Some(node) = joint.given("damping") {
            return Some(JointSpring { stiffness: 0.0, rest: 0.0, damping: node.number()? });
        }
        let spring = joint.given("spring")?.table()?;
        Some(JointSpring {
            stiffness: spring.number("stiffness")?,
            rest: spring.number("rest")?,
            damping: spring.number("damping")?,
        })
    }

    fn stops(&mut self, joint: &Entries) -> Option<Stops> {
        let stops = joint.given("stops")?.table()?;
        if stops.given("lower").is_none() && stops.given("upper").is_none() {
            let message = "these stops are nowhere";
            self.problems.advise(stops.span.clone(), message, "give `lower`, `upper` or both");
        }
        let (lower, upper) = (stops.number("lower"), stops.number("upper"));
        if let (Some(lower), Some(upper)) = (lower, upper)
            && lower >= upper
        {
            let message = format!("the lower stop ({lower}) is not below the upper one ({upper})");
            self.problems.report(stops.value_span("lower"), message);
        }
        Some(Stops {
            lower,
            upper,
            stiffness: stops.number("stiffness")?,
            damping: stops.number("damping")?,
        })
    }

    /// Puts the joints into the order of the tree, and reports where it is none.
    fn tree(&mut self, parts: &mut Parts) {
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
            let help = "a body hangs on one joint; make a [[mechanism.loop]] of the other";
            self.problems.advise(part.child_span.clone(), message, help);
        }
        if !is_tree || parts.lost_joints || parts.lost_bodies {
            return; // what would be missed may be what was lost
        }
        for (body, carried) in carried.iter().enumerate() {
            if carried.is_none() {
                let name = &parts.bodies[body].name;
                let message = format!("the body `{name}` hangs on nothing");
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

    /// Sorts the joints so that each comes after the one that carries it, otherwise as in the file.
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
                // Only a walk that comes back to itself has found a new ring.
                let Some(from) = path.iter().position(|other| *other == joint) else { continue };
                let ring: Vec<String> = path[from..]
                    .iter()
                    .take(10)
                    .map(|joint| format!("`{}`", parts.joints[*joint].joint.name))
                    .collect();
                let message = format!("the joints {} carry each other in a ring", ring.join(", "));
                let help = "one of them has to start at the ground, or at a body that hangs on it; close a ring by a [[mechanism.loop]]";
                self.problems.advise(parts.joints[path[from]].child_span.clone(), message, help);
            }
            return;
        }
        let mut old: Vec<Option<JointPart>> = parts.joints.drain(..).map(Some).collect();
        parts.joints = order.into_iter().filter_map(|joint| old[joint].take()).collect();
    }

    /// Gives the coordinates their names, and makes the names that laws may use.
    fn coordinates(&mut self, parts: &mut Parts) {
        if parts.lost_joints {
            return; // then names are not looked up
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
                    let message = format!("two coordinates of the mechanism are called `{name}`");
                    self.problems.advise(part.span.clone(), message, "rename one of the joints");
                    continue;
                }
                if component < kind.n_named_positions() {
                    parts.scope.variable(&format!("q.{name}"));
                    parts.inputs.push(Input::Position(coordinate));
                } else {
                    let reason = "rotations in space have no coordinates, only velocities `v.`";
                    parts.scope.unusable(&format!("q.{name}"), reason);
                }
                parts.scope.variable(&format!("v.{name}"));
                parts.inputs.push(Input::Velocity(coordinate));
            }
        }
    }

    /// The coordinate that a value names.
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

impl Parts {
    /// Fixes the root of a URDF file to the ground, unless a joint carries it.
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

impl Start {
    /// A drive decides about the start.
    fn follow(&mut self, drive: &Drive) {
        follow(drive, &mut self.position, &mut self.velocity);
        if matches!(drive, Drive::Motion(_)) {
            self.held = true;
        }
        if *drive != Drive::None {
            self.velocity_held = true;
        }
    }
}

/// The name of the massless body that a joint of a chain carries.
fn link_name(child: &str, joint: &str) -> String {
    format!("{child}.{joint}")
}

/// Sets the start of a driven coordinate.
pub(super) fn follow(drive: &Drive, position: &mut [f64], velocity: &mut [f64]) {
    let ([q], [v]) = (position, velocity) else { return };
    match drive {
        Drive::None => {}
        Drive::Motion(Component::Constant(value)) => (*q, *v) = (*value, 0.0),
        Drive::Motion(Component::Expression(law)) => {
            let [value, rate, _] = law.with_rates(&[0.0]);
            (*q, *v) = (value, rate);
        }
        Drive::Speed(speed) => *v = *speed,
    }
}

/// A joint that holds its child.
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
    }
}

pub(super) fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn length(a: Vector) -> f64 {
    dot(a, a).sqrt()
}

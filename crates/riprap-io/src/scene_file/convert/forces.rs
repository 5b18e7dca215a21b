//! Loops of a mechanism, springs between points, and forces with their phases.

use std::collections::HashSet;

use super::super::document::excerpt;
use super::super::expression::Expression;
use super::super::keys::{Choice, ReadKeys};
use super::super::model::{
    Coordinate, Drive, Force, ForceFrame, ForceTarget, Input, JointServo, Latch, Law, Loop, Phase,
    PointSpring, Until,
};
use super::super::number;
use super::super::units::{Dimension, parse_quantity};
use super::super::values::{Entries, Item, Node};
use super::mechanisms::Parts;
use super::{Converter, Placed};

impl Converter<'_> {
    pub(super) fn loops(&mut self, nodes: &[Node]) -> Placed<Loop> {
        let mut names = HashSet::new();
        let tables = nodes.iter().enumerate();
        let loops = tables.filter_map(|(index, node)| {
            let entries = node.table()?;
            self.own_name(entries, "loops of the mechanism", "loop", index, &mut names);
            let one = Loop::read_keys(self, entries)?;
            self.check_ends(entries, "loop", [one.a.body, one.b.body])?;
            Some((one, entries.span.clone()))
        });
        loops.unzip()
    }

    pub(super) fn springs(&mut self, nodes: &[Node]) -> Placed<PointSpring> {
        let mut names = HashSet::new();
        let tables = nodes.iter().enumerate();
        let springs = tables.filter_map(|(index, node)| {
            let entries = node.table()?;
            self.own_name(entries, "springs of the mechanism", "spring", index, &mut names);
            let spring = PointSpring::read_keys(self, entries)?;
            if spring.stiffness == 0.0 && spring.damping == 0.0 {
                let message = "this spring has neither `stiffness` nor `damping`";
                self.problems.report(entries.span.clone(), message);
            }
            self.check_ends(entries, "spring", [spring.a.body, spring.b.body])?;
            Some((spring, entries.span.clone()))
        });
        springs.unzip()
    }

    /// Checks that the two ends of a loop or spring are on different bodies.
    fn check_ends(
        &mut self,
        entries: &Entries,
        what: &str,
        [a, b]: [Option<usize>; 2],
    ) -> Option<()> {
        if a != b {
            return Some(());
        }
        let name = a.map_or("ground", |body| &self.parts.bodies[body].name);
        let message = format!("both ends of this {what} are on `{name}`");
        self.problems.report(entries.value_span("b"), message);
        None
    }

    /// The servos of joints and of joints in chains.
    pub(super) fn joint_servos(&mut self, mechanism: &Entries, parts: &mut Parts) {
        let joints = mechanism.list("joint").unwrap_or_default().iter().enumerate();
        for (index, entries) in joints.filter_map(|(index, node)| Some((index, node.table()?))) {
            let name = entries.text("name").map_or(format!("joint_{}", index + 1), str::to_owned);
            self.joint_servo(entries, &name, parts);
        }
        let chains = mechanism.list("chain").unwrap_or_default().iter().filter_map(Node::table);
        for entries in chains.filter_map(|chain| chain.list("joints")).flatten() {
            let Some(entries) = entries.table() else { continue };
            self.joint_servo(entries, entries.text("name").unwrap_or_default(), parts);
        }
    }

    fn joint_servo(&mut self, joint: &Entries, name: &str, parts: &mut Parts) {
        let Some(servo) = joint.given("servo").and_then(Node::table) else { return };
        let Some(k) = parts.joints.iter().position(|part| part.joint.name == name) else { return };
        if parts.joints[k].joint.drive != Drive::None {
            let message = format!("`{name}` has a servo, but its motion is prescribed");
            let help = "remove `servo`, or `motion` and `speed`";
            self.problems.advise(joint.key_span("servo"), message, help);
            return;
        }
        let target = ["force", "torque"].into_iter().find_map(|key| Some((key, servo.get(key)?)));
        let Some((key, node)) = target else { return };
        if let (Some(law), Some(speed)) = (self.law(node, key, parts), servo.number("speed")) {
            parts.joints[k].joint.servo = Some(JointServo { law, speed });
        }
    }

    pub(super) fn forces(&mut self, nodes: &[Node], parts: &mut Parts) -> Placed<Force> {
        let mut names = HashSet::new();
        let mut forces: Placed<Force> = Default::default();
        for (index, entries) in nodes.iter().filter_map(Node::table).enumerate() {
            self.own_name(entries, "forces of the mechanism", "force", index, &mut names);
            let name = std::mem::take(&mut self.own_name);
            let Some(on) = self.force_target(entries, parts) else { continue };
            // Latched values are variables of this force only.
            let (mark, n_inputs) = (parts.scope.mark(), parts.inputs.len());
            let phases = self.phases(entries, &on, parts);
            let n_latched = parts.inputs.len() - n_inputs;
            parts.scope.reset(mark);
            parts.inputs.truncate(n_inputs);
            if let Some(phases) = phases {
                forces.0.push(Force { name, on, phases, n_latched });
                forces.1.push(entries.span.clone());
            }
        }
        forces
    }

    fn force_target(&mut self, force: &Entries, parts: &Parts) -> Option<ForceTarget> {
        match (force.given("coordinate"), force.given("body")) {
            (Some(node), None) => {
                let coordinate = self.coordinate(node, parts)?;
                let joint = &parts.joints[coordinate.joint].joint;
                if joint.drive != Drive::None {
                    let key =
                        if matches!(joint.drive, Drive::Speed(_)) { "speed" } else { "motion" };
                    let message = format!(
                        "a force on `{}` has no effect: its `{key}` is prescribed",
                        joint.name
                    );
                    let help = "the force required for the motion is computed and reported";
                    self.problems.advise(node.span.clone(), message, help);
                }
                for key in ["point", "frame"] {
                    if force.given(key).is_some() {
                        let message = format!("`{key}` is only for forces on a body");
                        self.problems.report(force.key_span(key), message);
                    }
                }
                Some(ForceTarget::Coordinate(coordinate))
            }
            (None, Some(node)) => {
                let (body, point) = (self.member(node, parts), force.numbers("point"));
                let frame = ForceFrame::of(force.text("frame")?)?;
                Some(ForceTarget::Body { body: body?, point: point?, frame })
            }
            (Some(_), Some(_)) => {
                let message = "a force acts on a `coordinate` or on a `body`, not on both";
                self.problems.advise(force.key_span("body"), message, "write two forces");
                None
            }
            (None, None) => {
                let message = "this force has no target: `coordinate` or `body` is missing";
                self.problems.report(force.span.clone(), message);
                None
            }
        }
    }

    fn phases(
        &mut self,
        force: &Entries,
        on: &ForceTarget,
        parts: &mut Parts,
    ) -> Option<Vec<Phase>> {
        let Some(node) = force.given("phases") else {
            let laws = self.laws_of(force, on, parts)?;
            return Some(vec![Phase { latch: Vec::new(), laws, until: Until::Forever }]);
        };
        for key in ["law", "force", "torque"] {
            if force.given(key).is_some() {
                let message = format!("with `phases`, `{key}` belongs in each phase");
                self.problems.report(force.key_span(key), message);
            }
        }
        let nodes = node.list()?;
        let mut phases: Vec<Option<Phase>> = Vec::new();
        let mut last_time = 0.0;
        for (index, node) in nodes.iter().enumerate() {
            let Some(phase) = node.table() else { continue };
            let latch = self.latch(phase, parts);
            let laws = self.laws_of(phase, on, parts);
            let until = match phase.given("until") {
                None => {
                    if index + 1 < nodes.len() {
                        let message = "this phase never ends, so the next one cannot begin";
                        let help = "add `until`: a time or a condition";
                        self.problems.advise(node.span.clone(), message, help);
                    }
                    Some(Until::Forever)
                }
                Some(node) => self.until(node, &mut last_time, parts),
            };
            phases.push(latch.and_then(|latch| Some(Phase { latch, laws: laws?, until: until? })));
        }
        let mut phases: Vec<Phase> = phases.into_iter().collect::<Option<_>>()?;
        if phases.last().is_some_and(|phase| phase.until != Until::Forever) {
            let laws = vec![Law::zero(); n_laws(on)];
            phases.push(Phase { latch: Vec::new(), laws, until: Until::Forever });
        }
        Some(phases)
    }

    /// The values that a phase latches; subsequent expressions may use them.
    fn latch(&mut self, phase: &Entries, parts: &mut Parts) -> Option<Vec<Latch>> {
        let mut latch = Some(Vec::new());
        for (name, key_span, node) in phase.table("latch")?.named() {
            let value = self.law(node, name, parts);
            if !self.variable_name("latched value", name, key_span) {
                latch = None;
                continue;
            }
            let known = parts.scope.index(name);
            if known.is_none() && parts.scope.contains(name) {
                let message = format!("`{}` is already a parameter", excerpt(name));
                self.problems.advise(key_span.clone(), message, "choose another name");
                latch = None;
                continue;
            }
            // A name that was latched before keeps its slot; a new one gets the next slot.
            let n_latched =
                parts.inputs.iter().filter(|input| matches!(input, Input::Latched(_))).count();
            let index = parts.scope.variable(name);
            if index == parts.inputs.len() {
                parts.inputs.push(Input::Latched(n_latched));
            }
            let Input::Latched(slot) = parts.inputs[index] else { continue };
            match (&mut latch, value) {
                (Some(latch), Some(value)) => {
                    latch.push(Latch { name: name.to_owned(), slot, value })
                }
                _ => latch = None,
            }
        }
        latch
    }

    fn until(&mut self, node: &Node, last_time: &mut f64, parts: &Parts) -> Option<Until> {
        let time = match &node.item {
            Item::Number(time) => Some(*time),
            Item::Text(text) => parse_quantity(text, Dimension::TIME).ok(),
            _ => return None,
        };
        if let Some(time) = time {
            if time <= *last_time {
                let message = format!("this phase ends at {} s, before it begins", number(time));
                self.problems.report(node.span.clone(), message);
            }
            *last_time = time;
            return Some(Until::Time(time));
        }
        let condition = self.law(node, "until", parts)?;
        if condition.expression.is_constant() {
            let message = "this condition never changes";
            let help = "write a time such as \"1 s\", or a condition such as \"t >= 1\"";
            self.problems.advise(node.span.clone(), message, help);
        }
        Some(Until::Condition(condition))
    }

    /// The laws of a force or of one of its phases: one for a coordinate, six for a body.
    fn laws_of(&mut self, entries: &Entries, on: &ForceTarget, parts: &Parts) -> Option<Vec<Law>> {
        let given = |key: &str| entries.given(key).is_some();
        let (wrong, right): (&[&str], &str) = match on {
            ForceTarget::Coordinate(_) => (&["force", "torque"], "`law`"),
            ForceTarget::Body { .. } => (&["law"], "`force` or `torque`"),
        };
        let what = if matches!(on, ForceTarget::Coordinate(_)) { "coordinate" } else { "body" };
        let mut strange = false;
        for key in wrong.iter().filter(|key| given(key)) {
            let message = format!("a force on a {what} is given by {right}, not by `{key}`");
            self.problems.report(entries.key_span(key), message);
            strange = true;
        }
        if !strange && !["law", "force", "torque"].into_iter().any(given) {
            let message = format!("the force is undefined: {right} is missing");
            self.problems.report(entries.span.clone(), message);
            strange = true;
        }
        if strange {
            return None;
        }
        if let ForceTarget::Coordinate(_) = on {
            return Some(vec![self.law(entries.get("law")?, "law", parts)?]);
        }
        let mut laws = Vec::new();
        for (key, held) in [("force", 2..3), ("torque", 0..2)] {
            let Some(node) = entries.get(key) else {
                laws.extend((0..3).map(|_| Some(Law::zero())));
                continue;
            };
            let components: Vec<Option<Law>> =
                node.list()?.iter().map(|node| self.law(node, key, parts)).collect();
            let out_of_plane = components.get(held)?.iter().flatten();
            let mut out_of_plane = out_of_plane.filter(|law| **law != Law::zero());
            if self.planar && out_of_plane.next().is_some() {
                let message = format!("the scene is planar: `{key}` must stay in the x–y plane");
                self.problems.report(node.span.clone(), message);
            }
            laws.extend(components);
        }
        laws.into_iter().collect()
    }

    pub(super) fn law(&mut self, node: &Node, what: &str, parts: &Parts) -> Option<Law> {
        if parts.lost_joints {
            return None; // an unknown name may be one of theirs
        }
        let mut expression = self.expression(node, what, &parts.scope)?;
        let inputs = expression.compact().into_iter().map(|index| parts.inputs[index]).collect();
        Some(Law { expression, inputs })
    }

    pub(super) fn dependent(
        &mut self,
        mechanism: &Entries,
        parts: &Parts,
        loops: &[Loop],
    ) -> Vec<Coordinate> {
        let Some(nodes) = mechanism.given("dependent").and_then(Node::list) else {
            return Vec::new();
        };
        let n_loops = mechanism.list("loop").map_or(0, <[Node]>::len);
        if n_loops == 0 {
            let message = "no coordinate is dependent: the mechanism has no loops";
            self.problems.report(mechanism.key_span("dependent"), message);
            return Vec::new();
        }
        let mut dependent = Vec::new();
        for node in nodes {
            let Some(coordinate) = self.coordinate(node, parts) else { continue };
            let joint = &parts.joints[coordinate.joint].joint;
            if joint.drive != Drive::None {
                let message =
                    format!("`{}` is driven, so the loops cannot determine it", joint.name);
                self.problems.report(node.span.clone(), message);
            }
            if dependent.contains(&coordinate) {
                self.problems.report(node.span.clone(), "this coordinate is listed twice");
            }
            dependent.push(coordinate);
        }
        let n_equations: usize = loops.iter().map(|one| one.kind.n_equations()).sum();
        if loops.len() == n_loops && dependent.len() > n_equations {
            let message = format!(
                "the number of dependent coordinates ({}) exceeds the number of loop equations ({n_equations})",
                dependent.len()
            );
            self.problems.report(mechanism.value_span("dependent"), message);
        }
        dependent
    }
}

impl Law {
    fn zero() -> Self {
        Self { expression: Expression::number(0.0), inputs: Vec::new() }
    }
}

fn n_laws(on: &ForceTarget) -> usize {
    match on {
        ForceTarget::Coordinate(_) => 1,
        ForceTarget::Body { .. } => 6,
    }
}

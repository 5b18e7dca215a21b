//! Probes: what is recorded in `series.csv`.

use std::collections::HashSet;

use super::super::document::excerpt;
use super::super::keys::{Choice, ReadKeys};
use super::super::model::{
    BodyJoint, Column, ContactProbe, ContactQuantity, JointProbe, JointQuantity, MechanismProbe,
    MechanismQuantity, Passage, PlaneProbe, PlaneQuantity, PointContact, Probe, Quantity,
    RegionProbe, RegionQuantity, Rope, RopeProbe, RopeQuantity, Target,
};
use super::super::values::{Entries, Node};
use super::{Converter, did_you_mean};

/// What is recorded in `series.csv`.
#[derive(Default)]
pub(super) struct Probes {
    pub bodies: Vec<Probe>,
    pub mechanisms: Vec<MechanismProbe>,
    pub joints: Vec<JointProbe>,
    pub contacts: Vec<ContactProbe>,
    pub ropes: Vec<RopeProbe>,
    pub regions: Vec<RegionProbe>,
    pub planes: Vec<PlaneProbe>,
}

/// What a probe may refer to besides bodies and mechanisms.
pub(super) struct Targets<'a> {
    /// Joints between bodies.
    pub joints: &'a [Option<BodyJoint>],
    /// Point contacts.
    pub contacts: &'a [PointContact],
    /// Ropes.
    pub ropes: &'a [Rope],
    /// Whether the scheme has multipliers.
    pub multipliers: bool,
}

impl Converter<'_> {
    pub(super) fn probes(&mut self, nodes: &[Node], targets: &Targets) -> Probes {
        let mut probes = Probes::default();
        let mut names = HashSet::new();
        for probe in nodes.iter().filter_map(Node::table) {
            let keys = ["body", "mechanism", "joint", "point_contact", "rope", "region", "plane"];
            let given = keys.map(|key| (key, probe.given(key)));
            let mut given = given.into_iter().filter_map(|(key, node)| Some((key, node?)));
            let Some((key, node)) = given.next() else {
                let message = "this probe has no target: `body`, `mechanism`, `joint`, `point_contact`, `rope`, `region` or `plane` is missing";
                self.problems.report(probe.span.clone(), message);
                continue;
            };
            if let Some((other, _)) = given.next() {
                let message = format!("a probe has a `{key}` or a `{other}`, not both");
                self.problems.advise(probe.key_span(other), message, "write two probes");
                continue;
            }
            let own = match key {
                "region" | "plane" => Some(key.to_owned()),
                _ => node.text().map(|name| name.replace('/', ".")),
            };
            let name = probe.text("name").map(str::to_owned).or(own).unwrap_or_default();
            if !names.insert(name.clone()) && !name.is_empty() {
                let message = format!("two probes are named `{name}`");
                let key = if probe.given("name").is_some() { "name" } else { key };
                self.problems.advise(probe.value_span(key), message, "give them different names");
            }
            let listed = probe.list("quantities").unwrap_or_default();
            if key != "body" && probe.given("point").is_some() {
                let message = "`point` is only for probes of a body";
                self.problems.report(probe.key_span("point"), message);
            }
            if key != "body" && probe.given("contact_with").is_some() {
                let message = "`contact_with` is only for probes of a body";
                self.problems.report(probe.key_span("contact_with"), message);
            }
            if !targets.multipliers {
                self.refuse_multipliers(listed);
            }
            match key {
                "body" => probes.bodies.extend(self.body_probe(probe, name, listed)),
                "mechanism" => {
                    let usual = [MechanismQuantity::Forces];
                    let quantities = self.quantities(listed, &usual, "a mechanism");
                    if let Some(mechanism) = self.mechanism_of(node) {
                        probes.mechanisms.push(MechanismProbe { name, mechanism, quantities });
                    }
                }
                "joint" => {
                    let quantities = self.quantities(listed, &[JointQuantity::Force], "a joint");
                    if let Some(joint) = self.joint_of(node, targets.joints) {
                        probes.joints.push(JointProbe { name, joint, quantities });
                    }
                }
                "rope" => {
                    let usual = [RopeQuantity::Tension, RopeQuantity::Slack];
                    let quantities = self.quantities(listed, &usual, "a rope");
                    if let Some(rope) = self.rope_of(node, targets.ropes) {
                        probes.ropes.push(RopeProbe { name, rope, quantities });
                    }
                }
                "region" => probes.regions.extend(self.region_probe(node, name, listed)),
                "plane" => {
                    let quantities = self.quantities(listed, &[PlaneQuantity::FlowRate], "a plane");
                    if let Some(plane) = node.table().and_then(|t| Passage::read_keys(self, t)) {
                        probes.planes.push(PlaneProbe { name, plane, quantities });
                    }
                }
                _ => {
                    let usual = [ContactQuantity::Gap];
                    let quantities = self.quantities(listed, &usual, "a point contact");
                    if let Some(contact) = self.contact_of(node, targets.contacts) {
                        probes.contacts.push(ContactProbe { name, contact, quantities });
                    }
                }
            }
        }
        probes
    }

    fn body_probe(&mut self, probe: &Entries, name: String, listed: &[Node]) -> Option<Probe> {
        let usual = [Quantity::Position, Quantity::Velocity];
        let quantities = self.quantities(listed, &usual, "a body");
        let body = self.target(probe.get("body")?)?;
        let point = probe.numbers("point")?;
        let may_differ = matches!(body, Target::MechanismBody { .. } | Target::Node { .. });
        if probe.given("point").is_some() && !may_differ {
            let message =
                "`point` is for bodies of mechanisms; other bodies are recorded at their origin";
            self.problems.report(probe.key_span("point"), message);
        }
        let contact_with = match probe.given("contact_with") {
            Some(node) => Some(self.target(node)?),
            None => None,
        };
        if contact_with == Some(body) {
            let message = "`contact_with` is the body itself";
            self.problems.advise(probe.value_span("contact_with"), message, "name another body");
        }
        Some(Probe { name, body, point, contact_with, quantities })
    }

    fn region_probe(&mut self, node: &Node, name: String, listed: &[Node]) -> Option<RegionProbe> {
        let usual = [RegionQuantity::Coordination, RegionQuantity::Rattlers];
        let quantities = self.quantities(listed, &usual, "a region");
        for node in listed {
            let Some(quantity) = node.text().and_then(RegionQuantity::of) else { continue };
            let word = quantity.word();
            if quantity.needs_gravity() && self.gravity == 0.0 {
                let message = format!("`{word}` needs gravity, which defines what is up");
                self.problems.advise(node.span.clone(), message, "set `gravity`, or remove it");
            }
        }
        let Some(entries) = node.table() else {
            let bounded = self.bounded;
            let boxed = |node: &&Node| {
                node.text().and_then(RegionQuantity::of).is_some_and(RegionQuantity::needs_box)
            };
            for node in listed.iter().filter(|node| !bounded && boxed(node)) {
                let message = format!(
                    "`{}` is a mean over a volume, and \"all\" has none",
                    node.text().unwrap_or_default()
                );
                let help = "give a box, region = { min = [x, y, z], max = [x, y, z] }, or a [periodic] cell in all directions";
                self.problems.advise(node.span.clone(), message, help);
            }
            return (node.text()? == "all").then_some(RegionProbe {
                name,
                region: None,
                quantities,
            });
        };
        let column = Column::read_keys(self, entries)?;
        let axes = if self.planar { 2 } else { 3 };
        if let Some(axis) = (0..axes).find(|&axis| column.min[axis] >= column.max[axis]) {
            let message = format!(
                "the region is empty along {}: min is {} m, max is {} m",
                ["x", "y", "z"][axis],
                column.min[axis],
                column.max[axis]
            );
            let help = "`max` must be greater than `min` along each axis";
            self.problems.advise(entries.value_span("max"), message, help);
        }
        Some(RegionProbe { name, region: Some(column), quantities })
    }

    /// Reports quantities that only the scheme `generalized-alpha` has.
    fn refuse_multipliers(&mut self, listed: &[Node]) {
        for node in listed.iter().filter(|node| node.text() == Some("multipliers")) {
            let message = "only the scheme `generalized-alpha` has `multipliers`";
            let help = "write `scheme = \"generalized-alpha\"` in [run], or remove them";
            self.problems.advise(node.span.clone(), message, help);
        }
    }

    /// The point contact named by a value.
    fn contact_of(&mut self, node: &Node, contacts: &[PointContact]) -> Option<usize> {
        let name = node.text()?;
        let index = contacts.iter().position(|contact| contact.name == name);
        if index.is_none() {
            let names = contacts.iter().map(|contact| contact.name.as_str());
            let help = did_you_mean(name, names, "[[point_contact]]");
            let message = format!("there is no point contact `{}`", excerpt(name));
            self.problems.advise(node.span.clone(), message, help);
        }
        index
    }

    /// The rope named by a value. `None` if there is none, or if its definition is known to be invalid.
    fn rope_of(&mut self, node: &Node, ropes: &[Rope]) -> Option<usize> {
        let name = node.text()?;
        let index = ropes.iter().position(|rope| rope.name == name);
        if index.is_none() && !self.rope_names.contains(name) {
            let help = did_you_mean(name, self.rope_names.iter().map(String::as_str), "[[rope]]");
            let message = format!("there is no rope `{}`", excerpt(name));
            self.problems.advise(node.span.clone(), message, help);
        }
        index
    }

    /// The joint between bodies named by a value. `None` if there is none, or if its definition is known to be invalid.
    fn joint_of(&mut self, node: &Node, joints: &[Option<BodyJoint>]) -> Option<usize> {
        let name = node.text()?;
        let index = joints.iter().flatten().position(|joint| joint.name == name);
        if index.is_none() && !self.joint_names.contains(name) {
            let names = self.joint_names.iter().map(String::as_str);
            let help = did_you_mean(name, names, "[[joint]]");
            let message = format!("there is no joint `{}` between bodies", excerpt(name));
            self.problems.advise(node.span.clone(), message, help);
        }
        index
    }

    /// The listed quantities, or the default ones.
    fn quantities<T: Choice + PartialEq>(
        &mut self,
        nodes: &[Node],
        usual: &[T],
        of: &str,
    ) -> Vec<T> {
        let mut quantities = Vec::new();
        for node in nodes {
            let Some(word) = node.text() else { continue };
            let Some(quantity) = T::of(word) else {
                let message = format!("{of} has no quantity `{word}`");
                self.problems.report(node.span.clone(), message);
                continue;
            };
            if quantities.contains(&quantity) {
                self.problems.report(node.span.clone(), "this quantity is listed twice");
            }
            quantities.push(quantity);
        }
        if quantities.is_empty() { usual.to_vec() } else { quantities }
    }

    /// The mechanism named by a value.
    fn mechanism_of(&mut self, node: &Node) -> Option<usize> {
        let name = node.text()?;
        let mechanisms = &self.known.mechanisms;
        let index = mechanisms.iter().position(|(known, _)| known == name);
        if index.is_none() {
            let names = mechanisms.iter().map(|(known, _)| known.as_str());
            let help = did_you_mean(name, names, "mechanism");
            let message = format!("there is no mechanism `{}`", excerpt(name));
            self.problems.advise(node.span.clone(), message, help);
        }
        index
    }
}

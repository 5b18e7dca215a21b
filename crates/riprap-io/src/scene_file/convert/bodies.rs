//! Bodies, their masses and motions, and the probes that follow them.

use std::collections::{HashMap, HashSet};

use super::super::document::excerpt;
use super::super::model::{
    Body, BodyJoint, BodyKind, Component, Grains, JointProbe, JointQuantity, Mass, Mechanism,
    MechanismProbe, MechanismQuantity, Motion, Placement, Probe, Quantity, Target, Translation,
    Vector,
};
use super::super::values::{Entries, Node};
use super::{Converter, did_you_mean};

/// What probes and contacts may name, but for grains.
pub(super) struct Known<'a> {
    bodies: HashMap<&'a str, usize>,
    /// Which bodies are free.
    free: Vec<bool>,
    /// Groups of grains; `None` where one is wrong.
    grains: &'a [Option<Grains>],
    mechanisms: &'a [Mechanism],
}

impl<'a> Known<'a> {
    pub fn new(
        bodies: &'a [Option<Body>],
        grains: &'a [Option<Grains>],
        mechanisms: &'a [Mechanism],
    ) -> Known<'a> {
        let free = |body: &Body| matches!(body.kind, BodyKind::Free { .. });
        let free = bodies.iter().flatten().map(free).collect();
        let bodies = bodies.iter().flatten().enumerate();
        let bodies = bodies.map(|(i, body)| (body.name.as_str(), i)).collect();
        Known { bodies, free, grains, mechanisms }
    }

    pub fn is_free(&self, target: Target) -> bool {
        match target {
            Target::Body(index) => self.free[index],
            Target::Grain { .. } | Target::MechanismBody { .. } => true,
        }
    }

    /// Whether the grains of a group settle before the time starts.
    pub fn settles(&self, group: usize) -> bool {
        let placement =
            |grains: &Grains| matches!(grains.placement, Placement::Rain { settle: Some(_), .. });
        self.grains.get(group).and_then(Option::as_ref).is_some_and(placement)
    }

    pub fn has_body(&self, name: &str) -> bool {
        self.bodies.contains_key(name)
    }
}

fn body_quantity(word: &str) -> Option<Quantity> {
    Some(match word {
        "position" => Quantity::Position,
        "velocity" => Quantity::Velocity,
        "rotation" => Quantity::Rotation,
        "angular_velocity" => Quantity::AngularVelocity,
        "force" => Quantity::Force,
        "torque" => Quantity::Torque,
        "contacts" => Quantity::Contacts,
        "work" => Quantity::Work,
        _ => return None,
    })
}

fn mechanism_quantity(word: &str) -> Option<MechanismQuantity> {
    Some(match word {
        "forces" => MechanismQuantity::Forces,
        "loop_forces" => MechanismQuantity::LoopForces,
        "joint_forces" => MechanismQuantity::JointForces,
        "energy" => MechanismQuantity::Energy,
        _ => return None,
    })
}

fn joint_quantity(word: &str) -> Option<JointQuantity> {
    Some(match word {
        "force" => JointQuantity::Force,
        "torque" => JointQuantity::Torque,
        "error" => JointQuantity::Error,
        _ => return None,
    })
}

/// What is followed in `series.csv`.
#[derive(Default)]
pub(super) struct Probes {
    pub bodies: Vec<Probe>,
    pub mechanisms: Vec<MechanismProbe>,
    pub joints: Vec<JointProbe>,
}

/// Directions that a body may be locked in, in the order of the model.
const DIRECTIONS: [&str; 6] = ["x", "y", "z", "rx", "ry", "rz"];

impl Converter<'_> {
    pub(super) fn bodies(&mut self, nodes: &[Node]) -> Vec<Option<Body>> {
        nodes
            .iter()
            .enumerate()
            .map(|(index, node)| self.body(node.table()?, format!("body-{}", index + 1)))
            .collect()
    }

    fn body(&mut self, body: &Entries, default_name: String) -> Option<Body> {
        let name = self.name(body, default_name);
        let shape = body.get("shape").and_then(|node| {
            let kind = self.shape_type(node);
            if (kind, body.variant) == (Some("half-space"), Some("free")) {
                let message = "a half-space has no mass, so it cannot be a free body";
                let help = "write kind = \"fixed\" or kind = \"moving\"";
                self.problems.advise(node.span.clone(), message, help);
            }
            self.shape_ref(node)
        });
        let mass = self.mass(body);
        let needs_density = body.variant == Some("free") && body.given("mass").is_none();
        let material = self.material(body, needs_density);
        let position = self.polar(body, "position");
        let rotation = self.rotation(body);
        let kind = self.kind(body);

        let (kind, mut position) = (kind?, position?);
        if let BodyKind::Moving(Motion { translation: Translation::Position(laws), .. }) = &kind {
            if body.given("position").is_some() {
                let message = "the position is given twice: here and in `motion`";
                self.problems.report(body.key_span("position"), message);
            }
            position = std::array::from_fn(|axis| laws[axis].at(0.0));
        }
        Some(Body {
            name,
            shape: shape?,
            material: material?,
            position,
            rotation: rotation?,
            mass: mass?,
            kind,
        })
    }

    fn kind(&mut self, body: &Entries) -> Option<BodyKind> {
        match body.variant? {
            "free" => {
                let velocity = self.polar(body, "velocity");
                let angular_velocity = self.axial(body, "angular_velocity");
                let force = self.polar(body, "force");
                let torque = self.axial(body, "torque");
                let mut locked = [false; 6];
                for node in body.list("locked")? {
                    let index = DIRECTIONS.iter().position(|name| Some(*name) == node.text())?;
                    if std::mem::replace(&mut locked[index], true) {
                        let message = format!("`locked` names {} twice", DIRECTIONS[index]);
                        self.problems.report(node.span.clone(), message);
                    }
                }
                Some(BodyKind::Free {
                    velocity: velocity?,
                    angular_velocity: angular_velocity?,
                    locked,
                    force: force?,
                    torque: torque?,
                })
            }
            "fixed" => Some(BodyKind::Fixed),
            _ => self.motion(body.table("motion")?).map(BodyKind::Moving),
        }
    }

    fn motion(&mut self, motion: &Entries) -> Option<Motion> {
        let keys = ["velocity", "position", "angular_velocity"];
        let given = keys.map(|key| motion.given(key).is_some());
        if given == [false; 3] {
            let message = "the motion is empty";
            let help =
                "give `velocity`, `position` or `angular_velocity`, or write kind = \"fixed\"";
            self.problems.advise(motion.span.clone(), message, help);
            return None;
        }
        if given[0] && given[1] {
            let message = "give the `velocity` or the `position`, not both";
            self.problems.report(motion.key_span("position"), message);
        }
        let [velocity, position, angular_velocity] = keys.map(|key| self.laws(motion, key));
        let translation = match (given[1], given[0]) {
            (true, _) => Translation::Position(position?),
            (false, true) => Translation::Velocity(velocity?),
            (false, false) => Translation::Velocity([const { Component::Constant(0.0) }; 3]),
        };
        Some(Motion { translation, angular_velocity: angular_velocity? })
    }

    /// Three components of a motion: finite at both ends of the run, and within the plane.
    fn laws(&mut self, motion: &Entries, key: &str) -> Option<[Component; 3]> {
        let node = motion.get(key)?;
        let mut laws = Vec::new();
        for node in node.list()? {
            let Some(law) = self.component(node, key) else { continue };
            let ends = [0.0, self.until.unwrap_or(0.0)];
            if let Some(t) = ends.into_iter().find(|t| !law.at(*t).is_finite()) {
                let message = format!("`{key}` is {} at t = {t} s", law.at(t));
                self.problems.report(node.span.clone(), message);
            }
            laws.push(law);
        }
        let laws: [Component; 3] = laws.try_into().ok()?;
        let out_of_plane = if key == "angular_velocity" { &laws[..2] } else { &laws[2..] };
        let still = out_of_plane.iter().all(|law| *law == Component::Constant(0.0));
        if self.planar && !still {
            let message = format!("the scene is planar: `{key}` must stay in the plane x–y");
            self.problems.report(node.span.clone(), message);
        }
        Some(laws)
    }

    /// The mass properties that were given; `None` outside if they are wrong, inside if there are none.
    #[expect(clippy::option_option, reason = "the outer one is failure, the inner one is data")]
    fn mass(&mut self, body: &Entries) -> Option<Option<Mass>> {
        let given = |key| body.given(key).is_some();
        for (key, needs) in [("inertia", "mass"), ("centre", "mass"), ("centre", "inertia")] {
            if given(key) && !given(needs) {
                let message = format!("`{key}` is given without `{needs}`");
                let help = "give mass and inertia together, or let both follow from the density";
                self.problems.advise(body.key_span(key), message, help);
                return None;
            }
        }
        if !given("mass") {
            return Some(None);
        }
        let inertia = match body.given("inertia") {
            Some(node) => Some(self.inertia(node, Inertias::Solid)?),
            None => None,
        };
        let centre = match given("centre") {
            true => Some(self.polar(body, "centre")?),
            false => None,
        };
        Some(Some(Mass { mass: body.number("mass")?, inertia, centre }))
    }

    /// An inertia as a matrix, from three principal values or from nine.
    pub(super) fn inertia(&mut self, node: &Node, which: Inertias) -> Option<[Vector; 3]> {
        let rows = node.list()?;
        let mut matrix = [[0.0; 3]; 3];
        let n_numbers = rows.iter().filter(|row| row.number().is_some()).count();
        let n_lists = rows.iter().filter(|row| row.list().is_some()).count();
        if n_numbers > 0 && n_lists > 0 {
            let message = "an inertia is three numbers or three lists of three";
            self.problems.report(node.span.clone(), message);
            return None;
        }
        for (axis, row) in rows.iter().enumerate() {
            match row.number() {
                Some(value) => matrix[axis][axis] = value,
                None => matrix[axis] = row.numbers()?,
            }
        }
        if let Err(message) = check_inertia(&matrix, which) {
            self.problems.report(node.span.clone(), message);
            return None;
        }
        Some(matrix)
    }

    pub(super) fn probes(
        &mut self,
        nodes: &[Node],
        known: &Known,
        joints: &[Option<BodyJoint>],
    ) -> Probes {
        let mut probes = Probes::default();
        let mut names = HashSet::new();
        for probe in nodes.iter().filter_map(Node::table) {
            let given = ["body", "mechanism", "joint"].map(|key| (key, probe.given(key)));
            let mut given = given.into_iter().filter_map(|(key, node)| Some((key, node?)));
            let Some((key, node)) = given.next() else {
                let message =
                    "this probe follows nothing: `body`, `mechanism` or `joint` is missing";
                self.problems.report(probe.span.clone(), message);
                continue;
            };
            if let Some((other, _)) = given.next() {
                let message = format!("a probe follows a `{key}` or a `{other}`, not both");
                self.problems.advise(probe.key_span(other), message, "write two probes");
                continue;
            }
            let own = node.text().map(|name| name.replace('/', "."));
            let name = probe.text("name").map(str::to_owned).or(own).unwrap_or_default();
            if !names.insert(name.clone()) && !name.is_empty() {
                let message = format!("two probes are called `{name}`");
                let key = if probe.given("name").is_some() { "name" } else { key };
                self.problems.advise(probe.value_span(key), message, "give them different names");
            }
            let listed = probe.list("quantities").unwrap_or_default();
            if key != "body" && probe.given("point").is_some() {
                let message = "`point` belongs to a probe of a body";
                self.problems.report(probe.key_span("point"), message);
            }
            match key {
                "body" => probes.bodies.extend(self.body_probe(probe, name, listed, known)),
                "mechanism" => {
                    let quantities = self.quantities(listed, mechanism_quantity, "a mechanism");
                    let quantities = match quantities.is_empty() {
                        true => vec![MechanismQuantity::Forces],
                        false => quantities,
                    };
                    if let Some(mechanism) = self.mechanism_of(node, known) {
                        probes.mechanisms.push(MechanismProbe { name, mechanism, quantities });
                    }
                }
                _ => {
                    let quantities = self.quantities(listed, joint_quantity, "a joint");
                    let quantities = match quantities.is_empty() {
                        true => vec![JointQuantity::Force],
                        false => quantities,
                    };
                    if let Some(joint) = self.joint_of(node, joints) {
                        probes.joints.push(JointProbe { name, joint, quantities });
                    }
                }
            }
        }
        probes
    }

    fn body_probe(
        &mut self,
        probe: &Entries,
        name: String,
        listed: &[Node],
        known: &Known,
    ) -> Option<Probe> {
        let quantities = self.quantities(listed, body_quantity, "a body");
        let quantities = match quantities.is_empty() {
            true => vec![Quantity::Position, Quantity::Velocity],
            false => quantities,
        };
        let body = self.target(probe.get("body")?, known)?;
        let point = self.polar(probe, "point")?;
        if probe.given("point").is_some() && !matches!(body, Target::MechanismBody { .. }) {
            let message = "`point` is for bodies of mechanisms; this one is followed at its origin";
            self.problems.report(probe.key_span("point"), message);
        }
        Some(Probe { name, body, point, quantities })
    }

    /// The joint between bodies that a value names. `None` if there is none, or if it is known to be wrong itself.
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

    fn quantities<T: PartialEq>(
        &mut self,
        nodes: &[Node],
        quantity: fn(&str) -> Option<T>,
        of: &str,
    ) -> Vec<T> {
        let mut quantities = Vec::new();
        for node in nodes {
            let Some(word) = node.text() else { continue };
            let Some(quantity) = quantity(word) else {
                let message = format!("{of} has no quantity `{word}`");
                self.problems.report(node.span.clone(), message);
                continue;
            };
            if quantities.contains(&quantity) {
                self.problems.report(node.span.clone(), "this quantity is listed twice");
            }
            quantities.push(quantity);
        }
        quantities
    }

    /// The mechanism that a value names.
    fn mechanism_of(&mut self, node: &Node, known: &Known) -> Option<usize> {
        let name = node.text()?;
        let index = known.mechanisms.iter().position(|mechanism| mechanism.name == name);
        if index.is_none() {
            let names = known.mechanisms.iter().map(|mechanism| mechanism.name.as_str());
            let help = did_you_mean(name, names, "mechanism");
            let message = format!("there is no mechanism `{}`", excerpt(name));
            self.problems.advise(node.span.clone(), message, help);
        }
        index
    }

    /// The body or grain that a value names. `None` if there is none, or if it is known to be wrong itself.
    pub(super) fn target(&mut self, node: &Node, known: &Known) -> Option<Target> {
        let Known { bodies, mechanisms, .. } = known;
        let name = node.text()?;
        if let Some((mechanism, body)) = name.split_once('/')
            && let Some(mechanism) = mechanisms.iter().position(|known| known.name == mechanism)
            && let Some(body) = mechanisms[mechanism].bodies.iter().position(|b| b.name == body)
        {
            return Some(Target::MechanismBody { mechanism, body });
        }
        if let Some(index) = bodies.get(name) {
            return Some(Target::Body(*index));
        }
        if let Some((group, index)) = self.grain(name) {
            return Some(Target::Grain { group, index });
        }
        // A body that was reported for something else has its name taken nevertheless.
        let is_group = self.groups.iter().any(|(group, _)| group == name);
        if self.names.contains_key(name) && !is_group {
            return None;
        }
        let group = name.rsplit_once('-').and_then(|(group, number)| {
            number.parse::<u64>().ok()?;
            self.groups.iter().find(|(name, _)| name == group)
        });
        let help = match group {
            _ if is_group => {
                format!("it is a group: for one of its grains write \"{name}-1\", say")
            }
            Some((group, Some(count))) => {
                format!("`{group}` has {count} grains, from {group}-1 on")
            }
            _ => self.mechanism_target_help(name, mechanisms).unwrap_or_else(|| {
                did_you_mean(name, self.names.keys().map(String::as_str), "body")
            }),
        };
        let message = format!("there is no body `{}`", excerpt(name));
        self.problems.advise(node.span.clone(), message, help);
        None
    }

    /// The group and index of the grain that has this name.
    pub(super) fn grain(&self, name: &str) -> Option<(usize, usize)> {
        let (group, number) = name.rsplit_once('-')?;
        // `+1` and `01` are numbers, but no grain is called so.
        if number.starts_with(['+', '0']) {
            return None;
        }
        let number: u64 = number.parse().ok()?;
        let found = |(name, count): &(String, Option<u64>)| {
            name == group && count.is_none_or(|count| number <= count)
        };
        let group = self.groups.iter().position(found)?;
        Some((group, usize::try_from(number - 1).ok()?))
    }
}

/// Which inertias are taken.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Inertias {
    /// Those of bodies with a volume.
    Solid,
    /// Also those of rods and points, which vanish about some axes.
    AlsoFlat,
}

/// Whether a matrix is the inertia of some body: symmetric, positive, and no principal value larger than the
/// sum of the other two.
pub(super) fn check_inertia(j: &[Vector; 3], which: Inertias) -> Result<(), &'static str> {
    let scale = j.iter().flatten().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    if scale == 0.0 && which == Inertias::AlsoFlat {
        return Ok(());
    }
    let j = j.map(|row| row.map(|x| x / scale)); // 0/0 is caught by the comparisons below
    let asymmetry = (j[0][1] - j[1][0]).abs().max((j[0][2] - j[2][0]).abs());
    if asymmetry.max((j[1][2] - j[2][1]).abs()) > 1e-9 {
        return Err("the inertia is not symmetric");
    }
    let minors = |m: &[Vector; 3]| {
        let two = |a: usize, b: usize| m[a][a] * m[b][b] - m[a][b] * m[b][a];
        let three = m[0][0] * two(1, 2) - m[0][1] * (m[1][0] * m[2][2] - m[1][2] * m[2][0])
            + m[0][2] * (m[1][0] * m[2][1] - m[1][1] * m[2][0]);
        [m[0][0], m[1][1], m[2][2], two(0, 1), two(0, 2), two(1, 2), three]
    };
    let positive = |minor: &f64| match which {
        Inertias::Solid => *minor > 0.0,
        Inertias::AlsoFlat => *minor > -1e-9,
    };
    if !minors(&j).iter().all(positive) {
        return Err("the inertia is not positive: no body has it");
    }
    // The second moments of mass, ½ tr(J) 1 - J, are positive or zero exactly if the triangle inequality holds.
    let half_trace = 0.5 * (j[0][0] + j[1][1] + j[2][2]);
    let mut moments = j.map(|row| row.map(|x| -x));
    for (axis, row) in moments.iter_mut().enumerate() {
        row[axis] += half_trace;
    }
    if !minors(&moments).iter().all(|minor| *minor > -1e-9) {
        return Err(
            "no body has this inertia: a principal value is larger than the sum of the other two",
        );
    }
    Ok(())
}

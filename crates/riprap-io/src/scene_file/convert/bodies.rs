//! Bodies, their masses and motions, and the names by which others refer to them.

use std::collections::HashMap;

use super::super::document::excerpt;
use super::super::keys::ReadKeys;
use super::super::model::{
    Body, BodyKind, Component, Grains, Mass, Mechanism, Motion, Placement, Target, Translation,
    Vector,
};
use super::super::values::{Entries, Item, Node};
use super::{Converter, did_you_mean};

/// What probes and contacts may refer to, except grains.
#[derive(Default)]
pub(super) struct Known {
    bodies: HashMap<String, usize>,
    /// Which bodies are free.
    free: Vec<bool>,
    /// Which groups of grains settle before t = 0; invalid groups are not listed.
    settling: Vec<bool>,
    /// The names of the mechanisms and of their bodies.
    pub mechanisms: Vec<(String, Vec<String>)>,
    /// The names of the flexible bodies and the numbers of their nodes, `None` if invalid.
    pub flexible: Vec<(String, Option<u64>)>,
}

impl Known {
    pub fn new(
        bodies: &[Option<Body>],
        grains: &[Option<Grains>],
        mechanisms: &[Mechanism],
    ) -> Known {
        let free =
            |body: &Body| matches!(body.kind, BodyKind::Free { .. } | BodyKind::Servo { .. });
        let settles =
            |grains: &Grains| matches!(grains.placement, Placement::Rain { settle: Some(_), .. });
        let names = |mechanism: &Mechanism| {
            let bodies = mechanism.bodies.iter().map(|body| body.name.clone()).collect();
            (mechanism.name.clone(), bodies)
        };
        let named = bodies.iter().flatten().enumerate();
        Known {
            bodies: named.map(|(index, body)| (body.name.clone(), index)).collect(),
            free: bodies.iter().flatten().map(free).collect(),
            settling: grains.iter().map(|group| group.as_ref().is_some_and(settles)).collect(),
            mechanisms: mechanisms.iter().map(names).collect(),
            flexible: Vec::new(),
        }
    }

    pub fn is_free(&self, target: Target) -> bool {
        match target {
            Target::Body(index) => self.free[index],
            Target::Grain { .. } | Target::MechanismBody { .. } | Target::Node { .. } => true,
        }
    }

    /// Whether the grains of a group settle before t = 0.
    pub fn settles(&self, group: usize) -> bool {
        self.settling.get(group).is_some_and(|settles| *settles)
    }

    pub fn has_body(&self, name: &str) -> bool {
        self.bodies.contains_key(name)
    }
}

impl Converter<'_> {
    pub(super) fn bodies(&mut self, nodes: &[Node]) -> Vec<Option<Body>> {
        nodes
            .iter()
            .enumerate()
            .map(|(index, node)| self.body(node.table()?, format!("body-{}", index + 1)))
            .collect()
    }

    fn body(&mut self, entries: &Entries, default_name: String) -> Option<Body> {
        self.own_name = self.name(entries, default_name);
        let mut body = Body::read_keys(self, entries)?;
        if let BodyKind::Moving {
            motion: Motion { translation: Translation::Position(laws), .. },
        } = &body.kind
        {
            if entries.given("position").is_some() {
                let message = "the position is given twice: here and in `motion`";
                self.problems.report(entries.key_span("position"), message);
            }
            body.position = std::array::from_fn(|axis| laws[axis].at(0.0));
        }
        Some(body)
    }

    /// A free body must be bounded.
    pub(in super::super) fn check_half_space(&mut self, body: &Entries) {
        let Some(node) = body.get("shape") else { return };
        let moves = matches!(body.variant, Some("free" | "servo"));
        if self.shape_type(node) == Some("half-space") && moves {
            let message = "a half-space has no mass, so it cannot be a free body";
            let help = "write kind = \"fixed\" or kind = \"moving\"";
            self.problems.advise(node.span.clone(), message, help);
        }
    }

    /// The motion of the origin of a moving body.
    pub(in super::super) fn translation(&mut self, motion: &Entries) -> Option<Translation> {
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
        let [velocity, position] = ["velocity", "position"].map(|key| self.laws(motion, key));
        match (given[1], given[0]) {
            (true, _) => position.map(Translation::Position),
            (false, true) => velocity.map(Translation::Velocity),
            (false, false) => Some(Translation::Velocity([const { Component::Constant(0.0) }; 3])),
        }
    }

    /// Three components of a motion: finite at the start and end of the run and, in planar scenes, in the plane.
    pub(in super::super) fn laws(&mut self, motion: &Entries, key: &str) -> Option<[Component; 3]> {
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
            let message = format!("the scene is planar: `{key}` must stay in the x–y plane");
            self.problems.report(node.span.clone(), message);
        }
        Some(laws)
    }

    /// The explicit mass properties; the outer `None` if they are invalid, the inner one if there are none. A centre without
    /// inertia is rejected if there are shapes to compute the inertia from.
    #[expect(clippy::option_option, reason = "the outer one is failure, the inner one is data")]
    pub(in super::super) fn mass(
        &mut self,
        body: &Entries,
        which: Inertias,
        has_shapes: bool,
    ) -> Option<Option<Mass>> {
        let given = |key| body.given(key).is_some();
        let needs = [("inertia", "mass"), ("centre", "mass"), ("centre", "inertia")];
        let needs = if has_shapes { &needs[..] } else { &needs[..2] };
        if let Some((key, needs)) = needs.iter().find(|(key, needs)| given(key) && !given(needs)) {
            let message = format!("`{key}` is given without `{needs}`");
            let help = "give both mass and inertia, or neither to compute them from the density";
            self.problems.advise(body.key_span(key), message, help);
            return None;
        }
        if !given("mass") {
            return Some(None);
        }
        let inertia = match body.given("inertia") {
            Some(node) => Some(self.inertia(node, which)?),
            None => None,
        };
        let centre = match given("centre") {
            true => Some(body.numbers("centre")?),
            false => None,
        };
        Some(Some(Mass { mass: body.number("mass")?, inertia, centre }))
    }

    /// An inertia matrix, from one value for all axes, three principal values or nine elements.
    fn inertia(&mut self, node: &Node, which: Inertias) -> Option<[Vector; 3]> {
        let same =
            node.number().map(|value| vec![Node { item: Item::Number(value), ..node.clone() }; 3]);
        let rows = same.as_deref().or(node.list())?;
        let mut matrix = [[0.0; 3]; 3];
        let n_numbers = rows.iter().filter(|row| row.number().is_some()).count();
        let n_lists = rows.iter().filter(|row| row.list().is_some()).count();
        if n_numbers > 0 && n_lists > 0 {
            let message = "an inertia is three numbers or three lists of three numbers";
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

    /// The body or grain named by a value. `None` if there is none, or if its definition is known to be invalid.
    pub(super) fn target(&mut self, node: &Node) -> Option<Target> {
        if let Some(found) = self.node(node) {
            return found;
        }
        let Known { bodies, mechanisms, .. } = &self.known;
        let name = node.text()?;
        if let Some((mechanism, body)) = name.split_once('/')
            && let Some(mechanism) = mechanisms.iter().position(|(known, _)| known == mechanism)
            && let Some(body) = mechanisms[mechanism].1.iter().position(|known| known == body)
        {
            return Some(Target::MechanismBody { mechanism, body });
        }
        if let Some(index) = bodies.get(name) {
            return Some(Target::Body(*index));
        }
        if let Some((group, index)) = self.grain(name) {
            return Some(Target::Grain { group, index });
        }
        // The name of an invalid body is still taken.
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
                format!("it is a group; for one of its grains, write \"{name}-1\", for example")
            }
            Some((group, Some(count))) => {
                format!("the grains of `{group}` are {group}-1 to {group}-{count}")
            }
            _ => self.mechanism_target_help(name).unwrap_or_else(|| {
                did_you_mean(name, self.names.keys().map(String::as_str), "body")
            }),
        };
        let message = format!("there is no body `{}`", excerpt(name));
        self.problems.advise(node.span.clone(), message, help);
        None
    }

    /// Advice on a body of a mechanism that a probe refers to as `mechanism/body`.
    fn mechanism_target_help(&self, name: &str) -> Option<String> {
        let mechanisms = &self.known.mechanisms;
        let owner = mechanisms.iter().find(|(_, bodies)| bodies.iter().any(|body| body == name));
        if let Some((mechanism, _)) = owner {
            return Some(format!("write \"{mechanism}/{name}\": the mechanism and its body"));
        }
        let (mechanism, body) = name.split_once('/')?;
        match mechanisms.iter().find(|(known, _)| known == mechanism) {
            Some((_, bodies)) => {
                Some(did_you_mean(body, bodies.iter().map(String::as_str), "body"))
            }
            None => {
                let names = mechanisms.iter().map(|(known, _)| known.as_str());
                Some(did_you_mean(mechanism, names, "mechanism"))
            }
        }
    }

    /// The group and index of the grain with this name.
    pub(super) fn grain(&self, name: &str) -> Option<(usize, usize)> {
        let (group, number) = name.rsplit_once('-')?;
        // `+1` and `01` are numbers, but not names of grains.
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

/// Which inertias are accepted.
#[derive(Clone, Copy, PartialEq)]
pub(in super::super) enum Inertias {
    /// Those of bodies with a volume.
    Solid,
    /// Also those of rods and points, which vanish about some axes.
    AlsoFlat,
}

/// Whether a matrix is a physical inertia: symmetric, positive, and no principal value larger than the sum of the
/// other two.
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
        return Err("the inertia is not positive, so it is not physical");
    }
    // The second moments of mass, ½ tr(J) 1 - J, are nonnegative if and only if the triangle inequality holds.
    let half_trace = 0.5 * (j[0][0] + j[1][1] + j[2][2]);
    let mut moments = j.map(|row| row.map(|x| -x));
    for (axis, row) in moments.iter_mut().enumerate() {
        row[axis] += half_trace;
    }
    if !minors(&moments).iter().all(|minor| *minor > -1e-9) {
        return Err(
            "the inertia is not physical: a principal value is larger than the sum of the other two",
        );
    }
    Ok(())
}

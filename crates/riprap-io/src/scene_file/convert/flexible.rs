//! Flexible bodies: checks that involve several keys.

use std::ops::Range;

use riprap::flexible::Support;

use super::super::document::excerpt;
use super::super::keys::ReadKeys;
use super::super::model::{Flexible, FlexibleKind, Section, Target, Vector};
use super::super::values::{Entries, Node};
use super::Converter;

/// The largest number of nodes of a flexible body.
const MAX_NODES: u64 = 100_000;

impl Converter<'_> {
    /// The flexible bodies, each with its location; `None` for invalid ones.
    pub(super) fn flexible(&mut self, nodes: &[Node]) -> Vec<(Option<Flexible>, Range<usize>)> {
        let mut bodies = Vec::new();
        for (index, entries) in nodes.iter().filter_map(Node::table).enumerate() {
            self.own_name = self.name(entries, format!("flexible-{}", index + 1));
            let body = Flexible::read_keys(self, entries);
            let valid = body.filter(|body| self.check_flexible(entries, body));
            bodies.push((valid, entries.span.clone()));
        }
        bodies
    }

    /// Names and numbers of nodes of the flexible bodies; the number is `None` for an invalid one.
    pub(super) fn flexible_names(
        &self,
        nodes: &[Node],
        bodies: &[Option<Flexible>],
    ) -> Vec<(String, Option<u64>)> {
        let tables = nodes.iter().filter_map(Node::table).zip(bodies).enumerate();
        let name = |(index, (entries, body)): (usize, (&Entries, &Option<Flexible>))| match body {
            Some(body) => (body.name.clone(), Some(body.n_nodes())),
            None => {
                let given = entries.text("name").map(str::to_owned);
                (given.unwrap_or_else(|| format!("flexible-{}", index + 1)), None)
            }
        };
        tables.map(name).collect()
    }

    fn check_flexible(&mut self, entries: &Entries, body: &Flexible) -> bool {
        let mut valid = true;
        let nodes = body.n_nodes();
        if nodes > MAX_NODES {
            let message = format!("the body has {nodes} nodes; at most {MAX_NODES} are possible");
            self.problems.report(entries.value_span("elements"), message);
            valid = false;
        }
        for (k, pair) in body.points.windows(2).enumerate() {
            if pair[0] == pair[1] {
                let message = format!("points {} and {} are equal", k + 1, k + 2);
                self.problems.report(entries.value_span("points"), message);
                valid = false;
                break;
            }
        }
        if self.planar && body.points.iter().any(|p| p[2] != 0.0) {
            let message = "the scene is planar: `points` must lie in the x–y plane";
            self.problems.report(entries.value_span("points"), message);
            valid = false;
        }
        for shape in &body.shapes {
            let named = shape.nodes.iter().flatten().copied().max().map(u64::from);
            if let Some(node) = named.filter(|node| *node >= nodes) {
                let message = format!("there is no node {node}: the nodes are 0 to {}", nodes - 1);
                self.problems.report(entries.value_span("shape"), message);
                valid = false;
            }
        }
        let moves = body.velocity != [0.0; 3];
        let turns = match &body.kind {
            FlexibleKind::Beam { angular_velocity, .. } => *angular_velocity != [0.0; 3],
            FlexibleKind::Bar { .. } => false,
        };
        let stops = body.start != Support::Free && moves
            || body.start == Support::Clamped && turns
            || body.end != Support::Free && (moves || turns);
        if stops {
            let key = if moves { "velocity" } else { "angular_velocity" };
            let message = format!("`{key}` contradicts the supports, which are at rest");
            let help = format!("remove `{key}`, or the supports `start` and `end`");
            self.problems.advise(entries.value_span(key), message, help);
            valid = false;
        }
        if let FlexibleKind::Bar { .. } = body.kind {
            valid &= self.check_bar(entries, body);
        }
        valid
    }

    /// A bar is straight and moves along its axis.
    fn check_bar(&mut self, entries: &Entries, body: &Flexible) -> bool {
        let difference = |a: Vector, b: Vector| [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
        let dot = |a: Vector, b: Vector| a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        let (first, last) = (body.points[0], body.points[body.points.len() - 1]);
        let axis = difference(first, last);
        let off = |v: Vector| {
            let share = dot(v, axis) / dot(axis, axis);
            let rest = difference(axis.map(|a| a * share), v);
            dot(rest, rest).sqrt()
        };
        let length = dot(axis, axis).sqrt();
        let straight = !body.points.iter().any(|p| off(difference(first, *p)) > 1e-9 * length);
        if !straight {
            let message = "the points of a bar must lie on a straight line";
            self.problems.advise(entries.value_span("points"), message, "write type = \"beam\"");
        }
        let speed = dot(body.velocity, body.velocity).sqrt();
        let off_axis = off(body.velocity);
        // A direction that is not finite is reported elsewhere.
        let along = off_axis <= 1e-9 * speed || off_axis.is_nan();
        if !along {
            let message = "the velocity of a bar must be along its axis";
            self.problems.advise(entries.value_span("velocity"), message, "write type = \"beam\"");
        }
        straight && along
    }

    /// A cross-section whose numbers fit together.
    pub(in super::super) fn section(&mut self, entries: &Entries) -> Option<Section> {
        let section = Section::read_keys(self, entries)?;
        if let Section::Tube { outer, inner } = &section
            && inner >= outer
        {
            let message = format!("`inner` ({inner} m) must be less than `outer` ({outer} m)");
            self.problems.report(entries.value_span("inner"), message);
            return None;
        }
        Some(section)
    }

    /// The node named by `body/number`; the outer `None` if the name is of something else, the inner one if it is wrong, which
    /// has been reported.
    #[expect(clippy::option_option, reason = "the outer one is failure, the inner one is data")]
    pub(super) fn node(&mut self, node: &Node) -> Option<Option<Target>> {
        let name = node.text()?;
        let (body, number) = name.split_once('/')?;
        let index = self.known.flexible.iter().position(|(known, _)| known == body)?;
        let Some(count) = self.known.flexible[index].1 else { return Some(None) };
        let plain = number.parse::<u64>().ok().filter(|n| n.to_string() == number);
        if let Some(number) = plain.filter(|number| *number < count) {
            return Some(Some(Target::Node { flexible: index, node: number as usize }));
        }
        let message = format!("there is no body `{}`", excerpt(name));
        let help = format!("the nodes of `{body}` are {body}/0 to {body}/{}", count - 1);
        self.problems.advise(node.span.clone(), message, help);
        Some(None)
    }
}

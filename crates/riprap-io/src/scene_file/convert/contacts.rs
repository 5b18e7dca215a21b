//! User-defined contacts between points and planes, and pairs that do not collide.

use std::collections::HashSet;

use super::super::keys::ReadKeys;
use super::super::model::{PointContact, Target, Vector};
use super::super::values::{Entries, Node};
use super::{Converter, Placed};

/// Name of the fixed world.
const WORLD: &str = "world";

impl Converter<'_> {
    pub(super) fn point_contacts(&mut self, nodes: &[Node]) -> Placed<PointContact> {
        let mut names = HashSet::new();
        let tables = nodes.iter().filter_map(Node::table).enumerate();
        let contacts = tables.filter_map(|(index, entries)| {
            self.own_name(entries, "point contacts", "point_contact", index, &mut names);
            let contact = PointContact::read_keys(self, entries)?;
            if contact.point.body == contact.plane.body {
                let message = "the point and the plane are on the same body";
                self.problems.report(entries.value_span("plane"), message);
                return None;
            }
            Some((contact, entries.span.clone()))
        });
        contacts.unzip()
    }

    /// The name of a table, unique among tables of its kind. It becomes the name of the table that is read next.
    pub(super) fn own_name(
        &mut self,
        entries: &Entries,
        what: &str,
        prefix: &str,
        index: usize,
        names: &mut HashSet<String>,
    ) {
        let name = match entries.get("name") {
            None => format!("{prefix}-{}", index + 1),
            Some(node) => node.text().unwrap_or_default().to_owned(),
        };
        if !names.insert(name.clone()) && !name.is_empty() {
            let message = format!("two {what} are named `{name}`");
            self.problems.advise(entries.value_span("name"), message, "give them different names");
        }
        self.own_name = name;
    }

    /// Checks that the size effect of a strength is given completely.
    pub(in super::super) fn size_of_strength(
        &mut self,
        fragmentation: &Entries,
        weibull: bool,
        reference_size: bool,
    ) {
        if weibull && !reference_size {
            let message = "`weibull` needs `reference_size`, the size of the stones whose `strength` is given";
            let help = "add for example reference_size = \"30 mm\"";
            self.problems.advise(fragmentation.value_span("weibull"), message.to_owned(), help);
        }
        if reference_size && !weibull {
            let message = "`reference_size` has no effect without `weibull`";
            self.problems.report(fragmentation.value_span("reference_size"), message);
        }
    }

    /// The unit normal of a plane; in planar scenes it lies in the x–y plane.
    pub(in super::super) fn normal(&mut self, plane: &Entries, key: &str) -> Option<Vector> {
        let normal = self.direction(plane.get(key)?, key)?;
        if self.planar && normal[2] != 0.0 {
            let message = format!("the scene is planar: `{key}` must lie in the x–y plane");
            self.problems.report(plane.value_span(key), message);
        }
        Some(normal)
    }

    /// The body named by a value, or `None` for the world.
    #[expect(clippy::option_option, reason = "the outer one is failure, the inner one is data")]
    pub(in super::super) fn target_or_world(&mut self, node: &Node) -> Option<Option<Target>> {
        match node.text()? {
            WORLD if !self.known.has_body(WORLD) => Some(None),
            _ => self.target(node).map(Some),
        }
    }

    pub(super) fn ignored_contacts(&mut self, nodes: &[Node]) -> Vec<[Target; 2]> {
        let mut ignored = Vec::new();
        for entries in nodes.iter().filter_map(Node::table) {
            let Some(names) = entries.list("between") else { continue };
            let bodies: Vec<Target> = names.iter().filter_map(|node| self.target(node)).collect();
            let [a, b] = bodies[..] else { continue };
            if a == b {
                let message = "a body never collides with itself";
                self.problems.report(entries.value_span("between"), message);
            }
            ignored.push([a, b]);
        }
        ignored
    }
}

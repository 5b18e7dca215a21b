//! Contacts that the user chose: points against planes, and pairs that do not touch.

use std::collections::HashSet;
use std::ops::Range;

use super::super::model::{NormalLaw, Place, PointContact, Target};
use super::super::values::{Entries, Node};
use super::Converter;
use super::bodies::Known;

/// Name of what does not move.
const WORLD: &str = "world";

impl Converter<'_> {
    pub(super) fn point_contacts(
        &mut self,
        nodes: &[Node],
        known: &Known,
    ) -> (Vec<PointContact>, Vec<Range<usize>>) {
        let mut names = HashSet::new();
        let tables = nodes.iter().filter_map(Node::table).enumerate();
        let contacts = tables.filter_map(|(index, entries)| {
            let name = match entries.get("name") {
                None => format!("point_contact-{}", index + 1),
                Some(node) => node.text().unwrap_or_default().to_owned(),
            };
            if !names.insert(name.clone()) && !name.is_empty() {
                let message = format!("two point contacts are called `{name}`");
                let help = "give them different names";
                self.problems.advise(entries.value_span("name"), message, help);
            }
            Some((self.point_contact(entries, name, known)?, entries.span.clone()))
        });
        contacts.unzip()
    }

    fn point_contact(
        &mut self,
        entries: &Entries,
        name: String,
        known: &Known,
    ) -> Option<PointContact> {
        let point = entries.table("point").and_then(|point| self.place(point, known));
        let plane = entries.table("plane").and_then(|plane| self.place(plane, known));
        let normal = entries.table("plane").and_then(|plane| {
            let normal = self.direction(plane.get("normal")?, "normal")?;
            if self.planar && normal[2] != 0.0 {
                let message = "the scene is planar: `normal` must lie in the plane x–y";
                self.problems.report(plane.value_span("normal"), message);
            }
            Some(normal)
        });
        let (friction, restitution) = (entries.number("friction")?, entries.number("restitution")?);
        let law = self.normal_law(entries, restitution, "point contact");
        let (point, plane) = (point?, plane?);
        if point.body == plane.body {
            let message = "the point and the plane are on the same body";
            self.problems.report(entries.value_span("plane"), message);
            return None;
        }
        Some(PointContact { name, point, plane, normal: normal?, friction, restitution, law })
    }

    fn place(&mut self, entries: &Entries, known: &Known) -> Option<Place> {
        let position = self.polar(entries, "position");
        let body = self.target_or_world(entries.get("body")?, known)?;
        Some(Place { body, position: position? })
    }

    /// The body that a value names, or else the world, which is `None`.
    pub(super) fn target_or_world(&mut self, node: &Node, known: &Known) -> Option<Option<Target>> {
        match node.text()? {
            WORLD if !known.has_body(WORLD) => Some(None),
            _ => self.target(node, known).map(Some),
        }
    }

    pub(super) fn ignored_contacts(&mut self, nodes: &[Node], known: &Known) -> Vec<[Target; 2]> {
        let mut ignored = Vec::new();
        for entries in nodes.iter().filter_map(Node::table) {
            let Some(names) = entries.list("between") else { continue };
            let bodies: Vec<Target> =
                names.iter().filter_map(|node| self.target(node, known)).collect();
            let [a, b] = bodies[..] else { continue };
            if a == b {
                let message = "a body does not touch itself";
                self.problems.report(entries.value_span("between"), message);
            }
            ignored.push([a, b]);
        }
        ignored
    }

    /// The law along the normal that is given, or that follows from the restitution.
    pub(super) fn normal_law(
        &mut self,
        entries: &Entries,
        restitution: f64,
        what: &str,
    ) -> NormalLaw {
        let law = match entries.text("law") {
            Some("moreau-newton") => NormalLaw::MoreauNewton,
            Some(_) => NormalLaw::QuasiShock,
            None => NormalLaw::for_restitution(restitution),
        };
        if law == NormalLaw::QuasiShock && restitution > 0.0 {
            let message =
                format!("\"quasi-shock\" has no restitution, but this {what} has {restitution}");
            let help = "write restitution = 0, or law = \"moreau-newton\"";
            self.problems.advise(entries.value_span("law"), message, help);
        }
        law
    }
}

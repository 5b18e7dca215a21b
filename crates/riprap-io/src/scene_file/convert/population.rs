//! Bodies that are inserted and removed during a run.

use super::super::keys::ReadKeys;
use super::super::model::{Column, Insert, Pace, Remove, Where};
use super::super::number;
use super::super::values::{Entries, Node};
use super::{Converter, Placed};

impl Converter<'_> {
    pub(super) fn insertions(&mut self, nodes: &[Node]) -> Placed<Insert> {
        let (mut insertions, mut spans) = (Vec::new(), Vec::new());
        for (index, entries) in nodes.iter().filter_map(Node::table).enumerate() {
            self.own_name = self.name(entries, format!("insert-{}", index + 1));
            let Some(insertion) = Insert::read_keys(self, entries) else { continue };
            self.check_insertion(&insertion, entries);
            insertions.push(insertion);
            spans.push(entries.span.clone());
        }
        (insertions, spans)
    }

    fn check_insertion(&mut self, insertion: &Insert, entries: &Entries) {
        self.check_box(&insertion.column, entries.table("box"), true);
        let prefix = format!("{}-", insertion.name);
        let number_of = |name: &str| {
            name.strip_prefix(&prefix)
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        };
        let clash = self.names.keys().find(|name| number_of(name)).cloned();
        let group = self.groups.iter().map(|(name, _)| name).find(|name| number_of(name)).cloned();
        if let Some(name) = clash.or(group) {
            let message = format!("`{name}` could also be the name of a body of this insertion");
            let help = "rename the insertion";
            self.problems.advise(entries.value_span("name"), message, help);
        }
        if let Pace::At(_) = insertion.pace {
            if insertion.count.is_none() {
                let message = "`at` needs `count`, the number of bodies";
                self.problems.report(entries.key_span("at"), message);
            }
            for key in ["start", "until"] {
                if entries.given(key).is_some() {
                    let message = format!("`at` and `{key}` are mutually exclusive");
                    self.problems.report(entries.key_span(key), message);
                }
            }
        }
        let start = insertion.start;
        if let Some(until) = insertion.until.filter(|until| *until <= start) {
            let (until, start) = (number(until), number(start));
            let message = format!("`until` ({until} s) is not after `start` ({start} s)");
            self.problems.report(entries.value_span("until"), message);
        }
    }

    /// Reports a box without volume; a flat one is allowed if `flat`.
    fn check_box(&mut self, column: &Column, entries: Option<&Entries>, flat: bool) {
        let empty = |axis: &usize| {
            let (min, max) = (column.min[*axis], column.max[*axis]);
            min > max || (min == max && !flat && !(self.planar && *axis == 2))
        };
        if let (Some(axis), Some(entries)) = ((0..3).find(empty), entries) {
            let message = format!(
                "the box is empty along {}: min is {} m, max is {} m",
                ["x", "y", "z"][axis],
                number(column.min[axis]),
                number(column.max[axis])
            );
            self.problems.report(entries.value_span("max"), message);
        }
    }

    pub(in super::super) fn pace(&mut self, entries: &Entries) -> Option<Pace> {
        let key = self.one_of(entries, ["rate", "mass_rate", "at"], "when its bodies come")?;
        let value = entries.number(key)?;
        Some(match key {
            "rate" => Pace::Rate(value),
            "mass_rate" => Pace::MassRate(value),
            _ => Pace::At(value),
        })
    }

    pub(in super::super) fn place_of_removal(&mut self, entries: &Entries) -> Option<Where> {
        let keys = ["below", "outside", "at"];
        Some(match self.one_of(entries, keys, "which bodies are removed")? {
            "below" => Where::Below(entries.number("below")?),
            "outside" => {
                let table = entries.table("outside")?;
                let column = Column::read_keys(self, table)?;
                self.check_box(&column, Some(table), false);
                Where::Outside(column)
            }
            _ => Where::At(entries.number("at")?),
        })
    }

    /// The one of three keys that is given.
    fn one_of(
        &mut self,
        entries: &Entries,
        keys: [&'static str; 3],
        what: &str,
    ) -> Option<&'static str> {
        let given: Vec<&'static str> =
            keys.into_iter().filter(|key| entries.given(key).is_some()).collect();
        match given[..] {
            [key] => return Some(key),
            [first, second, ..] => {
                let message = format!("`{first}` and `{second}` are mutually exclusive");
                self.problems.report(entries.key_span(second), message);
            }
            [] => {
                let [a, b, c] = keys;
                let message = format!("`{a}`, `{b}` or `{c}` is missing: it says {what}");
                self.problems.report(entries.span.clone(), message);
            }
        }
        None
    }

    pub(super) fn removals(&mut self, nodes: &[Node]) -> Placed<Remove> {
        let (mut removals, mut spans) = (Vec::new(), Vec::new());
        for entries in nodes.iter().filter_map(Node::table) {
            let Some(removal) = Remove::read_keys(self, entries) else { continue };
            removals.push(removal);
            spans.push(entries.span.clone());
        }
        (removals, spans)
    }
}

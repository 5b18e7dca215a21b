//! Rules between the keys of cohesion and static friction.

use riprap::scene::PairLaw;

use super::super::values::{Entries, Node};
use super::Converter;

impl Converter<'_> {
    /// Contacts that stick have at least the friction of those that slide.
    pub(super) fn check_frictions(&mut self, entries: &Entries, law: &PairLaw) {
        let Some(held) = law.static_friction.filter(|held| *held < law.friction) else { return };
        let message = format!("`static_friction` ({held}) is below `friction` ({})", law.friction);
        let help = "`friction` is that of sliding contacts; give a larger static_friction, or none";
        self.problems.advise(entries.value_span("static_friction"), message, help);
    }

    /// Cohesion acts only at gaps that are detected.
    pub(super) fn check_ranges(&mut self, scene: &Entries) {
        let alert = scene.table("contact").and_then(|contact| contact.given("alert")?.number());
        let Some(alert) = alert else { return };
        let materials = scene.table("materials").into_iter().flat_map(Entries::named);
        let pairs = scene.list("pair").unwrap_or_default();
        let tables = materials.map(|(_, _, node)| node).chain(pairs).filter_map(Node::table);
        for entries in tables {
            let given = entries.given("cohesion_range").and_then(Node::number);
            if let Some(range) = given.filter(|range| *range > alert) {
                let message = format!(
                    "`cohesion_range` ({range} m) is larger than `alert` in [contact] ({alert} m), up to which contacts are detected"
                );
                let help = "reduce cohesion_range, or remove alert: its default is large enough";
                self.problems.advise(entries.value_span("cohesion_range"), message, help);
            }
        }
    }
}

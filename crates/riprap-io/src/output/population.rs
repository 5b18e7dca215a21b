//! Inserted and removed bodies in `series.csv` and `summary.json`.

use riprap::scene::Lost;
use riprap::simulation::Frame;
use serde_json::{Value, json};

use crate::table::Column;

/// The columns, in the order of [`row`].
pub(super) fn columns() -> impl Iterator<Item = Column> {
    let counts = ["bodies", "inserted", "removed"].into_iter().map(|name| Column::new(name, "-"));
    counts.chain(["inserted_mass", "removed_mass"].map(|name| Column::new(name, "kg")))
}

/// Number of free bodies, numbers and masses of those inserted and removed so far.
pub(super) fn row(frame: &Frame, row: &mut Vec<f64>) {
    let account = &frame.state.population.account;
    let counts = [frame.scene.bodies().n_movable() as u64, account.inserted, account.removed];
    row.extend(counts.map(|n| n as f64));
    row.extend([account.gained.mass, account.lost.mass]);
}

/// Part of the summary; `None` if nothing is inserted or removed.
pub(super) fn summary(frame: &Frame) -> Option<Value> {
    let population = frame.scene.population()?;
    let state = &frame.state.population;
    let what = |lost: &Lost| {
        json!({
            "mass_kg": lost.mass,
            "momentum_kg_m_s": lost.momentum,
            "kinetic_J": lost.kinetic,
            "potential_J": lost.potential,
        })
    };
    let feeds = population.insertions.iter().zip(&state.feeds).map(|(insertion, feed)| {
        let (number, mass) = feed.before;
        json!({
            "name": insertion.name,
            "inserted": feed.next - number,
            "mass_kg": feed.mass - mass,
            "waited": feed.waited,
            "waits": feed.waits,
        })
    });
    Some(json!({
        "free_bodies": frame.scene.bodies().n_movable(),
        "inserted": state.account.inserted,
        "removed": state.account.removed,
        "gained": what(&state.account.gained),
        "lost": what(&state.account.lost),
        "insertions": feeds.collect::<Vec<_>>(),
    }))
}

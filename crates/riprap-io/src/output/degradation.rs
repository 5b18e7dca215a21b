//! Broken and worn stones in `series.csv` and `summary.json`.

use riprap::simulation::Frame;
use serde_json::{Value, json};

use crate::table::Column;

/// The columns, in the order of [`row`].
pub(super) fn columns() -> impl Iterator<Item = Column> {
    let counts = ["breaks", "pieces"].into_iter().map(|name| Column::new(name, "-"));
    let masses = ["dust_mass", "worn_mass", "total_mass"];
    counts.chain(masses.into_iter().map(|name| Column::new(name, "kg")))
}

/// Numbers of broken stones and of their pieces, masses of dust and fines, and the sum of these and of all free bodies.
pub(super) fn row(frame: &Frame, row: &mut Vec<f64>) {
    let account = &frame.state.degradation.account;
    let (dust, worn) = (account.dust.mass, account.worn.mass);
    let total = frame.scene.free_mass() + dust + worn;
    row.extend([account.breaks as f64, account.pieces as f64, dust, worn, total]);
}

/// Part of the summary; `None` if no stones break or wear.
pub(super) fn summary(frame: &Frame) -> Option<Value> {
    if !frame.scene.degrades() {
        return None;
    }
    let account = &frame.state.degradation.account;
    let (dust, worn) = (account.dust.mass, account.worn.mass);
    Some(json!({
        "free_bodies": frame.scene.bodies().n_movable(),
        "breaks": account.breaks,
        "pieces": account.pieces,
        "chamfers": account.chamfers,
        "dust_mass_kg": dust,
        "worn_mass_kg": worn,
        "total_mass_kg": frame.scene.free_mass() + dust + worn,
        "friction_work_J": account.friction_work,
    }))
}

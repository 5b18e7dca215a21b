//! Columns of `series.csv` that say where the energy goes and how often bodies touch.

use riprap::simulation::{ContactCount, EnergyAccount, Frame};
use serde::{Deserialize, Serialize};

use crate::table::Column;

/// Energies and counts since the start of the run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Account {
    energy: Option<EnergyAccount>,
    count: ContactCount,
}

impl Account {
    /// The columns, in the order of [`Account::row`].
    pub fn columns() -> impl Iterator<Item = Column> {
        let energies = [
            "dissipated_impact",
            "dissipated_friction",
            "dissipated_rolling",
            "dissipated_ropes",
            "dissipated_cohesion",
            "other_work",
        ];
        let counts = ["touching_pairs", "contact_onsets", "contact_steps"];
        let energies = energies.into_iter().map(|name| Column::new(name, "J"));
        energies.chain(counts.into_iter().map(|name| Column::new(name, "-")))
    }

    /// Adds a step; the first frame opens the account.
    pub fn add(&mut self, frame: &Frame) {
        self.energy.get_or_insert_with(|| EnergyAccount::open(frame)).add(frame);
        self.count.add(frame);
    }

    /// The values of a row.
    pub fn row(&self, row: &mut Vec<f64>) {
        let energy = self.energy.unwrap_or_default();
        let EnergyAccount { impact, friction, rolling, ropes, cohesion, .. } = energy;
        row.extend([impact, friction, rolling, ropes, cohesion, energy.other()]);
        let count = &self.count;
        row.extend([count.touching.len() as f64, count.onsets as f64, count.contact_steps as f64]);
    }
}

//! A campaign as a CSV file: one row per window and one per timing of a mechanism.

use super::{Campaign, Stamp};
use crate::bench::{csv_header, csv_name_only, csv_row};

/// The whole file; the first line has the names and units of the columns.
pub fn csv(campaign: &Campaign) -> String {
    let Stamp { machine, commit, date, .. } = &campaign.stamp;
    let commit = commit.as_deref().unwrap_or_default();
    let mut text = format!("date,commit,part,window,{},call [µs]\n", csv_header());
    for measurement in &campaign.measurements {
        let part = measurement.part.name();
        for (k, run) in measurement.runs.iter().enumerate() {
            text += &format!("{date},{commit},{part},{},{},\n", k + 1, csv_row(machine, run));
        }
    }
    for (name, _, what, time) in campaign.mechanism.times() {
        let row = csv_name_only(machine, &format!("{name}: {what}"));
        text += &format!("{date},{commit},mechanisms,1,{row},{time:.4}\n");
    }
    text
}

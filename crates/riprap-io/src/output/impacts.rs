//! `impacts.csv`: the impacts of a run, one row per contact point.

use riprap::simulation::{Frame, Impact, impacts};

use crate::error::Error;
use crate::table::{Column, TableWriter};

/// Impacts that have not been written yet.
#[derive(Debug)]
pub(super) struct Impacts {
    /// Speed of approach above which a contact is an impact [m/s].
    speed: f64,
    rows: Vec<Row>,
}

/// The time [s], the names of the two bodies, and the impact.
type Row = (f64, [String; 2], Impact);

impl Impacts {
    pub fn new(speed: f64) -> Impacts {
        Impacts { speed, rows: Vec::new() }
    }

    /// The columns of the file.
    pub fn columns() -> Vec<Column> {
        let columns = [
            ("time", "s"),
            ("first_body", "-"),
            ("second_body", "-"),
            ("point_x", "m"),
            ("point_y", "m"),
            ("point_z", "m"),
            ("normal_impulse", "N s"),
            ("approach_speed", "m/s"),
        ];
        columns.map(|(name, unit)| Column::new(name, unit)).into()
    }

    /// Adds the impacts of the last step.
    pub fn add(&mut self, frame: &Frame) {
        let names = &frame.scene.bodies().names;
        for impact in impacts(frame, self.speed) {
            let bodies = impact.bodies.map(|body| names[frame.scene.slot(body)].clone());
            self.rows.push((frame.state.t, bodies, impact));
        }
    }

    /// The rows that have not been written; `None` if there are none.
    pub fn take(&mut self) -> Option<Vec<Row>> {
        (!self.rows.is_empty()).then(|| std::mem::take(&mut self.rows))
    }
}

/// Writes rows to the file.
pub(super) fn write(rows: &[Row], table: &mut TableWriter) -> Result<(), Error> {
    for (time, bodies, impact) in rows {
        let [x, y, z] = impact.point.into();
        table.row_with_names(*time, bodies, &[x, y, z, impact.impulse, impact.speed])?;
    }
    Ok(())
}

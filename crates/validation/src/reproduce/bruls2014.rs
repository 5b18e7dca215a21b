//! Brüls, Acary and Cardona 2014: *Simultaneous enforcement of constraints at position and velocity levels in the nonsmooth generalized-α
//! scheme*, Figs. 2 to 24 (Fig. 1 is a sketch), with references overlaid, and a table of the measured numbers.

mod ball;
mod bar;
mod block;
mod pendulum;
mod plots;

use std::fmt::Write;

use serde::Serialize;

use super::{Failure, Output, Tell};
use crate::figure::Figure;
use crate::nonsmooth::{Method, Planar, Record, event_driven};

/// A run in the table, in SI units.
#[derive(Clone, Debug, Default, Serialize)]
struct Row {
    example: &'static str,
    method: String,
    /// Spectral radius at infinite frequency [–].
    rho: f64,
    /// Time step [s].
    step: f64,
    /// Largest error: gap of the ball and the bar, height of the block [m], angle of the pendulum [rad].
    error: Option<f64>,
    /// Smallest gap [m].
    smallest_gap: f64,
    /// Last time at which a gap changes by more than 1e-9 m/s [s].
    last_motion: f64,
    /// Largest increase of the energy in a step, and its final value [J].
    largest_rise: f64,
    final_energy: f64,
    /// Force of the first contact in the last step [N].
    final_force: f64,
    /// Largest residuals of the pivot [m, m/s].
    pivot: Option<[f64; 2]>,
    /// Newton iterations per step, mean and maximum [–].
    iterations: Option<f64>,
    most_iterations: Option<u32>,
    /// How often a step was halved [–].
    halvings: u64,
    /// Wall time [s].
    wall: f64,
}

/// The table of the study so far.
struct Study<'a, 'b> {
    rows: Vec<Row>,
    tell: &'a mut Tell<'b>,
}

impl Study<'_, '_> {
    /// Adds a run and reports it.
    fn push(&mut self, row: Row) {
        let (error, wall) = (row.error.unwrap_or(f64::NAN), row.wall);
        let (example, method, rho, h) = (row.example, &row.method, row.rho, row.step);
        (self.tell)(&format!(
            "{example}, {method}, ρ∞ = {rho}, h = {h:.0e} s: error {error:.2e}, {wall:.1} s"
        ));
        self.rows.push(row);
    }
}

/// The numbers of a run.
fn measured(example: &'static str, method: Method, record: &Record) -> Row {
    let newton = !matches!(method, Method::Riprap(_));
    let last = record.contacts[0].multipliers.last().map_or(0.0, |m| m.impulse / record.dt);
    Row {
        example,
        method: method.name().to_owned(),
        rho: method.rho(),
        step: record.dt,
        error: None,
        smallest_gap: record.smallest_gap(),
        last_motion: record.last_motion(1e-9),
        largest_rise: record.largest_rise(),
        final_energy: *record.energy.last().unwrap_or(&f64::NAN),
        final_force: last,
        pivot: (!record.pivot.error.is_empty()).then(|| record.pivot_residual()),
        iterations: newton.then(|| record.mean_iterations()),
        most_iterations: newton.then_some(record.most_iterations),
        halvings: record.halvings,
        wall: record.wall,
    }
}

/// Largest difference of a coordinate from the event-driven reference.
fn error(planar: &Planar, record: &Record, coordinate: usize) -> f64 {
    let exact = event_driven::motion(planar, &record.t[1..], 1e-3);
    let pairs = record.q[1..].iter().zip(&exact.q);
    pairs.fold(0.0, |m, (a, b)| m.max((a[coordinate] - b[coordinate]).abs()))
}

/// Largest error of the height [m].
fn height_error(planar: &Planar, record: &Record) -> f64 {
    error(planar, record, 1)
}

/// Largest error of the angle [rad].
fn angle_error(planar: &Planar, record: &Record) -> f64 {
    error(planar, record, 2)
}

/// Runs the study; it takes a few seconds, so there is no small version.
pub(super) fn bruls2014(tell: &mut Tell) -> Result<Vec<Output>, Failure> {
    let mut study = Study { rows: Vec::new(), tell };
    let mut figures: Vec<(u32, Figure)> = Vec::new();
    for part in [ball::study, pendulum::study, bar::study, block::study] {
        figures.extend(part(&mut study)?);
    }
    let mut outputs: Vec<Output> = figures
        .into_iter()
        .map(|(number, figure)| Output::new(&format!("fig{number}.svg"), figure.svg()))
        .collect();
    let json = serde_json::to_string_pretty(&study.rows).expect("plain data");
    outputs.push(Output::new("table.md", markdown(&study.rows)));
    outputs.push(Output::new("table.json", json + "\n"));
    Ok(outputs)
}

fn small(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { format!("{value:.1e}") }
}

fn markdown(rows: &[Row]) -> String {
    let mut text = "# Brüls, Acary and Cardona 2014, Sec. 10\n\n\
        | example | method | ρ∞ | h [s] | largest error | smallest gap [m] | last motion [s] | largest rise of the energy [J] | \
        final energy [J] | final force [N] | pivot [m], [m/s] | Newton iterations, mean / max | halvings |\n\
        | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        .to_owned();
    for row in rows {
        let dash = || "–".to_owned();
        let pivot = row.pivot.map_or_else(dash, |[a, b]| format!("{}, {}", small(a), small(b)));
        let newton = row.iterations.zip(row.most_iterations);
        let cells = [
            row.example.to_owned(),
            row.method.clone(),
            row.rho.to_string(),
            format!("{:.0e}", row.step),
            row.error.map_or_else(dash, small),
            small(row.smallest_gap),
            format!("{:.3}", row.last_motion),
            small(row.largest_rise),
            format!("{:.4}", row.final_energy),
            format!("{:.4}", row.final_force),
            pivot,
            newton.map_or_else(dash, |(mean, most)| format!("{mean:.2} / {most}")),
            row.halvings.to_string(),
        ];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
    text
}

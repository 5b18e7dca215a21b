//! The planar paper on cone complementarity and granular chains: Figs. 6 to 17, with closed forms and an independent solution
//! overlaid, the artefact of the convex relaxation, and the number of contacts for other initial layouts.

mod chains;
mod particle;
mod two_balls;

use super::{Failure, Output, Tell};
use crate::Effort;
use crate::figure::{Axis, Colour, Curve, Figure, Panel};

/// Runs the study.
pub(super) fn ccp(effort: Effort, tell: &mut Tell) -> Result<Vec<Output>, Failure> {
    let mut outputs = Vec::new();
    let mut table = String::from("# Granular chains: measured numbers\n");
    for part in [particle::study, two_balls::study, chains::study] {
        for (name, figure) in part(effort, tell, &mut table) {
            outputs.push(Output::new(&format!("{name}.svg"), figure.svg()));
        }
    }
    outputs.push(Output::new("table.md", table));
    Ok(outputs)
}

/// Figures of a part of the study, by name.
type Figures = Vec<(&'static str, Figure)>;

/// A panel over time.
fn over_time(y: &str, curves: Vec<Curve>) -> Panel {
    Panel { title: String::new(), x: Axis::new("time [s]"), y: Axis::new(y), curves }
}

/// A figure with one panel per column.
fn side_by_side(title: &str, panels: Vec<Panel>) -> Figure {
    let columns = panels.len().min(2);
    let rows = panels.len().div_ceil(columns) as u32;
    let size = [if columns == 2 { 1000 } else { 620 }, 100 + 300 * rows];
    Figure { title: title.to_owned(), size, columns, panels }
}

/// The outline of a ball.
fn circle(name: &str, colour: Colour, [x, y]: [f64; 2], radius: f64) -> Curve {
    let points = (0..=32).map(|k| {
        let (sin, cos) = (f64::from(k) * std::f64::consts::TAU / 32.0).sin_cos();
        [x + radius * cos, y + radius * sin]
    });
    Curve::new(name, colour, points.collect())
}

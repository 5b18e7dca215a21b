//! Schwager and Pöschel 2002: cost of Dantzig's algorithm, polygons that settle in a box, their unique forces, and what a
//! repeated load does to a bed whose stones wear or break.

mod cost;
mod cycles;
mod settling;

use std::path::Path;

use super::{Failure, Output, Tell};
use crate::Effort;
use crate::figure::{Figure, Panel};

/// Runs the study.
pub(super) fn schwager_poeschel(
    folder: &Path,
    effort: Effort,
    tell: &mut Tell,
) -> Result<Vec<Output>, Failure> {
    let mut outputs = Vec::new();
    let mut table = String::from("# Rigid-body dynamics of ballast: measured numbers\n");
    let mut figures = cost::study(effort, tell, &mut table);
    tell("settling polygons and beds under repeated load, side by side");
    let (settled, beds) = rayon::join(|| settling::run(effort), || cycles::run(effort));
    figures.extend(settling::report(&settled?, folder, tell, &mut table)?);
    figures.extend(cycles::report(&beds, tell, &mut table));
    for (name, figure) in figures {
        outputs.push(Output::new(&format!("{name}.svg"), figure.svg()));
    }
    outputs.push(Output::new("table.md", table));
    Ok(outputs)
}

/// Figures of a part of the study, by name.
type Figures = Vec<(&'static str, Figure)>;

/// A figure with two panels per row.
fn in_rows(title: &str, panels: Vec<Panel>) -> Figure {
    let columns = panels.len().min(2);
    let rows = panels.len().div_ceil(columns) as u32;
    let size = [if columns == 2 { 1000 } else { 620 }, 100 + 300 * rows];
    Figure { title: title.to_owned(), size, columns, panels }
}

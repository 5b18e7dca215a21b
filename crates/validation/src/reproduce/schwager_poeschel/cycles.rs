//! Beds under repeated load: settlement per cycle with and without wear, grading before and after breakage.

use std::fmt::Write;

use riprap::prelude::*;

use super::{Figures, in_rows};
use crate::Effort;
use crate::degradation::{CyclicBed, CyclicRecord};
use crate::figure::{Axis, Colour, Curve, Dash, Panel};
use crate::reproduce::Tell;

/// Both studies of repeated load.
pub(super) fn study(effort: Effort, tell: &mut Tell, table: &mut String) -> Figures {
    vec![
        ("settlement", in_rows("Repeated load", vec![settlement(effort, tell, table)])),
        ("breakage", in_rows("Grading before and after", vec![breakage(effort, tell, table)])),
    ]
}

/// Wear that removes some per cent of the stones within the cycles of the study; real coefficients are far smaller, and the
/// number of cycles far larger.
fn wear() -> Wear {
    Wear::new(0.1, 1e6)
}

fn settlement(effort: Effort, tell: &mut Tell, table: &mut String) -> Panel {
    let full = effort == Effort::Full;
    let (stones, cycles, seeds) = if full { (500, 20, 1..=6) } else { (40, 4, 1..=2) };
    let laws = [("without wear", None, Colour::Blue), ("with wear", Some(wear()), Colour::Orange)];
    let mut curves = Vec::new();
    let _ = writeln!(
        table,
        "\n## Settlement of {stones} polygons under repeated load, {} beds\n\n| stones | after {cycles} cycles [mm] | \
         standard error [mm] | worn mass [%] |\n| --- | --- | --- | --- |",
        seeds.clone().count()
    );
    for (name, wear, colour) in laws {
        let beds: Vec<CyclicRecord> = seeds
            .clone()
            .map(|seed| {
                let bed = CyclicBed { cycles, wear, ..CyclicBed::polygons(stones, seed) }.run();
                tell(&format!("{stones} polygons {name}, bed {seed}: {cycles} cycles"));
                bed
            })
            .collect();
        let n = beds.len() as f64;
        let mean = |k: usize| beds.iter().map(|b| 1e3 * b.settlement[k]).sum::<f64>() / n;
        let error = |k: usize| {
            let squares = beds.iter().map(|b| (1e3 * b.settlement[k] - mean(k)).powi(2));
            (squares.sum::<f64>() / (n * (n - 1.0).max(1.0))).sqrt()
        };
        let line = |of: &dyn Fn(usize) -> f64| -> Vec<[f64; 2]> {
            (0..cycles).map(|k| [(k + 1) as f64, of(k)]).collect()
        };
        curves.push(Curve::new(name, colour, line(&mean)).marked());
        for sign in [-1.0, 1.0] {
            let edge = line(&|k| mean(k) + sign * error(k));
            curves.push(Curve::new("standard error", colour, edge).dash(Dash::Dotted).width(1.0));
        }
        let worn = beds.iter().map(|b| b.account.worn.mass / b.before.mass()).sum::<f64>() / n;
        let last = cycles - 1;
        let _ = writeln!(
            table,
            "| {name} | {:.3} | {:.3} | {:.2} |",
            mean(last),
            error(last),
            100.0 * worn
        );
    }
    Panel {
        title: String::new(),
        x: Axis::new("load cycle"),
        y: Axis::new("settlement [mm]"),
        curves,
    }
}

fn breakage(effort: Effort, tell: &mut Tell, table: &mut String) -> Panel {
    let full = effort == Effort::Full;
    let (stones, cycles) = if full { (400, 10) } else { (40, 3) };
    let law = Fragmentation::stress(1.5e6, 8e-3).weibull(3.0, 0.03).average(2e-3);
    let bed = CyclicBed { cycles, fragmentation: Some(law), ..CyclicBed::ballast(stones, 3) };
    let record = bed.run();
    tell(&format!("{stones} stones of ballast that break: {cycles} cycles"));
    let CyclicRecord { before, after, account, .. } = &record;
    let _ = writeln!(
        table,
        "\n## {stones} stones of ballast that break, {cycles} cycles\n\n| quantity | value |\n| --- | --- |\n\
         | stones that broke | {} |\n| stones and pieces at the end | {} |\n| breakage index (Einav) | {:.3} |\n\
         | dust over total mass | {:.2} % |\n| change of total mass | {:.1e} |\n| settlement | {:.2} mm |",
        account.breaks,
        record.stones,
        record.breakage,
        100.0 * account.dust.mass / before.mass(),
        record.mass_change,
        1e3 * record.settlement.last().copied().unwrap_or(f64::NAN),
    );
    let curve = |name: &str, colour, curve: &riprap::grains::SieveCurve| {
        let points = curve.points().map(|[size, passing]| [1e3 * size, 100.0 * passing]);
        Curve::new(name, colour, points.collect())
    };
    Panel {
        title: String::new(),
        x: Axis::new("size [mm]").logarithmic(),
        y: Axis::new("passing mass [%]"),
        curves: vec![curve("before", Colour::Blue, before), curve("after", Colour::Orange, after)],
    }
}

//! Beds under repeated load: settlement per cycle with and without wear, grading before and after breakage.

use std::fmt::Write;

use rayon::prelude::*;
use riprap::prelude::*;

use super::{Figures, in_rows};
use crate::Effort;
use crate::degradation::{CyclicBed, CyclicRecord};
use crate::figure::{Axis, Colour, Curve, Dash, Panel};
use crate::reproduce::Tell;

/// Beds of polygons without and with wear, and beds of ballast that breaks.
pub(super) struct Beds {
    polygons: usize,
    /// Without wear, with wear.
    worn: [Vec<CyclicRecord>; 2],
    ballast: usize,
    broken: Vec<CyclicRecord>,
}

/// Runs all beds side by side.
pub(super) fn run(effort: Effort) -> Beds {
    let full = effort == Effort::Full;
    let (polygons, cycles, seeds) = if full { (200, 10, 1..=6) } else { (40, 4, 1..=2) };
    let bed = |seed, wear| CyclicBed { cycles, wear, ..CyclicBed::polygons(polygons, seed) };
    let with = |wear: Option<Wear>| -> Vec<CyclicRecord> {
        seeds.clone().into_par_iter().map(|seed| bed(seed, wear).run()).collect()
    };
    let law = Fragmentation::stress(3e6, 8e-3).weibull(3.0, 0.03).average(2e-3);
    let (ballast, cycles) = if full { (100, 5) } else { (40, 3) };
    let breaking = |seed| {
        let bed = CyclicBed::ballast(ballast, seed);
        CyclicBed { cycles, fragmentation: Some(law), ..bed }.run()
    };
    let broken = || seeds.clone().into_par_iter().map(breaking).collect();
    let ((without, worn), broken) =
        rayon::join(|| rayon::join(|| with(None), || with(Some(wear()))), broken);
    Beds { polygons, worn: [without, worn], ballast, broken }
}

/// Figures and tables of both studies.
pub(super) fn report(beds: &Beds, tell: &mut Tell, table: &mut String) -> Figures {
    let Beds { polygons, worn, ballast, broken } = beds;
    let cycles = [&worn[0], broken].map(|beds| beds[0].settlement.len());
    tell(&format!("{polygons} polygons: {} beds, {} cycles", worn[0].len(), cycles[0]));
    tell(&format!("{ballast} stones that break: {} beds, {} cycles", broken.len(), cycles[1]));
    vec![
        ("settlement", in_rows("Repeated load", vec![settlement(*polygons, worn, table)])),
        ("breakage", in_rows("Grading before and after", vec![breakage(*ballast, broken, table)])),
    ]
}

/// Wear that removes a seventh of the mass of the stones within the cycles of the study; real coefficients are far smaller, and the
/// number of cycles far larger.
fn wear() -> Wear {
    Wear::new(0.1, 5e3)
}

/// Mean and standard error of a measure over beds.
fn over_beds(beds: &[CyclicRecord], of: impl Fn(&CyclicRecord) -> f64) -> [f64; 2] {
    let n = beds.len() as f64;
    let mean = beds.iter().map(&of).sum::<f64>() / n;
    let squares = beds.iter().map(|b| (of(b) - mean).powi(2)).sum::<f64>();
    [mean, (squares / (n * (n - 1.0).max(1.0))).sqrt()]
}

fn settlement(stones: usize, beds: &[Vec<CyclicRecord>; 2], table: &mut String) -> Panel {
    let names = [("without wear", Colour::Blue), ("with wear", Colour::Orange)];
    let cycles = beds[0][0].settlement.len();
    let mut curves = Vec::new();
    let _ = writeln!(
        table,
        "\n## Settlement of {stones} polygons under repeated load, {} beds\n\n| stones | after {cycles} cycles [mm] | \
         standard error [mm] | worn mass [%] |\n| --- | --- | --- | --- |",
        beds[0].len()
    );
    for ((name, colour), beds) in names.into_iter().zip(beds) {
        let after = |k: usize| over_beds(beds, |b| 1e3 * b.settlement[k]);
        let line = |of: &dyn Fn([f64; 2]) -> f64| -> Vec<[f64; 2]> {
            (0..cycles).map(|k| [(k + 1) as f64, of(after(k))]).collect()
        };
        curves.push(Curve::new(name, colour, line(&|[mean, _]| mean)).marked());
        for sign in [-1.0, 1.0] {
            let edge = line(&|[mean, error]| mean + sign * error);
            curves.push(Curve::new("standard error", colour, edge).dash(Dash::Dotted).width(1.0));
        }
        let [mean, error] = after(cycles - 1);
        let [worn, _] = over_beds(beds, |b| 100.0 * b.account.worn.mass / b.before.mass());
        let _ = writeln!(table, "| {name} | {mean:.3} | {error:.3} | {worn:.2} |");
    }
    let title = String::new();
    Panel { title, x: Axis::new("load cycle"), y: Axis::new("settlement [mm]"), curves }
}

fn breakage(stones: usize, beds: &[CyclicRecord], table: &mut String) -> Panel {
    let _ = writeln!(
        table,
        "\n## {stones} stones of ballast that break, {} cycles, {} beds\n\n| quantity | mean | standard error |\n\
         | --- | --- | --- |",
        beds[0].settlement.len(),
        beds.len()
    );
    let mut row = |what: &str, of: &dyn Fn(&CyclicRecord) -> f64| {
        let [mean, error] = over_beds(beds, of);
        let _ = writeln!(table, "| {what} | {mean:.3} | {error:.3} |");
    };
    row("stones that broke", &|b| b.account.breaks as f64);
    row("stones and pieces at the end", &|b| b.stones as f64);
    row("breakage index (Einav)", &|b| b.breakage);
    row("dust over total mass [%]", &|b| 100.0 * b.account.dust.mass / b.before.mass());
    row("settlement [mm]", &|b| 1e3 * b.settlement.last().copied().unwrap_or(f64::NAN));
    let lost = beds.iter().map(|b| b.mass_change.abs()).fold(0.0, f64::max);
    let _ = writeln!(table, "\nLargest relative change of the total mass: {lost:.1e}.");
    let curve = |name: &str, colour, curve: &riprap::grains::SieveCurve| {
        let points = curve.points().map(|[size, passing]| [1e3 * size, 100.0 * passing]);
        Curve::new(name, colour, points.collect()).width(1.0)
    };
    let of_bed = |b: &CyclicRecord| {
        [curve("before", Colour::Blue, &b.before), curve("after", Colour::Orange, &b.after)]
    };
    Panel {
        title: String::new(),
        x: Axis::new("size [mm]").logarithmic(),
        y: Axis::new("passing mass [%]"),
        curves: beds.iter().flat_map(of_bed).collect(),
    }
}

//! Laboratory tests of granular materials: angle of repose, flow through an orifice, rotating drum, silo and direct shear, each with several
//! seeds, and their numbers compared with the literature.

mod drum;
mod hopper;
mod jobs;
mod repose;
mod scene;
mod shear;
mod silo;
mod statistics;

use std::fmt::Write;
use std::path::Path;

use serde_json::{Value, json};

use super::{Failure, Output, Tell};
use crate::Effort;
use crate::figure::{Colour, Curve, Dash, Figure, Panel};
use jobs::{Job, Rows};
use statistics::Estimate;

/// Slopes between which glass beads flow steadily on a rough plane [deg]: the arctangents of the friction coefficients of
/// Jop, Forterre and Pouliquen (2006) at vanishing and at large inertial number.
const BEADS: [f64; 2] = [20.9, 32.8];

/// Panels of a figure.
type Panels = Vec<Panel>;

/// A number and what is known about it.
struct Finding {
    test: &'static str,
    quantity: String,
    unit: &'static str,
    estimate: Estimate,
    /// Number of runs on which it is based.
    runs: usize,
    /// Where the literature expects it; an upper end may be infinite.
    range: Option<[f64; 2]>,
    reference: &'static str,
}

/// A test: its runs, and what follows from their results.
struct Test {
    name: &'static str,
    jobs: fn(Effort) -> Vec<Job>,
    report: fn(&[Rows], &mut Panels) -> Vec<Finding>,
}

const TESTS: [Test; 5] = [
    Test { name: "repose", jobs: repose::jobs, report: repose::report },
    Test { name: "shear", jobs: shear::jobs, report: shear::report },
    Test { name: "hopper", jobs: hopper::jobs, report: hopper::report },
    Test { name: "silo", jobs: silo::jobs, report: silo::report },
    Test { name: "drum", jobs: drum::jobs, report: drum::report },
];

/// Seeds of the full study, or two.
fn seeds(effort: Effort, full: u64) -> std::ops::RangeInclusive<u64> {
    1..=if effort == Effort::Full { full } else { 2 }
}

/// Start of the names of stored runs.
fn prefix(effort: Effort) -> &'static str {
    if effort == Effort::Full { "" } else { "small-" }
}

/// Dashed lines at the ends of a range.
fn range_lines(range: [f64; 2], ends: [f64; 2], colour: Colour) -> Vec<Curve> {
    let line = |y: f64| Curve::new("literature", colour, ends.map(|x| [x, y]).into());
    range.map(|y| line(y).dash(Dash::Dashed).width(1.0)).into()
}

/// Runs the study.
pub(super) fn laboratory(
    folder: &Path,
    effort: Effort,
    tell: &mut Tell,
) -> Result<Vec<Output>, Failure> {
    let jobs: Vec<Vec<Job>> = TESTS.iter().map(|test| (test.jobs)(effort)).collect();
    let counts: Vec<usize> = jobs.iter().map(Vec::len).collect();
    let jobs: Vec<Job> = jobs.into_iter().flatten().collect();
    let rows = jobs::run_all(folder, &jobs, tell)?;
    let (mut outputs, mut findings, mut rest) = (Vec::new(), Vec::new(), &rows[..]);
    for (test, count) in TESTS.iter().zip(counts) {
        let (own, others) = rest.split_at(count);
        let mut panels = Panels::new();
        findings.extend((test.report)(own, &mut panels));
        let columns = panels.len().min(2);
        let size = [if columns == 2 { 1000 } else { 620 }, 400];
        let figure = Figure { title: String::new(), size, columns, panels };
        outputs.push(Output::new(&format!("{}.svg", test.name), figure.svg()));
        rest = others;
    }
    let table = markdown(&findings, effort);
    outputs.push(Output::new(
        "table.json",
        serde_json::to_string_pretty(&table_json(&findings, effort))?,
    ));
    table.lines().filter(|line| line.starts_with("| ")).for_each(tell);
    outputs.push(Output::new("table.md", table));
    Ok(outputs)
}

/// The verdict on a number; the small study gives none.
fn verdict(finding: &Finding, effort: Effort) -> Option<&'static str> {
    let range = finding.range.filter(|_| effort == Effort::Full)?;
    Some(finding.estimate.verdict(range).word())
}

fn markdown(findings: &[Finding], effort: Effort) -> String {
    let mut text = String::from(
        "# Laboratory tests\n\nMeans with their 95 % confidence interval. A number is *within* the range if its whole interval is, *outside* if none of it is, \
         otherwise *undecided*.\n\n| test | quantity | value | runs | range | verdict | reference |\n| --- | --- | --- | ---: | --- | --- | --- |\n",
    );
    for f in findings {
        let unit = if f.unit == "–" { String::new() } else { format!(" {}", f.unit) };
        let range = match f.range {
            None => "–".to_owned(),
            Some([low, high]) if high.is_infinite() => format!("above {low}{unit}"),
            Some([low, high]) => format!("{low} to {high}{unit}"),
        };
        let _ = writeln!(
            text,
            "| {} | {} | {}{unit} | {} | {range} | {} | {} |",
            f.test,
            f.quantity,
            f.estimate,
            f.runs,
            verdict(f, effort).unwrap_or("–"),
            f.reference
        );
    }
    text
}

fn table_json(findings: &[Finding], effort: Effort) -> Value {
    let finite = |x: f64| if x.is_finite() { json!(x) } else { Value::Null };
    let rows = findings.iter().map(|f| {
        json!({
            "test": f.test,
            "quantity": f.quantity,
            "unit": f.unit,
            "value": finite(f.estimate.value),
            "half_interval": finite(f.estimate.half),
            "runs": f.runs,
            "range": f.range.map(|r| r.map(finite)),
            "verdict": verdict(f, effort),
            "reference": f.reference,
        })
    });
    json!({ "study": "laboratory", "numbers": rows.collect::<Vec<_>>() })
}

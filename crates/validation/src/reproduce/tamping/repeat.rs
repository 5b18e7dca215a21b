//! Repeatability: the 15 Hz dynamic case with a different tolerance, half the time step and different seeds of the bed, and the resulting
//! variation of depth, squeeze and forces.

use std::fmt::Write;
use std::path::Path;

use serde::Serialize;

use super::super::{Failure, Options, Output, Tell};
use super::claims::FEWEST;
use super::runs::{Job, kept_bed, run_all, settled_bed};
use super::table::{self, Row};
use super::{SOURCE, Setting, figures};
use crate::scenes::tamping::{Bed, Schedule, Settled};
use crate::tamping::{Accuracy, Case, Run};

/// Contents of `repeatability.json`, in SI units.
#[derive(Clone, Debug, Serialize)]
struct Table {
    study: &'static str,
    source: &'static str,
    case: String,
    variants: Vec<Variant>,
    moves: Vec<Move>,
}

/// A run and its settings; the first is that of the study.
#[derive(Clone, Debug, Serialize)]
struct Variant {
    bed: Bed,
    stones: usize,
    accuracy: Accuracy,
    run: Row,
}

/// Variation of a quantity.
#[derive(Clone, Debug, Serialize)]
struct Move {
    quantity: &'static str,
    unit: &'static str,
    /// Value for each variant.
    values: Vec<f64>,
    /// Largest difference from the first: with a different tolerance or time step, and with a different bed.
    by_numerics: f64,
    /// See `by_numerics`.
    by_bed: f64,
}

/// Names and options of the variants: that of the study, and a different tolerance, time step and seeds.
fn variants(options: &Options) -> Vec<(String, Options)> {
    let base = Options { cases: Vec::new(), repeat: false, ..options.clone() };
    let Accuracy { dt, tolerance } = Setting::new(Path::new(""), &base).accuracy;
    let finer = 0.3 * tolerance;
    let half = 0.5 * dt;
    let mut variants = vec![
        (format!("{} ms, {tolerance:e}, seed 1", 1e3 * dt), base.clone()),
        (format!("tolerance {finer:e}"), Options { tolerance: Some(finer), ..base.clone() }),
        (format!("step {} ms", 1e3 * half), Options { dt: Some(half), ..base.clone() }),
    ];
    for seed in [2, 3] {
        variants.push((format!("seed {seed}"), Options { seed: Some(seed), ..base.clone() }));
    }
    variants
}

/// Number of [`variants`] with the same bed, including the first.
const SAME_BED: usize = 3;

/// Runs the variants or reads them from the folder shared with the study.
pub(super) fn repeat(
    folder: &Path,
    options: &Options,
    tell: &mut Tell,
) -> Result<Vec<Output>, Failure> {
    let variants: Vec<_> = variants(options)
        .into_iter()
        .map(|(name, options)| (name, Setting::new(folder, &options)))
        .collect();
    let mut beds: Vec<Settled> = Vec::new();
    for (_, setting) in &variants {
        if beds.iter().all(|settled| settled.bed != setting.bed) {
            beds.push(settled_bed(&setting.bed_file, &setting.bed, tell)?);
        }
    }
    let jobs: Vec<Job> = variants
        .iter()
        .filter_map(|(name, setting)| {
            let settled = beds.iter().find(|settled| settled.bed == setting.bed)?;
            let schedule = Schedule::over(settled.top());
            let job = Job::new(settled, Case::ALL[0], schedule, setting.accuracy, &setting.folder);
            Some(job.named(name))
        })
        .collect();
    let runs = run_all(&jobs, super::threads(options), tell)?;
    let runs: Vec<_> =
        jobs.iter().zip(&runs).map(|(job, run)| (job.name.as_str(), job.settled, run)).collect();
    Ok(outputs(&runs))
}

/// The finished variants stored in the folder, each with its name and bed.
pub(super) fn kept(
    folder: &Path,
    options: &Options,
    tell: &mut Tell,
) -> Vec<(String, Settled, Run)> {
    let finished = |(name, options): (String, Options)| {
        let setting = Setting::new(folder, &options);
        // A file of a different version is reported where it would be used.
        let settled = kept_bed(&setting.bed_file, &setting.bed, &mut |_| ())?;
        let schedule = Schedule::over(settled.top());
        let job = Job::new(&settled, Case::ALL[0], schedule, setting.accuracy, &setting.folder);
        let run = job.kept(&mut |_| ()).filter(Run::is_finished)?;
        Some((name, settled, run))
    };
    let kept: Vec<_> = variants(options).into_iter().filter_map(finished).collect();
    tell(&match kept.len() {
        n if n < FEWEST => format!(
            "scatter unknown: the folder has {n} of the {FEWEST} runs of `--repeat` needed for verdicts"
        ),
        n => format!("scatter from {n} runs of `--repeat`"),
    });
    kept
}

/// The files of finished runs, each with its name and bed; all are compared with the first.
pub(super) fn outputs(runs: &[(&str, &Settled, &Run)]) -> Vec<Output> {
    let named: Vec<_> =
        runs.iter().map(|(name, settled, run)| ((*name).to_owned(), *run, &settled.bed)).collect();
    let (common_depth, rows) = table::rows(&named);
    let variant = |((_, settled, run), row): (&(&str, &Settled, &Run), &Row)| Variant {
        bed: settled.bed.clone(),
        stones: settled.stones.len(),
        accuracy: run.accuracy,
        run: row.clone(),
    };
    let table = Table {
        study: "tamping, repeatability",
        source: SOURCE,
        case: runs[0].2.case.name(),
        variants: runs.iter().zip(&rows).map(variant).collect(),
        moves: moves(&rows),
    };
    let json = serde_json::to_string_pretty(&table).expect("plain data");
    let curves: Vec<_> = runs.iter().map(|(name, _, run)| (*name, *run)).collect();
    vec![
        Output::new("repeatability.svg", figures::repeated(&curves).svg()),
        Output::new("repeatability.md", markdown(&table, &rows, common_depth)),
        Output::new("repeatability.json", json + "\n"),
    ]
}

/// Name, unit and value of a quantity.
type Quantity = (&'static str, &'static str, fn(&Row) -> f64);

fn moves(rows: &[Row]) -> Vec<Move> {
    let quantities: [Quantity; 6] = [
        ("depth of the tips after diving", "m", |r| r.depth),
        ("penetration speed", "m/s", |r| r.speed),
        ("squeeze, stroke of the actuator", "m", |r| r.squeeze),
        ("actuator force, mean", "N", |r| r.mean_force),
        ("actuator force, peak", "N", |r| r.peak_force),
        ("gain of stone under the sleeper", "1", |r| r.filling[1] - r.filling[0]),
    ];
    let moved = |(quantity, unit, of): Quantity| {
        let values: Vec<f64> = rows.iter().map(of).collect();
        let largest =
            |values: &[f64]| values.iter().map(|x| (x - of(&rows[0])).abs()).fold(0.0, f64::max);
        let (same, other) = values.split_at(SAME_BED.min(values.len()));
        Move { quantity, unit, by_numerics: largest(same), by_bed: largest(other), values }
    };
    quantities.into_iter().map(moved).collect()
}

fn markdown(table: &Table, rows: &[Row], common_depth: f64) -> String {
    let first = &table.variants[0];
    let mut text = format!(
        "# Tamping: repeatability\n\n{}, {}: {} stones, steps of {} ms, tolerance {:e}, seed {}; each variant changes one of these.\n\n",
        table.source,
        table.case,
        first.stones,
        1e3 * first.accuracy.dt,
        first.accuracy.tolerance,
        first.bed.seed
    );
    let names: Vec<&str> = rows.iter().map(|r| r.case.as_str()).collect();
    let _ = writeln!(
        text,
        "| | {} | largest change by tolerance or step | by a different bed |",
        names.join(" | ")
    );
    let _ = writeln!(text, "| --- |{}", " ---: |".repeat(names.len() + 2));
    for m in &table.moves {
        let (scale, unit, digits) = match m.unit {
            "m" => (1e3, "mm", 1),
            "m/s" => (1.0, "m/s", 2),
            "N" => (1e-3, "kN", 1),
            _ => (1e2, "points", 1),
        };
        let values: Vec<_> = m.values.iter().map(|x| format!("{:.digits$}", scale * x)).collect();
        let moved = |x: f64| {
            let percent = 1e2 * x / m.values[0].abs();
            format!("{:.digits$} ({percent:.0} %)", scale * x)
        };
        let (numerics, bed) = (moved(m.by_numerics), moved(m.by_bed));
        let cells = values.join(" | ");
        let _ = writeln!(text, "| {} [{unit}] | {cells} | {numerics} | {bed} |", m.quantity);
    }
    let _ = write!(text, "\n## All numbers\n\n{}", table::markdown(rows, common_depth));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Effort;

    #[test]
    fn each_variant_changes_one_setting_and_the_first_is_the_run_of_the_study() {
        let study = Options::new(Effort::Full);
        let settings: Vec<Setting> = variants(&Options { repeat: true, ..study.clone() })
            .iter()
            .map(|(_, options)| Setting::new(Path::new("out"), options))
            .collect();
        let all: Vec<_> =
            settings.iter().map(|s| (s.accuracy.dt, s.accuracy.tolerance, s.bed.seed)).collect();
        let (dt, tolerance) = (5e-4, 1e-3);
        let changed =
            [(dt, 3e-4, 1), (2.5e-4, tolerance, 1), (dt, tolerance, 2), (dt, tolerance, 3)];
        assert_eq!(all, [&[(dt, tolerance, 1)], &changed[..]].concat());
        assert_eq!(settings[0].folder, Setting::new(Path::new("out"), &study).folder);
        let folders = settings.iter().map(|s| s.folder.display().to_string());
        assert_eq!(
            folders.collect::<Vec<_>>()[1..4],
            [
                "out/runs/full-seed-1-0.5ms-3e-4",
                "out/runs/full-seed-1-0.25ms-1e-3",
                "out/runs/full-seed-2-0.5ms-1e-3",
            ]
        );
    }

    #[test]
    fn the_variation_is_the_largest_difference_from_the_first_run() {
        let row = |depth: f64| Row { depth, ..Row::default() };
        let rows = [0.2, 0.19, 0.22, 0.2, 0.15].map(row);
        let moves = moves(&rows);
        assert!((moves[0].by_numerics - 0.02).abs() < 1e-15, "{:?}", moves[0]);
        assert!((moves[0].by_bed - 0.05).abs() < 1e-15, "{:?}", moves[0]);
        assert_eq!((moves[1].by_numerics, moves.len()), (0.0, 6));
    }
}

//! The tamping study of docquier2020 Sec. 6: four runs from one settled bed, Figs. 9 to 11, a table, verdicts on the claims of the
//! paper, and the variation of the results with tolerance, time step and bed.

mod claims;
mod figures;
mod picture;
mod repeat;
mod runs;
mod table;

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{Failure, Options, Output, Tell};
use crate::Effort;
use crate::scenes::tamping::{Bed, Schedule, Settled};
use crate::tamping::{Accuracy, Case, Run, settings};
use claims::{Claim, Judge, significant};
use runs::{Job, run_all, settled_bed};
use table::Row;

/// The publication.
const SOURCE: &str = "Docquier, Lantsoght, Dubois and Brüls 2020, Sec. 6";

/// Contents of `table.json`, in SI units.
#[derive(Clone, Debug, Serialize)]
struct Table {
    study: &'static str,
    source: &'static str,
    bed: Bed,
    stones: usize,
    schedule: Schedule,
    accuracy: Accuracy,
    /// Depth of the lower tip that every run reaches and over which speeds are compared [m].
    common_depth: f64,
    runs: Vec<Row>,
    scatter: Option<Scatter>,
    claims: Vec<Claim>,
}

/// Differences between two runs that are significant at the 95 % level, from repeated runs of the 15 Hz dynamic case; SI units.
#[derive(Clone, Debug, Serialize)]
struct Scatter {
    runs: usize,
    depth: f64,
    speed: f64,
    squeeze: f64,
    mean_force: f64,
    gain: f64,
}

impl Scatter {
    /// `None` if there are too few runs.
    fn of(repeated: &[Row]) -> Option<Scatter> {
        let of = |quantity: fn(&Row) -> f64| significant(repeated, quantity);
        Some(Scatter {
            runs: repeated.len(),
            depth: of(|r| r.depth)?,
            // Speeds are missing if a tool rests on a stone.
            speed: of(|r| r.speed).unwrap_or(f64::NAN),
            squeeze: of(|r| r.squeeze)?,
            mean_force: of(|r| r.mean_force)?,
            gain: of(|r| r.filling[1] - r.filling[0])?,
        })
    }

    fn sentence(&self) -> String {
        let Scatter { runs, depth, speed, squeeze, mean_force, gain } = self;
        let (depth, squeeze, force, gain) =
            (1e3 * depth, 1e3 * squeeze, 1e-3 * mean_force, 1e2 * gain);
        format!(
            "From the scatter of {runs} runs of 15 Hz dynamic, differences are significant at the 95 % level above: depth {depth:.0} mm, speed {speed:.2} m/s, squeeze {squeeze:.0} mm, mean force {force:.1} kN, gain {gain:.1} points.\n"
        )
    }
}

/// A finished run with its name and bed.
type Repeated = (String, Settled, Run);

/// Bed and accuracy of a set of runs, and the paths of their files.
#[derive(Clone, Debug)]
struct Setting {
    bed: Bed,
    accuracy: Accuracy,
    /// The file of the settled bed.
    bed_file: PathBuf,
    /// The folder of the runs.
    folder: PathBuf,
}

impl Setting {
    fn new(folder: &Path, options: &Options) -> Setting {
        let small = options.effort == Effort::Small;
        let (bed, mut accuracy) = settings(small, options.seed.unwrap_or(1));
        accuracy.dt = options.dt.unwrap_or(accuracy.dt);
        accuracy.tolerance = options.tolerance.unwrap_or(accuracy.tolerance);
        let bed_name = format!("{}-seed-{}", if small { "small" } else { "full" }, bed.seed);
        // Rounded to a billionth of a second.
        let ms = (1e9 * accuracy.dt).round() / 1e6;
        let name = format!("{bed_name}-{ms}ms-{:e}", accuracy.tolerance);
        Setting {
            bed,
            accuracy,
            bed_file: folder.join("beds").join(bed_name + ".bin"),
            folder: folder.join("runs").join(name),
        }
    }
}

/// Runs the study. Beds and runs are stored in the folder; an interrupted study resumes when it is started again.
pub(super) fn tamping(
    folder: &Path,
    options: &Options,
    tell: &mut Tell,
) -> Result<Vec<Output>, Failure> {
    if options.repeat {
        return repeat::repeat(folder, options, tell);
    }
    let setting = Setting::new(folder, options);
    let settled = settled_bed(&setting.bed_file, &setting.bed, tell)?;
    let schedule = Schedule::over(settled.top());
    let wanted = |case: &&Case| options.cases.is_empty() || options.cases.contains(case);
    let cases: Vec<Case> = Case::ALL.iter().filter(wanted).copied().collect();
    let jobs = jobs(&settled, &cases, schedule, setting.accuracy, &setting.folder);
    let runs = run_all(&jobs, threads(options), tell)?;
    // A small bed gives no verdicts.
    let full = options.effort == Effort::Full;
    let repeated = full.then(|| repeat::kept(folder, &Options::new(Effort::Full), tell));
    Ok(outputs(&settled, &runs, repeated.as_deref()))
}

/// Number of threads per run, if it does not depend on the number of runs.
fn threads(options: &Options) -> Option<usize> {
    // A small bed is not worth a second thread.
    options.threads.or((options.effort == Effort::Small).then_some(1))
}

/// Runs cases whose results are stored in a folder.
fn jobs<'a>(
    settled: &'a Settled,
    cases: &[Case],
    schedule: Schedule,
    accuracy: Accuracy,
    folder: &Path,
) -> Vec<Job<'a>> {
    cases.iter().map(|case| Job::new(settled, *case, schedule, accuracy, folder)).collect()
}

/// The files of finished runs (at least one) from one bed. Claims are judged against the scatter of repeated runs, if available.
fn outputs(settled: &Settled, runs: &[Run], repeated: Option<&[Repeated]>) -> Vec<Output> {
    let named: Vec<_> = runs.iter().map(|run| (run.case.name(), run, &settled.bed)).collect();
    let (common_depth, rows) = table::rows(&named);
    let repeated = repeated.map(|runs| {
        let named = runs.iter().map(|(name, settled, run)| (name.clone(), run, &settled.bed));
        table::rows_over(&named.collect::<Vec<_>>(), common_depth)
    });
    let table = Table {
        study: "tamping",
        source: SOURCE,
        bed: settled.bed.clone(),
        stones: settled.stones.len(),
        schedule: runs[0].schedule,
        accuracy: runs[0].accuracy,
        common_depth,
        scatter: repeated.as_deref().and_then(Scatter::of),
        claims: claims::judge(&rows, repeated.as_deref().map_or(Judge::Numbers, Judge::Scatter)),
        runs: rows,
    };
    let json = serde_json::to_string_pretty(&table).expect("plain data");
    // The fastest flywheel moves the most stones.
    let shown = runs.iter().max_by(|a, b| a.case.frequency.total_cmp(&b.case.frequency));
    let mut outputs = vec![
        Output::new("fig9.svg", picture::picture(settled, shown.unwrap_or(&runs[0]))),
        Output::new("fig10.svg", figures::figure_10(runs).svg()),
        Output::new("fig11.svg", figures::figure_11(runs).svg()),
        Output::new("solver.svg", figures::solver(runs).svg()),
        Output::new("table.md", markdown(&table)),
        Output::new("table.json", json + "\n"),
    ];
    for run in runs {
        let name = run.case.name().replace(' ', "-") + ".csv";
        outputs.push(Output::new(&name, table::series(run)));
    }
    outputs
}

fn markdown(table: &Table) -> String {
    let mut text = format!(
        "# Tamping a railway track\n\n{}: {} stones (seed {}), steps of {} ms, tolerance {:e}.\n\n{}",
        table.source,
        table.stones,
        table.bed.seed,
        1e3 * table.accuracy.dt,
        table.accuracy.tolerance,
        table::markdown(&table.runs, table.common_depth)
    );
    text.push_str("\n## Claims of the paper\n\n");
    match &table.scatter {
        Some(scatter) => text.push_str(&scatter.sentence()),
        None if table.claims.iter().all(|claim| claim.verdict.is_none()) => {
            text.push_str("The bed is too coarse for verdicts: a single stone can determine a depth.\n");
        }
        None => text.push_str(
            "One bed is one sample. For verdicts, run `riprap reproduce tamping --repeat`, then run this study again.\n",
        ),
    }
    text.push_str("\n| claim | verdict | numbers |\n| --- | --- | --- |\n");
    for Claim { claim, verdict, numbers } in &table.claims {
        let verdict = verdict.as_deref().unwrap_or("–");
        let _ = writeln!(text, "| {claim} | {verdict} | {numbers} |");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A temporary folder that is removed when dropped.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Folder {
            let name = format!("riprap-tamping-{}-{name}", std::process::id());
            let path = std::env::temp_dir().join(name);
            let _ = std::fs::remove_dir_all(&path);
            Folder(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    /// A bed of about forty large stones, and a cycle in a third of a second.
    fn tiny() -> (Settled, Schedule) {
        let bed = Bed { size: [1.0, 0.4], surface: 0.2, scale: 3.0, shapes: None, seed: 2 };
        let settled = Settled::pour(&bed, &mut |_| ()).expect("it comes to rest");
        let schedule = Schedule {
            target: 0.95,
            dive: 0.15,
            squeeze: 0.22,
            open: 0.25,
            opened: 0.28,
            lift: 0.28,
            end: 0.34,
            ..Schedule::over(settled.top())
        };
        (settled, schedule)
    }

    const ACCURACY: Accuracy = Accuracy { dt: 1e-3, tolerance: 1e-3 };

    #[test]
    fn a_short_cycle_over_a_few_stones_writes_all_files_with_closed_loops() {
        let (folder, (settled, schedule)) = (Folder::new("cycle"), tiny());
        let jobs = jobs(&settled, &Case::ALL, schedule, ACCURACY, &folder.0);
        let mut told = 0;
        let runs = run_all(&jobs, None, &mut |_| told += 1).expect("it runs");
        let files = outputs(&settled, &runs, None);
        assert_eq!((told, files.len()), (4, 10));
        let file = |name: &str| {
            let file = files.iter().find(|f| f.name == name).unwrap_or_else(|| panic!("no {name}"));
            file.content.as_str()
        };
        for name in ["fig9.svg", "fig10.svg", "fig11.svg", "solver.svg"] {
            let svg = file(name);
            assert!(svg.starts_with("<svg ") && svg.contains("<polyline"), "{name}");
            assert!(!svg.contains("NaN"), "{name}");
        }
        assert_eq!(file("45-Hz-dynamic.csv").lines().count(), 1 + 1 + 170);
        let table: serde_json::Value = serde_json::from_str(file("table.json")).expect("JSON");
        for row in table["runs"].as_array().expect("rows") {
            let number = |key: &str| row[key].as_f64().expect("a number");
            assert!(number("loop_residual") <= 1e-11, "{row}");
            // Such large stones may support a tool for a while, so it need not dive.
            assert!(number("energy_given") > 0.0 && number("depth").abs() < 0.1, "{row}");
            assert_eq!((number("outside"), number("steps")), (0.0, 340.0), "{row}");
            assert!(number("energy_put_in") > 0.0, "{row}");
        }
        assert_eq!(table["claims"].as_array().map(Vec::len), Some(5));
        assert!(file("table.md").contains("| loop residual [m] |"));
        assert!(file("table.md").contains("too coarse for verdicts"));
        let squeeze = &table["runs"][0];
        let [first, last] = [0, 1].map(|k| squeeze["elongation"][k].as_f64().expect("a number"));
        assert_eq!(squeeze["squeeze"].as_f64(), Some(last - first), "{squeeze}");

        // Started again, there is nothing left to do, and the files are identical, including wall times.
        let mut told = Vec::new();
        let again = run_all(&jobs, None, &mut |line| told.push(line.to_owned())).expect("kept");
        assert!(told.len() == 4 && told.iter().all(|l| l.contains("finished before")), "{told:?}");
        let text = |files: &[Output]| files.iter().map(|f| f.content.clone()).collect::<Vec<_>>();
        assert_eq!(text(&outputs(&settled, &again, None)), text(&files));

        // Treated as one case with different settings.
        let named: Vec<_> = runs.iter().map(|run| ("again", &settled, run)).collect();
        let files = repeat::outputs(&named);
        let names: Vec<_> = files.iter().map(|f| f.name.as_str()).collect();
        assert_eq!(names, ["repeatability.svg", "repeatability.md", "repeatability.json"]);
        assert!(!files[0].content.contains("NaN"));
        assert!(files[1].content.contains("| depth of the tips after diving [mm] |"));

        // Without 30 Hz, only claims 1 and 3 are judged; figures and table use the available runs.
        let some: Vec<Run> = runs.into_iter().filter(|r| r.case.frequency < 20.0).collect();
        let repeated: Vec<_> =
            ["a", "b", "c"].map(|name| (name.to_owned(), settled.clone(), some[0].clone())).into();
        let files = outputs(&settled, &some, Some(&repeated));
        assert_eq!(files.len(), 8);
        let table = files.iter().find(|f| f.name == "table.md").expect("a table");
        assert_eq!(table.content.matches("| not run | needs ").count(), 3, "{}", table.content);
        assert!(table.content.contains("needs 30 Hz dynamic and 45 Hz dynamic"));
        // Without any scatter among the repetitions, every difference is significant.
        assert!(table.content.contains("the scatter of 3 runs of 15 Hz dynamic"));
        let alone = outputs(&settled, &some, Some(&[]));
        let table = alone.iter().find(|f| f.name == "table.md").expect("a table");
        assert_eq!(table.content.matches("| undecided: one sample |").count(), 2);
    }

    #[test]
    fn an_interrupted_run_resumes_and_ends_bitwise_identical() {
        let (folder, (settled, schedule)) = (Folder::new("resume"), tiny());
        let case = [Case::ALL[3]];
        let whole = jobs(&settled, &case, schedule, ACCURACY, &folder.0.join("whole"));
        let whole = run_all(&whole, None, &mut |_| ()).expect("it runs").remove(0);

        // Stopped twice: after the checkpoint at 0.1 s, and after the one at 0.3 s, beyond the squeeze.
        let parts = jobs(&settled, &case, schedule, ACCURACY, &folder.0.join("parts"));
        let mut kept = None;
        for stop in [100, 300] {
            let stopped = parts[0].finish_until(kept.take(), stop);
            assert!(stopped.expect_err("it stops").to_string().contains("stopped"));
            kept = parts[0].kept(&mut |_| ());
            let kept = kept.as_ref().expect("a checkpoint");
            assert_eq!((kept.state.step, kept.samples.len() as u64), (stop, stop + 1));
        }
        let wall = kept.map_or(0.0, |run| run.report.wall);
        let mut told = Vec::new();
        let ended = run_all(&parts, None, &mut |line| told.push(line.to_owned())).expect("it ends");
        let ended = &ended[0];
        assert!(told[0].contains("resumes at t = 0.30 s"), "{told:?}");
        assert_eq!((&ended.samples, &ended.state), (&whole.samples, &whole.state));
        assert_eq!((ended.filling, ended.lost), (whole.filling, whole.lost));
        assert_eq!((ended.put_in, ended.outside), (whole.put_in, whole.outside));
        assert_eq!((&ended.squeezed, ended.air), (&whole.squeezed, whole.air));
        // Everything except wall times, which add up, and the cost of the neighbour search, which depends on the age of the list.
        let results = |run: &Run| riprap::simulation::RunReport {
            pairs: 0,
            times: Default::default(),
            wall: 0.0,
            ..run.report
        };
        assert_eq!(results(ended), results(&whole));
        assert!(ended.report.wall > wall && ended.wall_2s <= wall && ended.wall_2s > 0.0);

        // A different accuracy, schedule or bed is rejected, and so is a damaged file.
        let refused = |settled: &Settled, schedule: Schedule, accuracy: Accuracy| {
            let mut told = Vec::new();
            let jobs = jobs(settled, &case, schedule, accuracy, &folder.0.join("parts"));
            let kept = jobs[0].kept(&mut |line| told.push(line.to_owned()));
            assert!(kept.is_none() && told.len() == 1, "{told:?}");
            told.remove(0)
        };
        let line = refused(&settled, schedule, Accuracy { tolerance: 1e-4, ..ACCURACY });
        assert!(
            line.contains("15-Hz-imposed.bin: the stored result was computed with other settings"),
            "{line}"
        );
        assert!(line.contains("now `Accuracy { dt: 0.001, tolerance: 0.0001 }`"), "{line}");
        refused(&settled, Schedule { end: 0.35, ..schedule }, ACCURACY);
        let mut moved = settled.clone();
        moved.stones[7].1.position.x += 1e-15;
        let line = refused(&moved, schedule, ACCURACY);
        assert!(line.contains("stones"), "{line}");
        std::fs::write(folder.0.join("parts/15-Hz-imposed.bin"), b"riprap").expect("a file");
        let line = refused(&settled, schedule, ACCURACY);
        assert!(line.contains("this is not a riprap stored result; it is ignored"), "{line}");
    }
}

//! The tamping of docquier2020 Sec. 6: four runs from one settled bed, its Figs. 9 to 11, a table, and what the runs say to each
//! of the paper's claims.

mod claims;
mod picture;

use std::fmt::Write;
use std::path::Path;
use std::sync::{Mutex, mpsc};
use std::time::Instant;

use serde::Serialize;

use super::{Failure, Output, Tell};
use crate::Effort;
use crate::figure::{Axis, Colour, Curve, Dash, Figure, Panel};
use crate::mechanisms::TAMPING_LENGTHS;
use crate::scenes::tamping::{Bed, Schedule, Settled};
use crate::tamping::{Accuracy, Case, Run, Sample, run, settings};
use claims::Claim;

/// Shortest and longest computing time of the paper for 2 s, on one core [h].
const PAPER: [f64; 2] = [160.0, 220.0];

/// A run: a row of the table.
#[derive(Clone, Debug, Serialize)]
struct Row {
    /// Which run.
    case: String,
    /// Height of the chassis when the dive ends, mean of its last 1/15 s [m].
    chassis: f64,
    /// Depth of the lower tip below the surface then [m].
    depth: f64,
    /// When the lower tip was as deep as all runs come [s], and its mean speed from the surface to there [m/s].
    time_to_common_depth: f64,
    /// See `time_to_common_depth`.
    speed: f64,
    /// How much longer the actuator is at the end of the squeeze than at its begin, mean of the last 1/15 s [m].
    squeeze: f64,
    /// Mean and largest force of the actuator while it squeezes [N].
    mean_force: f64,
    /// See `mean_force`.
    peak_force: f64,
    /// Stone under the sleeper between the ends of the plates [–]: at the begin, after the squeeze, at the end.
    filling: [f64; 3],
    /// Energy put in by drives and prescribed motions, and given to the ballast [J].
    energy_put_in: f64,
    /// See `energy_put_in`.
    energy_given: f64,
    /// Amplitudes of the chassis against the support in free air: x, z [m], turn [rad].
    air: [f64; 3],
    /// Deepest overlap [m].
    penetration: f64,
    /// Stones beyond the walls at the end.
    outside: usize,
    /// Steps, and those that stopped short of the tolerance.
    steps: u64,
    /// See `steps`.
    unconverged: u64,
    /// Largest residual of a step [–].
    worst_residual: f64,
    /// Contacts of a step: mean and most.
    contacts: (f64, usize),
    /// Sweeps of a step: mean and most.
    sweeps: (f64, usize),
    /// Largest residual of the loops [m].
    loop_residual: f64,
    /// Wall time of all and of the first 2 s on one thread [s].
    wall: f64,
    /// See `wall`.
    wall_2s: f64,
}

/// What `table.json` holds; SI units.
#[derive(Clone, Debug, Serialize)]
struct Table {
    study: &'static str,
    source: &'static str,
    bed: Bed,
    stones: usize,
    schedule: Schedule,
    accuracy: Accuracy,
    /// Depth of the lower tip that every run reaches, of which the speeds tell [m].
    common_depth: f64,
    runs: Vec<Row>,
    claims: Vec<Claim>,
}

/// Runs the study. The settled bed is kept in the folder.
pub(super) fn tamping(
    folder: &Path,
    effort: Effort,
    tell: &mut Tell,
) -> Result<Vec<Output>, Failure> {
    let (bed, accuracy) = settings(effort == Effort::Small, 1);
    let settled = settled_bed(folder, &bed, tell)?;
    outputs(&settled, Schedule::over(settled.top()), accuracy, tell)
}

/// Runs all cases from a settled bed, and makes the files.
fn outputs(
    settled: &Settled,
    schedule: Schedule,
    accuracy: Accuracy,
    tell: &mut Tell,
) -> Result<Vec<Output>, Failure> {
    let runs = run_all(settled, schedule, accuracy, tell)?;
    let surface = settled.bed.surface;
    let shallowest = runs.iter().map(|r| surface - mean(r, dive_end(r), |s| s.tip));
    let common_depth = 0.9 * shallowest.fold(f64::INFINITY, f64::min);
    let rows: Vec<Row> = runs.iter().map(|r| measured(r, surface, common_depth)).collect();
    let table = Table {
        study: "tamping",
        source: "Docquier, Lantsoght, Dubois and Brüls 2020, Sec. 6",
        bed: settled.bed.clone(),
        stones: settled.stones.len(),
        schedule,
        accuracy,
        common_depth,
        claims: claims::judge(&rows),
        runs: rows,
    };
    let json = serde_json::to_string_pretty(&table).expect("plain data");
    let mut outputs = vec![
        Output::new("fig9.svg", picture::picture(settled, &runs[2])),
        Output::new("fig10.svg", figure_10(&runs).svg()),
        Output::new("fig11.svg", figure_11(&runs).svg()),
        Output::new("solver.svg", solver(&runs).svg()),
        Output::new("table.md", markdown(&table)),
        Output::new("table.json", json + "\n"),
    ];
    for run in &runs {
        let name = run.case.name().replace(' ', "-") + ".csv";
        outputs.push(Output::new(&name, series(run)));
    }
    Ok(outputs)
}

/// The settled bed of the study: the one in the folder if it fits, otherwise a new one, which is stored there.
fn settled_bed(folder: &Path, bed: &Bed, tell: &mut Tell) -> Result<Settled, Failure> {
    let path = folder.join("bed.json");
    let stored = std::fs::read_to_string(&path).ok();
    if let Some(settled) = stored.and_then(|text| Settled::from_text(&text, bed)) {
        tell(&format!("{} stones at rest from {}", settled.stones.len(), path.display()));
        return Ok(settled);
    }
    let begin = Instant::now();
    let settled = if bed.scale > 1.0 {
        // A small bed is not worth a second thread.
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        pool.install(|| Settled::pour(bed, &mut |_| ()))?
    } else {
        Settled::pour(bed, tell)?
    };
    riprap_io::write_whole(&path, settled.to_text().as_bytes())?;
    let wall = begin.elapsed().as_secs_f64();
    tell(&format!("{} stones at rest after {wall:.0} s", settled.stones.len()));
    Ok(settled)
}

/// Runs all cases, as many at a time as there are threads, one thread each. The order of the answers is that of the cases.
fn run_all(
    settled: &Settled,
    schedule: Schedule,
    accuracy: Accuracy,
    tell: &mut Tell,
) -> Result<Vec<Run>, Failure> {
    let workers = rayon::current_num_threads().clamp(1, Case::ALL.len());
    // From the back: the longest ones first.
    let waiting = Mutex::new((0..Case::ALL.len()).collect::<Vec<_>>());
    let (send, receive) = mpsc::channel();
    let work = || -> Result<(), Failure> {
        let send = send.clone();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        while let Some(k) = waiting.lock().ok().and_then(|mut w| w.pop()) {
            let result = pool.install(|| run(settled, Case::ALL[k], schedule, accuracy));
            let _ = send.send((k, result));
        }
        Ok(())
    };
    let mut runs: Vec<Option<Run>> = vec![None; Case::ALL.len()];
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        let mut failed = None;
        for _ in 0..Case::ALL.len() {
            let Ok((k, result)) = receive.recv() else { break };
            match result {
                Ok(run) => {
                    let (name, report) = (run.case.name(), &run.report);
                    let (sweeps, wall) = (report.mean_sweeps(), report.wall);
                    let unconverged = report.unconverged;
                    tell(&format!(
                        "{name}: {sweeps:.0} sweeps a step, {unconverged} unconverged steps, {wall:.0} s"
                    ));
                    runs[k] = Some(run);
                }
                Err(error) => failed = Some(format!("{}: {error}", Case::ALL[k].name())),
            }
        }
        for thread in threads {
            thread.join().map_err(|_| "a run ended by a panic")??;
        }
        failed.map_or(Ok(()), |error| Err(Failure::from(error)))
    })?;
    Ok(runs.into_iter().flatten().collect())
}

/// When the dive ends [s].
fn dive_end(run: &Run) -> f64 {
    run.schedule.dive
}

/// Mean of a quantity over the last 1/15 s before a time [s]: whole periods of every frequency.
fn mean(run: &Run, end: f64, quantity: impl Fn(&Sample) -> f64) -> f64 {
    between(run, end - 1.0 / 15.0, end, quantity)
}

/// Mean of a quantity after one time and up to another [s].
fn between(run: &Run, begin: f64, end: f64, quantity: impl Fn(&Sample) -> f64) -> f64 {
    let within = |s: &&Sample| s.t > begin + 1e-9 && s.t < end + 1e-9;
    let (n, sum) =
        run.samples.iter().filter(within).fold((0, 0.0), |(n, sum), s| (n + 1, sum + quantity(s)));
    sum / f64::from(n.max(1))
}

fn measured(run: &Run, surface: f64, common_depth: f64) -> Row {
    let (dive, open) = (dive_end(run), run.schedule.open);
    let reaches = |height: f64| run.samples.iter().find(|s| s.tip <= height).map_or(dive, |s| s.t);
    let reached = reaches(surface - common_depth);
    let squeezing = run.samples.iter().filter(|s| s.t > dive && s.t <= open);
    let report = &run.report;
    Row {
        case: run.case.name(),
        chassis: mean(run, dive, |s| s.chassis),
        depth: surface - mean(run, dive, |s| s.tip),
        time_to_common_depth: reached,
        // Not a number where a tool stood on a stone and never dived.
        speed: match reached - reaches(surface) {
            time if time > 0.0 && common_depth > 0.0 => common_depth / time,
            _ => f64::NAN,
        },
        squeeze: mean(run, open, |s| s.length) - TAMPING_LENGTHS[0],
        mean_force: between(run, dive, open, |s| s.force),
        peak_force: squeezing.map(|s| s.force).fold(f64::NEG_INFINITY, f64::max),
        filling: run.filling,
        energy_put_in: run.put_in,
        energy_given: run.samples.last().map_or(0.0, |s| s.given),
        air: run.air.chassis.map(|h| h.amplitude()),
        penetration: report.penetration,
        outside: run.outside,
        steps: report.steps,
        unconverged: report.unconverged,
        worst_residual: report.worst_residual,
        contacts: (report.mean_contacts(), report.contacts.1),
        sweeps: (report.mean_sweeps(), report.sweeps.1),
        loop_residual: report.loop_residual,
        wall: report.wall,
        wall_2s: run.wall_2s,
    }
}

/// Colour and pattern of a case: as in the paper, what is imposed is dotted.
fn style(case: &Case) -> (Colour, Dash) {
    let colour = match case.frequency {
        f if f < 20.0 => Colour::Blue,
        f if f < 40.0 => Colour::Orange,
        _ => Colour::Green,
    };
    (colour, if case.imposed { Dash::Dotted } else { Dash::Solid })
}

/// A quantity of every run over a stretch of time [s].
fn curves(
    runs: &[Run],
    [begin, end]: [f64; 2],
    points: impl Fn(&Run) -> Vec<[f64; 2]>,
) -> Vec<Curve> {
    let curve = |run: &Run| {
        let (colour, dash) = style(&run.case);
        let mut points = points(run);
        points.retain(|p| (begin..=end).contains(&p[0]));
        Curve::new(&run.case.name(), colour, points).dash(dash)
    };
    runs.iter().map(curve).collect()
}

/// A quantity after every step.
fn every(run: &Run, quantity: impl Fn(&Sample) -> f64) -> Vec<[f64; 2]> {
    run.samples.iter().map(|s| [s.t, quantity(s)]).collect()
}

/// A quantity as the mean over a period of the flywheel, the time in its middle.
fn smoothed(run: &Run, quantity: impl Fn(&Sample) -> f64) -> Vec<[f64; 2]> {
    let dt = run.samples.get(1).map_or(1.0, |s| s.t);
    let n = (1.0 / run.case.frequency / dt).round().max(1.0) as usize;
    let point = |w: &[Sample]| {
        let sum: f64 = w.iter().map(&quantity).sum();
        [0.5 * (w[0].t + w[w.len() - 1].t), sum / w.len() as f64]
    };
    run.samples.windows(n).map(point).collect()
}

fn figure_10(runs: &[Run]) -> Figure {
    let end = runs[0].schedule.dive;
    Figure {
        title: "Diving: height of the chassis (docquier2020, Fig. 10)".into(),
        size: [760, 460],
        columns: 1,
        panels: vec![Panel {
            title: String::new(),
            x: Axis::new("time [s]").range(0.0, end),
            y: Axis::new("height of the chassis [m]"),
            curves: curves(runs, [0.0, end], |run| every(run, |s| s.chassis)),
        }],
    }
}

fn figure_11(runs: &[Run]) -> Figure {
    let stretch = [runs[0].schedule.dive, runs[0].schedule.open];
    let panel = |title: &str, label: &str, points: &dyn Fn(&Run) -> Vec<[f64; 2]>| Panel {
        title: title.into(),
        x: Axis::new("time [s]").range(stretch[0], stretch[1]),
        y: Axis::new(label),
        curves: curves(runs, stretch, points),
    };
    let elongation = |run: &Run| every(run, |s| 1e3 * (s.length - TAMPING_LENGTHS[0]));
    let mut length = panel("(a)", "elongation of the actuator [mm]", &elongation);
    let wanted = (0..=100).map(|k| {
        let t = stretch[0] + 0.01 * f64::from(k) * (stretch[1] - stretch[0]);
        [t, 1e3 * (runs[0].schedule.length(t) - TAMPING_LENGTHS[0])]
    });
    let wanted = Curve::new("wanted length", Colour::Grey, wanted.collect());
    length.curves.insert(0, wanted.width(1.0).dash(Dash::Dashed));
    let force = |run: &Run| smoothed(run, |s| 1e-3 * s.force);
    Figure {
        title: "Squeezing: the actuator (docquier2020, Fig. 11)".into(),
        size: [1000, 440],
        columns: 2,
        panels: vec![length, panel("(b)", "force, mean over a period [kN]", &force)],
    }
}

fn solver(runs: &[Run]) -> Figure {
    let end = runs[0].schedule.end;
    let panel = |label: &str, logarithmic: bool, quantity: &dyn Fn(&Sample) -> f64| {
        let axis = Axis::new(label);
        // The largest of 20 ms each: the spikes are what matters.
        let largest = |run: &Run| {
            let n = (run.samples.len() / 130).max(1);
            let worst = |w: &[Sample]| [w[0].t, w.iter().map(quantity).fold(0.0, f64::max)];
            run.samples[1..].chunks(n).map(worst).collect()
        };
        Panel {
            title: String::new(),
            x: Axis::new("time [s]").range(0.0, end),
            y: if logarithmic { axis.logarithmic() } else { axis },
            curves: curves(runs, [0.0, end], largest),
        }
    };
    Figure {
        title: "The contact solver: largest of every 20 ms".into(),
        size: [1000, 640],
        columns: 1,
        panels: vec![
            panel("sweeps of a step", true, &|s| s.sweeps as f64),
            panel("residual of a step [1]", true, &|s| s.residual),
        ],
    }
}

/// The run as a table of numbers, one line each 2 ms.
fn series(run: &Run) -> String {
    let mut text = String::from(
        "t [s],support [m],chassis [m],tip [m],actuator [m],force [N],given [J],contacts,sweeps,residual\n",
    );
    let dt = run.samples.get(1).map_or(1.0, |s| s.t);
    for s in run.samples.iter().step_by(((2e-3 / dt).round() as usize).max(1)) {
        let _ = writeln!(
            text,
            "{:.4},{:.6},{:.6},{:.6},{:.6},{:.1},{:.2},{},{},{:.2e}",
            s.t,
            s.support,
            s.chassis,
            s.tip,
            s.length,
            s.force,
            s.given,
            s.contacts,
            s.sweeps,
            s.residual
        );
    }
    text
}

fn markdown(table: &Table) -> String {
    let mut text = format!(
        "# Tamping a railway track\n\n{}: {} stones, steps of {} ms, tolerance {:.0e}.\n\n",
        table.source,
        table.stones,
        1e3 * table.accuracy.dt,
        table.accuracy.tolerance
    );
    let names: Vec<&str> = table.runs.iter().map(|r| r.case.as_str()).collect();
    let _ = writeln!(text, "| | {} |", names.join(" | "));
    let _ = writeln!(text, "| --- |{}", " ---: |".repeat(names.len()));
    let mut line = |quantity: &str, cell: &dyn Fn(&Row) -> String| {
        let cells: Vec<_> = table.runs.iter().map(cell).collect();
        let _ = writeln!(text, "| {quantity} | {} |", cells.join(" | "));
    };
    let mm = |x: f64| format!("{:.0}", 1e3 * x);
    let kilo = |x: f64| format!("{:.1}", 1e-3 * x);
    let percent = |x: f64| format!("{:.1}", 1e2 * x);
    line("amplitude of the chassis in free air, x / z [mm]", &|r| {
        format!("{:.1} / {:.1}", 1e3 * r.air[0], 1e3 * r.air[1])
    });
    line("height of the chassis after diving [mm]", &|r| mm(r.chassis));
    line("depth of the tips after diving [mm]", &|r| mm(r.depth));
    line(&format!("penetration speed over {} mm [m/s]", mm(table.common_depth)), &|r| {
        if r.speed.is_finite() { format!("{:.2}", r.speed) } else { "–".to_owned() }
    });
    line("squeeze, elongation of the actuator [mm]", &|r| format!("{:.1}", 1e3 * r.squeeze));
    line("actuator force, mean [kN]", &|r| kilo(r.mean_force));
    line("actuator force, peak [kN]", &|r| kilo(r.peak_force));
    line("stone under the sleeper: before, after squeezing, at the end [%]", &|r| {
        r.filling.map(percent).join(", ")
    });
    line("energy put in [kJ]", &|r| kilo(r.energy_put_in));
    line("energy given to the ballast [kJ]", &|r| kilo(r.energy_given));
    line("worst penetration [mm]", &|r| format!("{:.2}", 1e3 * r.penetration));
    line("stones beyond the walls", &|r| r.outside.to_string());
    line("steps, unconverged", &|r| format!("{}, {}", r.steps, r.unconverged));
    line("largest residual", &|r| format!("{:.1e}", r.worst_residual));
    line("contacts of a step, mean / most", &|r| format!("{:.0} / {}", r.contacts.0, r.contacts.1));
    line("sweeps of a step, mean / most", &|r| format!("{:.0} / {}", r.sweeps.0, r.sweeps.1));
    line("loop residual [m]", &|r| format!("{:.0e}", r.loop_residual));
    line("wall time, one thread [s]", &|r| format!("{:.0}", r.wall));
    line("wall time of the first 2 s, one thread [s]", &|r| format!("{:.0}", r.wall_2s));
    if table.bed == Bed::full(table.bed.seed) {
        line("the paper's 160–220 h over this", &|r| {
            let [low, high] = PAPER.map(|h| h * 3600.0 / r.wall_2s);
            format!("{low:.0}–{high:.0}")
        });
    }
    text.push_str(
        "\n## The paper's claims\n\n| claim | verdict | numbers |\n| --- | --- | --- |\n",
    );
    for claim in &table.claims {
        let _ = writeln!(text, "| {} | {} | {} |", claim.claim, claim.verdict, claim.numbers);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bed of about forty large stones, and a cycle in a third of a second.
    #[test]
    fn a_short_cycle_over_a_few_stones_makes_all_files_with_closed_loops() {
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
        let accuracy = Accuracy { dt: 1e-3, tolerance: 1e-3 };
        let mut told = 0;
        let files = outputs(&settled, schedule, accuracy, &mut |_| told += 1).expect("it runs");
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
            // Stones this large may carry a tool for a while: it need not dive.
            assert!(number("energy_given") > 0.0 && number("depth").abs() < 0.1, "{row}");
            assert_eq!((number("outside"), number("steps")), (0.0, 340.0), "{row}");
            assert!(number("energy_put_in") > 0.0, "{row}");
        }
        assert_eq!(table["claims"].as_array().map(Vec::len), Some(5));
        assert!(file("table.md").contains("| loop residual [m] |"));
    }
}

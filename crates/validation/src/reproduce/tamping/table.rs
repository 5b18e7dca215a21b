//! The measured quantities of a run, as numbers and as text.

use std::fmt::Write;

use serde::Serialize;

use crate::mechanisms::TAMPING_LENGTHS;
use crate::scenes::tamping::{Bed, Schedule};
use crate::tamping::{Run, Sample};

/// Shortest and longest computing time reported in the paper for 2 s, on one core [h].
const PAPER: [f64; 2] = [160.0, 220.0];

/// Row of the table for a run.
#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Row {
    /// Name of the run: its case or the varied setting.
    pub case: String,
    /// Height of the chassis at the end of the dive, averaged over the last 1/15 s [m].
    pub chassis: f64,
    /// Depth of the lower tip below the surface at that time [m].
    pub depth: f64,
    /// Time at which the lower tip reached the depth that all runs reach [s], and its mean speed from the surface to that depth [m/s].
    pub time_to_common_depth: f64,
    /// See `time_to_common_depth`.
    pub speed: f64,
    /// Time at which the support reached the end of its stroke, if that ended the dive early [s].
    pub stop: Option<f64>,
    /// Elongation of the actuator, `L − L₀`, at the start and end of the squeeze, each averaged over the preceding 1/15 s [m].
    pub elongation: [f64; 2],
    /// Stroke of the squeeze: the second of `elongation` minus the first [m].
    pub squeeze: f64,
    /// Mean and largest force of the actuator during the squeeze [N].
    pub mean_force: f64,
    /// See `mean_force`.
    pub peak_force: f64,
    /// Solid fraction under the sleeper between the ends of the plates [–]: initially, after the squeeze, at the end.
    pub filling: [f64; 3],
    /// Energy put in by drives and prescribed motions, and energy transferred to the ballast [J].
    pub energy_put_in: f64,
    /// See `energy_put_in`.
    pub energy_given: f64,
    /// Amplitudes of the chassis relative to the support in free air: x, z [m], rotation [rad].
    pub air: [f64; 3],
    /// Deepest overlap [m].
    pub penetration: f64,
    /// Number of stones outside the walls at the end.
    pub outside: usize,
    /// Numbers of steps and of unconverged steps.
    pub steps: u64,
    /// See `steps`.
    pub unconverged: u64,
    /// Largest residual of a step [–].
    pub worst_residual: f64,
    /// Contacts of a step: mean and max.
    pub contacts: (f64, usize),
    /// Sweeps of a step: mean and max.
    pub sweeps: (f64, usize),
    /// Largest residual of the loops [m].
    pub loop_residual: f64,
    /// Largest number of threads it ran on.
    pub threads: usize,
    /// Wall time of the whole run and of its first 2 s, on these threads [s].
    pub wall: f64,
    /// See `wall`.
    pub wall_2s: f64,
    /// The 160 and 220 h of the paper divided by `wall_2s` [–], if the bed has the size of the paper's.
    pub faster_than_the_paper: Option<[f64; 2]>,
}

/// The rows of runs, each with its name and bed, and the depth that all of them reach, over which speeds are compared [m].
pub(super) fn rows(runs: &[(String, &Run, &Bed)]) -> (f64, Vec<Row>) {
    let shallowest = runs.iter().map(|(_, run, bed)| depth(run, bed));
    let common_depth = 0.9 * shallowest.fold(f64::INFINITY, f64::min);
    (common_depth, rows_over(runs, common_depth))
}

/// The rows of runs, with speeds over a given depth [m].
pub(super) fn rows_over(runs: &[(String, &Run, &Bed)], common_depth: f64) -> Vec<Row> {
    let row = |(name, run, bed): &(String, &Run, &Bed)| measured(name, run, bed, common_depth);
    runs.iter().map(row).collect()
}

/// Depth of the lower tip below the surface at the end of the dive [m].
fn depth(run: &Run, bed: &Bed) -> f64 {
    bed.surface - mean(run, run.schedule.dive, |s| s.tip)
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

/// Time at which the support reached the end of its stroke, if that ended the dive early [s].
pub(super) fn stop(run: &Run) -> Option<f64> {
    let Schedule { target, dive, .. } = run.schedule;
    run.samples.iter().find(|s| s.support <= target && s.t < dive - 1e-9).map(|s| s.t)
}

fn measured(name: &str, run: &Run, bed: &Bed, common_depth: f64) -> Row {
    let (dive, open, surface) = (run.schedule.dive, run.schedule.open, bed.surface);
    let reaches = |height: f64| run.samples.iter().find(|s| s.tip <= height).map_or(dive, |s| s.t);
    let reached = reaches(surface - common_depth);
    let squeezing = run.samples.iter().filter(|s| s.t > dive && s.t <= open);
    let elongation = [dive, open].map(|t| mean(run, t, |s| s.length) - TAMPING_LENGTHS[0]);
    let report = &run.report;
    Row {
        case: name.to_owned(),
        chassis: mean(run, dive, |s| s.chassis),
        depth: depth(run, bed),
        time_to_common_depth: reached,
        // NaN if a tool rests on a stone and does not dive.
        speed: match reached - reaches(surface) {
            time if time > 0.0 && common_depth > 0.0 => common_depth / time,
            _ => f64::NAN,
        },
        stop: stop(run),
        elongation,
        squeeze: elongation[1] - elongation[0],
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
        threads: run.threads,
        wall: report.wall,
        wall_2s: run.wall_2s,
        faster_than_the_paper: (*bed == Bed::full(bed.seed))
            .then(|| PAPER.map(|h| h * 3600.0 / run.wall_2s)),
    }
}

/// The run as a CSV table, one line every 2 ms; sweeps and residuals are the maximum since the previous line.
pub(super) fn series(run: &Run) -> String {
    let mut text = String::from(
        "t [s],support [m],chassis [m],tip [m],actuator [m],force [N],given [J],contacts,sweeps,residual\n",
    );
    let n = ((2e-3 / run.accuracy.dt).round() as usize).max(1);
    let Some((first, rest)) = run.samples.split_first() else { return text };
    for since in std::iter::once(std::slice::from_ref(first)).chain(rest.chunks(n)) {
        let s = since[since.len() - 1];
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
            since.iter().map(|s| s.sweeps).fold(0, usize::max),
            since.iter().map(|s| s.residual).fold(0.0, f64::max)
        );
    }
    text
}

/// The rows as columns of a Markdown table.
pub(super) fn markdown(rows: &[Row], common_depth: f64) -> String {
    let mut text = String::new();
    let names: Vec<&str> = rows.iter().map(|r| r.case.as_str()).collect();
    let _ = writeln!(text, "| | {} |", names.join(" | "));
    let _ = writeln!(text, "| --- |{}", " ---: |".repeat(names.len()));
    let mut line = |quantity: &str, cell: &dyn Fn(&Row) -> String| {
        let cells: Vec<_> = rows.iter().map(cell).collect();
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
    line(&format!("penetration speed over {} mm [m/s]", mm(common_depth)), &|r| {
        if r.speed.is_finite() { format!("{:.2}", r.speed) } else { "–".to_owned() }
    });
    line("end of the dive [s]", &|r| match r.stop {
        Some(t) => format!("{t:.2}, at the end of the stroke"),
        None => "by time".to_owned(),
    });
    line("elongation of the actuator before and after squeezing [mm]", &|r| {
        r.elongation.map(|x| format!("{:.1}", 1e3 * x)).join(", ")
    });
    line("squeeze, stroke of the actuator [mm]", &|r| format!("{:.1}", 1e3 * r.squeeze));
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
    line("contacts per step, mean / max", &|r| format!("{:.0} / {}", r.contacts.0, r.contacts.1));
    line("sweeps per step, mean / max", &|r| format!("{:.0} / {}", r.sweeps.0, r.sweeps.1));
    line("loop residual [m]", &|r| format!("{:.0e}", r.loop_residual));
    line("threads", &|r| r.threads.to_string());
    line("wall time [s]", &|r| format!("{:.0}", r.wall));
    line("wall time of the first 2 s [s]", &|r| format!("{:.0}", r.wall_2s));
    if rows.iter().all(|r| r.faster_than_the_paper.is_some()) {
        line("the paper's 160–220 h over this", &|r| {
            let [low, high] = r.faster_than_the_paper.unwrap_or_default();
            format!("{low:.0}–{high:.0}")
        });
    }
    text
}

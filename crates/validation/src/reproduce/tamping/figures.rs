//! The figures of the tamping study: Figs. 10 and 11 of the paper, sweeps and residuals of the solver, and repeated runs.

use super::table;
use crate::figure::{Axis, Colour, Curve, Dash, Figure, Panel};
use crate::mechanisms::TAMPING_LENGTHS;
use crate::tamping::{Run, Sample};

/// A run and its line style.
struct Shown<'a> {
    name: String,
    run: &'a Run,
    colour: Colour,
    dash: Dash,
}

/// The cases; as in the paper, the imposed motion is dotted.
fn cases(runs: &[Run]) -> Vec<Shown<'_>> {
    fn shown(run: &Run) -> Shown<'_> {
        let case = run.case;
        let colour = match case.frequency {
            f if f < 20.0 => Colour::Blue,
            f if f < 40.0 => Colour::Orange,
            _ => Colour::Green,
        };
        let dash = if case.imposed { Dash::Dotted } else { Dash::Solid };
        Shown { name: case.name(), run, colour, dash }
    }
    runs.iter().map(shown).collect()
}

/// A quantity of every run over a time interval [s].
fn panel(
    [title, label]: [&str; 2],
    runs: &[Shown],
    [begin, end]: [f64; 2],
    points: impl Fn(&Run) -> Vec<[f64; 2]>,
) -> Panel {
    let curve = |shown: &Shown| {
        let mut points = points(shown.run);
        points.retain(|p| (begin..=end).contains(&p[0]));
        Curve::new(&shown.name, shown.colour, points).dash(shown.dash)
    };
    Panel {
        title: title.into(),
        x: Axis::new("time [s]").range(begin, end),
        y: Axis::new(label),
        curves: runs.iter().map(curve).collect(),
    }
}

/// A quantity after every step.
fn every(run: &Run, quantity: impl Fn(&Sample) -> f64) -> Vec<[f64; 2]> {
    run.samples.iter().map(|s| [s.t, quantity(s)]).collect()
}

/// A quantity averaged over a period of the flywheel, at the time in its middle.
fn smoothed(run: &Run, quantity: impl Fn(&Sample) -> f64) -> Vec<[f64; 2]> {
    let dt = run.samples.get(1).map_or(1.0, |s| s.t);
    let n = (1.0 / run.case.frequency / dt).round().max(1.0) as usize;
    let point = |w: &[Sample]| {
        let sum: f64 = w.iter().map(&quantity).sum();
        [0.5 * (w[0].t + w[w.len() - 1].t), sum / w.len() as f64]
    };
    run.samples.windows(n).map(point).collect()
}

/// Height of the chassis during the dive; a disc marks where the support reaches the end of its stroke, which ends the dive.
fn height(title: &str, runs: &[Shown]) -> Panel {
    let stretch = [0.0, runs[0].run.schedule.dive];
    let label = "height of the chassis [m]";
    let mut panel = panel([title, label], runs, stretch, |run| every(run, |s| s.chassis));
    for Shown { name, run, colour, .. } in runs {
        let at = table::stop(run).and_then(|t| run.samples.iter().find(|s| s.t >= t));
        if let Some(sample) = at {
            let name = format!("{name}: end of the stroke");
            let point = vec![[sample.t, sample.chassis]];
            panel.curves.push(Curve::new(&name, *colour, point).width(4.0).marked());
        }
    }
    panel
}

/// Length and force of the actuator during the squeeze.
fn squeeze(titles: [&str; 2], runs: &[Shown]) -> [Panel; 2] {
    let schedule = runs[0].run.schedule;
    let stretch = [schedule.dive, schedule.open];
    let elongation = |run: &Run| every(run, |s| 1e3 * (s.length - TAMPING_LENGTHS[0]));
    let label = "elongation of the actuator [mm]";
    let mut length = panel([titles[0], label], runs, stretch, elongation);
    let wanted = (0..=100).map(|k| {
        let t = stretch[0] + 0.01 * f64::from(k) * (stretch[1] - stretch[0]);
        [t, 1e3 * (schedule.length(t) - TAMPING_LENGTHS[0])]
    });
    let wanted = Curve::new("commanded length", Colour::Grey, wanted.collect());
    length.curves.insert(0, wanted.width(1.0).dash(Dash::Dashed));
    let force = |run: &Run| smoothed(run, |s| 1e-3 * s.force);
    let label = "force, mean over a period [kN]";
    [length, panel([titles[1], label], runs, stretch, force)]
}

/// Fig. 10 of the paper.
pub(super) fn figure_10(runs: &[Run]) -> Figure {
    Figure {
        title: "Diving: height of the chassis (docquier2020, Fig. 10)".into(),
        size: [760, 460],
        columns: 1,
        panels: vec![height("", &cases(runs))],
    }
}

/// Fig. 11 of the paper.
pub(super) fn figure_11(runs: &[Run]) -> Figure {
    Figure {
        title: "Squeezing: the actuator (docquier2020, Fig. 11)".into(),
        size: [1000, 440],
        columns: 2,
        panels: squeeze(["(a)", "(b)"], &cases(runs)).into(),
    }
}

/// One case with varied settings, each run with its name.
pub(super) fn repeated(runs: &[(&str, &Run)]) -> Figure {
    use Colour::{Black, Blue, Green, Orange, Purple, Vermilion};
    let colours = [Black, Orange, Vermilion, Blue, Green, Purple];
    let each = runs.iter().zip(colours.into_iter().cycle());
    let shown: Vec<Shown> = each
        .map(|((name, run), colour)| {
            let name = (*name).to_owned();
            Shown { name, run, colour, dash: Dash::Solid }
        })
        .collect();
    let [length, force] = squeeze(["(b)", "(c)"], &shown);
    Figure {
        title: "One case with varied tolerance, time step and bed".into(),
        size: [1200, 440],
        columns: 3,
        panels: vec![height("(a)", &shown), length, force],
    }
}

/// Sweeps and residual over the whole run.
pub(super) fn solver(runs: &[Run]) -> Figure {
    let end = runs[0].schedule.end;
    let shown = cases(runs);
    let panel = |label: &str, quantity: &dyn Fn(&Sample) -> f64| {
        // The maximum of every 20 ms, because the spikes matter.
        let largest = |run: &Run| {
            let n = ((20e-3 / run.accuracy.dt).round() as usize).max(1);
            let worst = |w: &[Sample]| [w[0].t, w.iter().map(quantity).fold(0.0, f64::max)];
            run.samples[1..].chunks(n).map(worst).collect()
        };
        let panel = panel(["", label], &shown, [0.0, end], largest);
        Panel { y: panel.y.logarithmic(), ..panel }
    };
    Figure {
        title: "Contact solver: maximum of every 20 ms".into(),
        size: [1000, 640],
        columns: 1,
        panels: vec![
            panel("sweeps per step", &|s| s.sweeps as f64),
            panel("residual of a step [–]", &|s| s.residual),
        ],
    }
}

//! The slider–crank of docquier2020 Sec. 5: Figs. 6 and 7 compared with the event-driven reference, convergence, and a table of all
//! runs.

use std::fmt::Write;
use std::time::Instant;

use serde::Serialize;

use super::{Output, Tell};
use crate::Effort;
use crate::check::observed_order;
use crate::figure::{Axis, Colour, Curve, Dash, Figure, Panel};
use crate::slider_crank::{CLEARANCE, Model, Motion, Parameters, TWO_REVOLUTIONS, run};

const ABSOLUTE: Model = Model::Absolute { project: false };
const PROJECTED: Model = Model::Absolute { project: true };

/// A row of the table: a run, or published numbers of another code.
#[derive(Clone, Debug, Default, Serialize)]
struct Row {
    /// Code and model.
    method: String,
    /// Time step [s].
    step: Option<f64>,
    /// Largest difference of the slider's height from the reference [m].
    height_error: Option<f64>,
    /// Deepest overlap over the clearance [–].
    overlap: Option<f64>,
    /// Number of revolutions of the crank [–].
    revolutions: Option<f64>,
    /// Number of impacts above 1 cm/s.
    impacts: Option<usize>,
    /// Energy lost [J].
    energy_lost: Option<f64>,
    /// Largest angle of the slider [rad].
    slider_angle: Option<f64>,
    /// Largest residual of the loop [m].
    loop_residual: Option<f64>,
    /// Error of the hinges at the end, in absolute coordinates [m].
    hinge_drift: Option<f64>,
    /// Number of unconverged steps.
    unconverged: Option<u64>,
    /// Wall time [s].
    wall: Option<f64>,
}

/// A run with friction, compared with Siconos at 1e-6 s.
#[derive(Clone, Debug, Serialize)]
struct FrictionRow {
    method: String,
    /// Time step [s].
    step: f64,
    /// Largest difference of the slider's height from Siconos at 1e-6 s [m].
    height_difference: f64,
    /// Largest angle of the slider [rad].
    slider_angle: f64,
}

/// Observed order of convergence of a model.
#[derive(Clone, Debug, Serialize)]
struct Order {
    method: String,
    order: f64,
}

/// Contents of `table.json`, in SI units.
#[derive(Clone, Debug, Serialize)]
struct Table {
    study: &'static str,
    source: &'static str,
    /// Clearance on either side [m], and the duration of the runs [s].
    clearance: f64,
    until: f64,
    runs: Vec<Row>,
    observed_order: Vec<Order>,
    others: Vec<Row>,
    friction: Vec<FrictionRow>,
}

/// A run used in the figures.
struct Kept {
    model: Model,
    dt: f64,
    motion: Motion,
    error: f64,
}

/// Runs the study.
pub(super) fn slider_crank(effort: Effort, tell: &mut Tell) -> Vec<Output> {
    let steps: &[f64] = match effort {
        Effort::Full => &[1e-4, 5e-5, 2e-5, 1e-5, 5e-6, 2e-6, 1e-6],
        Effort::Small => &[1e-4, 2e-5, 1e-5],
    };
    let exact = Motion::event_driven();
    let models = [Model::JOINT_COORDINATES.as_slice(), &[ABSOLUTE, PROJECTED]].concat();
    let (mut kept, mut runs, mut orders) = (Vec::new(), Vec::new(), Vec::new());
    for &model in &models {
        let mut errors = Vec::new();
        for &dt in steps {
            let begin = Instant::now();
            let motion = run(model, &Parameters::PAPER, dt, TWO_REVOLUTIONS);
            let wall = begin.elapsed().as_secs_f64();
            let row = measured(model, dt, &motion, &exact, wall);
            let error = row.height_error.unwrap_or_default();
            tell(&format!("{}, h = {dt:.0e} s: error {error:.2e} m, {wall:.1} s", row.method));
            errors.push(error);
            runs.push(row);
            kept.push(Kept { model, dt, motion, error });
        }
        let order = observed_order(steps, &errors);
        orders.push(Order { method: name(model), order });
    }
    let siconos = Motion::siconos();
    let table = Table {
        study: "slider-crank",
        source: "Docquier, Lantsoght, Dubois and Brüls 2020, Sec. 5",
        clearance: CLEARANCE,
        until: TWO_REVOLUTIONS,
        runs,
        observed_order: orders,
        others: others(&exact, &siconos),
        friction: friction(effort, tell),
    };
    let json = serde_json::to_string_pretty(&table).expect("plain data");
    vec![
        Output::new("fig6.svg", figure_6(&kept, steps, &exact, &siconos).svg()),
        Output::new("fig7.svg", figure_7(&kept, &exact).svg()),
        Output::new("convergence.svg", convergence(&kept, &models, &table.others).svg()),
        Output::new("table.md", markdown(&table)),
        Output::new("table.json", json + "\n"),
    ]
}

/// Name of a model in tables and legends.
fn name(model: Model) -> String {
    match model {
        Model::Chain => "model a (chain)",
        Model::CutBothDependent => "model b (cut, x and y dependent)",
        Model::CutHeightIndependent => "model c (cut, y independent)",
        Model::Absolute { project: false } => "absolute, velocity level",
        Model::Absolute { project: true } => "absolute, projected",
    }
    .to_owned()
}

fn measured(model: Model, dt: f64, motion: &Motion, exact: &Motion, wall: f64) -> Row {
    let absolute = matches!(model, Model::Absolute { .. });
    // A chain has no loop, and joint coordinates have no hinges that could drift.
    let has_loop = !absolute && model != Model::Chain;
    Row {
        method: name(model),
        step: Some(dt),
        height_error: Some(motion.height_error(exact, TWO_REVOLUTIONS)),
        overlap: Some(motion.penetration.max(0.0) / CLEARANCE),
        revolutions: Some(motion.revolutions()),
        impacts: Some(motion.impacts),
        energy_lost: Some(motion.energy_lost()),
        slider_angle: Some(motion.largest_tilt()),
        loop_residual: has_loop.then_some(motion.loop_residual),
        hinge_drift: absolute.then_some(motion.drift),
        unconverged: Some(motion.unconverged),
        wall: Some(wall),
    }
}

/// The reference, Siconos evaluated from its file, and numbers quoted with the reference.
fn others(exact: &Motion, siconos: &Motion) -> Vec<Row> {
    let reference = Row {
        method: "reference, event-driven".into(),
        height_error: Some(0.0),
        overlap: Some(0.0),
        impacts: Some(exact.impacts),
        ..known(exact)
    };
    let at_1e_5 = Row {
        method: "Siconos 4.4.0, Moreau–Jean".into(),
        step: Some(1e-5),
        height_error: Some(siconos.height_error(exact, TWO_REVOLUTIONS)),
        ..known(siconos)
    };
    let quoted = |method: &str, step: f64, error: f64, overlap: Option<f64>| Row {
        method: method.into(),
        step: Some(step),
        height_error: Some(error),
        overlap,
        ..Row::default()
    };
    let trial = "trial of the paper's algorithm (quoted)";
    vec![
        reference,
        at_1e_5,
        quoted("Siconos 4.4.0, Moreau–Jean (quoted)", 1e-6, 2.6e-5, None),
        quoted(trial, 1e-4, 1.4e-3, Some(0.13)),
        quoted(trial, 2e-5, 3.5e-4, None),
        quoted(trial, 1e-5, 1.8e-4, Some(0.010)),
        quoted(trial, 2e-6, 3.6e-5, None),
        quoted(trial, 1e-6, 1.8e-5, None),
    ]
}

/// The contents of a reference file.
fn known(motion: &Motion) -> Row {
    Row {
        revolutions: Some(motion.revolutions()),
        energy_lost: Some(motion.energy_lost()),
        slider_angle: Some(motion.largest_tilt()),
        ..Row::default()
    }
}

/// The case of Flores et al. with friction 0.01.
fn friction(effort: Effort, tell: &mut Tell) -> Vec<FrictionRow> {
    let [coarse, fine] = Motion::siconos_with_friction();
    let row = |method: String, step: f64, motion: &Motion| FrictionRow {
        method,
        step,
        height_difference: motion.height_error(&fine, TWO_REVOLUTIONS),
        slider_angle: motion.largest_tilt(),
    };
    let steps: &[f64] = if effort == Effort::Full { &[1e-5, 1e-6] } else { &[1e-5] };
    let mut rows = Vec::new();
    for model in Model::JOINT_COORDINATES {
        for &dt in steps {
            let motion = run(model, &Parameters::FLORES, dt, TWO_REVOLUTIONS);
            let row = row(name(model), dt, &motion);
            let difference = row.height_difference;
            let method = &row.method;
            tell(&format!(
                "friction, {method}, h = {dt:.0e} s: {difference:.2e} m from Siconos at 1e-6 s"
            ));
            rows.push(row);
        }
    }
    rows.push(row("Siconos 4.4.0".into(), 1e-5, &coarse));
    rows.push(row("Siconos 4.4.0".into(), 1e-6, &fine));
    rows
}

/// The run of a model with a time step.
fn find(kept: &[Kept], model: Model, dt: f64) -> &Motion {
    let run = kept.iter().find(|k| k.model == model && k.dt == dt).expect("it was run");
    &run.motion
}

/// Heights over time, in milliseconds and millimetres.
fn heights(motion: &Motion) -> Vec<[f64; 2]> {
    motion.t.iter().zip(&motion.y).map(|(t, y)| [1e3 * t, 1e3 * y]).collect()
}

/// Differences of heights from the reference over time, in milliseconds and millimetres.
fn differences(motion: &Motion, exact: &Motion) -> Vec<[f64; 2]> {
    let pairs = motion.t.iter().zip(motion.y.iter().zip(&exact.y));
    pairs.map(|(t, (a, b))| [1e3 * t, 1e3 * (a - b)]).collect()
}

const END: f64 = 1e3 * TWO_REVOLUTIONS;

/// The limits of the guide.
fn limits() -> [Curve; 2] {
    let c = 1e3 * CLEARANCE;
    [("guide ±1 mm", c), ("", -c)].map(|(name, y)| {
        Curve::new(name, Colour::Grey, vec![[0.0, y], [END, y]]).width(1.0).dash(Dash::Dotted)
    })
}

/// The reference as a wide, pale line below all other curves.
fn reference(exact: &Motion) -> Curve {
    Curve::new("event-driven reference", Colour::LightGrey, heights(exact)).width(5.0)
}

fn time() -> Axis {
    Axis::new("time [ms]").range(0.0, END)
}

fn figure_6(kept: &[Kept], steps: &[f64], exact: &Motion, siconos: &Motion) -> Figure {
    // The paper's pure LMGC90 model needs 2e-6 s, which the small version does not include.
    let fine = if steps.contains(&2e-6) { 2e-6 } else { 1e-5 };
    let coupling = find(kept, Model::CutHeightIndependent, 1e-5);
    let absolute = find(kept, ABSOLUTE, fine);
    let methods = [
        (format!("absolute, {fine:.0e} s"), Colour::Vermilion, absolute),
        ("Siconos, 1e-5 s".to_owned(), Colour::Orange, siconos),
        ("model c, 1e-5 s".to_owned(), Colour::Blue, coupling),
    ];
    let curves = |points: &dyn Fn(&Motion) -> Vec<[f64; 2]>| -> Vec<Curve> {
        let curve = |(name, colour, motion): &(String, Colour, &Motion)| {
            Curve::new(name, *colour, points(motion)).width(1.25)
        };
        methods.iter().map(curve).collect()
    };
    let mut above = vec![reference(exact)];
    above.extend(limits());
    above.extend(curves(&heights));
    Figure {
        title: "Slider–crank with clearance over two revolutions (docquier2020, Fig. 6)".into(),
        size: [860, 620],
        columns: 1,
        panels: vec![
            Panel {
                title: String::new(),
                x: time(),
                y: Axis::new("height of the slider [mm]").range(-1.15, 1.15),
                curves: above,
            },
            Panel {
                title: String::new(),
                x: time(),
                y: Axis::new("difference from the reference [mm]"),
                curves: curves(&|motion| differences(motion, exact)),
            },
        ],
    }
}

fn figure_7(kept: &[Kept], exact: &Motion) -> Figure {
    let panel = |dt: f64| {
        let curve = |model: Model, text: &str, colour: Colour| {
            Curve::new(text, colour, heights(find(kept, model, dt)))
        };
        let mut curves = vec![reference(exact)];
        curves.extend(limits());
        curves.extend([
            curve(Model::Chain, "a: chain", Colour::Vermilion).width(2.5),
            curve(Model::CutBothDependent, "b: x and y dependent", Colour::Black)
                .width(1.25)
                .dash(Dash::Dashed),
            curve(Model::CutHeightIndependent, "c: y independent", Colour::Blue).width(1.25),
        ]);
        let worst = kept.iter().filter(|k| k.dt == dt).map(|k| &k.motion).flat_map(|m| &m.y);
        let worst = worst.fold(1.15e-3_f64, |m, y| m.max(1.03 * y.abs()));
        Panel {
            title: format!("h = {dt:.0e} s"),
            x: time(),
            y: Axis::new("height of the slider [mm]").range(-1e3 * worst, 1e3 * worst),
            curves,
        }
    };
    Figure {
        title: "Choice of coordinates at a small and a large step (docquier2020, Fig. 7)".into(),
        size: [1000, 440],
        columns: 2,
        panels: vec![panel(1e-5), panel(1e-4)],
    }
}

fn convergence(kept: &[Kept], models: &[Model], others: &[Row]) -> Figure {
    let styles = [
        (Colour::Vermilion, 3.0, Dash::Solid),
        (Colour::Black, 1.25, Dash::Dashed),
        (Colour::Blue, 1.5, Dash::Solid),
        (Colour::Purple, 1.5, Dash::Solid),
        (Colour::Green, 1.5, Dash::Dashed),
    ];
    let points = |model: Model| -> Vec<[f64; 2]> {
        kept.iter().filter(|k| k.model == model).map(|k| [k.dt, k.error]).collect()
    };
    let slope = [1e-6, 1e-4].map(|h| [h, 10.0 * h]).to_vec();
    let mut curves = vec![Curve::new("order 1", Colour::Grey, slope).width(1.0).dash(Dash::Dotted)];
    let siconos = others.iter().filter(|row| row.method.starts_with("Siconos"));
    let siconos = siconos.filter_map(|row| Some([row.step?, row.height_error?])).collect();
    curves.push(Curve::new("Siconos", Colour::Orange, siconos).marked());
    for (&model, (colour, width, dash)) in models.iter().zip(styles) {
        let curve = Curve::new(&name(model), colour, points(model));
        curves.push(curve.width(width).dash(dash).marked());
    }
    Figure {
        title: "Error of the slider height relative to the event-driven reference".into(),
        size: [640, 500],
        columns: 1,
        panels: vec![Panel {
            title: String::new(),
            x: Axis::new("time step h [s]").logarithmic(),
            y: Axis::new("largest error over two revolutions [m]").logarithmic(),
            curves,
        }],
    }
}

fn cell<T>(value: Option<T>, write: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "–".to_owned(), write)
}

/// Formats a small number.
fn small(value: f64) -> String {
    if value == 0.0 { "0".to_owned() } else { format!("{value:.1e}") }
}

fn rows(text: &mut String, rows: &[Row]) {
    text.push_str(
        "| method | h [s] | error of the height [m] | overlap / clearance | revolutions | impacts > 1 cm/s | \
         energy lost [J] | largest slider angle [rad] | loop residual or hinge drift [m] | unconverged steps | wall [s] |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for row in rows {
        let cells = [
            row.method.clone(),
            cell(row.step, |h| format!("{h:.0e}")),
            cell(row.height_error, small),
            cell(row.overlap, |x| format!("{x:.4}")),
            cell(row.revolutions, |x| format!("{x:.4}")),
            cell(row.impacts, |n| n.to_string()),
            cell(row.energy_lost, |x| format!("{x:.4}")),
            cell(row.slider_angle, small),
            cell(row.loop_residual.or(row.hinge_drift), small),
            cell(row.unconverged, |n| n.to_string()),
            cell(row.wall, |x| format!("{x:.2}")),
        ];
        let _ = writeln!(text, "| {} |", cells.join(" | "));
    }
}

fn markdown(table: &Table) -> String {
    let mut text = format!(
        "# Slider–crank with clearance\n\n{}: without friction, two revolutions of the crank ({:.5} s).\n\n## riprap\n\n",
        table.source, table.until
    );
    rows(&mut text, &table.runs);
    text.push_str("\nObserved order of the height error in h:");
    for order in &table.observed_order {
        let _ = write!(text, " {} {:.2};", order.method, order.order);
    }
    text.pop();
    text.push_str(".\n\n## Others\n\n");
    rows(&mut text, &table.others);
    text.push_str(
        "\nThe paper prints no numbers beside its figures: its coupling is good at 1e-5 s, its pure LMGC90 model needs 2e-6 s \
         or less, and at a large step only the model with y independent shows no penetration.\n\n\
         ## With friction 0.01 (Flores, Leine and Glocker 2010)\n\n\
         | method | h [s] | height from Siconos at 1e-6 s [m] | largest slider angle [rad] |\n\
         | --- | ---: | ---: | ---: |\n",
    );
    for row in &table.friction {
        let (method, h, angle) = (&row.method, row.step, row.slider_angle);
        let difference = small(row.height_difference);
        let _ = writeln!(text, "| {method} | {h:.0e} | {difference} | {angle:.5} |");
    }
    text
}

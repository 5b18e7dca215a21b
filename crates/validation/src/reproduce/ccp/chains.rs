//! Figs. 13 to 17: two pendulums of ten balls each.

use std::fmt::Write;

use super::two_balls::{layout, positions};
use super::{Figures, over_time, side_by_side};
use crate::Effort;
use crate::chains::{CHAINS, Method, Pendulums, Record};
use crate::figure::{Colour, Curve, Dash, Figure, Panel};
use crate::reproduce::Tell;

/// The other solution: time [s], kinetic, potential and total energy [J], and so on.
const ENERGY: &str = include_str!("../../../data/chains/energy.csv");

/// Points of a column of the other solution.
fn elsewhere(column: usize) -> Vec<[f64; 2]> {
    let row = |line: &str| -> Option<[f64; 2]> {
        let mut words = line.split(',');
        let t = words.next()?.parse().ok()?;
        Some([t, words.nth(column - 1)?.parse().ok()?])
    };
    ENERGY.lines().skip(1).filter_map(row).collect()
}

pub(super) fn study(effort: Effort, tell: &mut Tell, table: &mut String) -> Figures {
    let until = if effort == Effort::Full { 8.0 } else { 1.0 };
    let run = Record::of(&CHAINS, Method::Cone.scheme(1e-3), until);
    let _ = write!(
        table,
        "\n- two chains, h = 1 ms, until {until} s: first contact {:.3} s, {} onsets, {} touching pairs summed over the steps, largest \
         stretch {:.1e} m, deepest overlap {:.1e} m, largest rise of the energy in a step {:.1e} J, final energy {:.3} J",
        run.first_contact(),
        run.count.onsets,
        run.count.pair_steps,
        run.stretch,
        run.overlap,
        run.largest_rise(),
        run.final_energy(),
    );
    let mut figures = vec![("fig13", layout("Two pendulums of ten balls each (Fig. 13)", &CHAINS))];
    figures.push(("fig14", energies(&run)));
    figures.push(("fig15", frames(&run, until)));
    figures.push(("fig16", impulses(&run)));
    figures.push(("fig17", inertial(&run)));
    tell("two chains: Figs. 13 to 17");
    layouts(effort, tell, table);
    figures
}

fn energies(run: &Record) -> Figure {
    let of = |values: &[f64]| -> Vec<[f64; 2]> {
        run.t.iter().zip(values).map(|(t, e)| [*t, *e]).collect()
    };
    let curves = vec![
        Curve::new("independent solution", Colour::LightGrey, elsewhere(3)).width(6.0),
        Curve::new("kinetic", Colour::Orange, of(&run.kinetic)),
        Curve::new("potential", Colour::Green, of(&run.potential)),
        Curve::new("sum", Colour::Blue, of(&run.energy())).width(2.0),
    ];
    let onsets: Vec<f64> = run.onsets.iter().map(|n| *n as f64).collect();
    let counts = vec![
        Curve::new("independent solution", Colour::LightGrey, elsewhere(4)).width(6.0),
        Curve::new("onsets of contacts", Colour::Vermilion, of(&onsets)).width(2.0),
    ];
    let panels = vec![
        over_time("energy, zero at the ceiling [J]", curves),
        over_time("contacts so far [–]", counts),
    ];
    side_by_side("Energies and number of contacts (Fig. 14)", panels)
}

fn frames(run: &Record, until: f64) -> Figure {
    let times = [0.0, 0.2, 0.4, 0.5, 0.6, 0.679, 0.69, 0.71, 0.73, 8.0];
    let times: Vec<f64> = times.into_iter().filter(|t| *t <= until + 1e-9).collect();
    let panel = |t: &f64| {
        let k = (t / run.dt).round() as usize;
        positions(&CHAINS, &run.q[k], &format!("t = {t} s"))
    };
    let panels: Vec<Panel> = times.iter().map(panel).collect();
    let rows = panels.len().div_ceil(5) as u32;
    Figure {
        title: "Positions (Fig. 15)".into(),
        size: [1500, 90 + 208 * rows],
        columns: 5,
        panels,
    }
}

fn impulses(run: &Record) -> Figure {
    let partner = CHAINS.balls;
    let mut touched: Vec<usize> = Vec::new();
    for touch in run.touches.iter().filter(|touch| touch.balls.contains(&partner)) {
        let other = touch.balls[usize::from(touch.balls[0] == partner)];
        if !touched.contains(&other) {
            touched.push(other);
        }
    }
    let colours = [Colour::Blue, Colour::Orange, Colour::Green, Colour::Vermilion];
    let curves = touched.iter().enumerate().map(|(k, other)| {
        let mut pair = [partner, *other];
        pair.sort_unstable();
        let mut points = vec![[0.0, 0.0]];
        for touch in run.touches.iter().filter(|touch| touch.balls == pair) {
            points.extend([[touch.t, 0.0], [touch.t, touch.impulse], [touch.t, 0.0]]);
        }
        let name = if *other == 0 { "ground".into() } else { format!("ball {other}") };
        Curve::new(&format!("ball {partner} and {name}"), colours[k % 4], points).width(2.0)
    });
    let curves: Vec<Curve> = curves.collect();
    let mut small = over_time("normal impulse [N s]", curves.clone());
    small.title = "later contacts".into();
    small.y = small.y.range(0.0, 0.02);
    let panels = vec![over_time("normal impulse [N s]", curves), small];
    side_by_side("Normal impulses on ball 10 (Fig. 16)", panels)
}

fn inertial(run: &Record) -> Figure {
    let of = |k: usize| -> Vec<[f64; 2]> {
        run.t.iter().zip(&run.inertial).map(|(t, f)| [*t, f[CHAINS.balls - 1][k]]).collect()
    };
    let curves = vec![
        Curve::new("x", Colour::Blue, of(0)),
        Curve::new("y", Colour::Orange, of(1)).dash(Dash::Dashed),
    ];
    let mut close = over_time("inertial force [N]", curves.clone());
    for curve in &mut close.curves {
        curve.points.retain(|p| p[0] > 0.6 && p[0] < 0.8);
    }
    close.title = "first contacts".into();
    let panels = vec![over_time("inertial force [N]", curves), close];
    side_by_side("Inertial force of ball 10 (Fig. 17)", panels)
}

/// The number of contacts for other layouts: the paper counts 63, with parameters that are not known.
fn layouts(effort: Effort, tell: &mut Tell, table: &mut String) {
    *table += "\n\n| layout | onsets | touching pairs × steps | steps with contacts | first contact [s] | final energy [J] |\n\
               | --- | ---: | ---: | ---: | ---: | ---: |";
    let mut variants: Vec<(String, Pendulums)> = Vec::new();
    for angles in
        [[30.0, 30.0], [45.0, 45.0], [90.0, 90.0], [45.0, 0.0], [45.0, 30.0], [90.0, 45.0]]
    {
        for gap in [0.0, 2e-3, 25e-3, 100e-3] {
            let half_distance = CHAINS.radius + 0.5 * gap;
            let chains = Pendulums { angles: angles.map(f64::to_radians), half_distance, ..CHAINS };
            let [left, right] = angles;
            let name =
                format!("{left}° and {right}°, {:.0} mm between the chains at rest", 1e3 * gap);
            variants.push((name, chains));
        }
    }
    if effort == Effort::Small {
        variants.truncate(2);
    }
    let until = if effort == Effort::Full { 8.0 } else { 1.0 };
    for (name, chains) in &variants {
        let run = Record::of(chains, Method::Cone.scheme(1e-3), until);
        let _ = write!(
            table,
            "\n| {name} | {} | {} | {} | {:.3} | {:.2} |",
            run.count.onsets,
            run.count.pair_steps,
            run.count.contact_steps,
            run.first_contact(),
            run.final_energy()
        );
        tell(&format!("{name}: {} onsets", run.count.onsets));
    }
    *table += "\n";
}

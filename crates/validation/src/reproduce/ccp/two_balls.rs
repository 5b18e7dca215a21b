//! Figs. 9 to 12: two pendulums of one ball each.

use std::fmt::Write;

use super::{Figures, circle, over_time, side_by_side};
use crate::Effort;
use crate::chains::{Method, Pendulums, Record, TWO_BALLS};
use crate::figure::{Axis, Colour, Curve, Figure, Panel};
use crate::reproduce::Tell;

const COLOURS: [Colour; 4] = [Colour::Orange, Colour::Green, Colour::Vermilion, Colour::Purple];
/// Stiffnesses of the penalty method [N/m].
const STIFFNESSES: [f64; 3] = [1e3, 1e4, 1e5];

/// The initial positions, with ropes.
pub(super) fn layout(title: &str, pendulums: &Pendulums) -> Figure {
    let q: Vec<[f64; 2]> = (1..=2 * pendulums.balls).map(|k| pendulums.start(k)).collect();
    let panel = positions(pendulums, &q, "");
    let wide = (panel.x.range, panel.y.range);
    let (Some([x0, x1]), Some([y0, y1])) = wide else { return side_by_side(title, vec![panel]) };
    let width = 620.0;
    let height = (width - 90.0) * (y1 - y0) / (x1 - x0) + 150.0;
    Figure {
        title: title.to_owned(),
        size: [width as u32, height as u32],
        columns: 1,
        panels: vec![panel],
    }
}

/// Balls and ropes at given positions of the balls, with equal scales.
pub(super) fn positions(pendulums: &Pendulums, q: &[[f64; 2]], title: &str) -> Panel {
    let Pendulums { balls, rope, half_distance, radius, .. } = *pendulums;
    let mut curves = Vec::new();
    for (side, colour) in [(0, Colour::Blue), (1, Colour::Orange)] {
        let own = &q[side * balls..(side + 1) * balls];
        let anchor = [half_distance * if side == 0 { -1.0 } else { 1.0 }, 0.0];
        let line = std::iter::once(anchor).chain(own.iter().copied());
        curves.push(Curve::new("", Colour::Grey, line.collect()).width(1.0));
        let name = if side == 0 { "left pendulum" } else { "right pendulum" };
        curves.extend(own.iter().map(|&at| circle(name, colour, at, radius)));
    }
    let widest = pendulums.angles.map(|angle| angle.sin().abs());
    let reach = half_distance + 1.08 * rope * balls as f64 * widest[0].max(widest[1]).max(0.3);
    let depth = 1.08 * rope * balls as f64;
    let x = Axis::new("x [m]").range(-reach, reach);
    let y = Axis::new("y [m]").range(-depth, 0.1 * depth);
    Panel { title: title.to_owned(), x, y, curves }
}

/// Energies of a run over time, above those at rest.
fn energies(run: &Record) -> Vec<Curve> {
    let rest = TWO_BALLS.hanging_energy();
    let of = |values: &[f64], shift: f64| -> Vec<[f64; 2]> {
        run.t.iter().zip(values).map(|(t, e)| [*t, e - shift]).collect()
    };
    vec![
        Curve::new("kinetic", Colour::Orange, of(&run.kinetic, 0.0)),
        Curve::new("potential", Colour::Green, of(&run.potential, rest)),
        Curve::new("sum", Colour::Blue, of(&run.energy(), rest)).width(2.0),
    ]
}

/// A panel of energies around the impact.
fn around(run: &Record, half: f64, title: &str) -> Panel {
    let centre = TWO_BALLS.time_to_bottom();
    let mut panel = over_time("energy above rest [J]", energies(run));
    for curve in &mut panel.curves {
        curve.points.retain(|p| (p[0] - centre).abs() < half);
    }
    panel.title = title.to_owned();
    panel
}

pub(super) fn study(_: Effort, tell: &mut Tell, table: &mut String) -> Figures {
    let mut figures = vec![("fig9", layout("Two pendulums of one ball each (Fig. 9)", &TWO_BALLS))];
    let h = 2e-5;
    let hard = Record::of(&TWO_BALLS, Method::Cone.scheme(h), 1.0);
    let soft: Vec<Record> = STIFFNESSES
        .iter()
        .map(|&stiffness| Record::of(&TWO_BALLS, Method::Penalty { stiffness }.scheme(h), 1.0))
        .collect();
    let height = |run: &Record| -> Vec<[f64; 2]> {
        run.t.iter().zip(&run.q).map(|(t, q)| [*t, q[0][1]]).collect()
    };
    let mut heights =
        vec![Curve::new("cone complementarity", Colour::Blue, height(&hard)).width(2.0)];
    let mut errors = Vec::new();
    for ((k, run), stiffness) in soft.iter().enumerate().zip(STIFFNESSES) {
        let name = format!("penalty, {stiffness:.0e} N/m");
        heights.push(Curve::new(&name, COLOURS[k], height(run)));
        let apart =
            |(a, b): (&Vec<[f64; 2]>, &Vec<[f64; 2]>)| (a[0][0] - b[0][0]).hypot(a[0][1] - b[0][1]);
        let distances = run.q.iter().zip(&hard.q).map(apart);
        let off: Vec<[f64; 2]> = hard.t.iter().zip(distances).map(|(t, d)| [*t, d]).collect();
        let largest = off.iter().fold(0.0, |m: f64, p| m.max(p[1]));
        let _ = write!(
            table,
            "\n- two balls, penalty with {stiffness:.0e} N/m: largest distance from cone complementarity {largest:.2e} m, overlap {:.2e} m, stretch {:.2e} m",
            run.overlap, run.stretch
        );
        errors.push(Curve::new(&name, COLOURS[k], off));
    }
    let mut error = over_time("distance from cone complementarity [m]", errors);
    error.y = error.y.logarithmic().range(1e-8, 1.0);
    let title = "Height of a ball, and its distance from that of cone complementarity (Fig. 10)";
    figures.push(("fig10", side_by_side(title, vec![over_time("y [m]", heights), error])));
    let title = "Energies with cone complementarity (Fig. 11)";
    let panels = vec![
        over_time("energy above rest [J]", energies(&hard)),
        around(&hard, 0.01, "around the impact"),
    ];
    figures.push(("fig11", side_by_side(title, panels)));
    let title = "Energies with the penalty method (Fig. 12)";
    let run = &soft[0];
    let name = format!("{:.0e} N/m", STIFFNESSES[0]);
    let panels = vec![
        over_time("energy above rest [J]", energies(run)),
        around(run, 0.1, &format!("{name}, around the impact")),
    ];
    figures.push(("fig12", side_by_side(title, panels)));
    tell("two balls: Figs. 9 to 12");
    figures
}

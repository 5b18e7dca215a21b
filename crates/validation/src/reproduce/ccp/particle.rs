//! Figs. 6 to 8: a particle with friction on the ground; and a block on a slope, which shows the artefact of the relaxation.

use std::fmt::Write;

use riprap::prelude::*;

use super::{Figures, over_time, side_by_side};
use crate::Effort;
use crate::chains::{Method, PARTICLE, Particle, Slope};
use crate::check::observed_order;
use crate::figure::{Axis, Colour, Curve, Dash, Panel};
use crate::reproduce::Tell;

const COLOURS: [Colour; 4] = [Colour::Blue, Colour::Orange, Colour::Green, Colour::Vermilion];

/// Points of the particle: time [s], x and height [m].
fn trajectory(method: Method, h: f64) -> Vec<[f64; 3]> {
    let mut run = Simulation::new(PARTICLE.scene(), method.scheme(h)).expect("the scheme fits");
    let mut points = Vec::new();
    loop {
        let [x, y] = Particle::position(run.scene(), run.state());
        points.push([run.time(), x, y]);
        if run.time() > 1.0 - 0.5 * h {
            return points;
        }
        run.step().expect("the particle moves");
    }
}

fn pick(points: &[[f64; 3]], k: usize) -> Vec<[f64; 2]> {
    points.iter().map(|p| [p[0], p[k]]).collect()
}

pub(super) fn study(_: Effort, tell: &mut Tell, table: &mut String) -> Figures {
    let mut figures = Vec::new();
    let fine = trajectory(Method::Cone, 1e-3);
    let exact: Vec<[f64; 3]> = (0..=20)
        .map(|k| {
            let t = f64::from(k) * 0.05;
            let [x, y] = PARTICLE.exact(t);
            [t, x, y]
        })
        .collect();
    let panel = |k: usize, label: &str| {
        let mut marks = Curve::new("closed form", Colour::Vermilion, pick(&exact, k)).marked();
        marks.width = 0.0;
        let line = Curve::new("cone complementarity, h = 1 ms", Colour::Blue, pick(&fine, k));
        over_time(label, vec![line, marks])
    };
    let title = "A particle with friction, restitution 0 (Fig. 6)";
    figures.push(("fig6", side_by_side(title, vec![panel(1, "x [m]"), panel(2, "height [m]")])));

    let steps = [2e-2, 1e-2, 5e-3, 1e-3];
    let runs: Vec<Vec<[f64; 3]>> = steps.iter().map(|&h| trajectory(Method::Cone, h)).collect();
    let named =
        |k: usize, points| Curve::new(&format!("h = {} ms", 1e3 * steps[k]), COLOURS[k], points);
    let heights = runs.iter().enumerate().map(|(k, run)| named(k, pick(run, 2)));
    let mut heights: Vec<Curve> = heights.collect();
    let line = (0..=400).map(|k| f64::from(k) * 2.5e-3).map(|t| [t, PARTICLE.exact(t)[1]]);
    heights.push(Curve::new("closed form", Colour::Black, line.collect()).dash(Dash::Dotted));
    let whole = over_time("height [m]", heights.clone());
    let mut close = over_time("height [m]", heights);
    for curve in &mut close.curves {
        curve.points.retain(|p| p[0] > 0.4 && p[0] < 0.75);
    }
    close.title = "around the impact: the gap while sliding is μ v h".into();
    close.y = close.y.range(-0.002, 0.03);
    figures
        .push(("fig7", side_by_side("Height with different steps (Fig. 7)", vec![whole, close])));

    let error = |run: &[[f64; 3]]| -> Vec<[f64; 2]> {
        run.iter().map(|p| [p[0], (p[2] - PARTICLE.exact(p[0])[1]).abs()]).collect()
    };
    let errors: Vec<Curve> = runs.iter().enumerate().map(|(k, run)| named(k, error(run))).collect();
    let mut first = over_time("error of the height [m]", errors);
    first.y = first.y.logarithmic().range(1e-6, 1.0);
    let many = [2e-2, 1e-2, 5e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4];
    let largest = |method: Method, k: usize| -> Vec<[f64; 2]> {
        many.iter()
            .map(|&h| {
                let run = trajectory(method, h);
                let off = run.iter().map(|p| (p[k] - PARTICLE.exact(p[0])[k - 1]).abs());
                [h, off.fold(0.0, f64::max)]
            })
            .collect()
    };
    let curves: Vec<Curve> = [
        ("height", Method::Cone, 2, Colour::Blue),
        ("x", Method::Cone, 1, Colour::Orange),
        ("height, Coulomb's law", Method::Coulomb, 2, Colour::Green),
        ("x, Coulomb's law", Method::Coulomb, 1, Colour::Vermilion),
    ]
    .map(|(name, method, k, colour)| {
        let points = largest(method, k);
        let (steps, errors): (Vec<f64>, Vec<f64>) = points.iter().map(|p| (p[0], p[1])).unzip();
        let order = observed_order(&steps, &errors);
        let _ = write!(
            table,
            "\n- particle, error of {name}: order {order:.2}, {:.2e} m at h = 1 ms",
            errors[4]
        );
        Curve::new(name, colour, points).marked()
    })
    .into();
    let x = Axis::new("step [s]").logarithmic();
    let y = Axis::new("largest error [m]").logarithmic();
    let second = Panel { title: "first order".into(), x, y, curves };
    figures.push(("fig8", side_by_side("Errors of the height (Fig. 8)", vec![first, second])));
    tell("particle: Figs. 6 to 8");
    figures.push(("sliding-artefact", slope(table)));
    tell("block on a slope: lift under cone complementarity");
    figures
}

/// The lift of a block that slides down a slope.
fn slope(table: &mut String) -> crate::figure::Figure {
    let slope = Slope { angle: 30f64.to_radians(), friction: 0.3, planar: true };
    let slide = |method: Method, h: f64| -> Vec<[f64; 2]> {
        let mut run = Simulation::new(slope.scene(), method.scheme(h)).expect("the scheme fits");
        let mut points = vec![[0.0, 0.0]];
        while run.time() < 0.5 - 0.5 * h {
            run.step().expect("the block moves");
            points.push([run.time(), 1e3 * Slope::lift(run.scene(), run.state())[0]]);
        }
        points
    };
    let mut curves = Vec::new();
    for (k, h) in [4e-3, 2e-3, 1e-3].into_iter().enumerate() {
        let points = slide(Method::Cone, h);
        let last = points.last().map_or(f64::NAN, |p| p[1]);
        let predicted = |t: f64| 1e3 * slope.friction * slope.acceleration() * t * h;
        let _ = write!(
            table,
            "\n- block on a slope, h = {} ms: lift {last:.4} mm after 0.5 s, μ v h = {:.4} mm",
            1e3 * h,
            predicted(0.5)
        );
        curves
            .push(Curve::new(&format!("cone, h = {} ms", 1e3 * h), COLOURS[k], points).width(2.0));
        let line = vec![[0.0, 0.0], [0.5, predicted(0.5)]];
        curves.push(Curve::new("predicted: μ v h", Colour::Black, line).dash(Dash::Dotted));
    }
    let points = slide(Method::Coulomb, 4e-3);
    curves.push(Curve::new("Coulomb's law, h = 4 ms", Colour::Vermilion, points).width(2.0));
    let panel = over_time("height above the slope [mm]", curves);
    side_by_side("A block slides down a slope of 30°, μ = 0.3", vec![panel])
}

//! Discharge of a bin through a round orifice, and Beverloo's law `W = C ρ √g (D − k d)^(5/2)`.

use riprap::prelude::*;
use riprap::simulation::Flow;

use super::super::Failure;
use super::jobs::{Job, Rows};
use super::scene::{DENSITY, GRAIN, GRAVITY, Grains, add_lattice, add_shaft, empty, start, wall};
use super::statistics::{Estimate, Line};
use super::{Finding, Panels};
use crate::Effort;
use crate::figure::{Axis, Colour, Curve, Panel};

/// A bin with an orifice.
#[derive(Clone, Copy, Debug)]
struct Bin {
    /// Diameter of the orifice over that of the grains [–].
    ratio: f64,
    /// Width of the bin over the diameter of the orifice [–].
    width: f64,
    /// Height of the lattice over the diameter of the orifice [–].
    height: f64,
    seed: u64,
}

/// When the gate opens [s].
const OPENS: f64 = 0.4;
/// Solid fraction with which the bulk density is computed, that of the poured grains [–].
const SOLID: f64 = 0.6;
/// `k` of Beverloo, Leniger and van de Velde (1961) [–].
const K: f64 = 1.4;

/// One run per orifice and seed.
pub(super) fn jobs(effort: Effort) -> Vec<Job> {
    let (ratios, height): (&[f64], f64) = match effort {
        Effort::Full => (&[4.0, 4.75, 6.5, 8.0], 2.6),
        Effort::Small => (&[3.0, 3.5, 4.0], 1.2),
    };
    let job = |ratio: f64, seed: u64| {
        let bin = Bin { ratio, width: 2.2, height, seed };
        Job::new(format!("{}hopper-{ratio}-{seed}", super::prefix(effort)), bin, run)
    };
    ratios.iter().flat_map(|r| super::seeds(effort, 10).map(move |seed| job(*r, seed))).collect()
}

/// First row: diameter of the orifice [m], mass flow [kg/s], not a number if the orifice clogs. Then rows of time since opening [s] and passed mass [kg].
fn run(bin: &Bin) -> Result<Rows, Failure> {
    let (diameter, glass) = (bin.ratio * GRAIN, Grains::Spheres.material());
    let width = bin.width * diameter;
    let mut scene = empty();
    scene.add_fixed(plate(diameter, 0.75 * width)?, Pose::IDENTITY, &glass);
    add_shaft(&mut scene, width, 2.0 * bin.height * diameter, &glass)?;
    // A frictionless gate that slides away at 2 m/s.
    let length = 1.4 * diameter;
    let away = move |t: f64| {
        let slides = t >= OPENS && t < OPENS + 0.5 * length;
        Vec3::new(if slides { 2.0 } else { 0.0 }, 0.0, 0.0)
    };
    let motion = Motion::Velocity { linear: Law::new(away), angular: Law::constant([0.0; 3]) };
    let gate = BodyDescription::new(Shape::cuboid([length, length, 0.02])?, &wall(0.0));
    scene.add(gate.at([0.0, 0.0, -0.0202]).moving(motion), &wall(0.0));
    let n = (width / 0.0225).floor();
    let (cell, layers) = (width / n, (bin.height * diameter / 0.0225).floor() as usize);
    let corner = 0.5 * (cell - width);
    let counts = [n as usize, n as usize, layers];
    let place = [[cell, cell, 0.0225], [corner, corner, 0.012]];
    let grains = add_lattice(&mut scene, counts, place, bin.seed)?;

    let mut run = start(&scene, 6e-4)?;
    run.until(OPENS, &mut ())?;
    let bodies = run.scene().bodies();
    let total: f64 = grains.iter().map(|b| bodies.mass[run.scene().slot(*b)]).sum();
    let mut flow = Flow::new(Vec3::new(0.0, 0.0, -0.04), -Vec3::z(), f64::INFINITY);
    flow.add(&run.frame());
    let mut passed = vec![[0.0, 0.0]];
    // The rate is constant until the depression of the surface reaches the orifice.
    while flow.mass < 0.45 * total && run.time() < OPENS + 4.0 {
        run.step()?;
        flow.add(&run.frame());
        passed.push([run.time() - OPENS, flow.mass]);
    }
    let steady: Vec<[f64; 2]> = passed.iter().copied().filter(|p| p[1] > 0.1 * total).collect();
    // A small orifice may clog.
    let flows = flow.mass >= 0.45 * total;
    let rate = if flows { Line::fit(&steady).slope.value } else { f64::NAN };
    let thinned = passed.iter().step_by(32).map(|p| p.to_vec());
    Ok([vec![vec![diameter, rate]], thinned.collect()].concat())
}

/// A plate around a hole with the area of a circle, as sixteen wedges.
fn plate(diameter: f64, reach: f64) -> Result<Shape, Failure> {
    use std::f64::consts::PI;
    const N: usize = 16;
    let part = PI / N as f64;
    let radius = 0.5 * diameter * (part / part.tan()).sqrt() / part.cos();
    let wedge = |k: usize| -> Result<(Pose, Shape), Failure> {
        let mut points = Vec::new();
        for angle in [k, k + 1].map(|j| 2.0 * part * j as f64) {
            for r in [radius, reach] {
                let (x, y) = (r * angle.cos(), r * angle.sin());
                points.extend([-0.01, 0.0].map(|z| Vec3::new(x, y, z)));
            }
        }
        Ok((Pose::IDENTITY, Shape::hull(&points)?))
    };
    Ok(Shape::compound((0..N).map(wedge).collect::<Result<_, _>>()?)?)
}

/// The exponent with Beverloo's `k`, and `C` and `k` with his exponent.
pub(super) fn report(rows: &[Rows], panels: &mut Panels) -> Vec<Finding> {
    let points: Vec<[f64; 2]> =
        rows.iter().map(|r| [r[0][0], r[0][1]]).filter(|p| p[1].is_finite()).collect();
    let exponent = |k: f64| {
        let logarithms = points.iter().map(|[d, w]| [(d - k * GRAIN).ln(), w.ln()]);
        Line::fit(&logarithms.collect::<Vec<_>>())
    };
    let linear: Vec<[f64; 2]> = points.iter().map(|[d, w]| [*d, w.powf(0.4)]).collect();
    let linear = Line::fit(&linear);
    let k = linear.root.scaled(1.0 / GRAIN);
    // W^(2/5) = (C ρ √g)^(2/5) (D − k d).
    let unit = SOLID * DENSITY * GRAVITY.sqrt();
    let c = linear.slope.value.powf(2.5) / unit;
    let c = Estimate { value: c, half: 2.5 * c * linear.slope.half / linear.slope.value };
    let law = |d: f64| c.value * unit * (d - k.value * GRAIN).max(0.0).powf(2.5);
    let free = exponent(0.0).slope;

    let ends = [points.first(), points.last()].map(|p| p.map_or(f64::NAN, |p| p[0]));
    let fitted = (0..=20).map(|i| ends[0] + (ends[1] - ends[0]) * f64::from(i) / 20.0);
    let fitted = fitted.map(|d| [1e3 * d, law(d)]).collect();
    let marks = points.iter().map(|[d, w]| [1e3 * d, *w]).collect();
    panels.push(Panel {
        title: "Discharge through an orifice".to_owned(),
        x: Axis::new("diameter of the orifice [mm]"),
        y: Axis::new("mass flow [kg/s]"),
        curves: vec![
            Curve::new("runs", Colour::Blue, marks).marked().width(0.5),
            Curve::new("Beverloo's law, fitted", Colour::Orange, fitted),
        ],
    });
    let passed = |r: &Rows| r[1..].iter().map(|p| [p[0], p[1]]).collect::<Vec<_>>();
    let of = |r: &Rows| Curve::new("passed mass", Colour::Blue, passed(r));
    panels.push(Panel {
        title: "Passed mass, until 45 % are out".to_owned(),
        x: Axis::new("time since opening [s]"),
        y: Axis::new("mass [kg]"),
        curves: rows.iter().map(of).collect(),
    });
    let finding = |quantity: &str, estimate, range, reference| Finding {
        test: "hopper",
        quantity: quantity.to_owned(),
        unit: "–",
        estimate,
        runs: points.len(),
        range,
        reference,
    };
    vec![
        finding(
            "exponent of D − 1.4 d",
            exponent(K).slope,
            Some([2.4, 2.6]),
            "5/2: Beverloo, Leniger and van de Velde 1961",
        ),
        finding("exponent of D alone", free, None, "larger than 5/2, because of the empty annulus"),
        finding(
            "k, with the exponent 5/2",
            k,
            Some([1.0, 2.0]),
            "1.4: Beverloo, Leniger and van de Velde 1961",
        ),
        finding(
            "C, with the exponent 5/2",
            c,
            Some([0.5, 0.7]),
            "0.58: Beverloo, Leniger and van de Velde 1961",
        ),
    ]
}

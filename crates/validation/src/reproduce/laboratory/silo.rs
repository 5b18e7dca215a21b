//! Janssen's silo: a floor that sinks slowly mobilises the friction at the walls, and the vertical stress saturates with the
//! depth, `σ = ρ g λ (1 − exp(−y/λ))` with `λ = a/(4 K μ)` for a square shaft of width `a`.

use riprap::prelude::*;
use riprap::simulation::{Measures, Region};

use super::super::Failure;
use super::jobs::{Job, Rows};
use super::scene::{DENSITY, GRAVITY, Grains, add_lattice, add_shaft, empty, start, starts, wall};
use super::statistics::Estimate;
use super::{Finding, Panels};
use crate::Effort;
use crate::figure::{Axis, Colour, Curve, Panel};

/// A silo.
#[derive(Clone, Copy, Debug)]
struct Silo {
    /// Grains along each side.
    across: usize,
    /// Layers of the lattice.
    layers: usize,
    /// Duration of the average [s], after the floor has started to sink.
    average: f64,
    seed: u64,
}

/// Width of a cell of the lattice [m].
const CELL: f64 = 0.024;
/// Friction at the walls [–].
const WALL: f64 = 0.4;
/// When the floor starts to sink [s], and its speed [m/s].
const SINKS: (f64, f64) = (0.8, 0.01);

/// One run per seed.
pub(super) fn jobs(effort: Effort) -> Vec<Job> {
    let job = |seed| {
        let silo = match effort {
            Effort::Full => Silo { across: 5, layers: 32, average: 0.5, seed },
            Effort::Small => Silo { across: 3, layers: 12, average: 0.1, seed },
        };
        Job::new(format!("{}silo-{seed}", super::prefix(effort)), silo, run)
    };
    super::seeds(effort, 10).map(job).collect()
}

/// First row: width [m], weight of the grains over the area [Pa], bulk density [kg/m³], pressure on the floor [Pa]. Then one row per slice, from the
/// floor upwards: depth of its middle below the surface [m], vertical stress [Pa], horizontal stress [Pa].
fn run(silo: &Silo) -> Result<Rows, Failure> {
    let Silo { across, layers, average, seed } = *silo;
    let width = CELL * across as f64;
    let mut scene = empty();
    add_shaft(&mut scene, width, CELL * layers as f64 + 0.1, &wall(WALL))?;
    // The walls begin at the floor; it sinks by few millimetres, through which no grain can leave.
    let plate = Shape::cuboid([width - 0.001, width - 0.001, 0.04])?;
    let glass = Grains::Spheres.material();
    let motion = starts([0.0, 0.0, -1.0], SINKS.1, SINKS.0);
    let floor = BodyDescription::new(plate, &glass).at([0.0, 0.0, -0.02]).moving(motion);
    let floor = scene.add(floor, &glass);
    let corner = 0.5 * (CELL - width);
    let counts = [across, across, layers];
    let place = [[CELL, CELL, 0.0225], [corner, corner, 0.012]];
    let grains = add_lattice(&mut scene, counts, place, seed)?;

    let mut run = start(&scene, 5e-4)?;
    run.until(SINKS.0 + 0.4, &mut ())?;
    let area = width * width;
    let bodies = run.scene().bodies();
    let mass: f64 = grains.iter().map(|b| bodies.mass[run.scene().slot(*b)]).sum();
    let heights = grains.iter().map(|b| run.pose(*b).position.z);
    let top = heights.fold(0.0, f64::max);
    let slices = (top / width * 2.0).floor() as usize;
    let slice = |k: usize| Region {
        min: Vec3::new(-0.5 * width, -0.5 * width, 0.5 * width * k as f64),
        max: Vec3::new(0.5 * width, 0.5 * width, 0.5 * width * (k + 1) as f64),
    };
    let solid: Vec<f64> = {
        let measures = Measures::of(&run.frame());
        (0..slices.saturating_sub(1)).map(|k| measures.solid_fraction(&slice(k))).collect()
    };
    let density = Estimate::mean(&solid).value * DENSITY;
    let surface = mass / (density * area);
    let (mut sums, mut pressure, samples) = (vec![[0.0; 2]; slices], 0.0, (average / 0.02) as u32);
    for k in 1..=samples {
        run.until(SINKS.0 + 0.4 + 0.02 * f64::from(k), &mut ())?;
        let frame = run.frame();
        let measures = Measures::of(&frame);
        pressure -= frame.contact_force(floor).z / area / f64::from(samples);
        for (k, sum) in sums.iter_mut().enumerate() {
            let stress = measures.stress(&slice(k)) / f64::from(samples);
            sum[0] += stress[(2, 2)];
            sum[1] += 0.5 * (stress[(0, 0)] + stress[(1, 1)]);
        }
    }
    let mut rows = vec![vec![width, mass * GRAVITY / area, density, pressure]];
    for (k, [vertical, horizontal]) in sums.into_iter().enumerate() {
        rows.push(vec![surface - 0.5 * width * (k as f64 + 0.5), vertical, horizontal]);
    }
    Ok(rows)
}

/// What Janssen's law says about a run.
struct Fit {
    /// Length of saturation with the least squares [m].
    length: f64,
    /// Fraction of the variance of the stresses that the law explains [–].
    explained: f64,
    /// Horizontal over vertical stress, the mean over the slices [–].
    ratio: f64,
}

/// The law at a depth [m], with `scale` = ρ g [Pa/m].
fn janssen(scale: f64, length: f64, depth: f64) -> f64 {
    scale * length * (1.0 - (-depth.max(0.0) / length).exp())
}

/// Fits Janssen's law to the slices of a run.
fn fit(rows: &Rows) -> Fit {
    let (width, scale) = (rows[0][0], rows[0][2] * GRAVITY);
    let slices: Vec<&Vec<f64>> = rows[1..].iter().filter(|r| r[0] > 0.0).collect();
    let error = |length: f64| -> f64 {
        slices.iter().map(|r| (r[1] - janssen(scale, length, r[0])).powi(2)).sum()
    };
    // The error has one minimum: golden sections.
    let (mut a, mut b) = (0.05 * width, 50.0 * width);
    for _ in 0..100 {
        let (c, d) = (b - 0.618 * (b - a), a + 0.618 * (b - a));
        if error(c) < error(d) { b = d } else { a = c }
    }
    let length = 0.5 * (a + b);
    let mean = slices.iter().map(|r| r[1]).sum::<f64>() / slices.len() as f64;
    let spread: f64 = slices.iter().map(|r| (r[1] - mean).powi(2)).sum();
    let sum = |k: usize| slices.iter().map(|r| r[k]).sum::<f64>();
    Fit { length, explained: 1.0 - error(length) / spread, ratio: sum(2) / sum(1) }
}

/// The fitted length, its agreement with the measured stress ratio, and how much of the weight the walls carry.
pub(super) fn report(rows: &[Rows], panels: &mut Panels) -> Vec<Finding> {
    let fits: Vec<Fit> = rows.iter().map(fit).collect();
    let of = |f: fn(&Fit, &Rows) -> f64| {
        Estimate::mean(&fits.iter().zip(rows).map(|(fit, rows)| f(fit, rows)).collect::<Vec<_>>())
    };
    let length = of(|fit, rows| fit.length / rows[0][0]);
    let mut curves = Vec::new();
    for rows in rows {
        let points = rows[1..].iter().map(|r| [r[0], r[1]]).collect();
        curves.push(Curve::new("slices", Colour::Blue, points).marked().width(0.5));
    }
    let first = &rows[0];
    let (scale, deepest) = (first[0][2] * GRAVITY, first[1][0]);
    let along = |f: &dyn Fn(f64) -> f64| {
        (0..=40).map(|k| deepest * f64::from(k) / 40.0).map(|y| [y, f(y)]).collect::<Vec<_>>()
    };
    let law = along(&|y| janssen(scale, length.value * first[0][0], y));
    curves.push(Curve::new("Janssen's law, fitted", Colour::Orange, law));
    let highest = 1.5 * janssen(scale, length.value * first[0][0], deepest);
    let weight = along(&|y| scale * y).into_iter().filter(|p| p[1] < highest).collect();
    curves.push(Curve::new("without walls: ρ g y", Colour::Grey, weight));
    panels.push(Panel {
        title: "Silo with a sinking floor".to_owned(),
        x: Axis::new("depth [m]"),
        y: Axis::new("vertical stress [Pa]"),
        curves,
    });
    let finding = |quantity: &str, estimate, range, reference| Finding {
        test: "silo",
        quantity: quantity.to_owned(),
        unit: "–",
        estimate,
        runs: rows.len(),
        range,
        reference,
    };
    vec![
        finding(
            "length of saturation λ over the width a",
            length,
            None,
            "depends on the packing and the walls",
        ),
        finding(
            "variance of σ(z) that Janssen's law explains",
            of(|fit, _| fit.explained),
            Some([0.9, 1.0]),
            "closed form: Janssen 1895",
        ),
        finding(
            "λ over a/(4 K μ), with K = σxx/σzz measured",
            of(|fit, rows| fit.length * 4.0 * fit.ratio * WALL / rows[0][0]),
            Some([0.8, 1.25]),
            "1 if the friction is mobilised everywhere: Janssen 1895",
        ),
        finding("K = σxx/σzz", of(|fit, _| fit.ratio), None, "no value is assumed"),
        finding(
            "pressure on the floor over ρ g λ (1 − exp(−H/λ))",
            of(|fit, rows| {
                let (top, scale) = (rows[0][1] / (rows[0][2] * GRAVITY), rows[0][2] * GRAVITY);
                rows[0][3] / janssen(scale, fit.length, top)
            }),
            Some([0.8, 1.25]),
            "1: Janssen 1895",
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fit_finds_the_length_of_exact_stresses() {
        let (width, density, length) = (0.1, 1500.0, 0.07);
        let slice = |k: i32| {
            let depth = 0.05 * f64::from(k);
            let stress = janssen(density * GRAVITY, length, depth);
            vec![depth, stress, 0.6 * stress]
        };
        let head = vec![width, 0.0, density, 0.0];
        let fit = fit(&std::iter::once(head).chain((0..8).map(slice)).collect());
        assert!((fit.length - length).abs() < 1e-6, "{}", fit.length);
        assert!(fit.explained > 1.0 - 1e-9 && (fit.ratio - 0.6).abs() < 1e-12);
    }
}

//! Angle of repose: a bin with frictionless sides is opened at the front; what lies above the angle of repose runs over a lip.

use riprap::prelude::*;
use riprap::simulation::{Measures, Region};

use super::super::Failure;
use super::jobs::{Job, Rows};
use super::scene::{Grains, add_box, empty, rain, start, starts, wall};
use super::statistics::Estimate;
use super::{Finding, Panels, range_lines};
use crate::Effort;
use crate::figure::{Axis, Colour, Curve, Panel};

/// A bin.
#[derive(Clone, Copy, Debug)]
struct Bin {
    grains: Grains,
    count: usize,
    /// Length from the back to the lip [m].
    length: f64,
    /// Width between the sides [m].
    width: f64,
    seed: u64,
    /// End of the run [s].
    until: f64,
}

/// When the gate opens [s].
const OPENS: f64 = 0.7;
/// Time step [s]: the stones fall from 2 m.
const DT: f64 = 3e-4;

/// The kinds of grains and the ranges of their angles in the literature [deg].
const KINDS: [(Grains, [f64; 2], &str); 2] = [
    (Grains::Spheres, super::BEADS, "flowing glass beads: Jop, Forterre and Pouliquen 2006"),
    (
        Grains::Stones,
        [32.0, 42.0],
        "rounded to angular riprap: Anderson, Paintal and Davenport 1970",
    ),
];

/// One run per kind and seed.
pub(super) fn jobs(effort: Effort) -> Vec<Job> {
    let job = |grains: Grains, seed: u64| {
        let bin = match effort {
            Effort::Full => {
                let count = if grains == Grains::Spheres { 780 } else { 900 };
                Bin { grains, count, length: 0.28, width: 0.12, seed, until: 2.1 }
            }
            Effort::Small => Bin { grains, count: 60, length: 0.13, width: 0.09, seed, until: 1.4 },
        };
        Job::new(format!("{}repose-{grains}-{seed}", super::prefix(effort)), bin, run)
    };
    let kinds = KINDS.iter().map(|kind| kind.0);
    kinds.flat_map(|kind| super::seeds(effort, 10).map(move |seed| job(kind, seed))).collect()
}

/// One row: the slope [deg], the mean over the last 0.3 s, and the speed of the fastest grain of the heap at the end [m/s].
fn run(bin: &Bin) -> Result<Rows, Failure> {
    let Bin { grains, count, length, width, seed, until } = *bin;
    let (material, glass) = (wall(0.7), wall(0.0));
    let mut scene = empty();
    let (half, long) = (0.5 * width, length + 0.06);
    add_box(&mut scene, [long, width, 0.04], [0.5 * length - 0.01, 0.0, -0.02], &material)?;
    add_box(&mut scene, [0.02, width, 0.04], [length + 0.01, 0.0, 0.02], &material)?;
    add_box(&mut scene, [0.04, width, 0.6], [-0.02, 0.0, 0.3], &material)?;
    for y in [-half - 0.01, half + 0.01] {
        add_box(&mut scene, [long, 0.02, 0.6], [0.5 * length - 0.01, y, 0.3], &glass)?;
    }
    let gate = BodyDescription::new(Shape::cuboid([0.02, width, 0.6])?, &glass);
    let gate = gate.at([length + 0.01, 0.0, 0.341]).moving(starts([0.0, 0.0, 1.0], 0.6, OPENS));
    scene.add(gate, &glass);
    let floor = [[0.0, -half, 0.0], [length, half, 0.0]];
    let heap = rain(&mut scene, grains, floor, count, seed)?;

    let region =
        Region { min: Vec3::new(0.03, -half, 0.0), max: Vec3::new(length - 0.03, half, 1.0) };
    let mut run = start(&scene, DT)?;
    run.until(until - 0.3, &mut ())?;
    let mut angles = Vec::new();
    for k in 0..=10 {
        run.until(until - 0.03 * f64::from(10 - k), &mut ())?;
        let slope = Measures::of(&run.frame()).slope(&region);
        angles.extend(slope.map(|s| s.angle.to_degrees()));
    }
    let inside = |b: &&Body| run.pose(**b).position.x < length - 0.03;
    let speeds = heap.iter().filter(inside).map(|b| run.velocity(*b).linear.norm());
    Ok(vec![vec![Estimate::mean(&angles).value, speeds.fold(0.0, f64::max)]])
}

/// The angles of both kinds, and a panel with all seeds.
pub(super) fn report(rows: &[Rows], panels: &mut Panels) -> Vec<Finding> {
    let each = rows.len() / KINDS.len();
    let mut curves = Vec::new();
    let mut findings = Vec::new();
    for (k, (grains, range, reference)) in KINDS.iter().enumerate() {
        let angles: Vec<f64> = rows[k * each..][..each].iter().map(|r| r[0][0]).collect();
        let points = angles.iter().enumerate().map(|(i, a)| [i as f64 + 1.0, *a]).collect();
        let colour = [Colour::Blue, Colour::Orange][k];
        curves.extend(range_lines(*range, [1.0, each as f64], colour));
        curves.push(Curve::new(&grains.to_string(), colour, points).marked());
        findings.push(Finding {
            test: "angle of repose",
            quantity: format!("angle of {grains}"),
            unit: "deg",
            estimate: Estimate::mean(&angles),
            runs: each,
            range: Some(*range),
            reference,
        });
    }
    panels.push(Panel {
        title: "Angle of repose".to_owned(),
        x: Axis::new("seed"),
        y: Axis::new("angle [deg]").range(10.0, 50.0),
        curves,
    });
    findings
}

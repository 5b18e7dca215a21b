//! Polygons settle in a box under event-driven dynamics; the unique forces of the packing.

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use riprap::friction::RestForces;
use riprap::prelude::*;
use riprap::simulation::{Fabric, ForceDistribution, ForceNetwork, Resultant, rose};

use super::{Figures, in_rows};
use crate::Effort;
use crate::figure::{Axis, Colour, Curve, Panel};
use crate::reproduce::{Failure, Tell};
use crate::scenes::polygons::{GRAIN, polygons_in_box, settling_scheme};

/// Sectors of half a rose of contact directions.
const SECTORS: usize = 12;

/// Quantities at the end of a step.
struct Row {
    t: f64,
    dt: f64,
    contacts: f64,
    kinetic: f64,
    overlap: f64,
}

/// A box whose polygons have settled.
pub(super) struct Settled {
    n: usize,
    run: Simulation,
    rows: Vec<Row>,
    /// Wall time [s].
    wall: f64,
}

/// Lets the polygons settle.
pub(super) fn run(effort: Effort) -> Result<Settled, Failure> {
    let (n, until) = if effort == Effort::Full { (50, 1.0) } else { (12, 0.5) };
    let (scene, _) = polygons_in_box(n, 0.5, 1);
    let mut run = Simulation::new(scene.build()?, settling_scheme())?;
    let (begin, mut rows) = (Instant::now(), Vec::new());
    while run.time() < until {
        let step = run.advance_to(until)?;
        let kinetic = run.frame().balance().kinetic;
        let (t, overlap) = (run.time(), step.penetration / GRAIN);
        rows.push(Row { t, dt: step.dt, contacts: step.contacts as f64, kinetic, overlap });
    }
    Ok(Settled { n, run, rows, wall: begin.elapsed().as_secs_f64() })
}

/// Kinetic energy, step length, contacts and overlap over time; force chains, their distribution and directions.
pub(super) fn report(
    settled: &Settled,
    folder: &Path,
    tell: &mut Tell,
    table: &mut String,
) -> Result<Figures, Failure> {
    let Settled { n, run, rows, wall } = settled;
    tell(&format!("{n} polygons settled in {} steps, {wall:.0} s", rows.len()));
    let network = ForceNetwork::of(&run.frame(), &RestForces::new(), Resultant::Balance)?;
    riprap_io::forces::write(folder, &run.frame(), &network, riprap_io::forces::View::Z)?;
    write_table(table, settled, &network);
    Ok(vec![
        ("settling", in_rows(&format!("{n} polygons settle in a box"), over_time(rows))),
        ("forces", in_rows("Normal forces at rest", statistics(&network))),
    ])
}

fn write_table(table: &mut String, settled: &Settled, network: &ForceNetwork) {
    let Settled { n, run, rows, wall } = settled;
    let events = RigidEvents::events(run.state());
    let overlap = rows.iter().map(|r| r.overlap).fold(0.0, f64::max);
    let shortest = rows.iter().map(|r| r.dt).fold(f64::INFINITY, f64::min);
    let (relative, largest) = network.distance();
    let _ = writeln!(
        table,
        "\n## {n} polygons settle in a box\n\n| quantity | value |\n| --- | --- |\n\
         | steps (shortest {shortest:.1e} s) | {} |\n| collisions solved | {} |\n| contacts that stopped sliding | {} |\n\
         | inconsistent configurations | {} |\n| largest overlap at the start of a step, over the grain size | {overlap:.1e} |\n\
         | kinetic energy at the end | {:.1e} J |\n| contacts at the end | {} |\n\
         | error of the resultant of the unique forces, over the weight | {:.1e} |\n\
         | distance of the scheme's forces from the unique ones | {:.0} %, at most {largest:.3} N |\n| wall time | {wall:.0} s |",
        rows.len(),
        events.collisions,
        events.stops,
        events.inconsistent,
        rows.last().map_or(f64::NAN, |r| r.kinetic),
        network.contacts.len(),
        network.report.residual,
        100.0 * relative,
    );
}

fn over_time(rows: &[Row]) -> Vec<Panel> {
    let panel = |label: &str, logarithmic: bool, of: fn(&Row) -> f64| {
        let points = rows.iter().map(|r| [r.t, of(r)]).collect();
        let mut y = Axis::new(label);
        y.logarithmic = logarithmic;
        Panel {
            title: String::new(),
            x: Axis::new("time [s]"),
            y,
            curves: vec![Curve::new("", Colour::Blue, points)],
        }
    };
    vec![
        panel("kinetic energy [J]", true, |r| r.kinetic.max(1e-16)),
        panel("length of the step [s]", true, |r| r.dt),
        panel("contacts", false, |r| r.contacts),
        panel("overlap over grain size", true, |r| r.overlap.max(1e-16)),
    ]
}

/// Distribution of normal forces, and directions of contacts.
fn statistics(network: &ForceNetwork) -> Vec<Panel> {
    let distribution = ForceDistribution::of(&network.normal_forces(), 0.25);
    let at = |k: usize| (k as f64 + 0.5) * distribution.width;
    let density = distribution.density.iter().enumerate().filter(|(_, p)| **p > 0.0);
    let points: Vec<[f64; 2]> = density.map(|(k, p)| [at(k), *p]).collect();
    let mut curves = vec![Curve::new("unique forces", Colour::Blue, points).marked()];
    if let Some(decay) = distribution.decay {
        let end = at(distribution.density.len());
        let scale = distribution.density.get(4).copied().unwrap_or(0.3) * (decay * at(4)).exp();
        let line = (4..).map(at).take_while(|f| *f < end);
        let points = line.map(|f| [f, scale * (-decay * f).exp()]).collect();
        curves.push(Curve::new("exponential tail", Colour::Orange, points));
    }
    let forces = Panel {
        title: "distribution".to_owned(),
        x: Axis::new("normal force over its mean"),
        y: Axis::new("probability density").logarithmic(),
        curves,
    };
    let normals = network.normals();
    // A normal and its opposite are the same: both halves of the rose are equal.
    let bins = rose(&normals, SECTORS);
    let ring = (0..=2 * SECTORS).map(|k| {
        let angle = (k as f64 + 0.5) * std::f64::consts::PI / SECTORS as f64;
        let share = bins[k % SECTORS];
        [share * angle.cos(), share * angle.sin()]
    });
    let anisotropy = Fabric::of(normals.iter().map(|n| (*n, 1.0))).map_or(0.0, |f| f.anisotropy());
    let reach = 1.1 * bins.iter().copied().fold(0.0, f64::max);
    let axis = |label: &str| Axis::new(label).range(-reach, reach);
    let directions = Panel {
        title: format!("directions of contacts, anisotropy {anisotropy:.2}"),
        x: axis("x"),
        y: axis("y"),
        curves: vec![Curve::new("contacts per direction", Colour::Green, ring.collect())],
    };
    vec![forces, directions]
}

//! A rotating drum with frictionless ends: the dynamic angle of repose against the speed of rotation.

use riprap::prelude::*;
use riprap::simulation::{Measures, Region};

use super::super::Failure;
use super::jobs::{Job, Rows};
use super::scene::{GRAVITY, Grains, add_box, add_lattice, empty, start, wall};
use super::statistics::{Estimate, Line};
use super::{BEADS, Finding, Panels, range_lines};
use crate::Effort;
use crate::figure::{Axis, Colour, Curve, Panel};

/// A drum.
#[derive(Clone, Copy, Debug)]
struct Drum {
    /// Angular velocity [rad/s].
    omega: f64,
    /// Inner radius [m].
    radius: f64,
    /// Length [m].
    length: f64,
    /// Counts of the lattice from which the grains fall.
    counts: [usize; 3],
    /// Duration over which the angle is averaged [s].
    average: f64,
    seed: u64,
}

/// One run per speed and seed.
pub(super) fn jobs(effort: Effort) -> Vec<Job> {
    let speeds: &[f64] = if effort == Effort::Full { &[0.5, 2.0] } else { &[2.0, 3.0] };
    let job = |omega: f64, seed: u64| {
        let drum = match effort {
            Effort::Full => {
                Drum { omega, radius: 0.24, length: 0.12, counts: [14, 5, 12], average: 2.5, seed }
            }
            Effort::Small => {
                Drum { omega, radius: 0.12, length: 0.05, counts: [7, 2, 6], average: 0.5, seed }
            }
        };
        Job::new(format!("{}drum-{omega}-{seed}", super::prefix(effort)), drum, run)
    };
    speeds.iter().flat_map(|w| super::seeds(effort, 8).map(move |seed| job(*w, seed))).collect()
}

/// One row: angular velocity [rad/s], Froude number ω² R/g [–], mean angle [deg].
fn run(drum: &Drum) -> Result<Rows, Failure> {
    let Drum { omega, radius, length, counts, average, seed } = *drum;
    let glass = Grains::Spheres.material();
    let mut scene = empty();
    let spin = move |t: f64| Vec3::new(0.0, omega * ((t - 0.4) / 0.2).clamp(0.0, 1.0), 0.0);
    let motion = Motion::Velocity { linear: Law::constant([0.0; 3]), angular: Law::new(spin) };
    scene.add(BodyDescription::new(planks(radius, length)?, &glass).moving(motion), &glass);
    for y in [-0.5 * length - 0.01, 0.5 * length + 0.01] {
        let size = 2.2 * radius;
        add_box(&mut scene, [size, 0.02, size], [0.0, y, 0.0], &wall(0.0))?;
    }
    let cell = 0.0225;
    let origin = [0, 1, 2].map(|k| -0.5 * cell * (counts[k] as f64 - 1.0));
    let origin = [origin[0], origin[1], origin[2] - 0.15 * radius];
    add_lattice(&mut scene, counts, [[cell; 3], origin], seed)?;

    // The middle half of the surface.
    let reach = Vec3::new(0.5 * radius, length, radius);
    let region = Region { min: -reach, max: reach };
    let mut run = start(&scene, 8e-4)?;
    // The bed is lifted to its angle and flows for half a radian more.
    let begin = 0.5 + 1.0 / omega;
    let mut angles = Vec::new();
    let samples = (average / 0.02).round() as u32;
    run.until(begin, &mut ())?;
    for k in 1..=samples {
        run.until(begin + 0.02 * f64::from(k), &mut ())?;
        let slope = Measures::of(&run.frame()).slope(&region);
        angles.extend(slope.map(|s| s.angle.to_degrees()));
    }
    Ok(vec![vec![omega, omega * omega * radius / GRAVITY, Estimate::mean(&angles).value]])
}

/// 32 planks, 2 cm thick, around a cylinder.
fn planks(radius: f64, length: f64) -> Result<Shape, Failure> {
    const N: usize = 32;
    let part = std::f64::consts::PI / N as f64;
    let plank = Shape::cuboid([2.0 * (radius + 0.02) * part.tan(), length, 0.02])?;
    let place = |k: usize| {
        let angle = 2.0 * part * k as f64;
        let at = [(radius + 0.01) * angle.sin(), 0.0, (radius + 0.01) * angle.cos()];
        (Pose::at(at).turned([0.0, 1.0, 0.0], angle), plank.clone())
    };
    Ok(Shape::compound((0..N).map(place).collect())?)
}

/// The angle at the lowest speed, and how it rises.
pub(super) fn report(rows: &[Rows], panels: &mut Panels) -> Vec<Finding> {
    let all: Vec<[f64; 2]> = rows.iter().map(|r| [r[0][0], r[0][2]]).collect();
    let slowest = all[0][0];
    let slow: Vec<f64> = all.iter().filter(|p| p[0] == slowest).map(|p| p[1]).collect();
    let line = Line::fit(&all);
    let ends = [all[0][0], all[all.len() - 1][0]];
    let fitted = ends.map(|w| [w, line.start + line.slope.value * w]);
    let mut curves = range_lines(BEADS, ends, Colour::Blue);
    curves.push(Curve::new("runs", Colour::Blue, all.clone()).marked().width(0.0));
    curves.push(Curve::new("line, fitted", Colour::Orange, fitted.into()));
    panels.push(Panel {
        title: "Rotating drum".to_owned(),
        x: Axis::new("angular velocity [rad/s]"),
        y: Axis::new("dynamic angle [deg]").range(15.0, 40.0),
        curves,
    });
    let froude = rows[0][0][1];
    vec![
        Finding {
            test: "rotating drum",
            quantity: format!("dynamic angle at {slowest} rad/s, Froude number {froude:.4}"),
            unit: "deg",
            estimate: Estimate::mean(&slow),
            runs: slow.len(),
            range: Some(BEADS),
            reference: "flowing glass beads: Jop, Forterre and Pouliquen 2006",
        },
        Finding {
            test: "rotating drum",
            quantity: "rise of the angle with the speed".to_owned(),
            unit: "deg s/rad",
            estimate: line.slope,
            runs: all.len(),
            range: Some([0.0, f64::INFINITY]),
            reference: "the angle rises with the speed: GDR MiDi 2004",
        },
    ]
}

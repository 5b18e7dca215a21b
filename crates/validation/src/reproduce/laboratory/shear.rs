//! Direct shear box: the lower half moves, a plate on a vertical slide loads the grains.

use riprap::prelude::*;

use super::super::Failure;
use super::jobs::{Job, Rows};
use super::scene::{GRAIN, GRAVITY, Grains, add_box, empty, rain, start, starts, wall};
use super::statistics::Estimate;
use super::{Finding, Panels};
use crate::Effort;
use crate::figure::{Axis, Colour, Curve, Panel};

/// A shear box.
#[derive(Clone, Copy, Debug)]
struct ShearBox {
    grains: Grains,
    count: usize,
    /// Length along the direction of shear [m].
    length: f64,
    /// Width between frictionless sides [m].
    width: f64,
    /// Height of the lower half [m].
    half: f64,
    /// Initial height of the plate above the highest centre of a grain [m].
    above: f64,
    /// Force on the plate over the area [Pa].
    pressure: f64,
    /// Displacement at the end [m].
    travel: f64,
    seed: u64,
}

/// Speed of the lower half [m/s], and when it starts to move [s].
const MOVES: (f64, f64) = (0.06, 1.3);
/// Thickness of the end walls, which keep the box closed while it moves [m].
const WALL: f64 = 0.06;
/// Time step [s]: the stones fall from 1 m.
const DT: f64 = 4e-4;
/// Steps from one row to the next, 20 ms.
const STEPS: u32 = 50;

/// The kinds of grains and the ranges of their angles in the literature [deg].
const KINDS: [(Grains, [f64; 2], &str); 2] = [
    (Grains::Spheres, super::BEADS, "flowing glass beads: Jop, Forterre and Pouliquen 2006"),
    (Grains::Stones, [33.0, 49.0], "gravel to platy sand: Stark, Hay, Cheel and Lake 2014"),
];

/// One run per kind and seed.
pub(super) fn jobs(effort: Effort) -> Vec<Job> {
    let job = |grains: Grains, seed: u64| {
        let shear_box = match effort {
            Effort::Full => ShearBox {
                grains,
                count: if grains == Grains::Spheres { 450 } else { 360 },
                length: 0.24,
                width: 0.12,
                half: 0.06,
                above: 1.5 * GRAIN,
                pressure: 5e3,
                travel: 0.036,
                seed,
            },
            Effort::Small => ShearBox {
                grains,
                count: 50,
                length: 0.13,
                width: 0.065,
                half: 0.03,
                above: 1.5 * GRAIN,
                pressure: 5e3,
                travel: 0.012,
                seed,
            },
        };
        Job::new(format!("{}shear-{grains}-{seed}", super::prefix(effort)), shear_box, run)
    };
    let kinds = KINDS.iter().map(|kind| kind.0);
    kinds.flat_map(|kind| super::seeds(effort, 10).map(move |seed| job(kind, seed))).collect()
}

/// Rows of displacement [m], shear force over normal force [–] and height of the plate [m].
fn run(shear_box: &ShearBox) -> Result<Rows, Failure> {
    let ShearBox { grains, count, length, width, half, above, pressure, travel, seed } = *shear_box;
    let (rough, smooth) = (grains.material(), wall(0.0));
    let mut scene = empty();
    let end = 0.5 * (length + WALL);
    let block = |size: [f64; 3], at: [f64; 3]| -> Result<(Pose, Shape), Failure> {
        Ok((Pose::at(at), Shape::cuboid(size)?))
    };
    let lower = Shape::compound(vec![
        block([WALL, width, half], [-end, 0.0, -0.5 * half])?,
        block([WALL, width, half], [end, 0.0, -0.5 * half])?,
        block([length + 2.0 * WALL, width, 0.04], [0.0, 0.0, -half - 0.02])?,
    ])?;
    let lower =
        BodyDescription::new(lower, &rough).moving(starts([1.0, 0.0, 0.0], MOVES.0, MOVES.1));
    let lower = scene.add(lower, &rough);
    for x in [-end, end] {
        add_box(&mut scene, [WALL, width, 1.2], [x, 0.0, 0.601], &rough)?;
    }
    for y in [-0.5 * width - 0.01, 0.5 * width + 0.01] {
        add_box(&mut scene, [length + 4.0 * WALL, 0.02, 1.5], [0.0, y, 0.55], &smooth)?;
    }
    let column = [[-0.5 * length, -0.5 * width, -half], [0.5 * length, 0.5 * width, 0.0]];
    let bodies = rain(&mut scene, grains, column, count, seed)?;
    let heights = scene.bodies().iter().rev().take(bodies.len()).map(|b| b.pose.position.z);
    let bottom = heights.fold(0.0, f64::max) + above;
    let cover = Shape::cuboid([length - 0.002, width - 0.002, 0.04])?;
    let mut press = Mechanism::new("press");
    let mass = MassProperties::principal(2.0, [0.0; 3], [0.01; 3]);
    let slide = Joint::Prismatic(riprap::multibody::Axis::Z);
    let plate = press.add("z", GROUND, slide, Pose::IDENTITY, Some(mass));
    press.attach(plate, cover, Pose::IDENTITY, "wall 0");
    let z = press.coordinate(plate, 0);
    press.start(z, bottom + 0.02);
    let load = pressure * length * width;
    // A damper lets it sink on the grains at 1 m/s.
    let law = move |x: &Inputs| -load * ((x.t - 1.0) / 0.2).clamp(0.0, 1.0) - 20.0 * x.v[0];
    press.actuate("load", z, Signal::new(law));
    scene.add_mechanism(press);

    let mut run = start(&scene, DT)?;
    run.until(MOVES.1, &mut ())?;
    let carried = |run: &Simulation| {
        let slot = |b: &Body| run.scene().bodies().mass[run.scene().slot(*b)];
        let below = bodies.iter().filter(|b| run.pose(**b).position.z < 0.0);
        GRAVITY * below.map(slot).sum::<f64>()
    };
    let mut rows = Vec::new();
    let samples = (travel / MOVES.0 / 0.02).round() as u32;
    for _ in 0..=samples {
        // The mean over 20 ms.
        let mut force = Vec3::zeros();
        for _ in 0..STEPS {
            run.step()?;
            force -= run.frame().contact_force(lower) / f64::from(STEPS);
        }
        // The plane of shear does not carry the grains below it.
        let normal = force.z - carried(&run);
        let moved = run.pose(lower).position.x;
        rows.push(vec![moved, force.x.abs() / normal.abs(), run.state().mechanisms[0].q[0]]);
    }
    Ok(rows)
}

/// The friction angle of a run [deg]: in the second half of the travel.
fn angle(rows: &Rows) -> f64 {
    let half = &rows[rows.len() / 2..];
    let ratio = half.iter().map(|r| r[1]).sum::<f64>() / half.len() as f64;
    ratio.atan().to_degrees()
}

/// The friction angles of both kinds, their scatter, and the stress ratio over the displacement.
pub(super) fn report(rows: &[Rows], panels: &mut Panels) -> Vec<Finding> {
    let each = rows.len() / KINDS.len();
    let (mut curves, mut findings) = (Vec::new(), Vec::new());
    for (k, (grains, range, reference)) in KINDS.iter().enumerate() {
        let rows = &rows[k * each..][..each];
        let colour = [Colour::Blue, Colour::Orange][k];
        for rows in rows {
            let points = rows.iter().map(|r| [1e3 * r[0], r[1]]).collect();
            curves.push(Curve::new(&grains.to_string(), colour, points).width(1.0));
        }
        let angles: Vec<f64> = rows.iter().map(angle).collect();
        let mean = Estimate::mean(&angles);
        let squares: f64 = angles.iter().map(|a| (a - mean.value).powi(2)).sum();
        let scatter = (squares / (each as f64 - 1.0)).sqrt();
        let finding = |quantity: &str, estimate, range, reference| Finding {
            test: "direct shear",
            quantity: format!("{quantity} of {grains}"),
            unit: "deg",
            estimate,
            runs: each,
            range,
            reference,
        };
        findings.push(finding("friction angle", mean, Some(*range), *reference));
        let scatter = Estimate { value: scatter, half: f64::INFINITY };
        findings.push(finding("standard deviation over the seeds", scatter, None, "no reference"));
    }
    panels.push(Panel {
        title: "Direct shear at 5 kPa".to_owned(),
        x: Axis::new("displacement [mm]"),
        y: Axis::new("shear force over normal force"),
        curves,
    });
    findings
}

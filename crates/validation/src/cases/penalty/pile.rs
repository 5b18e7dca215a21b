//! A pile of spheres with soft and with hard contact: packing fraction, coordination number, cost.

use crate::{Checks, Effort};
use rayon::prelude::*;
use riprap::grains::{lattice, seeded};
use riprap::prelude::*;
use std::f64::consts::PI;
use std::time::Instant;

/// What is compared.
struct Pile {
    counts: [usize; 3],
    n: usize,
    /// Inner width of the box [m].
    width: f64,
    /// Height up to which the packing fraction is measured [m].
    height: f64,
    /// End of the pouring [s].
    until: f64,
    seeds: u64,
    /// Steps of soft contact [s].
    soft_dt: f64,
}

/// Steps of hard contact [s].
const HARD_DT: f64 = 5e-4;

/// One settled pile.
struct Settled {
    /// Fraction of the volume below the height that is filled [–].
    packing: f64,
    /// Mean number of spheres that push a sphere [–].
    coordination: f64,
    /// Root mean square velocity [m/s].
    speed: f64,
    /// Deepest overlap at the end over the mean diameter [–].
    overlap: f64,
    /// Wall time [s].
    wall: f64,
}

/// Spheres of 18 to 22 mm from a loose lattice with random shifts fall into a box.
fn scene(pile: &Pile, seed: u64) -> (SceneBuilder, Vec<f64>) {
    let rock = Material::new("rock").density(2500.0).friction(0.5);
    let mut scene = Scene::builder();
    let w = pile.width;
    let walls = [
        ([0.0, 0.0, 1.0], [0.0, 0.0, 0.0]),
        ([1.0, 0.0, 0.0], [0.0, 0.0, 0.0]),
        ([-1.0, 0.0, 0.0], [w, 0.0, 0.0]),
        ([0.0, 1.0, 0.0], [0.0, 0.0, 0.0]),
        ([0.0, -1.0, 0.0], [0.0, w, 0.0]),
    ];
    for (normal, at) in walls {
        scene.add_fixed(Shape::half_space(normal).expect("a unit normal"), Pose::at(at), &rock);
    }
    let spacing = 0.03;
    let margin = 0.5 * (w - spacing * (pile.counts[0] - 1) as f64);
    let poses =
        lattice([margin, margin, 0.02], [spacing; 3], pile.counts, 3.5e-3, &mut seeded(seed));
    let mut radii = Vec::new();
    for (k, pose) in poses.into_iter().take(pile.n).enumerate() {
        // Sizes spread evenly by the golden ratio, so that the spheres do not order.
        let radius = 9e-3 + 2e-3 * (0.618_033_988_75 * (k + 1) as f64).fract();
        let shape = Shape::sphere(radius).expect("positive");
        scene.add(BodyDescription::new(shape, &rock).at(pose.position.into()), &rock);
        radii.push(radius);
    }
    (scene, radii)
}

fn settle(pile: &Pile, seed: u64, scheme: impl Scheme + 'static) -> Settled {
    let (scene, radii) = scene(pile, seed);
    let scene = scene.build().expect("spheres above a floor");
    let first = scene.bodies().len() - radii.len();
    let mut run = Simulation::new(scene, scheme).expect("a valid scheme");
    let clock = Instant::now();
    run.until(pile.until, &mut ()).expect("spheres come to rest");
    let wall = clock.elapsed().as_secs_f64();

    let below = |k: usize| {
        let (r, z) = (radii[k], run.state().q[first + k].position.z);
        // A sphere cut by the plane z = height.
        let h = (pile.height - (z - r)).clamp(0.0, 2.0 * r);
        PI * h * h * (r - h / 3.0)
    };
    let volume: f64 = (0..radii.len()).map(below).sum();
    let weight = |b: Body| run.scene().bodies().mass[run.scene().slot(b)] * 9.81;
    let frame = run.frame();
    let pushing = frame.contacts().filter(|c| {
        let lighter = weight(c.bodies[0]).min(weight(c.bodies[1]));
        weight(c.bodies[0]).is_finite()
            && weight(c.bodies[1]).is_finite()
            && c.force.norm() > 1e-3 * lighter
    });
    let n = radii.len() as f64;
    let speeds = (0..radii.len()).map(|k| run.state().v[first + k].linear.norm_squared());
    Settled {
        packing: volume / (pile.width * pile.width * pile.height),
        coordination: 2.0 * pushing.count() as f64 / n,
        speed: (speeds.sum::<f64>() / n).sqrt(),
        overlap: run.frame().step.penetration / 0.02,
        wall,
    }
}

/// Mean and standard deviation of a sample.
fn spread(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let square: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, (square / (n - 1.0)).sqrt())
}

/// 500 spheres in their full version: both schemes start from the same positions.
pub(super) fn pile(checks: &mut Checks, effort: Effort) {
    let pile = match effort {
        Effort::Full => Pile {
            counts: [5, 5, 20],
            n: 500,
            width: 0.16,
            height: 0.09,
            until: 1.0,
            seeds: 5,
            soft_dt: 2e-5,
        },
        Effort::Small => Pile {
            counts: [3, 3, 7],
            n: 60,
            width: 0.1,
            height: 0.03,
            until: 0.6,
            seeds: 3,
            soft_dt: 5e-5,
        },
    };
    let seeds = || (0..pile.seeds).into_par_iter();
    let softer = |dt: f64| -> Vec<Settled> {
        seeds().map(|seed| settle(&pile, seed, Penalty::new(dt))).collect()
    };
    // A step twice as long is a stiffness four times smaller.
    let [soft, softest] = [1.0, 2.0].map(|factor| softer(factor * pile.soft_dt));
    let hard: Vec<Settled> =
        seeds().map(|seed| settle(&pile, seed, MoreauJean::new(HARD_DT))).collect();
    let what = format!("{} spheres, {} seeds", pile.n, pile.seeds);

    let packing = |all: &[Settled]| spread(&all.iter().map(|s| s.packing).collect::<Vec<_>>());
    let quantity = "packing fraction";
    let samples = [("soft", packing(&soft)), ("hard", packing(&hard))];
    compare(checks, quantity, &what, samples);
    // Compression closes gaps: the excess of contacts over rigid spheres grows like the root of the overlap (O'Hern et al. 2003), so
    // it doubles when the stiffness falls to a quarter, and the limit of rigid contact is 2 z(k) − z(k/4), seed by seed.
    let contacts = |all: &[Settled]| all.iter().map(|s| s.coordination).collect::<Vec<_>>();
    let (fine, coarse) = (contacts(&soft), contacts(&softest));
    let limit: Vec<f64> =
        fine.iter().zip(&coarse).map(|(fine, coarse)| 2.0 * fine - coarse).collect();
    checks.information(|checks| {
        for (stiffness, sample) in [("k/4", spread(&coarse)), ("k", spread(&fine))] {
            let row = format!(
                "coordination number, soft contact with {stiffness}, ± standard deviation, {what}"
            );
            checks.close(&row, sample.0, sample.0, sample.1, "1");
        }
    });
    let samples = [("soft, limit of rigid", spread(&limit)), ("hard", spread(&contacts(&hard)))];
    compare(checks, "coordination number", &what, samples);
    let mean = |all: &[Settled], of: fn(&Settled) -> f64| {
        all.iter().map(of).sum::<f64>() / all.len() as f64
    };
    let overlap = mean(&soft, |s| s.overlap);
    // The weight of the pile on one contact, m g n/k.
    checks.at_most(
        &format!("deepest overlap over diameter at rest, soft contact, {what}"),
        overlap,
        1e-2,
        "1",
    );
    checks.information(|checks| {
        for (contact, all) in [("soft", &soft), ("hard", &hard)] {
            let speed = mean(all, |s| s.speed);
            checks.at_most(
                &format!("root mean square velocity at the end, {contact} contact"),
                speed,
                1e-2,
                "m/s",
            );
        }
        let (soft, hard) = (mean(&soft, |s| s.wall), mean(&hard, |s| s.wall));
        checks.at_most("wall time, soft contact over hard contact", soft / hard, 1e3, "1");
        checks.at_most("wall time per simulated second, soft contact", soft / pile.until, 1e4, "s");
        checks.at_most("wall time per simulated second, hard contact", hard / pile.until, 1e4, "s");
        checks.at_most(
            "steps per simulated second, soft over hard",
            HARD_DT / pile.soft_dt,
            1e3,
            "1",
        );
    });
}

/// Two samples by mean and standard deviation: both are shown, and their means must agree within twice the scatter of single piles.
fn compare(checks: &mut Checks, quantity: &str, what: &str, samples: [(&str, (f64, f64)); 2]) {
    checks.information(|checks| {
        for (contact, (mean, deviation)) in samples {
            let row = format!("{quantity}, {contact} contact, ± standard deviation, {what}");
            checks.close(&row, mean, mean, deviation, "1");
        }
    });
    let [(contact, soft), (_, hard)] = samples;
    let row = format!("{quantity}, {contact} against hard contact, {what}");
    checks.close(&row, soft.0, hard.0, 2.0 * soft.1.hypot(hard.1), "1");
}

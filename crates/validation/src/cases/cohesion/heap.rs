//! Heaps of discs with and without cohesion.

use riprap::prelude::*;

use crate::{Checks, Effort};

const G: f64 = 9.81;
/// Mean radius [m].
const RADIUS: f64 = 0.005;
const DENSITY: f64 = 2500.0;

/// A column of discs that collapses keeps a steeper heap with cohesion, over several seeds.
pub(super) fn heaps(checks: &mut Checks, effort: Effort) {
    let (seeds, columns, rows): (u64, usize, usize) = match effort {
        Effort::Full => (6, 16, 30),
        Effort::Small => (2, 6, 10),
    };
    let weight = DENSITY * std::f64::consts::PI * RADIUS * RADIUS * G;
    let bonds: &[f64] = match effort {
        Effort::Full => &[0.0, 2.0, 10.0],
        Effort::Small => &[0.0, 10.0],
    };
    let slopes: Vec<Vec<f64>> = bonds
        .iter()
        .map(|bond| (0..seeds).map(|seed| slope(seed, columns, rows, bond * weight)).collect())
        .collect();
    for (k, pair) in slopes.windows(2).enumerate() {
        let [(a, sa), (b, sb)] = [mean(&pair[0]), mean(&pair[1])];
        let what =
            format!("heap of discs: mean slope, Bond number {} less {}", bonds[k + 1], bonds[k]);
        // Beyond three standard errors of the difference, with several seeds.
        let beyond = if effort == Effort::Full { 3.0 * (sa * sa + sb * sb).sqrt() } else { 0.0 };
        checks.at_least(&what, b - a, beyond.max(0.05), "1");
    }
}

/// Mean and standard error.
fn mean(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, (squares / (n - 1.0).max(1.0) / n).sqrt())
}

/// Slope of the heap that a column of discs leaves on a rough floor beside a wall: its height divided by its extent, where
/// both hold the discs below 98 % of them.
fn slope(seed: u64, columns: usize, rows: usize, cohesion: f64) -> f64 {
    let material = Material::new("discs")
        .density(DENSITY)
        .friction(0.5)
        .rolling(0.2 * RADIUS)
        .cohesion(cohesion);
    let mut scene = Scene::builder();
    scene.planar();
    for normal in [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]] {
        scene.add_fixed(Shape::half_space(normal).expect("unit"), Pose::IDENTITY, &material);
    }
    for row in 0..rows {
        for column in 0..columns {
            // A sequence with a different start for each seed that fills the interval evenly.
            let place = (row * columns + column + 1) as f64 + 1000.0 * seed as f64;
            let radius = RADIUS * (0.8 + 0.4 * (place * place * 0.618_033_988_75).fract());
            let shift = if row % 2 == 0 { 1.2 } else { 2.4 };
            let x = RADIUS * (2.42 * column as f64 + shift);
            let y = RADIUS * (2.42 * row as f64 + 1.2);
            let disc = Shape::disc(radius, 1.0).expect("positive");
            scene.add(BodyDescription::new(disc, &material).at([x, y, 0.0]), &material);
        }
    }
    let built = scene.build().unwrap_or_else(|e| panic!("{e}"));
    let mut run = Simulation::new(built, MoreauJean::new(5e-4)).expect("a valid scheme");
    run.until(1.5, &mut ()).unwrap_or_else(|e| panic!("{e}"));
    let bodies = run.scene().bodies().movable.clone();
    let free: Vec<Vec3> = run
        .state()
        .q
        .iter()
        .zip(bodies)
        .filter(|(_, free)| *free)
        .map(|(q, _)| q.position)
        .collect();
    let reach = |axis: usize| {
        let mut values: Vec<f64> = free.iter().map(|p| p[axis]).collect();
        values.sort_by(f64::total_cmp);
        values[values.len() * 98 / 100]
    };
    reach(1) / reach(0)
}

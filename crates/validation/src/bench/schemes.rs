//! Time per step of the schemes on small systems: `riprap bench schemes`.

use crate::{nonsmooth, slider_crank};
use riprap::prelude::*;
use serde::Serialize;
use std::time::Instant;

/// Time per step of one scheme on one scene.
#[derive(Clone, Debug, Serialize)]
pub struct SchemeTime {
    /// The scene.
    pub scene: &'static str,
    /// The scheme.
    pub scheme: &'static str,
    /// Time step [s].
    pub dt: f64,
    /// Number of steps.
    pub steps: usize,
    /// Time per step [µs]: the smallest of several runs.
    pub time: f64,
    /// Mean number of Newton iterations per step; 0 for an explicit scheme.
    pub newton: f64,
}

/// A scene, its time step and the number of steps to run.
struct Example {
    name: &'static str,
    scene: fn() -> Result<Scene, String>,
    dt: f64,
    steps: usize,
}

const EXAMPLES: [Example; 4] = [
    Example {
        name: "bouncing ball",
        scene: || nonsmooth::scene_of(nonsmooth::BALL),
        dt: 2e-3,
        steps: 2500,
    },
    Example {
        name: "bouncing pendulum",
        scene: || nonsmooth::scene_of(nonsmooth::PENDULUM),
        dt: 1e-3,
        steps: 5500,
    },
    Example { name: "slider-crank", scene: chain, dt: 1e-5, steps: 13_690 },
    Example {
        name: "elastic bar, 200 elements",
        scene: || Ok(nonsmooth::bar::scene(200, false)),
        dt: 2e-3,
        steps: 750,
    },
];

fn chain() -> Result<Scene, String> {
    let parameters = &slider_crank::Parameters::PAPER;
    let (builder, _) = slider_crank::scene(slider_crank::Model::Chain, parameters);
    builder.build().map_err(|e| e.to_string())
}

/// Runs a scene and returns the time per step [µs] and the mean number of Newton iterations.
fn measure(example: &Example, alpha: bool) -> Result<(f64, f64), String> {
    let scene = (example.scene)()?;
    let mut run = match alpha {
        true => Simulation::new(scene, GeneralizedAlpha::new(example.dt)),
        false => Simulation::new(scene, MoreauJean::new(example.dt)),
    }
    .map_err(|e| e.to_string())?;
    let mut newton = 0;
    let begin = Instant::now();
    for _ in 0..example.steps {
        newton += run.step().map_err(|e| e.to_string())?.newton;
    }
    let steps = example.steps as f64;
    Ok((1e6 * begin.elapsed().as_secs_f64() / steps, newton as f64 / steps))
}

/// Measures all examples with both schemes.
pub fn schemes(repetitions: u32) -> Result<Vec<SchemeTime>, String> {
    let mut times = Vec::new();
    for example in &EXAMPLES {
        for (scheme, alpha) in [("generalized-alpha", true), ("moreau-jean", false)] {
            let mut best = (f64::INFINITY, 0.0);
            for _ in 0..repetitions {
                let found = measure(example, alpha)?;
                best = if found.0 < best.0 { found } else { best };
            }
            times.push(SchemeTime {
                scene: example.name,
                scheme,
                dt: example.dt,
                steps: example.steps,
                time: best.0,
                newton: best.1,
            });
        }
    }
    Ok(times)
}

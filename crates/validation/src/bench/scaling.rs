//! Scaling with the number of grains and with the number of threads: `riprap bench scaling`.

use super::{Bench, BenchError, BenchResult, SceneName, Settings, Settling, machine::Machine};
use serde::Serialize;

/// Options of the measurement.
#[derive(Clone, Debug)]
pub struct ScalingOptions {
    /// The scene.
    pub scene: SceneName,
    /// Numbers of grains, each on one thread.
    pub sizes: Vec<usize>,
    /// Numbers of threads.
    pub threads: Vec<usize>,
    /// Number of grains for the comparison of numbers of threads.
    pub threads_at: usize,
    /// Settling before each measurement.
    pub settling: Settling,
    /// Number of steps of each measurement.
    pub steps: u64,
    /// Settings of the runs.
    pub settings: Settings,
}

impl Default for ScalingOptions {
    /// Takes about ten minutes on two cores.
    fn default() -> Self {
        ScalingOptions {
            scene: SceneName::Pile,
            sizes: vec![1000, 3000, 10_000, 30_000, 100_000],
            threads: vec![1, 2],
            threads_at: 10_000,
            settling: SceneName::Pile.settling(),
            steps: 10,
            settings: Settings::default(),
        }
    }
}

/// Results of the measurement.
#[derive(Clone, Debug, Serialize)]
pub struct Scaling {
    /// The machine.
    pub machine: Machine,
    /// A result for each number of grains, on one thread.
    pub growth: Vec<BenchResult>,
    /// Exponent with which the time per step scales with the number of grains [–]; `None` for a single size.
    pub exponent: Option<f64>,
    /// The same for detection alone.
    pub exponent_detect: Option<f64>,
    /// The same for the solver alone.
    pub exponent_solve: Option<f64>,
    /// The same for the solver per sweep: the number of sweeps depends on the worst contact.
    pub exponent_sweep: Option<f64>,
    /// A result for each number of threads.
    pub threads: Vec<BenchResult>,
}

/// Runs all measurements in sequence; each result is passed to `progress` when it is available.
pub fn scaling(
    options: &ScalingOptions,
    progress: &mut dyn FnMut(&BenchResult),
) -> Result<Scaling, BenchError> {
    let pool = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.map_err(|e| BenchError::Threads(threads, e.to_string()))
    };
    // Scenes settle on all cores: results are bitwise identical on any number of threads.
    let all = pool(0)?;
    let mut one = |grains: usize, threads: usize| -> Result<BenchResult, BenchError> {
        let mut bench = all.install(|| {
            let Settling { time, .. } = options.settling;
            let mut bench = Bench::named(options.scene, grains, time, options.settings)?;
            bench.settle(options.settling)?;
            Ok::<Bench, BenchError>(bench)
        })?;
        let result = pool(threads)?.install(|| bench.measure(options.steps))?;
        progress(&result);
        Ok(result)
    };
    let mut growth = Vec::new();
    for &grains in &options.sizes {
        growth.push(one(grains, 1)?);
    }
    let mut threads = Vec::new();
    for &n in &options.threads {
        // The first may already have been measured above.
        match growth.iter().find(|r| r.grains == options.threads_at && n == 1) {
            Some(known) => threads.push(known.clone()),
            None => threads.push(one(options.threads_at, n)?),
        }
    }
    let of = |time: fn(&BenchResult) -> f64| {
        let points: Vec<_> = growth.iter().map(|r| (r.grains as f64, time(r))).collect();
        exponent(&points)
    };
    Ok(Scaling {
        machine: Machine::here(),
        exponent: of(|r| r.ms_per_step),
        exponent_detect: of(|r| r.ms_per_stage.detect),
        exponent_solve: of(|r| r.ms_per_stage.solve),
        exponent_sweep: of(|r| r.ms_per_stage.solve / r.sweeps_mean.max(1.0)),
        growth,
        threads,
    })
}

/// The exponent `p` in `y = c xᵖ` by a least-squares fit of the logarithms; `None` for fewer than two different `x`.
pub fn exponent(points: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let n = logs.len() as f64;
    let mean = |f: fn(&(f64, f64)) -> f64| logs.iter().map(f).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let spread: f64 = logs.iter().map(|p| (p.0 - x) * (p.0 - x)).sum();
    let slope = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>() / spread;
    (spread > 0.0 && slope.is_finite()).then_some(slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_of_a_power_law_is_found() {
        let points = [1e3, 3e3, 1e4, 1e5].map(|x: f64| (x, 0.3 * x.powf(1.25)));
        assert!((exponent(&points).unwrap() - 1.25).abs() < 1e-12);
        assert_eq!(exponent(&points[..1]), None);
        assert_eq!(exponent(&[]), None);
    }
}

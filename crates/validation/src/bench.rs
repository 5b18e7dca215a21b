//! Whole-scene benchmarks, and mechanisms: `riprap bench`.

mod mechanism;

pub use mechanism::{MechanismBench, MechanismResult, TreeTimes, mechanism};

use crate::scenes;
use riprap::friction::{ConjugateGradient, GaussSeidel};
use riprap::prelude::*;
use riprap::simulation::RunReport;
use serde::Serialize;

/// What to measure.
#[derive(Clone, Copy, Debug)]
pub struct PileOptions {
    /// Number of stones.
    pub grains: usize,
    /// Time for which the stones fall and settle before the measurement [s].
    pub settle: f64,
    /// Steps that are measured.
    pub steps: u64,
    /// Time step [s].
    pub dt: f64,
    /// Tolerance of the solver [–].
    pub tolerance: f64,
    /// Plain Gauss–Seidel instead of its accelerated form.
    pub plain: bool,
}

impl Default for PileOptions {
    fn default() -> Self {
        PileOptions {
            grains: 1000,
            settle: 0.5,
            steps: 100,
            dt: 5e-4,
            tolerance: 1e-4,
            plain: false,
        }
    }
}

/// Result of [`pile`]. Times are wall times.
#[derive(Clone, Debug, Serialize)]
pub struct PileResult {
    /// Number of stones.
    pub grains: usize,
    /// Steps measured.
    pub steps: u64,
    /// Steps per second [1/s].
    pub steps_per_s: f64,
    /// Milliseconds per step [ms].
    pub ms_per_step: f64,
    /// Mean number of contact points.
    pub contacts: f64,
    /// Mean number of pairs of shapes tested.
    pub pairs: f64,
    /// Mean number of sweeps.
    pub sweeps_mean: f64,
    /// Time of the solver per contact point and sweep [ns].
    pub ns_per_contact_sweep: f64,
    /// Time of detection per pair tested [µs].
    pub us_per_pair: f64,
    /// Time of detection per pair whose bounding balls are within the alert distance [µs].
    pub us_per_near_pair: f64,
    /// Largest residual of a step [–].
    pub residual: f64,
    /// Deepest overlap over the mean size of the stones [–].
    pub penetration_max_rel: f64,
    /// Steps that stopped short of the tolerance.
    pub unconverged: u64,
    /// Root mean square velocity at the end [m/s].
    pub v_rms: f64,
    /// Threads.
    pub threads: usize,
    /// Bytes of the workspace (buffers and caches) per stone.
    pub bytes_per_grain: f64,
    /// Shares of the time: free motion, detection, assembly, solver, update [–].
    pub shares: [f64; 5],
}

/// Stones that have fallen into a box, as deep as wide.
pub fn pile(options: PileOptions) -> PileResult {
    let PileOptions { grains, settle, steps, dt, tolerance, plain } = options;
    // 55 % of the box is stone, and a stone of this class has 4.2e-5 m³ on average.
    let width = (grains as f64 * 4.2e-5 / 0.55).cbrt().max(0.16);
    let scene =
        scenes::stones_in_box(grains, width, 1).build().expect("a canonical scene is valid");
    let scheme = MoreauJean::new(dt);
    let scheme = if plain {
        scheme.solver(GaussSeidel::tolerance(tolerance))
    } else {
        scheme.solver(ConjugateGradient::tolerance(tolerance))
    };
    let mut run = Simulation::new(scene, scheme).expect("a canonical scheme is valid");
    run.until(settle, &mut ()).expect("stones cannot fail");
    measure(&mut run, grains, steps)
}

/// Measures steps of a run.
fn measure(run: &mut Simulation, grains: usize, steps: u64) -> PileResult {
    let before = run.report();
    let begin = std::time::Instant::now();
    let (mut residual, mut penetration, mut near) = (0.0f64, 0.0f64, 0);
    for _ in 0..steps {
        let step = run.step().expect("stones cannot fail");
        residual = residual.max(step.solve.residual);
        penetration = penetration.max(step.penetration);
    }
    let wall = begin.elapsed().as_secs_f64();
    let frame = run.frame();
    near += frame.work.contacts().detector().n_near_pairs(run.scene().detection().alert);
    let after = run.report();
    let delta = |f: fn(&RunReport) -> u64| (f(&after) - f(&before)) as f64;
    let seconds = |f: fn(&RunReport) -> std::time::Duration| (f(&after) - f(&before)).as_secs_f64();
    let n = steps.max(1) as f64;
    let stages = [
        seconds(|r| r.times.free),
        seconds(|r| r.times.detect),
        seconds(|r| r.times.assemble),
        seconds(|r| r.times.solve),
        seconds(|r| r.times.update),
    ];
    let total: f64 = stages.iter().sum();
    let state = run.state();
    let bodies = run.scene().bodies();
    let square: f64 = (0..bodies.len())
        .filter(|&i| bodies.movable[i])
        .map(|i| state.v[i].linear.norm_squared())
        .sum();
    PileResult {
        grains,
        steps,
        steps_per_s: n / wall,
        ms_per_step: 1e3 * wall / n,
        contacts: delta(|r| r.contacts.0) / n,
        pairs: delta(|r| r.pairs) / n,
        sweeps_mean: delta(|r| r.sweeps.0) / n,
        ns_per_contact_sweep: 1e9 * stages[3] / delta(|r| r.contact_sweeps).max(1.0),
        us_per_pair: 1e6 * stages[1] / delta(|r| r.pairs).max(1.0),
        us_per_near_pair: 1e6 * stages[1] / (n * near.max(1) as f64),
        residual,
        penetration_max_rel: penetration / run.scene().grain_size(),
        unconverged: after.unconverged - before.unconverged,
        v_rms: (square / grains as f64).sqrt(),
        threads: rayon::current_num_threads(),
        bytes_per_grain: frame.work.bytes() as f64 / grains as f64,
        shares: stages.map(|s| s / total),
    }
}

//! Benchmarks of whole scenes and of mechanisms: `riprap bench`.
//!
//! A [`Bench`] is a scene that first settles, then runs a measured window of steps. Both phases are timed separately.

pub mod campaign;
mod cone;
mod dantzig;
mod error;
pub mod judge;
pub mod machine;
mod mechanism;
mod profile;
mod scaling;
mod schemes;
mod table;

pub use cone::{
    ConeBench, ConeResult, ConeSolver, Kind, LayerTime, SolverTime, cone, layer, random_problem,
};
pub use dantzig::{DantzigBench, DantzigResult, DantzigTime, Packing, dantzig};
pub use error::BenchError;
pub use mechanism::{MechanismBench, MechanismResult, TreeTimes, mechanism};
pub use profile::profile;
pub use scaling::{Scaling, ScalingOptions, exponent, scaling};
pub use schemes::{SchemeTime, schemes};
pub use table::{append_csv, csv_header, csv_name_only, csv_row};

use crate::scenes::bulk;
use riprap::friction::{Coloured, ConjugateGradient, GaussSeidel};
use riprap::prelude::*;
use riprap::scheme::StageTimes;
use riprap::simulation::RunReport;
use riprap_io::peer_scene::{Container, GrainState, PeerGrain, PeerScene, states};
use serde::Serialize;
use std::time::{Duration, Instant};

/// Scenes that can be measured with any number of grains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SceneName {
    /// [`bulk::pile`].
    Pile,
    /// [`bulk::pour`].
    Pour,
    /// [`bulk::drum`].
    Drum,
    /// [`bulk::vibrated_box`].
    VibratedBox,
    /// [`bulk::tool`].
    Tool,
    /// [`bulk::towers`].
    Tower,
}

impl SceneName {
    /// All of them.
    pub const ALL: [SceneName; 6] = [
        SceneName::Pile,
        SceneName::Pour,
        SceneName::Drum,
        SceneName::VibratedBox,
        SceneName::Tool,
        SceneName::Tower,
    ];

    /// Its name, as commands and files spell it.
    pub fn name(self) -> &'static str {
        match self {
            SceneName::Pile => "pile",
            SceneName::Pour => "pour",
            SceneName::Drum => "drum",
            SceneName::VibratedBox => "vibrated-box",
            SceneName::Tool => "tool",
            SceneName::Tower => "tower",
        }
    }

    /// Default number of steps to measure; a tool takes a while to go down.
    pub fn steps(self) -> u64 {
        match self {
            SceneName::Tool => 500,
            _ => 100,
        }
    }

    /// Default settling, which brings the scene to its nominal state: at rest, in full motion, or with the tool about to go down.
    pub fn settling(self) -> Settling {
        let (time, drag) = match self {
            SceneName::Pile => (0.3, AT_REST),
            SceneName::Tool => (0.1, 0.0),
            SceneName::Pour | SceneName::VibratedBox => (0.2, 0.0),
            SceneName::Drum => (0.5, 0.0),
            SceneName::Tower => (0.02, 0.0),
        };
        Settling { time, drag }
    }
}

/// Drag that brings a pile to rest [1/s]: a swinging stone loses most of its speed in a quarter of a second, a falling one is hardly slowed down.
const AT_REST: f64 = 20.0;

/// Unmeasured steps after a state is restored; the neighbour lists of the detector are filled after the first few.
const WARM_UP: usize = 10;

/// Settling of a scene before the measurement.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Settling {
    /// Time simulated before the window [s].
    pub time: f64,
    /// Drag during the second half of it [1/s].
    pub drag: f64,
}

/// Solvers that can be measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Solver {
    /// Accelerated Gauss–Seidel over colours, vectorized and multithreaded.
    #[default]
    Coloured,
    /// Gauss–Seidel accelerated by conjugate gradients, one contact at a time.
    ConjugateGradient,
    /// Plain Gauss–Seidel.
    GaussSeidel,
}

impl Solver {
    /// All of them.
    pub const ALL: [Solver; 3] = [Solver::Coloured, Solver::ConjugateGradient, Solver::GaussSeidel];

    /// Its name, as commands and files spell it.
    pub fn name(self) -> &'static str {
        match self {
            Solver::Coloured => "coloured",
            Solver::ConjugateGradient => "conjugate-gradient",
            Solver::GaussSeidel => "gauss-seidel",
        }
    }

    /// The time-stepping scheme with this solver.
    fn scheme(self, dt: f64, tolerance: f64) -> MoreauJean {
        let scheme = MoreauJean::new(dt);
        match self {
            Solver::Coloured => scheme.solver(Coloured::tolerance(tolerance)),
            Solver::ConjugateGradient => scheme.solver(ConjugateGradient::tolerance(tolerance)),
            Solver::GaussSeidel => scheme.solver(GaussSeidel::tolerance(tolerance)),
        }
    }
}

/// Settings of a run.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Time step [s].
    pub dt: f64,
    /// Tolerance of the solver [–].
    pub tolerance: f64,
    /// The solver.
    pub solver: Solver,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { dt: 5e-4, tolerance: 5e-4, solver: Solver::default() }
    }
}

/// Mean wall time of a step by stage [ms].
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Stages {
    /// Prediction, masses and free velocities.
    pub free: f64,
    /// Contact detection.
    pub detect: f64,
    /// Assembly of the contact problem and warm start.
    pub assemble: f64,
    /// Solution of the contact problem.
    pub solve: f64,
    /// Update of velocities, positions and the warm start.
    pub update: f64,
}

/// Results of a measured window. Times are wall times unless stated otherwise.
#[derive(Clone, Debug, Serialize)]
pub struct BenchResult {
    /// Name of the scene.
    pub scene: String,
    /// Number of grains.
    pub grains: usize,
    /// Number of threads.
    pub threads: usize,
    /// The solver.
    pub solver: &'static str,
    /// Its tolerance [–].
    pub tolerance: f64,
    /// Time step [s].
    pub dt: f64,
    /// Time simulated before the window [s].
    pub settle: f64,
    /// Drag during the second half of it [1/s].
    pub settle_drag: f64,
    /// Wall time of settling [s].
    pub settle_wall: f64,
    /// Number of steps measured.
    pub steps: u64,
    /// Wall time of the window [s].
    pub wall: f64,
    /// Steps per second [1/s].
    pub steps_per_s: f64,
    /// Wall time per step [ms].
    pub ms_per_step: f64,
    /// CPU time of all threads per step, if the system reports it [ms].
    pub cpu_ms_per_step: Option<f64>,
    /// Wall time of the slowest step [ms].
    pub ms_worst_step: f64,
    /// Mean wall time of a step by stage [ms].
    pub ms_per_stage: Stages,
    /// Mean number of contact points.
    pub contacts: f64,
    /// Mean number of pairs of shapes tested.
    pub pairs: f64,
    /// Number of pairs whose bounding spheres are within the alert distance at the end.
    pub near_pairs: usize,
    /// Mean number of sweeps.
    pub sweeps_mean: f64,
    /// Largest number of sweeps of a step.
    pub sweeps_max: usize,
    /// Time of the solver per contact point and sweep [ns].
    pub ns_per_contact_sweep: f64,
    /// Time of detection per pair tested [µs].
    pub us_per_pair: f64,
    /// Time of detection per near pair [µs].
    pub us_per_near_pair: f64,
    /// Largest residual of a step [–].
    pub residual: f64,
    /// Number of unconverged steps.
    pub unconverged: u64,
    /// Deepest overlap over the mean size of the grains [–].
    pub penetration_max_rel: f64,
    /// Root mean square velocity of the grains at the end [m/s].
    pub v_rms: f64,
    /// Largest velocity of a grain at the end [m/s].
    pub v_max: f64,
    /// Memory of the workspace (buffers and caches) per grain [bytes].
    pub bytes_per_grain: f64,
    /// Memory of the whole process per grain, including shapes and the scene, if the system reports it [bytes].
    pub resident_bytes_per_grain: Option<f64>,
}

/// A scene to be measured.
pub struct Bench {
    name: String,
    settings: Settings,
    run: Simulation,
    grains: Vec<Body>,
    settling: Settling,
    settle_wall: f64,
}

impl Bench {
    /// A scene in its initial state. Velocities and memory refer to the given grains.
    pub fn new(
        name: &str,
        scene: &SceneBuilder,
        grains: Vec<Body>,
        settings: Settings,
    ) -> Result<Bench, BenchError> {
        let scheme = settings.solver.scheme(settings.dt, settings.tolerance);
        let run = Simulation::new(scene.build()?, scheme)?;
        let (name, settling) = (name.to_owned(), Settling { time: 0.0, drag: 0.0 });
        Ok(Bench { name, settings, run, grains, settling, settle_wall: 0.0 })
    }

    /// A named scene with a number of grains; `settle` is the time at which a tool starts to move [s].
    pub fn named(
        scene: SceneName,
        grains: usize,
        settle: f64,
        settings: Settings,
    ) -> Result<Bench, BenchError> {
        let (builder, bodies) = match scene {
            SceneName::Pile => bulk::pile(grains),
            SceneName::Pour => bulk::pour(grains),
            SceneName::Drum => bulk::drum(grains),
            SceneName::VibratedBox => bulk::vibrated_box(grains),
            SceneName::Tool => bulk::tool(grains, settle),
            SceneName::Tower => bulk::towers(grains),
        };
        Bench::new(scene.name(), &builder, bodies, settings)
    }

    /// A pile shared with other engines; with `tool`, a [`bulk::Tine`] is pushed into its middle, starting at that time [s].
    pub fn of_peers(
        scene: &PeerScene,
        tool: Option<f64>,
        settings: Settings,
    ) -> Result<Bench, BenchError> {
        let (mut builder, grains) = scene.scene()?;
        let stem = scene.path.file_name().unwrap_or_default().to_string_lossy();
        let stem = stem.split('.').next().unwrap_or_default().to_owned();
        if let Some(start) = tool {
            let steel =
                Material::new("steel").friction(scene.friction).restitution(scene.restitution);
            let c = &scene.container;
            let at = [0.5 * (c.xmin + c.xmax), 0.5 * (c.ymin + c.ymax)];
            let above = scene.top() + 1e-3;
            bulk::Tine { at, above, floor: c.zmin, start }.add(&mut builder, &steel);
        }
        let name = format!("{} of {stem}", if tool.is_some() { "tool" } else { "pile" });
        Bench::new(&name, &builder, grains, settings)
    }

    /// Settles the scene; not part of the measurement.
    pub fn settle(&mut self, settling: Settling) -> Result<(), BenchError> {
        let Settling { time, drag } = settling;
        let begin = Instant::now();
        let end = self.run.time() + time;
        self.run.until(end - 0.5 * time, &mut ())?;
        self.run.drag(drag).until(end, &mut ())?;
        self.run.drag(0.0);
        self.settling = Settling { time: self.settling.time + time, drag };
        self.settle_wall += begin.elapsed().as_secs_f64();
        Ok(())
    }

    /// Positions and velocities of the grains.
    pub fn states(&self) -> Vec<GrainState> {
        states(self.run.scene(), self.run.state(), &self.grains)
    }

    /// The simulation.
    pub fn run(&self) -> &Simulation {
        &self.run
    }

    /// Restores a state of this scene.
    pub fn restore(&mut self, state: State) -> Result<(), BenchError> {
        Ok(self.run.set_state(state)?)
    }

    /// Measures the same steps several times, each time from the current state. Caches are rebuilt each time by ten unmeasured
    /// steps.
    pub fn repeat(&mut self, steps: u64, repeats: usize) -> Result<Vec<BenchResult>, BenchError> {
        let begin = self.run.state().clone();
        let mut results = Vec::new();
        for _ in 0..repeats {
            self.restore(begin.clone())?;
            for _ in 0..WARM_UP {
                self.run.step()?;
            }
            results.push(self.measure(steps)?);
        }
        Ok(results)
    }

    /// Measures steps.
    pub fn measure(&mut self, steps: u64) -> Result<BenchResult, BenchError> {
        let before = self.run.report();
        let (mut residual, mut penetration, mut worst, mut sweeps_max) =
            (0.0f64, 0.0f64, Duration::ZERO, 0);
        let (begin, cpu) = (Instant::now(), machine::cpu_seconds());
        for _ in 0..steps {
            let step = self.run.step()?;
            residual = residual.max(step.solve.residual);
            penetration = penetration.max(step.penetration);
            worst = worst.max(step.times.total());
            sweeps_max = sweeps_max.max(step.solve.sweeps);
        }
        let wall = begin.elapsed().as_secs_f64();
        let cpu = machine::cpu_seconds().zip(cpu).map(|(end, begin)| end - begin);

        let after = self.run.report();
        let n = steps.max(1) as f64;
        let delta = |f: fn(&RunReport) -> u64| (f(&after) - f(&before)) as f64;
        let stage = |f: fn(&StageTimes) -> Duration| {
            1e3 * (f(&after.times) - f(&before.times)).as_secs_f64() / n
        };
        let stages = Stages {
            free: stage(|t| t.free),
            detect: stage(|t| t.detect),
            assemble: stage(|t| t.assemble),
            solve: stage(|t| t.solve),
            update: stage(|t| t.update),
        };
        let (scene, frame) = (self.run.scene(), self.run.frame());
        let near_pairs = frame.work.contacts().detector().n_near_pairs(scene.detection().alert);
        let speeds = self.grains.iter().map(|body| self.run.velocity(*body).linear.norm());
        let square: f64 = speeds.clone().map(|v| v * v).sum();
        let grains = self.grains.len().max(1) as f64;
        Ok(BenchResult {
            scene: self.name.clone(),
            grains: self.grains.len(),
            threads: rayon::current_num_threads(),
            solver: self.settings.solver.name(),
            tolerance: self.settings.tolerance,
            dt: self.settings.dt,
            settle: self.settling.time,
            settle_drag: self.settling.drag,
            settle_wall: self.settle_wall,
            steps,
            wall,
            steps_per_s: n / wall,
            ms_per_step: 1e3 * wall / n,
            cpu_ms_per_step: cpu.map(|cpu| 1e3 * cpu / n),
            ms_worst_step: 1e3 * worst.as_secs_f64(),
            ms_per_stage: stages,
            contacts: delta(|r| r.contacts.0) / n,
            pairs: delta(|r| r.pairs) / n,
            near_pairs,
            sweeps_mean: delta(|r| r.sweeps.0) / n,
            sweeps_max,
            ns_per_contact_sweep: 1e6 * n * stages.solve / delta(|r| r.contact_sweeps).max(1.0),
            us_per_pair: 1e3 * n * stages.detect / delta(|r| r.pairs).max(1.0),
            us_per_near_pair: 1e3 * stages.detect / near_pairs.max(1) as f64,
            residual,
            unconverged: after.unconverged - before.unconverged,
            penetration_max_rel: penetration / scene.grain_size(),
            v_rms: (square / grains).sqrt(),
            v_max: speeds.fold(0.0, f64::max),
            bytes_per_grain: frame.work.bytes() as f64 / grains,
            resident_bytes_per_grain: machine::resident_bytes().map(|b| b as f64 / grains),
        })
    }
}

/// The stones of [`bulk::pour`] before they fall, as a scene for other engines.
pub fn peer_scene(grains: usize) -> Result<PeerScene, BenchError> {
    let width = bulk::box_width(grains);
    let (scene, stones) = bulk::pour(grains);
    let scene = scene.build()?;
    let state = scene.initial_state();
    let (density, half) = (2700.0, 0.5 * width);
    let grains: Vec<PeerGrain> = (stones.iter())
        .filter_map(|body| match scene.shape(*body) {
            Shape::Polyhedron(stone) => {
                Some(PeerGrain::at_rest(stone, density, &scene.shape_pose(&state, *body)))
            }
            _ => None,
        })
        .collect();
    Ok(PeerScene {
        path: std::path::PathBuf::new(),
        n: Some(grains.len()),
        density,
        friction: 0.7,
        restitution: 0.0,
        gravity: scene.gravity().into(),
        dt: Settings::default().dt,
        container: Container {
            xmin: -half,
            xmax: half,
            ymin: -half,
            ymax: half,
            zmin: 0.0,
            height: 2.0 * width,
        },
        grains,
    })
}

//! `riprap bench pile` and the other scenes: settles, measures a window of steps and prints the result.

use std::path::PathBuf;

use riprap_io::peer_scene::{PeerScene, write_states};
use validation::bench::{
    self, Bench, BenchResult, SceneName, Settings, Settling, Solver, append_csv,
};

use super::super::{parse_positive, parse_rate, parse_threads, parse_time, set_threads};
use crate::failure::Failure;
use crate::text::{number, print, table};

/// Arguments of the scenes.
#[derive(clap::Args)]
pub struct Named {
    /// Number of grains
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    grains: u32,
    #[command(flatten)]
    settling: Settle,
    #[command(flatten)]
    window: Window,
}

/// Settling before the measurement.
#[derive(clap::Args)]
pub struct Settle {
    /// Settling time before the measurement [s] [default: depends on the scene; 0.5 with a file]
    #[arg(long, value_name = "T", value_parser = parse_time)]
    settle: Option<f64>,
    /// Drag during the second half of the settling time [1/s] [default: 20 for `pile` without a file, otherwise 0]
    #[arg(long, value_name = "C", value_parser = parse_rate)]
    drag: Option<f64>,
}

impl Settle {
    /// The values given, or else the defaults.
    pub fn or(&self, default: Settling) -> Settling {
        Settling {
            time: self.settle.unwrap_or(default.time),
            drag: self.drag.unwrap_or(default.drag),
        }
    }
}

/// Arguments of `riprap bench pile` and `riprap bench tool`.
#[derive(clap::Args)]
pub struct Shared {
    #[command(flatten)]
    named: Named,
    /// Use a scene shared with other engines (JSON, optionally gzipped) instead of generated stones
    #[arg(long, value_name = "FILE", conflicts_with = "grains")]
    from: Option<PathBuf>,
    /// Randomly displace the grains of the file by up to a nanometre, with seed K. Several seeds, such as 1,2,3, give one run
    /// each and the median velocities: without rolling resistance, a few stones may hang on two points and swing by chance
    #[arg(
        long,
        value_name = "K",
        value_delimiter = ',',
        requires = "from",
        conflicts_with = "grains"
    )]
    chance: Vec<u64>,
}

/// Arguments of `riprap bench export`.
#[derive(clap::Args)]
pub struct Export {
    /// Number of stones
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    grains: u32,
    /// Output file; gzipped if its name ends in `.gz`
    file: PathBuf,
}

/// Options of the measurement, common to all scenes.
#[derive(clap::Args)]
struct Window {
    /// Number of steps to measure [default: 100; 500 for `tool`]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    steps: Option<u64>,
    /// Simulated time to measure [s], instead of a number of steps
    #[arg(long, value_name = "T", conflicts_with = "steps", value_parser = parse_time)]
    window: Option<f64>,
    /// Time step [s] [default: that of the file, otherwise 5e-4]
    #[arg(long, value_name = "H", value_parser = parse_time)]
    dt: Option<f64>,
    /// Solver tolerance
    #[arg(long, value_name = "E", default_value = "5e-4", value_parser = parse_positive)]
    tolerance: f64,
    /// Solver to use
    #[arg(long, value_name = "NAME", default_value = Solver::default().name(), value_parser = solver_names())]
    solver: String,
    /// Write the states of the grains at the start and end of the measurement
    #[arg(long, value_names = ["START", "END"], num_args = 2)]
    states: Option<Vec<PathBuf>>,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    threads: Option<usize>,
    /// Append the result as a row to a CSV file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Print the results as one JSON object
    #[arg(long)]
    json: bool,
}

/// Solver names for clap.
pub fn solver_names() -> clap::builder::PossibleValuesParser {
    Solver::ALL.map(Solver::name).into()
}

/// The solver with a name accepted by clap.
pub fn solver(name: &str) -> Solver {
    Solver::ALL.into_iter().find(|solver| solver.name() == name).unwrap_or_default()
}

impl Window {
    /// Settings of the run; `dt` is the time step of the file, if any.
    fn settings(&self, dt: Option<f64>) -> Result<Settings, Failure> {
        if self.dt == Some(0.0) {
            return Err(Failure::Input("--dt must be greater than 0".into()));
        }
        Ok(Settings {
            dt: self.dt.or(dt).unwrap_or(Settings::default().dt),
            tolerance: self.tolerance,
            solver: solver(&self.solver),
        })
    }

    /// Settles, measures, prints and returns the result.
    fn run(
        &self,
        bench: &mut Bench,
        settings: Settings,
        settling: Settling,
        steps: u64,
    ) -> Result<BenchResult, Failure> {
        let steps = match self.window {
            Some(time) => ((time / settings.dt).round() as u64).max(1),
            None => self.steps.unwrap_or(steps),
        };
        bench.settle(settling)?;
        if let Some(paths) = &self.states {
            write_states(&paths[0], &bench.states())?;
        }
        let result = bench.measure(steps)?;
        if let Some(paths) = &self.states {
            write_states(&paths[1], &bench.states())?;
        }
        if let Some(path) = &self.csv {
            append_csv(path, std::slice::from_ref(&result))?;
        }
        if self.json {
            let line = serde_json::to_string(&result).map_err(|e| Failure::Run(e.to_string()))?;
            print(&format!("{line}\n"));
        } else {
            print(&shown(&result));
        }
        Ok(result)
    }
}

/// Measures a scene with a given number of grains.
pub fn named(scene: SceneName, arguments: &Named) -> Result<(), Failure> {
    let window = &arguments.window;
    set_threads(window.threads)?;
    let settings = window.settings(None)?;
    let settling = arguments.settling.or(scene.settling());
    let mut bench = Bench::named(scene, arguments.grains as usize, settling.time, settings)?;
    window.run(&mut bench, settings, settling, scene.steps())?;
    Ok(())
}

/// Measures a generated scene or one read from a file.
pub fn shared(scene: SceneName, arguments: &Shared) -> Result<(), Failure> {
    let Some(path) = &arguments.from else { return named(scene, &arguments.named) };
    let window = &arguments.named.window;
    set_threads(window.threads)?;
    let settling = arguments.named.settling.or(Settling { time: 0.5, drag: 0.0 });
    let tool = (scene == SceneName::Tool).then_some(settling.time);
    let one = |seed: Option<u64>| -> Result<BenchResult, Failure> {
        let mut file = PeerScene::read(path)?;
        seed.iter().for_each(|seed| file.nudge(*seed));
        let settings = window.settings(Some(file.dt))?;
        let mut bench = Bench::of_peers(&file, tool, settings)?;
        drop(file);
        window.run(&mut bench, settings, settling, scene.steps())
    };
    let seeds = &arguments.chance;
    if seeds.len() < 2 {
        return one(seeds.first().copied()).map(|_| ());
    }
    let results: Vec<BenchResult> =
        seeds.iter().map(|seed| one(Some(*seed))).collect::<Result<_, _>>()?;
    print(&medians(&results, window.json));
    Ok(())
}

/// Median velocities over randomly perturbed runs, as a table or a line of JSON.
fn medians(results: &[BenchResult], json: bool) -> String {
    let of = |quantity: fn(&BenchResult) -> f64| median(results.iter().map(quantity).collect());
    let (n, rms, max) = (results.len(), of(|r| r.v_rms), of(|r| r.v_max));
    if json {
        let object = serde_json::json!({ "runs": n, "v_rms_median": rms, "v_max_median": max });
        return format!("{object}\n");
    }
    let row = |name: &str, value: f64| vec![name.to_owned(), number(value), "m/s".to_owned()];
    let rows = [row("root mean square velocity", rms), row("max velocity", max)];
    format!("median of {n} runs\n{}", table(&rows, &[1]))
}

/// The median; the mean of the two middle values if their number is even.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    0.5 * (values[(n - 1) / 2] + values[n / 2])
}

/// Writes a scene for other engines.
pub fn export(arguments: &Export) -> Result<(), Failure> {
    bench::peer_scene(arguments.grains as usize)?.write(&arguments.file)?;
    Ok(())
}

fn shown(result: &BenchResult) -> String {
    let row = |name: &str, value: f64, unit: &str| vec![name.into(), number(value), unit.into()];
    let stages = &result.ms_per_stage;
    let mut rows = vec![
        row("grains", result.grains as f64, ""),
        row("threads", result.threads as f64, ""),
        row("settling time", result.settle, "s"),
        row("drag in its second half", result.settle_drag, "1/s"),
        row("wall time of settling", result.settle_wall, "s"),
        row("steps measured", result.steps as f64, ""),
        row("steps per second", result.steps_per_s, "1/s"),
        row("time per step", result.ms_per_step, "ms"),
        row("slowest step", result.ms_worst_step, "ms"),
    ];
    rows.extend(result.cpu_ms_per_step.map(|t| row("CPU time per step", t, "ms")));
    rows.extend([
        row("free motion per step", stages.free, "ms"),
        row("detection per step", stages.detect, "ms"),
        row("assembly per step", stages.assemble, "ms"),
        row("solver per step", stages.solve, "ms"),
        row("update per step", stages.update, "ms"),
        row("mean contact points", result.contacts, ""),
        row("pairs tested", result.pairs, ""),
        row("near pairs", result.near_pairs as f64, ""),
        row("mean sweeps", result.sweeps_mean, ""),
        row("max sweeps", result.sweeps_max as f64, ""),
        row("solver per contact and sweep", result.ns_per_contact_sweep, "ns"),
        row("detection per pair tested", result.us_per_pair, "µs"),
        row("detection per near pair", result.us_per_near_pair, "µs"),
        row("max residual", result.residual, ""),
        row("unconverged steps", result.unconverged as f64, ""),
        row("deepest overlap over size", result.penetration_max_rel, ""),
        row("root mean square velocity", result.v_rms, "m/s"),
        row("max velocity", result.v_max, "m/s"),
        row("memory per grain", result.bytes_per_grain, "bytes"),
    ]);
    let resident = result.resident_bytes_per_grain;
    rows.extend(resident.map(|b| row("process memory per grain", b, "bytes")));
    table(&rows, &[1])
}

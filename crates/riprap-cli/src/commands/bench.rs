//! `riprap bench`: how fast a canonical scene runs.

use validation::bench::{PileOptions, PileResult, pile};

use super::{parse_positive, parse_threads, parse_time, set_threads};
use crate::failure::Failure;
use crate::text::{number, print, table};

/// What is measured.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Ballast stones that have fallen into a box
    Pile(Pile),
}

/// Arguments of `riprap bench pile`.
#[derive(clap::Args)]
pub struct Pile {
    /// Number of stones
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    grains: u32,
    /// Time for which the stones fall before the measurement [s]
    #[arg(long, value_name = "T", default_value = "0.5", value_parser = parse_time)]
    settle: f64,
    /// Steps that are measured
    #[arg(long, value_name = "K", default_value_t = 100, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// Tolerance of the solver
    #[arg(long, value_name = "E", default_value = "1e-4", value_parser = parse_positive)]
    tolerance: f64,
    /// Time step [s]
    #[arg(long, value_name = "H", default_value = "5e-4", value_parser = parse_time)]
    dt: f64,
    /// Number of threads [default: all cores]
    #[arg(long, value_name = "N", value_parser = parse_threads)]
    threads: Option<usize>,
    /// Plain Gauss–Seidel instead of its accelerated form
    #[arg(long)]
    plain: bool,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

/// Measures and prints.
pub fn bench(command: &Command) -> Result<(), Failure> {
    let Command::Pile(arguments) = command;
    if arguments.dt == 0.0 {
        return Err(Failure::Input("--dt must be greater than 0".into()));
    }
    set_threads(arguments.threads)?;
    let result = pile(PileOptions {
        grains: arguments.grains as usize,
        settle: arguments.settle,
        steps: arguments.steps,
        dt: arguments.dt,
        tolerance: arguments.tolerance,
        plain: arguments.plain,
    });
    match arguments.json {
        true => {
            let line = serde_json::to_string(&result).map_err(|e| Failure::Run(e.to_string()))?;
            print(&format!("{line}\n"));
        }
        false => print(&shown(&result)),
    }
    Ok(())
}

fn shown(result: &PileResult) -> String {
    let row = |name: &str, value: f64, unit: &str| vec![name.into(), number(value), unit.into()];
    let mut rows = vec![
        row("stones", result.grains as f64, ""),
        row("threads", result.threads as f64, ""),
        row("steps per second", result.steps_per_s, "1/s"),
        row("time per step", result.ms_per_step, "ms"),
        row("contact points", result.contacts, ""),
        row("pairs tested", result.pairs, ""),
        row("sweeps", result.sweeps_mean, ""),
        row("solver per contact and sweep", result.ns_per_contact_sweep, "ns"),
        row("detection per pair tested", result.us_per_pair, "µs"),
        row("detection per near pair", result.us_per_near_pair, "µs"),
        row("worst residual", result.residual, ""),
        row("deepest overlap over size", result.penetration_max_rel, ""),
        row("unconverged steps", result.unconverged as f64, ""),
        row("root mean square velocity", result.v_rms, "m/s"),
        row("memory per stone", result.bytes_per_grain, "bytes"),
    ];
    let stages = ["free motion", "detection", "assembly", "solver", "update"];
    for (stage, share) in stages.iter().zip(result.shares) {
        rows.push(row(&format!("share of {stage}"), 100.0 * share, "%"));
    }
    table(&rows, &[1])
}

//! `riprap bench scaling`: scaling with the number of grains and with the number of threads.

use std::path::PathBuf;

use validation::bench::{
    self, BenchResult, ScalingOptions, SceneName, Settings, Solver, append_csv,
};

use super::super::{parse_positive, parse_threads};
use super::scene::{Settle, solver, solver_names};
use crate::failure::Failure;
use crate::text::{counted, number, print, table};

/// Arguments of `riprap bench scaling`.
#[derive(clap::Args)]
pub struct Scaling {
    /// The scene
    #[arg(long, value_name = "NAME", default_value = "pile", value_parser = scene_names())]
    scene: String,
    /// Numbers of grains to measure, each on one thread
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = ScalingOptions::default().sizes.iter().map(|n| *n as u32).collect::<Vec<_>>(),
        value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    sizes: Vec<u32>,
    /// Numbers of threads to measure
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = ScalingOptions::default().threads, value_parser = parse_threads)]
    threads: Vec<usize>,
    /// Number of grains for the comparison of numbers of threads
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    threads_at: u32,
    #[command(flatten)]
    settling: Settle,
    /// Number of steps of each measurement
    #[arg(long, value_name = "K", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    steps: u64,
    /// Solver tolerance
    #[arg(long, value_name = "E", default_value = "1e-3", value_parser = parse_positive)]
    tolerance: f64,
    /// Solver to use
    #[arg(long, value_name = "NAME", default_value = Solver::default().name(), value_parser = solver_names())]
    solver: String,
    /// Append the results as rows to a CSV file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Print the results as one JSON object
    #[arg(long)]
    json: bool,
}

fn scene_names() -> clap::builder::PossibleValuesParser {
    SceneName::ALL.map(SceneName::name).into()
}

/// Runs the measurements and prints the results.
pub fn bench(arguments: &Scaling) -> Result<(), Failure> {
    let scene = SceneName::ALL.into_iter().find(|s| s.name() == arguments.scene);
    let options = ScalingOptions {
        scene: scene.unwrap_or(SceneName::Pile),
        sizes: arguments.sizes.iter().map(|n| *n as usize).collect(),
        threads: arguments.threads.clone(),
        threads_at: arguments.threads_at as usize,
        settling: arguments.settling.or(scene.unwrap_or(SceneName::Pile).settling()),
        steps: arguments.steps,
        settings: Settings {
            tolerance: arguments.tolerance,
            solver: solver(&arguments.solver),
            ..Settings::default()
        },
    };
    // Rows are written as soon as they are measured: the largest sizes take minutes.
    let mut kept = Ok(());
    let result = bench::scaling(&options, &mut |result| {
        eprintln!(
            "{}, {}: {} ms",
            counted(result.grains, "grain"),
            counted(result.threads, "thread"),
            number(result.ms_per_step)
        );
        if let (Some(path), Ok(())) = (&arguments.csv, &kept) {
            kept = append_csv(path, std::slice::from_ref(result));
        }
    })?;
    kept?;
    if arguments.json {
        let line = serde_json::to_string(&result).map_err(|e| Failure::Run(e.to_string()))?;
        print(&format!("{line}\n"));
        return Ok(());
    }
    print(&format!("{}, {}\n\n", result.machine.cpu, counted(result.machine.cores, "core")));
    print(&shown(&result.growth));
    for (name, exponent) in [
        ("time per step", result.exponent),
        ("detection", result.exponent_detect),
        ("solver", result.exponent_solve),
        ("time per sweep", result.exponent_sweep),
    ] {
        if let Some(exponent) = exponent {
            print(&format!(
                "  {name} scales with the number of grains to the power {exponent:.3}\n"
            ));
        }
    }
    print("\n");
    print(&shown(&result.threads));
    if let Some(first) = result.threads.first() {
        for r in &result.threads[1..] {
            let gain = first.ms_per_step / r.ms_per_step;
            print(&format!(
                "  {}: {gain:.2} times as fast as {}\n",
                counted(r.threads, "thread"),
                counted(first.threads, "thread")
            ));
        }
    }
    Ok(())
}

fn shown(results: &[BenchResult]) -> String {
    let head = [
        "grains",
        "threads",
        "ms/step",
        "detect",
        "solve",
        "contacts",
        "sweeps",
        "ns/contact/sweep",
        "µs/near pair",
        "residual",
        "bytes/grain",
    ];
    let mut rows = vec![head.map(String::from).to_vec()];
    for r in results {
        let number = |x: f64| number(format!("{x:.3e}").parse().unwrap_or(x));
        rows.push(vec![
            r.grains.to_string(),
            r.threads.to_string(),
            number(r.ms_per_step),
            number(r.ms_per_stage.detect),
            number(r.ms_per_stage.solve),
            number(r.contacts),
            number(r.sweeps_mean),
            number(r.ns_per_contact_sweep),
            number(r.us_per_near_pair),
            number(r.residual),
            number(r.bytes_per_grain),
        ]);
    }
    table(&rows, &(0..head.len()).collect::<Vec<_>>())
}

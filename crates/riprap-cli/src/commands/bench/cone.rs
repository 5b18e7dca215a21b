//! `riprap bench cone`: solvers of cone complementarity problems.

use std::path::PathBuf;

use validation::bench::{self, ConeBench, ConeResult, profile};
use validation::figure::Figure;

use crate::commands::parse_positive;
use crate::failure::Failure;
use crate::text::{number, print, table};

/// Arguments of `riprap bench cone`.
#[derive(clap::Args)]
pub struct Cone {
    /// Approximate numbers of contacts of the layers of spheres
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "100,1000,10000,100000")]
    contacts: Vec<usize>,
    /// Fixed number of iterations of APGD on the layers
    #[arg(long, value_name = "N", default_value_t = 100)]
    iterations: usize,
    /// Residual, relative to the impulses, to which APGD solves the layers
    #[arg(long, value_name = "RESIDUAL", default_value = "1e-4", value_parser = parse_positive)]
    tol: f64,
    /// Number of random problems for all solvers
    #[arg(long, value_name = "N", default_value_t = 200)]
    problems: usize,
    /// Number of repetitions; the fastest is reported
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// Write a performance profile of the solvers as SVG
    #[arg(long, value_name = "FILE.svg")]
    profile: Option<PathBuf>,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

/// Measures and prints.
pub fn bench(arguments: &Cone) -> Result<(), Failure> {
    let result = bench::cone(&ConeBench {
        contacts: arguments.contacts.clone(),
        iterations: arguments.iterations,
        tolerance: arguments.tol,
        problems: arguments.problems,
        repetitions: arguments.repetitions,
    });
    if let Some(path) = &arguments.profile {
        let solvers: Vec<(&str, Vec<f64>)> =
            result.solvers.iter().map(|s| (s.solver, s.times.clone())).collect();
        let figure = Figure {
            title: format!("{} random cone complementarity problems", result.problems),
            size: [560, 420],
            columns: 1,
            panels: vec![profile("residual 1e-8", &solvers)],
        };
        riprap_io::write_whole(path, figure.svg().as_bytes())?;
    }
    if arguments.json {
        let text = serde_json::to_string(&result).map_err(|e| Failure::Run(e.to_string()))?;
        print(&format!("{text}\n"));
    } else {
        print(&tables(arguments, &result));
    }
    Ok(())
}

fn tables(arguments: &Cone, result: &ConeResult) -> String {
    let fixed = format!("{} iterations [ms]", arguments.iterations);
    let to = format!("to {} [ms]", number(arguments.tol));
    let head = ["contacts", "unknowns", &fixed, &to, "iterations", ""].map(String::from);
    let mut rows = vec![head.to_vec()];
    for layer in &result.layers {
        rows.push(vec![
            layer.contacts.to_string(),
            layer.rows.to_string(),
            format!("{:.3}", 1e3 * layer.seconds_fixed),
            format!("{:.3}", 1e3 * layer.seconds),
            layer.iterations.to_string(),
            if layer.converged { "converged" } else { "NOT CONVERGED" }.into(),
        ]);
    }
    let mut text = table(&rows, &[0, 1, 2, 3, 4]);
    for (words, exponent) in ["iterations", "tolerance"].iter().zip(result.exponents) {
        if let Some(p) = exponent {
            text += &format!("apgd, fixed {words}: time ~ contacts^{p:.3}\n");
        }
    }
    let head = ["solver", "solved", "total [ms]", "median iterations"].map(String::from);
    let mut rows = vec![head.to_vec()];
    for solver in &result.solvers {
        rows.push(vec![
            solver.solver.into(),
            format!("{} of {}", solver.solved, result.problems),
            format!("{:.3}", 1e3 * solver.seconds),
            solver.iterations.to_string(),
        ]);
    }
    text + "\n" + &table(&rows, &[2, 3])
}

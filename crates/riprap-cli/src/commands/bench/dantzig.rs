//! `riprap bench dantzig`: growth of the cost of Dantzig's algorithm with the number of contacts.

use validation::bench::{self, DantzigBench, DantzigResult, Packing};

use crate::commands::parse_positive;
use crate::failure::Failure;
use crate::text::{number, print, table};

/// Arguments of `riprap bench dantzig`.
#[derive(clap::Args)]
pub struct Dantzig {
    /// Approximate numbers of contacts
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "10,30,100,300,1000")]
    contacts: Vec<usize>,
    /// Most contacts for the algorithm as published, contact by contact
    #[arg(long, value_name = "N", default_value_t = 150)]
    published: usize,
    /// Residual, relative to all data, to which Gauss–Seidel solves
    #[arg(long, value_name = "RESIDUAL", default_value = "1e-8", value_parser = parse_positive)]
    tol: f64,
    /// Number of repetitions; the fastest is reported
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// Print the results as JSON
    #[arg(long)]
    json: bool,
}

/// Measures and prints.
pub fn bench(arguments: &Dantzig) -> Result<(), Failure> {
    let result = bench::dantzig(&DantzigBench {
        contacts: arguments.contacts.clone(),
        published: arguments.published,
        tolerance: arguments.tol,
        repetitions: arguments.repetitions,
    });
    if arguments.json {
        let text = serde_json::to_string(&result).map_err(|e| Failure::Run(e.to_string()))?;
        print(&format!("{text}\n"));
    } else {
        print(&tables(arguments, &result));
    }
    Ok(())
}

fn tables(arguments: &Dantzig, result: &DantzigResult) -> String {
    let head = [
        "packing",
        "bodies",
        "contacts",
        "cold [ms]",
        "lists [ms]",
        "forces [ms]",
        "published [ms]",
        "residual",
        "Gauss–Seidel [ms]",
        "warm [ms]",
        "sweeps",
        "",
    ];
    let mut rows = vec![head.map(String::from).to_vec()];
    let ms = |seconds: f64| format!("{:.3}", 1e3 * seconds);
    for time in &result.times {
        let status = match (time.solved, time.converged) {
            (true, true) => "solved",
            (true, false) => "solved; Gauss–Seidel NOT CONVERGED",
            (false, _) => "NOT SOLVED",
        };
        rows.push(vec![
            time.packing.name().into(),
            time.bodies.to_string(),
            time.contacts.to_string(),
            ms(time.cold),
            ms(time.lists),
            ms(time.forces),
            time.published.map_or(String::new(), |(seconds, _)| ms(seconds)),
            format!("{:.1e}", time.residual),
            ms(time.gauss_seidel[0]),
            ms(time.gauss_seidel[1]),
            time.sweeps[0].to_string(),
            status.into(),
        ]);
    }
    let mut text = table(&rows, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    let names =
        ["cold", "lists", "forces", "published", "Gauss–Seidel", "Gauss–Seidel from impulses"];
    for (packing, exponents) in Packing::ALL.iter().zip(&result.exponents) {
        for (name, exponent) in names.iter().zip(exponents) {
            if let Some(p) = exponent {
                text += &format!("{}, {name}: time ~ contacts^{p:.2}\n", packing.name());
            }
        }
    }
    text + &format!("Gauss–Seidel to a residual of {}\n", number(arguments.tol))
}

//! `riprap bench schemes`: time per step of the schemes on small systems.

use validation::bench::schemes;

use crate::failure::Failure;
use crate::text::{number, print, table};

/// Arguments of `riprap bench schemes`.
#[derive(clap::Args)]
pub struct Schemes {
    /// Number of repetitions; the fastest is reported
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// Print the results as one JSON array
    #[arg(long)]
    json: bool,
}

/// Measures and prints.
pub fn bench(arguments: &Schemes) -> Result<(), Failure> {
    let times = schemes(arguments.repetitions).map_err(Failure::Run)?;
    if arguments.json {
        let text = serde_json::to_string(&times).map_err(|e| Failure::Run(e.to_string()))?;
        print(&format!("{text}\n"));
        return Ok(());
    }
    let head = ["", "scheme", "dt [s]", "per step [µs]", "Newton iterations"].map(String::from);
    let mut rows = vec![head.to_vec()];
    for t in &times {
        let newton = if t.newton > 0.0 { format!("{:.2}", t.newton) } else { "–".into() };
        let cells = [t.scene.into(), t.scheme.into(), number(t.dt), number(t.time), newton];
        rows.push(cells.to_vec());
    }
    print(&table(&rows, &[2, 3, 4]));
    Ok(())
}

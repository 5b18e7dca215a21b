//! Results as rows of a CSV file. Every row names the machine, so one file can hold results of several machines.

use super::{BenchResult, machine::Machine};
use riprap_io::{Error, Place};
use std::io::Write;
use std::path::Path;

/// Names and units of the columns, and the functions that format their cells.
#[allow(clippy::type_complexity)] // a table of closures, read once
const COLUMNS: [(&str, fn(&Machine, &BenchResult) -> String); 33] = [
    ("cpu", |m, _| m.cpu.clone()),
    ("cores", |m, _| m.cores.to_string()),
    ("version", |_, _| env!("CARGO_PKG_VERSION").to_owned()),
    ("scene", |_, r| r.scene.replace(',', " ")),
    ("grains", |_, r| r.grains.to_string()),
    ("threads", |_, r| r.threads.to_string()),
    ("solver", |_, r| r.solver.to_owned()),
    ("tolerance", |_, r| short(r.tolerance)),
    ("dt [s]", |_, r| short(r.dt)),
    ("settle [s]", |_, r| short(r.settle)),
    ("drag [1/s]", |_, r| short(r.settle_drag)),
    ("steps", |_, r| r.steps.to_string()),
    ("steps_per_s [1/s]", |_, r| short(r.steps_per_s)),
    ("step [ms]", |_, r| short(r.ms_per_step)),
    ("cpu_step [ms]", |_, r| r.cpu_ms_per_step.map(short).unwrap_or_default()),
    ("free [ms]", |_, r| short(r.ms_per_stage.free)),
    ("detect [ms]", |_, r| short(r.ms_per_stage.detect)),
    ("assemble [ms]", |_, r| short(r.ms_per_stage.assemble)),
    ("solve [ms]", |_, r| short(r.ms_per_stage.solve)),
    ("update [ms]", |_, r| short(r.ms_per_stage.update)),
    ("contacts", |_, r| short(r.contacts)),
    ("pairs", |_, r| short(r.pairs)),
    ("near_pairs", |_, r| r.near_pairs.to_string()),
    ("sweeps", |_, r| short(r.sweeps_mean)),
    ("contact_sweep [ns]", |_, r| short(r.ns_per_contact_sweep)),
    ("pair [µs]", |_, r| short(r.us_per_pair)),
    ("near_pair [µs]", |_, r| short(r.us_per_near_pair)),
    ("residual", |_, r| short(r.residual)),
    ("unconverged", |_, r| r.unconverged.to_string()),
    ("penetration_max", |_, r| short(r.penetration_max_rel)),
    ("v_rms [m/s]", |_, r| short(r.v_rms)),
    ("v_max [m/s]", |_, r| short(r.v_max)),
    ("memory [bytes/grain]", |_, r| short(r.bytes_per_grain)),
];

fn short(value: f64) -> String {
    format!("{value:.4e}").parse::<f64>().map_or_else(|_| value.to_string(), |v| v.to_string())
}

/// Names and units of the columns.
pub fn csv_header() -> String {
    COLUMNS.map(|(name, _)| name).join(",")
}

/// A row for a measurement without a scene, such as a mechanism: the machine, the version and its name.
pub fn csv_name_only(machine: &Machine, name: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let rest = ",".repeat(COLUMNS.len() - 4);
    format!("{},{},{version},{name}{rest}", machine.cpu, machine.cores)
}

/// Formats a result as a row.
pub fn csv_row(machine: &Machine, result: &BenchResult) -> String {
    COLUMNS.map(|(_, cell)| cell(machine, result)).join(",")
}

/// Appends results to a CSV file; a new file starts with the names of the columns.
pub fn append_csv(path: &Path, results: &[BenchResult]) -> Result<(), Error> {
    let failed = |action| move |source| Error::Io { action, path: path.to_owned(), source };
    let header = csv_header();
    let old = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(failed("read")(error)),
    };
    let mut text = String::new();
    match old.lines().next() {
        None => text = header + "\n",
        Some(line) if line == header => {}
        Some(_) => {
            let message = "the columns are not those of `riprap bench`; choose another file".into();
            return Err(Error::Format { path: path.to_owned(), place: Place::Line(1), message });
        }
    }
    let machine = Machine::here();
    for result in results {
        text += &csv_row(&machine, result);
        text.push('\n');
    }
    let file = std::fs::OpenOptions::new().append(true).create(true).open(path);
    let mut file = file.map_err(failed("write"))?;
    file.write_all(text.as_bytes()).map_err(failed("write"))
}

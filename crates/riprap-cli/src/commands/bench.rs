//! `riprap bench`: how fast a canonical scene or mechanism runs.

use std::path::PathBuf;
use validation::bench::{MechanismResult, PileOptions, PileResult, mechanism, pile};

use super::{parse_positive, parse_threads, parse_time, set_threads};
use crate::failure::Failure;
use crate::text::{number, print, table};

/// What is measured.
#[derive(clap::Subcommand)]
pub enum Command {
    /// Ballast stones that have fallen into a box
    Pile(Pile),
    /// Two trees of joints and a mechanism with loops
    Mechanism(Mechanism),
}

/// Arguments of `riprap bench mechanism`.
#[derive(clap::Args)]
pub struct Mechanism {
    /// What `benches/pinocchio/run.sh` printed, to compare with
    #[arg(long, value_name = "FILE")]
    pinocchio: Option<PathBuf>,
    /// Repetitions of which the fastest counts
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// One JSON object
    #[arg(long)]
    json: bool,
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
    match command {
        Command::Pile(arguments) => bench_pile(arguments),
        Command::Mechanism(arguments) => bench_mechanism(arguments),
    }
}

fn bench_pile(arguments: &Pile) -> Result<(), Failure> {
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

/// A time of riprap beside Pinocchio's.
struct Compared {
    tree: String,
    what: &'static str,
    key: &'static str,
    time: f64,
    pinocchio: Option<f64>,
}

fn bench_mechanism(arguments: &Mechanism) -> Result<(), Failure> {
    let reference = match &arguments.pinocchio {
        None => Vec::new(),
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .map_err(|e| Failure::Input(format!("{}: {e}", path.display())))?;
            let times = pinocchio_times(&text);
            if times.is_empty() {
                let problem =
                    "no times of Pinocchio; expected what benches/pinocchio/run.sh prints";
                return Err(Failure::Input(format!("{}: {problem}", path.display())));
            }
            times
        }
    };
    let result = mechanism(arguments.repetitions);
    let compared = compare(&result, &reference);
    if arguments.json {
        let mut object = serde_json::to_value(&result).map_err(|e| Failure::Run(e.to_string()))?;
        let ratios: serde_json::Map<String, serde_json::Value> = compared
            .iter()
            .filter_map(|c| Some((format!("{}_{}", c.tree, c.key), (c.pinocchio? / c.time).into())))
            .collect();
        object["pinocchio_over_riprap"] = ratios.into();
        print(&format!("{object}\n"));
        return Ok(());
    }
    let mut rows = vec![["", "µs", "Pinocchio", "ratio"].map(String::from).to_vec()];
    for c in &compared {
        let mut row = vec![format!("{}, {}", c.tree, c.what), number(c.time)];
        row.extend(c.pinocchio.map(|p| [number(p), number(p / c.time)]).into_iter().flatten());
        rows.push(row);
    }
    let loops = "tamping unit, loops closed and accelerations";
    rows.push(vec![loops.into(), number(result.tamping_unit)]);
    print(&table(&rows, &[1, 2, 3]));
    Ok(())
}

fn compare(result: &MechanismResult, reference: &[(String, String, f64)]) -> Vec<Compared> {
    let mut compared = Vec::new();
    for tree in &result.trees {
        for (what, key, name, time) in [
            ("mass matrix and bias", "mass_and_bias", "crba+nle", tree.mass_and_bias),
            ("bias", "bias", "nle", tree.bias),
            ("forward dynamics", "forward_dynamics", "aba", tree.forward_dynamics),
        ] {
            let theirs = reference.iter().find(|(t, n, _)| *t == tree.name && n == name);
            let pinocchio = theirs.map(|(.., time)| *time);
            compared.push(Compared { tree: tree.name.clone(), what, key, time, pinocchio });
        }
    }
    compared
}

/// Tree, algorithm and time [µs] of the lines that `benches/pinocchio` prints.
fn pinocchio_times(text: &str) -> Vec<(String, String, f64)> {
    let mut tree = String::new();
    let mut times = Vec::new();
    for line in text.lines() {
        match line.split_whitespace().collect::<Vec<_>>()[..] {
            ["tree", file] => tree = file.trim_end_matches(".txt").to_owned(),
            [name @ ("crba+nle" | "nle" | "aba"), time] => {
                if let Ok(time) = time.parse() {
                    times.push((tree.clone(), name.to_owned(), time));
                }
            }
            _ => {}
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_pinocchio_are_found_among_its_lines() {
        let text = "pinocchio 4.1.0\n\ntree arm7.txt\nn_dof 7\ncrba 0.43\nnle 0.55\ncrba+nle 0.98\naba 1.14\n\ntree \
                    tree36.txt\naba 5.3\n";
        let times = pinocchio_times(text);
        let arm = |name: &str, time| ("arm7".to_owned(), name.to_owned(), time);
        assert_eq!(times[..3], [arm("nle", 0.55), arm("crba+nle", 0.98), arm("aba", 1.14)]);
        assert_eq!(times[3], ("tree36".to_owned(), "aba".to_owned(), 5.3));
    }
}

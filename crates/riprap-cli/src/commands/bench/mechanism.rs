//! `riprap bench mechanism`: joint trees, compared with Pinocchio, and a mechanism with loops.

use std::path::PathBuf;
use validation::bench::{MechanismResult, mechanism};

use crate::failure::Failure;
use crate::text::{number, print, table};

/// Arguments of `riprap bench mechanism`.
#[derive(clap::Args)]
pub struct Mechanism {
    /// Output of `benches/pinocchio/run.sh` to compare with
    #[arg(long, value_name = "FILE")]
    pinocchio: Option<PathBuf>,
    /// Number of repetitions; the fastest is reported
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(1..))]
    repetitions: u32,
    /// Print the results as one JSON object
    #[arg(long)]
    json: bool,
}

/// The time of riprap and that of Pinocchio.
struct Compared {
    tree: String,
    what: &'static str,
    key: &'static str,
    time: f64,
    pinocchio: Option<f64>,
}

/// Measures and prints.
pub fn bench(arguments: &Mechanism) -> Result<(), Failure> {
    let reference = match &arguments.pinocchio {
        None => Vec::new(),
        Some(path) => {
            let text = std::fs::read_to_string(path)
                .map_err(|e| Failure::Input(format!("{}: {e}", path.display())))?;
            let times = pinocchio_times(&text);
            if times.is_empty() {
                let problem =
                    "no timings of Pinocchio; expected the output of benches/pinocchio/run.sh";
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
    print(&shown(&result, &compared));
    Ok(())
}

/// Formats the times as a table. The columns of Pinocchio are omitted if its times are unknown.
fn shown(result: &MechanismResult, compared: &[Compared]) -> String {
    let reference = compared.iter().any(|c| c.pinocchio.is_some());
    let columns = if reference { 4 } else { 2 };
    let head = ["", "riprap [µs]", "Pinocchio [µs]", "ratio"].map(String::from);
    let mut rows = vec![head[..columns].to_vec()];
    for c in compared {
        let [theirs, ratio] =
            c.pinocchio.map_or(["–".into(), "–".into()], |p| [number(p), number(p / c.time)]);
        let row = [format!("{}, {}", c.tree, c.what), number(c.time), theirs, ratio];
        rows.push(row[..columns].to_vec());
    }
    let loops = "tamping unit, loop closure and accelerations";
    let row = [loops.into(), number(result.tamping_unit), "–".into(), "–".into()];
    rows.push(row[..columns].to_vec());
    table(&rows, &[1, 2, 3])
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

/// Parses tree, algorithm and time [µs] from the output of `benches/pinocchio`.
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
    fn no_column_is_empty_with_or_without_timings_of_pinocchio() {
        let result = MechanismResult { tamping_unit: 3.0, ..mechanism(1) };
        let cells = |line: &str| line.split("  ").filter(|cell| !cell.trim().is_empty()).count();
        for (reference, columns) in [(vec![], 2), (vec![("arm7".into(), "nle".into(), 0.5)], 4)] {
            let text = shown(&result, &compare(&result, &reference));
            let mut lines = text.lines();
            // The first column has no heading.
            assert_eq!(lines.next().map(cells), Some(columns - 1), "{text}");
            assert!(lines.all(|line| cells(line) == columns), "{text}");
        }
    }

    #[test]
    fn timings_are_parsed_from_the_output_of_pinocchio() {
        let text = "pinocchio 4.1.0\n\ntree arm7.txt\nn_dof 7\ncrba 0.43\nnle 0.55\ncrba+nle 0.98\naba 1.14\n\ntree \
                    tree36.txt\naba 5.3\n";
        let times = pinocchio_times(text);
        let arm = |name: &str, time| ("arm7".to_owned(), name.to_owned(), time);
        assert_eq!(times[..3], [arm("nle", 0.55), arm("crba+nle", 0.98), arm("aba", 1.14)]);
        assert_eq!(times[3], ("tree36".to_owned(), "aba".to_owned(), 5.3));
    }
}

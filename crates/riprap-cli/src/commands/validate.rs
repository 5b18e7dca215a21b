//! `riprap validate`: measured values against their references.

use riprap_io::scene_file::closest;
use validation::check::Comparison;
use validation::{CASES, Case, Check, Effort, cases};

use crate::failure::Failure;
use crate::progress::duration;
use crate::text::{number, print, table};

/// Arguments of `riprap validate`.
#[derive(clap::Args)]
pub struct Arguments {
    /// The cases to run; all without
    cases: Vec<String>,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
    /// Only list the cases
    #[arg(long)]
    list: bool,
}

/// Runs the cases and prints what they measured.
pub fn validate(arguments: &Arguments) -> Result<(), Failure> {
    let chosen = chosen(&arguments.cases)?;
    if arguments.list {
        let rows: Vec<_> =
            chosen.iter().map(|case| vec![case.name.to_owned(), case.about.to_owned()]).collect();
        print(&table(&rows, &[]));
        return Ok(());
    }
    let (mut passed, mut failed) = (0, 0);
    for case in chosen {
        let begin = std::time::Instant::now();
        let checks = (case.run)(Effort::Full).list;
        failed += checks.iter().filter(|check| !check.pass).count();
        passed += checks.iter().filter(|check| check.pass).count();
        if arguments.json {
            checks.iter().for_each(|check| print(&json_line(check)));
        } else {
            let wall = duration(begin.elapsed().as_secs_f64());
            print(&format!("{} ({wall}): {}\n{}\n", case.name, case.about, rows(&checks)));
        }
    }
    if !arguments.json {
        print(&format!("{passed} passed, {failed} failed\n"));
    }
    if failed == 0 { Ok(()) } else { Err(Failure::Validation) }
}

/// The cases with these names; all if none is named.
fn chosen(names: &[String]) -> Result<Vec<&'static Case>, Failure> {
    if names.is_empty() {
        return Ok(CASES.iter().collect());
    }
    let find = |name: &String| {
        cases::find(name).ok_or_else(|| {
            let known = || CASES.iter().map(|case| case.name);
            let help = match closest(name, known()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known: {}", known().collect::<Vec<_>>().join(", ")),
            };
            Failure::Input(format!("there is no case `{name}`; {help}"))
        })
    };
    names.iter().map(find).collect()
}

fn rows(checks: &[Check]) -> String {
    let heading = ["quantity", "measured", "", "reference", "tolerance", "unit", "verdict"];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for check in checks {
        let sign = match check.comparison {
            Comparison::Close => "=",
            Comparison::AtMost => "≤",
            Comparison::AtLeast => "≥",
        };
        rows.push(vec![
            check.quantity.clone(),
            number(check.value),
            sign.to_owned(),
            number(check.reference),
            number(check.tolerance),
            if check.unit == "1" { "–".to_owned() } else { check.unit.clone() },
            if check.pass { "pass" } else { "FAIL" }.to_owned(),
        ]);
    }
    table(&rows, &[1, 3, 4])
}

/// A check as a line of JSON; numbers that JSON does not know become `null`.
fn json_line(check: &Check) -> String {
    let mut line = serde_json::to_string(check).unwrap_or_else(|_| "null".into());
    line.push('\n');
    line
}

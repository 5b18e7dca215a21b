//! Summaries over sets of problems: totals, and performance profiles as picture, numbers and table.

use validation::bench;
use validation::figure::Figure;

use super::{Arguments, Outcome};
use crate::text::{counted, number, table};

/// Factors of the fastest time in the table of a profile.
const FACTORS: [f64; 6] = [1.0, 1.5, 2.0, 5.0, 10.0, 100.0];

/// Number of problems solved by each solver and the total time.
pub(super) fn sums(arguments: &Arguments, outcomes: &[Outcome]) -> String {
    let mut text = String::from("\n");
    for tolerance in &arguments.tol {
        for solver in names(arguments, outcomes) {
            let of: Vec<&Outcome> = of(outcomes, solver, *tolerance).collect();
            let solved = of.iter().filter(|o| o.converged()).count();
            let seconds: f64 = of.iter().map(|o| o.seconds).sum();
            text += &format!(
                "{}, tolerance {}: {solved} of {} converged, {} ms in total\n",
                solver,
                number(*tolerance),
                of.len(),
                number(1e3 * seconds),
            );
        }
    }
    text
}

/// The performance profiles of the solvers, one for each tolerance.
pub(super) fn profile(arguments: &Arguments, outcomes: &[Outcome]) -> Figure {
    let mut panels = Vec::new();
    for tolerance in &arguments.tol {
        let times = |solver: &str| -> Vec<f64> {
            let own = of(outcomes, solver, *tolerance);
            own.map(|o| if o.converged() { cost(arguments, o) } else { f64::INFINITY }).collect()
        };
        let solvers: Vec<(&str, Vec<f64>)> =
            names(arguments, outcomes).into_iter().map(|s| (s, times(s))).collect();
        panels.push(bench::profile(&format!("residual {}", number(*tolerance)), &solvers));
    }
    let columns = panels.len().min(2);
    let rows = panels.len().div_ceil(columns.max(1)) as u32;
    let problems =
        outcomes.iter().map(|o| &o.file).collect::<std::collections::BTreeSet<_>>().len();
    Figure {
        title: counted(problems, "contact problem"),
        size: [520 * columns.max(1) as u32, 60 + 360 * rows],
        columns,
        panels,
    }
}

/// The solvers in order: those of riprap, then others that were compared.
fn names<'a>(arguments: &Arguments, outcomes: &'a [Outcome]) -> Vec<&'a str> {
    let first = arguments.solver.iter().map(|s| s.word());
    let mut names: Vec<&str> = Vec::new();
    for name in first.chain(outcomes.iter().map(|o| o.solver.as_str())) {
        if let Some(o) = outcomes.iter().find(|o| o.solver == name)
            && !names.contains(&name)
        {
            names.push(&o.solver);
        }
    }
    names
}

fn of<'a>(
    outcomes: &'a [Outcome],
    solver: &'a str,
    tolerance: f64,
) -> impl Iterator<Item = &'a Outcome> {
    outcomes.iter().filter(move |o| o.solver == solver && o.tolerance == tolerance)
}

/// Wall time of a solve, or processor time where programs are compared, since others report only that [s].
fn cost(arguments: &Arguments, outcome: &Outcome) -> f64 {
    if arguments.compare.is_some() { outcome.cpu } else { outcome.seconds }
}

/// Time of each outcome relative to the fastest solver of the same problem and tolerance [–]; infinite if it is not solved.
fn ratio(arguments: &Arguments, outcome: &Outcome, outcomes: &[Outcome]) -> f64 {
    let same = outcomes
        .iter()
        .filter(|o| o.file == outcome.file && o.tolerance == outcome.tolerance && o.converged());
    let best = same.map(|o| cost(arguments, o)).fold(f64::INFINITY, f64::min);
    if outcome.converged() { cost(arguments, outcome) / best } else { f64::INFINITY }
}

/// The fraction of problems that each solver solves within some factors of the fastest time.
pub(super) fn shares(arguments: &Arguments, outcomes: &[Outcome]) -> String {
    let mut rows = vec![vec!["solver".to_string(), "tolerance".to_string()]];
    rows[0].extend(FACTORS.map(|factor| format!("≤ {factor}×")));
    for tolerance in &arguments.tol {
        for name in names(arguments, outcomes) {
            let ratios: Vec<f64> =
                of(outcomes, name, *tolerance).map(|o| ratio(arguments, o, outcomes)).collect();
            let mut row = vec![name.to_string(), number(*tolerance)];
            for factor in FACTORS {
                let within = ratios.iter().filter(|r| **r <= factor).count();
                row.push(format!("{:.2}", within as f64 / ratios.len().max(1) as f64));
            }
            rows.push(row);
        }
    }
    format!("\n{}", table(&rows, &[1, 2, 3, 4, 5, 6, 7]))
}

/// All times and their ratios as CSV.
pub(super) fn csv(arguments: &Arguments, outcomes: &[Outcome]) -> String {
    let mut text =
        String::from("problem,contacts,solver,tolerance,seconds,cpu_seconds,residual,ratio\n");
    for o in outcomes {
        let name = super::name(&o.file).replace(['"', ',', '\n'], " ");
        text += &format!(
            "{name},{},{},{:e},{:e},{:e},{:e},{:.4}\n",
            o.contacts,
            o.solver,
            o.tolerance,
            o.seconds,
            o.cpu,
            o.residual,
            ratio(arguments, o, outcomes)
        );
    }
    text
}

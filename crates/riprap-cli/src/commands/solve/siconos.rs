//! `riprap solve --compare siconos`: the same problems, tolerance and error measure with the solvers of Siconos, whose
//! Python package is called in a process of its own.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use clap::ValueEnum;
use riprap::friction::{Blocks, ContactProblem, Delassus};
use riprap_io::fclib;
use serde_json::Value;

use super::{Arguments, Outcome, judge};
use crate::failure::Failure;

const SCRIPT: &str = include_str!("siconos.py");
/// Processor time of a solve, unless there is a limit [s].
const SECONDS: f64 = 60.0;

/// Programs to compare with.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Program {
    /// Siconos; its Python package `siconos.numerics` must be importable by `python3`
    Siconos,
}

/// Siconos in the Python interpreter of the user.
pub(super) struct Siconos;

impl Siconos {
    pub(super) fn find(_: Program) -> Result<Siconos, Failure> {
        let mut python = Command::new("python3");
        python.args(["-c", "import numpy, scipy.sparse, siconos.numerics"]);
        let done = python.stdout(Stdio::null()).stderr(Stdio::null()).status();
        match done.is_ok_and(|status| status.success()) {
            true => Ok(Siconos),
            false => Err(Failure::Input(
                "python3 cannot import `siconos.numerics`, `numpy` and `scipy`; install them (Debian: python3-siconos, python3-scipy) or omit --compare".into(),
            )),
        }
    }

    /// The outcomes of all solvers for one problem.
    pub(super) fn solve(
        &self,
        arguments: &Arguments,
        file: &Path,
        problem: &ContactProblem,
        tolerance: f64,
    ) -> Result<Vec<Outcome>, Failure> {
        let failed =
            |what: &str| Failure::Run(format!("the comparison with Siconos failed: {what}"));
        let folder = std::env::temp_dir().join(format!("riprap-siconos-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|e| failed(&e.to_string()))?;
        // Its error is absolute in some solvers, so it gets dimensionless numbers.
        let (scaled, unit) = scale(problem);
        let path = folder.join("problem.dat");
        fclib::write_dat(&path, &scaled).map_err(|e| Failure::Input(e.to_string()))?;
        let mut python = Command::new("python3");
        let limit = arguments.time_limit.unwrap_or(SECONDS);
        python.args(["-", &tolerance.to_string(), &limit.to_string()]).arg(&path);
        python.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = python.spawn().map_err(|e| failed(&e.to_string()))?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(SCRIPT.as_bytes()).map_err(|e| failed(&e.to_string()))?;
        }
        let output = child.wait_with_output().map_err(|e| failed(&e.to_string()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let outcomes: Vec<Outcome> = lines
            .map(|line| {
                let impulses = line["impulses"].as_str().and_then(|path| read(path, unit));
                let residual = match &impulses {
                    Some(r) if r.len() == problem.len() => judge(arguments, problem, r),
                    _ => f64::INFINITY,
                };
                let seconds = line["seconds"].as_f64().unwrap_or(f64::INFINITY);
                Outcome {
                    file: file.to_owned(),
                    contacts: problem.len(),
                    solver: format!("siconos-{}", line["solver"].as_str().unwrap_or("?")),
                    tolerance,
                    measure: arguments.measure,
                    seconds,
                    cpu: seconds,
                    iterations: line["iterations"].as_u64().unwrap_or(0) as usize,
                    residual,
                    objective: None,
                }
            })
            .collect();
        let _ = std::fs::remove_dir_all(&folder);
        match outcomes.is_empty() {
            true => Err(failed("it returned no result")),
            false => Ok(outcomes),
        }
    }
}

/// `W / w̄` and `q / q̄`, and the unit of its impulses [N s].
fn scale(problem: &ContactProblem) -> (ContactProblem, f64) {
    let n = problem.len();
    let blocks = match &problem.w {
        Delassus::Blocks(w) => w.clone(),
        Delassus::Factored(w) => w.to_blocks(),
    };
    let trace: f64 = (0..n)
        .filter_map(|a| blocks.block(a, a))
        .map(|block| block[0][0] + block[1][1] + block[2][2])
        .sum();
    let square: f64 = problem.v_rel_free.as_flattened().iter().map(|x| x * x).sum();
    let positive = |x: f64| if x > 0.0 && x.is_finite() { x } else { 1.0 };
    let w = positive(trace / (3 * n.max(1)) as f64);
    let q = positive((square / (3 * n.max(1)) as f64).sqrt());
    let mut scaled = Blocks::default();
    for a in 0..n {
        blocks.row(a).for_each(|(b, block)| scaled.push(b, block.map(|row| row.map(|x| x / w))));
        scaled.end_row();
    }
    let free = problem.v_rel_free.iter().map(|v| v.map(|x| x / q)).collect();
    let laws = problem.laws.clone();
    let w_scaled = Delassus::Blocks(scaled);
    (ContactProblem { w: w_scaled, v_rel_free: free, laws, ..ContactProblem::default() }, q / w)
}

/// Impulses written by the script.
fn read(path: &str, unit: f64) -> Option<Vec<[f64; 3]>> {
    let bytes = std::fs::read(path).ok()?;
    let numbers: Vec<f64> = bytes
        .chunks_exact(8)
        .map(|word| unit * f64::from_le_bytes(std::array::from_fn(|i| word[i])))
        .collect();
    Some(numbers.chunks_exact(3).map(|r| [r[0], r[1], r[2]]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use riprap::friction::Law;

    #[test]
    fn a_scaled_problem_has_unit_mobility_and_its_impulses_are_scaled_back() {
        let mut w = Blocks::default();
        w.push(0, [[0.5, 0.0, 0.0], [0.0, 0.25, 0.0], [0.0, 0.0, 0.75]]);
        w.end_row();
        let problem = ContactProblem {
            w: Delassus::Blocks(w),
            v_rel_free: vec![[-1.0, 0.0, 0.0]],
            laws: vec![Law::Coulomb { friction: 0.5 }],
            ..ContactProblem::default()
        };
        let (scaled, unit) = scale(&problem);
        let Delassus::Blocks(w) = &scaled.w else { unreachable!() };
        assert_eq!(w.block(0, 0).unwrap()[0][0], 1.0);
        // The contact stops with 2 N s; in the scaled problem with −q.
        let stop = -scaled.v_rel_free[0][0] * unit;
        assert!((stop - 2.0).abs() < 1e-14, "{stop}");
    }
}

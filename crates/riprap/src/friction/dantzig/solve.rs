//! The whole solve: from the problem to islands, and from their solutions to forces and lists.

use super::attempt::{Attempt, Failure, Start};
use super::bodies::Bodies;
use super::dense::Dense;
use super::island::{self, Island, State};
use super::path::Path;
use super::{Class, Dantzig, DantzigReport, ForceProblem, Friction, Outcome};
use crate::friction::islands::islands;
use crate::friction::{Buffers, Scratch};

/// Buffers of a solve.
#[derive(Default)]
struct Work {
    island: Island,
    path: Path,
    dense: Dense,
    planar: Bodies<3>,
    spatial: Bodies<6>,
    vectors: Vec<[f64; 3]>,
    products: Vec<[f64; 3]>,
}

impl Buffers for Work {}

/// See [`Dantzig::solve`], and [`Dantzig::resume`] if `warm`.
pub(super) fn solve(
    options: &Dantzig,
    problem: &ForceProblem,
    (forces, classes): (&mut Vec<[f64; 3]>, &mut Vec<Class>),
    warm: bool,
    scratch: &mut Scratch,
) -> DantzigReport {
    let n = problem.b.len();
    debug_assert_eq!(n, problem.friction.len(), "each contact has its friction");
    let known = if warm { std::mem::take(forces) } else { Vec::new() };
    forces.clear();
    forces.resize(n, [0.0; 3]);
    classes.resize(n, Class::Breaking);
    let mut report = DantzigReport::default();
    let work = scratch.of::<Work>();
    let moves = |a: usize| problem.w.diagonal(a)[0][0] > 0.0;
    for contacts in islands(problem.w, problem.b.len(), moves) {
        let lists = (&known[..], &mut forces[..], &mut classes[..]);
        let outcome = solve_island(options, problem, &contacts, lists, work, &mut report);
        if report.outcome == Outcome::Solved {
            report.outcome = outcome;
        }
    }
    report
}

fn solve_island(
    options: &Dantzig,
    problem: &ForceProblem,
    contacts: &[u32],
    (known, forces, classes): (&[[f64; 3]], &mut [[f64; 3]], &mut [Class]),
    work: &mut Work,
    report: &mut DantzigReport,
) -> Outcome {
    let Work { island, path, dense, planar, spatial, vectors, products } = work;
    island.fill(problem, contacts, options.facets);
    let start = Start {
        classes: contacts.iter().map(|a| classes[*a as usize]).collect(),
        forces: (known.len() == problem.b.len()).then(|| island.unknowns(known)),
    };
    contacts.iter().for_each(|a| classes[*a as usize] = Class::Breaking);
    if let Some(u) = island.b.iter().position(|b| !b.is_finite()) {
        let contact = contacts[island.owner[u] as usize] as usize;
        return Outcome::Inconsistent { contact };
    }
    if (0..contacts.len()).all(|k| island.b[island.start[k]] >= 0.0) {
        return Outcome::Solved;
    }
    path.pivots = 0;
    path.degenerate = 0;
    let sweeps = options.sweeps;
    let mut attempt =
        Attempt { options, island, path, sweeps, one_by_one: true, vectors, products };
    let factored = island::factored(problem.w, contacts).filter(|_| !options.dense);
    let found = match factored {
        Some(w) if planar.fill(w, attempt.island) => attempt.run(planar, &start),
        Some(w) if spatial.fill(w, attempt.island) => attempt.run(spatial, &start),
        _ => {
            dense.fill(problem.w, attempt.island);
            attempt.run(dense, &start)
        }
    };
    report.pivots += path.pivots;
    report.degenerate += path.degenerate;
    match found {
        Ok(residual) => {
            report.residual = report.residual.max(residual);
            deliver(problem, island, path, (forces, classes));
            Outcome::Solved
        }
        Err(Failure::At(k)) => Outcome::Inconsistent { contact: contacts[k] as usize },
        Err(Failure::Limit) => Outcome::Limit,
    }
}

/// Writes forces and lists in the units of the problem.
fn deliver(
    problem: &ForceProblem,
    island: &Island,
    path: &Path,
    (forces, classes): (&mut [[f64; 3]], &mut [Class]),
) {
    for (k, &a) in island.contacts.iter().enumerate() {
        let normal = island.start[k];
        if path.states[normal] != State::Basic {
            continue;
        }
        let scale = island.size * island.unit[k];
        let force = &mut forces[a as usize];
        for u in normal..island.start[k + 1] {
            (0..3).for_each(|i| force[i] += scale * path.x[u] * island.column[u][i]);
        }
        let held = |u: usize| path.a[u].abs() <= 1e-9;
        let sticks = matches!(problem.friction[a as usize], Friction::Static { .. });
        let sticks = sticks && !island.axes(k).is_empty() && island.axes(k).all(held);
        classes[a as usize] = if sticks { Class::Static } else { Class::Sliding };
    }
}

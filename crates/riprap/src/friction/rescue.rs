//! Islands that sweeps do not solve, such as tall towers and jammed bodies, are solved by [`Accurate`],
//! [`ExactInteriorPoint`] or [`AlternatingDirections`]: those with most of the residual first, until what is left of it meets the tolerance. What each may cost
//! is bounded by a small multiple of the cost of the sweeps, counted in multiplications, so results are reproducible.

use super::islands::islands;
use super::law::Law;
use super::residual::{Residual, residual, squared};
use super::{
    Accurate, AlternatingDirections, ContactProblem, ContactSolver, Delassus, ExactInteriorPoint,
    GaussSeidelOptions, Impulses, Operator, Scratch, StoredOptions,
};

/// Sweeps before the first attempt; after each the total is four times as many.
pub(super) const FIRST: usize = 200;
/// Islands with more unknowns than this are left to the sweeps: their factors cost more than sweeps.
const LARGEST: usize = 1500;
/// Fraction of the tolerance to which an island is solved, so that the sweep that judges all criteria finds them met.
const ACCURACY: f64 = 0.1;

/// An island that may be solved on its own: its unknowns and its part of the squared residual.
struct Candidate {
    unknowns: Vec<u32>,
    part: f64,
}

/// Improves the impulses of islands until the residual meets its tolerance, if islands that are small enough have most of it;
/// `budget` bounds the work on each of them [sweeps over it]. Returns the number of islands that were improved.
pub(super) fn rescue(
    problem: &ContactProblem,
    options: &GaussSeidelOptions,
    budget: usize,
    impulses: &mut Impulses,
    scratch: &mut Scratch,
) -> usize {
    let Delassus::Factored(w) = &problem.w else { return 0 };
    let n = problem.len();
    let trace = |a: usize| (0..3).map(|i| problem.w.diagonal(a)[i][i]).sum::<f64>();
    let mut velocity = Vec::new();
    w.velocity_change(impulses, &mut velocity);
    let mobility = w.trace() / (3.0 * n as f64);
    let mut all = Residual::default();
    let mut left = 0.0;
    let mut candidates = Vec::new();
    for unknowns in islands(&problem.w, n, |a| trace(a) > 0.0) {
        let mut sum = Residual::default();
        for a in unknowns.iter().map(|a| *a as usize) {
            let r = impulses[a].map(|x| mobility * x);
            let (q, wr) = (problem.v_rel_free[a], w.velocity(a, impulses, &velocity));
            let limit = mobility * problem.limit(a, impulses);
            sum.note(problem.laws[a], r, q, wr, limit);
        }
        all.natural_map += sum.natural_map;
        all.impulses += sum.impulses;
        all.free += sum.free;
        all.velocities += sum.velocities;
        let known =
            |a: &u32| matches!(problem.laws[*a as usize], Law::Coulomb { .. } | Law::Bilateral);
        if unknowns.len() <= LARGEST && unknowns.iter().all(known) {
            candidates.push(Candidate { unknowns, part: sum.natural_map });
        } else {
            left += sum.natural_map;
        }
    }
    // Half of what the tolerance allows, for the islands that are not solved.
    let relative = options.measure.of(&all.roots());
    let allowed = all.natural_map * (0.5 * options.tolerance / relative).powi(2);
    if !allowed.is_finite() || left > 4.0 * allowed {
        return 0;
    }
    candidates.sort_by(|x, y| y.part.total_cmp(&x.part));
    let mut rest: f64 = candidates.iter().map(|candidate| candidate.part).sum();
    let mut improved = 0;
    let stored = StoredOptions {
        measure: options.measure,
        max_sweeps: budget,
        ..StoredOptions::tolerance(ACCURACY * options.tolerance.min(options.approach_tolerance))
    };
    for Candidate { unknowns, part } in candidates {
        if rest <= allowed {
            break;
        }
        rest -= part;
        improved += usize::from(improve(problem, &unknowns, stored, impulses, scratch));
    }
    improved
}

/// Solves an island; keeps its impulses if they are better.
fn improve(
    problem: &ContactProblem,
    unknowns: &[u32],
    options: StoredOptions,
    impulses: &mut Impulses,
    scratch: &mut Scratch,
) -> bool {
    let Delassus::Factored(w) = &problem.w else { return false };
    let mut island =
        ContactProblem { approach_scale: problem.approach_scale, ..Default::default() };
    island.w.make_factored().select_island(w, unknowns);
    let of = |a: &u32| *a as usize;
    island.v_rel_free.extend(unknowns.iter().map(|a| problem.v_rel_free[of(a)]));
    island.laws.extend(unknowns.iter().map(|a| problem.laws[of(a)]));
    let before: Impulses = unknowns.iter().map(|a| impulses[of(a)]).collect();
    let mut after = before.clone();
    if !(Accurate { options }).solve(&island, &mut after, scratch).converged {
        // Towers and walls have many more unknowns than rank, which interior points do not mind. Their cost is known in advance,
        // and they reach any accuracy: the next steps then begin at rest. They spread redundant forces evenly, so they come second.
        let (max_sweeps, tolerance) = (8 * options.max_sweeps, 1e-2 * options.tolerance);
        let (stored, options) = (options, StoredOptions { max_sweeps, tolerance, ..options });
        if !(ExactInteriorPoint { options }).solve(&island, &mut after, scratch).converged {
            AlternatingDirections { options: stored }.solve(&island, &mut after, scratch);
        }
    }
    let measure = |r: &Impulses| squared([residual(&island, r).natural_map, 0.0, 0.0]);
    let better = measure(&after) < measure(&before);
    if better {
        unknowns.iter().zip(after).for_each(|(a, r)| impulses[of(a)] = r);
    }
    better
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::friction::fixtures::towers;
    use crate::friction::{Coloured, GaussSeidel};

    fn relative(problem: &ContactProblem, impulses: &Impulses) -> f64 {
        residual(problem, impulses).relative_to_impulses()
    }

    #[test]
    fn a_tower_that_sweeps_do_not_solve_is_solved_and_others_are_left_alone() {
        let problem = towers(&[40, 1, 1]);
        let options = GaussSeidelOptions::tolerance(1e-7);
        // The small ones are solved by sweeps.
        let few = GaussSeidelOptions { max_sweeps: 200, ..options };
        let mut impulses = vec![[0.0; 3]; problem.len()];
        let sweeps = GaussSeidel { options: few };
        sweeps.solve(&problem, &mut impulses, &mut Scratch::default());
        assert!(relative(&problem, &impulses) > 1e-3, "too easy");
        let before = impulses.clone();
        let improved = rescue(&problem, &options, 200, &mut impulses, &mut Scratch::default());
        assert_eq!(improved, 1);
        assert!(relative(&problem, &impulses) <= 1e-7);
        assert_eq!(before[160..], impulses[160..]);
        // Nothing is left to do.
        assert_eq!(rescue(&problem, &options, 200, &mut impulses, &mut Scratch::default()), 0);
    }

    #[test]
    fn a_tower_of_fifty_converges_at_every_tolerance() {
        let problem = towers(&[50]);
        for tolerance in [1e-4, 1e-6, 1e-8] {
            let mut impulses = Impulses::default();
            let solver = Coloured::tolerance(tolerance);
            let report = solver.solve(&problem, &mut impulses, &mut Scratch::default());
            assert!(report.converged && report.sweeps < 2000, "{tolerance:e}: {report:?}");
            assert!(relative(&problem, &impulses) <= tolerance);
        }
    }

    #[test]
    fn rescued_islands_are_bitwise_identical_for_any_number_of_threads() {
        let problem = towers(&[40; 30]);
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let mut impulses = Impulses::default();
            let solver = Coloured::tolerance(1e-6);
            let solve = || solver.solve(&problem, &mut impulses, &mut Scratch::default());
            let report = pool.install(solve);
            (impulses, report)
        };
        let first = on(1);
        assert!(first.1.converged && first.1.sweeps > 400, "too easy: {:?}", first.1);
        for threads in [2, 3, 8, 16] {
            assert!(on(threads) == first, "{threads} threads");
        }
    }

    #[test]
    fn large_islands_are_left_to_the_sweeps() {
        let problem = towers(&[LARGEST / 4 + 1]);
        let options = GaussSeidelOptions::tolerance(1e-8);
        let mut impulses = vec![[0.0; 3]; problem.len()];
        assert_eq!(rescue(&problem, &options, 400, &mut impulses, &mut Scratch::default()), 0);
        assert!(impulses.iter().all(|r| *r == [0.0; 3]));
    }
}

//! Redundant, asymmetric, scaled and degenerate problems to ten digits; each method alone.

use super::*;
use crate::friction::{
    AlternatingDirections, Anderson, Blocks, Delassus, Law, ProximalPoint, SemismoothNewton,
    residual,
};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// `W = G Gᵀ` with random `G`: rank-deficient, with every contact coupled to every other.
/// Asymmetric by a fraction `skew`.
fn random(seed: u64, n: usize, rank: usize, skew: f64) -> ContactProblem {
    let mut rng = Pcg64::seed_from_u64(seed);
    let g: Vec<Vec<f64>> =
        (0..3 * n).map(|_| (0..rank).map(|_| rng.random_range(-1.0..1.0)).collect()).collect();
    let mut blocks = Blocks::default();
    for a in 0..n {
        for b in 0..n {
            let entry = |i: usize, j: usize| {
                let product = g[3 * a + i].iter().zip(&g[3 * b + j]);
                let sum: f64 = product.map(|(x, y)| x * y).sum();
                sum * (1.0 + if (a, i) < (b, j) { skew } else { 0.0 })
            };
            let block = std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)));
            blocks.push(b, block);
        }
        blocks.end_row();
    }
    // Free velocities in the range of W: an impact of a system that has all these contacts.
    let v: Vec<f64> = (0..rank).map(|_| rng.random_range(-1.0..1.0)).collect();
    let free = |row: &Vec<f64>| row.iter().zip(&v).map(|(g, v)| g * v).sum::<f64>();
    let free: Vec<f64> = g.iter().map(free).collect();
    ContactProblem {
        rolling: Vec::new(),
        w: Delassus::Blocks(blocks),
        v_rel_free: free.chunks_exact(3).map(|v| [v[0], v[1], v[2]]).collect(),
        laws: (0..n).map(|a| Law::Coulomb { friction: [0.0, 0.3, 0.8][a % 3] }).collect(),
        approach_scale: 1.0,
    }
}

#[track_caller]
fn solves(solver: &dyn ContactSolver, problem: &ContactProblem, tolerance: f64, case: &str) {
    let (mut impulses, mut scratch) = (Vec::new(), Scratch::default());
    let report = solver.solve(problem, &mut impulses, &mut scratch);
    assert!(report.converged, "{case}: {report:?}");
    let found = residual(problem, &impulses).relative_to_all();
    assert!(found <= tolerance, "{case}: {found:e}");
}

#[test]
fn redundant_and_asymmetric_problems_are_solved_to_ten_digits() {
    for seed in 0..12 {
        for (rank, skew) in [(60, 0.0), (30, 0.0), (12, 0.0), (60, 1e-3)] {
            let problem = random(seed, 20, rank, skew);
            let case = format!("seed {seed}, rank {rank}, skew {skew}");
            solves(&Accurate::tolerance(1e-10), &problem, 1e-10, &case);
            solves(&Anderson::tolerance(1e-4), &problem, 1e-4, &case);
        }
    }
}

#[test]
fn problems_converge_equally_at_any_velocity_scale() {
    for size in [1e-200, 1e-150, 1e150, 1e200] {
        let mut problem = random(2, 20, 30, 0.0);
        problem.v_rel_free.as_flattened_mut().iter_mut().for_each(|x| *x *= size);
        solves(&Accurate::tolerance(1e-10), &problem, 1e-10, &format!("{size:e}"));
        solves(&Anderson::tolerance(1e-4), &problem, 1e-4, &format!("{size:e}"));
    }
}

#[test]
fn an_overflow_ends_a_solve_early() {
    let mut problem = random(2, 20, 30, 0.0);
    problem.v_rel_free[3][1] = f64::MAX;
    let Delassus::Blocks(w) = &problem.w else { unreachable!() };
    let mut large = Blocks::default();
    for a in 0..20 {
        w.row(a).for_each(|(b, block)| large.push(b, block.map(|row| row.map(|x| 1e300 * x))));
        large.end_row();
    }
    problem.w = Delassus::Blocks(large);
    let accurate = Accurate::tolerance(1e-8);
    let report = accurate.solve(&problem, &mut Vec::new(), &mut Scratch::default());
    assert!(!report.residual.is_nan() && report.sweeps < 1000, "{report:?}");
}

#[test]
fn joints_and_immovable_contacts_are_solved() {
    let mut problem = random(3, 8, 24, 0.0);
    problem.laws[2] = Law::Bilateral;
    problem.laws[5] = Law::Bilateral;
    solves(&Accurate::tolerance(1e-10), &problem, 1e-10, "joints");
    // A contact with a row and a column of zeros, open and resting.
    for free in [[0.3, 0.2, 0.0], [0.0, 0.0, 0.0]] {
        let Delassus::Blocks(w) = &problem.w else { unreachable!() };
        let mut grown = Blocks::default();
        for a in 0..8 {
            w.row(a).for_each(|(b, block)| grown.push(b, *block));
            grown.end_row();
        }
        grown.end_row();
        let mut problem = ContactProblem { w: Delassus::Blocks(grown), ..problem.clone() };
        problem.v_rel_free.push(free);
        problem.laws.push(Law::Coulomb { friction: 0.4 });
        solves(&Accurate::tolerance(1e-10), &problem, 1e-10, "locked");
    }
}

#[test]
fn a_problem_without_a_solution_terminates_unconverged() {
    // Nothing can move, and yet the contact approaches.
    let mut w = Blocks::default();
    w.push(0, [[0.0; 3]; 3]);
    w.end_row();
    let problem = ContactProblem {
        rolling: Vec::new(),
        w: Delassus::Blocks(w),
        v_rel_free: vec![[-1.0, 0.0, 0.0]],
        laws: vec![Law::Coulomb { friction: 0.5 }],
        approach_scale: 1.0,
    };
    let mut solver = Accurate::tolerance(1e-8);
    solver.options.max_sweeps = 10_000;
    let report = solver.solve(&problem, &mut Vec::new(), &mut Scratch::default());
    assert!(!report.converged && report.residual > 0.1, "{report:?}");
}

#[test]
fn every_method_alone_solves_problems_of_full_rank() {
    for seed in 0..4 {
        let problem = random(seed, 10, 60, 0.0);
        let (newton, proximal) =
            (SemismoothNewton::tolerance(1e-10), ProximalPoint::tolerance(1e-10));
        let splitting = AlternatingDirections::tolerance(1e-10);
        let methods: [(&dyn ContactSolver, &str); 3] =
            [(&newton, "newton"), (&proximal, "proximal"), (&splitting, "splitting")];
        for (solver, name) in methods {
            solves(solver, &problem, 1e-10, &format!("{name}, seed {seed}"));
        }
    }
}

#[test]
fn a_search_ends_at_its_deadline() {
    let problem = random(5, 20, 12, 1e-1);
    let options = StoredOptions { tolerance: 0.0, ..StoredOptions::default() };
    let options = StoredOptions { deadline: Some(std::time::Instant::now()), ..options };
    let report = Accurate { options }.solve(&problem, &mut Vec::new(), &mut Scratch::default());
    assert!(!report.converged && report.sweeps <= 2 * FIRST, "{report:?}");
}

//! Properties of every solver: it finds the solution of the reference Gauss–Seidel, returns
//! admissible impulses, and depends on units and on the order of unknowns only by rounding.

use super::fixtures::{add_moments, as_blocks, random_problem, unique_problem};
use super::{
    Accurate, Anderson, Coloured, ConjugateGradient, ContactProblem, ContactSolver, Delassus,
    GaussSeidel, Impulses, Law, Scratch, residual,
};

/// All solvers except the reference, with a tolerance on the residual [–]. The coloured one packs
/// even a single contact.
fn solvers(tolerance: f64) -> Vec<(&'static str, Box<dyn ContactSolver>)> {
    let coloured = Coloured { fewest: 1, ..Coloured::tolerance(tolerance) };
    vec![
        ("conjugate gradients", Box::new(ConjugateGradient::tolerance(tolerance))),
        ("coloured", Box::new(coloured)),
        ("anderson", Box::new(Anderson::tolerance(tolerance))),
        ("accurate", Box::new(Accurate::tolerance(tolerance))),
    ]
}

#[track_caller]
fn solve(solver: &dyn ContactSolver, problem: &ContactProblem, case: &str) -> Impulses {
    let mut impulses = Vec::new();
    let report = solver.solve(problem, &mut impulses, &mut Scratch::default());
    assert!(report.converged, "{case}: {report:?}");
    impulses
}

fn largest_difference(a: &Impulses, b: &Impulses) -> f64 {
    let pairs = a.as_flattened().iter().zip(b.as_flattened());
    pairs.map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

#[test]
fn every_solver_finds_the_impulses_of_the_reference() {
    for seed in 0..12 {
        let problem = unique_problem(seed);
        let expected = solve(&GaussSeidel::tolerance(1e-13), &problem, "oracle");
        for (name, solver) in solvers(1e-11) {
            for problem in [&problem, &as_blocks(&problem)] {
                let found = solve(&*solver, problem, name);
                let off = largest_difference(&found, &expected);
                // Impulses are of size 1; the tolerance is amplified by the condition number of W.
                assert!(off < 1e-8, "seed {seed}, {name}: {off:e}");
            }
        }
    }
}

#[test]
fn every_solver_handles_cone_complementarity() {
    for seed in 0..6 {
        let mut problem = unique_problem(seed);
        for law in &mut problem.laws {
            *law = match law.friction() {
                Some(friction) => Law::Cone { friction: 4.0 * friction },
                None => *law,
            };
        }
        let expected = solve(&GaussSeidel::tolerance(1e-12), &problem, "oracle");
        for (name, solver) in solvers(1e-10) {
            let found = solve(&*solver, &problem, name);
            let off = largest_difference(&found, &expected);
            assert!(off < 1e-7, "seed {seed}, {name}: {off:e}");
        }
    }
}

#[test]
fn every_solver_handles_moments_of_rolling_resistance() {
    for seed in 0..6 {
        let mut problem = unique_problem(seed);
        add_moments(&mut problem);
        let expected = solve(&GaussSeidel::tolerance(1e-12), &problem, "oracle");
        for (name, solver) in solvers(1e-10) {
            let found = solve(&*solver, &problem, name);
            let off = largest_difference(&found, &expected);
            assert!(off < 1e-7, "seed {seed}, {name}: {off:e}");
        }
    }
}

#[test]
fn impulses_are_admissible_even_if_a_solver_gives_up() {
    for seed in 0..6 {
        let problem = random_problem(seed, 12, 40);
        for (name, solver) in solvers(1e-15) {
            let mut impulses = Vec::new();
            solver.solve(&problem, &mut impulses, &mut Scratch::default());
            for (r, law) in impulses.iter().zip(&problem.laws) {
                let mu = law.friction().unwrap();
                let inside = r[0] >= 0.0 && r[1].hypot(r[2]) <= mu * r[0] * (1.0 + 1e-9) + 1e-12;
                assert!(inside, "seed {seed}, {name}: {r:?} {mu}");
            }
        }
    }
}

#[test]
fn reports_agree_with_the_residual() {
    for seed in 0..4 {
        let problem = random_problem(seed, 12, 25);
        for (name, solver) in solvers(1e-9) {
            let mut impulses = Vec::new();
            let report = solver.solve(&problem, &mut impulses, &mut Scratch::default());
            let found = residual(&problem, &impulses);
            let judged = found.relative_to_impulses().min(found.relative_to_all());
            let told = report.residual;
            assert!(report.converged && judged <= 1e-9, "{name}: {judged:e}");
            assert!(told <= 1e-9 && told >= 0.5 * judged, "{name}: {told:e} {judged:e}");
        }
    }
}

#[test]
fn a_problem_twice_as_fast_has_impulses_twice_as_large() {
    let problem = unique_problem(3);
    let mut fast = problem.clone();
    fast.v_rel_free.as_flattened_mut().iter_mut().for_each(|x| *x *= 2.0);
    for (name, solver) in solvers(1e-11) {
        let (once, twice) = (solve(&*solver, &problem, name), solve(&*solver, &fast, name));
        let half: Impulses = twice.iter().map(|r| r.map(|x| 0.5 * x)).collect();
        assert!(largest_difference(&once, &half) < 1e-8, "{name}");
    }
}

#[test]
fn a_solved_problem_is_left_unchanged() {
    let problem = unique_problem(5);
    for (name, solver) in solvers(1e-9) {
        let mut impulses = solve(&GaussSeidel::tolerance(1e-13), &problem, "oracle");
        let before = impulses.clone();
        let report = solver.solve(&problem, &mut impulses, &mut Scratch::default());
        assert!(report.converged, "{name}: {report:?}");
        assert!(largest_difference(&before, &impulses) < 1e-8, "{name}");
    }
}

#[test]
fn scratch_of_another_problem_does_not_change_the_result() {
    let (large, small) = (random_problem(1, 30, 80), random_problem(2, 12, 25));
    for (name, solver) in solvers(1e-8) {
        let mut used = Scratch::default();
        solver.solve(&large, &mut Vec::new(), &mut used);
        let (mut fresh, mut again) = (Vec::new(), Vec::new());
        solver.solve(&small, &mut fresh, &mut Scratch::default());
        solver.solve(&small, &mut again, &mut used);
        assert_eq!(fresh, again, "{name}");
    }
}

#[test]
fn open_contacts_carry_no_impulse() {
    let mut problem = random_problem(7, 12, 25);
    problem.v_rel_free.iter_mut().for_each(|v| v[0] = v[0].abs());
    for (name, solver) in solvers(1e-10) {
        let impulses = solve(&*solver, &problem, name);
        assert!(impulses.iter().all(|r| *r == [0.0; 3]), "{name}");
    }
}

#[test]
fn zero_friction_leaves_only_normal_impulses() {
    let mut problem = random_problem(8, 12, 25);
    problem.laws.iter_mut().for_each(|law| *law = Law::Coulomb { friction: 0.0 });
    for (name, solver) in solvers(1e-9) {
        let impulses = solve(&*solver, &problem, name);
        let sideways = impulses.iter().map(|r| r[1].hypot(r[2])).fold(0.0, f64::max);
        assert!(sideways < 1e-12, "{name}: {sideways:e}");
    }
}

#[test]
fn bilateral_constraints_alone_form_a_linear_system() {
    // Few constraints, so that the system is well conditioned.
    let mut problem = random_problem(9, 20, 9);
    problem.laws.iter_mut().for_each(|law| *law = Law::Bilateral);
    let Delassus::Blocks(w) = as_blocks(&problem).w else { panic!("blocks") };
    let n = 3 * problem.len();
    let mut dense = nalgebra::DMatrix::zeros(n, n);
    for a in 0..problem.len() {
        for (b, block) in w.row(a) {
            for i in 0..3 {
                for j in 0..3 {
                    dense[(3 * a + i, 3 * b + j)] = block[i][j];
                }
            }
        }
    }
    let right =
        nalgebra::DVector::from_iterator(n, problem.v_rel_free.as_flattened().iter().map(|x| -x));
    let exact = dense.lu().solve(&right).expect("W is nonsingular");
    let exact: Impulses = exact.as_slice().chunks_exact(3).map(|r| [r[0], r[1], r[2]]).collect();
    let size = exact.as_flattened().iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    for (name, solver) in solvers(1e-12) {
        let found = solve(&*solver, &problem, name);
        let off = largest_difference(&found, &exact) / size;
        assert!(off < 1e-8, "{name}: {off:e}");
    }
}

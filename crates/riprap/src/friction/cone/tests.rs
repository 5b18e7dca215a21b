//! Closed forms, agreement of all solvers, and hostile input.

use super::*;
use crate::friction::fixtures::{add_moments, as_blocks, random_problem, unique_problem};
use crate::friction::{Blocks, Delassus, Factored, InverseMass};
use crate::math::{Vec3, tangents};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

type Named = (&'static str, Box<dyn ContactSolver>);

/// All solvers.
fn solvers(options: ConeOptions) -> Vec<Named> {
    let gauss_seidel = ProjectedGaussSeidel { options, ..Default::default() };
    let jacobi = ProjectedJacobi { options, ..Default::default() };
    vec![
        ("apgd", Box::new(Apgd { options }) as Box<dyn ContactSolver>),
        ("barzilai-borwein", Box::new(BarzilaiBorwein { options })),
        ("gauss-seidel", Box::new(gauss_seidel)),
        ("jacobi", Box::new(jacobi)),
        ("admm", Box::new(Admm { options })),
        #[cfg(feature = "interior-point")]
        ("interior-point", Box::new(InteriorPoint { options })),
    ]
}

fn patient(tolerance: f64) -> ConeOptions {
    ConeOptions { max_iterations: 500_000, ..ConeOptions::stored(tolerance) }
}

/// Random contacts, ropes and bilateral constraints; planar or spatial.
fn random_cones(seed: u64, planar: bool, n_blocks: usize, n: usize, ratio: f64) -> ContactProblem {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut w = Factored::default();
    w.reset((0..n_blocks).map(|_| {
        let m = 10f64.powf(rng.random_range(-0.5..0.5) * ratio.log10());
        let turn = m * rng.random_range(2.0..5.0);
        match planar {
            true => InverseMass { linear: [m, m, 0.0], angular: [0.0, 0.0, turn, 0.0, 0.0, 0.0] },
            false => InverseMass { linear: [m; 3], angular: [turn, turn, turn, 0.0, 0.0, 0.0] },
        }
    }));
    let flat = if planar { 0.0 } else { 1.0 };
    let mut vector = |size: f64| {
        let mut v = Vec3::from_fn(|_, _| rng.random_range(-size..size));
        v.z *= flat;
        v
    };
    let free: Vec<[f64; 6]> = (0..n_blocks)
        .map(|_| {
            let (v, spin) = (vector(1.0), vector(1.0));
            [v.x, v.y, v.z, flat * spin.x, flat * spin.y, spin.x]
        })
        .collect();
    for a in 0..n {
        let (n, arms) = (vector(1.0).normalize(), [vector(0.5).into(), vector(0.5).into()]);
        let (t1, t2) = tangents(n);
        // Chains and pairs that touch twice; every fourth touches something fixed.
        let (first, second) = ((a * 7 / 2 % n_blocks) as u32, ((a + 1) % n_blocks) as u32);
        let first = if first == second || a % 4 == 0 { Factored::NONE } else { first };
        w.push([first, second], [n.into(), t1.into(), t2.into()], arms);
    }
    let mut problem = ContactProblem { approach_scale: 1.0, ..Default::default() };
    for a in 0..n {
        let mut v = w.to_local(a, &free);
        let law = match a % 9 {
            3 => Law::Cone { friction: 0.0 },
            8 => Law::Bilateral,
            _ => Law::Cone { friction: 0.05 + 0.9 * (a as f64 * 0.618).fract() },
        };
        // Gaps that stay open at rest: the minimum exists.
        if law != Law::Bilateral {
            v[0] += 0.2 * (a as f64 * 0.414).fract();
        }
        problem.v_rel_free.push(v);
        problem.laws.push(law);
    }
    problem.w = Delassus::Factored(w);
    problem
}

#[track_caller]
fn solve(solver: &dyn ContactSolver, problem: &ContactProblem, case: &str) -> Impulses {
    let mut impulses = Vec::new();
    let report = solver.solve(problem, &mut impulses, &mut Scratch::default());
    // Interior points end where the round-off of their factors does.
    let rounded = case == "interior-point" && report.residual < 1e-6;
    assert!(report.converged || rounded, "{case}: {report:?}");
    impulses
}

/// One body of 2 kg in the plane that meets the ground along y.
fn one_contact(free: [f64; 2], friction: f64) -> ContactProblem {
    let mut w = Factored::default();
    w.reset([InverseMass { linear: [0.5, 0.5, 0.0], angular: [0.0; 6] }].into_iter());
    let frame = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]];
    w.push([Factored::NONE, 0], frame, [[0.0; 3]; 2]);
    ContactProblem {
        w: Delassus::Factored(w),
        v_rel_free: vec![[free[0], free[1], 0.0]],
        laws: vec![Law::Cone { friction }],
        approach_scale: 1.0,
        ..Default::default()
    }
}

/// A column of bodies on the ground, each `ratio` times heavier than the one below.
fn column(n: usize, ratio: f64) -> ContactProblem {
    let mut w = Factored::default();
    w.reset(
        (0..n).map(|k| InverseMass { linear: [ratio.powi(-(k as i32)); 3], angular: [0.0; 6] }),
    );
    let mut problem = ContactProblem { approach_scale: 1.0, ..Default::default() };
    let frame = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    for k in 0..n {
        let below = if k == 0 { Factored::NONE } else { k as u32 - 1 };
        w.push([below, k as u32], frame, [[0.0; 3]; 2]);
        problem.v_rel_free.push(if k == 0 { [-0.01, 0.001, 0.0] } else { [0.0; 3] });
        problem.laws.push(Law::Cone { friction: 0.5 });
    }
    problem.w = Delassus::Factored(w);
    problem
}

/// `V_free + W I`.
fn velocities(problem: &ContactProblem, impulses: &[[f64; 3]]) -> Vec<[f64; 3]> {
    let mut change = Vec::new();
    problem.w.velocity_change(impulses, &mut change);
    let Delassus::Factored(w) = &problem.w else { panic!("factored") };
    let sum = |(a, q): (usize, &[f64; 3])| {
        let u = w.to_local(a, &change);
        [u[0] + q[0], u[1] + q[1], u[2] + q[2]]
    };
    problem.v_rel_free.iter().enumerate().map(sum).collect()
}

/// `N x`.
fn product(cone: &ConeProblem, x: &[f64]) -> Vec<f64> {
    let (mut v, mut out) = (Vec::new(), cone.free.clone());
    cone.start(x, &mut v);
    for (c, rows) in cone.cones.iter().enumerate() {
        rows.store(cone.gradient(c, &v), &mut out);
    }
    out.iter().zip(&cone.free).map(|(g, r)| g - r).collect()
}

#[test]
fn one_contact_opens_sticks_or_slides_as_in_the_closed_form() {
    let mu: f64 = 0.5;
    let n = 2.0 * (1.0 + 3.0 * mu) / (1.0 + mu * mu);
    for (name, solver) in solvers(patient(1e-12)) {
        let found = solve(&*solver, &one_contact([0.5, 0.5], mu), name);
        assert_eq!(found, [[0.0; 3]], "{name}: open");
        let found = solve(&*solver, &one_contact([-1.0, 0.2], mu), name)[0];
        assert!((found[0] - 2.0).abs() + (found[1] + 0.4).abs() < 1e-10, "{name}: {found:?}");
        // A sliding contact lifts with u_n = μ |u_t|.
        let problem = one_contact([-1.0, 3.0], mu);
        let found = solve(&*solver, &problem, name);
        assert!((found[0][0] - n).abs() + (found[0][1] + mu * n).abs() < 1e-10, "{name}");
        let u = velocities(&problem, &found)[0];
        assert!(u[1] > 0.0 && (u[0] - mu * u[1]).abs() < 1e-10, "{name}: {u:?}");
    }
}

#[test]
fn a_planar_problem_has_two_unknowns_per_contact_and_the_solution_of_its_embedding() {
    for seed in 0..5 {
        let planar = random_cones(seed, true, 8, 14, 10.0);
        let spatial = {
            let Delassus::Factored(flat) = &planar.w else { panic!("factored") };
            let mut w = Factored::default();
            w.reset(flat.masses().iter().map(|m| {
                let [turn, m] = [m.angular[2], m.linear[0]];
                InverseMass { linear: [m; 3], angular: [turn, turn, turn, 0.0, 0.0, 0.0] }
            }));
            flat.contacts().iter().for_each(|c| {
                w.push(c.blocks, c.frame, c.arms);
            });
            ContactProblem { w: Delassus::Factored(w), ..planar.clone() }
        };
        let kind = |law: &Law| match law {
            Law::Cone { friction: 0.0 } => [1, 1],
            Law::Bilateral => [2, 3],
            _ => [2, 3],
        };
        let rows = |k: usize| planar.laws.iter().map(|law| kind(law)[k]).sum::<usize>();
        assert_eq!(ConeProblem::new(&planar).n_rows(), rows(0));
        assert_eq!(ConeProblem::new(&spatial).n_rows(), rows(1));
        for (name, solver) in solvers(patient(1e-9)) {
            let values = [&planar, &spatial].map(|problem| {
                ConeProblem::new(problem).objective(&solve(&*solver, problem, name))
            });
            let off = (values[0] - values[1]).abs() / values[0].abs();
            // The value depends on the square of the residual, and linearly on the distance to
            // the cones.
            assert!(off < 1e-8, "seed {seed}, {name}: {values:?}");
        }
    }
}

#[test]
fn all_solvers_find_the_same_minimum() {
    for seed in 0..8 {
        for planar in [true, false] {
            let problem = random_cones(seed, planar, 10, 24, 1e3);
            let cone = ConeProblem::new(&problem);
            let least = cone.objective(&solve(&Apgd { options: patient(1e-12) }, &problem, "apgd"));
            for (name, solver) in solvers(patient(1e-9)) {
                for problem in [&problem, &as_blocks(&problem)] {
                    let value = cone.objective(&solve(&*solver, problem, name));
                    let off = (value - least).abs() / least.abs();
                    assert!(off < 1e-8, "seed {seed}, {name}: {value} {least}");
                }
            }
        }
    }
}

#[test]
fn the_objective_is_half_the_power_of_free_and_final_velocities() {
    let problem = random_cones(1, false, 8, 14, 10.0);
    let impulses = solve(&Apgd { options: patient(1e-9) }, &problem, "apgd");
    let u = velocities(&problem, &impulses);
    let mut sum = 0.0;
    for (a, r) in impulses.iter().enumerate() {
        sum += 0.5 * (0..3).map(|i| r[i] * (u[a][i] + problem.v_rel_free[a][i])).sum::<f64>();
    }
    let value = ConeProblem::new(&problem).objective(&impulses);
    assert!((value - sum).abs() < 1e-12 * sum.abs(), "{value} {sum}");
}

#[test]
fn a_warm_start_is_used() {
    let problem = random_cones(3, false, 10, 24, 10.0);
    for (name, solver) in solvers(patient(1e-7)) {
        let mut impulses = solve(&*solver, &problem, name);
        let again = solver.solve(&problem, &mut impulses, &mut Scratch::default());
        assert!(again.converged && again.sweeps == 0, "{name}: {again:?}");
        if name == "interior-point" {
            continue;
        }
        let mut near = problem.clone();
        near.v_rel_free.iter_mut().for_each(|v| v[0] += 1e-5);
        let cold = solver.solve(&near, &mut Vec::new(), &mut Scratch::default()).sweeps;
        let warm = solver.solve(&near, &mut impulses, &mut Scratch::default());
        assert!(warm.converged && warm.sweeps < cold, "{name}: {} {cold}", warm.sweeps);
    }
}

#[test]
fn only_admm_and_interior_points_solve_a_column_with_a_mass_ratio_of_a_million_soon() {
    // Four bodies, each a hundred times heavier than the one below.
    let problem = column(4, 100.0);
    let options = ConeOptions { max_iterations: 3000, ..ConeOptions::tolerance(1e-8) };
    for (name, solver) in solvers(options) {
        let report = solver.solve(&problem, &mut Vec::new(), &mut Scratch::default());
        // The others need more iterations the larger the ratio is.
        let factorizes = ["admm", "interior-point"].contains(&name);
        assert_eq!(report.converged, factorizes, "{name}: {report:?}");
    }
}

#[test]
fn hostile_numbers_are_reported_as_unconverged_and_never_panic() {
    let hostile = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e308, -1e308, 5e-324, -1e-300];
    for x in hostile {
        for place in 0..3 {
            let mut problem = random_cones(4, false, 6, 8, 10.0);
            problem.v_rel_free[2][place] = x;
            let mut stiff = as_blocks(&random_cones(4, false, 6, 8, 10.0));
            let mut w = Blocks::default();
            for a in 0..stiff.len() {
                w.push(
                    a,
                    std::array::from_fn(|i| std::array::from_fn(|j| if i == j { x } else { 0.0 })),
                );
                w.end_row();
            }
            stiff.w = Delassus::Blocks(w);
            for (name, solver) in solvers(ConeOptions::tolerance(1e-6)) {
                for problem in [&problem, &stiff] {
                    let mut impulses = Vec::new();
                    let report = solver.solve(problem, &mut impulses, &mut Scratch::default());
                    let finite = impulses.as_flattened().iter().all(|x| x.is_finite());
                    assert!(finite || !report.converged, "{name} {x:e}: {report:?}");
                    assert!(!x.is_nan() || !report.converged, "{name}: {report:?}");
                }
                let mut warm = vec![[x; 3]; problem.len()];
                solver.solve(&column(8, 2.0), &mut warm, &mut Scratch::default());
            }
        }
    }
}

#[test]
fn sides_of_mechanisms_enter_the_operator() {
    let mut problem = random_cones(5, false, 6, 9, 10.0);
    let mut rng = Pcg64::seed_from_u64(9);
    let w = problem.w.make_factored();
    // A side over two blocks that contact 0 (on the ground and block 1) does not use: `M⁻¹` is a
    // multiple of one, so that `W` stays symmetric.
    let rows: Vec<f64> = (0..36).map(|_| rng.random_range(-1.0..1.0)).collect();
    let solved: Vec<f64> = rows.iter().map(|x| 0.3 * x).collect();
    w.push_rows_to(0, 3, &rows, &solved);
    let cone = ConeProblem::new(&problem);
    let matrix = ConeProblem::new(&as_blocks(&problem));
    let x: Vec<f64> = (0..cone.n_rows()).map(|_| rng.random_range(-1.0..1.0)).collect();
    let (one, other) = (product(&cone, &x), product(&matrix, &x));
    for (a, b) in one.iter().zip(&other) {
        assert!((a - b).abs() < 1e-13, "{a} {b}");
    }
}

#[test]
fn the_lower_triangle_and_its_factors_are_those_of_the_operator() {
    for problem in [random_cones(6, false, 8, 16, 10.0), random_cones(6, true, 8, 16, 10.0)] {
        for problem in [&problem, &as_blocks(&problem)] {
            let cone = ConeProblem::new(problem);
            let n = cone.n_rows();
            let (start, columns, values) = cone.lower();
            let x: Vec<f64> = (0..n).map(|k| ((k * k) as f64 * 0.7).sin()).collect();
            let mut product = vec![0.0; n];
            for k in 0..n {
                assert_eq!(columns[start[k + 1] - 1], k as u32);
                for e in start[k]..start[k + 1] {
                    let column = columns[e] as usize;
                    product[k] += values[e] * x[column];
                    if column != k {
                        product[column] += values[e] * x[k];
                    }
                }
            }
            let exact = self::product(&cone, &x);
            for (a, b) in product.iter().zip(&exact) {
                assert!((a - b).abs() < 1e-12, "{a} {b}");
            }
            let mut factors = cholesky::Cholesky::default();
            assert!(!factors.plan(&cone, 3) && factors.plan(&cone, 10_000));
            assert!(factors.factor(&vec![0.1; n]));
            let mut solved: Vec<f64> = (0..n).map(|k| exact[k] + 0.1 * x[k]).collect();
            factors.solve(&mut solved, &mut Vec::new());
            for (a, b) in solved.iter().zip(&x) {
                assert!((a - b).abs() < 1e-11, "{a} {b}");
            }
        }
    }
}

#[test]
fn rolling_resistance_is_delegated() {
    let mut problem = unique_problem(2);
    add_moments(&mut problem);
    for (name, solver) in solvers(ConeOptions::tolerance(1e-8)) {
        solve(&*solver, &problem, name);
    }
}

#[test]
fn exact_friction_is_relaxed_and_judged_by_its_own_law() {
    let exact = |free| ContactProblem {
        laws: vec![Law::Coulomb { friction: 0.5 }],
        ..one_contact(free, 0.5)
    };
    for (name, solver) in solvers(patient(1e-10)) {
        // Sticking contacts obey both laws.
        solve(&*solver, &exact([-1.0, 0.2]), name);
        let sliding = exact([-1.0, 3.0]);
        let report = solver.solve(&sliding, &mut Vec::new(), &mut Scratch::default());
        assert!(!report.converged && report.residual > 0.1, "{name}: {report:?}");
    }
}

#[test]
fn results_depend_on_units_only_by_powers_of_two() {
    let problem = random_cones(7, false, 8, 14, 10.0);
    let mut other = problem.clone();
    let (time, mass) = (2f64.powi(-40), 2f64.powi(30));
    other.v_rel_free.iter_mut().for_each(|v| *v = v.map(|x| x / time));
    let w = other.w.make_factored();
    let old = w.clone();
    w.reset(old.masses().iter().map(|m| InverseMass {
        linear: m.linear.map(|x| x / mass),
        angular: m.angular.map(|x| x / mass),
    }));
    old.contacts().iter().for_each(|c| {
        w.push(c.blocks, c.frame, c.arms);
    });
    for (name, solver) in
        solvers(ConeOptions { approach_tolerance: f64::INFINITY, ..patient(1e-8) })
    {
        let (one, two) = (solve(&*solver, &problem, name), solve(&*solver, &other, name));
        for (a, b) in one.as_flattened().iter().zip(two.as_flattened()) {
            assert_eq!(a * mass / time, *b, "{name}");
        }
    }
}

#[test]
fn scratch_of_another_problem_does_not_change_the_result() {
    let (large, small) = (random_cones(8, false, 30, 60, 10.0), random_cones(9, true, 8, 14, 10.0));
    for (name, solver) in solvers(ConeOptions::tolerance(1e-7)) {
        let mut used = Scratch::default();
        solver.solve(&large, &mut Vec::new(), &mut used);
        let (mut fresh, mut again) = (Vec::new(), Vec::new());
        solver.solve(&small, &mut fresh, &mut Scratch::default());
        solver.solve(&small, &mut again, &mut used);
        assert_eq!(fresh, again, "{name}");
    }
}

#[test]
fn a_solver_that_gives_up_reports_it_and_returns_its_best_iterate() {
    let problem = random_problem(5, 12, 30);
    let options = ConeOptions { max_iterations: 3, ..ConeOptions::tolerance(1e-14) };
    for (name, solver) in solvers(options) {
        let mut impulses = Vec::new();
        let report = solver.solve(&problem, &mut impulses, &mut Scratch::default());
        assert!(!report.converged && report.sweeps <= 9, "{name}: {report:?}");
        assert!(report.residual.is_finite());
    }
}

#[test]
fn immovable_contacts_and_empty_axes_have_no_rows() {
    let mut w = Factored::default();
    w.reset([InverseMass { linear: [1.0; 3], angular: [0.0; 6] }].into_iter());
    let unit = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    w.push([Factored::NONE; 2], unit, [[0.0; 3]; 2]);
    w.push([Factored::NONE, 0], [unit[0], [0.0; 3], [0.0; 3]], [[0.0; 3]; 2]);
    let problem = ContactProblem {
        w: Delassus::Factored(w),
        v_rel_free: vec![[-1.0, 0.0, 0.0], [0.5, 0.0, 0.0]],
        laws: vec![Law::Cone { friction: 0.5 }, Law::Bilateral],
        ..Default::default()
    };
    let cone = ConeProblem::new(&problem);
    assert_eq!((cone.n_rows(), cone.n_cones()), (1, 1));
    for (name, solver) in solvers(patient(1e-10)) {
        let mut impulses = Vec::new();
        let report = solver.solve(&problem, &mut impulses, &mut Scratch::default());
        // The approach of two immovable bodies remains, and is reported.
        assert!(!report.converged && report.residual > 0.1, "{name}");
        assert!((impulses[1][0] + 0.5).abs() < 1e-10, "{name}: {impulses:?}");
    }
}

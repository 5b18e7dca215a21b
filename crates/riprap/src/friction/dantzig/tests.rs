use super::*;
use crate::friction::fixtures::random_problem;
use crate::friction::{Blocks, ContactProblem, ContactSolver, Factored, InverseMass, Law};

fn solve(problem: &ForceProblem, options: &Dantzig) -> (Vec<[f64; 3]>, Vec<Class>, DantzigReport) {
    let (mut forces, mut classes) = (Vec::new(), Vec::new());
    let report = options.solve(problem, &mut forces, &mut classes, &mut Scratch::default());
    (forces, classes, report)
}

/// A random pile whose free accelerations are those of moving bodies, so that a solution exists:
/// accelerations of redundant contacts do not contradict each other.
fn pile(seed: u64, blocks: usize, contacts: usize) -> ContactProblem {
    let mut pile = random_problem(seed, blocks, contacts);
    let Delassus::Factored(w) = &pile.w else { panic!("factored") };
    let velocity: Vec<[f64; 6]> = (0..blocks)
        .map(|k| std::array::from_fn(|i| ((7 * k + 3 * i + seed as usize) as f64).sin()))
        .collect();
    pile.v_rel_free = (0..pile.len()).map(|a| w.to_local(a, &velocity)).collect();
    pile
}

fn friction_of(laws: &[Law]) -> Vec<Friction> {
    laws.iter().map(|law| Friction::Static { mu: law.friction().unwrap_or(0.0) }).collect()
}

#[test]
fn random_piles_in_space_are_solved_by_bodies_and_by_dense_matrices() {
    for seed in 0..40 {
        let pile = pile(seed, 4 + seed as usize % 9, 4 + seed as usize % 40);
        let friction = friction_of(&pile.laws);
        let problem = ForceProblem { w: &pile.w, b: &pile.v_rel_free, friction: &friction };
        for dense in [false, true] {
            let (_, _, report) = solve(&problem, &Dantzig { dense, ..Dantzig::default() });
            assert_eq!(report.outcome, Outcome::Solved, "seed {seed}: {report:?}");
            assert!(report.residual < 1e-10, "seed {seed}: {report:?}");
        }
    }
}

#[test]
fn published_algorithm_and_lists_to_start_from_give_the_same_accelerations() {
    for seed in 0..20 {
        let pile = pile(seed, 12, 16);
        let friction = vec![Friction::Static { mu: 0.1 }; pile.len()];
        let problem = ForceProblem { w: &pile.w, b: &pile.v_rel_free, friction: &friction };
        let (expected, classes, report) =
            solve(&problem, &Dantzig { rounds: 0, ..Dantzig::default() });
        assert_eq!(report.outcome, Outcome::Solved, "seed {seed}");
        let (mut forces, mut again) = (Vec::new(), classes.clone());
        let warm =
            Dantzig::default().solve(&problem, &mut forces, &mut again, &mut Scratch::default());
        assert_eq!(warm.outcome, Outcome::Solved, "seed {seed}");
        assert_eq!(classes, again, "seed {seed}");
        let off = expected.as_flattened().iter().zip(forces.as_flattened());
        let off = off.fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()));
        assert!(off < 1e-8, "seed {seed}: {off:e}");
    }
}

/// A rod of mass 1 and inertia 1 that touches the ground with one end and slides: angle from the
/// horizontal, friction. Its `W_nn ∓ μ W_nt` is negative if friction is large enough.
fn painleve(angle: f64, mu: f64, direction: f64) -> (Factored, Vec<Friction>) {
    let mut w = Factored::default();
    w.reset(
        [InverseMass { linear: [1.0, 1.0, 0.0], angular: [0.0, 0.0, 12.0, 0.0, 0.0, 0.0] }]
            .into_iter(),
    );
    let frame = [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
    let arm = [-angle.cos() / 2.0, -angle.sin() / 2.0, 0.0];
    w.push([Factored::NONE, 0], frame, [[0.0; 3], arm]);
    (w, vec![Friction::Sliding { mu, direction: [direction, 0.0] }])
}

#[test]
fn a_planar_contact_sticks_and_slides_whichever_tangent_lies_in_the_plane() {
    // The frame of a floor has its second tangent in the plane, that of a slope its first.
    for n in [[0.0, 1.0, 0.0], [0.6, 0.8, 0.0]] {
        let (t1, t2) = crate::math::tangents(n.into());
        let mut w = Factored::default();
        w.reset([InverseMass { linear: [0.5, 0.5, 0.0], ..InverseMass::default() }].into_iter());
        w.push([Factored::NONE, 0], [n, t1.into(), t2.into()], [[0.0; 3]; 2]);
        for (push, class, friction) in
            [(3.0, Class::Static, 3.0), (8.0, Class::Sliding, 5.0), (-8.0, Class::Sliding, -5.0)]
        {
            // A normal force of 20 N; friction up to half of it.
            let along = [n[1] * push, -n[0] * push, 0.0];
            let a: [f64; 6] =
                std::array::from_fn(|i| if i < 3 { along[i] - 10.0 * n[i] } else { 0.0 });
            let b = [w.to_local(0, &[a])];
            let delassus = Delassus::Factored(w.clone());
            let friction_law = [Friction::Static { mu: 0.5 }];
            let problem = ForceProblem { w: &delassus, b: &b, friction: &friction_law };
            let (forces, classes, report) = solve(&problem, &Dantzig::default());
            assert_eq!((report.outcome, classes[0]), (Outcome::Solved, class));
            let f = t1 * forces[0][1] + t2 * forces[0][2];
            let expected = -2.0 * friction;
            let found = f.x * n[1] - f.y * n[0];
            assert!((found - expected).abs() < 1e-9 && (forces[0][0] - 20.0).abs() < 1e-9);
        }
    }
}

#[test]
fn painleves_rod_is_recognized_as_inconsistent() {
    // W_nn = 1 + 3 cos², W_nt = -3 sin cos (unit length, mass): f_N (W_nn + μ s W_nt) = -b.
    let angle: f64 = 1.0;
    let (nn, nt) = (1.0 + 3.0 * angle.cos().powi(2), -3.0 * angle.sin() * angle.cos());
    let critical = -nn / nt;
    for (mu, outcome) in
        [(0.9 * critical, Outcome::Solved), (1.1 * critical, Outcome::Inconsistent { contact: 0 })]
    {
        let (w, friction) = painleve(angle, mu, 1.0);
        let w = Delassus::Factored(w);
        let problem = ForceProblem { w: &w, b: &[[-9.81, 0.3, 0.0]], friction: &friction };
        let (forces, _, report) = solve(&problem, &Dantzig::default());
        assert_eq!(report.outcome, outcome, "{report:?}");
        if outcome == Outcome::Solved {
            let expected = 9.81 / (nn + mu * nt);
            assert!((forces[0][0] / expected - 1.0).abs() < 1e-10);
            assert!((forces[0][1] / (mu * expected) - 1.0).abs() < 1e-10);
        }
        // Friction in the other direction presses the rod less: always solvable.
        let (w, friction) = painleve(angle, mu, -1.0);
        let w = Delassus::Factored(w);
        let problem = ForceProblem { w: &w, b: &[[-9.81, 0.3, 0.0]], friction: &friction };
        assert_eq!(solve(&problem, &Dantzig::default()).2.outcome, Outcome::Solved);
    }
}

#[test]
fn an_empty_problem_and_numbers_that_are_not_finite_are_handled() {
    let w = Delassus::Blocks(Blocks::default());
    let problem = ForceProblem { w: &w, b: &[], friction: &[] };
    assert_eq!(solve(&problem, &Dantzig::default()).2.outcome, Outcome::Solved);
    let pile = random_problem(1, 4, 6);
    let friction = friction_of(&pile.laws);
    let mut b = pile.v_rel_free.clone();
    b[2][1] = f64::NAN;
    let problem = ForceProblem { w: &pile.w, b: &b, friction: &friction };
    let (forces, _, report) = solve(&problem, &Dantzig::default());
    assert_ne!(report.outcome, Outcome::Solved);
    assert!(forces.as_flattened().iter().all(|f| f.is_finite()));
}

/// A beam of 1 kg on `n` supports in the plane: redundant beyond the second.
fn beam(n: usize) -> (Delassus, Vec<[f64; 3]>, Vec<Friction>) {
    let mut w = Factored::default();
    let mass = InverseMass { linear: [1.0, 1.0, 0.0], angular: [0.0, 0.0, 12.0, 0.0, 0.0, 0.0] };
    w.reset([mass].into_iter());
    for k in 0..n {
        let x = k as f64 / (n - 1) as f64 - 0.5;
        let frame = [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]];
        w.push([Factored::NONE, 0], frame, [[0.0; 3], [x, -0.1, 0.0]]);
    }
    let pushed = [[1.0, -10.0, 0.0, 0.0, 0.0, 0.0]];
    let b = (0..n).map(|a| w.to_local(a, &pushed)).collect();
    (Delassus::Factored(w), b, vec![Friction::Static { mu: 0.5 }; n])
}

#[test]
fn redundant_supports_carry_the_weight_together_and_known_forces_are_kept() {
    for n in [2, 3, 7, 40] {
        let (w, b, friction) = beam(n);
        let problem = ForceProblem { w: &w, b: &b, friction: &friction };
        let (mut forces, mut classes, report) = solve(&problem, &Dantzig::default());
        assert_eq!(report.outcome, Outcome::Solved, "{n} supports");
        let sum = |i: usize| forces.iter().map(|f| f[i]).sum::<f64>();
        assert!((sum(0) - 10.0).abs() < 1e-9 && (sum(1) - 1.0).abs() < 1e-9, "{n}: {forces:?}");
        assert!(classes.iter().all(|class| *class != Class::Sliding));
        let before = forces.clone();
        let scratch = &mut Scratch::default();
        let again = Dantzig::default().resume(&problem, &mut forces, &mut classes, scratch);
        assert_eq!((again.outcome, again.pivots), (Outcome::Solved, 0), "{n} supports");
        let off = before.as_flattened().iter().zip(forces.as_flattened());
        let off = off.fold(0.0, |most: f64, (x, y)| most.max((x - y).abs()));
        // Rounding of accelerations over the compliance.
        assert!(off < 1e-7, "{n} supports: {off:e}");
    }
}

#[test]
fn the_contact_solver_finds_impulses_of_planar_problems_and_hands_over_other_laws() {
    let (w, v_rel_free, _) = beam(3);
    let law = Law::Coulomb { friction: 0.05 };
    let mut problem = ContactProblem {
        w,
        v_rel_free,
        laws: vec![law; 3],
        approach_scale: 1.0,
        ..ContactProblem::default()
    };
    let solver: &dyn ContactSolver = &Dantzig::default();
    for law in [law, Law::Bilateral] {
        problem.laws[1] = law;
        let mut impulses = Vec::new();
        let report = solver.solve(&problem, &mut impulses, &mut Scratch::default());
        assert!(report.converged && report.residual < 1e-8, "{law:?}: {report:?}");
        let again = solver.solve(&problem, &mut impulses, &mut Scratch::default());
        assert!(again.converged, "{law:?}: {again:?}");
    }
}

#[test]
fn contradictory_accelerations_are_recognized_in_islands_of_any_size() {
    // Two walls that approach each other squeeze a body, whatever the forces.
    for n in [1, 20] {
        let mut w = Factored::default();
        let mass = InverseMass { linear: [1.0, 1.0, 0.0], ..InverseMass::default() };
        w.reset([mass].into_iter());
        let mut b = Vec::new();
        for side in [1.0, -1.0].repeat(n) {
            let frame = [[side, 0.0, 0.0], [0.0, side, 0.0], [0.0, 0.0, 1.0]];
            w.push([Factored::NONE, 0], frame, [[0.0; 3]; 2]);
            b.push([-1.0, 0.0, 0.0]);
        }
        let (w, friction) = (Delassus::Factored(w), vec![Friction::Static { mu: 0.3 }; 2 * n]);
        let problem = ForceProblem { w: &w, b: &b, friction: &friction };
        let (forces, _, report) = solve(&problem, &Dantzig::default());
        assert!(matches!(report.outcome, Outcome::Inconsistent { .. }), "{n}: {report:?}");
        assert!(forces.iter().all(|f| *f == [0.0; 3]));
    }
}

use super::*;
use crate::friction::fixtures::random_problem;
use crate::friction::{Blocks, ContactProblem, Factored, InverseMass, Law};

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

//! The factored operator against its definition.

use super::*;
use crate::friction::Delassus;
use crate::friction::fixtures::{add_moments, random_problem};

fn random(seed: u64) -> Factored {
    let mut problem = random_problem(seed, 10, 30);
    add_moments(&mut problem);
    let Delassus::Factored(w) = problem.w else { panic!("the problem is factored") };
    w
}

fn impulses(n: usize, phase: f64) -> Vec<[f64; 3]> {
    (0..n).map(|k| [0, 1, 2].map(|i| (phase + (3 * k + i) as f64).sin())).collect()
}

/// All velocities `W I`.
fn product(w: &Factored, impulses: &[[f64; 3]]) -> Vec<[f64; 3]> {
    let mut velocity = Vec::new();
    w.start(impulses, &mut velocity);
    (0..impulses.len()).map(|a| w.velocity(a, impulses, &velocity)).collect()
}

fn inner(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    a.as_flattened().iter().zip(b.as_flattened()).map(|(x, y)| x * y).sum()
}

#[test]
fn the_operator_is_symmetric_and_positive_semidefinite() {
    for seed in 0..10 {
        let w = random(seed);
        let n = w.contacts().len() + w.turning().len();
        let (r, s) = (impulses(n, 0.3), impulses(n, 1.7));
        let (wr, ws) = (product(&w, &r), product(&w, &s));
        let size = inner(&r, &wr).abs().max(inner(&s, &ws));
        assert!((inner(&r, &ws) - inner(&s, &wr)).abs() < 1e-13 * size);
        // Twice the kinetic energy that the impulses give to bodies at rest.
        assert!(inner(&r, &wr) > 0.0);
    }
}

#[test]
fn diagonal_blocks_and_trace_are_those_of_unit_impulses() {
    let w = random(4);
    let n = w.contacts().len() + w.turning().len();
    let mut trace = 0.0;
    for a in 0..n {
        for k in 0..3 {
            let mut unit = vec![[0.0; 3]; n];
            unit[a][k] = 1.0;
            let column = product(&w, &unit)[a];
            for i in 0..3 {
                assert!((column[i] - w.diagonal(a)[i][k]).abs() < 1e-13, "{a} {i} {k}");
            }
            trace += column[k];
        }
    }
    assert!((trace - w.trace()).abs() < 1e-12 * trace);
}

#[test]
fn adding_changes_one_by_one_equals_starting_from_the_sum() {
    let w = random(5);
    let n = w.contacts().len() + w.turning().len();
    let all = impulses(n, 0.0);
    let (mut whole, mut grown) = (Vec::new(), Vec::new());
    w.start(&all, &mut whole);
    w.start(&vec![[0.0; 3]; n], &mut grown);
    for (a, r) in all.iter().enumerate() {
        w.add(a, *r, &mut grown);
    }
    for (x, y) in whole.as_flattened().iter().zip(grown.as_flattened()) {
        assert!((x - y).abs() < 1e-14, "{x} {y}");
    }
}

#[test]
fn impulses_between_two_bodies_conserve_momentum() {
    let mut w = Factored::default();
    let masses = [0.5, 2.0];
    w.reset(masses.into_iter().map(|m| InverseMass { linear: [m; 3], angular: [1.0; 6] }));
    let frame = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    w.push([0, 1], frame, [[0.1, 0.2, 0.3], [-0.3, 0.1, 0.0]]);
    let mut velocity = Vec::new();
    w.velocity_change(&[[0.7, -0.2, 0.4]], &mut velocity);
    for i in 0..3 {
        let momentum: f64 = (0..2).map(|b| velocity[b][i] / masses[b]).sum();
        assert!(momentum.abs() < 1e-15);
    }
}

#[test]
fn a_side_given_as_rows_is_equivalent_to_the_body() {
    // A body of unit mass and inertia, once as a block and once as rows of its six velocities.
    let unit = InverseMass { linear: [1.0; 3], angular: [1.0, 1.0, 1.0, 0.0, 0.0, 0.0] };
    let frame = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let arm = [0.2, -0.1, 0.3];
    let mut plain = Factored::default();
    plain.reset([unit].into_iter());
    plain.push([Factored::NONE, 0], frame, [[0.0; 3], arm]);
    let mut by_rows = Factored::default();
    by_rows.reset([InverseMass::default()].into_iter());
    by_rows.push([Factored::NONE; 2], frame, [[0.0; 3]; 2]);
    let mut rows = Vec::new();
    for axis in frame {
        rows.extend(axis);
        rows.extend(cross(arm, axis));
    }
    by_rows.push_rows(0, &rows, &rows);
    let r = [[0.4, -0.8, 0.5]];
    let (a, b) = (product(&plain, &r), product(&by_rows, &r));
    for k in 0..3 {
        assert!((a[0][k] - b[0][k]).abs() < 1e-15, "{a:?} {b:?}");
    }
    assert_eq!(plain.trace(), by_rows.trace());
    assert!(!by_rows.is_immovable(0));
}

#[test]
fn removing_contacts_leaves_the_others_unchanged() {
    let problem = random_problem(6, 10, 12);
    let Delassus::Factored(mut w) = problem.w else { panic!("the problem is factored") };
    let n = w.contacts().len();
    let gone: Vec<bool> = (0..n).map(|k| k % 3 == 1).collect();
    let kept: Vec<[[f64; 3]; 3]> = (0..n).filter(|k| !gone[*k]).map(|k| *w.diagonal(k)).collect();
    w.remove(&gone);
    assert_eq!(w.contacts().len(), kept.len());
    let trace: f64 = kept.iter().map(|b| b[0][0] + b[1][1] + b[2][2]).sum();
    assert!((trace - w.trace()).abs() < 1e-12 * trace);
    for (a, block) in kept.iter().enumerate() {
        assert_eq!(w.diagonal(a), block);
    }
}

#[test]
fn velocity_changes_of_many_contacts_do_not_depend_on_the_number_of_threads() {
    // Enough contacts for several tasks.
    let problem = random_problem(7, 600, 6000);
    let Delassus::Factored(w) = problem.w else { panic!("the problem is factored") };
    let r = impulses(w.contacts().len(), 0.1);
    let mut parallel = Vec::new();
    w.velocity_change(&r, &mut parallel);
    let mut serial = vec![[0.0; 6]; w.n_blocks()];
    for (a, r) in r.iter().enumerate() {
        w.push_impulse(a, *r, &mut serial);
    }
    assert_eq!(parallel, serial);
}

#[test]
fn blocks_multiply_like_the_factors() {
    let problem = random_problem(3, 8, 20);
    let Delassus::Factored(w) = &problem.w else { panic!("the problem is factored") };
    let (blocks, r) = (w.to_blocks(), impulses(w.contacts().len(), 0.5));
    let expected = product(w, &r);
    for (a, u) in expected.iter().enumerate() {
        let product = blocks.velocity(a, &r, &Vec::new());
        for k in 0..3 {
            assert!((product[k] - u[k]).abs() < 1e-13, "{a} {k}");
        }
        assert_eq!(blocks.block(a, a), Some(blocks.diagonal(a)));
    }
    assert!((blocks.trace() - w.trace()).abs() < 1e-12 * w.trace());
}

#[test]
fn locked_contacts_are_immovable_in_some_direction() {
    let frame = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let locked = |linear: [f64; 3]| {
        let mut w = Factored::default();
        w.reset([InverseMass { linear, angular: [0.0; 6] }].into_iter());
        w.push([Factored::NONE, 0], frame, [[0.0; 3]; 2]);
        (w.contacts()[0].is_locked(), w.is_immovable(0))
    };
    assert_eq!(locked([1.0, 1.0, 1.0]), (false, false));
    assert_eq!(locked([1.0, 1.0, 0.0]), (true, false));
    assert_eq!(locked([0.0, 1.0, 1.0]), (true, true));
}

#[test]
fn selected_contacts_act_as_they_do_among_all_others() {
    let mut w = random(6);
    // A contact with a side over two blocks, as for a mechanism.
    let rows: Vec<f64> = (0..36).map(|k| f64::from(k).sin()).collect();
    let first = w.masses().len() as u32;
    let masses: Vec<_> = w.masses().iter().copied().chain([InverseMass::default(); 2]).collect();
    let contacts = w.contacts().to_vec();
    w.reset(masses.into_iter());
    for c in &contacts {
        w.push(c.blocks, c.frame, c.arms);
    }
    w.push_rows(first, &rows, &rows);
    let n = w.contacts().len();
    let chosen = [2, 5, 6, n as u32 - 1];
    let mut part = Factored::default();
    part.select(&w, &chosen);
    let few = impulses(chosen.len(), 0.4);
    let mut all = vec![[0.0; 3]; n];
    for (a, r) in chosen.iter().zip(&few) {
        all[*a as usize] = *r;
    }
    let (found, expected) = (product(&part, &few), product(&w, &all));
    for (k, a) in chosen.iter().enumerate() {
        assert_eq!(found[k], expected[*a as usize]);
        assert_eq!(part.diagonal(k), w.diagonal(*a as usize));
    }
}

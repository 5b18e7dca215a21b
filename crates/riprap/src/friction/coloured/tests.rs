use super::*;
use crate::friction::{InverseMass, Law, Rolling, residual};
use crate::math::{Vec3, tangents};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Blocks in a loose chain with manifolds of one to four points between neighbours and to the ground, falling together.
pub(super) fn chain(seed: u64, blocks: usize) -> (Factored, ContactProblem) {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut w = Factored::default();
    w.reset((0..blocks).map(|_| InverseMass {
        linear: [rng.random_range(0.5..2.0); 3],
        angular: [3.0, 4.0, 5.0, 0.5, -0.3, 0.2].map(|x| x * rng.random_range(0.9..1.1)),
    }));
    let mut problem = ContactProblem { approach_scale: 1.0, ..Default::default() };
    for k in 0..blocks as u32 {
        let ground = k % 3 == 0;
        let others = [if ground { Factored::NONE } else { k - 1 }, if k > 2 { k - 3 } else { k }];
        for other in others {
            if other == k {
                continue;
            }
            let n = Vec3::from_fn(|i, _| rng.random_range(-0.5..0.5) + f64::from(i as u8 / 2));
            let n = n.normalize();
            let (t1, t2) = tangents(n);
            let centre: [f64; 3] = std::array::from_fn(|_| rng.random_range(-0.3..0.3));
            for _ in 0..rng.random_range(1..5) {
                let spread: [f64; 3] = std::array::from_fn(|_| rng.random_range(-0.1..0.1));
                let arm =
                    |sign: f64| std::array::from_fn(|i| centre[i] + spread[i] + sign * 0.5 * n[i]);
                w.push([other, k], [n.into(), t1.into(), t2.into()], [arm(1.0), arm(-1.0)]);
                problem.laws.push(Law::Coulomb { friction: if k % 7 == 0 { 0.0 } else { 0.6 } });
            }
        }
    }
    let free: Vec<[f64; 6]> = (0..blocks)
        .map(|_| std::array::from_fn(|i| rng.random_range(-0.3..0.3) - f64::from(u8::from(i == 2))))
        .collect();
    problem.v_rel_free = (0..w.contacts().len()).map(|a| w.to_local(a, &free)).collect();
    (w, problem)
}

/// Uses colours for small problems too.
fn always(tolerance: f64) -> Coloured {
    Coloured { fewest: 0, ..Coloured::tolerance(tolerance) }
}

fn solve(solver: &dyn ContactSolver, problem: &ContactProblem) -> (Impulses, SolveReport) {
    let mut impulses = Vec::new();
    let report = solver.solve(problem, &mut impulses, &mut Scratch::default());
    (impulses, report)
}

#[test]
fn packed_contacts_are_solved_like_by_the_reference_solver() {
    // Some chains jam so that no Gauss–Seidel method converges; the ones used here are solved by
    // plain sweeps as well.
    for seed in [0, 6, 8, 9] {
        let (w, mut problem) = chain(seed, 40);
        problem.w = Delassus::Factored(w);
        let (impulses, report) = solve(&always(1e-9), &problem);
        assert!(report.converged, "seed {seed}: {report:?}");
        let judged = residual(&problem, &impulses);
        let relative = judged.relative_to_impulses();
        assert!(relative <= 1e-9 * (1.0 + 1e-6), "{relative:e}");
        assert!((relative - report.residual).abs() <= 1e-6 * relative + 1e-13, "the same measure");
        for (r, law) in impulses.iter().zip(&problem.laws) {
            let mu = law.friction().unwrap();
            assert!(r[0] >= 0.0 && r[1].hypot(r[2]) <= mu * r[0] * (1.0 + 1e-14));
        }
        // Impulses of several points are not unique; here the resulting velocities are.
        let (readable, report) = solve(&ConjugateGradient::tolerance(1e-9), &problem);
        assert!(report.converged, "seed {seed}: {report:?}");
        let Delassus::Factored(w) = &problem.w else { unreachable!() };
        let (mut a, mut b) = (Vec::new(), Vec::new());
        w.velocity_change(&impulses, &mut a);
        w.velocity_change(&readable, &mut b);
        for (x, y) in a.as_flattened().iter().zip(b.as_flattened()) {
            assert!((x - y).abs() < 1e-6, "seed {seed}: {x} {y}");
        }
    }
}

/// Moments on the manifolds of a chain.
pub(super) fn resist(w: &mut Factored, problem: &mut ContactProblem) {
    let n = w.contacts().len();
    let mut k = 0;
    while k < n {
        let (first, c) = (k, w.contacts()[k]);
        while k < n && w.contacts()[k].frame == c.frame && w.contacts()[k].blocks == c.blocks {
            k += 1;
        }
        if first % 3 == 1 {
            continue;
        }
        w.push_turning(c.blocks, 0.4);
        problem.v_rel_free.push([0.2, -0.1, 0.3]);
        problem.laws.push(Law::Rolling);
        problem.rolling.push(Rolling {
            contacts: [first as u32, k as u32],
            ratio: 0.05,
            length: 0.4,
        });
    }
}

#[test]
fn moments_of_rolling_resistance_are_solved_like_by_the_reference_solver() {
    for seed in [0, 6, 8, 9] {
        let (mut w, mut problem) = chain(seed, 40);
        resist(&mut w, &mut problem);
        assert!(problem.rolling.len() > 20);
        problem.w = Delassus::Factored(w);
        let (packed, report) = solve(&always(1e-9), &problem);
        assert!(report.converged, "seed {seed}: {report:?}");
        let judged = residual(&problem, &packed);
        assert!(judged.relative_to_impulses() <= 1.01e-9, "seed {seed}: {judged:?}");
        let (plain, report) = solve(&ConjugateGradient::tolerance(1e-9), &problem);
        assert!(report.converged, "seed {seed}: {report:?}");
        let first = problem.first_rolling();
        let mut at_limit = 0;
        for (k, rolling) in problem.rolling.iter().enumerate() {
            let (a, limit) = (first + k, rolling.limit(&packed));
            let size = packed[a].iter().map(|x| x * x).sum::<f64>().sqrt();
            assert!(size <= limit * (1.0 + 1e-12), "{size} {limit}");
            at_limit += usize::from(limit > 0.0 && size > 0.999 * limit);
        }
        assert!(at_limit > 0);
        assert_eq!(plain.len(), packed.len());
    }
}

#[test]
fn results_are_bitwise_identical_for_any_width_and_number_of_threads() {
    let (mut w, mut problem) = chain(1, 3000);
    resist(&mut w, &mut problem);
    assert!(w.contacts().len() > 8000);
    problem.w = Delassus::Factored(w);
    let mut options = GaussSeidelOptions::tolerance(1e-12);
    // Up to the second bout of conjugate gradients, with Anderson acceleration in between.
    options.max_sweeps = BOUT + BOUT / 4 + 20;
    let mut all = Vec::new();
    for width in [Width::One, Width::Four, Width::Eight] {
        all.push(solve(&Coloured { width, options, fewest: 0 }, &problem));
    }
    for threads in [1, 2, 3, 8, 16] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        all.push(
            pool.install(|| {
                solve(&Coloured { width: Width::Widest, options, fewest: 0 }, &problem)
            }),
        );
    }
    assert_eq!(all[0].1.sweeps, options.max_sweeps, "too easy: {:?}", all[0].1);
    for other in &all[1..] {
        assert!(all[0] == *other, "{:?} {:?}", all[0].1, other.1);
    }
}

#[test]
fn contacts_that_do_not_fit_a_pack_are_solved_individually() {
    // A heavy plate on a hundred blocks (more contacts than colours), one of them in planar motion,
    // and a joint.
    let (mut w, mut problem) = (Factored::default(), ContactProblem::default());
    problem.approach_scale = 1.0;
    let plate = 100;
    w.reset((0..=plate).map(|k| InverseMass {
        linear: if k == 5 { [1.0, 0.0, 1.0] } else { [1.0; 3] },
        angular: if k == 5 {
            [0.0, 2.0, 0.0, 0.0, 0.0, 0.0]
        } else {
            [2.0, 2.0, 2.0, 0.0, 0.0, 0.0]
        },
    }));
    let frame = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    for k in 0..plate as u32 {
        let place = [f64::from(k % 10) - 4.5, f64::from(k / 10) - 4.5, 0.0];
        for (first, second, arm) in [
            (Factored::NONE, k, [0.0; 3]),
            (k, plate as u32, [0.01 * place[0], 0.01 * place[1], 0.0]),
        ] {
            w.push([first, second], frame, [[0.0; 3], arm]);
            problem.v_rel_free.push([if first == k { 0.0 } else { -1.0 }, 0.1, 0.0]);
            problem.laws.push(Law::Coulomb { friction: 0.5 });
        }
    }
    w.push([3, 4], frame, [[0.5, 0.0, 0.0], [-0.5, 0.0, 0.0]]);
    problem.v_rel_free.push([0.1, 0.2, 0.3]);
    problem.laws.push(Law::Bilateral);
    problem.w = Delassus::Factored(w);
    let (impulses, report) = solve(&always(1e-8), &problem);
    assert!(report.converged, "{report:?}");
    let judged = residual(&problem, &impulses);
    assert!((judged.relative_to_impulses() - report.residual).abs() <= 1e-6 * report.residual);
    assert!(judged.approach <= 1e-8);
}

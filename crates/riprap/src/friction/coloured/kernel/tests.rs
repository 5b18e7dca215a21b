//! The kernels against the reference solver and the reference residual.

use super::super::packs::{ARM, BLOCK, COUPLING, FRAME, HEADER, INVERSE, Packs, SLIP, TANGENTIAL};
use super::super::tests::chain;
use super::*;
use crate::friction::local::solve_contact;
use crate::friction::residual::Residual;
use crate::friction::{ContactProblem, Factored, Law, Operator};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

fn with_every_width(mut work: impl FnMut(Kernels)) {
    for width in [Width::One, Width::Four, Width::Eight] {
        work(Kernels::choose(width));
    }
}

/// A kernel that solves the contacts of a row.
struct SolveOnce<'a> {
    point: &'a mut Point,
    mu: &'a Row,
    u: &'a [Row; 3],
    r: &'a [Row; 3],
    new: &'a mut [Row; 3],
}

impl Kernel for SolveOnce<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self, simd: L::Simd) {
        for lane in (0..LANES).step_by(L::N) {
            let at = At::<L> { simd, lane };
            let (mu, block) = (L::load(simd, self.mu, lane), Block::load(at, self.point));
            let (u, r) = (at.three(self.u, 0), at.three(self.r, 0));
            let new = solve(at, self.point, &block, mu, u, r, 1e-15);
            at.put3(self.new, 0, new);
        }
    }
}

/// A block whose fields are all exact in single precision: `W`, and the fields as stored in a
/// point.
fn exact_block(rng: &mut Pcg64) -> ([[f64; 3]; 3], [f64; 7]) {
    let short = |rng: &mut Pcg64| f64::from(rng.random_range(-32i8..=32)) / 64.0;
    let w_nn = 2f64.powi(rng.random_range(-6..6));
    let s = [short(rng), short(rng)];
    let (a11, a22) = (w_nn * (1.0 + short(rng)), w_nn * (1.0 + short(rng)));
    let a12 = 0.25 * w_nn * short(rng);
    let w = [
        [w_nn, w_nn * s[0], w_nn * s[1]],
        [w_nn * s[0], a11 + w_nn * s[0] * s[0], a12 + w_nn * s[0] * s[1]],
        [w_nn * s[1], a12 + w_nn * s[0] * s[1], a22 + w_nn * s[1] * s[1]],
    ];
    (w, [w_nn, 1.0 / w_nn, s[0], s[1], a11, a12, a22])
}

const FIELDS: [usize; 7] =
    [W_NN, INVERSE, COUPLING, COUPLING + 1, TANGENTIAL, TANGENTIAL + 1, TANGENTIAL + 2];

fn put_block(point: &mut Point, lane: usize, fields: &[f64; 7]) {
    for (field, x) in FIELDS.into_iter().zip(fields) {
        assert_eq!(f64::from(*x as f32), *x, "exact in single precision");
        point[BLOCK + field / 2].put_single(LANES * (field % 2) + lane, *x as f32);
    }
}

#[test]
fn a_contact_is_solved_like_by_the_reference_solver() {
    let mut rng = Pcg64::seed_from_u64(3);
    let (mut open, mut stuck, mut slid) = (0, 0, 0);
    for _ in 0..400 {
        let mut point = [Row::default(); super::super::packs::POINT];
        let (mut mu, mut u, mut r) = (Row::default(), [Row::default(); 3], [Row::default(); 3]);
        let mut right = [[0.0; 3]; LANES];
        for lane in 0..LANES {
            let (w, fields) = exact_block(&mut rng);
            put_block(&mut point, lane, &fields);
            let friction = [0.0, 0.05, 0.3, 0.6, 2.0][rng.random_range(0..5)];
            let old: [f64; 3] = std::array::from_fn(|_| rng.random_range(-1.0..1.0) / w[0][0]);
            let q = std::array::from_fn(|_| rng.random_range(-1.0..1.0));
            right[lane] = solve_contact(&w, q, friction);
            mu.0[lane] = friction;
            for i in 0..3 {
                r[i].0[lane] = old[i];
                u[i].0[lane] = q[i] + (0..3).map(|k| w[i][k] * old[k]).sum::<f64>();
            }
            let tangential = right[lane][1].hypot(right[lane][2]);
            let limit = friction * right[lane][0];
            open += usize::from(right[lane][0] == 0.0);
            stuck += usize::from(right[lane][0] > 0.0 && tangential < 0.999 * limit);
            slid +=
                usize::from(friction > 0.0 && right[lane][0] > 0.0 && tangential > 0.999 * limit);
        }
        let mut all = Vec::new();
        with_every_width(|kernels| {
            let (mut point, mut new) = (point, [Row::default(); 3]);
            kernels.run(SolveOnce { point: &mut point, mu: &mu, u: &u, r: &r, new: &mut new });
            for lane in 0..LANES {
                let found = new.map(|row| row.0[lane]);
                let scale = right[lane].iter().map(|x| x.abs()).sum::<f64>() + r[0].0[lane].abs();
                for i in 0..3 {
                    // Both find the root to 1e-15; the sum that removes the old impulse is rounded.
                    assert!(
                        (found[i] - right[lane][i]).abs() <= 1e-11 * scale,
                        "{kernels:?}: {found:?} instead of {:?}",
                        right[lane]
                    );
                }
                assert!(found[0] >= 0.0);
                assert!(found[1].hypot(found[2]) <= mu.0[lane] * found[0] * (1.0 + 1e-14));
            }
            all.push((new, point));
        });
        // The slip from which the next solve starts is included.
        assert!(all.iter().all(|one| one == &all[0]), "bitwise identical for every width");
    }
    assert!(open > 500 && stuck > 200 && slid > 500, "{open} {stuck} {slid}");
}

#[test]
fn a_solve_started_from_its_own_slip_does_not_move() {
    let mut rng = Pcg64::seed_from_u64(4);
    for _ in 0..100 {
        let mut point = [Row::default(); super::super::packs::POINT];
        let (mut mu, mut u) = (Row([0.3; LANES]), [Row::default(); 3]);
        for lane in 0..LANES {
            put_block(&mut point, lane, &exact_block(&mut rng).1);
            mu.0[lane] = rng.random_range(0.1..1.0);
            u[0].0[lane] = -rng.random_range(0.1..1.0);
            (1..3).for_each(|i| u[i].0[lane] = rng.random_range(-2.0..2.0));
        }
        let none = [Row::default(); 3];
        let (mut first, mut again) = (none, none);
        let mut solve = |new: &mut [Row; 3]| {
            Kernels::One.run(SolveOnce { point: &mut point, mu: &mu, u: &u, r: &none, new });
        };
        solve(&mut first);
        solve(&mut again);
        for lane in 0..LANES {
            for i in 0..3 {
                let (a, b) = (first[i].0[lane], again[i].0[lane]);
                // At most one more Newton step.
                assert!((a - b).abs() <= 1e-12 * first[0].0[lane], "{a} {b}");
            }
        }
        let slips = |row: &Row| row.0.iter().filter(|slip| **slip > 0.0).count();
        assert!(slips(&point[SLIP]) > 0, "some slide");
    }
}

struct Maps<'a> {
    r: &'a [Row; 3],
    u: &'a [Row; 3],
    mu: &'a Row,
    f: &'a mut [Row; 3],
    ball: &'a mut [Row; 3],
}

impl Kernel for Maps<'_> {
    #[inline(always)]
    fn run<L: Lanes>(self, simd: L::Simd) {
        for lane in (0..LANES).step_by(L::N) {
            let at = At::<L> { simd, lane };
            let (r, u, mu) =
                (at.three(self.r, 0), at.three(self.u, 0), L::load(simd, self.mu, lane));
            at.put3(self.f, 0, natural_map(at, r, u, mu));
            at.put3(self.ball, 0, into_ball(at, r, mu));
        }
    }
}

#[test]
fn the_natural_map_agrees_with_the_reference_and_points_inside_a_ball_stay() {
    let mut rng = Pcg64::seed_from_u64(5);
    for _ in 0..200 {
        let mut random = || Row(std::array::from_fn(|_| rng.random_range(-1.0..1.0)));
        let (r, u) = ([random(), random(), random()], [random(), random(), random()]);
        let mu = Row(random().0.map(|x| (x.abs() - 0.1).max(0.0)));
        with_every_width(|kernels| {
            let (mut f, mut ball) = ([Row::default(); 3], [Row::default(); 3]);
            kernels.run(Maps { r: &r, u: &u, mu: &mu, f: &mut f, ball: &mut ball });
            for lane in 0..LANES {
                let of = |rows: &[Row; 3]| [0, 1, 2].map(|i| rows[i].0[lane]);
                let law = Law::Coulomb { friction: mu.0[lane] };
                let right = law.natural_map(of(&r), of(&u), 0.0);
                for i in 0..3 {
                    assert!(
                        (of(&f)[i] - right[i]).abs() < 1e-15,
                        "a few rounding errors of numbers below 4"
                    );
                }
                let size = |x: [f64; 3]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
                if size(of(&r)) <= mu.0[lane] {
                    assert_eq!(of(&ball), of(&r));
                } else {
                    assert!((size(of(&ball)) - mu.0[lane]).abs() < 1e-15);
                }
            }
        });
    }
}

/// A problem in packs, with the lists that a job shares.
struct Laid {
    packs: Packs,
    velocity: Vec<Row>,
    masses: Vec<Row>,
    sums: Vec<[Row; 5]>,
    none: usize,
}

impl Laid {
    fn out(w: &Factored, problem: &ContactProblem, impulses: &[[f64; 3]]) -> Laid {
        let none = w.n_blocks();
        let mut packs = Packs::default();
        packs.survey(w, problem, impulses);
        packs.arrange(none, problem);
        for (k, pack) in packs.packs.iter().enumerate() {
            let rows = &mut packs.rows[pack.first as usize..][..pack.n_rows()];
            pack.fill(w, problem, impulses, packs.moments.get(k), rows);
        }
        let mut masses = vec![Row::default(); none + 1];
        for (row, m) in masses.iter_mut().zip(w.masses()) {
            let [xx, yy, zz, xy, xz, yz] = m.angular;
            *row = Row([xx, yy, zz, xy, xz, yz, m.linear[0], 0.0]);
        }
        let sums = vec![[Row::default(); 5]; packs.chunks.len()];
        Laid { packs, velocity: vec![Row::default(); none + 1], masses, sums, none }
    }

    fn start(&mut self, kernels: Kernels) {
        // SAFETY: this is the only thread, and it runs one chunk at a time.
        self.pass(kernels, |chunk, blocks| unsafe { Start::new(chunk, blocks) });
    }

    fn visit(&mut self, kernels: Kernels, sweep: &Sweep) {
        // SAFETY: as above.
        self.pass(kernels, |chunk, blocks| unsafe { Visit::new(chunk, blocks, sweep) });
    }

    fn measure(&mut self, kernels: Kernels, mobility: f64) {
        // SAFETY: as above.
        self.pass(kernels, |chunk, blocks| unsafe { Measure::new(chunk, blocks, mobility) });
    }

    /// Runs a pass over all chunks, in their order, on one thread.
    fn pass<'a, K: Kernel>(
        &'a mut self,
        kernels: Kernels,
        kernel: impl Fn(Chunk<'a>, Blocks<'a>) -> K,
    ) {
        let Packs { packs, rows, idle, chunks, .. } = &mut self.packs;
        let blocks = Blocks {
            velocity: Pointer::new(&mut self.velocity),
            masses: Pointer::new(&mut self.masses),
            none: self.none as u32,
        };
        let (mut rows, mut idle) = (&mut rows[..], &mut idle[..]);
        for (chunk, sums) in chunks.iter().zip(&mut self.sums) {
            let [first, end] = chunk.map(|k| k as usize);
            let packs = &packs[first..end];
            let n = packs.iter().map(Pack::n_rows).sum();
            let idle = idle.split_off_mut(..packs.len()).unwrap();
            let rows = take(&mut rows, n);
            kernels.run(kernel(Chunk { first, packs, idle, rows, sums }, blocks));
        }
    }
}

fn random_impulses(n: usize, seed: u64) -> Vec<[f64; 3]> {
    let mut rng = Pcg64::seed_from_u64(seed);
    let mut side = || rng.random_range(-0.3..0.3);
    (0..n).map(|_| [0.5 + side(), side(), side()]).collect()
}

#[test]
fn the_start_computes_the_velocities_of_the_impulses() {
    let (w, problem) = chain(2, 60);
    let impulses = random_impulses(problem.len(), 6);
    let mut right = Vec::new();
    w.velocity_change(&impulses, &mut right);
    with_every_width(|kernels| {
        let mut laid = Laid::out(&w, &problem, &impulses);
        assert!(laid.packs.single.is_empty());
        laid.start(kernels);
        for (row, right) in laid.velocity.iter().zip(&right) {
            for i in 0..6 {
                // Sums of about twenty terms in another order.
                assert!((row.0[i] - right[i]).abs() < 1e-13, "{kernels:?}: {row:?} {right:?}");
            }
        }
        assert_eq!(laid.velocity[w.n_blocks()], Row::default(), "immovable sides");
    });
}

#[test]
fn the_residual_agrees_with_the_reference() {
    let (w, problem) = chain(3, 60);
    let impulses = random_impulses(problem.len(), 7);
    let mobility = w.trace() / (3.0 * problem.len() as f64);
    let mut change = Vec::new();
    w.velocity_change(&impulses, &mut change);
    let mut right = Residual::default();
    for (a, r) in impulses.iter().enumerate() {
        let r = r.map(|x| mobility * x);
        let wr = w.to_local(a, &change);
        right.note(problem.laws[a], r, problem.v_rel_free[a], wr, 0.0);
    }
    with_every_width(|kernels| {
        let mut laid = Laid::out(&w, &problem, &impulses);
        laid.start(kernels);
        laid.measure(kernels, mobility);
        let sum = |row: usize| laid.sums.iter().flat_map(|s| s[row].0).sum::<f64>();
        let largest = laid.sums.iter().flat_map(|s| s[4].0).fold(0.0, f64::max);
        let Residual { natural_map, impulses, free, velocities, approach } = right;
        for (found, right) in (0..4).map(sum).zip([natural_map, impulses, free, velocities]) {
            // Sums of about a hundred squares in another order.
            assert!((found - right).abs() < 1e-12 * right, "{kernels:?}: {found} {right}");
        }
        assert!((largest - approach).abs() < 1e-13);
    });
}

#[test]
fn a_visit_leaves_velocities_consistent_with_the_impulses() {
    let (w, problem) = chain(4, 60);
    let impulses = random_impulses(problem.len(), 8);
    let sweep = Sweep { beta: 0.0, relaxation: 0.7, local: 1e-12, all: true, stir: 0.0 };
    let mut all = Vec::new();
    with_every_width(|kernels| {
        let mut laid = Laid::out(&w, &problem, &impulses);
        laid.start(kernels);
        for _ in 0..5 {
            laid.visit(kernels, &sweep);
        }
        let mut now = vec![[0.0; 3]; problem.len()];
        for pack in &laid.packs.packs {
            let rows = &laid.packs.rows[pack.first as usize..];
            for (lane, point, a) in pack.contacts() {
                let first = HEADER + super::super::packs::POINT * point;
                now[a] = [0, 1, 2].map(|i| rows[first + IMPULSE + i].0[lane]);
                let arms = [0, 1].map(|s| [0, 1, 2].map(|i| rows[first + ARM[s] + i].0[lane]));
                assert_eq!(arms, w.contacts()[a].arms, "input is unchanged");
                assert_eq!(rows[FRAME].0[lane], w.contacts()[a].frame[0][0]);
            }
        }
        let mut right = Vec::new();
        w.velocity_change(&now, &mut right);
        for (row, right) in laid.velocity.iter().zip(&right) {
            for i in 0..6 {
                // Five sweeps of incremental updates.
                assert!((row.0[i] - right[i]).abs() < 1e-12, "{kernels:?}: {row:?} {right:?}");
            }
        }
        all.push((now, laid.velocity, laid.sums));
    });
    assert!(all.iter().all(|one| one == &all[0]), "bitwise identical for every width");
}

#[test]
fn a_pack_that_changes_little_is_skipped_for_longer_and_longer() {
    let (w, problem) = chain(5, 30);
    let impulses = vec![[0.0; 3]; problem.len()];
    let mut laid = Laid::out(&w, &problem, &impulses);
    // No change is that large, so every pack is idle.
    let sweep = Sweep { beta: 0.0, relaxation: 1.0, local: 1e-6, all: false, stir: 1e9 };
    let mut visits = Vec::new();
    for _ in 0..20 {
        let before: Vec<u8> = laid.packs.idle.iter().map(|idle| idle.left).collect();
        laid.visit(Kernels::One, &sweep);
        visits.push(before.iter().all(|left| *left == 0));
        assert!(visits.last() == Some(&true) || before.iter().all(|left| *left > 0));
    }
    let visited: Vec<usize> = (0..20).filter(|k| visits[*k]).collect();
    assert_eq!(visited, [0, 2, 6, 14], "after one, three, and seven sweeps");
}

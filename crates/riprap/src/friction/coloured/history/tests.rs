//! The history of sweeps, against sums over plain copies of them.

use super::super::kernel::Sweep as HowToSweep;
use super::super::team::{Crowd, team};
use super::super::tests::{chain, resist};
use super::super::{Buffers, Coloured, ContactProblem, Delassus, Factored};
use super::*;
use crate::friction::Law;

/// A sweep that skips no contact.
const SWEEP: HowToSweep =
    HowToSweep { beta: 0.0, relaxation: 1.0, local: 1e-12, all: true, stir: 0.0 };

/// Runs `work` as the only member of a team on a chain with moments and single contacts.
fn alone(work: impl for<'a> Fn(&Member, &Job<'a>, &SharedHistory<'a>) + Sync) {
    let (mut w, mut problem) = chain(7, 80);
    resist(&mut w, &mut problem);
    problem.w = Delassus::Factored(w);
    let Delassus::Factored(w) = &problem.w else { unreachable!() };
    let mut impulses = vec![[0.0; 3]; problem.len()];
    let mut buffers = Buffers::default();
    buffers.packs.survey(w, &problem, &impulses);
    let solver = &Coloured::tolerance(1e-12);
    let problem = &problem;
    let (impulses, buffers) = (&mut impulses, &mut buffers);
    let crowd = &mut Crowd::default();
    team(
        1,
        crowd,
        || solver.prepare(w, problem, impulses, buffers, 1),
        |member, job| {
            job.begin(member);
            let history = job.share_history();
            work(member, job, &history);
        },
    );
}

/// Impulses and changes of all points, in the order of the history, and velocities.
struct Copy {
    impulses: Vec<Row>,
    changes: Vec<Row>,
    velocities: Vec<Row>,
}

fn copy(job: &Job) -> Copy {
    // SAFETY: the only member, which does nothing else at the same time.
    let (rows, velocities) = unsafe {
        (job.rows.slice(0..job.rows.len()), job.blocks.velocity.slice(0..job.blocks.none as usize))
    };
    let of = |field: usize| {
        let points = job.packs.iter().flat_map(|pack| {
            let first = pack.first as usize + HEADER;
            (0..(pack.points + pack.moments) as usize).map(move |k| first + POINT * k + field)
        });
        points.flat_map(|first| rows[first..first + 3].iter().copied()).collect()
    };
    Copy { impulses: of(IMPULSE), changes: of(DIRECTION), velocities: velocities.to_vec() }
}

fn dot(a: &[Row], b: &[Row]) -> f64 {
    a.iter().zip(b).flat_map(|(a, b)| a.0.into_iter().zip(b.0)).map(|(x, y)| x * y).sum()
}

fn difference(a: &[Row], b: &[Row]) -> Vec<Row> {
    a.iter().zip(b).map(|(a, b)| minus(a, b)).collect()
}

#[test]
fn products_are_those_of_the_differences_of_changes() {
    alone(|member, job, history| {
        let mut known = Combination::default();
        let mut sweeps: Vec<Copy> = Vec::new();
        for n in 0..9 {
            job.sweep(member, &SWEEP, false);
            sweeps.push(copy(job));
            job.note(member, history, &mut known);
            assert_eq!(known.len, n.min(MEMORY));
            let newest = sweeps.len() - 1;
            // The difference between sweeps k and k + 1 is in slot k modulo the memory.
            let kept = newest.saturating_sub(MEMORY)..newest;
            for k in kept.clone() {
                let dk = difference(&sweeps[k + 1].changes, &sweeps[k].changes);
                for l in kept.clone() {
                    let dl = difference(&sweeps[l + 1].changes, &sweeps[l].changes);
                    let (right, scale) = (dot(&dk, &dl), (dot(&dk, &dk) * dot(&dl, &dl)).sqrt());
                    let found = known.gram[k % MEMORY][l % MEMORY];
                    // Sums of a thousand products in another order.
                    assert!((found - right).abs() <= 1e-12 * scale, "{k} {l}: {found} {right}");
                }
                let along = dot(&dk, &sweeps[newest].changes);
                let scale = (dot(&dk, &dk) * dot(&sweeps[0].changes, &sweeps[0].changes)).sqrt();
                assert!((known.along[k % MEMORY] - along).abs() <= 1e-12 * scale);
            }
        }
    });
}

#[test]
fn a_combination_is_affine_and_its_velocities_are_those_of_its_impulses() {
    alone(|member, job, history| {
        let mut known = Combination::default();
        let mut sweeps: Vec<Copy> = Vec::new();
        for _ in 0..4 {
            job.sweep(member, &SWEEP, false);
            sweeps.push(copy(job));
            job.note(member, history, &mut known);
        }
        let factors = least(&known.gram, &known.along, known.len).unwrap();
        assert!(job.combine(member, history, &known));
        let combined = copy(job);
        let mut right = sweeps[3].impulses.clone();
        for k in 0..3 {
            let d = difference(&sweeps[k + 1].impulses, &sweeps[k].impulses);
            right.iter_mut().zip(&d).for_each(|(x, d)| subtract(x, factors[k], d));
        }
        assert_eq!(combined.impulses, right);
        // The velocities of the combination, and those computed from its impulses.
        job.restart(member);
        for (found, right) in combined.velocities.iter().zip(&copy(job).velocities) {
            for i in 0..6 {
                assert!((found.0[i] - right.0[i]).abs() < 1e-11, "{found:?} {right:?}");
            }
        }
    });
}

#[test]
fn returning_restores_the_recorded_sweep() {
    alone(|member, job, history| {
        let mut known = Combination::default();
        for _ in 0..3 {
            job.sweep(member, &SWEEP, false);
            job.note(member, history, &mut known);
        }
        let noted = copy(job);
        assert!(job.combine(member, history, &known));
        job.sweep(member, &SWEEP, false);
        assert!(copy(job).impulses != noted.impulses);
        job.return_to(member, history);
        let back = copy(job);
        assert!(back.impulses == noted.impulses && back.velocities == noted.velocities);
        known.forget();
        assert_eq!((known.len, known.begun), (0, false));
    });
}

#[test]
fn single_contacts_are_combined_too() {
    // A plate on more blocks than there are colours: most contacts are single.
    let (mut w, mut problem) = (Factored::default(), ContactProblem::default());
    let n = 80u32;
    let mass =
        crate::friction::InverseMass { linear: [1.0; 3], angular: [2.0, 2.0, 2.0, 0.0, 0.0, 0.0] };
    w.reset((0..=n).map(|_| mass));
    let frame = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    for k in 0..n {
        let arm = [0.01 * f64::from(k % 9) - 0.04, 0.01 * f64::from(k / 9) - 0.04, 0.0];
        for (blocks, speed) in [([Factored::NONE, k], -1.0), ([k, n], -0.2)] {
            w.push(blocks, frame, [[0.0; 3], arm]);
            problem.v_rel_free.push([speed, 0.1, 0.0]);
            problem.laws.push(Law::Coulomb { friction: 0.5 });
        }
    }
    let mut impulses = vec![[0.0; 3]; problem.len()];
    let mut buffers = Buffers::default();
    buffers.packs.survey(&w, &problem, &impulses);
    let solver = &Coloured::tolerance(1e-12);
    let (w, problem) = (&w, &problem);
    let (impulses, buffers) = (&mut impulses, &mut buffers);
    let crowd = &mut Crowd::default();
    team(
        1,
        crowd,
        || solver.prepare(w, problem, impulses, buffers, 1),
        |member, job| {
            assert!(job.single.len() > 10);
            job.begin(member);
            let (history, mut known) = (job.share_history(), Combination::default());
            let single = || {
                // SAFETY: the only member, which does nothing else at the same time.
                let all = unsafe { job.single.slice(0..job.single.len()) };
                all.iter().map(|s| s.impulse).collect::<Vec<_>>()
            };
            let mut sweeps = Vec::new();
            for _ in 0..3 {
                job.sweep(member, &SWEEP, false);
                sweeps.push(single());
                job.note(member, &history, &mut known);
            }
            let factors = least(&known.gram, &known.along, known.len).unwrap();
            assert!(job.combine(member, &history, &known));
            for (k, found) in single().iter().enumerate() {
                for i in 0..3 {
                    let right = (0..2).fold(sweeps[2][k][i], |x, n| {
                        x - factors[n] * (sweeps[n + 1][k][i] - sweeps[n][k][i])
                    });
                    assert_eq!(found[i], right);
                }
            }
            job.return_to(member, &history);
            assert_eq!(single(), sweeps[2]);
        },
    );
}

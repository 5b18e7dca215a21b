//! Every contact is placed exactly once, and no colour touches a block twice.

use super::super::tests::{chain, resist};
use super::*;
use std::collections::HashSet;

fn packed(seed: u64, blocks: usize, resisting: bool) -> (Factored, ContactProblem, Packs) {
    let (mut w, mut problem) = chain(seed, blocks);
    if resisting {
        resist(&mut w, &mut problem);
    }
    let impulses: Vec<[f64; 3]> =
        (0..problem.len()).map(|a| [a as f64, 0.5 * a as f64, -(a as f64)]).collect();
    let mut packs = Packs::default();
    packs.survey(&w, &problem, &impulses);
    packs.arrange(w.n_blocks(), &problem);
    for (k, pack) in packs.packs.iter().enumerate() {
        let rows = &mut packs.rows[pack.first as usize..][..pack.n_rows()];
        pack.fill(&w, &problem, &impulses, packs.moments.get(k), rows);
    }
    (w, problem, packs)
}

#[test]
fn every_contact_and_every_moment_is_in_one_lane_or_single() {
    for (seed, resisting) in [(0, false), (1, true), (2, true)] {
        let (_, problem, packs) = packed(seed, 200, resisting);
        let mut times = vec![0; problem.len()];
        packs.single.iter().for_each(|a| times[*a as usize] += 1);
        for (k, pack) in packs.packs.iter().enumerate() {
            pack.contacts().for_each(|(_, _, a)| times[a] += 1);
            for (_, k) in packs.moments.get(k).into_iter().flat_map(Pack::moments) {
                times[problem.first_rolling() + k] += 1;
            }
        }
        assert!(times.iter().all(|n| *n == 1), "seed {seed}");
        assert!(packs.single.is_sorted());
    }
}

#[test]
fn a_colour_touches_no_block_twice() {
    let (w, _, packs) = packed(3, 500, false);
    let none = w.n_blocks() as u32;
    assert!(packs.colours.len() > 2);
    for [first, end] in packs.colours.iter().map(|c| c.map(|k| k as usize)) {
        let mut touched = HashSet::new();
        for chunk in &packs.chunks[first..end] {
            for pack in &packs.packs[chunk[0] as usize..chunk[1] as usize] {
                for block in pack.blocks.as_flattened().iter().filter(|b| **b != none) {
                    assert!(touched.insert(*block) && *block < none);
                }
            }
        }
    }
}

#[test]
fn colours_chunks_packs_and_rows_are_contiguous() {
    let (_, _, packs) = packed(4, 500, true);
    let tiles = |ranges: &[[u32; 2]], n: usize| {
        assert_eq!((ranges[0][0], ranges[ranges.len() - 1][1] as usize), (0, n));
        assert!(ranges.windows(2).all(|two| two[0][1] == two[1][0]));
        assert!(ranges.iter().all(|[first, end]| first < end));
    };
    tiles(&packs.colours, packs.chunks.len());
    tiles(&packs.chunks, packs.packs.len());
    assert!(packs.chunks.iter().all(|[first, end]| (end - first) as usize <= CHUNK));
    let mut next = 0;
    for pack in &packs.packs {
        assert_eq!(pack.first, next);
        next += pack.n_rows() as u32;
    }
    assert_eq!(packs.rows.len(), next as usize);
    assert_eq!(packs.idle.len(), packs.packs.len());
    // The order in which members take them contains each chunk of each colour once.
    for [first, end] in &packs.colours {
        let mut shares = packs.shares[*first as usize..*end as usize].to_vec();
        shares.sort_unstable();
        assert!(shares.into_iter().eq(*first..*end));
    }
}

#[test]
fn rows_hold_the_data_of_the_contacts() {
    let (w, problem, packs) = packed(5, 100, true);
    for (k, pack) in packs.packs.iter().enumerate() {
        let rows = &packs.rows[pack.first as usize..][..pack.n_rows()];
        for (lane, point, a) in pack.contacts() {
            let c = &w.contacts()[a];
            let of = |row: usize, n: usize| (row..row + n).map(|row| rows[row].0[lane]);
            let at = HEADER + POINT * point;
            assert!(of(FRAME, 9).eq(c.frame.as_flattened().iter().copied()));
            assert_eq!(rows[FRICTION].0[lane], problem.laws[a].friction().unwrap());
            assert!(of(at + ARM[0], 3).eq(c.arms[0]) && of(at + ARM[1], 3).eq(c.arms[1]));
            assert!(of(at + FREE, 3).eq(problem.v_rel_free[a]));
            let (x, y) = (a as f64, 0.5 * a as f64);
            assert!(of(at + IMPULSE, 3).eq([x, y, -x]));
            assert!(of(at + DIRECTION, 3).eq([0.0; 3]) && rows[at + SLIP].0[lane] == 0.0);
        }
        for (lane, k) in packs.moments[k].iter().enumerate() {
            let at = pack.moment_row();
            let ratio = problem.rolling.get(*k as usize).map_or(0.0, |rolling| rolling.ratio);
            assert_eq!(rows[at + RATIO].0[lane], ratio);
            assert!(ratio == 0.0 || rows[at + MASS].0[lane] * rows[at + MOBILITY].0[lane] > 0.999);
        }
        // Lanes without a manifold are zeros, which a sweep leaves unchanged.
        for lane in (0..LANES).filter(|lane| pack.lengths[*lane] == 0) {
            let fields = |row: usize| row < HEADER || (row - HEADER) % POINT < BLOCK;
            assert!((0..rows.len()).filter(|row| fields(*row)).all(|row| rows[row].0[lane] == 0.0));
            assert!(pack.blocks.iter().all(|side| side[lane] as usize == w.n_blocks()));
        }
    }
}

#[test]
fn manifolds_that_carry_impulses_come_first() {
    let (w, problem) = chain(6, 300);
    // Every third manifold is warm; all others are opening.
    let warm = |a: usize| w.contacts()[a].blocks[1] % 3 == 0;
    let impulses: Vec<[f64; 3]> =
        (0..problem.len()).map(|a| [f64::from(u8::from(warm(a))), 0.0, 0.0]).collect();
    let opening = ContactProblem { v_rel_free: vec![[1.0, 0.0, 0.0]; problem.len()], ..problem };
    let mut packs = Packs::default();
    packs.survey(&w, &opening, &impulses);
    packs.arrange(w.n_blocks(), &opening);
    for [first, end] in &packs.colours {
        let chunks = &packs.chunks[*first as usize..*end as usize];
        let of_colour = &packs.packs[chunks[0][0] as usize..chunks[chunks.len() - 1][1] as usize];
        assert!(of_colour.is_sorted_by_key(|pack| !pack.busy));
        for pack in of_colour {
            assert!(pack.contacts().all(|(_, _, a)| warm(a) == pack.busy));
        }
    }
}

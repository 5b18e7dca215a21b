//! The guarantees of a list: a bound of the motion of the shapes, and that nothing unlisted wins.
//! The long comparison with the full search along random motions is in `axes/tests.rs`.

use super::*;
use crate::detect::axes::best_axis;
use crate::detect::manifold::Drift;
use crate::detect::testing::{beside, rotation, shape, unit};
use crate::math::Quat;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

fn listed(rng: &mut Pcg64) -> (Polyhedron, Polyhedron, Relative, Axis, Option<Shortlist>) {
    let mut scratch = NarrowScratch::default();
    let (a, b) = (shape(rng), shape(rng));
    let rel = beside(rng, &a, &b);
    let axis = best_axis(&a, &b, &rel, f64::INFINITY, None, &mut scratch).ok().unwrap().axis;
    let list = Shortlist::new(&a, &b, &rel, &axis, &Ask::default(), &mut scratch);
    (a, b, rel, axis, list)
}

#[test]
fn no_point_moves_farther_than_the_bound_of_the_list() {
    let mut rng = Pcg64::seed_from_u64(111);
    let mut lists = 0;
    for _ in 0..400 {
        let (a, b, rel, _, Some(list)) = listed(&mut rng) else { continue };
        lists += 1;
        let size = a.outer_radius().min(b.outer_radius());
        let pace = size * 10f64.powi(-rng.random_range(0..7));
        let turn = Quat::from_scaled_axis(unit(&mut rng) * (pace / size));
        let now = Relative {
            rot: turn.to_rotation_matrix().matrix() * rel.rot,
            origin: rel.origin + unit(&mut rng) * pace,
        };
        let bound = list.motion(&a, &b, &now);
        for v in b.vertices() {
            assert!((now.point(*v) - rel.point(*v)).norm() <= bound, "of b, seen from a");
        }
        for v in a.vertices() {
            let moved = (now.inverse_point(*v) - rel.inverse_point(*v)).norm();
            assert!(moved <= bound, "of a, seen from b: {moved} {bound}");
        }
        // Single-precision round-off, and the error of bounding a rotation by two columns.
        let most = 3.0 * pace * (1.0 + 2.0 * list_arm(&a, &b, &rel) / size);
        assert!(bound <= most + 1e-5 * list_arm(&a, &b, &rel), "{bound} {most}");
    }
    assert!(lists > 100, "{lists}");
}

fn list_arm(a: &Polyhedron, b: &Polyhedron, rel: &Relative) -> f64 {
    arm(a, b, rel.point(b.centre())) + rel.origin.norm()
}

#[test]
fn unlisted_features_are_no_higher_than_the_rest() {
    let mut rng = Pcg64::seed_from_u64(112);
    let (mut lists, mut unlisted) = (0, 0);
    for _ in 0..400 {
        let (a, b, rel, axis, Some(list)) = listed(&mut rng) else { continue };
        lists += 1;
        let rest = f64::from(list.rest) + slack(&a, &b, &rel);
        let [faces_a, edges_a, faces_b, edges_b] = list.features();
        let has = |list: &[u8], k: usize| list.iter().any(|i| usize::from(*i) == k);
        let (above_a, above_b) = (AboveA { a: &a, b: &b, rel: &rel }, AboveB::new(&a, &b, &rel));
        for i in (0..a.n_faces()).filter(|i| !has(faces_a, *i)) {
            assert!(above_a.evaluate(i).separation <= rest);
            unlisted += 1;
        }
        for j in (0..b.n_faces()).filter(|j| !has(faces_b, *j)) {
            assert!(above_b.evaluate(j).separation <= rest);
        }
        for i in 0..a.edges().len() {
            for j in 0..b.edges().len() {
                if has(edges_a, i) && has(edges_b, j) {
                    continue;
                }
                let (ea, eb) = (NearEdge::of(&a, i), NearEdge::of(&b, j).moved(&rel));
                if let Some((_, s)) = edge_axis(&ea, &eb) {
                    assert!(s <= rest, "{s} {rest}");
                }
            }
        }
        // The winner itself is listed.
        match axis.kind {
            Kind::FaceA(i) => assert!(has(faces_a, i)),
            Kind::FaceB(j) => assert!(has(faces_b, j)),
            Kind::Edges(i, j) => assert!(has(edges_a, i) && has(edges_b, j)),
            _ => unreachable!("faces and edges are searched"),
        }
    }
    assert!(lists > 100 && unlisted > 500, "{lists} {unlisted}");
}

#[test]
fn a_list_gives_its_own_answer_and_none_after_a_large_motion() {
    let mut rng = Pcg64::seed_from_u64(113);
    let mut told = 0;
    for _ in 0..300 {
        let (a, b, rel, axis, Some(list)) = listed(&mut rng) else { continue };
        let last = Features::default();
        let found = list.best_axis(&a, &b, &rel, f64::INFINITY, &last, &mut Vec::new());
        if let Some(Ok(found)) = found {
            assert_eq!(found.axis.separation.to_bits(), axis.separation.to_bits());
            assert_eq!(found.axis.kind, axis.kind);
            told += 1;
        }
        // Rotated by any angle about its centre: the motion is larger than any margin.
        let turn = rotation(&mut rng);
        if turn.angle() < 0.5 {
            continue;
        }
        let rot = turn.to_rotation_matrix().matrix() * rel.rot;
        let away = Relative { rot, origin: rel.point(b.centre()) - rot * b.centre() };
        let found = list.best_axis(&a, &b, &away, f64::INFINITY, &last, &mut Vec::new());
        assert!(!matches!(found, Some(Ok(_))), "{:?}", turn.angle());
    }
    assert!(told > 100, "{told}");
}

#[test]
fn a_pair_that_would_outrun_its_list_gets_none() {
    let mut rng = Pcg64::seed_from_u64(114);
    let mut scratch = NarrowScratch::default();
    let mut lists = 0;
    for _ in 0..200 {
        let (a, b, rel, axis, list) = listed(&mut rng);
        lists += usize::from(list.is_some());
        let size = a.outer_radius().min(b.outer_radius());
        let drift = || Drift { shift: Vec3::x() * (0.1 * size), turn: Vec3::zeros() };
        let fast = Ask { drift: &drift, ..Ask::default() };
        assert!(Shortlist::new(&a, &b, &rel, &axis, &fast, &mut scratch).is_none());
    }
    assert!(lists > 50, "{lists}");
}

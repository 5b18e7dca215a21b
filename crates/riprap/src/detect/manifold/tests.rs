//! Clipping and thinning: areas, feature ids, and which points must be kept.

use super::*;
use crate::detect::testing::{matrix, unit};
use crate::math::tangents;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

#[test]
fn thinning_keeps_the_corners_of_an_octagon_that_span_the_largest_area() {
    let points: Vec<ManifoldPoint> = (0..8u32)
        .map(|k| {
            let (s, c) = (f64::from(k) * std::f64::consts::FRAC_PI_4).sin_cos();
            ManifoldPoint { position: Vec3::new(c, s, 0.0), gap: 0.0, feature: k }
        })
        .collect();
    let mut m = Manifold::new(Vec3::z(), 0.0);
    thin(&points, Vec3::z(), 0.1, 1.0, &Drift::default, &mut m);
    let mut kept: Vec<u32> = m.points().iter().map(|p| p.feature).collect();
    kept.sort_unstable();
    assert_eq!(kept, [0, 2, 4, 6]);
}

#[test]
fn a_point_about_to_close_is_kept_before_nearer_ones_that_open() {
    let points: Vec<ManifoldPoint> = (0..6u32)
        .map(|k| {
            let (s, c) = (f64::from(k) * std::f64::consts::FRAC_PI_3).sin_cos();
            let gap = 1e-3 * f64::from(1 + k);
            ManifoldPoint { position: Vec3::new(c, s, 0.0), gap, feature: k }
        })
        .collect();
    // The rotation lowers points with large x and small y most: the last one, farthest away, comes
    // first.
    let drift = Drift { shift: Vec3::zeros(), turn: Vec3::new(0.02, 0.02, 0.0) };
    let mut m = Manifold::new(Vec3::z(), 1e-3);
    thin(&points, Vec3::z(), 0.1, 1.0, &|| drift, &mut m);
    assert!(m.points().iter().any(|p| p.feature == 5));
}

/// A horizontal side with these corners at a given height.
fn side(corners: &[[f64; 2]], height: f64) -> Side {
    let n = corners.len() as u32;
    let corner = |k: u32| SideCorner { at: corners[k as usize], vertex: k, edge: 100 + k };
    Side { corners: (0..n).map(corner).collect(), height: [height, 0.0, 0.0] }
}

/// A convex polygon around a centre, counter-clockwise.
fn polygon(rng: &mut Pcg64, centre: [f64; 2]) -> Vec<[f64; 2]> {
    let n = rng.random_range(3..9);
    let mut angles: Vec<f64> =
        (0..n).map(|_| rng.random_range(0.0..std::f64::consts::TAU)).collect();
    angles.sort_by(f64::total_cmp);
    angles.iter().map(|a| [centre[0] + a.cos(), centre[1] + 0.8 * a.sin()]).collect()
}

fn area(corners: &[[f64; 2]]) -> f64 {
    let twice = |k: usize| {
        let (p, q) = (corners[k], corners[(k + 1) % corners.len()]);
        p[0] * q[1] - p[1] * q[0]
    };
    (0..corners.len()).map(twice).sum::<f64>() * 0.5
}

/// Corners left by a clip.
fn left(clipper: &Clipper) -> Vec<[f64; 2]> {
    (0..clipper.polygon.len).map(|k| clipper.polygon.at(k)).collect()
}

const AXES: (Vec3, (Vec3, Vec3)) =
    (Vec3::new(0.0, 0.0, 1.0), (Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0)));

#[test]
fn a_side_clipped_by_itself_keeps_its_corners() {
    let mut rng = Pcg64::seed_from_u64(121);
    let mut clipper = Clipper::default();
    for _ in 0..200 {
        let corners = polygon(&mut rng, [0.3, -0.2]);
        let (a, b) = (side(&corners, 0.0), side(&corners, 0.25));
        let points = clipper.cut(&a, &b, AXES, 1.0);
        assert!(points.iter().all(|p| p.gap == 0.25), "the distance of the two planes");
        assert_eq!(left(&clipper), corners);
        assert_eq!(clipper.polygon.feature[0], feature(VERTEX_B, 0, 0));
    }
}

#[test]
fn the_overlap_is_in_both_sides_and_its_area_does_not_depend_on_their_order() {
    let mut rng = Pcg64::seed_from_u64(122);
    let mut clipper = Clipper::default();
    let (mut overlapping, mut apart) = (0, 0);
    for _ in 0..1000 {
        let p = polygon(&mut rng, [0.0, 0.0]);
        let centre = [rng.random_range(-2.0..2.0), rng.random_range(-1.0..1.0)];
        let q = polygon(&mut rng, centre);
        let (a, b) = (side(&p, 0.0), side(&q, 0.0));
        clipper.cut(&a, &b, AXES, 1.0);
        let one = left(&clipper);
        clipper.cut(&b, &a, AXES, 1.0);
        let two = left(&clipper);
        // Clipping is accurate to 1e-12 of the size.
        assert!((area(&one) - area(&two)).abs() < 1e-10, "{} {}", area(&one), area(&two));
        for x in &one {
            for corners in [&p, &q] {
                for k in 0..corners.len() {
                    let (u, v) = (corners[k], corners[(k + 1) % corners.len()]);
                    let d = [v[0] - u[0], v[1] - u[1]];
                    let inside =
                        (d[0] * (x[1] - u[1]) - d[1] * (x[0] - u[0])) / length2(d[0], d[1]);
                    assert!(inside > -1e-10 || length2(d[0], d[1]) < 1e-9, "{inside}");
                }
            }
        }
        overlapping += usize::from(area(&one) > 0.01);
        apart += usize::from(one.is_empty());
    }
    assert!(overlapping > 300 && apart > 50, "{overlapping} {apart}");
}

#[test]
fn gaps_are_those_of_the_two_planes() {
    let square = [[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]];
    let shifted = square.map(|[x, y]| [x + 0.5, y + 0.25]);
    let (mut a, mut b) = (side(&square, 0.1), side(&shifted, 0.3));
    (a.height[1], b.height[2]) = (0.02, -0.05);
    let mut clipper = Clipper::default();
    let points = clipper.cut(&a, &b, AXES, 1.0).to_vec();
    assert_eq!(points.len(), 4);
    for p in &points {
        let (x, y) = (p.position.x, p.position.y);
        let (low, high) = (0.1 + 0.02 * x, 0.3 - 0.05 * y);
        assert!((p.gap - (high - low)).abs() < 1e-15);
        assert!((p.position.z - 0.5 * (low + high)).abs() < 1e-15, "midway");
    }
    // The overlap is 1.5 by 1.75, with the corresponding diagonal.
    assert!((clipper.width() - 1.5 * 1.75 / 1.5f64.hypot(1.75)).abs() < 1e-14);
    // One corner of each side, and two edge crossings.
    let kinds: Vec<u32> = points.iter().map(|p| p.feature >> 30).collect();
    let count = |kind: u32| kinds.iter().filter(|k| **k == kind).count();
    assert_eq!((count(VERTEX_A), count(VERTEX_B), count(CROSSING)), (1, 1, 2));
}

#[test]
fn thinning_keeps_at_most_four_with_a_nearest_among_them() {
    let mut rng = Pcg64::seed_from_u64(123);
    for _ in 0..500 {
        let n = rng.random_range(1..12);
        let points: Vec<ManifoldPoint> = (0..n)
            .map(|k| {
                let position =
                    Vec3::new(rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0), 0.0);
                let gap = rng.random_range(-0.1..0.1) * f64::from(rng.random_range(0..2u8));
                ManifoldPoint { position, gap, feature: k }
            })
            .collect();
        let mut m = Manifold::new(Vec3::z(), 0.0);
        thin(&points, Vec3::z(), 0.05, 1.0, &Drift::default, &mut m);
        let near: Vec<&ManifoldPoint> = points.iter().filter(|p| p.gap <= 0.05).collect();
        assert!(m.points().len() <= 4 && (near.is_empty() || !m.points().is_empty()));
        assert!(m.points().iter().all(|p| near.contains(&p)));
        if near.len() <= 4 {
            assert_eq!(m.points().len(), near.len(), "nothing to thin");
        }
        let least = |gaps: &mut dyn Iterator<Item = f64>| gaps.fold(f64::INFINITY, f64::min);
        let nearest = least(&mut near.iter().map(|p| p.gap));
        let kept = least(&mut m.points().iter().map(|p| p.gap));
        assert!(near.is_empty() || kept <= nearest + 1e-4, "{kept} {nearest}");
    }
}

#[test]
fn a_drift_looks_the_same_from_any_frame() {
    let mut rng = Pcg64::seed_from_u64(124);
    for _ in 0..200 {
        let drift = Drift { shift: unit(&mut rng), turn: unit(&mut rng) };
        let (rot, origin, x) = (matrix(&mut rng), unit(&mut rng), unit(&mut rng));
        let seen = drift.seen_from(&rot, origin);
        let there = rot.tr_mul(&(x - origin));
        assert!((rot * seen.at(there) - drift.at(x)).norm() < 1e-14);
        assert!((drift.reversed().at(x) + drift.at(x)).norm() < 1e-15);
        let m = Manifold::single(unit(&mut rng), 0.1, there, 3).moved(&rot, origin);
        assert!((m.points()[0].position - x).norm() < 1e-14);
        assert_eq!(m.flipped().normal, -m.normal);
        let (n, (t1, t2)) = (m.normal, tangents(m.normal));
        assert!(n.dot(&t1).abs() < 1e-15 && n.dot(&t2).abs() < 1e-15);
    }
}

#[test]
fn features_of_different_kinds_and_places_have_different_ids() {
    let mut ids = std::collections::HashSet::new();
    for kind in [VERTEX_A, VERTEX_B, CROSSING, WITNESS] {
        for a in [0, 1, 9_999, 0x7fff] {
            for b in [0, 1, 9_999, 0x7fff] {
                assert!(ids.insert(feature(kind, a, b)));
            }
        }
    }
}

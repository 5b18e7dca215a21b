//! Polygons and discs against searches over all sides and corners.

use super::*;
use crate::detect::testing::placed;
use crate::math::{Pose, Quat};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

fn polygon(rng: &mut Pcg64) -> Polygon {
    loop {
        let n = rng.random_range(3..9);
        let points: Vec<Vec2> = (0..n)
            .map(|_| {
                let (s, c) = rng.random_range(0.0f64..6.3).sin_cos();
                [c, 0.7 * s]
            })
            .collect();
        if let Ok(p) = Polygon::from_points(&points, 1.0) {
            return p;
        }
    }
}

fn somewhere(rng: &mut Pcg64, far: f64) -> Pose {
    let at = Vec3::new(rng.random_range(-far..far), rng.random_range(-far..far), 0.0);
    let rotation = Quat::from_scaled_axis(Vec3::z() * rng.random_range(-3.0..3.0));
    Pose { position: at, rotation }
}

fn corners(p: &Polygon, pose: &Pose) -> Vec<Vec2> {
    let world = |v: &[f64; 2]| pose.point(Vec3::new(v[0], v[1], 0.0));
    p.vertices().iter().map(world).map(|v| [v.x, v.y]).collect()
}

/// The greatest separation along the normals of all sides of the first.
fn over(a: &[Vec2], b: &[Vec2]) -> f64 {
    let sides = (0..a.len()).map(|k| {
        let (p, q) = (a[k], a[(k + 1) % a.len()]);
        let e = sub(q, p);
        let n = [e[1] / length2(e[0], e[1]), -e[0] / length2(e[0], e[1])];
        b.iter().map(|v| dot(n, sub(*v, p))).fold(f64::INFINITY, f64::min)
    });
    sides.fold(f64::NEG_INFINITY, f64::max)
}

/// Distance of a point from a segment.
fn to_side(x: Vec2, p: Vec2, q: Vec2) -> f64 {
    let e = sub(q, p);
    let s = (dot(sub(x, p), e) / dot(e, e)).clamp(0.0, 1.0);
    let d = sub(x, [p[0] + s * e[0], p[1] + s * e[1]]);
    length2(d[0], d[1])
}

/// Distance of two polygons that are apart.
fn distance(a: &[Vec2], b: &[Vec2]) -> f64 {
    let from = |a: &[Vec2], b: &[Vec2]| {
        let mut best = f64::INFINITY;
        for x in a {
            for k in 0..b.len() {
                best = best.min(to_side(*x, b[k], b[(k + 1) % b.len()]));
            }
        }
        best
    };
    from(a, b).min(from(b, a))
}

#[test]
fn the_distance_of_two_polygons_is_that_of_their_nearest_corners_and_sides() {
    let mut rng = Pcg64::seed_from_u64(91);
    let (mut apart, mut overlapping) = (0, 0);
    for round in 0..2000 {
        let (p, q) = (polygon(&mut rng), polygon(&mut rng));
        let (a, b) = (somewhere(&mut rng, 1.0), somewhere(&mut rng, 1.5));
        let (pa, pb) = (placed(&a, p.outer_radius()), placed(&b, q.outer_radius()));
        let (ca, cb) = (corners(&p, &a), corners(&q, &b));
        let s = over(&ca, &cb).max(over(&cb, &ca));
        let alert = 0.5;
        let found = polygon_polygon((&p, &pa), (&q, &pb), alert);
        if s > 1e-9 {
            let d = distance(&ca, &cb);
            // Sides that barely overlap, seen along the normal, graze and do not count.
            let Some(m) = found else {
                assert!(d > alert || s > -1e-6, "{round}: {d}");
                continue;
            };
            if m.points().len() == 1 || (m.separation - d).abs() < 1e-9 {
                assert!((m.separation - d).abs() < 1e-9, "{round}: {} {d}", m.separation);
                apart += 1;
            }
            assert!(m.separation <= d + 1e-9, "{round}");
        } else if let Some(m) = found {
            assert!((m.separation - s).abs() < 1e-7, "{round}: {} {s}", m.separation);
            overlapping += 1;
        }
    }
    assert!(apart > 200 && overlapping > 500, "{apart} {overlapping}");
}

#[test]
fn the_order_of_two_polygons_changes_only_the_sign_of_the_normal() {
    let mut rng = Pcg64::seed_from_u64(92);
    let mut compared = 0;
    for _ in 0..2000 {
        let (p, q) = (polygon(&mut rng), polygon(&mut rng));
        let (a, b) = (somewhere(&mut rng, 1.0), somewhere(&mut rng, 1.0));
        let (pa, pb) = (placed(&a, p.outer_radius()), placed(&b, q.outer_radius()));
        let one = polygon_polygon((&p, &pa), (&q, &pb), 0.2);
        let two = polygon_polygon((&q, &pb), (&p, &pa), 0.2);
        assert_eq!(one.is_some(), two.is_some());
        let (Some(one), Some(two)) = (one, two) else { continue };
        assert!((one.separation - two.separation).abs() < 1e-7);
        // If two axes are equally good, either may be chosen.
        if (one.normal + two.normal).norm() < 1e-9 {
            assert_eq!(one.points().len(), two.points().len());
            for x in one.points() {
                let twin = two.points().iter().any(|y| (x.position - y.position).norm() < 1e-9);
                assert!(twin, "{one:?} {two:?}");
            }
            compared += 1;
        }
        assert_eq!((one.normal.z, two.normal.z), (0.0, 0.0), "exactly in the plane");
    }
    assert!(compared > 800, "{compared}");
}

#[test]
fn contacts_rotate_and_move_with_the_polygons() {
    let mut rng = Pcg64::seed_from_u64(93);
    let mut compared = 0;
    for _ in 0..1000 {
        let (p, q) = (polygon(&mut rng), polygon(&mut rng));
        let (a, b) = (somewhere(&mut rng, 0.5), somewhere(&mut rng, 1.0));
        let world = somewhere(&mut rng, 5.0);
        let find = |a: &Pose, b: &Pose| {
            let (pa, pb) = (placed(a, p.outer_radius()), placed(b, q.outer_radius()));
            polygon_polygon((&p, &pa), (&q, &pb), 0.2)
        };
        let (here, there) = (find(&a, &b), find(&world.compose(&a), &world.compose(&b)));
        let (Some(here), Some(there)) = (here, there) else { continue };
        assert!((here.separation - there.separation).abs() < 1e-12);
        if (world.vector(here.normal) - there.normal).norm() < 1e-9 {
            let features = |m: &Manifold| m.points().iter().map(|x| x.feature).collect::<Vec<_>>();
            assert_eq!(features(&here), features(&there), "which features meet");
            for (x, y) in here.points().iter().zip(there.points()) {
                assert!((world.point(x.position) - y.position).norm() < 1e-12);
            }
            compared += 1;
        }
    }
    assert!(compared > 400, "{compared}");
}

#[test]
fn the_distance_of_a_disc_is_that_of_the_nearest_side() {
    let mut rng = Pcg64::seed_from_u64(94);
    for _ in 0..1000 {
        let p = polygon(&mut rng);
        let a = somewhere(&mut rng, 1.0);
        let corners = corners(&p, &a);
        let c = [rng.random_range(-2.0..2.0), rng.random_range(-2.0..2.0)];
        let sides =
            (0..corners.len()).map(|k| to_side(c, corners[k], corners[(k + 1) % corners.len()]));
        let distance = sides.fold(f64::INFINITY, f64::min);
        let inside = over(&corners, &[c]) < 0.0;
        let spot = placed(&a, p.outer_radius());
        let m = polygon_disc((&p, &spot), (vec3(c), 0.3), 10.0).unwrap();
        let right = if inside { -distance } else { distance } - 0.3;
        assert!((m.separation - right).abs() < 1e-12, "{} {right}", m.separation);
        assert!((m.normal.norm() - 1.0).abs() < 1e-12 && m.normal.z == 0.0);
    }
}

#[test]
fn a_polygon_on_a_line_rests_on_its_lowest_corners() {
    let mut rng = Pcg64::seed_from_u64(95);
    for _ in 0..500 {
        let p = polygon(&mut rng);
        let a = somewhere(&mut rng, 1.0);
        let (s, c) = rng.random_range(0.0f64..6.3).sin_cos();
        let normal = Vec3::new(c, s, 0.0);
        let gaps: Vec<f64> = corners(&p, &a).iter().map(|v| c * v[0] + s * v[1] + 0.5).collect();
        let lowest = gaps.iter().copied().fold(f64::INFINITY, f64::min);
        let origin = normal * -0.5;
        let spot = placed(&a, p.outer_radius());
        let m = half_space_polygon((normal, origin), (&p, &spot), lowest + 0.1).unwrap();
        assert!((m.separation - lowest).abs() < 1e-12 && m.points().len() <= 2);
        for x in m.points() {
            assert!((x.gap - gaps[x.feature as usize]).abs() < 1e-12 && x.gap <= lowest + 0.1);
        }
        assert!(half_space_polygon((normal, origin), (&p, &spot), lowest - 1e-9).is_none());
    }
}

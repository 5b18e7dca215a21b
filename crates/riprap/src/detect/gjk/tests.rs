//! Distances against a search over all pairs of features.

use super::*;
use crate::detect::round::nearest_point;
use crate::detect::testing::{beside, exchanged, matrix, shape, unit};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Distance of two segments.
fn segments([p, q]: [Vec3; 2], [r, s]: [Vec3; 2]) -> f64 {
    let (d, e, w) = (q - p, s - r, p - r);
    let (a, b, c) = (d.norm_squared(), d.dot(&e), e.norm_squared());
    let det = a * c - b * b;
    let mut best = f64::INFINITY;
    let mut at = |t: f64, u: f64| {
        let (t, u) = (t.clamp(0.0, 1.0), u.clamp(0.0, 1.0));
        best = best.min((p + d * t - r - e * u).norm());
    };
    if det > 1e-14 * a * c {
        let (t, u) = ((b * e.dot(&w) - c * d.dot(&w)) / det, (a * e.dot(&w) - b * d.dot(&w)) / det);
        if (0.0..=1.0).contains(&t) && (0.0..=1.0).contains(&u) {
            at(t, u);
        }
    }
    // Otherwise the nearest point is an end of one of them.
    at(0.0, e.dot(&w) / c);
    at(1.0, e.dot(&(q - r)) / c);
    at(-d.dot(&w) / a, 0.0);
    at(d.dot(&(s - p)) / a, 1.0);
    best
}

/// Distance of two shapes that are apart: a vertex and a face, or two edges.
fn exhaustive(a: &Polyhedron, b: &Polyhedron, rel: &Relative) -> f64 {
    let mut best = f64::INFINITY;
    for v in b.vertices() {
        let p = rel.point(*v);
        best = best.min((nearest_point(a, p) - p).norm());
    }
    for v in a.vertices() {
        let p = rel.inverse_point(*v);
        best = best.min((nearest_point(b, p) - p).norm());
    }
    for i in 0..a.edges().len() {
        for j in 0..b.edges().len() {
            best = best.min(segments(a.edge_ends(i), b.edge_ends(j).map(|p| rel.point(p))));
        }
    }
    best
}

/// Whether a point is in a shape, to within a tolerance.
fn inside(p: &Polyhedron, x: Vec3, tolerance: f64) -> bool {
    (0..p.n_faces()).all(|i| p.face_normals()[i].dot(&x) <= p.face_offsets()[i] + tolerance)
}

#[test]
fn closest_points_agree_with_a_search_over_all_features() {
    let mut rng = Pcg64::seed_from_u64(61);
    let (mut apart, mut touching) = (0, 0);
    for round in 0..600 {
        let (a, b) = (shape(&mut rng), shape(&mut rng));
        let rel = beside(&mut rng, &a, &b);
        let size = a.outer_radius() + b.outer_radius();
        match closest(&a, &b, &rel, f64::INFINITY) {
            Closest::Apart { on_a, on_b } => {
                let (found, right) = ((on_b - on_a).norm(), exhaustive(&a, &b, &rel));
                // Points between corners of a needle or a large plate are accurate to this fraction
                // of the size.
                assert!((found - right).abs() <= 1e-7 * size, "{round}: {found} {right}");
                assert!(inside(&a, on_a, 1e-9 * size), "{round}");
                assert!(inside(&b, rel.inverse_point(on_b), 1e-9 * size), "{round}");
                apart += 1;
            }
            Closest::Touching => touching += 1,
            Closest::Beyond(_) => panic!("there is no limit"),
        }
    }
    assert!(apart > 150 && touching > 100, "{apart} {touching}");
}

#[test]
fn shapes_beyond_the_limit_are_so_along_the_returned_direction() {
    let mut rng = Pcg64::seed_from_u64(62);
    let mut beyond = 0;
    for _ in 0..500 {
        let (a, b) = (shape(&mut rng), shape(&mut rng));
        let rel = beside(&mut rng, &a, &b);
        let limit = 0.05 * (a.outer_radius() + b.outer_radius()) * rng.random_range(0.0..1.0);
        if let Closest::Beyond(axis) = closest(&a, &b, &rel, limit) {
            let s = crate::detect::axes::separation(&a, &b, &rel, axis);
            assert!(s > limit * (1.0 - 1e-12), "{s} {limit}");
            beyond += 1;
        }
    }
    assert!(beyond > 100, "{beyond}");
}

#[test]
fn the_distance_is_the_same_from_either_shape_and_after_any_motion() {
    let mut rng = Pcg64::seed_from_u64(63);
    let distance =
        |a: &Polyhedron, b: &Polyhedron, rel: &Relative| match closest(a, b, rel, f64::INFINITY) {
            Closest::Apart { on_a, on_b } => (on_b - on_a).norm(),
            _ => 0.0,
        };
    for _ in 0..300 {
        let (a, b) = (shape(&mut rng), shape(&mut rng));
        let rel = beside(&mut rng, &a, &b);
        let size = a.outer_radius() + b.outer_radius();
        let d = distance(&a, &b, &rel);
        let other = distance(&b, &a, &exchanged(&rel));
        assert!((d - other).abs() <= 1e-7 * size, "{d} {other}");
        // b described in a rotated and shifted frame, and placed accordingly.
        let (turn, shift) = (matrix(&mut rng), unit(&mut rng) * 0.3);
        let points: Vec<Vec3> = b.vertices().iter().map(|v| turn * v + shift).collect();
        let Ok(moved) = Polyhedron::from_points(&points) else { continue };
        let rot = rel.rot * turn.transpose();
        let there = Relative { rot, origin: rel.origin - rot * shift };
        assert!((distance(&a, &moved, &there) - d).abs() <= 1e-7 * size);
    }
}

#[test]
fn concentric_shapes_touch() {
    let cube = Polyhedron::cuboid([1.0; 3]).unwrap();
    let rel = Relative { rot: crate::math::Mat3::identity(), origin: Vec3::zeros() };
    assert!(matches!(closest(&cube, &cube, &rel, 1.0), Closest::Touching));
}

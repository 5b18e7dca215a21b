//! Hulls of grids, clouds and prisms, against their defining properties.

use super::*;
use crate::math::fixtures::{seeded, vector};
use crate::shape::fixtures::cloud;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

fn grid(n: usize) -> Vec<Vec3> {
    let mut points = Vec::new();
    for i in 0..n * n * n {
        let at = |k: usize| (k % n) as f64 / (n - 1) as f64;
        points.push(Vec3::new(at(i), at(i / n), at(i / n / n)));
    }
    points
}

#[test]
fn a_grid_of_points_in_a_cube_gives_eight_corners_and_six_faces() {
    let h = hull(&grid(5)).unwrap();
    assert_eq!((h.vertices.len(), h.faces.len()), (8, 6));
}

#[test]
fn rotating_the_cube_changes_nothing() {
    let turn = crate::math::Quat::from_scaled_axis(Vec3::new(0.3, 1.1, -0.4));
    let points: Vec<Vec3> = grid(4).iter().map(|p| turn * p * 1e-3 + Vec3::repeat(5.0)).collect();
    let h = hull(&points).unwrap();
    assert_eq!((h.vertices.len(), h.faces.len()), (8, 6));
}

#[test]
fn points_on_a_sphere_are_all_corners() {
    let mut rng = Pcg64::seed_from_u64(3);
    let points: Vec<Vec3> =
        (0..400).map(|_| Vec3::from_fn(|_, _| rng.random_range(-1.0..1.0)).normalize()).collect();
    assert_eq!(hull(&points).unwrap().vertices.len(), 400);
}

#[test]
fn flat_thin_and_repeated_points_are_refused_not_fatal() {
    let square = [[0., 0.], [1., 0.], [0., 1.], [1., 1.]].map(|[x, y]| Vec3::new(x, y, 0.0));
    assert!(matches!(hull(&square), Err(ShapeError::Flat { .. })));
    assert!(matches!(hull(&[Vec3::zeros(); 9]), Err(ShapeError::Flat { .. })));
    let line: Vec<Vec3> = (0..9).map(|i| Vec3::repeat(f64::from(i))).collect();
    assert!(matches!(hull(&line), Err(ShapeError::Flat { .. })));
    assert!(matches!(hull(&[Vec3::repeat(f64::NAN); 4]), Err(ShapeError::NotFinite { .. })));
}

#[test]
fn tetrahedra_of_any_size_give_a_hull_or_are_refused() {
    let corners = [[0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]].map(Vec3::from);
    for exponent in -320..=300 {
        let scaled = corners.map(|p| p * 10f64.powi(exponent));
        match hull(&scaled) {
            Ok(hull) => assert_eq!((hull.vertices.len(), hull.faces.len()), (4, 4), "{exponent}"),
            Err(ShapeError::TooSmall { .. }) => assert!(exponent < -60, "{exponent}"),
            Err(_) => assert!(!(-60..=60).contains(&exponent), "{exponent}"),
        }
    }
    let tiny = hull(&corners.map(|p| p * 1e-100)).err().unwrap().to_string();
    assert!(tiny.contains("m large, too small"), "{tiny}");
}

#[test]
fn random_points_in_a_ball_or_a_flat_or_needle_like_cloud_always_give_a_checked_hull() {
    let mut rng = Pcg64::seed_from_u64(4);
    for round in 0..300 {
        let scale = [[1.0, 1.0, 1.0], [1.0, 1.0, 1e-3], [1e-3, 1e-3, 1.0]][round % 3];
        let n = rng.random_range(4..60);
        let points: Vec<Vec3> =
            (0..n).map(|_| Vec3::from_fn(|k, _| rng.random_range(-1.0..1.0) * scale[k])).collect();
        hull(&points).unwrap();
    }
}

/// The vertices in a canonical order.
fn sorted(h: &Hull) -> Vec<Vec3> {
    let mut vertices = h.vertices.clone();
    vertices
        .sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)).then(a.z.total_cmp(&b.z)));
    vertices
}

#[test]
fn a_hull_contains_all_points_and_its_corners_are_among_them() {
    let mut rng = seeded(61);
    for n in [4, 7, 15, 50, 200] {
        let points = cloud(&mut rng, n, 1.0);
        let h = hull(&points).unwrap();
        for face in &h.faces {
            let (normal, offset) = plane(&h.vertices, face);
            for p in &points {
                assert!(normal.dot(p) <= offset + 1e-12, "{n}");
            }
            for &i in face {
                assert!((normal.dot(&h.vertices[i]) - offset).abs() < 1e-12, "faces are flat");
            }
        }
        // Shifted to the first point and back: the last digit may differ.
        let given = |v: &Vec3| points.iter().any(|p| (p - v).norm() < 1e-15 * 4.0);
        assert!(h.vertices.iter().all(given));
    }
}

#[test]
fn corners_and_faces_are_two_more_than_edges() {
    let mut rng = seeded(62);
    for n in 4..60 {
        let h = hull(&cloud(&mut rng, n, 1.0)).unwrap();
        let corners: usize = h.faces.iter().map(Vec::len).sum();
        assert_eq!(h.vertices.len() + h.faces.len(), corners / 2 + 2, "Euler");
        // No four random points are coplanar.
        assert!(h.faces.iter().all(|f| f.len() == 3));
        assert_eq!(h.faces.len(), 2 * h.vertices.len() - 4);
    }
}

#[test]
fn the_farthest_point_in_any_direction_is_a_corner() {
    let mut rng = seeded(63);
    let points = cloud(&mut rng, 100, 1.0);
    let h = hull(&points).unwrap();
    for _ in 0..500 {
        let d = vector(&mut rng, 1.0);
        let top =
            |points: &[Vec3]| points.iter().map(|p| d.dot(p)).fold(f64::NEG_INFINITY, f64::max);
        assert!((top(&h.vertices) - top(&points)).abs() < 1e-14);
    }
}

#[test]
fn order_duplicates_and_interior_points_do_not_change_the_hull() {
    let mut rng = seeded(64);
    for _ in 0..30 {
        let points = cloud(&mut rng, 30, 1.0);
        let expected = sorted(&hull(&points).unwrap());
        let mut more = points.clone();
        more.reverse();
        more.rotate_left(7);
        more.extend_from_slice(&points[..10]);
        let centre: Vec3 = points.iter().sum::<Vec3>() / points.len() as f64;
        more.extend(points.iter().map(|p| centre + (p - centre) * 0.5));
        let found = sorted(&hull(&more).unwrap());
        assert_eq!(found.len(), expected.len());
        assert!(found.iter().zip(&expected).all(|(a, b)| (a - b).norm() < 1e-15 * 4.0));
    }
}

#[test]
fn points_on_edges_and_faces_of_a_prism_are_not_corners() {
    // A prism over a hexagon, with the middles of its sides and caps given as well.
    let corner = |k: usize, z: f64| {
        let (sin, cos) = (std::f64::consts::FRAC_PI_3 * k as f64).sin_cos();
        Vec3::new(cos, sin, z)
    };
    let mut points = Vec::new();
    for k in 0..6 {
        let (a, b) = (corner(k, 0.0), corner(k + 1, 2.0));
        points.extend([a, corner(k, 2.0), (a + corner(k + 1, 0.0)) * 0.5, (a + b) * 0.5]);
    }
    points.extend([Vec3::zeros(), Vec3::z() * 2.0]);
    let h = hull(&points).unwrap();
    assert_eq!((h.vertices.len(), h.faces.len()), (12, 8));
    let mut sides: Vec<usize> = h.faces.iter().map(Vec::len).collect();
    sides.sort_unstable();
    assert_eq!(sides, [4, 4, 4, 4, 4, 4, 6, 6]);
}

#[test]
fn too_few_or_flat_points_are_reported_with_their_number_or_thickness() {
    let said = |points: &[Vec3]| hull(points).err().expect("refused").to_string();
    assert_eq!(said(&[Vec3::zeros(); 3]), "at least 4 points are needed, got 3");
    let mut square: Vec<Vec3> =
        [[0., 0.], [3., 0.], [3., 4.], [0., 4.]].map(|[x, y]| Vec3::new(x, y, 1.0)).to_vec();
    assert!(said(&square).contains("over an extent of 5.0e0 m"), "{}", said(&square));
    square.push(Vec3::new(f64::INFINITY, 0.0, 0.0));
    assert_eq!(said(&square), "point 4 has a coordinate that is not finite");
}

//! Polyhedra against closed forms and plain searches.

use super::*;
use crate::math::Mat3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

#[test]
fn a_unit_cube_has_inertia_one_sixth() {
    let cube = Polyhedron::cuboid([1.0; 3]).unwrap();
    let m = cube.unit_mass();
    assert!((m.mass - 1.0).abs() < 1e-15);
    assert!((m.inertia - Mat3::identity() / 6.0).norm() < 1e-15);
    assert!((cube.inner_radius() - 0.5).abs() < 1e-15);
}

#[test]
fn the_hull_of_a_box_is_the_box() {
    let cube = Polyhedron::cuboid([1.0, 2.0, 3.0]).unwrap();
    let hull = Polyhedron::from_points(cube.vertices()).unwrap();
    assert_eq!((hull.n_faces(), hull.edges().len()), (6, 12));
    assert!((hull.unit_mass().inertia - cube.unit_mass().inertia).norm() < 1e-14);
}

#[test]
fn a_tetrahedron_has_the_textbook_inertia() {
    // Corners at the origin and on the axes: V = 1/6, I_xx about the origin = 1/30 (Tonon 2005).
    let t = Polyhedron::from_points(&[Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::z()]).unwrap();
    let m = t.unit_mass();
    assert!((m.mass - 1.0 / 6.0).abs() < 1e-15);
    assert!((m.centre - Vec3::repeat(0.25)).norm() < 1e-15);
    assert!((m.inertia_about(Vec3::zeros())[(0, 0)] - 1.0 / 30.0).abs() < 1e-15);
}

#[test]
fn mass_properties_keep_their_digits_far_from_the_origin() {
    let far = Vec3::new(1e3, -2e3, 3e3);
    let cube = Polyhedron::cuboid([1.0; 3]).unwrap();
    let points: Vec<Vec3> = cube.vertices().iter().map(|v| v + far).collect();
    let moved = Polyhedron::from_points(&points).unwrap();
    assert!((moved.unit_mass().mass - 1.0).abs() < 1e-11);
    assert!((moved.unit_mass().inertia - Mat3::identity() / 6.0).norm() < 1e-9);
}

#[test]
fn support_is_the_farthest_vertex_the_first_of_equals() {
    let cube = Polyhedron::cuboid([1.0; 3]).unwrap();
    assert_eq!(cube.support(Vec3::new(1.0, 2.0, 3.0)), (7, 3.0));
    assert_eq!(cube.support(Vec3::new(0.0, 0.0, -1.0)), (0, 0.5));
    assert_eq!(cube.support(Vec3::new(0.0, 0.0, 1.0)), (4, 0.5));
}

/// Single precision only chooses whom to ask: the answer is that of the plain search, to the last bit.
#[test]
fn support_is_that_of_the_plain_search_wherever_the_shape_lies() {
    let mut rng = Pcg64::seed_from_u64(7);
    let mut unit = move || Vec3::from_fn(|_, _| rng.random_range(-1.0..1.0));
    for round in 0..300 {
        let size = [1e-6, 0.04, 3.0, 1e5][round % 4];
        let far = unit() * [0.0, 0.0, 50.0][round % 3] * size;
        let points: Vec<Vec3> = (0..4 + round % 60).map(|_| unit() * size + far).collect();
        let Ok(p) = Polyhedron::from_points(&points) else { continue };
        for k in 0..50 {
            let d = unit() * [1.0, 1e-30, 1e12][k % 3];
            let d = if k % 5 == 0 { Vec3::new(0.0, d.y, 0.0) } else { d };
            let mut plain = (0, f64::NEG_INFINITY);
            for (i, v) in p.vertices().iter().enumerate() {
                let h = d.x * v.x + d.y * v.y + d.z * v.z;
                plain = if h > plain.1 { (i, h) } else { plain };
            }
            assert_eq!(p.support(d), plain, "round {round}");
        }
    }
}

#[test]
fn a_hull_with_more_corners_than_features_can_name_is_refused() {
    let golden = std::f64::consts::PI * (3.0 - 5.0f64.sqrt());
    let on_sphere = |n: usize| -> Vec<Vec3> {
        let at = |k: usize| {
            let z = 1.0 - (2 * k + 1) as f64 / n as f64;
            let (s, c) = (golden * k as f64).sin_cos();
            Vec3::new((1.0 - z * z).sqrt() * c, (1.0 - z * z).sqrt() * s, z)
        };
        (0..n).map(at).collect()
    };
    let fine = Polyhedron::from_points(&on_sphere(MOST_VERTICES)).unwrap();
    assert_eq!(fine.vertices().len(), MOST_VERTICES);
    let refused = Polyhedron::from_points(&on_sphere(MOST_VERTICES + 1)).unwrap_err();
    let told = refused.to_string();
    assert!(told.contains("10001 corners, at most 10000 are allowed"), "{told}");
}

#[test]
fn every_edge_runs_between_its_two_faces() {
    let t = Polyhedron::cuboid([1.0, 2.0, 3.0]).unwrap();
    for (i, e) in t.edges().iter().enumerate() {
        let n = e.faces.map(|f| t.face_normals()[f as usize]);
        let along = t.edge_direction(i);
        assert!(n[0].cross(&n[1]).dot(&along) > 0.0);
        assert!(n[0].dot(&along).abs() < 1e-15 && n[1].dot(&along).abs() < 1e-15);
    }
}

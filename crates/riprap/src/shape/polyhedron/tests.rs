//! Polyhedra against closed-form solutions and exhaustive searches.

use super::*;
use crate::math::Mat3;
use crate::math::fixtures::{seeded, vector};
use crate::shape::fixtures::stone;
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
fn mass_properties_stay_accurate_far_from_the_origin() {
    let far = Vec3::new(1e3, -2e3, 3e3);
    let cube = Polyhedron::cuboid([1.0; 3]).unwrap();
    let points: Vec<Vec3> = cube.vertices().iter().map(|v| v + far).collect();
    let moved = Polyhedron::from_points(&points).unwrap();
    assert!((moved.unit_mass().mass - 1.0).abs() < 1e-11);
    assert!((moved.unit_mass().inertia - Mat3::identity() / 6.0).norm() < 1e-9);
}

#[test]
fn support_is_the_first_of_the_farthest_vertices() {
    let cube = Polyhedron::cuboid([1.0; 3]).unwrap();
    assert_eq!(cube.support(Vec3::new(1.0, 2.0, 3.0)), (7, 3.0));
    assert_eq!(cube.support(Vec3::new(0.0, 0.0, -1.0)), (0, 0.5));
    assert_eq!(cube.support(Vec3::new(0.0, 0.0, 1.0)), (4, 0.5));
}

/// Single precision only preselects candidates: the answer is bitwise that of the exhaustive
/// search.
#[test]
fn support_agrees_with_the_exhaustive_search_wherever_the_shape_lies() {
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
fn a_hull_with_more_corners_than_feature_ids_is_refused() {
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
    assert!(told.contains("10001 corners, but at most 10000 are allowed"), "{told}");
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

#[test]
fn the_tables_of_a_polyhedron_are_consistent() {
    let mut rng = seeded(91);
    for n in [4, 8, 20, 60, 200] {
        let p = stone(&mut rng, n);
        let (v, e, f) = (p.vertices().len(), p.edges().len(), p.n_faces());
        assert_eq!(v + f, e + 2, "Euler");
        let mut runs = vec![0; e];
        for i in 0..f {
            let (corners, edges) = (p.face(i), p.face_edges(i));
            assert_eq!(corners.len(), edges.len());
            for (k, &edge) in edges.iter().enumerate() {
                let Edge { vertices, faces } = p.edges()[usize::from(edge)];
                let ends = [corners[k], corners[(k + 1) % corners.len()]];
                // The first face traverses it in its own direction, the second in the opposite one.
                let side = usize::from(ends != vertices);
                assert_eq!(faces[side], i as u16);
                assert!(ends == vertices || ends == [vertices[1], vertices[0]]);
                runs[usize::from(edge)] += 1;
            }
        }
        assert!(runs.iter().all(|n| *n == 2), "every edge is traversed twice");
        for vertex in 0..v {
            let around = p.faces_at(vertex);
            let expected =
                (0..f as u16).filter(|i| p.face(usize::from(*i)).contains(&(vertex as u16)));
            assert!(around.iter().copied().eq(expected));
            assert!(around.len() >= 3);
        }
    }
}

#[test]
fn the_faces_form_a_closed_surface() {
    let mut rng = seeded(92);
    for n in [4, 12, 50] {
        let p = stone(&mut rng, n);
        let (mut sum, mut volume) = (Vec3::zeros(), 0.0);
        for [a, b, c] in p.triangles().map(|t| t.map(|i| p.vertices()[i as usize])) {
            let area = (b - a).cross(&(c - a)) * 0.5;
            sum += area;
            volume += area.dot(&(a + b + c)) / 9.0;
        }
        // Gauss: ∫ n dA = 0, ∫ x·n dA = 3 V.
        assert!(sum.norm() < 1e-14);
        assert!((volume - p.unit_mass().mass).abs() < 1e-13);
        for (normal, offset) in p.face_normals().iter().zip(p.face_offsets()) {
            assert!((normal.norm() - 1.0).abs() < 1e-15);
            assert!(normal.dot(&p.centre()) < *offset, "outwards");
        }
    }
}

#[test]
fn the_two_radii_are_those_of_the_inner_and_outer_balls() {
    let mut rng = seeded(93);
    for n in [4, 10, 40] {
        let p = stone(&mut rng, n);
        let (c, inner, outer) = (p.centre(), p.inner_radius(), p.outer_radius());
        let mut heights = Vec::new();
        p.heights(c, &mut heights);
        let top = heights[..p.n_faces()].iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert!((top + inner).abs() < 1e-15, "the ball touches the nearest face");
        assert!(heights[p.n_faces()..].iter().all(|h| *h == f64::NEG_INFINITY), "padding");
        let farthest = p.vertices().iter().map(|v| (v - c).norm()).fold(0.0, f64::max);
        assert_eq!(outer, farthest);
        assert!(inner > 0.0 && inner < outer);
    }
}

/// Unit normals of an edge between those of its two faces.
fn normals_of(p: &Polyhedron, edge: usize) -> impl Iterator<Item = Vec3> {
    let [a, b] = p.edges()[edge].faces.map(|f| p.face_normals()[usize::from(f)]);
    (0..=2000).map(move |k| (a + (b - a) * (f64::from(k) / 2000.0)).normalize())
}

#[test]
fn the_height_of_a_point_over_an_edge_is_the_greatest_along_its_normals() {
    let mut rng = seeded(94);
    for n in [4, 8, 25] {
        let p = stone(&mut rng, n);
        for _ in 0..20 {
            let point = vector(&mut rng, 2.0);
            let mut heights = Vec::new();
            p.heights(point, &mut heights);
            for edge in 0..p.edges().len() {
                let [end, _] = p.edge_ends(edge);
                let seen = normals_of(&p, edge).map(|n| n.dot(&(point - end)));
                let seen = seen.fold(f64::NEG_INFINITY, f64::max);
                let found = p.point_over_edge(edge, point);
                // Sampling misses the maximum by the square of its spacing.
                assert!(found > seen - 1e-12 && found < seen + 1e-5, "{found} {seen}");
                let mut above = Vec::new();
                p.edges_below(&heights, found - 1e-9, |e| above.push(e));
                assert!(above.contains(&edge));
                p.edges_below(&heights, found + 1e-9, |e| assert_ne!(e, edge));
            }
        }
    }
}

#[test]
fn the_height_of_the_lower_of_two_points_bounds_that_along_any_normal() {
    let mut rng = seeded(95);
    let p = stone(&mut rng, 12);
    let (mut exact, mut all) = (0, 0);
    for _ in 0..200 {
        let [a, b] = [vector(&mut rng, 1.5), vector(&mut rng, 1.5)];
        let (mut ha, mut hb) = (Vec::new(), Vec::new());
        p.heights(a, &mut ha);
        p.heights(b, &mut hb);
        for edge in 0..p.edges().len() {
            let [end, _] = p.edge_ends(edge);
            let seen = normals_of(&p, edge).step_by(20);
            let seen = seen.map(|n| n.dot(&(a - end)).min(n.dot(&(b - end))));
            let seen = seen.fold(f64::NEG_INFINITY, f64::max);
            let found = p.height_over_edge(edge, [&ha, &hb]);
            assert!(found > seen - 1e-12, "never too low: {found} {seen}");
            exact += usize::from(found < seen + 1e-2);
            all += 1;
            let mut below = Vec::new();
            p.edges_below_both([&ha, &hb], found - 1e-9, |e| below.push(e));
            assert!(below.contains(&edge));
        }
    }
    // And seldom too high: a loose bound would cause needless searches.
    assert!(exact * 10 > all * 8, "{exact} of {all}");
}

#[test]
fn invalid_box_sizes_are_refused() {
    for size in [[0.0, 1.0, 1.0], [1.0, -2.0, 1.0], [1.0, 1.0, f64::NAN]] {
        let said = Polyhedron::cuboid(size).unwrap_err().to_string();
        assert!(said.starts_with("box size must be a positive length in metres"), "{said}");
    }
}

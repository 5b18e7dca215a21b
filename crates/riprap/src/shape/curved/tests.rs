use super::*;
use crate::math::fixtures::{pose, seeded, vector};
use crate::math::{Mat3, Pose};
use crate::shape::Shape;
use crate::shape::fixtures::stone;
use std::collections::HashMap;
use std::f64::consts::PI;

/// One of each kind.
fn one_of_each(seed: u64) -> Vec<Curved> {
    let mut rng = seeded(seed);
    let hull = Arc::new(stone(&mut rng, 14));
    let cube = Arc::new(Polyhedron::cuboid([0.3, 0.2, 0.4]).unwrap());
    vec![
        Curved::capsule(0.2, 0.5).unwrap(),
        Curved::cylinder(0.3, 0.2).unwrap(),
        Curved::cone(0.3, 0.7).unwrap(),
        Curved::cone(0.5, 0.1).unwrap(),
        Curved::rounded(cube, 0.05).unwrap(),
        Curved::rounded(hull, 0.3).unwrap(),
    ]
}

fn of_surface(c: &Curved, segments: usize) -> MassProperties {
    let surface = c.surface(segments);
    let corner = |i: &usize| surface.corners[*i];
    let triangles = surface.faces.iter().flat_map(|f| {
        (1..f.len() - 1).map(move |k| [corner(&f[0]), corner(&f[k]), corner(&f[k + 1])])
    });
    MassProperties::of_surface(triangles.collect::<Vec<_>>().into_iter())
}

#[test]
fn masses_agree_with_extrapolated_sums_over_fine_surfaces() {
    for c in one_of_each(61) {
        let (coarse, fine) = (of_surface(&c, 128), of_surface(&c, 256));
        let m = c.unit_mass();
        // The error of the inscribed surface falls with the square of the facets; what remains is of fourth order.
        let limit = |x: f64, y: f64| (4.0 * y - x) / 3.0;
        let mass = limit(coarse.mass, fine.mass);
        assert!((m.mass - mass).abs() < 2e-6 * m.mass, "{}: {} {mass}", c.kind(), m.mass);
        let centre = (fine.centre * 4.0 - coarse.centre) / 3.0;
        assert!((m.centre - centre).norm() < 2e-6, "{}: {} {centre}", c.kind(), m.centre);
        let inertia = (fine.inertia * 4.0 - coarse.inertia) / 3.0;
        let error = (m.inertia - inertia).norm() / m.inertia.norm();
        assert!(error < 4e-6, "{}: {error:e}", c.kind());
    }
}

#[test]
fn a_rounded_box_has_the_volume_of_steiners_formula() {
    let (a, b, c, r) = (0.3, 0.5, 0.7, 0.1);
    let core = Arc::new(Polyhedron::cuboid([a, b, c]).unwrap());
    let m = *Curved::rounded(core, r).unwrap().unit_mass();
    let steiner = a * b * c
        + 2.0 * (a * b + b * c + c * a) * r
        + PI * r * r * (a + b + c)
        + 4.0 / 3.0 * PI * r.powi(3);
    assert!((m.mass - steiner).abs() < 1e-14);
    assert!(m.centre.norm() < 1e-15);
    assert!((m.inertia - Mat3::from_diagonal(&m.inertia.diagonal())).norm() < 1e-15);
}

#[test]
fn rounding_a_point_like_polyhedron_gives_the_ball() {
    let core = Arc::new(Polyhedron::cuboid([1e-6; 3]).unwrap());
    let m = *Curved::rounded(core, 0.5).unwrap().unit_mass();
    let ball = MassProperties::sphere(0.5, 1.0);
    assert!((m.mass - ball.mass).abs() < 1e-5);
    assert!((m.inertia - ball.inertia).norm() < 1e-5);
}

#[test]
fn a_rounded_polyhedron_far_from_its_origin_has_the_same_inertia() {
    let mut rng = seeded(62);
    let p = stone(&mut rng, 20);
    let far = pose(&mut rng, 1e3);
    let moved: Vec<Vec3> = p.vertices().iter().map(|v| far.point(*v)).collect();
    let there = Curved::rounded(Arc::new(Polyhedron::from_points(&moved).unwrap()), 0.2).unwrap();
    let here = Curved::rounded(Arc::new(p), 0.2).unwrap().unit_mass().moved(&far);
    assert!((there.unit_mass().mass - here.mass).abs() < 1e-9 * here.mass);
    assert!((there.unit_mass().inertia - here.inertia).norm() < 1e-9 * here.inertia.norm());
}

#[test]
fn surfaces_are_closed_and_their_corners_lie_on_the_shape() {
    for c in one_of_each(63) {
        let surface = c.surface(24);
        let mut edges: HashMap<(usize, usize), i32> = HashMap::new();
        for face in &surface.faces {
            assert!(face.len() > 2);
            for (k, i) in face.iter().enumerate() {
                *edges.entry((*i, face[(k + 1) % face.len()])).or_default() += 1;
            }
        }
        assert!(edges.iter().all(|((i, j), n)| *n == 1 && edges.get(&(*j, *i)) == Some(&1)));
        // Every corner is farthest along some direction, and none lies outside.
        let mut rng = seeded(64);
        for _ in 0..200 {
            let n = vector(&mut rng, 1.0).normalize();
            let top = surface.corners.iter().map(|x| n.dot(x)).fold(f64::MIN, f64::max);
            assert!(top <= c.height(n) + 1e-12 && top >= 0.95 * c.height(n) - 0.1);
        }
    }
}

#[test]
fn the_bounding_sphere_contains_the_shape_and_is_touched_by_it() {
    for c in one_of_each(65) {
        let (centre, radius) = c.bounds();
        let distances = c.surface(64).corners.into_iter().map(|x| (x - centre).norm());
        let farthest = distances.fold(0.0, f64::max);
        assert!(farthest <= radius + 1e-12 && farthest > 0.99 * radius, "{}", c.kind());
        assert!((c.reach_from(centre) - radius).abs() < 1e-12, "{}", c.kind());
    }
}

#[test]
fn the_parts_in_the_cells_of_a_grid_add_up_to_the_volume() {
    let mut rng = seeded(66);
    for c in one_of_each(67) {
        let (place, volume) = (pose(&mut rng, 0.2), c.unit_mass().mass);
        let shape = Shape::Curved(Arc::new(c));
        let mut sum = 0.0;
        for k in 0..64 {
            let corner = Vec3::new(f64::from(k % 4), f64::from(k / 4 % 4), f64::from(k / 16)) * 1.5;
            let low = corner - Vec3::repeat(3.0);
            sum += shape.content_within(&place, low, low + Vec3::repeat(1.5));
        }
        // Patches of triangles on a ball are not quite convex, which the clipping assumes.
        assert!((sum - volume).abs() < 1e-7 * volume, "{sum} {volume}");
    }
}

#[test]
fn parts_cut_off_by_a_plane_agree_with_their_closed_forms_to_a_thousandth_of_the_volume() {
    let up = |z: f64| (Vec3::new(-9.0, -9.0, z), Vec3::repeat(9.0));
    let cut = |shape: Shape, z: f64, exact: f64| {
        let whole = shape.mass_properties(1.0).unwrap().mass;
        let (low, high) = up(z);
        // Turned so that facets and the plane have no common direction.
        let place = Pose::IDENTITY.turned([0.0, 0.0, 1.0], 0.3);
        let found = shape.content_within(&place, low, high);
        assert!((found - exact).abs() < 1e-3 * whole, "{found} {exact}");
    };
    let (r, l) = (0.3, 0.8);
    cut(Shape::cylinder(r, l).unwrap(), 0.1, PI * r * r * 0.3);
    let cap = |h: f64| PI * h * h * (r - h / 3.0);
    cut(Shape::capsule(r, l).unwrap(), 0.5, cap(0.2));
    cut(Shape::cone(r, l).unwrap(), 0.0, PI * r * r * l / 24.0);
    // A cylinder on its side: a segment of its circle.
    let side = Shape::cylinder(r, l).unwrap();
    let lying = Pose::IDENTITY.turned([1.0, 0.0, 0.0], 0.5 * PI);
    let h: f64 = 0.1;
    let exact = l * (r * r * (h / r).acos() - h * (r * r - h * h).sqrt());
    let found = side.content_within(&lying, up(h).0, up(h).1);
    assert!((found - exact).abs() < 1e-3 * PI * r * r * l, "{found} {exact}");
}

#[test]
fn curved_shapes_without_extent_and_cores_that_are_not_polyhedra_are_refused() {
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Shape::capsule(bad, 1.0).is_err() && Shape::capsule(1.0, bad).is_err());
        assert!(Shape::cylinder(bad, 1.0).is_err() && Shape::cylinder(1.0, bad).is_err());
        assert!(Shape::cone(bad, 1.0).is_err() && Shape::cone(1.0, bad).is_err());
        assert!(Shape::rounded(&Shape::cuboid([1.0; 3]).unwrap(), bad).is_err());
    }
    let capsule = Shape::capsule(1.0, 1.0).unwrap();
    assert_eq!(Shape::rounded(&capsule, 0.1).unwrap_err(), ShapeError::NotRoundable);
}

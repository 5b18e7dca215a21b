//! Splitting and cutting of random convex shapes by random planes: what the pieces have in common with the whole.

use proptest::prelude::*;
use riprap::math::{Mat3, Pose, Quat, Vec3};
use riprap::shape::{MassProperties, Outline, Polyhedron, Shape, ShapeError};

/// A vector with components in [−1, 1].
fn vector() -> impl Strategy<Value = Vec3> {
    prop::array::uniform3(-1.0..1.0).prop_map(Vec3::from)
}

fn unit() -> impl Strategy<Value = Vec3> {
    vector().prop_filter("a direction", |v| v.norm() > 0.1).prop_map(|v| v.normalize())
}

/// The hull of 4 to 40 points, in which a ball of a twentieth of its size fits.
fn stone() -> impl Strategy<Value = Shape> {
    prop::collection::vec(vector(), 4..40)
        .prop_filter_map("it has volume", |points| Shape::hull(&points).ok())
        .prop_filter("it is not flat", |stone| stone.roundness() > 0.05)
}

fn polygon() -> impl Strategy<Value = Vec<[f64; 2]>> {
    prop::collection::vec(prop::array::uniform2(-1.0..1.0), 3..20)
        .prop_filter("it is not flat", |points| {
            Shape::polygon(points, 1.0).is_ok_and(|p| p.roundness() > 0.05)
        })
}

fn mass(shape: &Shape) -> MassProperties {
    shape.mass_properties(1.0).unwrap()
}

fn polyhedron(shape: &Shape) -> &Polyhedron {
    let Shape::Polyhedron(p) = shape else { panic!("a polyhedron") };
    p
}

/// The point that divides the extent of a shape along a direction in a given ratio.
fn between(shape: &Shape, normal: Vec3, share: f64) -> Vec3 {
    let p = polyhedron(shape);
    let (high, low) = (p.support(normal).1, -p.support(-normal).1);
    normal * (low + share * (high - low))
}

/// Whether a shape is closed and convex: its outline is accepted, and no corner is outside of a face.
fn is_valid(shape: &Shape) -> bool {
    let p = polyhedron(shape);
    let size = p.outer_radius();
    let inside = |(n, d): (&Vec3, &f64)| p.vertices().iter().all(|v| n.dot(v) - d < 1e-9 * size);
    let euler = p.vertices().len() + p.n_faces() == p.edges().len() + 2;
    let again = Shape::from_outline(&shape.outline().unwrap());
    euler
        && p.face_normals().iter().zip(p.face_offsets()).all(inside)
        && again.is_ok_and(|again| again.mass_properties(1.0) == shape.mass_properties(1.0))
}

/// Largest relative difference of mass, first and second moments of pieces and whole [–].
fn imbalance(whole: &Shape, pieces: &[Shape]) -> f64 {
    let sum = MassProperties::sum(pieces.iter().map(|s| Ok(mass(s)))).unwrap();
    let (whole, size) = (mass(whole), whole.size().unwrap());
    let inertia = (sum.inertia - whole.inertia).norm() / whole.inertia.norm();
    ((sum.mass / whole.mass - 1.0).abs())
        .max((sum.centre - whole.centre).norm() / size)
        .max(inertia)
}

/// A shape after a rotation, a scaling and a translation.
fn moved(shape: &Shape, turn: Quat, scale: f64, by: Vec3) -> Shape {
    let points: Vec<Vec3> =
        polyhedron(shape).vertices().iter().map(|v| turn * v * scale + by).collect();
    Shape::hull(&points).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn pieces_are_convex_lie_on_their_sides_and_add_up(
        stone in stone(), normal in unit(), share in 0.1..0.9,
    ) {
        let through = between(&stone, normal, share);
        let pieces = stone.split(normal, through).unwrap();
        // Rounding, amplified by the thinnest stones.
        prop_assert!(imbalance(&stone, &pieces) < 1e-10);
        prop_assert!(pieces.iter().all(is_valid));
        // The plane moves to keep clear of corners, but both pieces see the same one.
        let [behind, before] = pieces.each_ref().map(polyhedron);
        let (top, bottom) = (behind.support(normal).1, -before.support(-normal).1);
        prop_assert!((top - bottom).abs() < 1e-12);
        // They share their section, face to face.
        let section = |p: &Polyhedron, n: Vec3| {
            let on = (0..p.n_faces()).find(|&i| p.face_normals()[i].dot(&n) > 1.0 - 1e-9);
            on.map(|i| p.face(i).len())
        };
        let sections = [section(behind, normal), section(before, -normal)];
        prop_assert!(sections[0].is_some() && sections[0] == sections[1], "{sections:?}");
    }

    #[test]
    fn every_point_of_the_whole_is_in_exactly_one_piece(
        stone in stone(), normal in unit(), points in prop::collection::vec(vector(), 50),
    ) {
        let pieces = stone.split(normal, mass(&stone).centre).unwrap();
        let depth = |shape: &Shape, x: &Vec3| {
            let p = polyhedron(shape);
            let planes = p.face_normals().iter().zip(p.face_offsets());
            planes.map(|(n, d)| n.dot(x) - d).fold(f64::NEG_INFINITY, f64::max)
        };
        for x in &points {
            let [whole, a, b] = [&stone, &pieces[0], &pieces[1]].map(|s| depth(s, x));
            // Points on a surface belong to both sides.
            if [whole, a, b].iter().all(|d| d.abs() > 1e-9) {
                prop_assert_eq!(whole < 0.0, (a < 0.0) ^ (b < 0.0));
            }
        }
    }

    #[test]
    fn splitting_commutes_with_motion_and_scaling(
        stone in stone(), normal in unit(), turn in vector(), by in vector(), share in 0.2..0.8,
        power in -3i32..3,
    ) {
        let (turn, scale) = (Quat::from_scaled_axis(turn * 3.0), 10f64.powi(power));
        let through = between(&stone, normal, share);
        let other = moved(&stone, turn, scale, by * scale);
        let first = stone.split(normal, through).unwrap();
        let second = other.split(turn * normal, turn * through * scale + by * scale).unwrap();
        let pose = Pose { position: by * scale, rotation: turn };
        for (a, b) in first.iter().zip(&second) {
            let (a, b) = (mass(a), mass(b));
            prop_assert!((a.mass * scale.powi(3) / b.mass - 1.0).abs() < 1e-8);
            let centre = pose.point(a.centre * scale);
            prop_assert!((centre - b.centre).norm() < 1e-8 * scale);
            let r = turn.to_rotation_matrix();
            let inertia: Mat3 = r.matrix() * a.inertia * r.matrix().transpose() * scale.powi(5);
            prop_assert!((inertia - b.inertia).norm() < 1e-7 * b.inertia.norm());
        }
    }

    #[test]
    fn pieces_of_pieces_still_add_up(stone in stone(), normals in prop::array::uniform3(unit())) {
        let mut pieces = vec![stone.clone()];
        for normal in normals {
            pieces = pieces
                .iter()
                .flat_map(|p| match p.roundness() > 0.08 {
                    true => p.split(normal, mass(p).centre).unwrap().to_vec(),
                    false => vec![p.clone()],
                })
                .collect();
        }
        prop_assert!(imbalance(&stone, &pieces) < 1e-9);
        prop_assert!(pieces.iter().all(is_valid));
    }

    #[test]
    fn a_cut_removes_the_wanted_volume_from_one_side_only(
        stone in stone(), normal in unit(), share in 0.001..0.45,
    ) {
        let share: f64 = share;
        let p = polyhedron(&stone);
        let volume = mass(&stone).mass;
        let cut = p.cut_off(normal, share * volume).unwrap();
        let left = cut.unit_mass();
        // Corners that are almost on the plane go as well.
        prop_assert!((1.0 - left.mass / volume - share).abs() < 1e-5);
        // The bottom is untouched, the top lower, and the centre moves away from the cut.
        prop_assert!((cut.support(-normal).1 - p.support(-normal).1).abs() < 1e-12);
        prop_assert!(cut.support(normal).1 < p.support(normal).1);
        prop_assert!(normal.dot(&(left.centre - mass(&stone).centre)) < 0.0);
        let valid = |(n, d): (&Vec3, &f64)| cut.vertices().iter().all(|v| n.dot(v) - d < 1e-9);
        prop_assert!(cut.face_normals().iter().zip(cut.face_offsets()).all(valid));
    }

    #[test]
    fn two_cuts_in_one_direction_are_one_cut_of_the_sum(
        stone in stone(), normal in unit(), a in 0.01..0.2, b in 0.01..0.2,
    ) {
        let p = polyhedron(&stone);
        let volume = mass(&stone).mass;
        let twice = p.cut_off(normal, a * volume).unwrap().cut_off(normal, b * volume).unwrap();
        let once = p.cut_off(normal, (a + b) * volume).unwrap();
        let (twice, once) = (twice.unit_mass(), once.unit_mass());
        prop_assert!((twice.mass / once.mass - 1.0).abs() < 1e-5);
        prop_assert!((twice.centre - once.centre).norm() < 1e-4);
    }

    #[test]
    fn a_cut_with_few_corners_loses_at_least_the_wanted_volume_and_stays_inside(
        stone in stone(), normal in unit(), share in 0.001..0.2, most in 6usize..20,
    ) {
        let volume = stone.volume();
        let cut = stone.cut_off(normal, share * volume, most).unwrap();
        prop_assert!(polyhedron(&cut).vertices().len() <= most.max(4));
        prop_assert!(cut.volume() <= volume * (1.0 - share) * (1.0 + 1e-6));
        let p = polyhedron(&stone);
        for v in polyhedron(&cut).vertices() {
            let planes = p.face_normals().iter().zip(p.face_offsets());
            prop_assert!(planes.map(|(n, d)| n.dot(v) - d).fold(f64::MIN, f64::max) < 1e-9);
        }
        prop_assert!(is_valid(&cut));
    }

    #[test]
    fn a_polygon_splits_and_is_cut_like_the_prism_above_it(
        points in polygon(), angle in 0.0..std::f64::consts::TAU, share in 0.1..0.4,
    ) {
        let thickness = 0.7;
        let flat = Shape::polygon(&points, thickness).unwrap();
        let prism = |flat: &Shape| {
            let Shape::Polygon(p) = flat else { panic!() };
            let corner = |v: &[f64; 2], z: f64| Vec3::new(v[0], v[1], z);
            let ends = [-0.5 * thickness, 0.5 * thickness];
            let all = ends.iter().flat_map(|z| p.vertices().iter().map(|v| corner(v, *z)));
            Shape::hull(&all.collect::<Vec<_>>()).unwrap()
        };
        let normal = Vec3::new(angle.cos(), angle.sin(), 0.0);
        let same = |flat: &Shape, solid: &MassProperties, near: f64| {
            let flat = mass(flat);
            (flat.mass / solid.mass - 1.0).abs() < near
                && (flat.centre - solid.centre).norm() < near
                && (flat.inertia[(2, 2)] / solid.inertia[(2, 2)] - 1.0).abs() < 10.0 * near
        };
        let pieces = flat.split(normal, mass(&flat).centre).unwrap();
        prop_assert!(imbalance(&flat, &pieces) < 1e-10);
        for piece in &pieces {
            prop_assert!(same(piece, &mass(&prism(piece)), 1e-10));
        }
        let volume = share * flat.volume();
        let Shape::Polygon(p) = &flat else { panic!() };
        let cut = p.cut_off([normal.x, normal.y], volume).unwrap();
        let solid = polyhedron(&prism(&flat)).cut_off(normal, volume).unwrap();
        let cut = Shape::Polygon(std::sync::Arc::new(cut));
        prop_assert!(same(&cut, solid.unit_mass(), 1e-5), "{:?} {:?}", mass(&cut), solid.unit_mass());
    }
}

#[test]
fn caps_of_a_regular_tetrahedron_have_the_volumes_of_similar_ones() {
    let corners = [[1., 1., 1.], [1., -1., -1.], [-1., 1., -1.], [-1., -1., 1.]].map(Vec3::from);
    let whole = Polyhedron::from_points(&corners).unwrap();
    let volume = whole.unit_mass().mass;
    assert!((volume - 8.0 / 3.0).abs() < 1e-14);
    let (up, height) = (corners[0].normalize(), 4.0 / 3f64.sqrt());
    for part in [0.05, 0.2, 0.5, 0.75] {
        // A cap of a part of the height is similar to the whole.
        let share: f64 = part * part * part;
        let cut = whole.cut_off(up, share * volume).unwrap();
        let depth = whole.support(up).1 - cut.support(up).1;
        // The volume is found to 1e-10 of itself.
        assert!((depth - part * height).abs() < 1e-9, "{part}: {depth}");
        assert_eq!((cut.vertices().len(), cut.n_faces()), (6, 5));
    }
}

#[test]
fn halves_of_a_box_have_the_inertia_of_smaller_boxes() {
    let size = [0.3, 0.2, 0.1];
    let whole = Shape::cuboid(size).unwrap();
    for axis in 0..3 {
        let mut half = size;
        half[axis] *= 0.5;
        let expected = mass(&Shape::cuboid(half).unwrap());
        let normal = Vec3::ith(axis, 1.0);
        for (piece, side) in whole.split(normal, Vec3::zeros()).unwrap().iter().zip([-1.0, 1.0]) {
            let found = mass(piece);
            assert!((found.mass / expected.mass - 1.0).abs() < 1e-14);
            assert!((found.centre - normal * (0.25 * side * size[axis])).norm() < 1e-16);
            assert!((found.inertia - expected.inertia).norm() < 1e-14 * expected.inertia.norm());
        }
    }
}

#[test]
fn planes_that_miss_and_impossible_volumes_are_refused_with_their_numbers() {
    let cube = Shape::cuboid([1.0; 3]).unwrap();
    let square = Shape::polygon(&[[0., 0.], [1., 0.], [1., 1.], [0., 1.]], 1.0).unwrap();
    for shape in [&cube, &square] {
        for far in [10.0, -10.0, f64::INFINITY, f64::NAN] {
            let missed = shape.split(Vec3::x(), Vec3::x() * far);
            assert_eq!(missed.unwrap_err(), ShapeError::Missed, "{far}");
        }
        for share in [0.0, -0.1, 0.5, 0.9, f64::NAN, f64::INFINITY] {
            let error = shape.cut_off(Vec3::x(), share, 40).unwrap_err();
            assert!(matches!(error, ShapeError::OutOfRange { .. }), "{share}: {error}");
            assert!(error.to_string().contains("volume to cut off"), "{error}");
        }
    }
    let round = [Shape::sphere(1.0), Shape::disc(1.0, 1.0), Shape::half_space([0.0, 0.0, 1.0])];
    for shape in round.into_iter().map(Result::unwrap) {
        assert_eq!(shape.split(Vec3::x(), Vec3::zeros()).unwrap_err(), ShapeError::NotConvex);
        assert_eq!(shape.cut_off(Vec3::x(), 0.1, 9).unwrap_err(), ShapeError::NotConvex);
        assert_eq!(shape.outline(), None);
    }
}

#[test]
fn outlines_that_are_not_closed_or_not_convex_are_refused() {
    let cube = Shape::cuboid([1.0; 3]).unwrap();
    let Some(Outline::Polyhedron { vertices, faces }) = cube.outline() else { panic!() };
    let refused = |vertices: &Vec<[f64; 3]>, faces: &Vec<Vec<u16>>| {
        let outline = Outline::Polyhedron { vertices: vertices.clone(), faces: faces.clone() };
        Shape::from_outline(&outline).is_err()
    };
    assert!(!refused(&vertices, &faces));
    assert!(refused(&vertices, &faces[1..].to_vec()), "a face is missing");
    let mut turned = faces.clone();
    turned[2].reverse();
    assert!(refused(&vertices, &turned), "a face is inside out");
    let mut dented = vertices.clone();
    dented[0] = dented[0].map(|x| 0.2 * x);
    assert!(refused(&dented, &faces), "a corner is inside");
    let mut lost = vertices.clone();
    lost[3][1] = f64::NAN;
    assert!(refused(&lost, &faces), "a corner is nowhere");
    let mut beyond = faces.clone();
    beyond[0][0] = 99;
    assert!(refused(&vertices, &beyond), "a corner does not exist");
    assert!(refused(&vertices[..3].to_vec(), &faces), "too few corners");
    let star = Outline::Polygon {
        vertices: vec![[0., 0.], [2., 0.], [0.5, 0.5], [0., 2.]],
        thickness: 1.0,
    };
    assert!(Shape::from_outline(&star).is_err());
}

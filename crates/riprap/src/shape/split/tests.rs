use super::super::fixtures::cloud;
use super::*;
use crate::math::fixtures::{seeded, vector};
use rand::RngExt;

/// Relative difference of the sum of two pieces and the whole: mass, first moment, inertia.
fn imbalance(whole: &Shape, pieces: &[Shape; 2]) -> f64 {
    let of = |s: &Shape| s.mass_properties(1.0).unwrap();
    let sum = MassProperties::sum(pieces.iter().map(|s| Ok(of(s)))).unwrap();
    let (whole, size) = (of(whole), whole.size().unwrap());
    let mass = (sum.mass - whole.mass).abs() / whole.mass;
    let centre = (sum.centre - whole.centre).norm() / size;
    let inertia = (sum.inertia - whole.inertia).norm() / whole.inertia.norm();
    mass.max(centre).max(inertia)
}

#[test]
fn pieces_of_random_stones_add_up_to_the_whole_at_all_sizes() {
    let mut rng = seeded(71);
    for size in [1e-3, 0.05, 1.0, 20.0] {
        for n in [4, 6, 12, 30, 80] {
            for _ in 0..20 {
                let points = cloud(&mut rng, n, 0.5 * size);
                let stone = Shape::hull(&points).unwrap();
                let normal = vector(&mut rng, 1.0).normalize();
                let centre = stone.mass_properties(1.0).unwrap().centre;
                let pieces = stone.split(normal, centre).unwrap();
                let off = imbalance(&stone, &pieces);
                // Rounding, which the division by a thin tetrahedron's inertia amplifies.
                assert!(off < 1e-11, "{off:.1e} for {n} points of {size} m");
                for (piece, side) in pieces.iter().zip([-1.0, 1.0]) {
                    let Shape::Polyhedron(p) = piece else { panic!() };
                    let out = p.vertices().iter().map(|v| -side * normal.dot(&(v - centre)));
                    // The plane keeps clear of corners.
                    assert!(out.fold(0.0, f64::max) < 0.3 * size);
                    assert!(p.shortest_edge() > 1e-5 * size);
                }
            }
        }
    }
}

#[test]
fn a_box_splits_into_two_boxes_and_a_diagonal_plane_keeps_clear_of_its_corners() {
    let cube = Shape::cuboid([2.0; 3]).unwrap();
    let [left, right] = cube.split(Vec3::x(), Vec3::new(0.25, 0.0, 0.0)).unwrap();
    assert!((left.volume() - 5.0).abs() < 1e-14 && (right.volume() - 3.0).abs() < 1e-14);
    let Shape::Polyhedron(p) = &left else { panic!() };
    assert_eq!((p.vertices().len(), p.n_faces(), p.edges().len()), (8, 6, 12));
    // The plane x = y contains four corners: it moves by 0.02/8 of the extent along the normal.
    let diagonal = Vec3::new(1.0, -1.0, 0.0).normalize();
    let pieces = cube.split(diagonal, Vec3::zeros()).unwrap();
    assert!(imbalance(&cube, &pieces) < 1e-14);
    assert!((pieces[0].volume() / 8.0 - 0.5).abs() < 0.01);
}

#[test]
fn polygons_split_like_polyhedra() {
    let mut rng = seeded(72);
    for size in [1e-3, 0.1, 20.0] {
        for n in [3, 5, 9, 40] {
            let points: Vec<[f64; 2]> =
                (0..n).map(|_| [0, 1].map(|_| size * rng.random_range(-0.5..0.5))).collect();
            let flat = Shape::polygon(&points, 0.3 * size).unwrap();
            let normal = {
                let v = vector(&mut rng, 1.0);
                Vec3::new(v.x, v.y, 0.0).normalize()
            };
            let centre = flat.mass_properties(1.0).unwrap().centre;
            let pieces = flat.split(normal, centre).unwrap();
            assert!(imbalance(&flat, &pieces) < 1e-12);
        }
    }
}

#[test]
fn the_volume_cut_off_is_the_wanted_one() {
    let mut rng = seeded(73);
    for size in [1e-3, 0.05, 20.0] {
        for n in [4, 8, 25] {
            for _ in 0..10 {
                let p = Polyhedron::from_points(&cloud(&mut rng, n, 0.5 * size)).unwrap();
                let normal = vector(&mut rng, 1.0).normalize();
                let whole = p.unit_mass().mass;
                for share in [1e-5, 1e-3, 0.1, 0.4] {
                    let cut = p.cut_off(normal, share * whole).unwrap();
                    let lost = 1.0 - cut.unit_mass().mass / whole;
                    // The difference of two volumes, and corners near the plane.
                    assert!((lost - share).abs() < 1e-9 + 1e-6 * share, "{lost} {share}");
                }
            }
        }
    }
}

#[test]
fn a_corner_of_a_cube_is_cut_to_the_depth_of_its_closed_form() {
    let cube = Polyhedron::cuboid([1.0; 3]).unwrap();
    let corner = Vec3::repeat(1.0).normalize();
    // The cap is a tetrahedron with three right angles: V = h³ √3/2.
    let depth = 0.2_f64;
    let volume = depth.powi(3) * 3f64.sqrt() / 2.0;
    let cut = cube.cut_off(corner, volume).unwrap();
    assert_eq!((cut.vertices().len(), cut.n_faces()), (10, 7));
    let top = cut.support(corner).1;
    assert!((top - (0.75f64.sqrt() - depth)).abs() < 1e-9, "{top}");
    // Along a face it is a slab, whose corners replace the old ones.
    let slab = cube.cut_off(Vec3::z(), 1e-4).unwrap();
    assert_eq!((slab.vertices().len(), slab.n_faces()), (8, 6));
    assert!((slab.support(Vec3::z()).1 - (0.5 - 1e-4)).abs() < 1e-12);
}

#[test]
fn a_stone_cut_many_times_stays_valid_and_has_few_corners() {
    let mut rng = seeded(74);
    for size in [1e-3, 20.0] {
        let mut stone = Shape::cuboid([size, 1.2 * size, 0.8 * size]).unwrap();
        for _ in 0..400 {
            let normal = vector(&mut rng, 1.0).normalize();
            let next = stone.cut_off(normal, 1e-3 * stone.volume(), 40).unwrap();
            assert!(next.volume() < stone.volume() * (1.0 - 0.999e-3));
            let Shape::Polyhedron(p) = &next else { panic!() };
            assert!(p.vertices().len() <= 40);
            assert!(p.shortest_edge() >= SHORT * extent(p.vertices()));
            // Its outline is accepted, hence it is closed and convex.
            Shape::from_outline(&next.outline().unwrap()).unwrap();
            stone = next;
        }
        assert!(stone.roundness() > 0.6, "{}", stone.roundness());
    }
    let mut flat = Shape::polygon(&[[0., 0.], [1., 0.], [1., 1.], [0., 1.]], 0.1).unwrap();
    for _ in 0..200 {
        let v = vector(&mut rng, 1.0);
        let normal = Vec3::new(v.x, v.y, 0.0).normalize();
        flat = flat.cut_off(normal, 1e-3 * flat.volume(), 20).unwrap();
        let Shape::Polygon(p) = &flat else { panic!() };
        assert!(p.vertices().len() <= 20);
    }
    assert!(flat.roundness() > 0.8, "{}", flat.roundness());
}

#[test]
fn impossible_cuts_are_refused() {
    let cube = Shape::cuboid([1.0; 3]).unwrap();
    assert_eq!(cube.split(Vec3::x(), Vec3::x()).unwrap_err(), ShapeError::Missed);
    assert_eq!(cube.split(Vec3::x(), Vec3::repeat(f64::NAN)).unwrap_err(), ShapeError::Missed);
    assert!(cube.cut_off(Vec3::x(), 2.0, 40).is_err());
    assert!(cube.cut_off(Vec3::x(), -1.0, 40).is_err());
    let ball = Shape::sphere(1.0).unwrap();
    assert_eq!(ball.split(Vec3::x(), Vec3::zeros()).unwrap_err(), ShapeError::NotConvex);
    assert!(cube.roundness() < ball.roundness());
}

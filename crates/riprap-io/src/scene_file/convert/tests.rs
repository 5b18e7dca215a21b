//! Checks that need no scene: inertias, and advice on names.

use super::bodies::check_inertia;
use super::*;
use crate::scene_file::model::Vector;
use crate::unit_vector::unit;
use proptest::prelude::*;

type Matrix = [Vector; 3];

fn diagonal([a, b, c]: Vector) -> Matrix {
    [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]]
}

/// The inertia `Σ m (|r|² 1 - r rᵀ)` of points about the origin [kg m²].
fn of_points(points: &[(f64, Vector)]) -> Matrix {
    let mut j = [[0.0; 3]; 3];
    for (mass, r) in points {
        let square: f64 = r.iter().map(|x| x * x).sum();
        for (a, row) in j.iter_mut().enumerate() {
            for (b, entry) in row.iter_mut().enumerate() {
                *entry += mass * (if a == b { square } else { 0.0 } - r[a] * r[b]);
            }
        }
    }
    j
}

/// `R J Rᵀ`, with the rotation by `angle` about `axis` after Rodrigues.
fn turned(j: &Matrix, axis: Vector, angle: f64) -> Matrix {
    let (sin, cos) = angle.sin_cos();
    let [x, y, z] = axis;
    let skew = [[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]];
    let r: Matrix = std::array::from_fn(|a| {
        std::array::from_fn(|b| {
            let one = if a == b { cos } else { 0.0 };
            one + sin * skew[a][b] + (1.0 - cos) * axis[a] * axis[b]
        })
    });
    let sum = |f: &dyn Fn(usize) -> f64| (0..3).map(f).sum::<f64>();
    let half: Matrix =
        std::array::from_fn(|a| std::array::from_fn(|b| sum(&|k| r[a][k] * j[k][b])));
    std::array::from_fn(|a| std::array::from_fn(|b| sum(&|k| half[a][k] * r[b][k])))
}

fn vector() -> impl Strategy<Value = Vector> {
    prop::array::uniform3(-1.0..1.0_f64)
}

fn axis() -> impl Strategy<Value = Vector> {
    vector()
        .prop_filter_map("a direction", |v| unit(v).filter(|_| v.iter().any(|x| x.abs() > 1e-3)))
}

#[test]
fn inertias_of_known_bodies_are_taken_and_impossible_ones_are_not() {
    let solid = |j: Vector| check_inertia(&diagonal(j), Inertias::Solid);
    let flat = |j: Vector| check_inertia(&diagonal(j), Inertias::AlsoFlat);
    assert_eq!(solid([1.0, 1.0, 1.0]), Ok(())); // a ball
    assert_eq!(solid([1.0, 1.0, 2.0]), Ok(())); // a disc: the third is the sum of the other two
    assert_eq!(solid([1e-9, 1.0, 1.0]), Ok(())); // a thin rod
    assert!(solid([0.0, 1.0, 1.0]).unwrap_err().contains("not positive"));
    assert_eq!(flat([0.0, 1.0, 1.0]), Ok(())); // a rod without thickness
    assert_eq!(flat([0.0, 0.0, 0.0]), Ok(())); // a point
    for j in [[1.0, 1.0, 2.1], [0.1, 0.1, 1.0], [0.0, 1.0, 1.1]] {
        assert!(flat(j).unwrap_err().contains("sum of the other two"), "{j:?}");
    }
    assert!(flat([-1.0, 1.0, 1.0]).unwrap_err().contains("not positive"));
    let skew = [[1.0, 0.1, 0.0], [-0.1, 1.0, 0.0], [0.0, 0.0, 1.0]];
    assert!(check_inertia(&skew, Inertias::Solid).unwrap_err().contains("not symmetric"));
    assert!(solid([0.0; 3]).is_err() && solid([f64::NAN, 1.0, 1.0]).is_err());
}

proptest! {
    #[test]
    fn every_set_of_points_has_an_inertia_that_is_taken(
        points in prop::collection::vec((0.01..1.0_f64, vector()), 1..8),
        size in -30..30_i32,
    ) {
        let scale = 10_f64.powi(size);
        let j = of_points(&points).map(|row| row.map(|x| x * scale));
        prop_assert_eq!(check_inertia(&j, Inertias::AlsoFlat), Ok(()));
    }

    #[test]
    fn the_axes_of_an_inertia_do_not_matter(
        (a, b) in (0.1..1.0_f64, 0.1..1.0_f64),
        excess in -0.05..0.05_f64,
        axis in axis(),
        angle in -4.0..4.0,
    ) {
        // The third principal value compared with the sum of the others; within rounding, either result is valid.
        prop_assume!(excess.abs() > 1e-6);
        let j = turned(&diagonal([a, b, (a + b) * (1.0 + excess)]), axis, angle);
        prop_assert_eq!(check_inertia(&j, Inertias::Solid).is_ok(), excess < 0.0);
    }
}

#[test]
fn advice_on_names_does_not_depend_on_their_order() {
    let advice = |names: &[&str]| did_you_mean("bal", names.iter().copied(), "body");
    assert_eq!(advice(&["ball", "bell", "floor"]), "did you mean `ball`?");
    // Both are one letter away: the alphabetically first is suggested, in any order of the names.
    assert_eq!(advice(&["bat", "bad"]), advice(&["bad", "bat"]));
    assert_eq!(advice(&[]), "no body is defined");
    let many: Vec<String> = (0..50).map(|i| format!("something-{i:02}")).collect();
    let names: Vec<&str> = many.iter().map(String::as_str).collect();
    let told = advice(&names);
    assert!(told.starts_with("known: something-00, ") && told.ends_with("something-09"), "{told}");
}

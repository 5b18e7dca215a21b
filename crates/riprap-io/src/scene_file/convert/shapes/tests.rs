//! Coplanar and collinear points, and rotations.

use super::*;
use proptest::prelude::*;

fn vector() -> impl Strategy<Value = Vector> {
    prop::array::uniform3(-1.0..1.0_f64)
}

fn axis() -> impl Strategy<Value = Vector> {
    vector()
        .prop_filter_map("a direction", |v| unit(v).filter(|_| v.iter().any(|x| x.abs() > 1e-3)))
}

/// The largest area spanned by two vectors from the first point.
fn largest_area(points: &[Vector]) -> f64 {
    let arms = points.iter().map(|p| -> Vector { std::array::from_fn(|i| p[i] - points[0][i]) });
    let arms: Vec<Vector> = arms.collect();
    let area = |a: &Vector, b: &Vector| {
        let c =
            [0, 1, 2].map(|i| a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3]);
        c.iter().map(|x| x * x).sum::<f64>().sqrt()
    };
    arms.iter().flat_map(|a| arms.iter().map(move |b| area(a, b))).fold(0.0, f64::max)
}

proptest! {
    #[test]
    fn points_in_a_plane_are_flat_until_one_leaves_it(
        normal in axis(),
        offset in -2.0..2.0_f64,
        points in prop::collection::vec(vector(), 4..12),
        size in -6..6_i32,
    ) {
        let scale = 10_f64.powi(size);
        let in_plane = |p: &Vector| -> Vector {
            let height = (0..3).map(|i| p[i] * normal[i]).sum::<f64>() - offset;
            std::array::from_fn(|i| scale * (p[i] - height * normal[i]))
        };
        let mut points: Vec<Vector> = points.iter().map(in_plane).collect();
        prop_assume!(largest_area(&points) > 0.01 * scale * scale); // not on a line
        prop_assert!(flat(&points));
        let lifted = std::array::from_fn(|i| points[0][i] + 1e-3 * scale * normal[i]);
        points.push(lifted);
        prop_assert!(!flat(&points));
    }

    #[test]
    fn points_on_a_line_have_no_area(direction in -3.2..3.2_f64, at in prop::collection::vec(-1.0..1.0_f64, 3..9)) {
        let (sin, cos) = direction.sin_cos();
        let mut points: Vec<[f64; 2]> = at.iter().map(|s| [2.0 + s * cos, -1.0 + s * sin]).collect();
        prop_assert!(on_a_line(&points));
        prop_assume!(at.iter().any(|s| (s - at[0]).abs() > 0.01));
        points.push([points[0][0] - 1e-3 * sin, points[0][1] + 1e-3 * cos]);
        prop_assert!(!on_a_line(&points));
    }

    #[test]
    fn rotations_about_one_axis_add_up(axis in axis(), a in -6.0..6.0_f64, b in -6.0..6.0_f64) {
        let product = |[w, x, y, z]: [f64; 4], [v, i, j, k]: [f64; 4]| [
            w * v - x * i - y * j - z * k,
            w * i + x * v + y * k - z * j,
            w * j - x * k + y * v + z * i,
            w * k + x * j - y * i + z * v,
        ];
        let (both, sum) = (product(about(axis, a), about(axis, b)), about(axis, a + b));
        for (found, expected) in both.into_iter().zip(sum) {
            prop_assert!((found - expected).abs() < 1e-14);
        }
        let length: f64 = sum.iter().map(|x| x * x).sum();
        prop_assert!((length - 1.0).abs() < 1e-14);
    }
}

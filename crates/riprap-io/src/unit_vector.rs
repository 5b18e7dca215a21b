//! Normalization of user-supplied directions and quaternions.

/// The vector scaled to unit length, as scene files treat directions and quaternions. It is unchanged if it already has unit length up to rounding, so that
/// values that are written and read back stay bitwise identical. `None` if it has no direction.
///
/// ```
/// assert_eq!(riprap_io::unit([0.0, 0.0, -2.0]), Some([0.0, 0.0, -1.0]));
/// assert_eq!(riprap_io::unit([0.0; 3]), None);
/// ```
pub fn unit<const N: usize>(vector: [f64; N]) -> Option<[f64; N]> {
    let largest = vector.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    if !(largest > 0.0 && largest.is_finite()) {
        return None;
    }
    let square: f64 = vector.iter().map(|x| x * x).sum();
    if (square - 1.0).abs() < 1e-12 {
        return Some(vector);
    }
    // Scaled by the largest component first, so that squares neither overflow nor underflow.
    let scaled = vector.map(|x| x / largest);
    let length = scaled.iter().map(|x| x * x).sum::<f64>().sqrt();
    Some(scaled.map(|x| x / length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_vectors_are_unchanged_and_extreme_ones_keep_their_direction() {
        let third = unit([1.0, 1.0, 1.0]).unwrap();
        assert_eq!(unit(third), Some(third));
        assert_eq!(unit([0.0, 1e300, 0.0]), Some([0.0, 1.0, 0.0]));
        assert_eq!(unit([0.0, 1e-300, 0.0]), Some([0.0, 1.0, 0.0]));
        assert_eq!(unit([0.0; 3]), None);
    }

    #[test]
    fn vectors_without_a_direction_are_rejected() {
        for x in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 0.0, -0.0] {
            assert_eq!(unit([x, 0.0, -0.0]), None, "{x}");
        }
        assert_eq!(unit([1.0, f64::INFINITY]), None);
    }

    mod properties {
        use super::*;
        use proptest::prelude::*;

        /// Components of any size, from the smallest number to the largest.
        fn component() -> impl Strategy<Value = f64> {
            (-1.0..1.0_f64, -308..308_i32).prop_map(|(x, power)| x * 10_f64.powi(power))
        }

        proptest! {
            #[test]
            fn the_length_is_one_and_normalization_is_idempotent(vector in prop::array::uniform4(component())) {
                prop_assume!(vector.iter().any(|x| x.abs() > 0.0));
                let once = unit(vector).unwrap();
                let square: f64 = once.iter().map(|x| x * x).sum();
                prop_assert!((square - 1.0).abs() < 1e-12, "{}", square);
                prop_assert_eq!(unit(once).unwrap().map(f64::to_bits), once.map(f64::to_bits));
            }

            #[test]
            fn the_result_depends_on_the_direction_only(vector in prop::array::uniform3(-1.0..1.0_f64), power in -900..900_i32) {
                prop_assume!(vector.iter().any(|x| x.abs() > 1e-3));
                let square: f64 = vector.iter().map(|x| x * x).sum();
                prop_assume!((square - 1.0).abs() > 1e-9); // vectors of unit length are unchanged instead
                // Scaling by a power of two is exact.
                let scaled = unit(vector.map(|x| x * 2_f64.powi(power))).unwrap();
                let direction = unit(vector).unwrap();
                prop_assert_eq!(scaled.map(f64::to_bits), direction.map(f64::to_bits));
                prop_assert_eq!(unit(vector.map(|x| -x)).unwrap(), direction.map(|x| -x));
            }
        }
    }
}

//! Directions and quaternions that users give with any length.

/// The vector scaled to unit length; as it is where it has that length but for rounding, so that values
/// which were written and read again keep their bits. `None` if it has no direction.
pub(crate) fn unit<const N: usize>(vector: [f64; N]) -> Option<[f64; N]> {
    let largest = vector.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    if !(largest > 0.0 && largest.is_finite()) {
        return None;
    }
    let square: f64 = vector.iter().map(|x| x * x).sum();
    if (square - 1.0).abs() < 1e-12 {
        return Some(vector);
    }
    // Scaled by the largest component first: squares may neither overflow nor vanish.
    let scaled = vector.map(|x| x / largest);
    let length = scaled.iter().map(|x| x * x).sum::<f64>().sqrt();
    Some(scaled.map(|x| x / length))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_vectors_keep_their_bits_and_extreme_ones_their_direction() {
        let third = unit([1.0, 1.0, 1.0]).unwrap();
        assert_eq!(unit(third), Some(third));
        assert_eq!(unit([0.0, 1e300, 0.0]), Some([0.0, 1.0, 0.0]));
        assert_eq!(unit([0.0, 1e-300, 0.0]), Some([0.0, 1.0, 0.0]));
        assert_eq!(unit([0.0; 3]), None);
    }
}

//! Checks whether `W` can belong to a contact problem. `Hᵀ M⁻¹ H` is symmetric and has no negative
//! diagonal entries; in files it may be rounded, noisy, or wrong.

use super::matrix::Sparse;

/// Relative asymmetry up to which `W` counts as symmetric [–]: the error of sums of thousands of
/// products, intermediate single precision, or printed digits. It equals the default residual
/// tolerance of solves.
pub(super) const ROUNDING: f64 = 1e-8;
/// Relative asymmetry from which a file is refused [–]: a tenth of the mobility of a contact is not
/// noise, but a missing triangle, wrong indices, or another matrix.
const NONSENSE: f64 = 0.1;
/// Diagonal entries below this fraction of the largest one do not indicate the size of rounding
/// errors: they belong to locked or redundant directions [–].
const LOCKED: f64 = 1e-6;

/// The largest `|W_ij − W_ji|` over the larger of `W_ii` and `W_jj`; an entry that is missing is zero. Or why `W` is nonsense.
#[cfg(test)]
fn asymmetry(w: &Sparse) -> Result<f64, String> {
    let (share, verdict) = judge(w);
    verdict.map(|()| share)
}

/// The largest `|W_ij − W_ji|` over the larger of `W_ii` and `W_jj`, where an entry that is missing is zero, and why `W` is nonsense, if it is.
pub(super) fn judge(w: &Sparse) -> (f64, Result<(), String>) {
    let transposed = w.transposed();
    let diagonal: Vec<f64> = (0..w.rows())
        .map(|i| w.row(i).find(|(j, _)| *j == i).map_or(0.0, |(_, value)| value))
        .collect();
    let largest = diagonal.iter().fold(0.0f64, |m, x| m.max(x.abs()));
    let mut worst = (0.0, 0, 0);
    let mut differ = |i: usize, j: usize, difference: f64| {
        let size = diagonal[i].max(diagonal[j]).max(LOCKED * largest);
        let share = if difference == 0.0 { 0.0 } else { difference.abs() / size };
        if share.is_nan() || share > worst.0 {
            worst = (share, i, j);
        }
    };
    for i in 0..w.rows() {
        let (mut own, mut other) = (w.row(i).peekable(), transposed.row(i).peekable());
        loop {
            match (own.peek().copied(), other.peek().copied()) {
                (Some((j, x)), Some((k, y))) if j == k => {
                    differ(i, j, x - y);
                    own.next();
                    other.next();
                }
                (Some((j, x)), Some((k, _))) if j < k => {
                    differ(i, j, x);
                    own.next();
                }
                (_, Some((k, y))) => {
                    differ(i, k, y);
                    other.next();
                }
                (Some((j, x)), None) => {
                    differ(i, j, x);
                    own.next();
                }
                (None, None) => break,
            }
        }
    }
    let (share, i, j) = worst;
    if let Some(i) = diagonal.iter().position(|x| *x < -ROUNDING * largest) {
        let why = "an impulse never moves its own contact against itself";
        return (share, Err(format!("entry ({i}, {i}) is {:.3e}; {why}", diagonal[i])));
    }
    let verdict = match share <= NONSENSE {
        true => Ok(()),
        false => Err(format!(
            "entries ({i}, {j}) and ({j}, {i}) differ by {share:.1e} of the diagonal; W is symmetric: look for a triangle that is \
             missing, or for wrong indices"
        )),
    };
    (share, verdict)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3 × 3 with 2 on the diagonal and the given off-diagonal entries.
    fn matrix(entries: &[(usize, usize, f64)]) -> Sparse {
        let own = (0..3).map(|i| (i, i, 2.0));
        Sparse::from_entries(3, 3, own.chain(entries.iter().copied()).collect())
    }

    #[test]
    fn zeros_may_be_missing_and_entries_rounded() {
        for entries in [
            vec![],
            vec![(0, 1, 0.5), (1, 0, 0.5)],
            vec![(0, 1, 0.0), (2, 0, 0.0)],
            vec![(0, 1, 0.5), (1, 0, 0.5 + 1e-9), (0, 2, 1e-12)],
        ] {
            assert!(asymmetry(&matrix(&entries)).unwrap() <= ROUNDING, "{entries:?}");
        }
    }

    #[test]
    fn asymmetry_is_measured_against_the_mobility_of_the_contacts() {
        let found = asymmetry(&matrix(&[(0, 1, 0.5), (1, 0, 0.52)])).unwrap();
        assert!((found - 0.01).abs() < 1e-12, "{found}");
        // Only in one triangle.
        let found = asymmetry(&matrix(&[(2, 0, 0.02)])).unwrap();
        assert!((found - 0.01).abs() < 1e-12, "{found}");
    }

    #[test]
    fn a_missing_triangle_and_a_negative_diagonal_are_refused() {
        let told = asymmetry(&matrix(&[(0, 1, 0.5), (0, 2, 0.7), (1, 2, 0.1)])).unwrap_err();
        assert!(told.contains("entries (0, 2) and (2, 0) differ by 3.5e-1"), "{told}");
        let told = asymmetry(&matrix(&[(1, 1, -2.5)])).unwrap_err();
        assert!(told.contains("entry (1, 1) is -5.000e-1"), "{told}");
        let infinite = asymmetry(&Sparse::from_entries(2, 2, vec![(0, 1, 1.0)]));
        assert!(infinite.is_err());
    }
}

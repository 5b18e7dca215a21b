//! Partition into independent joints and joints determined by the loops, by pivoted elimination.
//!
//! The rule: eliminate in `J_B`, each time with the largest remaining weighted entry over all
//! equations and all coordinates that may depend (those without a prescribed motion) as pivot. The
//! columns of the pivots are the dependent joints, their rows the equations in use; rows without a
//! pivot are redundant. Entries are made dimensionless with a length of the mechanism, so the
//! choice does not depend on the size of the machine.
//!
//! The weights keep coordinates independent if contacts are direct in them. A step moves an
//! independent coordinate by exactly `h v`, so a gap that depends on it stays closed once its
//! contact velocity is zero. A dependent coordinate follows through the loops, by `h v` and a term of
//! order `h²`: such a contact chatters.

/// Pivots below this fraction of the largest one count as zero: such equations are redundant.
const REDUNDANT: f64 = 1e-9;

/// Weight of coordinates in which contacts are direct: they become dependent only if their pivot is
/// ten times the best other one.
pub(super) const DIRECT: f64 = 0.1;

/// A partition of the coordinates of a mechanism.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Partition {
    /// Columns that the loops determine.
    pub dependent: Vec<u32>,
    /// Columns that are free.
    pub independent: Vec<u32>,
    /// Loop equations in use, as many as dependent columns.
    pub rows: Vec<u32>,
    /// Equations that follow from the others.
    pub redundant: Vec<u32>,
    /// Ratio of the smallest pivot to the largest entry of `J_dep` when it was chosen [–].
    pub conditioning: f64,
}

/// Chooses a partition for a Jacobian (`n_rows` × `n`, row-major). `preference` sorts the columns
/// into stages: 0 is tried first for dependent columns, then 1, and so on; 255 never depends.
/// `driven` columns belong to neither set. Pivots are multiplied by the `weight` of their column
/// before they are compared.
pub(super) fn choose(
    jacobian: &[f64],
    n_rows: usize,
    n: usize,
    preference: &[u8],
    driven: &[bool],
    weight: &[f64],
) -> Partition {
    let mut a = jacobian.to_vec();
    let mut rows: Vec<usize> = (0..n_rows).collect();
    let mut used = vec![false; n];
    let mut partition = Partition::default();
    let scale = a.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let (mut smallest, mut largest) = (f64::INFINITY, 0.0_f64);
    let mut stages: Vec<u8> = preference.iter().copied().filter(|p| *p < 255).collect();
    stages.sort_unstable();
    stages.dedup();
    let mut k = 0;
    for stage in stages {
        while k < n_rows {
            let mut best = (0.0, 0, 0);
            for i in k..n_rows {
                for j in (0..n).filter(|&j| !used[j] && !driven[j] && preference[j] == stage) {
                    let size = a[i * n + j].abs();
                    // Rounding errors left by elimination are not pivots, whatever their weight.
                    if size > REDUNDANT * scale && size * weight[j] > best.0 {
                        best = (size * weight[j], i, j);
                    }
                }
            }
            let (weighted, i, j) = best;
            // NaN never wins above; an empty stage leaves 0.
            if weighted == 0.0 {
                break;
            }
            let size = a[i * n + j].abs();
            smallest = smallest.min(size);
            largest = largest.max(size);
            used[j] = true;
            rows.swap(k, i);
            for c in 0..n {
                a.swap(k * n + c, i * n + c);
            }
            let pivot = a[k * n + j];
            for r in k + 1..n_rows {
                let factor = a[r * n + j] / pivot;
                if factor != 0.0 {
                    for c in 0..n {
                        a[r * n + c] -= factor * a[k * n + c];
                    }
                    a[r * n + j] = 0.0;
                }
            }
            partition.dependent.push(j as u32);
            k += 1;
        }
    }
    partition.rows = rows[..k].iter().map(|r| *r as u32).collect();
    partition.redundant = rows[k..].iter().map(|r| *r as u32).collect();
    partition.redundant.sort_unstable();
    partition.independent = (0..n).filter(|&j| !used[j] && !driven[j]).map(|j| j as u32).collect();
    partition.conditioning = if k == 0 { 1.0 } else { smallest / largest };
    partition
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::fixtures::{Rng, seeded};
    use nalgebra::DMatrix;
    use rand::RngExt;

    #[test]
    fn the_largest_entries_determine_the_dependent_columns() {
        let j = [1.0, 0.1, 0.0, 0.2, 0.1, 3.0];
        let p = choose(&j, 2, 3, &[0; 3], &[false; 3], &[1.0; 3]);
        assert_eq!((p.dependent, p.independent), (vec![2, 0], vec![1]));
        assert!(p.redundant.is_empty());
    }

    #[test]
    fn redundant_equations_are_found() {
        let j = [1.0, 2.0, 2.0, 4.0, -1.0, -2.0];
        let p = choose(&j, 3, 2, &[0; 2], &[false; 2], &[1.0; 2]);
        assert_eq!((p.dependent.len(), p.redundant.len()), (1, 2));
    }

    #[test]
    fn preferred_columns_come_first_and_driven_ones_never() {
        let j = [1.0, 2.0, 3.0];
        let p = choose(&j, 1, 3, &[0, 1, 0], &[false, false, true], &[1.0; 3]);
        assert_eq!((p.dependent, p.independent), (vec![0], vec![1]));
    }

    #[test]
    fn columns_in_which_contacts_are_direct_depend_only_where_the_others_are_ten_times_worse() {
        let weight = [DIRECT, 1.0];
        for (pivots, dependent) in [([1.0, 0.2], 1), ([1.0, 0.05], 0), ([0.01, 0.0], 0)] {
            let p = choose(&pivots, 1, 2, &[0; 2], &[false; 2], &weight);
            assert_eq!(p.dependent, [dependent], "{pivots:?}");
        }
    }

    /// A matrix of a given rank.
    fn of_rank(rng: &mut Rng, rows: usize, columns: usize, rank: usize) -> DMatrix<f64> {
        let left = DMatrix::from_fn(rows, rank, |_, _| rng.random_range(-1.0..1.0));
        let right = DMatrix::from_fn(rank, columns, |_, _| rng.random_range(-1.0..1.0));
        left * right
    }

    fn choose_all(j: &DMatrix<f64>) -> Partition {
        let (m, n) = j.shape();
        let by_rows: Vec<f64> = j.transpose().iter().copied().collect();
        choose(&by_rows, m, n, &vec![0; n], &vec![false; n], &vec![1.0; n])
    }

    #[test]
    fn the_number_of_dependent_columns_is_the_rank_and_they_are_determined() {
        let mut rng = seeded(21);
        for _ in 0..200 {
            let (m, n) = (rng.random_range(1..8), rng.random_range(1..9));
            let rank = rng.random_range(1..=m.min(n));
            let j = of_rank(&mut rng, m, n, rank);
            let p = choose_all(&j);
            assert_eq!(
                (p.dependent.len(), p.rows.len(), p.redundant.len()),
                (rank, rank, m - rank)
            );
            // Each coordinate and each equation is in exactly one set.
            let mut columns: Vec<u32> = p.dependent.iter().chain(&p.independent).copied().collect();
            let mut rows: Vec<u32> = p.rows.iter().chain(&p.redundant).copied().collect();
            columns.sort_unstable();
            rows.sort_unstable();
            assert!(columns.into_iter().eq(0..n as u32) && rows.into_iter().eq(0..m as u32));
            // The block of the dependent columns is nonsingular.
            let block = DMatrix::from_fn(rank, rank, |i, k| {
                j[(p.rows[i] as usize, p.dependent[k] as usize)]
            });
            assert!(block.singular_values().min() > 1e-9 * block.abs().max());
            assert!(p.conditioning > 0.0 && p.conditioning <= 1.0);
        }
    }

    #[test]
    fn the_choice_does_not_depend_on_the_order_of_equations_and_coordinates_nor_on_the_scale() {
        let mut rng = seeded(22);
        for _ in 0..100 {
            let (m, n) = (4, 7);
            let j = of_rank(&mut rng, m, n, m);
            let chosen = |p: &Partition, name: &dyn Fn(u32) -> u32| {
                let mut d: Vec<u32> = p.dependent.iter().map(|c| name(*c)).collect();
                d.sort_unstable();
                d
            };
            let plain = choose_all(&j);
            let mut order: Vec<usize> = (0..n).collect();
            order.rotate_left(rng.random_range(0..n));
            order.swap(0, 3);
            let shuffled = DMatrix::from_fn(m, n, |i, k| j[(m - 1 - i, order[k])]);
            let p = choose_all(&shuffled);
            assert_eq!(chosen(&plain, &|c| c), chosen(&p, &|c| order[c as usize] as u32));
            // The same pivots, up to rounding.
            assert!((plain.conditioning - p.conditioning).abs() < 1e-12);
            assert_eq!(plain, choose_all(&(&j * 1024.0)), "a power of two is exact");
        }
    }

    #[test]
    fn columns_that_never_depend_leave_equations_unused() {
        let j = [1.0, 0.0, 0.0, 1.0];
        let p = choose(&j, 2, 2, &[0, 255], &[false; 2], &[1.0; 2]);
        assert_eq!((p.dependent, p.independent, p.redundant), (vec![0], vec![1], vec![1]));
        let p = choose(&[], 0, 3, &[0; 3], &[false, true, false], &[1.0; 3]);
        assert_eq!((p.independent, p.conditioning), (vec![0, 2], 1.0));
    }

    #[test]
    fn nan_never_becomes_a_pivot() {
        let p = choose(&[f64::NAN, 2.0], 1, 2, &[0; 2], &[false; 2], &[1.0; 2]);
        assert_eq!(p.dependent, [1]);
    }
}

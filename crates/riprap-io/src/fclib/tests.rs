//! The algebra behind the reader: sparse matrices, banded and dense factorizations, and the reduction to a local problem.

use std::fs;

use tempfile::TempDir;

use super::hdf5::{Group, Source, Value};
use super::matrix::{Banded, Dense, Sparse};
use super::reduce::{to_local, without_equalities};

type Entry = (usize, usize, f64);

/// Reproducible numbers between −1 and 1.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.next()).collect()
    }

    /// A matrix with about a fraction `share` of its entries nonzero.
    fn entries(&mut self, rows: usize, columns: usize, share: f64) -> Vec<Entry> {
        let places = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
        let all: Vec<(usize, usize)> = places.collect();
        let kept = all.into_iter().filter_map(|(i, j)| {
            let value = self.next();
            (0.5 * (self.next() + 1.0) < share).then_some((i, j, value))
        });
        kept.collect()
    }

    /// A symmetric, diagonally dominant matrix: nonsingular and well conditioned.
    fn mass(&mut self, n: usize, share: f64) -> Vec<Entry> {
        let half: Vec<Entry> =
            self.entries(n, n, share).into_iter().filter(|(i, j, _)| i < j).collect();
        let mirrored = half.iter().flat_map(|&(i, j, x)| [(i, j, x), (j, i, x)]);
        mirrored.chain((0..n).map(|i| (i, i, n as f64))).collect()
    }
}

fn full(m: &Sparse) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![0.0; m.columns]; m.rows()];
    for (i, row) in rows.iter_mut().enumerate() {
        m.row(i).for_each(|(j, x)| row[j] = x);
    }
    rows
}

fn times(m: &[Vec<f64>], x: &[f64]) -> Vec<f64> {
    m.iter().map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
}

/// The solution of `A x = b` by plain elimination.
fn plain_solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let best = (k..n).max_by(|i, j| a[*i][k].abs().total_cmp(&a[*j][k].abs())).unwrap();
        a.swap(k, best);
        b.swap(k, best);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - sum) / a[k][k];
    }
    b
}

#[track_caller]
fn near(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (k, (x, y)) in a.iter().zip(b).enumerate() {
        assert!((x - y).abs() <= tolerance, "entry {k}: {x} and {y}");
    }
}

#[test]
fn duplicate_entries_are_summed_and_rows_without_entries_are_empty() {
    let m = Sparse::from_entries(4, 3, vec![(2, 1, 1.0), (0, 2, 5.0), (2, 0, 3.0), (2, 1, 0.5)]);
    assert_eq!((m.rows(), m.columns), (4, 3));
    assert_eq!(m.row(0).collect::<Vec<_>>(), [(2, 5.0)]);
    assert_eq!(m.row(1).count() + m.row(3).count(), 0);
    assert_eq!(m.row(2).collect::<Vec<_>>(), [(0, 3.0), (1, 1.5)]);
    // The last entry of a row and the first of the next share a column: they stay separate.
    let m = Sparse::from_entries(2, 2, vec![(0, 1, 1.0), (1, 1, 2.0)]);
    assert_eq!(full(&m), [[0.0, 1.0], [0.0, 2.0]]);
    let nothing = Sparse::from_entries(0, 0, Vec::new());
    assert_eq!((nothing.rows(), nothing.columns), (0, 0));
}

#[test]
fn transposing_a_matrix_twice_restores_it() {
    let mut numbers = Numbers(1);
    for (rows, columns) in [(1, 1), (7, 3), (3, 7), (12, 12)] {
        let m = Sparse::from_entries(rows, columns, numbers.entries(rows, columns, 0.4));
        let t = m.transposed();
        assert_eq!((t.rows(), t.columns), (columns, rows));
        let (a, b) = (full(&m), full(&t));
        assert!((0..rows).all(|i| (0..columns).all(|j| a[i][j] == b[j][i])));
        assert_eq!(t.transposed(), m);
    }
}

#[test]
fn components_contain_every_row_once_and_are_not_coupled() {
    let mut numbers = Numbers(2);
    for n in [1, 5, 40] {
        let m = Sparse::from_entries(n, n, numbers.entries(n, n, 0.6 / n as f64));
        let components = m.components();
        let mut of = vec![usize::MAX; n];
        for (c, rows) in components.iter().enumerate() {
            for row in rows {
                assert_eq!(of[*row], usize::MAX, "row {row} appears twice");
                of[*row] = c;
            }
        }
        assert!((0..n).all(|i| m.row(i).all(|(j, _)| of[i] == of[j])));
    }
}

#[test]
fn a_chain_in_any_order_becomes_a_band_of_one() {
    // Masses in a row, numbered at random: each is coupled to its two neighbours.
    let n = 31;
    let name = |k: usize| 7 * k % n;
    let ties = (1..n).flat_map(|k| {
        let (a, b) = (name(k - 1), name(k));
        [(a, b, -1.0), (b, a, -1.0)]
    });
    let m = Sparse::from_entries(n, n, ties.chain((0..n).map(|i| (i, i, 3.0))).collect());
    let components = m.components();
    assert_eq!(components.len(), 1);
    let mut place = vec![0; n];
    components[0].iter().enumerate().for_each(|(k, row)| place[*row] = k);
    let widest = (0..n).flat_map(|i| m.row(i).map(move |(j, _)| (i, j)));
    let widest = widest.map(|(i, j)| place[i].abs_diff(place[j])).max();
    assert_eq!(widest, Some(1));
}

/// The solution of `A x = b` by the factors of a banded matrix, in its own ordering.
fn banded_solve(m: &Sparse, b: &[f64]) -> Option<Vec<f64>> {
    let mut x = vec![0.0; b.len()];
    let mut place = vec![0; b.len()];
    for rows in m.components() {
        rows.iter().enumerate().for_each(|(k, row)| place[*row] = k);
        let factors = Banded::factorize(m, &rows, &place)?;
        let mut part: Vec<f64> = rows.iter().map(|row| b[*row]).collect();
        factors.solve(&mut part);
        rows.iter().zip(part).for_each(|(row, value)| x[*row] = value);
    }
    Some(x)
}

#[test]
fn banded_factors_solve_their_own_matrix() {
    let mut numbers = Numbers(3);
    for n in [1, 2, 3, 10, 30] {
        for share in [0.05, 0.3, 1.0] {
            let m = Sparse::from_entries(n, n, numbers.mass(n, share));
            let x = numbers.vector(n);
            let found = banded_solve(&m, &times(&full(&m), &x)).unwrap();
            near(&found, &x, 1e-13); // diagonally dominant: condition number below 3
        }
    }
}

#[test]
fn banded_factors_pivot_where_the_diagonal_is_zero() {
    // A saddle point, [M G; Gᵀ 0]: the usual form of constraints.
    let saddle =
        vec![(0, 0, 2.0), (1, 1, 1.0), (0, 2, 1.0), (2, 0, 1.0), (1, 2, -1.0), (2, 1, -1.0)];
    let m = Sparse::from_entries(3, 3, saddle);
    let x = [1.0, -2.0, 0.5];
    near(&banded_solve(&m, &times(&full(&m), &x)).unwrap(), &x, 1e-15);
    let mut numbers = Numbers(4);
    for n in [4, 9, 20] {
        // Not symmetric, nothing on the diagonal.
        let entries: Vec<Entry> =
            numbers.entries(n, n, 1.0).into_iter().filter(|(i, j, _)| i != j).collect();
        let m = Sparse::from_entries(n, n, entries);
        let b = numbers.vector(n);
        let found = banded_solve(&m, &b).unwrap();
        // The residual, because the condition number is unknown.
        near(&times(&full(&m), &found), &b, 1e-11);
    }
}

#[test]
fn singular_matrices_have_no_banded_factors() {
    let twice = vec![(0, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 4.0)];
    assert!(banded_solve(&Sparse::from_entries(2, 2, twice), &[1.0, 2.0]).is_none());
    let empty_row = vec![(0, 0, 1.0)];
    assert!(banded_solve(&Sparse::from_entries(2, 2, empty_row), &[1.0, 0.0]).is_none());
    // Small is not singular: rows are judged by their own magnitude.
    let small = vec![(0, 0, 1e-200), (1, 1, 1e200)];
    let found = banded_solve(&Sparse::from_entries(2, 2, small), &[1e-200, 1e200]).unwrap();
    assert_eq!(found, [1.0, 1.0]);
}

#[test]
fn dense_factors_find_the_rank_and_solve_consistent_systems() {
    let mut numbers = Numbers(5);
    for n in [0, 1, 4, 12] {
        let a = numbers.vector(n * n);
        let rows: Vec<Vec<f64>> = a.chunks(n.max(1)).map(<[f64]>::to_vec).collect();
        let m = Dense::factorize(n, a);
        assert_eq!(m.rank(), n);
        let b = numbers.vector(n);
        near(&times(&rows, &m.solve(&b)), &b, 1e-11); // condition number of random matrices
    }
    // Two of four equations repeat the others.
    let rows =
        [[1.0, 2.0, 0.0, 1.0], [0.0, 1.0, 1.0, 0.0], [1.0, 3.0, 1.0, 1.0], [2.0, 4.0, 0.0, 2.0]];
    let m = Dense::factorize(4, rows.concat());
    assert_eq!(m.rank(), 2);
    let rows: Vec<Vec<f64>> = rows.iter().map(|row| row.to_vec()).collect();
    let b = times(&rows, &[1.0, -1.0, 2.0, 0.5]);
    near(&times(&rows, &m.solve(&b)), &b, 1e-14);
    assert_eq!(Dense::factorize(3, vec![0.0; 9]).rank(), 0);
}

/// `W` and `q` with constraints, from the full saddle-point system solved column by column.
fn by_saddle_point([m, h, g]: [&Sparse; 3], [f, w, b]: [&[f64]; 3]) -> (Vec<Vec<f64>>, Vec<f64>) {
    let (n, k, c) = (f.len(), w.len(), b.len());
    let mut saddle = vec![vec![0.0; n + c]; n + c];
    for i in 0..n {
        m.row(i).for_each(|(j, x)| saddle[i][j] = x);
        for (j, x) in g.row(i) {
            (saddle[i][n + j], saddle[n + j][i]) = (-x, x);
        }
    }
    let h = full(h);
    // M v − G λ = right, Gᵀ v = −below; u = Hᵀ v.
    let velocity = |right: Vec<f64>, below: Vec<f64>| {
        let v = plain_solve(saddle.clone(), [right, below].concat());
        (0..k).map(|a| (0..n).map(|i| h[i][a] * v[i]).sum::<f64>()).collect::<Vec<f64>>()
    };
    let columns: Vec<Vec<f64>> =
        (0..k).map(|a| velocity((0..n).map(|i| h[i][a]).collect(), vec![0.0; c])).collect();
    let matrix = (0..k).map(|a| (0..k).map(|b| columns[b][a]).collect()).collect();
    let free = velocity(f.to_vec(), b.iter().map(|x| -x).collect());
    (matrix, free.iter().zip(w).map(|(u, w)| u + w).collect())
}

#[test]
fn reduction_agrees_with_the_full_system() {
    let mut numbers = Numbers(6);
    for (n, contacts, constraints) in [(1, 1, 0), (6, 2, 0), (12, 3, 2), (20, 5, 4)] {
        let m = Sparse::from_entries(n, n, numbers.mass(n, 0.2));
        let h = Sparse::from_entries(n, 3 * contacts, numbers.entries(n, 3 * contacts, 0.5));
        let g = Sparse::from_entries(n, constraints, numbers.entries(n, constraints, 0.8));
        let (f, w) = (numbers.vector(n), numbers.vector(3 * contacts));
        let b = numbers.vector(constraints);
        let (found, q) = to_local(&m, &h, &g, &f, &w, &b).unwrap();
        let (expected, free) = by_saddle_point([&m, &h, &g], [&f, &w, &b]);
        near(&full(&found).concat(), &expected.concat(), 1e-12);
        near(&q, &free, 1e-12);
        // W is symmetric, as M is.
        let rows = full(&found);
        near(&rows.concat(), &full(&found.transposed()).concat(), 1e-14);
    }
}

#[test]
fn a_ball_on_a_floor_has_the_inverse_of_its_mass() {
    let m = Sparse::from_entries(3, 3, vec![(0, 0, 4.0), (1, 1, 4.0), (2, 2, 4.0)]);
    // Normal up, tangents along x and y.
    let h = Sparse::from_entries(3, 3, vec![(2, 0, 1.0), (0, 1, 1.0), (1, 2, 1.0)]);
    let none = Sparse::from_entries(3, 0, Vec::new());
    let (w, q) = to_local(&m, &h, &none, &[8.0, 0.0, -4.0], &[0.5, 0.0, 0.0], &[]).unwrap();
    assert_eq!(full(&w), [[0.25, 0.0, 0.0], [0.0, 0.25, 0.0], [0.0, 0.0, 0.25]]);
    assert_eq!(q, [-0.5, 2.0, 0.0]);

    // Held along x by two identical constraints: that tangent no longer moves under any impulse.
    let g = Sparse::from_entries(3, 2, vec![(0, 0, 1.0), (0, 1, 2.0)]);
    let (w, q) = to_local(&m, &h, &g, &[8.0, 0.0, -4.0], &[0.5, 0.0, 0.0], &[0.0, 0.0]).unwrap();
    near(&full(&w).concat(), &[0.25, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.25], 1e-15);
    near(&q, &[-0.5, 0.0, 0.0], 1e-15);
    // … and with two different speeds they are contradictory.
    let refused = to_local(&m, &h, &g, &[8.0, 0.0, -4.0], &[0.5, 0.0, 0.0], &[1.0, 1.0]);
    assert!(refused.unwrap_err().contains("contradict"));
    let massless = Sparse::from_entries(3, 3, vec![(0, 0, 4.0), (1, 1, 4.0)]);
    let refused = to_local(&massless, &h, &none, &[0.0; 3], &[0.0; 3], &[]).unwrap_err();
    assert_eq!(refused, "the matrix is singular (near row 2)");
}

#[test]
fn equalities_leave_the_schur_complement() {
    let mut numbers = Numbers(7);
    for (n, equalities) in [(3, 1), (9, 4)] {
        let w = Sparse::from_entries(n, n, numbers.mass(n, 0.5));
        let v = Sparse::from_entries(n, equalities, numbers.entries(n, equalities, 0.9));
        let r = Sparse::from_entries(equalities, equalities, numbers.mass(equalities, 0.5));
        let (q, s) = (numbers.vector(n), numbers.vector(equalities));
        let (found, free) = without_equalities(&w, &v, &r, &q, &s).unwrap();
        // For any r, the multipliers λ = −R⁻¹ (Vᵀ r + s) give the same velocities.
        let impulses = numbers.vector(n);
        let (wide, tall) = (full(&v.transposed()), full(&v));
        let right = times(&wide, &impulses).iter().zip(&s).map(|(a, b)| -(a + b)).collect();
        let lambda = plain_solve(full(&r), right);
        let u: Vec<f64> = times(&full(&w), &impulses)
            .iter()
            .zip(&times(&tall, &lambda))
            .zip(&q)
            .map(|((a, b), c)| a + b + c)
            .collect();
        let reduced: Vec<f64> =
            times(&full(&found), &impulses).iter().zip(&free).map(|(a, b)| a + b).collect();
        near(&reduced, &u, 1e-12);
    }
}

/// A small file with every kind of value.
fn sample() -> Vec<u8> {
    let inner = Group::new("inner")
        .with("reals", Value::Reals(&[0.1, -0.0, 1e-300]))
        .with("none", Value::Reals(&[]));
    let outer = Group::new("outer")
        .with("whole", Value::Integers(&[7, -8]))
        .with("one", Value::Integers(&[42]))
        .with("text", Value::Text("stones, β\0 and γ"))
        .group(inner);
    super::hdf5::file(&[outer]).unwrap()
}

#[test]
fn arrays_and_strings_are_read_back_by_path() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("sample.hdf5");
    fs::write(&path, sample()).unwrap();
    let file = Source::open(&path).unwrap();
    assert!(file.has_group("outer/inner") && !file.has_group("inner"));
    let reals = file.reals("outer/inner/reals").unwrap().unwrap();
    assert_eq!(
        reals.iter().map(|x| x.to_bits()).collect::<Vec<_>>(),
        [0.1, -0.0, 1e-300].map(f64::to_bits)
    );
    assert_eq!(file.integers("outer/whole").unwrap().unwrap(), [7, -8]);
    assert_eq!(file.integer("outer/one").unwrap(), 42);
    assert_eq!(file.text("outer/text"), "stones, β  and γ"); // a zero would end it
    assert_eq!(
        (file.reals("outer/nothing").unwrap(), file.text("outer/nothing")),
        (None, String::new())
    );

    let message = |error: crate::Error| error.to_string();
    let told = message(file.integer("outer/whole").unwrap_err());
    assert!(told.ends_with("`outer/whole`: expected one number, got 2"), "{told}");
    let told = message(file.integer("outer/nothing").unwrap_err());
    assert!(told.contains("there is no such dataset"), "{told}");
    let told = message(file.reals("outer/whole").unwrap_err());
    assert!(told.contains("sample.hdf5: `outer/whole`: expected real numbers"), "{told}");
    let told = message(file.integers("outer/inner/reals").unwrap_err());
    assert!(told.contains("expected integers"), "{told}");
}

#[test]
fn damaged_files_are_refused_or_read_but_never_cause_a_panic() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("damaged.hdf5");
    let good = sample();
    let look = |bytes: &[u8]| {
        fs::write(&path, bytes).unwrap();
        if let Ok(file) = Source::open(&path) {
            let _ = (file.reals("outer/inner/reals"), file.integers("outer/whole"));
            let _ = (file.text("outer/text"), file.has_group("outer/inner"));
        }
    };
    for end in (0..good.len()).step_by(41) {
        look(&good[..end]);
    }
    for at in (0..good.len()).step_by(13) {
        let mut bad = good.clone();
        bad[at] ^= 0xff;
        look(&bad);
    }
    fs::write(&path, "solid stone").unwrap();
    let told = Source::open(&path).err().unwrap().to_string();
    assert!(told.contains("damaged.hdf5: this is not an HDF5 file"), "{told}");
}

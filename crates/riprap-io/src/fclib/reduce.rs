//! From the forms with bodies or equality constraints to `W` and `q` of the contacts alone.

use super::matrix::{Banded, Dense, Sparse};

type Reduced = Result<(Sparse, Vec<f64>), String>;

/// `W = Hᵀ M⁻¹ H` and `q = Hᵀ M⁻¹ f + w`, with the constraints `Gᵀ v + b = 0` enforced by
/// elimination of their multipliers. Uncoupled parts of `M` (bodies) are factorized separately.
pub(super) fn to_local(
    m: &Sparse,
    h: &Sparse,
    g: &Sparse,
    f: &[f64],
    w: &[f64],
    b: &[f64],
) -> Reduced {
    let (n, n_g) = (h.columns, g.columns);
    // All right-hand sides: H, G, f.
    let mut entries: Vec<(usize, usize, f64)> = Vec::new();
    let mut place = vec![0; f.len()];
    let mut line = vec![0.0; 0];
    let mut found = Products { s: vec![0.0; n_g * n_g], b: b.to_vec(), ..Default::default() };
    let mut q = w.to_vec();
    for rows in m.components() {
        for (k, row) in rows.iter().enumerate() {
            place[*row] = k;
        }
        let factors = Banded::factorize(m, &rows, &place).ok_or_else(|| {
            format!("the matrix is singular (near row {})", rows.iter().min().unwrap_or(&0))
        })?;
        // Columns of H and G that act here, and their rows.
        let left: Vec<(usize, usize, f64)> = rows
            .iter()
            .enumerate()
            .flat_map(|(k, row)| {
                let h = h.row(*row);
                let g = g.row(*row).map(move |(j, x)| (n + j, x));
                h.chain(g).map(move |(j, x)| (k, j, x))
            })
            .collect();
        let mut by_column: std::collections::BTreeMap<usize, Vec<(usize, f64)>> =
            Default::default();
        for (k, j, x) in &left {
            by_column.entry(*j).or_default().push((*k, *x));
        }
        line.resize(rows.len(), 0.0);
        line.iter_mut().zip(&rows).for_each(|(x, row)| *x = f[*row]);
        factors.solve(&mut line);
        for (i, column) in &by_column {
            let sum: f64 = column.iter().map(|(k, x)| x * line[*k]).sum();
            match i.checked_sub(n) {
                None => q[*i] += sum,
                Some(i) => found.b[i] += sum,
            }
        }
        for (j, column) in &by_column {
            line.iter_mut().for_each(|x| *x = 0.0);
            column.iter().for_each(|(k, x)| line[*k] = *x);
            factors.solve(&mut line);
            for (i, column) in &by_column {
                let sum: f64 = column.iter().map(|(k, x)| x * line[*k]).sum();
                match (i.checked_sub(n), j.checked_sub(n)) {
                    (None, None) => entries.push((*i, *j, sum)),
                    (None, Some(j)) => found.left.push((*i, j, sum)),
                    (Some(i), None) => found.right.push((i, *j, sum)),
                    (Some(i), Some(j)) => found.s[i * n_g + j] += sum,
                }
            }
        }
    }
    let w = Sparse::from_entries(n, n, entries);
    if n_g == 0 {
        return Ok((w, q));
    }
    eliminate(&w, &q, &found)
}

/// Eliminates the multipliers of `0 = Vᵀ r + R λ + s` in `u = W r + V λ + q`.
pub(super) fn without_equalities(
    w: &Sparse,
    v: &Sparse,
    r: &Sparse,
    q: &[f64],
    s: &[f64],
) -> Reduced {
    let n = s.len();
    let mut found = Products { s: vec![0.0; n * n], b: s.to_vec(), ..Default::default() };
    for i in 0..n {
        r.row(i).for_each(|(j, x)| found.s[i * n + j] = x);
    }
    for i in 0..v.rows() {
        found.left.extend(v.row(i).map(|(j, x)| (i, j, x)));
        found.right.extend(v.row(i).map(|(j, x)| (j, i, x)));
    }
    eliminate(w, q, &found)
}

/// The additional terms: `u = W r + q + B λ`, `0 = S λ + C r + b`.
#[derive(Default)]
struct Products {
    /// `B`.
    left: Vec<(usize, usize, f64)>,
    /// `C`.
    right: Vec<(usize, usize, f64)>,
    /// `S`, row-major.
    s: Vec<f64>,
    b: Vec<f64>,
}

/// `W − B S⁻¹ C` and `q − B S⁻¹ b`. Redundant constraints are allowed, contradictory ones are not.
fn eliminate(w: &Sparse, q: &[f64], found: &Products) -> Reduced {
    let n_g = found.b.len();
    let s = Dense::factorize(n_g, found.s.clone());
    let b = Sparse::from_entries(q.len(), n_g, found.left.clone());
    let c = Sparse::from_entries(n_g, q.len(), found.right.clone()).transposed();
    let contradiction = |column: &[f64], x: &[f64]| {
        let size = column.iter().fold(0.0f64, |m, v| m.max(v.abs()));
        let left = |i: usize| (0..n_g).map(|j| found.s[i * n_g + j] * x[j]).sum::<f64>();
        s.rank() < n_g && (0..n_g).any(|i| (left(i) - column[i]).abs() > 1e-6 * size)
    };
    let mut entries: Vec<(usize, usize, f64)> = Vec::new();
    for i in 0..q.len() {
        entries.extend(w.row(i).map(|(j, x)| (i, j, x)));
    }
    let mut free = q.to_vec();
    let mut column = vec![0.0; n_g];
    for j in 0..=q.len() {
        column.iter_mut().for_each(|x| *x = 0.0);
        match j < q.len() {
            true => c.row(j).for_each(|(i, x)| column[i] = x),
            false => column.copy_from_slice(&found.b),
        }
        if column.iter().all(|x| *x == 0.0) {
            continue;
        }
        let lambda = s.solve(&column);
        if contradiction(&column, &lambda) {
            return Err("the equality constraints contradict each other".into());
        }
        for i in 0..q.len() {
            let sum: f64 = b.row(i).map(|(k, x)| x * lambda[k]).sum();
            if sum != 0.0 {
                match j < q.len() {
                    true => entries.push((i, j, -sum)),
                    false => free[i] -= sum,
                }
            }
        }
    }
    Ok((Sparse::from_entries(q.len(), q.len(), entries), free))
}

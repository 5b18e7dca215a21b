//! Other ways to solve the same problems: enumeration of all lists, and Lemke's algorithm for the
//! linear complementarity problem of the polyhedral cone. They use dense matrices and share no code
//! with the solver.

use super::random::Owned;
use riprap::friction::{Delassus, Friction};
use riprap::math::dense::Lu;
use std::f64::consts::PI;

/// An unknown force: its contact, directions of its acceleration and force in the frame, and the
/// bound on friction; 0 for normal forces.
#[derive(Clone, Copy, Debug)]
pub struct Unknown {
    contact: usize,
    row: [f64; 3],
    column: [f64; 3],
    bound: f64,
}

/// A problem multiplied out in its unknowns: `a = b + A f`.
#[derive(Clone, Debug)]
pub struct Plain {
    /// Normal forces, each followed by the axes of its contact.
    pub unknowns: Vec<Unknown>,
    /// `A` by rows.
    pub matrix: Vec<f64>,
    /// Accelerations without forces [m/s²].
    pub b: Vec<f64>,
}

impl Plain {
    /// Multiplies out a problem, with cones of `facets` sides in space.
    pub fn new(owned: &Owned, facets: usize) -> Plain {
        let w = match &owned.w {
            Delassus::Factored(w) => w.to_blocks(),
            Delassus::Blocks(w) => w.clone(),
        };
        let mut unknowns = Vec::new();
        for (contact, friction) in owned.friction.iter().enumerate() {
            let normal = [1.0, 0.0, 0.0];
            let unknown = |row, bound| Unknown { contact, row, column: row, bound };
            let column = match *friction {
                Friction::Sliding { mu, direction: [x, y] } => [1.0, mu * x, mu * y],
                _ => normal,
            };
            unknowns.push(Unknown { column, ..unknown(normal, 0.0) });
            let Friction::Static { mu } = *friction else { continue };
            let spatial = w.block(contact, contact).is_some_and(|block| block[2][2] > 0.0);
            if !spatial {
                unknowns.push(unknown([0.0, 1.0, 0.0], mu));
                continue;
            }
            for axis in 0..facets / 2 {
                let (sin, cos) = (2.0 * PI * axis as f64 / facets as f64).sin_cos();
                unknowns.push(unknown([0.0, cos, sin], mu * (PI / facets as f64).sin()));
            }
        }
        let n = unknowns.len();
        let mut matrix = vec![0.0; n * n];
        for (i, u) in unknowns.iter().enumerate() {
            for (j, v) in unknowns.iter().enumerate() {
                let Some(block) = w.block(u.contact, v.contact) else { continue };
                matrix[i * n + j] = (0..3).map(|r| u.row[r] * dot(block[r], v.column)).sum::<f64>();
            }
        }
        let b = unknowns.iter().map(|u| dot(u.row, owned.b[u.contact])).collect();
        Plain { unknowns, matrix, b }
    }

    /// Number of unknowns.
    pub fn len(&self) -> usize {
        self.unknowns.len()
    }

    fn is_normal(&self, u: usize) -> bool {
        u == 0 || self.unknowns[u - 1].contact != self.unknowns[u].contact
    }

    /// The normal force of the contact of each unknown.
    fn normals(&self) -> Vec<usize> {
        let mut last = 0;
        (0..self.len())
            .map(|u| {
                last = if self.is_normal(u) { u } else { last };
                last
            })
            .collect()
    }

    /// Accelerations due to forces.
    pub fn accelerations(&self, f: &[f64]) -> Vec<f64> {
        let n = self.len();
        (0..n)
            .map(|i| self.b[i] + (0..n).map(|j| self.matrix[i * n + j] * f[j]).sum::<f64>())
            .collect()
    }

    /// Worst violation of (27), relative to the largest acceleration without forces. Forces are
    /// compared with accelerations by the largest entry of the matrix.
    pub fn violation(&self, f: &[f64]) -> f64 {
        let scale = self.matrix.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let size = self.b.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let (a, normals) = (self.accelerations(f), self.normals());
        let violation = |u: usize| {
            let x = scale * f[u];
            if self.is_normal(u) {
                return x.min(a[u]).abs();
            }
            let bound = (scale * self.unknowns[u].bound * f[normals[u]]).max(0.0);
            (x - (x - a[u]).clamp(-bound, bound)).abs()
        };
        (0..self.len()).map(violation).fold(0.0, f64::max) / size.max(1e-300)
    }

    /// Whether the matrix is regular: no contact or axis is redundant.
    pub fn is_regular(&self) -> bool {
        let mut lu = Lu::default();
        lu.reset(self.len()).copy_from_slice(&self.matrix);
        lu.factor() > 1e-6
    }

    /// Forces as vectors in the frames of the contacts.
    pub fn vectors(&self, f: &[f64], contacts: usize) -> Vec<[f64; 3]> {
        let mut out = vec![[0.0; 3]; contacts];
        for (u, f) in self.unknowns.iter().zip(f) {
            (0..3).for_each(|i| out[u.contact][i] += f * u.column[i]);
        }
        out
    }

    /// All solutions at which the linear system of the lists is regular, by trying every
    /// combination of lists; `None` if there are more than `most` combinations.
    pub fn enumerate(&self, most: usize) -> Option<Vec<Vec<f64>>> {
        let n = self.len();
        let choices: Vec<usize> = (0..n).map(|u| if self.is_normal(u) { 2 } else { 3 }).collect();
        let total: usize = choices.iter().try_fold(1usize, |t, c| t.checked_mul(*c))?;
        if total > most {
            return None;
        }
        let mut found = Vec::new();
        let mut states = vec![0usize; n];
        for code in 0..total {
            let mut rest = code;
            for u in 0..n {
                states[u] = rest % choices[u];
                rest /= choices[u];
            }
            // A breaking contact has one list, whatever its axes are called.
            let normals = self.normals();
            if (0..n).any(|u| states[normals[u]] == 0 && normals[u] != u && states[u] != 0) {
                continue;
            }
            let f = self.solve_lists(&states, &normals);
            found.extend(f.filter(|f| self.violation(f) < 1e-9));
        }
        Some(found)
    }

    /// Forces of given lists. Normal: 0 breaking, 1 permanent; axis: 0 static, 1 and 2 at a limit.
    fn solve_lists(&self, states: &[usize], normals: &[usize]) -> Option<Vec<f64>> {
        let n = self.len();
        let basic = |u: usize| states[normals[u]] == 1 && (normals[u] == u || states[u] == 0);
        let basics: Vec<usize> = (0..n).filter(|u| basic(*u)).collect();
        let m = basics.len();
        let limit = |u: usize| match (basic(u), states[normals[u]], states[u]) {
            (false, 1, 1) => self.unknowns[u].bound,
            (false, 1, 2) => -self.unknowns[u].bound,
            _ => 0.0,
        };
        let mut lu = Lu::default();
        let reduced = lu.reset(m);
        for (i, &u) in basics.iter().enumerate() {
            for (j, &v) in basics.iter().enumerate() {
                reduced[i * m + j] = self.matrix[u * n + v];
            }
            for v in (0..n).filter(|v| limit(*v) != 0.0) {
                let j = basics.iter().position(|x| *x == normals[v])?;
                reduced[i * m + j] += limit(v) * self.matrix[u * n + v];
            }
        }
        if lu.factor() < 1e-11 {
            return None;
        }
        let mut right: Vec<f64> = basics.iter().map(|u| -self.b[*u]).collect();
        lu.solve(&mut right);
        let mut f = vec![0.0; n];
        basics.iter().zip(&right).for_each(|(u, x)| f[*u] = *x);
        for u in (0..n).filter(|u| !basic(*u)) {
            f[u] = limit(u) * f[normals[u]];
        }
        Some(f)
    }

    /// A solution by Lemke's algorithm; `None` if it ends on a ray. An axis has the force
    /// `f = u − μ f_N` with `0 ≤ u ≤ 2 μ f_N` and the acceleration `w⁺ − w⁻`:
    ///
    /// ```text
    /// 0 ≤ w⁺ ⊥ u ≥ 0,   0 ≤ w⁻ ⊥ 2 μ f_N − u ≥ 0.
    /// ```
    ///
    /// With static friction only, and `b` of moving bodies, the algorithm always finds a solution:
    /// the matrix is copositive.
    pub fn lemke(&self) -> Option<Vec<f64>> {
        let n = self.len();
        let normals = self.normals();
        let axes: Vec<usize> = (0..n).filter(|u| normals[*u] != *u).collect();
        let size = n + axes.len();
        // Columns in terms of (f_N or u, w⁻).
        let mut m = vec![0.0; size * size];
        let mut q = vec![0.0; size];
        for i in 0..n {
            q[i] = self.b[i];
            for j in 0..n {
                m[i * size + j] += self.matrix[i * n + j];
                if normals[j] != j {
                    m[i * size + normals[j]] -= self.unknowns[j].bound * self.matrix[i * n + j];
                }
            }
        }
        for (k, &u) in axes.iter().enumerate() {
            m[u * size + n + k] += 1.0;
            m[(n + k) * size + normals[u]] = 2.0 * self.unknowns[u].bound;
            m[(n + k) * size + u] = -1.0;
        }
        let z = lemke(&m, &q)?;
        let mut f: Vec<f64> = z[..n].to_vec();
        axes.iter().for_each(|u| f[*u] -= self.unknowns[*u].bound * z[normals[*u]]);
        Some(f)
    }
}

/// Worst violation of (27) by forces in the frames of contacts, from its definition: signs and
/// products along the normals, friction within the polygon, and dissipation as large as possible,
/// `f_T · a_T = −μ' f_N Σ |a_T · d_k|`. Relative to the largest force and acceleration.
pub fn violation(owned: &Owned, forces: &[[f64; 3]], facets: usize) -> f64 {
    let largest = |x: &[[f64; 3]]| x.as_flattened().iter().fold(1e-300, |m: f64, x| m.max(x.abs()));
    let a = owned.accelerations(forces);
    let (size_f, size_a) = (largest(forces), largest(&owned.b).max(largest(&a)));
    let w = match &owned.w {
        Delassus::Factored(w) => w.to_blocks(),
        Delassus::Blocks(w) => w.clone(),
    };
    let mut worst: f64 = 0.0;
    for (k, friction) in owned.friction.iter().enumerate() {
        let (f, a) = (forces[k].map(|x| x / size_f), a[k].map(|x| x / size_a));
        worst = worst.max(-f[0]).max(-a[0]).max((f[0] * a[0]).abs());
        match *friction {
            Friction::None => worst = worst.max(f[1].abs()).max(f[2].abs()),
            Friction::Sliding { mu, direction } => {
                let off = |i: usize| (f[1 + i] - mu * f[0] * direction[i]).abs();
                worst = worst.max(off(0)).max(off(1));
            }
            Friction::Static { mu } => {
                let spatial = w.block(k, k).is_some_and(|block| block[2][2] > 0.0);
                let (axes, half) =
                    if spatial { (facets / 2, mu * (PI / facets as f64).sin()) } else { (1, mu) };
                // Each side of the polygon is parallel to an axis.
                let inner = if spatial { mu * (PI / facets as f64).cos() } else { 0.0 };
                let mut dissipation = f[1] * a[1] + f[2] * a[2];
                for axis in 0..axes {
                    let (sin, cos) = (2.0 * PI * axis as f64 / facets as f64).sin_cos();
                    let across = (f[2] * cos - f[1] * sin).abs();
                    worst = worst.max(across - inner * f[0]);
                    dissipation += half * f[0] * (a[1] * cos + a[2] * sin).abs();
                }
                if !spatial {
                    worst = worst.max(f[1].abs() - mu * f[0]);
                }
                worst = worst.max(dissipation.abs());
            }
        }
    }
    worst
}

/// Solves `w = M z + q`, `0 ≤ w ⊥ z ≥ 0` with a tableau; ties are decided lexicographically.
/// `None` if it ends on a ray or takes too long.
pub fn lemke(m: &[f64], q: &[f64]) -> Option<Vec<f64>> {
    let n = q.len();
    if q.iter().all(|q| *q >= 0.0) {
        return Some(vec![0.0; n]);
    }
    // Columns: w, z, z0, right-hand side.
    let width = 2 * n + 2;
    let mut t = vec![0.0; n * width];
    for i in 0..n {
        t[i * width + i] = 1.0;
        (0..n).for_each(|j| t[i * width + n + j] = -m[i * n + j]);
        t[i * width + 2 * n] = -1.0 - 0.1 * (i as f64 * 0.618).fract();
        t[i * width + 2 * n + 1] = q[i];
    }
    let mut basis: Vec<usize> = (0..n).collect();
    let worst = |i: usize| q[i] / -t[i * width + 2 * n];
    let mut row = (0..n).min_by(|i, j| worst(*i).total_cmp(&worst(*j)))?;
    let mut entering = 2 * n;
    for _ in 0..200 * n {
        pivot(&mut t, width, row, entering);
        let leaving = std::mem::replace(&mut basis[row], entering);
        if leaving == 2 * n {
            let mut z = vec![0.0; n];
            for (i, variable) in basis.iter().enumerate().filter(|(_, v)| **v >= n) {
                z[variable - n] = t[i * width + 2 * n + 1];
            }
            return Some(z);
        }
        entering = if leaving < n { leaving + n } else { leaving - n };
        row = ratio_test(&t, width, entering, &basis)?;
    }
    None
}

/// The row that leaves: the least ratio, `z0` first among equals, then the lexicographic order of
/// the inverse of the basis, which is in the columns of `w`.
fn ratio_test(t: &[f64], width: usize, entering: usize, basis: &[usize]) -> Option<usize> {
    let n = basis.len();
    let scale = t.chunks_exact(width).fold(0.0, |most: f64, row| most.max(row[entering].abs()));
    let mut best: Option<usize> = None;
    for i in 0..n {
        let (row, by) = (&t[i * width..(i + 1) * width], t[i * width + entering]);
        if by <= 1e-10 * scale.max(1.0) {
            continue;
        }
        let Some(other) = best else {
            best = Some(i);
            continue;
        };
        let (last, than) = (&t[other * width..(other + 1) * width], t[other * width + entering]);
        let columns = std::iter::once(width - 1).chain(0..n);
        let mut differences = columns.map(|c| row[c] / by - last[c] / than);
        let first = differences.next().unwrap_or(0.0);
        let tie = first.abs() < 1e-11;
        let smaller = match (tie, basis[i] == 2 * n, basis[other] == 2 * n) {
            (true, true, _) => true,
            (true, _, true) => false,
            (true, ..) => differences.find(|d| d.abs() > 1e-11).is_some_and(|d| d < 0.0),
            (false, ..) => first < 0.0,
        };
        if smaller {
            best = Some(i);
        }
    }
    best
}

fn pivot(t: &mut [f64], width: usize, row: usize, column: usize) {
    let by = t[row * width + column];
    t[row * width..(row + 1) * width].iter_mut().for_each(|x| *x /= by);
    let pivot = t[row * width..(row + 1) * width].to_vec();
    for (i, other) in t.chunks_exact_mut(width).enumerate().filter(|(i, _)| *i != row) {
        let factor = other[column];
        if factor != 0.0 && i != row {
            other.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
        }
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

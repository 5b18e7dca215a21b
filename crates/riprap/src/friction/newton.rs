//! One step of a semi-smooth Newton method on the equations of Alart and Curnier (1991): contacts that are open drop out,
//! those that stick have no velocity, those that slide turn with their velocity. The matrix is dense and not symmetric.

use crate::math::length2;

use super::JOINT;
use super::packed::{Iterate, Packed};

/// Buffers of a Newton step.
#[derive(Clone, Debug, Default)]
pub(super) struct Newton {
    /// What the step adds to the impulses, as velocities [m/s].
    pub(super) step: Vec<[f64; 3]>,
    active: Vec<u32>,
    /// Place of each contact among the active ones.
    place: Vec<u32>,
    matrix: Vec<f64>,
    right: Vec<f64>,
    velocities: Vec<[f64; 4]>,
    /// Steps made.
    pub(super) count: usize,
}

const OPEN: u32 = u32::MAX;

/// Multiplications of a step with as many active contacts.
pub(super) fn work(active: usize) -> f64 {
    let n = (3 * active) as f64;
    n * n * n / 3.0 + 4.0 * n * n
}

/// How the equations of Alart and Curnier take a contact.
enum Status {
    Open,
    Stick,
    /// Along `d`, with `μ x_n` and `‖x_t‖`, `x = r − u`.
    Slide {
        d: [f64; 2],
        limit: f64,
        length: f64,
    },
}

fn status(r: [f64; 3], u: [f64; 4], friction: f64) -> Status {
    if friction == JOINT {
        return Status::Stick;
    }
    let [x, y, z]: [f64; 3] = std::array::from_fn(|i| r[i] - u[i]);
    if x <= 0.0 {
        return Status::Open;
    }
    let (limit, length) = (friction * x, length2(y, z));
    match length <= limit {
        true => Status::Stick,
        false => Status::Slide { d: [y / length, z / length], limit, length },
    }
}

/// Contacts that are not open.
pub(super) fn active(packed: &Packed, at: &Iterate) -> usize {
    let open = |a: &usize| matches!(status(at.r[*a], at.u[*a], packed.friction[*a]), Status::Open);
    (0..packed.len()).filter(|a| !open(a)).count()
}

impl Newton {
    /// Finds the step at an iterate, with `W + α` in place of `W`; false where the matrix is singular.
    pub(super) fn find(&mut self, packed: &Packed, at: &Iterate, alpha: f64) -> bool {
        self.count += 1;
        let n = packed.len();
        let of = |a: usize| status(at.r[a], at.u[a], packed.friction[a]);
        self.step.clear();
        self.step.resize(n, [0.0; 3]);
        self.active.clear();
        self.place.clear();
        self.place.resize(n, OPEN);
        self.velocities.clone_from(&at.u);
        for a in 0..n {
            if matches!(of(a), Status::Open) {
                // Its impulse goes, and what it did to the others.
                self.step[a] = at.r[a].map(|x| -x);
                if at.r[a] != [0.0; 3] {
                    packed.push(a, self.step[a], &mut self.velocities);
                }
            } else {
                self.place[a] = self.active.len() as u32;
                self.active.push(a as u32);
            }
        }
        let m = 3 * self.active.len();
        self.matrix.clear();
        self.matrix.resize(m * m, 0.0);
        self.right.clear();
        self.right.resize(m, 0.0);
        for (kb, b) in self.active.iter().enumerate() {
            let b = *b as usize;
            for i in 0..3 {
                let row = &mut self.matrix[(3 * kb + i) * m + 3 * kb..][..3];
                row.copy_from_slice(&packed.diagonal[b][i]);
                row[i] += alpha;
            }
            for (a, block) in packed.column(b) {
                let ka = self.place[a];
                if ka != OPEN {
                    for i in 0..3 {
                        let row = &mut self.matrix[(3 * ka as usize + i) * m + 3 * kb..][..3];
                        (0..3).for_each(|j| row[j] = block[j][i]);
                    }
                }
            }
        }
        for (k, a) in self.active.iter().enumerate() {
            let a = *a as usize;
            let (r, u, v) = (at.r[a], at.u[a], self.velocities[a]);
            // Sticking, and along the normal of a sliding contact: u + (W + α) Δr = 0.
            (0..3).for_each(|i| self.right[3 * k + i] = -v[i]);
            let Status::Slide { d, limit, length } = of(a) else { continue };
            // Δr_t − c P (Δr_t − Δu_t) − μ d Δr_n = μ r_n d − r_t, with P across d and c = μ x_n / ‖x_t‖.
            let c = limit / length;
            let across = [-d[1], d[0]];
            let friction = packed.friction[a];
            let (_, rows) = self.matrix.split_at_mut((3 * k + 1) * m);
            let (first, rest) = rows.split_at_mut(m);
            let second = &mut rest[..m];
            for (x, y) in first.iter_mut().zip(second.iter_mut()) {
                let turn = c * (across[0] * *x + across[1] * *y);
                (*x, *y) = (turn * across[0], turn * across[1]);
            }
            let moved = c * (across[0] * (v[1] - u[1]) + across[1] * (v[2] - u[2]));
            for (i, row) in [first, second].into_iter().enumerate() {
                row[3 * k] -= friction * d[i];
                for j in 0..2 {
                    row[3 * k + 1 + j] += f64::from(i == j) - c * across[i] * across[j];
                }
                self.right[3 * k + 1 + i] = friction * r[0] * d[i] - r[1 + i] - moved * across[i];
            }
        }
        if !solve(m, &mut self.matrix, &mut self.right) {
            return false;
        }
        for (k, a) in self.active.iter().enumerate() {
            self.step[*a as usize].copy_from_slice(&self.right[3 * k..3 * k + 3]);
        }
        self.right.iter().all(|x| x.is_finite())
    }

    /// Puts into `next` where a part of the step leads from `at`.
    pub(super) fn take(&self, packed: &Packed, at: &Iterate, part: f64, next: &mut Iterate) {
        next.r.clear();
        let ahead = at.r.iter().zip(&self.step);
        next.r.extend(
            ahead.map(|(r, step)| -> [f64; 3] { std::array::from_fn(|i| r[i] + part * step[i]) }),
        );
        packed.velocities(next);
    }
}

/// Columns that are eliminated together, so that the rest of the matrix is read a fourth as often.
const PANEL: usize = 4;

/// Solves `A x = b` in place, `A` by rows, with exchanges of rows.
fn solve(n: usize, a: &mut [f64], b: &mut [f64]) -> bool {
    let mut begin = 0;
    while begin < n {
        let end = (begin + PANEL).min(n);
        for k in begin..end {
            let size = |a: &[f64], i: usize| a[i * n + k].abs();
            let mut best = k;
            for i in k + 1..n {
                if size(a, i) > size(a, best) {
                    best = i;
                }
            }
            if size(a, best) < 1e-280 || size(a, best).is_nan() {
                return false;
            }
            if best != k {
                let (above, below) = a.split_at_mut(best * n);
                above[k * n..(k + 1) * n].swap_with_slice(&mut below[..n]);
                b.swap(k, best);
            }
            let inverse = 1.0 / a[k * n + k];
            let (above, below) = a.split_at_mut((k + 1) * n);
            let pivot = &above[k * n..];
            for row in below.chunks_exact_mut(n) {
                row[k] *= inverse;
                for j in k + 1..end {
                    row[j] -= row[k] * pivot[j];
                }
            }
        }
        // The rows of the panel, then all below them.
        let (above, below) = a.split_at_mut(end * n);
        let panel = &mut above[begin * n..];
        for i in 1..end - begin {
            let (first, rest) = panel.split_at_mut(i * n);
            for (k, row) in first.chunks_exact(n).enumerate() {
                let factor = rest[begin + k];
                for (x, y) in rest[end..n].iter_mut().zip(&row[end..]) {
                    *x -= factor * y;
                }
            }
        }
        if end - begin == PANEL {
            let (p0, rest) = panel.split_at(n);
            let (p1, rest) = rest.split_at(n);
            let (p2, p3) = rest.split_at(n);
            let (p0, p1, p2, p3) = (&p0[end..], &p1[end..], &p2[end..], &p3[end..n]);
            for row in below.chunks_exact_mut(n) {
                let (head, tail) = row.split_at_mut(end);
                let [f0, f1, f2, f3] =
                    [head[begin], head[begin + 1], head[begin + 2], head[begin + 3]];
                if (f0, f1, f2, f3) == (0.0, 0.0, 0.0, 0.0) {
                    continue;
                }
                for ((((x, y0), y1), y2), y3) in tail.iter_mut().zip(p0).zip(p1).zip(p2).zip(p3) {
                    *x -= f0 * y0 + f1 * y1 + (f2 * y2 + f3 * y3);
                }
            }
        }
        begin = end;
    }
    for i in 0..n {
        let sum: f64 = a[i * n..i * n + i].iter().zip(&b[..i]).map(|(l, x)| l * x).sum();
        b[i] -= sum;
    }
    for i in (0..n).rev() {
        let row = &a[i * n..(i + 1) * n];
        let sum: f64 = row[i + 1..].iter().zip(&b[i + 1..]).map(|(u, x)| u * x).sum();
        b[i] = (b[i] - sum) / row[i];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64;

    #[test]
    fn linear_systems_of_every_size_are_solved() {
        let mut rng = Pcg64::seed_from_u64(1);
        for n in 0..30 {
            let a: Vec<f64> = (0..n * n).map(|_| rng.random_range(-1.0..1.0)).collect();
            let x: Vec<f64> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
            let product = |i: usize| (0..n).map(|j| a[i * n + j] * x[j]).sum::<f64>();
            let mut b: Vec<f64> = (0..n).map(product).collect();
            assert!(solve(n, &mut a.clone(), &mut b));
            for (x, y) in x.iter().zip(&b) {
                // Round-off times the condition of a random matrix.
                assert!((x - y).abs() < 1e-9, "{n}: {x} {y}");
            }
        }
        assert!(!solve(2, &mut [1.0, 2.0, 0.0, 0.0], &mut [1.0, 1.0]));
    }
}

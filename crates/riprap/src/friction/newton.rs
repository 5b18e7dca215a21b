//! One step of a semi-smooth Newton method on the equations of Alart and Curnier (1991): open
//! contacts drop out, sticking contacts have zero velocity, and the impulse of sliding contacts
//! rotates with their velocity. Contacts that are not coupled are solved separately. The matrices
//! are not symmetric, and are dense or sparse, whichever is cheaper.

use std::ops::Range;

use crate::math::length2;

use super::Law;
use super::order::Order;
use super::packed::{Iterate, Packed};
use super::sparse::Sparse;

/// Buffers of a Newton step.
#[derive(Clone, Debug, Default)]
pub(super) struct Newton {
    /// The step of the impulses, as velocities [m/s].
    pub(super) step: Vec<[f64; 3]>,
    /// The contact that represents the cluster of each contact; [`OPEN`] for open ones.
    cluster: Vec<u32>,
    /// Contacts that are not open, grouped by cluster, and the start of each cluster.
    active: Vec<u32>,
    begins: Vec<usize>,
    /// Place of each contact in its cluster.
    place: Vec<u32>,
    matrix: Vec<f64>,
    right: Vec<f64>,
    velocities: Vec<[f64; 4]>,
    sparse: Sparse,
    /// Whether the last plan solves all clusters in one sparse system.
    is_sparse: bool,
    /// Number of steps.
    pub(super) count: usize,
}

const OPEN: u32 = u32::MAX;
/// Clusters with less than this fraction of the squared residual are left to the sweeps.
const NEGLIGIBLE: f64 = 1e-6;

/// Weight of a multiplication in a sparse system relative to one in a sweep. It takes less time
/// (0.6), but steps pay off best with the number of sweeps between them that this value gives.
const SPARSE: f64 = 3.0;
/// Largest cluster for which only the dense matrix is considered [contacts].
const SMALL: usize = 24;

/// Number of multiplications of a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Work {
    /// With the cheaper method, and with dense matrices.
    pub step: f64,
    pub dense: f64,
}

/// Status of a contact in the equations of Alart and Curnier.
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

fn status(r: [f64; 3], u: [f64; 4], law: Law) -> Status {
    let friction = match law {
        Law::Coulomb { friction } => friction,
        // Moments and relaxed contacts are not packed; see `ContactProblem::packs`.
        Law::Bilateral | Law::Rolling | Law::Cone { .. } => return Status::Stick,
    };
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

/// The three equations of a contact that is not open.
struct Equations {
    right: [f64; 3],
    slide: Option<Slide>,
}

/// How the two tangential rows of a sliding contact follow from those of `W + α`.
struct Slide {
    across: [f64; 2],
    /// `μ x_n / ‖x_t‖`
    c: f64,
    /// Additional terms in the columns of the contact itself.
    own: [[f64; 3]; 2],
}

impl Slide {
    /// `c P` times a column of the two rows.
    #[inline(always)]
    fn turn(&self, x: f64, y: f64) -> (f64, f64) {
        let turn = self.c * (self.across[0] * x + self.across[1] * y);
        (turn * self.across[0], turn * self.across[1])
    }
}

impl Equations {
    /// `velocities`: those without the impulses of open contacts.
    fn new(packed: &Packed, at: &Iterate, velocities: &[[f64; 4]], a: usize) -> Equations {
        let (r, u, v) = (at.r[a], at.u[a], velocities[a]);
        // Sticking, and along the normal of a sliding contact: u + (W + α) Δr = 0.
        let right = [-v[0], -v[1], -v[2]];
        let Status::Slide { d, limit, length } = status(r, u, packed.laws[a]) else {
            return Equations { right, slide: None };
        };
        let friction = packed.laws[a].friction().unwrap_or(0.0);
        // Δr_t − c P (Δr_t − Δu_t) − μ d Δr_n = μ r_n d − r_t, with P across d and c = μ x_n / ‖x_t‖.
        let c = limit / length;
        let across = [-d[1], d[0]];
        let moved = c * (across[0] * (v[1] - u[1]) + across[1] * (v[2] - u[2]));
        let right_t = |i: usize| friction * r[0] * d[i] - r[1 + i] - moved * across[i];
        let unit = |i: usize, j: usize| f64::from(i == j) - c * across[i] * across[j];
        let own = std::array::from_fn(|i| [-friction * d[i], unit(i, 0), unit(i, 1)]);
        let right = [right[0], right_t(0), right_t(1)];
        Equations { right, slide: Some(Slide { across, c, own }) }
    }
}

impl Newton {
    /// Finds the clusters: groups of coupled contacts that are not open. Clusters that contribute
    /// to the residual are kept. Returns the work of a step; infinite if a cluster has more than
    /// `most` contacts and is not sparse. Sparse systems are considered if there is an order of
    /// elimination.
    pub(super) fn plan(
        &mut self,
        packed: &Packed,
        order: Option<&Order>,
        at: &Iterate,
        most: usize,
    ) -> Work {
        let n = packed.len();
        let open = |a: usize| matches!(status(at.r[a], at.u[a], packed.laws[a]), Status::Open);
        let cluster = &mut self.cluster;
        cluster.clear();
        cluster.extend((0..n).map(|a| if open(a) { OPEN } else { a as u32 }));
        for b in 0..n {
            if cluster[b] == OPEN {
                continue;
            }
            for (a, _) in packed.column(b) {
                if cluster[a] != OPEN {
                    let (x, y) = (root(cluster, a as u32), root(cluster, b as u32));
                    cluster[x.max(y) as usize] = x.min(y);
                }
            }
        }
        let mut part = vec![0.0; n];
        let mut size = vec![0usize; n];
        for a in 0..n {
            if cluster[a] != OPEN {
                let own = root(cluster, a as u32);
                cluster[a] = own;
                let u = [at.u[a][0], at.u[a][1], at.u[a][2]];
                let f = packed.laws[a].natural_map(at.r[a], u, 0.0);
                part[own as usize] += f.iter().map(|x| x * x).sum::<f64>();
                size[own as usize] += 1;
            }
        }
        let total: f64 = part.iter().sum();
        let kept = |own: u32| part[own as usize] > NEGLIGIBLE * total;
        self.active.clear();
        let members = (0..n as u32).filter(|a| cluster[*a as usize] != OPEN);
        self.active.extend(members.filter(|a| kept(cluster[*a as usize])));
        self.active.sort_by_key(|a| cluster[*a as usize]);
        self.begins.clear();
        let (mut work, mut largest) = (0.0, 0);
        for (k, a) in self.active.iter().enumerate() {
            let own = cluster[*a as usize] as usize;
            if k == 0 || cluster[self.active[k - 1] as usize] as usize != own {
                self.begins.push(k);
                largest = largest.max(size[own]);
                let m = (3 * size[own]) as f64;
                work += m * m * m / 3.0 + 4.0 * m * m;
                if size[own] > most {
                    work = f64::INFINITY;
                }
            }
        }
        self.begins.push(self.active.len());
        self.is_sparse = false;
        if largest > SMALL
            && let Some(order) = order
        {
            let sparse = SPARSE * self.sparse.plan(packed, order, &self.active, work / SPARSE);
            if sparse < work {
                self.is_sparse = true;
                return Work { step: sparse, dense: work };
            }
        }
        Work { step: work, dense: work }
    }

    /// Finds the step at an iterate, with `W + α` in place of `W`, for the clusters of the last
    /// plan; returns false if a matrix is singular.
    pub(super) fn find(
        &mut self,
        packed: &Packed,
        order: Option<&Order>,
        at: &Iterate,
        alpha: f64,
    ) -> bool {
        self.plan(packed, order, at, usize::MAX);
        self.count += 1;
        let n = packed.len();
        self.step.clear();
        self.step.resize(n, [0.0; 3]);
        self.velocities.clone_from(&at.u);
        for a in 0..n {
            // Remove the impulse of each open contact and its effect on the others.
            if self.cluster[a] == OPEN && at.r[a] != [0.0; 3] {
                self.step[a] = at.r[a].map(|x| -x);
                packed.push(a, self.step[a], &mut self.velocities);
            }
        }
        if self.is_sparse {
            return self.find_sparse(packed, at, alpha);
        }
        self.place.clear();
        self.place.resize(n, OPEN);
        (0..self.begins.len() - 1).all(|k| {
            let range = self.begins[k]..self.begins[k + 1];
            self.find_cluster(packed, at, alpha, range)
        })
    }

    fn find_cluster(
        &mut self,
        packed: &Packed,
        at: &Iterate,
        alpha: f64,
        range: Range<usize>,
    ) -> bool {
        let active = &self.active[range];
        for (k, a) in active.iter().enumerate() {
            self.place[*a as usize] = k as u32;
        }
        let m = 3 * active.len();
        self.matrix.clear();
        self.matrix.resize(m * m, 0.0);
        self.right.clear();
        self.right.resize(m, 0.0);
        for (kb, b) in active.iter().enumerate() {
            let b = *b as usize;
            for i in 0..3 {
                let row = &mut self.matrix[(3 * kb + i) * m + 3 * kb..][..3];
                row.copy_from_slice(&packed.diagonal[b][i]);
                row[i] += alpha;
            }
            for (a, block) in packed.column(b) {
                if self.cluster[a] != OPEN {
                    let ka = self.place[a] as usize;
                    for i in 0..3 {
                        let row = &mut self.matrix[(3 * ka + i) * m + 3 * kb..][..3];
                        (0..3).for_each(|j| row[j] = block[j][i]);
                    }
                }
            }
        }
        for (k, a) in active.iter().enumerate() {
            let a = *a as usize;
            let law = Equations::new(packed, at, &self.velocities, a);
            self.right[3 * k..3 * k + 3].copy_from_slice(&law.right);
            let Some(slide) = &law.slide else { continue };
            let (_, rows) = self.matrix.split_at_mut((3 * k + 1) * m);
            let (first, rest) = rows.split_at_mut(m);
            let second = &mut rest[..m];
            for (x, y) in first.iter_mut().zip(second.iter_mut()) {
                (*x, *y) = slide.turn(*x, *y);
            }
            for (i, row) in [first, second].into_iter().enumerate() {
                row[3 * k..3 * k + 3].iter_mut().zip(slide.own[i]).for_each(|(x, y)| *x += y);
            }
        }
        if !solve(m, &mut self.matrix, &mut self.right) {
            return false;
        }
        for (k, a) in active.iter().enumerate() {
            self.step[*a as usize].copy_from_slice(&self.right[3 * k..3 * k + 3]);
        }
        self.right.iter().all(|x| x.is_finite())
    }

    /// The step of all clusters, as one sparse system.
    fn find_sparse(&mut self, packed: &Packed, at: &Iterate, alpha: f64) -> bool {
        self.sparse.fill(packed, alpha);
        let nodes = self.sparse.nodes().to_vec();
        let mut right = Vec::with_capacity(nodes.len());
        for (k, a) in nodes.iter().enumerate() {
            let law = Equations::new(packed, at, &self.velocities, *a as usize);
            right.push(law.right);
            let Some(slide) = &law.slide else { continue };
            let (blocks, own) = self.sparse.row(k);
            for [_, first, second] in blocks.iter_mut() {
                for (x, y) in first.iter_mut().zip(second) {
                    (*x, *y) = slide.turn(*x, *y);
                }
            }
            let [_, first, second] = &mut blocks[own];
            for (row, more) in [first, second].into_iter().zip(slide.own) {
                row.iter_mut().zip(more).for_each(|(x, y)| *x += y);
            }
        }
        if !self.sparse.solve(&mut right) {
            return false;
        }
        for (a, step) in nodes.iter().zip(&right) {
            self.step[*a as usize] = *step;
        }
        right.as_flattened().iter().all(|x| x.is_finite())
    }

    /// Sets `next` to `at` plus a fraction of the step.
    pub(super) fn take(&self, packed: &Packed, at: &Iterate, part: f64, next: &mut Iterate) {
        next.r.clear();
        let ahead = at.r.iter().zip(&self.step);
        next.r.extend(
            ahead.map(|(r, step)| -> [f64; 3] { std::array::from_fn(|i| r[i] + part * step[i]) }),
        );
        packed.velocities(next);
    }
}

/// The contact that represents a cluster, with path compression.
fn root(cluster: &mut [u32], mut a: u32) -> u32 {
    while cluster[a as usize] != a {
        let next = cluster[cluster[a as usize] as usize];
        cluster[a as usize] = next;
        a = next;
    }
    a
}

/// Columns that are eliminated together, so that the rest of the matrix is read a quarter as often.
const PANEL: usize = 4;

/// Solves `A x = b` in place, `A` row-major, with row pivoting.
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
        // The rows of the panel, then all rows below.
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
                // Round-off times the condition number of a random matrix.
                assert!((x - y).abs() < 1e-9, "{n}: {x} {y}");
            }
        }
        assert!(!solve(2, &mut [1.0, 2.0, 0.0, 0.0], &mut [1.0, 1.0]));
    }
}

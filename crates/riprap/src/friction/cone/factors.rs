//! `Dᵀ` and `M⁻¹` of a factored problem, for products with `N = Dᵀ M⁻¹ D`: 128 bytes per contact, as
//! large problems are limited by the memory they read.

use super::super::factored::{cross, dot};
use super::super::{Factored, InverseMass};
use super::problem::Rows;
use crate::math::bytes_of;

/// Up to three rows of `Dᵀ` of one contact between two free bodies. Two cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Point {
    /// The two blocks of velocities; the last one of all for something immovable.
    blocks: [u32; 2],
    /// The directions of the rows, scaled; zero in place of absent ones.
    rows: [[f64; 3]; 3],
    /// Vectors from the centres of the two blocks to the contact point [m].
    arms: [[f64; 3]; 2],
}

impl Point {
    /// The momenta `D x` on the two blocks.
    #[inline(always)]
    fn momenta(&self, x: [f64; 3]) -> [[f64; 6]; 2] {
        let [n, t1, t2] = &self.rows;
        let along = |i: usize| n[i] * x[0] + t1[i] * x[1] + t2[i] * x[2];
        let p = [along(0), along(1), along(2)];
        let (first, second) = (cross(self.arms[0], p), cross(self.arms[1], p));
        [
            [-p[0], -p[1], -p[2], -first[0], -first[1], -first[2]],
            [p[0], p[1], p[2], second[0], second[1], second[2]],
        ]
    }

    /// Velocity of the contact point on one side.
    #[inline(always)]
    fn side(&self, side: usize, v: &[[f64; 6]]) -> [f64; 3] {
        let v = &v[self.blocks[side] as usize];
        let spin = cross([v[3], v[4], v[5]], self.arms[side]);
        [v[0] + spin[0], v[1] + spin[1], v[2] + spin[2]]
    }

    /// `Dᵀ v`.
    #[inline(always)]
    fn velocity(&self, v: &[[f64; 6]]) -> [f64; 3] {
        let (first, second) = (self.side(0, v), self.side(1, v));
        let u = [second[0] - first[0], second[1] - first[1], second[2] - first[2]];
        [dot(self.rows[0], u), dot(self.rows[1], u), dot(self.rows[2], u)]
    }
}

#[inline(always)]
fn add_to(sum: &mut [f64; 6], more: &[f64; 6]) {
    for j in 0..6 {
        sum[j] += more[j];
    }
}

/// Rows of one constraint on one block of a mechanism: of `Dᵀ` and of `(M⁻¹ D)ᵀ`, scaled.
#[derive(Clone, Copy, Debug)]
struct Side {
    cone: u32,
    block: u32,
    rows: [[f64; 6]; 3],
    solved: [[f64; 6]; 3],
}

impl Side {
    fn velocity(&self, v: &[[f64; 6]]) -> [f64; 3] {
        let v = &v[self.block as usize];
        self.rows.map(|d| d.iter().zip(v).map(|(d, v)| d * v).sum())
    }

    fn add(&self, x: [f64; 3], v: &mut [[f64; 6]]) {
        let [a, b, c] = &self.solved;
        for (j, v) in v[self.block as usize].iter_mut().enumerate() {
            *v += a[j] * x[0] + b[j] * x[1] + c[j] * x[2];
        }
    }
}

/// `M⁻¹ p` of one block.
#[inline]
fn solve(mass: &InverseMass, p: &[f64; 6]) -> [f64; 6] {
    let [x, y, z] = mass.linear;
    let spin = mass.turn([p[3], p[4], p[5]]);
    [x * p[0], y * p[1], z * p[2], spin[0], spin[1], spin[2]]
}

/// The factors of `N`, one constraint after another.
#[derive(Debug, Default)]
pub(super) struct Factors {
    points: Vec<Point>,
    /// Of all blocks, and one that nothing moves.
    masses: Vec<InverseMass>,
    /// Rows on mechanisms; none in most problems.
    sides: Vec<Side>,
    /// First side of each constraint.
    side_start: Vec<u32>,
}

impl Factors {
    /// Bytes held by the buffers.
    pub(super) fn bytes(&self) -> usize {
        bytes_of(&self.points)
            + bytes_of(&self.masses)
            + bytes_of(&self.sides)
            + bytes_of(&self.side_start)
    }

    /// Removes all constraints and sets the inverse masses.
    pub(super) fn reset(&mut self, w: &Factored) {
        self.points.clear();
        self.sides.clear();
        self.side_start.clear();
        self.side_start.push(0);
        self.masses.clear();
        self.masses.extend_from_slice(w.masses());
        self.masses.push(InverseMass::default());
    }

    /// Adds the rows of contact `a` given by their axes and scales.
    pub(super) fn push(&mut self, w: &Factored, a: usize, axes: &[(usize, f64)]) {
        let contact = &w.contacts()[a];
        let fixed = self.masses.len() as u32 - 1;
        let blocks = contact.blocks.map(|b| if b == Factored::NONE { fixed } else { b });
        let mut rows = [[0.0; 3]; 3];
        for (row, (i, s)) in rows.iter_mut().zip(axes) {
            *row = contact.frame[*i].map(|x| s * x);
        }
        let cone = self.points.len() as u32;
        self.points.push(Point { blocks, rows, arms: contact.arms });
        for (first, h, m) in w.row_sides(a) {
            let n = h.len() / 3;
            for k in 0..n / 6 {
                let (mut rows, mut solved) = ([[0.0; 6]; 3], [[0.0; 6]; 3]);
                for (r, (i, s)) in axes.iter().enumerate() {
                    let at = i * n + 6 * k;
                    rows[r] = std::array::from_fn(|j| s * h[at + j]);
                    solved[r] = std::array::from_fn(|j| s * m[at + j]);
                }
                self.sides.push(Side { cone, block: first + k as u32, rows, solved });
            }
        }
        self.side_start.push(self.sides.len() as u32);
    }

    /// Number of blocks, with the one that nothing moves.
    pub(super) fn n_blocks(&self) -> usize {
        self.masses.len()
    }

    fn sides_of(&self, c: usize) -> &[Side] {
        if self.sides.is_empty() {
            return &[];
        }
        &self.sides[self.side_start[c] as usize..self.side_start[c + 1] as usize]
    }

    /// Constraint `c` in `Dᵀ v`.
    #[inline(always)]
    pub(super) fn velocity(&self, c: usize, v: &[[f64; 6]]) -> [f64; 3] {
        let mut u = self.points[c].velocity(v);
        for side in self.sides_of(c) {
            let more = side.velocity(v);
            u = [u[0] + more[0], u[1] + more[1], u[2] + more[2]];
        }
        u
    }

    /// Adds `D x` of constraint `c` to the momenta of free bodies; see [`Factors::solve`].
    #[inline(always)]
    pub(super) fn add_momenta(&self, c: usize, x: [f64; 3], p: &mut [[f64; 6]]) {
        let point = &self.points[c];
        let [first, second] = &point.momenta(x);
        add_to(&mut p[point.blocks[0] as usize], first);
        add_to(&mut p[point.blocks[1] as usize], second);
    }

    /// `M⁻¹ D x` in place of the momenta of free bodies, mechanisms included. Returns `xᵀ N x`.
    pub(super) fn solve(&self, cones: &[Rows], x: &[f64], v: &mut [[f64; 6]]) -> f64 {
        let mut curvature = 0.0;
        for (v, mass) in v.iter_mut().zip(&self.masses) {
            let p = std::mem::replace(v, solve(mass, v));
            curvature += (p[0] * v[0] + p[1] * v[1] + p[2] * v[2])
                + (p[3] * v[3] + p[4] * v[4] + p[5] * v[5]);
        }
        if self.sides.is_empty() {
            return curvature;
        }
        self.sides.iter().for_each(|side| side.add(cones[side.cone as usize].load(x), v));
        let rows = cones.iter().enumerate();
        rows.map(|(c, rows)| dot(rows.load(x), self.velocity(c, v))).sum()
    }

    /// Adds `M⁻¹ D x` of constraint `c` to the velocities.
    #[inline]
    pub(super) fn add(&self, c: usize, x: [f64; 3], v: &mut [[f64; 6]]) {
        let point = &self.points[c];
        let [first, second] = &point.momenta(x);
        let [a, b] = [point.blocks[0] as usize, point.blocks[1] as usize];
        add_to(&mut v[a], &solve(&self.masses[a], first));
        add_to(&mut v[b], &solve(&self.masses[b], second));
        self.sides_of(c).iter().for_each(|side| side.add(x, v));
    }

    /// Row `i` of `Dᵀ` and of `(M⁻¹ D)ᵀ` of constraint `c` on each of its blocks.
    pub(super) fn entries(
        &self,
        c: usize,
        i: usize,
        mut each: impl FnMut(u32, [f64; 6], [f64; 6]),
    ) {
        let (point, fixed) = (&self.points[c], self.masses.len() - 1);
        let mut unit = [0.0; 3];
        unit[i] = 1.0;
        for (block, d) in point.blocks.into_iter().zip(point.momenta(unit)) {
            if block as usize != fixed {
                each(block, d, solve(&self.masses[block as usize], &d));
            }
        }
        for side in self.sides_of(c) {
            each(side.block, side.rows[i], side.solved[i]);
        }
    }
}

//! `M`, the residual `M v̇ − f` and its tangents `K` and `C`, group by group, and solutions with
//! `M` and with combinations of the three.

use super::{Configuration, Equations, Group, GroupKind};
use crate::math::dense::{Lu, cholesky, cholesky_solve};
use crate::math::{Mat3, Vec3};
use crate::multibody::{Control, TangentScratch};
use crate::scene::Scene;

/// Matrices of all groups at the last evaluation, row-major and one after the other.
#[derive(Debug, Default)]
pub struct Groups {
    /// Mass matrices, their factors, and tangents.
    mass: Vec<f64>,
    factor: Vec<f64>,
    stiffness: Vec<f64>,
    damping: Vec<f64>,
    smooth: Vec<Lu>,
    /// `M v̇ − f(q, v, t)` [N, N m].
    pub residual: Vec<f64>,
    scratch: TangentScratch,
}

impl Groups {
    /// Evaluates masses and residuals, and with `tangents` also `K` and `C`. After
    /// [`Equations::place`] at the same positions and velocities.
    pub fn evaluate(
        &mut self,
        scene: &Scene,
        e: &mut Equations,
        at: &Configuration,
        (v, acceleration): (&[f64], &[f64]),
        (t, controls): (f64, &[Control]),
        tangents: bool,
    ) {
        let size = e.groups.iter().map(|g| g.n * g.n).sum();
        for matrix in [&mut self.mass, &mut self.stiffness, &mut self.damping] {
            matrix.resize(size, 0.0);
        }
        self.residual.resize(e.n, 0.0);
        let mut offset = 0;
        for g in 0..e.groups.len() {
            let group = e.groups[g];
            let (range, square) = (group.range(), offset..offset + group.n * group.n);
            let (m, r) = (&mut self.mass[square.clone()], &mut self.residual[range.clone()]);
            let (k, c) = (&mut self.stiffness[square.clone()], &mut self.damping[square.clone()]);
            let (v, a) = (&v[range.clone()], &acceleration[range.clone()]);
            match group.kind {
                GroupKind::Body(i) => body(scene, at, i, v, a, (m, k, c), r),
                GroupKind::Mechanism(s) => {
                    let (system, work) = (&scene.mechanisms()[s], &mut e.works[s]);
                    let state = (&at.joints[s][..], v, a);
                    system.unbalance(state, &controls[s], t, work, r);
                    m.copy_from_slice(work.tree.mass());
                    if tangents {
                        let x = &mut self.scratch;
                        system.tangents(state, &controls[s], t, work, x, k, c);
                    }
                }
            }
            if e.prescribed[range.clone()].contains(&true) {
                mask(&e.prescribed[range], group.n, (m, k, c), r);
            }
            offset = square.end;
        }
    }

    /// Factors `M`. Fails with the first velocity that has no inertia.
    pub fn factor_mass(&mut self, e: &Equations) -> Result<(), usize> {
        self.factor.clone_from(&self.mass);
        for (group, offset) in placed(&e.groups) {
            let matrix = &mut self.factor[offset..offset + group.n * group.n];
            cholesky(matrix, group.n).map_err(|row| group.first + row)?;
        }
        Ok(())
    }

    /// Replaces `x` by `M⁻¹ x`.
    pub fn solve_mass(&self, e: &Equations, x: &mut [f64]) {
        for (group, offset) in placed(&e.groups) {
            let x = &mut x[group.range()];
            // Constraints act on few groups.
            if x.iter().any(|x| *x != 0.0) {
                cholesky_solve(&self.factor[offset..offset + group.n * group.n], group.n, x);
            }
        }
    }

    /// Adds `s M x` to `y`.
    pub fn multiply_mass(&self, e: &Equations, x: &[f64], s: f64, y: &mut [f64]) {
        multiply(&e.groups, &self.mass, x, s, y);
    }

    /// Adds `s K x` to `y`.
    pub fn multiply_stiffness(&self, e: &Equations, x: &[f64], s: f64, y: &mut [f64]) {
        multiply(&e.groups, &self.stiffness, x, s, y);
    }

    /// Adds `s C x` to `y`.
    pub fn multiply_damping(&self, e: &Equations, x: &[f64], s: f64, y: &mut [f64]) {
        multiply(&e.groups, &self.damping, x, s, y);
    }

    /// Adds to `K` within a group; entries that couple different groups are left out.
    pub fn add_stiffness(&mut self, e: &Equations, i: usize, j: usize, value: f64) {
        for (group, offset) in placed(&e.groups) {
            let range = group.range();
            if range.contains(&i) {
                if range.contains(&j) && !e.prescribed[i] && !e.prescribed[j] {
                    self.stiffness[offset + (i - group.first) * group.n + j - group.first] += value;
                }
                return;
            }
        }
    }

    /// Factors `m M + c C + k K`.
    pub fn factor_smooth(&mut self, e: &Equations, m: f64, c: f64, k: f64) {
        self.smooth.resize_with(e.groups.len(), Lu::default);
        for ((group, offset), lu) in placed(&e.groups).zip(&mut self.smooth) {
            let n = group.n;
            for (x, i) in lu.reset(n).iter_mut().zip(offset..offset + n * n) {
                *x = m * self.mass[i] + c * self.damping[i] + k * self.stiffness[i];
            }
            lu.factor();
        }
    }

    /// Replaces `x` by the solution with the matrix of [`Groups::factor_smooth`].
    pub fn solve_smooth(&self, e: &Equations, x: &mut [f64]) {
        for (group, lu) in e.groups.iter().zip(&self.smooth) {
            let x = &mut x[group.range()];
            if x.iter().any(|x| *x != 0.0) {
                lu.solve(x);
            }
        }
    }
}

impl Group {
    pub fn range(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.n
    }
}

/// Groups and the offsets of their matrices.
fn placed(groups: &[Group]) -> impl Iterator<Item = (&Group, usize)> {
    groups.iter().scan(0, |offset, group| {
        let here = *offset;
        *offset += group.n * group.n;
        Some((group, here))
    })
}

fn multiply(groups: &[Group], matrix: &[f64], x: &[f64], s: f64, y: &mut [f64]) {
    for (group, offset) in placed(groups) {
        for i in 0..group.n {
            let row = &matrix[offset + i * group.n..offset + (i + 1) * group.n];
            let sum: f64 = row.iter().zip(&x[group.range()]).map(|(m, x)| m * x).sum();
            y[group.first + i] += s * sum;
        }
    }
}

/// A free body: `m v̇ = m g + F` and `J ω̇ + ω × J ω = T` in world axes, with linear drag.
fn body(
    scene: &Scene,
    at: &Configuration,
    i: usize,
    v: &[f64],
    a: &[f64],
    (mass, k, c): (&mut [f64], &mut [f64], &mut [f64]),
    residual: &mut [f64],
) {
    let bodies = scene.bodies();
    let (m, drag) = (bodies.mass[i], scene.drag());
    let inertia = bodies.inertia_w(i, &at.q[i].rotation);
    let three = |x: &[f64]| Vec3::new(x[0], x[1], x[2]);
    let (spin, turn) = (three(&v[3..]), three(&a[3..]));
    let (momentum, pull) = (inertia * spin, scene.gravity() * m + bodies.force[i]);
    let linear = three(a) * m - pull + three(v) * (m * drag);
    let angular = inertia * turn + spin.cross(&momentum) - bodies.torque[i] + momentum * drag;
    residual[..3].copy_from_slice(linear.as_slice());
    residual[3..].copy_from_slice(angular.as_slice());
    for matrix in [&mut *mass, &mut *k, &mut *c] {
        matrix.fill(0.0);
    }
    // Rotating the body turns J: δ(J x) = δθ × J x − J (δθ × x).
    let turned = |x: &Vec3, jx: &Vec3| inertia * cross(x) - cross(jx);
    let by_angle = turned(&turn, &(inertia * turn))
        + cross(&spin) * turned(&spin, &momentum)
        + turned(&spin, &momentum) * drag;
    let by_spin = cross(&spin) * inertia - cross(&momentum) + inertia * drag;
    for r in 0..3 {
        mass[7 * r] = m;
        c[7 * r] = m * drag;
        for l in 0..3 {
            let entry = 6 * (r + 3) + l + 3;
            mass[entry] = inertia[(r, l)];
            k[entry] = by_angle[(r, l)];
            c[entry] = by_spin[(r, l)];
        }
    }
}

/// The matrix of a vector product from the left.
fn cross(x: &Vec3) -> Mat3 {
    Mat3::new(0.0, -x.z, x.y, x.z, 0.0, -x.x, -x.y, x.x, 0.0)
}

/// Replaces rows and columns of prescribed velocities by those of the identity.
fn mask(
    prescribed: &[bool],
    n: usize,
    (mass, k, c): (&mut [f64], &mut [f64], &mut [f64]),
    residual: &mut [f64],
) {
    for i in (0..n).filter(|&i| prescribed[i]) {
        for j in 0..n {
            for matrix in [&mut *mass, &mut *k, &mut *c] {
                matrix[i * n + j] = 0.0;
                matrix[j * n + i] = 0.0;
            }
        }
        mass[i * (n + 1)] = 1.0;
        residual[i] = 0.0;
    }
}

//! `M`, the residual `M v̇ − f` and its tangents `K` and `C`, group by group, and solutions with
//! `M` and with combinations of the three.

use super::{Configuration, Equations, Group, GroupKind, loads};
use crate::flexible::Structure;
use crate::math::dense::{Lu, cholesky, cholesky_solve};
use crate::math::tridiagonal::{Tridiagonal, TridiagonalLu};
use crate::math::{Mat3, Pose, Vec3};
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
    flexible: Vec<FlexibleGroup>,
    /// `M v̇ − f(q, v, t)` [N, N m].
    pub residual: Vec<f64>,
    scratch: TangentScratch,
}

/// Matrices of one flexible body.
#[derive(Debug, Default)]
struct FlexibleGroup {
    /// With rows of the identity for held velocities.
    mass: Tridiagonal,
    mass_lu: TridiagonalLu,
    stiffness: Tridiagonal,
    damping: Tridiagonal,
    matrix: Tridiagonal,
    lu: TridiagonalLu,
    /// Factors for which the matrix of a linear body is factored.
    factored: Option<[f64; 3]>,
    /// Whether masses and, for a linear body, tangents are known.
    known: bool,
    force: Vec<f64>,
}

impl FlexibleGroup {
    fn evaluate(
        &mut self,
        body: &Structure,
        q: &[Pose],
        (v, a): (&[f64], &[f64]),
        tangents: bool,
        residual: &mut [f64],
    ) {
        self.force.resize(v.len(), 0.0);
        body.force(q, v, &mut self.force);
        residual.iter_mut().zip(&self.force).for_each(|(r, f)| *r = -f);
        body.mass().multiply_add(a, 1.0, residual);
        for (r, _) in residual.iter_mut().zip(body.held()).filter(|(_, held)| **held) {
            *r = 0.0;
        }
        if !self.known {
            self.mass.clone_from(body.mass());
            self.mass.hold(body.held());
            self.mass.factor(&mut self.mass_lu);
        }
        if tangents && !(self.known && body.is_linear()) {
            self.stiffness.reset_like(body.mass());
            self.damping.reset_like(body.mass());
            body.tangents(q, v, &mut self.stiffness, &mut self.damping);
            self.stiffness.hold(body.held());
            self.damping.hold(body.held());
            // Held rows are those of the identity; only `M` keeps them.
            for i in (0..v.len()).filter(|&i| body.held()[i]) {
                *self.stiffness.entry_mut(i, i) = 0.0;
                *self.damping.entry_mut(i, i) = 0.0;
            }
            self.factored = None;
            self.known = true;
        }
    }

    fn factor(&mut self, m: f64, c: f64, k: f64) {
        if self.factored == Some([m, c, k]) {
            return;
        }
        self.matrix.reset_like(&self.mass);
        self.matrix.add_scaled(m, &self.mass);
        self.matrix.add_scaled(c, &self.damping);
        self.matrix.add_scaled(k, &self.stiffness);
        self.matrix.factor(&mut self.lu);
        self.factored = Some([m, c, k]);
    }
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
        let size = e.groups.iter().map(Group::dense).sum();
        self.flexible.resize_with(scene.flexible().len(), FlexibleGroup::default);
        for matrix in [&mut self.mass, &mut self.stiffness, &mut self.damping] {
            matrix.resize(size, 0.0);
        }
        self.residual.resize(e.n, 0.0);
        let mut offset = 0;
        for g in 0..e.groups.len() {
            let group = e.groups[g];
            let (range, square) = (group.range(), offset..offset + group.dense());
            let (m, r) = (&mut self.mass[square.clone()], &mut self.residual[range.clone()]);
            let (k, c) = (&mut self.stiffness[square.clone()], &mut self.damping[square.clone()]);
            let (v, a) = (&v[range.clone()], &acceleration[range.clone()]);
            match group.kind {
                GroupKind::Body(i) => {
                    body(scene, at, i, v, a, (&mut *m, &mut *k, &mut *c), r);
                    let matrices = tangents.then_some((&mut *k, &mut *c));
                    loads::add(scene, t, (&at.q, &e.twists), i, matrices, r);
                }
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
                GroupKind::Flexible(s) => {
                    let (body, q) = (&scene.flexible()[s], &at.nodes[s]);
                    self.flexible[s].evaluate(body, q, (v, a), tangents, r);
                    continue;
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
        for (group, offset) in placed(&e.groups).filter(|(g, _)| g.dense() > 0) {
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
            if x.iter().all(|x| *x == 0.0) {
                continue;
            }
            match group.kind {
                GroupKind::Flexible(s) => self.flexible[s].mass_lu.solve(x),
                _ => cholesky_solve(&self.factor[offset..offset + group.dense()], group.n, x),
            }
        }
    }

    /// Adds `s K x` to `y`.
    pub fn multiply_stiffness(&self, e: &Equations, x: &[f64], s: f64, y: &mut [f64]) {
        multiply(&e.groups, &self.stiffness, x, s, y);
        self.multiply_flexible(e, |f| &f.stiffness, x, s, y);
    }

    /// Adds `s C x` to `y`.
    pub fn multiply_damping(&self, e: &Equations, x: &[f64], s: f64, y: &mut [f64]) {
        multiply(&e.groups, &self.damping, x, s, y);
        self.multiply_flexible(e, |f| &f.damping, x, s, y);
    }

    fn multiply_flexible(
        &self,
        e: &Equations,
        matrix: impl Fn(&FlexibleGroup) -> &Tridiagonal,
        x: &[f64],
        s: f64,
        y: &mut [f64],
    ) {
        for group in &e.groups {
            if let GroupKind::Flexible(k) = group.kind {
                let matrix = matrix(&self.flexible[k]);
                matrix.multiply_add(&x[group.range()], s, &mut y[group.range()]);
            }
        }
    }

    /// Adds to `K` within a group; entries that couple different groups are left out.
    pub fn add_stiffness(&mut self, e: &Equations, i: usize, j: usize, value: f64) {
        for (group, offset) in placed(&e.groups) {
            let range = group.range();
            if range.contains(&i) {
                let free = range.contains(&j) && !e.prescribed[i] && !e.prescribed[j];
                if free && let GroupKind::Flexible(s) = group.kind {
                    // Second derivatives of joints at a node; bars keep their constant tangents.
                    let (f, i, j) = (&mut self.flexible[s], i - range.start, j - range.start);
                    let block = f.stiffness.block;
                    if block > 1 && i / block == j / block {
                        *f.stiffness.entry_mut(i, j) += value;
                        f.factored = None;
                    }
                } else if free {
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
            if let GroupKind::Flexible(s) = group.kind {
                self.flexible[s].factor(m, c, k);
                continue;
            }
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
            if x.iter().all(|x| *x == 0.0) {
                continue;
            }
            match group.kind {
                GroupKind::Flexible(s) => self.flexible[s].lu.solve(x),
                _ => lu.solve(x),
            }
        }
    }
}

impl Group {
    pub fn range(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.n
    }

    /// Entries of its dense matrix; those of flexible bodies are block-tridiagonal.
    pub fn dense(&self) -> usize {
        if let GroupKind::Flexible(_) = self.kind { 0 } else { self.n * self.n }
    }
}

/// Groups and the offsets of their matrices.
fn placed(groups: &[Group]) -> impl Iterator<Item = (&Group, usize)> {
    groups.iter().scan(0, |offset, group| {
        let here = *offset;
        *offset += group.dense();
        Some((group, here))
    })
}

fn multiply(groups: &[Group], matrix: &[f64], x: &[f64], s: f64, y: &mut [f64]) {
    for (group, offset) in placed(groups).filter(|(g, _)| g.dense() > 0) {
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

//! Small vibrations about a pose: `M_red δq̈ + C δq̇ + K δq = 0` over the independent coordinates,
//! from finite differences of the accelerations; poles, damping and shapes from the eigenvalues of
//! the first-order form.

use super::{AnalysisError, MotionError, NEUTRAL, NUDGE, derivatives};
use crate::multibody::partition::Partition;
use crate::multibody::tree::Elementary;
use crate::multibody::{Multibody, MultibodyScratch, MultibodyState};
use nalgebra::linalg::{SVD, Schur, balancing};
use nalgebra::{Cholesky, Complex, DMatrix, DVector};
use std::f64::consts::TAU;

/// Poles below this fraction of the largest one are zero.
const ZERO: f64 = 1e-10;
/// Poles closer than this to each other, relative to their magnitude, share an eigenspace.
const SAME: f64 = 1e-7;

/// The kind of motion of a pole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModeKind {
    /// A pair of complex poles: an oscillation.
    Oscillation,
    /// One real pole: monotonic return or divergence.
    Real,
    /// A displacement without stiffness: a rigid-body motion.
    Rigid,
}

/// A mode of small vibration.
#[derive(Clone, Debug)]
pub struct Mode {
    /// Kind of motion.
    pub kind: ModeKind,
    /// Its pole `λ` [1/s], of a pair the one with an imaginary part ≥ 0.
    pub pole: Complex<f64>,
    /// Amplitude and phase of every coordinate, normalized to a largest component of 1 [m, rad].
    pub shape: Vec<Complex<f64>>,
}

impl Mode {
    /// Natural frequency `|λ|/2π` [Hz]; for a real pole its corner frequency.
    pub fn frequency(&self) -> f64 {
        self.pole.norm() / TAU
    }

    /// Frequency of the damped oscillation, `Im λ/2π` [Hz].
    pub fn damped_frequency(&self) -> f64 {
        self.pole.im / TAU
    }

    /// Damping ratio `−Re λ/|λ|` [–]: 1 for a real pole, negative if it grows, 0 for a rigid
    /// motion.
    pub fn damping_ratio(&self) -> f64 {
        if self.pole.norm() > 0.0 { self.decay() / self.pole.norm() } else { 0.0 }
    }

    /// Decay rate `−Re λ` [1/s].
    pub fn decay(&self) -> f64 {
        0.0 - self.pole.re
    }

    /// Whether it grows: beyond rounding, `Re λ > 0`.
    pub fn is_unstable(&self) -> bool {
        self.pole.re > 1e-9 * self.pole.norm() && self.kind != ModeKind::Rigid
    }
}

/// The linearized mechanism and its modes.
#[derive(Clone, Debug)]
pub struct Modes {
    /// The modes in order of increasing frequency.
    pub modes: Vec<Mode>,
    /// The partition whose independent coordinates the matrices belong to.
    pub partition: Partition,
    /// `M_red` [kg, kg m, kg m²].
    pub mass: DMatrix<f64>,
    /// `C` [N s/m, …].
    pub damping: DMatrix<f64>,
    /// `K` [N/m, …].
    pub stiffness: DMatrix<f64>,
    /// Largest acceleration of a coordinate at the pose [m/s², rad/s²]: 0 at equilibrium.
    pub acceleration: f64,
}

impl Multibody {
    /// Linearizes about a state and computes its modes.
    ///
    /// Velocities are those of the state, 0 after [`Multibody::equilibrium`]; prescribed joints
    /// keep theirs. If the state is not at rest, the modes are those of its frozen linearization,
    /// and [`Modes::acceleration`] shows how far it is from equilibrium.
    pub fn modes(
        &self,
        state: &MultibodyState,
        t: f64,
        w: &mut MultibodyScratch,
    ) -> Result<Modes, AnalysisError> {
        let mut q = state.q.clone();
        let mut partition = state.partition.clone();
        self.close(&partition, t, &mut q, w)?;
        self.linearize(&partition, t, w)?;
        self.renew_partition(&mut partition, w);
        let acceleration = self.acceleration_of(&q, &state.v, state, &partition, t, w)?;
        let map = self.velocity_map(&partition, w);
        let mass = self.reduced_mass(&map, w);
        let units = self.coordinate_units();
        let f = partition.independent.len();

        // ∂a/∂q along the independent coordinates, and ∂a/∂v.
        let steps = DVector::from_fn(f, |k, _| NUDGE * units[partition.independent[k] as usize]);
        let by_position = derivatives(&steps, f, |k, h| {
            let along = map.column(k).into_owned();
            let moved = self.displaced(&q, &along, h, &partition, t, w)?;
            self.acceleration_of(&moved, &state.v, state, &partition, t, w)
        })?;
        self.tree.kinematics(&q, &mut w.tree);
        let by_velocity = derivatives(&steps, f, |k, h| {
            let mut v = state.v.clone();
            v[partition.independent[k] as usize] += h;
            self.acceleration_of(&q, &v, state, &partition, t, w)
        })?;

        let no_modes = || AnalysisError::NoModes { mechanism: self.name.clone(), t };
        let fastest = state.v.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let linear = Linear {
            by_position: &by_position,
            by_velocity: &by_velocity,
            turning: self.turning(&map, &partition, &state.v),
            mass: &mass,
            // Magnitudes of the terms that cancel where the stiffness is zero [1/s²].
            noise: self.tree.gravity.norm() / self.reach()
                + acceleration.amax()
                + fastest * fastest,
        };
        let modes = linear.modes(&map).ok_or_else(no_modes)?;
        Ok(Modes {
            modes,
            damping: -&mass * by_velocity,
            stiffness: -&mass * by_position,
            mass,
            partition,
            acceleration: acceleration.iter().fold(0.0, |m, a| a.abs().max(m)),
        })
    }

    /// Accelerations of the independent coordinates at closed positions; dependent velocities
    /// follow the independent ones, prescribed ones are unchanged.
    fn acceleration_of(
        &self,
        q: &[f64],
        v: &[f64],
        state: &MultibodyState,
        partition: &Partition,
        t: f64,
        w: &mut MultibodyScratch,
    ) -> Result<DVector<f64>, MotionError> {
        self.linearize(partition, t, w)?;
        let mut v = v.to_vec();
        self.expand_dependent(partition, &mut v, w);
        let still = vec![0.0; self.driven.len()];
        self.dynamics((q, &v), &state.control, partition, t, Some(&still), w)?;
        Ok(DVector::from_iterator(
            partition.independent.len(),
            partition.independent.iter().map(|c| w.acceleration[*c as usize]),
        ))
    }

    /// `Ω` of `δq̇ = δv − Ω δq`: displacements of a spherical joint are expressed in a rotating
    /// body frame. `None` if nothing rotates.
    fn turning(
        &self,
        map: &DMatrix<f64>,
        partition: &Partition,
        v: &[f64],
    ) -> Option<DMatrix<f64>> {
        let mut all = DMatrix::zeros(map.nrows(), map.ncols());
        for node in self.tree.nodes.iter().filter(|n| n.joint == Elementary::Spherical) {
            let c = node.column as usize;
            let spin = crate::math::Vec3::new(v[c], v[c + 1], v[c + 2]);
            all.rows_mut(c, 3).copy_from(&(spin.cross_matrix() * map.rows(c, 3)));
        }
        let rows = partition.independent.iter().map(|c| all.row(*c as usize).into_owned());
        let rows: Vec<_> = rows.collect();
        rows.iter().any(|r| r.amax() > 0.0).then(|| DMatrix::from_rows(&rows))
    }
}

/// The linearized equations.
struct Linear<'a> {
    by_position: &'a DMatrix<f64>,
    by_velocity: &'a DMatrix<f64>,
    turning: Option<DMatrix<f64>>,
    mass: &'a DMatrix<f64>,
    noise: f64,
}

impl Linear<'_> {
    /// Poles and shapes in order of increasing frequency. `None` if they cannot be computed.
    fn modes(&self, map: &DMatrix<f64>) -> Option<Vec<Mode>> {
        let n = self.mass.nrows();
        if n == 0 {
            return Some(Vec::new());
        }
        // In coordinates y = Lᵀ δq with M = L Lᵀ: ÿ + Ĉ ẏ + K̂ y = 0.
        let l = Cholesky::new(self.mass.clone())?.l();
        let back = l.transpose().try_inverse()?;
        let weighed = |x: &DMatrix<f64>| l.tr_mul(x) * &back;
        let (k, c) = (-weighed(self.by_position), -weighed(self.by_velocity));
        let shapes = map * back.clone();
        if !k.iter().chain(&c).all(|x| x.is_finite()) {
            return None;
        }

        // Displacements without stiffness are removed first: their positions do not appear in the
        // equations, and if kept they would turn rounding errors into poles of the size of their
        // square root.
        let svd = SVD::new(k.clone(), false, true);
        let none = NEUTRAL * (svd.singular_values.amax() + self.noise);
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|a, b| svd.singular_values[*a].total_cmp(&svd.singular_values[*b]));
        let rows: Vec<_> = order.iter().map(|i| svd.v_t.as_ref().map(|v| v.row(*i))).collect();
        let basis = DMatrix::from_rows(&rows.into_iter().collect::<Option<Vec<_>>>()?).transpose();
        let r = match self.turning {
            Some(_) => 0,
            None => svd.singular_values.iter().filter(|x| **x <= none).count(),
        };

        // State (z, ẏ in the basis), z the displacements with stiffness.
        let m = n - r;
        let mut a = DMatrix::zeros(m + n, m + n);
        a.view_mut((0, m + r), (m, m)).fill_with_identity();
        a.view_mut((m, 0), (n, m)).copy_from(&-basis.tr_mul(&(&k * basis.columns(r, m))));
        a.view_mut((m, m), (n, n)).copy_from(&-basis.tr_mul(&(&c * &basis)));
        if let Some(turning) = &self.turning {
            let turned = basis.tr_mul(&(weighed(turning) * &basis));
            a.view_mut((0, 0), (m, m)).copy_from(&-turned);
        }
        let mut balanced = a.clone();
        let scales = balancing::balance_parlett_reinsch(&mut balanced);
        let poles = Schur::try_new(balanced.clone(), f64::EPSILON, 10_000)?.complex_eigenvalues();

        let mut modes = Vec::new();
        for i in 0..r {
            let shape = (&shapes * basis.column(i)).map(|x| Complex::new(x, 0.0));
            modes.push(mode(ModeKind::Rigid, Complex::new(0.0, 0.0), shape));
        }
        let fastest = poles.iter().fold(0.0_f64, |m, p| m.max(p.norm()));
        let tiny = |p: &Complex<f64>| p.norm() <= ZERO * fastest + 1e-9;
        // Each displacement without stiffness may come with a velocity without damping: the same
        // rigid motion.
        let mut partners = r;
        let mut found: Vec<(Complex<f64>, DVector<Complex<f64>>)> = Vec::new();
        for pole in poles.iter().filter(|p| p.im >= 0.0) {
            if tiny(pole) && partners > 0 {
                partners -= 1;
                continue;
            }
            let near = |p: &Complex<f64>| (p - pole).norm() <= SAME * pole.norm();
            let others: Vec<_> =
                found.iter().filter(|(p, _)| near(p)).map(|(_, x)| x.clone()).collect();
            let vector = eigenvector(&balanced, *pole, &others)?;
            let y = DVector::from_fn(n, |i, _| {
                // Velocities; with rotating joints they are not a multiple of the displacements.
                let row = if self.turning.is_some() { i } else { m + i };
                vector[row] * scales[row]
            });
            let shape = (&shapes * &basis).map(|x| Complex::new(x, 0.0)) * y;
            found.push((*pole, vector));
            let kind = match () {
                () if tiny(pole) => ModeKind::Rigid,
                () if pole.im > 0.0 => ModeKind::Oscillation,
                () => ModeKind::Real,
            };
            let pole = match kind {
                ModeKind::Rigid => Complex::new(0.0, 0.0),
                // Rounding errors are not damping.
                _ if pole.re.abs() <= 1e-2 * ZERO * fastest => Complex::new(0.0, pole.im),
                _ => *pole,
            };
            modes.push(mode(kind, pole, shape));
        }
        modes.sort_by(|a, b| a.frequency().total_cmp(&b.frequency()));
        Some(modes)
    }
}

/// A mode normalized to a largest component of 1.
fn mode(kind: ModeKind, pole: Complex<f64>, shape: DVector<Complex<f64>>) -> Mode {
    let zero = Complex::new(0.0, 0.0);
    // The first of several components that are equal up to rounding, so that the sign does not
    // depend on rounding.
    let most = shape.iter().fold(0.0_f64, |m, x| m.max(x.norm()));
    let largest = shape.iter().find(|x| x.norm() >= (1.0 - 1e-9) * most).copied().unwrap_or(zero);
    let shape = shape.iter().map(|x| if largest == zero { zero } else { x / largest });
    Mode { kind, pole, shape: shape.collect() }
}

/// An eigenvector by inverse iteration, orthogonal to `others` of the same eigenvalue.
fn eigenvector(
    a: &DMatrix<f64>,
    pole: Complex<f64>,
    others: &[DVector<Complex<f64>>],
) -> Option<DVector<Complex<f64>>> {
    let n = a.nrows();
    let size = a.amax().max(pole.norm()).max(f64::MIN_POSITIVE);
    let mut shifted = a.map(|x| Complex::new(x, 0.0));
    for i in 0..n {
        shifted[(i, i)] -= pole + Complex::new(1e-14 * size, 1e-14 * size);
    }
    let lu = shifted.lu();
    // A start vector with all components nonzero, different for each of several eigenvectors.
    let mut x = DVector::from_fn(n, |i, _| {
        let angle = (1.0 + i as f64) * (1.0 + others.len() as f64) * 2.399963;
        Complex::new(1.0 + 0.5 * angle.cos(), 0.3 * angle.sin())
    });
    for _ in 0..4 {
        for other in others {
            let part = other.dotc(&x);
            x -= other * part;
        }
        lu.solve_mut(&mut x).then_some(())?;
        let length = x.norm();
        if !(length > 0.0 && length.is_finite()) {
            return None;
        }
        x /= Complex::new(length, 0.0);
    }
    for other in others {
        let part = other.dotc(&x);
        x -= other * part;
    }
    let length = x.norm();
    (length > 0.0).then(|| x / Complex::new(length, 0.0))
}

#[cfg(test)]
mod tests;

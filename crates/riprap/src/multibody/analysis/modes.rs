//! Small vibrations about a pose: `M_red δq̈ + C δq̇ + K δq = 0` over the independent coordinates, from differences of the
//! accelerations; poles, damping and shapes from the eigenvalues of its first-order form.

use super::{AnalysisError, MotionError, NEUTRAL, NUDGE, derivatives};
use crate::multibody::partition::Partition;
use crate::multibody::tree::Elementary;
use crate::multibody::{Multibody, MultibodyScratch, MultibodyState};
use nalgebra::linalg::{SVD, Schur, balancing};
use nalgebra::{Cholesky, Complex, DMatrix, DVector};
use std::f64::consts::TAU;

/// Poles below this share of the largest one are zero.
const ZERO: f64 = 1e-10;
/// Poles nearer than this to each other, relative to their size, share a plane of shapes.
const SAME: f64 = 1e-7;

/// What a pole stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModeKind {
    /// A pair of complex poles: it swings.
    Oscillation,
    /// One real pole: it creeps back, or away.
    Real,
    /// A displacement without stiffness: a rigid-body motion.
    Rigid,
}

/// A mode of small vibration.
#[derive(Clone, Debug)]
pub struct Mode {
    /// What it is.
    pub kind: ModeKind,
    /// Its pole `λ` [1/s], the one with an imaginary part ≥ 0 of a pair.
    pub pole: Complex<f64>,
    /// Amplitude and phase of every coordinate, the largest being 1 [m, rad].
    pub shape: Vec<Complex<f64>>,
}

impl Mode {
    /// Natural frequency `|λ|/2π` [Hz]; for a real pole its corner frequency.
    pub fn frequency(&self) -> f64 {
        self.pole.norm() / TAU
    }

    /// Frequency with which it swings, `Im λ/2π` [Hz].
    pub fn damped_frequency(&self) -> f64 {
        self.pole.im / TAU
    }

    /// Damping ratio `−Re λ/|λ|` [–]: 1 for a real pole, negative where it grows, 0 for a rigid motion.
    pub fn damping_ratio(&self) -> f64 {
        if self.pole.norm() > 0.0 { self.decay() / self.pole.norm() } else { 0.0 }
    }

    /// Rate `−Re λ` with which it dies out [1/s].
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
    /// The modes by rising frequency.
    pub modes: Vec<Mode>,
    /// The partition whose independent coordinates the matrices belong to.
    pub partition: Partition,
    /// `M_red` [kg, kg m, kg m²].
    pub mass: DMatrix<f64>,
    /// `C` [N s/m, …].
    pub damping: DMatrix<f64>,
    /// `K` [N/m, …].
    pub stiffness: DMatrix<f64>,
    /// Largest acceleration of a coordinate at the pose [m/s², rad/s²]: 0 at an equilibrium.
    pub acceleration: f64,
}

impl Multibody {
    /// Linearizes about a state and gives its modes.
    ///
    /// Velocities are those of the state, 0 after [`Multibody::equilibrium`]; prescribed joints keep theirs. Where the state
    /// is not at rest the modes are those of its frozen linearization, and [`Modes::acceleration`] tells how far from
    /// balance it is.
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
            // Sizes of the terms that cancel in a stiffness of none [1/s²].
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

    /// Accelerations of the independent coordinates at closed positions; dependent velocities follow the independent ones,
    /// prescribed ones stay.
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

    /// `Ω` of `δq̇ = δv − Ω δq`: displacements of a spherical joint are seen from a body that turns. `None` if nothing does.
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
    /// Poles and shapes by rising frequency. `None` if they cannot be computed.
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

        // Displacements without stiffness come out first: their positions appear nowhere in the equations, and left in
        // they would turn rounding into poles of its square root.
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
        // Each displacement without stiffness may have a velocity without damping beside it: the same rigid motion.
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
                // Velocities; with turning joints they are no multiple of the displacements.
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
                // Rounding is no damping.
                _ if pole.re.abs() <= 1e-2 * ZERO * fastest => Complex::new(0.0, pole.im),
                _ => *pole,
            };
            modes.push(mode(kind, pole, shape));
        }
        modes.sort_by(|a, b| a.frequency().total_cmp(&b.frequency()));
        Some(modes)
    }
}

/// A mode with its largest component made 1.
fn mode(kind: ModeKind, pole: Complex<f64>, shape: DVector<Complex<f64>>) -> Mode {
    let zero = Complex::new(0.0, 0.0);
    // The first of several equal ones, up to rounding, so that the sign does not depend on it.
    let most = shape.iter().fold(0.0_f64, |m, x| m.max(x.norm()));
    let largest = shape.iter().find(|x| x.norm() >= (1.0 - 1e-9) * most).copied().unwrap_or(zero);
    let shape = shape.iter().map(|x| if largest == zero { zero } else { x / largest });
    Mode { kind, pole, shape: shape.collect() }
}

/// An eigenvector by inverse iteration, perpendicular to `others` of the same eigenvalue.
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
    // A start with all components, different for each of several.
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
mod tests {
    use super::*;
    use crate::math::Pose;
    use crate::multibody::{
        Axis, GROUND, Joint, JointMotion, JointSpring, Mechanism, MultibodyState,
    };
    use crate::shape::MassProperties;

    const G: f64 = 9.81;

    fn modes(m: &Mechanism, gravity: [f64; 3]) -> Modes {
        let system = m.build(gravity).expect("the mechanism is sound");
        modes_at(&system, system.start())
    }

    fn modes_at(system: &Multibody, state: &MultibodyState) -> Modes {
        let modes = system.modes(state, 0.0, &mut system.scratch());
        modes.unwrap_or_else(|error| panic!("{error}"))
    }

    fn close(a: f64, b: f64) {
        // Differences of fourth order.
        assert!((a - b).abs() <= 1e-9 * b.abs().max(1e-3), "{a} is not {b}");
    }

    fn bob(length: f64) -> MassProperties {
        MassProperties::point(2.0, [0.0, 0.0, -length])
    }

    #[test]
    fn a_pendulum_swings_with_the_root_of_g_over_its_length() {
        let mut m = Mechanism::new("pendulum");
        let arm = m.revolute(GROUND, Axis::Y, [0.0; 3], bob(0.7));
        let found = modes(&m, [0.0, 0.0, -G]);
        assert_eq!(found.modes.len(), 1);
        close(found.modes[0].frequency(), (G / 0.7).sqrt() / TAU);
        assert!(found.modes[0].damping_ratio().abs() < 1e-12);
        assert!(!found.modes[0].is_unstable());
        close(found.stiffness[(0, 0)], 2.0 * G * 0.7);
        close(found.mass[(0, 0)], 2.0 * 0.49);
        assert_eq!(found.acceleration, 0.0);
        // On its head: one way back, one away.
        m.start(m.coordinate(arm, 0), std::f64::consts::PI);
        let found = modes(&m, [0.0, 0.0, -G]).modes;
        assert!(found.iter().all(|m| m.kind == ModeKind::Real));
        let mut poles: Vec<f64> = found.iter().map(|m| m.pole.re).collect();
        poles.sort_by(f64::total_cmp);
        close(poles[0], -(G / 0.7).sqrt());
        close(poles[1], (G / 0.7).sqrt());
        assert_eq!(found.iter().filter(|m| m.is_unstable()).count(), 1);
    }

    #[test]
    fn a_double_pendulum_has_the_two_frequencies_of_its_closed_form() {
        let mut m = Mechanism::new("double");
        let upper = m.revolute(GROUND, Axis::Y, [0.0; 3], bob(1.0));
        m.revolute(upper, Axis::Y, [0.0, 0.0, -1.0], bob(1.0));
        let found = modes(&m, [0.0, 0.0, -G]).modes;
        // Equal masses and lengths: ω² = (2 ∓ √2) g/L; absolute angles 1 : ±√2, so relative ones 1 : ±√2 − 1.
        for (mode, sign) in found.iter().zip([-1.0, 1.0]) {
            close(mode.frequency(), ((2.0 + sign * 2.0_f64.sqrt()) * G).sqrt() / TAU);
            let ratio = mode.shape[1] / mode.shape[0];
            close(ratio.re, -sign * 2.0_f64.sqrt() - 1.0);
            assert!(ratio.im.abs() < 1e-9);
            let largest = mode.shape.iter().map(|x| x.norm()).fold(0.0, f64::max);
            close(largest, 1.0);
        }
    }

    #[test]
    fn a_damped_oscillator_has_its_ratio_and_splits_beyond_one() {
        for ratio in [0.0, 0.05, 0.7, 2.0] {
            let (mass, stiffness) = (3.0_f64, 1200.0_f64);
            let damping = 2.0 * ratio * (mass * stiffness).sqrt();
            let mut m = Mechanism::new("oscillator");
            let point = MassProperties::point(mass, [0.0; 3]);
            let slider = m.prismatic(GROUND, Axis::X, [0.0; 3], point);
            m.spring(m.coordinate(slider, 0), JointSpring { stiffness, rest: 0.0, damping });
            let found = modes(&m, [0.0; 3]);
            close(found.damping[(0, 0)], damping);
            let found = found.modes;
            if ratio < 1.0 {
                assert_eq!((found.len(), found[0].kind), (1, ModeKind::Oscillation));
                close(found[0].frequency(), 20.0 / TAU);
                close(found[0].damping_ratio(), ratio);
                close(found[0].decay(), 20.0 * ratio);
                close(found[0].damped_frequency(), 20.0 * (1.0 - ratio * ratio).sqrt() / TAU);
            } else {
                assert_eq!((found.len(), found[0].kind), (2, ModeKind::Real));
                let root = (ratio * ratio - 1.0).sqrt();
                close(found[0].decay(), 20.0 * (ratio - root));
                close(found[1].decay(), 20.0 * (ratio + root));
            }
        }
    }

    #[test]
    fn what_nothing_holds_is_a_rigid_motion() {
        let mut m = Mechanism::new("stone");
        let stone = MassProperties::principal(2.0, [0.1, 0.2, 0.3], [0.1, 0.2, 0.25]);
        m.add("stone", GROUND, Joint::Free, Pose::IDENTITY, Some(stone));
        let found = modes(&m, [0.0; 3]).modes;
        assert_eq!(found.len(), 6);
        assert!(found.iter().all(|m| m.kind == ModeKind::Rigid && m.frequency() == 0.0));
        // A wheel in a bearing that drags, beside a stiff spring.
        let mut m = Mechanism::new("wheel");
        let slide = MassProperties::point(1.0, [0.0; 3]);
        let slide = m.prismatic(GROUND, Axis::X, [0.0; 3], slide);
        let stiff = JointSpring { stiffness: 1e8, rest: 0.3, damping: 10.0 };
        m.spring(m.coordinate(slide, 0), stiff);
        let wheel = MassProperties::principal(1.0, [0.0; 3], [0.1; 3]);
        let wheel = m.revolute(slide, Axis::Y, [0.0; 3], wheel);
        let drag = JointSpring { stiffness: 0.0, rest: 0.0, damping: 0.02 };
        m.spring(m.coordinate(wheel, 0), drag);
        let found = modes(&m, [0.0, 0.0, -G]).modes;
        let kinds: Vec<ModeKind> = found.iter().map(|m| m.kind).collect();
        assert_eq!(kinds, [ModeKind::Rigid, ModeKind::Real, ModeKind::Oscillation]);
        close(found[1].decay(), 0.2);
        close(found[2].frequency(), (1e8_f64 / 2.0).sqrt() / TAU);
        assert!((found[0].shape[1].re, found[0].shape[0].norm()) == (1.0, 0.0));
    }

    #[test]
    fn equal_poles_have_shapes_of_their_own() {
        let mut m = Mechanism::new("pendulums");
        for k in 0..3 {
            m.revolute(GROUND, Axis::Y, [k as f64, 0.0, 0.0], bob(0.5));
        }
        let found = modes(&m, [0.0, 0.0, -G]).modes;
        let shapes = DMatrix::from_fn(3, 3, |i, k| found[k].shape[i]);
        let volume = shapes.determinant().norm();
        assert!(volume > 0.1, "{shapes}");
    }

    #[test]
    fn a_spinning_top_nutates() {
        // Free of torque, about its axis at Ω: in the body frame the rate is Ω (C − A)/A; displacements seen from the body turn
        // at Ω as well.
        let (a, c, spin) = (0.2, 0.3, 40.0);
        let mut m = Mechanism::new("top");
        let body = MassProperties::principal(1.0, [0.0; 3], [a, a, c]);
        let top = m.add("top", GROUND, Joint::Spherical, Pose::IDENTITY, Some(body));
        m.start_velocity(m.coordinate(top, 2), spin);
        let found = modes(&m, [0.0; 3]).modes;
        let swing: Vec<f64> = found
            .iter()
            .filter(|m| m.kind == ModeKind::Oscillation)
            .map(|m| m.frequency() * TAU)
            .collect();
        assert_eq!(swing.len(), 2, "{found:?}");
        close(swing[0], spin * (c - a) / a);
        close(swing[1], spin);
    }

    #[test]
    fn prescribed_joints_take_no_part() {
        let mut m = Mechanism::new("crane");
        let cart = m.prismatic(GROUND, Axis::X, [0.0; 3], MassProperties::point(9.0, [0.0; 3]));
        m.revolute(cart, Axis::Y, [0.0; 3], bob(1.3));
        let free = modes(&m, [0.0, 0.0, -G]).modes;
        assert_eq!(free[0].kind, ModeKind::Rigid);
        close(free[1].frequency(), (G / 1.3 * (11.0 / 9.0)).sqrt() / TAU);
        m.drive(m.coordinate(cart, 0), JointMotion::constant_speed(0.0, 2.0));
        let held = modes(&m, [0.0, 0.0, -G]).modes;
        assert_eq!(held.len(), 1);
        close(held[0].frequency(), (G / 1.3).sqrt() / TAU);
    }
}

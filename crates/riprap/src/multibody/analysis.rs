//! Analyses of a mechanism besides its motion: static equilibrium, small vibrations about a pose,
//! and the forces required by a prescribed motion. All work on the independent coordinates, with
//! closed loops at every evaluation.

mod equilibrium;
mod hold;
mod modes;
mod prescribed;

use super::force::{Control, Inputs};
use super::partition::Partition;
use super::{MotionError, Multibody, MultibodyScratch};
use nalgebra::{DMatrix, DVector};

pub use equilibrium::{Equilibrium, Stability};
pub use modes::{Mode, ModeKind, Modes};
pub use prescribed::PrescribedSample;

/// Displacement of a coordinate for a difference quotient [rad, or fraction of the reach]. At
/// fourth order both the truncation (h⁴) and the rounding (1e-16/h) stay below 1e-11 of the result.
const NUDGE: f64 = 1e-4;
/// Stiffness below this fraction of the largest one counts as zero: it is noise of the differences.
const NEUTRAL: f64 = 1e-11;

/// Why an analysis has no result.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AnalysisError {
    /// A loop, a force or a position failed during the analysis.
    #[error("{0}")]
    Motion(#[from] MotionError),
    /// Nothing holds the mechanism.
    #[error(
        "mechanism `{mechanism}`: no static pose at t = {t:.6} s: `{coordinate}` keeps moving, by {moved:.3} {unit} in \
         {iterations} iterations, with {force:.3e} {force_unit} on it; hold it by a spring, a stop or a prescribed \
         position, or check the forces that act on it at rest"
    )]
    KeepsMoving {
        /// Which mechanism.
        mechanism: String,
        /// The coordinate that moved farthest.
        coordinate: String,
        /// Time [s].
        t: f64,
        /// How far it moved [m, rad].
        moved: f64,
        /// Unit of `moved`.
        unit: &'static str,
        /// The remaining force on it [N, N m].
        force: f64,
        /// Unit of `force`.
        force_unit: &'static str,
        /// Number of iterations.
        iterations: usize,
    },
    /// The search ended with forces remaining.
    #[error(
        "mechanism `{mechanism}`: the search for a static pose at t = {t:.6} s ended after {iterations} iterations with \
         {force:.3e} {force_unit} remaining on `{coordinate}`; start closer to the expected pose, look for a law that \
         jumps, or for a joint that nothing holds"
    )]
    Unbalanced {
        /// Which mechanism.
        mechanism: String,
        /// The coordinate with the largest relative force.
        coordinate: String,
        /// Time [s].
        t: f64,
        /// The remaining force on it [N, N m].
        force: f64,
        /// Unit of `force`.
        force_unit: &'static str,
        /// Number of iterations.
        iterations: usize,
    },
    /// Some coordinates are not prescribed.
    #[error(
        "mechanism `{mechanism}`: {coordinates} are free, so the motion is not known without integrating it; prescribe \
         them, or use `run` and read the forces there"
    )]
    FreeCoordinates {
        /// Which mechanism.
        mechanism: String,
        /// Their names.
        coordinates: String,
    },
    /// The linearized equations have no finite eigenvalues.
    #[error(
        "mechanism `{mechanism}`: the equations linearized at t = {t:.6} s have no usable eigenvalues; look for a law that \
         jumps or is not finite near this pose"
    )]
    NoModes {
        /// Which mechanism.
        mechanism: String,
        /// Time [s].
        t: f64,
    },
}

impl Multibody {
    /// A unit for each coordinate: 1 rad, or the reach [m].
    fn coordinate_units(&self) -> DVector<f64> {
        let reach = self.reach();
        DVector::from_fn(self.n_v(), |c, _| if self.angles[c] { 1.0 } else { reach })
    }

    /// `T` at the last linearization: velocities of all joints (rows) per unit of each independent one (columns).
    fn velocity_map(&self, partition: &Partition, w: &MultibodyScratch) -> DMatrix<f64> {
        let (n, f) = (self.n_v(), partition.independent.len());
        DMatrix::from_column_slice(n, f, &w.map[..n * f])
    }

    /// `M_red = Tᵀ M T` at the last evaluation, not factored.
    fn reduced_mass(&self, map: &DMatrix<f64>, w: &MultibodyScratch) -> DMatrix<f64> {
        let mass = DMatrix::from_column_slice(self.n_v(), self.n_v(), &w.tree.mass);
        map.tr_mul(&(mass * map))
    }

    /// Moves positions along velocities of all joints and closes the loops again.
    fn displaced(
        &self,
        q: &[f64],
        along: &DVector<f64>,
        share: f64,
        partition: &Partition,
        t: f64,
        w: &mut MultibodyScratch,
    ) -> Result<Vec<f64>, MotionError> {
        let mut moved = q.to_vec();
        self.tree.integrate(q, along.as_slice(), share, &mut moved);
        self.close(partition, t, &mut moved, w)?;
        Ok(moved)
    }

    /// The forces at rest on all joints, `τ − c`, at positions with closed loops; `T` and `M` are
    /// available as well afterwards.
    fn forces_at_rest(
        &self,
        q: &[f64],
        control: &Control,
        partition: &Partition,
        t: f64,
        w: &mut MultibodyScratch,
    ) -> Result<DVector<f64>, MotionError> {
        self.linearize(partition, t, w)?;
        let v = vec![0.0; self.n_v()];
        self.tree.motion(&v, &mut w.tree);
        let inputs = Inputs { t, q, v: &v, latched: &control.latched };
        self.forces.evaluate(&self.tree, &inputs, control, &mut w.tree, &mut w.applied);
        self.tree.evaluate(&mut w.tree);
        let force = DVector::from_fn(self.n_v(), |c, _| w.applied[c] - w.tree.bias_force[c]);
        self.check_finite(force.as_slice(), t)?;
        Ok(force)
    }
}

/// The matrix of derivatives of `f(k, h)` with respect to `h` at 0, one column for each `k`, by
/// fourth-order central differences. Smaller steps are used if the range of the mechanism ends too
/// soon.
fn derivatives(
    steps: &DVector<f64>,
    n_rows: usize,
    mut f: impl FnMut(usize, f64) -> Result<DVector<f64>, MotionError>,
) -> Result<DMatrix<f64>, MotionError> {
    let mut matrix = DMatrix::zeros(n_rows, steps.len());
    for k in 0..steps.len() {
        let mut quotient = |h: f64| -> Result<DVector<f64>, MotionError> {
            let near = f(k, h)? - f(k, -h)?;
            let far = f(k, 2.0 * h)? - f(k, -2.0 * h)?;
            Ok((near * 8.0 - far) / (12.0 * h))
        };
        let column = quotient(steps[k])
            .or_else(|_| quotient(1e-2 * steps[k]))
            .or_else(|_| quotient(1e-4 * steps[k]))?;
        matrix.set_column(k, &column);
    }
    Ok(matrix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::multibody::fixtures::*;
    use crate::multibody::{Axis, Cut, GROUND, Marker, Mechanism};
    use crate::shape::MassProperties;

    #[test]
    fn differences_are_exact_for_quartics_and_of_fourth_order_beyond() {
        let steps = DVector::from_row_slice(&[1e-2, 3e-2]);
        // d/dh of (2 h + h⁴, 5 h − h³) along the first, of (sin h, e^h) along the second.
        let matrix = derivatives(&steps, 2, |k, h| {
            Ok(DVector::from_row_slice(&match k {
                0 => [2.0 * h + h.powi(4), 5.0 * h - h.powi(3)],
                _ => [h.sin(), h.exp()],
            }))
        });
        let matrix = matrix.unwrap();
        assert!((matrix[(0, 0)] - 2.0).abs() < 1e-14 && (matrix[(1, 0)] - 5.0).abs() < 1e-13);
        // h⁴/30 times the fifth derivative.
        let allowed = 1.1 * 3e-2_f64.powi(4) / 30.0;
        assert!((matrix[(0, 1)] - 1.0).abs() < allowed && (matrix[(1, 1)] - 1.0).abs() < allowed);
    }

    #[test]
    fn smaller_differences_are_used_where_the_range_ends() {
        let steps = DVector::from_element(1, 1e-1);
        let beyond = |h: f64| MotionError::StepTooSmall { t: h, dt: 0.0 };
        let limited = |range: f64| {
            derivatives(&steps, 1, |_, h| {
                if h.abs() > range { Err(beyond(h)) } else { Ok(DVector::from_element(1, 3.0 * h)) }
            })
        };
        // The steps tried are 0.1, 1e-3 and 1e-5, each also at twice the distance.
        for range in [1.0, 3e-3, 3e-5] {
            let slope = limited(range).expect("within reach")[(0, 0)];
            assert!((slope - 3.0).abs() < 1e-12, "{range}: {slope}");
        }
        assert!(limited(1e-6).is_err(), "and the error gives the reason");
    }

    #[test]
    fn the_reach_is_the_largest_length_of_the_mechanism_and_units_follow_it() {
        let mut m = Mechanism::new("crane");
        let point = MassProperties::point(1.0, [0.3, 0.0, 0.0]);
        let slide = m.prismatic(GROUND, Axis::X, [0.0, 0.0, 2.0], point);
        let arm = m.revolute(slide, Axis::Y, [0.5, 0.0, 0.0], point);
        let system = m.build([0.0; 3]).unwrap();
        assert_eq!(system.reach(), 2.0);
        assert_eq!(system.coordinate_units().as_slice(), [2.0, 1.0]);
        let nail = Marker::at(GROUND, [0.0, 3.0, 4.0]);
        let length = (9.0_f64 + 4.0 + 0.25).sqrt();
        m.close_loop("rope", Cut::Rod { length }, nail, Marker::at(arm, [0.0; 3]));
        assert_eq!(m.build([0.0; 3]).unwrap().reach(), 5.0);
        // A mechanism without extent has the length 1 m.
        let mut m = Mechanism::new("wheel");
        m.revolute(GROUND, Axis::Y, [0.0; 3], MassProperties::principal(1.0, [0.0; 3], [0.1; 3]));
        assert_eq!(m.build([0.0; 3]).unwrap().reach(), 1.0);
    }

    #[test]
    fn forces_at_rest_are_those_of_gravity_and_the_reduced_mass_that_of_the_motion() {
        loops(|system, rng, _, _| {
            let (start, mut w) = (system.start(), system.scratch());
            let mut q = start.q.clone();
            system.close(&start.partition, 0.0, &mut q, &mut w).unwrap();
            let force =
                system.forces_at_rest(&q, &start.control, &start.partition, 0.0, &mut w).unwrap();
            let map = system.velocity_map(&start.partition, &w);
            let mass = system.reduced_mass(&map, &w);
            // The work of the forces over a step along the loops is the loss of potential energy.
            let v = DVector::from_vec(numbers(rng, map.ncols(), 1.0));
            let along = &map * &v;
            let mut potential = |h: f64| {
                let moved = system.displaced(&q, &along, h, &start.partition, 0.0, &mut w);
                system.energy(&moved.unwrap(), &vec![0.0; system.n_v()], &mut w).1
            };
            let rate = (potential(H) - potential(-H)) / (2.0 * H);
            let scale = 1.0 + force.abs().max() * along.abs().max();
            assert!((rate + force.dot(&along)).abs() < 1e-6 * scale, "{rate}");
            let (kinetic, _) = system.energy(&q, along.as_slice(), &mut w);
            assert!(close(kinetic, 0.5 * v.dot(&(&mass * &v)), 1e-10));
        });
    }
}

//! Inverse dynamics along a prescribed motion: positions, velocities, accelerations and the forces
//! of the drives, without time integration.

use super::AnalysisError;
use crate::multibody::{Multibody, MultibodyScratch};

/// Largest motion of prescribed joints between two loop closures [rad, reach].
const STRIDE: f64 = 0.1;

/// A mechanism at one time of its prescribed motion.
#[derive(Clone, Debug, PartialEq)]
pub struct PrescribedSample {
    /// Time [s].
    pub t: f64,
    /// Positions of all joints [m, rad].
    pub q: Vec<f64>,
    /// Velocities of all joints [m/s, rad/s].
    pub v: Vec<f64>,
    /// Accelerations of all joints [m/s², rad/s²].
    pub a: Vec<f64>,
    /// Forces required by the motion [N, N m], in the order of [`Multibody::driven_coordinates`].
    pub drive_forces: Vec<f64>,
    /// Forces in the cuts of the loops, one per equation [N, N m].
    pub loop_forces: Vec<f64>,
}

impl Multibody {
    /// Follows the prescribed motion through `times` [s], starting at t = 0. All coordinates must
    /// be prescribed or follow from prescribed ones through loops. Between the times the motion is
    /// followed in small increments, so that loops stay on their branch and laws change phase.
    pub fn follow(
        &self,
        times: &[f64],
        w: &mut MultibodyScratch,
    ) -> Result<Vec<PrescribedSample>, AnalysisError> {
        let mut state = self.start().clone();
        if !state.partition.independent.is_empty() {
            let (free, more) = match state.partition.independent.len() {
                n @ 0..=8 => (n, String::new()),
                n => (8, format!(" and {} more", n - 8)),
            };
            return Err(AnalysisError::FreeCoordinates {
                mechanism: self.name.clone(),
                coordinates: self.names(&state.partition.independent[..free]) + &more,
            });
        }
        let units = self.coordinate_units();
        let way = |from: f64, to: f64| {
            self.driven.iter().fold(0.0_f64, |m, (c, _, motion)| {
                m.max((motion.at(to)[0] - motion.at(from)[0]).abs() / units[*c as usize])
            })
        };
        let (mut t, mut samples) = (0.0, Vec::with_capacity(times.len()));
        for &end in times {
            // A straight interpolation would miss whole turns and oscillations: subdivide the
            // interval.
            let pieces = 64;
            let piece = |k: usize| t + (end - t) * (k as f64 / pieces as f64);
            let length: f64 = (0..pieces).map(|k| way(piece(k), piece(k + 1))).sum();
            let n_strides = (length / STRIDE).ceil().clamp(1.0, 1e6) as usize;
            let begin = t;
            for k in 1..=n_strides {
                let next = if k == n_strides {
                    end
                } else {
                    begin + (end - begin) * (k as f64 / n_strides as f64)
                };
                // For dependent joints, Newton's method starts from positions extrapolated by their
                // velocities.
                let mut q = state.q.clone();
                self.tree.integrate(&state.q, &state.v, next - t, &mut q);
                self.drive(next, &mut q);
                self.close(&state.partition, next, &mut q, w)?;
                state.q = q;
                self.linearize(&state.partition, next, w)?;
                if self.renew_partition(&mut state.partition, w) {
                    self.linearize(&state.partition, next, w)?;
                }
                self.expand(&state.partition, next, &mut state.v, w);
                t = next;
                self.switch_phases(t, &mut state);
            }
            let at = (&state.q[..], &state.v[..]);
            self.dynamics(at, &state.control, &state.partition, t, None, w)?;
            self.reactions(&state.partition, w);
            samples.push(PrescribedSample {
                t,
                q: state.q.clone(),
                v: state.v.clone(),
                a: w.acceleration.clone(),
                drive_forces: w.drive_force.clone(),
                loop_forces: w.loop_force.clone(),
            });
        }
        Ok(samples)
    }
}

#[cfg(test)]
mod tests {
    use crate::math::Pose;
    use crate::multibody::{
        Axis, Coordinate, Cut, GROUND, Joint, JointMotion, Marker, Mechanism, MechanismErrors,
    };
    use crate::shape::MassProperties;

    const G: f64 = 9.81;

    #[test]
    fn a_driven_double_pendulum_needs_the_torques_of_its_closed_form() {
        // Point masses, absolute angles x and y from the vertical, both as sines of time.
        let (m1, m2, l1, l2) = (2.0, 1.5, 0.8, 0.5);
        let x = |t: f64| [0.7 * (3.0 * t).sin(), 2.1 * (3.0 * t).cos(), -6.3 * (3.0 * t).sin()];
        let y = |t: f64| [1.1 * (2.0 * t).cos(), -2.2 * (2.0 * t).sin(), -4.4 * (2.0 * t).cos()];
        let mut m = Mechanism::new("double");
        let upper = MassProperties::point(m1, [0.0, 0.0, -l1]);
        let upper = m.revolute(GROUND, Axis::Y, [0.0; 3], upper);
        let lower = MassProperties::point(m2, [0.0, 0.0, -l2]);
        let lower = m.revolute(upper, Axis::Y, [0.0, 0.0, -l1], lower);
        m.drive(m.coordinate(upper, 0), JointMotion::new(x));
        let relative = move |t: f64| std::array::from_fn(|k| y(t)[k] - x(t)[k]);
        m.drive(m.coordinate(lower, 0), JointMotion::new(relative));
        let system = m.build([0.0, 0.0, -G]).expect("sound");
        let times: Vec<f64> = (0..50).map(|k| 0.13 * k as f64).collect();
        let samples =
            system.follow(&times, &mut system.scratch()).expect("the motion is prescribed");
        for s in samples {
            let ([x, dx, ddx], [y, dy, ddy]) = (x(s.t), y(s.t));
            let (sin, cos) = (x - y).sin_cos();
            let inner = m2 * l2 * (l2 * ddy + l1 * ddx * cos - l1 * dx * dx * sin + G * y.sin());
            let whole = (m1 + m2) * l1 * (l1 * ddx + G * x.sin())
                + m2 * l1 * l2 * (ddy * cos + dy * dy * sin)
                + inner;
            assert!((s.drive_forces[1] - inner).abs() < 1e-11, "{s:?}");
            assert!((s.drive_forces[0] - whole).abs() < 1e-11, "{s:?}");
            assert_eq!((s.q[0], s.v[0], s.a[0]), (x, dx, ddx));
        }
    }

    fn slider_crank() -> (Mechanism, Coordinate) {
        let (r, l) = (0.15, 0.4);
        let mut m = Mechanism::new("slider-crank");
        let crank = MassProperties::point(1.0, [0.0; 3]);
        let crank = m.add("crank", GROUND, Joint::Revolute(-Axis::Y), Pose::IDENTITY, Some(crank));
        let rod = m.add("rod", crank, Joint::Revolute(-Axis::Y), Pose::at([r, 0.0, 0.0]), None);
        let piston = MassProperties::point(2.5, [0.0; 3]);
        let piston =
            m.add("piston", GROUND, Joint::Prismatic(Axis::X), Pose::IDENTITY, Some(piston));
        let (a, b) = (Marker::at(rod, [l, 0.0, 0.0]), Marker::at(piston, [0.0; 3]));
        m.close_loop("pin", Cut::Pin, a.along(Axis::Y), b.along(Axis::Y));
        m.guess(m.coordinate(piston, 0), r + l);
        let c = m.coordinate(crank, 0);
        (m, c)
    }

    #[test]
    fn a_slider_crank_at_constant_speed_needs_the_power_of_its_piston()
    -> Result<(), MechanismErrors> {
        let (mut m, crank) = slider_crank();
        let (r, l, speed) = (0.15_f64, 0.4_f64, 30.0);
        m.drive(crank, JointMotion::constant_speed(0.0, speed));
        let system = m.build([0.0, 0.0, -G])?;
        // A few samples per revolution: the branch must be kept between them.
        let times: Vec<f64> = (0..40).map(|k| 0.17 * k as f64).collect();
        let samples =
            system.follow(&times, &mut system.scratch()).expect("the motion is prescribed");
        for s in samples {
            let (sin, cos) = (speed * s.t).sin_cos();
            let root = (l * l - r * r * sin * sin).sqrt();
            // x = r cos φ + √(l² − r² sin² φ), and its derivatives in φ.
            let x = r * cos + root;
            let dx = -r * sin - r * r * sin * cos / root;
            let ddx = -r * cos
                - r * r * (cos * cos - sin * sin) / root
                - r.powi(4) * sin * sin * cos * cos / root.powi(3);
            assert!((s.q[2] - x).abs() < 1e-12, "{s:?}");
            assert!((s.v[2] - speed * dx).abs() < 1e-10);
            assert!((s.a[2] - speed * speed * ddx).abs() < 1e-8);
            // Power: torque Ω = m ẍ ẋ, since the guide carries the weight.
            let torque = 2.5 * speed * speed * ddx * dx;
            assert!((s.drive_forces[0] - torque).abs() < 1e-8, "{} {torque}", s.drive_forces[0]);
        }
        Ok(())
    }

    #[test]
    fn free_coordinates_are_reported() {
        let (mut m, _) = slider_crank();
        let rod = m.link_named("rod").expect("the rod exists");
        m.set_mass(rod, Some(MassProperties::point(1.0, [0.2, 0.0, 0.0])));
        let system = m.build([0.0, 0.0, -G]).expect("sound");
        let error = system.follow(&[0.0], &mut system.scratch()).expect_err("the rod is free");
        let free = system.names(&system.start().partition.independent);
        assert!(error.to_string().contains(&format!("{free} are free")), "{error}");
    }
}

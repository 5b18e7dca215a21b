//! The initial state of a mechanism: from rough values to closed loops, a partition and consistent
//! velocities.

use super::MechanismError;
use super::system::{CLOSED, Multibody, MultibodyScratch, MultibodyState};
use crate::math::dense::{cholesky, cholesky_solve};

impl Multibody {
    /// Assembly from a rough guess: closes the loops by moving joints that are not `held` if
    /// possible, otherwise all joints; chooses the partition; finds consistent velocities, keeping
    /// the given ones.
    pub(super) fn assemble(
        &mut self,
        mut q: Vec<f64>,
        held: &[bool],
        velocities: &[Option<f64>],
    ) -> Result<(), MechanismError> {
        let mut w = self.scratch();
        self.drive(0.0, &mut q);
        let guess = q.clone();
        let mut open = self.relax(&mut q, |c| !held[c], &mut w);
        if open > 1e-9 * self.size {
            q.copy_from_slice(&guess);
            open = self.relax(&mut q, |_| true, &mut w);
        }
        if open.is_nan() || open > 1e-9 * self.size {
            return Err(MechanismError::CannotClose {
                mechanism: self.name.clone(),
                name: self.worst_loop(&w),
                residual: open,
            });
        }

        // The partition for the run: the user's, or chosen by the pivots.
        let n = self.n_v();
        self.check_regular(&q, &mut w)?;
        let mut partition = match &self.named {
            None => self.choose_partition(&mut w, &vec![0; n]),
            Some(named) => {
                let mut preference = vec![255; n];
                named.iter().for_each(|c| preference[*c as usize] = 0);
                let all = self.choose_partition(&mut w, &vec![0; n]);
                let chosen = self.choose_partition(&mut w, &preference);
                if chosen.dependent.len() != named.len() || all.dependent.len() != named.len() {
                    return Err(MechanismError::BadPartition {
                        mechanism: self.name.clone(),
                        named: named.len(),
                        rank: all.dependent.len(),
                        determined: chosen.dependent.len(),
                        suggestion: self.names(&all.dependent),
                    });
                }
                chosen
            }
        };
        partition.conditioning = self.conditioning_of(&partition, &mut w);
        let motion = |error| MechanismError::Start { error: Box::new(error) };
        self.close(&partition, 0.0, &mut q, &mut w).map_err(motion)?;

        // Velocities: those not given follow from the loops where needed.
        let preference: Vec<u8> = velocities.iter().map(|v| u8::from(v.is_some())).collect();
        let by_velocity = self.choose_partition(&mut w, &preference);
        let mut v: Vec<f64> = velocities.iter().map(|v| v.unwrap_or(0.0)).collect();
        self.linearize(&by_velocity, 0.0, &mut w).map_err(motion)?;
        self.expand(&by_velocity, 0.0, &mut v, &mut w);
        let scale = v.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        for (c, given) in velocities.iter().enumerate() {
            if let Some(given) = given
                && (v[c] - given).abs() > 1e-6 * scale.max(given.abs())
            {
                return Err(MechanismError::VelocityConflict {
                    mechanism: self.name.clone(),
                    coordinate: self.coordinate_names[c].clone(),
                    given: *given,
                    needed: v[c],
                    unit: if self.angles[c] { "rad/s" } else { "m/s" },
                });
            }
        }
        self.linearize(&partition, 0.0, &mut w).map_err(motion)?;
        self.expand(&partition, 0.0, &mut v, &mut w);
        let control = self.forces.begin(0.0, &q, &v);
        self.dynamics((&q, &v), &control, &partition, 0.0, None, &mut w).map_err(motion)?;
        self.assembly = partition.clone();
        self.start = MultibodyState { q, v, control, partition };
        Ok(())
    }

    /// Fails if the loops have fewer independent equations than at a nearby position: a singular
    /// position, from which the mechanism could continue in more than one way.
    fn check_regular(&self, q: &[f64], w: &mut MultibodyScratch) -> Result<(), MechanismError> {
        let n = self.n_v();
        let here = self.choose_partition(w, &vec![0; n]);
        if here.redundant.is_empty() || here.independent.is_empty() {
            return Ok(());
        }
        let motion = |error| MechanismError::Start { error: Box::new(error) };
        self.linearize(&here, 0.0, w).map_err(motion)?;
        let mut v = vec![0.0; n];
        for (k, &c) in here.independent.iter().enumerate() {
            let unit = if self.angles[c as usize] { 1.0 } else { self.size };
            // All different, so that no symmetry hides the other branches.
            v[c as usize] = unit * (1.0 + 0.37 * k as f64) * if k % 2 == 0 { 1.0 } else { -1.0 };
        }
        self.expand_dependent(&here, &mut v, w);
        let mut near = q.to_vec();
        self.tree.integrate(q, &v, 1e-3, &mut near);
        let open = self.relax(&mut near, |_| true, w);
        let there = self.choose_partition(w, &vec![0; n]);
        let singular = open <= 1e-9 * self.size && there.rows.len() > here.rows.len();
        if singular {
            w.conditioning = 0.0;
            return Err(motion(self.singular(&there, 0.0, w)));
        }
        self.tree.kinematics(q, &mut w.tree);
        w.conditioning = 1.0;
        Ok(())
    }

    /// Closes the loops by damped least squares, which also works with redundant equations and far
    /// from the solution. Moves the columns that `may_move`; returns the largest remaining residual
    /// [m, –].
    fn relax(
        &self,
        q: &mut [f64],
        may_move: impl Fn(usize) -> bool,
        w: &mut MultibodyScratch,
    ) -> f64 {
        let (n, m) = (self.n_v(), self.n_rows);
        let mut residual = self.loop_residual(q, w);
        if m == 0 {
            return 0.0;
        }
        let square = |w: &MultibodyScratch| w.residual.iter().map(|x| x * x).sum::<f64>();
        let mut cost = square(w);
        let mut free: Vec<bool> = (0..n).map(may_move).collect();
        for (c, ..) in &self.driven {
            free[*c as usize] = false;
        }
        let mut damping = 1e-3;
        let mut gram = vec![0.0; m * m];
        let mut rhs = vec![0.0; m];
        for _ in 0..500 {
            if residual <= CLOSED {
                break;
            }
            // (J Jᵀ + μ) λ = −h, δ = Jᵀ λ.
            self.fill_jacobian(w);
            let j = &w.jacobian;
            for a in 0..m {
                for b in 0..m {
                    gram[a * m + b] =
                        (0..n).filter(|&c| free[c]).map(|c| j[a * n + c] * j[b * n + c]).sum();
                }
            }
            let scale = (0..m).fold(1e-300_f64, |s, a| s.max(gram[a * m + a]));
            for a in 0..m {
                gram[a * m + a] += (damping * cost.min(1.0) + 1e-14) * scale;
                rhs[a] = -w.residual[a];
            }
            if cholesky(&mut gram, m).is_err() {
                damping = (damping * 10.0).max(1e-6);
                if damping > 1e12 {
                    break;
                }
                continue;
            }
            cholesky_solve(&gram, m, &mut rhs);
            for c in 0..n {
                let j = &w.jacobian;
                w.step[c] = if free[c] { (0..m).map(|a| j[a * n + c] * rhs[a]).sum() } else { 0.0 };
            }
            let largest = (0..n).fold(0.0_f64, |s, c| {
                s.max(w.step[c].abs() / if self.angles[c] { 1.0 } else { self.size })
            });
            let share = if largest > 0.5 { 0.5 / largest } else { 1.0 };
            self.tree.integrate(q, &w.step, share, &mut w.trial);
            self.tree.kinematics(&w.trial, &mut w.tree);
            let now = self.residual(w);
            let now_cost = square(w);
            if now_cost < cost {
                q.copy_from_slice(&w.trial);
                (residual, cost) = (now, now_cost);
                damping *= 0.2;
            } else {
                damping = (damping * 10.0).max(1e-12);
                residual = self.loop_residual(q, w);
                if damping > 1e12 || largest < 1e-15 {
                    break;
                }
            }
        }
        residual
    }
}

#[cfg(test)]
mod tests {
    use crate::math::{Pose, Quat, Vec3};
    use crate::multibody::fixtures::*;
    use crate::multibody::{
        Axis, Coordinate, Cut, GROUND, Joint, JointMotion, Marker, Mechanism, Multibody,
    };
    use crate::shape::MassProperties;

    /// A crank of 0.3 m, a rod of 0.8 m and a piston along x, in the x–z plane.
    fn slider_crank() -> (Mechanism, [Coordinate; 3]) {
        let mut m = Mechanism::new("engine");
        let rod = |length| Some(MassProperties::rod([length, 0.0, 0.0], 2.0));
        let hinge = Joint::Revolute(-Axis::Y);
        let crank = m.add("crank", GROUND, hinge, Pose::IDENTITY, rod(0.3));
        let rod = m.add("rod", crank, hinge, Pose::at([0.3, 0.0, 0.0]), rod(0.8));
        let mass = Some(MassProperties::point(1.0, [0.0; 3]));
        let piston = m.add("piston", GROUND, Joint::Prismatic(Axis::X), Pose::IDENTITY, mass);
        let (a, b) = (Marker::at(rod, [0.8, 0.0, 0.0]), Marker::at(piston, [0.0; 3]));
        m.close_loop("pin", Cut::Pin, a.along(Axis::Y), b.along(Axis::Y));
        let coordinates = [crank, rod, piston].map(|link| m.coordinate(link, 0));
        m.guess(coordinates[2], 1.0);
        (m, coordinates)
    }

    /// Position of the piston for an angle of the crank.
    fn piston(angle: f64) -> f64 {
        0.3 * angle.cos() + (0.64 - (0.3 * angle.sin()).powi(2)).sqrt()
    }

    #[test]
    fn a_given_start_is_kept_and_the_others_follow() {
        for angle in [0.4, -1.2, 2.0] {
            let (mut m, [crank, rod, slide]) = slider_crank();
            m.start(crank, angle);
            m.guess(rod, -angle);
            let system = m.build([0.0; 3]).unwrap();
            let q = &system.start().q;
            assert_eq!(q[0], angle, "not changed at all");
            assert!((q[2] - piston(angle)).abs() < 1e-12, "{} {}", q[2], piston(angle));
            assert!(system.loop_residual(q, &mut system.scratch()) < 1e-12);
            assert_eq!((rod.0, slide.0), (1, 2));
        }
    }

    #[test]
    fn start_values_that_contradict_the_loops_are_all_adjusted() {
        let (mut m, [crank, rod, slide]) = slider_crank();
        m.start(crank, 0.5);
        m.start(rod, -0.7);
        m.start(slide, 1.0);
        let system = m.build([0.0; 3]).unwrap();
        let q = &system.start().q;
        assert!((q[2] - piston(q[0])).abs() < 1e-11, "the loop is closed: {q:?}");
        // Least squares moves all of them, each by no more than the contradiction requires.
        assert!((q[0] - 0.5).abs() < 0.2 && (q[2] - 1.0).abs() < 0.2, "{q:?}");
    }

    #[test]
    fn a_given_velocity_of_any_coordinate_determines_the_others() {
        // The piston's velocity per unit of the crank's, by finite differences.
        let (angle, h) = (0.9, 1e-6);
        let ratio = (piston(angle + h) - piston(angle - h)) / (2.0 * h);
        for (given, value) in [(0, 4.0), (2, 4.0 * ratio)] {
            let (mut m, coordinates) = slider_crank();
            m.start(coordinates[0], angle);
            m.guess(coordinates[1], -1.2);
            m.start_velocity(coordinates[given], value);
            let system = m.build([0.0; 3]).unwrap();
            let v = &system.start().v;
            assert!((v[0] - 4.0).abs() < 1e-8 && (v[2] - 4.0 * ratio).abs() < 1e-8, "{v:?}");
        }
    }

    #[test]
    fn prescribed_joints_start_where_their_motion_starts() {
        let (mut m, [crank, rod, _]) = slider_crank();
        m.start(crank, 0.1);
        m.guess(rod, -0.8);
        m.drive(crank, JointMotion::constant_speed(0.6, 3.0));
        let system = m.build([0.0; 3]).unwrap();
        let start = system.start();
        assert_eq!((start.q[0], start.v[0]), (0.6, 3.0));
        assert!((start.q[2] - piston(0.6)).abs() < 1e-12);
    }

    #[test]
    fn redundant_equations_are_counted_and_harmless() {
        // A planar loop closed by a spatial hinge: three of its five equations hold already.
        let (mut m, [crank, rod, slide]) = slider_crank();
        m.loops[0].cut = Cut::Hinge;
        m.start(crank, 0.4);
        m.guess(rod, -0.5);
        m.guess(slide, 1.0);
        let system = m.build([0.0; 3]).unwrap();
        let partition = &system.start().partition;
        assert_eq!((partition.rows.len(), partition.redundant.len()), (2, 3));
        assert_eq!(system.degrees_of_freedom(partition), 1);
    }

    #[test]
    fn a_loop_in_space_closes_from_far_away() {
        // Two arms on ball joints whose ends are to be held together, initially apart and rotated.
        let mut m = Mechanism::new("arms");
        let arm = || Some(MassProperties::principal(1.0, [0.5, 0.0, 0.0], [0.05, 0.1, 0.1]));
        let a = m.add("a", GROUND, Joint::Spherical, Pose::IDENTITY, arm());
        let b = m.add("b", GROUND, Joint::Spherical, Pose::at([1.2, 0.0, 0.0]), arm());
        let hand = |link| Marker::at(link, [1.0, 0.0, 0.0]);
        m.close_loop("hands", Cut::Ball, hand(a), hand(b));
        let mut rng = seeded(31);
        for _ in 0..30 {
            let mut m = m.clone();
            m.start_rotation(a, Quat::from_scaled_axis(vector(&mut rng, 2.0)));
            m.start_rotation(b, Quat::from_scaled_axis(vector(&mut rng, 2.0)));
            let system: Multibody = m.build([0.0; 3]).unwrap();
            let mut w = system.scratch();
            system.tree.kinematics(&system.start().q, &mut w.tree);
            system.tree.motion(&system.start().v, &mut w.tree);
            let [p, q] = [a, b].map(|link| system.point(&w, link, Vec3::x()).0);
            assert!((p - q).norm() < 1e-11, "{p} {q}");
            assert_eq!(system.degrees_of_freedom(&system.start().partition), 3);
        }
    }
}

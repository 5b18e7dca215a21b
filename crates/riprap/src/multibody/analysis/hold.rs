//! A mechanism with some of its joints held, for analyses: for example a motor that never rests, or
//! a drive that must not yield.

use crate::multibody::mechanism::Coordinate;
use crate::multibody::{JointMotion, MechanismError, Multibody, Part};

impl Multibody {
    /// The same mechanism with coordinates held at their initial positions, at rest. Prescribed
    /// coordinates are held there as well.
    /// The user's choice of dependent joints is used at the start; far from it an analysis chooses again.
    pub fn holding(&self, coordinates: &[Coordinate]) -> Result<Multibody, MechanismError> {
        let mut system = self.clone();
        system.named = None;
        if coordinates.is_empty() {
            return Ok(system);
        }
        for &coordinate in coordinates {
            let Some(at) = self.q_of(coordinate) else {
                return Err(MechanismError::Description {
                    mechanism: self.name.clone(),
                    item: Part::Coordinate(self.coordinate_name(coordinate).to_owned()),
                    problem: "a spherical joint has no single angle to hold".into(),
                });
            };
            system.driven.retain(|(c, ..)| *c != coordinate.0);
            let still = JointMotion::constant_speed(self.start.q[at], 0.0);
            system.driven.push((coordinate.0, at as u32, still));
        }
        system.driven.sort_by_key(|(c, ..)| *c);

        // The user's partition if it can be kept, otherwise chosen by the pivots.
        let n = self.n_v();
        let mut w = system.scratch();
        system.tree.kinematics(&self.start.q, &mut w.tree);
        let mut partition = system.choose_partition(&mut w, &vec![0; n]);
        if let Some(named) = &self.named {
            let mut preference = vec![255; n];
            named.iter().for_each(|c| preference[*c as usize] = 0);
            let wanted = system.choose_partition(&mut w, &preference);
            if wanted.dependent.len() == partition.dependent.len() {
                partition = wanted;
            }
        }
        partition.conditioning = system.conditioning_of(&partition, &mut w);
        let start = |error| MechanismError::Start { error: Box::new(error) };
        system.linearize(&partition, 0.0, &mut w).map_err(start)?;
        let mut v = self.start.v.clone();
        system.expand(&partition, 0.0, &mut v, &mut w);
        system.start.v = v;
        system.start.partition = partition.clone();
        system.assembly = partition;
        Ok(system)
    }
}

#[cfg(test)]
mod tests {
    use crate::math::Pose;
    use crate::multibody::{Axis, Cut, GROUND, Joint, Marker, Mechanism};
    use crate::shape::MassProperties;

    #[test]
    fn a_held_crank_stops_its_four_bar_and_needs_its_torque() {
        let mut m = Mechanism::new("four-bar");
        let rod = || MassProperties::rod([1.0, 0.0, 0.0], 3.0);
        let hinge = Joint::Revolute(-Axis::Y);
        let crank = m.add("crank", GROUND, hinge, Pose::IDENTITY, Some(rod()));
        let coupler = m.add("coupler", crank, hinge, Pose::at([1.0, 0.0, 0.0]), Some(rod()));
        let rocker = m.add("rocker", GROUND, hinge, Pose::at([1.0, 0.0, 0.0]), Some(rod()));
        let (a, b) = (Marker::at(coupler, [1.0, 0.0, 0.0]), Marker::at(rocker, [1.0, 0.0, 0.0]));
        m.close_loop("window", Cut::Pin, a.along(Axis::Y), b.along(Axis::Y));
        m.start(m.coordinate(crank, 0), 1.0);
        m.guess(m.coordinate(coupler, 0), -1.0);
        m.guess(m.coordinate(rocker, 0), 1.0);
        m.start_velocity(m.coordinate(crank, 0), 2.0);
        for named in [false, true] {
            if named {
                // The crank itself is named dependent, which is impossible while it is held.
                m.dependent(&[m.coordinate(crank, 0), m.coordinate(coupler, 0)]);
            }
            let system = m.build([0.0, 0.0, -10.0]).expect("sound");
            let held = system.holding(&[m.coordinate(crank, 0)]).expect("it can be held");
            assert_eq!(held.degrees_of_freedom(&held.start().partition), 0);
            assert!(held.start().v.iter().all(|v| v.abs() < 1e-15));
            let rest = held.equilibrium(held.start(), 0.0, &mut held.scratch()).expect("held");
            // A parallelogram: the centres of crank and rocker rise by cos/2, that of the coupler
            // by cos.
            let torque = 3.0 * 10.0 * 1.0_f64.cos() * (0.5 + 0.5 + 1.0);
            assert!((rest.drive_forces[0] - torque).abs() < 1e-10, "{:?}", rest.drive_forces);
        }
    }

    #[test]
    fn a_ball_joint_cannot_be_held_by_one_angle() {
        let mut m = Mechanism::new("swing");
        let mass = MassProperties::principal(1.0, [0.0, 0.0, -1.0], [0.1; 3]);
        let arm = m.add("arm", GROUND, Joint::Spherical, Pose::IDENTITY, Some(mass));
        let system = m.build([0.0; 3]).expect("sound");
        let error =
            system.holding(&[m.coordinate(arm, 1)]).expect_err("a ball joint has no single angle");
        assert!(error.to_string().contains("`arm.wy`"), "{error}");
    }
}

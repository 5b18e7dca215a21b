//! Mistakes in the description of a mechanism that can be found without building it.

use super::closure::Cut;
use super::error::{MechanismError, Part};
use super::force::PointSpring;
use super::joint::Joint;
use super::mechanism::{
    Coordinate, CoordinateDescription, GROUND, Link, LinkDescription, Mechanism,
};
use crate::math::Pose;
use crate::shape::MassProperties;

/// Callback with an item of the description and what is wrong with it.
type Wrong<'a> = dyn FnMut(Part, &str) + 'a;

impl Mechanism {
    /// Mistakes that can be found without a tree.
    pub(super) fn check(&self) -> Vec<MechanismError> {
        let mut errors = Vec::new();
        let mut wrong = |item: Part, problem: &str| {
            let (mechanism, problem) = (self.name.clone(), problem.to_owned());
            errors.push(MechanismError::Description { mechanism, item, problem });
        };
        if self.links.is_empty() {
            wrong(Part::Whole, "it has no bodies; add at least one on a joint");
        }
        for (i, link) in self.links.iter().enumerate() {
            self.check_link(i, link, &mut wrong);
        }
        for (i, coordinate) in self.coordinates.iter().enumerate() {
            self.check_coordinate(i, coordinate, &mut wrong);
        }
        self.check_loops(&mut wrong);
        self.check_point_springs(&mut wrong);
        for d in &self.dependent {
            if self.coordinates[d.0 as usize].motion.is_some() {
                let item = Part::Coordinate(self.coordinates[d.0 as usize].name.clone());
                wrong(item, "it is prescribed, so the loops cannot determine it");
            }
        }
        errors
    }

    fn exists(&self, link: Link) -> bool {
        link == GROUND || (link.0 as usize) < self.links.len()
    }

    fn check_link(&self, i: usize, link: &LinkDescription, wrong: &mut Wrong) {
        let mut wrong = |problem: &str| wrong(Part::Body(link.name.clone()), problem);
        if link.parent != GROUND && link.parent.0 as usize >= i {
            wrong("its parent must be added before it");
        }
        if self.links[..i].iter().any(|l| l.name == link.name) {
            wrong("another body has this name");
        }
        if !is_finite(&link.place) {
            wrong("the position of its joint is not finite");
        }
        for (_, axis) in link.joint.elements() {
            let length = axis.0.norm();
            if !(length > 1e-12 && length.is_finite()) {
                wrong(match link.joint {
                    Joint::Planar(..) => "the two axes of its joint are parallel",
                    _ => "the axis of its joint has zero length",
                });
            }
        }
        if let Joint::Universal(a, b) = link.joint
            && a.0.cross(&b.0).norm() <= 1e-9 * a.0.norm() * b.0.norm()
        {
            wrong("the two axes of its universal joint are parallel");
        }
        if let Some(mass) = &link.mass {
            check_mass(mass, &mut wrong);
        }
    }

    fn check_coordinate(&self, i: usize, c: &CoordinateDescription, wrong: &mut Wrong) {
        let mut wrong = |problem: &str| wrong(Part::Coordinate(c.name.clone()), problem);
        if self.coordinates[..i].iter().any(|o| o.name == c.name) {
            wrong("another coordinate has this name");
        }
        let values = [c.start.unwrap_or(0.0), c.guess, c.velocity.unwrap_or(0.0)];
        if !values.iter().all(|x| x.is_finite()) {
            wrong("a start value is not finite");
        }
        let on_sphere = self.q_index(Coordinate(i as u32)).is_none();
        if on_sphere && (c.motion.is_some() || c.stops.is_some() || c.start.is_some()) {
            wrong(
                "a spherical joint has no single angle to start from, to prescribe or to stop; use a \
                 chain of revolute joints, or start_rotation",
            );
        }
        if let Some(s) = &c.spring {
            if on_sphere && s.stiffness != 0.0 {
                wrong(
                    "a spherical joint can have damping, but no spring; use a chain of revolute joints",
                );
            }
            let sane = |x: f64| x >= 0.0 && x.is_finite();
            if !(sane(s.stiffness) && sane(s.damping) && s.rest.is_finite()) {
                wrong("stiffness and damping of its spring must not be negative");
            }
        }
        if let Some(s) = &c.stops
            && !(s.lower < s.upper && s.stiffness > 0.0 && s.damping >= 0.0)
        {
            wrong("its stops need lower < upper, a positive stiffness and a non-negative damping");
        }
        if c.speed_limit.is_some_and(|speed| speed.is_nan() || speed <= 0.0) {
            wrong("the limit of its speed must be positive");
        }
        if c.speed_limit.is_some() && c.motion.is_some() {
            wrong("its motion is prescribed, so its speed cannot be limited");
        }
    }

    fn check_loops(&self, wrong: &mut Wrong) {
        for l in &self.loops {
            let mut wrong = |problem: &str| wrong(Part::Loop(l.name.clone()), problem);
            if !self.exists(l.a.link) || !self.exists(l.b.link) {
                wrong("it refers to a body that does not exist");
            } else if l.a.link == l.b.link {
                wrong("both of its frames are on the same body");
            }
            if !is_finite(&l.a.pose) || !is_finite(&l.b.pose) {
                wrong("one of its frames is not finite");
            }
            if let Cut::Rod { length } = l.cut
                && !(length > 0.0 && length.is_finite())
            {
                wrong("the length of its rod must be positive; for zero length use a ball");
            }
        }
    }

    fn check_point_springs(&self, wrong: &mut Wrong) {
        for (name, spring, a, b) in &self.points {
            let mut wrong = |problem: &str| wrong(Part::Spring(name.clone()), problem);
            let (PointSpring::Line { stiffness, damping, .. }
            | PointSpring::Bushing { stiffness, damping }) = *spring;
            if !(stiffness >= 0.0 && damping >= 0.0 && stiffness.is_finite() && damping.is_finite())
            {
                wrong("stiffness and damping must not be negative");
            }
            if !self.exists(a.link) || !self.exists(b.link) || a.link == b.link {
                wrong("it must connect two different bodies");
            }
        }
    }
}

fn is_finite(pose: &Pose) -> bool {
    pose.position.iter().chain(pose.rotation.coords.iter()).all(|x| x.is_finite())
}

fn check_mass(m: &MassProperties, wrong: &mut dyn FnMut(&str)) {
    let mut numbers = m.centre.iter().chain(m.inertia.iter()).chain([&m.mass]);
    if !numbers.all(|x| x.is_finite()) {
        return wrong("its mass, centre or inertia is not finite");
    }
    if m.mass < 0.0 {
        return wrong(&format!("its mass is {} kg, but must not be negative", m.mass));
    }
    if (m.inertia - m.inertia.transpose()).abs().max() > 1e-9 * m.inertia.abs().max() {
        return wrong("its inertia tensor is not symmetric");
    }
    let moments = m.inertia.symmetric_eigenvalues();
    let largest = moments.abs().max();
    if moments.min() < -1e-9 * largest {
        return wrong("a principal moment of its inertia is negative");
    }
    if 2.0 * moments.max() > moments.sum() + 1e-9 * largest {
        // Planar descriptions often give only one moment: allowed if the others have no effect on
        // the joint.
        let single = moments.iter().filter(|x| **x > 1e-9 * largest).count() == 1;
        if !single {
            wrong("one principal moment of its inertia exceeds the sum of the other two");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Mat3, Quat, Vec3};
    use crate::multibody::{Axis, JointMotion, JointSpring, Marker, Stops};

    fn arm() -> MassProperties {
        MassProperties::principal(2.0, [0.5, 0.0, 0.0], [0.1, 0.2, 0.2])
    }

    /// A valid double pendulum.
    fn sound() -> (Mechanism, Link, Link) {
        let mut m = Mechanism::new("crane");
        let hinge = Joint::Revolute(Axis::Y);
        let jib = m.add("jib", GROUND, hinge, Pose::IDENTITY, Some(arm()));
        let hook = m.add("hook", jib, hinge, Pose::at([1.0, 0.0, 0.0]), Some(arm()));
        (m, jib, hook)
    }

    /// The errors reported for the double pendulum after a change.
    fn told(change: impl FnOnce(&mut Mechanism, Link, Link)) -> String {
        let (mut m, jib, hook) = sound();
        assert!(m.check().is_empty(), "valid before the change");
        change(&mut m, jib, hook);
        match m.build([0.0, 0.0, -9.81]) {
            Ok(_) => "nothing".into(),
            Err(errors) => errors.to_string(),
        }
    }

    #[track_caller]
    fn assert_told(change: impl FnOnce(&mut Mechanism, Link, Link), item: &str, problem: &str) {
        let said = told(change);
        let expected = format!("mechanism `crane`, {item}: ");
        assert!(said.starts_with(&expected) && said.contains(problem), "{said}");
    }

    #[test]
    fn a_mechanism_without_bodies_is_reported() {
        let said = Mechanism::new("void").build([0.0; 3]).unwrap_err().to_string();
        assert_eq!(
            said,
            "mechanism `void`, the mechanism: it has no bodies; add at least one on a joint"
        );
    }

    #[test]
    fn errors_in_bodies_name_the_body() {
        let hinge = Joint::Revolute(Axis::Z);
        let add = |m: &mut Mechanism, name: &str, parent, joint, place| {
            m.add(name, parent, joint, place, Some(arm()));
        };
        let here = Pose::IDENTITY;
        assert_told(
            |m, _, _| add(m, "late", Link(7), hinge, here),
            "body `late`",
            "its parent must be added before it",
        );
        assert_told(
            |m, jib, _| {
                let twin = m.add("jib", jib, Joint::Fixed, here, None);
                assert_ne!(twin, jib);
            },
            "body `jib`",
            "another body has this name",
        );
        assert_told(
            |m, _, _| add(m, "far", GROUND, hinge, Pose::at([f64::INFINITY, 0.0, 0.0])),
            "body `far`",
            "the position of its joint is not finite",
        );
        let none = Axis(Vec3::zeros());
        for joint in
            [Joint::Revolute(none), Joint::Prismatic(none), Joint::Universal(none, Axis::X)]
        {
            assert_told(
                |m, _, _| add(m, "odd", GROUND, joint, here),
                "body `odd`",
                "the axis of its joint has zero length",
            );
        }
        assert_told(
            |m, _, _| add(m, "odd", GROUND, Joint::Planar(Axis::X, Axis::X), here),
            "body `odd`",
            "the two axes of its joint are parallel",
        );
        assert_told(
            |m, _, _| add(m, "odd", GROUND, Joint::Universal(Axis::X, -Axis::X), here),
            "body `odd`",
            "the two axes of its universal joint are parallel",
        );
    }

    #[test]
    fn impossible_masses_are_reported() {
        let of = |change: &dyn Fn(&mut MassProperties)| {
            let mut mass = arm();
            change(&mut mass);
            told(|m, _, hook| m.set_mass(hook, Some(mass)))
        };
        let said = of(&|m| m.centre.x = f64::NAN);
        assert!(said.ends_with("body `hook`: its mass, centre or inertia is not finite"), "{said}");
        let said = of(&|m| m.mass = -2.0);
        assert!(said.ends_with("its mass is -2 kg, but must not be negative"), "{said}");
        let said = of(&|m| m.inertia[(0, 1)] = 0.1);
        assert!(said.ends_with("its inertia tensor is not symmetric"), "{said}");
        let said = of(&|m| m.inertia[(0, 0)] = -0.1);
        assert!(said.ends_with("a principal moment of its inertia is negative"), "{said}");
        let said = of(&|m| m.inertia[(0, 0)] = 0.5);
        assert!(said.contains("exceeds the sum of the other two"), "{said}");
        // A planar description gives only one moment.
        let flat = Mat3::from_diagonal(&Vec3::new(0.0, 0.3, 0.0));
        assert_eq!(of(&|m| m.inertia = flat), "nothing");
    }

    #[test]
    fn errors_in_coordinates_name_the_coordinate() {
        let spring = |stiffness, damping| JointSpring { stiffness, rest: 0.0, damping };
        let stops = |lower, upper, stiffness| Stops { lower, upper, stiffness, damping: 0.0 };
        type Change = Box<dyn FnOnce(&mut Mechanism, Coordinate)>;
        let cases: Vec<(Change, &str)> = vec![
            (Box::new(|m, c| m.start(c, f64::NAN)), "a start value is not finite"),
            (Box::new(|m, c| m.start_velocity(c, f64::INFINITY)), "a start value is not finite"),
            (Box::new(move |m, c| m.spring(c, spring(-1.0, 0.0))), "must not be negative"),
            (Box::new(move |m, c| m.spring(c, spring(1.0, f64::NAN))), "must not be negative"),
            (Box::new(move |m, c| m.stops(c, stops(1.0, -1.0, 10.0))), "need lower < upper"),
            (Box::new(move |m, c| m.stops(c, stops(-1.0, 1.0, 0.0))), "a positive stiffness"),
            (
                Box::new(|m, c| {
                    m.drive(c, JointMotion::constant_speed(0.0, 1.0));
                    m.dependent(&[c]);
                }),
                "it is prescribed, so the loops cannot determine it",
            ),
        ];
        for (change, problem) in cases {
            assert_told(
                |m, _, hook| {
                    let c = m.coordinate(hook, 0);
                    change(m, c);
                },
                "coordinate `hook`",
                problem,
            );
        }
    }

    #[test]
    fn a_spherical_joint_has_no_angle_to_start_from_to_hold_or_to_load() {
        let ball = |change: &dyn Fn(&mut Mechanism, Coordinate)| {
            told(|m, _, hook| {
                let ball = m.add("ball", hook, Joint::Spherical, Pose::IDENTITY, Some(arm()));
                m.start_rotation(ball, Quat::from_scaled_axis(Vec3::new(0.1, 0.0, 0.0)));
                change(m, m.coordinate(ball, 1));
            })
        };
        let spring = |stiffness| JointSpring { stiffness, rest: 0.0, damping: 0.3 };
        assert_eq!(ball(&|m, c| m.spring(c, spring(0.0))), "nothing", "damping is allowed");
        for said in [
            ball(&|m, c| m.start(c, 0.1)),
            ball(&|m, c| m.drive(c, JointMotion::constant_speed(0.0, 1.0))),
        ] {
            assert!(
                said.contains("coordinate `ball.wy`: a spherical joint has no single"),
                "{said}"
            );
        }
        let said = ball(&|m, c| m.spring(c, spring(5.0)));
        assert!(said.contains("can have damping, but no spring"), "{said}");
    }

    #[test]
    fn errors_in_loops_and_springs_name_them() {
        let frame = |link| Marker::at(link, [0.1, 0.0, 0.0]);
        let nan = Marker { link: GROUND, pose: Pose::at([f64::NAN; 3]) };
        type Change = Box<dyn FnOnce(&mut Mechanism, Link)>;
        let rod = Cut::Rod { length: -1.0 };
        let line = |stiffness, damping| PointSpring::Line { stiffness, damping, length: 1.0 };
        let loops: Vec<(Change, &str)> = vec![
            (
                Box::new(move |m, hook| m.close_loop("x", Cut::Ball, frame(hook), frame(Link(9)))),
                "loop `x`: it refers to a body that does not exist",
            ),
            (
                Box::new(move |m, hook| m.close_loop("x", Cut::Ball, frame(hook), frame(hook))),
                "loop `x`: both of its frames are on the same body",
            ),
            (
                Box::new(move |m, hook| m.close_loop("x", Cut::Ball, frame(hook), nan)),
                "loop `x`: one of its frames is not finite",
            ),
            (
                Box::new(move |m, hook| m.close_loop("x", rod, frame(hook), frame(GROUND))),
                "loop `x`: the length of its rod must be positive",
            ),
            (
                Box::new(move |m, hook| {
                    m.point_spring("y", line(-1.0, 0.0), frame(hook), frame(GROUND));
                }),
                "spring `y`: stiffness and damping must not be negative",
            ),
            (
                Box::new(move |m, hook| {
                    m.point_spring("y", line(1.0, 0.0), frame(hook), frame(hook));
                }),
                "spring `y`: it must connect two different bodies",
            ),
        ];
        for (change, problem) in loops {
            let said = told(|m, _, hook| change(m, hook));
            assert!(said.contains(problem), "{said}");
        }
    }

    #[test]
    fn all_mistakes_are_reported_together_one_per_line() {
        let said = told(|m, jib, hook| {
            m.start(m.coordinate(jib, 0), f64::NAN);
            m.set_mass(hook, Some(MassProperties::point(-1.0, [0.0; 3])));
        });
        assert_eq!(said.lines().count(), 2, "{said}");
    }
}

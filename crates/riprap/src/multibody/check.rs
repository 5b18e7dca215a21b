//! Mistakes in the description of a mechanism that show without building it.

use super::closure::Cut;
use super::error::MechanismError;
use super::force::PointSpring;
use super::joint::Joint;
use super::mechanism::{
    Coordinate, CoordinateDescription, GROUND, Link, LinkDescription, Mechanism,
};
use crate::math::Pose;
use crate::shape::MassProperties;

/// Takes an item of the description and what is wrong with it.
type Wrong<'a> = dyn FnMut(String, &str) + 'a;

impl Mechanism {
    /// Mistakes that need no tree.
    pub(super) fn check(&self) -> Vec<MechanismError> {
        let mut errors = Vec::new();
        let mut wrong = |item: String, problem: &str| {
            let (mechanism, problem) = (self.name.clone(), problem.to_owned());
            errors.push(MechanismError::Description { mechanism, item, problem });
        };
        if self.links.is_empty() {
            wrong("the mechanism".into(), "it has no bodies; add at least one on a joint");
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
                let item = format!("coordinate `{}`", self.coordinates[d.0 as usize].name);
                wrong(item, "it is prescribed, so the loops cannot determine it");
            }
        }
        errors
    }

    fn exists(&self, link: Link) -> bool {
        link == GROUND || (link.0 as usize) < self.links.len()
    }

    fn check_link(&self, i: usize, link: &LinkDescription, wrong: &mut Wrong) {
        let mut wrong = |problem: &str| wrong(format!("body `{}`", link.name), problem);
        if link.parent != GROUND && link.parent.0 as usize >= i {
            wrong("its parent must be added before it");
        }
        if self.links[..i].iter().any(|l| l.name == link.name) {
            wrong("another body has this name");
        }
        if !is_finite(&link.place) {
            wrong("the place of its joint is not finite");
        }
        for (_, axis) in link.joint.elements() {
            let length = axis.0.norm();
            if !(length > 1e-12 && length.is_finite()) {
                wrong(match link.joint {
                    Joint::Planar(..) => "the two axes of its joint are parallel",
                    _ => "the axis of its joint has no length",
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
        let mut wrong = |problem: &str| wrong(format!("coordinate `{}`", c.name), problem);
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
                    "a spherical joint takes damping, but no spring; use a chain of revolute joints",
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
            wrong("its stops need lower < upper, a positive stiffness and a damping not below 0");
        }
    }

    fn check_loops(&self, wrong: &mut Wrong) {
        for l in &self.loops {
            let mut wrong = |problem: &str| wrong(format!("loop `{}`", l.name), problem);
            if !self.exists(l.a.link) || !self.exists(l.b.link) {
                wrong("it names a body that does not exist");
            } else if l.a.link == l.b.link {
                wrong("both of its frames are on the same body");
            }
            if !is_finite(&l.a.pose) || !is_finite(&l.b.pose) {
                wrong("one of its frames is not finite");
            }
            if let Cut::Rod { length } = l.cut
                && !(length > 0.0 && length.is_finite())
            {
                wrong("the length of its rod must be positive; a rod of no length is a ball");
            }
        }
    }

    fn check_point_springs(&self, wrong: &mut Wrong) {
        for (name, spring, a, b) in &self.points {
            let mut wrong = |problem: &str| wrong(format!("spring `{name}`"), problem);
            let (PointSpring::Line { stiffness, damping, .. }
            | PointSpring::Bushing { stiffness, damping }) = *spring;
            if !(stiffness >= 0.0 && damping >= 0.0 && stiffness.is_finite() && damping.is_finite())
            {
                wrong("stiffness and damping must not be negative");
            }
            if !self.exists(a.link) || !self.exists(b.link) || a.link == b.link {
                wrong("it must join two different bodies");
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
        // Planar descriptions often give one moment only: allowed where the joint cannot see the others.
        let single = moments.iter().filter(|x| **x > 1e-9 * largest).count() == 1;
        if !single {
            wrong("one principal moment of its inertia exceeds the sum of the other two");
        }
    }
}

//! Mistakes in the description of a mechanism that show without building it.

use super::closure::Cut;
use super::error::{MechanismError, Part};
use super::force::PointSpring;
use super::mechanism::{Coordinate, GROUND, Joint, Link, Mechanism};
use crate::math::Pose;

impl Mechanism {
    /// Mistakes that need no tree.
    pub(super) fn check(&self) -> Vec<MechanismError> {
        let mut errors = Vec::new();
        let mechanism = || self.name.clone();
        let mut wrong = |item: Part, problem: String| {
            errors.push(MechanismError::Description { mechanism: mechanism(), item, problem });
        };
        if self.links.is_empty() {
            wrong(Part::Whole, "it has no bodies; add at least one on a joint".into());
        }
        let finite =
            |p: &Pose| p.position.iter().chain(p.rotation.coords.iter()).all(|x| x.is_finite());
        let exists = |l: Link| l == GROUND || (l.0 as usize) < self.links.len();
        for (i, link) in self.links.iter().enumerate() {
            let item = || Part::Body(link.name.clone());
            if link.parent != GROUND && link.parent.0 as usize >= i {
                wrong(item(), "its parent must be added before it".into());
            }
            if self.links[..i].iter().any(|l| l.name == link.name) {
                wrong(item(), "another body has this name".into());
            }
            if !finite(&link.place) {
                wrong(item(), "the place of its joint is not finite".into());
            }
            for (_, axis) in link.joint.elements() {
                let length = axis.0.norm();
                if !(length > 1e-12 && length.is_finite()) {
                    let problem = match link.joint {
                        Joint::Planar(..) => "the two axes of its joint are parallel",
                        _ => "the axis of its joint has no length",
                    };
                    wrong(item(), problem.into());
                }
            }
            if let Joint::Universal(a, b) = link.joint
                && a.0.cross(&b.0).norm() <= 1e-9 * a.0.norm() * b.0.norm()
            {
                wrong(item(), "the two axes of its universal joint are parallel".into());
            }
            if let Some(m) = &link.mass {
                let numbers = m.centre.iter().chain(m.inertia.iter()).chain([&m.mass]);
                if !numbers.clone().all(|x| x.is_finite()) {
                    wrong(item(), "its mass, centre or inertia is not finite".into());
                } else if m.mass < 0.0 {
                    wrong(item(), format!("its mass is {} kg, but must not be negative", m.mass));
                } else if (m.inertia - m.inertia.transpose()).abs().max()
                    > 1e-9 * m.inertia.abs().max()
                {
                    wrong(item(), "its inertia tensor is not symmetric".into());
                } else {
                    let moments = m.inertia.symmetric_eigenvalues();
                    let largest = moments.abs().max();
                    if moments.min() < -1e-9 * largest {
                        wrong(item(), "a principal moment of its inertia is negative".into());
                    } else if 2.0 * moments.max() > moments.sum() + 1e-9 * largest {
                        // Planar descriptions often give one moment only: allowed where the joint cannot see the others.
                        let single = moments.iter().filter(|x| **x > 1e-9 * largest).count() == 1;
                        if !single {
                            let problem = "one principal moment of its inertia exceeds the sum of the other two";
                            wrong(item(), problem.into());
                        }
                    }
                }
            }
        }
        for (i, c) in self.coordinates.iter().enumerate() {
            let item = || Part::Coordinate(c.name.clone());
            if self.coordinates[..i].iter().any(|o| o.name == c.name) {
                wrong(item(), "another coordinate has this name".into());
            }
            let values = [c.start.unwrap_or(0.0), c.guess, c.velocity.unwrap_or(0.0)];
            if !values.iter().all(|x| x.is_finite()) {
                wrong(item(), "a start value is not finite".into());
            }
            let on_sphere = self.q_index(Coordinate(i as u32)).is_none();
            if on_sphere && (c.motion.is_some() || c.stops.is_some() || c.start.is_some()) {
                let problem = "a spherical joint has no single angle to start from, to prescribe or to stop; use a \
                               chain of revolute joints, or start_rotation";
                wrong(item(), problem.into());
            }
            if let Some(s) = &c.spring {
                if on_sphere && s.stiffness != 0.0 {
                    wrong(item(), "a spherical joint takes damping, but no spring; use a chain of revolute joints".into());
                }
                let sane = |x: f64| x >= 0.0 && x.is_finite();
                if !(sane(s.stiffness) && sane(s.damping) && s.rest.is_finite()) {
                    wrong(
                        item(),
                        "stiffness and damping of its spring must not be negative".into(),
                    );
                }
            }
            if let Some(s) = &c.stops
                && !(s.lower < s.upper && s.stiffness > 0.0 && s.damping >= 0.0)
            {
                wrong(
                    item(),
                    "its stops need lower < upper, a positive stiffness and a damping not below 0"
                        .into(),
                );
            }
        }
        for l in &self.loops {
            let item = || Part::Loop(l.name.clone());
            if !exists(l.a.link) || !exists(l.b.link) {
                wrong(item(), "it names a body that does not exist".into());
            } else if l.a.link == l.b.link {
                wrong(item(), "both of its frames are on the same body".into());
            }
            if !finite(&l.a.pose) || !finite(&l.b.pose) {
                wrong(item(), "one of its frames is not finite".into());
            }
            if let Cut::Rod { length } = l.cut
                && !(length > 0.0 && length.is_finite())
            {
                wrong(
                    item(),
                    "the length of its rod must be positive; a rod of no length is a ball".into(),
                );
            }
        }
        for (name, spring, a, b) in &self.points {
            let (PointSpring::Line { stiffness, damping, .. }
            | PointSpring::Bushing { stiffness, damping }) = *spring;
            let item = || Part::Spring(name.clone());
            if !(stiffness >= 0.0 && damping >= 0.0 && stiffness.is_finite() && damping.is_finite())
            {
                wrong(item(), "stiffness and damping must not be negative".into());
            }
            if !exists(a.link) || !exists(b.link) || a.link == b.link {
                wrong(item(), "it must join two different bodies".into());
            }
        }
        for d in &self.dependent {
            if self.coordinates[d.0 as usize].motion.is_some() {
                let item = Part::Coordinate(self.coordinates[d.0 as usize].name.clone());
                wrong(item, "it is prescribed, so the loops cannot determine it".into());
            }
        }
        errors
    }
}

//! Conversion of mechanisms of the file to mechanisms of the simulator, and the locations of mistakes that it finds in them.
//!
//! The child of joint `k` of the file is link `k` of the simulator; coordinates keep the names of the joints, and links those
//! of the bodies.

use std::ops::Range;

use riprap::math::{Mat3, Pose, Quat, Vec3};
use riprap::multibody::{
    Axis, Coordinate, Cut, GROUND, Inputs, Joint, JointMotion, JointSpring, Link, Marker,
    Mechanism, MechanismError, MotionError, Part, Phase, PointSpring, Signal, Stops, Until,
};
use riprap::shape::{MassProperties, Shape};

use super::{place, pose, shapes};
use crate::scene_file::{
    self as file, Attachment, Component, Drive, ForceFrame, ForceTarget, Input, JointKind, Law,
    LoopKind, MechanismSource, Problem, SceneFile, SpringKind,
};

/// Number of variables of a law that are collected without allocating.
const FEW: usize = 16;

impl SceneFile {
    /// Builds mechanism `index` of the file; mistakes in its shapes are added to `problems`.
    pub(super) fn mechanism(
        &self,
        index: usize,
        named: &[Option<Shape>],
        problems: &mut Vec<Problem>,
    ) -> Mechanism {
        let described = &self.mechanisms[index];
        let nowhere = MechanismSource::default();
        let source = self.source.mechanisms.get(index).unwrap_or(&nowhere);
        let mut built = Mechanism::new(&described.name);
        built.base = pose(described.position, described.rotation);

        let links = links(described);
        let link = |body: Option<usize>| body.map_or(GROUND, |body| Link(links[body]));
        for joint in &described.joints {
            let place = pose(joint.position, joint.rotation);
            let added = built.add(&joint.name, link(joint.parent), kind(&joint.kind), place, None);
            built.rename(added, &described.bodies[joint.child].name);
        }
        for (index, (body, link)) in described.bodies.iter().zip(&links).enumerate() {
            let link = Link(*link);
            let made = self.link_shapes(body, named).unwrap_or_else(|message| {
                let message =
                    format!("mechanism `{}`, body `{}`: {message}", described.name, body.name);
                problems.push(Problem::new(place(&source.bodies, index), message));
                Vec::new()
            });
            built.set_mass(link, self.link_mass(body, &made));
            for (shape, pose, material) in made {
                built.attach(link, shape, pose, &self.materials[material].name);
            }
        }
        for (k, joint) in described.joints.iter().enumerate() {
            set_joint(&mut built, Link(k as u32), joint);
        }
        for one in &described.loops {
            let (cut, axis) = cut(&one.kind);
            let [a, b] = [&one.a, &one.b].map(|end| frame(end, link(end.body), axis));
            built.close_loop(&one.name, cut, a, b);
        }
        for spring in &described.springs {
            let (stiffness, damping) = (spring.stiffness, spring.damping);
            let law = match spring.kind {
                SpringKind::Line { length } => PointSpring::Line { stiffness, damping, length },
                SpringKind::Bushing => PointSpring::Bushing { stiffness, damping },
            };
            let [a, b] = [&spring.a, &spring.b].map(|end| Marker::at(link(end.body), end.position));
            built.point_spring(&spring.name, law, a, b);
        }
        for force in &described.forces {
            let slots: Vec<usize> = (0..force.n_latched).map(|_| built.latch_slot()).collect();
            let first = slots.first().copied().unwrap_or(0);
            let phases: Vec<Phase> =
                force.phases.iter().map(|phase| phase_of(phase, first, &built)).collect();
            match &force.on {
                ForceTarget::Coordinate(at) => {
                    let at = coordinate(&built, *at);
                    built.actuate_in_phases(&force.name, at, phases);
                }
                ForceTarget::Body { body, point, frame } => {
                    let in_body = *frame == ForceFrame::Body;
                    built.push(&force.name, link(Some(*body)), *point, in_body, phases);
                }
            }
        }
        // After the forces, whose order probes rely on.
        for (k, joint) in described.joints.iter().enumerate() {
            let Some(servo) = &joint.servo else { continue };
            let at = built.coordinate(Link(k as u32), 0);
            let law = signal(&servo.law, 0, &built);
            built.actuate(&joint.name, at, law);
            built.limit_speed(at, servo.speed);
        }
        let dependent: Vec<Coordinate> =
            described.dependent.iter().map(|at| coordinate(&built, *at)).collect();
        built.dependent(&dependent);
        built
    }

    /// The shapes of a body, each with its pose and material.
    fn link_shapes(
        &self,
        body: &file::MechanismBody,
        named: &[Option<Shape>],
    ) -> Result<Vec<(Shape, Pose, usize)>, String> {
        let mut made = Vec::new();
        for part in &body.shapes {
            let shape = match &part.shape {
                // Mistakes in named shapes have already been reported.
                file::ShapeRef::Named(index) => match &named[*index] {
                    Some(shape) => shape.clone(),
                    None => continue,
                },
                file::ShapeRef::Inline(shape) => {
                    shapes::make(self, shape, 1.0).map_err(|error| error.to_string())?
                }
            };
            made.push((shape, pose(part.position, part.rotation), part.material));
        }
        Ok(made)
    }

    /// The mass properties of a body; those that are not given are computed from its shapes.
    fn link_mass(
        &self,
        body: &file::MechanismBody,
        shapes: &[(Shape, Pose, usize)],
    ) -> Option<MassProperties> {
        // If a density is missing, the mass is given, and the shapes are weighted by volume.
        let even =
            shapes.iter().any(|(_, _, material)| self.materials[*material].density.is_none());
        let parts = shapes.iter().map(|(shape, pose, material)| {
            let density = if even { 1.0 } else { self.materials[*material].density.unwrap_or(1.0) };
            let part = shape.mass_properties(density).map(|m| m.moved(pose));
            part.ok_or(riprap::shape::ShapeError::BadCompound)
        });
        let of_shapes = MassProperties::sum(parts).ok();
        let Some(given) = &body.mass else { return of_shapes };
        if given.mass == 0.0 && given.inertia.is_none() {
            return None;
        }
        let scaled = of_shapes.map(|own| own.scaled(given.mass / own.mass));
        let point = MassProperties::point(given.mass, [0.0; 3]);
        let own = scaled.unwrap_or(point);
        Some(MassProperties {
            mass: given.mass,
            centre: given.centre.map_or(own.centre, Vec3::from),
            inertia: given.inertia.map_or(own.inertia, |rows| Mat3::from_fn(|i, j| rows[i][j])),
        })
    }

    /// The location of a mistake that the simulator found in a mechanism.
    pub(super) fn mechanism_place(&self, error: &MechanismError) -> Range<usize> {
        match error {
            MechanismError::Description { mechanism, item, .. } => self.part_place(mechanism, item),
            MechanismError::CannotClose { mechanism, name, .. } => {
                self.part_place(mechanism, &Part::Loop(name.clone()))
            }
            MechanismError::BadPartition { mechanism, .. } => {
                self.part_place(mechanism, &Part::Whole)
            }
            MechanismError::VelocityConflict { mechanism, coordinate, .. } => {
                self.part_place(mechanism, &Part::Coordinate(coordinate.clone()))
            }
            MechanismError::Start { error } => match &**error {
                MotionError::LoopOpen { mechanism, name, .. } => {
                    self.part_place(mechanism, &Part::Loop(name.clone()))
                }
                MotionError::NoInertia { mechanism, coordinate, .. }
                | MotionError::NotFinite { mechanism, coordinate, .. } => {
                    self.part_place(mechanism, &Part::Coordinate(coordinate.clone()))
                }
                MotionError::Singular { mechanism, .. } => self.part_place(mechanism, &Part::Whole),
                MotionError::StepTooSmall { .. } | MotionError::Interrupted { .. } => 0..0,
            },
        }
    }

    /// The location of a part of a mechanism.
    pub(super) fn part_place(&self, mechanism: &str, part: &Part) -> Range<usize> {
        let find = |known: &file::Mechanism| known.name == mechanism;
        let Some(index) = self.mechanisms.iter().position(find) else { return 0..0 };
        let (known, nowhere) = (&self.mechanisms[index], MechanismSource::default());
        let source = self.source.mechanisms.get(index).unwrap_or(&nowhere);
        let found = match part {
            Part::Whole => None,
            Part::Body(name) => known
                .bodies
                .iter()
                .position(|body| body.name == *name)
                .and_then(|index| source.bodies.get(index)),
            Part::Coordinate(name) => known
                .coordinates()
                .find(|at| known.coordinate_name(*at) == *name)
                .and_then(|at| source.joints.get(at.joint)),
            Part::Loop(name) => known
                .loops
                .iter()
                .position(|one| one.name == *name)
                .and_then(|index| source.loops.get(index)),
            Part::Spring(name) => known
                .springs
                .iter()
                .position(|spring| spring.name == *name)
                .and_then(|index| source.springs.get(index)),
        };
        found.unwrap_or(&source.whole).clone()
    }
}

/// The link of each body of a mechanism.
pub(super) fn links(mechanism: &file::Mechanism) -> Vec<u32> {
    let mut links = vec![0; mechanism.bodies.len()];
    for (link, joint) in mechanism.joints.iter().enumerate() {
        links[joint.child] = link as u32;
    }
    links
}

fn coordinate(mechanism: &Mechanism, at: file::Coordinate) -> Coordinate {
    mechanism.coordinate(Link(at.joint as u32), at.component)
}

fn kind(kind: &JointKind) -> Joint {
    match kind {
        JointKind::Revolute { axis } => Joint::Revolute((*axis).into()),
        JointKind::Prismatic { axis } => Joint::Prismatic((*axis).into()),
        JointKind::Cylindrical { axis } => Joint::Cylindrical((*axis).into()),
        JointKind::Universal { axes: [a, b] } => Joint::Universal((*a).into(), (*b).into()),
        JointKind::Planar { axes: [x, y] } => Joint::Planar((*x).into(), (*y).into()),
        JointKind::Spherical => Joint::Spherical,
        JointKind::Free => Joint::Free,
        JointKind::Fixed => Joint::Fixed,
    }
}

/// Initial values, drive, spring and stops of a joint.
fn set_joint(mechanism: &mut Mechanism, link: Link, joint: &file::Joint) {
    let n_named = joint.kind.n_named_positions();
    for (component, value) in joint.start[..n_named].iter().enumerate() {
        let at = mechanism.coordinate(link, component);
        match joint.start_held {
            true => mechanism.start(at, *value),
            false => mechanism.guess(at, *value),
        }
    }
    if let [w, x, y, z] = joint.start[n_named..] {
        mechanism.start_rotation(link, Quat::new_unchecked([x, y, z, w].into()));
    }
    if joint.start_velocity_held {
        for (component, value) in joint.start_velocity.iter().enumerate() {
            mechanism.start_velocity(mechanism.coordinate(link, component), *value);
        }
    }
    let driven = match &joint.drive {
        Drive::None => None,
        Drive::Motion(Component::Constant(value)) => Some(JointMotion::constant_speed(*value, 0.0)),
        Drive::Motion(Component::Expression(law)) => {
            let law = law.clone();
            Some(JointMotion::new(move |t| law.with_rates(&[t])))
        }
        Drive::Speed(speed) => Some(JointMotion::constant_speed(joint.start[0], *speed)),
    };
    if let Some(motion) = driven {
        mechanism.drive(mechanism.coordinate(link, 0), motion);
    }
    if let Some(file::JointSpring { stiffness, rest, damping }) = joint.spring {
        let spring = JointSpring { stiffness, rest, damping };
        mechanism.spring(mechanism.coordinate(link, 0), spring);
    }
    if let Some(stops) = &joint.stops {
        let stops = Stops {
            lower: stops.lower.unwrap_or(f64::NEG_INFINITY),
            upper: stops.upper.unwrap_or(f64::INFINITY),
            stiffness: stops.stiffness,
            damping: stops.damping,
        };
        mechanism.stops(mechanism.coordinate(link, 0), stops);
    }
}

/// The constraint of a loop, and the axis that becomes z of both frames.
fn cut(kind: &LoopKind) -> (Cut, Option<Axis>) {
    match kind {
        LoopKind::Ball => (Cut::Ball, None),
        LoopKind::Hinge { axis } => (Cut::Hinge, Some((*axis).into())),
        LoopKind::Rod { length } => (Cut::Rod { length: *length }, None),
        LoopKind::Prismatic { axis } => (Cut::Prismatic, Some((*axis).into())),
        LoopKind::Pin { axis } => (Cut::Pin, Some((*axis).into())),
        LoopKind::Weld => (Cut::Weld, None),
    }
}

/// A frame on a body, rotated so that its z axis is `axis` of the given frame.
fn frame(end: &Attachment, link: Link, axis: Option<Axis>) -> Marker {
    let given = pose(end.position, end.rotation);
    let Some(axis) = axis else { return Marker { link, pose: given } };
    let turned = Marker::at(link, [0.0; 3]).along(axis);
    Marker { link, pose: given.compose(&turned.pose) }
}

/// A phase; its latched values start at the slot `first` of the mechanism.
fn phase_of(phase: &file::Phase, first: usize, mechanism: &Mechanism) -> Phase {
    let law = |law: &Law| signal(law, first, mechanism);
    Phase {
        latch: phase.latch.iter().map(|one| (first + one.slot, law(&one.value))).collect(),
        values: phase.laws.iter().map(law).collect(),
        until: match &phase.until {
            file::Until::Forever => None,
            file::Until::Time(t) => Some(Until::Time(*t)),
            file::Until::Condition(condition) => Some(Until::Condition(law(condition))),
        },
    }
}

/// The source of a variable of a law.
#[derive(Clone, Copy)]
enum Variable {
    Time,
    Position(usize),
    Velocity(usize),
    Latched(usize),
}

impl Variable {
    fn value(self, inputs: &Inputs) -> f64 {
        match self {
            Variable::Time => inputs.t,
            Variable::Position(at) => inputs.q[at],
            Variable::Velocity(at) => inputs.v[at],
            Variable::Latched(slot) => inputs.latched[slot],
        }
    }
}

fn signal(law: &Law, first: usize, mechanism: &Mechanism) -> Signal {
    if law.expression.is_constant() {
        return Signal::constant(law.expression.evaluate(&[]));
    }
    let variable = |input: &Input| match input {
        Input::Time => Variable::Time,
        // Spatial rotations have no positions; the file was checked for that.
        Input::Position(at) => {
            let place = mechanism.q_index(coordinate(mechanism, *at));
            place.map_or(Variable::Time, Variable::Position)
        }
        Input::Velocity(at) => Variable::Velocity(coordinate(mechanism, *at).0 as usize),
        Input::Latched(slot) => Variable::Latched(first + slot),
    };
    let variables: Vec<Variable> = law.inputs.iter().map(variable).collect();
    let expression = law.expression.clone();
    Signal::new(move |inputs| {
        let mut values = [0.0; FEW];
        if variables.len() > FEW {
            let values: Vec<f64> = variables.iter().map(|one| one.value(inputs)).collect();
            return expression.evaluate(&values);
        }
        for (value, one) in values.iter_mut().zip(&variables) {
            *value = one.value(inputs);
        }
        expression.evaluate(&values[..variables.len()])
    })
}

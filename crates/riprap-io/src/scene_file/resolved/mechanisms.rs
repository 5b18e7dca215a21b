//! Mechanisms written back: chains and URDF files as plain bodies and joints, start values as numbers.

use std::fmt::Write;

use super::super::model::{
    Attachment, Drive, Force, ForceFrame, ForceTarget, Joint, JointKind, Law, LoopKind, Mechanism,
    MechanismBody, Phase, SceneFile, SpringKind, Stops, Until,
};
use super::{component, list, number, text};

impl SceneFile {
    pub(super) fn write_mechanism(
        &self,
        mechanism: &Mechanism,
        out: &mut String,
    ) -> std::fmt::Result {
        writeln!(out, "\n[[mechanism]]\nname = {}", text(&mechanism.name))?;
        writeln!(out, "position = {}", list(&mechanism.position))?;
        writeln!(out, "rotation = {{ quaternion = {} }}", list(&mechanism.rotation))?;
        if !mechanism.dependent.is_empty() {
            let names = mechanism.dependent.iter().map(|at| text(&mechanism.coordinate_name(*at)));
            writeln!(out, "dependent = [{}]", names.collect::<Vec<_>>().join(", "))?;
        }
        for body in &mechanism.bodies {
            self.write_mechanism_body(body, out)?;
        }
        for joint in &mechanism.joints {
            write_joint(mechanism, joint, out)?;
        }
        for one in &mechanism.loops {
            writeln!(out, "\n[[mechanism.loop]]\nname = {}", text(&one.name))?;
            writeln!(out, "a = {}", attachment(mechanism, &one.a, true))?;
            writeln!(out, "b = {}", attachment(mechanism, &one.b, true))?;
            match &one.kind {
                LoopKind::Ball => writeln!(out, "type = \"ball\"")?,
                LoopKind::Hinge { axis } => {
                    writeln!(out, "type = \"hinge\"\naxis = {}", list(axis))?
                }
                LoopKind::Rod { length } => {
                    writeln!(out, "type = \"rod\"\nlength = {}", number(*length))?;
                }
                LoopKind::Prismatic { axis } => {
                    writeln!(out, "type = \"prismatic\"\naxis = {}", list(axis))?;
                }
                LoopKind::Pin { axis } => writeln!(out, "type = \"pin\"\naxis = {}", list(axis))?,
                LoopKind::Weld => writeln!(out, "type = \"weld\"")?,
            }
        }
        for spring in &mechanism.springs {
            writeln!(out, "\n[[mechanism.spring]]\nname = {}", text(&spring.name))?;
            writeln!(out, "a = {}", attachment(mechanism, &spring.a, false))?;
            writeln!(out, "b = {}", attachment(mechanism, &spring.b, false))?;
            match &spring.kind {
                SpringKind::Line { length } => {
                    writeln!(out, "type = \"line\"\nlength = {}", number(*length))?;
                }
                SpringKind::Bushing => writeln!(out, "type = \"bushing\"")?,
            }
            writeln!(out, "stiffness = {}", number(spring.stiffness))?;
            writeln!(out, "damping = {}", number(spring.damping))?;
        }
        for force in &mechanism.forces {
            write_force(mechanism, force, out)?;
        }
        Ok(())
    }

    fn write_mechanism_body(&self, body: &MechanismBody, out: &mut String) -> std::fmt::Result {
        writeln!(out, "\n[[mechanism.body]]\nname = {}", text(&body.name))?;
        if let Some(mass) = &body.mass {
            writeln!(out, "mass = {}", number(mass.mass))?;
            if let Some(centre) = &mass.centre {
                writeln!(out, "centre = {}", list(centre))?;
            }
            if let Some(inertia) = &mass.inertia {
                writeln!(out, "inertia = [{}]", inertia.map(|row| list(&row)).join(", "))?;
            }
        }
        if body.shapes.is_empty() {
            return Ok(());
        }
        writeln!(out, "shapes = [")?;
        for shape in &body.shapes {
            writeln!(
                out,
                "  {{ shape = {}, material = {}, position = {}, rotation = {{ quaternion = {} }} }},",
                self.shape_value(&shape.shape),
                text(&self.materials[shape.material].name),
                list(&shape.position),
                list(&shape.rotation)
            )?;
        }
        writeln!(out, "]")
    }
}

fn write_joint(mechanism: &Mechanism, joint: &Joint, out: &mut String) -> std::fmt::Result {
    writeln!(out, "\n[[mechanism.joint]]\nname = {}", text(&joint.name))?;
    writeln!(out, "parent = {}", text(mechanism.body_name(joint.parent)))?;
    writeln!(out, "child = {}", text(mechanism.body_name(Some(joint.child))))?;
    writeln!(out, "position = {}", list(&joint.position))?;
    writeln!(out, "rotation = {{ quaternion = {} }}", list(&joint.rotation))?;
    let axes = |axes: &[[f64; 3]; 2]| format!("[{}, {}]", list(&axes[0]), list(&axes[1]));
    match &joint.kind {
        JointKind::Revolute { axis } => {
            writeln!(out, "type = \"revolute\"\naxis = {}", list(axis))?
        }
        JointKind::Prismatic { axis } => {
            writeln!(out, "type = \"prismatic\"\naxis = {}", list(axis))?;
        }
        JointKind::Cylindrical { axis } => {
            writeln!(out, "type = \"cylindrical\"\naxis = {}", list(axis))?;
        }
        JointKind::Universal { axes: two } => {
            writeln!(out, "type = \"universal\"\naxes = {}", axes(two))?;
        }
        JointKind::Planar { axes: two } => {
            writeln!(out, "type = \"planar\"\naxes = {}", axes(two))?
        }
        JointKind::Spherical => writeln!(out, "type = \"spherical\"")?,
        JointKind::Free => writeln!(out, "type = \"free\"")?,
        JointKind::Fixed => writeln!(out, "type = \"fixed\"")?,
    }
    write_start(joint, out)?;
    match &joint.drive {
        Drive::None => {}
        Drive::Motion(motion) => writeln!(out, "motion = {}", component(motion))?,
        Drive::Speed(speed) => writeln!(out, "speed = {}", number(*speed))?,
    }
    if let Some(spring) = &joint.spring {
        let [stiffness, rest, damping] =
            [spring.stiffness, spring.rest, spring.damping].map(number);
        writeln!(
            out,
            "spring = {{ stiffness = {stiffness}, rest = {rest}, damping = {damping} }}"
        )?;
    }
    if let Some(stops) = &joint.stops {
        writeln!(out, "stops = {}", stops_value(stops))?;
    }
    Ok(())
}

/// The coordinates at the start, as far as no drive decides about them.
fn write_start(joint: &Joint, out: &mut String) -> std::fmt::Result {
    let word = if joint.start_held { "start" } else { "guess" };
    let values = |values: &[f64]| match values {
        [value] => number(*value),
        _ => list(values),
    };
    match &joint.kind {
        JointKind::Fixed => Ok(()),
        JointKind::Spherical | JointKind::Free => {
            let (position, rotation) = joint.start.split_at(joint.start.len().saturating_sub(4));
            let (velocity, turn) = joint.start_velocity.split_at(position.len());
            if !position.is_empty() {
                writeln!(out, "{word}_position = {}", list(position))?;
            }
            writeln!(out, "{word}_rotation = {{ quaternion = {} }}", list(rotation))?;
            if !joint.start_velocity_held {
                return Ok(());
            }
            if !velocity.is_empty() {
                writeln!(out, "start_velocity = {}", list(velocity))?;
            }
            writeln!(out, "start_angular_velocity = {}", list(turn))
        }
        _ => {
            if !matches!(joint.drive, Drive::Motion(_)) {
                writeln!(out, "{word} = {}", values(&joint.start))?;
            }
            if joint.drive == Drive::None && joint.start_velocity_held {
                writeln!(out, "start_velocity = {}", values(&joint.start_velocity))?;
            }
            Ok(())
        }
    }
}

fn stops_value(stops: &Stops) -> String {
    let mut keys = Vec::new();
    for (key, value) in [
        ("lower", stops.lower),
        ("upper", stops.upper),
        ("stiffness", Some(stops.stiffness)),
        ("damping", Some(stops.damping)),
    ] {
        keys.extend(value.map(|value| format!("{key} = {}", number(value))));
    }
    format!("{{ {} }}", keys.join(", "))
}

fn attachment(mechanism: &Mechanism, end: &Attachment, turned: bool) -> String {
    let body = text(mechanism.body_name(end.body));
    let rotation = match turned {
        true => format!(", rotation = {{ quaternion = {} }}", list(&end.rotation)),
        false => String::new(),
    };
    format!("{{ body = {body}, position = {}{rotation} }}", list(&end.position))
}

fn write_force(mechanism: &Mechanism, force: &Force, out: &mut String) -> std::fmt::Result {
    writeln!(out, "\n[[mechanism.force]]\nname = {}", text(&force.name))?;
    match &force.on {
        ForceTarget::Coordinate(at) => {
            writeln!(out, "coordinate = {}", text(&mechanism.coordinate_name(*at)))?;
        }
        ForceTarget::Body { body, point, frame } => {
            writeln!(out, "body = {}", text(mechanism.body_name(Some(*body))))?;
            writeln!(out, "point = {}", list(point))?;
            let frame = match frame {
                ForceFrame::World => "world",
                ForceFrame::Body => "body",
            };
            writeln!(out, "frame = \"{frame}\"")?;
        }
    }
    writeln!(out, "phases = [")?;
    for phase in &force.phases {
        writeln!(out, "  {{ {} }},", phase_value(phase))?;
    }
    writeln!(out, "]")
}

fn phase_value(phase: &Phase) -> String {
    let source = |law: &Law| text(law.expression.source());
    let three = |laws: &[Law]| {
        let sources: Vec<String> = laws.iter().map(source).collect();
        format!("[{}]", sources.join(", "))
    };
    let mut keys = match &phase.laws[..] {
        [law] => vec![format!("law = {}", source(law))],
        laws => {
            let (force, torque) = laws.split_at(3.min(laws.len()));
            vec![format!("force = {}", three(force)), format!("torque = {}", three(torque))]
        }
    };
    if !phase.latch.is_empty() {
        let values: Vec<String> = phase
            .latch
            .iter()
            .map(|latch| format!("{} = {}", text(&latch.name), source(&latch.value)))
            .collect();
        keys.push(format!("latch = {{ {} }}", values.join(", ")));
    }
    match &phase.until {
        Until::Forever => {}
        Until::Time(time) => keys.push(format!("until = {}", number(*time))),
        Until::Condition(condition) => keys.push(format!("until = {}", source(condition))),
    }
    keys.join(", ")
}

//! Joints of mechanisms: their types, initial states, and the drives, springs and stops along their coordinates.

use std::ops::Range;

use super::super::keys::ReadKeys;
use super::super::model::{
    Component, Drive, Joint, JointKind, JointSpring, Quaternion, Stops, Vector,
};
use super::super::number;
use super::super::units::Dimension;
use super::super::values::{Entries, Item, Node};
use super::Converter;
use super::mechanisms::{JointPart, Parts};
use super::shapes::UPRIGHT;
use crate::unit_vector::unit;

/// The frame of a joint and what is known about its initial coordinates.
struct Start {
    position: Vec<f64>,
    held: bool,
    velocity: Vec<f64>,
    velocity_held: bool,
}

impl Converter<'_> {
    pub(super) fn add_joint(
        &mut self,
        entries: &Entries,
        name: Option<String>,
        parent: Option<Option<usize>>,
        child: Option<usize>,
        child_span: Range<usize>,
        parts: &mut Parts,
    ) {
        let position = entries.numbers("position").unwrap_or_default();
        let rotation = self.rotation(entries).unwrap_or(UPRIGHT);
        let Some(kind) = self.joint_kind(entries) else {
            parts.lost_joints = true;
            return;
        };
        let drive = self.drive(entries, None);
        let start = self.start(entries, &kind, &drive);
        let (spring, stops) = (self.joint_spring(entries), self.stops(entries));
        let Some(name) = name else {
            parts.lost_joints = true;
            return;
        };
        let joint = Joint {
            name,
            parent: parent.flatten(),
            child: child.unwrap_or(usize::MAX),
            position,
            rotation,
            kind,
            start: start.position,
            start_held: start.held,
            start_velocity: start.velocity,
            start_velocity_held: start.velocity_held,
            drive,
            spring,
            stops,
            servo: None,
        };
        let complete = parent.is_some() && child.is_some();
        let name_span = entries.value_span("name");
        let part = JointPart { joint, span: entries.span.clone(), child_span, complete };
        self.register_joint(part, &name_span, parts);
    }

    fn joint_kind(&mut self, joint: &Entries) -> Option<JointKind> {
        let kind = joint.variant?;
        if self.planar && matches!(kind, "cylindrical" | "universal" | "spherical" | "free") {
            let message = format!("joints of type \"{kind}\" are not available in planar scenes");
            let help = "planar scenes can have revolute, prismatic, planar and fixed joints";
            self.problems.advise(joint.value_span("type"), message, help);
        }
        JointKind::read_keys(self, joint)
    }

    /// Two axes that are not parallel.
    pub(in super::super) fn crossed_axes(&mut self, joint: &Entries) -> Option<[Vector; 2]> {
        let [a, b] = self.axes(joint)?;
        if length(cross(a, b)) < 1e-6 {
            let message = "the two axes are parallel";
            let help = "two rotations about the same axis are one: use type = \"revolute\"";
            self.problems.advise(joint.value_span("axes"), message, help);
        }
        Some([a, b])
    }

    /// Two perpendicular axes; in planar scenes, axes of the plane.
    pub(in super::super) fn spanning_axes(&mut self, joint: &Entries) -> Option<[Vector; 2]> {
        let [a, b] = self.axes(joint)?;
        if dot(a, b).abs() > 1e-9 || self.planar && cross(a, b) != [0.0, 0.0, 1.0] {
            let message = match self.planar {
                true => "in a planar scene the axes are [\"x\", \"y\"], or these rotated about z",
                false => "the two axes are not perpendicular",
            };
            self.problems.report(joint.value_span("axes"), message);
        }
        Some([a, b])
    }

    /// The axis of a joint or loop; in planar scenes, z for rotations, and normal to z otherwise.
    pub(in super::super) fn axis(&mut self, entries: &Entries, turns: bool) -> Option<Vector> {
        let axis = self.direction(entries.get("axis")?, "axis")?;
        let out_of_plane = match turns {
            true => axis[0] != 0.0 || axis[1] != 0.0,
            false => axis[2] != 0.0,
        };
        if self.planar && out_of_plane {
            let message = match turns {
                true => "the scene is planar: bodies rotate about z only",
                false => "the scene is planar: `axis` must lie in the x–y plane",
            };
            self.problems.report(entries.value_span("axis"), message);
        }
        Some(axis)
    }

    fn axes(&mut self, joint: &Entries) -> Option<[Vector; 2]> {
        let [a, b] = joint.list("axes")? else { return None };
        let [a, b] = [self.direction(a, "axes"), self.direction(b, "axes")];
        Some([a?, b?])
    }

    pub(in super::super) fn direction(&mut self, node: &Node, what: &str) -> Option<Vector> {
        let direction = unit(node.numbers::<3>()?);
        if direction.is_none() {
            self.problems.report(node.span.clone(), format!("`{what}` has zero length"));
        }
        direction
    }

    /// The drive of a coordinate. The dimension is given if the values are not converted yet.
    pub(super) fn drive(&mut self, joint: &Entries, velocity: Option<Dimension>) -> Drive {
        let (motion, speed) = (joint.given("motion"), joint.given("speed"));
        if motion.is_some() && speed.is_some() {
            let message = "`motion` and `speed` both drive this joint";
            self.problems.advise(joint.key_span("speed"), message, "give one of them");
        }
        if let Some(node) = motion {
            for key in ["start", "guess", "start_velocity"] {
                if joint.given(key).is_some() {
                    let message = format!(
                        "`{key}` is not allowed with `motion`, which determines the initial value"
                    );
                    self.problems.report(joint.key_span(key), message);
                }
            }
            let Some(motion) = self.component(node, "motion") else { return Drive::None };
            if let Component::Expression(law) = &motion {
                let ends = [0.0, self.until.unwrap_or(0.0)];
                let bad = |t: &f64| !law.with_rates(&[*t]).iter().all(|x| x.is_finite());
                if let Some(t) = ends.iter().find(|t| bad(t)) {
                    let [value, rate, second] = law.with_rates(&[*t]);
                    let (what, value) = match (value.is_finite(), rate.is_finite()) {
                        (false, _) => ("`motion`", value),
                        (true, false) => ("the velocity of `motion`", rate),
                        (true, true) => ("the acceleration of `motion`", second),
                    };
                    let message = format!("{what} is {value} at t = {t} s");
                    self.problems.report(node.span.clone(), message);
                }
            }
            return Drive::Motion(motion);
        }
        let Some(node) = speed else { return Drive::None };
        if joint.given("start_velocity").is_some() {
            let message =
                "`start_velocity` is not allowed with `speed`, which determines the velocity";
            self.problems.report(joint.key_span("start_velocity"), message);
        }
        let speed = match velocity {
            Some(dimension) => self.quantity(node, "speed", dimension),
            None => node.number(),
        };
        speed.map_or(Drive::None, Drive::Speed)
    }

    fn start(&mut self, joint: &Entries, kind: &JointKind, drive: &Drive) -> Start {
        let n = kind.n_velocities();
        let given = |key| joint.given(key).is_some();
        for (start, guess) in [
            ("start", "guess"),
            ("start_position", "guess_position"),
            ("start_rotation", "guess_rotation"),
            ("start_position", "guess_rotation"),
            ("start_rotation", "guess_position"),
        ] {
            if given(start) && given(guess) {
                let message = format!("give `{start}` or `{guess}`, not both");
                self.problems.report(joint.key_span(guess), message);
            }
        }
        let list = |key: &str| -> Option<Vec<f64>> {
            let node = joint.given(key)?;
            match &node.item {
                Item::Number(value) => Some(vec![*value]),
                _ => node.list()?.iter().map(Node::number).collect(),
            }
        };
        let either =
            |this: &'static str, other: &'static str| if given(this) { this } else { other };
        let (position, held) = match kind {
            JointKind::Spherical | JointKind::Free => {
                let rotation = either("start_rotation", "guess_rotation");
                let rotation: Quaternion = match joint.given(rotation) {
                    Some(node) => self.turned(node).unwrap_or(UPRIGHT),
                    None => UPRIGHT,
                };
                let mut position = match kind {
                    JointKind::Free => list(either("start_position", "guess_position"))
                        .unwrap_or_else(|| vec![0.0; 3]),
                    _ => Vec::new(),
                };
                position.extend(rotation);
                (position, given("start_rotation") || given("start_position"))
            }
            _ => (list(either("start", "guess")).unwrap_or_else(|| vec![0.0; n]), given("start")),
        };
        let keys = ["start_velocity", "start_angular_velocity"];
        let velocity = match kind {
            JointKind::Spherical | JointKind::Free => {
                let mut velocity = match kind {
                    JointKind::Free => list(keys[0]).unwrap_or_else(|| vec![0.0; 3]),
                    _ => Vec::new(),
                };
                velocity.extend(list(keys[1]).unwrap_or_else(|| vec![0.0; 3]));
                velocity
            }
            _ => list(keys[0]).unwrap_or_else(|| vec![0.0; n]),
        };
        let velocity_held = keys.into_iter().any(given);
        let mut start = Start { position, held, velocity, velocity_held };
        start.follow(drive);
        start
    }

    fn joint_spring(&mut self, joint: &Entries) -> Option<JointSpring> {
        if joint.given("spring").is_some() && joint.given("damping").is_some() {
            let message = "with a `spring`, `damping` belongs in the spring";
            self.problems.report(joint.key_span("damping"), message);
        }
        if let Some(node) = joint.given("damping") {
            return Some(JointSpring { stiffness: 0.0, rest: 0.0, damping: node.number()? });
        }
        JointSpring::read_keys(self, joint.given("spring")?.table()?)
    }

    fn stops(&mut self, joint: &Entries) -> Option<Stops> {
        let stops = joint.given("stops")?.table()?;
        if stops.given("lower").is_none() && stops.given("upper").is_none() {
            let message = "these stops have no positions";
            self.problems.advise(stops.span.clone(), message, "give `lower`, `upper` or both");
        }
        let (lower, upper) = (stops.number("lower"), stops.number("upper"));
        if let (Some(lower), Some(upper)) = (lower, upper)
            && lower >= upper
        {
            let message = format!(
                "the lower stop ({}) is not below the upper one ({})",
                number(lower),
                number(upper)
            );
            self.problems.report(stops.value_span("lower"), message);
        }
        Stops::read_keys(self, stops)
    }
}

impl Start {
    /// Applies the initial state of a drive.
    fn follow(&mut self, drive: &Drive) {
        follow(drive, &mut self.position, &mut self.velocity);
        if matches!(drive, Drive::Motion(_)) {
            self.held = true;
        }
        if *drive != Drive::None {
            self.velocity_held = true;
        }
    }
}

/// Sets the initial state of a driven coordinate.
pub(super) fn follow(drive: &Drive, position: &mut [f64], velocity: &mut [f64]) {
    let ([q], [v]) = (position, velocity) else { return };
    match drive {
        Drive::None => {}
        Drive::Motion(Component::Constant(value)) => (*q, *v) = (*value, 0.0),
        Drive::Motion(Component::Expression(law)) => {
            let [value, rate, _] = law.with_rates(&[0.0]);
            (*q, *v) = (value, rate);
        }
        Drive::Speed(speed) => *v = *speed,
    }
}

pub(super) fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(super) fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn length(a: Vector) -> f64 {
    dot(a, a).sqrt()
}

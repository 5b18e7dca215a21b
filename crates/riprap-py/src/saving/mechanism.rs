//! The record of a mechanism: bodies with their joints, loops, springs, motors and forces.

use riprap::math::{Pose, Quat};
use riprap::multibody::{Axis, Cut, Joint};
use riprap::shape::MassProperties;

use super::{Saved, Table, list_of, matrix, number, rotation, text, vector};

/// A body of a mechanism and the joint that carries it.
#[derive(Clone)]
pub struct LinkRecord {
    pub name: String,
    pub joint_name: String,
    /// Index of the parent; `None` for the ground.
    pub parent: Option<u32>,
    pub joint: Joint,
    pub place: Pose,
    pub mass: Option<MassProperties>,
    /// Shapes with their materials and poses.
    pub shapes: Vec<(Saved, String, Pose)>,
    /// Spring, stops and motor.
    pub keys: Table,
    /// Start value of each coordinate, whether it is a guess, and start velocities.
    pub starts: Vec<Option<(f64, bool)>>,
    pub velocities: Vec<Option<f64>>,
    pub start_rotation: Option<Quat>,
}

/// Everything that a mechanism was built from.
#[derive(Clone, Default)]
pub struct MechanismRecord {
    pub name: String,
    pub base: Pose,
    pub links: Vec<LinkRecord>,
    /// Tables of loops, springs and forces, with their headers.
    pub tables: Vec<(&'static str, Table)>,
    pub dependent: Vec<String>,
    /// What cannot be saved.
    pub problems: Vec<String>,
}

impl MechanismRecord {
    /// Notes a problem with a part.
    pub fn problem(&mut self, part: &str, reason: &str) {
        self.problems.push(format!("mechanism `{}`, {part}: {reason}", self.name));
    }

    /// The link and component of a coordinate, by its index.
    fn component(&self, coordinate: u32) -> (usize, usize) {
        let mut first = 0;
        for (k, link) in self.links.iter().enumerate() {
            let n = link.joint.coordinate_names().len() as u32;
            if coordinate < first + n {
                return (k, (coordinate - first) as usize);
            }
            first += n;
        }
        (0, 0)
    }

    /// Sets a key of the joint of a coordinate; only joints with one coordinate have springs, stops and motors.
    pub fn on_coordinate(&mut self, coordinate: u32, key: &str, value: Saved) {
        let (k, _) = self.component(coordinate);
        let single = self.links[k].joint.coordinate_names().len() == 1;
        let name = format!("joint `{}`", self.links[k].joint_name);
        match value {
            Err(reason) => self.problem(&name, &reason),
            Ok(_) if !single => {
                let kind = self.links[k].joint.word();
                let reason = format!(
                    "in a scene file a {kind} joint has no {key}: use a chain of simple joints"
                );
                self.problem(&name, &reason);
            }
            Ok(_) if self.links[k].keys.has(key) && (key == "spring" || key == "stops") => {
                self.problem(&name, &format!("in a scene file a joint has one {key}"));
            }
            Ok(value) => {
                self.links[k].keys.set(key, value);
            }
        }
    }

    /// Removes a key of the joint of a coordinate.
    pub fn clear(&mut self, coordinate: u32, key: &str) {
        let (k, _) = self.component(coordinate);
        self.links[k].keys.remove(key);
    }

    /// Sets a start value, or a guess.
    pub fn start(&mut self, coordinate: u32, value: f64, guess: bool) {
        let (k, component) = self.component(coordinate);
        self.links[k].starts[component] = Some((value, guess));
    }

    /// Sets a start velocity.
    pub fn start_velocity(&mut self, coordinate: u32, value: f64) {
        let (k, component) = self.component(coordinate);
        self.links[k].velocities[component] = Some(value);
    }

    /// Name of a body, or `ground`.
    pub fn body(&self, link: Option<u32>) -> String {
        text(link.map_or("ground", |k| &self.links[k as usize].name))
    }

    /// The scene file of the mechanism, or why there is none.
    pub fn write(&self) -> Result<String, Vec<String>> {
        let mut problems = self.problems.clone();
        let mut head = Table::default();
        head.set("name", text(&self.name)).pose(&self.base);
        if !self.dependent.is_empty() {
            head.set("dependent", list_of(self.dependent.iter().map(|name| text(name))));
        }
        let mut out = head.section("[[mechanism]]");
        for link in &self.links {
            out += &self.link_body(link, &mut problems).section("[[mechanism.body]]");
        }
        for link in &self.links {
            out += &self.link_joint(link, &mut problems).section("[[mechanism.joint]]");
        }
        for (header, table) in &self.tables {
            out += &table.section(header);
        }
        if problems.is_empty() { Ok(out) } else { Err(problems) }
    }

    fn link_body(&self, link: &LinkRecord, problems: &mut Vec<String>) -> Table {
        let mut table = Table::default();
        table.set("name", text(&link.name));
        match &link.mass {
            None => {
                table.set("mass", "0.0");
            }
            Some(mass) => {
                table.set("mass", number(mass.mass)).set("centre", vector(&mass.centre));
                table.set("inertia", matrix(&mass.inertia));
            }
        }
        let mut shapes = Vec::new();
        for (shape, material, pose) in &link.shapes {
            match shape {
                Err(reason) => problems
                    .push(format!("mechanism `{}`, body `{}`: {reason}", self.name, link.name)),
                Ok(shape) => {
                    let mut entry = Table::default();
                    entry.set("shape", shape.clone()).set("material", text(material)).pose(pose);
                    shapes.push(entry.inline());
                }
            }
        }
        if !shapes.is_empty() {
            table.set("shapes", list_of(shapes));
        }
        table
    }

    fn link_joint(&self, link: &LinkRecord, problems: &mut Vec<String>) -> Table {
        let mut table = Table::default();
        table.set("name", text(&link.joint_name)).set("type", text(link.joint.word()));
        table.set("parent", self.body(link.parent)).set("child", text(&link.name));
        let axis = |axis: &Axis| vector(&axis.0);
        match &link.joint {
            Joint::Revolute(a) | Joint::Prismatic(a) | Joint::Cylindrical(a) => {
                table.set("axis", axis(a));
            }
            Joint::Universal(a, b) | Joint::Planar(a, b) => {
                table.set("axes", list_of([axis(a), axis(b)]));
            }
            Joint::Spherical | Joint::Free | Joint::Fixed => {}
        }
        table.pose(&link.place);
        if let Err(reason) = starts(link, &mut table) {
            let joint = &link.joint_name;
            problems.push(format!("mechanism `{}`, joint `{joint}`: {reason}", self.name));
        }
        for (key, value) in &link.keys.0 {
            table.set(key, value.clone());
        }
        if table.has("motion") {
            ["start", "guess", "start_velocity"].iter().for_each(|key| table.remove(key));
        }
        table
    }
}

/// Start values of a joint.
fn starts(link: &LinkRecord, table: &mut Table) -> Result<(), String> {
    let shown = |values: &[f64], single: bool| match values {
        [one] if single => number(*one),
        values => super::numbers(values),
    };
    let n = link.starts.len();
    let positions = match link.joint {
        Joint::Spherical => 0,
        Joint::Free => 3,
        _ => n,
    };
    let given: Vec<(f64, bool)> = link.starts[..positions].iter().flatten().copied().collect();
    if !given.is_empty() {
        let guess = given[0].1;
        if given.iter().any(|(_, other)| *other != guess) || (given.len() < positions && !guess) {
            return Err(
                "in a scene file all coordinates of a joint have start values, or all have guesses"
                    .into(),
            );
        }
        let values: Vec<f64> =
            link.starts[..positions].iter().map(|s| s.map_or(0.0, |(value, _)| value)).collect();
        let key = match (guess, matches!(link.joint, Joint::Free)) {
            (false, false) => "start",
            (true, false) => "guess",
            (false, true) => "start_position",
            (true, true) => "guess_position",
        };
        table.set(key, shown(&values, n == 1));
    }
    if let Some(q) = &link.start_rotation {
        table.set("start_rotation", rotation(q));
    }
    let rates = |range: std::ops::Range<usize>| {
        let part = &link.velocities[range];
        let values: Vec<f64> = part.iter().map(|v| v.unwrap_or(0.0)).collect();
        part.iter().any(Option::is_some).then_some(values)
    };
    let (linear, angular) = match link.joint {
        Joint::Spherical => (None, rates(0..n)),
        Joint::Free => (rates(0..3), rates(3..6)),
        _ => (rates(0..n), None),
    };
    if let Some(values) = linear {
        table.set("start_velocity", shown(&values, n == 1));
    }
    if let Some(values) = angular {
        table.set("start_angular_velocity", shown(&values, false));
    }
    Ok(())
}

/// The type of a loop and its keys.
pub fn cut(table: &mut Table, cut: Cut, axis: Option<Axis>) {
    table.set("type", text(cut.word()));
    if let Cut::Rod { length } = cut {
        table.set("length", number(length));
    }
    if let Some(axis) = axis {
        table.set("axis", vector(&axis.0));
    }
}

//! Forces and torques as laws of time and state, and servos.

use super::super::document::inside;
use super::super::expression::{Expression, Scope};
use super::super::model::{BodyCoordinate, LoadComponent, LoadInput, LoadLaw, Servo, ServoTarget};
use super::super::problem::Problem;
use super::super::units::Dimension;
use super::super::values::{Entries, Item, Node};
use super::Converter;

/// The names that laws of time and state may use, and the meaning of their variables.
#[derive(Default)]
pub(super) struct LoadScope {
    scope: Scope,
    inputs: Vec<LoadInput>,
    names: Vec<String>,
}

impl LoadScope {
    /// The names of a scene: `t`, the parameters, the coordinates of the body itself and those of named bodies.
    fn new(time_scope: &Scope, bodies: &[Option<String>]) -> LoadScope {
        let mut all = LoadScope { scope: time_scope.clone(), ..LoadScope::default() };
        all.add("t", LoadInput::Time);
        for (name, coordinate) in BodyCoordinate::ALL {
            all.add(name, LoadInput::Own(coordinate));
        }
        for (index, body) in bodies.iter().enumerate() {
            let Some(body) = body else { continue };
            for (name, coordinate) in BodyCoordinate::ALL {
                all.add(&format!("{body}.{name}"), LoadInput::Body(index, coordinate));
            }
        }
        all
    }

    fn add(&mut self, name: &str, input: LoadInput) {
        if input != LoadInput::Time && self.scope.contains(name) {
            let reason = format!(
                "it is both a parameter and a coordinate of the body; rename the parameter `{name}`"
            );
            self.scope.unusable(name, reason);
            return;
        }
        if self.scope.variable(name) == self.inputs.len() {
            self.inputs.push(input);
            self.names.push(name.to_owned());
        }
    }
}

impl Converter<'_> {
    /// The names of the bodies in file order, as laws refer to them.
    pub(super) fn name_bodies(&mut self, nodes: &[Node]) {
        let name = |node: &Node| Some(node.table()?.given("name")?.text()?.to_owned());
        self.body_names = nodes.iter().map(name).collect();
    }

    /// Three components of a force or torque.
    pub(in super::super) fn load_vector(
        &mut self,
        entries: &Entries,
        key: &'static str,
    ) -> Option<[LoadComponent; 3]> {
        let dimension = if key == "torque" { Dimension::TORQUE } else { Dimension::FORCE };
        let node = entries.get(key)?;
        let loads: Vec<Option<LoadComponent>> =
            node.list()?.iter().map(|node| self.load(node, key, dimension)).collect();
        let loads: Vec<LoadComponent> = loads.into_iter().collect::<Option<_>>()?;
        let loads: [LoadComponent; 3] = loads.try_into().ok()?;
        let out_of_plane = if key == "torque" { &loads[..2] } else { &loads[2..] };
        if self.planar && out_of_plane.iter().any(|load| matches!(load, LoadComponent::Law(_))) {
            let message = format!("the scene is planar: `{key}` must stay in the x–y plane");
            self.problems.report(node.span.clone(), message);
        }
        Some(loads)
    }

    /// A number, or an expression of time and state.
    fn load(&mut self, node: &Node, what: &str, dimension: Dimension) -> Option<LoadComponent> {
        let text = match &node.item {
            Item::Number(value) => return Some(LoadComponent::Constant(*value)),
            Item::Text(text) => text,
            _ => return None,
        };
        let names = self.loads.take();
        let names = names.unwrap_or_else(|| LoadScope::new(&self.time_scope, &self.body_names));
        let law = self.load_law(node, text, what, dimension, &names);
        self.loads = Some(names);
        law
    }

    fn load_law(
        &mut self,
        node: &Node,
        text: &str,
        what: &str,
        dimension: Dimension,
        names: &LoadScope,
    ) -> Option<LoadComponent> {
        let mut expression: Expression = self.expression(node, what, &names.scope)?;
        let used = expression.compact();
        let dimension_of = |index: usize| match names.inputs[index] {
            LoadInput::Time => Dimension::TIME,
            LoadInput::Own(coordinate) | LoadInput::Body(_, coordinate) => coordinate.dimension(),
        };
        let variables = used.iter().map(|&index| (&*names.names[index], dimension_of(index)));
        if let Some(mistake) = self.parameters.load_mistake(text, variables, dimension) {
            let place = inside(self.text, &node.span, text, 0..text.len());
            self.problems.add(Problem::new(place, format!("`{what}`: {mistake}")));
            return None;
        }
        if used.is_empty() {
            return Some(LoadComponent::Constant(expression.evaluate(&[])));
        }
        let inputs = used.into_iter().map(|index| names.inputs[index]).collect();
        Some(LoadComponent::Law(LoadLaw { expression, inputs }))
    }

    /// The keys of a servo.
    pub(in super::super) fn servo(&mut self, body: &Entries) -> Option<Servo> {
        let given = |key: &str| body.given(key).is_some();
        let turns = given("about");
        if turns == given("along") {
            let (span, message) = match turns {
                true => (body.key_span("about"), "give `along` or `about`, not both"),
                false => {
                    (body.span.clone(), "the servo has no axis: `along` or `about` is missing")
                }
            };
            self.problems.report(span, message);
            return None;
        }
        let (axis_key, wrong, speed_key): (_, &[&str], _) = match turns {
            true => ("about", &["force", "stress", "area", "speed"], "angular_speed"),
            false => ("along", &["torque", "angular_speed"], "speed"),
        };
        for key in wrong.iter().filter(|key| given(key)) {
            let message = format!("`{key}` does not go with `{axis_key}`");
            self.problems.report(body.key_span(key), message);
        }
        let axis = self.servo_axis(body, axis_key);
        let target = self.servo_target(body, turns);
        let speed = match body.given(speed_key) {
            Some(node) => node.number(),
            None => {
                let message =
                    format!("the speed of the servo is not limited: `{speed_key}` is missing");
                self.problems.report(body.span.clone(), message);
                None
            }
        };
        let carries_weight = body.flag("carries_weight")?;
        Some(Servo { axis: axis?, turns, target: target?, speed: speed?, carries_weight })
    }

    fn servo_axis(&mut self, body: &Entries, key: &str) -> Option<[f64; 3]> {
        let node = body.get(key)?;
        let axis = node.numbers::<3>()?;
        let length = axis.iter().fold(0.0_f64, |longest, x| longest.max(x.abs()));
        let unit = axis.map(|x| x / length);
        if unit.iter().filter(|x| **x != 0.0).count() != 1 {
            let message =
                format!("`{key}` of a servo must be \"x\", \"y\", \"z\" or the opposite of one");
            let help = "for another axis, use the `servo` of a joint of a [[mechanism]]";
            self.problems.advise(node.span.clone(), message, help);
            return None;
        }
        let leaves = if key == "about" { &unit[..2] } else { &unit[2..] };
        if self.planar && leaves.iter().any(|x| *x != 0.0) {
            let message = format!("the scene is planar: `{key}` must stay in the x–y plane");
            self.problems.report(node.span.clone(), message);
            return None;
        }
        Some(unit)
    }

    fn servo_target(&mut self, body: &Entries, turns: bool) -> Option<ServoTarget> {
        if turns {
            let Some(node) = body.given("torque") else {
                let message = "the servo has no target: `torque` is missing";
                self.problems.report(body.span.clone(), message);
                return None;
            };
            return self.load(node, "torque", Dimension::TORQUE).map(ServoTarget::Push);
        }
        match (body.given("force"), body.given("stress"), body.given("area")) {
            (Some(node), None, None) => {
                self.load(node, "force", Dimension::FORCE).map(ServoTarget::Push)
            }
            (None, Some(stress), Some(area)) => {
                let stress = self.load(stress, "stress", Dimension::PRESSURE);
                let area = self.load(area, "area", Dimension::AREA);
                Some(ServoTarget::Stress(stress?, area?))
            }
            (Some(_), ..) => {
                let key = if body.given("stress").is_some() { "stress" } else { "area" };
                let message = "the target is a `force`, or a `stress` on an `area`, not both";
                self.problems.report(body.key_span(key), message);
                None
            }
            (None, Some(_), None) => {
                let message = "a `stress` needs the `area` on which it acts";
                self.problems.report(body.key_span("stress"), message);
                None
            }
            (None, None, _) => {
                let message =
                    "the servo has no target: `force`, or `stress` and `area`, is missing";
                self.problems.report(body.span.clone(), message);
                None
            }
        }
    }
}

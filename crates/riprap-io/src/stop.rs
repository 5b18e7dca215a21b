//! The condition that ends a run before its end time.
//!
//! A condition on the state is evaluated after every step. One that uses columns of `series.csv`, such as the mean force on a
//! body since the last row, is evaluated when a row is due. Since when it has held is part of a checkpoint, so that a resumed
//! run ends at the same step.

use std::ops::Range;

use riprap::math::Vec3;
use riprap::scene::{Body, Scene};
use riprap::simulation::Frame;
use serde::{Deserialize, Serialize};

use crate::scene_file::{
    BodyCoordinate, Dimension, Expression, Problem, SceneFile, Scope, parse_quantity,
};
use crate::table::Column;

/// The condition of a run, and whether it holds.
#[derive(Debug)]
pub(crate) struct Stop {
    text: String,
    condition: Expression,
    inputs: Vec<Input>,
    /// How long it must hold [s].
    hold: f64,
    /// Whether it is evaluated when rows are due instead of after every step.
    at_rows: bool,
    held: Held,
}

/// Whether a condition holds: its part of a checkpoint.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Held {
    /// Since when it holds [s].
    since: Option<f64>,
    /// When it ended the run [s].
    met: Option<f64>,
}

/// How a run was stopped.
#[derive(Clone, Debug, PartialEq)]
pub struct Stopped {
    /// The condition, as in the scene.
    pub condition: String,
    /// When it was met [s].
    pub time: f64,
}

/// A condition on the state of a scene, such as `"speed < 1e-4 m/s for 0.1 s"`: the key `stop` of `[run]` without columns of
/// `series.csv`. See [`Condition::new`].
///
/// ```
/// use riprap::prelude::*;
/// use riprap_io::Condition;
///
/// let clay = Material::new("clay").density(1800.0).friction(0.8);
/// let mut scene = Scene::builder();
/// scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0])?, Pose::IDENTITY, &clay);
/// let lump = BodyDescription::new(Shape::sphere(0.1)?, &clay).named("lump").at([0.0, 0.0, 0.3]);
/// scene.add(lump, &clay);
/// let scene = scene.build()?;
/// let mut landed = Condition::new("lump.z < 0.15 m", &scene)?;
/// let mut run = Simulation::new(scene, MoreauJean::new(1e-3))?;
/// while !landed.holds(&run.frame()) {
///     run.step()?;
/// }
/// assert!((run.time() - (2.0 * 0.15 / 9.81_f64).sqrt()).abs() < 2e-3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Condition(Stop);

/// A condition that cannot be read.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("stop condition `{text}`, column {column}: {message}")]
pub struct ConditionError {
    /// The condition.
    pub text: String,
    /// Column of the mistake, in characters from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to write instead, if known.
    pub help: Option<String>,
}

impl Condition {
    /// A condition that may use `t`, the largest `speed` of the free bodies, the `kinetic_energy`, and coordinates of named bodies such
    /// as `ball.z` and `ball.vz`; numbers may have units.
    pub fn new(text: &str, scene: &Scene) -> Result<Condition, ConditionError> {
        let mut scope = Scope::default();
        scope.allow_quantities();
        let mut inputs = Vec::new();
        let bodies = scene.bodies();
        let named = bodies.names.iter().enumerate().filter(|(_, name)| text.contains(*name));
        let named = named.map(|(slot, name)| (name.as_str(), scene.body_at(slot)));
        let mut add = |name: &str, input: Input| {
            if scope.variable(name) == inputs.len() {
                inputs.push(input);
            }
        };
        variables(&mut add, &[], named);
        Stop::compile(text, &scope, &inputs).map(Condition).map_err(|(within, message, help)| {
            let column = text[..within.start].chars().count() + 1;
            ConditionError { text: text.to_owned(), column, message, help }
        })
    }

    /// Whether the condition holds at a frame, and has held as long as it must at the frames that were given before.
    pub fn holds(&mut self, frame: &Frame) -> bool {
        self.0.step(frame);
        self.0.stopped().is_some()
    }
}

/// A variable of a condition.
#[derive(Clone, Copy, Debug)]
enum Input {
    Time,
    Speed,
    KineticEnergy,
    Body(Body, BodyCoordinate),
    Column(usize),
}

/// A mistake in a condition: where in the text, what, and what to write instead.
type Mistake = (Range<usize>, String, Option<String>);

impl Stop {
    /// The condition of a scene, if it has one; `columns` are those of its series.
    pub fn new(file: &SceneFile, columns: &[Column]) -> Result<Option<Stop>, Problem> {
        let Some(text) = &file.run.stop else { return Ok(None) };
        let (scope, inputs) = names(file, columns);
        let stop = Stop::compile(text, &scope, &inputs).map_err(|(within, message, help)| {
            let at = file.source.within_stop(text, within);
            let mut problem = Problem::new(at, format!("`stop`: {message}"));
            problem.help = help;
            problem
        })?;
        Ok(Some(stop))
    }

    /// A condition with these names and the meaning of its variables.
    fn compile(text: &str, scope: &Scope, inputs: &[Input]) -> Result<Stop, Mistake> {
        let (condition, duration) = split(text);
        let hold = match duration.clone() {
            None => 0.0,
            Some(range) => {
                parse_quantity(&text[range.clone()], Dimension::TIME).map_err(|error| {
                    let span = range.start + error.span.start..range.start + error.span.end;
                    (span, error.message, None)
                })?
            }
        };
        if hold < 0.0 {
            return Err((duration.unwrap_or_default(), "the time is negative".into(), None));
        }
        let source = &text[condition.clone()];
        let mut compiled = Expression::parse_in(source, scope).map_err(|mistake| {
            let shift = condition.start;
            let span = shift + mistake.span.start..shift + mistake.span.end;
            (span, mistake.message, mistake.help)
        })?;
        let used = compiled.compact();
        if used.is_empty() {
            let help = "write a condition such as \"speed < 1e-4 m/s for 0.1 s\"";
            return Err((condition, "this condition never changes".into(), Some(help.into())));
        }
        let inputs: Vec<Input> = used.into_iter().map(|index| inputs[index]).collect();
        let at_rows = inputs.iter().any(|input| matches!(input, Input::Column(_)));
        let (text, held) = (text.to_owned(), Held::default());
        Ok(Stop { text, condition: compiled, inputs, hold, at_rows, held })
    }

    /// Evaluates a condition on the state after a step.
    pub fn step(&mut self, frame: &Frame) {
        if !self.at_rows {
            self.evaluate(frame, &[]);
        }
    }

    /// Evaluates a condition on columns with a row that is due.
    pub fn row(&mut self, frame: &Frame, row: &[f64]) {
        if self.at_rows {
            self.evaluate(frame, row);
        }
    }

    fn evaluate(&mut self, frame: &Frame, row: &[f64]) {
        let values: Vec<f64> = self.inputs.iter().map(|input| input.value(frame, row)).collect();
        let value = self.condition.evaluate(&values);
        let t = frame.state.t;
        if value.is_nan() || value == 0.0 {
            self.held.since = None;
            return;
        }
        let since = *self.held.since.get_or_insert(t);
        // The difference of two sums of steps.
        if t - since >= self.hold - 1e-9 * (self.hold + frame.dt) {
            self.held.met.get_or_insert(t);
        }
    }

    /// How it has ended the run, if it has.
    pub fn stopped(&self) -> Option<Stopped> {
        self.held.met.map(|time| Stopped { condition: self.text.clone(), time })
    }

    /// Its part of a checkpoint.
    pub fn held(&self) -> Held {
        self.held
    }

    /// Continues from a checkpoint.
    pub fn resume(&mut self, held: Held) {
        self.held = held;
    }
}

impl Input {
    fn value(self, frame: &Frame, row: &[f64]) -> f64 {
        match self {
            Input::Time => frame.state.t,
            Input::Speed => speed(frame),
            Input::KineticEnergy => frame.balance().kinetic,
            Input::Column(index) => row.get(index).copied().unwrap_or(f64::NAN),
            Input::Body(body, _) if !frame.scene.contains(body) => f64::NAN,
            Input::Body(body, coordinate) => match coordinate {
                BodyCoordinate::Position(axis) => {
                    frame.scene.shape_pose(frame.state, body).position[axis]
                }
                BodyCoordinate::Velocity(axis) => {
                    frame.scene.shape_velocity(frame.state, body)[axis]
                }
                BodyCoordinate::Spin(axis) => frame.state.v[frame.scene.slot(body)].angular[axis],
            },
        }
    }
}

/// The largest speed of the centres of the free bodies, without those of servos [m/s]; in a sheared periodic cell relative to its
/// flow.
fn speed(frame: &Frame) -> f64 {
    let scene: &Scene = frame.scene;
    let servos: Vec<Body> = scene.servos().map(|(body, _)| body).collect();
    let free = |i: &usize| scene.bodies().movable[*i] && !servos.contains(&scene.body_at(*i));
    let slots = (0..scene.bodies().len()).filter(free);
    let rate = scene.shear_rate(frame.state.t);
    let beyond_flow =
        |i: usize| frame.state.v[i].linear - Vec3::x() * (rate * frame.state.q[i].position.y);
    slots.map(|i| beyond_flow(i).norm()).fold(0.0, f64::max)
}

/// Where the condition and the time for which it must hold are in a text.
fn split(text: &str) -> (Range<usize>, Option<Range<usize>>) {
    let word = text.rmatch_indices("for").map(|(at, _)| at).find(|&at| {
        let blank = |c: Option<char>| c.is_none_or(char::is_whitespace);
        blank(text[..at].chars().next_back()) && blank(text[at + 3..].chars().next())
    });
    word.map_or((0..text.len(), None), |at| (0..at, Some(at + 3..text.len())))
}

/// The names that a condition may use, and the meaning of its variables.
fn names(file: &SceneFile, columns: &[Column]) -> (Scope, Vec<Input>) {
    let mut scope = Scope::default();
    let mut inputs = Vec::new();
    scope.allow_quantities();
    for parameter in &file.parameters {
        scope.constant(&parameter.name, parameter.value);
    }
    let mut add = |name: &str, input: Input| {
        if scope.contains(name) && scope.index(name).is_none() {
            let reason = format!("it is also a parameter; rename the parameter `{name}`");
            return scope.unusable(name, reason);
        }
        // What is added first has priority.
        if scope.variable(name) == inputs.len() {
            inputs.push(input);
        }
    };
    let bodies = file.bodies.iter().enumerate();
    let bodies = bodies.map(|(index, body)| (body.name.as_str(), Body(index as u32)));
    variables(&mut add, columns, bodies);
    (scope, inputs)
}

/// The variables of a condition.
fn variables<'a>(
    add: &mut impl FnMut(&str, Input),
    columns: &[Column],
    bodies: impl Iterator<Item = (&'a str, Body)>,
) {
    add("t", Input::Time);
    add("speed", Input::Speed);
    add("kinetic_energy", Input::KineticEnergy);
    for (index, column) in columns.iter().enumerate() {
        add(&column.name, Input::Column(index));
    }
    for (body, id) in bodies {
        for (name, coordinate) in BodyCoordinate::ALL {
            add(&format!("{body}.{name}"), Input::Body(id, coordinate));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_for_which_a_condition_must_hold_is_the_last_for() {
        let of = |text: &'static str| {
            let (condition, duration) = split(text);
            (&text[condition], duration.map(|range| &text[range]))
        };
        assert_eq!(of("speed < 1"), ("speed < 1", None));
        assert_eq!(of("speed < 1 m/s for 0.1 s"), ("speed < 1 m/s ", Some(" 0.1 s")));
        assert_eq!(of("plate.force_mean_z > 3"), ("plate.force_mean_z > 3", None));
        assert_eq!(of("t > 1 for"), ("t > 1 ", Some("")));
    }

    #[test]
    fn numbers_in_conditions_may_have_units() {
        let mut scope = Scope::new(&["speed", "force"]);
        let parse = |text: &str, scope: &Scope| Expression::parse_in(text, scope);
        assert!(parse("speed < 1 m/s", &scope).is_err());
        scope.allow_quantities();
        let of = |text: &str| parse(text, &scope).unwrap().evaluate(&[2.0, 2500.0]);
        assert_eq!(of("speed < 3 m/s and force > 2.4 kN"), 1.0);
        assert_eq!(of("speed < 3 mm/s or force*2 > 5kN"), 0.0);
        assert_eq!(of("2e3 mm/s*force"), 5000.0);
        assert_eq!(of("speed - 1 m/s"), 1.0);
        let mistake = parse("speed < 3 furlongs", &scope).unwrap_err();
        assert!(mistake.message.contains("unknown unit `furlongs`"), "{mistake}");
        assert_eq!(mistake.column, 11);
    }
}

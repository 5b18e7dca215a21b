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

/// A variable of a condition.
#[derive(Clone, Copy, Debug)]
enum Input {
    Time,
    Speed,
    KineticEnergy,
    Body(Body, BodyCoordinate),
    Column(usize),
}

impl Stop {
    /// The condition of a scene, if it has one; `columns` are those of its series.
    pub fn new(file: &SceneFile, columns: &[Column]) -> Result<Option<Stop>, Problem> {
        let Some(text) = &file.run.stop else { return Ok(None) };
        let (condition, duration) = split(text);
        let reject = |within: Range<usize>, message: String| {
            Problem::new(file.source.within_stop(text, within), format!("`stop`: {message}"))
        };
        let hold = match duration.clone() {
            None => 0.0,
            Some(range) => {
                parse_quantity(&text[range.clone()], Dimension::TIME).map_err(|error| {
                    let span = range.start + error.span.start..range.start + error.span.end;
                    reject(span, error.message)
                })?
            }
        };
        if hold < 0.0 {
            return Err(reject(duration.unwrap_or_default(), "the time is negative".into()));
        }
        let (scope, inputs) = names(file, columns);
        let source = &text[condition.clone()];
        let mut compiled = Expression::parse_in(source, &scope).map_err(|mistake| {
            let shift = condition.start;
            let span = shift + mistake.span.start..shift + mistake.span.end;
            let mut problem = reject(span, mistake.message);
            problem.help = mistake.help;
            problem
        })?;
        let used = compiled.compact();
        if used.is_empty() {
            let mut problem = reject(condition, "this condition never changes".into());
            problem.help = Some("write a condition such as \"speed < 1e-4 m/s for 0.1 s\"".into());
            return Err(problem);
        }
        let inputs: Vec<Input> = used.into_iter().map(|index| inputs[index]).collect();
        let at_rows = inputs.iter().any(|input| matches!(input, Input::Column(_)));
        let held = Held::default();
        Ok(Some(Stop { text: text.clone(), condition: compiled, inputs, hold, at_rows, held }))
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
    add("t", Input::Time);
    add("speed", Input::Speed);
    add("kinetic_energy", Input::KineticEnergy);
    for (index, column) in columns.iter().enumerate() {
        add(&column.name, Input::Column(index));
    }
    for (index, body) in file.bodies.iter().enumerate() {
        for (name, coordinate) in BodyCoordinate::ALL {
            let body_index = Body(index as u32);
            add(&format!("{}.{name}", body.name), Input::Body(body_index, coordinate));
        }
    }
    (scope, inputs)
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

//! Laws from Python: constants, expressions as in scene files, and callables.
//!
//! A callable attaches to the interpreter, is called, and its result is converted; the step runs detached otherwise. An
//! exception is kept in a slot, the law returns NaN, and the simulation raises the exception after it has restored the state
//! before the step.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use riprap::math::Vec3;
use riprap::multibody::{Inputs, JointMotion, Signal};
use riprap::scene::{Body, Law, LoadInputs, StateLaw};
use riprap_io::scene_file::Expression;

use crate::{errors, exit};

/// The exception of a callable, until the simulation raises it.
#[derive(Clone, Default)]
pub struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Keeps the first exception.
    fn keep(&self, error: PyErr) {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.get_or_insert(error);
    }

    /// The exception, once.
    pub fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Raises the first exception of these callables.
pub fn check(raised: &[Raised]) -> PyResult<()> {
    let first = raised.iter().filter_map(Raised::take).reduce(|first, _| first);
    first.map_or(Ok(()), Err)
}

/// A callable and the slot of its exception.
pub struct Callable {
    function: Py<PyAny>,
    raised: Raised,
}

impl Callable {
    pub fn new(function: &Bound<PyAny>, slots: &mut Vec<Raised>) -> Callable {
        let raised = Raised::default();
        slots.push(raised.clone());
        Callable { function: function.clone().unbind(), raised }
    }

    /// Calls it for a number; NaN if it raises.
    pub fn number<A>(&self, arguments: A) -> f64
    where
        A: for<'py> pyo3::call::PyCallArgs<'py>,
    {
        self.call(f64::NAN, |py, f| f.call1(py, arguments)?.extract(py))
    }

    /// Calls it and converts the result; `otherwise` if it raises.
    fn call<T>(&self, otherwise: T, call: impl FnOnce(Python<'_>, &Py<PyAny>) -> PyResult<T>) -> T {
        let result = exit::attach(|py| call(py, &self.function));
        match result {
            Some(Ok(value)) => value,
            Some(Err(error)) => {
                self.raised.keep(error);
                otherwise
            }
            // The interpreter is shutting down.
            None => otherwise,
        }
    }
}

/// A vector that depends on time: three numbers, three expressions of `t`, or a callable of t [s].
pub fn vector_law(given: &Bound<PyAny>, slots: &mut Vec<Raised>) -> PyResult<Law> {
    if given.is_callable() {
        let law = Callable::new(given, slots);
        return Ok(Law::new(move |t| {
            let value = law.call([f64::NAN; 3], |py, f| f.call1(py, (t,))?.extract(py));
            Vec3::from(value)
        }));
    }
    if let Ok(constant) = given.extract::<[f64; 3]>() {
        return Ok(Law::constant(constant));
    }
    let components: [Bound<PyAny>; 3] = given.extract()?;
    let mut laws = Vec::new();
    for component in &components {
        laws.push(expression(&component.str()?.to_string(), &["t"])?);
    }
    Ok(Law::new(move |t| Vec3::from_fn(|axis, _| laws[axis].evaluate(&[t]))))
}

/// A number that depends on time: an expression of `t`, or a callable of t [s].
pub fn scalar_law(
    given: &Bound<PyAny>,
    slots: &mut Vec<Raised>,
) -> PyResult<Box<dyn Fn(f64) -> f64 + Send + Sync>> {
    if given.is_callable() {
        let law = Callable::new(given, slots);
        return Ok(Box::new(move |t| law.number((t,))));
    }
    let law = expression(&given.str()?.to_string(), &["t"])?;
    Ok(Box::new(move |t| law.evaluate(&[t])))
}

/// An expression as in scene files.
fn expression(source: &str, variables: &[&str]) -> PyResult<Expression> {
    Expression::parse(source, variables).map_err(|error| {
        let help = error.help.as_ref().map_or(String::new(), |help| format!("\n  help: {help}"));
        errors::value(format!("expression `{source}`, {error}{help}"))
    })
}

/// A prescribed coordinate: a number, an expression of `t`, or a callable of t [s] that returns position, velocity and
/// acceleration.
pub fn motion(given: &Bound<PyAny>, slots: &mut Vec<Raised>) -> PyResult<JointMotion> {
    if given.is_callable() {
        let law = Callable::new(given, slots);
        return Ok(JointMotion::new(move |t| {
            law.call([f64::NAN; 3], |py, f| f.call1(py, (t,))?.extract(py))
        }));
    }
    if let Ok(source) = given.cast::<PyString>() {
        let law = expression(&source.to_string(), &["t"])?;
        return Ok(JointMotion::new(move |t| law.with_rates(&[t])));
    }
    Ok(JointMotion::constant_speed(given.extract()?, 0.0))
}

/// Names of the variables of an expression, and where their values are: time, positions, velocities.
pub type Names = Vec<(String, Variable)>;

/// A variable of a law.
#[derive(Clone, Copy)]
pub enum Variable {
    /// Time [s].
    Time,
    /// An entry of `q`.
    Position(usize),
    /// An entry of `v`.
    Velocity(usize),
    /// A latched value.
    Latched(usize),
}

/// A force: a number, an expression of `t`, `q.name` and `v.name`, or a callable of (t, q, v), with `latched` as the fourth
/// argument in phases.
pub fn signal(
    given: &Bound<PyAny>,
    names: &Names,
    latched: bool,
    slots: &mut Vec<Raised>,
) -> PyResult<Signal> {
    if given.is_callable() {
        let law = Callable::new(given, slots);
        return Ok(Signal::new(move |inputs: &Inputs| {
            law.call(f64::NAN, |py, f| {
                let q = PyTuple::new(py, inputs.q)?;
                let v = PyTuple::new(py, inputs.v)?;
                if latched {
                    let latched = PyTuple::new(py, inputs.latched)?;
                    return f.call1(py, (inputs.t, q, v, latched))?.extract(py);
                }
                f.call1(py, (inputs.t, q, v))?.extract(py)
            })
        }));
    }
    if let Ok(source) = given.cast::<PyString>() {
        let known: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
        let mut law = expression(&source.to_string(), &known)?;
        let variables: Vec<Variable> = law.compact().into_iter().map(|k| names[k].1).collect();
        return Ok(Signal::new(move |inputs: &Inputs| {
            let value = |variable: &Variable| match *variable {
                Variable::Time => inputs.t,
                Variable::Position(at) => inputs.q[at],
                Variable::Velocity(at) => inputs.v[at],
                Variable::Latched(slot) => inputs.latched[slot],
            };
            let values: Vec<f64> = variables.iter().map(value).collect();
            law.evaluate(&values)
        }));
    }
    Ok(Signal::constant(given.extract()?))
}

/// The bodies that laws of time and state may refer to by name.
pub type NamedBodies<'a> = Vec<(&'a str, Body)>;

/// A variable of a law of time and state.
#[derive(Clone, Copy)]
enum Seen {
    Time,
    /// Position, velocity or angular velocity along an axis of the body itself, or of another one.
    Coordinate(Option<Body>, usize, usize),
}

impl Seen {
    fn value(self, at: &LoadInputs) -> f64 {
        let Seen::Coordinate(body, what, axis) = self else { return at.t };
        let pose = || body.map_or_else(|| at.pose(), |body| at.pose_of(body));
        let velocity = || body.map_or_else(|| at.velocity(), |body| at.velocity_of(body));
        match what {
            0 => pose().position[axis],
            1 => velocity().linear[axis],
            _ => velocity().angular[axis],
        }
    }
}

/// The variables of laws of time and state, with their names.
fn seen(bodies: &NamedBodies) -> Vec<(String, Seen)> {
    let mut all = vec![("t".to_owned(), Seen::Time)];
    let own = std::iter::once((String::new(), None));
    let others = bodies.iter().map(|(name, body)| (format!("{name}."), Some(*body)));
    for (prefix, body) in own.chain(others) {
        for (what, letter) in ["", "v", "w"].into_iter().enumerate() {
            for (axis, end) in ["x", "y", "z"].into_iter().enumerate() {
                let name = format!("{prefix}{letter}{end}");
                all.push((name, Seen::Coordinate(body, what, axis)));
            }
        }
    }
    all
}

/// An expression of time and state, and the variables that it uses.
fn state_expression(source: &str, bodies: &NamedBodies) -> PyResult<(Expression, Vec<Seen>)> {
    let parse = |bodies: &NamedBodies| {
        let names = seen(bodies);
        let known: Vec<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
        let mut law = expression(source, &known)?;
        let used = law.compact().into_iter().map(|k| names[k].1).collect();
        Ok((law, used))
    };
    // There may be thousands of bodies; all are needed only to suggest a name instead of an unknown one.
    let here = bodies.iter().filter(|(name, _)| source.contains(name)).copied().collect();
    parse(&here).or_else(|_: PyErr| parse(bodies))
}

/// Position, velocity and angular velocity of a body, as a callable sees them.
type Motion3 = ([f64; 3], [f64; 3], [f64; 3]);

/// What a callable sees: the body itself, then the others.
fn motions(at: &LoadInputs, others: &[Body]) -> Vec<Motion3> {
    let own = std::iter::once((at.pose(), at.velocity()));
    let others = others.iter().map(|body| (at.pose_of(*body), at.velocity_of(*body)));
    own.chain(others).map(|(q, v)| (q.position.into(), v.linear.into(), v.angular.into())).collect()
}

/// A number that depends on time and state: a number, an expression of `t`, `x`, `vx`, `wx`, `name.x`, …, or a callable of t [s] and,
/// for the body itself and each of `others`, a tuple of position, velocity and angular velocity.
pub fn state_number(
    given: &Bound<PyAny>,
    bodies: &NamedBodies,
    others: &[Body],
    slots: &mut Vec<Raised>,
) -> PyResult<StateLaw<f64>> {
    if given.is_callable() {
        let (law, others) = (Callable::new(given, slots), others.to_vec());
        return Ok(StateLaw::new(move |at: &LoadInputs| {
            let seen = motions(at, &others);
            law.call(f64::NAN, |py, f| f.call1(py, arguments(py, at.t, seen)?)?.extract(py))
        }));
    }
    if let Ok(source) = given.cast::<PyString>() {
        let (law, variables) = state_expression(&source.to_string(), bodies)?;
        return Ok(StateLaw::new(move |at: &LoadInputs| {
            let values: Vec<f64> = variables.iter().map(|seen| seen.value(at)).collect();
            law.evaluate(&values)
        }));
    }
    Ok(StateLaw::constant(given.extract()?))
}

/// A vector that depends on time and state: three numbers or expressions, or a callable as for [`state_number`].
pub fn state_vector(
    given: &Bound<PyAny>,
    bodies: &NamedBodies,
    others: &[Body],
    slots: &mut Vec<Raised>,
) -> PyResult<StateLaw<Vec3>> {
    if given.is_callable() {
        let (law, others) = (Callable::new(given, slots), others.to_vec());
        return Ok(StateLaw::new(move |at: &LoadInputs| {
            let seen = motions(at, &others);
            let value: [f64; 3] = law
                .call([f64::NAN; 3], |py, f| f.call1(py, arguments(py, at.t, seen)?)?.extract(py));
            Vec3::from(value)
        }));
    }
    let components: [Bound<PyAny>; 3] = given.extract()?;
    let mut laws = Vec::new();
    for component in &components {
        laws.push(state_number(component, bodies, others, slots)?);
    }
    Ok(StateLaw::new(move |at: &LoadInputs| Vec3::from_fn(|axis, _| laws[axis].at(at))))
}

/// The arguments of a callable: the time, then the motion of each body.
fn arguments<'py>(py: Python<'py>, t: f64, seen: Vec<Motion3>) -> PyResult<Bound<'py, PyTuple>> {
    let mut list = vec![t.into_pyobject(py)?.into_any()];
    for motion in seen {
        list.push(motion.into_pyobject(py)?.into_any());
    }
    PyTuple::new(py, list)
}

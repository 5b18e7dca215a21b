//! Forces as laws of time and state, and servos, in the builder of scenes.

use pyo3::prelude::*;

use riprap::math::Vec3;
use riprap::scene::{
    Body as CoreBody, Kind, LoadInputs, SceneBuilder as CoreBuilder, Servo, StateLaw,
};

use crate::body::Body;
use crate::builder::SceneBuilder;
use crate::handle::BodyHandle;
use crate::law::{NamedBodies, Raised, state_number, state_vector};
use crate::saving::{self, Item, Saved, number, vector};
use crate::{convert, errors};

/// The bodies whose names expressions may use.
fn named_bodies(scene: &CoreBuilder) -> NamedBodies<'_> {
    let named = scene.bodies().iter().enumerate().filter(|(_, body)| !body.name.is_empty());
    named.map(|(id, body)| (body.name.as_str(), CoreBody(id as u32))).collect()
}

impl SceneBuilder {
    /// Records a law of a body, as a key of a scene file.
    fn record_control(&mut self, body: CoreBody, key: &'static str, value: Saved) {
        let mut next = 0;
        for item in &mut self.record.items {
            match item {
                Item::Body { controls, .. } if next == body.0 => {
                    return controls.push((key, value));
                }
                Item::Body { .. } => next += 1,
                Item::Grains { count, .. } | Item::Chain { count, .. } => next += *count,
                _ => {}
            }
        }
    }
}

#[pymethods]
impl SceneBuilder {
    /// Adds a force [N] at the centre of mass of a free body, and a torque [N m], that depend on time and state. Each is three numbers
    /// or expressions, or a callable. Expressions may use `t` [s], the position `x`, `y`, `z` [m] of the origin of the shape, its
    /// velocity `vx`, … [m/s], the angular velocity `wx`, … [rad/s], and those of other named bodies, such as `plate.z`. A
    /// callable gets t and a tuple (position, velocity, angular_velocity) of the body, then of each body that it `sees`.
    ///
    /// >>> import riprap as rr
    /// >>> scene = rr.SceneBuilder(gravity=(0, 0, 0))
    /// >>> steel = rr.Material("steel", density=7800.0)
    /// >>> ball = scene.add(rr.Body(rr.Shape.sphere(0.05), steel, position=(0.1, 0, 0)))
    /// >>> scene.apply(ball, force=("-100*x - 20*vx", 0, 0), torque=lambda t, own: (0, 0, -own[2][2]))
    /// >>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
    /// >>> report = run.until(5.0)
    /// >>> bool(abs(run.positions[0, 0]) < 1e-3)
    /// True
    #[pyo3(signature = (body, *, force=None, torque=None, sees=vec![]), text_signature = "($self, body, *, force=None, torque=None, sees=())")]
    fn apply(
        &mut self,
        body: &BodyHandle,
        force: Option<&Bound<PyAny>>,
        torque: Option<&Bound<PyAny>>,
        sees: Vec<BodyHandle>,
    ) -> PyResult<()> {
        let body = self.body(body)?;
        let others = sees.iter().map(|other| self.body(other)).collect::<PyResult<Vec<_>>>()?;
        let names = named_bodies(&self.core);
        let law = |given: Option<&Bound<PyAny>>, slots: &mut Vec<Raised>| {
            given.map(|law| state_vector(law, &names, &others, slots)).transpose()
        };
        let (push, twist) = (law(force, &mut self.raised)?, law(torque, &mut self.raised)?);
        let Some(described) = self.core.description_mut(body) else {
            return Err(errors::handle("the body belongs to another scene"));
        };
        if !matches!(described.kind, Kind::Free | Kind::Servo(_)) {
            return Err(errors::value("forces act on free bodies only"));
        }
        let constant = [described.force, described.torque].map(|load| load != Vec3::zeros());
        let laws = [&described.force_law, &described.torque_law].map(Option::is_some);
        for (k, (what, given)) in [("force", &push), ("torque", &twist)].into_iter().enumerate() {
            if given.is_some() && (constant[k] || laws[k]) {
                let message = format!("the body already has a {what}; add both in one law");
                return Err(errors::value(message));
            }
        }
        described.force_law = push.or(described.force_law.take());
        described.torque_law = twist.or(described.torque_law.take());
        for (key, given) in [("force", force), ("torque", torque)] {
            if let Some(given) = given {
                self.record_control(body, key, saving::law(given));
            }
        }
        Ok(())
    }

    /// Adds a body that a drive moves along an axis of the world, or about one through its centre of mass, and holds in all other
    /// directions: "x", "-z", … The drive pushes with exactly its target, a `force` [N], a `stress` [Pa] on an `area` [m²], or a `torque`
    /// [N m], as long as it is slower than `speed` [m/s, rad/s], which a scene file must have. Targets and areas are numbers,
    /// expressions or callables, as in `apply`. By default it carries the weight of the body.
    ///
    /// >>> import riprap as rr
    /// >>> scene = rr.SceneBuilder()
    /// >>> steel = rr.Material("steel", density=7800.0)
    /// >>> floor = scene.add_fixed(rr.Shape.half_space(), material=steel)
    /// >>> plate = rr.Body(rr.Shape.cuboid(0.2, 0.2, 0.02), steel, name="plate", position=(0, 0, 0.03))
    /// >>> plate = scene.add_servo(plate, along="-z", force=500.0, speed=0.1)
    /// >>> run = rr.Simulation(scene.build(), rr.MoreauJean(dt=1e-3))
    /// >>> report = run.until(1.0)
    /// >>> round(float(run.positions[1, 2]), 6)
    /// 0.01
    #[pyo3(
        signature = (body, *, along=None, about=None, force=None, torque=None, stress=None, area=None, speed=f64::INFINITY, carries_weight=true, sees=vec![]),
        text_signature = "($self, body, *, along=None, about=None, force=None, torque=None, stress=None, area=None, speed=inf, carries_weight=True, sees=())"
    )]
    fn add_servo(
        &mut self,
        body: &Body,
        along: Option<&Bound<PyAny>>,
        about: Option<&Bound<PyAny>>,
        force: Option<&Bound<PyAny>>,
        torque: Option<&Bound<PyAny>>,
        stress: Option<&Bound<PyAny>>,
        area: Option<&Bound<PyAny>>,
        speed: f64,
        carries_weight: bool,
        sees: Vec<BodyHandle>,
    ) -> PyResult<BodyHandle> {
        let Some((description, material)) = &body.solid else {
            return Err(errors::value("a servo needs a body with a shape"));
        };
        let targets = [("force", force), ("torque", torque), ("stress", stress), ("area", area)];
        let targets: Vec<_> = targets.into_iter().filter_map(|(k, x)| Some((k, x?))).collect();
        let names: Vec<&str> = targets.iter().map(|(key, _)| *key).collect();
        let (axis, axis_key, speed_key) = match (along, about, &names[..]) {
            (Some(axis), None, ["force"] | ["stress", "area"]) => (axis, "along", "speed"),
            (None, Some(axis), ["torque"]) => (axis, "about", "angular_speed"),
            _ => {
                let message = "give `along` and `force`, or `along`, `stress` and `area`, or `about` and `torque`";
                return Err(errors::value(message));
            }
        };
        let others = sees.iter().map(|other| self.body(other)).collect::<PyResult<Vec<_>>>()?;
        let bodies = named_bodies(&self.core);
        let raised = &mut self.raised;
        let laws = targets.iter().map(|(_, law)| state_number(law, &bodies, &others, raised));
        let mut laws = laws.collect::<PyResult<Vec<_>>>()?;
        let law = match (laws.pop(), laws.pop()) {
            (Some(area), Some(stress)) => {
                StateLaw::new(move |at: &LoadInputs| stress.at(at) * area.at(at))
            }
            (Some(law), None) => law,
            _ => return Err(errors::value("a servo needs a target")),
        };
        let direction = convert::axis(axis)?.0;
        let servo = match about {
            Some(_) => Servo::about(direction.into(), law),
            None => Servo::along(direction.into(), law),
        };
        let servo = servo.speed(speed).carries_weight(carries_weight);
        self.core.material(material);
        let description = description.clone().servo(servo);
        let handle = self.push_recorded(description, (*body.saved).clone(), None);
        let own = CoreBody(handle.id);
        self.record_control(own, axis_key, Ok(vector(&direction)));
        for (key, target) in targets {
            self.record_control(own, key, saving::law(target));
        }
        let limit = match speed.is_finite() {
            true => Ok(number(speed)),
            false => Err(format!("the servo has no `{speed_key}`, which a scene file needs")),
        };
        self.record_control(own, speed_key, limit);
        self.record_control(own, "carries_weight", Ok(carries_weight.to_string()));
        Ok(handle)
    }
}

//! Forces and torques as laws of time and state, and servos.

use riprap::math::Vec3;
use riprap::scene::{Body, LoadInputs, Servo, StateLaw};

use crate::scene_file::{
    self as file, BodyCoordinate, LoadComponent, LoadInput, LoadLaw, ServoTarget,
};

/// Number of variables of a law that are collected without allocating.
const FEW: usize = 16;

/// The constant part of a force or torque, and the part that depends on time and state.
pub(super) fn vector(components: &[LoadComponent; 3]) -> (Vec3, Option<StateLaw<Vec3>>) {
    let constant = Vec3::from_fn(|axis, _| match components[axis] {
        LoadComponent::Constant(value) => value,
        LoadComponent::Law(_) => 0.0,
    });
    let laws = components.clone().map(|component| match component {
        LoadComponent::Constant(_) => None,
        LoadComponent::Law(law) => Some(law),
    });
    if laws.iter().all(Option::is_none) {
        return (constant, None);
    }
    let law = StateLaw::new(move |at: &LoadInputs| {
        Vec3::from_fn(|axis, _| laws[axis].as_ref().map_or(0.0, |law| evaluate(law, at)))
    });
    (constant, Some(law))
}

/// The servo of a body.
pub(super) fn servo(described: &file::Servo) -> Servo {
    let target = match described.target.clone() {
        ServoTarget::Push(target) => StateLaw::new(move |at: &LoadInputs| component(&target, at)),
        ServoTarget::Stress(stress, area) => {
            StateLaw::new(move |at: &LoadInputs| component(&stress, at) * component(&area, at))
        }
    };
    let servo = match described.turns {
        true => Servo::about(described.axis, target),
        false => Servo::along(described.axis, target),
    };
    servo.speed(described.speed).carries_weight(described.carries_weight)
}

fn component(load: &LoadComponent, at: &LoadInputs) -> f64 {
    match load {
        LoadComponent::Constant(value) => *value,
        LoadComponent::Law(law) => evaluate(law, at),
    }
}

fn evaluate(law: &LoadLaw, at: &LoadInputs) -> f64 {
    let value = |input: &LoadInput| match *input {
        LoadInput::Time => at.t,
        LoadInput::Own(BodyCoordinate::Position(axis)) => at.pose().position[axis],
        LoadInput::Own(BodyCoordinate::Velocity(axis)) => at.velocity().linear[axis],
        LoadInput::Own(BodyCoordinate::Spin(axis)) => at.velocity().angular[axis],
        LoadInput::Body(body, coordinate) => {
            let body = Body(body as u32);
            match coordinate {
                BodyCoordinate::Position(axis) => at.pose_of(body).position[axis],
                BodyCoordinate::Velocity(axis) => at.velocity_of(body).linear[axis],
                BodyCoordinate::Spin(axis) => at.velocity_of(body).angular[axis],
            }
        }
    };
    if law.inputs.len() > FEW {
        let values: Vec<f64> = law.inputs.iter().map(value).collect();
        return law.expression.evaluate(&values);
    }
    let mut values = [0.0; FEW];
    for (slot, input) in values.iter_mut().zip(&law.inputs) {
        *slot = value(input);
    }
    law.expression.evaluate(&values[..law.inputs.len()])
}

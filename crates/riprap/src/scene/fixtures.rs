//! Small scenes for the tests of this module.

use super::{BodyDescription, Material, Scene, SceneBuilder};
use crate::math::Pose;
use crate::shape::Shape;

/// Rock of 2500 kg/m³.
pub(super) fn rock() -> Material {
    Material::new("rock").density(2500.0).friction(0.5)
}

/// A ball of rock with a radius of 0.1 m.
pub(super) fn ball(name: &str, at: [f64; 3]) -> BodyDescription {
    BodyDescription::new(Shape::sphere(0.1).expect("positive"), &rock()).named(name).at(at)
}

/// A ball above a fixed floor.
pub(super) fn ball_on_floor() -> SceneBuilder {
    let mut scene = Scene::builder();
    let floor = Shape::half_space([0.0, 0.0, 1.0]).expect("a normal");
    scene.add_fixed(floor, Pose::IDENTITY, &rock());
    scene.add(ball("ball", [0.0, 0.0, 0.1]), &rock());
    scene
}

/// The error message of a scene that cannot be built.
#[track_caller]
pub(super) fn told(scene: &SceneBuilder) -> String {
    scene.build().expect_err("a mistake").to_string()
}

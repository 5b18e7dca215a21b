//! Closed forms, conservation and orders of the scheme.

use super::*;
use crate::prelude::*;
use crate::scene::SchemeState;

/// A ball that falls from a gap of 0.801 m with e = 0.8, g = 10 (Sec. 10.1).
fn ball() -> (Scene, Body) {
    let steel = Material::new("steel").density(7800.0).restitution(0.8);
    let mut scene = Scene::builder();
    scene.add_fixed(Shape::half_space([0.0, 0.0, 1.0]).unwrap(), Pose::IDENTITY, &steel);
    let ball = BodyDescription::new(Shape::sphere(0.2).unwrap(), &steel).at([0.0, 0.0, 1.001]);
    let ball = scene.add(ball.mass(1.0), &steel);
    scene.gravity([0.0, 0.0, -10.0]);
    (scene.build().unwrap(), ball)
}

#[test]
fn a_bouncing_ball_never_penetrates_and_loses_energy_only_at_impacts() {
    let (scene, ball) = ball();
    let mut run = Simulation::new(scene, GeneralizedAlpha::new(2e-3)).unwrap();
    let mut energy = f64::INFINITY;
    for _ in 0..2500 {
        run.step().unwrap();
        let (q, v) = (run.pose(ball).position.z - 0.2, run.velocity(ball).linear.z);
        assert!(q >= -1e-12, "{q:e}");
        let now = 0.5 * v * v + 10.0 * q;
        assert!(now <= energy + 1e-12, "t = {}: {now} > {energy}", run.time());
        energy = now;
    }
    // At rest after the accumulation, and Λ = m g h.
    assert!(energy.abs() < 1e-12, "{energy:e}");
    let impulse = run.frame().work.impulses()[0][0];
    assert!((impulse - 10.0 * 2e-3).abs() < 1e-12, "{impulse}");
}

/// The bouncing pendulum of Sec. 10.2: a body in absolute coordinates on a hinge.
fn pendulum() -> (Scene, Body) {
    let angle = std::f64::consts::PI / 12.0;
    let steel = Material::new("steel").restitution(0.8);
    let mut scene = Scene::builder();
    let mut bob = BodyDescription::new(Shape::sphere(0.01).unwrap(), &steel)
        .at([angle.cos(), angle.sin(), 0.0])
        .turned(Quat::from_scaled_axis(Vec3::new(0.0, 0.0, angle)))
        .locked(Locks::PLANAR)
        .mass(1.0);
    bob.inertia = Some(nalgebra::Matrix3::from_diagonal_element(0.1));
    let pose = bob.pose;
    let bob = scene.add(bob, &steel);
    let joint = BodyJoint::at(
        "pivot",
        Hold::Ball,
        Pose::IDENTITY,
        (On::World, Pose::IDENTITY),
        (bob.into(), pose),
    );
    scene.add_joint(joint);
    scene.add_point_contact(PointContact {
        name: "stop".into(),
        point: (bob.into(), Vec3::zeros()),
        plane: (On::World, Vec3::new(0.5_f64.sqrt(), 0.0, 0.0)),
        normal: Vec3::x(),
        law: PairLaw::combined(&steel, &steel),
    });
    scene.gravity([0.0, -10.0, 0.0]);
    (scene.build().unwrap(), bob)
}

#[test]
fn a_bouncing_pendulum_keeps_its_joint_at_both_levels_and_comes_to_rest() {
    let (scene, bob) = pendulum();
    let mut run = Simulation::new(scene, GeneralizedAlpha::new(1e-3)).unwrap();
    let mut rest = 0.0;
    let mut iterations = 0;
    for _ in 0..6000 {
        let report = run.step().unwrap();
        iterations = iterations.max(report.newton);
        let SchemeState::GeneralizedAlpha(alpha) = &run.state().scheme else { panic!() };
        assert_eq!(alpha.constraints.len(), 2);
        for c in &alpha.constraints {
            assert!(c.residual.abs() < 1e-12 && c.velocity.abs() < 1e-12, "{c:?}");
        }
        let (q, v) = (run.pose(bob).position, run.velocity(bob));
        assert!((q.norm() - 1.0).abs() < 1e-12 && q.x - 0.5_f64.sqrt() > -1e-12);
        assert!((v.linear - v.angular.cross(&q)).norm() < 1e-11);
        rest = alpha.contacts.first().map_or(0.0, |c| c.impulse[0] / 1e-3);
    }
    assert!(run.velocity(bob).linear.norm() < 1e-9);
    assert!((rest - 10.0).abs() < 1e-6, "rest force {rest}");
    assert!(iterations <= 8, "{iterations}");
}

/// Largest error of an angle against a fine solution, for steps of decreasing length.
fn orders(run: impl Fn(f64) -> f64, steps: &[f64]) -> Vec<f64> {
    let exact = run(steps[steps.len() - 1] / 16.0);
    let errors: Vec<f64> = steps.iter().map(|&h| (run(h) - exact).abs()).collect();
    errors.windows(2).map(|w| (w[0] / w[1]).log2()).collect()
}

#[test]
fn smooth_motion_of_a_closed_loop_is_second_order() {
    // A four-bar linkage, and the same motion observed at the crank.
    let angle = |h: f64| {
        let mut m = Mechanism::new("four-bar");
        let rod = |l: f64| MassProperties::principal(1.0, [0.5 * l, 0.0, 0.0], [0.01, 0.1, 0.1]);
        let crank = m.revolute(GROUND, Axis::Z, [0.0; 3], rod(0.3));
        let coupler = m.revolute(crank, Axis::Z, [0.3, 0.0, 0.0], rod(0.9));
        let rocker = m.revolute(GROUND, Axis::Z, [0.8, 0.0, 0.0], rod(0.7));
        m.start(m.coordinate(crank, 0), 1.0);
        m.start_velocity(m.coordinate(crank, 0), 2.0);
        m.guess(m.coordinate(rocker, 0), 1.5);
        let ends = (Marker::at(coupler, [0.9, 0.0, 0.0]), Marker::at(rocker, [0.7, 0.0, 0.0]));
        m.close_loop("pin", Cut::Pin, ends.0, ends.1);
        let mut scene = Scene::builder();
        scene.add_mechanism(m);
        scene.gravity([0.0, -9.81, 0.0]);
        let mut run = Simulation::new(scene.build().unwrap(), GeneralizedAlpha::new(h)).unwrap();
        let report = run.until(0.5, &mut ()).unwrap();
        assert!(report.loop_residual < 1e-12, "{:e}", report.loop_residual);
        run.state().mechanisms[0].q[0]
    };
    let found = orders(angle, &[1e-2, 5e-3, 2.5e-3]);
    assert!(found.iter().all(|o| (o - 2.0).abs() < 0.15), "{found:?}");
}

#[test]
fn a_tumbling_body_is_second_order() {
    let tilt = |h: f64| {
        let rock = Material::new("rock").density(2700.0);
        let mut scene = Scene::builder();
        let brick = BodyDescription::new(Shape::cuboid([0.1, 0.2, 0.35]).unwrap(), &rock);
        let brick = scene.add(brick.spin([3.0, 0.4, -1.0]), &rock);
        scene.gravity([0.0; 3]);
        let mut run = Simulation::new(scene.build().unwrap(), GeneralizedAlpha::new(h)).unwrap();
        run.until(1.0, &mut ()).unwrap();
        run.pose(brick).vector(Vec3::x()).z
    };
    let found = orders(tilt, &[1e-2, 5e-3, 2.5e-3]);
    assert!(found.iter().all(|o| (o - 2.0).abs() < 0.15), "{found:?}");
}

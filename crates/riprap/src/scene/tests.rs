//! Integration of poses on their manifold, frames of shapes, and inverse inertias with locked
//! directions.

use super::fixtures::*;
use super::*;
use crate::math::fixtures::{pose, rotation, seeded, vector};
use crate::math::{Mat3, Quat};
use crate::shape::MassProperties;

/// A scene of `n` boxes with their origins at a corner, far apart.
fn boxes(n: usize) -> Scene {
    let corner = [Vec3::zeros(), Vec3::x() * 0.1, Vec3::y() * 0.2, Vec3::z() * 0.3];
    let shape = Shape::hull(&corner).unwrap();
    let mut scene = Scene::builder();
    for k in 0..n {
        let body = BodyDescription::new(shape.clone(), &rock());
        scene.add(body.at([2.0 * k as f64, 0.0, 0.0]), &rock());
    }
    scene.build().unwrap()
}

#[test]
fn integration_translates_and_rotates_about_world_axes() {
    let (scene, mut rng) = (boxes(1), seeded(121));
    for _ in 0..50 {
        let (q, dt) = (pose(&mut rng, 1.0), 0.3);
        let v = Twist { linear: vector(&mut rng, 2.0), angular: vector(&mut rng, 4.0) };
        let mut out = Vec::new();
        scene.integrate(&[q], &[v], dt, &mut out);
        assert_eq!(out[0].position, q.position + v.linear * dt);
        let expected = Quat::from_scaled_axis(v.angular * dt) * q.rotation;
        assert!((out[0].rotation.coords - expected.coords).norm() < 1e-14);
        // Backwards, and in two halves.
        let mut back = Vec::new();
        scene.integrate(&out, &[v], -dt, &mut back);
        assert!((back[0].rotation.coords - q.rotation.coords).norm() < 1e-14);
        scene.integrate(&[q], &[v], 0.5 * dt, &mut back);
        let half = back.clone();
        scene.integrate(&half, &[v], 0.5 * dt, &mut back);
        assert!((back[0].rotation.coords - expected.coords).norm() < 1e-14);
    }
}

#[test]
fn a_body_that_does_not_rotate_keeps_its_rotation_exactly() {
    let scene = boxes(1);
    // Not quite a unit quaternion, so that renormalizing would be visible.
    let rotation = Quat::new_unchecked(nalgebra::Quaternion::new(1.0 + 1e-9, 0.0, 0.0, 0.0));
    let q = Pose { rotation, ..Pose::IDENTITY };
    let mut out = Vec::new();
    scene.integrate(&[q], &[Twist { linear: Vec3::x(), ..Twist::default() }], 1.0, &mut out);
    assert_eq!(out[0].rotation, rotation);
}

#[test]
fn the_frame_of_a_shape_moves_with_its_body() {
    let (scene, mut rng) = (boxes(2), seeded(122));
    let mut state = scene.initial_state();
    for _ in 0..20 {
        state.q[1] = pose(&mut rng, 3.0);
        state.v[1] = Twist { linear: vector(&mut rng, 2.0), angular: vector(&mut rng, 2.0) };
        let h = 1e-6;
        let moved = |h: f64| {
            let mut later = state.clone();
            scene.integrate(&state.q, &state.v, h, &mut later.q);
            scene.shape_pose(&later, Body(1)).position
        };
        let rate = (moved(h) - moved(-h)) / (2.0 * h);
        assert!((rate - scene.shape_velocity(&state, Body(1))).norm() < 1e-8);
        // The centre of mass is consistent with the frame.
        let centre = scene.bodies().centre[1];
        let frame = scene.shape_pose(&state, Body(1));
        assert!((frame.point(centre) - state.q[1].position).norm() < 1e-14);
    }
}

/// One body with a random inertia and some rotations locked.
fn locked(locks: [bool; 3]) -> Bodies {
    let m = MassProperties::principal(2.0, [0.0; 3], [0.3, 0.4, 0.5]);
    let mut body = ball("stone", [0.0; 3]).mass(2.0);
    body.inertia = Some(m.moved(&pose(&mut seeded(123), 1.0)).inertia);
    body.locks = Locks([false, false, false, locks[0], locks[1], locks[2]]);
    let mut scene = Scene::builder();
    scene.add(body, &rock());
    scene.build().unwrap().bodies().clone()
}

#[test]
fn a_free_inertia_and_its_inverse_cancel_in_any_pose() {
    let (bodies, mut rng) = (locked([false; 3]), seeded(124));
    for _ in 0..20 {
        let r = rotation(&mut rng);
        let product = bodies.inertia_w(0, &r) * bodies.inverse_inertia_w(0, &r);
        assert!((product - Mat3::identity()).norm() < 1e-13);
    }
}

#[test]
fn locked_axes_do_not_rotate_and_the_others_respond_as_if_held_by_bearings() {
    let mut rng = seeded(125);
    for pattern in 1..8 {
        let locks: [bool; 3] = std::array::from_fn(|k| pattern >> k & 1 == 1);
        let bodies = locked(locks);
        let r = rotation(&mut rng);
        let (inertia, inverse) = (bodies.inertia_w(0, &r), bodies.inverse_inertia_w(0, &r));
        let torque = vector(&mut rng, 1.0);
        let spin = inverse * torque;
        let back = inertia * spin;
        for k in 0..3 {
            if locks[k] {
                assert_eq!(spin[k], 0.0, "no rotation about a locked axis");
            } else {
                // Bearings exert moments only about the locked axes.
                assert!((back[k] - torque[k]).abs() < 1e-13, "{pattern}: {back} {torque}");
            }
        }
    }
}

#[test]
fn bodies_are_found_by_name() {
    let scene = ball_on_floor().build().unwrap();
    assert_eq!(scene.body("ball"), Some(Body(1)));
    assert_eq!(scene.body("body-1"), Some(Body(0)), "the floor is named by its index");
    assert_eq!(scene.body("cheese"), None);
    assert_eq!(scene.mechanism("crane"), None);
    assert!(matches!(scene.shape(Body(1)), Shape::Sphere { .. }));
    assert!(!scene.bodies().is_empty());
}

#[test]
fn locks_are_combined() {
    let a = Locks([true, false, false, false, false, false]);
    assert_eq!(a.union(Locks::NONE), a);
    assert_eq!(a.union(Locks::PLANAR), Locks([true, false, true, true, true, false]));
    assert_eq!(a.union(a), a);
}

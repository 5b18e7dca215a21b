//! Modes of pendulums, oscillators and tops, against their closed forms.

use super::*;
use crate::math::Pose;
use crate::multibody::{Axis, GROUND, Joint, JointMotion, JointSpring, Mechanism, MultibodyState};
use crate::shape::MassProperties;

const G: f64 = 9.81;

fn modes(m: &Mechanism, gravity: [f64; 3]) -> Modes {
    let system = m.build(gravity).expect("the mechanism is sound");
    modes_at(&system, system.start())
}

fn modes_at(system: &Multibody, state: &MultibodyState) -> Modes {
    let modes = system.modes(state, 0.0, &mut system.scratch());
    modes.unwrap_or_else(|error| panic!("{error}"))
}

fn close(a: f64, b: f64) {
    // Differences of fourth order.
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1e-3), "{a} is not {b}");
}

fn bob(length: f64) -> MassProperties {
    MassProperties::point(2.0, [0.0, 0.0, -length])
}

#[test]
fn a_pendulum_swings_with_the_root_of_g_over_its_length() {
    let mut m = Mechanism::new("pendulum");
    let arm = m.revolute(GROUND, Axis::Y, [0.0; 3], bob(0.7));
    let found = modes(&m, [0.0, 0.0, -G]);
    assert_eq!(found.modes.len(), 1);
    close(found.modes[0].frequency(), (G / 0.7).sqrt() / TAU);
    assert!(found.modes[0].damping_ratio().abs() < 1e-12);
    assert!(!found.modes[0].is_unstable());
    close(found.stiffness[(0, 0)], 2.0 * G * 0.7);
    close(found.mass[(0, 0)], 2.0 * 0.49);
    assert_eq!(found.acceleration, 0.0);
    // On its head: one way back, one away.
    m.start(m.coordinate(arm, 0), std::f64::consts::PI);
    let found = modes(&m, [0.0, 0.0, -G]).modes;
    assert!(found.iter().all(|m| m.kind == ModeKind::Real));
    let mut poles: Vec<f64> = found.iter().map(|m| m.pole.re).collect();
    poles.sort_by(f64::total_cmp);
    close(poles[0], -(G / 0.7).sqrt());
    close(poles[1], (G / 0.7).sqrt());
    assert_eq!(found.iter().filter(|m| m.is_unstable()).count(), 1);
}

#[test]
fn a_double_pendulum_has_the_two_frequencies_of_its_closed_form() {
    let mut m = Mechanism::new("double");
    let upper = m.revolute(GROUND, Axis::Y, [0.0; 3], bob(1.0));
    m.revolute(upper, Axis::Y, [0.0, 0.0, -1.0], bob(1.0));
    let found = modes(&m, [0.0, 0.0, -G]).modes;
    // Equal masses and lengths: ω² = (2 ∓ √2) g/L; absolute angles 1 : ±√2, so relative ones 1 : ±√2 − 1.
    for (mode, sign) in found.iter().zip([-1.0, 1.0]) {
        close(mode.frequency(), ((2.0 + sign * 2.0_f64.sqrt()) * G).sqrt() / TAU);
        let ratio = mode.shape[1] / mode.shape[0];
        close(ratio.re, -sign * 2.0_f64.sqrt() - 1.0);
        assert!(ratio.im.abs() < 1e-9);
        let largest = mode.shape.iter().map(|x| x.norm()).fold(0.0, f64::max);
        close(largest, 1.0);
    }
}

#[test]
fn a_damped_oscillator_has_its_ratio_and_splits_beyond_one() {
    for ratio in [0.0, 0.05, 0.7, 2.0] {
        let (mass, stiffness) = (3.0_f64, 1200.0_f64);
        let damping = 2.0 * ratio * (mass * stiffness).sqrt();
        let mut m = Mechanism::new("oscillator");
        let point = MassProperties::point(mass, [0.0; 3]);
        let slider = m.prismatic(GROUND, Axis::X, [0.0; 3], point);
        m.spring(m.coordinate(slider, 0), JointSpring { stiffness, rest: 0.0, damping });
        let found = modes(&m, [0.0; 3]);
        close(found.damping[(0, 0)], damping);
        let found = found.modes;
        if ratio < 1.0 {
            assert_eq!((found.len(), found[0].kind), (1, ModeKind::Oscillation));
            close(found[0].frequency(), 20.0 / TAU);
            close(found[0].damping_ratio(), ratio);
            close(found[0].decay(), 20.0 * ratio);
            close(found[0].damped_frequency(), 20.0 * (1.0 - ratio * ratio).sqrt() / TAU);
        } else {
            assert_eq!((found.len(), found[0].kind), (2, ModeKind::Real));
            let root = (ratio * ratio - 1.0).sqrt();
            close(found[0].decay(), 20.0 * (ratio - root));
            close(found[1].decay(), 20.0 * (ratio + root));
        }
    }
}

#[test]
fn what_nothing_holds_is_a_rigid_motion() {
    let mut m = Mechanism::new("stone");
    let stone = MassProperties::principal(2.0, [0.1, 0.2, 0.3], [0.1, 0.2, 0.25]);
    m.add("stone", GROUND, Joint::Free, Pose::IDENTITY, Some(stone));
    let found = modes(&m, [0.0; 3]).modes;
    assert_eq!(found.len(), 6);
    assert!(found.iter().all(|m| m.kind == ModeKind::Rigid && m.frequency() == 0.0));
    // A wheel in a bearing that drags, beside a stiff spring.
    let mut m = Mechanism::new("wheel");
    let slide = MassProperties::point(1.0, [0.0; 3]);
    let slide = m.prismatic(GROUND, Axis::X, [0.0; 3], slide);
    let stiff = JointSpring { stiffness: 1e8, rest: 0.3, damping: 10.0 };
    m.spring(m.coordinate(slide, 0), stiff);
    let wheel = MassProperties::principal(1.0, [0.0; 3], [0.1; 3]);
    let wheel = m.revolute(slide, Axis::Y, [0.0; 3], wheel);
    let drag = JointSpring { stiffness: 0.0, rest: 0.0, damping: 0.02 };
    m.spring(m.coordinate(wheel, 0), drag);
    let found = modes(&m, [0.0, 0.0, -G]).modes;
    let kinds: Vec<ModeKind> = found.iter().map(|m| m.kind).collect();
    assert_eq!(kinds, [ModeKind::Rigid, ModeKind::Real, ModeKind::Oscillation]);
    close(found[1].decay(), 0.2);
    close(found[2].frequency(), (1e8_f64 / 2.0).sqrt() / TAU);
    assert!((found[0].shape[1].re, found[0].shape[0].norm()) == (1.0, 0.0));
}

#[test]
fn equal_poles_have_shapes_of_their_own() {
    let mut m = Mechanism::new("pendulums");
    for k in 0..3 {
        m.revolute(GROUND, Axis::Y, [k as f64, 0.0, 0.0], bob(0.5));
    }
    let found = modes(&m, [0.0, 0.0, -G]).modes;
    let shapes = DMatrix::from_fn(3, 3, |i, k| found[k].shape[i]);
    let volume = shapes.determinant().norm();
    assert!(volume > 0.1, "{shapes}");
}

#[test]
fn a_spinning_top_nutates() {
    // Free of torque, about its axis at Ω: in the body frame the rate is Ω (C − A)/A; displacements seen from the body turn
    // at Ω as well.
    let (a, c, spin) = (0.2, 0.3, 40.0);
    let mut m = Mechanism::new("top");
    let body = MassProperties::principal(1.0, [0.0; 3], [a, a, c]);
    let top = m.add("top", GROUND, Joint::Spherical, Pose::IDENTITY, Some(body));
    m.start_velocity(m.coordinate(top, 2), spin);
    let found = modes(&m, [0.0; 3]).modes;
    let swing: Vec<f64> = found
        .iter()
        .filter(|m| m.kind == ModeKind::Oscillation)
        .map(|m| m.frequency() * TAU)
        .collect();
    assert_eq!(swing.len(), 2, "{found:?}");
    close(swing[0], spin * (c - a) / a);
    close(swing[1], spin);
}

#[test]
fn prescribed_joints_take_no_part() {
    let mut m = Mechanism::new("crane");
    let cart = m.prismatic(GROUND, Axis::X, [0.0; 3], MassProperties::point(9.0, [0.0; 3]));
    m.revolute(cart, Axis::Y, [0.0; 3], bob(1.3));
    let free = modes(&m, [0.0, 0.0, -G]).modes;
    assert_eq!(free[0].kind, ModeKind::Rigid);
    close(free[1].frequency(), (G / 1.3 * (11.0 / 9.0)).sqrt() / TAU);
    m.drive(m.coordinate(cart, 0), JointMotion::constant_speed(0.0, 2.0));
    let held = modes(&m, [0.0, 0.0, -G]).modes;
    assert_eq!(held.len(), 1);
    close(held[0].frequency(), (G / 1.3).sqrt() / TAU);
}

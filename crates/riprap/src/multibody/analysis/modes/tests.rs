//! Modes of pendulums, oscillators and tops, against their closed forms.

use super::*;
use crate::math::Pose;
use crate::multibody::{
    Axis, Cut, GROUND, Joint, JointMotion, JointSpring, Marker, Mechanism, MultibodyState,
    PointSpring,
};
use crate::shape::MassProperties;

const G: f64 = 9.81;

fn modes(m: &Mechanism, gravity: [f64; 3]) -> Modes {
    let system = m.build(gravity).expect("the mechanism is valid");
    modes_at(&system, system.start())
}

fn modes_at(system: &Multibody, state: &MultibodyState) -> Modes {
    let modes = system.modes(state, 0.0, &mut system.scratch());
    modes.unwrap_or_else(|error| panic!("{error}"))
}

fn close(a: f64, b: f64) {
    // Fourth-order differences.
    assert!((a - b).abs() <= 1e-9 * b.abs().max(1e-3), "{a} is not {b}");
}

fn bob(length: f64) -> MassProperties {
    MassProperties::point(2.0, [0.0, 0.0, -length])
}

#[test]
fn a_pendulum_oscillates_at_the_square_root_of_g_over_its_length() {
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
    // Inverted: one mode returns, one diverges.
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
fn a_damped_oscillator_has_its_damping_ratio_and_two_real_poles_beyond_one() {
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
fn a_coordinate_without_stiffness_is_a_rigid_motion() {
    let mut m = Mechanism::new("stone");
    let stone = MassProperties::principal(2.0, [0.1, 0.2, 0.3], [0.1, 0.2, 0.25]);
    m.add("stone", GROUND, Joint::Free, Pose::IDENTITY, Some(stone));
    let found = modes(&m, [0.0; 3]).modes;
    assert_eq!(found.len(), 6);
    assert!(found.iter().all(|m| m.kind == ModeKind::Rigid && m.frequency() == 0.0));
    // A wheel in a bearing with drag, next to a stiff spring.
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
fn equal_poles_have_distinct_shapes() {
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
    // Torque-free, spinning about its axis at Ω: in the body frame the nutation rate is Ω (C −
    // A)/A; displacements seen from the body rotate at Ω as well.
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
fn prescribed_joints_do_not_take_part() {
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

/// A chain of equal masses between equal springs along x; `walls` of 0, 1 or 2 hold its ends. Each
/// mass slides on the previous one, so that the coordinates are the elongations of the springs.
fn chain(n: usize, walls: usize, damping: f64) -> Mechanism {
    let mut m = Mechanism::new("chain");
    let mass = || MassProperties::point(0.5, [0.0; 3]);
    let spring = JointSpring { stiffness: 800.0, rest: 0.0, damping };
    let mut on = GROUND;
    for k in 0..n {
        on = m.prismatic(on, Axis::X, [0.1, 0.0, 0.0], mass());
        if k > 0 || walls > 0 {
            m.spring(m.coordinate(on, 0), spring);
        }
    }
    if walls == 2 {
        let (last, wall) = (Marker::at(on, [0.0; 3]), Marker::at(GROUND, [5.0, 0.0, 0.0]));
        let length = 5.0 - 0.1 * n as f64;
        let line = PointSpring::Line { stiffness: 800.0, damping, length };
        m.point_spring("last", line, wall, last);
    }
    m
}

/// √(k/m) of the chain [rad/s].
const OMEGA: f64 = 40.0;

#[test]
fn a_chain_of_masses_and_springs_has_the_frequencies_of_its_closed_form() {
    use std::f64::consts::PI;
    let n = 7;
    for walls in 0..3 {
        let found = modes(&chain(n, walls, 0.0), [0.0; 3]).modes;
        assert_eq!(found.len(), n);
        for (k, mode) in found.iter().enumerate() {
            let k = k as f64;
            // Half the phase shift from one mass to the next.
            let phase = match walls {
                0 => PI * k / (2 * n) as f64,
                1 => PI * (2.0 * k + 1.0) / (2 * (2 * n + 1)) as f64,
                _ => PI * (k + 1.0) / (2 * (n + 1)) as f64,
            };
            close(mode.frequency() * TAU, 2.0 * OMEGA * phase.sin());
        }
        assert_eq!(found[0].kind == ModeKind::Rigid, walls == 0);
        if walls == 2 {
            // Displacements are sums of elongations: sines between the walls.
            for (k, mode) in found.iter().enumerate() {
                let mut at = Complex::new(0.0, 0.0);
                let shape: Vec<f64> = mode
                    .shape
                    .iter()
                    .map(|stretch| {
                        at += stretch;
                        at.re
                    })
                    .collect();
                let sine = |i: usize| (PI * ((i + 1) * (k + 1)) as f64 / (n + 1) as f64).sin();
                let scale = shape[0] / sine(0);
                for (i, x) in shape.iter().enumerate() {
                    assert!((x - scale * sine(i)).abs() < 1e-7 * scale.abs(), "{k}: {shape:?}");
                }
            }
        }
    }
}

#[test]
fn stiffness_proportional_damping_grows_with_the_frequency() {
    let (n, damping) = (5, 0.8);
    let plain = modes(&chain(n, 2, 0.0), [0.0; 3]).modes;
    let damped = modes(&chain(n, 2, damping), [0.0; 3]).modes;
    for (a, b) in plain.iter().zip(&damped) {
        let omega = a.frequency() * TAU;
        close(b.frequency() * TAU, omega);
        // C = β K with β = d/k: ζ = β ω/2.
        close(b.damping_ratio(), 0.5 * damping / 800.0 * omega);
    }
}

#[test]
fn the_matrices_are_those_of_the_chain() {
    let n = 3;
    let found = modes(&chain(n, 1, 0.6), [0.0; 3]);
    // In terms of elongations: K and C are diagonal, M_ij is the total mass beyond the farther of
    // the two springs.
    for i in 0..n {
        for j in 0..n {
            let diagonal = f64::from(u8::from(i == j));
            close(found.mass[(i, j)], 0.5 * (n - i.max(j)) as f64);
            assert!((found.stiffness[(i, j)] - 800.0 * diagonal).abs() < 1e-6);
            assert!((found.damping[(i, j)] - 0.6 * diagonal).abs() < 1e-9);
        }
    }
}

#[test]
fn modes_of_a_closed_mechanism_are_those_of_its_single_degree_of_freedom() {
    // A parallelogram of nearly massless rods with a mass on the coupler: it swings like a pendulum
    // of the crank's length.
    let mut m = Mechanism::new("swing");
    let hinge = Joint::Revolute(Axis::Y);
    let light = || Some(MassProperties::point(1e-9, [0.0, 0.0, -0.4]));
    let crank = m.add("crank", GROUND, hinge, Pose::IDENTITY, light());
    let seat = Some(MassProperties::principal(3.0, [0.35, 0.0, -0.2], [0.1; 3]));
    let seat = m.add("seat", crank, hinge, Pose::at([0.0, 0.0, -0.8]), seat);
    let rocker = m.add("rocker", GROUND, hinge, Pose::at([1.0, 0.0, 0.0]), light());
    let (a, b) = (Marker::at(seat, [1.0, 0.0, 0.0]), Marker::at(rocker, [0.0, 0.0, -0.8]));
    m.close_loop("pin", Cut::Pin, a.along(Axis::Y), b.along(Axis::Y));
    let found = modes(&m, [0.0, 0.0, -G]).modes;
    assert_eq!(found.len(), 1);
    // The seat does not rotate: its inertia and its centre do not matter. Rods of 1e-9 kg change
    // the ninth digit.
    let expected = (G / 0.8).sqrt() / TAU;
    assert!((found[0].frequency() - expected).abs() < 1e-8 * expected);
    // The seat turns relative to the crank as much as the crank relative to the ground, in the
    // opposite direction.
    assert!((found[0].shape[0] + found[0].shape[1]).norm() < 1e-9);
    assert!((found[0].shape[0] - found[0].shape[2]).norm() < 1e-9);
}

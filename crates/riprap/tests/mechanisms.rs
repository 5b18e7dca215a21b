//! Mechanisms through the public interface: prescribed joints, redundant loops, changing
//! partitions, phases, and error messages.

use riprap::multibody::{
    Axis, Coordinate, Cut, GROUND, Joint, JointMotion, JointSpring, Link, Marker, Mechanism,
    Multibody, MultibodyState, Phase, Signal, SmoothReport, Until,
};
use riprap::prelude::*;
use riprap::shape::MassProperties;
use std::f64::consts::{PI, TAU};

const G: f64 = 9.81;

/// A flat bar in the x–y plane, along x, of 1 kg/m.
fn bar(length: f64) -> Option<MassProperties> {
    let moment = length.powi(3) / 12.0;
    let moments = [0.5 * moment, 0.5 * moment, moment];
    Some(MassProperties::principal(length, [0.5 * length, 0.0, 0.0], moments))
}

fn hinge(m: &mut Mechanism, name: &str, on: Link, at: [f64; 3], length: f64) -> Link {
    m.add(name, on, Joint::Revolute(Axis::Z), Pose::at(at), bar(length))
}

/// Lengths of the ground, the crank, the coupler and the rocker of a four-bar [m]. The crank can
/// rotate fully.
const BARS: [f64; 4] = [1.0, 0.35, 0.9, 0.7];

/// Bars of which none can rotate fully: each reaches dead points.
const ROCKERS: [f64; 4] = [1.0, 0.75, 0.8, 0.9];

/// A four-bar in the plane x–y, its crank at an angle; `cut` closes it between coupler and rocker.
fn four_bar(angle: f64, cut: Cut) -> Mechanism {
    four_bar_of(BARS, angle, cut)
}

fn four_bar_of([ground, a, b, c]: [f64; 4], angle: f64, cut: Cut) -> Mechanism {
    let mut m = Mechanism::new("four-bar");
    let crank = hinge(&mut m, "crank", GROUND, [0.0; 3], a);
    let coupler = hinge(&mut m, "coupler", crank, [a, 0.0, 0.0], b);
    let rocker = hinge(&mut m, "rocker", GROUND, [ground, 0.0, 0.0], c);
    m.close_loop(
        "joint",
        cut,
        Marker::at(coupler, [b, 0.0, 0.0]),
        Marker::at(rocker, [c, 0.0, 0.0]),
    );
    m.start(m.coordinate(crank, 0), angle);
    m.guess(m.coordinate(coupler, 0), 0.8 - angle);
    m.guess(m.coordinate(rocker, 0), 1.8);
    m
}

/// A crank of 0.3 m, a rod of 0.8 m, and a slider along x.
fn slider_crank(angle: f64) -> Mechanism {
    let mut m = Mechanism::new("slider-crank");
    let crank = hinge(&mut m, "crank", GROUND, [0.0; 3], 0.3);
    let rod = hinge(&mut m, "rod", crank, [0.3, 0.0, 0.0], 0.8);
    let mass = Some(MassProperties::point(0.5, [0.0; 3]));
    let slider = m.add("slider", GROUND, Joint::Prismatic(Axis::X), Pose::IDENTITY, mass);
    m.close_loop("pin", Cut::Pin, Marker::at(slider, [0.0; 3]), Marker::at(rod, [0.8, 0.0, 0.0]));
    m.start(m.coordinate(crank, 0), angle);
    m.guess(m.coordinate(rod, 0), -angle);
    m.guess(m.coordinate(slider, 0), 1.0);
    m
}

fn named(system: &Multibody, state: &MultibodyState, name: &str) -> (f64, f64) {
    let c = system.coordinate_named(name).unwrap();
    (state.q[system.q_of(c).unwrap()], state.v[c.0 as usize])
}

fn energy(system: &Multibody, state: &MultibodyState) -> f64 {
    let (kinetic, potential) = system.energy(&state.q, &state.v, &mut system.scratch());
    kinetic + potential
}

fn advance(
    system: &Multibody,
    state: &mut MultibodyState,
    span: (f64, f64),
    tolerance: f64,
) -> SmoothReport {
    let (mut s, mut w) = (Default::default(), system.scratch());
    system
        .advance(state, span.0, span.1, tolerance, &mut Default::default(), &mut s, &mut w)
        .unwrap_or_else(|e| panic!("{e}"))
}

/// Forces required by the drives at a state, and the velocities of the driven coordinates.
fn drives(system: &Multibody, state: &MultibodyState, t: f64) -> Vec<f64> {
    let mut w = system.scratch();
    let (mut q, mut v) = (state.q.clone(), state.v.clone());
    let partition = &state.partition;
    system.drive(t, &mut q);
    system.close(partition, t, &mut q, &mut w).unwrap();
    system.linearize(partition, t, &mut w).unwrap();
    system.expand(partition, t, &mut v, &mut w);
    system.dynamics((&q, &v), &state.control, partition, t, None, &mut w).unwrap();
    system.reactions(partition, &mut w);
    w.drive_forces().to_vec()
}

#[test]
fn the_drive_of_a_pendulum_reports_its_torque() {
    let (mass, arm, moment) = (2.0, 0.7, 0.3);
    let mut m = Mechanism::new("pendulum");
    let body = MassProperties::principal(mass, [0.0, -arm, 0.0], [0.1, 0.2, moment]);
    let arm_link = m.revolute(GROUND, Axis::Z, [0.0; 3], body);
    let motion = |t: f64| [0.8 * (3.0 * t).sin(), 2.4 * (3.0 * t).cos(), -7.2 * (3.0 * t).sin()];
    m.drive(m.coordinate(arm_link, 0), JointMotion::new(motion));
    let system = m.build([0.0, -G, 0.0]).unwrap();
    for t in [0.0, 0.3, 1.1] {
        let [q, _, a] = motion(t);
        let torque = (moment + mass * arm * arm) * a + mass * G * arm * q.sin();
        let found = drives(&system, system.start(), t)[0];
        assert!((found - torque).abs() < 1e-12 * torque.abs().max(1.0), "{found} {torque}");
    }
}

#[test]
fn the_drive_force_of_a_slider_obeys_newton() {
    // A crank that rotates on a slider moved as x(t): the force is the rate of momentum along x.
    let mut m = Mechanism::new("shaker");
    let cart = MassProperties::point(3.0, [0.0; 3]);
    let cart = m.prismatic(GROUND, Axis::X, [0.0; 3], cart);
    let pendulum =
        m.revolute(cart, Axis::Z, [0.0; 3], MassProperties::point(1.5, [0.0, -0.4, 0.0]));
    let motion = |t: f64| [0.1 * (9.0 * t).sin(), 0.9 * (9.0 * t).cos(), -8.1 * (9.0 * t).sin()];
    m.drive(m.coordinate(cart, 0), JointMotion::new(motion));
    m.start(m.coordinate(pendulum, 0), 0.5);
    let system = m.build([0.0, -G, 0.0]).unwrap();
    let mut state = system.start().clone();
    let mut t = 0.0;
    for _ in 0..5 {
        advance(&system, &mut state, (t, t + 0.2), 1e-11);
        t += 0.2;
        let (q, v) = named(&system, &state, "link-2");
        let a = motion(t)[2];
        // m l² q̈ = −m l (g sin q + a cos q), p = (M + m) ẋ + m l q̇ cos q.
        let turning = -(G * q.sin() + a * q.cos()) / 0.4;
        let expected = 4.5 * a + 1.5 * 0.4 * (turning * q.cos() - v * v * q.sin());
        let found = drives(&system, &state, t)[0];
        assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{found} {expected}");
    }
}

#[test]
fn the_power_of_a_drive_is_the_rate_of_energy_of_a_closed_mechanism() {
    for (mut m, gravity) in [
        (four_bar(0.4, Cut::Pin), [0.0, -G, 0.0]),
        (four_bar(0.4, Cut::Hinge), [0.0, -G, 0.0]),
        (slider_crank(0.4), [0.0, -G, 0.0]),
    ] {
        let crank = m.coordinate_named("crank").unwrap();
        let motion = |t: f64| [0.4 + 5.0 * t + 0.5 * t * t, 5.0 + t, 1.0];
        m.drive(crank, JointMotion::new(motion));
        let system = m.build(gravity).unwrap();
        assert_eq!(system.degrees_of_freedom(&system.start().partition), 0);
        let mut state = system.start().clone();
        let mut t = 0.0;
        for _ in 0..8 {
            advance(&system, &mut state, (t, t + 0.15), 1e-11);
            t += 0.15;
            let power = drives(&system, &state, t)[0] * motion(t)[1];
            let at = |dt: f64| {
                let mut state = state.clone();
                advance(&system, &mut state, (t, t + dt), 1e-11);
                energy(&system, &state)
            };
            let h = 1e-4;
            let rate = (at(h) - energy(&system, &state)) / h;
            let back = (at(2.0 * h) - energy(&system, &state)) / (2.0 * h);
            // First-order one-sided differences, extrapolated to second order: h² times jerks near
            // 1e3.
            let rate = 2.0 * rate - back;
            assert!((power - rate).abs() < 1e-4 * power.abs().max(1.0), "{power} {rate}");
        }
    }
}

#[test]
fn a_planar_loop_closed_by_a_spatial_hinge_has_three_redundant_equations() {
    let gravity = [0.0, -G, 0.0];
    let pin = four_bar(0.4, Cut::Pin).build(gravity).unwrap();
    let hinge = four_bar(0.4, Cut::Hinge).build(gravity).unwrap();
    let partition = &hinge.start().partition;
    assert_eq!((hinge.n_equations(), partition.rows.len(), partition.redundant.len()), (5, 2, 3));
    assert_eq!(hinge.degrees_of_freedom(partition), 1);
    let names: Vec<String> =
        partition.redundant.iter().map(|r| hinge.equation_name(*r as usize)).collect();
    assert_eq!(names, ["joint: z", "joint: tilt x", "joint: tilt y"]);
    let (mut a, mut b) = (pin.start().clone(), hinge.start().clone());
    for k in 0..10 {
        let span = (0.1 * f64::from(k), 0.1 * f64::from(k + 1));
        advance(&pin, &mut a, span, 1e-10);
        advance(&hinge, &mut b, span, 1e-10);
        for (x, y) in a.q.iter().zip(&b.q).chain(a.v.iter().zip(&b.v)) {
            assert!((x - y).abs() < 1e-12 * (1.0 + x.abs()), "{x} {y}");
        }
    }
}

/// Integrates a mechanism for a while; returns how far the crank turned [rad] and how often the
/// partition changed.
fn move_on(m: &Mechanism, speed: f64, time: f64) -> (f64, usize) {
    let mut m = m.clone();
    m.start_velocity(m.coordinate_named("crank").unwrap(), speed);
    let system = m.build([0.0; 3]).unwrap();
    let mut state = system.start().clone();
    let before = energy(&system, &state);
    let (mut s, mut w, mut history) = (Default::default(), system.scratch(), Default::default());
    let (mut changes, mut turned, n) = (0, 0.0_f64, 1000);
    for k in 0..n {
        let at = |k: i32| time * f64::from(k) / f64::from(n);
        let old = state.clone();
        let report = system
            .advance(&mut state, at(k), at(k + 1), 1e-11, &mut history, &mut s, &mut w)
            .unwrap();
        assert!(report.loop_residual < 1e-11);
        assert!(system.loop_residual(&state.q, &mut w) < 1e-11);
        // Positions follow the velocities: no jump to another branch. Accelerations reach 1e3
        // rad/s².
        for c in 0..3 {
            let mean = 0.5 * (old.v[c] + state.v[c]);
            let jump = state.q[c] - old.q[c] - mean * (at(k + 1) - at(k));
            assert!(jump.abs() < 1e-2, "{c} jumps by {jump:.1e} at {}", at(k));
        }
        turned = turned.max((state.q[0] - system.start().q[0]).abs());
        changes += usize::from(old.partition.dependent != state.partition.dependent);
    }
    let drift = (energy(&system, &state) - before).abs() / before;
    assert!(drift < 1e-8, "energy {drift:.1e}");
    (turned, changes)
}

#[test]
fn cranks_rotate_fully_with_energy_conserved_and_loops_closed() {
    for angle in [0.4, 1.5, -2.0] {
        assert!(move_on(&four_bar(angle, Cut::Pin), 6.0, 3.0).0 > TAU);
        assert!(move_on(&four_bar(angle, Cut::Hinge), -6.0, 3.0).0 > TAU);
        assert!(move_on(&slider_crank(angle), 6.0, 3.0).0 > TAU);
    }
}

#[test]
fn the_partition_changes_at_dead_points_without_a_jump() {
    for (angle, speed) in [(0.9, 3.0), (1.3, -4.0), (1.3, 5.0)] {
        let (_, changes) = move_on(&four_bar_of(ROCKERS, angle, Cut::Pin), speed, 8.0);
        assert!(changes >= 4, "{changes}");
    }
}

fn message(m: &Mechanism) -> String {
    m.build([0.0, -G, 0.0]).expect_err("the mechanism cannot be built").to_string()
}

fn says(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in: {message}");
    }
}

#[test]
fn a_loop_that_cannot_close_is_reported_at_the_start() {
    let mut m = Mechanism::new("press");
    let a = hinge(&mut m, "a", GROUND, [0.0; 3], 0.3);
    let b = hinge(&mut m, "b", GROUND, [1.0, 0.0, 0.0], 0.3);
    let (a, b) = (Marker::at(a, [0.3, 0.0, 0.0]), Marker::at(b, [0.3, 0.0, 0.0]));
    m.close_loop("knee", Cut::Pin, a, b);
    m.guess(m.coordinate_named("a").unwrap(), 1.0);
    // 0.4 m are missing.
    says(&message(&m), &["`press`", "`knee`", "4.0e-1", "frames and lengths", "start values"]);
}

#[test]
fn a_loop_that_opens_during_the_motion_is_reported_with_its_name_and_time() {
    // The driven crank is longer than the other two bars can follow.
    let mut m = Mechanism::new("press");
    let crank = hinge(&mut m, "crank", GROUND, [0.0; 3], 1.0);
    let rod = hinge(&mut m, "rod", crank, [1.0, 0.0, 0.0], 1.0);
    let rocker = hinge(&mut m, "rocker", GROUND, [1.5, 0.0, 0.0], 0.8);
    let (a, b) = (Marker::at(rod, [1.0, 0.0, 0.0]), Marker::at(rocker, [0.8, 0.0, 0.0]));
    m.close_loop("knee", Cut::Pin, a, b);
    m.drive(m.coordinate(crank, 0), JointMotion::constant_speed(0.5, 2.0));
    m.guess(m.coordinate(rod, 0), 0.3);
    m.guess(m.coordinate(rocker, 0), 1.5);
    let system = m.build([0.0, -G, 0.0]).unwrap();
    let mut state = system.start().clone();
    let (mut s, mut w) = (Default::default(), system.scratch());
    let error = system
        .advance(&mut state, 0.0, 2.0, 1e-8, &mut Default::default(), &mut s, &mut w)
        .unwrap_err();
    let text = error.to_string();
    says(&text, &["`press`", "`knee`", "t = ", "singular position", "dt"]);
    // The rods are stretched at the end of the range: 1.8 m between crank pin and (1.5, 0).
    let end: f64 = ((1.0_f64 + 1.5 * 1.5 - 1.8 * 1.8) / 3.0).acos();
    let time: f64 = text.split("t = ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
    assert!((time - (end - 0.5) / 2.0).abs() < 1e-3, "{text}");
    assert_eq!(&state, system.start(), "a failed interval leaves the state unchanged");
}

#[test]
fn the_end_of_a_chain_needs_a_mass() {
    let mut m = Mechanism::new("arm");
    let upper = hinge(&mut m, "upper", GROUND, [0.0; 3], 1.0);
    m.add("lower", upper, Joint::Revolute(Axis::Z), Pose::at([1.0, 0.0, 0.0]), None);
    says(&message(&m), &["`arm`", "`lower`", "t = 0", "mass", "prescribe"]);
    // A mass on the axis of the joint does not help either.
    let lower = m.link_named("lower").unwrap();
    m.set_mass(lower, Some(MassProperties::point(1.0, [0.0; 3])));
    says(&message(&m), &["`arm`", "`lower`"]);
    m.set_mass(lower, Some(MassProperties::point(1.0, [0.1, 0.0, 0.0])));
    assert!(m.build([0.0; 3]).is_ok());
}

#[test]
fn a_singular_start_is_reported() {
    // A parallelogram with all bars on one line: from here it may continue in two ways.
    let mut m = Mechanism::new("parallelogram");
    let crank = hinge(&mut m, "crank", GROUND, [0.0; 3], 0.5);
    let coupler = hinge(&mut m, "coupler", crank, [0.5, 0.0, 0.0], 1.0);
    let rocker = hinge(&mut m, "rocker", GROUND, [1.0, 0.0, 0.0], 0.5);
    let (a, b) = (Marker::at(coupler, [1.0, 0.0, 0.0]), Marker::at(rocker, [0.5, 0.0, 0.0]));
    m.close_loop("window", Cut::Pin, a, b);
    for link in [crank, coupler, rocker] {
        m.start(m.coordinate(link, 0), 0.0);
    }
    says(&message(&m), &["`parallelogram`", "`window`", "singular", "start"]);
    m.start(m.coordinate(crank, 0), 0.3);
    m.start(m.coordinate(coupler, 0), -0.3);
    m.start(m.coordinate(rocker, 0), 0.3);
    assert!(m.build([0.0; 3]).is_ok());
}

#[test]
fn an_invalid_choice_of_dependent_joints_is_reported_with_a_valid_one() {
    let mut m = four_bar(0.4, Cut::Pin);
    m.dependent(&[Coordinate(0)]);
    says(&message(&m), &["`four-bar`", "names 1", "exactly 2", "for example `"]);
    m.dependent(&[Coordinate(0), Coordinate(1), Coordinate(2)]);
    says(&message(&m), &["names 3", "exactly 2"]);
    m.dependent(&[Coordinate(1), Coordinate(2)]);
    let system = m.build([0.0; 3]).unwrap();
    let mut dependent = system.start().partition.dependent.clone();
    dependent.sort_unstable();
    assert_eq!(dependent, [1, 2]);
    m.drive(Coordinate(1), JointMotion::constant_speed(0.0, 1.0));
    says(&message(&m), &["`coupler`", "prescribed"]);
}

#[test]
fn named_dependent_joints_that_the_loops_do_not_determine_are_reported() {
    // The loop is on the first two of three joints; the hand moves freely.
    let mut m = four_bar(0.4, Cut::Pin);
    let hand = hinge(&mut m, "hand", Link(2), [0.7, 0.0, 0.0], 0.2);
    let c = m.coordinate(hand, 0);
    m.dependent(&[Coordinate(1), c]);
    says(&message(&m), &["names 2", "determine 1", "exactly 2", "for example `"]);
}

#[test]
fn start_velocities_that_contradict_the_loops_are_reported() {
    let mut m = four_bar(0.4, Cut::Pin);
    m.start_velocity(Coordinate(0), 1.0);
    let system = m.build([0.0; 3]).unwrap();
    let consistent = system.start().v.clone();
    m.start_velocity(Coordinate(1), consistent[1]);
    m.start_velocity(Coordinate(2), consistent[2]);
    assert_eq!(m.build([0.0; 3]).unwrap().start().v.len(), 3);
    m.start_velocity(Coordinate(2), consistent[2] + 0.5);
    says(&message(&m), &["`four-bar`", "start velocity", "rad/s", "omit it"]);
}

/// A mass of 2 kg on a slide along x, with a force in phases.
fn slide(phases: impl FnOnce(&mut Mechanism) -> Vec<Phase>) -> (Multibody, MultibodyState) {
    let mut m = Mechanism::new("slide");
    let cart = m.prismatic(GROUND, Axis::X, [0.0; 3], MassProperties::point(2.0, [0.0; 3]));
    let phases = phases(&mut m);
    m.actuate_in_phases("push", m.coordinate(cart, 0), phases);
    let system = m.build([0.0; 3]).unwrap();
    let state = system.start().clone();
    (system, state)
}

fn phase(value: f64, until: Option<Until>) -> Phase {
    Phase { latch: Vec::new(), values: vec![Signal::constant(value)], until }
}

#[test]
fn a_force_that_switches_at_a_position_switches_there() {
    // 4 N up to x = 1 m, then 6 N back: x = t² up to t = 1 s, then v = 2 − 3 (t − 1).
    let past = Until::Condition(Signal::new(|x| f64::from(u8::from(x.q[0] >= 1.0))));
    let (system, mut state) = slide(|_| vec![phase(4.0, Some(past)), phase(-6.0, None)]);
    advance(&system, &mut state, (0.0, 1.5), 1e-9);
    assert_eq!(state.control.phase, [1]);
    assert!((state.q[0] - (1.0 + 2.0 * 0.5 - 1.5 * 0.25)).abs() < 1e-6, "{}", state.q[0]);
    assert!((state.v[0] - (2.0 - 3.0 * 0.5)).abs() < 1e-6, "{}", state.v[0]);
}

#[test]
fn a_force_that_switches_at_a_time_switches_exactly_then() {
    let (system, mut state) = slide(|_| {
        vec![
            phase(4.0, Some(Until::Time(0.7))),
            phase(0.0, Some(Until::Time(0.9))),
            phase(-2.0, None),
        ]
    });
    advance(&system, &mut state, (0.0, 2.0), 1e-9);
    let v = 1.4 - 1.1;
    let q = 0.49 + 1.4 * 0.2 + 1.4 * 1.1 - 0.5 * 1.1 * 1.1;
    assert!((state.v[0] - v).abs() < 1e-12 && (state.q[0] - q).abs() < 1e-12, "{:?}", state);
}

#[test]
fn a_phase_latches_values_as_it_starts() {
    // From 0.7 s on, a spring pulls towards the position of the mass at that time.
    let mut slot = 0;
    let (system, mut state) = slide(|m| {
        slot = m.latch_slot();
        let here = slot;
        let hold = Phase {
            latch: vec![(slot, Signal::new(|x| x.q[0]))],
            values: vec![Signal::new(move |x| -8.0 * (x.q[0] - x.latched[here]))],
            until: None,
        };
        vec![phase(4.0, Some(Until::Time(0.7))), hold]
    });
    advance(&system, &mut state, (0.0, 0.7 + PI / 4.0), 1e-10);
    assert!((state.control.latched[slot] - 0.49).abs() < 1e-12);
    // ω = 2 rad/s: a quarter of a period later it stops 1.4 m/s / ω further on.
    assert!((state.q[0] - 0.49 - 0.7).abs() < 1e-8 && state.v[0].abs() < 1e-8);
}

#[test]
fn the_last_phase_of_a_law_continues_even_past_its_end() {
    let always = Until::Condition(Signal::constant(1.0));
    for until in [always, Until::Time(0.1)] {
        let (system, mut state) = slide(|_| vec![phase(4.0, Some(until))]);
        let report = advance(&system, &mut state, (0.0, 1.0), 1e-9);
        assert!(report.steps < 100, "{report:?}");
        assert!((state.q[0] - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_mechanism_far_from_the_origin_moves_like_one_near_it() {
    let gravity = [0.0, -G, 0.0];
    let accelerations = |m: &Mechanism| {
        let system = m.build(gravity).unwrap();
        let (state, mut w) = (system.start(), system.scratch());
        system.tree().kinematics(&state.q, &mut w.tree);
        system.linearize(&state.partition, 0.0, &mut w).unwrap();
        system
            .dynamics((&state.q, &state.v), &state.control, &state.partition, 0.0, None, &mut w)
            .unwrap();
        w.acceleration().to_vec()
    };
    for mut m in [four_bar(0.4, Cut::Hinge), slider_crank(1.0)] {
        m.start_velocity(Coordinate(0), 3.0);
        m.spring(Coordinate(0), JointSpring { stiffness: 10.0, rest: 0.2, damping: 1.0 });
        let near = accelerations(&m);
        m.base = Pose::at([1e4, -7e3, 4e3]);
        let far = accelerations(&m);
        for (a, b) in near.iter().zip(&far) {
            assert!((a - b).abs() < 1e-9 * (1.0 + a.abs()), "{near:?} {far:?}");
        }
    }
}

#[test]
fn solids_of_a_body_add_their_masses() {
    let parts = [("oak", 700.0, 0.5), ("steel", 7800.0, 1.0)].map(|(name, density, below)| {
        (name, density, Shape::cuboid([0.1; 3]).unwrap(), Pose::at([0.0, 0.0, -below]))
    });
    let pendulum = |mass| {
        let mut m = Mechanism::new("pendulum");
        let arm = m.add("arm", GROUND, Joint::Revolute(Axis::Y), Pose::IDENTITY, mass);
        m.start(m.coordinate(arm, 0), 0.5);
        (m, arm)
    };
    let masses = parts
        .iter()
        .map(|(_, density, shape, pose)| Ok(shape.mass_properties(*density).unwrap().moved(pose)));
    let (given, _) = pendulum(MassProperties::sum(masses).ok());
    let (mut solid, arm) = pendulum(None);
    for (name, density, shape, pose) in parts.clone() {
        solid.attach_solid(arm, shape, pose, name, density);
    }
    assert_eq!(solid.shapes().len(), 2);
    let swing = |m: &Mechanism| {
        let system = m.build([0.0, 0.0, -G]).unwrap();
        let mut state = system.start().clone();
        advance(&system, &mut state, (0.0, 1.0), 1e-9);
        state
    };
    assert_eq!(swing(&given), swing(&solid));
}

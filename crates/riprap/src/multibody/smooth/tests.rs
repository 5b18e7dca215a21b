//! The adaptive integrator against closed-form solutions: its coefficients, accuracy, end times and
//! events.

use super::*;
use crate::math::Pose;
use crate::multibody::fixtures::*;
use crate::multibody::{
    Axis, Coordinate, GROUND, Joint, JointSpring, Mechanism, Phase, Signal, Until,
};
use crate::shape::MassProperties;
use std::f64::consts::TAU;

/// A mass of 1 kg on a spring that oscillates once per second, started at 1 m.
fn oscillator() -> Multibody {
    let mut m = Mechanism::new("oscillator");
    let mass = MassProperties::point(1.0, [0.0; 3]);
    let slide = m.prismatic(GROUND, Axis::X, [0.0; 3], mass);
    m.spring(m.coordinate(slide, 0), JointSpring { stiffness: TAU * TAU, rest: 0.0, damping: 0.0 });
    m.start(m.coordinate(slide, 0), 1.0);
    m.build([0.0; 3]).unwrap()
}

fn run(system: &Multibody, span: [f64; 2], tolerance: f64) -> (MultibodyState, SmoothReport) {
    let (mut state, mut w) = (system.start().clone(), system.scratch());
    let (mut s, mut history) = (SmoothScratch::default(), SmoothHistory::default());
    let report =
        system.advance(&mut state, span[0], span[1], tolerance, &mut history, &mut s, &mut w);
    (state, report.unwrap_or_else(|e| panic!("{e}")))
}

#[test]
fn the_coefficients_satisfy_the_conditions_of_order_five() {
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-14, "{a} is not {b}");
    for (row, c) in A.iter().zip(C) {
        close(row.iter().sum(), c);
    }
    // The last stage is the result: its row contains the weights.
    let b: Vec<f64> = A[6].iter().copied().chain([0.0]).collect();
    for k in 0..5 {
        let sum: f64 = b.iter().zip(C).map(|(b, c)| b * c.powi(k)).sum();
        close(sum, 1.0 / f64::from(k + 1));
    }
    // Σ b_i a_ij c_j = 1/6, Σ b_i c_i a_ij c_j = 1/8, Σ b_i a_ij c_j² = 1/12: trees of order 3 and 4.
    let inner = |i: usize, p: i32| -> f64 { (0..6).map(|j| A[i][j] * C[j].powi(p)).sum() };
    close((0..7).map(|i| b[i] * inner(i, 1)).sum(), 1.0 / 6.0);
    close((0..7).map(|i| b[i] * C[i] * inner(i, 1)).sum(), 1.0 / 8.0);
    close((0..7).map(|i| b[i] * inner(i, 2)).sum(), 1.0 / 12.0);
    // The error is a difference of two rules that both integrate cubics.
    for k in 0..4 {
        close(E.iter().zip(C).map(|(e, c)| e * c.powi(k)).sum(), 0.0);
    }
}

#[test]
fn an_oscillator_is_integrated_to_its_tolerance() {
    let system = oscillator();
    let mut steps = Vec::new();
    for tolerance in [1e-4, 1e-6, 1e-8, 1e-10] {
        let (state, report) = run(&system, [0.0, 5.3], tolerance);
        let angle = TAU * 5.3;
        let (q, v) = (angle.cos(), -TAU * angle.sin());
        // Errors of up to the tolerance per step add up over dozens or hundreds of steps.
        let allowed = tolerance * report.steps as f64;
        assert!((state.q[0] - q).abs() < allowed, "{tolerance}: {}", state.q[0] - q);
        assert!((state.v[0] - v).abs() < TAU * allowed, "{tolerance}: {}", state.v[0] - v);
        steps.push(report.steps as f64);
    }
    // The error per step is of order h⁵: a hundredth of it takes 100^(1/5) = 2.5 times as many
    // steps.
    for pair in steps.windows(2) {
        assert!((2.0..3.0).contains(&(pair[1] / pair[0])), "{steps:?}");
    }
}

#[test]
fn the_error_of_a_step_is_of_sixth_order() {
    let system = oscillator();
    let mut w = system.scratch();
    let mut error = |h: f64| {
        let (from, mut s) = (system.start().clone(), SmoothScratch::default());
        let (mut q, mut v) = (from.q.clone(), from.v.clone());
        let start = &from.partition;
        system.stage(0, 0.0, &from.control, start, &mut q, &mut v, &mut s, &mut w).unwrap();
        system.try_step(&from, 0.0, h, &mut q, &mut v, &mut s, &mut w).unwrap();
        (q[0] - (TAU * h).cos()).abs()
    };
    let order = (error(0.04) / error(0.02)).log2();
    assert!((5.7..6.5).contains(&order), "{order}");
}

#[test]
fn an_interval_may_end_anywhere_and_two_intervals_equal_one() {
    let system = oscillator();
    let (whole, _) = run(&system, [0.0, 1.0], 1e-11);
    let (mut parts, mut w) = (system.start().clone(), system.scratch());
    let (mut s, mut history) = (SmoothScratch::default(), SmoothHistory::default());
    let mut t = 0.0;
    for end in [1e-9, 0.1, 0.37, 0.370001, 1.0] {
        system.advance(&mut parts, t, end, 1e-11, &mut history, &mut s, &mut w).unwrap();
        t = end;
    }
    assert!((whole.q[0] - parts.q[0]).abs() < 1e-9 && (whole.q[0] - 1.0).abs() < 1e-9);
    // No time, no step, no change.
    let before = parts.clone();
    let report = system.advance(&mut parts, t, t, 1e-11, &mut history, &mut s, &mut w).unwrap();
    assert_eq!((report.steps, parts == before), (0, true));
}

#[test]
fn a_falling_body_is_exact_in_any_number_of_steps() {
    let mut m = Mechanism::new("stone");
    let mass = MassProperties::principal(2.0, [0.0; 3], [0.3; 3]);
    let stone = m.add("stone", GROUND, Joint::Free, Pose::IDENTITY, Some(mass));
    m.start_velocity(m.coordinate(stone, 0), 3.0);
    m.start_velocity(m.coordinate(stone, 4), 5.0);
    let system = m.build([0.0, 0.0, -10.0]).unwrap();
    let (state, _) = run(&system, [0.0, 2.0], 1e-6);
    // A parabola is within the order of the method; only rounding errors remain.
    assert!((state.q[0] - 6.0).abs() < 1e-13 && (state.q[2] + 20.0).abs() < 1e-13);
    // A ball rotates by 10 rad about y: the quaternion stays normalized, and accurate to the
    // tolerance.
    let length: f64 = state.q[3..7].iter().map(|x| x * x).sum();
    assert!((length - 1.0).abs() < 1e-12);
    assert!((state.q[4].abs() - 5.0_f64.sin().abs()).abs() < 1e-4, "{:?}", &state.q[3..]);
}

#[test]
fn rates_of_positions_agree_with_differences_of_integrated_ones() {
    for s in samples().step_by(3) {
        let (mut rate, n) = (vec![0.0; s.q.len()], s.q.len());
        s.system.position_rate(&s.q, &s.v, &mut rate);
        let (mut after, mut before) = (vec![0.0; n], vec![0.0; n]);
        s.system.tree.integrate(&s.q, &s.v, H, &mut after);
        s.system.tree.integrate(&s.q, &s.v, -H, &mut before);
        for k in 0..n {
            assert!((rate[k] - (after[k] - before[k]) / (2.0 * H)).abs() < 1e-8);
        }
    }
}

#[test]
fn a_condition_ends_its_phase_where_it_becomes_true() {
    // Pushed by 1 m/s² until x = 0.5 m, reached after 1 s; then at a constant speed of 1 m/s.
    let mut m = Mechanism::new("sledge");
    let mass = MassProperties::point(1.0, [0.0; 3]);
    let slide = m.prismatic(GROUND, Axis::X, [0.0; 3], mass);
    let there = Until::Condition(Signal::new(|x| f64::from(x.q[0] >= 0.5)));
    let mut push = Phase::forever(Signal::constant(1.0));
    push.until = Some(there);
    let coast = Phase::forever(Signal::constant(0.0));
    m.actuate_in_phases("motor", m.coordinate(slide, 0), vec![push, coast]);
    let system = m.build([0.0; 3]).unwrap();
    for tolerance in [1e-6, 1e-10] {
        let (state, report) = run(&system, [0.0, 3.0], tolerance);
        assert_eq!(state.control.phase, [1]);
        // The start of the phase is found to 1e-9 of the interval times the square root of the
        // tolerance.
        assert!((state.q[0] - 2.5).abs() < 1e-8 && (state.v[0] - 1.0).abs() < 1e-8, "{state:?}");
        assert!(report.rejected > 0, "it was searched for");
    }
}

#[test]
fn a_phase_that_ends_at_a_time_ends_exactly_then() {
    let mut m = Mechanism::new("sledge");
    let slide = m.prismatic(GROUND, Axis::X, [0.0; 3], MassProperties::point(2.0, [0.0; 3]));
    let mut push = Phase::forever(Signal::constant(6.0));
    push.until = Some(Until::Time(0.3));
    let brake = Phase::forever(Signal::constant(-2.0));
    m.actuate_in_phases("motor", m.coordinate(slide, 0), vec![push, brake]);
    let system = m.build([0.0; 3]).unwrap();
    let (state, _) = run(&system, [0.0, 1.0], 1e-4);
    let (v, q) = (0.9 - 0.7, 0.5 * 3.0 * 0.09 + 0.9 * 0.7 - 0.5 * 0.49);
    assert!((state.v[0] - v).abs() < 1e-14 && (state.q[0] - q).abs() < 1e-14, "{state:?}");
}

#[test]
fn a_failure_names_the_reason_and_leaves_the_state_unchanged() {
    let mut m = Mechanism::new("sledge");
    let slide = m.prismatic(GROUND, Axis::X, [0.0; 3], MassProperties::point(1.0, [0.0; 3]));
    m.rename(slide, "sledge");
    // A growing force: infinitely far away at t = 1.
    m.actuate("pull", m.coordinate(slide, 0), Signal::new(|x| 2.0 / (1.0 - x.t).powi(3)));
    let system = m.build([0.0; 3]).unwrap();
    let (mut state, mut w) = (system.start().clone(), system.scratch());
    let mut s = SmoothScratch::default();
    let error = system
        .advance(&mut state, 0.0, 2.0, 1e-8, &mut Default::default(), &mut s, &mut w)
        .unwrap_err();
    let said = error.to_string();
    assert!(said.contains("t = 1.0") || said.contains("t = 0.999"), "{said}");
    assert_eq!(&state, system.start());
    // The scratch can be reused for another attempt.
    system.advance(&mut state, 0.0, 0.5, 1e-8, &mut Default::default(), &mut s, &mut w).unwrap();
    // ẍ = 2/(1 − t)³ from rest: x = 1/(1 − t) − 1 − t.
    assert!((state.q[0] - 0.5).abs() < 1e-6, "{}", state.q[0]);
}

#[test]
fn the_first_step_fits_fast_and_slow_motions() {
    let system = oscillator();
    let (mut state, mut s) = (system.start().clone(), SmoothScratch::default());
    s.rate_v[0] = vec![100.0];
    let fast = system.first_step(&state, 1e-5, 10.0, &s);
    // √(1/a) of 0.1 s, times the fifth root of the tolerance.
    assert!((fast - 0.01).abs() < 1e-15, "{fast}");
    state.v[0] = 1000.0;
    assert!((system.first_step(&state, 1e-5, 10.0, &s) - 1e-4).abs() < 1e-15);
    s.rate_v[0][0] = 0.0;
    state.v[0] = 0.0;
    assert_eq!(system.first_step(&state, 1e-5, 10.0, &s), 10.0, "nothing moves: a single step");
    assert_eq!(system.q_of(Coordinate(0)), Some(0));
}

#[test]
fn an_anchor_of_another_time_is_not_used() {
    let system = oscillator();
    let (expected, _) = run(&system, [0.0, 0.3], 1e-10);
    let (mut s, mut w) = (SmoothScratch::default(), system.scratch());
    let anchor = Anchor { stands_for: 7.0, t: 6.9, q: vec![5.0], v: vec![-3.0] };
    let mut history = SmoothHistory { dt: 0.0, anchor: Some(anchor) };
    let mut state = system.start().clone();
    system.advance(&mut state, 0.0, 0.3, 1e-10, &mut history, &mut s, &mut w).unwrap();
    assert_eq!(state, expected);
}

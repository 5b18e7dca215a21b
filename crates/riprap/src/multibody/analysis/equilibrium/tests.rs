//! Equilibria of pendulums, chains, four-bars and random trees, against hand-calculated statics.

use super::*;
use crate::math::{Pose, Quat, Vec3};
use crate::multibody::{
    Axis, Cut, GROUND, Joint, JointMotion, JointSpring, Link, Marker, Mechanism, PointSpring,
    Signal, Stops,
};
use crate::shape::MassProperties;
use std::f64::consts::{FRAC_PI_2, PI};

const G: f64 = 9.81;
const DOWN: [f64; 3] = [0.0, 0.0, -G];

fn rest(m: &Mechanism, t: f64) -> Result<(Multibody, Equilibrium), AnalysisError> {
    let system = m.build(DOWN).expect("the mechanism is valid");
    let found = system.equilibrium(system.start(), t, &mut system.scratch())?;
    Ok((system, found))
}

fn settled(m: &Mechanism) -> (Multibody, Equilibrium) {
    rest(m, 0.0).unwrap_or_else(|error| panic!("{error}"))
}

/// A bob of 2 kg on an arm of 0.7 m; at angle 0 it hangs straight down.
fn pendulum(angle: f64) -> Mechanism {
    let mut m = Mechanism::new("pendulum");
    let bob = MassProperties::point(2.0, [0.0, 0.0, -0.7]);
    let arm = m.add("arm", GROUND, Joint::Revolute(Axis::Y), Pose::IDENTITY, Some(bob));
    m.start(m.coordinate(arm, 0), angle);
    m
}

#[test]
fn a_pendulum_settles_from_any_angle() {
    for angle in [0.0, 1e-3, 1.0, 2.0, 3.0, -3.1, 1000.0] {
        let (_, found) = settled(&pendulum(angle));
        let turns = found.state.q[0] / (2.0 * PI);
        assert!((turns - turns.round()).abs() < 1e-12, "{angle}: {turns} turns");
        assert_eq!(found.stability, Stability::Stable);
        assert!(found.residual < 1e-10);
    }
}

#[test]
fn an_inverted_pendulum_stays_and_is_reported_unstable() {
    let (_, found) = settled(&pendulum(PI));
    assert!((found.state.q[0] - PI).abs() < 1e-12);
    assert_eq!(found.stability, Stability::Unstable { coordinate: Coordinate(0) });
}

#[test]
fn a_weightless_rotor_is_neutral() {
    let mut m = Mechanism::new("rotor");
    let wheel = MassProperties::principal(3.0, [0.0; 3], [0.1; 3]);
    m.revolute(GROUND, Axis::Y, [0.0; 3], wheel);
    let (_, found) = settled(&m);
    assert_eq!(found.stability, Stability::Neutral { coordinate: Coordinate(0) });
    assert_eq!(found.iterations, 1);
}

#[test]
fn an_arm_on_a_ball_joint_hangs_down_and_is_free_to_spin() {
    let mut m = Mechanism::new("swing");
    let arm = MassProperties::rod([0.0, 0.0, -1.0], 1.0);
    let arm = MassProperties { inertia: arm.inertia + nalgebra::Matrix3::identity() * 1e-3, ..arm };
    let arm = m.add("arm", GROUND, Joint::Spherical, Pose::IDENTITY, Some(arm));
    m.start_rotation(arm, Quat::from_scaled_axis(Vec3::new(1.9, -0.4, 0.3)));
    let (system, found) = settled(&m);
    let mut w = system.scratch();
    system.tree().kinematics(&found.state.q, &mut w.tree);
    let (tip, _) = {
        system.tree().motion(&found.state.v, &mut w.tree);
        system.point(&w, arm, Vec3::new(0.0, 0.0, -1.0))
    };
    assert!((tip - Vec3::new(0.0, 0.0, -1.0)).norm() < 1e-9, "{tip}");
    assert_eq!(found.stability, Stability::Neutral { coordinate: Coordinate(2) });
}

/// Ten rods of 0.3 m and 0.5 kg; at 0 all point along x.
fn chain(m: &mut Mechanism) -> Vec<Link> {
    let rod = || MassProperties::rod([0.3, 0.0, 0.0], 0.5);
    let mut links = vec![m.revolute(GROUND, -Axis::Y, [0.0; 3], rod())];
    for k in 1..10 {
        let on = links[k - 1];
        links.push(m.revolute(on, -Axis::Y, [0.3, 0.0, 0.0], rod()));
    }
    links
}

#[test]
fn a_chain_of_ten_links_hangs_straight_down() {
    for bend in [0.0, 0.6, -0.3] {
        let mut m = Mechanism::new("chain");
        for link in chain(&mut m) {
            m.start(m.coordinate(link, 0), bend);
        }
        let (_, found) = settled(&m);
        assert_eq!(found.stability, Stability::Stable);
        let mut angle = 0.0;
        for q in &found.state.q {
            angle += q;
            let off = (angle + FRAC_PI_2) / (2.0 * PI);
            assert!((off - off.round()).abs() < 1e-10, "bent by {bend}: {angle}");
        }
    }
}

#[test]
fn a_chain_between_two_nails_forms_a_catenary() {
    let mut m = Mechanism::new("chain");
    let links = chain(&mut m);
    for (k, link) in links.iter().enumerate() {
        m.guess(m.coordinate(*link, 0), if k == 0 { -1.0 } else { 0.2 });
    }
    let nail = Marker::at(GROUND, [2.0, 0.0, 0.3]).along(Axis::Y);
    let end = Marker::at(links[9], [0.3, 0.0, 0.0]).along(Axis::Y);
    m.close_loop("nail", Cut::Pin, nail, end);
    let (system, found) = settled(&m);
    assert_eq!(found.stability, Stability::Stable);
    assert!(system.loop_residual(&found.state.q, &mut system.scratch()) < 1e-12);
    // The horizontal force is the same everywhere, the vertical one grows by the weight of a link:
    // the slopes of the links differ by equal increments.
    let mut angle = 0.0;
    let slopes: Vec<f64> = found
        .state
        .q
        .iter()
        .map(|q| {
            angle += q;
            angle.tan()
        })
        .collect();
    let mut forces = found.loop_forces.iter().map(|x| x.abs());
    let pull = forces.next().expect("a force").hypot(forces.next().expect("another"));
    let step = slopes[1] - slopes[0];
    for pair in slopes.windows(2) {
        assert!((pair[1] - pair[0] - step).abs() < 1e-9, "{slopes:?}");
    }
    // At the nail: horizontal H = m g / step, vertical V with the slope half a step beyond the last link.
    let horizontal = 0.5 * G / step;
    let vertical = horizontal * (slopes[9] + 0.5 * step);
    assert!((pull - horizontal.hypot(vertical)).abs() < 1e-8 * pull, "{pull}");
}

#[test]
fn a_four_bar_with_a_spring_rests_at_minimum_energy() {
    let mut m = Mechanism::new("four-bar");
    let rod = |x: f64| MassProperties::rod([x, 0.0, 0.0], 4.0 * x);
    let crank = m.revolute(GROUND, -Axis::Y, [0.0; 3], rod(0.3));
    let coupler = m.revolute(crank, -Axis::Y, [0.3, 0.0, 0.0], rod(0.8));
    let rocker = m.revolute(GROUND, -Axis::Y, [0.7, 0.0, 0.0], rod(0.6));
    let (a, b) = (Marker::at(coupler, [0.8, 0.0, 0.0]), Marker::at(rocker, [0.6, 0.0, 0.0]));
    m.close_loop("window", Cut::Pin, a.along(Axis::Y), b.along(Axis::Y));
    let spring = PointSpring::Line { stiffness: 150.0, damping: 3.0, length: 0.2 };
    let (a, b) = (Marker::at(GROUND, [0.2, 0.0, 0.9]), Marker::at(coupler, [0.5, 0.0, 0.1]));
    m.point_spring("spring", spring, a, b);
    m.guess(m.coordinate(crank, 0), 0.8);
    m.guess(m.coordinate(coupler, 0), -0.2);
    m.guess(m.coordinate(rocker, 0), 1.5);
    let (system, found) = settled(&m);
    assert_eq!(found.stability, Stability::Stable);

    // Scan of the energy over the crank: a full revolution on the same branch, then a finer scan
    // around the minimum.
    let mut w = system.scratch();
    let mut partition = found.state.partition.clone();
    let mut q = found.state.q.clone();
    let mut energy = |angle: f64| {
        // The crank is moved and held; the other two follow.
        q[0] = angle;
        partition.independent = vec![0];
        partition.dependent = vec![1, 2];
        system.close(&partition, 0.0, &mut q, &mut w).expect("the crank can turn");
        system.energy(&q, &[0.0; 3], &mut w).1
    };
    let here = found.state.q[0];
    let (mut best, mut at) = (f64::INFINITY, 0.0);
    for k in 0..=720 {
        let angle = here + PI * k as f64 / 360.0;
        let value = energy(angle);
        if value < best {
            (best, at) = (value, angle);
        }
    }
    let mut width = PI / 360.0;
    for _ in 0..12 {
        // Minimum of the parabola through three points.
        let (l, c, r) = (energy(at - width), energy(at), energy(at + width));
        at += 0.5 * width * (l - r) / (l - 2.0 * c + r);
        width = (0.3 * width).max(1e-3);
    }
    let turns = (at - here) / (2.0 * PI);
    // Third-order error of the parabola over 1e-3 rad.
    assert!((turns - turns.round()).abs() * 2.0 * PI < 1e-6, "{at} {here}");
}

#[test]
fn a_slider_falls_onto_its_stop_or_forever() {
    let mut m = Mechanism::new("lift");
    let cabin = MassProperties::point(5.0, [0.0; 3]);
    let cabin = m.add("cabin", GROUND, Joint::Prismatic(Axis::Z), Pose::IDENTITY, Some(cabin));
    let error = rest(&m, 0.0).expect_err("nothing holds the cabin");
    assert!(
        matches!(&error, AnalysisError::KeepsMoving { coordinate, force, .. }
            if coordinate == "cabin" && (force - 5.0 * G).abs() < 1e-9),
        "{error}"
    );
    assert!(error.to_string().contains("`cabin` keeps moving"), "{error}");
    for lower in [-0.01, -7.3, -2500.0] {
        let stops = Stops { lower, upper: 0.0, stiffness: 1e5, damping: 10.0 };
        m.stops(m.coordinate(cabin, 0), stops);
        let (_, found) = settled(&m);
        assert!((found.state.q[0] - (lower - 5.0 * G / 1e5)).abs() < -1e-12 * lower.min(-1.0));
        assert_eq!(found.stability, Stability::Stable);
    }
}

#[test]
fn a_repelling_force_has_an_unstable_equilibrium() {
    let mut m = Mechanism::new("magnet");
    let slider = m.prismatic(GROUND, Axis::X, [0.0; 3], MassProperties::point(1.0, [0.0; 3]));
    let c = m.coordinate(slider, 0);
    m.start(c, 0.3);
    m.actuate("magnet", c, Signal::new(|x| 40.0 * (x.q[0] - 0.1)));
    let (_, found) = settled(&m);
    assert!((found.state.q[0] - 0.1).abs() < 1e-9);
    assert_eq!(found.stability, Stability::Unstable { coordinate: c });
}

#[test]
fn forces_that_never_balance_are_reported() {
    let mut m = Mechanism::new("kite");
    let slider = m.prismatic(GROUND, Axis::X, [0.0; 3], MassProperties::point(1.0, [0.0; 3]));
    m.rename(slider, "line");
    // A force with a nonzero minimum and no direction in which to move forever.
    m.actuate(
        "wind",
        m.coordinate(slider, 0),
        Signal::new(|x| if x.q[0] > 0.0 { -1.0 } else { 1.0 }),
    );
    let error = rest(&m, 0.0).expect_err("there is no equilibrium");
    assert!(matches!(error, AnalysisError::Unbalanced { .. }), "{error}");
}

#[test]
fn prescribed_joints_are_held_and_report_their_force() {
    let mut m = pendulum(0.0);
    m.drive(Coordinate(0), JointMotion::new(|t| [2.0 * t, 2.0, 0.0]));
    let (_, found) = rest(&m, 0.4).expect("the joint is held");
    assert_eq!(found.state.q, [0.8]);
    assert_eq!(found.state.v, [0.0]);
    assert!((found.drive_forces[0] - 2.0 * G * 0.7 * 0.8_f64.sin()).abs() < 1e-12);
}

#[test]
fn an_immovable_mechanism_is_at_rest() {
    let mut m = Mechanism::new("post");
    let post = MassProperties::point(1.0, [0.0, 0.0, 1.0]);
    m.add("post", GROUND, Joint::Fixed, Pose::IDENTITY, Some(post));
    let (system, found) = settled(&m);
    assert_eq!((found.residual, found.stability), (0.0, Stability::Stable));
    let modes = system.modes(&found.state, 0.0, &mut system.scratch()).expect("there are no modes");
    assert!(modes.modes.is_empty());
    assert_eq!(system.follow(&[0.0, 1.0], &mut system.scratch()).map(|s| s.len()), Ok(2));
}

#[test]
fn non_finite_laws_are_reported() {
    let mut m = pendulum(0.5);
    m.actuate("broken", Coordinate(0), Signal::new(|x| (0.4 - x.q[0]).sqrt()));
    // If a law is not finite initially, the mechanism starts with a non-finite acceleration.
    let system = m.build(DOWN).expect("laws are not checked");
    let error = system.equilibrium(system.start(), 0.0, &mut system.scratch());
    let error = error.expect_err("the force is not finite").to_string();
    assert!(error.contains("`arm` is not finite"), "{error}");
}

#[test]
fn random_trees_come_to_rest() {
    use rand::{RngExt, SeedableRng};
    let mut rng = rand_pcg::Pcg64::seed_from_u64(11);
    for case in 0..200 {
        let mut vector =
            |size: f64| -> [f64; 3] { std::array::from_fn(|_| rng.random_range(-size..size)) };
        let mut m = Mechanism::new("tree");
        let mut links = vec![GROUND];
        for k in 0..8 {
            let mass = MassProperties::principal(1.0, vector(0.4), [0.1, 0.12, 0.15]);
            let (place, axis) = (Pose::at(vector(0.5)), Axis::from(vector(1.0)));
            let on = links[(k * (case + 3)) % links.len()];
            let joint = match (case + k) % 5 {
                0 => Joint::Spherical,
                1 => Joint::Universal(axis, Axis::from(vector(1.0))),
                _ => Joint::Revolute(axis),
            };
            let link = m.add(&format!("body-{k}"), on, joint, place, Some(mass));
            if matches!(joint, Joint::Revolute(_)) {
                m.start(m.coordinate(link, 0), 3.0 * vector(1.0)[0]);
            }
            links.push(link);
        }
        let (system, found) = settled(&m);
        let weight = 8.0 * G;
        assert!(found.residual < 1e-9 * weight, "{case}: {}", found.residual);
        assert!(!matches!(found.stability, Stability::Unstable { .. }), "{case}");
        let mut w = system.scratch();
        let (_, begin) = system.energy(&system.start().q, &found.state.v, &mut w);
        let (_, end) = system.energy(&found.state.q, &found.state.v, &mut w);
        assert!(end < begin);
    }
}

#[test]
fn a_balance_tilts_by_the_angle_of_its_moments() {
    // A beam of 1.2 kg whose centre hangs 5 cm below its pivot, with pans on strings at ±0.3 m, level with the pivot.
    for (left, right) in [(0.5, 0.5), (0.5, 0.52), (0.2, 1.4)] {
        let mut m = Mechanism::new("scale");
        let beam = MassProperties::principal(1.2, [0.0, 0.0, -0.05], [0.01, 0.02, 0.02]);
        let beam = m.revolute(GROUND, Axis::Y, [0.0; 3], beam);
        for (side, mass) in [(-0.3, left), (0.3, right)] {
            let pan = MassProperties::point(mass, [0.0, 0.0, -0.2]);
            let string = m.revolute(beam, Axis::Y, [side, 0.0, 0.0], pan);
            m.start(m.coordinate(string, 0), 0.4);
        }
        let (_, found) = settled(&m);
        let angle = ((right - left) * 0.3 / (1.2 * 0.05_f64)).atan();
        assert_eq!(found.stability, Stability::Stable);
        assert!((found.state.q[0] - angle).abs() < 1e-10, "{} {angle}", found.state.q[0]);
        // The strings stay vertical.
        for k in [1, 2] {
            assert!((found.state.q[k] + angle).abs() < 1e-10, "{:?}", found.state.q);
        }
    }
}

#[test]
fn masses_hang_where_each_spring_carries_the_weight_below_it() {
    let mut m = Mechanism::new("springs");
    let mut on = GROUND;
    let (masses, stiffnesses) = ([1.0, 2.0, 0.5], [300.0, 200.0, 50.0]);
    for (mass, stiffness) in masses.into_iter().zip(stiffnesses) {
        on = m.prismatic(on, -Axis::Z, [0.0; 3], MassProperties::point(mass, [0.0; 3]));
        m.spring(m.coordinate(on, 0), JointSpring { stiffness, rest: 0.1, damping: 2.0 });
    }
    let (system, found) = settled(&m);
    for k in 0..3 {
        let carried: f64 = masses[k..].iter().sum::<f64>() * G;
        let length = 0.1 + carried / stiffnesses[k];
        assert!((found.state.q[k] - length).abs() < 1e-12, "{:?}", found.state.q);
    }
    // Nothing moves from this pose.
    let (mut state, mut w) = (found.state.clone(), system.scratch());
    let mut s = Default::default();
    system.advance(&mut state, 0.0, 1.0, 1e-8, &mut Default::default(), &mut s, &mut w).unwrap();
    assert!(state.v.iter().all(|v| v.abs() < 1e-10), "{:?}", state.v);
}

#[test]
fn a_pendulum_under_a_constant_torque_tilts_by_the_arcsine() {
    for share in [0.0, 0.5, 0.99] {
        let mut m = pendulum(0.2);
        let torque = 2.0 * G * 0.7 * share;
        m.actuate("motor", Coordinate(0), Signal::constant(-torque));
        let (_, found) = settled(&m);
        let angle = -f64::asin(share);
        // Near the top the stiffness falls: there a relative error of 1e-16 in torque is 1e-14 in
        // angle.
        assert!((found.state.q[0] - angle).abs() < 1e-10, "{} {angle}", found.state.q[0]);
    }
    // A torque larger than the weight can hold turns it forever.
    let mut m = pendulum(0.2);
    m.actuate("motor", Coordinate(0), Signal::constant(1.5 * 2.0 * G * 0.7));
    let error = rest(&m, 0.0).expect_err("nothing holds the pendulum").to_string();
    assert!(error.contains("`arm`"), "{error}");
}

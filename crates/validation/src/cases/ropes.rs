//! Ropes: a hanging chain and the catenary, a pendulum whose rope goes slack and tightens, an Atwood machine, ropes on
//! mechanisms and flexible bodies, breaking, and the stretch that remains.

use riprap::prelude::*;

use crate::check::observed_order;
use crate::{Checks, Effort};

/// Gravity [m/s²].
const G: f64 = 9.81;

pub(super) fn ropes(effort: Effort) -> Checks {
    let mut checks = Checks::new("ropes");
    catenary(&mut checks, effort);
    slack_pendulum(&mut checks, effort);
    atwood(&mut checks);
    on_a_link(&mut checks);
    on_a_node(&mut checks);
    breaking(&mut checks, effort);
    stretch(&mut checks, effort);
    checks
}

fn steel() -> Material {
    Material::new("steel").density(7800.0).friction(0.3)
}

fn ball(radius: f64, mass: f64, at: [f64; 3]) -> BodyDescription {
    let ball = Shape::sphere(radius).expect("a positive radius");
    BodyDescription::new(ball, &steel()).mass(mass).at(at)
}

fn world(x: f64, z: f64) -> (On, Vec3) {
    (On::World, Vec3::new(x, 0.0, z))
}

fn centre(body: Body) -> (On, Vec3) {
    (body.into(), Vec3::zeros())
}

fn simulation(scene: &SceneBuilder, scheme: MoreauJean) -> Simulation {
    let scene = scene.build().unwrap_or_else(|e| panic!("{e}"));
    Simulation::new(scene, scheme).expect("a valid scheme")
}

fn tight(dt: f64) -> MoreauJean {
    MoreauJean::new(dt).solver(Coloured::tolerance(1e-10))
}

/// A chain of balls between two points 1.2 m apart, 2 m long, at rest: largest distance of a ball from the catenary, and the
/// relative error of the tension in the middle of the first link.
fn hanging_chain(count: usize) -> [f64; 2] {
    let (span, length) = (1.2, 2.0);
    let link = length / (count + 1) as f64;
    let mut scene = Scene::builder();
    scene.drag(6.0);
    let mut chain = Chain::new("chain", count, 0.2 * link, link);
    chain.course = Course::To(On::World, Vec3::new(span, 0.0, 0.0));
    let balls = scene.add_chain(&chain, &steel());
    let dt = 2e-3;
    let mut run = simulation(&scene, tight(dt));
    run.until(8.0, &mut ()).unwrap_or_else(|e| panic!("{e}"));

    // z = a cosh((x − span/2)/a) + const., of length 2 a sinh(span/(2a)).
    let (mut low, mut high) = (0.05, 10.0);
    for _ in 0..200 {
        let a: f64 = 0.5 * (low + high);
        *(if 2.0 * a * (0.5 * span / a).sinh() > length { &mut low } else { &mut high }) = a;
    }
    let a = 0.5 * (low + high);
    let at = |s: f64| {
        let x = a * ((s - 0.5 * length) / a).asinh();
        let z = a * ((x / a).cosh() - (0.5 * span / a).cosh());
        Vec3::new(x + 0.5 * span, 0.0, z)
    };
    let error =
        |(k, ball): (usize, &Body)| (run.pose(*ball).position - at((k + 1) as f64 * link)).norm();
    let worst = balls.iter().enumerate().map(error).fold(0.0, f64::max);
    // Each ball has the weight of a link, half of the first link hangs on its start.
    let weight = run.scene().bodies().mass[0] * G / link;
    let below = 0.5 * (length - link);
    let expected = weight * (a * a + below * below).sqrt();
    let tension = run.state().ropes[0].tension(dt);
    [worst, (tension / expected - 1.0).abs()]
}

fn catenary(checks: &mut Checks, effort: Effort) {
    let counts: &[usize] = match effort {
        Effort::Small => &[7, 15],
        Effort::Full => &[7, 15, 31, 63],
    };
    let errors: Vec<[f64; 2]> = counts.iter().map(|n| hanging_chain(*n)).collect();
    let links: Vec<f64> = counts.iter().map(|n| 2.0 / (n + 1) as f64).collect();
    let of = |k: usize| errors.iter().map(|e| e[k]).collect::<Vec<_>>();
    let (n, last) = (counts[counts.len() - 1], errors[errors.len() - 1]);
    // The curvature of a catenary over one link: the error is of second order in its length.
    let link = links[links.len() - 1];
    checks.at_most(
        &format!("distance of {n} balls from the catenary"),
        last[0],
        0.5 * link * link,
        "m",
    );
    checks.at_most(
        &format!("tension at the end of {n} balls, relative"),
        last[1],
        0.5 * link * link,
        "1",
    );
    checks.close(
        "order of the shape in the length of a link",
        observed_order(&links, &of(0)),
        2.0,
        0.2,
        "1",
    );
    checks.close(
        "order of the tension in the length of a link",
        observed_order(&links, &of(1)),
        2.0,
        0.3,
        "1",
    );
}

/// A point on a circle of radius 1 m, by Runge–Kutta in angle and angular velocity; the angle is 0 at the bottom.
fn swing(mut state: [f64; 2], time: f64) -> [f64; 2] {
    let n = (time / 1e-4).ceil().max(1.0) as usize;
    let h = time / n as f64;
    let rate = |[angle, speed]: [f64; 2]| [speed, -G * angle.sin()];
    let moved = |s: [f64; 2], k: [f64; 2], h: f64| [s[0] + h * k[0], s[1] + h * k[1]];
    for _ in 0..n {
        let k1 = rate(state);
        let k2 = rate(moved(state, k1, 0.5 * h));
        let k3 = rate(moved(state, k2, 0.5 * h));
        let k4 = rate(moved(state, k3, h));
        for i in 0..2 {
            state[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        }
    }
    state
}

fn on_circle(angle: f64) -> Vec3 {
    Vec3::new(angle.sin(), 0.0, -angle.cos())
}

/// The motion of a pendulum of 1 m that starts at the bottom with `v² = 3.5 g L`: its rope goes slack 60° before the top, the
/// ball flies along a parabola that osculates the circle, and the rope tightens when it meets the circle again.
struct SlackPendulum {
    /// When the rope goes slack and when it tightens [s].
    slack_at: f64,
    tight_at: f64,
    /// Where it tightens [m].
    place: Vec3,
    /// Angle [rad] and angular velocity [rad/s] right after that.
    after: [f64; 2],
}

impl SlackPendulum {
    fn new() -> SlackPendulum {
        let start = (3.5 * G).sqrt();
        // ∫ dθ/ω from 0 to 120° by Simpson's rule; ω² = v² − 2 g (1 − cos θ) is positive throughout.
        let end = 2.0 / 3.0 * std::f64::consts::PI;
        let inverse = |angle: f64| 1.0 / (start * start - 2.0 * G * (1.0 - angle.cos())).sqrt();
        let n = 2000;
        let weight = |k: usize| match k {
            0 => 1.0,
            k if k == n => 1.0,
            k if k % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let step = end / n as f64;
        let slack_at =
            (0..=n).map(|k| weight(k) * inverse(k as f64 * step)).sum::<f64>() * step / 3.0;
        let speed = (0.5 * G).sqrt();
        let (place, velocity) = (on_circle(end), Vec3::new(end.cos(), 0.0, end.sin()) * speed);
        // |p + v t + g t²/2|² = L² has a triple root at the start of the flight, and t = −4 v·g/g².
        let gravity = Vec3::new(0.0, 0.0, -G);
        let flight = -4.0 * velocity.dot(&gravity) / (G * G);
        let place = place + velocity * flight + gravity * (0.5 * flight * flight);
        let velocity = velocity + gravity * flight;
        let angle = place.x.atan2(-place.z);
        let along = Vec3::new(angle.cos(), 0.0, angle.sin());
        let after = [angle, velocity.dot(&along)];
        SlackPendulum { slack_at, tight_at: slack_at + flight, place, after }
    }
}

fn slack_pendulum(checks: &mut Checks, effort: Effort) {
    let exact = SlackPendulum::new();
    let mut scene = Scene::builder();
    let start = (3.5 * G).sqrt();
    let bob = scene.add(ball(0.02, 1.0, [0.0, 0.0, -1.0]).velocity([start, 0.0, 0.0]), &steel());
    scene.add_rope(Rope::new("rope", vec![world(0.0, 0.0), centre(bob)]));
    let steps: &[f64] = match effort {
        Effort::Small => &[2e-3, 1e-3, 5e-4],
        Effort::Full => &[2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4],
    };
    let mut errors: [Vec<f64>; 5] = Default::default();
    for &dt in steps {
        let mut run = simulation(&scene, tight(dt));
        let until = |run: &mut Simulation, t: f64| {
            run.until(t, &mut ()).unwrap_or_else(|e| panic!("{e}"));
        };
        // On the circle, well before the rope goes slack.
        until(&mut run, 0.2);
        let on = on_circle(swing([0.0, start], run.time())[0]);
        errors[0].push((run.pose(bob).position - on).norm());
        while run.state().ropes[0].impulse > 0.0 {
            run.step().unwrap_or_else(|e| panic!("{e}"));
        }
        errors[1].push((run.time() - dt - exact.slack_at).abs());
        while run.state().ropes[0].impulse == 0.0 {
            run.step().unwrap_or_else(|e| panic!("{e}"));
        }
        errors[2].push((run.time() - exact.tight_at).abs());
        errors[3].push((run.pose(bob).position - exact.place).norm());
        until(&mut run, exact.tight_at + 0.2);
        let [angle, _] = swing(exact.after, run.time() - exact.tight_at);
        errors[4].push((run.pose(bob).position - on_circle(angle)).norm());
    }
    let last = |k: usize| errors[k][steps.len() - 1];
    let dt = steps[steps.len() - 1];
    // The stretch, 5 h² v²/L with v² < 3.5 g L.
    checks.at_most("on the circle: position", last(0), 20.0 * 3.5 * G * dt * dt, "m");
    checks.close(
        "order of the position on the circle",
        observed_order(steps, &errors[0]),
        2.0,
        0.2,
        "1",
    );
    // Detected at the ends of steps; slack left in the middle of a step is closed up to 1.5 steps ahead.
    checks.at_most(
        "time at which the rope goes slack (60° before the top)",
        last(1),
        2.0 * dt,
        "s",
    );
    checks.at_most("time at which it tightens", last(2), 2.0 * dt, "s");
    // At 5 m/s or less during that time.
    checks.at_most("place where it tightens", last(3), 10.0 * dt, "m");
    checks.at_most("position 0.2 s after it has tightened", last(4), 10.0 * dt, "m");
    checks.at_least("order of that position", observed_order(steps, &errors[4]), 0.9, "1");
}

fn atwood(checks: &mut Checks) {
    let masses = [3.0, 1.0];
    let mut scene = Scene::builder();
    let [a, b] = [(-0.5, masses[0]), (0.5, masses[1])]
        .map(|(x, mass)| scene.add(ball(0.05, mass, [x, 0.0, 0.0]), &steel()));
    let path = vec![centre(a), world(-0.5, 2.0), world(0.5, 2.0), centre(b)];
    scene.add_rope(Rope::new("rope", path));
    let dt = 1e-3;
    let mut run = simulation(&scene, tight(dt));
    run.until(0.5, &mut ()).unwrap_or_else(|e| panic!("{e}"));
    let sum = masses[0] + masses[1];
    let expected = (masses[0] - masses[1]) / sum * G;
    // Straight lines and constant forces: the scheme is exact, the solver accurate to 1e-10.
    checks.close(
        "Atwood machine: acceleration",
        -run.velocity(a).linear.z / 0.5,
        expected,
        1e-8,
        "m/s²",
    );
    let tension = 2.0 * masses[0] * masses[1] / sum * G;
    checks.close("Atwood machine: tension", run.state().ropes[0].tension(dt), tension, 1e-7, "N");
    checks.close(
        "Atwood machine: slack",
        run.scene().ropes()[0].slack(&run.state().q),
        0.0,
        1e-12,
        "m",
    );
}

/// A horizontal arm of a mechanism, hinged at one end and held at the other by a rope at 45°.
fn on_a_link(checks: &mut Checks) {
    let (mass, length) = (4.0, 2.0);
    let mut m = Mechanism::new("crane");
    let inertia = mass * length * length / 12.0;
    let rod = MassProperties::principal(mass, [0.5 * length, 0.0, 0.0], [1e-3, inertia, inertia]);
    let arm = m.add("arm", GROUND, Joint::Revolute(Axis::Y), Pose::IDENTITY, Some(rod));
    let mut scene = Scene::builder();
    let crane = scene.add_mechanism(m);
    let tip = (On::Link(crane, arm), Vec3::new(length, 0.0, 0.0));
    scene.add_rope(Rope::new("stay", vec![world(0.0, length), tip]));
    let dt = 1e-3;
    let mut run = simulation(&scene, tight(dt));
    run.until(0.1, &mut ()).unwrap_or_else(|e| panic!("{e}"));
    // T L sin 45° = m g L/2; nothing moves.
    let expected = 0.5 * mass * G / 0.5_f64.sqrt();
    checks.close(
        "rope on a link: tension",
        run.state().ropes[0].tension(dt),
        expected,
        1e-8 * expected,
        "N",
    );
    checks.close("rope on a link: angle", run.state().mechanisms[0].q[0], 0.0, 1e-10, "rad");
}

/// A bar that hangs from its clamped end, with a weight on a rope at the other.
fn on_a_node(checks: &mut Checks) {
    let (length, area, young, density, mass) = (2.0, 1e-4, 1e8, 1000.0, 3.0);
    let mut scene = Scene::builder();
    scene.drag(20.0);
    let bar = Bar::new("bar")
        .points(&[[0.0, 0.0, 0.0], [0.0, 0.0, -length]])
        .area(area)
        .material(Elastic::new(young, 0.0, density))
        .elements(8)
        .damping(0.02)
        .clamp_start();
    let bar = scene.add_flexible(bar);
    let weight = scene.add(ball(0.05, mass, [0.0, 0.0, -length - 0.5]), &steel());
    scene.add_rope(Rope::new("rope", vec![(On::Node(bar, 8), Vec3::zeros()), centre(weight)]));
    let dt = 1e-3;
    let mut run = simulation(&scene, tight(dt));
    run.until(3.0, &mut ()).unwrap_or_else(|e| panic!("{e}"));
    let tip = run.pose(run.scene().node_body(bar, 8)).position.z;
    // m g L/(E A) and half of its own weight; linear elements are exact at the nodes.
    let expected = (mass + 0.5 * density * area * length) * G * length / (young * area);
    checks.close(
        "rope on a flexible node: elongation",
        -length - tip,
        expected,
        1e-6 * expected,
        "m",
    );
    let tension = run.state().ropes[0].tension(dt);
    checks.close("rope on a flexible node: tension", tension, mass * G, 1e-5 * mass * G, "N");
}

/// A pendulum released from the horizontal: `T = 3 m g sin θ` reaches 2 m g at sin θ = 2/3.
fn breaking(checks: &mut Checks, effort: Effort) {
    let mut scene = Scene::builder();
    let bob = scene.add(ball(0.02, 1.0, [1.0, 0.0, 0.0]), &steel());
    let rope = Rope::new("rope", vec![world(0.0, 0.0), centre(bob)]);
    scene.add_rope(rope.breaking_load(2.0 * G));
    let steps: &[f64] = match effort {
        Effort::Small => &[2e-3, 1e-3],
        Effort::Full => &[2e-3, 1e-3, 5e-4, 2.5e-4],
    };
    let mut errors = Vec::new();
    for &dt in steps {
        let mut run = simulation(&scene, tight(dt));
        while run.state().ropes[0].broken.is_none() && run.time() < 1.0 {
            run.step().unwrap_or_else(|e| panic!("{e}"));
        }
        let place = run.pose(bob).position;
        errors.push((-place.z / place.norm() - 2.0 / 3.0).abs());
        let (velocity, t) = (run.velocity(bob).linear, run.time());
        run.until(t + 0.1, &mut ()).unwrap_or_else(|e| panic!("{e}"));
        if dt == steps[steps.len() - 1] {
            let fall = velocity + Vec3::new(0.0, 0.0, -G * (run.time() - t));
            let error = (run.velocity(bob).linear - fall).norm();
            checks.close("free fall once the rope is broken: velocity", error, 0.0, 1e-12, "m/s");
        }
    }
    let dt = steps[steps.len() - 1];
    // It breaks at the end of a step, up to two steps of 4 rad/s late.
    checks.at_most(
        "sine of the angle at which the rope breaks",
        errors[steps.len() - 1],
        8.0 * dt,
        "1",
    );
}

fn stretch(checks: &mut Checks, effort: Effort) {
    let mut scene = Scene::builder();
    let bob = scene.add(ball(0.02, 1.0, [1.0, 0.0, 0.0]), &steel());
    scene.add_rope(Rope::new("rope", vec![world(0.0, 0.0), centre(bob)]));
    let steps: &[f64] = match effort {
        Effort::Small => &[2e-3, 1e-3],
        Effort::Full => &[2e-3, 1e-3, 5e-4, 2.5e-4],
    };
    let mut most = Vec::new();
    let mut without = 0.0_f64;
    for &dt in steps {
        let worst = |fix: Stabilization| {
            let mut run = simulation(&scene, tight(dt).stabilization(fix));
            let mut worst = 0.0_f64;
            while run.time() < 3.0 {
                run.step().unwrap_or_else(|e| panic!("{e}"));
                worst = worst.max(-run.scene().ropes()[0].slack(&run.state().q));
            }
            worst
        };
        most.push(worst(Stabilization::ALL));
        without = worst(Stabilization { gaps: false, ..Stabilization::ALL });
    }
    let dt = steps[steps.len() - 1];
    // 5 h² v²/L with v² = 2 g L.
    let expected = 10.0 * G * dt * dt;
    checks.close(
        &format!("stretch at h = {dt} s"),
        most[steps.len() - 1],
        expected,
        0.05 * expected,
        "m",
    );
    checks.close("order of the stretch", observed_order(steps, &most), 2.0, 0.1, "1");
    checks.information(|checks| {
        checks.at_most("stretch without its recovery, over 3 s", without, 1.0, "m")
    });
}

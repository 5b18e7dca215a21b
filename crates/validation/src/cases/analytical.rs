//! Cases with closed-form solutions: impacts, friction on a slope, rolling, momentum.

use crate::check::observed_order;
use crate::{Checks, Effort, scenes};
use riprap::prelude::*;
use riprap::simulation::Balance;

/// Closed-form gap below the bouncing ball at time `t` [m].
fn exact_gap(mut t: f64) -> f64 {
    let (g, e) = (10.0f64, 0.8);
    let first = (2.0 * 0.801 / g).sqrt();
    if t < first {
        return 0.801 - 0.5 * g * t * t;
    }
    t -= first;
    let mut speed = e * g * first;
    while speed > 1e-12 {
        let flight = 2.0 * speed / g;
        if t < flight {
            return speed * t - 0.5 * g * t * t;
        }
        t -= flight;
        speed *= e;
    }
    0.0
}

/// Results of a run of the bouncing ball.
struct Bounces {
    /// Last time at which the speed of the ball exceeds `g h` [s].
    rest: f64,
    /// Mean error against the closed form over 4 s [m].
    mean_error: f64,
    /// Largest error against the closed form [m].
    max_error: f64,
    /// Largest increase of energy in a step over `m v1 g h`, with the speed `v1` of the first impact [–].
    rise: f64,
}

fn bounces(dt: f64) -> Bounces {
    let (scene, ball) = scenes::bouncing_ball();
    let mut run = scenes::start(&scene, dt, 0.5, 1e-12);
    let energy = |run: &Simulation| {
        let b = Balance::of(run.scene(), run.state());
        b.kinetic + b.potential
    };
    let mass = run.scene().bodies().mass[run.scene().slot(ball)];
    let mut result = Bounces { rest: 0.0, mean_error: 0.0, max_error: 0.0, rise: 0.0 };
    let mut before = energy(&run);
    let steps = (4.0 / dt).round() as usize;
    for _ in 0..steps {
        run.step().expect("a ball cannot fail");
        if run.velocity(ball).linear.z.abs() > 10.0 * dt {
            result.rest = run.time();
        }
        let error = (run.pose(ball).position.z - 0.2 - exact_gap(run.time())).abs();
        result.mean_error += error / steps as f64;
        result.max_error = result.max_error.max(error);
        let after = energy(&run);
        result.rise = result.rise.max((after - before) / (mass * 4.0025 * 10.0 * dt));
        before = after;
    }
    result
}

/// Brüls et al. 2014, Sec. 10.
pub(super) fn bouncing_ball(effort: Effort) -> Checks {
    let mut checks = Checks::new("bouncing-ball");
    let g = 10.0f64;
    let (first, speed) = ((2.0 * 0.801 / g).sqrt(), (2.0 * 0.801 * g).sqrt());
    let exact = first + 2.0 * speed * 0.8 / (g * (1.0 - 0.8));
    checks.close("exact accumulation time", exact, 3.60225, 5e-6, "s");

    let steps: &[f64] = match effort {
        Effort::Full => &[4e-3, 2e-3, 1e-3, 5e-4, 2e-4, 1e-4, 5e-5],
        Effort::Small => &[4e-3, 2e-3, 1e-3, 5e-4],
    };
    let (mut late, mut mean) = (Vec::new(), Vec::new());
    for &dt in steps {
        let b = bounces(dt);
        late.push((b.rest - exact).abs());
        mean.push(b.mean_error);
        // Moreau–Jean ends the accumulation when a bounce lasts about one step, that is, 8 to 20 steps early.
        checks.close(&format!("accumulation time, h = {dt:e} s"), b.rest, exact, 20.0 * dt, "s");
        checks.at_most(
            &format!("largest error of the gap, h = {dt:e} s"),
            b.max_error,
            10.0 * dt,
            "m",
        );
        // The time of an impact is resolved to one step: until the next q_m detects the ground, the ball sinks by up to v h and
        // keeps its speed. Its energy can increase only by what the rebound gains, e² times at most m v g h / 2, and O(h²).
        checks.at_most(
            &format!("largest energy increase over m v1 g h, h = {dt:e} s"),
            b.rise,
            0.5 * dt,
            "1",
        );
    }
    checks.close(
        "observed order of the accumulation time",
        observed_order(steps, &late),
        1.0,
        0.25,
        "1",
    );
    checks.close("observed order of the mean error", observed_order(steps, &mean), 1.0, 0.2, "1");
    checks
}

/// Distance along the slope [m] and speed [m/s] of a block after a time.
fn slide(angle: f64, friction: f64, speed: f64, dt: f64, time: f64) -> (f64, f64) {
    let (scene, block) = scenes::block_on_slope(angle, friction, speed);
    let mut run = scenes::start(&scene, dt, 0.5, 1e-12);
    let start = run.pose(block).position;
    run.until(time, &mut ()).expect("a block cannot fail");
    let down = Vec3::new(angle.cos(), 0.0, -angle.sin());
    (down.dot(&(run.pose(block).position - start)), down.dot(&run.velocity(block).linear))
}

/// Block on a slope.
pub(super) fn slope(effort: Effort) -> Checks {
    let mut checks = Checks::new("slope");
    let (mu, g) = (0.5f64, 9.81);
    let critical = mu.atan();
    let margin = 0.01f64.to_radians();
    let (drift, _) = slide(critical - margin, mu, 0.0, 1e-3, 1.0);
    checks.at_most("slip in 1 s, 0.01° below tan φ = μ", drift.abs(), 1e-9, "m");
    let (slip, _) = slide(critical + margin, mu, 0.0, 1e-3, 1.0);
    let above = critical + margin;
    let exact = 0.5 * g * (above.sin() - mu * above.cos());
    checks.close("slip in 1 s, 0.01° above", slip, exact, 2e-3 * exact, "m");

    for degrees in [30.0f64, 45.0, 60.0] {
        let angle = degrees.to_radians();
        let (_, speed) = slide(angle, mu, 0.0, 1e-3, 1.0);
        let exact = g * (angle.sin() - mu * angle.cos());
        checks.close(&format!("acceleration at {degrees}°"), speed, exact, 1e-6 * exact, "m/s²");
    }

    let speed = 3.0;
    let exact = speed * speed / (2.0 * mu * g);
    let steps: &[f64] = match effort {
        Effort::Full => &[1e-2, 3e-3, 1e-3, 3e-4, 1e-4],
        Effort::Small => &[1e-2, 3e-3, 1e-3],
    };
    let mut errors = Vec::new();
    for &dt in steps {
        let (distance, rest) = slide(0.0, mu, speed, dt, 1.0);
        errors.push((distance - exact).abs());
        checks.at_most(&format!("speed after stopping, h = {dt:e} s"), rest.abs(), 1e-9, "m/s");
        checks.close(&format!("stopping distance, h = {dt:e} s"), distance, exact, speed * dt, "m");
    }
    checks.at_least("order of the stopping distance", observed_order(steps, &errors), 0.9, "1");
    spinning_block(&mut checks, effort);
    checks
}

/// A sliding block that also spins slides farther than one that does not, and stops sliding and spinning at the same time
/// (Farkas et al. 2003). On level ground the path stays straight.
fn spinning_block(checks: &mut Checks, effort: Effort) {
    let m = scenes::rock(0.4, 0.0);
    let mut scene = Scene::builder();
    scenes::add_ground(&mut scene, &m, 0.0);
    let shape = Shape::cuboid([0.1, 0.1, 0.002]).expect("positive");
    let body = BodyDescription::new(shape, &m)
        .at([0.0, 0.0, 0.001])
        .velocity([1.0, 0.0, 0.0])
        .spin([0.0, 0.0, 20.0]);
    let block = scene.add(body, &m);
    let dt = if effort == Effort::Full { 1e-4 } else { 5e-4 };
    let mut run = scenes::start(&scene, dt, 0.5, 1e-10);
    let (mut stop_slide, mut stop_spin) = (0.0, 0.0);
    while run.time() < 1.0 {
        run.step().expect("a block cannot fail");
        let v = run.velocity(block);
        if v.linear.norm() > 1e-6 {
            stop_slide = run.time();
        }
        if v.angular.norm() > 1e-5 {
            stop_spin = run.time();
        }
    }
    let straight = 1.0 / (2.0 * 0.4 * 9.81);
    let at = run.pose(block).position;
    checks.at_least("sliding distance with spin over that without", at.x / straight, 1.05, "1");
    checks.close("sliding and spinning end together", stop_slide, stop_spin, 5.0 * dt, "s");
    checks.at_most("sideways drift over the distance", at.y.abs() / at.x, 0.05, "1");
    checks.close("final height of the spinning block", at.z, 0.001, 1e-9, "m");
}

/// A sliding ball starts to roll at 5/7 of its speed, after 2 v0 / (7 μ g); effect of rolling resistance.
pub(super) fn rolling(_: Effort) -> Checks {
    let mut checks = Checks::new("rolling");
    let (mu, speed, dt) = (0.3, 2.0, 1e-4);
    let (scene, ball) = scenes::sliding_ball(mu, speed);
    let mut run = scenes::start(&scene, dt, 0.5, 1e-13);
    let mut rolls_at = 0.0;
    while run.time() < 1.0 {
        run.step().expect("a ball cannot fail");
        let v = run.velocity(ball);
        if rolls_at == 0.0 && (v.linear.x - 0.1 * v.angular.y).abs() < 1e-9 {
            rolls_at = run.time();
        }
    }
    let v = run.velocity(ball);
    // The tolerance allows for round-off over ten thousand steps.
    checks.close("speed once it rolls", v.linear.x, 5.0 / 7.0 * speed, 1e-11, "m/s");
    checks.close("spin once it rolls", v.angular.y, 5.0 / 7.0 * speed / 0.1, 1e-10, "rad/s");
    checks.close("start of rolling", rolls_at, 2.0 * speed / (7.0 * mu * 9.81), 1.5 * dt, "s");

    // With a moment of up to ρ N against the spin, v' = −5/7 g ρ / R; on a slope the ball starts to roll if tan φ > ρ / R.
    let (rolling, radius) = (1e-3, 0.1);
    let m = scenes::rock(mu, 0.0).rolling(rolling);
    let after = |angle: f64, speed: f64| {
        let (scene, ball) = scenes::ball_on_slope(&m, angle, speed, speed / radius);
        let mut run = scenes::start(&scene, dt, 0.5, 1e-13);
        run.until(1.0, &mut ()).expect("a ball cannot fail");
        let v = run.velocity(ball).linear;
        v.x * angle.cos() - v.z * angle.sin()
    };
    let slower = speed - 5.0 / 7.0 * 9.81 * rolling / radius;
    checks.close("speed after 1 s of rolling resistance", after(0.0, speed), slower, 1e-9, "m/s");
    let angle = |part: f64| (part * rolling / radius).atan();
    checks.at_most("speed at 0.99 of the critical slope", after(angle(0.99), 0.0), 1e-12, "m/s");
    let a = angle(1.01);
    let faster = 5.0 / 7.0 * 9.81 * (a.sin() - a.cos() * rolling / radius);
    checks.close("speed after 1 s at 1.01 of that slope", after(a, 0.0), faster, 1e-9, "m/s");
    checks
}

/// A wedge hanging on two points is a pendulum, which Coulomb's law does not damp.
///
/// `I θ'' = −m g d sin θ` about the axis through the points, a distance `d` above the centre of mass.
pub(super) fn hanging(effort: Effort) -> Checks {
    let mut checks = Checks::new("hanging");
    let (speed, dt) = (0.01, 2.5e-4);
    let time = if effort == Effort::Full { 10.0 } else { 3.0 };
    let (scene, wedge) = scenes::hanging_wedge(speed);
    let mut run = scenes::start(&scene, dt, 0.5, 1e-10);
    let (mut crossings, mut contacts) = (Vec::new(), 0);
    // Largest speed in the first second and in the last second.
    let mut fastest = [0.0f64; 2];
    let mut before = run.pose(wedge).position.y;
    while run.time() < time - 0.5 * dt {
        contacts = contacts.max(run.step().expect("a wedge cannot fail").contacts);
        let y = run.pose(wedge).position.y;
        if before < 0.0 && y >= 0.0 {
            crossings.push(run.time() - dt * y / (y - before));
        }
        before = y;
        let v = run.velocity(wedge).linear.norm();
        for (fastest, counts) in fastest.iter_mut().zip([run.time() < 1.0, run.time() > time - 1.0])
        {
            *fastest = if counts { fastest.max(v) } else { *fastest };
        }
    }
    // The squared radius of gyration of the wedge about its own centre is H²/18 + L²/12.
    let (height, length, below): (f64, f64, f64) = (0.04, 0.03, 0.028 / 3.0);
    let gyration = height * height / 18.0 + length * length / 12.0 + below * below;
    let omega = (9.81 * below / gyration).sqrt();
    let angle = speed / below / omega;
    let exact = std::f64::consts::TAU / omega * (1.0 + angle * angle / 16.0);
    let period = match crossings[..] {
        [first, .., last] => (last - first) / (crossings.len() - 1) as f64,
        _ => f64::NAN,
    };
    checks.close("period", period, exact, 1e-3 * exact, "s");
    checks.close("max contacts", contacts as f64, 2.0, 0.0, "1");
    checks.close(
        "largest speed in the last second over the first",
        fastest[1] / fastest[0],
        1.0,
        0.01,
        "1",
    );
    checks
}

/// Newton's impact law with e = 1 at all contacts simultaneously.
pub(super) fn three_balls(_: Effort) -> Checks {
    let mut checks = Checks::new("three-balls");
    let (scene, balls) = scenes::three_balls();
    let mut run = scenes::start(&scene, 1.0 / 64.0, 0.5, 1e-15);
    run.until(1.0, &mut ()).expect("balls cannot fail");
    for (ball, exact) in balls.into_iter().zip([-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]) {
        let name = format!("velocity of ball {}", ball.0 + 1);
        checks.close(&name, run.velocity(ball).linear.x, exact, 1e-12, "m/s");
    }
    checks
}

/// Spinning polyhedra that collide without gravity.
pub(super) fn momentum(effort: Effort) -> Checks {
    let mut checks = Checks::new("momentum");
    for restitution in [0.0, 0.6, 1.0] {
        let mut rng = riprap::grains::seeded(7);
        let m = scenes::rock(0.5, restitution);
        let mut scene = Scene::builder();
        scene.gravity([0.0; 3]);
        let n = if effort == Effort::Full { 27 } else { 8 };
        for k in 0..n {
            let stone = riprap::grains::StoneGenerator::default()
                .generate(0.04, &mut rng)
                .expect("a stone");
            let at =
                Vec3::new((k % 3) as f64, (k / 3 % 3) as f64, (k / 9) as f64) - Vec3::repeat(1.0);
            let spin = Vec3::new(at.y, at.z, -at.x) * 20.0 + Vec3::new(3.0, -5.0, 7.0);
            let shape = Shape::Polyhedron(std::sync::Arc::new(stone));
            let body = BodyDescription::new(shape, &m)
                .at((at * 0.08).into())
                .velocity((at * -0.5 + Vec3::new(0.1, 0.2, 0.3)).into())
                .spin(spin.into());
            scene.add(body, &m);
        }
        let mut run = scenes::start(&scene, 1e-3, 0.5, 1e-6);
        let before = Balance::of(run.scene(), run.state());
        let report = run.until(0.5, &mut ()).expect("stones cannot fail");
        let after = Balance::of(run.scene(), run.state());
        let p = (after.momentum - before.momentum).norm() / before.momentum.norm();
        let scale = before.angular_momentum.norm();
        let l = (after.angular_momentum - before.angular_momentum).norm() / scale;
        checks.at_least(
            &format!("contacts, e = {restitution}"),
            report.contacts.0 as f64,
            10.0,
            "1",
        );
        checks.at_most(&format!("change of momentum, e = {restitution}"), p, 1e-12, "1");
        checks.at_most(&format!("change of angular momentum, e = {restitution}"), l, 1e-12, "1");
        if restitution == 0.0 {
            let loss = after.kinetic / before.kinetic;
            checks.at_most("kinetic energy after over before, e = 0", loss, 1.0, "1");
        }
    }
    checks
}

/// A symmetric body in free rotation: its axis precesses about the angular momentum `L` at the rate `L / J_across`.
pub(super) fn tumbling(effort: Effort) -> Checks {
    let mut checks = Checks::new("tumbling");
    let m = scenes::rock(0.0, 0.0);
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let shape = Shape::cuboid([0.1, 0.1, 0.3]).expect("positive");
    let body = scene.add(BodyDescription::new(shape, &m).spin([3.0, 0.0, 5.0]), &m);
    let time = 4.0;
    let steps: &[f64] = match effort {
        Effort::Full => &[2e-2, 1e-2, 5e-3, 2e-3, 1e-3],
        Effort::Small => &[2e-2, 1e-2, 5e-3],
    };
    let mut errors = Vec::new();
    for &dt in steps {
        let mut run = scenes::start(&scene, dt, 0.5, 1e-6);
        let before = Balance::of(run.scene(), run.state());
        run.until(time, &mut ()).expect("a free body cannot fail");
        let after = Balance::of(run.scene(), run.state());
        let l = before.angular_momentum;
        let across = run.scene().bodies().inertia[run.scene().slot(body)][(0, 0)];
        let exact = Quat::from_scaled_axis(l * (time / across)) * Vec3::z();
        let axis = run.pose(body).rotation * Vec3::z();
        errors.push((axis - exact).norm());
        let drift = (after.angular_momentum - l).norm() / l.norm();
        // Only round-off, which accumulates over the steps.
        let limit = 1e-15 * (time / dt).max(1000.0);
        checks.at_most(&format!("change of angular momentum, h = {dt:e} s"), drift, limit, "1");
        let gain = (after.kinetic / before.kinetic - 1.0).abs();
        checks.at_most(&format!("change of energy, h = {dt:e} s"), gain, 10.0 * dt * dt, "1");
    }
    checks.close("observed order of the axis", observed_order(steps, &errors), 2.0, 0.1, "1");
    checks
}

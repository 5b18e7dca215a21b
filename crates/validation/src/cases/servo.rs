//! Servos and forces as laws of time and state: closed forms, a plate on a settling bed, and a triaxial cell.

use riprap::prelude::*;
use riprap::scene::LoadInputs;
use riprap_io::scene_file::SceneFile;

use crate::{Checks, Effort};

const DOWN: [f64; 3] = [0.0, 0.0, -1.0];

/// All checks.
pub(super) fn servo(effort: Effort) -> Checks {
    let mut checks = Checks::new("servo");
    oscillator(&mut checks);
    rigid_stop(&mut checks);
    elastic_stop(&mut checks);
    bed(&mut checks, effort);
    triaxial(&mut checks);
    checks
}

fn steel() -> Material {
    Material::new("steel").density(7800.0).friction(0.3)
}

fn plate(side: f64) -> BodyDescription {
    let shape = Shape::cuboid([side, side, 0.01]).expect("positive");
    BodyDescription::new(shape, &steel()).named("plate")
}

fn simulation(scene: &SceneBuilder, dt: f64) -> Simulation {
    let scene = scene.build().unwrap_or_else(|e| panic!("{e}"));
    Simulation::new(scene, MoreauJean::new(dt)).expect("a valid scheme")
}

fn run_to(run: &mut Simulation, t: f64) {
    run.until(t, &mut ()).unwrap_or_else(|e| panic!("{e}"));
}

/// A ball on a spring and a damper, driven by `F sin ωt`, compared with the closed form.
fn oscillator(checks: &mut Checks) {
    let (m, k, c, push, omega) = (2.0_f64, 80.0, 1.5, 12.0, 5.0);
    let error = |dt: f64| {
        let law = StateLaw::new(move |at: &LoadInputs| {
            let (x, v) = (at.pose().position.x, at.velocity().linear.x);
            Vec3::x() * (-k * x - c * v + push * (omega * at.t).sin())
        });
        let mut scene = Scene::builder();
        scene.gravity([0.0; 3]);
        let ball = BodyDescription::new(Shape::sphere(0.1).expect("positive"), &steel()).mass(m);
        let ball = scene.add(ball.pushed(law), &steel());
        let mut run = simulation(&scene, dt);
        run_to(&mut run, 2.0);
        // From rest at the origin: the steady oscillation and the decaying one.
        let (stiff, decay) = (k - m * omega * omega, 0.5 * c / m);
        let d = stiff * stiff + (c * omega).powi(2);
        let (a, b) = (push * stiff / d, -push * c * omega / d);
        let own = (k / m - decay * decay).sqrt();
        let (c1, c2) = (-b, (-decay * b - a * omega) / own);
        let t = run.time();
        let (sin, cos) = (own * t).sin_cos();
        let exact = (-decay * t).exp() * (c1 * cos + c2 * sin)
            + a * (omega * t).sin()
            + b * (omega * t).cos();
        // Bound of second order: the phase of the free oscillation advances too fast by (Ωh)²/24, the response changes as if
        // the mass in it were smaller by (ωh)²/12.
        let phase = (own * dt).powi(2) / 24.0 * own * t * c1.hypot(c2);
        let response = (omega * dt).powi(2) / 12.0 * m * omega * omega * push / d;
        ((run.pose(ball).position.x - exact).abs(), phase + 2.0 * response)
    };
    let [(coarse, _), (fine, bound)] = [4e-3, 2e-3].map(error);
    checks.close("driven oscillator: order", (coarse / fine).log2(), 2.0, 0.1, "1");
    checks.at_most("driven oscillator: error at 2 s, h = 2 ms", fine, bound, "m");
}

/// A plate approaches a rigid floor from 50 mm with 5 N and at most 0.1 m/s.
fn rigid_stop(checks: &mut Checks) {
    let (dt, force, limit, gap) = (1e-3, 5.0, 0.1, 0.05);
    let mut scene = Scene::builder();
    let floor = Shape::half_space([0.0, 0.0, 1.0]).expect("a normal");
    scene.add_fixed(floor, Pose::IDENTITY, &steel());
    let servo = Servo::along(DOWN, StateLaw::constant(force)).speed(limit);
    let plate = scene.add(plate(0.2).at([0.0, 0.0, 0.005 + gap]).servo(servo), &steel());
    let mut run = simulation(&scene, dt);
    let mass = run.scene().bodies().mass[run.scene().slot(plate)];
    let (mut fastest, mut arrival) = (0.0_f64, f64::NAN);
    while run.time() < 1.0 {
        run.step().unwrap_or_else(|e| panic!("{e}"));
        fastest = fastest.max(run.velocity(plate).linear.norm());
        if arrival.is_nan() && run.frame().contact_force(plate).z > 0.0 {
            arrival = run.time();
        }
    }
    // Accelerated to the limit, then at the limit.
    let expected = gap / limit + 0.5 * mass * limit / force;
    checks.close("rigid stop: arrival", arrival, expected, 2.0 * dt, "s");
    checks.close("rigid stop: largest speed", fastest, limit, 1e-8, "m/s");
    let pressed = run.frame().contact_force(plate).z;
    checks.close("rigid stop: force on the floor / target", pressed / force, 1.0, 1e-8, "1");
}

/// A plate on an elastic stop: `m z̈ + c ż + k z = −F` from rest.
fn elastic_stop(checks: &mut Checks) {
    let (m, k, c, force, t) = (3.0_f64, 2e3, 20.0, 50.0, 0.25_f64);
    let decay = 0.5 * c / m;
    let own = (k / m - decay * decay).sqrt();
    let (sin, cos) = (own * t).sin_cos();
    let exact = -force / k * (1.0 - (-decay * t).exp() * (cos + decay / own * sin));
    let mut settled = f64::NAN;
    let mut error = |dt: f64| {
        let stop = StateLaw::new(move |at: &LoadInputs| {
            Vec3::z() * (-k * at.pose().position.z - c * at.velocity().linear.z)
        });
        let servo = Servo::along(DOWN, StateLaw::constant(force)).speed(10.0);
        let mut scene = Scene::builder();
        let plate = scene.add(plate(0.2).mass(m).servo(servo).pushed(stop), &steel());
        let mut run = simulation(&scene, dt);
        run_to(&mut run, t);
        let early = run.pose(plate).position.z;
        run_to(&mut run, 5.0);
        settled = run.pose(plate).position.z;
        (early - exact).abs()
    };
    let errors = [2e-3, 1e-3].map(&mut error);
    let order = (errors[0] / errors[1]).log2();
    checks.close("elastic stop: order", order, 2.0, 0.1, "1");
    checks.close("elastic stop: compression / (F/k)", -settled * k / force, 1.0, 1e-6, "1");
}

/// Spheres that fall into a box below a plate, which presses them with a force that doubles after a while; the box sinks all the time.
fn bed(checks: &mut Checks, effort: Effort) {
    let (n, layers) = match effort {
        Effort::Small => (4, 6),
        _ => (6, 12),
    };
    let (radius, pitch) = (0.02, 0.046);
    let (side, limit, force, sinking) = (pitch * f64::from(n), 0.4, 400.0, 0.02);
    let grit = Material::new("grit").density(2600.0).friction(0.4);
    let mut scene = Scene::builder();
    let walls = Shape::open_box([side, side, 2.0], 0.05).expect("positive");
    let linear = Law::constant([0.0, 0.0, -sinking]);
    let down = Motion::Velocity { linear, angular: Law::constant([0.0; 3]) };
    scene.add(BodyDescription::new(walls, &grit).moving(down), &grit);
    for k in 0..n * n * layers {
        let (i, j, l) = (k % n, k / n % n, k / (n * n));
        // Shifted so that the layers do not stay on top of each other.
        let shift = 0.004 * f64::from((7 * k + 3 * l) % 5 - 2) / 4.0;
        let place = |i: i32| pitch * (f64::from(i) + 0.5) - 0.5 * side;
        let at = [place(i) + shift, place(j) - shift, radius + pitch * f64::from(l)];
        let ball = Shape::sphere(radius).expect("positive");
        scene.add(BodyDescription::new(ball, &grit).at(at), &grit);
    }
    let double = 0.8;
    let target =
        StateLaw::new(move |at: &LoadInputs| if at.t < double { force } else { 2.0 * force });
    let servo = Servo::along(DOWN, target).speed(limit);
    let top = pitch * f64::from(layers) + 0.03;
    let plate = plate(side - 0.002).mass(5.0).at([0.0, 0.0, top]).servo(servo);
    let plate = scene.add(plate, &steel());
    let mut run = simulation(&scene, 5e-4);
    let mut fastest = 0.0_f64;
    let mut sums = [(0.0, 0); 3];
    let mut height = [f64::NAN; 2];
    // While the grains settle under the plate, later, and after the step of the target.
    let windows = [(0.4, 0.6), (0.6, 0.8), (1.0, 1.2)];
    while run.time() < 1.2 {
        run.step().unwrap_or_else(|e| panic!("{e}"));
        fastest = fastest.max(run.velocity(plate).linear.norm());
        let (t, pressed) = (run.time(), run.frame().contact_force(plate).z);
        for (at, height) in [0.4, 1.2].into_iter().zip(&mut height) {
            if t <= at {
                *height = run.pose(plate).position.z;
            }
        }
        for (sum, (from, to)) in sums.iter_mut().zip(windows) {
            if t > from && t <= to {
                (sum.0, sum.1) = (sum.0 + pressed, sum.1 + 1);
            }
        }
    }
    checks.at_most("bed: largest speed of the plate", fastest, limit * (1.0 + 1e-5), "m/s");
    // 0.8 s with the box, and what the grains settle.
    let sunk = height[0] - height[1];
    checks.at_least("bed: way of the plate in 0.8 s", sunk, 0.8 * sinking - 1e-3, "m");
    let names = ["while it settles", "later", "after the target doubled"];
    for ((name, (sum, count)), share) in names.iter().zip(sums).zip([1.0, 1.0, 2.0]) {
        let mean = sum / f64::from(count) / (share * force);
        checks.close(&format!("bed: mean force / target, {name}"), mean, 1.0, 0.01, "1");
    }
}

/// Five servo plates and a floor around spheres, with stress targets whose areas follow from the other plates.
fn triaxial(checks: &mut Checks) {
    let text = include_str!("../../data/triaxial.toml");
    let file = SceneFile::parse(text, ".").unwrap_or_else(|e| panic!("{e}"));
    let until = file.run.until;
    let built = file.build().unwrap_or_else(|e| panic!("{e}"));
    let mut run = Simulation::new(built.scene, file.scheme()).unwrap_or_else(|e| panic!("{e}"));
    let body = |run: &Simulation, name: &str| run.scene().body(name).expect("a plate");
    let names = ["left", "right", "front", "back", "top"];
    let (mut sums, mut areas) = ([0.0; 5], [0.0; 5]);
    run_to(&mut run, until - 0.1);
    while run.time() < until - 1e-9 {
        run.step().unwrap_or_else(|e| panic!("{e}"));
        let at = |name: &str| run.pose(body(&run, name)).position;
        let x = at("right").x - at("left").x - 0.02;
        let y = at("back").y - at("front").y - 0.02;
        let z = at("top").z - 0.01;
        let now = [y * z, y * z, x * z, x * z, x * y];
        for (k, name) in names.iter().enumerate() {
            let force = run.frame().contact_force(body(&run, name));
            sums[k] += force.norm();
            areas[k] += now[k];
        }
    }
    for (k, name) in names.iter().enumerate() {
        // Spheres with this friction fail near a ratio of two.
        let target = if *name == "top" { 30e3 } else { 20e3 };
        let quantity = format!("triaxial cell: mean stress on `{name}` / target");
        checks.close(&quantity, sums[k] / areas[k] / target, 1.0, 0.01, "1");
    }
    // Opposite plates push equally and without friction: nothing keeps the sample from drifting between them.
    let velocity = |name: &str| run.velocity(body(&run, name)).linear;
    let rates = [velocity("left") - velocity("right"), velocity("front") - velocity("back")];
    let rates = rates.map(|v| v.norm()).into_iter().chain([velocity("top").norm()]);
    let fastest = rates.fold(0.0_f64, f64::max);
    checks.at_most("triaxial cell: speed of compression at the end", fastest, 0.01, "m/s");
}

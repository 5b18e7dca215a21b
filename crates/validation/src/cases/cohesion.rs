//! Cohesion and static friction compared with closed forms: pull-off forces, friction under cohesion, chains that hang from a
//! ceiling, collisions, the speed below which a sphere sticks; a block on a slope, an oscillator on a belt; heaps.

mod friction;
mod heap;

use std::f64::consts::PI;

use riprap::prelude::*;
use riprap::simulation::EnergyAccount;

use crate::{Checks, Effort};

const G: f64 = 9.81;
const DENSITY: f64 = 2500.0;
/// Radius of the spheres, half the side of the cubes [m].
const RADIUS: f64 = 0.01;

/// All checks.
pub(super) fn cohesion(effort: Effort) -> Checks {
    let mut checks = Checks::new("cohesion");
    pull_off(&mut checks);
    surface_energy(&mut checks);
    friction_limit(&mut checks);
    ceiling(&mut checks);
    collisions(&mut checks);
    sticking(&mut checks, effort);
    work(&mut checks);
    friction::slope(&mut checks);
    friction::belt(&mut checks, effort);
    heap::heaps(&mut checks, effort);
    checks
}

/// A material that adheres with a force [N].
fn sticky(cohesion: f64) -> Material {
    Material::new("sticky").density(DENSITY).friction(0.5).cohesion(cohesion)
}

fn sphere(radius: f64) -> Shape {
    Shape::sphere(radius).expect("positive")
}

fn cube() -> Shape {
    Shape::cuboid([2.0 * RADIUS; 3]).expect("positive")
}

/// A fixed half-space below z = 0.
fn add_floor(scene: &mut SceneBuilder, material: &Material) {
    let floor = Shape::half_space([0.0, 0.0, 1.0]).expect("a normal");
    scene.add_fixed(floor, Pose::IDENTITY, material);
}

fn simulation(scene: &SceneBuilder, dt: f64) -> Simulation {
    let scheme = MoreauJean::new(dt).solver(Coloured::tolerance(1e-10));
    let scene = scene.build().unwrap_or_else(|e| panic!("{e}"));
    Simulation::new(scene, scheme).expect("a valid scheme")
}

/// The bodies of a pair: a fixed one below z = 0, or the floor, and a free one above.
struct Pair {
    name: &'static str,
    /// Radius of the fixed sphere [m]; the floor without it.
    below: Option<f64>,
    above: Shape,
    /// Effective radius by the closed form [m].
    radius: f64,
}

fn pairs() -> [Pair; 3] {
    let equal_volume = 2.0 * RADIUS * (0.75 / PI).cbrt();
    [
        Pair { name: "sphere on sphere", below: Some(0.03), above: sphere(RADIUS), radius: 0.0075 },
        Pair { name: "sphere on plane", below: None, above: sphere(RADIUS), radius: RADIUS },
        Pair { name: "cube on plane", below: None, above: cube(), radius: equal_volume },
    ]
}

/// How far the upper body of a pair moves in a second without gravity when pulled with a force [N].
fn moved(pair: &Pair, material: &Material, force: f64) -> f64 {
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    match pair.below {
        None => add_floor(&mut scene, material),
        Some(radius) => {
            scene.add_fixed(sphere(radius), Pose::at([0.0, 0.0, -radius]), material);
        }
    }
    let mut body = BodyDescription::new(pair.above.clone(), material).at([0.0, 0.0, RADIUS]);
    body.force = Vec3::new(0.0, 0.0, force);
    let body = scene.add(body, material);
    let mut run = simulation(&scene, 1e-3);
    run.until(1.0, &mut ()).unwrap_or_else(|e| panic!("{e}"));
    run.pose(body).position.z - RADIUS
}

/// Notes that a body holds at 0.999 of a force and moves at 1.001 of it.
fn holds_and_parts(checks: &mut Checks, what: &str, limit: f64, moved: impl Fn(f64) -> f64) {
    // At rest up to the tolerance of the solver.
    let held = moved(0.999 * limit).abs() / RADIUS;
    checks.at_most(&format!("{what}: motion at 0.999 of the limit"), held, 1e-8, "radii");
    let parted = moved(1.001 * limit) / RADIUS;
    checks.at_least(&format!("{what}: motion at 1.001 of the limit"), parted, 1e-3, "radii");
}

/// Pairs part at their cohesion, however many points they touch at.
fn pull_off(checks: &mut Checks) {
    for restitution in [0.0, 0.5] {
        for pair in pairs() {
            let force = 0.02;
            let material = sticky(force).restitution(restitution);
            let what = format!("{}, e {restitution}: cohesion", pair.name);
            holds_and_parts(checks, &what, force, |f| moved(&pair, &material, f));
        }
    }
}

/// Pairs part at 3/2 π w R.
fn surface_energy(checks: &mut Checks) {
    let energy = 0.5;
    let material = Material::new("wet").density(DENSITY).surface_energy(energy);
    for pair in pairs() {
        let what = format!("{}: surface energy", pair.name);
        let limit = 1.5 * PI * energy * pair.radius;
        holds_and_parts(checks, &what, limit, |f| moved(&pair, &material, f));
    }
}

/// A plate of weight N starts to slide at μ (N + c).
fn friction_limit(checks: &mut Checks) {
    let (c, sides) = (0.2, [0.04, 0.04, 0.004]);
    let material = sticky(c);
    let weight = DENSITY * sides.iter().product::<f64>() * G;
    let slid = |force: f64| {
        let mut scene = Scene::builder();
        add_floor(&mut scene, &material);
        let plate = Shape::cuboid(sides).expect("positive");
        let mut plate = BodyDescription::new(plate, &material).at([0.0, 0.0, 0.5 * sides[2]]);
        plate.force = Vec3::new(force, 0.0, 0.0);
        let plate = scene.add(plate, &material);
        let mut run = simulation(&scene, 1e-3);
        run.until(1.0, &mut ()).unwrap_or_else(|e| panic!("{e}"));
        run.pose(plate).position.x
    };
    holds_and_parts(checks, "plate pulled sideways, μ (N + c)", 0.5 * (weight + c), slid);
}

/// A chain of five spheres hangs from a ceiling if the uppermost contact carries their weight.
fn ceiling(checks: &mut Checks) {
    let n = 5;
    let weight = f64::from(n) * DENSITY * 4.0 / 3.0 * PI * RADIUS.powi(3) * G;
    let fallen = |cohesion: f64| {
        let material = sticky(cohesion);
        let mut scene = Scene::builder();
        let ceiling = Shape::half_space([0.0, 0.0, -1.0]).expect("a normal");
        scene.add_fixed(ceiling, Pose::IDENTITY, &material);
        for k in 0..n {
            let at = [0.0, 0.0, -RADIUS * (2.0 * f64::from(k) + 1.0)];
            scene.add(BodyDescription::new(sphere(RADIUS), &material).at(at), &material);
        }
        let mut run = simulation(&scene, 1e-3);
        let first = run.scene().body_at(1);
        run.until(1.0, &mut ()).unwrap_or_else(|e| panic!("{e}"));
        -RADIUS - run.pose(first).position.z
    };
    let held = fallen(1.001 * weight) / RADIUS;
    checks.at_most("chain of 5 below a ceiling, c 1.001 of its weight: fall", held, 1e-8, "radii");
    let fell = fallen(0.999 * weight) / RADIUS;
    checks.at_least("chain of 5 below a ceiling, c 0.999 of its weight: fall", fell, 0.1, "radii");
}

/// Spheres that collide off centre keep their momenta, whether they stick or part.
fn collisions(checks: &mut Checks) {
    for (what, speed, sticks) in [("slow", 0.02, true), ("fast", 2.0, false)] {
        let material = sticky(0.05).restitution(0.3);
        let mut scene = Scene::builder();
        scene.gravity([0.0; 3]);
        let mut ball = |x: f64, y: f64, v: f64| {
            let ball = BodyDescription::new(sphere(RADIUS), &material).at([x, y, 0.0]);
            scene.add(ball.velocity([v, 0.0, 0.0]), &material)
        };
        let [a, b] = [ball(-0.011, 0.0, speed), ball(0.011, 0.006, 0.0)];
        let mut run = simulation(&scene, 1e-4);
        let before = run.frame().balance();
        run.until(0.02 / speed, &mut ()).unwrap_or_else(|e| panic!("{e}"));
        let after = run.frame().balance();
        let size = before.momentum.norm();
        let change = (after.momentum - before.momentum).norm() / size;
        checks.at_most(&format!("{what} collision: change of momentum"), change, 1e-12, "1");
        let change = (after.angular_momentum - before.angular_momentum).norm() / (size * RADIUS);
        checks.at_most(&format!("{what} collision: change of angular momentum"), change, 1e-9, "1");
        let apart = (run.pose(b).position - run.pose(a).position).norm() / (2.0 * RADIUS) - 1.0;
        if sticks {
            checks.at_most(&format!("{what} collision: gap at the end"), apart, 1e-3, "diameters");
        } else {
            checks.at_least(&format!("{what} collision: gap at the end"), apart, 0.1, "diameters");
        }
    }
}

/// A sphere that meets a plane sticks if and only if it is slower than √(1−e²)/e √(2 c δ/m).
fn sticking(checks: &mut Checks, effort: Effort) {
    let (c, range) = (0.05, 2e-4);
    let mass = DENSITY * 4.0 / 3.0 * PI * RADIUS.powi(3);
    // Speeds, and the part of the range in a step: the error of the speed is half of it.
    let (speeds, step): (&[f64], f64) = match effort {
        Effort::Full => {
            (&[0.25, 0.5, 0.75, 0.9, 0.97, 0.99, 1.01, 1.03, 1.1, 1.25, 1.5, 2.0], 1e-3)
        }
        Effort::Small => (&[0.5, 0.97, 1.03, 1.5], 4e-3),
    };
    for e in [0.3, 0.6] {
        let escape = (1.0_f64 - e * e).sqrt() / e * (2.0 * c * range / mass).sqrt();
        let material = sticky(c).cohesion_range(range).restitution(e);
        let away = |share: &f64| {
            let speed = share * escape;
            let mut scene = Scene::builder();
            scene.gravity([0.0; 3]);
            add_floor(&mut scene, &material);
            let ball = BodyDescription::new(sphere(RADIUS), &material);
            let ball = ball.at([0.0, 0.0, RADIUS + 1.5 * range]).velocity([0.0, 0.0, -speed]);
            let ball = scene.add(ball, &material);
            let mut run = simulation(&scene, step * range / escape);
            run.until(12.0 * range / speed, &mut ()).unwrap_or_else(|e| panic!("{e}"));
            run.pose(ball).position.z - RADIUS > 1.01 * range
        };
        let wrong = speeds.iter().filter(|share| away(share) != (**share > 1.0)).count();
        let what = format!("sphere against a plane, e {e}: wrong ones of {} speeds", speeds.len());
        checks.at_most(&what, wrong as f64, 0.0, "1");
    }
}

/// Parting a pair takes c δ, which the account of energies lists.
fn work(checks: &mut Checks) {
    let (c, range, speed) = (0.05, 2e-4, 0.2);
    let material = sticky(c).cohesion_range(range);
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    add_floor(&mut scene, &material);
    let ball = BodyDescription::new(sphere(RADIUS), &material).at([0.0, 0.0, RADIUS]);
    scene.add(ball.velocity([0.0, 0.0, speed]), &material);
    // A thousandth of the range in a step.
    let mut run = simulation(&scene, 1e-3 * range / speed);
    let mut account = EnergyAccount::open(&run.frame());
    let start = run.frame().balance().kinetic;
    while run.time() < 3.0 * range / speed {
        run.step().unwrap_or_else(|e| panic!("{e}"));
        account.add(&run.frame());
    }
    let lost = start - run.frame().balance().kinetic;
    checks.close("a sphere thrown off a plane: energy / c δ", lost / (c * range), 1.0, 2e-3, "1");
    let rest = (account.cohesion - lost).abs() / lost;
    checks.at_most("a sphere thrown off a plane: error of the account", rest, 1e-10, "1");
}

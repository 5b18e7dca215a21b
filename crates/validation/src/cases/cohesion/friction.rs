//! Static and kinetic friction.

use std::f64::consts::PI;

use riprap::prelude::*;

use super::{DENSITY, G, add_floor, simulation};
use crate::{Checks, Effort};

const HELD: f64 = 0.6;
const SLIDING: f64 = 0.4;

fn material() -> Material {
    Material::new("rough").density(DENSITY).friction(SLIDING).static_friction(HELD)
}

/// A block on a slope starts at tan φ = μ_s and then accelerates with g (sin φ − μ cos φ).
pub(super) fn slope(checks: &mut Checks) {
    let speed_after = |slope: f64, start: f64, time: f64| {
        let angle = slope.atan();
        let mut scene = Scene::builder();
        scene.gravity([G * angle.sin(), 0.0, -G * angle.cos()]);
        add_floor(&mut scene, &material());
        let block = Shape::cuboid([0.2, 0.1, 0.05]).expect("positive");
        let block = BodyDescription::new(block, &material()).at([0.0, 0.0, 0.025]);
        let block = scene.add(block.velocity([start, 0.0, 0.0]), &material());
        let mut run = simulation(&scene, 1e-3);
        run.until(time, &mut ()).unwrap_or_else(|e| panic!("{e}"));
        run.velocity(block).linear.x
    };
    let rate = |slope: f64| G * (slope - SLIDING) * slope.atan().cos();
    let held = speed_after(0.999 * HELD, 0.0, 1.0).abs();
    checks.at_most("block on a slope of 0.999 μ_s: speed after 1 s", held, 1e-8, "m/s");
    for (what, slope, start) in [
        ("from rest on a slope of 1.001 μ_s", 1.001 * HELD, 0.0),
        ("sliding between μ and μ_s", 0.5, 0.2),
    ] {
        // Between two times, so that the beginning does not matter.
        let [first, second] = [0.5, 1.0].map(|time| speed_after(slope, start, time));
        let measured = (second - first) / 0.5;
        let quantity = format!("block {what}: acceleration / g (sin φ − μ cos φ)");
        checks.close(&quantity, measured / rate(slope), 1.0, 1e-6, "1");
        // A few steps pass until it counts as sliding.
        let quantity = format!("block {what}: speed after 1 s / closed form");
        checks.close(&quantity, second / (start + rate(slope)), 1.0, 0.02, "1");
    }
}

/// A block on a belt that moves with `speed` [m/s], held by a spring: it sticks until the spring pulls with μ_s N, slips
/// about the balance with μ N, and sticks again. With ω² = k/m and Δ = (μ_s − μ) N/k the period is
/// 2Δ/v + 2/ω (π − arctan(ωΔ/v)), and the largest elongation μ N/k + √(Δ² + v²/ω²).
pub(super) fn belt(checks: &mut Checks, effort: Effort) {
    let (mass, stiffness, speed) = (1.0_f64, 400.0_f64, 0.1_f64);
    let omega = (stiffness / mass).sqrt();
    let [balance, largest] = [SLIDING, HELD].map(|mu| mu * mass * G / stiffness);
    let delta = largest - balance;
    let slip = 2.0 / omega * (PI - (omega * delta / speed).atan());
    let period = 2.0 * delta / speed + slip;
    let elongation = balance + (delta * delta + (speed / omega).powi(2)).sqrt();
    let steps: &[f64] = match effort {
        Effort::Full => &[1e-3, 5e-4, 2.5e-4, 1.25e-4],
        Effort::Small => &[1e-3, 5e-4],
    };
    let mut errors = Vec::new();
    for &dt in steps {
        let (found, reach) = oscillate(mass, stiffness, speed, dt, 5.0 * period);
        errors.push((found / period - 1.0).abs());
        if dt == steps[steps.len() - 1] {
            // A contact slides once its slip exceeds 1e-3 g h, which the pull of the spring reaches after √(2e-3 g h m/(k v)),
            // 0.2 % of the period with the largest step.
            checks.close("block on a belt: period / closed form", found / period, 1.0, 0.01, "1");
            let what = "block on a belt: largest elongation / closed form";
            checks.close(what, reach / elongation, 1.0, 0.01, "1");
        }
    }
    let fall = errors[0] / errors[errors.len() - 1].max(1e-6);
    // That delay falls with the square root of the step, and the period is sampled by whole steps.
    let what = "block on a belt: error of the period, largest step / smallest";
    checks.at_least(what, fall, 1.0, "1");
}

/// Mean period between the starts of slip, and the largest elongation of the spring, of a block on a belt.
fn oscillate(mass: f64, stiffness: f64, speed: f64, dt: f64, until: f64) -> (f64, f64) {
    let m = material();
    let mut scene = Scene::builder();
    scene.gravity([0.0, 0.0, -G]);
    let belt = Shape::half_space([0.0, 0.0, 1.0]).expect("a normal");
    let motion = Motion::Velocity {
        linear: Law::constant([speed, 0.0, 0.0]),
        angular: Law::constant([0.0; 3]),
    };
    scene.add(BodyDescription::new(belt, &m).moving(motion), &m);
    let mut block = Mechanism::new("block");
    let properties = MassProperties::principal(mass, [0.0; 3], [1e-2; 3]);
    let along = Joint::Prismatic(Axis::X);
    let cart = block.add("cart", GROUND, along, Pose::at([0.0, 0.0, 0.05]), None);
    let body = block.add("body", cart, Joint::Prismatic(Axis::Z), Pose::IDENTITY, Some(properties));
    block.attach(body, Shape::sphere(0.05).expect("positive"), Pose::IDENTITY, "rough");
    let spring = JointSpring { stiffness, rest: 0.0, damping: 0.0 };
    block.spring(block.coordinate(cart, 0), spring);
    scene.add_mechanism(block);
    let mut run = simulation(&scene, dt);
    let (mut starts, mut reach, mut slipped) = (Vec::new(), 0.0_f64, false);
    let mut last = 0.0;
    while run.time() < until {
        run.step().unwrap_or_else(|e| panic!("{e}"));
        let state = &run.state().mechanisms[0];
        let (x, v) = (state.q[0], state.v[0]);
        reach = reach.max(x);
        // The block moves with the belt while it sticks.
        let slips = (v - speed).abs() > 1e-3 * speed;
        if slips && !slipped {
            starts.push(last);
        }
        slipped = slips;
        last = run.time();
    }
    // Without the first slip: the spring starts slack, with the block at rest on the moving belt.
    let (first, count) = (starts[1], starts.len() - 2);
    ((starts[starts.len() - 1] - first) / count as f64, reach)
}

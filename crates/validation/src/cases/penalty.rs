//! Soft contact: collisions against closed forms, energy balance, friction, and a pile compared with hard contact.

mod pile;

use crate::check::observed_order;
use crate::{Checks, Effort};
use riprap::prelude::*;
use riprap::scene::SchemeState;
use riprap::scheme::penalty::{hertz_restitution, linear_ratio, linear_restitution};
use riprap::scheme::{Integrator, NormalLaw, PenaltyLaw};

/// Young's modulus [Pa], Poisson's ratio [–] and density [kg/m³] of the colliding spheres.
const YOUNG: f64 = 1e9;
const POISSON: f64 = 0.25;
const DENSITY: f64 = 2000.0;
/// Their radii [m].
const RADII: [f64; 2] = [0.05, 0.08];

/// All checks of the scheme.
pub(super) fn penalty(effort: Effort) -> Checks {
    let mut checks = Checks::new("penalty");
    linear(&mut checks, effort);
    hertz(&mut checks, effort);
    energy(&mut checks, effort);
    vibration(&mut checks);
    slope(&mut checks);
    pile::pile(&mut checks, effort);
    checks
}

fn name(integrator: Integrator) -> &'static str {
    match integrator {
        Integrator::Verlet => "Verlet",
        Integrator::RungeKutta => "RK4",
    }
}

fn sphere(radius: f64, material: &Material) -> BodyDescription {
    BodyDescription::new(Shape::sphere(radius).expect("positive"), material)
}

/// Two spheres on the x axis, `gap` [m] apart, that approach each other with a velocity [m/s]; `aside` [m/s] is the velocity
/// of the first one along y.
fn collision(material: &Material, velocity: f64, gap: f64, aside: f64) -> Scene {
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let spin = [0.0, 0.0, if aside == 0.0 { 0.0 } else { 4.0 }];
    let first = sphere(RADII[0], material).velocity([0.6 * velocity, aside, 0.0]).spin(spin);
    let at = [RADII[0] + RADII[1] + gap, 0.0, 0.0];
    let second = sphere(RADII[1], material).at(at).velocity([-0.4 * velocity, 0.0, 0.0]);
    scene.add(first, material);
    scene.add(second, material);
    scene.build().expect("two spheres")
}

/// Reduced mass [kg] and effective radius [m] of the two spheres.
fn reduced() -> (f64, f64) {
    let mass = RADII.map(|r| DENSITY * 4.0 / 3.0 * std::f64::consts::PI * r.powi(3));
    let series = |[a, b]: [f64; 2]| 1.0 / (1.0 / a + 1.0 / b);
    (series(mass), series(RADII))
}

/// The relative velocity after a collision over that before it, and its duration [s].
fn collide(scene: Scene, scheme: Penalty) -> (f64, f64) {
    let v = |run: &Simulation| run.state().v[1].linear.x - run.state().v[0].linear.x;
    let mut run = Simulation::new(scene, scheme).expect("a valid scheme");
    let before = v(&run);
    let (mut touched, mut steps) = (false, 0);
    loop {
        let report = run.step().expect("spheres collide");
        touched |= report.contacts > 0;
        steps += usize::from(report.contacts > 0);
        if touched && report.contacts == 0 {
            return (-v(&run) / before, steps as f64 * run.scheme().dt());
        }
    }
}

/// Mean error of the restitution over gaps that a step divides differently: the onset is anywhere in a step.
fn mean_error(material: &Material, scheme: impl Fn() -> Penalty, exact: f64) -> f64 {
    let gap = |k: usize, dt: f64| dt * (0.5 + k as f64 / 8.0);
    let error = |k: usize| {
        let scheme = scheme();
        let scene = collision(material, 1.0, gap(k, scheme.dt), 0.0);
        (collide(scene, scheme).0 - exact).abs()
    };
    (0..8).map(error).sum::<f64>() / 8.0
}

fn linear(checks: &mut Checks, effort: Effort) {
    let (mass, _) = reduced();
    let stiffness = 1e6;
    let period = std::f64::consts::PI * (mass / stiffness).sqrt();
    let levels = if effort == Effort::Full { 5 } else { 3 };
    for integrator in [Integrator::Verlet, Integrator::RungeKutta] {
        for e in [1.0, 0.8, 0.5, 0.2] {
            let material = Material::new("soft").density(DENSITY).restitution(e);
            let exact = linear_restitution(linear_ratio(e));
            let steps: Vec<f64> = (0..levels).map(|k| period / 25.0 / f64::from(1 << k)).collect();
            let errors: Vec<f64> = steps
                .iter()
                .map(|dt| {
                    let scheme = || Penalty::new(*dt).stiffness(stiffness).integrator(integrator);
                    mean_error(&material, scheme, exact)
                })
                .collect();
            let who = format!("linear law, e = {e}, {}", name(integrator));
            // The loss of one of 25 steps is up to 4 %; the onset is resolved to a fraction of a step.
            let tolerance = 1e-2;
            checks.at_most(
                &format!("error of the restitution, 25 steps, {who}"),
                errors[0],
                tolerance,
                "1",
            );
            let order = observed_order(&steps, &errors);
            // Under RK4 the onset of damping is a jump within a step.
            let least = if integrator == Integrator::Verlet || e == 1.0 { 1.7 } else { 0.8 };
            checks.at_least(&format!("order of convergence, {who}"), order, least, "1");
        }
    }
}

fn hertz(checks: &mut Checks, effort: Effort) {
    let (mass, radius) = reduced();
    let modulus = YOUNG / (2.0 * (1.0 - POISSON * POISSON));
    let material = Material::new("soft").density(DENSITY).elastic(YOUNG, POISSON);
    let law = |a: f64| PenaltyLaw {
        normal: NormalLaw::Hertz,
        dissipation: Some(a),
        ..PenaltyLaw::default()
    };
    let duration = |v: f64| 2.868 * (mass * mass / (radius * modulus * modulus * v)).powf(0.2);
    let fine = if effort == Effort::Full { 2000.0 } else { 400.0 };
    let run = |a: f64, v: f64, steps: f64, integrator: Integrator| {
        let dt = duration(v) / steps;
        let scheme = Penalty::new(dt).law(law(a)).integrator(integrator);
        collide(collision(&material, v, 0.3 * dt * v, 0.0), scheme)
    };
    for integrator in [Integrator::Verlet, Integrator::RungeKutta] {
        let who = name(integrator);
        let (e, time) = run(0.0, 1.0, fine, integrator);
        // Whole steps, at both ends; the constant has four digits.
        let tolerance = 2.0 / fine + 3e-4;
        checks.close(
            &format!("duration over 2.868 (m²/(R E*² v))^(1/5), {who}"),
            time / duration(1.0),
            1.0,
            tolerance,
            "1",
        );
        // Second order in the step.
        checks.close(&format!("restitution without dissipation, {who}"), e, 1.0, 1e-4, "1");
        let rho = 4.0 / 3.0 * modulus * radius.sqrt() / mass;
        for a in [1e-5, 5e-5] {
            let exact = hertz_restitution(1.5 * a * rho.powf(0.4));
            let (e, _) = run(a, 1.0, fine, integrator);
            // The force starts like √δ, which limits the order to 3/2.
            checks.close(&format!("restitution, A = {a} s, {who}"), e, exact, 1e-3, "1");
        }
    }
    // The published series: 1 − e = 1.15344 (3/2) A ρ^(2/5) v^(1/5) to first order.
    let (a, velocities) = (2e-6, [0.03, 0.1, 0.3, 1.0, 3.0]);
    let losses = velocities.map(|v| 1.0 - run(a, v, fine, Integrator::Verlet).0);
    let exponent = observed_order(&velocities, &losses);
    // The next term of the series lowers it by up to 3/5 of the loss, 2 % here.
    checks.close("exponent of 1 − e over the impact velocity", exponent, 0.2, 0.01, "1");
    let rho = 4.0 / 3.0 * modulus * radius.sqrt() / mass;
    let first = 1.153_44 * 1.5 * a * rho.powf(0.4);
    checks.close("(1 − e) over its first-order term", losses[3] / first, 1.0, 0.02, "1");
}

/// Kinetic, potential and dissipated energy [J]; the balance counts the elastic energy of contacts as potential.
fn total(run: &Simulation) -> f64 {
    let balance = run.frame().balance();
    let dissipated = match &run.state().scheme {
        SchemeState::Penalty(own) => own.damped + own.rubbed,
        _ => 0.0,
    };
    balance.kinetic + balance.potential + dissipated
}

/// Energy in an oblique collision with friction: kinetic, elastic and dissipated energy are accounted for separately, and their
/// sum is constant up to the error of the integrator.
fn energy(checks: &mut Checks, effort: Effort) {
    let levels = if effort == Effort::Full { 5 } else { 3 };
    for normal in [NormalLaw::Linear, NormalLaw::Hertz] {
        for integrator in [Integrator::Verlet, Integrator::RungeKutta] {
            let material = Material::new("soft")
                .density(DENSITY)
                .elastic(YOUNG, POISSON)
                .restitution(0.6)
                .friction(0.3);
            let law = PenaltyLaw { normal, stiffness: Some(1e7), ..PenaltyLaw::default() };
            let steps: Vec<f64> = (0..levels).map(|k| 8e-6 / f64::from(1 << k)).collect();
            // The mean imbalance after collisions that begin anywhere in a step, and the largest within one of them.
            let imbalance = |dt: f64| {
                let mut sum = [0.0; 2];
                for k in 0..8 {
                    let scheme = Penalty::new(dt).law(law).integrator(integrator);
                    let scene = collision(&material, 1.0, dt * (0.5 + f64::from(k) / 8.0), 0.7);
                    let mut run = Simulation::new(scene, scheme).expect("a valid scheme");
                    let (start, n) = (total(&run), (2.5e-3 / dt) as usize);
                    let error = |run: &Simulation| (total(run) - start).abs() / start;
                    for _ in 0..n {
                        run.step().expect("spheres collide");
                        sum[1] = error(&run).max(sum[1]);
                    }
                    sum[0] += error(&run) / 8.0;
                }
                sum
            };
            let errors: Vec<[f64; 2]> = steps.iter().map(|dt| imbalance(*dt)).collect();
            let [after, within] = [0, 1].map(|k| errors.iter().map(|e| e[k]).collect::<Vec<_>>());
            let law = if normal == NormalLaw::Linear { "linear law" } else { "Hertz's law" };
            let who = format!("oblique collision, {law}, {}", name(integrator));
            let (finest, worst) = (after[levels - 1], within[levels - 1]);
            let what = |what: &str| format!("imbalance of energy {what}, {who}");
            // The finest step of the small version resolves a collision by about 400 steps.
            checks.at_most(&what("after it, finest step"), finest, 5e-4, "1");
            checks.at_most(&what("within it, finest step"), worst, 2e-3, "1");
            checks.at_least(&what("after it: order"), observed_order(&steps, &after), 1.7, "1");
        }
    }
}

/// A sphere that vibrates on a plane and never leaves it: the orders of the integrators without onsets.
fn vibration(checks: &mut Checks) {
    for (integrator, order) in [(Integrator::Verlet, 2.0), (Integrator::RungeKutta, 4.0)] {
        let height = |dt: f64| {
            let m = Material::new("soft").density(DENSITY).restitution(0.9);
            let mut scene = Scene::builder();
            scene.gravity([0.0, 0.0, -100.0]);
            crate::scenes::add_ground(&mut scene, &m, 0.0);
            scene.add(sphere(0.05, &m).at([0.0, 0.0, 0.0499]), &m);
            scene.accept_overlap(1.0);
            let scheme = Penalty::new(dt).stiffness(5e5).integrator(integrator);
            let scene = scene.build().expect("a sphere on a plane");
            let mut run = Simulation::new(scene, scheme).expect("a valid scheme");
            run.until(0.02, &mut ()).expect("it vibrates");
            run.state().q[1].position.z
        };
        let exact = (4.0 * height(6.25e-6) - height(1.25e-5)) / 3.0;
        let steps = [2e-4, 1e-4, 5e-5];
        let errors = steps.map(|dt| (height(dt) - exact).abs());
        let what = format!("order while a contact lasts, {}", name(integrator));
        // Asymptotic: the next order still contributes a few per cent.
        checks.close(&what, observed_order(&steps, &errors), order, 0.25, "1");
    }
}

/// A brick on a slope: held by springs below the angle of friction, sliding with Coulomb's acceleration above it.
fn slope(checks: &mut Checks) {
    let friction = 0.5_f64;
    let g = 9.81;
    for integrator in [Integrator::Verlet, Integrator::RungeKutta] {
        let who = name(integrator);
        let run_at = |ratio: f64| {
            let angle = (ratio * friction).atan();
            let (scene, block) = crate::scenes::block_on_slope(angle, friction, 0.0);
            let scheme = Penalty::new(1e-4).integrator(integrator);
            let scene = scene.build().expect("a block on a slope");
            let mut run = Simulation::new(scene, scheme).expect("a valid scheme");
            run.until(0.5, &mut ()).expect("it rests or slides");
            let (x, v) = (run.pose(block).position, run.velocity(block).linear);
            run.until(1.0, &mut ()).expect("it rests or slides");
            let (path, gain) = (run.pose(block).position - x, run.velocity(block).linear - v);
            (path.norm(), gain.norm(), angle)
        };
        // Springs hold without creep: what is left is the decay of the first vibration.
        let (path, _, _) = run_at(0.99);
        checks.at_most(&format!("path at tan φ = 0.99 μ from 0.5 to 1 s, {who}"), path, 1e-8, "m");
        let (_, gain, angle) = run_at(1.01);
        let exact = 0.5 * g * (angle.sin() - friction * angle.cos());
        // Half a second at 1 % of the friction; the corners carry unequal loads, but μ F_n is linear.
        checks.close(
            &format!("gain of velocity at tan φ = 1.01 μ, {who}"),
            gain,
            exact,
            1e-3,
            "m/s",
        );
    }
}

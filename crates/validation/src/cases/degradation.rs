//! Stones that break under contact forces and wear by friction.

use crate::check::observed_order;
use crate::degradation::{CyclicBed, breaking_load, press};
use crate::{Checks, Effort, scenes};
use riprap::degradation::Degradation;
use riprap::prelude::*;
use riprap::scene::CornerWear;
use riprap::simulation::Balance;
use std::f64::consts::PI;

/// Edge of the pressed cubes [m], rate of the load [N/s] and time step [s].
const EDGE: f64 = 0.03;
const RATE: f64 = 2e6;
const DT: f64 = 1e-4;

fn cube(edge: f64) -> Shape {
    Shape::cuboid([edge; 3]).expect("positive")
}

fn pressed(edge: f64, law: Fragmentation, rate: f64, seed: u64, tolerance: f64) -> Simulation {
    let material = scenes::rock(0.4, 0.0).breaking(law);
    let scene = press(cube(edge), [0.5 * edge; 2], &material, rate, seed);
    scenes::start(&scene, DT, 0.5, tolerance)
}

/// A stone between plates, strengths of many stones, and a bed under cyclic load.
pub(super) fn crushing(effort: Effort) -> Checks {
    let mut checks = Checks::new("crushing");
    set_load(&mut checks);
    one_break(&mut checks);
    strengths(&mut checks, effort);
    bed(&mut checks, effort);
    checks
}

/// The load at which cubes of several sizes and strengths break, with both criteria.
fn set_load(checks: &mut Checks) {
    for name in ["stress", "peak force"] {
        let (mut least, mut excess) = (f64::INFINITY, f64::NEG_INFINITY);
        for edge in [0.01, EDGE, 0.1] {
            for strength in [1e5, 5e6, 2e8] {
                // Stress of a cube: F a/d³ with d³ = 6 a³/π.
                let expected = strength * edge * edge * 6.0 / PI;
                let law = match name {
                    "stress" => Fragmentation::stress(strength, 1e-3),
                    _ => Fragmentation::peak_force(expected, 1e-3),
                };
                // Between two steps of the load.
                let rate = expected / (60.5 * DT);
                let mut run = pressed(edge, law, rate, 1, 1e-8);
                let load = breaking_load(&mut run, 1000).unwrap_or(f64::NAN);
                least = least.min(load / expected);
                excess = excess.max((load - expected) / (rate * DT));
            }
        }
        let what = |of: &str| format!("load of breaking cubes, {name}, {of}");
        // They break at the end of the first step whose load reaches the strength; 1e-6 is the tolerance of the solver.
        checks.at_least(&what("least over the strength"), least, 1.0 - 1e-6, "1");
        checks.at_most(&what("largest excess over the increment of a step"), excess, 1.001, "1");
    }
}

/// Conservation in one break.
fn one_break(checks: &mut Checks) {
    // Pieces as strong as the stone would break on, down to dust.
    let mut run = pressed(EDGE, Fragmentation::stress(5e6, 0.02), RATE, 1, 1e-8);
    let load = breaking_load(&mut run, 1000).unwrap_or(f64::NAN);
    let (scene, mut state) = (run.scene().clone(), run.state().clone());
    // The pressed stone rests: let it move and spin, so that momenta say something.
    let stone = scene.slot(scene.body("stone").expect("the stone"));
    state.v[stone] =
        Twist { linear: Vec3::new(3.0, -1.0, 2.0), angular: Vec3::new(40.0, 20.0, -70.0) };
    let (before, mass) = (Balance::of(&scene, &state), scene.free_mass());
    let (scene, _) = Degradation::default().apply(scene, &mut state);
    let after = Balance::of(&scene, &state);
    let mut small = |what: &str, value: f64| checks.at_most(what, value, 1e-12, "1");
    let relative = |a: Vec3, b: Vec3| (a - b).norm() / b.norm();
    small("change of mass in a break", (scene.free_mass() / mass - 1.0).abs());
    small("change of linear momentum in a break", relative(after.momentum, before.momentum));
    let angular = relative(after.angular_momentum, before.angular_momentum);
    small("change of angular momentum in a break", angular);
    small("change of kinetic energy in a break", (after.kinetic / before.kinetic - 1.0).abs());

    // In the run: the energy of the pieces comes from the work of the plate.
    let height = |run: &Simulation| run.state().mechanisms[0].q[0];
    let kinetic = |run: &Simulation| run.frame().balance().kinetic;
    let (begin, top) = (kinetic(&run), height(&run));
    let mut excess = f64::NEG_INFINITY;
    for _ in 0..20 {
        run.step().expect("a press cannot fail");
        let work = (load + RATE * 21.0 * DT) * (top - height(&run)).max(0.0);
        excess = excess.max(kinetic(&run) - begin - work);
    }
    checks.at_most("kinetic energy of pieces beyond the work of the plate", excess, 1e-9, "J");
    checks.at_least(
        "pieces after the break",
        run.state().degradation.account.pieces as f64,
        2.0,
        "1",
    );
}

/// Modulus and scale of Weibull's distribution by maximum likelihood.
fn fit(samples: &[f64]) -> (f64, f64) {
    let n = samples.len() as f64;
    let mean_log = samples.iter().map(|x| x.ln()).sum::<f64>() / n;
    let scale = (mean_log).exp();
    let slope = |m: f64| {
        let powers: Vec<f64> = samples.iter().map(|x| (x / scale).powf(m)).collect();
        let logs = samples.iter().zip(&powers).map(|(x, p)| p * (x / scale).ln()).sum::<f64>();
        logs / powers.iter().sum::<f64>() - 1.0 / m
    };
    // It increases with m.
    let (mut low, mut high) = (0.05, 100.0);
    for _ in 0..200 {
        let m = 0.5 * (low + high);
        *(if slope(m) > 0.0 { &mut high } else { &mut low }) = m;
    }
    let m = 0.5 * (low + high);
    let mean = samples.iter().map(|x| (x / scale).powf(m)).sum::<f64>() / n;
    (m, scale * mean.powf(1.0 / m))
}

/// Strengths of many stones of four sizes.
fn strengths(checks: &mut Checks, effort: Effort) {
    let (modulus, strength, n) = (3.0, 5e6, if effort == Effort::Full { 500 } else { 125 });
    let size = EDGE * (6.0 / PI).cbrt();
    let factors = [0.5, 1.0, 2.0, 4.0];
    let mut scales = Vec::new();
    for factor in factors {
        let edge = factor * EDGE;
        let law = Fragmentation::stress(strength, 1e-3).weibull(modulus, size);
        // The load reaches the strength of the strongest in a hundred steps.
        let rate = strength * EDGE * EDGE * factor / (25.0 * DT);
        let mut samples: Vec<f64> = Vec::new();
        for seed in 0..n {
            let mut run = pressed(edge, law, rate, seed, 1e-5);
            let load = breaking_load(&mut run, 1000).unwrap_or(f64::NAN);
            samples.push(load * PI / (6.0 * edge * edge));
        }
        let (m, scale) = fit(&samples);
        scales.push(scale);
        // Standard error of the maximum-likelihood estimate, 0.78 m/√n (Thoman et al. 1969); three of them.
        let error = 3.0 * 0.78 * modulus / (n as f64).sqrt();
        let what = format!("Weibull modulus of {n} cubes of {:.0} mm", 1e3 * edge);
        checks.close(&what, m, modulus, error, "1");
        // Kolmogorov and Smirnov: 1.63/√n is exceeded in 1 % of all cases; a step adds its load.
        let (d0, step) =
            (factor.powf(-3.0 / modulus) * strength, rate * DT * PI / (6.0 * edge * edge));
        samples.sort_by(f64::total_cmp);
        let deviation = samples.iter().enumerate().map(|(k, s)| {
            let f = 1.0 - (-(s / d0).powf(modulus)).exp();
            (f - (k as f64 + 0.5) / n as f64).abs()
        });
        let distance = deviation.fold(0.0, f64::max);
        let limit = 1.63 / (n as f64).sqrt() + step / d0;
        let what = format!("distance from Weibull's distribution, {:.0} mm", 1e3 * edge);
        checks.at_most(&what, distance, limit, "1");
    }
    // The slope of ln σ over ln d; the standard error of the logarithm of a scale is 1.05/(m √n).
    let slope = observed_order(&factors, &scales);
    let spread = factors.iter().map(|f: &f64| (f.ln() - 0.5 * 2f64.ln()).powi(2)).sum::<f64>();
    let error = 3.0 * 1.05 / (modulus * (n as f64 * spread).sqrt());
    checks.close("exponent of the size effect", slope, -3.0 / modulus, error, "1");
}

/// A bed under cyclic load, of polyhedra and of polygons.
fn bed(checks: &mut Checks, effort: Effort) {
    let full = effort == Effort::Full;
    for planar in [false, true] {
        let n = match (full, planar) {
            (true, _) => 300,
            (false, false) => 24,
            (false, true) => 60,
        };
        let (mut bed, law) = if planar {
            // The largest load is 4 kN per metre of width.
            (CyclicBed::polygons(n, 3), Fragmentation::stress(3e5, 4e-3))
        } else {
            (CyclicBed::ballast(n, 3), Fragmentation::stress(1.5e6, 8e-3))
        };
        bed.fragmentation = Some(law.weibull(3.0, 0.03).average(2e-3));
        bed.cycles = if full { 10 } else { 4 };
        let record = bed.run();
        let name = if planar { "polygons" } else { "polyhedra" };
        let what = |of: &str| format!("{of}, {n} {name}");
        checks.at_least(&what("stones that broke"), record.account.breaks as f64, 1.0, "1");
        checks.at_most(&what("change of total mass"), record.mass_change.abs(), 1e-12, "1");
        checks.at_least(&what("breakage index"), record.breakage, 1e-3, "1");
        checks.at_most(&what("breakage index below one"), record.breakage, 1.0, "1");
        // Breakage makes the grading finer at every sieve.
        let sieves = (1..40).map(|k| 0.0015 * f64::from(k));
        let coarser = sieves.map(|d| record.before.passing(d) - record.after.passing(d));
        checks.at_most(
            &what("largest loss of passing mass"),
            coarser.fold(0.0, f64::max),
            1e-12,
            "1",
        );
        let sinks = record.settlement.last().copied().unwrap_or(f64::NAN);
        checks.at_least(&what("settlement"), sinks, 0.0, "m");
        checks.information(|checks| {
            checks.at_least(&what("stones and pieces at the end"), record.stones as f64, 0.0, "1");
            checks.at_least(
                &what("mass of dust over total"),
                record.account.dust.mass / record.before.mass(),
                0.0,
                "1",
            );
        });
    }
}

/// A sliding block, a dragged and a tumbling cube, and a resumed run.
pub(super) fn wear(effort: Effort) -> Checks {
    let mut checks = Checks::new("wear");
    sliding(&mut checks);
    corners(&mut checks);
    rounding(&mut checks, effort);
    checks
}

/// Chalk that wears fast, and steel that does not.
fn chalk(coefficient: f64, chamfer: f64) -> [Material; 2] {
    let steel = Material::new("steel").density(7800.0).friction(0.4);
    let chalk = Material::new("chalk").density(1500.0).friction(0.4);
    [chalk.wearing(Wear::new(coefficient, 1e6).chamfer(chamfer)), steel]
}

/// A block that slides to rest loses K W/H, where W is its kinetic energy.
fn sliding(checks: &mut Checks) {
    let (coefficient, chamfer, speed) = (1.0, 1e-4, 4.0);
    let [chalk, steel] = chalk(coefficient, chamfer);
    let mut scene = Scene::builder();
    scenes::add_ground(&mut scene, &steel, 0.0);
    let block = BodyDescription::new(Shape::cuboid([0.2, 0.2, 0.1]).expect("positive"), &chalk);
    let block = scene.add(block.at([0.0, 0.0, 0.05]).velocity([speed, 0.0, 0.0]), &chalk);
    let mut run = scenes::start(&scene, 1e-3, 0.5, 1e-8);
    let volume = run.scene().shape(block).volume();
    let (mass, work) = (run.scene().free_mass(), 0.5 * run.scene().free_mass() * speed * speed);
    let mut rise = f64::NEG_INFINITY;
    let mut last = volume;
    while run.velocity(block).linear.norm() > 1e-6 && run.time() < 5.0 {
        run.step().expect("a block cannot fail");
        let now = run.scene().shape(block).volume();
        rise = rise.max(now - last);
        last = now;
    }
    let account = run.state().degradation.account;
    let lost = volume - last;
    let expected = coefficient / 1e6 * account.friction_work;
    // Each of the four corners of the base keeps less than a chamfer; the first term counts what it has.
    let waiting: f64 = run.state().degradation.wear.iter().flatten().map(|c| c.volume).sum();
    checks.close(
        "volume lost and still to be lost over K W/H",
        (lost + waiting) / expected,
        1.0,
        1e-12,
        "1",
    );
    checks.close(
        "volume lost, in chamfers beyond K W/H",
        (lost - expected) / (chamfer * volume),
        0.0,
        4.0,
        "1",
    );
    // The block loses 3 % of its mass with a part of its kinetic energy.
    let fines = account.worn.kinetic;
    checks.close(
        "work of friction and energy of the fines over the kinetic energy",
        (account.friction_work + fines) / work,
        1.0,
        1e-3,
        "1",
    );
    checks.at_most("largest increase of volume", rise, 0.0, "m^3");
    let total = run.scene().free_mass() + account.worn.mass;
    checks.at_most("change of mass with fines", (total / mass - 1.0).abs(), 1e-12, "1");
    checks.at_least("chamfers", account.chamfers as f64, 10.0, "1");
}

/// Surface of the ball of equal volume over that of a polyhedron [–]; 0.806 for a cube.
fn sphericity(shape: &Shape) -> f64 {
    let Shape::Polyhedron(p) = shape else { return 1.0 };
    let corner = |i: u32| p.vertices()[i as usize];
    let area =
        |[a, b, c]: [u32; 3]| 0.5 * (corner(b) - corner(a)).cross(&(corner(c) - corner(a))).norm();
    PI.cbrt() * (6.0 * shape.volume()).powf(2.0 / 3.0) / p.triangles().map(area).sum::<f64>()
}

/// A cube that lost the same volume at all eight corners, against the closed form of a truncated cube.
fn corners(checks: &mut Checks) {
    let edge = 0.1;
    let diagonals = (0..8u32).map(|k| [0, 1, 2].map(|i| f64::from(k >> i & 1) - 0.5));
    let diagonals: Vec<Vec3> = diagonals.map(|d| Vec3::from(d).normalize()).collect();
    let mut last = 0.0;
    for (k, leg) in [0.05, 0.1, 0.2, 0.3].into_iter().enumerate() {
        let [chalk, _] = chalk(1.0, 1e-6);
        let mut scene = Scene::builder();
        let stone = scene.add(BodyDescription::new(cube(edge), &chalk), &chalk);
        let scene = scene.build().expect("a cube");
        let mut state = scene.initial_state();
        // A corner with legs c loses c³/6.
        let volume = edge.powi(3) * f64::powi(leg, 3) / 6.0;
        let Shape::Polyhedron(p) = scene.shape(stone) else { continue };
        let nearest = |d: &Vec3| p.support(*d).0 as u32;
        let worn =
            |d: &Vec3| CornerWear { corner: nearest(d), volume, normal: (*d * volume).into() };
        state.degradation.wear = vec![diagonals.iter().map(worn).collect()];
        let (scene, _) = Degradation::default().apply(scene, &mut state);
        let shape = scene.shape(stone);
        let what = |of: &str| format!("{of} of a cube without corners of {:.0} %", 100.0 * leg);
        // Three right triangles are replaced by one with sides √2 c.
        let area = 6.0 - 8.0 * leg * leg * (1.5 - 0.5 * 3f64.sqrt());
        let left: f64 = 1.0 - 8.0 / 6.0 * f64::powi(leg, 3);
        let exact = PI.cbrt() * (6.0 * left).powf(2.0 / 3.0) / area;
        // The depth of a cut is found to 1e-10 of its volume.
        checks.close(&what("volume"), shape.volume() / edge.powi(3), left, 1e-9, "1");
        checks.close(&what("sphericity"), sphericity(shape), exact, 1e-8, "1");
        let m = shape.mass_properties(1.0).map_or(Vec3::repeat(f64::NAN), |m| m.centre);
        checks.at_most(&what("shift of the centre"), m.norm() / edge, 1e-9, "1");
        if k > 0 {
            checks.at_least(&what("gain of sphericity"), sphericity(shape) - last, 0.0, "1");
        }
        last = sphericity(shape);
    }
}

/// A cube in a turning square drum becomes round; bitwise identical after a restart.
fn rounding(checks: &mut Checks, effort: Effort) {
    let turns = if effort == Effort::Full { 30.0 } else { 4.0 };
    let [chalk, steel] = chalk(if effort == Effort::Full { 1.0 } else { 5.0 }, 1e-3);
    let build = || {
        let mut scene = Scene::builder();
        let turning = Motion::Velocity {
            linear: Law::constant([0.0; 3]),
            angular: Law::constant([0.0, std::f64::consts::TAU, 0.0]),
        };
        let side =
            |size: [f64; 3], at: [f64; 3]| (Pose::at(at), Shape::cuboid(size).expect("positive"));
        let drum = Shape::compound(vec![
            side([0.6, 0.4, 0.1], [0.0, 0.0, -0.25]),
            side([0.6, 0.4, 0.1], [0.0, 0.0, 0.25]),
            side([0.1, 0.4, 0.4], [-0.25, 0.0, 0.0]),
            side([0.1, 0.4, 0.4], [0.25, 0.0, 0.0]),
            side([0.6, 0.1, 0.6], [0.0, -0.25, 0.0]),
            side([0.6, 0.1, 0.6], [0.0, 0.25, 0.0]),
        ]);
        let drum = BodyDescription::new(drum.expect("a drum"), &steel).moving(turning);
        scene.add(drum, &steel);
        let stone = BodyDescription::new(cube(0.1), &chalk).at([0.02, 0.01, -0.1]);
        let stone = scene.add(stone.spin([0.3, 0.0, 0.2]), &chalk);
        (scenes::start(&scene, 1e-3, 0.5, 1e-6), stone)
    };
    let (mut run, stone) = build();
    let (mass, first) = (run.scene().free_mass(), run.scene().shape(stone).clone());
    let (mut last, mut rise, mut corners, mut off) = (first.volume(), f64::NEG_INFINITY, 0, 0.0f64);
    let half = run.time() + 0.5 * turns;
    let mut middle = None;
    while run.time() < turns {
        run.step().expect("a stone cannot fail");
        if middle.is_none() && run.time() >= half {
            middle = Some(run.state().clone());
        }
        let shape = run.scene().shape(stone);
        rise = rise.max(shape.volume() - last);
        last = shape.volume();
        if let Shape::Polyhedron(p) = shape {
            corners = corners.max(p.vertices().len());
        }
        let total = run.scene().free_mass() + run.state().degradation.account.worn.mass;
        off = off.max((total / mass - 1.0).abs());
    }
    let account = run.state().degradation.account;
    let shape = run.scene().shape(stone);
    let waiting: f64 = run.state().degradation.wear.iter().flatten().map(|c| c.volume).sum();
    let expected = if effort == Effort::Full { 1e-6 } else { 5e-6 } * account.friction_work;
    checks.close(
        "volume lost and still to be lost over K W/H, tumbling",
        (first.volume() - last + waiting) / expected,
        1.0,
        1e-9,
        "1",
    );
    checks.at_most("largest increase of volume, tumbling", rise, 0.0, "m^3");
    checks.at_most("change of mass with fines, tumbling", off, 1e-12, "1");
    let gained = sphericity(shape) - sphericity(&first);
    checks.at_least("sphericity gained by the cube", gained, 0.005, "1");
    checks.at_most("corners", corners as f64, 40.0, "1");
    // A surface that is closed and convex is accepted.
    let valid = shape.outline().is_some_and(|o| Shape::from_outline(&o).is_ok());
    checks.at_least("closed and convex", f64::from(u8::from(valid)), 1.0, "1");

    let (mut again, _) = build();
    let differs = match middle {
        Some(state) => {
            again.set_state(state).expect("the same scene");
            while again.time() < turns {
                again.step().expect("a stone cannot fail");
            }
            again.state() != run.state()
        }
        None => true,
    };
    checks.at_most("resumed runs that differ", f64::from(u8::from(differs)), 0.0, "1");
}

//! Periodic cells: a gas of elastic spheres keeps momentum and energy and has the pressure of hard spheres, bodies cross boundaries
//! unnoticed, a sheared gas flows with a constant gradient, and the stress is the flux of momentum.

use std::f64::consts::PI;

use riprap::grains::{Pcg64, pick, seeded};
use riprap::prelude::*;
use riprap::simulation::{Measures, Region};

use crate::{Checks, Effort};

const RADIUS: f64 = 0.05;

/// All checks.
pub(super) fn periodic(effort: Effort) -> Checks {
    let mut checks = Checks::new("periodic");
    gas(&mut checks, effort);
    bounce(&mut checks);
    crossing(&mut checks);
    shear(&mut checks, effort);
    checks
}

fn material(restitution: f64, friction: f64) -> Material {
    Material::new("beads").density(2500.0).restitution(restitution).friction(friction)
}

fn simulation(scene: &SceneBuilder, dt: f64) -> Simulation {
    let scheme = MoreauJean::new(dt).solver(GaussSeidel::tolerance(1e-12));
    let scene = scene.build().unwrap_or_else(|e| panic!("{e}"));
    Simulation::new(scene, scheme).expect("a valid scheme")
}

/// Components between −1 and 1.
fn vector(rng: &mut Pcg64) -> Vec3 {
    Vec3::from_fn(|_, _| pick(1 << 20, rng) as f64 / f64::from(1 << 19) - 1.0)
}

/// `n³` spheres in a cube, with a solid fraction and random velocities of up to 1 m/s without a mean.
fn spheres(n: i32, solid: f64, cell: impl Fn(Cell) -> Cell, material: &Material) -> SceneBuilder {
    let mut rng = seeded(11);
    let step = RADIUS * (4.0 / 3.0 * PI / solid).cbrt();
    let range = [0.0, step * f64::from(n)];
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]).periodic(cell(Cell::new().x(range).y(range).z(range)));
    let velocities: Vec<Vec3> = (0..n * n * n).map(|_| vector(&mut rng)).collect();
    let mean = velocities.iter().sum::<Vec3>() / velocities.len() as f64;
    for (k, v) in (0..n * n * n).zip(velocities) {
        let place = Vec3::new(f64::from(k % n), f64::from(k / n % n), f64::from(k / n / n));
        let room = 0.9 * (0.5 * step - RADIUS) / 3.0_f64.sqrt();
        let place = place.add_scalar(0.5) * step + vector(&mut rng) * room;
        let ball = Shape::sphere(RADIUS).expect("positive");
        let ball = BodyDescription::new(ball, material).at(place.into());
        scene.add(ball.velocity((v - mean).into()), material);
    }
    scene
}

/// Elastic spheres without friction: momentum, energy, and the pressure of Carnahan and Starling.
fn gas(checks: &mut Checks, effort: Effort) {
    let (n, steps) = match effort {
        Effort::Full => (6, 20_000),
        Effort::Small => (4, 1500),
    };
    let solid = 0.2;
    let mut run = simulation(&spheres(n, solid, |cell| cell, &material(1.0, 0.0)), 5e-4);
    let region = Region::of_cell(run.scene().cell().expect("a cell"));
    let (start, mut touching, mut stress) = (run.frame().balance(), ContactCount::default(), 0.0);
    for k in 0..steps {
        run.step().unwrap_or_else(|e| panic!("{e}"));
        touching.add(&run.frame());
        // Without the start from a lattice.
        if k >= steps / 5 {
            stress += Measures::of(&run.frame()).stress(&region).trace() / 3.0;
        }
    }
    let end = run.frame().balance();
    let collisions = touching.onsets as f64 / f64::from(n * n * n);
    checks.at_least("gas: collisions per sphere", collisions, 5.0, "1");
    // The tolerance of the solver, summed over thousands of collisions.
    checks.close("gas: energy / energy at the start", end.kinetic / start.kinetic, 1.0, 1e-9, "1");
    let scale = (2.0 * start.kinetic * 2500.0 * f64::from(n * n * n) * 4.0 / 3.0 * PI).sqrt();
    let drift = (end.momentum - start.momentum).norm() / (scale * RADIUS.powf(1.5));
    checks.at_most("gas: change of momentum / √(2 m E)", drift, 1e-13, "1");
    let pressure = stress / (steps - steps / 5) as f64;
    let volume = (region.max - region.min).product();
    let ideal = 2.0 / 3.0 * start.kinetic / volume;
    let f = solid;
    let carnahan_starling = (1.0 + f + f * f - f * f * f) / (1.0 - f).powi(3);
    // Fluctuations of the mean over the run, collisions within a step, and a finite number of spheres.
    let tolerance = if effort == Effort::Full { 0.02 } else { 0.1 } * carnahan_starling;
    checks.close("gas: pressure / ideal gas", pressure / ideal, carnahan_starling, tolerance, "1");
    checks.close(
        "gas: solid fraction",
        Measures::of(&run.frame()).solid_fraction(&region),
        solid,
        1e-12,
        "1",
    );
}

/// Two spheres on a line meet in the cell and through its boundary in turn: `σ A = 2 m u²/(L − 2d)`.
fn bounce(checks: &mut Checks) {
    let (length, side, d, mass, speed) = (0.5, 0.3, 2.0 * RADIUS, 2.0, 1.0);
    let material = material(1.0, 0.0);
    let mut scene = Scene::builder();
    let cell = Cell::new().x([0.0, length]).y([0.0, side]).z([0.0, side]);
    scene.gravity([0.0; 3]).periodic(cell);
    for (x, v) in [(0.1, speed), (0.35, -speed)] {
        let ball = BodyDescription::new(Shape::sphere(RADIUS).expect("positive"), &material);
        // Also through the boundaries of y and z.
        scene.add(ball.mass(mass).at([x, 0.01, 0.29]).velocity([v, 0.0, 0.0]), &material);
    }
    let dt = 5e-5;
    let mut run = simulation(&scene, dt);
    let region = Region::of_cell(run.scene().cell().expect("a cell"));
    let steps = (10.0 * (length - 2.0 * d) / (2.0 * speed) / dt).round() as usize;
    let mut sum = Mat3::zeros();
    for _ in 0..steps {
        run.step().unwrap_or_else(|e| panic!("{e}"));
        sum += Measures::of(&run.frame()).stress(&region) / steps as f64;
    }
    let exact = 2.0 * mass * speed * speed / (side * side * (length - 2.0 * d));
    // Ten collisions in 1.5 s, each within a step.
    checks.close(
        "two spheres: mean stress / flux of momentum",
        sum[(0, 0)] / exact,
        1.0,
        1e-3,
        "1",
    );
    checks.at_most("two spheres: stress across / along", sum[(1, 1)].abs() / exact, 1e-12, "1");
}

/// A sphere strikes a cube in open space, and across the boundaries of a cell.
fn crossing(checks: &mut Checks) {
    let material = material(0.6, 0.4);
    let run = |at: Vec3, cell: Option<Cell>| {
        let mut scene = Scene::builder();
        scene.gravity([0.0; 3]);
        let lattice = cell.as_ref().map(|cell| cell.lattice(0.0));
        if let Some(cell) = cell {
            scene.periodic(cell);
        }
        let ball = Shape::sphere(RADIUS).expect("positive");
        let cube = Shape::cuboid([0.08, 0.1, 0.06]).expect("positive");
        let bodies =
            [(ball, [-0.12, 0.01, 0.01], [2.0, 0.0, 0.1]), (cube, [0.02, 0.0, 0.02], [0.0; 3])];
        for (shape, place, velocity) in bodies {
            let place = at + Vec3::from(place);
            let place = lattice.map_or(place, |lattice| lattice.wrapped(place));
            let body = BodyDescription::new(shape, &material).at(place.into());
            scene.add(body.velocity(velocity).spin([0.0, 9.0, 3.0]), &material);
        }
        let mut run = simulation(&scene, 1e-3);
        run.until(0.1, &mut ()).unwrap_or_else(|e| panic!("{e}"));
        run.state().clone()
    };
    let cell = || Cell::new().x([0.0, 0.5]).y([0.0, 0.6]).z([-1.0, -0.4]);
    let open = run(Vec3::zeros(), None);
    let lattice = cell().lattice(0.0);
    for (name, at) in [("inside", [0.25, 0.3, -0.7]), ("across all boundaries", [0.0, 0.0, -1.0])] {
        let at = Vec3::from(at);
        let state = run(at, Some(cell()));
        let apart = |(p, q): (&Pose, &Pose)| lattice.reduced(p.position + at - q.position).norm();
        let largest = open.q.iter().zip(&state.q).map(apart).fold(0.0, f64::max);
        // Rounding errors of positions, amplified by a collision.
        checks.at_most(&format!("collision {name}: distance from open space"), largest, 1e-12, "m");
    }
}

/// Inelastic spheres in a sheared cell: a constant gradient, a shear stress against the flow, momentum.
fn shear(checks: &mut Checks, effort: Effort) {
    let (n, rate, strain) = match effort {
        Effort::Full => (9, 2.0, 40.0),
        Effort::Small => (5, 2.0, 40.0),
    };
    let beads = material(0.7, 0.3);
    let mut run = simulation(&spheres(n, 0.4, |cell| cell.shear_rate(rate), &beads), 1e-3);
    let cell = run.scene().cell().expect("a cell").clone();
    let length = cell.lattice(0.0).period().y;
    let mass = run.scene().bodies().mass[0];
    let start = run.frame().balance();
    // Sums over the samples in each layer: their number, and velocities.
    const LAYERS: usize = 6;
    let mut layers = [[0.0; 2]; LAYERS];
    let steps = (strain / rate / 1e-3) as usize;
    let mut shear_stress = 0.0;
    let region = Region::of_cell(&cell);
    for k in 0..steps {
        run.step().unwrap_or_else(|e| panic!("{e}"));
        if k < steps / 4 {
            continue;
        }
        let stress = Measures::of(&run.frame()).stress(&region);
        shear_stress -= stress[(0, 1)] / (steps - steps / 4) as f64;
        // Once in a tenth of a unit of strain.
        if k % (0.1 / rate / 1e-3) as usize == 0 {
            let (t, state) = (run.time(), run.state());
            let mut now = [[0.0; 2]; LAYERS];
            for (q, v) in state.q.iter().zip(&state.v) {
                let p = run.scene().wrapped(t, q.position);
                let layer = ((p.y / length * LAYERS as f64) as usize).min(LAYERS - 1);
                // The velocity of the image within the cell, relative to the flow.
                now[layer][0] += 1.0;
                now[layer][1] += v.linear.x - rate * q.position.y;
            }
            for (layer, [count, sum]) in layers.iter_mut().zip(now) {
                layer[0] += 1.0;
                layer[1] += sum / f64::max(count, 1.0);
            }
        }
    }
    // Layers of the small cell stay ordered for twenty units of strain, so a deviation has no standard error that could judge it:
    // the limit is a fraction of the velocity of the shear.
    let mut farthest = 0.0_f64;
    let mut slope = [0.0; 2];
    for (k, [count, sum]) in layers.into_iter().enumerate() {
        let mean = sum / count;
        farthest = farthest.max(mean.abs());
        let y = (k as f64 + 0.5) / LAYERS as f64 - 0.5;
        slope[0] += y * mean;
        slope[1] += y * y * length * rate;
    }
    let limit = if effort == Effort::Full { 0.01 } else { 0.05 };
    checks.at_most(
        "sheared gas: deviation of layers from a constant gradient / γ̇ L",
        farthest / (rate * length),
        limit,
        "1",
    );
    let gradient = 1.0 + slope[0] / slope[1];
    let tolerance = if effort == Effort::Full { 0.03 } else { 0.15 };
    checks.close("sheared gas: gradient / shear rate", gradient, 1.0, tolerance, "1");
    let end = run.frame().balance();
    let scale = mass * rate * length * f64::from(n * n * n);
    let change = (end.momentum - start.momentum).norm() / scale;
    checks.at_most("sheared gas: change of momentum / m γ̇ L", change, 1e-12, "1");
    checks.at_least("sheared gas: shear stress", shear_stress, 0.0, "Pa");
}

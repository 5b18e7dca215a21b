//! Measures of packings compared with closed forms: columns under their weight, crystals, bodies cut by a box, streams through a
//! plane, and impacts.

use std::f64::consts::PI;

use riprap::prelude::*;
use riprap::simulation::{Flow, Measures, Region, impacts};

use crate::{Checks, Effort};

const G: f64 = 9.81;
const DENSITY: f64 = 2500.0;

/// All checks.
pub(super) fn measures(_: Effort) -> Checks {
    let mut checks = Checks::new("measures");
    let cube = Shape::cuboid([0.2; 3]).expect("positive");
    let ball = Shape::sphere(0.1).expect("positive");
    column(&mut checks, "cubes", &cube);
    column(&mut checks, "spheres", &ball);
    crystals(&mut checks);
    hexagonal(&mut checks);
    cut_cube(&mut checks, &cube);
    stream(&mut checks);
    impact(&mut checks);
    checks
}

/// A material without friction, so that only weight makes forces.
fn smooth() -> Material {
    Material::new("smooth").density(DENSITY)
}

fn simulation(scene: &SceneBuilder, dt: f64) -> Simulation {
    let scheme = MoreauJean::new(dt).solver(GaussSeidel::tolerance(1e-12));
    let scene = scene.build().unwrap_or_else(|e| panic!("{e}"));
    Simulation::new(scene, scheme).expect("a valid scheme")
}

/// Ten bodies of height 0.2 m above each other: the mean stress in a slice is the weight above its middle divided by the area.
fn column(checks: &mut Checks, what: &str, shape: &Shape) {
    let (n, side) = (10, 0.2);
    let mut scene = Scene::builder();
    scene.gravity([0.0, 0.0, -G]);
    let floor = Shape::half_space([0.0, 0.0, 1.0]).expect("a normal");
    scene.add_fixed(floor, Pose::IDENTITY, &smooth());
    for k in 0..n {
        let at = [0.0, 0.0, side * (k as f64 + 0.5)];
        scene.add(BodyDescription::new(shape.clone(), &smooth()).at(at), &smooth());
    }
    let mut run = simulation(&scene, 1e-3);
    run.until(0.01, &mut ()).unwrap_or_else(|e| panic!("{e}"));
    let frame = run.frame();
    let measures = Measures::of(&frame);
    let mass = shape.mass_properties(DENSITY).expect("a volume").mass;
    for (name, low, high) in [("all", 0, n), ("lowest", 0, 1), ("upper half", n / 2, n)] {
        // Wider than the column by 1 mm, for contact points on its edges.
        let half = 0.5 * side + 1e-3;
        let region = Region {
            min: Vec3::new(-half, -half, side * f64::from(low)),
            max: Vec3::new(half, half, side * f64::from(high)),
        };
        let above = f64::from(n) - 0.5 * f64::from(low + high);
        let expected = above * mass * G / (4.0 * half * half);
        let stress = measures.stress(&region);
        // The tolerance of the solver, summed over ten contacts.
        let tolerance = 1e-8;
        let quantity = format!("column of {what}, {name}: σ_zz A / weight above");
        checks.close(&quantity, stress[(2, 2)] / expected, 1.0, tolerance, "1");
        let side_stress = stress[(0, 0)].abs().max(stress[(0, 1)].abs()) / expected;
        checks.at_most(
            &format!("column of {what}, {name}: σ_xx/σ_zz"),
            side_stress,
            tolerance,
            "1",
        );
    }
    let forces = measures.normal_forces(&Region::EVERYWHERE);
    let mean = 5.5 * mass * G;
    let quantity = format!("column of {what}: mean normal force / weight of 5.5");
    checks.close(&quantity, forces.distribution.mean / mean, 1.0, 1e-8, "1");
    // (Σk)²/(10 Σk²) for k = 1 … 10.
    let quantity = format!("column of {what}: participation number");
    checks.close(&quantity, forces.participation, 3025.0 / 3850.0, 1e-8, "1");
}

/// Name, lattice constant [m], points of a cell relative to it, number of neighbours, solid fraction.
type Crystal = (&'static str, f64, &'static [[f64; 3]], f64, f64);

/// Cubic crystals of spheres of radius 0.1 m without gravity, of 4³ cells: fabric, coordination and solid fraction inside.
fn crystals(checks: &mut Checks) {
    const FACE: &[[f64; 3]] = &[[0.0; 3], [0.5, 0.5, 0.0], [0.5, 0.0, 0.5], [0.0, 0.5, 0.5]];
    let r = 0.1;
    let (bcc, fcc) = (4.0 * r / 3.0_f64.sqrt(), 2.0 * 2.0_f64.sqrt() * r);
    let crystals: [Crystal; 3] = [
        ("simple cubic", 2.0 * r, &[[0.0; 3]], 6.0, PI / 6.0),
        ("body-centred", bcc, &[[0.0; 3], [0.5; 3]], 8.0, PI * 3.0_f64.sqrt() / 8.0),
        ("face-centred", fcc, FACE, 12.0, PI / 18.0_f64.sqrt()),
    ];
    for (name, a, basis, neighbours, solid) in crystals {
        let mut scene = Scene::builder();
        scene.gravity([0.0; 3]);
        for k in 0..64 {
            let cell = [k % 4, k / 4 % 4, k / 16];
            for b in basis {
                let at = [0, 1, 2].map(|x| a * (f64::from(cell[x]) + b[x]));
                let ball = Shape::sphere(r).expect("positive");
                scene.add(BodyDescription::new(ball, &smooth()).at(at), &smooth());
            }
        }
        let mut run = simulation(&scene, 1e-3);
        run.step().unwrap_or_else(|e| panic!("{e}"));
        let frame = run.frame();
        let measures = Measures::of(&frame);
        // A cell that all neighbours surround, shifted so that its sides cut spheres anywhere.
        let cell = |shift: f64| Region {
            min: Vec3::new(a * (1.0 + shift), a, a * (1.0 + 0.5 * shift)),
            max: Vec3::new(a * (2.0 + shift), 2.0 * a, a * (2.0 + 0.5 * shift)),
        };
        for shift in [0.0, 0.3] {
            let found = measures.solid_fraction(&cell(shift));
            // The error of the integrals.
            let quantity = format!("{name}, shifted by {shift}: solid fraction");
            checks.close(&quantity, found, solid, 1e-12, "1");
        }
        let inside = measures.coordination(&cell(0.01));
        checks.close(&format!("{name}: coordination inside"), inside.all, neighbours, 0.0, "1");
        // A whole cell has every bond once; the surface of a finite crystal may prefer a direction.
        let whole = Region { min: Vec3::repeat(1.1 * a), max: Vec3::repeat(2.1 * a) };
        let fabric = measures.fabric(&whole).expect("contacts");
        let error = (fabric.tensor - Mat3::identity() / 3.0).norm();
        // Round-off of a few normals.
        checks.at_most(&format!("{name}: fabric, distance from 1/3"), error, 1e-13, "1");
        checks.at_most(&format!("{name}: anisotropy"), fabric.anisotropy().abs(), 1e-12, "1");
    }
}

/// A hexagonal crystal of discs in a planar scene.
fn hexagonal(checks: &mut Checks) {
    let (r, row) = (0.1, 0.1 * 3.0_f64.sqrt());
    let mut scene = Scene::builder();
    scene.planar();
    scene.gravity([0.0; 3]);
    for k in 0..48 {
        let (i, j) = (k % 8, k / 8);
        let at = [2.0 * r * (f64::from(i) + 0.5 * f64::from(j % 2)), row * f64::from(j), 0.0];
        let disc = Shape::disc(r, 1.0).expect("positive");
        scene.add(BodyDescription::new(disc, &smooth()).at(at), &smooth());
    }
    let mut run = simulation(&scene, 1e-3);
    run.step().unwrap_or_else(|e| panic!("{e}"));
    let frame = run.frame();
    let measures = Measures::of(&frame);
    let cell = Region {
        min: Vec3::new(0.43, row * 1.2, 0.0),
        max: Vec3::new(0.43 + 2.0 * r, row * 3.2, 0.0),
    };
    let expected = PI / 12.0_f64.sqrt();
    // Round-off.
    let solid = measures.solid_fraction(&cell);
    checks.close("hexagonal discs: area fraction", solid, expected, 1e-12, "1");
    let inside = measures.coordination(&cell);
    checks.close("hexagonal discs: coordination inside", inside.all, 6.0, 0.0, "1");
}

/// A cube with its centre on a side of a box, in any orientation.
fn cut_cube(checks: &mut Checks, cube: &Shape) {
    let (min, max) = (Vec3::new(-1.0, -1.0, 0.0), Vec3::repeat(1.0));
    let mut worst: f64 = 0.0;
    for k in 0..100 {
        let k = f64::from(k);
        let pose = Pose::at([0.3, -0.2, 0.0]).turned([k.cos(), k.sin(), (0.7 * k).cos()], k);
        worst = worst.max((cube.content_within(&pose, min, max) / 0.008 - 0.5).abs());
    }
    checks.at_most("cube half inside a box, 100 orientations: error", worst, 1e-12, "1");
}

/// A stream of 100 balls of 3 kg, one every 0.5 m, at 2 m/s, and ten balls that fall from rest: mass over time.
fn stream(checks: &mut Checks) {
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let ball = Shape::sphere(0.1).expect("positive");
    for k in 0..100 {
        let body = BodyDescription::new(ball.clone(), &smooth()).mass(3.0);
        let at = [0.0, 0.0, 0.25 + 0.5 * f64::from(k)];
        scene.add(body.at(at).velocity([0.0, 0.0, -2.0]), &smooth());
    }
    let mut run = simulation(&scene, 1e-2);
    let mut flow = Flow::new(Vec3::zeros(), -Vec3::z(), f64::INFINITY);
    flow.add(&run.frame());
    for _ in 0..1000 {
        run.step().unwrap_or_else(|e| panic!("{e}"));
        flow.add(&run.frame());
    }
    // 40 balls in 10 s; masses are whole numbers.
    checks.close("stream of balls: flow rate", flow.mass / 10.0, 12.0, 1e-12, "kg/s");

    let mut scene = Scene::builder();
    scene.gravity([0.0, 0.0, -G]);
    for k in 0..10 {
        let body = BodyDescription::new(ball.clone(), &smooth()).mass(3.0);
        scene.add(body.at([0.0, 0.0, 0.5 * f64::from(k + 1)]), &smooth());
    }
    let mut run = simulation(&scene, 1e-3);
    let mut flow = Flow::new(Vec3::zeros(), -Vec3::z(), f64::INFINITY);
    flow.add(&run.frame());
    // Ball k passes at √(k/g): between the sixth and the seventh.
    while run.state().t < (6.5 / G).sqrt() {
        run.step().unwrap_or_else(|e| panic!("{e}"));
        flow.add(&run.frame());
    }
    checks.close("falling balls: mass that has passed", flow.mass, 18.0, 1e-12, "kg");
}

/// A ball of 2 kg that strikes the floor at 3 m/s with a restitution of 0.5.
fn impact(checks: &mut Checks) {
    let rubber = Material::new("rubber").density(DENSITY).restitution(0.5);
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let floor = Shape::half_space([0.0, 0.0, 1.0]).expect("a normal");
    scene.add_fixed(floor, Pose::IDENTITY, &rubber);
    let ball = BodyDescription::new(Shape::sphere(0.1).expect("positive"), &rubber).mass(2.0);
    scene.add(ball.at([0.0, 0.0, 0.2]).velocity([1.0, 0.0, -3.0]), &rubber);
    let mut run = simulation(&scene, 1e-3);
    let mut seen = Vec::new();
    for _ in 0..100 {
        run.step().unwrap_or_else(|e| panic!("{e}"));
        seen.extend(impacts(&run.frame(), 0.1));
    }
    checks.close("ball on the floor: impacts", seen.len() as f64, 1.0, 0.0, "1");
    let (speed, impulse) = seen.first().map_or((0.0, 0.0), |hit| (hit.speed, hit.impulse));
    // Round-off and the tolerance of the solver.
    checks.close("ball on the floor: approach speed", speed, 3.0, 1e-12, "m/s");
    checks.close("ball on the floor: normal impulse (1 + e) m v", impulse, 9.0, 1e-10, "N s");
}

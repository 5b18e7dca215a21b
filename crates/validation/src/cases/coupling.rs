//! Mechanisms and grains in one contact problem: properties that must hold at every contact.

use crate::check::observed_order;
use crate::{Checks, Effort, scenes};
use riprap::multibody::{Cut, JointMotion, JointSpring, Marker};
use riprap::prelude::*;
use riprap::shape::MassProperties;
use riprap::simulation::ContactForce;

/// A stone without symmetry.
fn stone() -> Shape {
    let points = [
        [-0.1, -0.06, -0.04],
        [0.11, -0.05, -0.05],
        [0.08, 0.07, -0.03],
        [-0.07, 0.08, -0.05],
        [-0.05, -0.02, 0.06],
        [0.06, 0.03, 0.07],
    ];
    Shape::hull(&points.map(Vec3::from)).expect("a solid")
}

/// How the thrown stone is described.
#[derive(Clone, Copy, PartialEq)]
enum Thrown {
    /// As a grain.
    Grain,
    /// As a mechanism with one free joint, which riprap treats as a grain.
    FreeJoint,
    /// As a mechanism of two welded halves on a free joint: the same body in reduced coordinates.
    Halves,
}

/// Path of a stone thrown onto a slope: the pose of its shape after each step.
fn throw(thrown: Thrown, restitution: f64, dt: f64, time: f64) -> Vec<Pose> {
    let rock = scenes::rock(0.5, restitution);
    let start = Pose::at([0.1, -0.2, 0.6]).turned([0.3, 1.0, 0.2], 0.8);
    let (speed, spin) = ([0.3, 0.1, -0.5], [3.0, -5.0, 4.0]);
    let mut scene = Scene::builder();
    scenes::add_ground(&mut scene, &rock, 0.05);
    let on = if thrown == Thrown::Grain {
        let mut body = BodyDescription::new(stone(), &rock).velocity(speed).spin(spin);
        body.pose = start;
        On::Body(scene.add(body, &rock))
    } else {
        let mut m = Mechanism::new("stone");
        let mass = stone().mass_properties(2700.0).expect("a solid");
        let own = if thrown == Thrown::Halves { mass.scaled(0.5) } else { mass };
        let link = m.add("stone", GROUND, Joint::Free, Pose::IDENTITY, Some(own));
        if thrown == Thrown::Halves {
            m.add("half", link, Joint::Fixed, Pose::IDENTITY, Some(own));
        }
        m.attach(link, stone(), Pose::IDENTITY, "rock");
        m.start_rotation(link, start.rotation);
        // The velocity of a grain is that of its centre of mass, of a joint that of its origin.
        let arm = start.rotation * mass.centre;
        let origin = Vec3::from(speed) - Vec3::from(spin).cross(&arm);
        let turn = start.rotation.inverse() * Vec3::from(spin);
        for k in 0..3 {
            m.start(m.coordinate(link, k), start.position[k]);
            m.start_velocity(m.coordinate(link, k), origin[k]);
            m.start_velocity(m.coordinate(link, 3 + k), turn[k]);
        }
        On::Link(scene.add_mechanism(m), link)
    };
    let mut run = scenes::start(&scene, dt, 0.5, 1e-12);
    let body = match on {
        On::Link(id, link) => run.scene().link_body(id, link),
        On::Body(body) => body,
        On::World | On::Node(..) => unreachable!("it moves"),
    };
    let step = |_| {
        run.step().expect("it moves");
        run.scene().shape_pose(run.state(), body)
    };
    (0..(time / dt).round() as usize).map(step).collect()
}

/// Largest difference in position and rotation between two paths [m, –].
fn apart(a: &[Pose], b: &[Pose]) -> f64 {
    a.iter().zip(b).fold(0.0, |m, (a, b)| {
        let turned = (a.rotation.coords - b.rotation.coords).norm();
        m.max((a.position - b.position).norm()).max(turned)
    })
}

/// A mechanism with one free joint moves like the same body as a grain, through falls, impacts and tumbling. That mechanism uses
/// the code for grains; the same body in two welded halves uses reduced coordinates and must converge to the same motion as the
/// time step shrinks: with second order in flight, and to within the travel of one step after an impact.
fn one_free_joint(checks: &mut Checks) {
    for (name, restitution) in [("quasi-shock", 0.0), ("rebound", 0.5)] {
        let path = |thrown| throw(thrown, restitution, 1e-3, 0.7);
        let distance = apart(&path(Thrown::Grain), &path(Thrown::FreeJoint));
        // The same operations in the same order except for the rounding of the initial values, which impacts amplify.
        let quantity = format!("one free joint vs. a grain, {name}, 700 steps");
        checks.at_most(&quantity, distance, 1e-11, "m, –");
    }
    let steps = [1e-3, 5e-4, 2.5e-4, 1.25e-4];
    let distances = |time: f64| {
        steps.map(|dt| {
            let last =
                |thrown| throw(thrown, 0.0, dt, time).split_off((time / dt).round() as usize - 1);
            apart(&last(Thrown::Grain), &last(Thrown::Halves))
        })
    };
    let order = observed_order(&steps, &distances(0.24));
    checks.close("two halves vs. a grain in flight, observed order", order, 2.0, 0.1, "1");
    // It strikes at 4 m/s, including its spin, and the time of an impact is resolved to one step.
    let per_step = distances(0.36).iter().zip(steps).fold(0.0_f64, |m, (d, dt)| m.max(d / dt));
    checks.at_most(
        "two halves vs. a grain after an impact, distance over step",
        per_step,
        4.0,
        "m/s",
    );
}

/// An arm of two links on a free base among free stones: without external forces, momentum is conserved.
fn free_base(checks: &mut Checks, effort: Effort) {
    let rock = scenes::rock(0.4, 0.3);
    let mut scene = Scene::builder();
    scene.gravity([0.0; 3]);
    let mut m = Mechanism::new("arm");
    let cube = Shape::cuboid([0.2, 0.2, 0.2]).expect("positive");
    let bar = Shape::cuboid([0.3, 0.06, 0.06]).expect("positive");
    let heavy = cube.mass_properties(1500.0);
    let at = Pose::at([0.15, 0.0, 0.0]);
    let light = bar.mass_properties(1500.0).map(|m| m.moved(&at));
    let base = m.add("base", GROUND, Joint::Free, Pose::IDENTITY, heavy);
    let upper = m.add("upper", base, Joint::Revolute(Axis::Z), Pose::at([0.12, 0.0, 0.0]), light);
    let lower = m.add("lower", upper, Joint::Revolute(Axis::Y), Pose::at([0.34, 0.0, 0.0]), light);
    m.attach(base, cube, Pose::IDENTITY, "rock");
    m.attach(upper, bar.clone(), at, "rock");
    m.attach(lower, bar, at, "rock");
    m.start_velocity(m.coordinate(base, 1), 0.7);
    m.start_velocity(m.coordinate(base, 5), 2.0);
    m.start_velocity(m.coordinate(upper, 0), -6.0);
    m.start_velocity(m.coordinate(lower, 0), 5.0);
    let spring = JointSpring { stiffness: 3.0, rest: 0.0, damping: 0.0 };
    m.spring(m.coordinate(upper, 0), spring);
    scene.add_mechanism(m);
    let mut n = 0;
    for x in [0.25_f64, 0.55, 0.85] {
        for y in [-0.35, 0.35, 0.65] {
            let mut body = BodyDescription::new(stone(), &rock);
            body.pose = Pose::at([x, y, 0.02 * f64::from(n)]).turned([1.0, x, y], f64::from(n));
            scene.add(body.velocity([-0.4, -1.2 * y, 0.0]), &rock);
            n += 1;
        }
    }
    let steps = if effort == Effort::Full { 3000 } else { 800 };
    let mut run = scenes::start(&scene, 5e-4, 0.5, 1e-8);
    let begin = run.frame().balance();
    let (mut worst, mut action, mut touched) = ([0.0_f64; 2], 0.0_f64, 0);
    let links = 3;
    let n_bodies = run.scene().bodies().len();
    for _ in 0..steps {
        let before = run.frame().balance();
        run.step().expect("it moves");
        let frame = run.frame();
        let now = frame.balance();
        for c in frame.contacts() {
            let on_link = c.bodies.map(|b| run.scene().slot(b) >= n_bodies - links);
            touched += i32::from(on_link[0] != on_link[1]);
        }
        action = action.max((now.momentum - before.momentum).norm());
        let scale = begin.momentum.norm();
        worst[0] = worst[0].max((now.momentum - begin.momentum).norm() / scale);
        let scale = begin.angular_momentum.norm();
        worst[1] = worst[1].max((now.angular_momentum - begin.angular_momentum).norm() / scale);
    }
    checks.at_least(
        "free base: contacts between mechanism and stones",
        f64::from(touched),
        5.0,
        "1",
    );
    checks.at_most("free base: linear momentum, relative change", worst[0], 1e-10, "1");
    checks.at_most("free base: angular momentum, relative change", worst[1], 1e-10, "1");
    checks.at_most("free base: max change of momentum in a step", action, 1e-10, "kg m/s");
}

/// Action and reaction at every contact between a link and a stone: the change of the joint momenta, computed from the velocities,
/// equals the contact impulse.
fn action_reaction(checks: &mut Checks) {
    let rock = scenes::rock(0.6, 0.0);
    let mut scene = Scene::builder();
    scenes::add_ground(&mut scene, &rock, 0.0);
    let mut m = Mechanism::new("hammer");
    let head = Shape::cuboid([0.2, 0.2, 0.2]).expect("positive");
    let at = Pose::at([0.0, 0.0, -0.8]);
    let mass = head.mass_properties(2000.0).map(|m| m.moved(&at));
    // It slides along x and y above the floor: its momentum in these directions changes only by contacts.
    let sledge = m.add("x", GROUND, Joint::Prismatic(Axis::X), Pose::at([0.0, 0.0, 0.92]), None);
    let link = m.add("y", sledge, Joint::Prismatic(Axis::Y), Pose::IDENTITY, mass);
    m.attach(link, head, at, "rock");
    m.start_velocity(m.coordinate(sledge, 0), 1.5);
    scene.add_mechanism(m);
    for k in 0..4 {
        let mut body = BodyDescription::new(stone(), &rock);
        body.pose = Pose::at([0.3 + 0.25 * f64::from(k), 0.05, 0.07]);
        scene.add(body, &rock);
    }
    let mut run = scenes::start(&scene, 5e-4, 0.5, 1e-4);
    let n_bodies = run.scene().bodies().len();
    let weight = run.scene().mechanisms()[0].mass(Link(1));
    let (mut worst, mut largest) = (0.0_f64, 0.0_f64);
    for _ in 0..1000 {
        let before = run.state().mechanisms[0].v.clone();
        run.step().expect("it moves");
        let after = &run.state().mechanisms[0].v;
        let mut got = Vec3::zeros();
        for c in run.frame().contacts() {
            let on_link = c.bodies.map(|b| run.scene().slot(b) >= n_bodies - 2);
            if on_link[0] != on_link[1] {
                got += if on_link[1] { c.force } else { -c.force } * run.frame().dt;
            }
        }
        for k in 0..2 {
            worst = worst.max((weight * (after[k] - before[k]) - got[k]).abs());
            largest = largest.max(got[k].abs());
        }
    }
    checks.at_least("hammer: largest impulse in a step", largest, 1e-3, "N s");
    checks.at_most("hammer: action minus reaction in a step", worst, 1e-10, "N s");
}

/// A bucket on a linkage with a loop digs in spheres: the loop stays closed regardless of the contact tolerance.
fn bucket(checks: &mut Checks, effort: Effort) {
    let (n, time) = if effort == Effort::Full { (2000, 1.0) } else { (200, 0.6) };
    for tolerance in [1e-2, 1e-4] {
        let scene = bucket_scene(n);
        let mut run = scenes::start(&scene, 1e-3, 0.5, tolerance);
        let bucket = run.scene().body_at(run.scene().bodies().len() - 1);
        let mut touched = 0;
        for _ in 0..(time / 1e-3) as usize {
            run.step().expect("it digs");
            let at_bucket = |c: &ContactForce| c.bodies.contains(&bucket);
            touched = touched.max(run.frame().contacts().filter(at_bucket).count());
        }
        let report = run.report();
        let grains = run.scene().bodies().n_movable() as f64;
        checks.close(
            &format!("bucket: spheres, tolerance {tolerance:e}"),
            grains,
            n as f64,
            0.0,
            "1",
        );
        let quantity = format!("bucket: loop residual, tolerance {tolerance:e}");
        checks.at_most(&quantity, report.loop_residual, 1e-11, "m");
        let overlap = report.penetration / run.scene().grain_size();
        // With a tolerance of 1e-2 grains overlap; the loop is unaffected.
        let limit = if tolerance > 1e-3 { 0.5 } else { 0.1 };
        checks.at_most(
            &format!("bucket: overlap over size, tolerance {tolerance:e}"),
            overlap,
            limit,
            "1",
        );
        let quantity = format!("bucket: max contacts with the bucket, tolerance {tolerance:e}");
        checks.at_least(&quantity, touched as f64, 1.0, "1");
    }
}

/// A bin of spheres, and a boom whose bucket is turned by a four-bar linkage.
fn bucket_scene(n: usize) -> SceneBuilder {
    let gravel = Material::new("gravel").density(2500.0).friction(0.5);
    let mut scene = Scene::builder();
    let (r, side) = (0.02, 0.5);
    let walls = Shape::open_box([side, side, 1.0], 0.05).expect("positive");
    scene.add_fixed(walls, Pose::IDENTITY, &gravel);
    let per_row = ((side - 2.0 * r) / (2.2 * r)) as usize;
    for k in 0..n {
        let (i, j, l) = (k % per_row, (k / per_row) % per_row, k / (per_row * per_row));
        let shift = 0.003 * ((k * 7 % 11) as f64 / 11.0);
        let x = -0.5 * side + 1.2 * r + 2.2 * r * i as f64 + shift;
        let y = -0.5 * side + 1.2 * r + 2.2 * r * j as f64 + shift;
        let ball = Shape::sphere(r).expect("positive");
        scene.add(
            BodyDescription::new(ball, &gravel).at([x, y, 1.05 * r + 2.1 * r * l as f64]),
            &gravel,
        );
    }
    let top = 2.1 * r * (n as f64 / (per_row * per_row) as f64).ceil() + 0.5;
    // Its lowest edge (31 cm below the carriage) goes 12 cm into the settled spheres, but stays 5 cm above the floor, more than the size of a sphere:
    // a prescribed tool that crushes grains against the floor has no solution.
    let height = n as f64 * 4.0 / 3.0 * std::f64::consts::PI * r.powi(3) / (0.6 * side * side);
    let depth = top - 0.31 - (height - 0.12).max(0.05);
    let mut m = Mechanism::new("digger");
    let place = |x: f64, z: f64| Pose::at([x, 0.0, z]);
    let bar = |x: f64, z: f64, mass: f64| Some(MassProperties::rod([x, 0.0, z], mass));
    let turn = Joint::Revolute(Axis::Y);
    // The carriage follows a prescribed path; crank and coupler turn the bucket.
    let lift = m.add("lift", GROUND, Joint::Prismatic(Axis::Z), place(0.0, top), None);
    let carriage = m.add("carriage", lift, Joint::Prismatic(Axis::X), Pose::IDENTITY, None);
    let crank = m.add("crank", carriage, turn, place(0.12, 0.1), bar(0.0, -0.1, 2.0));
    let coupler = m.add("coupler", crank, turn, place(0.0, -0.1), bar(-0.12, 0.0, 2.0));
    let shell = |size: [f64; 3]| Shape::cuboid(size).expect("positive");
    let parts = [
        (place(0.0, -0.3), shell([0.16, 0.2, 0.02])),
        (place(-0.08, -0.23), shell([0.02, 0.2, 0.16])),
        (place(0.0, -0.06), shell([0.02, 0.02, 0.12])),
    ];
    let mass = MassProperties::sum(
        parts.iter().map(|(p, s)| Ok(s.mass_properties(7800.0).expect("a solid").moved(p))),
    );
    let bucket = m.add("bucket", carriage, turn, Pose::IDENTITY, mass.ok());
    for (pose, shape) in parts {
        m.attach(bucket, shape, pose, "gravel");
    }
    let (a, b) = (Marker::at(coupler, [-0.12, 0.0, 0.0]), Marker::at(bucket, [0.0, 0.0, -0.1]));
    m.close_loop("linkage", Cut::Rod { length: 0.1 }, a, b);
    m.drive(
        m.coordinate(lift, 0),
        JointMotion::new(move |t| {
            let s = (t / 0.7).min(1.0);
            let (down, rate) = (s * s * (3.0 - 2.0 * s), 6.0 * s * (1.0 - s) / 0.7);
            let bend = if t < 0.7 { (6.0 - 12.0 * s) / 0.49 } else { 0.0 };
            [-depth * down, -depth * rate, -depth * bend]
        }),
    );
    m.drive(
        m.coordinate(carriage, 0),
        JointMotion::new(|t| {
            let w = 1.5;
            [0.08 * (w * t).sin(), 0.08 * w * (w * t).cos(), -0.08 * w * w * (w * t).sin()]
        }),
    );
    let hold = JointSpring { stiffness: 200.0, rest: 0.3, damping: 20.0 };
    m.spring(m.coordinate(crank, 0), hold);
    m.spring(m.coordinate(bucket, 0), JointSpring { stiffness: 300.0, rest: 0.0, damping: 30.0 });
    scene.add_mechanism(m);
    scene
}

/// Runs all checks of the coupling.
pub(super) fn coupling(effort: Effort) -> Checks {
    let mut checks = Checks::new("coupling");
    one_free_joint(&mut checks);
    free_base(&mut checks, effort);
    action_reaction(&mut checks);
    bucket(&mut checks, effort);
    checks
}

//! A pyramid of discs between two walls: against an independent elastic solution, in another order, and as the limit of soft
//! contact.

use riprap::friction::{
    Factored, InverseMass, Law, RestForces, RestFriction, RestProblem, RestSolution,
};
use riprap::grains::{pick, seeded};
use riprap::prelude::*;
use riprap::simulation::{ForceNetwork, Resultant};

use super::elastic::{Discs, Touch};
use super::{network, network_of, settled};
use crate::Checks;

/// Radius of a disc [m], and the ratio of stiffnesses.
const RADIUS: f64 = 0.1;
const RATIO: f64 = 2.0 / 7.0;

/// A pyramid with `n` discs in its lowest row, on the floor y = 0 and between walls.
fn scene(n: usize, friction: f64) -> (SceneBuilder, Vec<Body>) {
    let m = Material::new("rock").density(1000.0).friction(friction);
    let mut scene = Scene::builder();
    scene.planar().gravity([0.0, -9.81, 0.0]);
    let width = (n - 1) as f64 * RADIUS;
    for (normal, place) in [
        ([0.0, 1.0, 0.0], [0.0, 0.0, 0.0]),
        ([1.0, 0.0, 0.0], [-width - RADIUS, 0.0, 0.0]),
        ([-1.0, 0.0, 0.0], [width + RADIUS, 0.0, 0.0]),
    ] {
        let wall = Shape::half_space(normal).expect("a unit normal");
        scene.add(BodyDescription::new(wall, &m).at(place).fixed(), &m);
    }
    let mut bodies = Vec::new();
    for row in 0..n {
        for k in 0..n - row {
            let x = -width + (2 * k + row) as f64 * RADIUS;
            let y = RADIUS * (1.0 + 3.0_f64.sqrt() * row as f64);
            let disc = Shape::disc(RADIUS, 1.0).expect("positive");
            bodies.push(scene.add(BodyDescription::new(disc, &m).at([x, y, 0.0]), &m));
        }
    }
    (scene, bodies)
}

/// The contacts of a network in the form of the independent solution.
fn discs(run: &Simulation, network: &ForceNetwork, bodies: &[Body]) -> Discs {
    let index = |body: Body| bodies.iter().position(|b| *b == body);
    let mut discs = Discs::default();
    for body in bodies {
        let slot = run.scene().slot(*body);
        let p = run.state().q[slot].position;
        discs.centres.push([p.x, p.y]);
        discs.weights.push(9.81 * run.scene().bodies().mass[slot]);
    }
    for c in &network.contacts {
        let (point, n) = ([c.point.x, c.point.y], c.normal);
        let touch = match c.bodies.map(index) {
            [other, Some(own)] => Touch { own, other, point, normal: [n.x, n.y] },
            [Some(own), None] => Touch { own, other: None, point, normal: [-n.x, -n.y] },
            [None, None] => continue,
        };
        discs.touches.push(touch);
    }
    discs
}

/// Springs that open and slide as those of the direct stiffness method and of soft contact do.
fn clipped() -> RestForces {
    RestForces::new().friction(RestFriction::Clipped)
}

pub(super) fn pyramid(checks: &mut Checks) {
    let (scene, bodies) = scene(6, 2.0);
    let mut run = settled(&scene);
    let found = network_of(&mut run, &clipped(), Resultant::Rest);
    checks.at_most(
        "pyramid of 21 discs: worst balance over weight",
        found.report.residual,
        1e-8,
        "1",
    );
    checks.close("pyramid: contacts that slide", found.report.sliding as f64, 0.0, 0.0, "1");
    let discs = discs(&run, &found, &bodies);
    let weight = discs.weights[0];
    let errors = found.contacts.iter().zip(discs.elastic(RATIO)).map(|(c, [n, t])| {
        let tangential = (c.force - c.normal * c.normal_force()).norm();
        (c.normal_force() - n).abs().max((tangential - t.abs()).abs()) / weight
    });
    // The two balance to 1e-10 and 1e-14.
    let worst = errors.fold(0.0, f64::max);
    checks.at_most("pyramid: distance from the direct stiffness method", worst, 1e-8, "1");
}

/// Unique forces of contacts in a given order, each on its first disc, in the world frame.
fn in_order(discs: &Discs, order: &[usize], friction: f64) -> (RestSolution, Vec<Vec3>) {
    let mut contacts = Factored::default();
    let mass = |w: &f64| 9.81 / w;
    contacts.reset(discs.weights.iter().map(|w| InverseMass {
        linear: [mass(w), mass(w), 0.0],
        angular: [0.0, 0.0, 2.0 * mass(w) / (RADIUS * RADIUS), 0.0, 0.0, 0.0],
    }));
    for touch in order.iter().map(|k| &discs.touches[*k]) {
        let [nx, ny] = touch.normal;
        let frame = [[nx, ny, 0.0], [-ny, nx, 0.0], [0.0, 0.0, 1.0]];
        let arm = |disc: Option<usize>| match disc {
            Some(d) => {
                [0, 1, 2].map(|k| if k < 2 { touch.point[k] - discs.centres[d][k] } else { 0.0 })
            }
            None => [0.0; 3],
        };
        let blocks = [touch.other.map_or(Factored::NONE, |d| d as u32), touch.own as u32];
        contacts.push(blocks, frame, [arm(touch.other), arm(Some(touch.own))]);
    }
    let laws = vec![Law::Coulomb { friction }; order.len()];
    let required: Vec<[f64; 6]> =
        discs.weights.iter().map(|w| [0.0, *w, 0.0, 0.0, 0.0, 0.0]).collect();
    let problem = RestProblem::new(&contacts, &laws, &required);
    let found = RestForces::new().solve(&problem, &mut Vec::new()).expect("a valid problem");
    let mut forces = vec![Vec3::zeros(); order.len()];
    for (f, k) in found.forces.iter().zip(order) {
        let [nx, ny] = discs.touches[*k].normal;
        forces[*k] = Vec3::new(f[0] * nx - f[1] * ny, f[0] * ny + f[1] * nx, 0.0);
    }
    (found, forces)
}

/// The same contacts in ten random orders, with friction so small that many slide.
pub(super) fn order(checks: &mut Checks) {
    let (scene, bodies) = scene(8, 0.2);
    let mut run = settled(&scene);
    let found = network(&mut run, Resultant::Rest);
    let discs = discs(&run, &found, &bodies);
    let mut order: Vec<usize> = (0..discs.touches.len()).collect();
    let (first, forces) = in_order(&discs, &order, 0.2);
    checks.at_least("36 discs: contacts that slide", first.report.sliding as f64, 5.0, "1");
    let size = forces.iter().map(|f| f.norm()).fold(0.0, f64::max);
    let mut rng = seeded(1);
    let (mut worst, mut residual) = (0.0_f64, first.report.residual);
    for _ in 0..10 {
        for k in (1..order.len()).rev() {
            order.swap(k, pick(k + 1, &mut rng));
        }
        let (found, others) = in_order(&discs, &order, 0.2);
        residual = residual.max(found.report.residual);
        let difference = forces.iter().zip(&others).map(|(a, b)| (a - b).norm());
        worst = worst.max(difference.fold(0.0, f64::max) / size);
    }
    checks.at_most("36 discs: worst balance over weight", residual, 1e-8, "1");
    checks.at_most("36 discs in ten orders: largest relative difference", worst, 1e-9, "1");
}

/// Forces of soft contacts approach the unique ones as the stiffness grows.
pub(super) fn rigid_limit(checks: &mut Checks) {
    let (scene, bodies) = scene(3, 2.0);
    let mut run = settled(&scene);
    let unique = network_of(&mut run, &clipped(), Resultant::Rest);
    let weight = 9.81 * run.scene().bodies().mass[run.scene().slot(bodies[0])];
    let stiffnesses = [1e3, 4e3, 1.6e4].map(|k| k * weight);
    let errors = stiffnesses.map(|stiffness| {
        let scheme = Penalty::new(2e-5).stiffness(stiffness);
        let built = scene.build().expect("a canonical scene is valid");
        let mut run = Simulation::new(built, scheme).expect("a valid scheme");
        // An overdamped approach, so that no contact opens once it is closed.
        run.drag(400.0).until(0.3, &mut ()).expect("discs cannot fail");
        run.drag(0.0).until(0.31, &mut ()).expect("discs cannot fail");
        let frame = run.frame();
        let soft: Vec<_> = frame.contacts().collect();
        let error = unique.contacts.iter().map(|c| {
            let same = |s: &&riprap::simulation::ContactForce| s.bodies == c.bodies;
            let force = soft.iter().find(same).map_or(Vec3::zeros(), |s| s.force);
            (force - c.force).norm() / weight
        });
        error.fold(0.0, f64::max)
    });
    let what =
        |k: &str| format!("soft discs, k = {k} m g per metre: largest difference over weight");
    checks.information(|checks| checks.at_most(&what("1e3"), errors[0], f64::INFINITY, "1"));
    checks.information(|checks| checks.at_most(&what("4e3"), errors[1], f64::INFINITY, "1"));
    // Overlaps change the geometry in proportion to 1/k. About 1e-3 remains at any stiffness: tangential springs remember the
    // order in which contacts closed.
    checks.at_most(&what("1.6e4"), errors[2], 2e-3, "1");
}
